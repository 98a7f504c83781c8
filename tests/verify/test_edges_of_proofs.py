"""Edges of proofs: groups that no link separates, which of two equal cuts is said, arcs that no path uses, amounts near the limit
of a word, searches from nowhere, cuts that are not full; and how z3 is asked and read."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove import many_failures
from tdsl.prove.budget import DEFAULT
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.many_failures import KeptFlow
from tdsl.prove.max_flow import inseparable_groups
from tdsl.prove.network import Network
from tdsl.prove.quotient import quotient_of_demand
from tdsl.prove.routing_combinations import NodeDemands, combine_routings
from tdsl.prove.search import adjacency_network
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.shortest_path_routing import PARTS, path_lengths
from tdsl.prove.switch_placements import least_cut_by_placements
from tdsl.prove.view import View
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.halves import Halves
from tests.fabrics import Builder, claim, selector


def test_no_cut_has_fewer_than_no_links() -> None:
    """All that is joined is one group, and what is not is another."""
    assert inseparable_groups(adjacency_network(3, np.array([0]), np.array([1])), 0).tolist() == [0, 0, 1]


TWO_GROUPS = [
    (0, 1, 3), (0, 2, 3), (0, 3, 3), (3, 1, 1),
    (4, 1, 1), (6, 2, 1), (4, 6, 2),
    (5, 0, 2), (5, 7, 3),
]  # fmt: skip


def test_which_of_two_equal_cuts_is_said() -> None:
    """Two groups hang on two links each: the one that is reached first of the nodes in their order is named."""
    a, b = (np.array([row[i] for row in TWO_GROUPS for _ in range(row[2])]) for i in (0, 1))
    assert inseparable_groups(adjacency_network(8, a, b), 3).tolist() == [0, 0, 0, 0, 1, 2, 1, 2]
    made = Builder("two")
    chips = made.devices("chip", made.model("chip", "CHIP", {"p": 16}), 8)
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        made.link(made.free(chips, one), made.free(chips, other))
    found = disjoint_paths(View.whole(made.build()))
    assert (found.lower, found.upper, found.proof_upper.pair) == (2, 2, (0, 4))


def test_arcs_that_no_path_uses() -> None:
    """Three hosts at a switch, of which the first sends to the second only: neither what it would receive, nor what the others
    would send, is an arc of the smaller network."""
    forwards = np.array([False, False, False, True])
    net = Network.both_ways(forwards, np.array([0, 1, 2]), np.array([3, 3, 3]), np.array([1, 1, 1]))
    small = quotient_of_demand(net, (np.array([0]), np.array([1]), np.array([1])))
    used = [(int(net.tail[i]), int(net.head[i])) for i in np.flatnonzero(small.arc >= 0).tolist()]
    assert used == [(3, 1), (0, 3)] and small.network.arcs == 2
    assert small.arc.tolist().count(-1) == 4 and small.network.head.tolist() == [1, 2]


@pytest.mark.parametrize("unit", [1, 100_000_000_000])
def test_amounts_near_the_limit_of_a_word(unit: int) -> None:
    """Two ways from one node to another, of two links and of three, and one way between two others, which ask for a seventh as
    much: both ways are used, however large the unit of the demand is."""
    tail, head = np.array([0, 2, 0, 3, 4, 5]), np.array([2, 1, 3, 4, 1, 6])
    net = Network.both_ways(np.ones(7, dtype=np.bool_), tail, head, np.ones(6, dtype=np.int64))
    most = 7 if unit == 1 else -(-(2**64) // PARTS**2)  # the load in parts, times these parts, is a little more than 64 bits
    wanted = NodeDemands.of(np.array([0, 5]), np.array([1, 6]), np.array([most, unit]))
    found, _, _ = combine_routings(net, wanted, Fraction(100, most))
    assert found.fits() == Fraction(2, most) and len(found.columns) == 2


def test_distances_from_nowhere() -> None:
    """Without a source there is no column, and no work."""
    net = adjacency_network(2, np.array([0]), np.array([1]))
    found = path_lengths(net, np.ones(2, dtype=np.int64), np.zeros(0, dtype=np.int64), 0)
    assert found is not None and found[0].shape == (2, 0) and found[1] == 0


def test_switches_with_units_of_many_classes() -> None:
    """Hundreds of thousands of hosts, no two of them alike, at more switches than are placed: that is refused at once."""
    switches, units = DEFAULT.placed_switches + 2, 200_000
    size = switches + units
    own = np.arange(units)
    made = Network.both_ways(np.arange(size) >= units, own, units + own % switches, own + 1)
    net = replace(made, device=np.arange(size), unit_count=units, rates=(1,))
    assert least_cut_by_placements(net) is None


def test_a_cut_that_is_not_full_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two links of a flow from a host to another: a cut with one of them, or with what carries less, shows nothing of what is
    left."""
    b = Builder("pair")
    ends = [b.devices(name, b.model("host", name.upper(), {"nic": 2}, accelerators=1), 1) for name in ("x", "y")]
    switches = b.devices("s", b.model("switch", "SW", {"p": 4}), 2)
    for s in range(2):
        for end in ends:
            b.link(b.free(end, 0), b.free(switches, s))
    view = View.whole(b.build())
    asked = claim(view.fabric, "throughput", of=(selector(view.fabric, "x"),), of_to=(selector(view.fabric, "y"),))
    found = max_flow_between_sets(view, asked)
    assert not isinstance(found, str) and len(found.cut) == 2 and KeptFlow(view, asked).judged
    monkeypatch.setattr(many_failures, "max_flow_between_sets", lambda *_: replace(found, cut=found.cut[:1]))
    assert not KeptFlow(view, asked).judged
    less = replace(found.bound, proof_lower=replace(found.bound.proof_lower, arcs=()))
    monkeypatch.setattr(many_failures, "max_flow_between_sets", lambda *_: replace(found, bound=less))
    assert not KeptFlow(view, asked).judged


def star(hosts: int, trunk: int) -> Halves:
    """Two switches with so many hosts each, one link a host, and what joins the two."""
    units = tuple(range(2 * hosts))
    links = tuple((h, 2 * hosts + h // hosts, 1) for h in units)
    return Halves(units, (*links, (2 * hosts, 2 * hosts + 1, trunk)), 1, hosts)


def test_hosts_with_the_same_links_are_taken_in_order_by_z3() -> None:
    """Twenty hosts on either of two switches are as good as their numbers: z3 needs few steps to see that no split is less."""
    limits = Limits(work=300_000)
    assert star(20, 19).split(18, limits) is None
    assert star(20, 19).split(19, limits) == 19


def test_a_split_that_is_not_balanced_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What z3 says counts only once it is seen to be halves."""
    import z3

    monkeypatch.setattr(z3, "is_true", lambda x: True)
    with pytest.raises(NoOpinion, match=r"^z3 gave a split that is not balanced$"):
        star(2, 1).split(5, Limits())
