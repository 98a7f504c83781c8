"""Arista EOS: ``show lldp neighbors | json``, and with ``detail``.

A port identifier may be a MAC address or carry its own quotes.
"""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, document, each, local, mapping, neighbour, words
from tdsl.observe.record import Malformed, Observed

FORMAT = "eos"
OPTION = "lldp"
TABLE = "lldpNeighbors"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return f'"{TABLE}"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    lines = Lines(file)
    table = mapping(document(file), lines.place(TABLE), "the capture").get(TABLE)
    here = local(into, stem, lines.place(TABLE))
    if isinstance(table, dict):
        for port, facts in table.items():
            at = lines.place(port)
            for info in each(facts.get("lldpNeighborInfo") if isinstance(facts, dict) else None):
                try:
                    one = mapping(info, at, f"the neighbour at {port}")
                    inner = one.get("neighborInterfaceInfo")
                    far = inner if isinstance(inner, dict) else {}
                    ports = words(far.get("interfaceId")), words(far.get("interfaceDescription"))
                    neighbour(into, here, port, at, words(one.get("systemName")), words(one.get("chassisId")), ports)
                except Malformed as wrong:
                    into.fault(file, wrong.line, wrong.message, wrong.help)
        return
    for row in each(table):
        at = lines.place("neighborPort")
        try:
            one = mapping(row, at, "a neighbour")
            neighbour(
                into, here, words(one.get("port")), at, words(one.get("neighborDevice")), "", (words(one.get("neighborPort")),)
            )
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
