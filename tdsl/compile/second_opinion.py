"""`check --second-opinion`: every result with a second answer, and E0905 where the two differ.

Figures are computed again by `tdsl.verify.second`; certificates are given to the checker; unknown counts are
compiled with the number that was chosen and with each smaller one.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Design, Request
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity, merge_equal_findings
from tdsl.findings.source import SourceSpan
from tdsl.semantics.quantity import Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.result import Result
from tdsl.verify.second.answer import (
    CHECKER,
    Limits,
    MethodTooLarge,
    SecondAnswer,
    exact_answer,
    yes_or_no_answer,
)
from tdsl.verify.second.cluster import ClusterDocuments, Place
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims

DISAGREE = "E0905"
PLAIN = frozenset(
    {
        "bisection",
        "reachability",
        "diameter",
        "mean_hops",
        "edge_redundancy",
        "node_redundancy",
        "oversubscription",
    }
)
"""Checks of which there is one certificate, about the whole fabric."""
LEAST = re.compile(r"`.*` is (\d+), the least number that fits")

Errors = frozenset[tuple[str, str, str, int]]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A file that shows a disagreement: its name and what it holds."""

    name: str
    body: Mapping[str, object]


def add_second_opinions(
    compilation: Compilation, source: str, request: Request, limits: Limits | None = None
) -> list[Reproduction]:
    """Give every result of a compilation of ``source`` a second opinion, in place; the disagreements as
    files."""
    limits = limits or Limits()
    found: list[Diagnostic] = []
    files: list[Reproduction] = []
    for design in compilation.judged:
        if design.fabric is None or not design.fabric.complete:
            continue
        for diagnostic, file in _add_opinions_to_design(design, design.fabric, limits):
            design.findings = merge_equal_findings([*design.findings, diagnostic])
            found.append(diagnostic)
            files.append(file)
    counts = _confirm_unknown_counts(compilation, source, request, limits)
    for design in compilation.judged:
        design.findings = [counts.get(_finding_identity(d), d) for d in design.findings]
    compilation.findings = merge_equal_findings(
        [*(counts.get(_finding_identity(d), d) for d in compilation.findings), *found]
    )
    return files


# ---------------------------------------------------------------- figures


def _add_opinions_to_design(
    design: Design, fabric: Fabric, limits: Limits
) -> Iterator[tuple[Diagnostic, Reproduction]]:
    """Give a design's results their second opinions; the disagreements."""
    judge = (
        _documents_of_cluster(fabric) if fabric.members else SecondOpinionJudge(fabric, design.failed, limits)
    )
    certified = {} if fabric.members else _opinions_of_certificates(design, fabric, limits)
    answered = {id(result): claim for result, claim in results_with_claims(design.claims, design.results)}
    results = []
    for number, result in enumerate(design.results, 1):
        claim = answered.get(id(result))
        opinions = [o for o in (judge.opinion(result, claim), certified.get(id(result))) if o is not None]
        results.append(
            replace(result, second_opinion=_merged_opinion_facts(opinions)) if opinions else result
        )
        opinion = next((o for o in opinions if o.verdict == "disagrees"), None)
        if opinion is not None:
            name = f"second-opinion-{design.name}-{number}-{result.check}.json"
            yield (
                _disagreement_finding(fabric, result, opinion, name),
                _reproduction_of_disagreement(design, fabric, result, claim, opinion, name),
            )
    design.results = results


def _rack_heights_of_halls(fabric: Fabric) -> dict[tuple[str, str, str], int]:
    """The heights, in units, of the racks that halls state, by hall, row and number."""
    return {
        (hall.name, line.name, str(n)): kind.height
        for hall in (fabric.places.halls if fabric.places is not None else ())
        for line in hall.rows
        for n, kind in line.racks
        if kind.height is not None
    }


