"""Patterns of a connect as index arithmetic: which member of A meets which member of B, in which copy, along
which dimension.

All functions give arrays for one application; members are numbered by rank in their population.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.order import by_keys, distinct_values
from tdsl.fabric.vector import Array
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count

OFFERS = 1 << 16
"""Sizes that are tried to offer one that would be even."""


@dataclass(frozen=True, slots=True)
class LinkPairs:
    """Links of one application. ``dim`` is the dimension of a mesh or torus (0 elsewhere); ``up`` says that
    the a end uses the port towards + and the b end the port towards - of it."""

    a: Array
    b: Array
    copy: Array
    dim: Array
    directed: bool = False


def _pairs_of_ranks(a: Array, b: Array, copy: Array | None = None) -> LinkPairs:
    zero = np.zeros(len(a), dtype=np.int64)
    return LinkPairs(a, b, zero if copy is None else copy, zero)


def copy_links(pairs: LinkPairs, n: int) -> LinkPairs:
    """Every link n times."""
    if n == 1:
        return pairs
    count = len(pairs.a)
    c = np.repeat(np.arange(n, dtype=np.int64), count)
    a, b, copy, dim = (np.tile(x, n) for x in (pairs.a, pairs.b, pairs.copy, pairs.dim))
    return LinkPairs(a, b, copy * n + c, dim, pairs.directed)


def single_link() -> LinkPairs:
    """One link."""
    zero = np.zeros(1, dtype=np.int64)
    return _pairs_of_ranks(zero, zero)


def complete_links(a: int, b: int | None) -> LinkPairs:
    """Every a to every b; every unordered pair of A without b."""
    if b is None:
        i, j = np.triu_indices(a, 1)
        return _pairs_of_ranks(i.astype(np.int64), j.astype(np.int64))
    i, j = np.divmod(np.arange(a * b, dtype=np.int64), b)
    return _pairs_of_ranks(i, j)


def in_order(a: int, b: int, shift: int, span: SourceSpan) -> LinkPairs:
    """``pairs``: the k-th of A to the k-th of B, or to the (k + shift)-th modulo the size of B."""
    if a != b:
        raise Fault(
            "E0457", span, f"`pairs` connects two sets of the same size; these have {a} and {b} members"
        )
    k = np.arange(a, dtype=np.int64)
    return _pairs_of_ranks(k, (k + shift % b) % b if b else k)


def ring_links(size: int) -> LinkPairs:
    """One ring over a population in order; two members get two links, one gets none."""
    if size < 2:
        return _pairs_of_ranks(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    k = np.arange(size, dtype=np.int64)
    copy = k if size == 2 else np.zeros(size, dtype=np.int64)
    return _pairs_of_ranks(k, (k + 1) % size, copy)


def mesh_or_torus_links(shape: tuple[int, ...], wrap: bool) -> LinkPairs:
    """``mesh`` and ``torus``: each member to the next one along every dimension; a torus joins the last to
    the first."""
    count = prod(shape)
    ranks = np.arange(count, dtype=np.int64).reshape(shape)
    a, b, d = [], [], []
    for dim, size in enumerate(shape):
        if size < 2:
            continue
        near = ranks if wrap else np.take(ranks, range(size - 1), axis=dim)
        far = np.roll(ranks, -1, axis=dim)
        if not wrap:
            far = np.take(far, range(size - 1), axis=dim)
        a.append(near.ravel())
        b.append(far.ravel())
        d.append(np.full(near.size, dim, dtype=np.int64))
    empty = np.zeros(0, dtype=np.int64)
    x, y, z = (np.concatenate(v) if v else empty for v in (a, b, d))
    return LinkPairs(x, y, np.zeros(len(x), dtype=np.int64), z, True)


Joined = Callable[[Fault], None]
"""For every application, which members of A, then B, other statements joined before: a number each, the same
for those that meet."""


def spread_links(
    a: int,
    b: int,
    k: int,
    uneven: bool,
    span: SourceSpan,
    names: tuple[str, str],
    joined: Joined | None = None,
) -> LinkPairs:
    """``spread`` of k ports of each a over B.

    Even: k is a multiple of |B| (every pair gets k/|B| links), or k < |B| and every b gets one total, a's
    links going to b = (rank of a x k + 0..k-1) mod |B|. Uneven: every pair gets floor(k/|B|) or one more, by
    the same rule for what is over.
    """
    base, extra = divmod(k, b)
    ranks = np.arange(a, dtype=np.int64)
    if extra and not uneven:
        if base or (a * k) % b:
            raise _uneven_spread_fault(a, b, k, span, names)
        i = np.repeat(ranks, k)
        j = (i * k + np.tile(np.arange(k, dtype=np.int64), a)) % b
        _require_connected_spread(i, j, (a, b), k, span, names, joined)
        return _pairs_of_ranks(i, j)
    i, j = np.divmod(np.arange(a * b, dtype=np.int64), b)
    out = copy_links(_pairs_of_ranks(i, j), base) if base else _pairs_of_ranks(i[:0], j[:0])
    if not extra:
        return out
    i = np.repeat(ranks, extra)
    j = (i * extra + np.tile(np.arange(extra, dtype=np.int64), a)) % b
    copy = np.full(len(i), base, dtype=np.int64)
    return _pairs_of_ranks(
        np.concatenate([out.a, i]), np.concatenate([out.b, j]), np.concatenate([out.copy, copy])
    )


def _uneven_spread_fault(a: int, b: int, k: int, span: SourceSpan, names: tuple[str, str]) -> Fault:
    near = (
        (n for n in ns if k % n == 0 or (k < n and a * k % n == 0))
        for ns in (range(b - 1, max(0, b - OFFERS), -1), range(b + 1, min(a * k + 1, b + OFFERS)))
    )
    below, above = (next(ns, None) for ns in near)
    options = " or ".join(str(n) for n in (below, above) if n)
    return Fault(
        "E0454",
        span,
        f"{k} {noun_for_count(k, 'port')} of each of {a} {names[0]} do not spread evenly over {b} {names[1]}",
        notes=[
            f"{k} = {k // b} x {b} + {k % b}: {k // b} links a pair leave {k % b} "
            f"{noun_for_count(k % b, 'port')} of each {names[0]} over"
        ],
        help=f"{options} {names[1]} would be even; or write `spread uneven` to allow one link more for "
        "some pairs",
    )


def _require_connected_spread(
    i: Array,
    j: Array,
    sizes: tuple[int, int],
    k: int,
    span: SourceSpan,
    names: tuple[str, str],
    joined: Joined | None,
) -> None:
    """Refuse a spread whose links fall into parts that do not meet; ``joined`` judges that when all links are
    there."""
    a, b = sizes
    parts = len(distinct_values(component_labels(a + b, i, a + j)))
    if parts == 1:
        return
    message = (
        f"spreading {k} {noun_for_count(k, 'port')} of each of {a} {names[0]} over {b} {names[1]} splits "
        "them into parts that are not connected"
    )
    fault = Fault(
        "E0458",
        span,
        message,
        notes=[f"{parts} parts by these links alone"],
        help=f"give each {names[0]} more ports, have fewer {names[1]}, or join the parts by other connects",
    )
    if joined is None:
        raise fault
    joined(fault)


def mesh_spread(n: int, k: int, uneven: bool, span: SourceSpan, name: str) -> LinkPairs:
    """``spread`` without ``to``: k ports of each member over the others. Uneven: what is over goes to the
    nearest ranks on both sides, and an odd one stays free."""
    if n < 2:
        return complete_links(n, None)
    base, extra = divmod(k, n - 1)
    if extra and not uneven:
        raise Fault(
            "E0454",
            span,
            f"{k} ports of each {name} do not spread evenly over the {n - 1} others",
            notes=[f"{k} = {base} x {n - 1} + {extra}"],
            help="write `spread uneven` to allow one link more to the nearest ones",
        )
    out = (
        copy_links(complete_links(n, None), base)
        if base
        else _pairs_of_ranks(*(np.zeros(0, dtype=np.int64),) * 2)
    )
    steps = np.arange(1, extra // 2 + 1, dtype=np.int64)
    i = np.repeat(np.arange(n, dtype=np.int64), len(steps))
    j = (i + np.tile(steps, n)) % n
    low, high = np.minimum(i, j), np.maximum(i, j)
    copy = np.full(len(i), base, dtype=np.int64)
    return _pairs_of_ranks(
        np.concatenate([out.a, low]), np.concatenate([out.b, high]), np.concatenate([out.copy, copy])
    )


def random_regular(n: int, degree: int, seed: int, span: SourceSpan) -> LinkPairs:
    """A simple graph in which every member has ``degree`` links, from a seed: stubs paired at random, then
    links that repeat or loop are swapped away (Steger and Wormald 1999 describe the pairing model). The
    generator is PCG64, the same everywhere."""
    if degree < 1 or degree >= n or n * degree % 2:
        raise Fault(
            "E0457",
            span,
            f"no simple graph gives each of {n} members {degree} links",
            help="the degree is less than the number of members, and degree times members is even",
        )
    if degree > (n - 1) // 2:  # dense graphs are what sparse ones leave out
        sparse = random_regular(n, n - 1 - degree, seed, span) if degree < n - 1 else None
        whole = complete_links(n, None)
        taken = np.zeros(0, dtype=np.int64) if sparse is None else sparse.a * n + sparse.b
        keep = ~np.isin(whole.a * n + whole.b, taken)
        return _pairs_of_ranks(whole.a[keep], whole.b[keep])
    rng = np.random.PCG64(seed)  # raw words only: their stream is fixed for good, other methods may change
    stubs = np.repeat(np.arange(n, dtype=np.int64), degree)
    for _ in range(200):
        mixed = stubs[np.argsort(rng.random_raw(len(stubs)), kind="stable")]
        a, b = mixed[0::2].copy(), mixed[1::2].copy()
        if _remove_loops_and_repeats(a, b, n, rng):
            low, high = np.minimum(a, b), np.maximum(a, b)
            order = by_keys(low, high)
            return _pairs_of_ranks(low[order], high[order])
    raise Fault(
        "E0457",
        span,
        f"no {degree}-regular graph on {n} members was found from seed {seed}",
        help="try another seed",
    )


def _remove_loops_and_repeats(a: Array, b: Array, n: int, rng: np.random.PCG64) -> bool:
    """Swap ends of links that loop or repeat with random others until none does."""
    for _ in range(1000):
        key = np.minimum(a, b) * n + np.maximum(a, b)
        order = np.argsort(key, kind="stable")
        twice = np.zeros(len(a), dtype=np.bool_)
        twice[order[1:]] = key[order[1:]] == key[order[:-1]]
        bad = np.flatnonzero(twice | (a == b))
        if len(bad) == 0:
            return True
        for i in bad.tolist():
            j = int(rng.random_raw()) % len(a)
            b[i], b[j] = b[j], b[i]
    return False
