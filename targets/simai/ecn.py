"""Lines of SimAI's configuration: at which queue its switches mark packets, for each rate that the topology
has at a switch."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit.view import FabricView

SHIPPED = {25: (400, 100, 0.2), 50: (800, 200, 0.2), 100: (1600, 400, 0.2), 200: (1200, 300, 0.8),
           400: (3200, 800, 0.2), 1600: (2400, 600, 0.2)}  # fmt: skip
"""Gb/s -> most and least kB and the chance of a mark, of SimAI's own
astra-sim-alibabacloud/inputs/config/SimAI.conf."""
MOST, LEAST, CHANCE = 8, 2, 0.2
"""kB for each Gb/s of other rates: what SimAI.conf has at 400 Gb/s."""


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The lines; nothing where there is no topology."""
    graph = fabric.npus
    if isinstance(graph, str):
        return b""
    rates = sorted({x.gbps for x in graph.links if not x.inside})
    rows = {r: SHIPPED.get(int(r), (round(r * MOST), round(r * LEAST), CHANCE)) for r in rates}
    out = []
    for name, column in (("KMAX_MAP", 0), ("KMIN_MAP", 1), ("PMAX_MAP", 2)):
        out.append(
            " ".join(
                [name, str(len(rows)), *(f"{round(r * 10**9)} {row[column]}" for r, row in rows.items())]
            )
        )
    return ("\n".join(out) + "\n").encode()
