"""Small functions on columns against values worked out by hand or one by one in Python."""

from __future__ import annotations

import operator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric import coded, keeping, resolve, vector
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.components import component_labels
from tdsl.fabric.failing import Failing, NotThere
from tdsl.semantics.fault import Fault
from tests.fabrics import Builder
from tests.harness import compile_text, fabric_of

# ------------------------------------------------------------ numbers in few bits


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("value", [0, 127, -128, 255, (1 << 31) - 1, 1 << 31, (1 << 31) + 5, -(1 << 31), -(1 << 31) - 1, 1 << 40])
def test_numbers_take_32_bits_where_they_fit(kind: type[np.integer], value: int) -> None:
    limits = np.iinfo(kind)
    if not limits.min <= value <= limits.max:
        return
    for row in ([value], [0, value], [value, 1, 0]):
        found = coded.numbers_in_32_bits(np.array(row, dtype=kind))
        assert found.tolist() == row
        assert (found.dtype == np.int32) == (-(1 << 31) <= value < 1 << 31)


def test_no_numbers_take_32_bits() -> None:
    assert coded.numbers_in_32_bits(np.zeros(0, dtype=np.int64)).dtype == np.int32


# ------------------------------------------------------------ arithmetic that is exact or not done

EDGES = (0, 1, 2, 3, (1 << 31) - 1, 1 << 31, (1 << 61) - 1, 1 << 61, (1 << 61) + 1, (1 << 62) - 2, (1 << 62) - 1)
PYTHON = {"+": operator.add, "-": operator.sub, "*": operator.mul}


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_arithmetic_ends_where_64_bits_may_not_hold_the_result(op: str) -> None:
    """Of two magnitudes the sum, or for a product the product, must be below 2**62; the signs do not matter."""
    for x, y in product(EDGES, EDGES):
        bound = x * y if op == "*" else x + y
        for a, b in ((x, y), (-x, y), (x, -y), (-x, -y)):
            columns = np.array([a, 0], dtype=np.int64), np.array([b, 0], dtype=np.int64)
            if bound >= 1 << 62:
                with pytest.raises(vector.NotSimple):
                    vector._exact_arithmetic(op, *columns)
            else:
                assert vector._exact_arithmetic(op, *columns).tolist() == [PYTHON[op](a, b), 0]


