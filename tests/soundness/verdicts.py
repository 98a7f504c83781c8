"""A blueprint against the judges: compile its text, judge its records, and say where the answers differ."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from random import Random

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Design, Options
from tdsl.verify.result import Result
from tests.harness import written
from tests.soundness.arena import NEAR, fabric_json, fraction_of, said
from tests.soundness.blueprint import Asked, Blueprint
from tests.soundness.inventory import Inventory, split_path, stated_links
from tests.soundness.judge_parts import COUNTS, UNITS, count_readings
from tests.soundness.judge_paths import Answer, path_readings
from tests.soundness.judge_tables import wrong_tables
from tests.soundness.judges import Claim, Figure, Unjudged

PARTS = {*COUNTS, "cable_length", "tray_fill", "bend_radius", "loss_budget", "rack_power", "rack_space"}


TABLES = 5
"""Of so many designs the tables of one are built."""


@dataclass(frozen=True, slots=True)
class Difference:
    """tdsl says one thing and a judge another. ``text`` is a design that shows it, if there is one."""

    family: str
    kind: str
    metric: str
    requirement: str
    said: str
    judged: str
    seed: int
    text: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two of them alike."""
        return self.family, self.kind, self.metric

    def report(self) -> str:
        """A file that shows the difference."""
        head = [
            f"{self.family}, seed {self.seed}: {self.kind}",
            f"requirement: {self.requirement}",
            f"answer: {self.said}",
            f"judge: {self.judged}",
            f"python -m tests.soundness.run --family {self.family} --only {self.seed}",
        ]
        return "\n".join(f"# {x}" for h in head for x in h.splitlines()) + f"\n{self.text}"


@dataclass(slots=True)
class Compared:
    """What was compared, and what differs."""

    designs: int = 0
    refused: int = 0
    figures: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    found: list[Difference] = field(default_factory=list)

    def add(self, other: Compared) -> None:
        self.designs += other.designs
        self.refused += other.refused
        self.figures += other.figures
        self.verdicts += other.verdicts
        self.found += other.found


# ---------------------------------------------------------------- asking


def instances_of_block(inventory: Inventory, block: str) -> list[str]:
    """The instances of the group whose block this is, by path; the fabric itself for ""."""
    if not block:
        return [""]
    names = block.split(".")
    found = {}
    for p in inventory.parts:
        steps = split_path(p)[: len(names)]
        if [re.sub(r"\[.*", "", s) for s in steps] == names:
            found[".".join(steps)] = None
    return list(found)


def readings(inventory: Inventory, claim: Claim, scope: str) -> list[list[Answer]]:
    """The answers to a claim by every reading of it. Raises Unjudged."""
    if claim.metric in PARTS:
        return [[Figure(v) for v in values] for values in count_readings(inventory, claim, scope)]
    if not any(p.kind in ("host", "chip") for p in inventory.built_parts()):
        raise Unjudged("no endpoint is left")
    return path_readings(inventory, claim, scope)


def with_thresholds(blueprint: Blueprint, bases: Sequence[Asked], rng: Random) -> Blueprint:
    """The blueprint with these questions as requirements: with values at, just below and just above figures of an instance."""
    inventory = blueprint.inventory()
    out: list[Asked] = []
    for one in bases:
        scopes = instances_of_block(inventory, one.block)
        inner = one.claim.given or one.claim
        if one.claim.metric == "survives" or not scopes:
            out += [one] * bool(scopes)
            continue
        try:
            values = [
                v for scope in rng.sample(scopes, min(2, len(scopes))) for r in readings(inventory, inner, scope) for v in r
            ]
        except (Unjudged, ValueError):
            values = []
        except KeyError as fault:
            raise RuntimeError(f"{one.claim.text()}: {said(fault)}") from fault
        if not values:
            continue
        if isinstance(values[0], bool):
            out.append(one)
            continue
        figure = rng.choice([v for v in values if isinstance(v, Figure)])
        if inner.metric in APPROXIMATE:
            value = (figure.value * rng.choice((Fraction(9, 10), Fraction(11, 10)))).limit_denominator(10**5)
            out.append(replace(one, claim=replace(inner, cmp=rng.choice((">=", "<=")), value=value)))
            continue
        step = Fraction(1) if inner.metric in PARTS or figure.value.denominator == 1 else abs(figure.value) / 97
        value = figure.value + rng.choice((-1, 0, 0, 0, 1)) * step
        cmp = rng.choice((">=", "<=", "==", ">", "<"))
        if value >= 0:
            out.append(replace(one, claim=replace(inner, cmp=cmp, value=value, unit=UNITS.get(inner.metric, ""))))
    return replace(blueprint, asked=tuple(dict.fromkeys(out)))


