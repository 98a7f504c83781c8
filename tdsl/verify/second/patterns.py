"""Throughput of a pattern as one linear program in HiGHS: a flow for each source over all links at once."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import read_text_file
from tdsl.system.standard_output import libraries_muted
from tdsl.verify.second.answer import HIGHS, Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.graph_figures import has_complete_scaleup
from tdsl.verify.second.wiring import WiringGraph

RELATIVE = Fraction(1, 1_000_000)
"""Error of the program's floats that is not taken for a disagreement."""

LEAST = 1e-6
"""The least rate or demand, as a share of the greatest rate, that is far enough above the tolerances of HiGHS
(1e-9)."""

_E = TypeVar("_E")

Terminal = tuple[int, int]
"""A unit, or one rail of it: the device and the rail, -1 for all its ports."""

Demands = dict[tuple[Terminal, Terminal], int]
"""Amounts to be sent, of which only the proportions count."""


@dataclass(frozen=True, slots=True)
class TerminalNetwork:
    """Terminals, forwarding devices (as (device, -2)) and the capacity of every pair with links, each way, in
    bit/s."""

    terminals: tuple[Terminal, ...]
    capacity: dict[tuple[Terminal, Terminal], int]
    passes: frozenset[Terminal]

    def sent(self, end: Terminal) -> int:
        """What a terminal can send or receive at once."""
        return sum(rate for pair, rate in self.capacity.items() if end in pair)


def pattern_throughput_by_highs(w: WiringGraph, claim: ResolvedClaim | None, limits: Limits) -> SecondAnswer:
    """The greatest factor of all demands at once, over the one at which the busiest terminal uses all its
    ports."""
    assert claim is not None
    if len(w.units) < 2:
        raise NoOpinion("there are fewer than two units")
    if len(w.units) ** 2 > limits.columns:
        raise MethodTooLarge(HIGHS, f"{len(w.units) ** 2:,} pairs of units", f"{limits.columns:,}")
    if w.fabric.whole is not None and claim.through:
        return _throughput_through_domains(w, claim, limits)
    by_rail = _rail_of_unit_links(w, claim)
    net = _terminal_network(w, by_rail)
    demands = _demands_of_pattern(w, claim, net, by_rail)
    if demands is None:
        return SecondAnswer(HIGHS, Fraction(0), Fraction(0))
    if not demands:
        raise NoOpinion("no two ends that exchange something are left")
    busy = _busiest_direction((s, t, amount) for (s, t), amount in demands.items())
    top = min(Fraction(net.sent(end), x) for end, x in busy.items())
    if not top:
        raise NoOpinion("a unit that sends or receives has no link")
    value = Fraction(_solve_concurrent_flow(_arcs_both_ways(net.capacity), net.passes, demands, top, limits))
    return SecondAnswer(HIGHS, value, value, relative=RELATIVE, full_bps=top * sum(demands.values()))


def _throughput_through_domains(w: WiringGraph, claim: ResolvedClaim, limits: Limits) -> SecondAnswer:
    """The same through scale-up domains of several hosts: a flow goes over scale-up links, at most once over
    the network, and over scale-up links again, whose capacity both stretches share. 100% is where the busiest
    domain uses all its ports of the network."""
    if w.direct or w.fabric.whole is None:
        raise NoOpinion("domains of a fabric that is direct have no second method")
    net = _terminal_network(w, None)
    asked = _demands_of_pattern(w, claim, net, None) or {}
    domain, links = unit_scaleup_domains(w)
    crossing = [
        (domain[s[0]], domain[t[0]], amount)
        for (s, t), amount in asked.items()
        if domain[s[0]] != domain[t[0]]
    ]
    total = sum(amount for *_, amount in crossing)
    if not total:
        raise NoOpinion("nothing that is sent leaves a scale-up domain")
    own: dict[int, int] = {}
    for u in w.units:
        own[domain[u]] = own.get(domain[u], 0) + net.sent((u, -1))
    top = min(Fraction(own[d], x) for d, x in _busiest_direction(crossing).items())
    if not top:
        raise NoOpinion("a unit that sends or receives has no link")
    arcs = _arcs_through_domains(w, net, links)
    sent = {(s, (t[0], BEHIND_NETWORK)): amount for (s, t), amount in asked.items()}
    passes = frozenset(x for _, pair in arcs.every for x in pair)
    value = Fraction(_solve_concurrent_flow(arcs, passes, sent, top, limits))
    return SecondAnswer(HIGHS, value, value, relative=RELATIVE, full_bps=top * total)


