"""The networks that a switch announces in place of the links to its hosts: the fewest that hold addresses of
no other switch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network

import numpy as np

from tdsl.emit.records import Route
from tdsl.fabric.addresses import Addressing, Pool
from tdsl.fabric.cables.bundles import switch_pairs_of_bundles
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values


def aggregates_by_device(found: Addressing) -> dict[int, tuple[Route, ...]]:
    """Device -> its aggregates, IPv4 first; a network of one link is none. RFC 7938, section 5.2.3, keeps
    summaries to the lowest tier: there a failed link cuts off its own addresses only. A host with a port
    channel over two switches is still reached by the other one, so its links are in no aggregate."""
    f = found.fabric
    out: dict[int, tuple[Route, ...]] = {}
    host_a, host_b = f.kind[f.device_a] == "host", f.kind[f.device_b] == "host"
    owner = np.where(
        host_a & f.is_switch[f.device_b],
        f.device_b,
        np.where(host_b & f.is_switch[f.device_a], f.device_a, -1),
    )
    owner[
        np.isin(f.link_bundle, list(switch_pairs_of_bundles(f)))
    ] = -1  # a failed link is no way to the other
    shared = _pools_that_share_addresses(found.pools)
    for version in (4, 6):
        assigned = found.assigned.get(("links", version))
        if assigned is None:
            continue
        for number in [
            n for n in distinct_values(assigned.pool[assigned.pool >= 0]).tolist() if n not in shared
        ]:
            rows = np.flatnonzero(assigned.pool == number)
            for device, network in _blocks_of_pool(found.pools[number], assigned.rank[rows], owner[rows]):
                out[device] = (*out.get(device, ()), Route(version, network))
    return {device: routes for device, routes in out.items() if found.asn[device]}


def _pools_that_share_addresses(pools: Sequence[Pool]) -> set[int]:
    """Pools of links and loopbacks whose networks have addresses in common: a block of one may hold addresses
    of another."""
    out: set[int] = set()
    nets = {n: ip_network(p.network) for n, p in enumerate(pools) if p.kind in ("links", "loopback")}
    spans = sorted(
        (net.version, int(net.network_address), int(net.broadcast_address), n) for n, net in nets.items()
    )
    widest = (0, 0, 0, -1)
    for span in spans:
        if widest[0] == span[0] and widest[2] >= span[1]:
            out |= {widest[3], span[3]}
        if widest[0] != span[0] or span[2] > widest[2]:
            widest = span
    return out


def _blocks_of_pool(pool: Pool, ranks: Ints, owner: Ints) -> Iterator[tuple[int, str]]:
    """Owner and network of every block of a pool. Links that have no owner are another's."""
    order = np.argsort(ranks)
    ranks, owner = ranks[order], owner[order]
    starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
    stops = np.concatenate([starts[1:], [len(ranks)]])
    for k in np.flatnonzero((stops - starts > 1) & (owner[starts] >= 0)).tolist():
        low = pool.first + (int(ranks[starts[k] - 1]) + 1) * pool.step if k else 0
        high = pool.first + int(ranks[stops[k]]) * pool.step if stops[k] < len(ranks) else 1 << 128
        mine = [pool.first + rank * pool.step for rank in ranks[starts[k] : stops[k]].tolist()]
        for network in _fewest_covering_networks(pool, mine, low, high):
            yield int(owner[starts[k]]), network


def _fewest_covering_networks(pool: Pool, mine: list[int], low: int, high: int) -> Iterator[str]:
    """The fewest networks within ``low`` and below ``high`` that hold these addresses, but for those that
    hold one link."""
    net = ip_network(pool.network)
    low, high = max(low, int(net.network_address)), min(high, int(net.broadcast_address) + 1)
    at = 0
    while at < len(mine):
        size = pool.step
        while (first := mine[at] // (2 * size) * 2 * size) >= low and first + 2 * size <= high:
            if mine[at] // size * size + size > mine[-1]:
                break
            size *= 2
        first, count = mine[at] // size * size, 0
        while at < len(mine) and mine[at] < first + size:
            at, count = at + 1, count + 1
        if count > 1:
            yield f"{type(net)((first, net.max_prefixlen - size.bit_length() + 1))}"
