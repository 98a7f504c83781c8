"""Addresses that traffic has shown at ports, where LLDP is silent: ``bridge fdb show``, ``show mac
address-table`` of EOS, SONiC (``show mac``) and Cumulus Linux (``nv show bridge domain br_default
mac-table``), ``ip neigh`` and ``arp``, as text or JSON.

An address says which adapter is behind a port, not that no switch is between them: a port with several
addresses is set aside. Sources: bridge(8), ip-neighbour(8) and arp(8); Arista EOS, "show mac
address-table"; sonic-utilities, scripts/fdbshow; NVIDIA Cumulus Linux, "nv show bridge domain <domain-id>
mac-table".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbour_tables import is_judged_total
from tdsl.observe.readers._neighbours import Lines, add_device, json_of_capture, json_text
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    hexadecimal_digits,
    plain_capture_name,
)

FORMAT = "fdb"
OPTION = "fdb"
MAC = re.compile(
    r"(?<![\w.:-])(?:[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}|[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){5}|"
    r"[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}\.[0-9a-fA-F]{4})(?![\w.:-])"
)
NAMED = re.compile(r"\b(?:dev|on)\s+(\S+)")
INTERFACE = re.compile(r"[A-Za-z][A-Za-z_-]*\d[\w./-]*|[Cc][Pp][Uu]|[Rr]outer|Switch|br_\w+|peerlink\S*")
NO_PORT = re.compile(
    r"(?:vlan|vl|vxlan|vx|vni|br|bridge|br_\w*+|bond|po|port-channel|portchannel|peerlink\S*+|docker|"
    r"veth\w*+|lo|cpu|router|switch|mlag|tunnel|vti|management|ma|mgmt|virbr|tap|cali\w*+|"
    r"flannel)[\d./:_-]*+",
    re.IGNORECASE,
)
"""Interfaces that are no port: bridges, VLANs, tunnels, bundles, the processor, and management."""
OWN = frozenset(("permanent", "static", "self", "local", "system"))
SILENT = re.compile(r"\b(?:FAILED|INCOMPLETE)\b|<incomplete>|\(incomplete\)")
HEADINGS = re.compile(
    r"[-\s]*+|.*\bMac ?Address\b.*|.*\bMAC address\b.*|.*\bHardware Addr\b.*|.*\bHWaddress\b.*|Total\b.*|"
    r".*\bentries\b.*|"
    r"[-=].*|Codes?:.*|Vlan\b.*|Multicast\b.*|Flags?\b.*|"
    r".*\bfdb\b.*|\s*+(?:sudo )?(?:ip|arp|bridge|show|nv)\s.*",
    re.IGNORECASE,
)
TABLE = re.compile(r"\bMac ?Address\b", re.IGNORECASE)
NO_CABLE = "the interface is not a port of its own"
OWN_ADDRESS = "it is an address of the device itself, or set by hand"
GROUP_ADDRESS = "it is a group address"
NO_ANSWER = "no address answered"
SEVERAL = "several addresses are behind the port: a switch is, or a host with virtual machines"


class _Row(NamedTuple):
    """A row of a table: address, interface, its words in small letters, where it is, and its text."""

    mac: str
    port: str
    words: frozenset[str]
    at: CaptureLine
    text: str


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    if head.lstrip()[:1] in ("{", "["):
        keys = ('"unicastTable"', '"ipV4Neighbors"', '"lladdr"', '"FDB_TABLE', '"entry-type"')
        return any(k in head for k in keys) or all(re.search(rf'"{k}"\s*:', head) for k in ("ifname", "mac"))
    return any(
        not line.lstrip().startswith("#")
        and MAC.search(line)
        and (NAMED.search(line) or re.search(r"\b(?:dynamic|static|ether)\b", line, re.IGNORECASE))
        for line in head.split("\n")[:64]
    )


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the addresses that are alone at a port of the device that the file is named after."""
    rows = list(
        _rows_of_json(file, into) if file.text.lstrip()[:1] in ("{", "[") else _rows_of_text(file, into)
    )
    here = add_device(into, stem, "", CaptureLine(file, 1))
    behind: dict[str, set[str]] = defaultdict(set)
    kept = []
    for row in rows:
        why = _why_aside(row)
        if why:
            into.leave_out(why, row.at, row.text)
        else:
            behind[row.port].add(row.mac)
            kept.append(row)
    for row in kept:
        if len(behind[row.port]) > 1:
            into.leave_out(SEVERAL, row.at, row.text)
            continue
        try:
            far = add_device(into, "", row.mac, row.at)
            port = plain_capture_name(row.port, row.at.line)
            into.wire(
                CapturedLink(CapturedEnd(here, (port,)), CapturedEnd(far, (), row.mac), row.at, learned=True)
            )
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _why_aside(row: _Row) -> str:
    """Why a row says nothing of a cable, "" where it does."""
    if not row.mac:
        return NO_ANSWER
    if int(row.mac[:2], 16) & 1:
        return GROUP_ADDRESS
    if row.words & OWN:
        return OWN_ADDRESS
    return NO_CABLE if not row.port or NO_PORT.fullmatch(row.port) else ""


