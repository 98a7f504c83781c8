"""Puts the documentation, the grammar with its parse tables, the standard library and the targets into the
wheel, as ``tdsl/_data``.

Only a standard wheel gets them: an editable install reads the folders of the checkout, where a copy would go
stale.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDERS = ("docs", "grammar", "stdlib", "targets")
TABLES = """import sys
from tdsl.syntax.grammar import tables_for_wheel
sys.stdout.buffer.write(tables_for_wheel())"""
"""A program that prints the parse tables, in a process of its own: another tdsl may be imported here."""
LEFT_OUT = ("__pycache__", "gallery", "node_modules", "tree-sitter", "vscode")


class DataHook(BuildHookInterface):
    """Adds the files of the folders, without pictures of the gallery and what editors build from a
    checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Fill the list of files that go into the wheel besides the package."""
        if self.target_name != "wheel" or version != "standard":
            return
        root = Path(self.root)
        for folder in FOLDERS:
            files = [
                p
                for p in sorted((root / folder).rglob("*"))
                if p.is_file() and not set(p.parts) & set(LEFT_OUT)
            ]
            if not files:
                raise FileNotFoundError(
                    f"{root / folder} is missing or empty: the wheel would not work without it"
                )
            for path in files:
                build_data["force_include"][str(path)] = f"tdsl/_data/{path.relative_to(root).as_posix()}"
        self.made = TemporaryDirectory()
        tables = Path(self.made.name) / "grammar"
        search = os.pathsep.join([str(root), *filter(None, sys.path)])
        tables.write_bytes(
            subprocess.run(
                [sys.executable, "-P", "-c", TABLES],
                check=True,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": search, "PYTHONHASHSEED": "0"},
            ).stdout
        )
        build_data["force_include"][str(tables)] = "tdsl/_data/tables/grammar"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the parse tables that are in the wheel now."""
        if hasattr(self, "made"):
            self.made.cleanup()
