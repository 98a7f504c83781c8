"""Sizes of tiers against small searches, and the notes and faults of tiers with their text and places."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import networkx as nx
import pytest

from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.semantics.sizing import (
    Aim,
    HostLoad,
    Leading,
    Sizer,
    TierSpec,
    even_switch_counts,
    is_even_spread,
    least_uplinks,
    link_rate,
    no_ratio,
    ratio_text,
    spread_connects_children,
)

G = 10**9


def span(text: str) -> SourceSpan:
    """A place in a file of its own."""
    return SourceSpan(SourceFile("t.fab", text), 0, len(text))


def switch(ports: int, rate: int = 400) -> DeviceModel:
    """A switch with ports of one rate in Gb/s."""
    blank, origin = ("",) * ports, Origin(span(f"model{ports}"), ())
    c = PortClass(
        "p", (Axis(1, ports),), 0, rate * G or None, (), (0,) * ports, "", tuple(range(ports)), blank, blank, (), 1, origin
    )
    return DeviceModel(f"S{ports}", "switch", "", (c,), (), (), (), {}, origin)


def aim(text: str) -> Aim:
    """``1:1``, ``about 3:1`` or ``at most 3:1``."""
    mode, _, ratio = text.rpartition(" ")
    high, low = ratio.split(":")
    return Aim(mode, Fraction(int(high), int(low)))


Row = tuple[str, int | None, int, int | None, str]
"""Name, children of an instance, ports, switches and the ratio of the tier below."""


def sizer(load: HostLoad, *rows: Row, **more: dict[str, object]) -> Sizer:
    """A Sizer of tiers; ``more`` are further fields of a tier by its name."""
    specs, child = [], "host"
    for name, per, ports, count, ratio in rows:
        fields = dict(more.get(name, {}))
        rate = fields.pop("port_rate", 400)
        assert isinstance(rate, int)
        specs.append(TierSpec(name, child, per, switch(ports, rate), count, aim(ratio), span(name), **fields))  # type: ignore[arg-type]
        child = name
    return Sizer(load, specs)


def hosts(number: int, ends: int = 1, rails: int = 1, pods: int = 0, rate: int = 400) -> HostLoad:
    """What the first tier carries."""
    return HostLoad(number, ends, rate * G, rails, rails > 1, pods, span("hosts"))


def sizes(s: Sizer) -> list[tuple[int, ...]]:
    """Children, instances, switches, links down, up and groups of each tier."""
    return [(t.per, t.instances, t.count, t.down, t.up, t.groups) for t in s.run()]


def fault(s: Sizer) -> tuple[str, str, str, str, list[str], list[str]]:
    """Code, place, message, help, notes and labels."""
    with pytest.raises(Fault) as raised:
        s.run()
    return shown(raised.value)


def shown(raised: Fault) -> tuple[str, str, str, str, list[str], list[str]]:
    d = raised.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help, list(d.notes), [f"{x.span.text}: {x.message}" for x in d.labels]


def test_even() -> None:
    """Link j of child c goes to the far device c·links + j: each has as many, and a child has them evenly or once at most."""
    for children, links, far in product(range(1, 9), range(1, 9), range(1, 17)):
        pairs = [(c, (c * links + j) % far) for c in range(children) for j in range(links)]
        loads = {sum(f == d for _, f in pairs) for d in range(far)}
        times = [{pairs.count((c, d)) for d in range(far)} for c in range(children)]
        assert is_even_spread(children, links, far) == (len(loads) == 1 and all(len(t) == 1 or max(t) == 1 for t in times))


def test_meets() -> None:
    """Whether runs of children that meet below, and the far devices, are one connected graph."""
    for children, links, far, together in product(range(1, 13), (1, 2, 3), range(1, 19), range(1, 7)):
        if not is_even_spread(children, links, far) or children % together:
            continue
        g: nx.Graph = nx.Graph()
        g.add_edges_from((("child", c), ("far", (c * links + j) % far)) for c in range(children) for j in range(links))
        g.add_edges_from((("child", c), ("run", c // together)) for c in range(children))
        assert spread_connects_children(children, links, far, together) == nx.is_connected(g), (children, links, far, together)


def test_counts() -> None:
    """All numbers that have the ports, spread evenly and leave nothing apart, least first."""
    for children, links, radix, together in product(range(1, 10), range(1, 6), range(1, 9), (1, 2, 3)):
        expected = [
            n for n in range(1, children * links + 1)
            if children * links <= n * radix and is_even_spread(children, links, n) and spread_connects_children(children, links, n, together)
        ]  # fmt: skip
        assert list(even_switch_counts(children, links, radix, together)) == expected
    assert list(even_switch_counts(0, 3, 8, 1)) == []


def test_uplinks() -> None:
    """The least number that gives the ratio, that is at most it, or that is nearest to it, the larger of two."""
    for capacity in [*(Fraction(n) for n in range(1, 25)), *(Fraction(n, 3) for n in range(1, 12))]:
        for ratio in (Fraction(1), Fraction(2), Fraction(3), Fraction(3, 2), Fraction(7, 3), Fraction(1, 2)):
            ks = range(1, 80)
            assert least_uplinks(Aim("", ratio), capacity) == next((k for k in ks if capacity / k == ratio), None)
            assert least_uplinks(Aim("at most", ratio), capacity) == next(k for k in ks if capacity / k <= ratio)
            assert least_uplinks(Aim("about", ratio), capacity) == min(ks, key=lambda k: (abs(capacity / k - ratio), -k))


def test_no_ratio() -> None:
    """The two nearest ratios are named, or the one there is."""
    tier = TierSpec("leaf", "host", 8, switch(16), None, aim("1:1"), span("leaf"))
    assert shown(no_ratio(aim("3:1"), span("spine"), tier, 8, Fraction(8))) == (
        "E0460", "leaf", "no whole number of links up from a `leaf` switch with 8 down gives 3:1",
        "write `about 3:1` or `at most …`, or change the sizes",
        ["the nearest are 3 up: 8:3 and 2 up: 4:1"], ["spine: asked for here"],
    )  # fmt: skip
    found = shown(no_ratio(aim("9:2"), tier.span, tier, 2, Fraction(2)))
    assert found[4:] == (["the nearest are 1 up: 2:1"], [])
    assert ratio_text(Fraction(48, 7)) == "48:7"
    assert [str(aim(t)) for t in ("3:2", "about 3:1", "at most 1:1")] == ["3:2", "about 3:1", "at most 1:1"]


def test_rates_of_links() -> None:
    """The lower of two; 0 fits any, and two of these give 1."""
    assert [link_rate(*x) for x in ((3, 5), (5, 3), (0, 5), (5, 0), (0, 0))] == [3, 3, 5, 5, 1]


def test_ports_of_a_switch() -> None:
    """Ports for links down and up: any, or those that lead down and those that lead up."""
    spec = TierSpec("leaf", "host", 8, switch(8), None, aim("1:1"), span("leaf"))
    down, up = Leading("d", 5, 100 * G), Leading("u", 2, 800 * G)
    table = [
        (spec, 8, lambda d, u: d + u <= 8),
        (TierSpec(*(getattr(spec, n) for n in ("name", "child", "per", "model", "count", "aim", "span")), down=down), 5,
         lambda d, u: d <= 5 and d + u <= 8),
        (TierSpec(*(getattr(spec, n) for n in ("name", "child", "per", "model", "count", "aim", "span")), down=down, up=up), 5,
         lambda d, u: d <= 5 and u <= 2),
    ]  # fmt: skip
    for s, room, expected in table:
        assert s.room == room
        assert all(s.has(d, u) == expected(d, u) for d, u in product(range(10), repeat=2))
    assert [(s.down_rate // G, s.up_rate // G, s.ports) for s, _, _ in table] == [
        (400, 400, "the 8 ports of S8"), (100, 400, "the 5 ports down of S8"), (100, 800, "the 5 ports down and 2 up of S8"),
    ]  # fmt: skip
    assert [Sizer(hosts(1), [s]).owned(s) for s, _, _ in table] == ["S8 has 8 ports", "`d` are 5", "`d` are 5, `u` 2"]


MORE = "use more switches in the tier, fewer children, a model with more ports, or another ratio"

SIZES: list[tuple[Sizer, list[tuple[int, ...]], list[tuple[str, str]], list[tuple[str, str]]]] = [
    (
        sizer(hosts(64), ("leaf", None, 16, None, "1:1"), ("spine", None, 64, None, "1:1")),
        [(8, 8, 1, 8, 8, 1), (8, 1, 1, 64, 0, 1)],
        [
            ("leaf", "a `leaf` holds 8 hosts, as many as the 16 ports of S16 and 1:1 (8 down, 8 up) allow"),
            ("spine", "1 `spine` switches for 8 x 8 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(64), ("leaf", None, 16, None, "1:1"), ("spine", None, 16, None, "3:1")),
        [(12, 6, 1, 12, 4, 1), (6, 1, 2, 12, 0, 1)],
        [
            ("leaf", "a `leaf` holds 12 hosts, as many as the 16 ports of S16 and 3:1 (12 down, 4 up) allow"),
            ("spine", "2 `spine` switches for 6 x 4 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(64), ("leaf", None, 16, None, "1:1"), ("spine", None, 16, None, "about 2:1")),
        [(10, 7, 1, 10, 5, 1), (7, 1, 5, 7, 0, 1)],
        [
            ("leaf", "a `leaf` holds 10 hosts, as many as the 16 ports of S16 and about 2:1 (10 down, 5 up) allow"),
            ("spine", "about 2:1: 10 down and 5 up of a `leaf` switch, which is 2:1"),
            ("spine", "5 `spine` switches for 7 x 5 links: the least that spreads evenly (3 would have the ports)"),
        ],
        [],
    ),
    (
        sizer(hosts(60), ("leaf", None, 16, None, "1:1"), ("spine", None, 16, None, "at most 2:1")),
        [(10, 6, 1, 10, 5, 1), (6, 1, 5, 6, 0, 1)],
        [
            ("leaf", "a `leaf` holds 10 hosts, as many as the 16 ports of S16 and at most 2:1 (10 down, 5 up) allow"),
            ("spine", "at most 2:1: 10 down and 5 up of a `leaf` switch, which is 2:1"),
            ("spine", "5 `spine` switches for 6 x 5 links: the least that spreads evenly (2 would have the ports)"),
        ],
        [],
    ),
    (
        sizer(hosts(96, 1), ("leaf", 12, 16, None, "1:1"), ("spine", None, 12, None, "3:1")),
        [(12, 8, 1, 12, 4, 1), (8, 1, 4, 8, 0, 1)],
        [("spine", "4 `spine` switches for 8 x 4 links: the least that spreads evenly (3 would have the ports)")],
        [],
    ),
    (
        sizer(hosts(96, 2), ("leaf", None, 16, None, "1:1"), ("spine", None, 24, None, "1:1")),
        [(4, 24, 1, 8, 8, 1), (24, 1, 8, 24, 0, 1)],
        [
            ("leaf", "a `leaf` holds 4 hosts, as many as the 16 ports of S16 and 1:1 (8 down, 8 up) allow"),
            ("spine", "8 `spine` switches for 24 x 8 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(96, 2), ("leaf", None, 16, 2, "1:1"), ("spine", None, 24, None, "1:1")),
        [(8, 12, 2, 8, 8, 1), (12, 1, 8, 24, 0, 1)],
        [
            ("leaf", "a `leaf` holds 8 hosts, as many as the 16 ports of S16 and 1:1 (8 down, 8 up) allow"),
            ("spine", "8 `spine` switches for 24 x 8 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(96, 3), ("leaf", None, 16, 2, "1:1"), ("spine", None, 24, None, "1:1")),
        [(4, 24, 2, 6, 6, 1), (24, 1, 16, 18, 0, 1)],
        [
            ("leaf", "a `leaf` holds 4 hosts, as many as the 16 ports of S16 and 1:1 (6 down, 6 up) allow"),
            ("spine", "16 `spine` switches for 48 x 6 links: the least that spreads evenly (12 would have the ports)"),
        ],
        [
            (
                (
                    "the switches of a `leaf` are connected to 12 of the 16 `spine` switches, so two of them share few or "
                    "none, and the ratio does not determine the bisection"
                ),
                (
                    "two tiers of 24-port switches hold at most 48 hosts at 1:1; write three tiers: `tier leaf of 4 host "
                    "{ switch S16 }; tier pod of 8 leaf { switch S24 as spine }; tier core of ? pod { switch S24 }`, have "
                    "a model of 48 ports or more for `spine`, or fewer hosts"
                ),
            )
        ],
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, None, "1:1")),
        [(16, 4, 8, 16, 16, 1), (4, 1, 8, 64, 0, 1)],
        [("spine", "8 `spine` switches for 32 x 16 links: the least whose ports suffice")],
        [],
    ),
    (
        sizer(hosts(64, 8, 4), ("leaf", 16, 64, 8, "1:1"), ("spine", None, 64, None, "1:1")),
        [(16, 4, 8, 16, 16, 1), (4, 1, 8, 64, 0, 1)],
        [("spine", "8 `spine` switches for 32 x 16 links: the least whose ports suffice")],
        [],
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, None, "1:1"), spine={"by_rail": True}),
        [(16, 4, 8, 16, 16, 1), (4, 1, 8, 64, 0, 8)],
        [("spine", "1 `spine` switches for 4 x 16 links: the least whose ports suffice")],
        [],
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, 16, "1:1"), spine={"by_rail": True}),
        [(16, 4, 8, 16, 16, 1), (4, 1, 16, 32, 0, 8)],
        [],
        [],
    ),
    (
        sizer(
            hosts(64, 8, 8),
            ("leaf", 16, 32, None, "1:1"),
            ("spine", None, 32, None, "1:1"),
            ("core", None, 64, None, "1:1"),
            spine={"by_rail": True},
        ),
        [(16, 4, 8, 16, 16, 1), (4, 1, 32, 16, 16, 8), (1, 1, 8, 64, 0, 1)],
        [
            ("spine", "4 `spine` switches for 4 x 16 links: the least that spreads evenly (2 would have the ports)"),
            ("core", "8 `core` switches for 32 x 16 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(64, 1, 1, 4), ("leaf", None, 8, None, "1:1"), ("spine", 4, 8, None, "1:1"), ("core", None, 64, None, "1:1")),
        [(4, 16, 1, 4, 4, 1), (4, 4, 4, 4, 4, 1), (4, 1, 1, 64, 0, 1)],
        [
            ("leaf", "a `leaf` holds 4 hosts, as many as the 8 ports of S8 and 1:1 (4 down, 4 up) allow"),
            ("spine", "4 `spine` switches for 4 x 4 links: the least that spreads evenly (2 would have the ports)"),
            ("core", "1 `core` switches for 16 x 4 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(128), ("leaf", 4, 8, None, "1:1"), ("spine", 4, 8, None, "1:1"), ("core", None, 8, None, "1:1")),
        [(4, 32, 1, 4, 4, 1), (4, 8, 4, 4, 4, 1), (8, 1, 16, 8, 0, 1)],
        [
            ("spine", "4 `spine` switches for 4 x 4 links: the least that spreads evenly (2 would have the ports)"),
            ("core", "16 `core` switches for 32 x 4 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(hosts(128), ("leaf", 4, 8, None, "1:1"), ("spine", 4, 8, 4, "1:1"), ("core", None, 8, 16, "1:1")),
        [(4, 32, 1, 4, 4, 1), (4, 8, 4, 4, 4, 1), (8, 1, 16, 8, 0, 1)],
        [],
        [],
    ),
    (sizer(hosts(24), ("leaf", None, 24, None, "1:1")), [(24, 1, 1, 24, 0, 1)], [], []),
    (sizer(hosts(24, 2), ("leaf", None, 24, 2, "1:1")), [(24, 1, 2, 24, 0, 1)], [], []),
    (
        sizer(hosts(64, rate=200), ("leaf", None, 24, None, "1:1"), ("spine", None, 64, None, "1:1")),
        [(16, 4, 1, 16, 8, 1), (4, 1, 1, 32, 0, 1)],
        [
            ("leaf", "a `leaf` holds 16 hosts, as many as the 24 ports of S24 and 1:1 (16 down, 8 up) allow"),
            ("spine", "1 `spine` switches for 4 x 8 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(
            hosts(96),
            ("leaf", None, 48, None, "1:1"),
            ("spine", None, 32, None, "at most 2:1"),
            leaf={"down": Leading("d", 32, 400 * G), "up": Leading("u", 12, 800 * G)},
            spine={"port_rate": 800},
        ),
        [(32, 3, 1, 32, 8, 1), (3, 1, 1, 24, 0, 1)],
        [
            (
                "leaf",
                "a `leaf` holds 32 hosts, as many as the 32 ports down and 12 up of S48 and at most 2:1 (32 down, 8 up) allow",
            ),
            ("spine", "at most 2:1: 32 down and 8 up of a `leaf` switch, which is 2:1"),
            ("spine", "1 `spine` switches for 3 x 8 links: the least whose ports suffice"),
        ],
        [],
    ),
    (
        sizer(
            hosts(96),
            ("leaf", None, 48, None, "1:1"),
            ("spine", None, 32, None, "at most 3:1"),
            leaf={"down": Leading("d", 32, 400 * G)},
            spine={"port_rate": 0},
        ),
        [(32, 3, 1, 32, 11, 1), (3, 1, 11, 3, 0, 1)],
        [
            ("leaf", "a `leaf` holds 32 hosts, as many as the 32 ports down of S48 and at most 3:1 (32 down, 11 up) allow"),
            ("spine", "at most 3:1: 32 down and 11 up of a `leaf` switch, which is 32:11"),
            ("spine", "11 `spine` switches for 3 x 11 links: the least that spreads evenly (2 would have the ports)"),
        ],
        [],
    ),
    (
        sizer(hosts(72), ("leaf", 12, 18, None, "1:1"), ("spine", None, 16, None, "2:1")),
        [(12, 6, 1, 12, 6, 1), (6, 1, 3, 12, 0, 1)],
        [("spine", "3 `spine` switches for 6 x 6 links: the least whose ports suffice")],
        [],
    ),
    (
        sizer(hosts(108), ("leaf", 12, 18, None, "1:1"), ("spine", 3, 16, None, "2:1"), ("core", None, 36, None, "about 5:2")),
        [(12, 9, 1, 12, 6, 1), (3, 3, 2, 9, 4, 1), (3, 1, 1, 24, 0, 1)],
        [
            ("spine", "2 `spine` switches for 3 x 6 links: the least whose ports suffice"),
            ("core", "about 5:2: 9 down and 4 up of a `spine` switch, which is 9:4"),
            ("core", "1 `core` switches for 6 x 4 links: the least whose ports suffice"),
        ],
        [],
    ),
]


@pytest.mark.parametrize(("tiers", "expected", "notes", "partial"), SIZES)
def test_sizes(
    tiers: Sizer, expected: list[tuple[int, ...]], notes: list[tuple[str, str]], partial: list[tuple[str, str]]
) -> None:
    """The sizes of all tiers, the notes of those that were found, and what is said of tiers that are connected in part."""
    copy = Sizer(tiers.load, tiers.specs)
    assert sizes(copy) == expected
    assert [(at.text, note) for at, note in copy.notes] == notes
    assert [x[2:] for x in copy.partial()] == partial


FAULTS: list[tuple[Sizer, tuple[str, str, str, str, list[str], list[str]]]] = [
    (
        sizer(hosts(64), ("leaf", 16, 16, None, "1:1"), ("spine", None, 64, None, "1:1")),
        (
            "E0459",
            "leaf",
            "a `leaf` switch would have 16 links down and 16 up, and S16 has 16 ports",
            MORE,
            [],
            ["spine: 1:1 asks for 16 up", "model16: declared here"],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 17, 16, None, "1:1")),
        ("E0459", "leaf", "a `leaf` switch would have 17 links down, and S16 has 16 ports", MORE, [], ["model16: declared here"]),
    ),
    (
        sizer(hosts(64), ("leaf", 16, 16, None, "1:1")),
        (
            "E0459",
            "leaf",
            "64 hosts make 4 `leaf` of 16, and the last tier has one instance",
            "add a tier above; or for networks apart declare the hosts in groups: `group part[4] { … }`",
            [],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(65, 2), ("leaf", None, 64, 2, "1:1")),
        ("E0459", "leaf", "a `leaf` switch would have 65 links down, and S64 has 64 ports", MORE, [], ["model64: declared here"]),
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, 12, "1:1"), ("spine", None, 64, None, "1:1")),
        (
            "E0459",
            "leaf",
            "12 `leaf` switches cannot be divided evenly among 8 rails",
            "have a multiple of 8",
            [],
            ["hosts: the rails"],
        ),
    ),
    (
        sizer(hosts(64, 1, 1, 5), ("leaf", None, 8, None, "1:1"), ("spine", 4, 8, None, "1:1"), ("core", None, 64, None, "1:1")),
        ("E0459", "hosts", "64 hosts cannot be cut into 5 equal pods", "", [], []),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", 3, 64, None, "1:1"), ("core", None, 64, None, "1:1")),
        (
            "E0459",
            "spine",
            "64 hosts make 8 `leaf`: they cannot be divided into equal `spine` of 3",
            "`hosts n of 72 x …` plans 72 hosts and builds n of them",
            [],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(60), ("leaf", 10, 20, None, "1:1"), ("spine", 4, 64, None, "1:1")),
        (
            "E0459",
            "spine",
            "60 hosts make 6 `leaf`: they cannot be divided into one `spine` of 4",
            "`hosts n of 40 x …` plans 40 hosts and builds n of them",
            [],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(128), ("leaf", 4, 8, None, "1:1"), ("spine", 4, 8, None, "1:1"), ("core", 3, 64, None, "1:1")),
        (
            "E0459",
            "core",
            "128 hosts make 8 `spine`: they cannot be divided into one `core` of 3",
            "`hosts n of 48 x …` plans 48 hosts and builds n of them",
            [],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 64, None, "1:1"), ("core", None, 64, None, "1:1")),
        (
            "E0120",
            "spine",
            "`spine` is neither the first tier nor the last, so it says how many it holds",
            "`tier spine of 4 leaf`",
            [],
            [],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 64, None, "1:1"), spine={"by_rail": True}),
        (
            "E0120",
            "spine",
            "`spine` is grouped by rail, and the hosts have no rails",
            "write `rails 1` beside the hosts, or leave `by rail` out",
            [],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 64, 16, "1:1"), ("spine", None, 64, None, "1:1"), spine={"by_rail": True}),
        (
            "E0120",
            "spine",
            "`spine` is grouped by rail, so `leaf` below it has one switch a rail",
            "`by rail` belongs in the second tier, over a first tier without a count of switches",
            [],
            [],
        ),
    ),
    (
        sizer(
            hosts(64, 8, 8),
            ("leaf", 16, 32, None, "1:1"),
            ("spine", 2, 64, None, "1:1"),
            ("core", None, 64, None, "1:1"),
            spine={"by_rail": True},
        ),
        ("E0120", "spine", "`spine` is grouped by rail and contains all `leaf`", "write `tier spine of ? leaf by rail`", [], []),
    ),
    (
        sizer(
            hosts(64, 8, 8),
            ("leaf", 16, 32, None, "1:1"),
            ("spine", 2, 64, None, "1:1"),
            ("core", None, 64, None, "1:1"),
            core={"by_rail": True},
        ),
        (
            "E0120",
            "core",
            "`core` is grouped by rail, so `spine` below it has one switch a rail",
            "`by rail` belongs in the second tier, over a first tier without a count of switches",
            [],
            [],
        ),
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, 12, "1:1"), spine={"by_rail": True}),
        ("E0459", "spine", "12 `spine` switches cannot be divided evenly among 8 rails", "write `x 8`, or no count", [], []),
    ),
    (
        sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, 4, "1:1"), spine={"by_rail": True}),
        ("E0459", "spine", "4 `spine` switches cannot be divided evenly among 8 rails", "write `x 8`, or no count", [], []),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 64, 3, "1:1")),
        (
            "E0459",
            "spine",
            "8 links of each of 8 `leaf` do not spread evenly over 3 `spine`",
            "1 or 2 or 4 would be even",
            [],
            ["leaf: `leaf` is sized here"],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 64, 7, "1:1")),
        (
            "E0459",
            "spine",
            "8 links of each of 8 `leaf` do not spread evenly over 7 `spine`",
            "1 or 2 or 4 would be even",
            [],
            ["leaf: `leaf` is sized here"],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 16, 2, "1:1")),
        (
            "E0459",
            "spine",
            "a `spine` switch would have 32 links down, and S16 has 16 ports",
            MORE,
            [],
            ["model16: declared here"],
        ),
    ),
    (
        sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", None, 4, None, "1:1")),
        (
            "E0459",
            "spine",
            "64 hosts make 8 `leaf` switches, and a `spine` switch has 4 ports for them",
            (
                "write three tiers: `tier leaf of 8 host { switch S16 }; tier pod of 2 leaf { switch S4 as spine }; "
                "tier core of ? pod { switch S4 }`, or have a model with more ports, or 32 hosts"
            ),
            ["two tiers of 4-port switches hold at most 32 hosts at 1:1"],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(256), ("leaf", 8, 16, None, "1:1"), ("spine", None, 16, None, "1:1")),
        (
            "E0459",
            "spine",
            "256 hosts make 32 `leaf` switches, and a `spine` switch has 16 ports for them",
            (
                "write three tiers: `tier leaf of 8 host { switch S16 }; tier pod of 8 leaf { switch S16 as spine }; "
                "tier core of ? pod { switch S16 }`, or have a model with more ports, or 128 hosts"
            ),
            ["two tiers of 16-port switches hold at most 128 hosts at 1:1"],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(2048), ("leaf", 8, 16, None, "1:1"), ("spine", None, 16, None, "1:1")),
        (
            "E0459",
            "spine",
            "2048 hosts make 256 `leaf` switches, and from one of them 8 `spine` switches with 16 ports reach 128 at most",
            "add a third tier above `spine`, or have a model with more ports, or 128 hosts",
            ["two tiers of 16-port switches hold at most 128 hosts at 1:1"],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(
            hosts(256),
            ("leaf", None, 16, None, "1:1"),
            ("spine", None, 16, None, "1:1"),
            spine={"switches": "sp", "settings": "nos sonic", "cable": "AOC", "bundle": "bundle 2"},
            leaf={"down": Leading("d", 8, 400 * G)},
        ),
        (
            "E0459",
            "spine",
            "256 hosts make 32 `leaf` switches, and a `spine` switch has 16 ports for them",
            "add a third tier above `spine`, or have a model with more ports, or 128 hosts",
            ["two tiers of 16-port switches hold at most 128 hosts at 1:1"],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(512), ("leaf", 8, 16, None, "1:1"), ("pod", None, 16, None, "3:2")),
        (
            "E0460",
            "leaf",
            "no whole number of links up from a `leaf` switch with 8 down gives 3:2",
            "write `about 3:2` or `at most …`, or change the sizes",
            ["the nearest are 6 up: 4:3 and 5 up: 8:5"],
            ["pod: asked for here"],
        ),
    ),
    (
        sizer(hosts(512), ("pod", 16, 24, None, "1:1"), ("block", None, 16, None, "2:1")),
        (
            "E0459",
            "block",
            "512 hosts make 32 `pod` switches, and a `block` switch has 16 ports for them",
            (
                "write three tiers: `tier pod of 16 host { switch S24 }; tier core of 8 pod { switch S16 as block; "
                "oversubscription 2:1 }; tier top of ? core { switch S16 }`, or have a model with more ports, or 256 "
                "hosts"
            ),
            ["two tiers of 16-port switches hold at most 256 hosts at 2:1"],
            ["hosts: the hosts"],
        ),
    ),
    (
        sizer(hosts(512), ("leaf", 8, 16, None, "1:1"), ("spine", 8, 16, None, "3:1"), ("core", None, 16, None, "1:1")),
        (
            "E0460",
            "leaf",
            "no whole number of links up from a `leaf` switch with 8 down gives 3:1",
            "write `about 3:1` or `at most …`, or change the sizes",
            ["the nearest are 3 up: 8:3 and 2 up: 4:1"],
            ["spine: asked for here"],
        ),
    ),
    (
        sizer(hosts(128), ("leaf", None, 1, None, "1:1"), ("spine", None, 16, None, "1:1")),
        (
            "E0459",
            "leaf",
            "a `leaf` switch would have 1 links down and 1 up, and S1 has 1 ports",
            MORE,
            [],
            ["spine: 1:1 asks for 1 up", "model1: declared here"],
        ),
    ),
    (
        sizer(hosts(128, 9), ("leaf", None, 16, None, "1:1"), ("spine", None, 16, None, "1:1")),
        (
            "E0459",
            "leaf",
            "a `leaf` switch would have 9 links down and 9 up, and S16 has 16 ports",
            MORE,
            [],
            ["spine: 1:1 asks for 9 up", "model16: declared here"],
        ),
    ),
    (
        sizer(hosts(128, 17), ("leaf", None, 16, None, "1:1"), ("spine", None, 16, None, "1:1")),
        ("E0459", "leaf", "no number of hosts fits 1 S16 with 16 ports each", "", ["a host has 17 ends"], ["hosts: the hosts"]),
    ),
    (
        sizer(
            hosts(96),
            ("leaf", 24, 48, None, "1:1"),
            ("spine", None, 32, None, "1:1"),
            leaf={"down": Leading("d", 32, 400 * G), "up": Leading("u", 16, 400 * G)},
        ),
        (
            "E0459",
            "leaf",
            "a `leaf` switch would have 24 links down and 24 up, and `d` are 32, `u` 16",
            MORE,
            [],
            ["spine: 1:1 asks for 24 up", "model48: declared here"],
        ),
    ),
    (
        sizer(hosts(96), ("leaf", 24, 48, None, "1:1"), ("spine", None, 32, None, "7:1")),
        (
            "E0460",
            "leaf",
            "no whole number of links up from a `leaf` switch with 24 down gives 7:1",
            "write `about 7:1` or `at most …`, or change the sizes",
            ["the nearest are 4 up: 6:1 and 3 up: 8:1"],
            ["spine: asked for here"],
        ),
    ),
]


@pytest.mark.parametrize(("tiers", "expected"), FAULTS)
def test_faults(tiers: Sizer, expected: tuple[str, str, str, str, list[str], list[str]]) -> None:
    """Tiers that no sizes fit."""
    assert fault(Sizer(tiers.load, tiers.specs)) == expected


def test_switches_for_all_small_tiers() -> None:
    """The second tier has the least number of switches with the ports, spread evenly, and leaves nothing apart."""
    for leaves, ports, up in product(range(1, 9), range(2, 13), range(1, 7)):
        s = sizer(hosts(leaves * up), ("leaf", up, 2 * up, None, "1:1"), ("spine", None, ports, None, "1:1"))
        fitting = []
        for n in range(1, leaves * up + 1):
            g = nx.Graph([(("leaf", c), ("spine", (c * up + j) % n)) for c in range(leaves) for j in range(up)])
            loads = [sum((c * up + j) % n == k for c in range(leaves) for j in range(up)) for k in range(n)]
            if is_even_spread(leaves, up, n) and max(loads) <= ports and nx.is_connected(g):
                fitting.append(n)
        if fitting and up * ports >= leaves:
            assert s.run()[-1].count == fitting[0]
        else:
            with pytest.raises(Fault):
                s.run()


def test_groups_of_rails_that_are_connected_in_part() -> None:
    """In the group of a rail below the last tier, switches need not reach each other; in that of the last tier they do."""
    three = sizer(
        hosts(32, 2, 2), ("leaf", 4, 8, None, "1:1"), ("spine", None, 8, None, "1:1"), ("core", None, 64, None, "1:1"),
        spine={"by_rail": True},
    )  # fmt: skip
    assert sizes(three) == [(4, 8, 2, 4, 4, 1), (8, 1, 16, 4, 4, 2), (1, 1, 1, 64, 0, 1)]
    assert list(three.partial()) == []
    two = sizer(hosts(32, 2, 2), ("leaf", 4, 8, None, "1:1"), ("spine", None, 8, 16, "1:1"), spine={"by_rail": True})
    assert sizes(two) == [(4, 8, 2, 4, 4, 1), (8, 1, 16, 4, 0, 2)]
    (found,) = two.partial()
    assert (found[0].name, found[1].name) == ("spine", "leaf")
    assert found[2].startswith("a `leaf` switch is connected to 4 of the 8 `spine` switches")
    assert found[3] == "have 4 `spine` switches at most"
    without = sizer(hosts(32, 2, 2), ("leaf", 4, 8, None, "1:1"), ("spine", None, 4, None, "1:1"), spine={"by_rail": True})
    assert fault(without)[2] == "32 hosts make 8 `leaf` switches, and a `spine` switch has 4 ports for them"


def test_hosts_of_a_first_tier_with_several_switches() -> None:
    """The links of a leaf are divided evenly over its switches, in each rail where there are rails."""
    spine: Row = ("spine", None, 64, None, "1:1")
    assert sizes(sizer(hosts(24, 8, 2), ("leaf", None, 12, 8, "1:1"), spine))[0] == (4, 6, 8, 4, 4, 1)
    assert sizes(sizer(hosts(24, 8), ("leaf", None, 12, 8, "1:1"), spine))[0] == (6, 4, 8, 6, 6, 1)
    assert sizes(sizer(hosts(24, 6), ("leaf", None, 12, 8, "1:1"), spine))[0] == (8, 3, 8, 6, 6, 1)
    assert sizes(sizer(hosts(30, 6), ("leaf", None, 12, 8, "1:1"), spine))[0] == (8, 4, 8, 6, 6, 1)


def test_a_third_tier_is_written_for_plain_tiers_only() -> None:
    """Not where the hosts are in pods, a tier has ports of its own, a count or groups of rails, or there are three tiers."""
    leaf, spine = ("leaf", 8, 16, None, "1:1"), ("spine", None, 16, None, "1:1")
    lead = Leading("d", 8, 400 * G)

    def third(load: HostLoad, *rows: Row, **more: dict[str, object]) -> str:
        s = sizer(load, *rows, **more)
        s.tiers = [s.first()]
        return s.third_tier()

    written = (
        "write three tiers: `tier leaf of 8 host { switch S16 }; tier pod of 8 leaf { switch S16 as spine }; "
        "tier core of ? pod { switch S16 }`"
    )
    add = "add a third tier above `spine`"
    assert third(hosts(256), leaf, spine) == written
    assert third(hosts(256, pods=2), leaf, spine) == add
    assert third(hosts(256), leaf, spine, spine={"down": lead}) == add
    assert third(hosts(256), leaf, spine, leaf={"down": lead}) == add
    assert third(hosts(256), leaf, ("spine", None, 16, 8, "1:1")) == add
    assert third(hosts(256), leaf, spine, ("core", None, 16, None, "1:1")) == add
    assert third(hosts(256, 2, 2), ("leaf", 8, 16, None, "1:1"), spine, spine={"by_rail": True}) == add
    many = ("leaf", 4, 8, 3, "1:1"), ("spine", None, 12, None, "1:1")
    assert third(hosts(40, 3), *many).startswith("write three tiers: `tier leaf of 4 host { switch S8 }; tier pod of 2 leaf {")


def test_leaves_that_no_spine_switch_joins() -> None:
    """In the second tier two switches below need a switch above in common; above it those that meet below need none."""
    spine: Row = ("spine", None, 4, None, "1:1")
    for load, why in (
        (hosts(12, 2), "a `spine` switch has 4 ports for them"),
        (hosts(20, 2), "from one of them 2 `spine` switches with 4 ports reach 16 at most"),
        (hosts(12, 2, 2), "from one of them 2 `spine` switches with 4 ports reach 8 at most"),
    ):
        found = fault(sizer(load, ("leaf", 2, 4, 2, "1:1"), spine))
        assert found[2] == f"{load.hosts} hosts make {load.hosts} `leaf` switches, and {why}"
    high = sizer(hosts(80, 2, 2), ("leaf", 2, 4, None, "1:1"), ("spine", 2, 8, None, "1:1"), ("core", None, 8, None, "1:1"))
    assert sizes(high) == [(2, 40, 2, 2, 2, 1), (2, 20, 2, 4, 4, 1), (20, 1, 20, 8, 0, 1)]


def test_a_last_tier_has_one_instance() -> None:
    """Two are refused, also where the tier below divides evenly."""
    found = fault(sizer(hosts(64), ("leaf", 8, 16, None, "1:1"), ("spine", 4, 64, None, "1:1")))
    assert found[:3] == ("E0459", "spine", "64 hosts make 8 `leaf`: they cannot be divided into one `spine` of 4")
