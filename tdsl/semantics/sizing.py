"""Sizes of tiers: how many links go up, how many children a group holds, how many switches it takes. Whole
numbers only.

Everything here is arithmetic on one plane; the planes of a fabric are equal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice, pairwise
from math import gcd, lcm

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count

SEARCH = 1 << 16
"""Most counts that are tried before a size is given up."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A ratio of capacity down : up, and how it is meant: "" is exact, else ``about`` or ``at most``."""

    mode: str
    ratio: Fraction

    def __str__(self) -> str:
        ratio = f"{self.ratio.numerator}:{self.ratio.denominator}"
        return f"{self.mode} {ratio}" if self.mode else ratio


@dataclass(frozen=True, slots=True)
class Leading:
    """Ports of a switch that lead one way: as written, how many, their rate, and the rate they are to run at,
    "" if their own."""

    text: str
    count: int
    rate: int
    at: str = ""


@dataclass(frozen=True, slots=True)
class TierSpec:
    """A tier as written. ``per`` and ``count`` are None where they are to be found; ``aim`` judges the tier
    below."""

    name: str
    child: str
    per: int | None
    model: DeviceModel
    count: int | None
    aim: Aim
    span: SourceSpan
    places: tuple[
        tuple[str, SourceSpan], ...
    ] = ()  # field -> where the text gives it, of those that may be another by themselves
    cable: str = ""  # the part that joins the tier below to it, as written

    switches: str = ""  # the name of its switches, where it is not the tier's
    settings: str = ""  # of its switches, as text
    down: Leading | None = None  # the ports that lead down, None for any
    up: Leading | None = None
    by: str = ""  # "rail": a group of switches for each rail; else for each switch so called of a group below
    bundle: str = ""  # the setting of the links up to it, as text
    uneven: bool = False  # whether some pairs of switches may have a link more than others

    @property
    def by_rail(self) -> bool:
        """Whether it has a group of switches for each rail."""
        return self.by == "rail"

    @property
    def label(self) -> str:
        """The name of its switches."""
        return self.switches or self.name

    @property
    def text(self) -> str:
        """The tier as a statement of the language; its ports and count are not written."""
        switch = f"switch {self.model.name}" + (
            f" as {self.switches}" if self.switches and self.switches != self.name else ""
        )
        said = [switch + (f" {{ {self.settings} }}" if self.settings else "")]
        said += [f"oversubscription {self.aim}"] if self.aim.mode or self.aim.ratio != 1 else []
        said += [f"cable {self.cable}"] if self.cable else []
        said += [self.bundle] if self.bundle else []
        said += ["uneven"] if self.uneven else []
        by = f" by {self.by}" if self.by else ""
        return f"tier {self.name} of {self.per or '?'} {self.child}{by} {{ {'; '.join(said)} }}"

    @property
    def radix(self) -> int:
        """Ports of a switch that links may take."""
        return sum(c.size for c in self.model.first_parts)

    @property
    def rate(self) -> int:
        """Rate of a port; 0 fits any."""
        return (self.model.classes[0].rate or 0) if self.model.classes else 0

    @property
    def room(self) -> int:
        """Ports of a switch that may lead down."""
        return self.down.count if self.down else self.radix

    @property
    def down_rate(self) -> int:
        """Rate of a port that leads down; 0 fits any."""
        return self.down.rate if self.down else self.rate

    @property
    def up_rate(self) -> int:
        """Rate of a port that leads up; 0 fits any."""
        return self.up.rate if self.up else self.rate

    def has(self, down: int, up: int) -> bool:
        """Whether a switch has ports for so many links."""
        if self.down is None or self.up is None:
            return down + up <= self.radix and down <= self.room
        return down <= self.down.count and up <= self.up.count

    @property
    def ports(self) -> str:
        """Its ports, in words."""
        if self.down is None:
            return f"the {self.radix} ports of {self.model.name}"
        up = f" and {self.up.count} up" if self.up else ""
        return f"the {self.down.count} ports down{up} of {self.model.name}"


