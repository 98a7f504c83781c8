"""GitLab's Code Quality report: findings stand in the merge request. Source: GitLab Docs, Code Quality, report format."""

from __future__ import annotations

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Severity
from tdsl.report.formats import Report
from tdsl.report.json_report import dump
from tdsl.report.paths import marked, place, relative, whole

FORMAT = "gitlab"
SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """One object a finding."""
    out = []
    for file, d, mark in marked(report):
        if d.severity is Severity.ALLOWED:
            continue
        name, line, _, last, _ = place(file, d)
        out.append({
            "description": whole(d),
            "check_name": f"{d.code} {catalogue.name_of(d.code)}",
            "fingerprint": mark,
            "severity": SEVERITIES[d.severity],
            "location": {"path": relative(name), "lines": {"begin": line, "end": last}},
        })  # fmt: skip
    return dump(out)
