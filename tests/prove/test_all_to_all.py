"""All-to-all throughput, against one linear program over all arcs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove import all_to_all as alltoall
from tdsl.prove.all_to_all import all_to_all, all_to_all_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.linear import solve_multicommodity_flow
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.fabrics import multiplane, rail_only, random_chips, random_fabric, random_layers, superpod, torus, without
from tests.harness import compile_text, places
from tests.prove.judges import judged_throughput, most_throughput

SEEDS = st.integers(0, 10**6)


def exact_rate(f):
    """All arcs and all sources in one linear program: the greatest rate of all pairs, in bit/s."""
    view = View.whole(f)
    net = unit_network(view)
    g = UnitGraph.of(view, net, quotient=False)
    units, n, m = np.flatnonzero(g.weight).tolist(), g.nodes, len(g.network.head)
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    rate = h.addVariable(obj=-1)
    flow = {
        s: [h.addVariable(0, highspy.kHighsInf if g.forwards[t] or t == s else 0) for t in g.network.tail.tolist()] for s in units
    }
    ends = list(zip(g.network.tail.tolist(), g.network.head.tolist(), strict=True))
    for s in units:
        for v in range(n):
            if v != s:
                into = sum(flow[s][i] for i, (_, b) in enumerate(ends) if b == v)
                out = sum(flow[s][i] for i, (a, _) in enumerate(ends) if a == v)
                if any(v in e for e in ends) or v in units:
                    h.addConstr(into - out == (rate if v in units else 0) + 0 * rate)
    for i in range(m):
        h.addConstr(sum(flow[s][i] for s in units) <= int(g.network.capacity[i]))
    h.run()
    return -h.getInfo().objective_function_value * net.grain


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans())
def test_throughput_against_one_linear_program(seed, chips):
    f = (random_chips(seed, 5, 9) if chips else random_fabric(seed, 4, 5, 2, 6)).build()
    if len(View.whole(f).units) < 2:
        return
    found = all_to_all(View.whole(f))
    if found is None:
        return
    true = exact_rate(f)
    low, high = float(found.lower * found.net.grain), float(found.upper * found.net.grain)
    assert low <= true * (1 + 1e-6) and high >= true * (1 - 1e-6)
    assert low >= 0.9 * high


def test_all_to_all_in_a_design(tmp_path):
    text = """
fabric f {
  chip c[4, 4]: GPU
  connect c[*, *] torus
  require throughput all_to_all >= 46%
  require throughput all_to_all >= 60%
}
"""
    found = compile_text(text, tmp_path)
    assert places(found.findings) == [("E0420", 6)]
    facts = [r.facts() for r in found.designs[0].results if r.check == "throughput"]
    assert [(x["status"], x["exact"], x["value"]) for x in facts] == [("proved", True, 15 / 32), ("refuted", True, 15 / 32)]


@pytest.mark.parametrize("seed", range(25))
def test_all_to_all_is_exact(seed: int) -> None:
    """Both ends meet at the optimum of the linear program over arcs."""
    view = View.whole(random_chips(seed, chips=6, cables=14).build())
    if not (view.label[view.units] == view.label[view.units[0]]).all():
        pytest.skip("not all of them are joined")
    found = all_to_all_bounds(view)
    assert found is not None
    graph = UnitGraph.of(view, found.net)
    nodes = graph.unit_node.tolist()
    flow, _ = solve_multicommodity_flow(graph.network, {s: {t: 1 for t in nodes if t != s} for s in nodes}, 20_000)
    rate = float(flow[0][graph.network.tail == nodes[0]].sum()) / (len(nodes) - 1)
    assert found.lower == found.upper
    assert abs(float(found.lower) - rate) < 1e-6
    assert found.lower.denominator < 10_000 and isinstance(found.lower, Fraction)


@pytest.mark.parametrize(("maker", "seed"), [(random_layers, 55), (random_layers, 60), (random_layers, 64)])
def test_all_to_all_of_small_fabrics_is_settled(maker: object, seed: int) -> None:
    """By a linear program, where routes and prices leave an interval."""
    view = View.whole(maker(seed).build())  # type: ignore[operator]
    first, found = all_to_all(view), all_to_all_bounds(view)
    assert first is not None and found is not None
    assert first.lower < first.upper and first.lower <= found.lower == found.upper <= first.upper


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, 2), st.sampled_from(["routes", "hubs"]))
def test_all_to_all_above_the_limit_of_work(seed, which, by):
    """Both ends hold: the true rate, by one linear program, is between them."""
    f = (random_fabric(seed, 2 + seed % 4, 2 + seed % 3, 1 + seed % 3, seed % 9), random_chips(seed, 5, 9), random_layers(seed))[
        which
    ].build()
    limits = {"uniform_pairs": 0} if seed % 2 else {"combination_arcs": 0}
    view = View.whole(f, replace(DEFAULT, **limits) if by == "hubs" else DEFAULT)
    count = len(view.units)
    if not 2 <= count <= 8:
        return
    found = alltoall.cut_and_route_bounds(view)
    source, target = np.nonzero(1 - np.eye(count, dtype=np.int64))
    best = most_throughput(f, TrafficDemand(source, target, np.ones(len(source), dtype=np.int64)))
    if found is None:
        assert best == pytest.approx(0, abs=1e-6) or by == "hubs"
        return
    grain = found.net.grain
    assert 0 < found.lower * grain <= best * (1 + 1e-6) and best <= float(found.upper * grain) * (1 + 1e-6)


@pytest.mark.parametrize(("sizes", "most"), [((8, 8), 1.001), ((3, 4, 5), 1.2)])
def test_all_to_all_of_a_torus_without_its_symmetry(sizes, most):
    found = alltoall.cut_and_route_bounds(View.whole(torus(*sizes).build()))
    exact = judged_throughput(torus(*sizes).build(), BareWord("all_to_all"))
    assert found.lower <= exact.upper * found.top and exact.lower * found.top <= found.upper <= found.lower * Fraction(most)


def test_all_to_all_is_answered_above_the_limit():
    """A tree, exactly, by what its tops spread; hosts that meet nowhere have no answer."""
    small = replace(DEFAULT, uniform_work=0)
    f = superpod(2, 8, 2, 2, uplinks=4, omit_last=False, manager=False).build()
    found, exact = (judged_throughput(x, BareWord("all_to_all"), budget=small) for x in (f, superpod(4).build()))
    assert (exact.status, exact.value) == ("proved", 1)
    assert found.status in ("proved", "bounded") and 0 < found.lower <= found.upper < 1
    alone = without(superpod(1, 2, 1, 1, omit_last=False, manager=False).build(), [0])
    assert judged_throughput(alone, BareWord("all_to_all"), budget=small).status == "skipped"


@pytest.mark.parametrize(
    "make", [lambda: multiplane(2, 8, 2, 2), lambda: superpod(2, 8, 2, 4, uplinks=4), lambda: rail_only(8, 4)]
)
def test_all_to_all_of_a_large_network(make):
    """Twins first, and the same answer."""
    f = make().build()
    exact = judged_throughput(f, BareWord("all_to_all"))
    found = judged_throughput(f, BareWord("all_to_all"), budget=replace(DEFAULT, combination_arcs=0))
    assert exact.lower <= found.upper and found.lower <= exact.upper and found.upper <= found.lower * Fraction(11, 10)
