"""Times of collective operations and transfers again: linear programs in HiGHS and maximum flows in networkx.

Every unit passes on what it receives, and may copy it or add it up; so do other ends for the lower bound.
Switches do neither: as much leaves them as enters. Where that holds, trees are packed up to the least flow to
a rank (Edmonds, "Edge-disjoint branchings", 1973; Bang-Jensen, Frank, Jackson, SIAM J. Discrete Math. 8,
1995), so the program gives what the best trees take. What accelerators of one host exchange costs nothing
here, and where there are such there is no upper bound. Several sets do an operation each for itself, all at
once; members of one may pass on, copy and add up what another sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import SIZE, Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.second.answer import HIGHS, NETWORKX, Figure, Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.graph_figures import reachability_by_networkx, refuse_too_many_steps
from tdsl.verify.second.patterns import RELATIVE, ProgramColumn, greatest_last_column
from tdsl.verify.second.times import SECOND, cable_delay, ranks_of_unit, stated_latency
from tdsl.verify.second.wiring import ENDS, WiringGraph

if TYPE_CHECKING:
    import networkx

Arc = tuple[int, int]

INFINITE = float("inf")


@dataclass(eq=False)  # no slots: what is asked for is kept
class RankGraph:
    """Units with how many ranks each has, other ends, and what both and the forwarding devices are joined by:
    bit/s and femtoseconds of every arc, ``delay`` of its shortest cable and ``slowest`` of its longest. The
    units are in ``sets``, each of which does an operation for itself."""

    w: WiringGraph
    ranks: Mapping[int, int]
    others: frozenset[int]
    rate: Mapping[Arc, int]
    delay: Mapping[Arc, int]
    slowest: Mapping[Arc, int]
    known: bool
    sets: Sequence[frozenset[int]]

    @classmethod
    def of(
        cls,
        w: WiringGraph,
        units: Iterable[int],
        others: Iterable[int],
        sets: Sequence[frozenset[int]] | None = None,
    ) -> RankGraph:
        """Read the wiring; ``known`` is whether it says all delays. All units are one set where none are
        given."""
        ranks, kept = {u: ranks_of_unit(w.fabric.model_of(u)) for u in units}, frozenset(others)
        sets = [frozenset(ranks)] if sets is None else sets
        there = w.forwards | set(ranks) | kept
        own = {d: stated_latency(w.fabric, d) for d in there}
        known = all(own[d] is not None or not w.graph.degree(d) for d in w.forwards)
        rate: dict[Arc, int] = {}
        delay: dict[Arc, int] = {}
        slowest: dict[Arc, int] = {}
        for a, b, row, facts in w.graph.edges(keys=True, data=True):
            if a == b or not {a, b} <= there:
                continue
            try:
                cable = cable_delay(w, row)
            except NoOpinion:
                cable, known = 0, False
            for one, other in ((a, b), (b, a)):
                took = cable + (own[other] or 0) + (0 if one in w.forwards else own[one] or 0)
                rate[one, other] = rate.get((one, other), 0) + facts["rate_bps"]
                delay[one, other] = min(took, delay.get((one, other), took))
                slowest[one, other] = max(took, slowest.get((one, other), took))
        return cls(w, ranks, kept, rate, delay, slowest, known, sets)

    def shares_of_set(self, members: frozenset[int]) -> dict[int, float]:
        """What the ranks of each unit of a set are of all of it."""
        count = sum(self.ranks[u] for u in members)
        return {u: self.ranks[u] / count for u in sorted(members)}

    @cached_property
    def count(self) -> int:
        """The number of ranks."""
        return sum(self.ranks.values())

    @cached_property
    def arcs(self) -> list[Arc]:
        """All arcs in order."""
        return sorted(self.rate)

    @cached_property
    def single(self) -> bool:
        """Whether every unit is one rank."""
        return set(self.ranks.values()) == {1}

    @cached_property
    def nodes(self) -> list[int]:
        """All nodes in order."""
        return sorted({d for arc in self.rate for d in arc})

    @cached_property
    def peak(self) -> int:
        """The greatest rate of an arc."""
        return max(self.rate.values())

    def without_others(self) -> RankGraph:
        """The same without ends that are no ranks."""
        return RankGraph.of(self.w, self.ranks, (), self.sets) if self.others else self

    def passing(self) -> list[int]:
        """Nodes that neither copy nor add up."""
        return [d for d in self.nodes if d not in self.ranks and d not in self.others]

    @cached_property
    def least_delay(self) -> Fraction:
        """Seconds of the least delay between the two units of one set that are farthest apart."""
        import networkx

        net = networkx.DiGraph()
        net.add_weighted_edges_from((a, b, took) for (a, b), took in self.delay.items())
        worst = 0
        for s in self.ranks:
            first = self.first_delay(s)
            far = networkx.single_source_dijkstra_path_length(net, s)
            mine = next(one for one in self.sets if s in one)
            worst = max(worst, *(first + far[t] for t in mine if t != s and t in far), 0)
        return Fraction(worst, SECOND)

    def first_delay(self, source: int) -> int:
        """What a unit that forwards takes itself before the first arc, in femtoseconds."""
        return (stated_latency(self.w.fabric, source) or 0) if source in self.w.forwards else 0

    @cached_property
    def any_path(self) -> Fraction:
        """Seconds that no path without a repetition exceeds."""
        into: dict[int, int] = {}
        for (_, b), took in self.slowest.items():
            into[b] = max(into.get(b, 0), took)
        slowest = {d: stated_latency(self.w.fabric, d) or 0 for d in self.ranks}
        return Fraction(sum(into.values()) + max(slowest.values(), default=0), SECOND)


class _Program:
    """A linear program whose variables are 0 or more and whose last one is to be as great as can be."""

    def __init__(self, graph: RankGraph, limits: Limits) -> None:
        self.graph, self.limits = graph, limits
        self.most: list[float] = []
        self.zero = 0
        self.entries: dict[tuple[str, int], list[tuple[str, int, float]]] = {}

    def row_of_most(self, most: float) -> tuple[str, int]:
        """A row whose sum is at most this share of the greatest rate."""
        self.most.append(most)
        return "most", len(self.most) - 1

    def row_of_zero(self) -> tuple[str, int]:
        """A row whose sum is 0."""
        self.zero += 1
        return "zero", self.zero - 1

    def put(self, column: tuple[str, int], row: tuple[str, int], value: float) -> None:
        """An entry of the matrix."""
        self.entries.setdefault(column, []).append((*row, value))

    def keep(
        self, name: str, nodes: Iterable[int], ends: Mapping[int, tuple[tuple[str, int], float]]
    ) -> None:
        """What leaves each node less what enters, of the flow of this name, is the variable of the node."""
        rows = {v: self.row_of_zero() for v in nodes}
        for k, (a, b) in enumerate(self.graph.arcs):
            for end, sign in ((a, 1.0), (b, -1.0)):
                if end in rows:
                    self.put((name, k), rows[end], sign)
        for v, (column, amount) in ends.items():
            if v in rows:
                self.put(column, rows[v], -amount)

    def greatest(self) -> Fraction:
        """The greatest value of the variable ``rate``, in bit/s."""
        last = ("rate", 0)
        names = [c for c in self.entries if c != last]
        if len(names) > self.limits.columns:
            raise MethodTooLarge(HIGHS, f"{len(names):,} columns", f"{self.limits.columns:,}")
        columns: list[ProgramColumn] = []
        for name in (*names, last):
            found: dict[int, float] = {}
            for kind, row, value in self.entries.get(name, ()):
                at = row if kind == "most" else len(self.most) + row
                found[at] = found.get(at, 0.0) + value
            columns.append((list(found), list(found.values())))
        greatest: float = greatest_last_column(columns, self.most, self.zero, self.limits)
        return Fraction(greatest) * self.graph.peak


RATE = ("rate", 0)


def _refuse_too_many_columns(graph: RankGraph, limits: Limits) -> None:
    """Raise MethodTooLarge before a program is put together that is too large."""
    columns = (len(graph.ranks) + len(graph.sets)) * len(graph.arcs)
    if columns > limits.columns:
        raise MethodTooLarge(HIGHS, f"{columns:,} columns", f"{limits.columns:,}")
    if min(graph.rate.values()) * 1_000_000 < graph.peak:
        raise NoOpinion("rates are too far apart for the floats of HiGHS")


def _rate_of_gathering(graph: RankGraph, limits: Limits) -> Fraction:
    """Bit/s of the data at which what the ranks of every set hold can flow to each of it at once."""
    _refuse_too_many_columns(graph, limits)
    program = _Program(graph, limits)
    rows = [program.row_of_most(graph.rate[arc] / graph.peak) for arc in graph.arcs]
    for number, members in enumerate(graph.sets):
        used = f"used {number}"
        for k, row in enumerate(rows):
            program.put((used, k), row, 1.0)
        program.keep(used, graph.passing(), {})
        ends = {r: (RATE, share) for r, share in graph.shares_of_set(members).items()}
        for t in sorted(members):
            _flow_within(program, graph, used, t, ends)
    return program.greatest()


def _flow_within(
    program: _Program,
    graph: RankGraph,
    used: str,
    target: int,
    ends: Mapping[int, tuple[tuple[str, int], float]],
) -> None:
    """A flow to a rank of what ends send, on no arc more than is used of it."""
    name = f"to {target}"
    program.keep(name, [v for v in graph.nodes if v != target], ends)
    for k in range(len(graph.arcs)):
        row = program.row_of_most(0.0)
        program.put((name, k), row, 1.0)
        program.put((used, k), row, -1.0)


def _rate_of_exchange(graph: RankGraph, limits: Limits) -> Fraction:
    """Bit/s of what each rank sends in equal parts to all of its set, all at once."""
    _refuse_too_many_columns(graph, limits)
    program = _Program(graph, limits)
    rows = [program.row_of_most(graph.rate[arc] / graph.peak) for arc in graph.arcs]
    for members in graph.sets:
        shares = graph.shares_of_set(members)
        for s in shares:
            ends = {t: (RATE, -graph.ranks[s] * share) for t, share in shares.items()}
            name = f"from {s}"
            program.keep(name, [v for v in graph.nodes if v != s], ends)
            for k, row in enumerate(rows):
                program.put((name, k), row, 1.0)
    return program.greatest()


def _rate_of_adding(graph: RankGraph, limits: Limits) -> Fraction:
    """Bit/s of the data that is added up towards ranks along trees and sent out from these at once. The one
    is the other turned round, as each link is as fast either way."""
    _refuse_too_many_columns(graph, limits)
    program = _Program(graph, limits)
    place = {arc: k for k, arc in enumerate(graph.arcs)}
    rows = [program.row_of_most(graph.rate[arc] / graph.peak) for arc in graph.arcs]
    for number, members in enumerate(graph.sets):
        used = f"used {number}"
        for k, (a, b) in enumerate(graph.arcs):
            program.put((used, k), rows[k], 1.0)
            program.put((used, place[b, a]), rows[k], 1.0)
        program.keep(used, graph.passing(), {})
        shares = program.row_of_zero()
        program.put(RATE, shares, -1.0)
        for r in sorted(members):
            program.put(("root", r), shares, 1.0)
        ends = {r: (("root", r), 1.0) for r in sorted(members)}
        for t in sorted(members):
            _flow_within(program, graph, used, t, ends)
    return program.greatest()


def _least_seconds_of_adding(graph: RankGraph, bits: Fraction, limits: Limits) -> Fraction:
    """The sum of either side of a cut crosses it; and all units receive 2(h-1) times the data of the h of a
    set."""
    import networkx

    steps = 40 * len(graph.ranks) * len(graph.arcs)
    refuse_too_many_steps(
        steps, limits, f"{len(graph.ranks):,} flows, {len(graph.arcs):,} directions of links"
    )
    net: networkx.DiGraph[int] = networkx.DiGraph()
    net.add_edges_from((a, b, {"capacity": rate}) for (a, b), rate in graph.rate.items())
    pairs = ((min(one), t) for one in graph.sets for t in sorted(one)[1:])
    cut = min(networkx.maximum_flow_value(net, s, t) for s, t in pairs)
    ends = {*graph.ranks, *graph.others}
    received = sum(rate for (_, b), rate in graph.rate.items() if b in ends)
    least: Fraction = max(bits / cut, 2 * (len(graph.ranks) - len(graph.sets)) * bits / received)
    return least


# ---------------------------------------------------------------- operations


def _operation(
    w: WiringGraph,
    claim: ResolvedClaim | None,
    limits: Limits,
    bounds: Callable[[RankGraph, Fraction, Limits], tuple[Fraction, Figure]],
    trips: int,
) -> SecondAnswer:
    """Bounds on an operation's time: those of sending, and the least delay; above with the delays of so many
    trips of each rank."""
    if w.fabric.whole is not None:
        raise NoOpinion("scale-up domains of several hosts have no second method")
    if claim is not None and (claim.through or claim.given):
        raise NoOpinion("times over scale-up links, and of sums in switches, have no second method")
    bits = size_of_claim(claim)
    if claim is not None and claim.of_all:
        sets = sets_of_claim_again(w, claim)
        graph = RankGraph.of(w, sorted(frozenset().union(*sets)), (), sets)
    elif len(w.units) < 2 or not reachability_by_networkx(w, None, limits).holds:
        raise NoOpinion("some units do not reach each other")
    else:
        graph = RankGraph.of(w, w.units, w.others)
    linked = {d for arc in graph.rate for d in arc}
    if not linked.issuperset(graph.ranks):
        raise NoOpinion("a unit has no link")
    lower, upper = bounds(graph, bits, limits)
    if not graph.known or upper == INFINITE:
        return SecondAnswer(HIGHS, max(lower, graph.least_delay), INFINITE, relative=RELATIVE)
    most = upper + trips * graph.count * graph.any_path
    return SecondAnswer(HIGHS, max(lower, graph.least_delay), most, relative=RELATIVE)


def sets_of_claim_again(w: WiringGraph, claim: ResolvedClaim) -> list[frozenset[int]]:
    """The units of every set that `among` names, or of the one that `of all` does: devices that a path names
    are one set, and so is each group. Raises NoOpinion where one has no two units."""
    units, sets = frozenset(w.units), list[frozenset[int]]()
    for path in w.chosen(claim, "of"):
        whole = frozenset().union(*path.elements)
        each = [whole] if path.alone else path.elements
        sets += [frozenset(w.contents(one)) & units for one in each]
    if not claim.among:
        sets = [frozenset().union(*sets)]
    if any(len(one) < 2 for one in sets) or sum(map(len, sets)) > len(frozenset().union(*sets)):
        raise NoOpinion("a set has no two units, or shares one with another")
    if any(w.kind(d) in ENDS for d in w.forwards - frozenset().union(*sets)):
        raise NoOpinion("chips that are not named pass traffic on")
    return sets


def all_gather_time_by_highs(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """What the best packing of trees takes, in seconds; a reduce-scatter is the same the other way."""
    return _operation(w, claim, limits, _gathering_bounds, 1)


def all_to_all_time_by_highs(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """What an exchange takes at the greatest rate that all pairs have at once, in seconds."""
    return _operation(w, claim, limits, _exchange_bounds, 1)


def all_reduce_time_by_highs(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Between what must cross cuts and what trees take, in seconds."""
    return _operation(w, claim, limits, _adding_bounds, 2)


