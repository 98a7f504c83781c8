"""Mean hops and latency against networkx, on fabrics made at random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, TIME, Quantity
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder, rail_only, superpod, torus
from tests.harness import compile_text
from tests.verify import judges


def meetings(f):
    """(unit, node) for every port of a unit that meets a forwarding device; a chip that forwards meets itself."""
    inner, units = judges.forwarders(f), set(View.whole(f).units.tolist())
    out = [(u, u) for u in sorted(units & inner)]
    for a, b in judges.pairs(f):
        out += [(u, v) for u, v in ((a, b), (b, a)) if u in units and u not in inner and v in inner]
    return out


def mean_hops(f):
    """By networkx, pair by pair."""
    g = judges.capacities(f, judges.forwarders(f))
    far = dict(nx.all_pairs_shortest_path_length(g))
    at = meetings(f)
    hops = [far[x][y] for u, x in at for v, y in at if u != v and y in far[x]]
    return (sum(hops), len(hops))


def judged(f, name="mean_hops"):
    return checks_by_name()[name].judge(View.whole(f), None)


def agrees(f):
    hops, pairs = mean_hops(f)
    found = judged(f)
    if not pairs:
        assert found.status == "skipped"
        return
    assert (found.status, found.value) == ("proved", Fraction(hops, pairs))
    assert found.witness["pairs"] == pairs


def test_mean_hops_by_hand():
    assert judged(torus(4, 4, 4).build()).value == Fraction(192, 63)
    assert judged(torus(8, 8).build()).value == Fraction(64 * 4, 63)
    agrees(superpod(2, 4, 2, 2).build())
    agrees(rail_only().build())
    f = superpod(4).build()  # 127 hosts: two leaves of one rail are 2 apart, as are all others
    found = judged(f)
    same = np.bincount([y for _, y in meetings(f)])
    hosts = 127 * 8
    pairs = hosts**2 - 127 * 64
    assert found.value == Fraction(2 * (pairs - int((same * (same - 1)).sum())), pairs)


def latency(f):
    """By Dijkstra over links, pair by pair of meetings."""
    inner = judges.forwarders(f)
    own = [Fraction(f.model_of(d).facts["latency"].amount) for d in range(f.device_count)]
    view = View.whole(f)
    length = [f.statements[int(s)].settings["length"].amount * Fraction(49, 10**10) for s in f.link_statement]
    g = nx.DiGraph()
    g.add_nodes_from(inner)
    units, ends = set(view.units.tolist()), []
    for (a, b), metres in zip(judges.pairs(f), length, strict=True):
        for u, v in ((a, b), (b, a)):
            if u in inner and v in inner and u != v:
                g.add_edge(u, v, weight=min(metres + own[v], g.get_edge_data(u, v, {"weight": 10**9})["weight"]))
            if u in units and u not in inner and v in inner:
                ends.append((v, metres + own[u]))
    ends += [(u, Fraction(0)) for u in units & inner]
    far = dict(nx.all_pairs_dijkstra_path_length(g))
    times = [
        e + own[x] + far[x][y] + w for i, (x, e) in enumerate(ends) for j, (y, w) in enumerate(ends) if i != j and y in far[x]
    ]
    return max(times, default=None)


def agrees_in_time(f):
    found, expected = judged(f, "latency"), latency(f)
    if expected is None:
        assert found.status == "skipped"
        return
    assert (found.status, found.value.amount) == ("modelled", expected)


@pytest.mark.parametrize(
    ("cables", "up", "far"), [((1, 50, 60), (2, 2, 2), 50 + 60 + 4), ((1, 60, 1, 50), (2, 2, 7, 7), 60 + 50 + 9)]
)
def test_the_farthest_two_are_at_equivalent_switches(cables, up, far):
    """Leaves with links to one spine, and a host each by cables of other lengths: the longest two are the farthest."""
    b = Builder("uneven")
    leaf = b.devices("leaf", b.model("switch", "LEAF", {"p": 4}), len(up))
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 4}), 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), len(up))
    for n, metres in enumerate(cables):
        b.connect("connect hosts", length=Quantity(Fraction(metres), LENGTH))
        b.link(b.port(node, n, "nic", 0), b.free(leaf, n))
    for n, metres in enumerate(up):
        b.connect("connect leaves", length=Quantity(Fraction(metres), LENGTH))
        b.link(b.free(leaf, n), b.free(spine, 0))
    f = b.build()
    f = replace(f, models=tuple(replace(m, facts={**m.facts, "latency": Quantity(Fraction(0), TIME)}) for m in f.models))
    agrees_in_time(f)
    assert judged(f, "latency").value.amount == far * Fraction(49, 10**10)


def test_delays_beyond_64_bits_are_not_added_up(tmp_path):
    """A switch that takes a hundred years is not a reason to fall over."""
    text = "model switch SLOW { port p[1..8]: 400Gbps; latency LONG }\nfabric f { host n[2]: BOX; switch s: SLOW\n"
    text += "connect n[*] to s spread x 2 { length 1000000km }\nreport latency }"
    for long, status in (("1ns", "modelled"), ("3153600000s", "skipped")):
        design = compile_text(text.replace("LONG", long), tmp_path).designs[0]
        (found,) = [r for r in design.results if r.requirement]
        assert found.status == status and ("too great" in found.reason) == (status == "skipped")
    assert found.value is None


def test_light_crosses_a_panel_by_two_cables(tmp_path):
    """Each as long as the connect says, also where the panel's ports are the first of all: 2 × 2 × 5 m and the switch's 1 ns."""
    text = (
        "model switch SLOW { port p[1..8]: 400Gbps; latency 1ns }\nfabric f { panel wall: PATCH; host n[2]: BOX; switch s: SLOW\n"
    )
    text += "connect n[*].nic[0] to s each via wall { length 5m }\nreport latency }"
    design = compile_text(text, tmp_path).designs[0]
    (found,) = [r for r in design.results if r.requirement]
    assert design.fabric.link_via_a.tolist()[0] == 0
    assert found.value.amount == Fraction(20 * 49 + 10, 10**10), (found, design.findings)
