"""Sizes of tiers where a limit is met: fewer hosts than a switch holds, groups by rail, and second tiers that are too small."""

from __future__ import annotations

import pytest

from tests.semantics.test_sizes_of_tiers import fault, hosts, sizer, sizes

RAIL = "`by rail` belongs in the second tier, over a first tier without a count of switches"


@pytest.mark.parametrize("number", range(1, 9))
def test_fewer_hosts_than_a_leaf_holds(number: int) -> None:
    """One leaf holds all of them, and no more than there are."""
    s = sizer(hosts(number), ("leaf", None, 16, None, "1:1"), ("spine", None, 64, None, "1:1"))
    assert sizes(s) == [(number, 1, 1, number, number, 1), (1, 1, 1, number, 0, 1)]
    assert [text for _, text in s.notes] == [f"1 `spine` switches for 1 x {number} links: the least whose ports suffice"]


def test_links_at_the_rate_of_the_tier_below() -> None:
    """Links of 100 Gb/s into ports of 400 Gb/s: four of them are worth one link up."""
    s = sizer(
        hosts(16, rate=100), ("leaf", 4, 8, None, "1:1"), ("spine", 2, 64, None, "1:1"), ("core", None, 64, None, "1:1"),
        leaf={"port_rate": 100},
    )  # fmt: skip
    assert sizes(s) == [(4, 4, 1, 4, 4, 1), (2, 2, 1, 8, 2, 1), (2, 1, 1, 4, 0, 1)]


def test_a_core_above_rails_that_meets_a_part_only() -> None:
    """Links up of the switches of one rail, against all switches of the core."""
    s = sizer(
        hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 32, None, "1:1"), ("core", None, 64, 128, "1:1"),
        spine={"by_rail": True},
    )  # fmt: skip
    assert sizes(s) == [(16, 4, 8, 16, 16, 1), (4, 1, 32, 16, 16, 8), (1, 1, 128, 4, 0, 1)]
    assert [(above.name, below.name, what, mend) for above, below, what, mend in s.partial()] == [
        ("core", "spine",
         "the switches of a `spine` are connected to 64 of the 128 `core` switches, so two of them share few or none, "
         "and the ratio does not determine the bisection", "have 64 `core` switches at most"),
    ]  # fmt: skip
    for core in (32, 64):
        s = sizer(
            hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 32, None, "1:1"), ("core", None, 64, core, "1:1"),
            spine={"by_rail": True},
        )  # fmt: skip
        s.run()
        assert list(s.partial()) == []


@pytest.mark.parametrize(("count", "rails", "pods"), [(16, 8, 0), (None, 8, 4)])
def test_groups_by_rail_need_one_switch_a_rail(count: int | None, rails: int, pods: int) -> None:
    """And no pods."""
    s = sizer(
        hosts(64, 8, rails, pods), ("leaf", 16, 32, count, "1:1"), ("spine", None, 64, None, "1:1"), spine={"by_rail": True}
    )  # fmt: skip
    said = "`spine` is grouped by rail, so `leaf` below it has one switch a rail"
    assert fault(s) == ("E0120", "spine", said, RAIL, [], [])


def test_a_third_tier_by_rail() -> None:
    s = sizer(
        hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", 4, 64, None, "1:1"), ("core", None, 64, None, "1:1"),
        core={"by_rail": True},
    )  # fmt: skip
    said = "`core` is grouped by rail, so `spine` below it has one switch a rail"
    assert fault(s)[:4] == ("E0120", "core", said, RAIL)


def test_groups_by_rail_contain_all_below() -> None:
    s = sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", 2, 64, None, "1:1"), ("core", None, 64, None, "1:1"),
              spine={"by_rail": True})  # fmt: skip
    said = "`spine` is grouped by rail and contains all `leaf`"
    assert fault(s)[:4] == ("E0120", "spine", said, "write `tier spine of ? leaf by rail`")


def test_spines_that_no_two_leaves_have_in_common() -> None:
    """Two leaves of one link each in a group: four ports of a spine meet four of eight leaves, whatever the number of spines."""
    s = sizer(hosts(4, 2), ("leaf", 1, 2, 2, "1:1"), ("spine", None, 4, None, "1:1"))
    assert fault(s) == (
        "E0459", "spine", "4 hosts make 8 `leaf` switches, and a `spine` switch has 4 ports for them",
        "add a third tier above `spine`, or have a model with more ports, or 2 hosts",
        ["two tiers of 4-port switches hold at most 2 hosts at 1:1"], ["hosts: the hosts"],
    )  # fmt: skip


def test_spines_that_reach_too_few_leaves() -> None:
    """One link up of each of twenty leaves, and spines of eight ports."""
    s = sizer(hosts(20), ("leaf", 1, 2, None, "1:1"), ("spine", None, 8, None, "1:1"))
    code, at, message, help, notes, labels = fault(s)
    assert (code, at, labels) == ("E0459", "spine", ["hosts: the hosts"])
    assert message == "20 hosts make 20 `leaf` switches, and from one of them 1 `spine` switches with 8 ports reach 8 at most"
    assert notes == ["two tiers of 8-port switches hold at most 8 hosts at 1:1"]
    assert help.endswith(", or have a model with more ports, or 8 hosts")


@pytest.mark.parametrize(("count", "near"), [(9, 8), (17, 16), (3, 8)])
def test_switches_that_rails_do_not_divide(count: int, near: int) -> None:
    s = sizer(hosts(64, 8, 8), ("leaf", 16, 32, None, "1:1"), ("spine", None, 64, count, "1:1"), spine={"by_rail": True})
    said = f"{count} `spine` switches cannot be divided evenly among 8 rails"
    assert fault(s)[:4] == ("E0459", "spine", said, f"write `x {near}`, or no count")


@pytest.mark.parametrize(
    ("number", "pods", "per", "said", "fill"),
    [
        (8, 0, 2, "8 hosts make 8 `leaf`: they cannot be divided into one `spine` of 2", 2),
        (2, 0, 1, "2 hosts make 2 `leaf`: they cannot be divided into one `spine` of 1", 1),
        (8, 0, 3, "8 hosts make 8 `leaf`: they cannot be divided into one `spine` of 3", 3),
    ],
)
def test_leaves_that_one_spine_group_does_not_hold(number: int, pods: int, per: int, said: str, fill: int) -> None:
    s = sizer(hosts(number, 1, 1, pods), ("leaf", 1, 2, None, "1:1"), ("spine", per, 8, None, "1:1"))
    assert fault(s)[:4] == ("E0459", "spine", said, f"`hosts n of {fill} x …` plans {fill} hosts and builds n of them")


@pytest.mark.parametrize(("number", "pods", "fits"), [(8, 4, True), (9, 4, False), (8, 1, True), (7, 3, False)])
def test_hosts_in_equal_pods(number: int, pods: int, fits: bool) -> None:
    s = sizer(hosts(number, 1, 1, pods), ("leaf", None, 16, None, "1:1"), ("spine", None, 64, None, "1:1"))
    if fits:
        assert sizes(s)[0] == (number // pods, pods, 1, number // pods, number // pods, 1)
    else:
        assert fault(s)[:3] == ("E0459", "hosts", f"{number} hosts cannot be cut into {pods} equal pods")
