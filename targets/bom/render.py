"""The workbook of the bill: sums by kind, the lines, what each phase adds, sums by hall and rack, and what is
in each rack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tdsl.emit.view import FabricView
from tdsl.emit.workbook import Sheet, workbook_bytes

LINE = (
    "kind", "model", "description", "order_number", "place", "length_m", "quantity", "spares",
    "unit_watts", "unit_price", "price", "spares_price", "lead_days", "alternative", "note",
)  # fmt: skip
TOTAL = (
    "by",
    "hall",
    "name",
    "devices",
    "optics",
    "cables",
    "watts",
    "without_watts",
    "price",
    "without_price",
    "needed",
)
PHASE = (
    "phase", "needed", "kind", "model", "description", "order_number", "place", "length_m", "quantity",
    "added", "unit_price", "price", "note",
)  # fmt: skip
RACK = (
    "hall",
    "rack",
    "devices",
    "units",
    "height_u",
    "watts",
    "feeds",
    "feed_watts",
    "kg",
    "carries_kg",
    "contents",
)
SUM = (
    "kind", "lines", "pieces", "spares", "pieces without a price", "price", "spares without a price",
    "price of spares", "longest lead, days", "lines without a lead", "lines to settle",
)  # fmt: skip
COUNT, MONEY = "#,##0", "#,##0.00"
FORMATS = {
    "quantity": COUNT, "added": COUNT, "spares": COUNT, "pieces": COUNT, "devices": COUNT,
    "optics": COUNT, "cables": COUNT, "watts": COUNT,
    "price": MONEY, "unit_price": MONEY, "spares_price": MONEY, "price of spares": MONEY,
    "pieces without a price": COUNT, "spares without a price": COUNT,
    "without_price": COUNT, "without_watts": COUNT,
}  # fmt: skip
HEADINGS = {
    "order_number": "order number", "length_m": "length, m", "unit_watts": "W each",
    "unit_price": "price each", "spares_price": "price of spares", "lead_days": "lead, days",
    "without_watts": "pieces without watts", "without_price": "pieces without a price",
    "height_u": "height, U", "feed_watts": "W a feed", "carries_kg": "carries, kg",
}  # fmt: skip
FORMATS_SHOWN = {HEADINGS.get(name, name): form for name, form in FORMATS.items()}


def render(fabric: FabricView, options: Mapping[str, object]) -> bytes:
    """A sheet of sums by kind, one of all lines, one of sums by hall and rack, one of the racks."""
    lines = list(zip(*(fabric.bill.column(n) for n in LINE), strict=True))
    sums = list(zip(*(fabric.totals.column(n) for n in TOTAL), strict=True))
    racks = list(zip(*(fabric.racks.column(n) for n in RACK), strict=True))
    money = f"prices in {fabric.prices}" if fabric.prices else "no file of prices"
    note = f"{fabric.title}: bill of materials, {money}"
    kinds = _by_kind(lines)
    phases = list(zip(*(fabric.phase_bill.column(n) for n in PHASE), strict=True))
    marked = frozenset(k for k, row in enumerate(sums) if row[0] in ("all", "hall", "added by phase"))
    return workbook_bytes(
        [
            _sheet("summary", SUM, kinds, note, 1, frozenset([len(kinds) - 1])),
            _sheet("bill", LINE, lines, note, 2),
            *([_sheet("phases", PHASE, phases, note, 4)] if phases else []),
            _sheet("totals", TOTAL, sums, note, 3, marked),
            _sheet("racks", RACK, racks, note, 2),
        ],
        note,
    )


def _sheet(
    name: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    note: str,
    frozen: int,
    bold: frozenset[int] = frozenset(),
) -> Sheet:
    """A table under headings for people; columns in which nothing is known are hidden."""
    shown = [HEADINGS.get(c, c) for c in columns]
    hidden = frozenset(shown[k] for k in range(len(columns)) if rows and all(row[k] == "" for row in rows))
    return Sheet(name, shown, rows, frozen, hidden, note, FORMATS_SHOWN, bold, True)


def _by_kind(lines: Sequence[Sequence[object]]) -> list[Sequence[object]]:
    """A row for each kind, and one for all: what is known, and how much is left out of it."""
    at = {name: k for k, name in enumerate(LINE)}
    out: list[Sequence[object]] = []
    for kind in [*dict.fromkeys(str(row[0]) for row in lines), ""]:
        mine = [row for row in lines if not kind or row[0] == kind]
        leads = [row[at["lead_days"]] for row in mine if row[at["lead_days"]] != ""]
        out.append([
            kind or "all", len(mine), _total(mine, at["quantity"]) if kind else "",
            _total(mine, at["spares"]) or "" if kind else "",
            _total([row for row in mine if row[at["price"]] == ""], at["quantity"]),
            _total(mine, at["price"]) or "",
            _total([row for row in mine if row[at["spares_price"]] == ""], at["spares"]) or "",
            _total(mine, at["spares_price"]) or "", max(map(_number, leads), default=""),
            len(mine) - len(leads), sum(row[at["note"]] != "" for row in mine) or "",
        ])  # fmt: skip
    return out


def _total(rows: Sequence[Sequence[object]], column: int) -> int | float:
    return sum(_number(row[column]) for row in rows)


def _number(value: object) -> int | float:
    return value if isinstance(value, (int, float)) else 0
