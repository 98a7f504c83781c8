"""Unknown counts of a fabric: found by the search, or explained where no number fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fabrics import Declared
from tdsl.semantics.fault import Fault
from tdsl.semantics.openings import NameDependencies, Opening, holes_in_block, structure_rests_on_holes
from tdsl.semantics.plan import FabricPlan
from tdsl.sizing.budget import sizing_budget_of_seconds

_OF_SIZES = frozenset({"E0110", "E0459", "E0462"})
"""Findings about the numbers themselves."""


def plan_with_unknowns(
    fabric: Declared,
    diagnostics: Diagnostics,
    max_devices: int,
    max_links: int,
    seconds: int,
    second_best: bool,
) -> FabricPlan | None:
    """The plan of a fabric with its unknowns found; None if no numbers fit.

    ``seconds`` is about how long the search may take, counted in work. Raises Fault.
    """
    found = list(holes_in_block(fabric.member.node.body or ()))
    if not found:
        return fabric.plan(max_devices)
    if fabric.library.settings.domains is not None or any(d.code.startswith("E00") for d in diagnostics):
        return _plan_with_ones(fabric, found, diagnostics, max_devices)  # such a text is not solved
    most = sizing_budget_of_seconds(seconds).unknowns
    if len(found) > most:
        raise Fault("E0116", found[most].span, f"a fabric has at most {most} unknown numbers")
    numbers = _solve_unknown_counts(fabric, found, diagnostics, max_devices, max_links, seconds, second_best)
    return None if numbers is None else fabric.plan(max_devices, numbers)


def _plan_with_ones(
    fabric: Declared, found: Sequence[Opening], diagnostics: Diagnostics, max_devices: int
) -> FabricPlan | None:
    """A plan with 1 for each unknown; that a guard rules 1 out is no finding. Raises Fault."""
    own = Diagnostics()
    places = {opening.span for opening in found}
    with fabric.library.reporting_to(own):
        plan = fabric.plan(max_devices, dict.fromkeys(places, 1), trial=True)
    diagnostics.extend(d for d in own if d.code != "E0110" or d.span not in places)
    return plan


def _solve_unknown_counts(
    fabric: Declared,
    found: Sequence[Opening],
    diagnostics: Diagnostics,
    max_devices: int,
    max_links: int,
    seconds: int,
    second_best: bool,
) -> dict[SourceSpan, int] | None:
    """Numbers for the unknowns of a fabric, None if none fit."""
    body, library = fabric.member.node.body or (), fabric.library
    from tdsl.sizing.required import judge_trial_plan
    from tdsl.sizing.unknowns import Solver

    budget = sizing_budget_of_seconds(seconds)

    def trial(values: Mapping[SourceSpan, int], own: Diagnostics) -> FabricPlan:
        with library.reporting_to(own):
            return fabric.plan(max_devices, values, trial=True)

    solver = Solver(
        trial,
        found,
        structure_rests_on_holes(body),
        NameDependencies(body),
        partial(judge_trial_plan, max_links),
        max_links,
        budget,
        second_best,
    )
    own = Diagnostics()
    solved = solver.run(own)
    if any(d.code == "E0459" for d in own) and not structure_rests_on_holes(body):
        from tdsl.sizing.conflicts import add_conflicting_lines

        add_conflicting_lines(
            trial(solver.values, Diagnostics()), own, frozenset({"E0459"}), open=True, budget=budget
        )
    if any(d.severity is Severity.ERROR and d.code not in _OF_SIZES for d in own):
        places = {opening.span for opening in found}  # in such a text no number is found, and 1 is no answer
        own.items = [d for d in own if d.code != "E0110" or d.span not in places]
    diagnostics.extend(own)
    return {opening.span: value for opening, value in solved.items()} or None
