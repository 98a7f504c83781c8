"""Single steps of elaboration against values worked out by hand or by their definitions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric import asns, assemble, keeping, patterns, tiers, vector
from tdsl.fabric.cables import plugs
from tdsl.fabric.columns import Lists, natural_sort_key
from tdsl.fabric.pins import Mount, standing_mounts
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity
from tests.fabrics import GBPS, Builder
from tests.harness import compile_text, fabric_of, links_of

HERE = SourceSpan(SourceFile("x.fab", "random"), 0, 6)


def errors(text: str, folder: Path, **options: object) -> list[tuple[str, str]]:
    """Code and message of every error of a text."""
    found = compile_text(text, folder, verify=False, **options).findings  # type: ignore[arg-type]
    return [(d.code, d.message) for d in found if d.severity.word == "error"]


# ------------------------------------------------------------ columns of one value


def test_columns_of_one_value_take_no_memory_a_row() -> None:
    one, two = assemble._constant_column(7, 3), assemble._constant_column(7, 2)
    assert (one.tolist(), one.strides) == ([7, 7, 7], (0,))
    joined = assemble._concatenate_columns([np.zeros(0, dtype=np.int64), one, two])
    assert (joined.tolist(), joined.strides) == ([7] * 5, (0,))
    assert assemble._concatenate_columns([one, assemble._constant_column(8, 2)]).tolist() == [7, 7, 7, 8, 8]
    assert assemble._concatenate_columns([one, np.array([7, 9])]).tolist() == [7, 7, 7, 7, 9]
    assert assemble._concatenate_columns([np.array([7, 9]), one]).tolist() == [7, 9, 7, 7, 7]
    assert assemble._concatenate_columns([np.array([3, 9])]).tolist() == [3, 9]
    assert assemble._concatenate_columns([]).tolist() == []


@pytest.mark.parametrize(("column", "one"), [([4, 4, 4], True), ([0], True), ([4, 4, 5], False), ([3, 4, 4], False)])
def test_equal_rows_become_one_value(column: list[int], one: bool) -> None:
    found = assemble._constant_if_uniform(np.array(column, dtype=np.int64))
    assert (found.tolist(), found.strides == (0,)) == (column, one)


def test_rows_in_another_order() -> None:
    order = np.array([2, 0, 1])
    assert assemble._reorder_column(np.array([5, 6, 7]), order).tolist() == [7, 5, 6]
    one = assemble._constant_column(4, 3)
    assert assemble._reorder_column(one, order) is one


def test_ends_exchanged_in_some_rows() -> None:
    a, b = np.array([1, 2, 3]), np.array([4, 5, 6])
    for swap, left, right in (
        ([0, 0, 0], [1, 2, 3], [4, 5, 6]),
        ([0, 1, 0], [1, 5, 3], [4, 2, 6]),
        ([1, 1, 1], [4, 5, 6], [1, 2, 3]),
    ):
        found = assemble._exchange_rows(a, b, np.array(swap, dtype=np.bool_))
        assert [x.tolist() for x in found] == [left, right]


# ------------------------------------------------------------ names


def test_names_in_natural_order() -> None:
    """Numbers are compared as numbers and come before words at the same place; a shorter name comes before its continuation."""
    names = ["", "0", "2", "10", "10/1", "IB", "IB1/2/1", "IB1/2/10", "IB1/10/1", "IB01", "ab2", "ab10", "b1"]
    expected = ["", "0", "2", "10", "10/1", "IB", "IB01", "IB1/2/1", "IB1/2/10", "IB1/10/1", "ab2", "ab10", "b1"]
    mixed = list(names)
    Random(1).shuffle(mixed)
    assert sorted(mixed, key=natural_sort_key) == expected
    assert natural_sort_key("IB1/10") == ((1, 0, "IB"), (0, 1, ""), (1, 0, "/"), (0, 10, ""))


def test_lists_of_names_are_made_once() -> None:
    lists, names = Lists(), np.array(["a", "b"], dtype=object)
    assert lists.of(names) == ["a", "b"] and lists.or_none(names) == ["a", "b", ""]
    assert lists.of(names) is lists.of(names) and lists.or_none(names) is lists.or_none(names)
    assert lists.of(np.array(["b"], dtype=object)) == ["b"]


# ------------------------------------------------------------ tiers of declarations


@pytest.mark.parametrize(
    ("given", "planned"),
    [
        ([1, 1, 1, 2, -1], [1, 1, 1, 2, 2]),
        ([-1, 3, 2, -1, -1], [2, 3, 2, 1, 1]),
        ([0, -1, 2, 0, 5], [1, 1, 2, 1, 5]),  # a switch is at least at tier 1
        ([-1, -1, -1, -1, 4], [1, 1, 1, 4, 4]),
    ],
)
def test_switches_without_a_planned_link(given: list[int], planned: list[int]) -> None:
    """They have the least tier of their declaration; hosts have none, whatever theirs was."""
    b = Builder()
    model = b.model("switch", "M", {"p": 4})
    b.devices("h", b.model("host", "H", {"p": 1}), 2)
    b.devices("a", model, 3)
    b.devices("b", model, 2)
    fabric = replace(b.build(), tier=np.array([0, 7, *given], dtype=np.int64))
    assert asns._tier_of_switches(fabric).tolist() == [0, 0, *planned]


def tiers_of(pairs: list[tuple[str, str]]) -> dict[str, int]:
    """The tiers that links give to three leaves, two spines, two hosts with accelerators and two of storage."""
    b = Builder()
    model = b.model("switch", "M", {"p": 9})
    b.devices("l", model, 3)
    b.devices("s", model, 2)
    b.devices("g", b.model("host", "G", {"p": 1}, accelerators=1), 2)
    b.devices("d", b.model("host", "D", {"p": 1}), 2, role="storage")
    names = [s.name + str(k) for s in b.sets for k in range(s.count)]
    of = np.repeat(np.arange(len(b.sets)), [s.count for s in b.sets])
    ends = np.array([[names.index(x) for x in pair] for pair in pairs], dtype=np.int64)
    out = [tiers.planned_tiers(b.sets, of, a, b_) for a, b_ in ((ends[:, 0], ends[:, 1]), (ends[:, 1], ends[:, 0]))]
    assert out[0].tolist() == out[1].tolist()
    return dict(zip(names, out[0].tolist(), strict=True))


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ("g0-l0 g1-l1 l0-s0 l1-s0 l2-s0 d0-l2 s0-s1", {"l0": 1, "l1": 1, "l2": 1, "s0": 2, "s1": 3}),
        ("g0-l0 d0-l1 l0-l1", {"l0": 1, "l1": 1, "l2": 1, "s0": -1}),  # the leaf of storage is one hop behind another leaf
        ("g0-l0 d0-l1 l0-l1 d1-l2 l1-l2", {"l0": 1, "l1": 1, "l2": 1}),
        ("g0-l0 l0-s0 s0-l1 d0-l1", {"l0": 1, "l1": 1, "s0": 2}),
        ("g0-l0 l0-s0 s0-l1 l1-s1 d0-s1", {"l0": 1, "l1": 1, "s0": 2, "s1": 2}),  # no spine is at tier 1
        ("g0-l0 l0-s0 s0-l1", {"l0": 1, "l1": 1, "s0": 2}),  # a leaf without hosts
        ("g0-l0 g1-s1 l0-s0 d0-s0", {"l0": 1, "s1": 1, "s0": 1}),
        ("g0-l0 d0-s0 l0-s0", {"l0": 1, "s0": 2, "d0": 0}),  # storage at a spine does not make it a leaf
    ],
)
def test_tiers_by_declaration(pairs: str, expected: dict[str, int]) -> None:
    found = tiers_of([(x, y) for x, y in (p.split("-") for p in pairs.split())])
    assert {k: found[k] for k in expected} == expected
    assert {found[k] for k in ("g0", "g1", "d0", "d1")} == {0}


# ------------------------------------------------------------ numbers of one rule


@pytest.mark.parametrize(
    ("first", "each", "refused"),
    [
        (1, False, ""), (1, True, ""), (23453, True, ""), (23454, True, "23,456"), (23455, False, ""), (23456, False, "23,456"),
        (23457, True, ""), (65532, True, ""), (65533, True, "65,535"), (65534, False, ""), (65536, True, ""),
        (4294967292, True, ""), (4294967293, True, "4,294,967,295"), (4294967294, False, ""),
        (4294967295, False, "4,294,967,295"), (4294967296, False, "4,294,967,296"),
    ],
)  # fmt: skip
def test_numbers_beside_reserved_ones(first: int, each: bool, refused: str, tmp_path: Path) -> None:
    """A rule of three switches, with one number for all or one for each from the first."""
    text = f"""fabric f {{ switch a[3]: E; switch b: E; connect a[i] to b
  routing bgp {{ unnumbered; asn a[*] {"from " if each else ""}{first} }} }}
