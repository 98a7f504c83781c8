"""Lines that other tools leave in a design: the markers of a merge conflict, and the fences of Markdown. Each
is one finding, and the rest is read as if they were not there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.scanner import Token

OURS, BASE, MIDDLE, THEIRS, FENCE = "<<<<<<<", "|||||||", "=======", ">>>>>>>", "```"
_LINE = re.compile(
    r"^(?:(<{7}|>{7}|\|{7})(?: .*)?|(={7})|[ \t]*+(`{3,}+|~{3,}+|[=_*+-]{4,}+)[ \t]*+\w*+[ \t]*+)$",
    re.MULTILINE,
)
"""Markers as Git writes them, at the beginning of a line, and the fences of CommonMark."""


def tokens_without_pasted_lines(
    file: SourceFile, tokens: list[Token], diagnostics: Diagnostics
) -> list[Token]:
    """The tokens of a text without those lines and, of a conflict, without the second of its two texts."""
    found = [(m, m[1] or m[2] or FENCE) for m in _LINE.finditer(file.text.replace("\r\n", " \n"))]
    if not found:
        return tokens
    gone: list[SourceSpan] = []
    fences = [_whole_line(file, m.start(), m.end()) for m, kind in found if kind == FENCE]
    if fences:
        diagnostics.add(
            "E0001",
            _without_end(fences[0]),
            "a fence or rule of Markdown is no part of a design",
            help="remove this line" + (f" and {len(fences) - 1} more" if len(fences) > 1 else ""),
            fix=Fix("remove these lines", tuple((span, "") for span in fences)),
        )
        gone += fences
    for conflict in _conflicts([(m, kind) for m, kind in found if kind != FENCE]):
        gone += _report_conflict(file, conflict, diagnostics)
    gone.sort(key=lambda g: g.start)
    starts, ends = [g.start for g in gone], list(accumulate((g.end for g in gone), max, initial=-1))
    return [t for t in tokens if t.start >= ends[bisect_right(starts, t.start)]]


def _whole_line(file: SourceFile, start: int, end: int) -> SourceSpan:
    """From the beginning of a line to the beginning of the line behind ``end``."""
    after = file.text.find("\n", end)
    return SourceSpan(file, start, after + 1 if after >= 0 else len(file.text))


def _without_end(line: SourceSpan) -> SourceSpan:
    """The place of a line without blanks around it, and without its end."""
    text = line.text
    start = line.start + len(text) - len(text.lstrip())
    return SourceSpan(line.file, start, start + len(text.strip()))


Marker = tuple[re.Match[str], str]


def _conflicts(markers: list[Marker]) -> Iterator[list[Marker]]:
    """The markers of each conflict; one that has lost its others is a conflict of itself."""
    at = 0
    while at < len(markers):
        end = at + 1
        if markers[at][1] == OURS:
            while end < len(markers) and markers[end][1] not in (OURS, THEIRS):
                end += 1
            end += end < len(markers) and markers[end][1] == THEIRS
        yield markers[at:end]
        at = end


def _named_lines(first: int, last: int) -> str:
    """The lines of one side of a conflict in words."""
    return "nothing" if last < first else f"line {first}" if first == last else f"lines {first} to {last}"


def _report_conflict(file: SourceFile, conflict: list[Marker], diagnostics: Diagnostics) -> list[SourceSpan]:
    """Report the markers of one conflict; the places that are not read."""
    lines = [_whole_line(file, m.start(), m.end()) for m, _ in conflict]
    kinds = [kind for _, kind in conflict]
    whole = kinds[0] == OURS and MIDDLE in kinds and kinds[-1] == THEIRS
    numbers = sorted({span.begin[0] for span in lines})
    if whole:
        second = next(i for i, kind in enumerate(kinds) if kind in (BASE, MIDDLE))
        gone = [lines[0], SourceSpan(file, lines[second].start, lines[-1].end)]
        middle = lines[kinds.index(MIDDLE)]
        first = _named_lines(numbers[0] + 1, lines[second].begin[0] - 1)
        help = f"keep {first} or {_named_lines(middle.begin[0] + 1, numbers[-1] - 1)}, and remove the rest"
        title = "keep the first of the two"
    else:
        gone, title = lines, "remove the marker" + "s" * (len(lines) > 1)
        help = "remove the marker and what belongs to the version that you do not want"
    diagnostics.add(
        "E0001",
        _without_end(lines[0]),
        "a merge conflict is not resolved: this is a marker of Git",
        labels=[(_without_end(x), "and this belongs to it") for x in lines[1:]],
        help=help,
        fix=Fix(title, tuple((span, "") for span in gone), safe=False),
    )
    return gone
