"""What a text declares, as a tree of symbols, and the blocks that can be folded."""

from __future__ import annotations

from collections.abc import Iterable

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.keywords import KINDS
from tdsl.system.lazy_dataclass import dataclass

GROUPS = KINDS["group"]
"""Words that declare a group."""
PAIRS = {"{": "}", "(": ")", "[": "]"}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration: its name, its kind as written, what stands with it, the whole of it, its name's place,
    what it holds."""

    name: str
    kind: str
    detail: str
    whole: SourceSpan
    place: SourceSpan
    inner: tuple[Symbol, ...] = ()


def declared_symbols(body: Iterable[tree.Stmt]) -> tuple[Symbol, ...]:
    """The declarations of some statements; those of an ``if`` or ``for`` count as the block's own."""
    out: list[Symbol] = []
    for s in body:
        match s:
            case tree.If():
                for _, inner in s.branches:
                    out.extend(declared_symbols(inner))
                out.extend(declared_symbols(s.other))
            case tree.For() | tree.PhaseBlock() | tree.Broken():
                out.extend(declared_symbols(s.body))
            case tree.Extend():
                inside = declared_symbols(s.body)
                out.append(Symbol(s.path.span.text, "extend", "", s.span, s.path.span, inside))
            case (
                tree.Decl() | tree.ModelDecl() | tree.TopologyDecl() | tree.Def() | tree.Param() | tree.Let()
            ):
                kind, detail = _kind_and_detail(s)
                inside = () if isinstance(s, tree.Def) else declared_symbols(getattr(s, "body", None) or ())
                out.append(Symbol(s.name.name, kind, detail, s.span, s.name.span, inside))
            case _:
                pass
    return tuple(out)


def _kind_and_detail(
    s: tree.Decl | tree.ModelDecl | tree.TopologyDecl | tree.Def | tree.Param | tree.Let,
) -> tuple[str, str]:
    """The word for a declaration, and what an outline shows behind its name."""
    match s:
        case tree.Decl():
            return s.kind.name, s.of.span.text if s.of else s.title.span.text.strip('"') if s.title else ""
        case tree.ModelDecl():
            return "model", s.kind.name
        case tree.Param():
            return "param", s.default.span.text
        case tree.Let():
            return "let", s.value.span.text
    return "topology" if isinstance(s, tree.TopologyDecl) else "def", ""


def foldable_blocks(file: SourceFile) -> list[tuple[int, int, bool]]:
    """First and last line, from 0, of each block, and whether it is a run of comments."""
    out: list[tuple[int, int, bool]] = []
    open_: list[tuple[str, int]] = []
    run: list[int] = []
    code = -1
    for t in load_grammar_tables().scanner.scan(file):
        line = file.position(t.start)[0] - 1
        if t.type == "COMMENT":
            if line != code:
                if run and run[-1] != line - 1:
                    out += _fold_of_comment_run(run)
                    run = []
                run.append(line)
            continue
        if t.newline:
            continue
        code = line
        if t.text in PAIRS:
            open_.append((PAIRS[t.text], line))
        elif open_ and t.text == open_[-1][0]:
            first = open_.pop()[1]
            if line > first:
                out.append((first, line - 1 if line - 1 > first else line, False))
    out += _fold_of_comment_run(run)
    return sorted(out)


def _fold_of_comment_run(lines: list[int]) -> list[tuple[int, int, bool]]:
    return [(lines[0], lines[-1], True)] if len(lines) > 1 else []
