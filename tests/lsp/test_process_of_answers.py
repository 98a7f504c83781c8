"""The process beside an editor: what is sent and heard, in which order, and what happens where a question is given up."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.compile.session import EditorSession
from tdsl.ide import worker
from tdsl.ide.judge import Question, TextJudgement
from tdsl.ide.worker import INTERRUPT, SMALL, GivenUp, Worker, answer_questions

FIRST, SECOND, LAST = TextJudgement(wrong="1", last=False), TextJudgement(wrong="2", last=False), TextJudgement(wrong="3")


class End:
    """One end of a pipe: what it gives in turn (an exception is raised), what was sent, and what it says when polled."""

    def __init__(self, *given: Any, polls: tuple[bool, ...] = (), deaf: int = 99) -> None:
        self.given, self.polls, self.deaf = list(given), list(polls), deaf
        self.sent: list[Any] = []
        self.waited: list[Any] = []

    def recv(self) -> Any:
        """The next one."""
        if not self.given:
            raise EOFError
        value = self.given.pop(0)
        if isinstance(value, BaseException):
            raise value
        return value

    def send(self, value: Any) -> None:
        """Keep what is sent."""
        if len(self.sent) >= self.deaf:
            raise OSError
        self.sent.append(value)

    def poll(self, seconds: float = 0) -> bool:
        """Whether there is something to read."""
        self.waited.append(seconds)
        return self.polls.pop(0) if self.polls else True


Hooks = dict[Any, Any]


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Hooks:
    """A process that takes no signals and leaves stdout alone; what it installs."""
    found: Hooks = {"timers": [], "joined": []}
    fake = SimpleNamespace(
        signal=found.__setitem__, SIGALRM="alarm", ITIMER_REAL="real", setitimer=lambda *x: found["timers"].append(x)
    )
    monkeypatch.setattr(worker, "signal", fake)
    monkeypatch.setattr(worker, "INTERRUPT", "interrupt")
    monkeypatch.setattr(worker, "os", SimpleNamespace(dup2=lambda *x: found["joined"].append(x)))
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    return found


def served(end: End, monkeypatch: pytest.MonkeyPatch, answers: Any) -> None:
    monkeypatch.setattr(worker, "_judgements_or_fault", answers)
    answer_questions(end)  # type: ignore[arg-type]


def test_answers_to_several_questions(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each until the last one; nothing after it is asked. One store of fabrics serves all."""
    asked: list[Any] = []
    stores: list[EditorSession] = []

    def answers(question: Any, kept: EditorSession) -> Iterator[TextJudgement]:
        asked.append(question)
        stores.append(kept)
        if question is SMALL:
            yield from (FIRST, LAST)
        elif question == "long":
            yield from (FIRST, SECOND, LAST)
            raise AssertionError("nobody asks for more")
        else:
            yield LAST

    end = End("long", "short", polls=(False, False))
    served(end, monkeypatch, answers)
    assert asked == [SMALL, "long", "short"] and end.sent == [FIRST, SECOND, LAST, LAST]
    assert stores[1] is stores[2] and stores[0] is not stores[1] and len(end.waited) == 2
    assert hooks["joined"] == [(2, 1)] and hooks["interrupt"] is hooks["alarm"]