model switch E {{ port p[1..8]: 400Gbps {{ type GE400 }} }}"""
    found = errors(text, tmp_path, models=False)
    if refused:
        assert [code for code, _ in found] == ["E0473"] and found[0][1].startswith(f"{refused} is not a valid AS number")
        return
    assert found == []
    fabric = fabric_of(text, tmp_path, models=False)
    assert fabric.addressing is not None and fabric.addressing.asns is not None
    assert fabric.addressing.asns.number[:3].tolist() == [first + k * each for k in range(3)]


# ------------------------------------------------------------ choices that are not taken


@pytest.mark.parametrize(
    ("solved", "taken"),
    [
        (None, False),
        ([[1, 0, 0], [1, 0, 0]], False),  # the first member would get two
        ([[2, 0, 0], [0, 0, 0]], False),
        ([[0, 1, 0], [1, 0, 0]], False),  # keeps no more than the spread's own
        ([[0, 0, 1], [0, 1, 0]], True),
    ],
)
def test_a_choice_is_verified(solved: list[list[int]] | None, taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own = np.array([[1, 0, 0], [0, 1, 0]])
    standing = np.array([[0, 0, 1], [0, 2, 1]])
    given = None if solved is None else np.array(solved)
    rule = keeping.rule_of(own, False, alike=True)
    assert rule is not None
    monkeypatch.setattr(keeping, "_solve_transportation", lambda *_: given)
    found = keeping.keep_standing_links(own, standing, rule)
    assert found is (given if taken else own)


# ------------------------------------------------------------ random graphs that are not found


def test_ends_that_no_exchange_repairs() -> None:
    """Two links between two members stay double or become loops, whatever ends are exchanged."""
    a, b = np.array([0, 0]), np.array([1, 1])
    assert not patterns._remove_loops_and_repeats(a, b, 2, np.random.PCG64(1))
    assert sorted([*a.tolist(), *b.tolist()]) == [0, 0, 1, 1]


def test_a_random_graph_that_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def repair(a: np.ndarray, *_: object) -> bool:
        tried.append(len(a))
        return False

    monkeypatch.setattr(patterns, "_remove_loops_and_repeats", repair)
    with pytest.raises(Fault) as caught:
        patterns.random_regular(9, 2, 5, HERE)
    assert caught.value.diagnostic.message == "no 2-regular graph on 9 members was found from seed 5"
    assert tried == [9] * 200


# ------------------------------------------------------------ links of a pattern within the limit


@pytest.mark.parametrize(
    ("connect", "links"),
    [
        ("connect a[*] random degree 3 seed 1", 9),
        ("connect a[*] random degree 2 seed 1 x 2", 12),
        ("connect g[i].b[*] random degree 2 seed 1", 10),
        ("connect a[*] ring", 6),
        ("connect a[*] each", 15),
        ("connect a[*] to c[*] each", 24),
        ("connect a[*] to d[*] pairs", 6),
        ("connect a[*] mesh", 5),
        ("connect a[*] torus", 6),
        ("connect a[*] to c[*] spread x 4", 24),
    ],
)
def test_the_limit_of_links_is_that_of_the_pattern(
    connect: str, links: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many links as the limit are laid; one fewer refuses the pattern with the number of its links, which are not made."""
    text = f"fabric f {{ switch a[6]: BIG; switch c[4]: BIG; switch d[6]: BIG; group g[2] {{ switch b[5]: BIG }}\n  {connect} }}"
    (design,) = compile_text(text, tmp_path, verify=False, max_links=links).designs
    assert design.fabric is not None and design.fabric.link_count == links
    for name in ("each", "in_order", "ring", "grid", "random_regular", "spread", "mesh_spread"):
        monkeypatch.setattr(patterns, name, None)
    found = [message for code, message in errors(text, tmp_path, max_links=links - 1) if code != "E0404"]  # of unused switches
    assert found == [f"with this the design has {links} links; the limit is {links - 1}"]


