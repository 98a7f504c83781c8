"""Oversubscription of small random networks, by its definition, with planned, spare and unreached devices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Selector, claim, multiplane, random_layers, selector, torus
from tests.harness import each


def judge(view: View, check: str, **given: Any) -> Judgement:
    return checks_by_name()[check].judge(view, claim(view.fabric, check, **given) if given else None)


def several(rng: Random, f: Fabric) -> View:
    """A view of some devices, with all their links."""
    part = sorted(rng.sample(range(f.device_count), rng.randint(1, f.device_count)))
    return View.part(f, FabricElement("part", np.array(part)), True)


def test_ports_are_judged_where_they_are_asked_for_alone() -> None:
    """What names no device is not for that the ports."""
    f = multiplane(2, 4, 2, 2).build()
    for of, status in (
        (Selector("ports", "ports", ()), "refuted"), (Selector("leaf[9]", "switch", ()), "proved"),
        (Selector("ports", "switch", selector(f, "pl.leaf").elements), "proved"),
    ):  # fmt: skip
        assert judge(View.whole(f), "reachability", of=(of,)).status == status


def layers(rng: Random, seed: int) -> Fabric:
    """Hosts below tiers of switches, some planned and some spare."""
    b = random_layers(seed)
    if rng.random() < 0.4:  # beside all others, where no tier is known
        store = b.devices("store", b.model("host", "STORE", {"nic": 2}), 1, role="storage")
        isle = b.devices("isle", b.models[0], 2)
        b.link(b.free(store, 0), b.free(isle, 0))
        b.link(b.free(isle, 0), b.free(isle, 1))
    for d in rng.sample(range(len(b.port_base) - 1), rng.choice((0, 0, 1, 2, 3))):
        b.omit(d)
    f = b.build()
    if rng.random() < 0.5:
        spare = [{"spares": 1} if rng.random() < 0.5 and s.count > 1 else {} for s in f.sets]
        f = replace(f, sets=tuple(replace(s, settings=x) for s, x in zip(f.sets, spare, strict=True)))
    return replace(f, absent_reserved=np.array([rng.random() < 0.7 for _ in f.absent_a], dtype=np.bool_))


def loads(f: Fabric, active: bool) -> tuple[list[int], list[int]]:
    """What is attached below every device, built or planned with its ports kept, and what is cabled above it."""
    spare = [active and bool(f.spares[d]) for d in range(f.device_count)]
    below, above = [0] * f.device_count, [0] * f.device_count
    tier = [0 if f.is_end[d] else int(f.tier[d]) for d in range(f.device_count)]
    built = [(int(a), int(b), int(r), True) for a, b, r in zip(f.device_a, f.device_b, f.link_rate, strict=True)]
    planned = zip(f.absent_a, f.absent_b, f.absent_rate, f.absent_reserved, strict=True)
    for a, b, r, there in [*built, *((int(a), int(b), int(r), False) for a, b, r, kept in planned if kept)]:
        low, high = sorted((a, b), key=lambda d: tier[d])
        if tier[low] >= 0 and tier[low] != tier[high] and not spare[a] and not spare[b]:
            below[high] += r
            above[low] += r if there else 0
    return below, above


def oversubscription_agrees(seed: int) -> None:
    rng = Random(seed)
    f = layers(rng, seed)
    active = rng.random() < 0.5
    view = rng.choice((View.whole(f), several(rng, f)))
    at = selector(f, rng.choice(("leaf", "agg", "core"))) if rng.random() < 0.3 else None
    found = judge(view, "oversubscription", of_active=active, **({"at": (at,)} if at else {}))
    below, above = loads(f, active)
    named = {int(d) for e in at.elements for d in e.devices} if at else set(range(f.device_count))
    judged = [d for d in range(f.device_count) if view.core[d] and f.is_switch[d] and d in named]
    tiers = {int(f.tier[d]) for d in range(f.device_count) if f.is_switch[d] and above[d]}
    bare = [d for d in judged if int(f.tier[d]) in tiers and below[d] and not above[d]]
    ratios = {d: Fraction(below[d], above[d]) for d in judged if above[d]}
    if bare:
        assert (found.status, found.value, found.ratio) == ("proved", float("inf"), (1, 0))
        assert found.witness == {"device": f.device_name(bare[0]), "down_bps": below[bare[0]], "up_bps": 0}
    elif not ratios:
        assert (found.status, found.reason) == ("skipped", "no switch looked at has links to a tier above it")
    else:
        worst = max(ratios.values())
        assert (found.status, found.value, found.lower, found.upper) == ("proved", worst, worst, worst)
        assert found.ratio == (worst.numerator, worst.denominator)
        assert found.witness["device"] in {f.device_name(d) for d in ratios if ratios[d] == worst}


def test_oversubscription_is_the_worst_ratio_of_a_switch() -> None:
    each(range(120), oversubscription_agrees)


def test_fabrics_without_tiers() -> None:
    found = judge(View.whole(torus(3, 3).build()), "oversubscription")
    assert (found.status, found.reason) == ("skipped", "the fabric is direct: it has no tiers")
