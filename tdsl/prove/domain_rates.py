"""What accelerators of scale-up domains can exchange within their domain, all at once, by the links that are
left."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.layers import scaleup_links, scaleup_network
from tdsl.prove.by_domain import uniform_exchange, unit_of_devices
from tdsl.prove.view import View


def domain_rates(view: View) -> list[Fraction | None]:
    """For every scale-up domain of a view the rate in bit/s at which each of its accelerators can send to the
    next one of a ring, or to all others in equal parts, while it receives as much; None where no such rate is
    found.

    Inside of one host it is what the slowest accelerator has. In a domain of several, each switch that all
    its accelerators are linked to carries a ring of them, at what the one with least has to it; where there
    is no such switch, all exchange uniformly."""
    domains = view.domains
    inside, count = domains.inside, view.fabric.device_count
    chip = np.flatnonzero(
        (view.fabric.kind == "chip") & (domains.of_device >= 0) & ~np.isin(np.arange(count), inside.node)
    )
    node, host = np.append(inside.node, chip), np.append(inside.host, chip)
    domain = domains.of_device[host]
    node, host, domain = node[domain >= 0], host[domain >= 0], domain[domain >= 0]
    size = np.bincount(domain, minlength=domains.count)
    hosts = np.bincount(np.unique(domain * count + host) // count, minlength=domains.count)
    common = _rates_by_common_switches(view, node, host, domain, size)
    out: list[Fraction | None] = []
    asked = 0
    for k in range(domains.count):
        if hosts[k] == 1:
            out.append(Fraction(int(domains.accelerator_bps[k])))
        elif common[k]:
            out.append(Fraction(int(common[k])))
        else:
            asked += 1
            out.append(
                _uniform_rate_of_domain(view, k, int(size[k]))
                if asked <= view.budget.judged_domains
                else None
            )
    return out


def _rates_by_common_switches(view: View, node: Ints, host: Ints, domain: Ints, size: Ints) -> Ints:
    """Of every domain the sum over switches that all its accelerators are linked to of the least that one has
    to it; what a host has by its own ports is divided evenly among its accelerators."""
    inside = view.domains.inside
    place = np.full(len(inside.label), -1, dtype=np.int64)
    place[node] = np.arange(len(node))
    each = np.bincount(host, minlength=len(inside.label))
    order = np.argsort(host, kind="stable")
    first = np.searchsorted(host[order], np.arange(len(inside.label)))
    keys, rates = [], []
    for one, other in ((inside.a, inside.b), (inside.b, inside.a)):
        real = (inside.rate > 0) & (place[other] < 0)
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
    out = np.zeros(len(size), dtype=np.int64)
    if not len(pair):
        return out
    switch, accelerator = pair // len(node), pair % len(node)
    begin = np.flatnonzero(np.diff(switch, prepend=-1))
    full = np.diff(np.append(begin, len(pair))) == size[domain[accelerator[begin]]]
    np.add.at(out, domain[accelerator[begin]][full], np.minimum.reduceat(capacity, begin)[full])
    return out


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
