"""The bill of materials, drawings and comparison of the placed DGX SuperPOD H100, against NVIDIA's reference architecture."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from tdsl import compiler
from tdsl.cli import cli
from tdsl.compiler import Options
from tdsl.diagnostic import Diagnostics
from tdsl.emit.build import build
from tdsl.source import SourceFile

TARGETS = ["bom", "racks", "cabling"]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    found = compiler.elaborate("dgx_superpod_h100_racks")
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.complete
    return build(fabric, TARGETS, Diagnostics())


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode())))


def test_the_reference_bill(files: dict[str, bytes]) -> None:
    """RA-11333 V11: 38 racks, four DGX in each of 32 (table 7); 1,536 and 508 transceivers (table 8); 1,016 + 4 + 1,024 cables
    (table 4). The list of table 8 has two splitters for UFM's four links."""
    bill = rows(files["bom/bom.csv"])
    count = Counter[tuple[str, str, str]]()
    for line in bill:
        count[line["kind"], line["model"], line["place"] if line["kind"] in ("rack", "optic") else ""] += int(line["quantity"])
    assert count == {
        ("rack", "rack 48U", "compute rack"): 32,
        ("rack", "rack 48U", "management rack"): 6,
        ("host", "DGX_H100", ""): 127,
        ("host", "UFM", ""): 1,
        ("switch", "QM9700", ""): 48,
        ("optic", "MMA4Z00-NS", "QM9700"): 1536,
        ("optic", "MMA4Z00-NS-FLT", "DGX_H100"): 508,
        ("optic", "?", "UFM"): 4,
        ("cable", "MFP7E10", ""): 2044,
        ("label", "cable label", ""): 4088,
    }
    watts = sum(int(x["quantity"]) * int(x["unit_watts"]) for x in bill if x["kind"] == "optic" and x["unit_watts"])
    assert watts == 2044 * 17 == 34748
    assert {x["price"] for x in bill} == {""}  # no price is published
    lengths = {x["order_number"]: x["length_m"] for x in bill if x["kind"] == "cable"}
    assert lengths == {f"MFP7E10-N{int(m):03}": m for m in lengths.values()}


def test_racks_take_their_transceivers(files: dict[str, bytes]) -> None:
    """Four DGX H100 are 40.8 kW; with four transceivers of 17 W each 41.072 kW."""
    racks = rows(files["bom/racks.csv"])
    assert len(racks) == 38
    assert {(x["watts"], x["kg"]) for x in racks if x["contents"] == "4 DGX_H100"} == {("41072", "521.8")}


def test_the_plan_agrees_with_the_bill(files: dict[str, bytes]) -> None:
    plan = rows(files["cabling/cables.csv"])
    assert len(plan) == 2044
    by_length = Counter(x["length_m"] for x in plan)
    bill = Counter[str]()
    for line in rows(files["bom/bom.csv"]):
        if line["kind"] == "cable":
            bill[line["length_m"]] += int(line["quantity"])
    assert by_length == bill
    assert all(x["a_rack"] and x["b_rack"] and x["a_u"] and x["b_optic"] for x in plan)


