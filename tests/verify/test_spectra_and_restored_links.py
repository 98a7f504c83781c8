"""The bound by the spectrum of a network against its formula, and links that a group lacks against a count of all instances."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import ceil
from random import Random

import numpy as np
import pytest

from tdsl.prove import spectral_bound
from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.restored_links import restore_missing_links
from tdsl.prove.spectral_bound import MARGINS, NOTHING, STEPS, _least_crossing, is_positive_semidefinite, spectral_cut_bound
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder

Links = dict[tuple[int, int], int]


def network(units: int, switches: int, links: Links) -> Network:
    """Units first, then switches; links by the lower and the higher node."""
    ends = list(links)
    columns = (np.array([e[i] for e in ends], dtype=np.int64) for i in (0, 1))
    size = units + switches
    made = Network.both_ways(np.arange(size) >= units, *columns, np.array(list(links.values()), dtype=np.int64))
    return Network(made.tail, made.head, made.capacity, made.forwards, (), np.arange(size), units, (1,))


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


def test_capacities_that_fit_a_word() -> None:
    """The largest entry times steps times units stays below 2^56."""
    ring = {(0, 1): 1, (1, 2): 1, (0, 2): 1}
    most = (2**56 - 1) // (STEPS * 3)  # of the degree, which is twice the capacity of a link
    for capacity, some in ((most // 2, True), (most // 2 + 1, False)):
        found = spectral_cut_bound(network(3, 0, dict.fromkeys(ring, capacity)))
        assert (found != NOTHING) == some


def test_margins_are_tried_from_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first part that is not shown is followed by a larger one; what is never shown, or is 0, gives nothing."""
    net = network(4, 0, dict.fromkeys(combinations(range(4), 2), 1))
    for shown, margin in ((1, 1e-4), (2, 1e-3), (3, 1e-2)):
        calls: list[int] = []

        def late(matrix: np.ndarray, shown: int = shown, calls: list[int] = calls) -> bool:
            calls.append(1)
            return len(calls) >= shown

        monkeypatch.setattr(spectral_bound, "is_positive_semidefinite", late)
        assert abs(float(spectral_cut_bound(net)[1]) - 4 * (1 - margin)) < 2 / STEPS
    monkeypatch.setattr(spectral_bound, "is_positive_semidefinite", lambda matrix: False)
    assert spectral_cut_bound(net) == NOTHING
    seen: list[np.ndarray] = []
    monkeypatch.setattr(spectral_bound, "is_positive_semidefinite", lambda matrix: bool(seen.append(matrix)) or True)
    monkeypatch.setattr(spectral_bound, "_second_eigenvalue", lambda laplace, weight: 1.0002 / STEPS)
    assert spectral_cut_bound(net)[1] == Fraction(1, STEPS)
    wanted = 4 * (STEPS * (4 * np.eye(4) - np.ones((4, 4))) - np.eye(4)) + 2 * np.ones((4, 4))
    assert seen[0].tolist() == wanted.tolist()
    monkeypatch.setattr(spectral_bound, "_second_eigenvalue", lambda laplace, weight: 0.9999 / STEPS)
    assert spectral_cut_bound(net) == NOTHING


def test_all_units_on_their_own_side_or_none() -> None:
    """Eight units with links of six: as much crosses with none moved as with half of them."""
    assert (
        _least_crossing(Fraction(6), 8, 6) == 12
        and _least_crossing(Fraction(7), 8, 6) == 10
        and _least_crossing(Fraction(5), 8, 6) == 10
    )


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


def test_large_matrices_are_not_judged() -> None:
    """Entries of 58 bits are; with one bit more nothing is said."""
    one = np.ones((1, 1), dtype=np.int64)
    assert is_positive_semidefinite(one * (2**58 - 1)) and not is_positive_semidefinite(one * 2**58)
    assert is_positive_semidefinite(np.array([[2, -1], [-1, 2]])) and not is_positive_semidefinite(np.array([[1, -2], [-2, 1]]))