def _documents_of_cluster(cluster: Fabric) -> ClusterDocuments:
    """What is said of the fabrics of a cluster, each by itself."""
    from tdsl.fabric.places import height_of, rows_of_places

    documents: list[Any] = []
    watts: dict[str, Fraction | None] = {}
    places: dict[str, Place] = {}
    tops: dict[tuple[str, str, str], int] = {}
    for f in cluster.members:
        documents.append(_json_target_of_fabric(f))
        for m in f.models:
            most = m.facts.get("power_max")
            watts[m.name] = most.amount if isinstance(most, Quantity) else None
        height = {f.device_name(d): height_of(f.model_of(d)) for d in range(f.device_count)}
        for name, where, row, rack, unit in rows_of_places(f):
            if rack is not None:
                lowest = 0 if height[name] == 0 else unit or 0  # 0U: beside the units
                places[name] = where, row, str(rack), lowest, height[name] or 0
        tops |= _rack_heights_of_halls(f)
    return ClusterDocuments(documents, watts, places, tops)


def _merged_opinion_facts(opinions: list[Opinion]) -> dict[str, object]:
    """One entry of what several methods say: a disagreement first, then what is confirmed."""
    wrong = [o for o in opinions if o.verdict == "disagrees"]
    good = [o for o in opinions if o.verdict == "confirmed"]
    facts = (wrong or good or opinions)[0].facts()
    if not wrong and good:
        facts["by"] = list(dict.fromkeys(o.by for o in good))
    return facts


def _disagreement_finding(fabric: Fabric, result: Result, opinion: Opinion, name: str) -> Diagnostic:
    first = result.text or str(result.value)
    message = (
        f"`{result.requirement or result.check}`: the check says {result.status}, {first}; "
        f"{opinion.by} says {opinion.said}"
    )
    span = result.origin.span if result.origin is not None else fabric.origin.span
    notes = [opinion.reason] if opinion.reason else []
    return Diagnostic(
        DISAGREE,
        message,
        span,
        (),
        (*notes, "one of the two is wrong: rely on neither"),
        f"`--second-opinion-dir DIR` writes {name}, which reproduces it; report it with that file",
    )


def _reproduction_of_disagreement(
    design: Design, fabric: Fabric, result: Result, claim: ResolvedClaim | None, opinion: Opinion, name: str
) -> Reproduction:
    """The fabric, or those of a cluster, the requirement and both answers."""
    shown = _json_target_of_fabric(fabric) if not fabric.members else None
    asked: dict[str, object] = {"check": result.check, "text": result.requirement}
    if claim is not None:
        value = None if claim.value is None else str(claim.value)
        asked |= {"args": [str(x) for x in claim.args], "op": claim.op, "value": value}
        asked["elements"] = {
            s.text: [e.name for e in s.elements] for s in (*claim.of, *claim.of_to, *claim.at)
        }
    return Reproduction(
        name,
        {
            "schema": 1,
            "design": design.name,
            "file": design.file,
            "parameters": {k: str(v) for k, v in design.parameters.items()},
            "failed": list(design.failed.names) if design.failed is not None else [],
            "requirement": asked,
            "first": result.facts(),
            "second": opinion.facts(),
            "fabric": shown,
            **({"fabrics": [_json_target_of_fabric(f) for f in fabric.members]} if fabric.members else {}),
        },
    )


def _json_target_of_fabric(fabric: Fabric) -> Any:
    """What the target ``json`` makes of a fabric, None if it makes nothing."""
    from tdsl.emit.build import build_files

    text = build_files(fabric, ["json"], Diagnostics()).get("fabric.json")
    return None if text is None else json.loads(text)


# ---------------------------------------------------------------- certificates


def _opinions_of_certificates(design: Design, fabric: Fabric, limits: Limits) -> dict[int, Opinion]:
    """What the checker says of the certificates of a design, by the identity of the result that each is
    about."""
    if design.failed is not None or fabric.link_count > limits.links:
        return {}
    from tdsl.certificates.write import verified_certificates

    made = verified_certificates(fabric, design.claims, design.results, limits.checked)
    about = list(_certificate_names_of_results(design))
    out = {}
    for name, result in about:
        if (
            name in made.texts
            and (found := _opinion_of_certificate(json.loads(made.texts[name]), result)) is not None
        ):
            out[id(result)] = found
        elif name in made.left_out and name not in made.rejected:
            out[id(result)] = Opinion("unconfirmed", reason=f"no certificate: {made.left_out[name]}")
        elif name in made.rejected:
            out[id(result)] = Opinion(
                "disagrees",
                CHECKER,
                yes_or_no_answer(CHECKER, False),
                f"the checker rejects {name}: {made.rejected[name]}",
            )
    return out


