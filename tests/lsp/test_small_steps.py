"""Single steps of what an editor is told: colours as numbers, places that move, members of a compiled fabric, columns."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import positions
from tdsl.ide.colours import MODIFIERS, TYPES, Colour, colours_as_numbers
from tdsl.ide.facts import Placed
from tdsl.ide.known import KnownNames
from tdsl.ide.rename import Moves, _design_files_below
from tdsl.ide.scopes import Name, NameBlock, add_name_to_block
from tdsl.syntax.parser import parse_source_file


def test_colours_as_numbers() -> None:
    """Lines and columns are counted from the word before; columns from the begin of the line on another line."""
    file = SourceFile("a", "ab cd\n\n  efg h\ni")
    found = [
        Colour(0, 2, "keyword"), Colour(3, 5, "class", ("declaration", "defaultLibrary")), Colour(9, 12, "number", ("readonly",)),
        Colour(13, 14, "operator"), Colour(15, 16, "string", MODIFIERS),
    ]  # fmt: skip
    given = colours_as_numbers(found, lambda offset: positions.editor_position(file, offset, "utf-16"))
    assert given == [
        0, 0, 2, 0, 0,
        0, 3, 2, 1, 5,
        2, 2, 3, TYPES.index("number"), 2,
        0, 4, 1, 13, 0,
        1, 0, 1, 10, 7,
    ]  # fmt: skip
    assert colours_as_numbers([], lambda _: (0, 0)) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_every_offset_there_and_back(encoding: str) -> None:
    """Columns in units of the encoding, by encoding the text before; between two units of a character it is that character."""
    file = SourceFile("a", "aé漢\U0001f600z\n\nascii only\n\U0001f600")
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    name = encoding if width == 1 else f"{encoding}-le"
    for offset in range(len(file.text) + 1):
        before = file.text[:offset].split("\n")
        line, column = len(before) - 1, len(before[-1].encode(name)) // width
        assert positions.editor_position(file, offset, encoding) == (line, column)
        assert positions.offset_of_editor_position(file, line, column, encoding) == offset
        here = file.text[offset : offset + 1]
        for within in range(1, len(here.encode(name)) // width if here != "\n" else 0):
            assert positions.offset_of_editor_position(file, line, column + within, encoding) == offset
    assert [positions.offset_of_editor_position(file, *at, encoding) for at in ((0, 99), (1, 5), (2, 99), (3, 99), (4, 0), (9, 9))] == [
        5, 6, 17, 19, 19, 19,
    ]  # fmt: skip
    assert positions.path_of_finding_file("a/b.fab") == Path("a/b.fab") and positions.path_of_finding_file(
        "stdlib:x/y.fab"
    ).parts[-2:] == ("x", "y.fab")
    assert positions.path_of_finding_file("stdlib:x.fab").is_absolute()


def test_places_that_move() -> None:
    """Texts with words exchanged, and each place found again in them."""
    one, other = SourceFile("/one.fab", "abc d abc d abc"), SourceFile("/other.fab", "d abc")
    spans = [SourceSpan(one, 0, 3), SourceSpan(one, 12, 15), SourceSpan(one, 6, 9), SourceSpan(other, 2, 5)]
    for new in ("x", "abc", "longer"):
        moved = Moves(spans, len(new))
        assert moved.texts(new) == {
            "/one.fab": f"{new} d {new} d {new}", "/other.fab": f"d {new}",
        }  # fmt: skip
        more = len(new) - 3
        wanted = {0: 0, 4: 4 + more, 6: 6 + more, 10: 10 + 2 * more, 12: 12 + 2 * more, 15: 15 + 3 * more}
        assert {at: moved.to(one, at) for at in wanted} == wanted
        assert moved.to(other, 2) == 2 and moved.to(other, 5) == 5 + more and moved.to(SourceFile("/none.fab", ""), 7) == 7


def test_designs_below_a_folder(tmp_path: Path) -> None:
    """In order, the folder's own first, hidden folders left out."""
    for name in ("b/x.fab", "a/y.fab", "z.fab", "y.fab", ".git/q.fab", "a/.h/q.fab", "a/n.toml", "fab"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert [p.relative_to(tmp_path).as_posix() for p in _design_files_below(tmp_path)] == ["y.fab", "z.fab", "a/y.fab", "b/x.fab"]


def test_members_of_a_fabric_that_was_compiled() -> None:
    """What the text declares, then what its intent adds; of a group what lies below, and a device once."""
    file = SourceFile("/a.fab", "fabric f {\n  switch own: SW\n  hosts 4 x H\n}\nfabric g { }\n")
    rows = [
        ("f", ("own",), ("switch",), "", "SW"), ("f", ("pod", "leaf"), ("group", "switch"), "[4]", "SW"),
        ("f", ("pod", "host"), ("group", "host"), "[2]", "H"), ("f", ("spine",), ("switch",), "[2]", "SW"),
        ("f", ("pod", "in", "x"), ("group", "group", "switch"), "", "SW"), ("g", ("other",), ("switch",), "", "SW"),
    ]  # fmt: skip
    sets: Any = tuple(
        Placed(fabric=fabric, names=names, kinds=kinds, shape=shape, model=model) for fabric, names, kinds, shape, model in rows
    )
    known: Any = object.__new__(KnownNames)  # the library is not asked
    known.sets = sets
    body: Any = parse_source_file(file, Diagnostics()).body
    meant: dict[str, Any] = {s.name.name: SimpleNamespace(node=s, home=None) for s in body}

    def shown(of: Any) -> list[tuple[str, str, str]]:
        return [(m.name, m.kind, m.detail) for m in known.members(of)]

    assert shown(meant["f"]) == [
        ("own", "switch", "switch own: SW"), ("pod", "group", "group pod"), ("spine", "switch", "switch spine[2]: SW"),
    ]  # fmt: skip
    assert shown(meant["g"]) == [("other", "switch", "switch other: SW")]
    pod = known.members(meant["f"])[1]
    assert pod.node == ("f", ("pod",))
    assert shown(pod) == [
        ("leaf", "switch", "switch leaf[4]: SW"),
        ("host", "host", "host host[2]: H"),
        ("in", "group", "group in"),
    ]
    inner = known.members(pod)
    assert inner[0].node == Placed(fabric="f", names=("leaf",), kinds=("group", "switch"), shape="[4]", model="SW")
    assert inner[2].node == ("f", ("pod", "in")) and shown(inner[2]) == [("x", "switch", "switch x: SW")]


def test_names_of_blocks() -> None:
    """The nearest block that has a name holds; a file's own members are looked up elsewhere. Two of one place are one."""
    file = SourceFile("a", "a b c d e")

    def name(text: str, at: int, inner: NameBlock | None = None) -> Name:
        return Name(text, "switch", SourceSpan(file, at, at + 1), inner=inner)

    top = NameBlock()
    fabric = NameBlock(top)
    group = NameBlock(fabric)
    deep = NameBlock(group)
    for block, at in ((top, 0), (fabric, 2)):
        add_name_to_block(block.values, name("v", at))
        add_name_to_block(block.members, name("m", at))
    add_name_to_block(group.members, name("m", 4, deep))
    add_name_to_block(group.members, name("m", 4))
    add_name_to_block(group.members, name("m", 6))
    add_name_to_block(deep.members, name("m", 8))
    add_name_to_block(fabric.members, name("g", 6, group))
    add_name_to_block(fabric.members, name("again", 8, fabric))
    assert [n.place.start for n in deep.value("v")] == [2] and [n.place.start for n in top.value("v")] == [0]
    assert deep.value("none") == deep.member("none") == top.member("m") == []
    assert [n.place.start for n in deep.member("m")] == [8] and [n.place.start for n in group.member("m")] == [4, 6]
    assert [n.place.start for n in NameBlock(fabric).member("m")] == [2]
    assert (
        sorted(n.place.start for n in deep.everywhere("m"))
        == sorted(n.place.start for n in fabric.everywhere("m"))
        == [2, 4, 6, 8]
    )
    assert [n.place.start for n in top.everywhere("m")] == [0] and deep.everywhere("v") == []
