"""Pieces of which certificates are made, each with values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.certificates import checker, write_figures, write_survives, write_throughput
from tdsl.certificates.write_figures import (
    built_elements,
    certificate_of_bisection,
    figure_for_checker,
    paths_of_elements,
    symmetries_of_forwarding_units,
)
from tdsl.certificates.write_survives import CertificateLeftOut, certificate_of_survival
from tdsl.certificates.write_throughput import certificate_as_checked
from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import GroupRoutes, PortBound, Spectrum
from tdsl.prove.elements import TooMany
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.view import View
from tdsl.semantics.quantity import POWER, RATE, Quantity
from tests.fabrics import GBPS, Builder, claim, selector, superpod, torus
from tests.verify.test_checker_alone import certificate, fabric

SMALL = superpod(2, 2, 2, 2).build()
VIEW = View.whole(SMALL)
SPINE, LEAF, NODE, SU = (selector(SMALL, path) for path in ("spine", "su.leaf", "su.node", "su"))


PLANNED = FabricElement("su[1].node[1]", np.array([3]))


def ask(metric: str, op: str = "", value: object = None, **given: Any) -> ResolvedClaim:
    return claim(SMALL, metric, op, value, **given)


def some(of: Selector, *at: int) -> Selector:
    return replace(of, elements=tuple(of.elements[k] for k in at))


# ------------------------------------------------------------ paths of elements


def nested() -> Fabric:
    """Pods with two indices of racks of hosts and a leaf; the last rack is planned. Beside them devices without index."""
    b = Builder("nested")
    host, switch = b.model("host", "H", {"nic": 1}, accelerators=1), b.model("switch", "S", {"p": 32})
    b.devices("pod.rack.node", host, (2, 2), 2, 2)
    b.devices("pod.rack.leaf", switch, (2, 2), 2, None)
    b.devices("top", switch, None)
    made = b.build()
    gone = [d for d in range(made.device_count) if made.device_path(d).startswith("pod[1, 1].rack[1].")]
    b.omitted |= set(gone)
    return b.build()


def elements(f: Fabric, *names: str) -> list[FabricElement]:
    return [
        FabricElement(name, np.array([d for d in range(f.device_count) if (f.device_path(d) + ".").startswith(name + ".")]))
        for name in names
    ]


def test_paths_without_indices_where_all_is_named() -> None:
    """All that is built of a path: its name without indices; else each by its own, in order and once."""
    f = nested()
    view = View.whole(f)
    racks = [f"pod[{i}, {j}].rack[{k}]" for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    assert paths_of_elements(view, elements(f, *racks)) == paths_of_elements(view, elements(f, *racks[:7])) == ["pod.rack"]
    assert paths_of_elements(view, elements(f, *racks[:6])) == racks[:6]
    assert paths_of_elements(view, elements(f, racks[3], racks[0], racks[3])) == [racks[0], racks[3]]
    leaves = [f"{r}.leaf" for r in racks[:7]]
    assert paths_of_elements(view, elements(f, *leaves, "top")) == ["pod.rack.leaf", "top"]
    assert paths_of_elements(view, elements(f, "top", *leaves[1:])) == [*leaves[1:], "top"]
    pods = [f"pod[{i}, {j}]" for i in (0, 1) for j in (0, 1)]
    nodes = [f"{r}.node[{n}]" for r in racks[:7] for n in (0, 1)]
    assert paths_of_elements(view, elements(f, *pods, *nodes[:-1])) == ["pod", *nodes[:-1]]
    assert paths_of_elements(view, elements(f, *nodes)) == ["pod.rack.node"] and paths_of_elements(view, []) == []


def test_elements_of_which_something_is_built() -> None:
    f = nested()
    view = View.whole(f)
    every = elements(f, "pod[1, 1]", "pod[1, 1].rack[1]", "pod[1, 1].rack[1].node[0]", "pod[1, 1].rack[0].leaf", "top")
    one, two = (Selector("", "switch", tuple(part)) for part in (every[:2], every[2:]))
    assert [e.name for e in built_elements(view, [two, one])] == ["pod[1, 1].rack[0].leaf", "top", "pod[1, 1]"]


def test_figures_as_the_checker_reads_them() -> None:
    assert [figure_for_checker(x) for x in (3, 0, Fraction(5, 3), Fraction(2))] == [3, 0, "5/3", "2"]


# ------------------------------------------------------------ cases of failures


ELEMENTS = [FabricElement(name, np.array([k]), copies=n) for k, (name, n) in enumerate([("a", 1), ("b", 2), ("c", 1), ("d", 1)])]


class Orbits:
    """Symmetries of four elements, of which the first and the third are equivalent."""

    @staticmethod
    def orbits() -> list[list[int]]:
        return [[0, 2], [1], [3]]

    @staticmethod
    def pairs() -> list[tuple[int, ...]]:
        return [(0, 1), (0, 2), (1, 3)]


def cases(count: int, found: object, of: list[FabricElement] = ELEMENTS) -> list[str] | None:
    out = write_survives._failure_cases(of, count, found)  # type: ignore[arg-type]
    return None if out is None else ["".join(e.name for e in chosen) for chosen in out]


def test_cases_are_one_of_every_orbit_or_all_sets() -> None:
    """Element b is two of the things that fail: with one more it makes three, and alone two."""
    assert cases(1, Orbits()) == ["a", "b", "d"] and cases(1, None) == ["a", "b", "c", "d"]
    assert cases(2, None) == ["b", "ab", "ac", "ad", "bc", "bd", "cd"]
    assert cases(2, Orbits()) == ["a", "b", "d", "ab", "ac", "bd"]
    assert cases(3, None) == ["ab", "bc", "bd", "abc", "abd", "acd", "bcd"]
    assert cases(3, Orbits()) == ["ab", "ac", "bd", "abc", "abd", "acd", "bcd"]
    assert cases(5, None) == ["abcd"] and cases(6, None) == []


def test_no_more_cases_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    same = [replace(e, copies=1) for e in ELEMENTS]
    for limit, count, found, expected in (
        (6, 2, None, 6), (5, 2, None, None), (4, 3, None, 4), (3, 3, None, None), (3, 1, Orbits(), 3), (2, 1, Orbits(), None),
        (3, 2, Orbits(), 3), (2, 2, Orbits(), None),
    ):  # fmt: skip
        monkeypatch.setattr(write_survives, "CASES", limit)
        out = cases(count, found, same)
        assert (None if out is None else len(out)) == expected, (limit, count)


def test_limits_of_cases_and_of_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """15 links: three cases are 45."""
    two = ask("survives", any_count=1, of=(LEAF,))
    body = certificate_of_survival(VIEW, two)
    assert body is not None and len(body["cases"]) == 3  # type: ignore[arg-type]
    monkeypatch.setattr(write_survives, "CASE_LINKS", 45)
    assert certificate_of_survival(VIEW, two) == body
    monkeypatch.setattr(write_survives, "CASE_LINKS", 44)
    with pytest.raises(CertificateLeftOut, match="3 cases of 15 links are more than the limit"):
        certificate_of_survival(VIEW, two)
    monkeypatch.setattr(write_survives, "CASES", 2)
    with pytest.raises(CertificateLeftOut, match="it has more than 2 cases"):
        certificate_of_survival(VIEW, two)


def test_elements_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(*_: object) -> None:
        raise TooMany("as a test")

    monkeypatch.setattr(write_survives, "named", named)
    with pytest.raises(CertificateLeftOut, match="as a test"):
        certificate_of_survival(VIEW, ask("survives", any_count=1, of=(LEAF,)))


def test_fewer_elements_than_fail() -> None:
    """Two spines: any 3 cannot fail, any 2 can."""
    assert certificate_of_survival(VIEW, ask("survives", any_count=3, of=(SPINE,))) is None
    body = certificate_of_survival(VIEW, ask("survives", any_count=2, of=(SPINE,)))
    assert body is not None and (body["count"], len(body["cases"])) == (2, 1)  # type: ignore[arg-type]


def test_ports_of_one_link_have_no_symmetries() -> None:
    """A link between two of the named chips is two of the ports that fail, and every other one; between all chips each is two."""
    f = torus(3, 3).build()
    chip = selector(f, "chip")
    for of, ports in ((some(chip, 0, 1), 7), (some(chip, 0), 4), (chip, 18)):
        made = certificate_of_survival(View.whole(f), claim(f, "survives", any_count=1, of=(of,), any_of="ports"))
        assert made is not None and (made["what"], made["to"]) == ("ports", None)
        count = len(made["cases"])  # type: ignore[arg-type]
        assert (count == ports, made["symmetries"] == []) == ((True, True) if ports == 7 else (False, False))


@pytest.mark.parametrize(
    ("links", "copies", "exchanged"),
    [([[7], [8]], [1, 1], True), ([[7], [8, 9]], [1, 1], False), ([[7, 8], [9, 10]], [1, 1], False), ([[7], [8]], [1, 2], False)],
)
def test_elements_of_several_links_are_not_exchanged(
    links: list[list[int]], copies: list[int], exchanged: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cages and ports with one link each may be equivalent; where one has two, each is a case of its own."""
    none = np.zeros(0, dtype=np.int64)
    made = [FabricElement(f"e{k}", none, np.array(x), n) for k, (x, n) in enumerate(zip(links, copies, strict=True))]
    monkeypatch.setattr(write_survives, "named", lambda *_: made)
    asked: list[bool] = []

    def symmetry(*_: object, single: bool) -> SimpleNamespace:
        asked.append(single)
        return SimpleNamespace(orbits=lambda: [[0, 1]], images=())

    monkeypatch.setattr(write_survives, "symmetry_of_elements", symmetry)
    body = certificate_of_survival(VIEW, ask("survives", any_count=1, of=(SPINE,), of_to=(LEAF,), any_of="cages"))
    assert body is not None and len(body["cases"]) == (1 if exchanged else 2)  # type: ignore[arg-type]
    assert asked == ([True] if exchanged else [])


