"""Ports of all devices: which are free, and who gets which. Rules 1 to 4 of *Ports* in docs/language.md."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.cables.cabling import number_connectors
from tdsl.fabric.graph import FREE, HOLE, INSIDE, USED
from tdsl.fabric.order import by_keys, distinct_values, number_within_key
from tdsl.fabric.vector import Array
from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.model import DeviceModel, DeviceSet, PortClass
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count

KEPT = 4
"""State of a port, while links are laid, that is kept for a link that stands (``fabric.pins``)."""


@dataclass(slots=True)
class LinkEnds:
    """Link ends that ask for ports, as columns.

    ``local`` is a row-major place in the class for a written port, -1 for "the lowest free". ``choice``
    numbers the set of candidates an open end may take; ``far`` is the device at the other end; ``copy`` the
    copy of the link. ``together`` links of one copy leave by one cable: copies then begin at a multiple of
    it.
    """

    device: Array
    class_name: list[str]  # of each choice
    candidates: list[Array | None]  # of each choice: places in the class, None for all
    spans: list[SourceSpan]  # of each choice
    choice: NDArray[np.int32]
    local: Array
    far: Array
    copy: Array
    together: int = 1


class PortTable:
    """Port numbers and their states. Rows of devices are those of the fabric."""

    def __init__(
        self,
        sets: Sequence[DeviceSet],
        models: Sequence[DeviceModel],
        device_model: Array,
        built: NDArray[np.bool_],
    ) -> None:
        self.sets, self.models, self.device_model, self.built = sets, models, device_model, built
        counts = np.array([m.port_count for m in models] or [0], dtype=np.int64)[device_model]
        self.base = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
        self.state = np.zeros(int(self.base[-1]), dtype=np.uint8)
        self.owner: dict[int, SourceSpan] = {}
        self.by_model: set[int] = set()  # statements that a model wrote
        self.taker = np.full(int(self.base[-1]), -1, dtype=np.int32)  # statement that took a port

    @cached_property
    def forwards(self) -> NDArray[np.bool_]:
        """Whether the design says of a device that it passes traffic of others on."""
        said = np.zeros(len(self.device_model), dtype=np.bool_)
        for s in self.sets:
            said[s.first : s.first + s.count] = bool(s.settings.get("forwards"))
        said |= np.array([bool(m.facts.get("forwards")) for m in self.models] or [False])[self.device_model]
        return said

    @cached_property
    def connector(self) -> Array:
        """The connector of every port."""
        return number_connectors(self.models, self.device_model, self.base)

    @cached_property
    def connectors_ascend(self) -> bool:
        """Whether a port with a higher number has no lower connector, as it is where no class lists them in
        another order."""
        return bool((self.connector[1:] >= self.connector[:-1]).all())

    def path(self, device: int) -> str:
        """A device as the design writes it."""
        s = next(s for s in reversed(self.sets) if s.first <= device)
        return s.device_path(device - s.first)

    def device_of(self, ports: Array) -> Array:
        """The devices of some ports."""
        return np.asarray(np.searchsorted(self.base, ports, side="right") - 1, dtype=np.int64)

    def port_path(self, port: int) -> str:
        """A port as the design writes it."""
        device = int(np.searchsorted(self.base, port, side="right")) - 1
        c = self.class_at(port)
        return f"{self.path(device)}.{c.path(port - int(self.base[device]) - c.first)}"

    def rates(self, ports: Array, device: Array) -> Array:
        """Rates of some ports of these devices in bit/s, 0 for any."""
        rates, first = self._rate_of_place
        return rates[(first - self.base[:-1])[device] + ports] if len(ports) else ports

    @cached_property
    def _rate_of_place(self) -> tuple[Array, Array]:
        """Rates of the ports of all models, model after model, and for every device where those of its model
        begin."""
        of_model = [[c.rate or 0 for c in m.classes for _ in range(c.size)] for m in self.models]
        first = np.cumsum([0, *map(len, of_model)])[:-1]
        return np.array([rate for rates in of_model for rate in rates], dtype=np.int64), first[
            self.device_model
        ]

    def class_at(self, port: int) -> PortClass:
        """The class of a port."""
        device = int(np.searchsorted(self.base, port, side="right")) - 1
        return self.models[int(self.device_model[device])].class_of(port - int(self.base[device]))

    def class_table(self, devices: Array, name: str, span: SourceSpan) -> tuple[Array, Array]:
        """First place and size of a port class in every device's model; "" is the model's first class."""
        first = np.zeros(len(self.models), dtype=np.int64)
        size = np.zeros(len(self.models), dtype=np.int64)
        for m in distinct_values(self.device_model[devices]).tolist():
            model = self.models[m]
            parts = model.parts(name) if name else model.first_parts
            if not parts:
                if not name:
                    raise Fault(
                        "E0452",
                        span,
                        f"{model.name} has no ports",
                        labels=[(model.origin.span, "declared here")],
                    )
                raise unknown_name_fault(
                    "E0101", span, f"port class of {model.name} called", name, [k.name for k in model.classes]
                )
            first[m], size[m] = parts[0].first, sum(c.size for c in parts)
        which = self.device_model[devices]
        return first[which], size[which]

    def free_counts(self, devices: Array, name: str, local: Array | None, span: SourceSpan) -> Array:
        """Free ports of a class, or of some places of it, in every device given."""
        return self._free(devices, name, local, span, (FREE, KEPT))[0]

    def _free(
        self,
        devices: Array,
        name: str,
        local: Array | None,
        span: SourceSpan,
        states: tuple[int, ...] = (FREE,),
    ) -> tuple[Array, Array]:
        """How many candidates of every device are free, and the numbers of these ports by device."""
        first, size = self.class_table(devices, name, span)
        lowest = self.base[devices] + first
        if local is not None:
            inside = local[None, :] < size[:, None]
            ports = np.where(inside, lowest[:, None] + local[None, :], 0)
            free = inside & self._is_in_state(ports, states)
            return free.sum(axis=1), ports[free]
        if len(size) and int(size.min()) == int(size.max()):
            ports = lowest[:, None] + np.arange(int(size[0]), dtype=np.int64)[None, :]
            free = self._is_in_state(ports, states)
            return (size, ports.ravel()) if free.all() else (free.sum(axis=1), ports[free])
        ends = np.cumsum(size)
        ports = np.arange(int(size.sum()), dtype=np.int64) + np.repeat(lowest - (ends - size), size)
        free = self._is_in_state(ports, states)
        before = np.append(0, np.cumsum(free))
        return before[ends] - before[ends - size], ports[free]

    def _is_in_state(self, ports: Array, states: tuple[int, ...]) -> NDArray[np.bool_]:
        """Of each port whether its state is one of these."""
        state = self.state[ports]
        found: NDArray[np.bool_] = np.logical_or.reduce([state == s for s in states])
        return found

    # ------------------------------------------------------------ claiming
    def claim(self, ends: LinkEnds, statement: int, span: SourceSpan) -> Array:
        """Ports for all ends of one statement; nothing is marked yet. Raises Fault for a port taken or too
        few of them."""
        ports = np.full(len(ends.device), -1, dtype=np.int64)
        exact = ends.local >= 0
        for c in range(len(ends.class_name)):
            mine = exact & (ends.choice == c)
            if mine.any():
                first, _ = self.class_table(ends.device[mine], ends.class_name[c], ends.spans[c])
                ports[mine] = self.base[ends.device[mine]] + first + ends.local[mine]
        self._written(ports, exact, ends)
        held = ports[exact]
        saved = self.state[held].copy()
        self.state[held] = USED  # so that open ends of the same statement pass them by
        try:
            self._open(ports, exact, ends)
        finally:
            self.state[held] = saved
        return ports

    def _open(self, ports: Array, exact: NDArray[np.bool_], ends: LinkEnds) -> None:
        """Ports for ends that take the lowest free ones. Candidates that overlap take turns, in the order
        they are written."""
        keys = [
            (name, None if found is None else tuple(found.tolist()))
            for name, found in zip(ends.class_name, ends.candidates, strict=True)
        ]
        merged = np.array([keys.index(k) for k in keys], dtype=np.int64)
        choices = sorted(set(merged.tolist()))
        if len(choices) == 1 and len(ports) and not exact.any():
            ports[:] = self._lowest(ends, slice(None), choices[0])
            return
        taken: list[Array] = []
        try:
            for c in choices:
                mine = np.flatnonzero(~exact & (merged[ends.choice] == c))
                if len(mine):
                    ports[mine] = self._lowest(ends, mine, c)
                    self.state[ports[mine]] = USED
                    taken.append(ports[mine])
        finally:
            for t in taken:
                self.state[t] = FREE

    def _lowest(self, ends: LinkEnds, mine: Array | slice, c: int) -> Array:
        """Rule 3: copies first, copy k beginning k x (free // copies) above the lowest; within a copy by the
        far end."""
        device, copy = ends.device[mine], ends.copy[mine]
        order = by_keys(device, copy, ends.far[mine])
        device, copy = device[order], copy[order]
        fresh = np.append(True, device[1:] != device[:-1])
        rows, key = device[fresh], np.cumsum(fresh)
        key -= 1
        have, numbers = self._free(rows, ends.class_name[c], ends.candidates[c], ends.spans[c])
        need = np.bincount(key, minlength=len(rows))
        if (need > have).any():
            self._too_few(rows, need, have, ends, c)
        base = (np.cumsum(have) - have)[key]  # place of a device's first free port among those of all
        ncopies = int(copy.max(initial=0)) + 1
        if ncopies > 1:
            key *= ncopies
            key += copy
            per_copy = np.bincount(key, minlength=len(rows) * ncopies).reshape(len(rows), ncopies)
            used = (per_copy > 0).sum(axis=1)
            block = have // np.maximum(used, 1) // ends.together * ends.together
            start = np.zeros_like(per_copy)
            end = np.zeros(len(rows), dtype=np.int64)
            seen = np.zeros(len(rows), dtype=np.int64)
            rest = need.copy()  # ends of this copy and the later ones, which must find room above it
            for k in range(ncopies):
                start[:, k] = np.minimum(np.maximum(seen * block, end), have - rest)
                end = start[:, k] + per_copy[:, k]
                rest -= per_copy[:, k]
                seen += per_copy[:, k] > 0
            base += start.ravel()[key]
        out = np.empty(len(device), dtype=np.int64)
        base += number_within_key(key)
        out[order] = numbers[base]
        return out

    # ------------------------------------------------------------ faults
    def _written(self, ports: Array, exact: NDArray[np.bool_], ends: LinkEnds) -> None:
        """Refuse a written port that is taken, or written for two links of the statement."""
        mine = ports[exact]
        used = (self.state[mine] == USED) | (self.state[mine] == INSIDE)
        if used.any():
            at = int(np.argmax(used))
            port = int(mine[at])
            first = self.owner.get(int(self.taker[port]))
            inside = " inside the device that it is in" if self.state[port] == INSIDE else ""
            place = ends.spans[int(ends.choice[exact][at])]
            if (
                first is not None
                and not inside
                and (again := _same_statement_fault(place, first)) is not None
            ):
                raise again
            raise Fault(
                "E0451",
                place,
                f"port {self.port_path(port)} already has a link{inside}" + _and_more_text(int(used.sum())),
                labels=[(first, "taken by this connect")] if first else [],
                help="name a port that the model's own links leave free, or a model with such a port"
                if inside
                else f"write `{self.port_path(port).rpartition('[')[0]}`, which takes the lowest free "
                "port, or name a free one",
            )
        order = np.argsort(mine, kind="stable")
        twice = mine[order][1:] == mine[order][:-1]
        if twice.any():
            at = int(order[1:][int(np.argmax(twice))])
            raise Fault(
                "E0451",
                ends.spans[int(ends.choice[exact][at])],
                f"port {self.port_path(int(mine[at]))} would get two links from this connect"
                + _and_more_text(int(twice.sum())),
                help="let the port's index run with the links",
            )

    def _too_few(self, rows: Array, need: Array, have: Array, ends: LinkEnds, c: int) -> None:
        at = int(np.argmax(need > have))
        device = int(rows[at])
        model = self.models[int(self.device_model[device])]
        name = ends.class_name[c] or model.classes[0].name
        found = model.port_class(name)
        narrowed = ends.candidates[c]
        some = "" if narrowed is None else f" among the {len(narrowed)} named"
        size = sum(c.size for c in model.parts(name))
        labels = (
            [(found.origin.span, f"{model.name} has {size} {noun_for_count(size, 'port')} `{name}`")]
            if found
            else []
        )
        s = next(s for s in reversed(self.sets) if s.first <= device)
        labels.append((s.origin.span, f"`{s.name}` is declared here"))
        labels += self._taken_by_models(device, name)
        raise Fault(
            "E0452",
            ends.spans[c],
            f"{self.path(device)} needs {int(need[at])} free ports `{name}` and has {int(have[at])}{some}"
            + _and_more_text(int((need > have).sum()), "devices"),
            labels=labels,
            help="use more devices, fewer links, or a model with more ports",
        )

    def _taken_by_models(self, device: int, name: str) -> list[tuple[SourceSpan, str]]:
        """The connects of models that took ports of a class of a device, which its fabric does not write."""
        mine = np.concatenate(
            [
                np.arange(c.size, dtype=np.int64) + c.first + int(self.base[device])
                for c in self.models[int(self.device_model[device])].parts(name)
            ]
        )
        takers, count = np.unique(self.taker[mine], return_counts=True)
        return [
            (
                self.owner[t],
                f"a model's own connect takes {n} of them",
            )
            for t, n in zip(takers.tolist(), count.tolist(), strict=True)
            if t in self.by_model
        ]

    # ------------------------------------------------------------ marking
    def mark_inside(self, ports: Array, owner: int, span: SourceSpan) -> None:
        """Mark ports as used by links inside a device, which are no links of the fabric. ``owner`` is a
        negative number below -1 that tells the statement from others."""
        self.owner[owner] = span
        self.by_model.add(owner)
        self.state[ports] = INSIDE
        self.taker[ports] = owner

    def mark(self, ports: Array, kept: NDArray[np.bool_], statement: int, span: SourceSpan) -> None:
        """Ports of links that are built become used; those of planned links that are not become holes."""
        self.owner[statement] = span
        self.state[ports] = USED if kept.all() else np.where(kept, USED, HOLE)
        self.taker[ports] = statement


def _and_more_text(count: int, what: str = "ports") -> str:
    return f" (and {count - 1:,} more {what[:-1] if count == 2 else what})" if count > 1 else ""


def _same_statement_fault(place: SourceSpan, first: SourceSpan) -> Fault | None:
    """The fault of a line that says what another one says: the links of both are the same. None of others."""
    text = place.file.text
    begin = text.rfind("\n", 0, place.start) + 1
    end = text.find("\n", place.end) if "\n" in text[place.end :] else len(text)
    said = text[begin:end].partition("#")[0].strip()
    line = SourceSpan(place.file, begin + len(text[begin:end]) - len(text[begin:end].lstrip()), end)
    if first.file is not place.file or first.start >= begin or first.text.strip() != said:
        return None
    message = "this line connects the same ports as an earlier one that says the same"
    fix = Fix("remove this line", ((line, ""),), safe=False)
    return Fault(
        "E0451", place, message, labels=[(first, "said here")], help="remove one of the two", fix=fix
    )
