"""Whole builds: `build` with all targets that a design has something for, each once, a process of its own."""

from __future__ import annotations

import json
import sys
import tempfile

from measure import Record, by_turns

DESIGNS = {
    "dgx_superpod_h100": ("dgx_superpod_h100",),
    "gb200_su_racks": ("gb200_su_racks",),
    "ft3, k = 16": ("ft3", "--set", "k=16"),
}
QUICK = ("dgx_superpod_h100",)


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a design: a check, and a build."""
    out = []
    for case, words in DESIGNS.items():
        if quick and case not in QUICK:
            continue
        with tempfile.TemporaryDirectory() as folder:
            tdsl = (sys.executable, "-m", "tdsl")
            calls = {
                "check": (*tdsl, "check", "-q", *words),
                "build": (*tdsl, "build", "-q", *words, "--out", f"{folder}/out"),
            }
            out += by_turns("builds", case, calls, min(rounds, 3))
    return out


if __name__ == "__main__":
    print(json.dumps(records(1), indent=1))
