"""Places in the judgements that are kept between calls: they follow their tokens, or are refused."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.answers.form import NotKept
from tdsl.answers.judgements import restore_judgements, written_judgements
from tdsl.compile.session import WiringTokens
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.verify.check import Judgement, PropertyFault

OLD = SourceFile("pod.fab", "fabric f {\n  host node: NODE\n}\n")
NEW = SourceFile("pod.fab", "# a comment\n\n\nfabric f {\n\n  host node: NODE  # more\n}\n")
BESIDE = SourceFile("lib.fab", "model host NODE { }\n")


def wired(file: SourceFile) -> Any:
    """What of a wired fabric the judgements read: the tokens of its text, and what is known of it."""
    return SimpleNamespace(layout=WiringTokens(file, [], "f"), known=SimpleNamespace(plain={}, claims={}))


def place(file: SourceFile, word: str) -> SourceSpan:
    """Where a word is for the first time."""
    at = file.text.index(word)
    return SourceSpan(file, at, at + len(word))


def again(span: SourceSpan, files: list[SourceFile]) -> SourceSpan:
    """A place that was written with the old text and is read with the new one."""
    made, now = wired(OLD), wired(NEW)
    made.known.plain["a"] = Judgement("refuted", "why", faults=(PropertyFault(Origin(span), "m"),))
    restore_judgements(json.loads(json.dumps(written_judgements(made))), now, files)
    (fault,) = now.known.plain["a"].faults
    assert fault.at is not None
    found: SourceSpan = fault.at.span
    return found


@pytest.mark.parametrize("word", ["fabric", "host", "node: NODE", "NODE", "od", "{"])
def test_a_place_follows_its_tokens(word: str) -> None:
    assert again(place(OLD, word), [NEW]) == place(NEW, word)


@pytest.mark.parametrize(
    ("start", "end", "fits"), [(0, 0, True), (20, 20, True), (0, 20, True), (0, 21, False), (5, 4, False), (-1, 3, False)]
)
def test_a_place_outside_another_file_is_refused(start: int, end: int, fits: bool) -> None:
    """The file has 20 characters."""
    assert len(BESIDE.text) == 20
    span = SourceSpan(BESIDE, start, end)
    if fits:
        assert again(span, [NEW, BESIDE]) == span
    else:
        with pytest.raises(NotKept, match=r"^a place outside its file$"):
            again(span, [NEW, BESIDE])


def test_what_cannot_be_written_is_left_out() -> None:
    """A value of an unknown kind and a place of another text are left out, and what comes after is kept."""
    made, now = wired(OLD), wired(NEW)
    odd = Judgement("proved", "odd", value=object())  # type: ignore[arg-type]
    elsewhere = Judgement("proved", "elsewhere", labels=((place(NEW, "host"), "here"),))
    plain = Judgement("proved", "plain", 3, labels=((place(OLD, "host"), "here"),))
    made.known.plain = {"a": odd, "b": elsewhere, "c": plain}
    made.known.claims = {"d": (odd, {}), "e": (elsewhere, {}), "g": (plain, {("text", "a.csv", 5, ()): "digest"})}
    document = json.loads(json.dumps(written_judgements(made)))
    assert [p[0] for p in document["plain"]] == ["c"] and [c[0] for c in document["claims"]] == ["g"]
    restore_judgements(document, now, [NEW])
    kept = Judgement("proved", "plain", 3, labels=((place(NEW, "host"), "here"),))
    assert now.known.plain == {"c": kept}
    assert now.known.claims == {"g": (kept, {("text", "a.csv", 5, ()): "digest"})}
