"""Quotient networks and equitable partitions against their definitions, node by node and arc by arc."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from random import Random

import numpy as np
import pytest

from tdsl.prove import symmetry
from tdsl.prove.network import Network
from tdsl.prove.quotient import NONE, Quotient, quotient_of_demand, quotient_of_switches
from tdsl.prove.symmetry import (
    arc_image,
    columns_as_key,
    equal_demands,
    equal_rows,
    equivalent_nodes,
    number_distinct_rows,
    orbit_labels,
    same_network,
)

Rows = list[tuple[int, int, int]]


def column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def first_of(keys: list[Hashable]) -> list[int]:
    """Of everything the first with the same key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, i) for i, key in enumerate(keys)]


def rows_of(count: int, rows: Rows) -> list[frozenset[tuple[int, int]]]:
    """What every owner has: others, with the sum of the amounts."""
    out: list[Counter[int]] = [Counter() for _ in range(count)]
    for owner, other, amount in rows:
        out[owner][other] += amount
    return [frozenset(x.items()) for x in out]


def refined(label: list[int], demands: Rows) -> tuple[list[int], list[int]]:
    """The coarsest equitable partition of senders and of receivers, by refinement."""
    out, into = first_of(list(label)), first_of(list(label))
    while True:
        sends = rows_of(len(label), [(s, into[t], x) for s, t, x in demands])
        gets = rows_of(len(label), [(t, out[s], x) for s, t, x in demands])
        fresh = first_of(list(zip(out, sends, strict=True))), first_of(list(zip(into, gets, strict=True)))
        if fresh == (out, into):
            return out, into
        out, into = fresh


