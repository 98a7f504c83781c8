"""Cumulus Linux: ``nv show interface --view lldp -o json``: interfaces, each with
``lldp.neighbor.NAME.{chassis,port}``; and the table of ``nv show interface lldp``: Interface, Speed, Type,
Remote Host, Remote Port, under a line of dashes that says where each column begins. Source: NVIDIA's NVUE
reference, "Show Commands", LLDP. Before NVUE, ``net show lldp`` prints LocalPort, Speed, Mode, RemoteHost,
RemotePort."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbour_tables import NeighbourTable, add_table_of_neighbours
from tdsl.observe.readers._neighbours import (
    Lines,
    add_local_device,
    add_neighbour_link,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import Malformed, Observed

FORMAT = "nvue"
OPTION = "lldp"
TABLES = (
    NeighbourTable(
        re.compile(r"^[^\S\n]*Interface\s.*\bRemote Host\s+Remote Port\s*$", re.MULTILINE),
        "Interface",
        "Remote Host",
        ("Remote Port",),
    ),
    NeighbourTable(
        re.compile(r"^[^\S\n]*LocalPort\s.*\bRemoteHost\s+RemotePort\s*$", re.MULTILINE),
        "LocalPort",
        "RemoteHost",
        ("RemotePort",),
    ),
)


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return ('"neighbor"' in head and '"lldp"' in head) or any(t.is_in(head) for t in TABLES)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    if not file.text.lstrip().startswith("{"):
        table = TABLES[1] if TABLES[1].is_in(file.text) else TABLES[0]
        add_table_of_neighbours(table, file, stem, into)
        return
    lines = Lines(file)
    here = add_local_device(into, stem, lines.place(""))
    for port, facts in json_object(json_of_capture(file), lines.place(""), "the capture").items():
        at = lines.place(port)
        inner = facts.get("lldp") if isinstance(facts, dict) else None
        if not isinstance(facts, dict) or not isinstance(inner, (dict, type(None))):
            into.fault(file, at.line, f"port {port} is not an object, or its `lldp` is not")
        found = inner.get("neighbor") if isinstance(inner, dict) else None
        if found and not isinstance(found, dict):
            into.fault(file, at.line, f"the neighbours at {port} are {type(found).__name__}, not an object")
            continue
        for name, info in (found or {}).items():
            try:
                one = json_object(info, at, f"the neighbour at {port}")
                chassis, far = (
                    json_object(one.get("chassis"), at, "a chassis"),
                    json_object(one.get("port"), at, "a port"),
                )
                ports = json_text(far.get("name")), json_text(far.get("description"))
                add_neighbour_link(
                    into,
                    here,
                    port,
                    at,
                    json_text(chassis.get("system-name")) or name,
                    json_text(chassis.get("chassis-id")),
                    ports,
                )
            except Malformed as wrong:
                into.fault(file, wrong.line, wrong.message, wrong.help)
