"""What the checker takes for a lower end of bisection: never more than the least, whatever is stated."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import BISECTION, Rejected, bisection_lower_bound_shown, value_of_form
from tests.certificates.made import as_json, net_of
from tests.fabrics import random_chips, random_fabric, random_layers, superpod, without
from tests.prove.judges import least_over_all_splits

SEEDS = st.integers(0, 35)


def shown(fabric, stated):
    """What the checker takes a lower end for, in grains; nothing where it rejects it."""
    try:
        form = value_of_form(json.loads(json.dumps(stated)), BISECTION["lower"], "lower")
        return bisection_lower_bound_shown(net_of(fabric), form)
    except (Rejected, LookupError, ValueError, TypeError, ArithmeticError):
        return 0


@cache
def small(seed):
    """A fabric of which all splits are soon tried, as JSON; the checker's view of it; and the least of them, in grains."""
    kind = seed % 4
    if kind == 3:
        f = superpod(2, 3, 2, 2, uplinks=2).build()
        f = without(f, sorted(np.random.default_rng(seed).choice(f.link_count, 3, replace=False).tolist()))
    else:
        f = (random_fabric(seed, 4, 6, 2, 8, 1), random_layers(seed), random_chips(seed, 6, 10))[kind].build()
    fabric = as_json(f)
    net = net_of(fabric)
    return fabric, net, Fraction(least_over_all_splits(f), net.grain) if len(net.units) > 1 else Fraction(0)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_sides_in_any_order_show_the_least_and_no_more(seed, random, asked):
    fabric, net, least = small(seed)
    assume(len(net.units) > 1)
    order = sorted(net.units | net.forward)
    random.shuffle(order)
    stated = {"by": "splits", "parts": [{"least": asked, "order": [[d] for d in order]}]}
    assert (shown(fabric, stated) == asked) == (asked <= least)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.data())
def test_no_hubs_with_shares_show_too_much(seed, data):
    """Each switch divides among some of those after it in an order, and the last are hubs."""
    fabric, net, least = small(seed)
    inner = data.draw(st.permutations(sorted(net.forward - net.units)))
    assume(inner and len(net.units) > 1)
    shares = {}
    for i, v in enumerate(inner[:-1]):
        above = data.draw(st.lists(st.sampled_from(inner[i + 1 :]), max_size=3, unique=True))
        weight = {w: data.draw(st.integers(0, 3)) for w in above}
        if sum(weight.values()) or data.draw(st.booleans()):
            shares[v] = {w: str(Fraction(n, max(sum(weight.values()), 1))) for w, n in weight.items()}
    hubs = [v for v in inner if v not in shares]
    assert shown(fabric, {"by": "shares", "parts": [{"hubs": hubs, "shares": shares}]}) <= least


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.data())
def test_no_routes_show_too_much(seed, data):
    """Between all pairs, or from any hubs, however much each of them is asked for; with those that are equal as one or not."""
    fabric, net, least = small(seed)
    assume(len(net.units) > 1)
    chosen = data.draw(st.lists(st.sampled_from(sorted(net.forward)), unique=True)) if net.forward else []
    hubs = {v: data.draw(st.integers(1, 3)) for v in chosen} or None
    routes = [{"share": 1, "by": "lengths", "parts": data.draw(st.sampled_from([1, 12])), "lengths": []}]
    quotient = data.draw(st.booleans())
    assert shown(fabric, {"by": "routes", "hubs": hubs, "quotient": quotient, "routes": routes}) <= least
