"""Pieces of proofs that are exact: shares of odd rates, delays without lengths, permutations by ports and by indices, elements
that are groups, flows that are kept, parts of a demand."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tdsl.certificates import checker
from tdsl.certificates.write import certificates_by_file_name, json_of_fabric_target
from tdsl.fabric.claims import FabricElement
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.bound import Bound, NotBounded
from tdsl.prove.budget import DEFAULT
from tdsl.prove.clos import best_spread
from tdsl.prove.column_generation import route_along_paths
from tdsl.prove.cuts import cut_with_nodes_placed
from tdsl.prove.delays import worst_delay
from tdsl.prove.demands import UnfitDemand, demand_of
from tdsl.prove.element_symmetry import symmetry_of_elements
from tdsl.prove.equal_split import UniformDemand
from tdsl.prove.local_search import _Clusters
from tdsl.prove.many_failures import Failures, KeptFlow
from tdsl.prove.network import Network
from tdsl.prove.restored_links import restore_missing_links
from tdsl.prove.spectral_bound import spectral_cut_bound
from tdsl.prove.symmetry_candidates import _exchange_devices, axis_steps, candidates_by_ports, transitive_candidates
from tdsl.prove.uniform_flow import uniform_flow_bounds
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.semantics.values import BareWord
from tests.fabrics import GBPS, Builder, claim, selector, superpod, torus
from tests.verify.test_small_bounds import wired


def test_shares_of_rates_with_a_small_common_divisor() -> None:
    """Rates that differ by one bit/s: parts of a grain are so few that sums stay within 64 bits."""
    for less in (0, 1):
        b = Builder("odd")
        sw = b.devices("leaf", b.model("switch", "SW", {"p": 64}), 2)
        spine = b.devices("spine", b.model("switch", "SPINE", {"p": 64}), 3)
        node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 16)
        for h in range(16):
            b.link(b.free(node, h), b.free(sw, h // 8), 400 * GBPS - less * (h == 0))
        for leaf in range(2):
            for s in range(3):
                b.link(b.free(sw, leaf), b.free(spine, s), 800 * GBPS)
        view = View.whole(b.build())
        found, net = best_spread(unit_network(view)), unit_network(view)
        assert found is not None and found.value * net.grain == 2400 * GBPS
        known = bisection_bounds(view)
        assert known.lower == known.upper and known.lower * net.grain == 2400 * GBPS


def test_unlike_hubs_get_parts_of_a_grain() -> None:
    """Four hosts on each leaf send a third to one spine and two thirds to the other."""
    links = [(f"h{h}", f"s{h // 4}") for h in range(8)]
    links += [(f"s{leaf}", f"s{spine}") for leaf in range(2) for spine, times in ((2, 2), (3, 4)) for _ in range(times)]
    net = unit_network(View.whole(wired(8, 4, links).build()))
    for times in (1, 100):
        found = best_spread(replace(net, capacity=net.capacity * times))
        assert found is not None and found.value == 4 * times


def test_the_spectrum_divides_by_hosts() -> None:
    """Two hosts a switch: a line of four has 1 - √½, two leaves of one spine have 1/2; a ten-thousandth less is shown."""
    line = [*((f"h{h}", f"s{h // 2}") for h in range(8)), *((f"s{i}", f"s{i + 1}") for i in range(3))]
    fork = [*((f"h{h}", f"s{h // 2}") for h in range(4)), ("s0", "s2"), ("s1", "s2")]
    for made, exact in ((wired(8, 4, line), 1 - 0.5**0.5), (wired(4, 3, fork), 0.5)):
        _, found = spectral_cut_bound(unit_network(View.whole(made.build())))
        assert 0.9998 * exact < found < 0.99995 * exact


def test_the_lowest_of_equal_hubs_is_taken() -> None:
    """One pod below cores that carry as much as its own spines."""
    links = [(f"h{h}", f"s{h // 2}") for h in range(4)]
    links += [(f"s{leaf}", f"s{2 + k}") for leaf in range(2) for k in range(2)]
    links += [(f"s{2 + k}", f"s{4 + c}") for k in range(2) for c in range(2)]
    net = unit_network(View.whole(wired(4, 6, links).build()))
    found = best_spread(net)
    assert found is not None and found.value == 2 and found.hubs == (2, 3)


def test_switches_that_no_unit_reaches_are_on_the_other_side() -> None:
    """The switch between others goes to the two of its side; two more switches are joined to each other alone."""
    links = [(f"h{h}", f"s{h}") for h in range(4)] + [("s4", "s0"), ("s4", "s1"), ("s4", "s2"), ("s2", "s3"), ("s5", "s6")]
    net = unit_network(View.whole(wired(4, 7, links).build()))
    found = cut_with_nodes_placed(net, np.array([1, 1, 0, 0], dtype=np.bool_))
    assert found.value == 1 and found.nodes.tolist() == [True, True, False, False, True, False, False]


def test_a_lone_switch_has_no_links_to_restore() -> None:
    b = Builder("lone")
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 64}), None)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 64}), 4)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    for k in range(4):
        b.link(b.free(node, k), b.free(leaf, k))
        b.link(b.free(spine, 0), b.free(leaf, k))
    f = b.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert restore_missing_links(unit_network(View.whole(f)), f) is None


def test_cables_without_a_length_take_no_time() -> None:
    f = wired(2, 2, [("h0", "s0"), ("s0", "s1"), ("s1", "h1")]).build()
    found = worst_delay(View.whole(f))
    assert isinstance(found, NotBounded) and found.known == Fraction(0)
    assert "3 links have no `length`" in found.reasons


def test_a_run_of_no_length_is_known() -> None:
    """Two cables of 1 m and one of no length take 9.8 ns."""
    f = wired(2, 2, [("h0", "s0"), ("s0", "s1"), ("s1", "h1")]).build()
    lengths = np.where(f.is_switch[f.device_a] & f.is_switch[f.device_b], 0, 10**6)
    quick = tuple(replace(m, facts={"latency": Quantity(Fraction(0), TIME)}) for m in f.models)
    found = worst_delay(View.whole(replace(f, models=quick, link_run=lengths)))
    assert isinstance(found, Bound) and found.lower == found.upper == Fraction(98, 10**10)


def test_a_flow_is_kept_by_links_to_spare() -> None:
    """Two ways, each of one link and then two: one of the two may fail, and with the one before them half of the flow is gone."""
    b = Builder("line")
    sw = b.devices("m", b.model("switch", "SW", {"p": 40}), 4)
    ends = [b.devices(name, b.model("host", name.upper(), {"nic": 8}, accelerators=1), 1) for name in ("x", "y")]
    for here, there, times in ((0, 1, 1), (0, 2, 1), (1, 3, 2), (2, 3, 2)):
        for _ in range(times):
            b.link(b.free(sw, here), b.free(sw, there))
    for end, at in zip(ends, (0, 3), strict=True):
        for _ in range(4):
            b.link(b.free(end, 0), b.free(sw, at))
    f = b.build()
    kept = KeptFlow(View.whole(f), claim(f, "throughput", of=(selector(f, "x"),), of_to=(selector(f, "y"),)))
    assert kept.judged and kept.value == 800 * GBPS
    lost = np.eye(f.link_count, dtype=np.bool_)
    certain, value, _ = kept.figures(Failures(np.zeros((f.link_count, f.device_count), dtype=np.bool_), lost))
    first = (f.device_a == 0) & f.is_switch[f.device_b]
    assert certain.all() and first.sum() == 2 and (value == np.where(first, 400, 800) * GBPS).all()


def test_a_file_of_demands_is_as_large_as_the_limit(tmp_path: Path) -> None:
    """32 MiB are read, and a byte more is not."""
    f = wired(2, 1, [("h0", "s0"), ("h1", "s0")]).build()
    asked = replace(
        claim(f, "throughput", args=("m.csv",)), origin=Origin(SourceSpan(SourceFile(str(tmp_path / "f.fab"), "require"), 0, 7))
    )
    matrix = "0,1\n1,0\n"
    text = matrix + "#" + ("x" * 99_999 + ",") * 335
    (tmp_path / "m.csv").write_text(text + "," * (2**25 - len(text)))
    assert demand_of(View.whole(f), asked).amount.tolist() == [10**6, 10**6]
    with (tmp_path / "m.csv").open("a") as file:
        file.write(",")
    with pytest.raises(UnfitDemand, match="larger than 32 MiB"):
        demand_of(View.whole(f), asked)


def test_a_certificate_of_another_schema() -> None:
    fabric = json.loads(json_of_fabric_target(wired(2, 1, [("h0", "s0"), ("h1", "s0")]).build()))
    stated = {"fabric": "wired", "check": "reachability", "units": 2, "holds": True}
    checker.verify(stated | {"schema": checker.SCHEMA}, fabric)
    for schema in (0, 1, checker.SCHEMA + 1):
        with pytest.raises(checker.Rejected, match="of another schema"):
            checker.verify(stated | {"schema": schema}, fabric)


def test_flows_that_are_all_routes_have_one_share() -> None:
    f = superpod(2, 4, 2, 2).build()
    made = certificates_by_file_name(f, [claim(f, "throughput", args=(BareWord("ring"),))], [])
    routes = [body["lower"]["routes"] for body in made.values()]
    assert [[(route["by"], route["share"]) for route in each] for each in routes] == [[("flows", 1)]]


def test_one_set_of_routes_has_one_share() -> None:
    view = View.whole(superpod(2, 4, 2, 2).build())
    graph = UnitGraph.of(view, unit_network(view))
    found = uniform_flow_bounds(graph, UniformDemand.all_to_all(graph), budget=replace(DEFAULT, uniform_rounds=1))
    assert found is not None and found.shares == (1,)


def test_the_order_of_many_rounds_stays_finite() -> None:
    net = unit_network(View.whole(superpod(2, 4, 2, 2).build()))
    graph = UnitGraph.of(View.whole(superpod(2, 4, 2, 2).build()), net)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(_Clusters.of_graph(graph).fiedler(3000)).all()


def test_steps_along_indices() -> None:
    """A group of two with two chips each is a line of four, or two by two; three by itself is a ring of three."""
    b = Builder("steps")
    chip = b.model("chip", "CHIP", {"p": 4})
    cube, alone = b.devices("cube.chip", chip, 2, 2), b.devices("x", chip, 3)
    assert [[step.tolist() for step in way] for way in axis_steps(cube)] == [
        [[1, 2, 3, 0]],
        [[2, 3, 0, 1], [1, 0, 3, 2]],
    ]
    assert [[step.tolist() for step in way] for way in axis_steps(alone)] == [[[1, 2, 0]]]


def test_permutations_that_follow_ports() -> None:
    """A ring of five by port 0 and 1: one step either way."""
    f = torus(5).build()
    assert sorted(image.tolist() for image in candidates_by_ports(f, np.arange(5))) == [[1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]


def test_steps_are_those_of_one_whole_declaration() -> None:
    b = torus(5)
    b.devices("x", b.sets[0].model, 5)
    f = b.build()
    ways = [[[image.tolist() for image in way] for way in transitive_candidates(f, np.arange(n))] for n in (4, 5, 10)]
    assert ways == [[], [[[1, 2, 3, 4, 0]], [[1, 2, 3, 4, 0], [4, 0, 1, 2, 3]]], []]


def test_devices_are_exchanged_with_their_contents() -> None:
    """A switch, then three hosts with three chips each; the last two hosts change places."""
    b = Builder("contents")
    b.devices("sw", b.model("switch", "SW", {"p": 4}), 1)
    host = b.devices("h", b.model("host", "HOST", {"nic": 1}), 3)
    b.devices("h.gpu", b.model("chip", "GPU", {"p": 1}), 3, 3, inside=host)
    view, image = View.whole(b.build()), np.arange(13)
    _exchange_devices(view, image, 2, 3)
    assert image.tolist() == [0, 1, 3, 2, 4, 5, 6, 10, 11, 12, 7, 8, 9]


def test_groups_are_exchanged_as_a_whole() -> None:
    """Hosts of one leaf may be exchanged, but not racks that hold another switch each beside them."""
    f = wired(4, 3, [(f"h{h}", "s0") for h in range(4)] + [("s0", "s1"), ("s1", "s2"), ("h3", "s1")]).build()
    view = View.whole(f)
    hosts = [d for d in range(f.device_count) if f.is_end[d]]
    racks = [FabricElement(f"rack{k}", np.array([hosts[k], 1 + k]), np.zeros(0, dtype=np.int64)) for k in range(2)]
    assert symmetry_of_elements(view, racks, frozenset()).orbits() == [[0], [1]]
    alone = [FabricElement(f"h{k}", np.array([hosts[k]]), np.zeros(0, dtype=np.int64)) for k in range(2)]
    assert symmetry_of_elements(view, alone, frozenset()).orbits() == [[0, 1]]


@pytest.mark.parametrize(
    ("sizes", "whole"),
    [
        ((1,), 1), ((1, 1), 2), ((1, 2), 6), ((1, 3), 12), ((1, 4), 60), ((3, 4), 420), ((4, 5), 5040), ((5, 6), 720_720),
        ((1, 18), 10**9),
    ],
)  # fmt: skip
def test_a_demand_is_divided_into_the_fewest_parts(sizes: tuple[int, ...], whole: int) -> None:
    """Two ways from the first node to the last with these capacities."""
    count = len(sizes)
    tail = np.array([0] * count + list(range(1, count + 1)))
    head = np.array([*range(1, count + 1), *[count + 1] * count])
    net = Network.of(np.ones(count + 2, dtype=np.bool_), tail, head, np.array([*sizes, *sizes]))
    demand = np.array([0]), np.array([count + 1]), np.array([1])
    found = route_along_paths(net, demand, Fraction(sum(sizes) * 2))
    assert found is not None and found.whole == whole and found.upper == sum(sizes)
    assert (found.lower == sum(sizes)) == (whole < 10**9)