def test_exchanges_of_devices() -> None:
    """The built devices that a permutation moves, by their names."""
    image = np.arange(SMALL.device_count)
    image[[0, 1, 3]] = [1, 3, 0]
    assert not SMALL.built[3]
    assert write_survives._device_names_exchanged(VIEW, image) == {"su0-node0": "su0-node1", "su0-node1": "su1-node1"}


# ------------------------------------------------------------ what is asked after failures


FORMS: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"op": "!="}, False),
    ({"at": (LEAF,)}, False),
    ({"through": "scaleup"}, False),
    ({"scope": SU.elements[0]}, False),
    ({"args": ("ring",)}, False),
    ({"of": (LEAF,)}, False),
    ({"of_to": (LEAF,)}, False),
    ({"of": (LEAF,), "of_to": (SPINE,)}, False),
]


@pytest.mark.parametrize(("given", "form"), FORMS)
def test_conditions_that_have_a_form(given: dict[str, Any], form: bool) -> None:
    """Of throughput two sets are asked, of other figures none."""
    op = given.get("op", ">=")
    rest = {k: v for k, v in given.items() if k != "op"}
    for metric in ("bisection", "diameter", "mean_hops", "edge_redundancy", "node_redundancy", "reachability"):
        assert write_survives._has_certificate_form(ask(metric, op, 1, **rest)) == form
    assert not write_survives._has_certificate_form(ask("oversubscription", op, 1, **rest))
    both = {"of": (LEAF,), "of_to": (SPINE,)}
    assert write_survives._has_certificate_form(ask("throughput", op, 1, **rest)) == (rest == both)
    if not {"of", "of_to"} & {*rest}:
        assert write_survives._has_certificate_form(ask("throughput", op, 1, **rest, **both)) == form
    asked = ask("survives", any_count=1, of=(SPINE,), given=ask("diameter", op, 9, **rest))
    assert (certificate_of_survival(VIEW, asked) is not None) == form


