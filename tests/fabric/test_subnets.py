"""Shapes of InfiniBand subnets by definitions that go from link to link, and tori with one thing changed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric import subnets
from tests.fabrics import Builder

Link = tuple[int, int]


def fabric(tiers: list[int], links: list[Link], planes: list[int] | None = None, sizes: tuple[int, ...] = ()) -> Any:
    """The columns that shapes are read from: devices of tier 0 are hosts, the lower end of a link comes first. ``sizes``: the
    indices of the declaration of the first switches; the others have one of their own."""
    a, b = (np.array([x[k] for x in links], dtype=np.int64) for k in (0, 1))
    made = Builder()
    made.devices("s", made.model("switch", "S", {"p": 1}), sizes or 1)
    declared = made.sets[0]
    first = next((d for d, t in enumerate(tiers) if t), 0)
    of = [0 if first <= d < first + declared.count else 1 for d in range(len(tiers))]
    return SimpleNamespace(
        device_a=a, device_b=b, tier=np.array(tiers), is_switch=np.array(tiers) > 0, device_count=len(tiers),
        link_count=len(links), plane=np.array(planes or [-1] * len(tiers)), device_set=np.array(of),
        set_of=lambda d: SimpleNamespace(first=first, axes=declared.axes, count=declared.count),
    )  # fmt: skip


def full(tiers: list[int], links: list[Link]) -> bool:
    """The rules of ``ftree``: hosts at one tier; of each tier, the same number of switches above each and below each, none but
    at the top and bottom, and to each as many links."""
    if len({max(tiers[x], tiers[y]) for x, y in links if not (tiers[x] and tiers[y])}) > 1:
        return False
    between = Counter((x, y) for x, y in links if tiers[x] and tiers[y])
    used = {d for pair in between for d in pair}
    top = max(tiers[d] for d in used)
    for t in range(1, top + 1):
        mine = [d for d in used if tiers[d] == t]
        for end, last in ((0, top), (1, 1)):
            groups = {d: [n for pair, n in between.items() if pair[end] == d] for d in mine}
            if len({len(g) for g in groups.values()}) > 1 or len({n for g in groups.values() for n in g}) > 1:
                return False
            if t != last and any(not g for g in groups.values()):
                return False
    return True


@pytest.mark.parametrize("part", range(4))
def test_full_trees_by_definition(part: int) -> None:
    """Complete layers with some links doubled, dropped or moved, and hosts mostly at the leaves."""
    seen = Counter[bool]()
    for seed in range(part * 60, part * 60 + 60):
        rng = np.random.default_rng(seed)
        sizes = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(2, 4)))]
        tiers = [0] * 3 + [t for t, n in enumerate(sizes, 1) for _ in range(n)]
        rows = [[d for d, t in enumerate(tiers) if t == k] for k in range(len(sizes) + 1)]
        links = [(h, int(rng.choice(rows[1]))) for h in rows[0]]
        if rng.random() < 0.2:
            links.append((0, rows[2][0]))
        for low, high in pairwise(rows[1:]):
            links += [pair for pair in product(low, high) for _ in range(int(rng.integers(1, 3)) if rng.random() < 0.1 else 1)]
        if rng.random() < 0.5:
            links += [x for x in links if x[0] >= 3 and tiers[x[0]] == 1]
        for _ in range(int(rng.integers(0, 2))):
            links.pop(int(rng.integers(3, len(links))))
        if not any(x >= 3 for x, _ in links):
            continue
        f = fabric(tiers, links)
        inner = np.flatnonzero(f.is_switch[f.device_a] & f.is_switch[f.device_b])
        assert subnets.is_layered(f, inner)
        found = subnets.is_full_tree(f, np.arange(len(links)), inner)
        assert found == full(tiers, links), (tiers, links)
        seen[found] += 1
        assert subnets.subnet_shape(f, np.ones(len(links), dtype=np.bool_)).kind == ("tree" if found else "partial")
    assert min(seen[True], seen[False]) > 10


@pytest.mark.parametrize("seed", range(40))
def test_subnets_by_a_plain_search(seed: int) -> None:
    """Links that switches join are one subnet, and a link that meets no switch is one; the lowest plane comes first, then the
    lowest switch or link."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 12))
    tiers = sorted(int(t) for t in rng.integers(0, 3, count))
    planes = [int(x) for x in rng.integers(-1, 3, count)]
    links = [(min(x, y), max(x, y)) for x, y in rng.integers(0, count, (int(rng.integers(1, 12)), 2)).tolist() if x != y]
    if not links:
        return
    lot = list(range(count))
    for _ in range(count):
        for x, y in links:
            if tiers[x] and tiers[y]:
                lot[x] = lot[y] = min(lot[x], lot[y])
    f = fabric(tiers, links, planes)
    assert subnets.switched_components(f).tolist() == lot
    keys = [(lot[y] if tiers[y] else lot[x] if tiers[x] else count + k) for k, (x, y) in enumerate(links)]
    least = {
        key: min(max(planes[x], planes[y]) for (x, y), other in zip(links, keys, strict=True) if other == key) for key in keys
    }
    order = sorted(least, key=lambda key: (least[key], key))
    assert subnets.subnet_of_links(f).tolist() == [order.index(key) for key in keys]


