"""The messages along trees of single ranks, one after the other, so that anyone can replay them.

Ranks that can be exchanged take the places of their node in turn, each for as much of the data, so that the
trees load the links of each of them with its part. A message has a constant rate as long as the schedule
lasts, and carries a piece of a chunk in each of its steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.prove.collective_ranks import Ranks, inner_delay_of_view
from tdsl.prove.delays import SECOND
from tdsl.prove.rank_network import NONE, Passing, RankNetwork
from tdsl.prove.rank_trees import RankTree, TreeLink, TreePlan
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.schedule_routes import Route, RoutedMessage
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

Joined = tuple[int, int, tuple[int, ...]]
"""Two ranks, and the nodes between them that pass data on."""


@dataclass(eq=False)  # no slots: what is asked for is kept
class TreeMessages:
    """All messages along trees, made as they are asked for: ``ranks`` are the names of the ranks, ``nodes``
    of what passes data on; ``at`` is the device of each rank and then of each such node, NONE of one that is
    inside of a host."""

    plan: TreePlan
    ranks: Sequence[str]
    nodes: Sequence[str]
    at: Sequence[int]
    delays: TreeDelays

    @classmethod
    def of(cls, ranks: Ranks, plan: TreePlan) -> TreeMessages:
        """Find the names and delays of what trees pass."""
        view = ranks.view
        home = np.repeat(view.units, ranks.unit_weight).tolist()
        passed = [_device_of_passing(view, p) for p in plan.net.passing]
        inner = names_inside_hosts(view)
        nodes = [_name_of_passing(view, p, inner) for p in plan.net.passing]
        return cls(plan, names_of_ranks(ranks, inner), nodes, [*home, *passed], TreeDelays.of(ranks))

    def __len__(self) -> int:
        return len(self.trees) * 2 * (self.net.ranks - 1)

    def __iter__(self) -> Iterator[RoutedMessage]:
        turns = turns_of_equal_ranks(self.net)
        made = [(tree, shift) for tree in self.plan.mixture.trees for shift, _ in turns]
        for number, ((tree, shift), share) in enumerate(zip(made, self.trees, strict=True), 1):
            joined = list(_links_in_turn(self.net, tree, shift))
            make = _messages_of_sums if self.plan.sums else _messages_of_gathering
            for sender, receiver, part, first, last, between in make(self.net.ranks, joined, self.plan):
                yield self._message(number, (sender, receiver, between), share * part, (first, last))

    @property
    def per_bit(self) -> Fraction:
        """Seconds a bit of the fullest link."""
        return self.plan.mixture.per_bit

    @property
    def steps(self) -> int:
        """Steps that a chunk takes."""
        return self.plan.steps

    @property
    def parts(self) -> Fraction:
        """What all messages carry together, as a part of the data."""
        return Fraction((2 if self.plan.sums else 1) * (len(self.ranks) - 1))

    @property
    def net(self) -> RankNetwork:
        """The network of the ranks."""
        return self.plan.net

    @cached_property
    def trees(self) -> list[Fraction]:
        """The share of the data that goes along each tree."""
        mixture, turns = self.plan.mixture, turns_of_equal_ranks(self.net)
        whole = sum(mixture.parts)
        return [Fraction(n, whole) * share for n in mixture.parts for _, share in turns]

    @cached_property
    def links(self) -> dict[tuple[str, str], int]:
        """Bit/s from each rank or node to each that it has links to, by their names."""
        out: dict[tuple[str, str], int] = {}
        for a, b, rate in zip(self.net.a, self.net.b, self.net.rate, strict=True):
            ends = [self._names_of_node(v) for v in (a, b)]
            each = rate // (len(ends[0]) * len(ends[1]))
            for one in ends[0]:
                for other in ends[1]:
                    for pair in ((one, other), (other, one)):
                        out[pair] = out.get(pair, 0) + each
        return out

    def _names_of_node(self, node: int) -> list[str]:
        if node < self.net.count:
            return [self.ranks[r] for r in self.net.members[node]]
        return [self.nodes[node - self.net.count]]

    def _message(self, tree: int, joined: Joined, part: Fraction, steps: tuple[int, int]) -> RoutedMessage:
        sender, receiver, between = joined
        count, inner = self.net.count, [v - self.net.count for v in between]
        names = (self.ranks[sender], *(self.nodes[v] for v in inner), self.ranks[receiver])
        way = [self.at[sender], *(self.at[len(self.ranks) + v - count] for v in between), self.at[receiver]]
        rate = part / self.plan.mixture.per_bit
        route = Route(names, rate, self.delays.of_way(way))
        return RoutedMessage(0, names[0], names[-1], part, rate, (route,), tree, steps)


# ---------------------------------------------------------------- names and delays


def names_of_ranks(ranks: Ranks, inner: Mapping[int, str]) -> list[str]:
    """The name of every rank: of its host or chip where that has no other, else of the accelerator; of one
    that the design does not describe ``node3 rank 2``. ``inner`` are names of what is inside of hosts."""
    view, inside = ranks.view, ranks.view.domains.inside
    chips: dict[int, list[int]] = {}
    for host, node in zip(inside.host.tolist(), inside.node.tolist(), strict=True):
        chips.setdefault(host, []).append(node)
    out: list[str] = []
    for d, n in zip(view.units.tolist(), ranks.unit_weight.tolist(), strict=True):
        mine, name = chips.get(d, []), view.fabric.device_name(d)
        if n == 1 or len(mine) != n:
            out += [name] if n == 1 else [f"{name} rank {k}" for k in range(n)]
        else:
            out += [name_of_node(view, x, inner) for x in mine]
    return out


def name_of_node(view: View, node: int, inner: Mapping[int, str]) -> str:
    """The name of a node of the graph of scale-up links: a device's, or of what is inside of a host."""
    return inner.get(node) or _whole_fabric(view).device_name(node)


