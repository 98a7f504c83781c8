"""Throughput of all-to-all: tdsl's proof beside the full linear program, a flow for every source over every
link, in HiGHS.

tdsl's figure is of the whole check of the requirement on an elaborated fabric; that of HiGHS begins with the
arcs of the network, and counts the making of the matrix (`scipy.optimize.linprog`, one thread). Both say the
same to one part in a million.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import Record, by_turns, inside

TORUS = """
model chip CHIP {{ port ici[4]: 800Gbps }}
fabric torus {{ chips {n} x CHIP; torus {k}x{k}; require throughput all_to_all >= 1% }}
"""
SIZES, QUICK = (4, 6, 8), (4,)
PEERS = ("tdsl", "HiGHS")


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a size for tdsl and HiGHS."""
    out = []
    for k in QUICK if quick else SIZES:
        peers = {who: (sys.executable, __file__, who, str(k)) for who in PEERS}
        found = by_turns("throughput", f"torus of {k}x{k}", peers, min(rounds, 3), unit="chips")
        values = [r["found"] for r in found if "found" in r]
        if max(values) - min(values) > 1e-6 * max(values):
            raise SystemExit(f"the two do not find the same throughput: {values}")
        out += found
    return out


def measure(who: str, k: int) -> Record:
    """The figures of one of them, in this process; ``found`` is the share of the full rate."""
    _work(who, 3)()  # before the clock starts: what is loaded once
    work, answers = _work(who, k), list[float]()
    found = inside(lambda: answers.append(work()), n=k * k)
    return {**found, "found": answers[0]}


def _work(who: str, k: int) -> Callable[[], float]:
    """What one of them does."""
    from tdsl.compile import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "torus.fab"
        path.write_text(TORUS.format(n=k * k, k=k))
        design = compiler.compile_without_checks(str(path)).designs[0]
    assert design.fabric is not None and design.fabric.complete
    return _tdsl(design) if who == "tdsl" else _highs(design.fabric)


def _tdsl(design: Any) -> Callable[[], float]:
    from tdsl.prove.view import View
    from tdsl.verify.check import checks_by_name

    def work() -> float:
        judgement = checks_by_name()["throughput"].judge(View.whole(design.fabric), design.claims[0])
        assert judgement.lower == judgement.upper, judgement
        return float(judgement.lower)

    return work


def _highs(f: Any) -> Callable[[], float]:
    """The greatest share t of its own rate that every chip sends, evenly to all others."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron

    n, links = f.device_count, f.link_count
    tail, head = np.concatenate((f.device_a, f.device_b)), np.concatenate((f.device_b, f.device_a))
    rate = np.concatenate((f.link_rate, f.link_rate)) / float(f.link_rate.max())
    own = np.bincount(tail, weights=rate, minlength=n)

    def work() -> float:
        arcs = np.arange(2 * links)
        sign = np.concatenate((np.full(2 * links, -1.0), np.ones(2 * links)))
        balance = csr_array(
            (sign, (np.concatenate((tail, head)), np.concatenate((arcs, arcs)))), shape=(n, 2 * links)
        )
        wanted = (
            own[:, None] / (n - 1) * (1 - n * np.eye(n))
        )  # of source s at chip v: what arrives; at s, minus all it sends
        flows = hstack((kron(eye_array(n), balance), csr_array(-wanted.reshape(-1, 1))), format="csc")
        within = hstack(
            (kron(np.ones((1, n)), eye_array(2 * links)), csr_array((2 * links, 1))), format="csc"
        )
        cost = np.zeros(flows.shape[1])
        cost[-1] = -1
        solved = linprog(cost, A_ub=within, b_ub=rate, A_eq=flows, b_eq=np.zeros(n * n), method="highs")
        assert solved.status == 0, solved.message
        return float(-solved.fun)

    return work


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else records(3)))
