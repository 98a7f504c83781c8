"""How many links a cable of a connect carries, the cages that its plugs fill, and connectors of devices of several models."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.cables.cabling import (
    cables_of_segments,
    fills_cages,
    first_of_cage,
    links_together,
    number_connectors,
    ports_sharing_cable,
)
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.model import DeviceModel
from tests.harness import compile_text, fabric_of, links_of

ORIGIN = Origin(SourceSpan(SourceFile("x.fab", "x"), 0, 1))


def cable(**facts: object) -> DeviceModel:
    return DeviceModel("C", "cable", "", (), (), (), (), facts, ORIGIN)


@pytest.mark.parametrize(
    ("part", "fills"),
    [
        (cable(medium="dac", form="OSFP"), True), (cable(medium="acc", form="OSFP"), True),
        (cable(medium="copper", form="RJ45"), True), (cable(medium="aoc", form="OSFP"), True),
        (cable(medium="fibre", form="OSFP"), False), (cable(medium="dac"), False), (cable(form="OSFP"), False),
        (None, False), ("2x", False),
    ],
)  # fmt: skip
def test_plugs_that_fill_cages(part: object, fills: bool) -> None:
    """Those of copper and active optical cables whose model says which cages they fit: all ports of a cage leave by one."""
    assert fills_cages(part) is fills
    assert ports_sharing_cable({"part": part, "carries": 3}) == (0 if fills else 3)
    assert ports_sharing_cable({"part": part}) == (0 if fills else 1)


def test_links_of_one_cable() -> None:
    assert [links_together(x) for x in ({}, {"carries": 1}, {"carries": 2}, {"carries": 4})] == [1, 1, 2, 4]
    assert ports_sharing_cable({}) == 1


def model(*classes: tuple[str, list[int], list[int]]) -> Any:
    """A model: of each class the name, and the connector and the cage of every port, 0 for none."""
    out, first = [], 0
    for name, held, cages in classes:
        out.append(SimpleNamespace(name=name, connectors=held, cages=cages, size=len(held), first=first))
        first += len(held)
    return SimpleNamespace(classes=out, count=first)


@pytest.mark.parametrize("seed", range(40))
def test_connectors_and_cages_by_loops(seed: int) -> None:
    """Devices of three models in any order, one of them without ports; groups of ports of one cage in their order."""
    chance = np.random.default_rng(seed)
    models = [model()]
    for _ in range(2):
        classes = []
        for name in ("p", "q", "p")[: int(chance.integers(1, 4))]:
            size = int(chance.integers(1, 6))
            classes.append((name, chance.integers(0, 3, size).tolist(), chance.integers(0, 3, size).tolist()))
        models.append(model(*classes))
    which = chance.integers(0, 3, int(chance.integers(0, 6)))
    base = np.concatenate([[0], np.cumsum([models[m].count for m in which])]).astype(np.int64)
    expected, start = [], 0
    for m in which.tolist():
        for c in models[m].classes:
            expected += [start + k for k in c.connectors]
            start += max(c.connectors) + 1
    assert number_connectors(models, which, base).tolist() == expected
    for together in (0, 1, 2, 3):
        firsts = []
        for m in models:
            cages: dict[tuple[str, int], list[int]] = {}
            plain: dict[tuple[int, int], int] = {}
            for number, c in enumerate(m.classes):
                for i, (cage, held) in enumerate(zip(c.cages, c.connectors, strict=True)):
                    if cage:
                        mine = cages.setdefault((c.name, cage), [])
                        mine.append(c.first + i)
                        firsts.append(mine[(len(mine) - 1) // together * together] if together else mine[0])
                    else:
                        firsts.append(plain.setdefault((number, held), c.first + i))
        assert first_of_cage(models, together).tolist() == firsts


def test_no_cables() -> None:
    none = np.zeros(0, dtype=np.int64)
    found = cables_of_segments(none, none, none, none, none)
    for name in ("a", "b", "group", "leg", "links", "statement", "cls", "tangled", "split"):
        assert getattr(found, name).tolist() == []
    assert number_connectors([], none, np.zeros(1, dtype=np.int64)).tolist() == [] and first_of_cage([]).tolist() == []


# ------------------------------------------------------------ links that cross a panel
MODELS = """
model switch M { port p[1..8]: 400Gbps }
model switch L { port p[1..2]: 800Gbps { split 2 } }
model panel PLATE { port front[4]: any; port back[6]: any }
model panel LONE { port all[1..8]: any }
model panel THREE { port x[4]: any; port y[4]: any; port z[4]: any }
model panel EMPTY { }
model panel SOLO { port front: any; port back: any }
"""


def crossed(text: str, folder: Path) -> dict[frozenset[str], tuple[str, str]]:
    """Of every link the ports of the panel, that of the end which is first in the text first."""
    f = fabric_of(f"fabric f {{ {text} }}{MODELS}".replace("; ", "\n"), folder, models=False)
    rows = zip(f.link_a.tolist(), f.link_b.tolist(), f.link_via_a.tolist(), f.link_via_b.tolist(), strict=True)
    assert len(links_of(f)) == f.link_count
    return {frozenset(map(f.port_path, (a, b))): (f.port_path(x), f.port_path(y)) for a, b, x, y in rows if x >= 0}


@pytest.mark.parametrize(
    ("panel", "near", "far"),
    [("PLATE", "front[{}]", "back[{}]"), ("THREE", "x[{}]", "y[{}]"), ("LONE", "all[{}]", "all[{}]")],
)
def test_classes_of_a_panel(panel: str, near: str, far: str, tmp_path: Path) -> None:
    """Ends of A use its first class and ends of B its second; of one class, B's come after all of A's."""
    text = f"switch a[2]: M; switch b[2]: M; panel q[2]: {panel}; connect a[*] to b[*] each via q[1]"
    low, start = (1, 4) if panel == "LONE" else (0, 0)
    expected = {}
    for i in range(2):
        for j in range(2):
            ends = frozenset((f"a[{i}].p[{j + 1}]", f"b[{j}].p[{i + 1}]"))
            expected[ends] = (f"q[1].{near.format(2 * i + j + low)}", f"q[1].{far.format(2 * j + i + low + start)}")
    assert crossed(text, tmp_path) == expected


REFUSED = {
    "connect a[*] to b[*] each via q[*]": ("E0453", "a link crosses one panel or OCS, and this names several", "q[*]"),
    "connect a[*] to b[*] each via b[0]": ("E0457", "`via` crosses a panel or an OCS, and this is a switch", "b[0]"),
    "connect a[*] to b[*] each via e": ("E0452", "EMPTY has no ports", "e"),
    "connect a[0] to b[0] x 5 via q[0]": ("E0452", "q[0] has 4 free connectors of `front` and more links would cross it", "q[0]"),
    "connect a[0] to b[0] x 5 via l": ("E0452", "l has 3 free connectors of `all` and more links would cross it", "l"),
    "connect w.p[1, k] to a[k] via q[0] where k < 2": ("E0201",
        "2 links leave one connector and a connector of PLATE takes 1", "q[0]"),
    "connect a[0] to b[0] x 4 via q[0]": ("", "", ""),
    "connect a[0] to b[0] x 4 via l": ("", "", ""),
    "connect a[(0)] ring via e": ("", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("connect", REFUSED)
def test_refused_crossings(connect: str, tmp_path: Path) -> None:
    text = f"""fabric f {{
      switch a[2]: M
      switch b[2]: M
      panel q[2]: PLATE
      panel l: LONE
      panel e: EMPTY
      switch w: L {{ split p 2 }}
      {connect}
    }}{MODELS}"""
    found = compile_text(text, tmp_path, verify=False, models=False).findings
    told = [(d.code, d.message, d.span.text if d.span else "") for d in found if d.severity.word == "error" and d.code != "E0404"]
    assert (told or [("", "", "")])[0] == REFUSED[connect]


def test_a_panel_for_one_link(tmp_path: Path) -> None:
    text = "switch a[2]: M; switch b[2]: M; panel q[2]: SOLO; connect a[i] to b[i] via q[i]"
    ends = {frozenset((f"a[{i}].p[1]", f"b[{i}].p[1]")): (f"q[{i}].front", f"q[{i}].back") for i in range(2)}
    assert crossed(text, tmp_path) == ends


def test_a_panel_that_is_omitted(tmp_path: Path) -> None:
    """Its links are planned and not built; their ports on it stay reserved when it comes."""
    text = "switch a: M; switch b[2]: M; panel q[2]: PLATE; connect a to b[i] x 2 via q[i]; omit q[0]"
    ends = {
        frozenset((f"a.p[{p}]", f"b[1].p[{c}]")): (f"q[1].front[{k}]", f"q[1].back[{k}]") for k, p, c in ((0, 2, 1), (1, 6, 5))
    }
    assert crossed(text, tmp_path) == ends
