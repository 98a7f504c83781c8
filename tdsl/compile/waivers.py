"""What people have settled about findings: ``# tdsl: allow(name) reason`` at the line, and ``[severity]`` of
tdsl.toml.

A finding that is allowed stays known, with its reason, and fails nothing. What keeps a text from being
understood cannot be allowed. ``allow(name until 2027-01-31)`` has a last day: after it `check` warns, and the
finding stays allowed, so that no day changes what is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import date

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.system.lazy_dataclass import dataclass

MARK = "tdsl:"
COMMENT = re.compile(r"#+\s*tdsl:\s*allow\s*(?:\(([^()]*)\))?\s*(.*)")
BEGINNING = re.compile(r"#+\s*tdsl:")
FOREVER = ("E00", "E01", "E09")
"""Families of findings that cannot be allowed: syntax, meaning, and faults of tdsl's own."""
UNTIL = re.compile(r"(.*?)(?<!\s)\s+until\b\s*(.*)", re.DOTALL)
DAY = re.compile(r"\d{4}-\d\d-\d\d")
HELP = "write `# tdsl: allow(NAME) REASON`, at the end of the line or alone above it"


@dataclass(slots=True)
class Allowance:
    """One name that a comment allows on a line."""

    name: str
    reason: str
    span: SourceSpan
    line: int
    until: date | None = None  # the last day on which it holds, None where it has no end
    used: bool = False


@dataclass(slots=True)
class Allowances:
    """The allowances of some files, and severities by name of a finding."""

    severities: Mapping[str, Severity] = field(default_factory=dict)
    lines: dict[tuple[int, int], list[Allowance]] = field(default_factory=dict)

    def read(self, file: SourceFile, diagnostics: Diagnostics) -> None:
        """Take those of a file, and tell of comments that are none."""
        if MARK not in file.text:
            return
        from tdsl.syntax.grammar import load_grammar_tables

        tokens = load_grammar_tables().scanner.scan(file)
        waiting: list[Allowance] = []
        row = 0  # of the last token that is code
        for t in tokens:
            line = file.position(t.start)[0]
            if t.type == "COMMENT" and BEGINNING.match(t.text):
                found = _waivers_in_comment(t.text.rstrip(), t.span, line, diagnostics)
                waiting += found if row != line else []
                self._at(file, line, found if row == line else [])
            elif not t.newline and t.type != "COMMENT":
                self._at(file, line, waiting)
                row, waiting = line, []
        self._at(file, row, waiting)

    def _at(self, file: SourceFile, line: int, found: list[Allowance]) -> None:
        for allowance in found:
            self.lines.setdefault((id(file), line), []).append(allowance)

    def settle(self, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The findings with the severities that are settled for them, but those whose cause remains an
        error."""
        out = [self._settled(d) for d in findings]
        errors = {(d.code, d.span) for d in out if d.severity is Severity.ERROR}
        return [d for d in out if d.cause is None or (d.cause.message, d.cause.span) not in errors]

    def _settled(self, d: Diagnostic) -> Diagnostic:
        if d.code.startswith(FOREVER):
            return d
        name = catalogue.finding_name(d.code) if self.severities or self.lines else ""
        if d.span is not None:
            for allowance in self.lines.get((id(d.span.file), d.span.begin[0]), ()):
                if allowance.name in (name, d.code):
                    allowance.used = True
                    return replace(d, severity=Severity.ALLOWED, allowed=allowance.reason)
        return replace(d, severity=self.severities[name]) if name in self.severities else d

    def idle(self, unjudged: Iterable[str]) -> list[Diagnostic]:
        """A warning for each that allows nothing, but for names of checks that did not run."""
        rest = [a for found in self.lines.values() for a in found if not a.used and a.name not in unjudged]
        return [_unused_waiver_finding(a) for a in rest]

    def expired(self, today: date) -> list[Diagnostic]:
        """A warning for each whose last day is over."""
        return [
            _expired_waiver_finding(a, today)
            for found in self.lines.values()
            for a in found
            if a.until is not None and a.until < today
        ]

    def every(self) -> list[Allowance]:
        """All of them, in the order of the text."""
        return [a for found in self.lines.values() for a in found]


def _unused_waiver_finding(a: Allowance) -> Diagnostic:
    return Diagnostic(
        "E0015",
        f"nothing here is `{a.name}`, so nothing is allowed",
        a.span,
        severity=Severity.WARNING,
        help=f"delete `{a.span.text}`; a comment belongs on the line of the finding, or alone on the line "
        "above",
    )


def _expired_waiver_finding(a: Allowance, today: date) -> Diagnostic:
    assert a.until is not None
    days = (today - a.until).days
    return Diagnostic(
        "E0018",
        f"the waiver of `{a.name}` ended on {a.until.isoformat()}, {days:,} day{'s' * (days != 1)} ago",
        a.span,
        notes=(f"its reason was: {a.reason}",),
        severity=Severity.WARNING,
        help="correct the fault and delete the comment, or give a later date with its reason",
    )


def _span_of_word(span: SourceSpan, word: str) -> SourceSpan:
    """The place of a word of a comment."""
    start = span.start + max(0, span.text.find(word))
    return SourceSpan(span.file, start, start + len(word))


def date_from_text(text: str) -> date:
    """A date as ``2027-01-31``. Raises ValueError, which says what is wrong."""
    if not DAY.fullmatch(text):
        raise ValueError(f"`{text}` is not a date, such as 2027-01-31")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"there is no day {text}") from None


def _waivers_in_comment(text: str, span: SourceSpan, line: int, diagnostics: Diagnostics) -> list[Allowance]:
    """The names that a comment allows, each with the reason."""
    found = COMMENT.fullmatch(text)
    inner = found[1] or "" if found else ""
    dated = UNTIL.fullmatch(inner)
    names = [n.strip() for n in (dated[1] if dated else inner).split(",") if n.strip()]
    reason = found[2].lstrip(":-– ").strip() if found else ""
    if not names:
        diagnostics.add("E0016", span, "this comment for tdsl names no finding", help=HELP)
        return []
    if not reason:
        diagnostics.add("E0016", span, "the waiver gives no reason", help=HELP)
        return []
    until = None
    if dated:
        try:
            until = date_from_text(dated[2].strip())
        except ValueError as wrong:
            diagnostics.add(
                "E0016", span, f"{wrong}", help="write `# tdsl: allow(NAME until YYYY-MM-DD) REASON`"
            )
            return []
    pages = (_page_of_allowed_name(name, span, diagnostics) for name in names)
    return [Allowance(page.name, reason, span, line, until) for page in pages if page is not None]


def _page_of_allowed_name(name: str, span: SourceSpan, diagnostics: Diagnostics) -> catalogue.Page | None:
    """The page of a finding that a comment names; None, with a finding, where there is none or it cannot be
    allowed."""
    page = catalogue.find_page(name)
    if page is None:
        near = catalogue.most_similar_code(name)
        diagnostics.add(
            "E0016",
            span,
            f"there is no finding `{name}`",
            help=f"did you mean `{near}`?" if near else "`tdsl list checks`",
            fix=Fix(f"write `{near}`", ((_span_of_word(span, name), near),), safe=False) if near else None,
        )
        return None
    if page.code.startswith(FOREVER):
        message = f"`{name}` cannot be allowed: it says that the text is not understood"
        diagnostics.add("E0016", span, message, help=HELP)
        return None
    return page
