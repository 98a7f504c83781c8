"""The least cut over all places of some switches, against all cuts."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.budget import Budget
from tdsl.prove.cuts import minimum_cut_of_split
from tdsl.prove.network import Network
from tdsl.prove.switch_placements import least_cut_by_placements, placement_order
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, random_fabric
from tests.prove.judges import least_of_table

SEEDS = st.integers(0, 10**6)
Links = dict[tuple[int, int], int]


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 7), st.integers(1, 3), st.integers(0, 12), st.booleans())
def test_places_against_all_cuts(seed, switches, hosts, nics, cables, mixed):
    f = random_fabric(seed, switches, hosts, nics, cables, 0).build()
    if mixed:
        f.link_rate[:] = np.where(np.arange(f.link_count) % 3, 400, 100) * GBPS
    view = View.whole(f)
    net = unit_network(view)
    if len(net.units) > 1 and (found := least_cut_by_placements(net)) is not None:
        assert found[0] == least_of_table(net) == minimum_cut_of_split(net, found[1]).value


def network(units: int, switches: int, links: Links) -> Network:
    """Units first, then switches; links by the lower and the higher node."""
    ends = list(links)
    columns = (np.array([e[i] for e in ends], dtype=np.int64) for i in (0, 1))
    size = units + switches
    made = Network.both_ways(np.arange(size) >= units, *columns, np.array(list(links.values()), dtype=np.int64))
    return Network(made.tail, made.head, made.capacity, made.forwards, (), np.arange(size), units, (1,))


def test_units_of_one_class_need_no_placed_switch() -> None:
    """All of them have a link to both switches."""
    net = network(2, 2, {(0, 2): 1, (0, 3): 1, (1, 2): 1, (1, 3): 1})
    found = least_cut_by_placements(net, Budget(placed_switches=0))
    assert found is not None and found[0] == 2


def test_a_class_of_more_than_half_of_the_units() -> None:
    links = {(h, 12 if h < 2 else 13): 1 for h in range(12)} | {(12, 13): 9}
    found = least_cut_by_placements(network(12, 2, links))
    assert found is not None and found[0] == 6 and int(found[1].sum()) == 6


def test_networks_without_placements() -> None:
    """Links between units, or no switch at all."""
    links = {(0, 2): 1, (1, 3): 1, (2, 3): 1}
    assert least_cut_by_placements(network(2, 2, links)) is not None
    assert least_cut_by_placements(network(2, 2, links | {(0, 1): 1})) is None
    assert least_cut_by_placements(network(2, 0, {})) is None
    found = least_cut_by_placements(network(3, 1, {}))
    assert found is not None and found[0] == 0 and int(found[1].sum()) in (1, 2)
    assert placement_order(network(2, 2, {(0, 2): 1, (1, 2): 1, (2, 3): 4})) == [[3], [2], [0], [1]]
