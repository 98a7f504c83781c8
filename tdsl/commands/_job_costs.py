"""What failures, faults, moves and changes cost the jobs of a design: `--job` and `--economics`
of `check --fail`, `audit`, `diff` and `plan`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.commands._compared_figures import cost_of_design, jobs_of_design_or_library
from tdsl.commands._jobs import economics_of_call, refuse_unknown_job
from tdsl.commands._shared import Wrong
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from tdsl.changes.steps import MovePlan
    from tdsl.changes.union import Union
    from tdsl.compile.compiler import Design
    from tdsl.fabric.graph import Bools, Fabric
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.jobs.change import JobChange, JobOnNetwork, PriceOfHours
    from tdsl.observe.audit import Audit
    from tdsl.physical.economics import Economics

CODE = "E0488"
MOST_REPAIRS = 12
"""Faults whose repair is computed, each with three models of the job."""
MOST_NOTED = 6
"""Repairs and states that a finding names; JSON has all."""


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """Whose costs a call asks for: the job of a name, all of a design where that is "", and prices."""

    job: str
    economics: Economics | None

    def jobs_of(self, design: Design) -> list[RankedJob]:
        """The jobs of a design that are asked for."""
        if design.fabric is None or not design.fabric.complete:
            return []
        return jobs_of_design_or_library(design, design.fabric, self.job)

    def price(self, before: Design, after: Design) -> PriceOfHours | None:
        """What an accelerator-hour costs on two designs; None where no prices are given."""
        from tdsl.jobs.change import PriceOfHours

        if self.economics is None:
            return None
        old = cost_of_design(before, self.economics)
        new = old if after is before else cost_of_design(after, self.economics)
        return PriceOfHours(self.economics.currency, old, new)


def cost_question(job: str, economics: Path | None) -> CostQuestion | None:
    """What `--job` and `--economics` ask for; None where neither is given. Raises Wrong where the file cannot
    be read."""
    if not job and economics is None:
        return None
    return CostQuestion(job, economics_of_call(economics))


def refuse_question_without_job(question: CostQuestion | None, designs: Sequence[Design]) -> None:
    """Raise Wrong where the job of a question is unknown, or none of the designs has a job."""
    if question is None:
        return
    refuse_unknown_job(designs, question.job)
    if not any(question.jobs_of(d) for d in designs):
        if question.job:
            raise Wrong(f"no design has the accelerators of job `{question.job}`")
        raise Wrong("no design declares a job: name one of the library with --job (`tdsl list jobs`)")


def efficiency_of(state: JobOnNetwork) -> Fraction | None:
    """The efficiency of a job on its network, which it has on any other."""
    return None if state.model is None else state.model.efficiency


def changes_between(question: CostQuestion, old: Design, new: Design) -> list[JobChange]:
    """What the change from one design to another means for each job that both have."""
    from tdsl.jobs.change import JobChange, job_on_network
    from tdsl.prove.view import View

    after = {r.job.name: r for r in question.jobs_of(new)}
    out = []
    for ranked in question.jobs_of(old):
        later = after.get(ranked.job.name)
        if later is None or old.fabric is None or new.fabric is None:
            continue
        before = job_on_network(View.whole(old.fabric.network), ranked)
        now = job_on_network(View.whole(new.fabric.network), later, efficiency_of(before))
        out.append(JobChange(ranked.job.name, before, now, question.price(old, new)))
    return out


# ---------------------------------------------------------------- failures


@dataclass(frozen=True, slots=True)
class FailureCost:
    """What the failure of some elements costs a job. ``convergence`` are the seconds in which it waits until
    routing has converged, ``repair`` those until all is repaired; None where unknown."""

    change: JobChange
    elements: tuple[str, ...]
    convergence: Fraction | None
    repair: Fraction | None
    repair_basis: str

    @property
    def cost_of_incident(self) -> tuple[Fraction, Fraction | None] | None:
        """Accelerator-hours and money from the failure until it is repaired; None where a part is unknown."""
        hours = self.change.lost_hours
        if hours is None or self.convergence is None or self.repair is None:
            return None
        waiting = min(self.convergence, self.repair)
        lost = Fraction(self.change.before.ranks) * waiting / 3600
        lost += hours * (self.repair - waiting) / 86_400
        price = self.change.price
        if price is None or price.unknown or price.before is None:
            return lost, None
        return lost, lost * price.before.accelerator_hour

    def states(self) -> Iterator[tuple[str, str]]:
        """The three states of a failure with what becomes of the job in each, in words."""
        from tdsl.jobs.change import duration_in_words

        stated = "it waits; how long is unknown: state `convergence` in --economics"
        if self.convergence is not None:
            stated = f"it waits for {duration_in_words(self.convergence)}, as --economics says"
        yield "before convergence", stated
        yield "converged", self.change.after.in_words()
        when = "when is unknown: state `repair` in the design or in --economics"
        if self.repair is not None:
            when = f"after {duration_in_words(self.repair)}, as {self.repair_basis} says"
        yield "repaired", f"{self.change.before.in_words()}; {when}"

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        whole = self.cost_of_incident
        return {
            **self.change.facts(),
            "failed": list(self.elements),
            "convergence_s": None if self.convergence is None else float(self.convergence),
            "repair_s": None if self.repair is None else float(self.repair),
            "lost_accelerator_hours_until_repaired": None if whole is None else float(whole[0]),
            "cost_until_repaired": None if whole is None or whole[1] is None else float(whole[1]),
        }

    def finding(self, ranked: RankedJob) -> Diagnostic:
        """The note about it."""
        from tdsl.jobs.change import amount_in_words

        notes = [f"{name}: {words}" for name, words in self.states()]
        whole = self.cost_of_incident
        if whole is not None and whole[0]:
            money, price = "", self.change.price
            if whole[1] is not None and price is not None:
                least = "at least " if price.missing else ""
                money = f" and {least}{price.currency} {amount_in_words(whole[1])}"
            notes.append(f"until it is repaired: {amount_in_words(whole[0])} accelerator-hours{money}")
        without = ", ".join(self.elements[:MOST_NOTED])
        more = f" and {len(self.elements) - MOST_NOTED} more" if len(self.elements) > MOST_NOTED else ""
        return _finding_of_cost(ranked, f"without {without}{more}", self.change, notes)


def _finding_of_cost(ranked: RankedJob, when: str, change: JobChange, notes: Sequence[str]) -> Diagnostic:
    """The note that says what a change of the network costs a job."""
    return Diagnostic(
        CODE,
        f"job `{change.name}` {when}: {change.sentence()}",
        ranked.job.span,
        severity=Severity.NOTE,
        notes=(*notes, "these are figures of a model (`tdsl show FILE job` has all of them)"),
        help="give --economics FILE for the money" if change.price is None else "",
    )


def add_costs_of_failures(question: CostQuestion, design: Design) -> list[Diagnostic]:
    """Note on a design what the elements that failed cost its jobs. Returns the findings."""
    from tdsl.jobs.change import JobChange, job_on_network, view_without_failed
    from tdsl.prove.view import View
    from tdsl.verify.failing_parts import longest_repair_of_failed

    fabric, failed = design.fabric, design.failed
    if fabric is None or failed is None:
        return []
    told = question.economics
    repair, missing = longest_repair_of_failed(fabric, failed)
    basis = "the design"
    if repair is None or missing:
        repair, basis = (told.repair, "--economics") if told is not None else (None, "")
    view, left = View.whole(fabric.network), view_without_failed(fabric, failed)
    found: list[Diagnostic] = []
    costs: list[dict[str, object]] = []
    for ranked in question.jobs_of(design):
        before = job_on_network(view, ranked)
        after = job_on_network(left, ranked, efficiency_of(before))
        change = JobChange(ranked.job.name, before, after, question.price(design, design))
        cost = FailureCost(change, failed.names, None if told is None else told.convergence, repair, basis)
        found.append(cost.finding(ranked))
        costs.append(cost.facts())
    design.job_costs = tuple(costs)
    design.findings = [*design.findings, *found]
    return found


# ---------------------------------------------------------------- audits


@dataclass(frozen=True, slots=True)
class RepairGain:
    """What mending one fault gives a job: on what is built with this fault alone mended, and with it and all
    before it in the order of repair. ``only`` is the design with this fault alone."""

    fault: int
    mended: JobChange
    only: JobChange
    then: JobChange | None = None

    def gain(self, built: JobChange) -> Fraction:
        """The share of the job's work that mending it alone brings back; 0 where unknown."""
        return (self.mended.share or Fraction(0)) - (built.share or Fraction(0))