def _busiest_direction(demands: Iterable[tuple[_E, _E, int]]) -> dict[_E, int]:
    """The greater of what each endpoint sends and receives."""
    out: dict[_E, int] = {}
    into: dict[_E, int] = {}
    for s, t, amount in demands:
        out[s], into[t] = out.get(s, 0) + amount, into.get(t, 0) + amount
    return {x: max(out.get(x, 0), into.get(x, 0)) for x in {*out, *into}}


BEFORE_NETWORK, BEHIND_NETWORK = -1, -3
"""Where a flow through scale-up domains is, before the network or behind it; forwarding devices of the
network are (device, -2)."""


def _arcs_through_domains(w: WiringGraph, net: TerminalNetwork, links: dict[tuple[int, int], int]) -> Arcs:
    """The scale-up links before the network and behind it, which share their capacity, the links of the
    network, and the way past it."""
    arcs = Arcs()
    for (a, b), rate in links.items():
        for x, y in ((a, b), (b, a)):
            arcs.add(
                rate, ((x, BEFORE_NETWORK), (y, BEFORE_NETWORK)), ((x, BEHIND_NETWORK), (y, BEHIND_NETWORK))
            )
    for (one, two), rate in net.capacity.items():
        for start, end in ((one, two), (two, one)):
            arcs.add(rate, (start, end if end in net.passes else (end[0], BEHIND_NETWORK)))
    arcs.add(0, *(((u, BEFORE_NETWORK), (u, BEHIND_NETWORK)) for u in w.units))
    return arcs


@dataclass(slots=True)
class Arcs:
    """Arcs of a linear program, each with the row of its capacity; those of one row share it, and a capacity
    of 0 is no limit."""

    every: list[tuple[int, tuple[Terminal, Terminal]]] = field(default_factory=list)
    capacity: list[int] = field(default_factory=list)

    def add(self, capacity: int, *arcs: tuple[Terminal, Terminal]) -> None:
        """Some arcs that share a capacity in bit/s."""
        self.every += [(len(self.capacity) if capacity else -1, arc) for arc in arcs]
        self.capacity += [capacity] if capacity else []


def _arcs_both_ways(capacity: dict[tuple[Terminal, Terminal], int]) -> Arcs:
    out = Arcs()
    for (a, b), rate in capacity.items():
        out.add(rate, (a, b))
        out.add(rate, (b, a))
    return out


def unit_scaleup_domains(w: WiringGraph) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """The scale-up domain of every unit, and the rates of the scale-up links between units and switches,
    those of what is inside a unit as its own. Raises NoOpinion where the accelerators of a unit are not all
    in one."""
    import networkx

    whole = w.fabric.whole
    assert whole is not None
    every, apart = w.both_layers, w.scaleup
    pairs = [(a, b, rate) for a, b, rate in every.graph.edges(data="rate_bps") if apart.has_edge(a, b)]
    part = {d: k for k, members in enumerate(networkx.connected_components(apart)) for d in members}
    owner: dict[int, int] = {}
    for u in w.units:
        inside = every.contents([u])
        if len(inside) < len(WiringGraph.whole(whole).contents([u])) and has_complete_scaleup(
            whole.model_of(u)
        ):
            raise NoOpinion("what failures leave inside of a host has no second method")
        owner |= dict.fromkeys(inside, u)
        chips = {part.get(d, -1 - d) for d in inside - {u} if every.kind(d) == "chip"}
        _refuse_accelerators_apart(whole.model_of(u), chips, u in part)
    links: dict[tuple[int, int], int] = {}
    for a, b, rate in pairs:
        low, high = sorted((owner.get(a, a), owner.get(b, b)))
        if low != high:
            links[low, high] = links.get((low, high), 0) + rate
    joined: networkx.Graph[int] = networkx.Graph([*links])
    joined.add_nodes_from(w.units)
    number = {d: min(members) for members in networkx.connected_components(joined) for d in members}
    return {u: number[u] for u in w.units}, links