def _gathering_bounds(graph: RankGraph, bits: Fraction, limits: Limits) -> tuple[Fraction, Figure]:
    lower = _seconds_at(bits, _rate_of_gathering(graph, limits))
    if not graph.single:
        return lower, INFINITE
    if not graph.others:
        return lower, lower
    return lower, _seconds_at(bits, _rate_of_gathering(graph.without_others(), limits))


def _exchange_bounds(graph: RankGraph, bits: Fraction, limits: Limits) -> tuple[Fraction, Figure]:
    lower = _seconds_at(bits, _rate_of_exchange(graph, limits))
    return lower, lower if graph.single else INFINITE


def _adding_bounds(graph: RankGraph, bits: Fraction, limits: Limits) -> tuple[Fraction, Figure]:
    lower = _least_seconds_of_adding(graph, bits, limits)
    if not graph.single:
        return lower, INFINITE
    return lower, _seconds_at(bits, _rate_of_adding(graph.without_others(), limits))


def _seconds_at(bits: Fraction, rate: Fraction) -> Fraction:
    if not rate:
        raise NoOpinion("HiGHS found no flow")
    return bits / rate


def size_of_claim(claim: ResolvedClaim | None) -> Fraction:
    """The size that a claim asks for, in bits."""
    size = claim.args[0] if claim is not None and claim.args else None
    if not isinstance(size, Quantity) or size.dim != SIZE:
        raise NoOpinion("no size is given")
    return Fraction(size.amount)


