"""Changes of a faulty statement's text, tried on the grammar: a comment in another language's sign, a bracket
or a value that is left out, a `;` inside a statement, a title without its quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tdsl.findings.diagnostic import Diagnostic, Fix, Label
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import GRAMMAR_WORDS, KINDS, PATTERNS, STARTERS
from tdsl.syntax.repairs import LONGEST, is_whole, tokens_before_block
from tdsl.syntax.scanner import END, Token
from tdsl.syntax.scene import Scene, found_words, rewriting_finding

_COMMENT = re.compile(r"(?:(?<=\s)|(?<=[}\])\w]))(?://|--|/\*|<!--)\s*+(?=\w)")
"""Signs that begin a comment elsewhere, behind a statement."""
_TITLED = frozenset({"fabric", "cluster", "model", "job", *KINDS["group"]} - {"row"})
"""Words of statements that have a title between their name and their block."""
_OPENERS = {"RSQB": "[", "RPAR": "("}
_PLACEHOLDERS = (("NAME", "name_"), ("NUMBER", "1"), ("STRING", '"text"'))
"""A token of each kind that people leave out."""


def _line_end(s: Scene, at: int) -> int:
    end = s.run.file.text.find("\n", at)
    return end if end >= 0 else len(s.run.file.text)


def _comment_behind_statement(s: Scene) -> Diagnostic | None:
    """``switch leaf[8]: S  // a comment``."""
    t = s.token
    first = s.statement[0] if s.statement else t
    if t is None or first is None or t.type == END:
        return None
    text, end = s.run.file.text, _line_end(s, first.start)
    begin = s.before.start if s.before is not None and not s.statement else first.start
    for found in _COMMENT.finditer(text, begin, end):
        before = text[first.start : found.start()].rstrip()
        if found.start() > t.end or '"' in text[found.end() : end]:
            break
        if first.start < found.start() and not is_whole(s, before):
            continue
        sign = found[0].strip()
        said = text[found.end() : end].rstrip().removesuffix("*/").removesuffix("-->").strip()
        whole = SourceSpan(s.run.file, found.start(), len(text[:end].rstrip()))
        return Diagnostic(
            "E0001",
            f"`{sign}` does not begin a comment",
            SourceSpan(s.run.file, found.start(), found.start() + len(sign)),
            help=f"write `# {said}`",
            fix=Fix("make it a comment", ((whole, f"# {said}"),)),
        )
    return None


def _semicolon_inside_statement(s: Scene) -> Diagnostic | None:
    """``connect leaf; [*] to spine[*] spread`` and ``require reachability; and diameter <= 2``."""
    tokens, at = s.run.tokens, s.run.head if s.statement else s.i
    if at < 2 or tokens[at - 1].type != END or tokens[at - 1].text != ";":
        return None
    begin = at - 1
    while begin and tokens[begin - 1].type not in (END, "LBRACE", "RBRACE"):
        begin -= 1
    sign, rest = tokens[at - 1], tokens_before_block(s)
    if begin == at - 1 or not rest or (s.token is not None and s.token.text == ";"):
        return None
    text = s.run.file.text
    joined = text[tokens[begin].start : sign.start] + " " + text[sign.end : rest[-1].end]
    if "\n" in joined or not is_whole(s, joined):
        return None
    before, behind = tokens[begin].text, rest[0].text
    return Diagnostic(
        "E0001",
        f"`;` ends the statement that begins with `{before}`, and no statement begins with `{behind}`",
        sign.span,
        help="remove the `;`",
        fix=Fix("remove the `;`", ((sign.span, "" if text[sign.end : sign.end + 1] != "{" else " "),)),
    )


