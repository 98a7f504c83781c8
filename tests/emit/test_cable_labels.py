"""Labels of cables: positions as TIA-606 writes them, and QR codes that a scanner reads."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tdsl.emit.qr import qr_matrix, qr_svg_path
from tests.conftest import need_program
from tests.tables import sections
from tests.targets.build import csv_rows, made

TEXT = sections(__file__)["text"]


def test_both_ends_in_the_form_of_tia_606_and_the_sheet_has_every_label_once(tmp_path: Path) -> None:
    files, _ = made(TEXT, tmp_path, "cabling")
    rows = csv_rows(files, "cabling/labels.csv")
    assert [(r["near"], r["far"], r["length_m"], r["qr"]) for r in rows[:2]] == [
        ("h1.A01-35:IB1/1/1", "h1.A02-40:IB1/1/1", "5", "leaf0:p1"),
        ("h1.A02-40:IB1/1/1", "h1.A01-35:IB1/1/1", "5", "leaf0:p1"),
    ]
    unplaced = [(r["near"], r["far"], r["length_m"]) for r in rows if r["cable_id"] == "leaf0:p9"]
    assert unplaced == [("h1.A01-35:IB1/5/1", "far:IB1/5/1", ""), ("far:IB1/5/1", "h1.A01-35:IB1/5/1", "")]
    text = files["cabling/labels.html"].decode()
    assert text.count('<div class="label">') == 8 and text.count('<div class="page">') == 1
    assert re.findall(r'<div class="near">([^<]*)</div>', text) == [r["near"] for r in rows]
    assert text.count(qr_svg_path(qr_matrix("leaf0:p1", 0))) == 2


def test_a_scanner_reads_the_codes(tmp_path: Path) -> None:
    """Texts of 1 to 213 bytes, with every mask; and identifiers of cables."""
    program = need_program("zbarimg", "zbar-tools")
    most = (14, 26, 42, 62, 84, 106, 122, 152, 180, 213)
    texts = ["su0-leaf3:p33", "x", *("".join(chr(97 + i * 7 % 26) for i in range(n)) for n in most)]
    for mask, text in enumerate([*texts, texts[0]]):
        mask = None if mask == len(texts) else mask % 8
        m = np.kron(np.pad(qr_matrix(text, mask), 4), np.ones((4, 4), dtype=np.int8))
        picture = tmp_path / "code.pgm"
        picture.write_bytes(f"P5 {len(m)} {len(m)} 255\n".encode() + np.where(m == 1, 0, 255).astype(np.uint8).tobytes())
        run = subprocess.run([program, "--quiet", "--raw", str(picture)], capture_output=True, text=True, check=False)
        assert run.stdout.rstrip("\n") == text


def test_the_path_draws_the_dark_modules() -> None:
    with pytest.raises(ValueError, match="too large"):
        qr_matrix("x" * 3000)
    m = qr_matrix("leaf0:p1")
    drawn = np.zeros_like(m)
    for c, r, n in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", qr_svg_path(m)):
        drawn[int(r), int(c) : int(c) + int(n)] = 1
    assert (drawn == m).all()
