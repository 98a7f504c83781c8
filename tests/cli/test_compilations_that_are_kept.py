"""Compilations as JSON and back, field by field, and documents that are refused."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import fields
from fractions import Fraction
from typing import Any

import pytest

from tdsl.answers import form
from tdsl.answers.form import NotKept, dumped, loaded, read, written
from tdsl.compilation import Compilation, Design
from tdsl.diagnostic import Diagnostic, Fix, Label, Severity
from tdsl.source import Origin, SourceFile, Span
from tdsl.verify.result import Result

FILE, OTHER = SourceFile("a.fab", "fabric f {}\n"), SourceFile("b.fab", "model\n")
FULL = Diagnostic(
    "E0101", "message", Span(FILE, 1, 3), (Label(Span(OTHER, 0, 6), "there"), Label(Span(FILE, 2, 2), "here")), ("n1", "n2"),
    "help",
    Fix("title", ((Span(FILE, 4, 5), "new"), (Span(OTHER, 1, 2), "")), True), Severity.WARNING, 7, "why",
)  # fmt: skip
BARE = Diagnostic("E0001", "m", None, severity=Severity.ERROR)
UNSAFE = Diagnostic("E0102", "m", Span(FILE, 0, 12), fix=Fix("t", ((Span(FILE, 0, 0), "x"),), False), severity=Severity.NOTE)
ORIGIN = Origin(Span(OTHER, 2, 4), ((Span(FILE, 0, 6), "as part of this"),))
RESULTS = [
    Result(
        "check", "proved", Fraction(1, 2), "bit/s", Fraction(1, 3), 4, True, (3, 4), "class", {"w": 1}, "reason", "requirement",
        ORIGIN,
        "text", False, "scope", {"m": 5}, {"verdict": "confirmed"},
    ),
    Result("other", "skipped", None, "", None, None, False, None, "", {}, "", None, Origin(Span(FILE, 3, 3)), "", True, "", {},
           {}),
    Result("last", "bounded", 1, "", 1, 2, True, None, "", {}, "", None, None, ""),
]  # fmt: skip


def plain(value: Any) -> Any:
    """All fields of a value, files by their names and texts."""
    if isinstance(value, SourceFile):
        return value.name, value.text
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if hasattr(value, "__dataclass_fields__"):
        return type(value).__name__, {
            f.name: plain(getattr(value, f.name)) for f in fields(value) if f.init or f.name == "clusters"
        }
    return value


def compilation(last: bool) -> Compilation:
    design = Design(
        "f", "a.fab", {"n": 4, "r": Fraction(2, 3)}, None, [], RESULTS, [FULL, UNSAFE], 1.5, "c", 2, "soon", (),
        (consists := {"hosts": 3} if last else None), lost=(("x",), 1, 2),
    )  # fmt: skip
    made = Compilation("a.fab", [design], [FULL, BARE, UNSAFE])
    made.clusters = [Design("c", "a.fab", {}, None, [], RESULTS, [BARE], 1.5, "c", 2, "soon", ("f", "g"), consists)]
    return made


def test_every_field_comes_back() -> None:
    """Figures belong to the last compilation; findings that are shared are one again, and so are files."""
    document = written([compilation(True), compilation(True)])
    again = read(loaded(dumped(document)))
    assert plain(again) == plain([compilation(False), compilation(True)])
    first, second = again
    assert [x.designs[0].consists() for x in again] == [None, {"hosts": 3}]
    assert [x.designs[0].losses() for x in again] == [(("x",), 1, 2)] * 2
    assert first.findings[0] is second.findings[0] is first.designs[0].findings[0] is second.designs[0].findings[0]
    assert first.findings[0].span is not None and first.findings[2].span is not None
    assert first.findings[0].span.file is first.findings[2].span.file is first.findings[0].labels[1].span.file
    assert document["files"] == [["a.fab", FILE.text], ["b.fab", OTHER.text]] and len(document["findings"]) == 3
    assert plain(read(loaded(dumped(written([]))))) == ["list"]


def test_documents_that_are_refused() -> None:
    """Places outside their files, numbers of nothing, and values of other kinds."""
    good = loaded(dumped(written([compilation(True)])))
    assert len(read(good)) == 1
    for at in ([0, -1, 3], [0, 3, 2], [0, 3, 13], [2, 0, 0], [1, 0, 7], [0, 1], 7, "ab"):
        wrong = deepcopy(good)
        wrong["findings"][0][2] = at
        with pytest.raises(NotKept):
            read(wrong)
    for at in ([0, 0, 12], [0, 12, 12], [0, 0, 0], [1, 6, 6]):
        right = deepcopy(good)
        right["findings"][0][2] = at
        found = read(right)[0].findings[0].span
        assert found is not None and (found.start, found.end) == (at[1], at[2])
    changes: Any = (
        lambda d: d.pop("files"), lambda d: d["compilations"][0].pop(), lambda d: d["compilations"][0][2].append(3),
        lambda d: d["findings"][0].__setitem__(7, 99), lambda d: d["findings"][0].append(1),
        lambda d: d["compilations"][0][1][0][1].__setitem__(0, ["fraction", 1, 0]),
    )  # fmt: skip
    for change in changes:
        wrong = deepcopy(good)
        change(wrong)
        with pytest.raises(NotKept):
            read(wrong)
    with pytest.raises(NotKept, match="a place outside its file"):
        read({**good, "findings": [[*good["findings"][1][:2], [0, 0, 99], *good["findings"][1][3:]]]})
    for text in (b"{", b"", b"[" * 100_000, b"\xff"):
        with pytest.raises(NotKept):
            loaded(text)
    with pytest.raises(ValueError, match=r"nan|JSON"):
        dumped([float("nan")])
    assert dumped({"a": ["ä", 1]}) == b'{"a":["\\u00e4",1]}'


def test_values_that_only_look_like_those_of_numpy() -> None:
    """What has an item, or comes from a module of that name, is refused unless it is a number of numpy."""

    class Own:
        def item(self) -> int:
            """No number of numpy."""
            return 3

    class Foreign:
        item = 5

    Foreign.__module__ = "numpy"
    for value in (Own(), Foreign()):
        with pytest.raises(NotKept):
            form.value_written(value)
