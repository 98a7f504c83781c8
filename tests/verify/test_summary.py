"""The figures of a fabric."""

from __future__ import annotations

from tdsl.verify.summary import fabric_summary
from tests.fabrics import multiplane, scale_up, superpod, torus


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
