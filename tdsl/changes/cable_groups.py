"""Cables that come, go and move, counted by class and by the declarations at their ends:
``node[8..15] to leaf: 64 new``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from tdsl.changes.model import CableGroup, CableLeg, Changes
from tdsl.fabric.graph import Fabric
from tdsl.fabric.renamed import path_indices, path_without_indices
from tdsl.system.lazy_dataclass import dataclass

MOST_PIECES = 8
"""Groups of one pair of declarations that are told apart, by the outermost index."""


@dataclass(frozen=True, slots=True)
class DeclarationExtent:
    """How many built devices a declaration has, and its indices along each axis, outermost first."""

    built: int
    axes: tuple[tuple[int, int], ...]


Extents = Mapping[str, DeclarationExtent]
"""By the path of a declaration, without indices."""


def group_changed_cables(changes: Changes, before: Fabric, after: Fabric) -> list[CableGroup]:
    """The cables of a comparison by what becomes of them, class and declarations, in the order of the cabling
    plan; new and moved ones by today's declarations."""
    old, new = (_extents_of_declarations(f) for f in (before, after))
    return [
        *_cables_by_declaration("new", changes.added, new),
        *_cables_by_declaration("removed", changes.removed, old),
        *_cables_by_declaration("moved", [x.new for x in changes.moved], new),
    ]


def _extents_of_declarations(fabric: Fabric) -> Extents:
    count = np.bincount(fabric.device_set[fabric.built], minlength=len(fabric.sets)).tolist()
    return {
        path_without_indices(fabric.device_path(s.first)): DeclarationExtent(
            n, tuple((axis.low, axis.low + axis.size - 1) for axis in s.axes)
        )
        for s, n in zip(fabric.sets, count, strict=True)
        if s.count
    }


def _cables_by_declaration(change: str, legs: Iterable[CableLeg], extents: Extents) -> list[CableGroup]:
    found: dict[tuple[str, str, str], list[CableLeg]] = defaultdict(list)
    for leg in legs:
        ends = path_without_indices(leg.a.device), path_without_indices(leg.b.device)
        found[(*ends, leg.link_class)].append(leg)
    out = []
    for (_, _, link_class), rows in found.items():
        whole = _group_of_legs(change, rows, link_class, extents)
        pieces: dict[tuple[str, ...], list[CableLeg]] = defaultdict(list)
        for leg in rows:
            pieces[
                tuple(path.partition("]")[0] for path in (leg.a.device, leg.b.device) if "." in path)
            ].append(leg)
        apart = [_group_of_legs(change, piece, link_class, extents) for piece in pieces.values()]
        counted = whole.a[:1].isdigit() or whole.b[:1].isdigit() or ("[" in whole.a and "[" in whole.b)
        out += apart if counted and 1 < len(apart) <= MOST_PIECES else [whole]
    return out


def _group_of_legs(change: str, rows: list[CableLeg], link_class: str, extents: Extents) -> CableGroup:
    a, b = (
        _devices_as_ranges(dict.fromkeys(e.device for e in ends), extents)
        for ends in zip(*((x.a, x.b) for x in rows), strict=True)
    )
    return CableGroup(change, a, b, link_class, len(rows))


def _devices_as_ranges(paths: Iterable[str], extents: Extents) -> str:
    """Devices of one declaration: its name where all are meant, ``su[3].node[0..30]`` where they are whole
    ranges, else its name and how many there are."""
    devices = list(paths)
    declaration = path_without_indices(devices[0])
    known = extents.get(declaration.rstrip("'"), DeclarationExtent(-1, ()))
    if len(devices) == 1:
        return devices[0]
    if len(devices) == known.built:
        return declaration
    columns = list(zip(*(map(int, path_indices(p)) for p in devices), strict=True))
    axes = [sorted(set(column)) for column in columns]
    ranges = [(axis[0], axis[-1]) for axis in axes]
    whole = all(high - low + 1 == len(axis) for axis, (low, high) in zip(axes, ranges, strict=True))
    if not axes or not whole or prod(len(axis) for axis in axes) != len(devices):
        return f"{len(devices):,} {declaration}"
    return _path_of_ranges(devices[0], ranges, known)


def _path_of_ranges(device: str, ranges: Sequence[tuple[int, int]], known: DeclarationExtent) -> str:
    """The path of a device with ranges for its indices; those that have all of a declaration are left out,
    but for the outermost."""
    at = 0
    parts: list[str] = []
    for part in device.split("."):
        own = ranges[at : at + len(path_indices(part))]
        every = known.axes[at : at + len(own)] == tuple(own) and parts
        at += len(own)
        texts = [f"{low}..{high}" if low < high else str(low) for low, high in own]
        parts.append(part.partition("[")[0] + (f"[{', '.join(texts)}]" if own and not every else ""))
    return ".".join(parts)
