"""Mean hops and latency as they are reported; their figures are judged in ``tests/prove`` (mean hops, delays)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import torus


@pytest.mark.parametrize(("sizes", "value"), [((4, 4, 4), Fraction(192, 63)), ((8, 8), Fraction(64 * 4, 63))])
def test_mean_hops_by_hand(sizes, value):
    found = checks_by_name()["mean_hops"].judge(View.whole(torus(*sizes).build()), None)
    assert (found.status, found.value) == ("proved", value)