def _refuse_accelerators_apart(model: DeviceModel, chips: set[int], linked: bool) -> None:
    """Refuse a unit whose accelerators are not all in one part of the scale-up layer. ``chips`` are the parts
    of the chips in it, less than 0 for one without scale-up links; ``linked`` is whether it has such links
    itself."""
    one = model.accelerators < 2 or has_complete_scaleup(model) or (not chips and linked)
    if not one and (len(chips) > 1 or min(chips, default=-1) < 0):
        raise NoOpinion("which accelerators of a host are in one scale-up domain is not judged a second time")


# ---------------------------------------------------------------- terminals


def _rail_of_unit_links(w: WiringGraph, claim: ResolvedClaim) -> dict[int, int] | None:
    """The rail of every link of a unit that has one, where the answer is by rail: where the accelerators are
    joined inside the hosts and the path through them is not asked for."""
    from tdsl.fabric.rails import link_rail

    joined = _accelerators_are_joined(w)
    if claim.through and not joined:
        raise NoOpinion("there are units without a scale-up domain")
    if any(u in w.forwards for u in w.units):
        return None
    if claim.through:
        return None
    inside = joined and all(w.fabric.model_of(u).accelerators > 1 for u in w.units)
    if not inside and claim.args[:1] != ("rail_allreduce",):
        return None
    of, mine = link_rail(w.fabric).tolist(), set(w.units)
    rows = [row for a, b, row in w.graph.edges(keys=True) if not mine.isdisjoint((a, b))]
    return {row: of[row] for row in rows if of[row] >= 0} or None


def _accelerators_are_joined(w: WiringGraph) -> bool:
    """Whether scale-up links join the accelerators of each unit."""
    if w.fabric.whole is not None:
        return bool(unit_scaleup_domains(w.intact or w)[0])
    return all(has_complete_scaleup(w.fabric.model_of(u)) for u in w.units)


def _capacity_between_places(
    w: WiringGraph, place: Callable[[int, int], Terminal | None]
) -> dict[tuple[Terminal, Terminal], int]:
    """The rates of links between two places, which depend on the device and the row of the link."""
    capacity: dict[tuple[Terminal, Terminal], int] = {}
    for a, b, row, rate in w.graph.edges(keys=True, data="rate_bps"):
        one, two = place(a, row), place(b, row)
        if one is not None and two is not None and one != two:
            pair = (min(one, two), max(one, two))
            capacity[pair] = capacity.get(pair, 0) + rate
    return capacity


def _terminal_network(w: WiringGraph, rails: dict[int, int] | None) -> TerminalNetwork:
    """The network between terminals; of hosts with rails, links without one belong to nobody."""
    mine = set(w.units)
    rail = rails or {}
    railed = {d for a, b, row in w.graph.edges(keys=True) if row in rail for d in (a, b)} & mine

    def place(device: int, row: int) -> Terminal | None:
        if device not in mine:
            return (device, -2) if device in w.forwards else None
        if device in w.forwards or device not in railed:
            return device, -1
        return (device, rail[row]) if row in rail else None

    capacity = _capacity_between_places(w, place)
    nodes = {x for pair in capacity for x in pair}
    ends = {x for x in nodes if x[1] != -2}
    if rails is None:
        ends |= {(u, -1) for u in w.units}
    elif {d for d, _ in ends} != mine:
        raise NoOpinion("a unit has no link")
    return TerminalNetwork(tuple(sorted(ends)), capacity, frozenset(x for x in nodes if x[0] in w.forwards))


# ---------------------------------------------------------------- demands


