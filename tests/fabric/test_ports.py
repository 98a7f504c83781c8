"""Who gets which port: the four rules, holes, copies, growth."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.emit.build import build_files
from tdsl.fabric.as_networkx import FORMATS
from tdsl.fabric.graph import Fabric
from tdsl.fabric.ports import LinkEnds, PortTable
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fault import Fault
from tests.harness import compile_text, fabric_of, links_of, places


def test_lowest_free_by_far_coordinates(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch leaf[2]: SW; switch spine[3]: SW; connect leaf[*] to spine[*] each }", tmp_path)
    assert links_of(f) == {(f"leaf[{a}].p[{b + 1}]", f"spine[{b}].p[{a + 1}]") for a in range(2) for b in range(3)}


def test_copies_come_first_with_room_between(tmp_path: Path) -> None:
    """Copy c begins c x (8 ports // 2 copies) ports above the lowest."""
    f = fabric_of("fabric f { switch leaf[2]: SW; switch spine[3]: SW; connect leaf[*] to spine[*] each x 2 }", tmp_path)
    expected = {
        (f"leaf[{a}].p[{4 * c + b + 1}]", f"spine[{b}].p[{4 * c + a + 1}]") for a in range(2) for b in range(3) for c in range(2)
    }
    assert links_of(f) == expected


def test_spread_takes_what_others_leave(tmp_path: Path) -> None:
    text = """fabric f {
      switch leaf[2]: SW
      switch spine[2]: BIG
      connect leaf[*] to spine[*] spread
      host box[4]: BOX
      connect box[b].nic[i] to leaf[i]
    }"""
    f = fabric_of(text, tmp_path)
    assert {(a, b) for a, b in links_of(f) if "box" in a} == {
        (f"box[{b}].nic[{i}]", f"leaf[{i}].p[{b + 1}]") for b in range(4) for i in range(2)
    }
    assert sum("spine" in b for _, b in links_of(f)) == 8


def test_written_ports_and_holes(tmp_path: Path) -> None:
    """An omitted host's ports stay reserved; only a port written in full may use them."""
    text = """fabric f {
      switch leaf: SW
      host box[3]: BOX
      connect box[b].nic[(0)] to leaf
      omit box[1]
      host late: BOX
      connect late.nic[(0)] to leaf
      host wanted: BOX
      connect wanted.nic[(0)] to leaf.p[2]
    }"""
    assert links_of(fabric_of(text, tmp_path)) == {
        ("box[0].nic[0]", "leaf.p[1]"),
        ("wanted.nic[0]", "leaf.p[2]"),
        ("box[2].nic[0]", "leaf.p[3]"),
        ("late.nic[0]", "leaf.p[4]"),
    }


def test_n_of_m_keeps_room(tmp_path: Path) -> None:
    def text(n: int) -> str:
        return f"""fabric f {{
          group g[{n} of 3] {{ host box[2]: BOX; switch leaf: SW; connect box[b].nic[(0)] to leaf }}
          switch spine: SW
          connect g[*].leaf to spine spread x 2
        }}"""

    small, large = (links_of(fabric_of(text(n), tmp_path)) for n in (1, 3))
    assert small < large and len(small) == 4 and len(large) == 12


def test_part_of_a_class(tmp_path: Path) -> None:
    text = "fabric f { switch leaf[2]: SW; switch spine: SW; connect leaf[*].p[5..8] to spine spread x 2 }"
    assert {a for a, _ in links_of(fabric_of(text, tmp_path))} == {f"leaf[{i}].p[{p}]" for i in range(2) for p in (5, 7)}


def test_one_pool_for_both_ends_of_a_population(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch r[4]: SW; connect r[*] ring }", tmp_path)
    assert len(links_of(f)) == 4
    used = [p for pair in links_of(f) for p in pair]
    assert sorted(used) == sorted(f"r[{i}].p[{p}]" for i in range(4) for p in (1, 2))


def test_torus_uses_two_ports_a_dimension(tmp_path: Path) -> None:
    f = fabric_of("fabric f { chip c[3, 3]: GPU; connect c[*, *] torus }", tmp_path)
    along = {(f"c[{x}, {y}].nv[0]", f"c[{(x + 1) % 3}, {y}].nv[1]") for x in range(3) for y in range(3)}
    across = {(f"c[{x}, {y}].nv[2]", f"c[{x}, {(y + 1) % 3}].nv[3]") for x in range(3) for y in range(3)}
    unordered = {frozenset(p) for p in links_of(f)}
    assert unordered == {frozenset(p) for p in along | across}


@given(units=st.integers(1, 4), hosts=st.integers(1, 8), spines=st.sampled_from([1, 2, 4]))
@settings(max_examples=60)
def test_growth_keeps_what_stands(tmp_path_factory: pytest.TempPathFactory, units: int, hosts: int, spines: int) -> None:
    """Adding a unit at the end keeps every port, as long as links per pair do not change."""

    def text(n: int) -> str:
        return f"""fabric f {{
          group su[{n}] {{ host box[{hosts}]: BOX; switch leaf[2]: BIG; connect box[b].nic[i] to leaf[i] }}
          switch spine[{spines}]: BIG
          connect su[*].leaf[*] to spine[*] spread x {spines}
        }}"""

    folder = tmp_path_factory.mktemp("growth")
    assert links_of(fabric_of(text(units), folder)) < links_of(fabric_of(text(units + 1), folder))


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=80)
def test_no_port_twice_and_counts_by_hand(
    tmp_path_factory: pytest.TempPathFactory, units: int, hosts: int, leaves: int, copies: int
) -> None:
    text = f"""fabric f {{
      group su[{units}] {{
        host node[{hosts}]: NODE
        switch leaf[4]: BIG
        connect node[n].nic[r] to leaf[r]
      }}
      switch spine[{leaves}]: BIG
      connect su[*].leaf[*] to spine[*] each x {copies}
    }}"""
    result = compile_text(text, tmp_path_factory.mktemp("count"), verify=False)
    if 4 * units * copies > 64:
        assert [d.code for d in result.findings] == ["E0452"]
        return
    f = result.designs[0].fabric
    assert f is not None and f.link_count == units * hosts * 4 + units * 4 * leaves * copies
    ports = [*f.link_a.tolist(), *f.link_b.tolist()]
    assert len(ports) == len(set(ports))


