"""Runs the checks over one fabric: every claim gives a result, and a finding where it is not met."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Fabric
from tdsl.fabric.subject import devices_of_selectors, is_of_instance, names_nothing
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceSpan
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import CROSSED, View
from tdsl.semantics.model import KINDS
from tdsl.system import progress
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import disk_answers_unchanged
from tdsl.system.record import Question, Record, record_disk_questions
from tdsl.verify.check import Check, Judgement, PropertyFault, checks_by_name, skipped
from tdsl.verify.compare import (
    MALFORMED,
    NO_LIMIT,
    REVERSED,
    UNKNOWN,
    index_of_worst_judgement,
    judgement_for_claim,
    judgement_in_claim_unit,
    limit_of_every_design,
    unknown_metric_error,
    why_claim_is_malformed,
)
from tdsl.verify.result import INCOMPLETE, Result

if TYPE_CHECKING:
    from hashlib import _Hash as Hash


@dataclass(slots=True, eq=False)
class KnownJudgements:
    """Judgements of one fabric that may be used again, where nothing of it failed and the budget is the same:
    of checks by name, and of claims by a digest of all that they say but their place, with what was read for
    them. ``holds`` is whether a place will still be known then."""

    holds: Callable[[SourceSpan], bool]
    plain: dict[str, Judgement] = field(default_factory=dict)
    claims: dict[str, tuple[Judgement, Mapping[Question, str]]] = field(default_factory=dict)
    views: list[View] = field(default_factory=list)  # of the network, and of both layers
    budget: Budget | None = None  # of these judgements

    def forget_other_budgets(self, budget: Budget) -> None:
        """Forget what was judged with another budget than this."""
        if self.budget != budget:
            self.plain.clear()
            self.claims.clear()
            self.views.clear()
        self.budget = budget


def judge_requirements(
    fabric: Fabric,
    claims: Sequence[ResolvedClaim],
    diagnostics: Diagnostics,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    failed: FailedElements | None = None,
    budget: Budget = DEFAULT,
) -> list[Result]:
    """Judge all claims in their order, then every check that no claim asks for the whole fabric.

    ``select`` and ``ignore`` hold names or codes; what is not selected gives neither results nor findings.
    Where something ``failed``, what is left is judged, but for checks of the design as it is. A proof that
    spends its ``budget`` ends with the bounds so far.
    """
    for results in judge_requirements_stepwise(fabric, claims, diagnostics, select, ignore, failed, budget):
        last = results
    return last


def judge_requirements_stepwise(
    fabric: Fabric,
    claims: Sequence[ResolvedClaim],
    diagnostics: Diagnostics,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    failed: FailedElements | None = None,
    budget: Budget = DEFAULT,
    known: KnownJudgements | None = None,
) -> Iterator[list[Result]]:
    """What ``run`` does, the cheapest proofs first: the results so far, each time that ``diagnostics`` has
    more; last all of them, in the order of ``run``. Judgements that are ``known`` are not made again, and
    what is judged is added to them."""
    if not _bisection_is_required(claims):
        budget = budget.unrequired()
    if known is not None:
        known.forget_other_budgets(budget)
    judging = _CheckRun(fabric, set(select), set(ignore), failed, budget, known if failed is None else None)
    before = list(diagnostics)
    for _ in judging.steps(claims):
        diagnostics.items = [*before, *judging.blames, *judging.unmet.values()]
        yield judging.answers()
    diagnostics.items = [*before, *judging.found()]
    yield judging.answers()


def _bisection_is_required(claims: Iterable[ResolvedClaim]) -> bool:
    """Whether a requirement, also one after failures, rests on the bisection."""
    every = checks_by_name()
    asked = {x.metric for c in claims if not c.report for x in (c, c.given) if x is not None}
    return any(name in every and every[name].reads_halves for name in asked)


def findings_of_unmet_claims(fabric: Fabric, claims: Iterable[ResolvedClaim]) -> Iterator[list[Diagnostic]]:
    """Of each claim in turn the findings if it is proved to be wrong or cannot be judged; none where it holds
    or stays open, or where no check understands it."""
    judging = _CheckRun(fabric, set(), set(), None)
    for claim in claims:
        check = judging.claimed.get(claim.metric)
        if check is None or why_claim_is_malformed(claim, check) is not None:
            yield []
            continue
        judging.unmet.clear()
        result = judging.claim(claim, check)
        fails = result.status in ("refuted", "skipped") or not result.satisfied
        yield list(judging.unmet.values()) if fails else []


CheckJob = tuple[int, int, Check | None, ResolvedClaim | None]
"""The rank of what is to judge, the number of its result, -1 for what has none, the check and the claim."""


class _CheckRun:
    """One run: what was judged already, and what was found."""

    def __init__(
        self,
        fabric: Fabric,
        select: set[str],
        ignore: set[str],
        failed: FailedElements | None,
        budget: Budget = DEFAULT,
        known: KnownJudgements | None = None,
    ) -> None:
        self.fabric = fabric
        self.blames = Diagnostics()
        self.select = select
        self.ignore = ignore
        every = checks_by_name()
        self.checks = (
            {name: check for name, check in every.items() if check.together} if fabric.members else every
        )
        self.claimed = {**self.checks, **{name: check for name, check in every.items() if check.crosses}}
        self.failed = failed
        self.budget = budget
        self.known = known
        views = known.views if known is not None else []
        if not views:
            network = View.whole(fabric.network, budget)
            views += [network, View.whole(fabric, budget) if fabric.network is not fabric else network]
        self.view, self.every = views  # what metrics of the network look at, and both layers
        self.plain: dict[str, Judgement] = known.plain if known is not None else {}
        self.blamed: set[tuple[str, SourceSpan | None, str]] = (
            set()
        )  # check, place and message of each fault that is an error
        self.required: set[str] = set()  # metrics that a claim requires of the whole fabric
        self.unmet: dict[tuple[str, int, int, str], Diagnostic] = {}
        self.results: dict[int, Result] = {}  # by the number of the claim or check that it answers
        self.signs: defaultdict[str, set[str]] = defaultdict(set)  # of each metric that is claimed
        self.number = 0  # of what is judged
        self.first: dict[
            tuple[str, int, int, str], int
        ] = {}  # of each that is not met, the first such number

    def wanted(self, *words: str) -> bool:
        """Whether a check with this name or code takes part."""
        return not self.ignore.intersection(words) and (
            not self.select or bool(self.select.intersection(words))
        )

    def steps(self, claims: Sequence[ResolvedClaim]) -> Iterator[None]:
        """Judge what fails by default and the claims, the cheap ones first, then the checks that no claim
        asks for; a step ends where something new was found."""
        self.required = {
            claim.metric for claim in claims if _is_whole_fabric_claim(claim) and not claim.report
        }
        for claim in claims:
            self.signs[claim.metric].add(claim.op[:1])
        jobs = [*self.jobs_of_defaults(claims), *self.jobs_of_claims(claims)]
        jobs += self.jobs_of_other_checks(claims, jobs)
        for done, (_, self.number, judge, required) in enumerate(sorted(jobs, key=lambda job: job[0])):
            name = judge.name if judge is not None else required.metric if required is not None else ""
            progress.begin_phase(f"check {name}", len(jobs), "checks", done)
            before = len(self.blames), len(self.unmet)
            if required is not None:
                self.results[self.number] = self.claim(required, judge)
            elif judge is not None and self.number < 0:
                self.blame(judge, self.bare(judge))
            elif judge is not None:
                self.results[self.number] = _result_of_judgement(judge, self.bare(judge), None)
            if before != (len(self.blames), len(self.unmet)):
                yield

    def jobs_of_defaults(self, claims: Iterable[ResolvedClaim]) -> Iterator[CheckJob]:
        """The checks that fail a design without being required, before the claims of their metrics."""
        metrics = {claim.metric for claim in claims}
        for check in self.checks.values():
            if (
                check.fails_by_default
                and check.applies_to(self.fabric)
                and self.wanted(check.name, check.code)
            ):
                later = (
                    check.name not in metrics
                )  # others go before its claims, which do not repeat what it says
                yield 2 * check.cost + later, -1, check, None

    def jobs_of_claims(self, claims: Iterable[ResolvedClaim]) -> Iterator[CheckJob]:
        """The claims that take part."""
        for number, claim in enumerate(claims):
            of = self.claimed.get(claim.metric)
            if self.wanted(claim.metric, *([of.code] if of else [])):
                yield 2 * _cost_of_claim(of, claim), number, of, claim

    def jobs_of_other_checks(
        self, claims: Sequence[ResolvedClaim], jobs: Iterable[CheckJob]
    ) -> list[CheckJob]:
        """The checks whose figures of the whole fabric none of these jobs asks for."""
        answered = {
            claim.metric for _, _, _, claim in jobs if claim is not None and _is_whole_fabric_claim(claim)
        }
        out: list[CheckJob] = []
        for number, check in enumerate(self.checks.values(), len(claims)):
            asked = check.name in answered or check.on_demand or not check.applies_to(self.fabric)
            if not asked and self.wanted(check.name, check.code):
                out.append((8 + check.cost, number, check, None))
        return out

    def answers(self) -> list[Result]:
        """Results so far: of the claims, then of the checks without one."""
        return [result for _, result in sorted(self.results.items())]

    def found(self) -> list[Diagnostic]:
        """The findings: of checks in the order of their codes, then of claims in the order of the text."""
        codes = {check.code: number for number, check in enumerate(self.checks.values())}
        blames = sorted(self.blames, key=lambda d: codes[d.code])
        return [*blames, *(self.unmet[key] for key in sorted(self.unmet, key=lambda key: self.first[key]))]

    # ------------------------------------------------------------ judging
    def bare(self, check: Check) -> Judgement:
        """The check's judgement of the whole fabric, made once."""
        if check.name not in self.plain:
            self.plain[check.name] = self.judge(check, self.whole(check), None)
        return self.plain[check.name]

    def whole(self, check: Check) -> View:
        """All that a check looks at: the network, or both layers; of what the fabrics of a cluster share this
        fabric's part."""
        if check.together == "shared" and self.shared is not None:
            return self.shared
        return self.view if check.of_network else self.every

    @cached_property
    def shared(self) -> View | None:
        """The devices of this fabric among those of its cluster, None where it is in no cluster."""
        cluster = self.fabric.cluster
        if cluster is None:
            return None
        from tdsl.fabric.cluster import number_of_member

        k = number_of_member(cluster, self.fabric.name)
        mine = np.zeros(cluster.device_count, dtype=np.bool_)
        mine[cluster.member_rows[k][self.fabric.built]] = True
        return View(
            cluster, mine, mine, np.sort(cluster.member_links[k]), self.fabric.name, budget=self.budget
        )

    def judge(self, check: Check, view: View, claim: ResolvedClaim | None) -> Judgement:
        """Judge a view, or what failures leave of it, as far as incomplete wiring allows."""
        if self.failed is not None and not check.of_design:
            view = self.left if view is self.view else view.without_elements(self.failed)
        return self.judge_view(check, view, claim)

    def judge_view(self, check: Check, view: View, claim: ResolvedClaim | None) -> Judgement:
        """Judge what is left after the failures, as far as incomplete wiring allows."""
        if not view.fabric.complete and not check.monotone:
            return skipped(INCOMPLETE)
        found = check.judge(view, claim)
        found = self.refuse_parts(check, view, claim, found)
        if found.status == "skipped":
            found = replace(found, judged=0)
        elif not view.core.any():  # what is true of no device at all
            found = replace(found, judged=0, of=0)
        return found if view.fabric.complete or found.status == "refuted" else skipped(INCOMPLETE)

    def refuse_parts(
        self, check: Check, view: View, claim: ResolvedClaim | None, found: Judgement
    ) -> Judgement:
        """What was found; or that it is not judged, where a distance or a time is required and some ends do
        not reach each other: the figure is of those that do."""
        required = claim is not None and claim.op and check.of_ends and not check.scarce
        settled = ("proved", "modelled", *(("bounded",) if check.by_formula else ()))
        if claim is None or not required or found.status not in settled:
            return found
        return self.apart(check, view, claim) or found

    @cached_property
    def left(self) -> View:
        """The whole fabric after the failures."""
        assert self.failed is not None
        return self.view.without_elements(self.failed)

    def claim(self, claim: ResolvedClaim, check: Check | None) -> Result:
        """Answer one claim."""
        if check is None:
            code, message, help = unknown_metric_error(claim, self.checks)
            self.say(code, claim, message, help=help, severity=Severity.ERROR)
            return _skipped_result(claim, "", "there is no such metric")
        wrong = why_claim_is_malformed(claim, check)
        if wrong is not None:
            self.say(MALFORMED, claim, wrong[0], help=wrong[1])
            return _skipped_result(claim, check.unit, wrong[0])
        if _is_whole_fabric_claim(claim):
            view = self.left if self.failed is not None and not check.of_design else self.whole(check)
            judged = self.refuse_parts(check, view, claim, self.bare(check))
        else:
            judged = self.clauses(check, claim)
        judged = judgement_for_claim(claim, check, judged)
        if check.together == "added" and self.fabric.cluster is not None and judged.text:
            judged = replace(judged, text=f"{judged.text} in fabric {self.fabric.name}")
        limit = limit_of_every_design(claim)
        if not claim.report:
            self.demand(claim, check, judged)
        if limit:
            message = f"every design satisfies `{claim.text}`: {limit}"
            help = f"write the limit that is meant, or remove `{claim.text}`"
            self.say(NO_LIMIT, claim, message, help=help, severity=Severity.WARNING)
        elif not claim.report:
            self.doubt_direction(claim, check, judged)
        return _result_of_judgement(check, judged, claim)

    def doubt_direction(self, claim: ResolvedClaim, check: Check, judged: Judgement) -> None:
        """Warn of a claim that holds and that a worse network satisfies, too, unless another one bounds the
        metric the other way."""
        from tdsl.verify.reworded import reversed_claim

        sign = reversed_claim(claim, check)
        if (
            not sign
            or sign[0] in self.signs[check.name]
            or judged.status not in ("proved", "bounded", "modelled")
        ):
            return
        meant = claim.text.replace(f" {claim.op} ", f" {sign} ", 1)
        message = f"a worse network would satisfy `{claim.text}`, too"
        self.say(REVERSED, claim, message, help=f"write `{meant}`", severity=Severity.WARNING)

    def clauses(self, check: Check, claim: ResolvedClaim) -> Judgement:
        """Judge a claim with clauses, unless the same was judged before."""
        from tdsl.fabric.cluster import claim_of_member, number_of_member

        cluster = self.fabric.cluster
        if check.together == "shared" and cluster is not None:
            claim = claim_of_member(claim, cluster, number_of_member(cluster, self.fabric.name))
        if self.known is None:
            return self.worst_element(check, claim)
        key = _digest_of_claim(claim)
        before = self.known.claims.get(key)
        if before is not None and disk_answers_unchanged(before[1]):
            return before[0]
        record = Record()
        with record_disk_questions(record):
            found = self.worst_element(check, claim)
        if record.lasting and all(self.known.holds(span) for span in places_of_judgement(found)):
            self.known.claims[key] = found, record.answers
        return found

    def worst_element(self, check: Check, claim: ResolvedClaim) -> Judgement:
        """Judge each element that the claim names alone; the worst speaks, and says its name."""
        if claim.of_all:
            return self.set_of_ends(check, claim)
        if names_nothing(claim.of) or names_nothing(claim.of_to) or names_nothing(claim.at):
            return skipped("what it names is not here")
        parts = _elements_judged_alone(check, claim)
        if not parts:
            return self.judge(check, self.subject(check, claim), claim)
        standing = self.elements_left(check, parts)
        if not standing:
            return replace(self.why_no_element_is_left(check, parts), of=len(parts))
        judged = self.each(check, claim, standing)
        if _each_has_nothing_to_reach(check, claim, judged):
            paths = ", ".join(s.text for s in claim.of)
            alone = f"each is judged alone, and one has nothing to reach: write `of all {paths}` for the set"
            return replace(skipped(alone), of=len(parts))
        at = index_of_worst_judgement(
            claim.op, claim.value, [judgement_in_claim_unit(claim, check, j) for j in judged], check.scarce
        )
        count = sum(j.status != "skipped" for j in judged)
        return replace(_with_element(judged[at], standing[at][0].name), judged=count, of=len(parts))

    def elements_left(
        self, check: Check, parts: Iterable[tuple[FabricElement, bool]]
    ) -> list[tuple[FabricElement, bool]]:
        """Of some elements those of which something is built and has not failed, where that counts."""
        there = self.whole(check).fabric.built
        if self.failed is not None and not check.of_design:
            there = there & ~self.failed.devices
        return [(e, device) for e, device in parts if there[e.devices].any()]

    def why_no_element_is_left(self, check: Check, parts: Iterable[tuple[FabricElement, bool]]) -> Judgement:
        """Why none of some elements can be judged: none is built, or none in the network."""
        if check.of_network and any(self.fabric.built[e.devices].any() for e, _ in parts):
            return skipped("what it names has links of the layer `scaleup` alone, and this is of the network")
        return skipped("nothing that it names is built")

    def subject(self, check: Check, claim: ResolvedClaim) -> View:
        """What a claim that is not about elements one by one looks at: what joins two sets, the whole, or the
        instance of a group in whose block it is."""
        view = self.whole(check)
        if check.joins and claim.of_to:
            here, there = (devices_of_selectors(view.fabric, side) for side in (claim.of, claim.of_to))
            return View.between(view.fabric, here, there, self.budget)
        if claim.scope is not None and is_of_instance(claim):
            return View.part(view.fabric, claim.scope, False, self.budget)
        return view

    def set_of_ends(self, check: Check, claim: ResolvedClaim) -> Judgement:
        """`of all S`: the whole network between the endpoints that S names, with those in what it names. Each
        is a member, also one that has no link, is planned only or failed."""
        f = self.view.fabric
        named = devices_of_selectors(f, claim.of) & f.is_end
        if not (named & f.built).any():
            return skipped("nothing that it names is built" if named.any() else "it names no hosts or chips")
        whole = self.left if self.failed is not None and not check.of_design else self.view
        if self.view.is_crossed_by_others(named):
            return skipped(CROSSED)
        asked = replace(claim, of_all=False) if claim.among else replace(claim, of=(), of_all=False)
        paths = ", ".join(s.text for s in claim.of)
        view = whole.among(named)
        found = self.apart(check, view, asked) if self.fabric.complete and not claim.among else None
        found = found or self.judge_view(check, view, asked)
        text = f"{found.text} among {paths}" if found.text else ""
        return replace(found, text=text, witness={"of": [s.text for s in claim.of], **found.witness})

    def apart(self, check: Check, view: View, asked: ResolvedClaim) -> Judgement | None:
        """What a check says of a set of which two members have no path: a bisection of 0 where one has no
        link at all, and nothing where it is a distance or a time. None where all have one, or where the check
        counts that itself."""
        reachable = self.claimed.get("reachability")
        if check.kind == "yes_no" or reachable is None or len(view.units) < 2:
            return None
        if asked.through and not check.scarce:  # a time over scale-up links: the check says what is apart
            return None
        reached = reachable.judge(view, None)
        if reached.status != "refuted" or not reached.faults:
            return None
        why = reached.faults[0].message
        if not check.scarce:
            return skipped(why)
        if check.kind != "fraction" or asked.args or (view.degree[view.units] > 0).all():
            return None
        bounds = {"lower_bps": 0, "upper_bps": 0}
        zero = Fraction(0)
        return Judgement("proved", f"0%: {why}", zero, zero, zero, measures=bounds, witness=reached.witness)

    def each(
        self, check: Check, claim: ResolvedClaim, parts: Iterable[tuple[FabricElement, bool]]
    ) -> list[Judgement]:
        """Judgements of the elements, in order."""
        fabric = self.whole(check).fabric
        return [self.judge(check, View.part(fabric, e, device, self.budget), claim) for e, device in parts]

    # ------------------------------------------------------------ findings
    def demand(self, claim: ResolvedClaim, check: Check, judged: Judgement) -> None:
        """Report a claim that is not met, unless the same is reported already where it was caused."""
        if judged.status in ("proved", "modelled") and judged.satisfied:
            return
        if judged.status == "skipped" and judged.reason == INCOMPLETE:
            return  # the errors in the wiring are reported where they are
        errors = [f for f in judged.faults if f.severity is Severity.ERROR]
        unreported = [f for f in errors if _fault_key(check, f) not in self.blamed]
        if judged.status == "refuted" and errors and not unreported:
            return
        if check.kind == "yes_no" and judged.status == "refuted" and judged.faults:
            self.say_with_fault(claim, check, (unreported or judged.faults)[0], alone=len(unreported) == 1)
            return
        message, help = _message_of_unmet_claim(claim, judged), _help_for_unmet_claim(claim, check, judged)
        self.say(check.code, claim, message, judged.labels, judged.notes, help)

    def say_with_fault(self, claim: ResolvedClaim, check: Check, first: PropertyFault, alone: bool) -> None:
        """A finding at a claim that does not hold because of a fault; where that is the only one that is not
        reported, and another check reports it, the finding says which."""
        labels = [*first.labels]
        cause = None
        if first.at is not None:
            labels.insert(0, (first.at.span, "what it is about"))
            if alone and (other := self._judged_instead(first)) is not None:
                cause = Label(first.at.span, other.code)
        message = f"`{claim.text}` does not hold: {first.message}"
        self.say(check.code, claim, message, labels, first.notes, first.help, cause=cause)

    def say(
        self,
        code: str,
        claim: ResolvedClaim,
        message: str,
        labels: Iterable[tuple[SourceSpan, str]] = (),
        notes: Iterable[str] = (),
        help: str = "",
        severity: Severity = Severity.ERROR,
        cause: Label | None = None,
    ) -> None:
        """A finding at a claim; instances of one statement are counted together."""
        from tdsl.verify.reworded import fix_for_claim

        span = claim.origin.span
        key = (code, span.start, span.end, claim.text)
        if key in self.unmet:
            self.unmet[key] = replace(self.unmet[key], count=self.unmet[key].count + 1)
            return
        if claim.scope is not None:
            message += f" (in {claim.scope.name})"
        if (
            self.fabric.cluster is not None
            and (check := self.checks.get(claim.metric)) is not None
            and check.together != "added"
        ):
            message += f" (fabric `{self.fabric.name}`)"
        if self.failed is not None:
            notes = (*notes, f"after the failure of {first_names_and_more(self.failed.names, 8)}")
        every = tuple(Label(s, m) for s, m in (*labels, *claim.origin.chain))
        self.first[key] = self.number
        written = code in (UNKNOWN, MALFORMED, REVERSED)
        fix = fix_for_claim(span, help, self.checks) if written else None
        self.unmet[key] = Diagnostic(
            code, message, span, every, tuple(notes), help, fix, severity, 1, cause=cause
        )

    def _judged_instead(self, fault: PropertyFault) -> Check | None:
        """The check that reports the fault itself, where the design is judged by it."""
        other = self.checks.get(fault.unless)
        return other if other is not None and self.wanted(other.name, other.code) else None

    def blame(self, check: Check, judged: Judgement) -> None:
        """Report what makes a design fail without being required, at the statements to blame; what fails by
        estimates as a warning."""
        if judged.status != "refuted" and not judged.estimated:
            return
        for fault in judged.faults:
            mild = (check.mild and check.name not in self.required) or judged.estimated
            severity = Severity.WARNING if mild and fault.severity is Severity.ERROR else fault.severity
            if self._judged_instead(fault) is not None:
                continue  # a waiver of that one is none of what is required
            if severity is Severity.ERROR:
                self.blamed.add(_fault_key(check, fault))
            if check.together == "shared" and self.shared is not None:
                continue  # it is reported once, of the cluster
            self.blames.add(
                check.code,
                fault.at,
                fault.message,
                labels=fault.labels,
                notes=fault.notes,
                help=fault.help,
                severity=severity,
                count=fault.count,
            )


