"""Bundles: parallel links that ``bundle N`` joins to one port channel (link aggregation, IEEE 802.1AX)."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.plan import FabricPlan, ResolvedConnect
from tdsl.semantics.settings import count_with_noun
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
    of N in the order of their ports; bundles are numbered in the order of their first links."""
    sizes = np.array([_bundle_size(w.settings) for w in plan.wires] or [0], dtype=np.int64)
    out = np.full(len(statement), -1, dtype=np.int64)
    if not sizes.any():
        return out
    size = sizes[statement] if len(statement) else np.zeros(0, dtype=np.int64)
    rows = np.flatnonzero(size)
    order = rows[np.lexsort((port_a[rows], device_b[rows], device_a[rows], statement[rows]))]
    keys = np.stack((statement[order], device_a[order], device_b[order]))
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
    where = next(s.span for s in wire.node.body if isinstance(s, tree.Setting) and s.name.name == "bundle")
    if first is not None:
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


def _bundle_size(settings: object) -> int:
    value = settings.get("bundle", 0) if hasattr(settings, "get") else 0
    return value if isinstance(value, int) else 0


def spare_members(fabric: Fabric, rows: Ints) -> Ints:
    """Of some links those whose bundle has another link before them among these: without them each bundle is
    one link."""
    found = fabric.link_bundle[rows]
    if not (found >= 0).any():
        return rows[:0]
    inside = np.flatnonzero(found >= 0)
    _, first = np.unique(found[inside], return_index=True)
    later = np.ones(len(inside), dtype=np.bool_)
    later[first] = False
    return rows[inside[later]]


def bundle_numbers_at_devices(fabric: Fabric) -> tuple[Ints, Ints]:
    """The number of every link's bundle at its two devices, from 1 in the order of their lowest ports; 0
    where there is none. A device of several networks of a cluster counts the bundles of all of them."""
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
    out[0, rows], out[1, rows] = number[which[: len(rows)]], number[which[len(rows) :]]
    return out[0], out[1]


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
