"""What a requirement names as failing, element by element, and what fails with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement, Selector
from tdsl.fabric.graph import Fabric
from tdsl.fabric.subject import element_of_devices
from tdsl.prove.budget import DEFAULT
from tdsl.prove.element_symmetry import Symmetry, symmetry_of_elements
from tdsl.prove.elements import (
    TooMany,
    can_fail_together,
    devices_failing_with,
    elements_of_claim,
    failing_set_sizes,
    lost_rows,
    view_after_failures,
)
from tdsl.prove.symmetry import permutation_keeps_view
from tdsl.prove.view import View
from tests.fabrics import Builder, random_fabric, scale_up, selector, superpod
from tests.harness import compile_text

NONE = np.zeros(0, dtype=np.int64)

TEXT = """fabric f {
  host n[3]: NODE
  switch s[2]: BIG
  panel w: PATCH
  connect n[i].nic[0] to s[0]
  connect n[i].nic[1] to s[1] where i < 2
  connect n[i].nic[(2)] to s[0] via w where i < 1
  connect s[(0)] to s[(1)] x 2 { bundle 2 }
  connect s[(0)] to s[(1)] x 2 { bundle 2 }
  REPORTS
}"""
HOSTS = ["n[0].nic[0] - s[0].p[1]", "n[0].nic[1] - s[1].p[1]", "n[0].nic[2] - s[0].p[4]", "n[1].nic[0] - s[0].p[2]",
         "n[1].nic[1] - s[1].p[2]", "n[2].nic[0] - s[0].p[3]"]  # fmt: skip
TRUNKS = [f"s[0].p[{x}] - s[1].p[{y}]" for x, y in ((5, 3), (6, 4), (35, 34), (36, 35))]
"""Links 0 to 5 of hosts, one of them through a panel, and 6 to 9 between the switches, two bundles of every second one."""
BUNDLES = [(f"bundle {TRUNKS[i]}", [], [6 + i, 8 + i], 1) for i in range(2)]

Rows = list[tuple[str, list[int], list[int], int]]
"""Name, devices, links and copies of elements."""


def alone(names: list[str], first: int = 0) -> Rows:
    return [(name, [], [first + i], 1) for i, name in enumerate(names)]


def cage(host: int, number: int, *links: int) -> tuple[str, list[int], list[int], int]:
    return f"n[{host}] cage OSFP {number}", [], [*links], 1


NAMED: list[tuple[str, Rows]] = [
    ("links of n to s", alone(HOSTS)),
    ("links of s to n", alone(HOSTS)),
    ("of n to s[1]", [(HOSTS[i], [], [i], 1) for i in (1, 4)]),
    ("links of s[0] to s[1]", alone(TRUNKS, 6)),
    ("links of s[1] to s[0]", alone(TRUNKS, 6)),
    ("links of s[1]", [(HOSTS[i], [], [i], 1) for i in (1, 4)] + alone(TRUNKS, 6)),
    ("of n[0].nic[0..1]", alone(HOSTS[:2])),
    ("links of n[0].nic[1..2] to s[0]", [(HOSTS[2], [], [2], 1)]),
    ("of n[0].nic[0..1], n[2]", [(HOSTS[i], [], [i], 1) for i in (0, 1, 5)]),
    ("bundles of s", BUNDLES),
    ("bundles of n", []),
    ("ports of n", alone([x.split(" - ")[0] for x in HOSTS])),
    ("ports of n to s[1]", [("n[0].nic[1]", [], [1], 1), ("n[1].nic[1]", [], [4], 1)]),
    ("ports of s[1] to n", [("s[1].p[1]", [], [1], 1), ("s[1].p[2]", [], [4], 1)]),
    ("ports of s[0] to s[1]", alone([x.split(" - ")[0] for x in TRUNKS], 6)),
    ("ports of s to s", [(x.split(" - ")[1], [], [6 + i], 2) for i, x in enumerate(TRUNKS)]),
    ("cages of n", [cage(0, 1, 0, 1), cage(0, 2, 2), cage(1, 1, 3, 4), cage(2, 1, 5)]),
    ("cages of n to s[1]", [cage(0, 1, 0, 1), cage(1, 1, 3, 4)]),
    ("cages of s[1] to s[0]", [(f"s[1] cage OSFP {x}", [], y, 1) for x, y in ((2, [6, 7]), (17, [8]), (18, [9]))]),
    ("cables of n[0]", [("cable n0:nic0", [], [0], 1), ("cable n0:nic1", [], [1], 1), ("cable s0:p4", [], [2], 2)]),
    ("of n", [(f"n[{i}]", [i], [], 1) for i in range(3)]),
    ("of s, n[1], n", [(x, [d], [], 1) for x, d in (("s[0]", 3), ("s[1]", 4), ("n[1]", 1), ("n[0]", 0), ("n[2]", 2))]),
]  # fmt: skip


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Rows]:
    """The elements of a requirement, within a limit, after some links failed."""
    text = TEXT.replace("REPORTS", "\n  ".join(f"report survives any 1 {asked}" for asked, _ in NAMED))
    design = compile_text(text, tmp_path_factory.mktemp("named"), verify=False).designs[0]
    assert design.fabric is not None
    fabric, claims = design.fabric, {asked: c for (asked, _), c in zip(NAMED, design.claims, strict=True)}

    def found(asked: str, most: int = DEFAULT.named_elements, fail: Sequence[int] = ()) -> Rows:
        view = View.whole(fabric, replace(DEFAULT, named_elements=most))
        if fail:
            view = view.without(np.zeros(fabric.device_count, dtype=np.bool_), np.isin(np.arange(fabric.link_count), fail))
        return [(e.name, e.devices.tolist(), e.links.tolist(), e.copies) for e in elements_of_claim(view, claims[asked])]

    return found


def test_elements_by_name(named: Callable[..., Rows]) -> None:
    for asked, wanted in NAMED:
        assert named(asked) == wanted, asked


def test_so_many_elements_are_judged(named: Callable[..., Rows]) -> None:
    limits = (("links", "n to s", 6), ("bundles", "s", 2), ("ports", "n", 6), ("ports", "s to s", 8), ("cages", "n", 4))
    for what, of, count in (*limits, ("cables", "n[0]", 4)):
        asked = f"{what} of {of}"
        assert named(asked, count) == named(asked)
        with pytest.raises(TooMany, match=f"^{count:,} {what} are named, and at most {count - 1:,} are judged$"):
            named(asked, count - 1)


def test_what_failed_before_is_not_named(named: Callable[..., Rows]) -> None:
    rest = [(HOSTS[i], [], [i], 1) for i in (1, 2, 4, 5)]
    assert named("links of n to s", fail=(0, 3)) == rest
    assert named("ports of n", fail=(0, 3)) == [(x.split(" - ")[0], a, b, c) for x, a, b, c in rest]
    assert named("bundles of s", fail=(6, 8)) == BUNDLES[1:]
    assert [x[0] for x in named("links of s[0] to s[1]", fail=(0, 8))] == [TRUNKS[i] for i in (0, 1, 3)]


def test_devices_that_are_not_built_are_not_named() -> None:
    b = superpod(1, 3, 2, 2, manager=False)
    f = b.build()
    view = View.whole(f)
    hosts = tuple(FabricElement(f"h{d}", np.array([d])) for d in range(3))
    asked = SimpleNamespace(any_of="", of=(Selector("n", "host", hosts),), of_to=())
    assert [e.name for e in elements_of_claim(view, asked)] == ["h0", "h1"]  # type: ignore[arg-type]
    both = SimpleNamespace(any_of="", of=(Selector("n", "host", (FabricElement("pair", np.array([1, 2])),)),), of_to=())
    assert [e.name for e in elements_of_claim(view, both)] == ["pair"]  # type: ignore[arg-type]


@pytest.mark.parametrize("copies", [(), (1,), (2,), (1, 1), (1, 2), (2, 2), (1, 1, 2), (3, 1, 2), (1, 1, 1, 1), (2, 1, 4, 1)])
def test_so_many_things_fail_as_so_many_elements(copies: tuple[int, ...]) -> None:
    """Elements that are one thing or several: each subset can be K things if it has as many at least."""
    some = [FabricElement(str(i), NONE, NONE, x) for i, x in enumerate(copies)]
    for count in range(1, 9):
        fit = {k for k in range(1, len(some) + 1) for c in combinations(copies, k) if k <= count <= sum(c)}
        assert failing_set_sizes(some, count) == sorted(fit)
        for k in range(len(some) + 1):
            for chosen in combinations(some, k):
                assert can_fail_together(chosen, count) == (k <= count <= sum(e.copies for e in chosen))


def nested() -> Fabric:
    """Two racks with three trays each, in each two chips; every chip is linked to a switch, every second link crosses a panel."""
    b = Builder("nested")
    panel = b.devices("panel", b.model("panel", "PANEL", {"p": 30}), 2)
    rack = b.devices("rack", b.model("host", "RACK", {"p": 1}), 2)
    tray = b.devices("rack.tray", b.model("host", "TRAY", {"p": 1}), 2, 3, inside=rack)
    chip = b.devices("rack.tray.chip", b.model("chip", "CHIP", {"p": 4}), 2, 3, 2, role="accelerator", inside=tray)
    sw = b.devices("s", b.model("switch", "S", {"p": 30}), 2)
    for i in range(12):
        b.link(b.free(chip, i), b.free(sw, i % 2))
    b.link(b.free(sw, 0), b.free(sw, 1))
    f = b.build()
    via = np.array([panel.first + i % 2 if i % 3 else -1 for i in range(f.link_count)])
    ports = np.where(via >= 0, f.port_base[via], -1)
    return replace(f, link_via_a=ports, link_via_b=np.where(np.arange(f.link_count) % 4 == 1, ports, -1))


def contents(f: Fabric, devices: list[int]) -> list[int]:
    inside = f.container.tolist()
    out = set(devices)
    while fresh := {d for d, c in enumerate(inside) if c in out} - out:
        out |= fresh
    return sorted(out)


def test_what_an_element_contains_fails_with_it() -> None:
    f = nested()
    assert contents(f, [2]) == [2, 4, 5, 6, 10, 11, 12, 13, 14, 15]
    for devices in ([2], [3], [5], [2, 9], [22, 10], [0]):
        assert devices_failing_with(f, FabricElement("e", np.array(devices))).tolist() == contents(f, devices)
    flat = superpod(1, 3, 2, 2).build()
    assert devices_failing_with(flat, FabricElement("e", np.array([4, 1, 4]))).tolist() == [1, 4]


def test_the_contents_of_the_first_device() -> None:
    """One host, the first device, with two chips; nothing else is inside of another device."""
    b = Builder("first")
    host = b.devices("tray", b.model("host", "TRAY", {"nic": 1}), 1)
    b.devices("tray.chip", b.model("chip", "CHIP", {"p": 1}), 1, 2, role="accelerator", inside=host)
    b.devices("s", b.model("switch", "S", {"p": 9}), 1)
    f = b.build()
    assert f.container.tolist() == [-1, 0, 0, -1]
    assert devices_failing_with(f, FabricElement("e", np.array([0]))).tolist() == [0, 1, 2]
    assert element_of_devices(f, Selector("x", "host", (FabricElement("e", np.array([0])),))).tolist() == [0, 0, 0, -1]
    assert element_of_devices(
        f, Selector("x", "host", (FabricElement("e", np.array([1])), FabricElement("t", np.array([0]))))
    ).tolist() == [
        1,
        0,
        1,
        -1,
    ]


def test_the_rows_that_are_lost_with_each_element() -> None:
    """Those that a view without it lacks, by their places in the view, also where links failed before."""
    for seed, f in enumerate([nested(), scale_up().build(), *(random_fabric(s, loose=s % 3).build() for s in range(12))]):
        rng = Random(seed)
        view = View.whole(f)
        if seed % 2 or seed == 0:
            before = np.isin(np.arange(f.link_count), rng.sample(range(f.link_count), 3))
            view = view.without(np.zeros(f.device_count, dtype=np.bool_), before)
        chosen = [FabricElement("d", np.array(rng.sample(range(f.device_count), k)), NONE) for k in (1, 1, 2, 3)]
        chosen += [FabricElement("l", NONE, np.array(rng.sample(range(f.link_count), k))) for k in (1, 2, 4)]
        chosen += [FabricElement("b", np.array([rng.randrange(f.device_count)]), np.array([rng.randrange(f.link_count)]))]
        if seed == 0:
            chosen += [FabricElement("d", np.array([d]), NONE) for d in range(f.device_count)]
        for e, rows in zip(chosen, lost_rows(view, chosen), strict=True):
            left = view_after_failures(view, [e]).rows
            assert view.rows[rows].tolist() == sorted(set(view.rows.tolist()) - set(left.tolist())), (seed, e.name)
            assert rows.tolist() == sorted(set(rows.tolist()))


def test_several_elements_fail_together() -> None:
    f = nested()
    view = View.whole(f)
    one, two = FabricElement("d", np.array([5]), NONE), FabricElement("l", NONE, np.array([0, 12]))
    left = view_after_failures(view, [one, two])
    gone = contents(f, [5])
    assert not left.devices[gone].any()
    ends = zip(f.device_a.tolist(), f.device_b.tolist(), strict=True)
    assert left.rows.tolist() == [i for i, (a, b) in enumerate(ends) if i not in (0, 12) and not {a, b} & set(gone)]


def test_the_element_of_each_device() -> None:
    """Its own, else that of the innermost device that it is inside of."""
    f = nested()
    inside = f.container.tolist()
    for chosen in ([2, 3], [5, 7], [2, 5, 11], [20, 4], [0, 22, 23]):
        found = element_of_devices(f, Selector("x", "host", tuple(FabricElement(str(d), np.array([d])) for d in chosen)))
        for d in range(f.device_count):
            at = d
            while at >= 0 and at not in chosen:
                at = inside[at]
            assert found[d] == (chosen.index(at) if at >= 0 else -1)


# ---------------------------------------------------------------- symmetry


def closed(count: int, generators: list[list[int]]) -> list[list[int]]:
    """Every permutation that some generate."""
    every = [list(range(count))]
    for g in every:
        for h in generators:
            image = [h[x] for x in g]
            if image not in every:
                every.append(image)
    return every


@pytest.mark.parametrize(
    "generators",
    [
        [],
        [[1, 0, 2, 3, 4]],
        [[1, 2, 0, 3, 4]],
        [[1, 0, 3, 2, 4], [2, 3, 0, 1, 4]],
        [[1, 2, 3, 4, 0]],
        [[0, 1, 2, 4, 3], [1, 0, 2, 3, 4]],
    ],
)
def test_one_of_every_class_of_sets(generators: list[list[int]]) -> None:
    group = closed(5, generators)
    found = Symmetry(5, tuple(np.array(g) for g in generators))
    for size in range(1, 6):
        classes = {min(tuple(sorted(g[x] for x in chosen)) for g in group) for chosen in combinations(range(5), size)}
        assert found.sets(size) == sorted(classes)
        count = len(list(combinations(range(5), size)))
        assert found.sets(size, replace(DEFAULT, symmetry_sets=count)) == sorted(classes)
        assert found.sets(size, replace(DEFAULT, symmetry_sets=count - 1)) is None
    assert found.pairs() == found.sets(2)
    every = sorted({tuple(sorted({g[x] for g in group})) for x in range(5)})
    assert found.orbits() == [list(x) for x in every]


def test_sets_whose_numbers_do_not_fit_are_not_divided() -> None:
    """Numbers of 18 elements in sets of 15 are beyond 2^62, those of 17 are not."""
    wide = replace(DEFAULT, symmetry_sets=10**30)
    assert 17**15 < 2**62 < 18**15 < 2**63
    assert Symmetry(18, ()).sets(15, wide) is None and Symmetry(17, ()).sets(15, wide) == list(combinations(range(17), 15))
    assert Symmetry(20, ()).sets(1, wide) == [(i,) for i in range(20)]
    assert Symmetry(3, ()).pairs() == [(0, 1), (0, 2), (1, 2)] and Symmetry(1, ()).pairs() == []


def lines(rates: list[int], statements: list[int]) -> Fabric:
    """Two hosts, and parallel links between them with these rates, by these statements."""
    b = Builder("lines")
    host = b.devices("h", b.model("host", "H", {"p": 40}, accelerators=1), 2)
    for _ in range(max(statements) + 1):
        b.connect("connect")
    for rate, statement in zip(rates, statements, strict=True):
        b.link(b.free(host, 0), b.free(host, 1), rate, statement=statement)
    return b.build()


@pytest.mark.parametrize(
    ("rates", "statements", "orbits"),
    [
        ([1, 1, 1, 1], [0, 0, 0, 0], [[0, 1, 2, 3]]),
        ([1, 2, 1, 2], [0, 0, 0, 0], [[0, 2], [1, 3]]),
        ([1, 1, 1, 1], [0, 1, 1, 0], [[0, 3], [1, 2]]),
        ([1, 2, 3, 4], [0, 0, 0, 0], [[0], [1], [2], [3]]),
    ],
)
def test_parallel_links_are_exchanged(rates: list[int], statements: list[int], orbits: list[list[int]]) -> None:
    """Those of one rate and one statement; in pairs, too."""
    f = lines(rates, statements)
    view = View.whole(f)
    single = [FabricElement(str(i), NONE, np.array([i])) for i in range(4)]
    for one in (False, True):
        assert symmetry_of_elements(view, single, frozenset(), single=one).orbits() == orbits
    assert symmetry_of_elements(view, single, None).orbits() == [[0], [1], [2], [3]]
    assert symmetry_of_elements(view, single[:1], frozenset()).orbits() == [[0]]
    pairs = [FabricElement("a", NONE, np.array([0, 1])), FabricElement("b", NONE, np.array([2, 3]))]
    kinds = [sorted(zip(rates[i : i + 2], statements[i : i + 2], strict=True)) for i in (0, 2)]
    assert symmetry_of_elements(view, pairs, frozenset()).orbits() == ([[0, 1]] if kinds[0] == kinds[1] else [[0], [1]])
    overlap = [FabricElement("a", NONE, np.array([0, 1])), FabricElement("b", NONE, np.array([1, 2]))]
    assert symmetry_of_elements(view, overlap, frozenset()).orbits() == [[0], [1]]


def test_links_through_panels_are_exchanged_with_those_of_the_same_panel() -> None:
    """Two through the first panel, the first device, one through another, one through none; by either of the two columns."""
    b = Builder("lines")
    panel = b.devices("panel", b.model("panel", "PANEL", {"p": 9}), 2)
    host = b.devices("h", b.model("host", "H", {"p": 9}, accelerators=1), 2)
    for _ in range(4):
        b.link(b.free(host, 0), b.free(host, 1))
    f = b.build()
    vias = np.array([panel.first, panel.first, panel.first + 1, -1])
    ports, none = np.where(vias >= 0, f.port_base[vias], -1), np.full(4, -1)
    single = [FabricElement(str(i), NONE, np.array([i])) for i in range(4)]
    for one, other in ((ports, none), (none, ports), (ports, ports)):
        view = View.whole(replace(f, link_via_a=one, link_via_b=other))
        assert symmetry_of_elements(view, single, frozenset()).orbits() == [[0, 1], [2], [3]]
    assert symmetry_of_elements(View.whole(f), single, frozenset()).orbits() == [[0, 1, 2, 3]]


def test_links_of_bundles_are_exchanged_where_bundles_are_not_read() -> None:
    f = lines([1, 1, 1], [0, 0, 0])
    single = [FabricElement(str(i), NONE, np.array([i])) for i in range(3)]
    for bundle, apart in (([-1, 0, -1], True), ([-1, -1, -1], False), ([0, 0, 0], True)):
        view = View.whole(replace(f, link_bundle=np.array(bundle)))
        found = symmetry_of_elements(view, single, frozenset({"bundles"}))
        assert found.orbits() == ([[0], [1], [2]] if apart else [[0, 1, 2]])
        assert symmetry_of_elements(view, single, frozenset({"lengths"})).orbits() == [[0, 1, 2]]
    view = View.whole(replace(f, link_bundle=np.array([-1, -1, 3])))
    assert symmetry_of_elements(view, single[:2], frozenset({"bundles"})).orbits() == [[0, 1]]


def test_orbits_of_devices_and_of_links() -> None:
    """Every permutation is one of the view that maps elements to elements; with single orbits none that joins nothing."""
    joined: Counter[str] = Counter()
    for seed in range(14):
        rng = Random(seed)
        f = (
            superpod(2, 3, 2, 2, omit_last=seed % 2 == 0, manager=seed % 3 == 0).build()
            if seed < 6
            else random_fabric(seed, 3, 5, 2, 4).build()
        )
        view = View.whole(f)
        links = [FabricElement(str(i), NONE, np.array([i])) for i in range(f.link_count)]
        sets = {
            path: list(selector(f, path).elements) for path in (("su.leaf", "spine", "su.node") if seed < 6 else ("node", "sw"))
        }
        for name, chosen in (*sets.items(), ("links", links), ("some", rng.sample(links, len(links) // 2))):
            found = symmetry_of_elements(view, chosen, frozenset())
            assert found.count == len(chosen)
            first = len(found.generators) - len(found.images)
            for g in found.generators:
                assert sorted(g.tolist()) == list(range(len(chosen))) and g.tolist() != list(range(len(chosen)))
            for g, image in zip(found.generators[first:], found.images, strict=True):
                assert permutation_keeps_view(view, image)
                for e, to in zip(chosen, g.tolist(), strict=True):
                    assert sorted(image[e.devices].tolist()) == chosen[to].devices.tolist()
                    ends = [{int(image[f.device_a[x]]), int(image[f.device_b[x]])} for x in e.links.tolist()]
                    assert ends == [{int(f.device_a[x]), int(f.device_b[x])} for x in chosen[to].links.tolist()]
            single = symmetry_of_elements(view, chosen, frozenset(), single=True)
            assert single.orbits() == found.orbits()
            assert len(single.images) <= len(found.images)
            steps = [len(Symmetry(len(chosen), single.generators[:k]).orbits()) for k in range(len(single.generators) + 1)]
            kept = len(single.generators) - len(single.images)
            assert all(x > y for x, y in zip(steps[kept:], steps[kept + 1 :], strict=False))
            joined["more"] += len(single.images) < len(found.images)
            joined[name] += len(chosen) - len(found.orbits())
    assert all(joined[x] for x in ("su.leaf", "spine", "su.node", "links", "some", "more"))


def test_single_devices_beside_groups() -> None:
    """Six hosts below two leaves: two of them by themselves, and two groups of two."""
    f = superpod(1, 6, 2, 1, omit_last=False, manager=False).build()
    view = View.whole(f)
    chosen = [FabricElement(str(x), np.array(x), NONE) for x in ([0], [1], [2, 3], [4, 5])]
    for order, orbits in (
        ((0, 1, 2, 3), [[0, 1], [2, 3]]),
        ((2, 0, 3, 1), [[0, 2], [1, 3]]),
        ((2, 0), [[0], [1]]),
        ((0, 2), [[0], [1]]),
    ):
        found = symmetry_of_elements(view, [chosen[i] for i in order], frozenset()).orbits()
        assert all(any(set(x) <= set(y) for y in orbits) for x in found), order
    assert symmetry_of_elements(view, chosen[:2], frozenset()).orbits() == [[0, 1]]
    link = {h: np.flatnonzero((f.device_a == h) | (f.device_b == h))[:1] for h in range(3)}
    own, other = (
        (FabricElement("x", np.array([0]), link[0]), FabricElement("y", np.array([1]), link[1])),
        FabricElement("z", np.array([1]), link[2]),
    )
    assert symmetry_of_elements(view, own, frozenset()).orbits() == [[0, 1]]
    assert symmetry_of_elements(view, (own[0], other), frozenset()).orbits() == [[0], [1]]


def test_the_work_of_verifying_has_a_limit() -> None:
    """Each candidate costs the links and the devices; those after the limit are left out."""
    f = superpod(2, 3, 2, 4, omit_last=False, manager=False).build()
    each = f.link_count + f.device_count
    leaves = list(selector(f, "su.node").elements)
    whole = symmetry_of_elements(View.whole(f), leaves, frozenset())
    assert len(whole.images) > 2
    for most in range(4):
        view = View.whole(f, replace(DEFAULT, symmetry_work=each * most))
        assert len(symmetry_of_elements(view, leaves, frozenset()).images) <= most
        less = View.whole(f, replace(DEFAULT, symmetry_work=each * (most + 1) - 1))
        assert len(symmetry_of_elements(less, leaves, frozenset()).images) == len(
            symmetry_of_elements(view, leaves, frozenset()).images
        )
    exact = View.whole(f, replace(DEFAULT, symmetry_work=each))
    assert len(symmetry_of_elements(exact, leaves, frozenset()).images) == 1
