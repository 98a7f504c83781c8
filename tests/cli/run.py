"""Runs the command line as a shell would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from tdsl.cli import cli
from tests.harness import written
from tests.tables import sections

SMALL = sections(__file__)["small"]


def tdsl(*args: str | Path, stdin: str | bytes | None = None, env: dict[str, str] | None = None) -> Result:
    """The outcome of a call."""
    return CliRunner(env=env).invoke(cli, [str(a) for a in args], input=stdin, prog_name="tdsl")


def report(*args: str | Path) -> dict[str, Any]:
    """The JSON of ``tdsl check``, and that nothing else is on stdout."""
    done = tdsl("check", *args, "--output-format", "json")
    assert done.exit_code in (0, 1), done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def write(folder: Path, text: str = SMALL, name: str = "small.fab") -> Path:
    """A design in a folder."""
    return written(folder / name, text)
