"""The bound by the spectrum of a network, against its formula and against all splits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil
from random import Random

import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.spectral_bound import MARGINS, NOTHING, STEPS, is_positive_semidefinite, spectral_cut_bound
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.prove.networks import wired

Links = dict[tuple[int, int], int]


def drawn(seed: int) -> tuple[int, int, Links]:
    """Units with one link each to some switch, or units joined to each other; some switches have no unit."""
    rng = Random(seed)
    switches = rng.randint(3, 6) if seed % 3 else 0
    units = rng.randint(3, 8)
    links: Links = {(u, units + rng.randrange(switches)): rng.choice([1, 2, 9]) for u in range(units)} if switches else {}
    inner = range(units, units + switches) if switches else range(units)
    for a, b in combinations(inner, 2):
        if b == a + 1 or rng.random() < 0.6:
            links[a, b] = rng.choice([1, 2, 5])
    return units, switches, links


def network(units: int, switches: int, links: Links) -> Network:
    """Units first, then switches; links by the lower and the higher node."""
    ends = list(links)
    columns = (np.array([e[i] for e in ends], dtype=np.int64) for i in (0, 1))
    size = units + switches
    made = Network.both_ways(np.arange(size) >= units, *columns, np.array(list(links.values()), dtype=np.int64))
    return Network(made.tail, made.head, made.capacity, made.forwards, (), np.arange(size), units, (1,))


def second(weight: list[int], laplace: np.ndarray) -> float:
    """The second least number with Lx = μ·diag(w)x; nodes without units are where it is least."""
    own = [v for v, w in enumerate(weight) if w]
    other = [v for v, w in enumerate(weight) if not w]
    whole = laplace.astype(float)
    if other:
        whole = (
            whole[np.ix_(own, own)]
            - whole[np.ix_(own, other)] @ np.linalg.inv(whole[np.ix_(other, other)]) @ whole[np.ix_(other, own)]
        )
    root = np.diag([weight[v] ** -0.5 for v in own])
    found = sorted(np.linalg.eigvalsh(root @ whole @ root).tolist())
    return found[min(1, len(found) - 1)]


@pytest.mark.parametrize("seed", range(90))
def test_the_bound_of_the_spectrum(seed: int) -> None:
    """By a margin less than the second least eigenvalue; and what crosses is least over all numbers of moved units."""
    units, switches, links = drawn(seed)
    net = network(units, switches, links)
    count = switches or units
    weight = (
        [1] * units if not switches else [sum(key[1] == units + s for key in links if key[0] < units) for s in range(switches)]
    )
    laplace = np.zeros((count, count), dtype=np.int64)
    for (a, b), x in links.items():
        if not switches or a >= units:
            for v, w in ((a, b), (b, a)):
                laplace[v - (units if switches else 0), w - (units if switches else 0)] -= x
                laplace[v - (units if switches else 0), v - (units if switches else 0)] += x
    value, mu = spectral_cut_bound(net)
    wanted = second(weight, laplace)
    if sum(w > 0 for w in weight) < 2:
        assert (value, mu) == NOTHING
        return
    assert mu == Fraction(mu * STEPS) / STEPS and any(abs(float(mu) - wanted * (1 - x)) < 2 / STEPS for x in MARGINS)
    way = min(x for key, x in links.items() if key[0] < units) if switches else None
    moved = range(-(-units // 2) + 1) if way is not None else [0]
    each = [mu * (units * units - 2 * (2 * k + units % 2) ** 2) / (4 * units) + k * (way or 0) for k in moved]
    least = min([*each, Fraction(-(-units // 2) * way)] if way is not None else each)
    assert value == max(ceil(least), 0)
    best = (
        min(
            sum(x for (a, b), x in links.items() if side[a] != side[b])
            for side in product((0, 1), repeat=units + switches)
            if sum(side[:units]) == units // 2
        )
        if units + switches < 10
        else value
    )
    assert value <= best


def test_capacities_that_fit_a_word() -> None:
    """The largest entry times steps times units stays below 2^56."""
    ring = {(0, 1): 1, (1, 2): 1, (0, 2): 1}
    most = (2**56 - 1) // (STEPS * 3)  # of the degree, which is twice the capacity of a link
    for capacity, some in ((most // 2, True), (most // 2 + 1, False)):
        found = spectral_cut_bound(network(3, 0, dict.fromkeys(ring, capacity)))
        assert (found != NOTHING) == some


def positive(matrix: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by elimination in fractions."""
    rows = [row.copy() for row in matrix]
    while rows:
        if rows[0][0] < 0:
            return False
        if rows[0][0] == 0:
            if any(rows[0]):
                return False
            rows = [row[1:] for row in rows[1:]]
            continue
        rows = [[x - row[0] * y / rows[0][0] for x, y in zip(row[1:], rows[0][1:], strict=True)] for row in rows[1:]]
    return True


@pytest.mark.parametrize("seed", range(60))
def test_matrices_without_a_negative_eigenvalue(seed: int) -> None:
    """What is shown is so; what is so by more than a little is shown."""
    rng = Random(seed)
    size = rng.randint(1, 6)
    scale = 10 ** rng.choice([0, 2, 6, 12])
    factor = np.array([[rng.randint(-3, 3) for _ in range(size)] for _ in range(size)], dtype=np.int64)
    matrix = (factor @ factor.T) * scale + (np.eye(size, dtype=np.int64) * rng.choice([-2, -1, 0, 1, 2]) * scale)
    exact = [[Fraction(int(x)) for x in row] for row in matrix]
    found = is_positive_semidefinite(matrix)
    assert not found or positive(exact)
    eigenvalue = float(np.linalg.eigvalsh(matrix.astype(float))[0])
    if eigenvalue > 1e-3 * scale:
        assert found
    if eigenvalue < -1e-3 * scale:
        assert not found


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


def test_networks_without_a_bound_by_their_spectrum() -> None:
    """Units with two links or none, links between units beside switches, too few nodes, and more than the limit."""
    star: Links = {(u, 3 + u): 1 for u in range(3)} | {(3, 4): 1, (4, 5): 1, (3, 5): 1}
    assert spectral_cut_bound(network(3, 3, star)) != NOTHING
    assert spectral_cut_bound(network(3, 3, star), Budget(spectrum_nodes=3)) != NOTHING
    assert spectral_cut_bound(network(3, 3, star), Budget(spectrum_nodes=2)) == NOTHING
    for more in ({(0, 1): 1}, {(0, 4): 1}):
        assert spectral_cut_bound(network(3, 3, star | more)) == NOTHING
    assert spectral_cut_bound(network(4, 3, {(u + 1, 4 + u): 1 for u in range(3)} | {(4, 5): 1, (5, 6): 1})) == NOTHING
    assert spectral_cut_bound(network(2, 2, {(0, 2): 1, (1, 3): 1, (2, 3): 1})) == NOTHING
    assert spectral_cut_bound(network(2, 0, {(0, 1): 1})) == NOTHING
    assert spectral_cut_bound(network(3, 0, {(0, 1): 1, (1, 2): 1, (0, 2): 1}))[0] > 0


def test_switches_that_fall_apart_have_no_spectrum() -> None:
    """Two islands of leaves, and a switch that nothing joins to any unit."""
    islands: Links = {(u, 4 + u): 1 for u in range(4)} | {(4, 5): 1, (6, 7): 1}
    assert spectral_cut_bound(network(4, 4, islands)) == NOTHING
    alone: Links = {(u, 3 + u): 1 for u in range(3)} | {(3, 4): 1, (4, 5): 1}
    assert spectral_cut_bound(network(3, 4, alone)) == NOTHING