APPROXIMATE = ("tray_fill",)
"""Metrics whose figure tdsl rounds: of pi."""

SCOPED_NAMES = ("taper", "oversubscription", *COUNTS, "cable_length", "tray_fill", "bend_radius", "loss_budget")
"""Metrics of which the question in a block is the same as that by full path."""


def by_full_path(inventory: Inventory, one: Asked, scope: str) -> Claim | None:
    """The question of a block asked from outside of it, about one instance; None where there is none that is the same."""
    claim = one.claim

    def full(text: str) -> str:
        return ", ".join(inventory.select(text, scope))

    if claim.metric == "survives" or claim.metric == "blast_radius" or claim.given or (claim.metric == "throughput" and claim.to):
        return None
    if claim.of or claim.at:
        if claim.metric not in SCOPED_NAMES and not claim.every and not inventory.select(claim.of, scope):
            return None
        return replace(
            claim,
            of=full(claim.of) if claim.of else "",
            to=full(claim.to) if claim.to else "",
            at=full(claim.at) if claim.at else "",
        )
    return replace(claim, of=scope) if claim.metric != "oversubscription" else None


# ---------------------------------------------------------------- judging


def left_by_failures(blueprint: Blueprint, inventory: Inventory) -> Inventory:
    """What the failures that a blueprint is checked with leave; what failed is still recorded, and hosts that lost their last
    link are no endpoints any more."""
    gone = frozenset().union(*(inventory.select(x)[x] for x in blueprint.fail)) if blueprint.fail else frozenset[str]()
    if not gone:
        return inventory
    left = inventory.without(gone)
    before, after = ({end for w in some.wires for end in (w.a, w.b)} for some in (inventory, left))
    lonely = {
        p for p in before - after
        if inventory.parts[p].kind in ("host", "chip") and inventory.parts[p].inside not in after
    }  # fmt: skip
    parts = {p: replace(v, built=v.built and p not in lonely) for p, v in left.parts.items()}
    return Inventory(parts, left.wires, left.cables)


def with_failures(blueprint: Blueprint, rng: Random, chance: float) -> Blueprint:
    """The blueprint checked with one or two devices failed, now and then."""
    if rng.random() > chance:
        return blueprint
    built = [p.path for p in blueprint.inventory().built_parts() if not p.inside]
    return replace(blueprint, fail=tuple(rng.sample(built, rng.choice((1, 1, 2)))))


