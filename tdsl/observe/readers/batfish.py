"""Batfish: ``layer1_topology.json``. An edge may be there in one direction or in both."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_device,
    entries_of_list,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import CapturedEnd, CapturedLink, Malformed, Observed, plain_capture_name

FORMAT = "batfish"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a file."""
    return '"edges"' in head and '"node1"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the edges."""
    lines = Lines(file)
    for edge in entries_of_list(
        json_object(json_of_capture(file), lines.place("edges"), "the file").get("edges")
    ):
        at = lines.place("node1")
        try:
            ends = []
            for side in ("node1", "node2"):
                facts = json_object(json_object(edge, at, "an edge").get(side), at, side)
                name, port = json_text(facts.get("hostname")), json_text(facts.get("interfaceName"))
                if not name or not port:
                    raise Malformed(at.line, f"{side} has no hostname or no interfaceName")
                ends.append(
                    CapturedEnd(
                        add_device(into, name, "", at, heard=True), (plain_capture_name(port, at.line),)
                    )
                )
            into.wire(CapturedLink(ends[0], ends[1], at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
