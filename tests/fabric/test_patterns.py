"""Patterns against their definitions, by counting."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.explain.catalogue import explained_words
from tdsl.fabric import patterns
from tdsl.fabric.patterns import LinkPairs
from tdsl.fabric.wiring import LINKS_OF_PATTERN
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.syntax import keywords
from tdsl.syntax.patterns import CONNECT_PATTERNS

HERE = SourceSpan(SourceFile("x.fab", "spread"), 0, 6)


def count(pairs: LinkPairs) -> Counter[tuple[int, int]]:
    return Counter(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 40))
@settings(max_examples=400)
def test_spread_is_even_or_refused(a: int, b: int, k: int) -> None:
    """Every pair the same number; or, with k < b, every b the same total; else a fault."""
    try:
        found = count(patterns.spread_links(a, b, k, False, HERE, ("a", "b")))
    except Fault as fault:
        assert fault.diagnostic.code in ("E0454", "E0458")
        if fault.diagnostic.code == "E0454":
            assert k % b and (k > b or (a * k) % b)
        return
    assert all(sum(n for (i, _), n in found.items() if i == x) == k for x in range(a))
    if k % b == 0:
        assert set(found.values()) == {k // b} and len(found) == a * b
    else:
        totals = Counter(j for (_, j), n in found.items() for _ in range(n))
        assert set(totals.values()) == {a * k // b} and set(found.values()) == {1}


@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 40))
@settings(max_examples=400)
def test_uneven_spread_is_floor_or_one_more(a: int, b: int, k: int) -> None:
    found = count(patterns.spread_links(a, b, k, True, HERE, ("a", "b")))
    for i in range(a):
        row = [found[i, j] for j in range(b)]
        assert sum(row) == k
        assert set(row) <= {k // b, k // b + 1}
        assert all(found[i, (i * (k % b) + e) % b] == k // b + 1 for e in range(k % b))


@given(st.integers(2, 12), st.integers(0, 30))
@settings(max_examples=300)
def test_uneven_spread_over_each_other(n: int, k: int) -> None:
    found = count(patterns.mesh_spread(n, k, True, HERE, "a"))
    degree: Counter[int] = Counter()
    for (i, j), times in found.items():
        assert i < j
        degree[i] += times
        degree[j] += times
    spare = k % (n - 1)
    assert all(degree[i] == k - spare + 2 * (spare // 2) for i in range(n))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.booleans())
@settings(max_examples=200)
def test_grid(shape: list[int], wrap: bool) -> None:
    """A member meets its neighbour along each dimension; size 2 wrapped gives double links, size 1 none."""
    found = count(patterns.mesh_or_torus_links(tuple(shape), wrap))
    expected: Counter[tuple[int, int]] = Counter()
    for index in np.ndindex(*shape):
        for d, size in enumerate(shape):
            if size < 2 or (not wrap and index[d] == size - 1):
                continue
            far = list(index)
            far[d] = (far[d] + 1) % size
            expected[int(np.ravel_multi_index(index, shape)), int(np.ravel_multi_index(far, shape))] += 1
    assert found == expected


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


@pytest.mark.parametrize(("size", "links"), [(1, 0), (2, 2), (3, 3), (8, 8)])
def test_ring(size: int, links: int) -> None:
    assert len(patterns.ring_links(size).a) == links


def test_pairs_shift_and_each() -> None:
    assert count(patterns.in_order(3, 3, 1, HERE)) == {(0, 1): 1, (1, 2): 1, (2, 0): 1}
    assert count(patterns.copy_links(patterns.complete_links(2, 3), 2)) == {(i, j): 2 for i in range(2) for j in range(3)}
    assert count(patterns.complete_links(4, None)) == {(i, j): 1 for i in range(4) for j in range(i + 1, 4)}
    with pytest.raises(Fault):
        patterns.in_order(3, 4, 0, HERE)


def test_a_pattern_is_known_everywhere() -> None:
    """What lays links, the words of the grammar, `tdsl explain` and the page of the language know the patterns of the table."""
    known = set(CONNECT_PATTERNS)
    assert set(LINKS_OF_PATTERN) == known == set(keywords.PATTERNS)
    assert {w.word for w in explained_words().values() if w.kind == "pattern of connect"} == known
    words = {word for p in CONNECT_PATTERNS.values() for word in p.words}
    assert words <= keywords.GRAMMAR_WORDS, "give the grammar the word behind the pattern"
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
    table = page.partition("\n## Patterns\n")[2].partition("\n**Even.**")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)", row)} == known
    one_set = {name for name, p in CONNECT_PATTERNS.items() if p.sets == "one"}
    joins_one = re.search(r"([^.]*) join\s+the members of one population", table)
    assert joins_one is not None and set(re.findall(r"`(\w+)`", joins_one[1])) == one_set
