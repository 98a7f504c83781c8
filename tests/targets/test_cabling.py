"""The cabling documents, read back by the programs that people open them with."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl

from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import Axis, DeviceModel
from tests.cli.run import tdsl
from tests.fabrics import Builder
from tests.tables import sections
from tests.targets.build import FACES, HERE, csv_rows, files_of, pod, ports, switch, tiny
from tests.targets.build import made as made_of_text

COLUMNS = [
    "cable_id", "leg", "a_device", "a_hall", "a_rack", "a_u", "a_port", "a_cage", "b_device", "b_hall", "b_rack",
    "b_u", "b_port", "b_cage", "rate_gbps", "links", "medium", "part", "a_optic", "b_optic", "length_m", "fibre",
    "polarity", "colour", "via", "bundle", "pull_order", "label_a", "label_b", "class", "fabric", "plane", "rail",
    "phase", "status", "action",
]  # fmt: skip


def made(fabric: Fabric) -> dict[str, bytes]:
    """The cabling documents."""
    files, found = files_of(fabric, "cabling")
    assert not found
    return files


def table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    """A CSV file as dicts."""
    return csv_rows(files, f"cabling/{name}.csv")


def cables(fabric: Fabric) -> list[dict[str, str]]:
    """cables.csv."""
    return table(made(fabric), "cables")


def book_of(files: dict[str, bytes], name: str = "cables") -> Any:
    """A workbook as a spreadsheet program has it."""
    return openpyxl.load_workbook(io.BytesIO(files[f"cabling/{name}.xlsx"]))


def test_every_link_has_its_cable_and_ports_are_those_of_the_fabric() -> None:
    fabric = pod(nodes=8, rails=8, spines=2)
    files = made(fabric)
    rows = table(files, "cables")
    assert list(rows[0]) == COLUMNS and files["cabling/cables.csv"].endswith(b"\n")
    assert len(rows) == len({r["cable_id"] for r in rows}) == fabric.link_count
    a, b = (
        [(fabric.device_name(fabric.port_device[p]), fabric.port_label(p)) for p in e] for e in (fabric.link_a, fabric.link_b)
    )
    ends = {(r["a_device"], r["a_port"], r["b_device"], r["b_port"]) for r in rows}
    assert ends == {(*near, *far) for near, far in zip(a, b, strict=True)} and len(set(a + b)) == 2 * len(rows)
    assert [r["a_port"] for r in rows if r["a_device"] == "su0-node0"] == sorted(FACES), "twin ports of a cage follow each other"
    leaf = [r["a_port"] for r in rows if r["a_device"] == "su0-leaf0"]
    assert leaf == [f"IB1/{n}/{t}" for n in (5, 6, 7, 8) for t in (1, 2)]


def test_pulling_goes_group_by_group_and_switch_by_switch() -> None:
    rows = sorted(cables(pod()), key=lambda r: int(r["pull_order"]))
    assert [int(r["pull_order"]) for r in rows] == list(range(1, 32))
    assert [r["bundle"] for r in rows][:8] == ["su0-node/su0-leaf0"] * 4 + ["su0-node/su0-leaf1"] * 4
    assert sum(a != b for a, b in pairwise(r["b_device"] for r in rows)) < 14
    assert sum(a != b for a, b in pairwise(r["a_device"].split("-")[0] for r in rows)) == 2
    assert sum(a != b for a, b in pairwise(r["bundle"] for r in rows)) == len({r["bundle"] for r in rows}) - 1, (
        "a bundle at a time"
    )


def two_in_one() -> Fabric:
    """An 800G adapter split in two lanes of one connector; a break-out: its lanes go to two switches by two legs."""
    b = Builder("lanes")
    nic = ports("nic", 4, connectors=(0, 0, 1, 1), labels=("1a", "1b", "2a", "2b"))
    host = DeviceModel("HOST", "host", "", (nic,), (), (), (), {}, HERE)
    leaf = DeviceModel("LEAF", "switch", "", (ports("p", 4, connectors=(0, 0, 1, 1)),), (), (), (), {}, HERE)
    b.models += [host, leaf]
    node, sw = b.devices("node", host, 1, role="accelerator"), b.devices("sw", leaf, 2)
    b.connect("connect")
    for lane, (row, port) in enumerate(((0, 0), (0, 1), (0, 2), (1, 0))):
        b.link(b.port(node, 0, "nic", lane), b.port(sw, row, "p", port))
    f = b.build()
    f.plane = np.array([-1, 0, 1])
    keep = np.array([0, 2, 3])
    f.cable_a, f.cable_b, f.cable_class = f.link_a[keep] - np.array([0, 0, 1]), f.link_b[keep], f.link_class[keep]
    f.cable_group, f.cable_leg, f.cable_links = np.array([0, 1, 1]), np.array([0, 1, 2]), np.array([2, 1, 1])
    f.cable_statement = f.link_statement[keep]
    return f


def test_links_of_one_connector_share_a_cable_and_legs_an_identifier() -> None:
    """The adapter's second connector leads to a port of each switch: a break-out has one label at its trunk and one a leg."""
    files = made(two_in_one())
    rows = table(files, "cables")
    assert [(r["cable_id"], r["leg"], r["rate_gbps"], r["links"], r["b_device"]) for r in rows] == [
        ("node0:nic0", "", "800", "2", "sw0"), ("node0:nic2", "1", "400", "1", "sw0"), ("node0:nic2", "2", "400", "1", "sw1"),
    ]  # fmt: skip
    assert rows[1]["pull_order"] == rows[2]["pull_order"] and [r["plane"] for r in rows] == ["0", "0", "1"]
    assert [x["cable_id"] for x in table(files, "links")] == ["node0:nic0", "node0:nic0", "node0:nic2", "node0:nic2"]
    labels = [r for r in table(files, "labels") if r["cable_id"] == "node0:nic2"]
    assert [(r["leg"], r["end"], r["device"]) for r in labels] == [("", "a", "node0"), ("1", "b", "sw0"), ("2", "b", "sw1")]
    assert labels[0]["far"] == ", ".join(r["near"] for r in labels[1:]) and {r["far"] for r in labels[1:]} == {labels[0]["near"]}
    assert labels[0]["line3"] == "TO sw0 p2, sw1 p0"


