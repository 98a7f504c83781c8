"""Elements that are exchanged by permutations which keep all that a requirement reads."""

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
BOXES = """fabric f {
  host node[5]: N
  switch box[5]: BOX
  connect node[n].nic to box[n].x
  connect box[i].x to box[i + 1].x where i < 4
  report survives any 1 of box
  report survives any 1 of x
}"""
LINE = """fabric f {
  host tray[5]: TR
  connect tray[t].gpu to tray[t + 1].gpu where t < 4
  report survives any 1 of tray
  report survives any 1 of tray with bisection >= 200Gbps
  report blast_radius of tray
}"""
RAILS = """fabric f {
  host node[6]: N3
  switch leaf[3]: SW
  connect node[n].nic[(1)] to leaf[(0)] where n < 5
  connect node[n].nic[(0)] to leaf[(1)]
  connect node[n].nic[(2)] to leaf[(2)] where n < 5
  connect node[(5)].nic[(2)] to leaf[(0)]
  connect node[(5)].nic[(1)] to leaf[(2)]
  report survives any 1 of leaf with throughput ring >= 50%
}"""
RING = """fabric f {
  group g[4] { host node: N; switch r: SW; switch b: SW; connect node.nic to r }
  switch core: SW
  connect g[i].b to core
  connect g[i].r to g[i].b where i < 3
  connect g[(0)].r to g[(3)].r
  connect g[(1)].r to g[(3)].r
  report survives any 1 of g[0].b, g[1].b with throughput ring >= 80%
  report survives any 1 of g[0].b, g[1].b with throughput shift 1 >= 80%
}"""
MODELS = """
model chip GV { port nv[2]: 200Gbps }
model host TR { chip gpu: GV }
model host N { port nic: 400Gbps; chip gpu: G }
model host N3 { port nic[3]: 400Gbps; chip gpu[2]: G; switch x: SW; connect gpu[g] to x { layer scaleup; medium trace } }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps }
model switch BOX { switch x: SW }
"""
CLOS = "fabric f { group g[2] { host n[2]: N; switch leaf: SW; connect n[k].nic to leaf }; switch spine[2]: SW; "
CLOS += "connect g[*].leaf to spine[*] each x 2\n"


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


def results(text: str, folder, *fail: str):
    design = compile_text(MODELS + text, folder, models=False, fail=fail).designs[0]
    return design, [r for r in design.results if r.requirement]


def test_exchanges_that_do_not_keep_what_is_read_prove_nothing(tmp_path):
    """Each was proved by exchanging elements without their contents, the order of hosts or their rails."""
    for text in (LINE, BOXES, RING, RAILS):
        _, found = results(text, tmp_path)
        assert {r.status for r in found if r.check == "survives"} == {"refuted"}, text


def test_lengths_are_read_where_a_time_is_asked(tmp_path):
    text = """
model host H { port nic: 100Gbps; chip gpu: G; latency 0ns }
model switch S { port p[1..8]: 100Gbps; latency 500ns }
fabric f {
  host node[4]: H
  switch leaf[2]: S
  switch spine[2]: S
  connect node[n].nic to leaf[n // 2] { length 1m }
  connect leaf[*] to spine[(0)] each { length 1km }
  connect leaf[*] to spine[(1)] each { length 1m }
  report survives any 1 of spine with latency <= 3us
  report survives any 1 of spine with allreduce 1kB <= 20us
  report survives any 1 of spine with diameter <= 2
}"""
    _, found = results(text, tmp_path)
    assert [r.status for r in found] == ["refuted", "refuted", "proved"]
    assert [r.witness["judged"] for r in found][2] == 1


def test_a_host_takes_its_chips_with_it_in_every_count(tmp_path):
    ring = "fabric f { host tray[8]: TR; connect tray[t].gpu to tray[(t + 1) % 8].gpu\n"
    _, found = results(ring + "".join(f"report survives any {n} of tray\n" for n in (1, 2, 3)) + "}", tmp_path)
    assert [r.status for r in found] == ["proved", "refuted", "refuted"] and found[0].witness["judged"] == 1


FAILURES = (
    ("any 1 of g.leaf to spine", "proved", 1, 8),
    ("any 3 links of g.leaf to spine", "proved", 4, 56),
    ("any 4 links of g.leaf to spine", "refuted", None, 70),
    ("any 1 ports of spine", "proved", 1, 8),
    ("any 1 ports of spine[0].p[1..2]", "proved", 1, 2),
    ("any 1 cables of g.leaf to spine", "proved", 1, 8),
    ("any 1 links of g.n to g.leaf", "proved", 1, 4),
)


def test_links_ports_and_cables_fail(tmp_path):
    _, found = results(CLOS + "".join(f"report survives {asked}\n" for asked, *_ in FAILURES) + "}", tmp_path)
    for r, (asked, status, judged, sets) in zip(found, FAILURES, strict=True):
        assert (r.status, r.witness["sets"]) == (status, sets), asked
        assert judged is None or r.witness["judged"] == judged, asked


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
    design, _ = results(text, tmp_path_factory.mktemp("orbits"))
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
