"""What the size of a list counts as work, against counting each list where it stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tdsl.semantics.operators import evaluation_steps


@st.composite
def lists(draw: st.DrawFn) -> tuple[object, ...]:
    """A list of which some lists stand in several places."""
    made: list[tuple[object, ...]] = [()]
    for _ in range(draw(st.integers(0, 8))):
        item = st.one_of(st.integers(0, 3), st.sampled_from(made))
        made.append(tuple(draw(st.lists(item, max_size=4))))
    return made[-1]


def counted(value: object) -> int:
    return len(value) + sum(map(counted, value)) if isinstance(value, tuple) else 0


@given(lists())
def test_each_list_counts_where_it_stands(value: tuple[object, ...]) -> None:
    assert evaluation_steps(value, 10**9) == counted(value) // 4  # type: ignore[arg-type]


def test_copies_of_a_long_list_are_looked_at_once() -> None:
    long = tuple(range(10_000))
    assert evaluation_steps((long,) * 10_000, 20_000) == (10_000 + 10_000 * 10_000) // 4
    assert evaluation_steps(tuple((i, *long) for i in range(100)), 20_000) == (100 + 2 * 10_001) // 4


@given(lists(), st.integers(0, 20))
def test_it_looks_at_so_many_elements_and_a_list_more(value: tuple[object, ...], most: int) -> None:
    found, whole = evaluation_steps(value, most), counted(value)  # type: ignore[arg-type]
    assert found == whole // 4 or most // 4 <= found <= whole // 4
