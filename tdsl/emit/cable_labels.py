"""Labels of cables as columns: what is printed for each end, TIA-606 positions where devices have places."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.coded import Coded, Compact, Integers, Joined, Numbers
from tdsl.fabric.columns import Column, Objects, values_of_column
from tdsl.fabric.graph import Ints

if TYPE_CHECKING:
    from tdsl.emit.link_tables import Wires

Columns = dict[str, Callable[[], Column | Compact]]
Row = tuple[int, int, tuple[int, ...]]


def cable_label_columns(wires: Wires) -> tuple[int, Columns, Ints]:
    """The number of labels and their columns, in the order of the cables, and for each a leg of its cable."""
    f = wires.fabric
    if (f.cable_leg > 0).any() or f.places is not None:
        rows = _label_rows(wires)
        return (
            len(rows),
            _multi_name_label_columns(wires, rows),
            np.array([i for i, _, _ in rows], dtype=np.int64),
        )
    legs = np.repeat(wires.identity.ranks[0], 2)
    second = np.arange(len(legs)) % 2 == 1
    ends = [(f.cable_a, f.cable_b), (f.cable_b, f.cable_a)]
    device: list[Integers] = []
    port: list[Integers] = []
    for first, other in ends:
        at = np.where(second, other[legs], first[legs])
        device.append(f.port_device[at].astype(np.int32))
        port.append(wires.ports.hole_rows(at).astype(np.int32))

    def named(end: int, of: Objects, *, before: str = "", between: str = " ") -> Joined:
        pieces = (
            Coded(wires.lists.of(wires.devices.name), device[end]),
            between,
            Coded(wires.lists.of(of), port[end]),
        )
        return Joined(before, *pieces) if before else Joined(*pieces)

    devices, holes = wires.lists.of(wires.devices.name), wires.lists.of(wires.ports.hole_id)
    lead = wires.identity.lead[legs]
    lead_device, lead_port = (
        f.port_device[lead].astype(np.int32),
        wires.ports.hole_rows(lead).astype(np.int32),
    )

    def ids() -> Joined:
        return Joined(Coded(devices, lead_device), ":", Coded(holes, lead_port))

    hole = wires.ports.hole
    return (
        len(legs),
        {
            "cable_id": ids,
            "leg": lambda: Numbers(f.cable_leg[legs], 0),
            "end": lambda: Coded("ab", second.astype(np.int32)),
            "device": lambda: Coded(wires.lists.of(wires.devices.name), device[0]),
            "port": lambda: Coded(wires.lists.of(hole), port[0]),
            "line1": ids,
            "line2": lambda: named(0, hole, before="FROM "),
            "line3": lambda: named(1, hole, before="TO "),
            "near": lambda: named(0, hole, between=":"),
            "far": lambda: named(1, hole, between=":"),
            "length_m": lambda: _leg_lengths(wires, legs),
            "qr": ids,
            "links": lambda: Numbers(f.cable_links[legs]),
            "fabric_name": lambda: _fabric_names_of_legs(wires, legs),
        },
        legs,
    )


def _leg_lengths(wires: Wires, legs: Ints) -> Column | Compact:
    """Metres of these legs, as the list of cables has them."""
    return _column_of_legs(wires, "length_m", legs)


def _fabric_names_of_legs(wires: Wires, legs: Ints) -> Column | Compact:
    """The fabric that each of these legs is of."""
    return _column_of_legs(wires, "fabric_name", legs)


def _column_of_legs(wires: Wires, name: str, legs: Ints) -> Column | Compact:
    """What the list of cables says of these legs."""
    found = wires.leg_column(name)
    return (
        found.take(lambda c: c[legs])
        if isinstance(found, (Coded, Numbers, Joined))
        else [found[i] for i in legs.tolist()]
    )


def _multi_name_label_columns(wires: Wires, rows: list[Row]) -> Columns:
    """Columns where a label may name several ends or places."""
    f = wires.fabric
    ids = wires.identity.ids
    legs = [i for i, _, _ in rows]
    ends = [e.tolist() for e in wires.ends]
    places = tia_606_positions(wires)
    devices = [values_of_column(wires.leg_column(f"{e}_device")) for e in "ab"]
    holes = [values_of_column(wires.leg_column(f"{e}_port")) for e in "ab"]

    def near(sides: list[Column] | list[list[object]], before: str = "") -> Callable[[], Column]:
        return lambda: [before + _names_of_plug(sides[end], members) for _, end, members in rows]

    def far(sides: list[Column] | list[list[object]], before: str = "") -> Callable[[], Column]:
        return lambda: [
            before + ", ".join(str(sides[1 - end][n]) for n in members) for _, end, members in rows
        ]

    return {
        "cable_id": lambda: [ids[i] for i in legs],
        "leg": lambda: ["" if len(members) > 1 else int(f.cable_leg[i]) or "" for i, _, members in rows],
        "end": lambda: ["ab"[end] for _, end, _ in rows],
        "device": near(devices),
        "port": near(holes),
        "line1": lambda: [ids[i] for i in legs],
        "line2": near(ends, "FROM "),
        "line3": far(ends, "TO "),
        "near": near(places),
        "far": far(places),
        "length_m": lambda: _leg_lengths(wires, np.array(legs, dtype=np.int64)),
        "qr": lambda: [ids[i] for i in legs],
        "links": lambda: [sum(int(f.cable_links[n]) for n in members) for _, _, members in rows],
        "fabric_name": lambda: _fabric_names_of_legs(wires, np.array(legs, dtype=np.int64)),
    }


def _names_of_plug(names: Column | list[object], legs: tuple[int, ...]) -> str:
    """The name of the plug that these legs share; of one that fills a cage of several ports, the port of each
    leg, in their order."""
    found = [str(names[n]) for n in legs]
    return found[0] if len(set(found)) == 1 else ", ".join(found)


def _label_rows(wires: Wires) -> list[Row]:
    """Of every label a leg, its end (0 or 1), and the legs whose other ends it names. The legs of a break-out
    share one plug, also where that fills a cage of several ports, and it bears one label."""
    f = wires.fabric
    order = wires.identity.ranks[0].tolist()
    group, leg, head = f.cable_group.tolist(), f.cable_leg.tolist(), wires.identity.head_at_b.tolist()
    legs: dict[int, list[int]] = {}
    for i in order:
        legs.setdefault(group[i], []).append(i)
    out: list[Row] = []
    for i in order:
        together = legs[group[i]]
        if not leg[i] or len(together) == 1:
            out += [(i, 0, (i,)), (i, 1, (i,))]
            continue
        if together[0] == i:
            out.append((i, int(head[i]), tuple(together)))
        out.append((i, 1 - head[i], (i,)))
    return out


def tia_606_positions(wires: Wires) -> list[Column]:
    """Both ends of every leg as TIA-606 writes positions: ``h1.A02-35:IB1/1/1``, and device and port without
    a place."""

    def at(end: str) -> Column:
        holes = values_of_column(wires.leg_column(f"{end}_port"))
        names = [
            f"{d}:{h}"
            for d, h in zip(values_of_column(wires.leg_column(f"{end}_device")), holes, strict=True)
        ]
        if wires.fabric.places is None:
            return list(names)
        found = zip(
            *(values_of_column(wires.leg_column(f"{end}_{what}")) for what in ("hall", "rack", "u")),
            holes,
            names,
            strict=True,
        )
        return [
            f"{hall}.{rack}{f'-{u:02}' if u else ''}:{hole}" if rack else name
            for hall, rack, u, hole, name in found
        ]

    return [at("a"), at("b")]
