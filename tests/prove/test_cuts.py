"""Cuts of small networks and the splits that are tried, against all sides that there are."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.prove.cuts import balanced_splits, capacity_across_split, minimum_cut_of_split
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.harness import compile_text


def links_of(net: Network) -> list[tuple[int, int, int]]:
    """Every link once, with its capacity."""
    every = zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True)
    return [(a, b, c) for a, b, c in every if a < b]


def crosses(net: Network, side: list[bool]) -> int:
    return sum(c for a, b, c in links_of(net) if side[a] != side[b])


def halves(net: Network, rng: Random) -> np.ndarray:
    """A random balanced split."""
    out = np.zeros(net.unit_count, dtype=np.bool_)
    out[rng.sample(range(net.unit_count), net.half)] = True
    return out


def network(seed: int, loose: bool = True, tiers: bool = False) -> Network:
    """A random network between 2 to 7 units and 0 to 5 other nodes; with ``tiers`` a tree with more links beside it."""
    rng = Random(seed)
    units, transit = rng.randint(2, 7), rng.randint(1 if tiers else 0, 5)
    nodes = units + transit
    links = []
    for _ in range(rng.randint(4, 14)):
        a, b = rng.sample(range(nodes), 2)
        if loose or max(a, b) >= units:
            links.append((a, b, rng.randint(1, 5)))
    if tiers:
        links = [(u, units + rng.randrange(max(transit // 2, 1)), rng.randint(1, 5)) for u in range(units)]
        links += [(units + k, units + rng.randrange(k), rng.randint(1, 5)) for k in range(1, transit)]
        links += [(units + k, units + rng.randrange(k), rng.randint(1, 5)) for k in range(1, transit) if rng.random() < 0.5]
    a, b, c = (np.array([x[i] for x in links], dtype=np.int64) for i in range(3))
    made = Network.both_ways(np.ones(nodes, dtype=np.bool_), a, b, c)
    return replace(made, device=np.arange(nodes), unit_count=units, rates=(1,))


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_what_crosses_and_the_least_that_can(first: int) -> None:
    """Capacity between two sides, and the least over all sides of the other nodes."""
    for seed in range(first, first + 50):
        net, rng = network(seed), Random(seed)
        units = halves(net, rng)
        ways = list(product((False, True), repeat=len(net.transit)))
        every = [crosses(net, [*units.tolist(), *way]) for way in ways]
        assert [capacity_across_split(net, units, np.array(way, dtype=np.bool_)) for way in ways] == every
        found = minimum_cut_of_split(net, units)
        assert (found.value, found.units.tolist()) == (min(every), units.tolist())
        assert crosses(net, [*found.units.tolist(), *found.nodes.tolist()]) == min(every)


def test_pods_are_one_split_of_hosts(tmp_path: Path) -> None:
    """Hosts of two pods in turn: no group of the design and no order of leaves, by name or by number, has a pod's together."""
    text = """
fabric f {
  host node[8]: BOX
  switch leaf[4]: BIG
  switch spine[2]: BIG
  switch core: BIG
  connect node[n].nic[*] to leaf[n % 4]
  connect leaf[l].p[1..4] to spine[l % 2].p[4*(l // 2) + 1..4*(l // 2) + 4]
  connect spine[s].p[60] to core
}
"""
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert design.fabric is not None, design.findings
    net = unit_network(View.whole(design.fabric))
    pods = {tuple(bool(n % 2 == odd) for n in range(8)) for odd in (0, 1)}
    assert pods & {tuple(split.tolist()) for split in balanced_splits(net, design.fabric)}
