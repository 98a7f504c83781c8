"""Which lines of a design cannot hold together: an irreducible set, from which none can be left out.

z3 gives a core of the relations that contradict each other; it is then reduced by deletion (Chinneck and Dravnieks 1991, the
deletion filter) until dropping any one line leaves the rest satisfiable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import z3

from tdsl.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.fabric.sizes import Line, Sizes
from tdsl.semantics.plan import Plan
from tdsl.source import Span

WORK = 2_000_000
"""z3's own measure of work (``rlimit``) for one question: the same on every machine, a second or so."""


def explain(plan: Plan, found: Diagnostics, codes: frozenset[str], *, open: bool = False) -> None:
    """Give each finding of these codes the lines that cannot hold together as labels, where sizes are the cause."""
    sizes = Sizes(plan, open=open)
    errors = [d for d in found if d.severity is Severity.ERROR and d.span is not None]
    for k, d in enumerate(found.items):
        if d in errors and d.code in codes:
            others = [x.span for x in errors if x is not d and x.span is not None]
            lines = [x for x in sizes.lines.values() if not any(_covers(x.span, s) and x.number is False for s in others)]
            lines = [x for x in lines if x.holds]
            core = irreducible(sizes.always, lines)
            if core and d.span is not None and (d.code == "E0459" or any(_covers(x.span, d.span) for x in core)):
                found.items[k] = told(d, core)


def told(d: Diagnostic, core: Sequence[Line]) -> Diagnostic:
    """A finding with the lines of its conflict."""
    lines = [x for x in core if d.span is None or not _covers(x.span, d.span)]
    if not lines:
        return d
    seen = {(id(x.span.file), x.span.start) for x in d.labels}
    labels = tuple(Label(x.span, x.said) for x in lines if (id(x.span.file), x.span.start) not in seen)
    note = f"these {len(core)} places cannot hold together; without any one of them the others can"
    return replace(d, labels=(*d.labels, *labels), notes=(*d.notes, note))


def _covers(outer: Span, inner: Span) -> bool:
    return outer.file is inner.file and outer.start <= inner.start and inner.end <= outer.end


def irreducible(always: Sequence[z3.BoolRef], lines: Sequence[Line]) -> list[Line]:
    """Lines that contradict each other, none of which can be left out, in order of the text; none if z3 finds no contradiction
    within its limit."""
    core = _core(always, lines)
    if core is None:
        return []
    for line in sorted(core, key=lambda x: (x.number, -x.span.start)):
        rest = [x for x in core if x is not line]
        if decide(always, rest) == z3.unsat:
            core = rest
    return sorted(core, key=lambda x: x.span.start)


def _core(always: Sequence[z3.BoolRef], lines: Sequence[Line]) -> list[Line] | None:
    solver = _solver()
    solver.add(*always)
    names = {f"line{k}": line for k, line in enumerate(lines)}
    for name, line in names.items():
        solver.assert_and_track(z3.And(*line.holds), name)
    if solver.check() != z3.unsat:
        return list(lines) if decide(always, lines) == z3.unsat else None
    return [names[str(x)] for x in solver.unsat_core()]


def decide(always: Iterable[z3.BoolRef], lines: Iterable[Line], *more: z3.BoolRef) -> z3.CheckSatResult:
    """Whether relations can hold together: ``sat``, ``unsat``, or ``unknown`` where the limit is spent."""
    solver = _solver()
    solver.add(*always, *(c for line in lines for c in line.holds), *more)
    return solver.check()


def _solver() -> z3.Solver:
    solver = z3.Solver()
    solver.set("rlimit", WORK)
    solver.set("random_seed", 0)
    return solver
