"""Networks: what they say of their arcs, against plain dictionaries of these."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import gcd
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.network import CapacityPairs, Network
from tests.prove.networks import Rows, columns

SEEDS = range(40)


def drawn(seed: int) -> tuple[int, np.ndarray, Rows]:
    """Nodes, which of them forward, and arcs, some of them loops or parallel; in one of four of one capacity."""
    rng = Random(seed)
    nodes = rng.randint(3, 8)
    forwards = np.array([rng.random() < 0.6 for _ in range(nodes)])
    size = rng.randint(0, 25) if seed else 0
    return (
        nodes,
        forwards,
        [(rng.randrange(nodes), rng.randrange(nodes), 3 * rng.randint(1, 9) if seed % 4 else 6) for _ in range(size)],
    )


def read(net: Network) -> dict[tuple[int, int], int]:
    """Capacity by head and tail; the arcs have to be in this order."""
    keys = list(zip(net.head.tolist(), net.tail.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return dict(zip(keys, net.capacity.tolist(), strict=True))


def table(arcs: Rows) -> dict[tuple[int, int], int]:
    found: Counter[tuple[int, int]] = Counter()
    for tail, head, x in arcs:
        if tail != head:
            found[head, tail] += x
    return dict(sorted(found.items()))


@pytest.mark.parametrize("seed", SEEDS)
def test_arcs_of_a_network(seed: int) -> None:
    nodes, forwards, arcs = drawn(seed)
    net = Network.of(forwards, *columns(arcs))
    wanted = table(arcs)
    assert read(net) == wanted and net.forwards is forwards and (net.nodes, net.arcs) == (nodes, len(wanted))
    assert net.unit == (gcd(*wanted.values()) or 1)
    gain = [sum(x * ((h == v) - (t == v)) for (h, t), x in wanted.items()) for v in range(nodes)]
    assert net.balanced == (not any(gain))
    dense = net.matrix.toarray()
    assert {(h, t): int(dense[h, t]) * net.unit for h, t in zip(*np.nonzero(dense), strict=True)} == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_networks_made_of_arcs_and_of_networks(seed: int) -> None:
    """Links are arcs both ways; networks turned round, divided at what does not forward, contracted, with other capacities."""
    nodes, forwards, arcs = drawn(seed)
    a, b, capacity = columns(arcs)
    labels = (np.arange(nodes) // 2,)
    both = Network.both_ways(forwards, a, b, capacity, labels)
    every = table([*arcs, *((h, t, x) for t, h, x in arcs)])
    assert read(both) == every and both.labels is labels and both.balanced
    assert read(Network.of(forwards, a, b)) == table([(t, h, 1) for t, h, _ in arcs])
    links = sorted((h, t) for h, t in every if h < t)
    assert list(zip(both.head[both.links].tolist(), both.tail[both.links].tolist(), strict=True)) == links
    assert [links[i] for i in both.link.tolist()] == [(min(x), max(x)) for x in every]
    net = Network.of(forwards, a, b, capacity, labels)
    wanted, turned = table(arcs), net.turned()
    assert read(turned) == dict(sorted(((t, h), x) for (h, t), x in wanted.items()))
    assert turned.forwards is forwards and turned.labels is labels
    divided, order = net.divided()
    assert divided.nodes == 2 * nodes and divided.forwards.all()
    assert read(divided) == dict(sorted(((h if forwards[h] else h + nodes, t), x) for (h, t), x in wanted.items()))
    assert divided.tail.tolist() == net.tail[order].tolist() and (divided.head % nodes).tolist() == net.head[order].tolist()
    small = net.contracted(np.arange(nodes) % 3, 4)
    assert small.nodes == 4 and small.forwards.all()
    assert read(small) == table([(t % 3, h % 3, x) for (h, t), x in wanted.items()])
    other = net.with_capacity(net.capacity + 1)
    assert read(other) == {key: x + 1 for key, x in wanted.items()} and other.forwards is forwards
    assert net.same_arcs(Network.of(~forwards, *columns(arcs[::-1]))) and net.same_arcs(other) == (not wanted)


def pairs(found: CapacityPairs) -> dict[tuple[int, int], int]:
    keys = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return dict(zip(keys, found.capacity.tolist(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_links_between_units_and_transit_nodes(seed: int) -> None:
    rng = Random(seed)
    units = rng.randint(2, 5)
    nodes = units + rng.randint(1, 6)
    links = table([(rng.randrange(nodes), rng.randrange(nodes), rng.randint(1, 9)) for _ in range(rng.randint(1, 14))])
    made = Network.both_ways(np.arange(nodes) >= units, *columns((a, b, x) for (a, b), x in links.items()))
    net = Network(made.tail, made.head, made.capacity, made.forwards, (), 100 + np.arange(nodes), units, (30, 100, 45))
    links = {key: x for key, x in read(made).items() if key[0] < key[1]}
    assert net.units.tolist() == [*range(100, 100 + units)] and net.transit.tolist() == [*range(100 + units, 100 + nodes)]
    assert net.half == units // 2 and net.grain == 5
    assert pairs(net.access) == {(a, b - units): x for (a, b), x in links.items() if a < units <= b}
    assert pairs(net.trunks) == {(a - units, b - units): x for (a, b), x in links.items() if a >= units}
    assert pairs(net.loose) == {key: x for key, x in links.items() if key[1] < units}
    sends = [sum(x for key, x in links.items() if u in key) for u in range(units)]
    assert net.injection.tolist() == sends and net.full == min(
        Fraction(sum(sorted(sends)[units - units // 2 :])), Fraction(sum(sends), 2)
    )
    g = nx.Graph([("units" if a < units else a, b) for a, b in links if b >= units])
    far = nx.single_source_shortest_path_length(g, "units") if "units" in g else {}
    assert net.tier.tolist() == [far.get(t, -1) for t in range(units, nodes)]
