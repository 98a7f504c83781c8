"""Symmetry of a view: permutations of its devices, each verified against what a requirement reads, and the orbits they make.

This is the one place where elements of a design are said to be equivalent. A permutation maps every device to one of the same
declaration and model, built as the first is, in the same place of its container (a chip goes with its host, a switch with its
chassis), and it keeps the multiset of links: their two devices, rate, and the panel or optical switch that each crosses. What
else a requirement reads is declared by its check as ``reads`` and verified, too:

| word | the permutation keeps |
|---|---|
| ``lengths`` | the statement and class that give each link its length, its medium, its length by places |
| ``rails`` | the rail of every link, up to one renaming of all rails |
| ``order`` | the cyclic order of the units (a ring or a shift reads it) |
| ``names`` | every unit (a file names them) |

No list of words, no symmetry: ``reads`` None makes every element an orbit of its own. Candidates come from the design: two
instances of a group or declaration next to each other, one step along an axis, two devices with the same neighbours. Omitted,
overridden and failed parts make candidates fail; fewer generators give more orbits, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from math import comb

import numpy as np

from tdsl.fabric.claims import Element
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.rails import link_rail
from tdsl.prove import symmetry_candidates as candidates
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network, summed
from tdsl.prove.view import View

READS = frozenset({"lengths", "rails", "order", "names", "bundles"})
"""What a requirement may read beyond the devices, their contents, and the capacities between them."""

Reads = frozenset[str]

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Verified permutations as far as they move the elements of a selector: each gives every element's image by its place, and
    in ``images`` every device's."""

    count: int
    generators: tuple[Ints, ...]
    images: tuple[Ints, ...] = ()

    def orbits(self) -> list[list[int]]:
        """Classes of elements that permutations map onto each other, lowest first."""
        return _classes(orbit_labels(self.count, self.generators))

    def sets(self, size: int, budget: Budget = DEFAULT) -> list[tuple[int, ...]] | None:
        """One of every class of sets of ``size`` elements, lowest first; None where there are too many sets."""
        if comb(self.count, size) > budget.symmetry_sets or self.count**size > 1 << 62:
            return None
        chosen = np.array(list(combinations(range(self.count), size)), dtype=np.int64).reshape(-1, size)
        digits = self.count ** np.arange(size - 1, -1, -1, dtype=np.int64)
        keys = chosen @ digits
        images = [np.searchsorted(keys, np.sort(g[chosen], axis=1) @ digits) for g in self.generators]
        return [tuple(chosen[c[0]].tolist()) for c in _classes(orbit_labels(len(keys), images))]

    def pairs(self) -> list[tuple[int, ...]]:
        """One of every class of unordered pairs, lowest first."""
        return self.sets(2) or []


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


def _classes(label: Ints) -> list[list[int]]:
    out: dict[int, list[int]] = {}
    for i, at in enumerate(label.tolist()):
        out.setdefault(at, []).append(i)
    return list(out.values())


def symmetry(
    view: View, elements: Sequence[Element], reads: Reads | None, fixed: Sequence[Ints] = (), single: bool = False
) -> Symmetry:
    """Verified permutations that map these elements onto each other.

    ``reads`` are words of READS, None for no symmetry. ``fixed`` are sets of devices that a requirement names; each is kept as a
    set. ``single``: only orbits of single elements are asked for, so a candidate that joins none is left out.
    """
    none = Symmetry(len(elements), ())
    if reads is None or len(elements) < 2:
        return none
    at = _Places.of(view, elements)
    if at is None or ("bundles" in reads and _in_bundles(view, elements)):
        return none
    facts = Facts(view, reads, fixed)
    found, images, work = at.parallel(), [], view.budget.symmetry_work
    label = np.arange(len(elements))
    for g in found if single else ():
        label = _joined(label, g)
    for image in candidates.of_design(view, elements):
        moved = at.moved(image)
        if moved is None or (single and (label[moved] == label).all()):
            continue
        work -= len(view.rows) + view.fabric.device_count
        if work < 0:
            break
        if facts.kept_by(image):
            found.append(moved)
            images.append(image)
            if single:
                label = _joined(label, moved)
                if not label.any():
                    break
    return Symmetry(len(elements), tuple(found), tuple(images))


def _in_bundles(view: View, elements: Sequence[Element]) -> bool:
    """Whether some element is made of links that belong to bundles: parallel links are then not interchangeable."""
    return any((view.fabric.link_bundle[e.links] >= 0).any() for e in elements)


