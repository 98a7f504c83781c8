"""Rows a second of cables.csv, links.csv and labels.csv beside csv.writer, a plain Jinja template, Polars, pyarrow and the write of
bytes that are ready; configurations of 5,120 switches, and of a leaf-spine beside AVD's renderer.

tdsl begins with the columns of the elaborated fabric and ends with the bytes on the disk. A peer is given the same values as it
likes them best (lists of rows, a data frame, an Arrow table), which is not counted, and writes them; "csv.writer from columns"
begins where tdsl does. csv.writer and tdsl write
the same bytes but for the ends of lines; the others quote as they do. pyavd is given its structured configurations as
dictionaries, and writes the same bytes as tdsl's target `eos`, which makes both.
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
PEERS = ("tdsl", "csv.writer from columns", "csv.writer", "Jinja", "Polars", "pyarrow", "raw write")
DESIGN, QUICK = "gpu131k", "rail_only"
JINJA = "{% for row in rows %}{{ row | join(',') }}\n{% endfor %}"
EOS = """\
model switch SW { port p[1..64]: 400Gbps { type GE400; os "Ethernet{i}/1" } }
model host END { port nic: 400Gbps { type GE400; os "eth0" } }
fabric pod "Leaf and spine" {
  host end[LEAVES]: END
  switch leaf[LEAVES]: SW
  switch spine[SPINES]: SW
  connect end[i] to leaf[i]
  connect leaf[*] to spine[*] each
  address leaf, spine loopback from 10.255.0.0/16
  routing bgp { mtu 9214 }
}
"""
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
    if who == "Jinja":
        from jinja2 import Environment

        ready = [[cell(v) for v in row] for row in zip(*values.values(), strict=True)]
        template = Environment().from_string(JINJA)

        def rendered() -> None:
            with out.open("w", newline="", encoding="utf-8") as file:
                file.writelines(template.generate(rows=ready))

        return rendered, len(table)
    if who == "raw write":
        parts = list(csv_rows(table, fields, headings))
        return lambda: _raw(out, parts), len(table)
    texts = {h: [str(v) for v in column] for h, column in values.items()}
    if who == "Polars":
        import polars

        frame = polars.DataFrame(texts)
        return lambda: frame.write_csv(out), len(table)
    import pyarrow
    from pyarrow.csv import WriteOptions, write_csv

    arrow = pyarrow.table(texts)
    return lambda: write_csv(arrow, out, WriteOptions(quoting_style="needed")), len(table)


def _raw(out: Path, parts: Sequence[bytes]) -> None:
    with out.open("wb") as file:
        file.writelines(parts)


def rendered(who: str, leaves: int, place: Path) -> dict[str, Any]:
    """The configurations of a leaf-spine of EOS, to the disk."""
    design = place / "eos.fab"
    design.write_text(EOS.replace("LEAVES", str(leaves)).replace("SPINES", str(leaves // 2)), encoding="utf-8")
    made = fabric(str(design))

    def files() -> Any:
        return contents(made, ["eos"], Diagnostics(), BuildOptions(spool=Spool(place), workers=Workers(1)))

    if who == "tdsl":
        files()
        return inside(lambda: write(files(), place / "out", Diagnostics()), n=leaves + leaves // 2)
    import pyavd
    import yaml

    ready = {path: bytes(body) for path, body in files().items() if path.startswith("eos/")}
    given = {path: yaml.safe_load(body) for path, body in ready.items() if path.endswith(".structured.yaml")}
    for path, values in list(given.items())[:1]:  # before the clock starts: its templates are loaded
        assert pyavd.get_device_config(values).encode() == ready[path.replace(".structured.yaml", ".cfg")], path
    (place / "out").mkdir()

    def work() -> int:
        for path, values in given.items():
            (place / "out" / Path(path).name).write_text(pyavd.get_device_config(values), encoding="utf-8")
        return len(given)

    return inside(work)


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


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record for each list and peer, and for each operating system with one process and with all cores."""
    out = []
    design = QUICK if quick else DESIGN
    for name in LISTS:
        peers = {who: (sys.executable, __file__, design, name, who) for who in PEERS}
        out += by_turns("cabling", f"{design}, {name}.csv", peers, min(rounds, 3), unit="rows")
    leaves = 4 if quick else 64
    peers = {who: (sys.executable, __file__, "eos", str(leaves), who) for who in ("tdsl", "pyavd")}
    out += by_turns("configurations", f"{leaves + leaves // 2} switches, eos", peers, min(rounds, 3), unit="switches")
    for nos in () if quick else ("frr", "sonic"):
        ways = {"tdsl": 1, "tdsl, a process a core": 0}
        peers = {who: (sys.executable, __file__, "configurations", nos, str(jobs)) for who, jobs in ways.items()}
        out += by_turns("configurations", f"5,120 switches, {nos}", peers, min(rounds, 3), unit="switches")
    return out


def main() -> None:
    """One run, its figures as JSON; without arguments all of them, one round."""
    if len(sys.argv) < 2:
        print(json.dumps(records(1), indent=1))
        return
    first, second, third = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        if first == "configurations":
            print(json.dumps(configured(second, int(third), place)))
        elif first == "eos":
            print(json.dumps(rendered(third, int(second), place)))
        else:
            work, rows = written(third, second, fabric(first), place / "list.csv")
            print(json.dumps(inside(work, n=rows)))


if __name__ == "__main__":
    main()