def test_division_is_that_of_python() -> None:
    """``%`` is never negative, whatever the divisor; ``/`` must have no remainder."""
    for a, b in product(range(-7, 8), range(-4, 5)):
        x, y = np.array([a, 0], dtype=np.int64), np.array([b, 1], dtype=np.int64)
        if b == 0:
            for op in ("//", "%", "/"):
                with pytest.raises(vector.NotSimple):
                    vector._exact_arithmetic(op, x, y)
            continue
        assert vector._exact_arithmetic("//", x, y).tolist() == [a // b, 0]
        assert vector._exact_arithmetic("%", x, y).tolist() == [a % abs(b), 0]
        if a % b:
            with pytest.raises(vector.NotSimple):
                vector._exact_arithmetic("/", x, y)
        else:
            assert vector._exact_arithmetic("/", x, y).tolist() == [a // b, 0]


@pytest.mark.parametrize(("row", "most"), [([], 0), ([3], 3), ([-3], 3), ([2, -5, 4], 5), ([-1, 6, 0], 6), ([0, 0], 0)])
def test_the_greatest_magnitude(row: list[int], most: int) -> None:
    assert vector.largest_magnitude(np.array(row, dtype=np.int64)) == most


# ------------------------------------------------------------ connected components


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("nodes", "most", "links"),
    [(1, 1, 0), (1, 1, 40), (5, 5, 3), (12, 12, 500), (40, 3, 900), (300, 300, 180), (64, 64, 513)],
)
def test_components_are_those_of_a_plain_search(seed: int, nodes: int, most: int, links: int) -> None:
    """Few links and many, links inside blocks of ``most`` nodes only, loops and repeated links."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, nodes, links)
    b = np.minimum(a // most * most + rng.integers(0, most, links), nodes - 1)
    label = list(range(nodes))
    changed = True
    while changed:
        changed = False
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            low = min(label[x], label[y])
            changed |= label[x] != low or label[y] != low
            label[x] = label[y] = low
    assert component_labels(nodes, a, b).tolist() == label


# ------------------------------------------------------------ ports of a model


BOARD = """\
fabric f { switch s: S { split b[1..2] 2 }; host h[3]: H; connect s.a[i] to h[i] }
model host H { port nic: 400Gbps { type NDR; cage 1 QSFP112 } }
model switch S {
  port m: 1Gbps { type BASE_T }
  port a[3]: 400Gbps { type NDR; cage 1 QSFP112 }
  port b[4]: 800Gbps { type XDR; cage 1 OSFP; split 2 }
}
"""


def test_the_first_port_of_every_connector(tmp_path: Path) -> None:
    """Both lanes of a port that is split leave by the cable of the first; every other port has its own."""
    f = fabric_of(BOARD, tmp_path, models=False)
    (split,) = (m for m in f.models if m.name == "S")
    assert [(c.name, c.first, c.size, c.split) for c in split.classes] == [
        ("m", 0, 1, 1), ("a", 1, 3, 1), ("b", 4, 1, 1), ("b", 5, 4, 2), ("b", 9, 1, 1)
    ]  # fmt: skip
    assert [(m.name, m.port_count) for m in f.models] == [("S", 10), ("H", 1)]
    assert PortColumns(f).connector.tolist() == [0, 1, 2, 3, 4, 5, 5, 7, 7, 9, 0]


# ------------------------------------------------------------ uneven spreads over links that stand


@pytest.mark.parametrize(
    ("own", "more", "fewest", "most"),
    [
        ([[1, 1], [1, 1]], [1, 1], [2, 2], [2, 2]),  # nothing is over
        ([[2, 1, 0], [0, 1, 2]], [1, 1, 1], [2, 2, 2], [2, 2, 2]),
        ([[1, 1, 0], [1, 0, 0]], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
        ([[1, 1, 1], [1, 0, 0]], [1, 0, 0], [1, 1, 1], [2, 1, 1]),
        ([[2, 2, 1]], [1, 1, 0], [1, 1, 1], [2, 2, 1]),
        ([[3], [4]], [1], [7], [7]),
    ],
)
def test_bounds_of_each_member(own: list[list[int]], more: list[int], fewest: list[int], most: list[int]) -> None:
    """All members get the quotient; where there is a remainder, those that may have one more."""
    rule = keeping.SpreadRule(sum(own[0]), 0, 4, np.array(more))
    low, high = keeping._link_bounds_of_members(np.array(own), rule)
    assert (low.tolist(), high.tolist()) == (fewest, most)


@pytest.mark.parametrize(
    ("shape", "asked"),
    [((2, 1 << 14), True), ((1, 1 << 15), True), ((1, (1 << 15) + 1), False), ((3, 1 << 14), False)],
)
def test_large_spreads_are_not_solved(shape: tuple[int, int], asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 2**15 pairs a choice that keeps more links is looked for; beyond, the spread's own is taken."""
    called = []

    def solved(*_: object) -> None:
        called.append(shape)

    monkeypatch.setattr(keeping, "_solve_transportation", solved)
    own = np.zeros(shape, dtype=np.int64)
    own[:, 0] = 1
    standing = np.zeros(shape, dtype=np.int64)
    standing[0, -2:] = 1  # more than one port has, so not a choice itself
    rule = keeping.SpreadRule(1, 0, 1, np.ones(shape[1], dtype=np.int64))
    assert keeping.keep_standing_links(own, standing, rule) is own
    assert bool(called) == asked


# ------------------------------------------------------------ limits of work


@pytest.mark.parametrize(("limit", "refused"), [(23, True), (24, False), (25, False)])
def test_too_many_places_in_one_path(limit: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two assignments of three rows of four places are 24: what a limit of 24 still allows."""
    b = Builder()
    axes = b.devices("a", b.model("switch", "M", {"p": 1}), (3, 4)).axes
    over = vector.Assignments({"i": np.arange(2)}, 2, {})
    entries = [resolve.IndexEntry(axis, None, b.line("here").span, "a") for axis in axes]
    monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", limit)
    resolver = resolve.Resolver(None, None, over)  # type: ignore[arg-type]
    start = np.array([100, 200])
    if refused:
        with pytest.raises(Fault) as found:
            resolver.spread_out(entries, [4, 1], start)
        said = found.value.diagnostic
        assert (said.code, said.message) == ("E0116", "this names too many devices at once")
        assert said.span is not None and said.span.text == "here"
    else:
        rows, shape, populous = resolver.spread_out(entries, [4, 1], start)
        assert rows.tolist() == [list(range(100, 112)), list(range(200, 212))]
        assert (shape, populous) == ((3, 4), True)


@pytest.mark.parametrize(("count", "near"), [((1 << 14) - 1, True), (1 << 14, False)])
def test_many_names_are_not_compared(count: int, near: bool, tmp_path: Path) -> None:
    """A name that is near is offered among fewer than 2**14, of devices and of cables."""
    made = compile_text("fabric f { switch a: SW }", tmp_path, verify=False).designs[0].failing
    names = {f"rack-{k}": 0 for k in range(count)}
    for element, said in (("rack-O0", "`rack-O0` names no device, port or cable"), ("rack:0", "there is no cable `rack:0`")):
        failing = Failing(made.plan, made.fabric, dict.fromkeys(names, ()), names)
        with pytest.raises(NotThere) as found:
            failing.links(element)
        assert str(found.value) == said + "; did you mean `rack-0`?" * near
