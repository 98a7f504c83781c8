"""The network of ASTRA-sim's analytical back end: dimensions, each a switch that joins what the one before
made."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit.quote import FileLeftOut
from tdsl.emit.records import NpuGraph
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; nothing where the fabric is not one that these files can hold, which the physical topology's
    file says."""
    graph = fabric.npus
    if isinstance(graph, str):
        return b""
    link, inside = int(str(options["link_latency_ns"])), int(str(options["scaleup_latency_ns"]))
    rows: list[tuple[int, float, float]] = []  # accelerators, GB/s for each, ns
    if graph.inside_bps and graph.per_server > 1:
        rows.append((graph.per_server, graph.inside_bps / 8e9, inside))
    top = fabric.host_groups[-1] if fabric.host_groups else ()
    if len(top) != 1 and graph.servers > 1:
        raise FileLeftOut("not all hosts are joined, and a product of dimensions joins all")
    sizes = _sizes(fabric, graph)
    note = ""
    if not sizes:
        sizes = [0] * (len(fabric.host_groups) - 1) + [graph.servers]
        note = (
            "# Groups of hosts differ in size: all servers are one dimension, at the least bandwidth "
            "of the tiers.\n"
        )
    below = 1 if rows else None
    latency = 0.0  # half of a way through a level: ASTRA-sim takes it twice
    for tier, (size, level) in enumerate(zip(sizes, graph.levels, strict=True)):
        latency += (link + level.cable_ns) / (2 if level.beside else 1)
        if not size:
            continue
        count = size // below if below else size * graph.per_server
        if count > 1:
            rows.append((count, min(x.gbps for x in graph.levels[: tier + 1]) / 8, latency))
        below = size
    if not rows:
        return b""
    counts, rates, latencies = zip(*rows, strict=True)
    return "".join((
        f"# {fabric.title!a}: {graph.npus} accelerators. Latencies are options, and the lengths of cables.\n",
        note,
        f"topology: [ {', '.join(['Switch'] * len(rows))} ]\n",
        f"npus_count: [ {', '.join(str(n) for n in counts)} ]\n",
        f"bandwidth: [ {', '.join(f'{r:g}' if r % 1 else f'{r:.1f}' for r in rates)} ]  # GB/s for each "
        "accelerator\n",
        f"latency: [ {', '.join(f'{n:.1f}' for n in latencies)} ]  # ns\n",
    )).encode()  # fmt: skip


def _sizes(fabric: FabricView, graph: NpuGraph) -> list[int]:
    """Servers in a group of each tier; [] where groups of one tier differ, or a server is in two groups."""
    out: list[int] = []
    for level in fabric.host_groups:
        sizes = {len(g.hosts) for g in level}
        size, rest = divmod(sizes.pop(), graph.span)
        if sizes or rest or (out and size % out[-1]):
            return []
        out.append(size)
    return out
