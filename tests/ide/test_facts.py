"""What is known of the places of a compiled design: hovers, hints, the line over a fabric. Figures by hand."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.ide.facts import device_sets_of_design, fabric_lens_text, facts_of_compilation
from tdsl.ide.judge import Question, judge_in_stages, judge_names_or_fault
from tests.tables import sections

FOLDER = TemporaryDirectory()
HERE = Path(FOLDER.name).resolve() / "design.fab"
HOUSE = "model switch TOR { port p[8]: 100Gbps }\n"
DESIGN = sections(__file__)["design"]
HERE.with_name("house.fab").write_text(HOUSE)
ASKED = Question(str(HERE), {str(HERE): DESIGN, str(HERE.with_name("house.fab")): HOUSE})
RATIO = "2:1 at pod0-leaf0 (400Gbps below, 200Gbps above, leaf-spine)"
FACTS = [
    ("node", "**pod.node** in f: 8 × BOX (pod 2 × node 4)\n\n0 of 16 ports free", "= 8"),
    ("leaf", "**pod.leaf** in f: 4 × TOR (pod 2 × leaf 2)\n\n4 of 32 ports free\n\n"
             f"oversubscription, down : up, of the worst: {RATIO}", "= 4, 2:1"),
    ("spine", "**spine** in f: 3 × TOR, 1 of them left out (spine 3)\n\n12 of 24 ports free", "= 3"),
    ("?", "`?` is 3 in f", "= 3"),
    ("oversubscription at leaf <= 2:1", f"`oversubscription at leaf <= 2:1` of f: **proved**, {RATIO}", ""),
    ("diameter <= 1", "`diameter <= 1` of f: **refuted**, 2, from pod0-leaf0 to pod0-leaf1", ""),
]  # fmt: skip
"""Eight hosts of two ports; two leaves in each of two pods with 4 + 3 of 8 ports; two of three spines with 4 of 8."""


def test_facts() -> None:
    result = compiler.compile_and_verify(str(HERE), Request(overlay=ASKED.overlay))
    found = facts_of_compilation(result)
    assert [(DESIGN[f.start : f.end].split("\n")[0], f.text, f.hint.removeprefix("spine ")) for f in found] == FACTS
    assert found == sorted(found, key=lambda f: (f.start, f.end))
    (design,) = result.designs
    assert fabric_lens_text(design) == "8 hosts, 6 switches, 24 links, bisection 50%, 1 requirement not met"
    assert [(p.fabric, p.names, p.kinds, p.shape, p.model) for p in device_sets_of_design(design)] == [
        ("f", ("pod", "node"), ("group", "host"), "[4]", "BOX"),
        ("f", ("pod", "leaf"), ("group", "switch"), "[2]", "TOR"),
        ("f", ("spine",), ("switch",), "[3]", "TOR"),
    ]


def test_parameters() -> None:
    known = judge_names_or_fault(ASKED)
    assert [(DESIGN[f.start : f.end], f.text.partition("; ")[2]) for f in known.facts] == [
        ("n", "it has no upper bound"), ("k", "it may be 1, 2, 4"), ("rate", "a rate has no finite range"),
    ]  # fmt: skip
    assert not known.wrong and known.last


def test_judgements_come_one_after_another() -> None:
    found = list(judge_in_stages(ASKED))
    assert [j.last for j in found] == [False] * (len(found) - 1) + [True] and len(found) > 1
    assert found[-1].lenses[0][0] == "f" and len(found[-1].facts) == len(FACTS) and not found[0].facts
    assert {d.code for d in found[-1].findings} >= {"E0127", "E0407"} and all(j.wrong == "" for j in found)


def test_requirements_of_other_files_have_no_answers_here(tmp_path: Path) -> None:
    """What the file requires that declares the fabric is answered at its own lines."""
    house = "model switch S { port p[4]: 100Gbps }\nfabric f {\n  switch a[2]: S\n  connect a[0].p[0] to a[1].p[0]\n"
    (tmp_path / "house.fab").write_text(f"{house}  require switches == 2\n}}\n")
    (tmp_path / "f.fab").write_text("use house (f)\nextend f {\n  require switches <= 2\n}\n")
    result = compiler.compile_and_verify(str(tmp_path / "f.fab"))
    (design,) = result.designs
    assert {r.requirement for r in design.results} - {None} == {"switches == 2", "switches <= 2"}
    said = [f.text for f in facts_of_compilation(result) if "of f: **" in f.text]
    assert len(said) == 1 and "`switches <= 2`" in said[0]
