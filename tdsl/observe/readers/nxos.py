"""Cisco NX-OS: the text of ``show lldp neighbors detail``. The short table cuts names at 20 characters and is
refused."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbour_tables import is_judged_total
from tdsl.observe.readers._neighbours import add_local_device, add_neighbour_link
from tdsl.observe.record import CaptureLine, Malformed, Observed

FORMAT = "nxos"
OPTION = "lldp"
FIELD = re.compile(
    r"(Chassis id|Port id|Local Port id|Port Description|System Name|Enabled Capabilities):\s*(.*)"
)
SHORT = re.compile(r"Device ID\s+Local Intf\s+Hold-time")
EMPTY = ("null", "not advertised")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return "Local Port id:" in head or SHORT.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of the switch that the file is named after."""
    here = add_local_device(into, stem, CaptureLine(file, 1))
    facts: dict[str, str] = {}
    start, entries = 1, 0
    if "Local Port id:" not in file.text:
        message = "the short table cuts names at 20 characters"
        raise Malformed(1, message, "capture `show lldp neighbors detail`")
    for at, raw in enumerate([*file.text.split("\n"), "Chassis id: "], 1):
        if entries and is_judged_total(raw, entries, CaptureLine(file, at), into):
            entries = 0  # a table of another capture may follow
        found = FIELD.match(raw.strip())
        if found is None:
            if "Local Port id:" in raw:
                message = f"this line begins with more than the output: {raw.strip()[:60]!r}"
                into.fault(file, at, message, "save the output of the command alone")
            continue
        if found[1] == "Chassis id" or (found[1] == "Local Port id" and found[1] in facts):
            if facts:
                _add_nxos_neighbour(into, here, facts, CaptureLine(file, start))
            facts, start, entries = {}, min(at, len(file.line_starts)), entries + 1
        if found[2].strip() and found[2].strip().lower() not in EMPTY:
            facts[found[1]] = found[2].strip()


def _add_nxos_neighbour(into: Observed, here: str, facts: dict[str, str], at: CaptureLine) -> None:
    try:
        if "Local Port id" not in facts:
            raise Malformed(
                at.line, "a neighbour without a local port", "the capture is cut: capture it again"
            )
        name, chassis = facts.get("System Name", ""), facts.get("Chassis id", "")
        ports = facts.get("Port id", ""), facts.get("Port Description", "")
        add_neighbour_link(
            into,
            here,
            _full_port_name(facts["Local Port id"]),
            at,
            name,
            chassis,
            tuple(map(_full_port_name, ports)),
            facts.get("Enabled Capabilities", "").split(","),
        )
    except Malformed as wrong:
        into.fault(at.file, wrong.line, wrong.message, wrong.help)


def _full_port_name(port: str) -> str:
    """A port's long name: ``Eth1/1`` is ``Ethernet1/1``."""
    return re.sub(r"^Eth(?=\d)", "Ethernet", port)