def _certificate_names_of_results(design: Design) -> Iterator[tuple[str, Result]]:
    """Results, each with the name of the certificate that is about it."""
    numbers: Counter[str] = Counter()
    known: dict[object, str] = {}
    for result, claim in results_with_claims(design.claims, design.results):
        if result.check in PLAIN and (claim is None or _has_no_clause(claim)):
            yield f"{result.check}.json", result
        if claim is None or claim.scope is not None:
            continue
        if _has_numbered_certificate(claim):
            numbers[claim.metric] += 1
            yield f"{claim.metric}-{numbers[claim.metric]}.json", result
        elif claim.metric == "throughput" and _names_traffic(claim):
            named = tuple(tuple(e.name for s in side for e in s.elements) for side in (claim.of, claim.of_to))
            yield (
                known.setdefault((claim.args, claim.through, named), f"throughput-{len(known) + 1}.json"),
                result,
            )


def _has_no_clause(claim: ResolvedClaim) -> bool:
    """Whether a requirement is about the whole fabric and its usual traffic."""
    return not (claim.scope or claim.of or claim.at or claim.of_active or claim.args or claim.through)


def _has_numbered_certificate(claim: ResolvedClaim) -> bool:
    """Whether certificates of a requirement's metric are numbered, one for each requirement."""
    from tdsl.certificates.write import claims_at_switches

    if claim.metric == "oversubscription":
        return bool(claims_at_switches([claim]))
    if claim.metric == "blast_radius":
        return not any(s.ports for s in claim.of) and not claim.through
    return claim.metric == "survives"


def _names_traffic(claim: ResolvedClaim) -> bool:
    """Whether a requirement of throughput names two sets, or a pattern other than all-to-all."""
    return claim.args != ("all_to_all",) and bool(claim.of) == bool(claim.of_to) != bool(claim.args)


def _opinion_of_rates(low: Fraction, high: Fraction, result: Result) -> Opinion | None:
    """Whether the two bounds of a certificate, in bit/s, are those of a result; None where they overlap."""
    first, last = Fraction(result.measures["lower_bps"]), Fraction(result.measures["upper_bps"])
    if (low, high) == (first, last):
        assert isinstance(result.lower, (int, Fraction)) and isinstance(result.upper, (int, Fraction))
        if "most_of_smaller_half_bps" in result.measures:
            return None  # units send different amounts: the share may be that of another split
        return Opinion(
            "confirmed", CHECKER, SecondAnswer(CHECKER, Fraction(result.lower), Fraction(result.upper))
        )
    apart = high < first or last < low
    return Opinion("disagrees", CHECKER, SecondAnswer(CHECKER, low, high), "in bit/s") if apart else None


def _opinion_of_certificate(body: Mapping[str, object], result: Result) -> Opinion | None:
    """Whether a verified certificate states what a result says; None where it states less."""
    if result.status not in ("proved", "refuted", "bounded"):
        return None
    if "lower_bps" in body and "lower_bps" in result.measures:
        return _opinion_of_rates(Fraction(str(body["lower_bps"])), Fraction(str(body["upper_bps"])), result)
    figure = body.get("value")
    if figure is not None and result.lower is not None:
        found = exact_answer(CHECKER, Fraction(str(figure)))
        return Opinion(
            "confirmed" if found.lower == result.lower == result.upper else "disagrees", CHECKER, found
        )
    holds = body.get("holds", True if body["check"] == "survives" else None)
    if not isinstance(holds, bool) or result.status == "bounded":
        return None
    return Opinion(
        "confirmed" if holds == (result.status == "proved") else "disagrees",
        CHECKER,
        yes_or_no_answer(CHECKER, holds),
    )


