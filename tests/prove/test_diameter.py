"""Diameters of small fabrics and their paths, against networkx."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.bound import Bound, Eccentricities, NotBounded
from tdsl.prove.budget import DEFAULT
from tdsl.prove.diameter import diameter_bounds
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, torus
from tests.prove.networks import wired
from tests.verify import judges


def test_diameters_of_random_fabrics() -> None:
    """And what shows the bounds: a shortest path between devices that ends are connected to, and searches from these."""
    for seed in range(120):
        rng = Random(seed)
        made = random_chips(seed, rng.randint(2, 8), rng.randint(1, 12)) if seed % 2 else random_fabric(seed, cables=seed % 13)
        f = made.build()
        view = View.whole(f)
        found = diameter_bounds(view)
        if not view.access.any():
            assert isinstance(found, NotBounded)
            continue
        assert isinstance(found, Bound) and found.lower == found.upper == judges.diameter(f), seed
        g = judges.capacities(f, judges.forwarders(f))
        path, proof = list(found.proof_lower.devices), found.proof_upper
        assert view.access[path[0]] and view.access[path[-1]] and len(path) == found.lower + 1
        assert nx.is_path(g, path) and nx.shortest_path_length(g, path[0], path[-1]) == found.lower
        wanted = np.flatnonzero(view.access).tolist()
        assert proof.apart == any(not nx.has_path(g, wanted[0], x) for x in wanted), seed
        assert proof.searched == proof.classes <= len(wanted)


@pytest.mark.parametrize(("sizes", "value"), [((4, 6), 5), ((2,), 1), ((9,), 4)])
def test_symmetric_chips_are_searched_from_one(sizes: tuple[int, ...], value: int) -> None:
    found = diameter_bounds(View.whole(torus(*sizes).build()))
    assert isinstance(found, Bound) and (found.lower, found.upper) == (value, value)
    assert found.proof_upper == Eccentricities(1, 1, False)


def test_nobody_is_attached() -> None:
    """A host without a link, and one that is linked to a host."""
    assert diameter_bounds(View.whole(wired("s1 h0-h1"))) == NotBounded(("no end is attached to a switch",))


@pytest.mark.parametrize(("apart", "upper"), [(False, 70), (True, 71)])
def test_less_work_gives_an_interval(apart: bool, upper: int) -> None:
    """A line of 70 switches with a host each, searched from every second one; the least eccentricity of those is 35. Beside it
    two more that are joined to each other alone: then no path is longer than one through all switches."""
    count = 72 if apart else 70
    text = " ".join(f"h{i}-s{i}" for i in range(count)) + " "
    f = wired(text + " ".join(f"s{i}-s{i + 1}" for i in range(count - 1) if i != 69))
    found, whole = diameter_bounds(View.whole(f, replace(DEFAULT, diameter_work=0))), diameter_bounds(View.whole(f))
    assert isinstance(found, Bound) and (found.lower, found.upper) == (69, upper)
    assert found.proof_upper == Eccentricities(count // 2, count, apart)
    assert isinstance(whole, Bound) and (whole.lower, whole.upper) == (69, 69)
