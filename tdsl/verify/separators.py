"""Node-disjoint paths between the worst pair of units: how many switches must fail before two units lose each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tdsl.verify.components import adjacency
from tdsl.verify.flows import Network, max_flow
from tdsl.verify.translations import transitive
from tdsl.verify.view import View

WORK = 20_000_000
"""Arcs that flows may look at before the answer stays bounded: some seconds."""

PAIRS = 200_000
"""Pairs of classes that are compared before the answer stays bounded."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Bounds on the least number of disjoint paths; a pair that the upper bound is about, and the devices that separate it.
    ``links`` joins the pair itself (two chips) and no failure of a device separates it."""

    lower: int
    upper: int
    pair: tuple[int, int]
    devices: tuple[int, ...]
    links: bool


def separators(view: View) -> Separation:
    """The least over all pairs of units; there are two at least. Source: Menger, "Zur allgemeinen Kurventheorie" (1927)."""
    near = _neighbours(view)
    even = _even(view, near)
    if even is not None:
        return even
    best: Separation | None = None
    inner = _inner(view)
    budget, seen = WORK, 0
    arcs = sum(len(x) for x in near.values())
    joined = (view.label[view.units] == view.label[view.units[0]]).all() if view.forwards[view.units].all() else _one_hub(view)
    for u, v in _pairs(view, near):
        seen += 1
        if best is not None:
            if best.upper <= int(joined):
                break  # every pair has a path
            if len(near[u] & near[v] & inner) >= best.upper or _short_ways(near, inner, u, v, best.upper):
                continue
            budget -= arcs * best.upper
            if budget < 0 or seen > PAIRS:
                return Separation(min(int(joined), best.upper), best.upper, best.pair, best.devices, best.links)
        found = _between(view, near, u, v)
        if best is None or found.upper < best.upper:
            best = found
    assert best is not None
    return best


def _even(view: View, near: dict[int, set[int]]) -> Separation | None:
    """A connected graph whose nodes all look alike, no four of them joined each to each, is as connected as a node has
    neighbours. Source: Mader, "Über den Zusammenhang symmetrischer Graphen" (Archiv der Mathematik 21, 1970)."""
    u, *others = view.units.tolist()
    mine = near[u]
    if not view.forwards[view.units].all() or (view.label[view.units] != view.label[u]).any() or not _turns(view):
        return None
    if any(near[x] & near[y] & mine for x in mine for y in near[x] & mine):
        return None
    v = next((x for x in others if x not in mine), None)
    return None if v is None else Separation(len(mine), len(mine), (u, v), tuple(sorted(mine)), False)


def _pairs(view: View, near: dict[int, set[int]]) -> Iterator[tuple[int, int]]:
    """Pairs of which one is the worst: those that meet fewest switches come first."""
    if view.forwards[view.units].all() and _turns(view):
        yield from ((int(view.units[0]), int(v)) for v in view.units[1:])  # every unit looks like the first
        return
    classes = sorted(_classes(view, near), key=lambda c: len(near[c[0]]))
    yield from ((u, v) for u, v in classes if v >= 0)
    yield from combinations([u for u, _ in classes], 2)


def _one_hub(view: View) -> bool:
    """Whether all units meet one component of switches."""
    at = view.attachment
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    mine = unit[at.end]
    met = np.unique(at.hub[mine] * view.fabric.device_count + at.end[mine]) // view.fabric.device_count
    _, number = np.unique(met, return_counts=True)
    return bool(number.max(initial=0) == len(view.units))


def _short_ways(near: dict[int, set[int]], inner: set[int], u: int, v: int, enough: int) -> bool:
    """Whether that many disjoint paths of one switch, or of two with one between, are found without a search."""
    both = near[u] & near[v] & inner
    used, found = set(both), len(both)
    far = (near[v] & inner) - both
    for x in sorted((near[u] & inner) - both):
        way = next(
            ((y, min(free)) for y in sorted(far) if (free := (near[x] & near[y] & inner) - used - near[u] - near[v])), None
        )
        if way is not None:
            far.discard(way[0])
            used.add(way[1])
            found += 1
        if found >= enough:
            return True
    return found >= enough


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


def _classes(view: View, near: dict[int, set[int]]) -> list[tuple[int, int]]:
    """A unit for each set of neighbours, and a second one with the same if there is one (else -1)."""
    found: dict[frozenset[int], tuple[int, int]] = {}
    for u in view.units.tolist():
        key = frozenset(near[u])
        first = found.get(key)
        found[key] = (u, -1) if first is None else (first[0], u if first[1] < 0 else first[1])
    return list(found.values())


def _turns(view: View) -> bool:
    devices = np.flatnonzero(view.forwards & view.devices)
    if len(devices) != len(view.units):
        return False
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    graph = adjacency(len(devices), place[view.a[view.trunks]], place[view.b[view.trunks]])
    return transitive(view.fabric, graph, devices)


def _between(view: View, near: dict[int, set[int]], u: int, v: int) -> Separation:
    """Disjoint paths of one pair: every device passes one path, so it becomes two nodes with an arc of one."""
    inner = [d for d in sorted(near) if d not in (u, v) and view.forwards[d]]
    place = {d: i for i, d in enumerate(inner)}
    source, sink = 2 * len(inner), 2 * len(inner) + 1
    network = Network([[] for _ in range(2 * len(inner) + 2)])
    many = len(inner) + 1
    for d, i in place.items():
        network.join(2 * i, 2 * i + 1, 1, 0)
        for e in sorted(near[d]):
            if e in place:
                network.join(2 * i + 1, 2 * place[e], many, 0)
    for d in sorted(near[u]):
        if d in place:
            network.join(source, 2 * place[d], many, 0)
    for d in sorted(near[v]):
        if d in place:
            network.join(2 * place[d] + 1, sink, many, 0)
    value, reached = max_flow(network, source, sink)
    devices = tuple(d for d, i in place.items() if 2 * i in reached and 2 * i + 1 not in reached)
    joined = v in near[u]
    return Separation(value + joined, value + joined, (u, v), devices, joined)
