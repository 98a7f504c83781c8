"""Large designs: `check` and `build --target cabling`, each once, in a process that may have 8 GB of address
space."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from measure import Record, by_turns

DESIGNS = Path(__file__).parent / "designs"
LARGE, QUICK = ("gpu131k", "gpu262k", "gpu600k", "gpu1m"), ("rail_only",)
LIMIT_KB = 8_000_000


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a design and command. One that needs more than 8 GB is skipped, and so is its build, which
    checks first."""
    out = []
    for design in QUICK if quick else LARGE:
        own = DESIGNS / f"{design}.fab"
        source = str(own) if own.exists() else design
        tdsl = f'ulimit -v {LIMIT_KB}; "{sys.executable}" -m tdsl'
        with tempfile.TemporaryDirectory() as folder:
            calls = {
                "check": f'check -q "{source}"',
                "build": f'build -q "{source}" --target cabling --out "{folder}/out"',
            }
            for name, rest in calls.items():
                if out and out[-1]["case"] == design and "skipped" in out[-1]:
                    out.append(
                        {"part": "large", "case": design, "peer": name, "skipped": "not run: it checks first"}
                    )
                    continue
                out += by_turns("large", design, {name: ("bash", "-c", f"{tdsl} {rest} || exit 2")}, 1)
    return out


if __name__ == "__main__":
    print(json.dumps(records(1), indent=1))
