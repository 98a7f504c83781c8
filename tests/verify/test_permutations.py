"""What a permutation of devices has to keep, against a judge that compares lists: every permutation of small fabrics."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.network import Network
from tdsl.prove.symmetry import (
    SymmetryFacts,
    arc_image,
    equal_demands,
    equal_rows,
    orbit_labels,
    permutation_keeps_view,
    same_network,
)
from tdsl.prove.view import View
from tests.fabrics import Builder

READS = ("", "lengths", "rails", "order", "names", "bundles")


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


def links(f: Fabric, image: list[int], word: str, rail: list[int]) -> list[tuple[int, ...]]:
    """Every link as it is after a permutation, in order."""
    size = [f.link_bundle.tolist().count(x) if x >= 0 else 0 for x in f.link_bundle.tolist()]
    out = []
    for i in range(f.link_count):
        ends = sorted((image[f.device_a[i]], image[f.device_b[i]]))
        vias = sorted(image[f.port_device[p]] if p >= 0 else -1 for p in (f.link_via_a[i], f.link_via_b[i]))
        read = (f.link_statement[i], f.link_class[i], f.link_medium[i]) if word == "lengths" else ()
        run = (f.link_run[i],) if word == "lengths" and len(f.link_run) else ()
        bundle = (size[i],) if word == "bundles" else ()
        out.append((*ends, *vias, f.link_rate[i], *read, *run, *bundle, rail[i]))
    return sorted(out)


def kept(f: Fabric, units: list[int], image: list[int], word: str, rail: list[int]) -> bool:
    """Whether a permutation keeps what is read, with any renaming of the rails."""
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
    after = links(f, image, word, rail)
    names = sorted({x for x in rail if x >= 0})
    renamings = [dict(zip(names, p, strict=True)) for p in permutations(names)]
    return any(links(f, list(range(f.device_count)), word, [new.get(x, x) for x in rail]) == after for new in renamings)


@pytest.mark.parametrize("seed", range(40))
def test_every_permutation_of_small_fabrics(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    f = made(seed)
    view = View.whole(f)
    r = Random(seed)
    rail = [(0, 1, seed % 2 - 1)[s % 3] if r.random() < 0.95 else -1 for s in f.device_b.tolist()]
    monkeypatch.setattr("tdsl.prove.symmetry.link_rail", lambda fabric: np.array(rail))
    facts = {word: SymmetryFacts(view, frozenset({word} - {""})) for word in READS}
    turns = list(permutations(range(3)))
    for node, box, panel in product(turns, turns, permutations(range(2))):
        chosen = box if r.random() < 0.9 else r.choice(turns)
        image = [*panel, *(2 + x for x in node), *(5 + x for x in box), *(8 + x for x in chosen)]
        for word in READS:
            mine = rail if word == "rails" else [0] * len(rail)
            found = facts[word].kept_by(np.array(image))
            wanted = kept(f, view.units.tolist(), image, word, mine)
            assert found <= wanted if word == "rails" else found == wanted, (word, image)
    assert not permutation_keeps_view(view, np.zeros(f.device_count, dtype=np.int64)) and not permutation_keeps_view(
        view, np.arange(f.device_count - 1)
    )
    assert permutation_keeps_view(view, np.arange(f.device_count), frozenset(READS[1:]))


def rails(shared: bool = False) -> tuple[Fabric, Ints]:
    """Two hosts with three ports each and a switch for every rail; the link to the third switch has none. The exchange of the
    first two switches."""
    b = Builder("rails")
    node = b.devices("node", b.model("host", "NODE", {"nic": 3}, accelerators=1), 2)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 20}), 3)
    b.connect("connect all")
    for h, s in product(range(2), range(3)):
        b.link(b.port(node, h, "nic", s), b.free(sw, 0 if shared and s == 2 else s))
    image = np.arange(5)
    image[[2, 3]] = 3, 2
    return b.build(), image


def test_rails_are_renamed_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanging the switches of two rails renames the two; a link without a rail is never taken for one with."""
    f, image = rails()
    reads = frozenset({"rails"})
    for given, wanted in (((0, 1, 2), True), ((0, 1, -1), True), ((2, 0, -1), True), ((0, -1, 1), False), ((-1, 0, 1), False)):
        monkeypatch.setattr("tdsl.prove.symmetry.link_rail", lambda fabric, given=given: np.array([*given, *given]))
        assert permutation_keeps_view(View.whole(f), image, reads) is wanted
    rail = np.array([0, 1, 2, 1, 0, 2])  # the hosts have the two rails the other way round
    monkeypatch.setattr("tdsl.prove.symmetry.link_rail", lambda fabric: rail)
    assert permutation_keeps_view(View.whole(f), image, reads)
    swapped = image.copy()
    swapped[[0, 1]] = 1, 0
    assert permutation_keeps_view(View.whole(f), swapped, reads)
    rail[5] = 0
    assert not permutation_keeps_view(View.whole(f), swapped, reads)