def grid(sizes: tuple[int, ...], wraps: tuple[bool, ...], copies: int = 1) -> list[Link]:
    """Links of a torus whose switches come after two hosts, which are at the first two switches."""
    number = {at: 2 + k for k, at in enumerate(product(*map(range, sizes)))}
    links = [(0, 2), (1, 3)]
    for at, d in product(number, range(len(sizes))):
        if at[d] + 1 < sizes[d] or wraps[d]:
            to = (*at[:d], (at[d] + 1) % sizes[d], *at[d + 1 :])
            links += [(min(number[at], number[to]), max(number[at], number[to]))] * copies
    return links


def torus(links: list[Link], sizes: tuple[int, ...], switches: int) -> subnets.Torus | None:
    f = fabric([0, 0] + [1] * switches, links, sizes=sizes)
    found = subnets.subnet_shape(f, np.ones(len(links), dtype=np.bool_))
    assert found.kind == ("other" if found.torus is None else "torus")
    return found.torus


TORI = [
    ((3, 3), (True, True), 1), ((3, 4), (True, False), 1), ((5, 3), (False, True), 2), ((3, 4, 5), (True, True, True), 1),
    ((4, 3, 3), (False, False, True), 1), ((3, 5), (True, True), 3),
]  # fmt: skip


@pytest.mark.parametrize(("sizes", "wraps", "copies"), TORI)
def test_tori_are_found(sizes: tuple[int, ...], wraps: tuple[bool, ...], copies: int) -> None:
    count = int(np.prod(sizes))
    found = torus([*grid(sizes, wraps, copies), (1, 3)], sizes, count)
    assert found is not None
    assert (found.sizes, found.wraps, found.hosts, found.trunk) == (sizes, wraps, 2, copies)
    assert found.grid.tolist() == np.arange(2, count + 2).reshape(sizes).tolist()
    last = tuple(n - 1 for n in sizes)
    for d in range(len(sizes)):
        step = int(np.prod(sizes[d + 1 :]))
        assert found.near((0,) * len(sizes), d, 1) == 2 + step
        assert found.near((0,) * len(sizes), d, -1) == 2 + step * (sizes[d] - 1)
        assert found.near(last, d, 1) == count + 1 - step * (sizes[d] - 1)


@pytest.mark.parametrize(("sizes", "wraps", "copies"), TORI)
def test_what_is_a_torus_but_for_one_link(sizes: tuple[int, ...], wraps: tuple[bool, ...], copies: int) -> None:
    """One pair less, or one more: across both dimensions, or over two steps of the longest one."""
    count, links = int(np.prod(sizes)), grid(sizes, wraps, copies)
    for gone in (links[2], links[-1]):
        assert torus([x for x in links if x != gone], sizes, count) is None
    assert torus([*links, (2, 2 + sizes[-1] + 1)], sizes, count) is None
    longest = int(np.argmax(sizes))
    if sizes[longest] > 3:
        assert torus([*links, (2, 2 + 2 * int(np.prod(sizes[longest + 1 :])))], sizes, count) is None
    assert torus([*links, (2, count + 2)], sizes, count + 1) is None, "a switch of another declaration"


@pytest.mark.parametrize(
    ("sizes", "wraps"),
    [
        ((3, 3), (False, False)),  # a mesh has no rings
        ((9,), (True,)),
        ((2, 4), (False, True)),
        ((3, 3, 3, 3), (True,) * 4),
    ],
)
def test_other_grids(sizes: tuple[int, ...], wraps: tuple[bool, ...]) -> None:
    assert torus(grid(sizes, wraps), sizes, int(np.prod(sizes))) is None
