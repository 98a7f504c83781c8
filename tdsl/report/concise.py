"""One line a finding: place, severity, code, name and cause, as editors and ``grep`` like it."""

from __future__ import annotations

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic
from tdsl.report.formats import Report
from tdsl.report.paint import Paint, terminal_safe_line, terminal_safe_text

FORMAT = "concise"


def render(report: Report) -> str:
    """The findings of all files, a line each."""
    paint = Paint(report.colour)
    lines = [
        concise_finding_line(d, file, paint) for c in report.compilations for file, d in report.unprinted(c)
    ]
    return "".join(f"{row}\n" for row in lines)


render_early_findings = render


def concise_finding_line(d: Diagnostic, file: str, paint: Paint) -> str:
    """A finding as ``file:line:column: error[E0412] port_budget: cause``."""
    place = file
    if d.span is not None:
        row, column = d.span.begin
        place = f"{d.span.file.name}:{row}:{column}"
    message = " ".join(terminal_safe_text(d.message).split())
    first = f" ({d.others_in_words})" if d.others_in_words else ""
    word = paint(d.severity.word, f"{d.severity.word}[{d.code}]")
    return (
        f"{paint('bold', terminal_safe_line(place))}: {word} {catalogue.finding_name(d.code)}: "
        f"{message}{first}"
    )
