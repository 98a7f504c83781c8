"""Which links an uneven spread keeps: its rule, what is valid, and the order of its links, on small matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tdsl.fabric import keeping
from tdsl.fabric.keeping import SpreadRule, rule_of
from tdsl.fabric.patterns import LinkPairs


@pytest.mark.parametrize(
    ("own", "free", "alike", "rule"),
    [
        ([[2, 1, 1], [1, 2, 1]], False, True, (4, 1, 2, [1, 1, 1])),
        ([[2, 1, 1], [1, 2, 1]], False, False, (4, 1, 2, [1, 1, 0])),
        ([[2, 1, 1], [1, 2, 1]], True, False, (4, 0, 4, [1, 1, 0])),
        ([[1, 1], [1, 1]], True, True, (2, 0, 2, [1, 1])),
        ([[1, 1], [1, 1]], True, False, (2, 0, 2, [0, 0])),
        ([[1, 1], [1, 1]], False, True, None),
        ([[3, 3, 3]], False, True, None),
        ([[3, 3, 2]], False, False, (8, 2, 3, [1, 1, 0])),
        ([[1, 0, 0]], False, True, (1, 0, 1, [1, 1, 1])),
    ],
)
def test_the_rule_of_a_spread(
    own: list[list[int]], free: bool, alike: bool, rule: tuple[int, int, int, list[int]] | None
) -> None:
    found = rule_of(np.array(own), free, alike)
    assert (found and (found.ports, found.low, found.high, found.more.tolist())) == rule


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_nothing_to_choose(shape: tuple[int, int]) -> None:
    for free, alike in product((False, True), repeat=2):
        assert rule_of(np.zeros(shape, dtype=np.int64), free, alike) is None


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("own", [[[2, 1, 1], [1, 2, 1]], [[1, 1, 0], [1, 0, 1]], [[1, 0], [0, 1]], [[2, 1], [1, 2], [2, 1]]])
def test_valid_choices(own: list[list[int]], free: bool, alike: bool) -> None:
    """Every matrix with cells of up to 3, one condition after the other."""
    mine = np.array(own)
    rule = rule_of(mine, free, alike)
    assert rule is not None
    (a, b), k = mine.shape, sum(own[0])
    fewest, over = a * k // b, a * k % b > 0
    totals = [sum(row[j] for row in own) for j in range(b)]
    may = [over and (alike or totals[j] > min(totals)) for j in range(b)]
    valid = 0
    for cells in product(range(4 if a * b < 6 else 3), repeat=a * b):
        x = np.array(cells).reshape(a, b)
        expected = (
            all(rule.low <= c <= rule.high for c in cells)
            and all(sum(cells[i * b : i * b + b]) == k for i in range(a))
            and all(fewest <= sum(cells[j::b]) <= fewest + may[j] for j in range(b))
        )
        assert keeping._is_valid_spread(x, mine, rule) == expected
        valid += expected
    assert valid and keeping._is_valid_spread(mine, mine, rule)


def test_links_of_a_matrix_and_back() -> None:
    """Copy by copy, in each by a and then by b."""
    x = np.array([[2, 0, 1], [1, 3, 0]])
    i, j, copy = (c.tolist() for c in keeping.links_in_copy_order(x))
    assert list(zip(copy, i, j, strict=True)) == [(0, 0, 0), (0, 0, 2), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 1, 1), (2, 1, 1)]
    pairs = LinkPairs(np.array(i), np.array(j), np.array(copy), np.zeros(7, dtype=np.int64))
    assert keeping.links_per_pair(pairs, 2, 3).tolist() == x.tolist()
    assert keeping.links_per_pair(pairs, 3, 4).tolist() == [[2, 0, 1, 0], [1, 3, 0, 0], [0, 0, 0, 0]]


def choices(own: np.ndarray, rule: SpreadRule) -> list[np.ndarray]:
    """All choices that the rule allows."""
    b = own.shape[1]
    rows = [r for r in product(range(rule.low, rule.high + 1), repeat=b) if sum(r) == rule.ports]
    found = (np.array(x) for x in product(rows, repeat=len(own)))
    return [x for x in found if keeping._is_valid_spread(x, own, rule)]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("own", [[[2, 1, 1], [1, 2, 1]], [[1, 1, 0], [1, 0, 1]], [[2, 1], [1, 2], [2, 1]], [[2, 2, 1]]])
def test_most_links_stay_where_members_differ(own: list[list[int]], free: bool) -> None:
    """Only members of B that have one link more than others may have it. What stands and is valid stays as it is."""
    rng = np.random.default_rng(3)
    mine = np.array(own)
    rule = rule_of(mine, free, False)
    assert rule is not None
    every = choices(mine, rule)
    for _ in range(25):
        standing = rng.integers(0, 4, mine.shape)
        found = keeping.keep_standing_links(mine, standing, rule)
        assert any((found == x).all() for x in every)
        assert np.minimum(found, standing).sum() == max(np.minimum(x, standing).sum() for x in every)
    for standing in every:
        assert keeping.keep_standing_links(mine, standing, rule) is (mine if (standing == mine).all() else standing)
    assert (
        keeping.keep_standing_links(mine, mine + 2, rule) is mine
        and keeping.keep_standing_links(mine, np.zeros_like(mine), rule) is mine
    )
    assert keeping.keep_standing_links(mine, np.maximum(mine - 1, 0), rule) is mine


def test_a_rule_that_no_choice_meets() -> None:
    """No member may have the link more: there is no choice, and the spread's own is taken."""
    own = np.array([[1, 0], [1, 0], [0, 1]])
    rule = SpreadRule(1, 0, 1, np.array([0, 0]))
    assert keeping._solve_transportation(own, np.array([[0, 1], [0, 1], [0, 1]]), rule) is None
    assert keeping.keep_standing_links(own, np.array([[0, 1], [0, 1], [0, 1]]), rule) is own
