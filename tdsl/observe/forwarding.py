"""Forwarding tables of switches as they are: packets that go around or nowhere, and credit loops.

The tables are followed over the links that captures show, and where none shows a port, over those of the
design. Of routes between adapters a channel is a port that leads to a switch; a cycle of channels that wait
for each other is a credit loop on one virtual lane (Dally and Seitz, IEEE Transactions on Computers C-36,
1987).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.observe.describe import Words
from tdsl.observe.match import Seen, planned_far_ports
from tdsl.observe.record import CapturedEnd, CapturedRoute, CapturedTable
from tdsl.prove.channel_order import shortest_cycle_of_turns
from tdsl.system.lazy_dataclass import dataclass

ARRIVES, NOWHERE, UNKNOWN = -1, -2, -3
"""Where the next hop is no table: an adapter or the switch itself, no route, and a switch without a table."""


@dataclass(frozen=True, slots=True)
class ForwardingFault:
    """What is wrong with some routes: the first row that shows it, the words, how many more there are, and
    notes."""

    code: str
    route: CapturedRoute
    message: str
    notes: tuple[str, ...] = ()


class ForwardingTables:
    """Tables of switches of a design, by device, as columns: a row a switch, a column a LID."""

    def __init__(self, fabric: Fabric, seen: Seen, words: Words, tables: Mapping[int, CapturedTable]) -> None:
        self.fabric, self.words = fabric, words
        self.devices = sorted(tables)
        self.tables = tables
        rows = [r for t in tables.values() for r in t.rows]
        self.lids = sorted({r.lid for r in rows})
        self.named = {r.lid: r for r in rows}
        row_of = {d: i for i, d in enumerate(self.devices)}
        column = {lid: i for i, lid in enumerate(self.lids)}
        shape = len(self.devices), len(self.lids)
        self.port = np.full(shape, -1, dtype=np.int64)  # of the design
        self.next = np.full(shape, NOWHERE, dtype=np.int64)
        self.unlinked: list[tuple[int, CapturedRoute]] = []
        planned = planned_far_ports(fabric)
        known: dict[tuple[int, int], tuple[int, int]] = {}
        for d, table in tables.items():
            for r in table.rows:
                if (d, r.port) not in known:
                    known[d, r.port] = self._port_and_next(seen, planned, row_of, table, r.port)
                place = row_of[d], column[r.lid]
                self.port[place], self.next[place] = known[d, r.port]
                if r.port and self.next[place] == NOWHERE:
                    self.unlinked.append((d, r))

    def _port_and_next(
        self, seen: Seen, planned: Ints, row_of: Mapping[int, int], table: CapturedTable, number: int
    ) -> tuple[int, int]:
        """The port of the design that a number of a table means, and where it leads."""
        if number == 0:
            return -1, ARRIVES
        ports = seen.ports_of(CapturedEnd(table.node, (str(number),)))
        if not ports:
            return -1, NOWHERE
        far = seen.far.get(ports[0], int(planned[ports[0]]))
        if far < 0:
            return ports[0], NOWHERE
        device = seen.device(far)
        if device < 0 or not self.fabric.is_switch[device]:
            return ports[0], ARRIVES
        return ports[0], row_of.get(device, UNKNOWN)

    @property
    def routes(self) -> int:
        """Rows of all tables."""
        return sum(len(t.rows) for t in self.tables.values())

    def faults(self) -> Iterator[ForwardingFault]:
        """All faults, one of each kind."""
        for d, r in self.unlinked[:1]:
            yield ForwardingFault(
                "E0645",
                r,
                f"{self._name(d)} forwards what is for {r.name} by port {r.port}, which has no link"
                + _others(len(self.unlinked)),
            )
        yield from self._missing_routes()
        yield from self._loops()
        yield from self._credit_loops()

    def _name(self, device: int) -> str:
        return self.fabric.device_name(device)

    def _target(self, column: int) -> str:
        return f"{self.named[self.lids[column]].name} (LID {self.lids[column]})"

    @property
    def _to_adapters(self) -> Bools:
        return np.array([self.named[lid].kind != "switch" for lid in self.lids], dtype=np.bool_)

    def _missing_routes(self) -> Iterator[ForwardingFault]:
        """Adapters that another table knows and one does not."""
        missing = (self.port < 0) & (self.next == NOWHERE) & self._to_adapters
        for d, r in self.unlinked:
            missing[self.devices.index(d), self.lids.index(r.lid)] = False
        at = np.argwhere(missing)
        if len(at):
            s, column = at[0].tolist()
            d = self.devices[s]
            yield ForwardingFault(
                "E0645",
                self.named[self.lids[column]],
                f"{self._name(d)} has no route to {self._target(column)}, which another table has"
                + _others(len(at)),
            )

    def _loops(self) -> Iterator[ForwardingFault]:
        """LIDs that are forwarded around."""
        columns = np.arange(len(self.lids))
        jump = self.next.copy()
        for _ in range(max(len(self.devices), 1).bit_length()):
            goes = jump >= 0
            jump = np.where(goes, jump[np.where(goes, jump, 0), columns[None, :]], jump)
        at = np.argwhere((jump >= 0).T)
        if len(at):
            column, s = at[0].tolist()
            way = [s]
            while (after := int(self.next[way[-1], column])) not in way:
                way.append(after)
            way = [*way[way.index(after) :], after]
            names = " - ".join(self._name(self.devices[x]) for x in way)
            lids = len({c for c, _ in at.tolist()})
            yield ForwardingFault(
                "E0645",
                self.named[self.lids[column]],
                f"what is for {self._target(column)} goes around: {names}{_others(lids, 'LID')}",
            )

    def _reached(self) -> Bools:
        """By which tables routes from an adapter to an adapter pass, LID by LID."""
        adapters = self._to_adapters
        starts = ((self.next == ARRIVES) & (self.port >= 0)).any(axis=1)
        reached = np.zeros(self.next.shape, dtype=np.bool_)
        reached[np.ix_(starts, adapters)] = True
        front = np.argwhere(reached)
        while len(front):
            onward = self.next[front[:, 0], front[:, 1]]
            front = np.stack((onward, front[:, 1]), axis=1)[onward >= 0]
            front = np.unique(front[~reached[front[:, 0], front[:, 1]]], axis=0)
            reached[front[:, 0], front[:, 1]] = True
        return reached

    def _credit_loops(self) -> Iterator[ForwardingFault]:
        """A cycle of ports that wait for each other."""
        goes = self._reached() & (self.next >= 0)
        s, lid = np.nonzero(goes)
        t = self.next[s, lid]
        on = goes[t, lid]
        ports, number = np.unique(self.port[goes], return_inverse=True)
        place = np.full(self.next.shape, -1, dtype=np.int64)
        place[goes] = number
        first, then = place[s[on], lid[on]], place[t[on], lid[on]]
        pairs, at = np.unique(np.stack((first, then)), axis=1, return_index=True)
        cycle = shortest_cycle_of_turns(len(ports), pairs[0], pairs[1])
        if not cycle:
            return
        shown = dict(zip(map(tuple, pairs.T.tolist()), lid[on][at].tolist(), strict=True))
        where = [int(ports[c]) for c in cycle]
        names = [self._name(int(self.fabric.port_device[p])) for p in where]
        notes = tuple(
            f"{self.words.port(where[i])}, then {self.words.port(where[(i + 1) % len(cycle)])}: on the way "
            f"to {self._target(shown[cycle[i], cycle[(i + 1) % len(cycle)]])}"
            for i in range(min(len(cycle), 8))
        )
        yield ForwardingFault(
            "E0646",
            self.named[self.lids[shown[cycle[0], cycle[1 % len(cycle)]]]],
            f"{len(cycle)} ports wait for each other's credits on one virtual lane: "
            + " - ".join([*names, names[0]]),
            notes,
        )


def _others(count: int, what: str = "such row") -> str:
    """How many more there are than the one that is shown."""
    return "" if count < 2 else f", and {count - 1:,} more {what}{'s' * (count > 2)}"
