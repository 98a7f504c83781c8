"""Bounds of processor time and memory for targets of others: when they stop the work, and what they leave behind."""

from __future__ import annotations

import re
import signal
import threading
import time

import pytest

from tdsl.emit import limits
from tdsl.emit.limits import limited_in_time
from tdsl.emit.quote import NameRefused

timed = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of processor time")


def work(seconds: float) -> None:
    """Take processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(20000))


def left() -> float:
    """Seconds until the bound in force."""
    return signal.getitimer(signal.ITIMER_VIRTUAL)[0]


@timed
def test_work_that_takes_too_long_is_stopped() -> None:
    assert (limits.SECONDS, limits.TOGETHER, limits.SIZE, limits.MATCH, limits.MEMORY) == (60, 600, 2**32, 5, 2**31)
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(NameRefused, match=re.escape("it takes more than 0.05 seconds")), limited_in_time(0.05):
        work(5)
    assert signal.getsignal(signal.SIGVTALRM) is before and signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@timed
def test_an_outer_bound_goes_on() -> None:
    """What the inner work took counts, and it has no more than the outer bound."""
    for outer, inner in ((50, 20), (20, 50)):
        with limited_in_time(outer):
            with limited_in_time(inner):
                assert 19 < left() < 20.02
                work(0.1)
            assert outer - 2 < left() < outer - 0.03
    with pytest.raises(NameRefused, match=r"more than 0\.05 seconds"), limited_in_time(0.05):
        with pytest.raises(KeyError), limited_in_time(50):
            raise KeyError
        work(5)


@timed
def test_other_threads_have_no_bound() -> None:
    done: list[float] = []

    def run() -> None:
        with limited_in_time(0.01):
            work(0.03)
            done.append(left())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [0.0]