def test_a_refused_statement_takes_no_ports(tmp_path: Path) -> None:
    text = """fabric f {
      switch a[2]: SW
      switch b: SW
      connect a[i].p[1] to b.p[i + 8]
      connect a[*] to b each
    }"""
    result = compile_text(text, tmp_path, verify=False)
    assert places(result.findings) == [("E0108", 4)]
    fabric = result.designs[0].fabric
    assert fabric is not None and not fabric.complete
    assert links_of(fabric) == {("a[0].p[1]", "b.p[1]"), ("a[1].p[1]", "b.p[2]")}


def asking(f: Fabric, local: list[int], copies: list[int], candidates: list[list[int] | None], choice: list[int]) -> LinkEnds:
    """Ends of links at the first device, with the places they may take."""
    count = len(local)
    span = f.origin.span
    found = [None if c is None else np.array(c) for c in candidates]
    return LinkEnds(
        np.zeros(count, dtype=np.int64), ["p"] * len(candidates), found, [span] * len(candidates), np.array(choice),
        np.array(local), np.arange(count), np.array(copies),
    )  # fmt: skip


def claimed(tmp_path: Path, *given: list[Any]) -> list[int]:
    """The ports that ends get, on a switch of eight; afterwards all are free again."""
    f = fabric_of("fabric f { switch a: SW }", tmp_path)
    ports = PortTable(f.sets, f.models, f.device_model, f.built)
    try:
        return [int(p) for p in ports.claim(asking(f, *given), 0, f.origin.span)]
    finally:
        assert not ports.state.any()


def test_ranges_of_one_connect_that_overlap_take_turns(tmp_path: Path) -> None:
    assert claimed(tmp_path, [-1] * 5, [0] * 5, [[0, 1, 2, 3], [2, 3, 4, 5]], [0, 0, 0, 1, 1]) == [0, 1, 2, 3, 4]
    assert claimed(tmp_path, [-1] * 4, [0] * 4, [[0, 1], [1, 2, 3]], [1, 0, 1, 0]) == [2, 0, 3, 1]
    with pytest.raises(Fault) as refused:
        claimed(tmp_path, [-1] * 3, [0] * 3, [[0, 1], [0, 1]], [0, 0, 1])
    assert refused.value.diagnostic.code == "E0452"


def test_an_open_end_passes_by_what_the_same_connect_writes(tmp_path: Path) -> None:
    assert claimed(tmp_path, [0, -1, -1], [0] * 3, [None], [0] * 3) == [0, 1, 2]


def test_unequal_numbers_of_copies_share_no_port(tmp_path: Path) -> None:
    """Three links of the first copy and one of the second: the second begins where there is room."""
    assert claimed(tmp_path, [-1] * 4, [0, 0, 0, 1], [[0, 1, 2, 3]], [0] * 4) == [0, 1, 2, 3]
    assert claimed(tmp_path, [-1] * 8, [0] * 6 + [1] * 2, [None], [0] * 8) == list(range(8))
    assert claimed(tmp_path, [-1] * 3, [0, 2, 2], [None], [0] * 3) == [0, 4, 5]


def test_two_links_of_one_connect_on_one_written_port_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault) as refused:
        claimed(tmp_path, [3, 4, 3], [0] * 3, [None], [0] * 3)
    assert refused.value.diagnostic.code == "E0451" and "a.p[4] would get two links from this connect" in str(refused.value)


