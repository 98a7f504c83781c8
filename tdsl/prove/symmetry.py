"""Symmetry: what is verified before two parts of a design are treated as equivalent.

This is the one place where devices, links or nodes are said to be equivalent; ``symmetry_candidates.py`` and
``automorphisms.py`` only propose permutations. A permutation maps every device to one of the same declaration
and model, built as the first is, in the same place of its container (a chip goes with its host, a switch with
its chassis), and it keeps the multiset of links: their two devices, rate, and the panel or optical switch
that each crosses. What else a requirement reads is declared by its check as ``reads`` and verified, too:

| word | the permutation keeps |
|---|---|
| ``lengths`` | the statement and class that give each link its length, its medium, its length by places |
| ``rails`` | the rail of every link, up to one renaming of all rails |
| ``order`` | the cyclic order of the units (a ring or a shift reads it) |
| ``names`` | every unit (a file names them) |
| ``bundles`` | for every link, how many links its bundle has |

Permutations of the nodes of a network are verified by ``arc_image``; nodes with the same neighbours by
``equal_rows``; networks that are the same column by column by ``identical``. Omitted, overridden and failed
parts make candidates fail; fewer permutations give more orbits, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.layers import scaleup_links, scaleup_network
from tdsl.fabric.rails import link_rail
from tdsl.prove.network import Network, sum_by_key
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

READS = frozenset({"lengths", "rails", "order", "names", "bundles", "domains"})
"""What a requirement may read beyond the devices, their contents, and the capacities between them:
``domains`` are those of scale-up links beside the network."""

Reads = frozenset[str]

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


def orbit_labels(count: int, images: Sequence[Ints]) -> Ints:
    """For every thing the lowest of its orbit under these permutations (the image of every thing)."""
    label = np.arange(count)
    while True:
        before = label.copy()
        for image in images:
            low = np.minimum(label, label[image])
            np.minimum.at(low, image, label)
            label = np.minimum(low, label[low])
        if np.array_equal(before, label):
            return label


def permutation_keeps_view(
    view: View, image: Ints, reads: Reads = frozenset(), fixed: Sequence[Ints] = ()
) -> bool:
    """Whether a permutation of the devices (the image of every one) keeps a view and all that ``reads`` names
    of it."""
    return SymmetryFacts(view, reads, fixed).kept_by(image)


@dataclass(eq=False)  # no slots: the derived columns are kept once computed
class SymmetryFacts:
    """What a permutation has to keep: the columns of a view that a requirement reads."""

    view: View
    reads: Reads
    fixed: Sequence[Ints] = ()

    def __post_init__(self) -> None:
        if not self.reads <= READS:
            raise ValueError(f"unknown words: {sorted(self.reads - READS)}")

    @cached_property
    def device_columns(self) -> list[Ints | Bools]:
        """Facts of every device, equal for a device and its image."""
        f, view = self.view.fabric, self.view
        columns: list[Ints | Bools] = [f.device_set, f.device_model, f.built, f.tier, view.devices, view.core]
        for devices in self.fixed:
            named = np.zeros(f.device_count, dtype=np.bool_)
            named[devices] = True
            columns.append(named)
        return columns

    @cached_property
    def attribute(self) -> Ints:
        """Of every link of the view one number for its rate and all else that is read of it, rails apart."""
        f, rows = self.view.fabric, self.view.rows
        columns = [f.link_rate[rows]]
        if "lengths" in self.reads:
            columns += [f.link_statement[rows], f.link_class[rows], f.link_medium[rows]]
            columns += [f.link_run[rows]] if len(f.link_run) else []
        if "bundles" in self.reads and (f.link_bundle[rows] >= 0).any():
            bundle = f.link_bundle[
                rows
            ]  # how many of its links there are, in all and between its two devices
            columns.append(np.where(bundle >= 0, np.bincount(bundle + 1)[bundle + 1], 0))
            between = number_distinct_rows([bundle, f.device_a[rows], f.device_b[rows]])
            columns.append(np.where(bundle >= 0, np.bincount(between)[between], 0))
        return number_distinct_rows(columns)

    @cached_property
    def rail(self) -> Ints:
        """The rail of every link of the view, -1 where it has none; 0 everywhere if rails are not read."""
        rows = self.view.rows
        return (
            np.asarray(link_rail(self.view.fabric), dtype=np.int64)[rows]
            if "rails" in self.reads
            else np.zeros_like(rows)
        )

    @cached_property
    def vias(self) -> tuple[Ints, Ints] | None:
        """The panels or optical switches that every link of the view crosses, -1 for none; None where no link
        crosses any."""
        f, rows = self.view.fabric, self.view.rows
        ports = f.link_via_a[rows], f.link_via_b[rows]
        if not any((p >= 0).any() for p in ports):
            return None
        one, two = (np.where(p >= 0, f.port_device[p], -1) for p in ports)
        return np.minimum(one, two), np.maximum(one, two)

    def kept_by(self, image: Ints) -> bool:
        """Whether a permutation keeps all of this."""
        count = self.view.fabric.device_count
        if len(image) != count or not np.array_equal(
            np.bincount(image, minlength=count), np.ones(count, dtype=np.int64)
        ):
            return False
        if not all(np.array_equal(column[image], column) for column in self.device_columns):
            return False
        container = self.view.fabric.container
        inside = np.flatnonzero(container >= 0)
        if not np.array_equal(image[container[inside]], container[image[inside]]):
            return False
        if self.beside is not None and not self.beside.kept_by(image):
            return False
        return self._keeps_units(image) and self._keeps_links(image)

    @cached_property
    def beside(self) -> SymmetryFacts | None:
        """What a permutation has to keep of the scale-up links beside the network; None where they are not
        read."""
        whole = self.view.fabric.whole
        up = scaleup_network(whole) if whole is not None and "domains" in self.reads else None
        if whole is None or up is None:
            return None
        gone = self.view.failed if self.view.failed is not None else np.zeros(up.device_count, dtype=np.bool_)
        rows = np.flatnonzero(~self.view.lost_beside[scaleup_links(whole)])
        return SymmetryFacts(View(up, up.built & ~gone, up.built & ~gone, rows), frozenset())

    def _keeps_units(self, image: Ints) -> bool:
        """Whether it keeps what is read of the units' order and names, before and after failures."""
        for view in filter(None, (self.view, self.view.intact)):
            units = view.units
            if "names" in self.reads and not np.array_equal(image[units], units):
                return False
            if "order" in self.reads and len(units):
                place = np.full(view.fabric.device_count, -1, dtype=np.int64)
                place[units] = np.arange(len(units))
                turned = place[image[units]]
                if not np.array_equal(turned, (np.arange(len(units)) + turned[0]) % len(units)):
                    return False
        return True

    def _keeps_links(self, image: Ints) -> bool:
        """Whether it keeps the multiset of links, with one renaming of all rails if they are read."""
        view = self.view
        a, b = view.a, view.b
        changed = image != np.arange(len(image))
        moved = changed[a] | changed[b]
        if self.vias is not None:
            for via in self.vias:
                moved |= (via >= 0) & changed[via]
        renamed = self._renamed_rails(image, np.flatnonzero(moved)) if "rails" in self.reads else None
        if renamed is None and "rails" in self.reads:
            return False
        if renamed is not None and (renamed != np.arange(len(renamed))).any():
            moved |= renamed[self.rail] != self.rail
        rows = np.flatnonzero(moved)
        rail = self.rail[rows] if renamed is None else renamed[self.rail[rows]]
        before = self._keys(rows, np.arange(len(image)), self.rail[rows])
        after = self._keys(rows, image, rail)
        return all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))

    def _keys(self, rows: Ints, image: Ints, rail: Ints) -> list[Ints]:
        """Sorted columns that describe these links after a permutation; -1 is its own image."""
        a, b = image[self.view.a[rows]], image[self.view.b[rows]]
        columns = [self.attribute[rows], rail, np.minimum(a, b), np.maximum(a, b)]
        if self.vias is not None:
            one, two = (np.where(v[rows] >= 0, image[v[rows]], -1) for v in self.vias)
            columns += [np.minimum(one, two), np.maximum(one, two)]
        order = np.lexsort(columns[::-1])
        return [c[order] for c in columns]

    def _renamed_rails(self, image: Ints, rows: Ints) -> Ints | None:
        """The renaming of rails that a permutation asks for, read off the links it moves (the last place is
        for -1); None if they ask for none that is one."""
        width = int(self.rail.max(initial=-1)) + 1
        identity = np.append(np.arange(width), -1)
        if not width or not len(rows):
            return identity
        n = len(image)
        a, b, rail = self.view.a, self.view.b, self.rail
        low, high = np.minimum(a[rows], b[rows]), np.maximum(a[rows], b[rows])
        keys = low * n + high
        ia, ib = image[a[rows]], image[b[rows]]
        wanted = np.minimum(ia, ib) * n + np.maximum(ia, ib)
        # parallel links of several rails between two devices: the lowest rail goes to the lowest, and so on
        source = rail[rows][np.lexsort((rail[rows], wanted))]
        target = rail[rows][np.lexsort((rail[rows], keys))]
        if not np.array_equal(np.sort(keys), np.sort(wanted)) or ((source < 0) != (target < 0)).any():
            return None
        out = identity.copy()
        out[source] = target
        out[-1] = -1
        return out if len(np.unique(out[:width])) == width else identity


