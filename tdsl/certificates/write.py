"""Certificates: what proves a result, as JSON that ``checker.py`` checks against ``fabric.json`` alone.

Of a bisection: the split with its cut, and the shares and limits of the flows that show the lower bound. Of
what the checker counts again (diameter, mean hops, redundancy, oversubscription, blast radius): the figure.
Of reachability: that it holds, or two units that do not reach each other. Of ``survives``: one case for every
orbit of failures, and the symmetries that map the cases to all others. Of a time: flows, cuts, and schedules
that are replayed. Devices have the names that
``fabric.json`` gives them, elements their paths; fractions are texts, ``"15/16"``. ``docs/certificates.md``
has every schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from hashlib import sha256

from tdsl.certificates import checker
from tdsl.certificates.write_figures import (
    all_to_all_certificates,
    built_elements,
    certificate_of_bisection,
    certificate_of_reachability,
    figure_for_checker,
    paths_of_elements,
    symmetries_of_forwarding_units,
)
from tdsl.certificates.write_survives import BUNDLED, CertificateLeftOut, certificate_of_survival
from tdsl.certificates.write_throughput import Json, Unshown, certificate_as_checked, certificates_of_patterns
from tdsl.certificates.write_times import TIMED, certificates_of_times
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.channel_order import ChannelOrder, order_or_cycle
from tdsl.prove.elements import elements_of_claim as named
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import checks_by_name
from tdsl.verify.result import Result

LINKS = 100_000
"""Links of the largest fabric that certificates are written of."""

STEPS = 10**8
"""Steps of the checker within which a certificate is verified before it is written: about half a minute."""


@dataclass(frozen=True, slots=True)
class Certified:
    """Texts of certificates by the name of their file, each verified by the checker; by name the checker's
    reason why one is not verified, which is a fault of tdsl; by name why others are not written, though their
    results are right; and of those that show less than was proved, how much."""

    texts: Mapping[str, str]
    rejected: Mapping[str, str]
    left_out: Mapping[str, str]
    weaker: Mapping[str, str] = field(default_factory=dict)


def verified_certificates(
    fabric: Fabric, claims: Sequence[ResolvedClaim], results: Iterable[Result], steps: int = STEPS
) -> Certified:
    """Write the certificates of a fabric and verify each against its fabric.json, within so many steps of the
    checker."""
    if fabric.link_count > LINKS:
        return Certified(
            {}, {}, {"*.json": f"the fabric has {fabric.link_count:,} links, and the limit is {LINKS:,}"}
        )
    design = json_of_fabric_target(fabric)
    try:
        data = checker.CertifiedFabric(checker.parse_strict_json(design, "fabric.json"))
    except checker.Rejected as why:  # names of devices that are not their own, which `name_collision` finds
        return Certified({}, {}, {"*.json": f"the checker does not take the fabric: {why}"})
    texts: dict[str, str] = {}
    rejected: dict[str, str] = {}
    left_out: dict[str, str] = {}
    weaker: dict[str, str] = {}
    for name, made in certificates_by_file_name(
        fabric, claims, results, design=design, left_out=left_out, weaker=weaker
    ).items():
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        try:
            checker.verify(checker.parse_strict_json(text, name), data, steps)
            texts[name] = text
        except checker.TooMuchWork:
            left_out[name] = f"to check it takes more than {steps:,} steps of work"
        except (checker.Rejected, checker.InputUnreadable) as why:
            rejected[name] = str(why)
    return Certified(texts, rejected, left_out, {name: why for name, why in weaker.items() if name in texts})


def json_of_fabric_target(fabric: Fabric) -> str:
    """The file that the target ``json`` writes."""
    from tdsl.emit.build import build_files  # templates are slow to import

    return build_files(fabric, ["json"], Diagnostics())["fabric.json"].decode()


def _keep_flows_that_check(
    out: dict[str, Json],
    flows: Iterable[str],
    wiring: checker.CertifiedFabric,
    left_out: dict[str, str] | None,
) -> None:
    """Give the certificates of flows what the checker shows of them; those of which it shows nothing are
    ``left_out``."""
    for name in flows:
        try:
            out[name] |= certificate_as_checked(out[name], wiring, STEPS)
        except Unshown as why:
            del out[name]
            if left_out is not None:
                left_out[name] = str(why)


def certificates_by_file_name(
    fabric: Fabric,
    claims: Sequence[ResolvedClaim],
    results: Iterable[Result],
    budget: Budget = DEFAULT,
    design: str = "",
    left_out: dict[str, str] | None = None,
    weaker: dict[str, str] | None = None,
) -> Mapping[str, Json]:
    """Certificates by the name of their file: of the claims about the whole fabric that are answered, each
    metric once, or as often as `survives` is asked. ``design`` is the text of the fabric.json whose hash they
    state; ``left_out`` gets the names of those that are not written, and why; ``weaker`` of those that show
    less than was proved how much."""
    head = {"schema": checker.SCHEMA, "fabric": fabric.name, "design": sha256(design.encode()).hexdigest()}
    found = _certificate_bodies(fabric, claims, results, budget, {} if left_out is None else left_out, weaker)
    out = {name: head | body for name, body in found.items()}
    flows = [name for name, body in out.items() if body["check"] == "throughput"]
    timed = [c for c in claims if c.metric in TIMED]
    if flows or timed:
        wiring = checker.CertifiedFabric(
            checker.parse_strict_json(design or json_of_fabric_target(fabric), "fabric.json")
        )
        _keep_flows_that_check(out, flows, wiring, left_out)
        view = View.whole(fabric.network, budget)
        notes = [{} if x is None else x for x in (left_out, weaker)]
        made = certificates_of_times(view, timed, wiring, STEPS, *notes)
        out |= {name: head | body for name, body in made.items()}
    return out


def _certificate_bodies(
    fabric: Fabric,
    claims: Sequence[ResolvedClaim],
    results: Iterable[Result],
    budget: Budget,
    left_out: dict[str, str],
    weaker: dict[str, str] | None,
) -> Mapping[str, Json]:
    fabric = fabric.network
    view = View.whole(fabric, budget)
    status = {(r.check, r.requirement): r.status for r in results}
    out: dict[str, Json] = {}
    if any(check == "bisection" and s != "skipped" for (check, _), s in status.items()):
        out["bisection.json"] = certificate_of_bisection(view, weaker)
    if _is_answered("reachability", status, ("proved", "refuted")):
        found = certificate_of_reachability(view)
        if found is not None:
            out["reachability.json"] = found
    if _is_answered("diameter", status, ("proved",)):
        judged = checks_by_name()["diameter"].judge(view, None)
        if judged.status == "proved":
            out["diameter.json"] = {
                "check": "diameter",
                "value": judged.value,
            } | symmetries_of_forwarding_units(view)
    out |= all_to_all_certificates(view, claims)
    out |= certificates_of_patterns(view, claims)
    out |= _certificates_of_whole_figures(view, status, left_out)
    out |= _certificates_of_blast_radius(view, claims)
    out |= _certificates_at_switches(view, claims)
    out |= _certificates_of_survival(view, claims, status, left_out)
    out |= _certificates_of_deadlock_freedom(view, claims, status, left_out)
    return out


Statuses = Mapping[tuple[str, str | None], str]
"""The status of results by the name of their check and the text of their requirement."""


def _is_answered(check: str, status: Statuses, answers: Sequence[str]) -> bool:
    return any(name == check and s in answers for (name, _), s in status.items())


def _certificates_of_whole_figures(
    view: View, status: Statuses, left_out: dict[str, str]
) -> Mapping[str, Json]:
    """Certificates of the figures of the whole fabric that the checker counts again."""
    out: dict[str, Json] = {}
    for check in ("edge_redundancy", "node_redundancy", "mean_hops", "oversubscription"):
        if not _is_answered(check, status, ("proved", "refuted")):
            continue
        if check == "edge_redundancy" and (view.fabric.link_bundle >= 0).any():
            left_out[f"{check}.json"] = BUNDLED
            continue
        judged = checks_by_name()[check].judge(view, None)
        if judged.status == "proved" and isinstance(
            judged.value, (int, Fraction)
        ):  # not without an upper link
            turned = {} if check == "oversubscription" else symmetries_of_forwarding_units(view)
            out[f"{check}.json"] = {"check": check, "value": figure_for_checker(judged.value)} | turned
    return out


def _certificates_of_blast_radius(view: View, claims: Iterable[ResolvedClaim]) -> Mapping[str, Json]:
    """Certificates of the blast radius, one for every claim about devices of the whole fabric."""
    out: dict[str, Json] = {}
    asked = [
        c
        for c in claims
        if c.metric == "blast_radius" and c.scope is None and not any(s.ports for s in c.of) and not c.through
    ]
    for number, claim in enumerate(asked, 1):
        judged = checks_by_name()["blast_radius"].judge(view, claim)
        if judged.status == "proved":
            of = paths_of_elements(view, named(view, claim))
            out[f"blast_radius-{number}.json"] = {"check": "blast_radius", "of": of, "value": judged.value}
    return out


def _certificates_at_switches(view: View, claims: Iterable[ResolvedClaim]) -> Mapping[str, Json]:
    """Certificates of oversubscription, one for every claim about some switches."""
    out: dict[str, Json] = {}
    for number, claim in enumerate(claims_at_switches(claims), 1):
        judged = checks_by_name()["oversubscription"].judge(view, claim)
        if judged.status == "proved" and isinstance(judged.value, (int, Fraction)):
            at = paths_of_elements(view, built_elements(view, claim.at))
            out[f"oversubscription-{number}.json"] = {
                "check": "oversubscription",
                "at": at,
                "value": figure_for_checker(judged.value),
            }
    return out


def _certificates_of_survival(
    view: View, claims: Iterable[ResolvedClaim], status: Statuses, left_out: dict[str, str]
) -> Mapping[str, Json]:
    """Certificates of `survives`, one for every claim about the whole fabric that is proved."""
    out: dict[str, Json] = {}
    asked = [c for c in claims if c.metric == "survives" and c.scope is None]
    for number, claim in enumerate(asked, 1):
        if status.get(("survives", claim.text)) != "proved":
            continue
        try:
            made = certificate_of_survival(view, claim)
        except CertificateLeftOut as why:
            left_out[f"survives-{number}.json"] = str(why)
            continue
        if made is not None:
            out[f"survives-{number}.json"] = made
    return out


def _certificates_of_deadlock_freedom(
    view: View, claims: Iterable[ResolvedClaim], status: Statuses, left_out: dict[str, str]
) -> Mapping[str, Json]:
    """Orders of channels, one for every engine under which the whole fabric is proved free of deadlock."""
    out: dict[str, Json] = {}
    for claim in claims:
        name = f"deadlock_free-{claim.under}.json"
        wanted = claim.metric == "deadlock_free" and claim.scope is None and not claim.of
        if not wanted or name in out or status.get((claim.metric, claim.text)) != "proved":
            continue
        if claim.under not in checker.ROUTING:
            left_out[name] = f"the checker does not know the routes of `{claim.under}`"
            continue
        found = order_or_cycle(view, claim.under)
        if isinstance(found, ChannelOrder):
            name_of = view.fabric.device_name
            order = [[name_of(a), name_of(b)] for a, b in found.order]
            out[name] = {"check": "deadlock_free", "under": claim.under, "order": order}
    return out


def claims_at_switches(claims: Iterable[ResolvedClaim]) -> list[ResolvedClaim]:
    """The claims about the oversubscription of some switches that certificates are written of, in order."""
    return [
        c
        for c in claims
        if c.metric == "oversubscription" and c.at and c.scope is None and not c.of and not c.of_active
    ]
