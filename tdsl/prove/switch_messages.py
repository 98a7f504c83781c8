"""The messages of an all-reduce that switches add up, one after the other, so that anyone can replay them.

A rank sends its part of the data to the switch above it; a switch adds up what all below it have sent and
sends the sum on; from the root of the tree the sum comes back the same way. A message has a constant rate as
long as the schedule lasts, and carries a chunk in one step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import permutations

from tdsl.fabric.layers import scaleup_network
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.delays import SECOND
from tdsl.prove.domain_rates import CommonSwitch, common_switches
from tdsl.prove.in_network import SwitchPlan, SwitchTree
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.schedule_routes import Route, RoutedMessage, capacity_between_devices
from tdsl.prove.tree_messages import name_of_node, names_inside_hosts, names_of_ranks
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class NamedLink:
    """A link of a tree of switches by the names of its ends, how many links the lower one is from the root,
    and what a message takes up and down, in femtoseconds."""

    lower: str
    upper: str
    depth: int
    up: int
    down: int


NamedTree = tuple[Fraction, Sequence[NamedLink]]
"""The share of the data that goes along a tree, and its links."""


@dataclass(eq=False)  # no slots: what is asked for is kept
class SwitchMessages:
    """All messages along trees of switches, made as they are asked for: ``ranks`` are the names of the ranks,
    ``count`` how many links the trees have, ``steps`` how many a chunk takes, ``links`` the bit/s from each
    end to each, by their names."""

    plan: SwitchPlan
    ranks: Sequence[str]
    count: int
    steps: int
    named: Sequence[NamedTree] | _TreesOverNetwork
    links: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, ranks: Ranks, plan: SwitchPlan) -> SwitchMessages:
        """Find the names and delays of what trees pass."""
        called = names_of_ranks(ranks, names_inside_hosts(ranks.view))
        if plan.trees:
            depths = [_depth_of_devices(t) for t in plan.trees]
            over = _TreesOverNetwork(ranks.view, ranks.delays, plan, depths)
            count, steps = sum(len(t.links) for t in plan.trees), 2 * max(max(d.values()) for d in depths)
            return cls(plan, called, count, steps, over, capacity_between_devices(ranks.view))
        inside = switches_inside(ranks)
        trees = [tree for one in inside.sets for tree in one.trees]
        return cls(plan, called, sum(len(t[1]) for t in trees), plan.steps, trees, inside.links)

    def __len__(self) -> int:
        return 2 * self.count

    def __iter__(self) -> Iterator[RoutedMessage]:
        half = self.steps // 2
        for number, (share, links) in enumerate(self.named, 1):
            upward = sorted(links, key=lambda x: (-x.depth, x.lower))
            for x in upward:
                step = half + 1 - x.depth
                yield self._message(number, share, (x.lower, x.upper), x.up, step)
            for x in reversed(upward):
                yield self._message(number, share, (x.upper, x.lower), x.down, half + x.depth)

    def _message(
        self, tree: int, share: Fraction, ends: tuple[str, str], delay: int, step: int
    ) -> RoutedMessage:
        rate = share / self.plan.per_bit
        route = Route(ends, rate, delay)
        return RoutedMessage(0, *ends, share, rate, (route,), tree, (step, step))

    @cached_property
    def trees(self) -> list[Fraction]:
        """The share of the data that goes along each tree."""
        return [*self.plan.shares] if self.plan.trees else [share for share, _ in self.named]

    @property
    def per_bit(self) -> Fraction:
        """Seconds a bit of the fullest link."""
        return self.plan.per_bit

    @property
    def parts(self) -> Fraction:
        """What all messages carry together, as a part of the data."""
        if self.plan.trees:
            each = zip(self.plan.shares, self.plan.trees, strict=True)
            return 2 * sum((share * len(tree.links) for share, tree in each), Fraction(0))
        return 2 * sum((share * len(links) for share, links in self.named), Fraction(0))


# ---------------------------------------------------------------- over the network


@dataclass(frozen=True, slots=True)
class _TreesOverNetwork:
    """The trees of a plan over the links of a view, named one by one."""

    view: View
    delays: RouteDelays
    plan: SwitchPlan
    depths: Sequence[Mapping[int, int]]

    def __iter__(self) -> Iterator[NamedTree]:
        view, cable = self.view, dict[tuple[int, int], int]()
        for a, b, took in zip(view.a.tolist(), view.b.tolist(), self.delays.cable.tolist(), strict=True):
            for pair in ((a, b), (b, a)):
                cable[pair] = max(took, cable.get(pair, 0))
        own = self.delays.own.tolist()
        units = {*view.units.tolist()}
        for share, tree, depth in zip(self.plan.shares, self.plan.trees, self.depths, strict=True):
            links = []
            for low, high in sorted(tree.links):
                up = cable[low, high] + own[high] + (own[low] if low in units else 0)
                down = cable[low, high] + own[low]
                lower, upper = (view.fabric.device_name(d) for d in (low, high))
                links.append(NamedLink(lower, upper, depth[low], up, down))
            yield share, links


def _depth_of_devices(tree: SwitchTree) -> dict[int, int]:
    """How many links every device of a tree is from its root."""
    above = dict(tree.links)
    depth: dict[int, int] = {}
    for v in above:
        way = [v]
        while way[-1] in above and way[-1] not in depth:
            way.append(above[way[-1]])
        known = depth.setdefault(way[-1], 0)
        for d in reversed(way[:-1]):
            known += 1
            depth[d] = known
    return depth


# ---------------------------------------------------------------- over scale-up links


@dataclass(frozen=True, slots=True)
class SwitchesOfSet:
    """What joins a set of ranks inside of its scale-up domain: a tree around every switch that all of the
    domain are linked to, with its share of what each rank has to them, ``bps``."""

    bps: int
    trees: Sequence[NamedTree]


@dataclass(frozen=True, slots=True)
class SwitchesInside:
    """The switches that join the ranks of every set, and the bit/s of all their links, by the names of the
    ends."""

    sets: Sequence[SwitchesOfSet]
    links: Mapping[tuple[str, str], int]


def switches_inside(ranks: Ranks) -> SwitchesInside:
    """The switches that join the ranks of scale-up domains."""
    view, inner = ranks.view, names_inside_hosts(ranks.view)
    ends = _LinksToSwitches(view, ranks)
    rank = _names_of_accelerators(ranks, names_of_ranks(ranks, inner))
    sets = dict(zip(view.units.tolist(), ranks.set_of_unit.tolist(), strict=True))
    mine: dict[int, list[tuple[CommonSwitch, list[int]]]] = {}
    for switch in common_switches(view):
        members: dict[int, list[int]] = {}
        for i, host in enumerate(switch.hosts):
            members.setdefault(sets[host], []).append(i)
        for number, found in members.items():
            if len(found) > 1:
                mine.setdefault(number, []).append((switch, found))
    out: list[SwitchesOfSet] = []
    rates: dict[tuple[str, str], int] = {}
    for _, found_here in sorted(mine.items(), key=lambda x: x[0]):
        whole, trees = sum(s.bps for s, _ in found_here), list[NamedTree]()
        for switch, chosen in found_here:
            name, links = name_of_node(view, switch.node, inner), []
            for i in chosen:
                low = rank[switch.accelerators[i]]
                links.append(NamedLink(low, name, 1, *ends.delays(switch, i)))
                rates[low, name] = rates[name, low] = switch.capacity[i]
            trees.append((Fraction(switch.bps, whole), links))
        out.append(SwitchesOfSet(whole, trees))
    return SwitchesInside(out, rates)


def exchange_inside(found: SwitchesInside, passes: int) -> Iterator[RoutedMessage]:
    """The messages by which each rank of a set sends an equal part of the data to each other of its set, all
    at once, so many times one after the other, by way of the switches that join them."""
    for number in range(passes):
        for one in found.sets:
            count = len(one.trees[0][1])
            rate = Fraction(one.bps, count - 1)
            for i, j in permutations(range(count), 2):
                routes = []
                for share, links in one.trees:
                    x, y = links[i], links[j]
                    routes.append(Route((x.lower, x.upper, y.lower), rate * share, x.up + y.down))
                ends = routes[0].devices
                yield RoutedMessage(number, ends[0], ends[-1], Fraction(1, count), rate, tuple(routes))


def _names_of_accelerators(ranks: Ranks, called: Sequence[str]) -> dict[int, str]:
    """The name of the rank that each node of an accelerator is."""
    view, inside = ranks.view, ranks.view.domains.inside
    nodes: dict[int, list[int]] = {}
    for host, node in zip(inside.host.tolist(), inside.node.tolist(), strict=True):
        nodes.setdefault(host, []).append(node)
    out, at = dict[int, str](), 0
    for d, n in zip(view.units.tolist(), ranks.unit_weight.tolist(), strict=True):
        out |= zip(nodes.get(d, [d]), called[at : at + n], strict=True)
        at += n
    return out


class _LinksToSwitches:
    """What links between accelerators and switches take: cables and devices; inside of a host what its
    switches state."""

    def __init__(self, view: View, ranks: Ranks) -> None:
        whole = view.fabric.whole
        up = scaleup_network(whole) if whole is not None else None
        self.inside = int(ranks.delay_inside.seconds * SECOND)
        self.count = view.fabric.device_count
        self.cable: dict[tuple[int, int], int] = {}
        self.own: Sequence[int] = ()
        if up is not None:
            known = RouteDelays.of(View.whole(up))
            rows = (up.device_a.tolist(), up.device_b.tolist(), known.cable.tolist())
            for a, b, took in zip(*rows, strict=True):
                for pair in ((a, b), (b, a)):
                    self.cable[pair] = max(took, self.cable.get(pair, 0))
            self.own = known.own.tolist()

    def delays(self, switch: CommonSwitch, place: int) -> tuple[int, int]:
        """Femtoseconds from an accelerator up to a switch, and down to it."""
        for device in (switch.accelerators[place], switch.hosts[place]):
            if (device, switch.node) in self.cable:
                cable = self.cable[device, switch.node]
                return self.own[device] + cable + self.own[switch.node], cable + self.own[device]
        return self.inside, 0  # traces take nothing
