"""Imports run in one direction, as docs/architecture.md says; read from the sources, those inside functions included."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from tests.harness import none
from tests.sources import MODULES, PACKAGE, PROGRAMS, statements, text_of
from tests.tables import sections

ORDER = sections(__file__)["order"]
"""Rooms from the lowest to the highest: one imports only those in lines above its own."""
SAME = {"commands": "cli", "__main__": "cli"}
RANK = {room: rank for rank, rooms in enumerate(ORDER.split("\n")) for room in rooms.split()}


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return SAME.get(first, first)


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Full names of what a module imports, and where."""
    for node, _ in statements(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        else:
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            assert node.module is not None
            yield from (
                (f"{node.module}.{alias.name}" if node.module == "tdsl" else node.module, node.lineno) for alias in node.names
            )


def misdirected(path: Path) -> Iterator[str]:
    """Imports of a module that its place in ORDER does not allow, as text."""
    here = room_of(path)
    if here not in RANK:
        yield f"{path}: {here} is no room: give it a place in ORDER"
        return
    for name, line in imports(path):
        if not name.startswith("tdsl.") or name == "tdsl.__version__":
            if here == "system" and name.split(".")[0] not in (*sys.stdlib_module_names, "tdsl"):
                yield f"{path}:{line}: {here} imports {name}"
            continue
        there = SAME.get(name.split(".")[1], name.split(".")[1])
        if there != here and not RANK.get(there, RANK["cli"]) < RANK[here]:
            yield f"{path}:{line}: {here} must not import {there}"


def test_direction() -> None:
    none([fault for path in MODULES if path != PACKAGE / "__init__.py" for fault in misdirected(path)])


def test_no_circle_of_more_than_two_files() -> None:
    """Imports inside functions count; those for types alone do not."""
    names = {path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for path in MODULES}
    asked: dict[str, set[str]] = {}
    for path, name in names.items():
        found = {
            full
            for node, typed in statements(path)
            if isinstance(node, ast.ImportFrom) and node.module and not typed
            for full in ([f"{node.module}.{a.name}" for a in node.names] + [node.module])
        }
        asked[name] = (found & set(names.values())) - {name, "tdsl"}
    graph = nx.DiGraph((name, other) for name, of in asked.items() for other in of)
    circles = [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 2]
    none([f"{len(circle)} files: {', '.join(sorted(circle))}" for circle in circles])


def test_the_package_itself_imports_nothing_at_once() -> None:
    """``import tdsl`` gives the version and nothing else; the public names come when they are asked for."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            name = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            assert name in ("__future__", "typing")


def test_data_classes_are_those_that_compile_their_methods_late() -> None:
    """The checker of certificates runs without tdsl; all else takes ``tdsl.system.lazy_dataclass``."""
    free = {PACKAGE / "system" / "lazy_dataclass.py", PACKAGE / "certificates" / "checker.py"}
    taken = re.compile(r"from dataclasses import .*\bdataclass\b|dataclasses\.dataclass\(")
    none([str(path) for path in MODULES if path not in free and taken.search(text_of(path))])


def test_candidates_for_symmetries_go_to_what_verifies_them() -> None:
    """Candidates are proposals: only modules that hand each to ``prove.symmetry`` may import them."""
    asked = {path.name: {name for name, _ in imports(path)} for path in MODULES}
    users = {file for file, names in asked.items() if "tdsl.prove.symmetry_candidates" in names}
    assert users == {"automorphisms.py", "element_symmetry.py"}
    assert all("tdsl.prove.symmetry" in asked[file] for file in users)


def test_targets_programs_stay_in_their_room() -> None:
    """A program of a target may use what verification and emission may use, and nothing above."""
    for path in PROGRAMS:
        for name, line in imports(path):
            room = name.split(".")[1] if name.startswith("tdsl.") else ""
            assert room in ("", "emit", "fabric", "semantics", "findings"), f"{path}:{line}: imports {name}"
