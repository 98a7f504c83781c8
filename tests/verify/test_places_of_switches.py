"""The least cut over all places of some switches, and every step on the way to it, against all splits of small networks."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from tdsl.prove import switch_placements
from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.switch_placements import _Problem, least_cut_by_placements, placement_order

Links = dict[tuple[int, int], int]


def network(units: int, switches: int, links: Links) -> Network:
    """Units first, then switches; links by the lower and the higher node."""
    ends = list(links)
    columns = (np.array([e[i] for e in ends], dtype=np.int64) for i in (0, 1))
    size = units + switches
    made = Network.both_ways(np.arange(size) >= units, *columns, np.array(list(links.values()), dtype=np.int64))
    return Network(made.tail, made.head, made.capacity, made.forwards, (), np.arange(size), units, (1,))


def drawn(seed: int) -> tuple[Network, Links]:
    """A few units, most of them with one link, some with several or none; switches joined at random, some of them equivalent."""
    rng = Random(seed)
    units, switches = rng.randint(1, 7), rng.randint(1, 6)
    links: Links = Counter()
    lower = rng.randint(1, switches)
    for u in range(units):
        for _ in range(rng.choice([0, 1, 1, 1, 1, 2]) if seed % 3 else 1):
            links[u, units + rng.randrange(lower)] += rng.choice([1, 1, 3])
    dense = rng.random()
    for a, b in combinations(range(switches), 2):
        if rng.random() < dense and (seed % 2 or (a < lower <= b)):
            links[units + a, units + b] += rng.choice([1, 2, 2, 5]) if seed % 5 else 2
    return network(units, switches, links), links


def crossing(links: Links, side: list[bool]) -> int:
    return sum(x for (a, b), x in links.items() if side[a] != side[b])


def cost(links: Links, units: list[bool], switches: int) -> int:
    """What crosses a split of the units, with the best place of every switch."""
    return min(crossing(links, units + list(rest)) for rest in product((False, True), repeat=switches))


def least(net: Network, links: Links) -> int:
    units = net.unit_count
    return min(
        cost(links, [u in chosen for u in range(units)], len(net.transit)) for chosen in combinations(range(units), units // 2)
    )


def classes(net: Network, links: Links) -> list[list[int]]:
    """Units with the same links, in order of their first."""
    found: dict[frozenset[tuple[int, int]], list[int]] = {}
    for u in range(net.unit_count):
        found.setdefault(frozenset((b, x) for (a, b), x in links.items() if a == u), []).append(u)
    return list(found.values())


def merged(net: Network, links: Links) -> list[list[int]]:
    """Switches without units that have the same trunks are one."""
    n = net.unit_count
    found: dict[object, list[int]] = {}
    for v in range(n, net.nodes):
        near = frozenset((sum(key) - v, x) for key, x in links.items() if v in key)
        found.setdefault(v if any(w < n for w, _ in near) else near, []).append(v)
    return list(found.values())


def cover(chosen: set[int], trunk: list[list[int]], hosts: list[int]) -> list[int]:
    """Without these no two are joined: as given, those of several classes, then one by one the most joined; and no more."""
    size = range(len(trunk))
    chosen = chosen | {v for v in size if hosts[v] > 1}
    while True:
        left = [sum(trunk[v][w] > 0 for w in size if w not in chosen) if v not in chosen else 0 for v in size]
        if not any(left):
            break
        chosen.add(left.index(max(left)))
    for v in sorted(chosen):
        if hosts[v] < 2 and all(trunk[v][w] == 0 or w in chosen for w in size):
            chosen.discard(v)
    return sorted(chosen)


def tables(net: Network, links: Links) -> tuple[list[list[int]], list[list[int]], list[list[int]], list[list[int]], list[int]]:
    """Units by class, switches as one, trunks and access between these, and the number of classes that every switch has."""
    kinds, same = classes(net, links), merged(net, links)
    both = links | {(b, a): x for (a, b), x in links.items()}
    trunk = [[sum(both.get((v, w), 0) for v in one for w in two) for two in same] for one in same]
    access = [[sum(both.get((k[0], v), 0) for v in one) for k in kinds] for one in same]
    return kinds, same, trunk, access, [sum(x > 0 for x in row) for row in access]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_placed(seed: int) -> None:
    net, links = drawn(seed)
    problem = _Problem.of(net)
    kinds, same, trunk, access, hosts = tables(net, links)
    assert problem.size.tolist() == [len(k) for k in kinds]
    assert problem.label.tolist() == [next(i for i, k in enumerate(kinds) if u in k) for u in range(net.unit_count)]
    assert [[v + net.unit_count for v in np.flatnonzero(problem.place == i).tolist()] for i in range(len(same))] == same
    assert problem.trunk.tolist() == trunk and problem.access.tolist() == access
    covers = [
        cover({v for v, x in enumerate(hosts) if x == 0}, trunk, hosts),
        cover({v for v, x in enumerate(hosts) if x > 0}, trunk, hosts),
        cover(set(), trunk, hosts),
    ]
    placed = problem.placed().tolist()
    assert placed == (min(covers, key=len) if any(map(any, trunk)) else [v for v, x in enumerate(hosts) if x > 1])
    free = [v for v in range(len(same)) if v not in placed]
    wanted = [same[v] for v in [*placed, *(v for v in free if not hosts[v])]]
    for at, kind in enumerate(kinds):
        wanted += [same[v] for v in free if access[v][at]] + [[u] for u in kind]
    assert placement_order(net) == wanted


def test_leaves_are_placed_where_the_most_joined_are_more() -> None:
    """Six leaves with a host each below eight spines: the most joined, one by one, are all spines."""
    below = [range(6), range(5), range(4), range(3), range(3, 6), range(2), range(2, 4), range(4, 6)]
    links = {(h, 6 + h): 1 for h in range(6)} | {(6 + leaf, 12 + s): 1 for s, mine in enumerate(below) for leaf in mine}
    assert _Problem.of(network(6, 8 + 6, links)).placed().tolist() == [0, 1, 2, 3, 4, 5]


def test_units_of_one_class_need_no_placed_switch() -> None:
    """All of them have a link to both switches."""
    net = network(2, 2, {(0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1})
    found = least_cut_by_placements(net, Budget(placed_switches=0))
    assert found is not None and found[0] == 2


def test_a_class_of_more_than_half_of_the_units() -> None:
    links = {(h, 12 if h < 2 else 13): 1 for h in range(12)} | {(12, 13): 9}
    found = least_cut_by_placements(network(12, 2, links))
    assert found is not None and found[0] == 6 and int(found[1].sum()) == 6


@pytest.mark.parametrize("seed", range(40))
def test_costs_by_class(seed: int) -> None:
    """For all places what crosses between what is placed and lone switches, and what x units of every class cost."""
    net, links = drawn(seed)
    problem = _Problem.of(net)
    kinds, _, trunk, access, hosts = tables(net, links)
    placed = problem.placed()
    free = [v for v in range(len(trunk)) if v not in placed]
    ways = list(product((False, True), repeat=len(placed)))
    base, costs = problem.costs(placed, np.array(ways, dtype=np.bool_).reshape(len(ways), len(placed)))
    for i, way in enumerate(ways):
        side = dict(zip(placed.tolist(), way, strict=True))
        there = {v: sum(trunk[v][w] for w in side if side[w]) for v in free}
        here = {v: sum(trunk[v][w] for w in side if not side[w]) for v in free}
        fixed = sum(trunk[v][w] for v, w in combinations(side, 2) if side[v] != side[w])
        assert base[i] == fixed + sum(min(there[v], here[v]) for v in free if not hosts[v])
        for at, kind in enumerate(kinds):
            for x in range(len(kind) + 1):
                wanted = sum(access[v][at] * (len(kind) - x if side[v] else x) for v in side)
                for v in free:
                    if access[v][at]:
                        wanted += min(access[v][at] * x + there[v], access[v][at] * (len(kind) - x) + here[v])
                assert costs[at][i, x] == wanted


@pytest.mark.parametrize("at_once", [1, 20, 2_000_000])
@pytest.mark.parametrize("seed", range(30))
def test_the_least_cut_of_all_balanced_splits(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    net, links = drawn(seed)
    usual = least_cut_by_placements(net)
    monkeypatch.setattr(switch_placements, "AT_ONCE", at_once)
    found = least_cut_by_placements(net)
    assert found is not None and usual is not None and found[1].tolist() == usual[1].tolist()
    value, units = found
    assert value == least(net, links)
    assert len(units) == net.unit_count and int(units.sum()) in (net.half, net.unit_count - net.half)
    assert cost(links, units.tolist(), len(net.transit)) == value


@pytest.mark.parametrize("seed", range(40))
def test_limits_of_placements(seed: int) -> None:
    """As many switches, placed switches and as much work as the limit are allowed, and no more."""
    net, links = drawn(seed)
    switches, units = len(net.transit), net.unit_count
    assert least_cut_by_placements(net, Budget(placement_switches=switches)) is not None
    assert least_cut_by_placements(net, Budget(placement_switches=switches - 1)) is None
    kinds, _, _, _, _ = tables(net, links)
    placed = len(_Problem.of(net).placed())
    several = sum(sum((k[0], v) in links for k in kinds) > 1 for v in range(units, net.nodes))
    most = max(placed, several)
    assert least_cut_by_placements(net, Budget(placed_switches=most)) is not None
    if most:
        assert least_cut_by_placements(net, Budget(placed_switches=most - 1)) is None
    work = units * (units - units // 2) * 2 ** max(placed - 1, 0)
    assert least_cut_by_placements(net, Budget(placement_work=work)) is not None
    assert least_cut_by_placements(net, Budget(placement_work=work - 1)) is None


def test_networks_without_placements() -> None:
    """Links between units, or no switch at all."""
    links = {(0, 2): 1, (1, 3): 1, (2, 3): 1}
    assert least_cut_by_placements(network(2, 2, links)) is not None
    assert least_cut_by_placements(network(2, 2, links | {(0, 1): 1})) is None
    assert least_cut_by_placements(network(2, 0, {})) is None
    found = least_cut_by_placements(network(3, 1, {}))
    assert found is not None and found[0] == 0 and int(found[1].sum()) in (1, 2)
    assert placement_order(network(2, 2, {(0, 2): 1, (1, 2): 1, (2, 3): 4})) == [[3], [2], [0], [1]]
