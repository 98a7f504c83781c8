"""Which cables of two lists are the same, moved, replaced or elsewhere, and the table of cables of a change, row by row."""

from __future__ import annotations

from tdsl.changes import moves
from tdsl.changes.compare import _changed_entries, _compare_cables, devices_by_set
from tdsl.changes.model import CableEnd, CableLeg, Change, Changes, MovedCable

WHERE = {"x": ("h1", "r1", "3"), "y": ("h1", "r2", "4"), "z": ("", "r3", ""), "w": ("h2", "", "9")}


def end(text: str) -> CableEnd:
    """``x.1`` as an end; ``x.1=L`` with another label."""
    text, _, label = text.partition("=")
    device, port = text.split(".")
    return CableEnd(device, f"N{device}", port, label or f"P{port}")


def cable(a: str, b: str, part: str = "DAC", length: str = "3", colour: str = "", where: dict[str, tuple[str, str, str]] = WHERE,
          id: str = "") -> CableLeg:  # fmt: skip
    near, far = end(a), end(b)
    at = [where.get(e.device, ("", "", "")) for e in (near, far)]
    facts = (("part", part), ("length", length), ("colour", colour))
    return CableLeg(near, far, f"{near.device}-{far.device}", facts, (), id or f"{a}-{b}", (at[0], at[1]))


def compared(before: list[CableLeg], after: list[CableLeg]) -> Changes:
    out = Changes("f")
    _compare_cables(out, before, after)
    return out


def test_cables_that_are_as_they_were() -> None:
    rows = [cable("x.1", "y.1"), cable("x.2", "y.2")]
    found = compared(rows, rows[::-1])
    assert found.none and not found.replaced and not found.relocated


def test_cables_that_come_and_go() -> None:
    new, gone = cable("x.1", "y.1"), cable("z.1", "w.1")
    found = compared([gone], [new])
    assert (found.added, found.removed, found.moved) == ([new], [gone], [])


def test_cables_that_keep_an_end() -> None:
    """The lower end first, then the upper; of several at one place in their order."""
    lower, to = cable("x.1", "y.1"), cable("x.1", "y.5")
    assert compared([lower], [to]).moved == [MovedCable(to.a, lower.b, to.b, "x-y", lower, to)]
    upper, other = cable("x.1", "y.1"), cable("z.7", "y.1")
    assert compared([upper], [other]).moved == [MovedCable(other.b, upper.a, other.a, "z-y", upper, other)]
    both = compared([upper], [other, to])
    assert both.moved == [MovedCable(to.a, upper.b, to.b, "x-y", upper, to)] and both.added == [other] and both.removed == []
    legs = [cable("x.1", "y.1"), cable("x.1", "y.2"), cable("x.1", "y.3")]
    next_legs = [cable("x.1", "y.5"), cable("x.1", "y.6")]
    three = compared(legs, next_legs)
    assert [(m.old, m.new) for m in three.moved] == [(legs[0], next_legs[0]), (legs[1], next_legs[1])]
    assert (three.removed, three.added) == ([legs[2]], [])
    two = compared(next_legs, legs)
    assert [(m.old, m.new) for m in two.moved] == [(next_legs[0], legs[0]), (next_legs[1], legs[1])]
    assert (two.removed, two.added) == ([], [legs[2]])


def test_facts_that_differ() -> None:
    """A part or a length makes it another cable; a colour does not."""
    was = cable("x.1", "y.1")
    for now, what in ((cable("x.1", "y.1", part="AOC"), "part"), (cable("x.1", "y.1", length="5"), "length")):
        found = compared([was], [now])
        assert found.replaced == [(was, now)] and [x.what for x in found.cables] == [f"Nx P1 to Ny P1: {what}"]
    blue = cable("x.1", "y.1", colour="blue")
    found = compared([was], [blue])
    assert found.replaced == [] and found.cables == [Change("Nx P1 to Ny P1: colour", "", "blue")]
    label = cable("x.1=A", "y.1=B")
    assert compared([was], [label]).ports == [Change("x.1", "P1", "A"), Change("y.1", "P1", "B")]
    assert compared([was], [cable("x.1", "y.1=B")]).ports == [Change("y.1", "P1", "B")]


