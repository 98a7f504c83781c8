"""A smaller network for the search of automorphisms: nodes that can be exchanged without a search are one.

*Equivalent nodes* have one label and the same neighbours by the same capacities, but for each other: all of
them unconnected, or each connected to each with one capacity. Any two may be exchanged, so one cycle (and,
where they are connected, one exchange) shows all there is to know of a class. A *pendant* is a node with one
neighbour; it goes where that goes. A class becomes one node, pendants a part of their neighbour, and so on
until nothing changes. This is modular decomposition as far as modules without inner structure go (Habib and
Paul, "A survey of the algorithmic aspects of modular decomposition", Computer Science Review 4, 2010).

Nothing is verified here: the cycles are candidates as all others are.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.symmetry import equal_rows, number_distinct_rows
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)
class TwinReduction:
    """A network of bundles of nodes. Of every original node, ``bundle`` is the node here that it is part of
    and ``place`` its rank in it: bundles of one ``label`` are equivalent place by place, as far as their own
    links go. ``cycles`` are permutations of the original nodes that exchange equivalent nodes."""

    network: Network
    label: Ints
    bundle: Ints
    place: Ints
    cycles: list[Ints]

    @classmethod
    def of(cls, network: Network, kind: Ints, budget: Budget = DEFAULT) -> TwinReduction:
        """Reduce a network with arcs both ways; equivalent nodes have the same ``kind``."""
        nodes = np.arange(network.nodes)
        out = cls(network, kind, nodes, np.zeros_like(nodes), [])
        for _ in range(budget.twin_rounds):
            before = out.network.nodes
            out.join_twins(budget.twin_capacities)
            if out.network.nodes == before:  # pendants of a node now differ
                out.attach_pendants()
            if out.network.nodes == before:
                break
        return out

    def expand_image(self, image: Ints) -> Ints:
        """The permutation of the original nodes for one of the bundles that keeps their labels."""
        order = np.lexsort((self.place, self.bundle))
        start = np.searchsorted(self.bundle[order], np.arange(self.network.nodes + 1))
        out: Ints = order[start[image[self.bundle]] + self.place]
        return out

    def join_twins(self, most: int) -> None:
        """Put the nodes of every class together: unconnected ones, then those connected to each other, where
        there are no more than so many capacities."""
        amounts = np.unique(self.network.capacity)
        for amount in (0, *(amounts.tolist() if len(amounts) <= most else ())):
            net, nodes = self.network, np.arange(self.network.nodes)
            own = nodes if amount else nodes[:0]
            first = equal_rows(
                self.label,
                np.append(net.head, own),
                np.append(net.tail, own),
                np.append(net.capacity, np.full(len(own), amount)),
            )
            if (first != nodes).any():
                self._join_classes(first, amount)

    def _join_classes(self, first: Ints, amount: int) -> None:
        """One node for all that have the same ``first``, the lowest of them."""
        net, nodes = self.network, np.arange(len(first))
        size, count = np.bincount(self.bundle, minlength=len(first)), np.bincount(first)
        order = np.argsort(first, kind="stable")
        start = np.searchsorted(first[order], nodes)
        rank = np.empty_like(nodes)
        rank[order] = nodes - start[first[order]]
        self._add_cycles(first, np.append(count, np.zeros(len(nodes) - len(count), dtype=np.int64)), amount)
        kept = np.flatnonzero(first == nodes)
        many = count[kept] > 1
        label = self.label[kept]
        joined = number_distinct_rows([label[many], count[kept][many]])
        label[many] = int(self.label.max()) + 1 + joined
        self.place = self.place + (rank * size)[self.bundle]
        self.bundle = np.searchsorted(kept, first)[self.bundle]
        self.label = label
        self._keep_nodes(net, kept)

    def _keep_nodes(self, net: Network, kept: Ints) -> None:
        """The network between some of its nodes."""
        place = np.full(net.nodes, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        arcs = (place[net.tail] >= 0) & (place[net.head] >= 0)
        self.network = Network(
            place[net.tail[arcs]], place[net.head[arcs]], net.capacity[arcs], net.forwards[kept]
        )

    def _add_cycles(self, first: Ints, count: Ints, amount: int) -> None:
        """Permutations that move every class by one: at once those of classes that are not adjacent, so that
        links between two classes are in one orbit. Connected nodes have an exchange of two, too."""
        step, swap = np.arange(len(first)), np.arange(len(first))
        order = np.argsort(first, kind="stable")
        ends = np.flatnonzero(np.diff(first[order], append=-1))
        begins = np.append(0, ends[:-1] + 1)
        after = np.append(order[1:], 0)
        after[ends] = order[begins]
        step[order] = after
        pairs = begins[ends > begins]
        swap[order[pairs]], swap[order[pairs + 1]] = order[pairs + 1], order[pairs]
        turn = self._turns_of_classes(np.flatnonzero(count > 1), len(first))[first]
        for k in range(int(turn.max()) + 1):
            for moved in (step, swap) if amount else (step,):
                self.cycles.append(self.expand_image(np.where(turn == k, moved, np.arange(len(first)))))

    def _turns_of_classes(self, classes: Ints, nodes: int) -> Ints:
        """A number for each of some nodes, other ones for adjacent nodes; -1 for all others."""
        turn = np.full(nodes, -1, dtype=np.int64)
        for v in classes.tolist():
            taken = np.unique(turn[self.network.neighbours(v)])
            taken = taken[taken >= 0]
            free = np.flatnonzero(taken != np.arange(len(taken)))
            turn[v] = free[0] if len(free) else len(taken)
        return turn

    def attach_pendants(self) -> None:
        """Make every node with one neighbour a part of it; of two that have none but each other the one with
        the lower label."""
        net = self.network
        degree = np.diff(net.start)
        hub = np.arange(net.nodes)
        alone = np.flatnonzero(degree == 1)
        hub[alone] = net.tail[net.start[alone]]
        pendant = alone[(degree[hub[alone]] > 1) | (self.label[alone] < self.label[hub[alone]])]
        if not len(pendant):
            return
        amount = net.capacity[net.start[pendant]]
        order = np.lexsort((pendant, amount, self.label[pendant], hub[pendant]))
        pendant, amount = pendant[order], amount[order]
        size = np.bincount(self.bundle, minlength=net.nodes)
        keys: dict[tuple[object, ...], int] = {}
        label, fresh = self.label.copy(), int(self.label.max()) + 1
        shift, into = np.zeros_like(hub), np.arange(net.nodes)
        bounds = np.append(np.flatnonzero(np.diff(hub[pendant], prepend=-1)), len(pendant)).tolist()
        for low, high in pairwise(bounds):
            mine = pendant[low:high]
            owner = int(hub[mine[0]])
            key = (int(self.label[owner]), *self.label[mine].tolist(), *amount[low:high].tolist())
            label[owner] = fresh + keys.setdefault(key, len(keys))
            shift[mine] = size[owner] + np.cumsum(size[mine]) - size[mine]
            into[mine] = owner
        kept = np.flatnonzero(into == np.arange(net.nodes))
        self.place = self.place + shift[self.bundle]
        self.bundle = np.searchsorted(kept, into)[self.bundle]
        self.label = label[kept]
        self._keep_nodes(net, kept)
