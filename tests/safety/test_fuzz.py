"""A bounded run of the random inputs; ``make fuzz`` runs as many as one likes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.safety import fuzz
from tests.safety.fuzz import KINDS, TooLong, inputs, limited, run


def test_random_inputs() -> None:
    done, raised = run(20_000, 13, seconds=10)
    assert not raised, [(kind, words, data[:200]) for kind, data, words in raised[:3]]
    assert set(done) == set(KINDS)


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert list(inputs(50, 5)) == list(inputs(50, 5))


def hangs(data: bytes, folder: Path) -> None:
    """Never ends: first it works, and what it catches is not the limit."""
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


def waits(data: bytes, folder: Path) -> None:
    time.sleep(60)


@pytest.mark.parametrize(("reader", "limits"), [(hangs, {"cpu": 0.05}), (waits, {"wall": 0.05})])
def test_what_never_ends_is_a_find_and_the_run_goes_on(reader, limits, monkeypatch):
    monkeypatch.setattr(fuzz, "KINDS", {"endless": (reader, lambda: [b"a"], 1)})
    done, raised = run(3, 1, **limits)
    assert done["endless"] == len(raised) == 3
    assert all(words.startswith("TooLong: more than") for _, _, words in raised)


def test_limits_end_with_the_block():
    with pytest.raises(TooLong), limited(cpu=0.02):
        hangs(b"", Path())
    with limited(cpu=0.02):
        pass
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
