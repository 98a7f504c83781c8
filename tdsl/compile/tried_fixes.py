"""Fixes are guesses: the first ones of a text are tried on it, and one that leaves an error in its own
statement is not proposed. Other causes, words and layouts of the line are tried in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from tdsl.findings.diagnostic import OF_READING, Diagnostic, Diagnostics, Fix, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax.filled_forms import fits_form
from tdsl.syntax.forms import form_of_statement, forms_of_setting
from tdsl.syntax.other_blocks import block_in_braces, moves_of_statement
from tdsl.syntax.other_layouts import other_layouts
from tdsl.syntax.parser import other_explanations, parse_source_file
from tdsl.system.similar import closest_name

MOST_TRIED = 2
"""Fixes of a text that are tried, the first ones: people read these."""
MOST_CAUSES = 4
"""Causes of a fault that are tried after the likeliest one."""
LARGEST_TEXT = 1 << 16
"""Characters of a text whose fixes are tried; a larger one is read once."""

ANOTHER_SETTING = "E0118"
"""The code of a setting that is unknown: what follows its name must fit another one."""
MOST_LAYOUTS = 16
"""Other layouts of a line that are tried."""
NO_LAYOUT = ("E0008", "E0010", "E0017")
"""Codes of faults that are of no one line."""
LAID_OUT = ("E0101", "E0102", "E0103", "E0109", "E0118", "E0120")
"""Codes of meaning that a layout may be the cause of."""
WRONG_VALUE = "E0120"
"""The code of a setting or statement whose parts do not make one."""
OWN_FACT = "E0128"
"""The code of a word in a model that becomes a fact of the author's: a change to one mends nothing."""
SAID_BEFORE = "E0104"
"""The code of a name or setting that is there twice."""
WRONG_INDEX = ("E0108", "E0109")
"""Codes of an index that does not fit the array."""
UNKNOWN_NAMES = ("E0101", "E0102")
Findings = Callable[[str], "Iterable[Diagnostic]"]
"""What is found of another text in the place of a file's."""


def without_useless_fixes(
    findings: list[Diagnostic], source: str, files: list[SourceFile], findings_of_text: Findings
) -> list[Diagnostic]:
    """The findings; the first ones without a fix that does not mend the text, and without the advice to make
    it: with another cause whose fix does, where there is one."""
    file = next((f for f in files if f.name == source), None)
    if file is None or len(file.text) > LARGEST_TEXT:
        return findings
    out, tried = list(findings), 0
    for k, d in enumerate(findings):
        if d.severity is not Severity.ERROR or d.span is None or d.span.file is not file:
            continue
        first = not tried
        if tried == MOST_TRIED or not (first or _is_guess(d, file)):
            continue
        tried += 1
        others = frozenset((x.code, x.message) for x in findings) - {(d.code, d.message)}
        out[k] = _Trial(file, others, findings_of_text).better_finding(d, first)
    return out


def _is_guess(d: Diagnostic, file: SourceFile) -> bool:
    """Whether a finding has a fix of this file that may be wrong."""
    return d.fix is not None and all(span.file is file for span, _ in d.fix.edits)


class _Trial(NamedTuple):
    """What the fixes of a finding are tried on: a file, codes and messages of its other findings, and how a
    text is read in its place."""

    file: SourceFile
    others: frozenset[tuple[str, str]]
    findings_of_text: Findings

    def better_finding(self, d: Diagnostic, first: bool) -> Diagnostic:
        """A finding without a fix that is of no use; with the first one that is, of another cause or another
        form of its line, if it is the ``first`` of a text."""
        declared = _declaration_renamed(d, self.file) if first and d.code in UNKNOWN_NAMES else None
        if declared is not None and not self._errors_left(declared):
            return declared
        if _is_guess(d, self.file):
            left = self._errors_left(d)
            if self._is_of_no_use(d, left):
                d = self._another_cause(d)
            elif first and any(_is_on_line_of(e, d) for e in left):
                changed = self._with_changed_text(replace(d, fix=None))
                return changed if changed.fix is not None else d
        return self._with_changed_text(d) if first and d.fix is None else d

    def _is_of_no_use(self, d: Diagnostic, left: list[Diagnostic]) -> bool:
        """Whether an error that the fix of a finding leaves is in what the fix wrote."""
        if d.code.startswith(OF_READING) and d.fix is not None and d.fix.safe and len(left) < 2:
            return False
        _, places = _text_after_fix(d, self.file.text)
        return any(_is_error_in(e, self.file.name, places, d.code) for e in left)

    def _errors_left(self, d: Diagnostic) -> list[Diagnostic]:
        """Errors of the text after the fix of a finding that are none of its other findings."""
        text, _ = _text_after_fix(d, self.file.text)
        read = Diagnostics()
        parse_source_file(SourceFile(self.file.name, text), read)
        errors = (e for e in read.items if e.severity is Severity.ERROR)
        unread = [e for e in errors if (e.code, e.message) not in self.others]
        if unread:  # nothing more needs to be looked at
            return unread
        return [
            e
            for e in self.findings_of_text(text)
            if (e.severity is Severity.ERROR or e.code == OWN_FACT) and (e.code, e.message) not in self.others
        ]

    def _another_cause(self, d: Diagnostic) -> Diagnostic:
        """A finding whose fix is useless, with the first other cause whose fix is not; else without a fix."""
        text, places = _text_after_fix(d, self.file.text)
        if not d.code.startswith(OF_READING):
            return _without_fix(d, form_of_statement(text, places[0].begin))
        others = [o for o in other_explanations(self.file, d) if o.fix is None or not _has_same_fix(o, d)]
        for other in others[:MOST_CAUSES]:
            if other.fix is not None and not self._errors_left(other):
                return other
        last = others[-1] if others else d
        return _without_fix(last, form_of_statement(self.file.text, last.span.start if last.span else 0))

    def _with_changed_text(self, d: Diagnostic) -> Diagnostic:
        """A finding without a fix, with the first other form of its line after which nothing is wrong, if
        there is one; else with the form of its setting where it has no help."""
        for message, fix in islice(_other_texts(d, self.file), MOST_LAYOUTS):
            changed = replace(d, fix=fix)
            if not self._errors_left(changed):
                return replace(changed, message=message or d.message, help=fix.title)
        if d.help or d.span is None:
            return d
        forms = forms_of_setting(self.file.text, d.span.start) if d.code == WRONG_VALUE else []
        written = d.span.text.strip()
        if any(fits_form(form, written) for form in forms) or re.search(r"\d|, ", written):
            return d
        return replace(d, help=_form_in_words(next(iter(forms), "")))


