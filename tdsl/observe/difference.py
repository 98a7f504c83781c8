"""The difference between two cablings, and mistakes as operations that lead from one to the other.

A port carries one link by the design and one in what was seen, so the links that are in one cabling only form
alternating paths and cycles over ports. Faults that share no port lie in different components, and each
component is explained by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake of cabling. ``moves`` says from which port to which a plug was put; ``removed`` and
    ``added`` are links.

    ``cost`` is the number of moves that the mistake counts as, ``kind`` its name, ``devices`` those it is
    about. ``detail`` says what a pattern over many devices is.
    """

    kind: str
    moves: tuple[tuple[int, int], ...] = ()
    removed: tuple[tuple[int, int], ...] = ()
    added: tuple[tuple[int, int], ...] = ()
    devices: tuple[int, ...] = ()
    cost: int = 1
    amount: int = 0  # places of a shift
    detail: str = ""
    ties: tuple[Mistake, ...] = field(default=())

    def with_ties(self, ties: Iterable[Mistake]) -> Mistake:
        """The same with other explanations of the same cost."""
        return replace(self, ties=tuple(ties))


@dataclass(frozen=True, slots=True)
class Component:
    """Ports of an alternating path or cycle, in order; ``missing`` and ``extra`` links of it."""

    ports: tuple[int, ...]
    missing: int
    extra: int
    closed: bool

    @property
    def cost(self) -> int:
        """The fewest moves of single cables that explain it: a cycle of k cables takes k-1 exchanges, a path
        one a cable."""
        return self.missing - 1 if self.closed else max(self.missing, self.extra)


@dataclass(slots=True)
class SearchBudget:
    """Ports that may still be walked over while choices are compared; counted, so that the answer is the
    same on every machine."""

    left: int = 1 << 62

    @property
    def is_spent(self) -> bool:
        """Whether no more choices are to be compared."""
        return self.left <= 0


class Cabling:
    """What is explained so far: the design with some mistakes made. Compared with what was seen."""

    def __init__(
        self, planned: Callable[[int], int], seen: Callable[[int], int], budget: SearchBudget | None = None
    ) -> None:
        self._planned, self.seen = planned, seen
        self.budget = budget if budget is not None else SearchBudget()
        self.changed: dict[int, int] = {}

    def at(self, port: int) -> int:
        """The port at the other end, -1 where nothing is plugged."""
        found = self.changed.get(port)
        return self._planned(port) if found is None else found

    def differs(self, port: int) -> bool:
        """Whether a port is still to be explained."""
        return self.at(port) != self.seen(port)

    def component(self, port: int) -> Component:
        """The path or cycle through a port that differs."""
        at, seen = self.at, self.seen
        forward: list[int] = []
        missing = extra = 0
        here, planned = port, True
        while True:
            far = at(here) if planned else seen(here)
            if far < 0:
                break
            missing, extra = missing + planned, extra + (not planned)
            if far == port:
                self.budget.left -= len(forward)
                return Component((port, *forward), missing, extra, True)
            forward.append(far)
            here, planned = far, not planned
        back: list[int] = []
        here, planned = port, False
        while True:
            far = at(here) if planned else seen(here)
            if far < 0:
                break
            missing, extra = missing + planned, extra + (not planned)
            back.append(far)
            here, planned = far, not planned
        self.budget.left -= len(back) + len(forward)
        return Component((*reversed(back), port, *forward), missing, extra, False)

    def components(self, ports: Iterable[int]) -> list[Component]:
        """The components of those of these ports that differ."""
        found: list[Component] = []
        met: set[int] = set()
        for port in ports:
            if port >= 0 and port not in met and self.differs(port):
                one = self.component(port)
                met.update(one.ports)
                found.append(one)
        return found

    # ------------------------------------------------------------ mistakes
    def _after(self, mistake: Mistake) -> dict[int, int] | None:
        """New far ends of the ports that a mistake touches; None where it cannot be made here."""
        new: dict[int, int] = {}
        target = dict(mistake.moves)
        self.budget.left -= len(target) + len(mistake.removed)
        for p, q in mistake.removed:
            if self.at(p) != q:
                return None
            new[p] = new[q] = -1

        def far_end(port: int) -> int:
            far = new.get(port)
            return self.at(port) if far is None else far

        loose = []
        for p in target:
            far = far_end(p)
            if far >= 0:
                new[p] = new[far] = -1
                loose.append((p, far))
        for p, q in [*((target[p], target.get(q, q)) for p, q in loose), *mistake.added]:
            if p == q or far_end(p) >= 0 or far_end(q) >= 0:
                return None
            new[p], new[q] = q, p
        return new

    def make(self, mistake: Mistake) -> bool:
        """Make a mistake; False where it cannot be made."""
        new = self._after(mistake)
        if new is None:
            return False
        self.changed.update(new)
        return True

    def gain(self, mistake: Mistake) -> tuple[int, frozenset[int]]:
        """By how many moves of single cables a mistake explains more than it costs, and the ports that are
        involved."""
        new = self._after(mistake)
        if not new:
            return -1, frozenset()
        before = self.components(new)
        old = {p: self.changed[p] for p in new if p in self.changed}
        self.changed.update(new)
        after = self.components(new)
        for p in new:
            del self.changed[p]
        self.changed.update(old)
        ports = frozenset(p for c in (*before, *after) for p in c.ports).union(new)
        return sum(c.cost for c in before) - sum(c.cost for c in after) - mistake.cost, ports
