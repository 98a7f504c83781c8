"""How much work the search for unknown counts may do, and the questions to z3 about sizes.

Counted in devices and links that are wired, and in z3's own measure (``rlimit``), never in seconds, so that
the answer is the same on every machine. ``--solve-seconds`` multiplies the first, in which z3's work on
proposals counts, too.
"""

from __future__ import annotations

from dataclasses import replace

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class SizingBudget:
    """Limits of the search for the unknowns of one fabric."""

    trial_work: int = 30_000_000
    """Devices and links that are wired in trials: some ten seconds."""

    unknowns: int = 64
    """Unknowns of a fabric: the fabric is planned some times for each of them."""

    largest: int = 4096
    """The greatest number that an unknown may be."""

    first_values: int = 24
    """Values of an unknown that are tried before z3 proposes the next."""

    equal_refusals: int = 16
    """Values in a row that are refused for the same reason, after which the unknown is not its cause."""

    unmet_span: int = 2
    """Where two numbers or more fail a requirement for the same reason, none above so many times the last of
    them is tried."""

    large_fabric: int = 100_000
    """Devices and ports from which a trial takes so long that z3 proposes from the beginning."""

    proposal_work: int = 400_000
    """z3's work on one proposal; where it is not enough, every number is tried."""

    step_cost: int = 2
    """What a step of z3 costs in the work of trials, in which both take about as long."""

    relation_cost: int = 1000
    """What it costs to put one relation to z3, in the work of trials."""

    conflict_work: int = 2_000_000
    """z3's work on one question about lines that contradict each other: a second or so."""

    conflict_cells: int = 5_000
    """Lines in all questions of one fabric about lines that contradict each other: one or two seconds."""

    parameter_work: int = 4_000_000
    """z3's work on whether a requirement is met for all values of the parameters."""

    listed_values: int = 1000
    """Values of a parameter that are listed, up to which such a question is asked."""

    names: int = 100
    """Names that are computed from each other, up to which their formula is read."""


DEFAULT = SizingBudget()
SECONDS = 10
"""About how long the trials of ``DEFAULT`` may take, on the machine of 2026 on which the limits were set."""


def sizing_budget_of_seconds(seconds: int) -> SizingBudget:
    """The default limits with the work of trials in proportion to the time that is allowed."""
    return replace(DEFAULT, trial_work=DEFAULT.trial_work * seconds // SECONDS)
