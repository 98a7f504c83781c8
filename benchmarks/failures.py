"""Failure scenarios a second: the same links failed in the same fabric, by tdsl and by NetGraph (`pip install ngraph`)."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

K, FAILED, ROUNDS = 16, 10, 3
DESIGN = """
model switch SW { port p[1..64]: 400Gbps }
model host END { port nic: 400Gbps }
fabric ft3 {
  hosts K*K*K//4 x END
  fat_tree { switch SW; k K }
  require reachability
  require throughput of pod[*].edge to pod[*].pod >= 50%
}
"""


def failures(scenarios: int = 2000) -> list[str]:
    """Scenarios a second of processor time, the median of some rounds by turns, and the ratio of the two."""
    import tdsl
    from tdsl import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ft3.fab"
        path.write_text(DESIGN.replace("K", str(K)))
        compilation = compiler.elaborate(str(path))
    f = compilation.designs[0].fabric
    assert f is not None and f.complete, compilation.findings
    chance = random.Random(1)
    cases = [chance.sample(range(f.link_count), FAILED) for _ in range(scenarios)]
    calls: dict[str, Callable[[], list[float]]] = {
        "tdsl, reachability and flow": lambda: [
            float(next(a.lower for a in o.answers if a.lower is not None))
            for o in tdsl.scenarios(compilation, (f.without(links=case) for case in cases))
        ]
    }
    with suppress(ImportError):
        calls["NetGraph, flow alone"] = _netgraph(f, cases)
    took: dict[str, list[float]] = {name: [] for name in calls}
    flows: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.process_time()
            flows[name] = call()
            took[name].append(time.process_time() - begin)
    if len({tuple(round(x, 9) for x in found) for found in flows.values()}) > 1:
        raise SystemExit("the two do not find the same flows")
    out = [f"{f'{FAILED} failed links of {f.link_count:,}':<34}scenarios a CPU second"]
    rates = {name: scenarios / median(seconds) for name, seconds in took.items()}
    out += [f"{name:<34}{rate:>10,.0f}" for name, rate in rates.items()]
    if len(rates) == 1:
        return [*out, "NetGraph is not installed here: pip install ngraph"]
    ours, theirs = rates.values()
    return [*out, f"{'ratio':<34}{ours / theirs:>10.1f}"]


def _netgraph(f: Any, cases: list[list[int]]) -> Callable[[], list[float]]:
    """The flow from edge to aggregation switches by NetGraph's bound context. Raises ImportError."""
    from ngraph import Link, Network, Node, analyze

    network = Network()
    for d in range(f.device_count):
        network.add_node(Node(f.device_path(d)))
    ids = []
    for a, b, rate in zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True):
        link = Link(f.device_path(a), f.device_path(b), capacity=rate / 1e9, cost=1)
        network.add_link(link)
        ids.append(link.id)
    edge, up = r"^pod\[\d+\]\.edge\[\d+\]\.edge$", r"^pod\[\d+\]\.pod\[\d+\]$"
    context = analyze(network, source=edge, sink=up)
    rate_of = dict(enumerate(f.link_rate.tolist()))
    between = {i for i, a, b in zip(range(f.link_count), f.tier[f.device_a].tolist(), f.tier[f.device_b].tolist(), strict=True)
               if (a, b) == (1, 2)}  # fmt: skip
    whole = sum(rate_of[i] for i in between) / 1e9

    def run() -> list[float]:
        return list(_shares(context, cases, ids, between, rate_of, whole))

    return run


def _shares(
    context: Any, cases: list[list[int]], ids: list[str], between: set[int], rate: dict[int, int], whole: float
) -> Iterator[float]:
    for case in cases:
        (flow,) = context.max_flow(excluded_links={ids[i] for i in case}).values()
        left = whole - sum(rate[i] for i in case if i in between) / 1e9
        yield flow / left