def layered(seed: int) -> tuple[Network, Rows]:
    """Hosts on leaves, many of them equivalent, some with links to hosts; and demands."""
    rng = Random(seed)
    hosts, leaves, spines = rng.randint(2, 6), rng.randint(1, 3), rng.randint(0, 3)
    size = hosts + leaves + spines
    links = [
        (h, hosts + rng.randrange(leaves), rng.choice([1, 2])) for h in range(hosts) for _ in range(rng.choice([0, 1, 1, 2]))
    ]
    links += [(hosts + x, hosts + leaves + y, 3) for x in range(leaves) for y in range(spines) if rng.random() < 0.8]
    if rng.random() < 0.5:
        links += [(h, hosts - 1, 1) for h in range(min(hosts - 1, 2))]
    place = rng.sample(range(size), size)
    links = [(place[a], place[b], x) for a, b, x in links]
    forwards = np.zeros(size, dtype=np.bool_)
    forwards[place[hosts:]] = True
    if rng.random() < 0.4:
        forwards[place[rng.randrange(hosts)]] = True
    labels = (np.arange(size) % 3, np.arange(size) // 2)
    net = Network.both_ways(forwards, *(column([x[i] for x in links]) for i in range(3)), labels)
    ends = [place[h] for h in range(hosts + (rng.random() < 0.3))]
    demands = [(rng.choice(ends), rng.choice(ends), rng.choice([1, 2])) for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.5:
        demands = [(s, t, 1) for s in ends for t in ends if s != t]
    return net, [(s, t, x) for s, t, x in demands if s != t] or [(place[0], place[1], 1)]


def arcs_of(net: Network) -> Rows:
    return list(zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True))


def held(found: Quotient, net: Network, out: list[int], into: list[int]) -> None:
    """Every column of a quotient, by the class of every node for arcs that leave and for arcs that enter (-1: none)."""
    names = sorted({*out, *into} - {NONE})
    place = {name: i for i, name in enumerate(names)} | {NONE: NONE}
    assert found.out.tolist() == [place[x] for x in out]
    assert found.into.tolist() == [place[x] for x in into]
    assert found.first.tolist() == [x // 2 for x in names]
    small, total, count = found.network, Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for tail, head, x in arcs_of(net):
        if NONE not in (out[tail], into[head]):
            key = place[into[head]], place[out[tail]]
            total[key] += x
            count[key] += 1
    ends = list(zip(small.head.tolist(), small.tail.tolist(), strict=True))
    assert ends == sorted(total)
    assert small.capacity.tolist() == [total[key] for key in ends] and found.count.tolist() == [count[key] for key in ends]
    for i, (tail, head, _) in enumerate(arcs_of(net)):
        used = NONE not in (out[tail], into[head])
        assert found.arc[i] == (ends.index((place[into[head]], place[out[tail]])) if used else NONE)
    assert small.forwards.tolist() == net.forwards[found.first].tolist()
    assert [x.tolist() for x in small.labels] == [x[found.first].tolist() for x in net.labels]


@pytest.mark.parametrize("seed", range(60))
def test_switches_with_the_same_links_are_one(seed: int) -> None:
    net, _ = layered(seed)
    rng = Random(seed)
    apart = np.array([rng.random() < 0.3 for _ in range(net.nodes)])
    rows = rows_of(net.nodes, arcs_of(net))
    keys = [(v if apart[v] else -1, rows[v]) for v in range(net.nodes)]
    same = [2 * x for x in first_of(list(keys))]
    held(quotient_of_switches(net, apart), net, same, same)


@pytest.mark.parametrize("seed", range(200))
def test_senders_and_receivers_are_put_together_by_role(seed: int) -> None:
    net, demands = layered(seed)
    size, forwards = net.nodes, net.forwards.tolist()
    sends, receives = {s for s, _, _ in demands}, {t for _, t, _ in demands}
    linked = {t for t, h, _ in arcs_of(net) if not forwards[t] and not forwards[h]}
    apart = {v for v in range(size) if (forwards[v] and v in sends | receives) or v in linked}
    rows = rows_of(size, arcs_of(net))
    label = first_of([(v if v in apart else -1, forwards[v], rows[v]) for v in range(size)])
    out, into = refined(label, demands)
    begin = [2 * out[v] if forwards[v] or v in sends else NONE for v in range(size)]
    end = [2 * into[v] if forwards[v] else 2 * into[v] + 1 if v in receives else NONE for v in range(size)]
    held(quotient_of_demand(net, tuple(column([x[i] for x in demands]) for i in range(3))), net, begin, end)


@pytest.mark.parametrize("seed", range(40))
def test_nodes_with_the_same_rows(seed: int) -> None:
    rng = Random(seed)
    size = rng.randint(1, 9)
    rows = [(rng.randrange(size), rng.randrange(3), rng.randint(1, 2)) for _ in range(rng.randint(0, 14))]
    label = [rng.randrange(2) for _ in range(size)]
    found = equal_rows(column(label), *(column([x[i] for x in rows]) for i in range(3)))
    assert found.tolist() == first_of(list(zip(label, rows_of(size, rows), strict=True)))


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_compared_whatever_their_hashes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all hashes are equal, a node is with the first of as many rows if it has the same, else alone."""
    monkeypatch.setattr(symmetry, "_pseudorandom_words", lambda x: np.zeros(len(x), dtype=np.uint64))
    rng = Random(seed)
    size = rng.randint(1, 9)
    rows = [(rng.randrange(size), rng.randrange(3), rng.randint(1, 2)) for _ in range(rng.randint(0, 14))]
    found = equal_rows(np.zeros(size, dtype=np.int64), *(column([x[i] for x in rows]) for i in range(3)))
    wanted = rows_of(size, rows)
    first = first_of([len(x) for x in wanted])
    assert found.tolist() == [w if wanted[w] == wanted[v] else v for v, w in enumerate(first)]


def test_the_published_numbers_of_the_hash() -> None:
    """The first five numbers of the generator from the state 1234567, whose steps are the increment of the sequence."""
    step = np.arange(5, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    known = [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    assert symmetry._pseudorandom_words(np.uint64(1234567) + step).tolist() == known


@pytest.mark.parametrize("seed", range(60))
def test_the_coarsest_equitable_partition(seed: int) -> None:
    """A chain of demands needs as many rounds as it is long."""
    rng = Random(seed)
    size = rng.randint(2, 9)
    if seed < 5:
        demands = [(v, v + 1, 1) for v in range(seed + 1)]
        size = seed + 4
    else:
        demands = [(rng.randrange(size), rng.randrange(size), rng.choice([1, 1, 2])) for _ in range(rng.randint(0, 12))]
    label = [0] * size if seed % 2 else [rng.randrange(2) for _ in range(size)]
    out, into = equal_demands(column(first_of(list(label))), *(column([x[i] for x in demands]) for i in range(3)))
    assert (out.tolist(), into.tolist()) == refined(label, demands)


@pytest.mark.parametrize("seed", range(40))
def test_equivalent_nodes_are_in_order_of_their_lowest(seed: int) -> None:
    net, _ = layered(seed)
    rng = Random(seed)
    members = sorted(rng.sample(range(net.nodes), rng.randint(0, net.nodes)))
    rows, found = rows_of(net.nodes, arcs_of(net)), defaultdict(list)
    for v in members:
        found[rows[v]].append(v)
    assert [c.tolist() for c in equivalent_nodes(net, column(members))] == sorted(found.values())


def test_networks_that_are_the_same_by_number() -> None:
    forwards = np.array([True, True, False])
    net = Network.both_ways(forwards, column([0, 1]), column([1, 2]), column([4, 5]))
    assert same_network(net, Network.both_ways(forwards, column([1, 0]), column([2, 1]), column([5, 4])))
    assert not same_network(net, Network.both_ways(~forwards, column([0, 1]), column([1, 2]), column([4, 5])))
    assert not same_network(net, net.with_capacity(net.capacity + 1))
    assert columns_as_key(net.tail, net.head) == (net.tail.tobytes(), net.head.tobytes())


@pytest.mark.parametrize("seed", range(30))
def test_orbits_of_permutations(seed: int) -> None:
    rng = Random(seed)
    count = rng.randint(1, 12)
    images = []
    for _ in range(rng.randint(0, 3)):
        image = list(range(count))
        moved = rng.sample(range(count), min(count, rng.randint(2, 4)))
        for v, w in zip(moved, [*moved[1:], moved[0]], strict=True):
            image[v] = w
        images.append(image)
    label = list(range(count))
    for _ in range(count):
        for image in images:
            for v in range(count):
                low = min(label[v], label[image[v]])
                label = [low if x in (label[v], label[image[v]]) else x for x in label]
    assert orbit_labels(count, [column(x) for x in images]).tolist() == label


@pytest.mark.parametrize("seed", range(20))
def test_a_number_for_every_different_row(seed: int) -> None:
    rng = Random(seed)
    rows = [tuple(rng.choice([-1, 0, 3, 10**12]) for _ in range(3)) for _ in range(rng.randint(1, 30))]
    found = number_distinct_rows([column([x[i] for x in rows]) for i in range(3)])
    order = sorted(set(rows))
    assert found.tolist() == [order.index(x) for x in rows]
    first = [x[0] for x in rows]
    assert number_distinct_rows([column(first)]).tolist() == [sorted(set(first)).index(x) for x in first]


@pytest.mark.parametrize("seed", range(80))
def test_where_permutations_take_arcs(seed: int) -> None:
    """A permutation keeps a network if it keeps weights, what forwards, and every arc with its capacity."""
    net, _ = layered(seed)
    if seed % 3 == 0:  # arcs one way only
        net = Network.of(net.forwards, net.tail[::2], net.head[::2], net.capacity[::2])
    rng, size = Random(seed), net.nodes
    arcs = {(t, h): x for t, h, x in arcs_of(net)}
    weight = [rng.choice([1, 1, 1, 2]) for _ in range(size)]
    kept = 0
    images = [list(range(size)), [0] * size, list(range(size - 1)), [*range(size), size], [*range(1, size), 0]]
    for v in range(size):
        for w in range(v):
            image = list(range(size))
            image[v], image[w] = w, v
            images.append(image)
    for image in images:
        right = sorted(image) == list(range(size))
        right = right and all(net.forwards[v] == net.forwards[w] for v, w in enumerate(image))
        right = right and {(image[t], image[h]): x for (t, h), x in arcs.items()} == arcs
        heavy = right and all(weight[v] == weight[w] for v, w in enumerate(image))
        for given, wanted in ((None, right), (column(weight), heavy)):
            found = arc_image(net, column(image), given)
            assert (found is not None) == wanted
            if found is not None:
                kept += 1
                ends = list(zip(net.tail.tolist(), net.head.tolist(), strict=True))
                assert [ends[i] for i in found.tolist()] == [(image[t], image[h]) for t, h in ends]
    assert kept >= 2


def test_permutations_of_a_network_without_arcs() -> None:
    net = Network.of(np.array([True, True, False]), column([]), column([]))
    assert arc_image(net, column([1, 0, 2])) is not None and arc_image(net, column([2, 1, 0])) is None