def costs_of_audit(
    question: CostQuestion, design: Design, made: Audit, noted: Design, network: str = ""
) -> None:
    """Note on ``noted`` what the faults of an audit cost the jobs of a design, and in which order to repair
    them. ``network`` is that of a cluster which the jobs are on."""
    from tdsl.jobs.change import JobChange, job_on_network
    from tdsl.observe.asbuilt import BuiltCabling, fabric_with_faults_mended, network_of_cluster
    from tdsl.prove.view import View

    numbers = _faults_of_links(made)
    cabling = BuiltCabling(made)

    def built(faults: Sequence[int]) -> Fabric:
        """What is built where of the faults these alone are not mended."""
        mended = set(numbers).difference(faults)
        return network_of_cluster(fabric_with_faults_mended(made, cabling, mended), network)

    for ranked in question.jobs_of(design):
        assert design.fabric is not None
        before = job_on_network(View.whole(design.fabric.network), ranked)
        price = question.price(design, design)

        def change(
            faults: Sequence[int],
            ranked: RankedJob = ranked,
            before: JobOnNetwork = before,
            price: PriceOfHours | None = price,
        ) -> JobChange:
            view = View.whole(built(faults).network)
            return JobChange(
                ranked.job.name, before, job_on_network(view, ranked, efficiency_of(before)), price
            )

        now = change(numbers)
        repairs = _repairs_in_order(now, numbers, change) if now.share != 1 and now.share is not None else []
        _note_costs_of_audit(noted, ranked, now, repairs, made)


