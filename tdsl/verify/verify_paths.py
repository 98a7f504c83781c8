"""Shortest paths of many sources at once, and what flows along them: the part of ``verify_certificate.py`` that counts.

It needs Python and nothing else, and works in whole numbers only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import Any

Arc = tuple[int, int]
Wanted = dict[int, int]


class Graph:
    """Nodes by their number, the room of arcs between them, and which nodes a path may pass."""

    CELLS = 2_000_000

    def __init__(self, room: dict[Arc, int], passes: list[bool]) -> None:
        self.room, self.passes = room, passes
        self.near: list[list[int]] = [[] for _ in passes]
        self.before: list[list[int]] = [[] for _ in passes]
        for v, w in sorted(room):
            self.near[v].append(w)
            self.before[w].append(v)

    def waves(self, sources: list[int], length: dict[Arc, int]) -> list[dict[int, int]]:
        """For every node, by distance, the sources that are so far from it: bit i stands for the i-th (Dijkstra 1959, for all of
        them at once)."""
        own = {s: 1 << i for i, s in enumerate(sources)}
        far: list[dict[int, int]] = [{} for _ in self.near]
        seen, coming, order = [0] * len(far), {0: own}, [0]
        while order:
            at = heappop(order)
            for v, bits in coming.pop(at).items():
                bits &= ~seen[v]
                seen[v] |= bits
                if bits:
                    far[v][at] = far[v].get(at, 0) | bits
                onward = bits if self.passes[v] else bits & own.get(v, 0)
                for w in self.near[v] if onward else ():
                    if more := onward & ~seen[w]:
                        then = at + length[v, w]
                        if then not in coming:
                            coming[then] = {}
                            heappush(order, then)
                        coming[then][w] = coming[then].get(w, 0) | more
        return far

    def goes(self, sources: list[int]) -> Iterator[list[int]]:
        """Some sources at a time, as memory allows."""
        each = max(self.CELLS // len(self.near), 32)
        return (sources[i : i + each] for i in range(0, len(sources), each))

    @staticmethod
    def met(far: list[dict[int, int]], wanted: list[Wanted]) -> Iterator[tuple[int, int, int]]:
        """The place of a source, its target and how far that is, for all targets that are reached."""
        asking: dict[int, int] = defaultdict(int)
        for i, to in enumerate(wanted):
            for t in to:
                asking[t] |= 1 << i
        for t, bits in asking.items():
            for at, there in far[t].items():
                both = bits & there
                while both:
                    low = both & -both
                    yield low.bit_length() - 1, t, at
                    both ^= low

    def send(
        self, sources: list[int], wanted: Callable[[int], Wanted], length: dict[Arc, int], load: dict[Arc, int], times: Wanted
    ) -> Wanted:
        """Add what all sources send along shortest paths to the load of arcs, each so many times; what of it is wanted by those
        who are reached. Every node divides what comes by the room of the last arcs, rounded down; the first takes what is over.
        """
        out: Wanted = {}
        for part in self.goes(sources):
            asked, far = [wanted(s) for s in part], self.waves(part, length)
            waiting: dict[int, dict[int, Wanted]] = {}
            got = [0] * len(part)
            for i, t, at in self.met(far, asked):
                got[i] += asked[i][t]
                waiting.setdefault(at, {}).setdefault(t, {})[i] = asked[i][t]
            out |= dict(zip(part, got, strict=True))
            self.hand_back(part, far, length, waiting, load, [times.get(s, 1) for s in part])
        return out

    def hand_back(
        self,
        part: list[int],
        far: list[dict[int, int]],
        length: dict[Arc, int],
        waiting: dict[int, dict[int, Wanted]],
        load: dict[Arc, int],
        times: list[int],
    ) -> None:
        """From what is farthest on, to where it came from."""
        own = {s: 1 << i for i, s in enumerate(part)}
        order = [-at for at in waiting if at]
        order.sort()
        while order:
            at = -heappop(order)
            for v, amounts in waiting.pop(at).items():
                ways = []
                for u in self.before[v]:
                    before = at - length[u, v]
                    bits = far[u].get(before, 0) & (-1 if self.passes[u] else own.get(u, 0))
                    if bits:
                        ways.append((bits, self.room[u, v], u, before))
                for i, amount in amounts.items():
                    tight = [way for way in ways if way[0] >> i & 1]
                    whole, over, parts = sum(way[1] for way in tight), amount, []
                    for _, room, u, before in tight:
                        parts.append((amount * room // whole, u, before))
                        over -= parts[-1][0]
                    for x, u, before in parts:
                        x, over = x + over, 0
                        if x:
                            load[u, v] += x * times[i]
                            if before and before not in waiting:
                                waiting[before] = {}
                                heappush(order, -before)
                            if before:
                                there = waiting[before].setdefault(u, {})
                                there[i] = there.get(i, 0) + x

    def spent(
        self, sources: list[int], wanted: Callable[[int], Wanted], length: dict[Arc, int], times: Wanted
    ) -> tuple[int, bool]:
        """The sum of amounts times distances, and whether all are reached."""
        out, whole = 0, True
        for part in self.goes(sources):
            asked, count = [wanted(s) for s in part], 0
            for i, t, at in self.met(self.waves(part, length), asked):
                out += asked[i][t] * at * times.get(part[i], 1)
                count += 1
            whole &= count == sum(map(len, asked))
        return out, whole


def path(tree: dict[int, tuple[int, int]], s: int, t: int) -> Iterator[Arc]:
    """The arcs from one node of a tree to another."""
    while s != t:
        if tree[s][0] >= tree[t][0]:
            yield s, tree[s][1]
            s = tree[s][1]
        else:
            yield tree[t][1], t
            t = tree[t][1]


def classes(count: int, images: list[list[int]]) -> list[int]:
    """For everything the lowest that the images lead to."""
    out, before = list(range(count)), [-1]
    while out != before:
        before = out[:]
        for x, y in ((x, y) for image in images for x, y in enumerate(image)):
            out[x] = out[y] = min(out[x], out[y])
    return out


def first(kinds: Iterable[Any]) -> list[int]:
    """For everything the first of its kind."""
    known: dict[Any, int] = {}
    return [known.setdefault(kind, i) for i, kind in enumerate(kinds)]


def scaled(amounts: Wanted, by: Wanted, key: int) -> Wanted:
    """Amounts so many times."""
    return {v: x * by[key] for v, x in amounts.items()}


def sums(by: list[int], amounts: Wanted) -> Wanted:
    """Amounts added up by what their places are by."""
    out: Wanted = defaultdict(int)
    for v, amount in amounts.items():
        out[by[v]] += amount
    return out


if __name__ == "__main__":
    raise SystemExit("rejected: verify_certificate.py is the one to run; it reads this file")
