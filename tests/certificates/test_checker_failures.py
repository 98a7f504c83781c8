"""Certificates about failures: every set of elements is a case, and each case is judged by what is left."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import HOST, SWITCH, cells, certificate, design, taken
from tests.harness import sampled

REACHED = {"check": "reachability"}


def failing(of: list[str], count: int, cases: Any = (), **more: Any) -> dict[str, Any]:
    stated = {"of": of, "count": count, "condition": REACHED, "symmetries": [], "cases": [*cases]}
    return certificate("survives", **(stated | more))


def case(failed: Any, units: int, apart: list[str] | None = None) -> dict[str, Any]:
    """What is left after these elements fail: all units reach each other, or two do not."""
    left: dict[str, Any] = {"check": "reachability", "units": units, "holds": apart is None}
    return {"failed": list(failed), "left": left | ({"apart": apart} if apart else {})}


def after(hosts: list[str], links: list[tuple[Any, ...]]) -> tuple[list[str], list[str] | None]:
    """The hosts with a link, and two of them that do not reach each other."""
    graph = nx.Graph(x[:2] for x in links)
    units = [h for h in hosts if h in graph]
    passed = [*nx.connected_components(graph.subgraph(set(graph) - set(hosts)))]
    hubs = {h: {i for i, part in enumerate(passed) if part & set(graph[h])} for h in units}
    for a, b in combinations(units, 2):
        if not hubs[a] & hubs[b]:
            return units, [a, b]
    return units, None


@pytest.mark.parametrize("seed", sampled(range(20), 2))
@pytest.mark.parametrize("count", [1, 2])
def test_every_set_of_links_is_a_case(seed: int, count: int) -> None:
    """Links between the same devices at one rate are of one kind: one of every multiset of kinds has to be shown."""
    rng = random.Random(seed)
    hosts, switches = ["h0", "h1", "h2"], ["s0", "s1", "s2"]
    links = [(h, s, 10) for h in hosts for s in rng.choices(switches, k=3)]
    links += [(*rng.sample(switches, 2), rng.choice((10, 10, 20))) for _ in range(6)]
    made = design(dict.fromkeys(hosts, HOST) | dict.fromkeys(switches, SWITCH), links)
    names = [f"{a}.p{i} - {b}.q{i}" for i, (a, b, _) in enumerate(links)]
    kind = [(*sorted((a, b)), rate) for a, b, rate in links]
    shown: dict[Any, Any] = {}
    for some in combinations(range(len(links)), count):
        key = tuple(sorted(Counter(kind[i] for i in some).items()))
        units, apart = after(hosts, [x for i, x in enumerate(links) if i not in some])
        shown.setdefault(key, case([names[i] for i in some], len(units), apart))
    cases = list(shown.values())
    stated = failing(switches, count, cases, what="links")
    wrong = [c for c in cases if not c["left"]["holds"]]
    if wrong:
        taken(stated, made, "a case fails")
        return
    taken(stated, made)
    for failed in (names[-count - 1 :], []):
        taken(stated | {"cases": [*cases, case(failed, 3)]}, made, "a case is of others")
    taken(stated | {"cases": [*cases, case(cases[0]["failed"], 4)]}, made, "the number of units is another")
    del cases[rng.randrange(len(cases))]
    taken(stated | {"cases": cases}, made, "a failure is not covered")


def test_both_ports_of_a_link_are_one_element() -> None:
    """Of two ports of one link one failure is as two; of six ports, on three links, any 5 are all three links."""
    made = design({"h0": HOST, "h1": HOST, "s": SWITCH}, [("h0", "s"), ("h0", "s"), ("h1", "s"), ("h1", "s")])
    every = ["h0.p0", "h0.p1", "h1.p2", "h1.p3"]
    one = [case([p], 2) for p in (every[0], every[2])]
    two = [case([every[0], every[2]], 2), case(every[:2], 1), case(every[2:], 1)]
    taken(failing(["s", "h0", "h1"], 1, one, what="ports"), made)
    taken(failing(["s", "h0", "h1"], 1, [case(["s.q0"], 2), case(["s.q3"], 2)], what="ports"), made)
    taken(failing(["s", "h0", "h1"], 1, one[:1], what="ports"), made, "a failure is not covered")
    for both in (["h0.p0", "s.q0"], ["s.q0", "h0.p0"]):
        taken(failing(["s", "h0", "h1"], 2, [case(both, 2)], what="ports"), made, "a case is of others")
    taken(failing(["s", "h0", "h1"], 2, [*one, *two], what="ports"), made, "a case leaves no pair")
    hosts = {f"h{i}": cells("host", path=f"h[{i}]") for i in (0, 1)}
    wide = design({"s": SWITCH} | hosts, [(h, "s") for h in hosts for _ in range(4)])
    pairs = [case(["h[0].p0", "h[1].p4"], 2), case(["h[0].p0", "h[0].p1"], 2), case(["h[1].p4", "h[1].p5"], 2)]
    single = [case(["h[0].p0"], 2), case(["h[1].p4"], 2)]
    both_ends = ["s", "h"]
    taken(failing(both_ends, 2, [*single, *pairs], what="ports"), wide)
    of_s = [case([f"s.q{p[-1]}" for p in c["failed"]], 2) for c in pairs]
    taken(failing(["s"], 2, of_s, what="ports"), wide)
    taken(failing(both_ends, 2, pairs, what="ports"), wide, "a failure is not covered")
    taken(failing(both_ends, 2, [*single, *pairs[:2]], what="ports"), wide, "a failure is not covered")
    taken(failing(both_ends, 3, [*single, *pairs], what="ports"), wide, "a case is of others")
    taken(failing(["s"], 2, [case(["s.q0"], 2)], what="ports"), wide, "a case is of others")
    swap = [{"h0": "h1", "h1": "h0"}]
    taken(failing(both_ends, 1, single[:1], what="ports", symmetries=swap), wide)
    taken(failing(["s"], 2, of_s[:2], what="ports", symmetries=swap), wide)
    # of one link both ports are named, of the others one
    taken(failing(["s", "h[0]"], 1, single, what="ports", symmetries=swap), wide, "a symmetry of sets of links")
    taken(failing(["s", "h[0]"], 1, [case([f"s.q{i}"], 2) for i in range(8)], what="ports"), wide)
    taken(failing(["s", "h[0]"], 1, [case([f"s.q{i}"], 2) for i in range(7)], what="ports"), wide, "a failure is not covered")
    taken(failing(["s"], 9, [], what="ports"), wide, "fewer elements than fail")
    with pytest.raises(checker.Rejected, match=r"^malformed: KeyError: "):
        taken(failing(["s"], 1, [case(["x"], 2)], what="ports"), wide)


def test_what_a_symmetry_of_failures_keeps() -> None:
    """Two hosts with a chip each, which are exchanged with all that is theirs; and what makes each of them another."""
    devices = {
        "h0": cells("host", path="h[0]", role="x"),
        "h0-c": cells("chip", path="h[0].c[1]", inside="h0"),
        "h1": cells("host", path="h[1]", role="x"),
        "h1-c": cells("chip", path="h[1].c[1]", inside="h1"),
        "s": SWITCH, "t": SWITCH, "o0": cells("ocs", path="o[0]"), "o1": cells("ocs", path="o[1]"),
    }  # fmt: skip
    ends = [("h0", "s", "o0"), ("h1", "s", "o1"), ("h0", "t", None), ("h1", "t", None)]
    links: list[dict[str, Any]] = [{"a_device": a, "b_device": b, "via": via, "rate_bps": 10} for a, b, via in ends]
    turn = {"h0": "h1", "h0-c": "h1-c", "o0": "o1"}
    swap = turn | {v: k for k, v in turn.items()}
    stated = failing(["o"], 1, [case(["o[0]"], 2)])
    half = {"symmetries": [swap]}
    taken(stated, design(devices, links), "a failure is not covered")
    taken(stated | half, design(devices, links))
    less = [{k: v for k, v in swap.items() if k[:2] not in gone} for gone in (("o0", "o1"), ("h0", "h1"))]
    parts = {k: v for k, v in swap.items() if not k.endswith("c")}
    for image in (*less, parts):
        taken(stated | {"symmetries": [image]}, design(devices, links), "a symmetry changes the links")
    for cell in ({"role": "y"}, {"role": None}, {"model": "N"}, {"forwards": True}, {"forwards": False}, {"path": "k[1]"}):
        changed = devices | {"h1": devices["h1"] | cell}
        if "path" in cell:
            changed["h1-c"] = devices["h1-c"] | {"path": "k[1].c[1]"}
        taken(stated | half, design(changed, links), "a symmetry exchanges different nodes")
    kind = devices | {"o1": cells("panel", path="o[1]")}
    taken(stated | half, design(kind, links), "a symmetry exchanges different nodes")
    for change in ({"rate_bps": 20}, {"via": None}):
        wrong = [links[0], links[1] | change, *links[2:]]
        taken(stated | half, design(devices, wrong), "a symmetry changes the links")
    more = [*links, {"a_device": "h0", "b_device": "t", "rate_bps": 10}]
    taken(stated | half, design(devices, more), "a symmetry changes the links")
    double = [*more, {"a_device": "h1", "b_device": "t", "rate_bps": 10}]
    taken(stated | half, design(devices, double))


def test_links_of_one_kind() -> None:
    """Those between the same devices, whichever is named first, at one rate and over one panel."""
    devices = {"h0": HOST, "h1": HOST, "s": SWITCH, "o": cells("ocs"), "q": cells("ocs")}
    one, far = {"a_device": "h0", "b_device": "s", "rate_bps": 10}, {"a_device": "s", "b_device": "h0", "rate_bps": 10}
    other = {"a_device": "h1", "b_device": "s", "rate_bps": 10}
    stated = failing(["h0"], 1, [case(["h0.p0 - s.q0"], 2)], what="links")
    taken(stated, design(devices, [one, one, other, far]))
    for unlike in (one | {"rate_bps": 20}, one | {"via": "o"}, {"a_device": "h0", "b_device": "h1", "rate_bps": 10}):
        taken(stated, design(devices, [one, one, other, unlike]), "a failure is not covered")
    through = [one | {"via": "o"}, one | {"via": "q"}, other]
    taken(stated, design(devices, through), "a failure is not covered")
    swap = [{"o": "q", "q": "o"}]
    taken(stated | {"symmetries": swap}, design(devices, through), "a symmetry exchanges different nodes")  # other declarations
    same = devices | {d: cells("ocs", path=f"o[{i}]") for i, d in enumerate("oq")}
    taken(stated | {"symmetries": swap}, design(same, through))
    turned = [one | {"via": "o"}, far | {"via": "q"}, other]
    taken(stated | {"symmetries": swap}, design(same, turned))


def test_a_symmetry_maps_elements_to_elements() -> None:
    """Of two hosts with three links each, two links of one and one of the other may fail."""
    devices = {"h0": cells("host", path="h[0]"), "h1": cells("host", path="h[1]"), "s": SWITCH}
    made = design(devices, [(h, "s") for h in ("h0", "h1") for _ in range(3)])
    swap = [{"h0": "h1", "h1": "h0"}]
    for of, good in ((["h[0].p0", "h[0].p1", "h[1].p3"], False), (["h[0].p0", "h[0].p1"], False), (["h[0].p0", "h[1].p3"], True)):
        stated = failing(of, 1, [case(["h[0].p0"], 2)], what="ports", symmetries=swap)
        taken(stated, made, "" if good else "a symmetry leads out of the elements")


def halves(failed: str, rates: dict[str, int], bound: int, cut: list[str]) -> dict[str, Any]:
    """A bisection of hosts on one switch that is left, t, proved by the hub."""
    lower = {"by": "shares", "parts": [{"hubs": ["t"], "shares": {}}]}
    left = {"check": "bisection", "units": len(rates), "lower_bps": bound, "upper_bps": bound, "cut": cut, "lower": lower}
    return {"failed": [failed], "left": left}


CUT = {"check": "bisection", "share": None}


def test_shares_of_what_the_smaller_half_injects() -> None:
    """Five hosts inject 250 bit/s after the failure and 400 before it. At least 70 of 125 bit/s cross every split; of the one
    that is named 70 cross, which are all that its smaller side injects."""
    stay, gone = dict(zip("abcde", (30, 40, 50, 60, 70), strict=True)), dict(zip("abcde", (10, 20, 30, 40, 50), strict=True))
    links = [(f"h{h}", "t", rate) for h, rate in stay.items()] + [(f"h{h}", "s", rate) for h, rate in gone.items()]
    made = design({f"h{h}": HOST for h in stay} | {"s": SWITCH, "t": SWITCH}, links)
    one = halves("s", stay, 70, ["ha", "hb"])
    for share, least, most in ((None, "70", "70"), ("left", "14/25", "1"), ("intact", "7/20", "7/20")):

        def asked(value: str, op: str = ">=", share: str | None = share) -> dict[str, Any]:
            return failing(["s"], 1, [one], condition=CUT | {"op": op, "value": value, "share": share})

        more, higher = (str(Fraction(x) * Fraction(1001, 1000)) for x in (least, most))
        taken(asked(least), made)
        taken(asked(most, "<="), made)
        taken(asked(higher, "<"), made)
        taken(asked(least, "=="), made, "" if least == most else "a case fails")
        for value, op in ((more, ">="), (least, ">"), (most, "<"), (higher, "=="), ("1/1000", "<=")):
            taken(asked(value, op), made, "a case fails")


def test_bounds_that_are_apart_are_compared_each_with_its_own() -> None:
    """Between 60, as stated, and 70: at least what the lower bound is, at most what the upper one is."""
    made = design({"ha": HOST, "hb": HOST, "s": SWITCH, "t": SWITCH}, [("ha", "t", 70), ("hb", "t", 70), ("ha", "s", 10)])
    one = halves("s", {"a": 1, "b": 1}, 70, ["ha"])
    one["left"]["lower_bps"] = 60
    for op, holds, fails in ((">=", 60, 61), (">", 59, 60), ("<=", 70, 69), ("<", 71, 70)):
        for value, why in ((holds, ""), (fails, "a case fails")):
            taken(failing(["s"], 1, [one], condition=CUT | {"op": op, "value": value}), made, why)
    for value in (60, 65, 70):
        taken(failing(["s"], 1, [one], condition=CUT | {"op": "==", "value": value}), made, "a case fails")


@pytest.mark.parametrize("check", ["diameter", "mean_hops", "edge_redundancy", "node_redundancy"])
def test_counted_figures_after_a_failure(check: str) -> None:
    """Two hosts on leaves of which one spine is left: a way of two links."""
    links = [("h0", "l"), ("h1", "m"), *((leaf, s) for leaf in "lm" for s in "tu")]
    made = design({"h0": HOST, "h1": HOST} | dict.fromkeys("lmtu", SWITCH), links)
    value = 2 if check in ("diameter", "mean_hops") else 1

    def stated(bound: int, op: str, figure: int = value) -> dict[str, Any]:
        cases = [{"failed": [s], "left": {"check": check, "value": figure}} for s in "tu"]
        return failing(["t", "u"], 1, cases, condition={"check": check, "op": op, "value": bound, "share": None})

    for op, holds, fails in ((">=", 0, 1), (">", -1, 0), ("<=", 0, -1), ("<", 1, 0), ("==", 0, 1)):
        taken(stated(value + holds, op), made)
        taken(stated(value + fails, op), made, "a case fails")
    taken(stated(value, "<=", value + 1), made, f"it is {value}")
    wrong = stated(value, ">=")
    wrong["condition"]["share"] = "left"
    taken(wrong, made, "there is no share of such a figure")
