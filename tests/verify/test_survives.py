"""What survives: orbits change nothing, witnesses are true, cuts cover many failures; separators and blast radius."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import certificates_by_file_name, verified_certificates
from tdsl.compile import compiler
from tdsl.prove.budget import DEFAULT
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.symmetry import permutation_keeps_view
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tdsl.verify.compare import why_claim_is_malformed
from tests.fabrics import Builder, claim, random_chips, random_fabric, selector, superpod, torus, without
from tests.harness import compile_text, places
from tests.verify import judges
from tests.verify.test_certificates import as_json, headed

SEEDS = st.integers(0, 10**6)


def asked(f, count, *paths, given=None):
    return claim(f, "survives", any_count=count, of=tuple(selector(f, p) for p in paths), given=given)


def judge(f, given, budget=DEFAULT):
    return checks_by_name()[given.metric].judge(View.whole(f, budget), given)


def bisect_claim(f, value, **facts):
    return claim(f, "bisection", ">=", value, **facts)


# ---------------------------------------------------------------- figures


def test_a_superpod_survives_any_spine():
    f = superpod().build()
    found = judge(f, asked(f, 1, "spine", given=bisect_claim(f, Fraction(70, 100))))
    assert found.status == "proved"
    assert (found.witness["judged"], found.witness["sets"], found.witness["least"]) == (1, 16, 480 / 504)


@pytest.mark.parametrize(("value", "status"), [(Fraction(20, 21), "proved"), (Fraction(97, 100), "refuted")])
def test_the_limit_is_exact_and_the_failed_spine_is_named(value, status):
    f = superpod().build()
    found = judge(f, asked(f, 1, "spine", given=bisect_claim(f, value)))
    assert found.status == status and found.witness["failed"] == ["spine[0]"]


def test_of_intact_is_of_what_was_injected_before():
    f = superpod().build()
    for intact, status in ((False, "proved"), (True, "refuted")):
        given = bisect_claim(f, Fraction(95, 100), of_intact=intact)
        assert judge(f, asked(f, 1, "su.leaf", given=given)).status == status


def test_any_two_and_any_three():
    f = superpod().build()
    two = judge(f, asked(f, 2, "spine", given=bisect_claim(f, Fraction(448, 504))))
    assert (two.status, two.witness["judged"], two.witness["sets"]) == ("proved", 1, 120)
    three = judge(f, asked(f, 3, "spine", given=bisect_claim(f, Fraction(3, 10))))
    assert three.status == "proved"  # 504 - 3 * 64 = 312 links are left at least


def test_a_failed_group_takes_its_hosts_with_it():
    f = superpod().build()
    found = judge(f, asked(f, 1, "su"))
    assert found.status == "proved" and found.witness["sets"] == 4


def test_what_cannot_be_asked():
    f = superpod(units=2, spines=8).build()
    check = checks_by_name()["survives"]
    assert "needs `any K`" in why_claim_is_malformed(claim(f, "survives", of=(selector(f, "spine"),)), check)[0]
    assert "needs `of`" in why_claim_is_malformed(claim(f, "survives", any_count=1), check)[0]
    assert "fails nothing" in why_claim_is_malformed(asked(f, 0, "spine"), check)[0]
    assert "after failures" in why_claim_is_malformed(asked(f, 1, "spine", given=claim(f, "oversubscription", "<=", 1)), check)[0]
    assert (
        "after failures"
        in why_claim_is_malformed(asked(f, 1, "spine", given=bisect_claim(f, 1, of=(selector(f, "su"),))), check)[0]
    )
    assert "say what it must be" in why_claim_is_malformed(asked(f, 1, "spine", given=claim(f, "bisection")), check)[0]
    assert why_claim_is_malformed(asked(f, 1, "spine", given=bisect_claim(f, Fraction(1, 2))), check) is None
    assert judge(f, asked(f, 9, "spine")).status == "skipped"


# ---------------------------------------------------------------- symmetry


@pytest.mark.parametrize("path", ["spine", "su.leaf", "su.node", "su"])
def test_orbits_of_a_superpod(path):
    view = View.whole(superpod(units=3, nodes=4, rails=2, spines=2, omit_last=False, manager=False).build())
    found = symmetry_of_elements(view, selector(view.fabric, path).elements, frozenset())
    assert len(found.orbits()) == 1
    assert all(permutation_keeps_view(view, image) for image in found.images)
    assert len(found.pairs()) <= 2


def test_what_is_broken_has_fewer_exchanges():
    f = superpod(units=3, nodes=4, rails=2, spines=2, omit_last=False, manager=False).build()
    trunk = int(np.flatnonzero(f.is_switch[f.device_a])[0])
    view = View.whole(without(f, [trunk]))
    orbits = symmetry_of_elements(view, selector(f, "su.leaf").elements, frozenset()).orbits()
    assert sorted(map(len, orbits)) == [1, 1, 4]  # the leaf with the lost link, the other of its unit, the rest
    assert (
        len(
            symmetry_of_elements(
                View.whole(torus(4, 4).build()), selector(torus(4, 4).build(), "chip").elements, frozenset()
            ).orbits()
        )
        == 1
    )


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 2), st.booleans(), st.booleans())
def test_without_symmetry_the_answer_is_the_same(seed, count, omit, broken):
    rng = np.random.default_rng(seed)
    f = superpod(3, 2, 2, 2, uplinks=int(rng.choice([2, 4])), omit_last=omit).build()
    if broken:
        f = without(f, rng.integers(f.link_count, size=2).tolist())
    path = str(rng.choice(["spine", "su.leaf"]))
    for given_claim in (None, bisect_claim(f, Fraction(int(rng.integers(1, 20)), 20))):
        fast = judge(f, asked(f, count, path, given=given_claim))
        slow = judge(f, asked(f, count, path, given=given_claim), replace(DEFAULT, symmetry_work=0))
        assert fast.status == slow.status and slow.witness["judged"] >= fast.witness["judged"]
        if fast.status == "proved":
            assert fast.witness.get("least") == slow.witness.get("least")


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_reachability_after_failures_against_trying_all(seed, count):
    f = random_fabric(seed, 5, 4, 3, 9).build()
    switches = [d for d in range(f.device_count) if f.is_switch[d]]
    found = judge(f, asked(f, count, "sw"))
    true = True
    for gone in combinations(switches, count):
        left = without(f, np.flatnonzero(np.isin(f.device_a, gone) | np.isin(f.device_b, gone)))
        units = [u for u in judges.units(f) if u in set(left.device_a.tolist())]
        inner = judges.forwarders(left)
        alive = all(nx.has_path(judges.capacities(left, inner | {u, v}), u, v) for u, v in combinations(units, 2))
        true = true and alive and len(units) > 1
    assert (found.status == "proved") == true


def test_too_many_failures_stay_open():
    f = superpod(units=2, nodes=4, rails=2, spines=4).build()
    found = judge(f, asked(f, 3, "spine", "su.leaf"), replace(DEFAULT, failure_sets=2))
    assert found.status in ("bounded", "refuted")


# ---------------------------------------------------------------- separators and blast radius


def disjoint(f, u, v):
    """Node-disjoint paths of one pair, by networkx."""
    inner = judges.forwarders(f) - {u, v}
    g = nx.DiGraph()
    g.add_nodes_from([(u, 1), (v, 0)])
    for d in inner:
        g.add_edge((d, 0), (d, 1), capacity=1)
    for a, b in judges.pairs(f):
        for x, y in ((a, b), (b, a)):
            if {x, y} <= inner | {u, v} and x != y and x != v and y != u:
                g.add_edge((x, 1), (y, 0), capacity=1 if (x, y) == (u, v) else 99)
    return nx.maximum_flow_value(g, (u, 1), (v, 0))


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(2, 5), st.integers(1, 4), st.integers(0, 14), st.integers(0, 2))
def test_node_redundancy_of_hosts(seed, switches, hosts, nics, cables, loose):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    found = checks_by_name()["node_redundancy"].judge(View.whole(f), None)
    assert (found.status, found.value) == ("proved", min(disjoint(f, u, v) for u, v in combinations(judges.units(f), 2)))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(1, 16))
def test_node_redundancy_of_chips(seed, chips, cables):
    f = random_chips(seed, chips, cables).build()
    view = View.whole(f)
    if len(view.units) < 2 or not view.direct:
        return
    found = checks_by_name()["node_redundancy"].judge(view, None)
    assert found.value == min(disjoint(f, u, v) for u, v in combinations(judges.units(f), 2))


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 12), st.sets(st.integers(1, 5), min_size=1, max_size=4))
def test_node_redundancy_of_circulants(chips, jumps):
    """Every chip looks like every other, with four of them joined each to each (jumps 1, 2, 3) or not (1, 4)."""
    b = Builder("circulant")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2 * len(jumps)}), chips, role="accelerator")
    b.connect("connect chip to chip")
    for jump in jumps:
        for i in range(chips if 2 * jump < chips else 0):
            b.link(b.free(chip, i), b.free(chip, (i + jump) % chips))
    f = b.build()
    view = View.whole(f)
    if not view.direct:
        return
    found = checks_by_name()["node_redundancy"].judge(view, None)
    assert found.value == min(disjoint(f, u, v) for u, v in combinations(judges.units(f), 2))


def test_node_redundancy_figures():
    assert checks_by_name()["node_redundancy"].judge(View.whole(superpod().build()), None).value == 8
    assert checks_by_name()["node_redundancy"].judge(View.whole(torus(4, 4).build()), None).value == 4


@pytest.mark.parametrize(
    ("path", "endpoints", "cut_off", "degraded"),
    [("su.leaf", 32, 0, 32), ("spine", 0, 0, 0), ("su", 256, 32, 0), ("su.node", 8, 1, 0)],
)
def test_blast_radius(path, endpoints, cut_off, degraded):
    f = superpod().build()
    found = judge(f, claim(f, "blast_radius", "<=", 32, of=(selector(f, path),)))
    assert (found.status, found.value) == ("proved", endpoints)
    assert (found.witness["hosts_cut_off"], found.witness["hosts_degraded"]) == (cut_off, degraded)
    assert found.witness["accelerators"] == 8 * (cut_off + degraded)


OPTICAL = """
fabric f {
  chip c[3]: GPU
  ocs x[2]: OPTIC
  connect c[(0)].nv[0] to c[(1)].nv[0] via x[0]
  connect c[(0)].nv[1] to c[(1)].nv[1]
  connect c[(1)].nv[2] to c[(2)].nv[0] via x[1]
  report blast_radius of x
  report survives any 1 of x with edge_redundancy >= 1
  report survives any 1 of x
}
"""


def test_optical_switches_of_one_kind_are_not_alike(tmp_path):
    """x[0] carries a second link, x[1] the only one of c[2]: exchanging the two keeps all links, but not what runs through."""
    design = compile_text(OPTICAL, tmp_path).designs[0]
    found = [r for r in design.results if r.requirement]
    assert found[0].value == 1 and found[0].witness["element"] == "x[1]"
    assert [r.witness["sets"] for r in found[1:]] == [r.witness["judged"] for r in found[1:]] == [2, 2]
    written = headed(design.fabric, certificates_by_file_name(design.fabric, design.claims, design.results))
    honest = written["survives-2.json"]
    assert honest["of"] == ["x"] and len(honest["cases"]) == 2
    verify(honest, as_json(design.fabric))
    forged = honest | {"symmetries": [{"x0": "x1", "x1": "x0"}], "cases": honest["cases"][:1]}
    with pytest.raises(Rejected, match="changes the links"):
        verify(forged, as_json(design.fabric))


def test_the_worst_is_what_the_claim_forbids(tmp_path):
    """A ring of six with a chord from c[0]: without c[0] a line of five is left, longer than all others leave."""
    ring = "fabric f { chip c[6]: GPU; connect c[*] ring; connect c[(0)] to c[(3)]; report CLAIM }"
    found = compile_text(ring.replace("CLAIM", "survives any 1 of c with diameter <= 4"), tmp_path).designs[0].results[0]
    assert (found.status, found.witness["failed"], found.witness["most"]) == ("proved", ["c[0]"], 4)
    found = compile_text(ring.replace("CLAIM", "survives any 1 of c with mean_hops >= 1"), tmp_path).designs[0].results[0]
    assert (found.status, found.witness["failed"], found.witness["least"]) == ("proved", ["c[1]"], 1.6)


@pytest.mark.parametrize(("limit", "status"), [("1s", "modelled"), ("1us", "refuted")])
def test_a_time_after_failures_is_modelled(limit, status, tmp_path):
    text = f"""fabric f {{
  host n[4]: BOX
  switch s[2]: QUICK
  connect n[k].nic[i] to s[i] {{ length 10m }}
  require survives any 1 of s with allreduce 1GB <= {limit}
}}
model switch QUICK {{ port p[1..64]: 400Gbps {{ type NDR; cage 2 OSFP }}; latency 230ns }}"""
    compiled = compile_text(text, tmp_path)
    found = next(r for r in compiled.designs[0].results if r.requirement)
    assert found.status == status and (status == "modelled") == (not places(compiled.findings))


def test_nothing_is_left_to_survive(tmp_path):
    """The one leaf of all hosts failed before: any three of the rest are asked about nothing."""
    text = "fabric f { host n[2]: BOX; switch leaf: SW; switch s[4]: SW; connect n[*] to leaf spread x 2; "
    text += "connect leaf to s[*] each; report survives any 3 of s }"
    (found,) = [r for r in compile_text(text, tmp_path, fail=("leaf",)).designs[0].results if r.requirement]
    assert found.status == "skipped" and "fewer than two" in found.reason


PODS = """
model host N { port nic: 400Gbps }
model switch SW { port p[1..16]: any }
fabric f {
  pod g[2] { host h: N; switch l: SW; switch s: SW; connect h.nic to l; connect l to s x 2 { rate 400Gbps } }
  switch core: SW
  connect g[*].s to core each x 2 { rate 400Gbps }
  host z[2]: N
  connect z[*].nic to core each
  require survives any 1 of g[0].FAILS with throughput of A to g[1] >= 100%
}
"""


@pytest.mark.parametrize("side", ["g[0]", "g[0].h"])
@pytest.mark.parametrize(("fails", "status"), [("l", "refuted"), ("h", "refuted"), ("s", "refuted")])
def test_switches_do_not_take_the_place_of_hosts_that_failed(side, fails, status, tmp_path):
    """The pod's only host fails or loses its last link: the throughput of its switches is not what was asked."""
    text = PODS.replace("FAILS", fails).replace(" A ", f" {side} ")
    (found,) = [r for r in compile_text(text, tmp_path, models=False).designs[0].results if r.requirement]
    assert found.status == status and "without g[0]" in found.text


