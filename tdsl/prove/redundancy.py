"""Paths without a common link, and without a common device, between the worst pair of units: where the search
for one of the two ends at its limit of work, the bounds of the other hold for it, too.

Two paths that share no device between two units share no link, so link-disjoint paths are never fewer than
node-disjoint ones (Whitney 1932). A lower bound of the latter is one of the former, and an upper bound of the
former is one of the latter: of each link that is cut one device is removed.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from tdsl.prove.bound import Bound, Counted, DeviceCut, DevicePaths, LinkCut, LinkPaths
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.view import View

_by_links: WeakKeyDictionary[View, LinkPaths] = WeakKeyDictionary()
_by_devices: WeakKeyDictionary[View, DevicePaths] = WeakKeyDictionary()


def link_disjoint_paths(view: View) -> LinkPaths:
    """The least number of paths without a common link over all pairs of units; there are two units at
    least."""
    found = _kept_link_paths(view)
    return found if found.exact else replace(found, lower=max(found.lower, _kept_device_paths(view).lower))


def node_disjoint_paths(view: View) -> DevicePaths:
    """The least number of paths without a common device over all pairs of units; there are two units at
    least."""
    found = _kept_device_paths(view)
    if found.exact:
        return found
    cut = devices_of_cut(view, _kept_link_paths(view).proof_upper)
    value = len(cut.devices) + cut.linked
    return Bound(found.lower, value, Counted(), cut) if value < found.upper else found


def devices_of_cut(view: View, cut: LinkCut) -> DeviceCut:
    """Devices without which the two units of a cut do not reach each other: of each link that is cut an end
    that is none of the two, on the side where these are fewer. A link that joins the two themselves is left.
    """
    u, v = cut.pair
    rows = cut.rows(view)
    linked, at_u, at_v = False, set[int](), set[int]()
    for a, b in zip(view.a[rows].tolist(), view.b[rows].tolist(), strict=True):
        near_u, near_v = (a, b) if cut.side[a] == cut.side[u] else (b, a)
        if (near_u, near_v) == (u, v):
            linked = True
            continue
        at_u.add(near_u if near_u != u else near_v)
        at_v.add(near_v if near_v != v else near_u)
    return DeviceCut(cut.pair, tuple(sorted(at_u if len(at_u) <= len(at_v) else at_v)), linked)


def _kept_link_paths(view: View) -> LinkPaths:
    if view not in _by_links:
        _by_links[view] = disjoint_paths(view)
    return _by_links[view]


def _kept_device_paths(view: View) -> DevicePaths:
    if view not in _by_devices:
        _by_devices[view] = least_separator_bounds(view)
    return _by_devices[view]
