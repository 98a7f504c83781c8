"""Brackets that are left out, written twice or of another kind, with the place where one makes the statement
whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tdsl.findings.diagnostic import Diagnostic, Fix, Label
from tdsl.findings.source import SourceSpan
from tdsl.syntax.keywords import GRAMMAR_WORDS, KIND_WORDS
from tdsl.syntax.repairs import LONGEST, gap_without, is_whole_with, tokens_before_block
from tdsl.syntax.scanner import END, FAULT, Token
from tdsl.syntax.scene import VALUES, Scene

_FUNCTIONS = "len|sum|min|max|product|sort|primes"
_OPENERS = {"RSQB": "[", "RPAR": "("}
_ENDS_INDEX = frozenset({"NAME", "NUMBER", "STAR", "RPAR", "RSQB", "QUANTITY", "QMARK", "DIMS"})


def bracket_left_out(s: Scene) -> Diagnostic | None:
    """The finding of ``connect node[n.nic[r] to leaf[r]``, ``switch leaf8]: S`` or ``connect spine*] ring``;
    None of other faults."""
    tokens = tokens_before_block(s) if s.statement else []
    behind = s.run.tokens[s.i + len(s.rest) :]
    if behind and behind[0].type == FAULT:  # a fault of brackets, which hides what follows
        ends = (k for k, t in enumerate(behind) if t.type in (END, "RBRACE", "$END"))
        tokens += [t for t in behind[: next(ends, len(behind))] if t.type != FAULT]
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
    if opened:
        return _opener_written_twice(s, tokens) or _closer_left_out(s, tokens, opened[-1])
    return _brace_in_brackets(s, tokens)


def _opener_written_twice(s: Scene, tokens: list[Token]) -> Diagnostic | None:
    """``far[[k]``."""
    for a, b in pairwise(tokens):
        if a.type == b.type == "LSQB" and a.end == b.start:
            found = _bracket_removed(s, tokens, b, "`[` is written twice", "E0003")
            if found is not None:
                return found
    return None


def _brace_in_brackets(s: Scene, tokens: list[Token]) -> Diagnostic | None:
    """``plane[{p].leaf``."""
    opened = ""
    for t in tokens:
        opened = t.text if t.type in ("LSQB", "LPAR") else "" if t.type in _OPENERS else opened
        if t.type == "LBRACE" and opened:
            return _bracket_removed(s, tokens, t, f"`{{` cannot be inside of `{opened}`", "E0005")
    return None


def _bracket_of_other_kind(s: Scene, tokens: list[Token], opener: Token, closer: Token) -> Diagnostic | None:
    """``leaf[8)`` and ``leaf[(i]``."""
    text = s.run.file.text
    sign = "]" if opener.type == "LSQB" else ")"
    other = _OPENERS[closer.type]
    before = text[: opener.start]
    called = other == "(" and re.search(rf"\b(?:{_FUNCTIONS})$", before) is not None
    indexed = other == "[" and text[opener.start - 1].isalnum()
    if (indexed or called) and is_whole_with(s, tokens, opener.span, other):
        label = Label(closer.span, f"`{closer.text}` closes it here")
        return _exchange_bracket(opener, closer, opener.span, label, other)
    if is_whole_with(s, tokens, closer.span, sign + closer.text):
        at, message = closer.start, f"this `{opener.text}` is not closed"
        if sign == ")":
            at = _ends_of_term([t for t in tokens if opener.end <= t.start < closer.start])[0].end
        return _put_bracket(s, sign, at, opener, message, "E0003")
    if not is_whole_with(s, tokens, closer.span, sign):
        return None
    label = Label(opener.span, f"`{opener.text}` opens here")
    return _exchange_bracket(opener, closer, closer.span, label, sign)


def _exchange_bracket(opener: Token, closer: Token, at: SourceSpan, label: Label, new: str) -> Diagnostic:
    """The finding of a bracket that one of the other kind closes; its edit puts ``new`` at ``at``."""
    message, write = f"`{opener.text}` is closed by `{closer.text}`", f"write `{new}`"
    return Diagnostic("E0003", message, at, (label,), help=write, fix=Fix(write, ((at, new),), safe=False))


def _opener_left_out(s: Scene, tokens: list[Token], stray: Token) -> Diagnostic | None:
    sign, message = _OPENERS[stray.type], f"this `{stray.text}` closes nothing"
    at = next((t for t in reversed(tokens) if t.start < stray.start), None)
    doubled = at is not None and at.type in ("RSQB", "RPAR", "LSQB", "LPAR")
    removed = _bracket_removed(s, tokens, stray, message, "E0005")
    if doubled and removed is not None:
        return removed
    angle = next((b for a, b in pairwise(tokens) if b.text == "<" and a.end == b.start < stray.start), None)
    if angle is not None and is_whole_with(s, tokens, angle.span, sign):
        new = f"write `{sign}`"
        return Diagnostic(
            "E0005", message, angle.span, help=new, fix=Fix(new, ((angle.span, sign),), safe=False)
        )
    for place in _places_of_opener(tokens, stray, {t.text for t in s.run.tokens if t.type == "NAME"}):
        if is_whole_with(s, tokens, SourceSpan(s.run.file, place, place), sign):
            return _put_bracket(s, sign, place, stray, message, "E0005")
    return removed


def _places_of_opener(tokens: list[Token], stray: Token, names: set[str]) -> Iterator[int]:
    """Where the bracket that a `]` closes may have been: inside of the name before it, behind a part that the
    text knows or before an index that it knows; before digits; before a value behind a name."""
    before = [t for t in tokens if t.start < stray.start][::-1]
    for k, t in enumerate(before[:12]):
        if t.type in ("COLON", "LBRACE", "LSQB", "LPAR") or t.text in GRAMMAR_WORDS:
            break
        if t.type == "NAME":
            yield from (t.start + n for n in _places_in_name(t.text, names, nearest=not k))
        named = (
            k + 1 < len(before) and before[k + 1].type == "NAME" and before[k + 1].text not in GRAMMAR_WORDS
        )
        if named or (
            stray.type == "RPAR" and before[k + 1 : k + 2] and before[k + 1].type not in ("NAME", "RSQB")
        ):
            yield t.start


def _places_in_name(name: str, names: set[str], nearest: bool) -> list[int]:
    """How many letters of a name may stand before its bracket, the likeliest first; what is behind is only
    looked for in the name that is nearest to the `]`."""
    known = [n for n in range(1, len(name)) if name[:n] in names or (nearest and name[n:] in names)]
    digits = len(name.rstrip("0123456789"))
    return known[::-1] or [digits] * (0 < digits < len(name))


def _closer_left_out(s: Scene, tokens: list[Token], opener: Token) -> Diagnostic | None:
    """``leaf[8``: nothing closes a bracket."""
    at, message = tokens.index(opener), f"this `{opener.text}` is not closed"
    removed = _bracket_removed(s, tokens, opener, message, "E0003")
    if removed is not None and _is_opener_too_many(tokens, at):
        return removed
    return (
        _bracket_for_block(s, tokens, at)
        or _brace_in_brackets(s, tokens)
        or _closer_put(s, tokens, at, message)
        or removed
    )


def _is_opener_too_many(tokens: list[Token], at: int) -> bool:
    """Whether a bracket that nothing closes is at a place where none belongs."""
    opener, before, following = tokens[at], tokens[max(at - 1, 0)], tokens[at + 1 : at + 2]
    kind = following[0].type if following else ""
    if kind in ("LSQB", "LPAR", "LBRACE", "DOT"):
        return True
    text = opener.span.file.text
    if following and following[0].start == opener.end and text[opener.start - 1] in "[(":
        return True
    if text[opener.end : opener.end + 1] == " " != text[opener.start - 1]:  # `batch[ 256`
        return True
    if tokens[0].text == "param" and before.type in ("EQUAL", "CMP", "COLON"):
        return True
    if opener.type != "LPAR":
        return False
    return (at == 1 and kind == "NAME") or (before.type == "COLON" and tokens[0].text in KIND_WORDS)


def _closer_put(s: Scene, tokens: list[Token], at: int, message: str) -> Diagnostic | None:
    """The bracket that closes another put behind the first token after which the statement is whole with it;
    of a `)`, behind the last."""
    opener, inside = tokens[at], tokens[at + 1 : at + 13]
    apart = [a for a, b in pairwise(inside) if a.type in VALUES and b.type in VALUES]  # `p[1..8 2`
    sign, ends = ("]", [*apart, *inside]) if opener.type == "LSQB" else (")", _ends_of_term(inside))
    for t in ends:
        if t.type in _ENDS_INDEX and is_whole_with(s, tokens, SourceSpan(s.run.file, t.end, t.end), sign):
            return _put_bracket(s, sign, t.end, opener, message, "E0003")
    return None


def _ends_of_term(inside: list[Token]) -> list[Token]:
    """The tokens behind which a `)` may be, the likeliest first: the last one, but the end of a sum where
    the sum is multiplied or divided, `(i - 1 % 4`."""
    kinds = [t.type for t in inside]
    sums = [k for k, kind in enumerate(kinds) if kind in ("PLUS", "MINUS")]
    behind = [k for k, kind in enumerate(kinds) if kind in ("MODULO", "FLOOR") and sums and k > sums[0]]
    return [*([inside[behind[0] - 1]] if behind else []), *inside[::-1]]


def _bracket_for_block(s: Scene, tokens: list[Token], at: int) -> Diagnostic | None:
    """``group su(``: a block that `(` opens."""
    opener = tokens[at]
    if opener.type != "LPAR" or at + 1 < len(tokens) or tokens[0].text not in KIND_WORDS:
        return None
    if not is_whole_with(s, tokens, opener.span, "{ }"):
        return None
    message, write = "a block begins with `{`, not with `(`", "write `{`"
    fix = Fix(write, ((opener.span, "{"),), safe=False)
    return Diagnostic("E0003", message, opener.span, help=write, fix=fix)


def _bracket_removed(
    s: Scene, tokens: list[Token], bracket: Token, message: str, code: str
) -> Diagnostic | None:
    """The finding of a bracket without which the statement is whole, with a blank between two words that it
    was between; None where it is not."""
    at = bracket.span
    gap = next((g for g in (gap_without(at), "") if is_whole_with(s, tokens, at, g)), None)
    if gap is None:
        return None
    remove = f"remove `{bracket.text}`"
    other = f", or close it with `{']' if bracket.text == '[' else ')'}`" if code == "E0003" else ""
    fix = Fix(remove, ((at, gap),), safe=False)
    return Diagnostic(code, message, at, help=remove + other, fix=fix)


def _put_bracket(s: Scene, sign: str, at: int, of: Token, message: str, code: str) -> Diagnostic:
    text = s.run.file.text
    low, high = at, at
    while low and (text[low - 1].isalnum() or text[low - 1] in "_*[("):
        low -= 1
    while high < len(text) and (text[high].isalnum() or text[high] in "_*])."):
        high += 1
    other = f", or remove the `{of.text}`" if code == "E0005" else ""
    if code == "E0005" and sign == "(":  # it may open before any of the operands
        return Diagnostic(code, message, of.span, help=f"write `(` before what it closes{other}")
    return Diagnostic(
        code,
        message,
        of.span,
        help=f"write `{text[low:at]}{sign}{text[at:high].rstrip('.')}`{other}",
        fix=Fix(f"put `{sign}`", ((SourceSpan(s.run.file, at, at), sign),), safe=False),
    )
