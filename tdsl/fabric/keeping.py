"""Which pairs an uneven ``spread`` joins where some links stand: the choice that keeps most of them.

``spread uneven`` gives every pair K // n links or one more, ``spread any`` any number; both give every member
of B the same total or one more. Of all such choices this is one with the most links that stand: a
transportation problem, whose basic solutions are whole numbers (Hoffman and Kruskal, "Integral Boundary
Points of Convex Polyhedra", 1956). What it gives is verified.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.patterns import LinkPairs
from tdsl.fabric.vector import Array
from tdsl.system.lazy_dataclass import dataclass

LARGEST = 1 << 15
"""Pairs of one application beyond which the text's own choice is taken."""


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """What one application may choose: K ports of each a over n members of B, where a pair gets ``low`` to
    ``high`` links, and the members of B that may have one link more than the others."""

    ports: int
    low: int
    high: int
    more: Array


def rule_of(own: Array, free: bool, one_model: bool) -> SpreadRule | None:
    """The rule of a spread from its own choice, a matrix of links a pair; None where it leaves nothing to
    choose. ``free``: any number of links a pair. ``one_model``: all members of B are of one model, so that
    any of them can take the link more."""
    a, b = own.shape
    if a == 0 or b == 0:
        return None
    k, low = int(own[0].sum()), int(own[0].sum()) // b
    totals = own.sum(axis=0)
    more = np.ones(b, dtype=np.int64) if one_model else (totals > totals.min()).astype(np.int64)
    if free:
        return SpreadRule(k, 0, k, more)
    return None if k % b == 0 else SpreadRule(k, low, low + 1, more)


def keep_standing_links(own: Array, standing: Array, rule: SpreadRule) -> Array:
    """Links a pair that keep most of those that stand; the spread's own choice where that keeps as many."""
    most = np.minimum(standing, rule.high)
    if (np.minimum(own, most) == most).all():
        return own
    if _is_valid_spread(standing, own, rule):
        return standing
    if own.size > LARGEST:
        return own
    found = _solve_transportation(own, most, rule)
    if found is None or not _is_valid_spread(found, own, rule):
        return own
    return found if np.minimum(found, standing).sum() > np.minimum(own, standing).sum() else own


def _link_bounds_of_members(own: Array, rule: SpreadRule) -> tuple[Array, Array]:
    """Fewest and most links of each member of B."""
    low = int(own.sum()) // own.shape[1]
    over = int(own.sum()) % own.shape[1] > 0
    return np.full(own.shape[1], low), low + (rule.more if over else np.zeros_like(rule.more))


def _is_valid_spread(x: Array, own: Array, rule: SpreadRule) -> bool:
    fewest, most = _link_bounds_of_members(own, rule)
    totals = x.sum(axis=0)
    return bool(
        (x >= rule.low).all()
        and (x <= rule.high).all()
        and (x.sum(axis=1) == rule.ports).all()
        and (totals >= fewest).all()
        and (totals <= most).all()
    )


def _solve_transportation(own: Array, standing: Array, rule: SpreadRule) -> Array | None:
    """The transportation problem by the network simplex, in whole numbers: an edge a pair and layer, where
    each layer of a pair costs no less than the one before; among equal choices the spread's own pairs go
    first."""
    import networkx

    a, b = own.shape
    even = -(-rule.ports // b)
    worth = 2 * a * rule.ports * (even + 3)
    first = np.maximum(standing - rule.low, 0)
    layers = [(first, -worth - 2 * (own > rule.low))]
    if rule.high == rule.low + 1:
        layers.append((1 - first, -2 * (own > rule.low)))
    else:
        layers += [((standing <= t).astype(np.int64), 2 * t - (own > t)) for t in range(even)]
        layers.append((np.full((a, b), rule.high), np.full((a, b), 2 * even + 2)))
    fewest, most = (x - rule.low * a for x in _link_bounds_of_members(own, rule))
    need = rule.ports - rule.low * b
    graph = networkx.MultiDiGraph()
    for i in range(a):
        graph.add_node(i, demand=-need)
    for j in range(b):
        graph.add_node(a + j, demand=int(fewest[j]))
        graph.add_edge(a + j, a + b, capacity=int(most[j] - fewest[j]), weight=0)
    graph.add_node(a + b, demand=a * need - int(fewest.sum()))
    for layer, (size, cost) in enumerate(layers):
        for i, j in np.argwhere(size > 0).tolist():
            graph.add_edge(i, a + j, key=layer, capacity=int(size[i, j]), weight=int(cost[i, j]))
    try:
        flow = networkx.min_cost_flow(graph)
    except networkx.NetworkXUnfeasible:
        return None
    out = np.full((a, b), rule.low, dtype=np.int64)
    for i in range(a):
        for end, taken in flow[i].items():
            out[i, end - a] += sum(taken.values())
    return out


def links_per_pair(pairs: LinkPairs, a: int, b: int) -> Array:
    """Links a pair."""
    out = np.zeros((a, b), dtype=np.int64)
    np.add.at(out, (pairs.a, pairs.b), 1)
    return out


def links_in_copy_order(x: Array) -> tuple[Array, Array, Array]:
    """Ranks of a and of b and the copy of every link, copy by copy, as a spread deals them."""
    i, j = (np.repeat(v, x.ravel()) for v in np.divmod(np.arange(x.size, dtype=np.int64), x.shape[1]))
    begin = np.repeat(np.cumsum(x.ravel()) - x.ravel(), x.ravel())
    copy = np.arange(len(i), dtype=np.int64) - begin
    order = np.lexsort((j, i, copy))
    return i[order], j[order], copy[order]
