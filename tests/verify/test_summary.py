"""The figures of a fabric: as published, and counted device by device and link by link."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from tdsl.fabric.graph import MEDIA, Fabric
from tdsl.verify.summary import fabric_summary
from tests.fabrics import multiplane, rail_only, random_fabric, random_layers, scale_up, superpod, torus
from tests.harness import each


def test_superpod_as_published():
    assert fabric_summary(superpod().build()) == {
        "hosts": 127, "other_hosts": 1, "accelerators": 1016, "endpoints": 1016, "other_endpoints": 4, "switches": 48,
        "tiers": {"leaf": 32, "spine": 16}, "planes": 1, "rails": 8,
        "links": {"total": 2044, "classes": {"host-leaf": 1020, "leaf-spine": 1024}},
        "cables": {"total": 2044, "classes": {"host-leaf": 1020, "leaf-spine": 1024}},
        "injection_bps": 4.064e14,
    }  # fmt: skip


def test_chips_are_endpoints():
    f = fabric_summary(torus(4, 4, 4).build())
    assert (f["hosts"], f["accelerators"], f["endpoints"], f["switches"]) == (0, 64, 64, 0)
    assert f["links"] == {"total": 192, "classes": {"x": 64, "y": 64, "z": 64}}


def test_chips_inside_hosts_are_counted_once():
    f = fabric_summary(scale_up(18, 4, 18).build())
    assert (f["hosts"], f["accelerators"], f["endpoints"], f["tiers"]) == (18, 72, 72, {"tray": 18})
    assert f["media"] == {"backplane": 1296} and f["cables"] == {"total": 0, "classes": {}}


def test_planes():
    f = fabric_summary(multiplane(4).build())
    assert (f["planes"], f["rails"], f["tiers"]) == (4, 1, {"leaf": 8, "spine": 8})


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
