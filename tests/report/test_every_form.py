"""Reports in every format, findings on texts of every kind and in terminals of several widths: whole texts, as goldens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tdsl import __version__
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.findings.diagnostic import Diagnostic, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report import columns, paint, paths, terminal
from tdsl.report.formats import Report, report_formats
from tdsl.report.paint import Paint
from tdsl.verify.result import Result
from tests.cli.run import SMALL, tdsl
from tests.conftest import Golden

HELD = TemporaryDirectory()


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named from here, so that no report says where that is."""
    monkeypatch.chdir(HELD.name)


DESIGNS = {
    "good": SMALL,
    "wrong": SMALL.replace("<= 1:1", "<= 1:9").replace(
        "}\n", "  require diameter <= 2 and bisection >= 100%\n  report cost\n}\n"
    ),
    "bad": SMALL.replace("QM9700\n  connect", "QM970\n  connect").replace("spread x 8", "spreed"),
    "allowed": SMALL.replace("<= 1:1", "<= 1:9  # tdsl: allow(oversubscription) spines come in March, when the hall is ready"),
    "two": """\
fabric one {
  param n: int = 2
  group su[n] { host node[2]: DGX_H100; switch leaf[8]: QM9700; connect node[n].nic[r] to leaf[r] { class "rail" } }
  switch spine[2]: QM9700
  connect su[*].leaf[*] to spine[*] each x 2
  require oversubscription of su[0] <= 2:1
  require oversubscription <= 1:1
  require edge_redundancy >= 9
}
fabric other { switch s[4]: QM9700; connect s[*] each }
""",
    "phases": """\
fabric grows {
  param units: int = 2
  phase 1 { units 1; needed "2027-01-15" }
  phase 2 { units 2 }
  host node[units]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
  require reachability
}
""",
}


@cache
def compiled(name: str) -> Compilation:
    path = Path(f"{name}.fab")
    path.write_text(DESIGNS[name])
    failed = ("leaf[1]",) if name == "good" else ()
    return compiler.compile_and_verify(str(path), Request(fail=failed))


def plain(text: str) -> str:
    """A report without the version and the folder."""
    return text.replace(__version__, "VERSION").replace(Path.cwd().as_uri(), "file:///here")


@pytest.mark.parametrize("form", report_formats())
@pytest.mark.parametrize("name", [*DESIGNS, "all"])
def test_formats(form: str, name: str, golden: Golden, here: None) -> None:
    chosen = [compiled(n) for n in (DESIGNS if name == "all" else [name])]
    if name == "all":
        report = Report(chosen[1:4], Severity.WARNING, True, 70, 61.25, printed=chosen[1].findings[:1])
    else:
        report = Report(chosen, elapsed_s=0.25)
    made = report_formats()[form]
    early = getattr(made, "early", lambda _: "")(report)
    golden(f"report/{name}_{form}.txt", _untimed(plain(f"failed {report.failed}\n{early}----\n{made.render(report)}")))


TEXTS = {
    "plain": "fabric f {\n  switch s: SW\n  connect s to t\n}\n",
    "tabs": "fabric f {\n\tswitch\ts:\tSW\n\t\tconnect s to t\n}\n",
    "wide": "fabric f {\n  switch 交換機: SW  # é 漢字\n  connect e\u0301 to t\u200b\x07\n}",
    "long": "fabric f {\n  " + " ".join(f"word{n}" for n in range(40)) + "\n\n\n\n" + "  last line of it\n}\n",
}
LONG = "a message that goes on for so long that it needs more room than there is beside what it is about"
MESSAGES = ("short", LONG, "two\nlines", "")


