"""Whether numbers for the unknowns meet what a design requires: the judge of the search for them.

To count is cheap and comes first. Other claims are judged one by one in order of the text, as long as the
limit of work allows, and what stays open speaks against no number: the design's findings then say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tdsl.fabric.elaborate import elaborate_fabric
from tdsl.fabric.requirements import resolve_claims
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.semantics.plan import FabricPlan
from tdsl.sizing.unknowns import TrialVerdict
from tdsl.verify.runner import findings_of_unmet_claims

if TYPE_CHECKING:
    from tdsl.fabric.claims import ResolvedClaim
    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.job_ranks import RankedJob

COUNTED = frozenset({"cables", "links", "oversubscription", "ports", "switches"})
"""Metrics of which it is enough to count."""
COUNT = 5
"""What the columns of a fabric and its counts cost more than its wiring: work a device and link."""
PROOF = 60
"""What a flow, a cut or a walk over it costs: work a device and link of each claim."""


def judge_trial_plan(max_links: int, plan: FabricPlan, limit: int) -> TrialVerdict:
    """Judge a plan whose wiring fits by its circuits and its requirements, with work up to a limit."""
    if not _has_something_to_judge(plan):
        return TrialVerdict(0, [])
    own = Diagnostics()
    fabric = elaborate_fabric(plan, own, max_links)
    jobs: dict[str, RankedJob] = {}
    if plan.jobs and not own.has_errors:
        from tdsl.fabric.job_ranks import ranks_of_jobs

        jobs = ranks_of_jobs(plan, fabric, own)
    claims = (
        [] if own.has_errors else [c for c in resolve_claims(plan, fabric, own, jobs=jobs) if not c.report]
    )
    wrong = [d for d in own if d.severity is Severity.ERROR]
    counted = [c for c in claims if c.metric in COUNTED]
    wrong = wrong or [d for found in findings_of_unmet_claims(fabric, counted) for d in found]
    if wrong:
        return TrialVerdict(COUNT * _size_of_fabric(fabric), wrong, counted=False)
    return _judge_uncounted_claims(fabric, [c for c in claims if c.metric not in COUNTED], limit)


def _has_something_to_judge(plan: FabricPlan) -> bool:
    """Whether a plan has requirements (reports are none), or circuits."""
    return any(not r.node.report for r in plan.requires) or any(w.node.circuit for w in plan.wires)


def _size_of_fabric(fabric: Fabric) -> int:
    return fabric.device_count + len(fabric.link_a)


def _judge_uncounted_claims(fabric: Fabric, claims: list[ResolvedClaim], limit: int) -> TrialVerdict:
    """Judge the claims for which it is not enough to count, one by one in order of the text, as long as the
    limit allows; the first that is not met ends it."""
    size = _size_of_fabric(fabric)
    each = PROOF * max(1, size)
    texts = list(dict.fromkeys(c.text for c in claims))
    within = texts[: max(0, limit - COUNT * size) // each]
    judged = [c for c in claims if c.text in within]
    done = set()
    wrong: Sequence[Diagnostic] = []
    for claim, found in zip(judged, findings_of_unmet_claims(fabric, judged), strict=True):
        done.add(claim.text)
        if found:
            wrong = found
            break
    left = () if wrong else tuple(texts[len(within) :])
    return TrialVerdict(COUNT * size + each * len(done), wrong, unjudged=left)
