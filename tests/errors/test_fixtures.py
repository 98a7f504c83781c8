"""Faulty designs: every finding stands on the line that is marked, and nowhere else; its text is golden.

A mark is ``#! CODE`` at the end of the faulty line.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Severity
from tdsl.report.paint import Paint
from tdsl.report.terminal import finding_blocks
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.harness import none

OPEN = {
    "E0116": "a limit", "E0402": "which plane is meant", "E0423": "what gives way", "E0459": "what gives way",
    "E0221": "which model is meant", "E0452": "what gives way",
}  # fmt: skip
"""Findings whose answer only the author knows, and what it is."""
HERE = Path(__file__).parent / "design"
FIXTURES = sorted(HERE.glob("*.fab"))
MARK = re.compile(r"#! (E\d{4})")


def marks(text: str) -> list[tuple[int, str]]:
    """Line and code of every mark."""
    return sorted((n, code) for n, line in enumerate(text.split("\n"), 1) for code in MARK.findall(line))


def found(result: compiler.Compilation) -> list[tuple[int, str]]:
    """Line and code of every finding."""
    return sorted((d.span.begin[0] if d.span else 0, d.code) for d in result.findings if not d.allowed)


@cache
def checked(name: str) -> compiler.Compilation:
    """A faulty design, which is in the current folder, compiled once for the tests of this folder."""
    return compiler.compile_and_verify(name)


def faults(path: Path, golden: Golden) -> Iterator[str]:
    """What is wrong with the findings of one faulty design."""
    result = checked(path.name)
    if found(result) != marks(path.read_text()):
        yield f"{path.name}: {found(result)}, marked {marks(path.read_text())}"
    for d in result.findings:
        if not (d.fix or "`" in d.help or "did you mean" in d.help or d.code in OPEN or d.severity is Severity.NOTE or d.allowed):
            yield f"{path.name}: {d.code} has nothing that can be pasted: an edit, or text in backquotes in its help"
        exact = d.span is not None and d.span.text.strip() == d.span.text and d.span.text
        if not (exact and catalogue.finding_title(d.code) and (d.help or d.notes or d.labels)):
            yield f"{path.name}: {d.code} has no exact span, no title, or no help"
    try:
        golden(
            f"errors/{path.stem}.txt", "\n\n".join(b for d in result.judged for b in finding_blocks(d, Paint(False), 120)) + "\n"
        )
    except AssertionError as differs:
        yield str(differs)


def test_every_finding_is_marked_and_every_mark_found(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    assert len(FIXTURES) > 100
    none(fault for path in FIXTURES for fault in faults(path, golden))


def places(result: compiler.Compilation, name: str, shift: int) -> list[tuple[object, ...]]:
    """Code, message, line less ``shift``, and columns of every span of the findings about a design."""
    spans = [(d.code, d.message, s) for d in result.findings for s in (d.span, *(x.span for x in d.labels)) if s]
    return [(c, m, s.begin[0] - (shift if s.file.name.endswith(name) else 0), s.begin[1], s.finish[1]) for c, m, s in spans]


def test_three_lines_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving a design down three lines moves every span by three, and nothing else: every third design, each of another kind of
    finding than the one before."""
    monkeypatch.chdir(HERE)
    offenders = []
    for path in FIXTURES[::3]:
        text = "# one\n\n# three\n" + path.read_text(encoding="utf-8")
        moved = compiler.compile_and_verify(path.name, Request(overlay={path.name: text, str(path.resolve()): text}))
        if places(checked(path.name), path.name, 0) != places(moved, path.name, 3):
            offenders.append(path.name)
    none(offenders)


def test_twenty_faults_are_twenty_findings() -> None:
    text = (HERE / "twenty.fab").read_text()
    expected = marks(text)
    assert len(expected) == 20 and len({line for line, _ in expected}) == 20 and len({code for _, code in expected}) >= 10
    assert found(compiler.compile_and_verify(str(HERE / "twenty.fab"))) == expected


def test_a_circle_of_files() -> None:
    """The use that closes the circle is the finding; the way round is told by its labels."""
    result = compiler.compile_and_verify(str(HERE / "circle" / "first.fab"))
    assert [d.code for d in result.findings] == ["E0113"]
    span = result.findings[0].span
    assert span is not None and span.file.name.endswith("circle/second.fab") and span.begin[0] == 1
    assert any(x.span.file.name.endswith("circle/first.fab") for x in result.findings[0].labels)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("binary", b"\x7fELF\x00\x01\x02\xff\xfe" * 40),
        ("latin1", "fabric f { # caf\u00e9\n}".encode("latin-1")),
        ("empty", b""),
        ("bom", b"\xef\xbb\xbf"),
        ("comments", b"# nothing\n\n# at all\n"),
        ("cut", b"fabric f {\n  switch leaf[4]: QM9700\n  connect leaf[*] ea"),
        ("cut_string", b'fabric f "half a tit'),
        ("deep", b"fabric f { let a = " + b"(" * 5000 + b"1" + b")" * 5000 + b" }"),
        ("deep_blocks", b"fabric f " + b"{ group g " * 3000 + b"}" * 3000),
        ("minus", b"fabric f { let a = " + b"-" * 20000 + b"1 }"),
        ("power", b"fabric f { let a = 9 ** 9 ** 9 ** 9 ** 9 }"),
        ("long", b"fabric f { let a = 1" + b" + 1" * 20000 + b"\n switch s: NOPE }"),
        ("laughs", b"fabric f {" + b"".join(b"\nlet l%d = l%d + l%d" % (i + 1, i, i) for i in range(40)) + b"\nlet l0 = [1] }"),
    ],
)
def test_files_that_are_no_designs(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.fab"
    path.write_bytes(data)
    for style in ("full", "concise", "json")[: 1 if len(data) > 1000 else 3]:
        result = tdsl("check", path, "--output-format", style)
        assert result.exit_code == 1 and isinstance(result.exception, SystemExit), result.output
        assert re.search(r"error\[E0\d{3}\]|E0\d{3}", result.stdout) and f"{name}.fab" in result.stdout


def test_ten_to_the_nine_devices_take_no_memory(tmp_path: Path) -> None:
    """Refused before memory is taken: under 200 MB resident."""
    script = (
        "import re\nfrom pathlib import Path\nfrom tdsl.compile import compiler\n"
        f"r = compiler.compile_and_verify({str(HERE / 'too_many_devices.fab')!r})\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1]\n"  # ru_maxrss counts the parent's, too
        "print([d.code for d in r.findings], peak)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True).stdout
    codes, resident = out.rsplit(" ", 1)
    assert codes == "['E0116']" and int(resident) < 200_000


@pytest.mark.parametrize(
    "text",
    [
        "fabric f { group g[40000] { group h[40000] { switch s: QM9700 } } }",
        "fabric f { switch s[4096, 4096, 4096]: QM9700 }",
        "fabric f { switch a[100_000]: QM9700\n connect a[i].p[1] to a[j].p[2] where i < j }",
        "fabric f { for i in 0..100_000_000 { let x = i } }",
        "fabric f { let x = [i for i in 0..10_000_000_000] }",
    ],
)
def test_other_ways_to_ask_for_too_much(text: str, tmp_path: Path) -> None:
    path = tmp_path / "big.fab"
    path.write_text(text)
    assert "E0116" in [d.code for d in compiler.compile_and_verify(str(path), Request()).findings]
