"""Connects that an import writes for the links between two arrays: evaluated, they give these links and no others."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest

from tdsl.observe.rules import Boxes, Rows, connect_rules

LINE = re.compile(r"connect X(?:\[(.*?)\])?\.p\[(.*?)\] to Y(?:\[(.*?)\])?\.p\[(.*?)\](?: where (.*))? \{ rate 400Gbps \}")


def links(line: str, boxes: Boxes) -> Rows:
    """What one connect gives: each index runs over the range of its place, as far as the condition allows."""
    found = LINE.fullmatch(line)
    assert found is not None, line
    near, far = ([*(d.split(", ") if d else []), p] for d, p in ((found[1], found[2]), (found[3], found[4])))
    ranges = [range(low, high + 1) if name.isalpha() else [int(name)] for name, (low, high) in zip(near, boxes[0], strict=True)]
    out = []
    for point in product(*ranges):
        known = {name: value for name, value in zip(near, point, strict=True) if name.isalpha()}
        if found[5] and not eval(found[5], {}, known):  # the text is ours
            continue
        for term, box in zip(far, boxes[1], strict=True):  # a lone index must have the range of both places
            assert not term.isalpha() or boxes[0][near.index(term)] == box
        out.append((point, tuple(eval(term, {}, known) for term in far)))
    return out


def written(rows: Rows, boxes: Boxes | None) -> list[str]:
    return list(connect_rules("X", "Y", rows, "400Gbps", boxes))


def holds(rows: Rows, boxes: Boxes) -> list[str]:
    lines = written(rows, boxes)
    given = [link for line in lines for link in links(line, boxes)]
    assert sorted(given) == sorted(rows), lines
    return lines


def test_random_links() -> None:
    """Sums of indices, divided and not, shuffled, with links missing and others swapped."""
    random = Random(7)
    few = 0
    for _ in range(250):
        sizes = [random.randint(1, 6) for _ in range(random.randint(1, 3))]
        start = [random.choice((0, 0, 1, 5)) for _ in sizes]
        points = list(product(*(range(s, s + n) for s, n in zip(start, sizes, strict=True))))
        factor = [random.randint(-1, 3) for _ in sizes]
        form, by = random.randint(0, 3), random.choice((2, 3, 4, 8))
        rows = []
        for p in points:
            total = sum(f * i for f, i in zip(factor, p, strict=True)) + 20
            at = p[0] - start[0]
            device = (total, at // by, at % by, 3)[form]
            rows.append((p, (device, (total, total, p[-1], at)[form])))
        for _ in range(random.choice((0, 0, 1, 3))):
            if len(rows) > 2:
                rows.pop(random.randrange(len(rows)))
        if random.random() < 0.3 and len(rows) > 4:
            i, j = random.sample(range(len(rows)), 2)
            rows[i], rows[j] = (rows[i][0], rows[j][1]), (rows[j][0], rows[i][1])
        random.shuffle(rows)
        near = [(s, s + n - 1 + random.choice((0, 0, 2))) for s, n in zip(start, sizes, strict=True)]
        lines = holds(rows, (near, [(0, 99), (0, 99)]))
        few += len(lines) < len(rows) / 2
        assert len(written(rows, None)) == len(rows)
    assert few > 120


def grid(*sizes: int) -> list[tuple[int, ...]]:
    return list(product(*map(range, sizes)))


@pytest.mark.parametrize(("missing", "lines"), [(15, 1), (16, 1), (17, 17)])
def test_sixteen_conditions_at_most(missing: int, lines: int) -> None:
    """Of a grid of links, more that are missing than sixteen are not written one by one."""
    gone = Random(3).sample(grid(10, 10)[1:-1], missing)
    rows = [((i, j), (i, j + 1)) for i, j in grid(10, 10) if (i, j) not in gone]
    found = holds(rows, ([(0, 9), (0, 9)], [(0, 9), (0, 10)]))
    assert (len(found) == 1) == (lines == 1)


@pytest.mark.parametrize(("n", "one"), [(4, True), (3, False)])
def test_a_rule_for_half_of_a_grid(n: int, one: bool) -> None:
    """The links are at least half of all places between the least and the largest index."""
    rows = [((0,), (5,)), ((1,), (6,)), ((2,), (7,)), ((2 * n - 1,), (4 + 2 * n,))][: n if n == 4 else 3]
    if not one:
        rows[-1] = ((6,), (11,))
    found = holds(rows, ([(0, 9)], [(0, 20)]))
    assert (len(found) == 1) == one
