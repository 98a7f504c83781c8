"""Wording of syntax errors: what was found, what could stand there, and what would mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from tdsl.diagnostic import Diagnostic, Fix
from tdsl.source import SourceFile, Span
from tdsl.syntax.characters import bad_character
from tdsl.syntax.keywords import GRAMMAR_WORDS, OPERATORS, PATTERNS, SETTINGS, STARTERS
from tdsl.syntax.scanner import BAD, BAD_STRING, END, FAULT, MAX_DIGITS, Token

VALUES = frozenset({"NUMBER", "QUANTITY", "PERCENT", "MONEY", "RATIO", "DIMS", "NET", "STRING"})
_OPERATORS = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "FLOOR", "MODULO", "POWER", "AND", "OR", "IN", "IF", "CMP", "RANGE"})
_SUFFIXES = frozenset({"DOT", "LPAR", "LSQB"})
_UNIT = re.compile(r"[kKMGTPE]?(bps|[bB]|W)|[KMGT]iB|[mnpu]?s|min|[kcm]?m|k?g|U|dB")


class Run(Protocol):
    """What the wording looks at in a parse that met a fault."""

    file: SourceFile
    tokens: list[Token]
    head: int

    def expected(self) -> set[str]:
        """Terminals that could stand at the fault."""
        ...

    def word(self, terminal: str) -> str:
        """A terminal as it is written."""
        ...


@dataclass(frozen=True, slots=True)
class _Scene:
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
    def span(self) -> Span:
        """The token's place; at an end, the place just after what was written."""
        token, file = self.token, self.run.file
        if token is not None and token.text and token.type not in (END, "$END"):
            return token.span
        at = self.before.end if self.before else 0
        return Span(file, at, min(at + 1, len(file.text)))


def explain(run: Run, i: int, token: Token | None) -> Diagnostic | None:
    """The finding for a token that cannot stand where it stands; None if the fault is reported already."""
    if token is not None:
        if token.type == FAULT:
            return token.node if isinstance(token.node, Diagnostic) else None
        if token.type == BAD_STRING:
            return Diagnostic(
                "E0007", "this string has no closing quote on its line", token.span,
                help='end it with `"`; a string stays on one line and cannot hold a quote',
            )  # fmt: skip
        if token.type == BAD:
            return bad_character(token, run.file.text)
        if len(token.text) > MAX_DIGITS and token.type in VALUES and token.type != "STRING":
            return Diagnostic(
                "E0014", f"a number of {len(token.text)} characters is too long to mean anything", token.span,
                help=f"numbers have at most {MAX_DIGITS} characters",
            )  # fmt: skip
    scene = _Scene(run, i, token, run.expected())
    for trial in (_stray, _comment, _misspelt, _equals, _point, _python, _blank_in_quantity, _missing_colon, _pattern, _joined):
        finding = trial(scene)
        if finding is not None:
            return finding
    return _plain(scene)


def ratio_for_range(token: Token) -> Diagnostic:
    """``[1:16]`` where a range is meant."""
    low, high = token.text.split(":")
    return Diagnostic(
        "E0013", f"`{token.text}` is a ratio, and no index or extent", token.span, help=f"a range is written `{low}..{high}`",
        fix=Fix("write a range", ((token.span, f"{low}..{high}"),)),
    )  # fmt: skip


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to a misspelt one, if any is close."""
    lowered = {k.lower(): k for k in sorted(known)}
    found = get_close_matches(word.lower(), lowered, 1, 0.75 if len(word) > 3 else 0.8)
    return lowered[found[0]] if found else None


# ---------------------------------------------------------------- faults with an answer of their own


def _stray(s: _Scene) -> Diagnostic | None:
    if s.token is None or s.token.type not in ("RPAR", "RSQB"):
        return None
    opener, depth = ("LPAR" if s.token.type == "RPAR" else "LSQB"), 0
    for t in s.statement:
        depth += (t.type == opener) - (t.type == s.token.type)
    if depth > 0:
        return None
    return Diagnostic("E0005", f"this `{s.token.text}` closes nothing", s.span, help="remove it, or open it before")


def _comment(s: _Scene) -> Diagnostic | None:
    if s.token is None or s.token.type != "FLOOR" or (s.statement and s.expected.isdisjoint({END})):
        return None
    return Diagnostic(
        "E0001", "`//` divides; it begins no comment", s.span, help="a comment begins with `#`",
        fix=Fix("make it a comment", ((s.span, "#"),)),
    )  # fmt: skip


def _misspelt(s: _Scene) -> Diagnostic | None:
    """The first word is no statement's but nearly one."""
    if not s.statement or s.statement[0].type != "NAME":
        return None
    first = s.statement[0]
    if first.text in GRAMMAR_WORDS or first.text in SETTINGS or len(first.text) < 3:
        return None
    guess = nearest(first.text, STARTERS)
    if guess is None:
        return None
    return Diagnostic(
        "E0002", f"`{first.text}` begins no statement; did you mean `{guess}`?", first.span, help=f"write `{guess}`",
        fix=Fix(f"write `{guess}`", ((first.span, guess),)),
    )  # fmt: skip


