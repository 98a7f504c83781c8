"""Connects that an import writes for the links between two arrays: evaluated, they give these links and no others."""

from __future__ import annotations

import re
from itertools import product
from random import Random

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
        boxes = (near, [(0, 99), (0, 99)])
        lines = written(rows, boxes)
        assert sorted(link for line in lines for link in links(line, boxes)) == sorted(rows), lines
        few += len(lines) < len(rows) / 2
        assert len(written(rows, None)) == len(rows)
    assert few > 120


def test_many_exceptions_are_no_conditions() -> None:
    """Of a grid of links, more that are missing than sixteen are not written one by one."""
    grid = list(product(range(10), range(10)))
    for missing, one in ((16, True), (17, False)):
        gone = Random(3).sample(grid[1:-1], missing)
        rows: Rows = [((i, j), (i, j + 1)) for i, j in grid if (i, j) not in gone]
        boxes: Boxes = ([(0, 9), (0, 9)], [(0, 9), (0, 10)])
        lines = written(rows, boxes)
        assert (len(lines) == 1) is one and sorted(link for line in lines for link in links(line, boxes)) == sorted(rows)