def test_devices_that_are_elsewhere() -> None:
    """The end that moves is the upper one where both do; a cable that is replaced anyway is not counted twice."""
    was = cable("x.1", "y.1")
    for device, far in (("x", "a"), ("y", "b"), ("xy", "b")):
        now = cable("x.1", "y.1", where={**WHERE, **dict.fromkeys(device, ("h9", "", "7"))})
        found = compared([was], [now])
        near = "a" if far == "b" else "b"
        assert found.relocated == [MovedCable(getattr(now, near), getattr(was, far), getattr(now, far), "x-y", was, now)]
        old = {"x": "h1 r1 unit 3", "y": "h1 r2 unit 4"}
        assert found.places == [Change(d, old[d], "h9 unit 7") for d in device]
    now = cable("x.1", "y.1", part="AOC", where={**WHERE, "y": ("", "", "")})
    found = compared([was], [now])
    assert found.relocated == [] and found.replaced == [(was, now)] and found.places == [Change("y", "h1 r2 unit 4", "")]
    assert compared([was], [cable("x.1", "z.1")]).places == []


def test_entries_that_differ() -> None:
    assert _changed_entries({"a": "1", "b": "2", "c": "3"}, {"d": "4", "b": "5", "a": "1"}) == [
        Change("b", "2", "5"), Change("c", "3", ""), Change("d", "", "4"),
    ]  # fmt: skip


def test_devices_by_the_set_that_they_belong_to() -> None:
    rows = [("a[0]", "S"), ("b", "S"), ("a[1]", "S"), ("a[2]", "T"), ("g[0].a[0]", "S"), ("g[0].a[1]", "S"), ("g[1].a[0]", "S")]
    assert devices_by_set(rows) == [
        ("a", "S", 2, ["a[0]", "a[1]"]), ("b", "S", 1, ["b"]), ("a", "T", 1, ["a[2]"]),
        ("g[0].a", "S", 2, ["g[0].a[0]", "g[0].a[1]"]), ("g[1].a", "S", 1, ["g[1].a[0]"]),
    ]  # fmt: skip


def test_the_table_of_cables() -> None:
    """Removed, moved, elsewhere, replaced and added cables, the end that stays first."""
    one, two, three = cable("x.1", "y.1", id="c1"), cable("x.1", "z.2", id="c2"), cable("w.3", "y.1", "", "", id="c3")
    same = cable("x.9", "y.2", id="c4")
    changes = Changes("f", added=[three], removed=[one], replaced=[(one, two)])
    changes.moved = [MovedCable(two.a, one.b, two.b, "x-z", one, two), MovedCable(one.b, one.a, three.a, "w-y", one, three)]
    changes.relocated = [MovedCable(same.b, one.a, same.a, "x-y", one, cable("x.9", "y.2", "AOC", id="c4"))]
    lines = moves.cable_moves_csv([(changes, 2, "2027-01-02")], ([two], 0, "")).split("\r\n")
    x, y, z, w = ("Nx,h1,r1,3", "Ny,h1,r2,4", "Nz,,r3,", "Nw,h2,,9")
    assert lines == [
        ",".join(moves.COLUMNS),
        f"add,,,x-z,,c2,{x},P1,,,,,,{z},P2,,,DAC,3,",
        f"remove,2,2027-01-02,x-y,c1,,{x},P1,{y},P1,,,,,,DAC,3,,,",
        f"move,2,2027-01-02,x-z,c1,c2,{x},P1,{y},P1,{z},P2,DAC,3,DAC,3,yes",
        f"move,2,2027-01-02,w-y,c1,c3,{y},P1,{x},P1,{w},P3,DAC,3,,,",
        f"move,2,2027-01-02,x-y,c1,c4,{y},P2,{x},P1,{x},P9,DAC,3,AOC,3,no",
        f"replace,2,2027-01-02,x-z,c1,c2,{x},P1,{y},P1,{z},P2,DAC,3,DAC,3,no",
        f"add,2,2027-01-02,w-y,,c3,{w},P3,,,,,,{y},P1,,,,,",
        "",
    ]
    assert moves.cable_moves_csv([]) == ",".join(moves.COLUMNS) + "\r\n"
