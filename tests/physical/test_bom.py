"""Bills, racks and plans of placed designs, management cables and cords, and what each phase adds."""

from __future__ import annotations

import csv
import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import openpyxl
import pytest

from tdsl.compile import compiler
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.cli.run import tdsl
from tests.harness import compile_text, fabric_of, sections

TARGETS = ["bom", "racks", "cabling"]
Rows = list[dict[str, str]]


def rows(data: bytes) -> Rows:
    return list(csv.DictReader(io.StringIO(data.decode())))


def columns(row: dict[str, str], names: str) -> list[str]:
    return [row[name] for name in names.split()]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    fabric = compiler.compile_without_checks("dgx_superpod_h100_racks").designs[0].fabric
    assert fabric is not None and fabric.complete
    return build_files(fabric, TARGETS, Diagnostics())


def built(text: str, folder: Path, prices: str = "") -> dict[str, bytes]:
    given = {"prices": SourceFile("prices.toml", prices)} if prices else {}
    return build_files(fabric_of(text, folder, models=False, **given), TARGETS, Diagnostics())


def test_the_reference_bill(files: dict[str, bytes]) -> None:
    """RA-11333 V11: 38 racks, four DGX in each of 32 (table 7); 1,536 and 508 transceivers (table 8); 1,016 + 4 + 1,024 cables
    (table 4). The list of table 8 has two splitters for UFM's four links. Four DGX H100 are 40.8 kW; with four transceivers of
    17 W each 41.072 kW."""
    bill = rows(files["bom/bom.csv"])
    count = Counter[tuple[str, str, str]]()
    for line in bill:
        count[line["kind"], line["model"], line["place"] if line["kind"] in ("rack", "optic") else ""] += int(line["quantity"])
    assert count == {
        ("rack", "rack 48U", "compute rack"): 32, ("rack", "rack 48U", "management rack"): 6,
        ("host", "DGX_H100", ""): 127, ("host", "UFM", ""): 1, ("switch", "QM9700", ""): 48,
        ("optic", "MMA4Z00-NS", "QM9700"): 1536, ("optic", "MMA4Z00-NS-FLT", "DGX_H100"): 508,
        ("optic", "MMA4Z00-NS400", "UFM"): 4,
        ("cable", "MFP7E10", ""): 2044, ("cord", "power cord", ""): 127 * 6 + 48 * 2 + 2, ("label", "cable label", ""): 4088,
    }  # fmt: skip
    watts = sum(int(x["quantity"]) * int(x["unit_watts"]) for x in bill if x["kind"] == "optic" and x["unit_watts"])
    assert watts == 2044 * 17 + 4 * 9 == 34784
    assert {x["price"] for x in bill} == {""}  # no price is published
    lengths = {x["order_number"]: x["length_m"] for x in bill if x["kind"] == "cable"}
    assert lengths == {f"MFP7E10-N{int(m):03}": m for m in lengths.values()}
    racks = rows(files["bom/racks.csv"])
    assert len(racks) == 38
    assert {(x["watts"], x["kg"]) for x in racks if x["contents"] == "4 DGX_H100"} == {("41072", "521.8")}


def test_drawings_show_every_rack_once(files: dict[str, bytes]) -> None:
    plan, fronts = (ET.fromstring(files[f"racks/{name}.svg"]) for name in ("plan", "elevations"))
    hints = [t.text for t in plan.iter("{http://www.w3.org/2000/svg}title")]
    assert len(hints) == len(set(hints)) == 38
    texts = [t.text for t in fronts.iter("{http://www.w3.org/2000/svg}text")]
    assert sum(int(n[1]) for t in texts if (n := re.fullmatch(r"[a-z]: (\d+) racks?", t or ""))) == 38
    for picture in (plan, fronts):
        width, height = (float(picture.get(k, "0")) for k in ("width", "height"))
        for box in picture.iter("{http://www.w3.org/2000/svg}rect"):
            if box.get("width") != "100%":
                x, y, w, h = (float(box.get(k, "0")) for k in ("x", "y", "width", "height"))
                assert x >= 0 and x + w <= width and y >= 0 and y + h <= height


