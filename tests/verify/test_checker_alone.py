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