@dataclass(frozen=True, slots=True)
class HostLoad:
    """What the first tier carries: hosts, the ends of one host, their rate, rails (1 if none) and pods (0 if
    none)."""

    hosts: int
    ends: int
    rate: int
    rails: int
    railed: bool
    pods: int
    span: SourceSpan
    places: tuple[tuple[str, SourceSpan], ...] = ()  # as of a tier
    trees: int = 1  # networks that are sized alike: planes, rails with a tree each


@dataclass(frozen=True, slots=True)
class SizedTier:
    """A tier with its sizes: children of an instance, instances, switches of one, links down and up of each
    switch."""

    spec: TierSpec
    per: int
    instances: int
    count: int
    down: int
    up: int
    groups: int = (
        1  # groups of its switches in an instance: one for each rail, or each switch of a group below
    )


def ratio_text(down: Fraction) -> str:
    """A ratio as written: ``48:7``."""
    return f"{down.numerator}:{down.denominator}"


def link_rate(low: int, high: int) -> int:
    """Rate of a link between ports of two rates, of which 0 fits any."""
    return min(low, high) if low and high else low or high or 1


def least_uplinks(aim: Aim, capacity: Fraction) -> int | None:
    """Least number of links up for a capacity down, in links of the upper rate; None if no whole number gives
    an exact ratio."""
    want = capacity / aim.ratio
    below = want.numerator // want.denominator
    if aim.mode == "at most":
        return max(1, below if want.denominator == 1 else below + 1)
    if aim.mode == "about":
        return min((k for k in (below, below + 1) if k), key=lambda k: (abs(capacity / k - aim.ratio), -k))
    return below if want.denominator == 1 and below else None


def no_ratio(aim: Aim, at: SourceSpan, tier: TierSpec, down: int, capacity: Fraction) -> Fault:
    """The fault of a ratio that no whole number of links gives, with the two nearest."""
    want = capacity / aim.ratio
    below = want.numerator // want.denominator
    near = [f"{k} up: {ratio_text(capacity / k)}" for k in (below + 1, below) if k]
    return Fault(
        "E0460",
        tier.span,
        f"no whole number of links up from a `{tier.name}` switch with {down} down gives "
        f"{ratio_text(aim.ratio)}",
        labels=[(at, "asked for here")] if at != tier.span else [],
        notes=[f"the nearest are {' and '.join(near)}"],
        help=f"write `about {ratio_text(aim.ratio)}` or `at most …`, or change the sizes",
    )


def is_even_spread(children: int, links: int, far: int) -> bool:
    """Whether a spread of so many links of each child over so many far devices is even."""
    return links % far == 0 or (links < far and children * links % far == 0)


def spread_connects_children(children: int, links: int, far: int, together: int) -> bool:
    """Whether an even spread leaves nothing apart, when runs of ``together`` children meet already below it.

    Child c is joined to the far devices c·links … c·links + links - 1 modulo far. Where ``links`` does not
    divide ``far``, these runs overlap and reach everything. Where it does, there are m = far/links runs side
    by side, and child c has the one with the number c mod m: children c and c + 1 that meet below join two
    neighbours.
    """
    if links >= far or far % links:
        return True
    runs = far // links
    return together >= runs or (runs % together > 0 and children >= 2 * runs)


