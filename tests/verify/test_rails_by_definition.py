"""Rails of hosts as endpoints, on small random fabrics: devices, links, names and demands against their definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove import by_rail
from tdsl.prove.by_rail import ByRail
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder

End = tuple[int, int]
"""A host's device and a rail, -1 without."""


def fabric(seed: int) -> Fabric:
    """Hosts of two declarations with storage and switches between them; links between hosts and switches, and a few others."""
    rng = Random(seed)
    b = Builder("railed")
    host, store, sw = (b.model(kind, name, {"p": 40}) for kind, name in (("host", "NODE"), ("host", "STORE"), ("switch", "SW")))
    one = b.devices("one", b.model("host", "ONE", {"p": 40}), rng.randint(1, 3), role="accelerator")
    switches = b.devices("sw", sw, rng.randint(2, 4))
    storage = b.devices("store", store, 1, role="storage")
    two = b.devices("pod.two", host, rng.randint(1, 2), 2, role="accelerator")
    b.connect("connect all")
    for s in (one, two, storage):
        for row in range(s.count):
            for _ in range(rng.randint(0 if seed % 3 == 0 else 1, 3)):
                b.link(b.free(s, row), b.free(switches, rng.randrange(switches.count)), rng.choice([100, 400]) * GBPS)
    for _ in range(rng.randint(0, 3)):
        x, y = rng.sample(range(switches.count), 2)
        b.link(b.free(switches, x), b.free(switches, y))
    if rng.random() < 0.5:
        b.link(b.free(two, 0), b.free(one, 0))
    return b.build()


