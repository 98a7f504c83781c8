"""Throughput: how much of a traffic pattern the wiring carries at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.alltoall import ALL
from tdsl.verify.alltoall import bounds as all_pairs
from tdsl.verify.between import between
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.demand import PATTERNS, Unfit, demand_of
from tdsl.verify.multiflow import Bounds
from tdsl.verify.terminals import Links, Offer, offer, parts
from tdsl.verify.view import View

PLANES = 16
"""Planes up to which each is judged alone, too."""


class Throughput(Check):
    """How much of a traffic pattern the wiring carries at once.

    ## What it means
    `throughput PATTERN`: all senders of the pattern send at once, in its proportions, and 100% is where the busiest of them
    sends or receives at the full rate of its ports. Patterns are over the accelerator hosts, or the chips of a direct fabric,
    in the order of the design:

    | pattern | who sends to whom |
    |---|---|
    | `all_to_all` | each to every other, all pairs alike |
    | `ring` | each to the next one, the last to the first |
    | `shift K` | each to the one K further on |
    | `rail_allreduce` | a ring on every rail; with `through scaleup` a host may use all its ports for each |
    | `permutation "pairs.csv"` | a line `from,to` each; names, paths or numbers from 0 |
    | `"matrix.csv"` | a square of amounts, a line a sender; or `from,to,amount` under that header |

    Files lie beside the design. `throughput of A to B` is the maximum flow from A to B, and 100% what the ports of the smaller
    side carry. Planes are added up; where there are several, the witness gives each alone.

    ## Formula and source
    λ = the greatest factor by which all demands flow together (maximum concurrent flow: Shahrokhi and Matula, J. ACM 37, 1990).
    Lower bound: explicit routes, capacity over load; they divide evenly over shortest paths, or as a linear program (HiGHS) or
    multiplicative weights (Garg and Könemann, SIAM J. Comput. 37, 2007) propose; where there are too many sources for that,
    mixtures of few such routings and of ways over hubs (Valiant, SIAM J. Comput. 11, 1982), or a few spanning trees. Upper
    bound: λ ≤ Σ c·l / Σ demand·distance for whole lengths l, cuts of nodes, groups, tiers and halves among them, and the ports
    of the busiest. Both are computed in exact fractions. Where they meet, the figure is
    `proved`. `of A to B`: Dinic's maximum flow, whose cut is the witness.

    ## What it assumes
    Traffic may be divided over all paths: this is what the wiring can carry, not what a routing engine makes of it. Hosts
    forward nothing. Above a limit of work the answer is an interval, whose both ends hold; it may be wide.

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
    unit = "fraction"
    on_demand = True
    after_failures = True
    takes = frozenset({"args", "of", "to", "through"})
    example = "throughput ring >= 100%"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        if claim is not None and claim.of_to:
            return skipped("`of A to B` takes no pattern") if claim.args else _between(view, claim)
        if claim is None or not claim.args:
            return skipped(f"it needs a pattern ({', '.join(sorted((ALL, *PATTERNS)))} or a file), or `of A to B`")
        if len(view.units) < 2:
            return skipped(f"there are fewer than two {view.unit_word}")
        if claim.args == (ALL,):
            return _uniform(view)
        try:
            demand = demand_of(view, claim)
        except Unfit as why:
            return skipped(str(why))
        links = Links.of(view)
        whole = offer(view, links, demand)
        if whole is None:
            return skipped(f"some {view.unit_word} that send or receive have no link")
        found = whole.bounds()
        if found is None:
            return skipped("some demand has no path")
        planes = parts(view, links)
        witness: dict[str, object] = {"demands": len(demand.source)}
        if 1 < len(planes) <= PLANES and not demand.by_rail:
            witness["planes"] = [_alone(offer(view, p, demand)) for p in planes]
        return _answer(whole, found, witness)


def _uniform(view: View) -> Judgement:
    """All to all, each pair alike."""
    found = all_pairs(view)
    if found is None:
        return skipped("some pairs have no path, or there are too many and no part of the network reaches all")
    pairs = len(found.net.units) * (len(found.net.units) - 1)
    return _shown(found.lower, found.upper, found.top, pairs * found.net.grain, {"pairs": pairs})


def _alone(one: Offer | None) -> list[float] | None:
    """Bounds of one plane as fractions of its own full; None where somebody has no port in it."""
    found = one.bounds() if one is not None else None
    return None if one is None or found is None else [float(found.lower / one.top), float(found.upper / one.top)]


def _answer(asked: Offer, found: Bounds, witness: dict[str, object]) -> Judgement:
    return _shown(found.lower, found.upper, asked.top, asked.total * asked.grain, witness)


def _shown(least: Fraction, most: Fraction, top: Fraction, all_bps: Fraction | int, witness: dict[str, object]) -> Judgement:
    """Bounds on a factor of which ``top`` is full, and ``all_bps`` what all demands are together at factor one."""
    lower, upper = least / top, most / top
    low, high, full = (float(x * all_bps) for x in (least, most, top))
    measures = {"lower_bps": low, "upper_bps": high}
    exact = lower == upper
    amount = f"{_tera(low)} of {_tera(full)} Tbps" if exact else f"{_tera(low)} to {_tera(high)} of {_tera(full)} Tbps"
    figure = _percent(lower) if exact else f"between {_percent(lower)} and {_percent(upper)}"
    return Judgement(
        "proved" if exact else "bounded", f"{figure}: {amount}", lower, lower, upper, witness=witness, measures=measures,
        notes=("this is what the wiring can carry, not what a routing engine makes of it",), help="add links where the load is",
    )  # fmt: skip


def _percent(value: Fraction) -> str:
    return f"{float(value * 100):.4g}%"


def _tera(bps: float) -> str:
    return f"{bps / 1e12:g}"


# ---------------------------------------------------------------- from A to B


def _between(view: View, claim: ResolvedClaim) -> Judgement:
    """The maximum flow between two sets of devices."""
    found = between(view, claim)
    if isinstance(found, str):
        return skipped(found)
    f, value, full = view.fabric, found.value, found.full
    count = np.bincount(f.link_class[found.cut], minlength=len(f.classes)).tolist()
    classes = {name: n for name, n in zip(f.classes, count, strict=True) if n}
    said = ", ".join(f"{n} {name}" for name, n in classes.items()) or "no link"
    text = f"{_percent(Fraction(value, full))}: {_tera(value)} of {_tera(full)} Tbps through {said}"
    ends = [f"{f.port_path(int(f.link_a[x]))} - {f.port_path(int(f.link_b[x]))}" for x in found.cut[:8]]
    figure = Fraction(value, full)
    return Judgement(
        "proved", text, figure, figure, figure, help="add links where the cut is",
        witness={"cut": ends, "cut_links": len(found.cut), "cut_classes": classes, "cut_bps": float(value)},
        measures={"lower_bps": float(value), "upper_bps": float(value)},
    )  # fmt: skip
