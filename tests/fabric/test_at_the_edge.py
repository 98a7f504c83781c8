"""Where a statement ends: indices beyond a list, the wrong setting, racks that are not there, empty groups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.vector import NotSimple, _pick_elements
from tdsl.findings.source import SourceFile
from tests.harness import compile_text


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def test_elements_of_a_list_by_an_index_of_many_instances() -> None:
    """All within the list, and whole numbers; else they are worked out one by one, which finds what is wrong."""
    assert _pick_elements((5, 7, 9), ints(0, 2, 1, 2)).tolist() == [5, 9, 7, 9]  # type: ignore[union-attr]
    assert _pick_elements((5,), ints(0)).tolist() == [5]  # type: ignore[union-attr]
    wrong: list[tuple[Any, Any]] = [
        ((5, 7, 9), ints(0, -1)), ((5, 7, 9), ints(0, 3)), ((5, 7, 9), np.array([0.0, 1.0])), ((), ints(0)), ((5, 7), 1),
        (ints(5, 7), ints(0)), ((5, 7, 9), np.array([True, False])),
    ]  # fmt: skip
    for value, index in wrong:
        with pytest.raises(NotSimple):
            _pick_elements(value, index)


def found(text: str, folder: Path, **options: Any) -> list[tuple[str, str, str]]:
    """Code, underlined text and help of every error."""
    made = compile_text(text, folder, **options)
    return [(d.code, d.span.text if d.span else "", d.help or "") for d in made.findings if d.severity.name == "ERROR"]


@pytest.mark.parametrize("index", ["i + 1", "i - 1"])
def test_an_index_beyond_a_list(index: str, tmp_path: Path) -> None:
    text = (
        "fabric f {\n  let v = [0, 1, 2]\n  switch a[3]: SW; switch b[3]: SW\n"
        f"  connect a[i] to b[v[{index}]]\n  connect a[i] to b[i] x 2\n}}\n"
    )
    codes = found(text, tmp_path)
    assert [c for c, _, _ in codes] == ["E0108"] or (codes and not any(c.startswith("E09") for c, _, _ in codes)), codes


def test_the_setting_of_a_wrong_bundle_is_underlined(tmp_path: Path) -> None:
    """Not the first setting of the connect."""
    text = "fabric f {\n  switch a[2]: SW\n  connect a[0] to a[1] x 4 { rate 400Gbps; bundle 3 }\n}\n"
    assert [(c, t) for c, t, _ in found(text, tmp_path)] == [("E0214", "bundle 3")]


HALLS = "hall h { row A { rack 1..2 } }; hall left { row A { rack 1..2 } }"


@pytest.mark.parametrize(
    ("row", "help"),
    [
        ("h,A,9", "name a hall, row and rack that the design declares"),
        ("h,B,1", "name a hall, row and rack that the design declares"),
        ("left,A,3", "name a hall, row and rack that the design declares"),
        ("lefd,A,1", "did you mean the hall `left`?"),
        ("unlike,A,1", "name a hall, row and rack that the design declares"),
    ],
)
def test_a_rack_that_is_not_there(row: str, help: str, tmp_path: Path) -> None:
    """A hall is proposed only where the design has none of that name."""
    table = SourceFile("places.csv", f"device,hall,row,rack,unit\na[0],{row},1\n")
    text = f"fabric f {{ switch a[2]: SW; connect a[0] to a[1]; {HALLS} }}"
    assert ("E0205", help) in [(c, h) for c, _, h in found(text, tmp_path, verify=False, places=table)]


def test_instances_without_a_link_where_wiring_is_refused(tmp_path: Path) -> None:
    """Switches that no connect names are found; an optical switch or a panel may be a spare."""
    text = "fabric f {\n  switch a[2]: SW; switch left[3]: SW; ocs o: OPTIC; panel q: PATCH\n  connect a[0] to a[1] x 99\n}\n"
    made = compile_text(text, tmp_path)
    lonely = [d.message for d in made.findings if d.code == "E0404"]
    assert lonely == ["no connect names `left`: 3 switches without a link"], [d.message for d in made.findings]


def test_a_requirement_of_a_group_without_devices(tmp_path: Path) -> None:
    """It is refused or skipped, without an internal error."""
    text = "fabric f {\n  switch a[2]: SW\n  group g[2] { }\n  connect a[0] to a[1]\n  report blast_radius of g\n}\n"
    assert not [c for c, _, _ in found(text, tmp_path) if c.startswith("E09")]


GRID = "model switch GRID { port p[2, 3]: 400Gbps }\n"


@pytest.mark.parametrize("copies", [1, 2])
def test_ports_of_one_index_where_the_other_is_given(copies: int, tmp_path: Path) -> None:
    """`p[*, 1]` are the ports with the second index 1 alone, from the first on."""
    text = GRID + f"fabric f {{\n  switch a[2]: GRID\n  connect a[0].p[*, 1] to a[1].p[*, 2] x {copies}\n}}\n"
    fabric = compile_text(text, tmp_path, models=False).designs[0].fabric
    assert fabric is not None
    links = [
        tuple(fabric.port_path(p) for p in both) for both in zip(fabric.link_a.tolist(), fabric.link_b.tolist(), strict=True)
    ]
    assert links == [(f"a[0].p[{i}, 1]", f"a[1].p[{i}, 2]") for i in range(copies)]


def test_no_more_links_than_ports_of_an_index(tmp_path: Path) -> None:
    text = GRID + "fabric f {\n  switch a[2]: GRID\n  connect a[0].p[*, 1] to a[1].p[*, 2] x 3\n}\n"
    assert [c for c, _, _ in found(text, tmp_path, models=False)]