def _other_texts(d: Diagnostic, file: SourceFile) -> Iterator[tuple[str, Fix]]:
    """What may be wrong with the line of a finding, "" where the finding says it, and what to change."""
    text, at = file.text, d.span.start if d.span is not None else 0
    found = _CODE_OF_LINE.match(text, text.rfind("\n", 0, at) + 1)
    if d.span is None or found is None or d.code in NO_LAYOUT:
        return
    if d.code == SAID_BEFORE and (twice := _statement_said_twice(d.span)) is not None:
        yield "", Fix(f"remove `{twice.text.strip('; ')}`", ((twice, ""),), safe=False)
    whole = SourceSpan(file, *found.span(1))
    if whole.text.endswith(":") and (block := block_in_braces(file, at)) is not None:
        yield "a block is in braces: indentation means nothing here", block
    yield from _other_words_of_line(d, whole)
    if d.code == ANOTHER_SETTING and _BELONGS.search(d.message):
        meant = _BLOCK_MEANT.search(f"{d.message} {d.help}")
        for move in moves_of_statement(file, at, meant[1] if meant is not None else ""):
            yield "", move
    of_syntax = d.code.startswith(OF_READING)
    laid_out = other_layouts(whole.text, at - whole.start, of_syntax)
    for message, new in laid_out if of_syntax or d.code in LAID_OUT else ():
        yield message, Fix(f"write `{new}`", ((whole, new),), safe=False)


def _other_words_of_line(d: Diagnostic, whole: SourceSpan) -> Iterator[tuple[str, Fix]]:
    """Changes of the words of a finding's line that may be misspelt; none where it says what is there."""
    for span, new in _misspelt_words(d, whole) if d.code != SAID_BEFORE else ():
        yield "", Fix(f"write `{new}`", ((span, new),), safe=False)


_BLOCK_MEANT = re.compile(r"(?:setting of|in the block of an?|into the braces of) `?(\w++)")
"""The word of the block that a finding names."""
_BELONGS = re.compile(
    r"outside|belongs|it is a setting of|begins a statement|settings (?:only|alone)|this place"
)
"""What a finding says of a statement that is in the wrong block."""


def _is_on_line_of(e: Diagnostic, d: Diagnostic) -> bool:
    """Whether an error is on the line of a finding."""
    return e.span is not None and d.span is not None and e.span.begin[0] == d.span.begin[0]


def _statement_said_twice(span: SourceSpan) -> SourceSpan | None:
    """The statement of a finding with the sign before it, where the text before it has the same one."""
    text = span.file.text
    begin = max(text.rfind(sign, 0, span.start) for sign in "\n;{}") + 1
    end = span.end
    if text[begin : span.start].strip():  # the span is a name in it: the statement is a line
        found = _CODE_OF_LINE.match(text, text.rfind("\n", 0, span.start) + 1)
        begin, end = found.span(1) if found is not None else (begin, end)
    said = text[begin:end].strip()
    if (
        len(said) < 2
        or re.search(rf"(?:^|[;{{\n])[ \t]*+{re.escape(said)}[ \t]*+(?:[;}}\n#]|$)", text[:begin]) is None
    ):
        return None
    sign = begin - 1 if text[begin - 1 : begin] == ";" else begin
    while text[sign - 1 : sign] in (" ", "\t") and text[begin - 1 : begin] == ";":
        sign -= 1
    return SourceSpan(span.file, sign, end)


