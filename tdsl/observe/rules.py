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
SAMPLE = 64
"""Links of many that are asked first whether a linear rule can fit them."""
FEWEST = 3
"""Links of a rule; fewer are written one by one."""


def connect_rules(a: str, b: str, rows: Rows, rate: str, boxes: Boxes | None) -> Iterator[str]:
    """Connects that give these links, no more and no fewer. ``boxes`` has the ranges of the indices and of
    the ports of both arrays; without it, every link is written by itself."""
    if boxes is None or len(rows) < FEWEST:
        yield from _connects_one_by_one(a, b, sorted(rows), rate)
        return
    x, y = (np.array(side, dtype=np.int64) for side in zip(*rows, strict=True))
    order = np.lexsort((*y.T[::-1], *x.T[::-1]))
    yield from _rules_of_sorted_links(a, b, x[order], y[order], rate, boxes)


def _rules_of_sorted_links(
    a: str, b: str, x: np.ndarray, y: np.ndarray, rate: str, boxes: Boxes
) -> Iterator[str]:
    """Connects of links in order; ``x`` and ``y`` have the indices and the port of an end, a row a link."""
    if len(x) >= FEWEST:
        rule = _connect_rule(a, b, x, y, rate, boxes)
        if rule is not None:
            yield rule
            return
        parts = _rules_by_index(a, b, x, y, rate, boxes)
        for of_x, of_y, line in parts:
            if line:
                yield line
            elif len(of_x) >= FEWEST and (of_x != of_x[0]).any():  # worth a rule of its own
                yield from _rules_of_sorted_links(a, b, of_x, of_y, rate, boxes)
            else:
                yield from _connects_one_by_one(a, b, _rows_of_links(of_x, of_y), rate)
        if parts:
            return
    good = _links_in_step(x, y)
    rule = _connect_rule(a, b, x[good], y[good], rate, boxes) if good.any() else None
    if rule is not None:
        yield rule
        x, y = x[~good], y[~good]
    yield from _connects_one_by_one(a, b, _rows_of_links(x, y), rate)


def _rows_of_links(x: np.ndarray, y: np.ndarray) -> Rows:
    return list(zip(map(tuple, x.tolist()), map(tuple, y.tolist()), strict=True))


def _connects_one_by_one(a: str, b: str, rows: Rows, rate: str) -> Iterator[str]:
    for x, y in rows:
        yield (
            f"connect {_port_expression(a, list(map(str, x)))} to "
            f"{_port_expression(b, list(map(str, y)))} {{ rate {rate} }}"
        )


def _rules_by_index(
    a: str, b: str, x: np.ndarray, y: np.ndarray, rate: str, boxes: Boxes
) -> list[tuple[np.ndarray, np.ndarray, str | None]]:
    """Links parted by one index, with the rule of each part: by port, where that gives a rule to at least
    half of them, else by the outermost index, with no rule yet. None of either where there is one index, or
    it parts nothing."""
    port = x.shape[1] - 1
    for index in (port, 0) if port else ():
        order = np.argsort(x[:, index], kind="stable")
        cuts = np.flatnonzero(np.diff(x[order, index])) + 1
        if not 1 < len(cuts) + 1 < len(x):
            continue
        first_met = sorted(np.split(order, cuts), key=lambda part: int(part[0]))
        parts = [(x[part], y[part]) for part in first_met]
        if index != port:
            return [(*part, None) for part in parts]
        found = [_connect_rule(a, b, *part, rate, boxes) for part in parts]
        if 2 * sum(map(bool, found)) >= len(found):
            return [(*part, line) for part, line in zip(parts, found, strict=True)]
    return []


def _links_in_step(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which links along one index keep step with one another, where at least three of four do: the others are
    swapped, say; none where not. A boolean a link."""
    none = np.zeros(len(x), dtype=np.bool_)
    varying = np.flatnonzero((x != x[0]).any(axis=0))
    if len(varying) != 1 or len(x) < 2 * FEWEST:
        return none
    at = x[:, varying[0]]
    if (np.diff(at) == 0).any():
        return none
    good = ~none
    for column in y.T:
        whole, rest = np.divmod(np.diff(column), np.diff(at))
        step = _most_frequent_value(whole[rest == 0])
        good &= column - step * at == _most_frequent_value(column - step * at)
    return good if 4 * good.sum() >= 3 * len(x) else none


def _most_frequent_value(values: np.ndarray) -> int:
    """The value that is there most often, the least of several; 0 of none."""
    found, counts = np.unique(values, return_counts=True)
    return int(found[np.argmax(counts)]) if len(found) else 0


def _port_expression(word: str, terms: Sequence[str]) -> str:
    *device, port = terms
    index = f"[{', '.join(device)}]" if device else ""
    return f"{word}{index}.p[{port}]"


def _connect_rule(a: str, b: str, x: np.ndarray, y: np.ndarray, rate: str, boxes: Boxes) -> str | None:
    """One connect for all links; None where no rule of the known forms gives them."""
    low, high = x.min(axis=0).tolist(), x.max(axis=0).tolist()
    varying = [i for i in range(x.shape[1]) if low[i] != high[i]]
    if not varying or math.prod(h - n + 1 for n, h in zip(low, high, strict=True)) > 2 * len(x):
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
    found = _whole_coefficients(columns, y)
    if found is None:
        return None
    terms: list[str] = []
    *factors, constant = found
    for factor, name in zip(factors, names, strict=True):
        if factor:
            body = f"({name})" if "//" in name or "%" in name else name
            terms.append(
                body
                if factor == 1
                else f"{factor} * {body}"
                if terms or factor > 0
                else f"0 - {-factor} * {body}"
            )
    if constant or not terms:
        terms.append(str(constant))
    return " + ".join(terms).replace("+ -", "- ")


def _whole_coefficients(columns: np.ndarray, y: np.ndarray) -> list[int] | None:
    """Whole factors of the columns, and a constant behind them, that give ``y`` exactly; None where there are
    none. ``columns`` and ``y`` have a row a link."""
    if columns.shape[1] == 1:  # two rows say it all
        x = columns[:, 0]
        other = int((x != x[0]).argmax())
        run, rise = int(x[other] - x[0]), int(y[other] - y[0])
        factor = rise // run if run else 0
        constant = int(y[0]) - factor * int(x[0])
        return [factor, constant] if (x * factor + constant == y).all() else None
    matrix = np.concatenate((columns, np.ones((len(y), 1), dtype=np.int64)), axis=1)
    if len(y) > 4 * SAMPLE:
        some = slice(None, None, len(y) // SAMPLE)
        if np.abs(matrix[some] @ _least_squares(matrix[some], y[some]) - y[some]).max() > 0.25:
            return None  # what does not fit some links does not fit all
    found = _least_squares(matrix, y)
    whole = np.rint(found).astype(np.int64)
    return whole.tolist() if (matrix @ whole == y).all() else None


def _least_squares(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    found: np.ndarray = np.linalg.lstsq(matrix.astype(np.float64), y.astype(np.float64), rcond=None)[0]
    return found
