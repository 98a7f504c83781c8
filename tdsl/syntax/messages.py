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
from tdsl.syntax.keywords import GRAMMAR_WORDS, KIND_WORDS, OPERATORS, PATTERNS, SETTINGS, STARTERS, TYPES
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
    def rest(self) -> list[Token]:
        """The statement's tokens from the fault on, blocks included."""
        out: list[Token] = []
        depth = 0
        for token in self.run.tokens[self.i :]:
            depth += (token.type == "LBRACE") - (token.type == "RBRACE")
            if depth < 0 or token.type in (END, "$END", FAULT):
                break
            out.append(token)
        return out

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
    for trial in _TRIALS:
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


def _setting(s: _Scene) -> Diagnostic | None:
    """``rate: 100Gbps``."""
    t, b = s.token, s.before
    if t is None or b is None or t.type != "COLON" or len(s.statement) != 1 or b.type != "NAME" or b.text in STARTERS | {"else"}:
        return None
    value = s.rest[1].text if len(s.rest) > 1 and len(s.rest[1].text) <= 40 else "…"
    touching = s.run.file.text[t.end : t.end + 1].strip()
    return Diagnostic(
        "E0001", f"expected a value, found `:` after `{b.text}`", s.span, help=f"a setting has no `:`; write `{b.text} {value}`",
        fix=Fix("remove the `:`", ((Span(s.run.file, b.end, t.end), " " if touching else ""),)),
    )  # fmt: skip


def _ratio(s: _Scene) -> Diagnostic | None:
    """``2 : 1``."""
    t, b, following = s.token, s.before, s.rest[1:2]
    if t is None or b is None or t.type != "COLON" or b.type != "NUMBER" or not following or following[0].type != "NUMBER":
        return None
    low, high = b.text, following[0].text
    all_three = b.span.to(following[0].span)
    opening = s.statement[-3:-1]
    if len(opening) == 2 and opening[1].type == "LSQB" and opening[0].type == "NAME" and opening[0].end == opening[1].start:
        return Diagnostic(
            "E0013", f"`{all_three.text}` is no index or extent", all_three, help=f"a range is written `{low}..{high}`",
            fix=Fix("write a range", ((all_three, f"{low}..{high}"),)),
        )  # fmt: skip
    return Diagnostic(
        "E0001", f"`:` stands alone between `{low}` and `{high}`", s.span, help=f"a ratio is written touching: `{low}:{high}`",
        fix=Fix("write a ratio", ((all_three, f"{low}:{high}"),)),
    )  # fmt: skip


def _declaration(s: _Scene) -> Diagnostic | None:
    """``switch a = S`` and ``switch a, b: S``."""
    t = s.token
    if t is None or s.first not in KIND_WORDS | {"override"} or len(s.statement) < 2 or s.statement[1].type != "NAME":
        return None
    if t.type == "EQUAL" and "COLON" in s.expected:
        what = "rate" if s.first == "port" else "model"
        return Diagnostic(
            "E0001", "expected `:`, found `=`: `=` gives a name to a value in `let` and `param`", s.span,
            help=f"write `:` before the {what}", fix=Fix("write `:`", ((s.span, ":"),)),
        )  # fmt: skip
    kinds = [x.type for x in s.statement]
    more = t.type == "COMMA" and [x.type for x in s.rest[1:2]] == ["NAME"]
    if not more and not (t.type == "COLON" and "COMMA" in kinds and "COLON" not in kinds):
        return None
    if END not in s.expected or s.first == "override":
        return None
    return Diagnostic(
        "E0001", f"a `{s.first}` statement declares one name, {_found(s)}", s.span,
        help=f"write a statement for each, on lines of their own: `{s.first} {s.statement[1].text} …`",
    )  # fmt: skip


def _typed(s: _Scene) -> Diagnostic | None:
    """``let n: 4``: a value where its type would stand."""
    words = s.statement
    if s.first not in ("let", "param") or not 3 <= len(words) <= 4 or words[2].type != "COLON":
        return None
    value = [*words[3:], *s.rest]
    if not value or any(t.type == "EQUAL" for t in value) or value[0].text in TYPES:
        return None
    text = Span(s.run.file, value[0].start, value[-1].end).text
    text = text if len(text) <= 40 and "\n" not in text else "…"
    put = " =" if value[0].start > words[2].end else " = "
    return Diagnostic(
        "E0001", f"`:` gives the type of `{words[1].text}`; its value stands behind `=`", words[2].span,
        help=f"write `{s.first} {words[1].text} = {text}`",
        fix=Fix("write `=`", ((Span(s.run.file, words[1].end, words[2].end), put),)),
    )  # fmt: skip


