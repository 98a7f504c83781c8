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
            latency = str(options["scaleup_latency" if link.inside else "link_latency"])
            if link.cable_ns:
                latency = f"{_milliseconds(latency) + link.cable_ns / 10**6:.9g}ms"
            yield f"{link.a} {link.b} {link.gbps}Gbps {latency} {options['error_rate']}"

    return ("\n".join(lines()) + "\n").encode()


def _milliseconds(time: str) -> float:
    """A time of ns-3, such as 0.0005ms."""
    found = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", time)
    assert found is not None  # the manifest takes no other
    return float(found[1]) * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]]
