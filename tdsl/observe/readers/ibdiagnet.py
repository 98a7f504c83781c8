"""``ibdiagnet2.db_csv``, which ibdiagnet writes into its folder: tables between ``START_NAME`` and
``END_NAME``.

Source: ibutils2, ibdm (``IBLinkSpeed``, ``IBLinkWidth``) for the numbers of speed and width. Columns are
found by their names, since releases add some.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

from tdsl.findings.source import SourceFile
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    count_in_capture,
    hexadecimal_digits,
    plain_capture_name,
)
from tdsl.observe.speeds import infiniband_rate

FORMAT = "ibdiagnet"
OPTION = "ibdiagnet"
MARK = re.compile(r"(START|END)_([A-Z0-9_]+)")
KINDS = {"1": "adapter", "2": "switch", "3": "router"}
SPEEDS = {
    1: "SDR",
    2: "DDR",
    4: "QDR",
    1 << 8: "FDR",
    2 << 8: "EDR",
    4 << 8: "HDR",
    8 << 8: "NDR",
    1 << 16: "FDR10",
    1 << 24: "XDR",
}
WIDTHS = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
NEEDED = {
    "NODES": ("nodedesc", "nodetype", "nodeguid"),
    "PORTS": ("nodeguid", "portnum"),
    "LINKS": ("nodeguid1", "portnum1", "nodeguid2", "portnum2"),
}


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return re.search(r"^START_[A-Z0-9_]+\s*$", head, re.MULTILINE) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add nodes and links, with the rates that the table of ports gives."""
    _Tables(file, into).read()


class _Tables:
    """Reads one file line by line."""

    def __init__(self, file: SourceFile, into: Observed) -> None:
        self.file, self.into = file, into
        self.table = ""
        self.heading: list[str] = []
        self.unread: set[str] = set()  # tables whose heading lacks a column
        self.active: dict[tuple[str, str], tuple[int, int]] = {}  # rate and lanes of a port
        self.links: list[tuple[CapturedEnd, CapturedEnd, CaptureLine]] = []
        self.known: set[str] = set()

    def read(self) -> None:
        """All lines; then the links, since their rates may come later."""
        met: set[str] = set()
        for at, raw in enumerate(self.file.text.split("\n"), 1):
            text = raw.strip()
            mark = MARK.fullmatch(text)
            if mark is not None:
                self._border(mark[1], mark[2], at)
                met.add(mark[2])
            elif text and self.table in NEEDED and self.table not in self.unread:
                try:
                    self._row(text, at)
                except Malformed as wrong:
                    self.into.fault(self.file, wrong.line, wrong.message, wrong.help)
        last = len(self.file.line_starts)
        if self.table:
            self._incomplete(last, f"the capture ends inside the table {self.table}")
        for name in ("NODES", "LINKS"):
            if name not in met:
                self._incomplete(last, f"the capture has no table {name}")
        self._add_links()
        self.into.whole = True

    def _add_links(self) -> None:
        """The links between known nodes, at the lower rate of their two ports."""
        for a, b, place in self.links:
            for end in (a, b):
                if end.node not in self.known:
                    self._incomplete(place.line, f"the capture has no node {end.node[3:]}")
            if a.node in self.known and b.node in self.known:
                both = [self.active[e.node, e.port[0]] for e in (a, b) if (e.node, e.port[0]) in self.active]
                self.into.wire(CapturedLink(a, b, place, *min(both, default=(0, 0))))

    def _incomplete(self, line: int, message: str) -> None:
        """A finding that the capture lacks something."""
        self.into.fault(self.file, line, message, "run ibdiagnet again", "E0602")

    def _border(self, side: str, name: str, at: int) -> None:
        if (side == "START") == bool(self.table) or (side == "END" and name != self.table):
            self.into.fault(
                self.file,
                at,
                f"{side}_{name} inside the table {self.table or 'of nothing'}",
                "run ibdiagnet again",
            )
        self.table = name if side == "START" else ""
        self.heading = []

    def _row(self, text: str, at: int) -> None:
        try:
            (cells,) = csv.reader([text], skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            raise Malformed(at, "this line is not CSV", "run ibdiagnet again") from None
        if not self.heading:
            self.heading = [c.strip().lower() for c in cells]
            for name in NEEDED[self.table]:
                if name not in self.heading:
                    self.unread.add(self.table)
                    raise Malformed(at, f"the table {self.table} has no column {name}", "run ibdiagnet again")
            return
        if len(cells) < len(self.heading):
            raise Malformed(
                at,
                f"a row of {len(cells)} cells in a table of {len(self.heading)} columns",
                "run ibdiagnet again",
            )
        row = dict(zip(self.heading, (c.strip() for c in cells), strict=False))
        getattr(self, f"_{self.table.lower()}")(row, CaptureLine(self.file, at))

    def _nodes(self, row: Mapping[str, str], at: CaptureLine) -> None:
        guid = _guid_of_row(row.get("nodeguid", ""), at)
        key = f"id:{guid}"
        ports = count_in_capture(row.get("numports") or "0", at.line, "the number of ports", 4096)
        kind = KINDS.get(row.get("nodetype", ""), "")
        self.into.node(key, plain_capture_name(row.get("nodedesc", ""), at.line), kind, (guid,), ports, at)
        self.into.heard.add(key)
        self.known.add(key)
        port = hexadecimal_digits(row.get("portguid", ""))
        if kind == "adapter" and port and port != guid:
            self.into.alias[f"id:{port}"] = key

    def _ports(self, row: Mapping[str, str], at: CaptureLine) -> None:
        speed, width = (
            _speed_or_width_bits(row.get(name, ""), at) for name in ("linkspeedactv", "linkwidthactv")
        )
        lanes = WIDTHS.get(width, 0)
        found = infiniband_rate(lanes, SPEEDS.get(speed, ""))
        if found:
            port = str(count_in_capture(row.get("portnum", ""), at.line, "the port", 4096))
            self.active[f"id:{_guid_of_row(row.get('nodeguid', ''), at)}", port] = found, lanes

    def _links(self, row: Mapping[str, str], at: CaptureLine) -> None:
        ends = [
            CapturedEnd(
                f"id:{_guid_of_row(row[f'nodeguid{i}'], at)}",
                (str(count_in_capture(row[f"portnum{i}"], at.line, "the port", 4096)),),
            )
            for i in (1, 2)
        ]
        self.links.append((ends[0], ends[1], at))


def _guid_of_row(text: str, at: CaptureLine) -> str:
    found = hexadecimal_digits(text)
    if len(found) != 16:
        raise Malformed(at.line, f"{text[:40]!r} is not a GUID", "run ibdiagnet again")
    return found


def _speed_or_width_bits(text: str, at: CaptureLine) -> int:
    """A number of ibdiagnet, decimal or hexadecimal; 0 where it is not known (N/A)."""
    if not text or not re.fullmatch(r"0x[0-9a-fA-F]+|\d+", text):
        return 0
    return count_in_capture(text, at.line, "a speed or width", 1 << 32, 16 if text.startswith("0x") else 10)
