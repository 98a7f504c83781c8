"""What accelerators of scale-up domains can exchange within their domain, all at once, by the links that are
left."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.layers import scaleup_links, scaleup_network
from tdsl.prove.by_domain import uniform_exchange, unit_of_devices
from tdsl.prove.concurrent_flow import concurrent_flow_bounds
from tdsl.prove.network import Network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DomainRate:
    """The rate in bit/s at which each accelerator of a scale-up domain can send to all others in equal parts,
    while it receives as much; ``any_traffic`` if so much can go to any of them in any parts. ``ranks`` is
    their number. ``by_switch`` if each switch that this is over is linked to all of them."""

    bps: Fraction
    any_traffic: bool
    ranks: int = 1
    by_switch: bool = False

    def of_some(self, count: int) -> DomainRate:
        """What so many of them have among themselves, the others passing on what they get: where only equal
        parts to all are known to fit, these go by way of all (Valiant, SIAM J. Comput. 11, 1982)."""
        if self.any_traffic or count == self.ranks:
            return self
        return DomainRate(self.bps / 2, True, count)


def domain_rates(view: View) -> list[DomainRate | None]:
    """The rate of every scale-up domain of a view; None where none is found.

    Each switch that all its accelerators are linked to carries an exchange of them, at what the one with
    least has to it. Where there is no such switch: in one host whose accelerators are all linked to each
    other, each such link carries its pair; else all exchange uniformly over what is there."""
    domains = view.domains
    inside, count = domains.inside, view.fabric.device_count
    node, host, domain = _accelerators_of_domains(view)
    pairs = np.unique(domain * count + host)
    hosts = np.bincount(pairs // count, minlength=domains.count)
    node, host, domain = _only_those_asked_about(view, node, host, domain)
    size = np.bincount(domain, minlength=domains.count)
    common = _rates_by_common_switches(view, node, host, domain, size)
    place = np.full(len(inside.label), -1, dtype=np.int64)
    place[node] = domain
    meshed = _rates_over_pairs(view, place, size)
    alone = {int(h): k for h, k in zip(host.tolist(), domain.tolist(), strict=True) if hosts[k] == 1}
    known: dict[tuple[object, ...], Fraction | None] = {}
    by_host = _inside_links_by_domain(view, place, alone, (common > 0) | (meshed > 0))
    out: list[DomainRate | None] = []
    asked = 0
    for k in range(domains.count):
        if size[k] < 2:
            out.append(DomainRate(Fraction(int(domains.accelerator_bps[k])), True, int(size[k])))
        elif common[k] or meshed[k]:
            by_switch = common[k] >= meshed[k]
            out.append(
                DomainRate(
                    Fraction(int(max(common[k], meshed[k]))), bool(by_switch), int(size[k]), bool(by_switch)
                )
            )
        elif hosts[k] == 1:
            key = by_host.get(k, ())
            if key not in known:
                known[key] = _uniform_rate_of_links(view, key, int(size[k]))
            out.append(_uniform_alone(known[key], int(size[k])))
        else:
            asked += 1
            found = asked <= view.budget.judged_domains
            bps = _uniform_rate_of_domain(view, k, int(size[k])) if found else None
            out.append(_uniform_alone(bps, int(size[k])))
    return out


def _accelerators_of_domains(view: View) -> tuple[Ints, Ints, Ints]:
    """The node, the host and the domain of every accelerator that is in one."""
    domains, count = view.domains, view.fabric.device_count
    inside = domains.inside
    chip = np.flatnonzero(
        (view.fabric.kind == "chip") & (domains.of_device >= 0) & ~np.isin(np.arange(count), inside.node)
    )
    node, host = np.append(inside.node, chip), np.append(inside.host, chip)
    domain = domains.of_device[host]
    kept = domain >= 0
    return node[kept], host[kept], domain[kept]


def _only_those_asked_about(view: View, node: Ints, host: Ints, domain: Ints) -> tuple[Ints, Ints, Ints]:
    """The accelerators that a view is about: others pass nothing on."""
    if view.members is None:
        return node, host, domain
    count = view.fabric.device_count
    unit = np.zeros(count, dtype=np.bool_)
    unit[view.units] = True
    kept = unit[host] | unit[np.minimum(node, count - 1)] & (node < count)
    return node[kept], host[kept], domain[kept]


@dataclass(frozen=True, slots=True)
class CommonSwitch:
    """A switch that all accelerators of a domain are linked to: its node and theirs in the graph of scale-up
    links, the host of each, what each has to it, and the least of that, in bit/s."""

    domain: int
    node: int
    accelerators: tuple[int, ...]
    hosts: tuple[int, ...]
    capacity: tuple[int, ...]

    @property
    def bps(self) -> int:
        """What every accelerator has to it."""
        return min(self.capacity)


def common_switches(view: View) -> list[CommonSwitch]:
    """The switches by which accelerators of domains exchange what ``domain_rates`` says, by domain."""
    node, host, domain = _only_those_asked_about(view, *_accelerators_of_domains(view))
    size = np.bincount(domain, minlength=view.domains.count)
    switch, accelerator, capacity = _links_to_switches(view, node, host)
    begin = np.flatnonzero(np.diff(switch, prepend=-1)).tolist()
    out = []
    for first, last in pairwise([*begin, len(switch)]):
        mine = accelerator[first:last]
        if len(mine) == size[domain[mine[0]]]:
            nodes, hosts, known = (tuple(x.tolist()) for x in (node[mine], host[mine], capacity[first:last]))
            out.append(CommonSwitch(int(domain[mine[0]]), int(switch[first]), nodes, hosts, known))
    return sorted(out, key=lambda s: (s.domain, s.node))


def _uniform_alone(bps: Fraction | None, ranks: int) -> DomainRate | None:
    return None if bps is None else DomainRate(bps, False, ranks)


def _rates_by_common_switches(view: View, node: Ints, host: Ints, domain: Ints, size: Ints) -> Ints:
    """Of every domain the sum over switches that all its accelerators are linked to of the least that one has
    to it."""
    out = np.zeros(len(size), dtype=np.int64)
    switch, accelerator, capacity = _links_to_switches(view, node, host)
    if not len(switch):
        return out
    begin = np.flatnonzero(np.diff(switch, prepend=-1))
    full = np.diff(np.append(begin, len(switch))) == size[domain[accelerator[begin]]]
    np.add.at(out, domain[accelerator[begin]][full], np.minimum.reduceat(capacity, begin)[full])
    return out


def _links_to_switches(view: View, node: Ints, host: Ints) -> tuple[Ints, Ints, Ints]:
    """Of every switch and accelerator that are linked the node of the one, the place of the other, and bit/s,
    by switch; what a host has by its own ports is divided evenly among its accelerators."""
    inside = view.domains.inside
    place = np.full(len(inside.label), -1, dtype=np.int64)
    place[node] = np.arange(len(node))
    passing = place < 0  # switches, and no accelerator that is not asked about
    passing[inside.node] = False
    chips = np.flatnonzero(view.fabric.kind == "chip")
    passing[chips[view.domains.of_device[chips] >= 0]] = False
    each = np.bincount(host, minlength=len(inside.label))
    order = np.argsort(host, kind="stable")
    first = np.searchsorted(host[order], np.arange(len(inside.label)))
    keys, rates = [], []
    for one, other in ((inside.a, inside.b), (inside.b, inside.a)):
        real = (inside.rate > 0) & passing[other]
        mine = np.flatnonzero(real & (place[one] >= 0))
        keys.append(other[mine] * len(node) + place[one[mine]])
        rates.append(inside.rate[mine])
        for k in range(int(each.max(initial=0))):  # ports of hosts: the k-th accelerator of each
            own = np.flatnonzero(real & (place[one] < 0) & (each[one] > k))
            keys.append(other[own] * len(node) + order[first[one[own]] + k])
            rates.append(inside.rate[own] // each[one[own]])
    pair, which = np.unique(np.concatenate(keys), return_inverse=True)
    capacity = np.zeros(len(pair), dtype=np.int64)
    np.add.at(capacity, which, np.concatenate(rates))
    return pair // max(len(node), 1), pair % max(len(node), 1), capacity


def _rates_over_pairs(view: View, domain: Ints, size: Ints) -> Ints:
    """For every domain in which all accelerators are linked to each other what each exchanges over these
    links at the rate of the least; 0 for others. ``domain`` is that of every node that is an accelerator, -1
    of others."""
    inside = view.domains.inside
    kept = (domain[inside.a] >= 0) & (domain[inside.b] >= 0) & (inside.a != inside.b) & (inside.rate > 0)
    a, b = np.minimum(inside.a, inside.b)[kept], np.maximum(inside.a, inside.b)[kept]
    key, which = np.unique(a * len(domain) + b, return_inverse=True)
    out = np.zeros(len(size), dtype=np.int64)
    if not len(key):
        return out
    rate = np.zeros(len(key), dtype=np.int64)
    np.add.at(rate, which, inside.rate[kept])
    mine = domain[key // len(domain)]
    pairs, least = np.bincount(mine, minlength=len(size)), np.full(len(size), 1 << 62)
    np.minimum.at(least, mine, rate)
    full = pairs == size * (size - 1) // 2
    out[full & (size > 1)] = (least * (size - 1))[full & (size > 1)]
    return out


def _inside_links_by_domain(
    view: View, domain: Ints, alone: dict[int, int], known: Bools
) -> dict[int, tuple[object, ...]]:
    """Of every domain in one host whose rate is not ``known`` its links inside, ends and rate, in a numbering
    of its own, accelerators first: equal for equivalent hosts."""
    inside = view.domains.inside
    label = {int(inside.label[n]): int(k) for n, k in enumerate(domain.tolist()) if k >= 0}
    wanted = {k for k in alone.values() if not known[k]}
    rows: dict[int, list[tuple[int, int, int]]] = {}
    if not wanted:
        return {}
    for a, b, rate in zip(inside.a.tolist(), inside.b.tolist(), inside.rate.tolist(), strict=True):
        k = label.get(int(inside.label[a]), -1)
        if k in wanted and rate:
            rows.setdefault(k, []).append((a, b, rate))
    out: dict[int, tuple[object, ...]] = {}
    for k, links in rows.items():
        nodes = sorted({x for a, b, _ in links for x in (a, b)}, key=lambda n: (domain[n] != k, n))
        place = {n: i for i, n in enumerate(nodes)}
        out[k] = tuple(sorted((place[a], place[b], rate) for a, b, rate in links))
    return out


def _uniform_rate_of_links(view: View, links: tuple[object, ...], size: int) -> Fraction | None:
    """What each of so many accelerators, the first nodes of these links, sends in all where all exchange
    uniformly; None where some have no path."""
    if not links:
        return None
    a, b, rate = np.array(links, dtype=np.int64).T
    net = Network.both_ways(np.ones(int(max(a.max(), b.max())) + 1, dtype=np.bool_), a, b, rate)
    pairs = {(s, t): 1 for s in range(size) for t in range(size) if s != t}
    least = min(int(net.capacity[net.tail == v].sum()) for v in range(size))
    found = concurrent_flow_bounds(net, pairs, Fraction(least, size - 1), view.budget)
    return found.lower * (size - 1) if found is not None and found.lower else None


def _uniform_rate_of_domain(view: View, domain: int, size: int) -> Fraction | None:
    """What an accelerator of a domain sends in all where all exchange uniformly."""
    whole = view.fabric.whole
    up = scaleup_network(whole) if whole is not None else None
    if whole is None or up is None:
        return None
    mine = np.flatnonzero(view.domains.of_device[view.units] == domain)
    links = np.flatnonzero(~view.lost_beside[scaleup_links(whole)])
    found = uniform_exchange(view, up, unit_of_devices(up, view.units), mine, links)
    if found is None or len(found[1]) != size or not found[0]:
        return None
    return found[0] * (size - 1)
