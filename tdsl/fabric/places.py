"""Where devices are: the racks of all halls, and the rack and lowest unit of every device, from ``place`` or
a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.resolve import Resolver, variable_assignments
from tdsl.fabric.user_csv import DeviceTable
from tdsl.fabric.vector import Assignments, integers_of_expression
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.fault import Excused, Fault, closest_known_name
from tdsl.semantics.place_statements import Hall, Placing, RackKind, RackRow
from tdsl.semantics.plan import FabricPlan
from tdsl.semantics.quantity import UNITS, Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import a_type
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.fabric.feeds import PowerFeed
    from tdsl.semantics.model import DeviceModel

COLUMNS = ("device", "hall", "row", "rack", "unit")
"""Columns of the table of places."""
CODE = "E0207"
"""What is wrong with a row of it."""
NO_DEVICE = "the design has no device"
"""What a finding says of a row whose device is not in the fabric; it may be another fabric's of the file."""
HIGHEST = 999_999
"""The highest unit, as in a table of places and in a lock."""
BOTTOM = "units of a rack count from 1, at the bottom"


@dataclass(eq=False)  # no slots: derived columns are kept
class RackPlaces:
    """Racks as columns, in the order of halls, rows and racks; and for every device its rack and lowest unit.

    Coordinates are millimetres from the middle of the first rack of the first row, -1 where the hall has no
    pitch. ``unit`` is 0 where only the rack is known, ``device_rack`` -1 where nothing is.
    """

    halls: tuple[Hall, ...]
    distances: Mapping[tuple[int, int], int]  # millimetres between the entries of two halls, both ways
    rack_hall: Ints
    rack_row: Ints  # row of the hall, from 0
    rack_number: Ints
    rack_x: Ints  # along the row
    rack_y: Ints  # across the rows
    rack_kind: tuple[RackKind, ...]
    device_rack: Ints
    device_unit: Ints
    device_place: Ints  # index into origins, -1
    origins: tuple[Origin, ...]  # what places devices
    automatic: int = -1  # of origins, the `place auto`
    feeds: tuple[PowerFeed, ...] = ()  # above the racks, each after those that it gets power from

    @property
    def rack_count(self) -> int:
        """Number of racks."""
        return len(self.rack_hall)

    def hall_name(self, rack: int) -> str:
        """The hall of a rack."""
        return self.halls[int(self.rack_hall[rack])].name

    def row_name(self, rack: int) -> str:
        """The row of a rack."""
        return self.halls[int(self.rack_hall[rack])].rows[int(self.rack_row[rack])].name

    def rack_name(self, rack: int) -> str:
        """Row and number, as on its label: ``A07``."""
        return f"{self.row_name(rack)}{int(self.rack_number[rack]):02}"

    @cached_property
    def rack_names(self) -> list[str]:
        """The names of all racks."""
        return [self.rack_name(r) for r in range(self.rack_count)]

    def origin(self, device: int) -> Origin | None:
        """The statement that places a device."""
        at = int(self.device_place[device])
        return self.origins[at] if at >= 0 else None


def empty_places(devices: int) -> RackPlaces:
    """Places of a fabric in which nothing has one: for designs that state distances alone."""
    none = np.zeros(0, dtype=np.int64)
    unplaced = np.full(devices, -1, dtype=np.int64)
    return RackPlaces(
        (), {}, none, none, none, none, none, (), unplaced, np.zeros(devices, dtype=np.int64), unplaced, ()
    )


