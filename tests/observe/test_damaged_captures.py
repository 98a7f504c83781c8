"""Every real capture and every sample, cut, mixed and damaged: read, or refused with the line, and never an exception."""

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
from tests.observe.test_readers import DATA, FIXTURES, fixture
from tests.safety.fuzz import BITS

LARGEST = 8_000
"""Bytes of a capture that are taken, so that a case is fast."""
REAL = sorted(p for p in DATA.rglob("*") if p.is_file() and p.suffix != ".xz")
"""Captures of devices, if TDSL_TEST_DATA names a folder with them."""
WHOLE = [p.read_bytes()[:LARGEST] for p in REAL] + [fixture(name)[2].encode() for name in FIXTURES]


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
            assert d.span is not None and d.code in ("E0601", "E0602", "E0603", "E0604", "E0606", "E0699"), d
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


@pytest.mark.parametrize("times", [1, pytest.param(12, marks=pytest.mark.daily)])
@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_a_capture_cut_mixed_and_damaged(number: int, times: int, tmp_path: Path) -> None:
    random = Random(number * times)
    for _ in range(times):
        suffix = REAL[number].suffix if number < len(REAL) else ".txt"
        tried(damaged(WHOLE[number], WHOLE, random), tmp_path / f"x{suffix}")
