"""Bisection: what can cross the worst cut into halves."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.prove.bisection import bisection_bounds, bisection_share
from tdsl.prove.cuts import Cut
from tdsl.prove.network import Network
from tdsl.prove.search import first_names_and_more
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Check, Judgement, percent_range, percent_text, skipped
from tdsl.verify.shortfall import capacity_missing

EARLY = "; nothing requires it, so the search ended early"
"""Said of bounds that more search might have narrowed."""


class BisectionCheck(Check):
    """What can cross the worst cut into two halves.

    ## What it means
    However the hosts are divided into two halves, at least this much can flow from one half to the other, as
    a fraction of what the smaller half can send. A host is on one side with all its ports, so planes and
    rails are added up under one split; with an odd number of hosts the sides differ by one. Links of hosts
    may be cut. Managers and storage count for nothing. 100% says that the wiring itself is never what limits
    two halves.

    ## Formula and source
    B = min over balanced splits (U, V) of the minimum cut between U and V, one way (Leighton 1992; Dally and
    Towles 2004); the result is B over the injection of the smaller side. Where hosts differ in what they
    send, each split has its own share, and the result is the least: of few splits each is judged; of many
    it is at least B over half of what all hosts send, and at most the share of the worst split found. Upper
    bound: an explicit split, its switches placed by a maximum flow, its links
    counted again. Lower bound: flows up to the switches of one tier, in shares that are fixed and fit at once
    whoever sends; whatever side such a switch is on, what one half sends to it or the other half receives
    from it crosses (Leighton and Rao 1999 for the argument; Leiserson 1985 and Al-Fares et al. 2008 for the
    flow). Elsewhere every host sends to all switches that hosts are connected to, or every chip to all
    others, over routes that a linear program combines: what half of them send or get crosses, N/2 · μ or N²/4
    · λ. One source of each orbit of verified symmetries represents all. Where groups are joined each to each
    (dragonflies), λ is that of routes by the links between two groups; large fabrics keep bounds that differ
    by a tenth at most. Where most instances of a group have a link that some lack, the bound may be that of
    the fabric with these links restored, less their capacity. Cuts are whole multiples of the rates' greatest
    common divisor, so the lower bound is rounded up to one. Where both are equal, the figure is exact; where
    they differ and there are few splits, every one is cut.

    ## What it assumes
    Traffic may be divided over all paths: this is what the wiring can carry, not what a routing engine makes
    of it. Hosts forward nothing. `of intact` sets B against the most that the smaller of two
    halves injected before the failures of `survives`.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 32               # as much up as down
    require bisection >= 100%
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 16               # 32 hosts below
    require bisection >= 100%
    ```

    ### What it prints
    ```
    E0408: `bisection >= 100%` does not hold: 50%: 256 of 512 links, 256 leaf-spine separate 64 hosts \
