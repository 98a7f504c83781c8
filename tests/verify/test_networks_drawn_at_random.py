"""Planes, reachability, oversubscription and devices without links on small networks, by their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import networkx as nx
import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, PropertyFault, checks_by_name
from tdsl.verify.checks.oversubscription import oversubscription_by_set
from tests.fabrics import GBPS, Builder, Selector, claim, multiplane, random_fabric, random_layers, selector, torus
from tests.harness import each


def judge(view: View, check: str, **given: Any) -> Judgement:
    return checks_by_name()[check].judge(view, claim(view.fabric, check, **given) if given else None)


def said(faults: tuple[PropertyFault, ...]) -> list[tuple[Any, ...]]:
    """Every fault: place, text, number, labels, help."""
    return [(x.at and x.at.span.text, x.message, x.count, [(s.text, words) for s, words in x.labels], x.help) for x in faults]


def statement(f: Fabric, link: int) -> str:
    return f.statements[int(f.link_statement[link])].origin.span.text


def declared(f: Fabric, device: int) -> str:
    return f.set_of(device).origin.span.text


def network(view: View) -> nx.MultiGraph:
    """The switches of a view and the links between two of them, each by its number."""
    f, g = view.fabric, nx.MultiGraph()
    g.add_nodes_from(range(f.device_count))
    for link in view.rows.tolist():
        a, b = int(f.device_a[link]), int(f.device_b[link])
        if f.is_switch[a] and f.is_switch[b]:
            g.add_edge(a, b, key=link)
    return g


def several(rng: Random, f: Fabric) -> View:
    """A view of some devices, with all their links."""
    part = sorted(rng.sample(range(f.device_count), rng.randint(1, f.device_count)))
    return View.part(f, FabricElement("part", np.array(part)), True)


# ---------------------------------------------------------------- planes


def planes(rng: Random) -> Fabric:
    """Up to three planes of switches, and switches outside them in groups; wired mostly within a plane, by three statements."""
    b = Builder("planes")
    model = b.model("switch", "SW", {"p": 80})
    count, size = rng.randint(1, 3), rng.randint(1, 3)
    inner = b.devices("site.plane pl.sw", model, 1, count, size)
    outer = b.devices("core", model, rng.randint(1, 3))
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 1)
    for i in range(3):
        b.connect(f"connect {i}")
    b.link(b.port(node, 0, "nic", 0), b.free(inner, 0), statement=0)
    b.link(b.port(node, 0, "nic", 1), b.free(inner, count * size - 1), statement=0)
    apart = rng.random() < 0.5
    for _ in range(rng.randint(3, 12)):
        plane, word = rng.randrange(count), rng.random()
        x, y = (plane * size + rng.randrange(size) for _ in range(2))
        by = rng.randrange(3)
        if word < 0.4 and x != y:
            b.link(b.free(inner, x), b.free(inner, y), statement=by)
        elif word < 0.8:
            b.link(b.free(inner, x), b.free(outer, rng.randrange(outer.count)), statement=by)
        elif word < 0.9 and not apart:
            y = rng.randrange(count * size)
            if x != y:
                b.link(b.free(inner, x), b.free(inner, y), statement=by)
    return b.build()


def plane(f: Fabric, device: int) -> str:
    """`site[0].pl[1]` of `site[0].pl[1].sw[2]`."""
    return f.device_path(device).rpartition(".")[0]


def faults_of_planes(view: View, mixed: list[set[int]]) -> Iterator[tuple[Any, ...]]:
    """Statements with links from plane to plane; without these, those that tie an outer switch to a plane that the network
    around it has not most links to."""
    f = view.fabric
    trunks = [x for x in view.rows.tolist() if f.is_switch[f.device_a[x]] and f.is_switch[f.device_b[x]]]
    of = {x: (int(f.plane[f.device_a[x]]), int(f.plane[f.device_b[x]])) for x in trunks}
    crossing = [x for x in trunks if min(of[x]) >= 0 and of[x][0] != of[x][1]]
    wrong = crossing
    if not crossing:
        for part in mixed:
            ties = [x for x in trunks if int(f.device_a[x]) in part and (of[x][0] < 0) != (of[x][1] < 0)]
            tally = Counter(max(of[x]) for x in ties)
            most = min(tally, key=lambda p: (-tally[p], p))
            wrong = wrong + [x for x in ties if max(of[x]) != most]
    for number in sorted({int(f.link_statement[x]) for x in wrong}):
        links = sorted(x for x in wrong if f.link_statement[x] == number)
        a, b = int(f.device_a[links[0]]), int(f.device_b[links[0]])
        if crossing:
            ends = f.port_path(int(f.link_a[links[0]])), f.port_path(int(f.link_b[links[0]]))
            more = f" ({len(links)} links do)" if len(links) > 1 else ""
            text = f"{ends[0]} to {ends[1]} joins {plane(f, a)} and {plane(f, b)}{more}"
            yield statement(f, links[0]), text, len(links), [], "keep both ends of a link in one plane"
        else:
            inner, outer = (a, b) if f.plane[a] >= 0 else (b, a)
            name = f.device_name(outer)
            text = f"{name} joins {plane(f, inner)} to another plane"
            labels = [(declared(f, outer), f"{name} belongs to no plane")]
            yield statement(f, links[0]), text, len(links), labels, "give each plane a switch of its own"


def planes_agree(seed: int) -> None:
    rng = Random(seed)
    f = planes(rng)
    for view in (View.whole(f), several(rng, f)):
        found = judge(view, "plane_isolation")
        g = network(view)
        inside = [d for d in range(f.device_count) if view.devices[d] and f.plane[d] >= 0]
        count = len({int(f.plane[d]) for d in inside})
        if count < 2:
            reason = "there is only one plane" if count else "the design has no planes"
            assert (found.status, found.reason) == ("skipped", reason)
            continue
        parts = sorted(nx.connected_components(g), key=min)
        mixed = [part for part in parts if len({int(f.plane[d]) for d in part if f.plane[d] >= 0}) > 1]
        if not mixed:
            assert (found.status, found.value, found.text) == ("proved", True, f"{count} planes, none joined to another")
            continue
        assert said(found.faults) == list(faults_of_planes(view, mixed))
        way = found.witness["path"]
        number = {f.device_name(d): d for d in range(f.device_count)}
        nodes = [number[name] for name in way]
        assert all(g.has_edge(x, y) for x, y in pairwise(nodes)) and set(nodes) <= mixed[0]
        on = [int(f.plane[d]) for d in nodes]
        assert min(on[0], on[-1]) >= 0 and on[0] != on[-1] and all(p < 0 for p in on[1:-1])
        ends = [plane(f, nodes[0]), plane(f, nodes[-1])]
        assert found.witness["planes"] == ends
        assert (found.status, found.value) == ("refuted", False)
        assert found.text == f"{ends[0]} and {ends[1]} are joined: {' - '.join(way)}"


def test_planes() -> None:
    each(range(120), planes_agree)


# ---------------------------------------------------------------- reachability


def reached(view: View, ports: bool) -> dict[int, set[int]]:
    """By endpoint (device, or port of one) the networks of switches that it is connected to, each by its lowest switch, or for
    a link between two hosts a number of its own."""
    f = view.fabric
    lowest = {d: min(part) for part in nx.connected_components(network(view)) for d in part}
    units = set(view.units.tolist())
    out: dict[int, set[int]] = {} if ports else {u: set() for u in units}
    for link in view.rows.tolist():
        ends = [(int(f.device_a[link]), int(f.link_a[link])), (int(f.device_b[link]), int(f.link_b[link]))]
        for (d, p), (e, _) in (ends, ends[::-1]):
            if d in units:
                out.setdefault(p if ports else d, set()).add(lowest[e] if f.is_switch[e] else -1 - link)
    return out


def reachability_agrees(seed: int) -> None:
    """Of the first endpoint that does not reach all others: those connected as it is, and those that reach none of these."""
    rng = Random(seed)
    f = random_fabric(seed, rng.randint(2, 6), rng.randint(2, 8), rng.randint(1, 2), rng.randint(0, 6), rng.randint(0, 2)).build()
    ports = rng.random() < 0.5
    view = View.whole(f)
    found = judge(view, "reachability", **({"of": (Selector("ports", "ports", ()),)} if ports else {}))
    at = reached(view, ports)
    lost = sorted(u for u in view.units.tolist() if not view.degree[u])
    linked = sorted(u for u in at if at[u])
    show, device = (f.port_path, lambda x: int(f.port_device[x])) if ports else (f.device_name, lambda x: x)
    for one in linked:
        near = [x for x in linked if at[x] & at[one]]
        if len(near) < len(linked):
            few, many = sorted(([x for x in near if at[x] == at[one]], [x for x in linked if x not in near]), key=len)
            break
    else:
        if lost:
            names = [f.device_name(d) for d in lost[:4]]
            assert (found.status, found.text) == ("refuted", f"{len(lost)} of {len(view.units)} hosts have no link: {names[0]}")
            assert found.witness == {"from": names[0], "without_link": names}
            text = f"{names[0]} reaches no other host: it has no link"
            assert said(found.faults) == [(declared(f, lost[0]), text, len(lost), [], "connect it, or leave it out with `omit`")]
            assert found.faults[0].unless == "isolated"
            return
        networks = len({x for one in at.values() for x in one})
        text = f"all {len(view.units)} hosts reach each other"
        if networks > 1 and not ports:
            text += f"; {networks} separate networks, so not every port reaches every port"
        assert (found.status, found.value, found.text) == ("proved", True, text)
        return
    here, there = show(few[0]), [show(x) for x in many[:3]]
    assert (found.status, found.value, found.text) == ("refuted", False, f"{here} does not reach {there[0]}")
    assert found.witness == {"from": here, "to": there[0], "parts": [len(few), len(many)]}
    rest = f" and {len(many) - 3} more" if len(many) > 3 else ""
    first = next(x for x in range(f.link_count) if device(few[0]) in (f.device_a[x], f.device_b[x]))
    labels = [
        (statement(f, first), f"{f.device_name(device(few[0]))} is attached here"),
        (declared(f, device(many[0])), f"{there[0]} is declared here"),
    ]
    help = "connect the switches of both parts" + (", or ask for `reachability` between hosts" if ports else "")
    text = f"{here} reaches none of {', '.join(there)}{rest}: no path of switches joins the two parts"
    assert said(found.faults) == [(declared(f, device(few[0])), text, len(few), labels, help)]


def test_reachability() -> None:
    each(range(200), reachability_agrees)


def test_a_device_beside_the_hosts_that_reaches_none_of_them() -> None:
    """Of several the first; one that has no link at all is not looked at."""
    b = Builder("store")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 2)
    plain = b.model("host", "STORE", {"nic": 1})
    store = b.devices("store", plain, 4, role="storage")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 2)
    for host, row, to in ((node, 0, 0), (node, 1, 0), (store, 1, 0), (store, 2, 1), (store, 3, 1)):
        b.link(b.free(host, row), b.free(sw, to))
    f = b.build()
    found = judge(View.whole(f), "reachability")
    assert (found.status, found.text, found.witness) == ("refuted", "store2 reaches no accelerator host", {"from": "store2"})
    help = "cable it to switches that hosts are connected to"
    assert said(found.faults) == [(declared(f, store.first), "store2 reaches no accelerator host", 1, [], help)]


def test_ports_are_judged_where_they_are_asked_for_alone() -> None:
    """What names no device is not for that the ports; a design without devices that send has nothing to judge."""
    f = multiplane(2, 4, 2, 2).build()
    for of, status in (
        (Selector("ports", "ports", ()), "refuted"), (Selector("leaf[9]", "switch", ()), "proved"),
        (Selector("ports", "switch", selector(f, "pl.leaf").elements), "proved"),
    ):  # fmt: skip
        assert judge(View.whole(f), "reachability", of=(of,)).status == status
    b = Builder("panels")
    b.devices("pan", b.model("panel", "PAN", {"front": 2}), 2)
    b.connect()
    found = judge(View.whole(b.build()), "reachability")
    assert (found.status, found.reason) == ("skipped", "there is no device that traffic could begin at")


# ---------------------------------------------------------------- oversubscription


def layers(rng: Random, seed: int) -> Fabric:
    """Hosts below tiers of switches, some planned and some spare."""
    b = random_layers(seed)
    if rng.random() < 0.4:  # beside all others, where no tier is known
        store = b.devices("store", b.model("host", "STORE", {"nic": 2}), 1, role="storage")
        isle = b.devices("isle", b.models[0], 2)
        b.link(b.free(store, 0), b.free(isle, 0))
        b.link(b.free(isle, 0), b.free(isle, 1))
    for d in rng.sample(range(len(b.port_base) - 1), rng.choice((0, 0, 1, 2, 3))):
        b.omit(d)
    f = b.build()
    if rng.random() < 0.5:
        f = replace(
            f, sets=tuple(replace(s, settings={"spares": 1} if rng.random() < 0.5 and s.count > 1 else {}) for s in f.sets)
        )
    return replace(f, absent_reserved=np.array([rng.random() < 0.7 for _ in f.absent_a], dtype=np.bool_))


def rate(bps: int) -> str:
    return "0bps" if not bps else f"{bps // GBPS}Gbps" if bps < 1000 * GBPS else f"{bps / GBPS / 1000:g}Tbps"


def loads(f: Fabric, active: bool) -> tuple[list[int], list[int]]:
    """What is attached below every device, built or planned with its ports kept, and what is cabled above it."""
    spare = [active and bool(f.spares[d]) for d in range(f.device_count)]
    below, above = [0] * f.device_count, [0] * f.device_count
    tier = [0 if f.is_end[d] else int(f.tier[d]) for d in range(f.device_count)]
    built = [(int(a), int(b), int(r), True) for a, b, r in zip(f.device_a, f.device_b, f.link_rate, strict=True)]
    planned = zip(f.absent_a, f.absent_b, f.absent_rate, f.absent_reserved, strict=True)
    for a, b, r, there in [*built, *((int(a), int(b), int(r), False) for a, b, r, kept in planned if kept)]:
        low, high = sorted((a, b), key=lambda d: tier[d])
        if tier[low] >= 0 and tier[low] != tier[high] and not spare[a] and not spare[b]:
            below[high] += r
            above[low] += r if there else 0
    return below, above


def oversubscription_agrees(seed: int) -> None:
    rng = Random(seed)
    f = layers(rng, seed)
    active = rng.random() < 0.5
    view = rng.choice((View.whole(f), several(rng, f)))
    at = selector(f, rng.choice(("leaf", "agg", "core"))) if rng.random() < 0.3 else None
    found = judge(view, "oversubscription", of_active=active, **({"at": (at,)} if at else {}))
    below, above = loads(f, active)
    named = {int(d) for e in at.elements for d in e.devices} if at else set(range(f.device_count))
    judged = [d for d in range(f.device_count) if view.core[d] and f.is_switch[d] and d in named]
    tiers = {int(f.tier[d]) for d in range(f.device_count) if f.is_switch[d] and above[d]}
    bare = [d for d in judged if int(f.tier[d]) in tiers and below[d] and not above[d]]
    upward = [d for d in judged if above[d]]
    if bare:
        name = f.device_name(bare[0])
        assert found.text == f"{name} has {rate(below[bare[0]])} below and no link above"
        assert (found.value, found.lower, found.upper, found.ratio) == (float("inf"), float("inf"), float("inf"), (1, 0))
        assert (found.status, found.witness, found.link_class) == ("proved", {"device": name}, "")
        assert [(s.text, words) for s, words in found.labels] == [(declared(f, bare[0]), "declared here")]
        return
    if not upward:
        assert (found.status, found.reason) == ("skipped", "no switch looked at has links to a tier above it")
        return
    worst = max(Fraction(below[d], above[d]) for d in upward)
    ways = sorted({(below[d], above[d]) for d in upward if Fraction(below[d], above[d]) == worst})
    down, up = ways[0]
    equal = [d for d in upward if (below[d], above[d]) == (down, up)]
    name = f.device_name(equal[0])
    assert (found.status, found.value, found.lower, found.upper) == ("proved", worst, worst, worst)
    assert found.ratio == (worst.numerator, worst.denominator)
    text = f"{worst.numerator}:{worst.denominator} at {name} ({rate(down)} below, {rate(up)} above, {found.link_class})"
    assert found.text == text
    assert found.link_class == class_above(f, equal[0])
    assert found.witness == {
        "device": name, "down_bps": down, "up_bps": up, "equal": len(equal), "set": f.set_of(equal[0]).path,
    }  # fmt: skip
    assert found.help == "add links upward, or attach less below"
    assert [(s.text, words) for s, words in found.labels] == [(declared(f, equal[0]), f"{name} is declared here")]


def class_above(f: Fabric, device: int) -> str:
    """The class of most links from a device upward; of several the first."""
    ends = [(int(a), int(b)) for a, b in zip(f.device_a, f.device_b, strict=True)]
    upward = [x for x, (a, b) in enumerate(ends) if device in (a, b) and f.tier[a + b - device] > f.tier[device]]
    tally = Counter(int(f.link_class[x]) for x in upward)
    return f.classes[min(tally, key=lambda c: (-tally[c], c))]


def test_oversubscription() -> None:
    each(range(200), oversubscription_agrees)


def sets_agree(seed: int) -> None:
    """The ratio of each declaration is what the check says of its devices; those without links above have none."""
    rng = Random(seed)
    f = layers(rng, seed)
    found = oversubscription_by_set(View.whole(f))
    above = loads(f, False)[1]
    for s in f.sets:
        rows = range(s.first, s.first + s.count)
        if s.kind == "switch" and any(above[d] and f.built[d] for d in rows):
            assert found.pop(s.index) == judge(View.whole(f), "oversubscription", at=(selector(f, s.path),))
    assert not found


def test_oversubscription_of_every_declaration() -> None:
    each(range(40), sets_agree)


def test_fabrics_without_tiers() -> None:
    view = View.whole(torus(3, 3).build())
    found = judge(view, "oversubscription")
    assert (found.status, found.reason) == ("skipped", "the fabric is direct: it has no tiers")
    assert oversubscription_by_set(view) == {}


def test_one_bit_a_second_is_counted() -> None:
    """Leaves of three kinds: two hosts below and one link above, one of each, and one host below and nothing above."""
    b = Builder("slow")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    model = b.model("switch", "SW", {"p": 9})
    kinds = [b.devices(f"leaf{x}", model, 1) for x in "abc"]
    spine = b.devices("spine", model, 1)
    for host, kind in enumerate((0, 0, 1, 2)):
        b.link(b.port(node, host), b.free(kinds[kind], 0), rate=1)
    for kind in (0, 1):
        b.link(b.free(kinds[kind], 0), b.free(spine, 0), rate=1)
    f = b.build()
    view = View.whole(f)
    assert {f.sets[i].name: found.ratio for i, found in oversubscription_by_set(view).items()} == {
        "leafa": (2, 1),
        "leafb": (1, 1),
    }
    found = judge(view, "oversubscription")
    assert (found.text, found.ratio) == ("leafc0 has 1bps below and no link above", (1, 0))
    found = judge(view, "oversubscription", at=(selector(f, "leafa"),))
    assert found.text == "2:1 at leafa0 (2bps below, 1bps above, leafa-spine)"
