"""Which hosts belong together, which racks take their contents and what is said where none do: by numbers alone."""

from __future__ import annotations

from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.physical.auto import OPEN, Content, _Unplaceable
from tests.physical.test_nearest_racks import Kind, floor_of


def test_clusters_against_components() -> None:
    """Hosts and switches of the lowest tier joined by cables; above them switches all of whose lower ones are of one cluster."""
    seen = set()
    for seed in range(200):
        random = Random(seed)
        count = random.randint(2, 14)
        tier = [random.choice((0, 0, 0, 1, 1, 2, 2, 3)) for _ in range(count)]
        host = [t == 0 and random.random() < 0.9 for t in tier]
        every = [(a, b) for a in range(count) for b in range(a + 1, count) if abs(tier[a] - tier[b]) <= 1]
        pairs = sorted(random.sample(every, min(len(every), random.randint(0, count))))
        devices = sorted(random.sample(range(count), random.randint(1, count)))
        floor = floor_of([])
        floor.fabric = SimpleNamespace(
            tier=np.array(tier),
            device_count=count,
            is_switch=np.array([not h and t > 0 for h, t in zip(host, tier, strict=True)]),
        )
        floor.host, floor.devices = np.array(host), np.array(devices)
        floor.__dict__["pairs"] = (*(np.array([x[i] for x in pairs], dtype=np.int64) for i in (0, 1)), None)

        graph: Any = nx.Graph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from((a, b) for a, b in pairs if host[a] != host[b] and max(tier[a], tier[b]) <= 1)
        label = {d: min(part) for part in nx.connected_components(graph) for d in part}
        with_host = {label[d] for d in devices if host[d]}
        if len(with_host) > 1:
            for t, d in product((2, 3), range(count)):
                below = {label[a if b == d else b] for a, b in pairs if d in (a, b) and tier[a if b == d else b] < t}
                if tier[d] == t and len(below) == 1 and not host[d]:
                    label[d] = below.pop()
        groups = [[d for d in devices if label[d] == key] for key in with_host]
        parts = [([d for d in g if host[d]], [d for d in g if not host[d]]) for g in groups]
        rest = [d for d in devices if label[d] not in with_host]
        wanted = [*sorted(parts), *([([], rest)] if rest else [])]
        assert floor.clusters == wanted, seed
        seen.add((len(with_host), bool(rest), any(tier[d] > 1 for _, s in parts for d in s)))
    assert len(seen) >= 10


def free_floor(
    sizes: list[tuple[int, int, int]], kinds: list[Kind], free: list[int] | None = None, halls: int = 1, **asked: Any
) -> Any:
    """Hosts alone, one cluster, and racks of some kinds."""
    floor = floor_of(sizes, halls=tuple(SimpleNamespace(name=f"h{n}") for n in range(halls)), **asked)
    floor.devices = np.arange(len(sizes))
    floor.fabric = SimpleNamespace(
        model_of=lambda d: SimpleNamespace(name=f"model of {d}"), device_name=lambda d: f"device {d}", device_count=len(sizes)
    )
    floor.places = SimpleNamespace(rack_kind=kinds)
    floor.__dict__.update(free=list(range(len(kinds))) if free is None else free, clusters=[([*range(len(sizes))], [])])
    return floor


def why(floor: Any) -> str:
    """Why there are no contents."""
    with pytest.raises(_Unplaceable) as told:
        floor.contents()
    return str(told.value)


def test_why_no_rack_takes_a_device() -> None:
    wide = Kind(10, 5.0, 7.0)
    assert why(free_floor([(1, 0, 0), (0, 1, 1), (0, 2, 2)], [wide])) == (
        "model of 1 has no height, so 2 devices cannot be placed; add `height 1U` to the model"
    )
    assert why(free_floor([(1, 0, 0)] * 1234, [wide], [])) == "1,234 devices have no place, and no rack of hall h0 is free"
    assert why(free_floor([(1, 0, 0)], [wide], [], 2)) == "1 devices have no place, and no rack of hall h0 and hall h1 is free"
    for size, over in (
        ((11, 5001, 1), "is 11U high"), ((1, 5001, 7001), "takes 5.001 W with its transceivers"), ((2, 0, 7500), "weighs 7.5 kg"),
    ):  # fmt: skip
        floor = free_floor([(10, 5000, 7000), size], [wide, Kind(3, 1, 1)])
        assert why(floor) == f"device 1 fits no free rack of hall h0: it {over}"
    assert why(free_floor([(8, 2000, 1)], [Kind(10, 1, None), Kind(5, 3, None)])) == (
        "device 0 fits no free rack of hall h0: it is too large in all"
    )


def test_why_there_are_too_few_racks() -> None:
    """The fewest racks of all tries; and what is said of several kinds, none of which takes all."""
    small, large = Kind(2, None, None), Kind(4, None, None)
    assert why(free_floor([(2, 0, 0)] * 9, [large, large], halls=2)) == (
        "9 devices take 5 racks, and hall h0 and hall h1 have 2 free"
    )
    assert why(free_floor([(2, 0, 0)] * 9, [small, small, small, large])) == "9 devices take 5 racks, and hall h0 has 4 free"
    assert why(free_floor([(1, 5000, 0), (4, 0, 0)], [Kind(4, 1, None), Kind(2, 5, None)])) == (
        "racks of different kinds are needed, and hall h0 has 2 free"
    )


