"""Findings: one type for everything tdsl has to say about a design."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from enum import IntEnum
from typing import Self, TypedDict, Unpack

from tdsl.findings.source import Origin, SourceSpan
from tdsl.system.lazy_dataclass import dataclass


class Severity(IntEnum):
    """How much a finding matters; ``--fail-on`` compares with it. What is allowed matters to nobody but
    readers."""

    ALLOWED = -1
    NOTE = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        """Its name as printed."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains a finding, and what it has to do with it."""

    span: SourceSpan
    message: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A change of the text that corrects the fault: spans, and the text that replaces each.

    A fix is not ``safe`` if it guesses what was meant: a name like the one that is unknown, or where a block
    ends.
    """

    title: str
    edits: tuple[tuple[SourceSpan, str], ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    ``code`` names its page (``tdsl explain E0101``), from which name and title are read; ``message`` is the
    cause with its numbers, ``notes`` are further facts, ``help`` is what would mend it. ``count`` is how many
    findings it is shown for: equal ones, and ``unlisted`` others of its code further down in the text.
    ``allowed`` is the reason for which the design allows it. ``cause`` has place and code of the finding that
    this one is a consequence of: it is reported only where that one is none, or is waived.
    """

    code: str
    message: str
    span: SourceSpan | None = None
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    fix: Fix | None = None
    severity: Severity = Severity.ERROR
    count: int = 1
    allowed: str = ""
    cause: Label | None = None
    unlisted: int = 0

    @property
    def others_in_words(self) -> str:
        """Which others it is shown for, such as ``first of 24``; "" where it is alone."""
        if self.unlisted:
            return f"{self.unlisted:,} more of this code are not listed"
        return f"first of {self.count:,}" if self.count > 1 else ""


class FindingDetails(TypedDict, total=False):
    """What may be said of a finding beside its code, place and message."""

    labels: Iterable[tuple[SourceSpan, str]]
    """Further places, each with a text."""
    notes: Iterable[str]
    """Sentences below the finding."""
    help: str
    """How to correct it."""
    fix: Fix | None
    """An edit that corrects it."""
    severity: Severity
    """An error if not given."""
    count: int
    """How many equal findings it is for; 1 if not given."""


OF_READING = "E00"
"""Codes of faults that keep a text from being read: nothing of it is judged, and no comment allows them."""
MOST_EQUIVALENT_FAULTS = 200
"""Faults of one code in one text that are listed."""


@dataclass(slots=True)
class Diagnostics:
    """Findings as they are collected by one stage."""

    items: list[Diagnostic] = field(default_factory=list)

    def add(
        self,
        code: str,
        at: SourceSpan | Origin | None,
        message: str,
        **details: Unpack[FindingDetails],
    ) -> None:
        """Record a finding; an origin's chain becomes labels after those given."""
        span = at.span if isinstance(at, Origin) else at
        labels = [Label(s, m) for s, m in details.get("labels", ())]
        if isinstance(at, Origin):
            labels += [Label(s, m) for s, m in at.chain]
        self.items.append(
            Diagnostic(
                code,
                message,
                span,
                tuple(labels),
                tuple(details.get("notes", ())),
                details.get("help", ""),
                details.get("fix"),
                details.get("severity", Severity.ERROR),
                details.get("count", 1),
            )
        )

    @property
    def has_errors(self) -> bool:
        """Whether any finding is an error."""
        return any(d.severity is Severity.ERROR for d in self.items)

    def extend(self, other: Iterable[Diagnostic]) -> Self:
        """Take over findings of another stage."""
        self.items.extend(other)
        return self

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


def merge_equal_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings in the order of the text; those with one code and one place become one with a count."""
    groups: dict[tuple[object, ...], Diagnostic] = {}
    for d in findings:
        place_key = (id(d.span.file), d.span.start, d.span.end) if d.span else (d.message,)
        key = (d.code, d.severity, *place_key)
        first = groups.get(key)
        groups[key] = d if first is None else replace(first, count=first.count + d.count)

    def place(d: Diagnostic) -> tuple[str, int, int, str]:
        if d.span is None:
            return ("", 0, 0, d.code)
        return (d.span.file.name, d.span.start, d.span.end, d.code)

    return _without_equivalent_faults(sorted(groups.values(), key=place))


def _without_equivalent_faults(findings: list[Diagnostic]) -> list[Diagnostic]:
    """Findings where of many faults of one text that have one code and no fix the first are kept, and the
    last of these says how many others there are: a text of another kind has a fault at each word."""
    if len(findings) <= MOST_EQUIVALENT_FAULTS:
        return findings
    kept: list[Diagnostic] = []
    places: dict[tuple[int, str], list[int]] = {}
    for d in findings:
        listed = None
        if d.code.startswith(OF_READING) and d.span is not None and d.fix is None:
            listed = places.setdefault((id(d.span.file), d.code), [])
        if listed is None or len(listed) < MOST_EQUIVALENT_FAULTS:
            if listed is not None:
                listed.append(len(kept))
            kept.append(d)
            continue
        last = kept[listed[-1]]
        kept[listed[-1]] = replace(last, count=last.count + d.count, unlisted=last.unlisted + d.count)
    return kept
