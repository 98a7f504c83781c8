"""Slow and plain answers to what the checks compute: the judges of the property tests."""

from __future__ import annotations

from itertools import combinations

import networkx as nx

from tdsl.fabric.graph import Fabric


def units(f: Fabric) -> list[int]:
    """Accelerator hosts or chips."""
    return [d for d in range(f.device_count) if f.is_end[d] and f.role[d] == "accelerator" and f.built[d]]


def forwarders(f: Fabric) -> set[int]:
    """Devices that a path may pass through."""
    chips = {d for d in range(f.device_count) if f.kind[d] == "chip"}
    direct = any(a in chips and b in chips for a, b in pairs(f))
    return {d for d in range(f.device_count) if f.kind[d] == "switch" or (direct and d in chips)}


def pairs(f: Fabric) -> list[tuple[int, int]]:
    """Devices at the ends of every link."""
    return list(zip(f.device_a.tolist(), f.device_b.tolist(), strict=True))


def capacities(f: Fabric, keep: set[int]) -> nx.Graph:
    """The links among some devices, parallel ones as a capacity."""
    g = nx.Graph()
    g.add_nodes_from(keep)
    for a, b in pairs(f):
        if a in keep and b in keep and a != b:
            g.add_edge(a, b, capacity=g.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    return g


def redundancy(f: Fabric) -> int:
    """Least max flow over all pairs, third ends taken out."""
    inner = forwarders(f)
    return min(nx.maximum_flow_value(capacities(f, inner | {u, v}), u, v) for u, v in combinations(units(f), 2))


def reachable(f: Fabric) -> bool:
    """Whether every pair is joined without passing through a third end."""
    inner = forwarders(f)
    return all(nx.has_path(capacities(f, inner | {u, v}), u, v) for u, v in combinations(units(f), 2))


def diameter(f: Fabric) -> int | None:
    """Farthest two forwarding devices that units meet, among those that reach each other; None if units meet none."""
    inner, ends = forwarders(f), set(units(f))
    both = [*pairs(f), *((b, a) for a, b in pairs(f))]
    met = {b for a, b in both if a in ends and b in inner} | (ends & inner)
    if not met:
        return None
    g = capacities(f, inner)
    reach = {u: nx.single_source_shortest_path_length(g, u) for u in met}
    return max(reach[u][v] for u in met for v in met if v in reach[u])


def isolated_planes(f: Fabric) -> bool:
    """Whether no component of switches holds two planes."""
    parts = nx.connected_components(capacities(f, forwarders(f)))
    return all(len({int(f.plane[d]) for d in part if f.plane[d] >= 0}) < 2 for part in parts)
