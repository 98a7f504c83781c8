"""What holds whatever K elements fail: by representatives of orbits, by a bound on what any K can take away,
or one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Ints
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.elements import can_fail_together, failing_set_sizes, view_after_failures
from tdsl.prove.symmetry import Reads
from tdsl.prove.view import View
from tdsl.semantics.quantity import Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement
from tdsl.verify.result import Status

MANY = 32
"""Single failures beyond which it is worth a look whether all leave enough."""


@dataclass(frozen=True, slots=True)
class WorstFailure:
    """The worst judgement, the elements failed for it, how many sets were judged and how many there are;
    ``how`` says by what all others are covered: orbits, a cut, all."""

    status: Status
    failed: tuple[FabricElement, ...]
    judged: Judgement | None
    runs: int
    sets: int
    how: str


# One loop, whose ends are what it answers: covered at once, out of budget, refuted, all judged.
def worst_failure(
    view: View,
    elements: Sequence[FabricElement],
    count: int,
    judge: Callable[[View], Judgement],
    covered: Callable[[], bool],
    most: bool = False,
    reads: Reads | None = None,
    fixed: Sequence[Ints] = (),
) -> WorstFailure:
    """Judge what is left after every ``count`` of what the elements contain; ``covered`` tries to prove them
    all at once, for many sets.

    ``reads`` and ``fixed`` say what the judgement reads of the fabric, for the symmetry that saves cases
    (None: none does). The first refuted set ends the search; else a set that stays open speaks, else the one
    of the least figure, or of the greatest where ``most`` says that such are worse.
    """
    sizes = failing_set_sizes(elements, count)
    sets = sum(comb(len(elements), size) for size in sizes)
    if count > 2 and covered():
        return WorstFailure("proved", (), None, 0, sets, "cut")
    worst: tuple[int, Fraction] | None = None
    speaks: tuple[tuple[FabricElement, ...], Judgement] | None = None
    runs = 0
    for chosen in _failure_sets_of_sizes(view, elements, sizes, reads, fixed):
        if not can_fail_together(chosen, count):
            sets -= 1
            continue
        if runs == view.budget.failure_sets:
            if count <= 2 and covered():
                return WorstFailure("proved", (), None, runs, sets, "cut")
            failed, judged = speaks or ((), None)
            return WorstFailure("bounded", failed, judged, runs, sets, "")
        runs += 1
        found = judge(view_after_failures(view, list(chosen)))
        if runs == 1 and count == 1 and sets > MANY and found.status == "proved" and covered():
            return WorstFailure("proved", chosen, found, runs, sets, "cut")
        rank = _rank_of_judgement(found, most)
        if worst is None or rank < worst:
            worst, speaks = rank, (chosen, found)
        if rank[0] == 0:
            break
    assert speaks is not None and worst is not None
    status = _status_of_rank(worst[0], speaks[1])
    return WorstFailure(status, *speaks, runs, sets, "orbits" if runs < sets else "all")


def _rank_of_judgement(found: Judgement, most: bool) -> tuple[int, Fraction]:
    """What ranks a judgement, less for worse: 0 for refuted, 1 for open, 2 for good, then by the figure."""
    value = found.upper if most else found.lower
    value = value.amount if isinstance(value, Quantity) else value
    figure = Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(0)
    status = 0 if found.status == "refuted" else 2 if found.status in ("proved", "modelled") else 1
    return status, -figure if most else figure


def _status_of_rank(rank: int, worst: Judgement) -> Status:
    """The status of all failures, by the rank of the worst judgement."""
    good: Status = "modelled" if worst.status == "modelled" else "proved"
    status: tuple[Status, ...] = ("refuted", "bounded", good)
    return status[rank]


def _failure_sets_of_sizes(
    view: View,
    elements: Sequence[FabricElement],
    sizes: Iterable[int],
    reads: Reads | None,
    fixed: Sequence[Ints],
) -> Iterator[tuple[FabricElement, ...]]:
    """Sets of these sizes in order, of which one of each orbit is among them. Elements of different numbers
    of copies are not exchanged, since a set may be possible and its image not."""
    several = len({e.copies for e in elements}) > 1
    for size in sizes:
        yield from _failure_set_per_orbit(view, elements, size, None if several else reads, fixed)


def _failure_set_per_orbit(
    view: View, elements: Sequence[FabricElement], count: int, reads: Reads | None, fixed: Sequence[Ints]
) -> Iterable[tuple[FabricElement, ...]]:
    """Sets of which one of each orbit is among them; those that hold most links first where all are gone
    through."""
    if count == 1:
        return [
            (elements[orbit[0]],)
            for orbit in symmetry_of_elements(view, elements, reads, fixed, single=True).orbits()
        ]
    sets = None
    if len(elements) <= view.budget.symmetric_elements and comb(len(elements), count) > 1:
        sets = symmetry_of_elements(view, elements, reads, fixed).sets(count, view.budget)
    if sets is not None:
        return [tuple(elements[i] for i in chosen) for chosen in sets]
    weight = [int(view.degree[e.devices].sum()) + len(e.links) for e in elements]
    order = np.argsort(-np.array(weight, dtype=np.int64), kind="stable").tolist()
    return combinations([elements[i] for i in order], count)
