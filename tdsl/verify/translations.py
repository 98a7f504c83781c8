"""Translations of a block of devices: whether shifting its indices, round and round, maps the wiring onto itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.semantics.model import DeviceSet
from tdsl.verify.components import Adjacency


def transitive(fabric: Fabric, graph: Adjacency, devices: Ints) -> bool:
    """Whether verified translations lead from every node to every other (``devices`` says which device each node is).

    Only asked of one declaration that is built completely: then steps along all its axes together reach every node, and it is
    enough that each step keeps the links. False may also mean that no such steps were found.
    """
    return steps_of(fabric, graph, devices) is not None


def steps_of(fabric: Fabric, graph: Adjacency, devices: Ints) -> list[Ints] | None:
    """Such translations, one along each axis; None where none are found."""
    sets = np.unique(fabric.device_set[devices])
    if len(sets) != 1 or fabric.sets[int(sets[0])].count != len(devices):
        return None
    systems = _systems(fabric.sets[int(sets[0])])
    return next((steps for steps in systems if all(_keeps(graph, step) for step in steps)), None)


def _systems(s: DeviceSet) -> Iterator[list[Ints]]:
    """Ways to read a device's indices as coordinates, each given by its steps along every axis: groups and devices with
    equally many axes as one grid (``cube[4x4x4].chip[4x4x4]`` is 16x16x16), or each axis by itself."""
    shape = [a.size for a in s.axes]
    place = np.unravel_index(np.arange(s.count), shape) if shape else ()
    indexed = [len(p.axes) for p in s.parts if p.axes]
    if len(indexed) > 1 and len(set(indexed)) == 1:
        width = indexed[0]
        yield [_step(shape, place, list(range(axis, len(shape), width))) for axis in range(width)]
    yield [_step(shape, place, [axis]) for axis in range(len(shape))]


def _step(shape: list[int], place: tuple[Ints, ...], axes: list[int]) -> Ints:
    """Where every device goes if the coordinate written by these axes, most significant first, grows by one."""
    sizes = [shape[a] for a in axes]
    moved = (np.ravel_multi_index([place[a] for a in axes], sizes) + 1) % int(np.prod(sizes))
    out = list(place)
    for axis, values in zip(axes, np.unravel_index(moved, sizes), strict=True):
        out[axis] = values
    image: Ints = np.ravel_multi_index(out, shape)
    return image


def _keeps(graph: Adjacency, image: Ints) -> bool:
    """Whether renaming the nodes gives the same links with the same counts."""
    n = graph.nodes
    a = np.repeat(np.arange(n), np.diff(graph.start))
    keys = image[a] * n + image[graph.near]
    order = np.argsort(keys)
    return bool(np.array_equal(keys[order], a * n + graph.near) and np.array_equal(graph.count[order], graph.count))
