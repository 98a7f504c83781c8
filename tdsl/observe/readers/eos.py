"""Arista EOS: ``show lldp neighbors | json``, and with ``detail``; the table of ``show lldp neighbors``.

A port identifier may be a MAC address or carry its own quotes.
"""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbour_tables import NeighbourTable, add_table_of_neighbours
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


def _full_port_name(port: str) -> str:
    """The name of a port that a table abbreviates: Et1 is Ethernet1, Ma0 Management0."""
    return re.sub(r"^Et(?=\d)", "Ethernet", re.sub(r"^Ma(?=\d)", "Management", port))


PRINTED = NeighbourTable(
    re.compile(r"^[^\S\n]*Port\s+Neighbor Device ID\s+Neighbor Port ID\s+TTL\s*$", re.MULTILINE),
    "Port",
    "Neighbor Device ID",
    ("Neighbor Port ID",),
    _full_port_name,
)


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return f'"{TABLE}"' in head or PRINTED.is_in(head)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    if not file.text.lstrip().startswith("{"):
        add_table_of_neighbours(PRINTED, file, stem, into)
        return
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