def test_a_label_for_each_end() -> None:
    rows = table(made(pod()), "labels")
    assert len(rows) == 62
    a, b = (r for r in rows if r["cable_id"] == "su0-node3:nic0")
    assert (a["end"], a["line2"], a["line3"]) == ("a", "FROM su0-node3 4P2", "TO su0-leaf0 IB1/2/2")
    assert (b["end"], b["line2"], b["line3"]) == ("b", "FROM su0-leaf0 IB1/2/2", "TO su0-node3 4P2")


def test_hostile_names_stay_text() -> None:
    fabric = tiny()
    fabric.names = {0: '=HYPERLINK("http://x","y")', 1: 'a,"b"\nc'}
    files = made(fabric)
    row = table(files, "cables")[0]
    assert row["a_device"] == "'" + fabric.names[0] and row["b_device"] == fabric.names[1]
    cell = book_of(files)["cables"]["C2"]
    assert cell.value == fabric.names[0] and cell.data_type == "s"


def test_the_workbook_has_a_sheet_a_group() -> None:
    """And says the same as the CSV."""
    files = made(pod())
    book = book_of(files)
    assert book.sheetnames == ["summary", "su0", "su1", "fabric", "cables"]
    assert {name: book[name].max_row - 1 for name in ("su0", "su1", "fabric")} == {"su0": 16, "su1": 14, "fabric": 1}
    assert all(s.freeze_panes and s.auto_filter.ref and s.print_title_rows == "$1:$1" for s in book.worksheets)
    head, *rows = book["cables"].iter_rows(values_only=True)
    assert list(head) == COLUMNS
    assert [["" if v is None else str(v) for v in r] for r in rows] == [list(r.values()) for r in table(files, "cables")]


def test_too_many_rows_make_a_workbook_a_pod() -> None:
    """Their sheets of work have all cables, each once: those of the manager beside the groups are in the workbook of its leaf.
    A pod that is too large by itself is left out with a note."""
    files, found = files_of(pod(), "cabling", workbook_rows=30)
    assert [p for p in files if p.endswith(".xlsx")] == ["cabling/cables-su0.xlsx", "cabling/cables-su1.xlsx"] and not found
    ids = []
    for unit in ("su0", "su1"):
        book = book_of(files, f"cables-{unit}")
        assert book.sheetnames == ["summary", unit]  # the manager has no place: with the pod
        assert dict(list(book["summary"].iter_rows(values_only=True, min_row=2, max_col=2))) == {unit: book[unit].max_row - 1}
        head, *rows = book[unit].iter_rows(values_only=True)
        ids += [row[head.index("cable")] for row in rows]
        assert head[-1] == "done" and book[unit].page_setup.paperSize == 9
    assert sorted(ids) == sorted(r["cable_id"] for r in table(files, "cables")) and len(ids) == 31
    _, found = files_of(pod(), "cabling", workbook_rows=15)
    assert [(d.code, d.severity.word) for d in found] == [("E0511", "note")] and "16 rows of su0" in found[0].message


