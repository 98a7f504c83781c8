"""All that an audit says of captures made by hand: of the captures themselves, of devices, cables and rates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.observe import report
from tdsl.observe.audit import Audit, AuditSettings, audit_captures, audit_findings
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
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
EIGHT = "n0, n1, n2, n3, n4, n5, n6, n7"


def wire(number: int, a: str, p: str, b: str, q: str, **facts: int) -> CapturedLink:
    return CapturedLink(CapturedEnd(a, (p,)), CapturedEnd(b, (q,)), CaptureLine(FILE, number), **facts)


def planned() -> list[CapturedLink]:
    return [wire(n, *link) for n, link in enumerate(LINKS, 1)]


def seen(
    wires: Iterable[CapturedLink],
    names: dict[str, str] | None = None,
    heard: Iterable[str] = DEVICES,
    more: Iterable[CapturedNode] = (),
) -> Observed:
    """Captures of these devices, each under its name or another one; their nodes are at lines 20 and after."""
    made = Observed()
    for i, key in enumerate(DEVICES):
        made.nodes[key] = CapturedNode(key, (names or {}).get(key, key), "", (f"id-{key}",), 0, CaptureLine(FILE, 20 + i))
    made.nodes.update((n.key, n) for n in more)
    made.wires += wires
    made.heard |= set(heard)
    return made


def faults(made: Audit) -> list[Any]:
    """Code, line, message, labels, notes and help of each fault."""
    out = []
    for f in made.faults:
        d = f.finding
        assert d.severity is Severity.ERROR
        at = d.span.begin[0] if d.span is not None else 0
        out.append((d.code, at, d.message, [(x.span.begin[0], x.message) for x in d.labels], list(d.notes), d.help))
    return out


def notes(made: Audit) -> list[Any]:
    assert all(d.severity is Severity.NOTE and d.span is None for d in made.notes)
    return [(d.code, d.message, list(d.notes), d.help) for d in made.notes]


def test_a_capture_of_the_design() -> None:
    made = audit_captures(F, seen(planned()))
    assert made.faults == [] and made.notes == [] and made.mistakes == []
    assert made.judged.all() and made.matching == len(LINKS) == F.link_count
    assert (
        list(audit_findings(made)) == []
        and report.audit_summary(made) == "made: 11 of 11 links are cabled as designed; no faults\n"
    )


def test_faults_of_the_captures() -> None:
    """Two neighbours of a port, the later line with a label at the first, and a port that is cabled to itself."""
    wires = [*planned(), wire(12, "node0", "nic[0]", "leaf0", "p6"), wire(13, "leaf1", "p6", "leaf1", "p6")]
    made = audit_captures(F, seen(wires))
    assert faults(made) == [
        (
            "E0603", 12, "node0 nic[0] has two neighbours in the captures", [(1, "the other neighbour")], [],
            "remove the older capture, or look for a hub or switch between them that forwards LLDP",
        ),
        ("E0603", 13, "a port is cabled to itself in the capture", [], [], "capture it again"),
    ]  # fmt: skip
    assert made.matching == 11 and all(f.tasks == () and f.mistake is None and f.slow is None for f in made.faults)


def test_a_broken_capture_is_not_compared() -> None:
    """What it does not list would look like missing cables."""
    observed = seen(planned()[:3])
    observed.fault(FILE, 40, "a line is cut", "capture it again")
    made = audit_captures(F, observed)
    assert faults(made) == [("E0601", 40, "a line is cut", [], [], "capture it again")] and made.notes == []


def test_cables() -> None:
    """By device and port; a cable that is seen elsewhere at the line of the capture, one that is not seen at the design's."""
    wires = [w for w in planned() if w.at.line not in (1, 4, 8)]
    wires.append(wire(14, "node3", "nic[1]", "leaf1", "p6"))
    made = audit_captures(F, seen(wires))
    origin = F.statements[0].origin.span.begin[0]
    assert faults(made) == [
        (
            "E0625", origin, "no link is seen on the cable node0 nic[0] to leaf0 p[1]", [], [],
            "plug a cable from node0 nic[0] to leaf0 p[1], or reseat it",
        ),
        (
            "E0625", origin, "no link is seen on the cable node3 nic[0] to leaf0 p[4]", [], [],
            "plug a cable from node3 nic[0] to leaf0 p[4], or reseat it",
        ),
        (
            "E0628", 14, "the cable of node3 nic[1] is in leaf1 p[6]; leaf1 p[4] is planned", [(origin, "it is planned here")],
            ["seen: leaf1 p[6] to node3 nic[1]; planned: leaf1 p[4] to node3 nic[1]"],
            "move the plug from leaf1 p[6] to leaf1 p[4]",
        ),
    ]  # fmt: skip
    assert made.matching == 8 and [m.kind for m in made.mistakes] == ["missing", "missing", "wrong port"]
    assert report.audit_summary(made).startswith("made: 8 of 11 links are cabled as designed; 3 faults: ")
    document = report.audit_document(made)
    assert (document["ok"], document["links"], document["links_judged"]) == (False, 11, 11)
    assert (document["links_as_designed"], document["faults"], document["moves"]) == (8, 3, 3)


@pytest.mark.parametrize("only", [(), ("node0",), ("leaf0",), ("spine0", "node3")])
def test_an_audit_of_some_devices(only: tuple[str, ...]) -> None:
    """Of the links of these devices alone; a cable at a free port counts where the port is one of theirs."""
    wires = [w for w in planned() if w.at.line not in (1, 8)] + [wire(14, "leaf0", "p6", "leaf1", "p6")]
    chosen = np.isin(np.arange(F.device_count), [DEVICES.index(d) for d in only])
    made = audit_captures(F, seen(wires), AuditSettings(only=chosen))
    judged = [n for n, (a, _, b, _) in enumerate(LINKS, 1) if {a, b} & set(only)]
    assert int(made.judged.sum()) == len(judged) and made.matching == len([n for n in judged if n not in (1, 8)])
    lost = ["missing"] * len([n for n in judged if n in (1, 8)])
    assert [m.kind for m in made.mistakes] == lost and made.notes == []
    both = audit_captures(F, seen(wires), AuditSettings(only=np.isin(np.arange(F.device_count), [4, 5])))
    assert sorted(m.kind for m in both.mistakes) == ["extra", "missing", "missing"]


