"""Ports at the ends of links and in panels on the way: rates, types and use, against a look at every link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import FREE, HOLE, USED, Fabric
from tdsl.prove.view import View
from tdsl.semantics.model import Axis, PortClass
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import GBPS, Builder
from tests.harness import each

RATES = (None, 100, 200, 400, 800, 1800)
TYPES = ((), ("NDR",), ("XDR", "GE800"), ("GE800", "NDR"), ("any",), ("GE100",))

Group = tuple[int, PortClass, PortClass, list[int]]
"""A statement, two classes and the links of it between ports of the two."""


def class_of(f: Fabric, port: int) -> PortClass:
    """The class of a port, by the ports of its model one by one."""
    device = int(f.port_device[port])
    ports = [c for c in f.set_of(device).model.classes for _ in range(c.size)]
    return ports[port - int(f.port_base[device])]


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


def groups(f: Fabric, links: list[int], a: Any, b: Any) -> Iterator[Group]:
    """Links by statement and by the classes at two ports of each, in the order of statements and models."""
    order = [c for m in f.models for c in m.classes]
    found: dict[tuple[int, int, int], list[int]] = {}
    for link in links:
        rows = [next(i for i, c in enumerate(order) if c is class_of(f, int(ports[link]))) for ports in (a, b)]
        found.setdefault((int(f.link_statement[link]), *rows), []).append(link)
    for (statement, x, y), mine in sorted(found.items()):
        yield statement, order[x], order[y], mine


def speed(rate: int) -> str:
    return (
        f"{rate // (1000 * GBPS)}Tbps"
        if rate % (1000 * GBPS) == 0
        else f"{rate / 1000 / GBPS:g}Tbps"
        if rate > 1000 * GBPS
        else f"{rate // GBPS}Gbps"
    )


def port(c: PortClass) -> str:
    """``an 800Gbps XDR GE800 port`` of a class."""
    words = " ".join(("any rate" if c.rate is None else speed(c.rate), *c.types))
    return f"{'an' if words[0] in 'a8' else 'a'} {words} port"


def faults_of_rates(f: Fabric) -> Iterator[tuple[Any, ...]]:
    """Links faster than a port, and unlike ports that no statement gives a rate; then ports of panels that are too slow."""
    every = range(f.link_count)
    wrong = []
    for link in every:
        rates = [class_of(f, int(ports[link])).rate for ports in (f.link_a, f.link_b)]
        known = [r for r in rates if r is not None]
        stated = "rate" in f.statements[int(f.link_statement[link])].settings
        if any(f.link_rate[link] > r for r in known) or (len(set(known)) == 2 and not stated):
            wrong.append(link)
    for statement, x, y, links in groups(f, wrong, f.link_a, f.link_b):
        ends = [f.port_path(int(ports[links[0]])) for ports in (f.link_a, f.link_b)]
        carried = int(f.link_rate[links[0]])
        if "rate" in f.statements[statement].settings:
            text = f"{ends[0]} to {ends[1]} is asked to run at {speed(carried)}, between {port(x)} and {port(y)}"
        else:
            text = f"{ends[0]} to {ends[1]}: {port(x)} into {port(y)}"
        known = [c.rate for c in (x, y) if c.rate is not None]
        labels = [(c.origin.span.text, f"{port(c).split(' ', 1)[1].removesuffix(' port')}, declared here") for c in (x, y)]
        help = f"write `{{ rate {speed(min(known))} }}` behind the connect"
        yield statement, text + (f" ({len(links)} links do)" if len(links) > 1 else ""), len(links), labels, help
    for via, end in ((f.link_via_a, f.link_a), (f.link_via_b, f.link_b)):
        slow = [link for link in every if via[link] >= 0 and f.link_rate[link] > (class_of(f, int(via[link])).rate or 1 << 60)]
        for statement, _, y, links in groups(f, slow, end, via):
            text = f"{f.port_path(int(via[links[0]]))} carries {speed(int(f.link_rate[links[0]]))}, but is {port(y)}"
            yield statement, text, len(links), [(y.origin.span.text, "declared here")], "use a panel that carries the rate"


def faults_of_types(f: Fabric) -> Iterator[tuple[Any, ...]]:
    """Pairs of ports that share no type, end to end, then from each end into its panel."""
    every = list(range(f.link_count))
    pairs = [(every, f.link_a, f.link_b)]
    for via, end in ((f.link_via_a, f.link_a), (f.link_via_b, f.link_b)):
        pairs.append(([link for link in every if via[link] >= 0], end, via))
    for links, a, b in pairs:
        for statement, x, y, mine in groups(f, links, a, b):
            if x.types and y.types and "any" not in (*x.types, *y.types) and not set(x.types) & set(y.types):
                types = [", ".join(c.types) for c in (x, y)]
                one, two = (f.port_path(int(ports[mine[0]])) for ports in (a, b))
                text = f"{one} is of type {types[0]} and {two} of type {types[1]}: they share none"
                text += f" ({len(mine)} such links)" if len(mine) > 1 else ""
                labels = [(c.origin.span.text, f"type {t}, declared here") for c, t in zip((x, y), types, strict=True)]
                yield statement, text, len(mine), labels, "connect ports that share a type"


def agrees_with(f: Fabric, found: Judgement, expected: list[tuple[Any, ...]], good: str) -> None:
    """A judgement holds these faults, or says that all is well."""
    said = [(x.at, x.message, x.count, [(s.text, words) for s, words in x.labels], x.help) for x in found.faults]
    assert said == [(f.statements[fault[0]].origin, *fault[1:]) for fault in expected]
    if expected:
        assert (found.status, found.value, found.text) == ("refuted", False, expected[0][1])
        assert found.witness == {"links": sum(fault[2] for fault in expected)}
    else:
        assert (found.status, found.value, found.text) == ("proved", True, good if f.link_count else "there are no links")


@pytest.mark.parametrize(
    ("check", "faults", "good"),
    [
        ("rate_match", faults_of_rates, "both ends of every link agree"),
        ("connector_match", faults_of_types, "both ends of every link share a type"),
    ],
)
def test_ends_drawn_at_random(check: str, faults: Callable[[Fabric], Iterator[tuple[Any, ...]]], good: str) -> None:
    def agrees(seed: int) -> None:
        f = drawn(Random(seed))
        agrees_with(f, checks_by_name()[check].judge(View.whole(f), None), list(faults(f)), good)

    each(range(100), agrees)


# ---------------------------------------------------------------- advice


def pair(first: tuple[int, ...], second: tuple[int, ...], chain: str = "", rate: int | None = None, rest: int = 0) -> Judgement:
    """One link between ports of two rates in Gb/s, each with the numbers it may be split into; the first model has ports 5 and 6
    of another rate, too, where that is given. A chain says what made the statement."""
    b = Builder("pair")
    sets = []
    for name, label, (bps, *splits) in (("one", "p", first), ("two", "q", second)):
        model = b.model(
            "switch", name.upper(), {label: {"shape": 4, "rate": bps * GBPS}, "more": {"shape": 2, "rate": rest * GBPS}}
        )
        main, more = model.classes
        main = replace(main, splits=tuple(splits))
        more = replace(more, name="p", axes=(Axis(5, 2),)) if rest and name == "one" else more
        b.models[-1] = replace(model, classes=(main, more))
        sets.append(b.devices(name, b.models[-1], 1))
    b.connect("connect one to two", **({"rate": rate} if rate else {}))
    origin = b.statements[-1].origin
    words = tuple((origin.span, word) for word in chain.split(", ") if word)
    b.statements[-1] = replace(b.statements[-1], origin=replace(origin, chain=words))
    b.link(b.port(sets[0], 0), b.port(sets[1], 0), (rate or min(first[0], second[0])) * GBPS)
    return checks_by_name()["rate_match"].judge(View.whole(b.build()), None)


@pytest.mark.parametrize(
    ("first", "second", "given", "help"),
    [
        ((800,), (400,), {}, "write `{ rate 400Gbps }` behind the connect"),
        ((800, 2), (400,), {}, "write `{ rate 400Gbps }` behind the connect, or split the faster port: `{ split p 2 }`"),
        ((800, 4, 8), (400, 2), {}, "write `{ rate 400Gbps }` behind the connect"),
        ((800, 2, 4), (200,), {}, "write `{ rate 200Gbps }` behind the connect, or split the faster port: `{ split p 4 }`"),
        ((800, 2), (300,), {}, "write `{ rate 300Gbps }` behind the connect"),
        ((100, 1), (800, 2, 8), {}, "write `{ rate 100Gbps }` behind the connect, or split the faster port: `{ split q 8 }`"),
        ((100,), (400, 2), {}, "write `{ rate 100Gbps }` behind the connect"),
        ((800, 2), (400,), {"rate": 800}, "write `{ rate 400Gbps }` behind the connect"),
        (
            (800, 2), (400,), {"chain": "expansion, topology clos"},
            "split the faster ports: `ONE { split p 2 }`; or write the rate of its ports in its tier: `down CLASS at 400Gbps`",
        ),
        (
            (400,), (800, 2), {"chain": "topology clos, expansion"},
            "split the faster ports: `TWO { split q 2 }`; or write the rate of its ports in its tier: `down CLASS at 400Gbps`",
        ),
        ((400,), (800,), {"chain": "topology clos"}, "write `{ rate 400Gbps }` behind the connect"),
        (
            (800, 2), (400,), {"chain": "expansion"},
            "write `{ rate 400Gbps }` behind the connect, or split the faster port: `{ split p 2 }`",
        ),
        (
            (800,), (400,), {"rest": 400},
            "name ports that run at 400Gbps: `one.p[5..6]`; or write `{ rate 400Gbps }` behind the connect",
        ),
        ((800,), (400,), {"rest": 200}, "write `{ rate 400Gbps }` behind the connect"),
        ((800,), (400,), {"rest": 400, "rate": 800}, "write `{ rate 400Gbps }` behind the connect"),
    ],
)  # fmt: skip
def test_advice_for_unlike_rates(first: tuple[int, ...], second: tuple[int, ...], given: dict[str, Any], help: str) -> None:
    found = pair(first, second, **given)
    assert [fault.help for fault in found.faults] == [help]


# ---------------------------------------------------------------- ports that are used


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
    each(range(200), use_agrees)


def test_switches_of_unequal_size() -> None:
    """Models without ports have none to spare; two declarations of one path are one row of the table."""
    b = Builder("sizes")
    b.devices("none", b.model("switch", "NONE", {}), 2)
    small, large = (b.devices("leaf", b.model("switch", name, {"p": n}), 1) for name, n in (("SMALL", 3), ("LARGE", 9)))
    b.devices("host", b.model("host", "HOST", {"nic": 1}), 1)
    one = b.devices("one", b.model("switch", "ONE", {"p": 1}), 1)
    b.link(b.free(small, 0), b.free(large, 0))
    b.link(b.free(large, 0), b.free(small, 0))
    b.link(b.free(large, 0), b.free(one, 0))
    found = checks_by_name()["port_budget"].judge(View.whole(b.build()), None)
    assert found.text == "tightest: one0 has 0 of 1 ports free"
    assert found.witness == {"tightest": "one0", "free": {"leaf": 1, "one": 0}}
    b = Builder("hosts")
    host = b.devices("host", b.model("host", "HOST", {"nic": 1}), 2)
    b.link(b.free(host, 0), b.free(host, 1))
    found = checks_by_name()["port_budget"].judge(View.whole(b.build()), None)
    assert (found.status, found.text, found.witness) == ("proved", "every link has a port of its own", {})


def test_of_many_links_at_a_port_four_are_shown() -> None:
    b = Builder("many")
    low, high = (b.devices(name, b.model("switch", name.upper(), {"p": 8}), 1) for name in ("low", "high"))
    for i in range(1, 7):
        b.link(b.port(low, 0, "p", i), b.port(high, 0, "p", i))
    f = b.build()
    port = b.port(high, 0, "p", 1)
    crossed = replace(f, link_via_b=np.full(6, port, dtype=np.int64))
    found = checks_by_name()["port_budget"].judge(View.whole(crossed), None)
    assert found.text == "high[0].p[1] carries 7 links"
    assert found.witness == {"port": "high[0].p[1]", "links": [0, 1, 2, 3]}