def test_a_matrix_is_shown_by_a_factor_of_a_little_less() -> None:
    """Scaled to 56 bits, its least eigenvalue is 2^38 at least."""
    thin = np.array([[233, 144], [144, 89]])  # determinant 1, so that the least eigenvalue is about 1/322
    assert is_positive_semidefinite(thin) and is_positive_semidefinite(2 * thin) and not is_positive_semidefinite(5 * thin)


def test_a_rest_is_as_large_on_the_diagonal_as_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever factor is proposed, the rest is judged."""
    monkeypatch.setattr(np.linalg, "cholesky", np.zeros_like)
    for rows, shown in (
        ([[1, -1], [-1, 1]], True),
        ([[1, -2], [-2, 1]], False),
        ([[2, 1], [1, 0]], False),
        ([[0, 0], [0, 0]], True),
    ):
        assert is_positive_semidefinite(np.array(rows)) is shown


def test_the_multiplier_of_a_complete_graph() -> None:
    """Four nodes, each joined to all: 4 less a ten-thousandth, in steps of 10^-5; less than four links cross by it."""
    value, mu = spectral_cut_bound(network(4, 0, dict.fromkeys(combinations(range(4), 2), 1)))
    assert value == 4 and mu in (Fraction(399960, 10**5), Fraction(399959, 10**5))
    assert NOTHING == (0, 0)


# ---------------------------------------------------------------- restored links


def lacking(seed: int) -> Builder:
    """Groups of leaves and group spines joined within the group, spines beside, some links missing, some devices not built."""
    rng = Random(seed)
    b = Builder("lacking")
    switch = b.model("switch", "SW", {"p": 300})
    groups, leaves, own, spines = rng.choice([2, 3, 4, (2, 2)]), rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 4)
    count = groups if isinstance(groups, int) else 4
    kinds = ["leaf", "own", "spine"]
    rng.shuffle(kinds)
    sets = {}
    apart = seed % 3 == 0 and isinstance(groups, int)
    for kind in kinds:
        path, sizes = {
            "leaf": ("g.leaf", (groups, leaves)),
            "own": ("g.own", (groups, own)),
            "spine": ("h.spine" if apart else "spine", (groups, spines) if apart else (spines,)),
        }[kind]
        sets[kind] = b.devices(path, switch, *sizes)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), count * leaves)
    b.connect("connect all")
    for h in range(node.count):
        b.link(b.free(node, h), b.free(sets["leaf"], h), 100 * GBPS)
    for low, high in (("leaf", "own"), ("own", "spine"), ("leaf", "spine")):
        one, two = sets[low], sets[high]
        inner = one.count // count
        for x, y in product(range(inner), range(two.count if high == "spine" else two.count // count)):
            usual = rng.randint(0, 3)
            for g in range(count):
                times = max(usual - (rng.random() < 0.15), 0) + (rng.random() < 0.05)
                there = y if high == "spine" else g * (two.count // count) + y
                for _ in range(times):
                    b.link(b.free(one, g * inner + x), b.free(two, there), 200 * GBPS)
    last = sets["spine"].count - 1
    for s in range(last if seed % 2 else 0):
        for _ in range(3 if s != 1 else 2):
            b.link(b.free(sets["spine"], s), b.free(sets["spine"], last), 200 * GBPS)
    if seed % 5 == 0:
        b.link(b.free(sets["leaf"], 0), b.free(sets["own"], sets["own"].count - 1), 200 * GBPS)
    if seed % 4 == 3:
        b.omit(sets["spine"].first if seed % 8 == 3 else sets["leaf"].first)
    return b


def missing(net: Network, b: Builder, built: set[int]) -> Counter[tuple[int, int]]:
    """Of every pair of places, in all instances of a group, what an instance has less than the upper median of all."""
    out: Counter[tuple[int, int]] = Counter()
    trunks = {}
    for x, y, c in zip(net.trunks.a.tolist(), net.trunks.b.tolist(), net.trunks.capacity.tolist(), strict=True):
        trunks[int(net.transit[x]), int(net.transit[y])] = c
    for one, two in product(b.sets, b.sets):
        mine = {
            key: c
            for key, c in trunks.items()
            if one.first <= key[0] < one.first + one.count and two.first <= key[1] < two.first + two.count
        }
        if not mine:
            continue
        low, high = one, two
        if len(low.parts) < len(high.parts):
            low, high = two, one
            mine = {key[::-1]: c for key, c in mine.items()}
        times = int(np.prod([a.size for a in low.parts[0].axes] or [1]))
        both = len(high.parts) > 1 and high.parts[0] == low.parts[0]
        inner, other = low.count // times, high.count // times if both else 0
        where: dict[tuple[int, int], dict[int, int]] = {}
        crossed = False
        for (v, w), c in mine.items():
            g = (v - low.first) // inner
            crossed |= both and (w - high.first) // other != g
            where.setdefault(((v - low.first) % inner, w - high.first - g * other), {})[g] = c
        if crossed or times < 3:
            continue
        for (v, w), row in where.items():
            usual = sorted(row.get(g, 0) for g in range(times))[times // 2]
            for g in range(times):
                ends = low.first + g * inner + v, high.first + w + g * other
                if usual > row.get(g, 0) and set(ends) <= built:
                    out[min(ends), max(ends)] += usual - row.get(g, 0)
    return out


@pytest.mark.parametrize("seed", range(80))
def test_links_that_most_instances_have(seed: int) -> None:
    made = lacking(seed)
    f = made.build()
    net = unit_network(View.whole(f))
    wanted = missing(net, made, set(net.transit.tolist()))
    added, trunks = sum(wanted.values()), int(net.trunks.capacity.sum())
    for share in (1, 2, 5, 20, 10**6):
        found = restore_missing_links(net, f, Budget(restored_parts=share))
        if not added or added * share > trunks:
            assert found is None
            continue
        assert found is not None and found.cost == added
        ends = net.transit[found.added.a].tolist(), net.transit[found.added.b].tolist()
        listed = dict(zip(zip(*ends, strict=True), found.added.capacity.tolist(), strict=True))
        assert listed == dict(wanted) and list(listed) == sorted(listed)
        before = dict(
            zip(zip(net.trunks.a.tolist(), net.trunks.b.tolist(), strict=True), net.trunks.capacity.tolist(), strict=True)
        )
        after = found.net.trunks
        place = {d: i for i, d in enumerate(net.transit.tolist())}
        total = Counter(before) + Counter({(place[v], place[w]): x for (v, w), x in wanted.items() if v != w})
        assert dict(zip(zip(after.a.tolist(), after.b.tolist(), strict=True), after.capacity.tolist(), strict=True)) == total


def test_a_network_without_trunks_lacks_none() -> None:
    b = Builder("star")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    for h in range(4):
        b.link(b.free(node, h), b.free(sw, 0))
    f = b.build()
    assert restore_missing_links(unit_network(View.whole(f)), f) is None


def test_as_many_restored_parts_as_the_limit() -> None:
    """Two of 38 links are restored: exactly a nineteenth; and the table of all instances is as large as the limit."""
    b = Builder("four")
    switch = b.model("switch", "SW", {"p": 64})
    leaf, spine = b.devices("leaf", switch, 4), b.devices("spine", switch, 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for x in range(4):
        b.link(b.free(node, x), b.free(leaf, x))
        for _ in range(10 if x else 8):
            b.link(b.free(leaf, x), b.free(spine, 0))
    f = b.build()
    net = unit_network(View.whole(f))
    assert (
        restore_missing_links(net, f, Budget(restored_parts=19)) is not None
        and restore_missing_links(net, f, Budget(restored_parts=20)) is None
    )
    assert restore_missing_links(net, f, Budget(restored_parts=19, restored_pairs=4)) is not None
    assert restore_missing_links(net, f, Budget(restored_parts=19, restored_pairs=3)) is None
