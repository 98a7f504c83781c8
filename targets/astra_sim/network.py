"""The network of ASTRA-sim's analytical back end: dimensions, each a switch that joins what the one before made."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; nothing where groups of hosts differ in size or not all are joined: the fabric is no product of dimensions."""
    graph = fabric.npus
    if isinstance(graph, str):
        return b""
    link, inside = int(str(options["link_latency_ns"])), int(str(options["scaleup_latency_ns"]))
    rows: list[tuple[int, float, int]] = []  # accelerators, GB/s for each, ns
    if graph.inside_bps and graph.per_host > 1:
        rows.append((graph.per_host, graph.inside_bps / 8e9, inside))
    below = 1 if rows else None
    for tier, level in enumerate(fabric.host_groups):
        sizes = {len(g.hosts) for g in level}
        if len(sizes) > 1:
            return b""
        size = sizes.pop()
        count = size // below if below else size * graph.per_host
        if count > 1:
            rates = graph.tier_gbps[: tier + 1] or (0.0,)
            rows.append((count, min(rates) / 8, link * (tier + 1)))
        below = size
    if below != graph.hosts:
        return b""
    if not rows:
        return b""
    counts, rates_, latencies = zip(*rows, strict=True)
    return "".join((
        f"# {fabric.title!a}: {graph.npus} accelerators. Latencies are options, not the design's.\n",
        f"topology: [ {', '.join(['Switch'] * len(rows))} ]\n",
        f"npus_count: [ {', '.join(str(n) for n in counts)} ]\n",
        f"bandwidth: [ {', '.join(f'{r:g}' if r % 1 else f'{r:.1f}' for r in rates_)} ]  # GB/s for each accelerator\n",
        f"latency: [ {', '.join(f'{n:.1f}' for n in latencies)} ]  # ns\n",
    )).encode()  # fmt: skip
