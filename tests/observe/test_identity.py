"""Devices known by identifier, by rule and by position; ports with two neighbours; rates that a whole class shares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.audit import AuditSettings
from tdsl.observe.match import Identifiers
from tdsl.observe.names import NameMapRule, is_factory_description
from tests.harness import fabric_of
from tests.observe.captures import audited, codes, netlist
from tests.observe.plant import Cables
from tests.observe.test_chain import POD


@pytest.fixture
def pod(tmp_path: Path) -> Fabric:
    return fabric_of(POD, tmp_path, models=False)


def capture(pod: Fabric, folder: Path, names: dict[str, str], speed: str = "4xNDR") -> Path:
    """A capture in which some devices have other names; its identifiers are GUIDs, as real ones are."""
    called = {d: names[pod.device_name(d)] for d in range(pod.device_count) if pod.device_name(d) in names}
    text = netlist(Cables(pod), dict.fromkeys(range(len(pod.port_device)), speed), called)
    numbers: dict[str, str] = {}

    def guid(found: re.Match[str]) -> str:
        kind = "H" if ":" in found[1] else "S"
        return f'"{numbers.setdefault(found[1], f"{kind}-{len(numbers) + 4096:016x}")}"'

    path = folder / "x.topo"
    path.write_text(re.sub(r'"([\w:-]+)"(?=\t|\[)', guid, text))
    return path


def test_a_switch_of_another_name(pod: Fabric, tmp_path: Path) -> None:
    path = capture(pod, tmp_path, {"su0-leaf1": "new-switch"})
    found = audited(pod, ("ibnetdiscover", path))
    assert codes(found) == ["E0613"] and found.matching == pod.link_count
    assert found.faults[0].finding.message == "`new-switch` is where the design plans su0-leaf1"
    rule = AuditSettings(rules=(NameMapRule.parse("new-switch=su0-leaf1"),))
    assert codes(audited(pod, ("ibnetdiscover", path), settings=rule)) == []


def test_factory_names(pod: Fabric, tmp_path: Path) -> None:
    names = {"su0-leaf1": "Quantum Mellanox Technologies", "su0-node2": "MT4129 ConnectX7 Mellanox Technologies"}
    found = audited(pod, ("ibnetdiscover", capture(pod, tmp_path, names)))
    assert codes(found) == [] and found.matching == pod.link_count
    assert [d.code for d in found.notes] == ["E0612"] * 9  # a switch and eight adapters
    assert all(map(is_factory_description, (*names.values(), "", "localhost mlx5_0"))) and not is_factory_description("leaf1")


def test_identifiers_of_assets(pod: Fabric, tmp_path: Path) -> None:
    path = capture(pod, tmp_path, {"su0-leaf1": "x"})
    guid = re.search(r'"S-(\w{16})"\t# "x"', path.read_text())
    assert guid is not None
    row = next(d for d in range(pod.device_count) if pod.device_name(d) == "su0-leaf1")
    by_guid = AuditSettings(assets=Identifiers({guid[1]: (row, -1)}))
    assert codes(audited(pod, ("ibnetdiscover", path), settings=by_guid)) == []
    other = AuditSettings(assets=Identifiers({"00000000000000ff": (row + 1, -1)}))
    found = audited(pod, ("ibnetdiscover", capture(pod, tmp_path, {})), settings=other)
    assert codes(found) == ["E0613"] and "not 00000000000000ff" in found.faults[0].finding.message


def test_a_managed_switch_and_an_aggregation_node(pod: Fabric, tmp_path: Path) -> None:
    path = capture(pod, tmp_path, {"spine0": "MF0;spine0:MQM9700/U1"})
    assert codes(audited(pod, ("ibnetdiscover", path))) == []
    text = path.read_text()
    switch = re.search(r'Switch\t64 "(S-\w+)"\t# "MF0', text)
    assert switch is not None
    node = (
        '\n\nCa\t1 "H-00000000000000aa"\t# "Mellanox Technologies Aggregation Node"\n[1]\t"'
        + switch[1]
        + '"[64]\t# lid 0 4xHDR\n'
    )
    path.write_text(text + node)
    found = audited(pod, ("ibnetdiscover", path))
    assert codes(found) == [] and [d.code for d in found.notes] == ["E0611"]


def test_all_links_of_a_class_are_slow(pod: Fabric, tmp_path: Path) -> None:
    path = capture(pod, tmp_path, {}, "4xHDR")
    found = audited(pod, ("ibnetdiscover", path))
    assert codes(found) == ["E0631", "E0631"]
    assert "200 Gb/s; 400 Gb/s is planned" in found.faults[0].finding.message


def test_a_port_with_two_neighbours(pod: Fabric, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "a_device,a_port,b_device,b_port\nsu0-node0,mlx5_0,su0-leaf0,IB1/1/1\nsu0-node0,mlx5_0,su0-leaf0,IB1/9/1\n"
    )
    found = audited(pod, ("p2p", tmp_path / "x.csv"))
    assert "E0603" in codes(found)
