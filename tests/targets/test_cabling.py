"""The cabling documents, read back by the programs that people open them with."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric, LinkStatement
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.model import Axis, DeviceModel
from tests.fabrics import Builder
from tests.targets.build import FACES, HERE, dgx_h100, pod, ports, switch

COLUMNS = [
    "cable_id", "leg", "a_device", "a_hall", "a_rack", "a_u", "a_port", "a_cage", "b_device", "b_hall", "b_rack",
    "b_u", "b_port", "b_cage", "rate_gbps", "links", "medium", "part", "a_optic", "b_optic", "length_m", "fibre",
    "polarity", "colour", "via", "bundle", "pull_order", "label_a", "label_b", "class", "fabric", "plane", "rail",
    "phase", "status", "action",
]  # fmt: skip


def made(fabric: Fabric) -> dict[str, bytes]:
    """The cabling documents."""
    found = Diagnostics()
    files = build_files(fabric, ["cabling"], found)
    assert not found.items
    return files


def table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    """A CSV file as dicts."""
    return list(csv.DictReader(io.StringIO(files[f"cabling/{name}.csv"].decode(), newline="")))


def cables(fabric: Fabric) -> list[dict[str, str]]:
    """cables.csv."""
    return table(made(fabric), "cables")


def test_the_columns_are_those_that_others_build_on() -> None:
    text = made(pod())["cabling/cables.csv"].decode()
    assert text.splitlines()[0].split(",") == COLUMNS and text.endswith("\n") and not text.endswith("\n\n")


def test_every_link_has_its_cable_and_ports_are_those_of_the_fabric() -> None:
    fabric = pod(units=4, nodes=32, rails=8, spines=16)
    rows = cables(fabric)
    assert len(rows) == 2044 and len({r["cable_id"] for r in rows}) == 2044
    ends = {(r["a_device"], r["a_port"], r["b_device"], r["b_port"]) for r in rows}
    assert ends == {
        (
            fabric.device_name(fabric.device_a[i]),
            fabric.port_label(a),
            fabric.device_name(fabric.device_b[i]),
            fabric.port_label(b),
        )
        for i, (a, b) in enumerate(zip(fabric.link_a, fabric.link_b, strict=True))
    }
    used = [(r["a_device"], r["a_port"]) for r in rows] + [(r["b_device"], r["b_port"]) for r in rows]
    assert len(set(used)) == len(used)


def test_twin_ports_of_a_cage_follow_each_other() -> None:
    rows = [r for r in cables(pod(nodes=2, rails=8, spines=2)) if r["a_device"] == "su0-node0"]
    assert [r["a_port"] for r in rows] == sorted(FACES)
    rows = [r for r in cables(pod(nodes=8, spines=2)) if r["a_device"] == "su0-leaf0"]
    assert [r["a_port"] for r in rows] == [f"IB1/{n}/{t}" for n in (5, 6, 7, 8) for t in (1, 2)]


def test_pulling_goes_group_by_group_and_switch_by_switch() -> None:
    rows = sorted(cables(pod()), key=lambda r: int(r["pull_order"]))
    assert [int(r["pull_order"]) for r in rows] == list(range(1, 32))
    bundles = [r["bundle"] for r in rows]
    assert bundles[:8] == ["su0-node/su0-leaf0"] * 4 + ["su0-node/su0-leaf1"] * 4
    assert sum(a != b for a, b in pairwise(r["b_device"] for r in rows)) < 14
    groups = [r["a_device"].split("-")[0] for r in rows]
    assert sum(a != b for a, b in pairwise(groups)) == 2


def test_settings_of_a_connect_reach_its_cables() -> None:
    fabric = pod()
    first = LinkStatement(HERE, {"colour": "blue", "cable": "MCP4Y10", "medium": "cable"})
    fabric.statements = (first, *fabric.statements[1:])
    rows = cables(fabric)
    assert {(r["colour"], r["part"], r["medium"]) for r in rows if r["class"] == "host-leaf" and r["a_device"] != "ufm"} == {
        ("blue", "MCP4Y10", "cable")
    }
    assert {r["colour"] for r in rows if r["class"] == "leaf-spine"} == {""}


def two_in_one() -> Fabric:
    """An 800G adapter split in two lanes of one connector; a break-out: its lanes go to two switches by two legs."""
    b = Builder("lanes")
    nic = ports("nic", 4, connectors=(0, 0, 1, 1), labels=("1a", "1b", "2a", "2b"))
    host = DeviceModel("HOST", "host", "", (nic,), (), (), (), {}, HERE)
    leaf = DeviceModel("LEAF", "switch", "", (ports("p", 4, connectors=(0, 0, 1, 1)),), (), (), (), {}, HERE)
    b.models += [host, leaf]
    node, sw = b.devices("node", host, 1, role="accelerator"), b.devices("sw", leaf, 2)
    b.connect("connect")
    b.link(b.port(node, 0, "nic", 0), b.port(sw, 0, "p", 0))
    b.link(b.port(node, 0, "nic", 1), b.port(sw, 0, "p", 1))
    b.link(b.port(node, 0, "nic", 2), b.port(sw, 0, "p", 2))
    b.link(b.port(node, 0, "nic", 3), b.port(sw, 1, "p", 0))
    f = b.build()
    f.plane = np.array([-1, 0, 1])
    keep = np.array([0, 2, 3])
    f.cable_a, f.cable_b, f.cable_class = (
        f.link_a[keep] - np.array([0, 0, 1]),
        f.link_b[keep],
        f.link_class[keep],
    )
    f.cable_group, f.cable_leg, f.cable_links = np.array([0, 1, 1]), np.array([0, 1, 2]), np.array([2, 1, 1])
    f.cable_statement = f.link_statement[keep]
    return f


def test_links_of_one_connector_share_a_cable_and_legs_an_identifier() -> None:
    files = made(two_in_one())
    rows = table(files, "cables")
    assert [(r["cable_id"], r["leg"], r["rate_gbps"], r["links"], r["b_device"]) for r in rows] == [
        ("node0:nic0", "", "800", "2", "sw0"), ("node0:nic2", "1", "400", "1", "sw0"), ("node0:nic2", "2", "400", "1", "sw1"),
    ]  # fmt: skip
    assert rows[1]["pull_order"] == rows[2]["pull_order"] and [r["plane"] for r in rows] == ["0", "0", "1"]
    links = table(files, "links")
    assert [x["cable_id"] for x in links] == ["node0:nic0", "node0:nic0", "node0:nic2", "node0:nic2"]


def test_a_label_for_each_end() -> None:
    rows = table(made(pod()), "labels")
    assert len(rows) == 62
    a, b = (r for r in rows if r["cable_id"] == "su0-node3:nic0")
    assert (a["end"], a["line2"], a["line3"]) == ("a", "FROM su0-node3 4P2", "TO su0-leaf0 IB1/2/2")
    assert (b["end"], b["line2"], b["line3"]) == ("b", "FROM su0-leaf0 IB1/2/2", "TO su0-node3 4P2")


def test_a_break_out_has_one_label_at_its_trunk_and_one_a_leg() -> None:
    """The adapter's second connector leads to a port of each switch."""
    rows = [r for r in table(made(two_in_one()), "labels") if r["cable_id"] == "node0:nic2"]
    assert [(r["leg"], r["end"], r["device"]) for r in rows] == [
        ("", "a", "node0"),
        ("1", "b", "sw0"),
        ("2", "b", "sw1"),
    ]
    assert rows[0]["far"] == ", ".join(r["near"] for r in rows[1:]) and {r["far"] for r in rows[1:]} == {rows[0]["near"]}
    assert rows[0]["line3"] == "TO sw0 p2, sw1 p0"


