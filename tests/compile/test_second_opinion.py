"""`check --second-opinion`: what it confirms and prints, and that a wrong figure, count or certificate is found."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.compile.second_opinion import Reproduction, add_second_opinions
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.answer import Limits
from tdsl.verify.second.judge import SecondOpinionJudge
from tests.cli.run import SMALL, report, tdsl, write
from tests.fabrics import torus
from tests.tables import sections

OPEN = sections(__file__)["open"]


def test_unknown_counts_are_printed_once_and_confirmed_wherever_they_are(tmp_path: Path) -> None:
    """On standard input, beside a fabric with errors, and where only some checks are asked for."""
    bad = OPEN.replace("fabric f", "fabric g").replace("?", "3").replace("edge_redundancy >= 8", "edge_redundancy >= 9")
    path, two = write(tmp_path, OPEN), tmp_path / "two.fab"
    two.write_text(path.read_text() + bad)
    note = "confirmed by compiling the design with 3 and with each smaller number"
    for args, stdin, status, codes in (
        ((path,), None, 0, ["E0461"]),
        (("-", "--select", "diameter"), path.read_text(), 0, ["E0461"]),
        ((two,), None, 1, ["E0461", "E0406"]),
    ):
        done = tdsl("check", *args, "--second-opinion", stdin=stdin)
        found = re.findall(r"^(?:note|error)\[(E\d+)\]", done.stdout, re.MULTILINE)
        assert (done.exit_code, found) == (status, codes), (args, done.stdout)
        assert " ".join(done.stdout.split()).count(note) == 1, args


def test_the_command(tmp_path: Path) -> None:
    path = write(tmp_path, SMALL)
    (design,) = report(path, "--second-opinion")["designs"]
    given = {r["check"]: r.get("second_opinion") for r in design["results"]}
    assert given["oversubscription"] == {"verdict": "confirmed", "by": ["networkx", "checker"], "lower": 0.5, "upper": 0.5}
    assert given["bisection"]["by"] == ["z3", "checker"] and given["port_budget"]["by"] == ["networkx"]
    assert given["rate_match"] is None
    (plain,) = report(path)["designs"]
    assert not any("second_opinion" in r for r in plain["results"])
    env = {"TDSL_CHECK_SECOND_OPINION": "1"}
    assert "proved, confirmed by networkx" in tdsl("check", path, env=env).stdout
    assert tdsl("check", path, "--second-opinion", "--all-params").exit_code == 2
    assert tdsl("check", path, "--second-opinion-dir", tmp_path / "x").exit_code == 2
    failed = report(path, "--second-opinion", "--fail", "spine[0]")["designs"][0]
    assert {r["check"]: r.get("second_opinion", {}).get("verdict") for r in failed["results"]}["diameter"] == "confirmed"


def test_a_view_of_the_engine_is_never_used() -> None:
    """The second methods share no code with the proof engine."""
    folder = Path(__file__).parents[2] / "tdsl" / "verify" / "second"
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(n.startswith("tdsl.prove") or n.startswith("tdsl.verify.checks") for n in names), path
    fabric = torus(3, 3).build()
    results = judge_requirements(fabric, [], Diagnostics())
    judge = SecondOpinionJudge(fabric)
    assert all(o is None or o.verdict != "disagrees" for o in (judge.opinion(r, None) for r in results))


# ---------------------------------------------------------------- what is wrong is found


ASKED = "require bisection >= 10% and survives any 1 of spine and throughput ring >= 10%\n  require over"


def judged_wrong(folder: Path, check: str, change: Callable[[Result], Result]) -> tuple[Compilation, list[Reproduction]]:
    """A design of which the results of one check are exchanged before they get a second opinion."""
    path = str(write(folder, SMALL.replace("require over", ASKED)))
    made = compiler.compile_and_verify(path)
    design = made.designs[0]
    design.results = [change(r) if r.check == check else r for r in design.results]
    return made, add_second_opinions(made, path, Request())


def higher(result: Result) -> Result:
    """A result whose figure is one link or one path more."""
    assert isinstance(result.lower, (int, Fraction))
    more = result.lower + 1
    return replace(result, value=more, lower=more, upper=more, text=str(more))


@pytest.mark.parametrize(("check", "by"), [("diameter", "networkx"), ("edge_redundancy", "networkx"), ("bisection", "z3")])
def test_a_wrong_figure_is_found(check: str, by: str, tmp_path: Path) -> None:
    """The finding says what both say, and a file reproduces it."""
    made, (file,) = judged_wrong(tmp_path, check, higher)
    (finding,) = [d for d in made.findings if d.code == "E0905"]
    assert f"; {by} says " in finding.message and finding.severity is Severity.ERROR
    assert finding.notes[-1] == "one of the two is wrong: rely on neither" and file.name in finding.help
    body = json.loads(json.dumps(file.body))
    assert body["first"]["value"] > body["second"]["upper"] and body["requirement"]["check"] == check
    assert len(body["fabric"]["links"]["rows"]) == 96


@pytest.mark.parametrize("check", ["reachability", "survives"])
def test_a_verdict_the_other_way_round_is_found(check: str, tmp_path: Path) -> None:
    made, files = judged_wrong(tmp_path, check, lambda r: replace(r, status="refuted", value=False))
    assert [d.code for d in made.findings] == ["E0905"] and len(files) == 1


def test_a_certificate_that_states_another_figure_is_found(tmp_path: Path) -> None:
    """Of a figure that the second method leaves open the certificate decides."""
    path = str(write(tmp_path, SMALL))
    made = compiler.compile_and_verify(path)
    design = made.designs[0]
    less = {"lower_bps": 1, "upper_bps": 2}
    design.results = [replace(r, measures={**r.measures, **less}) if r.check == "bisection" else r for r in design.results]
    add_second_opinions(made, path, Request(), Limits(units=1))
    (finding,) = [d for d in made.findings if d.code == "E0905"]
    assert "checker says" in finding.message and "in bit/s" in finding.notes


def test_unknown_counts_that_are_wrong_are_found(tmp_path: Path) -> None:
    """The note about the number is another than the one that was found."""
    path = str(write(tmp_path, OPEN))
    for number, said in (
        (4, "compiling the design with 3 in its place finds nothing wrong"),
        (2, "with 2 in its place finds errors"),
    ):
        made = compiler.compile_and_verify(path)
        made.findings = [replace(d, message=d.message.replace("is 3", f"is {number}")) for d in made.findings]
        add_second_opinions(made, path, Request())
        (finding,) = [d for d in made.findings if d.code == "E0905"]
        assert said in finding.message
