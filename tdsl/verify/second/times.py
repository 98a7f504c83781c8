"""Delays again: the least delay by Dijkstra's algorithm in networkx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, TIME, Quantity
from tdsl.verify.second.answer import NETWORKX, Limits, NoOpinion, SecondAnswer, exact_answer
from tdsl.verify.second.graph_figures import refuse_too_many_steps
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

    own = {d: stated_latency(w.fabric, d) for d in w.graph}
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

    time = {row: cable_delay(w, row) for *_, row in w.graph.edges(keys=True)}
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


def stated_latency(f: Fabric, device: int) -> int | None:
    """The latency that the declaration of a device states, else its model, in femtoseconds."""
    said = f.set_of(device).settings.get("latency", f.model_of(device).facts.get("latency"))
    return ceil(said.amount * SECOND) if isinstance(said, Quantity) and said.dim == TIME else None


def cable_delay(w: WiringGraph, row: int) -> int:
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


def ranks_of_unit(model: DeviceModel) -> int:
    """The accelerators of a host, or one."""
    return max(model.accelerators, 1) if model.kind == "host" else 1
