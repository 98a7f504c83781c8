"""Symmetry of a fabric: exchanges of devices that map the wiring onto itself, and the orbits that they make.

Candidates come from the design: two instances of a group next to each other, two devices that meet the same neighbours, a
step round an axis. Each is verified against the columns: every device goes to one of the same declaration and model, built as
the first is, and the links keep their number and rates between any two. What was omitted, overridden or broken only makes
candidates fail; fewer generators give more orbits, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tdsl.fabric.claims import Element
from tdsl.fabric.graph import Ints
from tdsl.semantics.model import DeviceSet
from tdsl.verify.view import View

WORK = 200_000_000
"""Links that may be looked at; candidates that come later are left out."""


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Exchanges among the elements of a selector: each gives every element's image by its place, and
    in ``images`` every device's."""

    count: int
    generators: tuple[Ints, ...]
    images: tuple[Ints, ...] = ()

    def orbits(self) -> list[list[int]]:
        """Classes of elements that exchanges map onto each other, lowest first."""
        return _classes(np.arange(self.count), self.generators)

    def pairs(self) -> list[tuple[int, int]]:
        """One of every class of unordered pairs, lowest first."""
        n = self.count
        low, high = np.triu_indices(n, 1)
        keys = low * n + high
        images = []
        for g in self.generators:
            a, b = g[low], g[high]
            images.append(np.searchsorted(keys, np.minimum(a, b) * n + np.maximum(a, b)))
        return [(int(low[c[0]]), int(high[c[0]])) for c in _classes(np.arange(len(keys)), images)]


def _classes(items: Ints, images: Sequence[Ints]) -> list[list[int]]:
    label = items.copy()
    while True:
        before = label.copy()
        for image in images:
            low = np.minimum(label, label[image])
            np.minimum.at(low, image, label)
            label = np.minimum(low, label[low])
        if np.array_equal(before, label):
            break
    out: dict[int, list[int]] = {}
    for i, at in enumerate(label.tolist()):
        out.setdefault(at, []).append(i)
    return list(out.values())


def symmetry(view: View, elements: Sequence[Element]) -> Symmetry:
    """Verified exchanges, as far as they move these elements; none of panels and optical switches, since what crosses them is no
    part of what is verified."""
    passive = np.isin(view.fabric.kind, ("ocs", "panel"))
    if any(passive[e.devices].any() for e in elements):
        return Symmetry(len(elements), ())
    at = {tuple(sorted(e.devices.tolist())): i for i, e in enumerate(elements)}
    found, images, budget = [], [], WORK
    for image in _candidates(view, elements):
        moved = _moved(elements, at, image)
        if moved is None:
            continue
        budget -= len(view.rows)
        if budget < 0:
            break
        if keeps(view, image):
            found.append(moved)
            images.append(image)
    return Symmetry(len(elements), tuple(found), tuple(images))


def _moved(elements: Sequence[Element], at: dict[tuple[int, ...], int], image: Ints) -> Ints | None:
    """Every element's image; None if none moves or one goes to what is no element."""
    out = [at.get(tuple(sorted(image[e.devices].tolist())), -1) for e in elements]
    return None if -1 in out or out == list(range(len(elements))) else np.array(out, dtype=np.int64)


def keeps(view: View, image: Ints) -> bool:
    """Whether renaming devices maps the view onto itself, links with their rates."""
    f = view.fabric
    for column in (f.device_set, f.device_model, f.built, view.devices, view.core):
        if not np.array_equal(column[image], column):
            return False
    if not np.array_equal(np.sort(image), np.arange(len(image))):
        return False
    changed = image != np.arange(len(image))
    rows = np.flatnonzero(changed[view.a] | changed[view.b])
    a, b, rate = view.a[rows], view.b[rows], f.link_rate[view.rows[rows]]
    _, rate = np.unique(rate, return_inverse=True)
    return bool(np.array_equal(_keys(a, b, rate, len(image)), _keys(image[a], image[b], rate, len(image))))


def _keys(a: Ints, b: Ints, rate: Ints, n: int) -> Ints:
    keys: Ints = np.sort((rate * n + np.minimum(a, b)) * n + np.maximum(a, b))
    return keys


# ---------------------------------------------------------------- candidates


def _candidates(view: View, elements: Sequence[Element]) -> Iterator[Ints]:
    f = view.fabric
    named = np.zeros(f.device_count, dtype=np.bool_)
    for e in elements:
        named[e.devices] = True
    sets = [f.sets[i] for i in np.unique(f.device_set[named]).tolist()]
    single = np.array([e.devices[0] for e in elements if len(e.devices) == 1], dtype=np.int64)
    for low, high in _twins(view, single):
        image = np.arange(f.device_count)
        image[[low, high]] = high, low
        yield image
    done = set()
    for s in sets:
        for depth in range(1, len(s.parts)):
            prefix = tuple(p.name for p in s.parts[:depth])
            if prefix not in done:
                done.add(prefix)
                alike = [t for t in f.sets if tuple(p.name for p in t.parts[:depth]) == prefix]
                yield from _instances(f.device_count, alike, depth)
        yield from _steps(f.device_count, s)


def _twins(view: View, devices: Ints) -> Iterator[tuple[int, int]]:
    """Devices next to each other of those that have the same links to the same neighbours."""
    f = view.fabric
    near: dict[int, list[tuple[int, int]]] = {d: [] for d in devices.tolist()}
    mine = np.zeros(f.device_count, dtype=np.bool_)
    mine[devices] = True
    rows = np.flatnonzero(mine[view.a] | mine[view.b])
    ends = zip(view.a[rows].tolist(), view.b[rows].tolist(), f.link_rate[view.rows[rows]].tolist(), strict=True)
    for a, b, rate in ends:
        if a in near:
            near[a].append((b, rate))
        if b in near:
            near[b].append((a, rate))
    last: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    for d in devices.tolist():
        key = (int(f.device_set[d]), tuple(sorted(near[d])))
        if key in last:
            yield last[key], d
        last[key] = d


def _instances(count: int, sets: Sequence[DeviceSet], depth: int) -> Iterator[Ints]:
    """Two instances of a group next to each other along one of its own axes, exchanged with all they hold."""
    shape = [a.size for p in sets[0].parts[:depth] for a in p.axes]
    own = len(sets[0].parts[depth - 1].axes)
    places = np.arange(int(np.prod(shape or [1]))).reshape(shape or [1])
    for axis in range(len(shape) - own, len(shape)):
        lined = np.moveaxis(places, axis, -1)
        for row in lined.reshape(-1, shape[axis]).tolist():
            for low, high in pairwise(row):
                image = np.arange(count)
                for s in sets:
                    inner = s.count // places.size
                    here, there = (np.arange(s.first + x * inner, s.first + (x + 1) * inner) for x in (low, high))
                    image[here], image[there] = there, here
                yield image


def _steps(count: int, s: DeviceSet) -> Iterator[Ints]:
    """One step round each axis of a declaration (rings and tori)."""
    shape = [a.size for a in s.axes]
    if not shape:
        return
    places = np.arange(s.count).reshape(shape)
    for axis in range(len(shape)):
        image = np.arange(count)
        image[s.first : s.first + s.count] = s.first + np.roll(places, 1, axis).reshape(-1)
        yield image
