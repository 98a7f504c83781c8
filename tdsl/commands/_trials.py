"""Designs that ``tdsl explore`` tries: each compiled, checked and measured, by several processes where that
is worth it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from tdsl.commands._compared_figures import (
    LEAST,
    figures_of_design,
    figures_of_economics,
    figures_of_jobs,
    figures_of_statements,
)
from tdsl.commands._shared import Wrong, compile_sources
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.progress import items_as_phase
from tdsl.system.workers import Workers, WorkersEnded

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation, Request
    from tdsl.physical.economics import Economics


Pairs = tuple[tuple[str, str], ...]
"""Values of some parameters, or the name of a candidate."""


@dataclass(frozen=True, slots=True)
class MoneyAndJob:
    """The job that is asked about, "" for those of the design, what costs over time are computed from, and
    efficiencies that followed from measurements on the first combination, by job."""

    job: str
    economics: Economics | None
    efficiencies: dict[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """A design to try: what it is called in its row, and the ways to write it, of which the first counts that
    has none of the findings ``next_after``. ``says_why`` where the row has what its first error says."""

    labels: Pairs
    ways: tuple[tuple[str, Request], ...]
    next_after: tuple[str, ...] = ()
    says_why: bool = False


def rows_of_trials(
    trials: Sequence[Trial], money: MoneyAndJob, workers: Workers, about: str, nouns: str
) -> list[dict[str, object]]:
    """What is known of each design: the first is tried here and the rest, if it is worth it, by several
    processes. They are counted on a terminal as ``nouns`` of what they are ``about``."""
    first, seconds = _row_of_trial(money, trials[0])
    rest = trials[1:]
    try:
        tried: Iterable[tuple[dict[str, object], float]] = (
            workers.results(partial(_row_of_trial, money), rest)
            if workers.worth(seconds * len(rest))
            else (_row_of_trial(money, trial) for trial in rest)
        )
        return [first, *(row for row, _ in items_as_phase(tried, f"explore {about}", len(rest), nouns))]
    except WorkersEnded as ended:
        raise Wrong(str(ended)) from None


def _row_of_trial(money: MoneyAndJob, trial: Trial) -> tuple[dict[str, object], float]:
    """The figures of one design, and the seconds it took; the row's `way` says which way counts."""
    seconds = 0.0
    for number, (file, asked) in enumerate(trial.ways):
        found = compile_sources([file], asked)[0]
        seconds += sum(d.elapsed_s for d in found.designs)
        errors = [d for d in found.findings if d.severity.word == "error"]
        if number == 0 or not any(d.code in trial.next_after for d in errors):
            why = {"way": str(number), "why": errors[0].message if errors else ""} if trial.says_why else {}
            row = {"errors": errors[0].code if errors else "", **why}
            known = _figures_of_compilation(found, money)
        if not any(d.code in trial.next_after for d in errors):
            break
    return {**dict(trial.labels), **known, **row}, seconds


def _figures_of_compilation(found: Compilation, money: MoneyAndJob) -> dict[str, object]:
    """The figures of a design or cluster, and those of the networks of a cluster, which say which."""
    known: dict[str, object] = {}
    for design in [*found.clusters, *found.designs[: 0 if found.clusters else 1]]:
        if design.fabric is not None and design.fabric.complete:
            known = known or {
                **figures_of_design(design),
                **figures_of_statements(design),
                **figures_of_jobs(design, money.job, money.economics, money.efficiencies),
                **(figures_of_economics(design, money.economics) if money.economics else {}),
            }
    for design in found.designs if found.clusters else ():  # figures of one network say which
        if design.fabric is not None and design.fabric.complete:
            known |= {
                f"{design.name}.{name}": value
                for name, value in figures_of_design(design).items()
                if name in LEAST
            }
    return known
