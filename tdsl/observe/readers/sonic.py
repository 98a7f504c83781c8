"""SONiC: a dump of APPL_DB with ``LLDP_ENTRY_TABLE``, and the table of ``show lldp table`` (sonic-utilities,
``scripts/lldpshow``). Source: IEEE 802.1AB for the subtypes; the port
identifier is the alias on many builds and the description the name, so both are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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

FORMAT = "sonic"
OPTION = "lldp"
TABLE = "LLDP_ENTRY_TABLE"
BEGINS = (f"{TABLE}:", f"{TABLE}|")
PRINTED = NeighbourTable(
    re.compile(r"^[^\S\n]*LocalPort\s+RemoteDevice\s+RemotePortID\s.*$", re.MULTILINE),
    "LocalPort",
    "RemoteDevice",
    ("RemotePortID", "RemotePortDescr"),
)
OWN = "LLDP_LOC_CHASSIS"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return TABLE in head or PRINTED.is_in(head)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of one switch: that of the local chassis where the dump has it, else that of the
    file's name."""
    if not file.text.lstrip().startswith("{"):
        add_table_of_neighbours(PRINTED, file, stem, into)
        return
    lines = Lines(file)
    whole = json_object(json_of_capture(file), lines.place(""), "the dump")
    own = whole.get(OWN)
    here = add_local_device(
        into,
        (json_text(own.get("lldp_loc_sys_name")) if isinstance(own, dict) else "") or stem,
        lines.place(OWN),
    )
    lines = Lines(file)
    nested = whole.get(TABLE)
    entries = [(k, k[len(TABLE) + 1 :], v) for k, v in whole.items() if k[: len(TABLE) + 1] in BEGINS]
    entries += [(k, k, v) for k, v in nested.items()] if isinstance(nested, dict) else []
    if not entries and not isinstance(nested, dict):
        raise Malformed(1, f"the dump has no table {TABLE}", "dump APPL_DB")
    for key, port, entry in entries:
        at = lines.place(key)
        try:
            facts = json_object(entry, at, key)
            if "value" in facts and isinstance(facts["value"], dict):  # the form of redis-dump
                facts = facts["value"]
            ports = json_text(facts.get("lldp_rem_port_id")), json_text(facts.get("lldp_rem_port_desc"))
            names = json_text(facts.get("lldp_rem_sys_name")), json_text(facts.get("lldp_rem_chassis_id"))
            add_neighbour_link(into, here, port, at, *names, ports, _enabled_capabilities(facts))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _enabled_capabilities(facts: Mapping[str, Any]) -> list[str]:
    """Capabilities in use: two octets as hexadecimal digits, whose first bit is the first capability.

    Source: RFC 2578, BITS; IEEE 802.1AB, LldpSystemCapabilitiesMap: other, repeater, bridge, wlan, router,
    telephone, docsis, station.
    """
    digits = json_text(facts.get("lldp_rem_sys_cap_enabled")).split(" ")[0]
    bits = int(digits, 16) if re.fullmatch(r"[0-9A-Fa-f]{2}", digits) else 0
    return [word for bit, word in ((0x20, "bridge"), (0x08, "router"), (0x01, "station")) if bits & bit]
