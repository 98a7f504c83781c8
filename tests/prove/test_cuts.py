"""Cuts of small networks and the splits that are tried, against all sides that there are."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import numpy as np

from tdsl.prove.cuts import balanced_splits, capacity_across_split, minimum_cut_of_split
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.harness import compile_text
from tests.prove.networks import arcs_of, between_units
from tests.tables import sections


def test_what_crosses_and_the_least_that_can() -> None:
    """Capacity between two sides, and the least over all sides of the nodes that are no units."""
    for seed in range(100):
        rng = Random(seed)
        units, transit = rng.randint(2, 7), rng.randint(0, 5)
        ends = (sorted(rng.sample(range(units + transit), 2)) for _ in range(rng.randint(4, 14)))
        net = between_units(units, transit, {(a, b): rng.randint(1, 5) for a, b in ends})
        half = rng.sample(range(units), units // 2)
        ours = np.isin(np.arange(units), half)
        links = [(a, b, c) for a, b, c in arcs_of(net) if a < b]
        ways = [np.array(way, dtype=np.bool_) for way in product((False, True), repeat=transit)]

        def crosses(nodes: np.ndarray, ours: np.ndarray = ours, links: list[tuple[int, int, int]] = links) -> int:
            side = [*ours, *nodes]
            return sum(c for a, b, c in links if side[a] != side[b])

        every = [crosses(way) for way in ways]
        assert [capacity_across_split(net, ours, way) for way in ways] == every, seed
        found = minimum_cut_of_split(net, ours)
        assert (found.value, found.units.tolist()) == (min(every), ours.tolist()), seed
        assert crosses(found.nodes) == min(every), seed


def test_pods_are_one_split_of_hosts(tmp_path: Path) -> None:
    """Hosts of two pods in turn: no group of the design and no order of leaves, by name or by number, has a pod's together."""
    text = sections(__file__)["text of pods are one split of hosts"]
    (design,) = compile_text(text, tmp_path, verify=False).designs
    assert design.fabric is not None, design.findings
    pods = {tuple(bool(n % 2 == odd) for n in range(8)) for odd in (0, 1)}
    assert pods & {tuple(split.tolist()) for split in balanced_splits(unit_network(View.whole(design.fabric)), design.fabric)}
