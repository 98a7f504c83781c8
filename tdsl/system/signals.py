"""Signals that ask the process to end wait until what is being written is whole."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tdsl.system.lazy_dataclass import dataclass


class Ended(BaseException):
    """The process was asked to end, and nothing is half written now."""


@dataclass(slots=True)
class _Signals:
    """The signal that asked the process to end, 0 where none did."""

    waiting: int = 0
    held: bool = False

    def note(self, number: int, frame: FrameType | None = None) -> None:
        """Remember it: what is being written ends at its next step, not between any two instructions."""
        self.waiting = number


_signals = _Signals()


def exit_if_signalled() -> None:
    """Raise Ended if the process was asked to end: a step of held work after which all can be
    cleared away."""
    if _signals.waiting:
        raise Ended


def _handler_ends_process(handler: Any) -> bool:
    """Whether a handler of a signal ends the process, by itself or by an exception that nobody catches;
    ``ends`` says it."""
    return handler in (signal.SIG_DFL, signal.default_int_handler) or getattr(handler, "ends", False)


def are_signals_held() -> bool:
    """Whether signals wait for ``exit_if_signalled``."""
    return _signals.held


@contextmanager
def hold_signals() -> Iterator[None]:
    """Have SIGTERM, SIGHUP and Ctrl-C wait for ``exit_if_signalled`` or for the end of the work, and then end
    the process as they would have. In a thread other than the main one they are left as they are."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGINT") if hasattr(signal, name)]
    numbers = [n for n in numbers if _handler_ends_process(signal.getsignal(n))]
    before: dict[int, Any] = {}
    with suppress(ValueError):  # not the main thread
        for number in numbers:
            before[number] = signal.signal(number, _signals.note)
    _signals.held = _signals.held or bool(before)
    try:
        yield
    except Ended:
        if not before:  # inside another one, which ends the process
            raise
    finally:
        if before:
            _signals.held = False
        for number, handler in before.items():
            signal.signal(number, handler)
        if before and _signals.waiting:
            number, _signals.waiting = _signals.waiting, 0
            if sys.platform == "win32" and number != signal.SIGINT:
                raise SystemExit(128 + number)
            signal.raise_signal(number)