def number_distinct_rows(columns: Sequence[Ints]) -> Ints:
    """One number for every different row of some columns."""
    out = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        value = np.unique(column, return_inverse=True)[1]
        out = np.unique(out * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1].astype(
            np.int64
        )
    return out


# ---------------------------------------------------------------- networks


def arc_image(network: Network, image: Ints, weight: Ints | None = None) -> Ints | None:
    """Where a permutation of the nodes (the image of every one) takes every arc; None unless it is a
    permutation and keeps the ``weight`` of every node, whether it forwards, and all arcs with their
    capacities. This is the one verification of permutations of a network."""
    n = network.nodes
    if len(image) != n or not np.array_equal(np.sort(image), np.arange(n)):
        return None
    if not np.array_equal(network.forwards[image], network.forwards):
        return None
    if weight is not None and not np.array_equal(weight[image], weight):
        return None
    keys = (
        network.head * n + network.tail
    )  # ascending, each once: what is found for every arc is a permutation of the arcs
    moved = image[network.head] * n + image[network.tail]
    at = np.minimum(np.searchsorted(keys, moved), max(len(keys) - 1, 0))
    kept = np.array_equal(keys[at], moved) and np.array_equal(network.capacity[at], network.capacity)
    return at if kept else None


def equivalent_nodes(network: Network, members: Ints) -> list[Ints]:
    """Members in classes of nodes that have the same neighbours by the same capacities, in order of their
    lowest. Every arc has one back with the same capacity."""
    label = equal_rows(np.zeros(network.nodes, dtype=np.int64), network.head, network.tail, network.capacity)[
        members
    ]
    order = np.argsort(label, kind="stable")
    found = np.split(members[order], np.flatnonzero(np.diff(label[order])) + 1) if len(members) else []
    return sorted(found, key=lambda c: int(c[0]))


