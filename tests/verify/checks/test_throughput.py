"""Throughput as it is reported: patterns, planes, rails, and what cannot be judged."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tdsl.findings.diagnostic import Severity
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Builder, claim, multiplane, rail_only, selector, superpod, torus
from tests.harness import compile_text
from tests.prove.judges import judged_throughput


@pytest.mark.parametrize("pattern", [("ring",), ("shift", 1), ("shift", 32), ("shift", 50), ("rail_allreduce",)])
def test_a_full_tree_carries_all_patterns(pattern):
    f = superpod(4).build()
    found = judged_throughput(f, *(BareWord(p) if isinstance(p, str) else p for p in pattern))
    assert (found.status, found.value, found.measures["lower_bps"]) == ("proved", 1, 127 * 8 * 400e9)


def test_rails_of_their_own():
    f = rail_only(hosts=8, rails=4).build()
    for args in (("ring",), ("rail_allreduce",)):
        assert judged_throughput(f, BareWord(args[0])).value == 1
    crossed = superpod(1, 8, 4, 1, uplinks=2, omit_last=False, manager=False).build()
    assert judged_throughput(crossed, BareWord("rail_allreduce")).value == 1  # stays on each leaf
    assert judged_throughput(f, BareWord("rail_allreduce"), through="scaleup").value == 1
    assert (
        judged_throughput(
            rail_only(hosts=8, rails=4, scaleup=False).build(), BareWord("rail_allreduce"), through="scaleup"
        ).status
        == "skipped"
    )


def test_planes_alone_and_together():
    f = multiplane(4, 16, 2, 2).build()
    found = judged_throughput(f, BareWord("shift"), 8)
    assert found.status == "proved" and len(found.witness["planes"]) == 4
    plane = found.witness["planes"][0]
    assert float(found.value) == pytest.approx(plane[0])


def test_a_torus_shift_by_hand():
    """On an 8-ring each chip sends by both ways to the one opposite: 4 hops of 2 links each."""
    f = torus(8).build()
    found = judged_throughput(f, BareWord("shift"), 4)
    assert (found.status, found.value) == ("proved", Fraction(1, 4))
    assert judged_throughput(f, BareWord("ring")).value == Fraction(1, 1) * Fraction(8, 7) / 2  # 1 hop, or 7 the other way round


def test_no_pattern_is_no_figure(tmp_path):
    """Neither required nor reported alone: it is said what is missing."""
    body = "host h[2]: BOX\nswitch s: SW\nconnect h[*] to s spread x 1\nrequire throughput >= 80%\nreport throughput"
    text = f"fabric f {{\n{body}\n}}"
    result = compile_text(text, tmp_path)
    assert [(d.code, d.span.text) for d in result.findings if d.severity is Severity.ERROR] == [("E0420", "throughput >= 80%")]
    assert [r.status for r in result.designs[0].results if r.check == "throughput"] == ["skipped", "skipped"]


def test_a_shift_goes_round_and_round(tmp_path):
    text = f"fabric f {{ host n[6]: BOX; switch s: BIG; connect n[k].nic[i] to s; report throughput shift {6 * 10**30 + 1} }}"
    (far,) = [r for r in compile_text(text, tmp_path).designs[0].results if r.requirement]
    assert (far.status, far.value) == ("proved", 1)


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
