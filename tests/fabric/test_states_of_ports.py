"""Numbers, names, rates and states of ports, and what is said of one that is taken or missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import FREE, HOLE, USED
from tdsl.fabric.ports import KEPT, LinkEnds, PortTable, _and_more_text
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel
from tests.fabrics import Builder

GBPS = 10**9
FILE = SourceFile("x.fab", "first second third")
FIRST, SECOND, THIRD = SourceSpan(FILE, 0, 5), SourceSpan(FILE, 6, 12), SourceSpan(FILE, 13, 18)


def made() -> tuple[PortTable, Builder]:
    """Six switches: a[0], a[1] and c with p[1..3] at 400 Gb/s and q[0..1] at any rate, b with q[0..3] at 100 Gb/s and
    p[1..2] at 200 Gb/s, and e[0] and e[1] without ports."""
    made = Builder()
    one = made.model("switch", "ONE", {"p": {"shape": 3, "low": 1}, "q": {"shape": 2, "rate": None}})
    two = made.model("switch", "TWO", {"q": {"shape": 4, "rate": 100 * GBPS}, "p": {"shape": 2, "low": 1, "rate": 200 * GBPS}})
    none = made.model("switch", "NONE", {})
    made.devices("a", one, 2)
    made.devices("b", two, None)
    made.devices("c", one, None)
    made.devices("e", none, 2)
    f = made.build()
    return PortTable(f.sets, f.models, f.device_model, f.built), made


NAMES = [f"{d}.{c}" for d, cs in (("a[0]", "pppqq"), ("a[1]", "pppqq"), ("b", "qqqqpp"), ("c", "pppqq")) for c in cs]


def test_numbers_names_and_rates() -> None:
    ports, _ = made()
    assert ports.base.tolist() == [0, 5, 10, 16, 21, 21, 21]
    assert [ports.port_path(p) for p in (0, 2, 3, 4, 5, 10, 13, 14, 15, 16, 20)] == [
        "a[0].p[1]", "a[0].p[3]", "a[0].q[0]", "a[0].q[1]", "a[1].p[1]", "b.q[0]", "b.q[3]", "b.p[1]", "b.p[2]", "c.p[1]",
        "c.q[1]",
    ]  # fmt: skip
    assert [ports.port_path(p).rpartition("[")[0] for p in range(21)] == NAMES
    assert [ports.class_at(p).name for p in range(21)] == [n[-1] for n in NAMES]
    assert [ports.path(d) for d in range(6)] == ["a[0]", "a[1]", "b", "c", "e[0]", "e[1]"]
    every = np.arange(21)
    assert ports.device_of(every).tolist() == [0] * 5 + [1] * 5 + [2] * 6 + [3] * 5
    rates = [400, 400, 400, 0, 0]
    expected = [*rates, *rates, 100, 100, 100, 100, 200, 200, *rates]
    assert ports.rates(every, ports.device_of(every)).tolist() == [r * GBPS for r in expected]
    assert ports.rates(every[:0], every[:0]).tolist() == []
    assert len(ports.state) == len(ports.taker) == 21 and not ports.state.any() and set(ports.taker.tolist()) == {-1}


def test_classes_of_devices() -> None:
    """First place and size in each device's own model; a class or a model that has none is a fault."""
    ports, _ = made()
    some = np.array([2, 0, 3, 2])
    assert [x.tolist() for x in ports.class_table(some, "p", FIRST)] == [[4, 0, 0, 4], [2, 3, 3, 2]]
    assert [x.tolist() for x in ports.class_table(some, "q", FIRST)] == [[0, 3, 3, 0], [4, 2, 2, 4]]
    assert [x.tolist() for x in ports.class_table(some, "", FIRST)] == [[0, 0, 0, 0], [4, 3, 3, 4]]
    with pytest.raises(Fault) as told:
        ports.class_table(np.array([0, 4]), "", SECOND)
    found = told.value.diagnostic
    assert (found.code, found.message, found.span) == ("E0452", "NONE has no ports", SECOND)
    assert [x.message for x in found.labels] == ["declared here"]
    with pytest.raises(Fault) as told:
        ports.class_table(np.array([0, 2]), "r", THIRD)
    found = told.value.diagnostic
    assert (found.code, found.message, found.span) == ("E0101", "there is no port class of ONE called `r` here", THIRD)
    with pytest.raises(Fault, match="there is no port class of NONE called `p` here"):
        ports.class_table(np.array([0, 4]), "p", THIRD)


