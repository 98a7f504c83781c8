"""Zero-load delays of small fabrics, against networkx."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, NotBounded
from tdsl.prove.delays import delay_floor, least_delay_between, time_of, worst_delay
from tdsl.prove.shortest_paths import FAR
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, TIME, Quantity
from tests.fabrics import Builder
from tests.verify import judges

SECOND = 10**15
"""Femtoseconds."""
METRE = 4_900_000
"""Femtoseconds of a metre of cable: 4.9 ns."""


def ways(f: Fabric) -> tuple[nx.DiGraph, list[tuple[int, int]], list[int]]:
    """The forwarding devices with the time of each step, the ends as (device, time to it), and what each device takes, in fs."""
    inner, units = judges.forwarders(f), set(View.whole(f).units.tolist())
    own = [time_of(f.model_of(d)) or 0 for d in range(f.device_count)]
    g = nx.DiGraph()
    g.add_nodes_from(inner)
    ends = [(d, 0) for d in sorted(inner & units)]
    for (a, b), statement in zip(judges.pairs(f), f.link_statement.tolist(), strict=True):
        time = int(f.statements[statement].settings["length"].amount) * METRE
        for x, y in ((a, b), (b, a)):
            if x in inner and y in inner:
                g.add_edge(x, y, weight=min(time + own[y], g.get_edge_data(x, y, {"weight": FAR})["weight"]))
            elif x in units and x not in inner and y in inner:
                ends.append((y, own[x] + time))
    return g, ends, own


def agrees(f: Fabric) -> None:
    """The delay is that of the worst two ends, and the path is one of that time, with the fewest steps."""
    g, ends, own = ways(f)
    far = dict(nx.all_pairs_dijkstra_path_length(g))
    times: dict[int, list[tuple[int, int]]] = {}
    for i, (x, before) in enumerate(ends):
        for y, after in ends[:i]:
            if y in far[x]:
                times.setdefault(before + own[x] + far[x][y] + after, []).extend([(x, y), (y, x)])
    found = worst_delay(View.whole(f))
    if not times:
        assert found is None
        return
    assert isinstance(found, Bound)
    assert found.lower == found.upper == Fraction(max(times), SECOND)
    path = list(found.proof_lower.devices)
    source, target = path[0], path[-1]
    assert (source, target) in times[max(times)]
    assert nx.path_weight(g, path, "weight") == far[source][target]
    shortest = nx.all_shortest_paths(g, source, target, weight="weight") if source != target else [[source]]
    assert len(path) == min(map(len, shortest))


def cabled(b: Builder, one: int, other: int, metres: int) -> None:
    """One link of so many metres."""
    b.connect("connect", length=Quantity(Fraction(metres), LENGTH))
    b.link(one, other)


def timed(f: Fabric, latency: Sequence[int]) -> Fabric:
    """The fabric with a latency in femtoseconds for each of its models."""
    facts = [{"latency": Quantity(Fraction(x, SECOND), TIME)} for x in latency]
    return replace(f, models=tuple(replace(m, facts=x) for m, x in zip(f.models, facts, strict=True)))


def clos(seed: int) -> Fabric:
    """Leaves of two models, with hosts of two models and with storage, below spines; most leaves have the same uplinks, some have
    none."""
    rng = Random(seed)
    b = Builder("clos")
    models = [b.model("switch", name, {"p": 60}) for name in ("LEAF", "EDGE", "SPINE")]
    hosts = [b.model("host", name, {"nic": 4}, accelerators=1) for name in ("ONE", "TWO")]
    leaf, edge = (b.devices(name, model, rng.randint(1, 4)) for name, model in zip(("leaf", "edge"), models, strict=False))
    spine = b.devices("spine", models[2], rng.randint(1, 3))
    ends = [b.devices(name, model, rng.randint(1, 6)) for name, model in zip(("x", "y"), hosts, strict=True)]
    store = b.devices("store", b.model("host", "STORE", {"nic": 1}), 1, role="storage")
    cabled(b, b.free(store, 0), b.free(leaf, 0), 90)
    same = rng.random() < 0.6
    low = [(s, i) for s in (leaf, edge) for i in range(s.count)]
    for one in low:
        for s in range(spine.count if rng.random() > 0.15 else 0):
            for _ in range(rng.randint(1, 2)):
                cabled(b, b.free(*one), b.free(spine, s), 2 + s if same else rng.randint(0, 4))
    for end in ends:
        for h in range(end.count):
            for _ in range(rng.randint(1, 2)):
                cabled(b, b.free(end, h), b.free(*rng.choice(low)), rng.randint(0, 9))
    return timed(b.build(), [rng.randrange(20_000_000) for _ in b.models])


def mesh(seed: int) -> Fabric:
    """Chips linked to chips at random, some with a host of its own."""
    rng = Random(seed)
    b = Builder("mesh")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 60}, accelerators=1), rng.randint(2, 6))
    host = b.devices("h", b.model("host", "H", {"nic": 2}, accelerators=1), rng.randint(1, 3))
    for _ in range(rng.randint(1, 9)):
        x, y = rng.randrange(chip.count), rng.randrange(chip.count)
        if x != y:
            cabled(b, b.free(chip, x), b.free(chip, y), rng.randint(0, 9))
    for h in range(host.count):
        cabled(b, b.free(host, h), b.free(chip, rng.randrange(chip.count)), rng.randint(0, 9))
    return timed(b.build(), [rng.randrange(9_000_000) for _ in b.models])


@pytest.mark.parametrize(("make", "count"), [(clos, 100), (mesh, 60)])
def test_delays_of_the_farthest_ends(make: Callable[[int], Fabric], count: int) -> None:
    for seed in range(count):
        agrees(make(seed))


def star(spines: int, count: int, latency: tuple[int, int] = (0, 0)) -> Fabric:
    """So many leaves with two hosts each; the hosts at leaf i have cables of i m and i + 1 m."""
    b = Builder("star")
    leaf = b.devices("leaf", b.model("switch", "LEAF", {"p": 9}), count)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 9}), max(spines, 1))
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2 * count)
    for i in range(count):
        for k in range(2):
            cabled(b, b.free(host, 2 * i + k), b.free(leaf, i), i + k)
        for s in range(spines):
            cabled(b, b.free(leaf, i), b.free(spine, s), 1)
    return timed(b.build(), [*latency, 0])


@pytest.mark.parametrize("count", [2, 3, 4])
def test_equivalent_leaves(count: int) -> None:
    """With a spine the two leaves with the longest cables are the farthest, without one two hosts of the last leaf are."""
    for spines in (0, 1):
        found = worst_delay(View.whole(star(spines, count)))
        assert isinstance(found, Bound) and found.lower == Fraction(METRE * (2 * count - 1 + 2 * spines), SECOND)
        assert spines or len(found.proof_lower.devices) == 1


def test_what_is_missing_is_named() -> None:
    """Models of devices that forward and have links, and links without a length; hosts may be silent."""

    def said(f: Fabric, silent: str, bare: int = 0) -> object:
        models = tuple(replace(m, facts={}) if m.name in silent.split() else m for m in f.models)
        statements = tuple(replace(s, settings={}) if i < bare else s for i, s in enumerate(f.statements))
        return worst_delay(View.whole(replace(f, models=models, statements=statements)))

    f = star(1, 2, (7, 11))
    no_latency = ("2 LEAF have no `latency`", "1 SPINE has no `latency`")
    assert said(f, "LEAF SPINE H") == NotBounded(no_latency, Fraction(5 * METRE, SECOND))
    assert said(f, "H").lower == Fraction(7 + 11 + 7 + 5 * METRE, SECOND)  # type: ignore[attr-defined]
    assert isinstance(said(star(0, 2, (7, 11)), "SPINE"), Bound)
    cases = (("", 1, ("one link has no `length`",)), ("", 2, ("2 links have no `length`",)))
    for silent, bare, reasons in (*cases, ("LEAF SPINE H", 6, (*no_latency, "6 links have no `length`"))):
        known = said(f, silent, bare)
        assert isinstance(known, NotBounded) and known.reasons == reasons


def test_a_floor_of_what_is_known() -> None:
    """Of the farthest two ends, and of two sets of ends: networkx over the parts that are stated."""
    for seed in range(40):
        f = (clos, mesh)[seed % 2](seed)
        view = View.whole(f)
        g, _, own = ways(f)
        for (a, b), statement in zip(judges.pairs(f), f.link_statement.tolist(), strict=True):
            time = int(f.statements[statement].settings["length"].amount) * METRE
            for x, y in ((a, b), (b, a)):
                least = g.get_edge_data(x, y, {"weight": FAR})["weight"]
                g.add_edge(x, y, weight=min(time + own[y], least))
        inner = judges.forwarders(f)
        units = view.units.tolist()
        here, there = set(units[: len(units) // 2]), set(units[len(units) // 2 :])
        found = {}
        for x in here:  # no way leads through an end that forwards nothing
            open_to = g.subgraph(inner | {x} | there)
            kept = nx.subgraph_view(open_to, filter_edge=lambda a, b, may=inner | {x}: a in may)
            far = nx.single_source_dijkstra_path_length(kept, x)
            found.update({(x, y): own[x] + far[y] for y in there if y in far})
        masks = [np.isin(np.arange(f.device_count), sorted(s)) for s in (here, there)]
        least = least_delay_between(view, masks[0], masks[1])
        assert least == (Fraction(min(found.values()), SECOND) if found else None), seed
        known = worst_delay(view)
        assert delay_floor(view) == (0 if known is None else known.lower)  # type: ignore[union-attr]
    bare = replace(star(1, 2), models=tuple(replace(m, facts={}) for m in star(1, 2).models))
    assert delay_floor(View.whole(bare)) == Fraction(5 * METRE, SECOND)


def test_a_sum_of_just_the_limit_is_too_great() -> None:
    """Two switches: four times 2^58 fs are 2^60."""
    b = Builder("two")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 9}), 2)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    for one, other in (
        (b.free(host, 0), b.free(sw, 0)),
        (b.free(host, 1), b.free(sw, 1)),
        (b.port(sw, 0, "p", 1), b.port(sw, 1, "p", 1)),
    ):
        cabled(b, one, other, 0)
    f = b.build()
    found = worst_delay(View.whole(timed(f, [FAR // 4 - 1, 0])))
    assert isinstance(found, Bound) and found.lower == Fraction(2 * (FAR // 4 - 1), SECOND)
    for own in ([FAR // 4, 0], [0, FAR // 4]):
        assert worst_delay(View.whole(timed(f, own))) == NotBounded(("the delays are too great to add up",))
