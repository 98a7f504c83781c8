"""Many failures of one fabric, each judged by the fabric's requirements as `check --fail` judges its
elements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.many_failures import Connected, Failures, KeptFlow
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Check, Judgement, checks_by_name
from tdsl.verify.compare import judgement_for_claim, why_claim_is_malformed
from tdsl.verify.coverage import nothing_judged_error, partly_judged_findings
from tdsl.verify.result import Result, Value
from tdsl.verify.runner import judge_requirements

BATCH = 1024
"""Scenarios looked at together,"""
CELLS = 1 << 28
"""and cells of the table of their failed links at most."""


@dataclass(frozen=True, slots=True)
class RequirementOutcome:
    """What becomes of one requirement; where ``requirement`` is empty, of a check that every fabric must pass
    and does not."""

    check: str
    requirement: str
    status: str
    lower: Value
    upper: Value
    unit: str
    reason: str = ""
    report: bool = False
    judged: int = 1
    of: int = 1

    @property
    def holds(self) -> bool:
        """Whether it holds: proved, or modelled by formulas. What is only reported always holds."""
        return self.report or self.status in ("proved", "modelled")

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        result = Result(
            self.check,
            "proved",
            None,
            self.unit,
            self.lower,
            self.upper,
            False,
            None,
            "",
            {},
            "",
            None,
            None,
            "",
        ).facts()  # the one place that says how a figure is written
        out: dict[str, object] = {
            "check": self.check,
            "requirement": self.requirement or None,
            "status": self.status,
        }
        out |= {"lower": result["lower"], "upper": result["upper"], "unit": self.unit}
        out |= {"judged": self.judged, "of": self.of}
        return out | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class ScenarioOutcome:
    """One scenario: what failed, what becomes of each requirement, and findings that say what does not hold
    and where.

    ``of`` are the requirements, the reports, and the checks that every fabric must pass and that apply;
    ``judged`` those of them that were judged.
    """

    failed: FailedElements
    answers: tuple[RequirementOutcome, ...]
    findings: tuple[Diagnostic, ...] = ()
    judged: int = 1
    of: int = 1

    @property
    def ok(self) -> bool:
        """Whether something was judged, and every requirement holds."""
        return self.judged > 0 and not any(d.severity is Severity.ERROR for d in self.findings)


def outcomes_of_failures(
    fabric: Fabric,
    claims: Sequence[ResolvedClaim],
    failures: Iterable[FailedElements],
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    budget: Budget = DEFAULT,
    at_least: Fraction | None = None,
) -> Iterator[ScenarioOutcome]:
    """Judge each of many failures by the requirements and reports of a fabric, and by the checks that every
    fabric must pass.

    What is of the design, whatever failed of it, is not judged; nor are figures that nobody asks for.
    Outcomes are in the order of ``failures``, which is read a batch at a time. Each is what `check --fail`
    finds. A requirement of which less than the share ``at_least`` is judged is an error.
    """
    judging = _Judging(fabric, claims, select, ignore, budget, at_least)
    source = iter(failures)
    size = max(1, min(BATCH, CELLS // max(fabric.link_count + fabric.device_count, 1)))
    while batch := list(islice(source, size)):
        yield from judging.batch(batch)


class _Judging:
    """What all scenarios of one fabric share."""

    def __init__(
        self,
        fabric: Fabric,
        claims: Sequence[ResolvedClaim],
        select: Collection[str],
        ignore: Collection[str],
        budget: Budget,
        at_least: Fraction | None = None,
    ) -> None:
        self.fabric, self.budget, self.at_least = fabric, budget, at_least
        checks = checks_by_name()
        names = {check.name for check in checks.values() if _is_check_selected(check, select, ignore)}
        self.claims = [c for c in claims if c.metric in names and not checks[c.metric].of_design]
        asked = {c.metric for c in self.claims}
        self.always = [
            c
            for c in checks.values()
            if c.name in names - asked and c.fails_by_default and not c.of_design and c.applies_to(fabric)
        ]
        self.must = {c.name for c in self.always}
        self.names = asked | self.must
        self.quick: list[_Connectivity | _Flow] | None = self._quick(checks)

    def _quick(self, checks: Mapping[str, Check]) -> list[_Connectivity | _Flow] | None:
        """Of every claim how to judge many failures at once; None where one has to be judged by itself."""
        f = self.fabric
        view = View.whole(f, self.budget)
        if not f.complete or f.network is not f:
            return None
        for (
            check
        ) in self.always:  # what is wrong in a part of a monotone check's wiring is wrong in the whole
            if check.name != "reachability" and not (
                check.monotone and check.judge(view, None).status != "refuted"
            ):
                return None
        out: list[_Connectivity | _Flow] = [
            _Connectivity(None, checks["reachability"], view) for c in self.always if c.name == "reachability"
        ]
        for claim in self.claims:
            check = checks[claim.metric]
            kind = _batch_judge_of_claim(claim)
            if kind is None or why_claim_is_malformed(claim, check) is not None:
                return None
            one = kind(claim, check, view)
            if not one.kernel.judged:
                return None
            out.append(one)
        return out

    def batch(self, batch: Sequence[FailedElements]) -> Iterator[ScenarioOutcome]:
        """Outcomes of some scenarios."""
        certain = np.zeros(len(batch), dtype=np.bool_)
        if self.quick is not None:
            f = self.fabric
            gone = np.array([f.with_contents(x.devices) for x in batch])
            lost = np.array([x.links | f.links_lost(g) for x, g in zip(batch, gone, strict=True)])
            failures = Failures(gone, lost)
            certain[:] = True
            for one in self.quick:
                certain &= one.prepare(failures)
        for i, failed in enumerate(batch):
            if certain[i] and self.quick:
                answers = tuple(one.answer(i) for one in self.quick if one.claim is not None)
                if all(a.holds for a in answers):
                    yield ScenarioOutcome(failed, answers, (), len(self.quick), len(self.quick))
                    continue
            yield self.alone(failed)

    def alone(self, failed: FailedElements) -> ScenarioOutcome:
        """The outcome of one scenario, judged by the checks themselves."""
        found = Diagnostics()
        if not self.names:  # what run() would take for all checks
            return ScenarioOutcome(failed, (), (nothing_judged_error(self.fabric.name, ()),), 0, 0)
        results = judge_requirements(self.fabric, self.claims, found, self.names, (), failed, self.budget)
        bare = tuple(
            _requirement_outcome(r) for r in results if r.requirement is None and r.status == "refuted"
        )
        asked = [r for r in results if r.requirement is not None or r.check in self.must]
        judged, of = (
            sum(r.judged > 0 for r in asked),
            sum(r.judged > 0 or r.requirement is not None for r in asked),
        )
        if not judged and not found.has_errors:
            found.items.append(nothing_judged_error(self.fabric.name, asked))
        found.extend(
            d
            for d in partly_judged_findings(asked, list(found), self.at_least)
            if d.severity is Severity.ERROR
        )
        answers = (*bare, *(_requirement_outcome(r) for r in asked if r.requirement is not None))
        return ScenarioOutcome(failed, answers, tuple(found), judged, of)


def _requirement_outcome(r: Result) -> RequirementOutcome:
    asked = r.requirement or ""
    return RequirementOutcome(
        r.check, asked, r.status, r.lower, r.upper, r.unit, r.reason, r.report, r.judged, r.of
    )


def _is_check_selected(check: Check, select: Collection[str], ignore: Collection[str]) -> bool:
    words = {check.name, check.code}
    return not words.intersection(ignore) and (not select or bool(words.intersection(select)))


def _batch_judge_of_claim(claim: ResolvedClaim) -> type[_Connectivity] | type[_Flow] | None:
    """What judges a claim in many scenarios at once, if anything does."""
    plain = not (
        claim.at
        or claim.under
        or claim.through
        or claim.scope
        or claim.given
        or claim.of_all
        or claim.share_of
    )
    plain = (
        plain and claim.any_count is None and not claim.args and not claim.of_intact and not claim.of_active
    )
    if plain and claim.metric == "reachability" and not claim.of:
        return _Connectivity
    if plain and claim.metric == "throughput" and claim.of and claim.of_to:
        return _Flow
    return None


class _Connectivity:
    """Reachability of all from all, where everything is at one component."""

    def __init__(self, claim: ResolvedClaim | None, check: Check, view: View) -> None:
        self.claim, self.check, self.kernel = claim, check, Connected(view)

    def prepare(self, failures: Failures) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Of which scenarios an answer can be given."""
        return self.kernel.certain(failures)

    def answer(self, scenario: int) -> RequirementOutcome:
        """The answer of one of those."""
        judged = Judgement("proved", "", True)
        if self.claim is not None:
            judged = judgement_for_claim(self.claim, self.check, judged)
        return RequirementOutcome(
            self.check.name,
            self.claim.text if self.claim else "",
            judged.status,
            None,
            None,
            self.check.unit,
            report=self.claim is not None and self.claim.report,
        )


class _Flow:
    """The maximum flow between two sets."""

    def __init__(self, claim: ResolvedClaim, check: Check, view: View) -> None:
        self.claim, self.check, self.kernel = claim, check, KeptFlow(view, claim)
        self.value = self.full = np.zeros(0, dtype=np.int64)
        self.known: dict[tuple[int, int], RequirementOutcome] = {}

    def prepare(self, failures: Failures) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Of which scenarios an answer can be given."""
        certain, self.value, self.full = self.kernel.figures(failures)
        return certain

    def answer(self, scenario: int) -> RequirementOutcome:
        """The answer of one of those."""
        key = int(self.value[scenario]), int(self.full[scenario])
        if key not in self.known:
            figure = Fraction(*key)
            measures = {"lower_bps": key[0], "upper_bps": key[0]}
            judged = Judgement("proved", "", figure, figure, figure, measures=measures)
            judged = judgement_for_claim(self.claim, self.check, judged)
            self.known[key] = RequirementOutcome(
                self.check.name,
                self.claim.text,
                judged.status,
                judged.lower,
                judged.upper,
                self.check.unit,
                "",
                self.claim.report,
            )
        return self.known[key]
