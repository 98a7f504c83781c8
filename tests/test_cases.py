"""Designs of ``cases/language`` of the test data: what could once not be said, or was dropped without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Options
from tdsl.findings.diagnostic import Severity

STATED = "\n  transport infiniband"
"""What a design has to say whose ports may be of two families."""


def errors(c: Compilation) -> list[str]:
    return sorted({d.code for d in c.findings if d.severity is Severity.ERROR})


def statuses(c: Compilation, check: str) -> set[str]:
    return {r.status for d in c.designs for r in d.results if r.check == check}


CASES: dict[str, Callable[[Compilation], bool]] = {
    "unused_setting": lambda c: errors(c) == ["E0118"],
    "dac_of_100m": lambda c: errors(c) == ["E0201", "E0225"],  # 100 m beyond 2 m, and 500 m beyond 50 m, beside the plugs
    "one_fabric_broken": lambda c: [(d.name, {f.code for f in d.findings}) for d in c.designs] == [
        ("good", set()), ("bad", {"E0108"}),
    ] and "proved" in statuses(c, "rail_alignment"),
    "bcube_chips": lambda c: not errors(c) and statuses(c, "reachability") == {"proved"},
    "b200_by_rail": lambda c: not errors(c),
    "alibaba_hpn": lambda c: not errors(c),
    "b300_spectrum_x": lambda c: not errors(c),
    "edge_sites": lambda c: not errors(c) and statuses(c, "rail_alignment") == {"proved"},
    "minimize_cost": lambda c: errors(c) == ["E0225"] and any("21081600" in d.message for d in c.findings),
}  # fmt: skip


def test_every_case_is_answered_as_wanted(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "cases" / "language"
    if not folder.is_dir():
        pytest.skip("the test data have no cases/language")
    wrong = []
    for name, holds in CASES.items():
        text = (folder / f"{name}.fab").read_text()
        if name == "minimize_cost":
            at = text.index("{", text.index("fabric ")) + 1
            text = text[:at] + STATED + "\n" + text[at:]
        path = tmp_path / f"{name}.fab"
        path.write_text(text)
        found = compiler.compile_and_verify(str(path), Options())
        wrong += [] if holds(found) else [f"{name}: {errors(found)}"]
    assert wrong == []
