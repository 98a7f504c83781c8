"""Sizes of tiers: how many links go up, how many children a group holds, how many switches it takes. Whole numbers only.

Everything here is arithmetic on one plane; the planes of a fabric are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise

from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceModel
from tdsl.source import Span

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
class TierSpec:
    """A tier as written. ``per`` and ``count`` are None where they are to be found; ``aim`` judges the tier below."""

    name: str
    child: str
    per: int | None
    model: DeviceModel
    count: int | None
    aim: Aim
    span: Span
    places: tuple[tuple[str, Span], ...] = ()  # field -> where the text gives it, of those that may be another by themselves
    cable: str = ""  # the part that joins the tier below to it, as written

    @property
    def radix(self) -> int:
        """Ports of a switch that links may take."""
        return self.model.classes[0].size if self.model.classes else 0

    @property
    def rate(self) -> int:
        """Rate of a port; 0 fits any."""
        return (self.model.classes[0].rate or 0) if self.model.classes else 0


@dataclass(frozen=True, slots=True)
class Load:
    """What the first tier carries: hosts, the ends of one host, their rate, rails (1 if none) and pods (0 if none)."""

    hosts: int
    ends: int
    rate: int
    rails: int
    railed: bool
    pods: int
    span: Span
    places: tuple[tuple[str, Span], ...] = ()  # as of a tier


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier with its sizes: children of an instance, instances, switches of one, links down and up of each switch."""

    spec: TierSpec
    per: int
    instances: int
    count: int
    down: int
    up: int


def ratio_text(down: Fraction) -> str:
    """A ratio as written: ``48:7``."""
    return f"{down.numerator}:{down.denominator}"


def link_rate(low: int, high: int) -> int:
    """Rate of a link between ports of two rates, of which 0 fits any."""
    return min(low, high) if low and high else low or high or 1


def uplinks(aim: Aim, capacity: Fraction) -> int | None:
    """Least number of links up for a capacity down, in links of the upper rate; None if no whole number gives an exact ratio."""
    want = capacity / aim.ratio
    below = want.numerator // want.denominator
    if aim.mode == "at most":
        return max(1, below if want.denominator == 1 else below + 1)
    if aim.mode == "about":
        return min((k for k in (below, below + 1) if k), key=lambda k: (abs(capacity / k - aim.ratio), -k))
    return below if want.denominator == 1 and below else None


def no_ratio(aim: Aim, at: Span, tier: TierSpec, down: int, capacity: Fraction) -> Fault:
    """The fault of a ratio that no whole number of links gives, with the two nearest."""
    want = capacity / aim.ratio
    below = want.numerator // want.denominator
    near = [f"{k} up: {ratio_text(capacity / k)}" for k in (below + 1, below) if k]
    return Fault(
        "E0460", tier.span,
        f"no whole number of links up from a `{tier.name}` switch with {down} down gives {ratio_text(aim.ratio)}",
        labels=[(at, "asked for here")] if at != tier.span else [], notes=[f"the nearest are {' and '.join(near)}"],
        help=f"write `about {ratio_text(aim.ratio)}` or `at most …`, or change the sizes",
    )  # fmt: skip


def even(children: int, links: int, far: int) -> bool:
    """Whether a spread of so many links of each child over so many far devices is even."""
    return links % far == 0 or (links < far and children * links % far == 0)