def test_what_to_mount(files: dict[str, bytes]) -> None:
    """Every device once, each rack from the bottom; a sheet for each row."""
    mounted = rows(files["racks/mounting.csv"])
    assert len(mounted) == 127 + 1 + 48 == len({r["device"] for r in mounted})
    assert list(mounted[0].values()) == ["h1", "A", "A01", "2", "8", "su0-node0", "DGX_H100", "10200", "130.45"]
    assert [r["u"] for r in mounted if r["rack"] == "M01"] == [str(u) for u in range(20, 36)]
    book = openpyxl.load_workbook(io.BytesIO(files["racks/mounting.xlsx"]))
    assert book.sheetnames == ["row A", "row B", "row C", "row D", "row M"]
    assert [c.value for c in book["row A"][2]] == ["A01", 2, 8, "su0-node0", "DGX_H100", 10200, 130.45, "☐"]
    assert sum(book[n].max_row - 1 for n in book.sheetnames) == len(mounted)


TEXTS = sections(Path(__file__).parent / "bom.txt")
BUYING = f"\n{TEXTS['BUYING']}\n"


def test_spares_lead_times_and_alternatives_of_models(tmp_path: Path) -> None:
    lines = {(x["kind"], x["length_m"]): x for x in rows(built(BUYING, tmp_path)["bom/bom.csv"])}
    found = columns(lines["switch", ""], "quantity spares price spares_price lead_days alternative")
    assert found == ["2", "1", "2000", "1000", "182", "SW_B x y"]
    cables = {x["length_m"]: (x["quantity"], x["spares"]) for x in lines.values() if x["kind"] == "cable"}
    assert cables == {"2": ("3", "1"), "10": ("1", "1"), "": ("4", "1")}  # 10%, rounded up for each length
    assert lines["host", ""]["spares"] == "" == lines["host", ""]["lead_days"]  # nothing is said, and nothing is made up


def test_the_users_file_goes_before_the_model(tmp_path: Path) -> None:
    text = '[spares]\nSW = "50%"\nhost = 2\ncable = 0\n[lead]\nhost = "90 days"\n[alternative]\nSW = "SW-Z"\n'
    text = f'currency = "USD"\ndate = "2026-11-01"\n[price]\nSW = 36000.5\n{text}'
    lines = {x["kind"]: x for x in rows(built(BUYING, tmp_path, text)["bom/bom.csv"])}
    assert columns(lines["switch"], "spares lead_days alternative price") == ["1", "182", "SW-Z", "72001"]
    assert columns(lines["host"], "spares lead_days alternative") == ["2", "90", ""] and lines["cable"]["spares"] == "0"


def test_totals_say_what_they_leave_out(tmp_path: Path) -> None:
    """Rack A01 of hall a: a switch of 100 W and $1000, three hosts of $10 and unknown power, three cables of $3 in it. The cable
    to rack A02 is the hall's; hosts 4 to 7 and their cables are elsewhere."""
    found = {(x["by"], x["hall"], x["name"]): x for x in rows(built(BUYING, tmp_path)["bom/totals.csv"])}
    for key, expected in {
        ("rack", "a", "A01"): "4 3 100 3 1039 0",
        ("between racks", "a", "a"): "0 1 0 0 3 0",
        ("hall", "a", "a"): "5 4 100 4 1052 0",
        ("hall", "b", "b"): "1 0 100 0 1000 0",
        ("elsewhere", "", "between halls or without a place"): "4 4 0 4 52 0",
        ("all", "", "f"): "10 8 200 8 2104 0",
    }.items():
        assert columns(found[key], "devices cables watts without_watts price without_price") == expected.split(), key


@pytest.mark.parametrize(
    "text",
    [
        "x = ", '[spares]\nQM9700 = "some"\n', "[spares]\nQM9700 = 1.5\n", '[lead]\nQM9700 = "soon"\n', "[lead]\nQM9700 = 26\n",
        "[alternative]\nQM9700 = 3\n", "currency = 3\n", "[price]\nA = 1\n", 'currency = "USD"\n[price]\nA = -1\n',
        'currency = "USD"\n[price]\nA = true\n', "[spares]\nswich = 2\n", 'date = "soon"\n[spares]\nswitch = 2\n',
    ],
)  # fmt: skip
def test_prices_that_are_none(text: str, tmp_path: Path) -> None:
    found = compile_text("fabric f { switch a: SW }", tmp_path, verify=False, prices=SourceFile("prices.toml", text)).findings
    assert [d.code for d in found if d.severity.word == "error"] == ["E0208"]


