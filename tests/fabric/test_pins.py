"""Locks: what each line records, which ports links take because of them, and what is reported of links and devices that move."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.fabric.pins import (
    Mount,
    PinnedLink,
    carry_over_renames,
    lock_text,
    read_lock_lines,
    report_moved_links,
    report_relocated_devices,
)
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tests.fabrics import Builder
from tests.harness import fabric_of, sections

HERE = SourceSpan(SourceFile("x.lock", "line"), 0, 4)
SHA = "0123456789abcdef" * 4


def recorded(text: str) -> tuple[dict[str, list[Any]], list[tuple[str, str, str, str]]]:
    """What a lock records, and its findings."""
    found = Diagnostics()
    out = read_lock_lines(SourceFile("design.fab.lock", text), found)
    return dict(out), [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found.items]


def facts(records: list[Any]) -> list[tuple[object, ...]]:
    """Fields of records, with the underlined text for the span."""
    return [tuple(x.text if isinstance(x, SourceSpan) else x for x in (getattr(r, n) for n in r.__slots__)) for r in records]


GOOD = f"""# a comment
uses stdlib: a file sha256:{SHA}

fabric one
figure links 3
figure rate 7/2
  a[0].p[1]  b.q[0, 2]   # beside the line
su[0].leaf 1.p   c.p
place a[0] in h1.A[12] at 30U
x.p     y.p
fabric two
uses own.fab sha256:{SHA}
figure links 0
fabric one
place su[1].leaf[0] in h2.B2[0] at 999999U"""


def test_every_kind_of_line() -> None:
    """A fabric may come twice; the files are those of the whole design; the last line may have no end."""
    found, wrong = recorded(GOOD)
    assert wrong == [] and list(found) == ["", "one", "two"]
    assert facts(found[""]) == [
        ("stdlib: a file", SHA, f"uses stdlib: a file sha256:{SHA}"), ("own.fab", SHA, f"uses own.fab sha256:{SHA}"),
    ]  # fmt: skip
    assert facts(found["one"]) == [
        ("links", Fraction(3), "figure links 3"), ("rate", Fraction(7, 2), "figure rate 7/2"),
        ("a[0].p[1]", "b.q[0, 2]", "a[0].p[1]  b.q[0, 2]"), ("su[0].leaf 1.p", "c.p", "su[0].leaf 1.p   c.p"),
        ("a[0]", "h1", "A", 12, 30, "place a[0] in h1.A[12] at 30U"), ("x.p", "y.p", "x.p     y.p"),
        ("su[1].leaf[0]", "h2", "B2", 0, 999999, "place su[1].leaf[0] in h2.B2[0] at 999999U"),
    ]  # fmt: skip
    assert facts(found["two"]) == [("links", Fraction(0), "figure links 0")]


NEITHER = "this is neither `fabric NAME` nor two ports nor a place"
RESTORE = "restore the line, or remove it: of a link that is not recorded the ports may change"


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("", "a.p  b.p"), ("", "figure links 1"), ("", "place a in h.A[1] at 1U"), ("fabric f", "a.p b.p"), ("fabric f", "<<<<"),
        ("fabric f", "fabric 2f"), ("fabric f", "figure rate 1/0"), ("fabric f", "uses x sha256:12"),
    ],
)  # fmt: skip
def test_lines_that_are_refused(before: str, line: str) -> None:
    """Each line alone; a line after it is read."""
    found, wrong = recorded(f"{before}\n   {line}  # more\nfabric g\nx.p  y.p\n")
    assert wrong == [("E0496", line, NEITHER, RESTORE)]
    assert facts(found["g"]) == [("x.p", "y.p", "x.p  y.p")]
    assert found.get("f", []) == []


EMPTY = [("E0496", "", "the lock records no fabric",
          "restore it, such as with `git checkout`; `tdsl lock` does not take it for the record of nothing")]  # fmt: skip


def test_a_lock_without_a_fabric() -> None:
    """Empty, comments alone, and used files alone are one finding; a fabric without links is a record."""
    for text in ("", "\n", "# a comment\n\n", f"uses x sha256:{SHA}\n"):
        assert recorded(text)[1] == EMPTY, text
        found = Diagnostics()
        read_lock_lines(SourceFile("x.lock", text), found)
        span = found.items[0].span
        assert span is not None and (span.start, span.end) == (0, 0)
    assert recorded("fabric f\n") == ({"f": []}, [])
    assert [m for _, _, m, _ in recorded("a.p  b.p\n")[1]] == [NEITHER]
    _, lone = recorded(f"uses x sha256:{SHA}\nfabric f\n")
    assert lone == []


@pytest.mark.parametrize(("written", "lines"), [(2, 1), (0, 1), (1, 2), (1234567, 1), (2, 2), (0, 0)])
def test_the_number_of_links_that_was_recorded(written: int, lines: int) -> None:
    """Only of the figure `links`, and of the fabric that has it."""
    rest = "place a in h.A[1] at 1U\nfabric g\na.p  b.p\n"
    text = f"fabric f\nfigure links {written}\nfigure others 99\n" + "a.p  b.p\n" * lines + rest
    said = f"the lock has {lines:,} of the {written:,} links that fabric `f` had"
    help = f"restore it, by `git checkout`; if lines were removed on purpose, write `figure links {lines}`"
    expected = [] if written == lines else [("E0496", f"figure links {written}", said, help)]
    assert recorded(text)[1] == expected


def test_what_is_written() -> None:
    """Files by name, then fabric by fabric figures and links; without any of them nothing but the heading."""
    b = small()
    made = b.build()
    written = "Written by `tdsl lock x.fab`; a line a link, in the order of the design."
    head = f"# Existing links: tdsl keeps them on these ports. {written}\n"
    assert lock_text([], "x.fab") == head
    links = "a[0].p[0]  b[0].p[0]\na[1].p[0]  b[0].p[1]\n"
    assert lock_text([made], "x.fab") == f"{head}\nfabric made\n{links}"
    text = lock_text([made, replace(made, name="more")], "x.fab", {"z": SHA, "a": SHA},
                 {"made": {"links": Fraction(2), "x": Fraction(1, 3)}})  # fmt: skip
    uses = f"uses a sha256:{SHA}\nuses z sha256:{SHA}\n"
    assert text == f"{head}{uses}\nfabric made\nfigure links 2\nfigure x 1/3\n{links}\nfabric more\n{links}"
    found, wrong = recorded(text)
    assert wrong == [] and [len(found[k]) for k in ("", "made", "more")] == [2, 4, 2]


def small() -> Builder:
    """Two switches below one, a link each."""
    b = Builder()
    low, high = (b.devices("a", b.model("switch", "A", {"p": 3}), 2), b.devices("b", b.model("switch", "B", {"p": 4}), 1))
    b.connect("connect a to b")
    for i in range(2):
        b.link(b.port(low, i, "p", 0), b.port(high, 0, "p", i))
    return b


TEXTS = sections(Path(__file__).parent / "pins.txt")
HALL = TEXTS["HALL"]


def placed(folder: Path, place: str = "place a[3] in h.B[5] at 2U; place a[0] in h.A[1]") -> Fabric:
    return fabric_of(HALL.replace("PLACE", place), folder)


def reported(found: Diagnostics) -> list[tuple[object, ...]]:
    return [(d.code, d.severity, d.message, d.span, [x.message for x in d.labels], d.notes, d.help) for d in found.items]


KEEP = "keep the links between these devices; if the moves are meant, write the lock anew with `tdsl lock`"


def test_links_that_move() -> None:
    """Which of them go, and where the lower end of the others leads; a line may have its ends in either order."""
    b = small()
    made = b.build()
    texts = [
        ("a[0].p[0]", "b[0].p[0]"), ("b[0].p[1]", "a[1].p[0]"), ("a[0].p[0]", "b[0].p[3]"), ("b[0].p[2]", "a[1].p[0]"),
        ("a[0].p[1]", "b[0].p[2]"), ("a[0].p[1]", "b[0].p[1]"),
    ]  # fmt: skip
    spans = [SourceSpan(SourceFile("x.lock", "one line"), k, k + 1) for k in range(len(texts))]
    lines = [PinnedLink(x, y, s) for (x, y), s in zip(texts, spans, strict=True)]
    notes = (
        "a[0].p[0]: from b[0].p[3] to b[0].p[0]", "a[1].p[0]: from b[0].p[2] to b[0].p[1]", "a[0].p[1] to b[0].p[2] goes",
        "b[0].p[1]: from a[0].p[1] to a[1].p[0]",
    )  # fmt: skip
    for severity in (Severity.NOTE, Severity.ERROR):
        found = Diagnostics()
        report_moved_links(lines, made, found, severity)
        assert reported(found) == [
            ("E0495", severity, "4 of 6 existing links would move", spans[2], ["in this design"], notes, KEEP)
        ]
        assert found.items[0].labels[0].span == made.origin.span
    for stay in (lines[:2], [], [lines[1]]):
        found = Diagnostics()
        report_moved_links(stay, made, found, Severity.ERROR)
        assert found.items == []


def test_devices_that_move(tmp_path: Path) -> None:
    """Where a device is now, or that it has no place; the number of devices and of places recorded."""
    f = placed(tmp_path, "place a[3] in h.B[5] at 2U; place top in h.A[1] at 4U; place a[1] in i.A[1] at 3U")
    stay = [("a[3]", "h", "B", 5, 2), ("top", "h", "A", 1, 4), ("a[1]", "i", "A", 1, 3)]
    away = [
        ("a[3]", "h", "B", 5, 1), ("top", "h", "A", 2, 4), ("a[1]", "h", "A", 1, 3), ("a[3]", "h", "A", 5, 2),
        ("a[0]", "h", "A", 1, 4), ("gone", "i", "A", 1, 1),
    ]  # fmt: skip
    notes = (
        "a[3]: from h.B[5] at 1U to h.B[5] at 2U", "top: from h.A[2] at 4U to h.A[1] at 4U",
        "a[1]: from h.A[1] at 3U to i.A[1] at 3U",
        "a[3]: from h.A[5] at 2U to h.B[5] at 2U", "a[0], in h.A[1] at 4U, goes", "gone, in i.A[1] at 1U, goes",
    )  # fmt: skip
    spans = [SourceSpan(SourceFile("x.lock", "one long line"), k, k + 1) for k in range(9)]
    mounts = [Mount(*m, s) for m, s in zip([*stay, *away], spans, strict=True)]
    for severity in (Severity.NOTE, Severity.ERROR):
        found = Diagnostics()
        report_relocated_devices(mounts, f, found, severity)
        help = "keep the devices and racks; if the moves are meant, write the lock anew with `tdsl lock`"
        said = "6 of 9 placed devices would move"
        assert reported(found) == [("E0211", severity, said, spans[3], ["in this design"], notes, help)]
        assert found.items[0].labels[0].span == f.origin.span
    none = Diagnostics()
    report_relocated_devices(mounts[:3], f, none, Severity.ERROR)
    report_relocated_devices([], f, none, Severity.ERROR)
    report_relocated_devices([], small().build(), none, Severity.ERROR)
    assert none.items == []


def test_names_that_the_design_has_changed() -> None:
    """Lines and places with the new names of devices; one note says how many devices each name has."""
    made = small().build()
    there = SourceSpan(HERE.file, 1, 3)
    lines = [PinnedLink("low[0].p[0]", "top[0].p[0]", HERE), PinnedLink("low[1].p[0]", "top[0].p[1]", there)]
    mounts = [Mount("low[1]", "h", "A", 1, 2, HERE), Mount("other", "h", "A", 1, 3, HERE)]
    found = Diagnostics()
    new, stay = carry_over_renames(lines, mounts, made, found)
    assert new == [PinnedLink("a[0].p[0]", "b[0].p[0]", HERE), PinnedLink("a[1].p[0]", "b[0].p[1]", there)]
    assert stay == [Mount("a[1]", "h", "A", 1, 2, HERE), mounts[1]]
    (note,) = found.items
    assert (note.code, note.severity, note.span) == ("E0498", Severity.NOTE, HERE)
    assert note.message == (
        "the design has other names for devices of this lock: `low` is `a` (2 devices), `top` is `b` (1 device)"
    )
    assert note.help == "`tdsl lock` writes the lock with the new names; no cable moves because of them"
    none = Diagnostics()
    same = [PinnedLink("a[0].p[0]", "b[0].p[0]", HERE), PinnedLink("c[0].p[0]", "b[0].p[0]", HERE)]
    assert carry_over_renames(same, mounts, made, none) == (same, mounts) and none.items == []
