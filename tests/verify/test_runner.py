"""Claims answered, findings placed, nothing said twice."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np

from tdsl.compile import compiler
from tdsl.fabric.claims import FabricElement
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.verify.runner import judge_requirements
from tests.cli.run import tdsl
from tests.fabrics import Selector, claim, multiplane, rail_only, selector, superpod, swapped, torus, without
from tests.harness import compile_text, written
from tests.tables import sections

POD = superpod(units=2, nodes=8, rails=4, spines=4, radix=32).build()
EVERY = {
    "reachability", "isolated", "plane_isolation", "rail_alignment", "port_budget", "rate_match", "connector_match",
    "oversubscription", "edge_redundancy", "diameter", "name_collision", "bisection", "node_redundancy",
}  # fmt: skip


def answers(fabric, *claims, **given):
    diagnostics = Diagnostics()
    return judge_requirements(fabric, claims, diagnostics, **given), list(diagnostics)


def test_every_check_answers_without_a_claim():
    results, findings = answers(POD)
    assert {r.check for r in results} == EVERY and not findings
    assert all(r.requirement is None and r.origin is None for r in results)
    assert {r.status for r in results} == {"proved", "skipped"}


def test_a_claim_takes_the_place_of_the_bare_figure():
    results, findings = answers(POD, claim(POD, "diameter", "<=", 2), claim(POD, "oversubscription", "<=", Fraction(1)))
    assert not findings
    assert [r.requirement for r in results if r.check == "diameter"] == ["diameter <= 2"]
    of = claim(POD, "diameter", "<=", 2, of=(selector(POD, "su"),))
    assert [r.requirement for r in answers(POD, of)[0] if r.check == "diameter"] == ["diameter <= 2", None]


def test_a_claim_that_does_not_hold():
    results, findings = answers(POD, claim(POD, "diameter", "<=", 1))
    assert results[0].status == "refuted" and results[0].value == 2
    assert [(d.code, d.severity) for d in findings] == [("E0407", Severity.ERROR)]
    assert findings[0].message.startswith("`diameter <= 1` does not hold: 2, from")


def test_a_report_never_fails():
    asked = [claim(POD, m, report=True) for m in ("diameter", "oversubscription", "links", "plane_isolation", "rail_alignment")]
    results, findings = answers(POD, *asked)
    assert not findings and [r.report for r in results[:5]] == [True] * 5
    assert not answers(multiplane(2).build(), claim(POD, "rail_alignment", report=True))[1]


def test_a_broken_rule_is_said_once():
    f = swapped(POD, 0, 1)
    for claims in ((), (claim(f, "rail_alignment"),)):
        results, findings = answers(f, *claims)
        assert [d.code for d in findings] == ["E0403"] and findings[0].count == 2
        assert next(r for r in results if r.check == "rail_alignment").status == "refuted"


def test_one_forgotten_host_is_one_finding():
    f = without(POD, np.flatnonzero(POD.device_a == 0))
    results, findings = answers(f, claim(f, "reachability"))
    assert [d.code for d in findings] == ["E0404", "E0401"]  # the cause, and the requirement, which a waiver of it leaves
    assert results[0].status == "refuted"
    assert [d.code for d in answers(f, ignore=("isolated",))[1]] == ["E0401"]


def test_skipped_figures_do_not_satisfy_a_requirement():
    f = torus(4, 4).build()
    _, findings = answers(f, claim(f, "oversubscription", "<=", Fraction(1)))
    assert findings[0].message == "`oversubscription <= 1` cannot be judged: the fabric is direct: it has no tiers"


def test_unknown_and_malformed_claims():
    results, findings = answers(POD, claim(POD, "diametre", "<=", 2), claim(POD, "diameter"))
    assert [(d.code, d.severity) for d in findings] == [(code, Severity.ERROR) for code in ("E0490", "E0492")]
    assert [r.status for r in results[:2]] == ["skipped"] * 2


def test_each_element_is_judged_alone_and_the_worst_is_named():
    results, findings = answers(POD, claim(POD, "ports", "<=", 13, of=(selector(POD, "leaf"),)))
    assert results[0].status == "refuted" and results[0].witness["of"] in results[0].text
    assert len(findings) == 1
    leaf = selector(POD, "node")
    assert answers(POD, claim(POD, "cables", "==", 4, of=(leaf,)))[0][0].status == "proved"
    gone = Selector("node[*]", "host", (*leaf.elements, FabricElement("su[1].node[7]", np.flatnonzero(~POD.built))))
    assert answers(POD, claim(POD, "cables", "==", 4, of=(gone,)))[0][0].status == "proved"


def test_instances_of_a_group_give_a_result_each_and_one_finding():
    units = selector(POD, "su").elements
    asked = [claim(POD, "switches", "==", 5, scope=e) for e in units]
    results, findings = answers(POD, *asked)
    assert [(r.scope, r.value, r.status) for r in results[:2]] == [("su[0]", 4, "refuted"), ("su[1]", 4, "refuted")]
    assert len(findings) == 1 and findings[0].count == 2 and "(in su[0])" in findings[0].message


def test_incomplete_wiring_is_judged_only_for_what_stands():
    b = superpod(units=2, nodes=8, rails=4, spines=4, radix=32)
    b.complete = False
    f = without(b.build(), [0, 1, 2])
    results, findings = answers(f, claim(f, "diameter", "<=", 1))
    assert not findings and {r.status for r in results} == {"skipped"}
    assert {r.reason for r in results} == {"the wiring has errors"}
    planes = multiplane(2)
    planes.complete = False
    planes.connect("connect across")
    planes.link(planes.free(planes.sets[1], 0), planes.free(planes.sets[2], 2))
    assert [d.code for d in answers(planes.build())[1]] == ["E0402"]


def test_select_and_ignore_by_name_or_code():
    assert {r.check for r in answers(POD, select=("diameter", "E0401"))[0]} == {"diameter", "reachability"}
    assert {r.check for r in answers(POD, ignore=("diameter", "E0401"))[0]} == EVERY - {"diameter", "reachability"}
    assert not answers(POD, claim(POD, "diameter", "<=", 1), select=("reachability",))[1]


def test_results_are_plain_json():
    for builder in (superpod(units=1), torus(3, 3), rail_only(), multiplane(2)):
        f = builder.build()
        asked = [claim(f, "oversubscription", report=True), claim(f, "ports", "<=", 1, of=(selector(f, f.sets[0].name),))]
        for r in answers(f, *asked)[0]:
            facts = {"check", "status", "value", "unit", "lower", "upper", "exact", "witness", "requirement"}
            assert facts <= set(json.loads(json.dumps(r.facts(), allow_nan=False)))


def test_cheap_proofs_come_first(tmp_path: Path) -> None:
    """What each step finds; the whole is in the order of the text, whatever was judged first."""
    text = (
        "fabric f {\n  host node[4]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n"
        "  switch idle: QM9700\n  require survives any 1 of leaf with bisection >= 150%\n  require bisection >= 200%\n"
        "  require switches <= 1\n}\n"
    )
    path = written(tmp_path / "f.fab", text)
    *early, last = compiler.compile_in_stages(str(path), compiler.Request(), every=True)
    lines = [{d.span.begin[0] for d in c.findings if d.span is not None} for c in early]
    grown = [b - a for a, b in pairwise(lines)]
    assert grown == [{8}, {5}, {7}, {6}], grown
    assert [d.code for d in last.findings] == [d.code for d in compiler.compile_and_verify(str(path)).findings]
    assert [r.requirement for r in last.designs[0].results][:3] == [
        "survives any 1 of leaf with bisection >= 150%", "bisection >= 200%", "switches <= 1"
    ]  # fmt: skip


CHORDS = sections(__file__)["chords"]


def test_less_work_gives_wider_bounds(tmp_path: Path) -> None:
    """`--check-seconds`: the same answer every time, and never one that contradicts the full one."""
    full, first, again = (
        [r.facts() for r in compile_text(CHORDS, tmp_path, models=False, **given).designs[0].results]
        for given in ({}, {"check_seconds": 1}, {"check_seconds": 1})
    )
    assert first == again
    for a, b in zip(first, full, strict=True):
        if a["lower"] is not None and b["lower"] is not None:
            assert a["lower"] <= b["upper"] and b["lower"] <= a["upper"], a["check"]


def test_elements_that_could_not_be_judged_are_counted(tmp_path: Path) -> None:
    """Of two groups one has a single host, of which there is no bisection; what is printed says so."""
    text = """fabric f {
      group g { host n[2]: BOX; switch leaf: SW; connect n[k].nic[p] to leaf }
      group h { host n: BOX; switch leaf: SW; connect n.nic[p] to leaf }
      connect g.leaf to h.leaf
      require bisection of g, h >= 1% and links of g, h >= 1
    }"""
    found = [(r.judged, r.of) for r in compile_text(text, tmp_path).designs[0].results if r.requirement]
    assert found == [(1, 2), (2, 2)]
    assert "1 of 2 requirements judged in full" in tdsl("check", tmp_path / "design.fab").stdout
