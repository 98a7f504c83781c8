"""The cables of a fabric as columns, and which rows differ between two fabrics: only of these are records
made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tdsl.changes.model import CableEnd, CableLeg
from tdsl.emit.link_tables import Wires
from tdsl.fabric.coded import Coded, Compact, Numbers, numbers_in_32_bits, read_rows_of_column
from tdsl.fabric.columns import Column
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import by_keys, rank_values

FACTS = {
    "part": "part",
    "medium": "medium",
    "length_m": "length",
    "rate_gbps": "Gb/s",
    "links": "links",
    "colour": "colour",
}
"""Columns of the table of cables that a comparison looks at, and what it calls them."""
PLACES = ("hall", "rack", "u")
ENDS = ("device_path", "path")
"""What an end is known by: the device as the design writes it, and its port."""


class CableRows:
    """The legs of a fabric's cables in the order of the cabling plan, as columns, without what they were
    computed from.

    ``known`` are devices that have another path in the fabric that this one is compared with.
    """

    def __init__(self, fabric: Fabric, known: Mapping[str, str]) -> None:
        wires = Wires(fabric)
        table = wires.cables
        self.order = numbers_in_32_bits(wires.cable_order[0])
        self._crossings = tuple(map(numbers_in_32_bits, wires.crossings))
        paths = [known.get(p, p) for p in map(fabric.device_path, range(fabric.device_count))]
        self.columns: dict[str, Column | Compact] = {n: table.compact(n) for n in ("cable_id", "link_class")}
        self.columns |= {name: table.compact(name) for name in FACTS}
        for side, ports in (("a", fabric.cable_a), ("b", fabric.cable_b)):
            devices = numbers_in_32_bits(fabric.port_device[ports[self.order]])
            self.columns[f"{side}_device_path"] = Coded(paths, devices)
            for name in ("device", "path", "port", *PLACES):
                self.columns[f"{side}_{name}"] = table.compact(f"{side}_{name}")

    def __len__(self) -> int:
        return len(self.order)

    def legs(self, rows: Ints) -> list[CableLeg]:
        """The records of some rows."""
        read = {name: read_rows_of_column(column)(rows) for name, column in self.columns.items()}
        ends = []
        for side in "ab":
            what = (read[f"{side}_{name}"] for name in ("device_path", "device", "path", "port"))
            ends.append([CableEnd(*map(str, values)) for values in zip(*what, strict=True)])
        facts = zip(*([str(v) for v in read[name]] for name in FACTS), strict=True)
        names = tuple(FACTS.values())
        places = zip(*(_places_of_side(read, side) for side in "ab"), strict=True)
        return [
            CableLeg(a, b, str(c), tuple(zip(names, row, strict=True)), links, str(cable), where)
            for a, b, c, row, links, cable, where in zip(
                *ends,
                read["link_class"],
                facts,
                self._links_of_rows(rows),
                read["cable_id"],
                places,
                strict=True,
            )
        ]

    def _links_of_rows(self, rows: Ints) -> Iterator[tuple[int, ...]]:
        """The links that run through the leg of each row, ascending."""
        links, legs = self._crossings
        wanted = np.zeros(len(self), dtype=np.bool_)
        wanted[self.order[rows]] = True
        few = np.flatnonzero(wanted[legs])
        few = few[np.lexsort((few, legs[few]))]
        first = np.searchsorted(legs[few], self.order[rows])
        last = np.searchsorted(legs[few], self.order[rows], side="right")
        through = links[few].tolist()
        return (tuple(through[a:b]) for a, b in zip(first.tolist(), last.tolist(), strict=True))


def differing_cable_rows(before: CableRows, after: CableRows) -> tuple[Ints, Ints]:
    """The rows of either fabric whose cable the other has not, between the same two ports with the same
    labels, facts and places."""
    keys = _cable_keys(before, after)
    old, new = _rows_of_equal_keys(*keys)
    same = np.ones(len(old), dtype=np.bool_)
    for name in (*FACTS, *(f"{side}_{what}" for side in "ab" for what in ("port", *PLACES))):
        one, other = _codes_of_columns(before.columns[name], after.columns[name])
        same &= one[old] == other[new]
    differ: list[Bools] = []
    for rows, table in ((old, before), (new, after)):
        there = np.ones(len(table), dtype=np.bool_)
        there[rows[same]] = False
        differ.append(there)
    return np.flatnonzero(differ[0]), np.flatnonzero(differ[1])


def _cable_keys(before: CableRows, after: CableRows) -> tuple[Ints, Ints]:
    """A number for each row of either fabric, equal where both ends are the same ports."""
    size = len(before)
    key = np.zeros(size + len(after), dtype=np.int64)
    for side in "ab":
        for what in ENDS:
            codes = _codes_of_columns(before.columns[f"{side}_{what}"], after.columns[f"{side}_{what}"])
            both = np.concatenate(codes)
            key = rank_values(key)[1] * (int(both.max(initial=0)) + 1) + both
    return key[:size], key[size:]


def _rows_of_equal_keys(before: Ints, after: Ints) -> tuple[Ints, Ints]:
    """Rows of both whose keys are equal and occur once on each side."""
    if np.array_equal(before, after) and len(rank_values(before)[0]) == len(before):
        every = np.arange(len(before), dtype=np.int64)
        return every, every
    (old, one), (new, other) = ((k[order], order) for k in (before, after) for order in (by_keys(k),))
    alone = [np.append(True, k[1:] != k[:-1]) & np.append(k[1:] != k[:-1], True) for k in (old, new)]
    if not len(old) or not len(new):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(new, old), len(new) - 1)
    found = (new[at] == old) & alone[0] & alone[1][at]
    return one[found], other[at[found]]


def _codes_of_columns(before: Column | Compact, after: Column | Compact) -> tuple[Ints, Ints]:
    """Numbers for the rows of two columns, equal where the values are the same text."""
    if isinstance(before, Numbers) and isinstance(after, Numbers) and before.blank == after.blank:
        return np.asarray(before.codes, np.int64), np.asarray(after.codes, np.int64)
    known: dict[str, int] = {}
    out = []
    for column in (before, after):
        if isinstance(column, Coded):
            values: Iterable[object] = column.values
        else:
            values = read_rows_of_column(column)(slice(None))
        codes = np.fromiter((known.setdefault(str(v), len(known)) for v in values), np.int64)
        out.append(codes[column.codes] if isinstance(column, Coded) else codes)
    return out[0], out[1]


def _places_of_side(read: Mapping[str, Sequence[object]], side: str) -> Iterator[tuple[str, ...]]:
    """Hall, rack and unit of the device at one side of each cable."""
    return zip(*([str(v) for v in read[f"{side}_{what}"]] for what in PLACES), strict=True)
