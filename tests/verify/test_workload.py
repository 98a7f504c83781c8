"""Times of collective operations on built fabrics, and the α-β models beside them: the published formulas, and the ranks that
they count. Figures of designs are in ``test_collective_times.py``."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest

from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.check import checks_by_name
from tdsl.verify.nccl_model import NcclRanks, nccl_all_reduce_models
from tests.fabrics import GBPS, Builder, claim, rail_only, superpod, torus

GB = Quantity(Fraction(8 * 10**9), SIZE)
BIG = Quantity(Fraction(140 * 8 * 10**9), SIZE)


def star(hosts, accelerators=1, scaleup=False, rate=100 * GBPS, nics=1):
    b = Builder()
    node = b.model("host", "N", {"nic": {"shape": nics, "rate": rate}}, max(accelerators, 1), scaleup)
    nodes = b.devices("node", node, hosts)
    switch = b.devices("sw", b.model("switch", "S", {"p": {"shape": hosts * nics, "rate": rate}}), None)
    for n in range(hosts * nics):
        b.link(b.port(nodes, n // nics, "nic", n % nics), b.port(switch, 0, "p", n), rate)
    return b


def judged(f, metric, size=BIG, **given):
    return checks_by_name()[metric].judge(View.whole(f), claim(f, metric, args=(size,), **given))


def with_delay(f):
    said = {"latency": Quantity(Fraction(1, 10**6), TIME)}
    return replace(
        f, models=tuple(replace(m, facts=said if m.kind == "switch" else {}) for m in f.models),
        statements=tuple(replace(s, settings={"length": Quantity(Fraction(10), LENGTH)}) for s in f.statements),
    )  # fmt: skip


@pytest.mark.parametrize(("hosts", "seconds"), [(2, 11.2), (64, 22.05), (1024, 22.378)])
def test_140_gigabytes_at_100_gigabits(hosts, seconds):
    """11.2 s for the bytes alone; no algorithm takes less than the ring formula, and no latency is stated."""
    found = judged(star(hosts).build(), "allreduce")
    floor = Fraction(2 * (hosts - 1), hosts) * Fraction(112, 10)
    assert (found.status, found.lower.amount, found.upper) == ("bounded", floor, inf)
    assert found.witness["models"]["ring"] == pytest.approx(seconds, abs=1e-3)
    assert floor <= found.value.amount <= floor * Fraction(1001, 1000) and "missing: " in found.text


def test_latency_counts_for_every_step():
    f = with_delay(star(8).build())
    alpha = Fraction(1, 10**6) + 20 * Fraction(49, 10**10)
    found = judged(f, "allreduce", GB)
    ring = 14 * alpha + Fraction(14, 8) * Fraction(8, 100)
    halving = 6 * alpha + Fraction(14, 8) * Fraction(8, 100)
    tree = 6 * (alpha + Fraction(8, 100))
    assert found.witness["models"] == {"recursive halving": float(halving), "ring": float(ring), "tree": float(tree)}
    sent = Fraction(14, 8) * Fraction(8, 100)
    assert found.lower.amount == sent and found.upper.amount == sent + 2 * alpha  # everybody to all, twice
    assert found.witness["delays_s"] == float(2 * alpha) and "missing: " not in found.text
    moved = judged(f, "all_to_all_time", GB)
    assert (moved.lower.amount, moved.upper.amount) == (sent / 2, sent / 2 + alpha)


def test_what_has_no_latency_has_no_upper_end():
    """Where ranks of one host are apart and rails meet nowhere, no schedule is known either."""
    bare = judged(rail_only(hosts=8, rails=4, scaleup=False).build(), "allreduce", GB)
    assert (bare.status, bare.upper) == ("bounded", inf) and "no schedule is known: the rails are not connected" in bare.text
    joined = judged(rail_only(hosts=8, rails=4).build(), "allreduce", GB)  # 100 Gb/s inside, 400 Gb/s a rail
    inner, outer = Fraction(6, 4) * Fraction(8, 100), Fraction(14, 8) * Fraction(8, 400) / 4
    assert joined.witness["models"] == {"hierarchical": float(inner + outer)}  # no flat ring: rails meet nowhere
    assert bare.lower.amount <= joined.lower.amount <= joined.value.amount <= inner + outer
    assert joined.upper == inf and "have no `length`" in joined.text


def test_halves_that_exchange_little_slow_what_exchanges_halves():
    full = judged(superpod(2, 4, 2, 2, uplinks=4).build(), "allreduce", GB).witness["models"]
    half = judged(superpod(2, 4, 2, 2, uplinks=2).build(), "allreduce", GB).witness["models"]
    assert half["ring"] == full["ring"] and half["recursive halving"] > full["recursive halving"]


def test_all_to_all_is_bound_by_the_worst_cut():
    chips = torus(8, 8, chip="C").build()  # 16 links of 400 Gb/s between halves: 8 · 2
    found = judged(chips, "all_to_all_time", GB)
    rate = int(chips.link_rate[0])
    assert found.lower.amount == found.value.amount == Fraction(8 * 10**9 * 32 * 32, 64) / (16 * rate)


def test_what_nccl_expects_of_a_superpod() -> None:
    """10 GB on 127 nodes of 8 with 400 GB/s each: 2 x 1015/1016 of it, and 8.4 us, 1,778 steps of 3.4 us and 252 of 14 us by a
    ring; by NVLS 2 x 1015/1016, and 25 us and 2 x 6 steps of 20.9 us."""
    ranks = NcclRanks(127, 8, Fraction(3600 * 10**9), Fraction(3200 * 10**9), 90)
    found = {m.name: float(m.seconds) for m in nccl_all_reduce_models(ranks, Fraction(8 * 10**10))}
    sent = 2 * 1015 / 1016 * 10 / 400
    assert found["NCCL ring"] == pytest.approx(sent + 8.4e-6 + 1778 * 3.4e-6 + 252 * 14e-6)
    assert found["NCCL NVLS tree"] == pytest.approx(sent + 25e-6 + 12 * 20.9e-6)
    assert found["NCCL tree"] == pytest.approx(2 * 10 / (400 * 0.92) + 8.4e-6 + 2 * (7 * 4e-6 + 6 * 14e-6))
