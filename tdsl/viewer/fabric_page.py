"""The viewer: one HTML page that holds a whole fabric and draws of it what a reader opens.

The page holds columns and the patterns of names, never a text a device or a link: its script computes names,
addresses and cable identifiers when they are shown. Everything that a design says is in the packed data; only
its title is text of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tdsl import __version__
from tdsl.drawing.shapes import shapes_of_declarations
from tdsl.emit.link_tables import Wires
from tdsl.fabric.addresses import Pool
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_only_devices
from tdsl.fabric.places import height_of
from tdsl.physical.model import physical_of
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass
from tdsl.viewer.packed import pack_columns

PAGE = Path(__file__).parent / "page"
SCRIPTS = ("unpack.js", "fabric.js", "layout.js", "draw.js", "rooms.js", "panel.js", "export.js", "main.js")
FACTS = ("part", "length_m", "medium", "a_optic", "b_optic", "colour")
"""Columns of the cabling plan that the page shows of a cable, each as a list of values and the number of one
for every leg."""


@dataclass(frozen=True, slots=True)
class ViewerMark:
    """Something to highlight: a failed set, a cut, a finding, the witness of an answer, a fault of an audit,
    or what a change removes or adds. ``devices`` and ``links`` are rows; ``about`` is the requirement or
    check whose answer it shows, "" if none."""

    kind: str  # failed, cut, finding, witness, fault, removed, added
    title: str
    text: str
    devices: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    links: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    severity: str = ""
    about: str = ""


def viewer_page(parts: Sequence[tuple[Fabric, Sequence[ViewerMark], Mapping[str, Any]]], title: str) -> str:
    """A page of one or several fabrics, each with what is highlighted in it and the facts that ``Design``
    knows of it."""
    packs = "\n".join(
        '<script type="application/octet-stream" '
        f'class="pack">{pack_columns(*_packed_fabric(fabric, marks, facts))}</script>'
        for fabric, marks, facts in parts
    )
    texts = {
        name: (PAGE / name).read_text(encoding="utf-8") for name in ("viewer.html", "viewer.css", *SCRIPTS)
    }
    script = "\n".join(texts[name] for name in SCRIPTS)
    out = texts["viewer.html"]
    pieces = {"STYLE": texts["viewer.css"], "SCRIPT": script, "PACKS": packs, "TITLE": escape(title)}
    head = out.split("@@")
    return "".join(piece if i % 2 == 0 else pieces[piece] for i, piece in enumerate(head))


def _packed_fabric(
    fabric: Fabric, marks: Sequence[ViewerMark], facts: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Ints]]:
    """The header and the columns of one fabric."""
    wires = Wires(fabric)
    rates, rate = np.unique(fabric.link_rate, return_inverse=True)
    columns: dict[str, Ints] = {
        "unbuilt": np.flatnonzero(~fabric.built),
        "tier": fabric.tier,
        "plane": fabric.plane,
        "below": scaleup_only_devices(fabric).astype(np.int64),
        "asn": _asns_of_devices(fabric).astype(np.uint32).astype(np.int32),
        "link_a": fabric.link_a,
        "link_b": fabric.link_b,
        "link_rate": rate.astype(np.int64),
        "link_class": fabric.link_class,
        "link_rail": wires.link_rails,
    }
    if fabric.members:
        columns |= _columns_of_networks(fabric)
    if bool((fabric.link_via_a >= 0).any()):
        columns |= {"via_a": fabric.link_via_a, "via_b": fabric.link_via_b}
    columns |= _viewer_cable_legs(fabric, wires)
    linked = np.flatnonzero(fabric.port_link >= 0)
    filled = linked[wires.ports.hole_rows(linked) != wires.ports.rows(linked)]
    if len(filled):
        columns["filled_ports"] = filled
    header: dict[str, Any] = {
        "tdsl": __version__,
        "name": fabric.name,
        "title": fabric.title or fabric.name,
        "sets": [
            _viewer_set(s, x, bool(fabric.members))
            for s, x in zip(fabric.sets, shapes_of_declarations(fabric), strict=True)
        ],
        "models": [_viewer_model(m, k, wires.ports) for k, m in enumerate(fabric.models)],
        "names": {str(row): name for row, name in sorted(fabric.names.items())},
        "classes": list(fabric.classes),
        "rates": rates.tolist(),
        "transport": fabric.transport,
        "layer": fabric.layer,
        "facts": _viewer_cable_facts(fabric, wires, columns),
        "pools": _viewer_address_pools(fabric, columns),
        "marks": [{"kind": m.kind, "title": m.title, "text": m.text, "severity": m.severity} for m in marks],
        "places": _viewer_racks(fabric, columns),
        **({"networks": [f.name for f in fabric.members]} if fabric.members else {}),
        **facts,
    }
    for k, m in enumerate(marks):
        columns |= {f"mark{k}_devices": m.devices, f"mark{k}_links": m.links}
    return header, columns


def _asns_of_devices(fabric: Fabric) -> Ints:
    """The ASN of every device, 0 where it has none; empty where no fabric has addresses."""
    if not fabric.members:
        return fabric.addressing.asn if fabric.addressing is not None else np.zeros(0, np.int64)
    out = np.zeros(fabric.device_count, dtype=np.int64)
    for member, rows in zip(fabric.members, fabric.member_rows, strict=True):
        if member.addressing is not None:
            out[rows] = np.where(out[rows] > 0, out[rows], member.addressing.asn)
    return out


def _columns_of_networks(fabric: Fabric) -> dict[str, Ints]:
    """Of a cluster the network of every link, and what a network alone tells: rails of links, planes of
    devices."""
    network = np.zeros(fabric.link_count, dtype=np.int64)
    rail, plane = np.full(fabric.link_count, -1), np.full(fabric.device_count, -1)
    for k, member in enumerate(fabric.members):
        links, rows = fabric.member_links[k], fabric.member_rows[k]
        network[links], rail[links] = k, Wires(member).link_rails
        plane[rows] = np.maximum(plane[rows], member.plane)
    return {"link_network": network, "link_rail": rail, "plane": plane}


def _viewer_set(s: Any, shape: Mapping[str, object], of_cluster: bool) -> dict[str, object]:
    """A declaration: its parts with their indices, from which names and places follow. Of a cluster what a
    fabric declares is in a group of its name."""
    network = [[s.prefix, "network", []]] if of_cluster and s.prefix else []
    return {
        "parts": [*network, *([p.name, p.kind, [[a.low, a.size] for a in p.axes]] for p in s.parts)],
        "prefix": s.prefix,
        "kind": s.kind,
        "role": s.role,
        "first": s.first,
        "count": s.count,
        "inside": s.inside.index if s.inside is not None else -1,
        "shape": dict(shape),
    }


def _viewer_model(m: DeviceModel, number: int, ports: PortColumns) -> dict[str, object]:
    """A model: what its ports are called. ``hole`` is what the faceplate says where a cable goes in."""
    rows = slice(int(ports.base[number]), int(ports.base[number]) + m.port_count)
    return {
        "name": m.name,
        "title": m.title,
        "ports": m.port_count,
        "height": height_of(m) or 0,
        "accelerators": m.accelerators,
        **{
            k: getattr(ports, k)[rows].tolist()
            for k in ("label", "hole", "hole_id", "path", "cage", "system")
        },
        **({"filled": filled} if (filled := _holes_of_filled_cages(ports, rows)) else {}),
        "rate": [c.rate or 0 for c in m.classes for _ in range(c.size)],
    }


def _holes_of_filled_cages(ports: PortColumns, rows: slice) -> dict[str, list[str]]:
    """What the ports of a model are called where one plug fills the cage, if that is another name."""
    behind = slice(*(len(ports.hole) // 2 + at for at in (rows.start, rows.stop)))
    names = {k: getattr(ports, k) for k in ("hole", "hole_id")}
    differ = any(names[k][rows].tolist() != names[k][behind].tolist() for k in names)
    return {k: names[k][behind].tolist() for k in names} if differ else {}


def _viewer_cable_legs(fabric: Fabric, wires: Wires) -> dict[str, Ints]:
    """Legs of cables in the order of the plan, and which leg carries each link near its a end, and at its b
    end if another."""
    order = wires.cable_order[0]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    links, legs = wires.crossings
    near, far = np.full(fabric.link_count, -1), np.full(fabric.link_count, -1)
    far[links] = place[legs]  # the last of each link stands
    near[links[::-1]] = place[legs[::-1]]
    out: dict[str, Ints] = {
        "device_model": fabric.device_model,
        "leg_a": fabric.cable_a[order],
        "leg_b": fabric.cable_b[order],
        "leg_cable": fabric.cable_group[order],
        "leg_number": fabric.cable_leg[order],
        "leg_class": fabric.cable_class[order],
        "leg_lead": wires.identity.lead[order] if len(order) else order,
        "link_leg": near,
    }
    return out | ({"link_leg_b": far} if bool((far != near).any()) else {})


def _viewer_cable_facts(fabric: Fabric, wires: Wires, columns: dict[str, Ints]) -> dict[str, list[object]]:
    """What the cabling plan says of cables: for each fact its values; the number of one for every leg is a
    column."""
    said = {name for s in fabric.statements for name in s.settings}
    wanted = (
        FACTS
        if physical_of(fabric) is not None or said & {"cable", "length", "medium", "colour", "optics"}
        else ()
    )
    out: dict[str, list[object]] = {}
    for name in wanted:
        column = wires.cables.column(name)
        number = {value: k for k, value in enumerate(dict.fromkeys(column))}
        if set(number) != {""}:
            out[name] = list(number)
            columns[f"fact_{name}"] = np.array([number[v] for v in column], dtype=np.int64)
    return out


def _viewer_address_pools(fabric: Fabric, columns: dict[str, Ints]) -> list[dict[str, object]]:
    """Pools of addresses; the pool and the rank of each device or link are columns."""
    pools: list[Pool] = []
    for k, member in enumerate(fabric.members or (fabric,)):
        found = member.addressing
        for (kind, version), assigned in found.assigned.items() if found is not None else ():
            size = fabric.link_count if kind == "links" else fabric.device_count
            rows = np.arange(size)
            if fabric.members:
                rows = fabric.member_links[k] if kind == "links" else fabric.member_rows[k]
            pool, rank = (
                columns.setdefault(f"{what}_{kind}_{version}", np.full(size, -1, dtype=np.int64))
                for what in ("pool", "rank")
            )
            fresh = (assigned.pool >= 0) & (
                pool[rows] < 0
            )  # of a shared device the address of the first network
            pool[rows[fresh]], rank[rows[fresh]] = assigned.pool[fresh] + len(pools), assigned.rank[fresh]
        pools += found.pools if found is not None else ()
    return [
        {
            "kind": p.kind,
            "version": p.version,
            "first": str(p.first),
            "step": p.step,
            "prefix": p.prefix,
            "vrf": p.vrf,
            "network": p.network,
            "interface": p.interface,
        }
        for p in pools
    ]


def _viewer_racks(fabric: Fabric, columns: dict[str, Ints]) -> dict[str, object] | None:
    """Halls and racks; the rack and unit of each device are columns."""
    p = fabric.places
    if p is None:
        return None
    columns |= {
        "device_rack": p.device_rack,
        "device_unit": p.device_unit,
        "rack_hall": p.rack_hall,
        "rack_row": p.rack_row,
    }
    columns |= {"rack_x": p.rack_x, "rack_y": p.rack_y, "rack_number": p.rack_number}
    return {
        "halls": [{"name": h.name, "rows": [r.name for r in h.rows]} for h in p.halls],
        "racks": p.rack_names,
        "height": [k.height or 0 for k in p.rack_kind],
    }


def rows_of_mask(mask: Bools) -> Ints:
    """Rows that a mask selects."""
    return np.flatnonzero(mask)
