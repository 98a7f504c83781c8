"""What fails: links, ports, cables, cages, contents; and permutations verified against what a requirement reads."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.claims import FabricElement
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.elements import elements_of_claim, lost_rows, view_after_failures
from tdsl.prove.symmetry import Reads, permutation_keeps_view
from tdsl.prove.view import View
from tests.harness import compile_text

MODELS = """
model chip GV { port nv[2]: 200Gbps }
model host TR { chip gpu: GV }
model host N { port nic: 400Gbps; chip gpu: G }
model host N3 { port nic[3]: 400Gbps; chip gpu[2]: G; switch x: SW; connect gpu[g] to x { layer scaleup; medium trace } }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps }
model switch XB { port p[1..16]: 400Gbps }
model switch BOX { switch x: XB }
model switch TWIN { port p[1..8]: 400Gbps { cage 2 OSFP } }
"""


def results(text: str, folder, *fail: str):
    design = compile_text(MODELS + text, folder, models=False, fail=fail).designs[0]
    return design, [r for r in design.results if r.requirement]


LINE = """fabric f {
  host tray[5]: TR
  connect tray[t].gpu to tray[t + 1].gpu where t < 4
  report survives any 1 of tray
  report survives any 1 of tray with bisection >= 200Gbps
  report blast_radius of tray
}"""
BOXES = """fabric f {
  host node[5]: N
  switch box[5]: BOX
  connect node[n].nic to box[n].x
  connect box[i].x to box[i + 1].x where i < 4
  report survives any 1 of box
  report survives any 1 of x
}"""
RING = """fabric f {
  group g[4] { host node: N; switch r: SW; switch b: SW; connect node.nic to r }
  switch core: SW
  connect g[i].b to core
  connect g[i].r to g[i].b where i < 3
  connect g[(0)].r to g[(3)].r
  connect g[(1)].r to g[(3)].r
  report survives any 1 of g[0].b, g[1].b with throughput ring >= 80%
  report survives any 1 of g[0].b, g[1].b with throughput shift 1 >= 80%
}"""
RAILS = """fabric f {
  host node[6]: N3
  switch leaf[3]: SW
  connect node[n].nic[(1)] to leaf[(0)] where n < 5
  connect node[n].nic[(0)] to leaf[(1)]
  connect node[n].nic[(2)] to leaf[(2)] where n < 5
  connect node[(5)].nic[(2)] to leaf[(0)]
  connect node[(5)].nic[(1)] to leaf[(2)]
  report survives any 1 of leaf with throughput ring >= 50%
}"""


@pytest.mark.parametrize("text", [LINE, BOXES, RING, RAILS], ids=["contents", "chassis", "order", "rails"])
def test_exchanges_that_do_not_keep_what_is_read_prove_nothing(text, tmp_path):
    """Each was proved by exchanging elements without their contents, the order of hosts or their rails."""
    _, found = results(text, tmp_path)
    assert {r.status for r in found if r.check == "survives"} == {"refuted"}


def test_lengths_are_read_where_a_time_is_asked(tmp_path):
    text = """
