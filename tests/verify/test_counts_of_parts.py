"""Links, cables, switches and ports of a whole design, of a group, of one device and between two sets, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.verify.check import catalogue
from tests.fabrics import claim, selector, superpod

# Two units of four hosts with two NICs and two leaves each, of which the last host is planned; a leaf has two links to each of
# two spines; a manager has one link to the first leaf of the last unit.
FABRIC = superpod(units=2, nodes=4, rails=2, spines=2).build()


def counted(f: Fabric, view: View, **sides: object) -> dict[str, object]:
    """What the four checks say."""
    found = {name: catalogue()[name].judge(view, claim(f, name, **sides)) for name in ("links", "cables", "switches", "ports")}
    for name, one in found.items():
        assert (one.status, one.lower, one.upper) == ("proved", one.value, one.value), name
        words = "port in use" if one.value == 1 and name == "ports" else "ports in use" if name == "ports" else name
        assert one.text == f"{one.value} {words}"
    return {name: one.value for name, one in found.items()}


@pytest.mark.parametrize(
    ("path", "row", "links", "switches", "ports"),
    [
        ("", 0, 8 + 6 + 1 + 16, 6, 62),
        ("su", 0, 8, 2, 8 + 16),
        ("su", 1, 6 + 1, 2, 6 + 8 + 7),
        ("su.leaf", 0, 8, 1, 8),
        ("su.leaf", 2, 8, 1, 8),
        ("su.leaf", 3, 7, 1, 7),
        ("su.node", 5, 2, 0, 2),
        ("spine", 1, 8, 1, 8),
        ("ufm", 0, 1, 0, 1),
    ],
)
def test_counts_of_parts(path: str, row: int, links: int, switches: int, ports: int) -> None:
    element = selector(FABRIC, path).elements[row] if path else None
    view = View.part(FABRIC, element, path != "su") if element is not None else View.whole(FABRIC)
    assert counted(FABRIC, view) == {"links": links, "cables": links, "switches": switches, "ports": ports}


@pytest.mark.parametrize(
    ("one", "other", "between"),
    [("su.leaf", "spine", 16), ("su.node", "su.leaf", 14), ("su.node", "spine", 0), ("ufm", "su.leaf", 1), ("su", "su", 14)],
)
def test_counts_between_sets(one: str, other: str, between: int) -> None:
    view = View.whole(FABRIC)
    for a, b in ((one, other), (other, one)):
        sides = {"of": (selector(FABRIC, a),), "of_to": (selector(FABRIC, b),)}
        found = counted(FABRIC, view, **sides)
        assert (found["links"], found["cables"]) == (between, between)


def test_links_that_share_a_cable() -> None:
    """The first four links are one cable, the next two another: 31 links in 27 cables, 8 of the first unit in 4."""
    group = np.arange(FABRIC.link_count)
    group[:4], group[4:6] = 0, 30
    group[30] = 5
    f = replace(FABRIC, cable_group=group)
    assert counted(f, View.whole(f))["cables"] == 31 - 3 - 1
    element = selector(f, "su").elements[0]
    assert counted(f, View.part(f, element, False))["cables"] == 8 - 3 - 1
    sides = {"of": (selector(f, "su.node"),), "of_to": (selector(f, "su.leaf"),)}
    assert counted(f, View.whole(f), **sides)["cables"] == 14 - 3 - 1