def _unquoted(s: _Scene) -> Diagnostic | None:
    """``naming a[i] x{i}``."""
    t = s.token
    if s.first != "naming" or t is None or "STRING" not in s.expected or t.type not in ("NAME", "NUMBER", "QUANTITY", "LBRACE"):
        return None
    if t.text == "where" or (t.type == "LBRACE" and len(s.statement) == 2):  # the string, or the path, is missing
        return None
    rest = s.rest
    if t.type != "LBRACE":
        guard = (i for i, x in enumerate(rest) if x.text == "where")
        rest = rest[: next(guard, len(rest))]
    whole = Span(s.run.file, t.start, rest[-1].end)
    if '"' in whole.text or "\n" in whole.text:
        return None
    return Diagnostic(
        "E0001", f"expected a string, found `{whole.text}`", whole, help=f'put it in double quotes: `"{whole.text}"`',
        fix=Fix("put it in double quotes", ((whole, f'"{whole.text}"'),)),
    )  # fmt: skip


def _dangling(s: _Scene) -> Diagnostic | None:
    """``n > 0 and`` at the end of a line."""
    t, b = s.token, s.before
    if b is None or not s.statement or "NAME" not in s.expected:
        return None
    if t is not None and t.type not in (END, "$END", "LBRACE", "RBRACE"):
        return None
    if b.text not in OPERATORS and b.type not in _OPERATORS:
        return None
    help = f"write a value after `{b.text}`" + ("" if b.type == "RANGE" else ", or remove it")
    if b.text in ("and", "or") and t is not None and t.newline:
        help += f"; a line that begins with `{b.text}` continues the one before"
    return Diagnostic("E0001", f"expected a value after `{b.text}`, {_found(s)}", b.span, help=help)


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


def _arrow(s: _Scene) -> Diagnostic | None:
    """``connect a -> b``."""
    t = s.token
    if s.first not in ("connect", "circuit") or t is None or "TO" not in s.expected:
        return None
    signs: list[Token] = []
    for x in s.rest:
        if x.type not in ("MINUS", "CMP", "EQUAL") or (signs and signs[-1].end != x.start):
            break
        signs.append(x)
    if not signs:
        return None
    arrow = t.span.to(signs[-1].span)
    return Diagnostic("E0001", f"`{arrow.text}` joins no ends", arrow, help="write `to`", fix=Fix("write `to`", ((arrow, "to"),)))


def _pattern(s: _Scene) -> Diagnostic | None:
    """``connect a too b``: the parser took ``too`` for a pattern, the reader sees a slip for ``to``."""
    b = s.before
    if s.first not in ("connect", "circuit") or b is None or b.type != "NAME" or b.text in GRAMMAR_WORDS or b.text in PATTERNS:
        return None
    if len(s.statement) < 3 or s.statement[-2].type not in ("NAME", "RSQB") or s.token is None:
        return None
    linked = any(t.text == "to" for t in s.statement)
    guess = nearest(b.text, (*PATTERNS, "via", "where") if linked else (*PATTERNS, "via", "where", "to"))
    if s.token.type in ("LSQB", "DOT", "COMMA") or (guess is None and s.token.text in (*PATTERNS, "to") and not linked):
        return _second_path(s, b, linked or any(t.text == "to" for t in s.rest))
    wanted = "a pattern or the end of the line" if linked else "`to`, a pattern or the end of the line"
    return Diagnostic(
        "E0001", f"expected {wanted}, found `{b.text}`", b.span,
        help=f"did you mean `{guess}`?" if guess else f"patterns are {', '.join(PATTERNS)}",
        fix=Fix(f"write `{guess}`", ((b.span, guess),)) if guess else None,
    )  # fmt: skip


def _second_path(s: _Scene, path: Token, listed: bool) -> Diagnostic:
    """``connect a[*] b[*]``: two paths with nothing between."""
    sign = "," if listed else "to"
    at, put = (s.statement[-2].end, sign) if listed else (path.start, f"{sign} ")
    return Diagnostic(
        "E0001", f"nothing joins `{path.text}` to the path before it", path.span, help=f"write `{sign}` before `{path.text}`",
        fix=Fix(f"put `{sign}`", ((Span(s.run.file, at, at), put),)),
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


_TRIALS = (
    _stray, _comment, _setting, _ratio, _typed, _unquoted, _misspelt, _declaration, _equals, _point, _python, _blank_in_quantity,
    _missing_colon, _arrow, _pattern, _joined, _dangling,
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
