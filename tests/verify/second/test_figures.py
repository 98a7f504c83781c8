"""The second opinion's figures on small random networks, against plain definitions over all pairs of hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.claims import Selector
from tdsl.fabric.graph import Fabric
from tdsl.verify.second import graph_figures
from tdsl.verify.second.answer import Limits, NoOpinion, SecondAnswer
from tdsl.verify.second.graph_figures import FailingElement
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, random_planes, selector, torus
from tests.harness import fabric_of
from tests.verify.second.made import star, two_leaves

LIMITS = Limits()


@pytest.mark.parametrize("sizes", [(3,), (5,), (3, 3), (4, 3)])
def test_tori(sizes: tuple[int, ...]) -> None:
    """Two links a dimension, each of them a way of its own."""
    w = WiringGraph.whole(torus(*sizes).build())
    assert graph_figures.edge_redundancy_by_networkx(w, None, LIMITS).lower == 2 * len(sizes)
    assert graph_figures.node_redundancy_by_networkx(w, None, LIMITS).lower == 2 * len(sizes)
    assert graph_figures.diameter_by_networkx(w, None, LIMITS).lower == sum(n // 2 for n in sizes)


RATE = 400 * GBPS


CAGED = """
fabric f {
  host node[3]: NODE
  switch big[2]: BIG
  connect node[n].nic[r] to big[r % 2]
  connect big[0] to big[1] x 4
}
"""


def ends(f: Fabric) -> list[tuple[int, int]]:
    """The ports of every link."""
    return list(zip(f.link_a.tolist(), f.link_b.tolist(), strict=True))


def of_ports(f: Fabric, ports: list[int]) -> tuple[Selector, ...]:
    """Paths that name ports."""
    return tuple(Selector(f.port_path(p), "host", (), "nic", np.array([p])) for p in ports)


@pytest.fixture(scope="module")
def caged(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(CAGED, tmp_path_factory.mktemp("caged"))


@pytest.mark.parametrize("of", ["node", "big", "ports", "one"])
@pytest.mark.parametrize("to", ["", "big", "node", "one"])
@pytest.mark.parametrize("what", ["links", "ports", "cages", ""])
def test_links_ports_and_cages_that_fail(caged: Fabric, what: str, of: str, to: str) -> None:
    f = caged
    w = WiringGraph.whole(f)
    device = f.port_device.tolist()
    both = ends(f)
    rows = sorted(both)[0:5:2]

    def chosen(word: str) -> tuple[tuple[Selector, ...], set[int]]:
        if word == "ports":
            ports = [a for a, _ in rows]
            return of_ports(f, ports), set(ports)
        if word == "one":
            first = selector(f, "node")
            first = replace(first, elements=first.elements[1:2], text="node[1]")
            return (first,), {p for p, d in enumerate(device) if d == int(first.elements[0].devices[0])}
        named = selector(f, word)
        return (named,), {p for p, d in enumerate(device) if f.set_of(d).name == word}

    source, here = chosen(of)
    goal, there = chosen(to) if to else ((), set(range(len(device))))
    asked = claim(f, "blast_radius", of=source, of_to=goal, any_of=what)
    failed = {row for row, (a, b) in enumerate(both) if (a in here and b in there) or (b in here and a in there)}
    found = graph_figures.failing_elements_of_claim(w, asked)
    if what == "" and not to and of != "ports":
        assert [set(e.devices) for e in found] == [{int(d) for d in e.devices} for s in source for e in s.elements]
        assert all(not e.links for e in found)
        return
    assert all(not e.devices for e in found)
    if what in ("", "links"):
        assert sorted(sorted(e.links) for e in found) == [[row] for row in sorted(failed)]
        return
    expected: set[tuple[int, frozenset[int]]] = set()
    for row in failed:
        for port, far in (both[row], both[row][::-1]):
            if port in here and far in there:
                cage = f.port_cage(port)
                same = [p for p in range(len(device)) if device[p] == device[port] and f.port_cage(p) == cage]
                held = {r for r, pair in enumerate(both) if set(pair) & set(same)} if what == "cages" and cage else {row}
                expected.add((device[port], frozenset(held)))
    assert sorted(sorted(e.links) for e in found) == sorted(sorted(links) for _, links in expected)


def test_bundles_that_fail(caged: Fabric) -> None:
    """Links 0 and 3 are one bundle, 1 and 2 another, the rest are in none; a bundle fails where one of its links is named."""
    number = np.full(caged.link_count, -1)
    number[[0, 3]], number[[1, 2]] = 0, 1
    f = replace(caged, link_bundle=number)
    w = WiringGraph.whole(f)
    node = selector(f, "node")

    def bundles(*ports: int) -> list[FailingElement]:
        return graph_figures.failing_elements_of_claim(w, claim(f, "survives", of=of_ports(f, [*ports]), any_of="bundles"))

    both = ends(f)
    zero, one = FailingElement(links=frozenset((0, 3))), FailingElement(links=frozenset((1, 2)))
    assert bundles(both[3][0]) == [zero] and bundles(both[1][1]) == [one]
    assert bundles(both[2][0], both[0][0]) == [zero, one]
    assert bundles(both[5][0]) == []
    assert graph_figures.failing_elements_of_claim(w, claim(f, "survives", of=(node,), any_of="bundles")) == [zero, one]


def mixed(seed: int) -> Fabric:
    """Hosts with up to two links to switches that are partly joined, and a storage host that may have one."""
    r = Random(seed)
    b = Builder("mixed")
    hosts = r.randint(1, 3)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), hosts)
    store = b.devices("store", b.model("host", "STORE", {"nic": 1}), 1, role="storage")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 16}), 3)
    at = r.sample(range(3), 2)
    for n in range(hosts):
        for i in range(2):
            if r.random() < 0.8:
                b.link(b.port(node, n, "nic", i), b.free(sw, at[r.choice((0, i))]))
    if r.random() < 0.6:
        b.link(b.port(store, 0), b.free(sw, r.choice((*at, *at, *range(3)))))
    for x, y in ((0, 1), (1, 2)):
        if r.random() < 0.4:
            b.link(b.free(sw, x), b.free(sw, y))
    return b.build()


def reached(f: Fabric, of_ports: bool) -> bool:
    """Whether every host has a link, each pair of hosts (or of their ports) a switch that both reach, and storage a host."""
    pairs = list(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True))
    part = {d: d for d in range(f.device_count)}
    for _ in range(f.device_count):
        for x, y in pairs:
            if f.set_of(x).kind == f.set_of(y).kind == "switch":
                part[x] = part[y] = min(part[x], part[y])
    at: dict[int, list[int]] = {d: [] for d in range(f.device_count)}
    for x, y in (*pairs, *((y, x) for x, y in pairs)):
        if f.set_of(x).kind == "host":
            at[x].append(part[y])
    units = [d for d in at if f.set_of(d).role == "accelerator"]
    served = {c for u in units for c in at[u]}
    if not all(at[u] for u in units):
        return False
    if any(not served & {*at[d]} for d in at if f.set_of(d).role == "storage" and at[d]):
        return False
    return len(served) < 2 if of_ports else all({*at[u]} & {*at[v]} for u in units for v in units)


def test_reachability_of_random_networks() -> None:
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(120):
        f = mixed(seed)
        for of_ports in (False, True):
            given = {"of": (Selector("ports", "", ()),)} if of_ports else {}
            found = graph_figures.reachability_by_networkx(WiringGraph.whole(f), claim(f, "reachability", **given), LIMITS)
            assert found.holds is reached(f, of_ports), (seed, of_ports)
            seen[of_ports, found.holds] += 1
    assert len(seen) == 4 and min(seen.values()) > 15, seen


def test_planes_of_random_switches() -> None:
    """No path over switches joins two that are in different planes."""
    seen: Counter[bool] = Counter()
    for seed in range(60):
        f = random_planes(seed, planes=2 + seed % 2, each=2, outside=1, cables=4).build()
        reached = {d: {d} for d in range(f.device_count)}
        for _ in range(f.device_count):
            for a, b in zip(f.device_a.tolist(), f.device_b.tolist(), strict=True):
                reached[a] |= reached[b]
                reached[b] |= reached[a]
        plane = f.plane.tolist()
        apart = all(len({plane[d] for d in part if plane[d] >= 0}) < 2 for part in reached.values())
        assert graph_figures.plane_isolation_by_networkx(WiringGraph.whole(f), None, LIMITS).holds is apart, seed
        seen[apart] += 1
    assert min(seen[True], seen[False]) > 10, seen


def figure(method: Callable[..., SecondAnswer], fabric: Fabric, **given: Any) -> SecondAnswer:
    """The second figure of a check without arguments."""
    return method(WiringGraph.whole(fabric), claim(fabric, method.__name__, report=True, **given), LIMITS)


def apart() -> Fabric:
    """Two hosts, each at a switch of its own, and no link between the switches."""
    return two_leaves(0).build()


def pair() -> Fabric:
    """Two hosts joined by two cables, without a switch."""
    b = Builder("pair")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 2)
    for i in range(2):
        b.link(b.port(node, 0, "nic", i), b.port(node, 1, "nic", i))
    return b.build()


@pytest.mark.parametrize(
    ("method", "fabric", "given", "why"),
    [
        (graph_figures.diameter_by_networkx, pair(), {}, "no end is attached to a switch"),
        (graph_figures.mean_hops_by_networkx, pair(), {}, "no two ends reach each other"),
        (graph_figures.mean_hops_by_networkx, star(RATE, 0).build(), {}, "no two ends reach each other"),
        (graph_figures.edge_redundancy_by_networkx, star(RATE).build(), {}, "there are fewer than two units"),
        (graph_figures.node_redundancy_by_networkx, star(RATE).build(), {}, "there are fewer than two units"),
        (
            graph_figures.blast_radius_by_networkx,
            pair(),
            {"through": "scaleup"},
            "scale-up domains have no second method",
        ),
        (
            graph_figures.blast_radius_by_networkx,
            pair(),
            {"any_of": "links"},
            "only devices and groups are failed a second time",
        ),
        (graph_figures.oversubscription_by_networkx, torus(3).build(), {}, "the fabric is direct: it has no tiers"),
        (
            graph_figures.oversubscription_by_networkx,
            two_leaves().build(),
            {},
            "no switch looked at has links to a tier above it",
        ),
    ],
)
def test_figures_without_an_answer(method: Callable[..., SecondAnswer], fabric: Fabric, given: dict[str, Any], why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        figure(method, fabric, **given)


@pytest.mark.parametrize(("trunk", "ratio"), [(0, float("inf")), (1, Fraction(2)), (2, Fraction(1)), (4, Fraction(1, 2))])
def test_taper_of_a_leaf(trunk: int, ratio: Fraction | float) -> None:
    """A leaf has 2 x 400G to hosts and `trunk` x 400G to the other leaf."""
    fabric = two_leaves(trunk).build()
    assert figure(graph_figures.taper_by_networkx, fabric, of=(selector(fabric, "leaf"),)).lower == ratio


def test_blast_radius_of_a_leaf() -> None:
    """With a leaf its two hosts lose their path; the other two still reach each other."""
    fabric = two_leaves().build()
    assert figure(graph_figures.blast_radius_by_networkx, fabric, of=(selector(fabric, "leaf"),)).lower == 2
    assert figure(graph_figures.blast_radius_by_networkx, fabric, of=(selector(fabric, "node"),)).lower == 1
    whole = star(RATE, RATE, RATE).build()
    assert figure(graph_figures.blast_radius_by_networkx, whole, of=(selector(whole, "sw"),)).lower == 3