@pytest.mark.parametrize("seed", range(12))
def test_free_ports_by_loops(seed: int) -> None:
    """Free ports, and those kept for a link that stands, of a class or of some of its places."""
    ports, _ = made()
    chance = np.random.default_rng(seed)
    ports.state[:] = chance.choice([FREE, USED, HOLE, KEPT], 21)
    places = {0: ([0, 1, 2], [3, 4]), 1: ([5, 6, 7], [8, 9]), 2: ([14, 15], [10, 11, 12, 13]), 3: ([16, 17, 18], [19, 20])}
    for devices in ([0], [0, 1, 3], [2], [1, 2], [3, 2, 0]):
        for local in (None, [0], [1, 2], [0, 3], [4]):
            for name in "pq":
                mine = [places[d]["pq".index(name)] for d in devices]
                some = [[m[i] for i in (range(len(m)) if local is None else local) if i < len(m)] for m in mine]
                expected = [sum(ports.state[p] in (FREE, KEPT) for p in m) for m in some]
                asked = None if local is None else np.array(local)
                assert ports.free_counts(np.array(devices), name, asked, FIRST).tolist() == expected
                free, numbers = ports._free(np.array(devices), name, asked, FIRST)
                rows = [n[f].tolist() for n, f in zip(numbers, free, strict=True)]
                assert rows == [[p for p in m if ports.state[p] == FREE] for m in some]
    assert ports.free_counts(np.array([], dtype=np.int64), "p", None, FIRST).tolist() == []


def test_which_devices_forward() -> None:
    """What the design says of the set, else what the model says."""
    ports, made_of = made()
    assert ports.forwards.tolist() == [False] * 6
    sets = [replace(s, settings={"forwards": True}) if s.name in ("a", "c") else s for s in made_of.sets]
    models = made_of.models
    expected = [True, True, False, True, False, False]
    assert PortTable(sets, models, ports.device_model, ports.built).forwards.tolist() == expected
    models = [replace(models[0], facts={"forwards": False}), replace(models[1], facts={"forwards": True}), models[2]]
    assert PortTable(made_of.sets, models, ports.device_model, ports.built).forwards.tolist() == [
        False,
        False,
        True,
        False,
        False,
        False,
    ]
    sets = [replace(s, settings={"forwards": False}) if s.name == "a" else s for s in made_of.sets]
    models = [replace(m, facts={"forwards": True}) for m in models]
    assert PortTable(sets, models, ports.device_model, ports.built).forwards.tolist() == [True] * 6
    assert PortTable([], [], np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)).forwards.tolist() == []


@pytest.mark.parametrize(
    ("held", "ascend"), [((0, 1, 2), True), ((0, 0, 1), True), ((0, 1, 0), False), ((1, 0, 2), False), ((0, 0, 0), True)]
)
def test_order_of_connectors(held: tuple[int, ...], ascend: bool) -> None:
    """One connector after the other, through all classes and devices, as each class numbers them."""
    ports, made_of = made()

    def changed(m: DeviceModel) -> DeviceModel:
        return replace(m, classes=(replace(m.classes[0], connectors=held), *m.classes[1:])) if m.name == "ONE" else m

    found = PortTable(made_of.sets, [changed(m) for m in made_of.models], ports.device_model, ports.built)
    many = max(held) + 1
    one = [*held, many, many + 1]
    two = [0, 1, 2, 3, 4, 5]
    step = many + 2
    expected = [*one, *(x + step for x in one), *(x + 2 * step for x in two), *(x + 2 * step + 6 for x in one)]
    assert found.connector.tolist() == expected and found.connectors_ascend == ascend


