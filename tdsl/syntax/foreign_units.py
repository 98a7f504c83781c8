"""Units as other tools and people write them, each with the amount as the language writes it.

Factors: the international foot, inch, yard, mile and pound (NIST SP 811, appendix B.8), and the BTU of the
International Table per hour (the same).
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_EXACT = Decimal(1)
FOREIGN_UNITS: dict[str, tuple[Decimal, str]] = {
    **dict.fromkeys(("ft", "foot", "feet"), (Decimal("0.3048"), "m")),
    **dict.fromkeys(("in", "inch", "inches"), (Decimal("2.54"), "cm")),
    **dict.fromkeys(("yd", "yard", "yards"), (Decimal("0.9144"), "m")),
    **dict.fromkeys(("mi", "mile", "miles"), (Decimal("1.609344"), "km")),
    **dict.fromkeys(("lb", "lbs", "pound", "pounds"), (Decimal("0.45359237"), "kg")),
    **dict.fromkeys(("btu", "btuh", "btu/h", "btu/hr"), (Decimal("0.29307107"), "W")),
    **dict.fromkeys(("meter", "meters", "metre", "metres", "mtr", "mtrs"), (_EXACT, "m")),
    **dict.fromkeys(("w", "va", "watt", "watts"), (_EXACT, "W")),
    **dict.fromkeys(("kw", "kva", "kilowatt", "kilowatts"), (_EXACT, "kW")),
    **dict.fromkeys(("mw", "mva", "megawatt", "megawatts"), (_EXACT, "MW")),
    **dict.fromkeys(("usec", "microsec", "microseconds"), (_EXACT, "us")),
    **dict.fromkeys(("msec", "millisec", "milliseconds"), (_EXACT, "ms")),
    **dict.fromkeys(("nsec", "nanosec", "nanoseconds"), (_EXACT, "ns")),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), (_EXACT, "s")),
    **dict.fromkeys(("mins", "minute", "minutes"), (_EXACT, "min")),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), (_EXACT, "h")),
    **dict.fromkeys(("d", "days"), (_EXACT, "day")),
    **dict.fromkeys(("weeks", "wk"), (_EXACT, "week")),
    **dict.fromkeys(("months", "mo"), (_EXACT, "month")),
    **dict.fromkeys(("years", "yr", "yrs"), (_EXACT, "year")),
    **dict.fromkeys(("kgs", "kilo", "kilos", "kilogram", "kilograms"), (_EXACT, "kg")),
    **dict.fromkeys(("ton", "tons", "tonne", "tonnes"), (_EXACT, "t")),
    **dict.fromkeys(("ru", "he"), (_EXACT, "U")),
    **{
        f"{prefix}{tail}": (_EXACT, f"{prefix.upper()}bps")
        for prefix in "gtm"
        for tail in (
            "",
            "b",
            "bit",
            "bits",
            "ig",
            "igabit",
            "igabits",
            "igabit/s",
            "igabits/s",
            "igbit",
            "igbits",
            "bit/s",
            "bits/s",
            "be",
            "bp",
            "bps",
            "bit/sec",
            "b/s",
            "b/sec",
        )
    },
    "ge": (_EXACT, "Gbps"),
    "gbe": (_EXACT, "Gbps"),
    "gbs": (_EXACT, "Gbps"),
    "tbs": (_EXACT, "Tbps"),
    **dict.fromkeys(("byte", "bytes"), (_EXACT, "B")),
    **dict.fromkeys(("gigabyte", "gigabytes", "gbyte", "gbytes"), (_EXACT, "GB")),
    **dict.fromkeys(("megabyte", "megabytes", "mbyte", "mbytes"), (_EXACT, "MB")),
    "gib": (_EXACT, "GiB"),
    "mib": (_EXACT, "MiB"),
    **dict.fromkeys(("microsecond", "µs", "μs"), (_EXACT, "us")),
    **dict.fromkeys(("millis", "millisecond"), (_EXACT, "ms")),
    **dict.fromkeys(("nanos", "nanosecond", "nanoseconds"), (_EXACT, "ns")),
    **dict.fromkeys(("u", "unit", "units"), (_EXACT, "U")),
    "y": (_EXACT, "year"),
    **{
        f"{prefix}byte{s}{tail}": (_EXACT, f"{prefix.upper()}B/s")
        for prefix in "gtm"
        for s in ("", "s")
        for tail in ("/s", "/sec")
    },
}
"""How a unit is written elsewhere, in small letters; how many of the unit here one is, and the unit here."""
_BYTES = re.compile(r"[kMGT]B(?:ps|/sec)")
"""Bytes a second, with the capital B that tells them from bits."""
PER = re.compile(r"/(s|sec|h|hr)\b")
"""What may follow a unit that is read without it."""


def amount_written_here(number: str, unit: str) -> str:
    """An amount in a unit of other tools, as the language writes it: ``3.048m`` for 10 and ``ft``; "" where
    the unit is unknown, or one of the language."""
    if _BYTES.fullmatch(unit):
        return f"{number}{unit[0]}B/s"
    factor, here = FOREIGN_UNITS.get(unit.lower(), (_EXACT, ""))
    if not here or unit in ("g", "m", "t"):
        return ""
    try:
        amount = Decimal(number.replace("_", "")) * factor
    except InvalidOperation:
        return ""
    if here == "W" and factor != _EXACT:
        amount = amount.quantize(_EXACT) if amount >= 1 else amount
    text = format(amount.normalize(), "f")
    return f"{text}{here}"
