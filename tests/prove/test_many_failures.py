"""Many failures at once: which are certain, scenario by scenario, and what is left of a flow."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np

from tdsl.fabric.graph import Bools, Fabric
from tdsl.prove.many_failures import Connected, Failures, KeptFlow
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.view import View
from tests.fabrics import claim, random_chips, random_fabric, random_layers, scale_up, selector, superpod
from tests.prove.networks import wired
from tests.verify import judges


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


def connected(f: Fabric, gone: Bools, lost: Bools) -> bool:
    """Whether all ends that have links left are at one component of what forwards, and two units or more are."""
    inner, units = judges.forwarders(f), set(View.whole(f).units.tolist())
    links = [(a, b) for i, (a, b) in enumerate(judges.pairs(f)) if a != b and not lost[i]]
    g = nx.Graph((a, b) for a, b in links if {a, b} <= inner)
    ends = {d for link in links for d in link if f.is_end[d] or d in units}
    at = {b if a == end else a for a, b in links for end in ends - inner if end in (a, b)} | (ends & inner)
    g.add_nodes_from(at)
    return (
        bool(at)
        and at <= inner
        and nx.node_connected_component(g, min(at)) >= at
        and len(units & ends - {*np.flatnonzero(gone)}) > 1
    )


def test_what_is_certainly_connected() -> None:
    """Of many scenarios at once: what is certain is so, and most that is so is certain."""
    certain = true = 0
    for seed in range(40):
        f, rng = made(seed), Random(seed)
        kernel = Connected(View.whole(f))
        cases = failures(f, rng, rng.choice([1, 63, 64, 65, 130]))
        found = kernel.certain(cases)
        assert found.shape == (cases.count,) and found.dtype == np.bool_
        for i in range(cases.count):
            so = f.link_count > 0 and not cases.lost[i].all() and connected(f, cases.gone[i], cases.lost[i])
            assert so or not found[i], (seed, i)
            certain, true = certain + int(found[i]), true + so
    assert certain > 0.8 * true > 100


def test_what_is_not_judged() -> None:
    """Chips inside of hosts, no links: nothing is certain. Without a failure all is, where it is judged."""
    made = (scale_up().build(), scale_up(switches=1).build(), wired("h0 h2"), superpod(1, 3, 2, 2).build())
    for f, judged in zip(made, (False, False, False, True), strict=True):
        none = Failures(np.zeros((2, f.device_count), dtype=np.bool_), np.zeros((2, f.link_count), dtype=np.bool_))
        kernel = Connected(View.whole(f))
        assert kernel.judged == judged and none.count == 2 and kernel.certain(none).tolist() == [judged] * 2


def test_what_is_left_of_a_flow() -> None:
    """What is certain is the maximum flow of what is left, and what the ports of the smaller side carry then."""
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
        for i in range(cases.count):
            if found[i] and not cases.gone[i].any():
                after = max_flow_between_sets(view.without(cases.gone[i], cases.lost[i]), asked)
                assert not isinstance(after, str) and (after.bound.lower, after.full) == (value[i], full[i]), (seed, i)
                certain += 1
            others += not found[i]
    assert certain > 60 and others > 60
