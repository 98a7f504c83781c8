"""A process that compiles designs beside the editor's, so that a long proof can be given up at any moment.

It keeps the fabrics that it wired: a question that is given up is interrupted by a signal, and the process is
ended only if it does not answer to that.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from types import FrameType

from tdsl.compile.session import EditorSession
from tdsl.ide.judge import Question, TextJudgement, judge_in_stages

PATIENCE_S = 1.0
"""How long a process that is interrupted may take to answer before it is ended: a long step of a library does
not listen."""
STEP_S = 0.1
"""How often it is asked whether a question was given up."""
INTERRUPT = getattr(
    signal, "SIGUSR1", None
)  # None where there are no such signals: the process is ended at once


_SMALL = str(Path("small.fab").resolve())
SMALL = Question(
    _SMALL,
    {
        _SMALL: "model host H { port n: 100Gbps }\nmodel switch S { port p[4]: 100Gbps }\n"
        "fabric f {\n  host h[4]: H\n  switch s: S\n  connect h[i].n to s\n  require oversubscription <= "
        "1:1\n}\n"
    },
)
"""What a process compiles before it is asked, so that the first answer waits for no module."""


class GivenUp(BaseException):
    """The question is not asked any more."""


def answer_questions(end: Connection) -> None:
    """Answer questions until nobody asks any more. The answer to one that is given up is None."""
    os.dup2(2, 1)  # the editor listens on stdout: nothing of a library may get there
    asked = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if frame is not None and frame.f_code is unheard.__code__:  # an exception would be lost there, too
            signal.setitimer(signal.ITIMER_REAL, 0.001)
        elif asked:
            asked = False
            raise GivenUp

    def unheard(lost: sys.UnraisableHookArgs) -> None:
        """An interruption in the middle of what cannot raise, such as the end of an object: it comes
        again."""
        nonlocal asked
        if isinstance(lost.exc_value, GivenUp):
            asked = True
            signal.setitimer(signal.ITIMER_REAL, 0.001)
        else:
            sys.__unraisablehook__(lost)

    if INTERRUPT is not None:
        signal.signal(INTERRUPT, interrupt)
        signal.signal(signal.SIGALRM, interrupt)
        sys.unraisablehook = unheard
    session = EditorSession()
    for _ in _judgements_or_fault(SMALL, EditorSession()):
        if end.poll():
            break
    while True:
        try:
            question = end.recv()
        except (EOFError, KeyboardInterrupt):
            return
        answers = _judgements_or_fault(question, session)
        answer: TextJudgement | None = TextJudgement(last=False)
        while answer is not None and not answer.last:
            try:
                asked = True
                answer = next(answers)
                asked = False  # what is found is sent without an interruption
            except GivenUp:
                session.interrupted()
                answer = None
            try:
                end.send(answer)
            except OSError:
                return


def _judgements_or_fault(question: Question, session: EditorSession) -> Iterator[TextJudgement]:
    try:
        yield from judge_in_stages(question, session)
    except Exception as fault:  # the editor goes on, and gets a message
        if type(fault).__name__ == "ArgumentError" and GivenUp.__name__ in str(fault):
            raise GivenUp from fault  # ctypes, by which z3 is called, puts its own error over an interruption
        session.forget()
        yield TextJudgement(wrong=f"internal error: {type(fault).__name__}: {fault}")


class Worker:
    """One process, started before it is needed and again after it was ended.

    ``round`` counts what was given up: a question of an earlier round is not asked any more. ``ended`` is
    whether the process was ended since a question was answered.
    """

    def __init__(self) -> None:
        self.round = 0
        self.ended = False
        self._process: BaseProcess | None = None
        self._end: Connection | None = None
        self._busy = False
        self._guard = Lock()
        self._turn = Lock()  # one question at a time

    def start(self) -> None:
        """Start the process, unless it runs."""
        with self._guard:
            if self._end is None:
                self._start()

    def ask(
        self, question: Question, round: int, early: Callable[[TextJudgement], None] = lambda _: None
    ) -> TextJudgement | None:
        """The answer, once it is there; None if it was given up. What is known before goes to ``early``."""
        with self._turn:
            with self._guard:
                if round != self.round:
                    return None
                end = self._end or self._start()
                self._busy = True
            answer: TextJudgement | None = None
            try:
                end.send(question)
                answer = self._hear(end, round)
                while answer is not None and not answer.last:
                    if round == self.round:
                        early(answer)
                    answer = self._hear(end, round)
                lost = False
            except (EOFError, OSError):
                lost = True
            with self._guard:
                self._busy = False
                if lost and self._end is end:
                    self._drop()
                if round != self.round:
                    return None
                self.ended = False
                if answer is None or not answer.last:
                    return TextJudgement(
                        wrong="the process that compiles the design was ended; a change of the text "
                        "starts it again"
                    )
            return answer

    def _hear(self, end: Connection, round: int) -> TextJudgement | None:
        """What the process says next; None if it gave up. Raises EOFError where it was ended."""
        waited = 0
        while not end.poll(STEP_S):
            if round != self.round and (waited := waited + 1) * STEP_S >= PATIENCE_S:
                raise EOFError
        heard: TextJudgement | None = end.recv()
        return heard

    def drop(self) -> None:
        """Give up what is asked, if anything; the process stays, with what it keeps."""
        with self._guard:
            self.round += 1
            if self._busy and self._process is not None and self._process.pid is not None:
                if INTERRUPT is None:
                    self._drop()
                else:
                    os.kill(self._process.pid, INTERRUPT)

    def stop(self) -> None:
        """End the process."""
        with self._guard:
            self.round += 1
            self._drop()

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=answer_questions, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._end = here
        return here

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        # The end stays open until the one that reads it sees that the other is gone.
        self._process, self._end, self._busy, self.ended = None, None, False, True
