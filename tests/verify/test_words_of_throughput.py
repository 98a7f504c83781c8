"""What is said of a throughput: shares, bounds, the other way that it was judged by, and where it cannot be judged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_rail import SCALEOUT, SCALEUP
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tdsl.verify.checks.throughput import (
    ThroughputFigure,
    _figure_as_fractions,
    _layer_key,
    _terabits_text,
    _throughput_judgement,
    _words_for_other_way,
)
from tests.fabrics import GBPS, Builder, claim, multiplane, rail_only, random_fabric, selector, superpod
from tests.harness import each
from tests.verify import judges

TERA = 10**12


def made(least: Any, most: Any, top: Any = 1, all_bps: int = TERA, why: str = "") -> ThroughputFigure:
    return ThroughputFigure(Fraction(least), Fraction(most), Fraction(top), all_bps, 3, why)


def test_shares_and_bounds() -> None:
    half, open_ = made(1, 1, 2), made(1, 3, 4)
    assert (half.exact, half.share, _figure_as_fractions(half)) == (True, "50%", [0.5, 0.5])
    assert (open_.exact, open_.share, _figure_as_fractions(open_)) == (False, "between 25% and 75%", [0.25, 0.75])
    assert _figure_as_fractions(None) is None and _figure_as_fractions("some reason") is None
    assert (_layer_key(SCALEUP), _layer_key(SCALEOUT)) == ("scaleup", "scaleout")
    assert [_terabits_text(x) for x in (TERA, TERA // 2, 400 * GBPS, Fraction(TERA, 3))] == ["1", "0.5", "0.4", "0.333333"]


def test_a_figure_as_an_answer() -> None:
    note = ("this is what the wiring can carry, not what a routing engine makes of it",)
    found = _throughput_judgement(made(1, 1, 2, 3 * TERA), " more", {"demands": 3})
    assert found == Judgement(
        "proved", "50%: 3 of 6 Tbps more", Fraction(1, 2), Fraction(1, 2), Fraction(1, 2), witness={"demands": 3}, notes=note,
        help="add links where the load is", measures={"lower_bps": Fraction(3 * TERA), "upper_bps": Fraction(3 * TERA)},
    )  # fmt: skip
    found = _throughput_judgement(made(1, 3, 4, 2 * TERA), "", {})
    assert found == Judgement(
        "bounded", "between 25% and 75%: 2 to 6 of 8 Tbps", Fraction(1, 4), Fraction(1, 4), Fraction(3, 4), notes=note,
        help="add links where the load is", measures={"lower_bps": Fraction(2 * TERA), "upper_bps": Fraction(6 * TERA)},
    )  # fmt: skip
    found = _throughput_judgement(made(0, 0, 1, 0, "a and b do not reach each other"), "", {})
    assert (found.status, found.text) == ("proved", "0%: a and b do not reach each other")
    assert found.help == "a and b do not reach each other: ask for it `through scaleup`, or join them"


def test_what_is_said_of_the_other_way() -> None:
    one, same, less, wide = made(1, 1, 2), made(2, 2, 4), made(1, 1, 4), made(1, 2, 4)
    assert _words_for_other_way(one, same, "by A", "by B") == ""
    assert _words_for_other_way(one, less, "by A", "by B") == " by A, 25% by B"
    assert _words_for_other_way(one, wide, "by A", "by B") == " by A, between 25% and 50% by B"
    assert _words_for_other_way(one, "too much", "by A", "by B") == " by A; by B is not known: too much"
    assert _words_for_other_way(one, None, "by A", "by B") == " by A; by B is not judged here"


def judged(f: Any, *args: Any, **given: Any) -> Judgement:
    return checks_by_name()["throughput"].judge(View.whole(f), claim(f, "throughput", args=args, **given))


def test_what_cannot_be_judged() -> None:
    f = superpod(units=2, nodes=2, rails=2, spines=2, radix=8, uplinks=2, manager=False, omit_last=False).build()
    sides = {"of": (selector(f, "su.leaf"),), "of_to": (selector(f, "spine"),)}
    assert judged(f, "ring", **sides).reason == "`of A to B` takes no pattern"
    assert judged(f, through="scaleup", **sides).reason == "`of A to B` takes no `through scaleup`: its sets are one end each"
    none = "it needs a pattern (all_to_all, permutation, rail_allreduce, ring, shift or a file), or `of A to B`"
    assert judged(f).reason == none
    assert checks_by_name()["throughput"].judge(View.whole(f), None).reason == none
    one = superpod(units=1, nodes=1, rails=2, spines=2, radix=8, uplinks=2, manager=False, omit_last=False).build()
    assert judged(one, "ring").reason == "there are fewer than two hosts"
    b = Builder("silent")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}), 3)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    for n in range(2):
        b.link(b.free(node, n), b.free(sw, 0))
    two = Builder("two")
    node = two.devices("node", two.model("host", "NODE", {"nic": 1}), 2)
    sw = two.devices("sw", two.model("switch", "SW", {"p": 4}), 1)
    for n in range(2):
        two.link(two.free(node, n), two.free(sw, 0))
    assert [judged(two.build(), pattern).value for pattern in ("all_to_all", "ring")] == [1, 1]
    for pattern in ("all_to_all", "ring"):
        assert judged(b.build(), pattern).reason == "some hosts that send or receive have no link"


def test_planes_alone() -> None:
    """Each plane carries what its part of the ports sends."""
    for count, shown in ((1, False), (2, True), (16, True), (17, False)):
        f = multiplane(count, 4, 2, 2).build()
        found = judged(f, "ring", through="scaleup")
        assert found.value == 1
        assert ("planes" in found.witness) == shown
        if shown:
            assert found.witness["planes"] == [[1.0, 1.0]] * count


def between_agrees(seed: int) -> None:
    """Two sets of switches, or of hosts: the maximum flow of networkx over what the ports of the smaller set carry,
    but those to hosts that are in neither set."""
    rng = Random(seed)
    f = random_fabric(seed, 6, 4, 2, rng.randint(4, 12)).build()
    every = list(selector(f, rng.choice(("sw", "node"))).elements)
    rng.shuffle(every)
    cut = rng.randint(1, len(every) - 1)
    sides = [every[:cut], every[cut : cut + 2]]
    base = selector(f, "sw")
    of = [type(base)("some", "switch", tuple(side)) for side in sides]
    found = judged(f, of=(of[0],), of_to=(of[1],))
    here, there = ({int(d) for e in side for d in e.devices} for side in sides)
    place = {d: -1 if d in here else -2 if d in there else d for d in judges.forwarders(f) | here | there}
    every_rate = [(int(a), int(b), int(r)) for a, b, r in zip(f.device_a, f.device_b, f.link_rate, strict=True)]
    rates = [(a, b, r) for a, b, r in every_rate if a in place and b in place and place[a] != place[b]]
    ports = [sum(r for a, b, r in rates if {a, b} & s) for s in (here, there)]
    if found.status == "skipped":
        assert not min(ports)
        return
    net: nx.DiGraph[int] = nx.DiGraph()
    net.add_nodes_from((-1, -2))
    for a, b, r in rates:
        for x, y in ((place[a], place[b]), (place[b], place[a])):
            net.add_edge(x, y, capacity=net.get_edge_data(x, y, {"capacity": 0})["capacity"] + r)
    flow = nx.maximum_flow_value(net, -1, -2)
    assert (found.status, found.value) == ("proved", Fraction(flow, min(ports)))
    assert found.witness["cut_bps"] == flow and found.measures == {"lower_bps": flow, "upper_bps": flow}
    assert sum(found.witness["cut_classes"].values()) == found.witness["cut_links"]  # type: ignore[attr-defined]
    assert len(found.witness["cut"]) == min(found.witness["cut_links"], 8)  # type: ignore[arg-type, type-var]
    words = ", ".join(f"{n} {name}" for name, n in found.witness["cut_classes"].items())  # type: ignore[attr-defined]
    assert found.text.endswith(f": {_terabits_text(flow)} of {_terabits_text(min(ports))} Tbps through {words or 'no link'}")
    assert found.help == "add links where the cut is"


def test_between_two_sets() -> None:
    each(range(60), between_agrees)


@pytest.mark.parametrize("pattern", ["ring", "all_to_all"])
def test_hosts_that_no_path_joins(pattern: str) -> None:
    b = Builder("apart")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}), 4)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 4}), 2)
    for n in range(4):
        b.link(b.free(node, n), b.free(sw, n // 2))
    found = judged(b.build(), pattern)
    assert (found.status, found.value, found.upper) == ("proved", 0, 0)
    assert found.text in {f"0%: node{x} and node{y} do not reach each other" for x, y in ((1, 2), (3, 0), (0, 2))}
    assert found.measures == {"lower_bps": 0, "upper_bps": 0}


def test_by_scale_out_alone_and_through_scale_up() -> None:
    """Four hosts with a switch for each of two rails: eight ends by rail, four hosts through scale-up; 3.2 Tb/s of ports."""
    f = rail_only(4, 2).build()
    both, none = [1.0, 1.0], [0.0, 0.0]
    planes = [both, both]
    found = judged(f, "all_to_all")
    assert (found.value, found.upper) == (0, 0)
    assert found.text == "0%: rail 0 and rail 1 are not connected by scale-out alone, 100% through scaleup"
    assert found.witness == {"pairs": 56, "planes": planes, "scaleout": none, "scaleup": both}
    assert found.help == "rail 0 and rail 1 are not connected: ask for it `through scaleup`, or join them"
    found = judged(f, "all_to_all", through="scaleup")
    assert (found.value, found.text) == (1, "100%: 3.2 of 3.2 Tbps through scaleup, 0% by scale-out alone")
    assert found.witness == {"pairs": 12, "planes": planes, "scaleup": both, "scaleout": none}
    for through, demands in (("", 8), ("scaleup", 4)):
        found = judged(f, "ring", through=through)
        assert (found.value, found.text) == (1, "100%: 3.2 of 3.2 Tbps")
        assert found.witness == {"demands": demands, "planes": planes, "scaleup": both, "scaleout": both}
    view = View.whole(f, replace(DEFAULT, other_scope_cells=31))  # four hosts and eight links are 32
    found = checks_by_name()["throughput"].judge(view, claim(f, "throughput", args=("ring",)))
    assert found.text == "100%: 3.2 of 3.2 Tbps by scale-out alone; through scaleup is not judged here"
    assert found.witness == {"demands": 8, "planes": planes, "scaleout": both, "scaleup": None}
    view = View.whole(f, replace(DEFAULT, other_scope_cells=32))
    assert checks_by_name()["throughput"].judge(view, claim(f, "throughput", args=("ring",))).witness["scaleup"] == both
    left = View.whole(f).without(np.zeros(f.device_count, dtype=np.bool_))
    found = checks_by_name()["throughput"].judge(left, claim(f, "throughput", args=("ring",)))
    assert found.text == "100%: 3.2 of 3.2 Tbps by scale-out alone"
    assert judged(f, "shift", 4).reason == "a shift by 4 sends all 4 hosts to themselves"
    assert judged(f, "shift").reason == "`shift` takes how far: write `throughput shift 1`"
