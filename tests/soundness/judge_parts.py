"""Counts and sums of what a design describes, from its records: links, cables, ports, switches, watts, dollars, metres.

A figure of `of S` is that of each element. A figure has several readings where the documentation leaves two open, and an
answer is wrong only if it is none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import pi

from tests.soundness.families.models import DIAMETER, TRAY
from tests.soundness.inventory import Inventory, Wire
from tests.soundness.judges import Claim, Unjudged

Readings = list[list[Fraction]]
"""For each reading the figures of the elements."""


def wires_of_core(inventory: Inventory, core: frozenset[str], group: bool) -> list[Wire]:
    """Links of one device with what is in it, or of a group: those among its devices and to the ends attached."""
    if group:
        return inventory.restricted(core).wires
    return [w for w in inventory.wires if w.a in core or w.b in core]


def wires_between(inventory: Inventory, here: frozenset[str], there: frozenset[str]) -> list[Wire]:
    """Links between any device of one set and any of another."""
    return [w for w in inventory.wires if (w.a in here and w.b in there) or (w.b in here and w.a in there)]


def count_links(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    return [Fraction(len(wires_of_core(inventory, core, group)))]


def count_cables(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    """Cables plugged in. Of a group: with and without those that lead to other switches."""
    inner = {w.cable for w in wires_of_core(inventory, core, group) if w.cable >= 0}
    every = {w.cable for w in wires_of_core(inventory, core, False) if w.cable >= 0}
    return [Fraction(len(inner)), Fraction(len(every))] if group else [Fraction(len(every))]


def count_ports(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    return [Fraction(sum((w.a in core) + (w.b in core) for w in inventory.wires))]


def count_switches(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    return [Fraction(sum(p.kind == "switch" and p.path in core for p in inventory.built_parts()))]


def sum_watts(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    """Watts of devices, and of active cables: of one that only one end is in, all, half or nothing of it."""
    own = sum(p.model.watts or 0 for p in inventory.built_parts() if p.path in core and p.inside not in core)
    return [own + w for w in sum_cable_watts(inventory, core, group)]


def sum_cable_watts(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    """Watts of transceivers, which active cables contain."""
    full = half = inner = Fraction(0)
    for w in {w.cable: w for w in inventory.wires if w.product is not None and w.cable >= 0}.values():
        watts, ends = Fraction((w.product.watts or 0) if w.product else 0), (w.a in core) + (w.b in core)
        full += watts * bool(ends)
        half += watts * ends / 2
        inner += watts * (ends == 2)
    return list(dict.fromkeys((full, half, inner)))


def sum_prices(inventory: Inventory, core: frozenset[str], group: bool) -> list[Fraction]:
    """Dollars of devices and of the cables plugged into them."""
    own = sum(p.model.price or 0 for p in inventory.built_parts() if p.path in core and p.inside not in core)
    plugged = {w.cable: w for w in wires_of_core(inventory, core, False) if w.cable >= 0}
    return [Fraction(own + sum((w.product.price or 0) if w.product else 0 for w in plugged.values()))]


COUNTS: Mapping[str, Callable[[Inventory, frozenset[str], bool], list[Fraction]]] = {
    "links": count_links,
    "cables": count_cables,
    "ports": count_ports,
    "switches": count_switches,
    "power": sum_watts,
    "optics_power": sum_cable_watts,
    "cost": sum_prices,
}
"""Counts and sums by the name of the metric: figures of some devices, by every reading."""


def tray_share(inventory: Inventory, wires: Sequence[Wire]) -> Fraction:
    """The fullest stretch of the one row: cables that pass between neighbouring racks, over the tray's cross-section. Raises
    Unjudged where a device has no place."""
    cables: dict[int, tuple[int, int]] = {}
    for w in wires:
        a, b = (inventory.parts[end].place for end in (w.a, w.b))
        if a is None or b is None:
            raise Unjudged("a device has no place")
        cables[w.cable] = (min(a[2], b[2]), max(a[2], b[2]))
    racks = [r for pair in cables.values() for r in pair]
    if not racks:
        raise Unjudged("no cable")
    most = max(sum(low <= r < high for low, high in cables.values()) for r in range(min(racks), max(racks) + 1))
    return Fraction(most * pi * DIAMETER**2 / 4 / (TRAY[0] * TRAY[1]))


UNITS = {"power": "W", "optics_power": "W", "cost": "$", "cable_length": "m", "bend_radius": "m"}


def count_readings(inventory: Inventory, claim: Claim, scope: str) -> Readings:
    """The figures of a count or sum that is asked in the block of an instance, or at the top. Raises Unjudged."""
    if claim.to:
        here, there = (named_devices(inventory, text, scope) for text in (claim.of, claim.to))
        found = wires_between(inventory, here, there)
        if claim.metric == "cable_length":
            lengths = [w.metres for w in found if w.cable >= 0 and w.metres is not None]
            if not lengths:
                raise Unjudged("no cable between them has a length")
            return [[max(lengths)]]
        if claim.metric == "bend_radius":
            bends = [w.product.bend for w in found if w.product is not None and w.cable >= 0]
            if not bends or any(p.place is None for p in inventory.built_parts() if not p.inside):
                raise Unjudged("no cable between them, or a device without a place")
            return [[Fraction(max(bends), 1000)]]
        if claim.metric == "tray_fill":
            return [[tray_share(inventory, found)]]
        return [[Fraction(len({w.cable for w in found if w.cable >= 0}) if claim.metric == "cables" else len(found))]]
    if claim.metric not in COUNTS:
        raise Unjudged("compared with the answer by full path alone")
    if not claim.of:
        count, core = COUNTS[claim.metric], frozenset(inventory.paths_below(scope))
        return [[v] for v in count(inventory, core, bool(scope))]
    standing = built_elements(inventory, claim.of, scope)
    count = COUNTS[claim.metric]
    each = [count(inventory, core, is_group(inventory, name)) for name, core in standing.items()]
    width = max(len(x) for x in each)
    return [[x[min(i, len(x) - 1)] for x in each] for i in range(width)]


def named_devices(inventory: Inventory, text: str, scope: str) -> frozenset[str]:
    """All devices that paths name, with what is in them."""
    return frozenset().union(*inventory.select(text, scope).values())


def built_elements(inventory: Inventory, text: str, scope: str) -> dict[str, frozenset[str]]:
    """The elements that paths name, of which something is built. Raises Unjudged where some are not built, and a figure of
    each element may or may not be about them."""
    found = inventory.select(text, scope)
    standing = {n: c for n, c in found.items() if any(inventory.parts[p].built for p in c)}
    if len(standing) < len(found) or not standing:
        raise Unjudged("an element is not built")
    return standing


def is_group(inventory: Inventory, element: str) -> bool:
    """Whether an element is a group and no device."""
    return element not in inventory.parts
