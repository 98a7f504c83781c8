"""Through scale-up domains that span hosts: a domain is one endpoint with the ports of all its hosts.

Traffic goes by scale-up links to a host of its own domain, over the network, and by scale-up links to where
it is wanted; no host passes on what the network brings. So the network with each domain put together as one
endpoint carries at least as much: its upper bound is one of both layers. Its lower bound is one as far as the
domains redistribute the traffic, which ``carried`` shows.
"""

from __future__ import annotations

from dataclasses import field, replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import Domains, scaleup_links, scaleup_network
from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.demands import TrafficDemand, UnfitDemand
from tdsl.prove.view import View
from tdsl.semantics.model import Axis, PathComponent, PortClass
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)
class ByDomain(View):
    """A view whose units are scale-up domains, devices of their own behind those of the fabric. ``hosts`` are
    the units of the view it was made of, ``domain`` the place of the domain of each among the units here."""

    plain: View | None = None
    hosts: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    domain: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, view: View) -> ByDomain:
        """Put the units of a view together by their domains. Raises Unfit where this has no meaning."""
        f, units = view.fabric, view.units
        if view.direct:
            raise UnfitDemand("chips of its network are joined to chips")
        label = view.domains.of_device[units]
        label = np.where(label >= 0, label, -1 - np.arange(len(units)))  # a host alone
        if _has_separated_accelerators(view):
            label = _components_through_hosts(view)
        found, domain = np.unique(label, return_inverse=True)
        unit = np.full(f.device_count, -1, dtype=np.int64)
        unit[units] = domain
        ends = np.append(f.device_a[view.rows], f.device_b[view.rows])
        mine = np.flatnonzero(unit[ends] >= 0)
        device = unit[ends[mine]]
        made, port = _add_domain_devices(f, units, len(found), device)
        a, b = f.link_a.copy(), f.link_b.copy()
        low = mine < len(view.rows)
        a[view.rows[mine[low]]], b[view.rows[mine[~low] - len(view.rows)]] = port[low], port[~low]
        shown = np.append(view.devices, np.ones(len(found), dtype=np.bool_))
        shown[units] = False
        made = replace(made, link_a=a, link_b=b)
        return cls(
            made,
            shown,
            shown,
            view.rows,
            view.name,
            budget=view.budget,
            plain=view,
            hosts=units,
            domain=domain.astype(np.int64),
        )

    def names(self, devices: Ints) -> list[str]:
        """Names of devices; of a domain by its first host."""
        first = self.fabric.device_count - int(self.domain.max(initial=-1)) - 1
        hosts = {
            first + k: int(self.hosts[np.argmax(self.domain == k)])
            for k in range(self.fabric.device_count - first)
        }
        name = self.fabric.device_name
        return [f"the domain of {name(hosts[d])}" if d in hosts else name(d) for d in devices.tolist()]

    @property
    def sizes(self) -> Ints:
        """Hosts of every domain."""
        return np.bincount(self.domain)

    def laid(self, demand: TrafficDemand | None) -> TrafficDemand | None:
        """What domains exchange when hosts do, without what stays within one; None: the same for all pairs of
        them. Raises Unfit where nothing leaves a domain."""
        sizes = self.sizes
        if len(sizes) < 2:
            raise UnfitDemand("all hosts are in one scale-up domain, so nothing has to cross the network")
        if demand is None:
            if len(np.unique(sizes)) == 1:
                return None
            if len(sizes) ** 2 > self.budget.domain_pairs:
                raise UnfitDemand("there are too many scale-up domains of several sizes")
            pairs = sizes[:, None] * sizes[None, :]
            np.fill_diagonal(pairs, 0)
            source, target = np.nonzero(pairs)
            return TrafficDemand(source, target, pairs[source, target])
        source, target = self.domain[demand.source], self.domain[demand.target]
        away = source != target
        if not away.any():
            raise UnfitDemand("nothing that is sent leaves a scale-up domain")
        keys, which = np.unique(source[away] * len(sizes) + target[away], return_inverse=True)
        amount = np.zeros(len(keys), dtype=np.int64)
        np.add.at(amount, which, demand.amount[away])
        return TrafficDemand(keys // len(sizes), keys % len(sizes), amount)

    def carried(self, demand: TrafficDemand | None, sent: Fraction) -> Fraction:
        """The share of a traffic, 0 to 1, that the domains redistribute; ``sent`` is what crosses the
        network, in bit/s.

        A host sends what it has to send and hands on what came in by its ports, and receives as much at most:
        that is its load. Where all hosts of a domain are linked to common switches, each flow is divided
        evenly over these (Valiant's way); in other domains over all its accelerators, in two steps of uniform
        all to all. Source: Valiant, SIAM J. Comput. 11 (1982).
        """
        assert self.plain is not None
        whole = self.fabric.whole
        up = scaleup_network(whole) if whole is not None else None
        if whole is None or up is None or _has_separated_accelerators(self.plain):
            return Fraction(0)
        load = self._load(demand, sent)
        rows = np.flatnonzero(~self.plain.lost_beside[scaleup_links(whole)])
        unit = unit_of_devices(up, self.hosts)
        share = Fraction(1)
        several = 0
        for k in np.flatnonzero(self.sizes > 1).tolist():
            mine = np.flatnonzero(self.domain == k)
            found = _share_by_common_switches(up, unit, mine, load, rows)
            if found is None:
                several += 1
                if several > self.budget.judged_domains:
                    return Fraction(0)
                found = self._in_two_steps(up, unit, mine, load, rows)
            share = min(share, found)
        return share

    def _load(self, demand: TrafficDemand | None, sent: Fraction) -> list[Fraction]:
        """Of every host what it sends, or receives if that is more, within its domain, in bit/s."""
        assert self.plain is not None
        count, sizes = len(self.hosts), self.sizes
        if demand is None:
            crossing = count * count - int((sizes.astype(object) ** 2).sum())
            most = np.full(count, count - 1, dtype=object)
        else:
            crossing = int(
                demand.amount[self.domain[demand.source] != self.domain[demand.target]].astype(object).sum()
            )
            out, into = np.zeros(count, dtype=object), np.zeros(count, dtype=object)
            np.add.at(out, demand.source, demand.amount.astype(object))
            np.add.at(into, demand.target, demand.amount.astype(object))
            most = np.maximum(out, into)
        f, view = self.plain.fabric, self.plain
        own = np.zeros(f.device_count, dtype=np.int64)
        rate = f.link_rate[view.rows]
        np.add.at(own, view.a, rate)
        np.add.at(own, view.b, rate)
        return [
            Fraction(int(m)) * sent / crossing + int(own[h])
            for m, h in zip(most, self.hosts.tolist(), strict=True)
        ]

    def _in_two_steps(
        self, up: Fabric, unit: Ints, mine: Ints, load: list[Fraction], links: Ints
    ) -> Fraction:
        """By uniform all to all among the accelerators: each flow goes to all of them in equal parts, and
        then on."""
        assert self.plain is not None
        found = uniform_exchange(self.plain, up, unit, mine, links)
        if found is None:
            return Fraction(0)
        pair, owner = found
        each = np.bincount(owner, minlength=len(self.hosts))
        if (each[mine] == 0).any():
            return Fraction(0)
        most = max(load[h] / int(each[h]) for h in mine.tolist())
        return min(Fraction(1), pair * len(owner) / 2 / most) if most else Fraction(1)


def uniform_exchange(
    plain: View, up: Fabric, unit: Ints, mine: Ints, links: Ints
) -> tuple[Fraction, Ints] | None:
    """What each accelerator of some units can send to each other of them by these scale-up links, all at
    once, in bit/s; and the unit of each accelerator. ``unit`` is the unit of every device, ``mine`` are those
    of one domain. None where it is not known, or where accelerators of others take part."""
    member = np.isin(unit, mine)
    if plain.failed is not None:
        member &= ~plain.failed
    reached, known = member.copy(), -1
    while (count := int(reached.sum())) > known:  # switches, and those behind them
        known = count
        rows = links[reached[up.device_a[links]] | reached[up.device_b[links]]]
        reached[up.device_a[rows]] = reached[up.device_b[rows]] = True
    view = View(up, reached & up.built, reached & up.built, rows, budget=plain.budget)
    owner = unit[view.units]
    if len(owner) < 2 or (owner < 0).any():  # one accelerator, or some of hosts that are not asked about
        return None
    found = all_to_all_bounds(view)
    return (Fraction(found.lower * found.net.grain), owner) if found is not None else None


def unit_of_devices(up: Fabric, units: Ints) -> Ints:
    """The place of the unit that every device is, or is inside of; -1 of none."""
    place = np.full(up.device_count, -1, dtype=np.int64)
    place[units] = np.arange(len(units))
    owner = np.arange(up.device_count)
    for _ in range(8):  # chips of hosts represent these
        inside = (place[owner] < 0) & (up.container[owner] >= 0)
        owner = np.where(inside, up.container[owner], owner)
    return place[owner]


def _share_by_common_switches(
    up: Fabric, unit: Ints, mine: Ints, load: list[Fraction], links: Ints
) -> Fraction | None:
    """The share of these loads that hosts exchange by way of switches that all of them are linked to by some
    of these links; None where there are none.

    A flow is divided over the switches in proportion to the least of what a host has to each, for its load.
    """
    capacity: dict[int, dict[int, int]] = {}
    member = np.isin(unit, mine)
    columns = (up.device_a.tolist(), up.device_b.tolist(), up.link_rate.tolist())
    touched = member[up.device_a[links]] | member[up.device_b[links]]
    for row in links[touched].tolist():
        for one, other in ((columns[0][row], columns[1][row]), (columns[1][row], columns[0][row])):
            if member[one] and up.is_switch[other]:
                of = capacity.setdefault(other, {})
                host = int(unit[one])
                of[host] = of.get(host, 0) + columns[2][row]
    total = Fraction(0)
    for of in capacity.values():
        total += min(
            (Fraction(of.get(h, 0)) / load[h] for h in mine.tolist() if load[h]), default=Fraction(1)
        )
    return min(Fraction(1), total) if total else None


def _add_domain_devices(f: Fabric, units: Ints, count: int, device: Ints) -> tuple[Fabric, Ints]:
    """A fabric with so many devices behind the others, and a port for every end of a link at such a
    ``device``."""
    order = np.argsort(device, kind="stable")
    begin = np.flatnonzero(np.diff(device[order], prepend=-1))
    rank = np.empty(len(device), dtype=np.int64)
    rank[order] = np.arange(len(device)) - np.repeat(begin, np.diff(np.append(begin, len(device))))
    ports = int(rank.max(initial=0)) + 1
    s = f.set_of(int(units[0]))
    text = ("",) * ports
    cls = PortClass(
        "port", (Axis(0, ports),), 0, None, (), (0,) * ports, "", (0,) * ports, text, text, (), 1, s.origin
    )
    model = replace(s.model, classes=(cls,))
    fresh = replace(
        s,
        index=len(f.sets),
        parts=(PathComponent("domain", "host", (Axis(0, count),)),),
        model=model,
        first=f.device_count,
        inside=None,
    )
    empty = np.zeros(count, dtype=np.int64)
    made = replace(
        f,
        sets=(*f.sets, fresh),
        models=(*f.models, model),
        device_set=np.append(f.device_set, empty + len(f.sets)),
        device_model=np.append(f.device_model, empty + len(f.models)),
        built=np.append(f.built, empty == 0),
        tier=np.append(f.tier, empty),
        plane=np.append(f.plane, empty - 1),
        port_base=np.append(f.port_base, f.port_base[-1] + ports * np.arange(1, count + 1)),
    )
    return made, f.port_base[-1] + device * ports + rank


def units_with_joined_accelerators(view: View, domains: Domains | None = None) -> Bools:
    """Of every unit of a view whether its accelerators exchange data without the network: by a scale-up
    domain, or because it has one. The domains are those that failures leave, or the ones given."""
    f = view.fabric
    domains = view.domains if domains is None else domains
    alone = np.array([m.accelerators == 1 for m in f.models] or [False], dtype=np.bool_)[
        f.device_model[view.units]
    ]
    if view.failed is not None and view.failed.any():
        alone |= np.bincount(domains.inside.host, minlength=f.device_count)[view.units] == 1
    out: Bools = (domains.of_device[view.units] >= 0) | alone
    return out


def domain_spans_units(view: View) -> bool:
    """Whether some scale-up domain, as it is designed, has several units of a view."""
    mine = view.fabric.domains.of_device[view.units]
    mine = mine[mine >= 0]
    return len(np.unique(mine)) < len(mine)


def _has_separated_accelerators(view: View) -> bool:
    """Whether failures leave a unit whose accelerators are not joined."""
    return view.failed is not None and not units_with_joined_accelerators(view).all()


def _components_through_hosts(view: View) -> Ints:
    """For every unit a number that is the same for all that scale-up links could join if every host passed on
    what it gets: its accelerators count as one. No traffic can do better."""
    inside, units = view.domains.inside, view.units
    nodes = len(inside.label)
    label = component_labels(nodes, np.append(inside.a, inside.host), np.append(inside.b, inside.node))
    return np.asarray(label[units], dtype=np.int64)
