"""Node-disjoint paths between the worst pair of units: how many switches must fail before two units lose each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.automorphisms import transitive
from tdsl.prove.bound import Bound, Counted, DeviceCut, DevicePaths
from tdsl.prove.components import adjacency
from tdsl.prove.disjoint import Separator, Spent, Work, fan, weakest
from tdsl.prove.symmetry import equal_rows
from tdsl.prove.view import View


def separators(view: View) -> DevicePaths:
    """The least over all pairs of units; there are two at least. Source: Menger, "Zur allgemeinen Kurventheorie" (1927)."""
    near = _neighbours(view)
    even = _even(view, near)
    if even is not None:
        return even
    inner = _inner(view)
    if inner == set(view.units.tolist()):
        return _between_chips(view, near, Work(view.budget.disjoint_path_work))
    return _Hosts(view, near, inner, Work(view.budget.disjoint_path_work)).solve()


def _even(view: View, near: dict[int, set[int]]) -> DevicePaths | None:
    """A connected graph whose nodes are all equivalent, no four of them joined each to each, is as connected as a node has
    neighbours. Source: Mader, "Über den Zusammenhang symmetrischer Graphen" (Archiv der Mathematik 21, 1970)."""
    u, *others = view.units.tolist()
    mine = near[u]
    if not view.forwards[view.units].all() or (view.label[view.units] != view.label[u]).any() or not _turns(view):
        return None
    if any(near[x] & near[y] & mine for x in mine for y in near[x] & mine):
        return None
    v = next((x for x in others if x not in mine), None)
    return None if v is None else _paths(len(mine), len(mine), (u, v), mine, False)


def _inner(view: View) -> set[int]:
    return set(np.flatnonzero(view.forwards & view.devices).tolist())


def _neighbours(view: View) -> dict[int, set[int]]:
    """Neighbours of units and of what forwards, links of third ends left out."""
    ours = (view.forwards & view.devices).copy()
    ours[view.units] = True
    out: dict[int, set[int]] = {d: set() for d in np.flatnonzero(ours).tolist()}
    kept = ours[view.a] & ours[view.b] & (view.a != view.b)
    for a, b in zip(view.a[kept].tolist(), view.b[kept].tolist(), strict=True):
        out[a].add(b)
        out[b].add(a)
    return out


def _turns(view: View) -> bool:
    devices = np.flatnonzero(view.forwards & view.devices)
    if len(devices) != len(view.units):
        return False
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    graph = adjacency(len(devices), place[view.a[view.trunks]], place[view.b[view.trunks]])
    return transitive(view.fabric, graph, devices, view.budget)


def _paths(lower: int, upper: int, pair: tuple[int, int], devices: Iterable[int], linked: bool) -> DevicePaths:
    return Bound(lower, upper, Counted(), DeviceCut(pair, tuple(sorted(devices)), linked))


# ---------------------------------------------------------------- all that forwards is a unit


def _between_chips(view: View, near: dict[int, set[int]], work: Work) -> DevicePaths:
    units = view.units.tolist()
    u = min(units, key=lambda d: len(near[d]))
    try:
        found = weakest(near, units, len(near[u]) + 1, True, work)
    except Spent:
        others = [x for x in units if x != u]
        v = next((x for x in others if x not in near[u]), others[0])
        connected = int((view.label[view.units] == view.label[u]).all())
        return _paths(connected, len(near[u]), (u, v), near[u] - {v}, v in near[u])
    assert found is not None  # the neighbours of u separate it from the others
    return _separation(found)


def _separation(found: Separator) -> DevicePaths:
    return _paths(found.value, found.value, found.pair, found.devices, found.joined)


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
    """The search for the worst pair. Two units with x and y switches of a component have min(x, y) disjoint paths there, unless
    fewer switches separate two that units are connected to; only pairs for which that is less than the least found are
    searched."""

    def __init__(self, view: View, near: dict[int, set[int]], inner: set[int], work: Work) -> None:
        self.near = near
        self.inner = inner
        self.work = work
        self.forwarding = {d: near[d] & inner for d in inner}
        self.hub = view.label
        self.classes = _classes(self.hub, near, inner, view.units.tolist())
        self.best: Separator | None = None
        self.sure: dict[int, int] = {}

    def solve(self) -> DevicePaths:
        """The least, or bounds on it where the work is spent."""
        low = 0
        try:
            self._equal()
            low = self._lowest()
            if self.best is None or low < self.best.value:
                self._certain()
                low = self._lowest()
                for one, two in self._open():
                    self._search(one, two)
                low = self.best.value if self.best is not None else 0
        except Spent:
            pass
        if self.best is None:
            u, v = self.classes[0], self.classes[1]
            mine = min(u, v, key=lambda c: len(self.near[c.first]))
            return _paths(0, len(self.near[mine.first]), (u.first, v.first), self.near[mine.first], False)
        return replace(_separation(self.best), lower=min(low, self.best.value))

    def _equal(self) -> None:
        """Two of one class share all their switches."""
        pairs = [c for c in self.classes if c.second >= 0]
        if pairs:
            c = min(pairs, key=lambda c: len(self.near[c.first]))
            self.best = Separator((c.first, c.second), frozenset(self.near[c.first] & self.inner), False)

    def _lower(self, one: Access, two: Access) -> int:
        there = dict(two)
        return sum(min(x, there.get(hub, 0), self.sure.get(hub, 1)) for hub, x in one)

    def _lowest(self) -> int:
        """What all pairs have at least."""
        kinds = dict.fromkeys(c.access for c in self.classes)
        return min(self._lower(one, two) for one, two in (*((k, k) for k in kinds), *combinations(kinds, 2)))

    def _certain(self) -> None:
        """For every component how many switches separate two that units are connected to at least, as far as that matters; pairs
        of units at the two are the first to be searched."""
        access_of: dict[int, set[int]] = {}
        at: dict[int, _Class] = {}
        most: dict[int, int] = {}
        for c in self.classes:
            for d in sorted(self.near[c.first] & self.inner):
                access_of.setdefault(int(self.hub[d]), set()).add(d)
                at.setdefault(d, c)
            for hub, x in c.access:
                most[hub] = max(most.get(hub, 0), x)
        for hub, switches in access_of.items():
            limit = most[hub] if self.best is None else min(most[hub], self.best.value)
            found = weakest(self.forwarding, sorted(switches), limit, False, self.work)
            self.sure[hub] = limit if found is None else found.value
            if found is not None:
                self._search(at[found.pair[0]], at[found.pair[1]])

    def _open(self) -> Iterator[tuple[_Class, _Class]]:
        """Pairs that may be worse than the worst found, the most likely first."""
        groups: dict[Access, list[_Class]] = {}
        for c in self.classes:
            groups.setdefault(c.access, []).append(c)
        kinds = sorted((self._lower(one, two), one, two) for one, two in combinations_with_replacement(sorted(groups), 2))
        for low, one, two in kinds:
            pairs = combinations(groups[one], 2) if one == two else product(groups[one], groups[two])
            for u, v in pairs:
                if self.best is not None and low >= self.best.value:
                    break
                yield u, v

    def _search(self, one: _Class, two: _Class) -> None:
        """Disjoint paths of one pair, unless they are as many as the least found."""
        u, v = one.first, two.first
        if u == v:
            return
        mine, other, joined = self.near[u] & self.inner - {v}, self.near[v] & self.inner - {u}, v in self.near[u]
        limit = min(len(mine), len(other)) + 1 if self.best is None else self.best.value - joined
        if len(mine & other) >= limit:
            return
        self.work.take(1)
        devices = fan(self.forwarding, sorted(mine), other, {u, v}, limit, self.work)
        if devices is not None:
            self.best = Separator((u, v), devices, joined)


def _classes(hub: Ints, near: dict[int, set[int]], inner: set[int], units: list[int]) -> list[_Class]:
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
