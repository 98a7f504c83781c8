"""Tables kept as columns: a template may walk their records, and a filter may write a million rows without
making any."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, cached_property, partial
from itertools import chain, islice, product, repeat
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.cables.cabling import first_of_cage, ports_sharing_cable
from tdsl.fabric.coded import (
    Coded,
    Compact,
    Joined,
    Numbers,
    RowReader,
    coded_constant,
    read_rows_of_column,
)
from tdsl.semantics.model import Axis, DeviceModel, PathComponent, PortClass, indices_at_position

if TYPE_CHECKING:
    from tdsl.fabric.graph import Fabric, Ints

Record = TypeVar("Record")
Column = Sequence[object]
Objects = NDArray[np.object_]
STRETCH = 1 << 12
"""Rows whose values are held at once where the records of a table are walked."""


def values_of_column(column: Column | Compact) -> Column:
    """A column as the value of every row."""
    return column.tolist() if isinstance(column, (Coded, Numbers, Joined)) else column


@cache
def _field_names(record: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(record))


class Table(Generic[Record]):
    """Rows of one kind of record. Columns are computed when asked for; those nobody gives are empty in every
    row."""

    __slots__ = ("_columns", "_empty", "_readers", "_record", "_size")

    def __init__(
        self, record: type[Record], size: int, columns: Mapping[str, Callable[[], Column | Compact]]
    ) -> None:
        self._record = record
        self._size = size
        self._columns = columns
        self._readers: dict[str, RowReader] = {}
        self._empty: dict[str, bool] = {}

    def __len__(self) -> int:
        return self._size

    def column(self, name: str) -> Column:
        """All values of one field."""
        return values_of_column(self.compact(name))

    def compact(self, name: str) -> Column | Compact:
        """All values of one field, as few values and numbers that choose among them where the field is kept
        so."""
        self.want(name)
        make = self._columns.get(name)
        return make() if make else coded_constant("", self._size)

    def values_in_rows(self, names: Iterable[str], rows: Sequence[int] | Ints) -> dict[str, list[object]]:
        """The values of some fields in some rows, by field. What makes them is kept with the table, so that
        to read all rows in parts takes as long as to read them at once."""
        for name in names:
            if name not in self._readers:
                self._readers[name] = read_rows_of_column(self.compact(name))
        wanted = np.asarray(rows, np.int64)
        return {name: self._readers[name](wanted) for name in names}

    def is_empty_column(self, name: str) -> bool:
        """Whether a field is empty in every row."""
        if name not in self._empty:
            self._empty[name] = not any(value != "" for value in self.column(name))
        return self._empty[name]

    def want(self, name: str) -> None:
        """Raises KeyError for a field that a record does not have."""
        if name not in self.names:
            raise KeyError(f"no field `{name}`; known: {', '.join(self.names)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Fields of a record."""
        return _field_names(self._record)  # type: ignore[arg-type]

    def pick(self, rows: Ints) -> Table[Record]:
        """A table of some of its rows."""

        def picked(name: str) -> Column | Compact:
            column = self.compact(name)
            if isinstance(column, (Coded, Numbers, Joined)):
                return column.take(lambda codes: codes[rows])
            return [column[i] for i in rows.tolist()]

        return Table(self._record, len(rows), {name: partial(picked, name) for name in self._columns})

    def __iter__(self) -> Iterator[Record]:
        columns = [read_rows_of_column(self.compact(n)) for n in self.names]
        make: Callable[..., Record] = self._record
        for start in range(0, self._size, STRETCH):
            stretch = slice(start, min(self._size, start + STRETCH))
            yield from map(make, *(values(stretch) for values in columns))


def port_id(c: PortClass, index: int) -> str:
    """A port as a short name: ``p33``, ``nic3-1``; a class that itself ends in a digit keeps a dot
    between."""
    here = "-".join(map(str, indices_at_position(index, c.axes)))
    return f"{c.name}.{here}" if here and c.name[-1].isdigit() else f"{c.name}{here}"


def lane_axes(c: PortClass) -> int:
    """How many of a class's last indices count lanes of a split port; all lanes of one leave by one
    connector."""
    count, lanes = 0, 1
    while lanes < c.split and count < len(c.axes):
        count += 1
        lanes *= c.axes[-count].size
    return count


