"""Bounds of processor time and memory for targets of others: when they stop the work, and what they leave behind."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tdsl.emit import limits
from tdsl.emit.limits import TimedPattern, limited_in_time
from tdsl.emit.quote import NameRefused

timed = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers of processor time")


def work(seconds: float) -> None:
    """Take processor time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(20000))


def test_the_bounds() -> None:
    assert (limits.SECONDS, limits.TOGETHER, limits.SIZE, limits.MATCH, limits.MEMORY) == (60, 600, 2**32, 5, 2**31)


@timed
def test_work_that_takes_too_long_is_stopped() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(NameRefused, match=re.escape("it takes more than 0.05 seconds")), limited_in_time(0.05):
        work(5)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@timed
def test_a_timer_is_gone_afterwards() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with limited_in_time(50):
        assert 49 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] < 50.02
        assert signal.getsignal(signal.SIGVTALRM) is not before
    assert signal.getsignal(signal.SIGVTALRM) is before and signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    with pytest.raises(KeyError), limited_in_time(50):
        raise KeyError
    assert signal.getsignal(signal.SIGVTALRM) is before and signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)


@timed
def test_an_outer_bound_goes_on() -> None:
    with limited_in_time(50):
        with limited_in_time(20):
            assert 19 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] < 20.02
            work(0.1)
        left = signal.getitimer(signal.ITIMER_VIRTUAL)[0]
        assert 48 < left < 49.97, "what the inner work took counts"
    with limited_in_time(20):
        with limited_in_time(50):
            assert 19 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] < 20.02, "no more than the outer bound"
            work(0.1)
        assert 18 < signal.getitimer(signal.ITIMER_VIRTUAL)[0] < 19.97
    with pytest.raises(NameRefused, match=r"more than 0\.05 seconds"), limited_in_time(0.05):
        with pytest.raises(KeyError), limited_in_time(50):
            raise KeyError
        work(5)


@timed
def test_other_threads_have_no_bound() -> None:
    done: list[object] = []

    def run() -> None:
        with limited_in_time(0.01):
            work(0.03)
            done.append(signal.getitimer(signal.ITIMER_VIRTUAL))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done == [(0.0, 0.0)]


def test_systems_without_timers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer", raising=False)
    with limited_in_time(0.001):
        work(0.01)


@timed
def test_a_pattern_that_takes_too_long_matches_nothing_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MATCH", 0.05)
    names = TimedPattern(re.compile(r"(a|aa)+b?"))
    assert names.fullmatch("aaab") and names.fullmatch("c") is None and not names.late
    slow = TimedPattern(re.compile(r"(?:a|b|ab)*c"))
    assert slow.fullmatch("abc") and not slow.late
    assert slow.fullmatch("ab" * 30) is None and slow.late
    assert slow.fullmatch("abc") is None


MEMORY = """
    import resource
    from tdsl.emit.limits import _address_space, limited_in_memory
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = _address_space()
    pages = int(open("/proc/self/statm").read().split()[0])
    assert abs(taken - pages * resource.getpagesize()) < 1 << 20, taken
    with limited_in_memory(1 << 28):
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        assert hard == before[1] and abs(soft - taken - (1 << 28)) < 1 << 20
        block = bytearray(1 << 26)
        try:
            bytearray(1 << 29)
        except MemoryError:
            print("stopped")
        with limited_in_memory(1 << 40):
            assert resource.getrlimit(resource.RLIMIT_AS) == (soft, hard), "the outer bound is the smaller one"
        assert resource.getrlimit(resource.RLIMIT_AS) == (soft, hard)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytearray(1 << 29)) == 1 << 29
    try:
        with limited_in_memory(1 << 28):
            raise KeyError
    except KeyError:
        assert resource.getrlimit(resource.RLIMIT_AS) == before
        print("as before")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux alone bounds the address space")
def test_memory() -> None:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(MEMORY)], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["stopped", "as before"], done.stderr


def test_other_systems_do_not_bound_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert limits._address_space() == 0
    with limits.limited_in_memory(1):
        assert len(bytearray(1 << 20)) == 1 << 20
