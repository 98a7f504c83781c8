"""A design against the judges: compile it, judge it, and say where the two differ."""

from __future__ import annotations

import json
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from tdsl.certificates.checker import check
from tdsl.certificates.write import verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Design
from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.semantics.quantity import Quantity
from tdsl.verify.result import Result
from tdsl.verify.second.answer import Limits
from tdsl.verify.second.judge import SecondOpinionJudge, results_with_claims
from tests.harness import written
from tests.soundness.generate import Draft, questions, thresholds
from tests.soundness.judges import Claim, Figure, Unjudged, World, contradiction, figure, figures, outcomes
from tests.soundness.mutate import is_true, mutations

WHOLE = ("diameter", "edge_redundancy", "node_redundancy", "blast_radius")
NEAR = Fraction(1, 10**7)
"""How far a figure of a linear program may be from the true one, relative."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """tdsl says one thing of a requirement and the judge another."""

    kind: str
    claim: Claim | None
    said: str
    judged: str
    draft: Draft

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two of them alike."""
        given = self.claim.given.metric if self.claim and self.claim.given else ""
        return self.kind, self.claim.metric if self.claim else "", given


@dataclass(slots=True)
class Tally:
    """What was compared."""

    designs: int = 0
    refused: int = 0
    figures: int = 0
    mutations: int = 0
    relations: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    unanswered: Counter[str] = field(default_factory=Counter)
    found: list[Disagreement] = field(default_factory=list)
    wired: Compiled | None = None
    """Of one design: what was compiled of it before any requirement."""

    def add(self, other: Tally) -> None:
        self.designs += other.designs
        self.refused += other.refused
        self.figures += other.figures
        self.mutations += other.mutations
        self.relations += other.relations
        self.verdicts += other.verdicts
        self.unanswered += other.unanswered
        self.found += other.found


@dataclass(frozen=True, slots=True)
class Compiled:
    """A design that tdsl accepts, with its fabric.json."""

    design: Design
    text: str
    world: World


def compiled(
    draft: Draft, folder: Path, claims: Sequence[Claim] = (), verify: bool = False, report: bool = False
) -> Compiled | str:
    """Compile a design in a folder; a string says why tdsl refuses it. What tdsl raises is raised."""
    wired = checked(draft, folder, claims, report) if verify else _design(draft.text(claims), folder, "design.fab", False)
    if isinstance(wired, str):
        return wired
    text = fabric_json(wired)
    if wrong := contradiction(json.loads(text)):
        raise RuntimeError(wrong)
    planned: World | None = None
    if draft.tiers and (whole := draft.text(planned=True)) != draft.text():
        twin = _design(whole, folder, "planned.fab", False)
        planned = World(json.loads(fabric_json(twin))) if isinstance(twin, Design) else None
    return Compiled(wired, text, World(json.loads(text), planned))


def checked(draft: Draft, folder: Path, claims: Sequence[Claim], report: bool = False) -> Design | str:
    """The answers of tdsl to requirements of a design; a string says why it is refused."""
    for c in claims:
        for one in (c, c.given):
            if one and one.arg.startswith("permutation "):
                pairs = one.arg.removeprefix("permutation ").replace(">", ",").split(";")
                (folder / one.file).write_text("\n".join(["from,to", *pairs, ""]), encoding="utf-8")
    return _design(draft.text(claims, report=report), folder, "design.fab", True)


def fabric_json(design: Design) -> str:
    """fabric.json of a design."""
    assert design.fabric is not None
    return build_files(design.fabric, ["json"], Diagnostics())["fabric.json"].decode()


def _design(text: str, folder: Path, name: str, verify: bool) -> Design | str:
    path = folder / name
    written(path, text)
    result = (compiler.compile_and_verify if verify else compiler.compile_without_checks)(str(path))
    internal = [d for d in result.findings if d.code.startswith("E090") and d.code not in ("E0907", "E0908")]
    if internal:
        raise RuntimeError(f"{internal[0].code} {internal[0].message}")
    design = result.designs[0]
    wrong = [d for d in result.findings if d.severity is Severity.ERROR and not re.match(r"E04[0-4]", d.code)]
    if design.fabric is None or not design.fabric.complete or wrong:
        return f"{wrong[0].code} {wrong[0].message}" if wrong else "not complete"
    return design


SECOND = Limits(steps=400_000, work=3_000_000, columns=6_000, iterations=20_000, sets=60, rounds=60)
"""Of second opinions about random designs: they are small."""


def judged(draft: Draft, folder: Path, mutants: int = 0, second: bool = False, reports: Sequence[Claim] = ()) -> Tally:
    """Compile one design, set requirements around what the judges find, and compare every answer; ``second``: also with the
    answer of `check --second-opinion`. ``reports`` are asked of the design before any requirement, for who takes it from the
    tally."""
    tally = Tally(designs=1)
    asked = _asked(draft, folder, tally, reports)
    if not asked:
        return tally
    try:
        checked = _with_requirements(draft, folder, asked, tally.wired)
    except Exception as fault:
        tally.found.append(Disagreement("internal error", None, said(fault), "", draft))
        return tally
    if isinstance(checked, str):
        tally.found.append(Disagreement("refused with requirements", None, checked, "", draft))
        return tally
    results = {(r.requirement, r.check): r for r in checked.design.results}
    for claim in asked:
        result = results.get((claim.text(), claim.metric))
        if result is None:
            tally.found.append(Disagreement("no answer", claim, "nothing", "", draft))
            continue
        compare(draft, checked.world, claim, result, tally)
    certificates = attack(draft, checked, mutants, tally) if mutants else 0
    if not certificates and fabric_json(checked.design) != checked.text:  # each certificate has its hash
        tally.found.append(Disagreement("requirements change fabric.json", None, "", "", draft))
    if second:
        _second(draft, checked.design, tally)
    return tally


def _with_requirements(draft: Draft, folder: Path, claims: Sequence[Claim], wired: Compiled | None) -> Compiled | str:
    """The design with requirements, whose fabric.json is to be that which it had without."""
    assert wired is not None
    design = checked(draft, folder, claims)
    return design if isinstance(design, str) else replace(wired, design=design)


def _second(draft: Draft, design: Design, tally: Tally) -> None:
    """The second opinion of tdsl contradicts no result."""
    assert design.fabric is not None
    judge = SecondOpinionJudge(design.fabric, limits=SECOND)
    for result, claim in results_with_claims(design.claims, design.results):
        try:
            opinion = judge.opinion(result, claim)
        except Exception as fault:
            tally.found.append(Disagreement(f"second opinion: internal error, {result.check}", None, said(fault), "", draft))
            continue
        if opinion is None:
            continue
        tally.verdicts[f"second opinion: {opinion.verdict} {opinion.by}".strip()] += 1
        if opinion.verdict == "disagrees":
            bounds = f"{result.requirement or result.check}: {result.status} {result.text}"
            tally.found.append(
                Disagreement(f"second opinion: {result.check}", None, bounds, f"{opinion.by}: {opinion.said}", draft)
            )


def attack(draft: Draft, checked: Compiled, count: int, tally: Tally) -> int:
    """The certificates of a design, how many: each verifies and is true, and of its mutations only true ones verify."""
    assert checked.design.fabric is not None
    try:
        made = verified_certificates(checked.design.fabric, checked.design.claims, checked.design.results)
    except Exception as fault:
        tally.found.append(Disagreement("internal error of certificates", None, said(fault), "", draft))
        return 0
    for name, why in made.rejected.items():
        kind = f"honest certificate rejected: {name.partition('-')[0].removesuffix('.json')}"
        tally.found.append(Disagreement(kind, None, f"{name}: {why}", "", draft))
    for name, text in made.texts.items():
        honest = json.loads(text)
        tally.verdicts[f"certificate of {honest['check']}"] += 1
        if honest["design"] != sha256(checked.text.encode()).hexdigest():
            tally.found.append(Disagreement("certificate of another fabric.json", None, name, "", draft))
        true(draft, text, checked.text, checked.world, f"{name}, unchanged", tally)  # `certify` has had it checked
        for certificate, fabric, what in mutations(draft.rng, honest, checked.text, count):
            tally.mutations += 1
            accepted(draft, certificate, fabric, checked, f"{name}, {what}", tally)
    return len(made.texts)


def accepted(draft: Draft, certificate: str, fabric: str, checked: Compiled, what: str, tally: Tally) -> None:
    """A certificate that the checker accepts states something true."""
    try:
        status, _ = check(certificate, fabric)
    except BaseException as fault:
        tally.found.append(Disagreement("the checker raises", None, f"{what}: {said(fault)}", certificate[:2000], draft))
        return
    if status == 0:
        true(draft, certificate, fabric, checked.world if fabric == checked.text else None, what, tally)


