"""GitLab's Code Quality report: findings stand in the merge request. Source: GitLab Docs, Code Quality,
report format."""

from __future__ import annotations

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Severity
from tdsl.report.formats import Report
from tdsl.report.json_report import dump_json
from tdsl.report.paths import (
    finding_location,
    finding_text_in_full,
    findings_with_fingerprints,
    relative_file_name,
)

FORMAT = "gitlab"
SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """One object a finding."""
    out = []
    for file, d, mark in findings_with_fingerprints(report):
        if d.severity is Severity.ALLOWED:
            continue
        name, line, _, last, _ = finding_location(file, d)
        out.append(
            {
                "description": finding_text_in_full(d),
                "check_name": f"{d.code} {catalogue.finding_name(d.code)}",
                "fingerprint": mark,
                "severity": SEVERITIES[d.severity],
                "location": {"path": relative_file_name(name), "lines": {"begin": line, "end": last}},
            }
        )
    return dump_json(out)
