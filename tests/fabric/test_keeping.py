"""Which pairs an uneven spread joins where links stand: against every choice, and on designs."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric import keeping, patterns
from tdsl.findings.source import SourceFile, SourceSpan
from tests.cli.run import tdsl, write

FILE = SourceFile("x", "x")


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, bool]:
    a, b, k = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    own = keeping.links_per_pair(patterns.spread_links(a, b, k, True, SourceSpan(FILE, 0, 1), ("a", "b")), a, b)
    cells = st.lists(st.integers(0, 3), min_size=a * b, max_size=a * b)
    return own, np.array(draw(cells), dtype=np.int64).reshape(a, b), draw(st.booleans())


def choices(own: np.ndarray, free: bool) -> list[np.ndarray]:
    """Every choice that the rule allows."""
    (a, b), k = own.shape, int(own[0].sum())
    if free:
        rows = [r for r in product(range(k + 1), repeat=b) if sum(r) == k]
    else:
        rows = [tuple(k // b + (j in more) for j in range(b)) for more in combinations(range(b), k % b)]
    low = a * k // b
    found = (np.array(x) for x in product(rows, repeat=a))
    return [x for x in found if all(low <= t <= low + (a * k % b > 0) for t in x.sum(axis=0))]


@given(cases())
@settings(max_examples=150, deadline=None)
def test_the_most_links_stay(case: tuple[np.ndarray, np.ndarray, bool]) -> None:
    own, standing, free = case
    rule = keeping.rule_of(own, free, one_model=True)
    if rule is None:
        assert int(own[0].sum()) % own.shape[1] == 0
        return
    if free and own.size > 6:
        return  # too many choices to list
    found = keeping.keep_standing_links(own, standing, rule)
    every = choices(own, free)
    assert any(np.array_equal(found, x) for x in every)
    assert np.minimum(found, standing).sum() == max(np.minimum(x, standing).sum() for x in every)
    if not standing.any():
        assert found is own


MODELS = """\
model host H { port n: 100Gbps }
model switch S { port p[64]: 100Gbps }
"""


def growth(leaves: int, spines: int, word: str) -> str:
    return (
        f"{MODELS}fabric f {{\n  host h[{leaves}]: H\n  switch leaf[{leaves}]: S\n  switch spine[{spines}]: S\n"
        f"  connect h[i].n to leaf[i]\n  connect leaf[*] to spine[*] spread {word} x 8\n}}\n"
    )


@pytest.mark.parametrize("word", ["uneven", "any"])
def test_a_plan_writes_the_pairs_to_the_lock(word: str, tmp_path: Path) -> None:
    """Of 24 links on five spines a sixth one must take four, and no other link changes."""
    old, new = (write(tmp_path, growth(3, n, word), f"{n}.fab") for n in (5, 6))
    done = tdsl("plan", old, new, "--floor", "0%")
    assert done.exit_code == 0, done.output
    assert ": 14.81% of 27 change" in done.stdout
    order = done.stdout[done.stdout.index("order of moves") :]
    diff = tdsl("diff", old, new, "--steps", "--floor", "0%", "--no-checks").stdout
    assert diff[diff.index("order of moves") :] == order
    locked = tdsl("check", new, "--locked")
    assert locked.exit_code == 0, locked.output
    assert tdsl("build", new, "--out", tmp_path / "out", "--target", "json").exit_code == 0