def test_links_that_no_capture_shows() -> None:
    """They are not judged, and not missing; a note says how many, of those that the audit is asked for."""
    made = audit_captures(F, seen(planned()[:7], heard=["leaf0"]))
    assert faults(made) == [
        (
            "E0625", F.statements[0].origin.span.begin[0], "no link is seen on the cable leaf0 p[5] to spine0 p[1]", [], [],
            "plug a cable from leaf0 p[5] to spine0 p[1], or reseat it",
        )
    ]  # fmt: skip
    unseen = ("E0632", "6 of 11 links were not seen: no capture is of a device at either end", [], "")
    assert notes(made) == [unseen]
    assert made.matching == 4 and report.audit_summary(made).startswith(
        "made: 4 of the 5 links judged (of 11) are cabled as designed; 1 fault: "
    )
    everything = AuditSettings(only=np.ones(F.device_count, dtype=np.bool_))
    assert notes(audit_captures(F, seen(planned()[:7], heard=["leaf0"]), everything)) == [unseen]
    unheard = AuditSettings(only=np.array([F.device_name(d) == "lone0" for d in range(F.device_count)]))
    (nothing,) = audit_captures(F, seen(planned()[:7], heard=["leaf0"]), unheard).faults
    assert nothing.finding.code == "E0907" and nothing.finding.message.endswith("no capture is of a device that --only names")


def test_devices_that_are_not_planned() -> None:
    """Set aside with the reason, or not of the design; so are links, with their ends and the line of each."""
    more = [CapturedNode(f"n{i}", f"n{i}", "", (f"0{i}",), 0, CaptureLine(FILE, 40)) for i in range(9)]
    more += [
        CapturedNode("r", "", "router", ("0a",), 0, CaptureLine(FILE, 41)),
        CapturedNode("q", "Aggregation Node", "", (), 0, CaptureLine(FILE, 42)),
    ]
    wires = [*planned(), wire(15, "leaf0", "p6", "n0", "eth0"), wire(16, "leaf0", "mgmt", "n1", "eth0")]
    made = audit_captures(F, seen(wires, more=more))
    assert made.faults == [] and notes(made) == [
        ("E0611", "1 set aside: a router between subnets", ["0a"], ""),
        ("E0611", "1 set aside: an aggregation node of in-network reduction", ["Aggregation Node"], ""),
        (
            "E0611", "the captures have 9 devices that the design does not have", [f"{EIGHT} and 1 more"],
            "if one is planned under another name, give `--map 'REGEX=TEMPLATE'` or `--assets FILE`",
        ),
        (
            "E0611", "1 link of the captures set aside: no link is planned at the port, and the design does not have the device "
            "at the other end", ["capture.txt:15: leaf0 p6 to n0 eth0"], "",
        ),
        (
            "E0611", "1 link of the captures set aside: the model has no port of that name, such as a management port",
            ["capture.txt:16: leaf0 mgmt to n1 eth0"], "",
        ),
    ]  # fmt: skip


HELP = "clean and reseat both plugs; if it stays, exchange the cable or the transceivers"


def at_rates(*rates: tuple[int, int, int]) -> list[CapturedLink]:
    """The planned wires with rates in Gb/s, lanes, and what both ends could do; those after the last one have no rate."""
    wires = planned()
    for i, (rate, lanes, could) in enumerate(rates):
        wires[i] = replace_rate(wires[i], rate * G, lanes, could * G)
    return wires


def replace_rate(w: CapturedLink, rate: int, lanes: int, could: int) -> CapturedLink:
    return w._replace(rate=rate, lanes=lanes, could=could)


def test_slow_links() -> None:
    """Slower than planned (400 Gb/s), or than both ends can; how many lanes, where that is known."""
    made = audit_captures(F, seen(at_rates((400, 4, 0), (100, 1, 0), (200, 2, 0), (400, 0, 800), (800, 4, 800), (100, 0, 0))))
    assert faults(made) == [
        (
            "E0630",
            2,
            "node1 nic[0] to leaf0 p[2] runs at 100 Gb/s on 1 lane; 400 Gb/s is planned",
            [],
            [],
            HELP,
        ),
        ("E0630", 6, "node1 nic[1] to leaf1 p[2] runs at 100 Gb/s; 400 Gb/s is planned", [], [], HELP),
        (
            "E0630",
            3,
            "node2 nic[0] to leaf0 p[3] runs at 200 Gb/s on 2 lanes; 400 Gb/s is planned",
            [],
            [],
            HELP,
        ),
        ("E0630", 4, "node3 nic[0] to leaf0 p[4] runs at 400 Gb/s; 800 Gb/s is planned", [], [], HELP),
    ]
    base = F.port_base.tolist()
    assert [f.slow for f in made.faults] == [
        (base[1], 100 * G),
        (base[1] + 1, 100 * G),
        (base[2], 200 * G),
        (base[3], 400 * G),
    ]
    task = made.faults[0].tasks[0]
    assert (task.device, task.port, task.action, task.found, task.planned, task.cable) == (
        "node1", "nic[0]", "reseat or exchange the cable", "leaf0 p[2]", "", "",
    )  # fmt: skip
    assert made.matching == 11 and made.mistakes == []
