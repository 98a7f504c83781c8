"""Which lines of a design cannot hold together: an irreducible set, from which none can be left out.

Lines are left out one by one as long as the rest still contradict each other (Chinneck and Dravnieks 1991,
the deletion filter), in an order that the text gives, so that the set does not hang on what z3 did before.
Where z3 comes to no end within its limit, the line stays, and the set is not said to be irreducible.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import z3

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.plan import FabricPlan
from tdsl.sizing.budget import DEFAULT, SizingBudget
from tdsl.sizing.relations import SizeConstraint, SizeRelations


def add_conflicting_lines(
    plan: FabricPlan,
    found: Diagnostics,
    codes: frozenset[str],
    *,
    open: bool = False,
    budget: SizingBudget = DEFAULT,
) -> None:
    """Give each finding of these codes the lines that cannot hold together as labels, where sizes are the
    cause. Work grows with the square of the lines: what the budget does not allow is not explained."""
    left = budget.conflict_cells
    sizes = SizeRelations(plan, open=open)
    errors = [d for d in found if d.severity is Severity.ERROR and d.span is not None]
    for k, d in enumerate(found.items):
        if d in errors and d.code in codes:
            others = [x.span for x in errors if x is not d and x.span is not None]
            lines = _lines_without_faults(sizes, others)
            left -= len(lines) ** 2
            if left < 0:
                return
            core, proven = irreducible_lines(sizes.always, lines, budget)
            if core and _is_about_lines(d, core):
                found.items[k] = finding_with_conflict(d, core, proven)


def _lines_without_faults(sizes: SizeRelations, faults: list[SourceSpan]) -> list[SizeConstraint]:
    """The lines that ask something of sizes, but for those that contain the places of other faults."""
    return [
        x
        for x in sizes.lines.values()
        if x.holds and not any(_span_covers(x.span, s) and x.number is False for s in faults)
    ]


def _is_about_lines(d: Diagnostic, core: Sequence[SizeConstraint]) -> bool:
    """Whether a finding is about the lines of a conflict: it is in one of them, or of no size that fits."""
    if d.span is None:
        return False
    return d.code == "E0459" or any(_span_covers(x.span, d.span) for x in core)


def finding_with_conflict(d: Diagnostic, core: Sequence[SizeConstraint], proven: bool) -> Diagnostic:
    """A finding with the lines of its conflict, and whether it is ``proven`` that they are the fewest."""
    lines = [x for x in core if d.span is None or not _span_covers(x.span, d.span)]
    if not lines:
        return d
    seen = {(id(x.span.file), x.span.start) for x in d.labels}
    labels = tuple(Label(x.span, x.said) for x in lines if (id(x.span.file), x.span.start) not in seen)
    end = "without any one of them the others are consistent" if proven else "a smaller set may exist"
    note = f"these {len(core)} statements contradict each other; {end}"
    return replace(d, labels=(*d.labels, *labels), notes=(*d.notes, note))


def _span_covers(outer: SourceSpan, inner: SourceSpan) -> bool:
    return outer.file is inner.file and outer.start <= inner.start and inner.end <= outer.end


def irreducible_lines(
    always: Sequence[z3.BoolRef], lines: Sequence[SizeConstraint], budget: SizingBudget = DEFAULT
) -> tuple[list[SizeConstraint], bool]:
    """Lines that contradict each other, in order of the text, and whether none of them can be left out; no
    lines if z3 finds no contradiction within its limit."""
    if check_relations(always, lines, budget) != z3.unsat:
        return [], False
    core, proven = list(lines), True
    for line in sorted(core, key=lambda x: (x.number, -x.span.start)):
        rest = [x for x in core if x is not line]
        said = check_relations(always, rest, budget)
        if said == z3.unsat:
            core = rest
        elif said == z3.unknown:
            proven = False
    return sorted(core, key=lambda x: x.span.start), proven


def check_relations(
    always: Iterable[z3.BoolRef], lines: Iterable[SizeConstraint], budget: SizingBudget = DEFAULT
) -> z3.CheckSatResult:
    """Whether relations can hold together: ``sat``, ``unsat``, or ``unknown`` where the limit is spent."""
    solver = z3.SimpleSolver()  # tactics of the other have limits in seconds
    solver.set("rlimit", budget.conflict_work)
    solver.set("random_seed", 0)
    solver.add(*always, *(c for line in lines for c in line.holds))
    return solver.check()
