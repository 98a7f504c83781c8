"""Orders of channels and cycles of turns against all routes, enumerated by networkx."""

from __future__ import annotations

from itertools import pairwise, permutations, product
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.channel_order import ChannelCycle, ChannelOrder, NoRoute, order_or_cycle, valley_or_gap
from tdsl.prove.channel_routes import BgpRoutes, EngineRefuses, SwitchGraph
from tdsl.prove.view import View
from tests.certificates.made import as_json, made, rejected
from tests.fabrics import Builder, claim, random_chips, random_fabric, random_layers, torus
from tests.harness import fabric_of
from tests.tables import sections


def sparse_layers(seed: int) -> Builder:
    """Leaves with a host each, below spines that have links to half of them."""
    rng, b = Random(seed), Builder("sparse")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 5)
    model = b.model("switch", "SW", {"p": 20})
    leaf, spine = b.devices("leaf", model, 5), b.devices("spine", model, 4)
    b.connect("connect all")
    for i in range(5):
        b.link(b.port(node, i, "nic", 0), b.free(leaf, i))
        for j in range(4):
            if rng.random() < 0.5:
                b.link(b.free(leaf, i), b.free(spine, j))
    return b


MADE = [
    *(sparse_layers(seed) for seed in range(8)),
    *(random_fabric(seed, switches=6 + seed % 4, cables=8 + seed % 7) for seed in range(16)),
    *(random_layers(seed) for seed in range(16)),
    *(random_chips(seed) for seed in range(8)),
]
FABRICS = [builder.build() for builder in MADE]


def graph_and_ends(f: Fabric) -> tuple[nx.Graph, list[int]]:
    """The forwarding devices with the links among them, and those with endpoints."""
    direct = any(f.set_of(int(a)).kind == f.set_of(int(b)).kind == "chip" for a, b in zip(f.device_a, f.device_b, strict=True))
    inner = {d for d in range(f.device_count) if f.built[d] and f.set_of(d).kind in ("switch", *(["chip"] if direct else []))}
    graph, ends = nx.Graph(), {d for d in inner if f.set_of(d).kind == "chip"}
    for a, b in zip(f.device_a.tolist(), f.device_b.tolist(), strict=True):
        if a in inner and b in inner:
            graph.add_edge(a, b)
        ends |= {y for x, y in ((a, b), (b, a)) if x not in inner and y in inner}
    graph.add_nodes_from(ends)
    return graph, sorted(ends)


def waiting(routes: list[list[int]]) -> nx.DiGraph:
    """Which channel waits for which, over all routes."""
    out = nx.DiGraph()
    for way in routes:
        out.add_edges_from(pairwise(pairwise(way)))
    return out


def shortest(f: Fabric) -> list[list[int]]:
    graph, ends = graph_and_ends(f)
    pairs = [(s, t) for s, t in permutations(ends, 2) if nx.has_path(graph, s, t)]
    return [way for s, t in pairs for way in nx.all_shortest_paths(graph, s, t)]


def judge_answer(found: ChannelOrder | ChannelCycle | NoRoute, routes: list[list[int]]) -> bool:
    """Whether no routes wait in a cycle; the order or the cycle that was found is so of these routes."""
    relation = waiting(routes)
    if isinstance(found, ChannelOrder):
        place = {channel: i for i, channel in enumerate(found.order)}
        assert len(place) == len(found.order)
        assert all(place[a] < place[b] for a, b in relation.edges)
        return True
    assert isinstance(found, ChannelCycle)
    around = list(pairwise([*found.devices, found.devices[0]]))
    for (before, after), way in zip(pairwise([*around, around[0]]), found.routes, strict=True):
        assert way in routes and (before, after) in list(pairwise(pairwise(way)))
    assert not nx.is_directed_acyclic_graph(relation)
    return False


def test_shortest_paths_against_all_of_them() -> None:
    free = 0
    for f in FABRICS:
        routes = shortest(f)
        free += judge_answer(order_or_cycle(View.whole(f), "minhop"), routes)
    assert 8 < free < len(FABRICS) - 8


def test_valleys_against_all_shortest_paths() -> None:
    clean = 0
    for f in FABRICS:
        tier = f.tier.tolist()
        rises = {tuple(way): [tier[b] - tier[a] for a, b in pairwise(way)] for way in shortest(f)}
        wrong = {w for w, x in rises.items() if any(i <= 0 <= j for i, j in pairwise(x))}
        found = valley_or_gap(View.whole(f), "minhop")
        assert not isinstance(found, NoRoute)
        assert tuple(found) in wrong if found is not None else not wrong
        clean += found is None
    assert 5 < clean < len(FABRICS) - 5


def test_up_and_down_has_a_route_or_names_the_pair_without_one() -> None:
    """By enumeration of all paths without a turn up behind one down."""
    gaps = 0
    for f in FABRICS:
        graph, ends = graph_and_ends(f)
        found = order_or_cycle(View.whole(f), "updn")
        rank: dict[int, int] = {}
        tier = f.tier.tolist()
        layered = all(abs(tier[a] - tier[b]) == 1 for a, b in graph.edges) and all(tier[d] >= 1 for d in graph)
        for part in nx.connected_components(graph):
            roots = sorted(d for d in part if tier[d] == max(tier[x] for x in part))
            rank |= nx.multi_source_dijkstra_path_length(graph, set(roots if layered else roots[:1]))
        up = {(a, b): (rank[b], b) < (rank[a], a) for x, y in graph.edges for a, b in ((x, y), (y, x))}
        states = nx.DiGraph()
        states.add_nodes_from((d, False) for d in ends)
        for (a, b), rises in up.items():
            states.add_edge((a, False), (b, not rises))
            if not rises:
                states.add_edge((a, True), (b, True))
        lost = set()
        for s in ends:
            reached = {d for d, _ in nx.descendants(states, (s, False))} | {s}
            lost |= {(s, t) for t in ends if nx.has_path(graph, s, t) and t not in reached}
        assert (found.source, found.target) in lost if isinstance(found, NoRoute) else not lost
        if isinstance(found, ChannelOrder):
            place = {channel: i for i, channel in enumerate(found.order)}
            turns = [(c, d) for c in up for d in up if c[1] == d[0] and c[0] != d[1] and (up[c] or not up[d])]
            assert place.keys() == up.keys() and all(place[c] < place[d] for c, d in turns)
        gaps += isinstance(found, NoRoute)
    assert 0 < gaps < len(FABRICS) / 2