def true(draft: Draft, certificate: str, fabric: str, world: World | None, what: str, tally: Tally) -> None:
    """What a certificate states is so, by the judges; ``world`` is what they know of the fabric, if they do."""
    stated = json.loads(certificate)
    try:
        so = is_true(stated, world or World(json.loads(fabric)))
    except Unjudged:
        tally.verdicts["accepted, unjudged"] += 1
        return
    except (LookupError, TypeError, ValueError, AttributeError) as fault:
        tally.verdicts[f"accepted, not read by the judge: {type(fault).__name__}"] += 1
        return
    tally.verdicts["accepted, true" if so else "accepted, false"] += 1
    if not so:
        text = f"{certificate[:6000]}\n\n{fabric if 'fabric' in what else ''}"
        tally.found.append(Disagreement(f"forged certificate accepted: {stated['check']}", None, what, text, draft))


def _asked(draft: Draft, folder: Path, tally: Tally, reports: Sequence[Claim]) -> list[Claim]:
    """Requirements with thresholds; the design without them goes to the tally."""
    try:
        wired = compiled(draft, folder, reports, verify=bool(reports), report=True)
    except Exception as fault:
        tally.found.append(Disagreement("internal error", None, said(fault), "", draft))
        return []
    if isinstance(wired, str):
        tally.refused += 1
        tally.verdicts[f"refused: {wired[:60]}"] += 1
        return []
    tally.wired = wired
    out: list[Claim] = []
    for claim in questions(draft):
        if claim.metric == "survives" and not wired.world.elements(claim):
            continue
        try:
            out += _around(draft, wired.world, claim)
        except Unjudged as why:
            tally.verdicts[f"unjudged: {why}"] += 1
    return list(dict.fromkeys(out))


def _around(draft: Draft, world: World, claim: Claim) -> list[Claim]:
    """A question with thresholds around what the judge finds."""
    inner = claim.given or claim
    if claim.metric == "survives":
        if claim.given is None or claim.given.metric == "reachability":
            figures(world, claim)  # whether it can be judged
            return [claim]
        every = [f for _, f in figures(world, claim) if isinstance(f, Figure)]
        if claim.count > 2 and claim.given.metric == "bisection" and every:  # what a bound on all cuts may prove or not
            half = min(f.value for f in every) / 2
            return [replace(claim, given=replace(inner, cmp=">=", value=v)) for v in (half, half + Fraction(1, 2))]
    else:
        one = figure(world.whole, claim)
        if isinstance(one, bool):
            return [claim]
        every = [one]
    out = []
    for cmp, value, unit in thresholds(draft.rng, every, inner.metric in WHOLE):
        unit = "s" if inner.metric in ("latency", "allreduce") else unit
        set_ = replace(inner, cmp=cmp, value=value, unit=unit)
        out.append(replace(claim, given=set_) if claim.given else set_)
    return out


def compare(draft: Draft, world: World, claim: Claim, result: Result, tally: Tally) -> None:
    """One answer of tdsl against the judge's."""
    tally.figures += 1
    tally.verdicts[result.status] += 1

    def differ(kind: str, judge: object) -> None:
        bounds = f"{result.status} [{_plain(result.lower)}, {_plain(result.upper)}] {result.text or result.reason}"
        tally.found.append(Disagreement(kind, claim, bounds, str(judge), draft))

    if claim.metric == "survives":
        every = outcomes(world, claim)
        broken = [names for holds, names in every if holds is False]
        truth: bool | None = False if broken else None if any(h is None for h, _ in every) else True
        if result.status in ("proved", "modelled") and truth is False:
            differ("false proof", f"without {broken[0]}: {_one(world, claim, broken[0])}")
        elif result.status == "refuted":
            failed = result.witness.get("failed")
            named = [h for h, names in every if isinstance(failed, list) and sorted(names) == sorted(map(str, failed))]
            if truth is True:
                differ("false refutation", "holds whichever fail")
            elif named == [True]:
                differ("wrong witness", f"it holds without {failed}")
        elif result.status == "skipped" and truth is False:
            tally.unanswered[f"skipped, and false: {_general(result.reason)}"] += 1
        elif result.status == "bounded":
            tally.unanswered["bounded: survives"] += 1
        return
    found = figure(world.whole, claim)
    if isinstance(found, Figure):
        value = found.value
        slack = Fraction(0) if found.exact else max(NEAR * abs(value), Fraction(1, 10**12))
        low, high = fraction_of(result.lower), fraction_of(result.upper)
        least = value if found.least is None else found.least
        wrong = (low is not None and low - slack > value) or (high is not None and high + slack < least)
        if wrong and (found.least is not None or None not in (low, high)):
            differ("wrong figure", f"{value} = {float(value):.6g}")
            return
        ends = [result.measures.get(f"{end}_bps") for end in ("lower", "upper")]
        if found.bps is not None and None not in ends:
            low, high = (Fraction(end) for end in ends if end is not None)
            slack = Fraction(0) if found.exact else NEAR * found.bps
            if not low - slack <= found.bps <= high + slack:
                differ("wrong figure", f"{found.bps} bit/s, not {ends}")
                return
    if result.status in ("skipped", "bounded"):
        tally.unanswered[f"{result.status}: {claim.metric} {_general(result.reason)}"] += 1
        return
    near = isinstance(found, Figure) and not found.exact and _at_limit(found, claim)
    if result.status in ("proved", "modelled", "refuted") and not near and claim.holds(found) is (result.status == "refuted"):
        differ("false refutation" if result.status == "refuted" else "false proof", found)


