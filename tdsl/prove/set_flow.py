"""The maximum flow between two sets of devices, each of them put together as one node."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.order import rank_values
from tdsl.fabric.subject import element_of_devices
from tdsl.prove.bound import Bound, CrossedArcs, Flow
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FlowBetweenSets:
    """Bit/s that flow from ``here`` to ``there``, what the ports of the smaller side carry, and the fabric's
    links that a minimum cut crosses."""

    here: Bools
    there: Bools
    bound: Bound[int, Flow, CrossedArcs]
    full: int
    cut: Ints


def max_flow_between_sets(view: View, claim: ResolvedClaim) -> FlowBetweenSets | str:
    """The flow of ``of A to B``, or why there is none."""
    f = view.fabric
    here, there = (surviving_devices_of_selectors(view, s) for s in (claim.of, claim.of_to))
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
    nodes, dense = rank_values(np.concatenate(([0, 1], place[a], place[b])))
    one_end, other_end = np.split(dense[2:], 2)
    network = Network.both_ways(np.ones(len(nodes), dtype=np.bool_), one_end, other_end, rate)
    found = max_flow(network, 0, 1)
    tail, head = nodes[network.tail] - 2, nodes[network.head] - 2  # devices, and -2 and -1 for the two sets
    used, over = found.flow > 0, found.side[network.tail] & ~found.side[network.head]
    flow = zip(*(x[used].tolist() for x in (tail, head, found.flow)), strict=True)
    crossed = zip(*(x[over].tolist() for x in (tail, head, np.ones_like(tail))), strict=True)
    cut = rows[found.side[one_end] != found.side[other_end]]
    bound = Bound(found.value, found.value, Flow(tuple(flow)), CrossedArcs(tuple(crossed)))
    return FlowBetweenSets(here, there, bound, min(one, two), cut)


def surviving_devices_of_selectors(view: View, selectors: tuple[Selector, ...]) -> Bools:
    """Devices that selectors name, as far as they are left; of a group the units in it, or all of it where it
    has none before any failure: switches do not take the place of hosts that failed."""
    f = view.fabric
    out, units = np.zeros(f.device_count, dtype=np.bool_), np.zeros(f.device_count, dtype=np.bool_)
    units[(view.intact or view).units] = True
    for s in selectors:
        element = element_of_devices(f, s)
        named = element >= 0
        has_units = np.zeros(len(s.elements) + 1, dtype=np.bool_)
        has_units[element[named & units]] = True
        out |= named & (units | ~has_units[element])
    return out & view.devices
