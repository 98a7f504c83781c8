"""Random designs against judges that read fabric.json only; mutated certificates against the checker; and the judges themselves.

``make soundness N=5000`` runs more designs and writes a small design for each disagreement. A seed is the name of a design:
``python -m tests.soundness.run --only SEED``.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random

import networkx as nx
import pytest

from tdsl.certificates.checker import check
from tdsl.certificates.write import verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.compile.second_opinion import add_second_opinions
from tests.soundness.arena import Compiled, Disagreement, compiled, judged, report
from tests.soundness.generate import KINDS, Draft, draft
from tests.soundness.judges import Claim, Left, World, figure, max_flow
from tests.soundness.mutate import is_true, mutations
from tests.soundness.relations import judged_and_related
from tests.tables import sections

DESIGNS, CHUNK = 300, 30
EACH_RUN = 90
"""Designs of each run; the others are in the daily one."""
OPEN: frozenset[tuple[str, str]] = frozenset()
"""Disagreements that are known and being worked on: the kind and the metric. Nothing else may differ."""


@pytest.mark.parametrize(
    "first", [n if n < EACH_RUN else pytest.param(n, marks=pytest.mark.daily) for n in range(0, DESIGNS, CHUNK)]
)
def test_random_designs(first: int, tmp_path: Path) -> None:
    found: list[Disagreement] = []
    figures = refused = 0
    for seed in range(first, first + CHUNK):
        tally = judged_and_related(seed, tmp_path, mutants=1, second=seed % 10 == 0)
        found += [d for d in tally.found if d.key[:2] not in OPEN]
        figures, refused = figures + tally.figures, refused + tally.refused
    assert not found, "\n\n".join(report(d) for d in found[:3])
    assert figures > 6 * CHUNK
    assert refused <= CHUNK // 6, "too many of the random designs do not compile"


@pytest.mark.parametrize("seed", [3, 9, 10, 18, 50])
def test_capacities_beyond_floats_and_64_bits(seed: int, tmp_path: Path) -> None:
    """Designs whose capacities made sums overflow: bounds crossed, and a cut had no units on one side."""
    assert judged(draft(seed, "extremes"), tmp_path, mutants=1).found == []


def test_every_kind_is_among_the_seeds() -> None:
    assert {draft(seed).kind for seed in range(EACH_RUN)} == set(KINDS)
    assert len(KINDS) >= 14


def test_a_seed_gives_one_design() -> None:
    assert all(draft(seed).text() == draft(seed).text() for seed in range(40))


def world_of(made: Draft, folder: Path) -> World | None:
    found = compiled(made, folder)
    return found.world if isinstance(found, Compiled) else None


# ---------------------------------------------------------------- the judges


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> list[World]:
    folder = tmp_path_factory.mktemp("samples")
    found = (world_of(draft(seed), folder) for seed in range(5000, 5036))
    return [w for w in found if w is not None]


def test_flows_are_those_of_networkx(samples: list[World]) -> None:
    for world in samples:
        left = Left(world)
        graph = nx.Graph()
        for x in left.links:
            old = graph.get_edge_data(x.a, x.b, {"capacity": 0})["capacity"]
            graph.add_edge(x.a, x.b, capacity=old + x.rate)
        room = {v: {w: graph[v][w]["capacity"] for w in graph[v]} for v in graph}
        for u, v in [*combinations(sorted(graph), 2)][:6]:
            assert max_flow(room, u, v) == nx.maximum_flow_value(graph, u, v)


def test_node_redundancy_is_that_of_networkx(samples: list[World]) -> None:
    compared = 0
    for world in samples:
        left = Left(world)
        inner = left.forwards
        for u, v in [*combinations(left.units, 2)][:5]:
            graph = nx.Graph()
            graph.add_nodes_from((u, v))
            graph.add_edges_from((x.a, x.b) for x in left.links if {x.a, x.b} <= inner | {u, v} and {x.a, x.b} != {u, v})
            direct = any({x.a, x.b} == {u, v} for x in left.links)
            assert left._paths(u, v, True) == nx.node_connectivity(graph, u, v) + direct
            compared += 1
    assert compared > 100


def test_the_linear_program_agrees_with_a_flow(samples: list[World]) -> None:
    """One demand alone is a maximum flow."""
    for world in samples:
        left = Left(world)
        units = [u for u in left.units if left.injection[u]]
        if len(units) < 2 or world.direct or any(x.rate % 10**9 for x in left.links):
            continue
        flow = left.between({units[0]}, {units[1]})
        both = left.flow("file", {(units[0], units[1]): 1}, False)
        assert flow.bps is not None and both.bps is not None
        assert abs(float(flow.bps - both.bps)) <= 1e-6 * float(flow.bps)


TRAYS = sections(__file__)["trays"]


def of_text(text: str, folder: Path) -> World:
    models, body = [], []
    for line in text.strip().splitlines():
        (body if line.startswith("  ") else models).append(line.strip())
    made = Draft("text", 0, Random(0), {line.split()[2]: line for line in models if line.startswith("model ")}, body)
    found = compiled(made, folder)
    assert isinstance(found, Compiled), found
    return found.world


def test_the_judge_fails_chips_with_their_hosts(tmp_path: Path) -> None:
    world = of_text(TRAYS, tmp_path)
    assert figure(Left(world), Claim("survives", of="tray", count=1)) is True
    assert figure(Left(world), Claim("survives", of="tray", count=2)) is False
    assert Left(world).bisection() == (400 * 10**9, 8 * 200 * 10**9)  # two of the ring's links, of four chips with two ports


CHIPS = sections(__file__)["chips"]


def test_chips_forward_whatever_fails(tmp_path: Path) -> None:
    """The last link between chips may fail, and a chip still counts as a place of the network."""
    path = tmp_path / "f.fab"
    path.write_text(CHIPS.strip() + "\n", encoding="utf-8")
    design = compiler.compile_and_verify(str(path)).designs[0]
    assert [r.status for r in design.results if r.check == "survives"] == ["refuted", "proved"]
    (failed,) = compiler.compile_and_verify(str(path), Request(fail=("link c[0] c[1]",))).designs
    assert [r.value for r in failed.results if r.check == "diameter" and r.requirement] == [3]
    compilation = compiler.compile_and_verify(str(path))
    assert add_second_opinions(compilation, str(path), Request()) == []
    assert [r.second_opinion["verdict"] for r in compilation.designs[0].results if r.check == "survives"] == ["confirmed"] * 2


CHIPS_AND_HOSTS = sections(__file__)["chips and hosts"]


def test_chips_beside_hosts_have_all_their_links(tmp_path: Path) -> None:
    """Units of which some forward and some do not: a chip is met over each of its links."""
    path = tmp_path / "f.fab"
    path.write_text(CHIPS_AND_HOSTS.strip() + "\n", encoding="utf-8")
    compilation = compiler.compile_and_verify(str(path))
    (design,) = compilation.designs
    assert {r.check: r.value for r in design.results if r.requirement} == {"edge_redundancy": 3, "node_redundancy": 2}
    assert add_second_opinions(compilation, str(path), Request()) == []


@pytest.mark.parametrize("seed", [710000060, 710000106])
def test_second_opinions_of_extreme_rates(seed: int, tmp_path: Path) -> None:
    """Capacities beyond what z3 takes as coefficients are too large for it, and no traceback."""
    assert judged(draft(seed, "extremes"), tmp_path, second=True).found == []


def test_the_judge_of_thresholds() -> None:
    from tests.soundness.judges import Figure

    value = Figure(Fraction(7, 3), Fraction(700))
    assert Claim("bisection", cmp=">=", value=Fraction(7, 3)).holds(value)
    assert not Claim("bisection", cmp=">", value=Fraction(7, 3)).holds(value)
    assert Claim("bisection", cmp="==", value=Fraction(700), unit="bps").holds(value)


# ---------------------------------------------------------------- certificates


def test_mutations_change_something_and_most_are_rejected(tmp_path: Path) -> None:
    made = draft(0)
    found = compiled(made, tmp_path, [Claim("reachability"), Claim("bisection", cmp=">", value=Fraction(0))], verify=True)
    assert isinstance(found, Compiled) and found.design.fabric is not None
    text = verified_certificates(found.design.fabric, found.design.claims, found.design.results).texts["bisection.json"]
    honest, fabric = json.loads(text), json.loads(found.text)
    assert is_true(honest, World(fabric))
    assert not is_true(honest | {"lower_bps": 10**18, "upper_bps": 10**18}, World(fabric))
    told = [check(c, f)[0] for c, f, _ in mutations(Random(1), honest, found.text, 60)]
    assert 0 < told.count(0) < 40 and {1, 2} <= set(told)


def test_a_report_shows_the_requirement(tmp_path: Path) -> None:
    claim = Claim("bisection", cmp=">=", value=Fraction(1))
    text = report(Disagreement("wrong figure", claim, "proved", "1/2", draft(3)))
    assert re.search(r"^# judge: 1/2$", text, re.M) and "require bisection >= 1" in text
