"""Each figure again: which method answers it, and whether its answer is that of the check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Fabric
from tdsl.fabric.layers import scaleup_links
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Check, checks_by_name
from tdsl.verify.result import Result
from tdsl.verify.second import collectives, graph_figures, halves, patterns, ports, times
from tdsl.verify.second.answer import (
    NETWORKX,
    Figure,
    Limits,
    MethodTooLarge,
    NoOpinion,
    SecondAnswer,
    figure_asked_for,
)
from tdsl.verify.second.selection import devices_of_instance
from tdsl.verify.second.wiring import WiringGraph

METHODS: Mapping[str, graph_figures.Method] = {
    "reachability": graph_figures.reachability_by_networkx,
    "plane_isolation": graph_figures.plane_isolation_by_networkx,
    "blast_radius": graph_figures.blast_radius_by_networkx,
    "diameter": graph_figures.diameter_by_networkx,
    "mean_hops": graph_figures.mean_hops_by_networkx,
    "edge_redundancy": graph_figures.edge_redundancy_by_networkx,
    "node_redundancy": graph_figures.node_redundancy_by_networkx,
    "oversubscription": graph_figures.oversubscription_by_networkx,
    "taper": graph_figures.taper_by_networkx,
    "bandwidth": graph_figures.bandwidth_by_networkx,
    "links": graph_figures.link_count_by_networkx,
    "switches": graph_figures.switch_count_by_networkx,
    "latency": times.latency_by_dijkstra,
    "allreduce": collectives.all_reduce_time_by_highs,
    "all_gather_time": collectives.all_gather_time_by_highs,
    "reduce_scatter_time": collectives.all_gather_time_by_highs,
    "all_to_all_time": collectives.all_to_all_time_by_highs,
    "transfer": collectives.transfer_time_by_networkx,
    "rail_alignment": ports.rail_alignment_by_networkx,
    "port_budget": ports.port_budget_by_networkx,
}
"""The methods of checks that are a function of the wiring and the claim, by name."""

TIMES_OF_SETS = ("allreduce", "all_gather_time", "reduce_scatter_time", "all_to_all_time")
"""The metrics whose methods read `of all` and `among`."""

OTHERS = ("bisection", "throughput", "survives", "fatal_set")
JUDGED = ("proved", "refuted", "bounded", "modelled")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a second method says of one result: ``confirmed``, ``unconfirmed`` (with the reason) or
    ``disagrees``."""

    verdict: str
    by: str = ""
    answer: SecondAnswer | None = None
    reason: str = ""

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        out: dict[str, object] = {"verdict": self.verdict}
        if self.by:
            out["by"] = [self.by]
        if self.answer is not None:
            found = self.answer
            if found.holds is not None:
                out["value"] = found.holds
            else:
                out |= {"lower": _finite_float(found.lower), "upper": _finite_float(found.upper)}
        if self.reason:
            out["reason"] = self.reason
        return out

    @property
    def said(self) -> str:
        """The second answer in words."""
        assert self.answer is not None
        if self.answer.holds is not None:
            return "yes" if self.answer.holds else "no"
        low, high = self.answer.lower, self.answer.upper
        if low == high:
            return _opinion_figure_text(low)
        return (
            f"at least {_opinion_figure_text(low)}"
            if high == float("inf")
            else f"between {_opinion_figure_text(low)} and {_opinion_figure_text(high)}"
        )


def _finite_float(value: Figure) -> float | None:
    return None if value == float("inf") else float(value)


def _opinion_figure_text(value: Figure) -> str:
    return str(value) if isinstance(value, Fraction) and value.denominator < 1000 else f"{float(value):.9g}"


# ---------------------------------------------------------------- results


def results_with_claims(
    claims: Sequence[ResolvedClaim], results: Sequence[Result]
) -> Iterator[tuple[Result, ResolvedClaim | None]]:
    """Every result with the claim that it answers; results of claims are in the order of the claims."""
    waiting = iter(claims)
    for result in results:
        if result.requirement is None:
            yield result, None
            continue
        for claim in waiting:
            scope = claim.scope.name if claim.scope else ""
            if (claim.metric, claim.text, scope) == (result.check, result.requirement, result.scope):
                yield result, claim
                break