def judged_blueprint(blueprint: Blueprint, folder: Path, shrink: bool = True) -> Compared:
    """Compile a design and compare its links and all its answers with the judges."""
    out = Compared(designs=1)
    try:
        inventory = blueprint.inventory()
        asked = with_full_paths(blueprint, inventory)
        compilation = compiled_text(asked, folder)
    except Exception as fault:
        if isinstance(fault, AssertionError | KeyError):
            raise
        out.found.append(difference(blueprint, "internal error", "", said(fault), ""))
        return out
    for code, message in internal_errors(compilation):
        out.found.append(difference(blueprint, "internal error", "", f"{code} {message}", ""))
    if out.found:
        out.found = [smaller_crash(d, blueprint, folder) for d in out.found[:1]] if shrink else out.found
        return out
    design = compilation.designs[0]
    if design.fabric is None or not design.fabric.complete or not design.results:
        out.refused = 1
        out.verdicts[f"refused: {blueprint.family}: {first_error(compilation)}"] += 1
        return out
    if not blueprint.cluster and not blueprint.fail:
        stated, recorded = stated_links(json.loads(fabric_json(design))), inventory.links_between_paths()
        if stated != recorded:
            out.found.append(
                difference(blueprint, "other links than recorded", "", only_in(stated, recorded), only_in(recorded, stated))
            )
            return out
    if not blueprint.cluster and blueprint.seed % TABLES == 0:
        for name, says, recorded_as in wrong_tables(design.fabric, inventory):
            out.found.append(difference(blueprint, f"wrong table {name}", "", says, recorded_as))
    for one, found in compared_answers(blueprint, inventory, design, out):
        out.found.append(shrunk(one, found, blueprint, folder) if shrink else found)
    return out


def with_full_paths(blueprint: Blueprint, inventory: Inventory) -> Blueprint:
    """The blueprint with each question of a block asked again by full path."""
    more = [
        Asked(again)
        for one in blueprint.asked
        if one.block
        for scope in instances_of_block(inventory, one.block)
        if (again := by_full_path(inventory, one, scope)) is not None
    ]
    return replace(blueprint, asked=tuple(dict.fromkeys((*blueprint.asked, *more))))


def compared_answers(
    blueprint: Blueprint, inventory: Inventory, design: Design, out: Compared
) -> Iterator[tuple[Asked, Difference]]:
    """The answers of a design that differ from the judges', or from the answer by full path; at most two of a requirement."""
    results = {(r.requirement, r.scope): r for r in design.results if r.requirement is not None}
    after = left_by_failures(blueprint, inventory)
    for one in blueprint.asked:
        differing = 0
        for scope in instances_of_block(inventory, one.block):
            result = results.get((one.claim.text(), scope))
            if result is None:
                out.verdicts["no result"] += 1
                if not any(r == one.claim.text() for r, _ in results):
                    yield one, difference(blueprint, "no answer", one.claim, f"nothing in {scope or 'the fabric'}", "")
                break
            out.figures += 1
            out.verdicts[result.status] += 1
            of_design = one.claim.metric in PARTS or one.claim.metric == "isolated"  # whatever failed
            wrong = judged_answer(inventory if of_design else after, one, scope, result)
            again = by_full_path(inventory, one, scope) if scope else None
            twin = results.get((again.text(), "")) if again else None
            if (
                twin is not None
                and not wrong
                and (twin.status, twin.lower, twin.upper) != (result.status, result.lower, result.upper)
            ):
                assert again is not None
                wrong = "another answer by full path", f"`{again.text()}`: {answer_text(twin)}"
            if wrong and differing < 1:
                differing += 1
                where = f" in {scope}" if scope else ""
                yield one, difference(blueprint, wrong[0], one.claim, answer_text(result) + where, wrong[1])


