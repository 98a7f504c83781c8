"""The cabling workbook: a summary, what to bring, a sheet of work for each group of devices, and all
cables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdsl.emit import worklist
from tdsl.emit.quote import FileLeftOut
from tdsl.emit.view import FabricView
from tdsl.emit.workbook import MAX_ROWS, Sheet, workbook_bytes

ALL = (
    "cable_id", "leg", "a_device", "a_hall", "a_rack", "a_u", "a_port", "a_cage",
    "b_device", "b_hall", "b_rack", "b_u", "b_port", "b_cage", "rate_gbps", "links", "medium", "part",
    "a_optic", "b_optic", "length_m", "fibre", "polarity", "colour", "via", "bundle", "pull_order",
    "label_a", "label_b", "link_class", "fabric_name", "plane", "rail", "phase", "status", "action",
)  # fmt: skip
MOST_SHEETS = 200


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """The workbook; columns in which nothing is known yet are hidden in the sheet of all, in the sheets of
    work left out."""
    cables = fabric.cables
    limit = options["workbook_rows"]
    if isinstance(limit, int) and len(cables) > min(limit, MAX_ROWS):
        if len(fabric.pods) > 1:
            return b""  # a workbook a pod
        raise FileLeftOut(
            f"{len(cables):,} rows are more than the {min(limit, MAX_ROWS):,} of a workbook a person can "
            "use; cables.csv has them"
        )
    columns = {name: cables.column(name) for name in ALL} | worklist.work_sheet_columns(cables)
    empty = frozenset(n for n in ALL if not any(v != "" for v in columns[n]))
    groups = worklist.rows_by_work_sheet(columns, range(len(cables)))
    sheets = [_summary(fabric, columns, columns["place"])]
    if "part" not in empty:
        sheets.append(worklist.pick_list(columns, groups, f"{fabric.title}: what to bring"))
    names = sorted(groups, key=lambda n: (n == "", n.startswith("row "), list(groups).index(n)))
    if len(groups) <= MOST_SHEETS:
        sheets += [
            worklist.cable_work_sheet(n, columns, groups[n], f"{fabric.title}: cables from {n or 'the rest'}")
            for n in names
        ]
    if len(fabric.cords):
        sheets.append(worklist.power_cord_sheet(fabric.cords, f"{fabric.title}: power cords"))
    return workbook_bytes([*sheets, _all(columns, empty)], f"{fabric.title}: cables")


def _summary(fabric: FabricView, columns: Mapping[str, Sequence[object]], places: Sequence[object]) -> Sheet:
    """Cables counted by class, then by group and class."""
    rows: list[Sequence[object]] = []
    for c in fabric.classes:
        rows.append(["whole fabric", c.name, c.cables, c.links, c.rate_gbps])
    counts: dict[tuple[str, str], int] = {}
    known: dict[tuple[str, str], set[object]] = {}
    for place, name, links, cable in zip(
        places, columns["link_class"], columns["links"], columns["cable_id"], strict=True
    ):
        key = (str(place), str(name))
        counts[key] = counts.get(key, 0) + (links if isinstance(links, int) else 0)
        known.setdefault(key, set()).add(cable)
    rates = {c.name: c.rate_gbps for c in fabric.classes}
    for (place, name), links in sorted(counts.items(), key=lambda item: item[0][0] == ""):
        rows.append([place or "outside groups", name, len(known[place, name]), links, rates.get(name, "")])
    return Sheet("summary", ["where", "class", "cables", "links", "rate_gbps"], rows, 0)


def _all(columns: Mapping[str, Sequence[object]], empty: frozenset[str]) -> Sheet:
    """Every cable with every column, in the order of cables.csv."""
    headings = [{"link_class": "class", "fabric_name": "fabric"}.get(n, n) for n in ALL]
    rows = list(zip(*(columns[n] for n in ALL), strict=True))
    return Sheet("cables", headings, rows, 1, empty)
