"""The fewest devices that separate, against every set of devices of small graphs; steps of the search by their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import cache
from itertools import combinations, pairwise
from random import Random

import pytest

from tdsl.prove.disjoint import (
    FAR,
    Separator,
    WorkExhausted,
    WorkLeft,
    _nearest_first,
    _short_ways,
    _update_distances_to_goal,
    separator_from_set,
    separator_of_devices,
    separator_of_terminals,
)

PLENTY = 10**9
Graph = dict[int, set[int]]


@cache
def graph(seed: int) -> Graph:
    rng = Random(seed)
    count, chance = rng.randint(2, 8), rng.choice([0.2, 0.4, 0.6])
    near: Graph = {v: set() for v in range(count)}
    for x, y in combinations(range(count), 2):
        if rng.random() < chance:
            near[x].add(y)
            near[y].add(x)
    return near


def reached(near: Graph, start: Iterable[int], without: Set[int]) -> set[int]:
    queue = [x for x in start if x not in without]
    for v in queue:
        queue += [w for w in near[v] if w not in without and w not in queue]
    return set(queue)


def fewest(near: Graph, start: Set[int], goal: Set[int], without: Set[int]) -> int:
    """The least number of devices without which the one set does not reach the other."""
    left = sorted(set(near) - without)
    for size in range(len(left) + 1):
        for chosen in combinations(left, size):
            gone = without | set(chosen)
            if not reached(near, start, gone) & (goal - gone):
                return size
    raise AssertionError


def steps_to(near: Graph, goal: Set[int]) -> dict[int, int]:
    found = dict.fromkeys(goal, 0)
    for v in (queue := list(goal)):
        for w in near[v]:
            if w not in found:
                found[w] = found[v] + 1
                queue.append(w)
    return found


def test_devices_between_two_sets() -> None:
    """With what guides the search and without; a search that finds as many paths as are asked for names nothing."""
    for seed in range(120):
        near, rng = graph(seed), Random(seed)
        start, goal = (set(rng.sample(sorted(near), rng.randint(1, min(4, len(near))))) for _ in "ab")
        without = set(rng.sample(sorted(near), rng.randint(0, 2)))
        goal -= without
        least = fewest(near, start, goal, without)
        for guide in (None, steps_to(near, goal)):
            for limit in {1, max(least, 1), least + 1, least + 2}:
                found = separator_from_set(near, sorted(start), goal, without, limit, WorkLeft(PLENTY), guide)
                if least >= limit:
                    assert found is None, seed
                else:
                    assert found is not None and len(found) == least and not found & without, seed
                    assert not reached(near, start, without | found) & goal, seed


def test_a_path_that_is_taken_back_leaves_its_devices() -> None:
    """First 0, 1, 2; then 3 needs 2, so that 0 goes by 4 and 5 to 6, and 1 is used no more: a long way from 7 leads over it."""
    ways = [(0, 1, 2), (3, 20, 21, 2), (0, 4, 5, 6), (7, *range(30, 42), 1, *range(8, 14))]
    near: Graph = {}
    for x, y in (link for way in ways for link in pairwise(way)):
        near.setdefault(x, set()).add(y)
        near.setdefault(y, set()).add(x)
    goal = {2, 6, 13}
    for guide in (None, steps_to(near, goal)):
        for count in range(1, 4):
            assert separator_from_set(near, [0, 3, 7][:count], goal, set(), count, WorkLeft(PLENTY), guide) is None
            found = separator_from_set(near, [0, 3, 7][:count], goal, set(), count + 1, WorkLeft(PLENTY), guide)
            assert found is not None and len(found) == count


def paths(near: Graph, u: int, v: int) -> int:
    """Paths of a pair without a common device; a link between the two is one."""
    return (v in near[u]) + fewest(near, near[u] - {v}, near[v] - {u}, {u, v})


def judged(near: Graph, found: Separator, joined: bool) -> None:
    """What is named separates the two."""
    u, v = found.pair
    assert u != v and not {u, v} & found.devices and found.joined == (joined and v in near[u])
    assert found.joined or v not in near[u]
    assert v not in reached({x: y - ({u, v} if x in (u, v) else set()) for x, y in near.items()}, [u], found.devices)
    assert found.value == len(found.devices) + found.joined


def test_devices_between_two_devices() -> None:
    for seed in range(80):
        near = graph(seed)
        for u, v in combinations(near, 2):
            value = paths(near, u, v)
            for limit in range(1, value + 3):
                found = separator_of_devices(near, u, v, limit, WorkLeft(PLENTY))
                assert (found is None) == (value >= limit), (seed, u, v, limit)
                if found is not None:
                    assert found.value == value and found.pair == (u, v)
                    judged(near, found, True)


def test_the_least_over_many_terminals() -> None:
    for seed in range(160):
        near, rng = graph(seed), Random(seed)
        terminals = rng.sample(sorted(near), rng.randint(2, len(near)))
        for joined in (True, False):
            every = [paths(near, u, v) for u, v in combinations(terminals, 2) if joined or v not in near[u]]
            least = min(every, default=99)
            for limit in (1, 2, 3, 6):
                found = separator_of_terminals(near, terminals, limit, joined, WorkLeft(PLENTY))
                assert (found is None) == (least >= limit), (seed, limit, joined)
                if found is not None:
                    assert found.value == least and set(found.pair) <= set(terminals), (seed, limit, joined)
                    judged(near, found, joined)


def test_terminals_in_the_order_of_a_search() -> None:
    """From the first, neighbours with lower numbers first; then those that it does not reach, as they are given."""
    for seed in range(80):
        near, rng = graph(seed), Random(seed)
        terminals = rng.sample(sorted(near), rng.randint(1, len(near)))
        order = [terminals[0]]
        for v in order:
            order += [w for w in sorted(near[v]) if w not in order]
        wanted = [v for v in order if v in terminals] + [v for v in terminals if v not in order]
        assert _nearest_first(near, terminals) == wanted


def test_steps_to_a_growing_goal() -> None:
    for seed in range(60):
        near, rng = graph(seed), Random(seed)
        steps: dict[int, int] = {}
        goal: list[int] = []
        for _ in range(3):
            fresh = [v for v in rng.sample(sorted(near), min(2, len(near))) if v not in goal]
            goal += fresh
            _update_distances_to_goal(near, steps, fresh)
            assert steps == steps_to(near, set(goal)) and all(x < FAR for x in steps.values())


def ways(near: Graph, v: int, goal: Set[int]) -> int:
    """Paths of one step or two that share no device, where each neighbour in turn takes the first device of the goal left."""
    used = near[v] & goal
    found = len(used)
    for w in near[v]:
        left = [x for x in near[w] if x in goal and x not in used]
        if w not in goal and left:
            used = used | {left[0]}
            found += 1
    return found


def test_short_ways_are_seen_without_a_search() -> None:
    """And never more than there are: two that lead to the same device are one."""
    some = 0
    for seed in range(150):
        near, rng = graph(seed), Random(seed)
        v = rng.choice(sorted(near))
        goal = set(rng.sample(sorted(set(near) - {v}), rng.randint(1, len(near) - 1)))
        count = ways(near, v, goal)
        for limit in range(6):
            assert _short_ways(near, v, goal, limit) == (count >= limit), (seed, limit)
        if count:
            assert separator_from_set(near, near[v], goal, {v}, count, WorkLeft(PLENTY)) is None
            some += 1
    assert some > 60


def test_work_is_counted_by_devices_that_are_looked_at() -> None:
    """Each search counts the entries and exits that it has reached, and one; a pair with enough neighbours needs none."""
    line = {v: {w for w in (v - 1, v + 1) if 0 <= w < 6} for v in range(6)}
    for limit, work in ((1, 12), (2, 14)):  # 0 to 5 by entries and exits; then the entry of 0, which is used
        counted = WorkLeft(work)
        found = separator_from_set(line, [0], {5}, set(), limit, counted)
        assert counted.left == 0 and found == (None if limit == 1 else {0})
        with pytest.raises(WorkExhausted):
            separator_from_set(line, [0], {5}, set(), limit, WorkLeft(work - 1))
    exact = WorkLeft(5)
    exact.take(5)
    assert exact.left == 0
    with pytest.raises(WorkExhausted):
        exact.take(1)
    whole = {v: set(range(6)) - {v} for v in range(6)}
    assert (
        separator_of_devices(whole, 0, 1, 5, WorkLeft(0)) is None
        and separator_of_terminals(whole, list(range(6)), 3, False, WorkLeft(0)) is None
    )
    with pytest.raises(WorkExhausted):
        separator_of_devices(line, 0, 5, 2, WorkLeft(0))
