"""With what probability a condition holds, where parts fail and are repaired independently of each other.

A part works with the probability 1/(1 + o), o its mean time of repair over its mean time between failures, in
the long run (the limit of an alternating renewal process: Barlow, Proschan, *Mathematical Theory of
Reliability*, 1965, chapter 3.3). The state in which just the parts F have failed then has the probability
A·Π(o of F), with A = Π 1/(1 + o) over all parts. Sets of no, one and two failed parts (of three where their
orbits are few) are judged by one set of each orbit and add up exactly; all sets above are one interval, from
none that holds to all that hold. Random states say where in it the figure is likely to be; no status rests on
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, lgamma, log, prod

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Ints
from tdsl.prove.budget import Budget
from tdsl.prove.element_symmetry import Symmetry, symmetry_of_elements
from tdsl.prove.symmetry import Reads, orbit_labels
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

BITS = 256
"""Probabilities are rounded outwards to multiples of 2^-256."""
Holds = Callable[[tuple[FabricElement, ...]], "bool | None"]
"""Whether a condition holds after these failed; None where that is not decided."""


@dataclass(frozen=True, slots=True)
class StateInterval:
    """Bounds of the probability. ``judged`` sets represent ``sets`` of ``parts`` parts, with up to
    ``failures`` failed; ``rest`` is the probability of all others, rounded up. ``worst`` is a set that breaks
    the condition, the most probable one of those that were judged."""

    lower: Fraction
    upper: Fraction
    judged: int
    sets: int
    parts: int
    failures: int
    rest: Fraction
    worst: tuple[FabricElement, ...] = ()


@dataclass(frozen=True, slots=True)
class SampledStates:
    """What random states say: the figure, the bounds that hold with the confidence of a budget, and how many
    states beyond those that were judged exactly were judged."""

    estimate: Fraction
    lower: Fraction
    upper: Fraction
    judged: int


def probability_of_no_failure(odds: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """Bounds of Π 1/(1 + o), rounded outwards."""
    one = 1 << BITS
    low = high = one
    counts: dict[Fraction, int] = {}
    for o in odds:
        counts[o] = counts.get(o, 0) + 1
    for o, count in sorted(counts.items()):
        up = (1 + o).denominator * one, (1 + o).numerator
        one_low, one_high = up[0] // up[1], -(-up[0] // up[1])
        low = _product_down(low, _power_of(one_low, count, down=True), one)
        high = _product_up(high, _power_of(one_high, count, down=False), one)
    return Fraction(low, one), Fraction(min(high, one), one)


def _product_down(a: int, b: int, one: int) -> int:
    return a * b // one


def _product_up(a: int, b: int, one: int) -> int:
    return -(-(a * b) // one)


def _power_of(base: int, exponent: int, down: bool) -> int:
    """A power of a number in units of 2^-BITS, by squaring, each product rounded down or up."""
    one, product = 1 << BITS, _product_down if down else _product_up
    out = one
    while exponent:
        if exponent & 1:
            out = product(out, base, one)
        base, exponent = product(base, base, one), exponent >> 1
    return out


def interval_of_states(
    view: View,
    elements: Sequence[FabricElement],
    odds: Sequence[Fraction],
    holds: Holds,
    reads: Reads | None = None,
    fixed: Sequence[Ints] = (),
    covered: int = 0,
) -> StateInterval:
    """The interval from sets of no to ``Budget.exact_failures`` failed parts, as far as the budget of the
    view allows.

    ``odds`` are those of the elements. After up to ``covered`` failures the condition is known to hold.
    ``reads`` and ``fixed`` say what the condition reads, for the symmetry that saves cases (None: none does).
    """
    good, bad = Fraction(0), Fraction(0)
    judged = sets = done = 0
    worst: tuple[Fraction, tuple[FabricElement, ...]] = Fraction(-1), ()
    left, most = view.budget.failure_sets, view.budget.exact_failures
    sums = _symmetric_sums(odds, max(covered, most))
    for size in range(most + 1):
        if covered and size <= covered:  # nothing is known of a condition before any failure by 0
            good, done, sets = good + sums[size], size, sets + comb(len(elements), size)
            continue
        chosen = _weighted_sets(view, elements, odds, size, reads, fixed, left)
        if chosen is None:
            break
        for count, weight, at in chosen:
            failed = tuple(elements[i] for i in at)
            answer = holds(failed)
            judged, sets, left = judged + 1, sets + count, left - 1
            good += count * weight if answer is True else 0
            bad += count * weight if answer is False else 0
            if answer is False and weight > worst[0]:
                worst = weight, failed
        done = size
    for size in range(most + 1, covered + 1):
        good, done, sets = good + sums[size], size, sets + comb(len(elements), size)
    low = probability_of_no_failure(odds)[0]
    rest = max(1 - low * sum(sums[: done + 1], Fraction(0)), Fraction(0))
    upper = min(1 - low * bad, Fraction(1))
    return StateInterval(
        min(low * good, upper), upper, judged, sets, len(elements), done, min(rest, Fraction(1)), worst[1]
    )


def _symmetric_sums(odds: Sequence[Fraction], most: int) -> list[Fraction]:
    """The elementary symmetric sums of the odds up to a degree: sums of Π o over the sets of each size."""
    counts: dict[Fraction, int] = {}
    for o in odds:
        counts[o] = counts.get(o, 0) + 1
    sums = [Fraction(1), *[Fraction(0)] * most]
    for o, n in counts.items():
        terms = [comb(n, k) * o**k for k in range(most + 1)]
        sums = [sum((sums[i] * terms[k - i] for i in range(k + 1)), Fraction(0)) for k in range(most + 1)]
    return sums


def _weighted_sets(
    view: View,
    elements: Sequence[FabricElement],
    odds: Sequence[Fraction],
    size: int,
    reads: Reads | None,
    fixed: Sequence[Ints],
    most: int,
) -> list[tuple[int, Fraction, tuple[int, ...]]] | None:
    """Of every orbit of sets of this size how many it has, Π o of each, and one of them; None where there are
    more than ``most`` orbits."""
    if size == 0:
        return [(1, Fraction(1), ())] if most else None
    if size == 1:
        label = labels_of_single_elements(view, elements, odds, reads, fixed)
        sets = np.arange(len(elements), dtype=np.int64).reshape(-1, 1)
        return _one_set_of_each_orbit(sets, label, odds, most)
    n, budget = len(elements), view.budget
    symmetric = n <= budget.symmetric_elements and comb(n, size) <= budget.symmetry_sets
    if not symmetric and comb(n, size) > most:
        return None
    sym = symmetry_of_elements(view, elements, reads, fixed) if symmetric else Symmetry(n, ())
    moves = _moves_that_keep_odds(sym.generators, odds)
    sets = np.array(list(combinations(range(n), size)), dtype=np.int64).reshape(-1, size)
    digits = n ** np.arange(size - 1, -1, -1, dtype=np.int64)
    keys = sets @ digits
    images = [np.searchsorted(keys, np.sort(g[sets], axis=1) @ digits) for g in moves]
    return _one_set_of_each_orbit(sets, orbit_labels(len(keys), images), odds, most)


def _one_set_of_each_orbit(
    sets: Ints, label: Ints, odds: Sequence[Fraction], most: int
) -> list[tuple[int, Fraction, tuple[int, ...]]] | None:
    """The first of the ``sets`` (a row each) of every label, with how many have that label and Π o; None
    where there are more than ``most`` labels."""
    found, first, count = np.unique(label, return_index=True, return_counts=True)
    if len(found) > most:
        return None
    return [
        (k, prod((odds[i] for i in at), start=Fraction(1)), tuple(at))
        for at, k in zip(sets[first].tolist(), count.tolist(), strict=True)
    ]


def labels_of_single_elements(
    view: View,
    elements: Sequence[FabricElement],
    odds: Sequence[Fraction],
    reads: Reads | None,
    fixed: Sequence[Ints],
) -> Ints:
    """The lowest of its orbit for every element, of those that are as likely to fail. Devices and links are
    moved apart, since those of links may overlap those of others."""
    label = np.arange(len(elements))
    for at in _families_of_elements(elements, odds):
        some = [elements[i] for i in at.tolist()]
        if len(some[0].links) and len(some) > view.budget.symmetric_elements:
            continue  # a try for each of so many links takes too long
        moves = symmetry_of_elements(view, some, reads, fixed, single=True).generators
        label[at] = at[orbit_labels(len(some), moves)]
    return label


def _families_of_elements(elements: Sequence[FabricElement], odds: Sequence[Fraction]) -> Iterator[Ints]:
    """Elements as likely to fail whose links are disjoint: single devices, groups of them, then links, each
    as far as they do not overlap others of theirs."""
    families: list[tuple[set[int], list[int], object]] = []
    for i, e in enumerate(elements):
        kind = "links" if len(e.links) else "device" if len(e.devices) == 1 else "group", odds[i]
        mine = set(e.links.tolist())
        for taken, rows, of in families:
            if of == kind and not taken & mine:
                taken |= mine
                rows.append(i)
                break
        else:
            families.append((mine, [i], kind))
    for _, rows, _ in families:
        yield np.array(rows, dtype=np.int64)


def _moves_that_keep_odds(moves: Sequence[Ints], odds: Sequence[Fraction]) -> list[Ints]:
    """The permutations of elements that map each to one as likely to fail."""
    number = {o: k for k, o in enumerate(dict.fromkeys(odds))}
    column = np.array([number[o] for o in odds], dtype=np.int64)
    return [g for g in moves if np.array_equal(column[g], column)]


# ---------------------------------------------------------------- random states


def sample_states(
    elements: Sequence[FabricElement],
    odds: Sequence[Fraction],
    known: StateInterval,
    holds: Holds,
    budget: Budget,
) -> SampledStates | None:
    """Random states, those with more failures than were judged exactly; ``budget`` says how many are drawn
    and judged, and the seed. None
    where some state is not decided, or none is drawn.

    Of the states beyond the exact ones the share that holds is estimated with the bounds of Clopper and
    Pearson (Biometrika 26, 1934) at the confidence of ``budget``, and weighted with their
    probability.
    """
    order = _order_by_odds(odds)
    draw = _Draws(budget.state_seed)
    hits = tried = 0
    for _ in range(budget.drawn_states):
        failed = draw.failed_parts(order)
        if len(failed) <= known.failures:
            continue
        answer = holds(tuple(elements[i] for i in failed))
        if answer is None:
            return None
        tried, hits = tried + 1, hits + answer
        if tried == budget.sampled_states:
            break
    if not tried:
        return None
    shares = clopper_pearson_bounds(hits, tried, float(1 - budget.state_confidence))
    mean, low, high = (
        min(known.lower + known.rest * Fraction(x), known.upper) for x in (hits / tried, *shares)
    )
    return SampledStates(mean, low, high, tried)


def _order_by_odds(odds: Sequence[Fraction]) -> list[tuple[float, list[int]]]:
    """The elements of each probability of failure, with that probability."""
    groups: dict[Fraction, list[int]] = {}
    for i, o in enumerate(odds):
        groups.setdefault(o, []).append(i)
    return [(float(o / (1 + o)), rows) for o, rows in groups.items()]


class _Draws:
    """Random states from raw words of PCG64: their stream is fixed for good, other methods of numpy may
    change."""

    def __init__(self, seed: int) -> None:
        self._words = np.random.PCG64(seed)

    def uniform(self) -> float:
        """A number above 0 and below 1."""
        return (int(self._words.random_raw()) + 0.5) / 2.0**64

    def failed_parts(self, order: Sequence[tuple[float, list[int]]]) -> list[int]:
        """The failed parts of one state: of each class the steps from one to the next are geometric."""
        out: list[int] = []
        for p, rows in order:
            if p <= 0:
                continue
            at = -1
            while True:
                at += 1 + int(min(log(self.uniform()) / log(1 - p), 2.0**40)) if p < 1 else 1
                if at >= len(rows):
                    break
                out.append(rows[at])
        return sorted(out)


def clopper_pearson_bounds(hits: int, tried: int, error: float) -> tuple[float, float]:
    """The bounds between which the share lies of which ``tried`` trials had ``hits``, wrong at most with the
    probability ``error``."""

    def tail_from(k: int, p: float) -> float:
        """The probability of ``k`` hits or more."""
        return sum(_binomial_term(tried, i, p) for i in range(k, tried + 1))

    low = 0.0 if hits == 0 else _crossing(lambda p: tail_from(hits, p) >= error / 2)
    high = 1.0 if hits == tried else _crossing(lambda p: 1 - tail_from(hits + 1, p) <= error / 2)
    return low, high


def _crossing(after: Callable[[float], bool]) -> float:
    """Where a condition begins to hold between 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if after(middle) else (middle, high)
    return high


def _binomial_term(n: int, k: int, p: float) -> float:
    if p <= 0 or p >= 1:
        return float(k == (n if p >= 1 else 0))
    logs = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p)
    return float(np.exp(logs))
