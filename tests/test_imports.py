"""What each command imports: a call pays for what it uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numpy", "networkx", "scipy", "z3", "highspy", "jinja2", "xlsxwriter", "watchfiles", "pygls", "mcp")
PROBE = """
import json, sys
from tdsl.cli import cli
try:
    cli(sys.argv[2:], prog_name="tdsl")
except SystemExit:
    pass
with open(sys.argv[1], "w") as out:
    json.dump(sorted({name.split(".")[0] for name in sys.modules}), out)
"""
GOOD = "fabric f { host node[2]: DGX_H100 }\n"
BROKEN = "fabric f { switch leaf[4: QM9700 }\n"


def imported(folder: Path, *args: str) -> set[str]:
    """Top packages that a call imports."""
    found = folder / "modules.json"
    subprocess.run([sys.executable, "-c", PROBE, str(found), *args], cwd=folder, capture_output=True, check=True, timeout=120)
    return set(json.loads(found.read_text()))


@pytest.mark.parametrize("call", ["version", "--version", "--help", "init fresh", "explain E0101", "list designs"])
def test_not_imported(call: str, tmp_path: Path) -> None:
    assert imported(tmp_path, *call.split()) & {*HEAVY, "lark"} == set()


@pytest.mark.parametrize(
    ("call", "text"), [("fmt", GOOD), ("check", BROKEN), ("check --output-format json", BROKEN), ("check", "")]
)
def test_not_imported_to_read_a_text(call: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "design.fab").write_text(text)
    assert imported(tmp_path, *call.split(), "design.fab") & {*HEAVY} == set()


def test_a_check_needs_no_templates_and_no_workbooks(tmp_path: Path) -> None:
    for more in ((), ("--all-params",)):
        assert imported(tmp_path, "check", "dgx_superpod_h100", *more) & {*HEAVY} == {"numpy"}
