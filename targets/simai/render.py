"""The topology file of SimAI's ns-3 back end: counts, numbers of switches, and a line for each link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tdsl.emit.quote import FileLeftOut
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; left out where the fabric is not one that it can hold."""
    graph = fabric.npus
    if isinstance(graph, str):
        raise FileLeftOut(graph)
    nodes = graph.npus + graph.inner_switches + graph.switches
    kind = (
        graph.chip if re.fullmatch(r"[A-Z]+[0-9]*", graph.chip) else "NONE"
    )  # SimAI takes one that it does not know for none

    def lines() -> Iterator[str]:
        yield f"{nodes} {graph.per_server} {graph.inner_switches} {graph.switches} {len(graph.links)} {kind}"
        yield " ".join(str(n) for n in range(graph.npus, nodes)) + " "
        for link in graph.links:
            latency = options["scaleup_latency" if link.inside else "link_latency"]
            yield f"{link.a} {link.b} {link.gbps}Gbps {latency} {options['error_rate']}"

    return ("\n".join(lines()) + "\n").encode()
