"""The work that mends the faults of an audit, as a table, in the order in which a crew walks."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

import numpy as np

from tdsl.emit.rows import csv_line
from tdsl.explain import catalogue
from tdsl.fabric.columns import natural_sort_key
from tdsl.fabric.graph import Fabric
from tdsl.observe.asbuilt import repairs_by_gain
from tdsl.observe.audit import Audit

COLUMNS = (
    "step", "hall", "row", "rack", "u", "device", "port", "action", "connected_to", "planned", "cable_id",
    "finding", "code", "message", "restores",
)  # fmt: skip
Place = tuple[str, str, str, str]
"""Hall, row, rack and unit of a device; "" where unknown."""


def worklist_rows(made: Audit, places: Mapping[str, Place]) -> list[tuple[object, ...]]:
    """One row a task, with the requirements that mending its fault alone keeps: by hall, row and rack
    where they are known, then by device and port."""
    found = []
    restores = {r.fault: "; ".join(r.alone) for r in repairs_by_gain(made)}
    for number, fault in enumerate(made.faults, 1):
        code = fault.finding.code
        for task in fault.tasks:
            place = places.get(task.device, ("", "", "", ""))
            key = tuple(natural_sort_key(p) for p in (*place[:3], task.device, task.port))
            said = (
                number,
                f"{code} {catalogue.finding_name(code)}",
                fault.finding.message,
                restores.get(number, ""),
            )
            found.append(
                (
                    key,
                    (
                        *place,
                        task.device,
                        task.port,
                        task.action,
                        task.found,
                        task.planned,
                        task.cable,
                        *said,
                    ),
                )
            )
    found.sort(key=lambda f: f[0])
    return [(step, *row) for step, (_, row) in enumerate(found, 1)]


def worklist_as_csv(table: Sequence[tuple[object, ...]]) -> bytes:
    """The table as CSV."""
    return "".join(f"{csv_line(row)}\n" for row in (COLUMNS, *table)).encode()


def places_of_design(fabric: Fabric) -> dict[str, Place]:
    """Hall, row, rack and unit of the devices that the design places, by their names."""
    p = fabric.places
    if p is None:
        return {}
    out: dict[str, Place] = {}
    for d in np.flatnonzero(p.device_rack >= 0).tolist():
        r, unit = int(p.device_rack[d]), int(p.device_unit[d])
        out[fabric.device_name(d)] = (
            p.hall_name(r),
            p.row_name(r),
            p.rack_name(r),
            str(unit) if unit > 0 else "",
        )
    return out


def read_rack_places(text: str) -> dict[str, Place]:
    """A table of places: columns device, hall, row, rack, u, in any order; those that are not there are
    unknown.

    Raises ValueError with the reason."""
    reader = csv.reader(text.splitlines(), strict=True)
    try:
        lines = [r for r in reader if any(c.strip() for c in r) and not r[0].startswith("#")]
    except csv.Error as wrong:
        raise ValueError(f"line {reader.line_num}: this is not CSV: {wrong}") from None
    heading = [c.strip().lower() for c in lines[0]] if lines else []
    if "device" not in heading:
        raise ValueError("line 1: the table has no column `device`")
    out = {}
    for row in lines[1:]:
        cells = dict(zip(heading, (c.strip() for c in row), strict=False))
        out[cells.get("device", "")] = (
            cells.get("hall", ""),
            cells.get("row", ""),
            cells.get("rack", ""),
            cells.get("u", ""),
        )
    return out
