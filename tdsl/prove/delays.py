"""Zero-load delay between ends: switches passed, length of cable, and what the ends take themselves.

What a design does not say counts as nothing and is named once: what the rest adds up to is a floor of the
delay.

Delays are whole femtoseconds, so that sums are exact. Light in fibre takes 4.9 ns a metre (group index 1.468
of G.652 fibre at 1,550 nm over 299,792,458 m/s); in twinaxial copper it is 4.2 to 4.8 ns, so 4.9 is never too
little.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.bound import Bound, Delay, NotBounded, Searches, WitnessPath
from tdsl.prove.network import Network
from tdsl.prove.shortest_paths import FAR, Forwarders, classes_of, distances_in_chunks, search_is_affordable
from tdsl.prove.view import View
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, TIME, Quantity

SECOND = 10**15
"""Femtoseconds."""

METRE = 4_900_000
"""Femtoseconds of a metre of cable."""


def worst_delay(view: View) -> Delay | NotBounded | None:
    """The worst zero-load delay between two ends that reach each other; None if there are no two. It is not
    bounded where a length or a latency is missing, or the search is too much; what is ``known`` is then a
    floor: the worst over pairs of the least sum of the parts that are stated."""
    f, net = view.fabric, Forwarders.of(view)
    length, unknown = cable_delays(f, view.rows)
    own, silent = own_delays(f, view)
    missing = [f"{n:,} {name} {'has' if n == 1 else 'have'} no `latency`" for name, n in silent]
    if unknown:
        missing.append(f"{unknown:,} links have no `length`" if unknown > 1 else "one link has no `length`")
    graph, weight = net.graph, _step_delays(view, net, length, own)
    if (int(own.max(initial=0)) + int(length.max(initial=0))) * (graph.nodes + 2) >= FAR:
        return NotBounded((*missing, "the delays are too great to add up"))
    if not search_is_affordable(graph, int(net.access.sum()), view.budget):
        return NotBounded((*missing, "the search is more work than the limit"))
    best = _greatest_end_delay(
        net, graph, weight, _longest_access_delays(view, net, length, own), own[net.devices]
    )
    if best is None:
        return None
    worst, source, target = best
    seconds = Fraction(worst, SECOND)
    if missing:
        return NotBounded(tuple(missing), seconds)
    way = _least_delay_path(graph, weight, source, target)
    return Bound(seconds, seconds, WitnessPath(tuple(net.devices[np.array(way)].tolist())), Searches())


def delay_floor(view: View) -> Fraction:
    """Seconds that the farthest two ends are apart at least: the greatest over pairs of the least delay by
    what is stated; 0 where no two reach each other, or nothing is known."""
    found = worst_delay(view)
    return Fraction(0) if found is None else found.known if isinstance(found, NotBounded) else found.lower


def least_delay_between(view: View, here: Bools, there: Bools) -> Fraction | None:
    """Seconds from any of these ends to any of those at least, by what is stated; None where none reaches
    another, or the search is more work than the limit."""
    f, net = view.fabric, Forwarders.of(view)
    length, _ = cable_delays(f, view.rows)
    own, _ = own_delays(f, view)
    best = _least_link_delay(view, here, there, length, own)
    starts, ends = (_shortest_access_delays(view, net, s, length, own) for s in (here, there))
    sources = np.flatnonzero(starts < FAR)
    too_great = (int(own.max(initial=0)) + int(length.max(initial=0))) * (net.graph.nodes + 2) >= FAR
    if too_great or not search_is_affordable(net.graph, len(sources), view.budget):
        return None
    weight = _step_delays(view, net, length, own)
    for tops, far in distances_in_chunks(net.graph, weight, sources):
        for i, s in enumerate(tops.tolist()):
            reach = np.flatnonzero((far[:, i] < FAR) & (ends < FAR))
            if len(reach):
                before = int(starts[s] + own[net.devices[s]])
                best = min(best, before + int((far[reach, i] + ends[reach]).min()))
    return Fraction(best, SECOND) if best < FAR else None


def stated_end_delays(view: View) -> list[tuple[str, Fraction | None]]:
    """The models of the ends that forward nothing, and the seconds that such an end is said to take itself;
    None where nothing is said, which counts as nothing."""
    f, units = view.fabric, view.units
    ends = units[~view.forwards[units]]
    found = np.unique(np.stack((f.device_model[ends], _stated_latencies(f)[ends])), axis=1).T.tolist()
    return [(f.models[m].name, None if t < 0 else Fraction(t, SECOND)) for m, t in found]


def time_of(model: DeviceModel) -> int | None:
    """What a model says of its latency, in femtoseconds; None if it does not, or if what it says is not a
    time."""
    return _femtoseconds(model.facts.get("latency"))


def _femtoseconds(said: object) -> int | None:
    """A time in whole femtoseconds, rounded up; None of what is none."""
    if not isinstance(said, Quantity) or said.dim != TIME:
        return None
    return min(int(-(-said.amount * SECOND // 1)), FAR)


def _stated_latencies(f: Fabric) -> Ints:
    """What every device is said to take itself, in femtoseconds: by its declaration, else by its model; -1
    where neither says."""
    by_model = np.array([-1 if t is None else t for t in map(time_of, f.models)] or [-1], dtype=np.int64)
    by_set = [_femtoseconds(s.settings.get("latency")) for s in f.sets]
    declared = np.array([-1 if t is None else t for t in by_set] or [-1], dtype=np.int64)[f.device_set]
    return np.where(declared >= 0, declared, by_model[f.device_model])


def own_delays(f: Fabric, view: View) -> tuple[Ints, list[tuple[str, int]]]:
    """What every device takes itself, 0 if not known, and by name of the model how many forwarding devices do
    not say."""
    said = _stated_latencies(f)
    passed = view.forwards & view.devices & (view.degree > 0) & (said < 0)
    used, count = np.unique(f.device_model[passed], return_counts=True)
    silent: dict[str, int] = {}
    for m, n in zip(used.tolist(), count.tolist(), strict=True):
        silent[f.models[m].name] = silent.get(f.models[m].name, 0) + n
    return np.maximum(said, 0), list(silent.items())


def cable_delays(f: Fabric, rows: Ints) -> tuple[Ints, int]:
    """Delay of the cable of every link, both cables of one through a panel, and how many links have none. A
    length is what the connect states, else what places ask for."""
    metres = np.full((len(f.statements), max(len(f.classes), 1)), -1, dtype=np.int64)
    for i, s in enumerate(f.statements):
        said = s.settings.get("length")
        for c, name in enumerate(f.classes):
            one = _value_of_class(said, s.settings.get("class"), name)
            if isinstance(one, Quantity) and one.dim == LENGTH:
                metres[i, c] = min(-(-one.amount * METRE // 1), FAR)
    out = (
        metres[f.link_statement[rows], f.link_class[rows]]
        if len(f.statements)
        else np.full(len(rows), -1, dtype=np.int64)
    )
    out = np.where(out < 0, out, out * np.where(f.link_via_a[rows] >= 0, 2, 1))
    if len(f.link_run):  # what a connect states is used first
        run = np.minimum(f.link_run[rows], 10**14)  # 100,000 km: no overflow
        out = np.where((out < 0) & (run >= 0), -(-run * (METRE // 100) // 10_000), out)
    return np.where(out < 0, 0, out), int((out < 0).sum())


def _value_of_class(said: object, classes: object, name: str) -> object:
    """A setting's value for one link class, where it has one a dimension."""
    if not isinstance(said, tuple):
        return said
    if isinstance(classes, Sequence) and len(classes) == len(said) and name in classes:
        return said[list(classes).index(name)]
    return None