def spans(file: SourceFile) -> Iterator[SourceSpan]:
    """Some stretches of a text: single characters, words, whole lines, several lines, the end."""
    size = len(file.text)
    starts = [0, 9, 13, 15, 20, size // 2, size - 3, size]
    for start, length in product([s for s in starts if 0 <= s <= size], (0, 1, 6, 30, size)):
        yield SourceSpan(file, start, min(start + length, size))


@pytest.mark.parametrize("name", TEXTS)
def test_findings(name: str, golden: Golden) -> None:
    """One finding a span, with a label, notes and help in turn, at two widths."""
    file, other = SourceFile("a\x1b.fab", TEXTS[name]), SourceFile("other.fab", "one\ntwo\nthree\n")
    out = []
    for n, span in enumerate(spans(file)):
        labels = [Label(SourceSpan(file, min(n, len(file.text)), min(n + 4, len(file.text))), MESSAGES[(n + 1) % 4])] * (n % 2)
        labels += [Label(SourceSpan(other, 4, 7), "there")] * (n % 3 == 0)
        d = Diagnostic(
            ("E0101", "E0407", "E0001", "E9999")[n % 4], MESSAGES[n % 4] or "x", span, tuple(labels), (LONG,) * (n % 5 == 1),
            LONG if n % 4 == 2 else "", severity=(Severity.ERROR, Severity.WARNING, Severity.NOTE)[n % 3], count=1 + n % 3,
        )  # fmt: skip
        for width in (60, 100):
            out += [f"==== {span.start}-{span.end} at {width}", terminal.finding_block(d, "a.fab", Paint(n % 7 == 0), width)]
    d = Diagnostic("E0101", LONG, None, notes=("n",), help="h", count=12)
    out += [terminal.finding_block(d, "a\u202e.fab", Paint(False), w) for w in (40, 60)]
    golden(f"report/findings_{name}.txt", "\n".join(out) + "\n")


def answer(check: str, status: Any, text: str = "", reason: str = "", requirement: str | None = None, **more: Any) -> Result:
    """An answer in words."""
    return Result(check, status, None, "", None, None, True, None, "", {}, reason, requirement, None, text, **more)


def test_verdicts(golden: Golden) -> None:
    """Verdicts of requirements and checks, with scopes, reasons and second opinions."""
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
    ]  # fmt: skip
    out = []
    for width, colour in ((60, False), (100, False), (140, True)):
        out += [f"==== {width}", *terminal.verdict_lines(results, Paint(colour), width)]
    summaries: list[dict[str, object]] = [
        {}, {"hosts": 1, "other_hosts": 0, "switches": 2, "planes": 1, "rails": 2, "circuits": 0},
        {
            "hosts": 1234, "other_hosts": 5, "accelerators": 9872, "endpoints": 10, "other_endpoints": 1, "switches": 12345,
            "tiers": {"leaf": 12000, "spine": 345}, "planes": 2, "rails": 8,
            "links": {"total": 99999, "classes": {"a": 9, "b": 99990}}, "cables": {"total": 5},
            "circuits": 7, "injection_bps": 406.4e12,
        },
    ]  # fmt: skip
    for summary in summaries:
        out += ["----", *terminal.summary_lines(summary, Paint(False))]
    rates = (0.5, 999, 1000, 1e6, 25e9, 4e11, 1e12, 12.345e12, 1.5e15, 1e19)
    out += [terminal.rate_in_bps_text(r) for r in rates]
    for counts in product((0, 1, 2), repeat=3):
        found = [
            Diagnostic("E0001", "", None, severity=s) for s, n in zip(Severity, (0, *counts), strict=False) for _ in range(n)
        ]
        out.append(terminal.severity_tally(found, Paint(counts == (1, 1, 1))))
    golden("report/verdicts.txt", "\n".join(out) + "\n")


TINY = "fabric f {\n  param n: int = 1 where n in [1, 2, 4]\n  host h[n]: DGX_H100\n  switch s: QM9700\n" \
       "  connect h[k].nic[0] to s\n  require ports of s == 2\n  require diameter <= 2\n}\n"  # fmt: skip


