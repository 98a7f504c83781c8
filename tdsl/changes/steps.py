"""An order of moves from one cabling to another in which the bisection never falls below a floor, or a proof
that none does.

Only unplugging takes bandwidth away: among the same hosts, capacity is monotone in the links. So whatever can
be plugged is plugged first, and each step then unplugs as many cables as the floor bears, and plugs what
their ports were needed for. Where every cable that could be unplugged first breaks the floor with all else
plugged that can be, no order keeps it.

Hosts that come or go, or of which every cable moves, are out of service meanwhile: they leave before the
first step and join after the last one, and the steps between are judged for the hosts that stay in service. A
proof that no order exists is given only where there are none of them, since they could also join earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from fractions import Fraction
from itertools import chain

import numpy as np

from tdsl.changes.model import CableLeg, Changes
from tdsl.changes.union import OLD, Union
from tdsl.fabric.graph import Bools
from tdsl.prove.bisection import bisection_share
from tdsl.system.lazy_dataclass import dataclass

TRIES = 400
"""States of one cable less that are judged before the search is given up."""

ENOUGH = 12
"""Steps of an order that is not bettered any more."""

Port = tuple[str, str]


@dataclass(frozen=True, slots=True)
class MoveStep:
    """Cables that are out at once, then those that are plugged; the bisection while they are out, and
    afterwards."""

    unplug: tuple[CableLeg, ...]
    plug: tuple[CableLeg, ...]
    during: Fraction
    after: Fraction


@dataclass(slots=True)
class MovePlan:
    """``steps`` in order. ``proved`` says that no order keeps the floor, and ``why`` in words.

    ``leave`` are the hosts that go out of service before the steps, ``join`` those that come into service
    after them; ``before`` and ``end`` are the bisection with all hosts of the old and of the new design, None
    where no order was looked for.
    """

    floor: Fraction
    before: Fraction | None = None
    end: Fraction | None = None
    leave: tuple[str, ...] = ()
    join: tuple[str, ...] = ()
    steps: list[MoveStep] = field(default_factory=list)
    complete: bool = False
    proved: bool = False
    why: str = ""


@dataclass
class MovePlanner:
    """Searches an order. Cables are known by their ends; ``old`` and ``new`` by the rows of links of their
    own fabric."""

    both: Union
    changes: Changes
    floor: Fraction
    broken: Callable[[Bools, Bools], str] = lambda present, idle: ""
    """What else must hold, of a column of links and one of devices out of service: in words what does not, ""
    if all does."""
    tries: int = TRIES

    def __post_init__(self) -> None:
        moved = self.changes.moved
        self.out = [*self.changes.removed, *(m.old for m in moved)]
        self.come = [*self.changes.added, *(m.new for m in moved)]
        self.taken: dict[Port, set[int]] = defaultdict(set)  # ports that old cables hold
        for i, c in enumerate(self.out):
            for end in (c.a, c.b):
                self.taken[end.key].add(i)
        self.next_of = {c.a.key: c.b.device for c in self.come}
        self.present = np.zeros(self.both.fabric.link_count, dtype=np.bool_)
        self.present[self.both.old] = True
        self.old, self.new = self.present.copy(), np.zeros_like(self.present)
        self.new[self.both.new] = True
        self.here, self.there = (self._units(x) for x in (self.old, self.new))
        staying = self.here & self.there
        f = self.both.fabric
        kept = self.old & self.new
        has = np.zeros(f.device_count, dtype=np.bool_)
        has[f.device_a[kept]] = has[f.device_b[kept]] = True
        uprooted = staying & ~has
        self.idle = (self.here | self.there) & ~(staying & ~uprooted) & f.is_end
        self.leaves, self.joins = self.here & self.idle, self.there & self.idle

    def _units(self, present: Bools) -> Bools:
        out = np.zeros(self.both.fabric.device_count, dtype=np.bool_)
        out[self.both.state(present).units] = True
        return out

    # ------------------------------------------------------------ states
    def judge(self, present: Bools, idle: Bools | None = None) -> tuple[Fraction, Fraction]:
        """Bounds on the bisection of a state, as a fraction of what the smaller side of its hosts can send.

        ``idle`` are the hosts out of service, those of the steps if not given.
        """
        view = self.both.state(present, self.idle if idle is None else idle)
        if len(view.units) < 2:
            return Fraction(0), Fraction(0)
        share = bisection_share(view)
        return (share.lower, share.upper) if share is not None else (Fraction(0), Fraction(0))

    def less(self, present: Bools, cables: Iterable[int]) -> Bools:
        """A state without some old cables."""
        left = present.copy()
        for i in cables:
            left[self.both.old[list(self.out[i].links)]] = False
        return left

    def pluggable(self, unplugged: set[int], plugged: set[int]) -> list[int]:
        """New cables that are not in place and whose ports are free."""
        return [
            i
            for i, c in enumerate(self.come)
            if i not in plugged and all(self.taken[end.key] <= unplugged for end in (c.a, c.b))
        ]

    def more(self, present: Bools, cables: Iterable[int]) -> Bools:
        """A state with some new cables."""
        out = present.copy()
        for i in cables:
            out[self.both.new[list(self.come[i].links)]] = True
        return out

    # ------------------------------------------------------------ the search
    def run(self) -> MovePlan:
        """The order of the fewest steps that was found; else what stands in the way of the first one
        tried."""
        none = np.zeros_like(self.idle)
        before, end = self.judge(self.old, none), self.judge(self.new, none)
        begun = MovePlan(self.floor, before[0], end[0], self._names(self.leaves), self._names(self.joins))
        refused = self._refuse_designs_below_floor(begun, before[1], end[1])
        if refused is not None:
            return refused
        best: MovePlan | None = None
        for groups in (self._by_device(self.goes_to), self._by_device(self.comes_from), self._spread()):
            most = len(best.steps) if best is not None else len(self.out) + 1
            found = self._ordered(replace(begun, steps=[]), groups, most)
            if found.complete or found.proved or best is None:
                best = found
            if found.proved or (found.complete and len(found.steps) <= ENOUGH):
                break
        assert best is not None
        return best if best.complete or best.proved else self._all_orders(best)

    def _refuse_designs_below_floor(
        self, begun: MovePlan, before: Fraction, end: Fraction
    ) -> MovePlan | None:
        """The plan that says why there is none, where one of the two designs itself does not keep what the
        states between them must keep; ``before`` and ``end`` are upper bounds on their bisections."""
        for value, which in ((before, "the old design"), (end, "the new design")):
            if value < self.floor:
                why = f"{which} itself has a bisection of {percent_of_share(value)}"
                return replace(begun, proved=True, why=why)
        for present, idle, which in (
            (self.old, self.joins, "the old design"),
            (self.new, self.leaves, "the new design"),
        ):
            amiss = self.broken(present, idle)
            if amiss:
                return replace(begun, why=f"in {which} {amiss}")
        return None

    def _all_orders(self, plan: MovePlan) -> MovePlan:
        """Where no order was found: one of all orders of few moves, or the proof that there is none."""
        from tdsl.changes.exhaust import Search

        search = Search(self).run()
        if search.found:
            return replace(plan, steps=search.steps, complete=True, why="")
        if not search.proved:
            return plan
        why = (
            f"all orders were tried: at most {search.reached:,} of {len(self.out):,} cables can be out, "
            "and whichever"
        )
        return replace(
            plan, proved=True, why=f"{why} is unplugged then, at most {percent_of_share(search.best)} is left"
        )

    def _ordered(self, plan: MovePlan, groups: list[list[int]], most: int) -> MovePlan:
        """Unplug group by group, as many at once as the floor bears, in fewer steps than ``most``."""
        start = self.present.copy()
        unplugged: set[int] = set()
        plugged: set[int] = set()
        going = self._plug(plan, (), unplugged, plugged, plan.before or Fraction(0))
        while going and groups and len(plan.steps) < most:
            batch = self._batch(plan, groups, unplugged)
            going = batch is not None
            if batch is not None:
                self.present = self.less(self.present, batch)
                during = self.judge(self.present)[0]
                unplugged |= set(batch)
                left = [[i for i in group if i not in unplugged] for group in groups]
                groups = [group for group in left if group]
                going = self._plug(plan, tuple(batch), unplugged, plugged, during)
        plan.complete = going and not groups
        self.present = start
        return plan

    def _plug(
        self, plan: MovePlan, batch: tuple[int, ...], unplugged: set[int], plugged: set[int], during: Fraction
    ) -> bool:
        """Plug what can be plugged. More hosts may mean less for each, so the floor is looked at again."""
        ready = self.pluggable(unplugged, plugged)
        if not batch and not ready:
            return True
        self.present = self.more(self.present, ready)
        plugged |= set(ready)
        after = self.judge(self.present)[0] if ready else during
        amiss = self.broken(self.present, self.idle) if ready else ""
        if after < self.floor or amiss:
            plan.why = (
                "once everything is plugged that fits, "
                f"{amiss or f'the bisection is {percent_of_share(after)}'}"
            )
            return False
        plan.steps.append(
            MoveStep(tuple(self.out[i] for i in batch), tuple(self.come[i] for i in ready), during, after)
        )
        return True

    def _batch(self, plan: MovePlan, groups: list[list[int]], unplugged: set[int]) -> list[int] | None:
        """As many of the first groups as the floor bears, else a part of the first; None, and why, if not one
        cable."""

        def kept(cables: list[int]) -> bool:
            left = self.less(self.present, cables)
            return self.judge(left)[0] >= self.floor and not self.broken(left, self.idle)

        low, high = 0, len(groups)  # so many groups are borne, so many may be
        while low < high:
            middle = high if not low and high == len(groups) else (low + high + 1) // 2
            low, high = (middle, high) if kept([*chain(*groups[:middle])]) else (low, middle - 1)
        if low:
            return [*chain(*groups[:low])]
        size = len(groups[0]) // 2
        while size > 1:
            if kept(groups[0][:size]):
                return groups[0][:size]
            size //= 2
        return self._single_cable(plan, [*chain(*groups)], unplugged)

    def _single_cable(self, plan: MovePlan, waiting: list[int], unplugged: set[int]) -> list[int] | None:
        """The first cable that can be unplugged by itself; None, and why, if there is none among those that
        are tried."""
        best, sure, said = Fraction(0), len(waiting) <= self.tries, ""
        for i in waiting[: self.tries]:
            left = self.less(self.present, [i])
            lower, upper = self.judge(left)
            amiss = self.broken(left, self.idle) if lower >= self.floor else ""
            if lower >= self.floor and not amiss:
                return [i]
            best, sure, said = max(best, upper), sure and upper < self.floor, said or amiss
        plan.proved = sure and not unplugged and self._same_hosts()
        plan.why = (
            f"whichever of {len(waiting):,} cables is unplugged next, at most "
            f"{percent_of_share(best)} is left"
        )
        plan.why += f", or {said}" if said else ""
        return None

    def _same_hosts(self) -> bool:
        """Whether the hosts with links are those of before, so that more links are never worse."""
        return not self.idle.any() and all(
            np.array_equal(self.here, x) for x in (self.there, self._units(self.present))
        )

    def _names(self, devices: Bools) -> tuple[str, ...]:
        """Paths of devices."""
        return tuple(
            self.both.fabric.device_path(d).replace(OLD, "") for d in np.flatnonzero(devices).tolist()
        )

    # ------------------------------------------------------------ orders to try
    def goes_to(self, i: int) -> str:
        """The upper device to which a cable's lower port is plugged next; where it is not, the one it comes
        from."""
        return self.next_of.get(self.out[i].a.key, self.out[i].b.device)

    def comes_from(self, i: int) -> str:
        """The upper device that a cable leaves."""
        return self.out[i].b.device

    def _by_device(self, of: Callable[[int], str]) -> list[list[int]]:
        """Old cables by a device, in order: a switch is useful once all its cables are in place."""
        groups: dict[str, list[int]] = defaultdict(list)
        for i in range(len(self.out)):
            groups[of(i)].append(i)
        return list(groups.values())

    def _spread(self) -> list[list[int]]:
        """Old cables one of every device in turn, so that no device loses much at once."""
        turns: dict[str, int] = defaultdict(int)
        groups: dict[int, list[int]] = defaultdict(list)
        for i, c in enumerate(self.out):
            groups[max(turns[c.a.device], turns[c.b.device])].append(i)
            turns[c.a.device] += 1
            turns[c.b.device] += 1
        return [groups[turn] for turn in sorted(groups)]


def states_of_plan(both: Union, plan: MovePlan) -> Iterator[tuple[int, str, Bools]]:
    """The states of an order of moves: the number of the step from 1, ``cables out`` or ``cables plugged``,
    and the links that are there. A state that is that of before is left out."""
    present = np.zeros(both.fabric.link_count, dtype=np.bool_)
    present[both.old] = True
    for number, step in enumerate(plan.steps, 1):
        for what, cables, rows, there in (
            ("cables out", step.unplug, both.old, False),
            ("cables plugged", step.plug, both.new, True),
        ):
            if cables:
                present = present.copy()
                present[rows[[link for cable in cables for link in cable.links]]] = there
                yield number, what, present


def percent_of_share(value: Fraction) -> str:
    """``93.75%``."""
    return f"{float(value * 100):.4g}%"