# ------------------------------------------------------------ guards for all assignments at once


def test_truth_values_of_guards_are_computed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No assignment is evaluated alone."""
    monkeypatch.setattr(vector, "SLOW_LIMIT", 0)
    text = "fabric f {{ switch a[4]: SW; switch b[4]: SW; connect a[i] to b[j] where {} }}"
    cells = list(product(range(4), range(4)))
    for guard, kept in {
        "i < 2 and j > 2": [(i, j) for i, j in cells if i < 2 and j > 2],
        "i == j or i == 0": [(i, j) for i, j in cells if i == j or i == 0],
        "true and i < j": [(i, j) for i, j in cells if i < j],
        "i > j or false": [(i, j) for i, j in cells if i > j],
    }.items():
        found = {(x.split(".")[0], y.split(".")[0]) for x, y in links_of(fabric_of(text.format(guard), tmp_path))}
        assert found == {(f"a[{i}]", f"b[{j}]") for i, j in kept}


def test_what_is_a_truth_value_and_what_a_number() -> None:
    for value, truth, number in (
        (True, True, False), (False, True, False), (0, False, True), (1, False, True), ((1, 2), False, False),
        (np.array([True]), True, False), (np.array([1]), False, True),
    ):  # fmt: skip
        assert (vector._is_truth(value), vector._is_number(value)) == (truth, number)


# ------------------------------------------------------------ members of a group


@pytest.mark.parametrize(
    ("path", "gone"),
    [
        ("pod[i] where i != 1", {0, 2, 3}),
        ("pod[2]", {2}),
        ("pod[i] where i > 1", {2, 3}),
        ("pod[*]", {0, 1, 2, 3}),
    ],
)
@pytest.mark.parametrize("leaves", [1, 2, 3])
def test_all_devices_of_some_groups(path: str, gone: set[int], leaves: int, tmp_path: Path) -> None:
    text = f"""fabric f {{ switch top: BIG; group pod[4] {{ switch leaf[{leaves}]: SW; switch own: SW }}
  connect pod[p].leaf[i] to top; connect pod[p].own to top; omit {path} }}"""
    f = fabric_of(text, tmp_path)
    absent = {f.device_path(d) for d in np.flatnonzero(~f.built).tolist()}
    assert absent == {f"pod[{p}].leaf[{i}]" for p in gone for i in range(leaves)} | {f"pod[{p}].own" for p in gone}


# ------------------------------------------------------------ what follows from a refused connect


def test_what_is_left_by_a_refused_connect_is_not_judged(tmp_path: Path) -> None:
    """Eight free ports are not evenly spread over three; but the connect that takes nine of eight is the only fault."""
    text = "fabric f {{ switch h[9]: SW; switch leaf: SW; switch spine[3]: BIG\n  connect h[i] to leaf{}\n  connect {} spread\n}}"
    both = text.format("", "leaf to spine[*]")
    assert [code for code, _ in errors(both, tmp_path)] == ["E0452"]
    assert [code for code, _ in errors(text.format(" where i < 0", "leaf to spine[*]"), tmp_path)] == ["E0454"]
    assert [code for code, _ in errors(text.format("", "h[*] to spine[*]"), tmp_path)] == ["E0452"]


# ------------------------------------------------------------ failures by rows


def test_names_of_failed_rows(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch a[3]: SW; connect a[*] ring }", tmp_path)
    names = [f"{f.port_path(int(x))} - {f.port_path(int(y))}" for x, y in zip(f.link_a, f.link_b, strict=True)]
    failed = f.without(devices=[2, 0], links=[1])
    assert failed.names == ("a[2]", "a[0]", names[1])
    assert (failed.devices.tolist(), failed.links.tolist()) == ([True, False, True], [False, True, False])
    assert f.without(links=[2, 0]).names == (names[2], names[0])
    assert f.without().names == ()
    for wrong in ({"devices": [-1]}, {"links": [0, -1]}, {"devices": [3]}, {"links": [3]}):
        with pytest.raises(IndexError):
            f.without(**wrong)


# ------------------------------------------------------------ requirements of groups


GROUPS = """fabric f {{
  host h[2]: BOX; switch a[2]: SW; connect h[i].nic[0] to a[i]; connect a[0] to a[1]
  group g[2] {{ {} group in[3] {{ {} }} }}
  {}
}}"""


@pytest.mark.parametrize(
    ("outer", "inner", "rest", "scopes"),
    [
        ("", "", "require diameter <= 4", [None]),
        ("require diameter <= 4;", "", "", [("g[0]", []), ("g[1]", [])]),
        ("", "require diameter <= 4", "", [(f"g[{i}].in[{j}]", []) for i in range(2) for j in range(3)]),
        (
            "switch s[2]: SW; require diameter <= 4;", "", "connect g[i].s[*] to a[0]",
            [(f"g[{i}]", [f"g[{i}].s[0]", f"g[{i}].s[1]"]) for i in range(2)],
        ),
        (
            "switch s: SW; require diameter <= 4;", "switch t: SW", "connect g[i].s to a[0]; connect g[i].in[j].t to a[0]",
            [(f"g[{i}]", [f"g[{i}].s", *(f"g[{i}].in[{j}].t" for j in range(3))]) for i in range(2)],
        ),
        (
            "", "switch t: SW; require diameter <= 4", "connect g[i].in[j].t to a[0]",
            [(f"g[{i}].in[{j}]", [f"g[{i}].in[{j}].t"]) for i in range(2) for j in range(3)],
        ),
    ],
)  # fmt: skip
def test_instances_that_a_requirement_is_of(
    outer: str, inner: str, rest: str, scopes: list[tuple[str, list[str]] | None], tmp_path: Path
) -> None:
    """One of each instance of the group in whose block it is, with all devices in it, none where the group has none."""
    (design,) = compile_text(GROUPS.format(outer, inner, rest), tmp_path, verify=False).designs
    f = design.fabric
    assert f is not None
    found = [c.scope and (c.scope.name, [f.device_path(d) for d in c.scope.devices.tolist()]) for c in design.claims]
    assert found == scopes


# ------------------------------------------------------------ places that a lock and a table give


def test_a_device_inside_another_has_no_place_by_a_lock(tmp_path: Path) -> None:
    text = """fabric f { host n[2]: NODE; switch s: FAST8; connect n[i].gpu[g].nv[0] to s
  hall h { row A { rack 1..3 { height 9U } } } }
