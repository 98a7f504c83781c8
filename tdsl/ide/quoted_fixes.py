"""Fixes made of what the help of a finding has in backquotes: put where it may belong, and kept where the
design then compiles without the finding, and without a new one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tdsl.findings.diagnostic import Diagnostic, Fix
from tdsl.findings.source import SourceSpan

Recompile = Callable[[str], Sequence[Diagnostic] | None]
"""The findings of a text in the place of the file's, before any proof; None where it cannot be compiled."""

MOST = 6
"""Places in which the words of one help are tried."""

_QUOTED = re.compile(r"`([^`\n]++)`")
_SCHEMATIC = re.compile(r"…|\.\.\.|(?<![\w.])--|^tdsl |\b[A-Z]{4,}+\b")
"""What is a form, an option or a call, and no text of a design."""
_LISTED = re.compile(r"known(?: here)?: |the form is |such as |may be |one of |both |`[^`]*+` has ")
"""How a help begins that lists what there is, or shows an example."""
_CONDITION = re.compile(r"for which $")
"""What comes before a condition."""
_WORD = re.compile(r"[a-z_]\w*+(?=\s)")
_DROPPED = re.compile(r"(?:leave out|delete|remove|without) $")


def fixes_from_help(findings: Sequence[Diagnostic], path: str, recompile: Recompile) -> list[Diagnostic]:
    """The findings of a file, those without a fix with one from their help where it is shown to mend them. A
    fix of this kind is never `safe`."""
    return [
        replace(d, fix=_fix_that_mends(d, findings, recompile))
        if d.fix is None and d.span is not None and d.span.file.name == path and "`" in d.help
        else d
        for d in findings
    ]


def _fix_that_mends(d: Diagnostic, before: Sequence[Diagnostic], recompile: Recompile) -> Fix | None:
    """The first change by the words of a help after which the finding is gone and none is new."""
    assert d.span is not None
    text = d.span.file.text
    known = {(x.code, x.message) for x in before}
    for (start, end), new in list(_changes(d.help, text, d.span))[:MOST]:
        after = recompile(text[:start] + new + text[end:])
        if after is None or any((x.code, x.message) not in known for x in after):
            continue
        if sum(x.count for x in after) < sum(x.count for x in before) and not _is_among(d, after):
            words = new.strip("; ")
            title = f"write `{words}`" if words else f"leave out `{text[start:end].strip('; ,')}`"
            return Fix(title, ((SourceSpan(d.span.file, start, end), new),), safe=False)
    return None


def _is_among(d: Diagnostic, others: Sequence[Diagnostic]) -> bool:
    """Whether a finding of the same line says the same."""
    assert d.span is not None
    return any(
        (x.code, x.message) == (d.code, d.message)
        and x.span is not None
        and x.span.begin[0] == d.span.begin[0]
        for x in others
    )


def _changes(help: str, text: str, span: SourceSpan) -> Iterator[tuple[tuple[int, int], str]]:
    """Places, and what is written there, in the order in which they are tried."""
    if _LISTED.match(help):
        return
    begin, end = _statement_around(text, span)
    seen = set()
    for found in _QUOTED.finditer(help):
        quoted = found[1].strip()
        if not quoted or _SCHEMATIC.search(quoted) or _CONDITION.search(help[: found.start()]):
            continue
        dropped = _DROPPED.search(help[: found.start()]) or help[found.end() :].startswith(" out")
        places = _places_without if dropped else _places_with
        for place, new in places(quoted, text, (begin, end), span):
            if text[place[0] : place[1]] != new and (place, new) not in seen:
                seen.add((place, new))
                yield place, new


def _places_with(
    quoted: str, text: str, statement: tuple[int, int], span: SourceSpan
) -> Iterator[tuple[tuple[int, int], str]]:
    """Places for a text: of the clause with its first word, of the finding's span, behind the span."""
    begin, end = statement
    first = re.match(r"\w++", quoted)
    if first is not None:
        same = [m.start() for m in re.finditer(rf"(?<![\w.`]){first[0]}(?!\w)", text)]
        for at in sorted(same, key=lambda at: (not begin <= at <= span.end, abs(at - span.start)))[:3]:
            if begin <= at <= span.end:
                yield (at, max(span.end, at + len(first[0]))), quoted
            yield (at, _clause_end(text, at)), quoted
    for place in ((span.start, span.end), statement):
        if not quoted.startswith("{") and _keeps_first_word(text[place[0] : place[1]], quoted):
            yield place, quoted
    yield (end, end), f" {quoted}"
    yield (span.end, span.end), f" {quoted}"
    yield (end, end), f"; {quoted}"


def _keeps_first_word(old: str, new: str) -> bool:
    """Whether the word with which a statement begins is in what is written for it."""
    word = _WORD.match(old)
    return word is None or re.search(rf"(?<!\w){word[0]}(?!\w)", new) is not None


def _clause_end(text: str, at: int) -> int:
    """Where a clause ends: before the next `;`, brace, comment or end of line."""
    ends = [found for sign in "\n;{}#" if (found := text.find(sign, at)) >= 0]
    return len(text[: min(ends, default=len(text))].rstrip())


def _places_without(
    quoted: str, text: str, statement: tuple[int, int], span: SourceSpan
) -> Iterator[tuple[tuple[int, int], str]]:
    """Where a text may be taken out: in the statement, with the sign that divides it from the next."""
    begin, end = statement
    at = text.find(quoted, min(begin, span.start), max(end, span.end))
    if at < 0:
        return
    behind = at + len(quoted)
    after = re.compile(r"[ \t]*+[;,][ \t]*+").match(text, behind)
    yield (at, after.end() if after else behind), ""
    before = text[begin:at].rstrip(" \t")
    if before.endswith((";", ",")):
        before = before[:-1].rstrip(" \t")
    yield (begin + len(before), behind), ""


def _statement_around(text: str, span: SourceSpan) -> tuple[int, int]:
    """The statement around a span, roughly: from one end of a line, `;` or brace to the next."""
    begin = max(text.rfind(sign, 0, span.start) for sign in "\n;{}") + 1
    while begin < span.start and text[begin].isspace():
        begin += 1
    return begin, max(_clause_end(text, span.end), span.end)
