"""Rows a second of cables.csv, links.csv and labels.csv beside csv.writer, Polars and pyarrow; configurations of 5,120 switches.

tdsl begins with the columns of the elaborated fabric and ends with the bytes on the disk. A peer is given the same values as it
likes them best (lists of rows, a data frame, an Arrow table), which is not counted, and writes them; "csv.writer from columns"
begins where tdsl does. csv.writer and tdsl write
the same bytes but for the ends of lines; the others quote as they do.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measure import Record, by_turns, inside

from tdsl import compiler
from tdsl.diagnostic import Diagnostics
from tdsl.emit.build import BuildOptions, contents
from tdsl.emit.rows import cell, csv_rows
from tdsl.emit.spool import Spool
from tdsl.emit.view import FabricView
from tdsl.emit.write import write
from tdsl.resources import folder
from tdsl.workers import Workers

LISTS = ("cables", "links", "labels")
PEERS = ("tdsl", "csv.writer from columns", "csv.writer", "polars", "pyarrow")
DESIGN = "gpu131k"
SWITCHES = """\
model host END { port nic: 400Gbps { type GE400; netdev "eth1" } }
model switch SW { port p[1..64]: 400Gbps { type GE400; cage 1 OSFP; os "swp{i}"; sonic 8*(i - 1) lanes 8 } }
fabric clos "Three tiers of 5,120 switches" {
  nos NOS
  host end[65536]: END
  group pod[64] {
    switch edge[32]: SW
    switch agg[32]: SW
    connect edge[*] to agg[*] each
  }
  switch core[1024]: SW
  connect end[e] to pod[e // 1024].edge[e % 1024 // 32]
  connect pod[*].agg[a] to core[32*a..32*a + 31] each
  address pod[*].edge, pod[*].agg, core loopback from 10.0.0.0/16
  address pod[*].edge, pod[*].agg, core management from 192.168.0.0/18
  routing bgp { mtu 9214; bfd }
}
"""


def columns_of(name: str) -> tuple[list[str], list[str]]:
    """Headings of a list, and the fields below them, as the target has them."""
    template = folder("targets") / "cabling" / "templates" / f"{name}.csv.j2"
    found = [c.partition("=") for c in re.findall(r'"([^"]+)"', template.read_text(encoding="utf-8").partition("+ ([")[0])]
    return [heading for heading, _, _ in found], [field if renamed else heading for heading, renamed, field in found]


def fabric(path: str) -> Any:
    """The only fabric of a design."""
    return compiler.elaborate(path).designs[0].fabric


def written(who: str, name: str, made: Any, out: Path) -> tuple[Callable[[], object], int]:
    """What writes a list as one of the peers does, and the number of rows."""
    headings, fields = columns_of(name)
    table = getattr(FabricView(made, Diagnostics()), name)
    if who == "tdsl":

        def rows() -> None:
            with out.open("wb") as file:
                file.writelines(csv_rows(getattr(FabricView(made, Diagnostics()), name), fields, headings))

        return rows, len(table)
    if who == "csv.writer from columns":

        def from_columns() -> None:
            table = getattr(FabricView(made, Diagnostics()), name)
            with out.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(zip(*(map(cell, table.column(f)) for f in fields), strict=True))

        return from_columns, len(table)
    values: dict[str, Sequence[object]] = {h: table.column(f) for h, f in zip(headings, fields, strict=True)}
    if who == "csv.writer":
        ready = [[cell(v) for v in row] for row in zip(*values.values(), strict=True)]

        def lines() -> None:
            with out.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(ready)

        return lines, len(table)
    texts = {h: [str(v) for v in column] for h, column in values.items()}
    if who == "polars":
        import polars

        frame = polars.DataFrame(texts)
        return lambda: frame.write_csv(out), len(table)
    import pyarrow
    from pyarrow.csv import WriteOptions, write_csv

    arrow = pyarrow.table(texts)
    return lambda: write_csv(arrow, out, WriteOptions(quoting_style="needed")), len(table)


def configured(nos: str, jobs: int, place: Path) -> dict[str, Any]:
    """The configurations of 5,120 switches on the disk."""
    design = place / "clos.fab"
    design.write_text(SWITCHES.replace("NOS", nos), encoding="utf-8")
    made = fabric(str(design))

    def work() -> int:
        files = contents(made, [nos], Diagnostics(), BuildOptions(spool=Spool(place), workers=Workers(jobs)))
        write(files, place / "out", Diagnostics())
        return len(files) - 1

    before = os.times()
    found = inside(work)
    after = os.times()
    return {**found, "cpu_s": sum(after[:4]) - sum(before[:4])}  # of the processes that it gave work to, too


def records(rounds: int) -> list[Record]:
    """A record for each list and peer, and for each operating system with one process and with all cores."""
    out = []
    for name in LISTS:
        peers = {who: (sys.executable, __file__, name, who) for who in PEERS}
        out += by_turns("cabling", f"{DESIGN}, {name}.csv", peers, rounds, unit="rows")
    for nos in ("frr", "sonic"):
        ways = {"tdsl, one process": 1, "tdsl": 0}
        peers = {who: (sys.executable, __file__, "configurations", nos, str(jobs)) for who, jobs in ways.items()}
        out += by_turns("configurations", f"5,120 switches, {nos}", peers, rounds, unit="files")
    return out


def main() -> None:
    """One run, its figures as JSON; without arguments all of them, one round."""
    if len(sys.argv) < 2:
        print(json.dumps(records(1), indent=1))
        return
    with tempfile.TemporaryDirectory() as place:
        if sys.argv[1] == "configurations":
            print(json.dumps(configured(sys.argv[2], int(sys.argv[3]), Path(place))))
            return
        made = fabric(str(folder("stdlib") / "designs" / f"{DESIGN}.fab"))
        work, rows = written(sys.argv[2], sys.argv[1], made, Path(place) / "list.csv")
        print(json.dumps(inside(work, n=rows)))


if __name__ == "__main__":
    main()
