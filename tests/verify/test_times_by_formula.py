"""Times of collective operations and the figures of a fabric, by formulas and counts written out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, inf, log2
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import MEDIA, Fabric
from tdsl.prove.bound import NotBounded
from tdsl.prove.delays import worst_delay
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.check import Judgement
from tdsl.verify.checks import all_to_all_time, allreduce
from tdsl.verify.summary import fabric_summary
from tdsl.verify.workload import TO_SAY, CollectiveModel, RankGroup, Ranks, fastest_model_judgement, message_size_of_claim
from tests.fabrics import GBPS, Builder, claim, multiplane, rail_only, random_fabric, random_layers, scale_up, superpod, torus
from tests.harness import each
from tests.verify.test_workload import with_delay


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


def test_a_tie_is_of_injection() -> None:
    ranks: Any = SimpleNamespace(count=2, units=2, each=1, rate=Fraction(1), crossing=Fraction(1))
    assert all_to_all_time.all_to_all_models(ranks, Fraction(8), Fraction(0)) == [
        CollectiveModel("injection", Fraction(4), "(n-1)α + (n-1)/n·S/B")
    ]


def test_sizes_that_are_given() -> None:
    f = superpod(units=2, spines=8).build()
    good, length = Quantity(Fraction(3), SIZE), Quantity(Fraction(3), LENGTH)
    assert message_size_of_claim(claim(f, "allreduce", args=(good,))) == 3
    for args in ((), (good, good), (length,), (3,), (Quantity(Fraction(0), SIZE),), (Quantity(Fraction(-1), SIZE),)):
        assert message_size_of_claim(claim(f, "allreduce", args=args)) is None, args
    assert message_size_of_claim(None) is None
    assert message_size_of_claim(claim(f, "allreduce", args=(Quantity(Fraction(1), SIZE),))) == 1
    assert message_size_of_claim(claim(f, "allreduce", args=(Quantity(Fraction(1, 2), SIZE),))) == Fraction(1, 2)


# ---------------------------------------------------------------- ranks


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


def sizes(ranks: Ranks) -> int:
    """The ranks of each domain; 0 where they differ."""
    found = {k.ranks for k in ranks.kinds}
    return found.pop() if len(found) == 1 else 0


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
    assert (found.domains, sizes(found)) == (domains, per)
    assert not found.rails_apart
    assert found.units < 2 or found.across == min(found.rate, found.rate * found.crossing / (found.net.full * found.net.grain))


@pytest.mark.parametrize(("second", "inside", "domains", "per"), [(True, 200, 5, 0), (False, None, 0, 0)])
def test_ranks_of_hosts_after_failures(second: bool, inside: int | None, domains: int, per: int) -> None:
    """What does not fail stays as it is."""
    f = mixed((2, 2, 2, True), (3, 4, 2, second))
    found = Ranks.of(View.whole(f).without(np.zeros(f.device_count, dtype=np.bool_)))
    assert (found.inside, found.domains, sizes(found)) == (None if inside is None else inside * GBPS, domains, per)
    same = mixed((3, 4, 2, True))
    found = Ranks.of(View.whole(same).without(np.zeros(same.device_count, dtype=np.bool_)))
    assert (found.inside, found.domains, sizes(found), found.each) == (300 * GBPS, 3, 4, 4)


def test_what_halves_can_exchange() -> None:
    """A superpod of two units with two, then four links from each leaf to each spine."""
    for uplinks, share in ((2, Fraction(1, 2)), (4, Fraction(1))):
        found = Ranks.of(View.whole(superpod(2, 4, 2, 2, uplinks=uplinks, omit_last=False).build()))
        assert found.rate == 400 * GBPS
        assert found.crossing == share * 4 * 2 * 400 * GBPS
        assert found.across == found.rate * share
    rails = Ranks.of(View.whole(rail_only(hosts=4, rails=3).build()))
    assert rails.rails_apart
    assert (rails.rate, rails.inside, rails.domains, sizes(rails)) == (400 * GBPS, 100 * GBPS, 4, 3)
    assert Ranks.of(View.whole(rail_only(hosts=3, rails=2).build())).rails_apart
    assert not Ranks.of(View.whole(rail_only(hosts=3, rails=1).build())).rails_apart
    chips = Ranks.of(View.whole(torus(4, 4, chip="C").build()))
    assert (chips.units, chips.count, chips.each, chips.inside) == (16, 16, 1, None)
    assert not chips.rails_apart


# ---------------------------------------------------------------- words

SIZE_OF = Quantity(Fraction(8 * 10**9), SIZE)
TWO = [CollectiveModel("slow", Fraction(3), "a+b"), CollectiveModel("fast", Fraction(1), "a")]


def best(f: Fabric, models: list[CollectiveModel] | None = None, size: Quantity = SIZE_OF) -> Judgement:
    asked = claim(f, "allreduce", args=(size,))
    found = TWO if models is None else models
    return fastest_model_judgement("it", View.whole(f), asked, lambda ranks, size, alpha: found, lambda blocks, size: Fraction(1))


@pytest.mark.parametrize(
    ("hosts", "ranks", "apart"),
    [
        (((2, 2, 2, False), (1, 4, 2, False)), "8 ranks at 200Gbps", "N0 and N1"),
        (((2, 2, 2, True), (1, 4, 2, False)), "8 ranks at 200Gbps", "N1"),
        (((2, 1, 2, False), (1, 4, 2, False)), "6 ranks at 200Gbps", "N1"),
        (((1, 2, 2, False), (1, 2, 2, False), (1, 2, 2, False), (1, 3, 3, False)), "9 ranks at 400Gbps", "N0, N1, N2 and 1 more"),
        (((2, 2, 2, True), (1, 4, 2, True)), "8 ranks at 200Gbps", ""),
        (((2, 1, 2, False),), "2 ranks at 800Gbps", ""),
        (((1200, 1, 1, False),), "1,200 ranks at 400Gbps", ""),
    ],
)
def test_words_of_a_time(hosts: Any, ranks: str, apart: str) -> None:
    f = mixed(*hosts)
    found = best(f)
    unknown = worst_delay(View.whole(f))
    assert isinstance(unknown, NotBounded)
    alone = f"; no scale-up domain joins the accelerators of {apart}" if apart else ""
    words = f"1s by fast, {ranks}; 3s by slow"
    assert found.text == f"at least {words}; without latency: {first_names_and_more(unknown.reasons, 2)}{alone}"
    assert (found.status, found.help, found.upper) == ("modelled", TO_SAY, inf)
    assert found.value == found.lower == Quantity(Fraction(1), TIME)
    assert found.notes == ("fast: a = 1s", "slow: a+b = 3s")
    witness = dict(found.witness)
    inside = witness.pop("scaleup_bps", None)
    assert inside == (200e9 if all(joined for *_, joined in hosts) else None)
    count = int(ranks.split()[0].replace(",", ""))
    rate = float(ranks.split()[-1].removesuffix("Gbps")) * GBPS
    assert witness == {
        "model": "fast", "models": {"fast": 1.0, "slow": 3.0}, "formulas": {"fast": "a", "slow": "a+b"}, "ranks": count,
        "rate_bps": rate, "alpha_s": None, "bytes_s": 8e9 / rate,
    }  # fmt: skip
    if count < 100:
        known = best(with_delay(f))
        assert (known.text, known.help) == (f"{words}{alone}", "")
        assert known.upper == Quantity(Fraction(1), TIME) and known.witness["alpha_s"] == pytest.approx(1.098e-6)
        assert best(f, TWO[1:]).text.startswith(f"at least 1s by fast, {ranks}; without latency")


def test_times_that_are_not_judged() -> None:
    f = mixed((2, 2, 2, True))
    none = "the rails are not connected, and the hosts have no scale-up domain that connects them"
    assert best(mixed((2, 2, 2, False)), []).reason == none
    floor = best(f, [])
    assert (floor.status, floor.text) == ("bounded", f"at least 1s by any algorithm; no model applies: {none}")
    assert best(f, size=Quantity(Fraction(1), LENGTH)).reason == "`it` takes one size: write `it 1GB`"
    assert best(mixed((1, 2, 2, True))).reason == "there are fewer than two hosts"
    assert best(mixed((2, 2, 2, True), (2, 2, 0, True))).reason == "some hosts do not reach each other"
    assert best(mixed((2, 2, 0, True))).reason == "some hosts do not reach each other"
    chips = best(torus(3, 3, chip="C").build())
    assert "no scale-up domain" not in chips.text and chips.status == "modelled"


# ---------------------------------------------------------------- figures of a fabric


def counted(f: Fabric) -> dict[str, object]:
    """The figures of a fabric of hosts or chips and switches, device by device and link by link."""
    main = [s.role == "accelerator" for s in f.sets]
    if not any(main):
        main = [s.kind in ("host", "chip") for s in f.sets]
    degree, bps = Counter(), Counter()
    for a, b, rate in zip(f.device_a.tolist(), f.device_b.tolist(), f.link_rate.tolist(), strict=True):
        for d in (a, b):
            degree[d] += 1
            bps[d] += rate
    ends = [d for d in range(f.device_count) if f.built[d] and f.set_of(d).kind in ("host", "chip")]
    is_main = {d: main[int(f.device_set[d])] for d in ends}
    hosts = [d for d in ends if f.set_of(d).kind == "host"]
    tiers: dict[str, list[int]] = {}
    last = max([*f.tier.tolist(), 0]) + 1
    for d in range(f.device_count):
        if f.set_of(d).kind == "switch" and f.built[d]:
            tiers.setdefault(f.set_of(d).name, []).append(int(f.tier[d]) if f.tier[d] >= 0 else last)
    switches = sum(len(x) for x in tiers.values())
    first = {s.name: s.index for s in reversed(f.sets)}
    order = sorted(tiers, key=lambda name: (min(tiers[name]), first[name]))

    def ports(of: list[int]) -> int:
        return sum(degree[d] if f.set_of(d).kind == "host" else degree[d] > 0 for d in of)

    def classes(rows: Any) -> dict[str, int]:
        tally = Counter(f.classes[int(c)] for c in rows)
        return {name: tally[name] for name in f.classes if tally[name]}

    return {
        "hosts": sum(is_main[d] for d in hosts),
        "other_hosts": sum(not is_main[d] for d in hosts),
        "accelerators": sum(f.set_of(d).model.accelerators for d in ends),
        "endpoints": ports([d for d in ends if is_main[d]]),
        "other_endpoints": ports([d for d in ends if not is_main[d]]),
        "switches": switches,
        "tiers": {name: len(tiers[name]) for name in order},
        "planes": max(len({int(p) for p in f.plane[f.built] if p >= 0}), 1),
        "links": {"total": f.link_count, "classes": classes(f.link_class)},
        "cables": {"total": len(f.cable_a), "classes": classes(f.cable_class)},
        "injection_bps": float(sum(bps[d] for d in ends if is_main[d])),
    }


def shape(seed: int) -> Fabric:
    rng = Random(seed)
    match seed % 5:
        case 0:
            b = random_layers(seed)
            for d in rng.sample(range(len(b.port_base) - 1), rng.randint(0, 2)):
                b.omit(d)
            return b.build()
        case 1:
            return random_fabric(seed, 3, 4, 2, 4, 2).build()
        case 2:
            return multiplane(rng.randint(1, 3), 4, 2, 2).build()
        case 3:
            return superpod(2, 4, 2, 2, uplinks=2).build()
        case _:
            return rail_only(rng.randint(2, 5), rng.randint(1, 3)).build()


def figures_agree(seed: int) -> None:
    f = shape(seed)
    found = fabric_summary(f)
    found.pop("rails")
    assert found == counted(f)
    assert list(found["tiers"]) == list(counted(f)["tiers"])  # type: ignore[call-overload]


def test_figures_of_fabrics() -> None:
    each(range(80), figures_agree)


def test_media_and_circuits() -> None:
    f = scale_up(3, 2, 2).build()
    found = fabric_summary(f)
    assert found["media"] == {"backplane": 12} and "circuits" not in found
    some = f.link_medium.copy()
    some[:5] = MEDIA.index("cable")
    assert fabric_summary(replace(f, link_medium=some))["media"] == {"cable": 5, "backplane": 7}
    pair = np.arange(2)
    assert fabric_summary(replace(f, circuit_a=pair, circuit_b=pair, circuit_link=pair))["circuits"] == 2
    assert fabric_summary(replace(f, circuit_a=pair[:1], circuit_b=pair[:1], circuit_link=pair[:1]))["circuits"] == 1
    assert "media" not in fabric_summary(rail_only(2, 2).build())
