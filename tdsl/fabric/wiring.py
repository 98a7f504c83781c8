"""Connects become links: populations, pattern, ports, and where a link crosses a panel or OCS."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric import patterns
from tdsl.fabric.cables.cabling import links_together
from tdsl.fabric.components import joined_groups
from tdsl.fabric.order import distinct_values
from tdsl.fabric.patterns import LinkPairs
from tdsl.fabric.ports import LinkEnds, PortTable
from tdsl.fabric.rates import add_capacity, batch_rates
from tdsl.fabric.resolve import Resolver, StatementSide, variable_assignments
from tdsl.fabric.vector import SAFE, Array, Assignments, integers_of_expression
from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.plan import ResolvedConnect
from tdsl.semantics.values import integer_if_whole, number_in_message
from tdsl.syntax import tree
from tdsl.syntax.patterns import CONNECT_PATTERNS
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.fabric.pins import Pins


@dataclass(slots=True)
class Batch:
    """Links (or drawn cables) of one statement as columns: ports ``a`` and ``b``, their devices ``da`` and
    ``db``; ``-1`` in the via columns where nothing is crossed."""

    statement: int
    wire: ResolvedConnect
    a: Array
    b: Array
    da: Array
    db: Array
    dim: Array
    via_a: Array
    via_b: Array
    assignment: Array
    over: Assignments
    rate: Array = field(
        default_factory=lambda: np.zeros(0, dtype=np.int64)
    )  # bit/s of each link; of links alone

    def only(self, rows: NDArray[np.bool_]) -> Batch:
        """Some links of the batch."""
        if rows.all():
            return self
        return Batch(
            self.statement,
            self.wire,
            self.a[rows],
            self.b[rows],
            self.da[rows],
            self.db[rows],
            self.dim[rows],
            self.via_a[rows],
            self.via_b[rows],
            self.assignment[rows],
            self.over,
            self.rate[rows] if len(self.rate) else self.rate,
        )


@dataclass(slots=True)
class WiringState:
    """All batches so far, and the ports they took. ``absent`` and ``undrawn`` are the links and cables that
    are planned and not built, because a device at one end or the device crossed is omitted."""

    ports: PortTable
    evaluator: Evaluator
    kinds: NDArray[np.str_]
    max_links: int
    links: list[Batch] = field(default_factory=list)
    drawn: list[Batch] = field(default_factory=list)
    absent: list[Batch] = field(default_factory=list)
    undrawn: list[Batch] = field(default_factory=list)
    total: int = 0
    tried: int = 0  # links of all connects, those that were refused included
    capacity: int = 0  # of all links, in bit/s each way
    grain: int = 0  # greatest common divisor of their rates
    idle: list[tree.Connect] = field(default_factory=list)  # connects whose guard leaves nothing
    pins: Pins | None = None
    apart: list[tuple[Fault, list[Array]]] = field(
        default_factory=list
    )  # spreads that fall apart, and the devices they join


def _unknown_pattern_fault(span: SourceSpan, name: str) -> Fault:
    """The fault of a word that is no pattern; ``x16`` is a number of links."""
    if name[0] == "x" and name[1:].isdigit():
        new = f"x {name[1:]}"
        message = f"there is no pattern `{name}` here; `{new}` is the number of links a pair"
        return Fault("E0101", span, message, help=f"write `{new}`", fix=Fix(f"write `{new}`", ((span, new),)))
    meant = {"full": "each", "all_to_all": "each", "bipartite": "each", "complete": "mesh", "chain": "ring"}
    if name == "x":
        help = "write how many links behind it, such as `x 2`"
        return Fault("E0101", span, "a number is missing behind `x`", help=help)
    return unknown_name_fault("E0101", span, "pattern", name, tuple(CONNECT_PATTERNS), meant=meant)


def takes_remaining_ports(wire: ResolvedConnect) -> bool:
    """Whether a connect takes what others leave: a spread without its own number of ports. One that a model
    writes takes its ports first, as all inside of devices."""
    p = wire.node.pattern
    return (
        wire.inside is None
        and p is not None
        and p.name.name == "spread"
        and all(m.name != "x" for m, _ in p.args)
    )


def _ranks_of_all_links(
    wiring: WiringState,
    wire: ResolvedConnect,
    sides: tuple[StatementSide, StatementSide | None],
    pairs: LinkPairs,
    times: Array,
) -> tuple[Array, Array, Array, Array]:
    """Of every link of all applications of a connect, ``times`` rounds of each: the ranks of its ends on both
    sides, which copy it is, and its dimension."""
    a, b = sides
    rounds = int(times.sum())
    ca, cb, copy, dim = (
        np.repeat(x, rounds) if len(x) == 1 else np.tile(x, rounds)
        for x in (pairs.a, pairs.b, pairs.copy, pairs.dim)
    )
    if wiring.pins is not None and b is not None and _leaves_pairs_open(wire):
        ca, cb, copy = _spread_that_keeps_links(wiring.pins, wire, a, b, pairs)
    if wire.node.pattern is None:
        copy = np.arange(rounds, dtype=np.int64) - np.repeat(np.cumsum(times) - times, times)
    return ca, cb, copy, dim


def wire_connect(wiring: WiringState, wire: ResolvedConnect, statement: int) -> None:
    """Lay the links of one connect. Raises Fault, leaving all ports as they were."""
    from tdsl.fabric.vias import ports_of_crossed_device

    targets = (*wire.a, *wire.b, *([wire.via] if wire.via else []))
    over = variable_assignments(
        wire.context, targets, wire.node.guard, wire.scope, wiring.evaluator, wire.node.span
    )
    if not over.count:
        wiring.idle.append(wire.node)
        return
    resolver = Resolver(wire.scope, wiring.evaluator, over)
    a, b = resolver.side(wire.a), resolver.side(wire.b) if wire.b else None
    pairs = links_of_application(wiring, wire, a, b, resolver)
    far = b or a
    times = copies_of(wire, resolver)
    total = count_links_of_connect(wiring, wire, times, pairs)
    wiring.tried += total
    check_settings(wire, len(a.shape) if pairs.directed else 1)
    at = np.repeat(np.arange(over.count, dtype=np.int64), times * len(pairs.a))
    ca, cb, copy, dim = _ranks_of_all_links(wiring, wire, (a, b), pairs, times)
    da, db = a.rows[at, ca], far.rows[at, cb]
    _check_pairs(wiring, wire, a, far, da, db)
    together = links_together(wire.settings)
    directions = dim if pairs.directed else None
    ends = _link_end_requests(wiring, (a, far), at, (ca, cb), (da, db), copy, directions, together)
    if wiring.pins is not None:
        wiring.pins.pin(ends, total)
    ports = wiring.ports.claim(ends, statement, wire.node.span)
    pa, pb = ports[:total], ports[total:]
    if wire.inside is not None:
        wiring.ports.by_model.add(statement)
    built = wiring.ports.built[da] & wiring.ports.built[db]
    minus = np.full(total, -1, dtype=np.int64)
    batch = Batch(statement, wire, pa, pb, da, db, dim, minus, minus, at, over)
    if wire.via is not None:
        batch.via_a, batch.via_b, built = ports_of_crossed_device(wiring.ports, wire, resolver, batch, built)
    _keep_built_links(wiring, batch, built)


def _leaves_pairs_open(wire: ResolvedConnect) -> bool:
    """Whether the text leaves it open which pairs have a link more."""
    p = wire.node.pattern
    return p is not None and p.name.name == "spread" and any(m.name in ("uneven", "any") for m, _ in p.args)


def _spread_that_keeps_links(
    pins: Pins, wire: ResolvedConnect, a: StatementSide, b: StatementSide, pairs: LinkPairs
) -> tuple[Array, Array, Array]:
    """Ranks and copies of all links of an uneven spread, of each application those that keep most links that
    stand."""
    from tdsl.fabric import keeping

    p = wire.node.pattern
    assert p is not None
    own = keeping.links_per_pair(pairs, a.size, b.size)
    found = []
    for mine, far in zip(a.rows, b.rows, strict=True):
        rule = keeping.rule_of(
            own,
            any(m.name == "any" for m, _ in p.args),
            len(distinct_values(pins.ports.device_model[far])) == 1,
        )
        x = own if rule is None else keeping.keep_standing_links(own, pins.standing(mine, far), rule)
        found.append((pairs.a, pairs.b, pairs.copy) if x is own else keeping.links_in_copy_order(x))
    ca, cb, copy = (np.concatenate(c) for c in zip(*found, strict=True))
    return ca, cb, copy


def _refuse_too_many_links(wiring: WiringState, wire: ResolvedConnect, more: int) -> None:
    """Refuse more links than the limit before memory is taken for them."""
    count = wiring.total + more
    if count > wiring.max_links:
        raise Fault(
            "E0116",
            wire.node.span,
            f"with this the design has {number_in_message(count)} links; the limit is {wiring.max_links:,}",
            help="raise it with `--limit-links`, if that many are meant",
        )


def copies_of(wire: ResolvedConnect, resolver: Resolver) -> Array:
    """How often each assignment's links are laid: once under a pattern (which has its copies in it), else ``x
    N`` times."""
    once = np.ones(resolver.over.count, dtype=np.int64)
    if wire.node.pattern is not None or wire.node.copies is None:
        return once
    times = integers_of_expression(wire.node.copies, wire.scope, resolver.evaluator, resolver.over)
    if (times < 0).any() or (len(times) and not times.any()):
        raise Fault(
            "E0120",
            wire.node.copies.span,
            f"`x {int(times.min())}` makes no link",
            help="leave the connect out, or guard it with `if`",
        )
    return times


def count_links_of_connect(wiring: WiringState, wire: ResolvedConnect, times: Array, pairs: LinkPairs) -> int:
    """How many links a connect lays. Raises Fault beyond the limit."""
    most = int(times.max(initial=0))
    total = (int(times.sum()) if most * len(times) < SAFE else most) * len(pairs.a)
    _refuse_too_many_links(wiring, wire, total)
    return total


def check_settings(wire: ResolvedConnect, dims: int) -> None:
    """Refuse a setting whose values are as many as no dimensions of the pattern. Raises Fault."""
    for s in wire.node.body:
        if not isinstance(s, tree.Setting):
            continue
        value = wire.settings.get(s.name.name)
        if isinstance(value, tuple) and len(value) not in (1, dims):
            has = f"{dims} dimensions" if dims > 1 else "links without dimensions"
            raise Fault(
                "E0120",
                s.span,
                f"`{s.name.name}` lists {len(value)} values for {has}",
                help="one value, or one a dimension",
            )


def _keep_built_links(wiring: WiringState, batch: Batch, built: NDArray[np.bool_]) -> None:
    """Mark the ports and keep what is built, as links or, towards an OCS or panel, as drawn cables."""
    span = batch.wire.node.span
    crossing = np.isin(wiring.kinds, ("ocs", "panel"))
    passive = crossing[batch.da] | crossing[batch.db]
    if passive.any() and not passive.all():
        raise Fault("E0120", span, "some ends are panels or OCS and some are not; write a connect for each")
    if passive.any():
        wiring.drawn.append(batch.only(built))
        wiring.undrawn.append(batch.only(~built))
    else:
        add_links(wiring, batch, built)
    for ports in (
        (batch.a, batch.b, batch.via_a, batch.via_b) if batch.wire.via is not None else (batch.a, batch.b)
    ):
        wiring.ports.mark(ports, built, batch.statement, span)


def add_links(wiring: WiringState, batch: Batch, built: NDArray[np.bool_]) -> None:
    """Add planned links with their rates. Raises Fault for a link without one, and for more capacity than the
    limit."""
    batch.rate = batch_rates(batch, wiring.ports)
    wiring.capacity, wiring.grain = add_capacity(wiring.capacity, wiring.grain, batch)
    wiring.links.append(batch.only(built))
    if not built.all():
        wiring.absent.append(batch.only(~built))
    wiring.total += len(wiring.links[-1].a)


# ------------------------------------------------------------ patterns
@dataclass(slots=True)
class Application:
    """A pattern of a connect, applied: its ends, ``words`` with what follows each, how many ``times`` each
    link is laid; ``free`` gives the free ports of each a where a circuit counts them otherwise."""

    wiring: WiringState
    wire: ResolvedConnect
    pattern: tree.PatternRef
    a: StatementSide
    b: StatementSide | None
    resolver: Resolver
    words: dict[str, tree.Expr | None]
    times: int
    free: Array | None

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the one set of devices, along its dimensions."""
        return self.a.shape if prod(self.a.shape) == self.a.size and self.a.shape else (self.a.size,)

    def number(self, word: str, default: int, least: int | None = 0) -> int:
        """The number behind a word. Raises Fault."""
        return _whole_number_of(self.words.get(word), self.wire, self.resolver.evaluator, default, least)

    def limit(self, links: int) -> None:
        """Refuse more links than the limit; each application has so many. Raises Fault."""
        _refuse_too_many_links(self.wiring, self.wire, self.resolver.over.count * links)

    def repeated(self, pairs: LinkPairs) -> LinkPairs:
        """Every link as often as ``x N`` says."""
        return patterns.copy_links(pairs, self.times)


