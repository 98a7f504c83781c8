"""What each word of a text is, for its colour: from the tokens, and from the tree where it says more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass

from tdsl.findings.source import SourceSpan
from tdsl.ide.known import KnownNames, statements_in_blocks
from tdsl.semantics.builtins import BUILTINS
from tdsl.syntax import tree
from tdsl.syntax.grammar import load_grammar_tables
from tdsl.syntax.keywords import KINDS
from tdsl.syntax.parser import keyword_offsets
from tdsl.system.lazy_dataclass import dataclass

TYPES = (
    "keyword", "class", "interface", "namespace", "function", "parameter", "variable", "property", "enumMember", "type", "string",
    "number", "comment", "operator",
)  # fmt: skip
MODIFIERS = ("declaration", "readonly", "defaultLibrary")
NUMBERS = frozenset({"NUMBER", "QUANTITY", "PERCENT", "MONEY", "RATIO", "DIMS", "NET"})
SIGNS = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "FLOOR", "MODULO", "POWER", "CMP", "RANGE", "QMARK", "EQUAL"}
)
PLAIN = {"COMMENT": "comment", "STRING": "string", "BAD_STRING": "string"}
PLAIN |= dict.fromkeys(NUMBERS, "number") | dict.fromkeys(SIGNS, "operator")


@dataclass(frozen=True, slots=True)
class Colour:
    """A stretch of text, its type and its modifiers."""

    start: int
    end: int
    type: str
    modifiers: tuple[str, ...] = ()


def colours_of_words(known: KnownNames) -> list[Colour]:
    """Every word of a file in order. Names that the tree does not reach, in a statement at fault, have
    none."""
    taken = keyword_offsets(known.file)
    named = dict(_NameColours(known).all(known.body))
    out = []
    for t in load_grammar_tables().scanner.scan(known.file):
        kind: str = PLAIN.get(t.type, "")
        modifiers: tuple[str, ...] = ()
        if t.start in taken:
            kind = "keyword"
        elif t.type == "NAME" and t.start in named:
            kind, modifiers = named[t.start][0], named[t.start][1:]
        if kind:
            out.append(Colour(t.start, t.end, kind, modifiers))
    return out


KIND_TYPES = dict.fromkeys((*KINDS["group"], *KINDS["scope"]), "namespace") | dict.fromkeys(
    KINDS["part"], "property"
)
WORDED = ("role", "layer", "nos", "transport", "medium", "type", "class", "colour")
"""Settings whose value is a word, whatever names there are."""


def colours_as_numbers(found: Iterable[Colour], place: Callable[[int], tuple[int, int]]) -> list[int]:
    """Colours as editors read them, five numbers each: lines and columns from the one before, length, type,
    modifiers as bits.

    ``place`` gives line and column of an offset.
    """
    out: list[int] = []
    line = column = 0
    for c in found:
        (at, start), (_, end) = place(c.start), place(c.end)
        bits = sum(1 << MODIFIERS.index(m) for m in c.modifiers)
        out += (at - line, start - column if at == line else start, end - start, TYPES.index(c.type), bits)
        line, column = at, start
    return out


WORD = re.compile(r"[A-Za-z_]\w*")
USED: dict[object, str] = {
    tree.Def: "function",
    tree.Let: "variable",
    tree.Param: "parameter",
    tree.Decl: "namespace",
    tree.TopologyDecl: "interface",
}
"""What a name is that another file lends; a model, if nothing else."""
Found = Iterator[tuple[int, tuple[str, ...]]]
DECLARED = "declaration"


class _NameColours:
    """The names of a tree by where they stand: type, then modifiers. A name means one thing in all of the
    file."""

    def __init__(self, known: KnownNames) -> None:
        self.known = known
        self.own: dict[str, str] = dict.fromkeys(BUILTINS, "function")
        for s in _statements_of_all_blocks(known.body):
            if isinstance(s, tree.Decl):
                self.own[s.name.name] = KIND_TYPES.get(s.kind.name, "variable")
            elif isinstance(s, tree.Let | tree.For):
                self.own[(s.name if isinstance(s, tree.Let) else s.var).name] = "variable"
            elif isinstance(s, tree.Param | tree.Def):
                self.own[s.name.name] = "parameter" if isinstance(s, tree.Param) else "function"
            for u in s.names if isinstance(s, tree.Use) else ():
                entry = known.home.used.get((u.alias or u.name).name)
                self.own[(u.alias or u.name).name] = USED.get(type(entry.node) if entry else None, "class")
            for f in s.formals if isinstance(s, tree.Def | tree.TopologyDecl) else ():
                self.own[f.name.name] = "parameter"

    def all(self, node: object) -> Found:
        """The names below a node."""
        if isinstance(node, tuple):
            for x in node:
                yield from self.all(x)
        elif isinstance(node, tree.PathExpr):
            yield from self.path(node)
        elif is_dataclass(node) and not isinstance(node, SourceSpan | type):
            if isinstance(node, tree.SettingItem):  # words between values; what follows tells more
                for m in WORD.finditer(node.span.text):
                    yield node.span.start + m.start(), ("enumMember",)
            for f in fields(node):
                if f.name not in ("span", "metric", "type", "under", "through", "pattern", "child"):
                    yield from self.all(getattr(node, f.name))
            yield from self.declared(node)  # what is told last holds

    def declared(self, node: object) -> Found:
        """The name that a node is about."""
        match node:
            case tree.Decl():
                yield node.name.span.start, (self.own[node.name.name], DECLARED)
            case tree.ModelDecl():
                yield node.name.span.start, ("class", DECLARED)
                yield node.kind.span.start, ("keyword",)
            case tree.TopologyDecl():
                yield node.name.span.start, ("interface", DECLARED)
            case tree.Def():
                yield node.name.span.start, ("function", DECLARED)
            case tree.Let():
                yield node.name.span.start, ("variable", DECLARED, "readonly")
            case tree.Param() | tree.Formal():
                yield node.name.span.start, ("parameter", DECLARED)
            case tree.For() | tree.Comprehension():
                yield node.var.span.start, ("variable", DECLARED)
            case tree.PlaceStmt():
                for member in node.words:
                    yield member.span.start, ("enumMember",)
            case tree.TierDecl():
                yield node.name.span.start, ("namespace", DECLARED)
                yield node.child.span.start, ("namespace",)
                if node.by is not None:
                    yield node.by.span.start, ("enumMember",)
            case tree.Setting():
                asked = self.known.topology(node.name.name) is not None
                yield node.name.span.start, ("interface",) if asked else ("property",)
                for item in node.items:
                    for value in (item.value, *(v for _, v in item.args)):
                        if isinstance(value, tree.PathExpr) and value.bare is not None:
                            word = node.name.name in WORDED or value.bare not in self.own
                            model = self.known.is_model(value.bare)
                            yield (
                                value.span.start,
                                ("class" if model else "enumMember" if word else self.own[value.bare],),
                            )
            case tree.UsedName():
                for m in (node.name, node.alias or node.name):
                    yield m.span.start, (self.own[(node.alias or node.name).name],)
            case tree.Use():
                yield from ((m.span.start, ("namespace",)) for m in node.module)
            case tree.Claim():
                yield node.metric.span.start, ("function", "defaultLibrary")
                yield from (
                    (m.span.start, ("enumMember",)) for m in (node.under, node.through) if m is not None
                )
            case tree.PatternRef():
                yield node.name.span.start, ("enumMember",)
        kind = getattr(node, "type", None)
        if isinstance(kind, tree.Identifier):
            yield kind.span.start, ("type",)
        pattern = getattr(node, "pattern", None)
        if pattern is not None:
            yield from self.declared(pattern)
            yield from self.all(pattern.args)

    def path(self, path: tree.PathExpr) -> Found:
        """The names of a path: what the first means, members behind it, and those in its brackets."""
        for i, part in enumerate(path.parts):
            if isinstance(part, tree.Identifier):
                if i:
                    yield part.span.start, ("property",)
                    continue
                model = part.name not in self.own and self.known.is_model(part.name)
                yield part.span.start, ("class" if model else self.own.get(part.name, "variable"),)
            else:
                for entry in part.entries if isinstance(part, tree.IndexPart) else part.args:
                    yield from self.all(entry)


def _statements_of_all_blocks(body: tuple[tree.Stmt, ...]) -> Iterator[tree.Stmt]:
    for s in statements_in_blocks([body]):
        yield s
        if not isinstance(s, tree.If | tree.For | tree.PhaseBlock | tree.Broken | tree.Def):
            yield from _statements_of_all_blocks(getattr(s, "body", None) or ())
