"""Conflicts, ``minimize``, requirements on sizes and the limit of work."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Severity
from tdsl.sizing import conflicts
from tdsl.sizing.relations import SizeConstraint
from tests.harness import compile_text, sections

TEXTS = sections(Path(__file__).parent / "solve.txt")
PAIR = f"{TEXTS['PAIR']}\n"
CODES = {"E0452", "E0454", "E0423", "E0421"}


def errors(text: str, folder: Path) -> list[tuple[str, list[str]]]:
    """Code, note and text of the labels of each error that sizes may be the cause of."""
    found = compile_text(text, folder, select=("switches", "name_collision")).findings
    return [(d.code, [x.span.text for x in d.labels]) for d in found if d.severity is Severity.ERROR and d.code in CODES]


def test_lines_that_cannot_hold_together(tmp_path: Path) -> None:
    """The four places of a refuted count; changing any one mends it, and the three hosts beside are none of them."""
    text = PAIR.format(top="require switches <= 12", leaves=4, spines=8, links=8, model="BIG")
    ((code, labels),) = errors(text, tmp_path)
    assert code == "E0423" and sorted(labels) == ["12", "4", "8"]
    for before, after in [("leaf[4]", "leaf[3]"), ("spine[8]", "spine[4]"), ("<= 12", "<= 13")]:
        assert errors(text.replace(before, after), tmp_path) == [], before
    assert errors(text.replace("require switches <= 12", ""), tmp_path) == []


def test_two_conflicts_are_told_apart(tmp_path: Path) -> None:
    other = "\n  switch x[5]: BIG\n  switch y[3]: BIG\n  connect x[*] to y[*] spread x 7\n}\n"
    text = PAIR.format(top="", leaves=4, spines=3, links=8, model="BIG").rstrip()[:-1] + other
    found = errors(text, tmp_path)
    assert [sorted(labels) for _, labels in found] == [["3", "8"], ["3", "7"]]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(-3, 3)), min_size=1, max_size=9))
def test_no_line_of_a_core_can_be_left_out(rows: list[tuple[int, int, int]]) -> None:
    """Against every subset by z3 itself: unsat as a whole, sat without any one."""
    from tdsl.findings.source import SourceFile, SourceSpan

    file = SourceFile("x", " " * 99)
    x = [z3.Int(f"x{k}") for k in range(4)]
    always = [v >= 0 for v in x] + [v <= 5 for v in x]
    lines = [SizeConstraint(SourceSpan(file, k, k + 1), "", [x[a] - x[b] >= d]) for k, (a, b, d) in enumerate(rows)]
    core, proven = conflicts.irreducible_lines(always, lines)
    assert proven == bool(core)
    fits = any(all(v[a] - v[b] >= d for a, b, d in rows) for v in product(range(6), repeat=4))
    assert bool(core) != fits
    if core:
        assert conflicts.check_relations(always, core) == z3.unsat
        for line in core:
            assert conflicts.check_relations(always, [y for y in core if y is not line]) == z3.sat


THREE = f"{TEXTS['THREE']}\n"


def chosen(text: str, folder: Path, **options: object) -> tuple[int, int] | None:
    """The numbers of the two holes, None if there are none."""
    result = compile_text(text, folder, verify=False, models=False, **options)
    fabric = result.designs[0].fabric
    if fabric is None or any(d.severity is Severity.ERROR for d in result.findings):
        return None
    counts = {s.path: s.count for s in fabric.sets}
    return counts["spine"], counts["core"]


@settings(deadline=None, max_examples=2)
@given(
    st.sampled_from(["switches", "power", "cost", "cables"]), st.integers(1, 2), st.integers(1, 3), st.integers(1, 2),
    st.integers(4, 8), st.integers(1, 9), st.integers(1, 9),
)  # fmt: skip
def test_least_as_by_brute_force(
    tmp_path_factory: pytest.TempPathFactory, figure: str, leaves: int, up: int, over: int, radix: int, s: int, c: int
) -> None:
    folder = tmp_path_factory.mktemp("least")
    given = {"leaves": leaves, "up": up, "over": over, "radix": radix, "s": s, "c": c}
    found = chosen(THREE.format(top=f"minimize {figure}", spine="?", core="?", **given), folder)
    costs = {}
    for spine in range(1, leaves * up + 1):
        for core in range(1, spine * over + 1):
            if chosen(THREE.format(top="", spine=spine, core=core, **given), folder) is not None:
                sums = {"switches": spine + core, "cables": spine * over, "power": s * spine + c * core}
                costs[spine, core] = {**sums, "cost": sums["power"]}[figure]
    assert (found is None) == (not costs)
    if found is not None:
        assert costs[found] == min(costs.values())


def test_holes_see_requirements_on_sizes(tmp_path: Path) -> None:
    text = PAIR.format(top="require switches == 4 + 1 + 8", leaves=4, spines="?", links=8, model="BIG")
    result = compile_text(text, tmp_path, verify=False)
    assert result.designs[0].fabric is not None
    assert {s.path: s.count for s in result.designs[0].fabric.sets}["spine"] == 8


def test_a_requirement_that_no_number_meets(tmp_path: Path) -> None:
    text = PAIR.format(top="require switches == 4 + 1 + 3", leaves=4, spines="?", links=8, model="BIG")
    (found,) = compile_text(text, tmp_path).findings
    assert found.code == "E0459" and "switches == 4 + 1 + 3" in [x.span.text for x in found.labels]


def test_a_spent_limit_is_no_proof(tmp_path: Path) -> None:
    text = PAIR.format(top="", leaves=4, spines="?", links=8, model="SW")
    (found,) = compile_text(text, tmp_path, solve_seconds=0).findings
    assert found.code == "E0462" and "not decided" in found.message
    assert [d.code for d in compile_text(text, tmp_path, verify=False).findings] == ["E0461"]


def test_holes_of_a_cluster_stand_at_their_fabric(tmp_path: Path) -> None:
    text = """cluster c {
  host box[4]: BOX
  fabric one {
    switch a[?]: SW
    connect box[*].nic[(0)] to a[*] spread x 1
  }
  fabric two {
    switch b[?]: SW
    connect box[*].nic[(1)] to b[*] spread x 1
  }
}
"""
    result = compile_text(text, tmp_path, verify=False)
    assert [(d.code, d.span.begin[0] if d.span else 0) for d in result.findings] == [("E0461", 4), ("E0461", 8)]


def test_z3_is_not_imported_without_need(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from tdsl.compile import compiler; compiler.compile_and_verify('dgx_superpod_h100'); print('z3' in "
        "sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