# ------------------------------------------------------------ claiming
def ends(rows: list[tuple[int, int, int]], names: str, spans: list[SourceSpan], candidates: list[Any] | None = None) -> LinkEnds:
    """Ends as device, choice, place in the class or -1; each leads to a device of its own."""
    device, choice, local = (np.array(x) for x in zip(*rows, strict=True))
    some = [None if c is None else np.array(c) for c in candidates or [None] * len(names)]
    return LinkEnds(device, list(names), some, spans, choice, local, np.arange(len(rows)), np.zeros(len(rows), dtype=np.int64))


def refused(ports: PortTable, asked: LinkEnds) -> tuple[str, str, str, list[str], str | None]:
    before = ports.state.copy()
    with pytest.raises(Fault) as told:
        ports.claim(asked, 7, FIRST)
    assert ports.state.tolist() == before.tolist(), "a refused statement takes nothing"
    found = told.value.diagnostic
    assert found.span is not None
    return found.code, found.span.text, found.message, [x.message for x in found.labels], found.help


def test_written_ports() -> None:
    """They lie in the class of their own choice; open ends of the statement take others, and nothing stays marked."""
    ports, _ = made()
    asked = ends([(2, 0, 1), (0, 1, 0), (2, 1, 3), (2, 2, -1), (2, 0, -1), (0, 2, -1)], "pqq", [FIRST, SECOND, THIRD])
    assert ports.claim(asked, 0, FIRST).tolist() == [15, 3, 13, 10, 14, 4]
    assert not ports.state.any()
    ports.state[[3, 15]] = [HOLE, KEPT]
    assert ports.claim(asked, 0, FIRST).tolist() == [15, 3, 13, 10, 14, 4]
    assert np.flatnonzero(ports.state).tolist() == [3, 15]


def test_open_ends_share_what_overlaps() -> None:
    """Choices one after the other, the same ones together, each by the devices at the other ends."""
    ports, _ = made()
    asked = ends(
        [(2, 1, -1), (2, 0, -1), (2, 2, -1), (0, 1, -1), (0, 2, -1)], "qqq", [FIRST, SECOND, THIRD], [[1, 2, 3], None, None]
    )
    assert ports.claim(asked, 0, FIRST).tolist() == [10, 11, 12, 3, 4]
    assert not ports.state.any()
    assert ports.claim(ends([(1, 0, -1), (1, 0, -1)], "p", [FIRST]), 0, FIRST).tolist() == [5, 6]
    none = LinkEnds(*(np.zeros(0, dtype=np.int64),), [], [], [], *(np.zeros(0, dtype=np.int64),) * 4)  # type: ignore[arg-type]
    assert ports.claim(none, 0, FIRST).tolist() == []


def test_a_port_that_is_taken() -> None:
    ports, _ = made()
    ports.mark(np.array([1, 15]), np.array([True, True]), 3, SECOND)
    asked = ends([(0, 0, 0), (2, 1, -1), (0, 2, 1)], "pqp", [FIRST, SECOND, THIRD])
    help = "write `a[0].p`, which takes the lowest free port, or name a free one"
    assert refused(ports, asked) == ("E0451", "third", "port a[0].p[2] already has a link", ["taken by this connect"], help)
    asked = ends([(0, 1, 0), (2, 0, 1), (0, 2, 1)], "ppp", [FIRST, SECOND, THIRD])
    assert refused(ports, asked)[1:3] == ("first", "port b.p[2] already has a link (and 1 more port)")
    ports.state[[0, 5]] = USED
    asked = ends([(0, 1, 0), (2, 0, 1), (0, 2, 1), (1, 2, 0)], "ppp", [FIRST, SECOND, THIRD])
    assert refused(ports, asked)[1:4] == ("second", "port a[0].p[1] already has a link (and 3 more ports)", [])


