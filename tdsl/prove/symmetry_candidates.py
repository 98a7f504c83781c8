"""Candidates for symmetries: permutations of devices that the design or its ports suggest. None is verified
here.

Steps along the indices of a declaration, exchanges of two instances of a group next to each other, exchanges
of two devices with the same neighbours; and permutations that follow ports: the neighbour of a device at port
p goes to the neighbour at port p of the device's image. The image of one device then fixes all others (a
torus, twisted or not, and every other wiring of which all devices use their ports in the same way).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.view import View
from tdsl.semantics.model import Axis, DeviceSet


def candidates_of_design(view: View, elements: Sequence[FabricElement]) -> Iterator[Ints]:
    """Permutations of all devices that may move these elements."""
    f = view.fabric
    named = _devices_of_elements(f, elements)
    sets = [f.sets[i] for i in np.unique(f.device_set[named]).tolist()]
    yield from _exchanges_of_indices(f.device_count, f.sets, sets)
    prefixes = [(s, depth) for s in sets for depth in range(1, len(s.parts) + 1)]
    done: set[tuple[str, ...]] = set()
    for s, depth in sorted(prefixes, key=lambda x: x[1]):
        prefix = tuple(p.name for p in s.parts[:depth])
        if prefix not in done:
            done.add(prefix)
            holders = [t for t in f.sets if tuple(p.name for p in t.parts[:depth]) == prefix]
            yield from _steps_along_axes(f.device_count, holders, depth)
            yield from _exchanges_of_instances(f.device_count, holders, depth)
    for s in sets:
        inner = [t for t in f.sets if _outermost_holder(t) is s]
        yield from _steps_along_axes(f.device_count, [s, *inner], len(s.parts), outer=True)
    single = np.flatnonzero(named)
    for low, high in _equal_neighbours(view, single):
        image = np.arange(f.device_count)
        _exchange_devices(view, image, low, high)
        yield image


def _devices_of_elements(f: Fabric, elements: Sequence[FabricElement]) -> Bools:
    """Which devices are in these elements or at their links, also at links beside the network."""
    named = np.zeros(f.device_count, dtype=np.bool_)
    links = np.concatenate([np.zeros(0, dtype=np.int64), *(e.links for e in elements)])
    for e in elements:
        named[e.devices] = True
    named[f.device_a[links]] = named[f.device_b[links]] = True
    if (whole := f.whole) is not None:
        beside = np.concatenate([np.zeros(0, dtype=np.int64), *(e.beside for e in elements)])
        named[whole.device_a[beside]] = named[whole.device_b[beside]] = True
    return named


def _exchanges_of_indices(
    count: int, every: Sequence[DeviceSet], sets: Sequence[DeviceSet]
) -> Iterator[Ints]:
    """Two neighbouring indices exchanged in all declarations that have an axis of one size, where an index of
    that size may name the same thing: hosts ``node[pod, segment]`` beside switches ``pod[pod].tor[segment]``.
    """
    sizes = dict.fromkeys(a.size for s in sets for a in s.axes if a.size > 1)
    for size in sizes:
        for low in range(size - 1):
            image = np.arange(count)
            for s in every:
                shape = [a.size for a in s.axes]
                if size in shape:
                    places = np.arange(s.count).reshape(shape)
                    axis = shape.index(size)
                    order = np.arange(size)
                    order[[low, low + 1]] = low + 1, low
                    image[s.first : s.first + s.count] = s.first + np.take(places, order, axis).reshape(-1)
            yield image


def _outermost_holder(s: DeviceSet) -> DeviceSet:
    """The declaration that holds these devices at the top: the hosts of chips, the chassis of switches, or
    itself."""
    while s.inside is not None:
        s = s.inside
    return s


def _exchange_devices(view: View, image: Ints, low: int, high: int) -> None:
    """Exchange two devices of one declaration with all that they contain."""
    f = view.fabric
    image[low], image[high] = high, low
    own = f.sets[int(f.device_set[low])]
    for s in f.sets:
        if s.inside is own:
            each = s.count // own.count
            for k in range(each):
                _exchange_devices(
                    view,
                    image,
                    s.first + (low - own.first) * each + k,
                    s.first + (high - own.first) * each + k,
                )


def _equal_neighbours(view: View, devices: Ints) -> Iterator[tuple[int, int]]:
    """Devices next to each other of those of one declaration that have the same links to the same
    neighbours."""
    f = view.fabric
    near: dict[int, list[tuple[int, int]]] = {d: [] for d in devices.tolist()}
    mine = np.zeros(f.device_count, dtype=np.bool_)
    mine[devices] = True
    rows = np.flatnonzero(mine[view.a] | mine[view.b])
    pairs = zip(
        view.a[rows].tolist(), view.b[rows].tolist(), f.link_rate[view.rows[rows]].tolist(), strict=True
    )
    for a, b, rate in pairs:
        if a in near:
            near[a].append((b, rate))
        if b in near:
            near[b].append((a, rate))
    last: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    for d in devices.tolist():
        key = (int(f.device_set[d]), tuple(sorted(near[d])))
        if key in last:
            yield last[key], d
        last[key] = d


def _exchanges_of_instances(count: int, sets: Sequence[DeviceSet], depth: int) -> Iterator[Ints]:
    """Two instances of a group or declaration next to each other along one of its own axes, exchanged with
    all they hold."""
    axes, holders = _instance_axes_and_sets(sets, depth)
    shape = [a.size for a in axes]
    own = len(sets[0].parts[depth - 1].axes)
    places = np.arange(int(np.prod(shape or [1]))).reshape(shape or [1])
    for axis in range(len(shape) - own, len(shape)):
        lined = np.moveaxis(places, axis, -1)
        for row in lined.reshape(-1, shape[axis]).tolist():
            for low, high in pairwise(row):
                image = np.arange(count)
                for s in holders:
                    inner = s.count // places.size
                    here, there = (
                        np.arange(s.first + x * inner, s.first + (x + 1) * inner) for x in (low, high)
                    )
                    image[here], image[there] = there, here
                yield image


def _steps_along_axes(
    count: int, sets: Sequence[DeviceSet], depth: int, outer: bool = False
) -> Iterator[Ints]:
    """One step round each of a group's or declaration's own axes, with all that its instances hold (rings,
    tori, rails); with ``outer`` round each axis of the groups around it, for these sets alone."""
    axes, holders = _instance_axes_and_sets(sets, depth)
    shape = [a.size for a in axes]
    if not shape:
        return
    own = len(sets[0].parts[depth - 1].axes)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    for axis in range(len(shape) - own) if outer else range(len(shape) - own, len(shape)):
        rolled = np.roll(places, 1, axis).reshape(-1)
        image = np.arange(count)
        for s in holders:
            inner = s.count // places.size
            image[s.first : s.first + s.count] = s.first + (
                rolled[:, None] * inner + np.arange(inner)
            ).reshape(-1)
        yield image


def _instance_axes_and_sets(
    sets: Sequence[DeviceSet], depth: int
) -> tuple[tuple[Axis, ...], list[DeviceSet]]:
    """The axes of a group's instances, and those of its sets that all instances have. A set that an
    ``extend`` gave to some is not divided by their number: it stays where it is, and a permutation that this
    makes wrong is not verified."""
    leading = [tuple(a for p in s.parts[:depth] for a in p.axes) for s in sets]
    axes = max(leading, key=lambda found: int(np.prod([a.size for a in found] or [1])))
    places = [(a.low, a.size) for a in axes]
    return axes, [
        s for s, mine in zip(sets, leading, strict=True) if [(a.low, a.size) for a in mine] == places
    ]


def candidates_by_ports(fabric: Fabric, devices: Ints, budget: Budget = DEFAULT) -> list[Ints]:
    """Permutations of nodes (``devices`` says which device each is), one to each neighbour of the first, that
    follow ports; none where a port has several links, or a device has none where its image has one. They are
    candidates: no link is compared."""
    table = _neighbour_at_ports(fabric, devices)
    if table is None or table.shape[1] > budget.port_degree:
        return []
    reached = [
        (np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), 0)
    ]  # nodes, by which node, at which port
    seen = np.zeros(len(devices), dtype=np.bool_)
    seen[0] = True
    front = np.zeros(1, dtype=np.int64)
    while len(front):
        fresh = []
        for port in range(table.shape[1]):
            near = table[front, port]
            new = (near >= 0) & ~seen[np.maximum(near, 0)]
            nodes, first = np.unique(near[new], return_index=True)
            reached.append((nodes, front[new][first], port))
            seen[nodes] = True
            fresh.append(nodes)
        front = np.concatenate(fresh)
    if not seen.all():
        return []
    out = []
    for target in np.unique(table[0][table[0] >= 0]).tolist():
        image = np.full(len(devices), -1, dtype=np.int64)
        image[0] = target
        for nodes, parents, port in reached[1:]:
            image[nodes] = np.where(image[parents] >= 0, table[image[parents], port], -1)
        if not np.array_equal(np.sort(image), np.arange(len(devices))):
            return []
        out.append(image)
    return out


def _neighbour_at_ports(fabric: Fabric, devices: Ints) -> Ints | None:
    """For every node and port of it the node at the other end, -1 without one; None where a port has
    several."""
    place = np.full(fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    rows = np.flatnonzero((place[fabric.device_a] >= 0) & (place[fabric.device_b] >= 0))
    tail = np.append(fabric.link_a[rows], fabric.link_b[rows])
    near = place[fabric.port_device[np.append(fabric.link_b[rows], fabric.link_a[rows])]]
    if not len(rows) or int(np.bincount(tail).max()) > 1:
        return None
    owner = fabric.port_device[tail]
    port = tail - fabric.port_base[owner]
    label = np.searchsorted(np.flatnonzero(np.bincount(port)), port)
    table = np.full((len(devices), int(label.max()) + 1), -1, dtype=np.int64)
    table[place[owner], label] = near
    return table


def axis_steps(s: DeviceSet) -> Iterator[list[Ints]]:
    """Ways to read a device's indices as coordinates, each given by its steps along every axis: groups and
    devices with equally many axes as one grid (``cube[4x4x4].chip[4x4x4]`` is 16x16x16), or each axis by
    itself."""
    shape = [a.size for a in s.axes]
    place = np.unravel_index(np.arange(s.count), shape) if shape else ()
    indexed = [len(p.axes) for p in s.parts if p.axes]
    if len(indexed) > 1 and len(set(indexed)) == 1:
        width = indexed[0]
        yield [
            _advance_coordinate(shape, place, list(range(axis, len(shape), width))) for axis in range(width)
        ]
    yield [_advance_coordinate(shape, place, [axis]) for axis in range(len(shape))]


def _advance_coordinate(shape: list[int], place: tuple[Ints, ...], axes: list[int]) -> Ints:
    """Where every device goes if the coordinate written by these axes, most significant first, grows by
    one."""
    sizes = [shape[a] for a in axes]
    moved = (np.ravel_multi_index([place[a] for a in axes], sizes) + 1) % int(np.prod(sizes))
    out = list(place)
    for axis, values in zip(axes, np.unravel_index(moved, sizes), strict=True):
        out[axis] = values
    image: Ints = np.ravel_multi_index(out, shape)
    return image


def transitive_candidates(fabric: Fabric, devices: Ints, budget: Budget = DEFAULT) -> Iterator[list[Ints]]:
    """Lists of permutations of nodes (``devices`` says which device each is) that may lead from each to all
    others: a step along every axis of their one declaration, or permutations that follow ports."""
    sets = np.unique(fabric.device_set[devices])
    if len(sets) == 1 and fabric.sets[int(sets[0])].count == len(devices):
        yield from axis_steps(fabric.sets[int(sets[0])])
    images = candidates_by_ports(fabric, devices, budget)
    if images:
        yield images
