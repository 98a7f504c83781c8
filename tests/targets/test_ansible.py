"""The target ansible, read by ansible-inventory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.targets.inventories import DESIGN, NODES, made, run


def test_ansible_reads_the_inventory(tmp_path: Path) -> None:
    pytest.importorskip("ansible")
    files = made(DESIGN, tmp_path, "ansible")
    path = tmp_path / "inventory.yaml"
    path.write_bytes(files["ansible/inventory.yaml"])
    program = Path(sys.executable).with_name("ansible-inventory")
    done = run(program, "-i", path, "--list", ANSIBLE_HOME=str(tmp_path / "home"))
    told: dict[str, Any] = json.loads(done.stdout)
    hosts = told["_meta"]["hostvars"]
    assert len(hosts) == 14 and "WARNING" not in done.stderr
    assert hosts["su0-leaf0"] == {
        "tdsl_model": "SW", "ansible_host": "192.168.0.10", "tdsl_asn": 4201000000, "tdsl_tier": 1,
        "tdsl_mac": "94:6d:ae:00:00:01",
    }  # fmt: skip
    assert told["nos_frr"]["hosts"] == told["switches"]["hosts"] and sorted(told["role_accelerator"]["hosts"]) == NODES
