"""What survives failures: orbits change nothing, witnesses are true, cuts cover many failures."""

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
from tdsl.certificates.write import certificates_by_file_name
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tdsl.verify.compare import why_claim_is_malformed
from tests.certificates.made import as_json, headed
from tests.fabrics import claim, random_fabric, selector, superpod, without
from tests.harness import compile_text
from tests.tables import sections
from tests.verify import judges

SEEDS = st.integers(0, 10**6)
OPTICAL = sections(__file__)["optical"]
SPINES = sections(__file__)["spines"]


def asked(f, count, *paths, given=None):
    return claim(f, "survives", any_count=count, of=tuple(selector(f, p) for p in paths), given=given)


def bisect_claim(f, value, **facts):
    return claim(f, "bisection", ">=", value, **facts)


def judge(f, given, budget=DEFAULT):
    return checks_by_name()[given.metric].judge(View.whole(f, budget), given)


@pytest.mark.parametrize(
    ("count", "least", "status", "judged", "sets"),
    [
        # 504 links less 24 of a spine: the limit is exact, and the failed spine is named
        (1, Fraction(20, 21), "proved", 1, 16),
        (1, Fraction(97, 100), "refuted", 1, 16),
        (2, Fraction(448, 504), "proved", 1, 120),
        (3, Fraction(3, 10), "proved", 0, 560),
    ],
)
def test_a_superpod_without_spines(count, least, status, judged, sets):
    f = superpod().build()
    found = judge(f, asked(f, count, "spine", given=bisect_claim(f, least)))
    assert (found.status, found.witness["judged"], found.witness["sets"]) == (status, judged, sets)
    assert count > 1 or (found.witness["failed"], found.witness["least"]) == (["spine[0]"], 480 / 504)


def test_what_cannot_be_asked():
    f = superpod(units=2, spines=8).build()
    check = checks_by_name()["survives"]
    for wrong, said in (
        (claim(f, "survives", of=(selector(f, "spine"),)), "needs `any K`"),
        (claim(f, "survives", any_count=1), "needs `of`"),
        (asked(f, 0, "spine"), "fails nothing"),
        (asked(f, 1, "spine", given=claim(f, "oversubscription", "<=", 1)), "after failures"),
        (asked(f, 1, "spine", given=bisect_claim(f, 1, of=(selector(f, "su"),))), "after failures"),
        (asked(f, 1, "spine", given=claim(f, "bisection")), "say what it must be"),
    ):
        assert said in why_claim_is_malformed(wrong, check)[0]
    assert why_claim_is_malformed(asked(f, 1, "spine", given=bisect_claim(f, Fraction(1, 2))), check) is None
    assert judge(f, asked(f, 9, "spine")).status == "skipped"


@settings(max_examples=20, deadline=None)
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


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_reachability_after_failures_against_trying_all(seed, count):
    f = random_fabric(seed, 5, 4, 3, 9).build()
    switches = [d for d in range(f.device_count) if f.is_switch[d]]
    found = judge(f, asked(f, count, "sw"))
    true = True
    for gone in combinations(switches, count):
        left = without(f, np.flatnonzero(np.isin(f.device_a, gone) | np.isin(f.device_b, gone)))
        lost = set(f.device_a.tolist()) - set(left.device_a.tolist())  # one that had no link before is still asked about
        units = [u for u in judges.units(f) if u not in lost]
        inner = judges.forwarders(left)
        alive = all(nx.has_path(judges.capacities(left, inner | {u, v}), u, v) for u, v in combinations(units, 2))
        true = true and alive and len(units) > 1
    assert (found.status == "proved") == true


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


def test_what_the_bound_on_any_three_failures_proves(tmp_path):
    """Where no set is judged: only the bisection that the largest cuts leave, 800 Gbit/s less three spines with two links of 100
    Gbit/s each, and nothing of another metric; 50% is true, and more than the bound shows, 63% is false."""
    proved = {"bisection >= 25%", "bisection >= 200Gbps"}
    others = ("bisection > 25%", "bisection >= 50%", "bisection >= 63%", "bisection <= 100%", "bisection == 25%", "reachability")
    others += ("edge_redundancy >= 1", "node_redundancy >= 1", "diameter <= 2", "mean_hops <= 2", "throughput ring >= 1%")
    text = SPINES.replace("CLAIM", "\n  require ".join(f"survives any 3 of spine with {x}" for x in (*proved, *others)))
    design = compile_text(text, tmp_path, verify=False, models=False).designs[0]
    found = [judge(design.fabric, c, replace(DEFAULT, failure_sets=0)).status for c in design.claims]
    assert found == ["proved"] * 2 + ["bounded"] * len(others)
