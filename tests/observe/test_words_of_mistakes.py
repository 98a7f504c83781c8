"""Mistakes of cabling in words, each made by hand: code, message, notes, help, work and places."""

from __future__ import annotations

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.observe.describe import RepairTask, Words
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.match import Seen, Virtual, planned_far_ports
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
from tests.harness import fabric_of

TEXT = """\
model switch SW { port p[1..8]: 400Gbps { type NDR; cage 2 OSFP; name "IB1/{(i + 1)//2}/{(i - 1)%2 + 1}"; os "swp{i}" } }
model host NODE { port nic[4]: 400Gbps { type NDR; os "mlx5_{i}" } }
model host BARE { port e: 400Gbps { type NDR } }
fabric f {
  host node[2]: NODE
  host lone: BARE
  switch leaf[4]: SW
  switch spine: SW
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine each
  connect lone to spine
}
"""
FILE = SourceFile("seen.txt", "one\ntwo\nthree\n")


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(TEXT, tmp_path_factory.mktemp("words"), models=False)


def at(device: str, number: int) -> int:
    """A port by its device and number: adapters from 0, ports of switches from 1."""
    first = {"node0": 0, "node1": 4, "lone": 8, "leaf0": 9, "leaf1": 17, "leaf2": 25, "leaf3": 33, "spine": 41}[device]
    return first + number - (device[0] in "ls" and device != "lone")


def called(device: str, number: int) -> str:
    """As it is printed on the box; of an adapter with its name in the system."""
    if device == "lone":
        return "lone e"
    if device.startswith("node"):
        return f"{device} nic{number} (mlx5_{number})"
    return f"{device} IB1/{(number + 1) // 2}/{(number - 1) % 2 + 1}"


def wire(line: int) -> CapturedLink:
    return CapturedLink(CapturedEnd("a", ("1",)), CapturedEnd("b", ("2",)), CaptureLine(FILE, line))


def words(fabric: Fabric, wires: dict[int, int] | None = None) -> Words:
    """The words of an audit that saw wires at some ports, and two ports that the design does not have."""
    seen = Seen(fabric, Observed(), len(fabric.port_device))
    seen.observed.nodes["x"] = CapturedNode("x", "stranger", "", ("id",), 0, CaptureLine(FILE, 1))
    seen.observed.nodes["y"] = CapturedNode("y", "", "", ("0a",), 0, CaptureLine(FILE, 1))
    seen.virtual += [Virtual(0, "x", "eth7"), Virtual(-1, "x", "9"), Virtual(-1, "y", ""), Virtual(2, "y", "")]
    seen.wire.update({p: wire(line) for p, line in (wires or {}).items()})
    return Words(fabric, seen)


def cabling(fabric: Fabric) -> Cabling:
    far = planned_far_ports(fabric).tolist()
    return Cabling(lambda p: far[p] if p < len(far) else -1, lambda p: -1)


S = {n: ("spine", n) for n in range(1, 9)}
L = {(r, n): (f"leaf{r}", n) for r in range(4) for n in range(1, 9)}
H = {(d, r): (f"node{d}", r) for d in range(2) for r in range(4)}
LONE = ("lone", 0)
UP = {1: L[0, 3], 2: L[1, 3], 3: L[2, 3], 4: L[3, 3], 5: LONE}
"""What the design plans at the ports of the spine."""
Port = tuple[str, int]


def moved(*pairs: tuple[Port, Port]) -> tuple[tuple[int, int], ...]:
    return tuple((at(*a), at(*b)) for a, b in pairs)


def note(seen: tuple[Port, Port], planned: tuple[Port, Port]) -> str:
    return f"seen: {called(*seen[0])} to {called(*seen[1])}; planned: {called(*planned[0])} to {called(*planned[1])}"


def task(q: Port, p: Port, y: Port, cable: str) -> RepairTask:
    """Move the plug of ``q``, which is in ``p`` and leads to ``y`` now, back."""
    device, _, port = called(*p).partition(" ")
    return RepairTask(device, port, f"move the plug to {called(*q)}", called(*y), called(*q), cable)


