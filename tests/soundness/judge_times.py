"""Times of collectives between a floor that no algorithm beats and a schedule that can be carried out.

Every host has one accelerator here, so a rank is a host, and nothing depends on what is inside of it. A floor is the traffic that
must cross a cut or enter blocks of ranks; a schedule is a flow of a linear program, in as many chunks as one likes. Delays are
left out: they raise a floor, and no floor of these rests on one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import networkx as nx

from tests.soundness.inventory import Inventory
from tests.soundness.judges import Unjudged, concurrent

Demands = dict[tuple[Any, Any], float]


def merged_ranks(inventory: Inventory) -> tuple[list[str], dict[tuple[str, str], int]]:
    """The hosts with accelerators that have a link, and the capacity of every arc, with what is in a host put together."""
    node = {p.path: p.inside or p.path for p in inventory.parts.values()}
    arcs: dict[tuple[str, str], int] = defaultdict(int)
    for w in inventory.wires:
        a, b = node[w.a], node[w.b]
        if a != b:
            arcs[a, b] += w.rate
            arcs[b, a] += w.rate
    linked = {x for arc in arcs for x in arc}
    holding = {p.inside for p in inventory.built_parts() if p.kind == "chip"}
    ranks = [p.path for p in inventory.built_parts() if p.path in holding and p.path in linked]
    return ranks, dict(arcs)


def scale_up_domains(inventory: Inventory, ranks: Sequence[str]) -> list[list[str]]:
    """Ranks that scale-up links join, in their order."""
    node = {p.path: p.inside or p.path for p in inventory.parts.values()}
    graph = nx.Graph()
    graph.add_nodes_from(ranks)
    graph.add_edges_from((node[w.a], node[w.b]) for w in inventory.wires if w.scaleup)
    return [found for part in nx.connected_components(graph) if (found := [r for r in ranks if r in part])]


def flow_factor(arcs: dict[tuple[str, str], int], demands: Demands) -> float:
    """By how much all demands can be multiplied at once, in bit/s; every node may pass on. Raises Unjudged."""
    grain = max(arcs.values())
    nodes = {x for arc in arcs for x in arc}
    scaled = {k: c / grain for k, c in arcs.items()}
    return concurrent(scaled, demands, nodes) * grain  # type: ignore[arg-type]


def floor_of_allreduce(inventory: Inventory, size: int) -> float:
    """Seconds below which no algorithm adds up ``size`` bytes on all ranks."""
    ranks, arcs = merged_ranks(inventory)
    graph = nx.DiGraph()
    graph.add_nodes_from(ranks)
    for (a, b), rate in arcs.items():
        graph.add_edge(a, b, capacity=rate)
    cut = min(nx.maximum_flow_value(graph, ranks[0], r) for r in ranks[1:])
    if not cut:
        return inf
    out = 8 * size / cut
    for blocks in ([[r] for r in ranks], scale_up_domains(inventory, ranks)):
        inside = [sum(rate for (a, b), rate in arcs.items() if b in block and a not in block) for block in blocks]
        if len(blocks) > 1 and len(blocks) == len(ranks):
            out = max(out, 2 * 8 * (len(blocks) - 1) * size / sum(inside))
    return out


def schedule_of_allreduce(inventory: Inventory, size: int) -> float:
    """Seconds of a schedule that adds up ``size`` bytes on all ranks: a ring in the order of the domains, or by levels with their
    chunks overlapped. Raises Unjudged."""
    ranks, arcs = merged_ranks(inventory)
    domains = scale_up_domains(inventory, ranks)
    ordered = [r for domain in domains for r in domain]
    n = len(ordered)
    bits = 8.0 * size
    ring: Demands = dict.fromkeys(zip(ordered, ordered[1:] + ordered[:1], strict=True), 2 * (n - 1) / n)
    out = inf
    factor = flow_factor(arcs, ring)
    if factor:
        out = bits / factor
    sizes = {len(domain) for domain in domains}
    if len(sizes) == 1 and len(domains) > 1 and min(sizes) > 1:
        g, d = len(domains[0]), len(domains)
        levels: Demands = defaultdict(float)
        for domain in domains:
            for a, b in zip(domain, domain[1:] + domain[:1], strict=True):
                levels[a, b] += 2 * (g - 1) / g
        for one, other in zip(domains, domains[1:] + domains[:1], strict=True):
            for a, b in zip(one, other, strict=True):
                levels[a, b] += 2 * (d - 1) / d / g
        factor = flow_factor(arcs, dict(levels))
        if factor:
            out = min(out, bits / factor)
    return out


def time_of_all_to_all(inventory: Inventory, size: int) -> float:
    """Seconds in which each rank sends a share of ``size`` bytes to each: floor and schedule are one. Raises Unjudged."""
    ranks, arcs = merged_ranks(inventory)
    demands: Demands = {(a, b): 1.0 for a in ranks for b in ranks if a != b}
    factor = flow_factor(arcs, demands)
    return 8.0 * size / len(ranks) / factor if factor else inf


def interval_of_time(inventory: Inventory, metric: str, size: int) -> tuple[float, float]:
    """Floor and schedule of a collective, in seconds. Raises Unjudged."""
    ranks, _ = merged_ranks(inventory)
    if len(ranks) < 2:
        raise Unjudged("fewer than two ranks")
    if metric == "allreduce":
        return floor_of_allreduce(inventory, size), schedule_of_allreduce(inventory, size)
    both = time_of_all_to_all(inventory, size)
    return both, both


def exact_milliseconds(seconds: float) -> Fraction:
    """A time as the value of a requirement in ms."""
    return Fraction(seconds * 1000).limit_denominator(10**6)
