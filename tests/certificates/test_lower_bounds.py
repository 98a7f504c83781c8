"""What the checker takes for a lower end of bisection: never more than the least, whatever is stated."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import BISECTION, Rejected, bisection_lower_bound_shown, value_of_form
from tdsl.fabric.patterns import random_regular
from tdsl.findings.source import SourceFile, SourceSpan
from tests.certificates.made import as_json, net_of
from tests.fabrics import Builder, random_chips, random_fabric, random_layers, superpod, without
from tests.prove.judges import least_over_all_splits
from tests.verify import judges

SEEDS = st.integers(0, 10**6)
HERE = SourceSpan(SourceFile("here.fab", ""), 0, 0)


def least(f, fabric):
    return Fraction(least_over_all_splits(f), net_of(fabric).grain)


def shown(fabric, stated):
    """What the checker takes a lower end for, in grains; None where it rejects it."""
    net = net_of(fabric)
    try:
        return bisection_lower_bound_shown(net, value_of_form(json.loads(json.dumps(stated)), BISECTION["lower"], "lower"))
    except (Rejected, LookupError, ValueError, TypeError, ArithmeticError):
        return None


def joined(count, ends, hosts=1):
    """Switches joined by these pairs, some hosts on each."""
    b = Builder("joined")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), count * hosts)
    switch = b.devices("sw", b.model("switch", "SW", {"p": hosts + 2 * len(ends)}), count)
    b.connect("connect joined")
    for n in range(host.count):
        b.link(b.port(host, n), b.free(switch, n // hosts))
    for x, y in ends:
        b.link(b.free(switch, x), b.free(switch, y))
    return b.build()


def random_switches(count, degree, seed, hosts):
    """A random regular graph (Singla et al., "Jellyfish", NSDI 2012)."""
    found = random_regular(count, degree, seed, HERE)
    return joined(count, list(zip(found.a.tolist(), found.b.tolist(), strict=True)), hosts)


def small(seed):
    """A fabric of which all splits are soon tried."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 0:
        return random_fabric(seed, 4, 6, 2, 8, 1).build()
    if kind == 1:
        return random_layers(seed).build()
    if kind == 2:
        return random_chips(seed, 7, 12).build()
    if kind == 3:
        f = superpod(2, 3, 2, 2, uplinks=2).build()
        return without(f, sorted(rng.choice(f.link_count, 3, replace=False).tolist()))
    return random_switches(6, 3, seed, 1)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_sides_in_any_order_show_the_least_and_no_more(seed, random, asked):
    f = small(seed)
    fabric = as_json(f)
    net = net_of(fabric)
    assume(len(net.units) > 1)
    assert len(net.units) == len(judges.units(f))
    order = sorted(net.units | net.forward)
    random.shuffle(order)
    stated = {"by": "splits", "parts": [{"least": asked, "order": [[d] for d in order]}]}
    assert (shown(fabric, stated) == asked) == (asked <= least(f, fabric))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.data())
def test_no_hubs_with_shares_show_too_much(seed, data):
    """Each switch divides among some of those after it in an order, and the last are hubs."""
    f = small(seed)
    fabric = as_json(f)
    net = net_of(fabric)
    inner = data.draw(st.permutations(sorted(net.forward - net.units)))
    assume(len(net.units) > 1 and inner)
    shares = {}
    for i, v in enumerate(inner[:-1]):
        above = data.draw(st.lists(st.sampled_from(inner[i + 1 :]), max_size=3, unique=True))
        weight = {w: data.draw(st.integers(0, 3)) for w in above}
        if sum(weight.values()) or data.draw(st.booleans()):
            shares[v] = {w: str(Fraction(n, max(sum(weight.values()), 1))) for w, n in weight.items()}
    hubs = [v for v in inner if v not in shares]
    assert (shown(fabric, {"by": "shares", "parts": [{"hubs": hubs, "shares": shares}]}) or 0) <= least(f, fabric)


def test_shares_that_show_more_than_there_is():
    """Shares that add up to more than one, circles, hubs with shares, two parts with one node, shares of nothing."""
    f = superpod(2, 3, 2, 2, uplinks=2).build()
    fabric = as_json(f)
    net = net_of(fabric)
    spines = sorted(v for v in net.forward if v.startswith("spine"))
    leaves = sorted(net.forward - {*spines})
    honest = {v: {s: str(Fraction(1, len(spines))) for s in spines} for v in leaves}

    def bound(shares, hubs=spines, times=1):
        try:
            return shown(fabric, {"by": "shares", "parts": [{"hubs": hubs, "shares": shares}] * times})
        except RecursionError:
            return None

    assert 0 < bound(honest) <= least(f, fabric)
    assert bound(honest, times=2) is None
    assert bound(honest | {leaves[0]: dict.fromkeys(spines, "1")}) is None
    assert bound(honest | {leaves[0]: {leaves[1]: "1"}, leaves[1]: {leaves[0]: "1"}}) is None
    assert bound(honest | {spines[0]: {spines[1]: "1"}}) is None
    assert bound(honest, hubs=[*spines, sorted(net.units)[0]]) is None
    zero = {v: {s: str(int(s == spines[0])) for s in spines} for v in leaves}
    assert bound(zero) <= bound(honest)
    none = {v: {spines[0]: "1"} for v in leaves}
    assert bound(none) == bound(zero)
