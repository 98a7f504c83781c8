"""What the proofs of large and of irregular designs take, and what they say, beside what is asked of them.

Each design is checked once, in a process of its own: user seconds and peak memory of that process. Of a design of which only the
proofs are asked for, what its elaboration takes is measured in another process and subtracted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESIGNS = Path(__file__).parent / "designs"
CHECK = (sys.executable, "-m", "tdsl", "check", "--output-format", "json")
ELABORATE = (sys.executable, "-c", "import sys; from tdsl.compiler import elaborate; elaborate(sys.argv[1])")
MEBI = 1 << 20


@dataclass(frozen=True)
class Asked:
    """A design, the results that are looked at (beginnings of what is printed for them), how far their upper bound may exceed the
    lower one, and the user seconds and bytes that are asked for."""

    design: str
    results: tuple[str, ...]
    ratio: float
    seconds: float
    options: tuple[str, ...] = ()
    beyond_elaboration: bool = False
    memory: int | None = None

    @property
    def source(self) -> str:
        """The argument of ``tdsl check``: a file beside this one, or a design of the library."""
        own = DESIGNS / f"{self.design}.fab"
        return str(own) if own.exists() else self.design


LIST = (
    Asked("frontier", ("bisection",), 1.1, 10),
    Asked("uneven_pod", ("bisection",), 1, 3),
    Asked("deepseek_dragonfly", ("bisection",), 1.5, 30),
    Asked("torus", ("bisection",), 1, 5),
    Asked("ocs_torus", ("bisection",), 1, 5),
    Asked("twisted", ("node_redundancy",), 1, 3),
    Asked("bcube", ("edge_redundancy", "node_redundancy"), 1, 5),
    Asked("dcell", ("edge_redundancy", "node_redundancy"), 1, 5),
    Asked("alibaba_hpn", ("survives",), 1, 10, ("--set", "pods=16")),
    Asked("thousand_chips", ("node_redundancy",), 1, 10),
    Asked("chords", ("throughput",), 1, 3),
    Asked("chords_by_four", ("throughput",), 1, 3),
    Asked("gpu131k", ("bisection", "edge_redundancy", "node_redundancy"), 1, 4, beyond_elaboration=True, memory=1 << 30),
)
"""The designs, and what is asked of each."""


def measured(command: tuple[str, ...]) -> tuple[float, int, bytes]:
    """User seconds and peak memory in bytes of one process, and what it printed."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return used.ru_utime, used.ru_maxrss * 1024, out.read()


def figures(asked: Asked, printed: bytes) -> list[dict[str, Any]]:
    """The results that are looked at, of all fabrics of the file."""
    designs = json.loads(printed)["designs"]
    return [r for d in designs for r in d["results"] if (r.get("claim") or r["check"]).startswith(asked.results)]


def within(result: dict[str, Any], ratio: float) -> bool:
    """Whether the bounds of a result are as close as is asked; one without bounds has a verdict or not."""
    lower, upper = result.get("lower"), result.get("upper")
    if lower is None or upper is None:
        return result["status"] in ("proved", "refuted")
    return upper <= lower * ratio


def line(asked: Asked) -> str:
    """A row of the table."""
    seconds, memory, printed = measured((*CHECK, asked.source, *asked.options))
    before = measured((*ELABORATE, asked.source))[0] if asked.beyond_elaboration else 0.0
    found = figures(asked, printed)
    close = bool(found) and all(within(r, asked.ratio) for r in found)
    fits = seconds - before < asked.seconds and (asked.memory is None or memory <= asked.memory)
    what = "exact" if asked.ratio == 1 else f"upper <= {asked.ratio} x lower"
    cells = [
        " ".join((asked.design, *asked.options)),
        f"{seconds - before:.1f}" + (" after elaboration" if before else ""),
        f"< {asked.seconds:g}",
        f"{memory / MEBI:,.0f} MiB" + (f" (<= {asked.memory / MEBI:,.0f})" if asked.memory else ""),
        f"{what}: {', '.join(dict.fromkeys(r['check'] for r in found)) or 'no result'}",
        "met" if close and fits else "bounds too wide" if fits else "too slow or large" if close else "neither",
    ]
    return "| " + " | ".join(cells) + " |"


def proofs() -> list[str]:
    """A table with a row for each design."""
    heads = ("design", "user seconds", "asked", "peak memory", "bounds asked", "met")
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *(line(a) for a in LIST)]
