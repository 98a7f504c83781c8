"""Links that one group lacks and its equals have, against a count of all instances."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

from tdsl.prove.budget import Budget
from tdsl.prove.network import CapacityPairs
from tdsl.prove.restored_links import restore_missing_links
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder


def lacking(seed: int) -> Builder:
    """Groups of leaves and group spines joined within the group, spines beside, some links missing, some devices not built."""
    rng = Random(seed)
    b = Builder("lacking")
    switch = b.model("switch", "SW", {"p": 300})
    groups, leaves, own, spines = rng.choice([2, 3, 4, (2, 2)]), rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 4)
    count = groups if isinstance(groups, int) else 4
    apart = seed % 3 == 0 and isinstance(groups, int)
    paths = {"leaf": ("g.leaf", groups, leaves), "own": ("g.own", groups, own), "spine": ("spine", spines)}
    paths |= {"spine": ("h.spine", groups, spines)} if apart else {}
    sets = {kind: b.devices(paths[kind][0], switch, *paths[kind][1:]) for kind in rng.sample([*paths], 3)}
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


def capacities(pairs: CapacityPairs) -> Counter[tuple[int, int]]:
    columns = (x.tolist() for x in (pairs.a, pairs.b, pairs.capacity))
    return Counter({(a, b): c for a, b, c in zip(*columns, strict=True) if a != b})


def test_a_restored_network_has_what_was_added_and_no_more() -> None:
    """So a bound on it, less its cost, is one on the network as it is."""
    some = 0
    for seed in range(80):
        f = lacking(seed).build()
        net = unit_network(View.whole(f))
        found = restore_missing_links(net, f, Budget(restored_parts=1))
        if found is None:
            continue
        more = capacities(found.net.trunks)
        more.subtract(capacities(net.trunks))
        assert {pair: x for pair, x in more.items() if x} == capacities(found.added)
        assert found.cost >= sum(more.values()) and min(more.values()) >= 0
        assert found.net.access.capacity.tolist() == net.access.capacity.tolist()
        some += 1
    assert some > 30


def test_as_many_restored_parts_as_the_limit() -> None:
    """Two of 38 links are restored: exactly a nineteenth; and the table of all instances is as large as the limit."""
    b = Builder("four")
    switch = b.model("switch", "SW", {"p": 64})
    leaf, spine = b.devices("leaf", switch, 4), b.devices("spine", switch, 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    for x in range(4):
        b.link(b.free(node, x), b.free(leaf, x))
        for _ in range(10 if x else 8):
            b.link(b.free(leaf, x), b.free(spine, 0))
    f = b.build()
    net = unit_network(View.whole(f))
    for limits, some in (((19,), True), ((20,), False), ((19, 4), True), ((19, 3), False)):
        budget = Budget(**dict(zip(("restored_parts", "restored_pairs"), limits, strict=False)))
        assert (restore_missing_links(net, f, budget) is not None) == some, limits
