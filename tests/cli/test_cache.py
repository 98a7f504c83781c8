"""Answers of earlier calls: `check` gives one again only where nothing that it was made of differs, and says the same then."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from tdsl import answers
from tdsl.answers import form, surroundings
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.report.formats import Report, Streamed, report_formats
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.system import cache
from tdsl.system.read import read_regular_file
from tdsl.system.record import Record, record_disk_questions
from tests.cli.run import SMALL, tdsl, write
from tests.harness import none
from tests.ide.test_judge import EDITS, question
from tests.semantics.test_expand import LIBRARY
from tests.sources import SOURCES, calls, name_of, with_words
from tests.tables import sections

ROOT = Path(__file__).parents[2]
FIXTURES = Path(__file__).parents[1] / "errors" / "design"
TIME = re.compile(r'(?<= in )\d+\.\d s$|(?<="elapsed_s": )[0-9.]+|(?<=time=")[0-9.]+', re.MULTILINE)
MIXED, HOOK = sections(__file__)["mixed"], sections(__file__)["hook"]
OWN = 'model switch OWN "ours" { port p[1..64]: 400Gbps { type NDR; cage 2 OSFP } }\n'
LOAD = "from,to,amount\nnode[0],node[1],1\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a design that uses other files, as the current one, and a cache of its own."""
    folder = tmp_path / "project"
    (folder / "lib").mkdir(parents=True)
    write(folder, MIXED, "mixed.fab")
    (folder / "lib" / "parts.fab").write_text(OWN)
    (folder / "load.csv").write_text(LOAD)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TDSL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TDSL_CHECK_NO_CACHE")
    surroundings.first_version.cache_clear()
    return folder


def said(*args: str | Path) -> tuple[int, str, str]:
    """Status, output and errors of `check`, without times."""
    done = tdsl("check", *args)
    return done.exit_code, TIME.sub("", done.stdout), done.stderr


CALL = ("mixed.fab", "--path", "lib", "--today", "2026-11-23")


def both(*args: str) -> tuple[int, bool]:
    """The status of a call that says the same with and without the cache, and whether the design was compiled for it."""
    fresh = said(*args, "--no-cache", "-v")
    status, out, told = said(*args, "-v")
    assert (status, out) == fresh[:2] and "an earlier call" not in fresh[2]
    return status, "an earlier call" not in told


@pytest.mark.parametrize("format", list(report_formats()))
def test_every_format_says_the_same(format: str, project: Path) -> None:
    call = *CALL, "--output-format", format
    assert both(*call) == (1, True)
    assert both(*call) == (1, False)
    assert "an earlier call" in said(*CALL, "--output-format", "concise", "-v")[2]  # one answer for all formats
    fresh = tdsl("check", *CALL, "-o", "fresh", "--report", f"{format}=fresh2", "--no-cache")
    kept = tdsl("check", *CALL, "-o", "kept", "--report", f"{format}=kept2")
    assert (fresh.exit_code, fresh.output) == (kept.exit_code, kept.output) == (1, "")
    for name in ("", "2"):
        assert TIME.sub("", Path(f"fresh{name}").read_text()) == TIME.sub("", Path(f"kept{name}").read_text())


def test_what_differs_is_judged_again(project: Path) -> None:
    """Each step changes one thing that the answer may depend on."""

    def put(name: str, text: str) -> None:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)

    assert both(*CALL) == (1, True)
    steps: dict[str, Callable[[], object]] = {
        "a comment": lambda: put("mixed.fab", f"# ours\n{MIXED}"),
        "a requirement": lambda: put("mixed.fab", MIXED.replace("diameter <= 1", "diameter <= 2")),
        "a used file": lambda: put("lib/parts.fab", OWN.replace("64", "128")),
        "a file that comes first": lambda: put("parts.fab", OWN),
        "a table": lambda: put("load.csv", LOAD.replace("node[1]", "node[77]")),
        "no table": lambda: Path("load.csv").unlink(),
        "the table again": lambda: put("load.csv", LOAD),
        "a lock": lambda: tdsl("lock", *CALL[:3]),
        "settings": lambda: put("tdsl.toml", '[severity]\ndiameter = "warning"\n'),
        "an error": lambda: put("mixed.fab", MIXED.replace("leaf[r]", "leef[r]")),
        "an error of syntax": lambda: put("mixed.fab", MIXED.replace("{", "(", 1)),
    }
    for what, step in steps.items():
        step()
        assert both(*CALL)[1], what
        assert not both(*CALL)[1], what
    put("mixed.fab", MIXED)
    for more in (("--set", "nodes=5"), ("--select", "diameter"), ("--fail", "spine[0]"), ("--check-seconds", "1")):
        assert both(*CALL, *more)[1] and not both(*CALL, *more)[1], more


def test_standard_input_and_designs_of_the_library(project: Path) -> None:
    for source, stdin in (("ft2", None), ("-", SMALL), ("-", SMALL.replace("leaf[8]", "leaf[9]"))):
        done = [tdsl("check", source, "-v", *more, stdin=stdin) for more in (("--no-cache",), (), ())]
        assert len({TIME.sub("", d.stdout) for d in done}) == 1
        assert ["an earlier call" in d.stderr for d in done] == [False, False, True], source


