"""Devices of other names: known by position, by rule and by identifier; and rates that a whole class shares."""

from __future__ import annotations

import re
from pathlib import Path

from tdsl.fabric.graph import Fabric
from tdsl.observe.audit import Audit, AuditSettings
from tdsl.observe.match import Identifiers
from tdsl.observe.names import NameMapRule
from tests.observe.captures import audited, codes, netlist
from tests.observe.plant import Cables


def captured(fabric: Fabric, folder: Path, names: dict[str, str], speed: str = "4xNDR", **settings: object) -> tuple[Audit, str]:
    """The audit and the text of a capture in which some devices have other names; its identifiers are GUIDs, as real ones are."""
    called = {d: names[fabric.device_name(d)] for d in range(fabric.device_count) if fabric.device_name(d) in names}
    text = netlist(Cables(fabric), dict.fromkeys(range(len(fabric.port_device)), speed), called)
    numbers: dict[str, str] = {}

    def guid(found: re.Match[str]) -> str:
        kind = "H" if ":" in found[1] else "S"
        return f'"{numbers.setdefault(found[1], f"{kind}-{len(numbers) + 4096:016x}")}"'

    path = folder / "x.topo"
    path.write_text(re.sub(r'"([\w:-]+)"(?=\t|\[)', guid, text))
    return audited(fabric, ("ibnetdiscover", path), settings=AuditSettings(**settings)), path.read_text()  # type: ignore[arg-type]


def test_a_switch_of_another_name(small: Fabric, tmp_path: Path) -> None:
    names = {"su0-leaf1": "new-switch"}
    found, text = captured(small, tmp_path, names)
    assert codes(found) == ["E0613"] and found.matching == small.link_count
    assert found.faults[0].finding.message == "`new-switch` is where the design plans su0-leaf1"
    guid = re.search(r'"S-(\w{16})"\t# "new-switch"', text)
    row = next(d for d in range(small.device_count) if small.device_name(d) == "su0-leaf1")
    assert guid is not None
    for known in ({"rules": (NameMapRule.parse("new-switch=su0-leaf1"),)}, {"assets": Identifiers({guid[1]: (row, -1)})}):
        assert codes(captured(small, tmp_path, names, **known)[0]) == []
    found, _ = captured(small, tmp_path, {}, assets=Identifiers({"00000000000000ff": (row + 1, -1)}))
    assert codes(found) == ["E0613"] and "not 00000000000000ff" in found.faults[0].finding.message


def test_names_that_say_nothing(small: Fabric, tmp_path: Path) -> None:
    """Names of a factory are no fault: a note says which device is taken for which. A manager's name is in the description."""
    names = {"su0-leaf1": "Quantum Mellanox Technologies", "su0-node2": "MT4129 ConnectX7 Mellanox Technologies"}
    found, _ = captured(small, tmp_path, names | {"spine0": "MF0;spine0:MQM9700/U1"})
    assert codes(found) == [] and found.matching == small.link_count
    assert [d.code for d in found.notes] == ["E0612"] * 5  # a switch and four adapters


def test_all_links_of_a_class_are_slow(small: Fabric, tmp_path: Path) -> None:
    found, _ = captured(small, tmp_path, {}, "4xHDR")
    assert codes(found) == ["E0630", "E0631", "E0631"], "a class of one link is that link"
    assert all("200 Gb/s" in f.finding.message and "400 Gb/s is planned" in f.finding.message for f in found.faults)
