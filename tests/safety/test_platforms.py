"""tdsl without what only Linux, or only Unix, has: the modules and calls are hidden, and designs are checked and built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run import SMALL, write
from tests.safety.built import ROOT
from tests.tables import sections

HIDDEN = sections(__file__)["hidden"]


@pytest.mark.parametrize("where", ["win32", "darwin"])
def test_without_what_linux_has(where: str, tmp_path: Path) -> None:
    """Locks, limits, signals and the exchange of folders: what a system lacks has a stand-in or is left out."""
    write(tmp_path, SMALL)
    line = [sys.executable, "-c", HIDDEN, where]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TDSL_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=110, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
    assert (tmp_path / "out" / "manifest.json").is_file() and (tmp_path / "small.fab.lock").is_file()
    assert not (tmp_path / "second").exists()
