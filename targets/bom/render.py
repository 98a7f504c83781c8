"""The workbook of the bill: totals, the lines, and what is in each rack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdsl.emit.view import FabricView
from tdsl.emit.workbook import Sheet, workbook

LINE = (
    "kind", "model", "description", "order_number", "place", "length_m", "quantity", "unit_watts", "unit_price", "price", "note",
)  # fmt: skip
TOTAL = ("kind", "lines", "quantity", "watts", "price", "lines without a price", "to settle")
RACK = ("hall", "rack", "devices", "units", "height_u", "watts", "feeds", "feed_watts", "kg", "carries_kg", "contents")


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """A sheet of totals, one of all lines, one of the racks."""
    lines = list(zip(*(fabric.bill.column(n) for n in LINE), strict=True))
    racks = list(zip(*(fabric.racks.column(n) for n in RACK), strict=True))
    hidden = frozenset(n for k, n in enumerate(LINE) if lines and all(row[k] == "" for row in lines))
    return workbook(
        [
            Sheet(
                "summary", ["kind", "lines", "quantity", "watts", "price", "lines without a price", "to settle"], _totals(lines)
            ),
            Sheet("bill", list(LINE), lines, 2, hidden),
            Sheet("racks", list(RACK), racks, 2),
        ],
        f"{fabric.title}: bill of materials",
    )


def _totals(lines: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """A row for each kind, and one for all: amounts that are known, and how many lines have no price."""
    out: list[Sequence[object]] = []
    kinds = list(dict.fromkeys(str(row[0]) for row in lines))
    for kind in [*kinds, ""]:
        mine = [row for row in lines if not kind or row[0] == kind]
        count = sum(_number(row[6]) for row in mine)
        power = sum(_number(row[6]) * _number(row[7]) for row in mine)
        priced = sum(_number(row[9]) for row in mine)
        unpriced = sum(row[9] == "" for row in mine)
        settle = sum(row[10] != "" for row in mine)
        out.append([kind or "all", len(mine), count if kind else "", power or "", priced or "", unpriced or "", settle or ""])
    return out


def _number(value: object) -> int | float:
    return value if isinstance(value, (int, float)) else 0
