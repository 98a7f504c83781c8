"""Node-disjoint paths between the worst pair of units: how many switches must fail before two units lose each
other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.automorphisms import is_node_transitive
from tdsl.prove.bound import Bound, Counted, DeviceCut, DevicePaths
from tdsl.prove.disjoint import Separator, WorkExhausted, WorkLeft, separator_from_set, separator_of_terminals
from tdsl.prove.edge_connectivity import component_network
from tdsl.prove.network import Network, count_by_key
from tdsl.prove.search import adjacency_network
from tdsl.prove.symmetry import columns_as_key, equal_rows
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


def least_separator_bounds(view: View) -> DevicePaths:
    """The least over all pairs of units; there are two at least. Source: Menger, "Zur allgemeinen
    Kurventheorie" (1927)."""
    network, ours = _network_of_devices(view)
    even = _bound_by_symmetry(view, network)
    if even is not None:
        return even
    # one object a number: millions of equal ones would be most of the memory
    node = list(range(network.nodes))
    near = {d: {node[x] for x in network.neighbours(d).tolist()} for d in ours}
    inner = _forwarding_devices(view)
    if inner == set(view.units.tolist()):
        return _device_paths_between_chips(view, near, WorkLeft(view.budget.disjoint_path_work))
    return _Hosts(view, near, inner, WorkLeft(view.budget.disjoint_path_work)).solve()


def _bound_by_symmetry(view: View, network: Network) -> DevicePaths | None:
    """A connected graph whose nodes are all equivalent, no four of them joined each to each, is as connected
    as a node has neighbours. Source: Mader, "Über den Zusammenhang symmetrischer Graphen" (Archiv der
    Mathematik 21, 1970)."""
    u, *others = view.units.tolist()
    if (
        not view.forwards[view.units].all()
        or (view.label[view.units] != view.label[u]).any()
        or not _has_transitive_symmetry(view)
    ):
        return None
    mine = set(network.neighbours(u).tolist())
    near = {x: set(network.neighbours(x).tolist()) for x in mine}
    if any(near[x] & near[y] & mine for x in mine for y in near[x] & mine):
        return None
    v = next((x for x in others if x not in mine), None)
    return None if v is None else _device_paths_bound(len(mine), len(mine), (u, v), mine, False)


def _forwarding_devices(view: View) -> set[int]:
    return set(np.flatnonzero(view.forwards & view.devices).tolist())


def _network_of_devices(view: View) -> tuple[Network, list[int]]:
    """The links between units and what forwards, and these devices: links of third ends left out; of
    interchangeable units two are enough."""
    ours = (view.forwards & view.devices).copy()
    ours[_distinguishable_units(view)] = True
    count = view.fabric.device_count
    kept = ours[view.a] & ours[view.b] & (view.a != view.b)
    a, b = view.a[kept], view.b[kept]
    keys, _ = count_by_key(np.minimum(a, b) * count + np.maximum(a, b))
    return adjacency_network(count, *np.divmod(keys, count)), np.flatnonzero(ours).tolist()


def _distinguishable_units(view: View) -> Ints:
    """The units, but of those that forward nothing and have the same links to what is no unit only the first
    two."""
    units, n = view.units, len(view.units)
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[units] = np.arange(n)
    inner = view.forwards & view.devices
    alone = view.forwards[units].copy()
    a, b = view.a, view.b
    both = (place[a] >= 0) & (place[b] >= 0)
    alone[place[a[both]]] = alone[place[b[both]]] = True
    up, down = (place[a] >= 0) & inner[b] & ~both, (place[b] >= 0) & inner[a] & ~both
    owner, other = np.append(place[a[up]], place[b[down]]), np.append(b[up], a[down])
    first = equal_rows(np.where(alone, np.arange(n), n), owner, other, np.ones_like(owner))
    order = np.argsort(first, kind="stable")
    begins = np.diff(first[order], prepend=-1) != 0
    begins[1:] |= begins[:-1]
    kept: Ints = units[np.sort(order[begins])]
    return kept


