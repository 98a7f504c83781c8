"""What an audit says of captures made by hand: of the captures themselves, of devices, cables and rates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tdsl.findings.source import SourceFile
from tdsl.observe import report
from tdsl.observe.audit import AuditSettings, audit_captures
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
from tests.conftest import Golden
from tests.observe.captures import told
from tests.observe.test_match import F

G = 10**9
FILE = SourceFile("capture.txt", "".join(f"line {n}\n" for n in range(1, 60)))
LINKS = [
    *((f"node{i}", f"nic[{r}]", f"leaf{r}", f"p{i + 1}") for r in range(2) for i in range(4)),
    *((f"leaf{r}", "p5", "spine0", f"p{r + 1}") for r in range(2)),
    ("lone0", "e", "spine0", "p3"),
]
"""What the design plans; a wire is at the line of its number, from 1."""
DEVICES = ("node0", "node1", "node2", "node3", "leaf0", "leaf1", "spine0", "lone0")


def wire(number: int, a: str, p: str, b: str, q: str, **facts: int) -> CapturedLink:
    return CapturedLink(CapturedEnd(a, (p,)), CapturedEnd(b, (q,)), CaptureLine(FILE, number), **facts)


PLANNED = [wire(n, *link) for n, link in enumerate(LINKS, 1)]


def seen(wires: Iterable[CapturedLink], heard: Iterable[str] = DEVICES, more: Iterable[CapturedNode] = ()) -> Observed:
    """Captures of these devices; their nodes are at lines 20 and after."""
    made = Observed()
    for i, key in enumerate(DEVICES):
        made.nodes[key] = CapturedNode(key, key, "", (f"id-{key}",), 0, CaptureLine(FILE, 20 + i))
    made.nodes.update((n.key, n) for n in more)
    made.wires += wires
    made.heard |= set(heard)
    return made


def cut() -> Observed:
    """What a broken capture does not list would look like missing cables."""
    made = seen(PLANNED[:3])
    made.fault(FILE, 40, "a line is cut", "capture it again")
    return made


def named(*devices: str) -> AuditSettings:
    return AuditSettings(only=np.isin(np.arange(F.device_count), [DEVICES.index(d) for d in devices]))


def strangers() -> list[CapturedNode]:
    more = [CapturedNode(f"n{i}", f"n{i}", "", (f"0{i}",), 0, CaptureLine(FILE, 40)) for i in range(9)]
    more += [CapturedNode("r", "", "router", ("0a",), 0, CaptureLine(FILE, 41))]
    return [*more, CapturedNode("q", "Aggregation Node", "", (), 0, CaptureLine(FILE, 42))]


RATES = ((400, 4, 0), (100, 1, 0), (200, 2, 0), (400, 0, 800), (800, 4, 800), (100, 0, 0))
"""In Gb/s, lanes, and what both ends could do; links after the last one have no rate. 400 Gb/s are planned."""
RATED = [w._replace(rate=r * G, lanes=n, could=c * G) for w, (r, n, c) in zip(PLANNED, RATES, strict=False)]
AUDITS: dict[str, tuple[Observed, AuditSettings | None]] = {
    "as designed": (seen(PLANNED), None),
    "two neighbours of a port, and a port that is cabled to itself": (
        seen([*PLANNED, wire(12, "node0", "nic[0]", "leaf0", "p6"), wire(13, "leaf1", "p6", "leaf1", "p6")]), None,
    ),
    "a broken capture": (cut(), None),
    "two cables that are not seen, and one that is seen elsewhere": (
        seen([*(w for w in PLANNED if w.at.line not in (1, 4, 8)), wire(14, "node3", "nic[1]", "leaf1", "p6")]), None,
    ),
    "captures of one device": (seen(PLANNED[:7], heard=["leaf0"]), None),
    "captures of one device, asked for all": (seen(PLANNED[:7], heard=["leaf0"]), named(*DEVICES)),
    "captures of one device, of which a plug is in a port of others": (
        seen([*PLANNED[4:5], wire(14, "node0", "nic[0]", "leaf1", "p5")], heard=["node0"]), None,
    ),
    "asked for a device that no capture shows": (seen(PLANNED[:7], heard=["leaf0"]), named("lone0")),
    "devices that are not planned, and links at ports that no model has": (
        seen([*PLANNED, wire(15, "leaf0", "p6", "n0", "eth0"), wire(16, "leaf0", "mgmt", "n1", "eth0")], more=strangers()), None,
    ),
    "slower than planned, or than both ends can be": (seen([*RATED, *PLANNED[len(RATES) :]]), None),
}  # fmt: skip


def test_what_is_said(golden: Golden) -> None:
    """Every finding with its line, labels, notes, help and work, and the summary."""
    out = []
    for name, (observed, settings) in AUDITS.items():
        made = audit_captures(F, observed, settings)
        out += [f"==== {name}", *told(made), f"{made.matching} of {int(made.judged.sum())} links judged match"]
        document: dict[str, Any] = report.audit_document(made)
        assert document["ok"] is (not made.faults) and document["links_as_designed"] == made.matching
    golden("observe/audits.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("only", [(), ("node0",), ("leaf0",), ("spine0", "node3")])
def test_an_audit_of_some_devices(only: tuple[str, ...]) -> None:
    """Of the links of these devices alone; a cable at a free port counts where the port is one of theirs."""
    wires = [w for w in PLANNED if w.at.line not in (1, 8)] + [wire(14, "leaf0", "p6", "leaf1", "p6")]
    made = audit_captures(F, seen(wires), named(*only))
    judged = [n for n, (a, _, b, _) in enumerate(LINKS, 1) if {a, b} & set(only)]
    assert int(made.judged.sum()) == len(judged) and made.matching == len([n for n in judged if n not in (1, 8)])
    assert sorted(m.kind for m in made.mistakes) == ["extra"] * ("leaf0" in only) + ["missing" for n in judged if n in (1, 8)]
    assert [d.code for d in made.notes] == ["E0615"]  # lone0 has no port e
    both = audit_captures(F, seen(wires), named("leaf0", "leaf1"))
    assert sorted(m.kind for m in both.mistakes) == ["extra", "missing", "missing"]
