"""Bytes a link: what a fabric's columns take, beside a networkx graph of the same links."""

from __future__ import annotations

import json
import sys
import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from measure import Record, by_turns, inside

CLOS = """\
model host NODE {{ port nic[8]: 400Gbps; chip gpu[8]: GPU }}
model chip GPU {{ port nv[1]: 200Gbps }}
model switch SW {{ port p[1..64]: 400Gbps }}
fabric clos {{
  group su[{units}] {{
    host   node[32]: NODE
    switch leaf[8]:  SW
    switch spine[4]: SW
    connect node[n].nic[r] to leaf[r]
    connect leaf[*] to spine[*] spread x 32
  }}
}}
"""
UNITS, QUICK = (4, 16, 64), (2,)


def fabric(units: int) -> Any:
    """Units of 32 hosts, each with a leaf a rail and spines of its own."""
    from tdsl.compile import compiler

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clos.fab"
        path.write_text(CLOS.format(units=units))
        made = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert made is not None
    return made


def measure(who: str, units: int) -> Record:
    """Bytes a link of the columns, derived ones included, or of a networkx graph; the time is that of making
    either."""
    if who == "tdsl":
        from tdsl.fabric.narrow import Narrow

        fabric(units)
        kept: list[Any] = []
        found = inside(lambda: kept.append(fabric(units)))
        made = kept[0]
        _ = made.device_a, made.device_b
        size = sum(v.nbytes for v in vars(made).values() if isinstance(v, (np.ndarray, Narrow)))
    else:
        import networkx  # noqa: F401  (before the clock starts)

        made = fabric(units)
        _ = made.device_a, made.device_b
        found = inside(made.graph)
        tracemalloc.start()
        graph = made.graph()
        size = tracemalloc.get_traced_memory()[0]
        assert graph.number_of_edges() == made.link_count
    return {**found, "n": made.link_count, "bytes_a_link": round(size / made.link_count, 1)}


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a size for tdsl and networkx."""
    out = []
    for units in QUICK if quick else UNITS:
        peers = {who: (sys.executable, __file__, who, str(units)) for who in ("tdsl", "networkx")}
        out += by_turns("memory", f"{512 * units:,} links", peers, min(rounds, 3), unit="links")
    return out


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else records(3)))