class SecondOpinionJudge:
    """Second opinions about the results of one fabric."""

    def __init__(
        self, fabric: Fabric, failed: FailedElements | None = None, limits: Limits | None = None
    ) -> None:
        self.fabric = fabric
        self.limits = limits or Limits()
        self.failed = failed
        self.checks = checks_by_name()
        self._whole: WiringGraph | None = None
        self.beside: frozenset[int] = frozenset()  # links that failed beside the network
        self.network: SecondOpinionJudge | None = (
            None  # that of the network alone, where there are scale-up links beside it
        )
        if fabric.network is not fabric:
            up = scaleup_links(fabric)
            left = failed and replace(failed, links=failed.links[~up])
            self.network = SecondOpinionJudge(fabric.network, left, limits)
            if failed is not None:
                self.network.beside = frozenset((failed.links & up).nonzero()[0].tolist())

    @property
    def whole(self) -> WiringGraph:
        """The fabric as it is."""
        if self._whole is None:
            self._whole = WiringGraph.whole(self.fabric)
        return self._whole

    def opinion(self, result: Result, claim: ResolvedClaim | None) -> Opinion | None:
        """The second opinion about a result; None where the check has no second method or gave no answer."""
        if result.status not in JUDGED or (result.check not in METHODS and result.check not in OTHERS):
            return None
        if not self.fabric.complete:
            return None
        if self.network is not None and self.checks[result.check].of_network:
            return self.network.opinion(result, claim)
        try:
            if self.fabric.link_count > self.limits.links:
                raise MethodTooLarge(NETWORKX, f"{self.fabric.link_count:,} links", f"{self.limits.links:,}")
            return self._compared(result, claim)
        except NoOpinion as why:
            return Opinion("unconfirmed", reason=str(why))

    def _compared(self, result: Result, claim: ResolvedClaim | None) -> Opinion:
        check = self.checks[result.check]
        if claim is not None and claim.of_all:
            if result.check not in TIMES_OF_SETS or claim.scope is not None:
                raise NoOpinion("a set of ends has no second method")
            found = self._method(check, self._left(check, self.whole), claim, result)
            return _opinion_about_bounds(result, claim, found)
        if result.check == "survives":
            return self._survives(result, claim)
        found = self._figure(check, result, claim)
        if found.holds is not None:
            if result.status == "bounded":
                raise NoOpinion("the check left it open")
            same = found.holds == (result.status == "proved")
            return Opinion("confirmed" if same else "disagrees", found.by, found)
        return _opinion_about_bounds(result, claim, found)

    # ------------------------------------------------------------ what a claim is about
    def _figure(self, check: Check, result: Result, claim: ResolvedClaim | None) -> SecondAnswer:
        """The figure of all that a claim is about; of several elements the worst."""
        wiring = self.whole
        if claim is None:
            return self._method(check, self._left(check, wiring), None, result)
        of, of_to, at = (wiring.chosen(claim, clause) for clause in ("of", "of_to", "at"))
        if any(not path.elements for path in (*of, *of_to, *at)):
            raise NoOpinion("a path names nothing there")
        parts = [] if of_to or check.reads_of else [(e, path.alone) for path in of for e in path.elements]
        if not parts:
            wiring = wiring if claim.scope is None or of or of_to or at else self._instance(claim.scope.name)
            return self._method(check, self._left(check, wiring), claim, result)
        return self._worst(check, result, claim, parts)

    def _instance(self, path: str) -> WiringGraph:
        """The instance of a group."""
        return self.whole.part(devices_of_instance(self.fabric, path), False)

    def _left(self, check: Check, wiring: WiringGraph) -> WiringGraph:
        """What the failures of `--fail` leave, if the check is about that."""
        if self.failed is None or check.of_design:
            return wiring
        devices, links = (set(x.nonzero()[0].tolist()) for x in (self.failed.devices, self.failed.links))
        return wiring.without(devices, links, self.beside)

    def _worst(
        self, check: Check, result: Result, claim: ResolvedClaim, parts: list[tuple[frozenset[int], bool]]
    ) -> SecondAnswer:
        there = set(self.whole.graph)
        if self.failed is not None and not check.of_design:
            there -= set(self.failed.devices.nonzero()[0].tolist())
        standing = [(devices, alone) for devices, alone in parts if devices & there]
        graph_figures.refuse_too_many_steps(
            len(standing) * 4 * self.whole.graph.number_of_edges(), self.limits, f"{len(standing)} elements"
        )
        ordered = claim.op not in ("==", "!=") and isinstance(claim.value, (int, Fraction, type(None)))
        if check.kind != "yes_no" and not ordered and len(standing) > 1:
            raise NoOpinion(
                "which of several elements is the worst is not asked a second time for such a comparison"
            )
        found = self._figures_of_elements(check, result, claim, standing)
        if not found:
            raise NoOpinion("nothing that it names has a figure")
        if found[0].holds is not None:
            return replace(found[0], holds=all(x.holds for x in found))
        least = claim.op.startswith(">") or (check.scarce and not claim.op)
        return min(found, key=lambda x: x.lower) if least else max(found, key=lambda x: x.upper)

    def _figures_of_elements(
        self, check: Check, result: Result, claim: ResolvedClaim, parts: list[tuple[frozenset[int], bool]]
    ) -> list[SecondAnswer]:
        """The figure of each element; of several those of which a ratio has none are left out."""
        found = []
        for devices, alone in parts:
            one = self._left(check, self.whole.part(devices, alone))
            mine = result if len(parts) == 1 else replace(result, lower=result.lower)
            try:
                found.append(self._method(check, one, claim, mine))
            except MethodTooLarge:
                raise
            except NoOpinion:
                if len(parts) == 1 or check.kind != "ratio":
                    raise
        return found

    def _method(
        self, check: Check, wiring: WiringGraph, claim: ResolvedClaim | None, result: Result
    ) -> SecondAnswer:
        if check.name == "bisection":
            several = (
                claim is not None and sum(len(path.elements) for path in self.whole.chosen(claim, "of")) > 1
            )
            if several:
                return halves.least_bisection_by_z3(wiring, claim, self.limits)
            return halves.confirm_bisection_by_z3(wiring, claim, result, self.limits)
        if check.name == "throughput":
            assert claim is not None
            return self._throughput(wiring, claim)
        if check.name == "fatal_set":
            from tdsl.verify.second.failures import fatal_set_by_second_method

            return fatal_set_by_second_method(wiring, claim, self.limits)
        return METHODS[check.name](wiring, claim, self.limits)

    def _throughput(self, wiring: WiringGraph, claim: ResolvedClaim) -> SecondAnswer:
        if claim.of_to:
            return graph_figures.throughput_between_by_networkx(wiring, claim, self.limits)
        return patterns.pattern_throughput_by_highs(wiring, claim, self.limits)

    # ------------------------------------------------------------ failures
    def _survives(self, result: Result, claim: ResolvedClaim | None) -> Opinion:
        from tdsl.verify.second.failures import survival_by_second_method

        assert claim is not None
        if result.status == "bounded":
            raise NoOpinion("the check left it open")
        elsewhere = claim.given is not None and bool(claim.given.of_to or claim.given.at)
        wiring = self.whole if claim.scope is None or elsewhere else self._instance(claim.scope.name)
        found = survival_by_second_method(self._left(self.checks["survives"], wiring), claim, self.limits)
        if found.holds and found.relative and result.status == "refuted":
            raise NoOpinion(
                "after some failures the figure equals the required value within floating-point error"
            )
        return Opinion(
            "confirmed" if found.holds == (result.status == "proved") else "disagrees", found.by, found
        )


