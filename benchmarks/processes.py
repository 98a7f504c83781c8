"""Whole processes: how long a command takes from the shell, and what it imports."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

GOOD = "fabric f {\n  host node[2]: DGX_H100\n  switch leaf[8]: QM9700\n  connect node[n].nic[r] to leaf[r]\n}\n"
BROKEN = "fabric f {\n  switch leaf[4: QM9700\n}\n"
HEAVY = ("click", "lark", "numpy", "networkx", "z3", "highspy", "jinja2", "xlsxwriter")
TDSL = (sys.executable, "-m", "tdsl")
COMMANDS = {
    "tdsl version": (*TDSL, "version"),
    "tdsl explain E0101": (*TDSL, "explain", "E0101"),
    "tdsl fmt --check good.fab": (*TDSL, "fmt", "--check", "good.fab"),
    "tdsl check broken.fab": (*TDSL, "check", "broken.fab"),
    "tdsl check good.fab": (*TDSL, "check", "good.fab"),
    "tdsl check dgx_superpod_h100": (*TDSL, "check", "dgx_superpod_h100"),
    "tdsl build dgx_superpod_h100": (*TDSL, "build", "dgx_superpod_h100", "--out", "out"),
}
PEERS = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "python -c 'import networkx'": (sys.executable, "-c", "import networkx"),
    "python -c 'import numpy'": (sys.executable, "-c", "import numpy"),
}
PEER = "python -c 'import networkx'"
"""What ratios are against: the library with which such a check would otherwise be written, doing nothing yet."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder with the designs, and a cache of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "good.fab").write_text(GOOD)
        (folder / "broken.fab").write_text(BROKEN)
        yield folder


def _environment(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("TDSL_") and k != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"TDSL_CACHE_DIR": str(folder / "cache")}


def seconds(call: tuple[str, ...], folder: Path) -> float:
    """Wall time of one process."""
    begin = time.perf_counter()
    done = subprocess.run(call, cwd=folder, env=_environment(folder), capture_output=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(call)}: {done.stderr.decode()}")
    return time.perf_counter() - begin


def startup(rounds: int) -> list[str]:
    """Median time of each command and peer, all by turns, with the ratio to one peer."""
    calls = PEERS | COMMANDS
    times: dict[str, list[float]] = {name: [] for name in calls}
    with scratch() as folder:
        for call in calls.values():
            seconds(call, folder)  # files read, bytecode and caches written
        for _ in range(rounds):
            for name, call in calls.items():
                times[name].append(seconds(call, folder))
    peer = median(times[PEER])
    out = [f"{'whole process':<34}{'median':>9}{'least':>9}   ratio to {PEER}"]
    for name, found in times.items():
        out.append(f"{name:<34}{1000 * median(found):>6.0f} ms{1000 * min(found):>6.0f} ms   {median(found) / peer:.2f}")
    return out


def imports() -> list[str]:
    """Which of the larger libraries each command imports."""
    probe = (
        "import sys\nfrom tdsl.cli import cli\n"
        "try:\n    cli(sys.argv[1:], prog_name='tdsl')\nexcept SystemExit:\n    pass\n"
        f"print('\\nimported:', *[n for n in {HEAVY!r} if n in sys.modules], file=sys.stderr)"
    )
    out = [f"{'command':<34}imports"]
    with scratch() as folder:
        for name, call in COMMANDS.items():
            done = subprocess.run(
                (sys.executable, "-c", probe, *call[len(TDSL) :]),
                cwd=folder,
                env=_environment(folder),
                capture_output=True,
                text=True,
            )
            last = next(line for line in reversed(done.stderr.splitlines()) if line.startswith("imported:"))
            out.append(f"{name:<34}{last.removeprefix('imported:').strip()}")
    return out
