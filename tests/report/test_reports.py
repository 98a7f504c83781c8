"""A report in every format and findings in terminals, one golden each; what is marked, and how texts are measured."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl import __version__
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation
from tdsl.findings.diagnostic import Diagnostic, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report import columns, paint, paths, terminal
from tdsl.report.formats import Report, report_formats
from tdsl.report.paint import Paint
from tdsl.verify.result import Result
from tests.cli.run import SMALL
from tests.conftest import Golden

HELD = TemporaryDirectory()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named from here, so that no report says where that is."""
    monkeypatch.chdir(HELD.name)


DESIGNS = {
    "f.fab": SMALL.replace("<= 1:1", "<= 1:9").replace(
        "}\n",
        "  require diameter <= 2 and bisection >= 100%\n  report cost\n"
        "  require edge_redundancy >= 99  # tdsl: allow(edge_redundancy) spines come in March, when the hall is ready\n}\n",
    ),
    "bad.fab": SMALL.replace("QM9700\n  connect", "QM970\n  connect").replace("spread x 8", "spreed"),
}


@cache
def compiled(name: str) -> Compilation:
    Path(name).write_text(DESIGNS[name])
    return compiler.compile_and_verify(name)


def plain(text: str) -> str:
    """A report without the version and the folder."""
    return text.replace(__version__, "VERSION").replace(Path.cwd().as_uri(), "file:///here")


@pytest.mark.parametrize("form", report_formats())
def test_a_report_in_each_format(form: str, golden: Golden, here: None) -> None:
    report = Report([compiled(n) for n in DESIGNS], elapsed_s=0.25)
    made = report_formats()[form]
    early = getattr(made, "render_early_findings", lambda _: "")(report)
    golden(f"report/{form}.txt", _untimed(plain(f"failed {report.failed}\n{early}----\n{made.render(report)}")))


TEXTS = {
    "tabs": "fabric f {\n\tswitch\ts:\tSW\n\t\tconnect s to t\n}\n",
    "wide": "fabric f {\n  switch 交換機: SW  # é 漢字\n  connect e\u0301 to t\u200b\x07\n}",
    "long": "fabric f {\n  " + " ".join(f"word{n}" for n in range(40)) + "\n\n\n\n" + "  last line of it\n}\n",
}
LONG = "a message that goes on for so long that it needs more room than there is beside what it is about"
MESSAGES = ("short", LONG, "two\nlines", "")


