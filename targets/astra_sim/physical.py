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
    latency = {inside: f"{int(str(options[name])) / 10**6:g}ms"
               for inside, name in ((True, "scaleup_latency_ns"), (False, "link_latency_ns"))}  # fmt: skip
    out += [f"{x.a} {x.b} {x.gbps}Gbps {latency[x.inside]} {options['error_rate']}" for x in graph.links]
    return ("\n".join(out) + "\n").encode()
