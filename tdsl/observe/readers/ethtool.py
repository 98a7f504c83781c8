"""``ethtool -m``: the memory of the module in a cage, one port after the other, each behind a line that
names it.

Source: ethtool(8), ``-m --dump-module-eeprom --module-info``; its fields are those of SFF-8472, SFF-8636
and CMIS.
"""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.readers._ports import blocks_by_port, port_of_file_name
from tdsl.observe.record import CapturedEnd, CapturedModule, CaptureLine, Observed, plain_capture_name

FORMAT = "ethtool"
OPTION = "modules"
FIELD = re.compile(r"\s*+([A-Za-z][\w \t,./()+-]*+):(.*)")
NONE = re.compile(
    r".*(?:Cannot get module|netlink error|No such device|not present|Operation not supported).*",
    re.IGNORECASE,
)
FIRST = re.compile(r"(?:Identifier|Extended identifier)\s*:|netlink error|Cannot get")
ONCE = re.compile(r"Identifier\s*:")
NAME_IT = 'write the port before each: for p in …; do echo "== $p"; ethtool -m $p; done'


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    identified = re.search(r"^[ \t]*+Identifier[ \t]++: 0x", head, re.MULTILINE)
    return identified is not None or "module EEPROM" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the modules of the device that the file is named after."""
    device = port_of_file_name(stem)[0]
    here = add_device(into, device, "", CaptureLine(file, 1))
    for port, number, lines in blocks_by_port(file, stem, FIRST, ONCE):
        at = CaptureLine(file, number)
        fields = {m[1].strip().lower(): m[2].strip() for line in lines if (m := FIELD.fullmatch(line))}
        part = fields.get("vendor pn", "")
        absent = any(NONE.fullmatch(line.strip()) for line in lines)
        if not port:
            into.fault(file, number, "no line says which port this module is in", NAME_IT)
        elif not fields and not absent:
            into.fault(
                file,
                number,
                f"the output of {port} is not the memory of a module",
                "capture `ethtool -m` alone",
            )
        else:
            end = CapturedEnd(here, (plain_capture_name(port, number),))
            vendor, serial = fields.get("vendor name", ""), fields.get("vendor sn", "")
            into.fact(CapturedModule(end, vendor, part, serial, bool(part) or not absent, at))
