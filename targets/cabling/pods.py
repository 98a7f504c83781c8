"""The cabling workbook of one pod, where one of the whole fabric would have too many rows: a sheet of work
for each group."""

from __future__ import annotations

from collections.abc import Mapping

from tdsl.emit import worklist
from tdsl.emit.quote import FileLeftOut
from tdsl.emit.records import Pod
from tdsl.emit.view import FabricView
from tdsl.emit.workbook import MAX_ROWS, Sheet, workbook_bytes

MOST_SHEETS = 200


def render(fabric: FabricView, options: Mapping[str, object], pod: Pod) -> bytes:
    """The workbook; nothing where one holds the whole fabric."""
    cables, limit = fabric.cables, options["workbook_rows"]
    most = min(limit, MAX_ROWS) if isinstance(limit, int) else MAX_ROWS
    if len(cables) <= most or len(fabric.pods) == 1:
        return b""
    if len(pod.rows) > most:
        raise FileLeftOut(
            f"{len(pod.rows):,} rows of {pod.name} are more than the {most:,} of a workbook; cables.csv "
            "has them"
        )
    columns = cables.values_in_rows(worklist.USED, pod.rows)
    groups = worklist.rows_by_work_sheet(columns, range(len(pod.rows)))
    if len(groups) > MOST_SHEETS:
        groups = {pod.name: [row for rows in groups.values() for row in rows]}
    if (
        "" in groups
        # hosts outside all groups that have no place: their cables are those of the pod, in the order of
        # pulling
    ):
        order, name = columns["pull_order"], pod.name or "fabric"
        groups[name] = sorted([*groups.pop(""), *groups.get(name, ())], key=lambda row: int(str(order[row])))
    sheets = [
        worklist.cable_work_sheet(name, columns, rows, f"{fabric.title}: cables from {name}")
        for name, rows in groups.items()
    ]
    if not cables.is_empty_column("part"):
        sheets.insert(0, worklist.pick_list(columns, groups, f"{fabric.title}: what to bring for {pod.name}"))
    count = [
        [name, len({columns["cable_id"][row] for row in rows}), len(rows)] for name, rows in groups.items()
    ]
    return workbook_bytes(
        [Sheet("summary", ["where", "cables", "rows"], count), *sheets],
        f"{fabric.title}: cables of {pod.name}",
    )
