"""The fabric as simulators of training see it: accelerators, not hosts, at the ends of links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tdsl.emit.data.scheduling import group_levels, links_of_jobs, schedulable_hosts
from tdsl.emit.link_tables import Wires, gigabits_per_second
from tdsl.emit.records import NpuGraph, NpuLevel, NpuLink
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.prove.delays import cable_delays
from tdsl.semantics.model import DeviceModel
from tdsl.system.nouns import counted_noun

MOST_NODES = 1 << 16
"""ns-3's back ends put a node's number into 16 bits of its address (``node_id_to_ip``)."""


FEMTOSECONDS = 10**6
"""Of a nanosecond."""


class NpuGraphUnfit(Exception):
    """A fabric that these formats cannot hold; the message says why."""


def npu_graph(wires: Wires) -> NpuGraph:
    """Accelerators first, host by host; then one switch a server, where something joins its accelerators;
    then switches by tier.

    A server is a host, or the hosts of a scale-up domain that spans several (an NVL72 rack). The k-th port
    with a link, of a host's ports in order, belongs to an accelerator by its share: 8 ports of 8 accelerators
    one each, 16 two each; of 4 ports each serves two, as a link of half the rate to either. Parallel links
    are one of their sum: ns-3's readers keep one link for two nodes. Hosts without accelerators (storage,
    managers) are left out, with their links. Raises ``NpuGraphUnfit``.
    """
    f = wires.fabric
    hosts = np.flatnonzero(f.built & (f.kind == "host") & (f.role == "accelerator"))
    models = {int(m): f.models[int(m)] for m in np.unique(f.device_model[hosts])}
    each = _accelerators_of_each_host(f, hosts, models)
    hosts, span, rate = _scaleup_domain_of_hosts(f, hosts, each)
    inner = {m: (rate, []) if span > 1 else _scaleup_links_of_model(model) for m, model in models.items()}
    joined = any(up for up, _ in inner.values())
    servers = len(hosts) // span
    first_switch = len(hosts) * each + servers * joined
    if first_switch + int(f.is_switch.sum()) > MOST_NODES:
        raise NpuGraphUnfit(f"ns-3's back ends know {MOST_NODES:,} nodes, and this fabric has more")
    switches = np.flatnonzero(f.built & f.is_switch & _linked_devices(f))
    switches = switches[np.argsort(f.tier[switches], kind="stable")]
    number = {d: first_switch + k for k, d in enumerate(switches.tolist())}
    delays = (cable_delays(f, np.arange(f.link_count))[0] / FEMTOSECONDS).tolist()
    found = _bits_between_nodes(f, hosts, each, span, inner, number, delays)
    links = tuple(
        NpuLink(a, b, gigabits_per_second(bits), inside, delay)
        for (a, b, inside), (bits, delay) in found.items()
    )
    chips = {c.model.name for m in models.values() for c in m.chips if c.accelerates}
    return NpuGraph(
        len(hosts) * each,
        each * span,
        servers * joined,
        len(switches),
        links,
        chips.pop() if len(chips) == 1 else "",
        max((up for up, _ in inner.values()), default=0),
        _rates_of_levels(f, delays, each),
        servers,
        span,
    )


def _bits_between_nodes(
    f: Fabric,
    hosts: Ints,
    each: int,
    span: int,
    inner: Mapping[int, tuple[int, list[tuple[int, int, int]]]],
    number: Mapping[int, int],
    delays: Sequence[float],
) -> dict[tuple[int, int, bool], tuple[int, float]]:
    """Bits per second between two nodes, and nanoseconds of the longest cable, by their numbers and whether
    the link is inside a server. ``inner`` has the links inside a host by its model, ``number`` the node of a
    switch by its device, ``delays`` the nanoseconds of the cable of every link."""
    rates: dict[tuple[int, int, bool], tuple[int, float]] = {}

    def link(a: int, b: int, bits: int, inside: bool, delay: float = 0.0) -> None:
        before, longest = rates.get((a, b, inside), (0, 0.0))
        rates[a, b, inside] = before + bits, max(longest, delay)

    ports = _links_per_accelerator(f, hosts, each)
    for h, host in enumerate(hosts.tolist()):
        up, pairs = inner[int(f.device_model[host])]
        for npu in range(each):
            if up:
                link(h * each + npu, len(hosts) * each + h // span, up, True)
            for a, b, bits in pairs:
                if a == npu:
                    link(h * each + npu, h * each + b, bits, True)
            for far, bits, row in ports.get((host, npu), ()):
                if far in number:
                    link(h * each + npu, number[far], bits, False, delays[row])
    for a, b, bits, row in _links_between_switch_numbers(f, number):
        link(a, b, bits, False, delays[row])
    return rates


def _accelerators_of_each_host(f: Fabric, hosts: Ints, models: Mapping[int, DeviceModel]) -> int:
    """How many accelerators every host has. Raises ``NpuGraphUnfit`` where hosts differ, have none, or are
    linked to hosts."""
    sizes = {m.accelerators for m in models.values()}
    if not len(hosts) or sizes == {0}:
        raise NpuGraphUnfit("no host has accelerators")
    if bool((np.isin(f.device_a, hosts) & np.isin(f.device_b, hosts)).any()):
        raise NpuGraphUnfit("hosts are linked to hosts, and these formats know links to switches")
    if len(sizes) > 1:
        raise NpuGraphUnfit(
            f"hosts have {' or '.join(str(s) for s in sorted(sizes))} accelerators, and these formats "
            "know one number"
        )
    return sizes.pop()


def _scaleup_domain_of_hosts(f: Fabric, hosts: Ints, each: int) -> tuple[Ints, int, int]:
    """Hosts by scale-up domain, hosts of a domain, and bits per second from an accelerator to the domain's
    switches; a domain of one host is as its model says, at rate 0."""
    whole = f.whole if f.whole is not None else f
    up = scaleup_links(whole)
    if not up.any():
        return hosts, 1, 0
    of = f.domains.of_device[hosts]
    _, first, sizes = np.unique(of, return_index=True, return_counts=True)
    if bool((of < 0).any()) or len(set(sizes.tolist())) > 1:
        raise NpuGraphUnfit(
            "hosts are in scale-up domains of different sizes, and these formats know one size"
        )
    span = int(sizes[0])
    if span == 1:
        return hosts, 1, 0
    switch_a, switch_b = whole.is_switch[whole.device_a[up]], whole.is_switch[whole.device_b[up]]
    if not bool((switch_a | switch_b).all()):
        raise NpuGraphUnfit(
            "scale-up links lead from accelerator to accelerator of other hosts, and these formats know "
            "one switch a domain"
        )
    total = int(whole.link_rate[up][switch_a != switch_b].sum())
    start = first[np.searchsorted(np.unique(of), of)]
    return hosts[np.argsort(start, kind="stable")], span, total // (len(hosts) * each)


def _linked_devices(f: Fabric) -> Bools:
    """Devices that a link leads to."""
    out: Bools = np.zeros(f.device_count, dtype=bool)
    out[f.device_a] = out[f.device_b] = True
    return out


def _scaleup_links_of_model(model: DeviceModel) -> tuple[int, list[tuple[int, int, int]]]:
    """Bits per second from an accelerator to the switches inside its host, and links from one accelerator to
    another."""
    first, at = {}, 0
    for chip in model.chips:
        if chip.accelerates:
            first[chip.name] = at
            at += chip.size
    up: dict[int, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    for link in model.links:
        if link.layer != "scaleup":
            continue
        ends = [first[name] + i for name, i in (link.a, link.b) if name in first]
        if len(ends) == 2:
            a, b = sorted(ends)
            pairs[a, b] = pairs.get((a, b), 0) + link.count * link.rate
        elif ends:
            up[ends[0]] = up.get(ends[0], 0) + link.count * link.rate
    return max(up.values(), default=0), [(a, b, rate) for (a, b), rate in sorted(pairs.items())]


def _links_per_accelerator(
    f: Fabric, hosts: Ints, each: int
) -> dict[tuple[int, int], list[tuple[int, int, int]]]:
    """(host, accelerator) -> far device, rate and row of its links."""
    near = np.concatenate([f.link_a, f.link_b])
    far = np.concatenate([f.device_b, f.device_a])
    ends = np.flatnonzero(np.isin(f.port_device[near], hosts))
    ends = ends[np.argsort(near[ends], kind="stable")]
    link = ends % f.link_count
    rows: dict[int, list[tuple[int, int, int]]] = {}
    for device, *end in zip(
        f.port_device[near[ends]].tolist(),
        far[ends].tolist(),
        f.link_rate[link].tolist(),
        link.tolist(),
        strict=True,
    ):
        rows.setdefault(device, []).append((end[0], end[1], end[2]))
    out: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for device, mine in rows.items():
        if len(mine) % each and each % len(mine):
            raise NpuGraphUnfit(
                f"{f.device_name(device)} has {counted_noun(len(mine), 'link')} for "
                f"{counted_noun(each, 'accelerator')}, so no accelerator has its own"
            )
        for k, (there, bits, row) in enumerate(mine):
            share = max(each // len(mine), 1)
            for npu in range(k * each // len(mine), k * each // len(mine) + share):
                out.setdefault((device, npu), []).append((there, bits // share, row))
    return out


def _links_between_switch_numbers(
    f: Fabric, number: Mapping[int, int]
) -> Iterator[tuple[int, int, int, int]]:
    """Links between switches, by the lower number first: both numbers, rate and row."""
    rows = np.flatnonzero(f.is_switch[f.device_a] & f.is_switch[f.device_b])
    ends = [
        (*sorted((number[a], number[b])), rate, row)
        for a, b, rate, row in zip(
            f.device_a[rows].tolist(),
            f.device_b[rows].tolist(),
            f.link_rate[rows].tolist(),
            rows.tolist(),
            strict=True,
        )
    ]
    yield from sorted(ends)


def _rates_of_levels(f: Fabric, delays: Sequence[float], each: int) -> tuple[NpuLevel, ...]:
    """What each accelerator has into every level of groups of hosts: the least that a group of the level
    below sends into it, by its accelerators. A link between two groups counts for both."""
    hosts = schedulable_hosts(f)
    of_jobs = links_of_jobs(f, hosts)
    host_link = of_jobs & np.isin(f.device_a, hosts) & f.is_switch[f.device_b]
    below = np.arange(f.device_count)
    out: list[NpuLevel] = []
    for level in group_levels(f):
        counted = of_jobs & (below[f.device_a] != below[f.device_b]) if out else host_link
        counted &= level.label[f.device_a] == level.label[f.device_b]
        groups, sizes = np.unique(below[hosts], return_counts=True)
        sent = np.zeros(f.device_count, dtype=np.float64)
        for ends in (f.device_a, f.device_b):
            np.add.at(sent, below[ends[counted]], f.link_rate[counted].astype(np.float64))
        longest = max((delays[row] for row in np.flatnonzero(counted).tolist()), default=0.0)
        least = float((sent[groups] / (sizes * each)).min())
        out.append(NpuLevel(least / 10**9, longest, level.beside))
        below = level.label
    return tuple(out)
