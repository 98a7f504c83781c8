"""What fills the columns of a fabric, against the same by loops: patterns, ports, cables, panels, tiers."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric import patterns
from tdsl.fabric.cables.cabling import cables_of_segments, first_of_cage, number_connectors
from tdsl.fabric.components import joined_groups
from tdsl.fabric.graph import FREE, HOLE, USED, Fabric
from tdsl.fabric.patterns import LinkPairs
from tdsl.fabric.ports import KEPT, LinkEnds, PortTable
from tdsl.fabric.tiers import device_tiers, set_tiers
from tdsl.fabric.vias import _take_via_ports
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tests.harness import fabric_of, links_of

HERE = SourceSpan(SourceFile("x.fab", "spread"), 0, 6)
SIZE = st.integers(1, 7)


def rows(pairs: LinkPairs) -> list[tuple[int, int, int, int]]:
    """All links in their order: a, b, copy, dimension."""
    return list(zip(*(x.tolist() for x in (pairs.a, pairs.b, pairs.copy, pairs.dim)), strict=True))


# ------------------------------------------------------------ patterns, link by link
@given(SIZE, SIZE, st.integers(1, 20), st.booleans())
@settings(max_examples=300)
def test_spread_link_by_link(a: int, b: int, k: int, uneven: bool) -> None:
    """Whole rounds first, copy after copy; then what is over, as one copy more."""
    base, extra = divmod(k, b)
    whole = [(i, j, c, 0) for c in range(base) for i in range(a) for j in range(b)]
    over = [(i, (i * extra + e) % b, base, 0) for i in range(a) for e in range(extra)]
    parts: list[Fault] = []
    graph = nx.Graph([((0, i), (1, j)) for i, j, *_ in over])
    graph.add_nodes_from((side, i) for side, n in enumerate((a, b)) for i in range(n))
    if extra and not uneven and (base or a * k % b):
        with pytest.raises(Fault) as refused:
            patterns.spread_links(a, b, k, False, HERE, ("x", "y"))
        found = refused.value.diagnostic
        even = [n for n in range(1, 200) if k % n == 0 or (k < n and a * k % n == 0)]
        options = [str(n) for n in (max((n for n in even if n < b), default=0), min((n for n in even if n > b), default=0)) if n]
        assert (found.code, found.message) == ("E0454", f"{k} ports of each of {a} x do not spread evenly over {b} y")
        assert found.notes == (f"{k} = {base} x {b} + {extra}: {base} links a pair leave {extra} ports of each x over",)
        said = f"{' or '.join(options)} y would be even; or write `spread uneven` to allow one link more for some pairs"
        assert found.help == said
        return
    assert rows(patterns.spread_links(a, b, k, uneven, HERE, ("x", "y"), parts.append)) == whole + over
    pieces = nx.number_connected_components(graph)
    assert [p.diagnostic.notes for p in parts] == (
        [(f"{pieces} parts by these links alone",)] if extra and not uneven and pieces > 1 else []
    )


@given(SIZE, st.integers(0, 15), st.booleans())
@settings(max_examples=200)
def test_spread_over_each_other_link_by_link(n: int, k: int, uneven: bool) -> None:
    """Every pair in every whole round; what is over goes 1, 2, ... ranks on, as one copy more."""
    others = n - 1
    every = [(i, j) for i in range(n) for j in range(i + 1, n)]
    if others and k % others and not uneven:
        with pytest.raises(Fault) as refused:
            patterns.mesh_spread(n, k, False, HERE, "x")
        found = refused.value.diagnostic
        assert (found.code, found.message) == ("E0454", f"{k} ports of each x do not spread evenly over the {others} others")
        assert found.notes == (f"{k} = {k // others} x {others} + {k % others}",)
        return
    base, extra = divmod(k, others) if others else (0, 0)
    over = [tuple(sorted((i, (i + s) % n))) for i in range(n) for s in range(1, extra // 2 + 1)]
    assert rows(patterns.mesh_spread(n, k, uneven, HERE, "x")) == [
        *((i, j, c, 0) for c in range(base) for i, j in every),
        *((i, j, base, 0) for i, j in over),
    ]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.booleans(), st.integers(1, 3))
@settings(max_examples=100)
def test_grid_link_by_link(shape: list[int], wrap: bool, n: int) -> None:
    """Dimension after dimension; copies of a link are numbered."""
    expected = []
    for dim, size in enumerate(shape):
        for at in np.ndindex(*shape):
            if size > 1 and (wrap or at[dim] < size - 1):
                far = tuple((x + 1) % size if d == dim else x for d, x in enumerate(at))
                expected.append((int(np.ravel_multi_index(at, shape)), int(np.ravel_multi_index(far, shape)), dim))
    found = patterns.copy_links(patterns.mesh_or_torus_links(tuple(shape), wrap), n)
    assert rows(found) == [(a, b, c, d) for c in range(n) for a, b, d in expected] and found.directed


def test_small_patterns() -> None:
    assert [rows(patterns.ring_links(n)) for n in range(4)] == [
        [], [], [(0, 1, 0, 0), (1, 0, 1, 0)], [(0, 1, 0, 0), (1, 2, 0, 0), (2, 0, 0, 0)],
    ]  # fmt: skip
    assert rows(patterns.copy_links(patterns.ring_links(2), 2)) == [(0, 1, 0, 0), (1, 0, 2, 0), (0, 1, 1, 0), (1, 0, 3, 0)]
    assert rows(patterns.single_link()) == [(0, 0, 0, 0)] and not patterns.single_link().directed
    assert rows(patterns.complete_links(2, 3)) == [(i, j, 0, 0) for i in range(2) for j in range(3)]
    assert rows(patterns.complete_links(3, None)) == [(0, 1, 0, 0), (0, 2, 0, 0), (1, 2, 0, 0)]
    assert rows(patterns.in_order(3, 3, 4, HERE)) == [(0, 1, 0, 0), (1, 2, 0, 0), (2, 0, 0, 0)]
    assert rows(patterns.in_order(3, 3, -1, HERE)) == [(0, 2, 0, 0), (1, 0, 0, 0), (2, 1, 0, 0)]
    assert rows(patterns.in_order(0, 0, 1, HERE)) == []


def test_random_graphs_stay_what_they_are() -> None:
    """A seed means one graph for good: what is cabled stays with every version. A dense one is what a sparse one leaves."""
    sparse = [p[:2] for p in rows(patterns.random_regular(8, 3, 5, HERE))]
    assert sparse == [
        (0, 1), (0, 5), (0, 6), (1, 5), (1, 7), (2, 3), (2, 4), (2, 7), (3, 4), (3, 6), (4, 7), (5, 6),
    ]  # fmt: skip
    dense = [p[:2] for p in rows(patterns.random_regular(8, 4, 5, HERE))]
    assert dense == [(i, j) for i in range(8) for j in range(i + 1, 8) if (i, j) not in sparse]
    assert [p[:2] for p in rows(patterns.random_regular(4, 3, 5, HERE))] == [(i, j) for i in range(4) for j in range(i + 1, 4)]
    for n, degree in ((4, 0), (4, 4), (5, 3)):
        with pytest.raises(Fault, match=f"no simple graph gives each of {n} members {degree} links"):
            patterns.random_regular(n, degree, 1, HERE)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12), st.lists(st.integers(0, 9), min_size=10, max_size=10)
)
@settings(max_examples=200)
def test_components_are_those_of_networkx(edges: list[tuple[int, int]], label: list[int]) -> None:
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(10))
    graph.add_edges_from((i, 10 + label[i]) for i in range(10))
    i, j = (np.array([e[k] for e in edges], dtype=np.int64) for k in (0, 1))
    found = joined_groups(i, j, np.array(label)).tolist()
    assert all((found[x] == found[y]) == nx.has_path(graph, x, y) for x in range(10) for y in range(10))


# ------------------------------------------------------------ ports
TEXT = """
model switch ONE { port p[1..6]: 400Gbps; port q[1..3]: 400Gbps }
model switch TWO { port p[1..4]: 400Gbps; port q[1..5]: 400Gbps }
fabric f { switch a[2]: ONE; switch b: TWO; switch c: ONE }
"""


@pytest.fixture(scope="module")
def four(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    """Four switches of two models, with two classes each."""
    return fabric_of(TEXT, tmp_path_factory.mktemp("four"))


def lowest(four: Fabric, state: list[int], asked: list[tuple[int, int, int, int]], choices: list[Any], together: int) -> Any:
    """Rule 3 by loops: the ports of ends (device, choice, far, copy), or the first device that has too few and its numbers."""
    sizes = [(6, 3), (6, 3), (4, 5), (6, 3)]
    base = np.cumsum([0, *map(sum, sizes)]).tolist()
    state, out = list(state), [-1] * len(asked)
    merged = [choices.index(c) for c in choices]
    for c in sorted(set(merged)):
        name, places = choices[c]
        short = []
        for device in range(4):
            mine = [e for e, (d, x, *_) in enumerate(asked) if d == device and merged[x] == c]
            k = "pq".index(name)
            size, first = sizes[device][k], base[device] + (sizes[device][0] if k else 0)
            free = [first + p for p in (range(size) if places is None else places) if p < size and state[first + p] == FREE]
            if len(mine) > len(free):
                short.append((device, len(mine), len(free)))
                continue
            used = sorted({asked[e][3] for e in mine})
            block, end = len(free) // max(len(used), 1) // together * together, 0
            for number, copy in enumerate(used):
                start = min(max(number * block, end), len(free) - sum(asked[e][3] >= copy for e in mine))
                for e in sorted((e for e in mine if asked[e][3] == copy), key=lambda e: (asked[e][2], e)):
                    out[e] = free[start]
                    start += 1
                end = start
        if short:
            return c, short
        for port in out:
            if port >= 0:
                state[port] = USED
    return out


@given(
    st.lists(st.sampled_from([FREE, FREE, FREE, FREE, USED, HOLE, KEPT]), min_size=36, max_size=36),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9),
    st.lists(
        st.tuples(st.sampled_from("pq"), st.one_of(st.none(), st.lists(st.integers(0, 5), unique=True, min_size=1, max_size=4))),
        min_size=3, max_size=3,
    ),
    st.sampled_from([1, 1, 2]),
)  # fmt: skip
@settings(max_examples=500)
def test_lowest_free_ports_by_loops(
    four: Fabric, state: list[int], asked: list[tuple[int, int, int, int]], choices: list[Any], together: int
) -> None:
    ports = PortTable(four.sets, four.models, four.device_model, four.built)
    ports.state[:] = state
    device, choice, far, copy = (np.array(x) for x in zip(*asked, strict=True))
    ends = LinkEnds(
        device, [n for n, _ in choices], [None if p is None else np.array(p) for _, p in choices], [HERE] * 3, choice,
        np.full(len(asked), -1), far, copy, together,
    )  # fmt: skip
    expected = lowest(four, state, asked, choices, together)
    try:
        assert ports.claim(ends, 0, HERE).tolist() == expected
    except Fault as fault:
        c, short = expected
        name, places = choices[c]
        at, need, have = short[0]
        model = "TWO" if at == 2 else "ONE"
        size = {"ONEp": 6, "ONEq": 3, "TWOp": 4, "TWOq": 5}[model + name]
        some = f" among the {len(places)} named" if places is not None else ""
        more = {1: "", 2: " (and 1 more device)"}.get(len(short), f" (and {len(short) - 1} more devices)")
        told = fault.diagnostic
        assert told.message == f"{['a[0]', 'a[1]', 'b', 'c'][at]} needs {need} free ports `{name}` and has {have}{some}{more}"
        assert [x.message for x in told.labels] == [
            f"{model} has {size} ports `{name}`", f"`{'aabc'[at]}` is declared here",
        ]  # fmt: skip
    assert ports.state.tolist() == state, "claiming marks nothing"


def test_copies_that_a_lock_leaves_stay_on_their_device(tmp_path: Path) -> None:
    """One link of the first copy and three of the second are left to four ports: none goes to the next device's."""
    text = """fabric f { switch a: SIX; switch z: SIX; switch b[3]: TWO; connect a to b[*] each x 2 }
model switch SIX { port p[1..6]: 400Gbps }
model switch TWO { port p[1..2]: 400Gbps }"""
    (tmp_path / "design.fab.lock").write_text("fabric f\na.p[1]  b[0].p[1]\na.p[2]  b[1].p[1]\n")
    assert links_of(fabric_of(text, tmp_path, models=False)) == {
        ("a.p[1]", "b[0].p[1]"), ("a.p[2]", "b[1].p[1]"), ("a.p[3]", "b[2].p[1]"),
        ("a.p[4]", "b[0].p[2]"), ("a.p[5]", "b[1].p[2]"), ("a.p[6]", "b[2].p[2]"),
    }  # fmt: skip


