"""What each check states of itself: when it is judged, of what, and what a requirement may add to it."""

from __future__ import annotations

import pytest

from tdsl.prove.view import View
from tdsl.verify.check import Check, checks_by_name
from tests.fabrics import claim, selector, superpod

NAMES = {
    "fails_by_default": """
        rate_match connector_match rack_space rack_power rack_weight cable_length cage_fit twin_port tray_fill
        bend_radius loss_budget reachability plane_isolation rail_alignment isolated port_budget name_collision
        address_overlap
    """,
    "monotone": "rate_match connector_match rack_space cable_length plane_isolation port_budget name_collision",
    "mild": "rail_alignment",
    "on_demand": """
        power optics_power cost survives blast_radius mean_hops latency allreduce throughput links cables switches
        ports all_to_all_time taper address_overlap
    """,
    "after_failures": """
        reachability edge_redundancy diameter bisection node_redundancy mean_hops latency allreduce throughput
        all_to_all_time
    """,
    "of_design": """
        rate_match connector_match rack_space rack_power rack_weight cable_length cage_fit twin_port tray_fill
        bend_radius power optics_power cost loss_budget rail_alignment isolated port_budget name_collision links
        cables switches ports address_overlap
    """,
    "of_network": """
        reachability plane_isolation rail_alignment oversubscription edge_redundancy diameter bisection survives
        node_redundancy blast_radius mean_hops latency allreduce throughput all_to_all_time taper
    """,
    "of_ends": """
        reachability edge_redundancy diameter bisection node_redundancy mean_hops latency allreduce throughput
        all_to_all_time
    """,
    "of_ports": "survives",
    "reads_of": "survives blast_radius taper",
    "in_rates": "bisection throughput",
    "scarce": "edge_redundancy bisection node_redundancy throughput",
}

COSTS = (
    """rack_space rack_power rack_weight power optics_power cost plane_isolation rail_alignment isolated oversubscription
    port_budget name_collision links cables switches ports taper""",
    """rate_match connector_match cable_length cage_fit twin_port tray_fill bend_radius loss_budget reachability diameter
    blast_radius mean_hops latency address_overlap""",
    "edge_redundancy bisection node_redundancy allreduce",
    "survives throughput all_to_all_time",
)


@pytest.mark.parametrize("attribute", NAMES)
def test_the_checks_that_have_a_property(attribute: str) -> None:
    found = {name for name, check in checks_by_name().items() if getattr(check, attribute)}
    assert found == set(NAMES[attribute].split())
    assert all(getattr(check, attribute) in (True, False) for check in checks_by_name().values())


def test_cheap_checks_come_first() -> None:
    assert {name: check.cost for name, check in checks_by_name().items()} == {
        name: cost for cost, names in enumerate(COSTS) for name in names.split()
    }


def test_a_check_without_facts_of_its_own() -> None:
    plain = (
        "fails_by_default",
        "mild",
        "monotone",
        "on_demand",
        "reads_of",
        "after_failures",
        "of_design",
        "scarce",
        "in_rates",
        "of_ends",
        "of_ports",
    )
    assert [getattr(Check, name) for name in plain] == [False] * len(plain)
    assert Check.of_network is True
    assert Check.cost == 1
    assert (Check.takes, Check.words, Check.needs, Check.reads) == (frozenset({"of"}), frozenset(), frozenset(), None)


def test_what_is_of_the_design_is_not_of_the_network_alone() -> None:
    """Unless a check says otherwise, as rail_alignment does."""
    for name, check in checks_by_name().items():
        assert check.of_network == (not check.of_design or name == "rail_alignment"), name


def test_what_the_answer_to_a_throughput_reads() -> None:
    f = superpod(units=2, spines=8).build()
    check = checks_by_name()["throughput"]
    sides = {"of": (selector(f, "su.leaf"),), "of_to": (selector(f, "spine"),)}
    cases = {
        ("all_to_all",): {"rails"},
        ("ring",): {"rails", "order"},
        ("shift", 1): {"rails", "order"},
        ("pairs.csv",): {"rails", "names"},
        ("permutation", "pairs.csv"): {"rails", "names"},
        (): {"rails", "names"},
    }
    for args, reads in cases.items():
        assert check.reads_for(claim(f, "throughput", args=args)) == reads, args
    assert check.reads_for(claim(f, "throughput", **sides)) == frozenset()
    assert checks_by_name()["latency"].reads_for(claim(f, "latency")) == {"lengths"}
    assert checks_by_name()["power"].reads_for(claim(f, "power")) is None


def test_every_check_of_a_design_without_places_applies_or_not() -> None:
    """Checks of places have nothing to judge where no device has a place, nor those of parts where no connect names one."""
    f = superpod(units=2, spines=8).build()
    apart = {name for name, check in checks_by_name().items() if not check.applies_to(f)}
    assert apart == {
        "rack_space", "rack_power", "rack_weight", "cable_length", "cage_fit", "twin_port", "tray_fill", "bend_radius",
        "loss_budget",
    }  # fmt: skip
    assert len(View.whole(f).units) > 1
