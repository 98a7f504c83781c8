"""Where a proof would be false, or missing, by one step: the first of a list, links beside a bundle, numbers of one word."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.certificates import write_survives
from tdsl.prove.shortest_path_routing import PARTS, fits
from tests.harness import compile_text


def test_amounts_that_need_more_than_one_word() -> None:
    """Their sum times the capacity stays below 2^61, whatever their number."""
    most = (1 << 61) // PARTS + 1
    one = np.array([most // 2], dtype=np.int64)
    assert fits(one, np.array([1])) and not fits(one, np.array([1, 2]))
    assert not fits(np.array([most // 2, most - most // 2]), np.array([1]))
    assert fits(np.array([1, 2, 3]), np.array([], dtype=np.int64))


@pytest.mark.parametrize("op", [">=", ">", "<=", "<", "=="])
def test_what_a_certificate_shows_of_a_bisection(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that may hold or not is left out; one that holds, or does not, is written, and the checker says which."""
    holds = {">=": lambda x: x >= 4, ">": lambda x: x > 4, "<=": lambda x: x <= 4, "<": lambda x: x < 4, "==": lambda x: x == 4}[
        op
    ]
    monkeypatch.setattr(write_survives, "unit_network", lambda view: SimpleNamespace(full=1, grain=1))
    asked = SimpleNamespace(metric="bisection", op=op, value=Fraction(4), share="")
    monkeypatch.setattr(write_survives, "_amount", lambda asked: Fraction(4))
    monkeypatch.setattr(write_survives, "_is_rate", lambda asked: True)
    for low in range(2, 7):
        for high in range(low, 7):
            every = {holds(x) for x in range(low, high + 1)} | {holds(x + Fraction(1, 2)) for x in range(low, high)}
            body = {"lower_bps": str(low), "upper_bps": str(high)}
            assert write_survives._shown(body, asked, None) == (len(every) == 1), (low, high)  # type: ignore[arg-type]


def test_a_link_beside_a_bundle_is_not_one_of_it(tmp_path: Path) -> None:
    """Two leaves are joined by a bundle of two links, which is one path, and by a third link: without that one
    path is left. Copies of one connect lie half of a switch apart, so the third is at its sixth port."""
    text = """
fabric f {
  host node[2]: NODE
  switch leaf[2]: BIG
  connect node[n].nic[r] to leaf[n]
  connect leaf[0] to leaf[1] x 2 { bundle 2 }
  connect leaf[0] to leaf[1]
  require survives any 1 links of leaf[0] to leaf[1] with edge_redundancy >= 2
  require edge_redundancy >= 2
  require edge_redundancy >= 3
}
"""
    (design,) = compile_text(text, tmp_path).designs
    asked = {r.requirement: r for r in design.results if r.requirement}
    assert asked["edge_redundancy >= 2"].status == "proved" and asked["edge_redundancy >= 3"].status == "refuted"
    found = asked["survives any 1 links of leaf[0] to leaf[1] with edge_redundancy >= 2"]
    assert (found.status, found.witness["failed"]) == ("refuted", ["leaf[0].p[6] - leaf[1].p[6]"])
