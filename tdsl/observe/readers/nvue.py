"""Cumulus Linux: ``nv show interface --view lldp -o json``: interfaces, each with ``lldp.neighbor.NAME.{chassis,port}``."""

from __future__ import annotations

from tdsl.observe.readers._neighbours import Lines, document, local, mapping, neighbour, words
from tdsl.observe.record import Malformed, Observed
from tdsl.source import SourceFile

FORMAT = "nvue"
OPTION = "lldp"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return '"neighbor"' in head and '"lldp"' in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    lines = Lines(file)
    here = local(into, stem, lines.place(""))
    for port, facts in mapping(document(file), lines.place(""), "the capture").items():
        at = lines.place(port)
        inner = facts.get("lldp") if isinstance(facts, dict) else None
        found = inner.get("neighbor") if isinstance(inner, dict) else None
        for name, info in (found or {}).items() if isinstance(found, dict) else ():
            try:
                one = mapping(info, at, f"the neighbour at {port}")
                chassis, far = mapping(one.get("chassis"), at, "a chassis"), mapping(one.get("port"), at, "a port")
                ports = words(far.get("name")), words(far.get("description"))
                neighbour(
                    into, here, port, at, words(chassis.get("system-name")) or name, words(chassis.get("chassis-id")), ports
                )
            except Malformed as wrong:
                into.fault(file, wrong.line, wrong.message, wrong.help)
