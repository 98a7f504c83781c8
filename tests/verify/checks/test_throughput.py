"""Throughput as it is reported: patterns, planes, rails, and what cannot be judged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import claim, multiplane, rail_only, selector, superpod, torus
from tests.prove.networks import wired


def judged(f: Any, *args: Any, **given: Any) -> Judgement:
    view = f if isinstance(f, View) else View.whole(f)
    return checks_by_name()["throughput"].judge(view, claim(view.fabric, "throughput", args=args, **given))


POD, RAILS, CROSSED = superpod(4).build(), rail_only(), superpod(1, 8, 4, 1, uplinks=2, omit_last=False, manager=False)


@pytest.mark.parametrize(
    ("fabric", "args", "value"),
    [
        *((POD, args, 1) for args in (("ring",), ("shift", 1), ("shift", 32), ("shift", 50), ("rail_allreduce",))),  # full trees
        (RAILS.build(), ("ring",), 1),
        (RAILS.build(), ("rail_allreduce",), 1),
        (CROSSED.build(), ("rail_allreduce",), 1),  # stays on each leaf
        # On an 8-ring each chip sends by both ways to the one opposite: 4 hops of 2 links each; 1 hop, or 7 the other way round.
        (torus(8).build(), ("shift", 4), Fraction(1, 4)),
        (torus(8).build(), ("ring",), Fraction(8, 7) / 2),
    ],
)
def test_patterns_by_hand(fabric, args, value):
    found = judged(fabric, *args)
    assert (found.status, found.value) == ("proved", value)
    assert fabric is not POD or found.measures["lower_bps"] == 127 * 8 * 400e9


def test_rails_through_the_scale_up_domain():
    bare = rail_only(scaleup=False).build()
    assert judged(RAILS.build(), "rail_allreduce", through="scaleup").value == 1
    assert judged(bare, "rail_allreduce", through="scaleup").status == "skipped"


def test_planes_alone_and_together():
    found = judged(multiplane(4, 16, 2, 2).build(), "shift", 8)
    assert found.status == "proved" and len(found.witness["planes"]) == 4
    assert float(found.value) == pytest.approx(found.witness["planes"][0][0])


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
    for pattern in ("all_to_all", "ring"):
        assert judged(wired("h0-s0 h1-s0"), pattern).value == 1
        assert judged(wired("h0-s0 h1-s0 h2"), pattern).reason == "some hosts that send or receive have no link"


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
    few, enough = (View.whole(f, replace(DEFAULT, other_scope_cells=x)) for x in (31, 32))  # four hosts and eight links are 32
    found = judged(few, "ring")
    assert found.text == "100%: 3.2 of 3.2 Tbps by scale-out alone; through scaleup is not judged here"
    assert found.witness == {"demands": 8, "planes": planes, "scaleout": both, "scaleup": None}
    assert judged(enough, "ring").witness["scaleup"] == both
    left = View.whole(f).without(np.zeros(f.device_count, dtype=np.bool_))
    assert judged(left, "ring").text == "100%: 3.2 of 3.2 Tbps by scale-out alone"
    assert judged(f, "shift", 4).reason == "a shift by 4 sends all 4 hosts to themselves"
    assert judged(f, "shift").reason == "`shift` takes how far: write `throughput shift 1`"
