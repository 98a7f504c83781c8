"""Which of equal answers is told, and what happens exactly at a limit: the first pair in order, the last move that counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.fabric.layers import scaleout_network
from tdsl.prove.automorphisms import _AutomorphismSearch
from tdsl.prove.bound import Bound
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.by_rail import ByRail
from tdsl.prove.column_generation import Commodities, Paths
from tdsl.prove.concurrent_flow import FAR, _decompose_into_paths, shortest_distances
from tdsl.prove.delays import _longest_access_delays, worst_delay
from tdsl.prove.disjoint import Separator, WorkLeft, _update_distances_to_goal, separator_of_terminals
from tdsl.prove.edge_connectivity import _bounds_of_class_pairs, _tied_hubs, _units_by_links, disjoint_paths
from tdsl.prove.element_symmetry import Symmetry, symmetry_of_elements
from tdsl.prove.linear import _quiet_solver
from tdsl.prove.local_search import _Clusters, _move_each_cluster_once
from tdsl.prove.network import Network
from tdsl.prove.shortest_paths import Forwarders
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.model import Axis
from tests.fabrics import Builder, random_fabric
from tests.harness import compile_text
from tests.verify.test_delays import METRE, SECOND, cabled, timed
from tests.verify.test_links_that_separate import flow, mixed

NANOSECOND = 10**6
"""Femtoseconds."""


# ---------------------------------------------------------------- links that separate two ends


def ordered(f: Fabric) -> list[tuple[int, int, int, int]]:
    """Bounds of every two classes of ends and one pair of each, the least upper bound first; none where some end has no link."""
    view = View.whole(f)
    every = _units_by_links(view)
    if any(not h.nodes for h in every) or view.forwards[view.units].all():
        return []
    out = []
    for p in sorted(_bounds_of_class_pairs(every, _tied_hubs(view, every))):
        u, v = every[p.u], every[p.v]
        out.append((p.upper, p.lower, u.first, v.first if p.u != p.v else v.second))
    return out


def test_a_cut_around_one_end_is_told_of_that_end() -> None:
    """Of a pair that the links of one separate, that one is named first, and is alone on its side."""
    told = 0
    for seed in range(30):
        f = mixed(seed)
        pairs, degree = ordered(f), View.whole(f).degree
        if not pairs:
            continue
        upper, lower, *pair = pairs[0]
        small = min(pair, key=lambda d: int(degree[d]))
        if lower == upper == int(degree[small]):
            found = disjoint_paths(View.whole(f)).proof_upper
            assert found.pair == (small, sum(pair) - small)
            assert np.flatnonzero(found.side).tolist() == [small]
            told += 1
    assert told > 8


def test_the_first_of_equal_pairs_is_told() -> None:
    told = 0
    for seed in range(36):
        f = random_fabric(seed, 4, 3, 2, seed % 7).build()
        pairs = ordered(f)
        if not pairs:
            continue
        found = disjoint_paths(View.whole(f))
        values = [flow(f, u, v) for _, _, u, v in pairs]
        assert found.upper == min(values)
        assert set(found.proof_upper.pair) == set(pairs[values.index(min(values))][2:])
        told += values.count(min(values)) > 1
    assert told > 8


def test_flows_that_just_fit_the_work_are_made_and_no_others() -> None:
    """Three hosts have two links into a plane with two links up each, a fourth one with one up, and a switch with each of the
    three: of these three pairs no bound is certain, and no other pair can be worse."""
    b = Builder("flows")
    host = b.devices("h", b.model("host", "H", {"nic": 5}, accelerators=1), 4)
    leaf = b.devices("leaf", b.model("switch", "LEAF", {"p": 4}), 4)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 7}), 1)
    beside = b.devices("beside", b.model("switch", "BESIDE", {"p": 2}), 3)
    for i in range(4):
        for _ in range(2):
            b.link(b.free(host, i), b.free(leaf, i))
        for _ in range(2 if i < 3 else 1):
            b.link(b.free(leaf, i), b.free(spine, 0))
    for i in range(3):
        b.link(b.free(host, i), b.free(beside, i))
        b.link(b.free(host, 3), b.free(beside, i))
    f = b.build()
    each = (2 * 4 + 1) * (2 + 1)  # arcs between switches and one more, times the paths and one more
    for work, lower in ((3 * each, 2), (3 * each - 1, 1)):
        found = disjoint_paths(View.whole(f, replace(DEFAULT, flow_work=work)))
        assert (found.lower, found.upper) == (lower, 2)


# ---------------------------------------------------------------- devices that separate terminals


def test_only_the_first_terminals_are_compared_pair_by_pair() -> None:
    """One more than the limit: 1 and 2 are told, though 0 and 3 are as weak."""
    ways = [(0, 4), (4, 1), (0, 5), (5, 1), (0, 6), (6, 2), (0, 7), (7, 2), (0, 8), (8, 3)]
    near: dict[int, set[int]] = {v: set() for v in range(9)}
    for a, b in ways:
        near[a].add(b)
        near[b].add(a)
    assert separator_of_terminals(near, [0, 1, 2, 3], 2, False, WorkLeft(1000)) == Separator((1, 2), frozenset({0}), False)


def test_steps_over_many_shortest_ways_are_counted_once() -> None:
    """A chain of diamonds has 2^60 shortest ways; every device is looked at once."""
    near: dict[int, set[int]] = {v: set() for v in range(181)}
    for low in range(0, 180, 3):
        for side in (low + 1, low + 2):
            for end in (low, low + 3):
                near[side].add(end)
                near[end].add(side)
    looked = 0

    class Counted(dict[int, set[int]]):
        def __getitem__(self, v: int) -> set[int]:
            nonlocal looked
            looked += 1
            assert looked <= len(near)
            return super().__getitem__(v)

    steps: dict[int, int] = {}
    _update_distances_to_goal(Counted(near), steps, [0])
    assert steps[180] == 120 and looked == len(near)


# ---------------------------------------------------------------- delays


def star(cables: list[int], latency: list[int], ends: list[int]) -> Fabric:
    """Leaves of a model each below one spine, with cables and latencies of their own, and a host at each."""
    b = Builder("star")
    leaves = [b.devices(f"leaf{i}", b.model("switch", f"L{i}", {"p": 4}), 1) for i in range(len(cables))]
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": len(cables)}), 1)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), len(cables))
    for i, (leaf, up, down) in enumerate(zip(leaves, cables, ends, strict=True)):
        cabled(b, b.free(leaf, 0), b.free(spine, 0), up)
        cabled(b, b.free(host, i), b.free(leaf, 0), down)
    return timed(b.build(), [*latency, 0, 0])


def way(f: Fabric) -> tuple[int, ...]:
    found = worst_delay(View.whole(f))
    assert isinstance(found, Bound)
    return found.proof_lower.devices


@pytest.mark.parametrize(
    ("cables", "ends", "devices"),
    [
        ([2, 2], [1, 1], (0, 2, 1)),
        ([2, 2, 2], [5, 1, 9], (0, 3, 2)),
        ([2, 3], [1, 1], (0, 2, 1)),
        ([2, 3, 3], [1, 1, 1], (1, 3, 2)),
    ],
)
def test_the_first_of_equally_slow_pairs_is_told(cables: list[int], ends: list[int], devices: tuple[int, ...]) -> None:
    assert way(star(cables, [0] * len(cables), ends)) == devices


def test_leaves_with_longer_cables_and_less_delay_are_not_equivalent() -> None:
    """20 m and 100 ns here, 10 m and 124.5 ns there: 10 m of cable are twice the difference."""
    f = star([20, 10, 10], [100 * NANOSECOND, 124_500_000, 124_500_000], [1, 200, 200])
    found = worst_delay(View.whole(f))
    assert isinstance(found, Bound)
    assert found.upper == Fraction(420 * METRE + 249 * NANOSECOND, SECOND)
    assert found.proof_lower.devices == (1, 3, 2)


def test_the_two_longest_ways_of_every_node() -> None:
    f = star([2, 2], [0, 0], [5, 7])
    view = View.whole(f)
    length = np.array([5, 7, 2, 2]) if f.device_set[f.device_a[0]] == 3 else np.array([2, 2, 5, 7])
    ways = _longest_access_delays(view, Forwarders.of(view), length, np.zeros(f.device_count, dtype=np.int64))
    assert sorted(ways[0].tolist()) == [-1, 5, 7]
    assert ways[1:].tolist() == [[-1] * 3]


# ---------------------------------------------------------------- moves, flows, programs


def test_all_on_one_side_are_made_even_by_one_pass() -> None:
    """More than 200 moves, each of them better than the one before."""
    none = np.zeros(0, dtype=np.int64)
    c = _Clusters(np.arange(500), np.ones(500, dtype=np.int64), np.zeros(501, dtype=np.int64), none, none)
    side = _move_each_cluster_once(c, np.ones(500, dtype=np.bool_))
    assert side is not None and int(side.sum()) == 250


@pytest.mark.parametrize(("count", "better"), [(400, True), (401, True), (402, False)])
def test_moves_that_do_not_help_end_a_pass(count: int, better: bool) -> None:
    """A line of switches between hosts: the cut moves along it and is less at its end only, after so many moves."""
    n = count + 4
    links = [(0, 1, 10), *((v, v + 1, 2) for v in range(1, count + 1)), (count + 1, count + 2, 1), (count + 2, count + 3, 10)]
    rows = np.array(sorted([*links, *((b, a, c) for a, b, c in links)]))
    weight = np.zeros(n, dtype=np.int64)
    weight[[0, 1, -2, -1]] = 1
    c = _Clusters(np.arange(n), weight, np.searchsorted(rows[:, 0], np.arange(n + 1)), rows[:, 1], rows[:, 2])
    found = _move_each_cluster_once(c, np.arange(n) < 2)
    assert (found is not None) == better
    assert found is None or np.flatnonzero(~found).tolist() == [n - 2, n - 1]


def test_parts_of_a_thousand_millionth_are_left_out() -> None:
    """Three ways of one flow, of which two carry just so much: only the first is kept."""
    middle = np.arange(1, 4)
    net = Network.of(np.ones(5, dtype=np.bool_), np.append([0] * 3, middle), np.append(middle, [4] * 3))
    for most in (1.0, 2.0, 4.0):
        small = 0.0
        for _ in range(5):
            small = 1e-9 * (most + small + small)
        carried = {1: most, 2: small, 3: small}
        values = np.array([carried[h if h < 4 else t] for t, h in zip(net.tail.tolist(), net.head.tolist(), strict=True)])
        assert small == 1e-9 * sum(values[a] for a in net.out[0])
        ((source, amount, found),) = _decompose_into_paths(net, {0: {4: 1}}, [values])
        assert (source, amount) == (0, 1)
        assert [(part, [int(net.head[a]) for a in arcs]) for part, arcs in found] == [(1.0, [1, 4])]


def test_the_first_paths_are_sought_by_how_full_arcs_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices fall by the power of e, each turn steeper, with what an arc was used less than the fullest, a unit of capacity."""
    tried: list[tuple[np.ndarray, list[np.ndarray]]] = []
    add = Paths.add

    def spied(self: Paths, price: np.ndarray) -> tuple[list[np.ndarray], int]:
        walked, new = add(self, price)
        tried.append((price, walked))
        return walked, new

    monkeypatch.setattr(Paths, "add", spied)
    ends = [(0, 1, 2), (0, 2, 5), (1, 3, 7), (2, 3, 1), (1, 2, 3), (3, 4, 11), (2, 4, 2)]
    net = Network.of(np.ones(5, dtype=np.bool_), *(np.array([x[i] for x in ends]) for i in range(3)))
    asked = Commodities.of(net, (np.array([0, 0, 1]), np.array([3, 4, 4]), np.array([3, 1, 2])))
    Paths(asked, Fraction(99)).warm(6)
    seen = [0.0] * net.arcs
    for turn, (price, walked) in enumerate(tried):
        if turn:
            most = max(seen)
            wanted = [
                exp((3.25 + 0.75 * turn) * (x / most - 1)) / c for x, c in zip(seen, asked.net.capacity.tolist(), strict=True)
            ]
            assert np.allclose(price / price.max(), np.array(wanted) / max(wanted))
        else:
            assert (price == price[0]).all()
        for arc, c in enumerate(asked.net.capacity.tolist()):
            used = sum(a for a, arcs in zip(asked.amount.tolist(), walked, strict=True) if arc in arcs)
            seen[arc] += (used / c - seen[arc]) / (turn + 1)
    assert len(tried) == 6


