"""Addresses that are given twice: every pair of pools, and gateways, against a search over all addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.addresses import Addressing, Dealt, Pool
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.harness import each
from tests.prove.networks import wired

KINDS = ("loopback", "links", "management")
BASE = {4: int(ip_address("10.0.0.0")), 6: int(ip_address("fd00::"))}
LINES = SourceFile("addresses.fab", "".join(f"address {i}\n" for i in range(12)))


def line_of(number: int) -> Origin:
    start = LINES.text.index(f"address {number}\n")
    return Origin(SourceSpan(LINES, start, start + len(f"address {number}")))


LINE = wired("s0-s1 s1-s2 s2-s3 s3-s4 s4-s5")
"""Six switches in a line of links: six devices and five links."""
ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+|[0-9a-f]+:[0-9a-f:]+")


def pool(
    number: int, kind: str = "loopback", version: int = 4, first: int = 0, count: int = 8, vrf: str = "", gateway: str = ""
) -> Pool:
    """A pool whose first address is so many after 10.0.0.0 or fd00::."""
    step = 2 if kind == "links" else 1
    return Pool(kind, version, BASE[version] + first, step, count, "10.0.0.0/8", 24, "", vrf, gateway, line_of(number))


def given(pools: list[Pool], rows: dict[int, dict[int, int]]) -> Addressing:
    """What pools give: by number of the pool, the ranks by row."""
    dealt: dict[tuple[str, int], Dealt] = {}
    for number, p in enumerate(pools):
        size = LINE.link_count if p.kind == "links" else LINE.device_count
        column = dealt.setdefault((p.kind, p.version), Dealt(np.full(size, -1), np.full(size, -1)))
        for row, rank in rows.get(number, {}).items():
            column.pool[row], column.rank[row] = number, rank
    return Addressing(LINE, tuple(pools), dealt)


def judged(addressing: Addressing | None) -> Judgement:
    return checks_by_name()["address_overlap"].judge(View.whole(replace(LINE, addressing=addressing)), None)


def expected(pools: list[Pool], rows: dict[int, dict[int, int]]) -> Iterator[tuple[Any, ...]]:
    """The faults, by the addresses one by one: their order, then what is said of each."""
    holds: list[set[int]] = []
    for number, p in enumerate(pools):
        holds.append({p.first + rank * p.step + i for rank in rows.get(number, {}).values() for i in range(p.step)})
    for i, a in enumerate(pools):
        for j, b in enumerate(pools[:i]):
            both = sorted(holds[i] & holds[j])
            if (a.version, a.vrf) == (b.version, b.vrf) and both:
                yield (0, j, i), f"address {i}", str(ip_address(both[0])), len(both)
    for i, a in enumerate(pools):
        for j, b in enumerate(pools):
            if a.gateway and (a.version, a.vrf) == (b.version, b.vrf) and int(ip_address(a.gateway)) in holds[j]:
                yield (1, i, j), f"address {j}", a.gateway, 1


def drawn(rng: Random) -> tuple[list[Pool], dict[int, dict[int, int]]]:
    """Up to five pools near each other, each for some rows."""
    pools, rows = [], {}
    served: dict[tuple[str, int], set[int]] = {}
    for number in range(rng.randint(1, 5)):
        kind, version = rng.choice(KINDS), rng.choice((4, 4, 6))
        first = rng.randint(0, 9) + (2000 if rng.random() < 0.1 else 0)
        at = str(ip_address(BASE[version] + first + rng.randint(-1, 12))) if rng.random() < 0.4 else ""
        pools.append(pool(number, kind, version, first, rng.randint(6, 8), rng.choice(("", "", "red")), at))
        left = set(range(5 if kind == "links" else 6)) - served.setdefault((kind, version), set())
        mine = rng.sample(sorted(left), rng.randint(0, min(4, len(left))))
        served[kind, version] |= set(mine)
        rows[number] = dict(zip(mine, rng.sample(range(6), len(mine)), strict=True))
    return pools, rows


def agrees(seed: int) -> None:
    """The check finds what the search over all addresses does."""
    pools, rows = drawn(Random(seed))
    found = judged(given(pools, rows))
    faults = sorted(expected(pools, rows))
    said = [(f.at and f.at.span.text, ADDRESS.findall(f.message)[0], f.count) for f in found.faults]
    assert said == [fault[1:] for fault in faults]
    assert (found.status, found.value) == (("refuted", False) if faults else ("proved", True))
    total = sum(len(mine) * pools[number].step for number, mine in rows.items())
    assert faults or found.text == f"{total} addresses, none twice"


def test_pools_drawn_at_random() -> None:
    each(range(200), agrees)


@pytest.mark.parametrize(("version", "last"), [(4, "255.255.255.255"), (6, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")])
def test_the_last_address_of_all_is_shown(version: int, last: str) -> None:
    """Two pools of one address each, behind which there is no other."""
    pools = [replace(pool(n, version=version), first=int(ip_address(last)), count=1) for n in range(2)]
    found = judged(given(pools, {0: {0: 0}, 1: {1: 0}}))
    assert found.witness == {"devices": ["s[0]", "s[1]"], "address": last}
    assert [f.message for f in found.faults] == [f"s[1] and s[0] both have {last}"]


def test_a_design_without_addresses() -> None:
    for addressing in (None, Addressing(LINE)):
        found = judged(addressing)
        assert (found.status, found.reason) == ("skipped", "the design gives no addresses")
