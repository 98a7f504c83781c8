"""Fixes of names and values are guesses: each is tried on the text, and one that leaves an error in its own
statement is not proposed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile
from tdsl.syntax.forms import form_of_statement

MOST_TRIED = 2
"""Fixes of a text that are tried, the first ones: people read these."""
LARGEST_TEXT = 1 << 16
"""Characters of a text whose fixes are tried; a larger one is read once."""

ANOTHER_SETTING = "E0118"
"""The code of a setting that is unknown: what follows its name must fit another one."""
UNKNOWN_NAMES = ("E0101", "E0102")
Findings = Callable[[str], "Iterable[Diagnostic]"]
"""What is found of another text in the place of a file's."""


def without_useless_fixes(
    findings: list[Diagnostic], source: str, files: list[SourceFile], findings_of_text: Findings
) -> list[Diagnostic]:
    """The findings; the first ones without a fix that does not mend the text, and without the advice to make
    it."""
    file = next((f for f in files if f.name == source), None)
    if file is None or len(file.text) > LARGEST_TEXT:
        return findings
    before = {(d.code, d.message) for d in findings}
    out, tried = list(findings), 0
    for k, d in enumerate(findings):
        if not _is_guess(d, file) or tried == MOST_TRIED:
            continue
        tried += 1
        text, places = _text_after_fix(d, file.text)
        known = before - {(d.code, d.message)}
        new = (e for e in findings_of_text(text) if (e.code, e.message) not in known)
        if any(_is_error_in(e, source, places, d.code == ANOTHER_SETTING) for e in new):
            out[k] = _without_fix(d, form_of_statement(text, places[0][0]))
    return out


def _is_guess(d: Diagnostic, file: SourceFile) -> bool:
    """Whether a finding has a fix of this file that no grammar has tried."""
    tried = d.fix is None or d.severity is not Severity.ERROR or d.code.startswith("E00")
    return not tried and d.fix is not None and all(span.file is file for span, _ in d.fix.edits)


def _is_error_in(e: Diagnostic, name: str, places: list[tuple[int, int, int]], behind: bool) -> bool:
    """Whether an error of a file begins in what a fix wrote, or ``behind`` it in the same statement; there
    names that are unknown have another cause."""
    if e.severity is not Severity.ERROR or e.span is None or e.span.file.name != name:
        return False
    behind = behind and e.code not in UNKNOWN_NAMES
    return any(first <= e.span.start < (last if behind else end) for first, end, last in places)


_END = re.compile(r"[;{}\n]|$")


def _text_after_fix(d: Diagnostic, text: str) -> tuple[str, list[tuple[int, int, int]]]:
    """A text with the edits of a finding's fix: where each begins and ends, and where its statement does."""
    moved, ends = 0, []
    for span, new in sorted(d.fix.edits if d.fix is not None else (), key=lambda edit: edit[0].start):
        start = span.start + moved
        text = text[:start] + new + text[span.end + moved :]
        ends.append((start, start + max(len(new), 1)))
        moved += len(new) - (span.end - span.start)
    places = []
    for start, end in ends:
        found = _END.search(text, end)
        places.append((start, end, max(end, found.start() if found is not None else end)))
    return text, places


_ADVICE = re.compile(r"(?:write|did you mean) `[^`]*`\??(?:; |, or |$)")


def _without_fix(d: Diagnostic, form: str) -> Diagnostic:
    """A finding without its fix, and with the form of a statement in the place of the advice."""
    help = _ADVICE.sub("", d.help, count=1)
    return replace(d, fix=None, help=help or (f"the form is `{form}`" if form else ""))