def links_of_application(
    wiring: WiringState,
    wire: ResolvedConnect,
    a: StatementSide,
    b: StatementSide | None,
    resolver: Resolver,
    free: Array | None = None,
) -> LinkPairs:
    """The links of one application. ``free`` gives the free ports of each a where a circuit counts them
    otherwise. Raises Fault."""
    node, p = wire.node, wire.node.pattern
    if p is None:
        _refuse_connect_without_pattern(wiring.ports, node, a, b)
        return patterns.single_link()
    times = _whole_number_of(node.copies, wire, resolver.evaluator, 1, least=1)
    name, words = p.name.name, _words_of_pattern(node, p)
    known = CONNECT_PATTERNS.get(name)
    if known is None:
        raise _unknown_pattern_fault(p.name.span, name)
    if known.sets == "one" and b is not None:
        raise Fault(
            "E0457",
            p.span,
            f"`{name}` connects the members of one set of devices and takes no `to`",
            help="write `each` to join every pair of the two sets, or `spread` to share links among them",
            fix=Fix("write `each`", ((p.name.span, "each"),), safe=False),
        )
    if known.sets == "two" and b is None:
        help = f"`connect A[*] to B[*] {name}`"
        raise Fault("E0457", p.span, f"`{name}` connects two sets of devices", help=help)
    return LINKS_OF_PATTERN[name](Application(wiring, wire, p, a, b, resolver, words, times, free))


