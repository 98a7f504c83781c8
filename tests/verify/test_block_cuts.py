"""Bounds by the cuts of blocks: a block counts only if a path crosses its border once at most, whatever way it takes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.prove.block_cuts import _both_sides_connected, least_block_cut


def arcs(*links: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Tails and heads of links, both ways."""
    a, b = np.array([x for x, _ in links]), np.array([y for _, y in links])
    return np.append(a, b), np.append(b, a)


def whole(inside: str, passes: str, *links: tuple[int, int]) -> bool:
    """Whether both sides hold together; a digit a node, `1` for inside and for what forwards."""
    sides, forwards = (np.array([c == "1" for c in text]) for text in (inside, passes))
    return bool(_both_sides_connected(sides, forwards, *arcs(*links)))


def test_a_side_holds_together_by_what_forwards() -> None:
    """Switches 0 and 1, each with hosts; 4 and 5 are those of the other side."""
    links = [(0, 2), (1, 3), (4, 6), (5, 7), (4, 5), (0, 4), (1, 5)]
    assert not whole("11110000", "11001100", *links)  # a path from 2 to 3 goes by the other side and crosses twice
    assert not whole("11110000", "11001100", *links, (1, 2))  # host 2 has links to both switches and forwards nothing
    assert whole("11110000", "11001100", *links, (0, 1))
    assert whole("00001111", "11001100", *links, (0, 1))  # and the same seen from the other side


def test_a_side_without_a_link_that_forwards_to_the_other() -> None:
    """Two switches that only a host joins: what crosses there ends there. One node alone is a side in any case."""
    assert not whole("110100", "110011", (0, 1), (4, 5), (3, 0), (3, 4), (2, 4))
    assert whole("001000", "110011", (0, 1), (4, 5), (3, 0), (1, 4), (2, 4), (2, 0))
    assert whole("110100", "110011", (0, 1), (4, 5), (3, 0), (1, 4), (2, 4))


def test_a_host_apart_from_its_side() -> None:
    assert not whole("1110", "1001", (0, 1), (0, 3), (2, 3))  # 2 is linked to the other side alone
    assert whole("1110", "1001", (0, 1), (0, 2), (0, 3))


def test_the_least_of_them() -> None:
    """Two pairs of hosts behind two switches with one link of 1 between them; all that host 2 sends crosses it."""
    tail, head = arcs((0, 2), (0, 3), (1, 4), (1, 5), (0, 1))
    capacity = np.array([4, 4, 4, 4, 1] * 2)
    demand = np.array([2, 3]), np.array([4, 5]), np.array([1, 1])
    found = least_block_cut(np.array([True, True, False, False, False, False]), (tail, head, capacity), demand, ())
    assert found is not None
    bound, cut = found
    crossing = {(int(t), int(h)) for t, h in zip(tail[cut], head[cut], strict=True)}
    assert bound == Fraction(1, 2) and crossing in ({(0, 1)}, {(1, 0)})
