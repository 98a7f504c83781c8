"""What a requirement is about, as rows of the fabric: the one place that turns what its paths name into
devices, ports, links and cables. Checks, failures and reports take the rows from here and select none
themselves.

A device is named with all that is in it, at any depth: the chips of a tray, the switches of a chassis. Paths
were resolved to elements by ``requirements``: in a group's block to those of one instance. Columns of devices
and links by device are made once for a fabric, so that a requirement of 10,000 instances does not read the
whole fabric for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Bools, Fabric, Ints

# ---------------------------------------------------------------- devices


def devices_with_contents(fabric: Fabric, devices: Ints) -> Ints:
    """Rows of these devices and of all that is in them, in order."""
    index = fabric.contents_index
    if index is None:
        return np.unique(devices)
    out = fresh = np.unique(devices)
    while len(fresh := index.rows_of(fresh)):
        out = np.union1d(out, fresh)
    return out


def devices_of_selectors(fabric: Fabric, selectors: Iterable[Selector]) -> Bools:
    """Whether a device is named by one of these paths, or is in one that is."""
    rows = [e.devices for s in selectors for e in s.elements]
    out = np.zeros(fabric.device_count, dtype=np.bool_)
    if rows:
        out[devices_with_contents(fabric, np.concatenate(rows))] = True
    return out


def holders_of_devices(fabric: Fabric, devices: Bools) -> Bools:
    """Devices that one of these is in, at any depth."""
    out = np.zeros(fabric.device_count, dtype=np.bool_)
    inside = np.flatnonzero(devices)
    while len(inside := fabric.container[inside]) and len(inside := inside[inside >= 0]):
        out[inside] = True
    return out


def element_of_devices(fabric: Fabric, selector: Selector) -> Ints:
    """The number of the selector's element that every device is of, or is inside of; -1 of none."""
    out = np.full(fabric.device_count, -1, dtype=np.int64)
    for k, e in enumerate(selector.elements):
        out[e.devices] = k
    inside = np.flatnonzero(fabric.container >= 0)
    while len(fresh := inside[(out[inside] < 0) & (out[fabric.container[inside]] >= 0)]):
        out[fresh] = out[fabric.container[fresh]]
    return out


def ports_of_selectors(fabric: Fabric, selectors: Iterable[Selector]) -> Bools:
    """Ports that paths name: those of a port path, else all of the devices and of what is in them."""
    paths = list(selectors)
    out = devices_of_selectors(fabric, [s for s in paths if not s.ports])[fabric.port_device]
    for s in paths:
        if s.ports:
            out[s.port_rows] = True
    return out


def used_ports_of_devices(fabric: Fabric, devices: Bools) -> int:
    """How many ports of these devices are in use."""
    return int(fabric.used_ports[devices].sum())


# ---------------------------------------------------------------- links


def links_at_devices(fabric: Fabric, devices: Ints) -> Ints:
    """Rows of the links that end at one of these devices. Panels and optical switches are crossed by links
    and end none."""
    return np.unique(fabric.links_index.rows_of(devices))


def links_in_group(fabric: Fabric, devices: Ints) -> Ints:
    """Rows of the links among these devices, and of those from one of them to an endpoint outside."""
    rows = links_at_devices(fabric, devices)
    mine = np.zeros(fabric.device_count, dtype=np.bool_)
    mine[devices] = True
    a, b = fabric.device_a[rows], fabric.device_b[rows]
    ends = fabric.is_end
    return rows[(mine[a] & mine[b]) | (mine[a] & ends[b]) | (mine[b] & ends[a])]


def links_between_sets(fabric: Fabric, here: Bools, there: Bools) -> Ints:
    """Rows of the links with one end in one set of devices and the other in the other."""
    small = here if here.sum() <= there.sum() else there
    rows = links_at_devices(fabric, np.flatnonzero(small))
    a, b = fabric.device_a[rows], fabric.device_b[rows]
    return rows[(here[a] & there[b]) | (here[b] & there[a])]


# ---------------------------------------------------------------- cables


def legs_at_devices(fabric: Fabric, devices: Ints) -> Ints:
    """Rows of the cable legs that are plugged into one of these devices."""
    return np.unique(fabric.legs_index.rows_of(devices))


def legs_between_sets(fabric: Fabric, here: Bools, there: Bools) -> Ints:
    """Rows of the cable legs from one set of devices to another: those plugged into both, and those that the
    links between them run through, where a panel or an optical switch is on the way."""
    from tdsl.fabric.cables.identity import CableIndex

    small = here if here.sum() <= there.sum() else there
    rows = legs_at_devices(fabric, np.flatnonzero(small))
    a, b = fabric.port_device[fabric.cable_a[rows]], fabric.port_device[fabric.cable_b[rows]]
    plugged = rows[(here[a] & there[b]) | (here[b] & there[a])]
    links = links_between_sets(fabric, here, there)
    crossing = links[(fabric.link_via_a[links] >= 0) | (fabric.link_via_b[links] >= 0)]
    if not len(crossing):
        return plugged
    through, legs = CableIndex(fabric).crossings
    return np.union1d(plugged, legs[np.isin(through, crossing)])


# ---------------------------------------------------------------- requirements


def is_of_instance(claim: ResolvedClaim) -> bool:
    """Whether a requirement in a group's block is about the instance: it names nothing whose figure is asked.
    One with a path is about what the path names, in the whole network. What `survives` names is what fails,
    and what it asks is of the instance."""
    asked = claim.given if claim.given is not None else claim
    if claim.any_count is not None:
        return claim.given is None or not (asked.of_to or asked.at)
    return not (any(s.elements for s in claim.of) or claim.of_to or claim.at)


def names_nothing(selectors: Sequence[Selector]) -> bool:
    """Whether paths are written and name no device: the instance has none of that name."""
    words = ("ports", "network")
    return bool(selectors) and all(
        not s.elements and s.text not in words and s.kind != "risk" for s in selectors
    )
