"""Endpoints that the failure of one element takes away."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.prove.elements import view_after_failures
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """What one element's failure takes away: endpoints, hosts that have none left, hosts that have fewer,
    accelerators of both, and the rows of both."""

    name: str
    endpoints: int
    cut_off: int
    degraded: int
    accelerators: int
    hosts: Ints


def endpoints_lost_with(view: View, element: FabricElement) -> Loss:
    """What the failure of one element takes from the units of a view."""
    left = view_after_failures(view, [element])
    units = view.units
    used = endpoints_per_device(view)[units]
    live = np.minimum(
        connected_endpoints_per_device(left)[units], used
    )  # a chip of a direct fabric is one endpoint, also when it forwards no more
    lost = used - live
    hit = units[lost > 0]
    gone = int(((lost > 0) & (live == 0)).sum())
    each = [s.model.accelerators if s.kind == "host" else 1 for s in view.fabric.sets]
    accelerators = int(np.array(each, dtype=np.int64)[view.fabric.device_set[hit]].sum())
    return Loss(element.name, int(lost.sum()), gone, len(hit) - gone, accelerators, hit)


def endpoints_per_device(view: View) -> Ints:
    """Endpoints in use of every device: its ports with links, or a chip of a direct fabric as one."""
    at = view.attachment
    return np.bincount(at.end[view.degree[at.end] > 0], minlength=view.fabric.device_count)


def connected_endpoints_per_device(view: View) -> Ints:
    """Endpoints of every device from which another unit can be reached."""
    n = view.fabric.device_count
    unit = np.zeros(n, dtype=np.bool_)
    unit[view.units] = True
    at = view.attachment
    mine = unit[at.end]
    end, hub = at.end[mine], at.hub[mine]
    pairs = distinct_values(hub * n + end)
    others = np.bincount(pairs // n, minlength=int(hub.max(initial=0)) + 1)  # different units at every hub
    return np.bincount(end[others[hub] > 1], minlength=n)