def _equals(s: _Scene) -> Diagnostic | None:
    if s.token is None:
        return None
    if s.token.type == "EQUAL" and s.before is not None and s.before.type == "COLON" and s.before.end == s.token.start:
        both = s.before.span.to(s.span)
        return Diagnostic(
            "E0001", "`:=` is no sign of the language", both, help="write `=`", fix=Fix("write `=`", ((both, "="),))
        )
    if s.token.type == "EQUAL" and s.statement and s.statement[0].type == "NAME":
        name = s.statement[0].text
        if len(s.statement) == 1:
            return Diagnostic(
                "E0001", f"`=` cannot follow `{name}`: a setting is a name and its value, side by side", s.span,
                help=f"write `{name} …`, or `let {name} = …` to name a value",
            )  # fmt: skip
        if "CMP" in s.expected:
            return Diagnostic(
                "E0001", "`=` gives a name to a value; it does not compare", s.span, help="write `==`",
                fix=Fix("compare with `==`", ((s.span, "=="),)),
            )  # fmt: skip
    if s.token.text == "==" and "EQUAL" in s.expected:
        return Diagnostic(
            "E0001", "`==` compares; a value is given with `=`", s.span, help="write `=`", fix=Fix("write `=`", ((s.span, "="),))
        )
    return None


def _point(s: _Scene) -> Diagnostic | None:
    """``1.`` or ``.5``."""
    t, b = s.token, s.before
    if t is None or t.type != "DOT":
        return None
    following = s.run.tokens[s.i + 1] if s.i + 1 < len(s.run.tokens) else None
    left = b is not None and b.type == "NUMBER" and b.end == t.start
    right = following is not None and following.type in VALUES and following.start == t.end
    if not left and not right:
        return None
    return Diagnostic("E0001", "a point needs a digit on both sides", s.span, help="write `0.5`, `1.0`, or `0..7` for a range")


def _python(s: _Scene) -> Diagnostic | None:
    if s.first != "def":
        return None
    words = {t.text for t in s.run.tokens[s.run.head : s.i + 3] if t.type == "NAME"}
    if "return" in words or (s.token is not None and s.token.type in ("LBRACE", END) and "EQUAL" in s.expected):
        return Diagnostic(
            "E0001", f"the body of a `def` is one expression after `=`, {_found(s)} here", s.span,
            help="write it as `def f(n: int): int = n + 1`",
        )  # fmt: skip
    return None


def _blank_in_quantity(s: _Scene) -> Diagnostic | None:
    t, b = s.token, s.before
    if t is None or b is None or t.type != "NAME" or b.type != "NUMBER" or not _UNIT.fullmatch(t.text):
        return None
    return Diagnostic(
        "E0001", f"a number and its unit touch: `{t.text}` stands alone here", s.span, help=f"write `{b.text}{t.text}`",
        fix=Fix("join number and unit", ((Span(s.run.file, b.end, t.start), ""),)),
    )  # fmt: skip


def _missing_colon(s: _Scene) -> Diagnostic | None:
    t, b = s.token, s.before
    if t is None or b is None or "COLON" not in s.expected or t.type not in ("NAME", "QUANTITY"):
        return None
    if not s.expected & {"LBRACE", "EQUAL"}:
        return None
    what = "type" if "EQUAL" in s.expected else "rate" if t.type == "QUANTITY" else "model"
    return Diagnostic(
        "E0001", f"a `:` is missing before the {what} `{t.text}`", s.span, help=f"write `: {t.text}`",
        fix=Fix("put a `:`", ((Span(s.run.file, b.end, b.end), ":"),)),
    )  # fmt: skip


