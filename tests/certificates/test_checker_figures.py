"""Figures that the checker counts, on random fabrics against their definitions."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import networkx as nx
import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import CHIP, HOST, SWITCH, cells, certificate, design, network, taken

Drawn = tuple[dict[str, Any], checker.CertifiedNetwork]


def drawn(seed: int, direct: bool = False) -> Drawn:
    """Hosts on random switches, some on several and some by two links; or chips that forward; a host may forward, too."""
    rng = random.Random(seed)
    ends = [f"h{i}" for i in range(rng.randrange(2, 6))]
    switches = [] if direct else [f"s{i}" for i in range(rng.randrange(1, 5))]
    devices = dict.fromkeys(ends, CHIP if direct else HOST) | dict.fromkeys(switches, SWITCH) | {"z": cells("host", role="store")}
    if not direct and rng.random() < 0.3:
        devices["h0"] = cells("host", forwards=True)
    places = ends if direct else switches
    links = [(u, w, 100) for u in ends for w in rng.choices(places, k=rng.randrange(1, 4)) if u != w]
    links += [(*rng.sample(places, 2), 100) for _ in range(len(places) + 1) if len(places) > 1]
    links += [("z", places[0], 100)]
    if rng.random() < 0.2:
        links.append((ends[0], ends[1], 100))
    made = design(devices, links)
    return made, network(made)


def answered(check: str, made: dict[str, Any], value: Fraction | int, shown: Any = None) -> None:
    """The value is verified, and others are refused with what it is, or with the number of paths that ``shown`` gives."""
    more = {"symmetries": []} if check not in ("oversubscription", "blast_radius") else {}

    def stated(figure: Fraction | int) -> dict[str, Any]:
        return certificate(check, value=str(figure) if figure.denominator > 1 else int(figure), **more)

    taken(stated(value), made)
    for wrong in {value + 1, value - 1, value + Fraction(1, 3), Fraction(0)} - {value}:
        if wrong >= 0 and (wrong.denominator == 1 or check != "blast_radius"):
            taken(stated(wrong), made, f"it is {shown(wrong) if shown else value}")


CASES = [(seed, direct) for direct in (False, True) for seed in range(16)]


@pytest.mark.parametrize(("seed", "direct"), CASES)
def test_distances_between_devices_that_units_are_connected_to(seed: int, direct: bool) -> None:
    made, net = drawn(seed, direct)
    passed = nx.Graph((x.a, x.b) for x in net.links if {x.a, x.b} <= net.forward)
    passed.add_nodes_from(net.forward)
    ports = [(u, u) for u in net.units & net.forward]
    for x in net.links:
        for u, d in ((x.a, x.b), (x.b, x.a)):
            if u in net.units and u not in net.forward and d in net.forward:
                ports.append((u, d))
    far = dict(nx.all_pairs_shortest_path_length(passed))
    pairs = [far[d][e] for u, d in ports for v, e in ports if u != v and e in far[d]]
    most = [far[d][e] for _, d in ports for _, e in ports if e in far[d]]
    if pairs:
        answered("mean_hops", made, Fraction(sum(pairs), len(pairs)))
    else:
        taken(certificate("mean_hops", value=0), made, "no two units reach each other")
    if most:
        answered("diameter", made, max(most))
    else:
        taken(certificate("diameter", value=0), made, "no two units reach each other")


def paths(net: checker.CertifiedNetwork, a: str, b: str, nodes: bool) -> int:
    """Paths between two units that share no link, or no device between them."""
    inner, whole = net.forward - {a, b}, nx.DiGraph()
    whole.add_nodes_from([(a, 1), (b, 0)])
    for d in inner:
        whole.add_edge((d, 0), (d, 1), capacity=1 if nodes else 1000)
    for (v, w), c in net.arcs().items():
        if v in (*inner, a) and w in (*inner, b):
            whole.add_edge((v, 1), (w, 0), capacity=1 if nodes else c)
    return int(nx.maximum_flow_value(whole, (a, 1), (b, 0)))


@pytest.mark.parametrize(("seed", "direct"), CASES)
def test_paths_that_share_no_link_or_device(seed: int, direct: bool) -> None:
    made, net = drawn(seed, direct)
    for check, nodes in (("edge_redundancy", False), ("node_redundancy", True)):
        least = min(paths(net, a, b, nodes) for a in net.units for b in net.units if a != b)
        answered(check, made, least, shown=lambda value, least=least: min(least, int(value) + 1))


def test_one_unit_of_an_orbit_is_compared_with_all_others() -> None:
    """Hosts on two leaves each; the third host has one link. Symmetries exchange leaves, and hosts with their leaves."""
    links = [("h1", "a"), ("h1", "b"), ("h2", "c"), ("h2", "d"), ("h3", "e"), *((leaf, s) for leaf in "abcde" for s in "st")]
    made = design(dict.fromkeys(("h1", "h2", "h3"), HOST) | dict.fromkeys("abcdest", SWITCH), links)
    turn = {"h1": "h2", "h2": "h1", "a": "c", "c": "a", "b": "d", "d": "b"}
    for check in ("edge_redundancy", "node_redundancy", "diameter", "mean_hops"):
        value: Any = {"diameter": 2, "mean_hops": 2}.get(check, 1)
        for symmetries in ([], [turn], [turn, {"s": "t", "t": "s"}]):
            taken(certificate(check, value=value, symmetries=symmetries), made)
        for wrong in ({"h1": "h3", "h3": "h1"}, {"h1": "h2", "h2": "h1"}, {"h1": "h3", "h3": "h1", "a": "e", "e": "a"}):
            taken(certificate(check, value=value, symmetries=[wrong]), made, "a symmetry changes the links")


@pytest.mark.parametrize("seed", range(16))
def test_oversubscription_of_random_tiers(seed: int) -> None:
    """Links below and above every switch, of other rates, with links to planned devices and within a tier."""
    rng = random.Random(seed)
    tier = {f"h{i}": 0 for i in range(4)} | {f"l{i}": 1 for i in range(3)} | {f"s{i}": 2 for i in range(2)} | {"x": None}
    devices = {d: cells("host" if t == 0 else "switch", tier=t, path=d) for d, t in tier.items()}
    devices["h0"]["kind"] = "chip"
    links = [(*rng.sample(list(tier), 2), rng.randrange(1, 9) * 10) for _ in range(9)]
    links = [x for x in links if tier[x[0]] or tier[x[1]]]
    links += [(f"l{i}", rng.choice(("s0", "s1")), 70) for i in range(rng.choice((2, 3, 3)))] + [("h1", "l0", 30)]
    some, tiers = ("l0", "l1", "s0", "x"), (None, 0, 1, 2)
    planned = [(rng.choice(some), rng.choice(tiers), rng.randrange(1, 5), rng.randrange(1, 4)) for _ in range(3)]
    made = design(devices, links)
    made["planned_links"]["rows"] = [list(row) for row in planned]
    below, above = dict.fromkeys(tier, 0), dict.fromkeys(tier, 0)
    for a, b, rate in links:
        low, high = tier[a], tier[b]
        if low is not None and high is not None and low != high:
            below[a if low > high else b] += rate
            above[b if low > high else a] += rate
    for d, t, rate, number in planned:
        if t is not None and tier[d] is not None and t < tier[d]:
            below[d] += rate * number
    switches = [d for d, t in tier.items() if t != 0]
    tops = {tier[d] for d in switches if above[d]}
    for at in (None, ["l0"], ["l0", "l1"], ["x", "s0", "l2"], ["h1", "l1"]):
        asked = [d for d in (switches if at is None else at) if tier[d] != 0]
        stated = certificate("oversubscription", **({} if at is None else {"at": at}))
        if any(below[d] and not above[d] and tier[d] in tops for d in asked):
            taken(stated | {"value": 1}, made, "a switch has no link above")
            continue
        ratios = [Fraction(below[d], above[d]) for d in asked if above[d]]
        if ratios:
            taken(stated | {"value": str(max(ratios))}, made)
            taken(stated | {"value": str(max(ratios) + Fraction(1, 10))}, made, f"it is {max(ratios)}")
        else:
            with pytest.raises(checker.Rejected, match=r"^malformed: ValueError: "):
                taken(stated | {"value": 0}, made)


@pytest.mark.parametrize(("seed", "direct"), CASES)
def test_ports_without_a_path_after_a_failure(seed: int, direct: bool) -> None:
    """The most ports of units that lose all others when one element fails, by trying each."""
    made, net = drawn(seed, direct)

    def ports(left: checker.CertifiedNetwork) -> dict[str, int]:
        """Ports of every unit from which another unit is reached."""
        passed = nx.Graph((x.a, x.b) for x in left.every if {x.a, x.b} <= left.forward)
        passed.add_nodes_from(left.forward)
        part = {d: i for i, c in enumerate(nx.connected_components(passed)) for d in c}
        ends = {*left.units, *left.others}
        found: list[tuple[str, Any]] = [(u, part[u]) for u in left.units if u in part]
        for x in left.every:
            for u, d in ((x.a, x.b), (x.b, x.a)):
                if u in left.units and u not in part:
                    found += [(u, part[d])] if d in part else [(u, frozenset((u, d)))] if d in ends else []
        out = dict.fromkeys(left.units, 0)
        for u, place in found:
            out[u] += any(v != u and p == place for v, p in found)
        return out

    def all_ports(whole: checker.CertifiedNetwork) -> dict[str, int]:
        linked = {d for x in whole.every for d in (x.a, x.b)}
        number = {u: sum(u in (x.a, x.b) for x in whole.every) for u in whole.units}
        return {u: (1 if u in linked else 0) if u in whole.forward else number[u] for u in whole.units}

    for of in (["s0", "s1"], ["h0", "h1"], [*net.fabric.devices], ["z"]):
        named = [d for d in of if d in net.fabric.devices]
        if named:
            most = 0
            for gone in named:
                left = ports(network(made, failed=checker.Element(frozenset({gone}), frozenset())))
                most = max(most, sum(max(n - left.get(u, 0), 0) for u, n in all_ports(net).items()))
            taken(certificate("blast_radius", value=most, of=named), made)
            for wrong in {most - 1, most + 1} - {-1}:
                taken(certificate("blast_radius", value=wrong, of=named), made, f"it is {most}")


@pytest.mark.parametrize(("seed", "direct"), CASES)
def test_units_that_reach_each_other(seed: int, direct: bool) -> None:
    """By a search for each pair, which passes what forwards only."""
    made, _ = drawn(seed, direct)
    rows = made["links"]["rows"][: -seed % 7 + 3 if seed % 3 == 0 else None]
    made["links"]["rows"] = rows[:-1] if seed % 5 == 0 else rows
    net = network(made)

    def reach(a: str, b: str) -> bool:
        passed = nx.DiGraph((v, w) for x in net.every for v, w in ((x.a, x.b), (x.b, x.a)) if v == a or v in net.forward)
        passed.add_nodes_from([a, b])
        return bool(nx.has_path(passed, a, b))

    linked = {d for x in net.every for d in (x.a, x.b)}
    units, others = [*net.units], [d for d in net.others if d in linked]
    pairs = [(a, b) for a in units for b in units if a < b]
    whole = all(reach(a, b) for a, b in pairs)
    stated = certificate("reachability", units=len(units), holds=True)
    why = "" if all(any(reach(d, u) for u in units) for d in others) else "a manager or storage device reaches no unit"
    why = "a unit has no link" if not linked >= net.units else why if whole else "some units do not reach each other"
    taken(stated, made, why)
    taken(stated | {"units": len(units) + 1}, made, "the number of units is another")
    for a, b in pairs:
        apart = stated | {"holds": False, "apart": [b, a]}
        taken(apart, made, f"{b} and {a} reach each other" if reach(a, b) else "")
    for wrong in (["z", units[0]], [units[0], "x"], [units[0], units[0]], None):
        taken(stated | {"holds": False} | ({"apart": wrong} if wrong else {}), made, "these are not two units")


def test_storage_that_reaches_no_unit_is_no_reachability() -> None:
    devices = {"h1": HOST, "h2": HOST, "z": cells("host", role="store"), "s": SWITCH, "t": SWITCH}
    stated = certificate("reachability", units=2, holds=True)
    for at, good in (("s", True), ("t", False)):
        made = design(devices, [("h1", "s"), ("h2", "s"), ("z", at)])
        taken(stated, made, "" if good else "a manager or storage device reaches no unit")