def test_what_is_done_before_a_question_ends_when_one_comes(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def answers(question: Any, kept: EditorSession) -> Iterator[TextJudgement]:
        for k in range(5):
            taken.append(k)
            yield FIRST

    end = End(KeyboardInterrupt(), polls=(False, True, False))
    served(end, monkeypatch, answers)
    assert taken == [0, 1] and end.sent == []


def test_nobody_listens_any_more(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    end = End("a", "b", deaf=1)
    served(end, monkeypatch, lambda question, kept: iter((FIRST, SECOND, LAST)))
    assert end.sent == [FIRST] and end.given == ["b"]


def test_a_question_that_is_given_up(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is None, the store is told, and the next question is answered. A signal between two questions, and a second
    one for the same question, raise nothing."""
    told: list[str] = []
    monkeypatch.setattr(EditorSession, "interrupted", lambda self: told.append("interrupted"))

    def interrupt() -> None:
        hooks["interrupt"](10, sys._getframe())

    def answers(question: Any, kept: EditorSession) -> Iterator[TextJudgement]:
        interrupt() if question is SMALL else None  # nothing is asked yet
        yield FIRST
        if question == "given up":
            try:
                interrupt()
            finally:
                interrupt()
            told.append("went on")
        yield LAST

    class Ends(End):
        def recv(self) -> Any:
            """A signal that comes late."""
            interrupt()
            return super().recv()

        def send(self, value: Any) -> None:
            """A signal while the answer is sent."""
            interrupt()
            super().send(value)

    end = Ends("given up", "asked")
    served(end, monkeypatch, answers)
    assert end.sent == [FIRST, None, FIRST, LAST] and told == ["interrupted"]


def test_an_interruption_that_could_not_be_raised_comes_again(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[Any] = []
    monkeypatch.setattr(sys, "__unraisablehook__", others.append)
    steps: list[str] = []

    def answers(question: Any, kept: EditorSession) -> Iterator[TextJudgement]:
        yield FIRST
        if question != "asked":
            return
        unheard: Any = sys.unraisablehook
        fault = SimpleNamespace(exc_value=ValueError())
        unheard(fault)
        assert others == [fault] and hooks["timers"] == []
        with pytest.raises(GivenUp):
            hooks["alarm"](14, None)
        hooks["alarm"](14, None)  # it was raised, so nothing is left to raise
        unheard(SimpleNamespace(exc_value=GivenUp()))
        assert hooks["timers"] == [("real", 0.001)] and others == [fault]
        hooks["alarm"](14, SimpleNamespace(f_code=unheard.__code__))  # within the hook it would be lost again
        assert hooks["timers"] == [("real", 0.001)] * 2
        steps.append("again")
        hooks["alarm"](14, sys._getframe())

    end = End("asked")
    served(end, monkeypatch, answers)
    assert steps == ["again"] and end.sent == [FIRST, None]


def test_faults_of_tdsl_are_told_and_the_store_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    def stages(question: Any, kept: EditorSession) -> Iterator[TextJudgement]:
        yield FIRST
        raise ZeroDivisionError("of nothing")

    told: list[str] = []
    monkeypatch.setattr(worker, "judge_in_stages", stages)
    monkeypatch.setattr(EditorSession, "forget", lambda self: told.append("forget"))
    found = list(worker._judgements_or_fault(SMALL, EditorSession()))
    assert found == [FIRST, TextJudgement(wrong="internal error: ZeroDivisionError: of nothing")] and told == ["forget"]


def test_the_design_that_is_compiled_first() -> None:
    """It is at an absolute place, in memory, and is wired and judged."""
    *steps, last = worker._judgements_or_fault(SMALL, EditorSession())
    assert Path(SMALL.path).is_absolute() and not Path(SMALL.path).exists() and [*SMALL.overlay] == [SMALL.path]
    assert (
        last.wrong == ""
        and [d.code for d in last.findings] == ["E0405"]
        and last.last
        and steps
        and not any(x.last for x in steps)
    )


# ------------------------------------------------------------ the editor's side
class Process:
    """A process that notes what is done to it."""

    def __init__(self, pid: int | None = 77) -> None:
        self.pid, self.done = pid, [""][:0]

    def kill(self) -> None:
        """End it."""
        self.done.append("kill")

    def join(self) -> None:
        """Wait for its end."""
        self.done.append("join")


def running(*given: Any, **more: Any) -> tuple[Any, Any, Process]:
    """A worker whose process runs."""
    made: Any = Worker()
    end, process = End(*given, **more), Process()
    made._end, made._process = end, process
    return made, end, process


QUESTION = Question("/a.fab", {})


def test_early_answers_and_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    made, end, process = running(FIRST, SECOND, LAST)
    made.ended = True
    early: list[TextJudgement] = []
    busy: list[bool] = []

    def note(x: TextJudgement) -> None:
        early.append(x)
        busy.append(made._busy)

    assert made.ask(QUESTION, 0, note) is LAST
    assert early == [FIRST, SECOND] and busy == [True, True] and end.sent == [QUESTION]
    assert not made._busy and not made.ended and process.done == [] and made._end is end
    assert made.ask(QUESTION, 1) is None and made.ask(QUESTION, -1) is None and end.sent == [QUESTION]


def test_given_up_while_it_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after that is not shown, and the process stays."""
    signals: list[Any] = []
    monkeypatch.setattr(worker, "os", SimpleNamespace(kill=lambda *x: signals.append(x)))
    made, end, process = running(FIRST, SECOND, None)
    early: list[TextJudgement] = []

    def given_up(x: TextJudgement) -> None:
        early.append(x)
        made.drop()

    assert made.ask(QUESTION, 0, given_up) is None
    assert early == [FIRST] and made.round == 1 and made._end is end and not made._busy
    assert (signals, process.done) == (([(77, INTERRUPT)], []) if INTERRUPT is not None else ([], ["kill", "join"]))
    made.drop()  # nothing is asked: there is nothing to interrupt
    assert len(signals) == (INTERRUPT is not None) and made.round == 2
    made._busy = True
    process.pid = None
    made.drop()
    made._process = None
    made.drop()
    assert len(signals) == (INTERRUPT is not None) and made.round == 4


def test_where_there_are_no_signals_the_process_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "INTERRUPT", None)
    made, _, process = running()
    made._busy = True
    made.drop()
    assert process.done == ["kill", "join"] and (made._process, made._end, made._busy, made.ended) == (None, None, False, True)


@pytest.mark.parametrize("fault", [EOFError(), OSError()])
def test_a_process_that_was_ended(fault: Exception) -> None:
    made, _, process = running(fault)
    found = made.ask(QUESTION, 0)
    assert found == TextJudgement(wrong="the process that compiles the design was ended; a change of the text starts it again")
    assert process.done == ["kill", "join"] and made._end is None and made._process is None and not made.ended
    made, _, _ = running(FIRST, fault)
    assert made.ask(QUESTION, 0) == found, "what came early is not all"
    made, end, process = running(fault)
    other = End()

    def stopped(value: Any) -> None:
        made._end = other
        raise OSError

    end.send = stopped
    assert made.ask(QUESTION, 0) is not None and made._end is other and process.done == []
    made, _, process = running(fault, polls=(False,))
    made.round = 3
    assert made.ask(QUESTION, 3) is not None and made.ended is False


def test_patience() -> None:
    """A process that does not answer is waited for, a second where the question was given up."""
    made, end, process = running(LAST, polls=(*[False] * 30, True))
    assert made.ask(QUESTION, 0) is LAST and end.waited == [worker.STEP_S] * 31
    made, end, process = running(LAST, polls=(False,) * 30)
    with pytest.raises(EOFError):
        made._hear(end, 5)
    assert len(end.waited) == 10
    made, end, process = running(LAST, polls=(*(False,) * 9, True))
    assert made._hear(end, 5) is LAST and process.done == []


def test_stop_and_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is started once, with the far end of a pipe that is closed here; a stopped one is started again."""
    made: list[Any] = []

    class Made(Process):
        def __init__(self, **given: Any) -> None:
            super().__init__()
            made.append((self, given))

        def start(self) -> None:
            """Note it."""
            self.done.append("start")

    ends = [(End(LAST), SimpleNamespace(close=lambda: made.append("closed"))) for _ in range(2)]
    pipes = iter(ends)
    context = SimpleNamespace(Pipe=lambda: next(pipes), Process=Made)
    monkeypatch.setattr("multiprocessing.get_context", lambda how: {"spawn": context}[how])
    one: Any = Worker()
    assert not one.ended and one.round == 0 and not one._busy
    one.start()
    one.start()
    (process, given), closed = made
    assert (
        process.done == ["start"]
        and given == {"target": answer_questions, "args": (ends[0][1],), "daemon": True}
        and closed == "closed"
    )
    assert one._end is ends[0][0] and one.ask(QUESTION, 0) is LAST
    one.stop()
    assert process.done == ["start", "kill", "join"] and one.round == 1 and one.ended and one._end is None
    assert one.ask(QUESTION, 1) is LAST and len(made) == 4 and one._end is ends[1][0] and not one.ended
    one.stop()
    one.stop()
    assert made[2][0].done == ["start", "kill", "join"] and one.round == 3


def test_the_signal_that_interrupts() -> None:
    assert getattr(signal, "SIGUSR1", None) == INTERRUPT
