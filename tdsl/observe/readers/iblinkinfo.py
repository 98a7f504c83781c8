"""What ``iblinkinfo`` prints: a block a device, a line a port, speeds by lane. Source: iblinkinfo(8)."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    SidesListed,
    count_in_capture,
    plain_capture_name,
)
from tdsl.observe.speeds import infiniband_rate, speed_of_signalling_rate

FORMAT = "iblinkinfo"
OPTION = "iblinkinfo"

HEAD = re.compile(r"(Switch|CA|Router):\s*+(?:0x([0-9A-Fa-f]{16})\s++)?(.*):")
NEAR = re.compile(r"(?:0x([0-9A-Fa-f]{16})(?:\s++|\Z))?(.*)")
STATE = re.compile(r"\s*+(?:(\d{1,2})X\s++([\d.]++) Gbps\s++)?(\w*+)\s*+/\s*+\w*+\s*+")
FAR = re.compile(
    r"\s*+(?:0x([0-9A-Fa-f]{16}))?\s*+(\d*+)\s*+(\d*+)\[\s*+\d*+\s*+\]\s*+\"([^\"]*+)\"\s*+\((.*)\)"
)
KINDS = {"Switch": "switch", "CA": "adapter", "Router": "router"}
COULD = re.compile(r"Could be ([\d.]+) Gbps")
WIDER = re.compile(r"Could be (\d{1,2})X")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return "==>" in head and "==(" in head


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add nodes and links. Where a line does not give the GUID of the far end (``-l`` does), its LID tells
    which device it is."""
    _Lines(file, into).read()


class _Lines:
    """Reads one capture line by line."""

    def __init__(self, file: SourceFile, into: Observed) -> None:
        self.file, self.into = file, into
        self.head: tuple[str, str, str] = "", "", ""  # kind, GUID and description of the block
        self.sides = SidesListed()
        self.at_lid: dict[str, str] = {}
        self.blocks: dict[str, list[set[str]]] = {}  # LIDs of each block of a name, where no GUID is given
        self.block: set[str] = set()
        self.waiting: list[tuple[str, str, str, str, str, str, CaptureLine, int, int, int]] = []

    def read(self) -> None:
        """All lines; then the links, since the far end may come later."""
        for at, raw in enumerate(self.file.text.split("\n"), 1):
            text = raw.strip()
            if not text or text.startswith("#"):
                continue
            try:
                head = HEAD.fullmatch(text)
                if head:
                    self.head = KINDS[head[1]], head[2] or "", plain_capture_name(head[3].strip(), at)
                    self.block = set()
                else:
                    self.line(text, CaptureLine(self.file, at))
            except Malformed as wrong:
                self.into.fault(self.file, wrong.line, wrong.message, wrong.help)
        if not self.at_lid:
            self.into.fault(self.file, 1, "the capture has no device", "save the output of `iblinkinfo -l`")
        for here, port, guid, lid, far, far_port, place, rate_, lanes, best in self.waiting:
            other = self.at_lid.get(lid, "") if not guid else ""
            other = other or self.node("", guid, far, place)
            if far_port and not self.sides.is_other_side((here, port), (other, far_port)):
                self.into.wire(
                    CapturedLink(
                        CapturedEnd(here, (port,)), CapturedEnd(other, (far_port,)), place, rate_, lanes, best
                    )
                )
        self.into.whole = True

    def line(self, text: str, place: CaptureLine) -> None:
        """A port."""
        near, _, rest = text.partition("==(")
        between, _, there = rest.partition(")==>")
        ours, link, theirs = _near_end(near.rstrip()), STATE.fullmatch(between), FAR.fullmatch(there)
        if ours is None or link is None or theirs is None:
            help = "capture it again: iblinkinfo -l > links.txt"
            raise Malformed(place.line, f"this line is not of iblinkinfo: {text[:60]!r}", help)
        guid, name, lid, port = ours
        width, speed, state = link.groups()
        far_guid, far_lid, far_port, far, notes = theirs.groups()
        here = self.node_of_line(guid, name, lid, place)
        self.into.heard.add(here)
        if lid:
            self.at_lid[lid] = here
        if state != "Active" and not far.strip():
            return
        lanes = count_in_capture(width or "0", place.line, "the width", 64)
        speed_name = speed_of_signalling_rate(speed or "")
        rates = infiniband_rate(lanes, speed_name), lanes, _possible_rate(notes, lanes, speed_name)
        far_name = plain_capture_name(far.strip(), place.line)
        self.waiting.append((here, port, far_guid or "", far_lid, far_name, far_port, place, *rates))

    def node_of_line(self, guid: str | None, name: str | None, lid: str, place: CaptureLine) -> str:
        """The node whose port a line is, by what the line says of it, else by the head of its block."""
        kind, head_guid, description = self.head
        if not guid and not description:
            raise Malformed(
                place.line,
                "a port before the device that it belongs to",
                "the capture is cut: capture it again",
            )
        named = name.strip() if name else description
        guid = guid or head_guid
        return self.node(kind, guid, named, place, "" if guid else self.clone(named, lid))

    def clone(self, name: str, lid: str) -> str:
        """What tells a block from others of its name where no GUID does: one of its LIDs, "" for the
        first."""
        known = self.blocks.setdefault(name, [])
        if not any(b is self.block for b in known):
            self.block = next((b for b in known if lid and lid in b), self.block)
            if not any(b is self.block for b in known):
                known.append(self.block)
        if lid:
            self.block.add(lid)
        return "" if self.block is known[0] or not self.block else f" lid {min(self.block, key=int)}"

    def node(self, kind: str, guid: str | None, description: str, at: CaptureLine, clone: str = "") -> str:
        """The node of a GUID or, without one, of a name."""
        name = plain_capture_name(description, at.line)
        ids = (guid.lower(),) if guid else ()
        key = f"id:{ids[0]}" if ids else f"node:{name}{clone}"
        self.into.node(key, name, kind, ids, 0, at)
        return key


def _near_end(text: str) -> tuple[str, str, str, str] | None:
    """GUID, name, LID and port of the end that a line begins with, each but the port "" where it is not
    there."""
    head, _, external = text.rpartition("[")
    words = head.split(None) and head.rsplit(None, 2)
    if not words or not words[-1].isdecimal() or not (external[:-1].strip() or "0").isdecimal():
        return None
    lid = words[-2] if len(words) > 1 and words[-2].isdecimal() else ""
    before = head.rstrip().removesuffix(words[-1]).rstrip().removesuffix(lid).strip()
    found = NEAR.fullmatch(before)
    if found is None or not external.endswith("]"):
        return None
    name = found[2].removeprefix('"').removesuffix('"')
    return None if '"' in name else (found[1] or "", name, lid, words[-1])


def _possible_rate(notes: str, lanes: int, speed: str) -> int:
    """The rate that a link could have by the notes at its line, 0 where there is no such note."""
    faster, wider = COULD.search(notes), WIDER.search(notes)
    if not faster and not wider:
        return 0
    best = speed_of_signalling_rate(faster[1]) if faster else speed
    return infiniband_rate(int(wider[1]) if wider else lanes, best)
