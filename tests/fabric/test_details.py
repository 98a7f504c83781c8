"""Details of a fabric that a design sees: limits, rates and classes of links, names in two places, distances, plugs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.as_networkx import _plane_paths
from tdsl.fabric.cables.plugs import ends_wrong, fits_cage, legs_of, plug_wrong
from tdsl.fabric.distances import distances_between_devices
from tdsl.fabric.keeping import links_in_copy_order
from tdsl.fabric.part_facts import optic_watts
from tdsl.fabric.places import rows_of_places
from tdsl.fabric.rates import add_capacity
from tdsl.fabric.vector import _mentions_variable
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import POWER, RATE, Quantity
from tdsl.semantics.settings import CAPACITY_LIMIT, GRAIN_LIMIT
from tdsl.syntax.parser import parse_expression
from tests.cli.run import tdsl
from tests.harness import compile_text, fabric_of, links_of

HERE = SourceSpan(SourceFile("x.fab", "connect"), 0, 7)
DEVICES = "fabric f {\nswitch a[2]: SW\nswitch b[3]: SW\nswitch w[3]: BIG\nchip c[2, 3]: GPU\nhost h[2]: BOX\n"
COUNTS = {
    "connect a[*] to w[*] each x 2": 12, "connect w[*] each": 3, "connect w[*] each x 2": 6, "connect b[*] to w[*] pairs": 3,
    "connect b[*] to w[*] pairs x 2": 6, "connect w[*] ring": 3, "connect a[*] ring x 2": 4, "connect a[(0)] ring": 0,
    "connect c[*, *] mesh": 7, "connect c[*, *] torus": 12, "connect c[(0), *] torus": 3, "connect c[(0), *] mesh x 2": 4,
    "connect w[*] random degree 2 seed 1": 3, "connect b[*] to w[*] spread x 6": 18, "connect w[*] spread x 4": 6,
    "connect b[*] to w[*] spread uneven x 4": 12, "connect b[i] to w[i] x 3": 9,
}  # fmt: skip


@pytest.mark.parametrize("text", COUNTS)
def test_the_limit_of_links_counts_each_pattern(text: str, tmp_path: Path) -> None:
    """As many links as the limit are laid, and one less is refused with the number."""
    count = COUNTS[text]
    assert fabric_of(f"{DEVICES}{text}\n}}", tmp_path, max_links=max(count, 1)).link_count == count
    if count > 1:
        found = compile_text(f"{DEVICES}{text}\n}}", tmp_path, verify=False, max_links=count - 1).findings
        (limit,) = [d for d in found if d.code == "E0116"]
        assert f"with this the design has {count} links; the limit is {count - 1}" in limit.message


def test_rates_and_classes_of_links(tmp_path: Path) -> None:
    """A rate for each dimension; a class for each pair of sets, also where one connect joins several."""
    text = """connect c[*, *] torus { rate 400Gbps, 200Gbps }
    connect a[*], b[*] to w[*] each
    connect h[n].nic[i] to a[i] }"""
    f = fabric_of(DEVICES + text, tmp_path)
    for row, (one, other) in enumerate(
        tuple(map(f.device_path, x)) for x in zip(f.device_a.tolist(), f.device_b.tolist(), strict=True)
    ):
        sets = "host-a" if one[0] == "h" else f"{one[0]}-{other[0]}"
        along = [(one, other) == (f"c[{x}, {y}]", f"c[{1 - x}, {y}]") for x in (0, 1) for y in range(3)]
        assert f.classes[f.link_class[row]] == sets
        assert f.link_rate[row] == (200 if sets == "c-c" and not any(along) else 400) * 10**9
    assert Counter(f.classes[c] for c in f.link_class) == {"c-c": 12, "a-w": 6, "b-w": 9, "host-a": 4}


def test_words_of_the_design(tmp_path: Path) -> None:
    for text, code, message, help in (
        ("connect a[i] to b[i]", "E0107", "`i` runs over 0..2 here and over 0..1 before",
         "write `where i <= 1` if only those in both"),
        ("switch z[1..4]: SW\nconnect b[i] to z[i]", "E0107", "`i` runs over 1..4 here and over 0..2 before",
         "write `where 1 <= i <= 2` if only those in both"),
        ("connect a[0], a[0] to b[*] each", "E0120", "this names a device twice", "name each device once; `x 2` makes two links"),
        ("connect a[[0, 0]] to b[*] each", "E0120", "this names a device twice", "name each device once; `x 2` makes two links"),
        ("connect a[*] to b[*] each\nminimize switches", "E0124", "the design has no unknown `?`, so `minimize` has no effect",
         "write `?` for a number, or remove the statement"),
    ):  # fmt: skip
        found = [d for d in compile_text(f"{DEVICES}{text}\n}}", tmp_path, verify=False).findings if d.code != "E0404"]
        assert [(d.code, d.message) for d in found] == [(code, message)] and (found[0].help or "").startswith(help)


def test_what_a_chassis_contains_fails_with_it(tmp_path: Path) -> None:
    """Also in the first device of the design."""
    f = fabric_of(
        "fabric f { host h[2]: NODE; switch s: BIG; connect h[n].nic[*] to s each\nconnect h[n].gpu[*] ring }", tmp_path
    )
    chips = [d for d in range(f.device_count) if f.device_path(d).startswith("h[") and "gpu" in f.device_path(d)]
    assert len(chips) == 8
    for host in (0, 1):
        failed = np.zeros(f.device_count, dtype=np.bool_)
        failed[host] = True
        whole = f.with_contents(failed).nonzero()[0].tolist()
        assert whole == sorted([host, *(c for c in chips if f.device_path(c).startswith(f"h[{host}]"))])


def test_distances_are_of_all_devices_of_a_group(tmp_path: Path) -> None:
    text = """fabric f {
      group dc[2] { switch s[2]: SW }
      switch t: SW
      connect dc[0].s[*] to dc[1].s[*] each
      connect dc[0].s[0] to t
      distance dc[0] to dc[1] 100km
    }"""
    f = fabric_of(text, tmp_path)
    side = [f.device_path(d)[:5] for d in range(f.device_count)]
    every = np.arange(f.device_count)
    a, b = np.repeat(every, f.device_count), np.tile(every, f.device_count)
    length, which = distances_between_devices(f, a, b)
    for x, y, millimetres, row in zip(a, b, length, which, strict=True):
        apart = {side[x], side[y]} == {"dc[0]", "dc[1]"}
        assert (millimetres, row) == ((100_000_000, 0) if apart else (-1, -1))


def test_capacities_up_to_the_limits() -> None:
    """One step below each limit is allowed, the limit itself is not."""

    def added(before: int, grain: int, rates: list[int]) -> tuple[int, int]:
        wire = SimpleNamespace(node=SimpleNamespace(span=HERE))
        batch: Any = SimpleNamespace(rate=np.array(rates, dtype=np.int64), wire=wire)
        return add_capacity(before, grain, batch)

    assert added(10, 4, [6, 6, 9]) == (31, 1) and added(0, 0, [6, 6, 9]) == (21, 3) and added(8, 4, []) == (8, 4)
    big = CAPACITY_LIMIT >> 10
    assert added(CAPACITY_LIMIT - 2 * big, big, [big]) == (CAPACITY_LIMIT - big, big)
    with pytest.raises(Fault, match="with this all links carry"):
        added(CAPACITY_LIMIT - 2 * big, big, [big, big])
    assert added(GRAIN_LIMIT - 2, 1, [1]) == (GRAIN_LIMIT - 1, 1)
    with pytest.raises(Fault, match="the largest rate that divides all rates"):
        added(GRAIN_LIMIT - 2, 1, [1, 1])


def test_columns_of_a_table_of_links() -> None:
    """Copy by copy, and within one by the ranks."""
    table = np.array([[2, 0, 1], [1, 3, 0]])
    links = [(c, i, j) for i, j in np.ndindex(2, 3) for c in range(table[i, j])]
    assert list(zip(*(x.tolist() for x in links_in_copy_order(table)), strict=True)) == [(i, j, c) for c, i, j in sorted(links)]


@pytest.mark.parametrize(("text", "found"), [
    ("i + 1", True), ("n + 1", False), ("t[i]", True), ("t[n, i]", True), ("[n, i]", True), ("(n + 2*i) % 3", True),
    ("-i", True), ("n < 3 and i > 1", True), ("max(n, i)", True), ("max(n, 2)", False),
])  # fmt: skip
def test_which_expressions_use_a_variable(text: str, found: bool) -> None:
    assert _mentions_variable(parse_expression(text, "x.fab", Diagnostics()), {"i": np.zeros(1, dtype=np.int64)}) is found


BGP = """fabric f {{ switch a[3]: SW
switch b[2]: SW
switch lone: SW
connect a[*] to b[*] each
routing bgp {{ unnumbered; {} }}{} }}"""
CHASSIS = """model chip C {{ port l[{}]: 200Gbps }}
model host H {{ port nic: 400Gbps; chip c[3]: C; connect c[*] ring {} }}
fabric f {{ host h: H; switch s: SW; connect h.nic to s }}"""
ETHERNET = """fabric f {{ host h[2]: BOX; host e: ETH; switch a: SW
connect h[n].nic[0] to a
connect e.nic to a
subnet_manager {} }}
model host ETH {{ port nic: 400Gbps {{ type GE400 }} }}"""
OPTICAL = """fabric f {{ switch block[3]: SW; ocs o[1]: OPTIC
connect block[b].p[i] to o[0] where i <= {}
circuit block[*] each{} }}"""
RESERVED = "{} is not a valid AS number (reserved by RFC {})"


@pytest.mark.parametrize(("text", "code", "message", "notes"), [
    (BGP.format("asn a[*] from 65534", ""), "E0473", RESERVED.format("65,535", 7300), ("3 devices are planned here",)),
    (BGP.format("asn a[*] 65535", ""), "E0473", RESERVED.format("65,535", 7300), ()),
    (BGP.format("asn a[*] from 65532", ""), "", "", ()),
    (BGP.format("asn a[*] from 4294967293", ""), "E0473", RESERVED.format("4,294,967,295", 7300),
     ("3 devices are planned here",)),
    (BGP.format("asn a[*] 23456", ""), "E0473", RESERVED.format("23,456", 6793), ()),
    (BGP.format("asn a[*] from 0", ""), "E0473", RESERVED.format("0", 7607), ("3 devices are planned here",)),
    (BGP.format("asn a[*] 65001; asn b[*] 65001", ""), "E0474", "a[2] and b[0] both have ASN 65001, of different rules", ()),
    (BGP.format("asn a[*] 65001; asn lone 65001; asn b[*] from 65002", "\nomit lone"), "", "", ()),
    (BGP.format("asn a[*] 65001; asn a[0] 65002", ""), "E0472", "a[0] already has an ASN", ()),
    (CHASSIS.format(2, "{ colour 1 }"), "E0118", "there is no setting of a connect inside a model `colour` here", ()),
    (CHASSIS.format(1, ""), "E0452", "c[0] needs 2 free ports `l` and has 1 (and 2 more devices)", ()),
    (CHASSIS.format(2, ""), "", "", ()),
    (ETHERNET.format("h[0], e"), "E0481", "this host has no InfiniBand port to manage a subnet by", ()),
    (ETHERNET.format("e, h[0]"), "E0481", "this host has no InfiniBand port to manage a subnet by", ()),
    (ETHERNET.format("h[0]"), "", "", ()),
    (OPTICAL.format(2, " x 2"), "E0452", "block[0] and block[2] lack free cables to a common OCS for one more circuit",
     ("2 of 6 circuits were set up",)),
    (OPTICAL.format(4, " x 2"), "", "", ()),
])  # fmt: skip
def test_findings_of_other_statements(text: str, code: str, message: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    found = [d for d in compile_text(text, tmp_path, verify=False).findings if d.code not in ("E0404", "E0201")]
    assert [(d.code, d.message, d.notes) for d in found[:1]] == ([(code, message, notes)] if code else [])


def test_circuits_of_two_statements(tmp_path: Path) -> None:
    """A second statement takes cables that the first left; each port of an optical switch has one circuit."""
    f = fabric_of(OPTICAL.format(4, "\ncircuit block[0] to block[1]"), tmp_path)
    pairs = Counter((f.device_path(int(a)), f.device_path(int(b))) for a, b in zip(f.device_a, f.device_b, strict=True))
    assert pairs == {("block[0]", "block[1]"): 2, ("block[0]", "block[2]"): 1, ("block[1]", "block[2]"): 1}
    ends = [*f.circuit_a.tolist(), *f.circuit_b.tolist()]
    assert len(ends) == len(set(ends)) == 8 and len({*f.link_a.tolist(), *f.link_b.tolist()}) == 8


def test_requirements_of_groups_in_groups(tmp_path: Path) -> None:
    """Each instance is judged, by the path that the design writes."""
    text = """fabric f {
      switch top: BIG
      group pod[2] { group su[2] { host h[2]: BOX; switch l: SW; connect h[i].nic[*] to l each; require switches == 1 } }
      group one { host h: BOX; switch l[2]: SW; connect h.nic[r] to l[r]; require switches == 1 }
      connect pod[*].su[*].l to top each
      connect one.l[*] to top each
    }"""
    found = compile_text(text, tmp_path).designs[0].results
    assert [(r.scope, r.status) for r in found if r.requirement] == [
        *((f"pod[{p}].su[{s}]", "proved") for p in range(2) for s in range(2)), ("one", "refuted"),
    ]  # fmt: skip


def test_a_host_whose_chips_are_connected_is_named(tmp_path: Path) -> None:
    """Where another connect is refused, it is not said to be without a link."""
    text = "fabric f { host h[2]: NODE; switch a: SW; connect h[n].gpu[*] ring\nconnect a }"
    assert [d.code for d in compile_text(text, tmp_path, verify=False).findings] == ["E0453"]


def test_places_of_devices_that_are_built(tmp_path: Path) -> None:
    """Neither what is omitted nor what stands inside another device; a device without a place has empty columns."""
    text = """fabric f {
      host h[3]: NODE; switch s: BIG
      connect h[n].nic[*] to s each
      connect h[n].gpu[*] ring
      omit h[1]
      hall m { row A { rack 1..4 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
      place h[n] in m.A[n + 1] at 4U
    }"""
    f = compile_text(text, tmp_path, verify=False).designs[0].fabric
    assert f is not None
    assert rows_of_places(f) == [("h0", "m", "A", 1, 4), ("h2", "m", "A", 3, 4), ("s", "", "", None, None)]


def test_an_address_is_replaced_once(tmp_path: Path) -> None:
    text = """fabric f { switch l[2]: SW; switch s: SW
      connect l[*] to s each
      address l, s loopback from 10.0.0.0/24
      override l[(0)] { address loopback 10.1.0.1 }
      MORE
      routing bgp { unnumbered; asn l[*] from 65001; asn s 65000 } }"""
    for more, codes in (("", []), ("override l[(0)] { address loopback 10.1.0.2 }", ["E0472"])):
        assert [d.code for d in compile_text(text.replace("MORE", more), tmp_path, verify=False).findings] == codes


# ------------------------------------------------------------ plugs and cages
def cage(form: str = "OSFP", heatsink: str = "", per_cage: int = 2, sockets: int = 1, split: int = 1) -> Any:
    """A port class, as far as plugs ask."""
    return SimpleNamespace(form=form, heatsink=heatsink, per_cage=per_cage, sockets=sockets, split=split, types=(), rate=None)


def part(**facts: object) -> Any:
    """The model of a cable or transceiver; rates in Gb/s."""
    told = {k: Quantity(Fraction(v) * 10**9, RATE) if k == "rate" else v for k, v in facts.items()}  # type: ignore[arg-type]
    return SimpleNamespace(name="PART_1", facts=told)


def test_plugs_and_cages() -> None:
    whole, legs = cage(), part(form="OSFP", tail="QSFP112", rate=800, legs=2)
    tail = cage("QSFP112", per_cage=1)
    assert [legs_of(part(legs=n)) for n in (1, 2, 0)] == [1, 2, 1] and legs_of(part()) == 1
    rate = 400 * 10**9
    assert plug_wrong(legs, whole, rate, False) == plug_wrong(legs, tail, rate, True) == ""
    assert plug_wrong(legs, whole, rate, True) == "PART-1 has the plug QSFP112, and the cage is OSFP"
    assert plug_wrong(legs, tail, rate, False) == "PART-1 has the plug OSFP, and the cage is QSFP112"
    said = "PART-1 gives a port of this cage 400Gbps, and the link runs at"
    assert plug_wrong(legs, tail, rate + 10**9, True).startswith(said)
    assert plug_wrong(legs, whole, rate + 10**9, False).startswith(said)
    assert plug_wrong(part(form="OSFP"), whole, 10**15, False) == plug_wrong(part(form="OSFP"), cage(""), rate, False) == ""
    flat = part(form=("OSFP", "flat"), rate=800)
    assert plug_wrong(flat, cage(heatsink="finned"), rate, False) == "PART-1 has a plug that is flat, and the cage takes finned"
    assert plug_wrong(flat, cage(heatsink="flat"), rate, False) == plug_wrong(flat, whole, rate, False) == ""
    for a, b in ((whole, tail), (tail, whole)):
        assert ends_wrong(legs, a, b, rate) == ("", "")
    near, far = ends_wrong(legs, whole, whole, rate)
    assert bool(near) != bool(far)
    straight = part(form="OSFP", rate=800)
    assert ends_wrong(straight, whole, tail, rate) == ("", "PART-1 has the plug OSFP, and the cage is QSFP112")
    assert ends_wrong(straight, tail, whole, rate) == ("PART-1 has the plug OSFP, and the cage is QSFP112", "")


def test_transceivers_and_cages() -> None:
    for facts, c, fits in (
        ({"form": "OSFP", "ports": 2}, cage(), True), ({"form": "OSFP"}, cage(), False),
        ({"form": "OSFP"}, cage(per_cage=1), True),
        ({"form": "QSFP112", "ports": 2}, cage(), False), ({"ports": 2}, cage(), False),
        ({"form": ("OSFP", "flat"), "ports": 2}, cage(), True),
        ({"form": ("OSFP", "flat"), "ports": 2}, cage(heatsink="flat"), True),
        ({"form": ("OSFP", "flat"), "ports": 2}, cage(heatsink="finned"), False),
        ({"form": "OSFP", "ports": 2}, cage(heatsink="finned"), True),
        ({"form": "OSFP", "ports": 2}, cage(per_cage=1, sockets=2, split=2), True),
        ({"form": "OSFP", "ports": 2}, cage(per_cage=1, sockets=2, split=1), False),
    ):  # fmt: skip
        assert fits_cage(part(**facts), c) is fits, (facts, c)


def test_watts_of_transceivers() -> None:
    def watts(**facts: int) -> Any:
        return SimpleNamespace(name="P", facts={k: Quantity(Fraction(v), POWER) for k, v in facts.items()})

    assert [optic_watts(watts(power_max=17, power=14), typical) for typical in (False, True)] == [17, 14]
    assert [optic_watts(watts(power=14), typical) for typical in (False, True)] == [14, 14]
    assert [optic_watts(watts(power_max=17), typical) for typical in (False, True)] == [17, 17]
    assert optic_watts(watts()) is None


def test_the_first_device_fails_with_its_group(tmp_path: Path) -> None:
    """Its row is 0: what fails are the switch of pod[0], which is that row, and its two hosts, with their links."""
    text = """fabric f {
  pod pod[2] { switch leaf: BIG; host node[2]: BOX; connect node[n].nic[*] to leaf }
  switch spine: BIG
  connect pod[*].leaf to spine each x 2
}
"""
    f = fabric_of(text, tmp_path)
    assert f.device_path(0) == "pod[0].leaf"
    done = tdsl("check", tmp_path / "design.fab", "--fail", "pod[0]")
    assert "failed: pod[0] (3 devices, 4 links)" in done.stdout


def test_numbers_that_are_computed_for_all_at_once(tmp_path: Path) -> None:
    """Exact division, and what is no number, at an index."""
    text = "fabric f { host n[4]: BOX\n switch s[4]: BIG\n connect n[i].nic[0] to s[INDEX] }"
    f = fabric_of(text.replace("INDEX", "(6 - i * 2) / 2"), tmp_path)
    assert links_of(f) == {(f"n[{i}].nic[0]", f"s[{3 - i}].p[1]") for i in range(4)}
    for index, found in (("i == 0", "a bool"), ("i / 3", "found 1/3")):
        (fault,) = compile_text(text.replace("INDEX", index), tmp_path, verify=False).findings
        assert fault.severity is Severity.ERROR and found in fault.message, fault.message


def test_planes_of_two_declarations_are_numbered_on(tmp_path: Path) -> None:
    """Planes 1 and 2 of one, then 0 and 1 of the other behind them; a model is listed once."""
    text = """fabric f {
  host n[2]: BOX
  plane a[1..2] { switch s: BIG }
  plane b[2] { switch t: BIG }
  host m: BOX
  connect n[i].nic[0] to a[i + 1].s
  connect n[i].nic[1] to b[i].t
}
"""
    f = fabric_of(text, tmp_path)
    planes = {f.device_path(d): int(f.plane[d]) for d in range(f.device_count)}
    assert planes == {"n[0]": -1, "n[1]": -1, "a[1].s": 1, "a[2].s": 2, "b[0].t": 3, "b[1].t": 4, "m": -1}
    assert [m.name for m in f.models] == ["BOX", "BIG"]
    assert _plane_paths(f) == {2: "a[1]", 3: "a[2]", 4: "b[0]", 5: "b[1]"}


def test_cables_begin_at_what_is_no_panel(tmp_path: Path) -> None:
    """Also where a connect names the panel first."""
    text = """fabric f {
  host n[2]: BOX
  panel q: PATCH
  connect q.front[i] to n[i % 2].nic[i // 2] where i < 4
}
"""
    f = fabric_of(text, tmp_path)
    assert [f.port_path(int(p)) for p in f.cable_a] == ["n[0].nic[0]", "n[0].nic[1]", "n[1].nic[0]", "n[1].nic[1]"]
