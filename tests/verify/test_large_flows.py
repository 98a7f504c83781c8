"""Maximum flows that scipy finds: the same value and cut as our own search, and nothing that is not seen to be a maximum."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove import max_flow as module
from tdsl.prove.max_flow import MaxFlow, max_flow
from tdsl.prove.network import Network
from tdsl.prove.search import hop_distances

NODES = 9
ARCS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.integers(0, 12)), max_size=40)
GRAIN = st.sampled_from([1, 25 * 10**9, 1 << 29, (1 << 30) + 1])


def network(arcs, grain: int, both: bool) -> Network:
    a, b, c = (np.array([x[i] for x in arcs], dtype=np.int64) for i in range(3))
    return (Network.both_ways if both else Network.of)(np.ones(NODES, dtype=np.bool_), a, b, c * grain)


def by_scipy(monkeypatch, net: Network) -> MaxFlow:
    """The flow with scipy's search alone."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "LARGE", 0)
        patch.setattr(module, "_own_max_flow", lambda *_: pytest.fail("our own search was asked"))
        return max_flow(net, 0, NODES - 1)


def judged(net: Network, found: MaxFlow) -> None:
    """A flow within the capacities, that arrives, and as large as the cut."""
    assert (found.flow >= 0).all() and (found.flow <= net.capacity).all()
    gain = [0] * NODES
    for v, w, x in zip(net.tail.tolist(), net.head.tolist(), found.flow.tolist(), strict=True):
        gain[v] -= x
        gain[w] += x
    assert gain[NODES - 1] == -gain[0] == found.value and not any(gain[1:-1])
    assert found.side[0] and not found.side[NODES - 1]
    assert found.value == int(net.capacity[found.side[net.tail] & ~found.side[net.head]].sum())


@settings(max_examples=300, deadline=None)
@given(ARCS, GRAIN, st.booleans())
def test_scipy_finds_what_our_own_search_finds(arcs, grain, both):
    net = network(arcs, grain, both)
    with pytest.MonkeyPatch.context() as monkeypatch:
        found = by_scipy(monkeypatch, net)
    own = max_flow(net, 0, NODES - 1)
    judged(net, found), judged(net, own)
    assert found.value == own.value and found.side.tolist() == own.side.tolist()


CHAIN = [(0, 1, 3), (1, NODES - 1, 2), (0, 2, 1), (2, NODES - 1, 1)]


@pytest.mark.parametrize(
    "forged",
    [
        lambda f: replace(f, value=f.value + 1),
        lambda f: replace(f, value=f.value - 1),
        lambda f: replace(f, flow=f.flow + 1),
        lambda f: replace(f, flow=-f.flow),
        lambda f: replace(f, flow=f.flow * 0),
        lambda f: replace(f, flow=f.flow * 0, value=0),
        lambda f: replace(f, side=~f.side),
        lambda f: replace(f, side=f.side | True),
        lambda f: replace(f, side=f.side & False),
        lambda f: replace(f, side=np.arange(NODES) < 1),
    ],
)
def test_a_forged_answer_is_not_taken(forged, monkeypatch):
    net = network(CHAIN, 1, False)
    whole = by_scipy(monkeypatch, net)
    assert whole.value == 3 and whole.side.tolist() == [True, True, *[False] * (NODES - 2)]
    asked = []
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "_max_flow_by_scipy", lambda *_: asked.append(1) or forged(whole))
    found = max_flow(net, 0, NODES - 1)
    assert asked and found.value == 3 and found.side.tolist() == whole.side.tolist()


def test_capacities_without_room_are_searched_by_ourselves(monkeypatch):
    """Two arcs whose capacities have no common factor, of 2^30 and more: scipy has 32 bits."""
    net = network([(0, NODES - 1, (1 << 30) - 1), (0, 1, 2), (1, NODES - 1, 1)], 1, False)
    monkeypatch.setattr(module, "LARGE", 0)
    assert max_flow(net, 0, NODES - 1).value == 1 << 30
    assert by_scipy(monkeypatch, network([(0, NODES - 1, (1 << 30) - 1)], 1, True)).value == (1 << 30) - 1
    with pytest.raises(pytest.fail.Exception):
        by_scipy(monkeypatch, net)


def test_a_large_network():
    """Two random halves with 7 links between them, in one order of magnitude with a large fabric."""
    chance = np.random.default_rng(5)
    a, b = chance.integers(0, 500, 20_000), chance.integers(0, 500, 20_000)
    bridge = chance.choice(500, 7, replace=False)
    ends = np.concatenate((a, b + 500, bridge)), np.concatenate((b, a + 500, bridge + 500))
    net = Network.both_ways(np.ones(1000, dtype=np.bool_), *ends)
    assert net.arcs >= module.LARGE
    found = max_flow(net, 0, 999)
    assert found.value == 7 and found.side.tolist() == [True] * 500 + [False] * 500


@settings(max_examples=200, deadline=None)
@given(ARCS, st.lists(st.booleans(), min_size=80, max_size=80))
def test_distances_over_open_arcs(arcs, flags):
    net = network(arcs, 1, True)
    allowed = np.array(flags[: net.arcs], dtype=np.bool_)
    judge = nx.DiGraph()
    judge.add_nodes_from(range(NODES))
    judge.add_edges_from(zip(net.head[allowed].tolist(), net.tail[allowed].tolist(), strict=True))
    expected = nx.single_source_shortest_path_length(judge, 0)
    assert hop_distances(net, 0, allowed).tolist() == [expected.get(v, -1) for v in range(NODES)]