def first_of_equivalent_nodes(network: Network, members: Ints) -> Ints:
    """Of every class of ``equivalent_nodes`` the lowest."""
    label = equal_rows(np.zeros(network.nodes, dtype=np.int64), network.head, network.tail, network.capacity)
    lowest = np.full(network.nodes, network.nodes, dtype=np.int64)
    np.minimum.at(lowest, label[members], members)
    return np.sort(lowest[lowest < network.nodes])


def equal_rows(label: Ints, owner: Ints, other: Ints, amount: Ints) -> Ints:
    """Of every node the first of its label that has the same rows; a row gives its ``owner`` an amount for
    some other.

    Rows are compared as a whole, whatever a hash says. Nodes with the same rows are not adjacent to each
    other, so exchanging two of them is a permutation that keeps all arcs.
    """
    size, width = len(label), int(other.max(initial=0)) + 1
    keys, total = sum_by_key(owner * width + other, amount)
    owner, other = keys // width, keys % width
    start = np.searchsorted(owner, np.arange(size + 1))
    sums = np.concatenate(
        (
            np.zeros(1, dtype=np.uint64),
            np.cumsum(_pseudorandom_words(_pseudorandom_words(other) ^ total.astype(np.uint64))),
        )
    )
    facts = np.stack(
        (label.astype(np.uint64), np.diff(start).astype(np.uint64), sums[start[1:]] - sums[start[:-1]])
    )
    order = np.lexsort(facts)
    fresh = np.ones(size, dtype=np.bool_)
    fresh[1:] = (facts[:, order[1:]] != facts[:, order[:-1]]).any(axis=0)
    first = np.empty(size, dtype=np.int64)
    first[order] = order[fresh][np.cumsum(fresh) - 1]
    at = start[first[owner]] + np.arange(len(owner)) - start[owner]
    wrong = owner[(other != other[at]) | (total != total[at])]  # the sums are equal, the rows are not
    first[wrong] = wrong
    return first


def equal_demands(label: Ints, source: Ints, target: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Of every node the first of its label that sends the same amounts to the same classes of receivers; and
    the first that receives the same from the same classes of senders: the coarsest equitable partition, found
    by refinement (Grohe, Kersting, Mladenov and Selman, ESA 2014)."""
    out, into, known = label, label, 0
    while (found := len(np.unique(out)) + len(np.unique(into))) > known:
        known = found
        out, into = (
            equal_rows(out, source, into[target], amount),
            equal_rows(into, target, out[source], amount),
        )
    return out, into


def same_network(one: Network, other: Network) -> bool:
    """Whether two networks have the same nodes and arcs, by number, with the same capacities: what is proved
    of one is proved of the other."""
    return one.same_arcs(other) and np.array_equal(one.forwards, other.forwards)


def columns_as_key(*columns: Ints) -> tuple[bytes, ...]:
    """Some columns as a key of a dictionary: equal for networks that are the same column by column."""
    return tuple(x.tobytes() for x in columns)


def _pseudorandom_words(x: Ints | Words) -> Words:
    """Pseudorandom numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
    2014)."""
    z = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
