"""What a release is made of: its list of materials, its workflow, and actions that cannot be exchanged for others."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.test_ci import valid
from tests.harness import none

ROOT = Path(__file__).parents[2]


def test_the_list_of_materials_is_that_of_the_lock() -> None:
    """`scripts/sbom` writes it anew."""
    assert subprocess.run([sys.executable, str(ROOT / "scripts" / "sbom"), "--check"], check=False).returncode == 0
    made = json.loads((ROOT / "sbom.cdx.json").read_text())
    pinned = re.findall(r"^([A-Za-z0-9._-]+)(?:\[.*\])?==([^\s\\]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert {(c["name"], c["version"]) for c in made["components"]} == set(pinned) and len(pinned) > 50
    assert made["bomFormat"] == "CycloneDX" and len({c["bom-ref"] for c in made["components"]}) == len(pinned)


def test_every_version_has_hashes() -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text().partition("\n")[2])
    none([e.split()[0] for e in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}", e)])


def test_the_release_workflow() -> None:
    valid(".github/workflows/release.yml", "vendor.github-workflows")


def test_actions_are_pinned_by_commit() -> None:
    files = [ROOT / "action.yml", *(ROOT / "ci").glob("*.yml"), *(ROOT / ".github").rglob("*.yml")]
    used = [(f.name, u) for f in files for u in re.findall(r"uses: (\S+)", f.read_text())]
    assert len(used) > 4
    none([f"{name}: {u}" for name, u in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", u)])