LIST = "move each plug to the port in the list"
CYCLE = [(S[1], S[2]), (S[2], S[3]), (S[3], S[4]), (S[4], S[5]), (S[5], S[1])]
CYCLE_NOTES = [note((p, UP[q[1]]), (q, UP[q[1]])) for q, p in CYCLE]
CABLES = {1: "leaf0:p3", 2: "leaf1:p3", 3: "leaf2:p3", 4: "leaf3:p3", 5: "lone:e"}
CYCLE_TASKS = [task(q, p, UP[q[1]], CABLES[q[1]]) for q, p in CYCLE]
MOVES = [
    (
        Mistake("plugs swapped", moved((L[0, 1], L[0, 2]), (L[0, 2], L[0, 1]))),
        "E0620", f"two cables are swapped: {called(*L[0, 1])} and {called(*L[0, 2])}",
        [note((L[0, 2], H[0, 0]), (L[0, 1], H[0, 0])), note((L[0, 1], H[1, 0]), (L[0, 2], H[1, 0]))],
        f"exchange the plugs at {called(*L[0, 1])} and {called(*L[0, 2])}",
        [task(L[0, 1], L[0, 2], H[0, 0], "node0:nic0"), task(L[0, 2], L[0, 1], H[1, 0], "node1:nic0")],
    ),
    (
        Mistake("cables swapped", moved(*[(L[0, n], L[1, n]) for n in (1, 2)], *[(L[1, n], L[0, n]) for n in (1, 2)])),
        "E0620", f"two cables are swapped: {called(*L[0, 1])} and {called(*L[1, 1])}, 2 links each",
        [note((L[1 - r, n], H[n - 1, r]), (L[r, n], H[n - 1, r])) for r in (0, 1) for n in (1, 2)],
        f"exchange the plugs of the cages at {called(*L[0, 1])} and {called(*L[1, 1])}",
        [task(L[r, n], L[1 - r, n], H[n - 1, r], f"node{n - 1}:nic{r}") for r in (0, 1) for n in (1, 2)],
    ),
    (
        Mistake("cage halves swapped", moved((S[3], S[4]), (S[4], S[3]))),
        "E0621", f"the two halves of a cage are swapped: {called(*S[3])} and {called(*S[4])}",
        [note((S[4], UP[3]), (S[3], UP[3])), note((S[3], UP[4]), (S[4], UP[4]))],
        f"exchange the plugs at {called(*S[3])} and {called(*S[4])}",
        [task(S[3], S[4], UP[3], CABLES[3]), task(S[4], S[3], UP[4], CABLES[4])],
    ),
    (
        Mistake("rotated", moved(*CYCLE), devices=(7,), amount=1),
        "E0622", "5 cables of spine are rotated by 1", [*CYCLE_NOTES[:4], "and 1 more cables"], LIST, CYCLE_TASKS,
    ),
    (
        Mistake("rotated", moved(*CYCLE[:3], (S[4], S[1])), amount=3, devices=(7, 0)),
        "E0622", "4 cables of spine are rotated by 3", [*CYCLE_NOTES[:3], note((S[1], UP[4]), (S[4], UP[4]))], LIST,
        [*CYCLE_TASKS[:3], task(S[4], S[1], UP[4], CABLES[4])],
    ),
    (
        Mistake("rotated", moved(*[(H[0, r], H[0, (r + 2) % 4]) for r in range(4)]), devices=(0, 7), amount=2),
        "E0623", "the adapters of node0 are rotated by 2",
        [note((H[0, (r + 2) % 4], L[r, 1]), (H[0, r], L[r, 1])) for r in range(4)], LIST,
        [task(H[0, r], H[0, (r + 2) % 4], L[r, 1], f"node0:nic{r}") for r in range(4)],
    ),
    (
        Mistake("reversed", moved((S[1], S[5]), (S[2], S[4]), (S[4], S[2]), (S[5], S[1])), devices=(7,)),
        "E0622", "4 cables of spine are in reverse order",
        [note((S[6 - n], UP[n]), (S[n], UP[n])) for n in (1, 2, 4, 5)], LIST,
        [task(S[n], S[6 - n], UP[n], CABLES[n]) for n in (1, 2, 4, 5)],
    ),
    (
        Mistake("shifted", moved((S[4], S[3]), (S[5], S[4])), moved((S[3], UP[3])), devices=(7,), amount=-1),
        "E0622", "2 cables of spine are shifted by 1 port, and 1 more left out",
        [note((S[3], UP[4]), (S[4], UP[4])), note((S[4], UP[5]), (S[5], UP[5]))], LIST,
        [task(S[4], S[3], UP[4], CABLES[4]), task(S[5], S[4], UP[5], CABLES[5]),
         RepairTask("spine", "IB1/2/1", f"plug the cable to {called(*UP[3])}", "", called(*UP[3]), CABLES[3])],
    ),
    (
        Mistake("shifted", moved((S[4], S[6]), (S[5], S[7])), devices=(7,), amount=2),
        "E0622", "2 cables of spine are shifted by 2 ports",
        [note((S[6], UP[4]), (S[4], UP[4])), note((S[7], UP[5]), (S[5], UP[5]))], LIST,
        [task(S[4], S[6], UP[4], CABLES[4]), task(S[5], S[7], UP[5], CABLES[5])],
    ),
    (
        Mistake("cables permuted", moved(*CYCLE)),
        "E0629", f"5 cables are in one another's ports: {', '.join(called(*S[n]) for n in (1, 2, 3, 4))}",
        [*CYCLE_NOTES[:4], "and 1 more cables"], "plug each as planned", CYCLE_TASKS,
    ),
    (
        Mistake("wrong port", moved((S[5], S[8]))),
        "E0628", f"the cable of lone e is in {called(*S[8])}; {called(*S[5])} is planned", [note((S[8], LONE), (S[5], LONE))],
        f"move the plug from {called(*S[8])} to {called(*S[5])}", [task(S[5], S[8], LONE, "lone:e")],
    ),
    (
        Mistake("wrong port", moved((L[0, 1], L[1, 5]), (L[0, 2], L[1, 6]))),
        "E0627", f"the cable of {called(*H[0, 0])} is in {called(*L[1, 5])} (2 links); {called(*L[0, 1])} is planned",
        [note((L[1, n + 4], H[n - 1, 0]), (L[0, n], H[n - 1, 0])) for n in (1, 2)],
        f"move the plug from {called(*L[1, 5])} to {called(*L[0, 1])}",
        [task(L[0, n], L[1, n + 4], H[n - 1, 0], f"node{n - 1}:nic0") for n in (1, 2)],
    ),
    (  # both plugs of one cable: a row for the cable, not one for each plug
        Mistake("devices exchanged", moved((H[0, 0], H[1, 1]), (L[0, 1], L[1, 8])), devices=(3, 4)),
        "E0614", "leaf0 and leaf1 are exchanged: each has the cables of the other",
        [note((H[1, 1], L[1, 8]), (H[0, 0], L[0, 1]))],
        "exchange the two devices, or their names and configurations: leaf0 and leaf1",
        [task(H[0, 0], H[1, 1], L[1, 8], "node0:nic0")],
    ),
]  # fmt: skip
GONE = [(H[0, r], L[r, 1]) for r in range(4)] + [(H[1, 0], L[0, 2])]