def _demands_of_pattern(
    w: WiringGraph, claim: ResolvedClaim, net: TerminalNetwork, rails: dict[int, int] | None
) -> Demands | None:
    """Whole amounts between terminals; None where two units that exchange something have no rail in
    common."""
    if claim.args[0] == "all_to_all":
        return {(s, t): 1 for s in net.terminals for t in net.terminals if s != t}
    asked = {pair: x for pair, x in _demands_between_units(w, claim).items() if pair[0] != pair[1] and x}
    if not asked:
        raise NoOpinion("nobody sends to anybody else")
    if rails is None:
        return {((a, -1), (b, -1)): amount for (a, b), amount in asked.items()}
    if claim.args[0] in ("ring", "rail_allreduce"):
        return _ring_on_every_rail(w, net)
    return _demands_on_every_rail(asked, net)


def _demands_between_units(w: WiringGraph, claim: ResolvedClaim) -> dict[tuple[int, int], int]:
    """The amounts of a pattern between units, also those that are 0 or of a unit to itself."""
    pattern, *rest = claim.args
    units = list(w.units)
    if pattern in ("ring", "rail_allreduce", "shift"):
        step = rest[0] if rest else 1
        if not isinstance(step, int) or step % len(units) == 0 or (pattern == "rail_allreduce" and w.direct):
            raise NoOpinion("the pattern says nothing about this fabric")
        return {(u, units[(i + step) % len(units)]): 1 for i, u in enumerate(units)}
    if pattern == "permutation" and len(rest) == 1:
        return {pair: 1 for pair, _ in _demands_listed_in_file(w, claim, str(rest[0]), permutation=True)}
    asked: dict[tuple[int, int], int] = {}
    for pair, amount in _demands_listed_in_file(w, claim, str(pattern), permutation=False):
        asked[pair] = asked.get(pair, 0) + amount
    return asked


def _ring_on_every_rail(w: WiringGraph, net: TerminalNetwork) -> Demands:
    """A ring on every rail, over the units that have it."""
    there = set(net.terminals)
    out: Demands = {}
    for rail in sorted({rail for _, rail in there}):
        members = [(u, rail) for u in w.units if (u, rail) in there]
        if len(members) > 1:
            out |= {(one, members[(i + 1) % len(members)]): 1 for i, one in enumerate(members)}
    return out


def _demands_on_every_rail(asked: dict[tuple[int, int], int], net: TerminalNetwork) -> Demands | None:
    """What units exchange, on each rail that both have; None where two have none in common."""
    there = set(net.terminals)
    every = sorted({rail for _, rail in there})
    out: Demands = {}
    for (a, b), amount in asked.items():
        common = [rail for rail in every if (a, rail) in there and (b, rail) in there]
        if not common:
            return None
        for rail in common:
            out[(a, rail), (b, rail)] = amount
    return out


def _demands_listed_in_file(
    w: WiringGraph, claim: ResolvedClaim, name: str, permutation: bool
) -> Iterator[tuple[tuple[int, int], int]]:
    """Pairs and amounts of a file beside the design, which the check has read and found to be in order."""
    known = {
        word: u
        for i, u in enumerate(w.units)
        for word in (str(i), w.fabric.device_name(u), w.fabric.device_path(u))
    }
    lines = _csv_lines_beside_design(claim, name)
    head = [c.lower() for c in lines[0]] if lines else []
    million = Fraction(10**6)
    try:
        if permutation:
            yield from (((known[a], known[b]), 1) for a, b in lines[head == ["from", "to"] :])
        elif head == ["from", "to", "amount"]:
            yield from (((known[a], known[b]), int(Fraction(x) * million)) for a, b, x in lines[1:])
        else:
            for u, row in zip(w.units, lines, strict=True):
                yield from (((u, v), int(Fraction(x) * million)) for v, x in zip(w.units, row, strict=True))
    except (KeyError, ValueError):
        raise NoOpinion(f"{name} is not read a second time") from None


