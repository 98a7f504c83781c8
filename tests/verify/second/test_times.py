"""Delays and times of collective operations by the second opinion: against all simple paths, and by formulas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random

import networkx
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.second import times
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, torus

LIMITS = Limits()


def stated(b: Builder, model: DeviceModel, ns: int | None) -> DeviceModel:
    """A model that states a latency in nanoseconds, or none."""
    if ns is not None:
        made = replace(model, facts={"latency": Quantity(Fraction(ns, 10**9), TIME)})
        b.models[b.models.index(model)] = model = made
    return model


def cable(b: Builder, metres: int, a: int, z: int) -> None:
    """A cable with a length of its own, by a statement of its own."""
    b.connect("connect", length=Quantity(Fraction(metres), LENGTH))
    b.link(a, z)


def network(seed: int) -> Fabric:
    """Hosts with one or two links at switches in a random graph, with latencies and lengths that differ; parallel cables."""
    r = Random(seed)
    b = Builder("network")
    count = r.randint(2, 5)
    switches = [
        b.devices(f"sw{i}", stated(b, b.model("switch", f"SW{i}", {"p": 16}), r.randint(1, 900)), None) for i in range(count)
    ]
    hosts = [
        b.devices(f"node{i}", stated(b, b.model("host", f"NODE{i}", {"nic": 3}), r.choice((None, 1, 250))), None)
        for i in range(r.randint(2, 4))
    ]
    for s, t in combinations(switches, 2):
        for _ in range(r.choice((0, 1, 1, 2))):
            cable(b, r.randint(1, 300), b.free(s, 0), b.free(t, 0))
    for h in hosts:
        for s in r.sample(switches, r.choice((1, 1, 2))):
            cable(b, r.randint(1, 300), b.free(h, 0), b.free(s, 0))
    if seed % 3:  # storage is no unit, and what two hosts have between them is no path through switches
        storage = b.devices("storage", b.model("host", "STORE", {"nic": 1}), None, role="storage")
        cable(b, 1000, b.free(storage, 0), b.free(switches[0], 0))
        cable(b, 1, b.free(hosts[0], 0), b.free(hosts[1], 0))
    return b.build()


def ring(seed: int) -> Fabric:
    """Chips joined to each other, with latencies and lengths that differ, and a chord."""
    r = Random(seed)
    b = Builder("ring")
    count = r.randint(3, 6)
    chips = [
        b.devices(f"chip{i}", stated(b, b.model("chip", f"CHIP{i}", {"p": 4}), r.randint(1, 900)), None) for i in range(count)
    ]
    for i in range(count):
        cable(b, r.randint(1, 300), b.free(chips[i], 0), b.free(chips[(i + 1) % count], 0))
    cable(b, r.randint(1, 300), b.free(chips[0], 0), b.free(chips[2], 0))
    return b.build()


def by_all_paths(fabric: Fabric) -> Fraction | None:
    """Seconds: the greatest over pairs of ends of the least delay of any simple path. An end is a link of a host to a switch,
    or a chip that passes on what is not its own."""
    w = WiringGraph.whole(fabric)
    graph = fabric.graph()

    def own(device: int) -> Fraction:
        said = fabric.model_of(device).facts.get("latency")
        return Fraction(said.amount) if isinstance(said, Quantity) else Fraction(0)

    def wire(row: int) -> Fraction:
        said = fabric.statements[int(fabric.link_statement[row])].settings["length"]
        assert isinstance(said, Quantity)
        return Fraction(said.amount) * Fraction(49, 10**10)

    inner = graph.subgraph(d for d in graph if d in w.forwards)
    ends = [(d, Fraction(0)) for d in w.units if d in w.forwards]
    for a, z, row in graph.edges(keys=True):
        for one, other in ((a, z), (z, a)):
            if one in w.units and one not in w.forwards and other in w.forwards:
                ends.append((other, wire(row) + own(one)))
    found = []
    for (s, first), (t, last) in combinations(ends, 2):
        if s == t:
            found.append(first + last + own(s))
            continue
        paths = networkx.all_simple_edge_paths(inner, s, t)
        sums = [sum((wire(row) + own(z) for _, z, row in path), own(s)) for path in paths]
        if sums:
            found.append(first + min(sums) + last)
    return max(found, default=None)


@pytest.mark.parametrize("make", [network, ring])
def test_least_delays_of_the_farthest_ends(make: object) -> None:
    assert callable(make)
    different = set()
    for seed in range(60):
        fabric = make(seed)
        expected = by_all_paths(fabric)
        if expected is None:
            with pytest.raises(NoOpinion, match=r"^no two ends reach each other$"):
                times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
            continue
        answer = times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
        assert answer.lower == answer.upper == expected, seed
        different.add(expected)
    assert len(different) > 45


def leaves(
    own: object = Quantity(Fraction(1, 2), TIME), metres: object = 0, trunk: int = 1, hosts: int = 4, **given: int
) -> Builder:
    """Two leaves of a latency, with half of the hosts each and cables of a length; ``trunk`` links between the leaves."""
    b = Builder("leaves")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, **given), hosts)  # type: ignore[arg-type]
    model = b.model("switch", "SW", {"p": 16})
    if own is not None:
        model = b.models[-1] = replace(model, facts={"latency": own})
    leaf = b.devices("leaf", model, 2)
    b.connect("connect", length=Quantity(Fraction(metres), LENGTH))  # type: ignore[arg-type]
    for n in range(hosts):
        b.link(b.port(host, n), b.free(leaf, 2 * n // hosts))
    for _ in range(trunk):
        b.link(b.free(leaf, 0), b.free(leaf, 1))
    return b


def star(count: int, seconds: int | None, rates: tuple[int, ...] = (400,), **given: int) -> Fabric:
    """Hosts with one link each to a switch whose latency is in seconds; the rates, in Gbit/s, in turn."""
    b = Builder("star")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, **given), count)  # type: ignore[arg-type]
    model = b.model("switch", "SW", {"p": 16})
    if seconds is not None:
        model = b.models[-1] = replace(model, facts={"latency": Quantity(Fraction(seconds), TIME)})
    switch = b.devices("sw", model, 1)
    b.connect("connect", length=Quantity(Fraction(0), LENGTH))
    for n in range(count):
        b.link(b.port(host, n), b.port(switch, 0, "p", n), rate=rates[n % len(rates)] * GBPS)
    return b.build()


def takes(fabric: Fabric, gbit: int = 400) -> tuple[Fraction | float, Fraction | float, str]:
    """Bounds of an all-reduce of so much data, and the library."""
    asked = claim(fabric, "allreduce", args=(Quantity(Fraction(gbit * GBPS), SIZE),), report=True)
    found = times.allreduce_by_formulas(WiringGraph.whole(fabric), asked, LIMITS)
    return found.lower, found.upper, found.by


@pytest.mark.parametrize(
    ("count", "seconds", "least"),
    [
        # The data takes 1 s over a link. A ring: 2(n-1) steps, and 2(n-1)/n of the data.
        (2, 0, Fraction(1)),
        (2, 1, Fraction(3)),
        (3, 0, Fraction(4, 3)),
        (3, 1, 4 + Fraction(4, 3)),
        (5, 0, Fraction(8, 5)),
        # Recursive halving: of p = 4 of n, 2 log2(p) steps and 2(p-1)/p of the data; with n > p two steps with all of it.
        (4, 1, 4 + Fraction(3, 2)),
        (4, 3, 12 + Fraction(3, 2)),
        (5, 1, 6 + Fraction(7, 2)),
        (6, 1, 6 + Fraction(7, 2)),
        (7, 2, 12 + Fraction(7, 2)),
        (8, 1, 6 + Fraction(7, 4)),
        (9, 1, 8 + Fraction(15, 4)),
    ],
)
def test_allreduce_at_one_switch(count: int, seconds: int, least: Fraction) -> None:
    assert takes(star(count, seconds)) == (least, least, "z3")


@pytest.mark.parametrize(
    ("trunk", "half", "least"),
    [
        (1, Fraction(0), Fraction(3, 2)),  # the ring
        (1, Fraction(1, 2), Fraction(7)),  # halving, at half of the rate: 4 s and 3/2 x 2 s; the ring takes 7.5 s
        (1, Fraction(1, 8), Fraction(3)),  # the ring: 6/4 s and 3/2 s
        (2, Fraction(1, 8), Fraction(5, 2)),  # halving: 4/4 s and 3/2 s
        (3, Fraction(1, 8), Fraction(5, 2)),  # no share is more than all
    ],
)
def test_allreduce_over_a_bisection(trunk: int, half: Fraction, least: Fraction) -> None:
    """Four hosts at two leaves, with ``half`` of a step at each leaf."""
    fabric = leaves(Quantity(half, TIME), trunk=trunk).build()
    assert takes(fabric) == (least, least, "z3")


@pytest.mark.parametrize(
    ("gpus", "scaleup", "seconds", "least"),
    [
        # Two hosts of two GPUs that share 400 Gbit/s: four with 200 Gbit/s each, 2 s for all data.
        (2, False, 0, Fraction(3)),
        (2, False, 1, Fraction(7)),
        # Inside at 100 Gbit/s: 2 x 1/2 x 4 s, then 2 steps and half of the data by each GPU, 1 s.
        (2, True, 0, Fraction(3)),
        (2, True, 2, Fraction(9)),
        # Three GPUs: 2 x 2/3 x 4 s inside; then 2 steps and a third of the data by each GPU at 400/3 Gbit/s, 1 s.
        (3, True, 5, 10 + Fraction(16, 3) + 1),
        (1, True, 1, Fraction(3)),
    ],
)
def test_allreduce_of_hosts_with_several_accelerators(gpus: int, scaleup: bool, seconds: int, least: Fraction) -> None:
    assert takes(star(2, seconds, accelerators=gpus, scaleup=scaleup))[0] == least


def test_allreduce_of_hosts_that_differ() -> None:
    """Hosts of two and of four GPUs: six, at 100 Gbit/s. No ring of hosts is asked where they have different numbers."""
    b = Builder("mixed")
    hosts = [b.devices(f"node{n}", b.model("host", f"NODE{n}", {"nic": 1}, accelerators=n, scaleup=True), None) for n in (2, 4)]
    model = b.model("switch", "SW", {"p": 16})
    model = b.models[-1] = replace(model, facts={"latency": Quantity(Fraction(9), TIME)})
    switch = b.devices("sw", model, 1)
    b.connect("connect", length=Quantity(Fraction(0), LENGTH))
    for h in hosts:
        b.link(b.port(h, 0), b.free(switch, 0))
    assert takes(b.build())[0] == 6 * 9 + Fraction(7, 2) * 4


def test_allreduce_of_chips_in_a_ring() -> None:
    """Four chips with two links of 400 Gbit/s each: 3/2 of the data at 800 Gbit/s."""
    assert takes(torus(4).build())[:2] == (Fraction(3, 4), float("inf"))