def _refuse_connect_without_pattern(
    ports: PortTable, node: tree.Connect, a: StatementSide, b: StatementSide | None
) -> None:
    """Without a pattern a connect joins one device to one. Raises Fault."""
    if b is None:
        raise Fault(
            "E0453",
            node.span,
            "one end alone: say what it is joined to, or by which pattern its members are joined",
            help="`connect A to B`, or `connect A[*]` and a pattern of one set: "
            f"{', '.join(f'`{n}`' for n, p in CONNECT_PATTERNS.items() if p.sets != 'two')}",
        )
    for side in (a, b):
        if side.populous:
            raise Fault(
                "E0453",
                side.span,
                f"this means {side.size} devices at once, and no pattern says how they are joined",
                help=_pattern_or_index(ports, a, b),
            )


def _pattern_or_index(ports: PortTable, a: StatementSide, b: StatementSide) -> str:
    """What to write where several devices are to be joined: rails where there are as many devices as ports of
    each at the other end, a pattern, or an index variable."""
    joined = f"connect {a.span.text} to {b.span.text}"
    if "\n" in joined or "," in joined:
        return (
            f"give them an index variable instead of `*`, or write a pattern: {', '.join(CONNECT_PATTERNS)}"
        )
    if min(a.size, b.size) == 1:
        return f"write `{joined} each`: the one is joined to each of the others"
    rails = _joined_by_rails(ports, a, b)
    first = f"write `{rails}`, or " if rails else "write "
    shared = f"{first}`{joined} spread`, which shares the links evenly; `each` joins every two"
    return f"{shared}; or give both ends an index variable: `[i]`"


