"""A bounded run of the random inputs; ``make fuzz`` runs as many as one likes."""

from __future__ import annotations

from tests.safety.fuzz import KINDS, inputs, run


def test_random_inputs() -> None:
    done, raised = run(20_000, 13, seconds=10)
    assert not raised, [(kind, words, data[:200]) for kind, data, words in raised[:3]]
    assert set(done) == set(KINDS)


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert list(inputs(50, 5)) == list(inputs(50, 5))
