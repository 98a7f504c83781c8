"""Flows on arcs as paths, exactly: what each target gets, by the paths on which it comes."""

from __future__ import annotations

from fractions import Fraction

from tdsl.prove.network import Network
from tdsl.prove.routed_demand import Loads

ArcPaths = list[tuple[Fraction, tuple[int, ...]]]
"""Paths as arcs, each with the amount that it carries."""


def paths_of_flow(
    net: Network, source: int, flow: Loads, wanted: dict[int, int]
) -> dict[int, ArcPaths] | None:
    """The paths to every target that a flow from ``source`` consists of; cycles are left out. None where it
    does not bring every target what it wants.

    A flow is a sum of paths and cycles, at most one of them an arc (Ford and Fulkerson, "Flows in Networks",
    1962): the arcs of a path are followed to a target, fewest first, and it takes what all of them carry."""
    left = {arc: amount for arc, amount in flow.items() if amount}
    after: dict[int, list[int]] = {}
    for arc in sorted(left):
        after.setdefault(int(net.tail[arc]), []).append(arc)
    out: dict[int, ArcPaths] = {}
    for target, amount in wanted.items():
        need = Fraction(amount)
        mine = out.setdefault(target, [])
        while need:
            path = _shortest_path_in_flow(net, after, left, source, target)
            if path is None:
                return None
            part = min(need, *(left[arc] for arc in path))
            for arc in path:
                left[arc] -= part
            need -= part
            mine.append((part, path))
    return out


def _shortest_path_in_flow(
    net: Network, after: dict[int, list[int]], left: Loads, source: int, target: int
) -> tuple[int, ...] | None:
    """The arcs of a path with the fewest arcs among those that carry something; None if there is none."""
    by: dict[int, int] = {}
    front = [source]
    for v in front:
        if v != source and not net.forwards[v]:
            continue
        for arc in after.get(v, ()):
            w = int(net.head[arc])
            if left[arc] and w != source and w not in by:
                by[w] = arc
                front.append(w)
        if target in by:
            break
    else:
        return None
    path = []
    while target != source:
        path.append(by[target])
        target = int(net.tail[path[-1]])
    return tuple(reversed(path))