def test_links_through_a_panel(tmp_path: Path) -> None:
    """A's ends use the panel's first class and B's the second, each link its own pair; every leg is a cable of its own."""
    text = "fabric f { switch a[2]: SW; switch b[2]: SW; panel q: PATCH; connect a[*] to b[*] each via q }"
    f = fabric_of(text, tmp_path)
    front = [f.port_path(int(p)) for p in f.link_via_a]
    back = [f.port_path(int(p)) for p in f.link_via_b]
    assert sorted(front) == [f"q.front[{i}]" for i in range(4)] and sorted(back) == [f"q.back[{i}]" for i in range(4)]
    legs = {frozenset((f.port_path(int(a)), f.port_path(int(b)))) for a, b in zip(f.cable_a, f.cable_b, strict=True)}
    ends = zip(f.link_a, front, strict=True), zip(f.link_b, back, strict=True)
    assert legs == {frozenset((f.port_path(int(port)), via)) for side in ends for port, via in side} and len(legs) == 8
    rows = list(csv.DictReader(build_files(f, ["cabling"], Diagnostics())["cabling/cables.csv"].decode().splitlines()))
    assert len({r["cable_id"] for r in rows}) == len(rows) == 8


def test_the_limit_of_links_is_of_all_connects_together(tmp_path: Path) -> None:
    text = "fabric f { switch a[2]: SW; switch b[2]: SW; connect a[*] to b[*] each; connect a[*] to b[*] each }"
    assert not [d for d in compile_text(text, tmp_path, verify=False, max_links=8).findings if d.code == "E0116"]
    (refused,) = [d for d in compile_text(text, tmp_path, verify=False, max_links=7).findings if d.code == "E0116"]
    assert "the design has 8 links; the limit is 7" in refused.message


@pytest.mark.parametrize(("value", "fine"), [("n // 2", True), ("n == 2", False), ('"two"', False), ("n * 1m", False)])
def test_the_result_of_a_function_has_its_type(value: str, fine: bool, tmp_path: Path) -> None:
    text = f"def half(n: int): int = {value}\nfabric f {{ switch a[half(4)]: SW }}"
    codes = [d.code for d in compile_text(text, tmp_path, verify=False).findings]
    assert codes == ([] if fine else ["E0103"])


# ------------------------------------------------------------ figures and words, told by hand


@pytest.mark.parametrize(("near", "ports", "far", "even"), [(5, 3, 4, "3 or 5"), (6, 7, 5, "1 or 7"), (3, 7, 20, "7 or 21")])
def test_numbers_that_would_be_even(near: int, ports: int, far: int, even: str, tmp_path: Path) -> None:
    """The next below and above that divide the ports of one, or among which the ports of all go evenly."""
    text = f"fabric f {{ switch a[{near}]: SW; switch b[{far}]: BIG; connect a[*] to b[*] spread x {ports} }}"
    (found,) = compile_text(text, tmp_path, verify=False).findings
    assert found.code == "E0454" and found.help is not None and found.help.startswith(f"{even} b would be even;")


def test_hosts_join_no_parts(tmp_path: Path) -> None:
    """Two pairs of switches: a host on both passes no traffic on, a link between them does."""
    text = "fabric f {{ host h: BOX; switch a[2]: SW; switch b[2]: SW; connect a[*] to b[*] spread x 1; {} }}"
    for join, codes in (("connect h.nic[r] to a[r]", ["E0458"]), ("connect a[0] to a[1]", [])):
        assert [d.code for d in compile_text(text.format(join), tmp_path, verify=False).findings] == codes


def test_a_list_of_indices_counts_from_the_first(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch a[2..5]: SW; switch b: SW; connect a[[2, 5]] to b each }", tmp_path)
    assert {a.partition(".")[0] for a, _ in links_of(f)} == {"a[2]", "a[5]"}


def test_what_nothing_reaches_has_no_tier(tmp_path: Path) -> None:
    """Tier -1 for a panel and a switch without links; the container of a chip is its host, and of others none: -1."""
    text = """fabric f {
      host h[2]: BOX; switch a[2]: SW; switch lone: SW; panel q: PATCH
      connect h[n].nic[r] to a[r]; connect a[0] to a[1] via q
    }"""
    f = fabric_of(text.replace("; ", "\n"), tmp_path)
    assert dict(zip(map(f.device_path, range(6)), f.tier.tolist(), strict=True)) == {
        "h[0]": 0, "h[1]": 0, "a[0]": 1, "a[1]": 1, "lone": -1, "q": -1,
    }  # fmt: skip
    assert f.container.tolist() == [-1] * 6


def test_characters_that_xml_cannot_hold(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch a: SW; switch b: SW; connect a to b }", tmp_path)
    f.names = {0: "a\x1b[31m"}
    text = FORMATS["graphml"](f.graph())
    assert "\x1b" not in text and "a\ufffd[31m" in {
        v for _, facts in nx.parse_graphml(text).nodes(data=True) for v in facts.values()
    }
