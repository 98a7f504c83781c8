"""Unknown counts of a fabric: found by the search, or explained where no number fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fabrics import Declared
from tdsl.semantics.openings import NameDependencies, Opening, holes_in_block, structure_rests_on_holes
from tdsl.semantics.plan import FabricPlan
from tdsl.sizing.budget import sizing_budget_of_seconds


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
        return fabric.plan(
            max_devices, {opening.span: 1 for opening in found}, trial=True
        )  # such a text is not solved
    numbers = _solve_unknown_counts(fabric, found, diagnostics, max_devices, max_links, seconds, second_best)
    return None if numbers is None else fabric.plan(max_devices, numbers)


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
    diagnostics.extend(own)
    return {opening.span: value for opening, value in solved.items()} or None
