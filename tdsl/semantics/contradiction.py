"""Which places of an intent cannot hold together, where no sizes of its tiers fit: an irreducible set, with
the numbers.

The arithmetic of ``tdsl.semantics.sizing`` as relations for z3, in which every written number may be let go.
Places are left out one by one as long as the rest still contradict each other (Chinneck and Dravnieks 1991,
the deletion filter). That a set is irreducible is said only where, without each place, z3 gave sizes with
which the Sizer itself comes to its end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import Any

import z3

from tdsl.findings.diagnostic import Diagnostic, Label
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis
from tdsl.semantics.sizing import Aim, HostLoad, Sizer, TierSpec, link_rate
from tdsl.system.lazy_dataclass import dataclass

z3.set_param("ctrl_c", False)  # else z3 takes Ctrl-C as the end of its search, and tdsl goes on

WORK = 500_000
"""z3's own measure of work (``rlimit``) for one question."""
RATES = tuple(g * 1_000_000_000 for g in (10, 25, 40, 50, 100, 200, 400, 800, 1600))
"""Rates that another model may have (bit/s), besides those of the design: those of Ethernet and InfiniBand
ports."""
MANY = 4096
"""Ports of a switch that has room for all."""
TRIALS = 4
"""Sizes of z3 that are handed to the Sizer before others are tried."""
NEAR = 64
"""How far numbers are tried that z3 did not give."""
CODES = frozenset({"E0459", "E0460"})


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as written. ``tier`` is -1 for what the first tier carries; ``what`` is the field it gives."""

    tier: int
    what: str
    span: SourceSpan
    said: str


def written_numbers(load: HostLoad, specs: Sequence[TierSpec]) -> list[WrittenNumber]:
    """All numbers that may be let go, in order of the text."""
    out = [WrittenNumber(-1, what, span, f"{getattr(load, what)} {what} here") for what, span in load.places]
    for i, spec in enumerate(specs):
        for what, span in spec.places:
            said = {
                "per": f"a `{spec.name}` is of {spec.per} here",
                "count": f"{spec.count} switches here",
                "model": f"{spec.model.name} has {spec.radix} ports",
                "aim": f"{spec.aim} here",
            }
            if what != "aim" or i:
                out.append(WrittenNumber(i, what, span, said[what]))
    return sorted(out, key=lambda p: p.span.start)


class Relations:
    """The sizes of all tiers with some places let go."""

    def __init__(self, load: HostLoad, specs: Sequence[TierSpec], free: Sequence[WrittenNumber]) -> None:
        self.load, self.specs = load, specs
        self.free = {(p.tier, p.what) for p in free}
        self.known = sorted({*RATES, load.rate, *(s.rate for s in specs)} - {0})
        self.unit = gcd(*self.known)
        self.context = z3.Context()  # of its own, so that nothing asked before matters
        self.solver = z3.SimpleSolver(ctx=self.context)  # tactics of the other have limits in seconds
        self.solver.set("rlimit", WORK)
        self.solver.set("random_seed", 0)
        self.terms: dict[tuple[int, str], Any] = {}
        self.rates: list[Any] = []
        self.radix: list[Any] = []
        self.build()

    def positive(self, name: str) -> Any:
        """A whole number from 1."""
        term = z3.Int(name, self.context)
        self.solver.add(term >= 1)
        return term

    def term(self, tier: int, what: str, value: int | None) -> Any:
        """A written number, or a variable where it is let go or was never written."""
        if value is not None and (tier, what) not in self.free:
            return z3.IntVal(value, self.context)
        return self.terms.setdefault((tier, what), self.positive(f"{what}{tier}"))

    def build(self) -> None:
        """All relations, lowest tier first."""
        for i, spec in enumerate(self.specs):
            self.radix.append(self.term(i, "model", spec.radix))
            rate = z3.IntVal(spec.rate // self.unit, self.context)
            if (i, "model") in self.free:
                rate = z3.Int(f"rate{i}", self.context)
                self.solver.add(z3.Or(*(rate == r // self.unit for r in self.known)))
            self.rates.append(rate)
        instances, count, up = self.first_tier()
        for i in range(1, len(self.specs)):
            instances, count, up = self.further_tier(i, instances, count, up)

    def first_tier(self) -> tuple[Any, Any, Any]:
        """The relations of the tier that connects hosts: its instances, the switches of each, and the links
        up from each switch."""
        load, add = self.load, self.solver.add
        pods = self.term(-1, "pods", load.pods or 1)
        rails = self.term(-1, "rails", load.rails)
        add(z3.Or(rails == 1, rails == load.rails))
        hosts = self.term(-1, "hosts", load.hosts)
        room = self.positive("room")
        add(hosts == room * pods)
        spec = self.specs[0]
        count = rails if spec.count is None else self.term(0, "count", spec.count)
        many = self.positive("many")
        add(count == rails * many)
        per = self.term(0, "per", spec.per)
        down = self.positive("down0")
        if spec.per is None and len(self.specs) > 1:
            add(per <= room, per * load.ends == down * count, *self.divided(rails, per, many))
        else:
            add(down * count >= per * load.ends, (down - 1) * count < per * load.ends)
            if spec.per is None:
                add(per == room)
        each = self.positive("groups")
        add(each * per >= room, (each - 1) * per < room)
        instances = each * pods
        if len(self.specs) == 1:
            add(instances == 1)
        return instances, count, self.up(0, down)

    def further_tier(self, i: int, instances: Any, count: Any, up: Any) -> tuple[Any, Any, Any]:
        """The relations of a tier with the one below it, of which they are given; the same three of its
        own."""
        spec, add = self.specs[i], self.solver.add
        per = self.term(i, "per", spec.per)
        made = self.positive(f"instances{i}")
        add(made * per == instances, *([made == 1] if i == len(self.specs) - 1 else []))
        children = per * count
        far = self.term(i, "count", spec.count)
        below, down = self.positive(f"below{i}"), self.positive(f"down{i}")
        add(below == children * up)
        if spec.uneven:
            add(down * far >= below, (down - 1) * far < below)
        else:
            add(below == down * far)  # an even spread asks for this at least
            turns = z3.Int(f"turns{i}", self.context)
            add(z3.Or(up == turns * far, up < far))
        if spec.count is None or (i, "count") in self.free:
            add(even_spread_reaches_all(up, far, count if i > 1 else 1))
        return made, far, self.up(i, down)

    def divided(self, rails: Any, per: Any, many: Any) -> list[Any]:
        """Hosts divide evenly over the switches of a rail, where there are rails."""
        return [z3.Or(rails != self.load.rails, per % many == 0)] if self.load.railed else []

    def up(self, i: int, down: Any) -> Any:
        """Links up from a switch, by the ratio that the tier above asks for; both must have ports."""
        add = self.solver.add
        if i + 1 == len(self.specs):
            add(down <= self.radix[i])
            return z3.IntVal(0, self.context)
        up = self.positive(f"up{i}")
        add(down + up <= self.radix[i])
        if (i + 1, "aim") in self.free:
            self.terms[i + 1, "aim"] = up
            self.terms[i, "down"] = down
            return up
        aim = self.specs[i + 1].aim
        lower = z3.IntVal(self.load.rate // self.unit, self.context) if i == 0 else self.rates[i - 1]
        have = down * common_link_rate(lower, self.rates[i]) * aim.ratio.denominator
        want = common_link_rate(self.rates[i], self.rates[i + 1]) * aim.ratio.numerator  # of one link
        if aim.mode == "":
            add(up * want == have)
        elif aim.mode == "at most":
            add(up * want >= have, (up - 1) * want < have)
        else:
            least = z3.Int(f"least{i}", self.context)
            add(least >= 0, least * want <= have, (least + 1) * want > have)
            lower_is_nearer = have * (2 * least + 1) < 2 * want * least * (least + 1)
            add(up == z3.If(z3.And(least > 0, lower_is_nearer), least, least + 1))
        return up

    def decide(self) -> z3.CheckSatResult:
        """Whether the sizes can hold together."""
        return self.solver.check()

    def plain(self, each: bool, same_rate: bool) -> None:
        """Ask for sizes that are easy to find: of what is let go one switch, one link up, or one to ``each``
        switch of a written number, and many ports, ``same_rate`` of the rate at hand."""
        for tier, what in self.free & self.terms.keys():
            if what in ("count", "aim"):
                written = (
                    self.specs[tier].count
                    if each and what == "aim" and (tier, "count") not in self.free
                    else None
                )
                self.solver.add(self.terms[tier, what] == (written or 1))
            elif what == "model":
                self.solver.add(self.radix[tier] == MANY)
                if same_rate:
                    self.solver.add(self.rates[tier] == self.load.rate // self.unit)

    def another(self) -> None:
        """Rule out the numbers found last."""
        model = self.solver.model()
        self.solver.add(
            z3.Or(*(term != model.eval(term, model_completion=True) for term in self.terms.values()))
        )

    def confirmed(self) -> bool:
        """Whether the Sizer comes to its end with the sizes that z3 found."""
        model = self.solver.model()
        value = {key: model.eval(term, model_completion=True).as_long() for key, term in self.terms.items()}
        rates = [model.eval(r, model_completion=True).as_long() * self.unit for r in self.rates]
        put: dict[tuple[int, str], Any] = {
            key: value[key] for key in self.free if key[1] not in ("model", "aim")
        }
        for i, what in self.free:
            if what == "model":
                put[i, what] = (value[i, what], rates[i])
        altered = with_replaced_numbers(self.load, self.specs, put)[1]
        for i, what in self.free:
            if what == "aim":
                below = self.load.rate if i == 1 else altered[i - 2].rate
                capacity = value[i - 1, "down"] * link_rate(below, altered[i - 1].rate)
                ratio = Fraction(capacity, link_rate(altered[i - 1].rate, altered[i].rate))
                put[i, what] = Aim("", ratio / value[i, "aim"])
        return has_tier_sizes(*with_replaced_numbers(self.load, self.specs, put))


def with_replaced_numbers(
    load: HostLoad, specs: Sequence[TierSpec], put: Mapping[tuple[int, str], Any]
) -> tuple[HostLoad, list[TierSpec]]:
    """An intent with other numbers at some places: a model's is its ports and their rate, a ratio's an
    Aim."""
    railed = load.railed and put.get((-1, "rails"), load.rails) == load.rails  # other rails are none
    load = replace(load, railed=railed, **{what: number for (tier, what), number in put.items() if tier < 0})
    out = []
    for i, spec in enumerate(specs):
        made = replace(spec, **{what: put[i, what] for what in ("per", "count", "aim") if (i, what) in put})
        if (i, "model") in put:
            ports, rate = put[i, "model"]
            only = replace(made.model.classes[0], axes=(Axis(0, ports),), rate=rate)
            made = replace(made, model=replace(made.model, classes=(only,)))
        out.append(made)
    return load, out


def has_tier_sizes(load: HostLoad, specs: list[TierSpec]) -> bool:
    """Whether the Sizer comes to its end."""
    try:
        Sizer(load, specs).run()
    except Fault:
        return False
    return True


def even_spread_reaches_all(links: Any, far: Any, together: Any) -> Any:
    """``sizing.meets`` of an even spread in closed form: runs of children start at multiples of their links,
    so they part only where these divide the far devices."""
    return z3.Or(links * together >= far, far % (links * together) != 0)


def common_link_rate(low: Any, high: Any) -> Any:
    """Rate of a link between ports of two rates, of which 0 fits any."""
    return z3.If(low == 0, z3.If(high == 0, 1, high), z3.If(high == 0, low, z3.If(low < high, low, high)))


def irreducible_conflict(load: HostLoad, specs: Sequence[TierSpec]) -> tuple[list[WrittenNumber], bool]:
    """Places that contradict each other, and whether none can be left out; no places if z3 proves no
    contradiction."""
    known = written_numbers(load, specs)
    if Relations(load, specs, []).decide() != z3.unsat:
        return [], False
    core = known
    for place in sorted(known, key=lambda p: -p.span.start):
        rest = [p for p in core if p is not place]
        if Relations(load, specs, [p for p in known if p not in rest]).decide() == z3.unsat:
            core = (
                rest  # where z3 does not know, the place stays until sizes without it are found, or are not
            )
    return core, all(sizes_without(load, specs, known, core, p) for p in core)


def sizes_without(
    load: HostLoad,
    specs: Sequence[TierSpec],
    known: list[WrittenNumber],
    core: list[WrittenNumber],
    place: WrittenNumber,
) -> bool:
    """Whether the other places of a core have sizes that the Sizer takes: with all else as written, with
    other hosts, with all else let go, of which the plainest are tried first."""
    others = [p for p in known if p not in core]
    hosts = [p for p in others if p.tier < 0]
    ways: list[tuple[list[WrittenNumber], tuple[bool, bool] | None]] = [([], None), (hosts, None)]
    ways += [(others, (each, same_rate)) for same_rate in (True, False) for each in (False, True)]
    for more, plainly in (*ways, (others, None)):
        relations = Relations(load, specs, [place, *more])
        if plainly is not None:
            relations.plain(*plainly)
        for _ in range(TRIALS):
            if relations.decide() != z3.sat:
                break
            if relations.confirmed():
                return True
            relations.another()
    return number_has_sizes(load, specs, others, place)


def number_has_sizes(
    load: HostLoad, specs: Sequence[TierSpec], others: Sequence[WrittenNumber], place: WrittenNumber
) -> bool:
    """Whether some number at a place has sizes, of those that stand to reason: with all else as written, or
    with what is not in the core as plain as it can be. For products that z3 gives up on."""
    plain: dict[tuple[int, str], Any] = {}
    for p in others:
        if p.what == "model":
            plain[p.tier, p.what] = (MANY, load.rate)
        elif p.what == "aim":
            plain[p.tier, p.what] = Aim("at most", Fraction(MANY**2))  # one link up
        elif p.what == "count" and p.tier:
            plain[p.tier, p.what] = 1
    for more in ({}, plain):
        for number in alternative_numbers(load, specs, place):
            put = {**more, (place.tier, place.what): number}
            if more:
                put |= numbers_of_gathered_tiers(
                    *with_replaced_numbers(load, specs, put),
                    [p.tier for p in others if p.what == "per" and p.tier > 0],
                )
            if has_tier_sizes(*with_replaced_numbers(load, specs, put)):
                return True
    return False


def alternative_numbers(load: HostLoad, specs: Sequence[TierSpec], place: WrittenNumber) -> list[Any]:
    """What may stand at a place instead."""
    if place.what == "model":
        return [(MANY, rate) for rate in dict.fromkeys((load.rate, *(s.rate for s in specs), *RATES))]
    if place.what == "aim":
        return [
            Aim("at most", Fraction(MANY**2)),
            *(Aim("", Fraction(a, b)) for a in range(1, NEAR) for b in (1, 2, 3, 4)),
        ]
    each = 1
    if place.what == "hosts":
        for spec in specs:
            each *= spec.per or 1
        return [each * k * max(1, load.pods) for k in range(1, NEAR)]
    whole = load.hosts // max(1, load.pods)
    return sorted({*range(1, 4 * NEAR), *(-(-whole // k) for k in range(1, NEAR))})


def numbers_of_gathered_tiers(
    load: HostLoad, specs: Sequence[TierSpec], free: Collection[int]
) -> dict[tuple[int, str], int]:
    """Of tiers that may hold any number the one that is there: all instances of the tier below in one."""
    out: dict[tuple[int, str], int] = {}
    room = load.hosts // max(1, load.pods)
    there = -(-room // (specs[0].per or room)) * max(1, load.pods)
    for i, spec in enumerate(specs[1:], 1):
        per = there if i in free else spec.per or there
        if i in free:
            out[i, "per"] = per
        there = max(1, there // per)
    return out


def explain_conflict(d: Diagnostic, load: HostLoad, specs: Sequence[TierSpec]) -> Diagnostic:
    """A finding with the places of its conflict in place of its labels; the finding itself where none is
    proven."""
    if d.code not in CODES or d.span is None or any(s.down or s.by for s in specs):
        return d  # the relations know switches whose ports are all equal
    core, proven = irreducible_conflict(load, specs)
    if not core:
        return d
    end = "without any one of them the others are consistent" if proven else "a smaller set may exist"
    note = (
        f"these {len(core)} statements contradict each other; {end}"
        if len(core) > 1
        else "no other number resolves this"
    )
    at = d.span
    if not any(at.file is p.span.file and at.start <= p.span.start and p.span.end <= at.end for p in core):
        at = core[-1].span
    labels = tuple(Label(p.span, p.said) for p in core if p.span != at)
    return replace(d, span=at, labels=labels, notes=(*d.notes, note))
