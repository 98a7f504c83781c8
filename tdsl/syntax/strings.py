"""Strings and what stands in braces inside them."""

from __future__ import annotations

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceSpan
from tdsl.syntax import tree
from tdsl.syntax.scanner import Token

_OPEN = "([{"
_SHUT = ")]}"


def parse_string_token(token: Token, diagnostics: Diagnostics) -> tree.Str:
    """The parts of a string's token. A bad placeholder is one finding, and is kept as the text it is."""
    text, base = token.file.text, token.start
    parts: list[str | tree.Placeholder] = []
    plain: list[str] = []
    at, stop = base + 1, token.end - 1
    while at < stop:
        c = text[at]
        if c in "{}" and text[at + 1 : at + 2] == c and at + 1 < stop:
            plain.append(c)
            at += 2
        elif c == "{":
            end = _placeholder_end(text, at, stop)
            hole = _parse_placeholder(token, at, end, diagnostics)
            if hole is None:
                plain.append(text[at : end or stop])
            else:
                if plain:
                    parts.append("".join(plain))
                    plain = []
                parts.append(hole)
            at = end or stop
        else:
            if c == "}":
                diagnostics.add(
                    "E0008",
                    SourceSpan(token.file, at, at + 1),
                    "this `}` closes no placeholder",
                    help="write `}}` for a brace in the text",
                )
                return tree.Str((text[base + 1 : stop],), token.span)
            plain.append(c)
            at += 1
    if plain:
        parts.append("".join(plain))
    return tree.Str(tuple(parts), token.span)


def _placeholder_end(text: str, at: int, stop: int) -> int:
    """The offset after the brace that closes the one at ``at``; 0 if none does."""
    depth = 0
    for i in range(at, stop):
        if text[i] in _OPEN:
            depth += 1
        elif text[i] in _SHUT:
            depth -= 1
            if not depth:
                return i + 1 if text[i] == "}" else 0
    return 0


def _parse_placeholder(token: Token, at: int, end: int, diagnostics: Diagnostics) -> tree.Placeholder | None:
    from tdsl.syntax.parser import parse_part

    file, text = token.file, token.file.text
    if not end:
        diagnostics.add(
            "E0008",
            SourceSpan(file, at, at + 1),
            "this placeholder is never closed",
            help="close it with `}`, or write `{{` for a brace in the text",
        )
        return None
    colon, depth = end - 1, 0
    for i in range(at + 1, end - 1):
        depth += (text[i] in _OPEN) - (text[i] in _SHUT)
        if text[i] == ":" and not depth:
            colon = i
            break
    if not text[at + 1 : colon].strip():
        diagnostics.add(
            "E0008",
            SourceSpan(file, at, end),
            "this placeholder is empty",
            help="put a value in it such as `{i}`, or write `{{}}` for two braces in the text",
        )
        return None
    found = Diagnostics()
    value = parse_part(file, at + 1, colon, found)
    if value is None:
        first = found.items[0]
        diagnostics.add("E0008", first.span, f"bad placeholder: {first.message}", help=first.help)
        return None
    return tree.Placeholder(value, text[colon + 1 : end - 1], SourceSpan(file, at, end))
