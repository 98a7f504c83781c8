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


@pytest.mark.parametrize(
    ("rows", "boxes", "lines"),
    [
        (
            [((i, 1), (0, i + 4)) for i in range(5)], ([(0, 4), (0, 9)], [(0, 1), (0, 9)]),
            ["connect X[a].p[1] to Y[0].p[a + 4] { rate 400Gbps }"],
        ),
        (
            [((i,), (i,)) for i in range(3)], ([(0, 2)], [(0, 2)]), ["connect X.p[a] to Y.p[a] { rate 400Gbps }"],
        ),
        (
            [((i,), (i,)) for i in range(3)], ([(0, 2)], [(0, 3)]), ["connect X.p[a] to Y.p[a + 0] { rate 400Gbps }"],
        ),
        (
            [((i,), (i,)) for i in range(1, 4)], ([(0, 4)], [(0, 4)]),
            ["connect X.p[a] to Y.p[(a - 1) + 1] where a >= 1 and a <= 3 { rate 400Gbps }"],
        ),
        (
            [((i,), (9 - 2 * i,)) for i in range(4)], ([(0, 3)], [(0, 9)]),
            ["connect X.p[a] to Y.p[0 - 2 * a + 9] { rate 400Gbps }"],
        ),
        (
            [((i, j), (j, 3 * i)) for i, j in grid(3, 4)], ([(0, 2), (0, 3)], [(0, 3), (0, 9)]),
            ["connect X[a].p[b] to Y[b].p[3 * a] { rate 400Gbps }"],
        ),
        (
            [((i, j), (i - j + 3, 2 * i - 3 * j + 9)) for i, j in grid(3, 4)], ([(0, 2), (0, 3)], [(0, 9), (0, 30)]),
            ["connect X[a].p[b] to Y[a - 1 * b + 3].p[2 * a - 3 * b + 9] { rate 400Gbps }"],
        ),
        (
            [((i,), (i // 4, i % 4)) for i in range(8)], ([(0, 7)], [(0, 1), (0, 3)]),
            ["connect X.p[a] to Y[(a // 4)].p[(a % 4)] { rate 400Gbps }"],
        ),
        (
            [((i, j), (0, 4 * i + j)) for i, j in grid(4, 4) if (i, j) not in ((1, 2), (3, 0))],
            ([(0, 3), (0, 3)], [(0, 0), (0, 15)]),
            ["connect X[a].p[b] to Y[0].p[4 * a + b] where not (a == 1 and b == 2) and not (a == 3 and b == 0) "
             "{ rate 400Gbps }"],
        ),
        ([((0,), (1,)), ((1,), (2,))], ([(0, 1)], [(0, 9)]), [
            "connect X.p[0] to Y.p[1] { rate 400Gbps }", "connect X.p[1] to Y.p[2] { rate 400Gbps }",
        ]),
    ],
)  # fmt: skip
def test_connects_by_hand(rows: Rows, boxes: Boxes, lines: list[str]) -> None:
    assert holds(rows, boxes) == lines


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


PARTS: dict[str, tuple[Rows, Boxes]] = {
    "ports": ([((i, j), ((j % 2 + 1) * i + j, j)) for i, j in grid(4, 3)], ([(0, 3), (0, 2)], [(0, 20), (0, 2)])),
    "outer": ([((i, j), ((7, 2, 5, 1)[i], j)) for i, j in grid(4, 3)], ([(0, 3), (0, 2)], [(0, 20), (0, 2)])),
    "far ends of ports alone": (
        [((i, j), ((70, 20, 50, 10)[i] + j,)) for i, j in grid(4, 3)],
        ([(0, 3), (0, 2)], [(0, 90)]),
    ),
    "half of the ports": (
        [((i, j), (i if j < 2 else (7, 1, 12, 4, 20)[i] + j, j)) for i, j in grid(5, 4)],
        ([(0, 4), (0, 3)], [(0, 29), (0, 3)]),
    ),
    "less than half": (
        [((i, j), (i if j < 1 else (7, 1, 12, 4, 20)[i] + j * j, j)) for i, j in grid(5, 3)],
        ([(0, 4), (0, 2)], [(0, 29), (0, 3)]),
    ),
    "three": (
        [((i, j, k), ((5, 1, 9)[i] + j, (0, 2)[j] * k + k)) for i, j, k in grid(3, 2, 3)],
        ([(0, 2), (0, 1), (0, 2)], [(0, 20), (0, 20)]),
    ),
    "swapped": ([((i,), ({2: 3, 3: 2}.get(i, i),)) for i in range(8)], ([(0, 7)], [(0, 7)])),
    "swapped more": ([((i,), ({2: 3, 3: 2, 5: 9}.get(i, i),)) for i in range(8)], ([(0, 7)], [(0, 9)])),
    "swapped of 12": ([((i + 1,), ({2: 3, 3: 2, 5: 9}.get(i, i) * 3 + 1,)) for i in range(12)], ([(1, 12)], [(0, 90)])),
    "five": ([((i,), ({2: 9}.get(i, i),)) for i in range(5)], ([(0, 4)], [(0, 9)])),
    "six": ([((i,), ({2: 9}.get(i, i),)) for i in range(6)], ([(0, 5)], [(0, 9)])),
    "two parts": ([((i, j), ((4, 0, 9)[i], j)) for i, j in grid(3, 2)], ([(0, 2), (0, 1)], [(0, 9), (0, 1)])),
    "twice": ([((i // 2,), (i,)) for i in range(8)], ([(0, 3)], [(0, 7)])),
    "gaps": ([((2 * i,), (3 * i,)) for i in range(8)] + [((1,), (40,))], ([(0, 14)], [(0, 40)])),
    "one place": ([((1, 2), (i, 3)) for i in range(3)], ([(0, 2), (0, 2)], [(0, 9), (0, 9)])),
    "none": ([((i,), ((3, 0, 1)[i],)) for i in range(3)], ([(0, 2)], [(0, 9)])),
}

CONNECTS = {
    "ports": [
        "[a].p[0] to [a + 0].p[0]",
        "[a].p[1] to [2 * a + 1].p[1]",
        "[a].p[2] to [a + 2].p[2]",
    ],
    "outer": [
        "[0].p[b] to [7].p[b]",
        "[1].p[b] to [2].p[b]",
        "[2].p[b] to [5].p[b]",
        "[3].p[b] to [1].p[b]",
    ],
    "far ends of ports alone": [f"[{i}].p[b] to .p[b + {n}]" for i, n in enumerate((70, 20, 50, 10))],
    "half of the ports": [
        "[a].p[0] to [a + 0].p[0]",
        "[a].p[1] to [a + 0].p[1]",
        "[0].p[2] to [9].p[2]",
        "[1].p[2] to [3].p[2]",
        "[2].p[2] to [14].p[2]",
        "[3].p[2] to [6].p[2]",
        "[4].p[2] to [22].p[2]",
        "[0].p[3] to [10].p[3]",
        "[1].p[3] to [4].p[3]",
        "[2].p[3] to [15].p[3]",
        "[3].p[3] to [7].p[3]",
        "[4].p[3] to [23].p[3]",
    ],
    "less than half": [
        "[0].p[b] to [11 * (b // 2) + 8 * (b % 2)].p[b + 0]",
        "[1].p[b] to [4 * (b // 2) + (b % 2) + 1].p[b + 0]",
        "[2].p[b] to [14 * (b // 2) + 11 * (b % 2) + 2].p[b + 0]",
        "[3].p[b] to [5 * (b // 2) + 2 * (b % 2) + 3].p[b + 0]",
        "[4].p[b] to [20 * (b // 2) + 17 * (b % 2) + 4].p[b + 0]",
    ],
    "three": [
        "[a, b].p[0] to [4 * (a // 2) - 4 * (a % 2) + b + 5].p[0]",
        "[a, b].p[1] to [4 * (a // 2) - 4 * (a % 2) + b + 5].p[2 * b + 1]",
        "[a, b].p[2] to [4 * (a // 2) - 4 * (a % 2) + b + 5].p[4 * b + 2]",
    ],
    "swapped": [
        ".p[a] to .p[a] where not (a == 2) and not (a == 3)",
        ".p[2] to .p[3]",
        ".p[3] to .p[2]",
    ],
    "swapped more": [
        ".p[0] to .p[0]",
        ".p[1] to .p[1]",
        ".p[2] to .p[3]",
        ".p[3] to .p[2]",
        ".p[4] to .p[4]",
        ".p[5] to .p[9]",
        ".p[6] to .p[6]",
        ".p[7] to .p[7]",
    ],
    "swapped of 12": [
        ".p[a] to .p[3 * (a - 1) + 1] where not (a == 3) and not (a == 4) and not (a == 6)",
        ".p[3] to .p[10]",
        ".p[4] to .p[7]",
        ".p[6] to .p[28]",
    ],
    "five": [
        ".p[0] to .p[0]",
        ".p[1] to .p[1]",
        ".p[2] to .p[9]",
        ".p[3] to .p[3]",
        ".p[4] to .p[4]",
    ],
    "six": [
        ".p[a] to .p[a + 0] where not (a == 2)",
        ".p[2] to .p[9]",
    ],
    "two parts": [
        "[a].p[b] to [5 * (a // 2) - 4 * (a % 2) + 4].p[b]",
    ],
    "twice": [
        ".p[0] to .p[0]",
        ".p[0] to .p[1]",
        ".p[1] to .p[2]",
        ".p[1] to .p[3]",
        ".p[2] to .p[4]",
        ".p[2] to .p[5]",
        ".p[3] to .p[6]",
        ".p[3] to .p[7]",
    ],
    "gaps": [
        ".p[a] to .p[3 * (a // 2) + 40 * (a % 2)] "
        "where not (a == 3) and not (a == 5) and not (a == 7) and not (a == 9) and not (a == 11) and not (a == 13)",
    ],
    "one place": [
        "[1].p[2] to [0].p[3]",
        "[1].p[2] to [1].p[3]",
        "[1].p[2] to [2].p[3]",
    ],
    "none": [
        ".p[a] to .p[0 - 2 * (a // 2) - 3 * (a % 2) + 3]",
    ],
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_links(name: str) -> None:
    """A rule for each port where half of the ports have one, else for each of the outermost index; swapped links alone."""
    lines = holds(*PARTS[name])
    assert [re.sub(r"^connect X(.*) to Y(.*) { rate 400Gbps }$", r"\1 to \2", line) for line in lines] == CONNECTS[name]


def test_rules_of_names_and_rates() -> None:
    assert list(connect_rules("a.b", "c", [((1, 2), (3,))], "1Tbps", None)) == ["connect a.b[1].p[2] to c.p[3] { rate 1Tbps }"]
    assert list(connect_rules("X", "Y", [], "1Tbps", None)) == []