model switch FAST8 { port p[1..8]: 200Gbps { type NVLINK } }"""
    (design,) = compile_text(text, tmp_path, verify=False).designs
    f = design.fabric
    assert f is not None
    assert (f.device_path(0), sorted(set(f.container.tolist()))) == ("n[0]", [-1, 0, 1])
    names = ["n[1]", "n[0].gpu[1]", "n[1].gpu[0]", "n[0]", "s"]
    found = standing_mounts([Mount(name, "h", "A", 1 + k % 3, 1 + k, HERE) for k, name in enumerate(names)], f)
    assert {f.device_path(d): where for d, where in found.items()} == {"n[1]": (0, 1), "n[0]": (0, 4), "s": (1, 5)}


NUMBERS = [
    ("1", "1", True), ("999999", "1", True), ("1000000", "1", False), ("2", "999999", True), ("3", "1000000", False),
    ("4", "999999U", True), ("5", "9U", True), ("6", "", True), ("7", "U", True), ("8", "UU", False), ("9U", "1", False),
    ("1", "-1", False), ("1.5", "1", False), ("1", "\u0663", False), ("\u00b2", "1", False), ("000010", "01", True),
]  # fmt: skip
"""Rack, unit, and whether they are numbers: of at most six digits from 0 to 9."""


def test_numbers_in_a_table_of_places(tmp_path: Path) -> None:
    rows = "".join(f"a[{k}],h,A,{rack},{unit}\n" for k, (rack, unit, _) in enumerate(NUMBERS))
    text = f"fabric f {{ switch a[{len(NUMBERS)}]: SW; connect a[*] ring }}"
    table = SourceFile("places.csv", "device,hall,row,rack,unit\n" + rows)
    found = [d for d in compile_text(text, tmp_path, verify=False, places=table).findings if d.severity.word == "error"]
    assert {(d.code, d.message) for d in found} == {("E0207", "racks and units are whole numbers")}
    lines = [d.span.begin[0] for d in found if d.span]
    assert lines == [2 + k for k, (_, _, right) in enumerate(NUMBERS) if not right]
    table = SourceFile(
        "places.csv",
        "device,hall,row,rack,unit\n"
        + "".join(f"a[{k}],h,A,{rack},{unit}\n" for k, (rack, unit, right) in enumerate(NUMBERS) if right),
    )
    f = fabric_of(text, tmp_path, places=table)
    assert f.places is not None
    given = [(int(rack), int(unit.removesuffix("U") or 0)) for rack, unit, right in NUMBERS if right]
    placed = np.flatnonzero(f.places.device_rack >= 0)
    racks = f.places.rack_number[f.places.device_rack[placed]].tolist()
    assert list(zip(racks, f.places.device_unit[placed].tolist(), strict=True)) == given


# ------------------------------------------------------------ cables for break-outs


def part(kind: str, name: str, rate: int, **facts: object) -> DeviceModel:
    """A cable or transceiver of ``rate`` Gb/s."""
    return replace(Builder().model(kind, name, {}), facts={"rate": Quantity(Fraction(rate * GBPS), RATE)} | facts)


def cage(rate: int, **facts: object) -> PortClass:
    """Ports of ``rate`` Gb/s, each in its own cage."""
    (made,) = Builder().model("switch", "S", {"p": 4}).classes
    return replace(made, **({"form": "OSFP", "per_cage": 1, "types": ("NDR",), "rate": rate * GBPS} | facts))  # type: ignore[arg-type]


def test_cables_for_a_break_out() -> None:
    """Straight cables and those of two legs, with plugs and of fibre with transceivers at both ends."""
    sizes = [(n, rate) for n in (1, 2) for rate in (399, 400, 799, 800)]
    copper = [part("cable", f"c{n}x{rate}", rate, form="OSFP", medium="dac", legs=n) for n, rate in sizes]
    fibres = [part("cable", f"f{n}x{rate}", rate, fibre="sm", legs=n) for n, rate in sizes]
    optics = [part("optic", f"o{rate}", rate, form="OSFP", fibre="sm") for rate in (400, 800)]
    every = [*copper, *fibres, *optics]

    def names(catalogue: list[DeviceModel], head: PortClass, tail: PortClass, legs: int, rate: int) -> list[str]:
        return [x.name for x in plugs.break_outs(catalogue, head, tail, legs, rate * GBPS)]

    assert names(every, cage(400), cage(400), 1, 400) == ["c1x400", "c1x799", "c1x800", "f1x400", "f1x799", "f1x800"]
    assert names(every, cage(800), cage(400), 2, 400) == ["c2x800", "f2x800"]
    slower = names(every, cage(800), cage(400), 2, 200)  # the transceivers at the legs run on half of their lanes
    assert slower == ["c2x400", "c2x799", "c2x800", "f2x400", "f2x799", "f2x800"]
    assert names(every, cage(800), cage(400), 2, 100) == ["c2x399", "c2x400", "c2x799", "c2x800"]  # no 200 Gb/s at the head
    assert names(every[:-1], cage(800), cage(400), 2, 400) == ["c2x800"]  # no transceiver for the head
    assert names([*every[:-2], every[-1]], cage(800), cage(400), 2, 400) == ["c2x800"]  # none for the legs
    assert names(every, cage(800, form=""), cage(400), 2, 400) == []
    assert names(every, cage(800), cage(400, form=""), 2, 400) == []
    assert names(every, cage(800), cage(400, form="QSFP112"), 2, 400) == []
    assert names(every, cage(800, per_cage=2), cage(400), 2, 400) == []
    assert names(every, cage(800), cage(400, per_cage=2), 2, 400) == []
    assert names(every, cage(800), cage(400), 3, 100) == []
