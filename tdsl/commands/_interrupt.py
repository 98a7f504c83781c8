"""Ctrl-C: raises KeyboardInterrupt at once, and ends the process where a library in C does not let Python
run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread

from tdsl.system import scratch
from tdsl.system.signals import are_signals_held

GRACE_S = 0.1
"""Seconds after which a Ctrl-C that Python has not raised ends the process: the main thread is inside a
solver or numpy."""
INTERRUPTED = 130
_before_leaving: list[Callable[[], None]] = []


@contextmanager
def run_before_exit(step: Callable[[], None]) -> Iterator[None]:
    """Have a step done if the process is ended from within a library: it is to take no lock that the main
    thread may hold."""
    _before_leaving.append(step)
    try:
        yield
    finally:
        _before_leaving.remove(step)


@contextmanager
def raise_on_interrupt() -> Iterator[None]:
    """Where Ctrl-C would end the process, have it raise KeyboardInterrupt first, so that what is open is
    cleared away; where the main thread does not come to that within `GRACE_S`, another thread ends the
    process, but not while files are written."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_DFL or current_thread() is not main_thread():
        yield
        return
    raised, owner = Event(), os.getpid()

    def interrupted(number: int, frame: object) -> None:
        raised.set()
        raise KeyboardInterrupt

    def lost(what: sys.UnraisableHookArgs) -> None:
        """Leave for a Ctrl-C that came where nothing can be raised, such as at the end of an object. Python
        only reports it."""
        if (
            isinstance(what.exc_value, KeyboardInterrupt) and os.getpid() == owner
        ):  # not a copy, which would remove what is ours
            exit_interrupted()
        heard(what)

    interrupted.ends = True  # type: ignore[attr-defined]  # for `hold_signals`, in which it waits
    heard, sys.unraisablehook = sys.unraisablehook, lost
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.signal(signal.SIGINT, interrupted)
    wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    Thread(target=_watch_for_interrupt, args=(reader, raised), daemon=True, name="ctrl-c").start()
    try:
        yield
    except KeyboardInterrupt:
        exit_interrupted()
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = heard
        os.close(writer)  # the watcher reads the end, and closes the other side


def _watch_for_interrupt(reader: int, raised: Event) -> None:
    """Wait for Ctrl-C, as the system reports it to ``reader``, until that is closed."""
    while number := os.read(reader, 1):
        if number[0] != signal.SIGINT or raised.wait(GRACE_S):
            continue
        while are_signals_held():  # what is written ends at its next step, and then the signal comes again
            Event().wait(GRACE_S / 10)
        if not raised.wait(GRACE_S):
            exit_interrupted()
    os.close(reader)


def exit_interrupted() -> None:
    """End the process now, with the status of Ctrl-C: no time is spent on giving back memory."""
    for step in (*_before_leaving, scratch.remove_scratch_folders):
        step()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, RuntimeError, ValueError):
            continue
    os._exit(INTERRUPTED)