def plug(a: Port, b: Port, cable: str) -> RepairTask:
    device, _, port = called(*a).partition(" ")
    return RepairTask(device, port, f"plug the cable to {called(*b)}", "", called(*b), cable)


PLUGS = [plug(H[0, r], L[r, 1], f"node0:nic{r}") for r in range(4)] + [plug(H[1, 0], L[0, 2], "node1:nic0")]
UNSEEN = [f"not seen: {called(*a)} to {called(*b)}" for a, b in GONE]
LINKS = [
    (
        Mistake("missing", removed=moved(GONE[0])),
        "E0625", f"no link is seen on the cable {called(*H[0, 0])} to {called(*L[0, 1])}",
        [], f"plug a cable from {called(*H[0, 0])} to {called(*L[0, 1])}, or reseat it", PLUGS[:1],
    ),
    (
        Mistake("missing", removed=moved(*GONE[:2])),
        "E0625", f"no link is seen on the cable {called(*H[0, 0])} to {called(*L[0, 1])} (2 links)",
        UNSEEN[:2], f"plug a cable from {called(*H[0, 0])} to {called(*L[0, 1])}, or reseat it", PLUGS[:2],
    ),
    (
        Mistake("device dark", removed=moved(*GONE[:4]), devices=(0, 7)), "E0610", "none of the 4 links of node0 is seen",
        UNSEEN[:4], "look at its power and at its transceivers", PLUGS[:4],
    ),
    (
        Mistake("not installed", removed=moved(*GONE), devices=(0, 7)), "E0610", "node0 is not seen, nor any of its 5 links",
        [*UNSEEN[:4], "and 1 more links"],
        "install it, switch it on, or cable it; if it is not due yet, limit the audit with --only",
        PLUGS,
    ),
    (
        Mistake("not installed", removed=moved(GONE[0]), devices=(2,)), "E0610", "lone is not seen, nor any of its 1 link",
        [], "install it, switch it on, or cable it; if it is not due yet, limit the audit with --only", PLUGS[:1],
    ),
    (
        Mistake("cage dark", removed=moved((S[3], UP[3]), (S[4], UP[4])), devices=(7, 0)),
        "E0624", "the whole cage spine OSFP 2 is dark: none of its 2 links is seen",
        [f"not seen: {called(*S[n])} to {called(*UP[n])}" for n in (3, 4)],
        "reseat or exchange the transceiver; then look at the cables", [plug(S[n], UP[n], CABLES[n]) for n in (3, 4)],
    ),
    (
        Mistake("cage dark", removed=moved(*GONE[1:3]), devices=(0,)),
        "E0624", "the whole cage node0 nic1 (mlx5_1) is dark: none of its 2 links is seen", UNSEEN[1:3],
        "reseat or exchange the transceiver; then look at the cables", PLUGS[1:3],
    ),
]  # fmt: skip


