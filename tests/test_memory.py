"""Freed memory stays with the process of a call where a fabric is large, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tdsl.system.malloc import LARGE
from tests.tables import sections

CALL = sections(__file__)["call"]


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator of glibc is of Linux")
@pytest.mark.parametrize(("asked", "ports", "kept"), [("ask", LARGE, 1), ("ask", LARGE - 1, 0), ("no", 1 << 30, 0)])
def test_where_freed_memory_is_kept(asked: str, ports: int, kept: int) -> None:
    run = subprocess.run([sys.executable, "-c", CALL, asked, str(ports)], capture_output=True, text=True, check=True)
    done, faults, back, then = map(int, run.stdout.split())
    assert done == back == kept
    assert (faults < 8) == bool(kept), "arrays that are kept need no new page"
    assert then >= 8