(su[0] and su[1]) from 64
    ```
    """

    code = "E0408"
    name = "bisection"
    wrong = "Too little capacity between two halves"
    kind = "fraction"
    cost = 2
    unit = "fraction"
    after_failures = True
    reads = frozenset()
    reads_halves = True
    scarce = True
    in_rates = True
    of_ends = True
    takes = frozenset({"of", "intact"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        if len(view.units) < 2:
            return skipped(f"there are fewer than two {view.unit_word}")
        found = bisection_bounds(view)
        net = found.net
        if claim is not None and claim.of_intact and view.intact is not None:
            before = unit_network(view.intact)
            full = before.full * before.grain
            if not before.every_half_can_send:
                return skipped(f"half of the {view.unit_word} have no link")
            lower, upper = (Fraction(x * net.grain, full) for x in (found.lower, found.upper))
            cut = found.cut
        else:
            share = bisection_share(view)
            if share is None:
                return skipped(f"half of the {view.unit_word} have no link")
            lower, upper, cut = share.lower, share.upper, share.cut
            full = Fraction(net.sent_by_smaller_side(cut.units) * net.grain)
        measures = {"lower_bps": found.lower * net.grain, "upper_bps": found.upper * net.grain}
        if len(net.rates) <= 1:
            measures |= {"lower_links": found.lower, "upper_links": found.upper}
        if (net.injection != net.injection[0]).any():
            measures["most_of_smaller_half_bps"] = ceil(net.full * net.grain)
        facts = cut_facts(view, net, cut)
        return Judgement(
            "proved" if lower == upper else "bounded",
            _bisection_text(view, net, (lower, upper), facts, cut.value, full)
            + (EARLY if found.ended_early and lower < upper else ""),
            lower,
            lower,
            upper,
            witness=facts.witness(view),
            measures=measures,
            notes=("this is what the wiring can carry, not what a routing engine makes of it",),
            help="add links where the cut is",
        )

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How many links the cut lacks at least."""
        more = capacity_missing(claim, judged)
        return f"{judged.help}: it needs at least {more}" if more else judged.help


NAMED = 16
"""Names of a side that a witness has at most."""


@dataclass(frozen=True, slots=True)
class CutFacts:
    """A cut for the reader: units on each side, the smaller first, by name; the rows of its links, and how
    many of each class. The witness has sixteen names of a side at most, and eight links."""

    split: tuple[int, int]
    sides: tuple[list[str], list[str]]
    links: Ints
    classes: dict[str, int]

    def witness(self, view: View) -> dict[str, object]:
        """As plain JSON values."""
        f = view.fabric
        return {
            "split": list(self.split),
            "sides": [
                s if len(s) <= NAMED else [*s[: NAMED - 1], f"and {len(s) - NAMED + 1} more"]
                for s in self.sides
            ],
            "cut": [
                f"{f.port_path(int(f.link_a[x]))} - {f.port_path(int(f.link_b[x]))}" for x in self.links[:8]
            ],
            "cut_links": len(self.links),
            "cut_classes": self.classes,
            "cut_bps": sum(f.link_rate[self.links].tolist()),
        }


def cut_facts(view: View, net: Network, cut: Cut) -> CutFacts:
    """The links cut, found again in the columns."""
    f = view.fabric
    side, counted = np.zeros(f.device_count, dtype=np.bool_), np.zeros(f.device_count, dtype=np.bool_)
    counted[net.units] = counted[net.transit] = True
    side[net.units], side[net.transit] = cut.units, cut.nodes
    links = view.rows[(side[view.a] != side[view.b]) & counted[view.a] & counted[view.b]]
    small = cut.units if 2 * int(cut.units.sum()) <= len(net.units) else ~cut.units
    sides = (
        _names_of_side(view, net.units[small], net.units[~small]),
        _names_of_side(view, net.units[~small], net.units[small]),
    )
    count = np.bincount(f.link_class[links], minlength=len(f.classes)).tolist()
    classes = {name: n for name, n in zip(f.classes, count, strict=True) if n}
    return CutFacts((int(small.sum()), int((~small).sum())), sides, links, classes)


def _names_of_side(view: View, mine: Ints, others: Ints) -> list[str]:
    """The units of a side, by their groups where a group is on it with all its units. Where none is in a
    group, names beyond the first are empty: only their number is said, and they may be many."""
    f = view.fabric
    grouped = np.array([len(s.parts) > 1 or bool(f.members and s.prefix) for s in f.sets], dtype=np.bool_)
    if not grouped[f.device_set[mine]].any():
        return [*(f.device_path(d) for d in mine[:NAMED].tolist()), *[""] * (len(mine) - NAMED)]
    foreign = {f.device_path(d).partition(".")[0] for d in others[grouped[f.device_set[others]]].tolist()}
    names: dict[str, None] = {}
    for d in mine.tolist():
        path = f.device_path(d)
        group, dot, _ = path.partition(".")
        names[group if dot and group not in foreign else path] = None
    return list(names)


def _bisection_text(
    view: View,
    net: Network,
    bounds: tuple[Fraction, Fraction],
    facts: CutFacts,
    crossing: int,
    full: int | Fraction,
) -> str:
    lower, upper = bounds
    cut = ", ".join(f"{n} {name}" for name, n in facts.classes.items()) or "no link"
    few, many = facts.split
    halves = f"{view.counted_units(few)} ({first_names_and_more(facts.sides[0])}) from {many}"
    if lower != upper:
        return f"{percent_range(lower, upper)}: {cut} separate {halves}"
    amount = f"{crossing * net.grain / 1e12:g} of {float(full) / 1e12:g} Tbps"
    if len(net.rates) <= 1:
        total = float(full / net.grain)
        amount = f"{crossing} of {total:g} {noun_for_count(1 if total == 1 else 2, 'link')}"
    if lower == 1:
        return f"100%: {amount}, {view.counted_units(few)} against {many}"
    return f"{percent_text(lower)}: {amount}, {cut} separate {halves}"
