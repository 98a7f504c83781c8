"""Sheets of work for the people who pull cables: few columns in large type, in the order of pulling, with a
box to tick.

What is the same in every row (rate, medium) and what labels repeat is left to the sheet of all cables. A
thick line is between two bundles. A sheet is one pod; cables outside all pods are put together by the row of
racks in which they begin.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tdsl.emit.records import Cable
from tdsl.emit.workbook import Sheet
from tdsl.fabric.columns import Table
from tdsl.physical.cords import Cord

USED = (
    "pull_order", "bundle", "cable_id", "leg", "a_device", "a_hall", "a_rack", "a_u", "a_port",
    "b_device", "b_hall", "b_rack", "b_u", "b_port", "part", "a_optic", "b_optic", "length_m", "colour",
    "phase", "place", "link_class",
)  # fmt: skip
"""Columns of the table of cables that a sheet of work is made of."""
BOX = "☐"

Columns = Mapping[str, Sequence[object]]


def work_sheet_columns(cables: Table[Cable]) -> dict[str, Sequence[object]]:
    """What a sheet of work takes from the table of cables."""
    return {name: cables.column(name) for name in USED}


def rows_by_work_sheet(columns: Columns, rows: Iterable[int]) -> dict[str, list[int]]:
    """Rows by the sheet that they belong to, in the order of pulling: a pod, else a row of racks, else ""."""
    order = columns["pull_order"]
    out: dict[str, list[int]] = {}
    for i in sorted(rows, key=order.__getitem__):  # type: ignore[arg-type]
        row = re.sub(r"(?<!\d)\d++$", "", str(columns["a_rack"][i]))
        out.setdefault(str(columns["place"][i]) or (f"row {row}" if row else ""), []).append(i)
    return out


def cable_work_sheet(name: str, columns: Columns, rows: Sequence[int], note: str) -> Sheet:
    """The sheet of work of some cables; a column in which nothing is known is left out."""
    halls = {str(columns[f"{end}_hall"][i]) for i in rows for end in "ab"} - {""}

    def at(end: str, i: int) -> str:
        hall, rack, unit = (str(columns[f"{end}_{what}"][i]) for what in ("hall", "rack", "u"))
        return f"{hall + ' ' if len(halls) > 1 and hall else ''}{rack} U{unit}" if rack else ""

    def cells(name: str) -> list[object]:
        return [columns[name][i] for i in rows]

    data: dict[str, list[object]] = {
        "pull": cells("pull_order"),
        "bundle": cells("bundle"),
        "cable": cells("cable_id"),
        "leg": cells("leg"),
        "from": cells("a_device"),
        "rack": [at("a", i) for i in rows],
        "port": cells("a_port"),
        "to": cells("b_device"),
        "to rack": [at("b", i) for i in rows],
        "to port": cells("b_port"),
        "part": cells("part"),
        "m": cells("length_m"),
        "colour": cells("colour"),
        "phase": cells("phase"),
    }
    if name == "":
        name = "fabric"
    known = {n: values for n, values in data.items() if any(v != "" for v in values)} | {
        "done": [BOX] * len(rows)
    }
    bundles = data["bundle"]
    ends = frozenset(k for k in range(len(rows) - 1) if bundles[k] != bundles[k + 1])
    return Sheet(
        name,
        list(known),
        list(zip(*known.values(), strict=True)),
        min(3, len(known)),
        note=note,
        ledger=True,
        large=True,
        ends=ends,
    )


PICKED = ("from", "class", "part", "m", "transceiver, near end", "transceiver, far end", "cables")


def pick_list(columns: Columns, by_sheet: Mapping[str, Sequence[int]], note: str) -> Sheet:
    """What to bring for each sheet of work: cables by class, part and length, with the transceivers of both
    ends."""
    out: list[Sequence[object]] = []
    ends: list[int] = []
    for name, rows in by_sheet.items():
        counted: Counter[tuple[object, ...]] = Counter()
        ids: set[object] = set()
        for i in rows:
            if columns["cable_id"][i] in ids:
                continue  # a breakout is one cable
            ids.add(columns["cable_id"][i])
            counted[
                tuple(columns[n][i] for n in ("link_class", "part", "length_m", "a_optic", "b_optic"))
            ] += 1
        ends.append(len(out) - 1)
        out += [
            [name or "fabric", *key, n]
            for key, n in sorted(counted.items(), key=lambda x: tuple(map(_number_before_text_key, x[0])))
        ]
    return Sheet("pick list", list(PICKED), out, 1, note=note, ledger=True, large=True, ends=frozenset(ends))


POWER = {"rack": "rack", "u": "unit", "device": "device", "supply": "supply", "feed": "feed", "plug": "plug"}


def power_cord_sheet(cords: Table[Cord], note: str) -> Sheet:
    """The power cords, rack after rack, with a box to tick."""
    columns = {shown: cords.column(name) for name, shown in POWER.items()}
    known = {n: values for n, values in columns.items() if any(v != "" for v in values)} | {
        "done": [BOX] * len(cords)
    }
    racks = columns["rack"]
    ends = frozenset(k for k in range(len(cords) - 1) if racks[k] != racks[k + 1])
    return Sheet(
        "power",
        list(known),
        list(zip(*known.values(), strict=True)),
        3,
        note=note,
        ledger=True,
        large=True,
        ends=ends,
    )


def _number_before_text_key(value: object) -> tuple[int, float, str]:
    """Numbers before texts, each in their order."""
    return (0, float(value), "") if isinstance(value, (int, float)) else (1, 0.0, str(value))
