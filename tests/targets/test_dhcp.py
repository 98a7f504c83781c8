"""The target dhcp: Kea accepts the reservations."""

from __future__ import annotations

import json
from pathlib import Path

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.conftest import need_program
from tests.targets.inventories import DESIGN, compiled, made, run


def test_kea_accepts_the_reservations(tmp_path: Path) -> None:
    kea = need_program("kea-dhcp4", "kea-dhcp4-server")
    files = made(DESIGN, tmp_path, "dhcp", boot_url="http://192.168.0.2/ztp.json")
    path = tmp_path / "kea.json"
    path.write_bytes(files["dhcp/kea-dhcp4.json"])
    done = run(kea, "-t", path)
    assert done.returncode == 0 and "ERROR" not in done.stdout + done.stderr, done
    (subnet,) = json.loads(files["dhcp/kea-dhcp4.json"])["Dhcp4"]["subnet4"]
    assert [(r["hw-address"], r["hostname"]) for r in subnet["reservations"]] == [
        ("94:6d:ae:00:00:02", "su1-node3"), ("94:6d:ae:00:00:01", "su0-leaf0"),
    ]  # fmt: skip
    each = made(DESIGN, tmp_path, "dhcp", boot_url="http://ztp/eos/{device}.cfg")["dhcp/kea-dhcp4.json"]
    assert b'"boot-file-name": "http://ztp/eos/su0-leaf0.cfg"' in each
    path.write_bytes(files["dhcp/kea-dhcp4.json"].replace(b'"subnet":', b'"subnets":'))
    assert run(kea, "-t", path).returncode != 0, "the judge can say no"


def test_a_table_of_mac_addresses_needs_no_guids(tmp_path: Path) -> None:
    """A fabric of Ethernet has none; without either kind of identifier the columns are named."""
    fabric = compiled(DESIGN, tmp_path)
    found = Diagnostics()
    table = "device,mac\nsu0-leaf0,94:6D:AE:00:00:01\n"
    files = build_files(fabric, ["dhcp"], found, BuildOptions(assets=SourceFile("assets.csv", table)))
    assert not list(found) and b'"hw-address": "94:6d:ae:00:00:01"' in files["dhcp/kea-dhcp4.json"]
    build_files(fabric, ["dhcp"], found, BuildOptions(assets=SourceFile("assets.csv", "device,serial\nsu0-leaf0,x\n")))
    assert [d.code for d in found][:1] == ["E0531"] and "or at least device,mac" in next(iter(found)).help
