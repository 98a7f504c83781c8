"""The line of progress: phase, rate and time left, on a terminal's stderr, of work that takes more than a
second."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from tdsl.system.progress import Meter, listening

if TYPE_CHECKING:
    from typing import TextIO

AFTER_S, EVERY_S = 1.0, 0.2
COUNTED = "{desc}: {percentage:3.0f}% |{bar}| {n_fmt}/{total_fmt} [{rate_fmt}, {remaining} left]"
PLAIN = "{desc} [{elapsed}]"
CLEAR = "\r\x1b[K"
_begin = time.perf_counter()
"""When the program began, nearly: work of several steps that each take less than a second counts together."""


def is_progress_wanted(stream: TextIO) -> bool:
    """Whether a line that moves is wanted: on a terminal that can clear it, not with ``--quiet`` nor in a
    pipeline's log."""
    from tdsl.commands._everywhere import is_quiet

    return (
        stream.isatty()
        and os.environ.get("TERM", "dumb") != "dumb"
        and not os.environ.get("CI")
        and not is_quiet()
    )


@contextmanager
def show_progress() -> Iterator[None]:
    """Show what goes on inside, where it is wanted; nothing of it is left afterwards. Print nothing
    inside."""
    stream = sys.stderr
    if listening.get() is not None or not is_progress_wanted(stream):
        yield
        return
    from tdsl.commands._interrupt import run_before_exit

    meter, over, drawn = Meter(), Event(), Event()

    def wipe() -> None:
        if drawn.is_set():
            os.write(stream.fileno(), CLEAR.encode())

    token = listening.set(meter)
    shows = Thread(target=_draw_progress, args=(meter, over, drawn, stream), daemon=True, name="progress")
    shows.start()
    try:
        with run_before_exit(wipe):
            yield
    finally:
        listening.reset(token)
        over.set()
        shows.join(1)
        wipe()


def _draw_progress(meter: Meter, over: Event, drawn: Event, stream: TextIO) -> None:
    """Draw the state every now and then, after the first second, until it is over: one bar while the same
    pieces are counted."""
    if over.wait(max(0.0, AFTER_S - (time.perf_counter() - _begin))):
        return
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # it would start a thread of its own
    bar: Any = None
    shown: tuple[str, int] | None = None
    stream.flush()
    drawn.set()
    while not over.is_set():
        pieces = (meter.unit, meter.total) if meter.total else ("", -meter.serial)
        if bar is not None and pieces != shown:
            bar.close()
            bar = None
        shown = pieces
        if bar is None:
            bar = tqdm(
                desc=meter.phase or "prepare",
                total=meter.total or None,
                initial=meter.done,
                unit=meter.unit or "steps",
                bar_format=COUNTED if meter.total else PLAIN,
                file=stream,
                leave=False,
                unit_scale=meter.total >= 10_000,
                dynamic_ncols=True,
                ascii=_lacks_bar_characters(stream),
                position=0,
            )
        bar.n = min(meter.done, meter.total)
        bar.set_description_str(meter.phase or "prepare", refresh=False)
        bar.refresh()
        over.wait(EVERY_S)
    if bar is not None:
        bar.close()


def _lacks_bar_characters(stream: TextIO) -> bool:
    """Whether the terminal's encoding lacks the characters of a smooth bar."""
    try:
        "█▏".encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return True
    return False
