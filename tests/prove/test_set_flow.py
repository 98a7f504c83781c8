"""The flow from one set of devices to another."""

from __future__ import annotations

from collections import Counter
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.set_flow import FlowBetweenSets, max_flow_between_sets, surviving_devices_of_selectors
from tdsl.prove.view import View
from tests.fabrics import claim, selector
from tests.harness import sampled
from tests.prove.mixed_fabrics import links, mixed, passing, units, views

SEEDS = range(28)


def largest(view: View, here: set[int], there: set[int], cut: set[int] = frozenset()) -> int:  # type: ignore[assignment]
    """The maximum flow between two sets by networkx, without the links of a cut."""
    f, g = view.fabric, nx.Graph()
    g.add_nodes_from(["from", "to"])
    pass_ = passing(view) | here | there
    for r, a, b in links(view):
        if r in cut or a not in pass_ or b not in pass_:
            continue
        ends = ["from" if d in here else "to" if d in there else str(d) for d in (a, b)]
        if ends[0] != ends[1]:
            before = g.get_edge_data(*ends, {"capacity": 0})["capacity"]
            g.add_edge(*ends, capacity=before + int(f.link_rate[r]))
    return int(nx.maximum_flow_value(g, "from", "to"))


def named(view: View, paths: tuple[str, ...]) -> set[int]:
    """The units of every element with its contents, or all of it where none was there before failures; those that are left."""
    own = set(units(view.intact or view))
    out: set[int] = set()
    for path in paths:
        for e in selector(view.fabric, path).elements:
            inside = set(e.devices.tolist())
            while more := {d for d in range(view.fabric.device_count) if int(view.fabric.container[d]) in inside} - inside:
                inside |= more
            out |= inside & own or inside
    return {d for d in out if view.devices[d]}


@pytest.mark.parametrize("seed", sampled(SEEDS, 2))
def test_the_flow_between_two_sets(seed: int) -> None:
    f = mixed(seed)
    rng = Random(seed)
    for view in views(f, seed):
        for _ in range(3):
            one, two = (
                tuple(rng.sample(["pod", "node", "gpu", "card", "spine", "store", "x"], rng.choice([1, 1, 2]))) for _ in "ab"
            )
            asked = claim(f, "throughput", of=tuple(selector(f, p) for p in one), of_to=tuple(selector(f, p) for p in two))
            here, there = named(view, one), named(view, two)
            assert set(np.flatnonzero(surviving_devices_of_selectors(view, asked.of)).tolist()) == here
            found = max_flow_between_sets(view, asked)
            if here & there:
                assert found == f"{f.device_name(min(here & there))} is on both sides"
                continue
            if not here or not there:
                assert found == "nothing that it names is left"
                continue
            pass_ = passing(view) | here | there
            sums = []
            for mine in (here, there):
                rows = [r for r, a, b in links(view) if (a in mine) != (b in mine) and {a, b} <= pass_]
                sums.append(sum(int(f.link_rate[r]) for r in rows))
            if not min(sums):
                assert found == "one of the two has no link"
                continue
            assert isinstance(found, FlowBetweenSets)
            value = largest(view, here, there)
            assert found.bound.lower == found.bound.upper == value and found.full == min(sums)
            assert set(np.flatnonzero(found.here).tolist()) == here and set(np.flatnonzero(found.there).tolist()) == there
            cut = found.cut.tolist()
            assert sum(int(f.link_rate[r]) for r in cut) == value and largest(view, here, there, set(cut)) == 0
            balance: Counter[int] = Counter()
            ends: Counter[tuple[int, int]] = Counter()
            for r, a, b in links(view):
                side = tuple(-2 if d in here else -1 if d in there else d for d in (a, b))
                ends[side] += int(f.link_rate[r])
                ends[side[::-1]] += int(f.link_rate[r])
            for a, b, x in found.bound.proof_lower.arcs:
                assert 0 < x <= ends[a, b]
                balance[a] += x
                balance[b] -= x
            assert {d: x for d, x in balance.items() if x} == ({-2: value, -1: -value} if value else {})
            crossed = found.bound.proof_upper.arcs
            assert {x for _, _, x in crossed} <= {1}
            assert sum(ends[a, b] for a, b, _ in crossed) == value
