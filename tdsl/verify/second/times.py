"""Times again: the least delay by Dijkstra's algorithm in networkx, and all-reduce from its formulas with
z3's bisection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, SIZE, TIME, Quantity
from tdsl.verify.second import halves
from tdsl.verify.second.answer import NETWORKX, Z3, Limits, NoOpinion, SecondAnswer, exact_answer
from tdsl.verify.second.graph_figures import (
    has_complete_scaleup,
    reachability_by_networkx,
    refuse_too_many_steps,
)
from tdsl.verify.second.ports import rails_of_classes
from tdsl.verify.second.wiring import WiringGraph

if TYPE_CHECKING:
    import networkx

SECOND = 10**15
"""Femtoseconds; what a design states is rounded up to whole ones."""

METRE = Fraction(4_900_000)
"""Femtoseconds that light takes for a metre of fibre: group index 1.468 over c."""


def latency_by_dijkstra(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The greatest over pairs of ends of the least sum of delays between them, in seconds."""
    return exact_answer(NETWORKX, Fraction(_longest_least_delay(w, limits), SECOND))


def _longest_least_delay(w: WiringGraph, limits: Limits) -> int:
    """In femtoseconds. Raises NoOpinion where a device that is passed states no latency, or a link no
    length."""
    import networkx

    own = {d: _stated_latency(w.fabric, d) for d in w.graph}
    if any(own[d] is None and w.graph.degree(d) for d in w.forwards):
        raise NoOpinion("a device states no latency")
    passed = {d: took or 0 for d, took in own.items()}
    net, ends = _delays_between_devices(w, passed)
    steps = len(ends) * 4 * (net.number_of_edges() + net.number_of_nodes())
    refuse_too_many_steps(steps, limits, f"{len(ends):,} sources, {net.number_of_edges():,} pairs with links")
    worst = -1
    for source, here in ends.items():
        first = passed[source] + max(here)
        for target, far in networkx.single_source_dijkstra_path_length(net, source, weight="time").items():
            if target != source and target in ends:
                worst = max(worst, first + far + max(ends[target]))
        if len(here) > 1:
            worst = max(worst, passed[source] + sum(sorted(here)[-2:]))
    if worst < 0:
        raise NoOpinion("no two ends reach each other")
    return worst


def _delays_between_devices(
    w: WiringGraph, passed: Mapping[int, int]
) -> tuple[networkx.DiGraph[int], dict[int, list[int]]]:
    """The forwarding devices with the ``time`` of each link and the device behind it, and by device what each
    end there adds to a path."""
    import networkx

    time = {row: _cable_delay(w, row) for *_, row in w.graph.edges(keys=True)}
    net: networkx.DiGraph[int] = networkx.DiGraph()
    net.add_nodes_from(w.forwards)
    mine = set(w.units)
    ends: dict[int, list[int]] = {d: [0] for d in mine & w.forwards}
    for a, b, row in w.graph.edges(keys=True):
        for one, other in ((a, b), (b, a)):
            if {one, other} <= w.forwards:
                took = time[row] + passed[other]
                known = net.get_edge_data(one, other, {"time": took})["time"]
                net.add_edge(one, other, time=min(took, known))
            elif one in mine and one not in w.forwards and other in w.forwards:
                ends.setdefault(other, []).append(time[row] + passed[one])
    return net, ends


def _stated_latency(f: Fabric, device: int) -> int | None:
    """The latency that the declaration of a device states, else its model, in femtoseconds."""
    said = f.set_of(device).settings.get("latency", f.model_of(device).facts.get("latency"))
    return ceil(said.amount * SECOND) if isinstance(said, Quantity) and said.dim == TIME else None


def _cable_delay(w: WiringGraph, row: int) -> int:
    """The delay of a link's cable, twice that of one through a panel, in femtoseconds."""
    f = w.fabric
    settings = f.statements[int(f.link_statement[row])].settings
    said, classes = settings.get("length"), settings.get("class")
    if isinstance(said, tuple):
        name = f.classes[int(f.link_class[row])] if int(f.link_class[row]) >= 0 else None
        fitting = isinstance(classes, Sequence) and len(classes) == len(said) and name in classes
        said = said[list(classes).index(name)] if fitting and isinstance(classes, Sequence) else None
    if not isinstance(said, Quantity) or said.dim != LENGTH:
        raise NoOpinion("a link states no length")
    return ceil(said.amount * METRE) * (2 if int(f.link_via_a[row]) >= 0 else 1)


