"""Findings of an earlier text at their new places, what encloses a place, comments that waive, and names of a workspace."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import extras
from tdsl.ide.extras import _common_prefix_length, declarations_matching, enclosing_spans, findings_moved_to_text, waiver_comment
from tdsl.syntax.parser import parse_source_file


def test_findings_that_move() -> None:
    """What stands before the change stays, what stands behind it moves, and what was changed goes; other files do not."""
    random = Random(1)
    seen = set()
    for _ in range(400):
        before = "".join(random.choice("abc\n") for _ in range(random.randint(0, 9)))
        low = random.randint(0, len(before))
        high = random.randint(low, len(before))
        after = before[:low] + "".join(random.choice("abc") for _ in range(random.randint(0, 3))) + before[high:]
        old, new, other = SourceFile("a", before), SourceFile("a", after), SourceFile("b", "xyz")
        head = next((k for k, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), min(len(before), len(after)))
        assert _common_prefix_length(before, after) == head
        room = min(len(before), len(after)) - head
        tail = 0
        while tail < room and before[-1 - tail] == after[-1 - tail]:
            tail += 1

        def moved(
            s: SourceSpan, head: int = head, tail: int = tail, old: SourceFile = old, new: SourceFile = new
        ) -> SourceSpan | None:
            if s.file.name == "b":
                return s
            if s.end <= head:
                return SourceSpan(new, s.start, s.end)
            shift = len(new.text) - len(old.text)
            return SourceSpan(new, s.start + shift, s.end + shift) if s.start >= len(old.text) - tail else None

        def span(old: SourceFile = old, other: SourceFile = other) -> SourceSpan:
            file = random.choice((old, old, other))
            start = random.randint(0, len(file.text))
            return SourceSpan(file, start, random.randint(start, len(file.text)))

        fix = Fix("t", ())
        found = [
            Diagnostic("E0101", f"m{k}", random.choice((None, span(), span())), (Label(span(), "l"), Label(span(), "k")), fix=fix)
            for k in range(3)
        ]
        wanted = [
            replace(
                d, span=d.span and moved(d.span), fix=None,
                labels=tuple(Label(at, x.message) for x in d.labels if (at := moved(x.span)) is not None),
            )
            for d in found if d.span is None or moved(d.span) is not None
        ]  # fmt: skip
        assert [repr(d) for d in findings_moved_to_text(found, old, new)] == [repr(d) for d in wanted]
        seen.add((len(wanted), head > 0, tail > 0))
    assert len(seen) >= 10


def test_what_encloses_a_place() -> None:
    """From the smallest part to the whole text: each holds the one before, and the place."""
    text = "fabric f {\n  group su[2] { switch leaf[2]: SW; connect leaf[0] to leaf[1] }\n  let n = (1 + 2) * 3\n}\n# end\n"
    file = SourceFile("a.fab", text)
    body = parse_source_file(file, Diagnostics()).body
    for at in range(len(text) + 1):
        found = enclosing_spans(body, file, at)
        assert (found[-1].start, found[-1].end) == (0, len(text))
        assert all(s.start <= at <= s.end for s in found)
        assert all(b.start <= a.start and a.end <= b.end and (a.start, a.end) != (b.start, b.end) for a, b in pairwise(found))
    sizes = [text[s.start : s.end] for s in enclosing_spans(body, file, text.index("2) * 3"))]
    assert sizes[:2] == ["2", "1 + 2"]
    assert sizes[-3].startswith("let n") and sizes[-2].startswith("fabric f {")
    assert [text[s.start : s.end] for s in enclosing_spans(body, file, text.index("# end"))] == [text]
    leaf = [text[s.start : s.end] for s in enclosing_spans(body, file, text.index("leaf[1]") + 1)]
    assert "connect leaf[0] to leaf[1]" in leaf and any(x.startswith("group su[2]") for x in leaf) and leaf[0] == "leaf"


def test_comments_that_waive() -> None:
    """Above the line of the finding, with its indentation; none for errors of the language, and for what is allowed already."""
    file = SourceFile("a.fab", "one\n \t two  \nthree\n")
    d = Diagnostic("E0405", "m", SourceSpan(file, 8, 9))
    assert waiver_comment(d) == (4, " \t # tdsl: allow(oversubscription) state the reason here\n")
    assert waiver_comment(replace(d, span=SourceSpan(file, 1, 9))) == (
        0,
        "# tdsl: allow(oversubscription) state the reason here\n",
    )
    assert waiver_comment(replace(d, span=None)) is None and waiver_comment(replace(d, severity=Severity.ALLOWED)) is None
    assert waiver_comment(replace(d, code="E0001")) is None
    assert waiver_comment(replace(d, severity=Severity.WARNING)) is not None


def names(found: list[Any]) -> list[tuple[str, tuple[str, ...]]]:
    return [(s.name, around) for s, around in found]


def test_declarations_of_a_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in order, hidden ones and those that cannot be read left out, texts of open buffers in their place."""
    root = tmp_path.resolve()
    texts = {
        "b.fab": "fabric Bee { group leafy[2] { switch leaf: SW }; switch other: SW }\n", "a/c.fab": "fabric leaf_c { }\n",
        ".h/x.fab": "fabric leaf_hidden { }\n", "a/.y.fab": "fabric leaf_hidden { }\n", "n.txt": "fabric leaf_n { }\n",
        "z.fab": "fabric none { }\n",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    (root / "bad.fab").write_bytes(b"\xfffabric leaf_bad {}")
    wanted = [("leaf_c", ()), ("leafy", ("Bee",)), ("leaf", ("Bee", "leafy"))]
    assert names(declarations_matching([root], {}, "LEAF")) == wanted
    overlay = {
        str(root / "z.fab"): "fabric leaf_z { }\n",
        str(root / "new.fab"): "fabric leaf_new { }\n",
        "/else/q.fab": "fabric leaf_q {}",
    }
    assert names(declarations_matching([root], overlay, "leaf")) == [*wanted, ("leaf_new", ()), ("leaf_z", ())]
    assert (
        len(names(declarations_matching([root, root / "a"], {}, "leaf"))) == 4
        and declarations_matching([root], {}, "nothing") == []
    )
    every = names(declarations_matching([root], {}, ""))
    assert every == [
        ("leaf_c", ()),
        ("Bee", ()),
        ("leafy", ("Bee",)),
        ("leaf", ("Bee", "leafy")),
        ("other", ("Bee",)),
        ("none", ()),
    ]
    for most in (1, 2, 3, 4, 6, 9):
        monkeypatch.setattr(extras, "MOST_SYMBOLS", most)
        assert names(declarations_matching([root], {}, "")) == every[:most]
    for most, count in ((1, 1), (2, 5), (3, 5), (4, 6)):
        monkeypatch.setattr(extras, "MOST_FILES", most)
        assert names(declarations_matching([root], {}, "")) == every[:count], most
