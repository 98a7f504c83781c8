"""``ibdiagnet2.net_dump_ext``, which ibdiagnet writes into its folder with ``--get_phy_info``: a line a
port, its cells between colons: ``Ty : # : #IB : GUID : LID : Sta : PhysSta : LWA : LSA : … : Raw BER :
Effective BER : Symbol BER : Symbol Err : Effective Err : Node Desc``. Columns are found by their names;
the description may hold colons itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tdsl.findings.source import SourceFile
from tdsl.observe.readers.mlxlink import NUMBER
from tdsl.observe.record import (
    CapturedEnd,
    CapturedHealth,
    CaptureLine,
    Malformed,
    Observed,
    hexadecimal_digits,
    plain_capture_name,
)
from tdsl.observe.speeds import infiniband_rate

FORMAT = "net-dump-ext"
OPTION = "health"
HEADING = re.compile(r"^[ \t]*+Ty[ \t]*+:[ \t]*+#[ \t]*+:.*Symbol BER", re.MULTILINE)
NEEDED = ("#IB", "GUID", "Sta", "LWA", "LSA", "Symbol BER", "Node Desc")


def recognises(head: str) -> bool:
    """Whether a text begins as such a capture."""
    return HEADING.search(head) is not None


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add a fact for each port."""
    columns: list[str] = []
    for number, line in enumerate(file.text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [c.strip() for c in line.split(":")]
        if not columns:
            columns = _columns_of_heading(cells, number)
            continue
        try:
            if len(cells) < len(columns):
                raise Malformed(
                    number, f"a row of {len(cells)} cells under {len(columns)} columns", "run ibdiagnet again"
                )
            last = len(columns) - 1
            row = dict(
                zip(
                    columns, [*cells[:last], ":".join(line.split(":")[last:]).strip().strip('"')], strict=True
                )
            )
            _add_port(row, CaptureLine(file, number), into)
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)
    if not columns:
        raise Malformed(1, "the file has no heading", "give ibdiagnet2.net_dump_ext")


def _columns_of_heading(cells: list[str], number: int) -> list[str]:
    missing = [n for n in NEEDED if n not in cells]
    if missing:
        raise Malformed(
            number, f"the heading has no column {missing[0]!r}", "run ibdiagnet with --get_phy_info"
        )
    return cells


def _add_port(row: Mapping[str, str], at: CaptureLine, into: Observed) -> None:
    guid = hexadecimal_digits(row["GUID"].removeprefix("0x").zfill(16))
    if len(guid) != 16 or not row["#IB"].isdigit():
        raise Malformed(
            at.line,
            f"{row['GUID'][:40]!r} and {row['#IB'][:20]!r} are no GUID and port",
            "run ibdiagnet again",
        )
    kind = "switch" if row.get("Ty") == "SW" else "adapter"
    key = f"id:{guid}"
    into.node(key, plain_capture_name(row["Node Desc"], at.line), kind, (guid,), 0, at)
    width = re.match(r"(\d+)x", row["LWA"])
    lanes = int(width[1]) if width else 0
    speed = row["LSA"]
    rate = lanes * int(speed) * 10**9 if speed.isdigit() else infiniband_rate(lanes, speed)
    ber = next(
        (float(row[k]) for k in ("Symbol BER", "Effective BER") if NUMBER.fullmatch(row.get(k, ""))), -1.0
    )
    errors = next((int(row[k]) for k in ("Symbol Err", "Effective Err") if row.get(k, "").isdigit()), -1)
    state = {"ACT": "Active"}.get(row["Sta"], row["Sta"])
    into.fact(
        CapturedHealth(CapturedEnd(key, (row["#IB"],)), state, rate, lanes if rate else 0, ber, errors, at)
    )
