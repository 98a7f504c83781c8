"""How the reader of NCCL's XML goes through a text: where it stops, what it drops, and what it keeps, with whole messages."""
# ruff: noqa: E501

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.nccl.text import MAX_ATTRIBUTES, MAX_BYTES, MAX_CHILDREN, ROOM, NcclElement, read_nccl_xml

# The text; the names of the elements that are kept, None if the reader gives up; the findings: initial of the severity, code,
# place, message / help.
CASES: list[tuple[str, str | None, list[str]]] = [
    ("", None, ["e22 0-0 no <system> in the file: NCCL goes on as if there were none / describe one"]),
    ("<", None, ["e21 0-1 the file ends inside a tag's name / close it"]),
    ("<a", None, ["e21 1-2 the file ends inside a tag's name / close it"]),
    ("< ", None, ["e21 1-2 the file ends inside an attribute's name / close it"]),
    ("<a ", None, ["e21 2-3 the file ends inside an attribute's name / close it"]),
    ("<a b", None, ["e21 3-4 the file ends inside an attribute's name / close it"]),
    ("<a b=", None, ["e21 4-5 the file ends inside the value of `b` / close it"]),
    ('<a b="', None, ['e21 5-6 the value of `b` has no closing quote / close it with "']),
    ('<a b="c"', None, ["e21 5-8 the file ends inside the tag of `b` / close it"]),
    ("</", None, ["e21 1-2 the file ends inside a closing tag / close it"]),
    ("</a", None, ["e21 2-3 the file ends inside a closing tag / close it"]),
    ("<!--", None, ["e21 1-4 the file ends inside the first word of a comment / close it"]),
    ("<!-- a", None, ["e21 0-6 this comment has no end / end it with `-->`"]),
    (
        "<!--a=b-->",
        None,
        ["e21 5-6 a `=` in the first word of a comment: NCCL takes the word before it for a name / put a space before the `=`"],
    ),
    ("<=a>", None, ["e21 1-2 a `=` in a tag's name: NCCL takes the word before it for a name / give the element a name"]),
    ("<a=b>", None, ["e21 2-3 a `=` in a tag's name: NCCL takes the word before it for a name / give the element a name"]),
    ("x", None, ["e21 0-1 text between tags: 'x' / remove it, or put it into a comment `<!-- … -->`"]),
    ("  x\ny", None, ["e21 2-3 text between tags: 'x' / remove it, or put it into a comment `<!-- … -->`"]),
    ("\t<a/>", None, ["e21 0-1 a tab between tags: NCCL accepts spaces and line ends only / indent with spaces"]),
    (
        "\n\nabcdefghijklmnop",
        None,
        ["e21 2-14 text between tags: 'abcdefghijkl' / remove it, or put it into a comment `<!-- … -->`"],
    ),
    ("</a>", None, ["e21 0-4 </a> closes nothing / remove it"]),
    ("</a >", None, ["e21 3-4 </a is not closed at once / write `</a>`"]),
    ("<system>", None, ["e21 0-7 <system> is not closed / write `</system>`"]),
    ("<system></cpu>", None, ["e21 8-14 </cpu> closes <system> / write `</system>`"]),
    (
        "<a\n>",
        None,
        ["e21 2-3 the tag <a> goes on after a line end / a tag and its attributes are on one line, separated by one space"],
    ),
    ('<a\tb="1">', None, ["e21 4-5 a `=` in a tag's name: NCCL takes the word before it for a name / give the element a name"]),
    (
        '<a b="1"\n>',
        None,
        ["e21 8-9 the tag <a> goes on after a line end / a tag and its attributes are on one line, separated by one space"],
    ),
    ("<a b='1>", None, ["e21 5-8 the value of `b` has no closing quote / close it with '"]),
    ("<a b=1>", None, ['e21 5-6 the value of `b` has no quotes / write b="…"']),
    (
        '<system b="1\n2"/>',
        "system",
        ['w24 10-12 the value of `b` goes on over a line end: is a quote missing? / close it with "'],
    ),
    (
        "<system b='1\n\n2'/>",
        "system",
        ["w24 10-12 the value of `b` goes on over a line end: is a quote missing? / close it with '"],
    ),
    ("<system b/>", "system", ['w24 8-9 `b` has no value: NCCL takes it for empty / write b="…"']),
    (
        '<system  b="1"/>',
        "system",
        [
            "w25 8-9 an extra space: NCCL counts an attribute without a name / put one space before an attribute, and none before the end of the tag"
        ],
    ),
    (
        '<system b="1" />',
        "system",
        [
            "w25 14-15 an extra space: NCCL counts an attribute without a name / put one space before an attribute, and none before the end of the tag"
        ],
    ),
    ('<system ="1"/>', "system", ['w22 9-12 ="1" has no name: NCCL looks for none / name the attribute']),
    ('<system b="1" b="2"/>', "system", ["w22 16-19 `b` is given twice: the first counts / keep one of them"]),
    (
        "<system /x>",
        "system",
        [
            "w25 8-9 an extra space: NCCL counts an attribute without a name / put one space before an attribute, and none before the end of the tag",
            "w22 9-10 'x' between `/` and `>`: NCCL ignores it / end the tag with `/>`",
        ],
    ),
    ('<system b="1"x>', None, ["e21 13-14 'x' in the tag <system>, where NCCL expects its end / end the tag with `>` or `/>`"]),
    ('<system b=""/>', "system", []),
    (
        "<system\x00/>",
        None,
        [
            "e24 7-8 a NUL byte: to NCCL a name or value ends there / save the file as plain text",
            "w22 0-8 NCCL does not look for <system\x00> at the top of a file, and ignores it / remove it",
            "e22 0-1 no <system> in the file: NCCL goes on as if there were none / describe one",
        ],
    ),
    (
        '<system version="1"/><system version="1"/><system version="1"/>',
        "system",
        [
            "w22 21-28 a second <system>: NCCL uses the first / write a file for each",
            "w22 42-49 a second <system>: NCCL uses the first / write a file for each",
        ],
    ),
    (
        '<system version="1"/>\n<cpu/>',
        "system",
        ["e22 22-26 NCCL does not look for <cpu> at the top of a file, and ignores it / it belongs in <system>"],
    ),
    (
        "<graphs/><system/>",
        "graphs",
        ["w22 9-16 NCCL does not look for <system> at the top of a file, and ignores it / remove it"],
    ),
    (
        "<system/><graphs/>",
        "system",
        ["w22 9-16 NCCL does not look for <graphs> at the top of a file, and ignores it / remove it"],
    ),
    (
        "<net/>",
        None,
        [
            "w22 0-4 NCCL does not look for <net> at the top of a file, and ignores it / it belongs in <nic>",
            "e22 0-1 no <system> in the file: NCCL goes on as if there were none / describe one",
        ],
    ),
    (
        '<system><cpu><net a="1"></net><gpu/><zz><pci/></zz></cpu></system>',
        "system cpu",
        [
            "w22 13-17 NCCL does not look for <net> in <cpu>, and ignores it / it belongs in <nic>",
            "e22 30-34 NCCL does not look for <gpu> in <cpu>, and ignores it / it belongs in <pci>",
            "w22 36-39 NCCL does not look for <zz> in <cpu>, and ignores it / remove it",
        ],
    ),
    ("<system><a></b></system>", "system", ["w22 8-10 NCCL does not look for <a> in <system>, and ignores it / remove it"]),
    (
        "<system><a></system>",
        None,
        [
            "w22 8-10 NCCL does not look for <a> in <system>, and ignores it / remove it",
            "e21 0-7 <system> is not closed / write `</system>`",
        ],
    ),
    (
        "<graphs><graph><channel><net/><nic/></channel></graph></graphs>",
        "graphs graph channel net",
        ["w22 30-34 NCCL does not look for <nic> in <channel>, and ignores it / remove it"],
    ),
    ("<system>\n<cpu>\n", None, ["e21 9-13 <cpu> is not closed / write `</cpu>`"]),
    ("<!-- a -->\n<system/>\r\n<!-- b=c -->", "system", []),
    ('<system a="1" a="1"/>', "system", ["w22 16-19 `a` is given twice: the first counts / keep one of them"]),
    (
        '<system><cpu><nic><net a="1" a="2"/><net a="1" a="1"/></nic></cpu></system>',
        "system cpu nic net net",
        [
            "e26 31-34 `a` is given twice with different values: NCCL compares all, and ranks hold one adapter for two / keep one of them",
            "w22 49-52 `a` is given twice: the first counts / keep one of them",
        ],
    ),
    ("<system/>\ty", None, ["e21 9-10 a tab between tags: NCCL accepts spaces and line ends only / indent with spaces"]),
    ("<system/>x", None, ["e21 9-10 text between tags: 'x' / remove it, or put it into a comment `<!-- … -->`"]),
    (
        "<system/>abcdefghijklm",
        None,
        ["e21 9-21 text between tags: 'abcdefghijkl' / remove it, or put it into a comment `<!-- … -->`"],
    ),
    (
        "<system><!x></system>",
        None,
        [
            "w22 8-11 NCCL does not look for <!x> in <system>, and ignores it / remove it",
            "e21 0-7 <system> is not closed / write `</system>`",
        ],
    ),
    ('<a b="é"c', None, ["e21 8-9 'c' in the tag <a>, where NCCL expects its end / end the tag with `>` or `/>`"]),
    ('<system b="\'"/>', "system", []),
    ("<system/ >", None, ["e21 8-9 ' ' in the tag <system>, where NCCL expects its end / end the tag with `>` or `/>`"]),
    ("<system/ x>", None, ["e21 8-9 ' ' in the tag <system>, where NCCL expects its end / end the tag with `>` or `/>`"]),
    (
        "<system b/x>",
        "system",
        [
            'w24 8-9 `b` has no value: NCCL takes it for empty / write b="…"',
            "w22 10-11 'x' between `/` and `>`: NCCL ignores it / end the tag with `/>`",
        ],
    ),
    ('<system b= "1">', None, ['e21 10-11 the value of `b` has no quotes / write b="…"']),
    ("<!--", None, ["e21 1-4 the file ends inside the first word of a comment / close it"]),
    ("<!---->", None, ["e22 0-1 no <system> in the file: NCCL goes on as if there were none / describe one"]),
    ("<!-->", None, ["e21 0-5 this comment has no end / end it with `-->`"]),
    ("<!-- -->", None, ["e22 0-1 no <system> in the file: NCCL goes on as if there were none / describe one"]),
    ("<system/> <!--", None, ["e21 11-14 the file ends inside the first word of a comment / close it"]),
    ('<system/>\n<!x a="b"\n>', None, ["e21 10-19 a prolog or declaration: NCCL knows none / remove it"]),
    ("\n\n</system>", None, ["e21 2-11 </system> closes nothing / remove it"]),
    ("<system>\n</system\n>", None, ["e21 17-18 </system is not closed at once / write `</system>`"]),
]