def test_a_port_that_is_written_twice() -> None:
    ports, _ = made()
    help = "let the port's index run with the links"
    asked = ends([(2, 0, 1), (2, 1, -1), (0, 2, 2), (2, 0, 0), (0, 1, 2)], "ppp", [FIRST, SECOND, THIRD])
    assert refused(ports, asked) == ("E0451", "second", "port a[0].p[3] would get two links from this connect", [], help)
    asked = ends([(2, 0, 1), (0, 1, 2), (0, 2, 2), (2, 0, 1), (0, 1, 2)], "ppp", [FIRST, SECOND, THIRD])
    assert refused(ports, asked)[1:3] == ("third", "port a[0].p[3] would get two links from this connect (and 2 more ports)")


def test_too_few_ports() -> None:
    ports, _ = made()
    ports.state[[0, 10, 11]] = [USED, HOLE, KEPT]
    help = "use more devices, fewer links, or a model with more ports"
    asked = ends([(0, 0, -1)] * 2 + [(2, 1, -1)] * 3, "pq", [FIRST, SECOND])
    labels = ["TWO has 4 ports `q`", "`b` is declared here"]
    assert refused(ports, asked) == ("E0452", "second", "b needs 3 free ports `q` and has 2", labels, help)
    asked = ends([(0, 0, -1)] * 3 + [(1, 0, -1)] * 3 + [(2, 0, -1)] * 3, "p", [THIRD])
    labels = ["ONE has 3 ports `p`", "`a` is declared here"]
    assert refused(ports, asked) == ("E0452", "third", "a[0] needs 3 free ports `p` and has 2 (and 1 more device)", labels, help)
    asked = ends([(0, 0, -1)] * 2 + [(1, 0, -1)] * 4, "p", [THIRD])
    assert refused(ports, asked)[2] == "a[1] needs 4 free ports `p` and has 3"
    asked = ends([(1, 0, -1)] * 3 + [(3, 0, -1)] * 2, "p", [THIRD], [[1, 2]])
    assert refused(ports, asked)[2] == "a[1] needs 3 free ports `p` and has 2 among the 2 named"
    asked = LinkEnds(
        np.array([2, 2, 2, 3, 3, 3, 3]), [""], [None], [SECOND], np.zeros(7, dtype=np.int32), np.full(7, -1), np.arange(7),
        np.zeros(7, dtype=np.int64),
    )  # fmt: skip
    assert refused(ports, asked)[1:4] == (
        "second", "b needs 3 free ports `q` and has 2 (and 1 more device)", ["TWO has 4 ports `q`", "`b` is declared here"],
    )  # fmt: skip


def test_marks() -> None:
    """Ports of links that are built are used, the others reserved; the statement and its place are remembered."""
    ports, _ = made()
    ports.mark(np.array([4, 2, 9]), np.array([True, False, True]), 5, SECOND)
    ports.mark(np.array([0, 1]), np.array([True, True]), 6, FIRST)
    ports.mark(np.array([20]), np.array([False]), 7, THIRD)
    assert {p: int(ports.state[p]) for p in np.flatnonzero(ports.state).tolist()} == {
        0: USED, 1: USED, 2: HOLE, 4: USED, 9: USED, 20: HOLE,
    }  # fmt: skip
    taken = {p: int(ports.taker[p]) for p in np.flatnonzero(ports.taker >= 0).tolist()}
    assert taken == {0: 6, 1: 6, 2: 5, 4: 5, 9: 5, 20: 7}
    assert ports.owner == {5: SECOND, 6: FIRST, 7: THIRD}


def test_words_for_further_ones() -> None:
    assert [_and_more_text(n) for n in (0, 1, 2, 3, 1002)] == [
        "",
        "",
        " (and 1 more port)",
        " (and 2 more ports)",
        " (and 1,001 more ports)",
    ]
    assert [_and_more_text(n, "devices") for n in (1, 2, 3)] == ["", " (and 1 more device)", " (and 2 more devices)"]