def test_the_workbook_opens(files: dict[str, bytes]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(io.BytesIO(files["bom/bom.xlsx"]))
    assert book.sheetnames == ["summary", "bill", "racks"]
    summary = {row[0]: row for row in book["summary"].iter_rows(min_row=2, values_only=True)}
    assert summary["optic"][2] == 2048
    assert summary["optic"][3] == 34748
    assert summary["all"][5] == len(rows(files["bom/bom.csv"]))  # every line is without a price, and it says so


def test_drawings_show_every_rack_once(files: dict[str, bytes]) -> None:
    plan = ET.fromstring(files["racks/plan.svg"])
    hints = [t.text for t in plan.iter("{http://www.w3.org/2000/svg}title")]
    assert len(hints) == len(set(hints)) == 38
    fronts = ET.fromstring(files["racks/elevations.svg"])
    texts = [t.text for t in fronts.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(int(n[1]) for t in texts if (n := re.fullmatch(r"[a-z]: (\d+) racks?", t or ""))) == 38
    for picture in (plan, fronts):
        width, height = (float(picture.get(k, "0")) for k in ("width", "height"))
        for box in picture.iter("{http://www.w3.org/2000/svg}rect"):
            if box.get("width") != "100%":
                x, y, w, h = (float(box.get(k, "0")) for k in ("x", "y", "width", "height"))
                assert x >= 0 and x + w <= width and y >= 0 and y + h <= height


def test_prices_are_those_of_the_table(tmp_path: Path) -> None:
    text = 'currency = "USD"\ndate = "2026-11-01"\n[price]\nDGX_H100 = 270000\nQM9700 = 36000.5\nMMA4Z00-NS = 900\n'
    found = compiler.check("dgx_superpod_h100_racks", Options(prices=SourceFile("prices.toml", text), select=("cost",)))
    fabric = found.designs[0].fabric
    assert fabric is not None
    bill = rows(build(fabric, ["bom"], Diagnostics())["bom/bom.csv"])
    price = {x["model"]: x["price"] for x in bill}
    assert (price["DGX_H100"], price["QM9700"], price["MMA4Z00-NS"], price["UFM"]) == ("34290000", "1728024", "1382400", "")


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        "currency = 3\n",
        "[price]\nA = 1\n",
        'currency = "USD"\n[price]\nA = -1\n',
        'currency = "USD"\n[price]\nA = true\n',
    ],
)
def test_prices_that_are_none(text: str) -> None:
    found = compiler.elaborate("ft2", Options(prices=SourceFile("prices.toml", text)))
    assert [d.code for d in found.findings if d.severity.word == "error"] == ["E0208"]


def test_without_places_there_is_no_bill() -> None:
    fabric = compiler.elaborate("dgx_superpod_h100").designs[0].fabric
    assert fabric is not None
    said = Diagnostics()
    assert [p for p in build(fabric, TARGETS, said) if not p.startswith("cabling/")] == ["manifest.json"]
    assert any("places" in d.message for d in said)


def test_compare_by_parameter() -> None:
    result = CliRunner().invoke(cli, ["compare", "dgx_superpod_h100_racks", "--vary", "units=1,2", "--format", "csv"])
    assert result.exit_code == 0
    table = {line[0]: line[1:] for line in csv.reader(io.StringIO(result.stdout))}
    assert table["figure"] == ["units=1", "units=2"]
    assert table["accelerators"] == ["248", "504"]
    assert table["cables"] == ["508", "1020"]
    assert table["diameter"] == ["2", "2"]
    assert float(table["network_power_kw"][0]) == 12 * 1.72  # 8 leaves and 4 spines of 1,720 W
    assert "cost" not in table


def test_compare_designs_as_markdown() -> None:
    result = CliRunner().invoke(cli, ["compare", "ft2", "rail_only", "--format", "markdown"])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("| figure | ")
    assert CliRunner().invoke(cli, ["compare", "ft2", "ft3", "--vary", "a=1"]).exit_code == 2


def test_elevations_name_devices_and_their_power(files: dict[str, bytes]) -> None:
    fronts = ET.fromstring(files["racks/elevations.svg"])
    texts = [t.text or "" for t in fronts.iter("{http://www.w3.org/2000/svg}text")]
    assert {f"spine{k}  QM9700" for k in range(16)} | {f"su#-leaf{k}  QM9700" for k in range(8)} <= set(texts)
    assert texts.count("10.2 kW") == 4 + 3 and texts.count("1.72 kW") == 8 + 16
    assert "41.07 kW of 44 kW with one of 2 feeds lost" in texts


def test_the_plan_says_how_many_cables_lie_in_each_stretch(files: dict[str, bytes]) -> None:
    """From the leaves in rack 5 of a row 256 cables leave by the row's first rack; each rack between adds the 32 of its hosts."""
    plan = ET.fromstring(files["racks/plan.svg"])
    texts = [t.text or "" for t in plan.iter("{http://www.w3.org/2000/svg}text")]
    assert {"288", "320", "352", "384", "128", "96", "64", "32", "1,024"} <= set(texts)
    assert any(t.startswith("31 racks: 4 DGX_H100; 41.07 kW") for t in texts)