def test_cells_of_the_workbooks_of_pods_are_those_of_the_list() -> None:
    """Each column of a sheet of work, in each pod, is that of cables.csv for the same cable."""
    files, _ = files_of(pod(units=5), "cabling", workbook_rows=30)
    shown = {"pull": "pull_order", "bundle": "bundle", "leg": "leg", "from": "a_device", "port": "a_port", "to": "b_device"}
    shown |= {"to port": "b_port", "part": "part", "m": "length_m", "colour": "colour", "phase": "phase"}
    listed = {(r["cable_id"], r["leg"]): r for r in table(files, "cables")}
    seen = []
    for name in (n for n in files if n.endswith(".xlsx")):
        for sheet in book_of(files, Path(name).stem).worksheets[1:]:
            head, *rows = sheet.iter_rows(values_only=True)
            for row in rows:
                cells = {h: "" if v is None else str(v) for h, v in zip(head, row, strict=True)}
                mine = listed[cells["cable"], cells.get("leg", "")]
                seen.append(mine["cable_id"])
                assert {h: cells.get(h, "") for h in shown} == {h: mine[column] for h, column in shown.items()}
    assert sorted(seen) == sorted(r["cable_id"] for r in table(files, "cables")) and len(seen) > 50


def test_a_fabric_without_cables_has_no_documents() -> None:
    b = Builder("bare")
    b.models.append(switch())
    b.devices("sw", b.models[0], 2)
    files, found = files_of(b.build(), "cabling")
    assert set(files) == {"manifest.json", "fabric.json"} and [d.code for d in found] == ["E0516"]


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
    f.cable_a, f.cable_b, f.cable_class, f.cable_links = f.link_a[:1], f.link_b[:1], f.link_class[:1], np.array([2])
    f.cable_group, f.cable_leg, f.cable_statement = np.array([0]), np.array([0]), f.link_statement[:1]
    files = made(f)
    told = [[r[k] for k in ("cable_id", "a_port", "b_port", "rate_gbps", "links")] for r in table(files, "cables")]
    assert told == [["node0:nic1", "IB2", "IB2", "800", "2"]]
    links = [(x["cable_id"], x["a_port"]) for x in table(files, "links")]
    assert links == [("node0:nic1", "IB2/1"), ("node0:nic1", "IB2/2")]


CLUSTER = sections(__file__)["cluster"]


def test_one_list_for_all_networks(tmp_path: Path) -> None:
    """From the command line: rows of every fabric, one order of pulling, and a folder that verifies; what a connect says reaches
    its cables."""
    (tmp_path / "cluster.fab").write_text(CLUSTER)
    build = ("build", tmp_path / "cluster.fab", "--out", tmp_path / "out", "--target", "cabling")
    done = tdsl(*build)
    assert done.exit_code == 0, done.output
    files = {p.relative_to(tmp_path / "out").as_posix(): p.read_bytes() for p in (tmp_path / "out").rglob("*.csv")}
    rows = csv_rows(files, "all-networks/cabling/cables.csv")
    told = [(r["fabric"], r["colour"], r["class"]) for r in rows]
    assert sorted(told) == [("compute", "blue", "rail")] * 4 + [("management", "", "host-tor")] * 2
    assert sorted(int(r["pull_order"]) for r in rows) == list(range(1, 7))
    labels = csv_rows(files, "all-networks/cabling/labels.csv")
    assert len(labels) == 12 and {r["fabric"] for r in labels} == {"compute", "management"}
    assert tdsl(*build, "--check").exit_code == 0


TWIN = sections(__file__)["twin"]


def test_two_cables_of_a_module_have_two_names(tmp_path: Path) -> None:
    """A module with two sockets: list, labels and identifiers name the socket; where two lanes share one, by a letter."""
    files, found = made_of_text(TWIN, tmp_path, "cabling")
    assert not found
    rows = csv_rows(files, "cabling/cables.csv")
    assert sorted(r["b_port"] for r in rows) == ["1/1", "1/2", "2/1", "2/2", "3/A", "3/B"]
    labels = csv_rows(files, "cabling/labels.csv")
    ends = [(r["device"], r["port"]) for r in labels]
    assert len(set(ends)) == len(ends) == 12 and len({r["cable_id"] for r in labels}) == 6