def _help_for_unmet_claim(claim: ResolvedClaim, check: Check, judged: Judgement) -> str:
    """What would satisfy a claim; of an oversubscription below 1:1 also what may have been meant."""
    value = claim.value
    below = claim.metric == "oversubscription" and claim.op in ("<", "<=", "==")
    if not below or not isinstance(value, Fraction) or not 0 < value < 1:
        return check.help_for_unmet(claim, judged)
    meant = f"{value.denominator}:{value.numerator}"
    return f"write `{meant}`, if that much more below than above is meant; else {judged.help}"


def _message_of_unmet_claim(claim: ResolvedClaim, judged: Judgement) -> str:
    """That a claim cannot be judged, is not proved or does not hold, and why."""
    if judged.status == "skipped":
        return f"`{claim.text}` cannot be judged: {judged.reason}"
    if judged.status == "bounded":
        return f"`{claim.text}` is not proved: {judged.text}"
    if not judged.satisfied:
        return f"`{claim.text}` is {judged.text}"
    return f"`{claim.text}` does not hold: {judged.text or judged.reason}"


def _with_element(judged: Judgement, name: str) -> Judgement:
    """A judgement with the name of the element that it is about."""
    text = f"{judged.text} in {name}" if judged.text else ""
    return replace(judged, text=text, witness={"of": name, **judged.witness})


