"""Scale-up domains as endpoints: demands, loads, and what goes through them.

Random designs of the kind ``domains`` (tests/soundness) judge every figure by one linear program over both layers.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tdsl.compile.compiler import Compilation, compile_and_verify
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.symmetry import permutation_keeps_view
from tdsl.prove.view import View
from tests.harness import compile_text
from tests.tables import sections

NETWORK = (
    "reachability", "reachability of ports", "bisection", "diameter", "edge_redundancy", "node_redundancy", "oversubscription",
    "mean_hops", "rail_alignment", "survives any 1 of spine with bisection >= 50%", "survives any 1 of tray",
    "blast_radius of leaf", "throughput rail_allreduce", "throughput of rack[0] to rack[1]",
)  # fmt: skip
SCALEUP = "connect tray[t].gpu[g].nv to xbar { layer scaleup; medium backplane }"
PAIR = sections(__file__)["pair"]
SPINES = "switch spine[2]: SW16; connect leaf[*] to spine[*] spread x 2"
APART = """switch own: XBAR; connect tray[(0)].gpu[g].nv to own {{ layer scaleup }}
    connect tray[t].gpu[g].nv to xbar where t > 0 {{ layer scaleup }}
    connect own to xbar x {links} {{ layer scaleup }}"""
"""One tray on a switch of its own, joined to that of the others."""


def racks(folder: Path, *claims: str, rate: int = 3600, scaleup: str = SCALEUP, spines: str = SPINES, **more: Any) -> Compilation:
    body = "\n  ".join(f"report {c}" for c in claims)
    text = PAIR.format(rate=rate, scaleup=scaleup, spines=spines, claims=body)
    return compile_text(text, folder, models=False, **more)


def errors(made: Compilation) -> list[Diagnostic]:
    return [d for d in made.findings if d.severity is Severity.ERROR]


def answers(folder: Path, *claims: str, **given: Any) -> dict[str, Any]:
    made = racks(folder, *claims, **given)
    assert not errors(made), made.findings
    return {r.requirement: r for r in made.designs[0].results if r.requirement}


def test_metrics_of_the_network_are_those_of_a_fabric_without_the_other_links(tmp_path: Path) -> None:
    both, alone = (answers(tmp_path, *NETWORK, scaleup=said) for said in (SCALEUP, "omit xbar"))
    for claim in NETWORK:
        one, other = both[claim], alone[claim]
        assert (one.status, one.value, one.lower, one.upper) == (other.status, other.value, other.lower, other.upper), claim


def test_domains_without_a_common_switch_redistribute_in_two_steps(tmp_path: Path) -> None:
    fabric = racks(tmp_path, scaleup=APART.format(links=4)).designs[0].fabric
    assert fabric is not None
    view = ByDomain.of(View.whole(fabric.network))
    assert view.sizes.tolist() == [3, 3]
    assert view.carried(None, Fraction(10**9)) == 1
    load = (Fraction(5 * 10**14, 18) + 800 * 10**9) / 2  # of an accelerator; a pair of six has a fifth of 3.6 Tbit/s
    assert view.carried(None, Fraction(10**14)) == Fraction(3600 * 10**9, 5) * 6 / 2 / load
    one = TrafficDemand(np.array([0]), np.array([3]), np.array([1]))  # one tray sends all, to another domain: it is the busiest
    busy = (Fraction(10**14) + 800 * 10**9) / 2
    assert view.carried(one, Fraction(10**14)) == Fraction(3600 * 10**9, 5) * 6 / 2 / busy
    no_work = ByDomain.of(View.whole(fabric.network, replace(DEFAULT, judged_domains=0)))
    assert no_work.carried(None, Fraction(10**9)) == 0


def test_rails_and_domains_of_the_standard_design() -> None:
    made = compile_and_verify("gb200_su")
    fabric = made.designs[0].fabric
    assert fabric is not None and not errors(made)
    assert fabric.domains.count == 8
    hosts = np.flatnonzero(fabric.kind == "host")
    assert np.bincount(fabric.domains.of_device[hosts]).tolist() == [18] * 8
    assert set(fabric.domains.accelerator_bps.tolist()) == {18 * 400 * 10**9}


def test_hosts_of_two_domains_are_not_exchanged_where_domains_are_read(tmp_path: Path) -> None:
    """The trays of two racks have the same links to the network; those of one rack are in one domain."""
    fabric = racks(tmp_path).designs[0].fabric
    assert fabric is not None
    view = View.whole(fabric.network)
    place = {view.fabric.device_path(d): d for d in range(view.fabric.device_count)}
    one = "rack[0].tray[0]"
    for two, kept in (("rack[0].tray[1]", True), ("rack[1].tray[0]", False)):
        image = np.arange(view.fabric.device_count)
        for gpu in ("", ".gpu[0]", ".gpu[1]"):
            if one + gpu in place:
                image[[place[one + gpu], place[two + gpu]]] = place[two + gpu], place[one + gpu]
        assert permutation_keeps_view(view, image) and permutation_keeps_view(view, image, frozenset({"domains"})) is kept
