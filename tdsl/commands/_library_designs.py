"""Designs of the library as texts to start from: the whole text with its comments, or a short file that uses
a design and adds to it."""

from __future__ import annotations

import re
from pathlib import Path

from tdsl.commands._shared import Wrong
from tdsl.commands.list import FABRIC, _stdlib_files
from tdsl.system.similar import closest_name

USED = re.compile(r"^use[ \t]+designs\.(\w+)[ \t]*\([^)\n]*\)[ \t]*(?:#[^\n]*)?\n", re.MULTILINE)
"""The line by which a design of the library takes another one."""
DECLARED = re.compile(r"^(fabric|cluster)[ \t]+(\w+)", re.MULTILINE)


def library_design_files() -> dict[str, Path]:
    """The designs of the library, by name."""
    return {path.stem: path for path, _ in _stdlib_files("designs")}


def library_design_path(word: str) -> Path | None:
    """The file of a design of the library; `-` is as good as `_` in its name. None if there is none."""
    return library_design_files().get(word.lower().replace("-", "_").removesuffix(".fab"))


def named_library_design(word: str) -> Path:
    """The file of a design of the library. Raises Wrong."""
    path = library_design_path(word)
    if path is None:
        near = closest_name(word, library_design_files(), 0.5)
        advice = f"did you mean {near!r}?" if near else "`tdsl list designs` lists them"
        raise Wrong(f"there is no design {word!r} in the library; {advice}")
    return path


def flattened_design(path: Path, name: str) -> str:
    """The text of a design with those that it uses in the place of its `use` lines, under a line that says
    where it is from."""
    head = f"# {name}: a copy of the library's {path.stem}. Change a number, then run\n"
    return f"{head}# `tdsl check {name}.fab`.\n\n" + _text_without_uses(path)


def _text_without_uses(path: Path) -> str:
    known = library_design_files()
    text = path.read_text(encoding="utf-8")
    return USED.sub(lambda m: f"\n{_text_without_uses(known[m[1]])}" if m[1] in known else m[0], text)


def extending_design(path: Path, name: str) -> str:
    """A design that uses one of the library and adds to it. Raises Wrong where that declares no fabric."""
    text = path.read_text(encoding="utf-8")
    found = DECLARED.findall(text)
    fabrics = [fabric for kind, fabric in found if kind == "fabric"]
    if not fabrics or len(fabrics) != len(found):
        why = "is a cluster of several fabrics" if found else "adds to a design itself"
        raise Wrong(
            f"{path.stem} {why}, and cannot be extended from outside; leave out --extend, and change the copy"
        )
    fabric = fabrics[0]
    title = next((t for t in FABRIC.findall(text) if t), "")
    about = f" ({title})" if title else ""
    return (
        f"# {name}: the library's {path.stem}{about}, and what is added here.\n"
        "# A new version of tdsl brings its changes; without --extend, `tdsl init` copies its text.\n"
        f"use designs.{path.stem} ({', '.join(fabrics)})\n\n"
        f"extend {fabric} {{\n"
        "  # devices, connects and requirements of your own, such as: switch border[2]: SN5600\n"
        "  report links\n"
        "}\n"
    )
