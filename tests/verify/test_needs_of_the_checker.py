"""What the checker needs, one by one: a forged certificate for each, told why it is rejected, and the honest one beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tdsl.certificates import checker
from tests.verify.test_checker_alone import certificate, fabric

HOSTS, SWITCHES = ["h1", "h2", "h3", "h4"], ["s1", "s2"]
ACCESS = [("h1", "s1"), ("h2", "s1"), ("h3", "s2"), ("h4", "s2")]
TRUNK = ("s1", "s2")
ORDER = [["h1"], ["h2"], ["s1"], ["s2"], ["h3"], ["h4"]]


def rejected(stated: dict[str, Any], made: dict[str, Any], why: str) -> None:
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(stated, made)


def two(trunks: int) -> dict[str, Any]:
    """Two switches with two hosts each and so many links between them."""
    return fabric(HOSTS, SWITCHES, [*ACCESS, *[TRUNK] * trunks])


def test_what_a_bisection_needs() -> None:
    made = two(2)
    stated = certificate(
        "bisection", units=4, lower_bps=200, upper_bps=200, cut=["h1", "h2", "s1"],
        lower={"by": "splits", "parts": [{"least": 2, "order": ORDER}]},
    )  # fmt: skip
    checker.verify(stated, made)
    rejected(stated | {"cut": ["h1"], "lower_bps": 100, "upper_bps": 100}, made, "the split is not balanced")
    rejected(stated | {"cut": [*stated["cut"], "x"]}, made, "the cut names what does not count")
    rejected(stated | {"upper_bps": 100}, made, "other links cross the cut")
    rejected(stated | {"lower_bps": 300}, made, "the proof shows 200 bit/s")
    odd = fabric(HOSTS[:3], SWITCHES, [*ACCESS[:3], TRUNK])
    third = {
        "units": 3,
        "lower_bps": 100,
        "upper_bps": 100,
        "lower": {"by": "splits", "parts": [{"least": 1, "order": ORDER[:5]}]},
    }
    checker.verify(stated | third, odd)

    def lower(**proof: Any) -> dict[str, Any]:
        return stated | {"lower_bps": 0, "lower": proof}

    for order in (ORDER[1:], [*ORDER, ["x"]]):
        rejected(lower(by="splits", parts=[{"least": 0, "order": order}]), made, "an order misses units, or names what")
    one = {"hubs": ["s1"], "shares": {"s2": {"s1": "1"}}}
    checker.verify(stated | {"lower": {"by": "shares", "parts": [one]}, "lower_bps": 200}, made)
    rejected(lower(by="shares", parts=[{"hubs": ["s1"], "shares": {}}] * 2), made, "two parts share a node")
    rejected(lower(by="shares", parts=[one, {"hubs": ["s2"], "shares": {}}]), made, "two parts share a node")
    rejected(lower(by="shares", parts=[one | {"shares": {"s2": {"s1": "3/2"}}}]), made, "shares of s2 are more than one")
    for link in (["h1", "s1", 100], ["s1", "s1", 100], ["s1", "s2", 150], ["s1", "x", 100]):
        rejected(lower(by="shares", parts=[one], restored=[link]), made, "no link to restore")
    route = {"by": "lengths", "share": 1, "parts": 1, "lengths": []}
    rejected(lower(by="routes", routes=[route], hubs={"x": 1}), made, "a hub does not forward")


def rate(value: int | str, route: dict[str, Any] | None = None, **change: Any) -> dict[str, Any]:
    """All to all of four hosts; along shortest paths where no route is given."""
    routes = [route or {"by": "lengths", "share": 1, "parts": 5040, "lengths": []}]
    whole = {"lower_bps": value, "upper_bps": "100/3", "lower": {"routes": routes}, "upper": {"lengths": []}} | change
    return certificate("throughput", **({"pattern": "all_to_all", "units": 4} | whole))


def test_what_all_to_all_needs() -> None:
    checker.verify(rate("100/3"), two(2))
    checker.verify(rate(25), two(1))
    rejected(rate("100/3"), two(1), "the proofs show 25 and")  # each host sends to two over the link of 100
    rejected(rate("100/3"), two(0), "a target is not reached")
    rejected(rate(0, lower={"routes": []}), two(2), "nothing flows")
    rejected(rate(0, {"by": "lengths", "share": 1, "parts": 1, "lengths": [["h1", "s2", 1]]}), two(2), "h1 and s2 are not linked")
    rejected(rate(0, upper={"lengths": [["h1", "s2", 1]]}), two(2), "h1 and s2 are not linked")
    rejected(rate(0, pattern="all"), two(2), "there is no such pattern")
    rejected(rate(0, pattern="all_to_all by rail"), two(2) | {"devices": spaced()}, "a device has the name of a rail")


def spaced() -> dict[str, Any]:
    """The devices of ``two``, and a host with a space in its name."""
    out: dict[str, Any] = two(2)["devices"]
    out["rows"].append(["s1 rail 0", "other", "switch", *out["rows"][-1][3:]])
    return out


def test_a_flow_that_is_divided_is_sent_whole() -> None:
    """Three ways of 100 bit/s between two hosts; of 4 parts the first takes two."""
    made = fabric(["h1", "h2"], ["s1", "s2", "s3"], [(h, s) for h in ("h1", "h2") for s in ("s1", "s2", "s3")])
    route = {"by": "lengths", "share": 1, "parts": 4, "lengths": []}
    both = {"units": 2, "upper_bps": 300}
    checker.verify(rate(200, route, **both), made)
    rejected(rate(300, route, **both), made, "the proofs show 200 and 300")
    checker.verify(rate(300, route | {"parts": 3}, **both), made)


def asked(demands: list[Any], value: int, flows: Any = None, **change: Any) -> dict[str, Any]:
    """Demands of a list over flows in one part, or as ``change`` says."""
    route = {"by": "flows", "share": 1, "parts": 1, "flows": flows}
    ends = {"lower": {"routes": [route]}, "upper": {"lengths": []}}
    whole = {"pattern": "file", "units": 4, "demands": demands, "lower_bps": value, "upper_bps": value} | ends | change
    return certificate("throughput", **whole)


def test_what_a_list_of_demands_needs() -> None:
    made, way = two(1), [["h1", "s1", 1], ["s1", "s2", 1], ["s2", "h3", 1]]
    one = [["h1", "h3", 1]]
    checker.verify(asked(one, 100, {"h1": way}), made)
    rejected(asked(one, 100, {"h1": [["h1", "s2", 1], way[2]]}), made, "h1 and s2 are not linked")
    for flow in (way[:2], way[1:], [*way, way[0]], [way[0], way[2]]):
        rejected(asked(one, 100, {"h1": flow}), made, "the demand of h1 does not arrive")
    for flows in ({}, {"h1": way, "h2": []}):
        rejected(asked(one, 100, flows), made, "other sources send")
    rejected(asked(one * 2, 100, {"h1": way}), made, "a demand is stated twice")
    rejected(asked([["s1", "h3", 1]], 100, {"s1": way[1:]}), made, "a demand is not between units")
    rejected(asked([["h1", "h1", 1]], 100, {"h1": way}), made, "not between two that have links")
    alone = fabric([*HOSTS, "h5"], SWITCHES, [*ACCESS, TRUNK])
    rejected(asked([["h1", "h5", 1]], 100, {"h1": []}, units=5), alone, "not between two that have links")
    through = fabric(HOSTS, SWITCHES, [*ACCESS, ("h2", "s2")])
    flow = [["h1", "s1", 1], ["s1", "h2", 1], ["h2", "s2", 1], ["s2", "h3", 1]]
    rejected(asked(one, 100, {"h1": flow}), through, "h2 does not forward")


def test_what_a_host_receives_is_limited_by_its_ports() -> None:
    """Two hosts send to a third with one port; and two to two over one link, by way of a hub."""
    made = two(2)
    flows = {"h1": [["h1", "s1", 1], ["s1", "s2", 1], ["s2", "h3", 1]]}  # what h4 sends stays below its switch
    checker.verify(asked([["h1", "h3", 1], ["h4", "h3", 1]], 100, flows), made)
    hub = {"lower": {"routes": [{"by": "hubs", "share": 1, "parts": 1, "hubs": {"s1": 1}}]}}
    pairs = [["h1", "h3", 1], ["h2", "h4", 1]]
    checker.verify(asked(pairs, 200, **hub), made)
    checker.verify(asked(pairs, 200, **hub, lower_bps=100), two(1))
    rejected(asked(pairs, 200, **hub), two(1), "the proofs show 100 and 200")


def railed(rails: list[int | None], hosts: list[str]) -> dict[str, Any]:
    """Hosts on one switch, one link each, of these rails."""
    made = fabric(hosts, ["s1"], [(h, "s1") for h, _ in zip(hosts, rails, strict=False)])
    for row, rail in zip(made["links"]["rows"], rails, strict=True):
        row[made["links"]["columns"].index("rail")] = rail
    return made


def test_what_rails_need() -> None:
    checker.verify(rate(50, pattern="all_to_all by rail", units=3, upper_bps=50), railed([0, 0, 0], HOSTS[:3]))
    rejected(rate(0, pattern="all_to_all by rail", units=4), railed([0, 0, 0], HOSTS), "a unit has no link")
    rejected(rate(0, pattern="shift 1 by rail", units=2), railed([0, 1], HOSTS[:2]), "have no rail in common")


def test_what_sets_need() -> None:
    made, ends = two(1), [["all from", "s1", 1], ["s1", "s2", 1], ["s2", "all to", 1]]

    def between(one: list[str], other: list[str]) -> dict[str, Any]:
        route = {"by": "flows", "share": 1, "parts": 100, "flows": {"all from": [[a, b, x * 100] for a, b, x in ends]}}
        return certificate(
            "throughput", pattern="between", **{"from": one, "to": other}, lower_bps=0, upper_bps=10**6,
            lower={"routes": [route]}, upper={"lengths": []},
        )  # fmt: skip

    checker.verify(between(["h1"], ["h3"]), made)
    for one, other in (([], ["h3"]), (["h1"], []), (["h1"], ["h1", "h3"]), (["h1", "x"], ["h3"]), (["h1"], ["h3", "x"])):
        rejected(between(one, other), made, "a set is empty or unknown, or both overlap")
    rejected(between(["h1"], ["h3"]), made | {"devices": spaced()}, "a device has the name of a rail or a set")


def test_what_reachability_needs() -> None:
    whole = certificate("reachability", units=4, holds=True)
    checker.verify(whole, two(1))
    rejected(whole | {"units": 3}, two(1), "the number of units is another")
    rejected(whole, two(0), "some units do not reach each other")
    rejected(whole | {"units": 5}, fabric([*HOSTS, "h5"], SWITCHES, [*ACCESS, TRUNK]), "a unit has no link")
    pair = fabric(["h1", "h2"], SWITCHES, [("h1", "s1"), ("h2", "s2")])
    checker.verify(certificate("reachability", units=2, holds=False, apart=["h1", "h2"]), pair)
    checker.verify(certificate("reachability", units=2, holds=True), fabric(["h1", "h2"], [], [("h1", "h2")]))
    line = fabric(HOSTS[:3], SWITCHES, [("h1", "s1"), ("h2", "s1"), ("h2", "s2"), ("h3", "s2")])
    rejected(whole | {"units": 3}, line, "some units do not reach each other")
    apart = certificate("reachability", units=4, holds=False, apart=["h1", "h3"])
    checker.verify(apart, two(0))
    rejected(apart, two(1), "h1 and h3 reach each other")
    for pair in (["h1", "h1"], ["h1", "s2"], ["h1", "x"], ["s1", "s2"]):
        rejected(apart | {"apart": pair}, two(0), "these are not two units")


def test_what_counted_figures_need() -> None:
    alone = fabric(["h1", "h2"], SWITCHES, [("h1", "s1"), ("h2", "s2")])
    rejected(certificate("mean_hops", value=0), alone, "no two units reach each other")
    single = fabric(["h1"], ["s1"], [("h1", "s1")])
    for check in ("edge_redundancy", "node_redundancy"):
        rejected(certificate(check, value=1), single, "there are no two units")
    swapped = certificate("diameter", value=1, symmetries=[{"h1": "s1", "s1": "h1"}])
    rejected(swapped, two(1), "a symmetry exchanges different nodes")
    loop = fabric(["h1", "h2"], SWITCHES, [("h1", "s1"), ("h2", "s1"), ("s1", "s1")])
    rejected(certificate("diameter", value=0), loop, "a link joins a device to itself")


def tiers(links: list[tuple[str, str]]) -> dict[str, Any]:
    """Two hosts on each of two leaves, and a spine, with these links between switches."""
    made = fabric(HOSTS, ["s1", "s2", "t1"], [*ACCESS, *links])
    for row in made["devices"]["rows"][4:]:
        row[made["devices"]["columns"].index("tier")] = 2 if row[0] == "t1" else 1
    return made


def test_what_oversubscription_needs() -> None:
    stated, both = certificate("oversubscription", value=2), [("s1", "t1"), ("s2", "t1")]
    checker.verify(stated, tiers(both))
    checker.verify(stated, tiers([*both, ("s1", "s2")]))
    rejected(stated, tiers(both[:1]), "a switch has no link above")
    made = tiers(both)
    made["planned_links"]["rows"] = [["s1", 0, 100, 3], ["s2", 1, 100, 50], ["s2", None, 100, 50]]
    checker.verify(stated | {"value": 5}, made)
    rejected(stated, made, "it is 5")
    chips = fabric(["c1", "c2"], ["s1"], [("c1", "c2"), ("c1", "s1")])
    for row in chips["devices"]["rows"][:2]:
        row[chips["devices"]["columns"].index("kind")] = "chip"
    rejected(stated, chips, "the fabric has no tiers")


def failing(cases: list[Any], **change: Any) -> dict[str, Any]:
    whole = {"of": ["s"], "count": 1, "condition": {"check": "reachability"}, "symmetries": [], "cases": cases} | change
    return certificate("survives", **whole)


def case(*failed: str, units: int = 2) -> dict[str, Any]:
    return {"failed": list(failed), "left": {"check": "reachability", "units": units, "holds": True}}


def test_what_a_failure_needs() -> None:
    """Two hosts on three switches each."""
    switches = ["s1", "s2", "s3"]
    made = fabric(["h1", "h2"], switches, [(h, s) for h in ("h1", "h2") for s in switches])
    every, turned = [case(f"s[{i}]") for i in (1, 2, 3)], [{"s1": "s2", "s2": "s1"}]
    checker.verify(failing(every), made)
    checker.verify(failing(every[1:], symmetries=turned), made)
    rejected(failing(every[:1], symmetries=turned), made, "a failure is not covered")
    rejected(failing(every, count=4), made, "fewer elements than fail")
    rejected(failing([*every, case("s[1]", "s[2]")]), made, "a case is of others")
    rejected(failing(every[:1], of=["s[1]"], symmetries=turned), made, "a symmetry leads out of the elements")
    rejected(failing([case("h[1]", units=1)], of=["h"]), made, "a case leaves no pair")
    cut = fabric(["h1", "h2"], ["s1", "s2"], [("h1", "s1"), ("h2", "s1"), ("h2", "s2")])
    apart = {"check": "reachability", "units": 2, "holds": False, "apart": ["h1", "h2"]}
    rejected(failing([{"failed": ["s[1]"], "left": apart}], of=["s[1]"]), cut, "a case leaves no pair")
    cut = fabric(["h1", "h2"], switches, [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h2", "s3")])
    rejected(failing([{"failed": ["s[1]"], "left": apart}], of=["s[1]"]), cut, "a case fails")
    distance = {"check": "diameter", "value": 0}
    share = {"check": "diameter", "op": "<=", "value": 1, "share": "left"}
    cases = [one | {"left": distance} for one in every]
    checker.verify(failing(cases, condition=share | {"share": None}), made)
    rejected(failing(cases, condition=share), made, "there is no share of such a figure")
    for row in made["links"]["rows"][:2]:
        row[made["links"]["columns"].index("cable_id")] = "c"
    rejected(failing([case("cable c")], of=["h"], what="cables", symmetries=turned), made, "a symmetry of sets of links")
    checker.verify(failing([case("cable c")], of=["h"], what="cables"), made)


OPERATORS = [
    (">=", 200, 201), (">", 199, 200), ("<=", 200, 199), ("<", 201, 200), ("==", 200, 199), ("==", 200, 201),
]  # fmt: skip


def halves(op: str, value: int | str, share: str | None = None, **change: Any) -> dict[str, Any]:
    """After one of three switches fails: two links of two hosts, 200 bit/s of the 300 that a host had."""
    cases = []
    for failed, left in ((1, (2, 3)), (2, (1, 3)), (3, (1, 2))):
        order = [["h1"], *([f"s{i}"] for i in left), ["h2"]]
        cut = {"check": "bisection", "units": 2, "lower_bps": 200, "upper_bps": 200, "cut": ["h1"]}
        lower = {"by": "splits", "parts": [{"least": 2, "order": order}]}
        cases.append({"failed": [f"s[{failed}]"], "left": cut | {"lower": lower}})
    condition = {"check": "bisection", "op": op, "value": value, "share": share}
    return failing(cases, **({"condition": condition} | change))


def three() -> dict[str, Any]:
    return fabric(["h1", "h2"], ["s1", "s2", "s3"], [(h, s) for h in ("h1", "h2") for s in ("s1", "s2", "s3")])


@pytest.mark.parametrize(("op", "holds", "fails"), OPERATORS)
def test_what_is_left_is_compared_as_the_condition_says(op: str, holds: int, fails: int) -> None:
    checker.verify(halves(op, holds), three())
    rejected(halves(op, fails), three(), "a case fails")


def test_shares_are_of_what_half_of_the_hosts_inject_then_or_before() -> None:
    for share, holds, fails in (("intact", "2/3", "67/100"), ("left", 1, "101/100")):
        checker.verify(halves(">=", holds, share), three())
        rejected(halves(">=", fails, share), three(), "a case fails")


def test_a_case_is_about_what_is_asked() -> None:
    rejected(halves(">=", 1, condition={"check": "reachability"}), three(), "a case is about something else")


def test_a_symmetry_of_failures_keeps_the_links() -> None:
    """Without s1 the hosts are apart, which s2, with one link, does not show."""
    made = fabric(["h1", "h2"], ["s1", "s2", "s3"], [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h1", "s3")])
    stated = failing([case("s[2]")], of=["s[2]", "s[3]"], symmetries=[{"s2": "s3", "s3": "s2"}])
    checker.verify(stated, made)
    forged = failing([case("s[2]")], of=["s[1]", "s[2]"], symmetries=[{"s1": "s2", "s2": "s1"}])
    rejected(forged, made, "a symmetry changes the links")
