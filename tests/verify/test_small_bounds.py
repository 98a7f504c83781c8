"""Bounds of small networks by hand: links that separate hosts, groups of nodes that no small cut separates, prices as lengths,
splits that are moved, scale-up domains that cannot redistribute."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.prove.all_to_all import all_to_all, all_to_all_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.concurrent_flow import MOST, _whole_lengths
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.elements import failing_set_sizes
from tdsl.prove.local_search import _Clusters, _move_each_cluster_once
from tdsl.prove.max_flow import inseparable_groups
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.search import adjacency_network, eccentricities_of_sources
from tdsl.prove.spectral_bound import spectral_cut_bound
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import Builder, random_fabric, random_layers, torus
from tests.verify.judges import redundancy


def wired(hosts: int, switches: int, links: list[tuple[str, str]]) -> Builder:
    """Hosts h0, h1, …, and switches s0, s1, …, with these links."""
    b = Builder("wired")
    sw = b.devices("s", b.model("switch", "SW", {"p": 40}), switches)
    node = b.devices("h", b.model("host", "NODE", {"nic": 8}, accelerators=1), hosts)
    b.connect("connect all")
    for one in links:
        b.link(*(b.free(node if end[0] == "h" else sw, int(end[1:])) for end in one))
    return b


def test_links_between_switches_separate_hosts() -> None:
    """Two hosts with two links each, and one link between their switches."""
    for between, value in ((1, 1), (2, 2), (3, 2)):
        f = wired(2, 2, [("h0", "s0"), ("h0", "s0"), ("h1", "s1"), ("h1", "s1"), *[("s0", "s1")] * between]).build()
        found = disjoint_paths(View.whole(f))
        assert found.lower == found.upper == value == redundancy(f)
        side = found.proof_upper.side
        assert np.count_nonzero(side[f.device_a] != side[f.device_b]) == value


@pytest.mark.parametrize("maker", [random_fabric, random_layers])
def test_the_fewest_links_that_separate_two_hosts(maker: object) -> None:
    for seed in range(60):
        f = maker(seed).build()  # type: ignore[operator]
        if len(View.whole(f).units) > 1:
            found = disjoint_paths(View.whole(f))
            assert found.lower == found.upper == redundancy(f), seed
            (u, v), side = found.proof_upper.pair, found.proof_upper.side
            assert u != v and side[u] and not side[v], seed


def test_groups_are_not_looked_for_without_work() -> None:
    a, b = (np.array(x) for x in zip(*combinations(range(5), 2), strict=True))
    graph = adjacency_network(5, a, b)
    assert inseparable_groups(graph, 4).tolist() == [0] * 5
    assert inseparable_groups(graph, 4, replace(DEFAULT, contraction_work=0)).tolist() == [0, 1, 2, 3, 4]


def test_no_sources_have_no_distances() -> None:
    graph = adjacency_network(3, np.array([0, 1]), np.array([1, 2]))
    far, everywhere = eccentricities_of_sources(graph, np.zeros(0, dtype=np.int64), np.ones(3, dtype=np.bool_))
    assert len(far) == len(everywhere) == 0


def test_symmetric_chips_need_no_search() -> None:
    found = least_separator_bounds(View.whole(torus(4, 4).build(), replace(DEFAULT, disjoint_path_work=0)))
    assert found.lower == found.upper == 4


def test_prices_become_lengths_in_the_same_proportions() -> None:
    assert _whole_lengths(np.array([1.0, 0.5, 1 / 3, 0.0, -1e-9])) == [6, 3, 2, 0, 0]
    primes = [9901, 9907, 9923, 9929]
    assert MOST < 9901 * 9907 * 9923 * 9929
    assert _whole_lengths(np.array([1.0, *(1 / p for p in primes)])) == [0] * 5
    assert _whole_lengths(np.zeros(2)) == [0, 0]


def line(weights: list[int]) -> _Clusters:
    """Clusters in a line, each linked to the next."""
    n = len(weights)
    near = [[w for w in (v - 1, v + 1) if 0 <= w < n] for v in range(n)]
    start = np.append(0, np.cumsum([len(x) for x in near]))
    flat = np.array([w for x in near for w in x])
    return _Clusters(np.arange(n), np.array(weights), start, flat, np.ones(len(flat), dtype=np.int64))


@pytest.mark.parametrize(
    ("weights", "side", "best"),
    [
        ([1, 1, 1, 1], "1010", 1),
        ([1, 1, 1, 1, 1], "10101", 1),
        ([1, 1, 1, 1, 1, 1], "101010", 1),
        ([2, 0, 2], "101", 1),
        ([1, 0, 0, 1], "1010", 1),
    ],
)
def test_moves_find_the_least_cut_of_a_line(weights: list[int], side: str, best: int) -> None:
    clusters = line(weights)
    before = np.array([x == "1" for x in side])
    after = before
    for _ in range(len(weights)):
        moved = _move_each_cluster_once(clusters, after)
        if moved is None:
            break
        after = moved
    w = np.array(weights)
    assert np.count_nonzero(after[1:] != after[:-1]) == best
    assert abs(2 * int(w[after].sum()) - int(w.sum())) <= int(w.sum()) % 2
    assert _move_each_cluster_once(clusters, after) is None


def test_a_split_that_cannot_be_better_is_kept() -> None:
    for side in ("1100", "0011"):
        assert _move_each_cluster_once(line([1, 1, 1, 1]), np.array([x == "1" for x in side])) is None
    assert _move_each_cluster_once(line([1, 1, 1, 1, 1]), np.array([True, True, False, False, False])) is None


def test_the_spectrum_of_complete_graphs_and_rings() -> None:
    """A complete graph of six switches with a host each is cut at nine links, a ring of eight at two. Hosts with links to two
    switches, and amounts that would not fit a word, have no such bound."""
    ends = {m: [link for i in range(m) for link in [(f"h{i}", f"s{i}")] * 8] for m in (6, 8)}
    whole = wired(6, 6, [*ends[6], *((f"s{i}", f"s{j}") for i, j in combinations(range(6), 2))])
    ring = wired(8, 8, [*ends[8], *((f"s{i}", f"s{(i + 1) % 8}") for i in range(8))])
    nets = [unit_network(View.whole(b.build())) for b in (whole, ring)]
    assert [spectral_cut_bound(net)[0] for net in nets] == [9, 2]
    assert spectral_cut_bound(replace(nets[1], capacity=nets[1].capacity << 50)) == (0, 0)
    twice = wired(2, 3, [(f"h{i}", f"s{j}") for i in range(2) for j in range(3)])
    assert spectral_cut_bound(unit_network(View.whole(twice.build()))) == (0, 0)


@pytest.mark.parametrize(("maker", "seed"), [(random_layers, 55), (random_layers, 60), (random_layers, 64)])
def test_all_to_all_of_small_fabrics_is_settled(maker: object, seed: int) -> None:
    """By a linear program, where routes and prices leave an interval."""
    view = View.whole(maker(seed).build())  # type: ignore[operator]
    first, found = all_to_all(view), all_to_all_bounds(view)
    assert first is not None and found is not None
    assert first.lower < first.upper and first.lower <= found.lower == found.upper <= first.upper


def test_elements_that_fail_as_several_things() -> None:
    """Three cables may be those of two elements, if one of them has two."""
    none = np.zeros(0, dtype=np.int64)
    some = [replace(FabricElement("", none, none), copies=copies) for copies in (1, 1, 2)]
    assert failing_set_sizes(some, 3) == [2, 3] and failing_set_sizes(some, 2) == [1, 2] and failing_set_sizes(some, 5) == []
