"""NAPALM's ``get_lldp_neighbors_detail`` and ``get_lldp_neighbors`` as JSON: interfaces, each with a list of
neighbours."""

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

FORMAT = "napalm"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return '"remote_system_name"' in head or (
        '"hostname"' in head and '"port"' in head and '"edges"' not in head
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the device that the file is named after."""
    lines = Lines(file)
    here = add_local_device(into, stem, lines.place(""))
    for port, found in json_object(json_of_capture(file), lines.place(""), "the capture").items():
        at = lines.place(port)
        for info in entries_of_list(found):
            try:
                one = json_object(info, at, f"the neighbour at {port}")
                name = json_text(one.get("remote_system_name")) or json_text(one.get("hostname"))
                ports = (
                    json_text(one.get("remote_port")),
                    json_text(one.get("port")),
                    json_text(one.get("remote_port_description")),
                )
                chassis = json_text(one.get("remote_chassis_id"))
                enabled = [json_text(x) for x in entries_of_list(one.get("remote_system_enable_capab"))]
                add_neighbour_link(into, here, port, at, name, chassis, ports, enabled)
            except Malformed as wrong:
                into.fault(file, wrong.line, wrong.message, wrong.help)
