"""Zero-load delays of small fabrics against Dijkstra's search, and the rules of lengths and latencies by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, NotBounded
from tdsl.prove.budget import DEFAULT
from tdsl.prove.delays import _cable_delays, time_of, worst_delay
from tdsl.prove.shortest_paths import FAR
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, TIME, Quantity
from tests.fabrics import Builder
from tests.verify import judges

SECOND = 10**15
"""Femtoseconds."""

METRE = 4_900_000
"""Femtoseconds of a metre of cable: 4.9 ns."""


def femtoseconds(count: int) -> Quantity:
    return Quantity(Fraction(count, SECOND), TIME)


def metres(count: Fraction | int) -> Quantity:
    return Quantity(Fraction(count), LENGTH)


def timed(f: Fabric, latency: Sequence[int]) -> Fabric:
    """The fabric with a latency in femtoseconds for each of its models."""
    facts = [{"latency": femtoseconds(x)} for x in latency]
    return replace(f, models=tuple(replace(m, facts=x) for m, x in zip(f.models, facts, strict=True)))


def cabled(b: Builder, one: int, other: int, length: int) -> None:
    """One link of so many metres."""
    b.connect("connect", length=metres(length))
    b.link(one, other)


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
        if rng.random() < 0.15:
            continue
        for s in range(spine.count):
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
    times = {}
    for i, (x, before) in enumerate(ends):
        for y, after in ends[:i]:
            if y in far[x]:
                total = before + own[x] + far[x][y] + after
                times[total] = [*times.get(total, []), (x, y), (y, x)]
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


def test_delays_of_hosts() -> None:
    for seed in range(150):
        agrees(clos(seed))


def test_delays_of_chips_with_hosts() -> None:
    for seed in range(100):
        agrees(mesh(seed))


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
    for spines, length in ((0, 2 * count - 1), (1, 2 * count - 1 + 2)):
        found = worst_delay(View.whole(star(spines, count)))
        assert isinstance(found, Bound) and found.lower == Fraction(METRE * length, SECOND)
        if not spines:
            assert len(found.proof_lower.devices) == 1


@pytest.mark.parametrize(("spines", "length"), [(1, 50 + 2 + 2 + 30 + 45), (2, 45 + 30 + 2 + 100 + 2 + 30 + 45)])
def test_the_farthest_of_each_group_of_equivalent_leaves(spines: int, length: int) -> None:
    """One spine or two, with three leaves each: one with a host at 1 m; one with two at 50 m; one with a host at 45 m, which
    takes the time of 30 m itself."""
    b = Builder("groups")
    quick, slow = (b.model("switch", name, {"p": 9}) for name in ("QUICK", "SLOW"))
    leaf, late = b.devices("leaf", quick, 2 * spines), b.devices("late", slow, spines)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 9}), spines)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 4 * spines)
    for s in range(spines):
        for h, (at, i, metres_) in enumerate(((leaf, 2 * s, 1), (leaf, 2 * s + 1, 50), (leaf, 2 * s + 1, 50), (late, s, 45))):
            cabled(b, b.free(host, 4 * s + h), b.free(at, i), metres_)
        for at, i in ((leaf, 2 * s), (leaf, 2 * s + 1), (late, s)):
            cabled(b, b.free(at, i), b.free(spine, s), 2)
    if spines > 1:
        cabled(b, b.free(spine, 0), b.free(spine, 1), 100)
    f = timed(b.build(), [0, 30 * METRE, 0, 0])
    agrees(f)
    found = worst_delay(View.whole(f))
    assert isinstance(found, Bound) and found.lower == Fraction(METRE * length, SECOND)


@pytest.mark.parametrize("said", [(1, 1), (Fraction(3, 2), 2), (0, 0), (Fraction(1, 1000), 1), (FAR, FAR), (FAR + 1, FAR)])
def test_the_latency_of_a_model_is_rounded_up(said: tuple[Fraction, int]) -> None:
    amount, whole = said
    (model,) = star(1, 1).models[:1]
    assert time_of(replace(model, facts={"latency": Quantity(Fraction(amount) / SECOND, TIME)})) == whole


@pytest.mark.parametrize("said", [None, "1 ns", 5, Quantity(Fraction(1), LENGTH)])
def test_a_latency_that_is_no_time(said: object) -> None:
    (model,) = star(1, 1).models[:1]
    assert time_of(replace(model, facts={"latency": said} if said else {})) is None


def test_what_is_missing_is_named() -> None:
    """Models of devices that forward and have links, and links without a length; hosts may be silent."""
    f = star(1, 2, (7, 11))
    leaf, spine, host = f.models
    silent = replace(f, models=(replace(leaf, facts={}), replace(spine, facts={}), replace(host, facts={})))
    known = worst_delay(View.whole(silent))
    assert known == NotBounded(("LEAF has no `latency`", "SPINE has no `latency`"), Fraction((1 + 2 + 2) * METRE, SECOND))
    assert worst_delay(View.whole(replace(f, models=(leaf, spine, replace(host, facts={}))))).lower == Fraction(  # type: ignore[union-attr]
        7 + 11 + 7 + 5 * METRE, SECOND
    )
    unused = star(0, 2, (7, 11))
    assert isinstance(worst_delay(View.whole(replace(unused, models=(leaf, replace(spine, facts={}), host)))), Bound)
    for without, reason in ((1, "one link has no `length`"), (2, "2 links have no `length`")):
        statements = tuple(replace(s, settings={}) if i < without else s for i, s in enumerate(f.statements))
        known = worst_delay(View.whole(replace(f, statements=statements)))
        assert isinstance(known, NotBounded) and known.reasons == (reason,)
    both = replace(silent, statements=tuple(replace(s, settings={}) for s in f.statements))
    assert worst_delay(View.whole(both)).reasons == (  # type: ignore[union-attr]
        "LEAF has no `latency`", "SPINE has no `latency`", "6 links have no `length`",
    )  # fmt: skip


def test_the_greatest_delays_that_are_added_up() -> None:
    """Of three forwarding devices: five times the greatest latency and the greatest length are below 2^60 fs."""
    most = FAR // 5 - METRE * 3
    assert (most + METRE * 3) * 5 < FAR <= (most + 1 + METRE * 3) * 5
    assert isinstance(worst_delay(View.whole(star(1, 2, (most - METRE, 0)))), Bound)
    for latency in (most + METRE + 1, 3 * most):
        found = worst_delay(View.whole(star(1, 2, (latency, 0))))
        assert found == NotBounded(("the delays are too great to add up",))
    exact = star(1, 2, (FAR // 5 - 2 * METRE, 0))
    assert isinstance(worst_delay(View.whole(exact)), Bound)
    assert isinstance(worst_delay(View.whole(star(1, 2, (FAR // 5 - 2 * METRE + 1, 0)))), NotBounded)


def test_a_sum_of_just_the_limit_is_too_great() -> None:
    """Two switches: four times 2^58 fs are 2^60."""
    b = Builder("two")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 9}), 2)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    for i in range(2):
        cabled(b, b.free(host, i), b.free(sw, i), 0)
    cabled(b, b.free(sw, 0), b.free(sw, 1), 0)
    f = b.build()
    found = worst_delay(View.whole(timed(f, [FAR // 4 - 1, 0])))
    assert isinstance(found, Bound) and found.lower == Fraction(2 * (FAR // 4 - 1), SECOND)
    for own in ([FAR // 4, 0], [0, FAR // 4]):
        assert worst_delay(View.whole(timed(f, own))) == NotBounded(("the delays are too great to add up",))


def test_the_work_of_the_search_has_a_limit() -> None:
    """Two leaves that hosts are connected to and a spine: four arcs, two sources, depth two at most from the first leaf."""
    f = star(1, 2)
    exact = 4 * 2 * (2 * 2 + 2)
    assert isinstance(worst_delay(View.whole(f, replace(DEFAULT, distance_work=exact))), Bound)
    found = worst_delay(View.whole(f, replace(DEFAULT, distance_work=exact - 1)))
    assert found == NotBounded(("the search is more work than the limit",))


def test_nobody_reaches_anybody() -> None:
    """One host alone."""
    b = Builder("one")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 9}), 1)
    host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 1)
    cabled(b, b.free(host, 0), b.free(sw, 0), 1)
    assert worst_delay(View.whole(timed(b.build(), [1, 1]))) is None


def two_links(settings: dict[str, object]) -> Fabric:
    """Links of two classes by one statement with these settings."""
    b = Builder("classes")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 9}), 2)
    b.connect("connect", **settings)
    for cls in ("x", "y"):
        b.link(b.free(sw, 0), b.free(sw, 1), cls=cls)
    return b.build()


@pytest.mark.parametrize(
    ("settings", "lengths", "unknown"),
    [
        ({"length": metres(2)}, [2 * METRE, 2 * METRE], 0),
        ({"length": metres(Fraction(1, 3))}, [METRE // 3 + 1] * 2, 0),
        ({"length": metres(0)}, [0, 0], 0),
        ({"length": (metres(2), metres(3)), "class": ("x", "y")}, [2 * METRE, 3 * METRE], 0),
        ({"length": (metres(2), metres(3)), "class": ("y", "x")}, [3 * METRE, 2 * METRE], 0),
        ({"length": (metres(2), metres(3)), "class": ("y", "z")}, [0, 2 * METRE], 1),
        ({"length": femtoseconds(5)}, [0, 0], 2),
        ({"length": "long"}, [0, 0], 2),
        ({"length": metres(10**18)}, [FAR, FAR], 0),
        ({}, [0, 0], 2),
    ],
)
def test_lengths_of_a_statement(settings: dict[str, object], lengths: list[int], unknown: int) -> None:
    f = two_links(settings)
    found, missing = _cable_delays(f, np.arange(2))
    assert (found.tolist(), missing) == (lengths, unknown)
    assert _cable_delays(f, np.array([1]))[0].tolist() == lengths[1:]


@pytest.mark.parametrize(
    ("runs", "times", "unknown"),
    [
        ([1, 3], [5, 15], 0),
        ([10**6, 2 * 10**6 + 1], [METRE, 2 * METRE + 5], 0),
        ([0, -1], [0, 0], 1),
        ([-1, -1], [0, 0], 2),
        ([10**14, 10**14 + 7], [10**8 * METRE] * 2, 0),
    ],
)
def test_lengths_that_places_ask_for(runs: list[int], times: list[int], unknown: int) -> None:
    """In micrometres, up to 100,000 km; what a statement says is used first."""
    f = replace(two_links({}), link_run=np.array(runs))
    found, missing = _cable_delays(f, np.arange(2))
    assert (found.tolist(), missing) == (times, unknown)
    first, known = _cable_delays(
        replace(two_links({"length": (metres(7),), "class": ("x",)}), link_run=np.array(runs)), np.arange(2)
    )
    assert (first.tolist(), known) == ([7 * METRE, times[1]], int(runs[1] < 0))
    assert _cable_delays(f, np.array([1]))[0].tolist() == times[1:]


def test_links_through_panels_are_two_cables() -> None:
    """Each as long as the statement says; a length between places is that of both."""
    for vias, times in (([0, -1], [4, 2]), ([-1, 5], [2, 4]), ([-1, -1], [2, 2])):
        f = replace(two_links({"length": metres(2)}), link_via_a=np.array(vias), link_via_b=np.array(vias))
        assert _cable_delays(f, np.arange(2))[0].tolist() == [METRE * x for x in times]
        run = replace(two_links({}), link_via_a=np.array(vias), link_via_b=np.array(vias), link_run=np.array([10**6, 10**6]))
        assert _cable_delays(run, np.arange(2))[0].tolist() == [METRE, METRE]