def test_hostile_names_stay_text() -> None:
    fabric = pod(units=1, nodes=1, rails=1, spines=1, manager=False, omit_last=False)
    fabric.names = {0: '=HYPERLINK("http://x","y")', 1: 'a,"b"\nc'}
    files = made(fabric)
    row = table(files, "cables")[0]
    assert row["a_device"] == "'" + fabric.names[0] and row["b_device"] == fabric.names[1]
    book = openpyxl.load_workbook(io.BytesIO(files["cabling/cables.xlsx"]))
    cell = book["cables"]["C2"]
    assert cell.value == fabric.names[0] and cell.data_type == "s"


def book_of(fabric: Fabric) -> Any:
    """The workbook as a spreadsheet program has it."""
    return openpyxl.load_workbook(io.BytesIO(made(fabric)["cabling/cables.xlsx"]))


def test_the_workbook_has_a_sheet_a_group() -> None:
    book = book_of(pod())
    assert book.sheetnames == ["summary", "su0", "su1", "fabric", "cables"]
    assert [c.value for c in book["cables"][1]] == COLUMNS
    assert book["cables"].max_row == 32
    sizes = {name: book[name].max_row - 1 for name in ("su0", "su1", "fabric")}
    assert sizes == {"su0": 16, "su1": 14, "fabric": 1}
    for sheet in book.worksheets:
        assert sheet.freeze_panes and sheet.auto_filter.ref and sheet.print_title_rows == "$1:$1"


def test_the_workbook_says_the_same_as_the_csv() -> None:
    files = made(pod())
    rows = list(openpyxl.load_workbook(io.BytesIO(files["cabling/cables.xlsx"]))["cables"].iter_rows(min_row=2, values_only=True))
    assert [["" if v is None else str(v) for v in r] for r in rows] == [list(r.values()) for r in table(files, "cables")]