def _joined(label: Ints, moved: Ints) -> Ints:
    """Labels of elements (the lowest of its orbit each) after one more permutation of them."""
    return orbit_labels(len(label), [label, moved])


def keeps(view: View, image: Ints, reads: Reads = frozenset(), fixed: Sequence[Ints] = ()) -> bool:
    """Whether a permutation of the devices (the image of every one) keeps a view and all that ``reads`` names of it."""
    return Facts(view, reads, fixed).kept_by(image)


# ---------------------------------------------------------------- verification


@dataclass(eq=False)  # no slots: the derived columns are kept once computed
class Facts:
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
            bundle = f.link_bundle[rows]
            columns.append(np.where(bundle >= 0, np.bincount(bundle + 1)[bundle + 1], 0))  # how many of its links there are
        return _numbered(columns)

    @cached_property
    def rail(self) -> Ints:
        """The rail of every link of the view, -1 where it has none; 0 everywhere if rails are not read."""
        rows = self.view.rows
        return np.asarray(link_rail(self.view.fabric), dtype=np.int64)[rows] if "rails" in self.reads else np.zeros_like(rows)

    @cached_property
    def vias(self) -> tuple[Ints, Ints] | None:
        """The panels or optical switches that every link of the view crosses, -1 for none; None where no link crosses any."""
        f, rows = self.view.fabric, self.view.rows
        ports = f.link_via_a[rows], f.link_via_b[rows]
        if not any((p >= 0).any() for p in ports):
            return None
        one, two = (np.where(p >= 0, f.port_device[p], -1) for p in ports)
        return np.minimum(one, two), np.maximum(one, two)

    def kept_by(self, image: Ints) -> bool:
        """Whether a permutation keeps all of this."""
        count = self.view.fabric.device_count
        if len(image) != count or not np.array_equal(np.bincount(image, minlength=count), np.ones(count, dtype=np.int64)):
            return False
        if not all(np.array_equal(column[image], column) for column in self.device_columns):
            return False
        container = self.view.fabric.container
        inside = np.flatnonzero(container >= 0)
        if not np.array_equal(image[container[inside]], container[image[inside]]):
            return False
        return self._keeps_units(image) and self._keeps_links(image)

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
        """The renaming of rails that a permutation asks for, read off the links it moves (the last place stands for -1); None
        if they ask for none that is one."""
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


def _numbered(columns: Sequence[Ints]) -> Ints:
    """One number for every different row of some columns."""
    out = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        value = np.unique(column, return_inverse=True)[1]
        out = np.unique(out * (int(value.max(initial=0)) + 1) + value, return_inverse=True)[1].astype(np.int64)
    return out


# ---------------------------------------------------------------- elements


@dataclass(eq=False)
class _Places:
    """Elements by what they fail: devices, or links as the pair of devices that each joins, its attributes and what it crosses.

    Elements of links that are equal in this are interchangeable, since parallel links are; the k-th of them goes to the k-th of
    the image's. ``at`` gives the places of equal elements; ``single`` the place of a device, where elements are single devices.
    """

    view: View
    elements: Sequence[Element]
    key_of_link: Ints
    at: dict[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], list[int]]
    single: Ints | None

    @classmethod
    def of(cls, view: View, elements: Sequence[Element]) -> _Places | None:
        """Read elements; None where they overlap in links, so that which goes where is not known."""
        f = view.fabric
        none = np.zeros(0, dtype=np.int64)
        if all(len(e.devices) == 1 and not len(e.links) for e in elements):
            single = np.full(f.device_count, -1, dtype=np.int64)
            single[[int(e.devices[0]) for e in elements]] = np.arange(len(elements))
            return cls(view, elements, none, {}, single)
        links = np.concatenate([none, *(e.links for e in elements)])
        if len(np.unique(links)) != len(links):
            return None
        out = cls(view, elements, _numbered([f.link_rate, f.link_statement, f.link_class, f.link_medium, link_rail(f)]), {}, None)
        identity = np.arange(f.device_count)
        for i, e in enumerate(elements):
            out.at.setdefault(out._key(e, identity), []).append(i)
        return out

    def _key(self, e: Element, image: Ints) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        f = self.view.fabric
        if not len(e.links):
            return tuple(sorted(image[e.devices].tolist())), ()
        a, b = image[f.device_a[e.links]], image[f.device_b[e.links]]
        columns = [np.minimum(a, b), np.maximum(a, b), self.key_of_link[e.links]]
        for via in (f.link_via_a[e.links], f.link_via_b[e.links]):
            columns.append(np.where(via >= 0, image[f.port_device[via]], -1))
        rows = zip(*(c.tolist() for c in columns), strict=True)
        return tuple(sorted(image[e.devices].tolist())), tuple(sorted(rows))

    def parallel(self) -> list[Ints]:
        """Exchanges of elements whose links are parallel and equal in all: no device moves."""
        out = []
        for same in self.at.values():
            for low, high in pairwise(same):
                moved = np.arange(len(self.elements))
                moved[[low, high]] = high, low
                out.append(moved)
        return out

    def moved(self, image: Ints) -> Ints | None:
        """Every element's image; None if none moves or one goes to what is not an element."""
        if self.single is not None:
            out = self.single[image[[int(e.devices[0]) for e in self.elements]]]
        else:
            taken: dict[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], int] = {}
            found = []
            for e in self.elements:
                key = self._key(e, image)
                rank = taken.get(key, 0)
                taken[key] = rank + 1
                same = self.at.get(key, [])
                if rank >= len(same):
                    return None
                found.append(same[rank])
            out = np.array(found, dtype=np.int64)
        if (out < 0).any() or np.array_equal(out, np.arange(len(out))):
            return None
        return out


