"""The table of assets as an audit knows it: GUIDs, MAC addresses and serial numbers of devices and of their
ports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field

from tdsl.fabric.assets import COMMENTED, WRITTEN, Assets, read_assets_of_audit
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.observe.match import DesignNames, Identifiers
from tdsl.observe.record import CaptureLine, hexadecimal_digits
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

MOST_SAID = 4
"""Rows of one kind that are reported one by one."""
NO_DEVICE = "the design has no such device"
NO_PORT = "the device has no such port; its identifiers are those of the device"
EMPTY = "the row has no identifier"
NO_MAC = "its `mac` is not a MAC address"


def read_identifiers(fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> Identifiers:
    """All identifiers of a table; rows and GUIDs that are not understood are findings, and so is an
    identifier that two devices or two ports have. Rows that say nothing of this design are notes."""
    owner: dict[str, tuple[int, int]] = {}
    assets = read_assets_of_audit(fabric, file, diagnostics)
    for (device, local), guid in assets.node.items():
        known = owner.get(guid)
        owner[guid] = (device, local if known is None else -1)  # the adapters of a host may share a node
    for (device, local), guid in assets.port.items():
        owner.setdefault(guid, (device, local))
    _add_written_identifiers(DesignNames(fabric), assets, owner, file, diagnostics)
    return Identifiers(owner, tuple(d for d in diagnostics if d.severity is Severity.NOTE))


def _add_written_identifiers(
    names: DesignNames,
    assets: Assets,
    owner: dict[str, tuple[int, int]],
    file: SourceFile,
    diagnostics: Diagnostics,
) -> None:
    """Add the identifiers that are taken as they are written, and tell what of the table is not used."""
    aside: dict[str, list[tuple[int, str]]] = defaultdict(list)
    identifiers = _WrittenIdentifiers(names, owner, frozenset(owner), file, diagnostics)
    faulty = {d.span.begin[0] for d in diagnostics if d.span is not None}  # rows with a fault
    for line, cells in zip(assets.lines, assets.rows, strict=True):
        called, port = cells.get("device", ""), cells.get("port", "")
        device = names.device(called)
        if device < 0:
            if line not in faulty:
                aside[NO_DEVICE].append((line, called))
            continue
        written = [cells[c] for c in WRITTEN if cells.get(c)]
        if cells.get("mac") and not hexadecimal_digits(cells["mac"]) and line not in faulty:
            written.remove(cells["mac"])
            aside[NO_MAC].append((line, f"{called} {cells['mac']}"))
        elif not written and not any(cells.get(c) for c in ("node_guid", "port_guid")):
            aside[EMPTY].append((line, called))
        found = names.local(device, (port,)) if port else ()
        if port and not found and written:
            aside[NO_PORT].append((line, f"{called} {port}"))
        identifiers.add_identifiers(written, (device, found[0] if found else -1), line)
    if assets.commented:
        aside[COMMENTED] += assets.commented
    _note_rows_set_aside(aside, len(assets.rows) + len(assets.commented), file, diagnostics)


@dataclass(slots=True)
class _WrittenIdentifiers:
    """The identifiers of a table that are taken as they are written, added to their ``owner``; ``guids`` are
    those that are known otherwise."""

    names: DesignNames
    owner: dict[str, tuple[int, int]]
    guids: frozenset[str]
    file: SourceFile
    diagnostics: Diagnostics
    first_lines: dict[str, int] = field(default_factory=dict)  # the line of each identifier

    def add_identifiers(self, texts: Iterable[str], place: tuple[int, int], line: int) -> None:
        """Add all identifiers of a row."""
        for text in texts:
            self.add_identifier(text, place, line)

    def add_identifier(self, text: str, place: tuple[int, int], line: int) -> None:
        """Add an identifier of a device and a port (-1 for the device itself); a finding where it is that of
        others."""
        key = hexadecimal_digits(text) or text
        if key in self.guids:
            return
        known = self.owner.setdefault(key, place)
        first = self.first_lines.setdefault(key, line)
        if known[0] != place[0] or (known != place and -1 not in (known[1], place[1])):
            whose = self.names.fabric.device_name(known[0])
            self.diagnostics.add(
                "E0534",
                CaptureLine(self.file, line).span,
                f"{text} is on line {first} already, for {whose}",
                help="an identifier belongs to one device, and to one port of it: correct one of the rows",
            )
        elif known[1] < 0 <= place[1]:
            self.owner[key] = place


def _note_rows_set_aside(
    aside: Mapping[str, list[tuple[int, str]]], count: int, file: SourceFile, diagnostics: Diagnostics
) -> None:
    """Report the rows of a table that are not used, of ``count`` rows: by reason their lines and texts."""
    for why, rows in sorted(aside.items()):
        said = ", ".join(f"line {line}: {text or 'no name'}" for line, text in rows[:MOST_SAID])
        more = f", and {len(rows) - MOST_SAID:,} more" if len(rows) > MOST_SAID else ""
        diagnostics.add(
            "E0611",
            CaptureLine(file, rows[0][0]).span,
            f"{counted_noun(len(rows), 'row')} of {count:,} of the table of assets set aside: "
            f"{why}: {said}{more}",
            severity=Severity.NOTE,
        )
