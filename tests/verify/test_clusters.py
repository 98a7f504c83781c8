"""Clusters: what their fabrics share, and every way to ask. Sums, racks and trays of random clusters are judged by the family
``shared_clusters`` (tests/soundness)."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import networkx as nx

from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.compile.session import EditorSession
from tdsl.verify.result import Result
from tests.cli.run import tdsl
from tests.harness import compile_text, places, written
from tests.tables import sections

MODELS = sections(__file__)["models"]
HALL = (
    "hall h {{ row A {{ rack 1..2 {{ height 24U; power 2 x {feed}kW; mass {mass}kg }} }}; pitch rack 600mm, row 2m; "
    "tray above 2.6m {{ capacity 100mm x 50mm }}; slack 1m }}"
)


def answers(c: Compilation) -> dict[str, Result]:
    return {r.requirement or r.check: r for r in c.clusters[0].results}


def amount(r: Result) -> Fraction:
    value = getattr(r.value, "amount", r.value)
    assert isinstance(value, (int, Fraction))
    return Fraction(value)


def test_cables_of_all_fabrics_fill_one_tray(tmp_path: Path) -> None:
    """Ten cables of 10 mm of each of two fabrics are 20 in the stretch that both lie in: pi/4 * 20 * 100 / 5000."""
    fabrics = "\n".join(
        f"fabric f{p} {{ host node[10]: N; switch s: SW; connect node[n].{p} to s {{ cable LINK; length 3m }}\n"
        f"place node[n] in h.A[1] at {1 + 20 * k}U + 2U*n\nplace s in h.A[2] at {20 + k}U\nreport tray_fill\n"
        f"report tray_fill of s }}"
        for k, p in enumerate("ab")
    )
    hosts = HALL.format(feed=50, mass=5000).replace("24U", "60U")
    text = f"cluster k {{ {hosts}\n{fabrics}\nrequire tray_fill <= 25% }}\n{MODELS}"
    c = compile_text(text, tmp_path, models=False)
    expected = Fraction(355, 113) / 4 * 20 * 100 / 5000
    assert answers(c)["tray_fill <= 25%"].value == expected and answers(c)["tray_fill <= 25%"].status == "refuted"
    assert [r.value for d in c.designs for r in d.results if r.check == "tray_fill"] == [expected] * 4


TWO = sections(__file__)["two"]


def two(one: str = "leaf", two: str = "leaf", common: str = "", in_one: str = "", in_two: str = "") -> str:
    return TWO.format(one=one, two=two, common=common, in_one=in_one, in_two=in_two) + MODELS


def test_autonomous_systems_have_numbers_of_their_own(tmp_path: Path) -> None:
    """Those of the first fabric are what they are without a cluster."""
    body = "switch leaf[2]: SW; switch spine[2]: SW; connect leaf[*] to spine[*] each; routing bgp { unnumbered }"
    names = [f"f{i}" for i in range(12)]
    fabrics = "\n".join(f"fabric {name} {{ host h: N; connect h.a to leaf[0]; {body} }}" for name in names)
    c = compile_text(f"cluster k {{\n{fabrics}\n}}\n{MODELS}", tmp_path, models=False)
    alone = compile_text(f"fabric f0 {{ host h: N; connect h.a to leaf[0]; {body} }}\n{MODELS}", tmp_path, models=False)

    def numbers(design: compiler.Design) -> list[int]:
        assert design.fabric is not None and design.fabric.addressing is not None
        return [n for n in design.fabric.addressing.asn.tolist() if n]

    every = [set(numbers(d)) for d in c.designs]
    assert numbers(c.designs[0]) == numbers(alone.designs[0]) == [4201000000, 4201000001, 4202000000, 4202000000]
    assert sum(map(len, every)) == len(set().union(*every)) and max(set().union(*every)) <= 4294967294


def test_a_cluster_takes_part_in_all_that_is_counted(tmp_path: Path) -> None:
    """The last line, and every combination of the parameters, in all formats."""
    common = "param size: int = 2 where size in [2, 3]\nrequire power <= 11kW\nrequire links of node >= 2\nomit node[1]"
    path = written(
        tmp_path / "k.fab", two(common=common).replace("leaf[2]: SW", "leaf[size]: SW").replace("to leaf[n]", "to leaf[(n)]")
    )
    last = tdsl("check", str(path)).stdout.splitlines()[-1]
    assert "1 of 2 requirements judged in full" in last
    every = json.loads(tdsl("check", str(path), "--all-params", "--output-format", "json").stdout)["designs"]
    assert [(d["fabric"], d["parameters"]["size"], d["ok"]) for d in every if d.get("members")] == [
        ("k", 2, True),
        ("k", 3, False),
    ]
    suites = ElementTree.fromstring(tdsl("check", str(path), "--all-params", "--output-format", "junit").stdout)
    failed = {
        s.attrib["name"].rpartition("k.fab ")[2]: [t.attrib["name"] for t in s if t.find("failure") is not None] for s in suites
    }
    assert failed["k (size = 2)"] == [] and failed["k (size = 3)"] == ["power <= 11kW"]
    one = written(path, path.read_text().replace("[2, 3]", "[3]"))
    assert "refuted   power <= 11kW" in tdsl("check", str(one), "--all-params", "--set", "size=3").stdout


def test_every_way_to_ask_says_the_same(tmp_path: Path) -> None:
    """A kept answer, an editor's process after an edit elsewhere, a selection, and the tables."""
    common = "hall h { row A { rack 1 { height 42U; power 2 x 5kW } } }\nrequire power <= 9kW"
    places = "place leaf[i] in h.A[1] at {}U + 1U*i"
    text = two(common=common, in_one=places.format(1), in_two=places.format(2))
    path = written(tmp_path / "k.fab", text)

    def said(c: Compilation) -> list[tuple[object, ...]]:
        return [(d.code, d.message, d.span and d.span.begin, [x.span.begin for x in d.labels]) for d in c.findings]

    kept = EditorSession()
    for changed in (text, f"\n# a line more\n{text}", text.replace("<= 9kW", "<= 11kW"), text.replace("at 2U", "at 20U"), text):
        written(path, changed)
        *_, fresh = compiler.compile_in_stages(str(path), Request())
        *_, again = compiler.compile_in_stages(str(path), Request(), kept, every=True)
        assert said(again) == said(fresh)
    assert {d.code for d in fresh.findings} == {"E0222", "E0223", "E0230"}
    only = compiler.compile_and_verify(str(path), Request(select=("rack_power",)))
    assert {d.code for d in only.findings} == {"E0223"} and [r.check for r in only.clusters[0].results] == ["rack_power"]

    def document(*more: str) -> list[dict[str, object]]:
        designs = json.loads(tdsl("check", str(path), "--output-format", "json", *more).stdout)["designs"]
        return [{k: v for k, v in d.items() if k != "elapsed_s"} for d in designs]

    first = document()
    assert [(d["fabric"], d.get("members")) for d in first] == [("one", None), ("two", None), ("k", ["one", "two"])]
    assert document() == first == document("--no-cache")
    racks = json.loads(tdsl("show", str(path), "racks", "--output-format", "json").stdout)["designs"]
    assert [(d["fabric"], d["racks"][0]["devices"], d["racks"][0]["watts"]) for d in racks] == [("k", 4, "8000")]
    table = tdsl("compare", str(path), "--output-format", "csv").stdout
    assert "figure,k (all),k.one,k.two" in table and "power_kw,10,6,6" in table