def test_throughput_of_what_hosts_hold(tmp_path):
    """The chips in two trays, which are what is wired, and the switches in two boxes."""
    text = """
model chip G { port x[2]: 100Gbps }
model host T { chip gpu[2]: G }
model switch SW { port p[1..16]: any }
fabric f {
  host tray[3]: T
  switch sw[2]: SW
  connect tray[t].gpu[g].x[k] to sw[k]
  report throughput of tray[0] to tray[1..2]
}"""
    (found,) = [r for r in compile_text(text, tmp_path, models=False).designs[0].results if r.requirement]
    assert found.status == "proved" and found.measures["lower_bps"] == 4 * 100 * 10**9


@pytest.mark.parametrize("asked", ["throughput of n[0].nic[1] to n[1]", "throughput of n[0] to n[1].nic[1]",
                                   "oversubscription at leaf.p", "taper of leaf.p", "blast_radius of leaf.p",
                                   "survives any 1 of leaf with throughput of n[0].nic to n[1] >= 1"])  # fmt: skip
def test_ports_are_not_taken_for_their_devices(asked, tmp_path):
    text = "fabric f { host n[2]: N2; switch leaf[2]: SW; connect n[*].nic[i] to leaf[i - 1]; connect leaf[0] to leaf[1]; "
    text += f"report {asked} }}\nmodel host N2 {{ port nic[1..2]: 100Gbps }}\nmodel switch SW {{ port p[1..8]: 100Gbps }}"
    made = compile_text(text, tmp_path, models=False)
    (found,) = [d for d in made.findings if d.code == "E0492"]
    assert "names ports" in found.message and found.help.startswith("write `")


