"""Paths that share no device, and the fewest devices that separate two of many terminals, of which each
forwards.

Disjoint paths from one device to a set are found one after the other, each by a search that may undo steps of
those before (Ford and Fulkerson 1956, every device passing one path); the search ends where it reaches the
set, so most look at few devices. To separate terminals: those of a list that no set smaller than the least
found separates stay on one side, so the next has to be compared with all of them at once only, as one set
(Even, "An algorithm for determining whether the connectivity of a graph is at least k", SIAM J. Comput. 4,
1975).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import combinations

from tdsl.system.lazy_dataclass import dataclass

Near = Mapping[int, Set[int]]
SOURCE = -1
FAR = 1 << 60
"""Steps from where no goal is reached."""


class WorkExhausted(Exception):
    """The limit of work is reached."""


@dataclass(slots=True)
class WorkLeft:
    """How many more devices searches may look at."""

    left: int

    def take(self, amount: int) -> None:
        """Count some work. Raises Spent."""
        self.left -= amount
        if self.left < 0:
            raise WorkExhausted


@dataclass(frozen=True, slots=True)
class Separator:
    """Two terminals, and devices without which they do not reach each other. ``joined``: but for a link
    between the two, which counts as one path more."""

    pair: tuple[int, int]
    devices: frozenset[int]
    joined: bool

    @property
    def value(self) -> int:
        """Paths that share no device."""
        return len(self.devices) + self.joined


def separator_from_set(
    near: Near,
    start: Iterable[int],
    goal: Set[int],
    without: Set[int],
    limit: int,
    work: WorkLeft,
    steps: Mapping[int, int] | None = None,
) -> frozenset[int] | None:
    """The fewest devices that separate the devices ``start`` from the set ``goal``, members of both included;
    None if there are ``limit`` disjoint paths. No path uses what is in ``without``.

    ``steps`` guides the search: how far every device is from the goal. The answer does not depend on it.
    """
    before: dict[int, int] = {}  # of every device on a path the one before
    after: dict[int, int] = {}
    first = [y for y in start if y not in without]
    for _ in range(limit):
        by, end = _search_next_path(near, first, goal, without, before, steps)
        work.take(len(by) + 1)
        if end < 0:
            return frozenset(s >> 1 for s in by if not s & 1 and s + 1 not in by)
        _add_disjoint_path(by, end, before, after)
    return None


# Kept in one piece: it takes most of the time of the proofs of redundancy, and a call for each device costs.
def _following_states(state: int, near: Near, without: Set[int], before: Mapping[int, int]) -> list[int]:
    """The states that one step leads to, a step of a path ``before`` backwards included."""
    y = state >> 1
    if state & 1:
        following = [2 * w for w in near[y] if w not in without]
        return [*following, 2 * y] if y in before else following
    if y not in before:
        return [2 * y + 1]
    return [] if before[y] == SOURCE else [2 * before[y] + 1]


def _search_next_path(
    near: Near,
    first: Iterable[int],
    goal: Set[int],
    without: Set[int],
    before: Mapping[int, int],
    steps: Mapping[int, int] | None,
) -> tuple[dict[int, int], int]:
    """From where each state is reached, and the state at the goal, -1 if none is reached: the entry of device
    y is state 2y, its exit 2y + 1. ``before`` has the paths so far, of which steps may be undone."""
    by = dict.fromkeys((2 * y for y in first), SOURCE)
    queue = deque(by)  # the right end is next
    end = next((t for t in by if t >> 1 in goal and t >> 1 not in before), -1)
    while queue and end < 0:
        state = queue.pop()
        y = state >> 1
        far = 0 if steps is None else steps.get(y, FAR)
        for t in _following_states(state, near, without, before):
            if t in by:
                continue
            by[t] = state
            x = t >> 1
            if not t & 1 and x in goal and x not in before:
                end = t
                break
            if steps is not None and (steps.get(x, FAR) < far or x == y):
                queue.append(t)
            else:
                queue.appendleft(t)
    return by, end


def _add_disjoint_path(
    by: Mapping[int, int], end: int, before: dict[int, int], after: dict[int, int]
) -> None:
    """Add the path that ends there; steps back undo steps of other paths."""
    added, undone = [], []
    state = end
    while state != SOURCE:
        came = by[state]
        if not state & 1:
            if came == SOURCE:
                added.append((SOURCE, state >> 1))
            elif came >> 1 != state >> 1:
                added.append((came >> 1, state >> 1))
        elif came >> 1 != state >> 1:
            undone.append((state >> 1, came >> 1))
        state = came
    for x, y in undone:
        del after[x], before[y]
    for x, y in added:
        before[y] = x
        if x != SOURCE:
            after[x] = y


def separator_of_devices(near: Near, u: int, v: int, limit: int, work: WorkLeft) -> Separator | None:
    """The fewest devices that separate two that forward; None if there are ``limit`` disjoint paths."""
    joined = v in near[u]
    if len(near[u] & near[v]) + joined >= limit:
        return None
    devices = separator_from_set(near, near[u], near[v] - {u}, {u, v}, limit - joined, work)
    return None if devices is None else Separator((u, v), devices, joined)


def separator_of_terminals(
    near: Near, terminals: Sequence[int], limit: int, joined: bool, work: WorkLeft
) -> Separator | None:
    """The fewest devices that separate two of the terminals, fewer than ``limit``; None if no so few do.

    With ``joined`` a link between two terminals counts as a path of theirs, else such pairs are never
    separated.
    """
    best: Separator | None = None
    order = _nearest_first(near, terminals)
    head = order[: limit + 1]
    for u, v in combinations(head, 2):
        if not joined and v in near[u]:
            continue
        found = separator_of_devices(near, u, v, limit, work)
        if found is not None:
            best, limit = found, found.value
    earlier = set(head)
    steps: dict[int, int] = {}
    fresh = list(head)
    for v in order[len(head) :]:
        if not _short_ways(near, v, earlier, limit):
            _update_distances_to_goal(near, steps, fresh)
            fresh = []
            devices = separator_from_set(near, near[v], earlier, {v}, limit, work, steps)
            if devices is not None:
                u = next(x for x in head if x not in devices)
                best, limit = Separator((u, v), devices, False), len(devices)
        earlier.add(v)
        fresh.append(v)
    return best


def _update_distances_to_goal(near: Near, steps: dict[int, int], fresh: Sequence[int]) -> None:
    """Correct how many ``steps`` every device is from a goal that ``fresh`` devices join."""
    steps.update(dict.fromkeys(fresh, 0))
    queue = deque(fresh)
    while queue:
        y = queue.popleft()
        far = steps[y] + 1
        for w in near[y]:
            if steps.get(w, FAR) > far:
                steps[w] = far
                queue.append(w)


def _nearest_first(near: Near, terminals: Sequence[int]) -> list[int]:
    """Terminals in the order in which a search from the first reaches them, then those that it does not."""
    seen = dict.fromkeys(terminals[:1])
    for v in (order := list(seen)):
        for w in sorted(near[v]):
            if w not in seen:
                seen[w] = None
                order.append(w)
    wanted = set(terminals)
    found = [v for v in order if v in wanted]
    return found + [v for v in terminals if v not in seen]


def _short_ways(near: Near, v: int, goal: Set[int], limit: int) -> bool:
    """Whether so many disjoint paths of one step or two lead to the set, as far as is seen without a
    search."""
    used = set(near[v] & goal)
    found = len(used)
    for w in near[v]:
        if found >= limit:
            break
        if w not in goal:
            x = next((x for x in near[w] if x in goal and x not in used), None)
            if x is not None:
                used.add(x)
                found += 1
    return found >= limit
