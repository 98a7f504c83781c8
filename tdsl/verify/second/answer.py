"""What a second method answers, and the limits that make it end."""

from __future__ import annotations

from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import RATE, TIME, Quantity
from tdsl.system.lazy_dataclass import dataclass

NETWORKX, Z3, HIGHS, CHECKER = "networkx", "z3", "HiGHS", "checker"

Figure = Fraction | float
"""An exact figure; the only float is infinity."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a second opinion may cost, in sizes: so the answer does not depend on the machine."""

    links: int = 25_000  # of a fabric
    steps: int = 4_000_000  # devices and links that searches and flows of networkx look at
    units: int = 16  # that z3 divides, or as many splits as these have where units have the same links
    crossings: int = 400  # pairs of devices with links that z3 counts
    work: int = 60_000_000  # z3's own count of its steps
    columns: int = 30_000  # of a linear program
    iterations: int = 200_000  # of the simplex method
    sets: int = 200  # sets of failures, one by one
    rounds: int = 200  # sets of failures that z3 proposes
    trials: int = 16  # values of an unknown count
    checked: int = 10_000_000  # steps of the checker for one certificate


@dataclass(frozen=True, slots=True)
class SecondAnswer:
    """A figure between ``lower`` and ``upper``, or yes or no, by a library. ``relative`` is the error of its
    floats, ``full_bps`` what 100% of a bandwidth is, 0 of other figures."""

    by: str
    lower: Figure = Fraction(0)
    upper: Figure = Fraction(0)
    holds: bool | None = None
    relative: Fraction = Fraction(0)
    full_bps: Fraction = Fraction(0)


class NoOpinion(Exception):
    """No second method answers; the text says why."""


class MethodTooLarge(NoOpinion):
    """A second method would take too long: what ``by`` would have to do, and its limit."""

    def __init__(self, by: str, size: str, limit: str = "") -> None:
        super().__init__(f"too large for {by}: {size}" + (f"; the limit is {limit}" if limit else ""))


def exact_answer(by: str, value: Figure | int) -> SecondAnswer:
    """A figure that is known."""
    value = Fraction(value) if isinstance(value, int) else value
    return SecondAnswer(by, value, value)


def yes_or_no_answer(by: str, holds: bool) -> SecondAnswer:
    """Yes or no."""
    return SecondAnswer(by, holds=holds)


def figure_asked_for(claim: ResolvedClaim, found: SecondAnswer) -> Fraction | None:
    """What a claim compares the figure with, a rate as a fraction of full; None where it is neither a number
    nor a rate."""
    asked = claim.value
    if isinstance(asked, Quantity) and asked.dim == RATE and found.full_bps:
        return Fraction(asked.amount) / found.full_bps
    if isinstance(asked, Quantity) and asked.dim == TIME:
        return Fraction(asked.amount)
    return None if isinstance(asked, bool) or not isinstance(asked, (int, Fraction)) else Fraction(asked)