@pytest.mark.parametrize(
    ("asked", "condition"),
    [
        (None, {"check": "reachability"}),
        (ask("reachability"), {"check": "reachability"}),
        (ask("bisection", ">=", Fraction(1, 2)), {"op": ">=", "value": "1/2", "share": "left"}),
        (ask("bisection", ">", Fraction(1, 2), of_intact=True), {"op": ">", "value": "1/2", "share": "intact"}),
        (ask("bisection", "<", 1), {"op": "<", "value": "1", "share": "left"}),
        (ask("bisection", "<=", Quantity(Fraction(5), RATE)), {"op": "<=", "value": "5", "share": None}),
        (ask("bisection", "<=", Quantity(Fraction(5, 2), POWER)), {"op": "<=", "value": "5/2", "share": "left"}),
        (ask("diameter", "==", 2, of_intact=True), {"op": "==", "value": "2", "share": None}),
        (
            ask("throughput", ">=", Fraction(1, 3), of=(NODE,), of_to=(some(LEAF, 1), SPINE)),
            {"op": ">=", "value": "1/3", "share": "left", "from": ["su.node"], "to": ["spine", "su[0].leaf[1]"]},
        ),
        (
            ask("throughput", ">=", Quantity(Fraction(7), RATE), of=(replace(NODE, elements=(PLANNED,)),), of_to=(SPINE,)),
            {"op": ">=", "value": "7", "share": None, "from": [], "to": ["spine"]},
        ),
    ],
)
def test_conditions_as_written(asked: ResolvedClaim | None, condition: dict[str, object]) -> None:
    check = {"check": asked.metric if asked else "reachability"}
    assert write_survives._condition_after_failures(VIEW, asked) == check | condition


