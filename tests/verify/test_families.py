"""Bisection of every wiring that designs are made of, small and at random: each bound against one table of all cuts there are."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.patterns import random_regular
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.cuts import capacity_across_split, minimum_cut_of_split
from tdsl.prove.elimination import least_cut_by_elimination
from tdsl.prove.spectral_bound import is_positive_semidefinite, spectral_cut_bound
from tdsl.prove.switch_placements import least_cut_by_placements
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, random_fabric, torus, without
from tests.harness import compile_text
from tests.verify.test_any_topology import HERE

FAMILIES = {}


def family(make):
    FAMILIES[make.__name__] = make
    return make


def least_of_table(net):
    """The least of all sides of all units and nodes at once: a bit for each, a row for each choice, balanced ones only."""
    n, m = len(net.units), len(net.transit)
    sides = np.arange(1 << n + m - 1, dtype=np.int32)  # the last one is on the one side
    ours = sum((sides >> u) & 1 for u in range(n))
    sides = sides[abs(2 * ours - n) <= 1]
    value = np.zeros(len(sides), dtype=np.int64)
    for pairs, x, y in ((net.access, 0, n), (net.trunks, n, n), (net.loose, 0, 0)):
        for a, b, capacity in zip((pairs.a + x).tolist(), (pairs.b + y).tolist(), pairs.capacity.tolist(), strict=True):
            value += ((sides >> a ^ sides >> b) & 1) * capacity
    return int(value.min())


def switched(rng, count, ends, most=13):
    """Switches joined by these pairs, about one host on each, two at least; some links may be faster or lost."""
    b = Builder("switched")
    hosts = rng.integers(2, max(most - count, 2) + 1)
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), int(hosts))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 64}), count)
    b.connect("connect sw")
    for n in range(host.count):
        b.link(b.port(host, n), b.free(switch, n % count if rng.random() < 0.8 else int(rng.integers(count))))
    for x, y in ends:
        b.link(b.free(switch, x), b.free(switch, y))
    return b.build()


def chips(count, ends):
    """Chips joined by these pairs."""
    b = Builder("chips")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 64}), count, role="accelerator")
    b.connect("connect chip")
    for x, y in ends:
        b.link(b.free(chip, x), b.free(chip, y))
    return b.build()


@family
def dragonfly(rng):
    """Kim et al., ISCA 2008; arrangements of Hastings et al., CLUSTER 2015."""
    groups, a = ((3, 2), (4, 2), (3, 3), (2, 3), (5, 1), (2, 4))[rng.integers(6)]
    way = ("absolute", "relative", "circulant")[rng.integers(3)]
    ends = [(g * a + x, g * a + y) for g in range(groups) for x, y in combinations(range(a), 2)]
    for i in range(groups):
        for j in range(i):
            if way == "absolute":
                there, back = j, i - 1
            elif way == "relative":
                there, back = (j - i) % groups - 1, (i - j) % groups - 1
            else:  # the k-th step up and down stand side by side
                there, back = (2 * min(d, groups - d) - 1 + (2 * d > groups) for d in ((j - i) % groups, (i - j) % groups))
            ends.append((i * a + there % a, j * a + back % a))
    return switched(rng, groups * a, ends)


@family
def hyperx(rng):
    """Ahn et al., SC 2009."""
    sizes = ((2, 2), (3, 2), (3, 3), (4, 2), (2, 2, 2))[rng.integers(5)]
    wide = rng.integers(1, 3, len(sizes))
    at = list(np.ndindex(*sizes))
    ends = []
    for i, j in combinations(range(len(at)), 2):
        other = [d for d in range(len(sizes)) if at[i][d] != at[j][d]]
        if len(other) == 1:
            ends += [(i, j)] * int(wide[other[0]])
    return switched(rng, len(at), ends)


@family
def ring(rng):
    count = int(rng.integers(3, 9))
    return switched(rng, count, [(i, (i + 1) % count) for i in range(count)])


@family
def full_mesh(rng):
    count = int(rng.integers(2, 8))
    return switched(rng, count, [e for e in combinations(range(count), 2) for _ in range(int(rng.integers(1, 3)))])


@family
def regular(rng):
    """Singla et al., "Jellyfish", NSDI 2012."""
    count, degree = ((6, 3), (8, 3), (7, 4), (9, 4), (8, 5))[rng.integers(5)]
    found = random_regular(count, degree, int(rng.integers(10**6)), HERE)
    return switched(rng, count, list(zip(found.a.tolist(), found.b.tolist(), strict=True)))


@family
def twisted_torus(rng):
    """A wrapped link of one dimension comes back shifted in the other (Cámara et al., IEEE TPDS 21, 2010)."""
    x, y = ((3, 3), (4, 3), (5, 2), (6, 2), (3, 4), (7, 2))[rng.integers(6)]
    twist = int(rng.integers(y))
    ends = [(i * y + j, (i + 1) % x * y + (j + (twist if i == x - 1 else 0)) % y) for i in range(x) for j in range(y)]
    return chips(x * y, ends + [(i * y + j, i * y + (j + 1) % y) for i in range(x) for j in range(y)])


@family
def circuits(rng):
    """Blocks of chips in meshes whose faces an optical switch joins in any order (Jouppi et al., ISCA 2023)."""
    blocks = int(rng.integers(2, 4))
    ends = [(4 * b + i, 4 * b + j) for b in range(blocks) for i, j in ((0, 1), (2, 3), (0, 2), (1, 3))]
    for low, high in (((0, 2), (1, 3)), ((0, 1), (2, 3))):
        to = rng.permutation(blocks).tolist()
        ends += [(4 * b + out, 4 * to[b] + into) for b in range(blocks) for into, out in zip(low, high, strict=True)]
    return chips(4 * blocks, [e for e in ends if e[0] != e[1]])


@family
def clos(rng):
    """Leaves and spines with as many links as come out, dealt round."""
    leaves, spines, hosts = (int(rng.integers(2, 6)), int(rng.integers(1, 5)), int(rng.integers(3, 9)))
    b = Builder("clos")
    rails = int(rng.integers(1, min(leaves, 3) + 1))
    host = b.devices("node", b.model("host", "NODE", {"nic": rails}, accelerators=1), hosts)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 64}), leaves)
    spine = b.devices("spine", b.model("switch", "TOP", {"p": 64}), spines)
    b.connect("connect leaf")
    for n in range(hosts):
        for r in range(rails):
            b.link(b.port(host, n, "nic", r), b.free(leaf, (n * rails // hosts + r) % leaves))
    uplinks = int(rng.integers(1, 6))
    for i in range(leaves):
        for k in range(uplinks):
            b.link(b.free(leaf, i), b.free(spine, (i * uplinks + k) % spines))
    return b.build()


def drawn(name, seed):
    """A fabric of a family, whole or with a lost link and rates that differ."""
    rng = np.random.default_rng(seed)
    f = FAMILIES[name](rng)
    if f.link_count > 3 and rng.random() < 0.3:
        f = without(f, [int(rng.integers(f.link_count))])
    if rng.random() < 0.3:
        f.link_rate[:] = np.where(rng.random(f.link_count) < 0.6, 400, 100) * GBPS
    return f


def compared(name, seed):
    """Whether there was something to compare."""
    view = View.whole(drawn(name, seed))
    if len(view.units) < 2:
        return False
    found = bisection_bounds(view)
    true = least_of_table(found.net)
    assert capacity_across_split(found.net, found.cut.units, found.cut.nodes) == found.upper
    assert found.lower == found.upper == true, (name, seed)
    for other in (least_cut_by_elimination(found.net), least_cut_by_placements(found.net)):
        assert other is None or other[0] == true == minimum_cut_of_split(found.net, other[1]).value, (name, seed)
    assert spectral_cut_bound(found.net)[0] <= true
    return True


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_family_against_all_cuts(name):
    """Together two thousand and more."""
    assert sum(compared(name, seed) for seed in range(275)) == 275


@pytest.mark.parametrize(
    ("sizes", "links"),
    [((5, 5), 12), ((7, 3), 8), ((3, 7), 8), ((3, 3, 3), 26), ((4, 3, 3), 18), ((7, 5), 12), ((7, 7), 16), ((5, 3, 2), 18)],
)
def test_odd_tori(sizes, links):
    """Exact by an order of the chips. Two rows and what is between them: 2 x 5 + 2 of 5 x 5, 2 x 7 + 2 of 7 x 7."""
    found = bisection_bounds(View.whole(torus(*sizes).build()))
    assert (found.lower, found.upper) == (links, links)


@pytest.mark.parametrize(
    ("hosts", "rails", "ports", "over", "links"),
    [
        (68, "planes 8", 24, "5:1", 112),  # each plane: 20, 20, 20 and 8 hosts behind 4 uplinks; one leaf is divided
        (171, "", 16, "1:1", 66),
        (112, "", 24, "7:1", 16),
        (119, "planes 8", 24, "2:1", 280),
        (66, "planes 8", 16, "3:1", 120),
    ],
)
def test_over_and_undersubscribed_clos(hosts, rails, ports, over, links, tmp_path):
    text = f"""
