"""What a permutation has to keep: networks, links of a fabric, rails; and nodes with equal links."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network
from tdsl.prove.symmetry import (
    SymmetryFacts,
    arc_image,
    equal_demands,
    equal_rows,
    equivalent_nodes,
    orbit_labels,
    permutation_keeps_view,
    same_network,
)
from tdsl.prove.view import View
from tests.fabrics import Builder, superpod
from tests.harness import sampled
from tests.prove.networks import columns, wired

READS = ("", "lengths", "order", "names", "bundles")


@pytest.mark.parametrize("seed", range(24))
def test_permutations_of_networks(seed: int) -> None:
    """Every permutation of five nodes; a network is identical to itself alone."""
    r = Random(seed)
    n = 5
    held = {(a, b): r.choice((1, 1, 2)) for a in range(n) for b in range(n) if a != b and r.random() < 0.5}
    held |= {(b, a): c for (a, b), c in held.items()} if seed % 2 else {}
    forwards, weight = np.array([r.random() < 0.7 for _ in range(n)]), np.array([r.choice((1, 1, 2)) for _ in range(n)])
    arcs = columns((a, b, c) for (a, b), c in held.items())
    net = Network.of(forwards, *arcs)
    for image in permutations(range(n)):
        at = np.array(image)
        same = {(image[a], image[b]): c for (a, b), c in held.items()} == held
        found = arc_image(net, at, weight)
        assert (found is not None) == (same and (forwards[at] == forwards).all() and (weight[at] == weight).all())
        if found is not None:
            assert (at[net.tail] == net.tail[found]).all() and (at[net.head] == net.head[found]).all()
    assert arc_image(net, np.zeros(n, dtype=np.int64)) is None and arc_image(net, np.arange(n - 1)) is None
    assert same_network(net, net) and not (held and same_network(net, Network.of(~forwards, *arcs)))
    assert not (held and same_network(net, net.with_capacity(net.capacity + 1)))


@pytest.mark.parametrize("seed", range(24))
def test_nodes_with_equal_rows(seed: int) -> None:
    """The classes of a label whose rows are the same, whatever sums of a hash say."""
    r = Random(seed)
    label = [r.choice((0, 0, 1)) for _ in range(8)]
    rows = [(r.randrange(8), r.randrange(4), r.choice((1, 1, 2))) for _ in range(14)]
    total: list[Counter[int]] = [Counter() for _ in range(8)]
    for v, w, x in rows:
        total[v][w] += x
    wanted = [next(u for u in range(8) if label[u] == label[v] and total[u] == total[v]) for v in range(8)]
    assert equal_rows(np.array(label), *columns(rows)).tolist() == wanted


def test_demands_are_refined_until_nothing_changes() -> None:
    """0 sends to 3 and 4, 1 to 5, 2 to 6 and 7, which 8 sends to as well: 3 and 4 are the receivers that are equivalent, and 6
    and 7; 5 differs from 3 only in what its sender sends elsewhere."""
    source, target = np.array([0, 0, 1, 2, 2, 8, 8]), np.array([3, 4, 5, 6, 7, 6, 7])
    out, into = equal_demands(np.zeros(9, dtype=np.int64), source, target, np.ones(7, dtype=np.int64))
    assert out.tolist() == [0, 1, 2, 3, 3, 3, 3, 3, 2]
    assert into.tolist() == [0, 0, 0, 3, 3, 5, 6, 6, 0]


def test_orbits_are_the_lowest_of_all_that_are_reached() -> None:
    assert orbit_labels(6, [np.array([1, 0, 2, 3, 4, 5]), np.array([0, 2, 1, 3, 5, 4])]).tolist() == [0, 0, 0, 3, 4, 4]
    assert orbit_labels(5, [np.array([1, 2, 3, 4, 0])]).tolist() == [0] * 5
    assert orbit_labels(3, []).tolist() == [0, 1, 2]


def links(f: Fabric, image: list[int], word: str) -> list[tuple[int, ...]]:
    """Every link as it is after a permutation, in order."""
    size = [f.link_bundle.tolist().count(x) if x >= 0 else 0 for x in f.link_bundle.tolist()]
    out = []
    for i in range(f.link_count):
        ends = sorted((image[f.device_a[i]], image[f.device_b[i]]))
        vias = sorted(image[f.port_device[p]] if p >= 0 else -1 for p in (f.link_via_a[i], f.link_via_b[i]))
        read = (f.link_statement[i], f.link_class[i], f.link_medium[i]) if word == "lengths" else ()
        run = (f.link_run[i],) if word == "lengths" and len(f.link_run) else ()
        bundle = (size[i],) if word == "bundles" else ()
        out.append((*ends, *vias, f.link_rate[i], *read, *run, *bundle))
    return sorted(out)


def kept(f: Fabric, units: list[int], image: list[int], word: str) -> bool:
    """Whether a permutation keeps what is read."""
    same = (f.device_set, f.device_model, f.built, f.tier)
    if any(column[d] != column[image[d]] for column in same for d in range(f.device_count)):
        return False
    inside = f.container.tolist()
    if any(inside[d] >= 0 and inside[image[d]] != image[inside[d]] for d in range(f.device_count)):
        return False
    if word == "names" and any(image[u] != u for u in units):
        return False
    if word == "order" and all([image[u] for u in units] != units[k:] + units[:k] for k in range(len(units))):
        return False
    return links(f, list(range(f.device_count)), word) == links(f, image, word)


def made(seed: int) -> Fabric:
    """Three hosts, three boxes with a switch in each, two panels. All hosts and all boxes are equivalent, or nearly so: every
    seed disturbs some of the columns that a permutation may have to keep, in two links or three."""
    r = Random(seed)
    b = Builder("made")
    panel = b.devices("panel", b.model("panel", "PANEL", {"p": 30}), 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 12}, accelerators=1), 3)
    box = b.devices("box", b.model("switch", "BOX", {"q": 4}), 3)
    sw = b.devices("box.sw", b.model("switch", "SW", {"p": 20}), 3, 1, inside=box)
    for _ in range(2):
        b.connect("connect all")
    every = range(3)
    for n, s in product(every, every):
        for _ in range(1 + (seed % 3 == 1 and r.random() < 0.3)):
            b.link(b.free(node, n), b.free(sw, s), statement=0)
    for s in every:
        b.link(b.free(sw, s), b.free(sw, (s + 1) % 3), 800 if seed % 5 == 1 and s else 400)
    f = b.build()

    def disturbed(usual: int, *others: int) -> Ints:
        column = np.full(f.link_count, usual)
        for other in others if r.random() < 0.4 else ():
            column[r.sample(range(f.link_count), r.choice((1, 2, 3)))] = other
        return column

    via = [disturbed(-1, *r.sample((panel.first, panel.first + 1), 1 + seed % 2)) for _ in "ab"]
    return replace(
        f,
        link_via_a=np.where(via[0] >= 0, f.port_base[via[0]], -1),
        link_via_b=np.where(via[1] >= 0, f.port_base[via[1]], -1),
        link_bundle=disturbed(-1, 0, 1) if seed % 2 else disturbed(1, 0, -1),
        link_class=disturbed(0, 1),
        link_medium=disturbed(0, 1),
        link_run=disturbed(3, 4) if seed % 3 else np.zeros(0, dtype=np.int64),
        built=np.arange(f.device_count) != (node.first + 1 if seed % 6 == 2 else -1),
    )


@pytest.mark.parametrize("seed", sampled(range(30), 2))
def test_every_permutation_of_small_fabrics(seed: int) -> None:
    f = made(seed)
    view = View.whole(f)
    r = Random(seed)
    facts = {word: SymmetryFacts(view, frozenset({word} - {""})) for word in READS}
    turns = list(permutations(range(3)))
    for node, box, panel in product(turns, turns, permutations(range(2))):
        chosen = box if r.random() < 0.9 else r.choice(turns)
        image = [*panel, *(2 + x for x in node), *(5 + x for x in box), *(8 + x for x in chosen)]
        for word in READS:
            assert facts[word].kept_by(np.array(image)) == kept(f, view.units.tolist(), image, word), (word, image)
    assert not permutation_keeps_view(view, np.zeros(f.device_count, dtype=np.int64)) and not permutation_keeps_view(
        view, np.arange(f.device_count - 1)
    )
    assert permutation_keeps_view(view, np.arange(f.device_count), frozenset(READS[1:]))


FOUR = wired("h0-s0 h1-s0 h2-s0 h3-s0 h5")
"""Four hosts on one leaf, and two hosts without a link."""


def exchange(one: int, two: int, reads: frozenset[str] = frozenset(), fabric: Fabric = FOUR, **given: Any) -> bool:
    """Whether all is kept where two hosts change places."""
    image = np.arange(fabric.device_count)
    image[[1 + one, 1 + two]] = 1 + two, 1 + one
    return permutation_keeps_view(View.whole(fabric), image, reads, **given)


def test_only_permutations_are_kept() -> None:
    """Two devices without a link at one place keep all links, but are no permutation."""
    view, twice = View.whole(FOUR), np.arange(7)
    twice[6] = 5
    assert exchange(4, 5) and exchange(0, 1) and not exchange(0, 4)
    assert not any(permutation_keeps_view(view, image) for image in (twice, np.arange(6), np.arange(8)))


def test_named_devices_stay_among_themselves() -> None:
    some = [np.array([1, 2]), np.array([2, 3])]
    assert [exchange(*x, fixed=some) for x in ((0, 1), (1, 2), (0, 2), (3, 0), (4, 5))] == [False] * 4 + [True]
    assert exchange(0, 1, fixed=some[:1]) and exchange(2, 3, fixed=some[:1])


@pytest.mark.parametrize(
    ("bundles", "kept"),
    [
        ((0, -1, -1, -1), False), ((-1, -1, -1, -1), True), ((0, 1, -1, -1), True), ((0, 1, 1, -1), False), ((0, 0, 1, 1), True),
        ((3, 3, -1, -1), True), ((1, -1, 1, -1), False),
    ],
)  # fmt: skip
def test_links_are_in_bundles_of_one_size(bundles: tuple[int, ...], kept: bool) -> None:
    """The first two hosts change places."""
    f = replace(FOUR, link_bundle=np.array(bundles))
    assert exchange(0, 1, frozenset({"bundles"}), f) is kept and exchange(0, 1, fabric=f)


def test_words_that_are_unknown() -> None:
    with pytest.raises(ValueError, match=r"unknown words: \['colour', 'weight'\]"):
        SymmetryFacts(View.whole(FOUR), frozenset({"weight", "order", "colour"}))


def test_twins_have_equal_neighbours_with_equal_counts():
    graph = adjacency_network(6, np.array([0, 1, 2, 2, 3]), np.array([4, 4, 4, 4, 5]))
    assert [c.tolist() for c in equivalent_nodes(graph, np.arange(4))] == [[0, 1], [2], [3]]


def test_rails_are_renamed_as_a_whole() -> None:
    """The leaves of two rails may be exchanged in all units, and not in one of them."""
    f = superpod(2, 2, 3, 2, manager=False, omit_last=False).build()
    view, place = View.whole(f), {f.device_path(d): d for d in range(f.device_count)}
    for units, kept in (((0, 1), True), ((0,), False)):
        image = np.arange(f.device_count)
        for u in units:
            one, two = place[f"su[{u}].leaf[0]"], place[f"su[{u}].leaf[1]"]
            image[[one, two]] = two, one
        assert permutation_keeps_view(view, image) and permutation_keeps_view(view, image, frozenset({"rails"})) is kept
