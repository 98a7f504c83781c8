"""Node redundancy step by step: which units are looked at, their neighbours and classes, and bounds without any work."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, Counted, DeviceCut, DevicePaths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.disjoint import Separator, WorkLeft
from tdsl.prove.node_connectivity import (
    _bound_by_symmetry,
    _distinguishable_units,
    _Hosts,
    _neighbours_of_devices,
    _units_by_neighbours,
    least_separator_bounds,
)
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers, torus
from tests.verify.test_node_redundancy import least, paths

SEEDS = range(40)


def planes(seed: int, hosts: int = 6) -> Fabric:
    """Hosts on leaves of several planes, some with a link to a host, a store beside, and planes that differ or are the same."""
    rng = Random(seed)
    b = Builder("planes")
    switch = b.model("switch", "SW", {"p": 40})
    count = rng.randint(1, 3)
    leaf = b.devices("plane pl.leaf", switch, count, 3)
    spine = b.devices("plane pl.spine", switch, count, 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 12}, accelerators=1), hosts)
    store = b.devices("store", b.model("host", "STORE", {"nic": 4}), 1, role="storage")
    b.connect("connect all")
    kinds = [[(p, rng.randrange(3)) for p in range(count) for _ in range(rng.choice([0, 1, 1, 2]))] for _ in range(3)]
    for h in range(hosts):
        for p, x in kinds[rng.randrange(3)] or [(0, 0)]:
            b.link(b.free(node, h), b.free(leaf, 3 * p + x))
    same = seed % 3 == 0
    usual = [(x, y) for x in range(3) for y in range(2) if rng.random() < 0.8]
    for p in range(count):
        for x, y in usual if same else [(x, y) for x in range(3) for y in range(2) if rng.random() < 0.8]:
            for _ in range(rng.choice([1, 1, 2])):
                b.link(b.free(leaf, 3 * p + x), b.free(spine, 2 * p + y))
    for p in range(count if seed % 3 == 1 else 0):
        b.link(b.free(leaf, 3 * p), b.free(leaf, 3 * p + 1))
    if seed % 4 == 1:
        one, two = (0, 1) if seed % 8 == 1 else (1, 0)
        b.link(b.free(node, one), b.free(node, two))
    b.link(b.free(store, 0), b.free(leaf, 0))
    if seed % 5 == 2:
        b.link(b.free(store, 0), b.free(node, 2))
    return b.build()


def fabrics(seed: int) -> Fabric:
    makers = (
        lambda: planes(seed // 4, 8),
        lambda: random_fabric(seed, 4, 6, 2, 5, seed % 3).build(),
        lambda: random_layers(seed).build(),
        lambda: random_chips(seed, 6, 9).build(),
    )
    return makers[seed % 4]()


def links(view: View) -> list[tuple[int, int]]:
    return [(a, b) for a, b in zip(view.a.tolist(), view.b.tolist(), strict=True) if a != b]


def inner(view: View) -> set[int]:
    return set(np.flatnonzero(view.forwards & view.devices).tolist())


def looked_at(view: View) -> list[int]:
    """All units, but of those that forward nothing and have the same links to what is no unit only two."""
    own, groups = view.units.tolist(), defaultdict(list)
    for u in own:
        others = Counter(sum(e) - u for e in links(view) if u in e)
        alone = u in inner(view) or any(w in own for w in others)
        near = frozenset((w, x) for w, x in others.items() if w in inner(view))
        groups[u if alone else near].append(u)
    return sorted(u for mine in groups.values() for u in mine[:2])


def near_of(view: View) -> dict[int, set[int]]:
    ours = inner(view) | set(looked_at(view))
    out: dict[int, set[int]] = {d: set() for d in sorted(ours)}
    for a, b in links(view):
        if a in ours and b in ours:
            out[a].add(b)
            out[b].add(a)
    return out


@pytest.mark.parametrize("seed", range(80))
def test_which_units_are_looked_at(seed: int) -> None:
    view = View.whole(fabrics(seed))
    assert _distinguishable_units(view).tolist() == looked_at(view)
    assert _neighbours_of_devices(view) == near_of(view) and list(_neighbours_of_devices(view)) == sorted(near_of(view))


def classes(view: View) -> list[tuple[int, int, tuple[tuple[int, int], ...]]]:
    """Of units with the same neighbours the first, the second (-1: none), and the switches of each component."""
    near, found = near_of(view), defaultdict(list)
    for u in view.units.tolist():
        if u in near:
            found[frozenset(near[u])].append(u)
    out = []
    for devices, mine in found.items():
        hubs = Counter(int(view.label[d]) for d in devices if d in inner(view))
        out.append((mine[0], mine[1] if len(mine) > 1 else -1, tuple(sorted(hubs.items()))))
    return out


@pytest.mark.parametrize("seed", range(80))
def test_classes_of_units(seed: int) -> None:
    view = View.whole(fabrics(seed))
    near = near_of(view)
    made = _units_by_neighbours(view.label, near, inner(view), [u for u in view.units.tolist() if u in near])
    assert [(c.first, c.second, c.access) for c in made] == classes(view)


def chips(size: int, jumps: list[int], times: int = 1, stores: int = 0) -> Fabric:
    """Rings of chips, each with links to those so many places on; the first has a link to a store."""
    b = Builder("ring")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2 * len(jumps) + 1}), times * size, role="accelerator")
    b.connect("connect ring")
    for k, jump in enumerate(jumps):
        for t in range(times):
            for v in range(size):
                b.link(b.port(chip, t * size + v, "p", 2 * k), b.port(chip, t * size + (v + jump) % size, "p", 2 * k + 1))
    if stores:
        store = b.devices("store", b.model("host", "STORE", {"nic": 1}), stores, role="storage")
        b.link(b.free(store, 0), b.port(chip, 0, "p", 2 * len(jumps)))
    return b.build()


def cut(value: int, pair: tuple[int, int], devices: set[int], linked: bool = False, lower: int | None = None) -> DevicePaths:
    return Bound(value if lower is None else lower, value, Counted(), DeviceCut(pair, tuple(sorted(devices)), linked))


def test_symmetric_chips_are_separated_by_neighbours() -> None:
    """Unless four are joined each to each, all are neighbours, or they fall apart."""
    for f, pair in (
        (chips(8, [1, 2]), (0, 3)),
        (torus(4, 3).build(), (0, 4)),
        (chips(7, [1]), (0, 2)),
        (chips(9, [1, 3]), (0, 2)),
        (chips(8, [1], 1, 1), (0, 2)),
    ):
        view = View.whole(f)
        near = near_of(view)
        assert _bound_by_symmetry(view, near) == cut(len(near[0]), pair, near[0]) == least_separator_bounds(view)
    for f in (chips(9, [1, 2, 3]), chips(5, [1, 2]), chips(4, [1], 2), planes(1), random_chips(2).build()):
        view = View.whole(f)
        assert _bound_by_symmetry(view, near_of(view)) is None
    b = Builder("servers")  # a ring of hosts that forward, and one switch beside
    node = b.devices("node", b.model("host", "NODE", {"nic": 3}, accelerators=1), 6)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for h in range(6):
        b.link(b.port(node, h, "nic", 0), b.port(node, (h + 1) % 6, "nic", 1))
    b.link(b.free(node, 0), b.free(sw, 0))
    f = b.build()
    view = View.whole(replace(f, sets=(replace(f.sets[0], settings={"forwards": True}), f.sets[1])))
    assert _bound_by_symmetry(view, near_of(view)) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_chips_without_any_work(seed: int) -> None:
    """The neighbours of the least joined separate it from the first that is none of them."""
    view = View.whole(random_chips(seed, 4 + seed % 4, 6 + seed % 9).build(), replace(DEFAULT, disjoint_path_work=0))
    near, own = near_of(view), view.units.tolist()
    if _bound_by_symmetry(view, near) is not None or set(own) != inner(view):
        return
    u = min(own, key=lambda d: len(near[d]))
    others = [x for x in own if x != u]
    v = next((x for x in others if x not in near[u]), others[0])
    found = least_separator_bounds(view)
    if found.lower == found.upper:
        assert found.upper == least(view.fabric)
        return
    whole = nx.Graph(links(view))
    whole.add_nodes_from(own)
    assert found == cut(len(near[u]), (u, v), near[u] - {v}, v in near[u], int(nx.is_connected(whole)))


def common(one: tuple[tuple[int, int], ...], two: tuple[tuple[int, int], ...]) -> int:
    """Components that both have switches of."""
    return len({hub for hub, _ in one} & {hub for hub, _ in two})


@pytest.mark.parametrize("seed", range(60))
def test_hosts_without_any_work(seed: int) -> None:
    """Two of one class share their switches; else two kinds have a path in every component that both are connected to."""
    f = planes(seed, 8) if seed % 2 else fabrics(seed)
    view = View.whole(f, replace(DEFAULT, disjoint_path_work=0))
    near, own = near_of(view), view.units.tolist()
    if inner(view) >= set(own) or len(own) < 2:
        return
    found = least_separator_bounds(view)
    known = classes(view)
    kinds = sorted({access for _, _, access in known})
    low = min((common(one, two) for i, one in enumerate(kinds) for two in kinds[i:]), default=0)
    shared = [c for c in known if c[1] >= 0]
    if shared:
        first, second, _ = min(shared, key=lambda c: len(near[c[0]]))
        devices = near[first] & inner(view)
        if low:
            lower = min(low, len(devices)) if found.lower != least(f) else found.lower  # some components need no work
            assert found == cut(len(devices), (first, second), devices, lower=lower)
        else:
            assert found.lower == 0 and found.upper <= len(devices)
    elif low or len(known) < 2:
        one, two = known[0][0], known[1][0]
        mine = one if len(near[one]) <= len(near[two]) else two
        assert found == cut(len(near[mine]), (one, two), near[mine], lower=0)
    assert found.lower <= least(f) <= found.upper


@pytest.mark.parametrize("seed", range(40))
def test_hosts_on_several_planes(seed: int) -> None:
    f = planes(seed, 5)
    found = least_separator_bounds(View.whole(f))
    assert found.lower == found.upper == least(f)
    u, v = found.proof_upper.pair
    assert paths(f, u, v) == found.upper == len(found.proof_upper.devices) + found.proof_upper.linked


@pytest.mark.parametrize("seed", range(8))
def test_chips_without_symmetry(seed: int) -> None:
    f = random_chips(seed, 6, 12).build()
    found = least_separator_bounds(View.whole(f))
    assert found.lower == found.upper == least(f)


@pytest.mark.parametrize("seed", range(24))
def test_paths_that_are_certain(seed: int) -> None:
    """For every two kinds the sum, over components, of the switches of the fewer, or what is known to separate any two."""
    view = View.whole(planes(seed, 8))
    near = near_of(view)
    made = _Hosts(view, near, inner(view), None)  # type: ignore[arg-type]
    assert made.kinds == sorted({access for _, _, access in classes(view)})
    assert [[(c.first, c.second, c.access) for c in group] for group in made.groups] == [
        [c for c in classes(view) if c[2] == kind] for kind in made.kinds
    ]
    rng = Random(seed)
    hubs = sorted({hub for kind in made.kinds for hub, _ in kind})
    for sure in ({}, {hub: rng.randint(0, 3) for hub in hubs[: len(hubs) // 2 + 1]}):
        made.sure = sure
        table = {}
        for (i, one), (j, two) in combinations([*enumerate(made.kinds), *enumerate(made.kinds)], 2):
            if i <= j:
                both = dict(one).keys() & dict(two).keys()
                table[i, j] = sum(min(dict(one)[h], dict(two)[h], sure.get(h, 1)) for h in both)
        rows = [row.tolist() for row in made._lower()]
        assert rows == [[table[i, j] for j in range(i, len(rows))] for i in range(len(rows))]
        lowest = min((x, i, j) for (i, j), x in table.items())
        assert made._lowest() == (lowest[0], lowest[1], min(j for (i, j), x in table.items() if (x, i) == lowest[:2]))
        made.best = None
        pairs = [(u.first, v.first) for u, v in made._open()]
        wanted = []
        for low in sorted(set(table.values())):
            for i, j in sorted(table):
                if table[i, j] == low:
                    one, two = made.groups[i], made.groups[j]
                    both_ = combinations(one, 2) if i == j else ((u, v) for u in one for v in two)
                    wanted += [(u.first, v.first) for u, v in both_]
        assert pairs == wanted


@pytest.mark.parametrize("seed", range(24))
def test_what_separates_switches_of_a_component(seed: int) -> None:
    """The least over all pairs of access switches without a link, up to the most that any unit has; a pair of units at the two is
    searched first."""
    view = View.whole(planes(seed, 8))
    near, inner_ = near_of(view), inner(view)
    g = nx.Graph((a, b) for a, b in links(view) if a in inner_ and b in inner_)
    for most in (None, 1, 2):
        made = _Hosts(view, near, inner_, WorkLeft(10**6))
        searched: list[tuple[int, int]] = []
        made._search = lambda one, two, searched=searched: searched.append((one.first, two.first))  # type: ignore[method-assign]
        made.best = None if most is None else Separator((0, 1), frozenset(range(most)), False)
        made._certain()
        access, limit = defaultdict(set), Counter[int]()
        at: dict[int, int] = {}
        for first, _, kind in classes(view):
            for d in near[first] & inner_:
                access[int(view.label[d])].add(d)
                at.setdefault(d, first)
            for hub, x in kind:
                limit[hub] = max(limit[hub], x)
        wanted, pairs = {}, []
        for hub, switches in access.items():
            paths_ = [nx.node_connectivity(g, u, v) for u, v in combinations(sorted(switches), 2) if not g.has_edge(u, v)]
            up_to = limit[hub] if most is None else min(limit[hub], most)
            wanted[hub] = min([*paths_, up_to])
            pairs += [hub] if wanted[hub] < up_to else []
        assert made.sure == wanted
        assert all(u in at.values() and v in at.values() for u, v in searched) and len(searched) <= len(pairs)
        assert bool(searched) == bool(pairs)


def fabric_of(hosts: list[list[int]], trunks: list[tuple[int, int]]) -> Fabric:
    """Hosts by their switches, and links between switches; switches come first."""
    b = Builder("some")
    count = 1 + max(max(x) for x in (*hosts, *trunks))
    sw = b.devices("s", b.model("switch", "SW", {"p": 40}), count)
    node = b.devices("h", b.model("host", "NODE", {"nic": 8}, accelerators=1), len(hosts))
    b.connect("connect all")
    for h, mine in enumerate(hosts):
        for s in mine:
            b.link(b.free(node, h), b.free(sw, s))
    for x, y in trunks:
        b.link(b.free(sw, x), b.free(sw, y))
    return b.build()


def test_two_units_at_switches_that_few_separate() -> None:
    """Two groups of hosts, each on two leaves that are linked; one spine separates the groups."""
    view = View.whole(fabric_of([[0, 1], [0, 1], [2, 3], [2, 3]], [(0, 1), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4)]))
    near = near_of(view)
    made = _Hosts(view, near, inner(view), WorkLeft(10**6))
    made._equal()
    assert made.best == Separator((5, 6), frozenset({0, 1}), False)
    made._certain()
    assert made.best == Separator((5, 7), frozenset({4}), False)
    assert least_separator_bounds(view) == cut(1, (5, 7), {4})


def test_two_units_that_no_switch_joins() -> None:
    """Of kinds without a common component the first of the one and the last of the other are searched."""
    view = View.whole(fabric_of([[0], [0], [1], [2]], [(1, 3), (2, 3)]))
    assert least_separator_bounds(view) == cut(0, (4, 7), set())
