"""Ports at the ends of links and in panels on the way: rates, types and use, against a look at every link."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import FREE, Fabric
from tdsl.prove.view import View
from tdsl.semantics.model import PortClass
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import GBPS, Builder
from tests.harness import each
from tests.prove.networks import wired

RATES = (None, 100, 200, 400, 800, 1800)
TYPES = ((), ("NDR",), ("XDR", "GE800"), ("GE800", "NDR"), ("any",), ("GE100",))


def class_of(f: Fabric, port: int) -> PortClass:
    """The class of a port, by the ports of its model one by one."""
    device = int(f.port_device[port])
    return [c for c in f.set_of(device).model.classes for _ in range(c.size)][port - int(f.port_base[device])]


def drawn(rng: Random) -> Fabric:
    """Switches of two models of two classes each and panels of one; some links lead through panels."""
    b = Builder("mixed")

    def given() -> dict[str, Any]:
        rate = rng.choice(RATES)
        return {"shape": 12, "rate": rate and rate * GBPS, "types": rng.choice(TYPES)}

    panel = b.devices("pan", b.model("panel", "PAN", {"front": given(), "back": given()}), 1)
    low = b.devices("low", b.model("switch", "LOW", {"p": given(), "q": given()}), 2)
    high = b.devices("high", b.model("switch", "HIGH", {"r": given(), "s": given()}), 2)
    for i in range(rng.randint(1, 3)):
        b.connect(f"connect {i}", **({"rate": 1} if rng.random() < 0.4 else {}))
    count = rng.randint(0, 9)
    for _ in range(count):
        ends = b.free(low, rng.randrange(2), rng.choice("pq")), b.free(high, rng.randrange(2), rng.choice("rs"))
        b.link(*ends, rng.choice((100, 200, 400, 800)) * GBPS, statement=rng.randrange(len(b.statements)))
    if not b.statements:
        b.connect()
    f = b.build()
    first = b.port(panel, 0, "front", 0)
    via = [[first + 12 * side + i if rng.random() < 0.4 else -1 for i in range(f.link_count)] for side in (0, 1)]
    return replace(f, link_via_a=np.array(via[0], dtype=np.int64), link_via_b=np.array(via[1], dtype=np.int64))


def unlike(f: Fabric, check: str) -> list[tuple[int, ...]]:
    """Links, and sides of links into a panel, that break a rule: each with its statement."""
    out = []
    for x in range(f.link_count):
        a, b = (class_of(f, int(ports[x])) for ports in (f.link_a, f.link_b))
        panels = [
            (s, end, class_of(f, int(via[x]))) for s, end, via in ((1, a, f.link_via_a), (2, b, f.link_via_b)) if via[x] >= 0
        ]
        if check == "rate_match":
            known = [c.rate for c in (a, b) if c.rate is not None]
            stated = "rate" in f.statements[int(f.link_statement[x])].settings
            if any(f.link_rate[x] > r for r in known) or (len(set(known)) == 2 and not stated):
                out.append((0, x))
            out += [(s, x) for s, _, c in panels if c.rate is not None and f.link_rate[x] > c.rate]
        else:
            pairs = [(0, a, b), *panels]
            out += [
                (s, x)
                for s, c, d in pairs
                if c.types and d.types and "any" not in (*c.types, *d.types) and not {*c.types} & {*d.types}
            ]
    return out


@pytest.mark.parametrize("check", ["rate_match", "connector_match"])
def test_ends_drawn_at_random(check: str) -> None:
    """Every link that breaks the rule is counted at its statement, and no other."""

    def agrees(seed: int) -> None:
        f = drawn(Random(seed))
        found = checks_by_name()[check].judge(View.whole(f), None)
        wrong = unlike(f, check)
        assert (found.status, found.value) == (("refuted", False) if wrong else ("proved", True))
        expected, said = Counter[str](), Counter[str]()
        for _, x in wrong:
            expected[f.statements[int(f.link_statement[x])].origin.span.text] += 1
        for fault in found.faults:
            said[fault.at.span.text if fault.at else ""] += fault.count
        assert said == expected and (not wrong or found.witness == {"links": len(wrong)})

    each(range(60), agrees)


def test_wrong_use_of_ports() -> None:
    """A port beyond the last, one with two links, one of a device that is not built, one that is not counted: of the first reason
    that applies, at the last statement that uses it."""
    f = wired("h0-s0 h1-s0 s0-s1")
    a, b, last = int(f.link_a[0]), int(f.link_b[1]), int(f.port_base[-1])
    none = np.full(3, -1)
    unbuilt, free = f.built.copy(), f.port_state.copy()
    unbuilt[f.port_device[b]], free[b] = False, FREE
    for changed, port, reason in (
        ({"link_via_b": np.array([last, -1, -1]), "built": unbuilt}, last, "is beyond the last port"),
        ({"link_via_a": np.array([-1, a, -1]), "built": unbuilt}, a, "carries 2 links"),
        ({"built": unbuilt, "port_state": free}, None, "carries a link, but its device is not built"),
        ({"port_state": free}, b, "carries a link that its device does not count"),
    ):
        found = judged(replace(f, **{"link_via_a": none, "link_via_b": none, **changed}))
        (fault,) = found.faults
        assert (found.status, found.value, fault.message) == ("refuted", False, found.text) and reason in found.text
        assert fault.help == "use another port, or a device with more ports"
        if port is not None:
            name = f.port_path(port) if port < last else f"port {port}"
            assert found.witness["port"] == name and found.text.startswith(name)
            assert bool(fault.labels) == (port < last)


def test_the_switch_with_the_fewest_free_ports() -> None:
    found = judged(wired("h0-s0*3 h1-s1*2 s0-s1"))
    assert (found.status, found.text) == ("proved", "tightest: s0 has 60 of 64 ports free")
    assert found.witness == {"tightest": "s0", "free": {"s": 60}}


def judged(f: Fabric) -> Judgement:
    return checks_by_name()["port_budget"].judge(View.whole(f), None)
