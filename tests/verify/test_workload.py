"""Times of collective operations by α-β models: the published formulas, and the ranks that they count."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log2
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.check import checks_by_name
from tdsl.verify.checks import all_to_all_time, allreduce
from tdsl.verify.workload import CollectiveModel, RankGroup, Ranks
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
    """11.2 s for the bytes alone, 22.4 s by the ring formula for many ranks."""
    found = judged(star(hosts).build(), "allreduce")
    assert found.status == "modelled" and found.witness["bytes_s"] == 11.2
    assert found.witness["models"]["ring"] == pytest.approx(seconds, abs=1e-3)
    assert float(f"{found.witness['models']['ring']:.3g}") == {2: 11.2, 64: 22.1, 1024: 22.4}[hosts]
    assert found.value.amount == Fraction(2 * (hosts - 1), hosts) * Fraction(112, 10)
    assert found.witness["alpha_s"] is None and "without latency" in found.text


def test_latency_counts_for_every_step():
    f = with_delay(star(8).build())
    alpha = Fraction(1, 10**6) + 20 * Fraction(49, 10**10)
    found = judged(f, "allreduce", GB)
    ring = 14 * alpha + Fraction(14, 8) * Fraction(8, 100)
    halving = 6 * alpha + Fraction(14, 8) * Fraction(8, 100)
    tree = 6 * (alpha + Fraction(8, 100))
    assert found.witness["models"] == {"recursive halving": float(halving), "ring": float(ring), "tree": float(tree)}
    assert (found.value.amount, found.witness["model"]) == (halving, "recursive halving")
    assert "without latency" not in found.text
    moved = judged(f, "all_to_all_time", GB)
    assert moved.value.amount == 7 * alpha + Fraction(7, 8) * Fraction(8, 100)


def test_scale_up_first_then_rails():
    f = rail_only(hosts=8, rails=4).build()  # 100 Gb/s inside, 400 Gb/s a rail
    found = judged(f, "allreduce", GB)
    assert set(found.witness["models"]) == {"hierarchical"}  # no flat ring: rails meet nowhere
    inner, outer = Fraction(6, 4) * Fraction(8, 100), Fraction(14, 8) * Fraction(8, 400) / 4
    assert found.value.amount == inner + outer and found.witness["scaleup_bps"] == 100e9
    bare = judged(rail_only(hosts=8, rails=4, scaleup=False).build(), "allreduce", GB)
    assert bare.status == "skipped" and "scale-up" in bare.reason


def test_halves_that_exchange_little_slow_what_exchanges_halves():
    full = judged(superpod(2, 4, 2, 2, uplinks=4).build(), "allreduce", GB).witness["models"]
    half = judged(superpod(2, 4, 2, 2, uplinks=2).build(), "allreduce", GB).witness["models"]
    assert half["ring"] == full["ring"] and half["recursive halving"] > full["recursive halving"]


def test_all_to_all_is_bound_by_the_worst_cut():
    chips = torus(8, 8, chip="C").build()  # 16 links of 400 Gb/s between halves: 8 · 2
    found = judged(chips, "all_to_all_time", GB)
    assert found.witness["model"] == "bisection"
    rate = int(chips.link_rate[0])
    assert found.value.amount == Fraction(8 * 10**9 * 32 * 32, 64) / (16 * rate)


def two_by(n: int) -> int:
    """The greatest power of two in a number."""
    return 1 << floor(log2(n))


def flat(n: int, size: Fraction, alpha: Fraction, rate: Fraction, across: Fraction) -> list[CollectiveModel]:
    """Ring, recursive halving and tree, as Thakur, Rabenseifner and Gropp give them."""
    ring = 2 * (n - 1) * alpha + 2 * Fraction(n - 1, n) * size / rate
    out = [CollectiveModel("ring", ring, "2(n-1)α + 2(n-1)/n·S/B")]
    if across:
        p = two_by(n)
        halving = 2 * floor(log2(n)) * alpha + 2 * Fraction(p - 1, p) * size / across
        formula = "2·log₂n·α + 2(n-1)/n·S/B'"
        if p != n:
            halving += 2 * alpha + 2 * size / across
            formula = "2·log₂p·α + 2(p-1)/p·S/B' + 2(α + S/B')"
        out.append(CollectiveModel("recursive halving", halving, formula))
        out.append(CollectiveModel("tree", 2 * ceil(log2(n)) * (alpha + size / across), "2·log₂n·(α + S/B')"))
    return out


@pytest.mark.parametrize("seed", range(6))
def test_models_of_allreduce(seed: int) -> None:
    rng = Random(seed)
    for n in range(2, 20):
        size, alpha = Fraction(rng.randint(1, 10**6)), Fraction(rng.randint(0, 50), 7)
        rate, across = Fraction(rng.randint(1, 400)), rng.choice((Fraction(0), Fraction(rng.randint(1, 300), 3)))
        inside, h = rng.random() < 0.5, rng.randint(1, 5)
        apart = rng.random() < 0.3
        parts = []
        for _ in range(h if inside else 0):
            parts.append(RankGroup(rng.randint(1, 4), Fraction(rng.randint(1, 900)), rate * rng.randint(1, 3)))
        outside = min((k.ranks * k.rate for k in parts), default=Fraction(0))
        ranks: Any = SimpleNamespace(
            count=n, rate=rate, across=across, rails_apart=apart, kinds=tuple(parts), domains=len(parts), outside=outside
        )
        expected = [] if apart else flat(n, size, alpha, rate, across)
        if parts:
            within = max(2 * Fraction(k.ranks - 1, k.ranks) * size / (k.inside or 1) for k in parts)
            slowest = max(size / k.ranks / k.rate for k in parts)
            between = 2 * (h - 1) * alpha + 2 * Fraction(h - 1, h) * slowest
            expected.append(CollectiveModel("hierarchical", within + between, "2(g-1)/g·S/Bs + 2(h-1)α + 2(h-1)/h·(S/g)/B"))
        assert allreduce.allreduce_models(ranks, size, alpha) == expected


@pytest.mark.parametrize("seed", range(6))
def test_models_of_all_to_all(seed: int) -> None:
    """Each rank keeps its own part and sends the others; of two halves each sends what is for the other one."""
    rng = Random(seed)
    for units in range(2, 12):
        per = rng.choice((0, 1, 2, 4))
        n = units * per or rng.randint(units, 3 * units)
        size, alpha = Fraction(rng.randint(1, 10**6)), Fraction(rng.randint(0, 50), 7)
        rate, crossing = Fraction(rng.randint(1, 40)), Fraction(rng.choice((0, 1, 3, 20, 80, 500)))
        ranks: Any = SimpleNamespace(count=n, units=units, each=per, rate=rate, crossing=crossing)
        found = all_to_all_time.all_to_all_models(ranks, size, alpha)
        if not crossing:
            assert found == []
            continue
        one = (units // 2) * per if per else n // 2
        part = size / n
        sent, crossed = (n - 1) * part / rate, one * (n - one) * part / crossing
        words = ("bisection", "(n-1)α + S·a·b/n/C") if crossed > sent else ("injection", "(n-1)α + (n-1)/n·S/B")
        assert found == [CollectiveModel(words[0], (n - 1) * alpha + max(sent, crossed), words[1])]


def mixed(*hosts: tuple[int, int, int, bool]) -> Fabric:
    """Hosts at one switch: of each kind how many, their accelerators, their ports and whether a scale-up domain joins these, at
    300 Gb/s for the first kind and 100 Gb/s less for each further one."""
    b = Builder("mixed")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 1200}), 1)
    for i, (count, accelerators, ports, scaleup) in enumerate(hosts):
        model = b.model("host", f"N{i}", {"nic": 8}, accelerators, scaleup)
        model = b.models[-1] = replace(model, links=tuple(replace(x, rate=(3 - i) * 100 * GBPS) for x in model.links))
        node = b.devices(f"node{'abcd'[i]}", model, count)
        for n in range(count):
            for _ in range(ports):
                b.link(b.free(node, n), b.free(sw, 0))
    return b.build()


@pytest.mark.parametrize(
    ("hosts", "units", "count", "each", "rate", "inside", "domains", "per"),
    [
        (((4, 2, 2, True),), 4, 8, 2, 400, 300, 4, 2),
        (((4, 4, 2, True),), 4, 16, 4, 200, 300, 4, 4),
        (((4, 4, 2, False),), 4, 16, 4, 200, None, 0, 0),
        (((4, 1, 3, True),), 4, 4, 1, 1200, None, 0, 1),
        (((2, 2, 2, True), (3, 4, 2, True)), 5, 16, 0, 200, 200, 5, 0),
        (((2, 2, 2, True), (3, 4, 2, False)), 5, 16, 0, 200, None, 0, 0),
        (((2, 2, 1, True), (3, 4, 8, True)), 5, 16, 0, 200, 200, 5, 0),
        (((1, 4, 2, True),), 1, 4, 4, 200, 300, 1, 4),
    ],
)
def test_ranks_of_hosts(
    hosts: Any, units: int, count: int, each: int, rate: int, inside: int | None, domains: int, per: int
) -> None:
    found = Ranks.of(View.whole(mixed(*hosts)))
    assert (found.units, found.count, found.each) == (units, count, each)
    assert found.rate == rate * GBPS and isinstance(found.rate, Fraction)
    assert found.inside == (None if inside is None else inside * GBPS)
    assert (found.domains, {k.ranks for k in found.kinds} == {per}) == (domains, per > 0)
    assert not found.rails_apart
    assert found.units < 2 or found.across == min(found.rate, found.rate * found.crossing / (found.net.full * found.net.grain))