def _rows_of_text(file: SourceFile, into: Observed) -> Iterator[_Row]:
    """The rows of a table of text: the interface follows ``dev`` or ``on``, or is the last word that is
    one."""
    _judge_totals(file, into)
    for number, line in enumerate(file.text.split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue  # a comment, or the command behind the prompt of root
        found = MAC.search(line)
        at = CaptureLine(file, number)
        if found is None:
            if SILENT.search(line):
                yield _Row("", "", frozenset(), at, line.strip()[:120])
            elif HEADINGS.fullmatch(line.strip()) is None:
                into.fault(
                    file,
                    number,
                    f"this line has no address: {line.strip()[:60]!r}",
                    "capture the command alone",
                )
            continue
        named = NAMED.search(line)
        words = [w.strip(",") for w in (line[: found.start()] + " " + line[found.end() :]).split()]
        ports = [named[1]] if named else [w for w in words if INTERFACE.fullmatch(w)]
        yield _Row(
            hexadecimal_digits(found[0]),
            _port_of_words(ports),
            frozenset(w.lower() for w in words),
            at,
            line.strip()[:120],
        )


def _judge_totals(file: SourceFile, into: Observed) -> None:
    """Report the totals of tables that are more than their rows, from each heading on."""
    rows = 0
    for number, line in enumerate(file.text.split("\n"), 1):
        if is_judged_total(line, rows, CaptureLine(file, number), into) or TABLE.search(line):
            rows = 0
        elif not line.lstrip().startswith("#"):
            rows += MAC.search(line) is not None


def _port_of_words(ports: list[str]) -> str:
    """The interface among words that may be one: a port rather than a VLAN or a bridge."""
    real = [p for p in ports if NO_PORT.fullmatch(p) is None]
    port = (real or ports or [""])[-1]
    return re.sub(r"^(?:Et|Eth)(?=\d)", "Ethernet", port)


def _rows_of_json(file: SourceFile, into: Observed) -> Iterator[_Row]:
    """The rows of a table as JSON, in any of the known forms."""
    whole = json_of_capture(file)
    lines = Lines(file)
    for one in _entries_of_json(whole):
        mac = next(
            (json_text(one.get(k)) for k in ("mac", "macAddress", "hwAddress", "lladdr") if one.get(k)), ""
        )
        port = next((json_text(one.get(k)) for k in ("ifname", "interface", "port", "dev") if one.get(k)), "")
        at = lines.place(mac) if mac else lines.place(json_text(one.get("dst")))
        digits = hexadecimal_digits(mac)
        if mac and not digits:
            into.fault(file, at.line, f"{mac[:40]!r} is not a MAC address", "capture the command alone")
            continue
        said = [one.get(k) for k in ("entryType", "entry-type", "state", "type")]
        flags = one.get("flags")
        words = [*(str(s) for s in said if isinstance(s, str)), *(flags if isinstance(flags, list) else [])]
        text = f"{mac or json_text(one.get('dst'))} at {port or 'no interface'}"
        chosen = _port_of_words(re.split(r",\s*", port))
        yield _Row(digits, chosen, frozenset(str(w).lower() for w in words), at, text)


def _entries_of_json(whole: Any) -> Iterator[Mapping[str, Any]]:
    """The entries of a table as JSON. Raises Malformed where there is none in a known form."""
    rows: Any = whole
    if isinstance(whole, dict):
        table = whole.get("unicastTable")
        if isinstance(table, dict):
            rows = table.get("tableEntries")
        elif "ipV4Neighbors" in whole:
            rows = whole["ipV4Neighbors"]
        elif any(str(k).startswith("FDB_TABLE") for k in whole):
            rows = [_entry_of_sonic(k, v) for k, v in whole.items() if str(k).startswith("FDB_TABLE")]
        else:
            rows = list(whole.values())
    if not isinstance(rows, list) or not all(isinstance(r, dict) for r in rows):
        raise Malformed(1, "the capture has no list of addresses", "save the output of the command alone")
    yield from rows


def _entry_of_sonic(key: str, value: Any) -> dict[str, Any]:
    """An entry of SONiC's FDB_TABLE, whose key ends in the address:
    ``FDB_TABLE:Vlan10:7c-fe-90-80-9f-05``."""
    facts = value.get("value", value) if isinstance(value, dict) else {}
    return {
        "mac": re.split(r"[:|](?=[^:|]*(?:[:-][^:|]*){5}$)", key)[-1],
        **(facts if isinstance(facts, dict) else {}),
    }
