"""The sources of tdsl for the rules of the house. A rule reads the syntax of those files alone whose text has a word of the rule:
to parse all of them takes ten times as long as to search them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tdsl"
MODULES = sorted(PACKAGE.rglob("*.py"))
PROGRAMS = sorted((ROOT / "targets").rglob("*.py"))
SOURCES = (*MODULES, *PROGRAMS)


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.relative_to(ROOT).as_posix()


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


def with_words(paths: Iterable[Path], words: str) -> Iterator[Path]:
    """The files in whose text a regular expression of words is found."""
    pattern = re.compile(rf"\b(?:{words})\b")
    return (path for path in paths if pattern.search(text_of(path)))


def dotted(node: ast.expr) -> str:
    """A name with its dots; what is no name is three of them."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id if isinstance(node, ast.Name) else "..", *reversed(parts)])


@cache
def calls(path: Path) -> list[tuple[str, int]]:
    """Names of what a module calls or reaches for, dotted, and where."""
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Attribute):
            found.append((dotted(node), node.lineno))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.append((node.func.id, node.lineno))
    return found


IMPORT = re.compile(r"^( *)(from [\w.]+ import (?:\([^)]*\)|[^(\n]+)|import [^\n]+)$", re.MULTILINE)
FOR_TYPES = re.compile(r"^( *)if TYPE_CHECKING:\n((?:\1 +[^\n]*\n|\n)*)", re.MULTILINE)
TEXTS = re.compile(r'"""(.*?)"""', re.DOTALL)


@cache
def statements(path: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import of a module, those inside functions included, and whether it is for types alone. The formatter begins a line
    with each."""
    text = TEXTS.sub(lambda m: "\n" * m[0].count("\n"), text_of(path))
    typed = [m.span(2) for m in FOR_TYPES.finditer(text)]
    found: list[tuple[ast.Import | ast.ImportFrom, bool]] = []
    for m in IMPORT.finditer(text):
        (node,) = ast.parse(m[2]).body
        assert isinstance(node, (ast.Import, ast.ImportFrom)), m[2]
        node.lineno += text.count("\n", 0, m.start())
        found.append((node, any(first <= m.start() < last for first, last in typed)))
    return found


def imported(path: Path) -> set[str]:
    """The first parts of the names that a module imports."""
    of_one = ([a.name for a in n.names] if isinstance(n, ast.Import) else [n.module or ""] for n, _ in statements(path))
    return {name.split(".")[0] for names in of_one for name in names}
