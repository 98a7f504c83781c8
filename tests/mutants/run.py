"""Strength of the tests: ``python -m tests.mutants.run GROUP [-n N] [--seed S]`` puts N faults into the rooms of a group.

Tests are run once to see which lines each runs (coverage, a context a test). A sample of the mutants of those lines is then run:
each in a copy of the project, against the tests that run its line, the quickest first, until one fails. What no test notices is
listed, as ``survived``, to be killed by a test or called equivalent.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.mutants.mutate import mutants

ROOT = Path(__file__).parents[2]
PROOFS, FABRIC = ("prove", "certificates"), ("fabric",)
REST = ("syntax", "semantics", "verify", "sizing", "emit", "observe", "changes", "report", "physical", "nccl", "ide")
GROUPS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "proofs": (PROOFS, ("verify", "soundness")),
    "fabric": (FABRIC, ("fabric", "physical", "errors", "changes", "semantics")),
    "rest": (
        REST,
        ("syntax", "semantics", "errors", "report", "observe", "changes", "targets", "verify", "cli", "physical", "lsp"),
    ),
}
"""Rooms that are changed, and the folders of the tests that judge them."""
FIRST_S, ALL_S = 15.0, 60.0
"""Seconds of tests, as they took when they were recorded: tried at once, and for what survived that."""
SLOWER = 6
"""How many times as long as recorded, and 30 s more, a run may take before a mutant counts as found by the clock."""
COMMON = (
    "numpy", "networkx", "lark", "jinja2", "z3", "highspy", "click", "hypothesis", "xlsxwriter", "openpyxl", "pytest", "yaml",
)  # fmt: skip

RECORD = """
import json, random, sys, time
import coverage, pytest
where, seconds, seed, source = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
measured = coverage.Coverage(data_file=where + ".coverage", source=source, config_file=False)
took = {}
begin = time.monotonic()

class Plugin:
    def pytest_collection_modifyitems(self, items):
        random.Random(seed).shuffle(items)  # those that there is time for are a fair sample

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        measured.switch_context(item.nodeid)
        yield
        measured.switch_context("")
        if time.monotonic() - begin > seconds:
            item.session.shouldstop = "enough"

    def pytest_runtest_logreport(self, report):
        if report.when == "call":
            took[report.nodeid] = report.duration if report.passed else None

measured.start()
pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not slow", "--timeout=60", *sys.argv[5:]], plugins=[Plugin()])
measured.stop()
measured.save()
json.dump(took, open(where + ".times", "w"))
"""


def record(
    group: str, place: Path, copy: Path, seconds: float, seed: int
) -> tuple[dict[str, dict[int, list[str]]], dict[str, float]]:
    """For each file and line the tests that run it, and the seconds of each test. Tests that fail in the copy are left out."""
    import coverage

    rooms, tests = ([f"{top}/{name}" for name in names] for top, names in zip(("tdsl", "tests"), GROUPS[group], strict=True))
    if not (place / f"{group}.times").is_file():
        line = [sys.executable, "-c", RECORD, str(place / group), str(seconds), str(seed), ",".join(rooms), *tests]
        with (place / f"{group}.log").open("w") as log:
            subprocess.run(line, cwd=copy, check=True, stdout=log, stderr=subprocess.STDOUT, env=_environment(copy))
    took = {n: s for n, s in json.loads((place / f"{group}.times").read_text()).items() if s is not None}
    data = coverage.CoverageData(str(place / f"{group}.coverage"))
    data.read()
    known = {}
    for file in data.measured_files():
        lines = {n: [c for c in names if c in took] for n, names in data.contexts_by_lineno(file).items()}
        known[os.path.relpath(file, copy)] = {n: names for n, names in lines.items() if names}
    return known, took


def _environment(copy: Path) -> dict[str, str]:
    """What a run in the copy finds: the copy first, then what was given."""
    given = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and Path(p).resolve() != ROOT]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy), *given])}


def attempt(copy: Path, tests: list[str], limit: float) -> str:
    """Run tests in a child that has the large libraries already: ``killed``, ``late`` or ``survived``."""
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(copy)
        null = os.open(os.devnull, os.O_RDWR)
        for n in range(3):
            os.dup2(null, n)
        sys.path[:] = [str(copy), *(p for p in sys.path if p not in ("", str(ROOT)))]
        os.environ.update(_environment(copy))
        for name in [n for n in sys.modules if n == "tests" or n.startswith("tests.")]:
            del sys.modules[name]
        status = 70
        with contextlib.suppress(BaseException):
            import pytest

            status = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--timeout=0", *tests]))
        os._exit(status)
    late = time.monotonic() + limit
    while time.monotonic() < late:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def chosen(tests: list[str], took: dict[str, float], seconds: float) -> list[str]:
    """The quickest tests that fit."""
    out, left = [], seconds
    for name in sorted(tests, key=lambda n: (took[n], n)):
        left -= took[name] + 0.01
        if left < 0 and out:
            break
        out.append(name)
    return out


def main() -> int:
    """Run a group's sample."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("-n", type=int, default=40, help="how many mutants (40)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record-seconds", type=float, default=300, help="how long tests are recorded (300)")
    parser.add_argument("--out", type=Path, default=Path("out/mutants"))
    given = parser.parse_args()
    place = given.out.resolve()
    place.mkdir(parents=True, exist_ok=True)
    os.environ.update(CI="true", OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    copy = place / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "tdsl", "tests"], cwd=copy, check=True)
    known, took = record(given.group, place, copy, given.record_seconds, given.seed)
    sample: list[tuple[str, Any]] = []
    every: dict[str, int] = defaultdict(int)
    for file in sorted(known):
        for mutant in mutants((ROOT / file).read_text(encoding="utf-8")):
            every["all"] += 1
            if mutant.line in known[file]:
                sample.append((file, mutant))
    random.Random(given.seed).shuffle(sample)
    print(f"{given.group}: {len(took)} tests, {every['all']} mutants, {len(sample)} in lines that they run", flush=True)
    for name in COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    counts: dict[str, int] = defaultdict(int)
    for file, mutant in sample[: given.n]:
        tests = known[file][mutant.line]
        (copy / file).write_text(mutant.text, encoding="utf-8")
        os.utime(copy / file, (counts["done"] + 1,) * 2)
        end = ""
        for seconds in (FIRST_S, ALL_S):
            some = chosen(tests, took, seconds)
            if end != "survived" or len(some) > counts["tried"]:
                counts["tried"] = len(some)
                end = attempt(copy, some, 30 + SLOWER * sum(took[n] for n in some))
            if end != "survived":
                break
        shutil.copy2(ROOT / file, copy / file)
        counts["done"] += 1
        counts[end] += 1
        if end != "killed":
            print(f"{end}: {file}:{mutant.line}: {mutant.what} ({counts['tried']} of {len(tests)} tests)", flush=True)
    print(f"{given.group}: {counts['done']} run, {counts['killed']} killed, {counts['late']} late, {counts['survived']} survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())
