"""Methods of the second opinion on small fabrics: figures worked out by hand, and the reasons for no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.second import graph_figures, patterns, ports, times
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import GBPS, Builder, claim, multiplane, rail_only, selector, swapped, torus

LIMITS = Limits()
RATE = 400 * GBPS


def two_leaves(trunk: int = 1, rate: int = RATE, file: str = "made.fab") -> Builder:
    """Hosts 0 and 1 at leaf 0, hosts 2 and 3 at leaf 1, one link each, and ``trunk`` links between the leaves."""
    b = Builder("two_leaves", file=SourceFile(file, ""))
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 4)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 8}), 2)
    for n in range(4):
        b.link(b.port(host, n), b.free(leaf, n // 2), rate)
    for _ in range(trunk):
        b.link(b.free(leaf, 0), b.free(leaf, 1))
    return b


def star(*rates: int) -> Builder:
    """Hosts with one link each to one switch."""
    b = Builder("star")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), len(rates))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for n, rate in enumerate(rates):
        if rate:
            b.link(b.port(host, n), b.port(switch, 0, "p", n), rate)
    return b


def sent(fabric: Fabric, *args: object, limits: Limits = LIMITS, **more: Any) -> SecondAnswer:
    """The second figure of a throughput."""
    return patterns.pattern_throughput_by_highs(
        WiringGraph.whole(fabric), claim(fabric, "throughput", args=args, report=True, **more), limits
    )


def figure(method: Callable[..., SecondAnswer], fabric: Fabric, **given: Any) -> SecondAnswer:
    """The second figure of a check without arguments."""
    return method(WiringGraph.whole(fabric), claim(fabric, method.__name__, report=True, **given), LIMITS)


# ---------------------------------------------------------------- throughput


@pytest.mark.parametrize(
    ("args", "trunk", "share", "full"),
    [
        # Shift by 2: all four hosts send over the trunk, two in each direction, 2 x 400G of `trunk` x 400G.
        (("shift", 2), 1, Fraction(1, 2), 4 * RATE),
        (("shift", 2), 2, Fraction(1), 4 * RATE),
        (("shift", 2), 3, Fraction(1), 4 * RATE),
        # Ring: 1 to 2 and 3 to 0 cross the trunk, one in each direction.
        (("ring",), 1, Fraction(1), 4 * RATE),
        (("shift", -1), 1, Fraction(1), 4 * RATE),
        # All to all: a host sends to 3 others; 4 pairs cross in each direction, at 400G / 3 each of a trunk of 400G.
        (("all_to_all",), 1, Fraction(3, 4), 4 * RATE),
        (("all_to_all",), 2, Fraction(1), 4 * RATE),
    ],
)
def test_patterns_over_a_trunk(args: tuple[object, ...], trunk: int, share: Fraction, full: int) -> None:
    found = sent(two_leaves(trunk).build(), *args)
    assert found.by == "HiGHS" and found.lower == found.upper
    assert float(found.lower) == pytest.approx(float(share), abs=1e-9)
    assert found.full_bps == full


@pytest.mark.parametrize(
    ("text", "share", "full"),
    [
        # Both flows cross the trunk: half of 2 x 400G.
        ("from,to,amount\n0,2,1\n1,3,1\n", 0.5, 2 * RATE),
        # Names and paths are the same as numbers, comments and blank lines are left out.
        ("# demands\nFrom, To, Amount\nnode0,node[2],1\n\n 1 , 3 , 1\n", 0.5, 2 * RATE),
        # A pair that is given twice is added up; host 0 sends 2, so 400G is 2 units: 1 + 0.5 times 400G over the trunk.
        ("from,to,amount\n0,2,1\n1,3,1\n0,2,1\n", 2 / 3, RATE * Fraction(3, 2)),
        # Host 0 sends 3 + 1 within its leaf and to host 2: 400G is 4 units, the trunk has 1 of them.
        ("from,to,amount\n0,1,3\n0,2,1\n", 1.0, RATE),
        # What a host sends to itself and amounts of 0 do not count.
        ("from,to,amount\n0,0,9\n0,1,0.25\n1,2,0\n", 1.0, RATE),
        # A matrix: 0 to 2 and 1 to 3, 2 units each; host 2 gets no more than the trunk has.
        ("0,0,2,0\n0,0,0,2\n0,0,0,0\n0,0,0,0\n", 0.5, 2 * RATE),
        ("0,1,0,0\n0,0,0,0\n0,0,0,0.5\n0,0,0,0\n", 1.0, RATE * Fraction(3, 2)),
    ],
)
def test_demands_of_a_file(tmp_path: Path, text: str, share: float, full: Fraction) -> None:
    (tmp_path / "demands.csv").write_text(text, encoding="utf-8")
    found = sent(two_leaves(file=str(tmp_path / "made.fab")).build(), "demands.csv")
    assert float(found.lower) == pytest.approx(share, abs=1e-9)
    assert found.full_bps == full


@pytest.mark.parametrize("head", ["", "from,to\n", "From , TO\n"])
def test_a_permutation_of_a_file(tmp_path: Path, head: str) -> None:
    (tmp_path / "pairs.csv").write_text(head + "0,2\n1,3\n2,1\n3,0\n", encoding="utf-8")
    found = sent(two_leaves(file=str(tmp_path / "made.fab")).build(), "permutation", "pairs.csv")
    assert float(found.lower) == pytest.approx(0.5, abs=1e-9)
    assert found.full_bps == 4 * RATE


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "demands.csv cannot be read"),
        ("from,to,amount\n0,7,1\n", "demands.csv is not read a second time"),
        ("from,to,amount\n0,1,much\n", "demands.csv is not read a second time"),
        ("0,1,1,1\n1,0,1,1\n1,1,0,1\n", "demands.csv is not read a second time"),
        ("0,1,1\n1,0,1\n1,1,0\n1,1,1\n", "demands.csv is not read a second time"),
        ("from,to,amount\n2,2,1\n", "nobody sends to anybody else"),
        ("from,to,amount\n0,2,0\n", "nobody sends to anybody else"),
    ],
)
def test_a_file_without_an_answer(tmp_path: Path, text: str | None, why: str) -> None:
    if text is not None:
        (tmp_path / "demands.csv").write_text(text, encoding="utf-8")
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        sent(two_leaves(file=str(tmp_path / "made.fab")).build(), "demands.csv")


@pytest.mark.parametrize(
    ("made", "args", "why"),
    [
        (star(RATE), ("all_to_all",), "there are fewer than two units"),
        (star(RATE, RATE, 0), ("all_to_all",), "a unit that sends or receives has no link"),
        (star(RATE, RATE), ("shift", 2), "the pattern says nothing about this fabric"),
        (star(RATE, RATE), ("shift", 0), "the pattern says nothing about this fabric"),
        (star(RATE, RATE), ("shift", Fraction(1, 2)), "the pattern says nothing about this fabric"),
        (torus(3), ("rail_allreduce",), "the pattern says nothing about this fabric"),
        (star(10**12, 10**12, 10**6 - 1), ("ring",), "rates or demands are too far apart for the floats of HiGHS"),
    ],
)
def test_patterns_without_an_answer(made: Builder, args: tuple[object, ...], why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        sent(made.build(), *args)


def test_sizes_of_the_linear_program() -> None:
    """3 hosts have 9 pairs; 3 sources with 6 directions of links are 18 columns."""
    fabric = star(RATE, RATE, RATE).build()
    assert sent(fabric, "ring", limits=Limits(columns=18)).by == "HiGHS"
    for limit, size in ((8, "9 pairs of units"), (9, "18 columns, of 3 sources and 6 directions of links"), (17, "18 columns, ")):
        with pytest.raises(MethodTooLarge, match=rf"^too large for HiGHS: {size}.*; the limit is {limit}$"):
            sent(fabric, "ring", limits=Limits(columns=limit))
    with pytest.raises(NoOpinion, match=r"^HiGHS found no optimum within its limit$"):
        sent(torus(3, 3).build(), "all_to_all", limits=Limits(iterations=1))


def test_the_least_share_of_a_rate() -> None:
    """A millionth of the greatest rate is far enough above the tolerances of the program."""
    assert sent(star(10**12, 10**12, 10**6).build(), "ring").full_bps == 3 * 10**6


def railed(*of: tuple[int, ...]) -> Builder:
    """Hosts with two GPUs that are joined inside; each is connected to the switches of the rails that are given."""
    b = Builder("railed")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=2, scaleup=True), len(of))
    switch = b.devices("rail", b.model("switch", "SW", {"p": 8}), 2)
    for n, rails in enumerate(of):
        for r in rails:
            b.link(b.port(node, n, "nic", r), b.port(switch, r, "p", n))
    return b


@pytest.mark.parametrize(
    ("of", "args", "share", "full"),
    [
        # Every rail is a star of its own.
        (((0, 1), (0, 1), (0, 1)), ("shift", 1), 1, 6 * RATE),
        (((0, 1), (0, 1), (0, 1)), ("ring",), 1, 6 * RATE),
        # Two hosts without a common rail exchange nothing.
        (((0, 1), (0,), (1,)), ("shift", 1), 0, 0),
        # A ring runs over the hosts that a rail has: 3 on rail 0, 2 on rail 1.
        (((0, 1), (0,), (0, 1)), ("ring",), 1, 5 * RATE),
        # Shift by 1: 0 to 1 and 1 to 2 on rail 0 alone, 2 to 0 on both: 4 flows of 400G.
        (((0, 1), (0,), (0, 1)), ("shift", 1), 1, 4 * RATE),
    ],
)
def test_patterns_by_rail(of: tuple[tuple[int, ...], ...], args: tuple[object, ...], share: int, full: int) -> None:
    found = sent(railed(*of).build(), *args)
    assert float(found.lower) == pytest.approx(share, abs=1e-9)
    assert found.full_bps == full


def test_rails_without_an_answer() -> None:
    with pytest.raises(NoOpinion, match=r"^a unit has no link$"):
        sent(railed((0, 1), (0, 1), ()).build(), "ring")
    with pytest.raises(NoOpinion, match=r"^there are units without a scale-up domain$"):
        sent(rail_only(4, 2, scaleup=False).build(), "all_to_all", through="scaleup")
    with pytest.raises(NoOpinion, match=r"^no two ends that exchange something are left$"):
        sent(railed((0,), (1,)).build(), "ring")


def test_throughput_between_two_sets() -> None:
    """Two hosts send over trunks of 400G; 100% is what the ports of the smaller set carry."""
    for trunk, share in ((1, Fraction(1, 2)), (2, Fraction(1)), (3, Fraction(1))):
        fabric = two_leaves(trunk).build()
        node = selector(fabric, "node")
        halves = [type(node)(f"node[{i}..{i + 1}]", node.kind, node.elements[i : i + 2]) for i in (0, 2)]
        asked = claim(fabric, "throughput", of=(halves[0],), of_to=(halves[1],), report=True)
        found = graph_figures.throughput_between_by_networkx(WiringGraph.whole(fabric), asked, LIMITS)
        assert (found.lower, found.upper, found.full_bps) == (share, share, Fraction(2 * RATE))
        same = claim(fabric, "throughput", of=(halves[0],), of_to=(halves[0],), report=True)
        with pytest.raises(NoOpinion, match=r"^one set is empty, or they have a device in common$"):
            graph_figures.throughput_between_by_networkx(WiringGraph.whole(fabric), same, LIMITS)
    fabric = star(RATE, 0).build()
    node = selector(fabric, "node")
    one, two = (type(node)(f"node[{k}]", node.kind, (e,)) for k, e in enumerate(node.elements))
    with pytest.raises(NoOpinion, match=r"^one of the two has no link$"):
        graph_figures.throughput_between_by_networkx(
            WiringGraph.whole(fabric), claim(fabric, "throughput", of=(one,), of_to=(two,)), LIMITS
        )


# ---------------------------------------------------------------- times


def line(lengths: tuple[object, ...], latency: object = Quantity(Fraction(300, 10**9), TIME)) -> Builder:
    """Hosts 0 and 1 at leaf 0, host 2 at leaf 1, by cables of class near; the leaves are joined by two of class far."""
    b = Builder("line")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 3)
    model = b.model("switch", "SW", {"p": 8})
    if latency is not None:
        model = b.models[-1] = replace(model, facts={"latency": latency})
    leaf = b.devices("leaf", model, 2)
    b.connect("connect", length=lengths, **{"class": ("near", "far")})
    for n in range(3):
        b.link(b.port(host, n), b.free(leaf, n // 2), cls="near")
    for _ in range(2):
        b.link(b.free(leaf, 0), b.free(leaf, 1), cls="far")
    return b


def metres(n: int) -> Quantity:
    """A length, as a design states it."""
    return Quantity(Fraction(n), LENGTH)


@pytest.mark.parametrize(
    ("near", "far", "ns"),
    [
        (10, 20, Fraction(796)),  # (10 + 20 + 10) m of 4.9 ns, and two switches of 300 ns
        (0, 0, Fraction(600)),
        (100, 1, Fraction(15849, 10)),  # 201 m and two switches: 984.9 + 600
    ],
)
def test_latency_by_the_classes_of_a_statement(near: int, far: int, ns: Fraction) -> None:
    fabric = line((metres(near), metres(far))).build()
    assert figure(times.latency_by_dijkstra, fabric).lower == ns / 10**9
    assert figure(times.latency_by_dijkstra, fabric).upper == ns / 10**9


def test_a_panel_doubles_the_cable() -> None:
    """Through panels each link is two cables: 80 m of 4.9 ns, and two switches of 300 ns."""
    fabric = line((metres(10), metres(20))).build()
    through = replace(fabric, link_via_a=np.zeros(fabric.link_count, dtype=np.int64))
    w = replace(WiringGraph.whole(fabric), fabric=through)
    assert times.latency_by_dijkstra(w, None, LIMITS).lower == Fraction(992, 10**9)


def test_latency_of_hosts_at_one_switch() -> None:
    """The two longest cables count: 2 x 20 m of 4.9 ns and 300 ns."""
    b = Builder("one")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 3)
    model = b.model("switch", "SW", {"p": 8})
    model = b.models[-1] = replace(model, facts={"latency": Quantity(Fraction(300, 10**9), TIME)})
    switch = b.devices("sw", model, 1)
    for n, far in enumerate((20, 10, 20)):
        b.connect("connect", length=metres(far))
        b.link(b.port(host, n), b.port(switch, 0, "p", n))
    assert figure(times.latency_by_dijkstra, b.build()).lower == Fraction(496, 10**9)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (line((metres(1),)), "a link states no length"),
        (line((metres(1), None)), "a link states no length"),
        (line((metres(1), Quantity(Fraction(1), TIME))), "a link states no length"),
        (line((metres(1), metres(1)), None), "a device states no latency"),
        (line((metres(1), metres(1)), metres(1)), "a device states no latency"),
        (star(0, 0), "no two ends reach each other"),
    ],
)
def test_latency_without_an_answer(made: Builder, why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        figure(times.latency_by_dijkstra, made.build())


SIZE_8E11 = Quantity(Fraction(8 * 10**11), SIZE)


def test_allreduce_inside_hosts_and_over_rails() -> None:
    """2 GPUs a host at 100 Gbit/s inside, 4 hosts, 400 Gbit/s a rail: 2 x 1/2 x 8 s, and 2 x 3/4 of half the data at 400G."""
    fabric = rail_only(4, 2).build()
    found = figure(times.allreduce_by_formulas, fabric, args=(SIZE_8E11,))
    assert (found.lower, found.upper, found.by) == (Fraction(19, 2), float("inf"), "networkx")
    more = figure(times.allreduce_by_formulas, rail_only(3, 4).build(), args=(SIZE_8E11,))
    assert more.lower == 12 + Fraction(2, 3)  # 2 x 3/4 x 8 s inside, and 2 x 2/3 of a quarter of it at 400G


def test_allreduce_without_an_answer() -> None:
    fabric = rail_only(4, 2, scaleup=False).build()
    for args, why in (((SIZE_8E11,), "no model applies"), ((), "no size is given"), ((metres(1),), "no size is given")):
        with pytest.raises(NoOpinion, match=rf"^{why}$"):
            figure(times.allreduce_by_formulas, fabric, args=args)
    for made in (star(RATE), star(RATE, 0)):
        with pytest.raises(NoOpinion, match=r"^some units do not reach each other$"):
            figure(times.allreduce_by_formulas, made.build(), args=(SIZE_8E11,))


# ---------------------------------------------------------------- ports and rails


def test_a_port_carries_one_link() -> None:
    b = star(RATE, RATE)
    assert figure(ports.port_budget_by_networkx, b.build()).holds is True
    b.link(b.port(b.sets[0], 0), b.port(b.sets[1], 0, "p", 5))
    assert figure(ports.port_budget_by_networkx, b.build()).holds is False
    b = Builder("spare")  # the host has a port for each of the two cables, but both are at one
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 1)
    switch = b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    b.link(b.port(node, 0, "nic", 0), b.port(switch, 0, "p", 0))
    b.link(b.port(node, 0, "nic", 0), b.port(switch, 0, "p", 1))
    assert figure(ports.port_budget_by_networkx, b.build()).holds is False


def test_rails_of_ports() -> None:
    fabric = rail_only(3, 2).build()
    found, serves, organised = ports.rails_of_links(WiringGraph.whole(fabric))
    assert organised and sorted(found.values()) == [(h, 3 + r, r) for h in range(3) for r in range(2)]
    assert serves == {3: 0, 4: 1}
    assert figure(ports.rail_alignment_by_networkx, fabric).holds is True
    exchanged = swapped(fabric, 0, 1)  # two cables of host 0 are exchanged
    assert ports.rails_of_links(WiringGraph.whole(exchanged))[1:] == ({3: 0, 4: 1}, True)
    assert figure(ports.rail_alignment_by_networkx, exchanged).holds is False


def test_indexes_that_number_planes_are_no_rails() -> None:
    fabric = multiplane(2, 4).build()
    assert ports.rails_of_links(WiringGraph.whole(fabric)) == ({}, {}, False)
    with pytest.raises(NoOpinion, match=r"^the design is not organised by rails$"):
        figure(ports.rail_alignment_by_networkx, fabric)
    with pytest.raises(NoOpinion, match=r"^the design is not organised by rails$"):
        ports.rail_alignment_by_networkx(WiringGraph.whole(fabric), None, LIMITS)
    asked = claim(fabric, "rail_alignment")
    assert ports.rail_alignment_by_networkx(WiringGraph.whole(fabric), asked, LIMITS).holds is False


def test_a_port_class_without_an_index_has_no_rail() -> None:
    b = Builder("plain")
    node = b.devices("node", b.model("host", "NODE", {"nic": {"shape": ()}}, accelerators=1), 2)
    switch = b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    for n in range(2):
        b.link(b.port(node, n, "nic"), b.port(switch, 0, "p", n))
    assert ports.rails_of_links(WiringGraph.whole(b.build())) == ({}, {}, False)


# ---------------------------------------------------------------- figures of networkx


def test_work_up_to_the_limit() -> None:
    graph_figures.refuse_too_many_steps(7, Limits(steps=7), "much")
    with pytest.raises(MethodTooLarge, match=r"^too large for networkx: much, 8 steps; the limit is 7$"):
        graph_figures.refuse_too_many_steps(8, Limits(steps=7), "much")


def apart() -> Fabric:
    """Two hosts, each at a switch of its own, and no link between the switches."""
    return two_leaves(0).build()


def pair() -> Fabric:
    """Two hosts joined by two cables, without a switch."""
    b = Builder("pair")
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}), 2)
    for i in range(2):
        b.link(b.port(node, 0, "nic", i), b.port(node, 1, "nic", i))
    return b.build()


@pytest.mark.parametrize(
    ("method", "fabric", "value"),
    [
        (graph_figures.diameter_by_networkx, two_leaves().build(), 1),
        (graph_figures.diameter_by_networkx, star(RATE, RATE).build(), 0),
        # Ordered pairs: 4 at distance 0 (within a leaf), 8 at distance 1.
        (graph_figures.mean_hops_by_networkx, two_leaves().build(), Fraction(2, 3)),
        (graph_figures.mean_hops_by_networkx, apart(), 0),
        (graph_figures.edge_redundancy_by_networkx, pair(), 2),
        (graph_figures.edge_redundancy_by_networkx, two_leaves().build(), 1),
        (graph_figures.edge_redundancy_by_networkx, apart(), 0),
        (graph_figures.edge_redundancy_by_networkx, torus(3).build(), 2),
        (graph_figures.edge_redundancy_by_networkx, torus(3, 3).build(), 4),
        (graph_figures.node_redundancy_by_networkx, torus(3, 3).build(), 4),
        (graph_figures.node_redundancy_by_networkx, torus(3).build(), 2),
        (graph_figures.node_redundancy_by_networkx, apart(), 0),
        (graph_figures.node_redundancy_by_networkx, two_leaves(3).build(), 1),
        (graph_figures.link_count_by_networkx, two_leaves(3).build(), 7),
        (graph_figures.switch_count_by_networkx, two_leaves(3).build(), 2),
    ],
)
def test_small_figures(method: Callable[..., SecondAnswer], fabric: Fabric, value: int | Fraction) -> None:
    found = figure(method, fabric)
    assert (found.lower, found.upper, found.by) == (value, value, "networkx")


@pytest.mark.parametrize(
    ("method", "fabric", "given", "why"),
    [
        (graph_figures.diameter_by_networkx, pair(), {}, "no end is attached to a switch"),
        (graph_figures.mean_hops_by_networkx, pair(), {}, "no two ends reach each other"),
        (graph_figures.mean_hops_by_networkx, star(RATE, 0).build(), {}, "no two ends reach each other"),
        (graph_figures.edge_redundancy_by_networkx, star(RATE).build(), {}, "there are fewer than two units"),
        (graph_figures.node_redundancy_by_networkx, star(RATE).build(), {}, "there are fewer than two units"),
        (graph_figures.blast_radius_by_networkx, pair(), {"through": "scaleup"}, "scale-up domains have no second method"),
        (graph_figures.blast_radius_by_networkx, pair(), {"any_of": "links"}, "only devices and groups are failed a second time"),
        (graph_figures.oversubscription_by_networkx, torus(3).build(), {}, "the fabric is direct: it has no tiers"),
        (
            graph_figures.oversubscription_by_networkx,
            two_leaves().build(),
            {},
            "no switch looked at has links to a tier above it",
        ),
    ],
)
def test_figures_without_an_answer(method: Callable[..., SecondAnswer], fabric: Fabric, given: dict[str, Any], why: str) -> None:
    with pytest.raises(NoOpinion, match=rf"^{why}$"):
        figure(method, fabric, **given)


@pytest.mark.parametrize(("trunk", "ratio"), [(0, float("inf")), (1, Fraction(2)), (2, Fraction(1)), (4, Fraction(1, 2))])
def test_taper_of_a_leaf(trunk: int, ratio: Fraction | float) -> None:
    """A leaf has 2 x 400G to hosts and `trunk` x 400G to the other leaf."""
    fabric = two_leaves(trunk).build()
    assert figure(graph_figures.taper_by_networkx, fabric, of=(selector(fabric, "leaf"),)).lower == ratio


def test_blast_radius_of_a_leaf() -> None:
    """With a leaf its two hosts lose their path; the other two still reach each other."""
    fabric = two_leaves().build()
    assert figure(graph_figures.blast_radius_by_networkx, fabric, of=(selector(fabric, "leaf"),)).lower == 2
    assert figure(graph_figures.blast_radius_by_networkx, fabric, of=(selector(fabric, "node"),)).lower == 1
    whole = star(RATE, RATE, RATE).build()
    assert figure(graph_figures.blast_radius_by_networkx, whole, of=(selector(whole, "sw"),)).lower == 3


@pytest.mark.parametrize(
    ("fabric", "holds"), [(two_leaves().build(), True), (apart(), False), (star(RATE, 0).build(), False), (pair(), True)]
)
def test_reachability_of_all_units(fabric: Fabric, holds: bool) -> None:
    assert figure(graph_figures.reachability_by_networkx, fabric).holds is holds


def test_names_of_devices_are_in_order() -> None:
    w = WiringGraph.whole(two_leaves().build())
    assert w.names({5, 0, 3}) == ["node0", "node3", "leaf1"]
