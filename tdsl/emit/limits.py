"""What targets of others may take: processor time and memory, where the system can bound them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from re import Match, Pattern
from types import FrameType
from typing import Any, Protocol

from tdsl.emit.quote import NameRefused
from tdsl.system.lazy_dataclass import dataclass

SECONDS = 60
"""Processor time that a file of a target may take which is not tdsl's own."""
TOGETHER = 600
"""Processor time of all files of such a target."""
SIZE = 4 << 30
"""Bytes of all files of such a target."""
MATCH = 5
"""Processor time of one match of a pattern in such a target's manifest."""
MEMORY = 2 << 30
"""Bytes of address space that such a target may take beyond what the process has."""


class NameMatcher(Protocol):
    """What says whether a text is a name, such as a pattern."""

    def fullmatch(self, text: str, /) -> Match[str] | None:
        """The match, or None."""


@contextmanager
def limited_in_time(seconds: float) -> Iterator[None]:
    """Raise Refused after some seconds of processor time, where the system can interrupt, and in the main
    thread only. An outer limit goes on inside."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise NameRefused(f"it takes more than {seconds:g} seconds")

    try:
        before: Any = signal.signal(signal.SIGVTALRM, late)
    except ValueError:  # not the main thread
        yield
        return
    left, _ = signal.getitimer(signal.ITIMER_VIRTUAL)
    given = min(seconds, left) if left else seconds
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, given)
        yield
    finally:
        rest, _ = signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        if left:
            signal.setitimer(signal.ITIMER_VIRTUAL, max(left - (given - rest), 1e-6))


@contextmanager
def limited_in_memory(size: int) -> Iterator[None]:
    """Have allocations fail after so many bytes more than the process has, on Linux."""
    taken = _address_space()
    if not taken:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    least = min(x for x in (taken + size, soft, hard) if x != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """Bytes of address space that the process has; 0 where the system does not say."""
    if not sys.platform.startswith("linux"):
        return 0
    import resource

    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


@dataclass(slots=True)
class TimedPattern:
    """A pattern of somebody else, which may take years for a short text: from then on it is `late`, and
    matches nothing."""

    pattern: Pattern[str]
    late: bool = False

    def fullmatch(self, text: str) -> Match[str] | None:
        """As that of a pattern; None, too, where it takes too long."""
        if self.late:
            return None
        try:
            with limited_in_time(MATCH):
                return self.pattern.fullmatch(text)
        except NameRefused:
            self.late = True
            return None
