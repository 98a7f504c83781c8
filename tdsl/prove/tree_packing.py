"""All-gathers and all-reduces along packed trees: every unit's part of the data goes out along trees that
reach all units, and what it is reduced from comes in along the same trees.

A linear program proposes how much each unit is to send to each other unit, so that all of it fits the
wiring at once and as much as possible flows from the roots to every unit. Where that is so, trees can be
packed up to the least flow to a unit (Edmonds, "Edge-disjoint branchings", 1973): they are grown link by
link, each as wide as leaves the others what they need (Bérczi and Frank, "Packing arborescences", 2010; Zhao
et al., "ForestColl: throughput-optimal collective communications on heterogeneous network fabrics", arXiv
2402.06787). Floats only propose: trees are grown with whole numbers, and their time is computed from what
they send.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_traffic import DataTree, Gathering, Stage
from tdsl.prove.linear import Floats, greatest_first_variable
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.system.lazy_dataclass import dataclass

NAME = "packed trees"

Pair = tuple[int, int]


def tree_gathering(ranks: Ranks, sums: bool) -> Gathering | None:
    """The gathering along trees that takes least time, of an all-reduce if ``sums``: then each part of the
    data may have any root. None where that is too much work, or nothing is found."""
    count = len(ranks.weight)
    net, budget = unit_network(ranks.ends), ranks.view.budget
    alone = ranks.outer is None and ranks.divisions[-1].count == count
    if not alone or count < 3 or count**3 + count * net.arcs > budget.tree_program_columns:
        return None
    proposed = _proposed_amounts(net, ranks.weight, sums)
    if proposed is None:
        return None
    share, sent = proposed
    whole = int(ranks.weight.sum()) * budget.tree_parts
    roots = ranks.weight * budget.tree_parts if not sums else _whole_shares(share, whole)
    for more in range(3):
        amount = {pair: int(np.ceil(x * whole - 1e-6)) + more for pair, x in sent.items() if x * whole > 1e-6}
        trees = _grown_trees(count, [int(x) for x in roots], amount)
        if trees is not None:
            return _gathering_of_trees(trees, whole)
    return None


def _whole_shares(share: Floats, whole: int) -> Ints:
    """Shares as whole numbers with this sum."""
    ends = np.rint(np.cumsum(share / share.sum()) * whole).astype(np.int64)
    ends[-1] = whole
    parts: Ints = np.diff(ends, prepend=0)
    return parts


class _Rows:
    """A matrix that is put together row by row."""

    def __init__(self) -> None:
        self.row: list[Ints] = []
        self.column: list[Ints] = []
        self.value: list[Floats] = []
        self.count = 0

    def add(self, column: Ints, value: Floats | float, row: Ints | int = 0, rows: int = 1) -> None:
        """Entries of some new rows; ``row`` is the number of each among these."""
        at = self.count + np.broadcast_to(np.asarray(row, dtype=np.int64), column.shape)
        self.row.append(at)
        self.column.append(column)
        self.value.append(np.broadcast_to(np.asarray(value, dtype=np.float64), column.shape))
        self.count += rows

    def entries(self) -> tuple[Ints, Ints, Floats]:
        """All entries."""
        return np.concatenate(self.row), np.concatenate(self.column), np.concatenate(self.value)


def _proposed_amounts(net: Network, weight: Ints, sums: bool) -> tuple[Floats, dict[Pair, float]] | None:
    """The share of the data of which each unit is the root, and what each sends each other of it, as parts of
    the whole; None where nothing flows.

    Columns: the rate, the shares of roots, what is sent between pairs, of these the flow to each unit, and
    what each sender puts on arcs."""
    count, arcs = len(weight), net.arcs
    first, second = np.divmod(np.arange(count * count), count)
    pairs = np.flatnonzero(first != second)
    s, t = first[pairs], second[pairs]
    root, sent = 1 + np.arange(count), 1 + count + np.arange(len(pairs))
    flow = 1 + count + len(pairs) * (1 + np.arange(count)[:, None]) + np.arange(len(pairs))[None, :]
    load = 1 + count + len(pairs) * (1 + count) + arcs * np.arange(count)[:, None] + np.arange(arcs)[None, :]
    capacity = net.capacity / net.capacity.max()
    rows = _Rows()
    if sums:
        rows.add(np.append(0, root), np.append(-1.0, np.ones(count)))
    else:
        for k in range(count):
            rows.add(np.array([0, root[k]]), np.array([-float(weight[k] / weight.sum()), 1.0]))
    for k in range(count):  # what enters a unit of the flow to k, less what leaves, and what begins there
        others = np.flatnonzero(np.arange(count) != k)
        column = np.concatenate((flow[k], flow[k], root[others]))
        value = np.concatenate((np.ones(len(pairs)), -np.ones(len(pairs)), np.ones(len(others))))
        row = np.concatenate((t, s, others))
        kept = row != k
        rows.add(column[kept], value[kept], row[kept] - (row[kept] > k), count - 1)
    for k in range(count):  # what k sends on the way
        mine = s == k
        column = np.concatenate((load[k], load[k], sent[mine], sent[mine]))
        ones = np.ones(int(mine.sum()))
        value = np.concatenate((np.ones(arcs), -np.ones(arcs), -ones, ones))
        row = np.concatenate((net.head, net.tail, t[mine], s[mine]))
        rows.add(column, value, row, net.nodes)
    equal = rows.count
    for k in range(count):
        at = np.arange(len(pairs))
        rows.add(np.concatenate((flow[k], sent)), np.repeat((1.0, -1.0), len(pairs)), np.tile(at, 2), len(at))
    place = np.searchsorted(net.head * net.nodes + net.tail, net.tail * net.nodes + net.head)
    used = [load, load[:, place]] if sums else [load]
    rows.add(
        np.concatenate([x.ravel() for x in used]), 1.0, np.tile(np.arange(arcs), count * len(used)), arcs
    )
    shut = [load[k][~(net.forwards[net.tail] | (net.tail == k)) | (net.head == k)] for k in range(count)]
    closed = np.concatenate(shut)
    rows.add(closed, 1.0, np.arange(len(closed)), len(closed))
    most = np.concatenate((np.zeros(count * len(pairs)), capacity, np.zeros(len(closed))))
    found = greatest_first_variable(int(load[-1, -1]) + 1, rows.entries(), equal, most)
    if found[0] < 1e-9:
        return None
    parts = found / found[0]
    return parts[root], dict(zip(zip(s.tolist(), t.tolist(), strict=True), parts[sent].tolist(), strict=True))


@dataclass(slots=True)
class _Growing:
    """A tree of this many parts that is grown: its links in order, and how deep each of its units is."""

    root: int
    parts: int
    links: list[Pair]
    depth: dict[int, int]


def _grown_trees(count: int, roots: Sequence[int], amount: dict[Pair, int]) -> list[DataTree] | None:
    """Trees from each root, together of as many parts as it has, that reach all and send no more than there
    is; None where some unit cannot get all."""
    left = dict(amount)
    growing = [_Growing(r, parts, [], {r: 0}) for r, parts in enumerate(roots) if parts]
    done: list[DataTree] = []
    while growing:
        tree = growing.pop()
        while len(tree.depth) < count:
            step = _next_link(count, tree, growing, left)
            if step is None:
                return None
            (a, b), width = step
            if width < tree.parts:
                rest = _Growing(tree.root, tree.parts - width, [*tree.links], {**tree.depth})
                growing.append(rest)
                tree.parts = width
            left[a, b] -= width
            tree.links.append((a, b))
            tree.depth[b] = tree.depth[a] + 1
        done.append(DataTree(tree.root, tree.parts, tuple((a, b, tree.depth[b]) for a, b in tree.links)))
    return done[::-1]


def _next_link(
    count: int, tree: _Growing, others: Sequence[_Growing], left: dict[Pair, int]
) -> tuple[Pair, int] | None:
    """The link by which a tree grows, and how many of its parts can: the shallowest, then the widest."""
    tries = sorted(
        (
            (tree.depth[a], -width, a, b)
            for (a, b), width in left.items()
            if width and a in tree.depth and b not in tree.depth
        )
    )
    for _, width, a, b in tries:
        most = min(-width, tree.parts, _spare_flow(count, a, b, tree, others, left))
        if most > 0:
            return (a, b), most
    return None


def _spare_flow(
    count: int, a: int, b: int, tree: _Growing, others: Sequence[_Growing], left: dict[Pair, int]
) -> int:
    """What may be taken from a to b so that the other trees still reach all: the maximum flow from a to b,
    with a way from a to every unit that another tree has reached, less what these trees need."""
    needed: dict[frozenset[int], int] = {}
    for one in others:
        key = frozenset(one.depth)
        needed[key] = needed.get(key, 0) + one.parts
    total = sum(needed.values())
    tail, head, capacity = [], [], []
    for (x, y), width in left.items():
        if width:
            tail.append(x)
            head.append(y)
            capacity.append(width)
    endless = total + sum(capacity) + 1
    for k, (reached, parts) in enumerate(sorted(needed.items(), key=lambda x: sorted(x[0]))):
        node = count + k
        tail += [a, *(node for _ in reached)]
        head += [node, *sorted(reached)]
        capacity += [parts, *(endless for _ in reached)]
    net = Network.of(
        np.ones(count + len(needed), dtype=np.bool_), np.array(tail), np.array(head), np.array(capacity)
    )
    return max_flow(net, a, b).value - total


def _gathering_of_trees(trees: list[DataTree], whole: int) -> Gathering:
    """The messages of all trees as one stage: what a unit sends another in all."""
    amount: dict[Pair, int] = {}
    for tree in trees:
        for a, b, _ in tree.links:
            amount[a, b] = amount.get((a, b), 0) + tree.parts
    pairs = sorted(amount)
    source, target = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
    steps = max(depth for tree in trees for _, _, depth in tree.links)
    sizes = np.array([amount[p] for p in pairs], dtype=np.int64)
    stage = Stage(source, target, sizes, steps, steps == 1)
    return Gathering(NAME, whole, (stage,), trees=tuple(trees))