def meets(children: int, links: int, far: int, together: int) -> bool:
    """Whether such a spread leaves nothing apart, when runs of ``together`` children meet already below it."""
    if links >= far:
        return True
    label = list(range(far + children // together))

    def root(x: int) -> int:
        while label[x] != x:
            label[x] = label[label[x]]
            x = label[x]
        return x

    for child in range(children):
        home = root(far + child // together)
        for k in range(links):
            label[root((child * links + k) % far)] = home
            home = root(home)
    return len({root(x) for x in range(len(label))}) == 1


def counts(children: int, links: int, radix: int, together: int) -> Iterator[int]:
    """Numbers of switches over which links spread evenly within their ports, least first."""
    least = max(1, -(-children * links // radix))
    for far in range(least, min(children * links, least + SEARCH) + 1):
        if even(children, links, far) and meets(children, links, far, together):
            yield far


class Sizer:
    """Finds the sizes of all tiers, lowest first."""

    def __init__(self, load: Load, specs: list[TierSpec]) -> None:
        self.load, self.specs = load, specs
        self.notes: list[tuple[Span, str]] = []
        self.tiers: list[Tier] = []

    def run(self) -> list[Tier]:
        """The tiers. Raises Fault where nothing fits."""
        self.check_holes()
        self.tiers = [self.first()]
        for i in range(1, len(self.specs)):
            self.tiers.append(self.above(i))
        return self.tiers

    def check_holes(self) -> None:
        """Only the first tier and the last may leave open how many children they hold."""
        for spec in self.specs[1:-1]:
            if spec.per is None:
                raise Fault(
                    "E0120", spec.span, f"`{spec.name}` is neither the first tier nor the last, so it says how many it holds",
                    help=f"`tier {spec.name} of 4 {spec.child}`",
                )  # fmt: skip

    # ------------------------------------------------------------ the first tier
    def first(self) -> Tier:
        """The tier that hosts meet."""
        load, spec = self.load, self.specs[0]
        switches = spec.count or load.rails
        if load.railed and switches % load.rails:
            raise Fault(
                "E0459", spec.span, f"{switches} `{spec.name}` switches do not divide over {load.rails} rails",
                labels=[(load.span, "the rails")], help=f"have a multiple of {load.rails}",
            )  # fmt: skip
        room = load.hosts // max(1, load.pods)
        if load.pods and load.hosts % load.pods:
            raise Fault("E0459", load.span, f"{load.hosts} hosts cannot be cut into {load.pods} equal pods")
        per = spec.per if spec.per is not None else self.largest(switches, room)
        down = -(-per * load.ends // switches)
        self.fits(0, down)
        groups = -(-room // per) * max(1, load.pods)
        return Tier(spec, per, groups, switches, down, self.up(0, down))

    def largest(self, switches: int, room: int) -> int:
        """As many hosts as ports and ratio allow."""
        spec, load = self.specs[0], self.load
        if len(self.specs) == 1:
            return room
        best: Fault | None = None
        for per in range(min(room, spec.radix * switches // load.ends), 0, -1):
            down, rest = divmod(per * load.ends, switches)
            if rest or (load.railed and per % (switches // load.rails)):
                continue
            try:
                self.fits(0, down)
                if down + self.up(0, down) <= spec.radix:
                    if per < room:
                        self.notes.append((spec.span, f"a `{spec.name}` holds {per} hosts, as many as {self.budget(down)} allow"))
                    return per
            except Fault as fault:
                best = best or fault
        raise best or Fault(
            "E0459", spec.span, f"no number of hosts fits {switches} {spec.model.name} with {spec.radix} ports each",
            notes=[f"a host has {load.ends} ends"], labels=[(load.span, "the hosts")],
        )  # fmt: skip

    def budget(self, down: int) -> str:
        """What limits the first tier, in words."""
        spec = self.specs[0]
        return f"the {spec.radix} ports of {spec.model.name} and {self.specs[1].aim} ({down} down, {self.up(0, down)} up)"

    # ------------------------------------------------------------ tiers above
    def up(self, i: int, down: int) -> int:
        """Links up from each switch of a tier."""
        if i + 1 >= len(self.specs):
            return 0
        spec, upper = self.specs[i], self.specs[i + 1]
        below = self.load.rate if i == 0 else self.specs[i - 1].rate
        capacity = Fraction(down * link_rate(below, spec.rate), link_rate(spec.rate, upper.rate))
        found = uplinks(upper.aim, capacity)
        if found is None:
            raise no_ratio(upper.aim, upper.span, spec, down, capacity)
        return found

    def fits(self, i: int, down: int) -> None:
        """Refuse more links than a switch has ports."""
        spec = self.specs[i]
        up = self.up(i, down)
        if down + up > spec.radix:
            said = f"{down} links down and {up} up" if up else f"{down} links down"
            above = [(self.specs[i + 1].span, f"{self.specs[i + 1].aim} asks for {up} up")] if up else []
            raise Fault(
                "E0459", spec.span, f"a `{spec.name}` switch would have {said}, and {spec.model.name} has {spec.radix} ports",
                labels=[*above, (spec.model.origin.span, "declared here")],
                help="have more switches in the tier, fewer children, a model with more ports, or another ratio",
            )  # fmt: skip

    def above(self, i: int) -> Tier:
        """A tier over the one before."""
        spec, below = self.specs[i], self.tiers[-1]
        top = i == len(self.specs) - 1
        per = below.instances if spec.per is None else spec.per
        instances = -(-below.instances // per)
        if (top and instances > 1) or below.instances % per:
            total = f"{self.load.hosts} hosts make {below.instances} `{below.spec.name}`"
            raise Fault(
                "E0459", spec.span, f"{total}, which do not make {'one' if top else 'whole'} `{spec.name}` of {per}",
                labels=[(self.load.span, "the hosts")],
                help="`hosts n of {0} x …` plans {0} hosts and builds n of them".format(self.hosts_for(per, top)),
            )  # fmt: skip
        children = per * below.count
        together = below.count if i > 1 else 1
        count = self.count(i, children, below.up, together)
        down = children * below.up // count
        self.fits(i, down)
        return Tier(spec, per, instances, count, down, self.up(i, down))

    def hosts_for(self, per: int, top: bool) -> int:
        """Hosts that would fill the tier being made."""
        each = self.load.hosts // self.tiers[-1].instances if self.load.pods else self.tiers[0].per
        for tier in self.tiers[1:]:
            each *= tier.per
        whole = 1 if top else -(-self.tiers[-1].instances // per)
        return each * per * whole

    def count(self, i: int, children: int, links: int, together: int) -> int:
        """Switches of one instance: as written if that is even, else the least number that is."""
        spec, below = self.specs[i], self.specs[i - 1]
        if spec.count is not None:
            if not even(children, links, spec.count):
                fit = list(islice(counts(children, links, spec.radix, together), 3))
                raise Fault(
                    "E0459", spec.span,
                    f"{links} links of each of {children} `{below.name}` do not spread evenly over {spec.count} `{spec.name}`",
                    labels=[(below.span, f"`{below.name}` is sized here")],
                    help=f"{' or '.join(map(str, fit))} would be even" if fit else "",
                )  # fmt: skip
            return spec.count
        last: Fault | None = None
        least = -(-children * links // spec.radix)
        for n in counts(children, links, spec.radix, together):
            try:
                self.fits(i, children * links // n)
            except Fault as fault:
                last = last or fault
                continue
            self.said(i, children, links, n, least)
            return n
        raise last or Fault(
            "E0459", spec.span, f"no number of `{spec.name}` takes {links} links of each of {children} `{below.name}` evenly",
            labels=[(below.span, f"`{below.name}` is sized here")],
        )  # fmt: skip

    def said(self, i: int, children: int, links: int, n: int, least: int) -> None:
        """Keep the reason of a number that was found."""
        spec, below = self.specs[i], self.specs[i - 1]
        aim = spec.aim
        if aim.mode:
            real = Fraction(self.tiers[-1].down, links) * Fraction(
                link_rate(self.load.rate if i == 1 else self.specs[i - 2].rate, below.rate), link_rate(below.rate, spec.rate)
            )
            self.notes.append(
                (
                    spec.span,
                    f"{aim}: {self.tiers[-1].down} down and {links} up of a `{below.name}` switch, which is {ratio_text(real)}",
                )
            )
        why = "the least whose ports suffice" if n == least else f"the least that spreads evenly ({least} would have the ports)"
        self.notes.append((spec.span, f"{n} `{spec.name}` switches for {children} x {links} links: {why}"))

    def partial(self) -> Iterator[tuple[TierSpec, TierSpec, str, str]]:
        """Tiers of which what is below meets a part only, with these below, what is met, and what would mend it: such tiers are
        no Clos, and a ratio says little of what crosses them."""
        for i, (below, tier) in enumerate(pairwise(self.tiers)):
            group = i > 0 or (below.count > 1 and not self.load.railed)
            most = below.up * (below.count if group else 1)
            if most < tier.count:
                who = f"the switches of a `{below.spec.name}` meet" if group else f"a `{below.spec.name}` switch meets"
                switches = tier.per * below.count
                yield (
                    tier.spec, below.spec,
                    f"{who} {most} of the {tier.count} `{tier.spec.name}` switches, so two of them share few or none: "
                    "the ratio no longer tells the bisection",
                    f"have a model of {switches} ports or more for `{tier.spec.name}`, fewer hosts, or one more tier between"
                    if switches > tier.spec.radix else f"have {most} `{tier.spec.name}` switches at most",
                )  # fmt: skip
