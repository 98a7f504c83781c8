"""What the proofs of large and of irregular designs take, and what they say, beside what is asked of them.

Each design is checked once, in a process of its own: user seconds and peak memory of that process. Of a
design of which only the proofs are asked for, what its elaboration takes is measured in another process and
subtracted. Then the fat tree `ft3` in four sizes: the whole check by turns with the elaboration alone.
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

from measure import FRESH, MEGA, ROOT, Record, by_turns

DESIGNS = Path(__file__).parent / "designs"
CHECK = (sys.executable, "-m", "tdsl", "check", "--output-format", "json")
ELABORATE = (
    sys.executable, "-c", "import sys; from tdsl.compile.compiler import Request, compile_without_checks; "
    "compile_without_checks(sys.argv[1], Request(set=tuple(tuple(s.split('=')) for s in sys.argv[2:])))",
)  # fmt: skip
SIZES = (8, 16, 32, 64)


@dataclass(frozen=True)
class Asked:
    """A design, the results that are looked at (beginnings of what is printed for them), how far their upper
    bound may exceed the lower one, and the user seconds and bytes that are asked for."""

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
    Asked("two_sites_10k", ("bisection",), 1, 5),
    Asked("half_built_10k", ("bisection",), 1.001, 5),
    Asked("irregular_clos_10k", ("bisection",), 1.2, 5),
    Asked("uneven_pods_10k", ("bisection",), 1.18, 5),
    Asked("random_regular_10k", ("bisection",), 1.16, 5),
    Asked("dragonfly_kinds_10k", ("bisection",), 1.35, 5),
    Asked("lumi", ("bisection",), 1.23, 5),
    Asked("jupiter_dragonfly_plus", ("bisection",), 1.17, 5),
    Asked("fugaku_tofud", ("bisection",), 1, 5),
    Asked("chords", ("throughput",), 1, 3),
    Asked("chords_by_four", ("throughput",), 1, 3),
    Asked(
        "gpu131k",
        ("bisection", "edge_redundancy", "node_redundancy"),
        1,
        4,
        beyond_elaboration=True,
        memory=1 << 30,
    ),
)
"""The designs, and what is asked of each."""


def measured(command: tuple[str, ...]) -> tuple[float, int, bytes]:
    """User seconds and peak memory in bytes of one process, and what it printed."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.DEVNULL, cwd=ROOT, env={**os.environ, **FRESH}
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return used.ru_utime, used.ru_maxrss * 1024, out.read()


def figures(asked: Asked, printed: bytes) -> list[dict[str, Any]]:
    """The results that are looked at, of all fabrics of the file."""
    designs = json.loads(printed)["designs"]
    return [
        r for d in designs for r in d["results"] if (r.get("claim") or r["check"]).startswith(asked.results)
    ]


def within(result: dict[str, Any], ratio: float) -> bool:
    """Whether the bounds of a result are as close as is asked; one without bounds has a verdict or not."""
    lower, upper = result.get("lower"), result.get("upper")
    if lower is None or upper is None:
        return result["status"] in ("proved", "refuted")
    return upper <= lower * ratio


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a design, checked once; and for fat trees of four sizes the whole check, and the same without
    its proofs."""
    out = [] if quick else [judged(a) for a in LIST]
    for k in (8,) if quick else SIZES:
        peers = {
            "tdsl": (*CHECK, "ft3", "--set", f"k={k}"),
            "tdsl, elaboration alone": (*ELABORATE, "ft3", f"k={k}"),
        }
        out += by_turns("proof size", f"ft3, k = {k}", peers, min(rounds, 3), unit="links", n=3 * k**3 // 4)
    return out


def judged(asked: Asked) -> Record:
    """The record of a design: what its check takes, what is asked, and whether the bounds are so close."""
    seconds, memory, printed = measured((*CHECK, asked.source, *asked.options))
    before = measured((*ELABORATE, asked.source))[0] if asked.beyond_elaboration else 0.0
    found = figures(asked, printed)
    close = bool(found) and all(within(r, asked.ratio) for r in found)
    fits = seconds - before < asked.seconds and (asked.memory is None or memory <= asked.memory)
    what = "exact" if asked.ratio == 1 else f"upper <= {asked.ratio} x lower"
    took = {"cpu_s": seconds - before, "wall_s": None, "peak_mb": memory / MEGA}
    return {
        "part": "proofs", "case": " ".join((asked.design, *asked.options)), "peer": "tdsl", "unit": "",
        "n": None, "rounds": 1, **took, "asked_s": asked.seconds,
        "bounds": f"{what}: {', '.join(dict.fromkeys(r['check'] for r in found)) or 'no result'}",
        "met": "yes" if close and fits else "bounds too wide" if fits
        else "too slow or large" if close else "no",
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(records(1), indent=1))
