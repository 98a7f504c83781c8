"""Link-disjoint paths between the worst pair of ends: bounds from degrees and tied switches, flows where they
differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.automorphisms import is_node_transitive
from tdsl.prove.bound import Bound, Counted, LinkCut, LinkPaths
from tdsl.prove.max_flow import inseparable_groups, max_flow
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network
from tdsl.prove.symmetry import columns_as_key, equal_rows
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


def disjoint_paths(view: View) -> LinkPaths:
    """The least over all pairs of units."""
    return (
        _link_paths_between_chips(view)
        if view.forwards[view.units].all()
        else _link_paths_between_hosts(view)
    )


def _link_paths_bound(lower: int, upper: int, pair: tuple[int, int], side: Bools) -> LinkPaths:
    return Bound(lower, upper, Counted(), LinkCut(pair, side))


# ---------------------------------------------------------------- ends that forward


def _link_paths_between_chips(view: View) -> LinkPaths:
    """All ends forward: one of them against a member of each group that is not tied to it closely enough."""
    units, n = view.units, view.fabric.device_count
    s, t = int(units[0]), int(units[1])
    label = view.label[units]
    if (label != label[0]).any():
        t = int(units[np.argmax(label != label[0])])
        return _link_paths_bound(0, 0, (s, t), view.label == view.label[s])
    devices = np.flatnonzero(view.forwards & view.devices)
    place = np.full(n, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    graph = adjacency_network(len(devices), place[view.a[view.trunks]], place[view.b[view.trunks]])
    degree = np.bincount(graph.head, weights=graph.capacity, minlength=graph.nodes)
    least = units[np.argmin(degree[place[units]])]
    best = int(degree[place[least]])
    side = np.zeros(n, dtype=np.bool_)
    side[least] = True
    pair = (int(least), int(units[0] if least != units[0] else units[1]))
    if (graph.capacity == 1).all() and is_node_transitive(view.fabric, graph, devices, view.budget):
        return _link_paths_bound(
            best, best, pair, side
        )  # Mader 1971: such a graph is as connected as its nodes have links
    groups = inseparable_groups(graph, best)
    work = view.budget.flow_work
    root = place[units[0]]
    waiting = [
        int(units[np.argmax(groups[place[units]] == g)])
        for g in np.unique(groups[place[units]])
        if g != groups[root]
    ]
    for i, target in enumerate(waiting):
        work -= len(graph.tail) * best
        if work < 0 and i:
            return _link_paths_bound(1, best, pair, side)
        found = max_flow(graph, int(root), int(place[target]))
        if found.value < best:
            best, pair = found.value, (int(units[0]), target)
            side = np.zeros(n, dtype=np.bool_)
            side[devices[found.side]] = True
    return _link_paths_bound(best, best, pair, side)


# ---------------------------------------------------------------- ends that do not


@dataclass(frozen=True, slots=True)
class Host:
    """A class of ends that have the same links: one for all, and how many they are."""

    first: int
    second: int  # another of the class, -1 if it is alone
    nodes: dict[int, int]  # forwarding device (or hub of a link between two ends) -> links
    hubs: dict[int, int]  # hub -> links


def _link_paths_between_hosts(view: View) -> LinkPaths:
    """Ends that pass nothing on: bounds for every two classes, then flows for those that the bounds leave
    open."""
    hosts = units_by_links(view)
    bare = _cut_of_host_without_links(view, hosts)
    if bare is not None:
        return bare
    most = view.budget.flow_pairs
    pairs = list(islice(bounds_of_class_pairs(hosts, _tied_hubs(view, hosts)), most))
    least = 0 if len(pairs) == most else min(p.lower for p in pairs)
    flows = _Flows(view)
    best: LinkPaths | None = None
    work = view.budget.flow_work
    for p in sorted(pairs):
        if best is not None and p.lower >= best.upper:
            continue
        partner = p.partner(hosts)
        found = _cut_as_small_as_bound(view, (hosts[p.u].first, partner), p)
        if found is None:
            work -= flows.cost(p.upper)
            if work < 0 and best is not None:
                return replace(best, lower=min(least, best.upper))
            found = flows.solve(hosts[p.u], hosts[p.v], partner)
        best = found if best is None or found.upper < best.upper else best
    assert best is not None
    return best if len(pairs) < most else replace(best, lower=min(least, best.upper))


def _cut_of_host_without_links(view: View, hosts: list[Host]) -> LinkPaths | None:
    """That there is no path, if a unit has no link."""
    bare = next((h for h in hosts if not h.nodes), None)
    if bare is None:
        return None
    other = next(int(u) for u in view.units if u != bare.first)
    return _link_paths_bound(0, 0, (bare.first, other), _device_alone(view, bare.first))


def _cut_as_small_as_bound(view: View, pair: tuple[int, int], bounds: Pair) -> LinkPaths | None:
    """The cut around one of the two, if that is as small as both bounds say."""
    if bounds.lower != bounds.upper:
        return None
    value = bounds.upper
    small = min(pair, key=lambda d: int(view.degree[d]))
    if int(view.degree[small]) != value:
        return None
    return _link_paths_bound(
        value, value, pair if pair[0] == small else pair[::-1], _device_alone(view, small)
    )


def _device_alone(view: View, device: int) -> Bools:
    side = np.zeros(view.fabric.device_count, dtype=np.bool_)
    side[device] = True
    return side


def units_by_links(view: View) -> list[Host]:
    """Units grouped by what they are linked to: those of the view before, where nothing of this has changed,
    as after most failures of switches and links between them."""
    at = view.attachment
    facts = view.units, at.end, at.node, at.hub, view.forwards[view.units], view.degree[view.units]
    known, hosts = _latest_hosts.get(view.fabric, ((), []))
    if not known or not all(map(np.array_equal, facts, known)):
        hosts = _group_units_by_links(view)
        _latest_hosts[view.fabric] = facts, hosts
    return hosts


_latest_hosts: WeakKeyDictionary[Fabric, tuple[tuple[Any, ...], list[Host]]] = WeakKeyDictionary()


def _group_units_by_links(view: View) -> list[Host]:
    at = view.attachment
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    mine = np.flatnonzero(unit[at.end])
    mine = mine[np.lexsort((at.node[mine], at.end[mine]))]
    end, node, hub = at.end[mine], at.node[mine], at.hub[mine]
    bounds = np.searchsorted(end, np.append(view.units, view.fabric.device_count))
    passing = view.forwards[view.units].astype(
        np.int64
    )  # a host with one link, to a chip, has the same rows as that chip
    same = equal_rows(passing, np.searchsorted(view.units, end), node, np.ones_like(node))
    order = np.argsort(same, kind="stable")
    begins = np.flatnonzero(np.diff(same[order], prepend=-1))
    seconds = np.where(
        np.diff(begins, append=len(order)) > 1, view.units[order[np.minimum(begins + 1, len(order) - 1)]], -1
    )
    out = []
    for i, second in zip(order[begins].tolist(), seconds.tolist(), strict=True):
        first = int(view.units[i])
        nodes: dict[int, int] = {}
        hubs: dict[int, int] = {}
        for x, h in zip(
            node[bounds[i] : bounds[i + 1]].tolist(), hub[bounds[i] : bounds[i + 1]].tolist(), strict=True
        ):
            nodes[x] = nodes.get(x, 0) + 1
            hubs[h] = hubs.get(h, 0) + 1
        if view.forwards[first]:  # a chip beside hosts is reached over all of its links, and not over one
            links = int(view.degree[first])
            nodes, hubs = {first: links + 1}, dict.fromkeys(hubs, links)
        out.append(Host(first, second, nodes, hubs))
    return out


def _tied_hubs(view: View, hosts: list[Host]) -> dict[int, int]:
    """For every hub: so many links at least separate any two of its devices that hosts are connected to
    (capped at the links that one host has there)."""
    most, access_of = devices_at_hubs(view, hosts)
    out = {}
    known: dict[tuple[bytes, ...], int] = {}
    for hub, d in most.items():
        if len(access_of[hub]) < 2:
            out[hub] = d
            continue
        graph, place = component_network(view, hub)
        access = place[access_of[hub]]
        key = columns_as_key(graph.tail, graph.head, graph.capacity, access, np.array([graph.nodes, d]))
        if key not in known:  # planes are mostly the same, device by device
            k = d
            while k > 1 and len(np.unique(inseparable_groups(graph, k)[access])) > 1:
                k -= 1
            known[key] = k
        out[hub] = known[key]
    return out


def devices_at_hubs(view: View, hosts: list[Host]) -> tuple[dict[int, int], dict[int, Ints]]:
    """The most links that one host has at every hub, and the hub's devices that hosts are connected to; kept
    as long as the hosts are the same."""
    known, most, devices = _latest_hubs.get(view.fabric, ([], {}, {}))
    if known is not hosts:
        n, label = view.fabric.device_count, view.label.tolist()
        found: dict[int, set[int]] = {}
        most = {}
        for h in hosts:
            for hub, d in h.hubs.items():
                most[hub] = max(most.get(hub, 0), d)
            for node in h.nodes:
                found.setdefault(label[node] if node < n else node, set()).add(node)
        devices = {hub: np.array(sorted(nodes)) for hub, nodes in found.items()}
        _latest_hubs[view.fabric] = hosts, most, devices
    return most, devices


_latest_hubs: WeakKeyDictionary[Fabric, tuple[list[Host], dict[int, int], dict[int, Ints]]] = (
    WeakKeyDictionary()
)


def component_network(view: View, hub: int) -> tuple[Network, Ints]:
    """The devices of one component with their links, numbered densely, and the number of each device."""
    devices = np.flatnonzero((view.label == hub) & view.forwards)
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    trunks = view.trunks[view.label[view.a[view.trunks]] == hub]
    return adjacency_network(len(devices), place[view.a[trunks]], place[view.b[trunks]]), place


class Pair(NamedTuple):
    """Bounds on the cut between members of two classes (or two of one class), by their places in the list."""

    upper: int
    lower: int
    u: int
    v: int

    def partner(self, hosts: list[Host]) -> int:
        """The unit of the second class, another one where both are the same class."""
        return hosts[self.v].first if self.u != self.v else hosts[self.v].second


def bounds_of_class_pairs(hosts: list[Host], certain: dict[int, int]) -> Iterator[Pair]:
    """Bounds for every two classes; of classes with the same links into every hub, whose bounds are the same,
    one pair where the bounds are equal."""
    equal: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for i, h in enumerate(hosts):
        equal.setdefault(tuple(sorted(h.hubs.items())), []).append(i)
    groups = list(equal.items())
    for at, (hubs, mine) in enumerate(groups):
        for other, theirs in groups[at:]:
            links = dict(other)
            both = [(hub, min(d, links.get(hub, 0))) for hub, d in hubs]
            upper = sum(d for _, d in both)
            lower = sum(min(d, certain[hub]) for hub, d in both)
            places = _pairs_within_group(hosts, mine) if mine is theirs else product(mine, theirs)
            found = (Pair(upper, lower, u, v) for u, v in places)
            yield from islice(found, 1) if lower == upper else found


def _pairs_within_group(hosts: list[Host], mine: list[int]) -> Iterator[tuple[int, int]]:
    """Every two of some classes, and each with itself if it has several members."""
    return ((u, v) for u in mine for v in mine if u < v or (u == v and hosts[u].second >= 0))


class _Flows:
    """Max flows between hosts over the forwarding devices."""

    def __init__(self, view: View) -> None:
        self.view = view

    @property
    def graph(self) -> Network:
        """The forwarding devices and the links among them, made where a flow is looked for."""
        return self.view.graph

    def cost(self, value: int) -> int:
        """Arcs that one flow of this value looks at."""
        return (len(self.graph.tail) + 1) * (value + 1)

    def solve(self, u: Host, v: Host, partner: int) -> LinkPaths:
        """The flow between the first of u's class and a member of v's."""
        n = self.view.fabric.device_count
        extra: dict[int, int] = {}  # a link between two endpoints is a node of its own on the way
        rows: list[tuple[int, int, int]] = []
        for at, host in ((n, u), (n + 1, v)):
            for node, links in host.nodes.items():
                to = node if node < n else extra.setdefault(node, n + 2 + len(extra))
                rows += [(at, to, links), (to, at, links)]
        tail, head, links_ = np.array(rows, dtype=np.int64).T
        graph = self.graph
        network = Network.of(
            np.ones(n + 2 + len(extra), dtype=np.bool_),
            np.append(graph.tail, tail),
            np.append(graph.head, head),
            np.append(graph.capacity, links_),
        )
        found = max_flow(network, n, n + 1)
        value, side = found.value, found.side[:n].copy()
        side[u.first] = True
        side[partner] = False
        return _link_paths_bound(value, value, (u.first, partner), side)