def _elements_judged_alone(check: Check, claim: ResolvedClaim) -> list[tuple[FabricElement, bool]]:
    """The elements of which each is judged by itself, and whether it is a device."""
    if claim.of_to or check.reads_of:
        return []
    return [(e, s.kind in KINDS) for s in claim.of for e in s.elements]


def _each_has_nothing_to_reach(check: Check, claim: ResolvedClaim, judged: Sequence[Judgement]) -> bool:
    """Whether a check of endpoints is asked of single hosts or chips, of which none can be judged."""
    return (
        check.of_ends
        and all(j.status == "skipped" for j in judged)
        and all(s.kind in ("host", "chip") for s in claim.of)
    )


def _fault_key(check: Check, fault: PropertyFault) -> tuple[str, SourceSpan | None, str]:
    return check.name, fault.at.span if fault.at is not None else None, fault.message


def _cost_of_claim(check: Check | None, claim: ResolvedClaim) -> int:
    """What a claim takes, as ``Check.cost`` counts; one that no check understands takes nothing."""
    if check is None or why_claim_is_malformed(claim, check) is not None:
        return 0
    return 3 if claim.any_count is not None else check.cost


def _digest_of_claim(claim: ResolvedClaim) -> str:
    """A digest of all that a claim says, but of its place only the file, beside which tables are."""
    whole = sha256()
    _add_to_digest(whole, _claim_as_tuples(claim))
    return whole.hexdigest()


