"""Networks of a topology of the library for so many hosts: sizes that give uniform traffic its full rate, or
a stated share of it, with few switches.

What is written is the block of a fabric; the compiler judges it like any other. Under uniform traffic every
end sends as much to each other one. A switch with p ends then sends p / g of them to each of g equal parts of
the network, which is what the links to that part must carry; a tenth of the traffic that stays inside is not
left out, so that sizes are a little on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import isqrt

from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun


@dataclass(frozen=True, slots=True)
class NetworkParts:
    """What a network is to join, and of what it is made. ``declared`` is the declaration of the ``hosts``,
    each with so many ``ends``, which are rails where ``railed``. ``switch`` is the model with its settings as
    text, ``radix`` how many of its ports run at the rate of an end. ``tapers`` are ratios of what ends can
    send to what the upper links, or those between groups, carry under uniform traffic."""

    declared: str
    hosts: int
    ends: int
    railed: bool
    switch: str
    radix: int
    cable: str = ""
    are_chips: bool = False
    tapers: tuple[Fraction, ...] = (Fraction(1),)

    @property
    def all_ends(self) -> int:
        """Ends of all hosts."""
        return self.hosts * self.ends

    @property
    def what(self) -> str:
        """What it joins, in a word."""
        return "chips" if self.are_chips else "hosts"

    @property
    def ends_text(self) -> str:
        """How many ends there are, in words."""
        return f"{self.all_ends:,} ends of {self.hosts:,} {self.what}"


@dataclass(frozen=True, slots=True)
class SizedNetwork:
    """A network of a topology: its name, what it is in words, and blocks of text that build it, the first
    that the compiler accepts being meant. ``why`` says why there is none; ``assumed`` what it takes for
    granted."""

    name: str
    words: str
    blocks: tuple[str, ...] = ()
    why: str = ""
    assumed: str = ""


Sizing = Callable[[NetworkParts], Iterator[SizedNetwork]]


def networks_of_topology(topology: str, parts: NetworkParts) -> list[SizedNetwork]:
    """The networks of one of ``SIZED`` for these hosts, at each of the tapers where it can have one."""
    out: list[SizedNetwork] = []
    for network in SIZED[topology](parts):
        if not network.blocks or network.blocks not in [n.blocks for n in out]:  # a taper may change nothing
            out.append(network)
    return out


def _taper_name(taper: Fraction) -> str:
    return f"{taper.numerator}to{taper.denominator}"


def _ratio_text(taper: Fraction) -> str:
    return f"{taper.numerator}:{taper.denominator}"


def _settings_of_links(parts: NetworkParts, between: bool = True) -> list[str]:
    """What a block says of its links: the cable, where one is named."""
    if not parts.cable:
        return []
    ends = f"ends {{ cable {parts.cable} }}"
    return [ends, f"between {{ cable {parts.cable} }}"] if between else [ends]


def _block(parts: NetworkParts, head: str, settings: Sequence[str], between: bool = True) -> str:
    """The block of a topology, a setting a line."""
    inner = [*settings, *_settings_of_links(parts, between)]
    return "\n".join([f"{head} {{", *inner, "}"]) if inner else head


# ---------------------------------------------------------------- clos


def _clos_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """Leaves and spines, with a third tier where two do not hold the hosts; with rails also a tree of its own
    for each."""
    for by_rail in (False, True) if parts.railed else (False,):
        for taper in parts.tapers:
            kind = "clos_by_rail" if by_rail else "clos"
            words = "a tree of switches for each rail" if by_rail else "a folded Clos"
            few = parts.radix < 2
            yield SizedNetwork(
                f"{kind}_{_taper_name(taper)}",
                f"{words}, at most {_ratio_text(taper)} below its top tier",
                () if few else tuple(_clos_blocks(parts, taper, by_rail)),
                _too_small(parts) if few else "",
            )


def _clos_blocks(parts: NetworkParts, taper: Fraction, by_rail: bool) -> Iterator[str]:
    """The ways to write it, fewest tiers first; of three tiers the largest pods first."""
    cable = f"; cable {parts.cable}" if parts.cable else ""
    above = f"switch {parts.switch}; oversubscription at most"
    rails = f"rails {parts.ends}\n" if parts.railed else ""
    by = " by rail" if by_rail else ""
    leaves = [
        f"tier leaf of {per or '?'} {parts.what}{by} {{ switch {parts.switch} }}"
        for per in (_hosts_of_leaf(parts, taper), _hosts_of_leaf(parts, Fraction(1)))
    ]
    for uneven in ("", "; uneven"):
        top = f"tier spine of ? leaf {{ {above} {_ratio_text(taper)}{cable}{uneven} }}"
        yield rails + _block(parts, "clos", [leaves[0], top], between=False)
    leaf = leaves[1]
    for per_pod in _leaves_of_pods(parts, taper, by_rail):
        middle = f"tier spine of {per_pod} leaf {{ {above} 1:1{cable} }}"
        top = f"tier core of ? spine {{ {above} {_ratio_text(taper)}{cable} }}"
        yield rails + _block(parts, "clos", [leaf, middle, top], between=False)


def _hosts_of_leaf(parts: NetworkParts, taper: Fraction) -> int:
    """The most hosts of a leaf, or of the leaves of all rails, that the ports allow at a taper and that
    divide all hosts; 0 where that would leave half of those ports unused, so that the compiler is to find
    it."""
    most = int(parts.radix * taper / (taper + 1)) // (1 if parts.railed else parts.ends)
    found = next((n for n in range(min(most, parts.hosts), 0, -1) if parts.hosts % n == 0), 0)
    return found if 2 * found > most or found == parts.hosts else 0


def _leaves_of_pods(parts: NetworkParts, taper: Fraction, by_rail: bool) -> Iterator[int]:
    """How many leaves, or units of a leaf for each rail, a pod may have: whole parts of all there are, as
    many as a spine has ports for, largest first."""
    inside = parts.ends if parts.railed and not by_rail else 1
    per_leaf = _hosts_of_leaf(parts, Fraction(1)) or max(
        1, parts.radix // 2 // (1 if parts.railed else parts.ends)
    )
    units = -(-parts.hosts // per_leaf)
    down = int(parts.radix * taper / (taper + 1)) // inside
    yield from (n for n in range(min(units // 2, down), 0, -1) if units % n == 0)


# ---------------------------------------------------------------- rails alone


def _rail_only_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """A switch for each rail."""
    why = ""
    if not parts.railed:
        why = "its hosts have one port each, so there are no rails"
    elif parts.hosts > parts.radix:
        why = (
            _too_small(parts)
            if not parts.radix
            else f"a rail joins {parts.hosts:,} hosts, and a switch has {parts.radix} ports at their rate"
        )
    block = _block(parts, "rail_only", [f"switch {parts.switch}"], between=False)
    words = "a switch for each rail, nothing above"
    yield SizedNetwork("rail_only", words, () if why else (f"rails {parts.ends}\n{block}",), why)


# ---------------------------------------------------------------- dragonfly


@dataclass(frozen=True, slots=True)
class DragonflySize:
    """Groups, routers of each, links of each two routers of a group, links of each two groups; and the order
    in which sizes are preferred: routers in all, then links between them."""

    order: tuple[int, ...]
    groups: int
    routers: int
    local: int
    trunk: int


def dragonfly_size(ends: int, radix: int, taper: Fraction) -> DragonflySize | None:
    """The dragonfly of fewest routers for so many ends: under uniform traffic two groups exchange a·p / g
    ends' worth, a routers with p ends in each of g groups, divided by the taper; and a way takes up to two
    links inside of groups, which 2·p / (a - 1) of each two routers carry (Kim et al., ISCA 2008: a = 2p = 2h
    is balanced). None where a switch has too few ports."""
    found: list[DragonflySize] = []
    for p in range(1, radix):
        for a in range(2, radix):
            groups = -(-ends // (a * p))
            if groups < 2:
                break
            trunk = max(1, -(-a * p * taper.denominator // (groups * taper.numerator)))
            local = -(-2 * p // (a - 1))
            far = -(-trunk * (groups - 1) // a)
            if p + (a - 1) * local + far <= radix:
                links = groups * (a * (a - 1) // 2 * local) + groups * (groups - 1) // 2 * trunk
                found.append(DragonflySize((a * groups, links, groups), groups, a, local, trunk))
    return min(found, key=lambda size: size.order, default=None)


def _dragonfly_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """Groups of routers, each joined to each other; the taper is that of the links between groups."""
    for taper in parts.tapers:
        size, name = dragonfly_size(parts.all_ends, parts.radix, taper), f"dragonfly_{_taper_name(taper)}"
        if size is None:
            yield SizedNetwork(name, "a dragonfly", (), _too_small(parts))
            continue
        said = [f"router {parts.switch}", f"groups {size.groups}", f"routers {size.routers}"]
        said += [f"local each x {size.local}"] if size.local > 1 else []
        block = _block(parts, "dragonfly", [*said, f"trunk {size.trunk}"])
        words = f"a dragonfly, {_ratio_text(taper)} between its groups under uniform traffic"
        yield SizedNetwork(name, words, (block,), assumed="uniform traffic, for its sizes")


def _too_small(parts: NetworkParts) -> str:
    if not parts.radix:
        return f"the ports of {parts.switch} do not run at the rate of theirs: --switch names another model"
    return f"no size joins {parts.ends_text} by switches of {parts.radix} ports at their rate"


# ---------------------------------------------------------------- hyperx


@dataclass(frozen=True, slots=True)
class HyperxSize:
    """Switches along each dimension, links of each two along it; and the order in which sizes are
    preferred."""

    order: tuple[int, ...]
    shape: tuple[int, ...]
    trunk: tuple[int, ...]


def hyperx_size(ends: int, radix: int, taper: Fraction, dimensions: int) -> HyperxSize | None:
    """The grid of fewest switches for so many ends: two switches of a line of s exchange p / s ends' worth
    under uniform traffic, p ends on each, divided by the taper (Ahn et al., SC 2009). None where a switch has
    too few ports."""
    found: list[HyperxSize] = []
    for p in range(1, radix):
        wanted = -(-ends // p)
        for long in range(2, radix + 1) if wanted > 1 else ():
            short = 1 if dimensions == 1 else max(2, -(-wanted // long))
            shape: tuple[int, ...] = (long,) if dimensions == 1 else (long, short)
            whole = long * short
            if whole < wanted or short > long:
                continue
            trunk = tuple(max(1, -(-p * taper.denominator // (s * taper.numerator))) for s in shape)
            if p + sum((s - 1) * t for s, t in zip(shape, trunk, strict=True)) <= radix:
                links = sum(whole * (s - 1) // 2 * t for s, t in zip(shape, trunk, strict=True))
                found.append(HyperxSize((whole, links, long), shape, trunk))
    return min(found, key=lambda size: size.order, default=None)


def _hyperx_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """A grid of switches, every line of it fully joined."""
    for taper in parts.tapers:
        yield _hyperx_network(parts, taper, "hyperx", 2)


def _full_mesh_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """Every switch joined to every other."""
    for taper in parts.tapers:
        yield _hyperx_network(parts, taper, "full_mesh", 1)


def _hyperx_network(parts: NetworkParts, taper: Fraction, topology: str, dimensions: int) -> SizedNetwork:
    size = hyperx_size(parts.all_ends, parts.radix, taper, dimensions)
    name = f"{topology}_{_taper_name(taper)}"
    words = "a grid of switches, each line fully joined" if dimensions > 1 else "each switch to each other"
    if size is None:
        return SizedNetwork(name, words, (), _too_small(parts))
    said = [f"switch {parts.switch}", f"trunk {', '.join(map(str, size.trunk))}"]
    shape = "x".join(map(str, size.shape))
    head = f"{topology} {shape}" if dimensions > 1 else topology
    block = _block(parts, head, said if dimensions > 1 else [f"switches {shape}", *said])
    words = f"{words}, {_ratio_text(taper)} under uniform traffic"
    return SizedNetwork(name, words, (block,), assumed="uniform traffic, for its sizes")


# ---------------------------------------------------------------- torus


def torus_shapes(nodes: int, dimensions: int) -> tuple[int, ...] | None:
    """The torus of so many nodes whose longest ring is shortest, and of these the one with the least sum of
    its sizes; None where a ring of one node would be left."""
    shapes = [s for s in _factors(nodes, dimensions, 2) if len(s) == dimensions]
    return min(shapes, key=lambda s: (s[-1], sum(s), s), default=None)


def _factors(number: int, count: int, least: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a product of so many factors, each at least the one before."""
    if count == 1:
        if number >= least:
            yield (number,)
        return
    for first in range(least, isqrt(number) + 1):
        if number % first == 0:
            yield from ((first, *rest) for rest in _factors(number // first, count - 1, first))


def _torus_networks(parts: NetworkParts) -> Iterator[SizedNetwork]:
    """Rings along each of three dimensions, and of as many as the ports allow, up to four."""
    wanted = sorted({min(3, parts.ends // 2), min(4, parts.ends // 2)} - {0})
    if not wanted:
        yield SizedNetwork("torus", "a torus", (), "a torus takes two ports of a host for each dimension")
    for dimensions in wanted:
        shape = torus_shapes(parts.hosts, dimensions)
        if shape is None:
            why = f"{parts.hosts:,} {parts.what} are no product of {dimensions} sizes"
            yield SizedNetwork(f"torus_{dimensions}d", f"a torus of {dimensions} dimensions", (), why)
            continue
        text = "x".join(map(str, shape))
        forwards = "" if parts.are_chips else "forwards host\n"
        block = forwards + _block(parts, f"torus {text}", [], between=False)
        assumed = "" if parts.are_chips else "hosts pass on what others send, at the full rate"
        words = f"a torus of {counted_noun(dimensions, 'dimension')}, {parts.what} joined directly"
        yield SizedNetwork(f"torus_{text}", words, (block,), assumed=assumed)


SIZED: Mapping[str, Sizing] = {
    "clos": _clos_networks,
    "rail_only": _rail_only_networks,
    "dragonfly": _dragonfly_networks,
    "hyperx": _hyperx_networks,
    "full_mesh": _full_mesh_networks,
    "torus": _torus_networks,
}
"""Topologies of the library whose sizes are found, and what finds them."""
