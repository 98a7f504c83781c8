"""How the time of elaboration and of the cabling plan grows from 1,000 to 1,000,000 endpoints.

The fabric is connected: units of 32 hosts with eight adapters, eight leaves and four spines, and 256 core
switches with a port for each unit, so that endpoints, links and cables grow together. Each size is a process
of its own; the second compilation counts, as in
`elaboration.py`. The exponent is the slope of a line through the logarithms, by least squares: over all
sizes, and over those of 16,000 endpoints and more, in which what is spent once does not show. "With the
lists" is elaboration and the lists of the `cabling` target, without workbooks and sheets of labels.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import Record, by_turns, inside

UNIT = 256
"""Endpoints of a unit."""
LARGE = 16_000
SIZES, QUICK = tuple(1 << k for k in range(10, 22, 2)), (1 << 10, 1 << 12)
PEERS = ("tdsl", "tdsl, with the lists")
CONNECTED = """\
model host NODE {{ port nic[8]: 400Gbps; chip gpu[8]: GPU }}
model chip GPU {{ port nv[1]: 200Gbps }}
model switch SW {{ port p[1..64]: 400Gbps }}
model switch SPINE {{ port p[1..128]: 400Gbps }}
model switch CORE {{ port p[1..{units}]: 400Gbps }}
fabric clos {{
  group su[{units}] {{
    host   node[32]: NODE
    switch leaf[8]:  SW
    switch spine[4]: SPINE
    connect node[n].nic[r] to leaf[r]
    connect leaf[*] to spine[*] spread x 32
  }}
  switch core[4, 64]: CORE
  connect su[*].spine[s] to core[s, *] each
}}
"""
"""Half of a spine's ports lead up, one to each core of its number."""


def measure(who: str, endpoints: int) -> Record:
    """The figures of a fabric of this size."""
    from tdsl.compile import compiler
    from tdsl.emit.build import BuildOptions, build_contents
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.system.spool import Spool

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clos.fab"
        path.write_text(CONNECTED.format(units=endpoints // UNIT))
        options = BuildOptions(
            settings={"cabling": {"workbook_rows": 1, "sheet_labels": 1}}, spool=Spool(Path(folder))
        )
        kept: list[Any] = []

        def work() -> None:
            fabric = compiler.compile_without_checks(str(path)).designs[0].fabric
            assert fabric is not None and fabric.complete
            written = (
                build_contents(fabric, ("cabling",), Diagnostics(), options).files if who != "tdsl" else {}
            )
            kept.append((fabric.link_count, sum(map(len, written.values()))))

        compiler.compile_without_checks(str(path))
        found = inside(work, n=endpoints)
    return {**found, "links": kept[0][0], "bytes": kept[0][1]}


def slope(found: Sequence[Record]) -> float:
    """The exponent with which the time grows with the endpoints."""
    return float(np.polyfit(np.log([f["n"] for f in found]), np.log([f["cpu_s"] for f in found]), 1)[0])


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a size, for elaboration alone and with the lists."""
    out = []
    for size in QUICK if quick else SIZES:
        peers = {who: (sys.executable, __file__, who, str(size)) for who in PEERS}
        out += by_turns("exponent", f"{size:,}", peers, min(rounds, 3), unit="endpoints")
    return out


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else records(3)))
