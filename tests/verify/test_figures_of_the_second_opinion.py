"""Oversubscription and the elements of failures by the second opinion, against counts over the links of small fabrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tdsl.fabric.claims import Selector
from tdsl.fabric.graph import Fabric
from tdsl.verify.second import graph_figures
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion
from tdsl.verify.second.graph_figures import FailingElement
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, random_layers, random_planes, selector, torus
from tests.harness import each, fabric_of

LIMITS = Limits()
RATE = 400 * GBPS

# ---------------------------------------------------------------- oversubscription


def tiers(f: Fabric, pairs: list[tuple[int, int]]) -> dict[int, int]:
    """The distance of every device from the nearest host, over these pairs; devices that none reaches are left out."""
    found = {d: 0 for d in range(f.device_count) if f.set_of(d).kind == "host"}
    while more := {b: found[a] + 1 for x in pairs for a, b in (x, x[::-1]) if a in found and b not in found}:
        low = min(more.values())
        found |= {d: low for d, far in more.items() if far == low}
    return found


def oversubscribed(seed: int, omitted: int) -> str:
    """Compare the ratio of random layers of which some hosts are planned; what came out of it."""
    b = random_layers(seed)
    rng = Random(seed)
    hosts = b.sets[0]
    for n in rng.sample(range(hosts.count), min(omitted, hosts.count - 1)):
        b.omit(hosts.first + n)
    f = b.build()
    w = WiringGraph.whole(f)
    links = list(zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True))
    planned = [(int(f.port_device[a]), int(f.port_device[p])) for a, p, _ in b.absent]
    tier = tiers(f, [(x, y) for x, y, _ in links] + planned)
    near = tiers(f, [(x, y) for x, y, _ in links])
    down: Counter[int] = Counter(dict.fromkeys(range(f.device_count), 0))
    up: Counter[int] = Counter()
    for x, y, rate in links:
        low, high = sorted((x, y), key=lambda d: tier.get(d, -1))
        if 0 <= tier.get(low, -1) < tier[high]:
            down[high] += rate
            up[low] += rate
    for _, switch in planned:
        down[switch] += RATE  # what the port of the switch carries
    switches = [d for d in range(f.device_count) if f.set_of(d).kind == "switch"]
    served = {d for x, y, _ in links for d, end in ((x, y), (y, x)) if f.set_of(end).kind == "host"}
    names = [s.name for s in f.sets if s.kind == "switch"]
    at = rng.choice([None, *names])
    asked = claim(f, "oversubscription", at=(selector(f, at),) if at else ())
    judged = [d for d in switches if at is None or f.set_of(d).name == at]
    if any(tier.get(d) != near.get(d) for d in switches):
        with pytest.raises(NoOpinion, match=r"^the tiers are not the distances from the hosts that are built$"):
            graph_figures.oversubscription_by_networkx(w, asked, LIMITS)
        return "other tiers"
    if any(switch not in served for _, switch in planned):
        with pytest.raises(NoOpinion, match=r"^a switch keeps ports for devices that are not built and has no host yet$"):
            graph_figures.oversubscription_by_networkx(w, asked, LIMITS)
        return "no host yet"
    full = {tier[d] for d in switches if up[d]}
    if any(tier.get(d) in full and down[d] and not up[d] for d in judged):
        assert graph_figures.oversubscription_by_networkx(w, asked, LIMITS).lower == float("inf")
        return "no link up"
    ratios = [Fraction(down[d], up[d]) for d in judged if up[d]]
    if not ratios:
        with pytest.raises(NoOpinion, match=r"^no switch looked at has links to a tier above it$"):
            graph_figures.oversubscription_by_networkx(w, asked, LIMITS)
        return "the last tier"
    found = graph_figures.oversubscription_by_networkx(w, asked, LIMITS)
    assert (found.lower, found.upper, found.by) == (max(ratios), max(ratios), "networkx")
    return "compared"


@pytest.mark.parametrize("omitted", [0, 1, 2])
def test_oversubscription_of_random_layers(omitted: int) -> None:
    seen: Counter[str] = Counter()

    def rule(seed: int) -> None:
        seen[oversubscribed(seed, omitted)] += 1

    each(range(35), rule)
    assert min(seen[x] for x in ("compared", "no link up", "the last tier")) > 1, seen
    assert not omitted or seen["other tiers"] + seen["no host yet"] > 1, seen


def planned(rate: int | None, switch: bool = False) -> Fabric:
    """Two leaves with two hosts each and one link to a spine; a host or the spine's neighbour is planned."""
    b = Builder("planned")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": {"shape": 8, "rate": rate}}), 2)
    spine = b.devices("spine", b.model("switch", "SP", {"p": {"shape": 8, "rate": rate}}), 2)
    for n in range(4):
        b.link(b.port(node, n), b.free(leaf, n // 2))
    for n in range(2):
        for s in range(2):
            b.link(b.free(leaf, n), b.free(spine, s))
    b.omit(spine.first + 1 if switch else node.first + 3)
    return b.build()


def test_ports_kept_for_planned_devices() -> None:
    """Two ports of 400G for hosts, one of them planned, and two links up; a port that states no rate, and a planned switch."""
    fabric = planned(800 * GBPS)
    w = WiringGraph.whole(fabric)
    assert graph_figures._rate_kept_for_endpoints(w) == {5: 800 * GBPS}
    assert graph_figures.oversubscription_by_networkx(w, None, LIMITS).lower == Fraction(400 + 800, 800)
    for made, why in (
        (planned(None), "a port that is kept has no rate"),
        (planned(RATE, switch=True), "ports are kept for switches that are not built"),
    ):
        with pytest.raises(NoOpinion, match=rf"^{why}$"):
            graph_figures._rate_kept_for_endpoints(WiringGraph.whole(made))
    two = planned(RATE)
    two.port_state[two.port_base[5] + 5 : two.port_base[5] + 7] = two.port_state[two.port_base[5] + 1]
    assert graph_figures._rate_kept_for_endpoints(WiringGraph.whole(two)) == {5: 3 * RATE}


def test_links_that_failed_are_not_counted() -> None:
    """Without one of the two spines each leaf has 2 x 400G down and 400G up."""
    b = Builder("spines")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 8}), 2)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 8}), 2)
    for n in range(4):
        b.link(b.port(node, n), b.free(leaf, n // 2))
    for n in range(2):
        for s in range(2):
            b.link(b.free(leaf, n), b.free(spine, s))
    f = b.build()
    w = WiringGraph.whole(f)
    assert graph_figures.oversubscription_by_networkx(w, None, LIMITS).lower == 1
    assert graph_figures.oversubscription_by_networkx(w.without([spine.first]), None, LIMITS).lower == 2
    assert graph_figures.oversubscription_by_networkx(w.without([], [4]), None, LIMITS).lower == 2
    spares = replace(claim(f, "oversubscription"), of_intact=False, of_active=True)
    with pytest.raises(NoOpinion, match=r"^spares are left out$"):
        graph_figures.oversubscription_by_networkx(w, spares, LIMITS)


# ---------------------------------------------------------------- elements of failures


@pytest.mark.parametrize("swap", [False, True])
def test_links_with_an_end_in_sets_of_ports(swap: bool) -> None:
    def between(a: int, b: int, there: set[int] | None) -> bool:
        return graph_figures._link_joins_sets((b, a) if swap else (a, b), {1, 2}, there)

    assert [between(a, b, None) for a, b in ((1, 7), (1, 2), (7, 8))] == [True, True, False]
    assert [between(a, b, {7, 8}) for a, b in ((1, 7), (2, 8), (1, 2), (7, 8), (1, 9), (9, 8))] == [True, True, *[False] * 4]


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


def test_kinds_of_failures_without_a_second_method(caged: Fabric) -> None:
    asked = claim(caged, "blast_radius", of=(selector(caged, "node"),), any_of="fans")
    with pytest.raises(NoOpinion, match=r"^failures of fans have no second method$"):
        graph_figures.failing_elements_of_claim(WiringGraph.whole(caged), asked)
    node = selector(caged, "node")
    for given in ({"of": of_ports(caged, [0])}, {"of": (node,), "of_to": (node,)}, {"of": (node,), "any_of": "links"}):
        asked = claim(caged, "blast_radius", **given)
        with pytest.raises(NoOpinion, match=r"^only devices and groups are failed a second time$"):
            graph_figures.blast_radius_by_networkx(WiringGraph.whole(caged), asked, LIMITS)


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


# ---------------------------------------------------------------- sizes that are refused


def test_steps_of_redundancies() -> None:
    """A torus of 3 x 3 chips has 18 links; hosts with two links each to two switches have one kind."""
    chips = WiringGraph.whole(torus(3, 3).build())
    b = Builder("twice")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 3)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 2)
    for n in range(3):
        for i in range(2):
            b.link(b.port(node, n, "nic", i), b.free(sw, i))
    hosts = WiringGraph.whole(b.build())
    for method, w, steps, size in (
        (graph_figures.edge_redundancy_by_networkx, chips, 8 * 4 * 19 * 5, "8 pairs, 18 links"),
        (graph_figures.edge_redundancy_by_networkx, hosts, 1 * 4 * 7 * 3, "1 pairs, 6 links"),
        (graph_figures.node_redundancy_by_networkx, chips, (9 + 16) * 6 * 28 * 5, "9 units, 28 links"),
        (graph_figures.node_redundancy_by_networkx, hosts, 1 * 8 * 12 * 3, "1 pairs, 12 links"),
        (graph_figures.diameter_by_networkx, hosts, 2 * (0 + 2), "2 sources, 0 pairs with links"),
        (graph_figures.mean_hops_by_networkx, hosts, 2**2, "2 switches with ends"),
        (graph_figures.reachability_by_networkx, hosts, 1, "1 kinds of ends"),
    ):
        assert method(w, None, Limits(steps=steps)).by == "networkx"
        with pytest.raises(MethodTooLarge) as refused:
            method(w, None, Limits(steps=steps - 1))
        assert str(refused.value) == f"too large for networkx: {size}, {steps:,} steps; the limit is {steps - 1:,}"


