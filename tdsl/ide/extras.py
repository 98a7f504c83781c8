"""What editors show beside a text: figures over each fabric, links of `use`, what encloses a place,
declarations of a workspace, comments that waive a finding, and findings of an earlier text at their new
places."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tdsl.compile.waivers import FOREVER
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide.outline import Symbol, declared_symbols
from tdsl.semantics.fault import Fault
from tdsl.semantics.loader import Loader
from tdsl.syntax import tree
from tdsl.system import cache
from tdsl.system.read import read_text_file

MOST_FILES, MOST_SYMBOLS = 2_000, 200
"""Files of a workspace that are read for their declarations, and declarations that one answer has."""


def fabric_symbols(body: Iterable[tree.Stmt]) -> Iterator[Symbol]:
    """The fabrics and clusters that a text declares."""
    for s in declared_symbols(body):
        if s.kind in ("fabric", "cluster"):
            yield s
            yield from (i for i in s.inner if i.kind == "fabric")


# ---------------------------------------------------------------- links and selections
def use_links(body: Iterable[tree.Stmt], loader: Loader, folder: Path) -> Iterator[tuple[SourceSpan, Path]]:
    """The file that each `use` names, with the words that name it; none for a folder, or where nothing is
    found."""
    for s in body:
        if not isinstance(s, tree.Use):
            continue
        try:
            found = loader.find(s, folder)
        except Fault:
            continue
        if len(found) == 1:
            yield s.module[0].span.to(s.module[-1].span), found[0]


def enclosing_spans(body: Iterable[tree.Stmt], file: SourceFile, at: int) -> list[SourceSpan]:
    """The parts of a text that hold a place, from the smallest to the whole."""
    found: dict[tuple[int, int], SourceSpan] = {(0, len(file.text)): SourceSpan(file, 0, len(file.text))}
    stack: list[Any] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node) and not isinstance(node, SourceSpan | SourceFile):
            span = getattr(node, "span", None)
            if isinstance(span, SourceSpan):
                if not span.start <= at <= span.end:
                    continue
                found[span.start, span.end] = span
            stack.extend(getattr(node, f.name) for f in dataclasses.fields(node))
    inside: list[SourceSpan] = []
    for span in sorted(found.values(), key=lambda s: (s.end - s.start, s.start)):
        if not inside or (span.start <= inside[-1].start and span.end >= inside[-1].end):
            inside.append(span)
    return inside


# ---------------------------------------------------------------- the workspace
def declarations_matching(
    folders: Iterable[Path], overlay: Mapping[str, str], query: str
) -> list[tuple[Symbol, tuple[str, ...]]]:
    """The declarations of all files of some folders whose names contain a word, each with the names around
    it."""
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.syntax.parser import parse_source_file

    out: list[tuple[Symbol, tuple[str, ...]]] = []
    word, read = query.lower(), 0
    for folder in folders:
        unsaved = {
            p for name in overlay if (p := Path(name)).is_relative_to(folder.resolve()) and not p.exists()
        }
        for path in sorted({*folder.resolve().rglob("*.fab"), *unsaved}):
            if read == MOST_FILES or len(out) >= MOST_SYMBOLS:
                return out[:MOST_SYMBOLS]
            if any(p.startswith(".") for p in path.relative_to(folder.resolve()).parts):
                continue
            read += 1
            try:
                text = overlay[str(path)] if str(path) in overlay else read_text_file(path)
            except (OSError, UnicodeDecodeError):
                continue
            if word and word not in text.lower():
                continue
            out += _symbols_matching(
                declared_symbols(parse_source_file(SourceFile(str(path), text), Diagnostics()).body), word, ()
            )
    return out[:MOST_SYMBOLS]


def _symbols_matching(
    found: Iterable[Symbol], word: str, around: tuple[str, ...]
) -> Iterator[tuple[Symbol, tuple[str, ...]]]:
    for s in found:
        if word in s.name.lower():
            yield s, around
        yield from _symbols_matching(s.inner, word, (*around, s.name))


# ---------------------------------------------------------------- findings
def waiver_comment(d: Diagnostic) -> tuple[int, str] | None:
    """Where a comment belongs that waives a finding with a reason, and its text; None where none can."""
    if d.span is None or d.severity is Severity.ALLOWED or d.code.startswith(FOREVER):
        return None
    file = d.span.file
    line = d.span.begin[0]
    start = file.line_starts[line - 1]
    indent = file.line(line)[: len(file.line(line)) - len(file.line(line).lstrip())]
    return start, f"{indent}# tdsl: allow({catalogue.finding_name(d.code)}) state the reason here\n"


def explanation_file(code: str) -> Path | None:
    """The file with what `tdsl explain` prints about a code. That of a check is in its program, and is
    written to the cache; None where it cannot be."""
    path = catalogue.FOLDER / f"{code}.md"
    if path.is_file():
        return path
    found = catalogue.page_of_code(code)
    return (
        cache.cached_text_file(f"explain/{code}.md", f"# {code} {found.name}: {found.title}\n\n{found.text}")
        if found
        else None
    )


def findings_moved_to_text(
    old: Iterable[Diagnostic], before: SourceFile, after: SourceFile
) -> list[Diagnostic]:
    """Findings of an earlier text at their places in the present one; those of what was changed are left
    out."""
    head = _common_prefix_length(before.text, after.text)
    rest = min(len(before.text), len(after.text)) - head
    tail = min(_common_prefix_length(before.text[::-1], after.text[::-1]), rest)
    shift = len(after.text) - len(before.text)

    def moved(span: SourceSpan) -> SourceSpan | None:
        if span.file.name != before.name:
            return span
        if span.end <= head:
            return SourceSpan(after, span.start, span.end)
        return (
            SourceSpan(after, span.start + shift, span.end + shift)
            if span.start >= len(before.text) - tail
            else None
        )

    out = []
    for d in old:
        span = d.span and moved(d.span)
        if d.span is not None and span is None:
            continue
        labels = tuple(replace(n, span=place) for n in d.labels if (place := moved(n.span)) is not None)
        out.append(replace(d, span=span, labels=labels, fix=None))
    return out


def _common_prefix_length(a: str, b: str) -> int:
    """How many characters two texts begin with that are the same."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low
