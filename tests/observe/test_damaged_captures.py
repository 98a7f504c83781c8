"""Every real capture, cut, mixed and damaged: read, or refused with the line, and never an exception."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tdsl.compile import compiler
from tdsl.findings.diagnostic import Severity
from tdsl.observe.audit import audit_captures
from tdsl.observe.importing import NoDesign, design_from_captures
from tdsl.observe.readers import capture_readers
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tests.observe.test_readers import DATA
from tests.safety.fuzz import BITS

LARGEST = 8_000
"""Bytes of a capture that are taken, so that a case is fast."""
TIMES = 8
CAPTURES = sorted(p for p in DATA.rglob("*") if p.is_file() and p.suffix != ".xz")
"""The real captures, if TDSL_TEST_DATA names a folder with them."""


def damaged(data: bytes, others: list[bytes], r: Random) -> bytes:
    """Cut off, with lines lost, doubled or of another capture, or with bytes put in."""
    way = r.randrange(5)
    if way == 0:
        return data[: r.randrange(len(data) + 1)]
    if way == 1:
        lines = data.split(b"\n")
        del lines[r.randrange(len(lines)) :][: r.randint(1, 5)]
        at = r.randrange(len(lines) + 1)
        return b"\n".join([*lines[:at], *lines[at + r.randint(1, 4) :]])
    if way == 2:
        other = r.choice(others)
        a, b = r.randrange(len(data) + 1), r.randrange(len(other) + 1)
        return data[:a] + other[b : b + 2000] + data[a:]
    for _ in range(r.randint(1, 5)):
        at = r.randrange(len(data) + 1)
        data = data[:at] + r.choice(BITS) + data[at + r.choice((0, 1, 8, 64)) :]
    return data


def tried(data: bytes, path: Path) -> None:
    """Read by every option, import, and look at what is found."""
    path.write_bytes(data)
    for option in ("", *sorted({r.OPTION for r in capture_readers().values()})):
        made = Observed()
        read_capture_files([(option, path)], made)
        for d in made.findings:
            assert d.span is not None and d.code in ("E0601", "E0602", "E0603"), d
        if option == "":
            try:
                text = design_from_captures(made, "any", 10**9)
            except NoDesign:
                continue
            (path.parent / "made.fab").write_text(text)
            (made_design,) = compiler.compile_without_checks(str(path.parent / "made.fab")).designs
            wrong = [d.message for d in made_design.findings if d.severity is Severity.ERROR]
            assert not wrong, "\n".join([*wrong, text])
            assert made_design.fabric is not None
            audit_captures(made_design.fabric, made)


@pytest.mark.parametrize("number", range(len(CAPTURES) or 1))
def test_a_real_capture_cut_mixed_and_damaged(number: int, tmp_path: Path) -> None:
    if not CAPTURES:
        pytest.skip("TDSL_TEST_DATA does not name a folder with asbuilt captures")
    whole = [p.read_bytes()[:LARGEST] for p in CAPTURES]
    random = Random(number)
    for _ in range(TIMES):
        tried(damaged(whole[number], whole, random), tmp_path / f"x{CAPTURES[number].suffix}")