# ---------------------------------------------------------------- transfers


def transfer_time_by_networkx(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """Between the maximum flow with the least delay and with that of any path, in seconds. Where each sender
    has a size of its own, the rate that all have at once is found by HiGHS."""
    import networkx

    bits = size_of_claim(claim)
    assert claim is not None
    here, there = w.members(claim, "of"), w.members(claim, "of_to")
    if not here or not there or here & there:
        raise NoOpinion("one set is empty, or they have a device in common")
    refuse_too_many_steps(40 * w.graph.number_of_edges(), limits, f"{w.graph.number_of_edges()} links")
    graph = RankGraph.of(w, here | there, ())
    net: networkx.DiGraph[int] = networkx.DiGraph()
    net.add_nodes_from((-1, -2))
    for (a, b), rate in graph.rate.items():
        if b not in here and a not in there:
            net.add_edge(a, b, capacity=rate, weight=graph.delay[a, b])
    net.add_edges_from((-1, d, {"weight": graph.first_delay(d)}) for d in here)
    net.add_edges_from((d, -2, {"weight": 0}) for d in there)
    flow = networkx.maximum_flow_value(net, -1, -2)
    if not flow:
        raise NoOpinion("no path leads from the one to the other")
    delay = Fraction(networkx.dijkstra_path_length(net, -1, -2), SECOND)
    if len(claim.args) > 1:
        least, most = (
            _seconds_at(bits, _rate_of_each_sender(graph, closed, there, limits))
            for closed in (frozenset[int](), here)
        )
        upper = most + graph.any_path if graph.known else INFINITE
        return SecondAnswer(HIGHS, max(least, delay), upper, relative=RELATIVE)
    sent = bits / flow
    if not graph.known:
        return SecondAnswer(NETWORKX, sent + delay, INFINITE)
    return SecondAnswer(NETWORKX, sent + delay, sent + _longest_delay_of_flow(graph, net))


def _longest_delay_of_flow(graph: RankGraph, net: networkx.DiGraph[int]) -> Fraction:
    """Seconds of the longest path of a maximum flow of least cost by delay."""
    import networkx

    used: networkx.DiGraph[int] = networkx.DiGraph()
    for a, to in networkx.max_flow_min_cost(net, -1, -2).items():
        for b, amount in to.items():
            took = graph.slowest[a, b] if (a, b) in graph.slowest else net[a][b]["weight"]
            used.add_weighted_edges_from([(a, b, took)] if amount else [])
    if not networkx.is_directed_acyclic_graph(used):
        return graph.any_path
    return Fraction(networkx.dag_longest_path_length(used), SECOND)


def _rate_of_each_sender(
    graph: RankGraph, closed: frozenset[int], there: frozenset[int], limits: Limits
) -> Fraction:
    """Bit/s that all senders have at once, each as much; those that are ``closed`` pass nothing on."""
    if len(graph.arcs) > limits.columns:
        raise MethodTooLarge(HIGHS, f"{len(graph.arcs):,} columns", f"{limits.columns:,}")
    program = _Program(graph, limits)
    for k, (a, b) in enumerate(graph.arcs):
        shut = b in closed or a in there
        program.put(("sent", k), program.row_of_most(0.0 if shut else graph.rate[a, b] / graph.peak), 1.0)
    senders = set(graph.ranks) - there
    program.keep("sent", [v for v in graph.nodes if v not in there], dict.fromkeys(senders, (RATE, 1.0)))
    return program.greatest()