_HOSTS_PORTS = re.compile(r"(\w++)(?:\[\*\])?\.(\w++)(?:\[\*\])?")
_SWITCHES = re.compile(r"(\w++)(?:\[\*\])?")


def _joined_by_rails(table: PortTable, a: StatementSide, b: StatementSide) -> str:
    """The connect by which port r of each device goes to the r-th of others, ``connect node[n].nic[r] to
    leaf[r]``; "" where their numbers differ."""
    ports, others = _HOSTS_PORTS.fullmatch(a.span.text), _SWITCHES.fullmatch(b.span.text)
    if ports is None or others is None:
        return ""
    model = table.models[int(table.device_model[int(a.rows[0, 0])])]
    if sum(c.size for c in model.classes if c.name == ports[2]) != b.size:
        return ""
    return f"connect {ports[1]}[n].{ports[2]}[r] to {others[1]}[r]"


def _words_of_pattern(node: tree.Connect, p: tree.PatternRef) -> dict[str, tree.Expr | None]:
    """The words behind a pattern, with what follows each. Raises Fault for one that means nothing there."""
    name, known = p.name.name, CONNECT_PATTERNS.get(p.name.name)
    allowed = known.words if known is not None else ()
    given = {"x"} if node.copies is not None else set()
    for word, _ in p.args:
        if word.name in given:
            raise Fault("E0104", word.span, f"`{word.name}` is given twice", help="keep one of the two")
        if word.name not in allowed:
            help = f"`{name}` takes no further words, except `x N`"
            if allowed:
                help = f"`{name}` may be followed by {' and '.join(f'`{w}`' for w in allowed)}"
            raise Fault("E0457", word.span, f"`{word.name}` means nothing after `{name}`", help=help)
        given.add(word.name)
    return {word.name: e for word, e in p.args}


