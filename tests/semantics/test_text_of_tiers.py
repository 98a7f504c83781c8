"""Sized tiers as statements: the switch that each end of a host is connected to, against plain arithmetic, and whole texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.ends import EndSet, HostEnds
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.semantics.sizing import Aim, Leading, SizedTier, TierSpec
from tdsl.semantics.tiered import Weaver, connect_braces_text, leading_ports_suffix, switch_index_expression

G = 10**9
AT = SourceSpan(SourceFile("s.fab", "s"), 0, 1)
ORIGIN = Origin(AT)


def tier(name: str, per: int, instances: int, count: int, links: int = 0, groups: int = 1, **more: object) -> SizedTier:
    """A tier: children of an instance, instances, switches of one, links up of each."""
    model = DeviceModel(name.upper(), "switch", "", (), (), (), (), {}, ORIGIN)
    at = SourceSpan(SourceFile("t.fab", name), 0, len(name))
    spec = TierSpec(name, "x", per, model, count, Aim("", Fraction(1)), at, **more)  # type: ignore[arg-type]
    return SizedTier(spec, per, instances, count, 0, links, groups)


def ends(hosts: tuple[Axis, ...], ports: tuple[Axis, ...], name: str = "host", first: int = 0) -> EndSet:
    """Ports ``nic`` of hosts."""
    size = 1
    for a in ports:
        size *= a.size
    blank = ("",) * size
    nic = PortClass("nic", ports, 0, 400 * G, (), (0,) * size, "", (0,) * size, blank, blank, (), 1, ORIGIN)
    return EndSet(((name, hosts),), DeviceModel("H", "host", "", (nic,), (), (), (), {}, ORIGIN), nic, AT, first)


def woven(sets: tuple[EndSet, ...], tiers: list[SizedTier], rails: int = 0, planes: int = 0, pods: int = 0) -> list[str]:
    """The texts of all statements."""
    return [line.text for line in Weaver(HostEnds(sets, AT, rails, planes), tiers, pods, lambda base: base).lines()]


# ---------------------------------------------------------------- which switch


def values(s: EndSet) -> Iterator[tuple[dict[str, int], int, tuple[int, ...]]]:
    """Index variables of each end, the number of its host among all, and its place along each axis of the class, from 0."""
    names = ["h"] if len(s.axes) == 1 else [f"h{k}" for k in range(len(s.axes))]
    for flat, host in enumerate(product(*(range(a.low, a.high + 1) for a in s.axes))):
        for port in product(*(range(a.low, a.high + 1) for a in s.ports.axes)):
            places = tuple(p - a.low for p, a in zip(port, s.ports.axes, strict=True))
            yield dict(zip(names, host, strict=True)) | dict(zip("ABCD", port, strict=False)), flat + s.first, places


def met(line: str, known: dict[str, int]) -> list[tuple[str, int]]:
    """The far side of a connect: each name with its index, 0 where there is none."""
    side = line.partition(" to ")[2].partition(" {")[0]
    parts = re.findall(r"([a-z]+)(?:\[([^\]]*)\])?(?:\.|$)", side)
    return [(name, eval(index, {}, known) if index else 0) for name, index in parts]


def flat_number(places: tuple[int, ...], axes: tuple[Axis, ...]) -> int:
    out = 0
    for p, a in zip(places, axes, strict=True):
        out = out * a.size + p
    return out


def rename(known: dict[str, int], rails: int, planes: int, axes: int) -> dict[str, int]:
    """The index variables of the ports by the names that they have."""
    names = ["i", "j", "k", "l"][:axes]
    if rails and axes:
        names[0] = "r"
    if planes and axes:
        names[-1] = "p"
    return {dict(zip("ABCD", names, strict=False)).get(k, k): v for k, v in known.items()}


@pytest.mark.parametrize("seed", range(120))
def test_the_switch_of_each_end(seed: int) -> None:
    """Hosts fill instance by instance; the ends of all hosts take the switches of an instance, or of a rail of it, in turn."""
    rng = Random(seed)
    rails, planes, pods = rng.choice([0, 0, 2, 3]), rng.choice([0, 0, 2]), rng.choice([0, 0, 0, 2])
    per = rng.randint(1, 4)
    sizes = [rng.randint(1, 3)] if pods else [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
    instances = [1]
    for n in reversed(sizes):
        instances.insert(0, instances[0] * n)
    if pods:
        instances[0] = pods * rng.randint(1, 3)
    count = rng.randint(1, 3) * max(1, rails)
    names = [*["leaf", "mid", "top"][: len(instances) - 1], "core"]
    tiers = [tier(n, per if i == 0 else sizes[i - 1], instances[i], count if i == 0 else 2, 1) for i, n in enumerate(names)]
    total = per * instances[0]
    ports = [Axis(rng.randint(0, 1), rng.randint(1, 3)) for _ in range(rng.randint(0 if not rails + planes else 1, 2))]
    if rails and planes and len(ports) < 2:
        ports.append(Axis(0, 1))
    if rails:
        ports[0] = Axis(ports[0].low, rails)
    if planes:
        ports[-1] = Axis(ports[-1].low, planes)
    shape = tuple(ports)
    cut = rng.randint(1, total)
    if total % 2 == 0 and rng.random() < 0.3:
        sets = (ends((Axis(1, 2), Axis(0, total // 2)), shape),)
    elif cut < total:
        sets = (ends((Axis(rng.randint(0, 1), cut),), shape), ends((Axis(0, total - cut),), shape, "more", cut))
    else:
        sets = (ends((Axis(rng.randint(0, 1), total),), shape),)
    lines = [t for t in woven(sets, tiers, rails, planes, pods) if t.startswith("connect ") and ".nic" in t]
    assert len(lines) == len(sets)
    for s, line in zip(sets, lines, strict=True):
        inner = shape[:-1] if planes else shape
        load = flat_number(tuple(a.size - 1 for a in inner), inner) + 1
        for known, host, place in values(s):
            kept = place[:-1] if planes else place
            end = flat_number(kept, inner)
            if rails:
                many, each = count // rails, load // rails
                at = rails * ((host * each + end % each) % many) + kept[0]
            else:
                at = (host * load + end) % count
            group = host // per
            expected = [("plane", place[-1])] if planes else []
            if pods:
                in_pod = total // pods
                expected += [("pod", host // in_pod), ("leaf", count * (host % in_pod // per) + at)]
            else:
                path, left = [], group
                for name, size in zip(names, sizes, strict=False):
                    path.insert(0, (name, left % size))
                    left //= size
                expected += [*path, ("leaf", at)]
            assert met(line, rename(known, rails, planes, len(shape))) == expected, (line, known)


def test_ends_in_turn() -> None:
    """Link by link over the switches; the host counts where its links do not go round evenly."""
    for load, over in product(range(1, 7), range(1, 7)):
        text = switch_index_expression("h", "e", load, over)
        assert [eval(text, {}, {"h": h, "e": e}) for h in range(5) for e in range(load)] == [k % over for k in range(5 * load)]
    assert (
        switch_index_expression("h", "i + 1", 4, 2) == "(i + 1) % 2"
        and switch_index_expression("h", "i", 4, 2) == "i % 2"
        and switch_index_expression("h", "i", 1, 2) == "h % 2"
    )


# ---------------------------------------------------------------- whole texts

NIC2 = ends((Axis(0, 8),), (Axis(0, 2),))
TWO = [tier("leaf", 4, 2, 1, 4), tier("spine", 2, 1, 2)]
RAILS = [tier("leaf", 4, 2, 2, 4), tier("spine", 2, 1, 2)]


@pytest.mark.parametrize(
    ("sets", "tiers", "more", "expected"),
    [
        ((NIC2,), [tier("leaf", 8, 1, 1)], {}, ["switch leaf[1]: LEAF", "connect host[h].nic[i] to leaf[0]"]),
        ((NIC2,), [tier("leaf", 8, 1, 2)], {}, ["switch leaf[2]: LEAF", "connect host[h].nic[i] to leaf[i]"]),
        ((NIC2,), TWO, {},
         ["group leaf[2] {\nswitch leaf: LEAF\n}", "switch spine[2]: SPINE", "connect host[h].nic[i] to leaf[h // 4].leaf",
          "connect leaf[*].leaf to spine[*] spread x 4"]),
        ((NIC2,), RAILS, {"rails": 2},
         ["group leaf[2] {\nswitch leaf[2]: LEAF\n}", "switch spine[2]: SPINE",
          "connect host[h].nic[r] to leaf[h // 4].leaf[r]", "connect leaf[*].leaf[*] to spine[*] spread x 4"]),
        ((NIC2,), TWO, {"planes": 2},
         ["plane plane[2] {\ngroup leaf[2] {\nswitch leaf: LEAF\n}\nswitch spine[2]: SPINE\n}",
          "connect host[h].nic[p] to plane[p].leaf[h // 4].leaf",
          "connect plane[p].leaf[*].leaf to plane[p].spine[*] spread x 4"]),
        ((NIC2,), [tier("leaf", 2, 4, 1, 4), tier("pod", 2, 2, 1, 3), tier("top", 2, 1, 2)], {},
         ["group pod[2] {\ngroup leaf[2] {\nswitch leaf: LEAF\n}\nswitch pod[1]: POD\n}", "switch top[2]: TOP",
          "connect host[h].nic[i] to pod[h // 4].leaf[h // 2 % 2].leaf",
          "connect pod[p].leaf[*].leaf to pod[p].pod[*] spread x 4", "connect pod[*].pod[*] to top[*] spread x 3"]),
        ((NIC2,), [tier("leaf", 2, 4, 1, 4), tier("spine", 4, 1, 2)], {"pods": 2},
         ["group pod[2] {\nswitch leaf[2]: LEAF\n}", "switch spine[2]: SPINE",
          "connect host[h].nic[i] to pod[h // 4].leaf[h % 4 // 2]", "connect pod[*].leaf[*] to spine[*] spread x 4"]),
        ((NIC2,), [tier("leaf", 4, 2, 2, 4), tier("spine", 2, 1, 6, 3, 2), tier("core", 6, 1, 3)], {"rails": 2},
         ["group leaf[2] {\nswitch leaf[2]: LEAF\n}", "group rail[2] {\nswitch spine[3]: SPINE\n}", "switch core[3]: CORE",
          "connect host[h].nic[r] to leaf[h // 4].leaf[r]", "connect leaf[*].leaf[r] to rail[r].spine[*] spread x 4",
          "connect rail[*].spine[*] to core[*] spread x 3"]),
        ((ends((Axis(0, 4),), (Axis(0, 2),)), ends((Axis(0, 4),), (Axis(0, 2),), "more", 4)),
         [tier("leaf", 1, 8, 1, 2), tier("spine", 8, 1, 2)], {},
         ["group leaf[8] {\nswitch leaf: LEAF\n}", "switch spine[2]: SPINE", "connect host[h].nic[i] to leaf[(h)].leaf",
          "connect more[h].nic[i] to leaf[(h + 4)].leaf", "connect leaf[*].leaf to spine[*] spread x 2"]),
        ((NIC2,), [tier("leaf", 1, 8, 1, 2), tier("spine", 8, 1, 2)], {},
         ["group leaf[8] {\nswitch leaf: LEAF\n}", "switch spine[2]: SPINE", "connect host[h].nic[i] to leaf[h].leaf",
          "connect leaf[*].leaf to spine[*] spread x 2"]),
    ],
)  # fmt: skip
def test_all_statements(sets: tuple[EndSet, ...], tiers: list[SizedTier], more: dict[str, int], expected: list[str]) -> None:
    """Groups and switches, hosts to the first tier, then each tier to the one above it."""
    assert woven(sets, tiers, **more) == expected


def test_names_settings_and_parts_of_tiers() -> None:
    """The names of switches, their settings, the ports that lead down and up, cables, rates and bundles."""
    down, up = Leading("d[1..4]", 4, 400 * G, "200Gbps"), Leading("u", 4, 800 * G, "400Gbps")
    tiers = [
        tier("rack", 4, 2, 2, 4, switches="tor", settings="split p 2; nos sonic", down=down, up=up),
        tier("spine", 2, 1, 2, down=Leading("q", 8, 200 * G, "100Gbps"), cable="AOC carries 2", bundle="bundle 2"),
    ]
    assert woven((NIC2,), tiers, rails=2) == [
        "group rack[2] {\nswitch tor[2]: RACK { split p 2; nos sonic }\n}",
        "switch spine[2]: SPINE",
        "connect host[h].nic[r] to rack[h // 4].tor[r].d[1..4] { rate 200Gbps }",
        "connect rack[*].tor[*].u to spine[*].q spread x 4 { rate 100Gbps; cable AOC carries 2; bundle 2 }",
    ]


def test_places_of_statements() -> None:
    """Declarations stand at the top tier, hosts at the first, links at the upper tier."""
    tiers = [tier("leaf", 2, 4, 1, 4), tier("pod", 2, 2, 1, 3), tier("top", 2, 1, 2)]
    for planes, places in ((0, ["top", "top", "leaf", "pod", "top"]), (2, ["top", "leaf", "pod", "top"])):
        weaver = Weaver(HostEnds((NIC2,), AT, 0, planes), tiers, 0, lambda base: base)
        assert [line.span.text for line in weaver.lines()] == places


def test_braces_of_links() -> None:
    """The rate of the side whose ports are the slower ones; nothing where nothing is said."""
    plain, a, b = (Leading("x", 4, 300, at) for at in ("", "3Gbps", "5Gbps"))
    slow = Leading("y", 4, 200, "9Gbps")
    t = tier("t", 1, 1, 1)
    assert [connect_braces_text(t), connect_braces_text(t, None), connect_braces_text(t, plain), connect_braces_text(t, a, None), connect_braces_text(t, plain, b)] == [
        "", "", "", " { rate 3Gbps }", " { rate 5Gbps }",
    ]  # fmt: skip
    assert connect_braces_text(t, a, slow) == connect_braces_text(t, slow, a) == " { rate 9Gbps }"
    assert (
        connect_braces_text(tier("t", 1, 1, 1, cable="C"), None) == " { cable C }"
        and connect_braces_text(tier("t", 1, 1, 1, bundle="bundle 3")) == " { bundle 3 }"
    )
    assert [leading_ports_suffix(None), leading_ports_suffix(plain)] == ["", ".x"]