def test_without_places_there_is_no_bill(tmp_path: Path) -> None:
    said = Diagnostics()
    made = build_files(fabric_of("fabric f { switch a[2]: SW; connect a[*] each }", tmp_path), TARGETS, said)
    assert [p for p in made if not p.startswith("cabling/")] == ["manifest.json"]
    assert any("places" in d.message for d in said)


SPLIT = f"\n{TEXTS['SPLIT']}\n"


def test_break_outs_and_split_models_are_counted_once(tmp_path: Path) -> None:
    """A splitter is one cable with five labels, and a model whose ports are split on some switches is one line."""
    made = built(SPLIT, tmp_path)
    bill = {(x["kind"], x["model"], x["place"]): int(x["quantity"]) for x in rows(made["bom/bom.csv"])}
    assert bill["cable", "SPLITTER", "host-leaf"] == 4 and bill["cable", "?", "leaf-spine"] == 4
    assert bill["switch", "SW51T", ""] == 3 and bill["optic", "?", "SW51T"] == 8
    labels = rows(made["cabling/labels.csv"])
    assert bill["label", "cable label", ""] == len(labels) == 4 * 5 + 4 * 2
    assert len({x["cable_id"] for x in rows(made["cabling/cables.csv"])}) == 8


DESIGN = f"{TEXTS['DESIGN']}\n"


def test_twisted_pair_gets_a_patch_cord(tmp_path: Path) -> None:
    """From unit 2 of 8 in rack 1 (middle 5 * 44.45 = 222.25 mm) to unit 40 of rack 3 (39.5 * 44.45 = 1,755.775 mm): up
    2,377.75 mm and 844.225 mm to the tray at 2.6 m, 1.2 m along it, 0.5 m of slack at each end: 5.422 m, so 7 m is ordered. A
    plug for cages does not go into it."""
    made = built(DESIGN.replace("CORDS", "cords 2"), tmp_path)
    assert columns(rows(made["cabling/cables.csv"])[0], "part medium length_m a_optic") == ["CAT6A", "copper", "7", ""]
    bill = rows(made["bom/bom.csv"])
    (line,) = [r for r in bill if r["kind"] == "cable" and r["length_m"] == "7"]
    assert line["model"] == "CAT6A" and line["note"].startswith("confirm") and not [r for r in bill if r["kind"] == "optic"]
    text = DESIGN.replace("node[n].bmc to access", "node[n].bmc to access { cable MCP4Y10 }").replace("CORDS", "vendor Some")
    errors = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
    assert {e.code for e in errors} == {"E0225", "E0226"} and "the cage is RJ45" in " ".join(e.message for e in errors)


def test_power_cords_take_the_feeds_in_turn(tmp_path: Path) -> None:
    """Without the form of the plug the bill asks for it, and without cords there is no list of them."""
    made = built(DESIGN.replace("CORDS", "cords 3, C19"), tmp_path)
    found = [tuple(columns(r, "cord_id rack u feed plug")) for r in rows(made["cabling/power.csv"])]
    assert found == [(f"node{n}:psu{k + 1}", "A01", str(2 + 8 * n), "ABA"[k], "C19") for n in range(2) for k in range(3)]
    (line,) = [r for r in rows(made["bom/bom.csv"]) if r["kind"] == "cord"]
    assert columns(line, "model place quantity") == ["power cord C19", "SERVER", "6"]
    book = openpyxl.load_workbook(io.BytesIO(made["cabling/cables.xlsx"]))
    assert [c.value for c in book["power"][2]] == ["A01", 2, "node0", 1, "A", "C19", "☐"]
    (line,) = [r for r in rows(built(DESIGN.replace("CORDS", "cords 2"), tmp_path)["bom/bom.csv"]) if r["kind"] == "cord"]
    assert line["model"] == "power cord" and line["note"].startswith("state the plug")
    assert "cabling/power.csv" not in built(DESIGN.replace("CORDS", "vendor Some"), tmp_path)


PHASES = f"{TEXTS['PHASES']}\n"