def _csv_lines_beside_design(claim: ResolvedClaim, name: str) -> list[list[str]]:
    """The cells of a file beside the design, without empty lines and comments."""
    try:
        home = Path(claim.origin.span.file.name).parent
        text = read_text_file(home / name, within=[home], encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise NoOpinion(f"{name} cannot be read") from None
    lines = [[c.strip() for c in row] for row in csv.reader(text.splitlines())]
    return [row for row in lines if any(row) and not row[0].startswith("#")]


# ---------------------------------------------------------------- the linear program


def _solve_concurrent_flow(
    net: Arcs, passes: frozenset[Terminal], demands: Demands, top: Fraction, limits: Limits
) -> float:
    """The factor over ``top`` that HiGHS finds."""
    arcs, count = net.every, len(net.capacity)
    peak = max(
        net.capacity, default=1
    )  # the program's capacities are shares of it: large coefficients lose digits
    sources = sorted({s for s, _ in demands})
    if len(sources) * len(arcs) > limits.columns:
        size = (
            f"{len(sources) * len(arcs):,} columns, of {len(sources):,} sources and {len(arcs):,} "
            "directions of links"
        )
        raise MethodTooLarge(HIGHS, size, f"{limits.columns:,}")
    balance: dict[tuple[Terminal, Terminal], int] = {}
    columns = _columns_of_flows(net, passes, demands, sources, balance)
    factor: ProgramColumn = ([], [])
    unit = float(top / peak)
    if min([r / peak for r in net.capacity] + [a * unit for a in demands.values()], default=1.0) < LEAST:
        raise NoOpinion("rates or demands are too far apart for the floats of HiGHS")
    for (s, t), amount in demands.items():
        factor[0].append(count + balance.setdefault((s, t), len(balance)))
        factor[1].append(-amount * unit)
    columns.append(factor)
    return greatest_last_column(columns, [rate / peak for rate in net.capacity], len(balance), limits)


ProgramColumn = tuple[list[int], list[float]]
"""A column of a linear program: the rows in which it is not 0, and its coefficients there."""


def _columns_of_flows(
    net: Arcs,
    passes: frozenset[Terminal],
    demands: Demands,
    sources: Iterable[Terminal],
    balance: dict[tuple[Terminal, Terminal], int],
) -> list[ProgramColumn]:
    """The flow of each source on each arc that it may take. ``balance`` gets the number of the row, behind
    those of capacities, in which what a source sends is conserved at a node."""
    columns: list[ProgramColumn] = []
    for s in sources:
        for row, (a, b) in net.every:
            leaves = a == s or a in passes
            if not leaves or b == s or not (b in passes or (s, b) in demands):
                continue
            index, value = ([row], [1.0]) if row >= 0 else ([], [])
            for end, sign in ((b, 1.0), (a, -1.0)):
                if end != s:
                    index.append(len(net.capacity) + balance.setdefault((s, end), len(balance)))
                    value.append(sign)
            columns.append((index, value))
    return columns


def greatest_last_column(
    columns: list[ProgramColumn], capacity: list[float], balanced: int, limits: Limits
) -> float:
    """The greatest value that the last of columns of 0 or more can have, where the first rows are at most
    the capacities and so many others are 0."""
    import highspy
    import numpy as np

    count = len(capacity)
    lp: Any = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(columns), count + balanced
    lp.col_cost_ = np.append(np.zeros(len(columns) - 1), -1.0)
    lp.col_lower_, lp.col_upper_ = np.zeros(len(columns)), np.full(len(columns), highspy.kHighsInf)
    lp.row_lower_ = np.append(np.full(count, -highspy.kHighsInf), np.zeros(balanced))
    lp.row_upper_ = np.append(np.array(capacity, dtype=np.float64), np.zeros(balanced))
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(index) for index, _ in columns)])
    lp.a_matrix_.index_ = np.array([i for index, _ in columns for i in index])
    lp.a_matrix_.value_ = np.array([x for _, value in columns for x in value])
    with libraries_muted():
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    settings: tuple[tuple[str, object], ...] = (
        ("output_flag", False),
        ("threads", 1),
        ("random_seed", 0),
        ("simplex_iteration_limit", limits.iterations),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
    )
    for option, setting in settings:
        solver.setOptionValue(option, setting)
    solver.passModel(lp)
    if (
        solver.run() == highspy.HighsStatus.kError
    ):  # somebody else in this process has started other threads of HiGHS
        solver.setOptionValue("threads", 0)
        solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise NoOpinion("HiGHS found no optimum within its limit")
    return max(float(-solver.getInfo().objective_function_value), 0.0)
