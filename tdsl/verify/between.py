"""The maximum flow between two sets of devices, each of them put together as one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Bools, Ints
from tdsl.verify.flows import Network, max_flow
from tdsl.verify.view import View

Arcs = list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class Between:
    """Bit/s that flow at most, bit/s that the ports of the smaller side carry, and the fabric's links that a minimum cut crosses.

    ``flow`` and ``crossed`` are arcs: two devices, where -2 is the one set and -1 the other, and bit/s of the flow or 1.
    """

    here: Bools
    there: Bools
    value: int
    full: int
    cut: Ints
    flow: Arcs
    crossed: Arcs


def between(view: View, claim: ResolvedClaim) -> Between | str:
    """The flow of ``of A to B``, or why there is none."""
    f = view.fabric
    here, there = (_members(view, s) for s in (claim.of, claim.of_to))
    if not here.any() or not there.any() or (here & there).any():
        both = view.names(np.flatnonzero(here & there)[:1])
        return f"{both[0]} is on both sides" if both else "nothing that it names is left"
    kept = (view.a != view.b) & ~((here[view.a] & here[view.b]) | (there[view.a] & there[view.b]))
    passing = view.forwards | here | there
    kept &= passing[view.a] & passing[view.b]
    rows = view.rows[kept]
    a, b, rate = view.a[kept], view.b[kept], f.link_rate[rows]
    one, two = (int(rate[s[a] | s[b]].sum()) for s in (here, there))
    if not min(one, two):
        return "one of the two has no link"
    place = np.where(here, 0, np.where(there, 1, 2 + np.arange(f.device_count)))
    nodes, dense = np.unique(np.concatenate(([0, 1], place[a], place[b])), return_inverse=True)
    tail, head = np.split(dense[2:], 2)
    keys, back = np.unique(np.minimum(tail, head) * len(nodes) + np.maximum(tail, head), return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, back, rate)
    network = Network([[] for _ in nodes])
    for key, room in zip(keys.tolist(), total.tolist(), strict=True):
        network.join(key // len(nodes), key % len(nodes), room, room)
    value, side = max_flow(network, 0, 1)
    flow, crossed = _arcs(network, (nodes - 2).tolist(), total.tolist(), side)
    cut = rows[np.isin(tail, [*side]) != np.isin(head, [*side])]
    return Between(here, there, value, min(one, two), cut, flow, crossed)


def _arcs(network: Network, device: list[int], rooms: list[int], side: set[int]) -> tuple[Arcs, Arcs]:
    """What flows, and the arcs out of the side."""
    flow, crossed = [], []
    for i, room in enumerate(rooms):
        for arc in (2 * i, 2 * i + 1):
            v, w = network.to[arc ^ 1], network.to[arc]
            if room > network.room[arc]:
                flow.append((device[v], device[w], room - network.room[arc]))
            if v in side and w not in side:
                crossed.append((device[v], device[w], 1))
    return flow, crossed


def _members(view: View, selectors: tuple[Selector, ...]) -> Bools:
    """Devices that selectors name, as far as they stand; of a group the units in it, or all of it where it has none."""
    out = np.zeros(view.fabric.device_count, dtype=np.bool_)
    units = np.zeros_like(out)
    units[view.units] = True
    for s in selectors:
        for e in s.elements:
            inside = e.devices[units[e.devices]]
            out[inside if len(inside) else e.devices] = True
    return out & view.devices