@pytest.mark.parametrize("case", MOVES + LINKS, ids=lambda c: f"{c[0].kind} {len(c[0].moves)} {len(c[0].removed)}")
def test_a_mistake_in_words(case: tuple[Mistake, str, str, list[str], str, list[RepairTask]], fabric: Fabric) -> None:
    """Code, message, notes, help and the work; the wire is that of the first plug, the origin that of the first planned link."""
    one, *expected = case
    plugs = [p for _, p in one.moves]
    made = words(fabric, {p: 1 + i % 3 for i, p in enumerate(plugs[1:])} | {at("spine", 8): 3})
    code, seen, message, notes, help, tasks, origin = made.fault(one, cabling(fabric))
    assert [code, message, notes, help, tasks] == expected
    first = next((p for p in plugs if p in made.seen.wire), None)
    assert seen == (made.seen.wire[first] if first is not None else None)
    first = (one.moves or one.removed)[0][0]
    assert origin is not None and origin == made.origin(first)
    assert origin.text.strip() in ("connect node[n].nic[r] to leaf[r]", "connect leaf[*] to spine each", "connect lone to spine")


def test_cables_that_are_not_planned(fabric: Fabric) -> None:
    """The wire and the origin are those of the first port that has one."""
    free, other, stranger = at("leaf0", 7), at("spine", 8), len(fabric.port_device)
    one = Mistake("extra", added=((free, stranger), (other, free), (at("leaf0", 3), stranger + 1)))
    made = words(fabric, {other: 2, at("leaf0", 3): 3})
    code, seen, message, notes, help, tasks, origin = made.fault(one, cabling(fabric))
    assert (code, message, notes) == ("E0626", f"a cable that is not planned: {called('leaf0', 7)} to node0 port eth7", [])
    assert help == "remove it, or write it into the design" and seen == wire(2)
    assert tasks == [
        RepairTask("leaf0", "IB1/4/1", "remove the cable", "node0 port eth7", ""),
        RepairTask("spine", "IB1/4/2", "remove the cable", called("leaf0", 7), ""),
        RepairTask("leaf0", "IB1/2/1", "remove the cable", "stranger port 9", ""),
    ]
    assert origin is not None and origin.text.strip() == "connect leaf[*] to spine each"
    assert made.fault(Mistake("extra", added=((free, stranger),)), cabling(fabric))[6] is None


