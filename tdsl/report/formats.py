"""Formats of a report: every module of this package that has a ``FORMAT`` is one, found by being there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.compile.compiler import Compilation


NAME = re.compile(r'^FORMAT = "([a-z]+)"$', re.MULTILINE)
"""What a module says that renders a format."""


@dataclass(frozen=True, slots=True)
class Report:
    """What to render. ``fail_on`` is the severity from which a design is not ok; colour and width are a
    terminal's; ``verbose`` asks for all answers. Findings from the severity ``held`` on wait for the end."""

    compilations: Sequence[Compilation]
    fail_on: Severity = Severity.ERROR
    colour: bool = False
    width: int = 100
    elapsed_s: float = 0.0
    printed: Sequence[Diagnostic] = ()  # findings that were printed before the proofs started
    verbose: bool = False
    held: Severity | None = None
    help_uri: str = ""  # the address of the documentation as a site, for links to the pages of findings

    def unprinted(self, compilation: Compilation) -> list[tuple[str, Diagnostic]]:
        """The findings of a compilation that are still to be printed, each with the file it is about; what is
        allowed is left out."""
        done = {finding_key(d) for d in self.printed}
        return [
            (f, d)
            for f, d in compilation.findings_with_files()
            if d.severity is not Severity.ALLOWED
            and finding_key(d) not in done
            and (self.held is None or d.severity < self.held)
        ]

    @property
    def grave(self) -> Severity:
        """The severity from which a finding stands last, where people look first."""
        return min(self.fail_on, Severity.ERROR)

    @property
    def reported_findings(self) -> list[tuple[str, Diagnostic]]:
        """All findings in order, each with the file it is about; what is allowed is left out."""
        return [
            (file, d)
            for c in self.compilations
            for file, d in c.findings_with_files()
            if d.severity is not Severity.ALLOWED
        ]

    @property
    def allowed(self) -> list[tuple[str, Diagnostic]]:
        """The findings that the designs allow."""
        return [
            (file, d)
            for c in self.compilations
            for file, d in c.findings_with_files()
            if d.severity is Severity.ALLOWED
        ]

    @property
    def findings(self) -> list[Diagnostic]:
        """All findings, in order; what is allowed is left out."""
        return [d for _, d in self.reported_findings]

    @property
    def coverage(self) -> tuple[int, int]:
        """How many requirements were judged in full, and how many there are."""
        every = [
            r
            for c in self.compilations
            for d in c.judged
            for r in d.results
            if r.requirement is not None and not r.report
        ]
        return sum(not r.partial for r in every), len(every)

    @property
    def failed(self) -> bool:
        """Whether any finding is at or above the bar."""
        return any(d.severity >= self.fail_on for d in self.findings)


def finding_key(d: Diagnostic) -> tuple[object, ...]:
    """What makes two findings of one compilation the same: the code and the place, or the message where there
    is no place."""
    return (d.code, d.severity, *((d.span.file.name, d.span.start, d.span.end) if d.span else (d.message,)))


class Renderer(Protocol):
    """A module of this package that renders."""

    FORMAT: str

    def render(self, report: Report) -> str:
        """The report in this format, line end included."""
        ...


@runtime_checkable
class Streamed(Renderer, Protocol):
    """A format for people: findings are text of their own, which may be printed before the rest of the report
    is known."""

    def render_early_findings(self, report: Report) -> str:
        """The findings alone, as the report would begin."""
        ...


class _Formats(Mapping[str, Renderer]):
    """Renderers by the name of their format; a module is imported when its renderer is asked for."""

    def __init__(self) -> None:
        found = {}
        for file in Path(__file__).parent.glob("*.py"):
            named = NAME.search(file.read_text(encoding="utf-8"))
            if named is not None:
                found[named[1]] = file.stem
        self._modules = dict(sorted(found.items()))

    def __getitem__(self, name: str) -> Renderer:
        return cast(Renderer, import_module(f"tdsl.report.{self._modules[name]}"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


@cache
def report_formats() -> Mapping[str, Renderer]:
    """Renderers by the name of their format."""
    return _Formats()
