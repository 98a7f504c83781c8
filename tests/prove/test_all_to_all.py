"""All-to-all throughput, against one linear program over all arcs."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.all_to_all import all_to_all, all_to_all_bounds, cut_and_route_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.fabrics import multiplane, rail_only, random_chips, random_fabric, random_layers, superpod, torus, without
from tests.harness import compile_text
from tests.prove.judges import judged_throughput, most_throughput

ALL = BareWord("all_to_all")
MAKERS = {
    "hosts": lambda seed: random_fabric(seed, 2 + seed % 4, 2 + seed % 4, 1 + seed % 3, seed % 9),
    "chips": lambda seed: random_chips(seed, 5, 9),
    "layers": random_layers,
}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(MAKERS)))
def test_throughput_against_one_linear_program(seed, kind):
    """The true rate is between the bounds of every method and limit of work; together the methods meet there."""
    view = View.whole(MAKERS[kind](seed).build())
    count = len(view.units)
    if not 2 <= count <= 6:
        return
    source, target = np.nonzero(1 - np.eye(count, dtype=np.int64))
    best = most_throughput(view.fabric, TrafficDemand(source, target, np.ones(len(source), dtype=np.int64)))
    few = (replace(view, budget=replace(DEFAULT, **x)) for x in ({"uniform_pairs": 0}, {"combination_arcs": 0}))
    flow, whole, *rest = all_to_all(view), all_to_all_bounds(view), *map(cut_and_route_bounds, (view, *few))
    for found in (flow, whole, *rest):
        if found is not None:
            grain = found.net.grain
            assert 0 < found.lower * grain <= best * (1 + 1e-6) and best <= float(found.upper * grain) * (1 + 1e-6)
    if best > 1:
        assert flow is not None and float(flow.lower) >= 0.9 * float(flow.upper)
        assert whole is not None and whole.lower == whole.upper and whole.lower.denominator < 10_000
        assert rest[0] is not None


@pytest.mark.parametrize(("sizes", "most"), [((6, 6), 1.001), ((3, 4, 5), 1.2)])
def test_all_to_all_of_a_torus_without_its_symmetry(sizes, most):
    f = torus(*sizes).build()
    found, exact = cut_and_route_bounds(View.whole(f)), judged_throughput(f, ALL)
    assert found.lower <= exact.upper * found.top and exact.lower * found.top <= found.upper <= found.lower * Fraction(most)


def test_all_to_all_is_answered_above_the_limit():
    """A tree, exactly, by what its tops spread; hosts that meet nowhere have no answer."""
    small = replace(DEFAULT, uniform_work=0)
    thin = superpod(2, 8, 2, 2, uplinks=4, omit_last=False, manager=False).build()
    found, exact = (judged_throughput(x, ALL, budget=small) for x in (thin, superpod(4, 4, 4, 4).build()))
    assert (exact.status, exact.value) == ("proved", 1)
    assert found.status in ("proved", "bounded") and 0 < found.lower <= found.upper < 1
    alone = without(superpod(1, 2, 1, 1, omit_last=False, manager=False).build(), [0])
    assert judged_throughput(alone, ALL, budget=small).status == "skipped"


@pytest.mark.parametrize("made", [multiplane(2, 8), superpod(2, 8, 2, 4, uplinks=4), rail_only(4)], ids=lambda b: b.name)
def test_all_to_all_of_a_large_network(made):
    """Twins first, and the same answer."""
    exact, found = (judged_throughput(made.build(), ALL, budget=b) for b in (DEFAULT, replace(DEFAULT, combination_arcs=0)))
    assert exact.lower <= found.upper and found.lower <= exact.upper and found.upper <= found.lower * Fraction(11, 10)


ROUTED = """
model chip CORES {{ port tni: {own}Gbps }}
model switch ROUTER {{ port out[4]: 10Gbps; port tni: {own}Gbps }}
model chip NODE {{ port out[4]: 10Gbps }}
fabric routed {{
  chip node[{x}, {y}]: CORES
  switch router[{x}, {y}]: ROUTER
  connect node[i, j] to router[i, j].tni {{ medium trace }}
  connect router[*, *].out torus
  report throughput all_to_all
  report bisection
}}
fabric alone {{
  chip node[{x}, {y}]: NODE
  connect node[*, *] torus
  report throughput all_to_all
  report bisection
}}
"""


@pytest.mark.parametrize(("x", "y", "own"), [(4, 4, 3), (4, 4, 15), (5, 3, 25), (6, 3, 40)])
def test_a_node_behind_a_router_injects_its_own_rate_at_most(x: int, y: int, own: int, tmp_path: Path) -> None:
    """What nodes send has no part in what they pass on: all to all is the least of their rates and what the torus carries without
    a limit, and as much crosses a split as the torus carries or a half sends."""
    made = compile_text(ROUTED.format(x=x, y=y, own=own), tmp_path, models=False).designs
    share = {(d.name, r.check): Fraction(r.value) for d in made for r in d.results if r.check in ("throughput", "bisection")}
    own_rate, whole = x * y * own, x * y * 40
    assert share["routed", "throughput"] * own_rate == min(Fraction(own_rate), share["alone", "throughput"] * whole)
    half = x * y // 2
    assert share["routed", "bisection"] * half * own <= min(share["alone", "bisection"] * half * 40, Fraction(half * own))
