"""NAPALM's ``get_lldp_neighbors_detail`` and ``get_lldp_neighbors`` as JSON: interfaces, each with a list of neighbours."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, document, each, local, mapping, neighbour, words
from tdsl.observe.record import Malformed, Observed

FORMAT = "napalm"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return '"remote_system_name"' in head or ('"hostname"' in head and '"port"' in head and '"edges"' not in head)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the device that the file is named after."""
    lines = Lines(file)
    here = local(into, stem, lines.place(""))
    for port, found in mapping(document(file), lines.place(""), "the capture").items():
        at = lines.place(port)
        for info in each(found):
            try:
                one = mapping(info, at, f"the neighbour at {port}")
                name = words(one.get("remote_system_name")) or words(one.get("hostname"))
                ports = words(one.get("remote_port")), words(one.get("port")), words(one.get("remote_port_description"))
                neighbour(into, here, port, at, name, words(one.get("remote_chassis_id")), ports)
            except Malformed as wrong:
                into.fault(file, wrong.line, wrong.message, wrong.help)