def _faults_of_links(made: Audit) -> list[int]:
    """The numbers of the faults, from 1, that are of links and so may cost a job something."""
    return [n for n, x in enumerate(made.faults, 1) if x.mistake is not None or x.slow is not None]


def _repairs_in_order(
    now: JobChange, numbers: Sequence[int], change: Callable[[Sequence[int]], JobChange]
) -> list[RepairGain]:
    """The first faults in the order in which to repair them: what gains most by itself first, then what costs
    most by itself; with what is left after each."""
    gains = [
        RepairGain(n, change([x for x in numbers if x != n]), change([n])) for n in numbers[:MOST_REPAIRS]
    ]
    gains.sort(key=lambda g: (-g.gain(now), g.only.share if g.only.share is not None else 0, g.fault))
    out, left = [], list(numbers)
    for one in gains:
        left.remove(one.fault)
        out.append(replace(one, then=change(left)))
    return out


def _note_costs_of_audit(
    design: Design, ranked: RankedJob, now: JobChange, repairs: Sequence[RepairGain], made: Audit
) -> None:
    """Put what faults cost a job onto a design."""
    notes = []
    for rank, one in enumerate(repairs[:MOST_NOTED], 1):
        assert one.then is not None
        left = one.then.cost_in_words() or one.then.in_words()
        message = made.faults[one.fault - 1].finding.message
        gain = float(one.gain(now)) * 100
        notes.append(
            f"repair {rank}: fault {one.fault} ({message}); alone {gain:+.3g} points of work; then {left}"
        )
    rest = len(_faults_of_links(made)) - len(repairs)
    if len(repairs) == MOST_REPAIRS and rest > 0:
        notes.append(f"the gain of {rest:,} more faults is not computed")
    facts = now.facts() | {
        "repairs": [
            {
                "fault": one.fault,
                "gained_share": float(one.gain(now)),
                "alone_lost_share": one.only.facts()["lost_share"],
                "left": one.then.facts() if one.then is not None else {},
            }
            for one in repairs
        ]
    }
    design.job_costs = (*design.job_costs, facts)
    design.findings = [*design.findings, _finding_of_cost(ranked, "as built", now, notes)]


# ---------------------------------------------------------------- plans


@dataclass(frozen=True, slots=True)
class PlannedCost:
    """What each state of an order of moves costs a job of the old design: number of the step, whether its
    cables are out or plugged, and the change against the old design. ``end`` is the new design for the job of
    that name there, None where it has none."""

    name: str
    states: tuple[tuple[int, str, JobChange], ...]
    end: JobChange | None

    def lines(self) -> Iterator[str]:
        """As lines of text, equal states one after the other as one."""
        yield f"job `{self.name}` in each state, by a model"
        before = ""
        for number, what, change in self.states:
            said = change.sentence()
            yield f"  step {number}, {what}: {'the same' if said == before else said}"
            before = said
        if self.end is not None:
            yield f"  in the new design: {self.end.sentence()}"

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        return {
            "job": self.name,
            "states": [{"step": n, "state": what, **change.facts()} for n, what, change in self.states],
            "end": None if self.end is None else self.end.facts(),
        }


def costs_of_plan(
    question: CostQuestion, old: Design, new: Design, both: Union, idle: Bools, plan: MovePlan
) -> list[PlannedCost]:
    """What the states of an order of moves cost the jobs of the old design. ``idle`` are the devices that are
    out of service during the steps."""
    from tdsl.changes.steps import states_of_plan
    from tdsl.jobs.change import JobChange, job_on_network
    from tdsl.prove.view import View

    ends = {c.name: c for c in changes_between(question, old, new)}
    out = []
    for ranked in question.jobs_of(old):
        assert old.fabric is not None
        before = job_on_network(View.whole(old.fabric.network), ranked)
        moved = replace(ranked, device=both.row_before[ranked.device])
        price = question.price(old, old)
        states = [
            (
                number,
                what,
                JobChange(
                    ranked.job.name,
                    before,
                    job_on_network(both.state(present, idle), moved, efficiency_of(before)),
                    price,
                ),
            )
            for number, what, present in states_of_plan(both, plan)
        ]
        out.append(PlannedCost(ranked.job.name, tuple(states), ends.get(ranked.job.name)))
    return out
