"""Throughput: how much of a traffic pattern the wiring carries at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.symmetry import Reads
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Check, Judgement, percent_range, percent_text, skipped
from tdsl.verify.shortfall import capacity_missing

if TYPE_CHECKING:
    from tdsl.prove.by_domain import ByDomain
    from tdsl.prove.demands import TrafficDemand
    from tdsl.prove.terminals import Answers

PLANES = 16
"""Planes up to which each is judged alone, too."""


NO_LINK = "some {} that send or receive have no link"


class Throughput(Check):
    """How much of a traffic pattern the wiring carries at once.

    ## What it means
    `throughput PATTERN`: all senders of the pattern send at once, in its proportions, and 100% is where the
    busiest of them sends or receives at the full rate of its ports. Patterns are over the accelerator hosts,
    or the chips of a direct fabric, in the order of the design:

    | pattern | who sends to whom |
    |---|---|
    | `all_to_all` | each to every other, the same for all pairs |
    | `ring` | each to the next one, the last to the first |
    | `shift K` | each to the one K further on |
    | `rail_allreduce` | a ring on every rail |
    | `permutation "pairs.csv"` | a line `from,to` each; names, paths or numbers from 0 |
    | `"matrix.csv"` | a square of amounts, a line a sender; or `from,to,amount` under that header |

    Files lie beside the design. `throughput of A to B` is the maximum flow from A to B, and 100% what the
    ports of the smaller side carry, but those that join it to itself or to a host of neither. Of a group its
    hosts or chips are meant, or all of it where it has none; of a device also what is inside. Planes are
    added up; of several the witness gives each alone.

    Where a scale-up domain (NVLink) joins the accelerators of every host, and the fabric has rails, the
    answer is by scale-out alone: every rail of a host is an end for itself. `all_to_all` is then among all
    rails of all hosts; any other pattern goes from each rail to the same rail of the other host, as far as
    both have it, and it is 0% if two that exchange something have no path. With `through scaleup` a host is
    one end with all its ports, since its accelerators exchange inside. Where a domain has several hosts
    (NVL72), it is one end with the ports of all its hosts, as far as its own links can redistribute what they
    send and receive; what stays within a domain does not count. Where the two differ, both are said, and the
    witness holds both, as `scaleout` and `scaleup`. After failures a domain is what the scale-up links that
    are left join; where they leave a host whose accelerators they do not join, the figure through it is an
    upper bound. Hosts without such a domain are one end with all their ports; `rail_allreduce` is by rail all
    the same.

    ## Formula and source
    λ = the greatest factor by which all demands flow together (maximum concurrent flow: Shahrokhi and Matula,
    J. ACM 37, 1990). Lower bound: explicit routes, capacity over load; they divide evenly over shortest
    paths, or as a linear program over links or over paths (HiGHS; Ford and Fulkerson, Management Science 5,
    1958) or multiplicative weights (Garg and Könemann, SIAM J. Comput. 37, 2007) propose. Where there are too
    many sources for that, switches and hosts with the same neighbours are one node each; then come mixtures
    of few such routings and of ways over hubs (Valiant, SIAM J. Comput. 11, 1982), or a few spanning trees.
    Upper bound: λ ≤ Σ c·l / Σ demand·distance for whole lengths l, cuts of nodes, groups, tiers and halves
    among them, and the ports of the busiest. Both are computed in exact fractions. Where they are equal, the
    figure is `proved`. `of A to B`: Dinic's maximum flow, whose cut is the witness.

    ## What it assumes
    Traffic may be divided over all paths: this is what the wiring can carry, not what a routing engine makes
    of it. Hosts forward nothing. What goes on inside hosts is not a limit. Above a limit of work the answer
    is an interval, whose both ends hold; it may be wide. In large fabrics and after failures only the way
    that is asked for is judged, and planes of `all_to_all` are not judged alone.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 32               # as much up as down
    require throughput ring >= 100% and throughput shift 32 >= 100%
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 16               # 32 hosts below
    require throughput shift 32 >= 100%
    ```

    ### What it prints
    ```
    E0420: `throughput shift 4 >= 100%` does not hold: 50%: 3.2 of 6.4 Tbps
    ```
    """

    code = "E0420"
    name = "throughput"
    wrong = "Too little throughput for a pattern"
    kind = "fraction"
    cost = 3
    unit = "fraction"
    on_demand = True
    after_failures = True
    scarce = True
    in_rates = True
    of_ends = True
    takes = frozenset({"args", "of", "to", "through"})
    example = "throughput ring >= 100%"

    def reads_for(self, claim: ResolvedClaim) -> Reads | None:
        """Two sets read capacities alone; a pattern also rails and, where it asks so, scale-up links, and all
        but all to all the order of the hosts or their names."""
        from tdsl.prove.all_to_all import ALL
        from tdsl.prove.demands import ORDERED

        if claim.of_to:
            return frozenset()
        reads = frozenset({"rails", "domains"}) if claim.through else frozenset({"rails"})
        if claim.args == (ALL,):
            return reads
        return reads | {"order"} if claim.args and claim.args[0] in ORDERED else reads | {"names"}

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How many bit/s the cut between two sets lacks at least."""
        more = capacity_missing(claim, judged) if claim.of_to else ""
        return f"{judged.help}: it needs at least {more}" if more else judged.help

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.all_to_all import ALL
        from tdsl.prove.by_rail import ByRail, endpoint_views
        from tdsl.prove.demands import PATTERNS, UnfitDemand, demand_of

        if claim is not None and claim.of_to:
            wrong = _why_sets_take_no_pattern(claim)
            return skipped(f"`of A to B` takes {wrong}") if wrong else _flow_between_sets(view, claim)
        if claim is None or not claim.args:
            return skipped(
                f"it needs a pattern ({', '.join(sorted((ALL, *PATTERNS)))} or a file), or `of A to B`"
            )
        if len(view.units) < 2:
            return skipped(f"there are fewer than two {view.unit_word}")
        try:
            demand = None if claim.args == (ALL,) else demand_of(view, claim)
            asked, other = endpoint_views(view, claim)
        except UnfitDemand as why:
            return skipped(str(why))
        found = throughput_figure(asked, demand)
        if isinstance(found, str):
            return skipped(found)
        found, apart = _bounds_of_joined_accelerators(view, claim, found)
        witness: dict[str, object] = {"pairs" if demand is None else "demands": found.sent}
        alone = _plane_figure_bounds(view, isinstance(asked, ByRail), demand)
        if alone is not None:
            witness["planes"] = alone
        said, ways = _figures_of_both_ways(view, claim, demand, found, other)
        return _throughput_judgement(found, said + apart, witness | ways)


def _why_sets_take_no_pattern(claim: ResolvedClaim) -> str:
    """What a claim about two sets may not have and has; "" if nothing."""
    if claim.args:
        return "no pattern"
    return "no `through scaleup`: its sets are one end each" if claim.through else ""


def _bounds_of_joined_accelerators(
    view: View, claim: ResolvedClaim, found: ThroughputFigure
) -> tuple[ThroughputFigure, str]:
    """A figure and what is said of it: an upper bound alone, if scale-up links that it goes through do not
    join the accelerators of all units."""
    from tdsl.prove.by_domain import units_with_joined_accelerators

    if claim.through and found.most and not units_with_joined_accelerators(view).all():
        apart = f"; an upper bound: scale-up links do not join the accelerators of all {view.unit_word} left"
        return replace(found, least=Fraction(0)), apart
    return found, ""


def _figures_of_both_ways(
    view: View,
    claim: ResolvedClaim,
    demand: TrafficDemand | None,
    found: ThroughputFigure,
    other: View | None,
) -> tuple[str, dict[str, object]]:
    """Which way a figure is of, and the figures of both for the witness, where traffic may go through the
    scale-up domains or past them; nothing where there is one way (``other`` None)."""
    from tdsl.prove.by_rail import SCALEOUT, SCALEUP

    if other is None:
        return "", {}
    words = (SCALEUP, SCALEOUT) if claim.through else (SCALEOUT, SCALEUP)
    second = throughput_figure(other, demand) if _is_cheap_view(view) else None
    ways: dict[str, object] = {
        _layer_key(w): _figure_as_fractions(f) for w, f in zip(words, (found, second), strict=True)
    }
    return f" {words[0]}" if view.intact else _words_for_other_way(found, second, *words), ways


@dataclass(frozen=True, slots=True)
class ThroughputFigure:
    """Bounds on a factor of all demands, of which ``top`` is full and ``all_bps`` what they are together at
    factor one; ``sent`` is their number. ``why`` says what has no path at all, if something has none."""

    least: Fraction
    most: Fraction
    top: Fraction
    all_bps: int
    sent: int
    why: str = ""

    @property
    def exact(self) -> bool:
        """Whether both bounds are one."""
        return self.least == self.most

    @property
    def share(self) -> str:
        """The figure in percent of full."""
        low, high = self.least / self.top, self.most / self.top
        return percent_text(low) if self.exact else percent_range(low, high)


def throughput_figure(
    view: View, demand: TrafficDemand | None, known: Answers | None = None
) -> ThroughputFigure | str:
    """The figure of a demand between the units (None: uniform all to all), or why there is none. ``known``
    are answers to take where network and demands are the same, and gets this one."""
    from tdsl.prove.by_domain import ByDomain
    from tdsl.prove.by_rail import ByRail

    sent = len(view.units) * (len(view.units) - 1) if demand is None else len(demand.source)
    if _has_endpoint_without_link(view, demand):
        return NO_LINK.format("hosts" if isinstance(view, ByRail) else view.unit_word)
    if why := _pair_without_path(view, demand):
        return ThroughputFigure(Fraction(0), Fraction(0), Fraction(1), 0, sent, why)
    if isinstance(view, ByRail):
        demand = demand and view.laid(demand)
    if isinstance(view, ByDomain):
        return _figure_through_domains(view, demand, known)
    return _figure_between_units(view, demand, known)


def _figure_between_units(
    view: View, demand: TrafficDemand | None, known: Answers | None = None
) -> ThroughputFigure | str:
    """The figure of a demand between the units as they are."""
    from tdsl.prove.terminals import offer_of_demand

    if demand is None:
        return _all_to_all_figure(view)
    asked = offer_of_demand(view, demand)
    if asked is None:
        return NO_LINK.format(view.unit_word)
    equal = [found for other, found in known or () if asked.same(other)]
    found = equal[0] if equal else asked.bounds(view.budget)
    if known is not None and not equal:
        known.append((asked, found))
    if found is None:
        return "some demand has no path"
    return ThroughputFigure(
        found.lower, found.upper, asked.top, asked.total * asked.grain, len(demand.source)
    )


def _figure_through_domains(
    view: ByDomain, demand: TrafficDemand | None, known: Answers | None
) -> ThroughputFigure | str:
    """The figure of a demand between hosts, through domains that span hosts. The network allows what the
    bounds say; the lower one is kept as far as the domains redistribute it."""
    from tdsl.prove.demands import UnfitDemand

    try:
        laid = view.laid(demand)
    except UnfitDemand as why:
        return str(why)
    found = _figure_between_units(view, laid, known)
    if isinstance(found, str):
        return found
    least = found.least * view.carried(demand, found.least * found.all_bps) if found.least else found.least
    return replace(found, least=least)


def _has_endpoint_without_link(view: View, demand: TrafficDemand | None) -> bool:
    """Whether one that sends or receives has no link."""
    from tdsl.prove.by_domain import ByDomain
    from tdsl.prove.by_rail import ByRail

    if isinstance(view, ByRail):
        return view.silent(demand)
    if isinstance(view, ByDomain):
        return bool((view.degree[view.units] == 0).any())
    part = view.units if demand is None else view.units[np.append(demand.source, demand.target)]
    return bool((view.degree[part] == 0).any())


def _pair_without_path(view: View, demand: TrafficDemand | None) -> str:
    """Two that exchange traffic and have no path to each other, in words; "" where all have one."""
    from tdsl.prove.by_domain import ByDomain
    from tdsl.prove.by_rail import ByRail
    from tdsl.prove.demands import UnfitDemand, unreachable_pair

    if isinstance(view, ByRail):
        return view.apart(demand)
    if isinstance(view, ByDomain):
        try:
            demand = view.laid(demand)
        except UnfitDemand:
            return ""
    pair = unreachable_pair(view, demand)
    return f"{' and '.join(view.names(view.units[list(pair)]))} do not reach each other" if pair else ""


def _all_to_all_figure(view: View) -> ThroughputFigure | str:
    """All to all, the same for each pair."""
    from tdsl.prove.all_to_all import all_to_all_bounds as all_pairs

    found = all_pairs(view)
    if found is None:
        return "there are too many pairs, and they are too unlike"
    pairs = len(found.net.units) * (len(found.net.units) - 1)
    return ThroughputFigure(found.lower, found.upper, found.top, pairs * found.net.grain, pairs)


def _plane_figure_bounds(
    view: View, by_rail: bool, demand: TrafficDemand | None
) -> list[list[float] | None] | None:
    """Bounds of every plane as fractions of its own full, None where somebody has no port in it; None where
    there is one plane, or too many, or it is much work."""
    from tdsl.prove.by_rail import ByRail
    from tdsl.prove.terminals import Answers, views_of_planes

    found = views_of_planes(view)
    if not 1 < len(found) <= PLANES or (demand is None and not _is_cheap_view(view)):
        return None
    divided, known = (ByRail.of(p) if by_rail else p for p in found), Answers()
    return [
        None if p is None or len(p.units) < 2 else _figure_as_fractions(throughput_figure(p, demand, known))
        for p in divided
    ]


def _figure_as_fractions(found: ThroughputFigure | str | None) -> list[float] | None:
    return (
        [float(found.least / found.top), float(found.most / found.top)]
        if isinstance(found, ThroughputFigure)
        else None
    )


def _is_cheap_view(view: View) -> bool:
    """Whether another figure of a view is little work: of what failures leave none is, since there are
    many."""
    return view.intact is None and len(view.units) * len(view.rows) <= view.budget.other_scope_cells


def _layer_key(words: str) -> str:
    from tdsl.prove.by_rail import SCALEUP

    return "scaleup" if words == SCALEUP else "scaleout"


def _words_for_other_way(
    found: ThroughputFigure, second: ThroughputFigure | str | None, asked: str, other: str
) -> str:
    """What is said of the other way: its figure where it differs, or why there is none."""
    if isinstance(second, ThroughputFigure):
        ends = [(f.least / f.top, f.most / f.top) for f in (found, second)]
        same = ends[0] == ends[1]
        return "" if same else f" {asked}, {second.share} {other}"
    return f" {asked}; {other} is {f'not known: {second}' if second else 'not judged here'}"


def _throughput_judgement(found: ThroughputFigure, other: str, witness: dict[str, object]) -> Judgement:
    """A figure as the answer, and what is said of the other way."""
    lower, upper = found.least / found.top, found.most / found.top
    low, high, full = (x * found.all_bps for x in (found.least, found.most, found.top))
    amount = (
        f"{_terabits_text(low)} of {_terabits_text(full)} Tbps"
        if found.exact
        else f"{_terabits_text(low)} to {_terabits_text(high)} of {_terabits_text(full)} Tbps"
    )
    text = f"{found.share}: {found.why or amount}{other}"
    help = (
        f"{found.why}: ask for it `through scaleup`, or join them"
        if found.why
        else "add links where the load is"
    )
    return Judgement(
        "proved" if found.exact else "bounded",
        text,
        lower,
        lower,
        upper,
        witness=witness,
        help=help,
        measures={"lower_bps": low, "upper_bps": high},
        notes=("this is what the wiring can carry, not what a routing engine makes of it",),
    )


def _terabits_text(bps: int | Fraction) -> str:
    return f"{float(Fraction(bps) / 10**12):g}"


# ---------------------------------------------------------------- from A to B


def _flow_between_sets(view: View, claim: ResolvedClaim) -> Judgement:
    """The maximum flow between two sets of devices."""
    from tdsl.prove.set_flow import max_flow_between_sets

    found = max_flow_between_sets(view, claim)
    if isinstance(found, str):
        return skipped(found)
    f, value, full = view.fabric, found.bound.lower, found.full
    count = np.bincount(f.link_class[found.cut], minlength=len(f.classes)).tolist()
    classes = {name: n for name, n in zip(f.classes, count, strict=True) if n}
    said = ", ".join(f"{n} {name}" for name, n in classes.items()) or "no link"
    text = (
        f"{percent_text(Fraction(value, full))}: {_terabits_text(value)} of {_terabits_text(full)} "
        f"Tbps through {said}"
    )
    ends = [f"{f.port_path(int(f.link_a[x]))} - {f.port_path(int(f.link_b[x]))}" for x in found.cut[:8]]
    figure = Fraction(value, full)
    return Judgement(
        "proved",
        text,
        figure,
        figure,
        figure,
        help="add links where the cut is",
        witness={"cut": ends, "cut_links": len(found.cut), "cut_classes": classes, "cut_bps": value},
        measures={"lower_bps": value, "upper_bps": value},
    )
