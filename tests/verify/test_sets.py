"""`of all S`: a set of endpoints with the whole network between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

NET = """fabric f {
  host all[COUNT]: BOX
  switch leaf[2]: BIG
  switch spine[2]: BIG
  connect all[n].nic[r] to leaf[n // 2 % 2]
  connect leaf[*] to spine[*] spread x 2
  ASKED
}"""


def results(asked: str, folder: Path, count: int = 8) -> list:
    compiled = compile_text(NET.replace("COUNT", str(count)).replace("ASKED", asked), folder)
    return [r for d in compiled.designs for r in d.results if r.requirement]


@pytest.mark.parametrize(
    "metric", ["bisection", "diameter", "edge_redundancy", "node_redundancy", "mean_hops", "throughput all_to_all"]
)
def test_as_if_the_others_were_not_there(metric: str, tmp_path: Path) -> None:
    (found,) = results(f"report {metric} of all all[0..3]", tmp_path)
    (alone,) = results(f"report {metric}", tmp_path, count=4)
    assert (found.status, found.lower, found.upper) == (alone.status, alone.lower, alone.upper)
    assert found.status == "proved"
