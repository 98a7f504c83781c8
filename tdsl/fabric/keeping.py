"""Which pairs an uneven ``spread`` joins where some links stand: the choice that keeps most of them.

``spread uneven`` gives every pair K // n links or one more, ``spread any`` any number; both give every member of B the same
total or one more. Of all such choices this is one with the most links that stand: a transportation problem, whose basic
solutions are whole numbers (Hoffman and Kruskal, "Integral Boundary Points of Convex Polyhedra", 1956). What a solver
gives is verified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tdsl.fabric.patterns import Pairs
from tdsl.fabric.vector import Array

LARGEST = 1 << 18
"""Pairs of one application beyond which the text's own choice is taken."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What one application may choose: K ports of each a over n members of B, where a pair gets ``low`` to ``high`` links, and
    the members of B that may have one link more than the others."""

    ports: int
    low: int
    high: int
    more: Array


def rule_of(own: Array, free: bool, alike: bool) -> Rule | None:
    """The rule of a spread from its own choice, a matrix of links a pair; None where it leaves nothing to choose. ``free``: any
    number of links a pair. ``alike``: all members of B are of one model, so that any of them can take the link more."""
    a, b = own.shape
    if a == 0 or b == 0:
        return None
    k, low = int(own[0].sum()), int(own[0].sum()) // b
    totals = own.sum(axis=0)
    more = np.ones(b, dtype=np.int64) if alike else (totals > totals.min()).astype(np.int64)
    if free:
        return Rule(k, 0, k, more)
    return None if k % b == 0 else Rule(k, low, low + 1, more)


def kept(own: Array, standing: Array, rule: Rule) -> Array:
    """Links a pair that keep most of those that stand; the spread's own choice where that keeps as many."""
    most = np.minimum(standing, rule.high)
    if (np.minimum(own, most) == most).all():
        return own
    if _valid(standing, own, rule):
        return standing
    if own.size > LARGEST:
        return own
    found = _solved(own, most, rule)
    if found is None or not _valid(found, own, rule):
        return own
    return found if np.minimum(found, standing).sum() > np.minimum(own, standing).sum() else own


def _bounds(own: Array, rule: Rule) -> tuple[Array, Array]:
    """Fewest and most links of each member of B."""
    low = int(own.sum()) // own.shape[1]
    over = int(own.sum()) % own.shape[1] > 0
    return np.full(own.shape[1], low), low + (rule.more if over else np.zeros_like(rule.more))


def _valid(x: Array, own: Array, rule: Rule) -> bool:
    fewest, most = _bounds(own, rule)
    totals = x.sum(axis=0)
    return bool(
        (x >= rule.low).all() and (x <= rule.high).all() and (x.sum(axis=1) == rule.ports).all()
        and (totals >= fewest).all() and (totals <= most).all()
    )  # fmt: skip


def _solved(own: Array, standing: Array, rule: Rule) -> Array | None:
    """The transportation problem by HiGHS: a column a pair and layer; each layer of a pair costs no less than the one before."""
    import highspy

    a, b = own.shape
    even = -(-rule.ports // b)
    kept_worth = float(a * rule.ports * (even + 3))
    first = np.maximum(standing - rule.low, 0)
    layers = [(first, np.full((a, b), -kept_worth) - (own > rule.low))]
    if rule.high == rule.low + 1:
        layers.append((1 - first, -(own > rule.low).astype(float)))
    else:
        levels = [(np.where(standing <= t, 1, 0), np.where(own > t, t - 0.5, float(t))) for t in range(even)]
        layers += [*levels, (np.full((a, b), rule.high), np.full((a, b), float(even + 1)))]
    fewest, most = _bounds(own, rule)
    row, column = np.divmod(np.arange(a * b), b)
    times = len(layers)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = a * b * times, a + b
    lp.col_cost_ = np.concatenate([cost.ravel() for _, cost in layers]).astype(float)
    lp.col_lower_ = np.zeros(a * b * times)
    lp.col_upper_ = np.concatenate([size.ravel() for size, _ in layers]).astype(float)
    need = np.full(a, rule.ports - rule.low * b)
    lp.row_lower_ = np.concatenate([need, fewest - rule.low * a]).astype(float)
    lp.row_upper_ = np.concatenate([need, most - rule.low * a]).astype(float)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, 2 * a * b * times + 1, 2)
    lp.a_matrix_.index_ = np.tile(np.stack([row, a + column], axis=1).ravel(), times)
    lp.a_matrix_.value_ = np.ones(2 * a * b * times)
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("solver", "simplex")
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    value = np.rint(np.array(solver.getSolution().col_value)).astype(np.int64)
    return np.asarray(rule.low + value.reshape(times, a, b).sum(axis=0), dtype=np.int64)


def matrix(pairs: Pairs, a: int, b: int) -> Array:
    """Links a pair."""
    out = np.zeros((a, b), dtype=np.int64)
    np.add.at(out, (pairs.a, pairs.b), 1)
    return out


def columns(x: Array) -> tuple[Array, Array, Array]:
    """Ranks of a and of b and the copy of every link, copy by copy, as a spread deals them."""
    i, j = (np.repeat(v, x.ravel()) for v in np.divmod(np.arange(x.size, dtype=np.int64), x.shape[1]))
    begin = np.repeat(np.cumsum(x.ravel()) - x.ravel(), x.ravel())
    copy = np.arange(len(i), dtype=np.int64) - begin
    order = np.lexsort((j, i, copy))
    return i[order], j[order], copy[order]
