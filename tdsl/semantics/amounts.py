"""Amounts that lack their unit, have it apart, or have another: what to write instead."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import (
    LENGTH,
    MASS,
    POWER,
    RATE,
    TIME,
    UNIT_TABLE,
    UNITS,
    Dim,
    Quantity,
    kind_name,
)
from tdsl.semantics.values import Value, a_type
from tdsl.syntax import tree
from tdsl.syntax.foreign_units import amount_written_here
from tdsl.syntax.keywords import SETTINGS

_SETTINGS = frozenset({*SETTINGS, "mass", "latency", "price"})
USUAL = {UNITS: "U", POWER: "kW", LENGTH: "m", MASS: "kg", RATE: "Gbps", TIME: "us"}
"""The unit in which an amount of each kind is most often written."""
EXAMPLES = {UNITS: "48U", POWER: "40kW", LENGTH: "0.6m", MASS: "1400kg", RATE: "400Gbps", TIME: "2us"}


def amount_in_quotes_fault(value: Value | object, span: SourceSpan) -> Fault | None:
    """The fault of ``"5m"``, an amount that is written as a text; None of other values."""
    if not isinstance(value, str) or span.text != f'"{value}"':
        return None
    if re.fullmatch(r"\d[\d.]*[A-Za-z%/]+", value) is None:
        return None
    fix = Fix(f"write `{value}`", ((span, value),), safe=False)
    return Fault(
        "E0103", span, "an amount has no quotes around it", help=f"write `{value}`, without quotes", fix=fix
    )


def amount_fault(value: Value | object, dim: Dim, span: SourceSpan) -> Fault:
    """The fault of a value that is no positive amount of a dimension; a bare number gets the usual unit."""
    number = isinstance(value, (int, Fraction)) and not isinstance(value, bool) and value > 0
    new = (
        f"{span.text}{USUAL[dim]}" if number and span.text.replace(".", "").isdigit() and dim in USUAL else ""
    )
    if (quoted := amount_in_quotes_fault(value, span)) is not None:
        return quoted
    wrong = isinstance(value, Quantity) and value.dim == dim
    found = "one that is not" if wrong else a_type(value)
    if new and dim == LENGTH and value >= 100:  # type: ignore[operator]
        new = f"{span.text}mm"
    what = "an amount of rack units" if dim == UNITS else f"a {kind_name(dim)}"
    return Fault(
        "E0103",
        span,
        f"expected {what} above zero, found {found}",
        help=f"write `{new}`" if new else f"such as `{EXAMPLES[dim]}`" if dim in EXAMPLES else "",
        fix=Fix(f"write `{new}`", ((span, new),), safe=False) if new else None,
    )


def decimal_comma_fault(s: tree.Setting) -> Fault | None:
    """The fault of ``power 0,7kW``, which has a comma where a point belongs; None of others."""
    found = re.search(r"\b(\d+),(\d+[A-Za-z%][A-Za-z/]*)(?!\w)", s.span.text)
    if found is None or len(s.items) < 2:
        return None
    at = SourceSpan(s.span.file, s.span.start + found.start(), s.span.start + found.end())
    new = f"{found[1]}.{found[2]}"
    return Fault(
        "E0103",
        at,
        "a decimal has a point: `,` separates values",
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((at, new),), safe=False),
    )


def settings_in_one_fault(
    own: str, items: Sequence[tree.SettingItem], known: Collection[str] = _SETTINGS
) -> Fault | None:
    """The fault of ``height 48U power 2kW``, two settings without a `;` between them: a known one is among
    the words of the items of another. None where there is none."""
    for name, place, behind in _words_with_places(items):
        if name == own or name not in known or (own, name) == ("bundle", "across"):
            continue
        if name == "type" and behind and place.start == items[0].span.start:
            gone = SourceSpan(place.file, place.start, place.end + 1)
            fix = Fix("remove `type`", ((gone, ""),), safe=False)
            message = f"the value of `{own}` follows it, without `type`"
            return Fault("E0120", place, message, help=f"write `{own} {behind}`", fix=fix)
        before = place.file.text[: place.start].rstrip().removesuffix(",")
        begin = len(re.sub(r"(?<!\s)\s++(?:x|and|with)$", "", before[-20:])) + max(len(before) - 20, 0)
        return setting_without_sign_fault(SourceSpan(place.file, begin, place.start), place, behind)
    return None


def setting_without_sign_fault(gap: SourceSpan, name: SourceSpan, value: str = "") -> Fault:
    """The fault of a setting, with its value, before which a `;` is missing in a gap."""
    message = f"`{name.text}` is a setting of its own; settings are separated by `;`"
    help = f"write `; {f'{name.text} {value}'.rstrip()}`, or begin a new line"
    return Fault("E0120", name, message, help=help, fix=Fix("put `;`", ((gap, "; "),), safe=False))


def _words_with_places(items: Sequence[tree.SettingItem]) -> Iterator[tuple[str, SourceSpan, str]]:
    """The words of items that have a value behind them, or stand alone in the place of a value: each with its
    place and that value."""
    for item in items:
        values = [("", item.value), *item.args]
        for k, (named, value) in enumerate(values):
            behind = values[k + 1][1].span.text if k + 1 < len(values) else ""
            if named == "x" and isinstance(value, tree.PathExpr) and value.bare and behind:
                yield value.bare, value.span, behind
            elif named:
                start = value.span.file.text.rfind(named, 0, value.span.start)
                place = SourceSpan(value.span.file, start, start + len(named))
                yield named, place, value.span.text
            elif isinstance(value, tree.PathExpr) and value.bare and (behind or len(values) == 1):
                yield value.bare, value.span, behind


def unit_apart_fault(s: tree.Setting) -> Fault | None:
    """The fault of ``length 3 meters``, whose unit stands apart; None where the words behind a value are no
    unit."""
    if len(s.items) != 1 or len(s.items[0].args) != 1:
        return None
    item = s.items[0]
    word = item.args[0][1]
    number = item.value.span.text
    percent = word.span.text.lower() in ("pct", "percent")
    amount = f"{number}%" if percent else amount_written_here(number, word.span.text)
    if not amount and word.span.text in UNIT_TABLE:
        amount = f"{number}{word.span.text}"
    if not amount or not number[:1].isdigit():
        return None
    return Fault(
        "E0118",
        word.span,
        "a number and its unit are written without a space",
        help=f"write `{s.name.name} {amount}`",
        fix=Fix(f"write `{amount}`", ((item.value.span.to(word.span), amount),)),
    )