def _has_transitive_symmetry(view: View) -> bool:
    devices = np.flatnonzero(view.forwards & view.devices)
    if len(devices) != len(view.units):
        return False
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    graph = adjacency_network(len(devices), place[view.a[view.trunks]], place[view.b[view.trunks]])
    return is_node_transitive(view.fabric, graph, devices, view.budget)


def _device_paths_bound(
    lower: int, upper: int, pair: tuple[int, int], devices: Iterable[int], linked: bool
) -> DevicePaths:
    return Bound(lower, upper, Counted(), DeviceCut(pair, tuple(sorted(devices)), linked))


# ---------------------------------------------------------------- all that forwards is a unit


def _device_paths_between_chips(view: View, near: dict[int, set[int]], work: WorkLeft) -> DevicePaths:
    units = view.units.tolist()
    u = min(units, key=lambda d: len(near[d]))
    try:
        found = separator_of_terminals(near, units, len(near[u]) + 1, True, work)
    except WorkExhausted:
        others = [x for x in units if x != u]
        v = next((x for x in others if x not in near[u]), others[0])
        connected = int((view.label[view.units] == view.label[u]).all())
        return _device_paths_bound(connected, len(near[u]), (u, v), near[u] - {v}, v in near[u])
    assert found is not None  # the neighbours of u separate it from the others
    return _paths_at_separator(found)


def _paths_at_separator(found: Separator) -> DevicePaths:
    return _device_paths_bound(found.value, found.value, found.pair, found.devices, found.joined)


# ---------------------------------------------------------------- units, and what forwards for them

Access = tuple[tuple[int, int], ...]
"""How many switches of each component units are connected to."""


@dataclass(frozen=True, slots=True)
class _Class:
    """Units with the same neighbours: one of them, and another (-1 if it is alone)."""

    first: int
    second: int
    access: Access