def _title_without_quotes(s: Scene) -> Diagnostic | None:
    """``model host NODE Eight GPUs {`` and ``fabric roce 512 H100: 64 x 400G {``."""
    words = 3 if s.first == "model" else 2
    if s.first not in _TITLED or len(s.statement) < words:
        return None
    name, text = s.statement[words - 1], s.run.file.text
    begin = s.statement[words].start if len(s.statement) > words else s.span.start
    line = text[begin : _line_end(s, begin)].partition("#")[0].rstrip()
    title = line.removesuffix("{").rstrip()
    if name.type != "NAME" or title == line or re.search(r"[\"{}\[=]|^:", title) or " " not in f"{title} ":
        return None
    if begin == name.end or not re.match(r"\w+(?: |$|[,:'-])", title) or title in GRAMMAR_WORDS:
        return None
    if not is_whole(s, f'{text[s.statement[0].start : name.end]} "title" {{ }}'):
        return None
    span = SourceSpan(s.run.file, begin, begin + len(title))
    return rewriting_finding("a title is written in double quotes", span, span, f'"{title}"')


def _bracket_left_out(s: Scene) -> Diagnostic | None:
    """``connect node[n.nic[r] to leaf[r]``, ``switch leaf8]: S`` and ``connect spine*] ring``."""
    tokens = tokens_before_block(s) if s.statement else []
    return bracket_left_out_of(s, tokens) if s.token is not None else None


def bracket_left_out_of(s: Scene, tokens: list[Token]) -> Diagnostic | None:
    """The finding of a bracket that is left out, or is of the other kind, in the tokens of a statement, with
    the place where it makes the statement whole; None where there is no such place."""
    if not 1 < len(tokens) <= LONGEST:
        return None
    opened: list[Token] = []
    for t in tokens:
        if t.type in ("LSQB", "LPAR"):
            opened.append(t)
        elif t.type in _OPENERS and not opened:
            return _opener_left_out(s, tokens, t)
        elif t.type in _OPENERS and _OPENERS[t.type] != opened[-1].text:
            return _bracket_of_other_kind(s, tokens, opened[-1], t) or _opener_left_out(s, tokens, t)
        elif t.type in _OPENERS:
            opened.pop()
    return _closer_left_out(s, tokens, opened[-1]) if opened else None


def _bracket_of_other_kind(s: Scene, tokens: list[Token], opener: Token, closer: Token) -> Diagnostic | None:
    """``leaf[8)`` and ``leaf[(i]``."""
    begin, end, text = tokens[0].start, tokens[-1].end, s.run.file.text
    sign = "]" if opener.type == "LSQB" else ")"
    if is_whole(s, f"{text[begin : closer.start]}{sign}{closer.text}{text[closer.end : end]}"):
        return _put_bracket(s, sign, closer.start, opener, f"this `{opener.text}` is not closed", "E0003")
    if not is_whole(s, f"{text[begin : closer.start]}{sign}{text[closer.end : end]}"):
        return None
    return Diagnostic(
        "E0003",
        f"`{opener.text}` is closed by `{closer.text}`",
        closer.span,
        (Label(opener.span, f"`{opener.text}` opens here"),),
        help=f"write `{sign}`",
        fix=Fix(f"write `{sign}`", ((closer.span, sign),), safe=False),
    )


def _opener_left_out(s: Scene, tokens: list[Token], stray: Token) -> Diagnostic | None:
    begin, end, text = tokens[0].start, tokens[-1].end, s.run.file.text
    sign = _OPENERS[stray.type]
    for at in _places_of_opener(s, tokens, stray):
        if is_whole(s, f"{text[begin:at]}{sign}{text[at:end]}"):
            return _put_bracket(s, sign, at, stray, f"this `{stray.text}` closes nothing", "E0005")
    return None


def _places_of_opener(s: Scene, tokens: list[Token], stray: Token) -> Iterator[int]:
    """Where the bracket that a `]` closes may have been: inside of a name behind one that the text knows or
    before its digits, before a value, and before all tokens in front of it."""
    names = {t.text for t in s.run.tokens if t.type == "NAME"}
    before = [t for t in tokens if t.start < stray.start and t.type not in ("COLON", "LBRACE")][::-1]
    for k, t in enumerate(before[:12]):
        if t.type == "NAME" and (k + 1 == len(before) or before[k + 1].end < t.start or k):
            stems = sorted((n for n in names if t.text != n and t.text.startswith(n)), key=len)
            yield from (t.start + len(n) for n in stems[-1:])
            if t.text[-1].isdigit() and not stems:
                yield t.start + len(t.text.rstrip("0123456789"))
        named = k + 1 < len(before) and before[k + 1].type == "NAME" and before[k + 1].text not in GRAMMAR_WORDS
        if named or stray.type == "RPAR":
            yield t.start


