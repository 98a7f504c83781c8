"""The core of the suite leaves out no command, no target and no package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import click

from tdsl.cli import cli
from tests.cli.test_calls import CALLS
from tests.core import COMMANDS, PACKAGES, core_tests
from tests.targets.test_files import CASES

ROOT = Path(__file__).parent.parent


def test_nothing_is_left_out_of_the_core() -> None:
    called = {call.split()[0] for calls in CALLS.values() for call in calls}
    assert set(cli.list_commands(click.Context(cli))) <= called | COMMANDS.keys(), "add it to tests/core.py"
    assert {p.name for p in (ROOT / "targets").iterdir() if (p / "target.toml").is_file()} == {t for _, t in CASES}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["lsp"], *extras["mcp"]]
    assert {re.split("[^A-Za-z0-9-]", n)[0] for n in needed} == PACKAGES.keys(), "say in tests/core.py which tests use it"
    assert not [name for name in core_tests() if not (ROOT / name.partition("::")[0]).is_file()]