def reading(text: str) -> tuple[NcclElement | None, list[str]]:
    """The top element, and the findings in the order in which they are found."""
    found = Diagnostics()
    top = read_nccl_xml(SourceFile("topo.xml", text), found)
    told = []
    for d in found:
        assert d.span is not None
        told.append(f"{d.severity.name[0].lower()}{d.code[3:]} {d.span.start}-{d.span.end} {d.message} / {d.help}")
    return top, told


def messages(text: str) -> list[str]:
    """The findings without places and help."""
    return [t.split(" / ")[0].split(" ", 2)[2] for t in reading(text)[1]]


@pytest.mark.parametrize(("text", "kept", "wanted"), CASES)
def test_reading(text: str, kept: str | None, wanted: list[str]) -> None:
    top, told = reading(text)
    assert told == wanted
    assert (None if top is None else " ".join(e.name for e in top.walk())) == kept


def test_elements_and_places_of_their_values() -> None:
    text = '<system version="1" a=\'"x"\'>\n<cpu b=""><nic/></cpu>\n<cpu/></system>'
    top, told = reading(text)
    assert top is not None and not told
    assert top.attributes == {"version": "1", "a": '"x"'} and (top.span.start, top.span.end) == (0, 7)
    places = [(top.place(n).start, top.place(n).end) for n in ("version", "a", "none")]
    assert places == [(16, 19), (22, 27), (0, 7)]
    assert [e.name for e in top.walk()] == ["system", "cpu", "nic", "cpu"]
    assert [len(top.own(n)) for n in ("cpu", "nic", "system")] == [2, 0, 0]
    assert top.children[0].attributes == {"b": ""} and top.children[0].place("b").text == '""'


