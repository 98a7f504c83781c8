"""`check --second-opinion`: what it confirms, what it leaves open, and that a wrong figure is found."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.compile.second_opinion import add_second_opinions
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.view import View
from tdsl.semantics.quantity import Quantity
from tdsl.verify.check import Judgement, checks_by_name
from tdsl.verify.checks.bisection import BisectionCheck
from tdsl.verify.checks.diameter import Diameter
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.answer import Limits
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims
from tests.cli.run import SMALL, report, tdsl, write
from tests.fabrics import (
    Builder,
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    random_planes,
    scale_up,
    selector,
    superpod,
    torus,
)

LIBRARY = Request(lock=False, check_seconds=2)
SMALL_LIMITS = Limits(links=25_000, steps=1_000_000, work=8_000_000, columns=12_000, iterations=40_000, checked=2_000_000)
"""For every design of the library: what takes longer is refused, and says so."""

LONG = {"aurora", "deepseek_dragonfly", "llama3_24k", "llama3_pod_racks", "frontier", "megascale"}
"""Designs of which a check takes seconds. `gpu131k`, which is beyond the limits, is left in."""
DESIGNS = sorted(p.stem for p in (Path(__file__).parents[2] / "stdlib" / "designs").glob("*.fab") if p.stem not in LONG)

GENERATORS: dict[str, Callable[[int], Builder]] = {
    "hosts": lambda seed: random_fabric(seed, switches=3 + seed % 6, hosts=2 + seed % 5, loose=seed % 3),
    "layers": random_layers,
    "chips": lambda seed: random_chips(seed, chips=4 + seed % 6, cables=6 + seed % 9),
    "planes": random_planes,
}


def everything(fabric: Fabric, *more: Any) -> list[tuple[Result, Opinion | None]]:
    """Every figure that has a second method, with its second opinion."""
    asked = [claim(fabric, name, report=True) for name in ("mean_hops", "node_redundancy", "links", "switches")]
    asked += [claim(fabric, "throughput", args=args, report=True, text=f"throughput {args}") for args in PATTERNS]
    asked += more
    results = judge_requirements(fabric, asked, Diagnostics())
    judge = SecondOpinionJudge(fabric)
    return [(r, judge.opinion(r, c)) for r, c in results_with_claims(asked, results)]


PATTERNS = (("all_to_all",), ("ring",), ("shift", 2), ("rail_allreduce",))


def after_failures(fabric: Fabric, path: str) -> list[Any]:
    """Claims about failures of a set of devices."""
    of = (selector(fabric, path),)
    given = [None, claim(fabric, "bisection", ">=", Fraction(1, 2)), claim(fabric, "edge_redundancy", ">=", 2)]
    given += [claim(fabric, "bisection", ">=", Fraction(1, 2), of_intact=True), claim(fabric, "diameter", "<=", 2)]
    out = [claim(fabric, "blast_radius", of=of, report=True)]
    for count in (1, 2):
        for at, asked in enumerate(given):
            out.append(claim(fabric, "survives", of=of, any_count=count, given=asked, text=f"survives {count} {at}"))
    return out


def agreed(found: Iterable[tuple[Result, Opinion | None]]) -> Counter[str]:
    """How many results are confirmed by whom, and that none is contradicted."""
    count: Counter[str] = Counter()
    for result, opinion in found:
        if opinion is not None:
            assert opinion.verdict != "disagrees", (result.check, result.requirement, result.text, opinion.facts())
            count[opinion.by or "none"] += 1
    return count


@pytest.mark.parametrize("kind", GENERATORS)
def test_random_fabrics(kind: str) -> None:
    total: Counter[str] = Counter()
    for seed in range(4):
        fabric = GENERATORS[kind](seed).build()
        first = "chip" if kind == "chips" else "core" if kind == "planes" else "leaf" if kind == "layers" else "sw"
        total += agreed(everything(fabric, *after_failures(fabric, first)))
    assert total["networkx"] > 30 and total["z3"] > 3
    assert kind == "planes" or total["HiGHS"] > 5


@pytest.mark.parametrize(
    "made",
    [
        torus(4, 3), torus(2, 2, 2), multiplane(2, 8), rail_only(6, 3), rail_only(4, 2, scaleup=False), scale_up(),
        superpod(1, 4, 4, 2, manager=False), superpod(2, 3, 2, 1, radix=16),
    ],
    ids=lambda b: b.name,
)  # fmt: skip
def test_small_fabrics_of_every_form(made: Builder) -> None:
    fabric = made.build()
    count = agreed(everything(fabric))
    assert count["networkx"] >= 5 and count["z3"] >= 1 and count["HiGHS"] >= 1


def test_flows_between_two_sets_and_parts_of_a_fabric() -> None:
    fabric = superpod(2, 3, 2, 1, radix=16).build()
    su, leaf = selector(fabric, "su"), selector(fabric, "su.leaf")
    one, two = (replace(su, elements=(e,), text=e.name) for e in su.elements)
    asked = [
        claim(fabric, "throughput", of=(one,), of_to=(two,), report=True),
        claim(fabric, "links", of=(one,), of_to=(two,), report=True),
        claim(fabric, "oversubscription", "<=", Fraction(1), of=(su,)),
        claim(fabric, "oversubscription", "<=", Fraction(1), at=(leaf,)),
        claim(fabric, "diameter", "<=", 2, of=(su,)),
        claim(fabric, "bisection", ">=", Fraction(1, 2), of=(su,)),
        claim(fabric, "reachability", of=(replace(su, elements=(), text="ports"),)),
        claim(fabric, "edge_redundancy", ">=", 2, scope=su.elements[0]),
    ]
    found = everything(fabric, *asked)
    assert all(o is not None and o.verdict == "confirmed" for r, o in found if r.requirement and o and r.check != "throughput")
    assert agreed(found)["networkx"] > 8


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_design_of_the_library(part: int) -> None:
    """Figures are confirmed or the tool says why not, and certificates verify; what is too large is refused by stated limits."""
    wrong: list[str] = []
    for name in DESIGNS[part::4]:
        compilation = compiler.compile_and_verify(name, LIBRARY)
        wrong += [f"{name}: {file.name}" for file in add_second_opinions(compilation, name, LIBRARY, SMALL_LIMITS)]
        for design in compilation.designs:
            given = [r.second_opinion for r in design.results if r.second_opinion]
            wrong += [f"{name}: no reason" for x in given if x["verdict"] == "unconfirmed" and not x["reason"]]
            if not given or any(d.code == "E0905" for d in design.findings):
                wrong.append(f"{name}: {len(given)} opinions")
    assert wrong == []


# ---------------------------------------------------------------- what is wrong is found


def wrong_by(change: Callable[[Judgement], Judgement], judge: Any) -> Any:
    return lambda self, view, asked: change(judge(self, view, asked))


def test_a_wrong_figure_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    judge = Diameter.judge
    monkeypatch.setattr(Diameter, "judge", wrong_by(lambda j: replace(j, value=3, lower=3, upper=3, text="3"), judge))
    path = write(tmp_path)
    done = tdsl("check", path, "--second-opinion")
    assert done.exit_code == 1 and "E0905" in done.stdout
    assert "says 2" in " ".join(done.stdout.split()) and "proved, but not so by networkx" in done.stdout
    assert "--second-opinion-dir" in done.stdout and sorted(p.name for p in tmp_path.iterdir()) == ["small.fab"]
    out = tmp_path / "differ"
    assert tdsl("check", path, "--second-opinion", "--second-opinion-dir", out).exit_code == 1
    (file,) = out.iterdir()
    body = json.loads(file.read_text())
    assert body["first"]["value"] == 3 and body["second"]["lower"] == 2 and body["requirement"]["check"] == "diameter"
    assert len(body["fabric"]["links"]["rows"]) == 96


@pytest.mark.parametrize("by", [-1, 1])
def test_a_bisection_that_is_wrong_by_one_link_is_found(by: int, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = BisectionCheck.judge

    def off(j: Judgement) -> Judgement:
        if not isinstance(j.lower, Fraction) or j.lower != j.upper:
            return j
        link = j.lower / Fraction(j.measures["lower_links"]) if j.measures.get("lower_links") else Fraction(1, 2)
        return replace(j, value=j.lower + by * link, lower=j.lower + by * link, upper=j.lower + by * link)

    monkeypatch.setattr(BisectionCheck, "judge", wrong_by(off, judge))
    for made in (torus(4, 3), superpod(2, 3, 2, 1, radix=16), rail_only(6, 3)):
        found = {r.check: o for r, o in everything(made.build())}
        opinion = found["bisection"]
        assert opinion is not None and opinion.verdict == "disagrees" and opinion.by == "z3"


@pytest.mark.parametrize(
    "metric", ["edge_redundancy", "node_redundancy", "mean_hops", "oversubscription", "throughput", "blast_radius", "links"]
)
def test_every_method_finds_a_figure_that_is_not_so(metric: str) -> None:
    fabric = superpod(2, 3, 2, 1, radix=16).build()
    of = (selector(fabric, "su.leaf"),)
    judge = SecondOpinionJudge(fabric)
    found = [(r, c) for r, c in _answers(fabric, claim(fabric, "blast_radius", of=of, report=True)) if r.check == metric]
    assert found
    for result, asked in found:
        assert isinstance(result.lower, (int, Fraction)) and not isinstance(result.lower, Quantity)
        more = result.lower + Fraction(1, 100)
        for lower, upper in ((more, more), (result.lower - 1, result.lower - Fraction(1, 100))):
            opinion = judge.opinion(replace(result, lower=lower, upper=upper), asked)
            assert opinion is not None and opinion.verdict == "disagrees"
        wide = judge.opinion(replace(result, lower=result.lower - 1, upper=more, status="bounded"), asked)
        assert wide is not None and wide.verdict == "confirmed"


@pytest.mark.parametrize("metric", ["reachability", "plane_isolation", "survives"])
def test_yes_and_no_are_told_apart(metric: str) -> None:
    fabric = multiplane(2, 8).build()
    survives = claim(fabric, "survives", of=(selector(fabric, "leaf"),), any_count=1)
    judge = SecondOpinionJudge(fabric)
    ((result, asked),) = [(r, c) for r, c in _answers(fabric, survives) if r.check == metric]
    other = "refuted" if result.status == "proved" else "proved"
    right, wrong = judge.opinion(result, asked), judge.opinion(replace(result, status=other), asked)
    assert right is not None and right.verdict == "confirmed"
    assert wrong is not None and wrong.verdict == "disagrees"


def _answers(fabric: Fabric, *more: Any) -> list[tuple[Result, Any]]:
    asked = [claim(fabric, name, report=True) for name in ("mean_hops", "links")]
    asked += [claim(fabric, "throughput", args=("all_to_all",), report=True), *more]
    return list(results_with_claims(asked, judge_requirements(fabric, asked, Diagnostics())))


TIMES = """
model host N {{ port nic[2]: 400Gbps; chip gpu: G }}
model chip G {{ port lane: 400Gbps }}
model switch SW {{ port p[1..16]: 400Gbps; latency 230ns }}
fabric f {{
  host node[8]: N
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic[r] to leaf[{leaf}] {{ length 3m }}
  connect leaf[*] to spine[*] spread x 2 {{ length 30m }}
  require latency <= 1.1us
  report latency and allreduce 1GB and rail_alignment and port_budget
}}
"""


def test_times_rails_and_ports(tmp_path: Path) -> None:
    """Latency, all-reduce, rails and ports again; and what is wrong by a little, or the other way round, is found."""
    design = compiler.compile_and_verify(str(write(tmp_path, TIMES.format(leaf="r")))).designs[0]
    assert design.fabric is not None
    judge, seen = SecondOpinionJudge(design.fabric), Counter[str]()
    for result, asked in results_with_claims(design.claims, design.results):
        if result.check not in ("latency", "allreduce", "rail_alignment", "port_budget"):
            continue
        right = judge.opinion(result, asked)
        assert right is not None and right.verdict == "confirmed", (result.text, right)
        seen[result.check] += 1
        if isinstance(result.lower, Quantity):
            more = replace(result.lower, amount=result.lower.amount + Fraction(1, 10**15))
            wrong = judge.opinion(replace(result, lower=more, upper=more), asked)
        else:
            wrong = judge.opinion(replace(result, status="refuted"), asked)
        assert wrong is not None and wrong.verdict == "disagrees", result.check
    assert seen == {"latency": 2, "allreduce": 1, "rail_alignment": 1, "port_budget": 1}


def test_a_swapped_cable_is_found_again(tmp_path: Path) -> None:
    text = TIMES.format(leaf="r").replace("connect node[n].nic[r] to leaf[r]", "connect node[n].nic[r] to leaf[r] where n != 3")
    text = text.replace("  require latency", "  connect node[3].nic[r] to leaf[1 - r] { length 3m }\n  require latency")
    design = compiler.compile_and_verify(str(write(tmp_path, text))).designs[0]
    assert design.fabric is not None
    judge = SecondOpinionJudge(design.fabric)
    ((result, asked),) = [(r, c) for r, c in results_with_claims(design.claims, design.results) if r.check == "rail_alignment"]
    opinion = judge.opinion(result, asked)
    assert result.status == "refuted" and opinion is not None and opinion.verdict == "confirmed"


# ---------------------------------------------------------------- sets of failures by z3


@pytest.mark.parametrize("kind", ["hosts", "layers"])
def test_fatal_sets_by_z3_are_those_of_trying_all(kind: str) -> None:
    """With a limit on sets that leaves trying all out, z3 and networkx together answer the same."""
    answers: Counter[bool] = Counter()
    for seed in range(15):
        fabric = GENERATORS[kind](seed).build()
        of = (selector(fabric, "sw" if kind == "hosts" else "leaf"),)
        for count in (1, 2, 3):
            asked = claim(fabric, "survives", of=of, any_count=count)
            (result,) = judge_requirements(fabric, [asked], Diagnostics(), ["survives"])
            if result.status not in ("proved", "refuted"):
                continue
            every = SecondOpinionJudge(fabric, limits=Limits(sets=100_000)).opinion(result, asked)
            by_z3 = SecondOpinionJudge(fabric, limits=Limits(sets=0)).opinion(result, asked)
            assert every is not None and every.verdict != "disagrees"
            assert by_z3 is not None and by_z3.verdict != "disagrees"
            if by_z3.by:
                assert by_z3.by == "z3" and by_z3.verdict == "confirmed"
                answers[result.status == "proved"] += 1
    assert answers[True] > 3 and answers[False] > 3


FAILURES = """
fabric f {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  report survives any 1 of leaf to spine with bisection >= 100%
  report survives any 1 of leaf to spine with bisection >= 80%
  report survives any 1 links of node[0] with edge_redundancy >= 7
  report survives any 1 links of node[0] with edge_redundancy >= 8
  report survives any 1 ports of leaf[0]
  report survives any 1 cables of spine with node_redundancy >= 8
  report survives any 1 cages of leaf with throughput of node[0] to node[1] >= 80%
  report survives any 1 of leaf with throughput of node[0] to node[1] >= 100%
  report survives any 1 of node with throughput of node[0] to node[1] >= 10%
  report survives any 1 of spine with bisection >= 1Tbps
  report survives any 2 of leaf, spine
  report survives any 8 of leaf
}
"""


def test_failures_of_links_ports_cables_and_cages(tmp_path: Path) -> None:
    (design,) = report(write(tmp_path, FAILURES), "--second-opinion")["designs"]
    found = [(r["requirement"], r["status"], r.get("second_opinion")) for r in design["results"] if r["check"] == "survives"]
    assert len(found) == 12
    for text, status, opinion in found:
        assert status in ("skipped", "bounded") or opinion["verdict"] == "confirmed", (text, status, opinion)
    answers = Counter(status for _, status, opinion in found if opinion)
    assert answers["proved"] >= 4 and answers["refuted"] >= 2


FAR_APART = """model chip G { port lane: 400Gbps }
model host HX { port nic: 100Gbps; port z: 33333333333bps; chip gpu: G }
model switch SX { port p[1..16]: 100Gbps; port z[1..16]: 33333333333bps }
fabric f {
  host node[5]: HX
  switch leaf[2]: SX
  connect node[n].nic to leaf[n % 2]
  connect node[n].z to leaf[0].z
  connect leaf[0].z to leaf[1].z
  require survives any 1 of leaf with throughput ring >= 996/997
}
"""


@pytest.mark.parametrize(("nic", "verdict"), [("100Gbps", {"confirmed"}), ("3bps", {"confirmed", "unconfirmed"})])
def test_rates_without_a_common_divisor_keep_their_digits(nic: str, verdict: set[str], tmp_path: Path) -> None:
    text = FAR_APART.replace("100Gbps", nic)
    design = compiler.compile_and_verify(str(write(tmp_path, text)), compiler.Request(select=("survives",))).designs[0]
    assert design.fabric is not None and design.results
    judge = SecondOpinionJudge(design.fabric)
    for result, asked in results_with_claims(design.claims, design.results):
        opinion = judge.opinion(result, asked)
        assert opinion is None or opinion.verdict in verdict, (result.text, opinion)


# ---------------------------------------------------------------- limits and counts


def test_what_is_too_large_says_so() -> None:
    fabric = torus(4, 4).build()
    results = judge_requirements(fabric, [], Diagnostics())
    judge = SecondOpinionJudge(fabric, limits=Limits(units=4, links=100, steps=10))
    said = {r.check: o.reason for r in results if (o := judge.opinion(r, None)) is not None and o.verdict == "unconfirmed"}
    assert said["bisection"] == "too large for z3: 65,536 splits of 16 units; the limit is 16"
    assert said["edge_redundancy"].startswith("too large for networkx: ") and said["edge_redundancy"].endswith("the limit is 10")
    small = SecondOpinionJudge(fabric, limits=Limits(links=31)).opinion(next(r for r in results if r.check == "diameter"), None)
    assert small is not None and small.reason == "too large for networkx: 32 links; the limit is 31"


def test_two_runs_say_the_same() -> None:
    fabric = random_layers(3).build()
    first, second = ([o.facts() if o else None for _, o in everything(fabric)] for _ in range(2))
    assert first == second


OPEN = """
fabric f {
  host node[16]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[?]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 24
  require edge_redundancy >= 8
}
"""


def test_unknown_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, OPEN)
    done = tdsl("check", path, "--second-opinion")
    assert (
        "`spine` is 3" in done.stdout and "confirmed by compiling the design with 3 and with each smaller number" in done.stdout
    )
    from tdsl.sizing.unknowns import Solver

    run_ = Solver.run

    def more(self: Solver, own: Diagnostics) -> Any:
        out = run_(self, own)
        own.items = [replace(d, message=d.message.replace("is 3", "is 4")) for d in own.items]
        return out

    monkeypatch.setattr(Solver, "run", more)
    (design,) = report(path, "--second-opinion")["designs"]
    assert [d["code"] for d in design["findings"]] == ["E0905"] and not design["ok"]
    assert "is 4" in design["findings"][0]["message"] and "with 3 in its place" in design["findings"][0]["message"]


def test_unknown_counts_are_printed_once_and_confirmed_wherever_they_are(tmp_path: Path) -> None:
    """On standard input, beside a fabric with errors, and where only some checks are asked for."""
    bad = OPEN.replace("fabric f", "fabric g").replace("?", "3").replace("edge_redundancy >= 8", "edge_redundancy >= 9")
    path, two = write(tmp_path, OPEN), tmp_path / "two.fab"
    two.write_text(path.read_text() + bad)
    note = "confirmed by compiling the design with 3 and with each smaller number"
    for args, stdin, status, codes in (
        ((path,), None, 0, ["E0461"]),
        (("-",), path.read_text(), 0, ["E0461"]),
        ((path, "--select", "diameter"), None, 0, ["E0461"]),
        ((path, "--ignore", "edge_redundancy"), None, 0, ["E0461"]),
        ((two,), None, 1, ["E0461", "E0406"]),
    ):
        done = tdsl("check", *args, "--second-opinion", stdin=stdin)
        found = re.findall(r"^(?:note|error)\[(E\d+)\]", done.stdout, re.MULTILINE)
        assert (done.exit_code, found) == (status, codes), (args, done.stdout)
        assert " ".join(done.stdout.split()).count(note) == 1, args


# ---------------------------------------------------------------- the command


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


def test_a_view_of_the_engine_is_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second methods share no code with the proof engine."""
    import ast

    folder = Path(__file__).parents[2] / "tdsl" / "verify" / "second"
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(n.startswith("tdsl.prove") or n.startswith("tdsl.verify.checks") for n in names), path
    fabric = torus(3, 3).build()
    results = judge_requirements(fabric, [], Diagnostics())
    checks_by_name()
    monkeypatch.setattr(View, "whole", None)
    judge = SecondOpinionJudge(fabric)
    assert all(o is None or o.verdict != "disagrees" for o in (judge.opinion(r, None) for r in results))


def test_the_checker_confirms_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = SMALL.replace(
        "require over", "require bisection >= 10% and survives any 1 of spine and throughput ring >= 10%\n  require over"
    )
    path = write(tmp_path, text)
    (design,) = report(path, "--second-opinion")["designs"]
    by = {r["check"]: r["second_opinion"]["by"] for r in design["results"] if r.get("second_opinion", {}).get("by")}
    for check, library in (("bisection", "z3"), ("survives", "networkx"), ("throughput", "HiGHS"), ("diameter", "networkx")):
        assert by[check] == [library, "checker"]
    from tdsl.certificates import write as writer

    made = writer.certificates_by_file_name

    def forged(*given: Any, **more: Any) -> Any:
        return {name: body | ({"links": 3} if name == "diameter.json" else {}) for name, body in made(*given, **more).items()}

    monkeypatch.setattr(writer, "certificates_by_file_name", forged)
    (design,) = report(path, "--second-opinion")["designs"]
    assert [d["code"] for d in design["findings"]] == ["E0905"]
    assert "the checker rejects diameter.json" in design["findings"][0]["notes"][0]
