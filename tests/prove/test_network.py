"""Networks: the columns that they keep, against plain dictionaries of their arcs."""

from __future__ import annotations

from collections import Counter, deque
from math import gcd
from random import Random

import numpy as np
import pytest

from tdsl.prove.network import CapacityPairs, Network

SEEDS = range(40)
Arcs = list[tuple[int, int, int]]


def column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def columns(arcs: Arcs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return column([x[0] for x in arcs]), column([x[1] for x in arcs]), column([x[2] for x in arcs])


def drawn(seed: int, equal: bool = False) -> tuple[int, np.ndarray, Arcs]:
    """Nodes, which of them forward, and arcs, some of them loops or parallel; of one capacity where they are ``equal``."""
    rng = Random(seed)
    nodes = rng.randint(3, 8)
    forwards = np.array([rng.random() < 0.6 for _ in range(nodes)])
    size = rng.randint(0, 25) if seed else 0
    arcs = [(rng.randrange(nodes), rng.randrange(nodes), 6 if equal else 3 * rng.randint(1, 9)) for _ in range(size)]
    return nodes, forwards, arcs


def read(net: Network) -> dict[tuple[int, int], int]:
    """The same of a network, whose arcs have to be in this order."""
    keys = list(zip(net.head.tolist(), net.tail.tolist(), strict=True))
    assert keys == sorted(set(keys))
    assert len(net.capacity) == len(keys)
    return dict(zip(keys, net.capacity.tolist(), strict=True))


def table(arcs: Arcs) -> dict[tuple[int, int], int]:
    """Capacity by head and tail, in order of these."""
    found: Counter[tuple[int, int]] = Counter()
    for tail, head, x in arcs:
        if tail != head:
            found[head, tail] += x
    return dict(sorted(found.items()))


@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_arcs_of_a_network(seed: int, equal: bool) -> None:
    nodes, forwards, arcs = drawn(seed, equal)
    tail, head, capacity = columns(arcs)
    labels = (np.arange(nodes) // 2, np.arange(nodes) % 3)
    net = Network.of(forwards, tail, head, capacity, labels)
    wanted = table(arcs)
    assert read(net) == wanted
    assert net.labels is labels and net.forwards is forwards
    assert net.nodes == nodes and net.arcs == len(wanted) and net.unit_count == 0 and len(net.device) == 0 and net.rates == ()
    assert net.start.tolist() == [sum(h < v for h, _ in wanted) for v in range(nodes + 1)]
    assert net.unit == (gcd(*wanted.values()) or 1)
    gain = Counter[int]()
    for (h, t), x in wanted.items():
        gain[h] += x
        gain[t] -= x
    assert net.balanced == (not any(gain.values()))
    by_tail = sorted(range(net.arcs), key=lambda i: (int(net.tail[i]), int(net.head[i])))
    assert net.by_tail.tolist() == by_tail
    assert net.into == [[i for i, (h, _) in enumerate(wanted) if h == v] for v in range(nodes)]
    assert net.out == [[i for i in by_tail if net.tail[i] == v] for v in range(nodes)]
    assert [net.neighbours(v).tolist() for v in range(nodes)] == [[t for h, t in wanted if h == v] for v in range(nodes)]
    matrix = net.matrix
    assert matrix.shape == (nodes, nodes) and matrix.dtype == np.int32
    dense = matrix.toarray()
    assert {(h, t): int(dense[h, t]) * net.unit for h, t in zip(*np.nonzero(dense), strict=True)} == wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_links_are_arcs_both_ways(seed: int) -> None:
    nodes, forwards, arcs = drawn(seed)
    a, b, capacity = columns(arcs)
    labels = (np.arange(nodes),)
    both = [*arcs, *((h, t, x) for t, h, x in arcs)]
    net = Network.both_ways(forwards, a, b, capacity, labels)
    assert read(net) == table(both) and net.labels is labels and net.forwards is forwards and net.balanced
    single = Network.both_ways(forwards, a, b)
    assert read(single) == table([(t, h, 1) for t, h, _ in both])
    assert read(Network.of(forwards, a, b)) == table([(t, h, 1) for t, h, _ in arcs])
    links = sorted((h, t) for h, t in table(both) if h < t)
    assert list(zip(net.head[net.links].tolist(), net.tail[net.links].tolist(), strict=True)) == links
    ends = zip(net.head.tolist(), net.tail.tolist(), strict=True)
    assert [links[i] for i in net.link.tolist()] == [(min(x), max(x)) for x in ends]


@pytest.mark.parametrize("seed", SEEDS)
def test_networks_made_of_networks(seed: int) -> None:
    """Turned round, divided at what does not forward, contracted, and with other capacities."""
    nodes, forwards, arcs = drawn(seed)
    labels = (np.arange(nodes) // 2,)
    net = Network.of(forwards, *columns(arcs), labels)
    wanted = table(arcs)
    turned = net.turned()
    assert read(turned) == dict(sorted(((t, h), x) for (h, t), x in wanted.items()))
    assert turned.forwards is forwards and turned.labels is labels
    assert turned.capacity.tolist() == net.capacity[net.by_tail].tolist()
    divided, order = net.divided()
    assert divided.nodes == 2 * nodes and divided.forwards.all()
    moved = {(h if forwards[h] else h + nodes, t): x for (h, t), x in wanted.items()}
    assert read(divided) == dict(sorted(moved.items()))
    assert divided.tail.tolist() == net.tail[order].tolist() and divided.capacity.tolist() == net.capacity[order].tolist()
    assert (divided.head % nodes).tolist() == net.head[order].tolist()
    place = np.arange(nodes) % 3
    small = net.contracted(place, 4)
    assert small.nodes == 4 and small.forwards.all()
    assert read(small) == table([(t % 3, h % 3, x) for (h, t), x in wanted.items()])
    other = net.with_capacity(net.capacity + 1)
    assert read(other) == {key: x + 1 for key, x in wanted.items()} and other.forwards is forwards
    assert net.same_arcs(Network.of(~forwards, *columns(arcs[::-1])))
    assert net.same_arcs(other) == (not wanted)


def between_units(seed: int) -> tuple[Network, dict[tuple[int, int], int], int]:
    """A network between units, its links by lower and higher node, and the number of units."""
    rng = Random(seed)
    units, nodes = rng.randint(2, 5), 0
    nodes = units + rng.randint(1, 6)
    links = [(rng.randrange(nodes), rng.randrange(nodes), rng.randint(1, 9)) for _ in range(rng.randint(1, 14))]
    both = [*links, *((h, t, x) for t, h, x in links)]
    tail, head, capacity = columns(both)
    made = Network.of(np.arange(nodes) >= units, tail, head, capacity)
    net = Network(made.tail, made.head, made.capacity, made.forwards, (), 100 + np.arange(nodes), units, (30, 100, 45))
    return net, {key: x for key, x in table(both).items() if key[0] < key[1]}, units


def pairs(found: CapacityPairs) -> dict[tuple[int, int], int]:
    keys = list(zip(found.a.tolist(), found.b.tolist(), strict=True))
    assert keys == sorted(set(keys))
    return dict(zip(keys, found.capacity.tolist(), strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_links_between_units_and_transit_nodes(seed: int) -> None:
    net, links, units = between_units(seed)
    assert net.units.tolist() == [100 + u for u in range(units)]
    assert net.transit.tolist() == [100 + t for t in range(units, net.nodes)]
    assert net.half == units // 2 and net.grain == 5
    access = {(a, b - units): x for (a, b), x in links.items() if a < units <= b}
    trunks = {(a - units, b - units): x for (a, b), x in links.items() if a >= units}
    assert pairs(net.access) == access
    assert pairs(net.trunks) == trunks
    assert pairs(net.loose) == {key: x for key, x in links.items() if key[1] < units}
    sends = [sum(x for key, x in links.items() if u in key) for u in range(units)]
    assert net.injection.tolist() == sends
    assert net.full == sum(sorted(sends)[: units // 2])
    tier = {b: 1 for _, b in access}
    queue = deque(tier)
    while queue:
        v = queue.popleft()
        for key in trunks:
            if v in key:
                w = sum(key) - v
                if w not in tier:
                    tier[w] = tier[v] + 1
                    queue.append(w)
    assert net.tier.tolist() == [tier.get(t, -1) for t in range(net.nodes - units)]
