"""Cuts: what crosses a split of the units, with the nodes placed on the better side; and which splits to
try."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """A split of the units and a side for every node; ``value`` in grains, one way."""

    units: Bools
    nodes: Bools
    value: int


def capacity_across_split(net: Network, units: Bools, nodes: Bools) -> int:
    """Capacity between the two sides, one way."""
    pairs = ((net.access, units, nodes), (net.trunks, nodes, nodes), (net.loose, units, units))
    return sum(int(p.capacity[low[p.a] != high[p.b]].sum()) for p, low, high in pairs)


def cut_with_nodes_placed(net: Network, units: Bools, budget: Budget = DEFAULT) -> Cut:
    """A cut for a split: every node goes, tier after tier, to the side that it has more capacity to."""
    pull = np.zeros(len(net.transit), dtype=np.int64)
    np.add.at(pull, net.access.b, np.where(units[net.access.a], net.access.capacity, -net.access.capacity))
    side = np.sign(pull)
    a, b, capacity = net.trunks.a, net.trunks.b, net.trunks.capacity
    tiers = [np.flatnonzero(net.tier == t) for t in range(int(net.tier.max(initial=0)), 0, -1)]
    best = Cut(units, side > 0, capacity_across_split(net, units, side > 0))
    for sweep in range(budget.placing_rounds):
        before = best.value
        for mine in reversed(tiers) if sweep % 2 == 0 else tiers:
            force = pull.copy()
            np.add.at(force, a, capacity * side[b])
            np.add.at(force, b, capacity * side[a])
            stays = np.where(
                side[mine] == 0, -1, side[mine]
            )  # undrawn: one side for all, so that those below can follow
            side[mine] = np.where(force[mine] == 0, stays, np.sign(force[mine]))
        value = capacity_across_split(net, units, side > 0)
        if value < best.value:
            best = Cut(units, side > 0, value)
        elif sweep > 1 and value == before:
            break
    return best


def minimum_cut_of_split(net: Network, units: Bools) -> Cut:
    """The least cut for a split: one maximum flow from all units of one side to all of the other."""
    count, (v, w) = len(net.transit), (net.trunks.a, net.trunks.b)
    ours = units[net.access.a]
    into, out = net.access.b[ours], net.access.b[~ours]
    tail = np.concatenate((np.full(len(into), count), out, v, w))
    head = np.concatenate((into, np.full(len(out), count + 1), w, v))
    capacity = np.concatenate(
        (net.access.capacity[ours], net.access.capacity[~ours], net.trunks.capacity, net.trunks.capacity)
    )
    network = Network.of(np.ones(count + 2, dtype=np.bool_), tail, head, capacity)
    nodes = max_flow(network, count, count + 1).side[:count]
    return Cut(
        units, nodes, capacity_across_split(net, units, nodes)
    )  # counted again, not taken from the flow


# ---------------------------------------------------------------- which splits


def balanced_splits(net: Network, fabric: Fabric) -> Iterator[Bools]:
    """Balanced splits worth a try, each once: whole groups and switches' neighbourhoods together, in several
    orders."""
    seen = set()
    sizes = {net.half, len(net.units) - net.half}
    for label in _unit_groupings(net, fabric):
        for order, starts in _orders_of_groups(net, label):
            for size in sizes:
                chosen = np.zeros(len(net.units), dtype=np.bool_)
                chosen[_pack_whole_groups(order, starts, size)] = True
                key = chosen.tobytes()
                if key not in seen:
                    seen.add(key)
                    yield chosen


def block_splits(net: Network, fabric: Fabric) -> Iterator[Bools]:
    """Splits of one block of the units from all others, each once: of each grouping the block with the least
    way out for what it would exchange, and the greatest."""
    seen = set()
    count, way = len(net.units), _way_out(net)
    for label in _unit_groupings(net, fabric):
        _, group = np.unique(label, return_inverse=True)
        size = np.bincount(group)
        if not 1 < len(size) < count:
            continue
        promise = np.bincount(group, weights=way) / (size * np.maximum(count - size, 1))
        for block in (int(promise.argmin()), int(size.argmax())):
            chosen = group == block
            if (key := chosen.tobytes()) not in seen:
                seen.add(key)
                yield chosen


def _unit_groupings(net: Network, fabric: Fabric) -> Iterator[Ints]:
    """Labels of the units: instances of the design's groups, every axis of their indices, and those with a
    node in common."""
    owner = fabric.device_set[net.units]
    sets = [fabric.sets[i] for i in np.unique(owner).tolist()]
    deepest = max((len(s.axes) for s in sets), default=0)
    for depth in [*range(1, deepest + 1), 0]:
        label = np.zeros(len(net.units), dtype=np.int64)
        axis = np.zeros(len(net.units), dtype=np.int64)
        for s in sets:
            mine = owner == s.index
            inner = int(np.prod([a.size for a in s.axes[depth:]] or [1]))
            at = (net.units[mine] - s.first) // inner
            label[mine] = s.first + at
            axis[mine] = at % s.axes[depth - 1].size if 0 < depth <= len(s.axes) else 0
        yield label
        yield axis
    nearest = nearest_switches(net)
    yield nearest
    reach = units_by_block(net, nearest)
    if reach is not None:
        yield reach


def nearest_switches(net: Network) -> Ints:
    """For every unit one of the nodes that it is linked to, the first; -1 for one without."""
    nearest: Ints = np.full(len(net.units), -1, dtype=np.int64)
    order = np.argsort(net.access.b, kind="stable")[::-1]
    nearest[net.access.a[order]] = net.access.b[order]
    return nearest


def units_by_block(net: Network, nearest: Ints) -> Ints | None:
    """Units by the block of switches below the top tier that they are connected to; None where there are
    fewer than three tiers."""
    top = int(net.tier.max(initial=0))
    if top < 3:
        return None
    tier = net.tier
    low = np.maximum(tier[net.trunks.a], tier[net.trunks.b]) < top
    label = component_labels(len(net.transit), net.trunks.a[low], net.trunks.b[low])
    return np.where(nearest >= 0, label[nearest], -1)


def _orders_of_groups(net: Network, label: Ints) -> Iterator[tuple[Ints, list[int]]]:
    """Units group by group, and where each group ends: as numbered, backwards, those with the least way out
    first."""
    way = _way_out(net)
    _, group = np.unique(label, return_inverse=True)
    mean = np.bincount(group, weights=way) / np.bincount(group)
    number = np.arange(len(label))
    for keys in ((number, group), (number, -group), (number, group, mean[group])):
        order = np.lexsort(keys)
        ends = np.flatnonzero(np.diff(group[order], append=-1)) + 1
        yield order, ends.tolist()


def _way_out(net: Network) -> Ints:
    """About how much every unit gets out of its nodes: a guess that only orders the splits."""
    down, out = (np.zeros(len(net.transit), dtype=np.float64) for _ in range(2))
    np.add.at(down, net.access.b, net.access.capacity)
    np.add.at(out, net.trunks.a, net.trunks.capacity)
    np.add.at(out, net.trunks.b, net.trunks.capacity)
    part = np.minimum(1.0, out / np.maximum(down, 1))
    way = np.zeros(len(net.units), dtype=np.float64)
    np.add.at(way, net.access.a, net.access.capacity * part[net.access.b])
    return np.round(np.minimum(way * 1000, 2.0**62)).astype(np.int64)


def _pack_whole_groups(order: Ints, ends: list[int], size: int) -> Ints:
    """Units of whole groups, early ones first, that fill ``size`` as far as whole groups can, then the first
    of those left."""
    if len(set(np.diff(ends, prepend=0).tolist())) == 1:
        return order[:size]  # groups of one size fill it one after the other
    groups = [order[low:high] for low, high in zip([0, *ends[:-1]], ends, strict=True)][::-1]
    sums = list(
        accumulate(groups, lambda bits, g: bits | bits << len(g), initial=1)
    )  # bit x: x units are whole groups
    left = (sums[-1] & (1 << size + 1) - 1).bit_length() - 1
    taken, rest = [], []
    for before, group in zip(sums[-2::-1], groups[::-1], strict=True):
        if left >= len(group) and before >> (left - len(group)) & 1:
            left -= len(group)
            taken.append(group)
        else:
            rest.append(group)
    return np.concatenate([*taken, *rest])[:size]
