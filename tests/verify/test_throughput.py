"""Throughput of patterns against a linear program over links, and maximum flow by networkx, on fabrics made at random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import highspy
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove import all_to_all as alltoall
from tdsl.prove import concurrent_flow as multiflow
from tdsl.prove.bound import ArcLengths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand, UnfitDemand, demand_of
from tdsl.prove.terminals import offer_of_demand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tdsl.verify.check import checks_by_name
from tests.fabrics import (
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    selector,
    superpod,
    torus,
    without,
)  # fmt: skip
from tests.harness import compile_text
from tests.verify import judges

SEEDS = st.integers(0, 10**6)


def judged(f, *args, budget=DEFAULT, **given):
    asked = claim(f, "throughput", args=args, **given)
    return checks_by_name()["throughput"].judge(View.whole(f, budget), asked)


def optimum(f, demand):
    """The greatest factor by which demands between units flow together, by one commodity a demand over single links."""
    view = View.whole(f)
    units, inner = view.units.tolist(), judges.forwarders(f)
    nodes = sorted({*units, *inner})
    arcs = [
        (x, y, int(r)) for (a, b), r in zip(judges.pairs(f), f.link_rate.tolist(), strict=True)
        for x, y in ((a, b), (b, a)) if x != y and {a, b} <= set(nodes)
    ]  # fmt: skip
    unit = float(np.gcd.reduce(f.link_rate))
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    lam = h.addVariable(0, highspy.kHighsInf)
    used = [[] for _ in arcs]
    for s, t, w in zip(demand.source.tolist(), demand.target.tolist(), demand.amount.tolist(), strict=True):
        a, b = units[s], units[t]
        open_to = [i for i, (x, y, _) in enumerate(arcs) if (x in inner or x == a) and x != b and y != a]
        flow = {i: h.addVariable(0, highspy.kHighsInf) for i in open_to}
        for i, v in flow.items():
            used[i].append(v)
        for v in nodes:
            if v != a:
                into = [x for i, x in flow.items() if arcs[i][1] == v]
                out = [x for i, x in flow.items() if arcs[i][0] == v]
                if v == b:
                    h.addConstr(sum(into) - w * lam == 0) if into else h.addConstr(lam * 1.0 == 0)
                elif into or out:
                    h.addConstr(sum(into) - sum(out) == 0)
    for (_, _, room), vs in zip(arcs, used, strict=True):
        if vs:
            h.addConstr(sum(vs) <= room / unit)
    h.maximize(lam)
    return h.val(lam) * unit


def agrees(f, demand):
    view = View.whole(f)
    asked = offer_of_demand(view, demand)
    if asked is None:
        return
    best = optimum(f, demand)
    found = asked.bounds()
    if found is None:
        assert best == pytest.approx(0, abs=1e-6)
        return
    assert found.lower <= found.upper <= asked.top
    low, high = (float(x * asked.grain) for x in (found.lower, found.upper))
    assert low == pytest.approx(best, rel=1e-6) and high == pytest.approx(best, rel=1e-6)
    added_up(asked, found)


def added_up(asked, found):
    """What is shown is so: no link is overloaded, and the lengths say the upper bound, by networkx."""
    flows = asked.network
    for arc, amount in found.proof_lower.load.items():
        assert amount * found.lower <= int(flows.capacity[arc])
    if isinstance(found.proof_upper, ArcLengths):
        g = nx.DiGraph()
        for arc, length in enumerate(found.proof_upper.length.tolist()):
            g.add_edge(int(flows.tail[arc]), int(flows.head[arc]), length=length)
        spent = 0
        for (s, t), w in asked.demands.items():
            closed = [v for v in g if not flows.forwards[v] and v not in (s, t)]
            spent += w * nx.shortest_path_length(g.subgraph(set(g) - set(closed)), s, t, weight="length")
        assert found.upper == Fraction(int(np.dot(flows.capacity, found.proof_upper.length.tolist())), spent)


def random_demand(seed, count):
    rng = np.random.default_rng(seed)
    square = rng.integers(0, 4, size=(count, count)) * (rng.random((count, count)) < 0.6)
    np.fill_diagonal(square, 0)
    s, t = np.nonzero(square)
    return TrafficDemand(s, t, square[s, t]) if len(s) else TrafficDemand(np.array([0]), np.array([1]), np.array([1]))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 5), st.integers(2, 4), st.integers(1, 3), st.integers(0, 9), st.integers(0, 1))
def test_hosts_against_a_linear_program(seed, switches, hosts, nics, cables, loose):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    if len(View.whole(f).units) > 1:
        agrees(f, random_demand(seed, len(View.whole(f).units)))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(3, 6), st.integers(3, 12))
def test_chips_against_a_linear_program(seed, chips, cables):
    f = random_chips(seed, chips, cables).build()
    if len(View.whole(f).units) > 2:
        agrees(f, random_demand(seed, len(View.whole(f).units)))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_damaged_trees_against_a_linear_program(seed, by):
    f = superpod(2, 3, 2, 2, uplinks=2, omit_last=False, manager=False).build()
    f = without(f, np.random.default_rng(seed).integers(f.link_count, size=2).tolist())
    count = np.arange(6)
    agrees(f, TrafficDemand(count, (count + by) % 6, np.ones(6, dtype=np.int64)))


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.booleans(), st.booleans())
def test_where_there_is_no_linear_program_over_arcs(seed, by_paths, chips):
    """Bounds by multiplicative weights hold, and are near; those by paths are nearer."""
    f = random_chips(seed, 6, 14).build() if chips else random_fabric(seed, 5, 5, 2, 9, seed % 2).build()
    view = View.whole(f)
    asked = offer_of_demand(view, random_demand(seed, len(view.units)))
    small = replace(DEFAULT, arc_program_cells=0)
    found = asked.bounds(small if by_paths else replace(small, path_program_rows=0)) if asked else None
    if found is not None:
        exact = asked.bounds()
        assert found.lower <= exact.upper and exact.lower <= found.upper
        assert found.upper <= (Fraction(102, 100) if by_paths else 2) * found.lower
        brought(asked, found)
        added_up(asked, found)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, 2), st.booleans())
def test_above_the_limit_of_work_both_ends_hold(seed, which, trees):
    """Shortest paths alone, or a few trees: bounds around the true ones, from loads that bring every demand where it belongs."""
    made = (random_fabric(seed, 2 + seed % 5, 2 + seed % 4, 1 + seed % 3, seed % 10, seed % 2), random_chips(seed, 6, 12))
    f = (*made, random_layers(seed))[which].build()
    view = View.whole(f)
    if len(view.units) < 3:
        return
    asked = offer_of_demand(view, random_demand(seed, len(view.units)))
    if asked is None or not asked.demands:
        return
    best = asked.bounds()
    small = replace(DEFAULT, routing_work=0)
    found = asked.bounds(replace(small, combination_arcs=0, quotient_ratio=10**9) if trees else small)
    assert (found is None) == (best is None)
    if found is None or best is None:
        return
    assert 0 < found.lower <= best.upper and best.lower <= found.upper <= asked.top
    added_up(asked, found)
    brought(asked, found)


def brought(asked, found):
    """Every demand leaves and arrives."""
    over = dict.fromkeys(range(asked.network.nodes), Fraction(0))
    for arc, amount in found.proof_lower.load.items():
        assert amount > 0
        over[int(asked.network.tail[arc])] -= amount
        over[int(asked.network.head[arc])] += amount
    for (s, t), w in asked.demands.items():
        over[s] += w
        over[t] -= w
    assert not any(over.values())


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
    best = optimum(f, TrafficDemand(source, target, np.ones(len(source), dtype=np.int64)))
    if found is None:
        assert best == pytest.approx(0, abs=1e-6) or by == "hubs"
        return
    grain = found.net.grain
    assert 0 < found.lower * grain <= best * (1 + 1e-6) and best <= float(found.upper * grain) * (1 + 1e-6)


@pytest.mark.parametrize(("sizes", "most"), [((8, 8), 1.001), ((3, 4, 5), 1.2)])
def test_all_to_all_of_a_torus_without_its_symmetry(sizes, most):
    found = alltoall.cut_and_route_bounds(View.whole(torus(*sizes).build()))
    exact = judged(torus(*sizes).build(), BareWord("all_to_all"))
    assert found.lower <= exact.upper * found.top and exact.lower * found.top <= found.upper <= found.lower * Fraction(most)


def test_all_to_all_is_answered_above_the_limit():
    """A tree, exactly, by what its tops spread; hosts that meet nowhere have no answer."""
    small = replace(DEFAULT, uniform_work=0)
    f = superpod(2, 8, 2, 2, uplinks=4, omit_last=False, manager=False).build()
    found, exact = (judged(x, BareWord("all_to_all"), budget=small) for x in (f, superpod(4).build()))
    assert (exact.status, exact.value) == ("proved", 1)
    assert found.status in ("proved", "bounded") and 0 < found.lower <= found.upper < 1
    alone = without(superpod(1, 2, 1, 1, omit_last=False, manager=False).build(), [0])
    assert judged(alone, BareWord("all_to_all"), budget=small).status == "skipped"


def test_a_large_torus_has_an_interval():
    """Shortest paths of 4,096 chips are too much work: the answer is bounds, not `skipped`."""
    small = replace(DEFAULT, combination_work=10**6, hub_work=5 * 10**6)
    found = judged(torus(16, 16, 16).build(), BareWord("shift"), 2056, budget=small)
    assert found.status == "bounded" and 0 < found.lower < found.upper <= 1


def test_a_simplex_that_is_stopped_leaves_bounds_that_hold(monkeypatch):
    f = without(torus(3, 4).build(), [0, 5])
    exact = judged(f, BareWord("ring"))
    monkeypatch.setattr(multiflow, "_round_arc_program", lambda *_: iter(()))
    assert judged(f, BareWord("ring")).status == "bounded"  # so that the program has something to say
    monkeypatch.undo()
    found = judged(f, BareWord("ring"), budget=replace(DEFAULT, simplex_work=1))
    assert found.lower <= exact.lower <= found.upper and float(found.upper - found.lower) < 1e-3


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 6), st.integers(2, 5), st.integers(1, 3), st.integers(0, 9))
def test_from_one_set_to_another_against_networkx(seed, switches, hosts, nics, cables):
    f = random_fabric(seed, switches, hosts, nics, cables).build()
    view = View.whole(f)
    if len(view.units) < 2:
        return
    whole = selector(f, f.sets[int(f.device_set[view.units[0]])].path)
    kept = [e for e in whole.elements if np.isin(e.devices, view.units).all()]
    split = 1 + seed % (len(kept) - 1) if len(kept) > 1 else 0
    a, b = (replace(whole, elements=tuple(x)) for x in (kept[:split], kept[split:]))
    found = judged(f, of=(a,), of_to=(b,))
    inner, g = judges.forwarders(f), nx.DiGraph()
    g.add_nodes_from("ab")
    here, there = ({int(e.devices[0]) for e in s.elements} for s in (a, b))
    for (x, y), r in zip(judges.pairs(f), f.link_rate.tolist(), strict=True):
        for u, v in ((x, y), (y, x)):
            u, v = ("a" if w in here else "b" if w in there else w if w in inner else None for w in (u, v))
            if u is not None and v is not None and u != v:
                g.add_edge(u, v, capacity=r + g.get_edge_data(u, v, {"capacity": 0})["capacity"])
    expected = nx.maximum_flow_value(g, "a", "b")
    if found.status == "skipped":
        assert expected == 0
        return
    assert (found.status, found.measures["lower_bps"]) == ("proved", expected) and found.witness["cut_bps"] == expected


# ---------------------------------------------------------------- figures


@pytest.mark.parametrize("pattern", [("ring",), ("shift", 1), ("shift", 32), ("shift", 50), ("rail_allreduce",)])
def test_a_full_tree_carries_all_patterns(pattern):
    f = superpod(4).build()
    found = judged(f, *(BareWord(p) if isinstance(p, str) else p for p in pattern))
    assert (found.status, found.value, found.measures["lower_bps"]) == ("proved", 1, 127 * 8 * 400e9)


def test_half_a_tree_carries_half_of_what_leaves_it():
    f = superpod(2, 8, 2, 2, uplinks=4, omit_last=False, manager=False).build()
    assert judged(f, BareWord("shift"), 8).value == Fraction(1, 2)
    assert judged(f, BareWord("ring")).value == 1  # one of eight leaves a unit


def test_rails_of_their_own():
    f = rail_only(hosts=8, rails=4).build()
    for args in (("ring",), ("rail_allreduce",)):
        assert judged(f, BareWord(args[0])).value == 1
    crossed = superpod(1, 8, 4, 1, uplinks=2, omit_last=False, manager=False).build()
    assert judged(crossed, BareWord("rail_allreduce")).value == 1  # stays on each leaf
    assert judged(f, BareWord("rail_allreduce"), through="scaleup").value == 1
    assert (
        judged(rail_only(hosts=8, rails=4, scaleup=False).build(), BareWord("rail_allreduce"), through="scaleup").status
        == "skipped"
    )


def test_planes_alone_and_together():
    f = multiplane(4, 16, 2, 2).build()
    found = judged(f, BareWord("shift"), 8)
    assert found.status == "proved" and len(found.witness["planes"]) == 4
    plane = found.witness["planes"][0]
    assert float(found.value) == pytest.approx(plane[0])


def test_a_torus_shift_by_hand():
    """On an 8-ring each chip sends by both ways to the one opposite: 4 hops of 2 links each."""
    f = torus(8).build()
    found = judged(f, BareWord("shift"), 4)
    assert (found.status, found.value) == ("proved", Fraction(1, 4))
    assert judged(f, BareWord("ring")).value == Fraction(1, 1) * Fraction(8, 7) / 2  # 1 hop, or 7 the other way round


def test_larger_tori_are_bounded():
    for args, most in (((BareWord("ring"),), 1.1), ((BareWord("shift"), 3), 1.1)):
        found = judged(torus(12, 12).build(), *args)
        assert 0 < found.lower <= found.upper <= found.lower * Fraction(most)
    assert judged(torus(4, 4).build(), BareWord("rail_allreduce")).status == "skipped"


def test_layers():
    for seed in range(12):
        f = random_layers(seed).build()
        if len(View.whole(f).units) > 1:
            found = judged(f, BareWord("ring"))
            assert found.status in ("proved", "bounded", "skipped")
            if found.status != "skipped":
                apart = "do not reach each other" in found.text
                assert apart == (found.upper == 0)
                assert apart or (0 < found.lower <= found.upper <= 1 and found.upper <= 2 * found.lower)


# ---------------------------------------------------------------- patterns and files


def asked_of(tmp_path, f, *args):
    """A claim that stands in a file of that folder."""
    origin = Origin(SourceSpan(SourceFile(str(tmp_path / "design.fab"), "require"), 0, 7))
    return replace(claim(f, "throughput", args=args), origin=origin)


def test_matrices(tmp_path):
    f = superpod(1, 3, 2, 1, omit_last=False, manager=False).build()
    view = View.whole(f)
    (tmp_path / "m.csv").write_text("0, 1, 2.5\n# half\n0,0,0\n\n1,0,9\n")
    found = demand_of(view, asked_of(tmp_path, f, "m.csv"))
    assert [*zip(found.source.tolist(), found.target.tolist(), found.amount.tolist(), strict=True)] == [
        (0, 1, 10**6), (0, 2, 2_500_000), (2, 0, 10**6),
    ]  # fmt: skip
    names = [f.device_name(d) for d in view.units.tolist()]
    (tmp_path / "t.csv").write_text(f"from,to,amount\n{names[0]},2,1\n0,{names[2]},1\n1,1,5\n")
    found = demand_of(view, asked_of(tmp_path, f, "t.csv"))
    assert (found.source.tolist(), found.target.tolist(), found.amount.tolist()) == ([0], [2], [2 * 10**6])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,1\n1,0\n", "2 lines, and there are 3 hosts"),
        ("0,1,2\n1,0\n1,1,1\n", "m.csv:2: 2 fields"),
        ("0,1,2\n1,0,x\n1,1,1\n", "m.csv:2: 'x' is not a number"),
        ("0,1,2\n1,0,-1\n1,1,1\n", "m.csv:2: -1 is not an amount"),
        ("0,1,2\n1,0,1e99\n1,1,1\n", "m.csv:2: 1e99 is not an amount"),
        ("0,1,nan\n1,0,1\n1,1,1\n", "m.csv:1:"),
        ("5,0,0\n0,0,0\n0,0,1\n", "nobody sends"),
        ("from,to,amount\n0,9,1\n", "m.csv:2: '9' is none of the ends"),
        ("from,to,amount\n0,1\n", "m.csv:2: a line is"),
        ("", "0 lines"),
    ],
)
def test_matrices_that_are_none(tmp_path, text, said):
    f = superpod(1, 3, 2, 1, omit_last=False, manager=False).build()
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(UnfitDemand) as why:
        demand_of(View.whole(f), asked_of(tmp_path, f, "m.csv"))
    assert said in str(why.value)


def test_permutations_and_other_words(tmp_path, monkeypatch):
    f = superpod(1, 3, 2, 1, omit_last=False, manager=False).build()
    view = View.whole(f)
    (tmp_path / "p.csv").write_text("from,to\n0,1\n1,0\n2,2\n")
    found = demand_of(view, asked_of(tmp_path, f, BareWord("permutation"), "p.csv"))
    assert (found.source.tolist(), found.target.tolist()) == ([0, 1], [1, 0])
    (tmp_path / "q.csv").write_text("0,1\n2,1\n")
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe")
    wrong = [
        ((BareWord("permutation"), "q.csv"), "q.csv:2: 1 occurs twice"),
        ((BareWord("permutation"), "b.csv"), "not a text file"),
        ((BareWord("permutation"), "../q.csv"), "in the folder of the design"),
        (("/etc/passwd.csv",), "in the folder of the design"),
        ((BareWord("permutation"),), "takes a file"),
        ((BareWord("shift"),), "takes how far"),
        ((BareWord("shift"), 3), "to themselves"),
        ((BareWord("rings"),), "there is no pattern"),
        ((BareWord("ring"), 2), "nothing more"),
    ]
    for args, said in wrong:
        with pytest.raises(UnfitDemand) as why:
            demand_of(view, asked_of(tmp_path, f, *args))
        assert said in str(why.value)
    monkeypatch.setattr("tdsl.prove.demands.BYTES", 4)
    with pytest.raises(UnfitDemand, match="larger"):
        demand_of(view, asked_of(tmp_path, f, BareWord("permutation"), "p.csv"))


def test_no_pattern_is_no_figure(tmp_path):
    """Neither required nor reported alone: it is said what is missing."""
    body = "host h[2]: BOX\nswitch s: SW\nconnect h[*] to s spread x 1\nrequire throughput >= 80%\nreport throughput"
    text = f"fabric f {{\n{body}\n}}"
    result = compile_text(text, tmp_path)
    assert [(d.code, d.span.text) for d in result.findings if d.severity is Severity.ERROR] == [("E0420", "throughput >= 80%")]
    assert [r.status for r in result.designs[0].results if r.check == "throughput"] == ["skipped", "skipped"]


def test_a_shift_goes_round_and_round(tmp_path):
    text = f"fabric f {{ host n[6]: BOX; switch s: BIG; connect n[k].nic[i] to s; report throughput shift {6 * 10**30 + 1} }}"
    (far,) = [r for r in compile_text(text, tmp_path).designs[0].results if r.requirement]
    assert (far.status, far.value) == ("proved", 1)
