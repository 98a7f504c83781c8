"""How numbers are found: the relations between sizes that are put to z3, the numbers that are tried and what is refused, and the
work that it takes, of small designs with unknown counts, as goldens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.plan import FabricPlan
from tdsl.sizing import budget, conflicts, proposals, relations, solve, unknowns
from tests.conftest import Golden
from tests.harness import compile_text
from tests.semantics.test_every_size import LEAVES, OPEN, UP

MODELS = """\
model switch DEAR { port p[1..8]: 400Gbps { type NDR }; price $9; power 1W }
model switch TWIN { port p[1..6]: 400Gbps { type NDR }; port q[2]: 400Gbps { type NDR }; price $5; power 2W }
model host TWO { port nic[2]: 400Gbps { type NDR }; power 500W; price $1.5 }
model cable CHEAP { rate 400Gbps; medium dac; price $2; lengths 1m; reach 3m }
"""
MORE = {
    "bounded": LEAVES + "  let s = ? where 2 <= s <= 6 and s * 2 < 13 and not s == 5\n  switch spine[s]: SW\n" + UP,
    "computed": LEAVES + "  param half: int = 2\n  let s = ?\n  switch spine[2 * s - half]: SW\n"
                "  switch other[s // 2 + s % 3]: SW\n" + UP + "  connect leaf[*] to other[*] spread x 2\n",
    "chain": LEAVES + "  switch spine[?]: DEAR\n  switch top[?]: TWIN\n" + UP + "  connect spine[*] to top[*] spread x 2\n",
    "in_brackets": LEAVES + "  let s = ? where (s >= 3 and (s <= 6)) and s % 2 == 0\n  switch spine[s]: SW\n" + UP,
    "beyond": LEAVES + "  let s = ? where s >= 100\n  switch spine[s]: SW\n" + UP,
    "of_some": LEAVES + "  switch spine[?]: SW\n" + UP + "  require switches of spine >= 4\n  require links of spine <= 16\n",
    "partial": LEAVES + "  switch spine[?]: SW\n  switch spare[1 of 3]: SW\n" + UP + "  require switches >= 8\n",
    "of": LEAVES + "  switch spine[? of 5]: SW\n" + UP,
    "product": "  host node[?, 2]: BOX\n  switch leaf[2]: SW\n  connect node[a, b].nic[i] to leaf[i]\n  require hosts >= 5\n",
    "counted": LEAVES + "  switch spine[?]: SW\n" + UP + "  require switches >= 7 and links <= 40 and switches < 12\n",
    "contrary": LEAVES + "  switch spine[?]: SW\n" + UP + "  require switches >= 9 and switches <= 8\n",
    "links": LEAVES + "  let s = ?\n  switch spine[s]: SW\n  connect leaf[*] to spine[*] each\n  require links >= 16 + 2 * s\n",
    "held": LEAVES + "  switch spine[?]: SW\n" + UP + "  require survives any 1 of spine\n  require bisection >= 100%\n",
    "unheld": LEAVES + "  switch spine[?]: SW\n" + UP + "  require diameter <= 1\n",
    "classes": LEAVES + "  switch spine[?]: TWIN\n  connect leaf[*] to spine[*].p spread x 3\n"
               "  connect leaf[*] to spine[*].q spread\n",
    "in_groups": "  plane g[?] {\n    host node[2]: BOX\n    switch leaf[2]: SW\n    connect node[n].nic[i] to leaf[i]\n  }\n"
                 "  switch spine[2]: SW\n  connect g[*].leaf[*] to spine[*] each\n  require hosts >= 5\n",
    "rings": "  switch s[?]: SW\n  connect s[*] ring\n  host h[4]: BOX\n  connect h[n].nic[i] to s[(n + i) % 3]\n",
    "cheapest": LEAVES + "  minimize cost\n  switch spine[?]: DEAR\n  switch top[?]: TWIN\n"
                "  connect leaf[*] to spine[*] spread x 4 { cable CHEAP }\n"
                "  connect spine[*] to top[*] spread x 2 { cable CHEAP }\n",
    "least_cables": LEAVES + "  minimize cables\n  let k = ? where k <= 4\n  switch spine[2]: SW\n"
                    "  connect leaf[*] to spine[*] each x k\n  require oversubscription <= 1:1\n",
    "taken": LEAVES + "  switch a[?]: SW\n  switch b[?]: SW\n"
             "  connect leaf[*] to a[*] spread x 3\n  connect leaf[*] to b[*] spread\n",
    "ports": LEAVES + "  switch a[?]: SW\n  connect leaf[*].p[5..6] to a[*].p[1..4] spread\n  omit leaf[0]\n",
    "branch": LEAVES + "  let s = ?\n  if s > 2 { switch spine[s]: SW } else { switch spine[8]: BIG }\n" + UP,
    "far": LEAVES + "  let s = ? where s >= 30\n  switch spine[s]: SW\n  connect leaf[*] to spine[*] spread x 4\n",
    "listed": LEAVES + "  let s = ? where s in [3, 5, 40]\n  switch spine[s]: SW\n  connect leaf[*] to spine[*] each x 0\n",
}  # fmt: skip
DESIGNS = {
    **{
        k: v
        for k, v in OPEN.items()
        if k not in ("unused", "wrong_model", "no_end", "least_omitted", "groups", "least_power", "cost", "guard")
    },
    **MORE,
}
LOW = {
    "least": {"trial_work": 1}, "some": {"trial_work": 20_000}, "more": {"trial_work": 60_000}, "small": {"largest": 4},
    "few": {"equal_refusals": 2, "unmet_span": 1}, "proposed": {"first_values": 1, "large_fabric": 1},
}  # fmt: skip
"""Limits of the search that are lower than those by default."""


class Told(unknowns.Solver):
    """A search that remembers the numbers for which it plans, and itself."""

    every: ClassVar[list[Told]] = []

    def run(self, diagnostics: Any) -> Any:
        self.tried: list[tuple[int, ...]] = []
        self.every.append(self)
        return super().run(diagnostics)

    def planned(self, found: Any) -> FabricPlan:
        self.tried.append(tuple(self.values[o.span] for o in self.openings))
        return super().planned(found)


def terms(sizes: relations.SizeRelations) -> Iterator[str]:
    """Relations between sizes, a line each."""

    def shown(term: Any) -> str:
        return " ".join(term.sexpr().split()) if hasattr(term, "sexpr") else str(term)

    yield from (f"  always {shown(x)}" for x in sizes.always)
    for line in sizes.lines.values():
        yield f"  `{' '.join(line.span.text.split())}` {line.said}, {line.number}: {'; '.join(map(shown, line.holds))}"
    if sizes.links is not None:
        yield f"  links {' + '.join(map(shown, sizes.links))}"


def told(search: Told) -> Iterator[str]:
    """What a search did."""
    runs = [(v, len(list(same))) for v, same in groupby(search.tried)]
    words = [f"{','.join(map(str, v))}{'' if n == 1 else f' x{n}'}" for v, n in runs]
    yield f"tried {'; '.join(words[:60])}{' …' if len(words) > 60 else ''} ({len(words)})"
    yield f"work {search.work}, highest {search.highest}, base {search.base}, undecided {search.undecided}"
    yield f"ranked {search.ranked}, fitting {search.fitting} {search.counted}, unjudged {search.unjudged}, parts {search.parts}"
    for k, found in search.refused.items():
        yield f"refused {k}: " + "; ".join(f"{n} {code} {d.message}" for code, (n, d) in found.items())


def run(text: str, folder: Path, **options: Any) -> Iterator[str]:
    """A design's findings and sizes, and the searches for its numbers."""
    Told.every.clear()
    found = compile_text(f"fabric f {{\n{text}}}\n{MODELS}", folder, verify=False, **options)
    for d in found.findings:
        yield f"{d.severity.word} {d.code} {d.span.begin if d.span else ''} {d.message}"
        yield from (f"    at {x.span.begin} {x.message}" for x in d.labels)
        yield from (f"    {x}" for x in (*d.notes, *([d.help] if d.help else [])))
    for design in found.designs:
        if design.fabric is not None:
            yield ", ".join(f"{s.path} {s.count}" for s in design.fabric.sets)
    for search in Told.every:
        yield from told(search)


