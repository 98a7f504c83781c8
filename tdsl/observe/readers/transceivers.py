"""The transceivers of a switch: EOS ``show inventory | json`` and ``show interfaces transceiver | json``,
SONiC ``show interfaces transceiver eeprom`` and a dump of STATE_DB, Cumulus Linux ``nv show platform
transceiver`` as a table or JSON.

Sources: Arista's ANTA, its inputs of ``show inventory``; sonic-utilities, ``sfputil``, and
sonic-platform-daemons, TRANSCEIVER_INFO; NVIDIA Cumulus Linux, "nv show platform transceiver".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import Lines, add_device, json_object, json_of_capture, json_text
from tdsl.observe.record import (
    CapturedEnd,
    CapturedModule,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)

FORMAT = "transceivers"
OPTION = "modules"
DETECTED = re.compile(
    r"^[ \t]*+([A-Za-z][\w/]*):[ \t]*+(?:SFP|OSFP|QSFP\w*) EEPROM (detected|not detected)[ \t\r]*+$",
    re.MULTILINE,
)
HEADING = re.compile(r"^Transceiver[ \t]++Identifier[ \t]++.*Vendor PN", re.MULTILINE)
FIELD = re.compile(r"\s*+(Vendor Name|Vendor PN|Vendor SN)\s*+:(.*)", re.IGNORECASE)
INFO = ("TRANSCEIVER_INFO|", "TRANSCEIVER_INFO:")
NO_MODULE = frozenset(("not present", "n/a"))
KEYS = {
    "vendor": ("mfgName", "vendor-name", "manufacturer", "manufacturename", "vendorName"),
    "part": ("modelName", "vendor-pn", "vendor-part-number", "part-number", "model", "modelname", "vendorPn"),
    "serial": ("serialNum", "vendor-sn", "vendor-serial-number", "serial", "serialnum", "vendorSn"),
}


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    if head.lstrip()[:1] == "{":
        known = ('"xcvrSlots"', '"mediaType"', '"TRANSCEIVER_INFO', '"vendor-pn"', '"vendor-part-number"')
        return any(k in head for k in known)
    return DETECTED.search(head) is not None or HEADING.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the modules of the switch that the file is named after."""
    here = add_device(into, stem, "", CaptureLine(file, 1))
    found = _modules_of_json if file.text.lstrip()[:1] == "{" else _modules_of_text
    for port, facts, at in found(file, into):
        try:
            name = plain_capture_name(port, at.line)
            slot = (f"Ethernet{name}/1", f"Ethernet{name}", name) if name.isdigit() else (name,)
            end = CapturedEnd(here, slot)
            vendor, part, serial = (facts.get(k, "") for k in ("vendor", "part", "serial"))
            present = bool(vendor or part or serial) and not {vendor.lower(), part.lower()} & NO_MODULE
            into.fact(CapturedModule(end, vendor, part if present else "", serial, present, at))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _modules_of_json(file: SourceFile, into: Observed) -> Iterator[tuple[str, dict[str, str], CaptureLine]]:
    lines = Lines(file)
    whole = json_object(json_of_capture(file), CaptureLine(file, 1), "the capture")
    table: Any = whole.get("xcvrSlots", whole.get("interfaces"))
    if table is None:
        info = {k: v for k, v in whole.items() if k.startswith(INFO)}
        table = {k.split("|")[-1].split(":")[-1]: v for k, v in info.items()} or whole
    for port, value in json_object(table, CaptureLine(file, 1), "the list of modules").items():
        at = lines.place(port)
        if not isinstance(value, dict):
            into.fault(file, at.line, f"the module at {port} is {type(value).__name__}, not an object")
            continue
        inner = value.get("value")
        yield port, _known_fields(inner if isinstance(inner, dict) else value), at


def _known_fields(value: Mapping[str, Any]) -> dict[str, str]:
    """Vendor, part and serial number under the keys that systems have for them."""
    return {name: next((json_text(value[k]) for k in keys if k in value), "") for name, keys in KEYS.items()}


def _modules_of_text(file: SourceFile, into: Observed) -> Iterator[tuple[str, dict[str, str], CaptureLine]]:
    if HEADING.search(file.text):
        yield from _modules_of_table(file, into)
        return
    port, begin, fields = "", 1, dict[str, str]()
    for number, line in enumerate(file.text.split("\n"), 1):
        head, one = DETECTED.fullmatch(line), FIELD.fullmatch(line)
        if head is not None:
            if port:
                yield port, fields, CaptureLine(file, begin)
            port, begin, fields = head[1], number, {}
        elif one is not None:
            key = {"name": "vendor", "pn": "part", "sn": "serial"}[one[1].lower().split()[1]]
            if port and key in fields:
                yield port, fields, CaptureLine(file, begin)
            if not port or key in fields:
                port, fields = "", dict.fromkeys(KEYS, "")
                message = "no line says in which port this module is"
                into.fault(file, number, message, "the capture is cut: capture it again")
            fields[key] = one[2].strip()
    if port:
        yield port, fields, CaptureLine(file, begin)


def _modules_of_table(file: SourceFile, into: Observed) -> Iterator[tuple[str, dict[str, str], CaptureLine]]:
    """The table of NVUE, whose columns begin where the dashes under its heading do."""
    columns: dict[str, slice] = {}
    before = ""
    for number, line in enumerate(file.text.split("\n"), 1):
        if not columns:
            if re.fullmatch(r"(?=\s*+-)[\s-]*+", line) and HEADING.match(before):
                starts = [m.start() for m in re.finditer(r"(?<!\S)-", line)]
                spans = [slice(a, b) for a, b in zip(starts, [*starts[1:], None], strict=True)]
                columns = {before[c].strip().lower(): c for c in spans}
            before = line
        elif line.strip():
            cells = {name: line[c].strip() for name, c in columns.items()}
            facts = {"vendor": "vendor name", "part": "vendor pn", "serial": "vendor sn"}
            if not cells.get("transceiver"):
                into.fault(
                    file, number, f"this row has no port: {line.strip()[:60]!r}", "capture it with `-o json`"
                )
                continue
            yield (
                cells["transceiver"],
                {k: cells.get(c, "") for k, c in facts.items()},
                CaptureLine(file, number),
            )
    if not columns:
        raise Malformed(
            1, "the table has no line of dashes under its heading", "the capture is cut: capture it again"
        )
