"""Layers: the scale-out network of a fabric, the scale-up links (NVLink, UALink, UB) beside it, and the
domains these make.

A link is of the layer ``scaleup`` where its connect says so. Where a fabric has links of both layers, metrics
of the network are of the scale-out links alone, and a scale-up domain is a component of the scale-up links:
hosts and chips that exchange data without the network.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.order import distinct_values
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.model import DeviceSet
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.addresses import Addressing
    from tdsl.fabric.graph import Bools, Fabric, Ints

SCALEUP = "scaleup"


def scaleup_statements(fabric: Fabric) -> Bools:
    """Of every connect and circuit whether its links are of the layer ``scaleup``."""
    return np.array([s.settings.get("layer") == SCALEUP for s in fabric.statements], dtype=np.bool_)


def scaleup_links(fabric: Fabric) -> Bools:
    """The links of the layer ``scaleup`` beside scale-out links; none where the fabric has one layer."""
    said = scaleup_statements(fabric)
    if not said.any() or fabric.layer == SCALEUP or fabric.whole is not None:
        return np.zeros(fabric.link_count, dtype=np.bool_)
    return said[fabric.link_statement]


def scaleout_network(fabric: Fabric) -> Fabric:
    """The scale-out network alone: the fabric itself where it has one layer. Devices keep their rows;
    switches that have scale-up links alone are not built in it. ``whole`` of what this returns is the fabric
    with both layers."""
    if fabric.whole is not None or fabric.layer == SCALEUP or not scaleup_statements(fabric).any():
        return fabric
    return _fabric_of_layer(fabric, False)


def scaleup_network(fabric: Fabric) -> Fabric | None:
    """The scale-up links alone, of a fabric that has both layers; else None."""
    if fabric.layer == SCALEUP or not scaleup_statements(fabric).any():
        return None
    return replace(_fabric_of_layer(fabric, True), layer=SCALEUP, whole=None)


def _fabric_of_layer(f: Fabric, up: bool) -> Fabric:
    """The links, cables and circuits of one layer, and all devices but what only passes on traffic of the
    other layer."""
    said = scaleup_statements(f) == up
    links = said[f.link_statement]
    cables = said[f.cable_statement]
    circuits = links[f.circuit_link]
    absent = said[f.absent_statement]
    ends = (f.kind == "host") | (f.kind == "chip")
    foreign = ~ends & ~_devices_with_links(f, links, absent) & _devices_with_links(f, ~links, ~absent)
    number = np.cumsum(links) - 1
    of_port = np.where(f.port_link >= 0, f.port_link, 0)
    kept = (f.port_link >= 0) & links[of_port] if f.link_count else np.zeros(len(f.port_link), dtype=np.bool_)
    columns = (
        "link_a",
        "link_b",
        "link_rate",
        "link_class",
        "link_medium",
        "link_statement",
        "link_via_a",
        "link_via_b",
        "link_bundle",
        "link_colour",
    )
    legs = ("cable_a", "cable_b", "cable_group", "cable_leg", "cable_links", "cable_class", "cable_statement")
    planned = ("absent_a", "absent_b", "absent_rate", "absent_reserved", "absent_statement")
    changed = {name: getattr(f, name)[links] for name in columns}
    changed |= {name: getattr(f, name)[cables] for name in legs}
    changed |= {name: getattr(f, name)[absent] for name in planned}
    if len(f.link_run):
        changed["link_run"] = f.link_run[links]
    return replace(
        f,
        **changed,
        built=f.built & ~foreign,
        port_link=np.where(kept, number[of_port] if f.link_count else -1, -1),
        circuit_a=f.circuit_a[circuits],
        circuit_b=f.circuit_b[circuits],
        circuit_link=number[f.circuit_link[circuits]],
        whole=f,
        addressing=_addressing_of_links(f, links),
        members=tuple(
            m if (scaleup_statements(m) == up).all() else _fabric_of_layer(m, up) for m in f.members
        ),
        member_links=tuple(number[rows[links[rows]]] for rows in f.member_links),
    )


def _addressing_of_links(f: Fabric, links: Bools) -> Addressing | None:
    """Addresses of devices, and those of the links that are kept."""
    found = f.addressing
    if found is None:
        return None
    assigned = {
        (kind, version): replace(d, pool=d.pool[links], rank=d.rank[links]) if kind == "links" else d
        for (kind, version), d in found.assigned.items()
    }
    return replace(found, assigned=assigned)


def scaleup_only_devices(fabric: Fabric) -> Bools:
    """Devices that have scale-up links alone, where there is a network beside them."""
    up = scaleup_links(fabric)
    none = np.zeros(len(fabric.absent_a), dtype=np.bool_)
    return fabric.built & _devices_with_links(fabric, up, none) & ~_devices_with_links(fabric, ~up, none)


def _devices_with_links(f: Fabric, links: Bools, absent: Bools) -> Bools:
    """Devices with some of these links, planned ones included, and what is crossed."""
    out = np.zeros(f.device_count, dtype=np.bool_)
    out[f.device_a[links]] = out[f.device_b[links]] = True
    out[f.absent_a[absent]] = out[f.absent_b[absent]] = True
    for via in (f.link_via_a[links], f.link_via_b[links]):
        out[f.port_device[via[via >= 0]]] = True
    return out


def judge_layers(fabric: Fabric, diagnostics: Diagnostics) -> None:
    """An error for each declaration of switches that have links of both layers: a path would change from one
    to the other."""
    mine = scaleup_links(fabric)
    if not mine.any():
        return
    ends = [np.zeros(fabric.device_count, dtype=np.bool_) for _ in range(2)]
    for out, links in zip(ends, (mine, ~mine), strict=True):
        out[fabric.device_a[links]] = out[fabric.device_b[links]] = True
    both = np.flatnonzero(ends[0] & ends[1] & fabric.is_switch)
    for s in distinct_values(fabric.device_set[both]).tolist():
        rows = both[fabric.device_set[both] == s]
        link = int(np.flatnonzero(mine & ((fabric.device_a == rows[0]) | (fabric.device_b == rows[0])))[0])
        diagnostics.add(
            "E0215",
            fabric.sets[s].origin,
            f"{fabric.device_name(int(rows[0]))} has links of both layers; a switch is in one",
            labels=[
                (
                    fabric.statements[int(fabric.link_statement[link])].origin.span,
                    "this connect says `layer scaleup`",
                )
            ],
            help="write `layer scaleup` at all its connects, or at none",
            count=len(rows),
        )


# ---------------------------------------------------------------- domains


@dataclass(frozen=True, slots=True)
class Accelerators:
    """Accelerators and the scale-up links among them, inside of hosts and outside, as a graph whose first
    nodes are the devices.

    ``host`` and ``node`` are the host and the node of each accelerator. Link k has ``rate[k]`` bit/s each way
    between the nodes ``a[k]`` and ``b[k]``; a rate of 0 is no link, but says that the two are one. ``label``
    is the component of every node."""

    host: Ints
    node: Ints
    a: Ints
    b: Ints
    rate: Ints
    label: Ints
    owner: Ints


@dataclass(frozen=True, slots=True)
class Domains:
    """Scale-up domains of a fabric. ``of_device`` numbers the domain of every host and chip, -1 for those in
    none: of a host the one that has all its accelerators. ``rate`` is what every device has of scale-up links
    in bit/s, a host with what is inside it; ``accelerator_bps`` of every domain the least that one of its
    accelerators has. ``inside`` are the links and accelerators that they were found by."""

    of_device: Ints
    rate: Ints
    accelerator_bps: Ints
    inside: Accelerators

    @property
    def count(self) -> int:
        """The number of domains."""
        return len(self.accelerator_bps)


class _Nodes:
    """Devices as nodes of a graph, and behind them the parts inside of hosts that have no row of their own;
    without what has ``failed`` or is left out of a host."""

    def __init__(self, f: Fabric, failed: Bools) -> None:
        self.f = f
        omitted = ~f.built & (f.container >= 0) & f.built[f.container]
        self.gone = failed | omitted
        self.a: list[Ints] = []
        self.b: list[Ints] = []
        self.rate: list[Ints] = []
        self.count = f.device_count
        self.owner = [np.arange(f.device_count, dtype=np.int64)]
        rows = {(s.inside.index, s.name): s for s in f.sets if s.inside is not None}
        self.chips: list[
            tuple[Ints, Ints]
        ] = []  # hosts, and the nodes of the accelerators of each (a column an accelerator)
        for s in f.sets:
            if s.kind == "host":
                for m in distinct_values(f.device_model[s.first : s.first + s.count]).tolist():
                    self._hosts(s, m, rows)

    def _hosts(self, s: DeviceSet, m: int, rows: dict[tuple[int, str], DeviceSet]) -> None:
        """The insides of the hosts of a declaration that have one model."""
        f, model = self.f, self.f.models[m]
        hosts = s.first + np.flatnonzero(f.device_model[s.first : s.first + s.count] == m)
        nodes: dict[tuple[str, int], Ints] = {}
        for chip in model.chips:
            opened = rows.get((s.index, chip.name))
            known = opened is not None and opened.count == s.count * chip.size
            first = (
                opened.first + (hosts - s.first) * chip.size
                if opened is not None and known
                else (self.count + np.arange(len(hosts), dtype=np.int64) * chip.size)
            )
            for i in range(chip.size):
                nodes[chip.name, i] = first + i
            if not known:
                self.count += len(hosts) * chip.size
                self.owner.append(np.repeat(hosts, chip.size))
        for link in model.links:
            if link.layer == SCALEUP:
                there = ~(self.gone[hosts] | self.lost(nodes[link.a]) | self.lost(nodes[link.b]))
                rate = np.full(int(there.sum()), link.rate * link.count, dtype=np.int64)
                self.join(nodes[link.a][there], nodes[link.b][there], rate)
        found = [nodes[c.name, i] for c in model.chips if c.accelerates for i in range(c.size)]
        if found:
            self.chips.append((hosts, np.stack(found, axis=1)))

    def lost(self, nodes: Ints) -> Bools:
        """Whether these nodes are devices that are not there; parts without a row are there where their host
        is."""
        out = np.zeros(nodes.shape, dtype=np.bool_)
        device = nodes < self.f.device_count
        out[device] = self.gone[nodes[device]]
        return out

    def join(self, a: Ints, b: Ints, rate: Ints) -> None:
        """Links between nodes."""
        self.a.append(a)
        self.b.append(b)
        self.rate.append(rate)


def domains_of(fabric: Fabric, failed: Bools | None = None, lost: Bools | None = None) -> Domains:
    """The scale-up domains of a fabric by its scale-up links, those inside of hosts included; what is left of
    them where devices ``failed`` (with all that they contain) and links are ``lost``. A host whose own ports
    have such links has them for all its accelerators."""
    failed = np.zeros(fabric.device_count, dtype=np.bool_) if failed is None else failed
    nodes = _Nodes(fabric, failed)
    links = scaleup_links(fabric) & ~fabric.links_lost(failed)
    links &= ~lost if lost is not None else True
    nodes.join(fabric.device_a[links], fabric.device_b[links], fabric.link_rate[links])
    direct = np.bincount(
        np.append(fabric.device_a[links], fabric.device_b[links]), minlength=fabric.device_count
    )
    for hosts, chips in nodes.chips:
        own = direct[hosts] > 0
        for column in chips[own].T:
            there = ~nodes.lost(column)
            nodes.join(hosts[own][there], column[there], np.zeros(int(there.sum()), dtype=np.int64))
    a, b, rate = np.concatenate(nodes.a), np.concatenate(nodes.b), np.concatenate(nodes.rate)
    label = component_labels(nodes.count, a, b)
    capacity = np.zeros(nodes.count, dtype=np.int64)
    np.add.at(capacity, a, rate)
    np.add.at(capacity, b, rate)
    of_device = np.full(fabric.device_count, -1, dtype=np.int64)
    total = capacity[: fabric.device_count].copy()
    linked = np.zeros(nodes.count, dtype=np.bool_)
    linked[a] = linked[b] = True
    of_chip = np.flatnonzero((fabric.kind == "chip") & linked[: fabric.device_count] & fabric.built)
    of_device[of_chip] = label[of_chip]
    slowest: dict[int, int] = {}
    for d in of_chip.tolist():
        slowest[int(label[d])] = min(slowest.get(int(label[d]), 1 << 62), int(capacity[d]))
    host, node = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for hosts, chips in nodes.chips:
        there = ~nodes.lost(chips) & ~nodes.gone[hosts][:, None]
        first = chips[np.arange(len(hosts)), there.argmax(axis=1)]  # of the accelerators that are there
        together = (label[chips] == label[first][:, None]) & linked[chips]
        one = fabric.built[hosts] & there.any(axis=1) & (together | ~there).all(axis=1)
        of_device[hosts[one]] = label[first[one]]
        each = capacity[chips]
        own = capacity[hosts][:, None] // np.maximum(there.sum(axis=1), 1)[:, None]
        per = np.where((direct[hosts] > 0)[:, None], np.maximum(own, each), each)
        total[hosts] = np.where(there, per, 0).sum(axis=1)
        least = np.where(there, per, 1 << 62)
        for k, bps in zip(of_device[hosts[one]].tolist(), least[one].min(axis=1).tolist(), strict=True):
            slowest[k] = min(slowest.get(k, 1 << 62), bps)
        there &= fabric.built[hosts][:, None]
        host.append(np.repeat(hosts, there.sum(axis=1)))
        node.append(chips[there])
    found = distinct_values(of_device[of_device >= 0])
    place = np.full(nodes.count + 1, -1, dtype=np.int64)
    place[found] = np.arange(len(found))
    owner = np.concatenate(nodes.owner)
    inside = Accelerators(np.concatenate(host), np.concatenate(node), a, b, rate, label, owner)
    bps = np.array([slowest[k] for k in found.tolist()], dtype=np.int64)
    return Domains(place[of_device], total, bps, inside)