def around(a: int, b: int, size: int) -> list[list[int]]:
    """The shortest ways from a to b around a ring, without a."""
    ahead, back = (b - a) % size, (a - b) % size
    ways = [[(a + i) % size for i in range(1, ahead + 1)]] if ahead <= back else []
    return ways + ([[(a - i) % size for i in range(1, back + 1)]] if back <= ahead and back else [])


@pytest.mark.parametrize(("sizes", "free"), [((3, 3), True), ((4, 3), False), ((3, 3, 3), True), ((5, 2), False)])
def test_one_dimension_after_the_other_in_tori(sizes: tuple[int, ...], free: bool) -> None:
    """A ring of three or fewer has no path of two links, so no channel of it waits for another."""
    f = torus(*sizes).build()
    number = {at: i for i, at in enumerate(product(*map(range, sizes)))}
    routes = []
    for s, t in permutations(number, 2):
        ways = [[s]]
        for k, size in enumerate(sizes):
            if s[k] != t[k]:
                ways = [[*way, *((*t[:k], x, *s[k + 1 :]) for x in line)] for way in ways for line in around(s[k], t[k], size)]
        routes += [[number[at] for at in way] for way in ways]
    assert judge_answer(order_or_cycle(View.whole(f), "dor"), routes) is free
    with pytest.raises(EngineRefuses):
        order_or_cycle(View.whole(random_layers(3).build()), "dor")


BGP = sections(__file__)["bgp"]
PLANS = (
    "", "asn pod.leaf from 65001", "asn pod[0].agg 65100; asn pod[1].agg 65101; asn core 65200",
    "asn pod.agg from 65100; asn core from 65200", "asn pod.agg 65100; asn core 65200",
)  # fmt: skip


def converged(f: Fabric, asn: list[int], target: int, rng: Random) -> dict[int, set[int]]:
    """Next hops of every router to a target once no announcement changes anything more. Each router announces one of its shortest
    paths, chosen at random, and messages are handled in a random order."""
    graph, _ = graph_and_ends(f)
    told: dict[tuple[int, int], tuple[int, ...]] = {}
    mine: dict[int, tuple[int, ...]] = {target: (asn[target],)}
    hops: dict[int, set[int]] = {}
    waiting = [(target, v) for v in graph[target]]
    while waiting:
        u, v = waiting.pop(rng.randrange(len(waiting)))
        told[u, v] = mine[u]
        if v == target:
            continue
        heard = {u: path for (u, w), path in told.items() if w == v and asn[v] not in path}
        before = mine.get(v)
        if heard:
            least = min(map(len, heard.values()))
            hops[v] = {u for u, path in heard.items() if len(path) == least}
            best = {(asn[v], *heard[u]) for u in hops[v]}
            if before not in best:
                mine[v] = rng.choice(sorted(best))
                waiting += [(v, w) for w in graph[v]]
    return hops


def test_bgp_paths_against_routers_that_exchange_announcements(tmp_path: Path) -> None:
    known = open_ties = 0
    for seed in range(30):
        rng = Random(seed)
        text = BGP.replace("PLAN", PLANS[seed % len(PLANS)]).replace("SPARSE", str(rng.choice((5, 7, 11, 99))))
        f = fabric_of(text, tmp_path, models=False)
        assert f.addressing is not None
        asn = f.addressing.asn.tolist()
        graph = SwitchGraph.of(View.whole(f))
        engine = BgpRoutes(graph)
        for target in graph.ends.tolist():
            try:
                used = engine.channels_towards(target)
            except EngineRefuses:
                open_ties += 1
                continue
            known += 1
            found: dict[int, set[int]] = {}
            for v, w in zip(graph.net.tail[used].tolist(), graph.net.head[used].tolist(), strict=True):
                found.setdefault(v, set()).add(w)
            assert all(converged(f, asn, target, rng) == found for _ in range(3)), (seed, target)
    assert known > 150, (known, open_ties)


def test_certificates_are_verified_and_another_order_is_not():
    rng, shown, forged = Random(1), 0, 0
    for f in FABRICS[::2]:
        asked = [
            claim(f, "deadlock_free", under=engine, text=f"deadlock_free under {engine}")
            for engine in ("minhop", "updn", "ftree", "dor")
        ]
        written = {n: c for n, c in made(f, *asked).items() if c["check"] == "deadlock_free"}
        design = as_json(f)
        relation = waiting(shortest(f))
        for name, certificate in written.items():
            shown += 1
            assert not rejected(certificate, design), name
            order = certificate["order"]
            assert rejected(certificate | {"order": order[1:]}, design) or not order
            if "minhop" in name and relation.edges:
                (a, b), (c, d) = rng.choice(sorted(relation.edges))
                first, then = ([f.device_name(x) for x in pair] for pair in ((a, b), (c, d)))
                i, j = order.index(first), order.index(then)
                order[i], order[j] = order[j], order[i]
                forged += rejected(certificate, design)
                assert rejected(certificate, design)
    assert shown > 20 and forged > 4
