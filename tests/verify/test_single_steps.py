"""Single steps of bounds and certificates, against values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.certificates import checker
from tdsl.certificates.write_figures import symmetries_of_forwarding_units
from tdsl.prove import max_flow as module
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.clos import least_arriving
from tdsl.prove.delays import _value_of_class
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.elements import TooMany, _NamedLinks
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, superpod
from tests.verify.test_checker_alone import certificate, fabric
from tests.verify.test_domains import racks


def test_what_arrives_at_equal_hubs() -> None:
    """Sources with the smallest part of their capacity towards the hubs send first: of 10 units 3 send a quarter, 2 send half,
    the rest all, to two hubs each. Each portion is rounded down."""
    combination = ((Fraction(1, 4), Fraction(3)), (Fraction(1, 2), Fraction(2)), (Fraction(1), Fraction(100)))
    profile = np.array([0, 1, 2, 3, 4, 5, 6, 10])
    portions = [(min(x, 3) // 2, min(max(x - 3, 0), 2), 2 * max(x - 5, 0)) for x in profile.tolist()]
    assert least_arriving(profile, combination, 2, 1).tolist() == [sum(p) for p in portions] == [0, 0, 1, 1, 2, 3, 5, 13]
    halves = ((Fraction(1, 4), Fraction(5, 2)), (Fraction(1), Fraction(100)))
    assert least_arriving(np.array([4, 10]), halves, 4, 1).tolist() == [3 + 4, 3 + 28], (
        "what is sent is rounded up to whole units"
    )
    assert least_arriving(np.array([4, 10]), halves, 4, 2).tolist() == [4, 5 + 20], "5 of twice as many units"


@pytest.mark.parametrize("odd", [0, 1])
def test_trunks_beyond_64_bits_in_parts_of_a_grain(odd: int) -> None:
    """Rates whose common divisor is one bit/s, and trunks of 60 times what the hosts send: the hosts are the limit."""
    b = Builder("odd")
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 64}), 2)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 64}), 3)
    node = b.devices("node", b.model("host", "N", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.free(node, h), b.free(leaf, h // 2), 400 * GBPS - (odd if h == 0 else 0))
    for n in range(60):
        b.link(b.free(leaf, n // 30), b.free(spine, n % 3), 800 * GBPS)
    net = unit_network(View.whole(b.build()))
    found = bisection_bounds(View.whole(b.build()))
    assert found.lower * net.grain == found.upper * net.grain == 800 * GBPS - odd


def test_every_key_of_a_certificate_is_needed() -> None:
    """A form is read only with all of its keys but those with a question mark, and no others."""
    form = {"a": 0, "b": {"c": str, "d?": 1}}
    whole: dict[str, Any] = {"a": 3, "b": {"c": "x"}}
    assert checker.value_of_form(whole, form, "it") == {"a": 3, "b": {"c": "x", "d": None}}
    for wrong in ({"a": 3}, {"b": {"c": "x"}}, {"a": 3, "b": {}}, {"a": 3, "b": {"d": 1}}, {}):
        with pytest.raises(checker.Rejected, match="a key is missing"):
            checker.value_of_form(wrong, form, "it")
    with pytest.raises(checker.Rejected, match="has a key that is not known"):
        checker.value_of_form(whole | {"e": 1}, form, "it")


@pytest.mark.parametrize(
    ("form", "right", "wrong", "why"),
    [
        (str, "x", (3, None, True, ["x"], {}), "a text is needed"),
        (bool, True, (1, 0, "true", None), "a true or false is needed"),
        (2, 2, (1, -2, "2", 2.0, True, None), "an integer of at least 2 is needed"),
        ([str], ["a", "b"], ("ab", {"a": "b"}, None, 3), "a list is needed"),
        ([str, 0], ["a", 1], (["a"], ["a", 1, 2], []), "a list is needed"),
        (set, ["a", "b"], (["a", "a"],), "a text twice"),
        (frozenset(("x", "y")), "x", ("z", 3, None), "is none of x, y"),
        ({"*": 0}, {"a": 1}, ([], "a", None, 3), "an object is needed"),
        ((None, 1), None, (0, "1"), "an integer of at least 1 is needed"),
        (Fraction, "2/3", ("2/0", "-1/2", "x", "1/2/3", -1, None, 1.5), "no number of the form p/q"),
    ],
)
def test_values_of_each_form(form: Any, right: Any, wrong: tuple[Any, ...], why: str) -> None:
    """What a certificate or fabric.json says is read as it is, or rejected with what is needed."""
    assert checker.value_of_form(right, form, "it") == (Fraction(2, 3) if form is Fraction else right)
    for each in wrong:
        with pytest.raises(checker.Rejected, match=f"it: {why}"):
            checker.value_of_form(each, form, "it")


def test_numbers_that_a_certificate_makes_have_a_limit() -> None:
    """The least common multiple of its parts has 16,384 bits at most."""
    assert checker.least_common_multiple([4, 6, 10]) == 60 and checker.least_common_multiple([]) == 1
    most = 1 << (checker.MAX_BITS - 1)
    assert checker.least_common_multiple([most, 2]) == most
    for long in ([2 * most], [most, 3]):
        with pytest.raises(checker.Rejected, match="too long numbers"):
            checker.least_common_multiple(long)


def chips(links: list[tuple[str, str]], forwards: bool | None = None) -> dict[str, Any]:
    """Chips c1 to c4 and two switches, with these links."""
    made = fabric(["c1", "c2", "c3", "c4"], ["s1", "s2"], links)
    for row in made["devices"]["rows"]:
        if row[0].startswith("c"):
            row[2], row[checker_column("devices", "forwards")] = "chip", forwards
    return made


def checker_column(table: str, name: str) -> int:
    return list(checker.TABLES[table]).index(name)


def test_chips_forward_where_chips_are_linked_to_chips() -> None:
    """And only there: a chip on two switches is no way from one to the other, unless fabric.json says so."""
    apart = [("c1", "s1"), ("c2", "s1"), ("c2", "s2"), ("c3", "s2"), ("c4", "s2"), ("s1", "s2")]
    reached = certificate("reachability", units=4, holds=True)
    checker.verify(reached, chips(apart))
    with pytest.raises(checker.Rejected):
        checker.verify(reached, chips(apart[:-1]))
    checker.verify(certificate("reachability", units=4, holds=False, apart=["c1", "c3"]), chips(apart[:-1]))
    checker.verify(reached, chips(apart[:-1], forwards=True))
    checker.verify(reached, chips([("c1", "c2"), ("c2", "c3"), ("c3", "c4")]))
    checker.verify(reached, chips([*apart[:-1], ("c3", "c4")]))


def test_a_cage_with_the_name_of_a_port_is_refused() -> None:
    """`a cage c.p` is cage c.p of a device `a`, and port p of a device `a cage c`."""
    made = fabric(["h1", "h2"], ["s1", "s2"], [("h1", "s1"), ("h2", "s2"), ("h1", "s2"), ("h2", "s1")])
    path, cage, port = checker_column("devices", "path"), checker_column("links", "b_cage"), checker_column("links", "b_port")
    made["devices"]["rows"][2][path], made["devices"]["rows"][3][path] = "a", "a cage c"
    made["links"]["rows"][0][cage], made["links"]["rows"][1][port] = "c.p", "p"
    stated = certificate(
        "survives", what="cages", of=["a"], count=1, condition={"check": "reachability"}, symmetries=[],
        cases=[{"failed": [x], "left": {"check": "reachability", "units": 2, "holds": True}} for x in ("a cage c.p", "a.p3")],
    )  # fmt: skip
    with pytest.raises(checker.Rejected, match="two elements have one name"):
        checker.verify(stated, made)
    made["links"]["rows"][1][port] = "q"
    checker.verify(stated, made)


def pair(links: int, accelerators: int = 1) -> Builder:
    """Two chips with so many links between them."""
    b = Builder("pair")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 8}), 2)
    b.connect("connect all")
    for _ in range(links):
        b.link(b.free(chip, 0), b.free(chip, 1))
    return b


def test_two_chips_are_symmetric() -> None:
    """The one symmetry of two linked chips exchanges them; a single chip has none to write."""
    view = View.whole(pair(2).build())
    assert {tuple(sorted(x.items())) for x in symmetries_of_forwarding_units(view)["symmetries"]} == {
        (("chip0", "chip1"), ("chip1", "chip0"))
    }


def ring(count: int, stored: int) -> Builder:
    """Chips in a ring, each with so many hosts for storage on ports of its own."""
    b = Builder("ring")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 8}, accelerators=1), count)
    store = b.devices("store", b.model("host", "STORE", {"nic": 1}), max(count * stored, 1))
    b.connect("connect all")
    for i in range(count):
        b.link(b.free(chip, i), b.free(chip, (i + 1) % count))
        for k in range(stored):
            b.link(b.free(chip, i), b.free(store, i * stored + k))
    return b


@pytest.mark.parametrize("stored", [0, 1])
def test_neighbours_that_forward_bound_what_separates_chips(stored: int) -> None:
    """Without time for a search: all chips are connected, and the two neighbours of one separate it from the others. Hosts for
    storage beside a chip separate nothing."""
    view = View.whole(ring(6, stored).build())
    found = least_separator_bounds(view)
    assert found is not None and (found.lower, found.upper) == (2, 2)
    quick = least_separator_bounds(replace(view, budget=replace(DEFAULT, disjoint_path_work=1)))
    assert quick is not None and quick.lower >= 1 and quick.upper == 2


def test_chips_that_are_connected_are_so_without_a_search() -> None:
    """A line of four chips with a closed square at one side: the far chip has one neighbour."""
    for links, lower in (([(0, 1), (1, 2), (2, 3), (3, 4), (4, 1)], 1), ([(0, 1), (2, 3), (3, 4), (4, 2)], 0)):
        b = Builder("line")
        chip = b.devices("chip", b.model("chip", "CHIP", {"p": 8}, accelerators=1), 5)
        b.connect("connect all")
        for x, y in links:
            b.link(b.free(chip, x), b.free(chip, y))
        view = View.whole(b.build())
        quick = least_separator_bounds(replace(view, budget=replace(DEFAULT, disjoint_path_work=0)))
        assert (quick.lower, quick.upper) == (lower, 1)
        assert least_separator_bounds(view).lower == lower


def test_hosts_without_a_role_are_the_units_where_no_host_has_accelerators() -> None:
    """And hosts of another role are not; where all have one, all are."""
    role = checker_column("devices", "role")
    for roles, units in (
        ((None, None, "storage"), 2),
        (("accelerator", None, "storage"), 1),
        (("storage", "storage", "storage"), 3),
    ):
        made = fabric(["h1", "h2", "h3"], ["s1"], [(h, "s1") for h in ("h1", "h2", "h3")])
        for row, said in zip(made["devices"]["rows"], roles, strict=False):
            row[role] = said
        for count in (1, 2, 3):
            stated = certificate("reachability", units=count, holds=True)
            if count == units:
                checker.verify(stated, made)
            else:
                with pytest.raises(checker.Rejected, match="the number of units is another"):
                    checker.verify(stated, made)


BACK = [(0, 1, 1), (1, 3, 1), (0, 4, 2), (4, 5, 2), (5, 3, 2), (3, 8, 2)]
"""Two units go from 0 to 8: one over the short way by 1, one over the long way, which has one left."""


@pytest.mark.parametrize("grain", [1, 10**9])
def test_the_cut_follows_flows_of_one_unit_back(grain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Node 1 is reached only against the unit that it sends to 3."""
    a, b, c = (np.array([x[i] for x in BACK], dtype=np.int64) for i in range(3))
    net = Network.of(np.ones(9, dtype=np.bool_), a, b, c * grain)
    own = max_flow(net, 0, 8)
    monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(module, "_own_max_flow", lambda *_: pytest.fail("our own search was asked"))
    found = max_flow(net, 0, 8)
    assert found.value == own.value == 2 * grain
    assert np.flatnonzero(found.side).tolist() == np.flatnonzero(own.side).tolist() == [0, 1, 3, 4, 5]


