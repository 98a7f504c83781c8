"""What captures say, in one form for all formats: nodes, links between their ports, and where each was
read."""

from __future__ import annotations

import re
from dataclasses import field
from typing import NamedTuple

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import HIDDEN, SourceFile, SourceSpan
from tdsl.system.lazy_dataclass import dataclass

LONGEST_NAME = 512
MOST_NODES = 1 << 21
MOST_LINKS = 1 << 23
MOST_FAULTS = 20
"""Faults of one capture that are reported; the rest is counted."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class Malformed(Exception):
    """A capture that cannot be read further: the line, what is wrong, and what to do."""

    def __init__(self, line: int, message: str, help: str = "") -> None:
        super().__init__(message)
        self.line, self.message, self.help = line, message, help


class CaptureLine(NamedTuple):
    """A line of a capture."""

    file: SourceFile
    line: int

    @property
    def span(self) -> SourceSpan:
        """The text of the line without the blanks around it."""
        start = self.file.line_starts[self.line - 1]
        text = self.file.line(self.line)
        lead = len(text) - len(text.lstrip())
        return SourceSpan(self.file, start + lead, start + max(len(text.rstrip()), lead))

    @property
    def text(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file.name}:{self.line}"


class CapturedNode(NamedTuple):
    """A device as a capture names it: a switch, a host, or one adapter of a host.

    ``key`` is the same in all captures; ``ids`` are GUIDs, MAC addresses and serial numbers as hexadecimal
    digits or text; ``ports`` is their number where the capture says it, else 0.
    """

    key: str
    description: str
    kind: str  # "switch", "adapter", "router", "host" or "" where the capture does not say
    ids: tuple[str, ...]
    ports: int
    at: CaptureLine


class CapturedEnd(NamedTuple):
    """One end of a link: its node, the names of the port from the surest to the least, and the MAC or GUID of
    the port."""

    node: str
    port: tuple[str, ...]
    id: str = ""


class CapturedLink(NamedTuple):
    """A link that was seen. ``rate`` in bit/s and ``lanes`` are 0 where unknown; ``could`` is the rate that
    both ends support."""

    a: CapturedEnd
    b: CapturedEnd
    at: CaptureLine
    rate: int = 0
    lanes: int = 0
    could: int = 0


@dataclass(slots=True)
class Observed:
    """All captures together. ``heard`` are nodes whose own ports were read; ``whole``: a capture is of a
    whole subnet."""

    nodes: dict[str, CapturedNode] = field(default_factory=dict)
    wires: list[CapturedLink] = field(default_factory=list)
    heard: set[str] = field(default_factory=set)
    aside: dict[str, str] = field(default_factory=dict)  # nodes that no design plans, with the reason
    alias: dict[str, str] = field(default_factory=dict)  # GUIDs of ports of adapters, and the node of each
    whole: bool = False
    files: int = 0
    findings: Diagnostics = field(default_factory=Diagnostics)
    faults: dict[int, int] = field(default_factory=dict)  # faults by identity of the file

    def node(
        self, key: str, description: str, kind: str, ids: tuple[str, ...], ports: int, at: CaptureLine
    ) -> None:
        """Add a node, or what one more capture says of it."""
        if len(key) > LONGEST_NAME or len(description) > LONGEST_NAME:
            raise Malformed(at.line, f"a name has more than {LONGEST_NAME} characters")
        old = self.nodes.get(key)
        if old is None:
            if len(self.nodes) >= MOST_NODES:
                raise Malformed(at.line, f"there are more than {MOST_NODES:,} devices")
            self.nodes[key] = CapturedNode(key, description, kind, ids, ports, at)
        else:
            more = tuple(i for i in ids if i not in old.ids)
            self.nodes[key] = old._replace(
                description=old.description or description,
                kind=old.kind or kind,
                ids=old.ids + more,
                ports=max(old.ports, ports),
            )

    def wire(self, wire: CapturedLink) -> None:
        """Add a link."""
        if len(self.wires) >= MOST_LINKS:
            raise Malformed(wire.at.line, f"there are more than {MOST_LINKS:,} links")
        self.wires.append(wire)

    def settle(self) -> None:
        """Once all captures are read: join the nodes that one capture knows by the GUID of a port."""
        for key, node in self.alias.items():
            if key in self.nodes and node in self.nodes and key != node:
                old = self.nodes.pop(key)
                self.node(node, old.description, old.kind, old.ids, old.ports, old.at)
        for i, w in enumerate(self.wires):
            if w.a.node in self.alias or w.b.node in self.alias:
                self.wires[i] = w._replace(a=self._settled(w.a), b=self._settled(w.b))

    def _settled(self, end: CapturedEnd) -> CapturedEnd:
        return end._replace(node=self.alias.get(end.node, end.node))

    def fault(self, file: SourceFile, line: int, message: str, help: str = "", code: str = "E0601") -> None:
        """Report a line that is not understood; of many in one file, the first few."""
        count = self.faults.get(id(file), 0) + 1
        self.faults[id(file)] = count
        if count <= MOST_FAULTS:
            line = min(max(line, 1), len(file.line_starts))
            self.findings.add(code, CaptureLine(file, line).span, message, help=help)

    def note(
        self, code: str, at: CaptureLine, message: str, help: str = "", severity: Severity = Severity.WARNING
    ) -> None:
        """Report what does not keep the capture from being used."""
        self.findings.add(code, at.span, message, help=help, severity=severity)


def plain_capture_name(text: str, line: int) -> str:
    """A name from a capture. Raises Malformed where it holds control characters or hidden ones, or is too
    long."""
    if len(text) > LONGEST_NAME:
        raise Malformed(line, f"a name has more than {LONGEST_NAME} characters")
    if _CONTROL.search(text):
        raise Malformed(
            line,
            f"a name contains a control character: {text[:60]!r}",
            "capture the output again without a terminal",
        )
    if HIDDEN.search(text):
        raise Malformed(
            line,
            f"a name contains a character that is not seen or turns the order of the text: {text[:60]!a}",
            "remove it",
        )
    return text


def hexadecimal_digits(text: str) -> str:
    """A GUID or MAC address as bare digits, "" where it is none: ``0x0002c903000a1b2c``,
    ``08:00:27:4f:33:2d``."""
    digits = re.sub(r"[:.\-\s]", "", text.strip().lower()).removeprefix("0x")
    return digits if re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{16}", digits) else ""


def count_in_capture(text: str, line: int, what: str, most: int = 1 << 20, base: int = 10) -> int:
    """A count in a capture. Raises Malformed where it is not a number or too large."""
    try:
        value = int(text, base) if len(text) <= 20 else -1
    except ValueError:
        value = -1
    if not 0 <= value <= most:
        raise Malformed(line, f"{what} is {text[:40]!r}, which is not a number from 0 to {most:,}")
    return value