model switch L {{ port p[1..{ports}]: 400Gbps {{ type GE }} }}
model switch B {{ port p[1..576]: 400Gbps {{ type GE }} }}
model host N {{ port nic[{rails[-1:] or 1}]: 400Gbps {{ type GE }} }}
fabric f {{
  hosts {hosts} x N
  {rails}
  clos {{ leaf L; spine {"B" if hosts == 66 else "L"}; oversubscription {over} }}
}}
"""
    result = compile_text(text, tmp_path, verify=False)
    assert {d.code for d in result.findings} <= {"E0461", "E0464"}  # 171 hosts: a leaf meets 8 of 11 spines
    found = bisection_bounds(View.whole(result.designs[0].fabric))
    assert (found.lower, found.upper) == (links, links)


SEEDS = st.integers(0, 10**6)


@settings(max_examples=200, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 7), st.integers(1, 3), st.integers(0, 12), st.booleans())
def test_places_against_all_cuts(seed, switches, hosts, nics, cables, mixed):
    f = random_fabric(seed, switches, hosts, nics, cables, 0).build()
    if mixed:
        f.link_rate[:] = np.where(np.arange(f.link_count) % 3, 400, 100) * GBPS
    view = View.whole(f)
    net = unit_network(view)
    if len(net.units) > 1 and (found := least_cut_by_placements(net)) is not None:
        assert found[0] == least_of_table(net) == minimum_cut_of_split(net, found[1]).value


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