def hole_ids(c: PortClass) -> list[str]:
    """The cage of every port of a class as a short name: ``nic3`` for each of its lanes."""
    lanes = lane_axes(c)
    whole, split = (replace(c, axes=c.axes[: len(c.axes) - lanes]), c.split) if lanes else (c, 1)
    return [port_id(whole, i // split) for i in range(c.size)]


def hole_label(c: PortClass, index: int) -> str:
    """What the faceplate says where the module goes in: the port's name without its lane."""
    lanes = lane_axes(c)
    return c.labels[index].rsplit("/", lanes)[0] if lanes else c.labels[index]


def socket_suffixes(c: PortClass) -> list[str]:
    """Of every port of a class its socket in the module behind a slash; "" where the module of a split port
    has one. They are numbered from 1 as the lanes are, and have letters where several lanes share one."""
    sockets = min(c.sockets, c.split)
    if sockets < 2:
        return [""] * c.size
    marks = "123456789" if sockets == c.split else "ABCDEFGHI"
    return [f"/{marks[k % sockets]}" for k in c.connectors]


def natural_sort_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts ``IB1/2/1`` before ``IB1/10/1``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", text)
    return tuple((0, int(p), "") if p[0] in "0123456789" else (1, 0, p) for p in parts)


class PortColumns:
    """What the models say about their ports, laid out so that a million ports are looked up at once."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        counts = [m.port_count for m in fabric.models]
        self.base = np.cumsum([0, *counts])[:-1] if counts else np.zeros(0, np.int64)
        self._shift: Ints = self.base[fabric.device_model] - fabric.port_base[:-1]

    def rows(self, ports: Ints) -> Ints:
        """Places of ports in the columns below."""
        found: Ints = self._shift[self.fabric.port_device[ports]]
        found += ports
        return found

    def _gather(self, of: Callable[[PortClass, int], object]) -> Objects:
        return self._each(lambda c: (of(c, i) for i in range(c.size)))

    def _each(self, of: Callable[[PortClass], Iterable[object]]) -> Objects:
        values = [v for m in self.fabric.models for c in m.classes for v in of(c)]
        out: Objects = np.empty(len(values), dtype=object)
        out[:] = values
        return out

    @cached_property
    def label(self) -> Objects:
        """Faceplate names."""
        return self._gather(lambda c, i: c.labels[i])

    @cached_property
    def system(self) -> Objects:
        """Operating-system names, "" where unknown."""
        return self._gather(lambda c, i: c.systems[i])

    @cached_property
    def netdev(self) -> Objects:
        """Names of network devices, "" where unknown."""
        return self._gather(PortClass.netdev)

    @cached_property
    def sonic(self) -> Objects:
        """SONiC's names of ports, ``Ethernet8``, "" where the model does not say."""
        return self._gather(lambda c, i: f"Ethernet{c.sonic[i].number}" if c.sonic else "")

    @cached_property
    def sonic_alias(self) -> Objects:
        """SONiC's second names of ports, ``etp2a``: the model's ``alias``, else the name on the faceplate."""
        return self._gather(lambda c, i: (c.sonic[i].alias if c.sonic else "") or c.labels[i])

    @cached_property
    def cage(self) -> Objects:
        """Cages as printed: ``OSFP 17``, "" where there is none."""
        return self._gather(lambda c, i: f"{c.form} {c.cages[i]}".strip() if c.cages[i] else "")

    @cached_property
    def path(self) -> Objects:
        """How a design writes the port inside its device: ``nic[3]``."""
        return self._gather(lambda c, i: c.path(i))

    @cached_property
    def short(self) -> Objects:
        """Port names for identifiers: ``nic3``."""
        return self._gather(port_id)

    @cached_property
    def hole(self) -> Objects:
        """What the faceplate says where the port's cable goes in, with the socket where the module has
        several: ``17/2``. Rows are those of ``hole_rows``: behind the ports with their sockets stand all
        ports again without, for cables whose plug fills the cage."""
        names = self._gather(hole_label)
        return np.concatenate([names + self._sockets, names])

    @cached_property
    def hole_id(self) -> Objects:
        """That place for identifiers: ``nic3``; rows as for ``hole``."""
        names = self._each(hole_ids)
        return np.concatenate([names + self._sockets, names])

    @cached_property
    def _sockets(self) -> Objects:
        return self._each(socket_suffixes)

    def hole_rows(self, ports: Ints) -> Ints:
        """Places of ports in ``hole`` and ``hole_id``."""
        found = self.rows(ports)
        together = np.array([ports_sharing_cable(s.settings) for s in self.fabric.statements], dtype=np.int64)
        if not len(together) or (together == 1).all() or not (self._sockets != "").any():
            return found
        link = self.fabric.port_link[ports]
        here = np.where(link >= 0, together[self.fabric.link_statement[np.maximum(link, 0)]], 1)
        fills = (here == 0) | (here > self._lanes_of_socket[found])
        return np.where(fills, found + len(self._sockets), found)

    @cached_property
    def _lanes_of_socket(self) -> Ints:
        """How many ports share the socket of each port."""
        lanes = self._each(lambda c: [max(c.split // min(c.sockets, c.split), 1)] * c.size)
        return lanes.astype(np.int64)

    @cached_property
    def connector(self) -> Ints:
        """First port of every port's connector, counted inside the model."""
        out: list[int] = []
        for m in self.fabric.models:
            for c in m.classes:
                first: dict[int, int] = {}
                out += [first.setdefault(n, c.first + i) for i, n in enumerate(c.connectors)]
        return np.array(out, dtype=np.int64)

    @cached_property
    def rank(self) -> Ints:
        """The order in which a person meets the ports of a model: by cage, then by the name on the
        faceplate."""
        out: list[Ints] = []
        for m in self.fabric.models:
            keys = [
                (c.name if not c.cages[i] else "", c.cages[i], natural_sort_key(c.labels[i]), c.first + i)
                for c, i in _ports_of_model(m)
            ]
            places = np.empty(len(keys), dtype=np.int64)
            places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
            out.append(places)
        return np.concatenate(out) if out else np.zeros(0, np.int64)

    @cached_property
    def cage_first(self) -> Ints:
        """First port of every port's cage (of its connector where it has none), counted inside the model."""
        return first_of_cage(self.fabric.models)

    def cage_of(self, ports: Ints) -> Ints:
        """The first port of the cage that each of these ports is in."""
        f = self.fabric
        found: Ints = f.port_base[f.port_device[ports]] + self.cage_first[self.rows(ports)]
        return found

    def connector_of(self, ports: Ints) -> Ints:
        """The port that stands for the connector of each of these ports: the first of its cage's that leave
        by one cable."""
        f = self.fabric
        found: Ints = f.port_base[f.port_device[ports]] + self.connector[self.rows(ports)]
        together = np.array([ports_sharing_cable(s.settings) for s in f.statements] or [1], dtype=np.int64)
        if (together != 1).any() and f.link_count:
            link = f.port_link[ports]
            here = np.where(link >= 0, together[f.link_statement[np.maximum(link, 0)]], 1)
            for n in np.unique(here[here != 1]).tolist():
                first = f.port_base[f.port_device[ports]] + first_of_cage(f.models, n)[self.rows(ports)]
                found = np.where(here == n, first, found)
        return found


def _ports_of_model(model: DeviceModel) -> Iterator[tuple[PortClass, int]]:
    return ((c, i) for c in model.classes for i in range(c.size))


class DeviceColumns:
    """Names of devices and of the groups they stand in."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric

    @cached_property
    def name(self) -> Objects:
        """Names on labels and in configurations: those of ``Fabric.device_name``, a declaration at a time."""
        out: list[str] = []
        for s in self.fabric.sets:
            texts = [[s.prefix]] if s.prefix else []
            before = ""
            for p in s.parts:  # a name that a group and what it holds share is said once
                texts.append(_indexed_names("" if p.name == before else p.name, p.axes))
                before = p.name
            out += map("-".join, islice(product(*(t for t in texts if t != [""])), s.count))
        for device, name in self.fabric.names.items():
            out[device] = name or out[device]
        return self._objects(out)

    @cached_property
    def place(self) -> Objects:
        """The outermost group instance a device stands in (``su0``), "" if in none."""
        return self._grouped(lambda parts: [_indexed_names(p.name, p.axes) for p in parts[:-1][:1]])

    @cached_property
    def family(self) -> Objects:
        """A device's name without its own index: ``su0-node``."""
        return self._grouped(
            lambda parts: [*(_indexed_names(p.name, p.axes) for p in parts[:-1]), [parts[-1].name]]
        )

    def _grouped(self, pick: Callable[[Sequence[PathComponent]], list[list[str]]]) -> Objects:
        """For every device the joined texts that ``pick`` makes of parts of its path, beginning with the
        outermost."""
        out: list[str] = []
        for s in self.fabric.sets:
            names = ["-".join(n) for n in product(*pick(s.parts))]
            each = prod(a.size for a in s.axes) // len(names)
            out += islice(chain.from_iterable(repeat(n, each) for n in names), s.count)
        return self._objects(out)

    @staticmethod
    def _objects(values: list[Any]) -> Objects:
        out: Objects = np.empty(len(values), dtype=object)
        out[:] = values
        return out


class Lists:
    """Names as lists, one of each for all columns that have them: cells of the same list are made once."""

    def __init__(self) -> None:
        self._made: dict[
            tuple[int, bool], tuple[Objects, list[object]]
        ] = {}  # with the names, so that no other has their id

    def of(self, names: Objects) -> list[object]:
        """The names."""
        return self._list(names, False)

    def or_none(self, names: Objects) -> list[object]:
        """The names with "" at the end, for where there is none."""
        return self._list(names, True)

    def _list(self, names: Objects, none: bool) -> list[object]:
        key = id(names), none
        if key not in self._made:
            self._made[key] = names, [*names.tolist(), *([""] if none else [])]
        return self._made[key][1]


def _indexed_names(name: str, axes: Sequence[Axis]) -> list[str]:
    """A name with each of the indices that its axes give, in their order: ``su0``, ``leaf0-3``."""
    indices = product(*([str(n) for n in range(a.low, a.high + 1)] for a in axes))
    return [name + "-".join(i) for i in indices]
