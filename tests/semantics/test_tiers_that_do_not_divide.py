"""Tiers of a planned network whose parts cannot be divided evenly: what is said, and how many hosts would do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text

MODELS = """\
model host H { port nic: 400Gbps }
model switch S { port p[64]: 400Gbps }
"""
A, B = "tier a of 2 hosts { switch S x 1 }", "tier b of 2 a { switch S x 1 }"


@pytest.mark.parametrize(
    ("hosts", "tiers", "message", "fill"),
    [
        (8, f"{A}; {B}", "8 hosts make 4 `a`: they cannot be divided into one `b` of 2", 4),
        (6, f"{A}; {B}", "6 hosts make 3 `a`: they cannot be divided into one `b` of 2", 4),
        (16, f"{A}; {B}", "16 hosts make 8 `a`: they cannot be divided into one `b` of 2", 4),
        (
            10,
            f"{A}; {B}; tier c of 3 b {{ switch S x 1 }}",
            "10 hosts make 5 `a`: they cannot be divided into equal `b` of 2",
            12,
        ),
        (2, f"{A}; {B}; tier c of 1 b {{ switch S x 1 }}", "2 hosts make 1 `a`: they cannot be divided into equal `b` of 2", 4),
        (24, f"{A}; {B}; tier c of 4 b {{ switch S x 1 }}", "24 hosts make 6 `b`: they cannot be divided into one `c` of 4", 16),
        (8, f"{A}; {B}; tier c of 1 b {{ switch S x 1 }}", "8 hosts make 2 `b`: they cannot be divided into one `c` of 1", 4),
        (4, f"{A}; {B}", "", 0),
        (8, f"{A}; {B}; tier c of 2 b {{ switch S x 1 }}", "", 0),
    ],
)
def test_parts_of_a_tier(hosts: int, tiers: str, message: str, fill: int, tmp_path: Path) -> None:
    text = f"{MODELS}fabric f {{\n  hosts {hosts} x H\n  clos {{ {tiers} }}\n}}\n"
    found = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity is Severity.ERROR]
    help = f"`hosts n of {fill} x …` plans {fill} hosts and builds n of them"
    assert [(d.code, d.message, d.help) for d in found] == ([("E0459", message, help)] if message else [])
    if message:
        refilled = text.replace(f"hosts {hosts} x", f"hosts {min(hosts, fill)} of {fill} x")
        assert not [d for d in compile_text(refilled, tmp_path, models=False).findings if d.code == "E0459"]