# ---------------------------------------------------------------- reachability


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


def test_a_host_without_a_link_reaches_nothing() -> None:
    """Nothing else has to be looked at, unless all ports are asked for."""
    b = Builder("bare")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 3)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    for n in range(2):
        b.link(b.port(node, n), b.free(sw, 0))
    f = b.build()
    w = WiringGraph.whole(f)
    ports = claim(f, "reachability", of=(Selector("ports", "", ()),))
    assert graph_figures.reachability_by_networkx(w, None, Limits(steps=0)).holds is False
    assert graph_figures.reachability_by_networkx(w, ports, LIMITS).holds is False
    with pytest.raises(MethodTooLarge, match=r"^too large for networkx: 1 kinds of ends, 1 steps; the limit is 0$"):
        graph_figures.reachability_by_networkx(w, ports, Limits(steps=0))


def test_what_asks_for_all_ports() -> None:
    """Hosts with a port at each of two switches that are not joined: every two hosts meet, and not every two ports."""
    b = Builder("twice")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 2)
    for n in range(2):
        for i in range(2):
            b.link(b.port(node, n, "nic", i), b.free(sw, i))
    f = b.build()
    named = selector(f, "node")
    for of, holds in (
        (Selector("ports", "", ()), False),
        (Selector("node[*]", "host", ()), True),
        (named, True),
    ):
        assert (
            graph_figures.reachability_by_networkx(WiringGraph.whole(f), claim(f, "reachability", of=(of,)), LIMITS).holds
            is holds
        )


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
