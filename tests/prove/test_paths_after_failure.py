"""Link-disjoint paths that are left after any one element has failed: never more than networkx counts after each failure."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.prove.paths_after_failure import link_paths_after_any_failure
from tdsl.prove.view import View
from tests.fabrics import Builder

LEAVES = 4


def drawn(rng: Random) -> Fabric:
    """Hosts at some leaves; leaves and other switches joined at random, more often where they are near."""
    b = Builder("drawn")
    sw = b.devices("s", b.model("switch", "S", {"p": 200}), LEAVES + rng.randint(2, 6))
    host = b.devices("h", b.model("host", "H", {"nic": 6}, accelerators=1), rng.randint(2, 4))
    for h in range(host.count):
        for _ in range(rng.randint(1, 3)):
            b.link(b.free(host, h), b.free(sw, rng.randrange(LEAVES)))
    for x, y in combinations(range(sw.count), 2):
        many = rng.choice((0, 1, 2, 3) if (x < LEAVES) != (y < LEAVES) else (0, 0, 1, 2))
        for _ in range(many):
            b.link(b.free(sw, x), b.free(sw, y))
    return b.build()


def elements(rng: Random, view: View) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What may fail: switches that no host is linked to, alone or by twos, and links between switches."""
    units = set(view.units.tolist())
    a, b = view.a.tolist(), view.b.tolist()
    beside = {x for pair in zip(a, b, strict=True) if units & set(pair) for x in pair}
    free = [d for d in np.flatnonzero(view.forwards).tolist() if d not in beside]
    inner = [i for i in range(len(a)) if not units & {a[i], b[i]}]
    chosen: list[tuple[set[int], set[int]]] = [({d}, set()) for d in free if rng.random() < 0.8]
    if len(free) > 1 and rng.random() < 0.4:
        chosen.append((set(rng.sample(free, 2)), set()))
    if inner:
        chosen.append((set(), set(rng.sample(inner, min(len(inner), rng.randint(1, 3))))))
    rows = [links | {i for i in inner if {a[i], b[i]} & devices} for devices, links in chosen]
    return [np.array(sorted(d), dtype=np.int64) for d, _ in chosen], [np.array(sorted(r), dtype=np.int64) for r in rows]


def fewest_paths(view: View, lost: set[int]) -> int:
    """The fewest link-disjoint paths between two hosts without some links."""
    units = view.units.tolist()
    links = [(a, b) for i, (a, b) in enumerate(zip(view.a.tolist(), view.b.tolist(), strict=True)) if i not in lost]
    fewest = []
    for u, v in combinations(units, 2):
        graph = nx.Graph()
        graph.add_nodes_from((u, v))
        for a, b in links:
            if not ({a, b} & set(units)) - {u, v}:
                graph.add_edge(a, b, capacity=graph.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
        fewest.append(nx.maximum_flow_value(graph, u, v))
    return min(fewest)


def test_never_more_than_is_left() -> None:
    exact = shown = 0
    for seed in range(100):
        rng = Random(seed)
        view = View.whole(drawn(rng))
        devices, rows = elements(rng, view)
        if not devices:
            continue
        found = link_paths_after_any_failure(view, devices, rows)
        true = min(fewest_paths(view, set(r.tolist())) for r in rows)
        assert found <= true, seed
        shown += found > 0
        exact += found == true > 0
    assert exact > 24 and shown > 32, (exact, shown)
