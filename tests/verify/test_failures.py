"""The worst of many failures, by judging each set of elements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name, property_holds
from tdsl.verify.failures import worst_failure
from tests.fabrics import Builder, claim, selector


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


@pytest.mark.parametrize("most", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_worst_of_all_sets(count: int, most: bool) -> None:
    """Of figures drawn for every set the least speaks, or the greatest; one that fails ends the search, a limit of sets leaves it
    open."""
    f = star()
    elements = selector(f, "sw").elements
    first = int(elements[0].devices[0])
    for seed in range(20):
        rng = Random(seed)
        sets = [frozenset(x) for x in combinations(range(5), count)]
        figures = {x: Fraction(rng.randint(1, 4), 2) for x in sets}
        bad = {x for x in sets if rng.random() < 0.1}

        def judge(left: View, figures: Any = figures, bad: Any = bad) -> Judgement:
            gone = frozenset(i for i in range(5) if not left.devices[first + i])
            return Judgement("refuted" if gone in bad else "proved", str(sorted(gone)), *[figures[gone]] * 3)

        for limit in (3, 100):
            view = View.whole(f, replace(DEFAULT, symmetric_elements=0, failure_sets=limit))
            found = worst_failure(view, elements, count, judge, lambda: False, most)
            failed = frozenset(int(e.devices[0]) - first for e in found.failed)
            assert found.sets == len(sets) and found.runs <= min(limit, len(sets)) and len(failed) == count
            if limit == 100:
                worst = (max if most else min)(figures.values())
                assert failed in bad if bad else figures[failed] == worst, seed
                assert found.status == ("refuted" if bad else "proved") and found.judged == judge(
                    view.without(lost(f, failed, first))
                )
            else:
                assert found.status in ("refuted", "bounded" if found.runs < len(sets) else "proved"), seed


def lost(f: Fabric, failed: frozenset[int], first: int) -> Any:
    return np.isin(np.arange(f.device_count), [first + i for i in failed])


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


def survives(f: Fabric, count: int, given: Any = None, path: str = "sw", budget: Any = DEFAULT) -> Judgement:
    asked = claim(f, "survives", any_count=count, of=(selector(f, path),), given=given, text=f"survives any {count} of {path}")
    return checks_by_name()["survives"].judge(View.whole(f, budget), asked)


def test_cuts_speak_for_many_failures() -> None:
    """Of 12 switches with 24 links of each host, three take 18 links at most, and 12 links of a host."""
    f = star(12)
    witness = {"failed": [], "claim": "reachability", "judged": 0, "sets": 220, "by": "cut"}
    found = survives(f, 3)
    assert (found.status, found.text, found.witness) == ("proved", "no cut loses too much to any 3", witness)
    found = survives(f, 1, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text, found.witness["by"]) == ("proved", "no cut loses too much to any 1", "cut")
    found = survives(f, 4, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text) == ("bounded", "1 of 495 failures judged, and none refutes it")
