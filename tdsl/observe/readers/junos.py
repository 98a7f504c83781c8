"""Juniper Junos: ``show lldp neighbors``, and with ``detail``, as text, with ``| display json`` or
``| display xml``.

Sources: Juniper, CLI reference, "show lldp neighbors", in which *Port info* is the neighbour's port
identifier or its description; py-junos-eznc, ``op/lldp.yml``, for the elements of the XML; the samples of
ntc-templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import (
    Lines,
    add_local_device,
    add_neighbour_link,
    entries_of_list,
    json_of_capture,
    json_text,
)
from tdsl.observe.record import CaptureLine, Malformed, Observed

FORMAT = "junos"
OPTION = "lldp"
TABLE = "lldp-neighbors-information"
ROW = "lldp-neighbor-information"
HEADING = re.compile(
    r"^[ \t]*+Local ?Interface[ \t]++(Parent Interface[ \t]++)?(Chassis ?I[dD][ \t]++)(Port ?[iI]nfo[ \t]++)"
    r"Sys(?:tem )?[nN]ame[ \t]*+$",
    re.MULTILINE,
)
"""The heading of the table; releases before 12 have no parent interfaces."""
BLOCK = re.compile(r"^[ \t]*+Local Interface[ \t]*+:", re.MULTILINE)
FIELD = re.compile(
    r"(Local Interface|Chassis ID|Port ID|Port description|System name|Enabled)[ \t]*+:(.*)", re.IGNORECASE
)
FIELDS = {
    "local interface": "lldp-local-port-id",
    "chassis id": "lldp-remote-chassis-id",
    "port id": "lldp-remote-port-id",
    "port description": "lldp-remote-port-description",
    "system name": "lldp-remote-system-name",
    "enabled": "lldp-system-capabilities-enabled",
}
"""The lines of the detailed text, and the elements that have the same in XML and JSON."""
UNIT = re.compile(r"((?:[a-z]{2}-\d++/\d++/\d++(?::\d++)?|[a-z]++\d++))\.\d++")
"""A logical unit of an interface, whose port is what is before the dot."""
BETWEEN = re.compile(r"\{.*\}|\S+:|-+")
"""What Junos prints between rows: its role in a chassis, and the member that the next rows are of."""
FIRST_INDEX = 500
"""Junos numbers its interfaces for SNMP from about here, and sends this number as the port's identifier where
it is not told to send the name. Smaller numbers are those of ports."""


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    if TABLE in head:
        return f'"{TABLE}"' in head or f"<{TABLE}" in head
    return HEADING.search(head) is not None or BLOCK.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    here = add_local_device(into, stem, CaptureLine(file, 1))
    for facts, line in _neighbours_of_junos(file, into):
        try:
            _add_junos_neighbour(into, here, facts, CaptureLine(file, line))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _neighbours_of_junos(file: SourceFile, into: Observed) -> Iterator[tuple[Mapping[str, str], int]]:
    """The elements of each neighbour with the line where it begins, in whichever form the capture is."""
    if HEADING.search(file.text):
        return _neighbours_of_table(file, into)
    if BLOCK.search(file.text):
        return _neighbours_of_blocks(file)
    return _neighbours_of_xml(file) if file.text.lstrip().startswith("<") else _neighbours_of_json(file, into)


def _add_junos_neighbour(into: Observed, here: str, facts: Mapping[str, str], at: CaptureLine) -> None:
    """Add a neighbour from the elements that its capture has."""
    port = facts.get("lldp-local-port-id") or facts.get("lldp-local-interface", "")
    if not port:
        raise Malformed(
            at.line, "a neighbour without a local interface", "the capture is cut: capture it again"
        )
    ident, described = (facts.get(f"lldp-remote-port-{k}", "") for k in ("id", "description"))
    if ident.isascii() and ident.isdigit() and int(ident[:9]) >= FIRST_INDEX:
        ident = "" if described else f"ifIndex {ident}"
    ports = [p for p in (ident, described) if p]
    if not ports:
        raise Malformed(
            at.line,
            f"the neighbour at {port[:60]} has no port",
            "capture `show lldp neighbors detail`, which has its identifier and its description",
        )
    add_neighbour_link(
        into,
        here,
        _without_unit(port),
        at,
        facts.get("lldp-remote-system-name", ""),
        facts.get("lldp-remote-chassis-id", ""),
        (*ports, *map(_without_unit, ports)),
        re.split(r"[\s,]+", facts.get("lldp-system-capabilities-enabled", "")),
    )


def _without_unit(name: str) -> str:
    """The port of an interface: ``ge-0/0/0.0`` is a unit of ``ge-0/0/0``."""
    unit = UNIT.fullmatch(name)
    return unit[1] if unit is not None else name


# ---------------------------------------------------------------- JSON and XML


def _neighbours_of_json(file: SourceFile, into: Observed) -> Iterator[tuple[dict[str, str], int]]:
    lines = Lines(file)
    for row, at in _rows_of_json(json_of_capture(file), lines):
        if isinstance(row, dict):
            yield {k: _text_of_element(v) for k, v in row.items()}, at.line
        else:
            into.fault(file, at.line, f"a neighbour is {type(row).__name__}, not an object")


def _rows_of_json(whole: Any, lines: Lines) -> Iterator[tuple[Any, CaptureLine]]:
    """The neighbours in JSON, whose elements are lists with one entry or, from tools, the entry itself."""
    if not isinstance(whole, dict) or TABLE not in whole:
        raise Malformed(1, f"the capture has no {TABLE}", "save the output of the command alone")
    for table in entries_of_list(whole[TABLE]):
        for row in entries_of_list(table.get(ROW) if isinstance(table, dict) else table or None):
            yield row, lines.place(next(iter(row), ROW) if isinstance(row, dict) else ROW)


def _text_of_element(value: Any) -> str:
    """The text of ``[{"data": "x"}]``, or of ``"x"``."""
    first = next(entries_of_list(value), None)
    return json_text(first.get("data") if isinstance(first, dict) else first)


def _neighbours_of_xml(file: SourceFile) -> Iterator[tuple[dict[str, str], int]]:
    """The neighbours in XML. Raises Malformed where it is cut, or declares entities."""
    from xml.parsers import expat

    found: list[tuple[dict[str, str], int]] = []
    text: list[str] = []
    whole = file.text.partition("]]>]]>")[0].lstrip()  # the end of a message in NETCONF
    above = file.text[: file.text.find("<")].count("\n")
    parser = expat.ParserCreate()

    def begin(name: str, _: object) -> None:
        text.clear()
        if name.rpartition(":")[2] == ROW:
            found.append(({}, above + parser.CurrentLineNumber))

    def end(name: str) -> None:
        if found:
            found[-1][0].setdefault(name.rpartition(":")[2], "".join(text).strip())
        text.clear()

    def refuse(*_: object) -> None:
        line = above + parser.CurrentLineNumber
        raise Malformed(line, "the XML declares a type of document, as no switch does")

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = text.append
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(whole, True)
    except expat.ExpatError as wrong:
        raise Malformed(
            above + wrong.lineno,
            f"this is not XML: {expat.ErrorString(wrong.code)}",
            "the capture is cut or mixed: capture it again",
        ) from None
    yield from found


# ---------------------------------------------------------------- text


def _neighbours_of_blocks(file: SourceFile) -> Iterator[tuple[dict[str, str], int]]:
    """The neighbours of the detailed text: a block each, which begins with the local interface. One with a
    second chassis has lost this line of another neighbour."""
    facts: dict[str, str] = {}
    start = 1
    for number, line in enumerate(file.text.split("\n"), 1):
        found = FIELD.fullmatch(line.strip())
        if found is None:
            continue
        name = FIELDS[found[1].lower()]
        if name == "lldp-local-port-id" or (name == "lldp-remote-chassis-id" and name in facts):
            if facts:
                yield facts, start
            facts, start = {}, number
        facts.setdefault(name, found[2].strip())
    if facts:
        yield facts, start


def _neighbours_of_table(file: SourceFile, into: Observed) -> Iterator[tuple[dict[str, str], int]]:
    """The rows of the table."""
    heading: re.Match[str] | None = None
    for number, raw in enumerate(file.text.split("\n"), 1):
        line = raw.expandtabs().rstrip()
        heading = HEADING.fullmatch(line) or heading
        if heading is None or HEADING.fullmatch(line) or not line or BETWEEN.fullmatch(line.strip()):
            continue
        facts = _cells_of_row(heading, line)
        if facts is None:
            into.fault(
                file,
                number,
                f"this line is not a row of the table: {line.strip()[:60]!r}",
                "the capture is cut or mixed: capture it again",
            )
        else:
            yield facts, number


def _cells_of_row(heading: re.Match[str], line: str) -> dict[str, str] | None:
    """The cells of a row, None where it has too few. A cell may have spaces, and one that is too long for its
    column moves those behind it."""
    before = 3 if heading[1] else 2
    words = line.split(None, before)
    if len(words) < before:
        return None
    rest = words[before] if len(words) > before else ""
    port, name = _port_and_name(rest, len(line) - len(rest), heading)
    return {
        "lldp-local-port-id": words[0],
        "lldp-remote-chassis-id": words[before - 1],
        "lldp-remote-port-id": port,
        "lldp-remote-system-name": name,
    }


def _port_and_name(rest: str, begin: int, heading: re.Match[str]) -> tuple[str, str]:
    """The last two cells of a row, which begin at a column of it."""
    width = len(heading[3])
    parts = re.split(r"\s{2,}", rest)
    if len(parts) == 2:
        return parts[0], parts[1]
    if begin >= heading.start(3) + width:
        return "", rest  # the column before is empty
    if len(rest) < width:
        return rest, ""
    if rest[width - 1].isspace():
        return rest[:width].strip(), rest[width:].strip()
    port, _, name = rest.rpartition(" ")  # names of systems have no spaces
    return (port, name) if port else (rest, "")
