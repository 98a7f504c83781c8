"""The bound by the spectrum of a network, where the spectrum is known; others are in ``test_bisection_of_all_splits.py``."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.spectral_bound import NOTHING, STEPS, is_positive_semidefinite, spectral_cut_bound
from tests.prove.networks import Demands, between_units


def test_capacities_that_fit_a_word() -> None:
    """The largest entry times steps times units stays below 2^56."""
    most = (2**56 - 1) // (STEPS * 3)  # of the degree, which is twice the capacity of a link
    for capacity, some in ((most // 2, True), (most // 2 + 1, False)):
        found = spectral_cut_bound(between_units(3, 0, dict.fromkeys(combinations(range(3), 2), capacity)))
        assert (found != NOTHING) == some


def test_no_matrix_with_a_negative_eigenvalue_is_shown():
    """Those with one just below nothing are refused, those a little above are not."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        size = int(rng.integers(2, 12))
        some = rng.integers(-50, 50, (size, size))
        matrix = (some + some.T) * 1000
        least_value = int(np.floor(np.linalg.eigvalsh(matrix)[0]))
        assert not is_positive_semidefinite(matrix - (least_value + 2) * np.eye(size, dtype=np.int64))
        assert is_positive_semidefinite(matrix - (least_value - 20) * np.eye(size, dtype=np.int64))
    for matrix in ([[0, 1], [1, 0]], [[-1]], [[0, 3], [3, 5]]):
        assert not is_positive_semidefinite(np.array(matrix))


def test_the_spectrum_of_complete_graphs_and_rings() -> None:
    """A complete graph of six switches with a host each is cut at nine links, a ring of eight at two."""
    nets = []
    for size, trunks in ((6, list(combinations(range(6), 2))), (8, [*((i, i + 1) for i in range(7)), (0, 7)])):
        access = {(u, size + u): 8 for u in range(size)}
        nets.append(between_units(size, size, access | {(size + a, size + b): 1 for a, b in trunks}))
    assert [spectral_cut_bound(net)[0] for net in nets] == [9, 2]
    assert spectral_cut_bound(replace(nets[1], capacity=nets[1].capacity << 50)) == NOTHING


STAR = {(u, 3 + u): 1 for u in range(3)} | {(3, 4): 1, (4, 5): 1, (3, 5): 1}


@pytest.mark.parametrize(
    ("units", "switches", "links"),
    [
        (3, 3, STAR | {(0, 1): 1}),  # links between units beside switches
        (3, 3, STAR | {(0, 4): 1}),  # a unit with two links
        (4, 3, {(u + 1, 4 + u): 1 for u in range(3)} | {(4, 5): 1, (5, 6): 1}),  # a unit without a link
        (2, 2, {(0, 2): 1, (1, 3): 1, (2, 3): 1}),
        (2, 0, {(0, 1): 1}),  # too few nodes
        (4, 4, {(u, 4 + u): 1 for u in range(4)} | {(4, 5): 1, (6, 7): 1}),  # two islands of leaves
        (3, 4, {(u, 3 + u): 1 for u in range(3)} | {(3, 4): 1, (4, 5): 1}),  # a switch that nothing joins to any unit
    ],
)
def test_networks_without_a_bound_by_their_spectrum(units: int, switches: int, links: Demands) -> None:
    assert spectral_cut_bound(between_units(units, switches, links)) == NOTHING


def test_networks_up_to_a_limit_of_nodes() -> None:
    net = between_units(3, 3, STAR)
    assert [spectral_cut_bound(net, Budget(spectrum_nodes=x)) != NOTHING for x in (700, 3, 2)] == [True, True, False]
