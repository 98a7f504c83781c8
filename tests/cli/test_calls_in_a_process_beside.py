"""The process in which calls of others run: one at a time, ended where it takes too long, and with limits of memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.commands import _beside
from tdsl.commands._beside import Beside, CallAnswer
from tdsl.commands._untrusted import FILE, MEMORY


class End:
    """One end of a pipe, which gives these in turn and notes what is done with it."""

    def __init__(self, *given: Any, answers: bool = True) -> None:
        self.given, self.answers, self.done = list(given), answers, []  # type: ignore[var-annotated]

    def send(self, value: Any) -> None:
        """Note it."""
        self.done.append(value)

    def poll(self, seconds: float) -> bool:
        """Whether there is an answer in time."""
        self.done.append(seconds)
        return self.answers

    def recv(self) -> Any:
        """The next one."""
        value = self.given.pop(0) if self.given else EOFError()
        if isinstance(value, BaseException):
            raise value
        return value

    def close(self) -> None:
        """Note it."""
        self.done.append("close")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Ends of the processes to come; processes that were made are put behind them."""
    found: list[Any] = []
    ends: list[Any] = []

    class Process:
        def __init__(self, **given: Any) -> None:
            self.given = given
            ends.append(self)
            self.done: list[str] = []

        def __getattr__(self, name: str) -> Any:
            return lambda: self.done.append(name)

    context = SimpleNamespace(Pipe=lambda: (found.pop(0), SimpleNamespace(close=lambda: ends.append("closed"))), Process=Process)
    monkeypatch.setattr("multiprocessing.get_context", lambda how: {"spawn": context}[how])
    found.append(ends)
    return found


def test_one_process_for_several_calls(made: list[Any]) -> None:
    ends, one = made.pop(0), End(CallAnswer("a"), CallAnswer("b"))
    made.append(one)
    beside = Beside()
    assert beside.call(["check", "x"], "text").printed == "a" and beside.call(("list",), "").printed == "b"
    assert one.done == [(("check", "x"), "text"), 120.0, (("list",), ""), 120.0]
    process, closed = ends
    assert process.done == ["start"] and closed == "closed"
    assert process.given["target"] is _beside._serve_calls and process.given["daemon"] is True and len(process.given["args"]) == 1
    beside.stop()
    assert process.done == ["start", "kill", "join"] and one.done[-1] == "close"
    beside.stop()
    assert process.done == ["start", "kill", "join"]


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (End(answers=False), "it takes more than 120 seconds; `tdsl check` on the command line has no such limit"),
        (End(EOFError()), "the process that worked on it was ended; it may have needed too much memory"),
        (End(OSError()), "the process that worked on it was ended; it may have needed too much memory"),
    ],
)
def test_a_process_that_gives_no_answer(end: End, why: str, made: list[Any]) -> None:
    """It is ended, and another one answers the next call."""
    ends = made.pop(0)
    made += [end, End(CallAnswer("b"))]
    beside = Beside()
    assert beside.call(["check"], "") == CallAnswer(refused=why)
    assert ends[0].done == ["start", "kill", "join"] and end.done[-1] == "close"
    assert beside.call(["check"], "") == CallAnswer("b") and len(ends) == 4 and ends[2].done == ["start"]


def test_serving(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until nobody asks; stdout is given up first, interrupts go past, and limits are set."""
    done: list[Any] = []
    monkeypatch.setattr(_beside, "os", SimpleNamespace(dup2=lambda *x: done.append(x)))
    monkeypatch.setattr(_beside, "signal", SimpleNamespace(SIGINT=2, SIG_IGN=1, signal=lambda *x: done.append(x)))
    monkeypatch.setattr(_beside, "_limit_process_resources", lambda: done.append("bound"))
    monkeypatch.setattr(_beside, "answer_of_call", lambda args, text: CallAnswer(f"{args} {text}"))
    end = End(("a", "b"), ("c", "d"))
    _beside._serve_calls(end)  # type: ignore[arg-type]
    assert done == [(2, 1), (2, 1), "bound"] and end.done == [CallAnswer("a b"), CallAnswer("c d")]
    for fault in (EOFError(), OSError()):
        _beside._serve_calls(End(fault))  # type: ignore[arg-type]


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least of what is asked and what holds already; a limit that the system refuses is left out."""
    resource = pytest.importorskip("resource")
    infinite = resource.RLIM_INFINITY
    limits = {
        resource.RLIMIT_AS: (infinite, infinite), resource.RLIMIT_FSIZE: (1000, FILE * 2),
        resource.RLIMIT_CORE: (infinite, 7),
    }  # fmt: skip
    said: list[Any] = []

    def refused(which: int, limit: Any) -> None:
        said.append((which, limit))
        if which == resource.RLIMIT_AS:
            raise ValueError

    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    monkeypatch.setattr(resource, "setrlimit", refused)
    _beside._limit_process_resources()
    assert said == [
        (resource.RLIMIT_AS, (MEMORY, infinite)), (resource.RLIMIT_FSIZE, (1000, FILE * 2)),
        (resource.RLIMIT_CORE, (0, 7)),
    ]  # fmt: skip
    monkeypatch.setattr(_beside, "sys", SimpleNamespace(platform="win32"))
    _beside._limit_process_resources()
    assert len(said) == 3


def test_answers_of_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """What stdout has, else stderr; what is raised, in words."""
    from tdsl.cli import cli

    monkeypatch.chdir(tmp_path)
    assert _beside.answer_of_call(["version"], "").printed.startswith("tdsl ")
    assert "--none" in _beside.answer_of_call(["check", "--none"], "").refused
    assert _beside.answer_of_call(["fmt", "-"], "fabric  f { }\n") == CallAnswer("fabric f {}\n")
    for fault, why in (
        (MemoryError(), "there is not enough memory for this design"),
        (RecursionError(), "the design is nested too deeply to be read"),
        (KeyError("k"), "internal error: KeyError: 'k'"),
    ):

        def wrong(*_: Any, fault: Exception = fault, **given: Any) -> None:
            assert given["standalone_mode"] is False and given["obj"].commands == {} and given["auto_envvar_prefix"] is None
            raise fault

        monkeypatch.setattr(cli, "main", wrong)
        assert _beside.answer_of_call(["check"], "") == CallAnswer(refused=why)
    (tmp_path / "tdsl.toml").write_text("[x\n")
    assert "tdsl.toml" in _beside.answer_of_call(["check"], "").refused
