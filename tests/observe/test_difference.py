"""Components of the difference of two random cablings against graph theory."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest

from tdsl.observe.difference import Cabling

Links = dict[int, int]


def cabling(random: Random, ports: int, links: int) -> Links:
    chosen = random.sample(range(ports), 2 * links)
    return {p: q for a, b in zip(chosen[::2], chosen[1::2], strict=True) for p, q in ((a, b), (b, a))}


def difference(planned: Links, seen: Links) -> nx.MultiGraph:
    """Links of one cabling only, each with whether it is missing."""
    graph = nx.MultiGraph()
    for mine, other, missing in ((planned, seen, True), (seen, planned, False)):
        graph.add_edges_from((p, q, {"missing": missing}) for p, q in mine.items() if p < q and other.get(p) != q)
    return graph


def total(planned: Links, seen: Links) -> int:
    """The fewest moves of single cables, over all components."""
    graph, cost = difference(planned, seen), 0
    for part in nx.connected_components(graph):
        kinds = [m for *_, m in graph.subgraph(part).edges(data="missing")]
        closed = len(kinds) == len(part)
        cost += sum(kinds) - 1 if closed else max(sum(kinds), len(kinds) - sum(kinds))
    return cost


def of(planned: Links, seen: Links) -> Cabling:
    return Cabling(lambda p: planned.get(p, -1), lambda p: seen.get(p, -1))


@pytest.mark.parametrize("seed", range(60))
def test_components(seed: int) -> None:
    random = Random(seed)
    n = random.randint(4, 14)
    planned, seen = (cabling(random, n, random.randint(1, n // 2)) for _ in range(2))
    made, graph = of(planned, seen), difference(planned, seen)
    found = made.components([-1, *range(n), *range(n)])
    assert sorted(map(sorted, (c.ports for c in found))) == sorted(map(sorted, nx.connected_components(graph)))
    assert [p for p in range(n) if made.differs(p)] == sorted(graph)
    for c in found:
        kinds = [m for *_, m in graph.subgraph(c.ports).edges(data="missing")]
        assert (c.missing, c.extra, c.closed) == (sum(kinds), len(kinds) - sum(kinds), len(kinds) == len(c.ports))
        pairs = list(zip(c.ports, c.ports[1:], strict=False)) + ([(c.ports[-1], c.ports[0])] if c.closed else [])
        assert all(graph.has_edge(p, q) for p, q in pairs)  # in order along the path
    assert sum(c.cost for c in found) == total(planned, seen)
    assert made.components([]) == [] and made.components([found[0].ports[-1]] if found else []) == (
        [made.component(found[0].ports[-1])] if found else []
    )
