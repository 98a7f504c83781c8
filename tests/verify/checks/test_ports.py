"""Ports at the ends of links and in panels on the way: rates, types and use, against a look at every link."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import FREE, HOLE, USED, Fabric
from tdsl.prove.view import View
from tdsl.semantics.model import PortClass
from tdsl.verify.check import checks_by_name
from tests.fabrics import GBPS, Builder
from tests.harness import each

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


def of_use(f: Fabric) -> tuple[list[int], str]:
    """The ports to blame, of the first reason that applies, and the reason."""
    load: dict[int, int] = {}
    for ports in (f.link_a, f.link_b, f.link_via_a, f.link_via_b):
        for x in ports.tolist():
            if x >= 0:
                load[x] = load.get(x, 0) + 1
    used, last = sorted(load), int(f.port_base[-1])
    reasons = [
        ([x for x in used if x >= last][-1:], "is beyond the last port"),
        ([x for x in used if load[x] > 1], "carries {} links"),
        ([x for x in used if x < last and not f.built[f.port_device[x]]], "carries a link, but its device is not built"),
        ([x for x in used if x < last and f.port_state[x] != USED], "carries a link that its device does not count"),
    ]
    ports, reason = next((r for r in reasons if r[0]), ([], ""))
    return ports, reason.format(load[ports[0]] if ports else 0)


def spoiled(rng: Random) -> Fabric:
    """A fabric with up to three wrong entries in its columns: of ports of panels, of what is built and of what is used."""
    f = drawn(rng)
    via_a, via_b, built, state = f.link_via_a.copy(), f.link_via_b.copy(), f.built.copy(), f.port_state.copy()
    via = [x for x in (*via_a.tolist(), *via_b.tolist()) if x >= 0]
    state[via] = USED
    rest = [x for x in range(len(state)) if state[x] == FREE]
    for x in rng.sample(rest, rng.randint(0, min(20, len(rest)))):
        state[x] = rng.choice((HOLE, USED))
    for _ in range(rng.randint(0, 3) if f.link_count else 0):
        link = rng.randrange(f.link_count)
        match rng.randrange(5):
            case 0:
                via_b[link] = int(f.port_base[-1]) + rng.randint(0, 2)
            case 1:
                via_a[link] = rng.choice((0, int(f.link_b[link]), int(f.link_a[rng.randrange(f.link_count)])))
            case 2:
                built[int(f.port_device[rng.choice((f.link_a, f.link_b))[link]])] = False
            case 3:
                state[rng.choice((f.link_a, f.link_b))[link]] = rng.choice((FREE, HOLE))
            case 4:
                via_b[link] = rng.choice(rest)
    return replace(f, link_via_a=via_a, link_via_b=via_b, built=built, port_state=state)


def use_agrees(seed: int) -> None:
    """Wrong use of ports is found, and where there is none the switch with the fewest free ports."""
    f = spoiled(Random(seed))
    found = checks_by_name()["port_budget"].judge(View.whole(f), None)
    ports, reason = of_use(f)
    if ports:
        inside = ports[0] < int(f.port_base[-1])
        name = f.port_path(ports[0]) if inside else f"port {ports[0]}"
        rows = [i for i in range(f.link_count) if ports[0] in (f.link_a[i], f.link_b[i], f.link_via_a[i], f.link_via_b[i])]
        text = f"{name} {reason}" + (f" ({len(ports)} ports do)" if len(ports) > 1 else "")
        assert (found.status, found.value, found.text) == ("refuted", False, text)
        assert found.witness == {"port": name, "links": rows[:4]}
        (fault,) = found.faults
        assert (fault.at, fault.message, fault.count) == (f.statements[int(f.link_statement[rows[-1]])].origin, text, len(ports))
        where = [(f.set_of(int(f.port_device[ports[0]])).origin.span, "the device is declared here")] if inside else []
        assert list(fault.labels) == where
        assert fault.help == "use another port, or a device with more ports"
    else:
        free = {
            d: sum(f.port_state[x] == FREE for x in range(int(f.port_base[d]), int(f.port_base[d + 1])))
            for d in range(f.device_count) if f.is_switch[d] and f.built[d]
        }  # fmt: skip
        least = min(free, key=lambda d: (free[d], d))
        by_set: dict[str, list[int]] = {}
        for d, count in free.items():
            by_set.setdefault(f.set_of(d).path, []).append(count)
        assert (found.status, found.value) == ("proved", True)
        assert found.text == f"tightest: {f.device_name(least)} has {free[least]} of 24 ports free"
        assert found.witness == {"tightest": f.device_name(least), "free": {path: min(counts) for path, counts in by_set.items()}}


def test_use_drawn_at_random() -> None:
    each(range(120), use_agrees)
