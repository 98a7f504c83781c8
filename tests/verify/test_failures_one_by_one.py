"""The worst of many failures, by judging each set of elements; what is said of it; and when a cut covers them all."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, TIME, Quantity
from tdsl.verify.check import Judgement, checks_by_name, exactly, property_fails, property_holds, skipped
from tdsl.verify.checks.survives import _always_enough_left
from tdsl.verify.failures import WorstFailure, worst_failure
from tests.fabrics import GBPS, Builder, claim, random_fabric, selector, superpod
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
VIEW = View.whole(FABRIC)
SWITCHES = selector(FABRIC, "sw").elements
FIRST = SWITCHES[0].devices[0]


def gone(left: View) -> frozenset[int]:
    """The switches that failed, by their place."""
    return frozenset(i for i in range(len(SWITCHES)) if not left.devices[FIRST + i])


def never() -> bool:
    raise AssertionError("nothing asks for a cut")


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


def figure(j: Judgement, most: bool) -> Fraction:
    value: Any = j.upper if most else j.lower
    value = value.amount if isinstance(value, Quantity) else value
    return (-1 if most else 1) * Fraction(value or 0)


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


@pytest.mark.parametrize(
    ("count", "limit", "cut"), [(1, 100, False), (2, 100, False), (3, 100, True), (1, 2, True), (2, 3, True), (2, 10, False)]
)
def test_a_cut_is_tried_first_for_more_than_two_and_else_at_the_limit(count: int, limit: int, cut: bool) -> None:
    asked: list[int] = []
    runs: list[int] = []

    def covered() -> bool:
        asked.append(len(runs))
        return True

    def judge(left: View) -> Judgement:
        runs.append(1)
        return property_holds("good")

    view = View.whole(FABRIC, replace(DEFAULT, symmetric_elements=0, failure_sets=limit))
    found = worst_failure(view, SWITCHES, count, judge, covered)
    sets = len(list(combinations(SWITCHES, count)))
    if cut:
        first = count > 2
        assert asked == [0 if first else limit]
        assert found == WorstFailure("proved", (), None, 0 if first else limit, sets, "cut")
    else:
        assert not asked and (found.status, found.runs, found.sets, found.how) == ("proved", sets, sets, "all")


def test_elements_that_several_things_are() -> None:
    """Of cables in one cage all fail together: two things may be one element, and a set that three cannot be does not count."""
    elements = [replace(e, copies=c) for e, c in zip(SWITCHES, (1, 2, 3, 1, 1), strict=True)]
    for count in (1, 2, 3):
        seen: list[frozenset[int]] = []

        def judge(left: View, seen: list[frozenset[int]] = seen) -> Judgement:
            seen.append(gone(left))
            return property_holds("good")

        found = worst_failure(VIEW, elements, count, judge, lambda: False)
        copies = [e.copies for e in elements]
        possible = {
            frozenset(c)
            for size in range(1, count + 1)
            for c in combinations(range(5), size)
            if sum(copies[i] for i in c) >= count
        }
        assert set(seen) == possible and len(seen) == len(possible)
        assert (found.runs, found.sets, found.how) == (len(possible), len(possible), "all")


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


def test_elements_with_most_links_come_first() -> None:
    """Of sets of links the larger ones, as of devices those with more links."""
    none = np.zeros(0, dtype=np.int64)
    elements = [FabricElement(name, none, np.arange(size)) for name, size in (("one", 1), ("three", 3), ("two", 2))]
    view = View.whole(FABRIC, replace(DEFAULT, symmetric_elements=0))
    found = worst_failure(view, elements, 2, lambda left: property_fails("bad", ()), never)
    assert (found.runs, [e.name for e in found.failed]) == (1, ["three", "two"])


def test_the_least_figure_is_the_worst_where_nothing_else_is_said() -> None:
    found = worst_failure(VIEW, SWITCHES, 1, lambda left: exactly(10 - min(gone(left)), ""), never)
    assert [e.name for e in found.failed] == ["sw[4]"] and found.judged is not None and found.judged.lower == 6


# ---------------------------------------------------------------- what is said of it


def survives(f: Fabric, count: int, given: Any = None, path: str = "sw", budget: Any = DEFAULT) -> Judgement:
    asked = claim(f, "survives", any_count=count, of=(selector(f, path),), given=given, text=f"survives any {count} of {path}")
    return checks_by_name()["survives"].judge(View.whole(f, budget), asked)


def said(found: Judgement) -> tuple[Any, ...]:
    return found.status, found.text or found.reason, dict(found.witness), [(x.at, x.message, x.help) for x in found.faults]


def test_words_of_survival() -> None:
    f = star(3)  # of 1, 3 and 2 links of each host
    reach = {"failed": ["sw[0]"], "claim": "reachability", "judged": 3, "sets": 3, "by": "all", "left": {}}
    text = "all 2 hosts reach each other; 2 separate networks, so not every port reaches every port"
    assert said(survives(f, 1)) == ("proved", f"all judged; worst without sw[0]: {text}", reach, [])
    given = claim(f, "edge_redundancy", ">=", 3)
    found = said(survives(f, 1, given))
    assert found[0] == "proved" and found[1].startswith("all judged; worst without sw[1]: 3 (2 hosts, ")
    assert found[2]["least"] == 3.0 and found[2]["failed"] == ["sw[1]"] and "most" not in found[2]
    given = claim(f, "edge_redundancy", ">=", 4)
    status, words, witness, faults = said(survives(f, 1, given))
    assert status == "refuted" and words.startswith("without sw[1], `edge_redundancy >= 4` does not hold: 3 (2 hosts, ")
    assert faults == [(None, words, "add paths that do not lead through it")]
    assert (witness["least"], witness["judged"], witness["sets"], witness["by"]) == (3.0, 2, 3, "orbits")
    given = claim(f, "diameter", "<=", 2)
    status, words, witness, _ = said(survives(f, 1, given))
    assert (status, witness["most"], "least" in witness) == ("proved", 0.0, False)


def test_a_flow_of_which_one_end_is_gone() -> None:
    """Where nothing is left of one of two sets it does not hold; where something is, what is left is judged."""
    f = star(3)
    switches, nodes = selector(f, "sw"), selector(f, "node")
    some = [replace(switches, elements=switches.elements[i:j]) for i, j in ((0, 1), (0, 2), (2, 3))]
    for of, of_to in ((some[0], nodes), (nodes, some[0]), (some[0], some[2])):
        given = claim(f, "throughput", ">=", Fraction(0), of=(of,), of_to=(of_to,), text="it")
        status, words, witness, faults = said(survives(f, 1, given))
        assert (status, witness["failed"]) == ("refuted", ["sw[0]"])
        assert words == "without sw[0], `it` does not hold: of one of the two sets nothing is left"
        assert [fault[1] for fault in faults] == [words]
    given = claim(f, "throughput", ">=", Fraction(0), of=(some[1],), of_to=(nodes,), text="it")
    assert survives(f, 1, given).status == "proved"
    given = claim(f, "throughput", ">=", Fraction(0), of=(some[1],), of_to=(nodes,), text="it")
    assert survives(f, 2, given).status == "refuted"


def test_cuts_speak_for_many_failures() -> None:
    """Of 12 switches with 24 links of each host, three take 18 links at most, and 12 links of a host."""
    f = star(12)
    witness = {"failed": [], "claim": "reachability", "judged": 0, "sets": 220, "by": "cut"}
    assert said(survives(f, 3)) == ("proved", "no cut loses too much to any 3", witness, [])
    found = survives(f, 1, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text, found.witness["by"]) == ("proved", "no cut loses too much to any 1", "cut")
    found = survives(f, 4, budget=replace(DEFAULT, failure_sets=1, symmetric_elements=0))
    assert (found.status, found.text) == ("bounded", "1 of 495 failures judged, and none refutes it")


def test_more_elements_than_are_judged() -> None:
    f = star(3)
    asked = claim(f, "survives", any_count=1, any_of="links", of=(selector(f, "sw"),))
    found = checks_by_name()["survives"].judge(View.whole(f, replace(DEFAULT, named_elements=11)), asked)
    assert found.status == "skipped" and "12" in found.reason
    assert checks_by_name()["survives"].judge(View.whole(f, replace(DEFAULT, named_elements=12)), asked).status == "proved"


def test_what_survives_is_not_judged() -> None:
    f = star(3)
    assert said(survives(f, 4)) == ("skipped", "of what it names only 3 can fail", {}, [])
    assert survives(f, 3).reason == "without sw[1], sw[2] and sw[0]: fewer than two hosts are left"
    assert survives(f, 1, path="node").reason == "without node[0]: fewer than two hosts are left"
    status, words, witness, _ = said(survives(f, 1, budget=replace(DEFAULT, failure_sets=0)))
    assert (status, words, witness["judged"]) == ("bounded", "0 of 3 failures judged, and none refutes it", 0)
    status, words, witness, _ = said(survives(f, 1, budget=replace(DEFAULT, failure_sets=2)))
    assert (status, words, witness["by"]) == ("bounded", "2 of 3 failures judged, and none refutes it", "")


# ---------------------------------------------------------------- cuts


def largest(weights: list[int], count: int) -> int:
    return sum(sorted(weights)[-count:])


def covers_agree(seed: int) -> None:
    """A cut covers all failures where no host loses its last link and more paths are there than links that can fail; whatever
    it covers holds one by one, too."""
    rng = Random(seed)
    f = random_fabric(seed, rng.randint(3, 5), rng.randint(2, 3), rng.randint(2, 5), rng.randint(6, 24)).build()
    count, view = rng.randint(1, 2), View.whole(f)
    asked = claim(f, "reachability")
    named = list(rng.choice((selector(f, "sw").elements, selector(f, "sw").elements[1:], selector(f, "node").elements)))
    if rng.random() < 0.6:  # some links each
        rows = rng.sample(range(f.link_count), min(f.link_count, rng.randint(2, 6)))
        parts = [rows[i::3] for i in range(3) if rows[i::3]]
        named = [FabricElement(f"links{i}", np.zeros(0, dtype=np.int64), np.array(part)) for i, part in enumerate(parts)]
    ends = [{int(a), int(b)} for a, b in zip(f.device_a, f.device_b, strict=True)]
    of = [{x for x, two in enumerate(ends) if x in e.links or two & set(e.devices.tolist())} for e in named]
    units = set(view.units.tolist())
    degree = {u: sum(u in (f.device_a[x], f.device_b[x]) for x in range(f.link_count)) for u in units}
    each_takes = max(sum(u in (f.device_a[x], f.device_b[x]) for x in mine) for mine in of for u in units)
    expected = (
        not any(set(e.devices.tolist()) & units for e in named)
        and min(degree.values()) > count * each_takes
        and disjoint_paths(view).lower > largest([len(mine) for mine in of], count)
    )
    assert _always_enough_left(view, named, count, asked) == expected
    if expected:
        for chosen in combinations(named, count):
            left = view.without(*together(f, chosen))
            assert checks_by_name()["reachability"].judge(left, asked).status == "proved"


def together(f: Fabric, chosen: tuple[FabricElement, ...]) -> tuple[Any, Any]:
    devices, rows = np.zeros(f.device_count, dtype=np.bool_), np.zeros(f.link_count, dtype=np.bool_)
    for e in chosen:
        devices[e.devices], rows[e.links] = True, True
    return devices, rows


def test_cuts_that_cover_reachability() -> None:
    each(range(110), covers_agree)


def bisections_agree(seed: int) -> None:
    """Of a bisection at least what K elements carry at most is lost; a limit is covered up to just that."""
    rng = Random(seed)
    count, intact = rng.randint(1, 2), rng.random() < 0.5
    f = superpod(2, 4, 2, 4, uplinks=rng.choice((4, 8)), omit_last=False, manager=False).build()
    view = View.whole(f)
    named = list(selector(f, "spine").elements)[: rng.randint(count, 4)]
    found = bisection_bounds(view)
    rate = 400 * GBPS
    each_carries = int(view.degree[named[0].devices[0]]) * rate
    least = max(found.lower * found.net.grain - count * each_carries, 0)
    full = Fraction(found.net.full * found.net.grain)
    for wanted, expected in ((least, True), (least + 1, False)):
        for op in (">=", ">"):
            by_share = claim(f, "bisection", op, wanted / full, of_intact=intact)
            by_rate = claim(f, "bisection", op, Quantity(Fraction(wanted), RATE), of_intact=intact)
            for asked in (by_share, by_rate):
                assert _always_enough_left(view, named, count, asked) == (expected and op == ">=")
    for op in ("<=", "==", "<"):
        assert not _always_enough_left(view, named, count, claim(f, "bisection", op, least / full))
    nodes = list(selector(f, "su.node").elements)
    assert not _always_enough_left(view, nodes, count, claim(f, "bisection", ">=", Fraction(0)))
    assert not _always_enough_left(view, named, count, claim(f, "diameter", "<=", 99))
    part = claim(f, "reachability", of=(selector(f, "su.node"),))
    assert not _always_enough_left(view, named, count, part)


def test_cuts_that_cover_bisections() -> None:
    each(range(12), bisections_agree)
