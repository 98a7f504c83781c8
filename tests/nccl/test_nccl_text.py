"""What the reader of NCCL's XML keeps of a text, and how much NCCL has room for."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.nccl.dialects import NCCL
from tdsl.nccl.text import MAX_ATTRIBUTES, MAX_BYTES, NcclElement, read_nccl_xml


def reading(text: str) -> tuple[NcclElement | None, list[str]]:
    """The top element, and the findings in the order in which they are found."""
    found = Diagnostics()
    top = read_nccl_xml(SourceFile("topo.xml", text), found)
    told = []
    for d in found:
        assert d.span is not None
        told.append(f"{d.severity.name[0].lower()}{d.code[3:]} {d.span.start}-{d.span.end} {d.message} / {d.help}")
    return top, told


def test_the_first_of_equal_attributes_counts_and_a_name_ends_at_once() -> None:
    assert reading("<system></system >")[1] == ["e21 16-17 </system is not closed at once / write `</system>`"]
    top, _ = reading('<system version="1" version="2"/>')
    assert top is not None and top.attributes == {"version": "1"} and top.place("version").start == 16


@pytest.mark.parametrize(
    ("letters", "fits"), [("a" * MAX_BYTES, True), ("a" * (MAX_BYTES + 1), False), ("é" * 126, True), ("é" * 127, False)]
)
def test_the_longest_names_and_values(letters: str, fits: bool) -> None:
    """253 bytes; the name of an attribute with a value may have 254."""
    end = 11 + len(letters)
    wanted = [] if fits else [f"e21 10-{end} the value of `a` is longer than 253 bytes / shorten it"]
    assert reading(f'<system a="{letters}"/>')[1] == wanted
    tag = reading(f"<{letters}/>")[1][0]
    assert (
        tag.startswith("w22") if fits else tag == f"e21 1-{1 + len(letters)} a tag's name is longer than 253 bytes / shorten it"
    )
    closing = reading(f"<system></{letters}>")[1]
    assert ("longer" in closing[0]) is not fits
    bare = reading(f"<system {letters}/>")[1][0]
    assert bare.startswith("w24") if fits else "an attribute's name is longer than 253 bytes" in bare


def test_the_longest_name_of_an_attribute() -> None:
    assert reading(f'<system {"a" * (MAX_BYTES + 1)}="1"/>')[1] == []
    assert reading(f'<system {"a" * (MAX_BYTES + 2)}="1"/>')[1] == [
        "e21 8-263 an attribute's name is longer than 253 bytes / shorten it"
    ]


def test_as_many_attributes_as_there_is_room_for() -> None:
    def attributes(count: int) -> str:
        return "<system" + "".join(f' a{n}="1"' for n in range(count)) + "/>"

    assert reading(attributes(MAX_ATTRIBUTES))[1] == []
    assert reading(attributes(MAX_ATTRIBUTES + 1))[1] == [
        "e25 0-7 17 attributes: NCCL keeps 16 and writes its own beyond them / "
        "keep to the attributes that NCCL knows for <system>"
    ]


def test_as_many_elements_as_there_is_room_for() -> None:
    """Of a topology 255, of graphs 65,535; below one element 640."""
    small = "<system>" + "<cpu/>" * (NCCL.room - 2)
    assert reading(small + "</system>")[1] == []
    assert reading(small + "<cpu/></system>")[1] == [
        "e25 1532-1536 256 elements: NCCL reads 255 at most / leave out what NCCL does not need"
    ]
    big = "<graphs><graph>" + "<channel/>" * NCCL.most_children
    assert reading(big + "</graph></graphs>")[1] == []
    assert reading(big + "<channel/></graph></graphs>")[1] == [
        f"e25 {15 + 6400}-{15 + 6408} more than 640 elements in one <graph> / leave some out"
    ]