def _add_to_digest(whole: Hash, said: object) -> None:
    """Add a value to a digest: no other value adds the same."""
    if isinstance(said, tuple):
        whole.update(b"(%d" % len(said))
        for each in said:
            _add_to_digest(whole, each)
        return
    data = said if isinstance(said, bytes) else repr(said).encode("utf-8", "backslashreplace")
    whole.update(b"%d:" % len(data) + data)


def _claim_as_tuples(claim: ResolvedClaim) -> tuple[object, ...]:
    plain = tuple(
        repr(getattr(claim, f.name))
        for f in fields(claim)
        if f.name not in ("origin", "scope", "given", "job", *_SELECTED)
    )
    job = (repr(claim.job.job), claim.job.device.tobytes(), claim.job.place.tobytes()) if claim.job else None
    chosen = [
        (s.text, s.kind, s.ports, s.port_rows.tobytes(), tuple(_element_as_tuple(e) for e in s.elements))
        for name in _SELECTED
        for s in getattr(claim, name)
    ]
    sizes = tuple(len(getattr(claim, name)) for name in _SELECTED)
    scope = _element_as_tuple(claim.scope) if claim.scope is not None else None
    given = _claim_as_tuples(claim.given) if claim.given is not None else None
    return (claim.origin.span.file.name, *plain, sizes, tuple(chosen), scope, given, job)


