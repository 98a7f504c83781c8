"""The network between units that bandwidth is about: units, the devices that forward for them, and the links
between all these.

Links of endpoints that are no units (managers, storage) carry nothing that is asked about, and are left out.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Ints
from tdsl.prove.network import Network
from tdsl.prove.view import View


def unit_network(view: View, rates_count: bool = True) -> Network:
    """The network of a view's units, in grains; every link of one rate where ``rates_count`` is false."""
    f, units = view.fabric, view.units
    transit = view.forwards & view.devices
    transit[units] = False
    device = np.concatenate((units, np.flatnonzero(transit)))
    place = np.full(f.device_count, -1, dtype=np.int64)
    place[device] = np.arange(len(device))
    a, b, rate = place[view.a], place[view.b], f.link_rate[view.rows]
    counted = (a != b) & (a >= 0) & (b >= 0)
    rate = rate[counted] if rates_count else np.ones(np.count_nonzero(counted), dtype=np.int64)
    rates = tuple(np.unique(rate).tolist())
    forwards = view.forwards[device]
    made = Network.both_ways(forwards, a[counted], b[counted], rate // (gcd(*rates) or 1))
    return replace(made, device=device, unit_count=len(units), rates=rates)


def networks_of_components(net: Network) -> list[Network]:
    """The components of the transit nodes, each with all units: what crosses a split is the sum over them and
    the links between units."""
    label = component_labels(len(net.transit), net.trunks.a, net.trunks.b)
    wanted = np.unique(label[net.access.b])
    member, first_member = _places_grouped_by_label(label, wanted)
    place = np.arange(net.nodes)  # a transit node's in its part
    place[net.unit_count + member] = (
        net.unit_count + np.arange(len(member)) - np.repeat(first_member[:-1], np.diff(first_member))
    )
    transit = np.maximum(net.tail, net.head) - net.unit_count
    linked = np.flatnonzero(transit >= 0)
    arc, first_arc = _places_grouped_by_label(label[transit[linked]], wanted)
    arc, units = linked[arc], np.arange(net.unit_count)
    found = []
    for i in range(len(wanted)):
        mine = arc[first_arc[i] : first_arc[i + 1]]
        node = np.append(units, net.unit_count + member[first_member[i] : first_member[i + 1]])
        part = replace(
            net, tail=place[net.tail[mine]], head=place[net.head[mine]], capacity=net.capacity[mine]
        )
        labels = tuple(x[node] for x in net.labels)
        found.append(replace(part, forwards=net.forwards[node], labels=labels, device=net.device[node]))
    return found


def _places_grouped_by_label(label: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """The places whose label is wanted, label by label, and where those of each begin and end."""
    order = np.argsort(label, kind="stable")
    low, high = np.searchsorted(label[order], wanted), np.searchsorted(label[order], wanted, side="right")
    each = high - low
    first = np.append(0, np.cumsum(each))
    return order[np.repeat(low - first[:-1], each) + np.arange(int(first[-1]))], first
