"""The target opensm: OpenSM reads every file, routes as it says, and no path waits for itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.harness import fabric_of
from tests.targets import ib
from tests.targets.build import pod
from tests.targets.subnets import FTREE, UP, guid, made, of_opensm, rehearsed


@pytest.mark.parametrize("fabric", [pod, lambda: pod(units=4, nodes=8, rails=4, spines=8)])
def test_no_loop_of_credits_in_a_tree(fabric, tmp_path: Path) -> None:
    ib.need()
    files = made(fabric())
    assert not ib.discover(files["ibsim/fabric.net"], tmp_path, files["opensm/opensm.conf"], engine="").credit_loops()


TORUS = """
use nvidia (QM9700, UFM)
fabric t {
  switch sw[5x5]: QM9700
  host node[5x5]: UFM { role accelerator }
  connect node[a, b].p[1] to sw[a, b].p[64]
  connect sw[*] torus
}
"""


def test_a_torus_by_dimension_order_has_loops_of_credits(tmp_path: Path) -> None:
    """And is therefore no tree for which the configuration would promise anything."""
    ib.need()
    fabric = fabric_of(TORUS, tmp_path, models=False)
    files = made(fabric, E0511=1)
    assert b"routing_engine dfsssp" in files["opensm/opensm.conf"]  # without GUIDs, nothing says where a torus begins
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, engine="dor")
    assert "osm_ucast_mgr_process: dor tables configured on all switches" in found.log
    assert found.credit_loops()


def test_opensm_reads_its_configuration(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, files["opensm/opensm.conf"], engine="")
    assert FTREE in found.log and "SUBNET UP" in found.log
    assert "Unrecognized" not in found.log and "fail" not in found.log.lower().replace("failover", "")


def test_a_typing_error_in_the_configuration_would_be_seen(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    spoilt = files["opensm/opensm.conf"].replace(b"routing_engine ftree,updn", b"routing_engin ftree")
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, spoilt, engine="")
    assert FTREE not in found.log


MANAGED = """
fabric pod {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  host ufm[2]: UFM { role manager }
  connect ufm[u].p[1] to leaf[(u)]
  partition tenant 0x8001 { full node[0..1].nic }
  partition storage 0x0002 { full node[(3)].nic; limited node[0..2].nic; ipoib }
  subnet_manager ufm[(1)], ufm[(0)]
}
"""


def test_partitions_and_names_reach_the_ports(tmp_path: Path) -> None:
    """Each port has the keys that the design gives it, and ibnetdiscover shows the names of the map."""
    ib.need()
    files = rehearsed(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    netlist = re.sub(r'^(Switch.*# )"[^"]*"', r'\1"nameless"', files["ibsim/fabric.net"].decode(), flags=re.M).encode()
    mine = of_opensm(files)
    with ib.lab(netlist, tmp_path, mine) as lab:
        lab.manage("master", mine["opensm.conf"], "ufm1:p1")
        lab.awaited("master", UP, FTREE)
        keys = {}
        asked = {"node0": "nic[0]", "node1": "nic[7]", "node2": "nic[0]", "node3": "nic[0]", "ufm0": "p[1]"}
        for device, port in asked.items():
            told = lab.ask("smpquery", "-G", "pkeys", f"0x{guid(files, device, port)}", host="ufm1:p1")
            keys[device] = set(re.findall(r"0x[0-9a-f]{4}\b", told)) - {"0x0000"}
        seen = lab.ask("ibnetdiscover", "--node-name-map", "ib-node-name-map", host="ufm1:p1")
    assert keys["node0"] == keys["node1"] == {"0x7fff", "0x8001", "0x0002"}
    assert keys["node2"] == {"0x7fff", "0x0002"} and keys["node3"] == {"0x7fff", "0x8002"}
    assert keys["ufm0"] == {"0xffff"}
    named = set(re.findall(r'^Switch.*# "([^"]+)"', seen, re.M))
    assert named == {f"leaf{n}" for n in range(8)} | {"spine0", "spine1"} and "nameless" not in seen


def test_a_standby_takes_over(tmp_path: Path) -> None:
    ib.need()
    files = rehearsed(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    assert b"sm_priority 15" in mine["opensm.conf"] and b"sm_priority 14" in mine["opensm-ufm0.conf"]
    hurried = b"\nsminfo_polling_timeout 300\npolling_retry_number 2\n"
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("master", mine["opensm.conf"] + hurried, "ufm1:p1")
        lab.awaited("master", UP)
        lab.manage("standby", mine["opensm-ufm0.conf"] + hurried, "ufm0:p1")
        lab.awaited("standby", "Entering STANDBY state")
        assert "MASTER" in lab.ask("sminfo", host="node0:nic0")
        lab.stop("master")
        assert FTREE in lab.awaited("standby", "Entering MASTER state", UP)


@pytest.mark.parametrize(("extents", "line"), [("4x4x4", "4 x 4 x 4 torus w/ 256 links"), ("5x5", "5 x 5 x 1 torus w/ 75 links")])
def test_torus_2qos_finds_the_torus(extents: str, line: str, tmp_path: Path) -> None:
    ib.need()
    dimensions = extents.count("x") + 1
    text = TORUS.replace("5x5", extents).replace("sw[*]", f"sw[{', '.join('*' * dimensions)}]")
    text = text.replace("[a, b]", f"[{', '.join('abc'[:dimensions])}]")
    files = rehearsed(fabric_of(text, tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        told = lab.awaited("sm", UP)
    assert f"Built {line}" in told and "torus-2QoS tables configured on all switches" in told


@pytest.mark.parametrize("engine", ["", pytest.param("dfsssp", marks=pytest.mark.slow)])
def test_no_loop_of_credits_on_a_torus(engine: str, tmp_path: Path) -> None:
    """The engine of the configuration (torus-2QoS) and the one it falls back to break every loop by virtual lanes. Each path's
    service level is asked of the manager that runs."""
    ib.need()
    files = rehearsed(fabric_of(TORUS.replace("5x5", "4x4"), tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    config = mine["opensm.conf"]
    if engine:
        config = re.sub(rb"(?m)^routing_engine .*", f"routing_engine {engine}".encode(), config)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", config)
        lab.awaited("sm", UP, f"{engine or 'torus-2QoS'} tables configured on all switches")
        told = ib.loops_with_levels(lab, "sm")
    assert "no credit loops found" in told and "Found credit loop on:" not in told, told[-2000:]


UNEVEN = """
fabric f {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  connect leaf[(0)] to spine[(1)] x 2
}
"""


def test_a_tree_that_ftree_refuses_goes_up_and_down(tmp_path: Path) -> None:
    """The rules by which ftree is chosen are OpenSM's: where they fail, it fails."""
    ib.need()
    files = rehearsed(fabric_of(UNEVEN, tmp_path, models=False))
    mine = of_opensm(files)
    assert b"routing_engine updn\n" in mine["opensm.conf"] and len(mine["root-guids"].split()) == 2
    assert FTREE not in ib.discover(files["ibsim/fabric.net"], tmp_path).log
    (tmp_path / "live").mkdir()
    with ib.lab(files["ibsim/fabric.net"], tmp_path / "live", mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        assert "updn tables configured on all switches" in lab.awaited("sm", UP)


def test_production_invents_no_guid(tmp_path: Path) -> None:
    files = made(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    told = b"".join(of_opensm(files).values())
    assert not re.search(rb"[0-9a-f]{16}", told) and b"partition_config_file" not in told
