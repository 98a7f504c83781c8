"""The tutorials of the audit: their commands are run in an empty folder, in order."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.targets import frr_lab, ib
from tests.test_tutorials import DOCS, empty


def follow(page: Path, tmp_path: Path, **more: str) -> tuple[str, Path]:
    """Write the page's design, run its commands, and return what they print and the folder."""
    folder, environment = empty(tmp_path)
    text = page.read_text(encoding="utf-8")
    for file, design in re.findall(r"`(\w+\.fab)`:\n\n```fab check\n(.*?)```", text, re.DOTALL):
        (folder / file).write_text(design)
    script = "set -e\n" + "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    ran = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment | more, capture_output=True, text=True, timeout=500, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = re.search(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert said is not None and said[1] in ran.stdout
    return ran.stdout, folder


def test_a_fabric_that_is_simulated(tmp_path: Path) -> None:
    ib.need()
    assert shutil.which("ibsim"), "ib.need skips where it is absent"
    _, folder = follow(DOCS / "tutorial-audit.md", tmp_path, IBSIM_SOCKNAME=f"tutorial-{os.getpid()}")
    report = (folder / "report.txt").read_text()
    assert report.count("error[") == 1 and "E0620" in report
    assert "su0-node3" in report and "su0-node4" in report
    assert "su0-leaf2" in (folder / "worklist.csv").read_text()


def test_a_fabric_of_real_routers(tmp_path: Path) -> None:
    """In network namespaces, with FRR and lldpd; whatever happens, none is left."""
    frr_lab.need()
    lab = f"tutorial{os.getpid()}"
    try:
        said, folder = follow(DOCS / "tutorial-audit-routers.md", tmp_path, LAB=lab)
    finally:
        for pid in Path("/run", lab).glob("*/*.pid"):
            subprocess.run(["kill", "-KILL", pid.read_text().strip()], capture_output=True, timeout=10, check=False)
        for space in Path("/run/netns").glob(f"{lab}-*"):
            subprocess.run(["ip", "netns", "del", space.name], capture_output=True, timeout=20, check=False)
        shutil.rmtree(Path("/run", lab), ignore_errors=True)
    assert "1 received" in said
    report = (folder / "report.txt").read_text()
    assert report.count("error[") == 1 and "E0620" in report
    assert all(name in report for name in ("leaf0", "node2", "node3"))
    assert "leaf0" in (folder / "worklist.csv").read_text()
