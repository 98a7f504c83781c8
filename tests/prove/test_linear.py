"""What the solver answers for small linear programs: feasible, and with prices that show it is the best."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tdsl.prove.linear import least_fullest, solve_multicommodity_flow
from tests.prove.networks import most_flow, random_network, reachable


@pytest.mark.parametrize("steps", [10**6, 0])
def test_flows_of_many_sources(steps: int) -> None:
    """No arc carries more than it can, what arrives is the most that flows, and prices show that no more is possible. Also with
    no steps for the simplex method."""
    for seed in range(16):
        net, pairs = random_network(seed, directed=False)
        if not reachable(net, pairs):
            continue
        demands: dict[int, dict[int, int]] = {}
        for (s, t), x in pairs.items():
            demands.setdefault(s, {})[t] = x
        flows, price = solve_multicommodity_flow(net, demands, steps)
        best = most_flow(net, pairs)
        assert (sum(flows) <= net.capacity + 1e-5).all() and all((x > -1e-6).all() for x in (*flows, price)), seed
        for (s, wanted), flow in zip(demands.items(), flows, strict=True):
            gain = np.bincount(net.head, flow, net.nodes) - np.bincount(net.tail, flow, net.nodes)
            for v in range(net.nodes):
                if v != s:
                    assert abs(gain[v] - best * wanted.get(v, 0)) < 1e-3 * max(best * wanted.get(v, 0), 1e-2), (seed, s, v)
        scale = max(sum(x.values()) for x in demands.values())
        assert abs(float(price @ net.capacity) - best * scale) < 1e-3 * best * scale, seed


def test_combinations_that_fill_the_fullest_row_least() -> None:
    from scipy.optimize import linprog  # it takes half a second, which each process that collects the tests would spend

    for seed in range(30):
        chance = np.random.default_rng(seed)
        use = np.round(chance.random((chance.integers(1, 6), chance.integers(1, 6))) * 9) * (1 + seed)
        use[0] += 1
        parts, price = least_fullest(use)
        assert (parts >= 0).all() and abs(parts.sum() - 1) < 1e-9 and len(parts) == use.shape[1]
        assert (price >= 0).all() and len(price) == len(use)
        rows, columns = use.shape
        least = np.hstack((use, -np.ones((rows, 1)))), np.zeros(rows), [[1.0] * columns + [0.0]], [1.0]
        value = float(linprog([0.0] * columns + [1.0], *least).fun)  # the least of the greatest entry, by another solver
        assert abs(float((use @ parts).max()) - value) < 1e-6 * value, seed
        assert abs(float(price.sum()) - 1) < 1e-6 and float((price @ use).min()) > value * (1 - 1e-6), seed


def test_who_used_the_solver_before_with_other_threads_changes_nothing() -> None:
    """HiGHS keeps the number of threads of its first run in a process, and refuses another one."""
    program = """
import highspy, numpy
h = highspy.Highs()
h.silent()
h.setOptionValue("threads", 2)
h.addConstr(h.addVariable(0, 1) <= 1)
h.run()
from tdsl.prove.linear import least_fullest
print(*least_fullest(numpy.array([[1.0, 2.0], [2.0, 1.0]]))[0].tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-2:] == ["0.5", "0.5"]
