"""Mean hops and latency as they are reported; their figures are judged in ``tests/prove`` (mean hops, delays)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import torus
from tests.harness import compile_text


@pytest.mark.parametrize(("sizes", "value"), [((4, 4, 4), Fraction(192, 63)), ((8, 8), Fraction(64 * 4, 63))])
def test_mean_hops_by_hand(sizes, value):
    found = checks_by_name()["mean_hops"].judge(View.whole(torus(*sizes).build()), None)
    assert (found.status, found.value) == ("proved", value)


SLOW = """
model switch SLOW { port p[1..8]: 400Gbps; latency LONG }
fabric f { panel wall: PATCH; host n[2]: BOX; switch s: SLOW; connect n[*].nic[0] to s each WAY; report latency }
"""


@pytest.mark.parametrize(
    ("long", "way", "seconds"),
    [
        # each cable as long as the connect says, also where the panel's ports are the first of all: 2 x 2 x 5 m and 1 ns
        ("1ns", "via wall { length 5m }", Fraction(20 * 49 + 10, 10**10)),
        ("1ns", "{ length 1000000km }", 2 * Fraction(10**9 * 49, 10**10) + Fraction(1, 10**9)),
        ("3153600000s", "{ length 1000000km }", None),  # a hundred years are not a reason to fall over
    ],
)
def test_times_of_cables_and_switches(long, way, seconds, tmp_path):
    design = compile_text(SLOW.replace("LONG", long).replace("WAY", way), tmp_path).designs[0]
    (found,) = [r for r in design.results if r.requirement]
    assert found.status == ("modelled" if seconds else "skipped") and ("too great" in found.reason) == (not seconds)
    assert found.value is None if seconds is None else found.value.amount == seconds
