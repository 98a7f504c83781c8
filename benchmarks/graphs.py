"""Graph questions of a fabric: components, distances from a switch, the maximum flow between two leaves, and
the least number of links that separates any two chips of a torus (edge redundancy of all pairs), by tdsl and
libraries.

Each has its own graph of the fabric's links ready before the clock starts, and parallel links put together
where it does so. The figures found are printed and compared. ``tdsl`` also checks the flow that it gives, and
finds the minimum cut.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Record, by_turns, inside

TEXT = """
model switch SW {{ port p[1..{k}]: 400Gbps }}
model host END {{ port nic: 400Gbps }}
fabric ft3 {{
  hosts {hosts} x END
  fat_tree {{ switch SW; k {k} }}
}}
"""
TORUS = """
model chip CHIP {{ port ici[6]: 800Gbps }}
fabric torus {{ chips {n} x CHIP; torus {k}x{k}x{k} }}
"""
SMALL = 1 << 20
"""With more links than that networkx and NetGraph take minutes."""
CASES = {
    "ft3, k = 32": TEXT.format(k=32, hosts=8192),
    "gpu131k": "",
    "torus of 8x8x8": TORUS.format(n=512, k=8),
}
QUICK = {"ft3, k = 8": TEXT.format(k=8, hosts=128), "torus of 4x4x4": TORUS.format(n=64, k=4)}
QUESTIONS = ("components", "distances", "maximum flow")
REDUNDANCY = "redundancy"
PEERS = ("tdsl", "scipy", "igraph", "rustworkx", "networkx", "NetGraph")


def records(rounds: int, quick: bool = False) -> list[Record]:
    """Every question of each fabric, by turns."""
    out = []
    for case in QUICK if quick else CASES:
        for question in (REDUNDANCY,) if "torus" in case else QUESTIONS:
            peers = {who: (sys.executable, __file__, case, question, who) for who in PEERS}
            out += by_turns("graphs", f"{question}, {case}", peers, rounds, unit="links")
    different = {r["case"]: {x["found"] for x in out if x["case"] == r["case"] and "found" in x} for r in out}
    if any(len(found) > 1 for found in different.values()):
        raise SystemExit(f"not all find the same: {different}")
    return out


def _work(case: str, question: str, who: str) -> tuple[Callable[[], int], int]:
    """What one of them does for one question, and the number of links. Raises ImportError."""
    f = _fabric(case)
    a, b, leaves = f.device_a.astype(np.int64), f.device_b.astype(np.int64), np.flatnonzero(f.tier == 1)
    if question == REDUNDANCY and case not in QUICK:
        _work("torus of 4x4x4", question, who)[
            0
        ]()  # before the clock starts: what is loaded or compiled once
    if (who, question) == ("tdsl", REDUNDANCY):
        return _redundancy(f), len(a)
    asked = getattr(sys.modules[__name__], f"_{who.lower()}")
    if len(a) > SMALL and who in ("networkx", "NetGraph"):
        raise ImportError("skipped: more than a minute")
    some = slice(17_000)
    if question != REDUNDANCY:
        asked(question, int(max(a[some].max(), b[some].max())) + 1, a[some], b[some], int(a[0]), int(b[0]))()
    here, there = (int(leaves[0]), int(leaves[-1])) if len(leaves) else (0, 1)
    return asked(question, int(max(a.max(), b.max())) + 1, a, b, here, there), len(a)


def _fabric(case: str) -> Any:
    """The elaborated design."""
    import tempfile
    from pathlib import Path

    from tdsl.compile import compiler

    text = (CASES | QUICK)[case]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "design.fab"
        path.write_text(text)
        f = compiler.compile_without_checks(str(path) if text else case).designs[0].fabric
    assert f is not None and f.complete
    return f


def _redundancy(f: Any) -> Callable[[], int]:
    from tdsl.prove.view import View
    from tdsl.verify.check import checks_by_name

    check = checks_by_name()["edge_redundancy"]
    return lambda: int(check.judge(View.whole(f), None).value)


def _tdsl(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    from tdsl.fabric.components import component_labels
    from tdsl.prove.max_flow import max_flow
    from tdsl.prove.search import adjacency_network, hop_distances

    if question == "components":
        return lambda: len(np.unique(component_labels(n, a, b)))
    net = adjacency_network(n, a, b)
    # kept with the network, as the libraries keep theirs
    assert (
        len(net.start) == n + 1
        and net.balanced
        and (question != "maximum flow" or net.matrix.nnz == net.arcs)
    )
    if question == "distances":
        return lambda: int(hop_distances(net, here).sum())
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
        return lambda: int(
            connected_components(csr_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(n, n)), False)[0]
        )
    net = graph()
    if question == REDUNDANCY:
        return lambda: min(int(maximum_flow(net, 0, d, method="dinic").flow_value) for d in range(1, n))
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
    if question == REDUNDANCY:
        return lambda: int(net.edge_connectivity())
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
    if question == REDUNDANCY:
        return lambda: int(rustworkx.stoer_wagner_min_cut(net)[0])
    raise ImportError("skipped: rustworkx has no maximum flow")


def _networkx(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    import networkx

    net: Any = networkx.Graph()
    net.add_nodes_from(range(n))
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        net.add_edge(x, y, capacity=net.get_edge_data(x, y, {"capacity": 0})["capacity"] + 1)
    if question == "components":
        return lambda: networkx.number_connected_components(net)
    if question == "distances":
        return lambda: sum(networkx.single_source_shortest_path_length(net, here).values())
    if question == REDUNDANCY:
        return lambda: int(networkx.edge_connectivity(net))
    return lambda: int(networkx.maximum_flow_value(net, here, there))


def _netgraph(question: str, n: int, a: Any, b: Any, here: int, there: int) -> Callable[[], int]:
    from ngraph import Link, Mode, Network, Node, analyze

    if question == "components":
        raise ImportError("skipped: NetGraph does not count components")
    net = Network()
    for d in range(n):
        net.add_node(Node(f"n{d}"))
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        net.add_link(Link(f"n{x}", f"n{y}", capacity=1.0, cost=1.0))
    context, one, every = analyze(net), f"^(n{here})$", "^(n.*)$"
    if question == "distances":
        cost = context.shortest_path_cost
        return lambda: int(sum(c for c in cost(one, every, mode=Mode.PAIRWISE).values() if c < 1e9))
    if question == REDUNDANCY:
        flow, others = context.max_flow, f"^(n(?!{here}$).*)$"
        return lambda: int(min(flow(one, others, mode=Mode.PAIRWISE).values()))
    bound = analyze(net, source=one, sink=f"^(n{there})$")
    return lambda: int(next(iter(bound.max_flow().values())))


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