def _whole_fabric(view: View) -> Fabric:
    """The fabric of both layers."""
    return view.fabric.whole or view.fabric


def names_inside_hosts(view: View) -> dict[int, str]:
    """The names of the nodes of scale-up links that are no devices: ``node3 gpu[2]``, by the chips of the
    host's model."""
    f = _whole_fabric(view)
    owner, parts = view.domains.inside.owner.tolist(), dict[int, list[int]]()
    for node in range(f.device_count, len(owner)):
        parts.setdefault(owner[node], []).append(node)
    rows = {(t.inside.index, t.name) for t in f.sets if t.inside is not None}
    out: dict[int, str] = {}
    for host, nodes in parts.items():
        chips = f.models[int(f.device_model[host])].chips
        hidden = [c for c in chips if (f.set_of(host).index, c.name) not in rows]
        named = [c.name if c.size == 1 else f"{c.name}[{i}]" for c in hidden for i in range(c.size)]
        if len(named) != len(nodes):
            named = [f"part {i}" for i in range(len(nodes))]
        out |= {node: f"{f.device_name(host)} {name}" for node, name in zip(nodes, named, strict=True)}
    return out


def _name_of_passing(view: View, passing: Passing, inner: Mapping[int, str]) -> str:
    """The name of a node that passes data on; ports of a host have its name, and their rail's."""
    if isinstance(passing, int):
        return view.fabric.device_name(passing)
    if len(passing) == 2:
        return name_of_node(view, passing[1], inner)
    host, rail = view.fabric.device_name(_device_of_passing(view, passing)), passing[2][1]
    return host if rail == NONE else f"{host} rail {rail}"


def _device_of_passing(view: View, passing: Passing) -> int:
    """The device of a node that passes data on, NONE of one that is none of the network."""
    if isinstance(passing, int):
        return passing
    return NONE if len(passing) == 2 else int(view.units[passing[1]])


