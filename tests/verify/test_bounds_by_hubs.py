"""Lower bounds of the bisection that the checker reads out of routes to hubs, beside the least cut of all splits; and demands
that no route reaches."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.fabrics import random_fabric
from tests.verify.test_certificates import as_json
from tests.verify.test_checker import design, judged

ROUTES = [{"share": 1, "by": "lengths", "parts": 1, "lengths": []}]


def network(data: Any) -> checker.CertifiedNetwork:
    return checker.CertifiedNetwork(checker.CertifiedFabric(data), checker.WorkSteps())


def least_cut(net: checker.CertifiedNetwork) -> int:
    """Of all splits of the units into halves, each with the best place of every other node, in grains."""
    units, others = [*net.units], [v for v in net.capacity if v not in net.units]
    best = None
    for chosen in combinations(units, len(units) // 2):
        for mask in range(1 << len(others)):
            side = {*chosen, *(v for i, v in enumerate(others) if mask >> i & 1)}
            cut = sum(c for v in side for w, c in net.near(v).items() if w not in side)
            best = cut if best is None else min(best, cut)
    assert best is not None
    return best


@pytest.mark.parametrize("seed", range(24))
def test_no_bound_is_above_the_least_cut(seed: int) -> None:
    """Whatever hubs there are, and however much each of them is asked for."""
    chance = random.Random(seed)
    data = as_json(random_fabric(seed, 1 + seed % 3, 3 + seed % 4, 2, seed % 5, 1).build())
    inner = sorted(network(data).forward)
    least, found = least_cut(network(data)), []
    for _ in range(6):
        hubs = {v: chance.randint(1, 3) for v in chance.sample(inner, chance.randint(1, len(inner)))}
        stated = {"by": "routes", "hubs": hubs, "symmetries": None, "quotient": False, "routes": ROUTES}
        try:
            found.append(checker.bisection_lower_bound_shown(network(data), stated))
        except checker.Rejected:
            continue
    stated = {"by": "routes", "hubs": None, "symmetries": None, "quotient": False, "routes": ROUTES}
    with suppress(checker.Rejected):
        found.append(checker.bisection_lower_bound_shown(network(data), stated))
    assert all(0 <= bound <= least for bound in found), (found, least)
    if seed == 1:
        assert found and max(found) > 0


@pytest.mark.parametrize(
    ("hosts", "hubs", "bound"), [(4, {"leaf": 1}, 2), (4, {"leaf": 7}, 2), (7, {"leaf": 1}, 3), (5, None, 2)]
)
def test_a_star(hosts: int, hubs: dict[str, int] | None, bound: int, tmp_path: Path) -> None:
    """Half of the units or fewer are on the hub's side, and the others send over the cut: as many links as there are of them."""
    text = f"fabric f {{\n  host node[{hosts}]: N\n  switch leaf: SW\n  connect node[n].nic to leaf\n}}\n"
    data = json.loads(design(text, tmp_path)[0])
    net = network(data)
    link = next(iter(net.near("node0").values()))
    stated = {"by": "routes", "hubs": hubs, "symmetries": None, "quotient": False, "routes": ROUTES}
    assert checker.bisection_lower_bound_shown(net, stated) == bound * link


def test_a_unit_that_is_not_reached_is_in_the_demand(tmp_path: Path) -> None:
    """Of two islands, traffic of all to all has no lower bound; of one it has."""
    text = """fabric f {
  host node[4]: N
  switch leaf[2]: SW
  connect node[n].nic to leaf[n // BY]
}
"""
    for by, status in ((4, 0), (2, 1)):
        fabric, _ = design(text.replace("BY", str(by)), tmp_path)
        proof = {"quotient": True, "routes": [{"share": 1, "by": "lengths", "parts": 1, "lengths": []}]}
        stated = {"check": "throughput", "pattern": "all_to_all", "units": 4, "lower_bps": "1", "upper_bps": str(10**15),
                  "lower": proof, "upper": {"lengths": []}}  # fmt: skip
        assert judged(stated, fabric)[0] == status
