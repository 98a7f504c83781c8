"""Orbits of the elements that a requirement names, under verified permutations of all devices.

Candidates come from the design (``symmetry_candidates.py``); ``symmetry.Facts`` verifies each. ``reads``
None, no list of what is read, makes every element an orbit of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import comb

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Ints
from tdsl.fabric.rails import link_rail
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.symmetry import Reads, SymmetryFacts, number_distinct_rows, orbit_labels
from tdsl.prove.symmetry_candidates import candidates_of_design
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Verified permutations as far as they move the elements of a selector: each gives every element's image
    by its place, and in ``images`` every device's."""

    count: int
    generators: tuple[Ints, ...]
    images: tuple[Ints, ...] = ()

    def orbits(self) -> list[list[int]]:
        """Classes of elements that permutations map onto each other, lowest first."""
        return _places_by_label(orbit_labels(self.count, self.generators))

    def sets(self, size: int, budget: Budget = DEFAULT) -> list[tuple[int, ...]] | None:
        """One of every class of sets of ``size`` elements, lowest first; None where there are too many
        sets."""
        if comb(self.count, size) > budget.symmetry_sets or self.count**size > 1 << 62:
            return None
        chosen = np.array(list(combinations(range(self.count), size)), dtype=np.int64).reshape(-1, size)
        digits = self.count ** np.arange(size - 1, -1, -1, dtype=np.int64)
        keys = chosen @ digits
        images = [np.searchsorted(keys, np.sort(g[chosen], axis=1) @ digits) for g in self.generators]
        return [tuple(chosen[c[0]].tolist()) for c in _places_by_label(orbit_labels(len(keys), images))]

    def pairs(self) -> list[tuple[int, ...]]:
        """One of every class of unordered pairs, lowest first."""
        return self.sets(2) or []


def _places_by_label(label: Ints) -> list[list[int]]:
    out: dict[int, list[int]] = {}
    for i, at in enumerate(label.tolist()):
        out.setdefault(at, []).append(i)
    return list(out.values())


def symmetry_of_elements(
    view: View,
    elements: Sequence[FabricElement],
    reads: Reads | None,
    fixed: Sequence[Ints] = (),
    single: bool = False,
) -> Symmetry:
    """Verified permutations that map these elements onto each other.

    ``reads`` are words of READS, None for no symmetry. ``fixed`` are sets of devices that a requirement
    names; each is kept as a set. ``single``: only orbits of single elements are asked for, so a candidate
    that joins none is left out.
    """
    at = _places_if_exchangeable(view, elements, reads)
    if at is None or reads is None:
        return Symmetry(len(elements), ())
    facts = SymmetryFacts(view, reads, fixed)
    found, images, work = at.parallel(), [], view.budget.symmetry_work
    label = np.arange(len(elements))
    for g in found if single else ():
        label = _merge_orbits(label, g)
    for image in candidates_of_design(view, elements):
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
                label = _merge_orbits(label, moved)
                if not label.any():
                    break
    return Symmetry(len(elements), tuple(found), tuple(images))


def _places_if_exchangeable(
    view: View, elements: Sequence[FabricElement], reads: Reads | None
) -> _Places | None:
    """The places of elements; None where no symmetry is asked for, or there is none of such elements."""
    if reads is None or len(elements) < 2:
        return None
    at = _Places.of(view, elements)
    return None if at is None or ("bundles" in reads and _in_bundles(view, elements)) else at


def _in_bundles(view: View, elements: Sequence[FabricElement]) -> bool:
    """Whether some element is made of links that belong to bundles: parallel links are then not
    interchangeable."""
    return any((view.fabric.link_bundle[e.links] >= 0).any() for e in elements)


def _merge_orbits(label: Ints, moved: Ints) -> Ints:
    """Labels of elements (the lowest of its orbit each) after one more permutation of them."""
    return orbit_labels(len(label), [label, moved])


@dataclass(eq=False)
class _Places:
    """Elements by what they fail: devices, or links as the pair of devices that each joins, its attributes
    and what it crosses.

    Elements of links that are equal in this are interchangeable, since parallel links are; the k-th of them
    goes to the k-th of the image's; ``key_beside`` are the attributes of links beside the network. ``at``
    gives the places of equal elements; ``single`` the place of a device, where elements are single devices.
    """

    view: View
    elements: Sequence[FabricElement]
    key_of_link: Ints
    at: dict[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], list[int]]
    single: Ints | None
    key_beside: Ints

    @classmethod
    def of(cls, view: View, elements: Sequence[FabricElement]) -> _Places | None:
        """Read elements; None where they overlap in links, so that which goes where is not known."""
        f = view.fabric
        none = np.zeros(0, dtype=np.int64)
        if all(len(e.devices) == 1 and not len(e.links) and not len(e.beside) for e in elements):
            single = np.full(f.device_count, -1, dtype=np.int64)
            single[[int(e.devices[0]) for e in elements]] = np.arange(len(elements))
            return cls(view, elements, none, {}, single, none)
        for rows in ([e.links for e in elements], [e.beside for e in elements]):
            links = np.concatenate([none, *rows])
            if len(np.unique(links)) != len(links):
                return None
        keys = [
            number_distinct_rows([g.link_rate, g.link_statement, g.link_class, g.link_medium, link_rail(g)])
            for g in (f, f.whole or f)
        ]
        out = cls(view, elements, keys[0], {}, None, keys[1])
        identity = np.arange(f.device_count)
        for i, e in enumerate(elements):
            out.at.setdefault(out._key(e, identity), []).append(i)
        return out

    def _key(self, e: FabricElement, image: Ints) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        f = self.view.fabric
        rows: list[tuple[int, ...]] = []
        for g, links, key in ((f, e.links, self.key_of_link), (f.whole or f, e.beside, self.key_beside)):
            if not len(links):
                continue
            a, b = image[g.device_a[links]], image[g.device_b[links]]
            columns = [np.minimum(a, b), np.maximum(a, b), key[links]]
            for via in (g.link_via_a[links], g.link_via_b[links]):
                columns.append(np.where(via >= 0, image[g.port_device[via]], -1))
            rows += zip([int(g is not f)] * len(links), *(c.tolist() for c in columns), strict=True)
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