@dataclass(frozen=True, slots=True)
class TreeDelays:
    """Femtoseconds: of the longest cable between two devices, of each device, and of any way over scale-up
    links."""

    cable: Mapping[tuple[int, int], int]
    own: Sequence[int]
    inside: int

    @classmethod
    def of(cls, ranks: Ranks) -> TreeDelays:
        """Read the view of ranks."""
        view, known = ranks.view, RouteDelays.of(ranks.view)
        cable: dict[tuple[int, int], int] = {}
        for a, b, took in zip(view.a.tolist(), view.b.tolist(), known.cable.tolist(), strict=True):
            for pair in ((a, b), (b, a)):
                cable[pair] = max(cable.get(pair, 0), took)
        return cls(cable, known.own.tolist(), -int(-2 * inner_delay_of_view(view).seconds * SECOND // 1))

    def of_way(self, way: Sequence[int]) -> int:
        """What a way from device to device takes: over the network its cables and devices. Accelerators that
        are linked may use either layer."""
        hops = [pair for pair in pairwise(way) if pair[0] != pair[1]]
        if not hops or any(pair not in self.cable for pair in hops):
            return self.inside
        took = self.own[way[0]] + sum(self.cable[pair] + self.own[pair[1]] for pair in hops)
        return max(took, self.inside) if len(way) == 2 else took


# ---------------------------------------------------------------- trees


def turns_of_equal_ranks(net: RankNetwork) -> list[tuple[Fraction, Fraction]]:
    """When ranks that can be exchanged move on, as a part of a whole turn, and the share of the data until
    they do so again: in a whole turn each of n is in each place of its node for an nth."""
    sizes = {n for n in net.size if n > 1}
    begins = sorted({Fraction(0), *(Fraction(i, n) for n in sizes for i in range(n))})
    return [(begin, end - begin) for begin, end in pairwise([*begins, Fraction(1)])]


def _links_in_turn(net: RankNetwork, tree: RankTree, shift: Fraction) -> Iterator[Joined]:
    """The links of a tree between ranks, with those that can be exchanged moved on by a part of a turn."""

    def member(node: int, place: int) -> int:
        mine = net.members[node]
        return mine[(place + int(shift * len(mine))) % len(mine)]

    for link in tree.links:
        between = _nodes_between(net, link)
        for i in range(link.many):
            if not link.equal:
                yield member(link.one, 0), member(link.other, 0), between
            elif link.one == link.other:
                yield member(link.one, i), member(link.one, i + 1), between
            else:
                yield member(link.one, i + 1), member(link.other, 0), between


def _nodes_between(net: RankNetwork, link: TreeLink) -> tuple[int, ...]:
    """The nodes that a link of a tree passes."""
    passed = [(net.a[k], net.b[k]) if ahead else (net.b[k], net.a[k]) for k, ahead in link.way]
    nodes = [passed[0][0], *(head for _, head in passed)]
    return tuple(v for v in nodes if v >= net.count)


@dataclass(frozen=True, slots=True)
class _Rooted:
    """A tree from a root: the ranks, each behind the one above it, and of each that one, the nodes between
    them and the links from the root."""

    order: Sequence[int]
    above: Mapping[int, int]
    between: Mapping[int, tuple[int, ...]]
    deep: Mapping[int, int]


def _rooted_tree(joined: Sequence[Joined], root: int) -> _Rooted:
    """See a tree from a rank."""
    near: dict[int, list[tuple[int, tuple[int, ...]]]] = {root: []}
    for one, other, between in joined:
        near.setdefault(one, []).append((other, between[::-1]))
        near.setdefault(other, []).append((one, between))
    order, above, way, deep = [root], {root: -1}, dict[int, tuple[int, ...]](), {root: 0}
    for v in order:
        for w, between in near[v]:
            if w not in above:
                above[w], way[w], deep[w] = v, between, deep[v] + 1
                order.append(w)
    return _Rooted(order, above, way, deep)


def _tree_from_centre(joined: Sequence[Joined]) -> _Rooted:
    """See a tree from the middle of its longest path."""
    far = _rooted_tree(joined, joined[0][0]).order[-1]
    seen = _rooted_tree(joined, far)
    at = seen.order[-1]
    for _ in range(seen.deep[at] // 2):
        at = seen.above[at]
    return _rooted_tree(joined, at)


Sent = tuple[int, int, Fraction, int, int, tuple[int, ...]]
"""Sender, receiver, the part of the tree's data, the first and the last step, and the nodes between."""


def _messages_of_sums(count: int, joined: Sequence[Joined], plan: TreePlan) -> Iterator[Sent]:
    """In to the centre of the tree, step by step from the farthest rank that there may be, and out again."""
    tree, half = _tree_from_centre(joined), plan.steps // 2
    assert len(tree.order) == count and tree.deep[tree.order[-1]] <= half
    for v in reversed(tree.order[1:]):
        step = half + 1 - tree.deep[v]
        yield v, tree.above[v], Fraction(1), step, step, tree.between[v]
    for v in tree.order[1:]:
        step = half + tree.deep[v]
        yield tree.above[v], v, Fraction(1), step, step, tree.between[v][::-1]


def _messages_of_gathering(count: int, joined: Sequence[Joined], plan: TreePlan) -> Iterator[Sent]:
    """Both ways over each link what the ranks behind it hold, that of nearer ranks first; ``turned`` the
    other way in time."""
    tree = _rooted_tree(joined, joined[0][0])
    assert len(tree.order) == count
    behind, high, beside = _sides_of_links(tree)
    for v in tree.order[1:]:
        up, between = tree.above[v], tree.between[v]
        for ends, ranks, last, way in (
            ((v, up), behind[v], high[v] + 1, between),
            ((up, v), count - behind[v], beside[v] + 1, between[::-1]),
        ):
            assert last <= plan.steps
            part = Fraction(ranks, count)
            if plan.turned:
                yield ends[1], ends[0], part, plan.steps + 1 - last, plan.steps, way[::-1]
            else:
                yield *ends, part, 1, last, way


def _sides_of_links(tree: _Rooted) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """Of the link above each rank how many ranks are on its side, how many links the farthest of them is from
    it, and on the other side from the one above."""
    behind, high = dict.fromkeys(tree.order, 1), dict.fromkeys(tree.order, 0)
    below: dict[int, list[int]] = {v: [0, 0] for v in tree.order}  # the two highest branches
    for v in reversed(tree.order[1:]):
        up = tree.above[v]
        behind[up] += behind[v]
        high[up] = max(high[up], high[v] + 1)
        below[up] = sorted((*below[up], high[v] + 1))[1:]
    beside = {tree.order[0]: -1}
    for v in tree.order[1:]:
        up = tree.above[v]
        other = below[up][0] if below[up][1] == high[v] + 1 else below[up][1]
        beside[v] = max(other, beside[up] + 1)
    return behind, high, beside