# ---------------------------------------------------------------- networks


def arc_image(network: Network, image: Ints, weight: Ints | None = None) -> Ints | None:
    """Where a permutation of the nodes (the image of every one) takes every arc; None unless it is a permutation and keeps the
    ``weight`` of every node, whether it forwards, and all arcs with their capacities. This is the one verification of
    permutations of a network."""
    n = network.nodes
    if len(image) != n or not np.array_equal(np.sort(image), np.arange(n)):
        return None
    if not np.array_equal(network.forwards[image], network.forwards):
        return None
    if weight is not None and not np.array_equal(weight[image], weight):
        return None
    keys = network.head * n + network.tail  # ascending, each once: what is found for every arc is a permutation of the arcs
    moved = image[network.head] * n + image[network.tail]
    at = np.minimum(np.searchsorted(keys, moved), max(len(keys) - 1, 0))
    kept = np.array_equal(keys[at], moved) and np.array_equal(network.capacity[at], network.capacity)
    return at if kept else None


def transitive(fabric: Fabric, network: Network, devices: Ints) -> bool:
    """Whether verified permutations lead from every node to every other (``devices`` says which device each node is).

    False may also mean that none were found.
    """
    for images in candidates.transitive_candidates(fabric, devices):
        if all(arc_image(network, i) is not None for i in images) and not orbit_labels(network.nodes, images).any():
            return True
    return False


def equivalent_nodes(network: Network, members: Ints) -> list[Ints]:
    """Members in classes of nodes that have the same neighbours by the same capacities, in order of their lowest. Every arc has
    one back with the same capacity."""
    label = equal_rows(np.zeros(network.nodes, dtype=np.int64), network.head, network.tail, network.capacity)[members]
    order = np.argsort(label, kind="stable")
    found = np.split(members[order], np.flatnonzero(np.diff(label[order])) + 1) if len(members) else []
    return sorted(found, key=lambda c: int(c[0]))


def equal_rows(label: Ints, owner: Ints, other: Ints, amount: Ints) -> Ints:
    """Of every node the first of its label that has the same rows; a row gives its ``owner`` an amount for some other.

    Rows are compared as a whole, whatever a hash says. Nodes with the same rows are not adjacent to each other, so exchanging
    two of them is a permutation that keeps all arcs.
    """
    size, width = len(label), int(other.max(initial=0)) + 1
    keys, total = summed(owner * width + other, amount)
    owner, other = keys // width, keys % width
    start = np.searchsorted(owner, np.arange(size + 1))
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(_scattered(_scattered(other) ^ total.astype(np.uint64)))))
    facts = np.stack((label.astype(np.uint64), np.diff(start).astype(np.uint64), sums[start[1:]] - sums[start[:-1]]))
    order = np.lexsort(facts)
    fresh = np.ones(size, dtype=np.bool_)
    fresh[1:] = (facts[:, order[1:]] != facts[:, order[:-1]]).any(axis=0)
    first = np.empty(size, dtype=np.int64)
    first[order] = order[fresh][np.cumsum(fresh) - 1]
    at = start[first[owner]] + np.arange(len(owner)) - start[owner]
    wrong = owner[(other != other[at]) | (total != total[at])]  # the sums are equal, the rows are not
    first[wrong] = wrong
    return first


def _scattered(x: Ints | Words) -> Words:
    """Pseudorandom numbers (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)."""
    z = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
