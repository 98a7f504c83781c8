"""Cumulus Linux: ``nv show interface --view lldp -o json``: interfaces, each with
``lldp.neighbor.NAME.{chassis,port}``; and the table of ``nv show interface lldp``: Interface, Speed, Type,
Remote Host, Remote Port, under a line of dashes that says where each column begins. Source: NVIDIA's NVUE
reference, "Show Commands", LLDP."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_local_device,
    add_neighbour_link,
    json_object,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import CaptureLine, Malformed, Observed

FORMAT = "nvue"
OPTION = "lldp"
HEADING = re.compile(r"^[^\S\n]*Interface\s.*\bRemote Host\s+Remote Port\s*$", re.MULTILINE)
RULE = re.compile(r"(?=[\s…]*+-)[\s\-…]*+")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return ('"neighbor"' in head and '"lldp"' in head) or HEADING.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    if not file.text.lstrip().startswith("{"):
        _add_table_rows(file, stem, into)
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


def _add_table_rows(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the rows of the table."""
    here = add_local_device(into, stem, CaptureLine(file, 1))
    columns: dict[str, slice] = {}
    before = ""
    for number, line in enumerate(file.text.split("\n"), 1):
        if not columns:
            if RULE.fullmatch(line) and HEADING.match(before):
                columns = _columns_under_rule(before, line)
            before = line
            continue
        cells = {name: line[c].strip() for name, c in columns.items()}
        port, host, far = (cells.get(n, "") for n in ("Interface", "Remote Host", "Remote Port"))
        if not port or not (host or far):
            continue  # no neighbour, or a further line of the row above
        try:
            _refuse_cut_row(number, line, port, far)
            add_neighbour_link(into, here, port, CaptureLine(file, number), host, "", (far,))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
    if not columns:
        raise Malformed(
            1, "the table has no line of dashes under its heading", "the capture is cut: capture it again"
        )


def _columns_under_rule(heading: str, rule: str) -> dict[str, slice]:
    """The columns of a table by name: where the dashes under its heading stand."""
    starts = [m.start() for m in re.finditer(r"(?<!\S)\S", rule)]
    columns = [slice(a, b) for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return {heading[c].strip(): c for c in columns}


def _refuse_cut_row(number: int, line: str, port: str, far: str) -> None:
    """Raise Malformed where a row lacks a part of the table."""
    if "…" in line:
        raise Malformed(number, "the terminal was too narrow: a cell is cut", "capture it with `-o json`")
    if not far:
        raise Malformed(
            number, f"the neighbour at {port} has no port", "the capture is cut: capture it again"
        )