model host H { port nic: 100Gbps; chip gpu: G; latency 0ns }
model switch S { port p[1..8]: 100Gbps; latency 500ns }
fabric f {
  host node[4]: H
  switch leaf[2]: S
  switch spine[2]: S
  connect node[n].nic to leaf[n // 2] { length 1m }
  connect leaf[*] to spine[(0)] each { length 1km }
  connect leaf[*] to spine[(1)] each { length 1m }
  report survives any 1 of spine with latency <= 3us
  report survives any 1 of spine with allreduce 1kB <= 20us
  report survives any 1 of spine with diameter <= 2
}"""
    _, found = results(text, tmp_path)
    assert [r.status for r in found] == ["refuted", "refuted", "proved"]
    assert [r.witness["judged"] for r in found][2] == 1


def test_a_host_takes_its_chips_with_it_in_every_count(tmp_path):
    ring = "fabric f { host tray[8]: TR; connect tray[t].gpu to tray[(t + 1) % 8].gpu\n"
    for count in (2, 3):
        _, (found,) = results(f"{ring} report survives any {count} of tray }}", tmp_path)
        assert found.status == "refuted"
    _, (found,) = results(f"{ring} report survives any 1 of tray }}", tmp_path)
    assert (found.status, found.witness["judged"]) == ("proved", 1)


CLOS = "fabric f { group g[2] { host n[2]: N; switch leaf: SW; connect n[k].nic to leaf }; switch spine[2]: SW; "
CLOS += "connect g[*].leaf to spine[*] each x 2\n"


@pytest.mark.parametrize(
    ("asked", "status", "judged", "sets"),
    [
        ("any 1 of g.leaf to spine", "proved", 1, 8),
        ("any 3 links of g.leaf to spine", "proved", 4, 56),
        ("any 4 links of g.leaf to spine", "refuted", None, 70),
        ("any 1 ports of spine", "proved", 1, 8),
        ("any 1 ports of spine[0].p[1..2]", "proved", 1, 2),
        ("any 1 cables of g.leaf to spine", "proved", 1, 8),
        ("any 1 links of g.n to g.leaf", "proved", 1, 4),
    ],
)
def test_links_ports_and_cables_fail(asked, status, judged, sets, tmp_path):
    _, (found,) = results(f"{CLOS} report survives {asked} }}", tmp_path)
    assert (found.status, found.witness["sets"]) == (status, sets), found.text
    assert judged is None or found.witness["judged"] == judged


def test_a_cage_fails_with_all_its_ports(tmp_path):
    text = "fabric f { host n[4]: N; switch leaf: TWIN; connect n[k].nic to leaf\n"
    text += "report survives any 1 cages of leaf with bisection >= 1 }"
    design, _ = results(text, tmp_path)
    f = design.fabric
    named = elements_of_claim(View.whole(f), design.claims[0])
    assert [len(e.links) for e in named] == [2, 2]
    assert all("cage OSFP" in e.name for e in named)


@pytest.mark.parametrize("asked", ["any 1 fans of spine", "any 1 spine"])
def test_what_cannot_fail_is_refused(asked, tmp_path):
    found = compile_text(MODELS + f"{CLOS} require survives {asked} }}", tmp_path, models=False).findings
    assert [d.code for d in found] == ["E0492"]


def test_throughput_between_two_sets_after_failures(tmp_path):
    base = f"{CLOS} report survives any 1 of spine with throughput of g[0].n to g[1].n >= "
    for value, status in (("100%", "proved"), ("101%", "refuted"), ("800Gbps", "proved"), ("801Gbps", "refuted")):
        _, (found,) = results(f"{base} {value} }}", tmp_path)
        assert found.status == status, value
    _, (found,) = results(f"{CLOS} report survives any 1 of g.leaf with throughput of g[0].n to g[1].n >= 1% }}", tmp_path)
    assert found.status == "refuted"


def test_hosts_without_a_path_exchange_nothing(tmp_path):
    text = "fabric f { host n[4]: N; switch leaf[2]: SW; connect n[k].nic to leaf[k // 2]\n"
    text += "report throughput ring; report throughput all_to_all }"
    _, found = results(text, tmp_path)
    assert [(r.status, r.value) for r in found] == [("proved", 0), ("proved", 0)]


def test_hosts_that_fail_leave_a_file_of_demands(tmp_path):
    """Numbers and names go on meaning the hosts of the design; what a failed host would send is not sent."""
    (tmp_path / "pairs.csv").write_text("from,to\n0,3\n1,2\n")
    text = f'{CLOS} report throughput permutation "pairs.csv" }}'
    _, (whole,) = results(text, tmp_path)
    _, (left,) = results(text, tmp_path, "g[0].n[0]")
    assert (whole.value, left.value, left.witness["demands"]) == (1, 1, 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_orbits_of_random_fabrics_hide_no_failure(tmp_path_factory, seed, count):
    """Every set of failed elements of an orbit gives the same answer as its representative, whatever is read."""
    rng = np.random.default_rng(seed)
    groups, per, spines = (int(x) for x in rng.integers(2, 4, size=3))
    text = f"fabric f {{ group g[{groups}] {{ host n[{per}]: N; switch l: SW; connect n[k].nic to l }}\n switch s[{spines}]: SW\n"
    for i in range(groups):
        for j in range(spines):
            if rng.random() < 0.8:
                text += f"connect g[({i})].l to s[({j})] x {int(rng.integers(1, 3))} {{ length {int(rng.integers(1, 3))}m }}\n"
    text += "report blast_radius of s }"
    design, _ = results(text, tmp_path_factory.mktemp("orbits"))
    view = View.whole(design.fabric)
    named = elements_of_claim(view, design.claims[0])
    if len(named) < count:
        return
    for reads in (frozenset(), frozenset({"lengths"}), frozenset({"order"}), frozenset({"names", "rails"})):
        found = symmetry_of_elements(view, named, reads)
        assert all(permutation_keeps_view(view, image, reads) for image in found.images)
        kept = {tuple(s) for s in found.sets(count) or []}
        for chosen in combinations(range(len(named)), count):
            answer = _facts(view, [named[i] for i in chosen], reads)
            assert any(_facts(view, [named[i] for i in k], reads) == answer for k in kept)


def _facts(view: View, chosen, reads: Reads):
    left = view_after_failures(view, list(chosen))
    f = view.fabric
    columns = [f.device_set[left.a], f.device_set[left.b], f.link_rate[left.rows]]
    if "lengths" in reads:
        columns.append(f.link_statement[left.rows])
    return sorted(zip(*(c.tolist() for c in columns), strict=True)), len(np.unique(left.label[left.units]))


def test_hosts_beside_the_groups_of_their_switches_move_with_them(tmp_path):
    """An index of hosts that are declared apart from their pods moves together with that of the pods."""
    text = """fabric f {
  host node[4, 3, 2]: N
  plane plane[2] {
    pod pod[4] {
      switch tor[3]: SW
      switch agg[2]: SW
      connect tor[*] to agg[*] each
    }
    switch core[2]: SW
    connect pod[*].agg[*] to core[*] each
  }
  connect node[p, s, n].nic to plane[(0)].pod[p].tor[s]
  report survives any 1 of plane[0].pod[*].tor[*]
}"""
    _, (found,) = results(text, tmp_path)
    assert (found.status, found.witness["judged"], found.witness["sets"]) == ("proved", 1, 12)


@pytest.mark.parametrize(
    ("asked", "status", "sets"),
    [
        ("any 2 ports of c with node_redundancy < 2", "refuted", None),  # both ports of one c[0]-c[1] link leave the triangle
        ("any 2 ports of c with node_redundancy <= 2", "proved", 10),  # 4 links alone, 6 pairs
        ("any 2 ports of c[0] with node_redundancy <= 2", "proved", 3),  # each of its 3 links has one port named
        ("any 2 ports of c to c[0] with node_redundancy <= 2", "proved", 3),  # the far ports of these: the near lead elsewhere
        ("any 3 ports of c with edge_redundancy >= 0", "proved", 10),  # 6 pairs, 4 of three: one link alone has two ports
        ("any 9 ports of c with edge_redundancy >= 0", "skipped", None),
    ],
)
def test_two_ports_of_one_link_fail_together(asked, status, sets, tmp_path):
    """A figure that must be small is not the worst where most links fail."""
    text = f"""fabric f {{
  chip c[3]: GV4
  connect c[0] to c[1] x 2
  connect c[1] to c[2]
  connect c[2] to c[0]
  report survives {asked}
}}
model chip GV4 {{ port ici[4]: 200Gbps }}"""
    _, (found,) = results(text, tmp_path)
    assert found.status == status, found.text
    assert sets is None or found.witness["sets"] == sets


def test_the_links_of_an_element_are_found_by_their_rows(tmp_path):
    """The first link is one, too; a panel takes what runs through it, a host what ends at it."""
    text = """fabric f {
  host n[3]: N
  switch s: SW
  panel box: PATCH
  connect n[i].nic to s via box where i < 2
  connect n[(2)].nic to s
}"""
    panel = "model panel PATCH { port front[8]: any; port back[8]: any }\n"
    fabric = compile_text(MODELS + panel + text, tmp_path, models=False).designs[0].fabric
    assert fabric is not None and fabric.link_count == 3
    view = View.whole(fabric)
    none, every = np.zeros(0, dtype=np.int64), np.arange(3)
    single = [FabricElement(f"link {i}", none, np.array([i])) for i in range(3)]
    assert [rows.tolist() for rows in lost_rows(view, single)] == [[0], [1], [2]]
    named = {fabric.device_name(d): FabricElement("d", np.array([d]), none) for d in range(fabric.device_count)}
    gone = {name: rows.tolist() for name, rows in zip(named, lost_rows(view, list(named.values())), strict=True)}
    assert gone["s"] == every.tolist() and len(gone["box"]) == 2
    assert sorted(gone["n0"] + gone["n1"] + gone["n2"]) == every.tolist()
