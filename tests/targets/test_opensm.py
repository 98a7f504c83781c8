"""The target opensm: OpenSM reads every file, routes as it says, and no path waits for itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.harness import fabric_of
from tests.targets import ib
from tests.targets.build import design, pod
from tests.targets.subnets import FTREE, UP, guid, made, of_opensm, rehearsed


def fabric(name: str, place: Path, **given: str) -> Fabric:
    return fabric_of(design(name, **given), place, models=False)


def test_opensm_reads_its_configuration_and_no_credit_loops_in_a_tree(tmp_path: Path) -> None:
    """A typing error in the configuration would be seen."""
    ib.need()
    files = made(pod(units=3, nodes=4, rails=4, spines=4))
    config = files["opensm/opensm.conf"]
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, config, engine="")
    assert FTREE in found.log and UP in found.log and not found.credit_loops()
    assert "Unrecognized" not in found.log and "fail" not in found.log.lower().replace("failover", "")
    spoilt = config.replace(b"routing_engine ftree,updn", b"routing_engin ftree")
    (tmp_path / "spoilt").mkdir()
    assert FTREE not in ib.discover(files["ibsim/fabric.net"], tmp_path / "spoilt", spoilt, engine="").log


def test_a_torus_by_dimension_order_has_loops_of_credits(tmp_path: Path) -> None:
    """And is therefore no tree for which the configuration would promise anything."""
    ib.need()
    files = made(fabric("torus", tmp_path, extents="5x5", hosts="5x5"), E0511=1)
    assert b"routing_engine dfsssp" in files["opensm/opensm.conf"]  # without GUIDs, nothing says where a torus begins
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, engine="dor")
    assert "osm_ucast_mgr_process: dor tables configured on all switches" in found.log
    assert found.credit_loops()


def test_partitions_and_names_reach_the_ports(tmp_path: Path) -> None:
    """Each port has the keys that the design gives it, and ibnetdiscover shows the names of the map. Without real GUIDs nothing
    is invented."""
    ib.need()
    pods = fabric("managed", tmp_path)
    told = b"".join(of_opensm(made(pods, E0511=1)).values())
    assert not re.search(rb"[0-9a-f]{16}", told) and b"partition_config_file" not in told
    files = rehearsed(pods, E0511=1)
    netlist = re.sub(r'^(Switch.*# )"[^"]*"', r'\1"nameless"', files["ibsim/fabric.net"].decode(), flags=re.M).encode()
    mine = of_opensm(files)
    with ib.lab(netlist, tmp_path, mine) as lab:
        lab.manage("master", mine["opensm.conf"], "ufm1:p1")
        lab.awaited("master", UP, FTREE)
        keys = {}
        asked = {"node0": "nic[0]", "node1": "nic[7]", "node2": "nic[0]", "node3": "nic[0]", "ufm0": "p[1]"}
        for device, port in asked.items():
            said = lab.ask("smpquery", "-G", "pkeys", f"0x{guid(files, device, port)}", host="ufm1:p1")
            keys[device] = set(re.findall(r"0x[0-9a-f]{4}\b", said)) - {"0x0000"}
        seen = lab.ask("ibnetdiscover", "--node-name-map", "ib-node-name-map", host="ufm1:p1")
    assert keys["node0"] == keys["node1"] == {"0x7fff", "0x8001", "0x0002"}
    assert keys["node2"] == {"0x7fff", "0x0002"} and keys["node3"] == {"0x7fff", "0x8002"}
    assert keys["ufm0"] == {"0xffff"}
    named = set(re.findall(r'^Switch.*# "([^"]+)"', seen, re.M))
    assert named == {f"leaf{n}" for n in range(8)} | {"spine0", "spine1"} and "nameless" not in seen


def test_a_standby_takes_over(tmp_path: Path) -> None:
    ib.need()
    files = rehearsed(fabric("managed", tmp_path), E0511=1)
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


def test_torus_2qos_finds_a_torus_of_three_dimensions(tmp_path: Path) -> None:
    ib.need()
    text = design("torus", extents="4x4x4", hosts="4x4x4").replace("b]", "b, c]").replace("(b)]", "(b), (c)]")
    text = text.replace("sw[*]", "sw[*, *, *]")
    files = rehearsed(fabric_of(text, tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        told = lab.awaited("sm", UP)
    assert "Built 4 x 4 x 4 torus w/ 256 links" in told and "torus-2QoS tables configured on all switches" in told


@pytest.mark.parametrize("engine", ["torus-2QoS", "dfsssp"])
def test_no_loop_of_credits_on_a_torus(engine: str, tmp_path: Path) -> None:
    """The engine of the configuration (torus-2QoS) and the one it falls back to break every loop by virtual lanes. Each path's
    service level is asked of the manager that runs."""
    ib.need()
    files = rehearsed(fabric("torus", tmp_path, extents="4x4", hosts="4x2"), E0511=1)
    mine = of_opensm(files)
    config = mine["opensm.conf"]
    if engine == "dfsssp":
        config = re.sub(rb"(?m)^routing_engine .*", b"routing_engine dfsssp", config)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", config)
        told = lab.awaited("sm", UP, f"{engine} tables configured on all switches")
        assert engine == "dfsssp" or "Built 4 x 4 x 1 torus w/ 40 links" in told
        assert not ib.loops_with_levels(lab, "sm")


def test_a_tree_that_ftree_refuses_goes_up_and_down(tmp_path: Path) -> None:
    """The rules by which ftree is chosen are OpenSM's: where they fail, it fails."""
    ib.need()
    text = design("rails_alone").replace("node[3]", "node[4]").rstrip("}\n") + "\n  switch spine[2]: QM9700"
    text += "\n  connect leaf[*] to spine[*] spread x 4\n  connect leaf[(0)] to spine[(1)] x 2\n}\n"
    files = rehearsed(fabric_of(text, tmp_path, models=False))
    mine = of_opensm(files)
    assert b"routing_engine updn\n" in mine["opensm.conf"] and len(mine["root-guids"].split()) == 2
    assert FTREE not in ib.discover(files["ibsim/fabric.net"], tmp_path).log
    (tmp_path / "live").mkdir()
    with ib.lab(files["ibsim/fabric.net"], tmp_path / "live", mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        assert "updn tables configured on all switches" in lab.awaited("sm", UP)
