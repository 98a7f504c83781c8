"""Imports run in one direction, as docs/ARCHITECTURE.md says; read from the sources, those inside functions included."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "tdsl"
LAYERS = (
    ("source",),
    ("diagnostic",),
    ("syntax",),
    ("semantics",),
    ("fabric",),
    ("physical",),
    ("verify", "emit"),
    ("catalogue",),
    ("allowances",),
    ("compiler",),
    ("sweep",),
    ("observe", "ide", "report"),
    ("changes",),
    ("lsp",),
    ("cli",),
)
ALONE = ("config", "resources", "cache")
"""Rooms that import nothing but the standard library, and may be imported by all."""
SAME = {"commands": "cli", "__main__": "cli"}
RANK = {room: rank for rank, rooms in enumerate(LAYERS) for room in rooms}
MODULES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return SAME.get(first, first)


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Full names of what a module imports, and where."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            assert node.module is not None
            yield from (
                (f"{node.module}.{alias.name}" if node.module == "tdsl" else node.module, node.lineno) for alias in node.names
            )


def ids(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", [p for p in MODULES if p != PACKAGE / "__init__.py"], ids=ids)
def test_direction(path: Path) -> None:
    here = room_of(path)
    assert here in RANK or here in ALONE, f"{here} is no room: give it a place in LAYERS"
    for name, line in imports(path):
        if not name.startswith("tdsl.") or name == "tdsl.__version__":
            if here in ALONE:
                assert name.split(".")[0] in (*sys.stdlib_module_names, "tdsl"), f"{path}:{line}: {here} imports {name}"
            continue
        there = SAME.get(name.split(".")[1], name.split(".")[1])
        where = f"{path}:{line}: {here} must not import {there}"
        if there == here or there in ALONE:
            assert here not in ALONE or there == here, where
            continue
        assert here in RANK and there in RANK and RANK[there] < RANK[here], where


def test_the_package_itself_imports_nothing_at_once() -> None:
    """``import tdsl`` gives the version and nothing else; the public names come when they are asked for."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert name in ("__future__", "typing")


def test_targets_programs_stay_in_their_room() -> None:
    """A program of a target may use what verification and emission may use, and nothing above."""
    for path in sorted((PACKAGE.parent / "targets").rglob("*.py")):
        for name, line in imports(path):
            room = name.split(".")[1] if name.startswith("tdsl.") else ""
            assert room in ("", "emit", "fabric", "semantics", "source", "diagnostic"), f"{path}:{line}: imports {name}"
