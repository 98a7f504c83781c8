"""Relations between the answers to a design and to the same design changed: no judge is needed.

Renaming, another order of statements and ``tdsl expand`` change no answer; doubled rates double bit/s and keep every share; one
more link takes no capacity away; a phase is the design with its values; and what ``--fail`` leaves is judged as the judges judge
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Design, Request
from tdsl.verify.result import Result
from tests.soundness.arena import Compiled, Disagreement, Tally, checked, fabric_json, fraction_of, judged, said
from tests.soundness.generate import Draft
from tests.soundness.generate import draft as draft_of_seed
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


Answers = Mapping[Claim, Result] | str
"""The answers to claims, or why there are none."""


def answers_of(found: Design | str, claims: Sequence[Claim]) -> Answers:
    """What a design that was checked says of claims that are reported."""
    if isinstance(found, str):
        return found
    by_text = {(r.requirement, r.check): r for r in found.results}
    return {c: by_text[c.text(), c.metric] for c in claims if (c.text(), c.metric) in by_text}


def answers(draft: Draft, claims: Sequence[Claim], folder: Path) -> Answers:
    """The answers to claims that are reported of a changed design."""
    return answers_of(checked(draft, folder, claims, report=True), claims)


@dataclass(frozen=True, slots=True)
class Base:
    """A design before it is changed: as it was compiled with what the relation asks, None where it is refused."""

    claims: list[Claim]
    found: Compiled | None

    @property
    def answers(self) -> Answers:
        return answers_of(self.found.design if self.found else "refused", self.claims)


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


def rename(draft: Draft, folder: Path, base: Base) -> str:
    """Other names, the same answers."""
    other, to = renamed(draft)
    return _same(base.answers, answers(other, [replace(c, of=to(c.of)) for c in base.claims], folder))


def reorder(draft: Draft, folder: Path, base: Base) -> str:
    """Another order of connects and switches, the same answers."""
    return _same(base.answers, answers(reordered(draft), base.claims, folder))


def double(draft: Draft, folder: Path, base: Base) -> str:
    """Doubled rates: the same shares, distances and numbers."""
    after = answers(doubled(draft), base.claims, folder)
    if isinstance(after, str) and after.startswith("E0116"):
        return ""  # the limit of what all links carry together
    return _same(base.answers, after)


def expand(draft: Draft, folder: Path, base: Base) -> str:
    """``tdsl expand`` prints a design that gives the same fabric.json."""
    path = folder / "design.fab"
    path.write_text(draft.text(), encoding="utf-8")
    text, _ = compiler.expand_intent(str(path))
    if text is None or base.found is None:
        return ""
    path.write_text(text, encoding="utf-8")
    after = compiler.compile_without_checks(str(path)).designs[0]
    if after.fabric is None or not after.fabric.complete:
        return "the expanded design does not compile"
    return "" if base.found.text == fabric_json(after) else "the expanded design has another fabric.json"


def add_link(draft: Draft, folder: Path, base: Base) -> str:
    """One more link: no capacity is lost, and what reached each other still does."""
    if base.found is None:
        return ""
    world = base.found.world
    inner = [d for d, k in enumerate(world.kinds) if k == "switch" and world.inside[d] < 0 and world.models[d] == "SW"]
    if len(inner) < 2:
        return ""
    a, b = draft.rng.sample(inner, 2)
    more = replace(draft, body=[*draft.body, f"connect {world.paths[a]} to {world.paths[b]} {{ rate 100Gbps }}"])
    before, after = base.answers, answers(more, base.claims, folder)
    if isinstance(before, str) or isinstance(after, str):
        return ""
    for claim in base.claims:
        one, two = bounds(before[claim]), bounds(after[claim])
        if claim.metric == "reachability":
            if (one[0], two[0]) == ("proved", "refuted"):
                return "one more link and reachability is lost"
        elif one[1] is not None and two[2] is not None and two[2] < one[1]:
            return f"one more link and {claim.text()} falls from {one[1]} to {two[2]}"
    return ""


def fail(draft: Draft, folder: Path, base: Base) -> str:
    """What ``--fail`` leaves: of a device, a group or the links between two devices."""
    if base.found is None or not base.found.world.links:
        return ""
    world, r = base.found.world, draft.rng
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
    design = compiler.compile_and_verify(str(folder / "design.fab"), Request(fail=(element,))).designs[0]
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


BUNDLE = re.compile(r"; bundle \d+(?: across(?: evpn)?)?|bundle \d+(?: across(?: evpn)?)?(?:; )?")
MULTIPLE = re.compile(r" x (\d+)(.*\bbundle )(\d+)")


PATHS = Claim("edge_redundancy")


def unbundled(draft: Draft) -> Draft:
    """The design without bundles."""
    return replace(draft, body=[re.sub(r" \{ \}", "", BUNDLE.sub("", line)) for line in draft.body])


def unbundle(draft: Draft, folder: Path, base: Base) -> str:
    """No bundles: the same answers, and no fewer disjoint paths."""
    one, two = base.answers, answers(unbundled(draft), base.claims, folder)
    if isinstance(one, str) or isinstance(two, str):
        return _same(one, two)
    wrong = _same(*({c: r for c, r in x.items() if c != PATHS} for x in (one, two)))
    (_, low, _), (_, _, high) = bounds(one[PATHS]), bounds(two[PATHS])
    if wrong or low is None or high is None or low <= high:
        return wrong
    return f"with bundles {low} paths, without {high}"


def single(draft: Draft) -> Draft:
    """The design with one link in the place of every bundle."""
    lines = [MULTIPLE.sub(lambda m: f" x {int(m[1]) // int(m[3])}{m[2]}{m[3]}", line) for line in draft.body]
    return replace(draft, body=[BUNDLE.sub("", line) if MULTIPLE.search(line) else line for line in lines])


def fall(draft: Draft) -> list[Claim]:
    """That some bundles fall, where links between leaves and spines are in bundles alone."""
    here = {re.sub(r"\[.*?\]", "", s) for line in draft.body if "bundle" in line for s in re.findall(r"(\w+)\[\w+\]", line)}
    if any("connect leaf" in line and "bundle" not in line for line in draft.body) or not {"leaf", "spine"} <= here:
        return []
    r = draft.rng
    (of, to), given = r.choice(draft.joints[:3]), r.choice((None, Claim("edge_redundancy", cmp=">=", value=Fraction(1))))
    return [Claim("survives", of=of, to=to, count=r.choice((1, 2)), given=given, what="bundles")]


def one_link_each(draft: Draft, folder: Path, base: Base) -> str:
    """A link in the place of every bundle: the same paths, and links fail as bundles do."""
    falls = {c: replace(c, what="links") for c in base.claims if c.what == "bundles"}
    one, two = base.answers, answers(single(draft), [falls.get(c, c) for c in base.claims], folder)
    if isinstance(one, str) or isinstance(two, str):
        return _same(one, two)
    plain = [{c: r for c, r in x.items() if c.metric != "survives"} for x in (one, two)]
    said = {c.text(): (one[c].status, two[d].status) for c, d in falls.items() if c in one and d in two}
    return _same(*plain) or "".join(f"{c} is {a}, and of single links {b}" for c, (a, b) in said.items() if a != b)


NUMBER = re.compile(r"(?<= x )(\d+)(?=[ ;{]|$)|(?<=rate )(\d+)Gbps")


def phases(draft: Draft, folder: Path, base: Base) -> str:
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


def asked_of_names(draft: Draft) -> list[Claim] | None:
    """What `rename` asks; nothing of an intent, whose names are the topology's."""
    return asked(draft) if any(DECLARED.search(line) for line in draft.body) else None


