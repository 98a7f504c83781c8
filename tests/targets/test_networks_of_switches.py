"""The networks that switches announce in place of links to hosts, against a search over all networks."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data.addresses import address_rows, record_without_origin
from tdsl.emit.data.aggregates import (
    _blocks_of_pool,
    _fewest_covering_networks,
    _pools_that_share_addresses,
    aggregates_by_device,
)
from tdsl.emit.records import Route
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


@pytest.mark.parametrize("network", ["10.0.1.64/26", "fd00::40/122"])
@pytest.mark.parametrize("step", [2, 4])
def test_the_fewest_networks(network: str, step: int) -> None:
    """Of a switch's links between those of its neighbours, and beyond the pool at either side."""
    rng = Random(network)
    given = pool(network, step=step)
    for _ in range(40):
        places = sorted(rng.sample(range(64 // step), rng.randint(3, 64 // step)))
        left, right = rng.randrange(len(places) // 2), rng.randrange(len(places) // 2)
        mine = [given.first + p * step for p in places[left : len(places) - right]]
        low = given.first + (places[left - 1] + 1) * step if left else 0
        high = given.first + places[len(places) - right] * step if right else 1 << 128
        assert list(_fewest_covering_networks(given, mine, low, high)) == fewest(given, mine, low, high)


def test_blocks_of_a_pool() -> None:
    """Links in the order of their ranks; a switch with one link and links without a switch have no network."""
    rng = Random(1)
    for _ in range(60):
        first = rng.choice((0, 2, 8))
        given = pool("10.0.0.0/25", first=first)
        ranks = sorted(rng.sample(range((128 - first) // 2), rng.randint(1, 30)))
        owner = [rng.choice((-1, 0, 5, 9))]
        for _ in ranks[1:]:
            owner.append(owner[-1] if rng.random() < 0.7 else rng.choice((-1, 0, 5, 9)))
        wanted, k = [], 0
        while k < len(ranks):
            stop = next((j for j in range(k, len(ranks)) if owner[j] != owner[k]), len(ranks))
            low = given.first + (ranks[k - 1] + 1) * 2 if k else 0
            high = given.first + ranks[stop] * 2 if stop < len(ranks) else 1 << 128
            if owner[k] >= 0 and stop - k > 1:
                wanted += [(owner[k], n) for n in fewest(given, [given.first + r * 2 for r in ranks[k:stop]], low, high)]
            k = stop
        order = rng.sample(range(len(ranks)), len(ranks))
        assert list(_blocks_of_pool(given, np.array(ranks)[order], np.array(owner)[order])) == wanted


def test_pools_with_addresses_in_common() -> None:
    """Those of management are apart; IPv4 and IPv6 never meet."""
    rng = Random(2)
    found = set()
    for _ in range(150):
        networks = [
            rng.choice([f"0.0.0.{rng.randrange(8) << 5 >> n << n}/{32 - n}" for n in (3, 5, 6)] + [f"::{rng.randrange(3)}0/124"])
            for _ in range(5)
        ]
        pools = [pool(n, rng.choice(("links", "loopback", "management"))) for n in networks]
        wanted = set()
        for i, p in enumerate(pools):
            for j, q in enumerate(pools):
                if i != j and "management" not in (p.kind, q.kind) and p.version == q.version:
                    wanted |= {i} if ip_network(p.network).overlaps(ip_network(q.network)) else set()
        assert _pools_that_share_addresses(pools) == wanted, networks
        found.add(len(wanted))
    assert {0, 2, 3, 4} <= found
    chain = ["0.0.0.0/24", "0.0.0.8/29", "0.0.0.16/29", "0.0.1.0/24"]
    assert _pools_that_share_addresses([pool(n) for n in chain]) == {0, 1, 2} and _pools_that_share_addresses([]) == set()
    assert _pools_that_share_addresses([pool("0.0.0.2/31"), pool("0.0.0.3/32", "loopback"), pool("0.0.0.1/32", "loopback")]) == {
        0,
        1,
    }


def test_aggregates_of_all_switches() -> None:
    """Hosts 0 and 1, a chip 2, switches 3 to 5: switch 3 has IPv4 and IPv6 links, switch 4 no ASN, and a link to the chip is
    nobody's. The pool that overlaps another gives none."""
    links = [(0, 3), (1, 3), (0, 4), (1, 4), (2, 5), (3, 5), (3, 0), (0, 3), (5, 0), (5, 1)]
    pools = (pool("10.0.0.0/24"), pool("10.1.0.0/24"), pool("fd00::/120"), pool("10.1.0.0/28", "loopback"))
    dealt = {
        ("links", 4): SimpleNamespace(
            pool=np.array([0, 0, 0, 0, 0, 0, -1, 1, 0, 0]), rank=np.array([0, 1, 2, 3, 4, 5, 0, 0, 6, 7])
        ),
        ("links", 6): SimpleNamespace(
            pool=np.array([2, 2, -1, -1, 2, 2, -1, 2, -1, -1]), rank=np.array([0, 1, 0, 0, 3, 2, 0, 4, 0, 0])
        ),
    }
    fabric = SimpleNamespace(
        kind=np.array(["host", "host", "chip", "switch", "switch", "switch"]), is_switch=np.arange(6) > 2,
        device_a=np.array([a for a, _ in links]), device_b=np.array([b for _, b in links]),
    )  # fmt: skip
    found: Any = SimpleNamespace(fabric=fabric, pools=pools, dealt=dealt, asn=np.array([0, 0, 0, 65001, 0, 65002]))
    assert aggregates_by_device(found) == {
        3: (Route(4, "10.0.0.0/30"), Route(6, "fd00::/126")), 5: (Route(4, "10.0.0.12/30"),),
    }  # fmt: skip
    found.dealt = {("links", 6): dealt["links", 6]}
    assert aggregates_by_device(found) == {3: (Route(6, "fd00::/126"),)}


def test_addresses_as_rows() -> None:
    """Loopback and management of what is built, then both ends of links."""
    names = ("h0", "s0", "s1")
    has = {
        ("loopback", 1): [("1.1.1.1", 32, "1.1.1.0/24", "")], ("management", 1): [("9.9.9.9", 24, "9.9.9.0/24", "mgmt")],
        ("loopback", 0): [("1.1.1.2", 32, "1.1.1.0/24", "")], ("loopback", 2): [("1.1.1.3", 32, "1.1.1.0/24", "")],
        ("links", 0, False): [("2.0.0.0", 31, "2.0.0.0/24", "x"), ("fd::", 127, "fd::/64", "x")],
        ("links", 0, True): [("2.0.0.1", 31, "2.0.0.0/24", "x")], ("links", 1, True): [("2.0.0.3", 31, "2.0.0.0/24", "x")],
    }  # fmt: skip

    def each(*key: object) -> list[tuple[str, object]]:
        return [(a, SimpleNamespace(prefix=p, network=n, vrf=v)) for a, p, n, v in has.get(key, [])]

    ports = [SimpleNamespace(path=lambda i, c=c: f"{c}[{i}]") for c in "npq"]
    fabric = SimpleNamespace(
        built=np.array([True, True, False]), device_name=lambda d: names[d], link_count=2, link_a=np.array([0, 1]),
        link_b=np.array([4, 5]), port_device=np.array([0, 0, 0, 1, 1, 1]), port_class=lambda p: (ports[p // 2], p % 2),
    )  # fmt: skip
    found: Any = SimpleNamespace(dealt={("loopback", 4): 0, ("links", 4): 0}, each=each)
    wires: Any = SimpleNamespace(fabric=fabric)
    single = [
        ("h0", "loopback", "", "1.1.1.2/32", "1.1.1.0/24", ""), ("s0", "loopback", "", "1.1.1.1/32", "1.1.1.0/24", ""),
        ("s0", "management", "", "9.9.9.9/24", "9.9.9.0/24", "mgmt"),
    ]  # fmt: skip
    links = [
        ("h0", "link", "n[0]", "2.0.0.0/31", "2.0.0.0/24", ""), ("h0", "link", "n[0]", "fd::/127", "fd::/64", ""),
        ("s0", "link", "q[0]", "2.0.0.1/31", "2.0.0.0/24", ""), ("s0", "link", "q[1]", "2.0.0.3/31", "2.0.0.0/24", ""),
    ]  # fmt: skip
    assert list(address_rows(wires, found)) == single + links
    found.dealt = {("loopback", 4): 0}
    assert list(address_rows(wires, found)) == single


def test_records_as_plain_values() -> None:
    made = record_without_origin(pool("10.0.0.0/24"))
    assert made is not None and "origin" not in made and made["network"] == "10.0.0.0/24" and len(made) == 10
    assert record_without_origin(Pool) is None and record_without_origin("x") is None and record_without_origin(None) is None
