"""Sets of failures: each set where they are few, else those that z3 proposes until none is left that could be
fatal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb, inf
from typing import Any

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.second import graph_figures, halves, patterns
from tdsl.verify.second.answer import (
    NETWORKX,
    Z3,
    Limits,
    MethodTooLarge,
    NoOpinion,
    SecondAnswer,
    exact_answer,
    figure_asked_for,
    yes_or_no_answer,
)
from tdsl.verify.second.wiring import WiringGraph

AFTER = {
    "edge_redundancy": graph_figures.edge_redundancy_by_networkx,
    "node_redundancy": graph_figures.node_redundancy_by_networkx,
    "diameter": graph_figures.diameter_by_networkx,
    "mean_hops": graph_figures.mean_hops_by_networkx,
}
DISTANCES = ("diameter", "mean_hops")
"""Figures of ends that reach each other: where some do not, no limit holds."""


def survival_by_second_method(w: WiringGraph, claim: ResolvedClaim, limits: Limits) -> SecondAnswer:
    """Whether what is asked holds after every K of the elements."""
    through = claim.given is not None and bool(claim.given.through) and w.fabric.whole is not None
    elements = graph_figures.elements_that_may_fail(w, claim, through)
    count = claim.any_count or 0
    if not 0 < count <= len(elements):
        raise NoOpinion("fewer elements are there than are to fail")
    plain = replace(claim, metric="reachability", any_count=None, any_of="", of=(), of_to=(), given=None)
    asked = replace(claim.given, scope=claim.scope) if claim.given else plain
    sets = comb(len(elements), count)
    if sets <= limits.sets and sets * 12 * w.graph.number_of_edges() <= limits.steps:
        by, near = "", Fraction(0)
        for failed in combinations(elements, count):
            found = _condition_holds_of_rest(
                w.without(*graph_figures.union_of_elements(failed)), asked, limits
            )
            by, near = by or found.by, max(near, found.relative)
            if not found.holds:
                return found
        return SecondAnswer(by, holds=True, relative=near)
    if asked.metric == "reachability" and not asked.of and not asked.through:
        return yes_or_no_answer(Z3, fatal_elements(w, elements, count, limits) is None)
    raise MethodTooLarge(
        NETWORKX, f"{sets:,} sets of failures", f"{limits.sets:,}, or {limits.steps:,} steps"
    )


def fatal_set_by_second_method(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The least number of the elements after whose failure what is asked does not hold; infinite where it
    always does."""
    assert claim is not None
    plain = replace(claim, metric="reachability", of=(), of_to=(), given=None)
    before = _condition_holds_of_rest(w, claim.given or plain, limits)
    if not before.holds:
        return exact_answer(before.by, 0)
    found = before
    for count in range(1, len(graph_figures.elements_that_may_fail(w, claim)) + 1):
        found = survival_by_second_method(w, replace(claim, any_count=count), limits)
        if not found.holds:
            return replace(exact_answer(found.by, count), relative=found.relative)
    return exact_answer(found.by, inf)


def _condition_holds_of_rest(w: WiringGraph, asked: ResolvedClaim, limits: Limits) -> SecondAnswer:
    """Whether what is asked holds of what is left."""
    if asked.of_to:
        if not all(w.members(asked, side) for side in ("of", "of_to")):
            return yes_or_no_answer(NETWORKX, False)  # nothing is left of one of the two
    elif len(w.units) < 2:
        raise NoOpinion("fewer than two units are left after some failures")
    if asked.metric == "reachability":
        return graph_figures.reachability_by_networkx(w, asked, limits)
    if asked.metric in DISTANCES and not graph_figures.reachability_by_networkx(w, None, limits).holds:
        if asked.op not in ("<", "<="):
            raise NoOpinion("a distance is of ends that reach each other, and some do not")
        return yes_or_no_answer(NETWORKX, False)
    found = _figure_of_rest(w, asked, limits)
    against = figure_asked_for(asked, found)
    if against is None:
        raise NoOpinion("what is asked after failures is neither a number nor a rate")
    value = found.lower
    slack = found.relative * max(abs(against), Fraction(1))
    if slack and -slack <= value - against <= slack:
        return SecondAnswer(
            found.by, holds=True, relative=found.relative
        )  # it may also be so little less, as the caller has to know
    holds = {
        "<": value < against,
        "<=": value <= against,
        ">": value > against,
        ">=": value >= against,
        "==": value == against,
        "!=": value != against,
    }
    return yes_or_no_answer(found.by, holds[asked.op])


