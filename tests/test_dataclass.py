"""``tdsl.system.lazy_dataclass``: every class of the package behaves as one of the standard library does."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.system import lazy_dataclass as ours

SHAPES: list[dict[str, bool]] = [
    {"frozen": frozen, "slots": slots, "eq": eq} for frozen in (True, False) for slots in (True, False) for eq in (True, False)
]


def classes(**options: bool) -> list[Any]:
    """The same class, made by the standard library and by us."""
    made: list[Any] = []
    for decorator in (dataclasses.dataclass, ours.dataclass):

        class Sample:
            """A class with a field of each kind."""

            first: int
            second: str = "s"
            third: list[int] = dataclasses.field(default_factory=list)
            hidden: int = dataclasses.field(default=3, repr=False, compare=False)
            own: dict[str, int] = dataclasses.field(default_factory=dict, init=False, compare=False)

        Sample.__qualname__ = "Sample"
        made.append(decorator(**options)(Sample))  # type: ignore[operator]
    return made


def outcome(work: Any) -> Any:
    """What a call gives, or the type of what it raises."""
    try:
        return work()
    except Exception as fault:
        return type(fault)


@pytest.mark.parametrize("options", SHAPES, ids=str)
@given(a=st.integers(0, 2), b=st.integers(0, 2), t=st.text(max_size=1))
@settings(max_examples=10)
def test_it_behaves_as_the_standard_library_does(options: dict[str, bool], a: int, b: int, t: str) -> None:
    def facts(cls: Any) -> list[Any]:
        x, y, z = cls(a, t), cls(b, second=t, hidden=9), cls(a, t, [1], 4)
        return [
            repr(x), repr(z), x == y, x == z, x != y, x == a, outcome(lambda: hash(x) == hash(y)) if options["eq"] else 0,
            dataclasses.asdict(y), dataclasses.astuple(z), repr(dataclasses.replace(x, first=7)), x.own, z.hidden,
            outcome(lambda: setattr(x, "first", 5)), outcome(lambda: delattr(y, "second")),
            x.first, outcome(cls), outcome(lambda: cls(1, 2, 3, 4, 5)), outcome(lambda: cls(1, own={})), cls.__match_args__,
            list(inspect.signature(cls).parameters), [f.name for f in dataclasses.fields(cls)], repr(copy.copy(z)),
            repr(copy.deepcopy(z)), x.third is not cls(a, t).third,
        ]  # fmt: skip

    theirs, mine = classes(**options)
    assert facts(theirs) == facts(mine)


def test_a_frozen_class_goes_through_pickle() -> None:
    span = SourceSpan(SourceFile("a.fab", "fabric"), 0, 6)
    again = pickle.loads(pickle.dumps(span))
    assert (again.text, again.start, again.end) == ("fabric", 0, 6)
    for name in ("start", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(again, name, 5)


def test_a_subclass_has_the_fields_of_both() -> None:
    @ours.dataclass(frozen=True)
    class Base:
        """One field."""

        a: int

    @ours.dataclass(frozen=True)
    class More(Base):
        """One more."""

        b: int = 2

    assert (repr(More(1)).endswith("More(a=1, b=2)"), More(1) == More(1, 2), More(1) == Base(1), Base(1) == Base(1)) == (
        True, True, False, True,
    )  # fmt: skip