def test_ports_that_the_design_does_not_have(fabric: Fabric) -> None:
    made, n = words(fabric), len(fabric.port_device)
    assert [made.split(n + i) for i in range(4)] == [
        ("node0", "port eth7"), ("stranger", "port 9"), ("0a", "an unknown port"), ("lone", "an unknown port"),
    ]  # fmt: skip
    assert made.port(n) == "node0 port eth7" and made.ends(0, n + 1) == "node0 nic0 (mlx5_0) to stranger port 9"
    assert [made.cable(p) for p in (0, at("spine", 5), at("spine", 6), n, n + 1)] == ["node0:nic0", "lone:e", "", "", ""]
    assert made.origin(n) is None and made.origin(at("spine", 6)) is None


def test_the_order_of_mistakes(fabric: Fabric) -> None:
    """By the first device and port of any move or link, ports as numbers."""
    made = words(fabric)
    two = made.first(Mistake("x", moved((S[4], S[2])), moved((S[7], S[6])), moved((S[8], S[3]))))
    assert two == (7, ((1, 0, "IB"), (0, 1, ""), (1, 0, "/"), (0, 1, ""), (1, 0, "/"), (0, 2, "")))
    assert made.first(Mistake("x", removed=moved((S[7], UP[1]))))[0] == 3
    assert made.first(Mistake("x", added=moved((S[7], H[1, 1]))))[0] == 1


TIES = [
    (Mistake("plugs swapped", moved((S[1], S[2]), (S[2], S[1]))),
     f"the plugs at {called(*S[1])} and {called(*S[2])} are exchanged"),
    (
        Mistake("cables permuted", moved((S[4], S[2]), (S[1], S[3]), (S[2], S[5]))),
        f"the plugs at {called(*S[4])} and {called(*S[1])} and 1 more are exchanged",
    ),
    (
        Mistake("cables swapped", moved(*CYCLE[:4])),
        f"the plugs at {called(*S[1])} and {called(*S[2])} and 2 more are exchanged",
    ),
    (
        Mistake("cage halves swapped", moved((S[1], S[2]), (S[2], S[1]))),
        f"the plugs at {called(*S[1])} and {called(*S[2])} are exchanged",
    ),
    (Mistake("missing", removed=moved(GONE[1], GONE[0])), f"the cable {called(*H[0, 1])} to {called(*L[1, 1])} is missing"),
    (Mistake("wrong port", moved((S[5], S[8]), (S[1], S[2]))), f"the plug of {called(*S[5])} is in {called(*S[8])}"),
    (Mistake("devices exchanged", moved((S[5], S[8])), devices=(3, 7)), "devices exchanged: leaf0 and spine"),
    (
        Mistake("shifted", moved((S[5], S[8])), moved((S[6], S[7])), moved((S[3], S[7]))),
        f"shifted: {called(*S[5])} and {called(*S[6])} and 1 more",
    ),
    (Mistake("extra", added=moved((S[5], S[8]))), f"extra: {called(*S[5])}"),
]  # fmt: skip


@pytest.mark.parametrize(("tie", "said"), TIES, ids=[t.kind for t, _ in TIES])
def test_other_explanations(tie: Mistake, said: str, fabric: Fabric) -> None:
    one = Mistake("wrong port", moved((S[5], S[8])), ties=(tie, TIES[-1][0]))
    notes = words(fabric).fault(one, cabling(fabric))[3]
    assert notes == [note((S[8], LONE), (S[5], LONE)), f"the same is seen if {said}", f"the same is seen if {TIES[-1][1]}"]