def test_a_renaming_moves_links_whose_devices_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the switches of rails 0 and 1 are exchanged, links elsewhere of rail 0 would be of rail 1."""
    f, image = rails(shared=False)
    for third, wanted in ((0, False), (1, False), (2, True)):
        monkeypatch.setattr("tdsl.prove.symmetry.link_rail", lambda fabric, third=third: np.array([0, 1, third, 0, 1, third]))
        assert permutation_keeps_view(View.whole(f), image, frozenset({"rails"})) is wanted


@pytest.mark.parametrize("seed", range(30))
def test_permutations_of_networks(seed: int) -> None:
    """Every permutation of five nodes; a network is identical to itself alone."""
    r = Random(seed)
    n = 5
    held = {(a, b): r.choice((1, 1, 2)) for a in range(n) for b in range(n) if a != b and r.random() < 0.5}
    held |= {(b, a): c for (a, b), c in held.items()} if seed % 2 else {}
    pairs = sorted(held)
    forwards = [r.random() < 0.7 for _ in range(n)]
    weight = [r.choice((1, 1, 2)) for _ in range(n)]
    tail, head = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    net = Network.of(np.array(forwards), tail, head, np.array([held[p] for p in pairs], dtype=np.int64))
    for image in permutations(range(n)):
        same = {(image[a], image[b]): c for (a, b), c in held.items()} == held
        same &= all(forwards[image[v]] == forwards[v] and weight[image[v]] == weight[v] for v in range(n))
        found = arc_image(net, np.array(image), np.array(weight))
        assert (found is not None) == same
        if found is not None:
            assert [image[t] for t in net.tail.tolist()] == net.tail[found].tolist()
            assert [image[h] for h in net.head.tolist()] == net.head[found].tolist()
    assert arc_image(net, np.zeros(n, dtype=np.int64)) is None and arc_image(net, np.arange(n - 1)) is None
    assert same_network(net, net)
    if pairs:
        assert not same_network(net, net.with_capacity(net.capacity + 1))
        assert not same_network(net, Network.of(~np.array(forwards), tail, head, np.array([held[p] for p in pairs])))


@pytest.mark.parametrize("seed", range(40))
def test_nodes_with_equal_rows(seed: int) -> None:
    """The classes of a label whose rows are the same, whatever sums of a hash say."""
    r = Random(seed)
    n = 8
    label = [r.choice((0, 0, 1)) for _ in range(n)]
    rows = [(r.randrange(n), r.randrange(4), r.choice((1, 1, 2))) for _ in range(14)]
    columns = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(3))
    first = equal_rows(np.array(label), *columns)
    total: dict[int, dict[int, int]] = {v: {} for v in range(n)}
    for v, w, x in rows:
        total[v][w] = total[v].get(w, 0) + x
    wanted = [next(u for u in range(n) if label[u] == label[v] and total[u] == total[v]) for v in range(n)]
    assert first.tolist() == wanted


def test_rows_whose_hashes_agree_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdsl.prove.symmetry._pseudorandom_words", lambda x: np.zeros(len(x), dtype=np.uint64))
    owner, other = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 2, 0, 1])
    assert equal_rows(np.zeros(3, dtype=np.int64), owner, other, np.ones(6, dtype=np.int64)).tolist() == [0, 1, 0]
    assert equal_rows(np.zeros(3, dtype=np.int64), owner, other, np.array([1, 1, 1, 1, 1, 2])).tolist() == [0, 1, 2]


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


def test_words_that_are_not_known_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown words"):
        SymmetryFacts(SimpleNamespace(), frozenset({"rail"}))  # type: ignore[arg-type]
