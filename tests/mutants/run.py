"""Strength of the tests: ``python -m tests.mutants.run GROUP [-n N] [--seed S]`` puts N faults into the rooms of a group.

Tests are run once to see which lines each runs (coverage, a context a test); the recording is kept as long as the code and these
tests are the same. A sample of all mutants is then run, each against the tests that run its line, the quickest first, until one
fails. A process that has collected the tests forks a child for each mutant (`tests.mutants.serve`), so none pays for the start.
What no test notices is listed, as ``survived``: if a user would notice it, a test is missing. What was run is kept too: a second
call with a larger N adds to it, one with more ``--test-seconds`` runs the survivors against more tests, and ``--again`` runs them
against tests written since. The run reads copies: the checkout may be edited meanwhile.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from tests.mutants.mutate import Mutant, mutants
from tests.mutants.serve import BEGIN, RECORD, Job, alone, fork, serve

ROOT = Path(__file__).parents[2]
FOLDERS, TESTS = (
    sorted(p.name for p in (ROOT / top).iterdir() if p.is_dir() and any(p.rglob("*.py"))) for top in ("tdsl", "tests")
)
"""Rooms of tdsl/, and folders of tests: what a group may name in place of those below."""
PROOFS, FABRIC = ("prove", "certificates"), ("fabric",)
REST = tuple(f for f in FOLDERS if f not in (*PROOFS, *FABRIC))
JUDGES = tuple(f for f in TESTS if f != "mutants")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "proofs": (PROOFS, JUDGES),
    "fabric": (FABRIC, JUDGES),
    "rest": (REST, JUDGES),
}
"""Rooms that are changed, and the folders of the tests that judge them. Groups with the same tests share a recording."""
ALL_S = 40.0
"""Seconds of tests, as they took when they were recorded, that a mutant is run against."""
SLOWER = 6
"""How many times as long as recorded, and 30 s more, a run may take before a mutant counts as found by the clock."""
COMMON = (
    "numpy", "networkx", "lark", "jinja2", "z3", "highspy", "click", "hypothesis", "xlsxwriter", "openpyxl", "pytest", "yaml",
)  # fmt: skip


def group(text: str) -> str:
    """The name of a group, or folders of tdsl/ with commas between, in order: those named twice or otherwise are one sample."""
    rooms = sorted(set(text.split(",")))
    if text not in GROUPS and (unknown := [r for r in rooms if r not in FOLDERS]):
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is no group ({', '.join(GROUPS)}) and no folder of tdsl/")
    return text if text in GROUPS else ",".join(rooms)


def scope(name: str, judges: list[str] | None) -> tuple[list[str], list[str], list[str], str]:
    """Rooms that are changed, folders of the tests that judge them, rooms that are recorded, and the folder of the recording."""
    rooms, tests = GROUPS.get(name) or (tuple(name.split(",")), JUDGES)
    if name in GROUPS and not judges:
        sharing = [n for n, (_, same) in GROUPS.items() if same == tests]
        return list(rooms), list(tests), [r for n in sharing for r in GROUPS[n][0]], "-".join(sharing)
    by = sorted(set(judges or ()))
    return list(rooms), by or list(tests), list(rooms), "+".join(rooms) + ("-by-" + "+".join(by) if by else "")


def project(copy: Path) -> str:
    """Copy what git knows, as it is now; the hash of the code that is changed."""
    shutil.rmtree(copy, ignore_errors=True)
    told = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    code = hashlib.sha256()
    for name in told.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
            if name.startswith("tdsl/") and name.endswith(".py"):
                code.update(name.encode() + (ROOT / name).read_bytes())
    subprocess.run([sys.executable, "-m", "compileall", "-q", "tdsl", "tests"], cwd=copy, check=True)
    return code.hexdigest()[:16]


def record(
    name: str, rooms: list[str], tests: list[str], place: Path, copy: Path, seconds: float, seed: int, but: Path | None = None
) -> None:
    """Run tests under coverage, for so many seconds on each core, but those whose times are known. Cores share the modules."""
    cores = os.cpu_count() or 1
    (copy / "begin").mkdir(exist_ok=True)
    (copy / "begin" / "sitecustomize.py").write_text(BEGIN)

    def run(share: int) -> subprocess.Popen[bytes]:
        part = f"{place / name}.{share}"
        line = [part, str(seconds), str(seed), ",".join(rooms), str(but or ""), f"{share}/{cores}", *tests]
        also = {"RECORDED_TO": f"{part}.inner.coverage", "ROOMS": ",".join(str(copy / r) for r in rooms)}
        env = environment(copy, copy / "begin") | also
        with Path(f"{part}.log").open("w") as log:
            return subprocess.Popen(
                [sys.executable, "-c", RECORD, *line], cwd=copy, stdout=log, stderr=subprocess.STDOUT, env=env
            )

    ended = [p.wait() for p in [run(share) for share in range(cores)]]
    if any(ended):
        raise SystemExit(f"a recording ended early: see {place / name}.*.log")
    took: dict[str, Any] = {}
    for part in sorted(place.glob(f"{name}.*.times")):
        took.update(json.loads(part.read_text()))
    (place / f"{name}.times").write_text(json.dumps(took))


def recorded(name: str, place: Path, copy: Path) -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
    """For each file and line the tests that run it, none where only an import did, and the seconds of each test. Those that
    failed are left out."""
    import coverage

    took = {n: s for n, s in json.loads((place / f"{name}.times").read_text()).items() if s is not None}
    known: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    parts = sorted(place.glob(f"{name}.*.coverage*"), key=lambda p: (".inner." in p.name, p))
    for part in parts:  # what a process of a test runs comes last: it imports what was imported before
        data = coverage.CoverageData(str(part))
        data.read()
        for file in data.measured_files():
            for line, names in data.contexts_by_lineno(file).items():
                lines = known[file.rpartition(f"/{copy.name}/")[2]]
                if ".inner." not in part.name or lines.get(line, names):
                    lines[line] += [c for c in names if c in took]
    return known, took


def merged(*recordings: tuple[dict[str, dict[int, list[str]]], dict[str, float]]) -> Any:
    """What several recordings know."""
    lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    took: dict[str, float] = {}
    for known, times in recordings:
        took.update(times)
        for file, found in known.items():
            for line, names in found.items():
                lines[file][line] += names
    return lines, took


def nearby(places: set[tuple[str, int]], folders: list[str], copy: Path) -> list[str]:
    """Files of tests that name what has a mutant: its function or its class, else the module; three for each, the most first."""
    texts = {p: p.read_text(encoding="utf-8") for folder in folders for p in sorted((copy / folder).rglob("test_*.py"))}
    out: set[str] = set()
    for file, line in sorted(places):
        nodes = ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
        named = [n for n in nodes if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.lineno <= line <= (n.end_lineno or 0)]
        words = [n.name for n in named if not n.name.startswith("__")]
        stem = Path(file).stem if Path(file).stem != "__init__" else Path(file).parent.name
        for pattern in [
            *(rf"\b{re.escape(w)}\b" for w in reversed(words)),
            rf"\b{Path(file).parent.name}[. ](import )?{stem}\b",
            stem,
        ]:
            hits = {p: len(re.findall(pattern, text)) for p, text in texts.items()}
            if found := sorted((p for p in hits if hits[p]), key=lambda p: (-hits[p], p))[:3]:
                out.update(p.relative_to(copy).as_posix() for p in found)
                break
    return sorted(out)


def environment(copy: Path, *more: Path) -> dict[str, str]:
    """What a run in the copy finds: the copy first, then ``more``, then what was given."""
    given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p).resolve() != ROOT]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), *map(str, more), *given])}


def chosen(tests: list[str], took: dict[str, float], seconds: float) -> list[str]:
    """The quickest tests that fit; half of the time is for those that compare whole answers (``test_every_*``): they notice most.
    Those of about the same time stay with those of their file, whose fixtures they share."""
    whole = [n for n in tests if "/test_every_" in n]
    out, left = [], 0.0
    for names in (whole, [n for n in tests if n not in set(whole)]):
        left += seconds / 2
        for name in sorted(names, key=lambda n: (took[n], n)):
            if left < took[name] and out:
                break
            left -= took[name] + 0.01
            out.append(name)
    return sorted(out, key=lambda n: (took[n] > 0.05, took[n] > 0.5, took[n] > 3, n.partition("::")[0], took[n], n))


def statements(text: str) -> dict[int, range]:
    """For each line the lines of its innermost statement; of one with a body, those before the body."""
    out: dict[int, range] = {}
    for node in ast.walk(ast.parse(text)):  # outer ones come first
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else node.end_lineno + 1  # type: ignore[operator]
            for line in range(node.lineno, max(end, node.lineno + 1)):
                out[line] = range(node.lineno, max(end, node.lineno + 1))
    return out


def inside(text: str, line: int) -> bool:
    """Whether a line is in the body of a function."""
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, (ast.FunctionDef, ast.Lambda))]
    bodies = [f.body[0] if isinstance(f.body, list) else f.body for f in functions]
    return any(b.lineno <= line <= (f.end_lineno or 0) for f, b in zip(functions, bodies, strict=True))


def _job(
    file: str,
    mutant: Mutant,
    known: dict[int, list[str]],
    took: dict[str, float],
    seconds: float,
    near_by: Callable[[str, int], list[str]],
) -> Job:
    """A mutant and its tests: those recorded on its line; where there are none, those in files that name its function."""
    text = (ROOT / file).read_text(encoding="utf-8")
    near = statements(text).get(mutant.line, range(mutant.line, mutant.line + 1))
    tests = known.get(mutant.line) or sorted({t for line in near for t in known.get(line, ())})
    anew = not tests and (not inside(text, mutant.line) or any(line in known for line in near))
    if anew:  # it is run once, before all tests
        tests = sorted({t for names in known.values() for t in names})
    if not tests:
        files = set(near_by(file, mutant.line))
        tests = sorted(n for n in took if n.partition("::")[0] in files)
    some = chosen(tests, took, seconds)
    return Job(
        file, mutant.line, text.splitlines()[mutant.line - 1].strip(), mutant.what, mutant.nth, mutant.text, tuple(some),
        len(tests), 30 + SLOWER * sum(took[n] for n in some), anew,
    )  # fmt: skip


def _more(job: Job, row: dict[str, Any]) -> bool:
    """Whether a mutant that no test noticed has more tests now than it was run against."""
    return row["end"] == "survived" and len(job.tests) > row["tests"]


def main() -> int:
    """Run a group's sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", type=group, help=f"{', '.join(GROUPS)}, or folders of tdsl/ with commas between: ide,report")
    parser.add_argument("--tests", nargs="+", choices=TESTS, metavar="FOLDER", help="folders of tests/ that judge it")
    parser.add_argument("-n", type=int, default=40, help="how many mutants (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record-seconds", type=float, default=300, help="how long tests are recorded on each core (300)")
    parser.add_argument("--test-seconds", type=float, default=ALL_S, help=f"of tests that a mutant is run against ({ALL_S:g})")
    parser.add_argument("--out", type=Path, default=Path("out/mutants"))
    parser.add_argument("--again", nargs="+", metavar="TESTS", help="run what survived against these tests only")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="how many mutants run at once (the cores)")
    given = parser.parse_args()
    rooms, tests, measured, folder = scope(given.group, given.tests)
    place = given.out.resolve() / folder
    told = os.fdopen(os.dup(1), "w", buffering=1)
    place.mkdir(parents=True, exist_ok=True)
    os.environ.update(CI="true", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    copies = [place / f"copy{i or ''}" for i in range(max(1, given.jobs))]
    code, source, copy = project(place / "source"), place / "source", copies[0]
    for one in copies:
        project(one)
    rooms, measured = ([f"tdsl/{r}" for r in names] for names in (rooms, measured))
    tests = [f"tests/{name}" for name in tests]
    tests = [t for t in tests if (copy / t).exists()]
    done: dict[str, Any] = {}
    results = place / f"done-{given.group}-{code}.jsonl"
    if results.is_file():
        done = {r["key"]: r for r in map(json.loads, results.read_text().splitlines())}
    kept = f"recorded-{code}-{given.record_seconds:g}-{given.seed}"
    if given.again:
        tests, kept = given.again, "again"
    if given.again or not (place / f"{kept}.times").is_file():
        record(kept, measured, tests, place, copy, given.record_seconds, given.seed)
    known, took = merged(recorded(kept, place, copy))
    sample = [
        (path.relative_to(ROOT).as_posix(), mutant)
        for room in rooms
        for path in sorted((ROOT / room).rglob("*.py"))
        for mutant in mutants(path.read_text(encoding="utf-8"))
    ]
    total = len(sample)
    random.Random(given.seed).shuffle(sample)
    sample = list(islice((s for s in sample if s[1].parses()), given.n))
    bare = {(file, m.line) for file, m in sample if not _job(file, m, known.get(file, {}), took, 0, lambda *_: []).tests}
    if bare and not given.again:  # what grep finds may run them
        more = f"{kept}-{given.group}-{given.n}"
        if not (place / f"{more}.times").is_file():
            seconds = min(given.record_seconds / 2, 15 * len(bare))
            record(more, measured, nearby(bare, tests, copy), place, copy, seconds, given.seed, place / f"{kept}.times")
        known, took = merged((known, took), recorded(more, place, copy))
    jobs = [
        _job(file, m, known.get(file, {}), took, given.test_seconds, lambda file, line: nearby({(file, line)}, tests, copy))
        for file, m in sample
    ]
    keys = [hashlib.sha256(f"{j.file}\0{j.text}".encode()).hexdigest()[:20] for j in jobs]
    by_key = dict(zip(keys, jobs, strict=True))
    if given.again:
        todo = {key: j for key, j in by_key.items() if done.get(key, {}).get("end") == "survived"}
    else:
        todo = {key: j for key, j in by_key.items() if key not in done or _more(j, done[key])}
    print(f"{given.group}: {len(took)} tests, {total} mutants, {len(jobs)} sampled, {len(todo)} to run", flush=True)
    for name in COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)

    def ended(key: str, end: str) -> None:
        """Write down how one ended; `--again` only ever turns a survivor into a killed one."""
        job = by_key[key]
        row = {"key": key, "file": job.file, "line": job.line, "source": job.source, "what": job.what, "end": end,
               "tests": len(job.tests), "of": job.of}  # fmt: skip
        with results.open("a") as out:
            out.write(json.dumps(row) + "\n")
        if end != "killed":
            print(f"{end}: {job.file}:{job.line}: {job.what} ({len(job.tests)} of {job.of} tests)", file=told)

    for key in [k for k, j in todo.items() if not j.tests]:
        ended(key, "survived")
        del todo[key]

    def run(share: int) -> set[str]:
        one = copies[share]
        mine = {k: j for n, (k, j) in enumerate(todo.items()) if n % len(copies) == share}
        left = fork(lambda: serve(mine, one, source, environment(one), ended))()
        for key in [k for k in mine if k in left]:
            ended(key, alone(mine[key], one, source, environment(one)))
        return set()

    for wait in [fork(lambda n=n: run(n)) for n in range(len(copies))]:
        wait()
    done = {r["key"]: r for r in map(json.loads, results.read_text().splitlines())}
    ends = Counter(done[key]["end"] for key in keys if key in done)
    by_room: dict[str, Counter[str]] = defaultdict(Counter)
    for key, job in by_key.items():
        by_room[job.file.split("/")[1]][done[key]["end"]] += 1
    found = ends["killed"] + ends["late"]
    judged = found + ends["survived"]
    print(f"{given.group}: {len(jobs)} of {total} sampled, {ends['killed']} killed, {ends['late']} by the clock, "
          f"{ends['survived']} survived: {100 * found / max(judged, 1):.1f}%")  # fmt: skip
    for room, counts in sorted(by_room.items()):
        print(f"  {room}: " + ", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
