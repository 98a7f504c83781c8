"""Quotient networks and equitable partitions, against their definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from random import Random

import numpy as np
import pytest

from tdsl.prove.network import Network
from tdsl.prove.quotient import NONE, Quotient, quotient_of_demand
from tdsl.prove.symmetry import equal_demands
from tests.prove.networks import Rows, arcs_of, column, columns


def first_of(keys: list[Hashable]) -> list[int]:
    """Of everything the first with the same key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, i) for i, key in enumerate(keys)]


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
    net = Network.both_ways(forwards, *columns(links), labels)
    ends = [place[h] for h in range(hosts + (rng.random() < 0.3))]
    demands = [(rng.choice(ends), rng.choice(ends), rng.choice([1, 2])) for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.5:
        demands = [(s, t, 1) for s in ends for t in ends if s != t]
    return net, [(s, t, x) for s, t, x in demands if s != t] or [(place[0], place[1], 1)]


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


@pytest.mark.parametrize("seed", range(80))
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
    held(quotient_of_demand(net, columns(demands)), net, begin, end)


@pytest.mark.parametrize("seed", range(40))
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
    out, into = equal_demands(column(first_of(list(label))), *columns(demands))
    assert (out.tolist(), into.tolist()) == refined(label, demands)
