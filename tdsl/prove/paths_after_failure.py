"""How many link-disjoint paths are left between every two units after any one of some elements has failed: a
lower bound for all failures at once.

Two switches that never fail are tied if k links join them by direct links and paths of two, without the most
that one element takes from these. A switch that may fail belongs to what it is tied to as long as it is
there. Of what is then left of the network the parts are joined that are tied with, between each two, the
links without the most that any one element takes of them: after every failure all cuts are at least as large
as there. On the few parts that remain every failure is looked at by itself. No cut of fewer than k links: as
many paths (Menger 1927).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.edge_connectivity import bounds_of_class_pairs, devices_at_hubs, units_by_links
from tdsl.prove.max_flow import inseparable_groups
from tdsl.prove.network import Network, sum_by_key
from tdsl.prove.search import adjacency_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


def link_paths_after_any_failure(view: View, devices: Sequence[Ints], rows: Sequence[Ints]) -> int:
    """The number of link-disjoint paths that are left at least between every two units after any one element
    has failed, with its ``devices`` and, among the view's links, its ``rows``; 0 where that is not known. No
    element has a unit or a link of one."""
    hosts = units_by_links(view)
    if view.forwards[view.units].any() or any(not h.nodes for h in hosts):
        return 0
    most, access = devices_at_hubs(view, hosts)
    failing = FailingElements.of(view, devices, rows)
    certain = {}
    for hub, links in most.items():
        certain[hub] = (
            links if len(access[hub]) < 2 else _links_that_stay(view, hub, links, access[hub], failing)
        )
    pairs = list(islice(bounds_of_class_pairs(hosts, certain), view.budget.flow_pairs))
    return min(p.lower for p in pairs) if len(pairs) < view.budget.flow_pairs else 0


@dataclass(frozen=True, slots=True)
class FailingElements:
    """Elements, numbered, of each device and each row of the view that fails with one: (device, element) and
    (row, element)."""

    device: Ints
    device_element: Ints
    row: Ints
    row_element: Ints
    count: int

    @classmethod
    def of(cls, view: View, devices: Sequence[Ints], rows: Sequence[Ints]) -> FailingElements:
        """From the devices and rows of each."""
        number = np.arange(len(devices))
        return cls(
            np.concatenate(devices),
            np.repeat(number, [len(x) for x in devices]),
            np.concatenate(rows),
            np.repeat(number, [len(x) for x in rows]),
            len(devices),
        )


def _links_that_stay(view: View, hub: int, most: int, access: Ints, failing: FailingElements) -> int:
    """How many links, up to ``most``, separate at least any two of these devices of a hub after any
    failure."""
    network = _FailingNetwork.of(view, hub, failing)
    place = np.searchsorted(network.devices, access)
    work = view.budget.contraction_work
    return next((k for k in range(most, 0, -1) if network.never_separates(place, k, work)), 0)


@dataclass(frozen=True, slots=True)
class _FailingNetwork:
    """The devices of a hub, numbered in order, and the links (a[i], b[i]) between them; which links fail with
    which element; of each device, whether it ever fails, and in ``gone`` device × count + element."""

    devices: Ints
    a: Ints
    b: Ints
    link: Ints
    element: Ints
    fails: Bools
    gone: Ints
    count: int

    @classmethod
    def of(cls, view: View, hub: int, failing: FailingElements) -> _FailingNetwork:
        """Read from a view."""
        devices = np.flatnonzero((view.label == hub) & view.forwards)
        place = np.full(view.fabric.device_count, -1, dtype=np.int64)
        place[devices] = np.arange(len(devices))
        trunks = view.trunks[view.label[view.a[view.trunks]] == hub]
        number = np.full(len(view.rows), -1, dtype=np.int64)
        number[trunks] = np.arange(len(trunks))
        link = number[failing.row]
        inside = place[failing.device] >= 0
        fails = np.zeros(len(devices), dtype=np.bool_)
        fails[place[failing.device[inside]]] = True
        gone = place[failing.device[inside]] * failing.count + failing.device_element[inside]
        return cls(
            devices,
            place[view.a[trunks]],
            place[view.b[trunks]],
            link[link >= 0],
            failing.row_element[link >= 0],
            fails,
            np.unique(gone),
            failing.count,
        )

    def never_separates(self, devices: Ints, k: int, work: int) -> bool:
        """Whether after every failure no fewer than ``k`` links separate any two of these devices; False also
        where failures times pairs of parts are more than ``work``."""
        label = self._tied_by_two_links(k)
        joined = self._with_failing_devices(label, k)
        while not np.array_equal(joined, label):
            label, joined = joined, self._with_failing_devices(joined, k)
        low, high, total, most = self._links_between(label)
        label = _tied_parts(low, high, total - most, k, len(label))[label]
        low, high, total, _ = self._links_between(label)
        x, y = label[self.a[self.link]], label[self.b[self.link]]
        apart = np.flatnonzero(x != y)
        ends = np.minimum(x, y)[apart] * len(label) + np.maximum(x, y)[apart]
        pair = np.searchsorted(low * len(label) + high, ends)
        losses = _worst_losses(pair, self.element[apart], len(total))
        if len(losses) * len(total) > work:
            return False
        for lost in (np.zeros(len(total), dtype=np.int64), *losses):
            mine = _tied_parts(low, high, total - lost, k, len(label))[label[devices]]
            if bool((mine != mine[0]).any()):
                return False
        return True

    def _tied_by_two_links(self, k: int) -> Ints:
        """Devices that never fail, tied by direct links and by common neighbours; of the neighbours of a
        device each and the next are compared."""
        nodes = len(self.devices)
        net = adjacency_network(nodes, self.a, self.b)
        arcs = np.flatnonzero(~self.fails[net.tail])
        tail, head, capacity = net.tail[arcs], net.head[arcs], net.capacity[arcs]
        arc, element, taken = self._taken_of_arcs(head * nodes + tail)
        near = np.flatnonzero(head[1:] == head[:-1])
        width = np.minimum(capacity[near], capacity[near + 1])
        pair = np.minimum(tail[near], tail[near + 1]) * nodes + np.maximum(tail[near], tail[near + 1])
        place = np.full(len(arcs) + 1, -1, dtype=np.int64)
        place[near] = np.arange(len(near))
        by = np.concatenate((place[arc], place[arc - 1]))  # an arc is the first of a path, and the second
        both, twice = np.tile(element, 2)[by >= 0], np.tile(taken, 2)[by >= 0]
        path_key, lost = sum_by_key(by[by >= 0] * self.count + both, twice)
        path = path_key // self.count
        lost = np.minimum(lost, width[path])
        direct = (tail < head) & ~self.fails[head]
        mine = direct[arc]
        keys = np.concatenate((pair, (tail * nodes + head)[direct]))
        lost_keys = np.concatenate((pair[path], (tail * nodes + head)[arc[mine]]))
        keys, total = sum_by_key(keys, np.concatenate((width, capacity[direct])))
        by_element = np.append(path_key % self.count, element[mine])
        most = self._most_taken(keys, lost_keys, by_element, np.append(lost, taken[mine]))
        tied = keys[total - most >= k]
        return component_labels(nodes, tied // nodes, tied % nodes)

    def _taken_of_arcs(self, keys: Ints) -> tuple[Ints, Ints, Ints]:
        """Of arcs by these sorted keys (head × nodes + tail): arc, element, and how many of its links that
        takes."""
        nodes = len(self.devices)
        a, b = self.a[self.link], self.b[self.link]
        wanted = np.concatenate((b * nodes + a, a * nodes + b))
        at = np.searchsorted(keys, wanted)
        found = np.flatnonzero((at < len(keys)) & (keys[np.minimum(at, len(keys) - 1)] == wanted))
        each, taken = sum_by_key(
            at[found] * self.count + np.tile(self.element, 2)[found], np.ones(len(found), dtype=np.int64)
        )
        return each // self.count, each % self.count, taken

    def _most_taken(self, keys: Ints, key: Ints, element: Ints, amount: Ints) -> Ints:
        """Of every key the most that one element takes."""
        each, taken = sum_by_key(np.searchsorted(keys, key) * self.count + element, amount)
        most = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(most, each // self.count, taken)
        return most

    def _with_failing_devices(self, label: Ints, k: int) -> Ints:
        """The labels with devices that fail and are alone joined to what never fails and has ``k`` links to
        them after every other failure."""
        nodes = len(self.devices)
        stays = np.zeros(nodes, dtype=np.bool_)
        stays[label[~self.fails]] = True
        low, high, total, most = self._links_between(label, of_devices_there=True)
        one = stays[low] != stays[high]
        enough = np.flatnonzero(one & (total - most >= k))
        alone = np.where(stays[low], high, low)[enough]
        home = np.where(stays[low], low, high)[enough]
        single, first = np.unique(alone, return_index=True)
        out = label.copy()
        out[single] = home[first]
        return out

    def _links_between(self, label: Ints, *, of_devices_there: bool = False) -> tuple[Ints, Ints, Ints, Ints]:
        """Between every two labels, lower first: how many links there are, and the most that one element
        takes; of a device that fails and is alone, if asked ``of_devices_there``, one that leaves the
        device."""
        nodes = len(self.devices)
        x, y = label[self.a], label[self.b]
        low, high = np.minimum(x, y), np.maximum(x, y)
        apart = low != high
        keys, total = sum_by_key((low * nodes + high)[apart], np.ones(int(apart.sum()), dtype=np.int64))
        taken = apart[self.link]
        if of_devices_there:  # a label that is alone is the number of its device
            for end in (low, high):
                taken &= ~np.isin(end[self.link] * self.count + self.element, self.gone)
        link, element = self.link[taken], self.element[taken]
        ones = np.ones(len(link), dtype=np.int64)
        most = self._most_taken(keys, low[link] * nodes + high[link], element, ones)
        return keys // nodes, keys % nodes, total, most


def _worst_losses(pair: Ints, element: Ints, pairs: int) -> list[Ints]:
    """What each failure takes between every two parts, of links given by their pair and element; of those
    that take from one pair alone only the one that takes most."""
    keys, amount = sum_by_key(element * max(pairs, 1) + pair, np.ones(len(pair), dtype=np.int64))
    element, pair = keys // max(pairs, 1), keys % max(pairs, 1)
    alone = np.bincount(element)[element] == 1
    most = np.zeros(pairs, dtype=np.int64)
    np.maximum.at(most, pair[alone], amount[alone])
    single = [(np.array([p]), most[p]) for p in np.flatnonzero(most).tolist()]
    begin = np.flatnonzero(np.diff(element[~alone], prepend=-1))
    several = zip(np.split(pair[~alone], begin[1:]), np.split(amount[~alone], begin[1:]), strict=True)
    return [_column_with(pairs, *x) for x in (*single, *several) if len(x[0])]


def _column_with(size: int, at: Ints, value: Ints) -> Ints:
    out = np.zeros(size, dtype=np.int64)
    out[at] = value
    return out


def _tied_parts(low: Ints, high: Ints, links: Ints, k: int, count: int) -> Ints:
    """Of every number below ``count`` a label: the same for parts that no fewer than ``k`` of these links
    separate."""
    parts = np.unique(np.concatenate((low, high)))
    out = np.arange(count)
    some = links > 0
    network = Network.both_ways(
        np.ones(len(parts), dtype=np.bool_),
        np.searchsorted(parts, low[some]),
        np.searchsorted(parts, high[some]),
        links[some],
    )
    groups = inseparable_groups(network, k)
    first = np.unique(groups, return_index=True)[1]
    out[parts] = parts[first[np.searchsorted(groups[first], groups)]]
    return out
