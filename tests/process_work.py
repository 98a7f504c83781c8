"""Work that tests give to other processes, each of which imports this file: it imports next to nothing itself."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def square(n: int) -> int:
    return n * n


def ended_once(folder: Path, n: int) -> int:
    """The square; whoever is first to take 3 is killed, as a system out of memory does."""
    mark = folder / "ended"
    if n == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return n * n


def always_ended(n: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return n


def refused(n: int) -> int:
    if n == 2:
        raise ValueError("two")
    return n


def wait(n: int) -> None:
    """Say who waits, and wait for the end."""
    os.write(1, b"%d\n" % os.getpid())
    time.sleep(60)
