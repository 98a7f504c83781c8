"""The only importer of the linear-programming solver. What it answers are floats: proposals, never bounds.

Every caller rounds an answer to whole numbers and computes its bound from those exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.network import Network
from tdsl.system.standard_output import libraries_muted

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def solve_multicommodity_flow(
    net: Network, demands: Mapping[int, Mapping[int, int]], steps: int
) -> tuple[list[Floats], Floats]:
    """Maximum concurrent flow, one commodity a source: what each source puts on every arc (in the order of
    ``demands``: source to target to amount), and the price of every arc's capacity. The simplex method takes
    at most so many steps; then an interior-point method comes near the optimum sooner."""
    import highspy

    arcs, n, sources = net.arcs, net.nodes, list(demands)
    scale = float(max(sum(w.values()) for w in demands.values()))
    rows = np.arange(arcs)
    start = np.arange(arcs * len(sources) + 1) * 3
    index = np.concatenate(
        [
            np.stack((rows, arcs + k * n + net.tail, arcs + k * n + net.head), axis=1).ravel()
            for k in range(len(sources))
        ]
    )
    value = np.tile([1.0, -1.0, 1.0], arcs * len(sources))
    usable = [(net.forwards[net.tail] | (net.tail == s)) & (net.head != s) for s in sources]
    asked = [
        (arcs + k * n + t, -amount / scale) for k, s in enumerate(sources) for t, amount in demands[s].items()
    ]
    asked += [(arcs + k * n + s, sum(demands[s].values()) / scale) for k, s in enumerate(sources)]
    columns = arcs * len(sources) + 1
    balance = np.zeros(n * len(sources))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, arcs + n * len(sources)
    lp.col_cost_ = np.append(np.zeros(columns - 1), -1.0)
    lp.col_lower_ = np.zeros(columns)
    lp.col_upper_ = np.append(np.where(np.concatenate(usable), highspy.kHighsInf, 0.0), highspy.kHighsInf)
    lp.row_lower_ = np.append(np.full(arcs, -highspy.kHighsInf), balance)
    lp.row_upper_ = np.append(net.capacity.astype(np.float64), balance)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.append(start, len(index) + len(asked))
    lp.a_matrix_.index_ = np.append(index, [row for row, _ in asked])
    lp.a_matrix_.value_ = np.append(value, [x for _, x in asked])
    solver = _quiet_solver({"solver": "simplex"})
    solver.passModel(lp)
    solver.setOptionValue("simplex_iteration_limit", steps)
    solution = _solution_found(solver)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        solver.clearSolver()
        solver.setOptionValue("solver", "ipm")
        solution = _solution_found(solver)
    flow = np.array(solution.col_value[: columns - 1]).reshape(len(sources), arcs)
    return list(flow), -np.array(solution.row_dual[:arcs])


class LeastFullest:
    """The program of ``least_fullest`` with columns that are added one by one: the solver goes on from what
    it found for those before, in a tenth of the time for dozens of columns."""

    def __init__(self, rows: int) -> None:
        import highspy

        self.rows = rows
        infinite = highspy.kHighsInf
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = 1, rows + 1
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.ones(1), np.zeros(1), np.full(1, infinite)
        lp.row_lower_, lp.row_upper_ = (
            np.append(np.full(rows, -infinite), 1.0),
            np.append(np.zeros(rows), 1.0),
        )
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = np.array([0, rows]), np.arange(rows)
        lp.a_matrix_.value_ = np.full(rows, -1.0)
        self._solver = _quiet_solver({"solver": "simplex"})
        self._solver.passModel(lp)

    def add(self, use: Floats) -> None:
        """One column more: how full it makes every row."""
        import highspy

        rows = np.flatnonzero(use)
        entries = np.append(rows, self.rows).astype(np.int32)
        self._solver.addCol(0.0, 0.0, highspy.kHighsInf, len(entries), entries, np.append(use[rows], 1.0))

    def solve(self) -> tuple[Floats, Floats]:
        """The part of every column, in the order they were added, and the price of every row."""
        solution = _solution_found(self._solver)
        parts = np.maximum(np.array(solution.col_value[1:]), 0)
        return parts / max(parts.sum(), 1e-300), np.maximum(-np.array(solution.row_dual[: self.rows]), 0)


def least_fullest(use: Floats) -> tuple[Floats, Floats]:
    """Parts x ≥ 0, together 1, for which the greatest entry of use·x is least; and the price of every row."""
    program = LeastFullest(len(use))
    for column in use.T:
        program.add(column)
    return program.solve()


def path_parts(
    pair: Ints, arcs: Ints, sizes: Ints, use: Floats, rows: int, corner: bool
) -> tuple[Floats, float, Floats]:
    """The part of every path for which the fullest arc is least full, how full that is, and the price of
    every arc.

    Path i belongs to pair ``pair[i]`` (the parts of a pair are together 1) and has the next ``sizes[i]`` of
    ``arcs``, of ``rows`` in all; ``use`` says how full each is with the pair's whole demand on it.
    ``corner``: an optimum at a vertex.
    """
    import highspy

    count, pairs = len(pair), int(pair.max()) + 1
    scale = float(use.max())
    ends = np.cumsum(sizes)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = count + 1, rows + pairs
    lp.col_cost_ = np.append(np.zeros(count), 1.0)
    lp.col_lower_, lp.col_upper_ = np.zeros(count + 1), np.full(count + 1, highspy.kHighsInf)
    lp.row_lower_ = np.append(np.full(rows, -highspy.kHighsInf), np.ones(pairs))
    lp.row_upper_ = np.append(np.zeros(rows), np.ones(pairs))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate(([0], ends + np.arange(1, count + 1), [ends[-1] + count + rows]))
    lp.a_matrix_.index_ = np.append(np.insert(arcs, ends, rows + pair), np.arange(rows))
    lp.a_matrix_.value_ = np.append(np.insert(use / scale, ends, 1.0), np.full(rows, -1.0))
    crossover, tolerance = ("on", 1e-8) if corner else ("off", 1e-4)
    solver = _quiet_solver(
        {"solver": "ipm", "run_crossover": crossover, "ipm_optimality_tolerance": tolerance}
    )
    solver.passModel(lp)
    solution = _solution_found(solver)
    prices = np.maximum(-np.array(solution.row_dual[:rows]), 0)
    return (
        np.maximum(np.array(solution.col_value[:count]), 0),
        float(solution.col_value[count]) * scale,
        prices,
    )


def _quiet_solver(settings: Mapping[str, object]) -> Any:
    """A solver that prints nothing and answers the same every time."""
    import highspy

    with libraries_muted():
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, value in ({"output_flag": False, "threads": 1, "random_seed": 0} | dict(settings)).items():
        solver.setOptionValue(option, value)
    return solver


def _solution_found(solver: Any) -> Any:
    """What the solver finds for the model that was passed to it. Raises RuntimeError where it finds nothing:
    zeros in its place would be taken for an answer."""
    import highspy

    if solver.run() == highspy.HighsStatus.kError:
        # Another user of the solver in this process has begun with another number of threads, which it keeps.
        solver.setOptionValue("threads", 0)
        if solver.run() == highspy.HighsStatus.kError:
            raise RuntimeError(f"HiGHS found no solution: {solver.getModelStatus()}")
    return solver.getSolution()


def greatest_first_variable(
    columns: int, entries: tuple[Ints, Ints, Floats], equal: int, most: Floats
) -> Floats:
    """The values ≥ 0 of some variables for which the first is greatest. ``entries`` are rows, columns and
    values of a matrix, of whose rows the first ``equal`` are 0 and the others at most ``most``."""
    import highspy

    row, column, value = entries
    order = np.lexsort((row, column))
    rows = equal + len(most)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_ = np.append(-1.0, np.zeros(columns - 1))
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    lp.row_lower_ = np.append(np.zeros(equal), np.full(len(most), -highspy.kHighsInf))
    lp.row_upper_ = np.append(np.zeros(equal), most)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(column[order], np.arange(columns + 1))
    lp.a_matrix_.index_, lp.a_matrix_.value_ = row[order], value[order]
    solver = _quiet_solver({})
    solver.passModel(lp)
    found: Floats = np.maximum(np.array(_solution_found(solver).col_value), 0)
    return found
