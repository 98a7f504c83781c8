"""The networks that switches announce in place of links to hosts, against a search over all networks."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data.aggregates import aggregates_by_device
from tdsl.fabric.addresses import Pool
from tests.targets.build import HERE


def pool(network: str, kind: str = "links", step: int = 2, first: int = 0) -> Pool:
    """A pool of links that begins so many addresses into its network."""
    net = ip_network(network)
    length = net.max_prefixlen - step.bit_length() + 1
    return Pool(kind, net.version, int(net.network_address) + first, step, 0, network, length, "", "", "", HERE)


def blocks(net: Any, step: int) -> Iterator[Any]:
    """All networks inside of one that hold at least one link."""
    for length in range(net.prefixlen, net.max_prefixlen - step.bit_length() + 2):
        yield from net.subnets(new_prefix=length)


def fewest(given: Pool, mine: list[int], low: int, high: int) -> list[str]:
    """From the first address on: the smallest network that holds all that is left, or else the largest that holds the first."""
    net = ip_network(given.network)
    fit = [b for b in blocks(net, given.step) if low <= int(b.network_address) and int(b.broadcast_address) < high]
    left, out = set(mine), []
    while left:
        holding = [b for b in fit if ip_address(min(left)) in b]
        every = [b for b in holding if ip_address(max(left)) in b]
        block = min(every, key=lambda b: b.num_addresses) if every else max(holding, key=lambda b: b.num_addresses)
        inside = {n for n in left if ip_address(n) in block}
        out += [str(block)] if len(inside) > 1 else []
        left -= inside
    return out


def announced(pools: tuple[Pool, ...], links: list[tuple[int, int, int]]) -> dict[int, list[str]]:
    """What each switch announces: links are (switch or a number below 0, pool, rank); hosts are 0 to 3, switches from 4 on."""
    version = pools[0].version if pools else 4
    fabric = SimpleNamespace(
        kind=np.array(["host"] * 4 + ["switch"] * 10), is_switch=np.arange(14) > 3,
        link_bundle=np.full(len(links), -1, dtype=np.int64),
        device_a=np.array([k % 4 for k in range(len(links))], dtype=np.int64),
        device_b=np.array([4 + s if s >= 0 else (k + 1) % 4 for k, (s, _, _) in enumerate(links)], dtype=np.int64),
    )  # fmt: skip
    columns = SimpleNamespace(pool=np.array([p for _, p, _ in links], dtype=np.int64), rank=np.array([r for *_, r in links]))
    assigned = {("links", version): columns}
    asn = np.array([0] * 4 + [65001 + k for k in range(10)])
    found: Any = SimpleNamespace(fabric=fabric, pools=pools, assigned=assigned, asn=asn)
    return {device - 4: [r.network for r in routes] for device, routes in aggregates_by_device(found).items()}


@pytest.mark.parametrize("network", ["10.0.1.0/25", "fd00::80/121"])
@pytest.mark.parametrize("step", [2, 4])
def test_the_fewest_networks_that_hold_no_link_of_another(network: str, step: int) -> None:
    """Of a switch's links between those of its neighbours in the pool; links in any order, some without a switch."""
    for seed in range(40):
        rng = Random(f"{network} {step} {seed}")
        first = rng.choice((0, step, 4 * step))
        given = pool(network, step=step, first=first)
        ranks = sorted(rng.sample(range((128 - first) // step), rng.randint(1, 24)))
        owner = [rng.choice((-1, 0, 5, 9))]
        for _ in ranks[1:]:
            owner.append(owner[-1] if rng.random() < 0.7 else rng.choice((-1, 0, 5, 9)))
        wanted: dict[int, list[str]] = {}
        k = 0
        while k < len(ranks):
            stop = next((j for j in range(k, len(ranks)) if owner[j] != owner[k]), len(ranks))
            low = given.first + (ranks[k - 1] + 1) * step if k else 0
            high = given.first + ranks[stop] * step if stop < len(ranks) else 1 << 128
            if owner[k] >= 0 and stop - k > 1:
                found = fewest(given, [given.first + r * step for r in ranks[k:stop]], low, high)
                wanted.setdefault(owner[k], []).extend(found)
            k = stop
        links = [(o, 0, r) for o, r in zip(owner, ranks, strict=True)]
        rng.shuffle(links)
        assert announced((given,), links) == {s: n for s, n in wanted.items() if n}, seed


def test_a_pool_whose_addresses_another_has_is_announced_link_by_link() -> None:
    """Those of management are apart."""
    rng = Random(2)
    seen = set()
    for _ in range(150):
        kinds = ("links", "loopback", "management")
        sizes = [rng.choice((3, 5, 6)) for _ in range(5)]
        pools = tuple(pool(f"0.0.0.{rng.randrange(8) << 5 >> n << n}/{32 - n}", rng.choice(kinds)) for n in sizes)
        wanted = set()
        for i, p in enumerate(pools):
            others = [q for j, q in enumerate(pools) if j != i and q.kind != "management"]
            if p.kind == "links" and not any(ip_network(p.network).overlaps(ip_network(q.network)) for q in others):
                wanted.add(i)
        links = [(i, i, rank) for i, p in enumerate(pools) if p.kind == "links" for rank in range(4)]
        assert set(announced(pools, links)) == wanted
        seen.add(len(wanted))
    assert {0, 1, 2} <= seen
