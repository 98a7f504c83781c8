"""Diameters of small fabrics and their paths, against networkx."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, Eccentricities, NotBounded
from tdsl.prove.budget import DEFAULT
from tdsl.prove.diameter import diameter_bounds
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, torus
from tests.verify import judges


def shown(f: Fabric) -> tuple[int, int, Eccentricities]:
    """The bounds and what shows the upper one; the path is a shortest one, between devices that ends are connected to."""
    view = View.whole(f)
    found = diameter_bounds(view)
    assert isinstance(found, Bound)
    path = list(found.proof_lower.devices)
    g = judges.capacities(f, judges.forwarders(f))
    assert view.access[path[0]] and view.access[path[-1]] and len(path) == found.lower + 1
    assert nx.is_path(g, path) and nx.shortest_path_length(g, path[0], path[-1]) == found.lower
    return found.lower, found.upper, found.proof_upper


def test_diameters_of_random_fabrics() -> None:
    for seed in range(120):
        rng = Random(seed)
        made = random_chips(seed, rng.randint(2, 8), rng.randint(1, 12)) if seed % 2 else random_fabric(seed, cables=seed % 13)
        f = made.build()
        view = View.whole(f)
        if not view.access.any():
            assert isinstance(diameter_bounds(view), NotBounded)
            continue
        lower, upper, proof = shown(f)
        assert lower == upper == judges.diameter(f), seed
        g = judges.capacities(f, judges.forwarders(f))
        wanted = np.flatnonzero(view.access).tolist()
        assert proof.apart == any(not nx.has_path(g, wanted[0], x) for x in wanted), seed
        assert proof.searched == proof.classes <= len(wanted)


def test_symmetric_chips_are_searched_from_one() -> None:
    assert shown(torus(4, 6).build()) == (5, 5, Eccentricities(1, 1, False))
    assert shown(torus(2).build()) == (1, 1, Eccentricities(1, 1, False))
    assert shown(torus(9).build()) == (4, 4, Eccentricities(1, 1, False))


def test_nobody_is_attached() -> None:
    """A host without a link, and one that is linked to a host."""
    b = Builder("none")
    node = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    b.devices("s", b.model("switch", "S", {"p": 1}), 2)
    b.link(b.free(node, 0), b.free(node, 1))
    assert diameter_bounds(View.whole(b.build())) == NotBounded(("no end is attached to a switch",))


@pytest.mark.parametrize(("apart", "upper"), [(False, 70), (True, 71)])
def test_less_work_gives_an_interval(apart: bool, upper: int) -> None:
    """A line of 70 switches with a host each, searched from every second one; the least eccentricity of those is 35. Beside it
    two more that are joined to each other alone: then no path is longer than one through all switches."""
    b = Builder("line")
    count = 72 if apart else 70
    sw = b.devices("s", b.model("switch", "S", {"p": 9}), count)
    node = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), count)
    for i in range(count):
        b.link(b.free(node, i), b.free(sw, i))
        if i not in (69, count - 1):
            b.link(b.free(sw, i), b.free(sw, i + 1))
    view = View.whole(b.build(), replace(DEFAULT, diameter_work=0))
    found = diameter_bounds(view)
    assert isinstance(found, Bound) and (found.lower, found.upper) == (69, upper)
    assert found.proof_upper == Eccentricities(count // 2, count, apart)
    whole = diameter_bounds(View.whole(view.fabric))
    assert isinstance(whole, Bound) and (whole.lower, whole.upper) == (69, 69)