# ---------------------------------------------------------------- unknown counts


def _finding_identity(d: Diagnostic) -> tuple[str, int, int]:
    """What distinguishes a finding from others: its code and where it is."""
    return (d.code, d.span.start, d.span.end) if d.span is not None else (d.code, -1, -1)


def _confirm_unknown_counts(
    compilation: Compilation, source: str, request: Request, limits: Limits
) -> dict[tuple[str, int, int], Diagnostic]:
    """The notes about unknown counts, each with a second opinion: the design compiled with the numbers as
    text."""
    chosen: dict[SourceSpan, tuple[int, Diagnostic]] = {}
    for d in compilation.findings:
        found = LEAST.fullmatch(d.message) if d.code == "E0461" else None
        if (
            found is not None
            and d.span is not None
            and d.span.text == "?"
            and d.span.file.name == compilation.file
        ):
            chosen[d.span] = (int(found[1]), d)
    if not chosen:
        return {}
    plain = replace(request, select=(), ignore=(), fail=(), severities={})
    known = compilation if plain == request else compiler.compile_and_verify(source, plain)
    errors = _errors_of_compilation(known)
    out = {}
    order = sorted(chosen, key=lambda span: (span.file.name, span.start))
    for at, span in enumerate(order):
        value, d = chosen[span]
        before = {other: chosen[other][0] for other in order[:at]}
        out[_finding_identity(d)] = _confirm_unknown_count(
            source, plain, d, before, span, value, limits, errors
        )
    return out


def _confirm_unknown_count(
    source: str,
    request: Request,
    d: Diagnostic,
    before: Mapping[SourceSpan, int],
    span: SourceSpan,
    value: int,
    limits: Limits,
    known: Errors,
) -> Diagnostic:
    """A note with what compiling says of the number and of each smaller one; E0905 where that differs.
    ``known`` are errors that the design has with the numbers that were found: other fabrics of the file may
    have some."""
    if value > limits.trials:
        why = MethodTooLarge("compiling", f"{value - 1:,} smaller numbers", f"{limits.trials - 1}")
        return replace(d, notes=(*d.notes, f"not confirmed: {why}"))
    for smaller in range(1, value):
        if not _has_further_errors(source, request, {**before, span: smaller}, known):
            message = f"{d.message}; compiling the design with {smaller} in its place finds nothing wrong"
            return Diagnostic(
                DISAGREE,
                message,
                span,
                help=f"write {smaller} there to see it, and report it with the design",
            )
    if _has_further_errors(source, request, {**before, span: value}, known):
        message = f"{d.message}; compiling the design with {value} in its place finds errors"
        return Diagnostic(
            DISAGREE, message, span, help=f"write {value} there to see them, and report it with the design"
        )
    said = "and with each smaller number" if value > 1 else "in its place"
    return replace(d, notes=(*d.notes, f"confirmed by compiling the design with {value} {said}"))


def _has_further_errors(
    source: str, request: Request, given: Mapping[SourceSpan, int], known: Errors
) -> bool:
    """Whether a design has further errors with these numbers written where it has `?`."""
    from tdsl.semantics.loader import Loader

    path = Loader(Diagnostics(), request.paths, dict(request.overlay)).design(source)
    if path is None:
        return False
    spans = sorted(given, key=lambda span: -span.start)
    text = spans[0].file.text
    for span in spans:
        text = text[: span.start] + str(given[span]) + text[span.end :]
    overlay = {**request.overlay, str(path.resolve()): text}
    return (
        not _errors_of_compilation(compiler.compile_and_verify(source, replace(request, overlay=overlay)))
        <= known
    )


def _errors_of_compilation(compilation: Compilation) -> Errors:
    """The errors of a compilation, those that the design allows as well: code, message, file and line, which
    no number in the place of a `?` moves."""
    wrong = [d for d in compilation.findings if d.severity in (Severity.ERROR, Severity.ALLOWED)]
    return frozenset(
        (d.code, d.message, *((d.span.file.name, d.span.begin[0]) if d.span else ("", 0))) for d in wrong
    )
