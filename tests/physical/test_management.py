"""Management cables and power cords: in the list of cables and in the bill, where the design has them."""

from __future__ import annotations

import csv
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.compile import compiler

DESIGN = """fabric f {
  hall h { row A { rack 1..3 { height 48U; power 2 x 44kW } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
  host node[2]: SERVER
  switch access: SN2201
  connect node[n].bmc to access
  place node[n] in h.A[1] at 2U + 8U*n
  place access in h.A[3] at 40U
}
model host SERVER { port bmc: 1Gbps { type BASE_T }; height 8U; CORDS }
"""


def built(tmp_path: Path, cords: str) -> Path:
    (tmp_path / "f.fab").write_text(DESIGN.replace("CORDS", cords))
    call = ["build", str(tmp_path / "f.fab"), "--target", "bom", "--target", "cabling", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(cli, call)
    assert result.exit_code == 0, result.output
    return tmp_path / "out"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_twisted_pair_gets_a_patch_cord(tmp_path: Path) -> None:
    """From unit 2 of 8 in rack 1 (middle 5 * 44.45 = 222.25 mm) to unit 40 of rack 3 (39.5 * 44.45 = 1,755.775 mm): up
    2,377.75 mm and 844.225 mm to the tray at 2.6 m, 1.2 m along it, 0.5 m of slack at each end: 5.422 m, so 7 m is ordered."""
    out = built(tmp_path, "cords 6")
    first = rows(out / "cabling" / "cables.csv")[0]
    assert (first["part"], first["medium"], first["length_m"], first["a_optic"]) == ("CAT6A", "copper", "7", "")
    (line,) = [r for r in rows(out / "bom" / "bom.csv") if r["kind"] == "cable" and r["length_m"] == "7"]
    assert line["model"] == "CAT6A" and line["note"].startswith("confirm")
    assert not [r for r in rows(out / "bom" / "bom.csv") if r["kind"] == "optic"]


def test_power_cords_take_the_feeds_in_turn(tmp_path: Path) -> None:
    out = built(tmp_path, "cords 3, C19")
    found = [(r["cord_id"], r["rack"], r["u"], r["feed"], r["plug"]) for r in rows(out / "cabling" / "power.csv")]
    assert found == [(f"node{n}:psu{k + 1}", "A01", str(2 + 8 * n), "ABA"[k], "C19") for n in range(2) for k in range(3)]
    (line,) = [r for r in rows(out / "bom" / "bom.csv") if r["kind"] == "cord"]
    assert (line["model"], line["place"], line["quantity"]) == ("power cord C19", "SERVER", "6")
    book = openpyxl.load_workbook(BytesIO((out / "cabling" / "cables.xlsx").read_bytes()))
    assert [c.value for c in book["power"][2]] == ["A01", 2, "node0", 1, "A", "C19", "☐"]


def test_without_the_form_the_bill_asks_for_it(tmp_path: Path) -> None:
    (line,) = [r for r in rows(built(tmp_path, "cords 2") / "bom" / "bom.csv") if r["kind"] == "cord"]
    assert line["model"] == "power cord" and line["note"].startswith("state the plug")


def test_without_cords_there_is_no_list_of_them(tmp_path: Path) -> None:
    out = built(tmp_path, "vendor Some")
    assert not (out / "cabling" / "power.csv").exists()


@pytest.mark.parametrize("cords", ["cords 0", "cords 65", "cords C19", "cords 2, C19, C13", "cords 2.5"])
def test_what_is_refused(cords: str, tmp_path: Path) -> None:
    path = tmp_path / "f.fab"
    path.write_text(DESIGN.replace("CORDS", cords))
    errors = [d for d in compiler.compile_and_verify(str(path)).findings if d.severity.word == "error"]
    assert [(e.code, e.span.begin[0]) for e in errors if e.span] == [("E0120", 9)]
    assert "cords 2, C13" in errors[0].help


def test_a_patch_cord_does_not_go_into_a_cage(tmp_path: Path) -> None:
    text = DESIGN.replace("node[n].bmc to access", "node[n].bmc to access { cable MCP4Y10 }").replace("CORDS", "vendor Some")
    (tmp_path / "f.fab").write_text(text)
    errors = [d for d in compiler.compile_and_verify(str(tmp_path / "f.fab")).findings if d.severity.word == "error"]
    assert {e.code for e in errors} == {"E0225", "E0226"} and "the cage is RJ45" in " ".join(e.message for e in errors)
