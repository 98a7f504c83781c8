"""Links become cables: everything that leaves one connector leaves by one cable.

One far connector makes a straight cable, several make a break-out with a leg each; many-to-many needs a
panel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.order import by_keys, number_within_key
from tdsl.fabric.part_facts import PLUGGED, cable_medium
from tdsl.fabric.vector import Array
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CableLegs:
    """Legs as columns, and the legs that cannot be: ``tangled`` join many connectors to many, ``split`` are
    break-outs."""

    a: Array
    b: Array
    group: Array
    leg: Array
    links: Array
    statement: Array
    cls: Array
    tangled: NDArray[np.bool_]
    split: NDArray[np.bool_]


def number_connectors(models: Sequence[DeviceModel], device_model: Array, base: Array) -> Array:
    """A number for the connector of every port, the same for ports that share one."""
    local: list[Array] = []
    counts: list[int] = []
    for model in models:
        out: list[int] = []
        seen = 0
        for c in model.classes:
            out += [seen + k for k in c.connectors]
            seen += max(c.connectors, default=-1) + 1
        local.append(np.array(out, dtype=np.int64))
        counts.append(seen)
    per_device = np.array(counts or [0], dtype=np.int64)[device_model]
    start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(per_device)])
    result: Array = np.empty(
        int(base[-1]), dtype=np.int32 if int(start[-1]) < 1 << 31 else np.int64
    )  # half the memory
    for m, places in enumerate(local):
        rows = np.flatnonzero(device_model == m)
        numbers = start[rows][:, None] + places[None, :]
        if len(rows) and int(rows[-1]) - int(rows[0]) < len(rows):  # their ports follow each other
            result[base[rows[0]] : base[rows[-1] + 1]] = numbers.ravel()
        else:
            result[base[rows][:, None] + np.arange(len(places))[None, :]] = numbers
    return result


def fills_cages(part: object) -> bool:
    """Whether a cable has plugs that fill their cages: its model says which cages they fit."""
    return isinstance(part, DeviceModel) and cable_medium(part) in PLUGGED and "form" in part.facts


def links_together(settings: Mapping[str, object]) -> int:
    """How many links of a connect share a cable by ``cable PART carries N``; 1 where it does not say."""
    value = settings.get("carries", 1)
    return value if isinstance(value, int) else 1


def ports_sharing_cable(settings: Mapping[str, object]) -> int:
    """How many ports of a cage leave by one cable of a connect: 0 for all of them, 1 for those of one
    connector alone."""
    return 0 if fills_cages(settings.get("part")) else links_together(settings)


def first_of_cage(models: Sequence[DeviceModel], together: int = 0) -> Array:
    """For every port of the models, the first port of its cage (of its connector where it has no cage),
    counted in its model. With ``together`` the first of its group of so many ports of the cage, in their
    order."""
    out: list[int] = []
    for m in models:
        first: dict[tuple[str, int, int, int], int] = {}
        many: dict[tuple[str, int, int], int] = {}  # ports of a cage so far
        for number, c in enumerate(
            m.classes
        ):  # a class that is split in part is several here, and they share cages
            for i in range(c.size):
                key = (c.name, -1, c.cages[i]) if c.cages[i] else (c.name, number, c.connectors[i])
                group = (*key, 0)
                if together and c.cages[i]:
                    group = (*key, many.get(key, 0) // together)
                    many[key] = many.get(key, 0) + 1
                out.append(first.setdefault(group, c.first + i))
    return np.array(out, dtype=np.int64)


def cables_of_segments(a: Array, b: Array, statement: Array, cls: Array, connector: Array) -> CableLegs:
    """Cables for segments between ports ``a`` (lower end) and ``b``; rows come in the order of the lower
    end's port."""
    order = by_keys(a)
    a, b = a[order], b[order]
    if (a[1:] == a[:-1]).any():
        inside = by_keys(a, b)
        order, a, b = order[inside], a[inside], b[inside]
    ca, cb = connector[a], connector[b]
    same = ca[1:] == ca[:-1]
    fresh = np.append(len(a) > 0, ~same | (cb[1:] != cb[:-1]))[: len(a)]
    if bool((~same & (ca[1:] > ca[:-1]) | same & (cb[1:] >= cb[:-1])).all()):
        heads = np.flatnonzero(
            fresh
        )  # a connector's ports follow each other and lead to one connector after the other
        links = np.diff(np.append(heads, len(a)))
    else:
        inside = by_keys(ca, cb)
        x, y = ca[inside], cb[inside]
        fresh[1:] = (x[1:] != x[:-1]) | (y[1:] != y[:-1])
        begins = np.flatnonzero(fresh)
        heads, links = inside[begins], np.diff(np.append(begins, len(a)))
        by_port = by_keys(heads)
        heads, links = heads[by_port], links[by_port]
        del inside, x, y, begins, by_port
    a, b, la, lb, rows = a[heads], b[heads], ca[heads], cb[heads], order[heads]
    del ca, cb, order, same, fresh  # as large as all segments
    degree = np.bincount(la, minlength=int(connector.max(initial=-1)) + 1)
    degree += np.bincount(lb, minlength=len(degree))
    many_a, many_b = degree[la] > 1, degree[lb] > 1
    split = many_a | many_b
    leg = np.zeros(len(rows), dtype=np.int64)
    group = np.arange(len(rows), dtype=np.int64)
    if split.any():
        owner = np.where(many_b, lb, la)
        first = np.zeros(len(degree), dtype=np.int64)
        first[owner[::-1]] = group[
            ::-1
        ]  # of a number that is written often the last one stays: the first row
        group = (np.cumsum(first[owner] == group) - 1)[first[owner]]
        mine = np.flatnonzero(split)
        mine = mine[by_keys(group[mine])]
        leg[mine] = number_within_key(group[mine]) + 1
    return CableLegs(a, b, group, leg, links, statement[rows], cls[rows], many_a & many_b, split)
