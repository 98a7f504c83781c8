"""Phases: each is a complete fabric, judged by itself and compared with the next."""

from __future__ import annotations

from pathlib import Path

from tdsl.compile.compiler import Request, compile_and_verify, compile_without_checks, expand_intent
from tdsl.findings.diagnostic import Severity
from tests.cli.run import report, tdsl
from tests.harness import compile_text, sections
from tests.semantics.test_intent import data

TEXTS = sections(Path(__file__).parent / "phases.txt")
GROWTH = f"{TEXTS['GROWTH']}\n"


def test_every_phase_is_judged(tmp_path: Path) -> None:
    made = compile_text(GROWTH, tmp_path)
    assert [(d.name, d.phase, d.needed, d.parameters["units"]) for d in made.designs] == [
        ("f", 1, "", 2),
        ("f", 2, "2027-03-01", 4),
    ]
    assert [next(r.status for r in d.results if r.requirement) for d in made.designs] == ["proved", "refuted"]
    (wrong,) = [d for d in made.findings if d.severity is Severity.ERROR]
    assert wrong.code == "E0423" and "in phase 2" in wrong.notes


def test_a_phase_is_the_fabric_with_these_values(tmp_path: Path) -> None:
    plain = GROWTH.replace('  phase 2 { units 4; needed "2027-03-01" }\n  phase 1 { units 2 }\n', "")
    made = compile_text(GROWTH, tmp_path)
    for design, units in zip(made.designs, (2, 4), strict=True):
        alone = compile_text(plain, tmp_path, name="plain.fab", set={"units": units}).designs[0].fabric
        assert design.fabric is not None and alone is not None
        assert data(design.fabric) == data(alone)


def test_one_phase(tmp_path: Path) -> None:
    compile_text(GROWTH, tmp_path)
    file = str(tmp_path / "design.fab")
    assert [d.phase for d in compile_and_verify(file, Request(phase=1)).designs] == [1]
    assert [d.phase for d in compile_without_checks(file).designs] == [2], "the last"
    assert [d.parameters["units"] for d in compile_and_verify(file, Request(set=(("units", "3"),))).designs] == [3, 3]
    for phase, units in ((1, 2), (2, 4)):
        text, _ = expand_intent(file, Request(phase=phase))
        assert text is not None and "phase" not in text and f"param units: int = {units}" in text
        again = compile_text(text, tmp_path, models=False, name="again.fab").designs[0].fabric
        fabric = compile_without_checks(file, Request(phase=phase)).designs[0].fabric
        assert again is not None and fabric is not None and data(again) == data(fabric)


def test_phases_from_the_command_line(tmp_path: Path) -> None:
    compile_text(GROWTH, tmp_path)
    file = tmp_path / "design.fab"
    document = report(file)
    assert [(d["phase"], d["summary"]["hosts"], d["ok"]) for d in document["designs"]] == [(1, 8, True), (2, 16, False)]
    found = tdsl("diff", file).stdout
    assert "f, phase 1 to phase 2" in found and "hosts 8 → 16" in found and "units 2 → 4" in found
    assert tdsl("check", file, "--phase", "1").exit_code == 0
    wrong = tdsl("check", file, "--phase", "3")
    assert wrong.exit_code == 2 and "the phases are 1, 2" in wrong.output
    (tmp_path / "plain.fab").write_text("fabric f { switch a[2]: QM9700; connect a[*] each }\n")
    assert tdsl("diff", tmp_path / "plain.fab").exit_code == 2
    assert tdsl("diff", file, "--phase", "1").exit_code == 2


def test_phases_of_a_cluster(tmp_path: Path) -> None:
    """Fabrics of one phase share hosts; those of another phase take no ports of theirs."""
    text = """\
cluster c {
  param boxes: int = 2
  phase 1 { boxes 2 }
  phase 2 { boxes 4 }
  host box[boxes]: BOX
  fabric one {
    switch a: SW
    connect box[b].nic[0] to a
  }
  fabric two {
    switch z: SW
    connect box[b].nic[1] to z
  }
}
"""
    made = compile_text(text, tmp_path)
    assert made.findings == []
    assert [(d.name, d.phase, d.parameters["boxes"]) for d in made.designs] == [
        ("one", 1, 2), ("one", 2, 4), ("two", 1, 2), ("two", 2, 4),
    ]  # fmt: skip
