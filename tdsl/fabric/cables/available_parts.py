"""Whether the cables a wiring needs can be had: shapes, break-outs, and what a named part carries."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.cables.cabling import CableLegs, fills_cages, links_together
from tdsl.fabric.cables.plugs import break_outs
from tdsl.fabric.order import distinct_values, rank_values
from tdsl.fabric.vector import Array
from tdsl.fabric.wiring import WiringState
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.plan import FabricPlan
from tdsl.semantics.quantity import RATE, Quantity, quantity_text
from tdsl.semantics.settings import count_with_noun
from tdsl.system.nouns import noun_for_count


def judge_parts(
    plan: FabricPlan, wiring: WiringState, cables: CableLegs, rates: Array, diagnostics: Diagnostics
) -> None:
    """Refuse cables that cannot be: many connectors to many, break-outs whose part is not known, parts too
    slow for their links. ``rates`` has the rate of the link at the lower end of every leg, in bit/s."""
    legs = np.bincount(cables.group)[cables.group] if len(cables.group) else cables.group
    other = _refuse_wrong_carries(plan, wiring, cables, diagnostics)
    parts = [w.settings.get("part") for w in plan.wires]
    most = np.array([_split_end_legs(p) for p in parts] or [1], dtype=np.int64)[cables.statement]
    open_: NDArray[np.bool_] = np.asarray(
        cables.split & ~cables.tangled & (legs > most) & ~other, dtype=np.bool_
    )
    bought = _breakouts_in_catalogue(plan, wiring, cables, rates, open_, legs)
    for code, bad in (
        ("E0201", cables.tangled),
        ("E0202", cables.split & ~cables.tangled & (legs > most) & ~bought),
    ):
        for s in distinct_values(cables.statement[bad & ~other]).tolist():
            mine = np.flatnonzero(bad & (cables.statement == s))
            first = int(mine[0])
            part = parts[s]
            would, mend = "join many connectors to many", _shuffle_panel_help(wiring, cables, mine)
            if code == "E0201" and isinstance(part, DeviceModel) and fills_cages(part):
                would += (
                    f": the plugs of {part.name} fill cages, and the ports of a cage lead to different ones"
                )
                mend = (
                    "name a cable for each port, with a transceiver at both ends, or join all ports of "
                    "a cage to those of another"
                )
            if code == "E0202":
                would = f"be a breakout with {int(legs[first])} legs" + _legs_of_part_text(
                    parts[s], plan.wires[s].settings.get("cable")
                )
                load = int((rates * cables.links)[cables.group == cables.group[first]].sum())
                carried = quantity_text(Quantity(Fraction(load), RATE))
                mend = _breakout_help(plan.wires[s].origin.span.text, carried, int(legs[first]))
            notes = [f"this applies to {len(mine)} {noun_for_count(len(mine), 'leg')} of this connect"]
            diagnostics.add(
                code,
                plan.wires[s].origin,
                f"the cable between {_cable_ends_text(wiring, cables, first)} would {would}",
                notes=notes,
                help=mend,
            )
    _too_slow(plan, wiring, cables, rates, parts, diagnostics)


def _breakout_help(written: str, carried: str, legs: int) -> str:
    """How to name the part of a break-out that a connect, a tier or another line of an intent makes."""
    declared = f"`model cable PART {{ rate {carried}; legs {legs} }}`"
    if written.startswith("tier"):
        return f"name a part with as many legs in the braces of this tier: `cable PART`, with {declared}"
    if not written.startswith("connect"):
        return (
            f"write the tiers out, and name a part with as many legs, {declared}: `tier T of ? hosts {{ "
            "switch MODEL; cable PART }`"
        )
    return (
        "name a part with as many legs, `{ cable PART }`, one of the catalogue or your own: "
        f"{declared}; or use ports with a connector each"
    )


def _refuse_wrong_carries(
    plan: FabricPlan, wiring: WiringState, cables: CableLegs, diagnostics: Diagnostics
) -> NDArray[np.bool_]:
    """Refuse cables of other than the N links that a connect says, ``cable PART carries N``. True for all
    legs of such."""
    together = np.array([links_together(w.settings) for w in plan.wires] or [1], dtype=np.int64)[
        cables.statement
    ]
    bad = (together > 1) & ((cables.links != together) | cables.split)
    for s in distinct_values(cables.statement[bad]).tolist():
        mine = np.flatnonzero(bad & (cables.statement == s))
        first = int(mine[0])
        n = int(together[first])
        near, far = (wiring.ports.class_at(int(p[first])) for p in (cables.a, cables.b))
        small = next(
            (c for c in (near, far) if max(map(c.cages.count, set(c.cages) - {0}), default=1) < n), None
        )
        if small is not None:
            why = f"a cage has fewer than {n} ports of `{small.name}`"
            help = (
                f"split the ports in the braces of the device, `split {small.name} {n}`, or leave "
                f"`carries {n}` out"
            )
        elif cables.split[first]:
            why = f"the {n} ports of a cage lead to different cages or devices"
            help = (
                f"join each pair of devices by a multiple of {n} links, from a cage whose ports are "
                f"all free: `x {n}`"
            )
        else:
            why = (
                "a cage of the one leads to a cage of the other by "
                f"{count_with_noun(int(cables.links[first]), 'link')}"
            )
            help = (
                f"join each pair of devices by a multiple of {n} links, from a cage whose ports are "
                f"all free: `x {n}`"
            )
        diagnostics.add(
            "E0217",
            plan.wires[s].origin,
            f"no cable between {_cable_ends_text(wiring, cables, first)} can carry {n} links: {why}",
            notes=[f"this applies to {len(mine)} {noun_for_count(len(mine), 'leg')} of this connect"],
            help=help,
        )
    return np.asarray(together > 1, dtype=np.bool_)


def _breakouts_in_catalogue(
    plan: FabricPlan,
    wiring: WiringState,
    cables: CableLegs,
    rates: Array,
    open_: NDArray[np.bool_],
    legs: Array,
) -> NDArray[np.bool_]:
    """Break-outs whose connect names no part and for which the catalogue has one; ``open_`` are those in
    question, of ``legs`` legs each. Which of the parts a cable gets depends on its length and is decided
    where there are places."""
    found: NDArray[np.bool_] = np.zeros(len(open_), dtype=np.bool_)
    rows = np.flatnonzero(
        open_ & np.array(["cable" not in w.settings for w in plan.wires] or [False])[cables.statement]
    )
    if not len(rows):
        return found
    ports = wiring.ports
    at_b = np.bincount(ports.connector[cables.b])[ports.connector[cables.b[rows]]] > 1
    keys = []
    for port in (cables.a[rows], cables.b[rows]):
        device = ports.device_of(port)
        keys += [ports.device_model[device], port - ports.base[device]]
    rate = rates[rows] * cables.links[rows]
    _, first, which = np.unique(
        np.stack([*keys, legs[rows], rate, at_b]), axis=1, return_index=True, return_inverse=True
    )
    known: dict[tuple[int, int, int, int], bool] = {}
    answers = []
    for k in first.tolist():
        ends = ports.class_at(int(cables.a[rows[k]])), ports.class_at(int(cables.b[rows[k]]))
        head, tail = ends[::-1] if at_b[k] else ends
        key = (id(head), id(tail), int(legs[rows[k]]), int(rate[k]))
        if key not in known:
            known[key] = bool(break_outs(plan.catalogue(), head, tail, *key[2:]))
        answers.append(known[key])
    found[rows] = np.array(answers)[which.ravel()]
    return found


def _shuffle_panel_help(wiring: WiringState, cables: CableLegs, mine: Array) -> str:
    """How to put a panel between connectors that are joined many to many: with as many lanes to a connector
    as these have."""
    connector, links = wiring.ports.connector, int(cables.links[mine].sum())
    lanes = []
    for side in (cables.a, cables.b):
        _, at = rank_values(connector[side[mine]])
        load = np.bincount(at, weights=cables.links[mine]).astype(np.int64)
        lanes.append(int(load[0]) if (load == load[0]).all() else 0)
    if not all(lanes):
        return "put a `panel` between them, whose connectors have as many lanes: `via PANEL[…]`"
    model = "; ".join(
        f"port {n}[{links}]: any {{ connector {k} }}" for n, k in zip(("front", "back"), lanes, strict=True)
    )
    return (
        "put a panel between them: `via shuffle`, with `panel shuffle: SHUFFLE` and `model panel "
        f"SHUFFLE {{ {model} }}`"
    )


def _split_end_legs(part: object) -> int:
    """Legs of a part's split end; 1 for a straight cable or no known part."""
    legs = part.facts.get("legs", 1) if isinstance(part, DeviceModel) else 1
    return legs if isinstance(legs, int) else 1