def test_one_table_of_places_for_all_fabrics(tmp_path: Path) -> None:
    path = written(tmp_path / "k.fab", two())
    rows = [
        "device,hall,row,rack,unit",
        "node0,h,A,1,1",
        "one-leaf0,h,A,1,9",
        "two-leaf0,h,A,1,9",
        "two-leaf1,h,A,2,9",
        "lost,h,A,1,1",
    ]
    table = written(tmp_path / "places.csv", "\n".join(rows) + "\n")
    found = tdsl("check", str(path), "--places", str(table), "--output-format", "concise").stdout
    assert [line.split()[1] for line in found.splitlines() if "error" in line.lower()] != []
    assert found.count("has no device") == 1 and "`lost`" in found
    assert "one.leaf[0] and two.leaf[0] are both in unit 9 of rack A01" in found


def test_fabrics_outside_a_cluster_share_no_rack(tmp_path: Path) -> None:
    """What two fabrics of a table put into one rack would be judged of each alone."""
    fabrics = [f"fabric {name} {{ host h: N; switch s{name}: SW; connect h.a to s{name} }}" for name in ("one", "two")]
    path = written(tmp_path / "apart.fab", "\n".join(fabrics) + MODELS)
    for rack, expected in ((1, 1), (2, 0)):
        table = written(tmp_path / f"{rack}.csv", f"device,hall,row,rack,unit\nsone,h,A,1,1\nstwo,h,A,{rack},5\n")
        found = tdsl("check", str(path), "--places", str(table), "--output-format", "concise")
        assert (found.exit_code, found.stdout.count("is judged apart")) == (expected, expected)