def _links_of_each(on: Application) -> LinkPairs:
    a, b = on.a.size, on.b.size if on.b else None
    on.limit(on.times * (a * (a - 1) // 2 if b is None else a * b))
    return on.repeated(patterns.complete_links(a, b))


def _links_of_pairs(on: Application) -> LinkPairs:
    assert on.b is not None
    on.limit(on.times * on.a.size)
    shift = on.number("shift", 0, least=None)
    return on.repeated(patterns.in_order(on.a.size, on.b.size, shift, on.pattern.span))


def _links_of_ring(on: Application) -> LinkPairs:
    on.limit(on.times * (on.a.size if on.a.size > 1 else 0))
    return on.repeated(patterns.ring_links(on.a.size))


def _links_of_mesh(on: Application) -> LinkPairs:
    on.limit(on.times * sum(on.a.size // s * (s - 1) for s in on.shape if s > 1))
    return on.repeated(patterns.mesh_or_torus_links(on.shape, wrap=False))


def _links_of_torus(on: Application) -> LinkPairs:
    on.limit(on.times * sum(on.a.size for s in on.shape if s > 1))
    return on.repeated(patterns.mesh_or_torus_links(on.shape, wrap=True))


def _links_of_random(on: Application) -> LinkPairs:
    if "degree" not in on.words or "seed" not in on.words:
        message = "a random graph is given by its degree and a seed"
        raise Fault("E0457", on.pattern.span, message, help="`random degree 4 seed 1`")
    degree, seed = on.number("degree", 0), on.number("seed", 0)
    on.limit(on.times * on.a.size * degree // 2)
    return on.repeated(patterns.random_regular(on.a.size, degree, seed, on.pattern.span))


def _links_of_spread(on: Application) -> LinkPairs:
    wire, a, b, span = on.wire, on.a, on.b, on.pattern.span
    if wire.node.copies is not None:
        raise Fault(
            "E0457",
            wire.node.copies.span,
            "write how many ports of each spread directly after `spread`",
            help="`spread x 4`",
        )
    asked = on.words.get("x") is not None
    k = on.number("x", 1) if asked else _free_ports(on.wiring, wire, a, on.free)
    names = (
        wire.a[0].device.name if wire.a[0].device else "",
        wire.b[0].device.name if wire.b and wire.b[0].device else "",
    )
    if b is None:
        far = max(
            a.size - 1, 1
        )  # as patterns.mesh_spread: a set of one has no links, and an odd port that is over stays free
        on.limit(a.size * (a.size - 1) // 2 * (k // far) + (a.size * (k % far // 2) if a.size > 1 else 0))
        if "any" in on.words:
            raise Fault(
                "E0457",
                span,
                "`spread any` distributes links over a second set of devices",
                help="add `to` and that set, or write `spread uneven`",
            )
        return patterns.mesh_spread(a.size, k, "uneven" in on.words, span, names[0])
    uneven = "uneven" in on.words or "any" in on.words
    on.limit(a.size * k)
    joined = partial(_defer_spread_fault, on.wiring, a, b)
    return patterns.spread_links(a.size, b.size, k, uneven, span, names, joined)


LINKS_OF_PATTERN: dict[str, Callable[[Application], LinkPairs]] = {
    "each": _links_of_each,
    "spread": _links_of_spread,
    "pairs": _links_of_pairs,
    "ring": _links_of_ring,
    "mesh": _links_of_mesh,
    "torus": _links_of_torus,
    "random": _links_of_random,
}
"""What lays the links of each pattern of ``CONNECT_PATTERNS``; one that is here alone is an unknown name."""


def _defer_spread_fault(wiring: WiringState, a: StatementSide, b: StatementSide, fault: Fault) -> None:
    """Keep a spread that falls apart by its own links, to be judged when all links are there."""
    wiring.apart.append((fault, [np.concatenate([a.rows[k], b.rows[k]]) for k in range(len(a.rows))]))


def faults_of_separated_spreads(wiring: WiringState) -> list[Fault]:
    """The faults of spreads whose devices do not meet by any links, by way of devices that pass traffic
    on."""
    if not wiring.apart:
        return []
    label = np.arange(len(wiring.kinds), dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    ends = [(x.da, x.db) for x in (*wiring.links, *wiring.absent)]
    x, y = (np.concatenate([none, *column]) for column in zip(*ends, strict=True)) if ends else (none, none)
    stops = (wiring.kinds == "host") & ~wiring.ports.forwards
    passing = ~stops[x] & ~stops[y]
    label = joined_groups(x[passing], y[passing], label)

    def apart(rows: Array) -> bool:
        """Whether devices stay in several parts although those that a host of theirs joins are one."""
        inside = np.zeros(len(label), dtype=np.bool_)
        inside[rows] = True
        own = inside[x] & inside[y] & ~passing
        return len(distinct_values(joined_groups(x[own], y[own], label)[rows])) > 1

    return [fault for fault, groups in wiring.apart if any(apart(rows) for rows in groups)]


def _free_ports(wiring: WiringState, wire: ResolvedConnect, a: StatementSide, counted: Array | None) -> int:
    """Free ports of each a, which must be one number: an even spread deals the same from all."""
    devices = distinct_values(a.rows)
    if counted is not None:
        free = counted
    else:
        free = np.zeros(len(devices), dtype=np.int64)
        for c, choice in enumerate(a.choices):
            mine = np.isin(devices, distinct_values(a.rows[:, a.column_choice == c]))
            local = None if choice.local is None else choice.local[0]
            free[mine] = wiring.ports.free_counts(devices[mine], choice.name, local, choice.span)
    low, high = (int(free.min()), int(free.max())) if len(free) else (0, 0)
    if low != high:
        few, many = int(devices[int(np.argmin(free))]), int(devices[int(np.argmax(free))])
        poor, rich = wiring.ports.path(few), wiring.ports.path(many)
        raise Fault(
            "E0454",
            a.span,
            f"{poor} has {low} free ports and {rich} has {high}, so their links cannot be distributed evenly",
            help="write how many each gives: `spread x K`; or name the ports that are meant: `.p[33..64]`",
        )
    if high == 0:
        raise Fault(
            "E0452",
            a.span,
            f"{wiring.ports.path(int(devices[0]))} has no free port left to spread"
            if len(devices)
            else "nothing to spread",
        )
    return high


def _whole_number_of(
    e: tree.Expr | None, wire: ResolvedConnect, evaluator: Evaluator, default: int, least: int | None = 0
) -> int:
    if e is None:
        return default
    value = integer_if_whole(evaluator.evaluate(e, wire.scope))
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        raise Fault(
            "E0111",
            e.span,
            "this must be a whole number" + (f" of at least {least}" if least is not None else ""),
        )
    return value


# ------------------------------------------------------------ ends
def _check_pairs(
    wiring: WiringState, wire: ResolvedConnect, a: StatementSide, b: StatementSide, da: Array, db: Array
) -> None:
    """Refuse links of a device to itself, and pairs of devices met from both ends by accident."""
    loops = da == db
    if bool(loops.any()):
        at = int(np.argmax(loops))
        raise Fault(
            "E0456",
            wire.node.span,
            f"this joins {wiring.ports.path(int(da[at]))} to itself"
            + (f" (and {int(loops.sum()) - 1} more)" if loops.sum() > 1 else ""),
            help="write `connect A each` to connect the members of one set of devices"
            if wire.node.pattern
            else "keep it out with a guard: `where i != j`, or `where i < j` if each pair is meant once",
        )
    if wire.node.pattern is not None or all(c.exact for c in (*a.choices, *b.choices)):
        return
    if not {id(t.device) for t in wire.a} & {id(t.device) for t in wire.b}:
        return
    n = np.int64(len(wiring.kinds))
    forward = distinct_values(da * n + db)
    both = np.intersect1d(forward, distinct_values(db * n + da), assume_unique=True)
    if len(both):
        x, y = divmod(int(both[0]), int(n))
        raise Fault(
            "E0455",
            wire.node.span,
            f"{wiring.ports.path(x)} and {wiring.ports.path(y)} are joined twice: once from each end"
            + (f" (as are {counted_noun(len(both) // 2 - 1, 'more pair')})" if len(both) > 2 else ""),
            help="write `where i < j` to join each pair once, or name the ports if two links are meant",
        )


def _link_end_requests(
    wiring: WiringState,
    sides: tuple[StatementSide, StatementSide],
    at: Array,
    columns: tuple[Array, Array],
    devices: tuple[Array, Array],
    copy: Array,
    dim: Array | None,
    together: int,
) -> LinkEnds:
    """The two ends of every link as one list of requests. ``dim`` is the dimension of each link of a mesh or
    torus, None of other patterns."""
    names: list[str] = []
    candidates: list[Array | None] = []
    spans = []
    choice: list[NDArray[np.int32]] = []
    local: list[Array] = []
    for s, side in enumerate(sides):
        choice.append(np.full(len(at), len(names), dtype=np.int32))
        if len(side.choices) == 1 and (found := side.choices[0]).exact and found.local is not None:
            local.append(found.local[at, 0])
            names.append(found.name)
            candidates.append(None)
            spans.append(found.span)
            continue
        local.append(np.full(len(at), -1, dtype=np.int64))
        for c, found in enumerate(side.choices):
            mine = side.column_choice[columns[s]] == c
            if found.exact and found.local is not None:
                local[s][mine] = found.local[at[mine], 0]
                choice[s][mine] = len(names)
                names.append(found.name)
                candidates.append(None)
                spans.append(found.span)
                continue
            for rows, where in _candidate_groups(found.local, at, mine):
                choice[s][where] = len(names)
                names.append(found.name)
                candidates.append(rows)
                spans.append(found.span)
    if dim is not None:
        _assign_direction_ports(wiring, sides, local, devices, dim, copy)
    both, copy = np.concatenate, copy // together
    return LinkEnds(
        both(devices),
        names,
        candidates,
        spans,
        both(choice),
        both(local),
        both(devices[::-1]),
        both([copy, copy]),
        together,
    )


def _candidate_groups(
    local: Array | None, at: Array, mine: NDArray[np.bool_]
) -> list[tuple[Array | None, NDArray[np.bool_]]]:
    """Open ends by the set of places they may take."""
    if local is None:
        return [(None, mine)]
    sets, which = np.unique(local, axis=0, return_inverse=True)
    return [(sets[k], mine & (which.ravel()[at] == k)) for k in range(len(sets))]


def _assign_direction_ports(
    wiring: WiringState,
    sides: tuple[StatementSide, StatementSide],
    local: list[Array],
    devices: tuple[Array, Array],
    dim: Array,
    copy: Array,
) -> None:
    """``mesh`` and ``torus``: ports 2d (towards +) and 2d + 1 (towards -), where the class has as many and
    they are free; copy c of N the same, c x (ports // N) ports above."""
    dims, copies = int(dim.max(initial=-1)) + 1, int(copy.max(initial=0)) + 1
    choice = sides[0].choices[0]
    if not dims or choice.local is not None or len(sides[0].choices) > 1:
        return
    rows = distinct_values(np.concatenate(devices))
    _, size = wiring.ports.class_table(rows, choice.name, choice.span)
    block = int(size.min()) // copies
    if block < 2 * dims:
        return
    places = (
        np.arange(copies, dtype=np.int64)[:, None] * block + np.arange(2 * dims, dtype=np.int64)[None, :]
    ).ravel()
    if not bool((wiring.ports.free_counts(rows, choice.name, places, choice.span) == len(places)).all()):
        return
    local[0][:] = copy * block + 2 * dim
    local[1][:] = copy * block + 2 * dim + 1
