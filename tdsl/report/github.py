"""Workflow commands of GitHub Actions: each finding stands at its line in the pull request.

GitHub shows ten errors and ten warnings a step and keeps the rest in the log, so errors come first. Source:
GitHub Docs, Workflow commands for GitHub Actions.
"""

from __future__ import annotations

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Severity
from tdsl.report.formats import Report
from tdsl.report.paint import terminal_safe_text
from tdsl.report.paths import finding_location, finding_text_in_full, relative_file_name

FORMAT = "github"
COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
IN_PROPERTIES = {**IN_MESSAGES, ":": "%3A", ",": "%2C"}


def render(report: Report) -> str:
    """A command for each finding, errors first."""
    rows = []
    for file, d in sorted(report.reported_findings, key=lambda found: -found[1].severity):
        name, line, column, last, end = finding_location(file, d)
        values = {
            "file": relative_file_name(name),
            "line": line,
            "endLine": last,
            "col": column,
            "endColumn": end,
        }
        if last != line:  # columns are of one line
            del values["col"], values["endColumn"]
        values["title"] = f"{d.code} {catalogue.finding_name(d.code)}"
        given = ",".join(f"{k}={_escape_for_github(str(v), IN_PROPERTIES)}" for k, v in values.items())
        rows.append(
            f"::{COMMANDS[d.severity]} {given}::{_escape_for_github(finding_text_in_full(d), IN_MESSAGES)}\n"
        )
    return "".join(rows)


def _escape_for_github(text: str, table: dict[str, str]) -> str:
    lines = "\n".join(terminal_safe_text(line) for line in text.split("\n"))
    return "".join(table.get(c, c) for c in lines)
