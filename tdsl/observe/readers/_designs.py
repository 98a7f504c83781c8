"""What readers of designs in other languages share: what of them a design made of links does not have, and
rates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tdsl.findings.source import SourceFile
from tdsl.observe.record import CaptureLine, Malformed, Observed
from tdsl.system.nouns import counted_noun

MOST_KINDS = 24
"""Kinds of things set aside that a note names."""
MOST_RATE = 10**15
"""Bit/s of a link at most."""


class PartsSetAside:
    """Counts what is read and not used, by what it is; one note says all of it."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.counts: dict[str, int] = {}
        self.line = 0
        self.links = 0
        """Links read, with those that are left out."""

    def add(self, what: str, line: int = 1, count: int = 1) -> None:
        """So many more of this, which is a noun in the plural: ``demands``, ``asn of switches``."""
        if count:
            self.counts[what] = self.counts.get(what, 0) + count
            self.line = self.line or line

    def note(self, into: Observed, used: str) -> None:
        """Report what was read, what is used, and what is set aside. ``used`` says what is, beside links."""
        wires = sum(w.at.file is self.file for w in into.wires)
        aside = [f"{what} ({n:,})" for what, n in self.counts.items()]
        if len(aside) > MOST_KINDS:
            aside = [*aside[:MOST_KINDS], f"and {len(aside) - MOST_KINDS} more kinds"]
        links = f"{counted_noun(self.links, 'link')} read, {wires:,} used, {self.links - wires:,} set aside"
        said = f"; not in the design: {', '.join(aside)}" if aside else ""
        into.note(
            "E0699",
            CaptureLine(self.file, self.line or 1),
            f"{used}; {links}{said}",
            "write in the design what of this matters" if aside else "",
        )


def rate_from_gigabits(value: object, line: int, what: str) -> int:
    """Bit/s of a number of Gbit/s. Raises Malformed where it is none, or no whole number of bit/s."""
    try:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)) or len(str(value)) > 40:
            raise ValueError
        rate = Fraction(str(value)) * 10**9
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate.denominator != 1 or not 0 < rate <= MOST_RATE:
        raise Malformed(
            line, f"{what} is {str(value)[:40]!r}, which is not a rate in Gbit/s", "give a number such as 400"
        )
    return int(rate)


def shown_value(value: object) -> str:
    """A value of a file as a message quotes it."""
    return repr(value) if len(repr(value)) <= 60 else f"{repr(value)[:57]}..."


def line_of_mapping(value: object, otherwise: int = 1) -> int:
    """The line of a mapping of YAML; another where it is none."""
    return int(getattr(value, "line", otherwise))


def mapping_of(value: object, line: int, what: str) -> Mapping[str, Any]:
    """A mapping whose keys are texts; an empty one for nothing. Raises Malformed."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(k, str) for k in value):
        raise Malformed(line, f"{what} is {type(value).__name__}, not a mapping with names")
    return value


def list_of(value: object, line: int, what: str) -> list[Any]:
    """A list; an empty one for nothing. Raises Malformed."""
    if value is not None and not isinstance(value, list):
        raise Malformed(line, f"{what} is {type(value).__name__}, not a list")
    return value or []
