"""``prices.toml``: what models and parts cost, from whoever buys them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from fractions import Fraction

from tdsl.diagnostic import Diagnostics
from tdsl.source import SourceFile, Span


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the name of a model, in one currency."""

    currency: str = ""
    date: str = ""
    each: dict[str, Fraction] = field(default_factory=dict)


def read(file: SourceFile, diagnostics: Diagnostics) -> Prices:
    """The prices of a file; what it cannot mean is a finding (E0208)."""
    example = 'currency = "USD", date = "2026-11-01", and a table [price] with lines `MODEL = 36000`'

    def wrong(message: str) -> None:
        line = file.line(1)
        diagnostics.add("E0208", Span(file, 0, len(line)), message, help=example)

    try:
        data = tomllib.loads(file.text, parse_float=Fraction)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        wrong(f"the prices are not TOML: {fault}")
        return Prices()
    extra = sorted(set(data) - {"currency", "date", "price"})
    if extra:
        wrong(f"there is no `{extra[0]}` in a file of prices")
    table = data.get("price", {})
    currency = data.get("currency", "")
    if not isinstance(table, dict) or not table or not isinstance(currency, str) or not currency:
        wrong("a file of prices has a `currency` and a table `[price]`")
        return Prices()
    each: dict[str, Fraction] = {}
    for name, value in table.items():
        if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value < 0:
            wrong(f"the price of {name} is not an amount")
        else:
            each[name.replace("-", "_")] = Fraction(value)
    return Prices(currency, str(data.get("date", "")), each)
