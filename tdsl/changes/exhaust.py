"""All orders of few moves: one that keeps the floor, or a proof that none does.

Where no host gains or loses a link, capacity grows with the links, so plugging at once what can be plugged is
never worse, and a state is the set of old cables that are out. Cables that join the same two devices, and
whose ports are needed for cables between the same two devices that wait for nothing else, are
interchangeable: a state is how many of each class are out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.changes.steps import MoveStep
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.changes.model import CableLeg
    from tdsl.changes.steps import MovePlanner
    from tdsl.fabric.graph import Bools, Ints

TIMES = 4
"""How many times the tries of the planner are the states that are judged before the search is given up."""


@dataclass
class Search:
    """``steps`` are those of an order that was found; ``proved`` says that there is none. ``best`` is the
    largest bisection of the states that break the floor, ``reached`` the most cables that were out in a state
    that keeps the floor."""

    planner: MovePlanner
    steps: list[MoveStep] = field(default_factory=list)
    found: bool = False
    proved: bool = False
    best: Fraction = Fraction(0)
    reached: int = 0

    def run(self) -> Search:
        """Visit the states that can be reached, those with most cables out first."""
        p = self.planner
        if self._touches_hosts():
            return self
        classes = self._classes()
        start = (0,) * len(classes)
        before: dict[tuple[int, ...], tuple[int, ...]] = {start: start}
        front, left, sure = [start], TIMES * p.tries, True
        goal = tuple(map(len, classes))
        while front and goal not in before:
            here = front.pop()
            for k in range(len(classes)):
                state = (*here[:k], here[k] + 1, *here[k + 1 :])
                if here[k] == len(classes[k]) or state in before:
                    continue
                left -= 1
                if left < 0:
                    return self
                kept, upper = self._judge_unplugging(self._gone(classes, here), classes[k][here[k]])
                if kept:
                    before[state] = here
                    self.reached = max(self.reached, sum(state))
                    front.append(state)
                else:
                    self.best = max(self.best, upper)
                    sure = sure and upper < p.floor
        if goal not in before:
            self.proved = sure
            return self
        path = [goal]
        while path[-1] != start:
            path.append(before[path[-1]])
        self._batches(classes, path[::-1])
        return self

    def _judge_unplugging(self, gone: set[int], cable: int) -> tuple[bool, Fraction]:
        """Whether the floor is kept where a cable is unplugged too, before and after what can be plugged is
        plugged; and an upper bound on the bisection while it is out."""
        p = self.planner
        state = p.less(self._present(gone), [cable])
        lower, upper = p.judge(state)
        if lower < p.floor or p.broken(state, p.idle):
            return False, upper
        return not p.broken(self._present({*gone, cable}), p.idle), upper

    def _touches_hosts(self) -> bool:
        p = self.planner
        f = p.both.fabric
        ends = {f.device_path(d).replace("'", "") for d in range(f.device_count) if f.is_end[d]}
        return bool(p.idle.any()) or any(end.device in ends for c in (*p.out, *p.come) for end in (c.a, c.b))

    def _classes(self) -> list[list[int]]:
        """Old cables by what is the same for them."""
        p = self.planner
        waits: dict[tuple[str, str], list[int]] = defaultdict(list)  # new cables that need a port
        for i, c in enumerate(p.come):
            for end in (c.a, c.b):
                waits[end.key].append(i)
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for i, c in enumerate(p.out):
            sign: list[Hashable] = [c.a.device, c.b.device, self._rates(p.both.old, c)]
            for end in (c.a, c.b):
                for n in waits[end.key]:
                    new = p.come[n]
                    alone = all(p.taken[e.key] <= {i} for e in (new.a, new.b))
                    rates = self._rates(p.both.new, new)
                    sign.append((end.device, new.a.device, new.b.device, rates) if alone else ("own", i))
            groups[tuple(sign)].append(i)
        return list(groups.values())

    def _rates(self, side: Ints, cable: CableLeg) -> tuple[int, ...]:
        """Rates of the links of a cable."""
        return tuple(self.planner.both.fabric.link_rate[side[list(cable.links)]].tolist())

    @staticmethod
    def _gone(classes: list[list[int]], state: tuple[int, ...]) -> set[int]:
        return {i for mine, n in zip(classes, state, strict=True) for i in mine[:n]}

    def _present(self, gone: set[int]) -> Bools:
        """The links while some old cables are out and all is plugged that fits."""
        p = self.planner
        return p.more(p.less(p.old, gone), p.pluggable(gone, set()))

    def _batches(self, classes: list[list[int]], path: list[tuple[int, ...]]) -> None:
        """The order as steps, each with as many cables as the floor bears."""
        p = self.planner
        at, plugged = 0, set(p.pluggable(set(), set()))
        now = p.judge(self._present(set()))[0]
        if plugged:
            self.steps.append(MoveStep((), tuple(p.come[i] for i in sorted(plugged)), p.judge(p.old)[0], now))
        while at < len(path) - 1:
            gone = self._gone(classes, path[at])
            to = at + 1
            during, out = now, set(gone)
            for upto in range(at + 1, len(path)):
                more = self._gone(classes, path[upto])
                state = p.less(self._present(gone), more - gone)
                share = p.judge(state)[0]
                if share < p.floor or p.broken(state, p.idle):
                    break
                to, during, out = upto, share, more
            ready = [i for i in p.pluggable(out, set()) if i not in plugged]
            plugged |= set(ready)
            now = p.judge(self._present(out))[0]
            self.steps.append(
                MoveStep(
                    tuple(p.out[i] for i in sorted(out - gone)), tuple(p.come[i] for i in ready), during, now
                )
            )
            at = to
        self.found = True
