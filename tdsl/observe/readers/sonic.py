"""SONiC: a dump of APPL_DB with ``LLDP_ENTRY_TABLE``. Source: IEEE 802.1AB for the subtypes; the port
identifier is the alias on many builds and the description the name, so both are compared."""

from __future__ import annotations

from tdsl.findings.source import SourceFile
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
TABLE = "LLDP_ENTRY_TABLE:"
OWN = "LLDP_LOC_CHASSIS"


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return TABLE in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the neighbours of one switch: that of the local chassis where the dump has it, else that of the
    file's name."""
    lines = Lines(file)
    whole = json_object(json_of_capture(file), lines.place(""), "the dump")
    own = whole.get(OWN)
    here = add_local_device(
        into,
        (json_text(own.get("lldp_loc_sys_name")) if isinstance(own, dict) else "") or stem,
        lines.place(OWN),
    )
    lines = Lines(file)
    for key, entry in whole.items():
        if not key.startswith(TABLE):
            continue
        at = lines.place(key)
        try:
            facts = json_object(entry, at, key)
            if "value" in facts and isinstance(facts["value"], dict):  # the form of redis-dump
                facts = facts["value"]
            ports = json_text(facts.get("lldp_rem_port_id")), json_text(facts.get("lldp_rem_port_desc"))
            names = json_text(facts.get("lldp_rem_sys_name")), json_text(facts.get("lldp_rem_chassis_id"))
            add_neighbour_link(into, here, key[len(TABLE) :], at, *names, ports)
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
