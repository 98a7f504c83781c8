"""What a second opinion looks at: parts of a fabric, what failures leave, its units, and what each is connected to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim, selector
from tests.harness import fabric_of

GBPS = 10**9


def units_and_storage() -> Fabric:
    """Two groups of two hosts and a leaf each, two spines, a host for storage at leaf 0, and one that is connected to nothing.

    Hosts are 0 to 3, leaves 4 and 5, spines 6 and 7, storage 8 and 9. Links: hosts 0 1 2 3 (host 0 by two), then leaf 4 to
    spines 6, 7, leaf 5 to spine 7, storage 8 to leaf 4.
    """
    b = Builder("groups")
    node = b.devices("su.node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 2, 2)
    leaf = b.devices("su.leaf", b.model("switch", "SW", {"p": 8}), 2, None)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 8}), 2)
    store = b.devices("store", b.model("host", "ST", {"nic": 1}), 2, role="storage")
    for n, rate in ((0, 100), (0, 100), (1, 200), (2, 300), (3, 400)):
        b.link(b.free(node, n), b.free(leaf, n // 2), rate * GBPS)
    for i, s in ((0, 0), (0, 1), (1, 1)):
        b.link(b.free(leaf, i), b.free(spine, s))
    b.link(b.free(store, 0), b.free(leaf, 0))
    return b.build()


def ends(w: WiringGraph) -> list[tuple[int, int]]:
    """The links that are there, each with its lower device first."""
    return sorted((min(a, b), max(a, b)) for a, b, _ in w.graph.edges(keys=True))


HOSTS = [(0, 4), (0, 4), (1, 4), (2, 5), (3, 5)]
TRUNKS = [(4, 6), (4, 7), (5, 7)]


def test_the_whole_fabric() -> None:
    w = WiringGraph.whole(units_and_storage())
    assert w.core == frozenset(range(10)) and w.intact is None and w.lost == frozenset()
    assert ends(w) == sorted([*HOSTS, *TRUNKS, (4, 8)])
    assert (w.units, w.others, w.forwards) == ((0, 1, 2, 3), (8,), {4, 5, 6, 7})
    assert not w.direct and not w.chips_joined
    assert w.component == dict.fromkeys((4, 5, 6, 7), 4) and w.access == {4, 5}
    assert w.attachments == {0: [(4, 4)] * 2, 1: [(4, 4)], 2: [(5, 4)], 3: [(5, 4)], 8: [(4, 4)]}
    assert sorted(w.inner.edges(data="links")) == [(4, 6, 1), (4, 7, 1), (5, 7, 1)]
    among = w.among({0, 4, 5, 99})
    assert sorted(among.nodes) == [0, 4, 5] and list(among.edges(data=True)) == [(0, 4, {"links": 2, "rate": 200 * GBPS})]
    assert [w.kind(d) for d in (0, 4, 8)] == ["host", "switch", "host"]


def test_links_of_one_bundle() -> None:
    """Bundles 0 and 1 count as one link each where that is asked, and links without a bundle one by one."""
    f = units_and_storage()
    a, b = (np.minimum(f.device_a, f.device_b), np.maximum(f.device_a, f.device_b))
    of_host = np.flatnonzero((a == 0) & (b == 4))
    for bundle, number in ((np.where((a == 0) & (b == 4), 0, -1), 1), (np.where(b == 8, 0, np.where(a == 0, 1, -1)), 1)):
        w = WiringGraph.whole(replace(f, link_bundle=bundle.astype(np.int64)))
        assert w.among({0, 1, 4}, bundled=True).edges[0, 4] == {"links": number, "rate": 100 * GBPS}
        assert w.among({0, 1, 4}).edges[0, 4] == {"links": 2, "rate": 200 * GBPS}
        assert w.among({0, 1, 4}, bundled=True).edges[1, 4]["links"] == 1
    assert len(of_host) == 2
    apart = np.full(f.link_count, -1, dtype=np.int64)
    apart[of_host] = (0, 1)
    w = WiringGraph.whole(replace(f, link_bundle=apart))
    assert w.among({0, 4}, bundled=True).edges[0, 4]["links"] == 2


def test_parts_of_a_fabric() -> None:
    """Of a group the links inside and those of the hosts that are attached; of a device all of its links; else nothing else."""
    f = units_and_storage()
    w = WiringGraph.whole(f)
    first, second = (set(e.devices.tolist()) for e in selector(f, "su").elements)
    one, other = w.part(first, False), w.part(second, False)
    assert ends(one) == sorted([*HOSTS[:3], (4, 8)]) and one.core == {0, 1, 4} and set(one.graph) == {0, 1, 4, 8}
    assert ends(other) == HOSTS[3:] and other.core == {2, 3, 5} == set(other.graph)
    leaf = set(selector(f, "su.leaf").elements[1].devices.tolist())
    assert ends(w.part(leaf, True)) == sorted([*HOSTS[3:], (5, 7)]) and w.part(leaf, True).core == {5}
    assert ends(w.part(leaf, False)) == HOSTS[3:]
    spine = set(selector(f, "spine").elements[0].devices.tolist())
    assert ends(w.part(spine, False)) == [] and set(w.part(spine, False).graph) == {6}
    left = w.without([4], [])
    assert left.part(second, False).intact is w and left.part(second, False).lost == left.lost
    assert left.part(first, False).core == frozenset()


def test_what_failures_leave() -> None:
    """Devices with what is theirs; hosts without a link are no units then; the links that went are counted once."""
    w = WiringGraph.whole(units_and_storage())
    row = {(min(a, b), max(a, b)): r for a, b, r in w.graph.edges(keys=True)}
    rows = {r: (min(a, b), max(a, b)) for a, b, r in w.graph.edges(keys=True)}
    for devices, links, units, kept in (
        ([4], [], (2, 3), [*HOSTS[3:], (5, 7)]),
        ([7], [], (0, 1, 2, 3), [*HOSTS, (4, 6), (4, 8)]),
        ([1], [], (0, 2, 3), [*HOSTS[:2], *HOSTS[3:], *TRUNKS, (4, 8)]),
        ([], [row[1, 4], row[5, 7]], (0, 2, 3), [*HOSTS[:2], *HOSTS[3:], *TRUNKS[:2], (4, 8)]),
        ([], [row[0, 4]], (0, 1, 2, 3), [*HOSTS[1:], *TRUNKS, (4, 8)]),
        ([6], [row[2, 5]], (0, 1, 3), [*HOSTS[:3], (3, 5), *TRUNKS[1:], (4, 8)]),
        ([8], [], (0, 1, 2, 3), [*HOSTS, *TRUNKS]),
        ([], [], (0, 1, 2, 3), [*HOSTS, *TRUNKS, (4, 8)]),
    ):
        left = w.without(devices, links)
        assert (left.units, ends(left)) == (units, sorted(kept)), (devices, links)
        assert left.intact is w and {rows[r] for r in left.lost} >= {*rows.values()} - {*kept}
        assert len(left.lost) == 9 - len(kept)
        assert left.core == frozenset(range(10)) - {*devices} - ({0, 1, 2, 3} - {*units})
    again = w.without([1]).without([2])
    assert again.units == (0, 3) and again.intact is w
    assert {rows[r] for r in again.lost} >= {(2, 5)}


def test_members_of_a_set() -> None:
    """The units of a group, or all of it where it has none; those that failed are no members."""
    f = units_and_storage()
    w = WiringGraph.whole(f)
    for path, members in (("su", {0, 1, 2, 3}), ("su.leaf", {4, 5}), ("spine", {6, 7}), ("su.node", {0, 1, 2, 3})):
        assert w.members(claim(f, "throughput", of=(selector(f, path),)), "of") == members
    of_su, of_two = ((selector(f, "su"),), (selector(f, "su.leaf"), selector(f, "spine")))
    assert w.without([4]).members(claim(f, "throughput", of=of_su), "of") == {2, 3}
    assert w.without([4]).members(claim(f, "throughput", of_to=of_two), "of_to") == {5, 6, 7}
    assert w.members(claim(f, "throughput"), "at") == frozenset()


BOXES = """fabric f {
  host box[2]: TRAY
  switch sw[2]: SW
  connect box[b].gpu[g].p to sw[g]
}
model host TRAY { chip gpu[2]: CHIP }
model chip CHIP { port p: 400Gbps }
model switch SW { port p[1..8]: 400Gbps }
"""


def test_hosts_with_chips_that_are_wired(tmp_path: Path) -> None:
    """Chips with links are units in the place of their hosts; a host fails with its chips."""
    w = WiringGraph.whole(fabric_of(BOXES, tmp_path, models=False))
    names = {d: w.fabric.device_name(d) for d in w.graph}
    chips = {d for d, name in names.items() if "gpu" in name}
    boxes = [d for d, name in sorted(names.items()) if w.kind(d) == "host"]
    assert len(chips) == 4 and {*w.units} == chips and w.others == () and not w.direct
    assert len(w.contents([boxes[0]])) == 3 and w.contents([boxes[0]]) - {boxes[0]} <= chips
    assert w.contents([]) == set()
    left = w.without([boxes[0]])
    assert {*left.units} == chips - w.contents([boxes[0]]) and left.graph.number_of_edges() == 2


def test_chips_that_are_joined_forward_whatever_fails(tmp_path: Path) -> None:
    """A chip in the middle of two and one at a switch; without the two links between chips, chips still forward."""
    text = """fabric f {
  chip a: C
  chip b: C
  chip c: C
  switch s: SW
  connect a.p[0] to b.p[0]
  connect b.p[1] to c.p[0]
  connect c.p[1] to s
}
model chip C { port p[0..1]: 400Gbps }
model switch SW { port p[1..8]: 400Gbps }
"""
    w = WiringGraph.whole(fabric_of(text, tmp_path, models=False))
    assert w.direct and w.chips_joined and w.units == (0, 1, 2) and w.forwards == {0, 1, 2, 3}
    assert w.attachments == {d: [(d, 0)] for d in (0, 1, 2)}
    left = w.without([1])
    assert left.direct and left.chips_joined and left.units == (2,) and left.forwards == {2, 3}


def test_hosts_that_are_linked_to_each_other() -> None:
    """A link of two hosts that do not forward is a component of its own, with a number below zero."""
    b = Builder("pair")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 3)
    b.link(b.port(node, 0, "nic", 0), b.port(node, 1, "nic", 0))
    b.link(b.port(node, 1, "nic", 1), b.port(node, 2, "nic", 0))
    w = WiringGraph.whole(b.build())
    assert w.attachments == {0: [(-1, -1)], 1: [(-1, -1), (-2, -2)], 2: [(-2, -2)]} and w.access == frozenset()
