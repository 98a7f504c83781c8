"""Patterns against their definitions, link by link: which pairs, in which order, and what is refused."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric import patterns
from tdsl.fabric.patterns import LinkPairs
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault

HERE = SourceSpan(SourceFile("x.fab", "spread"), 0, 6)
SIZE = st.integers(1, 7)


def rows(pairs: LinkPairs) -> list[tuple[int, int, int, int]]:
    """All links in their order: a, b, copy, dimension."""
    return list(zip(*(x.tolist() for x in (pairs.a, pairs.b, pairs.copy, pairs.dim)), strict=True))


@given(SIZE, SIZE, st.integers(1, 20), st.booleans())
@settings(max_examples=150)
def test_spread_link_by_link(a: int, b: int, k: int, uneven: bool) -> None:
    """Whole rounds first, copy after copy; then what is over, as one copy more."""
    base, extra = divmod(k, b)
    whole = [(i, j, c, 0) for c in range(base) for i in range(a) for j in range(b)]
    over = [(i, (i * extra + e) % b, base, 0) for i in range(a) for e in range(extra)]
    parts: list[Fault] = []
    graph = nx.Graph([((0, i), (1, j)) for i, j, *_ in over])
    graph.add_nodes_from((side, i) for side, n in enumerate((a, b)) for i in range(n))
    if extra and not uneven and (base or a * k % b):
        with pytest.raises(Fault) as refused:
            patterns.spread_links(a, b, k, False, HERE, ("x", "y"))
        found = refused.value.diagnostic
        even = [n for n in range(1, 200) if k % n == 0 or (k < n and a * k % n == 0)]
        options = [str(n) for n in (max((n for n in even if n < b), default=0), min((n for n in even if n > b), default=0)) if n]
        assert found.code == "E0454" and found.help.startswith(f"{' or '.join(options)} y would be even")
        return
    assert rows(patterns.spread_links(a, b, k, uneven, HERE, ("x", "y"), parts.append)) == whole + over
    pieces = nx.number_connected_components(graph)
    assert [p.diagnostic.notes for p in parts] == (
        [(f"{pieces} parts by these links alone",)] if extra and not uneven and pieces > 1 else []
    )


@given(SIZE, st.integers(0, 15), st.booleans())
@settings(max_examples=150)
def test_spread_over_each_other_link_by_link(n: int, k: int, uneven: bool) -> None:
    """Every pair in every whole round; what is over goes 1, 2, ... ranks on, as one copy more."""
    others = n - 1
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if others and k % others and not uneven:
        with pytest.raises(Fault) as refused:
            patterns.mesh_spread(n, k, False, HERE, "x")
        found = refused.value.diagnostic
        assert (found.code, found.message) == ("E0454", f"{k} ports of each x do not spread evenly over the {others} others")
        assert found.notes == (f"{k} = {k // others} x {others} + {k % others}",)
        return
    base, extra = divmod(k, others) if others else (0, 0)
    over = [tuple(sorted((i, (i + s) % n))) for i in range(n) for s in range(1, extra // 2 + 1)]
    assert rows(patterns.mesh_spread(n, k, uneven, HERE, "x")) == [
        *((i, j, c, 0) for c in range(base) for i, j in every),
        *((i, j, base, 0) for i, j in over),
    ]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.booleans(), st.integers(1, 3))
@settings(max_examples=100)
def test_grid_link_by_link(shape: list[int], wrap: bool, n: int) -> None:
    """Dimension after dimension; copies of a link are numbered."""
    expected = []
    for dim, size in enumerate(shape):
        for at in np.ndindex(*shape):
            if size > 1 and (wrap or at[dim] < size - 1):
                far = tuple((x + 1) % size if d == dim else x for d, x in enumerate(at))
                expected.append((int(np.ravel_multi_index(at, shape)), int(np.ravel_multi_index(far, shape)), dim))
    found = patterns.copy_links(patterns.mesh_or_torus_links(tuple(shape), wrap), n)
    assert rows(found) == [(a, b, c, d) for c in range(n) for a, b, d in expected] and found.directed


def test_random_graphs_stay_what_they_are() -> None:
    """A seed means one graph for good: what is cabled stays with every version. A dense one is what a sparse one leaves."""
    sparse = [p[:2] for p in rows(patterns.random_regular(8, 3, 5, HERE))]
    assert sparse == [
        (0, 1), (0, 5), (0, 6), (1, 5), (1, 7), (2, 3), (2, 4), (2, 7), (3, 4), (3, 6), (4, 7), (5, 6),
    ]  # fmt: skip
    dense = [p[:2] for p in rows(patterns.random_regular(8, 4, 5, HERE))]
    assert dense == [(i, j) for i in range(8) for j in range(i + 1, 8) if (i, j) not in sparse]
    assert [p[:2] for p in rows(patterns.random_regular(4, 3, 5, HERE))] == [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for n, degree in ((4, 0), (4, 4), (5, 3)):
        with pytest.raises(Fault, match=f"no simple graph gives each of {n} members {degree} links"):
            patterns.random_regular(n, degree, 1, HERE)


def count(pairs: LinkPairs) -> Counter[tuple[int, int]]:
    return Counter(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


@given(st.integers(4, 30), st.integers(1, 5), st.integers(0, 1000))
@settings(max_examples=150)
def test_random_is_simple_and_regular(n: int, degree: int, seed: int) -> None:
    if n * degree % 2 or degree >= n:
        with pytest.raises(Fault):
            patterns.random_regular(n, degree, seed, HERE)
        return
    found = count(patterns.random_regular(n, degree, seed, HERE))
    assert set(found.values()) == {1}
    degrees = Counter(x for pair in found for x in pair)
    assert all(i != j for i, j in found) and set(degrees.values()) == {degree} and len(degrees) == n
    assert found == count(patterns.random_regular(n, degree, seed, HERE))