def test_numbers_and_names_of_ports(four: Fabric) -> None:
    ports = PortTable(four.sets, four.models, four.device_model, four.built)
    names = [f"{d}.{c}[{i}]" for d, sizes in (("a[0]", (6, 3)), ("a[1]", (6, 3)), ("b", (4, 5)), ("c", (6, 3)))
             for c, n in zip("pq", sizes, strict=True) for i in range(1, n + 1)]  # fmt: skip
    assert [ports.port_path(p) for p in range(36)] == names
    assert ports.device_of(np.arange(36)).tolist() == [0] * 9 + [1] * 9 + [2] * 9 + [3] * 9
    ports.state[[0, 1, 2, 7]] = [USED, HOLE, KEPT, USED]
    every = np.arange(4)
    assert ports.free_counts(every, "p", None, HERE).tolist() == [4, 6, 4, 6]
    assert ports.free_counts(every, "q", None, HERE).tolist() == [2, 3, 5, 3]
    assert ports.free_counts(every, "", None, HERE).tolist() == [4, 6, 4, 6]
    assert ports.free_counts(every, "p", np.array([0, 4, 5]), HERE).tolist() == [2, 3, 1, 3]
    ports.mark(np.array([3, 4]), np.array([True, False]), 0, HERE)
    assert ports.state[:5].tolist() == [USED, HOLE, KEPT, USED, HOLE] and ports.taker[:5].tolist() == [-1, -1, -1, 0, 0]