def test_the_first_of_equal_attributes_counts() -> None:
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
        "e25 0-7 17 attributes: NCCL keeps 16 and writes its own beyond them / keep to the attributes that NCCL knows for <system>"
    ]


def test_as_many_elements_as_there_is_room_for() -> None:
    """Of a topology 255, of graphs 65,535; below one element 640."""
    small = "<system>" + "<cpu/>" * (ROOM["system"] - 2)
    assert messages(small + "</system>") == []
    assert reading(small + "<cpu/></system>")[1] == [
        "e25 1532-1536 256 elements: NCCL reads 255 at most / leave out what NCCL does not need"
    ]
    big = "<graphs><graph>" + "<channel/>" * MAX_CHILDREN
    assert messages(big + "</graph></graphs>") == []
    assert reading(big + "<channel/></graph></graphs>")[1] == [
        f"e25 {15 + 6400}-{15 + 6408} more than 640 elements in one <graph> / leave some out"
    ]


def test_what_is_passed_by_takes_no_room() -> None:
    text = "<system>" + "<cpu/>" * (ROOM["system"] - 2) + "<zz/>" * 3 + "</system>"
    assert len(messages(text)) == 3


def test_a_nul_at_the_very_begin() -> None:
    assert reading("\0<system/>") == (
        None,
        [
            "e24 0-1 a NUL byte: to NCCL a name or value ends there / save the file as plain text",
            "e21 0-10 text between tags: '\\x00<system/>' / remove it, or put it into a comment `<!-- … -->`",
        ],
    )


@pytest.mark.parametrize("prolog", ["<!DOCTYPE>", "<?xml?>"])
def test_a_prolog_that_is_not_closed_is_no_element_to_close(prolog: str) -> None:
    end = len(prolog) - 1
    assert reading(f"{prolog}\n<system/>") == (
        None,
        [
            f"w22 0-{end} NCCL does not look for {prolog} at the top of a file, and ignores it / remove it",
            f"e21 0-{end} a prolog or declaration: NCCL knows none / remove it",
        ],
    )
