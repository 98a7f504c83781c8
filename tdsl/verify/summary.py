"""What a fabric consists of, in figures: the ``summary`` object of ``check --output-format json``."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import MEDIA, Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rails import rail_count
from tdsl.fabric.tiers import main_ends
from tdsl.prove.view import View


def fabric_summary(fabric: Fabric) -> dict[str, object]:
    """Counts of what is built.

    ``hosts``, ``accelerators`` and ``endpoints`` are those with accelerators (all, where none has any), the
    rest are ``other_…``. Endpoints are the linked ports of hosts; a chip that is wired itself is one
    endpoint. ``injection_bps`` is what the endpoints can send at once, in bit/s. Of a cluster as one only
    what adds up.
    """
    view = View.whole(fabric.network)  # endpoints are those of the network
    hosts = fabric.built & (fabric.kind == "host")
    main = np.array(main_ends(fabric.sets) or [False])[fabric.device_set]
    units = np.zeros(fabric.device_count, dtype=np.bool_)
    units[view.units] = True
    units &= fabric.is_end
    others = np.zeros(fabric.device_count, dtype=np.bool_)
    others[view.others] = True
    out: dict[str, object] = {
        "hosts": int((hosts & main).sum()),
        "other_hosts": int((hosts & ~main).sum()),
        "accelerators": _built_accelerator_count(fabric),
    }
    if fabric.members:
        return out | {
            "switches": _built_switch_count(fabric),
            "tiers": _switch_count_by_tier(fabric),
            **_links_and_cables(fabric),
        }
    out |= {
        "endpoints": _linked_endpoint_count(view, np.flatnonzero(units)),
        "other_endpoints": _linked_endpoint_count(view, np.flatnonzero(others)),
        "switches": _built_switch_count(fabric),
        "tiers": _switch_count_by_tier(fabric),
        "planes": max(len(distinct_values(fabric.plane[fabric.built & (fabric.plane >= 0)])), 1),
        "rails": rail_count(fabric.network),
        **_links_and_cables(fabric),
        "injection_bps": float(_injected_rate(view, units)),
    }
    if len(fabric.circuit_a):
        out["circuits"] = len(fabric.circuit_a)
    media = np.bincount(fabric.link_medium, minlength=len(MEDIA))
    if media[1:].any():
        out["media"] = {name: int(n) for name, n in zip(MEDIA, media, strict=True) if n}
    return out


def _built_switch_count(fabric: Fabric) -> int:
    return int((fabric.built & fabric.is_switch).sum())


def _links_and_cables(fabric: Fabric) -> dict[str, object]:
    links = {"total": fabric.link_count, "classes": _count_by_class(fabric, fabric.link_class)}
    return {"links": links, "cables": _cable_count_by_class(fabric)}


def _built_accelerator_count(fabric: Fabric) -> int:
    """Accelerators of all that is built; chips that represent those inside a host are counted with the
    host."""
    each = [
        0 if s.inside is not None or s.kind not in ("host", "chip") else s.model.accelerators
        for s in fabric.sets
    ]
    return int((np.array(each, dtype=np.int64)[fabric.device_set] * fabric.built).sum()) if each else 0


def _linked_endpoint_count(view: View, devices: Ints) -> int:
    """Linked ports of hosts, and linked chips."""
    degree = view.degree[devices]
    return int(np.where(view.is_chip[devices], degree > 0, degree).sum())


def _switch_count_by_tier(fabric: Fabric) -> dict[str, int]:
    """Built switches by the name of their declaration, lowest tier first."""
    found: dict[str, tuple[int, int, int]] = {}
    last = int(fabric.tier.max(initial=0)) + 1
    for s in fabric.sets:
        rows = slice(s.first, s.first + s.count)
        number = int(fabric.built[rows].sum())
        if s.kind != "switch" or not number:
            continue
        known = fabric.tier[rows][fabric.tier[rows] >= 0]
        tier = int(known.min()) if len(known) else last
        name = f"{s.prefix}.{s.name}" if fabric.members and s.prefix else s.name
        low, first, count = found.get(name, (tier, s.index, 0))
        found[name] = (min(low, tier), first, count + number)
    return {name: count for name, (_, _, count) in sorted(found.items(), key=lambda item: item[1])}


def _count_by_class(fabric: Fabric, rows: Ints) -> dict[str, int]:
    count = np.bincount(rows, minlength=len(fabric.classes))
    return {name: int(n) for name, n in zip(fabric.classes, count, strict=True) if n}


def _cable_count_by_class(fabric: Fabric) -> dict[str, object]:
    """Cables, each once however many legs it has, by the class of its first leg."""
    groups, first = np.unique(fabric.cable_group, return_index=True)
    return {"total": len(groups), "classes": _count_by_class(fabric, fabric.cable_class[first])}


def _injected_rate(view: View, units: Bools) -> int:
    """Sum of the rates of the units' links, exact; a link between two units counts at both ends."""
    ends = units[view.a].astype(np.int64) + units[view.b]
    rate = view.fabric.link_rate
    return sum(int(ends[rate == r].sum()) * r for r in distinct_values(rate).tolist())
