"""Answers beside a failure: what the failure does not touch does not change, and times stay within their true bounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import networkx as nx

from tdsl.verify.result import Result
from tests.soundness.arena import NEAR, fraction_of, said
from tests.soundness.blueprint import Asked, Blueprint
from tests.soundness.families.scale_up_failures import SIZE
from tests.soundness.inventory import Inventory
from tests.soundness.judge_times import interval_of_time
from tests.soundness.judges import Left, Unjudged
from tests.soundness.verdicts import (
    Compared,
    answer_text,
    compiled_text,
    difference,
    first_error,
    internal_errors,
    left_by_failures,
)

ELSEWHERE = ("aux", "filer")
"""What no accelerator's traffic passes."""

TIMES = ("allreduce", "all_to_all_time")
SLACK = 1 + 1e-6


def judged_failures(blueprint: Blueprint, folder: Path, shrink: bool = True) -> Compared:
    """Compile a design with its failures and without, and compare each answer with the judges and with the other answer."""
    out = Compared(designs=1)
    try:
        compilation = compiled_text(blueprint, folder)
        intact = compiled_text(replace(blueprint, fail=()), folder) if blueprint.fail else compilation
    except Exception as fault:
        out.found.append(difference(blueprint, "internal error", "", said(fault), ""))
        return out
    out.found += [difference(blueprint, "internal error", "", f"{c} {m}", "") for c, m in internal_errors(compilation)]
    design = compilation.designs[0]
    if design.fabric is None or not design.fabric.complete or not design.results:
        out.refused = 1
        out.verdicts[f"refused: {blueprint.family}: {first_error(compilation)}"] += 1
        return out
    left = left_by_failures(blueprint, blueprint.inventory())
    before = {r.requirement: r for r in intact.designs[0].results}
    untouched = set(blueprint.fail) <= set(ELSEWHERE)
    for one in blueprint.asked:
        result = next((r for r in design.results if r.requirement == one.claim.text()), None)
        if result is None:
            out.found.append(difference(blueprint, "no answer", one.claim, "nothing", ""))
            continue
        out.figures += 1
        out.verdicts[result.status] += 1
        wrong = list(wrong_answers(one, result, left))
        old = before[one.claim.text()]
        # A host that is no rank can add up, too; the filer is behind the switch `aux`.
        adds = one.claim.metric == "allreduce" and bool({"filer", "aux"} & {*blueprint.fail})
        if (
            untouched
            and not adds
            and not wrong
            and (old.status, old.lower, old.upper) != (result.status, result.lower, result.upper)
        ):
            wrong.append(("changed by a failure elsewhere", f"without {blueprint.fail[0]}; before: {answer_text(old)}"))
        for kind, judge in wrong[:1]:
            out.found.append(difference(replace(blueprint, asked=(one,)), kind, one.claim, answer_text(result), judge))
    return out


def wrong_answers(one: Asked, result: Result, left: Inventory) -> Iterator[tuple[str, str]]:
    """What is wrong with an answer about what is left, and what the judge says."""
    claim = one.claim
    try:
        if claim.metric in TIMES:
            yield from wrong_times(one, result, left)
        elif claim.metric == "throughput":
            if len(scale_up_domains(left, merged_ranks(left)[0])) < 2:
                raise Unjudged("one domain: nothing crosses the network")
            figure = Left(networked(left).world()).throughput(claim.arg, True)
            near = abs(figure.value - claim.value) <= NEAR * claim.value
            yield from wrong_verdict(result, claim.holds(figure), near, f"{figure.value}")
            low, high = fraction_of(result.lower), fraction_of(result.upper)
            slack = NEAR * figure.value
            if low is not None and high is not None and not low - slack <= figure.value <= high + slack:
                yield "wrong figure", str(figure.value)
        elif claim.metric == "reachability":
            yield from wrong_verdict(result, domains_reach(left), False, str(domains_reach(left)))
        elif claim.metric == "blast_radius":
            most = most_in_domain(left)
            yield from wrong_verdict(result, most <= claim.value, False, str(most))
    except Unjudged:
        return


def wrong_verdict(result: Result, holds: bool, near: bool, told: str) -> Iterator[tuple[str, str]]:
    """A proof of what is not, or a refutation of what is."""
    if near:
        return
    if result.status in ("proved", "modelled") and not holds:
        yield "false proof", told
    if result.status == "refuted" and holds:
        yield "false refutation", told
    if result.status == "skipped":
        yield "not judged", told