def test_cases_that_hold_after_failures() -> None:
    """Shares of what crosses between halves with all ports, and rates; figures that are counted are left to the checker."""
    body = {"lower_bps": 400 * GBPS, "upper_bps": 400 * GBPS}
    assert write_survives._is_enough_for_condition(
        {}, ask("diameter", "<=", 1), VIEW
    ) and write_survives._is_enough_for_condition({}, ask("reachability"), VIEW)
    wide = body | {"lower_bps": 300 * GBPS}
    full = write_survives.unit_network(VIEW)
    share = Fraction(400 * GBPS, full.full * full.grain)
    for make in (lambda x: share * Fraction(x, 400), lambda x: Quantity(Fraction(x * GBPS), RATE)):
        for op, amount, expected in (
            (">=", 300, True), (">=", 301, False), (">=", 400, False), (">=", 401, True), ("<=", 400, True), ("<=", 399, False),
            ("<=", 300, False), ("<=", 299, True), (">", 299, True), (">", 300, False), (">", 400, True), ("<", 400, False),
            ("<", 401, True), ("<", 300, True), ("==", 350, False), ("==", 299, True), ("==", 401, True), ("==", 400, False),
        ):  # fmt: skip
            assert write_survives._is_enough_for_condition(wide, ask("bisection", op, make(amount)), VIEW) == expected, (
                op,
                amount,
            )
        assert write_survives._is_enough_for_condition(body, ask("bisection", "==", make(400)), VIEW)


def test_a_case_that_may_hold_or_not_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ask("survives", any_count=1, of=(some(SPINE, 1),), given=ask("bisection", ">=", Fraction(1, 2)))
    bases: list[View] = []

    def shown(body: object, given: ResolvedClaim, base: View) -> bool:
        bases.append(base)
        return False

    monkeypatch.setattr(write_survives, "_is_enough_for_condition", shown)
    for intact in (False, True):
        given = replace(asked.given, of_intact=intact)  # type: ignore[type-var]
        with pytest.raises(CertificateLeftOut, match=r"no form of certificate shows the figure without spine\[1\]"):
            certificate_of_survival(VIEW, replace(asked, given=given))
    assert bases[0] is not VIEW and bases[1] is VIEW


def test_figures_that_are_not_proved_have_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = SimpleNamespace(status="bounded", value=2)
    monkeypatch.setattr(write_survives, "checks_by_name", lambda: {"diameter": SimpleNamespace(judge=lambda *_: judged)})
    for status, value, fits in (
        ("bounded", 2, False),
        ("proved", None, False),
        ("proved", 2, True),
        ("proved", Fraction(1, 2), True),
    ):
        judged.status, judged.value = status, value
        if fits:
            assert write_survives._certificate_of_rest(VIEW, ask("diameter")) == {
                "check": "diameter",
                "value": figure_for_checker(value),
            }
        else:
            with pytest.raises(CertificateLeftOut, match="the figure is not proved for every case by itself"):
                write_survives._certificate_of_rest(VIEW, ask("diameter"))