@pytest.mark.parametrize("named", ["leaf[0].p[1..3]", "leaf[0..1].p", "leaf[*].p[1]"])
def test_the_device_is_proposed_for_its_ports(named, tmp_path):
    """The end of a range was cut off."""
    text = f"fabric f {{ switch leaf[2]: SW; connect leaf[0] to leaf[1]; report links of {named} to leaf[0] }}"
    made = compile_text(text + "\nmodel switch SW { port p[1..8]: 100Gbps }", tmp_path, models=False)
    (found,) = [d for d in made.findings if d.code == "E0492"]
    assert found.help == f"write `{named.partition('.p')[0]}`"


def test_a_chip_that_two_failures_strand_is_no_node(tmp_path):
    """Between two that fail, a chip of a ring has no link left: the checker numbers what forwards without it."""
    text = "fabric f { chip c[5]: GPU; connect c[*] ring; report survives any 2 of c with bisection >= 20% of intact }"
    design = compile_text(text, tmp_path).designs[0]
    written = headed(design.fabric, certificates_by_file_name(design.fabric, design.claims, design.results))
    assert [r.status for r in design.results if r.requirement] == ["proved"]
    verify(written["survives-1.json"], as_json(design.fabric))


BUNDLES = """
model chip G { port lane: 400Gbps }
model host H { port nic[2]: 400Gbps; chip gpu: G }
model switch SW { port p[1..40]: any }
fabric f {
  host node[5]: H
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic[r] to leaf[r % 2] where n < 4
  connect leaf[*] to spine[*] each x 4 { bundle 2; rate 400Gbps }
  report edge_redundancy
}
"""


