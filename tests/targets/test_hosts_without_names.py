"""Which hosts need names of their network devices: those that are routers, by an AS number or by addresses of their links."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics, Severity
from tests.harness import fabric_of

TEXT = """\
model switch SW {{ port p[1..16]: 400Gbps {{ type GE400; os "swp{{i}}" }} }}
model host NODE {{ port nic[2]: 400Gbps {{ type GE400 }} }}
model host STORE {{ port nic[2]: 400Gbps {{ type GE400 }} }}
fabric f {{
  host node[1]: NODE
  host store[1]: STORE
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[(r)]
  connect store[n].nic[r] to leaf[(r)]
  {address}
  routing bgp {{ {routing} }}
}}
"""
LINKS = 'address node[*].nic[r] links from "172.{16 + r}.0.0/24"'
SIXES = 'address node[*].nic[r] links from "fd00:{16 + r}::/64"'
LEAVES = "address leaf loopback from 10.0.0.0/24"


@pytest.mark.parametrize(
    ("address", "routing", "models"),
    [
        ("", "", []),
        (LEAVES, "", []),
        ("", "asn node from 1", ["NODE"]),
        ("", "asn node from 65100", ["NODE"]),
        (LINKS, "", ["NODE", "STORE"]),
        (SIXES, "", ["NODE", "STORE"]),
        (SIXES, "asn node from 65100", ["NODE", "STORE"]),
    ],
)
def test_hosts_that_are_not_configured(address: str, routing: str, models: list[str], tmp_path: Path) -> None:
    found = Diagnostics()
    files = build_files(fabric_of(TEXT.format(address=address, routing=routing), tmp_path, models=False), ["frr"], found)
    wanted = [
        (
            "E0513",
            Severity.WARNING,
            f"nothing says what the operating system of {m} calls port nic[0]",
            ("these hosts are not configured",),
            'name them: `port p[1..64]: 400Gbps { os "swp{i}" }`',
        )
        for m in models
    ]
    assert [(d.code, d.severity, d.message, tuple(d.notes), d.help) for d in found] == wanted
    assert sorted(p for p in files if p.endswith("frr.conf")) == ["frr/leaf0/frr.conf", "frr/leaf1/frr.conf"]
