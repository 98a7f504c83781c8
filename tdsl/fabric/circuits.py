"""Circuits: links set up through optical circuit switches over cables that are already drawn.

Each asked link goes to the OCS, among those to which both ends have a free cable, that carries the fewest
circuits so far (the lowest among equals). Where none serves both, the circuits of two OCS, one with room at
each end, are distributed anew together with the new one: along Euler circuits their links alternate between
the two, so each device keeps half of its links in each (Petersen 1891). With an even number of cables from
every device to every OCS that always succeeds.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field

import numpy as np

from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import Resolver, variable_assignments
from tdsl.fabric.vector import Array
from tdsl.fabric.wiring import (
    Batch,
    WiringState,
    add_links,
    check_settings,
    copies_of,
    count_links_of_connect,
    links_of_application,
)
from tdsl.semantics.fault import Fault
from tdsl.semantics.plan import ResolvedConnect
from tdsl.system.lazy_dataclass import dataclass

Edge = tuple[int, int, int]  # device, device, number of the circuit


@dataclass(slots=True)
class Plant:
    """Drawn cables and the circuits over them. ``cables[device][ocs]`` lists free ``(device port, OCS
    port)``, lowest first. ``planned`` is the first port of every device that a cable to an OCS is planned
    for, built or not."""

    cables: dict[int, dict[int, list[tuple[int, int]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    used: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    members: dict[int, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    planned: dict[int, int] = field(default_factory=dict)

    def room(self, device: int, ocs: int) -> int:
        """Free cables from a device to an OCS."""
        return len(self.cables[device].get(ocs, ())) - self.used[device, ocs]

    def total_room(self, device: int) -> int:
        """Free cables of a device."""
        return sum(self.room(device, o) for o in self.cables[device])

    def add(self, edge: Edge, ocs: int) -> None:
        """Set a circuit up in an OCS."""
        self.members[ocs].append(edge)
        for d in edge[:2]:
            self.used[d, ocs] += 1


def plant_of(wiring: WiringState) -> Plant:
    """The free cables to OCS, from what was drawn."""
    plant = Plant()
    base = wiring.ports.base
    for batch, built in (*((x, True) for x in wiring.drawn), *((x, False) for x in wiring.undrawn)):
        for a, b in zip(batch.a.tolist(), batch.b.tolist(), strict=True):
            da, db = (int(np.searchsorted(base, p, side="right")) - 1 for p in (a, b))
            if wiring.kinds[da] == "ocs":
                a, b, da, db = b, a, db, da
            if wiring.kinds[db] == "ocs":
                plant.planned[da] = min(a, plant.planned.get(da, a))
                if built:
                    plant.cables[da][db].append((a, b))
    for per in plant.cables.values():
        for pairs in per.values():
            pairs.sort()
    return plant


def set_up_circuits(wiring: WiringState, plant: Plant, wire: ResolvedConnect, statement: int) -> None:
    """Set up the circuits of one statement. Raises Fault where the cables do not suffice."""
    if wire.via is not None:
        raise Fault("E0457", wire.via.span, "a circuit finds its OCS among the cables; there is no `via`")
    over = variable_assignments(
        wire.context, (*wire.a, *wire.b), wire.node.guard, wire.scope, wiring.evaluator, wire.node.span
    )
    if not over.count:
        wiring.idle.append(wire.node)
        return
    resolver = Resolver(wire.scope, wiring.evaluator, over)
    a, b = resolver.side(wire.a), resolver.side(wire.b) if wire.b else None
    for choice in (*a.choices, *(b.choices if b else ())):
        if choice.local is not None:
            raise Fault(
                "E0457", choice.span, "a circuit takes whichever cabled ports fit; name the device only"
            )
    free = np.array([plant.total_room(d) for d in distinct_values(a.rows).tolist()], dtype=np.int64)
    pairs = links_of_application(wiring, wire, a, b, resolver, free)
    times = copies_of(wire, resolver)
    count_links_of_connect(wiring, wire, times, pairs)
    check_settings(wire, 1)
    at = np.repeat(np.arange(over.count, dtype=np.int64), times * len(pairs.a))
    da = a.rows[at, np.tile(pairs.a, int(times.sum()))]
    db = (b or a).rows[at, np.tile(pairs.b, int(times.sum()))]
    keep = wiring.ports.built[da] & wiring.ports.built[db]
    absent = ~keep & np.isin(da, list(plant.planned)) & np.isin(db, list(plant.planned))
    later = _first_ports(plant, da[absent], db[absent])
    at = np.concatenate([at[keep], at[absent]])
    near, far = (np.concatenate([x[keep], x[absent]]) for x in (da, db))
    da, db = da[keep], db[keep]
    for done, i in enumerate(np.lexsort((db, da)).tolist()):
        if not _place_circuit(plant, (int(da[i]), int(db[i]), i)):
            here, there = wiring.ports.path(int(da[i])), wiring.ports.path(int(db[i]))
            raise Fault(
                "E0452",
                wire.node.span,
                f"{here} and {there} lack free cables to a common OCS for one more circuit",
                notes=[f"{done:,} of {len(da):,} circuits were set up"],
                help="ask for fewer circuits, or cable more ports of both to the same OCS",
            )
    columns = [np.concatenate(c) for c in zip(_ports_of_circuits(plant, len(da)), later, strict=True)]
    zero = np.zeros(len(at), dtype=np.int64)
    batch = Batch(statement, wire, columns[0], columns[1], near, far, zero, columns[2], columns[3], at, over)
    add_links(wiring, batch, np.arange(len(at)) < len(da))


def _first_ports(plant: Plant, da: Array, db: Array) -> tuple[Array, ...]:
    """Ports of circuits that are not set up because a device is omitted. They are not chosen before it is
    built: the first one cabled to an OCS represents them."""
    a, b = (np.array([plant.planned[d] for d in x.tolist()], dtype=np.int64) for x in (da, db))
    return a, b, np.full(len(a), -1, dtype=np.int64), np.full(len(a), -1, dtype=np.int64)


def _place_circuit(plant: Plant, edge: Edge) -> bool:
    """Set one circuit up, dealing two OCS out anew if need be."""
    a, b, _ = edge
    with_a = [o for o in plant.cables[a] if plant.room(a, o) > 0]
    with_b = [o for o in plant.cables[b] if plant.room(b, o) > 0]
    both = set(with_a) & set(with_b)
    if both:
        plant.add(edge, min(both, key=lambda o: (len(plant.members[o]), o)))
        return True
    return any(_redistribute_circuits(plant, edge, x, y) for x in sorted(with_a) for y in sorted(with_b))


def _redistribute_circuits(plant: Plant, edge: Edge, x: int, y: int) -> bool:
    """Deal the circuits of two OCS and a new one out between them; False if some device would lack cables."""
    edges = [*plant.members[x], *plant.members[y], edge]
    halves = _halve_links(edges)
    for ocs, half in zip((x, y), halves, strict=True):
        need: dict[int, int] = defaultdict(int)
        for a, b, _ in half:
            need[a] += 1
            need[b] += 1
        if any(n > len(plant.cables[d].get(ocs, ())) for d, n in need.items()):
            return False
    for ocs in (x, y):
        for a, b, _ in plant.members[ocs]:
            plant.used[a, ocs] -= 1
            plant.used[b, ocs] -= 1
        plant.members[ocs] = []
    for ocs, half in zip((x, y), halves, strict=True):
        for e in half:
            plant.add(e, ocs)
    return True


def _halve_links(edges: list[Edge]) -> tuple[list[Edge], list[Edge]]:
    """Split links so that every device has half of its links, rounded up or down, in each part: alternately
    along Euler circuits, with devices of odd degree joined to a stand-in so that circuits exist and begin
    there."""
    at: dict[int, list[int]] = defaultdict(list)
    ends = [(a, b) for a, b, _ in edges]
    for i, (a, b) in enumerate(ends):
        at[a].append(i)
        at[b].append(i)
    for d in [d for d, found in at.items() if len(found) % 2]:
        at[d].append(len(ends))
        at[-1].append(len(ends))
        ends.append((-1, d))
    used = [False] * len(ends)
    side = [0] * len(ends)
    for start in sorted(at, key=lambda d: (d != -1, len(at[d]), d)):
        for k, i in enumerate(_euler_circuit(start, at, ends, used)):
            side[i] = k % 2
    first, second = ([e for i, e in enumerate(edges) if side[i] == s] for s in (0, 1))
    return first, second


def _euler_circuit(
    start: int, at: dict[int, list[int]], ends: list[tuple[int, int]], used: list[bool]
) -> list[int]:
    """The links of a closed walk from ``start`` through its whole component (Hierholzer)."""
    stack: list[tuple[int, int]] = [(start, -1)]
    walk: list[int] = []
    while stack:
        here, came = stack[-1]
        while at[here] and used[at[here][-1]]:
            at[here].pop()
        if at[here]:
            i = at[here].pop()
            used[i] = True
            a, b = ends[i]
            stack.append((b if a == here else a, i))
        else:
            stack.pop()
            if came >= 0:
                walk.append(came)
    return walk


def _ports_of_circuits(plant: Plant, count: int) -> tuple[Array, ...]:
    """Ports for the circuits just set up: in every OCS, in the order they were asked for, the lowest
    cables."""
    columns = np.empty((4, count), dtype=np.int64)
    for ocs, edges in plant.members.items():
        for a, b, i in sorted(edges, key=lambda e: e[2]):
            pa, oa = plant.cables[a][ocs].pop(0)
            pb, ob = plant.cables[b][ocs].pop(0)
            columns[:, i] = (pa, pb, oa, ob)
    plant.members.clear()
    plant.used.clear()
    return tuple(columns)
