"""``economics.toml``: what a cluster costs over time, from whoever owns it.

An accelerator-hour is the yearly share of the capital (an annuity: capital · i / (1 - (1 + i)^-n) at an
interest of i for n years; capital / n without interest), energy at the power of the design times PUE, and
staff, over the hours that all accelerators work in a year of 8,760 hours.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.physical.racks import PartialSum
from tdsl.semantics.quantity import NONE, TIME, UNIT_TABLE
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.similar import closest_name
from tdsl.system.toml_lines import place_of_toml_fault, place_of_toml_key, toml_line_meant

WRONG = "E0219"
HOURS_OF_YEAR = 8760
TIMES = ("convergence", "repair")
"""Keys whose values are times with their unit."""
WRITTEN_TIME = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]{1,8})")
EXAMPLE = 'currency = "USD", kwh = 0.08, pue = 1.2, years = 4, interest = 0.06'
USUAL = {
    "currency": '"USD"',
    "kwh": "0.08",
    "years": "4",
    "pue": "1.2",
    "interest": "0.06",
    "utilisation": "0.9",
    "staff": "2000000",
    "accelerator": "32000",
    "convergence": '"500ms"',
    "repair": '"4h"',
}
"""How each key may be written."""


@dataclass(frozen=True, slots=True)
class Economics:
    """What an owner states: the price of a kilowatt-hour, the power usage effectiveness, years of use,
    interest a year, the share of hours that accelerators work, staff a year, and the price of an accelerator
    with its part of a host (None: hosts have the prices of their models); seconds until routing has converged
    after a failure, and until a failure is repaired, None where not stated. All but ``currency`` are
    amounts."""

    currency: str
    kwh: Fraction
    years: Fraction
    pue: Fraction = Fraction(1)
    interest: Fraction = Fraction(0)
    utilisation: Fraction = Fraction(1)
    staff: Fraction = Fraction(0)
    accelerator: Fraction | None = None
    convergence: Fraction | None = None
    repair: Fraction | None = None


@dataclass(frozen=True, slots=True)
class CostOverTime:
    """Money of a design: ``capital`` in all and of the network alone; a year's costs; the cost of an
    accelerator-hour; the network's share of the capital and of a year's costs. ``exact`` where all prices and
    powers are known: else the sums are lower bounds, the shares are None, and ``missing`` says how many of
    each are unknown."""

    capital: Fraction
    network_capital: Fraction
    energy_year: Fraction
    year: Fraction
    accelerator_hour: Fraction
    network_share_of_capital: Fraction | None
    network_share_of_year: Fraction | None
    exact: bool
    missing: str = ""


def annuity_factor(interest: Fraction, years: Fraction) -> Fraction:
    """The share of a capital that a year costs."""
    if not interest:
        return 1 / years
    grown = Fraction((1 + float(interest)) ** float(years)).limit_denominator(10**9)
    return interest * grown / (grown - 1)


def cost_over_time(
    told: Economics,
    accelerators: int,
    cost: PartialSum,
    network_cost: PartialSum,
    power: PartialSum,
    network_power: PartialSum,
) -> CostOverTime:
    """What a cluster of so many accelerators costs; sums of money and of watts, of all and of the network."""
    priced = cost if told.accelerator is None else network_cost
    capital = priced.known + (told.accelerator or 0) * accelerators
    exact = priced.exact and power.exact
    unknown = [(priced.missing, "parts without a price"), (power.missing, "parts without a power")]
    share = annuity_factor(told.interest, told.years)
    energy, of_network = (
        p.known / 1000 * told.pue * HOURS_OF_YEAR * told.kwh for p in (power, network_power)
    )
    year = capital * share + energy + told.staff
    network_year = network_cost.known * share + of_network
    hour = year / (accelerators * HOURS_OF_YEAR * told.utilisation)
    parts = exact and network_cost.exact and network_power.exact
    return CostOverTime(
        capital,
        network_cost.known,
        energy,
        year,
        hour,
        network_cost.known / capital if parts and capital else None,
        network_year / year if parts and year else None,
        exact,
        " and ".join(f"{n:,} {what}" for n, what in unknown if n),
    )


def read_economics_toml(file: SourceFile, diagnostics: Diagnostics) -> Economics | None:
    """What a file says; None, with a finding, where that has no meaning."""

    def wrong(key: str, message: str, help: str) -> None:
        span = SourceSpan(file, *place_of_toml_key(file.text, key))
        diagnostics.add(WRONG, span, message, help=help)

    try:
        data = tomllib.loads(file.text, parse_float=Fraction)
    except (ValueError, RecursionError, OverflowError) as fault:
        span = SourceSpan(file, *place_of_toml_fault(file.text, str(fault)))
        new = toml_line_meant(span.text)
        help = f"write `{new}`" if new else f"write, for example, `{EXAMPLE}`, each on a line"
        diagnostics.add(WRONG, span, f"the economics are not TOML: {fault}", help=help)
        return None
    return _economics_of_data(data, wrong)


def _economics_of_data(data: dict[str, object], wrong: Callable[[str, str, str], None]) -> Economics | None:
    """The values of a file; what is missing, unknown or no amount is a finding."""
    known = [f.name for f in fields(Economics)]
    extra = sorted(set(data) - {*known, "date"})
    if extra:
        wrong(extra[0], *_unknown_key(extra[0], known))
        return None
    missing = [name for name in ("currency", "kwh", "years") if name not in data]
    if missing:
        lines = " and ".join(f"`{_line_of_key(name)}`" for name in missing)
        wrong("", f"a file of economics needs `{'`, `'.join(missing)}`", f"write a line {lines}")
        return None
    values: dict[str, Fraction] = {}
    for name in known[1:]:
        if name not in data:
            continue
        value = _time_of_text(data[name]) if name in TIMES else _amount_of_key(name, data[name])
        if value is None:
            what, help = _what_fits(name, data[name])
            wrong(name, f"`{name}` is not {what}", help)
            return None
        values[name] = value
    if not isinstance(data["currency"], str):
        wrong("currency", "`currency` is a text", 'write `currency = "USD"`')
        return None
    return Economics(data["currency"], **values)


_MEANT = {
    "electricity": "kwh",
    "energy": "kwh",
    "power": "kwh",
    "kwh_price": "kwh",
    "price_kwh": "kwh",
    "lifetime": "years",
    "depreciation": "years",
    "amortization": "years",
    "life": "years",
    "rate": "interest",
    "wacc": "interest",
    "discount": "interest",
    "discount_rate": "interest",
    "opex": "staff",
    "salaries": "staff",
    "gpu": "accelerator",
    "gpu_price": "accelerator",
    "mttr": "repair",
    "availability": "utilisation",
    "load": "utilisation",
    "usage": "utilisation",
}
"""Words of others for a key."""


def _line_of_key(name: str) -> str:
    """A line that gives a key a usual value."""
    return f"{name} = {USUAL[name]}"


def _unknown_key(key: str, known: list[str]) -> tuple[str, str]:
    """What is wrong with a key that a file does not have, and what was meant."""
    near = _MEANT.get(key.lower()) or closest_name(key, [*known, "date"])
    message = f"there is no `{key}` in a file of economics"
    return message, f"did you mean `{near}`?" if near else f"it has {', '.join(known)} and date"


def _what_fits(name: str, value: object) -> tuple[str, str]:
    """What a key would have to be, and what to write for a value that does not fit."""
    text = value.strip() if isinstance(value, str) else ""
    if name in TIMES:
        number = isinstance(value, (int, Fraction)) and not isinstance(value, bool)
        shown = f"{float(value):g}" if isinstance(value, (int, Fraction)) else ""
        unit = "ms" if name == "convergence" else "h"
        return "a time that fits: it is a text with its unit", (
            f'write `{name} = "{shown}{unit}"`, or the unit that is meant'
            if number
            else f"write `{_line_of_key(name)}`"
        )
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        return "an amount that fits: it is a text", f"write `{name} = {text}`, without quotes"
    if name in ("interest", "utilisation"):
        share = f"{float(value) / 100:g}" if isinstance(value, (int, Fraction)) and 1 < value <= 100 else ""
        return "an amount that fits: it is a share, from 0 to 1", f"write `{name} = {share or USUAL[name]}`"
    return "an amount that fits", f"write, for example, `{_line_of_key(name)}`"


def _amount_of_key(name: str, value: object) -> Fraction | None:
    """The amount of a key, None where it is none that fits."""
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or not 0 <= value <= 10**12:
        return None
    amount = Fraction(value)
    positive = name in ("years", "utilisation", "pue")
    share = name in ("utilisation", "interest")
    return None if (positive and not amount) or (share and amount > 1) else amount


def _time_of_text(value: object) -> Fraction | None:
    """Seconds of a time such as ``500ms`` or ``4h``, None where it is none."""
    found = WRITTEN_TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    size, dim = UNIT_TABLE.get(found[2], (Fraction(0), NONE))
    return Fraction(found[1]) * size if dim == TIME else None
