"""The workbook for those who mount devices: a sheet for each row of racks, every rack from the bottom, with a
box to tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdsl.emit.view import FabricView
from tdsl.emit.workbook import Sheet, workbook_bytes
from tdsl.emit.worklist import BOX

SHOWN = {
    "rack": "rack",
    "u": "unit",
    "units": "height, U",
    "device": "device",
    "model": "model",
    "watts": "W",
    "kg": "kg",
}

FIGURES = ("u", "units", "watts", "kg")


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """A thick line is between two racks; a column in which nothing is known is left out."""
    table = fabric.mounting
    columns = {
        shown: [_number(v) if name in FIGURES else v for v in table.column(name)]
        for name, shown in SHOWN.items()
    }
    known = [n for n, values in columns.items() if any(v != "" for v in values)]
    halls = table.column("hall")
    rows: dict[str, list[Sequence[object]]] = {}
    for k, (hall, row) in enumerate(zip(halls, table.column("row"), strict=True)):
        name = f"row {row}" if len(set(halls)) == 1 else f"{hall} row {row}"
        rows.setdefault(name, []).append([*(columns[n][k] for n in known), BOX])
    sheets = []
    for name, mine in rows.items():
        ends = frozenset(k for k in range(len(mine) - 1) if mine[k][0] != mine[k + 1][0])
        note = f"{fabric.title}: devices in {name}"
        sheets.append(Sheet(name, [*known, "done"], mine, 2, note=note, ledger=True, large=True, ends=ends))
    return workbook_bytes(sheets, f"{fabric.title}: devices to mount")


def _number(value: object) -> object:
    """Figures as numbers, so that a spreadsheet adds them up."""
    try:
        return float(value) if isinstance(value, str) and value and value[0].isdecimal() else value
    except ValueError:
        return value
