"""Sums, orders and cables of a fabric that grows in phases."""

from __future__ import annotations

import csv
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

from tdsl.cli import cli

DESIGN = """fabric f {
  param units = 3
  phase 1 { units 1; needed "2027-01-15" }
  phase 2 { units 3; needed "2027-03-01" }
  hall h { row A..C { rack 1..3 { height 48U } }; pitch rack 0.6m, row 3m; tray above 2.6m { across at 1 }; slack 0.5m }
  group su[units] {
    host node[4]: DGX_H100
    switch leaf[8]: QM9700
    connect node[n].nic[r] to leaf[r]
  }
  switch spine[2]: QM9700
  connect su[*].leaf[*] to spine[*] spread x 4
  place su[s].node[n] in h[s + 1, 1] at 2U + 8U*n
  place su[s].leaf[*] in h[s + 1, 2] stacked from 10U
  place spine[*] in h.A[3] stacked from 10U
}
"""


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("phases")
    (folder / "f.fab").write_text(DESIGN)
    (folder / "p.toml").write_text('currency = "USD"\ndate = "2026-11-01"\n[price]\nQM9700 = 1000\n')
    result = CliRunner().invoke(
        cli,
        ["build", str(folder / "f.fab"), "--target", "bom", "--target", "cabling", "--out", str(folder / "out"),
         "--prices", str(folder / "p.toml")],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder / "out"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_totals_by_phase(out: Path) -> None:
    """A unit has 4 hosts and 8 leaves; 4 * 8 cables to hosts and 8 * 4 to spines. The spines are of the first phase."""
    found = {(r["by"], r["name"]): r for r in rows(out / "bom" / "totals.csv")}
    of = {k: (int(r["devices"]), int(r["cables"]), int(r["price"]), r["needed"]) for k, r in found.items() if "phase" in k[0]}
    assert of == {
        ("phase", "phase 1"): (14, 64, 10_000, "2027-01-15"),
        ("added by phase", "phase 1"): (14, 64, 10_000, "2027-01-15"),
        ("phase", "phase 2"): (38, 192, 26_000, "2027-03-01"),
        ("added by phase", "phase 2"): (24, 128, 16_000, "2027-03-01"),
    }
    assert found["all", "f"]["watts"] == found["phase", "phase 2"]["watts"]


def test_what_each_phase_adds_sums_up_to_the_bill(out: Path) -> None:
    added: dict[tuple[str, ...], int] = {}
    for r in rows(out / "bom" / "phases.csv"):
        key = (r["kind"], r["model"], r["place"], r["length_m"], r["note"])
        added[key] = added.get(key, 0) + int(r["added"])
    bill = {
        (r["kind"], r["model"], r["place"], r["length_m"], r["note"]): int(r["quantity"]) for r in rows(out / "bom" / "bom.csv")
    }
    assert {k: n for k, n in added.items() if n} == bill
    (second,) = [
        r for r in rows(out / "bom" / "phases.csv") if r["phase"] == "2" and r["model"] == "QM9700" and r["kind"] == "switch"
    ]
    assert (second["quantity"], second["added"], second["price"], second["needed"]) == ("26", "16", "16000", "2027-03-01")


def test_cables_have_the_phase_in_which_they_are_pulled(out: Path) -> None:
    cables = rows(out / "cabling" / "cables.csv")
    assert {(r["a_device"].startswith("su0"), r["phase"]) for r in cables} == {(True, "1"), (False, "2")}
    assert sum(r["phase"] == "1" for r in cables) == 64


def test_the_workbook_has_a_sheet_of_phases(out: Path) -> None:
    book = openpyxl.load_workbook(BytesIO((out / "bom" / "bom.xlsx").read_bytes()))
    assert book.sheetnames == ["summary", "bill", "phases", "totals", "racks"]


def test_one_phase_has_no_file_of_phases(tmp_path: Path) -> None:
    (tmp_path / "f.fab").write_text(DESIGN)
    call = ["build", str(tmp_path / "f.fab"), "--phase", "1", "--target", "bom", "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(cli, call).exit_code == 0
    assert not (tmp_path / "out" / "bom" / "phases.csv").exists()
