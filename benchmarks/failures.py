"""Failure scenarios a second: the same links failed in the same fabric, by tdsl and by NetGraph (`pip install
ngraph`).

Both find the flow from edge to aggregation switches in each scenario; tdsl also judges whether all hosts
reach each other. The fabric, or NetGraph's bound context, is ready before the clock starts.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import Record, by_turns, inside

FAILED, SCENARIOS = 10, 2000
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


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record each: how long all scenarios take."""
    k, scenarios = ("8", "100") if quick else ("16", str(SCENARIOS))
    peers = {who: (sys.executable, __file__, who, k, scenarios) for who in ("tdsl", "NetGraph")}
    out = by_turns("failures", f"{FAILED} failed links, ft3 of k = {k}", peers, rounds, unit="scenarios")
    if len({r["found"] for r in out if "found" in r}) > 1:
        raise SystemExit("the two do not find the same flows")
    return out


def measure(who: str, k: int, scenarios: int) -> Record:
    """The figures of one of them, in this process. ``found`` is the sum of all shares of the flow. Raises
    ImportError."""
    from tdsl.compile import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ft3.fab"
        path.write_text(DESIGN.replace("K", str(k)))
        compilation = compiler.compile_without_checks(str(path))
    f = compilation.designs[0].fabric
    assert f is not None and f.complete, compilation.findings
    chance = random.Random(1)
    cases = [chance.sample(range(f.link_count), FAILED) for _ in range(scenarios)]
    work = _netgraph(f, cases) if who == "NetGraph" else _tdsl(compilation, f, cases)
    shares: list[float] = []
    found = inside(lambda: shares.extend(work()), n=scenarios)
    return {**found, "found": round(sum(shares), 6)}


def _tdsl(compilation: Any, f: Any, cases: list[list[int]]) -> Callable[[], list[float]]:
    import tdsl

    return lambda: [
        float(next(a.lower for a in o.answers if a.lower is not None))
        for o in tdsl.scenarios(compilation, (f.without(links=case) for case in cases))
    ]


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
    tiers = zip(f.tier[f.device_a].tolist(), f.tier[f.device_b].tolist(), strict=True)
    between = {i for i, ends in enumerate(tiers) if ends == (1, 2)}
    whole = sum(rate_of[i] for i in between) / 1e9

    def run() -> list[float]:
        shares = []
        for case in cases:
            (flow,) = context.max_flow(excluded_links={ids[i] for i in case}).values()
            shares.append(flow / (whole - sum(rate_of[i] for i in case if i in between) / 1e9))
        return shares

    return run


def main() -> None:
    """One measurement, or both as JSON."""
    if len(sys.argv) < 2:
        print(json.dumps(records(3), indent=1))
        return
    try:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
    except ImportError as missing:
        print(json.dumps({"skipped": str(missing)}))


if __name__ == "__main__":
    main()
