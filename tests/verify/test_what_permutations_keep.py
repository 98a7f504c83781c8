"""Single facts of devices and links that a permutation has to keep, one at a time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.symmetry import SymmetryFacts, permutation_keeps_view
from tdsl.prove.view import View
from tests.fabrics import Builder

BUNDLES = frozenset({"bundles"})


def four() -> Fabric:
    """Four hosts on one leaf, and two hosts without a link."""
    b = Builder("four")
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 6)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 8}), 1)
    for h in range(4):
        b.link(b.free(node, h), b.free(leaf, 0))
    return b.build()


def exchanged(f: Fabric, one: int, two: int) -> np.ndarray:
    image = np.arange(f.device_count)
    image[[one, two]] = two, one
    return image


def test_only_permutations_are_kept() -> None:
    """Two devices without a link at one place keep all links, but are no permutation."""
    f = four()
    view = View.whole(f)
    twice = np.arange(7)
    twice[5] = 4
    assert not permutation_keeps_view(view, twice)
    assert (
        permutation_keeps_view(view, exchanged(f, 4, 5))
        and permutation_keeps_view(view, exchanged(f, 0, 1))
        and not permutation_keeps_view(view, exchanged(f, 0, 4))
    )
    assert not permutation_keeps_view(view, np.arange(6)) and not permutation_keeps_view(view, np.arange(8))


def test_named_devices_stay_among_themselves() -> None:
    f = four()
    view = View.whole(f)
    some = [np.array([0, 1]), np.array([1, 2])]
    for one, two, kept in ((0, 1, False), (1, 2, False), (0, 2, False), (3, 0, False), (4, 5, True)):
        assert permutation_keeps_view(view, exchanged(f, one, two), fixed=some) is kept
    assert permutation_keeps_view(view, exchanged(f, 0, 1), fixed=some[:1]) and permutation_keeps_view(
        view, exchanged(f, 2, 3), fixed=some[:1]
    )


@pytest.mark.parametrize(
    ("bundles", "kept"),
    [
        ((0, -1, -1, -1), False), ((-1, -1, -1, -1), True), ((0, 1, -1, -1), True), ((0, 1, 1, -1), False), ((0, 0, 1, 1), True),
        ((3, 3, -1, -1), True), ((1, -1, 1, -1), False),
    ],
)  # fmt: skip
def test_links_are_in_bundles_of_one_size(bundles: tuple[int, ...], kept: bool) -> None:
    """The first two hosts change places."""
    f = replace(four(), link_bundle=np.array(bundles))
    assert permutation_keeps_view(View.whole(f), exchanged(f, 0, 1), BUNDLES) is kept
    assert permutation_keeps_view(View.whole(f), exchanged(f, 0, 1))


def test_words_that_are_unknown() -> None:
    with pytest.raises(ValueError, match=r"unknown words: \['colour', 'weight'\]"):
        SymmetryFacts(View.whole(four()), frozenset({"weight", "order", "colour"}))
