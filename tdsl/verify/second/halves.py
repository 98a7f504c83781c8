"""The bisection by z3: which side every unit and every switch is on are unknowns, and what crosses is a sum
over them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, gcd, prod
from typing import TYPE_CHECKING, Any

from tdsl.fabric.claims import ResolvedClaim
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.result import Result
from tdsl.verify.second.answer import Z3, Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.wiring import WiringGraph

if TYPE_CHECKING:
    import networkx

LARGEST = 2**31 - 1
"""The largest sum of coefficients that z3 takes."""


@dataclass(frozen=True, slots=True)
class Halves:
    """Capacities in multiples of ``grain`` bit/s between units and forwarding devices; ``full`` is the
    most that the smaller of two halves can send, and ``equal`` whether all units send the same."""

    units: tuple[int, ...]
    links: tuple[tuple[int, int, int], ...]
    grain: int
    full: Fraction
    equal: bool

    @classmethod
    def of(cls, w: WiringGraph, limits: Limits) -> Halves:
        """Raises TooLarge."""
        units = w.units
        if len(units) < 2:
            raise NoOpinion("there are fewer than two units")
        net = w.among(w.forwards | set(units))
        if net.number_of_edges() > limits.crossings:
            raise MethodTooLarge(Z3, f"{net.number_of_edges():,} pairs with links", f"{limits.crossings:,}")
        rates = [facts["rate"] for *_, facts in net.edges(data=True)]
        grain = gcd(*rates) or 1
        links = tuple((a, b, facts["rate"] // grain) for a, b, facts in net.edges(data=True))
        total = sum(capacity for *_, capacity in links)
        if total > LARGEST:
            raise MethodTooLarge(
                Z3, f"all links together carry {total:,} times {grain:,} bit/s", f"{LARGEST:,}"
            )
        _refuse_too_many_splits(net, units, limits)
        sent = sorted(net.degree(u, weight="rate") // grain for u in units)
        full = min(Fraction(sum(sent[len(units) - len(units) // 2 :])), Fraction(sum(sent), 2))
        return cls(units, links, grain, full, sent[0] == sent[-1])

    def split(self, most: int, limits: Limits) -> int | None:
        """What some balanced split crosses, at most so much; None if there is none. Raises NoOpinion where z3
        gives up."""
        import z3

        z3.set_param("ctrl_c", False)  # else Ctrl-C ends its search, and tdsl goes on

        if most < 0:
            return None
        there = sorted({*self.units, *(x for a, b, _ in self.links for x in (a, b))})
        side: dict[int, Any] = {d: z3.Bool(f"side{d}") for d in there}
        solver = z3.SolverFor("QF_FD")
        solver.set("rlimit", limits.work)
        solver.add(z3.PbEq([(side[u], 1) for u in self.units], len(self.units) // 2))
        if self.links:
            solver.add(z3.PbLe([(z3.Xor(side[a], side[b]), capacity) for a, b, capacity in self.links], most))
        for one, two in self._equal():
            solver.add(z3.Implies(side[two], side[one]))
        found = solver.check()
        if found == z3.unsat:
            return None
        if found != z3.sat:
            raise NoOpinion(f"z3 gave no answer within {limits.work:,} steps")
        model = solver.model()
        on = {d for d, x in side.items() if z3.is_true(model.eval(x, model_completion=True))}
        if len(on.intersection(self.units)) != len(self.units) // 2:
            raise NoOpinion("z3 gave a split that is not balanced")
        return self._crossing_capacity(on)

    def _crossing_capacity(self, on: set[int]) -> int:
        """What links carry between some devices and all others."""
        return sum(capacity for a, b, capacity in self.links if (a in on) != (b in on))

    def _equal(self) -> list[tuple[int, int]]:
        """Units with the very same links: exchanging two of them changes nothing, so the first may be on the
        first side first."""
        near: dict[int, list[tuple[int, int]]] = {u: [] for u in self.units}
        for a, b, capacity in self.links:
            for one, other in ((a, b), (b, a)):
                if one in near:
                    near[one].append((other, capacity))
        kinds: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for u, links in near.items():
            kinds.setdefault(tuple(sorted(links)), []).append(u)
        return [pair for members in kinds.values() for pair in pairwise(members)]


def _refuse_too_many_splits(net: networkx.Graph[int], units: tuple[int, ...], limits: Limits) -> None:
    """Refuse units that can be split in too many ways, those with the same neighbours being equal."""
    kinds: dict[object, int] = {}
    for u in units:
        near = frozenset((v, facts["rate"]) for v, facts in net.adj[u].items())
        kinds[near] = kinds.get(near, 0) + 1
    splits = prod(n + 1 for n in kinds.values())
    if splits > 1 << limits.units:
        size = f"{splits:,}" if splits < 10**12 else f"2^{splits.bit_length() - 1}"
        raise MethodTooLarge(Z3, f"{size} splits of {len(units):,} units", f"{1 << limits.units:,}")


def confirm_bisection_by_z3(
    w: WiringGraph, claim: ResolvedClaim | None, result: Result, limits: Limits
) -> SecondAnswer:
    """That no split crosses less than the lower bound, and that one crosses at most the upper one."""
    halves = Halves.of(w, limits)
    full = _full_bisection_in_grains(halves, w, claim, limits)
    assert isinstance(result.lower, (int, Fraction)) and isinstance(result.upper, (int, Fraction))
    low, high = result.lower * full, result.upper * full
    under = halves.split(ceil(low) - 1, limits)
    if under is not None:
        return SecondAnswer(Z3, Fraction(0), under / full, full_bps=full * halves.grain)
    found = halves.split(floor(high), limits)
    if found is None:
        return SecondAnswer(Z3, (floor(high) + 1) / full, float("inf"), full_bps=full * halves.grain)
    return SecondAnswer(Z3, Fraction(result.lower), found / full, full_bps=full * halves.grain)


def _full_bisection_in_grains(
    halves: Halves, w: WiringGraph, claim: ResolvedClaim | None, limits: Limits
) -> Fraction:
    """What 100% is, in grains."""
    if claim is not None and claim.of_intact and w.intact is not None:
        before = Halves.of(w.intact, limits)
        full = before.full * before.grain / halves.grain
    elif not halves.equal:
        raise NoOpinion("a share of halves whose units send different amounts has no second method")
    else:
        full = halves.full
    if not full:
        raise NoOpinion("half of the units have no link")
    return full


def least_bisection_by_z3(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The bisection as a fraction of full, found by going down until z3 finds no split that crosses less."""
    halves = Halves.of(w, limits)
    full = _full_bisection_in_grains(halves, w, claim, limits)
    best = sum(capacity for *_, capacity in halves.links)
    while (found := halves.split(best - 1, limits)) is not None:
        best = found
    return SecondAnswer(Z3, best / full, best / full, full_bps=full * halves.grain)