class _Hosts:
    """The search for the worst pair. Two units with x and y switches of a component have min(x, y) disjoint
    paths there, unless fewer switches separate two that units are connected to; only pairs for which that is
    less than the least found are searched."""

    def __init__(self, view: View, near: dict[int, set[int]], inner: set[int], work: WorkLeft) -> None:
        self.near = near
        self.inner = inner
        self.work = work
        self.forwarding = {d: near[d] if near[d] <= inner else near[d] & inner for d in inner}
        self.hub = view.label
        self.view = view
        self.classes = _units_by_neighbours(
            self.hub, near, inner, [u for u in view.units.tolist() if u in near]
        )
        by_kind: dict[Access, list[_Class]] = {}
        for c in self.classes:
            by_kind.setdefault(c.access, []).append(c)
        self.kinds = sorted(by_kind)
        self.groups = [by_kind[kind] for kind in self.kinds]
        self.best: Separator | None = None
        self.sure: dict[int, int] = {}

    def solve(self) -> DevicePaths:
        """The least, or bounds on it where the work is spent."""
        low = 0
        try:
            self._equal()
            low, first, second = self._lowest()
            if not low:  # often no switch at all joins such a pair
                self._search(self.groups[first][0], self.groups[second][-1])
            if self.best is None or low < self.best.value:
                self._certain()
                low, _, _ = self._lowest()
                for one, two in self._open():
                    self._search(one, two)
                low = self.best.value if self.best is not None else 0
        except WorkExhausted:
            pass
        if self.best is None:
            u, v = self.classes[0], self.classes[1]
            mine, other = sorted((u.first, v.first), key=lambda d: len(self.near[d]))
            around = self.near[mine] & self.inner - {other}
            joined = other in self.near[mine]
            return _device_paths_bound(0, len(around) + joined, (u.first, v.first), around, joined)
        return replace(_paths_at_separator(self.best), lower=min(low, self.best.value))

    def _equal(self) -> None:
        """Two of one class share all their switches."""
        pairs = [c for c in self.classes if c.second >= 0]
        if pairs:
            c = min(pairs, key=lambda c: len(self.near[c.first]))
            self.best = Separator((c.first, c.second), frozenset(self.near[c.first] & self.inner), False)

    def _lower(self) -> Iterator[Ints]:
        """For every kind of units how many disjoint paths it has at least with each kind that is not before
        it."""
        members: dict[int, list[tuple[int, int]]] = {}
        for i, kind in enumerate(self.kinds):
            for hub, x in kind:
                members.setdefault(hub, []).append((i, min(x, self.sure.get(hub, 1))))
        columns = {hub: np.array(m, dtype=np.int64).T for hub, m in members.items()}
        for i, kind in enumerate(self.kinds):
            out = np.zeros(len(self.kinds), dtype=np.int64)
            for hub, x in kind:
                place, least = columns[hub]
                out[place] += np.minimum(least, x)
            yield out[i:]

    def _lowest(self) -> tuple[int, int, int]:
        """What all pairs have at least, and two kinds of which no more is known."""
        rows = ((int(row.min()), i, i + int(row.argmin())) for i, row in enumerate(self._lower()))
        return min(rows)

    def _certain(self) -> None:
        """For every component how many switches separate two that units are connected to at least, as far as
        that matters; pairs of units at the two are the first to be searched."""
        access_of: dict[int, set[int]] = {}
        at: dict[int, _Class] = {}
        most: dict[int, int] = {}
        for c in self.classes:
            for d in sorted(self.near[c.first] & self.inner):
                access_of.setdefault(int(self.hub[d]), set()).add(d)
                at.setdefault(d, c)
            for hub, x in c.access:
                most[hub] = max(most.get(hub, 0), x)
        known: dict[tuple[bytes, ...], int] = {}
        for hub, switches in access_of.items():
            limit = most[hub] if self.best is None else min(most[hub], self.best.value)
            graph, place = component_network(self.view, hub)  # planes are mostly the same, device by device
            key = columns_as_key(
                graph.tail, graph.head, place[sorted(switches)], np.array([graph.nodes, limit])
            )
            if key in known:
                self.sure[hub] = known[key]
                continue
            found = separator_of_terminals(self.forwarding, sorted(switches), limit, False, self.work)
            self.sure[hub] = known[key] = limit if found is None else found.value
            if found is not None:
                self._search(at[found.pair[0]], at[found.pair[1]])

    def _open(self) -> Iterator[tuple[_Class, _Class]]:
        """Pairs that may be worse than the worst found, the most likely first."""
        levels = np.unique(np.concatenate([np.unique(row) for row in self._lower()])).tolist()
        for low in levels:
            for i, row in enumerate(self._lower()):
                for j in (i + np.flatnonzero(row == low)).tolist():
                    one, two = self.groups[i], self.groups[j]
                    for u, v in combinations(one, 2) if i == j else product(one, two):
                        if self.best is not None and low >= self.best.value:
                            return
                        yield u, v

    def _search(self, one: _Class, two: _Class) -> None:
        """Disjoint paths of one pair, unless they are as many as the least found."""
        u, v = one.first, two.first
        if u == v:
            return
        mine, other, joined = (
            self.near[u] & self.inner - {v},
            self.near[v] & self.inner - {u},
            v in self.near[u],
        )
        limit = min(len(mine), len(other)) + 1 if self.best is None else self.best.value - joined
        if len(mine & other) >= limit:
            return
        self.work.take(1)
        devices = separator_from_set(self.forwarding, sorted(mine), other, {u, v}, limit, self.work)
        if devices is not None:
            self.best = Separator((u, v), devices, joined)


def _units_by_neighbours(
    hub: Ints, near: dict[int, set[int]], inner: set[int], units: list[int]
) -> list[_Class]:
    """Units by their neighbours."""
    owner = np.repeat(np.arange(len(units)), [len(near[u]) for u in units])
    other = np.array([d for u in units for d in near[u]], dtype=np.int64)
    same = equal_rows(np.zeros(len(units), dtype=np.int64), owner, other, np.ones_like(other))
    found: dict[int, _Class] = {}
    for u, key in zip(units, same.tolist(), strict=True):
        first = found.get(key)
        if first is None:
            switches = Counter(int(hub[d]) for d in near[u] & inner)
            found[key] = _Class(u, -1, tuple(sorted(switches.items())))
        elif first.second < 0:
            found[key] = replace(first, second=u)
    return list(found.values())
