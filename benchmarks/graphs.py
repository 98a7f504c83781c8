"""Graph questions of a fabric: components, distances from a switch, the maximum flow between two leaves, by tdsl and libraries.

Each has its own graph of the fabric's links ready before the clock starts, and parallel links put together where it does so. The
figures found are printed and compared. ``tdsl`` also checks the flow that it gives, and finds the minimum cut.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import ROOT, Record, by_turns, inside

CASES = ("ft3 k=32", "gpu131k")
QUESTIONS = ("components", "distances", "flow")
PEERS = ("tdsl", "scipy", "igraph", "rustworkx", "networkx")
TEXT = """
model switch SW { port p[1..32]: 400Gbps }
model host END { port nic: 400Gbps }
fabric ft3 {
  hosts 8192 x END
  fat_tree { switch SW; k 32 }
}
"""


def records(rounds: int) -> list[Record]:
    """Every question of each fabric, by turns."""
    out = []
    for case in CASES:
        for question in QUESTIONS:
            peers = {who: (sys.executable, __file__, case, question, who) for who in PEERS}
            out += by_turns("graphs", f"{question}, {case}", peers, rounds, unit="links")
    different = {r["case"]: {x["found"] for x in out if x["case"] == r["case"] and "found" in x} for r in out}
    if any(len(found) > 1 for found in different.values()):
        raise SystemExit(f"not all find the same: {different}")
    return out


def _work(case: str, question: str, who: str) -> tuple[Callable[[], int], int]:
    """What one of them does for one question, and the number of links. Raises ImportError."""
    text = (ROOT / "stdlib" / "designs" / "gpu131k.fab").read_text() if case == "gpu131k" else TEXT
    a, b, leaves = _links(text)
    asked = getattr(sys.modules[__name__], f"_{who}")
    some = slice(17_000)  # before the clock starts: what is loaded or compiled once
    asked(question, int(max(a[some].max(), b[some].max())) + 1, a[some], b[some], int(a[0]), int(b[0]))()
    return asked(question, int(max(a.max(), b.max())) + 1, a, b, int(leaves[0]), int(leaves[-1])), len(a)


def _links(text: str) -> tuple[Any, Any, Any]:
    """Both devices of every link, and the leaves."""
    import tempfile
    from pathlib import Path

    from tdsl import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "design.fab"
        path.write_text(text)
        f = compiler.elaborate(str(path)).designs[0].fabric
    assert f is not None
    return f.device_a.astype(np.int64), f.device_b.astype(np.int64), np.flatnonzero(f.tier == 1)


def _tdsl(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    from tdsl.prove.components import adjacency, components, distances
    from tdsl.prove.max_flow import max_flow

    if question == "components":
        return lambda: len(np.unique(components(n, a, b)))
    net = adjacency(n, a, b)
    assert len(net.start) == n + 1  # kept with the network, as the libraries keep theirs
    if question == "distances":
        return lambda: int(distances(net, here).sum())
    return lambda: max_flow(net, here, there).value


def _scipy(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, maximum_flow, shortest_path

    def graph() -> Any:
        both = np.concatenate((a, b)).astype(np.int32), np.concatenate((b, a)).astype(np.int32)
        made = csr_array((np.ones(2 * len(a), dtype=np.int32), both), shape=(n, n))
        made.sum_duplicates()
        return made

    if question == "components":
        return lambda: int(connected_components(csr_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n)), False)[0])
    net = graph()
    if question == "distances":

        def far() -> int:
            found = shortest_path(net, method="D", unweighted=True, indices=here)
            return int(found[np.isfinite(found)].sum())

        return far
    return lambda: int(maximum_flow(net, here, there, method="dinic").flow_value)


def _igraph(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    import igraph

    net = igraph.Graph(n=n, edges=np.stack((a, b), axis=1))
    if question == "components":
        return lambda: len(net.connected_components())
    if question == "distances":
        return lambda: sum(net.distances(source=here)[0])
    capacity = [1] * len(a)
    return lambda: int(net.maxflow(here, there, capacity=capacity).value)


def _rustworkx(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    import rustworkx

    net = rustworkx.PyGraph()
    net.add_nodes_from(range(n))
    net.add_edges_from_no_data(list(zip(a.tolist(), b.tolist(), strict=True)))
    if question == "components":
        return lambda: int(rustworkx.number_connected_components(net))
    if question == "distances":
        return lambda: int(sum(rustworkx.dijkstra_shortest_path_lengths(net, here, lambda _: 1.0).values()))
    raise ImportError("skipped: rustworkx has no maximum flow")


def _networkx(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    if len(a) > 1 << 20:
        raise ImportError("skipped: more than a minute")
    import networkx

    net: Any = networkx.Graph()
    net.add_nodes_from(range(n))
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        net.add_edge(x, y, capacity=net.get_edge_data(x, y, {"capacity": 0})["capacity"] + 1)
    if question == "components":
        return lambda: networkx.number_connected_components(net)
    if question == "distances":
        return lambda: sum(networkx.single_source_shortest_path_length(net, here).values())
    return lambda: int(networkx.maximum_flow_value(net, here, there))


def main() -> None:
    """One measurement, or all of them as JSON."""
    if len(sys.argv) < 2:
        print(json.dumps(records(3), indent=1))
        return
    try:
        work, links = _work(*sys.argv[1:])
    except ImportError as missing:
        print(json.dumps({"skipped": str(missing)}))
        return
    answers: list[int] = []
    print(json.dumps({**inside(lambda: answers.append(work()), n=links), "found": answers[0]}))


if __name__ == "__main__":
    main()
