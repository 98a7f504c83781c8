"""The logical topology of ASTRA-sim's ns-3 back end: accelerators of a server, then servers."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The file; nothing where the fabric is not one that these files can hold, which the physical topology's
    file says."""
    graph = fabric.npus
    if isinstance(graph, str):
        return b""
    sizes = [n for n in (graph.per_server, graph.servers) if n > 1] or [1]
    return (json.dumps({"logical-dims": [str(n) for n in sizes]}) + "\n").encode()
