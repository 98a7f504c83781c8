"""The checker on fabrics written by hand: links inside of a set, and the limit of work of a certificate about failures."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest

from tdsl.certificates import checker

COLUMNS = {name: list(columns) for name, columns in checker.TABLES.items()}


def fabric(hosts: list[str], switches: list[str], links: list[tuple[str, str]], rate: int = 100) -> dict[str, Any]:
    """A fabric.json of hosts and switches; the number at the end of a name is an index."""
    path = {d: f"{d.rstrip('0123456789')}[{d.lstrip('abcdefghijklmnopqrstuvwxyz')}]" for d in (*hosts, *switches)}
    devices = [
        [d, path[d], kind, None, "M", None, None, None] for kind, names in (("host", hosts), ("switch", switches)) for d in names
    ]
    wired = [[a, b, rate, None, None, f"p{i}", f"p{i}", None, None, None, None, None] for i, (a, b) in enumerate(links)]
    rows = {"devices": devices, "links": wired, "planned_links": []}
    return {"schema": 1, "fabric": "f"} | {name: {"columns": COLUMNS[name], "rows": rows[name]} for name in rows}


def certificate(check: str, **fields: Any) -> dict[str, Any]:
    return {"schema": checker.SCHEMA, "fabric": "f", "check": check, **fields}


def test_links_inside_of_a_set_carry_nothing_to_the_other() -> None:
    """Two hosts with a link between them send to a third: what their ports to the switch carry is the most."""
    made = fabric(["a1", "b1", "c1"], ["s1"], [("a1", "b1"), ("a1", "s1"), ("b1", "s1"), *[("c1", "s1")] * 3])
    flow = [["all from", "s1", 2], ["s1", "all to", 2]]
    routes = [{"by": "flows", "share": 1, "parts": 2, "flows": {"all from": flow}}]
    stated = certificate(
        "throughput", pattern="between", **{"from": ["a1", "b1"], "to": ["c1"]}, lower_bps=200, upper_bps=200,
        lower={"routes": routes}, upper={"lengths": []},
    )  # fmt: skip
    checker.verify(stated, made)
    for more in ({"lower_bps": 201}, {"upper_bps": 199}):
        with pytest.raises(checker.Rejected, match="the proofs show"):
            checker.verify(stated | more, made)


def test_all_sets_of_failures_are_counted_before_they_are_made() -> None:
    """40 switches of which any 3 fail, with two symmetries: three times 10,700 sets are too much for 30,000 steps."""
    switches = [f"s{i}" for i in range(40)]
    made = fabric(["a1", "a2"], switches, [(h, s) for h in ("a1", "a2") for s in switches])
    stated = certificate(
        "survives", of=["s"], count=3, condition={"check": "reachability"}, cases=[],
        symmetries=[{"s0": "s1", "s1": "s0"}, {"s2": "s3", "s3": "s2"}],
    )  # fmt: skip
    sets = 3 * sum(comb(40, size) for size in (1, 2, 3))
    with pytest.raises(checker.TooMuchWork):
        checker.verify(stated, made, sets)
    with pytest.raises(checker.Rejected, match="a failure is not covered"):
        checker.verify(stated, made, sets + 2000)


def test_pairs_of_kinds_are_counted_before_they_are_compared() -> None:
    """60 hosts on planes of which any two share one, but no plane has all: 3,600 pairs of kinds."""
    hosts = [f"h{i}" for i in range(60)]
    links = [(h, f"s{p}") for i, h in enumerate(hosts) for p in range(3) if i % 3 != p]
    links += [(h, f"s{3 + i}") for i, h in enumerate(hosts)]
    made = fabric(hosts, [f"s{i}" for i in range(63)], links)
    stated = certificate("reachability", units=60, holds=True)
    checker.verify(stated, made)
    left = next(n for n in range(100, 20_000, 100) if verified(stated, made, n))
    assert left > 3600


def verified(stated: dict[str, Any], made: dict[str, Any], steps: int) -> bool:
    try:
        checker.verify(stated, made, steps)
    except checker.TooMuchWork:
        return False
    return True


def test_hosts_with_the_same_switches_are_compared_once() -> None:
    """Paths of 60 hosts that are all alike: two stand for all."""
    hosts = [f"h{i}" for i in range(60)]
    made = fabric(hosts, ["s0", "s1"], [(h, s) for h in hosts for s in ("s0", "s1")])
    for check in ("node_redundancy", "edge_redundancy"):
        checker.verify(certificate(check, value=2), made, 3000)
        with pytest.raises(checker.Rejected, match="it is 2"):
            checker.verify(certificate(check, value=3), made, 3000)


def test_cables_that_share_a_link_are_no_case_of_two_that_do_not() -> None:
    """Cables of two links, and one of a single link; two of them have a link in common, so that they fail with three links."""
    made = fabric(["h1", "h2"], ["s1"], [("h1", "s1")] * 6 + [("h2", "s1")] * 6)
    names = [("c1", None), ("c1", "c2"), ("c2", None), ("c3", None), ("c3", None), ("c4", None)]
    columns = COLUMNS["links"]
    for row, (cable, far) in zip(made["links"]["rows"], names, strict=False):
        row[columns.index("cable_id")], row[columns.index("far_cable_id")] = cable, far
    after = {3: ["cable c1", "cable c2"], 2: ["cable c1", "cable c3"]}

    def case(links: int, *failed: str) -> dict[str, Any]:
        low = {"by": "splits", "parts": [{"least": links, "order": [["h1"], ["s1"], ["h2"]]}]}
        left = {"check": "bisection", "units": 2, "lower_bps": 100 * links, "upper_bps": 100 * links, "cut": ["h1"], "lower": low}
        return {"failed": [f"cable {c}" for c in failed], "left": left}

    every = [case(3, "c1", "c2"), case(2, "c1", "c3"), case(2, "c2", "c3"), *(case(3, c, "c4") for c in ("c1", "c2", "c3"))]
    asked = {"of": ["h[1]"], "what": "cables", "count": 2, "symmetries": []}

    def stated(value: int, cases: list[dict[str, Any]]) -> dict[str, Any]:
        condition = {"check": "bisection", "op": ">=", "value": value, "share": None}
        return certificate("survives", condition=condition, cases=cases, **asked)

    assert len(after) == 2
    checker.verify(stated(200, every), made)
    with pytest.raises(checker.Rejected, match="a case fails"):
        checker.verify(stated(300, every), made)
    for value in (200, 300):
        for less in ([every[0], *every[3:]], every[:2] + every[3:]):
            with pytest.raises(checker.Rejected):
                checker.verify(stated(value, less), made)


@pytest.mark.parametrize("field", ["share", "parts", "lengths"])
def test_the_least_share_part_and_length_are_one(field: str) -> None:
    made = fabric(["h1", "h2"], ["s1"], [("h1", "s1"), ("h2", "s1")])
    route: dict[str, Any] = {"by": "lengths", "share": 1, "parts": 1, "lengths": [["h1", "s1", 1], ["s1", "h2", 1]]}

    def stated(one: dict[str, Any]) -> dict[str, Any]:
        bounds = {"lower_bps": 100, "upper_bps": 100, "lower": {"routes": [one]}, "upper": {"lengths": []}}
        return certificate("throughput", pattern="all_to_all", units=2, **bounds)

    checker.verify(stated(route), made)
    with pytest.raises(checker.Rejected, match="an integer of at least 1"):
        checker.verify(stated(route | {field: [["h1", "s1", 0]] if field == "lengths" else 0}), made)
