"""The figures of a fabric, as published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.graph import MEDIA
from tdsl.verify.summary import fabric_summary
from tests.fabrics import multiplane, rail_only, random_layers, scale_up, superpod, torus


def test_superpod_as_published():
    assert fabric_summary(superpod().build()) == {
        "hosts": 127, "other_hosts": 1, "accelerators": 1016, "endpoints": 1016, "other_endpoints": 4, "switches": 48,
        "tiers": {"leaf": 32, "spine": 16}, "planes": 1, "rails": 8,
        "links": {"total": 2044, "classes": {"host-leaf": 1020, "leaf-spine": 1024}},
        "cables": {"total": 2044, "classes": {"host-leaf": 1020, "leaf-spine": 1024}},
        "injection_bps": 4.064e14,
    }  # fmt: skip


def test_figures_of_other_forms():
    """Chips are endpoints, those inside of hosts count once; a switch that is not built and one that no end reaches count not."""
    layers = random_layers(3)
    layers.omit(layers.sets[1].first)
    for made, wanted in (
        (torus(4, 4, 4), {"hosts": 0, "accelerators": 64, "endpoints": 64, "switches": 0}),
        (scale_up(18, 4, 18), {"hosts": 18, "accelerators": 72, "endpoints": 72, "tiers": {"tray": 18}}),
        (multiplane(4), {"planes": 4, "rails": 1, "tiers": {"leaf": 8, "spine": 8}}),
        (layers, {"switches": sum(s.count for s in layers.sets[1:]) - 1, "accelerators": layers.sets[0].count}),
    ):
        found = fabric_summary(made.build())
        assert {k: found[k] for k in wanted} == wanted, made.name
    grid, domain = fabric_summary(torus(4, 4, 4).build()), fabric_summary(scale_up(18, 4, 18).build())
    assert grid["links"] == {"total": 192, "classes": {"x": 64, "y": 64, "z": 64}}
    assert domain["media"] == {"backplane": 1296} and domain["cables"] == {"total": 0, "classes": {}}


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
