"""How often failures interrupt a job on some hosts, for the checks that read it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.subject import devices_of_selectors, holders_of_devices
from tdsl.prove.availability import labels_of_single_elements
from tdsl.prove.elements import TooMany, view_after_failures
from tdsl.prove.endpoints_lost import endpoints_lost_with
from tdsl.prove.symmetry import Reads
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import checks_by_name
from tdsl.verify.failing_parts import FailingPart, FailingParts, failing_parts
from tdsl.verify.failure_clauses import DAY, bases_of_rates, missing_of_parts
from tdsl.verify.what_is_left import devices_that_symmetries_keep, judgement_of_what_is_left


@dataclass(frozen=True, slots=True)
class Interruptions:
    """Failures a second that interrupt a job, at least and at most, by kind of part (at least); and how many
    of ``nodes`` hosts it has. Of parts whose rates are stated."""

    lower: Fraction
    upper: Fraction
    by_kind: Mapping[str, Fraction]
    nodes: int


def interruptions_of_job(view: View, claim: ResolvedClaim | None, found: FailingParts) -> Interruptions:
    """How often a job on the hosts that a claim names (all endpoints where it names none) is interrupted.

    A failure of one of the hosts interrupts it, and of other parts each that alone takes an endpoint of one
    of them, or after which the condition that follows ``with`` does not hold.
    """
    mine = _hosts_of_claim(view, claim)
    asked = claim.given if claim is not None else None
    parts: list[FailingPart] = []
    near = _links_of_hosts(view, mine)
    lower = upper = Fraction(0)
    by_kind: dict[str, Fraction] = {}
    for part in found.parts:
        if asked is None and near[part.element.links].any():
            lower, upper = lower + part.per_second, upper + part.per_second
            by_kind[part.kind] = by_kind.get(part.kind, Fraction(0)) + part.per_second
        elif asked is not None or not _is_apart(view, part, mine):
            parts.append(part)
    reads, kept = _kept_by_symmetries(view, asked)
    label = labels_of_single_elements(
        view,
        [p.element for p in parts],
        [p.per_second for p in parts],
        reads,
        [np.flatnonzero(mine), *kept],
    )
    for first in np.unique(label).tolist():
        answer = _interrupts(view, parts[first], mine, asked)
        same = np.flatnonzero(label == first).tolist()
        rate = sum((parts[i].per_second for i in same), Fraction(0))
        upper += rate if answer is not False else 0
        if answer is True:
            lower += rate
            by_kind[parts[first].kind] = by_kind.get(parts[first].kind, Fraction(0)) + rate
    return Interruptions(lower, upper, by_kind, int(mine.sum()))


def _hosts_of_claim(view: View, claim: ResolvedClaim | None) -> Bools:
    """Of every device whether it is an endpoint that a claim names or that holds what it names; all endpoints
    where it names nothing."""
    mine = np.zeros(view.fabric.device_count, dtype=np.bool_)
    mine[view.units] = True
    if claim is not None and claim.of:
        named = devices_of_selectors(view.fabric, claim.of)
        mine &= named | holders_of_devices(view.fabric, named)
    return mine


def _links_of_hosts(view: View, hosts: Bools) -> Bools:
    """Of every link of the fabric whether it ends at one of these devices."""
    out = np.zeros(view.fabric.link_count, dtype=np.bool_)
    out[view.rows] = hosts[view.a] | hosts[view.b]
    return out


def _kept_by_symmetries(view: View, asked: ResolvedClaim | None) -> tuple[Reads | None, list[Ints]]:
    """What permutations of parts have to keep so that one part interrupts the job where another does: what
    the condition reads, and its sets of devices."""
    if asked is None:
        return frozenset({"lengths"}), []
    own = checks_by_name()[asked.metric].reads_for(asked)
    return None if own is None else own | {"lengths"}, [*devices_that_symmetries_keep(view, asked)]


def _is_apart(view: View, part: FailingPart, mine: Bools) -> bool:
    """Whether a part is a link of some other host, where every hub has three hosts or more: its loss takes an
    endpoint of that host alone."""
    if len(part.element.links) != 1 or len(part.element.devices) or view.direct:
        return False
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    f, rows = view.fabric, part.element.links
    at_host = unit[f.device_a[rows]] | unit[f.device_b[rows]]
    if not at_host.all():
        return False
    at = view.attachment
    pairs = np.unique(np.stack([at.hub, at.end]), axis=1)
    return bool(np.unique(pairs[0], return_counts=True)[1].min() > 2)


def _interrupts(
    view: View,
    part: FailingPart,
    mine: Bools,
    asked: ResolvedClaim | None,
) -> bool | None:
    """Whether the failure of one part interrupts the job; None where that is not decided."""
    devices = part.element.devices
    inside = view.fabric.container[devices]
    if mine[devices].any() or mine[inside[inside >= 0]].any():
        return True
    if asked is None:
        return bool(mine[endpoints_lost_with(view, part.element).hosts].any())
    status = judgement_of_what_is_left(view_after_failures(view, [part.element]), asked).status
    return {"proved": False, "modelled": False, "refuted": True}.get(status)


def rates_by_kind_text(by_kind: Mapping[str, Fraction]) -> str:
    """``host 2.6 a day, switch 0.004``: failures a day by kind of part, most first."""
    items = sorted(by_kind.items(), key=lambda x: (-x[1], x[0]))
    return ", ".join(f"{kind} {float(rate * DAY):.4g} a day" for kind, rate in items)


def interruptions_of_claim(view: View, claim: ResolvedClaim | None) -> tuple[Interruptions, str, str] | str:
    """The interruptions of the job that a claim names, what states no rate, and where the rates are from; or
    why they are not known."""
    try:
        found = failing_parts(view)
    except TooMany as many:
        return str(many)
    missing = missing_of_parts(found, repairs=False)
    job = interruptions_of_job(view, claim, found)
    if not job.nodes:
        return "what it names has no endpoint of the network that is built"
    if not job.upper:
        return missing or "nothing that states a rate interrupts it"
    return job, missing, bases_of_rates(found.parts)