def test_a_search_ends_at_its_last_target() -> None:
    """What is behind has no distance."""
    net = Network.of(np.ones(4, dtype=np.bool_), np.arange(3), np.arange(1, 4))
    assert shortest_distances(net, [1] * 3, 0, [1]) == [0, 1, FAR, FAR]
    assert shortest_distances(net, [1] * 3, 0, [3, 1]) == [0, 1, 2, 3]


def test_the_solver_runs_alone_with_one_seed() -> None:
    solver = _quiet_solver({})
    assert [solver.getOptionValue(x)[1] for x in ("threads", "random_seed", "output_flag")] == [1, 0, False]


# ---------------------------------------------------------------- elements that permutations move


def test_no_set_has_more_elements_than_there_are() -> None:
    """2^62 numbers are just within the limit."""
    assert Symmetry(2, ()).sets(62) == []
    assert Symmetry(2, ()).sets(63) is None


def test_named_parallel_links_go_to_as_many() -> None:
    """Both links of one leaf and one of the two of the other are named: no permutation takes the one leaf to the other."""
    b = Builder("pair")
    leaf = b.devices("leaf", b.model("switch", "LEAF", {"p": 4}), 2)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 8}), 1)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    b.connect()
    for i in range(2):
        b.link(b.free(host, i), b.free(leaf, i))
    b.connect()
    for i in range(2):
        for _ in range(3):
            b.link(b.free(leaf, i), b.free(spine, 0))
    f = b.build()
    none = np.zeros(0, dtype=np.int64)
    trunk = [np.flatnonzero((f.device_a == x) & (f.device_b == 2)).tolist() for x in (0, 1)]
    for counts in ((2, 1), (1, 2), (3, 1), (1, 3), (2, 2)):
        named = [FabricElement(str(r), none, np.array([r])) for rows, n in zip(trunk, counts, strict=True) for r in rows[:n]]
        found = symmetry_of_elements(View.whole(f), named, frozenset())
        for g in found.generators:
            assert sorted(g.tolist()) == list(range(len(named)))
        own = [list(range(counts[0])), list(range(counts[0], sum(counts)))]
        assert found.orbits() == (own if counts[0] != counts[1] else [[0, 1, 2, 3]])