def test_findings(golden: Golden) -> None:
    """Spans in texts of every kind, with labels, notes and help in turn, in a narrow and a wide terminal."""
    other, out, n = SourceFile("other.fab", "one\ntwo\nthree\n"), [], 0
    for text in TEXTS.values():
        file = SourceFile("a\x1b.fab", text)
        for start, length in ((13, 6), (20, 0), (len(text) // 2, 30), (len(text), 0)):
            n += 1
            span = SourceSpan(file, start, min(start + length, len(text)))
            labels = [Label(SourceSpan(file, n, n + 4), MESSAGES[(n + 1) % 4])] * (n % 2) + [
                Label(SourceSpan(other, 4, 7), "there")
            ] * (n % 3 == 0)
            d = Diagnostic(
                ("E0101", "E0407", "E0001", "E9999")[n % 4], MESSAGES[n % 4] or "x", span, tuple(labels), (LONG,) * (n % 5 == 1),
                LONG if n % 4 == 2 else "", severity=(Severity.ERROR, Severity.WARNING, Severity.NOTE)[n % 3], count=1 + n % 3,
            )  # fmt: skip
            width = (60, 100)[n % 2]
            out += [f"==== {start}+{length} at {width}", terminal.finding_block(d, "a.fab", Paint(n == 7), width)]
    d = Diagnostic("E0101", LONG, None, notes=("n",), help="h", count=12)
    out += [terminal.finding_block(d, "a\u202e.fab", Paint(False), w) for w in (40, 60)]
    golden("report/findings.txt", "\n".join(out) + "\n")


@given(st.lists(st.lists(st.text("abcd  ", max_size=60), min_size=3, max_size=3), min_size=1, max_size=5), st.integers(40, 90))
def test_a_table_in_a_narrow_terminal(rows: list[list[str]], width: int) -> None:
    """It fits where its longest words do, and has all words of each column in their order."""
    rows = [[" ".join(c.split()) for c in row] for row in rows]
    head = ("left", "mid", "right")
    longest = [max(len(w) for c in column for w in c.split() or [""]) for column in zip(head, *rows, strict=True)]
    made = [*columns.table_lines(head, rows, Paint(False), width)]
    assert max(map(len, made)) <= max(width, sum(longest) + 4)
    assert sorted("".join(made).replace(" ", "")) == sorted("".join(c for r in (head, *rows) for c in r).replace(" ", ""))


@settings(max_examples=60)
@given(st.lists(st.text("abc :{}", max_size=40), min_size=1, max_size=6), st.data())
def test_what_is_marked_is_underlined(lines: list[str], data: st.DataObject) -> None:
    """In the line of the span, below the source, from its first to its last column that is no blank."""
    row = data.draw(st.integers(0, len(lines) - 1))
    start = data.draw(st.integers(0, len(lines[row])))
    stop = data.draw(st.integers(start, len(lines[row])))
    at = sum(len(line) + 1 for line in lines[:row])
    file = SourceFile("a.fab", "\n".join(lines))
    told = terminal.finding_block(
        Diagnostic("E9999", "wrong", SourceSpan(file, at + start, at + stop)), "a.fab", Paint(False), 100
    ).split("\n")
    assert told[:2] == ["error[E9999]: wrong", f" --> a.fab:{row + 1}:{start + 1}"]
    source = next(k for k, line in enumerate(told) if re.match(rf"{row + 1} \|", line))
    assert told[source] == f"{row + 1} | {lines[row]}".rstrip()
    assert told[source + 1] == "  | " + " " * start + "^" * max(len(lines[row][start:stop].rstrip()), 1)


def answer(check: str, status: Any, text: str = "", reason: str = "", requirement: str | None = None, **more: Any) -> Result:
    """An answer in words."""
    return Result(check, status, None, "", None, None, True, None, "", {}, reason, requirement, None, text, **more)


def test_verdicts(golden: Golden) -> None:
    """Verdicts of requirements and checks, with scopes, reasons and second opinions, within the columns that there are. What
    nobody requires is not proved in green."""
    seconds: list[dict[str, object]] = [
        {"verdict": "confirmed", "by": ["x", "y"]}, {"verdict": "disagrees", "by": ["x"]},
        {"verdict": "unconfirmed", "reason": "too large"},
    ]  # fmt: skip
    results = [
        answer("diameter", "proved", "2, from a to b", requirement="diameter <= 2"),
        answer("diameter", "refuted", "4", requirement="diameter <= 3", scope="one"),
        answer("bisection", "bounded", "50% to 75%", second_opinion=seconds[0]),
        answer("bisection", "proved", "50%", second_opinion=seconds[1]), answer("cost", "proved", "1", second_opinion=seconds[2]),
        *(answer(c, "skipped", reason="there is nothing to judge") for c in ("a", "b", "c")),
        *(answer(c, "skipped", reason="none of it") for c in ("d", "e")),
        *(answer("links", "proved", "4 at each", requirement="links >= 4", scope=f"s[{n}]") for n in range(3)),
        *(answer("ports", "proved", "8", requirement="ports == 8", scope=f"s[{n}]") for n in range(2)),
        answer("throughput", "modelled", "word " * 30, requirement="throughput of a long list of things " * 3),
        answer("taper", "proved", "1:1", requirement="taper of leaf", report=True),
    ]  # fmt: skip
    out = []
    for width, colour in ((60, False), (140, True)):
        lines = terminal.verdict_lines(results, Paint(colour), width)
        assert all(len(re.sub("\x1b[^m]*m", "", line)) <= width for line in lines)
        assert not any("[32m" in line for line in lines if re.search("cost|taper", line))
        out += [f"==== {width}", *lines]
    summary: dict[str, object] = {
        "hosts": 1234, "other_hosts": 5, "accelerators": 9872, "endpoints": 10, "other_endpoints": 1, "switches": 12345,
        "tiers": {"leaf": 12000, "spine": 345}, "planes": 2, "rails": 8,
        "links": {"total": 99999, "classes": {"a": 9, "b": 99990}}, "cables": {"total": 5},
        "circuits": 7, "injection_bps": 406.4e12,
    }  # fmt: skip
    out += ["----", *terminal.summary_lines(summary, Paint(False)), *terminal.summary_lines({}, Paint(False))]
    rates = (0.5, 999, 1000, 1e6, 25e9, 4e11, 1e12, 12.345e12, 1.5e15, 1e19)
    out += [terminal.rate_in_bps_text(r) for r in rates]
    golden("report/verdicts.txt", "\n".join(out) + "\n")


def _untimed(text: str) -> str:
    """A report without seconds."""
    text = re.sub(r"\d+\.\d s$", "T s", text, flags=re.MULTILINE)
    return re.sub(r'("(?:elapsed_s|seconds)": |time=")[0-9.e-]+', r"\1T", text)


def test_text_in_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [paint.character_columns(c) for c in "a~\x7fé漢\u0301Ａ"] == [1, 1, 1, 1, 2, 0, 2]
    assert paint.text_columns("ab") == 2 and paint.text_columns("漢é") == 3
    assert paint.terminal_safe_text("a\nb\tc\x1b\u202e\u2028é\ue000") == "a\nb\tc\ufffd\ufffd\ufffdé\ufffd"
    for text, width, lines in (
        ("one two three", 7, ["one two", "three"]), ("one two three", 6, ["one", "two", "three"]), ("", 5, [""]),
        ("a\n  b\n\nc", 9, ["a", "b", "", "c"]), ("漢漢 a", 5, ["漢漢", "a"]), ("漢漢 a", 6, ["漢漢 a"]),
        ("toolong a", 3, ["toolong", "a"]),
    ):  # fmt: skip
        assert paint.wrap_text(text, width) == lines
    assert Paint(True)("error", "x") == "\x1b[1;31mx\x1b[0m" and Paint(True)("dim", "") == "" and Paint(False)("dim", "x") == "x"

    streams = [SimpleNamespace(isatty=lambda known=known: known) for known in (True, False)]
    for asked, none, force, term, expected in (
        (None, "", "", "xterm", (True, False)), (None, "1", "1", "xterm", (False, False)), (None, "", "1", "xterm", (True, True)),
        (None, "", "0", "xterm", (True, False)), (None, "", "", "dumb", (False, False)), (True, "1", "", "dumb", (True, True)),
        (False, "", "1", "xterm", (False, False)),
    ):  # fmt: skip
        for name, value in (("NO_COLOR", none), ("FORCE_COLOR", force), ("TERM", term)):
            monkeypatch.setenv(name, value)
        token = paint.colored.set(asked)
        assert tuple(map(paint.wants_colour, streams)) == expected  # type: ignore[arg-type]
        paint.colored.reset(token)
    for columns_given, wide in (("30", 60), ("60", 60), ("99", 99), ("140", 140), ("300", 140)):
        monkeypatch.setenv("COLUMNS", columns_given)
        assert [*map(paint.output_width, streams)] == [wide, 100]  # type: ignore[arg-type]


def test_tables() -> None:
    """Columns of numbers to the right; what stands out after the sample is let stand out."""
    rows = [("a", 1, None, "x\x1b"), ("漢", 22.5, -3, ""), ("bbb", "", 4, "y")]
    assert list(columns.table_lines(("name", "n", "of", "t"), rows, Paint(False))) == [
        "name     n  of  t", "a        1      x\ufffd", "漢    22.5  -3", "bbb          4  y",
    ]  # fmt: skip
    assert list(columns.table_lines(("n",), [], Paint(True))) == ["\x1b[1mn\x1b[0m"]
    assert list(columns.table_lines(("n", "m"), [("1.2.3", "1-")], Paint(False))) == ["n       m", "1.2.3  1-"]
    many = list(columns.table_lines(("n",), [("1",)] * columns.SAMPLE + [("12345",)], Paint(False)))
    assert len(many) == columns.SAMPLE + 2 == 2002 and many[-1] == "12345" and many[1] == "1"


def test_names_of_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert [paths.relative_file_name(n) for n in (f"{tmp_path}/a b.fab", "/x/y.fab", "a/b.fab", "stdlib:a/b.fab")] == [
        "a b.fab", "/x/y.fab", "a/b.fab", "stdlib:a/b.fab",
    ]  # fmt: skip
    assert [paths.file_uri(n) for n in (f"{tmp_path}/a b.fab", "/x/ü.fab", "a/b.fab", "stdlib:a/b.fab")] == [
        "a%20b.fab", "file:///x/%C3%BC.fab", "a/b.fab", "stdlib/a/b.fab",
    ]  # fmt: skip
    beside = f"{tmp_path.parent.as_posix()[1:]}/b.fab"
    names = ("/x/ü.fab", "../b.fab", f"../{tmp_path.name}/b.fab", "a/../b.fab", f"{tmp_path}/b.fab", "stdlib:a/b.fab")
    assert [paths.path_from_root(n) for n in names] == ["x/%C3%BC.fab", beside, "", "", "", ""]
    file = SourceFile("a.fab", "ab\ncd\n")
    d = Diagnostic("E0001", "m", SourceSpan(file, 1, 4), notes=("n", "o"), help="h", count=1234)
    assert paths.finding_location("b.fab", d) == ("a.fab", 1, 2, 2, 2)
    assert paths.finding_location("b.fab", Diagnostic("E0001", "m", None)) == ("b.fab", 1, 1, 1, 1)
    assert (
        paths.finding_text_in_full(d) == "m\nfirst of 1,234\nn\no\nhelp: h"
        and paths.finding_text_in_full(Diagnostic("E0001", "m", None)) == "m"
    )


def test_the_closing_line_counts_what_is_found() -> None:
    """Up to five further codes that have pages, notes not among them."""

    def closing(*found: Diagnostic) -> list[str]:
        report: Any = SimpleNamespace(
            findings=found, elapsed_s=1.26, coverage=(2, 2), compilations=(), width=100, grave=Severity.ERROR,
            reported_findings=[("f.fab", d) for d in found],
        )  # fmt: skip
        return terminal.closing_lines(report, Paint(False)).split("\n")

    many = [Diagnostic(f"E010{n}", "", None, severity=Severity.ERROR) for n in range(1, 8)]
    said = "tdsl explain E0101 says more; also E0102, E0103, E0104, E0105, E0106"
    assert closing(*reversed(many), many[0]) == ["8 errors in 1.3 s", "first: f.fab:", said]
    warning, note = (Diagnostic("E0101", "", None, severity=s) for s in (Severity.WARNING, Severity.NOTE))
    assert closing(warning, warning, note) == ["no errors, 2 warnings, 1 note in 1.3 s", "tdsl explain E0101 says more"]
    assert closing(note) == ["no errors, 1 note in 1.3 s"] and closing() == ["no errors in 1.3 s"]
