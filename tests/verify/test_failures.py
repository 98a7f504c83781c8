"""The worst of many failures, by judging each set of elements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.verify.check import Judgement, checks_by_name, property_holds, skipped
from tdsl.verify.failures import worst_failure
from tests.fabrics import Builder, claim, selector
from tests.harness import each


def star(switches: int = 5) -> Fabric:
    """Two hosts, each with a link to every switch; the first switches have more links than the others."""
    b = Builder("star")
    node = b.devices("node", b.model("host", "NODE", {"nic": 40}, accelerators=1), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), switches)
    for s in range(switches):
        for n in range(2):
            for _ in range(1 + (s * 2) % 3):
                b.link(b.free(node, n), b.free(sw, s))
    return b.build()


FABRIC = star()


SWITCHES = selector(FABRIC, "sw").elements


FIRST = SWITCHES[0].devices[0]


def gone(left: View) -> frozenset[int]:
    """The switches that failed, by their place."""
    return frozenset(i for i in range(len(SWITCHES)) if not left.devices[FIRST + i])


def figure(j: Judgement, most: bool) -> Fraction:
    value: Any = j.upper if most else j.lower
    value = value.amount if isinstance(value, Quantity) else value
    return (-1 if most else 1) * Fraction(value or 0)


VIEW = View.whole(FABRIC)


def links(at: int) -> int:
    return int(VIEW.degree[FIRST + at])


def one_by_one(answers: dict[frozenset[int], Judgement], count: int, most: bool, limit: int) -> tuple[Any, ...]:
    """Status, switches that failed, the judgement, sets judged, all sets, and how: of sets in order of their links, for one
    failure in order of the design."""
    order = sorted(range(len(SWITCHES)), key=lambda i: -links(i)) if count > 1 else list(range(len(SWITCHES)))
    sets = list(combinations(order, count))
    rank: dict[str, int] = {"refuted": 0, "proved": 2, "modelled": 2}
    best: tuple[int, Fraction] | None = None
    speaks: tuple[int, ...] = ()
    for runs, chosen in enumerate(sets):
        if runs == limit:
            return "bounded", speaks, answers.get(frozenset(speaks)), runs, len(sets), ""
        j = answers[frozenset(chosen)]
        key = rank.get(j.status, 1), figure(j, most)
        if best is None or key < best:
            best, speaks = key, chosen
        if key[0] == 0:
            return "refuted", speaks, j, runs + 1, len(sets), "orbits" if runs + 1 < len(sets) else "all"
    assert best is not None
    j = answers[frozenset(speaks)]
    status = "bounded" if best[0] == 1 else "modelled" if j.status == "modelled" else "proved"
    return status, speaks, j, len(sets), len(sets), "all"


def table(rng: Random, quantity: bool) -> dict[frozenset[int], Judgement]:
    """A judgement for every set of switches, of few different figures so that there are ties."""
    out = {}
    for size in range(1, 4):
        for chosen in combinations(range(len(SWITCHES)), size):
            status = rng.choice(
                ("proved", "proved", "modelled", "bounded", "skipped", "refuted" if rng.random() < 0.2 else "proved")
            )
            low = Fraction(rng.randint(1, 4), 2)
            high = low + rng.randint(0, 2)
            ends = [Quantity(x, TIME) for x in (low, high)] if quantity else [low, high]
            found: Judgement = Judgement(status, f"{sorted(chosen)}", ends[0], ends[0], ends[1])  # type: ignore[arg-type]
            out[frozenset(chosen)] = skipped(f"{sorted(chosen)}") if status == "skipped" else found
    return out


def failures_agree(seed: int) -> None:
    rng = Random(seed)
    count, most = rng.randint(1, 3), rng.random() < 0.5
    answers = table(rng, rng.random() < 0.5)
    limit = rng.choice((0, 1, 3, 5, 10, 100))
    view = View.whole(FABRIC, replace(DEFAULT, symmetric_elements=0, failure_sets=limit))
    found = worst_failure(view, SWITCHES, count, lambda left: answers[gone(left)], lambda: False, most)
    failed = tuple(int(e.devices[0]) - int(FIRST) for e in found.failed)
    assert (found.status, failed, found.judged, found.runs, found.sets, found.how) == one_by_one(answers, count, most, limit)


def test_the_worst_of_all_sets() -> None:
    each(range(150), failures_agree)


def never() -> bool:
    raise AssertionError("nothing asks for a cut")


def test_elements_of_unlike_copies_are_not_exchanged() -> None:
    """Five equal switches of which one counts twice: every set is judged, though symmetry maps some onto others."""
    b = Builder("equal")
    node = b.devices("node", b.model("host", "NODE", {"nic": 5}, accelerators=1), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 2}), 5)
    for s in range(5):
        for n in range(2):
            b.link(b.port(node, n, "nic", s), b.port(sw, s, "p", n))
    f = b.build()
    for copies, sets, runs in (((1, 1, 1, 1, 1), 10, 1), ((1, 1, 2, 1, 1), 11, 11)):
        elements = [replace(e, copies=c) for e, c in zip(selector(f, "sw").elements, copies, strict=True)]
        found = worst_failure(View.whole(f), elements, 2, lambda left: property_holds("good"), never, False, frozenset())
        assert (found.runs, found.sets, found.how) == (runs, sets, "orbits" if runs < sets else "all")
    elements = list(selector(f, "sw").elements)
    for limit, runs in ((5, 1), (4, 10)):
        view = View.whole(f, replace(DEFAULT, symmetric_elements=limit))
        assert worst_failure(view, elements, 2, lambda left: property_holds("good"), never, False, frozenset()).runs == runs


def said(found: Judgement) -> tuple[Any, ...]:
    return found.status, found.text or found.reason, dict(found.witness), [(x.at, x.message, x.help) for x in found.faults]


def survives(f: Fabric, count: int, given: Any = None, path: str = "sw", budget: Any = DEFAULT) -> Judgement:
    asked = claim(f, "survives", any_count=count, of=(selector(f, path),), given=given, text=f"survives any {count} of {path}")
    return checks_by_name()["survives"].judge(View.whole(f, budget), asked)


def test_cuts_speak_for_many_failures() -> None:
    """Of 12 switches with 24 links of each host, three take 18 links at most, and 12 links of a host."""
    f = star(12)
    witness = {"failed": [], "claim": "reachability", "judged": 0, "sets": 220, "by": "cut"}
    assert said(survives(f, 3)) == ("proved", "no cut loses too much to any 3", witness, [])
    found = survives(f, 1, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text, found.witness["by"]) == ("proved", "no cut loses too much to any 1", "cut")
    found = survives(f, 4, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text) == ("bounded", "1 of 495 failures judged, and none refutes it")
