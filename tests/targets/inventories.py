"""Designs for the targets of schedulers, inventories and laboratories, and how their programs are run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.conftest import need_program

yaml = pytest.importorskip("yaml")
DESIGN = """\
model host NODE { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}" } }
fabric pods "Two units" {
  group su[2] {
    host node[4]: NODE
    switch leaf[2]: SW
    connect node[n].nic[r] to leaf[r]
  }
  switch spine[2]: SW
  nos frr
  connect su[*].leaf[*] to spine[*] each
  address su[*].leaf, spine loopback from 10.255.0.0/24
  address su[*].leaf, spine loopback from fd00:255::/64
  address su[*].leaf, spine, su[*].node management from 192.168.0.10/24 { interface mgmt0; gateway 192.168.0.1 }
  address su[*].node[*].nic[r] links from "172.{16 + r}.0.0/24"
  routing bgp { }
}
"""
PLANES = """\
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}" } }
fabric planes {
  host node[4]: NODE
  host store: NODE { role storage }
  plane plane[2] {
    switch leaf[2]: SW
    switch spine: SW
    connect leaf[*] to spine each x 2
  }
  connect node[n].nic[p] to plane[p].leaf[n // 2]
  connect store.nic[p] to plane[p].leaf[0]
}
"""
ASSETS = """\
device,port,node_guid,port_guid,mac
su0-leaf0,,,,94:6D:AE:00:00:01
su[1].node[3],,,,94-6d-ae-00-00-02
"""


def compiled(text: str, place: Path) -> Fabric:
    """The one fabric of a design."""
    path = place / "design.fab"
    path.write_text(text)
    result = compiler.compile_without_checks(str(path))
    assert not result.findings and result.designs[0].fabric is not None
    return result.designs[0].fabric


def made(text: str, place: Path, *targets: str, **settings: object) -> dict[str, bytes]:
    """The files of these targets, about which nothing was found."""
    found = Diagnostics()
    given = dict.fromkeys(targets, settings) if settings else {}
    options = BuildOptions(settings=given, assets=SourceFile("assets.csv", ASSETS) if text == DESIGN else None)
    files = build_files(compiled(text, place), targets, found, options)
    assert not list(found), list(found)
    return files


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program, with what it said."""
    env = {**os.environ, **environment}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, check=False, env=env)


def tree(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """Switch -> its nodes and its switches."""
    out = {}
    for line in text.splitlines():
        if line.startswith("SwitchName="):
            fields = dict(x.split("=", 1) for x in line.split())
            out[fields["SwitchName"]] = tuple(fields[k].split(",") if k in fields else [] for k in ("Nodes", "Switches"))
    return out  # type: ignore[return-value]


def slurm_loads(topology: bytes, nodes: Sequence[str], place: Path) -> tuple[str, str]:
    """What slurmctld and scontrol say of a `topology.conf` where these nodes are known: the tree, and the log."""
    slurmctld, scontrol = need_program("slurmctld", "slurmctld"), need_program("scontrol", "slurm-client")
    if os.geteuid() != 0:
        pytest.skip("slurmctld is started as root here")
    conf = place / "slurm.conf"
    port = 20000 + os.getpid() % 20000
    known = "".join(f"NodeName={n} NodeAddr=127.0.0.1 State=UNKNOWN\n" for n in nodes)
    conf.write_text(
        f"ClusterName=t\nSlurmctldHost={os.uname().nodename}(127.0.0.1)\nSlurmUser=root\nAuthType=auth/none\nCredType=cred/none\n"
        f"SlurmctldPort={port}\nSlurmctldPidFile={place}/pid\nStateSaveLocation={place}/state\nTopologyPlugin=topology/tree\n"
        f"SlurmctldLogFile={place}/log\nProctrackType=proctrack/pgid\nMailProg=/bin/true\nReturnToService=1\n"
        f"{known}PartitionName=p Nodes=ALL Default=YES\n"
    )
    (place / "topology.conf").write_bytes(topology)
    (place / "state").mkdir()
    with (place / "said").open("w") as said:
        daemon = subprocess.Popen([slurmctld, "-D", "-c", "-f", str(conf)], stdout=said, stderr=said)
    try:
        told = ""
        for _ in range(40):
            time.sleep(0.25)
            told = run(scontrol, "show", "topology", SLURM_CONF=str(conf)).stdout
            if "SwitchName=" in told or daemon.poll() is not None:
                break
    finally:
        daemon.terminate()
        daemon.wait(20)
    return told, "".join(p.read_text() for p in (place / "said", place / "log") if p.is_file())
