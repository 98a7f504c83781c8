"""The network between units that bandwidth is about: units, the devices that forward for them, and the links between all these.

Links of endpoints that are no units (managers, storage) carry nothing that is asked about, and are left out.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

import numpy as np

from tdsl.prove.components import components
from tdsl.prove.network import Network
from tdsl.prove.view import View


def unit_network(view: View) -> Network:
    """The network of a view's units, in grains."""
    f, units = view.fabric, view.units
    transit = view.forwards & view.devices
    transit[units] = False
    device = np.concatenate((units, np.flatnonzero(transit)))
    place = np.full(f.device_count, -1, dtype=np.int64)
    place[device] = np.arange(len(device))
    a, b, rate = place[view.a], place[view.b], f.link_rate[view.rows]
    counted = (a != b) & (a >= 0) & (b >= 0)
    rate = rate[counted]
    rates = tuple(np.unique(rate).tolist())
    forwards = view.forwards[device]
    made = Network.both_ways(forwards, a[counted], b[counted], rate // (gcd(*rates) or 1))
    return replace(made, device=device, unit_count=len(units), rates=rates)


def parts(net: Network) -> list[Network]:
    """The components of the transit nodes, each with all units: what crosses a split is the sum over them and the links between
    units."""
    label = components(len(net.transit), net.trunks.a, net.trunks.b)
    return [net.among(label == at) for at in np.unique(label[net.access.b]).tolist()]
