"""Characters to tokens. The terminals are those of the grammar; words stay names here, the parser tells them
apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tdsl.findings.source import SourceFile, SourceSpan

if TYPE_CHECKING:
    from collections.abc import Iterable

END = "_END"
BAD = "BAD"
BAD_STRING = "BAD_STRING"
FAULT = "FAULT"
GROUPS, SOME_GROUPS = "(:[0-9A-Fa-f]{1,4})*", "(:[0-9A-Fa-f]{1,4}){0,15}"
"""The groups of an address after the first; of version 6 it has eight in all."""
MAX_DIGITS = 400
"""The longest number that is read as one."""


class Token:
    """A stretch of text and its terminal. ``node`` holds what was already built from it, if anything."""

    __slots__ = ("end", "file", "node", "start", "text", "type")

    def __init__(self, type: str, text: str, file: SourceFile, start: int, node: Any = None) -> None:
        self.type = type
        self.text = text
        self.file = file
        self.start = start
        self.end = start + len(text)
        self.node = node

    @property
    def span(self) -> SourceSpan:
        """Where it stands."""
        return SourceSpan(self.file, self.start, self.end)

    @property
    def newline(self) -> bool:
        """Whether it is the end of a line."""
        return self.type == END and self.text != ";"

    def __repr__(self) -> str:
        return f"Token({self.type}, {self.text!r}, {self.start})"


_JUNK = re.compile(r"'[^'\n]*'|[^\x00-\x7f]+|&&|\|\||.", re.DOTALL)
_REST_OF_LINE = re.compile(r'"[^\n]*')


class Scanner:
    """Cuts text into tokens. Never fails: what fits nothing becomes a ``BAD`` or ``BAD_STRING`` token."""

    def __init__(self, terminals: Iterable[tuple[str, str]]) -> None:
        """``terminals`` are names and regular expressions in order of preference. An address is looked for in
        some groups of digits: in ``1:1:1…`` without an end each would be begun anew at every group."""
        terminals = [(name, pattern.replace(GROUPS, SOME_GROUPS)) for name, pattern in terminals]
        self._match = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in terminals)).match

    def scan(self, file: SourceFile, start: int = 0, end: int | None = None) -> list[Token]:
        """All tokens of a stretch, comments included, blanks left out."""
        text = file.text
        stop = len(text) if end is None else end
        match = self._match
        out: list[Token] = []
        at = start
        while at < stop:
            if text[at] == " ":
                at += 1
                continue
            m = match(text, at, stop)
            if m is None:
                word = _JUNK if text[at] != '"' else _REST_OF_LINE
                m = word.match(text, at, stop)
                assert m is not None
                kind = BAD if word is _JUNK else BAD_STRING
                out.append(Token(kind, m[0].rstrip("\r") or m[0], file, at))
            elif m.lastgroup != "BLANK":
                out.append(Token(str(m.lastgroup), m[0], file, at))
            at = m.end()
        return out
