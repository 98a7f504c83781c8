"""A process that compiles designs beside the editor's, so that a long proof can be given up at any moment."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock

from tdsl.ide.judge import Judgement, Question, stages


def serve(end: Connection) -> None:
    """Answer questions until nobody asks any more."""
    os.dup2(2, 1)  # the editor listens on stdout: nothing of a library may get there
    while True:
        try:
            question = end.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            for answer in stages(question):
                end.send(answer)
        except OSError:
            return
        except Exception as fault:  # the editor goes on, and is told
            try:
                end.send(Judgement(wrong=f"internal error: {type(fault).__name__}: {fault}"))
            except OSError:
                return


class Worker:
    """One process, started when first needed and again after it was stopped.

    ``round`` counts what was given up: a question of an earlier round is not asked any more.
    """

    def __init__(self) -> None:
        self.round = 0
        self._process: BaseProcess | None = None
        self._end: Connection | None = None
        self._busy = False
        self._guard = Lock()

    def ask(self, question: Question, round: int, early: Callable[[Judgement], None] = lambda _: None) -> Judgement | None:
        """The answer, once it is there; None if it was given up. What is known before goes to ``early``. One question at a
        time."""
        with self._guard:
            if round != self.round:
                return None
            end = self._end or self._start()
            self._busy = True
        answer: Judgement | None = None
        try:
            end.send(question)
            answer = end.recv()
            while answer is not None and not answer.last:
                early(answer)
                answer = end.recv()
        except (EOFError, OSError):
            pass
        with self._guard:
            if round != self.round:
                return None
            self._busy = False
            if answer is None:
                self._drop()
                return Judgement(wrong="the process that compiles the design was ended; a change of the text starts it again")
        return answer

    def drop(self) -> None:
        """Give up what is asked, if anything; an idle process stays, warm."""
        with self._guard:
            self.round += 1
            if self._busy:
                self._drop()

    def stop(self) -> None:
        """End the process."""
        with self._guard:
            self.round += 1
            self._drop()

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        self._process = context.Process(target=serve, args=(there,), daemon=True)
        self._process.start()
        there.close()
        self._end = here
        return here

    def _drop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        # The end stays open until the one that reads it sees that the other is gone.
        self._process, self._end, self._busy = None, None, False
