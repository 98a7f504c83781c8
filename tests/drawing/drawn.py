"""Fabrics that are drawn."""

from __future__ import annotations

from collections.abc import Callable

from tdsl.fabric.graph import Fabric
from tests.fabrics import Builder, multiplane, rail_only, torus
from tests.targets.build import pod, two_planes


def lonely() -> Builder:
    """A switch that nothing is plugged into."""
    b = Builder("lonely")
    b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    return b


FABRICS: dict[str, Callable[[], Fabric]] = {
    "pod": pod,
    "superpod": lambda: pod(units=4, nodes=32, rails=8, spines=16),
    "twelve_units": lambda: pod(units=12, nodes=4, rails=2, spines=2),
    "planes": two_planes,
    "eight_planes": lambda: multiplane(8, 64, 4, 2, radix=512).build(),
    "ring": lambda: torus(6).build(),
    "torus": lambda: torus(4, 4, 4).build(),
    "rails": lambda: rail_only(8, 4).build(),
    "many_hosts": lambda: rail_only(600, 2).build(),
    "no_links": lambda: lonely().build(),
}
