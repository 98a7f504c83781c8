"""The network of single ranks over links of both layers: what trees of ranks are laid on.

Every accelerator is a node. It has the scale-up links of its own, and the ports of its host: those of its own
rail where scale-up links join the accelerators of a host and its ports are rails, else all of them together
with the other accelerators. Ports of a host that several ranks have are a *door*: data leaves and enters
there, and passes no door on its way. What switches do not reach is nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from tdsl.fabric.rails import link_rail
from tdsl.prove.collective_ranks import Ranks, inner_delay_of_view
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

NONE = -1
"""The link between a rank and a door: it is no limit."""

Passing = int | tuple[str, int] | tuple[str, int, tuple[int, int]]

PORTS, SCALEUP_PORTS = 0, 1
"""Which ports of a host: of the network, or of scale-up links."""


@dataclass(eq=False)  # no slots: what is asked for is kept
class RankNetwork:
    """Nodes from 0 to ``count`` are the ranks, those behind them pass data on. Link k has ``rate[k]`` bit/s
    each way between the nodes ``a[k]`` and ``b[k]``; ``doors`` has the ranks of each node that is a door.
    Where ranks that can be exchanged are put together, ``members`` are those that each node is, and a link of
    it has the rate of all of them. ``passing`` says what each node behind the ranks is: a device; a node
    ``inside`` hosts; or a ``door`` of a unit, with which ports and the rail, NONE for all of them."""

    count: int
    nodes: int
    a: Sequence[int]
    b: Sequence[int]
    rate: Sequence[int]
    doors: Mapping[int, tuple[int, ...]]
    members: Sequence[tuple[int, ...]]
    passing: Sequence[Passing]

    @cached_property
    def size(self) -> list[int]:
        """How many ranks each node is."""
        return [len(mine) for mine in self.members]

    @cached_property
    def ranks(self) -> int:
        """The number of ranks."""
        return sum(self.size)

    @cached_property
    def near(self) -> list[list[tuple[int, int]]]:
        """The neighbours of every node that is no rank of theirs, each with the link to it."""
        out: list[list[tuple[int, int]]] = [[] for _ in range(self.nodes)]
        for k, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
            out[a].append((b, k))
            out[b].append((a, k))
        return out


def rank_network(ranks: Ranks) -> RankNetwork | None:
    """The network of the ranks of a view; None where several sets are asked about, or there are more links
    than are looked at."""
    view, most = ranks.view, ranks.view.budget.tree_links
    inside = view.domains.inside
    if ranks.outer is not None or len(view.rows) + len(inside.a) > most or ranks.count > most:
        return None
    made = _Nodes(ranks)
    made.add_ports(_owners_of_ports(ranks))
    if ranks.inside is not None or not inner_delay_of_view(view).missing:
        made.add_scale_up()
    pairs = sorted(made.rate)
    a, b = [p[0] for p in pairs], [p[1] for p in pairs]
    rate = [made.rate[p] for p in pairs]
    alone = [(r,) for r in range(ranks.count)]
    net = RankNetwork(ranks.count, made.count, a, b, rate, made.doors, alone, [*made.node])
    return _with_equal_ranks_together(net)


def _kinds_of_equal_ranks(net: RankNetwork) -> tuple[list[int], int]:
    """The kind of each rank, and how many kinds there are: ranks with equal links to the same switches are
    of one, a rank at a door or with a link to another rank is alone in its kind."""
    at_door = {r for mine in net.doors.values() for r in mine}
    kinds: dict[object, int] = {}
    found = []
    for r in range(net.count):
        alone = r in at_door or any(w < net.count for w, _ in net.near[r])
        key: object = r if alone else tuple(sorted((w, net.rate[k]) for w, k in net.near[r]))
        found.append(kinds.setdefault(key, len(kinds)))
    return found, len(kinds)


def _with_equal_ranks_together(net: RankNetwork) -> RankNetwork:
    """Ranks with equal links to the same switches as one node with the links of all: exchanging them maps the
    network onto itself, and what is averaged over all exchanges is the same at each of them."""
    place, count = _kinds_of_equal_ranks(net)
    members: list[list[int]] = [[] for _ in range(count)]
    for r, at in enumerate(place):
        members[at].append(r)
    place += range(count, count + net.nodes - net.count)
    rate: dict[tuple[int, int], int] = {}
    for a, b, bps in zip(net.a, net.b, net.rate, strict=True):
        pair = place[a], place[b]
        rate[pair] = rate.get(pair, 0) + bps
    doors = {place[d]: tuple(place[r] for r in mine) for d, mine in net.doors.items()}
    first, second = ([pair[end] for pair in rate] for end in (0, 1))
    nodes, each = count + net.nodes - net.count, [*map(tuple, members)]
    return RankNetwork(count, nodes, first, second, [*rate.values()], doors, each, net.passing)


class _Nodes:
    """Nodes that are numbered as they are found, and the rate between any two of them."""

    def __init__(self, ranks: Ranks) -> None:
        self.ranks, self.view = ranks, ranks.view
        self.count = ranks.count
        ends = np.cumsum(ranks.unit_weight).tolist()
        self.of_unit = [range(end - n, end) for end, n in zip(ends, ranks.unit_weight.tolist(), strict=True)]
        self.unit = {d: k for k, d in enumerate(self.view.units.tolist())}
        self.node: dict[Passing, int] = {}
        self.rate: dict[tuple[int, int], int] = {}
        self.doors: dict[int, tuple[int, ...]] = {}

    def number(self, key: Passing) -> int:
        """The node of what is found."""
        if key not in self.node:
            self.node[key] = self.count
            self.count += 1
        return self.node[key]

    def door(self, unit: int, which: tuple[int, int], ranks: Sequence[int]) -> int:
        """The node at which these ranks of a unit leave it: one alone is its own."""
        if len(ranks) == 1:
            return ranks[0]
        node = self.number(("door", unit, which))
        self.doors[node] = tuple(ranks)
        return node

    def join(self, one: int, other: int, rate: int) -> None:
        """A link between two nodes."""
        if one != other and rate:
            pair = min(one, other), max(one, other)
            self.rate[pair] = self.rate.get(pair, 0) + rate

    def add_ports(self, owners: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """The links of the network; ``owners`` are the ranks that have the ports of a unit on a rail."""
        view = self.view
        passing = view.forwards & view.devices
        rows = (view.a, view.b, link_rail(view.fabric)[view.rows], view.fabric.link_rate[view.rows])
        for a, b, rail, rate in zip(*(x.tolist() for x in rows), strict=True):
            ends = []
            for d in (a, b):
                k = self.unit.get(d, -1)
                if k >= 0:
                    mine = owners[k, rail]
                    which = PORTS, NONE if len(mine) == len(self.of_unit[k]) else rail
                    ends.append(self.door(k, which, mine))
                elif passing[d]:
                    ends.append(self.number(d))
            if len(ends) == 2:
                self.join(ends[0], ends[1], rate)

    def add_scale_up(self) -> None:
        """The scale-up links that join these ranks by themselves, and by way of switches."""
        view, inside = self.view, self.view.domains.inside
        whole = view.fabric.whole or view.fabric
        accelerators = {*inside.node.tolist()}
        place = self._places_of_accelerators()
        for a, b, rate in zip(inside.a.tolist(), inside.b.tolist(), inside.rate.tolist(), strict=True):
            ends = []
            for x in (a, b):
                if x in place:
                    ends.append(place[x])
                elif x not in accelerators and (x >= view.fabric.device_count or whole.is_switch[x]):
                    ends.append(self.number(("inside", x)))
            if len(ends) == 2:
                self.join(ends[0], ends[1], rate)

    def _places_of_accelerators(self) -> dict[int, int]:
        """The rank of every accelerator in the graph of scale-up links; of hosts with such ports of their own
        the door of these."""
        view, inside = self.view, self.view.domains.inside
        chips: dict[int, list[int]] = {}
        for host, node in zip(inside.host.tolist(), inside.node.tolist(), strict=True):
            chips.setdefault(host, []).append(node)
        place: dict[int, int] = {}
        real = inside.rate > 0
        joined = {*inside.a[real].tolist(), *inside.b[real].tolist()}
        for d, k in self.unit.items():
            mine, nodes = self.of_unit[k], chips.get(d, [])
            if d in joined and view.domains.of_device[d] >= 0:
                place[d] = self.door(k, (SCALEUP_PORTS, NONE), mine)
            if len(nodes) == len(mine):
                place |= zip(nodes, mine, strict=True)
        return place


def _rails_of_units(view: View) -> list[set[int]]:
    """The rails on which each unit has links; -1 for links of none."""
    unit = {d: k for k, d in enumerate(view.units.tolist())}
    rails: list[set[int]] = [set() for _ in unit]
    rail = np.asarray(link_rail(view.fabric), dtype=np.int64)[view.rows]
    for end in (view.a, view.b):
        for d, r in zip(end.tolist(), rail.tolist(), strict=True):
            if d in unit:
                rails[unit[d]].add(r)
    return rails


def _owners_of_ports(ranks: Ranks) -> dict[tuple[int, int], Sequence[int]]:
    """The ranks that have the ports of a unit on a rail: in order, where scale-up links join the ranks of
    each unit, or nothing else joins the rails; else all of them."""
    rails = _rails_of_units(ranks.view)
    by_rail = ranks.inside is not None or ranks.rails_apart
    ends = np.cumsum(ranks.unit_weight).tolist()
    out: dict[tuple[int, int], Sequence[int]] = {}
    for k, (end, n) in enumerate(zip(ends, ranks.unit_weight.tolist(), strict=True)):
        mine, found = range(end - n, end), sorted(rails[k])
        if not by_rail or -1 in found or len(found) < 2:
            out |= {(k, r): mine for r in found}
        elif n <= len(found):
            out |= {(k, r): mine[at % n : at % n + 1] for at, r in enumerate(found)}
        else:
            first = [at * n // len(found) for at in range(len(found) + 1)]
            out |= {(k, r): mine[first[at] : first[at + 1]] for at, r in enumerate(found)}
    return out
