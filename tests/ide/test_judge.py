"""What an editor's process says of a text with what it keeps of earlier ones is what a new process says of it."""

from __future__ import annotations

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

from tdsl.compile.reuse import Kept
from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import SourceSpan
from tdsl.ide.judge import Question, TextJudgement, judge_in_stages
from tdsl.ide.worker import GivenUp

PARTS = """\
model host BOX { port nic[2]: 100Gbps { type GE } }
model switch TOR { port p[8]: 100Gbps { type GE } }
"""
DESIGN = """\
use parts (BOX, TOR)
# what is built
fabric f {
  param n: int = 4 where n in 2..6
  param least: int = 2
  group pod[2] {
    host node[n]: BOX
    switch leaf[2]: TOR
    connect node[h].nic[r] to leaf[r]
  }
  switch spine[?]: TOR
  connect pod[*].leaf[*] to spine[*] spread x 2
  omit pod[1].node[0]
  require oversubscription at leaf <= 2:1
  require bisection >= 50%
  require edge_redundancy >= least
  require survives any 1 of spine
  require links of pod[0].leaf[0] == 6
}
fabric g "Beside it" {
  host node[4]: BOX
  switch leaf[2]: TOR
  connect node[h].nic[r] to leaf[r]
  require diameter <= 1
  require reachability of node[*]
}
"""
EDITS = [
    ("", ""), ("# what is built\n", ""), ("# what is built", "# more words of what is built\n\n"), ("fabric f {", "fabric f  {"),
    ("<= 2:1", "<= 1:1"), ("<= 2:1", "<= 3:1"), (">= 50%", ">= 100%"), (">= 50%", ">=  50 %"), (">= least", ">= 3"),
    ("any 1 of spine", "any 2 of spine"), ("any 1 of spine", "any 1 of leaf"), ("== 6", "== 7"),
    ("int = 4 where", "int = 3 where"),
    ("int = 2\n", "int = 1\n"), ("spread x 2", "spread"), ("spread x 2", "each"), ("omit pod[1].node[0]", "omit pod[0].node[0]"),
    ("omit pod[1].node[0]", ""), ("  require bisection >= 50%\n", ""), ("<= 1\n}", "<= 0\n}"), ("<= 1\n}", "<= 1"),
    ("reachability of node[*]", "reachability of nod[*]"), ("fabric g", "fabric h"), ('"Beside it"', '"Elsewhere"'),
    ("  require survives", "  # tdsl: allow(bisection) for a trial\n  require survives"), ("parts (BOX, TOR)", "parts (BOX)"),
    ("[2]: TOR\n    connect", "[3]: TOR\n    connect"), ("group pod[2]", "group pod[3]"), ("  require", "\trequire"),
    ("require links of pod[0].leaf[0] == 6", "require links of pod[(0)].leaf[1] == 6"), ("{", "{ "), ("param n", "param m"),
]  # fmt: skip
IN_PARTS = [
    ("", ""),
    ("100Gbps", "200Gbps"),
    ("p[8]", "p[6]"),
    ("p[8]", "p[16]"),
    ("{ type GE }", ""),
    ("p[8]", "p[8"),
]
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
        st.tuples(st.lists(st.integers(0, len(EDITS) - 1), max_size=2), st.sampled_from([0] * 6 + [*range(1, 6)])),
        max_size=4,
    )
)
@settings(max_examples=6)
def test_each_text_as_if_it_were_the_first(texts: list[tuple[list[int], int]]) -> None:
    kept = Kept()
    for edits, parts in [([], 0), *texts]:
        asked = question(edits, parts)
        assert said(judge_in_stages(asked, kept)) == said(judge_in_stages(asked, Kept())), asked.overlay


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the process asks itself again then
@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers that interrupt")
def test_a_question_that_is_given_up_leaves_nothing_half_made() -> None:
    """Interrupted at any instruction; what is asked next is answered as by a new process."""
    order, kept = random.Random(5), Kept()
    expected: dict[tuple[int, int], Any] = {}

    def interrupt(number: int, frame: object) -> None:
        raise GivenUp

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(10):
            asked = question([order.randrange(len(EDITS))], 0)
            signal.setitimer(signal.ITIMER_REAL, order.uniform(0.001, 0.15))
            try:
                for _ in judge_in_stages(asked, kept):
                    pass
            except GivenUp:
                kept.interrupted()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            which = order.randrange(len(EDITS)), 0
            if which not in expected:
                expected[which] = said(judge_in_stages(question([which[0]], 0), Kept()))
            assert said(judge_in_stages(question([which[0]], 0), kept)) == expected[which]
    finally:
        signal.signal(signal.SIGALRM, before)
