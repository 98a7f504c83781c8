"""Which port of which host a node of htsim is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tdsl.emit.quote import csv_row
from tdsl.emit.view import FabricView


def render(fabric: FabricView, options: Mapping[str, object]) -> Iterator[bytes]:
    """A row for each node; nothing where the fabric is no such tree."""
    tree = fabric.switch_tree
    if isinstance(tree, str):
        return
    yield b"node,device,port,switch\n"
    for number, node in enumerate(tree.nodes):
        yield f"{csv_row((number, node.device, node.port, node.switch))}\n".encode()
