"""What an editor's process says of a text with what it keeps of earlier ones is what a new process says of it."""

from __future__ import annotations

import ctypes
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile.session import EditorSession
from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import SourceSpan
from tdsl.ide.judge import Question, TextJudgement, judge_in_stages
from tdsl.ide.worker import GivenUp
from tests.tables import sections, table

PARTS, DESIGN = sections(__file__)["parts"], sections(__file__)["design"]
EDITS, IN_PARTS = table(__file__, "edits"), table(__file__, "edits of parts")
FOLDER = TemporaryDirectory()
HERE = Path(FOLDER.name).resolve() / "design.fab"
HERE.with_name("parts.fab").write_text(PARTS)


def question(edits: list[int], parts: int) -> Question:
    """The design with some edits, each where it still finds its words."""
    text, old_new = DESIGN, [EDITS[i] for i in edits]
    for old, new in old_new:
        text = text.replace(old, new, 1) if old else text
    return Question(str(HERE), {str(HERE): text, str(HERE.with_name("parts.fab")): PARTS.replace(*IN_PARTS[parts])})


def place(span: SourceSpan | None) -> Any:
    return span and (span.file.name, span.file.text[span.start : span.end], span.start, span.end)


def finding(d: Diagnostic) -> Any:
    edits = d.fix and [(place(s), text) for s, text in d.fix.edits]
    labels = [(place(x.span), x.message) for x in d.labels]
    return d.code, d.severity, d.message, place(d.span), labels, d.notes, d.help, edits, d.count, d.allowed


def said(answers: Iterator[TextJudgement]) -> Any:
    *_, last = answers
    return [finding(d) for d in last.findings], last.facts, last.sets, last.wrong, last.lenses


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, len(EDITS) - 1), max_size=2), st.sampled_from([0] * 6 + [*range(1, 6)])), max_size=4
    )
)
@settings(max_examples=6)
def test_each_text_as_if_it_were_the_first(texts: list[tuple[list[int], int]]) -> None:
    kept = EditorSession()
    for edits, parts in [([], 0), *texts]:
        asked = question(edits, parts)
        assert said(judge_in_stages(asked, kept)) == said(judge_in_stages(asked, EditorSession())), asked.overlay


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the process asks itself again then
@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers that interrupt")
def test_a_question_that_is_given_up_leaves_nothing_half_made() -> None:
    """Interrupted at any instruction; what is asked next is answered as by a new process."""
    order, kept, asking = random.Random(5), EditorSession(), [False]
    expected: dict[tuple[int, int], Any] = {}

    def interrupt(number: int, frame: object) -> None:
        if asking[0]:  # not once the question is answered, just before the timer is stopped
            raise GivenUp

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(10):
            asked = question([order.randrange(len(EDITS))], 0)
            try:
                asking[0] = True
                signal.setitimer(signal.ITIMER_REAL, order.uniform(0.001, 0.15))
                for _ in judge_in_stages(asked, kept):
                    pass
                asking[0] = False
            except (GivenUp, ctypes.ArgumentError):  # the latter where z3 was being called
                kept.interrupted()
            finally:
                asking[0] = False
                signal.setitimer(signal.ITIMER_REAL, 0)
            which = order.randrange(len(EDITS)), 0
            if which not in expected:
                expected[which] = said(judge_in_stages(question([which[0]], 0), EditorSession()))
            assert said(judge_in_stages(question([which[0]], 0), kept)) == expected[which]
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("name", "title", "old", "new"),
    [
        ("statement_spares_more_than_hosts", "write `spares 1`", "spares 5", "spares 1"),
        ("statement_forwards_a_switch", "leave out `forwards`", "forwards", ""),
        ("link_without_rate", "write `{ rate 400Gbps }`", "", " { rate 400Gbps }"),
        ("jobs_of_other_size", "write `data 4`", "data 2", "data 4"),
        ("statement_transport_two_families", "write `transport ethernet`", "", "; transport ethernet"),
        ("newcomer_omit_range", None, None, None),
    ],
)
def test_what_help_has_in_backquotes_is_a_fix_where_it_mends(name: str, title: str | None, old: str, new: str) -> None:
    path = Path(__file__).parents[1] / "errors" / "design" / f"{name}.fab"
    *_, last = judge_in_stages(Question(str(path)))
    fixes = [d.fix for d in last.findings if d.fix is not None and not d.fix.safe]
    if title is None:
        assert not fixes
        return
    (span, text), *others = fixes[0].edits
    assert (fixes[0].title, span.file.text[span.start : span.end], text, others) == (title, old, new, [])