@pytest.mark.parametrize("name", DESIGNS)
def test_every_trial(name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relations with the numbers open and for proposals, the least that z3 proposes, and the search."""
    monkeypatch.setattr(unknowns, "Solver", Told)
    out = list(run(DESIGNS[name], tmp_path))
    search = Told.every[0]
    for opening in search.openings:
        search.give(opening, search.base)
    plan = search.make(search.values, Diagnostics())
    known: list[str] = []
    for kind in ({"proposing": True}, {"open": True}, {}):
        now = list(dict.fromkeys(terms(relations.SizeRelations(plan, **kind))))
        out += [f"relations {kind}", *(x for x in now if x not in known)]
        known += now
    guide = proposals.Guide(plan, search.weights)
    asked = [(low, high, below) for low, high in ((1, 64), (5, 9)) for below in (None, 10)]
    for k, o in enumerate(search.openings):
        fixed = {x.key: 2 for x in search.openings[:k]}
        out.append(f"proposed for {o.name}: {[guide.least(fixed, o.key, *x) for x in asked]}")
    golden(f"sizes/trials/{name}.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("limit", LOW)
def test_low_limits(limit: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said where the search may do less."""
    monkeypatch.setattr(unknowns, "Solver", Told)
    low = replace(budget.DEFAULT, **LOW[limit])
    monkeypatch.setattr(solve, "sizing_budget_of_seconds", lambda seconds: low)
    out = []
    for name in ("spine", "two", "two_least", "counted", "contrary", "held", "unheld", "far", "cheapest", "too_many"):
        out += [f"## {name}", *run(DESIGNS[name], tmp_path)]
    golden(f"sizes/limits_{limit}.txt", "\n".join(out) + "\n")


def test_two_unknowns_of_a_chain(tmp_path: Path) -> None:
    """Four leaves with four ports each: 4 spines take 16 links and send 8 to 2 switches of 6 ports: one is too small."""
    found = compile_text(f"fabric f {{\n{MORE['chain']}}}\n{MODELS}", tmp_path, verify=False)
    fabric = found.designs[0].fabric
    assert fabric is not None and [s.count for s in fabric.sets] == [8, 4, 4, 2]


def test_limits_by_seconds() -> None:
    """The work of trials is in proportion to the seconds; all other limits stay."""
    assert (
        budget.sizing_budget_of_seconds(10) == budget.DEFAULT
        and budget.sizing_budget_of_seconds(5).trial_work * 2 == budget.DEFAULT.trial_work
    )
    assert replace(budget.sizing_budget_of_seconds(30), trial_work=0) == replace(budget.DEFAULT, trial_work=0)
    assert conflicts.check_relations([], []).r == 1 and Request().solve_seconds is not None
