"""Rules for links between two arrays: the place of one end as a function of the other's, exact for every
link."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

Rows = list[tuple[tuple[int, ...], tuple[int, ...]]]
"""Links: indices of the device and number of the port at each end."""
LETTERS = ("a", "b", "c", "d")
DIVISORS = (0, 2, 3, 4, 5, 6, 8, 10, 12, 16, 18, 20, 24, 32)
Boxes = tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
FEWEST = 3
"""Links of a rule; fewer are written one by one."""


def connect_rules(a: str, b: str, rows: Rows, rate: str, boxes: Boxes | None) -> Iterator[str]:
    """Connects that give these links, no more and no fewer. ``boxes`` has the ranges of the indices and of
    the ports of both arrays; without it, every link is written by itself."""
    rows = sorted(rows)
    if boxes is not None and len(rows) >= FEWEST:
        rule = _connect_rule(a, b, rows, rate, boxes)
        if rule is not None:
            yield rule
            return
        parts = _rules_by_index(a, b, rows, rate, boxes)
        for fixed, line in parts:
            if line:
                yield line
            else:
                yield from connect_rules(a, b, fixed, rate, boxes if _has_varying_index(fixed) else None)
        if parts:
            return
    good = _links_in_step(rows) if boxes is not None else []
    rule = _connect_rule(a, b, good, rate, boxes) if boxes is not None and good else None
    if rule is not None:
        yield rule
        rows = sorted(set(rows) - set(good))
    for x, y in rows:
        yield (
            f"connect {_port_expression(a, list(map(str, x)))} to "
            f"{_port_expression(b, list(map(str, y)))} {{ rate {rate} }}"
        )


def _rules_by_index(a: str, b: str, rows: Rows, rate: str, boxes: Boxes) -> list[tuple[Rows, str | None]]:
    """Links parted by one index, with the rule of each part: by port, where that gives a rule to at least
    half of them, else by the outermost index, with no rule yet. None of either where there is one index, or
    it parts nothing."""
    port = len(rows[0][0]) - 1
    for index in (port, 0) if port else ():
        parts: dict[int, Rows] = {}
        for row in rows:
            parts.setdefault(row[0][index], []).append(row)
        if not 1 < len(parts) < len(rows):
            continue
        if index != port:
            return [(fixed, None) for fixed in parts.values()]
        found = [_connect_rule(a, b, fixed, rate, boxes) for fixed in parts.values()]
        if 2 * sum(map(bool, found)) >= len(found):
            return list(zip(parts.values(), found, strict=True))
    return []


def _links_in_step(rows: Rows) -> Rows:
    """Links along one index that keep step with one another, where at least three of four do: the others are
    swapped, say."""
    varying = [i for i in range(len(rows[0][0])) if len({x[i] for x, _ in rows}) > 1]
    if len(varying) != 1 or len(rows) < 2 * FEWEST:
        return []
    at = np.array([x[varying[0]] for x, _ in rows], dtype=np.int64)
    to = np.array([y for _, y in rows], dtype=np.int64)
    if (np.diff(at) == 0).any():
        return []
    good = np.ones(len(rows), dtype=np.bool_)
    for column in to.T:
        whole, rest = np.divmod(np.diff(column), np.diff(at))
        step = _most_frequent_value(whole[rest == 0])
        good &= column - step * at == _most_frequent_value(column - step * at)
    return (
        [row for row, fits in zip(rows, good.tolist(), strict=True) if fits]
        if 4 * good.sum() >= 3 * len(rows)
        else []
    )


def _most_frequent_value(values: np.ndarray) -> int:
    """The value that is there most often, the least of several; 0 of none."""
    found, counts = np.unique(values, return_counts=True)
    return int(found[np.argmax(counts)]) if len(found) else 0


def _has_varying_index(rows: Rows) -> bool:
    """Whether a part of the links still has two indices that vary, so that it is worth a rule of its own."""
    return len(rows) >= FEWEST and sum(len({r[0][i] for r in rows}) > 1 for i in range(len(rows[0][0]))) >= 1


def _port_expression(word: str, terms: Sequence[str]) -> str:
    *device, port = terms
    index = f"[{', '.join(device)}]" if device else ""
    return f"{word}{index}.p[{port}]"


def _connect_rule(a: str, b: str, rows: Rows, rate: str, boxes: Boxes) -> str | None:
    """One connect for all links; None where no rule of the known forms gives them."""
    x, y = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    low, high = x.min(axis=0).tolist(), x.max(axis=0).tolist()
    varying = [i for i in range(x.shape[1]) if low[i] != high[i]]
    if not varying or math.prod((x.max(axis=0) - x.min(axis=0) + 1).tolist()) > 2 * len(rows):
        return None
    terms = [_index_function(x, y[:, j], low, varying) for j in range(y.shape[1])]
    if any(t is None for t in terms):
        return None
    conditions = _conditions_of_rule(x, varying, low, high, boxes[0])
    if conditions is None:
        return None
    far = [_term_in_range(t, boxes, j) for j, t in enumerate(terms) if t]
    names = [LETTERS[i] if i in varying else str(low[i]) for i in range(x.shape[1])]
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"connect {_port_expression(a, names)} to {_port_expression(b, far)}{where} {{ rate {rate} }}"


def _term_in_range(term: str, boxes: Boxes, place: int) -> str:
    """The expression for a far index. An index that is alone runs over the range of its place, so it stays
    alone only where both ranges are the same."""
    box, other = boxes
    return f"{term} + 0" if term in LETTERS and box[LETTERS.index(term)] != other[place] else term


def _conditions_of_rule(
    x: np.ndarray, varying: list[int], low: list[int], high: list[int], box: Sequence[tuple[int, int]]
) -> list[str] | None:
    """Conditions that keep the indices of a connect to the places with a link, where they do not take the
    whole ranges of an array; None where too many places would be left out one by one."""
    conditions = [f"{LETTERS[i]} >= {low[i]}" for i in varying if low[i] > box[i][0]]
    conditions += [f"{LETTERS[i]} <= {high[i]}" for i in varying if high[i] < box[i][1]]
    have = set(map(tuple, x[:, varying].tolist()))
    gone = [p for p in product(*(range(low[i], high[i] + 1) for i in varying)) if p not in have]
    if len(gone) > 16:
        return None
    for point in gone:
        same = " and ".join(f"{LETTERS[i]} == {n}" for i, n in zip(varying, point, strict=True))
        conditions.append(f"not ({same})")
    return conditions


def _index_function(x: np.ndarray, y: np.ndarray, low: list[int], varying: list[int]) -> str | None:
    """An expression that is ``y`` for every row: a sum of indices times whole numbers, or of an index
    divided, and its rest."""
    if (y == y[0]).all():
        return str(int(y[0]))
    for divisor in DIVISORS:
        for split in varying if divisor else varying[:1]:
            names, columns = [], []
            for i in varying:
                shifted = x[:, i] - low[i]
                name = f"({LETTERS[i]} - {low[i]})" if low[i] else LETTERS[i]
                if divisor and i == split:
                    names += [f"{name} // {divisor}", f"{name} % {divisor}"]
                    columns += [shifted // divisor, shifted % divisor]
                else:
                    names.append(name)
                    columns.append(shifted)
            found = _linear_expression(np.stack(columns, axis=1), y, names)
            if found is not None:
                return found
    return None


def _linear_expression(columns: np.ndarray, y: np.ndarray, names: list[str]) -> str | None:
    """Whole coefficients and a constant that give ``y`` exactly, as an expression."""
    matrix = np.concatenate((columns, np.ones((len(y), 1), dtype=np.int64)), axis=1)
    found = np.rint(np.linalg.lstsq(matrix.astype(np.float64), y.astype(np.float64), rcond=None)[0]).astype(
        np.int64
    )
    if not (matrix @ found == y).all():
        return None
    terms: list[str] = []
    for factor, name in zip(found[:-1].tolist(), names, strict=True):
        if factor:
            body = f"({name})" if "//" in name or "%" in name else name
            terms.append(
                body
                if factor == 1
                else f"{factor} * {body}"
                if terms or factor > 0
                else f"0 - {-factor} * {body}"
            )
    constant = int(found[-1])
    if constant or not terms:
        terms.append(str(constant))
    return " + ".join(terms).replace("+ -", "- ")