def _at_limit(found: Figure, claim: Claim) -> bool:
    """Whether a linear program's figure is too near to what is asked to say on which side it is."""
    value = found.bps if claim.unit == "bps" and found.bps is not None else found.value
    return abs(value - claim.value) <= NEAR * abs(claim.value)


def _one(world: World, claim: Claim, names: tuple[str, ...]) -> str:
    return next(str(f) for n, f in figures(world, claim) if n == names)


def _general(text: str) -> str:
    return re.sub(r"[`\"].*?[`\"]|\[[^\]]*\]|\w*\d\w*", "…", text)[:80]


def fraction_of(value: Any) -> Fraction | None:
    """A figure as a fraction; None where it is none, or infinite."""
    value = value.amount if isinstance(value, Quantity) else value
    return None if value is None or isinstance(value, bool) or value == float("inf") else Fraction(value)


def _plain(value: Any) -> str:
    found = fraction_of(value)
    return str(value) if found is None else f"{found}"


def said(fault: BaseException) -> str:
    """What was raised, and where."""
    last = traceback.extract_tb(fault.__traceback__)[-1]
    return f"{type(fault).__name__}: {fault} ({Path(last.filename).name}:{last.name})"


# ---------------------------------------------------------------- shrinking


def shrunk(found: Disagreement, folder: Path, tries: int = 150) -> Disagreement:
    """The same kind of disagreement about a smaller design."""
    best = found
    if found.claim is None:
        return found
    budget = tries
    progress = True
    while progress and budget > 0:
        progress = False
        for body in _smaller(best.draft.body):
            if budget <= 0:
                break
            budget -= 1
            smaller = replace(best.draft, body=body)
            again = _again(smaller, found, folder)
            if again is not None:
                best, progress = again, True
                break
    used = set(re.findall(r"\w+", " ".join(best.draft.body)))
    models = dict(best.draft.models)
    for _ in range(4):
        inner = used | {w for k, m in models.items() if k in used for w in re.findall(r"\w+", m)}
        used = inner
    return replace(best, draft=replace(best.draft, models={k: m for k, m in models.items() if k in used}))


def _again(draft: Draft, found: Disagreement, folder: Path) -> Disagreement | None:
    assert found.claim is not None
    try:
        made = compiled(draft, folder, [found.claim], verify=True)
        if isinstance(made, str):
            return None
        tally = Tally()
        result = next(r for r in made.design.results if r.requirement == found.claim.text() and r.check == found.claim.metric)
        compare(draft, made.world, found.claim, result, tally)
    except Exception:
        return None
    return next((d for d in tally.found if d.key == found.key), None)


def _smaller(body: list[str]) -> list[list[str]]:
    out = [body[:i] + body[i + 1 :] for i in range(len(body) - 1, -1, -1)]
    for i, line in enumerate(body):
        for m in re.finditer(r"(?<![\w.])\d+(?![\w.])|(?<=\.\.)\d+| x \d+", line):
            word = m[0]
            value = 0 if word.startswith(" x") else int(word)
            if word.startswith(" x"):
                out.append([*body[:i], line[: m.start()] + line[m.end() :], *body[i + 1 :]])
            elif value > 0:
                out.append([*body[:i], f"{line[: m.start()]}{value - 1}{line[m.end() :]}", *body[i + 1 :]])
    return out


def report(found: Disagreement) -> str:
    """A file that shows a disagreement: a design with its requirement, under a header."""
    header = [
        f"# {found.kind}: seed {found.draft.seed}, {found.draft.kind}",
        f"# requirement: {found.claim.text() if found.claim else '-'}",
        f"# answer: {found.said}",
        f"# judge: {found.judged}",
    ]
    said = [x if x.startswith("#") else f"# {x}" for x in "\n".join(header).splitlines()]
    return "\n".join(said) + "\n" + found.draft.text([found.claim] if found.claim else [])
