"""Elements that are exchanged by permutations which keep all that a requirement reads.

Designs that exchanges once proved wrongly are in `tests/verify/checks/judged`: `exchanges_…`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.element_symmetry import Symmetry, symmetry_of_elements
from tdsl.prove.elements import elements_of_claim, view_after_failures
from tdsl.prove.symmetry import Reads, permutation_keeps_view
from tdsl.prove.view import View
from tests.fabrics import Builder, selector, superpod, torus, without
from tests.harness import compile_text

NOTHING = np.zeros(0, dtype=np.int64)
MODELS = """
model host N { port nic: 400Gbps; chip gpu: G }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps }
"""


@pytest.mark.parametrize("generators", ["", "10234", "12034", "10324 23014", "12340", "01243 10234"])
def test_one_of_every_class_of_sets(generators: str) -> None:
    """The lowest set of every class under all permutations that some generate."""
    given = [tuple(map(int, g)) for g in generators.split()]
    group = [tuple(range(5))]
    for g in group:
        group += {tuple(h[x] for x in g) for h in given} - {*group}
    found = Symmetry(5, tuple(np.array(g) for g in given))
    for size in range(1, 6):
        every = list(combinations(range(5), size))
        classes = sorted({min(tuple(sorted(g[x] for x in chosen)) for g in group) for chosen in every})
        assert found.sets(size) == found.sets(size, replace(DEFAULT, symmetry_sets=len(every))) == classes
        assert found.sets(size, replace(DEFAULT, symmetry_sets=len(every) - 1)) is None
    assert found.pairs() == found.sets(2)
    assert [tuple(x) for x in found.orbits()] == sorted({tuple(sorted({g[x] for g in group})) for x in range(5)})


def _facts(view: View, chosen, reads: Reads):
    left = view_after_failures(view, list(chosen))
    f = view.fabric
    columns = [f.device_set[left.a], f.device_set[left.b], f.link_rate[left.rows]]
    if "lengths" in reads:
        columns.append(f.link_statement[left.rows])
    return sorted(zip(*(c.tolist() for c in columns), strict=True)), len(np.unique(left.label[left.units]))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_orbits_of_random_fabrics_hide_no_failure(tmp_path_factory, seed, count):
    """Every set of failed elements of an orbit gives the same answer as its representative, whatever is read."""
    rng = np.random.default_rng(seed)
    groups, per, spines = (int(x) for x in rng.integers(2, 4, size=3))
    text = f"fabric f {{ group g[{groups}] {{ host n[{per}]: N; switch l: SW; connect n[k].nic to l }}\n switch s[{spines}]: SW\n"
    for i in range(groups):
        for j in range(spines):
            if rng.random() < 0.8:
                text += f"connect g[({i})].l to s[({j})] x {int(rng.integers(1, 3))} {{ length {int(rng.integers(1, 3))}m }}\n"
    text += "report blast_radius of s }"
    (design,) = compile_text(MODELS + text, tmp_path_factory.mktemp("orbits"), verify=False, models=False).designs
    view = View.whole(design.fabric)
    named = elements_of_claim(view, design.claims[0])
    if len(named) < count:
        return
    for reads in (frozenset(), frozenset({"lengths"}), frozenset({"order"}), frozenset({"names", "rails"})):
        found = symmetry_of_elements(view, named, reads)
        assert all(permutation_keeps_view(view, image, reads) for image in found.images)
        kept = {tuple(s) for s in found.sets(count) or []}
        for chosen in combinations(range(len(named)), count):
            answer = _facts(view, [named[i] for i in chosen], reads)
            assert any(_facts(view, [named[i] for i in k], reads) == answer for k in kept)


def test_orbits_of_a_superpod_whole_and_broken():
    f = superpod(units=3, nodes=4, rails=2, spines=2, omit_last=False, manager=False).build()
    view, grid = View.whole(f), torus(4, 4).build()
    for path in ("spine", "su.leaf", "su.node", "su"):
        found = symmetry_of_elements(view, selector(f, path).elements, frozenset())
        assert len(found.orbits()) == 1 and len(found.pairs()) <= 2
        assert all(permutation_keeps_view(view, image) for image in found.images)
    broken = View.whole(without(f, [int(np.flatnonzero(f.is_switch[f.device_a])[0])]))
    orbits = symmetry_of_elements(broken, selector(f, "su.leaf").elements, frozenset()).orbits()
    assert sorted(map(len, orbits)) == [1, 1, 4]  # the leaf with the lost link, the other of its unit, the rest
    assert len(symmetry_of_elements(View.whole(grid), selector(grid, "chip").elements, frozenset()).orbits()) == 1


def lines(rates: list[int], statements: list[int]) -> Fabric:
    """Two hosts, and parallel links between them with these rates, by these statements."""
    b = Builder("lines")
    host = b.devices("h", b.model("host", "H", {"p": 40}, accelerators=1), 2)
    for _ in range(max(statements) + 1):
        b.connect("connect")
    for rate, statement in zip(rates, statements, strict=True):
        b.link(b.free(host, 0), b.free(host, 1), rate, statement=statement)
    return b.build()


@pytest.mark.parametrize(
    ("rates", "statements", "orbits"),
    [
        ([1, 1, 1, 1], [0, 0, 0, 0], [[0, 1, 2, 3]]),
        ([1, 2, 1, 2], [0, 0, 0, 0], [[0, 2], [1, 3]]),
        ([1, 1, 1, 1], [0, 1, 1, 0], [[0, 3], [1, 2]]),
        ([1, 2, 3, 4], [0, 0, 0, 0], [[0], [1], [2], [3]]),
    ],
)
def test_parallel_links_are_exchanged(rates: list[int], statements: list[int], orbits: list[list[int]]) -> None:
    """Those of one rate and one statement; in pairs, too."""
    f = lines(rates, statements)
    view = View.whole(f)
    single = [FabricElement(str(i), NOTHING, np.array([i])) for i in range(4)]
    for one in (False, True):
        assert symmetry_of_elements(view, single, frozenset(), single=one).orbits() == orbits
    assert symmetry_of_elements(view, single, None).orbits() == [[0], [1], [2], [3]]
    assert symmetry_of_elements(view, single[:1], frozenset()).orbits() == [[0]]
    pairs = [FabricElement("a", NOTHING, np.array([0, 1])), FabricElement("b", NOTHING, np.array([2, 3]))]
    kinds = [sorted(zip(rates[i : i + 2], statements[i : i + 2], strict=True)) for i in (0, 2)]
    assert symmetry_of_elements(view, pairs, frozenset()).orbits() == ([[0, 1]] if kinds[0] == kinds[1] else [[0], [1]])
    overlap = [FabricElement("a", NOTHING, np.array([0, 1])), FabricElement("b", NOTHING, np.array([1, 2]))]
    assert symmetry_of_elements(view, overlap, frozenset()).orbits() == [[0], [1]]