def test_what_each_phase_adds(tmp_path: Path) -> None:
    """A unit has 4 hosts and 8 leaves; 4 * 8 cables to hosts and 8 * 4 to spines. The spines are of the first phase. What phases
    add sums up to the bill; one phase has no file of phases."""
    (tmp_path / "f.fab").write_text(PHASES)
    (tmp_path / "p.toml").write_text('currency = "USD"\ndate = "2026-11-01"\n[price]\nQM9700 = 1000\n')
    out = tmp_path / "out"
    call = ["build", tmp_path / "f.fab", "--target", "bom", "--target", "cabling", "--prices", tmp_path / "p.toml", "--out"]
    assert tdsl(*call, out).exit_code == 0

    def of(name: str) -> Rows:
        return rows((out / name).read_bytes())

    totals = {(r["by"], r["name"]): r for r in of("bom/totals.csv")}
    assert {k: columns(r, "devices cables price needed") for k, r in totals.items() if "phase" in k[0]} == {
        ("phase", "phase 1"): ["14", "64", "10000", "2027-01-15"],
        ("added by phase", "phase 1"): ["14", "64", "10000", "2027-01-15"],
        ("phase", "phase 2"): ["38", "192", "26000", "2027-03-01"],
        ("added by phase", "phase 2"): ["24", "128", "16000", "2027-03-01"],
    }
    assert totals["all", "f"]["watts"] == totals["phase", "phase 2"]["watts"]
    added: Counter[tuple[str, ...]] = Counter()
    for r in of("bom/phases.csv"):
        added[tuple(columns(r, "kind model place length_m note"))] += int(r["added"])
    assert +added == {tuple(columns(r, "kind model place length_m note")): int(r["quantity"]) for r in of("bom/bom.csv")}
    (second,) = [r for r in of("bom/phases.csv") if columns(r, "phase model kind") == ["2", "QM9700", "switch"]]
    assert columns(second, "quantity added price needed") == ["26", "16", "16000", "2027-03-01"]
    cables = of("cabling/cables.csv")
    assert {(r["a_device"].startswith("su0"), r["phase"]) for r in cables} == {(True, "1"), (False, "2")}
    assert sum(r["phase"] == "1" for r in cables) == 64
    book = openpyxl.load_workbook(io.BytesIO((out / "bom" / "bom.xlsx").read_bytes()))
    assert book.sheetnames == ["summary", "bill", "phases", "totals", "racks"]
    assert tdsl("build", tmp_path / "f.fab", "--phase", "1", "--target", "bom", "--out", tmp_path / "one").exit_code == 0
    assert not (tmp_path / "one" / "bom" / "phases.csv").exists()


LENGTHS = f"\n{TEXTS['LENGTHS']}\n"
ASK = "confirm: this length is not in a published list"


@pytest.mark.parametrize(
    ("slack", "length", "code", "note"),
    [
        ("1m", "3", "C-3", ""), ("1.266m", "5", "", f"{ASK}; the next that is: 30 m"), ("9m", "30", "C-30", ""),
        ("10.5m", "30", "C-30", ""), ("15m", "50", "C-50", ""), ("25m", "60", "", ASK),
    ],
)  # fmt: skip
def test_the_length_to_order(slack: str, length: str, code: str, note: str, tmp_path: Path) -> None:
    """The next published length, unless one that is to confirm saves more than a third of it: 5 m, not 30 m, for 3.421 m; but
    30 m, not 20 m, for 18.889 m. The devices are 20 units or 889 mm apart, and each end has the slack."""
    (line,) = [r for r in rows(built(LENGTHS.replace("SLACK", slack), tmp_path)["bom/bom.csv"]) if r["kind"] == "cable"]
    assert columns(line, "length_m order_number note") == [length, code, note]


ARTICLES = f"\n{TEXTS['ARTICLES']}\n"


