"""SARIF 2.1.0, as GitHub code scanning and editors read it.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0; limits: GitHub Docs, SARIF support for code
scanning. GitHub refuses a whole file for one URI of a scheme that it does not know, and a result without a
place: files of the library have a relative one, ``stdlib/…``, and files outside of the folder one from the
root of the file system, which ``originalUriBaseIds`` has (section 3.14.14). A finding in such a file is at
the design, if that is in the folder.
"""

from __future__ import annotations

from tdsl import __version__
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Fix, Severity
from tdsl.findings.source import SourceSpan
from tdsl.report.formats import Report
from tdsl.report.json_report import dump_json
from tdsl.report.paths import (
    LIBRARY,
    file_uri,
    finding_location,
    finding_text_in_full,
    findings_with_fingerprints,
    path_from_root,
)

FORMAT = "sarif"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
    Severity.ALLOWED: "none",
}
ROOT = "ROOTPATH"
"""What files outside of the folder are relative to: the root of the file system."""
ESCAPED = {ord(c): f"\\{c}" for c in "\\[]"}
MOST_RESULTS = 25_000
MOST_PLACES = 100  # of a result; GitHub reads a thousand


def render(report: Report) -> str:
    """One run of tdsl over all designs. What is over the limit of a run is left out, notes first."""
    found = findings_with_fingerprints(report)
    kept = sorted(sorted(range(len(found)), key=lambda i: (-found[i][1].severity, i))[:MOST_RESULTS])
    found = [found[i] for i in kept]
    codes = sorted({d.code for _, d, _ in found})
    driver = {
        "name": "tdsl",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_sarif_rule(code, report.help_uri) for code in codes],
    }
    judged, asked = report.coverage
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": "file:///"}},
        "results": [_sarif_result(file, d, mark, codes.index(d.code)) for file, d, mark in found],
        "properties": {"judged": judged, "of": asked},
    }
    return dump_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _sarif_rule(code: str, site: str) -> dict[str, object]:
    """A rule with its page; ``site`` is the address of the documentation, "" where none is known."""
    page = catalogue.page_of_code(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in page.name.split("_")),
        **({"helpUri": f"{site.rstrip('/')}/{catalogue.page_address(page)}"} if site else {}),
        "shortDescription": {"text": _as_sentence(page.title)},
        "fullDescription": {"text": _as_sentence(page.title)},
        "help": {"text": page.text, "markdown": page.text},
        "properties": {"tags": ["network"], "precision": "very-high"},
    }


def _plain_message(text: str) -> str:
    """A text as a plain text message, in which brackets begin a link and a backslash escapes (SARIF 2.1.0,
    section 3.11.6)."""
    return text.translate(ESCAPED)


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _sarif_result(file: str, d: Diagnostic, mark: str, rule: int) -> dict[str, object]:
    name, *at = finding_location(file, d)
    places = []
    in_library = name.startswith(LIBRARY) and not file.startswith(LIBRARY)
    if in_library or (
        path_from_root(name) and not path_from_root(file)
    ):  # the repository has the design alone
        places = [(name, at, "the place in the library" if in_library else f"the place in {name}")]
        name, at = file, [1, 1, 1, 1]
    places += [(x.span.file.name, [*x.span.begin, *x.span.finish], x.message) for x in d.labels[:MOST_PLACES]]
    out: dict[str, object] = {
        "ruleId": d.code,
        "ruleIndex": rule,
        "level": LEVELS[d.severity],
        "message": {"text": _plain_message(finding_text_in_full(d))},
        "locations": [_sarif_location(name, at)],
        "partialFingerprints": {"primaryLocationLineHash": mark},
        "occurrenceCount": d.count,
    }
    if d.allowed:
        out["suppressions"] = [{"kind": "inSource", "justification": d.allowed}]
    if places:
        out["relatedLocations"] = [
            {"id": i, **_sarif_location(where, region), "message": {"text": _plain_message(said)}}
            for i, (where, region, said) in enumerate(places)
        ]
    if d.fix is not None:
        out["fixes"] = [_sarif_fix(d.fix)]
    return out


def _sarif_location(name: str, at: list[int]) -> dict[str, object]:
    return {"physicalLocation": {"artifactLocation": _sarif_artifact(name), "region": _sarif_region(at)}}


def _sarif_artifact(name: str) -> dict[str, str]:
    """Where a file is: relative to here, or to the root of the file system where it is not below."""
    outside = path_from_root(name)
    return {"uri": outside, "uriBaseId": ROOT} if outside else {"uri": file_uri(name)}


def _sarif_region(at: list[int]) -> dict[str, int]:
    return dict(zip(("startLine", "startColumn", "endLine", "endColumn"), at, strict=True))


def _sarif_fix(fix: Fix) -> dict[str, object]:
    changes: dict[str, list[tuple[SourceSpan, str]]] = {}
    for span, text in fix.edits:
        changes.setdefault(span.file.name, []).append((span, text))
    return {
        "description": {"text": _plain_message(fix.title)},
        "artifactChanges": [
            {
                "artifactLocation": _sarif_artifact(name),
                "replacements": [
                    {
                        "deletedRegion": _sarif_region([*span.begin, *span.finish]),
                        "insertedContent": {"text": text},
                    }
                    for span, text in edits
                ],
            }
            for name, edits in changes.items()
        ],
    }