def test_no_flow_after_some_failure() -> None:
    asked = ask("throughput", ">=", Fraction(0), of=(some(SPINE, 0),), of_to=(some(SPINE, 1),))
    body = write_survives._certificate_of_rest(VIEW, asked)
    assert set(body) == {"check", "lower", "upper", "lower_bps", "upper_bps"}
    with pytest.raises(CertificateLeftOut, match="nothing flows between the two sets after some failure"):
        certificate_of_survival(VIEW, ask("survives", any_count=4, of=(LEAF,), given=asked))


def test_ports_and_devices_that_are_named() -> None:
    """Ports that have links, each once, then devices and groups; where no port of it has a link nothing."""
    leaf = SMALL.sets[1]
    base = int(SMALL.port_base[leaf.first])
    ports = Selector("su.leaf.p", "switch", LEAF.elements, "p", np.arange(base, base + 6))
    linked = ["su[0].leaf[0].p[1]", "su[0].leaf[0].p[2]", "su[0].leaf[0].p[3]", "su[0].leaf[0].p[4]"]
    assert write_survives._named_ports(VIEW, [ports]) == linked
    assert write_survives._named_ports(VIEW, [ports, SPINE, ports, replace(NODE, elements=(NODE.elements[0], PLANNED))]) == [
        *linked,
        "spine",
        "su[0].node[0]",
    ]
    assert write_survives._named_ports(VIEW, [replace(ports, port_rows=np.arange(base + 40, base + 44))]) == []
    of = FabricElement("x", np.array([0]), np.array([2]))
    for claimed, expected in (
        (ask("survives", of=(SPINE,)), {"what": "links", "of": ["spine"], "to": None}),
        (ask("survives", of=(SPINE,), of_to=(LEAF,), any_of="cages"), {"what": "cages", "of": ["spine"], "to": ["su.leaf"]}),
    ):
        assert write_survives._failing_elements_named(VIEW, claimed, [of]) == expected
    assert write_survives._failing_elements_named(VIEW, ask("survives", of=(SPINE,)), list(SPINE.elements)) == {"of": ["spine"]}


# ------------------------------------------------------------ bisection


