"""All targets: one design gives the same bytes wherever it is built, and no target has a hand in another's files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.emit.target import targets_by_name
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, merge_equal_findings
from tdsl.findings.source import SourceFile
from tdsl.system.resources import packaged_folder
from tdsl.system.workers import Workers
from tests.harness import fabric_of

ROOT = Path(__file__).parents[2]
TARGETS = sorted(p.name for p in packaged_folder("targets").iterdir() if p.is_dir())
DESIGN = """\
model switch LEAF { port p[1..64]: 400Gbps { type GE400; cage 1 OSFP; os "Ethernet{i}/1"; sonic 8*(i - 1) lanes 8 } }
model switch SPINE { port p[1..64]: 400Gbps { type GE400; cage 1 OSFP; os "swp{i}" } }
model host AMD { port nic: 400Gbps { type GE400; os "bnxt_re0"; netdev "eth2" }; chip gpu: MI250X }
fabric ethernet "Rails over Ethernet" {
  host node[4]: DGX_H100
  nos nvue
  switch leaf[8]: LEAF { nos eos }
  switch spine[2]: SPINE
  switch core[2]: LEAF { nos sonic }
  connect node[n].nic[r] to leaf[r] { length 3m }
  host amd: AMD
  connect amd.nic to leaf[0]
  connect leaf[*] to spine[*] each x 2 { length 30m }
  connect leaf[*] to core[*] each x 2 { length 30m }
  address leaf, spine, core loopback from 10.255.0.0/24
  address leaf, spine, core loopback from fd00:255::/64
  address leaf management from 192.168.0.10/24 { interface Management1; gateway 192.168.0.1 }
  address node[*].nic[r] links from "172.{16 + r}.0.0/24"
  routing bgp { mtu 9214; bfd; graceful_restart }
  roce { dscp 26; priority 3; cnp 48 priority 6; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }
}
fabric infiniband "Rails over InfiniBand, two planes" {
  host host[4]: DGX_H100
  plane plane[2] {
    switch leaf[4]: QM9700
    switch spine[2]: QM9700
    connect leaf[*] to spine[*] each x 2
  }
  connect host[n].nic[r] to plane[r % 2].leaf[r // 2]
  partition training 0x0001 { full host[0..2].nic; ipoib }
}
fabric torus "A torus of switches" {
  switch s[3, 3, 3]: QM9700
  host ufm[3, 3, 3]: UFM
  connect s[*] torus
  connect ufm[x, y, z].p[1] to s[x, y, z]
  hall h1 { row A..C { rack 1..3 { height 48U } }; pitch rack 0.6m, row 3m; tray above 2.6m; slack 1m }
  place s[x, y, z] in h1[x + 1, y + 1] at 30U + 1U*z
  place ufm[x, y, z] in h1[x + 1, y + 1] at 10U + 1U*z
}
"""


@pytest.fixture(scope="module")
def design(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("design") / "design.fab"
    path.write_text(DESIGN)
    return path


@pytest.fixture(scope="module")
def fabrics(design: Path) -> list[Fabric]:
    found = compiler.compile_without_checks(str(design))
    assert not found.findings
    return [d.fabric for d in found.designs if d.fabric is not None]


@pytest.fixture(scope="module")
def assets(fabrics: list[Fabric]) -> str:
    """Identifiers of the assets of all fabrics, as opensm needs them: the simulator's."""
    tables = [build_files(f, ["ibsim"], Diagnostics()).get("ibsim/assets.csv", b"").decode() for f in fabrics]
    lines = dict.fromkeys(line for table in tables for line in table.splitlines(True) if not line.startswith("#"))
    return "".join(lines).replace("port_guid", "port_guid,mac", 1) + MANAGED


MANAGED = "leaf[0],,,,94:6d:ae:00:00:01\n"
"""An asset of the first fabric."""


def below(place: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in sorted(place.rglob("*")) if p.is_file()}


def test_the_same_bytes_wherever_it_is_built(design: Path, assets: str, tmp_path: Path) -> None:
    """Two processes, one after the other, with other hash seeds, zones of time, languages, folders and terminals."""
    made = []
    for number, (zone, language) in enumerate((("UTC0", "C"), ("XYZ-11", "C.UTF-8"))):
        place = tmp_path / f"place {number}" / ("deeper" * number)
        for name in ("temporary", "home", "work"):
            (place / name).mkdir(parents=True)
        (place / "design.fab").write_text(design.read_text())
        (place / "assets.csv").write_text(assets)
        environment = {
            **os.environ, "PYTHONHASHSEED": str(number + 1), "TZ": zone, "LC_ALL": language, "TMPDIR": str(place / "temporary"),
            "HOME": str(place / "home"), "PYTHONPATH": str(ROOT), "COLUMNS": str(60 + 40 * number),
        }  # fmt: skip
        given = [str(place / "design.fab"), "--out", str(place / "out")] if number else ["../design.fab", "--out", "../out"]
        command = [sys.executable, "-m", "tdsl", "build", *given, "--assets", "../assets.csv"]
        subprocess.run(command, cwd=place / "work", env=environment, stdout=subprocess.DEVNULL, check=True)
        made.append(below(place / "out"))
    first, second = made
    assert list(first) == list(second)
    assert [p for p in first if first[p] != second[p]] == []
    folders = {path.split("/")[1] for path in first if "all-networks" not in path.split("/")}
    assert folders == set(TARGETS) - {"json"} | {"fabric.json", "manifest.json"}
    assert {"root-guids", "partitions.conf", "torus-2QoS.conf", "ib-node-name-map"} <= {p.rsplit("/", 1)[1] for p in first}
    machine = (str(tmp_path).encode(), os.uname().nodename.encode())
    assert not [p for p, data in first.items() if any(word in data for word in machine)]


MANY = """\
model switch SW { port p[1..32]: 400Gbps { type GE400; os "swp{i}" } }
model switch TOP { port p[1..3200]: 400Gbps { type GE400; os "swp{i}" } }
fabric many {
  nos frr
  switch leaf[1600]: SW
  switch spine[4]: TOP
  connect leaf[*] to spine[*] each x 2
  address leaf, spine loopback from 10.255.0.0/16
  routing bgp
}
"""


def test_the_same_bytes_by_several_processes(tmp_path: Path) -> None:
    """More files of switches than one process makes alone (4 MiB), and what is found on the way."""
    fabric = fabric_of(MANY, tmp_path, models=False)
    told = []
    for jobs in (1, 2):
        found = Diagnostics()
        files = build_files(fabric, ["frr"], found, BuildOptions(workers=Workers(jobs)))
        told.append((list(files.items()), merge_equal_findings(found)))
    assert told[0] == told[1]
    assert sum(len(data) for path, data in told[0][0] if "leaf" in path) > 4 << 20


def test_one_target_has_one_folder(fabrics: list[Fabric]) -> None:
    """What a target writes lies in a folder of its name, and is the same with the others and alone."""
    assert sorted(targets_by_name(Diagnostics())) == TARGETS
    busy: set[str] = set()
    for fabric in fabrics:
        assets = (
            SourceFile("assets.csv", f"device,port,node_guid,port_guid,mac\n{MANAGED}") if fabric.name == "ethernet" else None
        )
        options = BuildOptions(assets=assets)
        together, parts = build_files(fabric, [], Diagnostics(), options), 0
        for target in TARGETS:
            alone = build_files(fabric, [target], Diagnostics(), options)
            del alone["manifest.json"]
            assert all(path.startswith(f"{target}/") or (target, path) == ("json", "fabric.json") for path in alone)
            assert alone.items() <= together.items()
            parts += len(alone)
            busy |= {target} if alone else set()
        assert parts == len(together) - 1
    assert sorted(busy) == TARGETS, "the designs give every target something to do"