def _step_delays(view: View, net: Forwarders, length: Ints, own: Ints) -> Ints:
    """What each step of the graph takes: the shortest of parallel cables, and the device that is entered."""
    graph, t = net.graph, view.trunks
    a, b = net.place[view.a[t]], net.place[view.b[t]]
    head = graph.head
    keys = head * graph.nodes + graph.tail
    cable = np.full(len(keys), FAR, dtype=np.int64)
    for x, y in ((a, b), (b, a)):
        differ = x != y
        np.minimum.at(cable, np.searchsorted(keys, x[differ] * graph.nodes + y[differ]), length[t][differ])
    weights: Ints = cable + own[net.devices][head]
    return weights


def _least_link_delay(view: View, here: Bools, there: Bools, length: Ints, own: Ints) -> int:
    """The least delay of a link from one set to the other between ends that forward nothing, FAR where none
    joins them."""
    a, b = view.a, view.b
    ends = ~view.forwards[a] & ~view.forwards[b]
    mine = np.flatnonzero(ends & ((here[a] & there[b]) | (here[b] & there[a])))
    return int((own[a[mine]] + own[b[mine]] + length[mine]).min(initial=FAR))


def _shortest_access_delays(view: View, net: Forwarders, ends: Bools, length: Ints, own: Ints) -> Ints:
    """The shortest way from some end of a set to every node: its own delay and its cable, 0 at a device of
    the set itself; FAR where there is none."""
    out = np.full(net.graph.nodes, FAR, dtype=np.int64)
    for x, y in ((view.a, view.b), (view.b, view.a)):
        mine = ends[x] & ~view.forwards[x] & view.forwards[y]
        np.minimum.at(out, net.place[y[mine]], own[x[mine]] + length[mine])
    out[ends[net.devices]] = 0
    return out


