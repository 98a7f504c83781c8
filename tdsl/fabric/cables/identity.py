"""Cables by identity: their order, their identifiers, and which links run through which cable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.columns import DeviceColumns, PortColumns
from tdsl.fabric.narrow import narrow_column
from tdsl.fabric.order import by_keys

if TYPE_CHECKING:
    from tdsl.fabric.graph import Bools, Fabric, Ints

BLOCK = 1 << 16
"""Runs of links, and ports, that are looked up at once."""


class CableIndex:
    """The cables of a fabric; a row is a leg of a cable, in the order of the fabric's cable columns."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.ports = PortColumns(fabric)
        self.devices = DeviceColumns(fabric)

    @cached_property
    def crossings(self) -> tuple[Ints, Ints]:
        """Which link runs through which cable leg: two columns, links and rows of cables, nearest to the a
        end first."""
        f = self.fabric
        via = np.flatnonzero(f.link_via_a >= 0)
        if not len(f.cable_a) or not f.link_count:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        size = len(f.port_device)
        connector: NDArray[np.integer] = np.empty(size, np.int32 if size < 1 << 31 else np.int64)
        for ports in _row_blocks(size):
            connector[ports] = self.ports.connector_of(np.arange(ports.start, ports.stop))
        legs = connector[f.cable_a], connector[f.cable_b]
        named, across = np.full((2, size), -1, connector.dtype)
        for one, other in (legs, legs[::-1]):
            named[one] = np.arange(len(one))
            across[one] = other
        if np.count_nonzero(named >= 0) != 2 * len(f.cable_a):  # a connector is of several legs
            return self._crossings_of_pairs(connector, legs)
        found = np.empty((2, f.link_count + len(via)), np.int32 if size < 1 << 31 else np.int64)
        count = 0

        def run(links: Ints, start: Ints, stop: Ints) -> int:
            here = connector[start]
            same = np.flatnonzero(across[here] == connector[stop])  # never where no leg has the connector
            found[0, count : count + len(same)] = links[same]
            found[1, count : count + len(same)] = named[here[same]]
            return len(same)

        for block in _row_blocks(f.link_count):
            crossed = f.link_via_a[block]
            count += run(
                np.arange(block.start, block.stop),
                f.link_a[block],
                np.where(crossed >= 0, crossed, f.link_b[block]),
            )
        for block in _row_blocks(len(via)):
            count += run(via[block], f.link_via_b[via[block]], f.link_b[via[block]])
        return narrow_column(found[0, :count]), narrow_column(found[1, :count])

    def _crossings_of_pairs(
        self, connector: NDArray[np.integer], legs: tuple[NDArray[np.integer], ...]
    ) -> tuple[Ints, Ints]:
        """The crossings where the connector at one end does not tell the leg."""
        f = self.fabric
        via = f.link_via_a >= 0
        link = np.arange(f.link_count)
        link = np.concatenate([link, link[via]])
        start = np.concatenate([f.link_a, f.link_via_b[via]])
        stop = np.concatenate([np.where(via, f.link_via_a, f.link_b), f.link_b[via]])
        keys, wanted = self._pair(*legs), self._pair(connector[start], connector[stop])
        order = np.argsort(keys, kind="stable")
        at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        hit = keys[order][at] == wanted
        return link[hit], order[at[hit]]

    @cached_property
    def head_at_b(self) -> Bools:
        """Whether each leg belongs to a break-out whose undivided end is b."""
        f = self.fabric
        _, at, legs = np.unique(self.ports.connector_of(f.cable_b), return_inverse=True, return_counts=True)
        found: Bools = (f.cable_leg > 0) & (legs[at.ravel()] > 1)
        return found

    def _pair(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> Ints:
        """One number for a pair of connectors, whichever way round."""
        paired: Ints = np.minimum(a, b).astype(np.int64) * len(self.fabric.port_device) + np.maximum(a, b)
        return paired

    @cached_property
    def order(self) -> tuple[Ints, Ints, list[str]]:
        """Rows of cables in the order of the plan, the rank of each row's cable, and its identifier."""
        return *self.ranks, self.ids

    @cached_property
    def ranks(self) -> tuple[Ints, Ints]:
        """Rows of cables in the order of the plan, and the rank of each row's cable."""
        f = self.fabric
        if not len(f.cable_a):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        lead = self._keys[1]
        rank = lead[f.cable_group]
        return by_keys(rank, f.cable_leg), rank

    def turns(self) -> Ints:
        """1 for the legs of the cable to pull first: group by group, in it bundle by bundle, those of hosts
        by the switch that they lead to and those of a switch by the kind of switch above it."""
        f = self.fabric
        places: dict[str, int] = {}
        number = np.array(
            [places.setdefault(str(p), len(places)) for p in self.devices.place.tolist()], dtype=np.int64
        )
        lead = self.ranks[1]
        leader = np.zeros(int(f.cable_group.max()) + 1 if len(f.cable_group) else 0, np.int64)
        leader[f.cable_group[::-1]] = np.arange(len(f.cable_group))[::-1]
        a, b = f.port_device[f.cable_a[leader]], f.port_device[f.cable_b[leader]]
        families: dict[str, int] = {}
        family = np.array(
            [families.setdefault(str(x), len(families)) for x in self.devices.family], dtype=np.int64
        )
        of_host = f.is_end[a]
        bundle = np.where(of_host, b, a), np.where(of_host, family[a], family[b])
        order = by_keys(number[a], (~of_host).astype(np.int64), *bundle, b, lead[leader])
        turn = np.empty(len(order), np.int64)
        turn[order] = np.arange(len(order)) + 1
        found: Ints = turn[f.cable_group]
        return found

    @cached_property
    def ids(self) -> list[str]:
        """The identifier of each row's cable: device and connector of the port that it is named after."""
        if not len(self.fabric.cable_a):
            return []
        f, port = self.fabric, self.lead
        names = self.devices.name[f.port_device[port]].tolist()
        holes = self.ports.hole_id[self.ports.hole_rows(port)].tolist()
        return [f"{d}:{p}" for d, p in zip(names, holes, strict=True)]

    @cached_property
    def _keys(self) -> tuple[Ints, Ints]:
        """The place of every leg's lower end in the order of the plan, and the first place of every cable."""
        f = self.fabric
        rank = self.ports.rank[self.ports.rows(f.cable_a)]
        key = f.port_device[f.cable_a] * (int(rank.max(initial=0)) + 1) + rank
        lead = np.full(int(f.cable_group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(lead, f.cable_group, key)
        return key, lead

    @cached_property
    def lead(self) -> Ints:
        """For every leg the port that its cable is named after: that of the lower end which comes first."""
        f = self.fabric
        key, lead = self._keys
        first = np.zeros(len(lead), np.int64)
        leads = np.flatnonzero(key == lead[f.cable_group])
        first[f.cable_group[leads]] = leads
        port: Ints = f.cable_a[first[f.cable_group]]
        return port

    def links_by_id(self) -> dict[str, list[int]]:
        """The links that run through every cable, by the cable's identifier."""
        links, legs = self.crossings
        ids = self.order[2]
        found: dict[str, list[int]] = {}
        for link, leg in zip(links.tolist(), legs.tolist(), strict=True):
            found.setdefault(ids[leg], []).append(link)
        return found


def _row_blocks(size: int) -> Iterator[slice]:
    """Rows, so many at once that what is found for them stays in the processor's cache."""
    return (slice(i, min(i + BLOCK, size)) for i in range(0, size, BLOCK))