def test_domains_carry_as_much_backwards_as_forwards(tmp_path: Path) -> None:
    """Traffic in which some hosts send more than they receive, and the same traffic the other way."""
    made = racks(tmp_path, rate=200).designs[0].fabric
    assert made is not None
    domains = ByDomain.of(View.whole(made.network))
    one, other = np.array([0, 0, 0, 1]), np.array([3, 4, 5, 3])
    amount = np.array([1, 1, 1, 1])
    sent = Fraction(10**12)
    shares = {domains.carried(TrafficDemand(a, b, amount), sent) for a, b in ((one, other), (other, one))}
    assert len(shares) == 1 and 0 < shares.pop() < 1
    own = [domains._load(TrafficDemand(a, b, amount), Fraction(0)) for a, b in ((one, other), (other, one))]
    load = [domains._load(TrafficDemand(a, b, amount), sent) for a, b in ((one, other), (other, one))]
    assert own[0] == own[1] and load[0] == load[1]
    assert [x - y for x, y in zip(load[0], own[0], strict=True)] == [sent * n / 4 for n in (3, 1, 0, 2, 1, 1)]


@pytest.mark.parametrize(
    ("said", "classes", "name", "found"),
    [
        (5, None, "x", 5),
        ((1, 2, 3), ("x", "y", "z"), "x", 1),
        ((1, 2, 3), ("x", "y", "z"), "z", 3),
        ((1, 2, 3), ["x", "y", "z"], "y", 2),
        ((1, 2, 3), ("x", "y", "z"), "w", None),
        ((1, 2, 3), ("x", "y"), "x", None),
        ((1, 2), ("x", "y", "z"), "z", None),
        ((1, 2, 3), None, "x", None),
        ((1, 2, 3), 7, "x", None),
    ],
)
def test_a_setting_of_one_link_class(said: object, classes: object, name: str, found: object) -> None:
    """One value is for all classes; of a value a dimension the one at the place of the class is, where the numbers agree."""
    assert _value_of_class(said, classes, name) == found


def test_as_many_elements_as_the_limit_are_judged() -> None:
    """Four links of one switch, and limits of three and of four."""
    f = superpod(1, 4, 1, 1).build()
    every = np.ones(len(f.port_device), dtype=np.bool_)
    rows = np.arange(4)
    assert len(_NamedLinks(f, 4, every, every).of("links", rows)) == 4
    with pytest.raises(TooMany, match="4 links are named, and at most 3 are judged"):
        _NamedLinks(f, 3, every, every).of("links", rows)