def test_bundles_take_no_host_out_of_edge_redundancy(tmp_path):
    """node[4] has no link: no path leads to it, with bundles between switches or without."""
    for text in (BUNDLES, BUNDLES.replace("bundle 2; ", "")):
        (tmp_path / "f.fab").write_text(text)
        (found,) = (
            r for r in compiler.compile_and_verify(str(tmp_path / "f.fab")).designs[0].results if r.check == "edge_redundancy"
        )
        assert (found.status, found.value) == ("proved", 0)


PORTS = """
model chip C { port p[4]: 100Gbps }
fabric f {
  chip c[3]: C
  connect c[0] to c[1]
  connect c[0] to c[2]
  connect c[1] to c[2]
  report survives any 2 ports of c to c[2]
  report survives any 4 ports of c to c[2]
}
"""


def test_ports_of_a_set_to_a_part_of_it(tmp_path):
    """Two ports lead to c[2], those of c[0] and c[1]; its own lead to others."""
    (tmp_path / "f.fab").write_text(PORTS)
    found = [r for r in compiler.compile_and_verify(str(tmp_path / "f.fab")).designs[0].results if r.check == "survives"]
    assert [(r.status, r.witness.get("sets")) for r in found] == [("proved", 1), ("skipped", None)]
    assert "only 2 can fail" in found[1].reason


