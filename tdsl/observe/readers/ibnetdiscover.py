"""What ``ibnetdiscover`` prints: blocks of nodes with their ports, or with ``-p`` a line a port. Source:
ibnetdiscover(8)."""

from __future__ import annotations

import re

from tdsl.findings.source import SourceFile
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    LooseLink,
    Malformed,
    Observed,
    SidesListed,
    count_in_capture,
    hexadecimal_digits,
    key_of_infiniband_node,
    plain_capture_name,
)
from tdsl.observe.speeds import infiniband_rate, rate_of_width_word

FORMAT = "ibnetdiscover"
OPTION = "ibnetdiscover"

KINDS = {"Switch": "switch", "Ca": "adapter", "Hca": "adapter", "Rt": "router"}
SHORT = {"SW": "switch", "CA": "adapter", "RT": "router"}
HEAD = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid|hcaguid)=(0x[0-9A-Fa-f]{1,16})"
    r"(?:\(([0-9A-Fa-f]{1,16})\))?\s*"
)
NODE = re.compile(r'(Switch|Ca|Hca|Rt)\s*(\d{1,6})\s*"([^"]{1,128})"\s*#\s*"([^"]*)"(.*)')
PORT = re.compile(
    r'\[(\d{1,6})\](?:\[ext \d+\])?(?:\(([0-9A-Fa-f]{1,16})\))?\s*"([^"]{1,128})"\[(\d{1,6})\](?:\[ext '
    r"\d+\])?"
    r"(?:\(([0-9A-Fa-f]{1,16})\))?(?:\s*#(.*))?"
)
LINE = re.compile(r"(SW|CA|RT)\s+(\d+)\s+(\d+)\s+(0x[0-9A-Fa-f]{16})\s+(\d{1,2})x\s++(\S++)(.*)")
FAR = re.compile(r"\s+- (SW|CA|RT)\s+(\d+)\s+(\d+)\s+(0x[0-9A-Fa-f]{16})\s+\( (.*) \)\s*")
SPEED = re.compile(r"\b(\d{1,2}x[A-Z]{3}(?:10)?)\b")
CHASSIS = re.compile(r"(?:Non-)?Chassis\b.*")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return any(HEAD.match(s) or NODE.match(s) or LINE.match(s) for s in head.split("\n")[:200])


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add nodes and links; a link that both of its blocks list is added once."""
    _Blocks(file, into).read()


class _Blocks:
    """Reads one capture line by line."""

    def __init__(self, file: SourceFile, into: Observed) -> None:
        self.file, self.into = file, into
        self.here = ""  # node of the block
        self.guid = ""
        self.keys: dict[str, str] = {}  # node by the identifier that blocks use
        self.known: dict[tuple[str, str], int] = {}  # place of a port's link among those that wait
        self.sides = SidesListed()  # of the report
        self.pending: dict[str, int] = {}  # identifiers that ports name, with the first line that does
        self.waiting: list[tuple[str, str, str, str, CaptureLine, int, int, str]] = []

    def read(self) -> None:
        """All lines; a line that is not understood is a finding, and the next is read."""
        into = self.into
        before = len(into.nodes)
        for at, raw in enumerate(self.file.text.removesuffix("\n").split("\n"), 1):
            text = raw.strip()
            if not text or text.startswith("#"):
                self.here = "" if not text else self.here
                continue
            try:
                self.line(text, at)
            except Malformed as wrong:
                into.fault(self.file, wrong.line, wrong.message, wrong.help)
        self.join()
        if len(into.nodes) == before and not self.waiting:
            into.fault(self.file, 1, "the capture has no node", "save the output of `ibnetdiscover`")
        into.whole = True
        into.open_block = (self.here, self.current) if self.here else None

    def line(self, text: str, at: int) -> None:
        """One line that is neither blank nor a comment."""
        head = HEAD.fullmatch(text)
        if head:
            if head[1] in ("switchguid", "caguid", "rtguid", "hcaguid"):
                self.guid = f"{int(head[2], 16):016x}"
            return
        node = NODE.fullmatch(text)
        if node:
            self.node(node, at)
            return
        port = PORT.fullmatch(text)
        if port:
            self.port(port, at)
            return
        line = LINE.fullmatch(text)
        if line:
            self.report(line, at)
            return
        if CHASSIS.fullmatch(text):
            return
        raise Malformed(
            at,
            f"this line is not of ibnetdiscover: {text[:60]!r}",
            "capture it again: ibnetdiscover > fabric.topo",
        )

    def node(self, found: re.Match[str], at: int) -> None:
        """The line that opens a block."""
        kind, count, name, description, _ = found.groups()
        ids = tuple(filter(None, (self.guid or hexadecimal_digits(name[2:]),)))
        key = f"id:{ids[0]}" if ids else f"node:{plain_capture_name(name, at)}"
        self.guid = ""
        if name in self.keys:
            raise Malformed(at, f"the node {name} is described twice", "give one capture of each subnet")
        self.keys[name] = self.here = key
        self.current = name
        wrong, words, ports = None, "", 0
        try:
            words = plain_capture_name(description.strip(), at)
            ports = count_in_capture(count, at, "the number of ports", 4096)
        except Malformed as fault:  # the lines of its ports follow, and are of this node
            wrong = fault
        self.into.node(key, words, KINDS[kind], ids, ports, CaptureLine(self.file, at))
        self.into.heard.add(key)
        if wrong is not None:
            raise wrong

    def port(self, found: re.Match[str], at: int) -> None:
        """A port that is cabled."""
        mine, guid, far, there, far_guid, rest = found.groups()
        if not self.here and not self.keys and self.into.open_block is not None:
            self.here, self.current = self.into.open_block  # this file goes on where the last one was cut
            self.keys[self.current] = self.here
        if not self.here:
            raise Malformed(
                at,
                "a port before the node that it belongs to",
                "the capture is cut or mixed: capture it again",
            )
        node = self.into.nodes[self.here]
        if node.ports and not 0 < int(mine) <= node.ports:
            raise Malformed(at, f"port {mine} of a device that has {node.ports}")
        self.pending.setdefault(far, at)
        words = SPEED.findall(rest or "")
        speed, lanes = rate_of_width_word(words[-1]) if words else (0, 0)
        if guid and f"id:{int(guid, 16):016x}" != self.here:
            self.into.alias[f"id:{int(guid, 16):016x}"] = self.here
        if self.is_known_from_other_end((far, there, self.current, mine), speed, lanes, at):
            return
        self.known[self.current, mine] = self.known[far, there] = len(self.waiting)
        ids = f"{int(guid, 16):016x}" if guid else "", f"{int(far_guid, 16):016x}" if far_guid else ""
        self.waiting.append(
            (self.current, mine, far, there, CaptureLine(self.file, at), speed, lanes, " ".join(ids))
        )

    def is_known_from_other_end(
        self, seen: tuple[str, str, str, str], speed: int, lanes: int, at: int
    ) -> bool:
        """Whether the other end of a link was read already; ``seen`` is the link from there: its node and
        port, this node and port. Of the rates that both ends report the lower one is kept."""
        before = self.known.get(seen[2:])
        if before is None or self.waiting[before][:4] != seen:
            return False
        known = self.waiting[before]
        if 0 < speed < known[5]:  # the two ends report different rates
            self.waiting[before] = (*known[:4], CaptureLine(self.file, at), speed, lanes, known[7])
        return True

    def join(self) -> None:
        """Links, once all nodes are known. A node that no block describes means that the capture is cut."""
        into = self.into
        for name, at in self.pending.items():
            if name not in self.keys and not into.parts_follow:
                into.fault_of_missing_block(CaptureLine(self.file, at), name)
        for mine, port, far, there, place, speed, lanes, ids in self.waiting:
            own, other = ids.split(" ")
            known = [self.keys.get(name) or key_of_infiniband_node(name) for name in (mine, far)]
            link = CapturedLink(
                CapturedEnd(known[0], (port,), own),
                CapturedEnd(known[1], (there,), other),
                place,
                speed,
                lanes,
            )
            missing = tuple((name, place) for name in (mine, far) if name not in self.keys)
            if not missing:
                into.wire(link)
            elif into.parts_follow:
                into.loose.append(LooseLink(link, missing))

    def report(self, found: re.Match[str], at: int) -> None:
        """A line of the ports report. The names of both sides are at its end."""
        kind, _, port, guid, width, speed, rest = found.groups()
        key, ids = f"id:{int(guid, 16):016x}", (f"{int(guid, 16):016x}",)
        far = FAR.fullmatch(rest)
        names = far[5] if far else rest.strip()
        here, there = _names_of_both_ends(names) if far else (names.strip("' "), "")
        self.into.node(key, plain_capture_name(here, at), SHORT[kind], ids, 0, CaptureLine(self.file, at))
        self.into.heard.add(key)
        if far is None:
            return
        other = f"id:{int(far[4], 16):016x}"
        self.into.node(
            other, plain_capture_name(there, at), SHORT[far[1]], (other[3:],), 0, CaptureLine(self.file, at)
        )
        if self.sides.is_other_side((key, port), (other, far[3])):
            return
        lanes = int(width)
        self.into.wire(
            CapturedLink(
                CapturedEnd(key, (port,)),
                CapturedEnd(other, (far[3],)),
                CaptureLine(self.file, at),
                infiniband_rate(lanes, speed),
                lanes,
            )
        )


def _names_of_both_ends(text: str) -> tuple[str, str]:
    """The names of both ends: ``'leaf 1' - 'host 2 mlx5_0'``, quoted or not."""
    quoted = re.fullmatch(r"'(.*)' - '(.*)'", text)
    a, b = (quoted[1], quoted[2]) if quoted else text.partition(" - ")[::2]
    return a.strip(), b.strip()
