"""How much of what was asked was judged: what is said where that is nothing, or less than a call asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.findings.diagnostic import Diagnostic, Severity

if TYPE_CHECKING:
    from tdsl.findings.source import SourceSpan
    from tdsl.verify.result import Result

NOTHING = "E0907"
"""The code of an answer that is about nothing,"""
PART = "E0908"
"""and of one that is about a part of what was asked."""
REASONS = 4
"""Reasons that are listed."""


def nothing_judged_error(name: str, results: Sequence[Result], help: str = "") -> Diagnostic:
    """The error of a fabric of which no requirement and no check could be judged, with the causes."""
    why: dict[str, list[str]] = {}
    for r in results:
        why.setdefault(r.reason or r.text, []).append(f"`{r.requirement or r.check}`")
    shown = [
        f"{', '.join(names[:REASONS])}{' and more' if len(names) > REASONS else ''} ({reason})"
        for reason, names in why.items()
    ]
    rest = f"; and {len(shown) - REASONS} more" if len(shown) > REASONS else ""
    cause = (
        "; ".join(shown[:REASONS]) + rest if shown else "no requirement and no check is left that is about it"
    )
    return Diagnostic(NOTHING, f"nothing of `{name}` was judged: {cause}", help=help)


def refusal_allowed_error(name: str) -> Diagnostic:
    """The error of a fabric whose wiring was refused by findings that are no errors any more, since something
    allows them."""
    return Diagnostic(
        NOTHING,
        f"nothing of `{name}` was judged: its wiring was refused, by findings that are allowed",
        help="correct them: what is refused is not built, whether a comment or `tdsl.toml` allows it or not",
    )


def part_judged_finding(
    text: str, judged: int, of: int, at_least: Fraction | None, at: SourceSpan | None = None
) -> Diagnostic:
    """What says that an answer is about a part: a note, or an error where a call asks for more."""
    if at_least is None or judged >= at_least * of:
        return Diagnostic(PART, text, at, severity=Severity.NOTE)
    return Diagnostic(PART, text, at, (), (f"--at-least asks for {float(at_least * 100):.6g}%",))


def partly_judged_findings(
    results: Iterable[Result], found: Iterable[Diagnostic], at_least: Fraction | None
) -> Iterator[Diagnostic]:
    """For each requirement or report that is about less than was asked: an error where it is less than
    ``at_least``, else a note where its status does not say it. One with an error among those ``found`` fails
    already."""
    failed = {d.span for d in found if d.severity is Severity.ERROR}
    for r in results:
        at = r.origin.span if r.origin is not None else None
        if r.requirement is None or not r.partial or at in failed:
            continue
        if (at_least is not None and r.judged < at_least * r.of) or r.status in ("proved", "modelled"):
            why = r.reason or "the others are not built, or have failed"
            of = (
                f"names {r.of:,} elements, and {r.judged:,} of them {'is' if r.judged == 1 else 'are'} judged"
            )
            text = f"`{r.requirement}` {of if r.of > 1 else 'is not judged'}: {why}"
            yield part_judged_finding(text, r.judged, r.of, at_least, at)
