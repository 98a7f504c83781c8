"""Batfish: ``layer1_topology.json``. An edge may be there in one direction or in both."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, device, document, each, mapping, words
from tdsl.observe.record import End, Malformed, Observed, Wire, plain

FORMAT = "batfish"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a file."""
    return '"edges"' in head and '"node1"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the edges."""
    lines = Lines(file)
    for edge in each(mapping(document(file), lines.place("edges"), "the file").get("edges")):
        at = lines.place("node1")
        try:
            ends = []
            for side in ("node1", "node2"):
                facts = mapping(mapping(edge, at, "an edge").get(side), at, side)
                name, port = words(facts.get("hostname")), words(facts.get("interfaceName"))
                if not name or not port:
                    raise Malformed(at.line, f"{side} has no hostname or no interfaceName")
                ends.append(End(device(into, name, "", at, heard=True), (plain(port, at.line),)))
            into.wire(Wire(ends[0], ends[1], at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