def _pattern(s: _Scene) -> Diagnostic | None:
    """``connect a too b``: the parser took ``too`` for a pattern, the reader sees a slip for ``to``."""
    b = s.before
    if s.first not in ("connect", "circuit") or b is None or b.type != "NAME" or b.text in GRAMMAR_WORDS or b.text in PATTERNS:
        return None
    if len(s.statement) < 3 or s.statement[-2].type not in ("NAME", "RSQB") or s.token is None:
        return None
    linked = any(t.text == "to" for t in s.statement)
    guess = nearest(b.text, (*PATTERNS, "via", "where") if linked else (*PATTERNS, "via", "where", "to"))
    wanted = "a pattern or the end of the line" if linked else "`to`, a pattern or the end of the line"
    return Diagnostic(
        "E0001", f"expected {wanted}, found `{b.text}`", b.span,
        help=f"did you mean `{guess}`?" if guess else f"patterns are {', '.join(PATTERNS)}",
        fix=Fix(f"write `{guess}`", ((b.span, guess),)) if guess else None,
    )  # fmt: skip


def _joined(s: _Scene) -> Diagnostic | None:
    """Another statement after a block, on the same line."""
    if s.token is None or s.before is None or s.before.type != "RBRACE" or s.token.type != "NAME" or s.token.text not in STARTERS:
        return None
    return Diagnostic(
        "E0001", f"a statement ends before the next begins: nothing separates `}}` and `{s.token.text}`", s.span,
        help="begin a new line or put `;` between them",
        fix=Fix("put `;`", ((Span(s.run.file, s.before.end, s.before.end), ";"),)),
    )  # fmt: skip


# ---------------------------------------------------------------- all others


def _plain(s: _Scene) -> Diagnostic:
    if not s.statement and s.token is not None:
        return Diagnostic(
            "E0001", f"a statement begins with a word, {_found(s)}", s.span,
            help="begin with a word such as `host`, `connect`, `let` or `require`, or join it to the line before",
        )  # fmt: skip
    choices = _choices(s)
    help, fix = "", None
    if s.token is not None and s.token.type == "NAME":
        guess = nearest(s.token.text, [w for w in (s.run.word(t) for t in s.expected) if w.isidentifier()])
        if guess and guess != s.token.text:
            help, fix = f"did you mean `{guess}`?", Fix(f"write `{guess}`", ((s.span, guess),))
    if not help and END not in s.expected and len(choices) <= 2:
        help = f"put {choices[0]} here"
    elif not help and END in s.expected and s.token is not None and s.token.type not in (END, "RBRACE"):
        help = "remove it, or end the statement before it with a new line or `;`"
    listed = _list(choices)
    return Diagnostic("E0001", f"expected {listed}, {_found(s)}", s.span, help=help, fix=fix)


def _found(s: _Scene) -> str:
    t = s.token
    if t is None or t.type == "$END" or (t.type == "RBRACE" and not t.text):
        return "found the end of the file" if t is None or t.type != "$END" else "found the end"
    if t.type == END:
        return "found `;`" if t.text == ";" else "found the end of the line"
    shown = t.text if len(t.text) <= 40 else t.text[:37] + "…"
    return f"found the string {shown}" if t.type == "STRING" else f"found `{shown}`"


def _choices(s: _Scene) -> list[str]:
    """What could stand there, in words, the likeliest first."""
    left = set(s.expected) - {"BROKEN", "$END"}
    out: list[str] = []
    inside = [t.type for t in s.statement]
    opened = [c for o, c in (("LPAR", "RPAR"), ("LSQB", "RSQB")) if inside.count(o) > inside.count(c)]
    if {"NUMBER", "NAME"} <= left:
        out.append("a value")
        left -= VALUES | {"NAME", "MINUS", "NOT", "LPAR", "LSQB", "QMARK"}
    elif "NAME" in left:
        out.append("a pattern" if s.first in ("connect", "circuit") and "VIA" in left else "a name")
        left.discard("NAME")
    hidden = (*OPERATORS, "if") if "PLUS" in left else ()
    words = sorted(w for w in (s.run.word(t) for t in left) if w.isidentifier() and w not in hidden)
    if len(words) <= 6:
        out += [f"`{w}`" for w in words]
    elif "host" in words:
        out.append("a kind such as `host`")
    out += [f"`{s.run.word(c)}`" for c in opened if c in left]
    for sign in ("COLON", "EQUAL", "LBRACE", "COMMA", "RANGE"):
        if sign in left:
            out.append(f"`{s.run.word(sign)}`")
    if "STRING" in left:
        out.append("a string")
    if left & {"PLUS", "STAR", "CMP"}:
        out.append("an operator")
    if not out or (len(out) < 3 and not left & _OPERATORS):
        out += [f"`{s.run.word(t)}`" for t in sorted(left & (_SUFFIXES - {"LPAR"}))]
    if END in left:
        out.append("the end of the line")
    return out or ["something else"]


def _list(words: list[str]) -> str:
    if len(words) > 6:
        words = [*words[:5], words[-1]]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
