"""Permutations that a design or its ports suggest."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.symmetry_candidates import axis_steps, candidates_by_ports, transitive_candidates
from tdsl.prove.view import View
from tests.fabrics import Builder, torus
from tests.prove.networks import wired

RING = [[1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]


def test_steps_along_indices() -> None:
    """A group of two with two chips each is a line of four, or two by two; three by itself is a ring of three."""
    b = Builder("steps")
    chip = b.model("chip", "CHIP", {"p": 4})
    cube, alone = b.devices("cube.chip", chip, 2, 2), b.devices("x", chip, 3)
    assert [[step.tolist() for step in way] for way in axis_steps(cube)] == [[[1, 2, 3, 0]], [[2, 3, 0, 1], [1, 0, 3, 2]]]
    assert [[step.tolist() for step in way] for way in axis_steps(alone)] == [[[1, 2, 0]]]


def test_permutations_that_follow_ports() -> None:
    """A ring of five by port 0 and 1: one step either way. Steps are those of one whole declaration."""
    b = torus(5)
    assert sorted(image.tolist() for image in candidates_by_ports(b.build(), np.arange(5))) == RING
    b.devices("x", b.sets[0].model, 5)
    f = b.build()
    ways = [[[image.tolist() for image in way] for way in transitive_candidates(f, np.arange(n))] for n in (4, 5, 10)]
    assert ways == [[], [RING[:1], RING], []]


def test_groups_are_exchanged_as_a_whole() -> None:
    """Hosts of one leaf may be exchanged, but not racks that hold another switch each beside them."""
    f = wired("h0-s0 h1-s0 h2-s0 h3-s0 s0-s1 s1-s2 h3-s1")
    hosts, none = [d for d in range(f.device_count) if f.is_end[d]], np.zeros(0, dtype=np.int64)
    for racks, orbits in ((True, [[0], [1]]), (False, [[0, 1]])):
        named = [FabricElement(f"e{k}", np.array([hosts[k], 1 + k] if racks else [hosts[k]]), none) for k in range(2)]
        assert symmetry_of_elements(View.whole(f), named, frozenset()).orbits() == orbits
