"""Bytes a link: what a fabric's columns take, beside a networkx graph of the same links."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path

import networkx  # noqa: F401  (so that importing it is not measured)
import numpy as np

from tdsl import compiler
from tdsl.fabric.graph import Fabric

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


def fabric(units: int) -> Fabric:
    """Units of 32 hosts, each with a leaf a rail and spines of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clos.fab"
        path.write_text(CLOS.format(units=units))
        made = compiler.elaborate(str(path)).designs[0].fabric
    assert made is not None
    return made


def column_bytes(made: Fabric) -> int:
    """Bytes of all columns, derived ones included."""
    return sum(v.nbytes for v in vars(made).values() if isinstance(v, np.ndarray))


def memory() -> list[str]:
    """A line a size: bytes a link of the columns and of a networkx graph."""
    out = [f"{'links':>9}  {'columns':>10}  {'networkx graph':>14}   ratio   (bytes a link)"]
    for units in (4, 16, 64):
        made = fabric(units)
        columns = column_bytes(made) / made.link_count
        _ = made.device_a, made.device_b
        tracemalloc.start()
        graph = made.graph()
        peer = tracemalloc.get_traced_memory()[0] / graph.number_of_edges()
        tracemalloc.stop()
        out.append(f"{made.link_count:>9,}  {columns:>10.0f}  {peer:>14.0f}   {peer / columns:.1f}")
    return out
