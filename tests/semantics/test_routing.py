"""``routing bgp`` and ``roce``: both ends of each range, and what stands where nothing is written, as ``fabric.json`` has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of

TEXT = """fabric f {{ switch a[2]: E; connect a[0] to a[1]
{} }}
model switch E {{ port p[1..2]: 400Gbps {{ type GE400 }} }}"""
DEFAULTS: dict[str, dict[str, Any]] = {
    "routing": {"protocol": "bgp", "bfd": False, "graceful_restart": False, "mtu": 0, "bfd_ms": 0, "bfd_multiplier": 0},
    "roce": {"dscp": 26, "priority": 3, "cnp_dscp": 48, "cnp_priority": 6, "pfc": True, "watchdog_ms": 0, "ecn": None},
}


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("routing bgp { unnumbered }", {}),
        ("routing bgp { mtu 1280 }", {"mtu": 1280}),
        ("routing bgp { mtu 65_535; bfd }", {"mtu": 65_535, "bfd": True}),
        ("routing bgp { graceful_restart }", {"graceful_restart": True}),
        ("routing bgp { bfd 50ms x 3 }", {"bfd": True, "bfd_ms": 50, "bfd_multiplier": 3}),
        ("routing bgp { bfd 4s x 50 }", {"bfd": True, "bfd_ms": 4000, "bfd_multiplier": 50}),
        ("roce { }", {}),
        ("roce { dscp 0; priority 0 }", {"dscp": 0, "priority": 0}),
        ("roce { dscp 63; priority 7 }", {"dscp": 63, "priority": 7}),
        ("roce { cnp 0 priority 0 }", {"cnp_dscp": 0, "cnp_priority": 0}),
        ("roce { cnp 63 }", {"cnp_dscp": 63}),
        ("roce { pfc off }", {"pfc": False}),
        ("roce { pfc watchdog 100ms }", {"watchdog_ms": 100}),
        ("roce { ecn 150kB to 1500kB }", {"ecn": {"low": 150_000, "high": 1_500_000, "percent": 100}}),
        ("roce { ecn 150kB to 1500kB at 5% }", {"ecn": {"low": 150_000, "high": 1_500_000, "percent": 5}}),
    ],
)
def test_values_of_a_block(text: str, more: dict[str, Any], tmp_path: Path) -> None:
    made = build_files(fabric_of(TEXT.format(text), tmp_path, models=False), ["json"], Diagnostics())["fabric.json"]
    name = text.split()[0]
    assert json.loads(made)[name] == DEFAULTS[name] | more
