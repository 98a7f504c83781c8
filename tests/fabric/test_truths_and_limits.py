"""Truth values of all assignments at once are those of each alone, with their faults; limits of devices and of links."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric import resolve
from tdsl.fabric.vector import guard_values
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tests.fabric.test_vector import one_by_one, setup
from tests.harness import compile_text, fabric_of


@pytest.mark.parametrize("text", ["not i", "not (i < 2)", "-(i < 2)", "i and j", "i < 2 and j", "j or i < 2", "not (i + j)"])
def test_numbers_are_no_truth_values(text: str) -> None:
    e, scope, over = setup(text)
    expected = one_by_one(e, scope, over, False)
    try:
        found: object = guard_values(e, scope, Evaluator(), over).tolist()  # type: ignore[arg-type]
    except Fault as fault:
        found = fault.diagnostic.code
    assert found == expected


@pytest.mark.parametrize(("pattern", "links"), [("mesh", 13), ("torus", 20)])
def test_links_of_grids_are_counted_before_they_are_laid(pattern: str, links: int, tmp_path: Path) -> None:
    text = f"fabric f {{ switch a[2, 5]: BIG; connect a[*, *] {pattern} }}"
    (found,) = [d for d in compile_text(text, tmp_path, verify=False, max_links=1).findings if d.code == "E0116"]
    assert f"with this the design has {links} links" in found.message


def test_as_many_devices_as_the_limit_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six switches in each of two groups are twelve."""
    text = "fabric f { group g[2] { switch a[2, 3]: BIG; switch w: BIG; connect a[*, *] to w each } }"
    counts = []
    for limit in range(1, 40):
        monkeypatch.setattr(resolve, "ASSIGNMENT_LIMIT", limit)
        found = [d for d in compile_text(text, tmp_path, verify=False).findings if d.code == "E0116"]
        counts.append(not found)
    least = counts.index(True) + 1
    assert least == 12 and all(counts[least - 1 :])
    monkeypatch.undo()
    assert fabric_of(text, tmp_path).link_count == 12
