"""Elaboration: a design as columns of links, beside graph libraries that are given the same links with names
and attributes.

A peer is given lists that are ready, so its time is that of building the graph alone. ``tdsl`` is what a call
from the shell pays: the first compilation in a new process, from the text of the design on. ``tdsl, again``
is the second compilation in that process, as an editor or a sweep has it. ``numpy`` is the floor: it fills as
many columns of as many numbers (both devices, rate and class of each link) by arithmetic on the number of the
link, and knows no names, ports, cables or checks.

Imports count for all or for none: each case is measured once with all modules imported before the clock
starts, and once, "with imports", with none of them: then the import is part of the work. The peak is that of
the whole process, with the lists that a peer is given.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from measure import Record, by_turns, inside, one

CASES = {"ft3, k = 64": ("ft3", "64"), "gpu131k": ("gpu131k", "")}
QUICK = {"ft3, k = 8": ("ft3", "8")}


def _tdsl(case: str) -> Any:
    from tdsl.compile import compiler
    from tdsl.compile.compiler import Request

    design, k = (CASES | QUICK)[case]
    fabric = compiler.compile_without_checks(design, Request(set=(("k", k),) if k else ())).designs[0].fabric
    assert fabric is not None and fabric.complete
    return fabric


def _elaborated(case: str) -> int:
    """How many links there are; freed memory is kept, as the command line does."""
    from tdsl.system import malloc

    malloc.enable_memory_keeping()
    return int(_tdsl(case).link_count)


def _networkx(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import networkx

    graph: networkx.MultiGraph[str] = networkx.MultiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(
        (names[x], names[y], {"rate": r, "class": c}) for x, y, r, c in zip(a, b, rate, cls, strict=True)
    )
    return graph.number_of_edges()


def _rustworkx(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(
        [(x, y, {"rate": r, "class": c}) for x, y, r, c in zip(a, b, rate, cls, strict=True)]
    )
    return int(graph.num_edges())


def _igraph(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import igraph

    edges = list(zip(a, b, strict=True))
    graph = igraph.Graph(
        n=len(names), edges=edges, vertex_attrs={"name": names}, edge_attrs={"rate": rate, "class": cls}
    )
    return int(graph.ecount())


def _numpy(names: list[str], a: list[int], b: list[int], rate: list[int], cls: list[int]) -> int:
    import numpy as np

    links = np.arange(len(a), dtype=np.int32)
    columns = (
        links // 64,
        links % 64 + len(names) // 2,
        np.full(len(a), 400 * 10**9),
        np.zeros(len(a), dtype=np.int16),
    )
    return len(columns[0])


ENVIRONMENT = {"NUMPY_MADVISE_HUGEPAGE": "0"}
"""As the command line has it; for all peers."""
WARM, IMPORTS = "tdsl, again", "with imports"
PEERS: dict[str, Callable[..., int]] = {
    "networkx": _networkx,
    "rustworkx": _rustworkx,
    "igraph": _igraph,
    "numpy": _numpy,
}


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a design and library, and again with the imports."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for case in QUICK if quick else CASES:
            links = str(Path(folder) / "links")
            made = one(
                (sys.executable, __file__, "links", case, links)
            )  # a process of its own: its memory is no peer's
            if "skipped" in made or not Path(links).exists():
                raise SystemExit(f"{case}: {made.get('skipped')}")
            run = (sys.executable, __file__)
            peers = {who: (*run, who, case, links) for who in ("tdsl", WARM, *PEERS)}
            out += by_turns("elaboration", case, peers, rounds, unit="links", env=ENVIRONMENT)
            peers = {who: (*run, who, case, links, IMPORTS) for who in ("tdsl", *PEERS)}
            out += by_turns("elaboration", f"{case}, {IMPORTS}", peers, rounds, unit="links", env=ENVIRONMENT)
    return out


def measure(who: str, case: str, links: str, imports: str = "") -> Record:
    """The figures of one of them, in this process. ``links`` is the file of the links; with ``imports`` what
    is imported is counted."""
    if who == "links":
        f = _tdsl(case)
        used = sorted(sys.modules)  # by a compilation
        names = [f.device_path(d) for d in range(f.device_count)]
        columns = [c.tolist() for c in (f.device_a, f.device_b, f.link_rate[:], f.link_class[:])]
        with open(links, "wb") as file:
            pickle.dump(used, file)
            pickle.dump((names, *columns), file)
        return {}
    with open(links, "rb") as file:
        used = pickle.load(file)
        if who not in ("tdsl", WARM):
            given = pickle.load(file)
            if not imports:
                PEERS[who]([], [], [], [], [])
            return inside(lambda: PEERS[who](*given))
    for name in () if imports else used:
        with suppress(ImportError):
            import_module(name)
    if who == WARM:
        _elaborated(case)
    return inside(lambda: _elaborated(case))


if __name__ == "__main__":
    print(
        json.dumps(
            measure(*sys.argv[1:]) if len(sys.argv) > 1 else records(3),
            indent=None if len(sys.argv) > 1 else 1,
        )
    )
