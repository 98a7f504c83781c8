"""CPU seconds of `tdsl check` on designs that were slow to judge once, and what the proofs say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DESIGNS = Path(__file__).parent / "designs"
LIBRARY = ("deepseek_dragonfly",)
SHOWN = ("bisection", "node_redundancy", "throughput")


def judged(design: str) -> tuple[float, list[str]]:
    """User and system seconds of one process, and the lines of its figures."""
    before = os.times()
    done = subprocess.run([sys.executable, "-m", "tdsl", "check", design], capture_output=True, text=True, check=False)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    return seconds, [
        line for line in lines if line.startswith(("proved", "bounded", "error[")) and any(w in line for w in (*SHOWN, "["))
    ]


def proofs() -> list[str]:
    """A line a design, and one for each of its figures."""
    out = ["CPU seconds of a check"]
    for design in (*sorted(str(p) for p in DESIGNS.glob("*.fab")), *LIBRARY):
        seconds, lines = judged(design)
        out.append(f"{seconds:8.1f}  {Path(design).stem}")
        out += [f"            {line}" for line in lines]
    return out
