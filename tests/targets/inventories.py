"""Designs for the targets of schedulers, inventories and laboratories, and how their programs are run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.targets import build
from tests.targets.build import design

yaml = pytest.importorskip("yaml")
DESIGN, PLANES = design("pods"), design("planes")
NODES = [f"su{u}-node{n}" for u in range(2) for n in range(4)]
ASSETS = """\
device,port,node_guid,port_guid,mac
su0-leaf0,,,,94:6D:AE:00:00:01
su[1].node[3],,,,94-6d-ae-00-00-02
"""


def made(text: str, place: Path, *targets: str, **settings: object) -> dict[str, bytes]:
    """The files of these targets, about which nothing was found."""
    files, found = build.made(text, place, *targets, assets=ASSETS if text == DESIGN else "", **settings)
    assert not found
    return files


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program, with what it said."""
    env = {**os.environ, **environment}
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=60, check=False, env=env)


def host_list(text: str) -> list[str]:
    """The names of a host list of Slurm."""
    out = []
    for stem, ranges in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", text):
        for part in ranges.split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            out += [f"{stem}{n:0{len(first)}d}" for n in range(int(first), int(last or first) + 1)] if part else [stem]
    return out


def tree(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """Switch -> its nodes and its switches."""
    out = {}
    for line in text.splitlines():
        if line.startswith("SwitchName="):
            fields = dict(x.split("=", 1) for x in line.split())
            out[fields["SwitchName"]] = tuple(host_list(fields[k]) if k in fields else [] for k in ("Nodes", "Switches"))
    return out  # type: ignore[return-value]


def slurm_loads(topology: bytes, nodes: Sequence[str], place: Path) -> str:
    """The tree that scontrol shows of a `topology.conf` where these nodes are known; slurmctld's log names no node that is
    unknown or under two leaves."""
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
    log = "".join(p.read_text() for p in (place / "said", place / "log") if p.is_file())
    assert "SwitchName=" in told and not re.search(r"Invalid hostnames|Multiple leaf|no common root|not a tree", log, re.I), log
    return told