@pytest.mark.parametrize(
    ("trays", "asics", "lines"),
    [
        (12, 6, {"CABINET": ("rack", 3, 240)}),  # 4 x 10 + 2 x 100 each
        (12, 9, {"CABINET": ("rack", 3, 240), "BOX": ("switch", 2, 200)}),  # three are in no cabinet
        (13, 2, {"CABINET": ("rack", 4, 240)}),  # the last holds one of four
    ],
)
def test_what_is_sold_inside_a_rack_or_a_tray(
    trays: int, asics: int, lines: dict[str, tuple[str, int, int]], tmp_path: Path
) -> None:
    """A rack that is bought with its contents is no rack to buy beside it, and what it holds is not ordered again; the switch
    has a rack of its own. The sum of the totals is that of the bill, with the price of an article by the user, too."""
    text = ARTICLES.replace("TRAYS", str(trays)).replace("ASICS", str(asics))
    bill = {r["model"]: r for r in rows(built(text, tmp_path)["bom/bom.csv"]) if r["kind"] not in ("optic", "cable", "label")}
    assert {m: (r["kind"], int(r["quantity"]), int(r["unit_price"] or 0)) for m, r in bill.items()} == {
        **lines, "rack 48U": ("rack", 1, 0), "SW": ("switch", 1, 1000),
    }  # fmt: skip
    assert bill["CABINET"]["description"].startswith("A cabinet; holds 4 TRAY, 2 ASIC")
    assert ("13 of 16 TRAY are used" in bill["CABINET"]["description"]) == (trays == 13)
    for prices in ("", 'currency = "USD"\n[price]\nCABINET = 700\nBOX = 150\n'):
        made = built(text, tmp_path, prices)
        spent = sum(float(r["price"] or 0) for r in rows(made["bom/bom.csv"]))
        whole = next(r for r in rows(made["bom/totals.csv"]) if r["by"] == "all")
        assert float(whole["price"]) == pytest.approx(spent) and spent > 0


def test_what_a_bill_lacks_is_named(tmp_path: Path) -> None:
    """Of a SuperPOD with all networks no part is `?`, and a device without power or without power cords says so."""
    done = tdsl("build", "superpod_cluster_racks", "--target", "bom", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    bill = rows((tmp_path / "out" / "all-networks" / "bom" / "bom.csv").read_bytes())
    devices = {r["model"]: r for r in bill if r["kind"] in ("host", "switch")}
    corded = {r["place"] for r in bill if r["kind"] == "cord"}
    assert {"DGX_H100", "UFM", "QM9700"} <= corded and not [r for r in bill if "?" in r["model"]]
    assert {m for m, r in devices.items() if "power cords" in r["note"]} == devices.keys() - corded
    assert (
        {m for m, r in devices.items() if "power is not published" in r["note"] or "state its power;" in r["note"]}
        == {m for m, r in devices.items() if not r["unit_watts"]}
        == {"BCM_SERVER", "FILER", "NFS", "PX3_5747V", "PX3_5878I2R"}
    )


def test_the_bill_of_a_gb200_scalable_unit(tmp_path: Path) -> None:
    """Eight NVL72 racks of 18 compute trays and 9 switch trays, of two chips each (DGX GB Rack Scale Systems User Guide,
    hardware; SuperPOD RA, DGX GB200, network fabrics): no tray and no chip is a line of its own, every part is known. 576
    adapters have a transceiver each, and with 640 links between leaves and spines 1,856 ports of QM9700 take 928."""
    done = tdsl("build", "gb200_su_racks", "--target", "bom", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    bill = rows((tmp_path / "out" / "bom" / "bom.csv").read_bytes())
    count = Counter[tuple[str, str, str]]()
    for r in bill:
        count[r["kind"], r["model"], r["place"] if r["kind"] == "optic" else ""] += int(r["quantity"])
    assert count == {
        ("rack", "DGX_GB200_NVL72", ""): 8, ("rack", "rack 48U", ""): 2, ("switch", "QM9700", ""): 36,
        ("optic", "MMA4Z00-NS400", "GB200_TRAY"): 576, ("optic", "MMA4Z00-NS", "QM9700"): 928,
        ("cable", "MFP7E10", ""): 576 + 640, ("cord", "power cord", ""): 72, ("label", "cable label", ""): 2432,
    }  # fmt: skip
    (rack,) = [r for r in bill if r["model"] == "DGX_GB200_NVL72"]
    assert rack["description"].endswith("8 power shelves of 33 kW; holds 18 GB200_TRAY, 18 NVLINK5_SWITCH")
    assert not rack["unit_watts"] and "more than 120006 W: that of NVLINK5_SWITCH" in rack["note"]  # 18 trays of 6,667 W
    assert not [r for r in bill if r["note"] and r["kind"] in ("cable", "optic", "host")]