def _closer_left_out(s: Scene, tokens: list[Token], opener: Token) -> Diagnostic | None:
    begin, end, text = tokens[0].start, tokens[-1].end, s.run.file.text
    sign = "]" if opener.type == "LSQB" else ")"
    inside = [t for t in tokens if t.start > opener.start]
    for t in inside[:12]:
        if t.type in ("NAME", "NUMBER", "STAR", "RPAR", "RSQB", "QUANTITY", "QMARK", "DIMS") and is_whole(
            s, f"{text[begin : t.end]}{sign}{text[t.end : end]}"
        ):
            return _put_bracket(s, sign, t.end, opener, f"this `{opener.text}` is not closed", "E0003")
    return None


def _put_bracket(s: Scene, sign: str, at: int, of: Token, message: str, code: str) -> Diagnostic:
    text = s.run.file.text
    low, high = at, at
    while low and (text[low - 1].isalnum() or text[low - 1] in "_*[("):
        low -= 1
    while high < len(text) and (text[high].isalnum() or text[high] in "_*])."):
        high += 1
    return Diagnostic(
        code,
        message,
        of.span,
        help=f"write `{text[low:at]}{sign}{text[at:high].rstrip('.')}`",
        fix=Fix(f"put `{sign}`", ((SourceSpan(s.run.file, at, at), sign),), safe=False),
    )


def _value_left_out(s: Scene) -> Diagnostic | None:
    """``host filer: { role storage }``, ``connect a[i] to [i]`` and ``param : int = 4``."""
    t, b, tokens, at = s.token, s.before, tokens_before_block(s), len(s.statement)
    if t is None or b is None or not 0 < at <= len(tokens) <= LONGEST or b.text == t.text:
        return None
    if b.type == "NAME" and b.text not in GRAMMAR_WORDS or b.type in ("RSQB", "RPAR", "NUMBER"):
        return None
    if t.type == "NAME" and t.text not in GRAMMAR_WORDS | set(PATTERNS):
        return None
    kinds = [
        kind
        for kind, text in _PLACEHOLDERS
        if kind in s.expected
        and s.run.count_accepted([*tokens[:at], Token(kind, text, s.run.file, s.span.start), *tokens[at:]])
        > len(tokens) + 1
    ]
    if not kinds:
        return None
    what, example = _what_is_left_out(s, b, kinds)
    place = f"between `{b.text}` and `{t.text}`" if t.type != END and t.text else f"after `{b.text}`"
    return Diagnostic(
        "E0001", f"{what} is missing {place}", b.span.to(s.span) if t.text else b.span, help=f"write {example}"
    )


def _what_is_left_out(s: Scene, before: Token, kinds: list[str]) -> tuple[str, str]:
    """What is missing behind a token, and how it is written."""
    if before.text in STARTERS:
        return "a name", f"the name, such as `{before.text} a`" if before.text != "connect" else "a path"
    if before.type == "COLON" and s.first == "port":
        return "the rate", "a rate, such as `: 400Gbps`, or `: any`"
    if before.type == "COLON" and s.first in KINDS["device"]:
        return "the name of the model", "the name of a model, such as `: DGX_H100`"
    if before.text in ("to", "via"):
        return "a path", f"a path, such as `{before.text} leaf[*]`"
    if kinds == ["NAME"]:
        return "a name", "a name there"
    return "a value", f"a value behind `{before.text}`, or remove `{before.text}`"


TRIALS = (
    _comment_behind_statement,
    _semicolon_inside_statement,
    _title_without_quotes,
    _bracket_left_out,
)
"""What is tried first."""
LAST_TRIALS = (_value_left_out,)
"""What is tried before words are taken away."""