def _legs_of_part_text(part: object, written: object) -> str:
    if isinstance(part, DeviceModel):
        return f", and {part.name} has {_split_end_legs(part)}"
    return f", and the catalogue has no part {written!r}" if isinstance(written, str) else ""


def _cable_ends_text(wiring: WiringState, cables: CableLegs, row: int) -> str:
    return f"{wiring.ports.port_path(int(cables.a[row]))} and {wiring.ports.port_path(int(cables.b[row]))}"


def _too_slow(
    plan: FabricPlan,
    wiring: WiringState,
    cables: CableLegs,
    rates: Array,
    parts: list[object],
    diagnostics: Diagnostics,
) -> None:
    """Parts whose rate is below that of the links in one cable."""
    if not any(isinstance(p, DeviceModel) and "rate" in p.facts for p in parts) or not len(cables.a):
        return
    carried = np.zeros(int(cables.group.max()) + 1, dtype=np.int64)
    np.add.at(carried, cables.group, rates * cables.links)
    load = carried[cables.group]
    for s, part in enumerate(parts):
        rate = part.facts.get("rate") if isinstance(part, DeviceModel) else None
        if not isinstance(part, DeviceModel) or not isinstance(rate, Quantity):
            continue
        mine = np.flatnonzero(
            (cables.statement == s) & (load > rate.amount.numerator // rate.amount.denominator)
        )
        if len(mine):
            first = int(mine[0])
            ends, have = (
                _cable_ends_text(wiring, cables, first),
                quantity_text(Quantity(Fraction(int(load[first])), rate.dim)),
            )
            diagnostics.add(
                "E0203",
                plan.wires[s].origin,
                f"{part.name} carries {quantity_text(rate)}, and the links between {ends} have {have}",
                labels=[(part.origin.span, "declared here")],
                notes=[f"this applies to {len(mine)} {noun_for_count(len(mine), 'leg')} of this connect"],
                help="name a part that carries as much, or leave the part out",
            )
