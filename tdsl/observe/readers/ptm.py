"""PTM's ``topology.dot``: ``"leaf1":"swp1" -- "spine1":"swp3"``, an edge a link. Source: Cumulus Linux,
Prescriptive Topology Manager."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)

FORMAT = "ptm"
OPTION = "lldp"
NAME = r'(?:"([^"]*+)"|((?:[\w./]|-(?!-))++))'
EDGE = re.compile(rf"\s*+{NAME}\s*+:\s*+{NAME}\s*+--\s*+{NAME}\s*+:\s*+{NAME}\s*+(?:\[.*\])?\s*+;?\s*+")
OTHER = re.compile(
    r'\s*+(?:(?:strict\s++)?graph\b.*+|\{|\}|\w++\s*+=.*+|"[^"]*+"\s*+(?:\[.*\])?;?'
    r"|(?:node|edge|graph)\s*+\[.*+)?\s*+"
)


def recognises(head: str) -> bool:
    """Whether a text begins as such a file."""
    return re.search(r"^[^\S\n]*(strict\s+)?graph\b", head, re.MULTILINE) is not None and "--" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the edges."""
    lines = file.text.split("\n")
    for at, raw in enumerate(lines, 1):
        text = raw.split("#", 1)[0] if raw.lstrip().startswith("#") else raw
        found = EDGE.fullmatch(text)
        try:
            if found is None:
                if OTHER.fullmatch(text) is None and not text.lstrip().startswith("//"):
                    raise Malformed(
                        at,
                        f"this line is not an edge: {text.strip()[:60]!r}",
                        '"leaf1":"swp1" -- "spine1":"swp3";',
                    )
                continue
            a, p, b, q = (found[i] or found[i + 1] or "" for i in (1, 3, 5, 7))
            place = CaptureLine(file, at)
            ends = [
                CapturedEnd(add_device(into, n, "", place, heard=True), (plain_capture_name(x, at),))
                for n, x in ((a, p), (b, q))
            ]
            into.wire(CapturedLink(ends[0], ends[1], place))
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
    if "{" in file.text and not any(line.rstrip().endswith("}") for line in lines):
        into.fault(file, len(lines), "the graph has no end `}`", "the file is cut: copy it again", "E0602")
