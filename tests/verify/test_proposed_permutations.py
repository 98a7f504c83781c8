"""The permutations of devices that a design or its ports suggest, against the same written by coordinates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import Budget
from tdsl.prove.symmetry_candidates import axis_steps, candidates_by_ports, candidates_of_design, transitive_candidates
from tdsl.prove.view import View
from tdsl.semantics.model import DeviceSet
from tests.fabrics import GBPS, Builder, torus

Image = list[int]
Place = tuple[int, ...]


def shape(s: DeviceSet, depth: int | None = None) -> list[int]:
    return [a.size for p in s.parts[:depth] for a in p.axes]


def places(s: DeviceSet) -> list[Place]:
    """The coordinates of every device of a declaration, in its order."""
    return list(product(*(range(n) for n in shape(s))))


def moved(f: Fabric, sets: list[DeviceSet], change: Callable[[DeviceSet, list[int]], list[int]]) -> Image:
    """The permutation that changes the coordinates of these declarations."""
    image = list(range(f.device_count))
    for s in sets:
        where = {c: s.first + row for row, c in enumerate(places(s))}
        for c, d in where.items():
            image[d] = where[tuple(change(s, list(c)))]
    return image


def aligned(f: Fabric, sets: list[DeviceSet]) -> Iterator[Image]:
    for size in dict.fromkeys(n for s in sets for n in shape(s) if n > 1):
        for low in range(size - 1):

            def change(s: DeviceSet, c: list[int], size: int = size, low: int = low) -> list[int]:
                if size in shape(s):
                    axis = shape(s).index(size)
                    c[axis] = {low: low + 1, low + 1: low}.get(c[axis], c[axis])
                return c

            yield moved(f, list(f.sets), change)


def steps(f: Fabric, sets: list[DeviceSet], axes: list[int]) -> Iterator[Image]:
    for axis in axes:

        def change(s: DeviceSet, c: list[int], axis: int = axis) -> list[int]:
            c[axis] = (c[axis] - 1) % shape(s)[axis]
            return c

        yield moved(f, sets, change)


def instances(f: Fabric, sets: list[DeviceSet], depth: int, axes: list[int]) -> Iterator[Image]:
    sizes = shape(sets[0], depth)
    for axis in axes:
        others = [range(n) for i, n in enumerate(sizes) if i != axis]
        for rest in product(*others):
            for low in range(sizes[axis] - 1):

                def change(s: DeviceSet, c: list[int], axis: int = axis, rest: Place = rest, low: int = low) -> list[int]:
                    if tuple(c[:axis] + c[axis + 1 : len(sizes)]) == rest and c[axis] in (low, low + 1):
                        c[axis] = 2 * low + 1 - c[axis]
                    return c

                yield moved(f, sets, change)


def contents(f: Fabric, d: int) -> list[int]:
    """A device with all that it contains, declaration by declaration."""
    own, out = f.sets[int(f.device_set[d])], [d]
    for s in f.sets:
        if s.inside is own:
            each = s.count // own.count
            for k in range(each):
                out += contents(f, s.first + (d - own.first) * each + k)
    return out


def exchanged(view: View, named: list[int]) -> Iterator[Image]:
    """Devices of one declaration with the same links, each with the one before it."""
    f = view.fabric
    links = list(zip(view.a.tolist(), view.b.tolist(), f.link_rate[view.rows].tolist(), strict=True))
    last: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    for d in named:
        near = tuple(sorted([(b, x) for a, b, x in links if a == d] + [(a, x) for a, b, x in links if b == d]))
        key = (int(f.device_set[d]), near)
        if key in last:
            image = list(range(f.device_count))
            for v, w in zip(contents(f, last[key]), contents(f, d), strict=True):
                image[v], image[w] = w, v
            yield image
        last[key] = d


def suggested(view: View, elements: list[FabricElement]) -> list[Image]:
    f = view.fabric
    named = {int(d) for e in elements for d in e.devices}
    named |= {int(column[link]) for e in elements for link in e.links for column in (f.device_a, f.device_b)}
    sets = [s for s in f.sets if any(s.first <= d < s.first + s.count for d in named)]
    out = list(aligned(f, sets))
    prefixes = dict.fromkeys(
        tuple(p.name for p in s.parts[:depth]) for depth in range(1, 9) for s in sets if depth <= len(s.parts)
    )
    for prefix in prefixes:
        depth = len(prefix)
        holders = [s for s in f.sets if tuple(p.name for p in s.parts[:depth]) == prefix]
        count, own = len(shape(holders[0], depth)), len(holders[0].parts[depth - 1].axes)
        axes = list(range(count - own, count))
        out += steps(f, holders, axes)
        out += instances(f, holders, depth, axes)
    for s in sets:
        held = [s]
        for t in f.sets:
            top = t
            while top.inside is not None:
                top = top.inside
            held += [t] if top is s else []
        out += steps(f, held, list(range(len(shape(s)) - len(s.parts[-1].axes))))
    return out + list(exchanged(view, sorted(named)))


def pods() -> Builder:
    """Hosts in segments of pods with chips in each and memory in these, switches by pod, a grid of spines, one lone manager."""
    b = Builder("pods")
    host, chip = b.model("host", "HOST", {"nic": 4}, accelerators=1), b.model("chip", "CHIP", {"p": 2})
    switch = b.model("switch", "SW", {"p": 64})
    tor = b.devices("pod.tor", switch, 2, 3)
    node = b.devices("pod.seg.node", host, 2, 3, 2)
    gpu = b.devices("pod.seg.node.gpu", chip, 2, 3, 2, 3, inside=node)
    b.devices("pod.seg.node.gpu.hbm", b.model("chip", "HBM", {"p": 1}), 2, 3, 2, 3, 2, inside=gpu)
    spine = b.devices("spine", switch, (2, 4))
    b.devices("cube.cell", chip, (2, 2), 3)
    b.devices("row.rack", switch, None, 2)
    manager = b.devices("ufm", b.model("host", "UFM", {"p": 4}), None, role="manager")
    rng = Random(5)
    for n in range(node.count):
        for _ in range(2):
            b.link(b.free(node, n), b.free(tor, n // 2), 400 * GBPS if n != 3 else 100 * GBPS)
    for t in range(tor.count):
        for s in range(spine.count):
            if (t, s) != (1, 2):
                b.link(b.free(tor, t), b.free(spine, s), (100 if s == 5 and t else 400) * GBPS)
    b.link(b.free(manager, 0), b.free(spine, rng.randrange(8)))
    return b


def nothing() -> np.ndarray:
    return np.zeros(0, dtype=np.int64)


def test_permutations_that_a_design_suggests() -> None:
    f = pods().build()
    view, n = View.whole(f), f.device_count
    for devices, links in (
        (range(n), ()), ([0], ()), ([7, 8, 9], ()), ([20], ()), ([50], ()), ([n - 1], ()), ([n - 3, n - 2], ()), ((), [0, 1]),
        ((), [30]), ([0, 1, 2, 3, 4, 5], [2]), ((), ()), (range(6, 18), ()), (range(18, 54), ()),
    ):  # fmt: skip
        one = FabricElement("one", np.array([*devices], dtype=np.int64), np.array(links, dtype=np.int64))
        found = [image.tolist() for image in candidates_of_design(view, [one])]
        assert found == suggested(view, [one])
        assert all(sorted(image) == list(range(n)) for image in found)
    two = [FabricElement("a", np.array([0]), nothing()), FabricElement("b", np.array([6]), np.array([40]))]
    assert [image.tolist() for image in candidates_of_design(view, two)] == suggested(view, two)
    assert [image.tolist() for image in candidates_of_design(view, [])] == []


def test_devices_with_the_same_links_in_a_part_of_a_fabric() -> None:
    """Links that are not looked at do not tell devices apart, and what is linked to itself is listed twice."""
    f = pods().build()
    view = View(f, f.built, f.built, np.arange(0, f.link_count, 2))
    spines = np.arange(126, 134)
    one = [FabricElement("spines", spines, nothing())]
    found = [image.tolist() for image in candidates_of_design(view, one)]
    assert found == suggested(view, one)


# ---------------------------------------------------------------- permutations that follow ports


def by_port(f: Fabric, devices: list[int]) -> list[dict[int, int]] | None:
    """For every node by port number the node at the other end; None where a port has several, or there is no link."""
    table: list[dict[int, int]] = [{} for _ in devices]
    count = 0
    for x, y in zip(f.link_a.tolist(), f.link_b.tolist(), strict=True):
        for p, q in ((x, y), (y, x)):
            v, w = int(f.port_device[p]), int(f.port_device[q])
            if v in devices and w in devices:
                count += 1
                port = p - int(f.port_base[v])
                if port in table[devices.index(v)]:
                    return None
                table[devices.index(v)][port] = devices.index(w)
    return table if count else None


def followed(table: list[dict[int, int]] | None) -> list[Image]:
    """One permutation to each neighbour of the first node: every node by the way on which it is first reached."""
    if table is None:
        return []
    ports = sorted({p for row in table for p in row})
    ways, front = {0: (0, 0)}, [0]
    order = [0]
    while front:
        fresh = []
        for p in ports:
            reach: dict[int, int] = {}
            for v in front:
                if p in table[v] and table[v][p] not in ways:
                    reach.setdefault(table[v][p], v)
            for w in sorted(reach):
                ways[w] = reach[w], p
                order.append(w)
                fresh.append(w)
        front = fresh
    if len(ways) < len(table):
        return []
    out = []
    for target in sorted(set(table[0].values())):
        image = {0: target}
        for w in order[1:]:
            v, p = ways[w]
            image[w] = table[image[v]].get(p, -1) if image[v] >= 0 else -1
        if sorted(image.values()) != list(range(len(table))):
            return []
        out.append([image[v] for v in range(len(table))])
    return out


def cayley(size: int, jumps: list[int], spare: int = 0, odd: bool = False) -> Builder:
    """Chips in a ring, one link by every jump, from port 2k to port 2k + 1; with ``odd`` one link between other ports."""
    b = Builder("ring")
    extra = b.devices("x", b.model("chip", "X", {"q": 3}), 1) if spare else None
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2 * len(jumps) + spare}), size, role="accelerator")
    for k, jump in enumerate(jumps):
        for v in range(size):
            there = b.port(chip, (v + jump) % size, "p", 2 * k + 1 + spare)
            b.link(b.port(chip, v, "p", 2 * k + spare), there) if not (odd and v == k == 0) else None
    if extra is not None:
        b.link(b.port(extra, 0), b.port(chip, 0, "p", 0))
    return b


def wirings() -> list[Builder]:
    out = [torus(3, 4), torus(5), torus(2, 3), torus(4, 2, 3), cayley(7, [1, 2]), cayley(8, [1, 3]), cayley(6, [2])]
    out += [cayley(6, [1], odd=True), cayley(5, [1, 2], odd=True), cayley(9, [1, 4])]
    for seed in range(30):
        rng, b = Random(seed), Builder("random")
        n, ports = rng.randint(2, 6), rng.randint(1, 3)
        chip = b.devices("chip", b.model("chip", "CHIP", {"p": ports}), n, role="accelerator")
        for p in range(ports):
            order = rng.sample(range(n), n)
            for v, w in zip(order[::2], order[1::2], strict=False):
                b.link(b.port(chip, v, "p", p), b.port(chip, w, "p", p))
        out.append(b)
    for seed in range(24):  # rings in any order, each node joined to the next by its port 0, at the other end by port 1 or 2
        rng, b = Random(seed), Builder("ring")
        n = rng.randint(3, 7)
        chip = b.devices("chip", b.model("chip", "CHIP", {"p": 5}), n, role="accelerator")
        order = rng.sample(range(n), n)
        for v, w in zip(order, [*order[1:], order[0]], strict=True):
            b.link(b.port(chip, v, "p", 0), b.port(chip, w, "p", rng.choice([1, 1, 2])))
        if seed % 2:  # one link more beside another
            at = rng.randrange(n)
            b.link(b.port(chip, order[at - 1], "p", 3), b.port(chip, order[at], "p", 4))
        out.append(b)
    return out


def test_permutations_by_ports() -> None:
    found = 0
    for made in wirings():
        f = made.build()
        for devices in (list(range(f.device_count)), list(range(f.device_count - 1)), list(range(1, f.device_count)), [0]):
            wanted = followed(by_port(f, devices))
            assert [x.tolist() for x in candidates_by_ports(f, np.array(devices, dtype=np.int64))] == wanted
            found += len(wanted)
    assert found > 40


def test_ports_beside_those_that_are_followed() -> None:
    """Chips are not the first devices, their first ports lead elsewhere, and as many port numbers as the limit are followed."""
    f = cayley(6, [1], spare=1).build()
    chips = list(range(1, 7))
    wanted = [[1, 2, 3, 4, 5, 0], [5, 0, 1, 2, 3, 4]]
    assert followed(by_port(f, chips)) == wanted
    assert [x.tolist() for x in candidates_by_ports(f, np.array(chips), Budget(port_degree=2))] == wanted
    assert candidates_by_ports(f, np.array(chips), Budget(port_degree=1)) == []
    assert candidates_by_ports(f, np.arange(7)) == []


@pytest.mark.parametrize(("there", "back"), [(0, 1), (1, 0)])
def test_links_back_are_no_part_of_the_way(there: int, back: int) -> None:
    """A ring of seven whose nodes are far from their number; the links back of two nodes end at another port, by which nothing
    is reached first."""
    b = Builder("ring")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 3}), 7, role="accelerator")
    order = [0, 2, 3, 1, 4, 5, 6]
    for i in range(7):
        b.link(b.port(chip, order[i - 1], "p", there), b.port(chip, order[i], "p", 2 if i in (2, 3) else back))
    f = b.build()
    wanted = []
    for step in (1, -1):
        image = [0] * 7
        for i in range(7):
            image[order[i]] = order[(i + step) % 7]
        wanted.append(image)
    assert followed(by_port(f, list(range(7)))) == wanted == [x.tolist() for x in candidates_by_ports(f, np.arange(7))]


def test_ports_with_several_links_are_not_followed() -> None:
    b = cayley(4, [1])
    b.link(b.port(b.sets[0], 0, "p", 0), b.port(b.sets[0], 2, "p", 0))
    f = b.build()
    assert by_port(f, [0, 1, 2, 3]) is None
    assert candidates_by_ports(f, np.arange(4)) == []


@pytest.mark.parametrize(
    ("path", "sizes", "together"),
    [
        ("x", (4,), False), ("x", ((2, 3),), False), ("cube.x", (2, 3), True), ("cube.x", ((2, 3), (4, 2)), True),
        ("cube.x", (3, (2, 2)), False), ("a.b.x", (2, None, 3), True), ("a.b.x", (2, 3, 2), True),
        ("cube.x", (None, (2, 3)), False),
    ],
)  # fmt: skip
def test_steps_along_axes(path: str, sizes: tuple[object, ...], together: bool) -> None:
    """Groups and devices with equally many axes are one grid; then every axis is a ring by itself."""
    b = Builder("axes")
    b.devices("before", b.model("chip", "Y", {"p": 1}), 3)
    s = b.devices(path, b.model("chip", "X", {"p": 1}), *sizes)
    every = places(s)
    widths = [len(p.axes) for p in s.parts if p.axes]
    rings = [[[axis] for axis in range(sum(widths))]]
    if together:
        rings.insert(0, [list(range(axis, sum(widths), widths[0])) for axis in range(widths[0])])
    wanted = []
    for way in rings:
        images = []
        for axes in way:
            digits = list(product(*(range(shape(s)[a]) for a in axes)))
            image = []
            for c in every:
                number = digits[(digits.index(tuple(c[a] for a in axes)) + 1) % len(digits)]
                new = list(c)
                for a, x in zip(axes, number, strict=True):
                    new[a] = x
                image.append(every.index(tuple(new)))
            images.append(image)
        wanted.append(images)
    assert [[x.tolist() for x in way] for way in axis_steps(s)] == wanted


def test_devices_without_an_index_have_no_steps() -> None:
    b = Builder("lone")
    assert list(axis_steps(b.devices("x", b.model("chip", "X", {"p": 1}), None))) == [[]]


def test_candidates_for_a_transitive_group() -> None:
    """Steps along the axes come first, for one whole declaration alone; then what follows ports, if there is any."""
    f = torus(3, 4).build()
    steps_ = [[x.tolist() for x in way] for way in axis_steps(f.sets[0])]
    ports = followed(by_port(f, list(range(12))))
    assert [[x.tolist() for x in way] for way in transitive_candidates(f, np.arange(12))] == [*steps_, ports]
    few = Budget(port_degree=3)
    assert [[x.tolist() for x in way] for way in transitive_candidates(f, np.arange(12), few)] == steps_
    assert list(transitive_candidates(f, np.arange(11))) == []
    g = cayley(6, [1], spare=1).build()
    found = [[x.tolist() for x in way] for way in transitive_candidates(g, np.arange(1, 7))]
    assert found == [[[1, 2, 3, 4, 5, 0]], [[1, 2, 3, 4, 5, 0], [5, 0, 1, 2, 3, 4]]]
    assert list(transitive_candidates(g, np.arange(7))) == []
