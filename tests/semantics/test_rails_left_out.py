"""A conflict with `rails`: without them the hosts need not divide over the switches of each rail."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.contradiction import with_replaced_numbers
from tdsl.semantics.sizing import Aim, HostLoad, TierSpec
from tests.fabrics import Builder
from tests.harness import compile_text

MODELS = """
model switch S { port p[1..64]: 400Gbps { type X } }
model host H { port nic[8]: 400Gbps { type X } }
"""
NOWHERE = SourceSpan(SourceFile("sizes.fab", " "), 0, 1)


@pytest.mark.parametrize("hosts", [6, 9, 12])
def test_rails_and_a_number_of_switches(hosts: int, tmp_path: Path) -> None:
    """Twelve switches do not divide among eight rails; without rails 6, 9 and 12 hosts of 8 ends fit twelve switches."""
    tiers = "clos { tier rack of ? hosts { switch S x 12 }\ntier spine of ? rack { switch S } }"
    (found,) = compile_text(
        f"{MODELS}fabric f {{ hosts {hosts} x H; rails 8\n{tiers} }}", tmp_path, verify=False, models=False
    ).findings
    assert found.code == "E0459" and found.span is not None
    assert sorted(label.span.text for label in found.labels) == ["12", "rails 8"]
    assert found.notes == ("these 2 statements contradict each other; without any one of them the others are consistent",)
    (found,) = compile_text(f"{MODELS}fabric f {{ hosts {hosts} x H\n{tiers} }}", tmp_path, verify=False, models=False).findings
    assert found.code == "E0461"


def test_other_rails_are_none() -> None:
    load = HostLoad(8, 2, 400, 2, True, 0, NOWHERE)
    specs = [TierSpec("t", "", 4, Builder().model("switch", "S", {"p": 16}), None, Aim("", Fraction(1)), NOWHERE)]
    for rails, railed in ((1, False), (2, True)):
        other = with_replaced_numbers(load, specs, {(-1, "rails"): rails})[0]
        assert (other.rails, other.railed) == (rails, railed)
    assert with_replaced_numbers(load, specs, {(-1, "hosts"): 3})[0].railed is True
