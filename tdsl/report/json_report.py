"""``check --output-format json``: what programs read. Keys are only ever added; a change of meaning raises
``schema``."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING

from tdsl import __version__
from tdsl.compile.sweep import Sweep
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceSpan
from tdsl.report.formats import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tdsl.compile.compiler import Design
    from tdsl.verify.result import Result

FORMAT = "json"
SCHEMA = 1
LISTED = 1000

WORDS = 4096
"""Words of JSON that are written at once."""


def render(report: Report) -> str:
    """All designs of all files as one JSON document."""
    designs = [_design_as_json(design, report.fail_on) for c in report.compilations for design in c.judged]
    sweeps = [_sweep_as_json(c) for c in report.compilations if isinstance(c, Sweep)]
    return dump_json(
        {"schema": SCHEMA, "tdsl": __version__, **({"sweeps": sweeps} if sweeps else {}), "designs": designs}
    )


def dump_json(document: object) -> str:
    """A JSON document as tdsl prints it. `##[` would be a command in the log of a CI server; it stands in
    strings only."""
    return "".join(json_pieces(document))


def json_pieces(document: object) -> Iterator[str]:
    """The same text in pieces of some thousand values: a list of it may be made as it is written."""
    coder = json.JSONEncoder(indent=2, ensure_ascii=False, default=_json_fallback, allow_nan=False)
    words = coder.iterencode(document)
    while piece := "".join(islice(words, WORDS)):
        yield re.sub(r"##(?=(?:vso|teamcity)?\[)", r"#\\u0023", piece)
    yield "\n"


def _json_fallback(value: object) -> object:
    """What JSON has no type for: a scalar of an array is its number, all else is as it is written."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def _design_as_json(design: Design, fail_on: Severity) -> dict[str, object]:
    return {
        "fabric": design.name,
        **({"cluster": design.cluster} if design.cluster else {}),
        **({"members": list(design.members)} if design.members else {}),
        **({"phase": design.phase} if design.phase else {}),
        **({"needed": design.needed} if design.needed else {}),
        "file": design.file,
        "ok": not any(d.severity >= fail_on for d in design.findings),
        **_failures_as_json(design),
        **({"job_costs": list(design.job_costs)} if design.job_costs else {}),
        "parameters": {k: language_value_as_json(v) for k, v in design.parameters.items()},
        "summary": design.consists() or {},
        "results": [_result_as_json(r) for r in design.results],
        "findings": [
            finding_as_json(d, design.file) for d in design.findings if d.severity is not Severity.ALLOWED
        ],
        **_allowed_findings_as_json(design),
        "elapsed_s": round(design.elapsed_s, 3),
    }


def _sweep_as_json(sweep: Sweep) -> dict[str, object]:
    """What ``--all-params`` found: ``values`` of each parameter (the ends, if they are many), ``kept`` those
    without a range."""
    return {
        "file": sweep.file,
        "combinations": sweep.total,
        "checked": len(sweep.cases),
        "whole": sweep.whole,
        "values": {name: _parameter_values_as_json(values) for name, values in sweep.varied.items()},
        "kept": {name: language_value_as_json(d.default) for name, d in sweep.kept.items()},
        "results": [
            {
                "fabric": fabric,
                "check": v.check,
                "requirement": None if v.bare else v.what,
                "status": v.status,
                "count": v.count,
                "asked": v.asked,
                "judged": v.judged,
                "of": len(sweep.cases) if sweep.total is None else sweep.total,
                "parameters": None
                if v.first is None
                else {k: language_value_as_json(x) for k, x in v.first.values.items()},
                "text": v.answer,
            }
            for fabric, verdicts in sweep.verdicts().items()
            for v in verdicts
        ],
        "findings": [
            finding_as_json(d, sweep.file) for d in sweep.findings if d.severity is not Severity.ALLOWED
        ],
    }


def _parameter_values_as_json(values: Sequence[object]) -> object:
    if len(values) > LISTED:
        return {
            "first": language_value_as_json(values[0]),
            "last": language_value_as_json(values[-1]),
            "count": len(values),
        }
    return [language_value_as_json(v) for v in values]


def _failures_as_json(design: Design) -> dict[str, object]:
    """What is judged as failed, and how much that is; nothing where all stands."""
    lost = design.losses()
    if lost is None:
        return {}
    names, devices, links = lost
    return {"failed": list(names), "failed_devices": devices, "failed_links": links}


def _allowed_findings_as_json(design: Design) -> dict[str, object]:
    """Findings that the design allows, each with the reason; nothing where there is none."""
    found = [
        {**finding_as_json(d, design.file), "reason": d.allowed}
        for d in design.findings
        if d.severity is Severity.ALLOWED
    ]
    return {"allowed": found} if found else {}


def language_value_as_json(value: object) -> object:
    """A value of the language as JSON has it: numbers, texts and lists as they are, all else as it is
    written."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, (tuple, list)):
        return [language_value_as_json(v) for v in value]
    return str(value)


def _result_as_json(result: Result) -> dict[str, object]:
    place = _span_as_json(result.origin.span if result.origin else None, None)
    return result.facts() | {k: place[k] for k in ("file", "line", "column")}


def finding_as_json(d: Diagnostic, file: str) -> dict[str, object]:
    """A finding about a file, with its place."""
    out: dict[str, object] = {
        "code": d.code,
        "name": catalogue.finding_name(d.code),
        "severity": d.severity.word,
        "title": catalogue.finding_title(d.code),
        "message": d.message,
        **_span_as_json(d.span, file),
        "labels": [_label_as_json(x.span, x.message) for x in d.labels],
        "notes": list(d.notes),
        "help": d.help,
        "count": d.count,
    }
    if d.fix is not None:
        edits = [{**_span_as_json(span, None), "text": text} for span, text in d.fix.edits]
        out["fix"] = {"title": d.fix.title, "edits": edits}
    return out


def _label_as_json(span: SourceSpan, message: str) -> dict[str, object]:
    return {**_span_as_json(span, None), "message": message}


def _span_as_json(span: SourceSpan | None, file: str | None) -> dict[str, object]:
    """File, line and column of both ends; a finding about a file as a whole has line 0."""
    if span is None:
        nowhere = None if file is None else 0
        return {"file": file, "line": nowhere, "column": nowhere, "end_line": nowhere, "end_column": nowhere}
    (line, column), (end_line, end_column) = span.begin, span.finish
    return {
        "file": span.file.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }
