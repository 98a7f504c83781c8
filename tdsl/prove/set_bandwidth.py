"""What two sets of devices can exchange, and what one set can send, in bit/s one way."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.layers import SCALEUP
from tdsl.fabric.order import rank_values
from tdsl.fabric.subject import devices_of_selectors, element_of_devices
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SetBandwidth:
    """``bps`` bit/s one way. ``by`` is "links" where it is the sum of the ``count`` links that join two sets,
    "flow" where no link joins them and it is a maximum flow, "ports" where it is what so many ports of one
    set have together, "accelerators" what the scale-up links of so many have."""

    bps: int
    by: str
    count: int = 0


def bandwidth_of_claim(view: View, claim: ResolvedClaim) -> SetBandwidth | str:
    """The bandwidth that ``of A to B`` or ``of S`` asks for, in the network or `through scaleup`; or why
    there is none."""
    beside = bool(claim.through) and view.fabric.layer != SCALEUP
    if beside and not view.domains.count:
        return "the design has no scale-up links beside its network"
    here = _devices_left(view, claim.of)
    if not here.any():
        return "nothing that it names is left"
    if not claim.of_to:
        return _scaleup_of_set(view, here) if beside else _network_of_set(view, here)
    there = _devices_left(view, claim.of_to)
    if not there.any():
        return "nothing that it names is left"
    side = _sides_of_devices(view, claim, here, there)
    if isinstance(side, str):
        return side
    a, b, rate = _joining_links(view, beside)
    joined = (side[a] >= 0) & (side[b] >= 0) & (side[a] != side[b])
    if joined.any():
        return SetBandwidth(int(rate[joined].sum()), "links", int(joined.sum()))
    if (here & there).any():
        return "no link joins two of them, and a flow needs two sets that share nothing"
    if beside:
        return SetBandwidth(_scaleup_flow(view, here, there), "flow")
    found = max_flow_between_sets(view, claim)
    return found if isinstance(found, str) else SetBandwidth(found.bound.lower, "flow")


def _devices_left(view: View, paths: tuple[Selector, ...]) -> Bools:
    """The devices that paths name, with all that is in them, which are built and did not fail."""
    whole = view.fabric.whole or view.fabric
    left = whole.built if view.failed is None else whole.built & ~view.failed
    out: Bools = devices_of_selectors(view.fabric, paths) & left
    return out


def _sides_of_devices(view: View, claim: ResolvedClaim, here: Bools, there: Bools) -> Ints | str:
    """The side that every device is on, -1 of none: 0 and 1, or where both paths name the same, the number of
    the element: what its elements exchange with each other is then asked."""
    side = np.where(here, 0, np.where(there, 1, -1))
    if not (here & there).any():
        return side
    if not np.array_equal(here, there) or len(claim.of) > 1:
        name = view.names(np.flatnonzero(here & there)[:1])[0]
        return f"{name} is on both sides"
    return np.where(here, element_of_devices(view.fabric, claim.of[0]), -1)


def _joining_links(view: View, beside: bool) -> tuple[Ints, Ints, Ints]:
    """The devices that the links of a layer join, and their rates; of scale-up links inside of hosts these
    hosts."""
    if not beside:
        return view.a, view.b, view.fabric.link_rate[view.rows]
    inside = view.domains.inside
    real = inside.rate > 0
    return inside.owner[inside.a[real]], inside.owner[inside.b[real]], inside.rate[real]


def _network_of_set(view: View, here: Bools) -> SetBandwidth | str:
    """What the ends of a set have of the network: hosts and chips, or where there are none, its devices."""
    ends = here & view.fabric.is_end & (view.degree > 0)
    ends = ends if ends.any() else here
    rate = view.fabric.link_rate[view.rows]
    mine = np.concatenate((ends[view.a], ends[view.b]))
    if not mine.any():
        return "what it names has no link of the network"
    return SetBandwidth(int(np.concatenate((rate, rate))[mine].sum()), "ports", int(mine.sum()))


def _scaleup_of_set(view: View, here: Bools) -> SetBandwidth | str:
    """What the accelerators of a set have of scale-up links, those inside of hosts included; of switches
    alone what these have."""
    f, domains = view.fabric, view.domains
    ends = here & f.is_end
    outermost = ends & ~((f.container >= 0) & ends[f.container])
    mine = outermost if outermost.any() else here
    bps = int(domains.rate[mine].sum())
    return (
        SetBandwidth(bps, "accelerators", int(ends[domains.inside.host].sum()))
        if bps
        else ("what it names has no scale-up link")
    )


def _scaleup_flow(view: View, here: Bools, there: Bools) -> int:
    """The maximum flow between two sets over scale-up links, in which accelerators pass on nothing that is
    not theirs, but where links join accelerators to each other."""
    inside = view.domains.inside
    nodes = len(inside.owner)
    accelerator = np.zeros(nodes, dtype=np.bool_)
    accelerator[inside.node] = True
    accelerator[np.flatnonzero(view.fabric.is_end)] = True
    meshed = bool((accelerator[inside.a] & accelerator[inside.b] & (inside.rate > 0)).any())
    first, second = here[inside.owner], there[inside.owner]
    place = np.where(first, 0, np.where(second, 1, 2 + np.arange(nodes)))
    passing = first | second | ~accelerator | meshed
    kept = (inside.rate > 0) & passing[inside.a] & passing[inside.b]
    dense, at = rank_values(np.concatenate(([0, 1], place[inside.a[kept]], place[inside.b[kept]])))
    one_end, other_end = np.split(at[2:], 2)
    network = Network.both_ways(np.ones(len(dense), dtype=np.bool_), one_end, other_end, inside.rate[kept])
    return int(max_flow(network, 0, 1).value)
