"""What a judgement looks at, against plain definitions on small mixed fabrics."""

from __future__ import annotations

from collections import Counter
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.prove.budget import Budget
from tdsl.prove.view import View
from tests.fabrics import Builder
from tests.prove.mixed_fabrics import attached, degree, graph, links, mixed, passing, units, views

SEEDS = range(28)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_view_looks_at(seed: int) -> None:
    f = mixed(seed)
    for view in views(f, seed):
        at, inner, own = degree(view), passing(view), units(view)
        n = f.device_count
        kind = [f.set_of(d).kind for d in range(n)]
        assert view.a.tolist() == [a for _, a, _ in links(view)] and view.b.tolist() == [b for _, _, b in links(view)]
        assert view.degree.tolist() == [at[d] for d in range(n)]
        assert view.is_chip.tolist() == [x == "chip" for x in kind]
        first = links(view.intact or view)
        assert view.chips_joined == any(kind[a] == kind[b] == "chip" for _, a, b in first)
        assert view.direct == (view.chips_joined or any(f.forwards[a] or f.forwards[b] for _, a, b in first))
        assert set(np.flatnonzero(view.forwards).tolist()) == inner
        assert view.units.tolist() == own
        words = {"host": "hosts", "chip": "chips", "switch": "switches"}
        assert view.unit_word == (words[kind[own[0]]] if own else "hosts")
        others = [d for d in range(n) if kind[d] in ("host", "chip") and view.devices[d] and at[d] and d not in own]
        assert view.others.tolist() == others
        assert view.trunks.tolist() == [i for i, (_, a, b) in enumerate(links(view)) if a in inner and b in inner]
        g = graph(view)
        assert view.label.tolist() == [min(nx.node_connected_component(g, v)) for v in range(n)]
        net = view.graph
        assert net.nodes == n
        listed = Counter((min(a, b), max(a, b)) for a, b in g.edges())
        both = sorted([(b, a, x) for (a, b), x in listed.items()] + [(a, b, x) for (a, b), x in listed.items()])
        assert list(zip(net.head.tolist(), net.tail.tolist(), net.capacity.tolist(), strict=True)) == both
        where = attached(view)
        found = view.attachment
        assert list(zip(*(x.tolist() for x in (found.end, found.port, found.node, found.hub)), strict=True)) == where
        access = {node for end, _, node, _ in where if end in own and node < n}
        assert set(np.flatnonzero(view.access).tolist()) == access
        assert view.names(view.units) == [f.device_name(d) for d in own]


@pytest.mark.parametrize("seed", SEEDS)
def test_parts_of_a_fabric(seed: int) -> None:
    """Of a group its devices with what is in them, links among them and to endpoints; of a device all its links and what
    they lead to."""
    f = mixed(seed)
    budget = Budget(flow_work=7)
    whole = View.whole(f, budget)
    assert whole.core is f.built and whole.devices is f.built and whole.rows.tolist() == list(range(f.link_count))
    assert whole.budget is budget and whole.name == "" and whole.intact is None and whole.lost is None
    n = f.device_count
    for devices in ([*range(1, 5), *range(13, 17)], [0], [13, 17], [5, 6], [n - 1], list(range(17, n)), []):
        element = FabricElement("some", np.array(devices, dtype=np.int64))
        while more := [d for d in range(n) if int(f.container[d]) in devices and d not in devices]:
            devices = [*devices, *more]
        for device in (False, True):
            view = View.part(f, element, device, budget)
            rows = []
            for r in range(f.link_count):
                a, b = int(f.device_a[r]), int(f.device_b[r])
                inside = a in devices, b in devices
                ends = f.set_of(a).kind in ("host", "chip"), f.set_of(b).kind in ("host", "chip")
                if any(inside) if device else all(inside) or (inside[0] and ends[1]) or (inside[1] and ends[0]):
                    rows.append(r)
            assert view.rows.tolist() == rows
            reached = {*devices} | {int(x[r]) for r in rows for x in (f.device_a, f.device_b)}
            assert set(np.flatnonzero(view.devices).tolist()) == {d for d in reached if f.built[d]}
            assert set(np.flatnonzero(view.core).tolist()) == {d for d in devices if f.built[d]}
            assert (view.name, view.budget, view.intact, view.lost) == ("some", budget, None, None)


@pytest.mark.parametrize("seed", SEEDS)
def test_views_after_failures(seed: int) -> None:
    """What failed is gone with its contents and what crosses it; a unit that lost its last link is none; failures add up."""
    f, rng = mixed(seed), Random(seed)
    whole = View.whole(f, Budget(flow_work=5))
    view, lost, gone = whole, set[int](), set[int]()
    for _ in range(2):
        failed = rng.sample(range(f.device_count), rng.randint(0, 2))
        cut = rng.sample(range(f.link_count), rng.randint(0, min(f.link_count, 3))) if rng.random() < 0.7 else None
        columns = []
        for size, chosen in ((f.device_count, failed), (f.link_count, cut or [])):
            column = np.zeros(size, dtype=np.bool_)
            column[chosen] = True
            columns.append(column)
        view = view.without(columns[0], None if cut is None else columns[1])
        dead = set(failed)
        while more := {d for d in range(f.device_count) if int(f.container[d]) in dead} - dead:
            dead |= more
        gone |= dead
        for r in range(f.link_count):
            crossed = {int(f.port_device[p]) for p in (f.link_via_a[r], f.link_via_b[r]) if p >= 0}
            if r in (cut or ()) or dead & {int(f.device_a[r]), int(f.device_b[r]), *crossed}:
                lost.add(r)
        rows = [r for r in range(f.link_count) if r not in lost]
        devices = np.array([bool(f.built[d]) and d not in gone for d in range(f.device_count)])
        left = View(f, devices, devices, np.array(rows, dtype=np.int64), intact=whole)
        gone |= {u for u in units(left) if degree(whole)[u] and not degree(left)[u]}
        assert view.rows.tolist() == rows and set(np.flatnonzero(view.lost).tolist()) == lost
        kept = [d for d in range(f.device_count) if f.built[d] and d not in gone]
        assert np.flatnonzero(view.devices).tolist() == np.flatnonzero(view.core).tolist() == kept
        assert view.intact is whole and view.budget is whole.budget and view.name == ""


def test_switches_are_units_where_there_are_no_endpoints() -> None:
    b = Builder("switches")
    for kind, count in (("panel", 2), ("switch", 3)):
        b.devices(kind, b.model(kind, kind.upper(), {"p": 8}), count)
    view = View.whole(b.build())
    assert view.units.tolist() == [2, 3, 4] and view.unit_word == "switches" and view.others.tolist() == []