def uneven_spread_connects_children(children: int, links: int, far: int, together: int) -> bool:
    """The same of a spread that gives some pairs one link more, which need not go round B a whole number of
    times.

    Runs that go round twice overlap at every border between two of the first round. Where they do not, they
    are joined one by one.
    """
    if links >= far or far % links == 0 or children * links >= 2 * far:
        return spread_connects_children(children, links, far, together)
    root = list(range(far))

    def found(k: int) -> int:
        while root[k] != k:
            root[k] = root[root[k]]
            k = root[k]
        return k

    for child in range(children):
        first = found(child // together * together * links % far)
        for k in range(child * links, (child + 1) * links):
            root[found(k % far)] = first
            first = found(first)
    return len({found(k) for k in range(far)}) == 1


def spread_reaches_all(children: int, links: int, far: int, together: int, uneven: bool) -> bool:
    """Whether links may be spread so, and the spread leaves nothing apart."""
    if uneven:
        return uneven_spread_connects_children(children, links, far, together)
    return is_even_spread(children, links, far) and spread_connects_children(children, links, far, together)


def possible_switch_counts(
    children: int, links: int, radix: int, together: int, uneven: bool = False
) -> Iterator[int]:
    """Numbers of switches over which links spread within their ports, evenly unless ``uneven``, least
    first."""
    least = max(1, -(-children * links // radix))
    for far in range(least, min(children * links, least + SEARCH) + 1):
        if spread_reaches_all(children, links, far, together, uneven):
            yield far


class Sizer:
    """Finds the sizes of all tiers, lowest first."""

    def __init__(self, load: HostLoad, specs: list[TierSpec]) -> None:
        self.load, self.specs = load, specs
        self.notes: list[tuple[SourceSpan, str]] = []
        self.tiers: list[SizedTier] = []
        self.rounded: list[int] = []  # tiers with more switches than their links need, so as to spread evenly

    def run(self) -> list[SizedTier]:
        """The tiers. Raises Fault where nothing fits."""
        self.check_holes()
        self.tiers = [self.first()]
        for i in range(1, len(self.specs)):
            self.tiers.append(self.above(i))
        self.say_cost_of_evenness()
        return self.tiers

    @property
    def switch_count(self) -> int:
        """Switches of all tiers, in all planes."""
        return self.load.trees * sum(t.instances * t.count for t in self.tiers)

    def say_cost_of_evenness(self) -> None:
        """Keep what the fabric would have with ``uneven`` links, where that is fewer switches."""
        if not self.rounded:
            return
        specs = [replace(s, uneven=s.uneven or i in self.rounded) for i, s in enumerate(self.specs)]
        other = Sizer(self.load, specs)
        try:
            other.run()
        except Fault:
            return
        mine, theirs = self.switch_count, other.switch_count
        if theirs < mine and not any(other.partial()):
            names = " and ".join(f"`{self.specs[i].name}`" for i in self.rounded)
            self.notes.append(
                (
                    self.specs[self.rounded[0]].span,
                    f"the network has {mine} switches; with `uneven` in {names} it would have {theirs}",
                )
            )

    def check_holes(self) -> None:
        """Only the first tier and the last may leave open how many children they hold."""
        for below, spec in pairwise(self.specs):
            if spec.by and not spec.by_rail and spec.by != below.label:
                raise Fault(
                    "E0120",
                    spec.span,
                    f"a tier is grouped `by rail`, or by the switches of the tier below, which are "
                    f"`{below.label}`, not by `{spec.by}`",
                    help=f"write `by {below.label}`, or `by rail`"
                    if below is not self.specs[0]
                    else "write `by rail`, or leave `by` out",
                )
            if spec.by_rail and not self.load.railed:
                raise Fault(
                    "E0120",
                    spec.span,
                    f"`{spec.name}` is grouped by rail, and the hosts have no rails",
                    labels=[(self.load.span, "the hosts")],
                    help=f"write `rails {self.load.ends}` beside the hosts, or leave `by rail` out",
                )
        for spec in self.specs[1:-1]:
            if spec.per is None and not spec.by_rail:
                raise Fault(
                    "E0120",
                    spec.span,
                    f"`{spec.name}` is neither the first tier nor the last, so it says how many it holds",
                    help=f"`tier {spec.name} of 4 {spec.child}`",
                )

    # ------------------------------------------------------------ the first tier
    def first(self) -> SizedTier:
        """The tier that hosts meet."""
        load, spec = self.load, self.specs[0]
        switches = spec.count or load.rails
        if load.railed and switches % load.rails:
            raise Fault(
                "E0459",
                spec.span,
                f"{switches} `{spec.name}` switches cannot be divided evenly among {load.rails} rails",
                labels=[(load.span, "the rails")],
                help=f"have a multiple of {load.rails}",
            )
        room = load.hosts // max(1, load.pods)
        if load.pods and load.hosts % load.pods:
            raise Fault("E0459", load.span, f"{load.hosts} hosts cannot be cut into {load.pods} equal pods")
        per = spec.per if spec.per is not None else self.largest(switches, room)
        down = -(-per * load.ends // switches)
        self.fits(0, down)
        groups = -(-room // per) * max(1, load.pods)
        if len(self.specs) == 1 and groups > 1:
            raise Fault(
                "E0459",
                spec.span,
                f"{load.hosts} hosts make {groups} `{spec.name}` of {per}, and the last tier has one "
                "instance",
                labels=[(load.span, "the hosts")],
                help="add a tier above; or for networks apart declare the hosts in groups: `group "
                f"part[{groups}] {{ … }}`",
            )
        return SizedTier(spec, per, groups, switches, down, self.up(0, down))

    def largest(self, switches: int, room: int) -> int:
        """As many hosts as ports and ratio allow."""
        spec, load = self.specs[0], self.load
        if len(self.specs) == 1:
            return room
        step = lcm(switches // gcd(switches, load.ends), switches // load.rails if load.railed else 1)
        most = (
            min(room, spec.room * switches // load.ends) // step
        )  # in steps that divide evenly over the switches
        if most:
            exact = self.exact(step * load.ends // switches)
            fitting = bisect_right(
                range(1, most // exact + 1),
                0,
                key=lambda k: not self.holds(k * exact * step * load.ends // switches),
            )
            if fitting:
                per = fitting * exact * step
                if per < room:
                    down = per * load.ends // switches
                    self.notes.append(
                        (
                            spec.span,
                            f"a `{spec.name}` holds {per} hosts, as many as {self.budget(down)} allow",
                        )
                    )
                return per
            self.fits(0, most * step * load.ends // switches)
        raise Fault(
            "E0459",
            spec.span,
            f"no number of hosts fits {switches} {spec.model.name} with {spec.radix} ports each",
            notes=[f"a host has {load.ends} ends"],
            labels=[(load.span, "the hosts")],
        )

    def exact(self, down: int) -> int:
        """The least multiple of some links down for which a whole number of links up gives the ratio
        above."""
        aim = self.specs[1].aim
        return (self.capacity(0, down) / aim.ratio).denominator if aim.mode not in ("at most", "about") else 1

    def holds(self, down: int) -> bool:
        """Whether a switch of the first tier has the ports for its links down and those up that the ratio
        asks for."""
        return self.specs[0].has(down, self.up(0, down))

    def budget(self, down: int) -> str:
        """What limits the first tier, in words."""
        spec = self.specs[0]
        return f"{spec.ports} and {self.specs[1].aim} ({down} down, {self.up(0, down)} up)"

    def owned(self, spec: TierSpec) -> str:
        """The ports that a switch of a tier has, in words."""
        if spec.down is None:
            return f"{spec.model.name} has {spec.radix} {noun_for_count(spec.radix, 'port')}"
        return f"`{spec.down.text}` are {spec.down.count}" + (
            f", `{spec.up.text}` {spec.up.count}" if spec.up else ""
        )

    # ------------------------------------------------------------ tiers above
    def capacity(self, i: int, down: int) -> Fraction:
        """The capacity of a switch's links down, in links up."""
        spec, upper = self.specs[i], self.specs[i + 1]
        below = self.load.rate if i == 0 else self.specs[i - 1].up_rate
        return Fraction(down * link_rate(below, spec.down_rate), link_rate(spec.up_rate, upper.down_rate))

    def up(self, i: int, down: int) -> int:
        """Links up from each switch of a tier."""
        if i + 1 >= len(self.specs):
            return 0
        spec, upper = self.specs[i], self.specs[i + 1]
        capacity = self.capacity(i, down)
        found = least_uplinks(upper.aim, capacity)
        if found is None:
            raise no_ratio(upper.aim, upper.span, spec, down, capacity)
        return found

    def fits(self, i: int, down: int) -> None:
        """Refuse more links than a switch has ports."""
        spec = self.specs[i]
        up = self.up(i, down)
        if not spec.has(down, up):
            said = f"{down} links down and {up} up" if up else f"{down} links down"
            above = [(self.specs[i + 1].span, f"{self.specs[i + 1].aim} asks for {up} up")] if up else []
            raise Fault(
                "E0459",
                spec.span,
                f"a `{spec.name}` switch would have {said}, and {self.owned(spec)}",
                labels=[*above, (spec.model.origin.span, "declared here")],
                help="use more switches in the tier, fewer children, a model with more ports, or another "
                "ratio",
            )

    def above(self, i: int) -> SizedTier:
        """A tier over the one before."""
        spec, below = self.specs[i], self.tiers[-1]
        top = i == len(self.specs) - 1
        per = below.instances if spec.per is None else spec.per
        instances = -(-below.instances // per)
        if (top and instances > 1) or below.instances % per:
            total = f"{self.load.hosts} hosts make {below.instances} `{below.spec.name}`"
            raise Fault(
                "E0459",
                spec.span,
                f"{total}: they cannot be divided into {'one' if top else 'equal'} `{spec.name}` of {per}",
                labels=[(self.load.span, "the hosts")],
                help="`hosts n of {0} x …` plans {0} hosts and builds n of them".format(
                    self.hosts_for(per, top)
                ),
            )
        groups = self.groups(i, instances)
        children = per * below.count // groups
        together = below.count // below.groups if i > 1 else 1
        count = self.count(i, children, below.up, together, groups)
        down = -(-children * below.up // count)  # of the switch with most links, where they are uneven
        self.fits(i, down)
        return SizedTier(spec, per, instances, count * groups, down, self.up(i, down), groups)

    def groups(self, i: int, instances: int) -> int:
        """Groups of switches in an instance of a tier: one for each rail where it says so."""
        spec, below = self.specs[i], self.tiers[-1]
        if spec.by and not spec.by_rail:
            return self.groups_by_switch(i, instances)
        if not spec.by_rail:
            return 1
        if i != 1 or below.count != self.load.rails or self.load.pods:
            raise Fault(
                "E0120",
                spec.span,
                f"`{spec.name}` is grouped by rail, so `{below.spec.name}` below it has one switch a rail",
                help="`by rail` belongs in the second tier, over a first tier without a count of switches",
            )
        return self.load.rails

    def groups_by_switch(self, i: int, instances: int) -> int:
        """Groups of switches of a tier that has one for each switch of an instance below."""
        spec, below = self.specs[i], self.tiers[-1]
        if i < 2 or below.groups > 1 or instances != 1:
            raise Fault(
                "E0120",
                spec.span,
                f"`{spec.name}` is grouped by `{spec.by}`, which is for the last of three tiers or more, "
                "over one that is not grouped by rail",
                help=f"write `tier {spec.name} of ? {spec.child} {{ … }}`",
            )
        return below.count

    def hosts_for(self, per: int, top: bool) -> int:
        """Hosts that would fill the tier being made."""
        each = self.load.hosts // self.tiers[-1].instances if self.load.pods else self.tiers[0].per
        for tier in self.tiers[1:]:
            each *= tier.per
        whole = 1 if top else -(-self.tiers[-1].instances // per)
        return each * per * whole

    def count(self, i: int, children: int, links: int, together: int, groups: int = 1) -> int:
        """Switches of one instance: as written if that is even, else the least number that is."""
        spec, below = self.specs[i], self.specs[i - 1]
        if spec.count is not None:
            return self.written_count(i, spec.count, children, links, together, groups)
        self.reaches(i, children, links)
        if groups > 1 and i + 1 < len(self.specs):
            together = children  # what the tier above joins need not meet here
        last: Fault | None = None
        least = -(-children * links // spec.room)
        for n in possible_switch_counts(children, links, spec.room, together, spec.uneven):
            try:
                self.fits(i, -(-children * links // n))
            except Fault as fault:
                last = last or fault
                continue
            suffice = self.least_by_ports(i, children * links, least)
            self.said(i, children, links, n, suffice)
            self.rounded += [i] if n > suffice and not spec.uneven else []
            return n
        if i == 1 and children > spec.room:
            raise self.too_few_tiers(children, f"a `{spec.name}` switch has {spec.room} ports for them")
        raise last or Fault(
            "E0459",
            spec.span,
            f"the {links} links of each of {children} `{below.name}` cannot be distributed "
            f"evenly over any number of `{spec.name}`",
            labels=[(below.span, f"`{below.name}` is sized here")],
        )

    def least_by_ports(self, i: int, links: int, least: int) -> int:
        """The least number of switches, ``least`` or more, with the ports for some links to the tier below
        and for those up that the ratio asks for, whether the links spread evenly or not."""
        for n in range(least, links + 1):
            try:
                self.fits(i, -(-links // n))
            except Fault:
                continue
            return n
        return least

    def written_count(
        self, i: int, written: int, children: int, links: int, together: int, groups: int
    ) -> int:
        """Switches of each of some ``groups`` of a tier whose count is written. Raises Fault where links
        cannot be distributed evenly over them."""
        spec, below = self.specs[i], self.specs[i - 1]
        if written % groups:
            raise Fault(
                "E0459",
                spec.span,
                f"{written} `{spec.name}` switches cannot be divided evenly among {groups} rails",
                help=f"write `x {groups * max(1, written // groups)}`, or no count",
            )
        count = written // groups
        if not spec.uneven and not is_even_spread(children, links, count):
            fit = list(islice(possible_switch_counts(children, links, spec.room, together), 3))
            raise Fault(
                "E0459",
                spec.span,
                f"{links} links of each of {children} `{below.name}` do not spread evenly over "
                f"{count} `{spec.name}`",
                labels=[(below.span, f"`{below.name}` is sized here")],
                help=f"{' or '.join(map(str, fit))} would be even; or write `uneven` in the tier"
                if fit
                else "write `uneven` in the tier",
            )
        return count

    def reaches(self, i: int, children: int, links: int) -> None:
        """Refuse a count left open in the second tier where some two switches below can have no switch above
        in common, whatever the count: then these are no two tiers."""
        spec, below = self.specs[i], self.tiers[-1]
        if i != 1 or not links:
            return
        own = below.count if below.count > 1 and not self.load.railed else 1
        if links * own * spec.room >= children:
            return
        upper = f"{links} `{spec.name}` switches with {spec.radix} ports"
        raise self.too_few_tiers(
            children, f"from one of them {upper} reach {links * own * spec.room} at most"
        )

    def too_few_tiers(self, children: int, why: str) -> Fault:
        """The fault of more hosts than two tiers hold."""
        spec, below = self.specs[1], self.tiers[0]
        most, hold = self.two_tiers()
        return Fault(
            "E0459",
            spec.span,
            f"{self.load.hosts} hosts make {children} `{below.spec.name}` switches, and {why}",
            labels=[(self.load.span, "the hosts")],
            notes=[hold] if most else [],
            help=f"{self.third_tier()}, or have a model with more ports"
            + (f", or {most} hosts" if most else ""),
        )

    def two_tiers(self) -> tuple[int, str]:
        """The hosts that the first two tiers hold where each switch is connected to all of the other tier,
        and this in words."""
        spec, below = self.specs[1], self.tiers[0]
        together = below.count // (self.load.rails if spec.by_rail else 1)
        most = spec.room // together * below.per
        return (
            most,
            f"two tiers of {spec.radix}-port switches hold at most {most} hosts at "
            f"{ratio_text(spec.aim.ratio)}",
        )

    def third_tier(self) -> str:
        """The tiers to write for hosts that two do not hold, where a size of the second was found."""
        spec, below = self.specs[1], self.tiers[0]
        lower = replace(below.spec, per=below.per)
        names = [n for n in ("pod", "core", "block", "top") if n not in (lower.name, spec.name)]
        plain = not (self.load.pods or spec.down or lower.down or spec.count) and len(self.specs) == 2
        by_rail = self.load.railed and below.count == self.load.rails
        most = spec.room // (1 if by_rail else below.count)
        for k in range(min(below.instances // 2, most), 1, -1) if plain else ():
            middle = replace(
                spec,
                name=names[0],
                child=lower.name,
                per=k,
                switches=spec.label,
                by="rail" if by_rail else "",
            )
            top = replace(
                spec,
                name=names[1],
                child=names[0],
                aim=Aim("", Fraction(1)),
                switches="",
                by="",
                cable="",
                bundle="",
            )
            tried = Sizer(self.load, [lower, middle, top])
            try:
                tried.run()
            except Fault:
                continue
            if not any(tried.partial()):
                three = f"write three tiers: `{'; '.join(x.text for x in (lower, middle, top))}`"
                apart = f"`by rail` behind `hosts`, not `{lower.name}`, for a tree of switches for each rail"
                return f"{three}, with {apart}" if by_rail else three
        return f"add a third tier above `{spec.name}`"

    def said(self, i: int, children: int, links: int, n: int, least: int) -> None:
        """Keep the reason of a number that was found."""
        spec, below = self.specs[i], self.specs[i - 1]
        aim = spec.aim
        if aim.mode:
            real = Fraction(self.tiers[-1].down, links) * Fraction(
                link_rate(self.load.rate if i == 1 else self.specs[i - 2].up_rate, below.down_rate),
                link_rate(below.up_rate, spec.down_rate),
            )
            self.notes.append(
                (
                    spec.span,
                    f"{aim}: {self.tiers[-1].down} down and {links} up of a `{below.name}` switch, which "
                    f"is {ratio_text(real)}",
                )
            )
        why = (
            "the least whose ports suffice"
            if n == least
            else f"the least that spreads evenly ({least} would have the ports)"
        )
        self.notes.append((spec.span, f"{n} `{spec.name}` switches for {children} x {links} links: {why}"))

    def partial(self) -> Iterator[tuple[TierSpec, TierSpec, str, str]]:
        """Tiers of which what is below meets a part only, with these below, what is met, and what would mend
        it: such tiers are no Clos, and a ratio says little of what crosses them."""
        for i, (below, tier) in enumerate(pairwise(self.tiers)):
            if tier.groups > 1 and tier is not self.tiers[-1]:
                continue  # what does not meet in the group of a rail meets in the tier above
            group = i > 0 or (below.count > 1 and not self.load.railed)
            group = group and tier.groups == 1
            most = below.up * (below.count // below.groups if group else 1)
            if most < tier.count // tier.groups:
                who = (
                    f"the switches of a `{below.spec.name}` are connected to"
                    if group
                    else f"a `{below.spec.name}` switch is connected to"
                )
                switches, each = tier.per * below.count // tier.groups, tier.count // tier.groups
                if switches <= tier.spec.room:
                    advice = f"have {most} `{tier.spec.name}` switches at most"
                elif i or len(self.specs) > 2:
                    advice = (
                        f"have a model of {switches} ports or more for `{tier.spec.name}`, fewer "
                        "hosts, or one more tier"
                    )
                    advice += " between"
                else:
                    advice = (
                        f"{self.two_tiers()[1]}; {self.third_tier()}, have a model of {switches} "
                        "ports or more for "
                    )
                    advice += f"`{tier.spec.name}`, or fewer hosts"
                yield (
                    tier.spec,
                    below.spec,
                    f"{who} {most} of the {each} `{tier.spec.name}` switches, so two of them share few or "
                    "none, "
                    "and the ratio does not determine the bisection",
                    advice,
                )