def judged_answer(inventory: Inventory, one: Asked, scope: str, result: Result) -> tuple[str, str] | None:
    """What is wrong with an answer, and what the judge says; None where nothing is."""
    try:
        every = readings(inventory, one.claim, scope)
    except Unjudged:
        return None
    claim = one.claim
    holds = [all(claim.holds(v) if claim.metric != "survives" else bool(v) for v in values) for values in every]
    told = "; ".join(", ".join(_value(v) for v in values) for values in every)
    near = any(
        isinstance(v, Figure) and not v.exact and abs(v.value - claim.value) <= NEAR * abs(v.value) for r in every for v in r
    )
    if result.status in ("proved", "modelled") and not any(holds) and not near:
        return "false proof", told
    if result.status == "refuted" and all(holds) and not near:
        return "false refutation", told
    if result.status not in ("proved", "refuted") and (one.always or claim.metric in ("links", "cables", "ports", "switches")):
        return "not judged", told
    if claim.metric in APPROXIMATE:
        return None
    low, high = fraction_of(result.lower), fraction_of(result.upper)
    if result.status == "skipped" or low is None or high is None or isinstance(every[0][0], bool):
        return None
    for values in every:
        figures = [v for v in values if isinstance(v, Figure)]
        slack = Fraction(0) if all(v.exact for v in figures) else NEAR * max(abs(v.value) for v in figures)
        if any(low - slack <= v.value <= high + slack for v in figures):
            return None
    return "wrong figure", told


def _value(value: Answer) -> str:
    if isinstance(value, bool):
        return str(value)
    return f"{value.value}" + (f" ({value.bps} bit/s)" if value.bps is not None else "")


def answer_text(result: Result) -> str:
    """An answer in one line."""
    low, high = (fraction_of(v) if v is not None else None for v in (result.lower, result.upper))
    return f"{result.status} [{low}, {high}] {result.text or result.reason}"


# ---------------------------------------------------------------- compiling


def compiled_text(blueprint: Blueprint, folder: Path) -> Compilation:
    """The design checked by tdsl."""
    path = folder / "design.fab"
    written(path, blueprint.text())
    return compiler.compile_and_verify(str(path), Options(fail=blueprint.fail))


def internal_errors(compilation: Compilation) -> list[tuple[str, str]]:
    """Findings that only a fault of tdsl explains."""
    return [(d.code, d.message) for d in compilation.findings if d.code.startswith("E090") and d.code not in ("E0907", "E0908")]


def first_error(compilation: Compilation) -> str:
    """The first finding of a design that was refused."""
    found = [d for d in compilation.findings if d.severity.name == "ERROR"]
    return f"{found[0].code} {found[0].message}"[:110] if found else "no finding"


def only_in(some: Sequence[object], others: Sequence[object]) -> str:
    """What one list has more than another."""
    return str(list((Counter(some) - Counter(others)).items())[:4])


def difference(blueprint: Blueprint, kind: str, claim: Claim | str, said: str, judged: str) -> Difference:
    """A difference about a design."""
    metric, requirement = (claim.metric, claim.text()) if isinstance(claim, Claim) else ("", claim)
    failed = f"# checked with --fail {' --fail '.join(blueprint.fail)}\n" if blueprint.fail else ""
    return Difference(blueprint.family, kind, metric, requirement, said, judged, blueprint.seed, failed + blueprint.text())


# ---------------------------------------------------------------- making small


def shrunk(one: Asked, found: Difference, blueprint: Blueprint, folder: Path, tries: int = 60) -> Difference:
    """The same difference about a smaller design, with this requirement alone."""
    best, design = found, replace(blueprint, asked=(one,))
    first = again(design, found, folder)
    if first is None:
        return found
    best = first
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in design.smaller():
            tries -= 1
            if tries < 0:
                break
            less = again(smaller, found, folder)
            if less is not None:
                best, design, progress = less, smaller, True
                break
    return best


def again(blueprint: Blueprint, found: Difference, folder: Path) -> Difference | None:
    """The difference of the same kind about a design, if it has one."""
    try:
        other = judged_blueprint(blueprint, folder, shrink=False)
    except Exception:
        return None
    return next((d for d in other.found if d.key == found.key), None)


def smaller_crash(found: Difference, blueprint: Blueprint, folder: Path) -> Difference:
    """A crash that fewer requirements show."""
    for one in blueprint.asked:
        less = again(replace(blueprint, asked=(one,)), found, folder)
        if less is not None:
            return replace(shrunk(one, less, blueprint, folder), requirement=one.claim.text(), metric=one.claim.metric)
    return found
