"""Bundles: parallel links that ``bundle N`` joins to one port channel (link aggregation, IEEE 802.1AX), and
those of a host that ``bundle N across`` joins to one over two switches."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Set

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceSpan
from tdsl.semantics.plan import FabricPlan, ResolvedConnect
from tdsl.semantics.settings import EVPN, count_with_noun
from tdsl.syntax import tree


def form_bundles(
    plan: FabricPlan,
    device_a: Ints,
    device_b: Ints,
    port_a: Ints,
    statement: Ints,
    rate: Ints,
    diagnostics: Diagnostics,
) -> Ints:
    """The bundle of every link, -1 for none. Links of one statement between the same two devices form bundles
    of N in the order of their ports, and with ``across`` those of one lower device, whichever is above;
    bundles are numbered in the order of their first links."""
    sizes = np.array([_bundle_size(w.settings) for w in plan.wires] or [0], dtype=np.int64)
    out = np.full(len(statement), -1, dtype=np.int64)
    if not sizes.any():
        return out
    size = sizes[statement] if len(statement) else np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(size)
    across = np.array([_is_across(w) for w in plan.wires] or [False], dtype=np.bool_)
    far = np.where(across[statement], -1, device_b) if across.any() else device_b
    order = rows[np.lexsort((port_a[rows], far[rows], device_a[rows], statement[rows]))]
    keys = np.stack((statement[order], device_a[order], far[order]))
    fresh = np.ones(len(order), dtype=np.bool_)
    fresh[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    group = np.cumsum(fresh) - 1
    start = np.flatnonzero(fresh)
    many = np.bincount(group) if len(group) else np.zeros(0, dtype=np.int64)
    per = size[order[start]]
    slow, fast = (np.full(len(start), edge) for edge in (np.iinfo(np.int64).max, 0))
    np.minimum.at(slow, group, rate[order])
    np.maximum.at(fast, group, rate[order])
    bad = np.unique(statement[order[start[(many % np.maximum(per, 1) != 0) | (slow != fast)]]])
    if len(bad):
        at = int(bad[0])
        over = np.flatnonzero((statement[order[start]] == at) & (many % per != 0))
        first_two = (int(many[over[0]]), int(per[over[0]])) if len(over) else None
        _report_bundles(plan.wires[at], len(over), first_two, diagnostics)
        return out
    rank = np.arange(len(order)) - start[group]
    first = order[start[group] + rank // per[group] * per[group]]
    out[order] = first
    known = np.unique(out[out >= 0])
    out[out >= 0] = np.searchsorted(known, out[out >= 0])
    return out


def _report_bundles(
    wire: ResolvedConnect, pairs: int, first: tuple[int, int] | None, diagnostics: Diagnostics
) -> None:
    """Report a connect whose links cannot form bundles: ``pairs`` of devices have a number of links that is
    no multiple, ``first`` is this number and the size of a bundle; None where only the rates differ."""
    where = _span_of_bundle(wire)
    if first is not None and _is_across(wire):
        n, each = first
        message = f"a host has {count_with_noun(n, 'link')} here, which is not a multiple of {each}"
        help = "give each host as many links to both switches: `bundle 2 across` for one link to each"
    elif first is not None:
        n, each = first
        message = (
            f"{count_with_noun(n, 'link')} {'joins' if n == 1 else 'join'} two devices here, "
            f"which is not a multiple of {each}"
        )
        fits = [d for d in range(2, n + 1) if n % d == 0]
        help = (
            f"write `bundle {fits[-1]}`" if fits else "make several links between the same two devices: `x 2`"
        )
    else:
        message, help = "the links of a bundle run at one rate", "write `rate` for them"
    diagnostics.add("E0214", where, message, count=max(pairs, 1), help=help)


def _span_of_bundle(wire: ResolvedConnect) -> SourceSpan:
    """Where a connect says `bundle`."""
    return next(s.span for s in wire.node.body if isinstance(s, tree.Setting) and s.name.name == "bundle")


def _is_across(wire: ResolvedConnect) -> bool:
    """Whether a connect says ``bundle N across``."""
    return bool(wire.settings.get("across")) if hasattr(wire.settings, "get") else False


def refuse_unpaired_switches(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> None:
    """Report bundles of ``bundle N across`` that are none of a host over two switches, with as many links to
    each, of which each forms such bundles with the other alone and has the other's model."""
    said = [n for n, w in enumerate(plan.wires) if _is_across(w)]
    if not said:
        return
    partner: dict[int, int] = {}
    refused: set[int] = set()
    rows = np.flatnonzero((fabric.link_bundle >= 0) & np.isin(fabric.link_statement, said))
    order = rows[np.argsort(fabric.link_bundle[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(fabric.link_bundle[order], prepend=-1))
    for k in _first_of_equal_bundles(fabric, order, starts) if len(order) else ():
        links = order[starts[k] : starts[k + 1] if k + 1 < len(starts) else len(order)]
        number = int(fabric.link_statement[links[0]])
        found = None if number in refused else _why_no_pair(fabric, links, partner)
        if found is not None:
            refused.add(number)
            diagnostics.add("E0214", _span_of_bundle(plan.wires[number]), found[0], help=found[1])


def _first_of_equal_bundles(fabric: Fabric, order: Ints, starts: Ints) -> list[int]:
    """The first of the bundles, whose links are given one bundle after the other, that have the same two
    switches, as many links to each, the same statement, and hosts or none at the other end: the others are
    right or wrong as that one is. A bundle with more switches is one of its own."""
    near, far = fabric.device_a[order[starts]], fabric.device_b[order]
    size = np.diff(np.append(starts, len(order)))
    low, high = np.minimum.reduceat(far, starts), np.maximum.reduceat(far, starts)
    to_low = np.add.reduceat((far == np.repeat(low, size)).astype(np.int64), starts)
    to_high = np.add.reduceat((far == np.repeat(high, size)).astype(np.int64), starts)
    more = np.where((low == high) | (to_low + to_high == size), -1, np.arange(len(starts)))
    statement = fabric.link_statement[order[starts]]
    keys = np.stack((low, high, to_low, size, fabric.is_end[near], statement, more))
    return sorted(np.unique(keys, axis=1, return_index=True)[1].tolist())


def _why_no_pair(fabric: Fabric, links: Ints, partner: dict[int, int]) -> tuple[str, str] | None:
    """Message and help of a bundle that is none of a host over a pair of switches; None where it is one,
    whose two switches are then in ``partner``."""
    host = int(fabric.device_a[links[0]])
    switches, counts = np.unique(fabric.device_b[links], return_counts=True)
    name = fabric.device_path
    if not fabric.is_end[host] or not fabric.is_switch[switches].all():
        return (
            "`across` is for links of a host to two switches; here "
            f"{name(host)} is joined to {name(switches[0])}",
            "leave out `across` for links between the same two devices",
        )
    if len(switches) != 2:
        return (
            f"a bundle across two switches leads from {name(host)} to "
            + (f"{len(switches)} switches" if len(switches) > 1 else f"{name(switches[0])} alone"),
            "its links are those at the next ports of the host: write the connect so that they lead to two "
            "switches by turns, `node[n].nic[r, k] to tor[r, k]`",
        )
    one, two = (int(s) for s in switches)
    if counts[0] != counts[1]:
        return (
            f"a bundle of {name(host)} has {count_with_noun(int(counts[0]), 'link')} to {name(one)} and "
            f"{count_with_noun(int(counts[1]), 'link')} to {name(two)}",
            "join it to both by as many links",
        )
    for here, there in ((one, two), (two, one)):
        other = partner.setdefault(here, there)
        if other != there:
            return (
                f"{name(here)} forms bundles with {name(other)} and with {name(there)}; both of a pair have "
                "one LACP system ID, so a switch is in one pair",
                "join the hosts of a switch to one other switch",
            )
    if fabric.device_model[one] != fabric.device_model[two]:
        a, b = (fabric.models[int(fabric.device_model[d])].name for d in (one, two))
        return f"{name(one)} is a {a} and {name(two)} a {b}", "use one model for both switches of a pair"
    return None


def switch_pairs_of_bundles(fabric: Fabric) -> dict[int, tuple[int, int]]:
    """The two switches of each bundle that leads from one device to two, the lower row first; other bundles
    are left out."""
    rows = np.flatnonzero(fabric.link_bundle >= 0)
    found: dict[int, set[int]] = {}
    for bundle, device in zip(fabric.link_bundle[rows].tolist(), fabric.device_b[rows].tolist(), strict=True):
        found.setdefault(bundle, set()).add(device)
    return {n: (min(ends), max(ends)) for n, ends in found.items() if len(ends) == 2}


def are_evpn_links(fabric: Fabric) -> Bools:
    """Whether each link is of an Ethernet segment: ``bundle N across evpn``."""
    said = np.array([s.settings.get("across") == EVPN for s in fabric.statements] or [False], dtype=np.bool_)
    found: Bools = said[fabric.link_statement] if fabric.link_count else np.zeros(0, dtype=np.bool_)
    return found


def lacp_system_mac(first: str, second: str) -> str:
    """The MAC address that two switches show to the hosts that have a port channel over both, by the names:
    a locally administered one (bit 2 of the first octet, IEEE 802), the same in either order."""
    digest = hashlib.sha256("\n".join(sorted((first, second))).encode()).hexdigest()
    return ":".join(["02", *(digest[k : k + 2] for k in range(0, 10, 2))])


def _bundle_size(settings: object) -> int:
    value = settings.get("bundle", 0) if hasattr(settings, "get") else 0
    return value if isinstance(value, int) else 0


def spare_members(fabric: Fabric, rows: Ints) -> Ints:
    """Of some links those whose bundle has another link before them among these: without them each bundle is
    one link."""
    return _later_of_equal(rows, fabric.link_bundle[rows][None])


def parallel_members(fabric: Fabric, rows: Ints) -> Ints:
    """Of some links those whose bundle has another link between the same two devices before them among these:
    without them each bundle is one link, and one across two switches is one to each."""
    keys = np.stack((fabric.link_bundle[rows], fabric.device_a[rows], fabric.device_b[rows]))
    return _later_of_equal(rows, keys)


def _later_of_equal(rows: Ints, keys: Ints) -> Ints:
    """Of rows in bundles those with all ``keys`` of a row before them; the first key is the bundle, -1 for
    none."""
    if not (keys[0] >= 0).any():
        return rows[:0]
    inside = np.flatnonzero(keys[0] >= 0)
    _, first = np.unique(keys[:, inside], axis=1, return_index=True)
    later = np.ones(len(inside), dtype=np.bool_)
    later[first] = False
    return rows[inside[later]]


def bundle_numbers_at_devices(fabric: Fabric) -> tuple[Ints, Ints]:
    """The number of every link's bundle at its two devices, from 1 in the order of their lowest ports; 0
    where there is none. A device of several networks of a cluster counts the bundles of all of them. One
    across two switches has the least number that is free at both: LACP joins its links by that key."""
    if fabric.cluster is not None and (fabric.link_bundle >= 0).any():
        return _bundle_numbers_of_member(fabric, fabric.cluster)
    out = np.zeros((2, fabric.link_count), dtype=np.int64)
    rows = np.flatnonzero(fabric.link_bundle >= 0)
    if not len(rows):
        return out[0], out[1]
    bundle = np.concatenate([fabric.link_bundle[rows]] * 2)
    device = np.concatenate([fabric.device_a[rows], fabric.device_b[rows]])
    port = np.concatenate([fabric.link_a[rows], fabric.link_b[rows]])
    count = int(bundle.max()) + 1
    key = device * count + bundle
    known, which = np.unique(key, return_inverse=True)
    lowest = np.full(len(known), np.iinfo(np.int64).max)
    np.minimum.at(lowest, which, port)
    order = np.lexsort((lowest, known // count))
    rank = np.empty(len(known), dtype=np.int64)
    start = np.searchsorted((known // count)[order], known // count)
    rank[order] = np.arange(len(known))
    number = rank - start + 1
    pairs = switch_pairs_of_bundles(fabric)
    if pairs:
        _give_both_switches_one_number(known, number, count, pairs)
    out[0, rows], out[1, rows] = number[which[: len(rows)]], number[which[len(rows) :]]
    return out[0], out[1]


def _give_both_switches_one_number(
    known: Ints, number: Ints, count: int, pairs: dict[int, tuple[int, int]]
) -> None:
    """Change the ``number`` of bundles at the switches of ``pairs``, so that one across two switches has one
    number. ``known`` is device * ``count`` + bundle, ascending."""
    place = {int(key): k for k, key in enumerate(known.tolist())}
    at_both = {bundle: tuple(place[d * count + bundle] for d in ends) for bundle, ends in pairs.items()}
    if all(number[a] == number[b] for a, b in at_both.values()):
        return
    switches = {d for ends in pairs.values() for d in ends}
    taken: dict[int, set[int]] = {d: set() for d in switches}
    for bundle, (a, b) in sorted(
        at_both.items(), key=lambda item: (int(number[list(item[1])].min()), item[0])
    ):
        one, two = (taken[d] for d in pairs[bundle])
        free = _least_number_outside(one | two)
        number[a] = number[b] = free
        one.add(free)
        two.add(free)
    _number_bundles_of_one_switch(known, number, count, pairs, taken)


def _number_bundles_of_one_switch(
    known: Ints, number: Ints, count: int, pairs: Mapping[int, tuple[int, int]], taken: dict[int, set[int]]
) -> None:
    """Number the bundles that the switches of ``taken`` have beside those of ``pairs``, in the order that
    they had, by what the switch has not ``taken``."""
    rest = [k for k, key in enumerate(known.tolist()) if key // count in taken and key % count not in pairs]
    for k in sorted(rest, key=lambda k: (int(known[k]) // count, int(number[k]))):
        own = taken[int(known[k]) // count]
        number[k] = _least_number_outside(own)
        own.add(int(number[k]))


def _least_number_outside(taken: Set[int]) -> int:
    """The least number from 1 that is not taken."""
    return next(n for n in itertools.count(1) if n not in taken)


def links_of_bundle(fabric: Fabric, bundle: int) -> list[int]:
    """The links of a bundle."""
    found: list[int] = np.flatnonzero(fabric.link_bundle == bundle).tolist()
    return found


def _bundle_numbers_of_member(fabric: Fabric, cluster: Fabric) -> tuple[Ints, Ints]:
    """The numbers that the bundles of a fabric's links have in its cluster."""
    member = next(k for k, f in enumerate(cluster.members) if f.name == fabric.name)
    device = fabric.port_device[fabric.link_a]
    row = cluster.member_rows[member][device]
    links = cluster.port_link[cluster.port_base[row] + fabric.link_a - fabric.port_base[device]]
    a, b = bundle_numbers_at_devices(cluster)
    return a[links], b[links]
