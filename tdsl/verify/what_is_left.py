"""A condition after failures: judged on what is left of a view, or proved at once for any number of failures
by what they can take away at most."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.cables.bundles import parallel_members
from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.elements import devices_failing_with, lost_rows
from tdsl.prove.paths_after_failure import link_paths_after_any_failure
from tdsl.prove.redundancy import link_disjoint_paths
from tdsl.prove.set_flow import surviving_devices_of_selectors
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name, property_fails, skipped
from tdsl.verify.compare import judgement_for_claim, judgement_in_claim_unit


def judgement_of_what_is_left(left: View, asked: ResolvedClaim) -> Judgement:
    """What a condition is answered about a view after failures; refuted if of one of two sets nothing is
    left, or ends have no path of which a longest distance or time is asked; skipped if fewer than two
    endpoints are left."""
    if asked.of_to and not all(
        surviving_devices_of_selectors(left, side).any() for side in (asked.of, asked.of_to)
    ):
        return property_fails("of one of the two sets nothing is left", ())
    if len(left.units) < 2 and not asked.of_to:
        return skipped(f"fewer than two {(left.intact or left).unit_word} are left")
    check = checks_by_name()[asked.metric]
    if asked.op and check.of_ends and not check.scarce and not asked.through and check.kind != "yes_no":
        reached = checks_by_name()["reachability"].judge(left, None)
        if reached.status == "refuted" and reached.faults:
            why = f"{reached.faults[0].message}, and `{asked.metric}` is of ends that reach each other"
            return property_fails(why, ()) if asked.op in ("<", "<=") else skipped(why)
    return judgement_for_claim(asked, check, check.judge(left, asked))


def devices_that_symmetries_keep(view: View, asked: ResolvedClaim) -> list[Ints]:
    """The devices that a condition names: both sides of a flow, and the switches that it is `at`."""
    ends = [
        np.flatnonzero(surviving_devices_of_selectors(view, side))
        for side in (asked.of, asked.of_to)
        if asked.of_to
    ]
    return [*ends, *(np.concatenate([e.devices for e in s.elements]) for s in asked.at if s.elements)]


def always_enough_left(view: View, named: list[FabricElement], count: int, asked: ResolvedClaim) -> bool:
    """Whether what any ``count`` elements can take away leaves enough. Only where no unit fails or loses its
    last link, and where some chips stay joined to chips if they are, since that is what makes them forward.
    """
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    if not len(view.units) or any(unit[devices_failing_with(view.fabric, e)].any() for e in named):
        return False
    rows = lost_rows(view, named)
    joined = (view.is_chip[view.a] & view.is_chip[view.b]).astype(np.int64)
    if view.chips_joined and int(joined.sum()) <= _most_links_taken(rows, joined, count):
        return False
    taken = _most_unit_links_taken(view, rows, unit)
    if int(view.degree[view.units].min()) <= count * taken:
        return False
    if asked.metric == "edge_redundancy":
        return count == 1 and not taken and not asked.of and _always_enough_paths_left(view, named, asked)
    if asked.metric == "reachability" and not asked.of and not asked.through and not len(view.others):
        links = _most_links_taken(rows, np.ones(len(view.rows), dtype=np.int64), count)
        return link_disjoint_paths(view).lower > links
    if asked.metric == "bisection" and asked.op in (">", ">=") and not asked.of:
        return _always_enough_bisection_left(view, rows, count, asked)
    return False


def _always_enough_paths_left(view: View, named: list[FabricElement], asked: ResolvedClaim) -> bool:
    """Whether enough link-disjoint paths are left after any one element has failed; a bundle counts once, as
    in the check. No element takes a link of a unit."""
    spare = parallel_members(view.fabric, view.rows)
    if len(spare):
        view = replace(view, rows=np.setdiff1d(view.rows, spare))
    devices = [devices_failing_with(view.fabric, e) for e in named]
    least = Fraction(link_paths_after_any_failure(view, devices, lost_rows(view, named)))
    check = checks_by_name()["edge_redundancy"]
    judged = Judgement("bounded", "", least, least, Fraction(int(view.degree[view.units].min())))
    return judgement_for_claim(asked, check, judged).status == "proved"


def _always_enough_bisection_left(view: View, rows: list[Ints], count: int, asked: ResolvedClaim) -> bool:
    """Whether the lower bound of the bisection is enough without the most that the links of ``count``
    elements can carry."""
    found = bisection_bounds(view)
    net = found.net
    lost = _most_links_taken(rows, view.fabric.link_rate[view.rows] // net.grain, count)
    left = max(found.lower - lost, 0)
    full = unit_network(view.intact).full if view.intact is not None and asked.of_intact else net.full
    figure = left / full if full else Fraction(0)
    bounds = {"lower_bps": left * net.grain, "upper_bps": found.upper * net.grain}
    judged = Judgement("bounded", "", figure, figure, found.upper / max(full, Fraction(1)), measures=bounds)
    check = checks_by_name()["bisection"]
    return judgement_for_claim(asked, check, judgement_in_claim_unit(asked, check, judged)).status == "proved"


def _most_unit_links_taken(view: View, rows: list[Ints], unit: Bools) -> int:
    """The most links of one unit that one element takes."""
    most = 0
    for mine in rows:
        both = np.concatenate((view.a[mine], view.b[mine]))
        most = max(most, int(np.bincount(both[unit[both]]).max(initial=0)))
    return most


def _most_links_taken(rows: list[Ints], weight: Ints, count: int) -> int:
    """The most that ``count`` elements take away together at most: the links of each in full."""
    taken = sorted((int(weight[mine].sum()) for mine in rows), reverse=True)
    return sum(taken[:count])