def test_the_kind_that_there_is_most_of_is_tried_first() -> None:
    """Contents fit that kind, and every rack that offers as much may take them."""
    small, large = Kind(2, None, None), Kind(4, 9.0, None)
    contents, racks = free_floor([(2, 1, 0)] * 2, [large, small, small, Kind(4, None, None)]).contents()
    assert [c.hosts for c in contents] == [(0,), (1,)] and racks == [1, 2, 3]
    contents, racks = free_floor([(2, 1, 0)] * 4, [large, small, large, Kind(4, None, 1.0), large], [0, 1, 2, 4]).contents()
    assert [c.hosts for c in contents] == [(0, 1), (2, 3)] and racks == [0, 2, 4]
    contents, racks = free_floor([(3, 1, 0)] * 2, [small, large, small, small, large]).contents()
    assert [c.hosts for c in contents] == [(0,), (1,)] and racks == [1, 4]
    floor = free_floor([], [Kind(4, 9.0, 5.0)])
    assert floor._offers(0, (4, 9000, 5000)) and not any(
        floor._offers(0, limits) for limits in ((5, 0, 0), (0, 9001, 0), (0, 0, 5001), (0, OPEN, 0))
    )


def test_units_from_both_ends_of_a_rack() -> None:
    """Hosts from unit 1 upwards, network devices from the top down; racks without a height have a top of none."""
    floor = free_floor([(2, 0, 0), (3, 0, 0), (1, 0, 0), (2, 0, 0), (1, 0, 0)], [Kind(12, None, None), Kind(20, None, None)])
    rack, unit, by = (np.full(5, -1, dtype=np.int64) for _ in range(3))
    floor.put([Content((0, 1), (2, 3)), Content((), (4,))], [1, 0], rack, unit, by, 7)
    assert rack.tolist() == [1, 1, 1, 1, 0] and unit.tolist() == [1, 3, 20, 18, 12] and by.tolist() == [7] * 5


def test_the_problem_of_arranging() -> None:
    """Rows are taken until they have enough racks; pairs within one content go, and racks with given devices come last."""
    floor = floor_of([], switches="top")
    floor.places = SimpleNamespace(
        rack_hall=np.array([0, 0, 0, 0, 0, 1, 1]), rack_row=np.array([0, 0, 1, 1, 1, 0, 0]),
        device_rack=np.array([-1, -1, -1, 6, 0, 0, -1]),
    )  # fmt: skip
    floor.fabric = SimpleNamespace(device_count=7)
    floor.__dict__["lengths"] = "lengths"
    columns = [(0, 1, 5), (0, 2, 6), (1, 3, 7), (2, 4, 8), (2, 5, 9), (3, 4, 10), (4, 5, 11), (0, 6, 12)]
    floor.__dict__["pairs"] = tuple(np.array(c) for c in zip(*columns, strict=True))
    contents = [Content((0, 1), ()), Content((), (2,)), Content((), ())]
    made = floor.arrangement(contents, [1, 2, 3, 5])
    facts = [getattr(made, name) for name in type(made).__dataclass_fields__]
    plain = [x.tolist() if isinstance(x, np.ndarray) else x for x in facts]
    assert plain == [
        "lengths", [1, 3, 2], None, [0, 1, 2], [False, True, True], [0, 6], 5,
        [0, 0, 1, 1, 4], [1, 4, 3, 3, 3], [6, 7, 8, 9, 10],
    ]  # fmt: skip
    assert floor.arrangement(contents[:2], [1, 2, 3, 5]).slots == [1, 3, 2]
    assert floor.arrangement(contents, [1, 3]).slots == [1, 3] and floor.arrangement([], [1, 3]).slots == [1]
    assert floor.arrangement([*contents, *contents], [1, 2, 3, 5]).slots == [1, 3, 2, 5]


def test_free_racks_in_the_order_of_the_halls_asked_for() -> None:
    halls = ["x", "y", "z"]
    floor = floor_of([], halls=("z", "x"))
    floor.places = SimpleNamespace(
        halls=halls, rack_count=6, rack_hall=np.array([0, 1, 0, 2, 2, 0]), device_rack=np.array([-1, 2, 2, 1, -1])
    )
    assert floor.free == [3, 4, 0, 5]


def test_pairs_of_devices() -> None:
    """Cables between the outermost devices, the lower row first; those within one device are left out."""
    floor = floor_of([])
    floor.fabric = SimpleNamespace(
        device_count=5, port_device=np.array([0, 1, 2, 3, 4, 4]),
        cable_a=np.array([4, 0, 0, 1, 2, 3, 5]), cable_b=np.array([3, 4, 4, 2, 1, 4, 0]),
    )  # fmt: skip
    floor.__dict__["lengths"] = SimpleNamespace(top=np.array([0, 0, 2, 3, 4]))
    assert [x.tolist() for x in floor.pairs] == [[0, 0, 3], [2, 4, 4], [2, 3, 2]]