def height_of(model: DeviceModel) -> int | None:
    """Rack units that a device of a model takes, 0 where it stands beside them, as rack PDUs do; None where
    the model does not say."""
    height = model.facts.get("height")
    if not isinstance(height, Quantity) or height.dim != UNITS or height.amount < 0:
        return None
    return -(-height.amount.numerator // height.amount.denominator)


def locate_devices(
    plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics, file: SourceFile | None = None
) -> RackPlaces | None:
    """The places of a fabric; None where neither the design nor a table gives any."""
    if not plan.halls and not plan.placings and file is None:
        return None
    table = _Table(fabric, file, diagnostics) if file is not None else None
    halls = tuple(plan.halls) or (table.halls() if table is not None else ())
    made = _Locator(plan, fabric, halls, diagnostics)
    for placing in plan.placings:
        made.guarded(placing)
    if table is not None:
        made.listed(table)
    return made.places


def places_of_halls(halls: tuple[Hall, ...], devices: int) -> RackPlaces:
    """The racks of some halls, without a device in any."""
    at: list[tuple[int, int, int, int, int]] = []
    kinds: list[RackKind] = []
    for h, hall in enumerate(halls):
        for r, row in enumerate(hall.rows):
            for k, (number, kind) in enumerate(row.racks):
                x = -1 if hall.rack_pitch is None and len(row.racks) > 1 else k * (hall.rack_pitch or 0)
                y = -1 if hall.row_pitch is None and len(hall.rows) > 1 else r * (hall.row_pitch or 0)
                at.append((h, r, number, x, y))
                kinds.append(kind)
    columns = np.array(at, dtype=np.int64).reshape(len(at), 5).T
    return RackPlaces(
        halls,
        {},
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        columns[4],
        tuple(kinds),
        np.full(devices, -1, dtype=np.int64),
        np.zeros(devices, dtype=np.int64),
        np.full(devices, -1, dtype=np.int64),
        (),
    )


def _distances_of_halls(halls: tuple[Hall, ...], plan: FabricPlan) -> dict[tuple[int, int], int]:
    """Millimetres between the entries of halls, by their numbers, both ways."""
    index = {h.name: k for k, h in enumerate(halls)}
    distances: dict[tuple[int, int], int] = {}
    for d in plan.distances:
        a, b = (index.get(e, -1) if isinstance(e, str) else -1 for e in (*d.ends, "", "")[:2])
        if a >= 0 and b >= 0:
            distances[a, b] = distances[b, a] = d.length
    return distances


class _Locator:
    """Puts devices into racks, statement by statement."""

    def __init__(
        self, plan: FabricPlan, fabric: Fabric, halls: tuple[Hall, ...], diagnostics: Diagnostics
    ) -> None:
        self.plan, self.fabric, self.diagnostics = plan, fabric, diagnostics
        self.places = p = places_of_halls(halls, fabric.device_count)
        p.distances = _distances_of_halls(halls, plan)
        keys = zip(p.rack_hall.tolist(), p.rack_row.tolist(), p.rack_number.tolist(), strict=True)
        self.racks = {key: r for r, key in enumerate(keys)}

    def guarded(self, placing: Placing) -> None:
        """One statement; its fault is reported."""
        try:
            self.place(placing)
        except Fault as fault:
            fault.report(self.diagnostics)
        except Excused:
            pass

    def place(self, placing: Placing) -> None:
        """One statement for all its assignments."""
        node = placing.origin.span
        evaluator = self.plan.evaluator
        over = variable_assignments(placing.context, (placing.target,), None, placing.scope, evaluator, node)
        rows, _, _ = Resolver(placing.scope, evaluator, over).devices(placing.target)
        racks = self.rack_rows(placing, over)
        devices = rows.ravel()
        each = rows.shape[1]
        unit = self.units(placing, over)
        if each > 1 and unit is not None and not placing.stacked:
            raise Fault(
                "E0120",
                node,
                f"this puts {each} devices at one unit",
                help=f"write `stacked from {int(unit[0])}U`",
            )
        if unit is None:
            units = np.zeros(len(devices), dtype=np.int64)
        elif placing.stacked:
            units = (unit[:, None] + self.offsets(placing, rows)).ravel()
        else:
            units = unit
        self.put(
            devices,
            np.repeat(racks, each),
            units,
            placing.origin,
            f"`{' '.join(placing.target.span.text.split())}`",
        )

    def rack_rows(self, placing: Placing, over: Assignments) -> Ints:
        """The rack of every assignment. Raises Fault for one that the hall does not have."""
        scope, evaluator, hall = placing.scope, self.plan.evaluator, placing.hall
        number = integers_of_expression(placing.rack, scope, evaluator, over)
        if isinstance(placing.row, RackRow):
            row = np.full(over.count, hall.rows.index(placing.row), dtype=np.int64)
        else:
            row = integers_of_expression(placing.row, scope, evaluator, over) - 1
            self.outside(
                row,
                1,
                len(hall.rows),
                placing.row.span,
                over,
                f"`{hall.name}` has {counted_noun(len(hall.rows), 'row')}, from 1",
            )
        h = self.places.halls.index(hall)
        found = [self.racks.get((h, r, n), -1) for r, n in zip(row.tolist(), number.tolist(), strict=True)]
        if -1 in found:
            at = found.index(-1)
            said = over.show(at)
            missing = hall.rows[int(row[at])]
            numbers = [n for n, _ in missing.racks]
            raise Fault(
                "E0205",
                placing.rack.span,
                f"row {missing.name} of `{hall.name}` has no rack {int(number[at])}"
                + (f", for {said}" if said else ""),
                labels=[(missing.span, "the row is declared here")],
                help=f"it has racks {min(numbers)} to {max(numbers)}",
            )
        return np.array(found, dtype=np.int64)

    def outside(
        self, row: Ints, low: int, count: int, span: SourceSpan, over: Assignments, help: str
    ) -> None:
        """Raise the fault of a row that the hall does not have."""
        bad = (row < 0) | (row >= count)
        if bad.any():
            at = int(np.argmax(bad))
            said = over.show(at)
            raise Fault(
                "E0205",
                span,
                f"there is no row {int(row[at]) + low}" + (f", for {said}" if said else ""),
                help=help,
            )

    def units(self, placing: Placing, over: Assignments) -> Ints | None:
        """The lowest unit of every assignment, None where only the rack is stated."""
        e, scope, evaluator = placing.unit, placing.scope, self.plan.evaluator
        if e is None or not over.count:
            return None if e is None else np.zeros(0, dtype=np.int64)
        first = evaluator.evaluate(e, over.scope(0, scope))
        if not isinstance(first, Quantity) or first.dim != UNITS:
            raise Fault(
                "E0103",
                e.span,
                f"a place in a rack is in rack units, not {a_type(first)}",
                help="such as `2U`",
            )
        plain = _without_units(
            e, lambda name: name in over.values or type(_value_if_known(scope, name, e.span)) is int
        )
        if plain is not None:
            units = integers_of_expression(plain, scope, evaluator, over)
        else:
            units = self.units_one_by_one(e, scope, over)
        bad = (units < 1) | (units > HIGHEST)
        if bad.any():
            at = int(np.argmax(bad))
            said = over.show(at)
            raise Fault(
                "E0205",
                e.span,
                f"there is no unit {int(units[at])}" + (f", for {said}" if said else ""),
                help=BOTTOM,
            )
        return units

    def units_one_by_one(self, e: tree.Expr, scope: Scope, over: Assignments) -> Ints:
        """The unit of every assignment, evaluated for each. Raises Fault."""
        amounts = []
        for k in range(over.count):
            value = self.plan.evaluator.evaluate(e, over.scope(k, scope))
            said = f", for {over.show(k)}" if over.show(k) else ""
            if not isinstance(value, Quantity) or value.dim != UNITS:
                wrong = f"a place in a rack is in rack units, not {a_type(value)}{said}"
                raise Fault("E0103", e.span, wrong, help="such as `2U`")
            if value.amount.denominator != 1:
                raise Fault("E0120", e.span, "a place in a rack is a whole unit", help="such as `2U`")
            if value.amount > HIGHEST:  # as an array it may not fit
                raise Fault("E0205", e.span, f"there is no unit {int(value.amount)}{said}", help=BOTTOM)
            amounts.append(max(int(value.amount), -HIGHEST))
        return np.array(amounts, dtype=np.int64)

    def offsets(self, placing: Placing, rows: Ints) -> Ints:
        """Units of the devices below each in its stack."""
        f = self.fabric
        known = [-1 if (units := height_of(m)) is None else units for m in f.models]
        heights = np.array(known, dtype=np.int64)[f.device_model[rows]]
        if (heights < 0).any():
            model = f.model_of(int(rows[heights < 0][0]))
            raise Fault(
                "E0205",
                placing.target.span,
                f"{model.name} has no height, so nothing can be stacked on it",
                labels=[(model.origin.span, "declared here")],
                help="add `height 1U` to the model, or write `at` a unit",
            )
        return np.cumsum(heights, axis=1) - heights

    def put(self, devices: Ints, racks: Ints, units: Ints, origin: Origin, what: str) -> None:
        """Put devices where they belong. Raises Fault for one that is placed already."""
        p = self.places
        ordered = np.sort(devices)
        again = devices[p.device_rack[devices] >= 0]
        if len(again) or bool((ordered[1:] == ordered[:-1]).any()):
            device = int(again[0]) if len(again) else int(ordered[:-1][ordered[1:] == ordered[:-1]][0])
            old = p.origin(device)
            more = f" (and {len(again) - 1:,} more)" if len(again) > 1 else ""
            raise Fault(
                "E0206",
                origin,
                f"{self.fabric.device_path(device)} is placed twice{more}",
                labels=[(old.span, "first here")] if old is not None else [],
                help="a device has one place; name each once",
            )
        p.device_rack[devices], p.device_unit[devices] = racks, units
        p.device_place[devices] = len(p.origins)
        p.origins = (*p.origins, origin)

    def listed(self, table: _Table) -> None:
        """The rows of a table."""
        p = self.places
        index = {h.name: k for k, h in enumerate(p.halls)}
        rows = {(h.name, r.name): k for h in p.halls for k, r in enumerate(h.rows)}
        for line in table.lines:
            hall, row = index.get(line.hall, -1), rows.get((line.hall, line.row), -1)
            rack = self.racks.get((hall, row, line.rack), -1)
            if rack < 0:
                near = closest_known_name(line.hall, index) if hall < 0 else ""
                self.diagnostics.add(
                    "E0205",
                    line.span,
                    f"the design has no rack {line.rack} in row {line.row} of hall {line.hall}",
                    help=f"did you mean the hall `{near}`?"
                    if near
                    else "name a hall, row and rack that the design declares",
                )
                continue
            try:
                one = np.array([line.device], dtype=np.int64)
                self.put(one, np.array([rack]), np.array([line.unit]), Origin(line.span), "this row")
            except Fault as fault:
                fault.report(self.diagnostics)


def _value_if_known(scope: Scope, name: str, span: SourceSpan) -> object:
    """The value of a name, None where it is unknown here."""
    return scope.value(name, span) if scope.find(name, span) is not None else None


def _without_units(e: tree.Expr, whole: Callable[[str], bool]) -> tree.Expr | None:
    """The expression with rack units as plain numbers; None where it has more than `whole` names, or a
    fraction."""
    match e:
        case tree.Number():
            return e
        case tree.Measure() if e.unit == "U":
            amount = e.value
            return tree.Number(int(amount), e.span) if amount == int(amount) else None
        case tree.Paren():
            inner = _without_units(e.inner, whole)
            return None if inner is None else replace(e, inner=inner)
        case tree.Chain():
            return _chain_without_units(e, whole)
        case tree.PathExpr() if e.bare is not None and whole(e.bare):
            return e
    return None


def _chain_without_units(e: tree.Chain, whole: Callable[[str], bool]) -> tree.Expr | None:
    """A chain of operators with rack units as plain numbers; None where a part cannot be, or one is
    divided."""
    first = _without_units(e.first, whole)
    rest = [(op, _without_units(x, whole)) for op, x in e.rest]
    if first is None or any(x is None for _, x in rest) or any(op == "/" for op, _ in rest):
        return None
    return replace(e, first=first, rest=tuple((op, x) for op, x in rest if x is not None))


@dataclass(frozen=True, slots=True)
class _PlacesRow:
    """A row of the table."""

    device: int
    hall: str
    row: str
    rack: int
    unit: int
    span: SourceSpan


class _Table(DeviceTable):
    """``places.csv``: device, hall, row, rack, unit."""

    def __init__(self, fabric: Fabric, file: SourceFile, diagnostics: Diagnostics) -> None:
        super().__init__(fabric, file, diagnostics)
        self.lines: list[_PlacesRow] = []
        for number, cells in self.rows(COLUMNS, CODE, "the table of places"):
            self.row(number, cells)

    def row(self, number: int, cells: dict[str, str]) -> None:
        """One row."""
        name = cells.get("device", "")
        device = self.devices.get(name)
        if device is None:
            near = closest_known_name(name, self.devices)
            help = (
                f"did you mean `{near}`?"
                if near
                else "write its name as on its label, or its path in the design"
            )
            self.say(CODE, number, f"{NO_DEVICE} `{name}`", help)
            return
        if self.fabric.container[device] >= 0:
            self.say(
                CODE, number, f"`{name}` is inside another device and is placed with it", "leave the row out"
            )
            return
        where = {k: cells.get(k, "") for k in ("hall", "row", "rack", "unit")}
        empty = next((k for k in ("hall", "row", "rack") if not where[k]), None)
        if empty is not None:
            self.say(
                CODE, number, f"`{name}` has no {empty}", "write hall, row and rack; the unit may stay empty"
            )
            return
        unit = where["unit"].removesuffix("U")
        if unit and not unit.strip("0"):
            self.say(CODE, number, "units of a rack are counted from 1", f"leave the unit of `{name}` empty")
            return
        numbers = [where["rack"], unit or "0"]
        if not all(n.isascii() and n.isdigit() and len(n) < 7 for n in numbers):
            self.say(
                CODE,
                number,
                "racks and units are whole numbers",
                "such as `device,hall,row,rack,unit` = `leaf0,h1,A,7,30`",
            )
            return
        self.lines.append(
            _PlacesRow(
                device, where["hall"], where["row"], int(numbers[0]), int(numbers[1]), self.span(number)
            )
        )

    def halls(self) -> tuple[Hall, ...]:
        """The halls, rows and racks that the table names, without sizes: for a design that declares none."""
        named: dict[str, dict[str, dict[int, RackKind]]] = {}
        at: dict[str, SourceSpan] = {}
        for line in self.lines:
            at.setdefault(line.hall, line.span)
            racks = named.setdefault(line.hall, {}).setdefault(line.row, {})
            racks.setdefault(line.rack, RackKind(None, 0, None, None, line.span))
        return tuple(
            Hall(
                hall,
                tuple(RackRow(row, tuple(sorted(racks.items())), at[hall]) for row, racks in rows.items()),
                None,
                None,
                None,
                None,
                Origin(at[hall]),
            )
            for hall, rows in named.items()
        )


def rows_of_places(fabric: Fabric) -> Sequence[tuple[str, str, str, int | None, int | None]]:
    """Device, hall, row, rack and unit of every device that is built and stands for itself; empty where it
    has no place."""
    p = fabric.places
    out: list[tuple[str, str, str, int | None, int | None]] = []
    for d in np.flatnonzero(fabric.built & (fabric.container < 0)).tolist():
        rack = int(p.device_rack[d]) if p is not None else -1
        if p is None or rack < 0:
            out.append((fabric.device_name(d), "", "", None, None))
        else:
            out.append(
                (
                    fabric.device_name(d),
                    p.hall_name(rack),
                    p.row_name(rack),
                    int(p.rack_number[rack]),
                    int(p.device_unit[d]) or None,
                )
            )
    return out


__all__ = [
    "COLUMNS",
    "NO_DEVICE",
    "RackPlaces",
    "height_of",
    "locate_devices",
    "places_of_halls",
    "rows_of_places",
]