def asked_of_order(draft: Draft) -> list[Claim] | None:
    """What `reorder` asks; which optical switch a circuit takes is a matter of order."""
    return None if any(line.startswith("circuit ") for line in draft.body) else asked(draft)


def asked_of_one_more(draft: Draft) -> list[Claim] | None:
    """What `add_link` asks."""
    if draft.latency:
        return None
    loads = [Claim("throughput", "ring"), Claim("throughput", "all_to_all")]
    return [Claim("reachability"), Claim("bisection"), Claim("edge_redundancy"), *loads]


def asked_of_bundles(draft: Draft) -> list[Claim] | None:
    """What `unbundle` asks."""
    if unbundled(draft).body == draft.body:
        return None
    return [*(c for c in asked(draft) if c != PATHS), PATHS]


def asked_of_single_links(draft: Draft) -> list[Claim] | None:
    """What `one_link_each` asks, where all bundles are of several links."""
    if not any(MULTIPLE.search(line) for line in draft.body):
        return None
    if any("bundle" in line and not MULTIPLE.search(line) for line in draft.body):
        return None
    return [Claim("reachability"), PATHS, Claim("node_redundancy"), Claim("diameter"), *fall(draft)]


Asks = Callable[[Draft], "list[Claim] | None"]
RELATIONS: Mapping[str, tuple[Asks, Callable[[Draft, Path, Base], str]]] = {
    "rename": (asked_of_names, rename), "reorder": (asked_of_order, reorder), "double": (asked, double),
    "expand": (lambda draft: [], expand), "add_link": (asked_of_one_more, add_link), "fail": (lambda draft: [], fail),
    "phases": (lambda draft: [], phases), "unbundle": (asked_of_bundles, unbundle),
    "one_link_each": (asked_of_single_links, one_link_each),
}  # fmt: skip
"""What a relation asks of the design as it is, None where it says nothing of it; and what is wrong with the changed one."""


def judged_and_related(seed: int, folder: Path, mutants: int = 0, second: bool = False) -> Tally:
    """Compare every answer to a design with the judges', and hold one relation, a random one, against it."""
    draft = draft_of_seed(seed)
    apart = ("unbundle", "one_link_each")
    name = draft.rng.choice([*RELATIONS] + 3 * [*apart] if draft.joints else [n for n in RELATIONS if n not in apart])
    asks, holds = RELATIONS[name]
    claims = asks(draft)
    tally = judged(draft_of_seed(seed), folder, mutants, second, claims or ())
    tally.relations = 1
    try:
        wrong = "" if claims is None else holds(draft, folder, Base(claims, tally.wired))
    except Exception as fault:
        wrong = said(fault)
    if wrong:
        tally.found.append(Disagreement(f"relation {name}", None, wrong, "", draft))
    return tally


def _same(one: Answers, two: Answers) -> str:
    """Where answers differ that should not; "" if nowhere."""
    if isinstance(one, str) or isinstance(two, str):
        return "" if isinstance(one, str) and isinstance(two, str) else f"refused: {one if isinstance(one, str) else two}"
    for (claim, before), after in zip(one.items(), two.values(), strict=True):
        if bounds(before) != bounds(after):
            return f"{claim.text()}: {bounds(before)}, then {bounds(after)}"
    return ""
