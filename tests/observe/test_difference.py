"""Components of the difference of two random cablings against graph theory, and what a mistake explains against all of them."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest

from tdsl.observe.difference import Cabling, Component, Mistake

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


@pytest.mark.parametrize("seed", range(120))
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


def test_costs_of_components() -> None:
    """A cycle of k cables takes k - 1 exchanges, a path one a cable."""
    assert Component((0, 1, 2, 3), 2, 2, True).cost == 1 and Component(tuple(range(6)), 3, 3, True).cost == 2
    for missing, extra, cost in ((1, 0, 1), (0, 1, 1), (1, 1, 1), (2, 1, 2), (1, 2, 2), (3, 3, 3)):
        assert Component((), missing, extra, False).cost == cost


def after(links: Links, mistake: Mistake) -> Links | None:
    """The links once a mistake is made, step by step; None where it cannot be."""
    new, target = dict(links), dict(mistake.moves)
    for p, q in mistake.removed:
        if links.get(p) != q:
            return None
        new.pop(p, None), new.pop(q, None)
    loose = []
    for p in target:
        if p in new:
            q = new.pop(p)
            del new[q]
            loose.append((p, q))
    for p, q in [*((target[p], target.get(q, q)) for p, q in loose), *mistake.added]:
        if p == q or p in new or q in new:
            return None
        new[p], new[q] = q, p
    return new


@pytest.mark.parametrize("seed", range(200))
def test_what_a_mistake_explains(seed: int) -> None:
    """Its gain is the moves that it saves over the whole difference; then it is made, and others on top."""
    random = Random(seed)
    n = random.randint(4, 12)
    planned, seen = cabling(random, n, n // 2), cabling(random, n, random.randint(1, n // 2))
    made, links = of(planned, seen), dict(planned)
    for _ in range(4):
        plugs = [(p, random.randrange(n)) for p in random.sample(range(n), random.randint(0, 2))]
        there = [(p, q) for p, q in links.items() if p < q]
        removed = random.sample(there, min(len(there), random.randint(0, 2)))
        if random.random() < 0.2:
            removed += [(random.randrange(n), random.randrange(n))]
        added = [(random.randrange(n), random.randrange(n)) for _ in range(random.randint(0, 1))]
        mistake = Mistake("x", tuple(plugs), tuple(removed), tuple(added), cost=random.randint(1, 3))
        result = after(links, mistake)
        gain, ports = made.gain(mistake)
        assert {p: made.at(p) for p in range(n)} == {p: links.get(p, -1) for p in range(n)}  # nothing was made yet
        if result is None:
            assert gain == -1 and ports == frozenset() and not made.make(mistake)
        else:
            if result != links:
                assert gain == total(links, seen) - total(result, seen) - mistake.cost
                assert {p for p in range(n) if links.get(p) != result.get(p)} <= ports
            assert made.make(mistake)
            links = result
        assert {p: made.at(p) for p in range(n)} == {p: links.get(p, -1) for p in range(n)}
