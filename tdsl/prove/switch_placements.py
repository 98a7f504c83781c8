"""Every place of some switches tried at once: the least cut of all splits where what is left then falls
apart.

Switches are *placed* or *free*. No two free ones are joined, and each has units of one class only: those with
the same links. Once the placed ones have their sides, what a class costs depends on nothing but how many x of
its units are on the one side: a free switch takes its better side. The least over the x that add up to half
is found by min-plus convolution, exactly. Equivalent ones, switches with the same links, choose the same
side, and are placed as one. (Bertelè and Brioschi, "Nonserial dynamic programming", 1972, is the general
method: eliminate what depends on little.)
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.symmetry import equal_rows
from tdsl.system.lazy_dataclass import dataclass

AT_ONCE = 2_000_000
"""Cells of the table of sums that are worked on in one go."""


@dataclass(eq=False)
class _Problem:
    """Switches (equivalent ones as one) with their trunks, dense and both ways; classes of units; ``access``:
    what one unit of a class (columns) has to a switch; ``place``: the switch here of every one of the net."""

    trunk: Ints
    access: Ints
    size: Ints
    label: Ints
    place: Ints

    @classmethod
    def of(cls, net: Network) -> _Problem:
        """Read capacities; units of a class are numbered by ``label``."""
        first, label = _units_by_switch_links(net)
        count = len(net.transit)
        trunk, access = (
            np.zeros((count, count), dtype=np.int64),
            np.zeros((count, len(first)), dtype=np.int64),
        )
        trunk[net.trunks.a, net.trunks.b] = trunk[net.trunks.b, net.trunks.a] = net.trunks.capacity
        one = np.isin(net.access.a, first)
        access[net.access.b[one], label[net.access.a[one]]] = net.access.capacity[one]
        own = np.where(access.any(axis=1), np.arange(count), count)  # switches with units are not exchanged
        a, b, amount = net.trunks.a, net.trunks.b, net.trunks.capacity
        same = equal_rows(own, np.append(a, b), np.append(b, a), np.append(amount, amount))
        place = np.unique(same, return_inverse=True)[1]
        order = np.argsort(place, kind="stable")
        first = np.searchsorted(place[order], np.arange(int(place.max(initial=-1)) + 1))
        trunk, access = (np.add.reduceat(x[order], first, axis=0) for x in (trunk, access))
        trunk = np.add.reduceat(trunk[:, order], first, axis=1)
        return cls(trunk, access, np.bincount(label, minlength=access.shape[1]), label, place)

    def placed(self) -> Ints:
        """Few switches without which no two are joined: those with units or the others, or, one by one, the
        most joined."""
        joined, hosts = self.trunk > 0, (self.access > 0).sum(axis=1)
        found = [
            self._cover(hosts == 0),
            self._cover(hosts > 0),
            self._cover(np.zeros(len(hosts), dtype=np.bool_)),
        ]
        return min(found, key=len) if joined.any() else np.flatnonzero(hosts > 1)

    def _cover(self, chosen: Bools) -> Ints:
        chosen = chosen | ((self.access > 0).sum(axis=1) > 1)
        left = (self.trunk > 0) & ~chosen[:, None] & ~chosen[None, :]
        count = left.sum(axis=1)
        while count.any():
            v = int(count.argmax())
            count -= left[v]
            count[v] = 0
            chosen[v], left[v], left[:, v] = True, False, False
        for v in np.flatnonzero(chosen).tolist():  # what is not needed is free
            if (self.access[v] > 0).sum() < 2 and not (self.trunk[v] > 0)[~chosen].any():
                chosen[v] = False
        return np.flatnonzero(chosen)

    def costs(self, placed: Ints, sides: Bools) -> tuple[Ints, list[Ints]]:
        """For every way (row of ``sides``) to place: what crosses whatever the units do, and for each class
        what x units cost."""
        free = np.setdiff1d(np.arange(len(self.trunk)), placed)
        ours = sides.astype(np.int64)
        among = self.trunk[np.ix_(placed, placed)]
        base = np.einsum("ai,ij,aj->a", ours, among, 1 - ours)
        there, here = ours @ self.trunk[np.ix_(placed, free)], (1 - ours) @ self.trunk[np.ix_(placed, free)]
        lone = ~self.access[free].any(axis=1)
        base = base + np.minimum(there, here)[:, lone].sum(axis=1)
        out = []
        for at, m in enumerate(self.size.tolist()):
            x = np.arange(m + 1)
            fixed = self.access[placed, at]
            cost = (ours @ fixed)[:, None] * (m - x) + ((1 - ours) @ fixed)[:, None] * x
            for i in np.flatnonzero(self.access[free, at]).tolist():
                each = int(self.access[free[i], at])
                cost += np.minimum(each * x + there[:, i, None], each * (m - x) + here[:, i, None])
            out.append(cost)
        return base, out


def _units_by_switch_links(net: Network) -> tuple[Ints, Ints]:
    """The first unit of every class of units with the same links to switches, and the class of every unit."""
    same = equal_rows(
        np.zeros(len(net.units), dtype=np.int64), net.access.a, net.access.b, net.access.capacity
    )
    first, label = np.unique(same, return_inverse=True)
    return first, label.ravel()


def least_cut_by_placements(net: Network, budget: Budget = DEFAULT) -> tuple[int, Bools] | None:
    """The least cut of all balanced splits, and the units of one side; None where that would be too much
    work."""
    if len(net.loose.a) or not 0 < len(net.transit) <= budget.placement_switches:
        return None
    classes, label = _units_by_switch_links(net)
    adjacent = np.unique(net.access.b * max(len(classes), 1) + label[net.access.a]) // max(len(classes), 1)
    if int((np.bincount(adjacent) > 1).sum()) > budget.placed_switches:
        return None  # a switch with units of two classes is never free
    problem = _Problem.of(net)
    placed = problem.placed()
    total, half = len(net.units), net.half
    if (
        len(placed) > budget.placed_switches
        or (total * (total - half) << max(len(placed) - 1, 0)) > budget.placement_work
    ):
        return None
    ways = np.arange(
        1 << max(len(placed) - 1, 0)
    )  # the last one is on the other side: sides may be exchanged
    best = None
    step = max(AT_ONCE // (total - half + 1), 1)
    for at in range(0, len(ways), step):
        sides = (ways[at : at + step, None] >> np.arange(len(placed)) & 1).astype(np.bool_)
        base, costs = problem.costs(placed, sides)
        sums = base + _cumulative_class_costs(costs, total - half)[-1][:, [half, total - half]].min(axis=1)
        least = int(sums.argmin())
        if best is None or int(sums[least]) < best[0]:
            best = int(sums[least]), sides[least : least + 1]
    assert best is not None
    return best[0], _cheapest_units(problem, placed, best[1], half)


def placement_order(net: Network) -> list[list[int]]:
    """The order in which sides are taken, units numbered first, equivalent ones as one: the placed, free ones
    without units, then every class with its free ones."""
    problem = _Problem.of(net)
    placed = problem.placed()
    free = np.setdiff1d(np.arange(len(problem.trunk)), placed)
    groups = [placed, free[~problem.access[free].any(axis=1)]]
    out: list[list[int]] = []
    for at in range(-1, len(problem.size)):
        switches = np.concatenate(groups) if at < 0 else free[problem.access[free, at] > 0]
        out += [(np.flatnonzero(problem.place == v) + len(net.units)).tolist() for v in switches.tolist()]
        out += [[u] for u in np.flatnonzero(problem.label == at).tolist()]
    return out


def _cumulative_class_costs(costs: list[Ints], most: int) -> list[Ints]:
    """The least that the first classes cost, one after the other, by how many of their units are on the one
    side."""
    out = [np.zeros((len(costs[0]), 1), dtype=np.int64)]
    for cost in costs:
        before, m = out[-1], cost.shape[1] - 1
        width = min(before.shape[1] + m, most + 1)
        after = np.full((len(cost), width), np.iinfo(np.int64).max)
        for x in range(min(m, width - 1) + 1):
            part = before[:, : width - x] + cost[:, x : x + 1]
            np.minimum(after[:, x : x + part.shape[1]], part, out=after[:, x : x + part.shape[1]])
        out.append(after)
    return out


def _cheapest_units(problem: _Problem, placed: Ints, sides: Bools, half: int) -> Bools:
    """A split that costs least with these places: of every class the first units."""
    total = int(problem.size.sum())
    _, costs = problem.costs(placed, sides)
    tables = _cumulative_class_costs(costs, total - half)
    left = min((half, total - half), key=lambda x: int(tables[-1][0, x]))
    units = np.zeros(total, dtype=np.bool_)
    for at in range(len(costs) - 1, -1, -1):
        before, cost = tables[at][0], costs[at][0]
        x = next(
            x
            for x in range(len(cost))
            if 0 <= left - x < len(before) and before[left - x] + cost[x] == tables[at + 1][0, left]
        )
        units[np.flatnonzero(problem.label == at)[:x]] = True
        left -= x
    return units
