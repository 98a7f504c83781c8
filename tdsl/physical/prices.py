"""``prices.toml``: what models and parts cost and how they are bought, from whoever buys them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from functools import partial
from typing import TypeVar

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.failure_rates import FACTS as FAILURES
from tdsl.semantics.failure_rates import FailureRate, written_failure_fact
from tdsl.semantics.model import MODEL_KINDS
from tdsl.semantics.supply import Spares, Supply, lead_days, parse_spares
from tdsl.system.similar import closest_name
from tdsl.system.toml_lines import place_of_toml_fault, place_of_toml_key, toml_line_meant

T = TypeVar("T")
TABLES = ("price", "spares", "lead", "alternative", *FAILURES)
EXAMPLE = {
    "spares": '`optic = "2%"` or `MODEL = 1`',
    "lead": '`MODEL = "26 weeks"` or `"90 days"`',
    "alternative": '`PART = "OTHER-PART"`, or a list',
    "mtbf": '`MODEL = "146 year"`',
    "fit": "`MODEL = 780`",
    "fails": '`MODEL = "0.057%/month"`',
    "repair": '`MODEL = "4 h"`',
}


def read_prices_toml(file: SourceFile, diagnostics: Diagnostics) -> tuple[dict[str, Fraction], Supply]:
    """The prices of a file by model, and what it says of purchases; what it cannot mean is a finding
    (E0208)."""
    example = 'currency = "USD", date = "2026-11-01", and a table [price] with lines `MODEL = 36000`'

    def wrong(message: str, help: str = example, key: str = "") -> None:
        diagnostics.add("E0208", SourceSpan(file, *place_of_toml_key(file.text, key)), message, help=help)

    try:
        data = tomllib.loads(file.text, parse_float=_parse_exact_amount)
    except (ValueError, RecursionError) as fault:  # tomllib passes on the ValueError of a number
        span = SourceSpan(file, *place_of_toml_fault(file.text, str(fault)))
        new = toml_line_meant(span.text)
        help = f"write `{new}`" if new else example
        diagnostics.add("E0208", span, f"the prices are not TOML: {fault}", help=help)
        return {}, Supply()
    extra = sorted(set(data) - {"currency", "date", *TABLES})
    if extra:
        wrong(f"there is no `{extra[0]}` in a file of prices", _name_meant(extra[0]), extra[0])
        return {}, Supply()
    currency = data.get("currency", "")
    tables = [data.get(name, {}) for name in TABLES]
    if not all(isinstance(t, dict) for t in tables) or not any(tables) or not isinstance(currency, str):
        wrong("a file of prices has a `currency` and a table `[price]`")
        return {}, Supply()
    if tables[0] and not currency:
        wrong("a file of prices has a `currency` and a table `[price]`")
        return {}, Supply()
    _refuse_date(data.get("date", ""), wrong)
    for table in ("spares", "lead"):
        _refuse_misspelt_kind(table, data.get(table, {}), wrong)
    each = _prices_by_model(tables[0], wrong)
    extras: dict[str, Spares] = _table_by_model(
        data, "spares", lambda v: parse_spares(str(v)) if type(v) in (int, str) else None, wrong
    )
    leads: dict[str, int] = _table_by_model(
        data, "lead", lambda v: lead_days(v) if isinstance(v, str) else None, wrong
    )
    others: dict[str, tuple[str, ...]] = _table_by_model(data, "alternative", _names_in_value, wrong)
    failures = _failure_rates_by_model(data, wrong)
    return each, Supply(currency, str(data.get("date", "")), extras, leads, others, failures)


def _refuse_date(said: object, wrong: Callable[[str, str, str], None]) -> None:
    """A finding of a date that is none."""
    try:
        if said != "" and not isinstance(said, date):
            date.fromisoformat(said if isinstance(said, str) else "")
    except ValueError:
        wrong(f"`date` is a day, and {said!r} is none", 'write `date = "2026-11-01"`', "date")


def _refuse_misspelt_kind(
    table: str, of: Mapping[str, object], wrong: Callable[[str, str, str], None]
) -> None:
    """A finding of each key that is a slip away from a kind of model."""
    for name in of:
        near = closest_name(name, MODEL_KINDS, 0.8) if name.islower() and name not in MODEL_KINDS else ""
        if near:
            wrong(f"`{table}` names no model and no kind `{name}`", f"did you mean `{near}`?", name)


def _name_meant(name: str) -> str:
    """What to write for a name that a file of prices does not have."""
    near = closest_name(name, ("currency", "date", *TABLES))
    if not near:
        return f"it has currency, date and tables {', '.join(TABLES)}"
    return f"did you mean `[{near}]`?" if near in TABLES else f"did you mean `{near}`?"


def _failure_rates_by_model(
    data: Mapping[str, Mapping[str, object]], wrong: Callable[[str, str], None]
) -> dict[str, FailureRate]:
    """The tables `mtbf`, `fit`, `fails` and `repair` together; a model of which two give a rate is a
    finding."""
    out: dict[str, FailureRate] = {}
    for table in FAILURES:
        found = _table_by_model(data, table, partial(written_failure_fact, table), wrong)
        for name, amount in found.items():
            before = out.get(name, FailureRate())
            if table == "repair":
                out[name] = replace(before, repair=amount)
            elif before.per_second is not None:
                wrong(
                    f"two tables give the rate of failures of {name}", "keep one of `mtbf`, `fit` and `fails`"
                )
            else:
                out[name] = replace(before, per_second=amount)
    return out


def _prices_by_model(
    table: Mapping[str, object], wrong: Callable[[str, str, str], None]
) -> dict[str, Fraction]:
    """The table of prices; what is no amount is a finding."""
    each: dict[str, Fraction] = {}
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < 0:
            text = value.strip() if isinstance(value, str) else ""
            new = toml_line_meant(f"{name} = {text}") if text else ""
            new = new or (f"{name} = {text}" if text.replace(".", "").isdigit() else f"{name} = 36000")
            help = f"write `{new}`, a number without quotes"
            wrong(f"the price of {name} is not an amount", help, name)
        else:
            each[name.replace("-", "_")] = Fraction(value)
    return each


def _parse_exact_amount(text: str) -> Fraction:
    """A number with a point or an exponent, exactly. Raises ValueError where it has more than 100 digits
    written out."""
    digits, _, exponent = text.lower().partition("e")
    if len(digits) > 100 or len(exponent) > 4 or abs(int(exponent or 0)) > 100:
        raise ValueError(f"{text[:40]} is not an amount")
    return Fraction(text)


def _table_by_model(
    data: Mapping[str, Mapping[str, object]],
    table: str,
    of: Callable[[object], T | None],
    wrong: Callable[[str, str], None],
) -> dict[str, T]:
    """One table by model; what a value cannot mean is a finding."""
    out: dict[str, T] = {}
    for name, value in data.get(table, {}).items():
        found = of(value)
        if found is None:
            wrong(f"`{table}` of {name} has no meaning", f"write {EXAMPLE[table]}")
        else:
            out[name.replace("-", "_")] = found
    return out


def _names_in_value(value: object) -> tuple[str, ...] | None:
    names: list[object] = value if isinstance(value, list) else [value]
    found = tuple(n for n in names if isinstance(n, str) and n)
    return found if found and len(found) == len(names) else None