def test_scenarios_hold_the_requirements_of_a_cluster(tmp_path: Path) -> None:
    path = written(tmp_path / "k.fab", two(common="require power <= 9kW"))
    failures = written(tmp_path / "failures.txt", "leaf[0]\n")
    found = tdsl("check", str(path), "--scenarios", str(failures))
    assert found.exit_code == 1 and "`power <= 9kW` does not hold: 10kW, whatever fails" in found.stdout


def crossing_cluster(rng: Random) -> tuple[str, nx.Graph, set[str]]:
    """A cluster of two or three networks whose hosts are each in some of them; its links, and what forwards."""
    networks = [f"f{k}" for k in range(rng.choice((2, 2, 3)))]
    hosts = {f"h{k}": sorted(rng.sample(range(len(networks)), rng.choice((1, 1, 2)))) for k in range(5)}
    says = {name: rng.random() < 0.4 for name in hosts}
    graph, passes = nx.Graph(), {name for name, forwards in says.items() if forwards}
    graph.add_nodes_from(hosts)
    lines = [f"host {name}: N {'{ forwards }' if says[name] else ''}" for name in hosts]
    for k, network in enumerate(networks):
        leaves = rng.choice((1, 2))
        mine = [name for name, of in hosts.items() if k in of]
        at = {name: rng.randrange(leaves) for name in mine}
        lines.append(f"fabric {network} {{ transport infiniband; switch leaf[{leaves}]: SW")
        lines += [f"connect {name}.{'abc'[k]} to leaf[({leaf})]" for name, leaf in at.items()]
        graph.add_edges_from((name, f"{network}.{leaf}") for name, leaf in at.items())
        passes |= {f"{network}.{leaf}" for leaf in range(leaves)}
        if leaves == 2 and rng.random() < 0.7:
            lines.append("connect leaf[0] to leaf[1]")
            graph.add_edge(f"{network}.0", f"{network}.1")
        lines.append("}")
    return "\n".join(lines), graph, passes


def test_paths_cross_networks_where_hosts_forward(tmp_path: Path) -> None:
    """Reachability of all hosts, of which no network has all: against every pair in networkx, hosts that do not forward passing
    nothing on."""
    rng = Random(34)
    seen = Counter[str]()
    for number in range(24):
        lines, graph, passes = crossing_cluster(rng)
        asked = "reachability of all h0, h1, h2, h3, h4"
        c = compile_text(f"cluster k {{ require {asked}\n{lines}\n}}\n{MODELS}", tmp_path, models=False, name=f"k{number}.fab")
        results = [(d.name, r) for d in c.judged for r in d.results if r.requirement == asked]
        hosts = {f"h{k}" for k in range(5)}
        near = [f"f{k}" for k in range(3) if hosts <= {x for a, b in graph.edges for x in (a, b) if f"f{k}." in a + b}]
        holds = []
        for network in near or [""]:  # a network that has all is asked by itself
            ours = graph.edge_subgraph([e for e in graph.edges if network in "".join(e)])
            pairs = combinations(sorted(hosts), 2)
            holds.append(hosts <= set(ours) and all(nx.has_path(ours.subgraph(passes | {a, b}), a, b) for a, b in pairs))
        assert [r.status for _, r in results] == ["proved" if x else "refuted" for x in holds], lines
        seen[f"{results[0][0] == 'k'} {results[0][1].status}"] += 1
    assert seen["True proved"] >= 2 and seen["True refuted"] >= 2, seen


def test_a_requirement_of_the_cluster_is_judged_where_all_it_names_is(tmp_path: Path) -> None:
    """In each fabric that has all; a metric that one fabric alone could have is refused where none has."""
    body = """host x[2]: N; host y[2]: N
  require edge_redundancy of all x >= 1 and bisection of all y > 0%
  {}
  fabric one {{ switch leaf: SW; connect x[n].a to leaf; }}
  fabric two {{ switch leaf: SW; connect x[n].b to leaf; connect y[n].b to leaf }}"""
    c = compile_text(f"cluster k {{ {body.format('')} }}\n{MODELS}", tmp_path, models=False)
    told = [(d.name, r.requirement, r.status) for d in c.judged for r in d.results if r.requirement]
    assert told == [
        ("one", "edge_redundancy of all x >= 1", "proved"),
        ("two", "edge_redundancy of all x >= 1", "proved"),
        ("two", "bisection of all y > 0%", "proved"),
    ]
    body = body.replace("connect x[n].b to leaf; ", "")
    for asked, code in (("bisection of all x, y > 0%", "E0101"), ("reachability of all x, nothing", "E0101")):
        text = f"cluster k {{ {body.format('require ' + asked)} }}\n{MODELS}"
        found = [d for d in compile_text(text, tmp_path, models=False).findings if d.code != "E0404"]
        assert places(found) == [(code, 3)], [d.message for d in found]
    assert "none has all" not in str(found[0].notes)
