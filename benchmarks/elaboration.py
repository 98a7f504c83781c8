"""Elaboration: a design as columns of links, beside graph libraries that are given the same links with names and attributes.

Each measurement is a process of its own, by turns. A peer is given lists that are ready, so its time is that of building the
graph alone; the time of tdsl is that from the text of the design on, at the second compilation in a process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

DESIGNS: dict[str, tuple[tuple[str, str], ...]] = {"ft3": (("k", "64"),), "gpu131k": ()}
Lists = tuple[list[str], list[int], list[int], list[int], list[int]]


def _tdsl(design: str) -> Any:
    from tdsl import compiler
    from tdsl.compiler import Options

    path = Path(__file__).parent.parent / "stdlib" / "designs" / f"{design}.fab"
    fabric = compiler.elaborate(str(path), Options(set=DESIGNS[design])).designs[0].fabric
    assert fabric is not None and fabric.complete
    return fabric


def _networkx(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import networkx

    graph: networkx.MultiGraph[str] = networkx.MultiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[x], names[y], {"rate": r, "class": c}) for x, y, r, c in zip(a, b, rate, cls, strict=True))
    return graph.number_of_edges()


def _rustworkx(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from([(x, y, {"rate": r, "class": c}) for x, y, r, c in zip(a, b, rate, cls, strict=True)])
    return int(graph.num_edges())


def _igraph(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import igraph

    edges = list(zip(a, b, strict=True))
    graph = igraph.Graph(n=len(names), edges=edges, vertex_attrs={"name": names}, edge_attrs={"rate": rate, "class": cls})
    return int(graph.ecount())


PEERS: dict[str, Callable[..., int]] = {"networkx": _networkx, "rustworkx": _rustworkx, "igraph": _igraph}


def measure(who: str, design: str, links: str) -> dict[str, float]:
    """Processor seconds and peak memory of one of them, in this process. ``links`` is the file of the links."""
    if who == "links":  # written by a process of its own: the peak of a process counts what its parent had when it was started
        f = _tdsl(design)
        names = np.array([f.device_path(d) for d in range(f.device_count)])
        np.savez(links, names=names, a=f.device_a, b=f.device_b, rate=f.link_rate, cls=f.link_class)
        return {}
    if who == "tdsl":
        _tdsl(design)
        begin = time.process_time()
        count = _tdsl(design).link_count
    else:
        with np.load(links) as columns:
            names, a, b, rate, cls = (columns[k].tolist() for k in ("names", "a", "b", "rate", "cls"))
        PEERS[who]([], [], [], [], [])  # imported
        begin = time.process_time()
        count = PEERS[who](names, a, b, rate, cls)
    seconds = time.process_time() - begin
    return {"links": count, "seconds": seconds, "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def results(rounds: int = 3) -> list[dict[str, Any]]:
    """A record a design and library: links, median, least and greatest processor seconds, peak memory in MiB. A library that is
    not installed is left out."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for design in DESIGNS:
            links = str(Path(folder) / f"{design}.npz")
            subprocess.run((sys.executable, __file__, "links", design, links), check=True, capture_output=True)
            found: dict[str, list[dict[str, float]]] = {who: [] for who in ("tdsl", *PEERS)}
            for _ in range(rounds):
                for who, runs in found.items():
                    done = subprocess.run((sys.executable, __file__, who, design, links), capture_output=True, text=True)
                    if done.returncode == 0:
                        runs.append(json.loads(done.stdout))
            for who, runs in found.items():
                if runs:
                    took = [r["seconds"] for r in runs]
                    out.append({"design": design, "library": who, "links": runs[0]["links"], "rounds": len(runs),
                                "seconds": median(took), "least": min(took), "most": max(took),
                                "peak_mib": max(r["peak_mib"] for r in runs)})  # fmt: skip
    return out


def elaboration(rounds: int = 3) -> list[str]:
    """A line a design and library, with the ratio of its time to that of tdsl."""
    out = [f"{'elaboration':<10}{'library':<12}{'links':>10}{'CPU':>9}{'peak':>11}   ratio to tdsl"]
    records = results(rounds)
    own = {r["design"]: r["seconds"] for r in records if r["library"] == "tdsl"}
    for r in records:
        out.append(f"{r['design']:<10}{r['library']:<12}{r['links']:>10,}{r['seconds']:>7.2f} s{r['peak_mib']:>7,.0f} MiB"
                   f"   {r['seconds'] / own[r['design']]:.2f}")  # fmt: skip
    return out


def main(args: Sequence[str]) -> None:
    """Print all results as JSON; or with library, design and file of links the figures of this process."""
    print(json.dumps(measure(*args) if args else results(), indent=None if args else 1))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main(sys.argv[1:])