def wrong_times(one: Asked, result: Result, left: Inventory) -> Iterator[tuple[str, str]]:
    """A time that a schedule beats and that is refuted, or a floor above a schedule, or a time below every floor that is met."""
    floor, schedule = interval_of_time(left, one.claim.metric, SIZE)
    limit = float(one.claim.value) / 1000
    told = f"floor {floor * 1000:.6g} ms, schedule {schedule * 1000:.6g} ms"
    low = fraction_of(result.lower)
    if result.status == "refuted" and schedule * SLACK <= limit:
        yield "refuted, and a schedule meets it", told
    elif result.status in ("proved", "modelled") and floor > limit * SLACK:
        yield "met below every floor", told
    elif result.status in ("refuted", "bounded") and low is not None and float(low) > schedule * SLACK:
        yield "a floor above a schedule", told


def merged_ranks(inventory: Inventory) -> tuple[list[str], dict[tuple[str, str], int]]:
    """The hosts with accelerators that have a link, and the capacity of every arc, with what is in a host put together."""
    node = {p.path: p.inside or p.path for p in inventory.parts.values()}
    arcs: dict[tuple[str, str], int] = defaultdict(int)
    for w in inventory.wires:
        a, b = node[w.a], node[w.b]
        if a != b:
            arcs[a, b] += w.rate
            arcs[b, a] += w.rate
    linked = {x for arc in arcs for x in arc}
    holding = {p.inside for p in inventory.built_parts() if p.kind == "chip"}
    ranks = [p.path for p in inventory.built_parts() if p.path in holding and p.path in linked]
    return ranks, dict(arcs)


def scale_up_domains(inventory: Inventory, ranks: Sequence[str]) -> list[list[str]]:
    """Ranks that scale-up links join, in their order."""
    node = {p.path: p.inside or p.path for p in inventory.parts.values()}
    graph = nx.Graph()
    graph.add_nodes_from(ranks)
    graph.add_edges_from((node[w.a], node[w.b]) for w in inventory.wires if w.scaleup)
    return [found for part in nx.connected_components(graph) if (found := [r for r in ranks if r in part])]


def networked(left: Inventory) -> Inventory:
    """What is left. Raises Unjudged where a host has no link to the network any more: it may or may not be an endpoint."""
    linked = {end for w in left.wires if not w.scaleup for end in (w.a, w.b)}
    for p in left.built_parts():
        if p.kind == "host" and p.path not in linked:
            raise Unjudged("a host without a link to the network")
    return left


def domains_reach(left: Inventory) -> bool:
    """Whether of any two domains every port reaches the other domain."""
    ranks, _ = merged_ranks(left)
    domains = scale_up_domains(left, ranks)
    near: dict[str, set[str]] = defaultdict(set)
    switches = {p.path for p in left.built_parts() if p.kind == "switch"}
    network = [w for w in left.wires if not w.scaleup]
    for w in network:
        if {w.a, w.b} <= switches:
            near[w.a].add(w.b)
            near[w.b].add(w.a)
    hub: dict[str, str] = {}
    for start in sorted(switches):
        front = [start] if start not in hub else []
        while front:
            at = front.pop()
            if at not in hub:
                hub[at] = start
                front += near[at]
    met = [{hub[b] for w in network for a, b in ((w.a, w.b), (w.b, w.a)) if a in domain and b in hub} for domain in domains]
    every = set().union(*met)
    filers = [p.path for p in left.built_parts() if p.kind == "host" and p.path not in ranks]
    others = [{hub[b] for w in network for a, b in ((w.a, w.b), (w.b, w.a)) if a == f and b in hub} for f in filers]
    return all(one == other for one in met for other in met) and all(not hubs or hubs & every for hubs in others)


def most_in_domain(left: Inventory) -> int:
    """The accelerators that the loss of a scale-up switch costs at most: those of its domain."""
    ranks, _ = merged_ranks(left)
    joined = {end for w in left.wires if w.scaleup for end in (w.a, w.b)}
    sizes = [len(d) for d in scale_up_domains(left, ranks) if any(f"{r}.gpu" in joined for r in d)]
    if not sizes:
        raise Unjudged("no scale-up switch is left")
    return max(sizes)