def made(seed: int, patch: pytest.MonkeyPatch) -> tuple[View, list[int], ByRail | None]:
    """A view, the rail of every link by chance, and the view by these rails."""
    f, rng = fabric(seed), Random(seed + 1)
    rails = [rng.choice([-1, 0, 0, 1, 2]) for _ in range(f.link_count)]
    if seed % 4 == 1:
        bare = set(View.whole(f).units.tolist()[:1])  # a host without rails
        ends = zip(f.device_a.tolist(), f.device_b.tolist(), strict=True)
        rails = [-1 if {*e} & bare else r for e, r in zip(ends, rails, strict=True)]
    if seed % 5 == 2:  # a rail of each switch
        upper = [b if f.is_switch[b] else -1 for b in f.device_b.tolist()]
        rails = [-1 if b < 0 or rng.random() < 0.1 else b % 3 for b in upper]
    patch.setattr(by_rail, "link_rail", lambda fabric: np.array(rails, dtype=np.int64))
    view = View.whole(f)
    if seed % 2:
        kept = np.array(sorted(rng.sample(range(f.link_count), f.link_count - f.link_count // 5)), dtype=np.int64)
        view = replace(view, rows=kept)
    between = np.flatnonzero(f.is_end[f.device_a] & f.is_end[f.device_b])
    if seed % 6 == 4 and len(between):  # the one link between two hosts
        view = replace(view, rows=between)
    return view, rails, ByRail.of(view)


def ends_by_hand(view: View, rails: list[int]) -> list[tuple[End | int, End | int]]:
    """Of every link both ends: a rail of a host, a host without rails, or a device that stays as it is."""
    f, units = view.fabric, set(view.units.tolist())
    links = [(int(f.device_a[row]), int(f.device_b[row]), rails[row]) for row in view.rows.tolist()]
    railed = {d for a, b, rail in links if rail >= 0 for d in (a, b)}

    def end(d: int, rail: int) -> End | int:
        if d not in units or (rail < 0 and d in railed):
            return d
        return d, rail

    return [(end(a, rail), end(b, rail)) for a, b, rail in links]


def units_by_hand(view: View, rails: list[int]) -> list[End]:
    return sorted({e for pair in ends_by_hand(view, rails) for e in pair if isinstance(e, tuple)})


def test_every_rail_is_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the links of its rail, each at a port of its own, behind the devices of the fabric."""
    seen = 0
    for seed in range(60):
        view, rails, found = made(seed, monkeypatch)
        wanted = units_by_hand(view, rails)
        if all(rail < 0 for _, rail in wanted):
            assert found is None
            continue
        assert found is not None
        seen += 1
        f, g = view.fabric, found.fabric
        assert [(int(found.hosts[h]), int(r)) for h, r in zip(found.host, found.rail, strict=True)] == wanted, seed
        assert found.hosts.tolist() == view.units.tolist() and len(found.units) == len(wanted)
        what: dict[int, End | int] = dict(zip(found.units.tolist(), wanted, strict=True))
        ends = [(int(g.device_a[row]), int(g.device_b[row])) for row in view.rows.tolist()]
        assert [(what.get(a, a), what.get(b, b)) for a, b in ends] == ends_by_hand(view, rails), seed
        assert found.rows is view.rows and (found.name, found.budget) == (view.name, view.budget)
        others = np.setdiff1d(np.arange(f.link_count), view.rows)
        assert g.link_a[others].tolist() == f.link_a[others].tolist() and g.link_b[others].tolist() == f.link_b[others].tolist()
        ports = [*g.link_a[view.rows].tolist(), *g.link_b[view.rows].tolist()]
        assert len({*ports}) == len(ports)
        shown = (set(np.flatnonzero(view.devices).tolist()) - set(view.units.tolist())) | set(found.units.tolist())
        assert set(np.flatnonzero(found.devices).tolist()) == set(np.flatnonzero(found.core).tolist()) == shown
    assert seen > 40


def test_columns_of_the_devices_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more declaration for each with units, and every column as long as there are devices."""
    for seed in range(40):
        view, rails, found = made(seed, monkeypatch)
        if found is None:
            continue
        f, g = view.fabric, found.fabric
        wide = max(rails[row] for row in view.rows.tolist()) + 1
        sets = [f.sets[i] for i in sorted({int(f.device_set[d]) for d in view.units.tolist()})]
        fresh, at = g.sets[len(f.sets) :], f.device_count
        assert len(fresh) == len(sets) and g.models[: len(f.models)] == f.models
        degree = [0] * g.device_count
        for row in view.rows.tolist():
            for d in (int(g.device_a[row]), int(g.device_b[row])):
                degree[d] += 1
        most = max(degree[f.device_count :])
        for i, (s, new) in enumerate(zip(sets, fresh, strict=True)):
            assert (new.index, new.first, new.count) == (len(f.sets) + i, at, s.count * wide)
            assert new.parts[:-1] == s.parts and (new.parts[-1].name, new.parts[-1].kind) == ("rail", "host")
            assert [(a.low, a.size) for a in new.parts[-1].axes] == [(0, wide)]
            (ports,) = new.model.classes
            assert (ports.name, ports.size, ports.first, ports.rate, new.model.port_count) == ("port", most, 0, None, most)
            rows = np.arange(at, at + new.count)
            assert (g.device_set[rows] == new.index).all() and (g.device_model[rows] == len(f.models) + i).all()
            assert g.models[len(f.models) + i] is new.model
            at += new.count
        assert g.device_count == at == len(g.tier) == len(g.plane) == len(g.built) == len(g.device_model)
        behind = slice(f.device_count, None)
        assert g.built[behind].all() and not g.tier[behind].any() and (g.plane[behind] == -1).all()
        assert g.port_base[: f.device_count + 1].tolist() == f.port_base.tolist()
        assert {*np.diff(g.port_base[f.device_count :]).tolist()} == {most}


def test_names_of_rails_and_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(30):
        view, rails, found = made(seed, monkeypatch)
        if found is None:
            continue
        f = view.fabric
        wanted = [f.device_name(d) + (f" rail {r}" if r >= 0 else "") for d, r in units_by_hand(view, rails)]
        assert found.names(found.units) == wanted == [found.called(k) for k in range(len(wanted))]
        others = np.flatnonzero(found.devices[: f.device_count])
        assert found.names(others) == [f.device_name(d) for d in others.tolist()]


def demand(seed: int, count: int, ring: bool = False) -> TrafficDemand:
    rng = Random(seed)
    pairs = {tuple(rng.sample(range(count), 2)): rng.randint(1, 4) for _ in range(rng.randint(1, 5))}
    if ring:
        pairs = {(i, (i + 1) % count): 1 for i in range(count)}
    source, target = np.array(list(pairs), dtype=np.int64).T
    return TrafficDemand(source, target, np.array(list(pairs.values())), ring=ring)


def laid_by_hand(units: list[End], hosts: list[int], asked: TrafficDemand) -> list[tuple[int, int, int]]:
    """Rail by rail, hosts without rails last: places among the units and amounts."""
    place, out = {e: k for k, e in enumerate(units)}, []
    for rail in [*range(max(r for _, r in units) + 1), -1]:
        if asked.ring:
            there = [place[h, rail] for h in hosts if (h, rail) in place]
            out += [(x, y, 1) for x, y in zip(there, [*there[1:], *there[:1]], strict=True) if len(there) > 1]
            continue
        for s, t, x in zip(asked.source.tolist(), asked.target.tolist(), asked.amount.tolist(), strict=True):
            if (hosts[s], rail) in place and (hosts[t], rail) in place:
                out.append((place[hosts[s], rail], place[hosts[t], rail], x))
    return out


def test_what_rails_send(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(80):
        view, rails, found = made(seed, monkeypatch)
        if found is None:
            continue
        units, hosts = units_by_hand(view, rails), view.units.tolist()
        for ring in (False, True):
            asked = demand(seed, len(hosts), ring)
            sent = found.laid(asked)
            rows = list(zip(sent.source.tolist(), sent.target.tolist(), sent.amount.tolist(), strict=True))
            assert rows == laid_by_hand(units, hosts, asked), (seed, ring)
            silent = {h for h in range(len(hosts)) if not any(d == hosts[h] for d, _ in units)}
            assert found.silent(asked) == bool(silent & {*asked.source.tolist(), *asked.target.tolist()})
            assert found.silent(None) == bool(silent)


def said_by_hand(view: View, rails: list[int], asked: TrafficDemand | None, name: Callable[[int], str]) -> str:
    """The first two that have no path to each other over switches, or between which no host has a rail."""
    f, units, hosts = view.fabric, units_by_hand(view, rails), view.units.tolist()
    graph = nx.Graph()
    graph.add_nodes_from(range(f.device_count))
    hubs: list[set[object]] = [set() for _ in units]
    pairs = ends_by_hand(view, rails)
    graph.add_edges_from((a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int) and f.is_switch[[a, b]].all())
    for i, (a, b) in enumerate(pairs):
        for one, other in ((a, b), (b, a)):
            if isinstance(one, tuple):
                inner = isinstance(other, int) and f.is_switch[other]
                hub = min(nx.node_connected_component(graph, other)) if inner else f"link {i}"
                hubs[units.index(one)].add(hub)
    apart = {(u, v) for u in range(len(units)) for v in range(len(units)) if not hubs[u] & hubs[v]}

    def said(u: int, v: int) -> str:
        one, other = units[u][1], units[v][1]
        joined = any(
            hubs[x] & hubs[y] for x in range(len(units)) for y in range(len(units)) if (units[x][1], units[y][1]) == (one, other)
        )
        names = [name(u), name(v)] if joined or min(one, other) < 0 else [f"rail {one}", f"rail {other}"]
        return f"{names[0]} and {names[1]} are not connected"

    if asked is None:
        return said(*min(apart)) if apart else ""
    if not asked.ring:
        for s, t in zip(asked.source.tolist(), asked.target.tolist(), strict=True):
            mine, theirs = ({r for d, r in units if d == hosts[x]} for x in (s, t))
            if not mine & theirs - {-1} and not (-1 in mine and -1 in theirs):
                return f"{f.device_name(hosts[s])} and {f.device_name(hosts[t])} have no rail in common"
    return next((said(s, t) for s, t, _ in laid_by_hand(units, hosts, asked) if (s, t) in apart), "")


def test_which_two_have_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for seed in range(50):
        view, rails, found = made(seed, monkeypatch)
        if found is None:
            continue
        for asked in (None, demand(seed, len(view.units)), demand(seed, len(view.units), ring=True)):
            wanted = said_by_hand(view, rails, asked, found.called)
            assert found.apart(asked) == wanted, (seed, asked)
            seen.add((wanted[:4] == "rail", wanted[-6:]))
    assert seen == {(False, ""), (True, "nected"), (False, "nected"), (False, "common")}


# ---------------------------------------------------------------- which endpoints are asked about
