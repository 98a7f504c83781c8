"""Holes are solved by trial: the least whole number for which the wiring that takes part is even and has the
ports.

Holes come one by one in order of the text; what rests on a later hole is left out until that hole's turn. If
a later one finds nothing, the one before moves on. Where requirements on sizes or ``minimize`` take part, and
in large fabrics, z3 proposes the numbers that are worth a trial (``tdsl.sizing.proposals``); the wiring is
the judge all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.elaborate import apply_omissions, apply_overrides, build_device_rows, elaborate_fabric
from tdsl.fabric.inside import links_inside, mark_ports_inside
from tdsl.fabric.ports import PortTable
from tdsl.fabric.wiring import WiringState, faults_of_separated_spreads, takes_remaining_ports, wire_connect
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.openings import NameDependencies, Opening
from tdsl.semantics.plan import FabricPlan, ResolvedConnect
from tdsl.sizing.budget import DEFAULT, SizingBudget
from tdsl.sizing.independent import fails_for_every_value
from tdsl.sizing.objectives import CablePartFigures, Weights, minimize_from_statement, weights_of_device_sets
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.sizing.proposals import Guide

CURABLE = frozenset(
    {
        "E0108",
        "E0110",
        "E0111",
        "E0120",
        "E0451",
        "E0452",
        "E0454",
        "E0457",
        "E0458",
        "E0459",
        "E0460",
        "E0107",
    }
)
"""Findings that another number may remove."""

GUARD = "E0110"
"""What a guard rules out: the first such value says more than the last."""

TRIAL = 3000
"""What a trial costs besides its devices and links, in the same work."""
BASES = 64
"""Values from which the first that all guards let pass is taken to begin with."""
STEPS = (0, 1, 2, 5)
"""Values above it that show which sets of devices an unknown sizes."""

Make = Callable[[Mapping[SourceSpan, int], Diagnostics], FabricPlan]
"""Plans a fabric with numbers for its unknowns."""


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """What is wrong with the fabric of some numbers, and the work it took to know.

    ``counted``: what is counted, and its circuits, are as required. ``unjudged`` are claims, as written, for
    which the limit was too low.
    """

    work: int
    found: Sequence[Diagnostic]
    counted: bool = True
    unjudged: tuple[str, ...] = ()


Judge = Callable[[FabricPlan, int], TrialVerdict]
"""Judges a plan whose wiring fits, with work up to a limit."""


class SearchBudgetSpent(Exception):
    """The limit is spent."""


@dataclass(slots=True)
class Solver:
    """The search over one fabric's holes; ``values`` are those on trial."""

    make: Make
    openings: Sequence[Opening]
    branching: bool  # whether a block's statements may rest on a hole
    names: NameDependencies
    judge: Judge
    max_links: int
    budget: SizingBudget = DEFAULT
    second_best: bool = False
    values: dict[SourceSpan, int] = field(default_factory=dict)
    base: int = 1
    work: int = 0
    undecided: bool = False  # the limit was spent
    highest: int = 0  # the highest number tried for the last hole
    guide: Guide | None = None
    weights: Weights | None = None
    ranked: list[tuple[Fraction, tuple[int, ...]]] = field(
        default_factory=list
    )  # the best assignments by their figure
    parts: CablePartFigures = field(
        default_factory=CablePartFigures
    )  # cables and transceivers of the fabrics ranked
    foreign: tuple[Diagnostic, ...] = ()  # findings that no hole is the cause of
    unmet: Sequence[Diagnostic] = ()  # what the judge found last
    unmet_equal: int = 0  # how often in a row
    judged_last: int = 0  # the number of the last hole that was judged last
    whatever: bool = False  # whether what was refused last is refused for every value
    beyond: tuple[Diagnostic, ...] = ()  # what no value of a later hole removes
    fitting: tuple[
        int, ...
    ] = ()  # the first numbers for which the wiring fits, and counts are as required if they ever are
    failing: Sequence[Diagnostic] = ()  # what the judge says of them
    counted: bool = False  # whether those counts are
    unjudged: tuple[str, ...] = ()  # claims that the limit left open when numbers were taken
    refused: dict[int, dict[str, tuple[int, Diagnostic]]] = field(
        default_factory=dict
    )  # hole -> code -> last value refused

    def run(self, diagnostics: Diagnostics) -> dict[Opening, int]:
        """A value for every hole, with a note each; nothing, with a finding, if there is none."""
        self.begin()
        depends = [self.dependents(k) for k in range(len(self.openings))]
        try:
            self.prepare(set().union(*depends))
        except Fault as fault:
            fault.report(diagnostics)
            return {}
        found = self.search_within_limit(depends) or bool(self.ranked)
        if not found and not self.fitting:
            self.report(diagnostics)
            return {}
        if self.ranked or not found:
            for opening, value in zip(
                self.openings, self.ranked[0][1] if self.ranked else self.fitting, strict=True
            ):
                self.give(opening, value)
        out = {o: self.values[o.span] for o in self.openings}
        if not found:
            self.concede(diagnostics, out)
        elif self.weights is not None:
            self.compare(diagnostics, out)
        else:
            self.explain(diagnostics, out)
        return out

    def search_within_limit(self, depends: list[set[str]]) -> bool:
        """Find a value for each hole; where the limit is spent before, ``undecided`` says so."""
        try:
            return self.search(0, depends)
        except SearchBudgetSpent:
            self.undecided = True
            return False

    def explain(self, diagnostics: Diagnostics, out: dict[Opening, int]) -> None:
        """Notes of the least numbers that fit, each with why lower ones do not."""
        for k, (opening, value) in enumerate(out.items()):
            refused = sorted(self.refused.get(k, {}).values(), key=lambda x: x[0])
            why = [f"{n}: {d.message}" for n, d in refused if n < value]
            if self.guide is not None and value > 1 and not why:
                why = ["the sizes around it and what is required of them rule lower numbers out"]
            if opening == self.openings[-1]:
                why += self.left_open()
            diagnostics.add(
                "E0461",
                opening.span,
                f"`{opening.name}` is {value}, the least number that fits",
                notes=why,
                severity=Severity.NOTE,
            )

    def left_open(self) -> list[str]:
        """Of claims that the limit let nobody judge, a note each."""
        return [
            f"`{text}` was not used to choose a number: to check it takes more work than the limit"
            for text in self.unjudged
        ]

    def concede(self, diagnostics: Diagnostics, out: dict[Opening, int]) -> None:
        """Notes of the first numbers for which the wiring fits, where none was found that is judged well."""
        tried = f"up to {self.highest}" + (
            ", where the limit is reached" if self.undecided and self.highest < self.budget.largest else ""
        )
        notes = [f"none of the numbers tried, {tried}, is enough: {d.message}" for d in self.failing]
        for opening, value in out.items():
            message = (
                f"`{opening.name}` is {value}, the least number that the wiring fits; "
                "requirements are not met"
            )
            said = notes if opening == self.openings[-1] else []
            diagnostics.add("E0461", opening.span, message, notes=said, severity=Severity.NOTE)

    def begin(self) -> None:
        """Give all holes the least number that their guards let pass, from which others differ."""
        for value in range(1, BASES):
            for opening in self.openings:
                self.give(opening, value)
            if not self.planned(Diagnostics()).broken:
                self.base = value
                return
        for opening in self.openings:
            self.give(opening, 1)

    def give(self, opening: Opening, value: int) -> None:
        """Give a hole a value."""
        self.values[opening.span] = value

    def planned(self, found: Diagnostics) -> FabricPlan:
        """The plan with the present values."""
        return self.make(self.values, found)

    def dependents(self, k: int) -> set[str]:
        """Paths of the device sets whose sizes rest on a hole, as a few of its values show."""
        sizes = []
        for step in STEPS:
            self.give(self.openings[k], self.base + step)
            sizes.append({s.path: s.axes for s in self.planned(Diagnostics()).sets})
        self.give(self.openings[k], self.base)
        return {path for path in set().union(*sizes) if any(x.get(path) != sizes[0].get(path) for x in sizes)}

    def search(self, k: int, depends: list[set[str]]) -> bool:
        """Find a value for hole k and all after it."""
        if k == len(self.openings):
            return self.settled()
        later: set[str] = set().union(*depends[k + 1 :])
        last: tuple[Diagnostic, ...] = ()
        equal = 0  # values in a row that the very same findings refused
        top = self.largest(later)
        self.unmet, self.unmet_equal = (), 0  # with other numbers before it, equal refusals are counted anew
        for value in self.candidates(k, top):
            if self.is_no_cause(k, value):
                break
            self.give(self.openings[k], value)
            found = tuple(self.faults(later, self.openings[k + 1 :], depends[k] | later))
            if found:
                self.note_tried(k, value)
                equal, last = (equal + 1 if found == last else 1), found
                if self.gives_up(k, value, found, equal):
                    break
            elif self.search(k + 1, depends):
                return True
            elif self.foreign:
                return False
            else:
                self.note_tried(k, value)
                equal, last, self.beyond = (equal + 1 if self.beyond == last else 1), self.beyond, ()
                if last and equal >= self.budget.equal_refusals:
                    self.foreign = last if k == 0 else ()
                    break
                if self.is_last(k) and self.unmet_equal >= self.budget.equal_refusals:
                    break
        else:
            self.note_tried(k, top)
            self.undecided = self.undecided or (top == self.budget.largest and not self.ranked)
        self.give(self.openings[k], self.base)
        return False

    def is_last(self, k: int) -> bool:
        """Whether no hole comes after hole k."""
        return k == len(self.openings) - 1

    def note_tried(self, k: int, value: int) -> None:
        """Keep the highest number that was tried for the last hole."""
        if self.is_last(k):
            self.highest = max(self.highest, value)

    def is_no_cause(self, k: int, value: int) -> bool:
        """Whether the last hole is not the cause of what is not met: the same is not met by several numbers,
        and none that is near fits."""
        return self.is_last(k) and self.unmet_equal > 1 and value > self.budget.unmet_span * self.judged_last

    def gives_up(self, k: int, value: int, found: tuple[Diagnostic, ...], equal: int) -> bool:
        """Keep why a value of hole k is refused; whether no other is tried then. ``equal`` values in a row
        were refused by the same findings."""
        reasons = self.refused.setdefault(k, {})
        reasons.update((d.code, (value, d)) for d in found if d.code not in reasons or d.code != GUARD)
        if self.whatever and k:
            self.beyond = found
            return True  # no value of this one removes it: the one before moves
        if value > self.budget.first_values and equal == 1:
            self.ask(self.planned(Diagnostics()))
        strange = any(d.code not in CURABLE for d in found)
        if strange or equal >= self.budget.equal_refusals:
            self.foreign = found if strange or k == 0 else ()
            return True
        return False

    # ------------------------------------------------------------ proposals
    def prepare(self, sized: set[str]) -> None:
        """Have z3 propose where that pays. Raises Fault if what is to be made least has no figure."""
        for opening in self.openings:
            self.give(opening, self.base)
        plan = self.planned(Diagnostics())
        if plan.minimize is not None:
            self.weights = weights_of_device_sets(minimize_from_statement(plan.minimize), plan, sized)
        asked = any(
            c.metric.name in ("switches", "links")
            for r in plan.requires
            if not r.node.report
            for c in r.node.claims
        )
        large = sum(s.count * (1 + s.model.port_count) for s in plan.sets) > self.budget.large_fabric
        if asked or large or self.weights is not None:
            self.ask(plan)

    def ask(self, plan: FabricPlan) -> None:
        """Have z3 propose from now on, where a plan has relations."""
        if self.guide is None and not plan.broken and not self.branching:
            from tdsl.sizing.proposals import Guide

            self.guide = Guide(plan, self.weights, self.budget)

    def candidates(self, k: int, top: int) -> Iterator[int]:
        """Numbers worth a trial, least first. Raises Spent."""
        fixed = {o.key: self.values[o.span] for o in self.openings[:k]}
        low = 1
        while low <= top:
            if self.guide is None:
                yield low
                low += 1
                continue
            from tdsl.sizing.proposals import Undecided

            below = ceil(self.ranked[-1][0]) if len(self.ranked) > self.second_best else None
            before = self.guide.spent
            try:
                value = self.guide.least(fixed, self.openings[k].key, low, top, below)
            except Undecided:
                value = low
            self.spend(self.guide.spent - before)
            if value is None:
                return
            yield value
            low = value + 1

    def settled(self) -> bool:
        """Whether the search is over with the present values; under ``minimize`` they are ranked and it goes
        on."""
        if self.weights is None:
            return self.judged()
        total = self.total(self.weights)
        if len(self.ranked) > self.second_best and total >= self.ranked[-1][0]:
            return False  # no better, however it is judged
        if self.judged():
            self.ranked.append((total, tuple(self.values[o.span] for o in self.openings)))
            self.ranked.sort(key=lambda x: x[0])
            del self.ranked[1 + self.second_best :]
        return False

    def judged(self) -> bool:
        """Whether the fabric of the present values is judged well. Raises Spent only where it is not."""
        plan = self.planned(Diagnostics())
        verdict = self.judge(plan, self.limit - self.work)
        found, values = verdict.found, tuple(self.values[o.span] for o in self.openings)
        self.unmet_equal = (
            self.unmet_equal + 1 if [d.message for d in found] == [d.message for d in self.unmet] else 1
        )
        self.unmet, self.judged_last = found, values[-1]
        self.work += verdict.work
        if verdict.unjudged and (self.fitting or self.ranked):
            raise SearchBudgetSpent  # what was judged before is the answer, not what nobody knows
        if not found:
            self.unjudged = verdict.unjudged
            return True
        if not self.fitting or (verdict.counted and not self.counted):
            self.fitting, self.failing, self.counted = values, found, verdict.counted
        self.refused.setdefault(len(values) - 1, {}).update((d.code, (values[-1], d)) for d in found)
        self.ask(plan)
        self.spend(TRIAL)
        return False

    def total(self, by: Weights) -> Fraction:
        """The figure of the fabric with the present values, times the scale of the weights."""
        plan = self.planned(Diagnostics())
        if by.asked.figure == "cables":
            return Fraction(len(np.unique(elaborate_fabric(plan, Diagnostics(), self.max_links).cable_group)))
        rows = build_device_rows(plan)
        apply_omissions(plan, rows, Diagnostics())
        each = np.array([by.each.get(s.path, 0) for s in rows.sets] or [0], dtype=object)
        devices = int(sum(each[i] * int(n) for i, n in enumerate(np.bincount(rows.device_set[rows.built]))))
        if by.unit is None:
            return Fraction(devices)
        from tdsl.physical.power_and_cost import Figures

        figures = Figures(elaborate_fabric(plan, Diagnostics(), self.max_links))
        f = figures.fabric
        every, legs = np.ones(f.device_count, dtype=np.bool_), np.ones(len(f.cable_a), dtype=np.bool_)
        cost = by.asked.figure == "cost"
        whole = figures.cost(every, legs) if cost else figures.power(every)
        parts = figures.parts_cost(every, legs) if cost else figures.parts_power(every)
        self.parts.add(parts.known, parts.missing)
        return whole.known * by.scale

    def compare(self, diagnostics: Diagnostics, out: dict[Opening, int]) -> None:
        """Notes of what ``minimize`` chose, and the second best if that was asked for."""
        assert self.weights is not None
        best = self.ranked[0][0]
        notes = []
        if self.parts.incomparable:
            what = "price" if self.weights.asked.figure == "cost" else "power"
            diagnostics.add(
                "E0463",
                self.weights.asked.span,
                f"some cables or transceivers say no `{what}`, and not equally many for all numbers",
                help="name parts that state it, `cable PART` and `optic A, B`, or minimize `switches`",
            )
            return
        if self.second_best:
            notes = ["no other numbers fit"]
            if len(self.ranked) > 1:
                total, values = self.ranked[1]
                said = ", ".join(f"`{o.name}` {v}" for o, v in zip(self.openings, values, strict=True))
                notes = [
                    f"the second best is {said}: {self.weights.show(total)} against {self.weights.show(best)}"
                ]
        notes += self.left_open()
        for opening, value in out.items():
            message = (
                f"`{opening.name}` is {value}, with the least {self.weights.asked.figure}: "
                f"{self.weights.show(best)}"
            )
            message += ", of devices alone" if self.parts.left_out else ""
            diagnostics.add("E0461", opening.span, message, notes=notes, severity=Severity.NOTE)
        if self.undecided:
            diagnostics.add(
                "E0462",
                self.weights.asked.span,
                "the limit is reached, and other numbers may need less",
                notes=[f"the best that was found: {self.weights.show(best)}"],
                severity=Severity.WARNING,
                help="raise it with `--solve-seconds`",
            )

    def largest(self, later: set[str]) -> int:
        """More devices than all others have ports would have no link."""
        sizes = [
            s.count * max(1, s.model.port_count)
            for s in self.planned(Diagnostics()).sets
            if s.path not in later
        ]
        return min(self.budget.largest, max(64, sum(sizes)))

    def faults(self, later: set[str], holes: Sequence[Opening], varying: set[str]) -> list[Diagnostic]:
        """What is wrong with the present values, without what rests on later holes and the device sets that
        they size.

        ``varying`` are the sets that the hole on trial and later ones size; ``whatever`` says afterwards that
        a refusal holds for all their values.
        """
        self.whatever = False
        found = Diagnostics()
        plan = self.planned(found)
        wrong = [d for d in found if d.severity is Severity.ERROR]
        if wrong:
            self.spend(TRIAL)
            return [d for d in wrong if not self.may_remove(d, holes)]
        rows = build_device_rows(plan)
        left_out = (
            Diagnostics() if holes else found
        )  # what they name may be there with other numbers of later holes
        apply_overrides(plan, rows, left_out)
        apply_omissions(plan, rows, left_out)
        kinds = np.array([s.kind for s in rows.sets] or [""])[rows.device_set]
        ports = PortTable(rows.sets, rows.models, rows.device_model, rows.built)
        inside = [links_inside(m, plan, Diagnostics()) for m in rows.models] if plan.insides else ()
        mark_ports_inside(ports, inside)
        wiring = WiringState(ports, plan.evaluator, kinds, self.max_links)
        self.spend(TRIAL + len(rows.device_set))
        open, wires = self.wires(plan, later, holes)
        found.items += self.fault_of_wiring(wiring, wires, holes, varying)
        if not open and not found.has_errors:
            found.extend(fault.diagnostic for fault in faults_of_separated_spreads(wiring))
        self.spend(wiring.tried)
        return [d for d in found if d.severity is Severity.ERROR]

    def fault_of_wiring(
        self,
        wiring: WiringState,
        wires: list[tuple[int, ResolvedConnect]],
        holes: Sequence[Opening],
        varying: set[str],
    ) -> list[Diagnostic]:
        """Wire connects in order; the finding of the first that cannot be wired, nothing if all can."""
        for i, wire in wires:
            try:
                wire_connect(wiring, wire, i)
            except Fault as fault:
                trial = self.openings[len(self.openings) - len(holes) - 1 :]
                before = [w for j, w in wires if j != i]
                self.whatever = fails_for_every_value(
                    fault.diagnostic, wire, before, varying, partial(self.rests, holes=trial)
                )
                return [fault.diagnostic]
            except Excused:
                break
        return []

    def may_remove(self, d: Diagnostic, holes: Sequence[Opening]) -> bool:
        """Whether one of some holes may be the cause of what was found while planning."""
        at = [x for x in (d.span, *(label.span for label in d.labels)) if x is not None]
        inside = any(x.file is o.span.file and x.start <= o.span.start < x.end for x in at for o in holes)
        return inside or self.rests(" ".join(x.text for x in at), holes)

    def rests(self, text: str, holes: Sequence[Opening]) -> bool:
        """Whether a text may rest on one of some holes."""
        return bool(holes) and (self.branching or not text or self.names.rests(text, (o.name for o in holes)))

    def wires(
        self, plan: FabricPlan, later: set[str], holes: Sequence[Opening]
    ) -> tuple[bool, list[tuple[int, ResolvedConnect]]]:
        """Whether some connects rest on later holes, and those that do not, in the order of wiring. What
        takes all the ports that are left rests on all that take some before."""
        drawn = [(i, w) for i, w in enumerate(plan.wires) if not w.node.circuit]
        out = {i for i, w in drawn if _device_paths_of_wire(w) & later or self.rests(w.node.span.text, holes)}
        spoilt = set().union(*(_device_paths_of_wire(w) for i, w in drawn if i in out))
        out |= {i for i, w in drawn if takes_remaining_ports(w) and _device_paths_of_wire(w) & spoilt}
        return bool(out), sorted(
            (x for x in drawn if x[0] not in out), key=lambda x: takes_remaining_ports(x[1])
        )

    def spend(self, work: int) -> None:
        """Count work. Raises Spent when there has been too much."""
        self.work += work
        if self.work > self.limit:
            raise SearchBudgetSpent

    @property
    def limit(self) -> int:
        """All work that there may be."""
        return self.budget.trial_work

    def report(self, diagnostics: Diagnostics) -> None:
        """Say why nothing fits, or what else is wrong."""
        if self.foreign:
            diagnostics.items += self.foreign
            return
        k = max(self.refused, default=0)
        reasons = sorted(self.refused.get(k, {}).values(), key=lambda x: x[0])
        opening = self.openings[k]
        labels = tuple(Label(d.span, f"{n}: {d.message}") for n, d in reasons if d.span is not None)
        if self.undecided:
            tried = f"no number up to {self.highest} fits" if self.highest else "none was tried to the end"
            diagnostics.items.append(
                Diagnostic(
                    "E0462",
                    f"`{opening.name}` was not decided within the limit: {tried}; higher numbers may fit",
                    opening.span,
                    labels[:3],
                    help="write a number, or raise the limit with `--solve-seconds`",
                )
            )
            return
        words = "change a number that the labels name, or allow `spread uneven`"
        diagnostics.items.append(
            Diagnostic("E0459", f"no number fits `{opening.name}`", opening.span, labels, help=words)
        )


def _device_paths_of_wire(wire: ResolvedConnect) -> set[str]:
    out = {
        t.device.path for t in (*wire.a, *wire.b, *([wire.via] if wire.via else [])) if t.device is not None
    }
    around = wire.inside  # its text does not name them
    while around is not None:
        out.add(around.path)
        around = around.inside
    return out