_SELECTED = ("of", "of_to", "at")


def _element_as_tuple(element: FabricElement) -> tuple[object, ...]:
    columns = (x.tobytes() for x in (element.devices, element.links, element.beside))
    return element.name, *columns, element.copies


def places_of_judgement(judged: Judgement) -> Iterator[SourceSpan]:
    """The places that a judgement names."""
    yield from (span for span, _ in judged.labels)
    for fault in judged.faults:
        yield from (span for span, _ in fault.labels)
        if fault.at is not None:
            yield from (fault.at.span, *(span for span, _ in fault.at.chain))


def _is_whole_fabric_claim(claim: ResolvedClaim) -> bool:
    """Whether a claim asks for the bare judgement of the whole fabric."""
    clauses = (
        claim.args,
        claim.of,
        claim.of_to,
        claim.at,
        claim.under,
        claim.through,
        claim.scope,
        claim.given,
        claim.job,
        claim.over,
    )
    wholes = claim.of_intact, claim.of_active, claim.share_of
    return not any(clauses) and claim.any_count is None and not any(wholes)


def _result_of_judgement(check: Check, judged: Judgement, claim: ResolvedClaim | None) -> Result:
    exact = judged.lower is not None and judged.lower == judged.upper and judged.status != "modelled"
    return Result(
        check=check.name,
        status=judged.status,
        value=judged.value,
        unit="fraction" if claim is not None and claim.share_of else check.unit,
        lower=judged.lower,
        upper=judged.upper,
        exact=exact,
        ratio=judged.ratio,
        link_class=judged.link_class,
        witness=judged.witness,
        reason=judged.reason,
        requirement=claim.text if claim else None,
        origin=claim.origin if claim else None,
        text=judged.text,
        report=claim.report if claim else False,
        scope=claim.scope.name if claim and claim.scope else "",
        measures=judged.measures,
        judged=judged.judged,
        of=judged.of,
        satisfied=judged.satisfied,
    )


def _skipped_result(claim: ResolvedClaim, unit: str, reason: str) -> Result:
    return Result(
        check=claim.metric,
        status="skipped",
        value=None,
        unit=unit,
        lower=None,
        upper=None,
        exact=False,
        ratio=None,
        link_class="",
        witness={},
        reason=reason,
        requirement=claim.text,
        origin=claim.origin,
        text="",
        report=claim.report,
        scope=claim.scope.name if claim.scope else "",
        judged=0,
    )
