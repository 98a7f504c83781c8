"""Runs mutants in children of a process that has collected the tests and imported the code.

A child takes the code of the changed function in place of the old, runs its tests, and ends. What stands outside of functions is
run in a process of its own."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

RECORD = """
import json, os, random, sys, time, zlib
import coverage, pytest
from hypothesis import settings
where, seconds, seed, source = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split(",")
known = set(json.load(open(sys.argv[5]))) if sys.argv[5] else set()
share, shares = map(int, sys.argv[6].split("/"))  # modules of tests that this process runs
measured = coverage.Coverage(data_file=where + ".coverage", source=source, config_file=False)
took, times, asked = {}, {}, {}
FUNCTIONS = 3  # of a module in a turn: what there is time for says something of every module
EXAMPLES = 15  # of a property, to see what it runs; the whole takes as many times as long
failed = set()
begin = time.monotonic()

def mine(name):
    return zlib.crc32(name.partition("::")[0].encode()) % shares == share

class Plugin:
    def pytest_collection_modifyitems(self, items):
        turns, order = {}, random.Random(seed)
        modules = {i.nodeid.partition("::")[0]: order.random() for i in items}
        functions = {}  # of a module, in an order by chance
        for item in order.sample(items, len(items)):
            module, name = item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]
            inner = functions.setdefault(module, {})
            at = inner.setdefault(name, [len(inner), 0])
            turns[item.nodeid] = max(at[0] // FUNCTIONS, at[1]), modules[module], at[0]
            at[1] += 1
            held = getattr(item.obj, "__func__", item.obj)
            if getattr(held, "is_hypothesis_test", False):
                given = asked.setdefault(held, held._hypothesis_internal_use_settings)
                times[item.nodeid] = max(1, given.max_examples / EXAMPLES)
                held._hypothesis_internal_use_settings = settings(given, max_examples=min(EXAMPLES, given.max_examples))
        items[:] = sorted((i for i in items if i.nodeid not in known and mine(i.nodeid)), key=lambda i: turns[i.nodeid])

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        measured.switch_context(item.nodeid)
        os.environ["TEST_THAT_RUNS"] = item.nodeid
        yield
        measured.switch_context("")
        if time.monotonic() - begin > seconds:
            item.session.shouldstop = "enough"

    def pytest_runtest_logreport(self, report):
        if not report.passed:
            failed.add(report.nodeid)
        took[report.nodeid] = took.get(report.nodeid, 0) + report.duration

measured.start()
measured._collector.data_lock = None  # a test that is interrupted would keep it, and the next wait for ever
pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not slow", "--timeout=20", *sys.argv[7:]], plugins=[Plugin()])
measured.stop()
measured.save()
json.dump({n: None if n in failed else s * times.get(n, 1) for n, s in took.items()}, open(where + ".times", "w"))
"""


BEGIN = """
import atexit, os, signal, sys
try:
    import coverage
except ImportError:
    coverage = None  # another Python that a test starts
if coverage and "TEST_THAT_RUNS" in os.environ:
    measured = coverage.Coverage(data_file=os.environ["RECORDED_TO"], data_suffix=True, source=os.environ["ROOMS"].split(","),
                                 config_file=False, context=os.environ["TEST_THAT_RUNS"])
    measured.set_option("run:sigterm", True)
    measured._warn_no_data = measured._warn_unimported_source = False
    measured.start()
    def end():
        measured.stop()
        measured.save()
    atexit.register(end)
"""
"""What a process that a test starts runs first (as ``sitecustomize``), to be recorded as well."""


@dataclass(frozen=True, slots=True)
class Job:
    """A mutant: its file and line, the text of that line, what is changed, which one of those alike on the line, the whole text,
    and the tests for it."""

    file: str
    line: int
    source: str
    what: str
    nth: int
    text: str
    tests: tuple[str, ...]
    of: int
    limit: float
    anew: bool = False  # whether the line is run while modules are imported: no function of a loaded module has the mutant


def fork(work: Callable[[], set[str]]) -> Callable[[], set[str]]:
    """Run a function in a child; what it gives, once it has ended, is the value of the function returned."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        status = 1
        try:
            os.write(write, ",".join(work()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)

    def result() -> set[str]:
        with os.fdopen(read) as pipe:
            told = pipe.read()
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            raise SystemExit("the process that runs the tests failed")
        return {k for k in told.split(",") if k}

    return result


def _enter(copy: Path, root: Path, environment: dict[str, str]) -> None:
    """Be in the copy, without output."""
    sys.path[:] = [str(copy), *(p for p in sys.path if p not in ("", str(root), os.getcwd()))]
    os.chdir(copy)
    os.environ.update(environment)
    for name in [n for n in sys.modules if n == "tests" or n.startswith(("tests.", "tdsl"))]:
        del sys.modules[name]


def _quiet() -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for n in range(3):
        os.dup2(null, n)


def _awaited(child: int, limit: float) -> str:
    late = time.monotonic() + limit
    wait = 0.002
    while time.monotonic() < late:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(wait := min(0.1, wait * 1.3))
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


@contextlib.contextmanager
def _written(job: Job, copy: Path, root: Path) -> Iterator[None]:
    """The mutant in the copy: processes that a test starts read it there."""
    (copy / job.file).write_text(job.text, encoding="utf-8")
    os.utime(copy / job.file, (job.line, job.line))
    try:
        yield
    finally:
        (copy / job.file).unlink()
        (copy / job.file).write_bytes((root / job.file).read_bytes())
        facts = (root / job.file).stat()
        os.utime(copy / job.file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def alone(job: Job, copy: Path, root: Path, environment: dict[str, str]) -> str:
    """Run the tests of a mutant in a child that imports everything anew, the large libraries apart."""
    with _written(job, copy, root):
        child = os.fork()
        if child == 0:
            status = 70
            with contextlib.suppress(BaseException):
                os.setsid()
                _quiet()
                _enter(copy, root, environment)
                import pytest

                status = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--timeout=0", *job.tests]))
            os._exit(status)
        return _awaited(child, job.limit)


def serve(
    jobs: dict[str, Job], copy: Path, root: Path, environment: dict[str, str], ended: Callable[[str, str], None]
) -> set[str]:
    """Run mutants of functions against tests collected once; the keys of those that were not run."""
    import pytest

    _enter(copy, root, environment)
    left: set[str] = set()

    class Plugin:
        def pytest_runtestloop(self, session: Any) -> bool:
            import importlib

            for name in sorted({j.file for j in jobs.values()}):
                importlib.import_module(name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
            items = {i.nodeid: i for i in session.items}
            functions = _functions(copy)
            gc.collect()
            gc.freeze()
            for key, job in jobs.items():
                changed = _changed(job, copy, root, functions)
                if changed is None or job.anew or not set(job.tests) <= set(items):
                    left.add(key)
                    continue
                with _written(job, copy, root):
                    child = os.fork()
                    if child == 0:
                        status = 70
                        with contextlib.suppress(BaseException):
                            os.setsid()
                            for function in changed[0]:
                                function.__code__ = changed[1]
                            status = _run(session, [items[t] for t in job.tests])
                        os._exit(status)
                    end = _awaited(child, job.limit)
                ended(key, end)
            return True

    _quiet()
    files = sorted({t.partition("::")[0] for j in jobs.values() for t in j.tests})
    if files:
        pytest.main(["-q", "-p", "no:cacheprovider", "--timeout=0", *files], plugins=[Plugin()])
    return left


def _run(session: Any, items: list[Any]) -> int:
    """Whether one of these tests fails: 1, at once."""
    _quiet()
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.testsfailed or session.shouldfail or session.shouldstop:
            return 1
    return 0


def _functions(copy: Path) -> dict[tuple[str, int, str], list[FunctionType]]:
    """The functions of the copy that there are: by file, first line and name."""
    out: dict[tuple[str, int, str], list[FunctionType]] = {}
    for f in gc.get_objects():
        if isinstance(f, FunctionType) and f.__code__.co_filename.startswith(f"{copy}/tdsl/"):
            out.setdefault((f.__code__.co_filename, f.__code__.co_firstlineno, f.__code__.co_qualname), []).append(f)
    return out


def _changed(
    job: Job, copy: Path, root: Path, functions: dict[tuple[str, int, str], list[FunctionType]]
) -> tuple[list[FunctionType], CodeType] | None:
    """The functions that run the line of a mutant, outermost, and their new code; None where the line is in none."""
    path = str(copy / job.file)
    before = _outermost(compile((root / job.file).read_bytes(), path, "exec"), job.line)
    after = _outermost(compile(job.text, path, "exec"), job.line)
    if before is None or after is None or before.co_freevars != after.co_freevars:
        return None
    found = functions.get((path, before.co_firstlineno, before.co_qualname))
    return (found, after) if found else None


def _outermost(code: CodeType, line: int) -> CodeType | None:
    """The code of the function, of a module or of a class of it, that has a line."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and any(n == line for n in _lines(inner)):
            if inner.co_flags & 0x2:  # CO_NEWLOCALS: no body of a class
                return inner if not inner.co_name.startswith("<") else None
            return _outermost(inner, line)
    return None


def _lines(code: CodeType) -> Iterator[int]:
    """The lines that a function's own code has; its first one is that of the definition, and of defaults too."""
    yield from (line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner.co_firstlineno
            yield from _lines(inner)