# ---------------------------------------------------------------- collective operations


def allreduce_by_formulas(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The least of the models that `tdsl explain allreduce` lists, in seconds; at least that where a latency
    is not stated."""
    if w.fabric.whole is not None:
        raise NoOpinion("scale-up domains of several hosts have no second method")
    bits = _bits_of_claim(claim)
    if len(w.units) < 2 or not reachability_by_networkx(w, None, limits).holds:
        raise NoOpinion("some units do not reach each other")
    try:
        alpha, known = Fraction(_longest_least_delay(w, limits), SECOND), True
    except NoOpinion:
        alpha, known = Fraction(0), False
    each = {u: _ranks_of_unit(w.fabric.model_of(u)) for u in w.units}
    net = w.among(w.forwards | set(w.units))
    rate = min(Fraction(net.degree(u, weight="rate"), each[u]) for u in w.units)
    if not rate:
        raise NoOpinion("a unit has no link")
    found: list[Fraction] = []
    by = NETWORKX
    if not _rails_are_apart(w):
        by = Z3
        found += _times_over_network(w, sum(each.values()), alpha, bits / rate, limits)
    found += _times_through_hosts(w, each, alpha, bits, rate)
    if not found:
        raise NoOpinion("no model applies")
    return SecondAnswer(by, min(found), min(found) if known else float("inf"))


def _bits_of_claim(claim: ResolvedClaim | None) -> Fraction:
    """The size that a claim asks for."""
    size = claim.args[0] if claim is not None and len(claim.args) == 1 else None
    if not isinstance(size, Quantity) or size.dim != SIZE:
        raise NoOpinion("no size is given")
    return Fraction(size.amount)


def _rails_are_apart(w: WiringGraph) -> bool:
    """Whether the fabric has rails, and units are connected to several parts of the network."""
    several = len({c for u in w.units for _, c in w.attachments[u]}) > 1
    return several and bool(rails_of_classes(WiringGraph.whole(w.fabric))[1])


def _ranks_of_unit(model: DeviceModel) -> int:
    """The accelerators of a host, or one."""
    return max(model.accelerators, 1) if model.kind == "host" else 1


def _times_over_network(
    w: WiringGraph, n: int, alpha: Fraction, whole: Fraction, limits: Limits
) -> list[Fraction]:
    """Ring, recursive halving and tree of n ranks; ``whole`` is the time in which a rank sends everything."""
    found = [2 * (n - 1) * alpha + Fraction(2 * (n - 1), n) * whole]
    share = min(halves.least_bisection_by_z3(w, None, limits).lower, Fraction(1))
    if share:
        one, rounds = whole / Fraction(share), n.bit_length() - 1
        p = 1 << rounds
        found.append(
            2 * rounds * alpha + Fraction(2 * (p - 1), p) * one + (2 * (alpha + one) if p < n else 0)
        )
        found.append(2 * (n - 1).bit_length() * (alpha + one))
    return found


def _times_through_hosts(
    w: WiringGraph, each: Mapping[int, int], alpha: Fraction, bits: Fraction, rate: Fraction
) -> list[Fraction]:
    """The hierarchical model, where all hosts have as many accelerators, joined inside."""
    inside = [_slowest_accelerator_rate(w.fabric.model_of(u)) for u in w.units]
    h, g = len(w.units), each[w.units[0]]
    if None in inside or g <= 1 or len({*each.values()}) != 1:
        return []
    slowest = min(rate_ for rate_ in inside if rate_ is not None)
    ring = 2 * (h - 1) * alpha + Fraction(2 * (h - 1), h) * bits / g / rate
    return [Fraction(2 * (g - 1), g) * bits / slowest + ring]


def _slowest_accelerator_rate(model: DeviceModel) -> int | None:
    """Bit/s that the slowest accelerator of a host has of its scale-up domain; None where there is none."""
    if model.kind != "host" or model.accelerators < 2 or not has_complete_scaleup(model):
        return None
    chips = [(c.name, i) for c in model.chips if c.accelerates for i in range(c.size)]
    return min(
        sum(x.rate * x.count for x in model.links if x.layer == "scaleup" and c in (x.a, x.b)) for c in chips
    )
