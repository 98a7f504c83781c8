"""Requirements that cannot be judged: each message with its fix, word for word; and figures set against a requirement."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.claims import Selector
from tdsl.semantics.quantity import LENGTH, MASS, MONEY, NONE, POWER, RATE, SIZE, TIME, Quantity
from tdsl.verify.check import Judgement, PropertyFault, checks_by_name
from tdsl.verify.compare import (
    index_of_worst_judgement,
    judgement_for_claim,
    judgement_in_claim_unit,
    unknown_metric_error,
    verdict_of_bounds,
    why_claim_is_malformed,
)
from tests.fabrics import claim, selector, superpod

FABRIC = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, uplinks=2, manager=False).build()
LEAF, SPINE, NODE = ((selector(FABRIC, path),) for path in ("leaf", "spine", "node"))
NAMED = (Selector("leaf[*].p[1..2]", "switch", LEAF[0].elements, ports=True, port_rows=np.zeros(0, dtype=np.int64)),)
PORTS = (Selector("ports", "ports", ()),)
GONE = (Selector("gone[*]", "switch", ()),)
SET_OF_THAT_NAME = (Selector("ports", "switch", LEAF[0].elements),)


def q(amount: object, dim: Any) -> Quantity:
    return Quantity(Fraction(amount), dim)  # type: ignore[arg-type]


def said(metric: str, op: str, value: object, given: dict[str, Any]) -> tuple[str, str] | None:
    """The message and the fix."""
    given = {**given}
    active = given.pop("of_active", False)
    asked = replace(claim(FABRIC, metric, op, value, **given), of_active=active)
    return why_claim_is_malformed(asked, checks_by_name()[metric])


AFTER = (
    "metrics that can be asked after failures: all_to_all_time, allreduce, bisection, diameter, edge_redundancy, latency, "
    "mean_hops, node_redundancy, reachability, throughput"
)
CASES: list[tuple[str, str, object, dict[str, Any], tuple[str, str] | None]] = [
    ("diameter", "<=", q(3, LENGTH), {}, ("`diameter` is a number of links, and 3m is a length", "`diameter <= 4`")),
    ("diameter", "", None, {}, ("`diameter` is a number: say what it must be", "`diameter <= 4`")),
    ("diameter", "<=", "two", {}, ("`diameter` is a number of links, and 'two' is none", "`diameter <= 4`")),
    ("diameter", "<=", True, {}, ("`diameter` is a number of links, and True is none", "`diameter <= 4`")),
    ("diameter", "<=", q(2, NONE), {}, None),
    ("diameter", "<=", 2, {"at": LEAF}, ("`diameter` takes no `at`", "it takes `of`")),
    ("diameter", "<=", 2, {"under": "minhop"}, ("`diameter` takes no `under`", "it takes `of`")),
    ("diameter", "<=", 2, {"of_to": LEAF}, ("`diameter` takes no `to`", "it takes `of`")),
    ("diameter", "<=", 2, {"of_intact": True}, ("`diameter` takes no `of intact`", "it takes `of`")),
    ("diameter", "<=", 2, {"of_active": True}, ("`diameter` takes no `of active`", "it takes `of`")),
    ("diameter", "<=", 2, {"share_of": "network"}, ("`diameter` takes no `of network`", "it takes `of`")),
    ("diameter", "<=", 2, {"of": PORTS}, ("`diameter` takes no `of ports`", "it takes `of`")),
    ("diameter", "<=", 2, {"given": claim(FABRIC, "reachability")}, ("`diameter` takes no `with`", "it takes `of`")),
    ("links", ">=", 2, {"args": (1,)}, ("`links` takes no `argument`", "it takes `of`, `to`")),
    ("links", ">=", 2, {"any_count": 0}, ("`links` takes no `any`", "it takes `of`, `to`")),
    ("links", ">=", q(2, RATE), {}, ("`links` is a number of links, and 2bps is a rate", "`links <= 4`")),
    ("switches", "", None, {}, ("`switches` is a number: say what it must be", "`switches <= 4`")),
    ("reachability", "==", 1, {}, ("`reachability` is yes or no and takes no comparison", "write `reachability` alone")),
    ("reachability", "", None, {}, None),
    (
        "reachability",
        "",
        None,
        {"through": "wifi"},
        (
            "there is no layer `wifi` to go through",
            "figures are of the network unless they say `through scaleup`: leave it out, or write that",
        ),
    ),
    ("reachability", "", None, {"through": "scaleup"}, None),
    ("reachability", "", None, {"any_count": 2}, ("`reachability` takes no `any`", "it takes `of`, `of ports`, `through`")),
    (
        "oversubscription",
        ">=",
        q(10**9, RATE),
        {},
        ("`oversubscription` is a ratio, and 1Gbps is a rate", "`oversubscription <= 1:1`"),
    ),
    ("oversubscription", "", None, {}, ("`oversubscription` is a ratio: say what it must be", "`oversubscription <= 1:1`")),
    ("oversubscription", "<=", Fraction(7), {"at": LEAF}, None),
    ("bisection", ">=", 50, {}, ("`bisection` is a share of full, or a rate, and 50 is 5,000%", "`bisection >= 50%`")),
    ("bisection", ">=", 10, {}, ("`bisection` is a share of full, or a rate, and 10 is 1,000%", "`bisection >= 10%`")),
    ("bisection", ">=", Fraction(99, 10), {}, None),
    (
        "bisection",
        ">=",
        Fraction(25, 2),
        {},
        ("`bisection` is a share of full, or a rate, and 12.5 is 1,250%", "`bisection >= 12.5%`"),
    ),
    ("bisection", ">=", q(10**12, RATE), {}, None),
    (
        "bisection",
        ">=",
        q(1, TIME),
        {},
        ("`bisection` is a fraction of full, or a rate, and 1s is a time", "`bisection >= 100%`"),
    ),
    ("bisection", "", None, {}, ("`bisection` is a fraction of full, or a rate: say what it must be", "`bisection >= 100%`")),
    ("power", "<=", 1000, {}, ("`power` is a power, and 1000 has no unit", "`power <= 44kW`")),
    ("power", "<=", q(1000, MASS), {}, ("`power` is a power, and 1000kg is a mass", "`power <= 44kW`")),
    ("power", "<=", q(1000, POWER), {"args": ("typical",)}, None),
    (
        "power",
        "<=",
        q(1000, POWER),
        {"args": ("maximal", "typical")},
        ("`power` takes no argument `maximal`", "it takes `typical`"),
    ),
    ("power", "<=", Fraction(3, 10), {"share_of": "network"}, None),
    ("power", "<=", True, {"share_of": "network"}, ("a share of the network is a percentage", "`power <= 30% of network`")),
    ("power", "<=", q(3, POWER), {"share_of": "total"}, ("a share of the total is a percentage", "`power <= 30% of total`")),
    ("power", "<=", q(Fraction(3, 10), NONE), {"share_of": "total"}, None),
    (
        "rack_power",
        "<=",
        q(1, POWER),
        {"args": ("per_rack",)},
        ("`rack_power` takes no argument `per_rack`", "it takes `feed_lost`, `per_feed`, `typical`"),
    ),
    ("cost", "", None, {}, ("`cost` is a quantity: say what it must be", "`cost <= $12M`")),
    ("cost", "<=", q(3, MONEY), {}, None),
    ("rack_weight", "", None, {}, ("`rack_weight` is a quantity: say what it must be", "`rack_weight <= 1000kg`")),
    ("cable_length", "", None, {}, ("`cable_length` is a quantity: say what it must be", "`cable_length <= 30m`")),
    ("cable_length", "", None, {"report": True}, None),
    ("latency", "", None, {}, ("`latency` is a quantity: say what it must be", "`latency <= 2us`")),
    ("latency", "<=", 3, {}, ("`latency` is a time, and 3 has no unit", "`latency <= 2us`")),
    ("bend_radius", "<=", 3, {}, ("`bend_radius` is a length, and 3 has no unit", "`bend_radius <= 30mm`")),
    ("all_to_all_time", "<=", q(1, TIME), {}, ("`all_to_all_time` needs an argument", "`all_to_all_time 1GB <= 50ms`")),
    ("allreduce", "<=", q(1, TIME), {}, ("`allreduce` needs an argument", "`allreduce 140GB <= 25s`")),
    (
        "allreduce",
        "<=",
        q(1, POWER),
        {"args": (q(8, SIZE),)},
        ("`allreduce` is a time, and 1W is a power", "`allreduce 140GB <= 25s`"),
    ),
    ("survives", "", None, {}, ("`survives` needs `any K`", "`survives any 1 of spine`")),
    ("survives", "", None, {"any_count": 0, "of": LEAF}, ("`any 0` fails nothing", "write `any 1` or more")),
    ("survives", "", None, {"any_count": 1, "of": LEAF}, None),
    ("survives", "", None, {"any_count": 1}, ("`survives` needs `of`", "`survives any 1 of spine`")),
    (
        "survives",
        "",
        None,
        {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "power", "<=", 1)},
        ("`power` cannot be asked after failures", AFTER),
    ),
    (
        "survives",
        "",
        None,
        {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "bisection", ">=", 1, of=LEAF)},
        ("`bisection of …` cannot be asked after failures: it is asked of all that is left", "leave out `of`"),
    ),
    (
        "survives",
        "",
        None,
        {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "diameter", "<=", 1, of=PORTS)},
        ("`diameter` takes no `of ports`", "it takes `of`"),
    ),
    ("survives", "", None, {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "reachability", of=PORTS)}, None),
    (
        "survives",
        "",
        None,
        {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "diameter", "", None)},
        ("`diameter` is a number: say what it must be", "`diameter <= 4`"),
    ),
    (
        "survives",
        "",
        None,
        {"any_count": 1, "of": LEAF, "given": claim(FABRIC, "throughput", ">=", 1, of=NODE, of_to=NODE)},
        None,
    ),
    ("survives", "", None, {"any_count": 1, "of": GONE}, None),
    ("survives", "", None, {"any_count": 1, "of": PORTS}, ("`survives` needs `of`", "`survives any 1 of spine`")),
    ("diameter", "<=", 1, {"of": SET_OF_THAT_NAME}, None),
    ("throughput", ">=", 1, {}, None),
    ("taper", "<=", 1, {}, ("`taper` needs `of`", "`taper of g <= 2:1`")),
    (
        "ports",
        "<=",
        3,
        {"of": NAMED},
        ("`ports` is about devices and groups, and `leaf[*].p[1..2]` names ports", "write `leaf[*]`"),
    ),
    (
        "ports",
        "<=",
        3,
        {"of": LEAF, "of_all": True},
        ("`ports` is not about a set of endpoints", "leave `all` out: each element is then judged"),
    ),
    ("diameter", "<=", 3, {"of": NODE, "of_all": True}, None),
    (
        "links",
        "<=",
        3,
        {"of": LEAF, "of_to": NAMED},
        ("`links` is about devices and groups, and `leaf[*].p[1..2]` names ports", "write `leaf[*]`"),
    ),
]


def test_messages_and_fixes() -> None:
    for *case, expected in CASES:
        assert said(*case) == expected, case[:3]


def test_metrics_that_do_not_exist() -> None:
    known = {"links": checks_by_name()["links"], "ports": checks_by_name()["ports"]}
    available = "metrics available: links, ports"
    assert unknown_metric_error("diameter", known) == ("E0491", "`diameter` is not available in this version of tdsl", available)
    for word, way in (
        ("Non_Blocking", "oversubscription <= 1:1"), ("bandwidth", "bisection >= 100%"), ("ecmp", "edge_redundancy >= 2"),
        ("hops", "diameter <= 4"), ("connected", "reachability"), ("RTT", "latency <= 2us"),
    ):  # fmt: skip
        assert unknown_metric_error(word, known) == ("E0490", f"there is no metric `{word}`", f"write `{way}`")
    assert unknown_metric_error("diametre", known) == ("E0490", "there is no metric `diametre`", "did you mean `diameter`?")
    assert unknown_metric_error("zzzz", known) == ("E0490", "there is no metric `zzzz`", "metrics: links, ports")
    own = {"xylophone": checks_by_name()["links"]}
    assert unknown_metric_error("xylophon", own)[2] == "did you mean `xylophone`?"


# ---------------------------------------------------------------- figures against requirements


FIGURES = [(low, high) for low, high in product(range(5), repeat=2) if low <= high]


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_verdicts_by_every_value_between_the_bounds(op: str) -> None:
    """Quarters between the bounds stand for every value; whole bounds and limits make no difference to the rest."""
    compare = {
        "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
        "==": lambda x, y: x == y, "!=": lambda x, y: x != y,
    }[op]  # fmt: skip
    for (low, high), asked in product(FIGURES, range(5)):
        found = {compare(Fraction(x, 4), asked) for x in range(4 * low, 4 * high + 1)}
        expected = "proved" if found == {True} else "refuted" if found == {False} else "bounded"
        assert verdict_of_bounds(op, low, high, asked) == expected, (low, high, asked)


def test_values_that_are_no_figure() -> None:
    for value in (0.5, "1", None):
        with pytest.raises(TypeError, match=r"^.* is not an exact figure$"):
            verdict_of_bounds("<=", value, 1, 1)  # type: ignore[arg-type]
    assert verdict_of_bounds("<=", q(2, LENGTH), q(2, LENGTH), q(2, LENGTH)) == "proved"


def test_a_judgement_against_a_requirement() -> None:
    """A figure is set against what is asked; a skipped one fails if it has faults; a modelled one stays modelled if it holds."""
    check, yes_no = checks_by_name()["diameter"], checks_by_name()["reachability"]
    asked = claim(FABRIC, "diameter", "<=", 2)
    figure = Judgement("proved", "x", 2, 2, 2)
    assert judgement_for_claim(asked, check, figure) == figure
    for status, low, high, expected in (
        ("proved", 3, 3, "refuted"), ("proved", 1, 3, "bounded"), ("bounded", 1, 2, "proved"), ("bounded", 3, 4, "refuted"),
        ("modelled", 2, 2, "modelled"), ("modelled", 3, 3, "refuted"), ("modelled", 2, 3, "bounded"), ("refuted", 1, 1, "proved"),
    ):  # fmt: skip
        judged = Judgement(status, "x", low, low, high)
        assert judgement_for_claim(asked, check, judged) == replace(judged, status=expected)
    for without in (replace(figure, lower=None), replace(figure, upper=None)):
        assert judgement_for_claim(claim(FABRIC, "diameter", "<=", 1), check, without) is without
    assert judgement_for_claim(claim(FABRIC, "diameter", report=True), check, figure) is figure
    assert judgement_for_claim(claim(FABRIC, "reachability", "<=", 1), yes_no, figure) is figure
    bare, faulty = Judgement("skipped"), Judgement("skipped", faults=(PropertyFault(None, "wrong"),))
    assert judgement_for_claim(asked, check, bare) is bare
    assert judgement_for_claim(asked, check, faulty).status == "refuted"
    assert judgement_for_claim(replace(asked, report=True), check, faulty) is faulty


def test_a_fraction_is_set_against_a_rate_in_bits() -> None:
    check = checks_by_name()["bisection"]
    half = Fraction(1, 2)
    judged = Judgement("bounded", "x", half, half, Fraction(1), measures={"lower_bps": 300, "upper_bps": 600})
    asked = claim(FABRIC, "bisection", ">=", q(300, RATE))
    assert judgement_in_claim_unit(asked, check, judged) == replace(judged, value=300, lower=300, upper=600)
    assert judgement_in_claim_unit(claim(FABRIC, "bisection", ">=", half), check, judged) is judged
    assert judgement_in_claim_unit(claim(FABRIC, "bisection", ">=", q(half, NONE)), check, judged) is judged
    assert judgement_in_claim_unit(asked, check, Judgement("skipped")) == Judgement("skipped")
    assert judgement_in_claim_unit(asked, checks_by_name()["oversubscription"], judged) is judged
    for rate, status in ((300, "proved"), (301, "bounded"), (600, "bounded"), (601, "refuted")):
        found = judgement_for_claim(claim(FABRIC, "bisection", ">=", q(rate, RATE)), check, judged)
        assert replace(found, text=judged.text, help="") == replace(judged, status=status)


def figure(low: int, high: int | None = None, status: str = "proved") -> Judgement:
    return Judgement(status, value=low, lower=low, upper=low if high is None else high)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "asked", "judged", "at"),
    [
        ("<=", 9, [(5, 5), (7, 7), (6, 6)], 1),
        ("<=", 9, [(5, 8), (7, 7), (6, 9)], 2),
        ("<", 9, [(1, 8), (2, 9), (3, 8)], 1),
        (">=", 1, [(5, 5), (2, 2), (3, 3)], 1),
        (">=", 1, [(5, 5), (4, 9), (3, 9), (6, 6)], 2),
        (">", 4, [(9, 9), (4, 4), (5, 5)], 1),
        (">=", 4, [(9, 9), (3, 5), (5, 5)], 1),
        (">=", 4, [(3, 5), (9, 9), (2, 3)], 2),
        ("==", 5, [(5, 5), (5, 5)], 0),
        ("==", 5, [(5, 5), (7, 7), (2, 2)], 2),
        ("==", 5, [(8, 8), (6, 6), (4, 4)], 0),
        ("!=", 5, [(8, 8), (5, 5)], 1),
        ("!=", 5, [(6, 6), (1, 1), (8, 8)], 1),
        ("", None, [(5, 5), (9, 9), (2, 2)], 1),
        ("", None, [(5, 5), (3, 9), (2, 8)], 1),
    ],
)
def test_the_element_that_speaks_for_all(op: str, asked: object, judged: list[tuple[int, int]], at: int) -> None:
    assert index_of_worst_judgement(op, asked, [figure(*x) for x in judged]) == at


def test_the_least_speaks_where_little_is_bad() -> None:
    judged = [figure(5), figure(3, 9), figure(4)]
    assert index_of_worst_judgement("", None, judged, scarce=True) == 1
    assert index_of_worst_judgement("<=", 9, judged, scarce=True) == 1
    assert index_of_worst_judgement("<=", 9, [figure(5), figure(3)], scarce=True) == 0


def test_statuses_in_order() -> None:
    """Refuted, skipped, open, modelled, proved; a judgement without a figure has its status alone."""
    statuses = ["refuted", "skipped", "bounded", "modelled", "proved"]
    for first, second in product(range(5), repeat=2):
        for value in (None, True):
            judged = [replace(figure(1, status=statuses[x]), value=value) for x in (first, second)]
            assert index_of_worst_judgement("", None, judged) == int(second < first)
        if first != second:
            assert index_of_worst_judgement("", None, [figure(1, status=statuses[x]) for x in (first, second)]) == int(
                second < first
            )
    for gap in ({"lower": None}, {"upper": None}):
        assert index_of_worst_judgement("<=", 3, [figure(9), replace(figure(9, status="proved"), **gap)]) == 0  # type: ignore[arg-type]
