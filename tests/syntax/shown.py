"""Trees as short text, so that a test can say what it expects on one line."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file
from tests.tables import sections

ALL = sections(str(Path(__file__).with_name("programs")))
"""Programs that use every form of the language."""


def read(text: str) -> tuple[tree.Module, Diagnostics]:
    diagnostics = Diagnostics()
    return parse_source_file(SourceFile("t.fab", text), diagnostics), diagnostics


def clean(text: str) -> tuple[tree.Stmt, ...]:
    module, diagnostics = read(text)
    assert not list(diagnostics), [(d.code, d.message) for d in diagnostics]
    return module.body


def one(text: str) -> tree.Stmt:
    (statement,) = clean(text)
    return statement


def show(node: object) -> str:
    """``Kind(field=value …)`` without spans and empty fields; names, paths and literals as written."""
    if isinstance(node, tuple):
        return "[" + " ".join(map(show, node)) + "]"
    if isinstance(node, tree.Identifier):
        return node.name
    if isinstance(node, tree.PathExpr):
        return "".join(_part(p, i) for i, p in enumerate(node.parts))
    if isinstance(node, tree.Number):
        return str(node.value)
    if isinstance(node, tree.Measure):
        return f"{node.value}{node.unit}"
    if isinstance(node, tree.Star):
        return "*"
    if isinstance(node, tree.Hole):
        return "?"
    if isinstance(node, tree.Chain):
        return "(" + show(node.first) + "".join(f" {op} {show(e)}" for op, e in node.rest) + ")"
    if is_dataclass(node):
        kept = [(f.name, getattr(node, f.name)) for f in fields(node) if f.name != "span"]
        inner = " ".join(f"{name}={show(value)}" for name, value in kept if value not in (None, (), False, ""))
        return f"{type(node).__name__}({inner})"
    return repr(node)


def _part(part: object, i: int) -> str:
    if isinstance(part, tree.IndexPart):
        return "[" + ", ".join(map(show, part.entries)) + "]"
    if isinstance(part, tree.Call):
        return "(" + ", ".join(map(show, part.args)) + ")"
    return ("." if i else "") + show(part)