# ---------------------------------------------------------------- domains of chips that are ends themselves

CHIPS = """
model chip ACC { port nv: 3600Gbps { type NVLINK5 }; port nic: 400Gbps { type NDR } }
model switch XBAR { port p[16]: 3600Gbps { type NVLINK5 } }
model switch LEAF { port p[16]: 400Gbps { type NDR } }
model host TRAY { chip gpu[2]: ACC }
fabric f {
  rack rack[2] {
    host tray[2]: TRAY
    switch xbar: XBAR
    connect tray[t].gpu[g].nv to xbar { layer scaleup; medium backplane }
  }
  switch leaf: LEAF
  connect rack[k].tray[t].gpu[g].nic to leaf
}
"""


def test_every_chip_of_a_domain_hands_on_its_part(tmp_path: Path) -> None:
    """Also the first one, which is inside of a host that is no end: eight times as fast, a domain carries all it is asked to."""
    fabric = compile_text(CHIPS, tmp_path, models=False).designs[0].fabric
    made = ByDomain.of(View.whole(scaleout_network(fabric)))
    assert made.sizes.tolist() == [4, 4]
    assert made.carried(None, Fraction(3_200_000_000_000)) == 1


# ---------------------------------------------------------------- rails, and colours that are stable


def test_units_of_hosts_on_rails() -> None:
    """Two hosts on both rails and one without the second: a spine joins the leaves, so all are in one part of the network."""
    b = Builder("rails")
    host = b.devices("h", b.model("host", "H", {"nic": 2}, accelerators=2, scaleup=True), 3)
    leaf = b.devices("leaf", b.model("switch", "LEAF", {"p": 8}), 2)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 2}), 1)
    for h, rail in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0)):
        b.link(b.port(host, h, "nic", rail), b.free(leaf, rail))
    for rail in range(2):
        b.link(b.free(leaf, rail), b.free(spine, 0))
    made = ByRail.of(View.whole(b.build()))
    assert made is not None
    assert made._table.tolist() == [[0, 1, -1], [2, 3, -1], [4, -1, -1]]
    kind, parts, first = made._kinds()
    assert (kind.tolist(), parts, first) == ([0] * 5, [frozenset({0})], [0])
    (ports,) = made.fabric.models[-1].classes
    assert (ports.axes, ports.first, ports.cages, ports.connectors, ports.split) == ((Axis(0, 1),), 0, (0,), (0,), 1)


def test_a_stable_colouring_takes_one_round() -> None:
    """All chips of a ring have the same neighbours; of a line the ends differ, and then the next ones."""
    for links, rounds in (([(0, 1), (1, 2), (2, 3), (3, 0)], 1), ([(0, 1), (1, 2), (2, 3)], 2)):
        b = Builder("chips")
        chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2}, accelerators=1), 4)
        for x, y in links:
            b.link(b.free(chip, x), b.free(chip, y))
        view = View.whole(b.build())
        search = _AutomorphismSearch(UnitGraph.of(view, unit_network(view)), DEFAULT)
        found = search.refine(np.zeros(4, dtype=np.int64), None)
        assert found is not None and len(found[1]) == rounds
        assert search.work == rounds * 2 * len(links)
