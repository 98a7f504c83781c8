"""Measures `tdsl check` of a design that was checked before: unchanged, and after edits.

    benchmarks/again.py [DESIGN] [ROUNDS]

Prints JSON: processor seconds (user and system, medians) of a call without the cache, of the first call that
fills a new cache, of one where nothing has changed, of one after a comment was added, and of one after a
requirement was.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
EDITS = {
    "no cache": (("--no-cache",), ""),
    "first call": ((), ""),
    "nothing has changed": ((), ""),
    "a comment": ((), "# as ordered\n"),
    "a requirement": ((), "  report diameter\n"),
}


def seconds(call: tuple[str, ...], folder: Path) -> float:
    """Processor time of one process."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TDSL_")}
    environment |= {"PYTHONPATH": str(ROOT), "TDSL_CACHE_DIR": str(folder / "cache")}
    before = os.times()
    done = subprocess.run(
        (sys.executable, "-m", "tdsl", *call), cwd=folder, env=environment, capture_output=True, text=True
    )
    after = os.times()
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return after.children_user + after.children_system - before.children_user - before.children_system


def measure(design: str, rounds: int) -> dict[str, float]:
    """Medians over some rounds, each with a cache of its own."""
    text = (ROOT / "stdlib" / "designs" / f"{design}.fab").read_text(encoding="utf-8")
    found: dict[str, list[float]] = {what: [] for what in EDITS}
    for _ in range(rounds):
        with TemporaryDirectory() as name:
            folder = Path(name)
            seconds(
                ("fmt", "--check", str(ROOT / "stdlib" / "designs" / "ft2.fab")), folder
            )  # fills the parse tables
            for what, (options, edit) in EDITS.items():
                head, end, rest = text.rpartition("}")
                (folder / "design.fab").write_text(f"{head}{edit}{end}{rest}", encoding="utf-8")
                found[what].append(seconds(("check", "design.fab", *options), folder))
    return {what: round(median(times), 2) for what, times in found.items()}


if __name__ == "__main__":
    design = sys.argv[1] if len(sys.argv) > 1 else "gpu131k"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(json.dumps({"design": design, "rounds": rounds, "cpu_s": measure(design, rounds)}, indent=1))
