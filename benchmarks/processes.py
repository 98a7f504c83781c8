"""Whole processes: how long a command takes from the shell, beside Python that only starts or only
imports."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import Record, by_turns, one

GOOD = (
    "fabric f {\n  host node[2]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"
)
BROKEN = "fabric f {\n  switch leaf[4: QM9700\n}\n"
TDSL = (sys.executable, "-m", "tdsl")
CASE = "a call from the shell"
COMMANDS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "python -c 'import click'": (sys.executable, "-c", "import click"),
    "python -c 'import numpy'": (sys.executable, "-c", "import numpy"),
    "python -c 'import networkx'": (sys.executable, "-c", "import networkx"),
    "tdsl version": (*TDSL, "version"),
    "tdsl explain E0101": (*TDSL, "explain", "E0101"),
    "tdsl fmt --check good.fab": (*TDSL, "fmt", "--check", "good.fab"),
    "tdsl check broken.fab": (*TDSL, "check", "broken.fab"),
    "tdsl check good.fab": (*TDSL, "check", "good.fab"),
    "tdsl check dgx_superpod_h100": (*TDSL, "check", "dgx_superpod_h100"),
    "tdsl check dgx_superpod_h100 (again, nothing changed)": (
        "env",
        "-u",
        "TDSL_CHECK_NO_CACHE",
        *TDSL,
        "check",
        "dgx_superpod_h100",
    ),
    "tdsl build dgx_superpod_h100": (*TDSL, "build", "dgx_superpod_h100", "--out", "out"),
}
QUICK = ("python -c pass", "tdsl version", "tdsl check broken.fab")


@contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with the designs, and the variables of its commands: a cache of its own, options of nobody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "good.fab").write_text(GOOD)
        (folder / "broken.fab").write_text(BROKEN)
        unset = {k: "" for k in os.environ if k == "PYTHONDONTWRITEBYTECODE"}
        yield folder, {**unset, "TDSL_CACHE_DIR": str(folder / "cache")}


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record a command, all by turns."""
    commands = {name: command for name, command in COMMANDS.items() if not quick or name in QUICK}
    with scratch() as (folder, env):
        for command in commands.values():
            one(command, folder=folder, env=env)  # files read, bytecode and caches written
        return by_turns("startup", CASE, commands, rounds, folder=folder, env=env)


if __name__ == "__main__":
    print(json.dumps(records(5), indent=1))
