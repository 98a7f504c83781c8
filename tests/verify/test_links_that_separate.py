"""The fewest links that separate two ends: the pair, the side and the bounds, within all limits of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import LinkPaths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.edge_connectivity import (
    Host,
    Pair,
    _bounds_of_class_pairs,
    _Flows,
    _tied_hubs,
    _units_by_links,
    component_network,
    disjoint_paths,
)
from tdsl.prove.max_flow import inseparable_groups
from tdsl.prove.search import adjacency_network
from tdsl.prove.view import View
from tests.fabrics import Builder, multiplane, random_chips, random_fabric, random_layers, torus
from tests.verify import judges


def mixed(seed: int) -> Fabric:
    """Chips linked to chips and to switches, and hosts on both; not always connected."""
    rng = Random(seed)
    b = Builder("mixed")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 90}, accelerators=1), rng.randint(2, 5))
    sw = b.devices("s", b.model("switch", "S", {"p": 90}), rng.randint(1, 3))
    host = b.devices("h", b.model("host", "H", {"nic": 6}, accelerators=1), rng.randint(1, 4))
    b.link(b.free(chip, 0), b.free(chip, 1))
    for _ in range(rng.randint(1, 9)):
        x, y = rng.sample([(s, i) for s in (chip, sw) for i in range(s.count)], 2)
        b.link(b.free(*x), b.free(*y))
    for h in range(host.count):
        for _ in range(rng.randint(2, 4)):
            x = rng.choice([(s, i) for s in (chip, sw) for i in range(s.count)])
            b.link(b.free(host, h), b.free(*x))
    if host.count > 1 and rng.random() < 0.4:
        b.link(b.free(host, 0), b.free(host, 1))
    return b.build()


def separated(f: Fabric, found: LinkPaths) -> int:
    """Links that lead from the side of one end to that of the other, among what forwards and the two."""
    (u, v), side = found.proof_upper.pair, found.proof_upper.side
    ends = set(View.whole(f).units.tolist())
    assert u != v and {u, v} <= ends and side[u] and not side[v] and len(side) == f.device_count
    keep = judges.forwarders(f) | {u, v}
    return sum(bool(side[a] != side[b]) for a, b in judges.pairs(f) if {a, b} <= keep)


MAKERS = {
    "chips": lambda seed: random_chips(seed, chips=2 + seed % 6, cables=4 + seed % 13).build(),
    "mixed": mixed,
    "hosts": lambda seed: random_fabric(seed, 2 + seed % 5, 2 + seed % 4, 3, seed % 11, seed % 4).build(),
    "layers": lambda seed: random_layers(seed).build(),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fewest_links_and_a_side(kind: str) -> None:
    values = set()
    for seed in range(40):
        f = MAKERS[kind](seed)
        if len(View.whole(f).units) < 2:
            continue
        found = disjoint_paths(View.whole(f))
        assert found.lower == found.upper == judges.redundancy(f) == separated(f, found), seed
        values.add(found.lower)
    assert {0, 1, 2} <= values


def test_symmetric_chips_are_separated_by_the_links_of_one() -> None:
    """Without a flow where all links are single; with double links by flows."""
    none = replace(DEFAULT, flow_work=0)
    for sizes, value in (((4, 4), 4), ((5,), 2), ((3, 3, 3), 6)):
        f = torus(*sizes).build()
        found = disjoint_paths(View.whole(f, none))
        assert found.lower == found.upper == value == separated(f, found)
        assert found.proof_upper.pair == (0, 1) and np.flatnonzero(found.proof_upper.side).tolist() == [0]
    double = torus(2, 2, 3).build()
    found = disjoint_paths(View.whole(double))
    assert found.lower == found.upper == 6 == separated(double, found)


@pytest.mark.parametrize("bridges", [1, 2])
def test_chips_with_single_links_that_are_not_symmetric(bridges: int) -> None:
    """Two groups of four that are linked each to each, and one link or two between the groups."""
    b = Builder("two")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 9}, accelerators=1), 8)
    for g in range(2):
        for x, y in combinations(range(4 * g, 4 * g + 4), 2):
            b.link(b.free(chip, x), b.free(chip, y))
    for x in range(bridges):
        b.link(b.free(chip, x), b.free(chip, 4 + x))
    f = b.build()
    found = disjoint_paths(View.whole(f))
    assert found.lower == found.upper == bridges == separated(f, found)


def clumps(seed: int) -> Fabric:
    """Two to five groups of two or three chips with many links, up to two links between the groups; in any order."""
    rng = Random(seed)
    b = Builder("clumps")
    count, each = rng.randint(2, 5), rng.randint(2, 3)
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 90}, accelerators=1), count * each)
    at = rng.sample(range(chip.count), chip.count)
    for g in range(count):
        for x, y in combinations(range(each), 2):
            for _ in range(rng.randint(3, 4)):
                b.link(b.free(chip, at[g * each + x]), b.free(chip, at[g * each + y]))
        for other in range(g):
            for _ in range(rng.randint(other == g - 1, 2)):
                b.link(b.free(chip, at[g * each + rng.randrange(each)]), b.free(chip, at[other * each + rng.randrange(each)]))
    return b.build()


def test_flows_between_chips_within_the_work() -> None:
    """From the first chip to one of each group that is not tied to it. Each counts the arcs times the best value so far; the
    first is made in any case, and what is not searched leaves a lower bound of one."""
    stopped = 0
    for seed in range(20):
        f = clumps(seed)
        view = View.whole(f)
        g = judges.capacities(f, judges.forwarders(f))
        ends = np.array([x for a, b in judges.pairs(f) for x in (a, b)])
        degree = np.bincount(ends, minlength=f.device_count)
        best = int(degree[view.units].min())
        graph = adjacency_network(f.device_count, f.device_a, f.device_b)
        groups = inseparable_groups(graph, best)
        targets = [int(np.flatnonzero(groups == x)[0]) for x in np.unique(groups) if x != groups[view.units[0]]]
        work, costs, values = 0, [0], [best]
        for t in targets:
            work += graph.arcs * values[-1]
            costs.append(work)
            values.append(min(values[-1], nx.maximum_flow_value(g, int(view.units[0]), t)))
        for i, limit in enumerate(costs):
            for less in (0, 1):
                if limit < less:
                    continue
                found = disjoint_paths(View.whole(f, replace(DEFAULT, flow_work=limit - less)))
                done = max(i - less, min(1, len(targets)))
                assert found.upper == values[done] == separated(f, found), (seed, i, less)
                assert found.lower == (values[done] if done == len(targets) else 1), (seed, i, less)
                stopped += done < len(targets)
    assert stopped > 10


def test_hosts_without_links_reach_nobody() -> None:
    b = Builder("bare")
    sw = b.devices("s", b.model("switch", "S", {"p": 9}), 1)
    node = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 4)
    for h in (0, 3):
        b.link(b.free(node, h), b.free(sw, 0))
    f = b.build()
    found = disjoint_paths(View.whole(f))
    u, v = (int(x) for x in View.whole(f).units[:2])
    assert (found.lower, found.upper) == (0, 0) and found.proof_upper.pair == (v, u)
    assert np.flatnonzero(found.proof_upper.side).tolist() == [v]


# ---------------------------------------------------------------- classes of hosts and their bounds


def test_hosts_with_the_same_links_are_one_class() -> None:
    alike = 0
    for seed in range(40):
        f = (mixed(seed), random_fabric(seed, 2, 6, 2, 2, seed % 3).build(), random_layers(seed).build())[seed % 3]
        view = View.whole(f)
        at = view.attachment
        if (view.degree[view.units] == 0).any():
            continue
        groups: dict[object, list[int]] = {}
        for u in view.units.tolist():
            groups.setdefault(tuple(sorted(at.node[at.end == u].tolist())), []).append(u)
        found = _units_by_links(view)
        assert [(h.first, h.second) for h in found] == [(m[0], m[1] if len(m) > 1 else -1) for m in groups.values()], seed
        for h in found:
            mine = at.end == h.first
            node, hub = at.node[mine].tolist(), at.hub[mine].tolist()
            links = int(view.degree[h.first])
            if view.forwards[h.first]:
                assert h.nodes == {h.first: links + 1} and h.hubs == {int(view.label[h.first]): links}, seed
            else:
                assert h.nodes == {x: node.count(x) for x in node} and h.hubs == {x: hub.count(x) for x in hub}, seed
            alike += h.second >= 0
    assert alike > 8


def hosts(rng: Random) -> list[Host]:
    """Classes with up to three links to each of three hubs."""
    kinds = [{h: rng.randint(1, 3) for h in rng.sample(range(3), rng.randint(1, 3))} for _ in range(3)]
    return [Host(10 * i, rng.choice([-1, 10 * i + 1]), {}, dict(rng.choice(kinds))) for i in range(rng.randint(1, 6))]


def test_bounds_of_every_two_classes() -> None:
    """The links that both have to each hub, as far as the hub keeps them together; one pair of all with equal bounds."""
    for seed in range(120):
        rng = Random(seed)
        every, certain = hosts(rng), {h: rng.randint(1, 3) for h in range(3)}
        bounds = {}
        for u, one in enumerate(every):
            for v, two in enumerate(every[u:], u):
                if u < v or one.second >= 0:
                    both = {h: min(one.hubs[h], two.hubs[h]) for h in set(one.hubs) & set(two.hubs)}
                    lower = sum(min(x, certain[h]) for h, x in both.items())
                    bounds[u, v] = (sum(both.values()), lower, *sorted(map(sorted, (one.hubs.items(), two.hubs.items()))))
        found = list(_bounds_of_class_pairs(every, certain))
        seen = [tuple(sorted((p.u, p.v))) for p in found]
        assert len(set(seen)) == len(seen) and all(
            (p.upper, p.lower) == bounds[pair][:2] for p, pair in zip(found, seen, strict=True)
        )
        for pair, bound in bounds.items():
            alike = [x for x in seen if bounds[x] == bound]
            assert pair in seen or (bound[0] == bound[1] and len(alike) == 1), (seed, pair)
            assert bound[0] != bound[1] or len(alike) == 1


def test_links_that_keep_the_devices_of_a_hub_together() -> None:
    """So many separate any two to which hosts are connected at least; never more than one host has there."""
    values: set[tuple[int, int]] = set()
    for seed in range(36):
        f = (random_layers(seed), random_fabric(seed, 5, 5, 3, 9, seed % 2), multiplane(2, 6, 2, 1 + seed % 3))[seed % 3].build()
        view = View.whole(f)
        every = [h for h in _units_by_links(view) if h.nodes]
        certain = _tied_hubs(view, every)
        g = judges.capacities(f, judges.forwarders(f))
        for hub, k in certain.items():
            most = max(h.hubs.get(hub, 0) for h in every)
            nodes = {x for h in every for x in h.nodes if x == hub or (x < f.device_count and int(view.label[x]) == hub)}
            least = min([nx.maximum_flow_value(g, x, y) for x, y in combinations(sorted(nodes), 2)], default=most)
            assert 1 <= k <= most and (k <= least), (seed, hub)
            if hub < f.device_count and len(nodes) > 1:
                graph, place = component_network(view, hub)
                access = place[sorted(nodes)]
                whole = [x for x in range(2, most + 1) if len(set(inseparable_groups(graph, x)[access].tolist())) == 1]
                assert k == max(whole, default=1), (seed, hub)
            else:
                assert k == most
            values.add((k, most))
        assert set(certain) == {x for h in every for x in h.hubs}
    assert {(1, 1), (2, 2), (1, 3), (2, 3)} <= values


def test_components_are_numbered_densely() -> None:
    for seed in range(20):
        f = random_fabric(seed, 6, 3, 2, 5).build()
        view = View.whole(f)
        for hub in np.unique(view.label[view.forwards]).tolist():
            graph, place = component_network(view, hub)
            devices = [d for d in range(f.device_count) if view.forwards[d] and view.label[d] == hub]
            assert place.tolist() == [devices.index(d) if d in devices else -1 for d in range(f.device_count)]
            links = [(a, b) for a, b in judges.pairs(f) if a in devices and b in devices and a != b]
            wanted = adjacency_network(len(devices), *(np.array([place[x[i]] for x in links], dtype=np.int64) for i in (0, 1)))
            assert graph.nodes == len(devices) and graph.same_arcs(wanted)


def limited(f: Fabric, **limits: int) -> LinkPaths:
    return disjoint_paths(View.whole(f, replace(DEFAULT, **limits)))


@cache
def flow(f: Fabric, u: int, v: int) -> int:
    return int(nx.maximum_flow_value(judges.capacities(f, judges.forwarders(f) | {u, v}), u, v))


def flows(f: Fabric, pairs: Sequence[Pair], every: Sequence[Host], work: int, costs: list[int] | None = None) -> tuple[int, bool]:
    """The best value with so much work for flows, and whether all was searched: the pairs with the least bounds come first, and
    one around which its own links are cut needs no flow. ``costs`` gets the work after each flow."""
    view = View.whole(f)
    best: int | None = None
    left = work
    for p in sorted(pairs):
        u, v = every[p.u].first, every[p.v].first if p.u != p.v else every[p.v].second
        if best is not None and p.lower >= best:
            continue
        if p.lower == p.upper == min(int(view.degree[u]), int(view.degree[v])):
            value = p.lower
        else:
            left -= (len(view.graph.tail) + 1) * (p.upper + 1)
            if left < 0 and best is not None:
                return best, False
            if costs is not None:
                costs.append(work - left)
            value = flow(f, u, v)
        best = value if best is None else min(value, best)
    assert best is not None
    return best, True


def test_a_flow_costs_the_arcs_for_each_path() -> None:
    """And once more, to see that there is no other; a network without arcs is no more than the two ends."""
    for seed in range(6):
        view = View.whole(random_fabric(seed, 4, 3, 2, 2 * seed).build())
        for value in range(4):
            assert _Flows(view).cost(value) == (2 * len({frozenset(x) for x in pairs_of(view)}) + 1) * (value + 1)


def pairs_of(view: View) -> list[tuple[int, int]]:
    """Devices of the links between two that forward."""
    ends = zip(view.a[view.trunks].tolist(), view.b[view.trunks].tolist(), strict=True)
    return [(a, b) for a, b in ends if a != b]


def test_flows_between_hosts_within_the_work() -> None:
    stopped = 0
    for seed in range(24):
        f = random_fabric(seed, 5, 5, 3, 5, seed % 2).build() if seed % 2 else random_layers(seed).build()
        view = View.whole(f)
        every = _units_by_links(view)
        if any(not h.nodes for h in every) or len(view.units) < 2:
            continue
        pairs = list(_bounds_of_class_pairs(every, _tied_hubs(view, every)))
        least = min(p.lower for p in pairs)
        exact = judges.redundancy(f)
        costs: list[int] = []
        flows(f, pairs, every, DEFAULT.flow_work, costs)
        for work in {0, *(x - less for x in costs[:4] for less in (0, 1))}:
            value, whole = flows(f, pairs, every, work)
            found = limited(f, flow_work=work)
            assert (found.lower, found.upper) == (value if whole else min(least, value), value), (seed, work)
            assert found.lower <= exact <= found.upper == separated(f, found), (seed, work)
            stopped += not whole
        for most in (1, 2, len(pairs), len(pairs) + 1):
            value, _ = flows(f, pairs[:most], every, DEFAULT.flow_work)
            found = limited(f, flow_pairs=most)
            assert (found.lower, found.upper) == (value if len(pairs) < most else 0, value), (seed, most)
    assert stopped > 8
