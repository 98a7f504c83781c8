"""What each command imports: a call pays for what it uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tdsl.cli import cli
from tests.tables import sections

HEAVY = ("numpy", "networkx", "scipy", "z3", "highspy", "jinja2", "xlsxwriter", "watchfiles", "pygls", "mcp")
PROBE = sections(__file__)["probe"]
GOOD = "fabric f { host node[2]: DGX_H100 }\n"
BROKEN = "fabric f { switch leaf[4: QM9700 }\n"


def modules(folder: Path, *args: str) -> set[str]:
    """Modules that a call imports."""
    found = folder / "modules.json"
    subprocess.run([sys.executable, "-c", PROBE, str(found), *args], cwd=folder, capture_output=True, check=True, timeout=120)
    return set(json.loads(found.read_text()))


def imported(folder: Path, *args: str) -> set[str]:
    """Top packages that a call imports."""
    return {name.split(".")[0] for name in modules(folder, *args)}


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


def test_the_help_imports_no_command(tmp_path: Path) -> None:
    commands = {name for name in modules(tmp_path, "--help") if name.startswith("tdsl.commands.")}
    assert {name.rpartition(".")[2] for name in commands if "._" not in name} <= {"completion", "version"}


def test_the_help_says_of_a_command_what_the_command_says() -> None:
    listed = " ".join(CliRunner().invoke(cli, ["--help"]).output.split())
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None and f" {name} {command.get_short_help_str(200)}" in listed, name


def test_a_small_check_imports_no_proof_that_nobody_asks_for(tmp_path: Path) -> None:
    (tmp_path / "design.fab").write_text(GOOD)
    found = modules(tmp_path, "check", "design.fab", "--no-cache")
    unused = (
        "prove.collective_times", "prove.by_domain", "prove.concurrent_flow", "physical.model", "physical.trays",
        "fabric.cluster", "fabric.places", "fabric.circuits", "semantics.place_statements", "semantics.intent",
        "syntax.messages", "compile.sweep", "report.sarif", "report.junit",
    )  # fmt: skip
    assert found & {f"tdsl.{name}" for name in unused} == set() and "tdsl.prove.bisection" in found