def test_too_many_rows_make_a_workbook_a_pod() -> None:
    """Their sheets of work have all cables, each once: those of the manager beside the groups are in the workbook of its leaf.
    A pod that is too large by itself is left out with a note."""
    found = Diagnostics()
    files = build_files(pod(), ["cabling"], found, BuildOptions(settings={"cabling": {"workbook_rows": 30}}))
    books = sorted(p for p in files if p.endswith(".xlsx"))
    assert books == ["cabling/cables-su0.xlsx", "cabling/cables-su1.xlsx"] and not found.items
    ids = []
    for path in books:
        book = openpyxl.load_workbook(io.BytesIO(files[path]))
        assert [s.title for s in book.worksheets] == [
            "summary",
            path[15:18],
        ]  # the manager has no place: with the pod
        count = dict(list(book["summary"].iter_rows(values_only=True, min_row=2, max_col=2)))
        assert count == {path[15:18]: book.worksheets[1].max_row - 1}
        for sheet in book.worksheets[1:]:
            rows = list(sheet.iter_rows(values_only=True))
            ids += [row[rows[0].index("cable")] for row in rows[1:]]
            assert rows[0][-1] == "done" and sheet.page_setup.paperSize == 9
    assert sorted(ids) == sorted(r["cable_id"] for r in table(files, "cables")) and len(ids) == 31
    found = Diagnostics()
    files = build_files(pod(), ["cabling"], found, BuildOptions(settings={"cabling": {"workbook_rows": 15}}))
    assert [(d.code, d.severity.word) for d in found] == [("E0511", "note")] and "16 rows of su0" in found.items[0].message


def test_a_fabric_without_cables_has_no_documents() -> None:
    b = Builder("bare")
    b.models.append(switch())
    b.devices("sw", b.models[0], 2)
    found = Diagnostics()
    assert list(build_files(b.build(), ["cabling"], found)) == ["manifest.json"] and [d.code for d in found] == ["E0516"]
    assert dgx_h100().accelerators == 8


def test_lanes_of_a_split_port_leave_by_one_hole() -> None:
    """A technician sees the port on the faceplate, not its lanes."""
    b = Builder("split")
    labels = tuple(f"IB{p}/{lane}" for p in (1, 2) for lane in (1, 2))
    c = ports("nic", 4, connectors=(0, 0, 1, 1), labels=labels, split=2)
    host = DeviceModel("HOST", "host", "", (replace(c, axes=(Axis(0, 2), Axis(0, 2))),), (), (), (), {}, HERE, "nic 2")
    b.models.append(host)
    node, far = b.devices("node", host, 1, role="accelerator"), b.devices("far", host, 1)
    b.connect("connect")
    for lane in range(2):
        b.link(b.port(node, 0, "nic", 2 + lane), b.port(far, 0, "nic", 2 + lane))
    f = b.build()
    f.cable_a, f.cable_b, f.cable_class, f.cable_links = (
        f.link_a[:1],
        f.link_b[:1],
        f.link_class[:1],
        np.array([2]),
    )
    f.cable_group, f.cable_leg, f.cable_statement = np.array([0]), np.array([0]), f.link_statement[:1]
    files = made(f)
    (row,) = table(files, "cables")
    assert (row["cable_id"], row["a_port"], row["b_port"], row["rate_gbps"], row["links"]) == (
        "node0:nic1",
        "IB2",
        "IB2",
        "800",
        "2",
    )
    assert [(x["cable_id"], x["a_port"]) for x in table(files, "links")] == [
        ("node0:nic1", "IB2/1"),
        ("node0:nic1", "IB2/2"),
    ]


CLUSTER = """
model host NODE { port nic[2]: 400Gbps { type NDR }; port bmc: 1Gbps { type GE1 } }
model switch IB { port p[1..8]: 400Gbps { type NDR } }
model switch ETH { port p[1..8]: 1Gbps { type GE1 } }
fabric compute {
  host node[2]: NODE
  switch leaf[2]: IB
  connect node[n].nic[i] to leaf[i]
}
fabric management {
  host node[2]: NODE
  switch tor: ETH
  connect node[n].bmc to tor
}
"""


def test_one_list_for_all_networks(tmp_path: Path) -> None:
    """From the command line: rows of every fabric, one order of pulling, and a folder that verifies."""
    (tmp_path / "cluster.fab").write_text(CLUSTER)
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["build", str(tmp_path / "cluster.fab"), "--out", str(out), "--target", "cabling"])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO((out / "all-networks" / "cables.csv").read_text())))
    single = [
        r
        for name in ("compute", "management")
        for r in csv.DictReader(io.StringIO((out / name / "cabling" / "cables.csv").read_text()))
    ]
    assert [{k: v for k, v in r.items() if k != "pull_order"} for r in rows] == [
        {k: v for k, v in r.items() if k != "pull_order"} for r in single
    ]
    assert [r["fabric"] for r in rows] == ["compute"] * 4 + ["management"] * 2
    assert sorted(int(r["pull_order"]) for r in rows) == list(range(1, 7))
    labels = list(csv.DictReader(io.StringIO((out / "all-networks" / "labels.csv").read_text())))
    assert len(labels) == 12 and {r["fabric"] for r in labels} == {"compute", "management"}
    assert (
        CliRunner()
        .invoke(cli, ["build", str(tmp_path / "cluster.fab"), "--out", str(out), "--target", "cabling", "--check"])
        .exit_code
        == 0
    )