def _figure_of_rest(w: WiringGraph, asked: ResolvedClaim, limits: Limits) -> SecondAnswer:
    """The figure of what is left that a condition is about."""
    if asked.metric == "bisection":
        return halves.least_bisection_by_z3(w, asked, limits)
    if asked.metric in AFTER:
        return AFTER[asked.metric](w, asked, limits)
    if asked.metric == "throughput" and asked.of_to:
        return graph_figures.throughput_between_by_networkx(w, asked, limits)
    if asked.metric == "throughput":
        return patterns.pattern_throughput_by_highs(w, asked, limits)
    raise NoOpinion("what is asked after failures has no second method")


# ---------------------------------------------------------------- by hitting sets


def fatal_elements(
    w: WiringGraph, elements: list[graph_figures.FailingElement], count: int, limits: Limits
) -> tuple[int, ...] | None:
    """Elements, ``count`` of them, whose failure separates what still has a link; None if there are none.

    z3 proposes a set; networkx judges it. Where what is left is joined, the devices of a tree that joins it
    say why: a fatal set must take one of these, or leave a link to something that lost all its links here.
    That is added, and z3 proposes again.
    """
    import z3

    z3.set_param("ctrl_c", False)  # else Ctrl-C ends its search, and tdsl goes on

    fails = [z3.Bool(f"fail{i}") for i in range(len(elements))]
    of = _failures_taking_devices(w, elements, fails)
    solver = z3.Solver()
    solver.set("rlimit", limits.work)
    solver.add(z3.PbEq([(x, 1) for x in fails], count))
    ends = [*w.units, *w.others]
    for _ in range(limits.rounds):
        found = solver.check()
        if found == z3.unsat:
            return None
        if found != z3.sat:
            break
        model = solver.model()
        failed = _true_of_model(model, fails)
        left = w.without(*graph_figures.union_of_elements(elements[i] for i in failed))
        if len(left.units) < 2:
            raise NoOpinion("fewer than two units are left after some failures")
        if not graph_figures.reachability_by_networkx(left, None, limits).holds:
            return failed
        taken = [x for d in _devices_joining_ends(left) for x in of.get(d, ())]
        solver.add(z3.Or([*taken, *_bare_ends_stay(w, ends, left, of)]))
    raise MethodTooLarge(
        Z3, f"{comb(len(elements), count):,} sets of failures", f"{limits.rounds:,} proposals"
    )


def _true_of_model(model: Any, unknowns: list[Any]) -> tuple[int, ...]:
    """The numbers of the unknowns that are true in a model of z3."""
    import z3

    return tuple(i for i, x in enumerate(unknowns) if z3.is_true(model.eval(x, model_completion=True)))


def _failures_taking_devices(
    w: WiringGraph, elements: list[graph_figures.FailingElement], fails: list[Any]
) -> dict[int, list[Any]]:
    """For every device the failures that take it. Raises TooLarge for elements that are no devices that
    forward or send."""
    of: dict[int, list[Any]] = {}
    if any(e.links for e in elements):
        raise MethodTooLarge(Z3, "sets of links")
    for i, element in enumerate(elements):
        for d in w.contents(element.devices):
            of.setdefault(d, []).append(fails[i])
    if any(w.kind(d) not in ("host", "chip", "switch") for d in of):
        raise MethodTooLarge(Z3, "sets of panels or optical switches")
    return of


def _devices_joining_ends(left: WiringGraph) -> frozenset[int]:
    """Devices that are enough to join all ends that are left: a tree in a component that all reach, or else
    everything."""
    import networkx

    ends = [*left.units, *left.others]
    common = frozenset.intersection(*(frozenset(c for _, c in left.attachments[d]) for d in ends))
    common = frozenset(c for c in common if c >= 0)
    if not common or left.direct:
        return frozenset(left.graph)
    component = min(common)
    doors = {min(node for node, c in left.attachments[d] if c == component) for d in ends}
    tree: set[int] = set(ends)
    root = min(doors)
    paths = networkx.single_source_shortest_path(left.inner, root)
    for door in doors:
        tree |= set(paths[door])
    return frozenset(tree)


def _bare_ends_stay(
    w: WiringGraph, ends: list[int], left: WiringGraph, of: dict[int, list[Any]]
) -> list[Any]:
    """For each end that has no link left, that it and one that it is linked to stay."""
    bare = [d for d in ends if d not in left.graph or not left.graph.degree(d)]
    return [_device_and_neighbour_stay(w, d, of) for d in bare]


def _device_and_neighbour_stay(w: WiringGraph, device: int, of: dict[int, list[Any]]) -> Any:
    """That a device and one that it is linked to stay."""
    import z3

    def stays(d: int) -> Any:
        return z3.Not(z3.Or(of[d])) if d in of else z3.BoolVal(True)

    return z3.And(stays(device), z3.Or([stays(d) for d in w.graph.adj[device]]))
