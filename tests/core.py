"""The core of the suite: tests of each command, each target and each package that tdsl depends on, a minute in all.
``make test-newest`` runs them with the newest versions of these packages; ``python -m tests.core`` prints their names."""

from __future__ import annotations

import re
import sys
from importlib.metadata import distributions
from pathlib import Path

CALLS = "tests/cli/test_calls.py"
"""Calls most commands."""
FILES = "tests/targets/test_files.py"
"""Builds every target."""
COMMANDS = {
    "check": "tests/test_standard_output.py",
    "completion": "tests/cli/test_everywhere.py",
    "config": "tests/cli/test_everywhere.py",
    "lsp": "tests/test_standard_output.py",
    "man": "tests/cli/test_everywhere.py",
    "mcp": "tests/test_standard_output.py",
    "view": "tests/cli/test_view.py",
}
"""Those that are called elsewhere, and `check`, whose solvers print."""
PACKAGES = {
    "click": CALLS,
    "highspy": "tests/prove/test_linear.py",
    "Jinja2": FILES,
    "lark": "tests/syntax/test_parser.py",
    "mcp": "tests/cli/test_mcp.py::test_tools_and_resources",
    "networkx": "tests/verify/second/test_patterns.py",
    "numpy": "tests/fabric/test_patterns.py",
    "pygls": "tests/lsp/test_server.py::test_findings_and_what_is_known",
    "PyYAML": "tests/emit/test_site.py",
    "scipy": "tests/prove/test_max_flow.py",
    "segno": "tests/emit/test_cable_labels.py",
    "tqdm": "tests/cli/test_progress.py::test_phases_on_a_terminal",
    "watchfiles": "tests/cli/test_watch.py::test_check_runs_again_when_the_design_is_saved",
    "XlsxWriter": "tests/targets/test_cabling.py::test_the_workbook_has_a_sheet_a_group",
    "z3-solver": "tests/sizing/test_solve.py",
}
"""What tdsl needs, and its extras for editors and assistants."""


def core_tests() -> list[str]:
    """The files of these tests, or names of tests in them, each once."""
    return sorted({CALLS, FILES, *COMMANDS.values(), *PACKAGES.values()})


def newer_packages() -> list[str]:
    """Packages that are installed here in another version than requirements.lock names, with both."""
    lock = (Path(__file__).parent.parent / "requirements.lock").read_text(encoding="utf-8")
    locked = {package_name(name): version for name, version in re.findall(r"^([\w.-]+)(?:\[.*?\])?==(\S+)", lock, re.MULTILINE)}
    found = {package_name(d.name): d.version for d in distributions()}
    return [f"{n} {v} (locked {locked[n]})" for n, v in sorted(found.items()) if n in locked and locked[n] != v]


def package_name(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    if sys.argv[1:] == ["--newer"]:
        print("newer than requirements.lock:", ", ".join(newer_packages()) or "nothing")
    else:
        print(*core_tests())
