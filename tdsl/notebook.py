"""How results show themselves in notebooks: tables of answers and findings as HTML, and the drawing of a
fabric as SVG.

IPython asks an object for ``_repr_html_`` and ``_repr_svg_``. What is shown runs nothing and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity

if TYPE_CHECKING:
    from tdsl.fabric.graph import Fabric
    from tdsl.verify.result import Result

COLOURS = {"proved": "#1a7f37", "refuted": "#cf222e", "bounded": "#9a6700", "modelled": "#0969da"}
SEVERITIES = {Severity.ERROR: "#cf222e", Severity.WARNING: "#9a6700"}
MOST_DRAWN = 200_000
"""Characters of a drawing that a page shows beside the tables."""


def fabric_svg(fabric: Fabric) -> str:
    """The drawing that the target ``diagram`` makes of a fabric; "" where it makes none."""
    from tdsl.emit.build import build_files

    made = build_files(fabric, ["diagram"], Diagnostics())
    return made.get("diagram/fabric.svg", b"").decode()


def results_html(
    title: str, parameters: Mapping[str, object], results: Iterable[Result], findings: Iterable[Diagnostic]
) -> str:
    """The answers and findings of a design as a heading and two tables."""
    given = ", ".join(f"{k} = {v}" for k, v in parameters.items())
    parts = [f"<h4>{escape(title)}{escape(f' ({given})') if given else ''}</h4>"]
    rows = [
        f'<tr><td style="color:{COLOURS.get(r.status, "inherit")}">{escape(r.status)}</td>'
        f'<td style="text-align:left">{escape(r.requirement or r.check)}</td>'
        f'<td style="text-align:left">{escape(r.text or r.reason)}</td></tr>'
        for r in results
    ]
    if rows:
        parts.append(
            "<table><tr><th>status</th><th>requirement or "
            f"check</th><th>answer</th></tr>{''.join(rows)}</table>"
        )
    shown = [
        f'<tr><td style="color:{SEVERITIES.get(d.severity, "inherit")}">{escape(d.severity.word)}</td>'
        f"<td>{escape(d.code)}</td><td>{escape(_file_and_line(d))}</td>"
        f'<td style="text-align:left">{escape(catalogue.finding_title(d.code))}: '
        f"{escape(d.message)}</td></tr>"
        for d in findings
        if d.severity is not Severity.ALLOWED
    ]
    if shown:
        head = "<tr><th>severity</th><th>code</th><th>place</th><th>finding</th></tr>"
        parts.append(f"<table>{head}{''.join(shown)}</table>")
    return "\n".join(parts)


def _file_and_line(d: Diagnostic) -> str:
    return f"{d.span.file.name}:{d.span.begin[0]}" if d.span is not None else ""


class NotebookDrawing(str):
    """An SVG that notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)
