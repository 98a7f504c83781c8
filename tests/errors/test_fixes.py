"""The fixes that findings carry, applied one at a time to the faulty designs: the finding is gone, and no stage fails. The advice
about cables and rates, followed as it is written: the design then compiles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Diagnostic
from tests.errors.test_fixtures import FIXTURES, HERE, checked
from tests.harness import compile_text, none, sampled, share
from tests.tables import sections


def applied(d: Diagnostic, text: str) -> str:
    assert d.fix is not None
    for span, new in sorted(d.fix.edits, key=lambda e: -e[0].start):
        text = text[: span.start] + new + text[span.end :]
    return text


def same(d: Diagnostic) -> tuple[object, ...]:
    """What a finding is about: its code and the source line that it marks."""
    assert d.span is not None
    return d.code, d.message, d.span.begin[0]


def faults(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for d in checked(path.name).findings:
        if d.allowed or d.fix is None or d.span is None:
            continue
        assert all(span.file is d.span.file for span, _ in d.fix.edits), "a fix of another file needs a test of its own"
        new = applied(d, text)
        again = compiler.compile_and_verify(path.name, Request(overlay={path.name: new, str(path.resolve()): new}))
        if new == text or same(d) in [same(x) for x in again.findings if x.span is not None]:
            yield f"{path.name}: {d.code} is still there after `{d.fix.title}`"


@pytest.mark.parametrize("part", sampled(range(2), 2))
def test_a_fix_removes_its_finding(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    assert len(FIXTURES) >= 120
    none(fault for path in share(FIXTURES, part, 2) for fault in faults(path))


# ---------------------------------------------------------------- advice in words

TANGLED, BREAKOUT, RATES, LONE = sections(__file__).values()


def refused(text: str, code: str, folder: Path) -> list[str]:
    """What the help of the one finding has in backquotes."""
    (finding,) = [d for d in compile_text(text, folder, models=False).findings if d.severity.word == "error"]
    assert finding.code == code, finding
    return re.findall(r"`([^`]*)`", finding.help)


def stands(text: str, folder: Path) -> None:
    result = compile_text(text, folder, models=False)
    assert not [d for d in result.findings if d.severity.word == "error"], [(d.code, d.message) for d in result.findings]
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.link_count


def test_many_connectors_to_many(tmp_path: Path) -> None:
    via, panel, model = refused(TANGLED, "E0201", tmp_path)
    mended = TANGLED.replace("i % 2]\n", f"i % 2] {via}\n").replace("  connect", f"  {panel}\n  connect")
    stands(f"{model}\n{mended}", tmp_path)


def test_a_break_out(tmp_path: Path) -> None:
    cable, model = refused(BREAKOUT, "E0202", tmp_path)
    assert "legs 2" in model and "rate 800Gbps" in model
    stands(f"{model}\n" + BREAKOUT.replace("+ lane]\n", f"+ lane] {cable}\n"), tmp_path)


def test_two_rates(tmp_path: Path) -> None:
    (rate,) = refused(RATES.replace("SPLIT", ""), "E0220", tmp_path)
    stands(RATES.replace("SPLIT", "").replace("i < 5\n", f"i < 5 {rate}\n"), tmp_path)


def test_two_rates_where_the_port_splits(tmp_path: Path) -> None:
    text = RATES.replace("SPLIT", " { split 2; sockets 2 }")
    rate, split = refused(text, "E0220", tmp_path)
    stands(text.replace("i < 5\n", f"i < 5 {rate}\n"), tmp_path)
    stands(
        text.replace("a: FAST", f"a: FAST {split}").replace(
            "a.p[i] to b.p[i] where i < 5", "a.p[i, l] to b.p[2*(i - 1) + l + 1]"
        ),
        tmp_path,
    )


def test_loops_are_written_for_variables_that_occur_in_sums_alone(tmp_path: Path) -> None:
    line = next(line.strip() for line in LONE.splitlines() if "connect" in line)
    loops = refused(LONE, "E0101", tmp_path)[-1]
    made = compile_text(LONE.replace(line, loops), tmp_path, models=False).designs[0].fabric
    assert loops.count("for ") == 2 and made is not None and made.link_count == 12 * 3
