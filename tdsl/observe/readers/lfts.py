"""Forwarding tables of InfiniBand switches: what ``dump_lfts`` prints, and ``opensm-lfts.dump``, which OpenSM
writes into its ``dump_files_dir``. A block a switch, ``Unicast lids [0x0-0xe] of switch … guid 0x… (name):``,
and a row a LID: ``0x0007 003 : (Channel Adapter portguid 0x…: 'node4 nic')``. Sources: dump_lfts(8),
ibroute(8); OpenSM's osm_dump.c writes ``#`` for the colon and no brackets."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.record import (
    CapturedRoute,
    CapturedTable,
    CaptureLine,
    Malformed,
    Observed,
    hexadecimal_digits,
    plain_capture_name,
)

FORMAT = "lfts"
OPTION = "routes"
HEAD = re.compile(
    r"Unicast lids \[[^\]\n]*+\] of switch [^\n]*?guid 0x([0-9A-Fa-f]{1,16}) \('?([^\n]*?)'?\):"
)
ROW = re.compile(
    r"0x([0-9A-Fa-f]{1,4})\s++(\d{1,3})\s++[:#]\s++\(?(Switch|Channel Adapter|Router) portguid "
    r"0x([0-9A-Fa-f]{1,16}): '([^\n]*)'\)?"
)
NO_TARGET = re.compile(r"0x[0-9A-Fa-f]{1,4}\s++(?:\d{1,3}|UNREACHABLE)\b.*")
IGNORED = re.compile(
    r"(?:Lid\s+Out\s+Destination|Port\s+Info|\d+ (?:valid )?lids dumped|\*\*\* WARNING \*\*\*.*+)\s*+"
)
KINDS = {"Switch": "switch", "Channel Adapter": "adapter", "Router": "router"}
NOTHING_THERE = "the table does not say what has this LID"


def recognises(head: str) -> bool:
    """Whether a text begins as such tables."""
    return "Unicast lids [" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add a table for each switch."""
    node, place = "", CaptureLine(file, 1)
    rows: list[CapturedRoute] = []
    for number, raw in enumerate(file.text.split("\n"), 1):
        text = raw.strip()
        if not text or IGNORED.fullmatch(text):
            continue
        at = CaptureLine(file, number)
        try:
            if head := HEAD.fullmatch(text):
                _add_table(node, rows, place, into)
                guid = hexadecimal_digits(head[1].zfill(16))
                node, place, rows = f"id:{guid}", at, []
                into.node(node, plain_capture_name(head[2], number), "switch", (guid,), 0, at)
            elif row := ROW.fullmatch(text):
                if not node:
                    raise Malformed(
                        number, "a row before the switch that it is of", "capture it again: dump_lfts"
                    )
                name = plain_capture_name(row[5], number)
                rows.append(CapturedRoute(int(row[1], 16), int(row[2]), KINDS[row[3]], name, at))
            elif NO_TARGET.fullmatch(text):
                into.leave_fact_out(NOTHING_THERE, at, text[:80])
            else:
                raise Malformed(
                    number,
                    f"this line is not of dump_lfts: {text[:60]!r}",
                    "capture it again: dump_lfts > lfts.txt",
                )
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
    _add_table(node, rows, place, into)
    if not node:
        into.fault(file, 1, "the capture has no switch", "save the output of `dump_lfts`")


def _add_table(node: str, rows: list[CapturedRoute], at: CaptureLine, into: Observed) -> None:
    if node:
        into.fact(CapturedTable(node, tuple(rows), at))
