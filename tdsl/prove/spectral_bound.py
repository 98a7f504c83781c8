"""A lower bound on bisection by the spectrum of the wiring: exact in whole numbers, whatever floats proposed
it.

Let z be +1 or -1 for the side of every switch (or chip), w the units at each and W their sum, K how many
units are not on the side of theirs. What crosses is at least zᵀLz/4 + K, with L the Laplacian, and |wᵀz| ≤ 2K
+ 1 in a balanced split. If L + 2μ·wwᵀ/W - μ·diag(w) has no negative eigenvalue, that is μ/4·(W - 2(2K+1)²/W)
+ K, which is concave in K, and so least at an end. Source: Fiedler, "Algebraic connectivity of graphs"
(Czechoslovak Math. J. 23, 1973); Donath and Hoffman, "Lower bounds for the partitioning of graphs" (IBM J.
Res. Dev. 17, 1973).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network

STEPS = 10**5
"""Steps of a unit in which the multiplier is given."""

BITS = 56
"""Bits of the largest entry; products of the rounded factor then fit a word."""

MARGINS = (1e-4, 1e-3, 1e-2)
"""Parts less than the float says that are tried."""


NOTHING = 0, Fraction(0)


def spectral_cut_bound(net: Network, budget: Budget = DEFAULT) -> tuple[int, Fraction]:
    """What crosses every balanced split at least, in grains, and μ; 0 where this says nothing: no units with
    one link each to one switch, and none that are chips joined to chips only."""
    units, nodes = len(net.units), len(net.transit)
    if nodes and (len(net.loose.a) or not np.array_equal(net.access.a, np.arange(units))):
        return NOTHING
    count = nodes or units
    if not 2 < count <= budget.spectrum_nodes:
        return NOTHING
    weight = np.bincount(net.access.b, minlength=nodes) if nodes else np.ones(units, dtype=np.int64)
    pairs = net.trunks if nodes else net.loose
    laplace = np.zeros((count, count), dtype=np.int64)
    laplace[pairs.a, pairs.b] = laplace[pairs.b, pairs.a] = -pairs.capacity
    np.fill_diagonal(laplace, -laplace.sum(axis=1))
    if int(laplace.max()) * STEPS * units >= 2**BITS:
        return NOTHING
    second = _second_eigenvalue(laplace, weight)
    for margin in MARGINS:
        mu = int((second * (1 - margin)) * STEPS)
        if mu <= 0:
            return NOTHING
        if is_positive_semidefinite(
            units * (laplace * STEPS - mu * np.diag(weight)) + 2 * mu * np.outer(weight, weight)
        ):
            exact = Fraction(mu, STEPS)
            return _least_crossing(exact, units, int(net.access.capacity.min()) if nodes else None), exact
    return NOTHING


def _second_eigenvalue(laplace: Ints, weight: Ints) -> float:
    """About the greatest μ that may do: the second least number with Lx = μ·diag(w)x. What has no units is
    where it is best."""
    own, other = np.flatnonzero(weight), np.flatnonzero(weight == 0)
    whole = laplace.astype(np.float64)
    if len(other):
        try:
            inner = np.linalg.solve(whole[np.ix_(other, other)], whole[np.ix_(other, own)])
        except np.linalg.LinAlgError:
            return 0.0
        whole = whole[np.ix_(own, own)] - whole[np.ix_(own, other)] @ inner
    else:
        whole = whole[np.ix_(own, own)]
    root = np.sqrt(weight[own].astype(np.float64))
    return float(
        np.linalg.eigvalsh((whole + whole.T) / 2 / root[:, None] / root[None, :])[min(1, len(own) - 1)]
    )


def _least_crossing(mu: Fraction, units: int, way: int | None) -> int:
    """The least over K, rounded up; ``way`` is the least capacity of a unit's link, None where units have no
    other side."""
    odd = units % 2

    def least(apart: int) -> Fraction:
        return mu / 4 * (units - Fraction(2 * (2 * apart + odd) ** 2, units)) + apart * (way or 0)

    most = -(-units // 2)
    value = least(0) if way is None else min(least(0), least(most), Fraction(most * way))
    return max(-int(-value // 1), 0)


def is_positive_semidefinite(matrix: Ints) -> bool:
    """Whether a symmetric matrix of whole numbers is shown to have no negative eigenvalue.

    Times 4^k it is RᵀR + E with R a float factor of a little less, rounded to whole numbers: enough if E is
    diagonally dominant (Gershgorin). All but the proposal of R is exact.
    """
    size = int(np.abs(matrix).max(initial=1)).bit_length()
    shift = max((BITS - size) // 2, 0)
    if size + 2 * shift > BITS + 2:
        return False
    whole = matrix * 4**shift
    less = whole - np.eye(len(matrix)) * 2.0 ** (BITS - 18)
    try:
        factor = np.rint(np.linalg.cholesky(less)).astype(np.int64)
    except np.linalg.LinAlgError:
        return False
    rest = whole - factor @ factor.T
    diagonal = np.diag(rest)
    return bool((diagonal >= np.abs(rest).sum(axis=1) - np.abs(diagonal)).all())
