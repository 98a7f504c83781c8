"""Compares two commits: ``make bench-compare``. Ends with status 1 if something became 15% slower.

    benchmarks/compare.py [--base HEAD~1] [--head HEAD] [--rounds 9] [CASE…]

Each commit is checked out into a folder of its own, and the benchmarks of this checkout run by turns with the
tdsl of either. A case is slower if its median of processor time grew by 15% or more, and the quicker half of
the new runs is above the slower half of the old ones (first quartile of the new above third quartile of the
old). It is then measured again, and counts if it is slower both times. A case that either commit cannot run
is not compared, and said so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import ROOT, Record, by_turns, one

LIMIT = 1.15
HERE = Path(__file__).parent
PYTHON = sys.executable
CASES: Mapping[str, Sequence[str]] = {
    "start: tdsl version": (PYTHON, "-m", "tdsl", "version"),
    "check dgx_superpod_h100": (PYTHON, "-m", "tdsl", "check", "-q", "dgx_superpod_h100"),
    "fmt --check": (PYTHON, "-m", "tdsl", "fmt", "--check", "stdlib/designs/gpu131k.fab"),
    "elaborate ft3, k = 64": (PYTHON, str(HERE / "elaboration.py"), "tdsl", "ft3, k = 64", ""),
    "elaborate gpu131k": (PYTHON, str(HERE / "elaboration.py"), "tdsl", "gpu131k", ""),
    "cables.csv of gpu131k": (PYTHON, str(HERE / "cabling.py"), "gpu131k", "cables", "tdsl"),
    "configurations of 96 switches": (PYTHON, str(HERE / "configurations.py"), "eos", "64", "tdsl"),
    "maximum flow of gpu131k": (PYTHON, str(HERE / "graphs.py"), "gpu131k", "maximum flow", "tdsl"),
    "500 failure scenarios": (PYTHON, str(HERE / "failures.py"), "tdsl", "16", "500"),
    "throughput of a torus": (PYTHON, str(HERE / "throughput.py"), "tdsl", "6"),
    "proofs of the uneven pod": (
        PYTHON,
        "-m",
        "tdsl",
        "check",
        "-q",
        str(HERE / "designs" / "uneven_pod.fab"),
    ),
}


@contextmanager
def checkouts(root: Path, commits: Mapping[str, str]) -> Iterator[dict[str, Path]]:
    """A folder a commit, by its name here. Raises SystemExit if git knows no such commit."""
    with tempfile.TemporaryDirectory() as folder:
        made = {name: Path(folder) / name for name in commits}
        try:
            for name, commit in commits.items():
                call = ("git", "worktree", "add", "--quiet", "--detach", str(made[name]), commit)
                done = subprocess.run(call, cwd=root, capture_output=True, text=True)
                if done.returncode:
                    raise SystemExit(
                        f"git has no commit {commit}: {done.stderr.strip()}\nfetch more of the history, "
                        "or name another"
                    )
            yield made
        finally:
            for place in made.values():
                subprocess.run(
                    ("git", "worktree", "remove", "--force", str(place)), cwd=root, capture_output=True
                )


def slower(base: Record, head: Record) -> bool:
    """Whether what was measured of the new commit is 15% above the old, and outside the spread of both."""
    if "skipped" in base or "skipped" in head:
        return False
    return bool(head["cpu_s"] >= LIMIT * base["cpu_s"] and head["cpu_q1"] > base["cpu_q3"])


def measured(
    case: str, command: Sequence[str], places: Mapping[str, Path], rounds: int
) -> tuple[Record, Record]:
    """The records of one case, both commits by turns."""
    commands = {
        name: ("env", "-C", str(place), f"PYTHONPATH={place}", f"TDSL_CACHE_DIR={place / '.cache'}", *command)
        for name, place in places.items()
    }
    for warm in commands.values():
        one(warm)  # bytecode and caches written
    base, head = by_turns("compare", case, commands, rounds)
    return base, head


def compare(
    root: Path, base: str, head: str, cases: Mapping[str, Sequence[str]], rounds: int
) -> list[tuple[Record, Record, bool]]:
    """Records of the old and the new commit for each case, and whether it became slower."""
    out = []
    with checkouts(root, {"base": base, "head": head}) as places:
        for case, command in cases.items():
            old, new = measured(case, command, places, rounds)
            flagged = slower(old, new)
            if flagged:
                again = measured(case, command, places, rounds)
                if not slower(*again):
                    (old, new), flagged = again, False
            out.append((old, new, flagged))
            print(line(old, new, flagged), flush=True)
    return out


def line(old: Record, new: Record, flagged: bool) -> str:
    """A row of what is printed."""
    case = f"{old['case']:<32}"
    if "skipped" in old or "skipped" in new:
        why = old.get("skipped") or new.get("skipped")
        return f"{case}not compared: {why}"
    ratio = new["cpu_s"] / old["cpu_s"]
    return (
        f"{case}{old['cpu_s']:>9.4f} s{new['cpu_s']:>9.4f} "
        f"s{ratio - 1:>+8.1%}{'   SLOWER' if flagged else ''}"
    )


def main(args: Sequence[str] | None = None) -> int:
    """Compare, print a row a case, and write all of it as JSON. Gives the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", default="HEAD~1", help="the old commit")
    parser.add_argument("--head", default="HEAD", help="the new commit")
    parser.add_argument("--rounds", type=int, default=9, help="how often each process is started")
    parser.add_argument(
        "--json", type=Path, default=ROOT / "out" / "bench" / "compare.json", help="where the records go"
    )
    parser.add_argument(
        "cases", nargs="*", help=f"beginnings of {', '.join(repr(c) for c in CASES)}; all if none is named"
    )
    given = parser.parse_args(args)
    cases = {
        name: command
        for name, command in CASES.items()
        if not given.cases or name.startswith(tuple(given.cases))
    }
    print(f"{'processor time, median':<32}{given.base[:9]:>11}{given.head[:9]:>11}")
    found = compare(ROOT, given.base, given.head, cases, given.rounds)
    given.json.parent.mkdir(parents=True, exist_ok=True)
    made = [{"case": old["case"], "base": old, "head": new, "slower": flagged} for old, new, flagged in found]
    given.json.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    names = [old["case"] for old, _, flagged in found if flagged]
    print(f"15% slower or more: {', '.join(names)}" if names else "nothing became 15% slower")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
