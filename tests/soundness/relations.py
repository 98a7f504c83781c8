"""Relations between the answers to a design and to the same design changed: no judge is needed.

Renaming, another order of statements and ``tdsl expand`` change no answer; doubled rates double bit/s and keep every share; one
more link takes no capacity away; a phase is the design with its values; and what ``--fail`` leaves is judged as the judges judge
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Options
from tdsl.verify.result import Result
from tests.soundness.arena import Disagreement, Tally, checked, compiled, fabric_json, fraction_of, said
from tests.soundness.generate import Draft
from tests.soundness.judges import Claim, Figure, Unjudged, figure

PLAIN = ("reachability", "bisection", "diameter", "edge_redundancy", "node_redundancy", "mean_hops")
DECLARED = re.compile(r"\b(?:host|switch|chip|group|pod|plane|ocs|panel) (\w+)(?=\[|:| \{)")

Bounds = tuple[str, Fraction | None, Fraction | None]


def asked(draft: Draft) -> list[Claim]:
    """What is reported of a design before and after a change."""
    r = draft.rng
    out = [Claim(m) for m in r.sample(PLAIN, 3)]
    out += [Claim("throughput", r.choice(("ring", "all_to_all", "shift 2")))]
    out += [Claim("blast_radius", of=r.choice(draft.fails)), Claim("survives", of=r.choice(draft.fails), count=1)]
    return out + [Claim("oversubscription")] * draft.tiers


def bounds(result: Result) -> Bounds:
    """Status and figures of an answer."""
    return result.status, fraction_of(result.lower), fraction_of(result.upper)


def answers(draft: Draft, claims: Sequence[Claim], folder: Path) -> dict[Claim, Result] | str:
    """The answers to claims that are reported, or why there are none."""
    found = checked(draft, folder, claims, report=True)
    if isinstance(found, str):
        return found
    by_text = {(r.requirement, r.check): r for r in found.results}
    return {c: by_text[c.text(), c.metric] for c in claims if (c.text(), c.metric) in by_text}


# ---------------------------------------------------------------- changes


def renamed(draft: Draft) -> tuple[Draft, Callable[[str], str]]:
    """The design with other names for all devices and groups, and how a path is then written."""
    names = {n for line in draft.body for n in DECLARED.findall(line)}
    word = re.compile(r"(?<![\w\"])(" + "|".join(sorted(names, key=len, reverse=True)) + r")(?=[\[:.,;{}~ ]|$)(?! pod\[)")

    def to(text: str) -> str:
        return word.sub(lambda m: f"{m[1]}_renamed", text)

    return replace(draft, body=[to(x) for x in draft.body], metres={to(k): v for k, v in draft.metres.items()}), to


def reordered(draft: Draft) -> Draft:
    """The design with its connects in another order, and its switches declared in another."""
    body = list(draft.body)
    for word in ("connect ", "switch "):
        at = [i for i, line in enumerate(body) if line.startswith(word) and "{ host" not in line]
        lines = [body[i] for i in at]
        draft.rng.shuffle(lines)
        for i, line in zip(at, lines, strict=True):
            body[i] = line
    return replace(draft, body=body)


def doubled(draft: Draft) -> Draft:
    """The design with all rates doubled."""

    def twice(text: str) -> str:
        return re.sub(r"(\d+)(G?bps)", lambda m: f"{2 * int(m[1])}{m[2]}", text)

    return replace(draft, models={k: twice(v) for k, v in draft.models.items()}, body=[twice(x) for x in draft.body])


# ---------------------------------------------------------------- relations


def rename(draft: Draft, folder: Path) -> str:
    """Other names, the same answers."""
    if not any(DECLARED.search(line) for line in draft.body):
        return ""  # an intent: its names are the topology's
    claims = asked(draft)
    other, to = renamed(draft)
    return _same(answers(draft, claims, folder), answers(other, [replace(c, of=to(c.of)) for c in claims], folder))


def reorder(draft: Draft, folder: Path) -> str:
    """Another order of connects and switches, the same answers."""
    if any(line.startswith("circuit ") for line in draft.body):
        return ""  # which optical switch a circuit takes is a matter of order
    claims = asked(draft)
    return _same(answers(draft, claims, folder), answers(reordered(draft), claims, folder))


def double(draft: Draft, folder: Path) -> str:
    """Doubled rates: the same shares, distances and numbers."""
    claims = asked(draft)
    after = answers(doubled(draft), claims, folder)
    if isinstance(after, str) and after.startswith("E0116"):
        return ""  # the limit of what all links carry together
    return _same(answers(draft, claims, folder), after)


def expand(draft: Draft, folder: Path) -> str:
    """``tdsl expand`` prints a design that gives the same fabric.json."""
    path = folder / "design.fab"
    path.write_text(draft.text(), encoding="utf-8")
    text, _ = compiler.expand_intent(str(path))
    before = compiler.compile_without_checks(str(path)).designs[0]
    if text is None or before.fabric is None or not before.fabric.complete:
        return ""
    path.write_text(text, encoding="utf-8")
    after = compiler.compile_without_checks(str(path)).designs[0]
    if after.fabric is None or not after.fabric.complete:
        return "the expanded design does not compile"
    return "" if fabric_json(before) == fabric_json(after) else "the expanded design has another fabric.json"


def add_link(draft: Draft, folder: Path) -> str:
    """One more link: no capacity is lost, and what reached each other still does."""
    found = compiled(draft, folder)
    if isinstance(found, str):
        return ""
    world = found.world
    inner = [d for d, k in enumerate(world.kinds) if k == "switch" and world.inside[d] < 0 and world.models[d] == "SW"]
    if len(inner) < 2 or draft.latency:
        return ""
    a, b = draft.rng.sample(inner, 2)
    more = replace(draft, body=[*draft.body, f"connect {world.paths[a]} to {world.paths[b]} {{ rate 100Gbps }}"])
    claims = [Claim("reachability"), Claim("bisection"), Claim("edge_redundancy"), Claim("throughput", "ring"),
              Claim("throughput", "all_to_all")]  # fmt: skip
    before, after = answers(draft, claims, folder), answers(more, claims, folder)
    if isinstance(before, str) or isinstance(after, str):
        return ""
    for claim in claims:
        one, two = bounds(before[claim]), bounds(after[claim])
        if claim.metric == "reachability":
            if (one[0], two[0]) == ("proved", "refuted"):
                return "one more link and reachability is lost"
        elif one[1] is not None and two[2] is not None and two[2] < one[1]:
            return f"one more link and {claim.text()} falls from {one[1]} to {two[2]}"
    return ""


def fail(draft: Draft, folder: Path) -> str:
    """What ``--fail`` leaves: of a device, a group or the links between two devices."""
    found = compiled(draft, folder)
    if isinstance(found, str) or not found.world.links:
        return ""
    world, r = found.world, draft.rng
    if r.random() < 0.5:
        x = r.choice(world.links)
        element = f"link {world.paths[x.a]} {world.paths[x.b]}"
        gone, links = frozenset[int](), frozenset(y.row for y in world.links if {y.a, y.b} == {x.a, x.b})
    else:
        name, gone = r.choice([*world.select(r.choice(draft.fails)).items()] or [("", frozenset())])
        element, links = name, frozenset()
        if not name:
            return ""
    claims = [Claim("reachability"), Claim("bisection"), Claim("diameter"), Claim("mean_hops"), Claim("throughput", "ring")]
    (folder / "design.fab").write_text(draft.text(claims, report=True), encoding="utf-8")
    design = compiler.compile_and_verify(str(folder / "design.fab"), Options(fail=(element,))).designs[0]
    left = world.left(gone, links)
    for claim in claims:
        result = next(r for r in design.results if (r.requirement, r.check) == (claim.text(), claim.metric))
        try:
            truth = figure(left, claim, world.whole)
        except Unjudged:
            continue
        status, low, high = bounds(result)
        if isinstance(truth, bool):
            if status in ("proved", "refuted") and len(left.units) > 1 and truth is not (status == "proved"):
                return f"--fail {element!r}: {claim.text()} {status}, and the judge says {truth}"
        elif isinstance(truth, Figure) and low is not None and high is not None:
            slack = Fraction(0) if truth.exact else abs(truth.value) / 10**7
            if not low - slack <= truth.value <= high + slack:
                return f"--fail {element!r}: {claim.text()} is [{low}, {high}], and the judge says {truth.value}"
    return ""


BUNDLE = re.compile(r"; bundle \d+|bundle \d+(?:; )?")
MULTIPLE = re.compile(r" x (\d+)(.*\bbundle )(\d+)")


def unbundle(draft: Draft, folder: Path) -> str:
    """No bundles: the same answers, and no fewer disjoint paths."""
    other = replace(draft, body=[re.sub(r" \{ \}", "", BUNDLE.sub("", line)) for line in draft.body])
    if other.body == draft.body:
        return ""
    claims = [c for c in asked(draft) if c.metric != "edge_redundancy"]
    wrong = _same(answers(draft, claims, folder), answers(other, claims, folder))
    paths = Claim("edge_redundancy")
    one, two = (answers(x, [paths], folder) for x in (draft, other))
    if wrong or isinstance(one, str) or isinstance(two, str):
        return wrong
    (_, low, _), (_, _, high) = bounds(one[paths]), bounds(two[paths])
    return f"with bundles {low} paths, without {high}" if low is not None and high is not None and low > high else ""


def one_link_each(draft: Draft, folder: Path) -> str:
    """A link in the place of every bundle: the same paths, and links fail as bundles do."""
    lines = [MULTIPLE.sub(lambda m: f" x {int(m[1]) // int(m[3])}{m[2]}{m[3]}", line) for line in draft.body]
    if lines == draft.body or any("bundle" in line and not MULTIPLE.search(line) for line in draft.body):
        return ""
    single = replace(draft, body=[BUNDLE.sub("", line) if MULTIPLE.search(line) else line for line in lines])
    claims = [Claim("reachability"), Claim("edge_redundancy"), Claim("node_redundancy"), Claim("diameter")]
    wrong = _same(answers(draft, claims, folder), answers(single, claims, folder))
    here = {re.sub(r"\[.*?\]", "", s) for line in draft.body if "bundle" in line for s in re.findall(r"(\w+)\[\w+\]", line)}
    if wrong or any("connect leaf" in line and "bundle" not in line for line in draft.body) or not {"leaf", "spine"} <= here:
        return wrong
    of, given = (
        draft.rng.choice(draft.joints[:3]),
        draft.rng.choice((None, Claim("edge_redundancy", cmp=">=", value=Fraction(1)))),
    )
    count = draft.rng.choice((1, 2))
    falls = [Claim("survives", of=of[0], to=of[1], count=count, given=given, what=w) for w in ("bundles", "links")]
    one, two = answers(draft, falls[:1], folder), answers(single, falls[1:], folder)
    if isinstance(one, str) or isinstance(two, str) or not (one and two):
        return ""
    said = [found.status for found in (*one.values(), *two.values())]
    return "" if len({*said}) == 1 else f"{falls[0].text()} is {said[0]}, and of single links {said[1]}"


NUMBER = re.compile(r"(?<= x )(\d+)(?=[ ;{]|$)|(?<=rate )(\d+)Gbps")


def phases(draft: Draft, folder: Path) -> str:
    """A number of links or a rate that grows: each phase has the figures and the fabric.json of the design with that value."""
    places = [(i, m) for i, line in enumerate(draft.body) for m in NUMBER.finditer(line) if line.startswith("connect ")]
    if not places:
        return ""
    at, found = draft.rng.choice(places)
    one = int(found[1] or found[2])
    two = draft.rng.choice((1, 2, 3)) if found[1] else draft.rng.choice((50, 100, 200, 400))

    def written(word: str) -> Draft:
        line = draft.body[at]
        value = word if found[1] else f"{word}*1Gbps"
        body = [*draft.body]
        body[at] = line[: found.start()] + value + line[found.end() :]
        return replace(draft, body=body)

    claims = asked(draft)
    single = [checked(written(str(v)), folder, claims, report=True) for v in (one, two)]
    if any(isinstance(x, str) for x in single):
        return ""
    grown = written("(growing)").text(claims, report=True)
    grown = grown.replace(
        "\n  ", f"\n  param growing: int = 1\n  phase 1 {{ growing {one} }}\n  phase 2 {{ growing {two} }}\n  ", 1
    )
    path = folder / "phases.fab"
    path.write_text(grown, encoding="utf-8")
    every = compiler.compile_and_verify(str(path))
    if [d.phase for d in every.designs] != [1, 2] or any(d.fabric is None for d in every.designs):
        return f"phases {[d.phase for d in every.designs]}: {[d.message for d in every.findings][:2]}"
    for alone, phase in zip(single, every.designs, strict=True):
        assert not isinstance(alone, str)
        if fabric_json(alone) != fabric_json(phase):
            return f"another fabric.json in phase {phase.phase}"
        said = [{(r.check, r.requirement): bounds(r) for r in x.results} for x in (alone, phase)]
        if said[0] != said[1]:
            return f"phase {phase.phase}: {[(k, v, said[1].get(k)) for k, v in said[0].items() if said[1].get(k) != v][:2]}"
    return ""


RELATIONS: Mapping[str, Callable[[Draft, Path], str]] = {
    f.__name__: f for f in (rename, reorder, double, expand, add_link, fail, phases, unbundle, one_link_each)
}  # fmt: skip


def related(draft: Draft, folder: Path, name: str = "") -> Tally:
    """Hold one relation against a design; a random one where none is named."""
    apart = ("unbundle", "one_link_each")
    chosen = name or draft.rng.choice([*RELATIONS] + 3 * [*apart] if draft.joints else [n for n in RELATIONS if n not in apart])
    tally = Tally(relations=1)
    try:
        wrong = RELATIONS[chosen](draft, folder)
    except Exception as fault:
        wrong = said(fault)
    if wrong:
        tally.found.append(Disagreement(f"relation {chosen}", None, wrong, "", draft))
    return tally


def _same(one: Mapping[Claim, Result] | str, two: Mapping[Claim, Result] | str) -> str:
    """Where answers differ that should not; "" if nowhere."""
    if isinstance(one, str) or isinstance(two, str):
        return "" if isinstance(one, str) and isinstance(two, str) else f"refused: {one if isinstance(one, str) else two}"
    for (claim, before), after in zip(one.items(), two.values(), strict=True):
        if bounds(before) != bounds(after):
            return f"{claim.text()}: {bounds(before)}, then {bounds(after)}"
    return ""
