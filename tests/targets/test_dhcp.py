"""The target dhcp: Kea accepts the reservations."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import need_program
from tests.targets import build
from tests.targets.inventories import DESIGN, made, run


def test_kea_accepts_the_reservations(tmp_path: Path) -> None:
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    told = made(DESIGN, tmp_path, "dhcp", boot_url="http://192.168.0.2/ztp.json")["dhcp/kea-dhcp4.json"]
    path = tmp_path / "kea.json"
    path.write_bytes(told)
    done = run(kea, "-t", path)
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    (subnet,) = json.loads(told)["Dhcp4"]["subnet4"]
    reserved = [(r["hw-address"], r["hostname"]) for r in subnet["reservations"]]
    assert reserved == [("94:6d:ae:00:00:02", "su1-node3"), ("94:6d:ae:00:00:01", "su0-leaf0")]
    each = made(DESIGN, tmp_path, "dhcp", boot_url="http://ztp/eos/{device}.cfg")["dhcp/kea-dhcp4.json"]
    assert b'"boot-file-name": "http://ztp/eos/su0-leaf0.cfg"' in each
    path.write_bytes(told.replace(b'"subnet":', b'"subnets":'))
    assert run(kea, "-t", path).returncode != 0, "the judge can say no"


def test_a_table_of_mac_addresses_needs_no_guids(tmp_path: Path) -> None:
    """A fabric of Ethernet has none; without either kind of identifier the columns are named."""
    files, found = build.made(DESIGN, tmp_path, "dhcp", assets="device,mac\nsu0-leaf0,94:6D:AE:00:00:01\n")
    assert not found and b'"hw-address": "94:6d:ae:00:00:01"' in files["dhcp/kea-dhcp4.json"]
    _, found = build.made(DESIGN, tmp_path, "dhcp", assets="device,serial\nsu0-leaf0,x\n")
    assert found[0].code == "E0531" and "or at least device,mac" in found[0].help