def _longest_access_delays(view: View, net: Forwarders, length: Ints, own: Ints) -> Ints:
    """The two longest ways from an end to every node, its own delay and its cable: two rows, -1 where there
    are fewer ends. A chip that forwards is its own end: what it takes is counted as it is entered or left,
    and no second end is there."""
    out = np.full((2, net.graph.nodes), -1, dtype=np.int64)
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    parts = []
    for x, y in ((view.a, view.b), (view.b, view.a)):
        mine = unit[x] & ~view.forwards[x] & view.forwards[y]
        parts.append((net.place[y[mine]], own[x[mine]] + length[mine]))
    inner = view.units[view.forwards[view.units]]
    parts.append((net.place[inner], np.zeros(len(inner), dtype=np.int64)))
    node, time = (np.concatenate([p[i] for p in parts]) for i in (0, 1))
    order = np.lexsort((-time, node))
    node, time = node[order], time[order]
    rank = np.arange(len(node)) - np.searchsorted(node, node)
    for r in (0, 1):
        out[r, node[rank == r]] = time[rank == r]
    return out


def _greatest_end_delay(
    net: Forwarders, graph: Network, weight: Ints, ends: Ints, own: Ints
) -> tuple[int, int, int] | None:
    """The greatest delay between two ends, and the nodes that they are connected to."""
    best: tuple[int, int, int] | None = None
    pairs = np.flatnonzero(ends[1] >= 0)
    if len(pairs):  # two ends of one node
        there = ends[0][pairs] + ends[1][pairs] + own[pairs]
        v = int(np.argmax(there))
        best = (int(there[v]), int(pairs[v]), int(pairs[v]))
    classes = classes_of(net, weight - np.repeat(own, np.diff(graph.start)))
    members: dict[int, Ints] = {int(c[0]): c for c in classes}
    for sources, far in distances_in_chunks(graph, weight, np.array(list(members), dtype=np.int64)):
        for i, s in enumerate(sources.tolist()):
            mine = members[s]
            top = int(mine[np.argmax(ends[0][mine] + own[mine])])
            reach = (far[:, i] < FAR) & (ends[0] >= 0)
            for source, wanted in (
                (top, ~np.isin(np.arange(graph.nodes), mine)),
                (s, np.arange(graph.nodes) != s),
            ):
                to = np.flatnonzero(reach & wanted)
                if not len(to):
                    continue
                there = far[to, i] + ends[0][to] + int(ends[0][source] + own[source])
                v = int(np.argmax(there))
                if best is None or there[v] > best[0]:
                    best = (int(there[v]), source, int(to[v]))
            if len(mine) > 2 and far[mine[1], i] < FAR:  # two nodes equivalent to the source
                order = mine[np.argsort(-(ends[0][mine] + own[mine]), kind="stable")]
                one, two = int(order[0]), int(order[1])
                between = int(far[mine[1], i] - own[mine[1]])
                time = int(ends[0][one] + own[one] + ends[0][two] + own[two]) + between
                if best is None or time > best[0]:
                    best = (time, one, two)
    return best


def _least_delay_path(graph: Network, weight: Ints, source: int, target: int) -> list[int]:
    """Nodes on a path of least delay, and among those of fewest steps."""
    far = next(distances_in_chunks(graph, weight, np.array([source], dtype=np.int64)))[1][:, 0]
    after = {target: target}
    front = [target]
    while source not in after:
        following = []
        for v in front:
            steps = slice(int(graph.start[v]), int(graph.start[v + 1]))
            before = graph.tail[steps]
            for w in before[far[before] + weight[steps] == far[v]].tolist():
                if w not in after:
                    after[w] = v
                    following.append(w)
        front = following
    way = [source]
    while way[-1] != target:
        way.append(after[way[-1]])
    return way
