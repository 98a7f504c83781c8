"""The second opinion's figures on small random networks, against plain definitions over all pairs of hosts."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import networkx as nx
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.verify.second import graph_figures
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import claim, random_chips, random_fabric, selector, torus
from tests.harness import each
from tests.verify import judges

LIMITS = Limits()


def drawn(seed: int) -> Fabric:
    """Two to five hosts with up to four ports at some switches, or chips."""
    rng = Random(seed)
    if seed % 5 == 4:
        return random_chips(seed, rng.randint(2, 6), rng.randint(4, 14)).build()
    hosts, loose = rng.choice((2, 2, 3, 4, 5)), rng.choice((0, 0, 0, 2))
    return random_fabric(seed, rng.randint(1, 6), hosts, rng.randint(1, 4), rng.randint(3, 24), loose).build()


def disjoint(f: Fabric, u: int, v: int) -> int:
    """Paths of two hosts that share no device; links between the two are one."""
    inner = judges.forwarders(f)
    g = nx.Graph([*judges.capacities(f, inner | {u, v}).edges()])
    g.add_nodes_from((u, v))
    linked = g.has_edge(u, v)
    if linked:
        g.remove_edge(u, v)
    return int(nx.node_connectivity(g, u, v)) + linked


def redundancies_agree(seed: int) -> None:
    f = drawn(seed)
    w = WiringGraph.whole(f)
    units = judges.units(f)
    if seed % 5 == 4 and (not w.direct or set(units) != set(w.units)):
        return
    found = graph_figures.edge_redundancy_by_networkx(w, None, LIMITS)
    assert (found.lower, found.upper) == (judges.redundancy(f), judges.redundancy(f))
    found = graph_figures.node_redundancy_by_networkx(w, None, LIMITS)
    assert found.lower == found.upper == min(disjoint(f, u, v) for u, v in combinations(units, 2))


def test_redundancies() -> None:
    each(range(70), redundancies_agree)


def hops(f: Fabric) -> Fraction | None:
    """The mean distance of ports of different hosts that reach each other, switch to switch."""
    inner, units = judges.forwarders(f), judges.units(f)
    g = judges.capacities(f, inner)
    ends = [(b, a) for a, b in [*judges.pairs(f), *((b, a) for a, b in judges.pairs(f))] if a in units and b in inner]
    far = dict(nx.all_pairs_shortest_path_length(g))
    every = [far[x][y] for x, u in ends for y, v in ends if u != v and y in far[x]]
    return Fraction(sum(every), len(every)) if every else None


def distances_agree(seed: int) -> None:
    f = drawn(seed)
    if seed % 5 == 4:
        return
    w = WiringGraph.whole(f)
    if judges.diameter(f) is None:
        with pytest.raises(NoOpinion, match=r"^no end is attached to a switch$"):
            graph_figures.diameter_by_networkx(w, None, LIMITS)
    else:
        assert graph_figures.diameter_by_networkx(w, None, LIMITS).lower == judges.diameter(f)
    if hops(f) is None:
        with pytest.raises(NoOpinion, match=r"^no two ends reach each other$"):
            graph_figures.mean_hops_by_networkx(w, None, LIMITS)
    else:
        assert graph_figures.mean_hops_by_networkx(w, None, LIMITS).lower == hops(f)


def test_distances() -> None:
    each(range(80), distances_agree)


def counts_agree(seed: int) -> None:
    """Links in all and between two sets, and switches."""
    rng = Random(seed)
    f = random_fabric(seed, 4, 4, 2, rng.randint(4, 12)).build()
    w = WiringGraph.whole(f)
    assert graph_figures.link_count_by_networkx(w, None, LIMITS).lower == f.link_count
    assert graph_figures.switch_count_by_networkx(w, None, LIMITS).lower == 4
    sides = [selector(f, path) for path in rng.choice((("node", "sw"), ("sw", "node"), ("sw", "sw"), ("node", "node")))]
    here, there = ({int(d) for e in s.elements for d in e.devices} for s in sides)
    between = sum((a in here and b in there) or (b in here and a in there) for a, b in judges.pairs(f))
    assert graph_figures.link_count_by_networkx(w, claim(f, "links", of=(sides[0],), of_to=(sides[1],)), LIMITS).lower == between
    assert graph_figures.link_count_by_networkx(w, claim(f, "links", of=(sides[0],)), LIMITS).lower == f.link_count


def test_counts() -> None:
    each(range(30), counts_agree)


@pytest.mark.parametrize("sizes", [(3,), (5,), (3, 3), (4, 3)])
def test_tori(sizes: tuple[int, ...]) -> None:
    """Two links a dimension, each of them a way of its own."""
    w = WiringGraph.whole(torus(*sizes).build())
    assert graph_figures.edge_redundancy_by_networkx(w, None, LIMITS).lower == 2 * len(sizes)
    assert graph_figures.node_redundancy_by_networkx(w, None, LIMITS).lower == 2 * len(sizes)
    assert graph_figures.diameter_by_networkx(w, None, LIMITS).lower == sum(n // 2 for n in sizes)


def test_one_host_has_no_second() -> None:
    f = random_fabric(1, 2, 1, 2, 4).build()
    for method in (graph_figures.edge_redundancy_by_networkx, graph_figures.node_redundancy_by_networkx):
        with pytest.raises(NoOpinion, match=r"^there are fewer than two units$"):
            method(WiringGraph.whole(f), None, LIMITS)
