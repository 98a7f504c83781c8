"""The physical topology of ASTRA-sim's ns-3 back end: counts, numbers of switches, and a line for each
link."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit.quote import FileLeftOut
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; left out where the fabric is not one that it can hold."""
    graph = fabric.npus
    if isinstance(graph, str):
        raise FileLeftOut(graph)
    nodes, switches = (
        graph.npus + graph.inner_switches + graph.switches,
        graph.inner_switches + graph.switches,
    )
    out = [f"{nodes} {switches} {len(graph.links)}", " ".join(str(n) for n in range(graph.npus, nodes))]
    own = {True: int(str(options["scaleup_latency_ns"])), False: int(str(options["link_latency_ns"]))}
    for x in graph.links:
        latency = f"{(own[x.inside] + x.cable_ns) / 10**6:.9g}ms"
        out.append(f"{x.a} {x.b} {x.gbps}Gbps {latency} {options['error_rate']}")
    return ("\n".join(out) + "\n").encode()
