"""Links, cables, switches and ports of a whole design, of a group, of one device and between two sets, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.fabric.subject import devices_of_selectors
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import claim, selector, superpod

# Two units of four hosts with two NICs and two leaves each, of which the last host is planned; a leaf has two links to each of
# two spines; a manager has one link to the first leaf of the last unit.
FABRIC = superpod(units=2, nodes=4, rails=2, spines=2).build()


def between(f: Fabric, one: str, other: str) -> View:
    """What joins two sets."""
    return View.between(f, *(devices_of_selectors(f, [selector(f, path)]) for path in (one, other)))


def counted(f: Fabric, view: View) -> dict[str, object]:
    """What the four checks say."""
    found = {name: checks_by_name()[name].judge(view, claim(f, name)) for name in ("links", "cables", "switches", "ports")}
    for name, one in found.items():
        assert (one.status, one.lower, one.upper) == ("proved", one.value, one.value), name
        words = "port in use" if one.value == 1 and name == "ports" else "ports in use" if name == "ports" else name
        assert one.text == f"{one.value} {words}"
    return {name: one.value for name, one in found.items()}


@pytest.mark.parametrize(
    ("path", "row", "links", "cables", "switches", "ports"),
    [
        ("", 0, 8 + 6 + 1 + 16, 31, 6, 62),
        ("su", 0, 8, 8 + 8, 2, 8 + 16),
        ("su", 1, 6 + 1, 7 + 8, 2, 6 + 8 + 7),
        ("su.leaf", 0, 8, 8, 1, 8),
        ("su.leaf", 2, 8, 8, 1, 8),
        ("su.leaf", 3, 7, 7, 1, 7),
        ("su.node", 5, 2, 2, 0, 2),
        ("spine", 1, 8, 8, 1, 8),
        ("ufm", 0, 1, 1, 0, 1),
    ],
)
def test_counts_of_parts(path: str, row: int, links: int, cables: int, switches: int, ports: int) -> None:
    element = selector(FABRIC, path).elements[row] if path else None
    view = View.part(FABRIC, element, path != "su") if element is not None else View.whole(FABRIC)
    assert counted(FABRIC, view) == {"links": links, "cables": cables, "switches": switches, "ports": ports}


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("su.leaf", "spine", 16), ("su.node", "su.leaf", 14), ("su.node", "spine", 0), ("ufm", "su.leaf", 1), ("su", "su", 14)],
)
def test_counts_between_sets(one: str, other: str, count: int) -> None:
    for a, b in ((one, other), (other, one)):
        found = counted(FABRIC, between(FABRIC, a, b))
        assert (found["links"], found["cables"]) == (count, count)


def test_links_that_share_a_cable() -> None:
    """The first four links are one cable, the next two another: 31 links in 27 cables, 16 of the first unit in 12."""
    group = np.arange(FABRIC.link_count)
    group[:4], group[4:6] = 0, 30
    group[30] = 5
    f = replace(FABRIC, cable_group=group)
    assert counted(f, View.whole(f))["cables"] == 31 - 3 - 1
    element = selector(f, "su").elements[0]
    assert counted(f, View.part(f, element, False))["cables"] == 16 - 3 - 1
    assert counted(f, between(f, "su.node", "su.leaf"))["cables"] == 14 - 3 - 1
