"""Permutations that a design or its ports suggest."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.symmetry_candidates import axis_steps, candidates_by_ports, transitive_candidates
from tdsl.prove.view import View
from tests.fabrics import Builder, torus
from tests.prove.networks import wired


def test_steps_along_indices() -> None:
    """A group of two with two chips each is a line of four, or two by two; three by itself is a ring of three."""
    b = Builder("steps")
    chip = b.model("chip", "CHIP", {"p": 4})
    cube, alone = b.devices("cube.chip", chip, 2, 2), b.devices("x", chip, 3)
    assert [[step.tolist() for step in way] for way in axis_steps(cube)] == [
        [[1, 2, 3, 0]],
        [[2, 3, 0, 1], [1, 0, 3, 2]],
    ]
    assert [[step.tolist() for step in way] for way in axis_steps(alone)] == [[[1, 2, 0]]]


def test_permutations_that_follow_ports() -> None:
    """A ring of five by port 0 and 1: one step either way."""
    f = torus(5).build()
    assert sorted(image.tolist() for image in candidates_by_ports(f, np.arange(5))) == [[1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]


def test_steps_are_those_of_one_whole_declaration() -> None:
    b = torus(5)
    b.devices("x", b.sets[0].model, 5)
    f = b.build()
    ways = [[[image.tolist() for image in way] for way in transitive_candidates(f, np.arange(n))] for n in (4, 5, 10)]
    assert ways == [[], [[[1, 2, 3, 4, 0]], [[1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]], []]


def test_groups_are_exchanged_as_a_whole() -> None:
    """Hosts of one leaf may be exchanged, but not racks that hold another switch each beside them."""
    f = wired(4, 3, [(f"h{h}", "s0") for h in range(4)] + [("s0", "s1"), ("s1", "s2"), ("h3", "s1")]).build()
    view = View.whole(f)
    hosts = [d for d in range(f.device_count) if f.is_end[d]]
    racks = [FabricElement(f"rack{k}", np.array([hosts[k], 1 + k]), np.zeros(0, dtype=np.int64)) for k in range(2)]
    assert symmetry_of_elements(view, racks, frozenset()).orbits() == [[0], [1]]
    alone = [FabricElement(f"h{k}", np.array([hosts[k]]), np.zeros(0, dtype=np.int64)) for k in range(2)]
    assert symmetry_of_elements(view, alone, frozenset()).orbits() == [[0, 1]]
