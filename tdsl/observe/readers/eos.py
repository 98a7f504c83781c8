"""Arista EOS: ``show lldp neighbors | json``, and with ``detail``.

A port identifier may be a MAC address or carry its own quotes.
"""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_local_device,
    add_neighbour_link,
    entries_of_list,
    json_object,
    json_of_capture,
    json_text,
)
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
    whole = json_object(json_of_capture(file), lines.place(TABLE), "the capture")
    table = whole.get(TABLE)
    if not isinstance(table, (dict, list)):
        raise Malformed(
            1, f"the capture has no list of neighbours, {TABLE}", "save the output of the command alone"
        )
    here = add_local_device(into, stem, lines.place(TABLE))
    if isinstance(table, dict):
        for port, facts in table.items():
            at = lines.place(port)
            if not isinstance(facts, dict):
                into.fault(file, at.line, f"port {port} is {type(facts).__name__}, not an object")
            for info in entries_of_list(facts.get("lldpNeighborInfo") if isinstance(facts, dict) else None):
                try:
                    one = json_object(info, at, f"the neighbour at {port}")
                    inner = one.get("neighborInterfaceInfo")
                    far = inner if isinstance(inner, dict) else {}
                    said = one.get("systemCapabilities")
                    capable = said if isinstance(said, dict) else {}
                    ports = json_text(far.get("interfaceId")), json_text(far.get("interfaceDescription"))
                    add_neighbour_link(
                        into,
                        here,
                        port,
                        at,
                        json_text(one.get("systemName")),
                        json_text(one.get("chassisId")),
                        ports,
                        [k for k, v in capable.items() if v is True],
                    )
                except Malformed as wrong:
                    into.fault(file, wrong.line, wrong.message, wrong.help)
        return
    for row in entries_of_list(table):
        at = lines.place("neighborPort")
        try:
            one = json_object(row, at, "a neighbour")
            add_neighbour_link(
                into,
                here,
                json_text(one.get("port")),
                at,
                json_text(one.get("neighborDevice")),
                "",
                (json_text(one.get("neighborPort")),),
            )
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