def test_the_day_matters_where_a_waiver_has_a_last_one(project: Path) -> None:
    other_day = (*CALL[:-1], "2027-03-01")
    assert both(*CALL) == (1, True) and both(*other_day) == (1, False)
    write(project, MIXED.replace("allow(isolated)", "allow(isolated until 2027-01-31)"), "mixed.fab")
    assert both(*CALL) == (1, True) and both(*CALL) == (1, False)
    assert both(*other_day) == (1, True) and "E0018" in said(*other_day)[1]
    assert both(*CALL) == (1, True)


def test_another_library_judges_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = project.parent / "site"
    (site / "numpy-2.0.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(site)])
    surroundings.first_version.cache_clear()
    assert both(*CALL)[1] and not both(*CALL)[1]
    (site / "numpy-2.0.0.dist-info").rename(site / "numpy-2.0.1.dist-info")
    assert both(*CALL)[1] and both(*CALL)[1]  # this process runs the old one, and keeps nothing
    surroundings.first_version.cache_clear()
    assert both(*CALL)[1] and not both(*CALL)[1]
    surroundings.first_version.cache_clear()


def test_calls_that_keep_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(os.environ["TDSL_CACHE_DIR"])
    tdsl("check", "mixed.fab", "--no-cache")
    tdsl("check", "mixed.fab", "--certificates", "proofs")
    (project / "tdsl.toml").write_text("[check]\nno-cache = true\n")
    tdsl("check", "mixed.fab")
    (project / "tdsl.toml").unlink()
    assert not list(home.glob("answers/*"))
    monkeypatch.setenv("TDSL_CACHE_DIR", str(project.parent / "none"))
    assert tdsl("check", "ft2", "--untrusted").exit_code == 0
    load_grammar_tables.cache_clear()
    assert tdsl("fmt", "--check", "mixed.fab", env={"TDSL_UNTRUSTED": "1"}).exit_code in (0, 1)
    assert not (project.parent / "none").exists()


# ------------------------------------------------------------ entries that are not what was written


def entries(kind: str = "answers") -> list[Path]:
    return sorted((Path(os.environ["TDSL_CACHE_DIR"]) / kind).iterdir())


def sealed(path: Path, body: bytes) -> bytes:
    """An entry whose check sum is right."""
    return sha256(f"{path.name}\n".encode() + body).hexdigest().encode() + b"\n" + body


POISON: dict[str, Callable[[Path], object]] = {
    "empty": lambda p: p.write_bytes(b""),
    "noise": lambda p: p.write_bytes(bytes(range(256)) * 40),
    "cut": lambda p: p.write_bytes(p.read_bytes()[:-1]),
    "longer": lambda p: p.write_bytes(p.read_bytes() + b" "),
    "a digit": lambda p: p.write_bytes(p.read_bytes().replace(b"1", b"2")),
    "another answer": lambda p: p.write_bytes(p.with_name("0" * 64).read_bytes()),
    "a link": lambda p: p.rename(p.with_name("x")) and p.symlink_to(p.with_name("x")),
    "a folder": lambda p: (p.unlink(), p.mkdir()),
    "a pipe": lambda p: (p.unlink(), os.mkfifo(p)),
    "others may write": lambda p: (p.write_bytes(sealed(p, p.read_bytes()[65:].replace(b"proved", b"PROVED"))), p.chmod(0o666)),
    "open to others": lambda p: (p.write_bytes(sealed(p, b"{}")), p.parent.chmod(0o755)),
    "no document": lambda p: p.write_bytes(sealed(p, b"[" * 100_000)),
    "another document": lambda p: p.write_bytes(sealed(p, b'{"day": "", "read": [], "said": {"files": 1}}')),
    "a place outside": lambda p: p.write_bytes(sealed(p, re.sub(rb'"span",0,\d+', b'"span",0,9999999', p.read_bytes()[65:]))),
}  # fmt: skip


def test_entries_that_are_not_what_was_written(project: Path) -> None:
    """They are passed over, nothing in them is run, and the next call writes them again, where it can."""
    fresh = said(*CALL, "--no-cache")
    for poison, spoil in POISON.items():
        assert said(*CALL) == fresh, poison
        (path,) = entries()
        assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
        other = path.with_name("0" * 64)
        other.write_bytes(sealed(other, path.read_bytes()[65:].replace(b"proved", b"PROVED")))
        spoil(path)
        assert said(*CALL) == fresh, poison
        assert said(*CALL) == fresh and both(*CALL)[1] == (poison in ("a folder", "open to others")), poison
        path.parent.chmod(0o700)
        for left in entries():
            left.rmdir() if left.is_dir() and not left.is_symlink() else left.unlink()


def test_a_cache_does_not_grow_without_end(project: Path) -> None:
    """2,000 answers of any size, or 256 MiB of them; those go first that were not used for the longest time."""
    cache.write_cache_entry("answers", "first", b"x")
    (first,) = entries()
    os.utime(first, (1, 1))
    for number in range(2000):
        first.with_name(f"{number:064}").write_bytes(b"x")
    cache.write_cache_entry("answers", "last", b"y")
    assert (
        len(entries()) <= 2000
        and cache.read_cache_entry("answers", "last") == b"y"
        and cache.read_cache_entry("answers", "first") is None
    )
    cache.write_cache_entry("answers", "large", b"x" * (33 << 20))
    assert cache.read_cache_entry("answers", "large") is None


def test_calls_beside_each_other(project: Path, forked: Path) -> None:
    """They read and write one cache at once, and each says the same; nothing half written stays."""
    line = [forked, "check", *CALL, "--output-format", "json"]
    fresh = subprocess.run([*line, "--no-cache"], capture_output=True, text=True, check=False)
    runs = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert {TIME.sub("", run.communicate(timeout=100)[0]) for run in runs} == {TIME.sub("", fresh.stdout)}
    assert {run.returncode for run in runs} == {fresh.returncode} == {1}
    assert len(entries()) == 1


# ------------------------------------------------------------ all that a design may say, and all that is read


def shown(steps: list[Compilation]) -> tuple[list[str], str]:
    """What every format makes of a compilation, also where findings are printed early, and its results."""
    for design in (d for c in steps for d in c.designs):
        design.elapsed_s = 0.0
    last, early = Report(steps[-1:]), Report(steps[:1])
    out = [f.render(last) for f in report_formats().values()]
    for f in report_formats().values():
        if isinstance(f, Streamed):
            out += [f.render_early_findings(early), f.render(replace(last, printed=early.findings, colour=True))]
    return out, repr([d.results for d in steps[-1].designs])


def test_answers_come_back_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every twelfth faulty design and of every twelfth of the library, in every format."""

    def differ() -> Iterator[str]:
        monkeypatch.chdir(FIXTURES)
        for source in (*sorted(p.name for p in FIXTURES.glob("*.fab"))[::12], *(p.stem for p in LIBRARY[::12])):
            steps = list(compiler.compile_in_stages(source, Request()))
            again = form.compilations_from_json(form.json_from_bytes(form.json_bytes(form.compilations_as_json(steps))))
            if shown(steps) != shown(again):
                yield source

    none(differ())


def test_each_text_as_if_nothing_was_kept(project: Path) -> None:
    """A text that is edited again and again, with the judgements of the texts before it."""

    def differ() -> Iterator[str]:
        order = random.Random(18)
        for _ in range(8):
            asked = question(order.sample(range(len(EDITS)), order.choice((0, 1, 1, 2))), order.choice((0, 0, 0, 1, 2)))
            fresh, again = (
                list(stages(asked.path, Request(overlay=asked.overlay)))
                for stages in (compiler.compile_in_stages, answers.stages_with_cache)
            )
            if shown(fresh) != shown(again):
                yield asked.overlay[asked.path]

    none(differ())


def test_all_that_is_read_is_recorded(project: Path) -> None:
    assert tdsl("lock", *CALL[:3]).exit_code == 0
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", HOOK], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


WAYS = "is_file|is_dir|exists|glob|rglob|iterdir|listdir|scandir|stat|lstat|read_text|read_bytes|environ|getenv|cwd"
ASKS = re.compile(rf"\.({WAYS})$")
OURS = re.compile(r"(files|disk)\.")
STAGES = ("findings/", "syntax/", "semantics/", "fabric/", "physical/", "prove/", "verify/", "sizing/", "explain/", "compile/")
OF_TDSL = {
    "syntax/grammar.py": {"read_text", "read_bytes"},  # the grammar, and its tables in a wheel
    "compile/preset_jobs.py": {"read_text"},  # the standard library, for a call that is wrong
    "semantics/loader.py": {"is_file", "rglob"},  # the standard library
    "compile/planning.py": {"glob"},  # the same, for a call that is wrong
    "explain/catalogue.py": {"read_text", "glob", "is_file"},  # pages of findings
}


def test_stages_ask_the_disk_through_one_module() -> None:
    """What is not asked through ``files`` would not be recorded; folders of tdsl itself are part of its version."""
    stages = with_words([p for p in SOURCES if name_of(p).startswith(STAGES)], WAYS)
    asked = [(p, line, ASKS.search(name)) for p in stages for name, line in calls(p) if not OURS.match(name)]
    none(f"{p}:{line}: {what[1]}" for p, line, what in asked if what and what[1] not in OF_TDSL.get(name_of(p), ()))


def test_one_question_with_two_answers_is_not_kept(project: Path) -> None:
    record = Record()
    with record_disk_questions(record):
        read_regular_file(Path("load.csv"))
        Path("load.csv").write_text("other")
        assert record.lasting
        read_regular_file(Path("load.csv"))
    assert not record.lasting
    assert answers.program_folders()
