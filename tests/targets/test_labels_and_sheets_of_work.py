"""Labels of cables, sheets of work and lists of all networks, each from small tables with known contents."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl import __version__
from tdsl.emit.cable_labels import _label_rows, _multi_name_label_columns, cable_label_columns, tia_606_positions
from tdsl.emit.joint import lists_of_all_networks
from tdsl.emit.link_tables import Wires
from tdsl.emit.workbook import Sheet
from tdsl.emit.worklist import BOX, USED, cable_work_sheet, pick_list, power_cord_sheet, rows_by_work_sheet, work_sheet_columns
from tdsl.fabric.columns import values_of_column
from tests.fabrics import random_fabric, random_layers
from tests.harness import fabric_of

# ---------------------------------------------------------------- labels


def wires(seed: int) -> tuple[Any, list[tuple[int, int, tuple[int, ...]]]]:
    """Cables in any order, some of them broken out into legs at one end, and the labels that they need."""
    rng = Random(seed)
    group: list[int] = []
    leg: list[int] = []
    ends: list[tuple[str, str]] = []
    trunks: dict[int, int] = {}
    for cable in range(rng.randint(1, 6)):
        legs = rng.choice((1, 1, 2, 3, 4))
        trunk = rng.randrange(2)
        single = legs > 1 and rng.random() < 0.2  # one leg of it alone is there
        if legs > 1 and not single:
            trunks[cable] = trunk
        for n in range(1 if single else legs):
            group.append(cable)
            leg.append(n + 1 if legs > 1 else 0)
            names = [f"trunk{cable}", f"far{cable}.{n}"]
            ends.append((names[trunk], names[1 - trunk]))
    order = rng.sample(range(len(group)), len(group))
    stub: Any = SimpleNamespace(
        fabric=SimpleNamespace(cable_group=np.array(group), cable_leg=np.array(leg), places=None),
        identity=SimpleNamespace(ranks=(np.array(order),), ids=[f"id{g}" for g in group]),
        ends=tuple(np.array([e[k] for e in ends], dtype=object) for k in (0, 1)),
        leg_column=lambda name: {
            "a_device": [f"da{i}" for i in range(len(group))], "b_device": [f"db{i}" for i in range(len(group))],
            "a_port": [f"pa{i}" for i in range(len(group))], "b_port": [f"pb{i}" for i in range(len(group))],
            "length_m": [i / 2 for i in range(len(group))],
        }[name],
    )  # fmt: skip
    wanted: list[tuple[int, int, tuple[int, ...]]] = []
    done: set[int] = set()
    for i in order:
        trunk_end = trunks.get(group[i])
        if trunk_end is None:
            wanted += [(i, 0, (i,)), (i, 1, (i,))]
            continue
        if group[i] not in done:
            wanted.append((i, trunk_end, tuple(n for n in order if group[n] == group[i])))
        done.add(group[i])
        wanted.append((i, 1 - trunk_end, (i,)))
    return stub, wanted


def test_a_label_at_each_end_and_one_at_a_trunk() -> None:
    for seed in range(80):
        stub, wanted = wires(seed)
        assert _label_rows(stub) == wanted, seed


def test_texts_of_labels_of_break_outs() -> None:
    for seed in range(40):
        stub, rows = wires(seed)
        if not (stub.fabric.cable_leg > 0).any():
            continue
        count, columns, legs = cable_label_columns(stub)
        made = {name: list(make()) for name, make in columns.items()}
        ids, ends = stub.identity.ids, [e.tolist() for e in stub.ends]
        places = [[f"d{e}{i}:p{e}{i}" for i in range(len(ids))] for e in "ab"]
        assert count == len(rows) and legs.tolist() == [i for i, _, _ in rows]
        assert made == {
            "cable_id": [ids[i] for i, _, _ in rows],
            "leg": ["" if len(m) > 1 else int(stub.fabric.cable_leg[i]) or "" for i, _, m in rows],
            "end": ["ab"[e] for _, e, _ in rows],
            "device": [f"d{'ab'[e]}{i}" for i, e, _ in rows],
            "port": [f"p{'ab'[e]}{i}" for i, e, _ in rows],
            "line1": [ids[i] for i, _, _ in rows],
            "line2": [f"FROM {ends[e][i]}" for i, e, _ in rows],
            "line3": [f"TO {', '.join(ends[1 - e][n] for n in m)}" for _, e, m in rows],
            "near": [places[e][i] for i, e, _ in rows],
            "far": [", ".join(places[1 - e][n] for n in m) for _, e, m in rows],
            "length_m": [i / 2 for i, _, _ in rows],
            "qr": [ids[i] for i, _, _ in rows],
        }


def test_labels_as_columns_are_those_row_by_row(tmp_path: Path) -> None:
    """Without break-outs and places both ways to make labels give the same texts."""
    text = "fabric f { host h[3]: NODE; switch s[4]: SW; connect h[n].nic[r] to s[r]; connect s[0].p[8] to s[1].p[7] }"
    fabrics = [*(random_layers(seed).build() for seed in range(3)), random_fabric(3, cables=5).build(), fabric_of(text, tmp_path)]
    for made in map(Wires, fabrics):
        count, columns, legs = cable_label_columns(made)
        rows = _label_rows(made)
        texts = _multi_name_label_columns(made, rows)
        assert count == len(rows) and legs.tolist() == [i for i, _, _ in rows] and list(columns) == list(texts)
        for name in columns:
            assert list(values_of_column(columns[name]())) == list(values_of_column(texts[name]())), name


def test_positions_of_ends_with_places() -> None:
    """A height where there is one; the device and its port where there is no rack."""
    facts = {
        "a_hall": ["h1", "h1", ""], "a_rack": ["A01", "A02", ""], "a_u": [7, "", ""], "a_device": [*"xyz"], "a_port": [*"123"],
        "b_hall": ["h2", "", "h2"], "b_rack": ["B1", "", "B3"], "b_u": [35, "", 0], "b_device": [*"uvw"], "b_port": [*"456"],
    }  # fmt: skip
    stub: Any = SimpleNamespace(fabric=SimpleNamespace(places=object()), leg_column=facts.__getitem__)
    assert tia_606_positions(stub) == [["h1.A01-07:1", "h1.A02:2", "z:3"], ["h2.B1-35:4", "v:5", "h2.B3:6"]]
    stub.fabric.places = None
    assert tia_606_positions(stub) == [["x:1", "y:2", "z:3"], ["u:4", "v:5", "w:6"]]


# ---------------------------------------------------------------- sheets of work
CABLES: dict[str, list[object]] = {
    "pull_order": [4, 1, 3, 2, 5],
    "bundle": ["b2", "b1", "b2", "b1", "b3"],
    "cable_id": ["c0", "c1", "c2", "c3", "c0"],
    "leg": [1, "", "", "", 2],
    "a_device": ["l0", "l1", "l2", "l3", "l0"],
    "a_hall": ["h1", "h1", "", "h1", "h1"],
    "a_rack": ["A01", "A12", "", "B1", "A01"],
    "a_u": [1, 2, "", 4, 1],
    "a_port": ["p0", "p1", "p2", "p3", "p0"],
    "b_device": ["s0", "s1", "s2", "s3", "s4"],
    "b_hall": ["h1", "h2", "", "h1", "h1"],
    "b_rack": ["C1", "C2", "", "", "C5"],
    "b_u": [11, 12, "", "", 15],
    "b_port": ["q0", "q1", "q2", "q3", "q4"],
    "part": ["DAC", "AOC", "", "DAC", "DAC"],
    "a_optic": ["", "T1", "", "", ""],
    "b_optic": ["", "T2", "", "", ""],
    "length_m": [2.5, 10, "", 2.5, 2.5],
    "colour": [""] * 5,
    "phase": [""] * 5,
    "place": ["", "", "", "su1", ""],
    "link_class": ["leaf-spine", "leaf-core", "leaf-spine", "leaf-spine", "leaf-spine"],
}  # fmt: skip


def test_columns_of_sheets() -> None:
    table: Any = SimpleNamespace(column=lambda name: [name])
    assert work_sheet_columns(table) == {name: [name] for name in USED} and list(CABLES) == list(USED)


def test_cables_by_sheet() -> None:
    """By pod, else by the row of racks in which they begin, in the order of pulling."""
    assert rows_by_work_sheet(CABLES, range(5)) == {"row A": [1, 0, 4], "su1": [3], "": [2]}
    assert rows_by_work_sheet(CABLES, [4, 2]) == {"": [2], "row A": [4]}


def test_a_sheet_of_work() -> None:
    """A column of which nothing is known is left out; a hall is said where there are several."""
    made = cable_work_sheet("row A", CABLES, [1, 0, 4], "a note")
    assert list(made.columns) == [
        "pull", "bundle", "cable", "leg", "from", "rack", "port", "to", "to rack", "to port", "part", "m", "done",
    ]  # fmt: skip
    assert made.rows == [
        (1, "b1", "c1", "", "l1", "h1 A12 U2", "p1", "s1", "h2 C2 U12", "q1", "AOC", 10, BOX),
        (4, "b2", "c0", 1, "l0", "h1 A01 U1", "p0", "s0", "h1 C1 U11", "q0", "DAC", 2.5, BOX),
        (5, "b3", "c0", 2, "l0", "h1 A01 U1", "p0", "s4", "h1 C5 U15", "q4", "DAC", 2.5, BOX),
    ]
    assert (made.name, made.frozen, made.note, made.ledger, made.large, made.ends) == (
        "row A", 3, "a note", True, True, frozenset({0, 1}),
    )  # fmt: skip
    made = cable_work_sheet("", CABLES, [3, 0], "")
    assert made.name == "fabric" and [r[4:7] for r in made.rows] == [("l3", "B1 U4", "p3"), ("l0", "A01 U1", "p0")]
    assert [r[8] for r in made.rows] == ["", "C1 U11"] and made.ends == {0}
    assert (
        cable_work_sheet("x", CABLES, [0, 0, 2, 2, 4], "").ends == {3}
        and cable_work_sheet("x", CABLES, [0], "").ends == frozenset()
    )
    few = {n: [""] * 5 for n in USED} | {"cable_id": CABLES["cable_id"]}
    made = cable_work_sheet("x", few, [0, 1], "")
    assert (list(made.columns), made.frozen) == (["cable", "done"], 2)


def test_what_to_bring() -> None:
    """A break-out is one cable; lengths in their order, and before none."""
    columns = {**CABLES, "length_m": [2.5, 10, "", 2.5, 2.5], "link_class": ["x"] * 5, "part": ["P"] * 5, "a_optic": [""] * 5,
               "b_optic": ["O"] * 5}  # fmt: skip
    made = pick_list(columns, {"su1": [0, 1, 2, 3, 4], "": [3], "su2": [4, 0]}, "note")
    assert made == Sheet(
        "pick list", ["from", "class", "part", "m", "transceiver, near end", "transceiver, far end", "cables"],
        [
            ["su1", "x", "P", 2.5, "", "O", 2], ["su1", "x", "P", 10, "", "O", 1], ["su1", "x", "P", "", "", "O", 1],
            ["fabric", "x", "P", 2.5, "", "O", 1], ["su2", "x", "P", 2.5, "", "O", 1],
        ],
        1, note="note", ledger=True, large=True, ends=frozenset({-1, 2, 3}),
    )  # fmt: skip


def test_cords_rack_after_rack() -> None:
    facts = {"rack": ["A1", "A1", "A2", "A2", "A3"], "u": [1, 2, 1, 1, 3], "device": list("abcde"), "supply": [""] * 5,
             "feed": ["A", "B", "A", "B", "A"], "plug": [""] * 5}  # fmt: skip

    class Cords:
        """A table of five cords."""

        def column(self, name: str) -> list[object]:
            return facts[name]  # type: ignore[return-value]

        def __len__(self) -> int:
            return 5

    made = power_cord_sheet(Cords(), "note")  # type: ignore[arg-type]
    assert made == Sheet(
        "power", ["rack", "unit", "device", "feed", "done"],
        [
            ("A1", 1, "a", "A", BOX), ("A1", 2, "b", "B", BOX), ("A2", 1, "c", "A", BOX), ("A2", 1, "d", "B", BOX),
            ("A3", 3, "e", "A", BOX),
        ],
        3, note="note", ledger=True, large=True, ends=frozenset({1, 3}),
    )  # fmt: skip


# ---------------------------------------------------------------- all networks
FIRST = b'pull_order,cable_id,a\n2,"x,1",p\n1,x2,q\n'
SECOND = b"pull_order,cable_id,b\n1,y1,r\n3,y2,s\n"
THIRD = b"pull_order,cable_id,a\n1,z1,t\n"


def test_one_list_of_several_networks() -> None:
    """Rows in the order of the networks; the order of pulling goes on; columns are those of the first."""
    fabrics = {
        "one": {"cabling/cables.csv": FIRST, "cabling/labels.csv": b"cable_id,fabric\nx,own\n", "manifest.json": b"{1}"},
        "two": {"cabling/cables.csv": SECOND, "other.csv": b"a\n"},
        "three": {"cabling/cables.csv": THIRD, "manifest.json": b"{3}"},
    }
    made = lists_of_all_networks(fabrics)
    wanted = b'pull_order,cable_id,a,fabric\n2,"x,1",p,one\n1,x2,q,one\n3,y1,,two\n5,y2,,two\n6,z1,t,three\n'
    assert list(made) == ["cables.csv", "manifest.json"] and made["cables.csv"] == wanted
    assert made["manifest.json"].endswith(b"\n}\n") and b'\n "schema": 1' in made["manifest.json"]
    assert json.loads(made["manifest.json"]) == {
        "schema": 1, "tdsl": __version__,
        "design": {"name": "all-networks", "sha256": sha256(b"{1}{3}").hexdigest(), "parameters": {}},
        "files": {"cables.csv": {"sha256": sha256(wanted).hexdigest(), "size": len(wanted)}},
    }  # fmt: skip


@pytest.mark.parametrize("first", [b"cable_id,fabric\nx1,own\n", b"fabric,cable_id\nown,x1\n"])
def test_labels_that_say_their_network(first: bytes) -> None:
    fabrics = {"one": {"cabling/labels.csv": first}, "two": {"cabling/labels.csv": b"cable_id\nx2\n"}}
    text = lists_of_all_networks(fabrics)["labels.csv"].decode()
    swapped = first.startswith(b"fabric")
    assert text.splitlines()[1:] == (["own,x1", "two,x2"] if swapped else ["x1,own", "x2,two"])


def test_no_list_of_one_network() -> None:
    assert (
        lists_of_all_networks({"one": {"cabling/cables.csv": FIRST}, "two": {"x.csv": FIRST}}) == {}
        and lists_of_all_networks({}) == {}
    )
