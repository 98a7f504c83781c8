"""The structure form of a design: its text with every statement of intent replaced by what it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.library import Linked
from tdsl.semantics.plan import FabricPlan
from tdsl.syntax import tree
from tdsl.syntax.printer import format_source
from tdsl.syntax.writer import inside_quotes

Edit = tuple[int, int, str]


def expand_design(home: Linked, plans: Iterable[FabricPlan], settings: dict[str, str]) -> str:
    """The text of a file with the intent of its fabrics unfolded and its parameters at their given values,
    laid out."""
    file, plans = home.module.file, list(plans)
    edits: list[Edit] = []
    for plan in plans:
        edits += [_replacement_edit(file, u.span, u.text) for u in plan.unfolded if u.span.file is file]
        edits += [
            (span.start, span.end, str(value)) for span, value in plan.holes.items() if span.file is file
        ]
    edits += _parameter_edits(home.module.body, settings, {p.name: p for p in plans})
    text = file.text
    for start, end, new in sorted(set(edits), reverse=True):
        text = text[:start] + new + text[end:]
    return format_source(SourceFile(file.name, text))


def _replacement_edit(file: SourceFile, span: SourceSpan, text: str) -> Edit:
    """The place of a statement; where nothing stands for it, its line goes with it."""
    start, end = span.start, span.end
    if text:
        return start, end, text
    behind = re.compile(r"[ \t]*;?[ \t]*").match(file.text, end)
    end = behind.end() if behind else end
    before = file.text.rfind("\n", 0, start) + 1
    if not file.text[before:start].strip() and file.text[end : end + 1] in ("\n", ""):
        return before, min(end + 1, len(file.text)), ""
    return start, end, ""


def _parameter_edits(
    body: Iterable[tree.Stmt], settings: dict[str, str], plans: Mapping[str, FabricPlan]
) -> list[Edit]:
    """Defaults that are given other values, also by the phase that is planned, which then is the whole."""
    body = tuple(body)
    chosen = {p.phase for p in plans.values()}
    phases = [s for s in body if isinstance(s, tree.PhaseBlock)]
    out: list[Edit] = [_replacement_edit(s.span.file, s.span, "") for s in phases]
    for s in phases:
        if s.number in chosen:
            settings = _values_of_phase(s) | settings
    for other in body:
        if isinstance(other, tree.Param) and other.name.name in settings:
            at = other.default.span
            out.append((at.start, at.end, _parameter_literal(other, settings[other.name.name])))
        elif isinstance(other, tree.Decl) and other.kind.name in ("fabric", "cluster"):
            name = other.name.name
            inner = {name: plans[name]} if name in plans else plans
            out += _parameter_edits(other.body or (), settings, inner)
    return out


def _values_of_phase(s: tree.PhaseBlock) -> dict[str, str]:
    """What a phase gives parameters, as text."""
    return {
        x.name.name: x.items[0].value.span.text for x in s.body if isinstance(x, tree.Setting) and x.items
    }


def _parameter_literal(s: tree.Param, text: str) -> str:
    """What ``--set`` says as the text of a design; a string may be given bare."""
    return (
        f'"{inside_quotes(text)}"'
        if s.type is not None and s.type.name == "string" and not text.startswith('"')
        else text
    )