_QUOTED = re.compile(r"`([A-Za-z_]\w*+)`")
_WORD = re.compile(r"(?<![\w.\"])[A-Za-z_]\w++")


def _misspelt_words(d: Diagnostic, whole: SourceSpan) -> Iterator[tuple[SourceSpan, str]]:
    """Words of a finding's line from its place on that are like one which the finding quotes."""
    assert d.span is not None
    known = [word for word in _QUOTED.findall(f"{d.message} {d.help}") if len(word) > 3]
    for found in _WORD.finditer(whole.text, max(d.span.start - whole.start, 0)) if known else ():
        near = closest_name(found[0], known, 0.75)
        if near and near != found[0] and found[0] not in known:
            start = whole.start + found.start()
            yield SourceSpan(whole.file, start, start + len(found[0])), near


def _declaration_renamed(d: Diagnostic, file: SourceFile) -> Diagnostic | None:
    """A finding of an unknown name with the fix of its declaration: where several places use the name, and
    none the name that is declared. None of others."""
    if d.fix is None or len(d.fix.edits) != 1:
        return None
    (span, near), text = d.fix.edits[0], file.text
    used = len(re.findall(rf"(?<![\w.\"]){re.escape(span.text)}(?=[\[.\s])", text))
    declared = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(near)}(?!\w)", text)]
    if used < 2 or len(declared) != 1 or not near.isidentifier() or not span.text.isidentifier():
        return None
    at = SourceSpan(file, declared[0], declared[0] + len(near))
    line = at.begin[0]
    fix = Fix(f"write `{span.text}` in line {line}", ((at, span.text),), safe=False)
    help = f"write `{span.text}` in line {line}, where it is declared as `{near}`"
    return replace(d, labels=(*d.labels, Label(at, "nothing uses this name")), help=help, fix=fix)


def _has_same_fix(a: Diagnostic, b: Diagnostic) -> bool:
    """Whether two findings have the same fix."""
    return a.fix is not None and b.fix is not None and a.fix.edits == b.fix.edits


def _is_error_in(e: Diagnostic, name: str, places: list[_Place], code: str) -> bool:
    """Whether an error of a file begins in what the fix of a finding of a code wrote, or in its statement:
    behind it, of a setting that was unknown; anywhere, of one that could not be read."""
    if e.span is None or e.span.file.name != name:
        return False
    at, end = e.span.start, max(e.span.end, e.span.start + 1)
    if code.startswith(OF_READING):
        return _is_marked_in(e, name, places)
    behind = code == ANOTHER_SETTING and e.code not in UNKNOWN_NAMES
    begins = any(p.begin <= at < (p.last if behind else p.end) for p in places)
    return begins or (e.code in WRONG_INDEX and any(at < p.end and p.begin < end for p in places))


def _is_marked_in(e: Diagnostic, name: str, places: list[_Place]) -> bool:
    """Whether an error or one of its remarks is in the statements of some places: what a topology says
    wrongly is found where it is used."""
    spans = [label.span for label in e.labels if label.span.file.name == name]
    spans += [] if e.span is None else [e.span]
    return any(p.first <= span.start < p.last for p in places for span in spans)


class _Place(NamedTuple):
    """Where a statement begins, and a fix in it, and where both end."""

    first: int
    begin: int
    end: int
    last: int


_END = re.compile(r"[;{}\n]|$")
_CODE_OF_LINE = re.compile(r"""[ \t]*+((?:[^#"\n \t]|"[^"\n]*+"?|[ \t]++(?![ \t#\n]))*+)""")
"""What a line says, without its indentation and comment."""


def _text_after_fix(d: Diagnostic, text: str) -> tuple[str, list[_Place]]:
    """A text with the edits of a finding's fix, and where they are."""
    moved, ends = 0, []
    for span, new in sorted(d.fix.edits if d.fix is not None else (), key=lambda edit: edit[0].start):
        start = span.start + moved
        text = text[:start] + new + text[span.end + moved :]
        ends.append((start, start + max(len(new), 1)))
        moved += len(new) - (span.end - span.start)
    places = []
    for start, end in ends:
        found = _END.search(text, end)
        last = max(end, found.start() if found is not None else end)
        places.append(_Place(max(text.rfind(sign, 0, start) for sign in "\n;{}") + 1, start, end, last))
    return text, places


_ADVICE = re.compile(r"(?:write|did you mean) `[^`]*`\??(?:; |, or |$)")


def _without_fix(d: Diagnostic, form: str) -> Diagnostic:
    """A finding without its fix, and with the form of a statement in the place of the advice."""
    help = _ADVICE.sub("", d.help, count=1)
    return replace(d, fix=None, help=help or _form_in_words(form))


def _form_in_words(form: str) -> str:
    return f"the form is `{form}`" if form else ""
