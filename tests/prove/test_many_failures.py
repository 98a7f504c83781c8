"""Many failures at once: which are certain, scenario by scenario, and what is left of a flow."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np

from tdsl.fabric.graph import Bools, Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.many_failures import Connected, Failures, KeptFlow
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.view import View
from tests.fabrics import claim, random_chips, random_fabric, random_layers, scale_up, selector, superpod
from tests.prove.networks import wired
from tests.verify import judges


def at_one(f: Fabric, gone: Bools, lost: Bools, roots: list[int]) -> bool:
    """Whether all endpoints with links are at the component of the first root that is left, and two units or more are."""
    inner, units = judges.forwarders(f), set(View.whole(f).units.tolist())
    links = [(a, b) for i, (a, b) in enumerate(judges.pairs(f)) if a != b and not lost[i]]
    g = nx.Graph(links)
    root = next((x for x in roots if not gone[x]), None)
    if root is None:
        return False
    g.add_node(root)
    walk = nx.DiGraph((v, w) for x, y in links for v, w in ((x, y), (y, x)) if v in inner)
    walk.add_node(root)
    reached, near = {root} | nx.descendants(walk, root), {v: set(g[v]) for v in g if g[v]}
    for end in range(f.device_count):
        if not (f.is_end[end] or end in units) or end not in near:
            continue
        if not (end in reached if end in inner else near[end] <= inner & reached):
            return False
    return len([u for u in units if u in near and not gone[u]]) >= 2


def failures(f: Fabric, rng: Random, count: int) -> Failures:
    """So many scenarios, each of some devices and some links."""
    gone, lost = np.zeros((count, f.device_count), dtype=np.bool_), np.zeros((count, f.link_count), dtype=np.bool_)
    for i in range(count):
        for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
            gone[i, rng.randrange(f.device_count)] = True
        gone[i] = f.with_contents(gone[i])
        for _ in range(rng.choice([0, 1, 2, 4])) if f.link_count else ():
            lost[i, rng.randrange(f.link_count)] = True
        lost[i] |= f.links_lost(gone[i])
    return Failures(gone, lost)


def made(seed: int) -> Fabric:
    rng = Random(seed)
    if seed % 4 == 0:
        return random_chips(seed, chips=6, cables=12).build()
    if seed % 4 == 1:
        return random_layers(seed).build()
    b = random_fabric(seed, switches=rng.randint(2, 6), hosts=5, nics=2, cables=9, loose=seed % 3)
    store = b.devices("store", b.model("host", "STORE", {"nic": 2}), 2, role="storage")
    for x in range(2):
        for _ in range(rng.randint(0, 2)):
            b.link(b.free(store, x), b.free(b.sets[1], rng.randrange(b.sets[1].count)))
    b.link(b.free(b.sets[1], 0), b.free(b.sets[1], 0))  # a loop counts for nothing
    return b.build()


def test_what_is_certainly_connected() -> None:
    """From at most three forwarding devices that endpoints are connected to, the first that has not failed."""
    certain = {True: 0, False: 0}
    for seed in range(40):
        f, rng = made(seed), Random(seed)
        roots = 1 + seed % 3
        view = View.whole(f, replace(DEFAULT, search_roots=roots))
        kernel = Connected(view)
        hubs = np.unique(view.attachment.node)
        first = [x for x in hubs.tolist() if x < f.device_count][:roots]
        cases = failures(f, rng, rng.choice([1, 63, 64, 65, 130]))
        found = kernel.certain(cases)
        assert found.shape == (cases.count,) and found.dtype == np.bool_
        wanted = [at_one(f, cases.gone[i], cases.lost[i], first) for i in range(cases.count)]
        assert found.tolist() == [x and f.link_count > 0 for x in wanted], seed
        for x in wanted:
            certain[x] += 1
    assert min(certain.values()) > 120


def test_what_is_not_judged() -> None:
    """Chips inside of hosts, no links: nothing is certain. Without a failure all is, where it is judged."""
    made = (scale_up().build(), scale_up(switches=1).build(), wired("h0 h2"), superpod(1, 3, 2, 2).build())
    for f, judged in zip(made, (False, False, False, True), strict=True):
        none = Failures(np.zeros((2, f.device_count), dtype=np.bool_), np.zeros((2, f.link_count), dtype=np.bool_))
        kernel = Connected(View.whole(f))
        assert kernel.judged == judged and none.count == 2 and kernel.certain(none).tolist() == [judged] * 2


def expected(
    f: Fabric, kept: KeptFlow, here: Bools, there: Bools, arcs: list[tuple[int, int, int]], cut: set[int], lost: Bools
) -> tuple[bool, int, int]:
    """Whether each two devices keep the capacity for their flow, what is left of it, and of the ports of the smaller side."""
    forwards = View.whole(f).forwards
    place = [-2 if here[d] else -1 if there[d] else d for d in range(f.device_count)]
    capacity: dict[frozenset[int], int] = {}
    missing: dict[frozenset[int], int] = {}
    crossed: set[frozenset[int]] = set()
    left = {-2: 0, -1: 0}
    for i, (a, b) in enumerate(judges.pairs(f)):
        pair = frozenset((place[a], place[b]))
        if a == b or (len(pair) == 1 and min(pair) < 0) or not all(forwards[x] or place[x] < 0 for x in (a, b)):
            continue
        rate = int(f.link_rate[i])
        capacity[pair] = capacity.get(pair, 0) + rate
        missing[pair] = missing.get(pair, 0) + rate * bool(lost[i])
        for side in pair & set(left):
            left[side] += rate * (not lost[i])
        if i in cut:
            crossed.add(pair)
    carried: dict[frozenset[int], int] = {}
    for x, y, amount in arcs:
        carried[frozenset((x, y))] = max(amount, carried.get(frozenset((x, y)), 0))
    enough = all(missing[p] <= capacity[p] - carried.get(p, 0) for p in capacity if p not in crossed)
    return enough and min(left.values()) > 0, kept.value - sum(missing[p] for p in crossed), min(left.values())


def test_what_is_left_of_a_flow() -> None:
    """As the definition says; and what is certain is the maximum flow of what is left."""
    certain, others = 0, 0
    for seed in range(50):
        rng = Random(seed)
        f = random_layers(seed).build() if seed % 3 else random_fabric(seed, 5, 6, 3, 12, 4 * (seed % 2)).build()
        view = View.whole(f)
        every = selector(f, "node")
        one = rng.sample(range(len(every.elements)), len(every.elements))
        size = rng.randint(1, max(len(one) // 2, 1))
        of = replace(every, elements=tuple(every.elements[i] for i in one[:size]))
        to = replace(every, elements=tuple(every.elements[i] for i in one[size : 2 * size]))
        if seed % 5 == 1 and len(one) > 1:
            to = replace(selector(f, "top" if any(s.name == "top" for s in f.sets) else "core"))
        asked = claim(f, "throughput", of=(of,), of_to=(to,))
        whole = max_flow_between_sets(view, asked)
        kept = KeptFlow(view, asked)
        if isinstance(whole, str):
            assert not kept.judged
            continue
        assert kept.judged and kept.value == whole.bound.lower
        cases = failures(f, rng, 12)
        found, value, full = kept.figures(cases)
        arcs = list(whole.bound.proof_lower.arcs)
        for i in range(cases.count):
            want = expected(f, kept, whole.here, whole.there, arcs, set(whole.cut.tolist()), cases.lost[i])
            assert (bool(found[i]), int(value[i]), int(full[i])) == want, (seed, i)
            if found[i] and not cases.gone[i].any():
                after = max_flow_between_sets(view.without(cases.gone[i], cases.lost[i]), asked)
                assert not isinstance(after, str) and (after.bound.lower, after.full) == (value[i], full[i]), (seed, i)
                certain += 1
            others += not found[i]
    assert certain > 60 and others > 60
