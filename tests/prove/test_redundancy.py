"""Bounds of link and node redundancy hold for each other, and are true."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import networkx as nx
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.redundancy import devices_of_cut, link_disjoint_paths, node_disjoint_paths
from tdsl.prove.view import View
from tests.fabrics import Builder
from tests.harness import sampled


def by_networkx(view: View) -> tuple[int, int]:
    """Both figures by maximum flows between each two units, over what forwards."""
    links = list(zip(view.a.tolist(), view.b.tolist(), strict=True))
    edge = node = 10**6
    for u, v in combinations(view.units.tolist(), 2):
        inner = {d for d in range(view.fabric.device_count) if view.forwards[d]} - {u, v}
        flow = nx.DiGraph([((u, "out"), (v, "in"), {"capacity": 0})])
        for d in inner:
            flow.add_edge((d, "in"), (d, "out"), capacity=1)
        plain = nx.Graph([(u, v, {"capacity": 0})])
        for a, b in links:
            if {a, b} <= inner | {u, v}:
                plain.add_edge(a, b, capacity=plain.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
                flow.add_edge((a, "out"), (b, "in"), capacity=1)
                flow.add_edge((b, "out"), (a, "in"), capacity=1)
        edge = min(edge, nx.maximum_flow_value(plain, u, v))
        node = min(node, nx.maximum_flow_value(flow, (u, "out"), (v, "in")))
    return edge, node


def random_fabric(seed: int) -> Fabric:
    """Switches joined by chance, hosts with links to some; or chips that forward, with switches between. Parallel links, too."""
    rng = Random(seed)
    b = Builder("random")
    switches = b.devices("sw", b.model("switch", "SW", {"p": 64}), rng.randint(3, 7))
    kind = "chip" if seed % 2 else "host"
    ends = b.devices("end", b.model(kind, "END", {"p": 64}), rng.randint(2, 5))
    for x, y in combinations(range(switches.count), 2):
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            b.link(b.free(switches, x), b.free(switches, y))
    for e in range(ends.count):
        for _ in range(rng.randint(1, 4)):
            b.link(b.free(ends, e), b.free(switches, rng.randrange(switches.count)))
    for x, y in combinations(range(ends.count), 2):
        if rng.random() < (0.5 if seed % 2 else 0.2):
            b.link(b.free(ends, x), b.free(ends, y))
    return b.build()


@pytest.mark.parametrize("work", sampled([(0, 10**6), (10**6, 0), (0, 0), (10**6, 10**6), (60, 8)], 2))
def test_bounds_are_true_whatever_is_left_of_the_work(work: tuple[int, int]) -> None:
    """With no work for the one, the other's bound is used; no bound is ever wrong, and each cut separates its two units."""
    for seed in range(40):
        view = View.whole(random_fabric(seed), replace(DEFAULT, flow_work=work[0], disjoint_path_work=work[1]))
        edge, node = by_networkx(view)
        links, devices = link_disjoint_paths(view), node_disjoint_paths(view)
        assert node <= edge
        assert links.lower <= edge <= links.upper and devices.lower <= node <= devices.upper, (seed, edge, node)
        assert links.lower >= devices.lower and devices.upper <= links.upper, (seed, links, devices)
        for cut in (devices.proof_upper, devices_of_cut(view, links.proof_upper)):
            u, v = cut.pair
            assert not {u, v} & {*cut.devices} and len(cut.devices) + cut.linked >= node
            kept = [d for d in range(view.fabric.device_count) if (view.forwards[d] or d in (u, v)) and d not in cut.devices]
            left = nx.Graph()
            left.add_nodes_from(kept)
            ends = zip(view.a.tolist(), view.b.tolist(), strict=True)
            left.add_edges_from((a, b) for a, b in ends if {a, b} <= {*kept} and {a, b} != {u, v})
            assert not nx.has_path(left, u, v), (seed, cut)
