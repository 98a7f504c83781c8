"""lldpd as text: what ``lldpcli show neighbors`` and ``lldpctl`` print, and ``-f keyvalue``. Source:
lldpcli(8)."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_local_device, add_neighbour_link
from tdsl.observe.record import CaptureLine, Malformed, Observed

FORMAT = "lldpd-text"
OPTION = "lldp"
HEAD = re.compile(r"Interface:\s+([^,]+?)(?:,.*)?")
FIELD = re.compile(r"(ChassisID|SysName|PortID|PortDescr):\s*(.*)")
PAIR = re.compile(
    r"lldp\.(.+)\.(via|chassis\.(?:name|mac|local|ifname|ip)|port\.(?:ifname|mac|local|ifalias|descr))=(.*)"
)
RULE = re.compile(r"-{5,}|LLDP neighbors:")
TYPES = ("ifname", "ifalias", "mac", "local", "ip", "component", "unhandled")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return re.search(r"^Interface:\s+\S.*\n\s+Chassis:", head, re.MULTILINE) is not None or (
        re.search(r"^lldp\.\S+\.chassis\.", head, re.MULTILINE) is not None
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the device that the file is named after."""
    here = add_local_device(into, stem, CaptureLine(file, 1))
    facts: dict[str, str] = {}
    port, start, orphans = "", 1, False
    for at, raw in enumerate(file.text.split("\n"), 1):
        text = raw.strip()
        pair = PAIR.fullmatch(text)
        new = _port_that_begins(raw, port, facts)
        if new:
            _add_lldpd_neighbour(into, here, port, facts, CaptureLine(file, start))
            port, start, facts = new, at, {}
        field = FIELD.fullmatch(text)
        if pair is not None:
            facts.setdefault(pair[2], pair[3].strip())
        elif field is not None:
            if field[1] == "ChassisID" and (not port or field[1] in facts):
                _add_lldpd_neighbour(into, here, port, facts, CaptureLine(file, start))
                message = "no line says at which interface this neighbour is"
                into.fault(file, at, message, "the capture is cut: capture it again")
                port, facts, orphans = "", {}, True
            facts.setdefault(field[1], field[2].strip())
    if not port and not orphans and not RULE.search(file.text):
        raise Malformed(1, "the capture has no interface", "save the output of `lldpcli show neighbors`")
    _add_lldpd_neighbour(into, here, port, facts, CaptureLine(file, start))
    lines = file.text.rstrip().split("\n")
    cut = any(map(RULE.fullmatch, lines)) and not RULE.fullmatch(lines[-1])  # lldpcli ends with a rule
    if cut:
        message = "the capture is cut off: its last line is not a rule"
        into.fault(file, len(lines), message, "capture it again", "E0602")


def _port_that_begins(line: str, port: str, facts: dict[str, str]) -> str:
    """The port whose neighbour begins at a line, "" where none does; ``port`` and ``facts`` are of the one
    before."""
    text = line.strip()
    head = HEAD.fullmatch(text) if not line[:1].isspace() else None
    if head is not None:
        return head[1]
    pair = PAIR.fullmatch(text)
    if pair is not None and (pair[1] != port or _begins_next_neighbour(pair[2], facts)):
        return pair[1]
    return ""


def _begins_next_neighbour(field: str, facts: dict[str, str]) -> bool:
    """Whether a field begins the next neighbour on the same port: lldpcli writes how each was heard first,
    and what its chassis is once."""
    return field in facts and (field == "via" or field.startswith("chassis."))


def _add_lldpd_neighbour(
    into: Observed, here: str, port: str, facts: dict[str, str], at: CaptureLine
) -> None:
    if not port:
        return
    try:
        chassis = next(
            (
                facts[k]
                for k in ("chassis.mac", "chassis.local", "chassis.ifname", "chassis.ip")
                if k in facts
            ),
            "",
        )
        idents = [facts[f"port.{k}"] for k in ("ifname", "ifalias", "local", "mac") if f"port.{k}" in facts]
        name = facts.get("SysName", "") or facts.get("chassis.name", "")
        chassis = chassis or _without_type_word(facts.get("ChassisID", ""))
        ports = [
            *idents,
            _without_type_word(facts.get("PortID", "")),
            facts.get("PortDescr", ""),
            facts.get("port.descr", ""),
        ]
        if not any(ports):
            raise Malformed(
                at.line, f"the neighbour at {port[:60]} has no port", "the capture is cut: capture it again"
            )
        add_neighbour_link(into, here, port, at, name, chassis, tuple(p for p in ports if p))
    except Malformed as wrong:
        into.fault(at.file, wrong.line, wrong.message, wrong.help)


def _without_type_word(text: str) -> str:
    """An identifier without the word that says its type: ``mac 00:11:22:33:44:55``."""
    word, _, rest = text.partition(" ")
    return rest.strip() if word in TYPES else text
