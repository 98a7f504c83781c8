"""Scale-out alone: every rail of a host is an endpoint of its own, since the accelerators exchange nothing
inside.

Through its scale-up domain (NVLink) a host hands what one accelerator sends to the port of another, so it is
one end with all its ports; without, an accelerator has the ports of its own rail. Where rails mean nothing,
hosts are one end either way.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.rails import link_rail
from tdsl.prove.by_domain import ByDomain, domain_spans_units, units_with_joined_accelerators
from tdsl.prove.demands import RAILS, TrafficDemand, UnfitDemand
from tdsl.prove.view import View
from tdsl.semantics.model import Axis, DeviceSet, PathComponent, PortClass
from tdsl.system.lazy_dataclass import dataclass

SCALEUP = "through scaleup"
SCALEOUT = "by scale-out alone"


# A table of cases: each line of it is one way of asking about one kind of fabric.
def endpoint_views(view: View, claim: ResolvedClaim) -> tuple[View, View | None]:
    """The view whose units are the endpoints that a requirement asks about, and the view of the other way
    where that means another thing: through the scale-up domain, or by scale-out alone. Raises Unfit where
    there is no such domain to go through."""
    every = _domains_join_accelerators(view, claim)
    wide = every and domain_spans_units(view)
    if view.forwards[view.units].any():
        if wide and claim.through:
            raise UnfitDemand("endpoints that forward are not put together by their scale-up domains")
        # What enters by one port of such a host leaves by another: it is one end with all its ports.
        return view, None
    inside = every and _units_have_several_accelerators(view)
    rails = ByRail.of(view) if inside or claim.args[:1] == (RAILS,) else None
    if wide and claim.through:
        return ByDomain.of(view), rails or view
    if wide and view.intact is None and not view.direct:
        return rails or view, ByDomain.of(view)
    return _views_without_domains(view, rails, bool(claim.through), inside)


def _domains_join_accelerators(view: View, claim: ResolvedClaim) -> bool:
    """Whether scale-up domains of the design, whatever failed, join the accelerators of every unit. Raises
    Unfit where a requirement goes through them and they do not."""
    every = bool(units_with_joined_accelerators(view, view.fabric.domains).all())
    if claim.through and not every:
        raise UnfitDemand(
            f"there are {view.unit_word} without a scale-up domain that joins their accelerators"
        )
    return every


def _units_have_several_accelerators(view: View) -> bool:
    models = [view.fabric.models[m] for m in np.unique(view.fabric.device_model[view.units]).tolist()]
    return all(m.accelerators > 1 for m in models)


def _views_without_domains(
    view: View, rails: ByRail | None, through: bool, inside: bool
) -> tuple[View, View | None]:
    """The same where no scale-up domain spans units; ``inside``: each joins the accelerators of one."""
    if rails is None:
        return view, None
    if through:
        return view, rails
    return rails, view if inside else None


@dataclass(eq=False)
class ByRail(View):
    """A view whose units are rails of hosts, devices of their own behind those of the fabric.

    ``hosts`` are the units of the view it was made of. Of every unit ``host`` is the place among them,
    ``rail`` the rail; a host that has none is one unit of rail -1. What a host has beside its rails is
    nobody's.
    """

    hosts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    host: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    rail: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, view: View) -> ByRail | None:
        """Divide the units of a view; None where they have no rails."""
        f, units = view.fabric, view.units
        rail = np.asarray(link_rail(f), dtype=np.int64)[view.rows]
        wide = int(rail.max(initial=-1)) + 1
        place = np.full(f.device_count, -1, dtype=np.int64)
        place[units] = np.arange(len(units))
        # all ends of links at units: the first half of the places are the a ends
        unit, rail, row = place[np.append(view.a, view.b)], np.tile(rail, 2), np.tile(view.rows, 2)
        railed = np.bincount(unit[(unit >= 0) & (rail >= 0)], minlength=len(units)) > 0
        if not railed.any():
            return None
        mine = np.flatnonzero((unit >= 0) & ((rail >= 0) | ~railed[unit]))
        low = mine < len(view.rows)
        unit, rail, row = unit[mine], rail[mine], row[mine]
        sets = [f.sets[i] for i in np.unique(f.device_set[units]).tolist()]
        first = f.device_count + np.cumsum([0, *(s.count * wide for s in sets)])
        shift = np.zeros(len(f.sets), dtype=np.int64)
        for s, at in zip(sets, first.tolist(), strict=False):
            shift[s.index] = at - s.first * wide
        host = units[unit]
        device = shift[f.device_set[host]] + host * wide + np.maximum(rail, 0)
        made, port = _add_rail_devices(f, sets, first, wide, device)
        a, b = f.link_a.copy(), f.link_b.copy()
        a[row[low]], b[row[~low]] = port[low], port[~low]
        ends, at = np.unique(device, return_index=True)
        shown = np.append(view.devices, np.zeros(made.device_count - f.device_count, dtype=np.bool_))
        shown[units] = False
        shown[ends] = True
        made = replace(made, link_a=a, link_b=b)
        return cls(
            made,
            shown,
            shown,
            view.rows,
            view.name,
            budget=view.budget,
            hosts=units,
            host=unit[at],
            rail=rail[at],
        )

    def names(self, devices: Ints) -> list[str]:
        """Names of devices; of a rail ``node3 rail 2``."""
        known = dict(zip(self.units.tolist(), range(len(self.units)), strict=True))
        return [self.called(known[d]) if d in known else self.fabric.device_name(d) for d in devices.tolist()]

    def called(self, unit: int) -> str:
        """The name of a unit by its place among them."""
        host, rail = self.fabric.device_name(int(self.hosts[self.host[unit]])), int(self.rail[unit])
        return host if rail < 0 else f"{host} rail {rail}"

    def silent(self, demand: TrafficDemand | None) -> bool:
        """Whether a host that sends or receives (no demand: all do) has no link."""
        linked = np.bincount(self.host, minlength=len(self.hosts)) > 0
        return not (linked if demand is None else linked[np.append(demand.source, demand.target)]).all()

    def apart(self, demand: TrafficDemand | None) -> str:
        """Two that exchange something (None: all do) and have no path to each other, in words; "" if all have
        one. Hosts do so on all rails that both have, and must have one."""
        kind, hubs, first = self._kinds()
        clash = {(i, j) for i, x in enumerate(hubs) for j, y in enumerate(hubs) if not x & y}
        if demand is None:
            return self._said(*min((first[i], first[j]) for i, j in clash)) if clash else ""
        if not demand.ring:
            both = (self._table[demand.source] >= 0) & (self._table[demand.target] >= 0)
            alone = np.flatnonzero(~both.any(axis=1))
            if len(alone):
                one, two = self.names(self.hosts[[demand.source[alone[0]], demand.target[alone[0]]]])
                return f"{one} and {two} have no rail in common"
        if not clash:
            return ""
        sent = self.laid(demand)
        pairs = zip(kind[sent.source].tolist(), kind[sent.target].tolist(), strict=True)
        at = next((at for at, pair in enumerate(pairs) if pair in clash), -1)
        return self._said(int(sent.source[at]), int(sent.target[at])) if at >= 0 else ""

    def _kinds(self) -> tuple[Ints, list[frozenset[int]], list[int]]:
        """For every unit which parts of the network it is connected to, as a number; those parts and the
        first unit of each number."""
        at = self.attachment
        mine = np.isin(at.end, self.units)
        if len(np.unique(at.hub[mine])) == 1:
            return np.zeros(len(self.units), dtype=np.int64), [frozenset({0})], [0]
        hubs_of: list[list[int]] = [[] for _ in self.units]
        for unit, hub in zip(
            np.searchsorted(self.units, at.end[mine]).tolist(), at.hub[mine].tolist(), strict=True
        ):
            hubs_of[unit].append(hub)
        known: dict[frozenset[int], int] = {}
        kind = np.array([known.setdefault(frozenset(x), len(known)) for x in hubs_of], dtype=np.int64)
        return kind, [*known], np.unique(kind, return_index=True)[1].tolist()

    def _said(self, one: int, two: int) -> str:
        """That no path connects two units; of their rails, where no path connects any two units of those."""
        rails = [int(self.rail[x]) for x in (one, two)]
        kind, hubs, _ = self._kinds()
        hubs_of = [
            frozenset[int]().union(*(hubs[k] for k in np.unique(kind[self.rail == r]).tolist()))
            for r in rails
        ]
        said = (
            [self.called(x) for x in (one, two)]
            if hubs_of[0] & hubs_of[1] or min(rails) < 0
            else [f"rail {r}" for r in rails]
        )
        return f"{' and '.join(said)} are not connected"

    @cached_property
    def _table(self) -> Ints:
        """The unit of every host (rows) on every rail, -1 where it has none; the last column is of those
        without rails."""
        out = np.full((len(self.hosts), int(self.rail.max()) + 2), -1, dtype=np.int64)
        out[self.host, self.rail] = np.arange(len(self.host))
        return out

    def laid(self, demand: TrafficDemand) -> TrafficDemand:
        """What hosts send, from each rail to the same rail of the other, as far as both have it; a ring goes
        round on every rail over the hosts that have it."""
        parts = []
        for mine in self._table.T:
            if demand.ring:
                there = mine[mine >= 0][: None if (mine >= 0).sum() > 1 else 0]
                parts.append((there, np.roll(there, -1), np.ones(len(there), dtype=np.int64)))
            else:
                kept = (mine[demand.source] >= 0) & (mine[demand.target] >= 0)
                parts.append((mine[demand.source[kept]], mine[demand.target[kept]], demand.amount[kept]))
        source, target, amount = (np.concatenate(x) for x in zip(*parts, strict=True))
        return TrafficDemand(source, target, amount)


def _add_rail_devices(
    f: Fabric, sets: list[DeviceSet], first: Ints, wide: int, device: Ints
) -> tuple[Fabric, Ints]:
    """A fabric with devices behind the others: for each of these sets one that has one axis more, from
    ``first`` on. And a port for every end of a link at such a ``device``."""
    order = np.argsort(device, kind="stable")
    begin = np.flatnonzero(np.diff(device[order], prepend=-1))
    rank = np.empty(len(device), dtype=np.int64)
    rank[order] = np.arange(len(device)) - np.repeat(begin, np.diff(np.append(begin, len(device))))
    ports = int(rank.max()) + 1
    fresh, models = [], []
    for i, s in enumerate(sets):
        text = ("",) * ports
        cls = PortClass(
            "port",
            (Axis(0, ports),),
            0,
            None,
            (),
            (0,) * ports,
            "",
            (0,) * ports,
            text,
            text,
            (),
            1,
            s.origin,
        )
        models.append(replace(s.model, classes=(cls,)))
        parts = (*s.parts, PathComponent("rail", "host", (Axis(0, wide),)))
        fresh.append(replace(s, index=len(f.sets) + i, parts=parts, model=models[-1], first=int(first[i])))
    count = int(first[-1]) - f.device_count
    kind = np.repeat(np.arange(len(sets)), np.diff(first))
    empty = np.zeros(count, dtype=np.int64)
    base = f.port_base[-1] + ports * np.arange(1, count + 1)
    made = replace(
        f,
        sets=(*f.sets, *fresh),
        models=(*f.models, *models),
        device_set=np.append(f.device_set, len(f.sets) + kind),
        device_model=np.append(f.device_model, len(f.models) + kind),
        built=np.append(f.built, empty == 0),
        tier=np.append(f.tier, empty),
        plane=np.append(f.plane, empty - 1),
        port_base=np.append(f.port_base, base),
    )
    return made, f.port_base[-1] + (device - f.device_count) * ports + rank
