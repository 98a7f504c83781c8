"""A syntax error and what stands around it: what its wording is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Protocol
from weakref import WeakKeyDictionary

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.scanner import END, FAULT, Token
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name

VALUES = frozenset({"NUMBER", "QUANTITY", "PERCENT", "MONEY", "RATIO", "DIMS", "NET", "STRING"})
OPERATOR_TOKENS = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "FLOOR", "MODULO", "POWER", "AND", "OR", "IN", "IF", "CMP", "RANGE"}
)
SUFFIXES = frozenset({"DOT", "LPAR", "LSQB"})
UNIT = re.compile(r"[kKMGTPE]?(bps|[bB]|W)|[KMGT]iB|[mnpu]?s|min|day|week|[kcm]?m|k?g|U|dB")


LEAST_ALIKE = 0.7
"""Difflib's ratio of a misspelt word to its keyword, at least: `parameter` and `param` have 0.71."""


class Run(Protocol):
    """What the wording looks at in a parse that met a fault."""

    file: SourceFile
    tokens: list[Token]
    head: int
    diagnostics: Diagnostics

    def expected(self) -> set[str]:
        """Terminals that could stand at the fault."""
        ...

    def word(self, terminal: str) -> str:
        """A terminal as it is written."""
        ...

    def scan(self, file: SourceFile) -> list[Token]:
        """The tokens of a text, with comments and ends of lines."""
        ...

    def count_accepted(self, tokens: Sequence[Token]) -> int:
        """How many of some tokens the grammar takes in the statement's place; one more where they are whole
        statements."""
        ...


@dataclass(frozen=True, slots=True)
class Scene:
    """A fault and its surroundings."""

    run: Run
    i: int
    token: Token | None
    expected: set[str]

    @property
    def statement(self) -> list[Token]:
        """The statement's tokens before the fault."""
        return self.run.tokens[self.run.head : self.i]

    @property
    def before(self) -> Token | None:
        """The token before the fault."""
        return self.run.tokens[self.i - 1] if self.i else None

    @property
    def first(self) -> str:
        """The statement's first word."""
        return self.statement[0].text if self.statement else ""

    @property
    def rest(self) -> list[Token]:
        """The statement's tokens from the fault on, blocks included."""
        out: list[Token] = []
        depth = 0
        for at in range(self.i, len(self.run.tokens)):
            token = self.run.tokens[at]
            depth += (token.type == "LBRACE") - (token.type == "RBRACE")
            if depth < 0 or token.type in (END, "$END", FAULT):
                break
            out.append(token)
        return out

    @property
    def span(self) -> SourceSpan:
        """The token's place; at an end, the place just after what was written."""
        token, file = self.token, self.run.file
        if token is not None and token.text and token.type not in (END, "$END"):
            return token.span
        at = self.before.end if self.before else 0
        return SourceSpan(file, at, min(at + 1, len(file.text)))


def closest_keyword(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to a misspelt one, if any is close."""
    near = closest_name(word, known, 0.75 if len(word) > 3 else 0.8)
    similarity = SequenceMatcher(None, word.lower(), near.lower()).ratio()
    exchanged = sorted(word.lower()) == sorted(near.lower()) and len(word) > 2
    return near if near and (similarity >= LEAST_ALIKE or exchanged) else None


def rewriting_finding(
    message: str, span: SourceSpan, at: SourceSpan, new: str, *, safe: bool = False
) -> Diagnostic:
    """The finding at ``span`` whose fix puts ``new`` in the place of ``at``; ``safe`` where nothing else can
    be meant, so that `tdsl check --fix` applies it."""
    write = f"write `{new}`"
    return Diagnostic("E0001", message, span, help=write, fix=Fix(write, ((at, new),), safe=safe))


def found_words(s: Scene) -> str:
    """What stands at the fault, in words."""
    t = s.token
    if t is None or t.type == "$END" or (t.type == "RBRACE" and not t.text):
        return "found the end of the file" if t is None or t.type != "$END" else "found the end"
    if t.type == END:
        return "found `;`" if t.text == ";" else "found the end of the line"
    shown = t.text if len(t.text) <= 40 else t.text[:37] + "…"
    return f"found the string {shown}" if t.type == "STRING" else f"found `{shown}`"


def surrounding_block(s: Scene) -> str:
    """The first word of the statement in whose braces the fault is; "" at the top of a file."""
    tokens = s.run.tokens
    around = _open_braces.get(s.run.file)
    if around is None or len(around) != len(tokens) + 1:
        around = _open_braces[s.run.file] = _braces_around(tokens)
    brace = around[s.run.head]
    if brace < 0:
        return ""
    ends = (k for k in range(brace - 1, -1, -1) if tokens[k].type in (END, "LBRACE", "RBRACE"))
    return tokens[next(ends, -1) + 1].text


_open_braces: WeakKeyDictionary[SourceFile, list[int]] = WeakKeyDictionary()


def _braces_around(tokens: Sequence[Token]) -> list[int]:
    """For each token, and the end, the place of the brace in which it stands; -1 at the top of a file."""
    opened, around = [-1], [-1]
    for i, token in enumerate(tokens):
        if token.type == "LBRACE":
            opened.append(i)
        elif token.type == "RBRACE" and len(opened) > 1:
            opened.pop()
        around.append(opened[-1])
    return around
