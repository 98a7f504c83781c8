"""The network of ASTRA-sim's analytical back end: dimensions, each a switch that joins what the one before made."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit.quote import LeftOut
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; left out where the groups of hosts differ in size, since a product of dimensions knows one."""
    graph = fabric.npus
    if isinstance(graph, str):
        return b""
    link, inside = int(str(options["link_latency_ns"])), int(str(options["scaleup_latency_ns"]))
    rows: list[tuple[int, float, int]] = []  # accelerators, GB/s for each, ns
    if graph.inside_bps and graph.per_host > 1:
        rows.append((graph.per_host, graph.inside_bps / 8e9, inside))
    below, sizes = 1 if rows else None, {1}
    for tier, level in enumerate(fabric.host_groups):
        sizes = {len(g.hosts) for g in level}
        if len(sizes) > 1:
            raise LeftOut("groups of hosts differ in size, and a dimension has one size; physical_topology.txt holds them all")
        size = sizes.pop()
        count = size // below if below else size * graph.per_host
        if count > 1:
            rates = graph.tier_gbps[: tier + 1] or (0.0,)
            rows.append((count, min(rates) / 8, link * (tier + 1)))
        below = size
    if below != graph.hosts:
        raise LeftOut("not all hosts are joined, so no product of dimensions is this fabric")
    if not rows:
        raise LeftOut("there is one accelerator, and nothing to simulate")
    counts, rates_, latencies = zip(*rows, strict=True)
    return "".join((
        f"# {fabric.title!a}: {graph.npus} accelerators. Latencies are options, not the design's.\n",
        f"topology: [ {', '.join(['Switch'] * len(rows))} ]\n",
        f"npus_count: [ {', '.join(str(n) for n in counts)} ]\n",
        f"bandwidth: [ {', '.join(f'{r:g}' if r % 1 else f'{r:.1f}' for r in rates_)} ]  # GB/s for each accelerator\n",
        f"latency: [ {', '.join(f'{n:.1f}' for n in latencies)} ]  # ns\n",
    )).encode()  # fmt: skip
