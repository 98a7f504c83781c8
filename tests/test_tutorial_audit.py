"""The tutorial of the audit: its commands are run in an empty folder, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.targets import ib

PAGE = Path(__file__).parents[1] / "docs" / "tutorial-audit.md"


def test_the_commands_of_the_tutorial(tmp_path: Path) -> None:
    ib.need()
    assert shutil.which("ibsim"), "ib.need skips where it is absent"
    shim = tmp_path / "bin" / "tdsl"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m tdsl "$@"\n')
    shim.chmod(0o755)
    (tmp_path / "empty").mkdir()
    script = "set -e\n" + "\n".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    environment = os.environ | {
        "PATH": f"{shim.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PAGE.parents[1]),
        "IBSIM_SOCKNAME": f"tutorial-{os.getpid()}",
    }
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path / "empty", env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = re.search(r"```text\n(.*?)\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert said is not None and said[1] in ran.stdout
    report = (tmp_path / "empty" / "report.txt").read_text()
    assert report.count("error[") == 1 and "E0620" in report
    assert "su0-node3" in report and "su0-node4" in report
    assert "su0-leaf2" in (tmp_path / "empty" / "worklist.csv").read_text()
