"""Two fabrics as one that has the devices and links of both, so that every state between them can be
judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tdsl.fabric.graph import FREE, Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.renamed import design_devices_of, find_renamed_devices
from tdsl.prove.view import View
from tdsl.semantics.model import DeviceSet
from tdsl.system.lazy_dataclass import dataclass

ABSENT = ("absent_reserved", "absent_a", "absent_b", "absent_rate", "absent_statement")
"""Columns of links that are planned and not built: no state has them."""
OLD = "'"
"""Behind the first name in the path of a device that only the old fabric has; no name of a design can have
it. Declarations of both fabrics would look like one otherwise, with instances of several sizes."""


@dataclass(frozen=True, slots=True)
class Union:
    """``fabric`` has all devices and links; ``old`` and ``new`` give the place of each side's links among
    them, ``row_before`` that of each of the old one's devices. ``known_before`` says which devices the old
    one has."""

    fabric: Fabric
    old: Ints
    new: Ints
    known_before: Bools
    row_before: Ints

    def state(self, present: Bools, idle: Bools | None = None) -> View:
        """The fabric with some of its links, and without the devices that are out of service."""
        nothing = np.zeros(self.fabric.device_count, dtype=np.bool_) if idle is None else idle
        network = self.fabric.network
        gone = ~present if network is self.fabric else ~present[~scaleup_links(self.fabric)]
        return View.whole(network).without(nothing, gone)


def union_of_fabrics(before: Fabric, after: Fabric, exchanged: bool = False) -> Union | None:
    """Both in one; None where a device keeps its path and has another model, unless these are ``exchanged``:
    then the old one goes and the new one comes."""
    paths = {after.device_path(d): d for d in range(after.device_count)}
    known = find_renamed_devices(design_devices_of(before), design_devices_of(after))
    row = np.array(
        [paths.get(known.get(p, p), -1) for p in map(before.device_path, range(before.device_count))],
        dtype=np.int64,
    )
    other = _devices_of_another_model(before, after, row)
    if len(other) and not exchanged:
        return None
    row[other] = -1
    own = row.copy()
    own[row < 0] = after.device_count + np.flatnonzero(
        row < 0
    )  # all rows of the old sets are appended, the shared ones bare
    base = np.concatenate([after.port_base, after.port_base[-1] + before.port_base[1:]])
    device = before.port_device
    port = base[own[device]] + np.arange(len(device)) - before.port_base[device]
    ends = [port[before.link_a], port[before.link_b]]
    place = {pair: i for i, pair in enumerate(zip(after.link_a.tolist(), after.link_b.tolist(), strict=True))}
    old = np.array(
        [place.get(pair, -1) for pair in zip(*(e.tolist() for e in ends), strict=True)], dtype=np.int64
    )
    gone = np.flatnonzero(old < 0)
    columns = _columns_of_removed_links(before, after, gone, port)
    order = np.argsort(np.concatenate([after.link_a, columns["link_a"]]), kind="stable")
    at = np.empty(len(order), dtype=np.int64)
    at[order] = np.arange(len(order))
    old[gone] = after.link_count + np.arange(len(gone))
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(after, name), column])[order] for name, column in columns.items()
    }
    size = int(base[-1])
    joined["port_link"] = np.full(size, -1, dtype=np.int64)
    joined["port_state"] = np.full(size, FREE, dtype=after.port_state.dtype)
    joined["port_state"][: len(after.port_state)] = after.port_state
    new = at[: after.link_count]
    for side in ("link_a", "link_b"):  # a port that both sides use is the new one's
        joined["port_link"][joined[side][new]] = new
    whole = _union_devices(before, after, own, base, joined)
    known_before = np.zeros(whole.device_count, dtype=np.bool_)
    known_before[own[before.built]] = True
    return Union(whole, at[old], at[: after.link_count], known_before, own)


def _devices_of_another_model(before: Fabric, after: Fabric, row: Ints) -> Ints:
    """Old devices that are built, stay and have another model; ``row`` has the new row of each old device, -1
    for none."""
    models = [m.name for m in after.models]
    return np.array(
        [
            d
            for d in np.flatnonzero(row >= 0).tolist()
            if before.built[d] and before.model_of(d).name != models[int(after.device_model[row[d]])]
        ],
        dtype=np.int64,
    )


def _columns_of_removed_links(before: Fabric, after: Fabric, gone: Ints, port: Ints) -> dict[str, Ints]:
    """The columns of the old links that the new fabric has not; ``port`` has the port in the union of each
    old port."""
    columns = {"link_a": port[before.link_a][gone], "link_b": port[before.link_b][gone]}
    columns["link_rate"] = before.link_rate[gone]
    columns["link_statement"] = before.link_statement[gone] + len(after.statements)
    for name in ("link_class", "link_medium"):
        columns[name] = np.zeros(len(gone), dtype=np.int64)
    columns["link_colour"] = np.full(len(gone), -1, dtype=np.int64)
    for name in ("link_via_a", "link_via_b"):
        via = getattr(before, name)[gone]
        columns[name] = np.where(via >= 0, port[via], -1)
    columns["link_bundle"] = np.full(len(gone), -1, dtype=np.int64)
    if len(after.link_run):
        columns["link_run"] = np.full(len(gone), -1, dtype=np.int64)
    return columns


def _union_devices(before: Fabric, after: Fabric, own: Ints, base: Ints, links: dict[str, Any]) -> Fabric:
    """The new fabric with the old one's sets behind its own; a device that both have stands in the new one's
    row."""
    known = own < after.device_count
    built = after.built.copy()
    built[own[known]] |= before.built[known]
    sets: list[DeviceSet] = list(after.sets)
    made: dict[int, DeviceSet] = {}
    for s in before.sets:
        inside = None if s.inside is None else made[s.inside.index]
        parts = (replace(s.parts[0], name=s.parts[0].name + OLD), *s.parts[1:])
        made[s.index] = replace(
            s, index=len(sets), first=s.first + after.device_count, inside=inside, parts=parts
        )
        sets.append(made[s.index])
    return replace(
        after,
        sets=tuple(sets),
        models=(*after.models, *before.models),
        statements=(*after.statements, *before.statements),
        device_set=np.concatenate([after.device_set, before.device_set + len(after.sets)]),
        device_model=np.concatenate([after.device_model, before.device_model + len(after.models)]),
        built=np.concatenate([built, before.built & ~known]),
        tier=np.concatenate([after.tier, before.tier]),
        plane=np.concatenate([after.plane, before.plane]),
        port_base=base,
        names={},
        named_by={},
        addressing=None,
        **{name: getattr(after, name)[:0] for name in ABSENT},
        **links,
    )
