"""The bill of materials, drawings and comparison of the placed DGX SuperPOD H100, against NVIDIA's reference architecture."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import openpyxl
import pytest
from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile

TARGETS = ["bom", "racks", "cabling"]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    found = compiler.compile_without_checks("dgx_superpod_h100_racks")
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.complete
    return build_files(fabric, TARGETS, Diagnostics())


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
        ("cord", "power cord", ""): 127 * 6 + 48 * 2 + 2,
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
    book = openpyxl.load_workbook(io.BytesIO(files["bom/bom.xlsx"]))
    assert book.sheetnames == ["summary", "bill", "totals", "racks"]
    summary = {row[0]: row for row in book["summary"].iter_rows(min_row=2, values_only=True)}
    assert summary["optic"][2] == 2048
    bill = rows(files["bom/bom.csv"])
    assert summary["all"][4] == sum(int(x["quantity"]) for x in bill)  # every piece is without a price, and it says so
    assert summary["all"][9] == len(bill)  # and without a lead time


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
    found = compiler.compile_and_verify(
        "dgx_superpod_h100_racks", Request(prices=SourceFile("prices.toml", text), select=("cost",))
    )
    fabric = found.designs[0].fabric
    assert fabric is not None
    bill = rows(build_files(fabric, ["bom"], Diagnostics())["bom/bom.csv"])
    price = {x["model"]: x["price"] for x in bill}
    assert (price["DGX_H100"], price["QM9700"], price["MMA4Z00-NS"], price["UFM"]) == ("34290000", "1728024", "1382400", "")


BUYING = """
model switch SW { port p[1..4]: 400Gbps; height 1U; power 100W; price $1000; spares 1; lead 26week; alternative SW_B, "x y" }
model host H { port nic: 400Gbps; height 2U; price $10 }
model cable C { rate 400Gbps; medium dac; price $3; lengths 2m, 10m; spares 10% }
fabric f {
  switch leaf[2]: SW
  host h[8]: H
  connect h[i].nic to leaf[i//4] { cable C }
  hall a { row A { rack 1..2 { height 48U } }; pitch rack 2m; tray above 2.5m; slack 0m }
  hall b { row A { rack 1..1 { height 48U } }; pitch rack 2m; tray above 2.5m; slack 0m }
  distance a to b 1m
  place leaf[0] in a.A[1] at 40U
  place h[0..2] in a.A[1] stacked from 1U
  place h[3] in a.A[2] at 1U
  place leaf[1] in b.A[1] at 40U
}
"""


def bought(tmp_path: Path, prices: str = "") -> dict[str, bytes]:
    path = tmp_path / "f.fab"
    path.write_text(BUYING)
    found = compiler.compile_without_checks(str(path), Request(prices=SourceFile("prices.toml", prices) if prices else None))
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.complete, [d.message for d in found.findings]
    return build_files(fabric, ["bom"], Diagnostics())


def test_spares_lead_times_and_alternatives_of_models(tmp_path: Path) -> None:
    lines = {(x["kind"], x["length_m"]): x for x in rows(bought(tmp_path)["bom/bom.csv"])}
    switch = lines["switch", ""]
    assert [switch[k] for k in ("quantity", "spares", "price", "spares_price", "lead_days", "alternative")] == [
        "2", "1", "2000", "1000", "182", "SW_B x y",
    ]  # fmt: skip
    cables = {x["length_m"]: (x["quantity"], x["spares"]) for x in lines.values() if x["kind"] == "cable"}
    assert cables == {"2": ("3", "1"), "10": ("1", "1"), "": ("4", "1")}  # 10%, rounded up for each length
    assert lines["host", ""]["spares"] == "" == lines["host", ""]["lead_days"]  # nothing is said, and nothing is made up


def test_the_users_file_goes_before_the_model(tmp_path: Path) -> None:
    text = '[spares]\nSW = "50%"\nhost = 2\ncable = 0\n[lead]\nhost = "90 days"\n[alternative]\nSW = "SW-Z"\n'
    lines = rows(bought(tmp_path, text)["bom/bom.csv"])
    said = {x["kind"]: (x["spares"], x["lead_days"], x["alternative"]) for x in lines if x["kind"] != "label"}
    assert said["switch"] == ("1", "182", "SW-Z")
    assert said["host"] == ("2", "90", "")
    assert {x["spares"] for x in lines if x["kind"] == "cable"} == {"0"}


def test_totals_say_what_they_leave_out(tmp_path: Path) -> None:
    """Rack A01 of hall a: a switch of 100 W and $1000, three hosts of $10 and unknown power, three cables of $3 in it. The cable
    to rack A02 is the hall's; hosts 4 to 7 and their cables are elsewhere."""
    found = {(x["by"], x["hall"], x["name"]): x for x in rows(bought(tmp_path)["bom/totals.csv"])}

    def of(*key: str) -> tuple[str, ...]:
        row = found[key]
        return tuple(row[k] for k in ("devices", "cables", "watts", "without_watts", "price", "without_price"))

    assert of("rack", "a", "A01") == ("4", "3", "100", "3", "1039", "0")
    assert of("between racks", "a", "a") == ("0", "1", "0", "0", "3", "0")
    assert of("hall", "a", "a") == ("5", "4", "100", "4", "1052", "0")
    assert of("hall", "b", "b") == ("1", "0", "100", "0", "1000", "0")
    assert of("elsewhere", "", "between halls or without a place") == ("4", "4", "0", "4", "52", "0")
    assert of("all", "", "f") == ("10", "8", "200", "8", "2104", "0")


def test_totals_are_those_of_the_metrics(files: dict[str, bytes]) -> None:
    """The sums by rack are those of racks.csv, and halls and racks add up."""
    total = rows(files["bom/totals.csv"])
    watts = {(x["hall"], x["name"]): x["watts"] for x in total if x["by"] == "rack" and x["without_watts"] == "0"}
    assert watts == {(x["hall"], x["rack"]): x["watts"] for x in rows(files["bom/racks.csv"]) if not x["watts"].startswith(">")}
    for column in ("devices", "optics", "cables", "without_price"):
        parts = sum(int(x[column]) for x in total if x["by"] in ("rack", "between racks", "elsewhere"))
        assert parts == int(total[0][column])


@pytest.mark.parametrize("line", ["spares 2.5", "spares 2m", "lead 3m", "lead 1h", "lead 90min", "spares many"])
def test_purchases_that_models_cannot_state(tmp_path: Path, line: str) -> None:
    path = tmp_path / "f.fab"
    path.write_text(f"model host H {{ port nic: 400Gbps; {line} }}\nfabric f {{ host h: H }}\n")
    found = compiler.compile_without_checks(str(path))
    errors = [(d.code, d.span.text if d.span else "") for d in found.findings if d.severity.word == "error"]
    assert [code for code, _ in errors] in (["E0103"], ["E0105"])
    assert all(text in line for _, text in errors)


@pytest.mark.parametrize(
    "text",
    [
        "x = ",
        '[spares]\nQM9700 = "some"\n',
        "[spares]\nQM9700 = 1.5\n",
        '[lead]\nQM9700 = "soon"\n',
        "[lead]\nQM9700 = 26\n",
        "[alternative]\nQM9700 = 3\n",
        "currency = 3\n",
        "[price]\nA = 1\n",
        'currency = "USD"\n[price]\nA = -1\n',
        'currency = "USD"\n[price]\nA = true\n',
    ],
)
def test_prices_that_are_none(text: str) -> None:
    found = compiler.compile_without_checks("ft2", Request(prices=SourceFile("prices.toml", text)))
    assert [d.code for d in found.findings if d.severity.word == "error"] == ["E0208"]


def test_without_places_there_is_no_bill() -> None:
    fabric = compiler.compile_without_checks("dgx_superpod_h100").designs[0].fabric
    assert fabric is not None
    said = Diagnostics()
    assert [p for p in build_files(fabric, TARGETS, said) if not p.startswith("cabling/")] == ["manifest.json"]
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


def test_a_sheet_of_work_is_narrow_and_says_what_to_bring(files: dict[str, bytes]) -> None:
    """Twelve columns in type of 12 points; the pick list counts the cables of the bill."""
    book = openpyxl.load_workbook(io.BytesIO(files["cabling/cables.xlsx"]))
    assert book.sheetnames == ["summary", "pick list", "su0", "su1", "su2", "su3", "row M", "power", "cables"]
    heading = ["pull", "bundle", "cable", "from", "rack", "port", "to", "to rack", "to port", "part", "m", "done"]
    assert [c.value for c in book["su0"][1]] == heading
    width = sum(book["su0"].column_dimensions[chr(65 + k)].width for k in range(len(heading)))
    assert width <= 145  # characters of 11 points on 277 mm of A4
    assert book["su0"].cell(2, 5).value == "A05 U30"
    assert sum(r[-1] for r in book["pick list"].iter_rows(min_row=2, values_only=True)) == 2044


def test_what_to_mount(files: dict[str, bytes]) -> None:
    """Every device once, each rack from the bottom; a sheet for each row."""
    rows = list(csv.DictReader(io.StringIO(files["racks/mounting.csv"].decode())))
    assert len(rows) == 127 + 1 + 48 == len({r["device"] for r in rows})
    assert rows[0] == {
        "hall": "h1", "row": "A", "rack": "A01", "u": "2", "units": "8", "device": "su0-node0", "model": "DGX_H100",
        "watts": "10200", "kg": "130.45",
    }  # fmt: skip
    assert [r["u"] for r in rows if r["rack"] == "M01"] == [str(u) for u in range(20, 36)]
    book = openpyxl.load_workbook(io.BytesIO(files["racks/mounting.xlsx"]))
    assert book.sheetnames == ["row A", "row B", "row C", "row D", "row M"]
    assert [c.value for c in book["row A"][2]] == ["A01", 2, 8, "su0-node0", "DGX_H100", 10200, 130.45, "☐"]
    assert sum(book[n].max_row - 1 for n in book.sheetnames) == len(rows)


SPLIT = """
model host NODE { port nic[2]: 200Gbps { type GE200; cage 1 OSFP }; chip gpu[2]: L40S }
model cable SPLITTER { rate 800Gbps; legs 4; medium dac; lengths 2m, 3m }
fabric f {
  host node[8]: NODE
  switch leaf[2]: SW51T { split p[1..2] 4 }
  switch spine: SW51T
  connect node[n].nic[r] to leaf[r].p[1..2] { cable SPLITTER }
  connect leaf[*] to spine each x 2
  hall h1 { row A { rack 1..11 { height 48U } } }
  place node[n] in h1.A[n + 1] at 1U
  place leaf[n] in h1.A[9 + n] at 1U
  place spine in h1.A[11] at 1U
}
"""


def test_break_outs_and_split_models_are_counted_once(tmp_path: Path) -> None:
    """A splitter is one cable with five labels, and a model whose ports are split on some switches is one line."""
    path = tmp_path / "split.fab"
    path.write_text(SPLIT)
    found = compiler.compile_without_checks(str(path))
    fabric = found.designs[0].fabric
    assert fabric is not None and not [d for d in found.findings if d.severity.word == "error"], found.findings
    made = build_files(fabric, TARGETS, Diagnostics())
    bill = {(x["kind"], x["model"], x["place"]): int(x["quantity"]) for x in rows(made["bom/bom.csv"])}
    assert bill["cable", "SPLITTER", "host-leaf"] == 4 and bill["cable", "?", "leaf-spine"] == 4
    assert bill["switch", "SW51T", ""] == 3 and bill["optic", "?", "SW51T"] == 8
    labels = rows(made["cabling/labels.csv"])
    assert bill["label", "cable label", ""] == len(labels) == 4 * 5 + 4 * 2
    assert len({x["cable_id"] for x in rows(made["cabling/cables.csv"])}) == 8
