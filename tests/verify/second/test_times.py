"""Delays and times of collective operations by the second opinion: against the exact search, and by formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.delays import worst_delay
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.check import checks_by_name
from tdsl.verify.second import times
from tdsl.verify.second.answer import Limits, NoOpinion
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, torus
from tests.prove.test_delays import clos, mesh

LIMITS = Limits()
WIDE = 400 * GBPS


@pytest.mark.parametrize("make", [clos, mesh])
def test_least_delays_of_the_farthest_ends(make: Callable[[int], Fabric]) -> None:
    """The same as that of the check, which `tests/prove/test_delays.py` judges by networkx."""
    for seed in range(60):
        fabric = make(seed)
        known = worst_delay(View.whole(fabric))
        if known is None:
            with pytest.raises(NoOpinion, match=r"^no two ends reach each other$"):
                times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
            continue
        answer = times.latency_by_dijkstra(WiringGraph.whole(fabric), None, LIMITS)
        assert answer.lower == answer.upper == known.lower, seed  # type: ignore[union-attr]


def hosts(seconds: Fraction, *gpus: int, leaves: int = 1, trunk: int = 0, scaleup: bool = False) -> Fabric:
    """Hosts with so many accelerators and one link of 400 Gbit/s each, shared out to leaves of a latency."""
    b = Builder("hosts")
    models = {n: b.model("host", f"NODE{n}", {"nic": 1}, accelerators=n, scaleup=scaleup) for n in sorted({*gpus})}
    made = b.model("switch", "SW", {"p": 16})
    made = b.models[-1] = replace(made, facts={"latency": Quantity(Fraction(seconds), TIME)})
    nodes = [b.devices(f"node{i}", models[n], None) for i, n in enumerate(gpus)]
    leaf = b.devices("leaf", made, leaves)
    b.connect("connect", length=Quantity(Fraction(0), LENGTH))
    for i, node in enumerate(nodes):
        b.link(b.port(node, 0), b.free(leaf, leaves * i // len(gpus)), WIDE)
    for _ in range(trunk):
        b.link(b.free(leaf, 0), b.free(leaf, 1), WIDE)
    return b.build()


def takes(fabric: Fabric) -> tuple[Fraction | float, Fraction | float, str]:
    """Bounds of an all-reduce of data that takes 1 s over a link, and the library; of like hosts the check says the same."""
    asked = claim(fabric, "allreduce", args=(Quantity(Fraction(WIDE), SIZE),), report=True)
    found = times.allreduce_by_formulas(WiringGraph.whole(fabric), asked, LIMITS)
    known: Any = checks_by_name()["allreduce"].judge(View.whole(fabric), asked).value
    alike = len({s.model.accelerators for s in fabric.sets if s.kind == "host"}) == 1
    assert not alike or known.amount == found.lower
    return found.lower, found.upper, found.by


@pytest.mark.parametrize(
    ("count", "seconds", "least"),
    [
        # A ring: 2(n-1) steps, and 2(n-1)/n of the data.
        (2, 0, Fraction(1)),
        (2, 1, Fraction(3)),
        (3, 0, Fraction(4, 3)),
        (3, 1, 4 + Fraction(4, 3)),
        (5, 0, Fraction(8, 5)),
        # Recursive halving: of p = 4 of n, 2 log2(p) steps and 2(p-1)/p of the data; with n > p two steps with all of it.
        (4, 1, 4 + Fraction(3, 2)),
        (4, 3, 12 + Fraction(3, 2)),
        (5, 1, 6 + Fraction(7, 2)),
        (6, 1, 6 + Fraction(7, 2)),
        (7, 2, 12 + Fraction(7, 2)),
        (8, 1, 6 + Fraction(7, 4)),
        (9, 1, 8 + Fraction(15, 4)),
    ],
)
def test_allreduce_at_one_switch(count: int, seconds: int, least: Fraction) -> None:
    assert takes(hosts(Fraction(seconds), *[1] * count)) == (least, least, "z3")


@pytest.mark.parametrize(
    ("trunk", "half", "least"),
    [
        (1, Fraction(0), Fraction(3, 2)),  # the ring
        (1, Fraction(1, 2), Fraction(7)),  # halving, at half of the rate: 4 s and 3/2 x 2 s; the ring takes 7.5 s
        (1, Fraction(1, 8), Fraction(3)),  # the ring: 6/4 s and 3/2 s
        (2, Fraction(1, 8), Fraction(5, 2)),  # halving: 4/4 s and 3/2 s
        (3, Fraction(1, 8), Fraction(5, 2)),  # no share is more than all
    ],
)
def test_allreduce_over_a_bisection(trunk: int, half: Fraction, least: Fraction) -> None:
    """Four hosts at two leaves, with ``half`` of a step at each leaf."""
    assert takes(hosts(half, 1, 1, 1, 1, leaves=2, trunk=trunk)) == (least, least, "z3")


@pytest.mark.parametrize(
    ("gpus", "scaleup", "seconds", "least"),
    [
        # Two hosts of two GPUs that share 400 Gbit/s: four with 200 Gbit/s each, 2 s for all data.
        ((2, 2), False, 0, Fraction(3)),
        ((2, 2), False, 1, Fraction(7)),
        # Inside at 100 Gbit/s: 2 x 1/2 x 4 s, then 2 steps and half of the data by each GPU, 1 s.
        ((2, 2), True, 0, Fraction(3)),
        ((2, 2), True, 2, Fraction(9)),
        # Three GPUs: 2 x 2/3 x 4 s inside; then 2 steps and a third of the data by each GPU at 400/3 Gbit/s, 1 s.
        ((3, 3), True, 5, 10 + Fraction(16, 3) + 1),
        ((1, 1), True, 1, Fraction(3)),
        # Hosts of two and of four GPUs: six, at 100 Gbit/s. No ring of hosts is asked where they have different numbers.
        ((2, 4), True, 9, 6 * 9 + Fraction(7, 2) * 4),
    ],
)
def test_allreduce_of_hosts_with_several_accelerators(
    gpus: tuple[int, ...], scaleup: bool, seconds: int, least: Fraction
) -> None:
    assert takes(hosts(Fraction(seconds), *gpus, scaleup=scaleup))[0] == least


def test_allreduce_of_chips_in_a_ring() -> None:
    """Four chips with two links of 400 Gbit/s each: 3/2 of the data at 800 Gbit/s."""
    assert takes(torus(4).build())[:2] == (Fraction(3, 4), float("inf"))