# ------------------------------------------------------------ cables
PORTS = 24


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, PORTS - 1), st.integers(0, PORTS - 1)), min_size=1, max_size=14, unique=True),
    st.booleans(), st.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=400)
def test_cables_by_loops(lanes: int, ends: list[tuple[int, int]], mixed: bool, chance: Any) -> None:
    """One cable for each pair of connectors; legs of one break-out are a group, numbered by their lowest ports."""
    ends = [(min(e), max(e)) for e in ends]
    ends = sorted(set(ends))
    chance.shuffle(ends)
    connector = [p // lanes for p in range(PORTS)]
    if mixed:
        chance.shuffle(connector)
    links = defaultdict(list)
    for row, (a, b) in enumerate(ends):
        links[connector[a], connector[b]].append((a, b, row))
    legs = sorted((min(found), len(found), pair) for pair, found in links.items())
    degree: Counter[int] = Counter()
    for _, _, (ca, cb) in legs:
        degree[ca] += 1
        degree[cb] += 1
    groups: dict[int, int] = {}
    count: Counter[int] = Counter()
    expected = []
    for (a, b, row), many, (ca, cb) in legs:
        split = degree[ca] > 1 or degree[cb] > 1
        group = groups.setdefault(cb if degree[cb] > 1 else ca, len(groups))
        count[group] += split
        expected.append((a, b, group, count[group] if split else 0, many, row, -row, degree[ca] > 1 and degree[cb] > 1, split))
    told = np.arange(len(ends))
    a, b = (np.array([e[k] for e in ends]) for k in (0, 1))
    found = cables_of_segments(a, b, told, -told, np.array(connector))
    columns = (found.a, found.b, found.group, found.leg, found.links, found.statement, found.cls, found.tangled, found.split)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == expected


def made(*classes: tuple[str, list[int], list[str]]) -> SimpleNamespace:
    """A model: of each class its name, and the connector and the cage of every port."""
    out, first = [], 0
    for name, held, cages in classes:
        out.append(SimpleNamespace(name=name, connectors=held, cages=cages, size=len(held), first=first))
        first += len(held)
    return SimpleNamespace(classes=out)


def test_connectors_and_cages_of_models() -> None:
    """Connectors are numbered through all devices; a class that is split in part shares its cages."""
    one = made(("p", [0, 0, 1, 1], ["x", "x", "x", "x"]), ("q", [0, 0], ["", ""]))
    two = made(("p", [0, 1], ["1", "2"]), ("p", [0, 0, 1], ["2", "2", "3"]), ("r", [], []))
    which = np.array([0, 1, 0])
    base = np.array([0, 6, 11, 17])
    models: Any = [one, two]
    assert number_connectors(models, which, base).tolist() == [0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 7, 7, 8, 8, 9, 9]
    assert first_of_cage(models).tolist() == [0, 0, 0, 0, 4, 4, 0, 1, 1, 1, 4]
    assert first_of_cage(models, 2).tolist() == [0, 0, 2, 2, 4, 4, 0, 1, 1, 3, 4]
    assert first_of_cage(models, 1).tolist() == [0, 1, 2, 3, 4, 4, 0, 1, 2, 3, 4]


# ------------------------------------------------------------ panels
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 11)), min_size=1, max_size=10, unique_by=lambda x: x[1]),
    st.sets(st.integers(0, 19), max_size=5), st.sets(st.integers(0, 7), max_size=3), st.integers(0, 1), st.booleans(),
)  # fmt: skip
@settings(max_examples=300)
def test_ports_of_panels_by_loops(
    lanes: int, links: list[tuple[int, int]], used: set[int], taken: set[int], extra: int, mixed: bool
) -> None:
    """The n-th connector outside, by device and number, takes the n-th free one inside; lanes follow the ports outside."""
    size = 8 + extra
    c = SimpleNamespace(connectors=[i // lanes for i in range(size)], size=size, first=2, name="front",
                        origin=SimpleNamespace(span=HERE))  # fmt: skip
    state = np.zeros(40, dtype=np.uint8)
    state[list(used)] = USED
    outer = np.array([(p // 2 if not mixed else (11 - p) // 2) for p in range(12)])
    ports: Any = SimpleNamespace(connector=outer, connectors_ascend=not mixed, base=np.array([0, 20]), state=state,
                                 path=lambda d: f"q[{d}]")  # fmt: skip
    wire: Any = SimpleNamespace(via=SimpleNamespace(span=HERE))
    model: Any = SimpleNamespace(name="PATCH")
    expected, refused = [-1] * len(links), ""
    blocked = {*used, *(2 + t for t in taken)}
    for device in (0, 1):
        mine = defaultdict(list)
        for row, (d, port) in enumerate(links):
            if d == device:
                mine[int(outer[port])].append((port, row))
        if most := max((len(m) for m in mine.values()), default=0):
            free = [f for f in range(size // lanes)
                    if not any(device * 20 + 2 + f * lanes + k in blocked for k in range(lanes))]  # fmt: skip
            if len(mine) > len(free) and not refused:
                refused = f"q[{device}] has {len(free)} free connectors of `front` and more links would cross it"
            if most <= lanes and not refused:
                for at, key in zip(free, sorted(mine), strict=False):
                    for lane, (_, row) in enumerate(sorted(mine[key])):
                        expected[row] = device * 20 + 2 + at * lanes + lane
    together = max(Counter((d, int(outer[p])) for d, p in links).values())
    if together > lanes:
        refused = f"{together} links leave one connector and a connector of PATCH takes {lanes}"
    device, outside = (np.array(x) for x in zip(*links, strict=True))
    before = np.array([2 + t for t in sorted(taken)], dtype=np.int64) if taken else None
    asked: Any = c
    if refused:
        with pytest.raises(Fault) as told:
            _take_via_ports(ports, wire, device, outside, asked, model, before)
        assert told.value.diagnostic.message == refused
    else:
        assert _take_via_ports(ports, wire, device, outside, asked, model, before).tolist() == expected
    assert np.flatnonzero(state).tolist() == sorted(used)


# ------------------------------------------------------------ tiers
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14),
    st.lists(st.booleans(), min_size=8, max_size=8), st.sets(st.integers(0, 7), min_size=1, max_size=3),
)  # fmt: skip
@settings(max_examples=300)
def test_tiers_are_distances(links: list[tuple[int, int]], forwards: list[bool], ends: set[int]) -> None:
    """Hops from those that have a tier, through devices that forward."""
    start = np.array([0 if i in ends else -1 for i in range(8)])
    expected = dict.fromkeys(range(8), -1) | dict.fromkeys(ends, 0)
    edge = list(ends)
    while edge:
        at = edge.pop(0)
        for x, y in [*links, *((y, x) for x, y in links)]:
            if x == at and expected[y] < 0 and forwards[y]:
                expected[y] = expected[at] + 1
                edge.append(y)
    a, b = (np.array([e[k] for e in links], dtype=np.int64) for k in (0, 1))
    found = device_tiers(start, np.array(forwards), a, b)
    assert found.tolist() == [expected[i] for i in range(8)]
    kinds: Any = [SimpleNamespace(kind=k) for k in ("switch", "switch", "host")]
    sets = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    least = [min((t for t in found[sets == s].tolist() if t >= 0), default=-1) for s in (0, 1)]
    assert set_tiers(kinds, sets, found).tolist() == [*least, 0]
