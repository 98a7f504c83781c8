"""Colours of .fab for Pygments (https://pygments.org), which Sphinx, MkDocs, Jupyter and minted use: the
lexer ``fab``, made of the rules of the TextMate grammar.

Pygments finds it by the entry point that this package has. Nothing in tdsl needs Pygments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, include
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

from tdsl.ide.textmate import textmate_grammar

__all__ = ["FabLexer"]

TOKENS: tuple[tuple[str, Any], ...] = (
    ("comment", Comment.Single),
    ("string", String.Double),
    ("invalid", Error),
    ("constant.numeric", Number),
    ("keyword.operator.word", Operator.Word),
    ("keyword.operator", Operator),
    ("keyword.declaration", Keyword.Declaration),
    ("keyword", Keyword),
    ("storage.type", Keyword.Type),
    ("support.type.property-name", Name.Attribute),
    ("support.function", Name.Builtin),
    ("entity.name.type", Name.Class),
    ("entity.name", Name.Variable),
    ("variable.other.member", Name.Property),
    ("variable", Name),
    ("punctuation", Punctuation),
)
"""Scopes by their beginning, the first that fits, and the token of Pygments."""


def token_of_scope(scope: str) -> Any:
    """The token of Pygments for a scope of TextMate, such as ``keyword.control.fab``."""
    return next((token for begin, token in TOKENS if scope.startswith(begin)), Text)


def _tokens_of_groups(captures: dict[str, Any]) -> Callable[..., Iterator[tuple[int, Any, str]]]:
    """What yields each group of a match with its token, and what is between them as plain text."""
    wanted = {int(number): token_of_scope(c["name"]) for number, c in captures.items() if int(number)}

    def tokens(_: Any, match: re.Match[str], ctx: Any = None) -> Iterator[tuple[int, Any, str]]:
        at = match.start()
        for number, token in sorted(wanted.items()):
            start, end = match.span(number)
            if start < 0:
                continue
            if at < start:
                yield at, Whitespace, match.string[at:start]
            yield start, token, match.string[start:end]
            at = end
        if at < match.end():
            yield at, Whitespace, match.string[at : match.end()]
        if ctx is not None:
            ctx.pos = match.end()

    return tokens


def lexer_rules() -> dict[str, list[Any]]:
    """The states of the lexer, by name; "root" is the first."""
    rules: list[Any] = []
    names: list[Any] = []
    states: dict[str, list[Any]] = {}
    for rule in textmate_grammar()["patterns"]:
        if "begin" in rule:
            states["use"] = [
                (rule["end"], Punctuation, "#pop"),
                *((p["match"], token_of_scope(p["name"])) for p in rule["patterns"] if "match" in p),
                include("root"),
            ]
            names.append((rule["begin"], _tokens_of_groups(rule["beginCaptures"]), "use"))
            continue
        scope = rule.get("name", "")
        token = token_of_scope(scope) if scope else _tokens_of_groups(rule["captures"])
        # What may begin with blanks goes before the rule that takes blanks alone.
        (names if rule["match"].startswith("(?:^") else rules).append((rule["match"], token))
    states["root"] = [*names, (r"\n|[ \t\r\f]+", Whitespace), *rules]
    return states


class FabLexer(RegexLexer):  # type: ignore[misc]
    """Designs of tdsl."""

    name = "tdsl design"
    aliases: ClassVar[list[str]] = ["fab"]
    filenames: ClassVar[list[str]] = ["*.fab"]
    mimetypes: ClassVar[list[str]] = []
    flags = re.MULTILINE

    @classmethod
    def get_tokendefs(cls) -> dict[str, list[Any]]:
        """The states, which Pygments asks for with the first lexer: importing this reads no grammar."""
        return lexer_rules()
