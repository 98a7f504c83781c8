"""The cabling workbook of one pod, where one of the whole fabric would have too many rows: a sheet of work for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdsl.emit.quote import LeftOut
from tdsl.emit.records import Pod
from tdsl.emit.view import FabricView
from tdsl.emit.workbook import MAX_ROWS, Sheet, workbook

WORK = (
    "pull_order", "bundle", "cable_id", "leg", "a_device", "a_rack", "a_u", "a_cage", "a_port", "b_device", "b_rack", "b_u",
    "b_cage", "b_port", "rate_gbps", "medium", "part", "length_m", "colour", "label_a", "label_b",
)  # fmt: skip
MOST_SHEETS = 200


def render(fabric: FabricView, options: Mapping[str, object], pod: Pod) -> bytes:
    """The workbook; nothing where one holds the whole fabric."""
    cables, limit = fabric.cables, options["workbook_rows"]
    most = min(limit, MAX_ROWS) if isinstance(limit, int) else MAX_ROWS
    if len(cables) <= most or len(fabric.pods) == 1:
        return b""
    if len(pod.rows) > most:
        raise LeftOut(f"{len(pod.rows):,} rows of {pod.name} are more than the {most:,} of a workbook; cables.csv has them")
    columns = {name: cables.column(name) for name in (*WORK, "place")}
    work = [n for n in WORK if any(columns[n][row] != "" for row in pod.rows)]
    groups: dict[str, list[Sequence[object]]] = {}
    for row in sorted(pod.rows, key=columns["pull_order"].__getitem__):
        groups.setdefault(str(columns["place"][row]), []).append([*(columns[n][row] for n in work), ""])
    if len(groups) > MOST_SHEETS:
        groups = {pod.name: [row for rows in groups.values() for row in rows]}
    sheets = [
        Sheet(name or pod.name, [*work, "done"], rows, 3, note=f"{fabric.title}: cables from {name or pod.name}")
        for name, rows in groups.items()
    ]
    count = [[sheet.name, len(sheet.rows)] for sheet in sheets]
    return workbook([Sheet("summary", ["where", "rows"], count), *sheets], f"{fabric.title}: cables of {pod.name}")