def test_bounds_that_no_form_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another bound is looked for where the first has no form; where none has, 0 is stated, and what was proved is said."""
    real = write_figures.bisection_bounds
    asked: list[tuple[bool, int, int]] = []
    halved = 2

    def bisection(view: View, *, between_groups: bool = True) -> Any:
        asked.append((between_groups, view.budget.spectrum_nodes, view.budget.split_count))
        found = real(view)
        if between_groups:
            proof = object.__new__(Spectrum if halved else GroupRoutes)
            return replace(found, bound=replace(found.bound, proof_lower=proof))
        return replace(found, bound=replace(found.bound, lower=found.bound.lower // halved)) if halved else found

    true = certificate_of_bisection(VIEW)
    monkeypatch.setattr(write_figures, "bisection_bounds", bisection)
    weaker: dict[str, str] = {}
    body = certificate_of_bisection(VIEW, weaker)
    assert [x[0] for x in asked] == [True, False] and asked[0][1:] == (VIEW.budget.spectrum_nodes, VIEW.budget.split_count)
    assert asked[1][1:] == (0, 0) and body == true | {"lower_bps": 400 * GBPS}
    assert weaker == {"bisection.json": "at least 400,000,000,000 bit/s, of which 800,000,000,000 are proved"}
    halved, weaker = 0, {}
    assert certificate_of_bisection(VIEW, weaker) == true and weaker == {} and certificate_of_bisection(VIEW) == true
    monkeypatch.setattr(write_figures, "_lower_bound_proof", lambda *_: None)
    assert certificate_of_bisection(VIEW, weaker) == true | {"lower_bps": 0, "lower": {"by": "shares", "parts": []}}
    assert weaker == {"bisection.json": "at least 0 bit/s, of which 800,000,000,000 are proved"}


def test_symmetries_of_endpoints_that_forward() -> None:
    """Of chips that are connected directly; of one chip there are none, and of hosts that do not forward nothing is written."""
    pair = symmetries_of_forwarding_units(View.whole(torus(2).build()))
    assert pair == {"symmetries": [{"chip0": "chip1", "chip1": "chip0"}]}
    assert symmetries_of_forwarding_units(View.whole(torus(1).build())) == {} and symmetries_of_forwarding_units(VIEW) == {}
    for images in (symmetries_of_forwarding_units(View.whole(torus(5).build()))["symmetries"],):
        chips = {f"chip{n}" for n in range(5)}
        assert images and all({*image} == {*image.values()} <= chips for image in images)  # type: ignore[attr-defined]
        assert all(a != b for image in images for a, b in image.items())  # type: ignore[attr-defined]


# ------------------------------------------------------------ routes and lengths


ARCS = [[("a", "b")], [("b", "c"), ("b", "d")], [("c", "a")]]


def test_lengths_of_arcs() -> None:
    """Those that are not the least, of every arc of the fabric that is one arc of the quotient."""
    assert write_throughput._arc_lengths(ARCS, [1, 3, 2], 1) == [["b", "c", 3], ["b", "d", 3], ["c", "a", 2]]
    assert write_throughput._arc_lengths(ARCS, [2, 0, 1], 0) == [["a", "b", 2], ["c", "a", 1]]
    proof = SimpleNamespace(length=np.array([1, 0, 4]))
    for quotient in (False, True):
        found = write_throughput._pattern_upper_bound(ARCS, SimpleNamespace(proof_upper=proof), quotient)  # type: ignore[arg-type]
        assert found == {"lengths": [["a", "b", 1], ["c", "a", 4]]} | ({"quotient": True} if quotient else {})
        ports = SimpleNamespace(proof_upper=PortBound())
        assert write_throughput._pattern_upper_bound(ARCS, ports, quotient) == {"lengths": []}  # type: ignore[arg-type]


def test_flows_of_every_source_in_whole_parts() -> None:
    """The parts are the least common denominator of all sources."""
    flow = {0: {2: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(0)}, 2: {1: Fraction(2, 3)}}
    found = SimpleNamespace(proof_lower=SimpleNamespace(flow=flow))
    assert write_throughput._pattern_flows(["a", "b", "c"], ARCS, found) == {  # type: ignore[arg-type]
        "routes": [
            {"share": 1, "by": "flows", "parts": 12,
             "flows": {"a": [["a", "b", 6], ["c", "a", 3]], "c": [["b", "c", 8]]}}
        ]
    }  # fmt: skip


def column(**given: Any) -> SimpleNamespace:
    return SimpleNamespace(**({"lengths": None, "hubs": None, "trees": None} | given))


def test_routings_with_their_shares() -> None:
    """Along shortest paths, over hubs and along trees; what has no share is left out."""
    columns = [
        column(lengths=np.array([1, 5, 1])), column(hubs=(np.array([2, 0]), np.array([3, 1]))), column(trees=object()),
        column(lengths=np.array([2, 2, 2])), column(hubs=(np.array([1]), np.array([1]))), column(trees=object()), column(),
    ]  # fmt: skip
    made = SimpleNamespace(whole=lambda: [7, 2, 5, 0, 0, 0, 3], columns=columns)
    expected = [
        {"share": 7, "parts": PARTS, "by": "lengths", "lengths": [["b", "c", 5], ["b", "d", 5]]},
        {"share": 2, "parts": 4 * PARTS, "by": "hubs", "hubs": {"c": 3, "a": 1}},
        {"share": 5, "parts": PARTS, "by": "trees"},
    ]
    assert list(write_throughput.routings_of_combination("abc", ARCS, made)) == expected  # type: ignore[arg-type]
    routed = SimpleNamespace(flow=None, combination=made, trees=None, lengths=[[1, 2, 1]], parts=9)
    along = {"share": 1, "parts": 9, "by": "lengths", "lengths": [["b", "c", 2], ["b", "d", 2]]}
    found = SimpleNamespace(proof_lower=routed)
    assert write_throughput._pattern_flows("abc", ARCS, found) == {"routes": [*expected, along]}  # type: ignore[arg-type]
    routed.combination, routed.trees = None, SimpleNamespace(parts=6)
    trees = {"share": 1, "parts": 6, "by": "trees"}
    assert write_throughput._pattern_flows("abc", ARCS, found) == {"routes": [trees, along]}  # type: ignore[arg-type]
    routed.trees, routed.lengths = None, []
    assert write_throughput._pattern_flows("abc", ARCS, found) == {"routes": []}  # type: ignore[arg-type]


# ------------------------------------------------------------ what is stated otherwise than it was proved


def body(lower: dict[str, Any], upper: dict[str, Any], low: object, high: object, units: int) -> dict[str, Any]:
    bounds = {"lower_bps": str(low), "upper_bps": str(high)}
    return certificate("throughput", pattern="all_to_all", units=units, lower=lower, upper=upper, **bounds)


def test_a_cut_as_lengths() -> None:
    """Four hosts in two pairs. Out of the side go two links of 100 bit/s, of which the symmetric checker knows one orbit with the
    two back: each has half of what an arc of the cut has."""
    links = [("h1", "s1"), ("h2", "s1"), ("h3", "s2"), ("h4", "s2"), ("s1", "s2")]
    made = checker.CertifiedFabric(fabric(["h1", "h2", "h3", "h4"], ["s1", "s2"], links))
    routes = {"routes": [{"share": 1, "parts": 1, "by": "lengths", "lengths": []}]}
    stated = body(routes, {"quotient": True, "cut": ["h1", "h2", "s1"]}, 25, 25, 4)
    found = certificate_as_checked(stated, made, 10**6)
    assert found == {"upper": {"quotient": True, "lengths": [["s1", "s2", 1]]}, "lower": routes, "lower_bps": "25"}
    checker.verify(stated | found, fabric(["h1", "h2", "h3", "h4"], ["s1", "s2"], links))
    assert "cut" in stated["upper"]
    net = checker.CertifiedNetwork(made, checker.WorkSteps())
    lengths = write_throughput._lengths_of_cut(net, stated | {"upper": {"cut": ["h1", "h3"]}})
    assert sorted(lengths) == [["h1", "s1", 1], ["h3", "s2", 1]]
    one = write_throughput._lengths_of_cut(net, stated | {"upper": {"cut": ["h1"]}})
    assert one == [["h1", "s1", 1]]


def test_flows_are_not_computed_again() -> None:
    """Of flows the lower end stays as it is, whatever is stated."""
    made = checker.CertifiedFabric(fabric(["h1", "h2"], ["s1"], [("h1", "s1"), ("h2", "s1")]))
    flows = {"h1": [["h1", "s1", 1], ["s1", "h2", 1]], "h2": [["h2", "s1", 1], ["s1", "h1", 1]]}
    lower = {"routes": [{"share": 1, "parts": 1, "by": "flows", "flows": flows}]}
    for low in (1, 100, 10**9):
        assert certificate_as_checked(body(lower, {"lengths": []}, low, 100, 2), made, 10**6) == {"upper": {"lengths": []}}


def test_what_shortest_paths_show_in_the_place_of_trees() -> None:
    """Shortest paths show 100 bit/s. What the checker rejects, such as a smaller upper bound, stays as it is."""
    made = checker.CertifiedFabric(fabric(["h1", "h2"], ["s1"], [("h1", "s1"), ("h2", "s1")]))
    trees = {"routes": [{"share": 1, "parts": 1, "by": "trees"}]}
    lengths = {"routes": [{"share": 1, "parts": 1, "by": "lengths", "lengths": []}]}
    for low, high, expected in (
        (70, 80, {}),
        (70, 120, {"lower_bps": "100"}),
        (100, 100, {"lower_bps": "100"}),
    ):
        found = certificate_as_checked(body(trees, {"lengths": []}, low, high, 2), made, 10**6)
        assert found == {"lower": lengths, "upper": {"lengths": []}} | expected
    wrong = body(lengths, {"lengths": [["h1", "absent", 1]]}, 70, 80, 2)
    assert certificate_as_checked(wrong, made, 10**6) == {"lower": lengths, "upper": wrong["upper"]}
    mixed = {"routes": [*trees["routes"], *lengths["routes"]]}
    found = certificate_as_checked(body(mixed, {"lengths": []}, 70, 100, 2), made, 10**6)
    assert found == {"lower": {"routes": lengths["routes"] * 2}, "upper": {"lengths": []}, "lower_bps": "100"}