PANEL = """
model chip G { port lane: 400Gbps }
model host H { port nic: 100Gbps; chip gpu: G }
model switch SW { port p[1..40]: any }
model panel P { port front[8]: any; port back[8]: any }
fabric f {
  host node[4]: H
  switch leaf[2]: SW
  panel mid: P
  connect node[n].nic to leaf[n % 2]
  connect leaf[0] to leaf[1] x 2 via mid { rate 100Gbps }
  report survives any 2 cables of leaf[0] to leaf[1]
  report survives any 1 cables of leaf[0] to leaf[1]
}
"""


def test_both_cables_of_a_link_through_a_panel_fail_one_link(tmp_path):
    """And the certificate of what survives is one that the checker verifies."""
    (tmp_path / "f.fab").write_text(PANEL)
    design = compiler.compile_and_verify(str(tmp_path / "f.fab")).designs[0]
    two, one = (r for r in design.results if r.check == "survives")
    assert (two.status, one.status) == ("refuted", "proved")
    made = verified_certificates(design.fabric, design.claims, design.results)
    assert not made.rejected and any(name.startswith("survives") for name in made.texts)


SPINES = """
model chip G { port lane: 400Gbps }
model host H { port nic[4]: 100Gbps; chip gpu: G }
model switch SW { port p[1..40]: 100Gbps }
fabric f {
  host node[4]: H
  switch leaf[2]: SW
  switch spine[8]: SW
  connect node[n].nic[r] to leaf[n // 2]
  connect leaf[*] to spine[*] each
  require CLAIM
}
"""


