"""A file that an editor has open, and the protocol's words for what may be written."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import SourceFile
from tdsl.ide.facts import Fact, Placed
from tdsl.ide.judge import TextJudgement
from tdsl.ide.known import KnownNames
from tdsl.ide.outline import GROUPS
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

COMPLETIONS = {
    "keyword": "Keyword", "model": "Class", "topology": "Interface", "check": "Function",
    "function": "Function", "let": "Constant", "param": "Variable", "variable": "Variable",
    "setting": "Property", "port": "Field", "unit": "Unit", "type": "TypeParameter", "word": "EnumMember",
    "pattern": "EnumMember", "file": "File", "folder": "Folder",
}  # fmt: skip
"""The protocol's kinds of what may be written; devices and groups are modules."""

KINDS = {
    "fabric": "Module",
    "cluster": "Module",
    "model": "Class",
    "topology": "Interface",
    "def": "Function",
    "param": "Variable",
    "let": "Constant",
    "port": "Field",
    "extend": "Namespace",
    **dict.fromkeys(GROUPS, "Namespace"),
}
"""The protocol's kinds of declarations; others are objects."""


class EditorTask(Protocol):
    """Something that goes on and can be given up."""

    def cancel(self) -> bool:
        """Give it up; whether it still went on."""
        ...


@dataclass(slots=True)
class Open:
    """A file that is open in the editor: its text, the tree of it, and what was last found."""

    uri: str
    path: str
    file: SourceFile
    body: tuple[tree.Stmt, ...]
    sound: bool  # whether it has no faults of syntax
    shown: TextJudgement = field(default_factory=TextJudgement)
    facts: tuple[Fact, ...] = ()  # of this very text, once it is compiled
    values: tuple[Fact, ...] = ()  # of its parameters
    sets: tuple[Placed, ...] = ()  # of the design as it was last compiled
    lenses: tuple[tuple[str, str], ...] = ()  # name of a fabric -> its figures, as it was last compiled
    known: KnownNames | None = None  # what its names mean, once that is asked
    judged: bool = False
    compiled: bool = False  # whether findings of its compilation were sent
    task: EditorTask | None = None
    proved: tuple[Diagnostic, ...] = ()  # all findings of this text, once it is compiled
    late: tuple[
        Diagnostic, ...
    ] = ()  # findings of an earlier text that are not yet found or refuted in this one
