"""Addresses that are given twice: every pair of pools, and gateways, against a search over all addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.addresses import Addressing, Dealt, Pool
from tdsl.fabric.graph import Fabric
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Builder
from tests.harness import each

KINDS = ("loopback", "links", "management")
BASE = {4: int(ip_address("10.0.0.0")), 6: int(ip_address("fd00::"))}
LINES = SourceFile("addresses.fab", "".join(f"address {i}\n" for i in range(12)))


def line_of(number: int) -> Origin:
    start = LINES.text.index(f"address {number}\n")
    return Origin(SourceSpan(LINES, start, start + len(f"address {number}")))


def made_fabric() -> Fabric:
    """Six switches in a line of links: six devices and five links."""
    b = Builder("line")
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 4}), 6)
    for i in range(5):
        b.link(b.port(leaf, i, "p", 1), b.port(leaf, i + 1, "p", 0))
    return b.build()


LINE = made_fabric()


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


def said(found: Judgement) -> list[tuple[Any, ...]]:
    """Every fault: place, text, number, labels, help."""
    return [(f.at and f.at.span.text, f.message, f.count, [(s.text, w) for s, w in f.labels], f.help) for f in found.faults]


def name(kind: str, row: int) -> str:
    return f"the link at leaf[{row}].p[1]" if kind == "links" else f"leaf[{row}]"


def expected(pools: list[Pool], rows: dict[int, dict[int, int]]) -> Iterator[tuple[Any, ...]]:
    """The faults, by the addresses one by one: order, the fault, and what is shown of it."""
    holds: list[dict[int, int]] = []
    for number, p in enumerate(pools):
        mine = {}
        for row, rank in rows.get(number, {}).items():
            for second in range(p.step):
                mine[p.first + rank * p.step + second] = row
        holds.append(mine)
    for i, a in enumerate(pools):
        for j, b in enumerate(pools[:i]):
            if (a.version, a.vrf) != (b.version, b.vrf):
                continue
            both = sorted(set(holds[i]) & set(holds[j]))
            if both:
                text, names = ip_address(both[0]), [name(a.kind, holds[i][both[0]]), name(b.kind, holds[j][both[0]])]
                more = f" (and {len(both) - 1} more)" if len(both) > 1 else ""
                yield (
                    (0, j, i), f"address {i}",
                    f"{names[0]} and {names[1]} both have {text}{more}", len(both),
                    [(f"address {j}", "the other is given here")],
                    "use networks that do not overlap, or begin one after the other: `from 10.255.128.0/16`",
                    {"devices": names[::-1], "address": str(text)},
                )  # fmt: skip
    for i, a in enumerate(pools):
        if not a.gateway:
            continue
        at = ip_address(a.gateway)
        for j, b in enumerate(pools):
            if (a.version, a.vrf) == (b.version, b.vrf) and int(at) in holds[j]:
                yield (
                    (1, i, j), f"address {j}", f"{name(b.kind, holds[j][int(at)])} is given {at}, the address of the gateway", 1,
                    [(f"address {i}", "the gateway is given here")] if i != j else [], f"begin behind it: `from {at + 1}/24`",
                    {},
                )  # fmt: skip


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
    faults = sorted(expected(pools, rows), key=lambda fault: fault[0])
    assert said(found) == [fault[1:-1] for fault in faults]
    if faults:
        assert (found.status, found.value, found.text, found.witness) == ("refuted", False, faults[0][2], faults[0][-1])
    else:
        total = sum(len(mine) * pools[number].step for number, mine in rows.items())
        assert (found.status, found.value, found.text) == ("proved", True, f"{total} addresses, none twice")


def test_pools_drawn_at_random() -> None:
    each(range(400), agrees)


def test_of_two_pairs_the_first_is_shown() -> None:
    """In order of the statements, not of the addresses."""
    pools = [pool(0, first=20), pool(1, first=0), pool(2, "management", first=0), pool(3, "management", first=20)]
    found = judged(given(pools, {0: {0: 0}, 1: {1: 0, 4: 1}, 2: {2: 0, 5: 1}, 3: {3: 0}}))
    assert [fault.message for fault in found.faults] == [
        "leaf[3] and leaf[0] both have 10.0.0.20",
        "leaf[2] and leaf[1] both have 10.0.0.0 (and 1 more)",
    ]
    assert found.witness == {"devices": ["leaf[0]", "leaf[3]"], "address": "10.0.0.20"}


def test_a_design_without_addresses() -> None:
    for addressing in (None, Addressing(LINE)):
        found = judged(addressing)
        assert (found.status, found.reason) == ("skipped", "the design gives no addresses")
