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
    "keyword", "class", "interface", "namespace", "function", "parameter", "variable", "property",
    "enumMember", "type", "string", "number", "comment", "operator",
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
WORDED = ("role", "layer", "nos", "transport", "purpose", "medium", "type", "class", "colour")
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


OWN_NAMES: dict[type, str] = {tree.Let: "variable", tree.Param: "parameter", tree.Def: "function"}
"""What a name is that this file declares, wherever it stands."""
DECLARED_NAMES: dict[type, tuple[str, ...]] = {
    tree.TopologyDecl: ("interface", DECLARED),
    tree.Def: ("function", DECLARED),
    tree.Let: ("variable", DECLARED, "readonly"),
    tree.Param: ("parameter", DECLARED),
    tree.Formal: ("parameter", DECLARED),
}
"""What a name is where such a statement declares it."""


class _NameColours:
    """The names of a tree by where they stand: type, then modifiers. A name means one thing in all of the
    file."""

    def __init__(self, known: KnownNames) -> None:
        self.known = known
        self.own: dict[str, str] = dict.fromkeys(BUILTINS, "function")
        for s in _statements_of_all_blocks(known.body):
            if isinstance(s, tree.Decl):
                self.own[s.name.name] = KIND_TYPES.get(s.kind.name, "variable")
            elif isinstance(s, tree.For):
                self.own[s.var.name] = "variable"
            elif isinstance(s, tree.Let | tree.Param | tree.Def):
                self.own[s.name.name] = OWN_NAMES[type(s)]
            elif isinstance(s, tree.Use):
                self.enter_used(s)
            if isinstance(s, tree.Def | tree.TopologyDecl):
                self.own |= dict.fromkeys((f.name.name for f in s.formals), "parameter")

    def enter_used(self, use: tree.Use) -> None:
        """Enter the names that another file lends."""
        for u in use.names:
            name = (u.alias or u.name).name
            entry = self.known.home.used.get(name)
            self.own[name] = USED.get(type(entry.node) if entry else None, "class")

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
            yield from self.declared(node)  # the last colour of a place applies

    # Long: one case for each kind of node.
    def declared(self, node: object) -> Found:
        """The name that a node is about."""
        # One case for each kind of node, in one place, so that a new kind is not forgotten.
        match node:
            case tree.Decl():
                yield node.name.span.start, (self.own[node.name.name], DECLARED)
            case tree.ModelDecl():
                yield node.name.span.start, ("class", DECLARED)
                yield node.kind.span.start, ("keyword",)
            case tree.For() | tree.Comprehension():
                yield node.var.span.start, ("variable", DECLARED)
            case tree.PlaceStmt():
                yield from _words_of_values(*node.words)
            case tree.TierDecl():
                yield node.name.span.start, ("namespace", DECLARED)
                yield node.child.span.start, ("namespace",)
                yield from _words_of_values(node.by)
            case tree.Setting():
                yield from self.setting(node)
            case tree.UsedName():
                for m in (node.name, node.alias or node.name):
                    yield m.span.start, (self.own[(node.alias or node.name).name],)
            case tree.Use():
                yield from ((m.span.start, ("namespace",)) for m in node.module)
            case tree.Claim():
                yield node.metric.span.start, ("function", "defaultLibrary")
                yield from _words_of_values(node.under, node.through)
            case tree.PatternRef():
                yield from _words_of_values(node.name)
            case tree.TopologyDecl() | tree.Def() | tree.Let() | tree.Param() | tree.Formal():
                yield node.name.span.start, DECLARED_NAMES[type(node)]
        yield from self.type_and_pattern(node)

    def setting(self, node: tree.Setting) -> Found:
        """The name of a setting, which may be a topology, and the bare names that are its values."""
        asked = self.known.topology(node.name.name) is not None
        yield node.name.span.start, ("interface",) if asked else ("property",)
        for item in node.items:
            for value in (item.value, *(v for _, v in item.args)):
                if isinstance(value, tree.PathExpr) and value.bare is not None:
                    yield value.span.start, (self.bare_value(node.name.name, value.bare),)

    def bare_value(self, setting: str, name: str) -> str:
        """The type of a bare name that is the value of a setting."""
        if self.known.is_model(name):
            return "class"
        return "enumMember" if setting in WORDED or name not in self.own else self.own[name]

    def type_and_pattern(self, node: object) -> Found:
        """The type of a parameter, and the pattern of a connect with its arguments."""
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


def _words_of_values(*words: tree.Identifier | None) -> Found:
    """Words of the language that stand as values."""
    return ((w.span.start, ("enumMember",)) for w in words if w is not None)


def _statements_of_all_blocks(body: tuple[tree.Stmt, ...]) -> Iterator[tree.Stmt]:
    for s in statements_in_blocks([body]):
        yield s
        if not isinstance(s, tree.If | tree.For | tree.PhaseBlock | tree.Broken | tree.Def):
            yield from _statements_of_all_blocks(getattr(s, "body", None) or ())