def _opinion_about_bounds(result: Result, claim: ResolvedClaim | None, found: SecondAnswer) -> Opinion:
    """What a second figure says of the bounds of a result."""
    if result.lower is None or result.upper is None:
        raise NoOpinion("the check gave no figure")
    low, high = _exact_result_figure(result.lower), _exact_result_figure(result.upper)
    slack = found.relative * max(abs(_fraction_or_zero(found.upper)), abs(_fraction_or_zero(high)))
    if found.upper < low - slack or found.lower > high + slack:
        return Opinion("disagrees", found.by, found)
    if found.lower >= low - slack and found.upper <= high + slack:
        if claim is not None and claim.op and not _verdict_fits(result, claim, found):
            return Opinion(
                "disagrees",
                found.by,
                found,
                "the figure is the same, but not whether it satisfies the requirement",
            )
        return Opinion("confirmed", found.by, found)
    if _same_verdict_by_bounds(result, claim, found):
        return Opinion("confirmed", found.by, found)
    raise NoOpinion(f"{found.by} gives only {Opinion('', found.by, found).said}")


def _same_verdict_by_bounds(result: Result, claim: ResolvedClaim | None, found: SecondAnswer) -> bool:
    """Whether the bounds of a second figure decide what is required as the check does."""
    if claim is None or not claim.op or claim.report or result.status not in ("proved", "refuted"):
        return False
    asked = figure_asked_for(claim, found)
    if asked is None:
        return False
    from tdsl.verify.compare import verdict_of_bounds

    low, high = found.lower * (1 - found.relative), found.upper * (1 + found.relative)
    return verdict_of_bounds(claim.op, low, high, asked) == result.status


def _exact_result_figure(value: object) -> Figure:
    """A figure of a result as a fraction, or infinity."""
    amount = getattr(value, "amount", value)
    if isinstance(amount, (int, Fraction)):
        return Fraction(amount)
    if amount == float("inf"):
        return float("inf")
    raise NoOpinion("the check gave no exact figure")


def _fraction_or_zero(value: Figure) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(0)


def _verdict_fits(result: Result, claim: ResolvedClaim, found: SecondAnswer) -> bool:
    """Whether the status is what the figure says of the requirement."""
    asked = figure_asked_for(claim, found)
    if asked is None or claim.report:
        return True
    from tdsl.verify.compare import verdict_of_bounds

    low, high = (getattr(end, "amount", end) for end in (result.lower, result.upper))
    verdict = verdict_of_bounds(claim.op, low, high, asked)
    return result.status == verdict or (result.status == "modelled" and verdict == "proved")
