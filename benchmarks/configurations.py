"""Configurations of a leaf-spine beside AVD's renderer, and of 5,120 switches by one process and by one a
core.

All begin with the elaborated fabric and end with the files on the disk. pyavd is given its structured
configurations as dictionaries, and writes the same bytes as tdsl's target `eos`, which makes both.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import Record, by_turns, inside

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_contents
from tdsl.findings.diagnostic import Diagnostics
from tdsl.output.write import write_output_folder
from tdsl.system.spool import Spool
from tdsl.system.workers import Workers

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


def fabric(path: Path) -> Any:
    """The only fabric of a design."""
    return compiler.compile_without_checks(str(path)).designs[0].fabric


def rendered(who: str, leaves: int, place: Path) -> dict[str, Any]:
    """The configurations of a leaf-spine of EOS, to the disk."""
    design = place / "eos.fab"
    design.write_text(
        EOS.replace("LEAVES", str(leaves)).replace("SPINES", str(leaves // 2)), encoding="utf-8"
    )
    made = fabric(design)

    def files() -> Any:
        return build_contents(
            made, ["eos"], Diagnostics(), BuildOptions(spool=Spool(place), workers=Workers(1))
        ).files

    if who == "tdsl":
        files()
        return inside(
            lambda: write_output_folder(files(), place / "out", Diagnostics()), n=leaves + leaves // 2
        )
    import pyavd
    import yaml

    ready = {path: bytes(body) for path, body in files().items() if path.startswith("eos/")}
    given = {path: yaml.safe_load(body) for path, body in ready.items() if path.endswith(".structured.yaml")}
    for path, values in list(given.items())[:1]:  # before the clock starts: its templates are loaded
        assert pyavd.get_device_config(values).encode() == ready[path.replace(".structured.yaml", ".cfg")], (
            path
        )
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
    made = fabric(design)

    def work() -> int:
        files = build_contents(
            made, [nos], Diagnostics(), BuildOptions(spool=Spool(place), workers=Workers(jobs))
        ).files
        write_output_folder(files, place / "out", Diagnostics())
        return len(files) - 1

    before = os.times()
    found = inside(work)
    after = os.times()
    return {**found, "cpu_s": sum(after[:4]) - sum(before[:4])}  # of the processes that it gave work to, too


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record for tdsl and pyavd, and for each operating system with one process and with all cores."""
    leaves = 4 if quick else 64
    peers = {who: (sys.executable, __file__, "eos", str(leaves), who) for who in ("tdsl", "pyavd")}
    out = by_turns(
        "configurations", f"{leaves + leaves // 2} switches, eos", peers, min(rounds, 3), unit="switches"
    )
    for nos in () if quick else ("frr", "sonic"):
        ways = {"tdsl": 1, "tdsl, a process a core": 0}
        peers = {who: (sys.executable, __file__, "large", nos, str(jobs)) for who, jobs in ways.items()}
        out += by_turns("configurations", f"5,120 switches, {nos}", peers, min(rounds, 3), unit="switches")
    return out


def main() -> None:
    """One run, its figures as JSON; without arguments all of them, one round."""
    if len(sys.argv) < 2:
        print(json.dumps(records(1), indent=1))
        return
    what, second, third = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as place:
        made = (
            rendered(third, int(second), Path(place))
            if what == "eos"
            else configured(second, int(third), Path(place))
        )
        print(json.dumps(made))


if __name__ == "__main__":
    main()