def of_spines(claim_text, tmp_path, **limits):
    """Status of a requirement of eight spines between two leaves: 800 Gbit/s that two hosts fill."""
    (tmp_path / "f.fab").write_text(SPINES.replace("CLAIM", claim_text))
    design = compiler.compile_without_checks(str(tmp_path / "f.fab")).designs[0]
    (asked,) = design.claims
    view = View.whole(design.fabric, replace(DEFAULT, **limits))
    found = checks_by_name()["survives"].judge(view, asked)
    return found.status, found.witness.get("by")


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("bisection >= 25%", "proved"),  # 800 Gbit/s less three spines with two links of 100 Gbit/s each
        ("bisection >= 200Gbps", "proved"),
        ("bisection > 25%", "bounded"),
        ("bisection >= 50%", "bounded"),  # true, and more than the bound shows
        ("bisection >= 63%", "bounded"),  # false
        ("bisection <= 100%", "bounded"),
        ("bisection == 25%", "bounded"),
        ("reachability", "bounded"),  # no more links separate two hosts than three spines hold
        ("edge_redundancy >= 1", "bounded"),
        ("node_redundancy >= 1", "bounded"),
        ("diameter <= 2", "bounded"),
        ("mean_hops <= 2", "bounded"),
        ("throughput ring >= 1%", "bounded"),
    ],
)
def test_what_the_bound_on_any_three_failures_proves(condition, status, tmp_path):
    """Where no set is judged: only the bisection that the largest cuts leave, and nothing of another metric."""
    assert of_spines(f"survives any 3 of spine with {condition}", tmp_path, failure_sets=0)[0] == status


@pytest.mark.parametrize(
    ("condition", "least"),
    [("bisection >= {}%", 62.5), ("edge_redundancy >= {}", 4), ("node_redundancy >= {}", 1), ("throughput shift 2 >= {}%", 62.5)],
)
def test_three_failures_at_and_above_what_is_left(condition, least, tmp_path):
    """Five spines are left of eight; four NICs of a host lead to one leaf."""
    assert of_spines(f"survives any 3 of spine with {condition.format(least)}", tmp_path)[0] == "proved"
    assert of_spines(f"survives any 3 of spine with {condition.format(least + 1)}", tmp_path)[0] == "refuted"


@pytest.mark.parametrize(("condition", "most"), [("diameter <= {}", 2), ("mean_hops <= {}", Fraction(4, 3))])
def test_distances_after_three_failures(condition, most, tmp_path):
    assert of_spines(f"survives any 3 of spine with {condition.format(most)}", tmp_path)[0] == "proved"
    assert of_spines(f"survives any 3 of spine with {condition.format(most - Fraction(1, 10))}", tmp_path)[0] == "refuted"