def test_all_values_of_parameters(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "f.fab").write_text(TINY)
    out = []
    for form in ("full", "json", "junit"):
        text = tdsl("check", tmp_path / "f.fab", "--all-params", "--output-format", form).stdout
        out.append(_untimed(text.replace(f"{tmp_path}/", "").replace(__version__, "VERSION")))
    golden("report/all_params.txt", "\n----\n".join(out))


def _untimed(text: str) -> str:
    """A report without seconds."""
    text = re.sub(r"\d+\.\d s$", "T s", text, flags=re.MULTILINE)
    return re.sub(r'("(?:elapsed_s|seconds)": |time=")[0-9.e-]+', r"\1T", text)


def test_text_in_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [paint.character_columns(c) for c in "a~\x7fé漢\u0301Ａ"] == [1, 1, 1, 1, 2, 0, 2]
    assert paint.text_columns("ab") == 2 and paint.text_columns("漢é") == 3
    assert (
        paint.terminal_safe_text("a\nb\tc\x1b\u202e\u2028é\ue000") == "a\nb\tc\ufffd\ufffd\ufffdé\ufffd"
        and paint.terminal_safe_text("ab") == "ab"
    )
    assert paint.wrap_text("one two three", 7) == ["one two", "three"] and paint.wrap_text("one two three", 6) == [
        "one",
        "two",
        "three",
    ]
    assert paint.wrap_text("", 5) == [""] and paint.wrap_text("a\n  b\n\nc", 9) == ["a", "b", "", "c"]
    assert paint.wrap_text("漢漢 a", 5) == ["漢漢", "a"]
    assert paint.wrap_text("漢漢 a", 6) == ["漢漢 a"] and paint.wrap_text("toolong a", 3) == ["toolong", "a"]
    assert Paint(True)("error", "x") == "\x1b[1;31mx\x1b[0m" and Paint(True)("dim", "") == "" and Paint(False)("dim", "x") == "x"

    class Stream:
        def __init__(self, terminal: bool) -> None:
            self.terminal = terminal

        def isatty(self) -> bool:
            return self.terminal

    for asked, none, force, term, expected in (
        (None, "", "", "xterm", (True, False)), (None, "1", "1", "xterm", (False, False)), (None, "", "1", "xterm", (True, True)),
        (None, "", "0", "xterm", (True, False)), (None, "", "", "dumb", (False, False)), (True, "1", "", "dumb", (True, True)),
        (False, "", "1", "xterm", (False, False)),
    ):  # fmt: skip
        for name, value in (("NO_COLOR", none), ("FORCE_COLOR", force), ("TERM", term)):
            monkeypatch.setenv(name, value)
        token = paint.colored.set(asked)
        assert tuple(paint.wants_colour(Stream(t)) for t in (True, False)) == expected  # type: ignore[arg-type]
        paint.colored.reset(token)
    for given, wide in (("30", 60), ("60", 60), ("99", 99), ("140", 140), ("300", 140)):
        monkeypatch.setenv("COLUMNS", given)
        assert [paint.output_width(Stream(t)) for t in (True, False)] == [wide, 100]  # type: ignore[arg-type]


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
        "a%20b.fab", "file:///x/%C3%BC.fab", "a/b.fab", "stdlib:a/b.fab",
    ]  # fmt: skip
    file = SourceFile("a.fab", "ab\ncd\n")
    d = Diagnostic("E0001", "m", SourceSpan(file, 1, 4), notes=("n", "o"), help="h", count=1234)
    assert paths.finding_location("b.fab", d) == ("a.fab", 1, 2, 2, 2)
    assert paths.finding_location("b.fab", Diagnostic("E0001", "m", None)) == ("b.fab", 1, 1, 1, 1)
    assert (
        paths.finding_text_in_full(d) == "m\nthe first of 1,234\nn\no\nhelp: h"
        and paths.finding_text_in_full(Diagnostic("E0001", "m", None)) == "m"
    )
