"""Loads of hashed flows against all choices, one by one, and against each other."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import ceil
from pathlib import Path

import pytest

from tdsl.prove.ecmp_load import NoLoad, distribution_of_fullest_urn, load_of_fullest_link
from tdsl.prove.view import View
from tests.harness import fabric_of

MODELS = """
model host N { port nic: 400Gbps }
model switch SW { port p[1..64]: 400Gbps }
"""


def view_of(body: str, folder: Path) -> View:
    return View.whole(fabric_of(f"{MODELS}fabric f {{ {body} }}", folder, models=False))


def two_tiers(leaves: int, hosts: int, spines: int, each: str = "each") -> str:
    return (
        f"host node[{leaves * hosts}]: N; switch leaf[{leaves}]: SW; switch spine[{spines}]: SW\n"
        f"connect node[n].nic to leaf[n // {hosts}]\nconnect leaf[*] to spine[*] {each}"
    )


def test_fullest_urn_against_all_ways_to_throw() -> None:
    for balls, urns in ((1, 2), (4, 2), (5, 3), (6, 3), (4, 4), (7, 2)):
        fullest = Counter(max(Counter(way).values()) for way in product(range(urns), repeat=balls))
        found = distribution_of_fullest_urn(balls, urns)
        below = 0
        for k in range(len(found)):
            below += fullest[k]
            assert abs(found[k] - below / urns**balls) < 1e-12
        assert below == urns**balls or found[-1] > 1 - 1e-9


@pytest.mark.parametrize(
    ("leaves", "hosts", "spines", "flows"), [(2, 2, 2, 1), (2, 2, 2, 2), (2, 2, 3, 1), (4, 1, 2, 2), (4, 2, 2, 1)]
)
def test_exact_answers_against_all_choices(leaves: int, hosts: int, spines: int, flows: int, tmp_path: Path) -> None:
    found = load_of_fullest_link(view_of(two_tiers(leaves, hosts, spines), tmp_path), flows, False)
    each = hosts * flows
    fullest = [
        max(max(Counter(way[i * each : (i + 1) * each]).values()) for i in range(leaves))
        for way in product(range(spines), repeat=leaves * each)
    ]
    assert found.draws == 0 and found.lower == found.upper == found.quantile
    assert abs(found.mean - Fraction(sum(fullest), len(fullest) * flows)) < 1e-5
    assert found.quantile == Fraction(sorted(fullest)[ceil(len(fullest) * 0.99) - 1], flows)
    assert found.even == Fraction(hosts, spines)


def test_draws_are_within_four_standard_errors_of_the_exact_answer(tmp_path: Path) -> None:
    """In two tiers no second hash follows on the first, so that one function for all switches changes nothing."""
    for flows in (1, 4, 16):
        view = view_of(two_tiers(4, 8, 4), tmp_path)
        exact, drawn = (load_of_fullest_link(view, flows, one_hash) for one_hash in (False, True))
        assert exact.draws == 0 and drawn.draws == 1000 and drawn.even == exact.even
        assert abs(drawn.mean - exact.mean) < 4 * Fraction(1, 1000) ** 0.5 * float(exact.mean) / 2
        assert drawn.lower <= exact.quantile <= drawn.upper
        again = load_of_fullest_link(view, flows, True)
        assert again == drawn


def test_tiers_that_hash_by_one_function_leave_links_unused(tmp_path: Path) -> None:
    """Each aggregation switch gets the flows of one remainder, and sends all of them to the core switch of the same one."""
    body = (
        "host node[64]: N\npod pod[4] { switch leaf[4]: SW; switch agg[4]: SW; connect leaf[*] to agg[*] each }\n"
        "switch core[4, 4]: SW\nconnect node[n].nic to pod[n // 16].leaf[n // 4 % 4]\nconnect pod[p].agg[a] to core[a, *] each"
    )
    apart, one_hash = (load_of_fullest_link(view_of(body, tmp_path), 16, same) for same in (False, True))
    assert apart.even == one_hash.even == 1
    assert one_hash.mean > 3.5 > 2 > apart.mean > 1


def test_what_has_no_flow_between_switches_has_no_load(tmp_path: Path) -> None:
    with pytest.raises(NoLoad, match="no flow crosses"):
        load_of_fullest_link(view_of("host node[4]: N; switch sw: SW; connect node[n].nic to sw", tmp_path), 1, False)


def test_more_links_than_flows_are_spread_over_parallel_links(tmp_path: Path) -> None:
    """Parallel links are chosen at both switches, so that leaves are no urns alone: it is drawn, and flows are no fuller."""
    found = load_of_fullest_link(view_of(two_tiers(4, 4, 2, "each x 2"), tmp_path), 8, False)
    single = load_of_fullest_link(view_of(two_tiers(4, 4, 4), tmp_path), 8, False)
    assert found.draws == 1000 and single.draws == 0 and found.even == single.even == 1
    assert found.mean > single.mean * Fraction(95, 100)
