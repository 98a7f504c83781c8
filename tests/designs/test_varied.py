"""Rail-optimised leaf-spine designs of many sizes: every figure follows from units, hosts a unit, rails and radix."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.verify.summary import fabric_summary
from tests.tables import sections

TEXT = sections(__file__)["text"]


@given(
    units=st.integers(1, 4), hosts=st.integers(1, 12), rails=st.integers(2, 4), radix=st.sampled_from([8, 16, 24]),
    spines=st.integers(1, 8),
)  # fmt: skip
@settings(max_examples=25)
def test_figures_follow(
    tmp_path_factory: pytest.TempPathFactory, units: int, hosts: int, rails: int, radix: int, spines: int
) -> None:
    path = tmp_path_factory.mktemp("varied") / "f.fab"
    path.write_text(TEXT.format(units=units, hosts=hosts, rails=rails, radix=radix, spines=spines))
    result = compiler.compile_and_verify(str(path))
    up, leaves = radix - hosts, units * rails
    if hosts >= radix:
        assert [d.code for d in result.findings] == ["E0452"]  # too many hosts, or nothing left to spread
        return
    even = up % spines == 0 or (up < spines and leaves * up % spines == 0)
    if not even:
        assert [d.code for d in result.findings] == ["E0454"]
        return
    if leaves * up > spines * radix:
        assert [d.code for d in result.findings] == ["E0452"]
        return
    if up < spines and any(d.code == "E0458" for d in result.findings):
        return
    assert result.findings == []
    fabric = result.designs[0].fabric
    assert fabric is not None
    s = fabric_summary(fabric)
    access = units * hosts * rails
    assert (s["hosts"], s["accelerators"], s["switches"]) == (units * hosts, access, leaves + spines)
    assert s["links"] == {"total": access + leaves * up, "classes": {"host-leaf": access, "leaf-spine": leaves * up}}
    assert s["rails"] == rails
    ratio = next(r for r in result.designs[0].results if r.check == "oversubscription")
    assert ratio.value == Fraction(hosts, up)
    assert ratio.ratio == (hosts // gcd(hosts, up), up // gcd(hosts, up))
