"""Operators on values: exact arithmetic with units, comparisons, and what a value must be where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from operator import add, sub

from tdsl.findings.diagnostic import Fix
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault, closest_known_name, unknown_name_fault
from tdsl.semantics.quantity import (
    LENGTH,
    MASS,
    MONEY,
    NONE,
    POWER,
    RATE,
    SIZE,
    TIME,
    UNIT_TABLE,
    UNITS,
    Dim,
    Quantity,
)
from tdsl.semantics.values import (
    TYPE_NAMES,
    Dims,
    Value,
    WholeRange,
    a_type,
    fits_type,
    integer_if_whole,
    number_in_message,
    text_of,
    type_name,
)
from tdsl.syntax import tree
from tdsl.syntax.foreign_units import PER, amount_written_here

LIST_LIMIT = 1 << 20
BIT_LIMIT = 4096
LARGEST = 1000
"""Bits of a quantity or a fraction before its point: files and reports give them as floating point
numbers."""
COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in"}


QUANTITY_OF_WORD = {
    **dict.fromkeys(("rate", "port", "bandwidth", "bisection"), RATE),
    **dict.fromkeys(("length", "reach", "slack", "pitch", "distance", "cable_length", "bend_radius"), LENGTH),
    **dict.fromkeys(("power", "max", "rack_power"), POWER),
    **dict.fromkeys(("latency", "step_time", "within"), TIME),
    **dict.fromkeys(
        ("allreduce", "transfer", "all_gather_time", "all_to_all_time", "reduce_scatter_time", "ecn"), SIZE
    ),
    **dict.fromkeys(("weight", "mass", "rack_weight"), MASS),
    **dict.fromkeys(("price", "cost"), MONEY),
    "height": UNITS,
}
"""Words before an amount, and what quantity it is of."""
EXAMPLES = {
    RATE: "rates are `400Gbps` or `50GB/s`",
    LENGTH: "lengths are `3m` or `30cm`",
    TIME: "times are `600ns` or `2us`",
    POWER: "powers are `1.7kW` or `700W`",
    MASS: "masses are `30kg` or `1t`",
    MONEY: "prices are `$12M` or `$900`",
    UNITS: "heights are `1U`",
}
ALL_EXAMPLES = "rates are `400Gbps` or `50GB/s`, lengths `3m`, powers `1.7kW`, times `2us`, heights `1U`"
_WORD_BEFORE = re.compile(r"(?<!\w)([A-Za-z_]\w*+)(?:[\[({].{0,60}?[\])}])?\s*+(?:[<>=!]=|[<>:])?\s*+$")


def quantity_value(e: tree.Measure) -> Value:
    """A written quantity in base units."""
    if e.unit == "%":
        return integer_if_whole(Fraction(e.value) / 100)
    entry = UNIT_TABLE.get(e.unit)
    if entry is None:
        raise _type_as_rate_fault(e) or _unknown_unit_fault(e)
    return Quantity(Fraction(e.value) * entry[0], entry[1])


def _type_as_rate_fault(e: tree.Measure) -> Fault | None:
    """The fault of ``type 400GE`` and ``type 400GBASE``, the name of a type with its rate first; None of
    others."""
    line = e.span.file.text[: e.span.start].rpartition("\n")[2]
    found = re.fullmatch(r"(\d+)(?:GE|GbE|GBASE\w*|G)", e.span.text)
    standard = e.span.file.text[e.span.end : e.span.end + 1] == "-"  # `100GBASE-SR4`
    if found is None or standard or re.search(r"\btype (?:\w+, )*$", line) is None:
        return None
    new = f"GE{found[1]}"
    fix = Fix(f"write `{new}`", ((e.span, new),), safe=False)
    return Fault("E0105", e.span, "the name of a type begins with a letter", help=f"write `{new}`", fix=fix)


def _letter_of_thousands_fault(e: tree.Measure, number: str) -> Fault:
    """The fault of ``2M``, which is money, a rate or a plain number."""
    line = e.span.file.text[: e.span.start].rpartition("\n")[2]
    message = f"`{e.unit}` alone is not a unit of the language"
    letter = e.unit.replace("K", "k")
    if re.search(r"\b(?:ecn|buffer|memory)\b[^;{}]*$", line):
        new = f"{number}{letter}B"
        fix = Fix(f"write `{new}`", ((e.span, new),), safe=False)
        return Fault("E0105", e.span, message, help=f"write `{new}`", fix=fix)
    if re.search(r"\b(?:cost|price|budget)\b", line):
        new = f"${number}{letter}"
        return Fault(
            "E0105",
            e.span,
            message,
            help=f"write `{new}`",
            fix=Fix(f"write `{new}`", ((e.span, new),), safe=False),
        )
    zeros = "_000_000" if letter == "M" else "_000"
    plain = f"`{number}{zeros}`" if number.isdigit() else "all digits"
    help = f"write `${number}{letter}` for money, `{number}{letter}bps` for a rate, {plain} for a number"
    return Fault("E0105", e.span, message, help=help)


def _unknown_unit_fault(e: tree.Measure) -> Fault:
    """The fault of a unit that the language does not have: the amount in one that it has, or the nearest unit
    of the quantity that the word before asks for."""
    number = e.span.text.removesuffix(e.unit)
    if e.span.text[:2].lower() == "0x":
        message = f"`{e.span.text}` is not a hexadecimal number: its digits are 0 to 9 and a to f"
        return Fault("E0105", e.span, message, help="write a number such as `0x8001`")
    if (other := _no_amount_fault(e, number)) is not None:
        return other
    amount, span = _amount_in_foreign_unit(e, number)
    asked = _quantity_asked_before(e.span)
    cased = [u for u, (_, dim) in UNIT_TABLE.items() if dim == asked and u.lower() == e.unit.lower()]
    if cased:  # `3M` for a length is no `3Mbps`
        amount = f"{number}{cased[0]}"
    if e.unit in ("M", "k", "K") and not cased:
        return _letter_of_thousands_fault(e, number)
    amount = amount or _amount_in_nearest_unit(number, e.unit, asked) or _amount_without_unit(e, number)
    if amount:
        return Fault(
            "E0105",
            e.span,
            f"`{span.text.removeprefix(number)}` is not a unit of the language",
            help=f"write `{amount}`",
            fix=Fix(f"write `{amount}`", ((span, amount),), safe=False),
        )
    help = ALL_EXAMPLES if asked is None else EXAMPLES[asked]
    return Fault("E0105", e.span, f"`{e.unit}` is not a unit of the language", help=help)


def _no_amount_fault(e: tree.Measure, number: str) -> Fault | None:
    """The fault of what begins with a number and is no amount: ``1e-5``, ``4x4xk`` and ``400G-DR4``."""
    behind = re.compile(r"-\w+").match(e.span.file.text, e.span.end)
    whole = SourceSpan(e.span.file, e.span.start, behind.end() if behind is not None else e.span.end)
    power = re.fullmatch(r"(\d[\d.]*)[eE]-(\d{1,2})", whole.text)
    if power is not None:
        new = f"{Decimal(power[0]):f}"
        fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
        return Fault("E0105", whole, "a number has no exponent", help=f"write `{new}`", fix=fix)
    if behind is not None and (rate := _rate_of_ethernet_name(whole.text)):
        asked = re.search(r"\btype[ \t]++\Z", whole.file.text[max(whole.start - 9, 0) : whole.start])
        message = f"`{whole.text}` is a name of Ethernet's standard, and no word of the language"
        if asked is not None:
            help = "write a type that the model at the other end has, such as `GE400`, `GE100` or `BASE_T`"
            return Fault("E0105", whole, message, help=help)
        fix = Fix(f"write `{rate}`", ((whole, rate),), safe=False)
        return Fault("E0105", whole, f"{message}; a rate is an amount", help=f"write `{rate}`", fix=fix)
    if behind is not None and re.fullmatch(r"-[A-Za-z]\w*", behind[0]):
        message, help = (
            f"`{whole.text}` is not a name, and not an amount",
            f'write a name, or `"{whole.text}"` for a text',
        )
        return Fault("E0105", whole, message, help=help)
    plug = re.fullmatch(r"[xX][A-Z]{2}[A-Z0-9_]*+", e.unit) is not None
    if not plug and re.fullmatch(r"\d++x\w++", e.span.text) and re.search(r"x[A-Za-z_]", e.span.text):
        new = e.span.text.replace("x", ", ")
        fix = Fix(f"write `{new}`", ((e.span, new),), safe=False)
        message = "sizes of several dimensions with a name among them are separated by `,`"
        return Fault("E0105", e.span, message, help=f"write `{new}`", fix=fix)
    return None


def _rate_of_ethernet_name(text: str) -> str:
    """The rate of ``1000BASE-T``, ``400GBASE-DR4`` and ``400G-DR4``, "" of other texts.

    Source: IEEE 802.3, clause 1.2.3: the number is of Mbit/s without a letter behind it.
    """
    found = re.fullmatch(r"(\d{1,5})(?:(G)(?:BASE)?|BASE)-[A-Z]\w*", text)
    if found is None:
        return ""
    megabits = int(found[1]) * (1000 if found[2] else 1)
    return f"{megabits // 1000}Gbps" if megabits % 1000 == 0 else f"{megabits}Mbps"


def _amount_in_foreign_unit(e: tree.Measure, number: str) -> tuple[str, SourceSpan]:
    """The amount of a unit of other places as it is written here, "" where that is not known, and the text
    that it replaces."""
    span = e.span
    per = PER.match(span.file.text, span.end)
    if per is not None and (rate := amount_written_here(number, f"{e.unit}{per[0]}")):
        return rate, SourceSpan(span.file, span.start, per.end())
    return amount_written_here(number, e.unit), span


def _quantity_asked_before(span: SourceSpan) -> Dim | None:
    """The quantity that the word before an amount asks for; None where it asks for none."""
    text = span.file.text
    line = text[text.rfind("\n", 0, span.start) + 1 : span.start][-200:]
    if line.lstrip().startswith("port "):
        return RATE
    before = _WORD_BEFORE.search(line)
    return QUANTITY_OF_WORD.get(before[1]) if before else None


def _amount_in_nearest_unit(number: str, unit: str, asked: Dim | None) -> str:
    """The amount in the unit most like an unknown one, of the quantity asked for; "" where none is."""
    if asked is None and len(unit) <= 1:
        return ""
    near = closest_known_name(
        unit, [u for u, (_, dim) in UNIT_TABLE.items() if asked is None or dim == asked]
    )
    return f"{number}{near}" if near else ""


_SIGN_OF_WORD = {**dict.fromkeys(("percent", "pct", "perc"), "%"), **dict.fromkeys(("units", "rus"), "U")}
_WORDS_OF_COUNTS = ("x", "times", "nos", "pcs", "ports", "links", "paths")
_THOUSANDS = {"k": 10**3, "K": 10**3, "mio": 10**6}


def _amount_without_unit(e: tree.Measure, number: str) -> str:
    """A share, a height, dimensions or a count whose unit is no unit, as it is written here; "" where it is
    none of these."""
    unit = e.unit
    if (times := re.fullmatch(r"x(\d[\d.]*)([A-Za-z]+)", unit)) and times[2] in UNIT_TABLE:
        return f"{number} x {times[1]}{times[2]}"  # `2x44kW`
    if re.fullmatch(r"[xX][A-Z]{2}[A-Z0-9_]*+", unit):  # `2xOSFP`
        return f"{number} {unit[1:]}"
    if unit.lower() in _SIGN_OF_WORD:
        return f"{number}{_SIGN_OF_WORD[unit.lower()]}"
    if re.fullmatch(r"X[0-9A-Fa-f]+(?:[xX]\d+)*", unit):  # `4X4X4`, `0X1F`
        return f"{number}{unit.replace('X', 'x')}"
    if unit in _THOUSANDS:
        return f"{integer_if_whole(Fraction(e.value) * _THOUSANDS[unit])}"
    return number if unit in _WORDS_OF_COUNTS else ""


def too_large(value: Value) -> bool:
    """Whether a quantity or a fraction is larger than a floating point number can be."""
    amount = value.amount if isinstance(value, Quantity) else value
    return (
        isinstance(amount, Fraction)
        and amount.numerator.bit_length() - amount.denominator.bit_length() > LARGEST
    )


def evaluation_steps(value: Value, most: int) -> int:
    """Steps that the size of a value is worth: a few elements of a list, with those of the lists in it, bits
    of a number, characters of a text. It looks at no more than ``most`` elements."""
    if isinstance(value, tuple):
        return _count_nested_elements(value, most) // 4
    if isinstance(value, str):
        return len(value) // 64
    if isinstance(value, WholeRange):
        return min(value.size, LIST_LIMIT) // 4
    if isinstance(value, int):
        return value.bit_length() // 128
    if isinstance(value, Quantity):
        value = value.amount
    return _largest_bit_length(value) // 128 if isinstance(value, Fraction) else 0


def _count_nested_elements(value: tuple[Value, ...], most: int) -> int:
    """Elements of a list with those of the lists in it: one that stands in several places counts in each, and
    is looked at once. Of more than ``most``, those that were looked at so far."""
    known: dict[int, int] = {}  # -1 for a list whose lists are not all known
    waiting, looked = [value], 0
    while waiting:
        held = waiting[-1]
        before = known.get(id(held))
        if before is not None and before >= 0:
            waiting.pop()
            continue
        looked += len(held) if before is None else 0
        if looked > most:
            return looked
        inner = [v for v in held if isinstance(v, tuple)]
        new = [v for v in inner if id(v) not in known]
        if new:
            known[id(held)] = -1
            waiting += new
        else:
            known[id(held)] = len(held) + sum(known[id(v)] for v in inner)
    return known[id(value)]


def require_bool(value: Value, span: SourceSpan) -> bool:
    """A value that must be yes or no."""
    if isinstance(value, bool):
        return value
    raise Fault("E0103", span, f"expected a bool, found {a_type(value)}", help="compare it: `n > 0`")


def require_number(value: Value, span: SourceSpan, op: str) -> int | Fraction:
    """A value that must be a plain number."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return value
    raise Fault("E0103", span, f"`{op}` needs a number, found {a_type(value)}")


def ratio_for_whole_fault(e: tree.RatioLit) -> Fault:
    """The fault of ``8:1`` where a whole number must stand."""
    message = f"expected a whole number, and `{e.span.text}` is a ratio"
    return Fault("E0103", e.span, message, help="such as `4`")


def not_whole(value: Value, e: tree.Expr) -> Fault:
    """The fault of a fraction where a whole number must stand; ``n/4`` is answered with ``n//4``."""
    text = e.span.text
    help_line = (
        f"`{text.replace('/', '//')}` rounds down"
        if isinstance(e, (tree.Chain, tree.Paren)) and text.count("/") == 1
        else ""
    )
    if isinstance(value, Fraction):
        return Fault("E0111", e.span, f"expected a whole number, found {text_of(value)}", help=help_line)
    quoted = re.fullmatch(r'"(\d+)"', e.span.text)
    new = quoted[1] if quoted is not None else ""
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", text):
        new = text.replace(".", "_")
        fix = Fix(f"write `{new}`", ((e.span, new),), safe=False)
        return Fault("E0103", e.span, "`_` parts the digits of a number", help=f"write `{new}`", fix=fix)
    if isinstance(value, tuple) and isinstance(e, tree.PathExpr) and e.bare:
        help = f"write one element of it, such as `{e.bare}[0]`"
        return Fault("E0103", e.span, f"expected a whole number, found {a_type(value)}", help=help)
    if isinstance(value, Quantity) and re.match(r"\s*\.\.", e.span.file.text[e.span.end : e.span.end + 3]):
        listed = re.search(
            r"\blengths\b[^;{}\n]*$", e.span.file.text[max(e.span.start - 80, 0) : e.span.start]
        )
        help = "write each value, separated by `,`" if listed is not None else "write one amount"
        return Fault("E0103", e.span, "a range is one of whole numbers, and has no unit", help=help)
    return Fault(
        "E0103",
        e.span,
        f"expected a whole number, found {a_type(value)}",
        help=f"write `{new}`, without quotes" if new else "such as `4`",
        fix=Fix(f"write `{new}`", ((e.span, new),)) if new else None,
    )


def element_at_index(value: Value, index: Value, span: SourceSpan) -> Value:
    """``list[i]``, counted from 0; also of dims and ranges."""
    index = integer_if_whole(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise Fault("E0103", span, f"a list is indexed by a whole number, not by {a_type(index)}")
    if isinstance(value, Dims):
        value = value.sizes
    if not isinstance(value, (tuple, WholeRange)):
        raise Fault("E0103", span, f"{a_type(value)} has no elements")
    size = value.size if isinstance(value, WholeRange) else len(value)
    if not 0 <= index < size:
        raise Fault(
            "E0108",
            span,
            f"index {number_in_message(index)} is outside the list: it has {number_in_message(size)} elements"
            + (f", 0..{number_in_message(size - 1)}" if size else ""),
        )
    return value.low + index if isinstance(value, WholeRange) else value[index]


def elements_to_iterate(value: Value, span: SourceSpan) -> Sequence[Value]:
    """The elements to go through: of a range, a list, or dims."""
    if isinstance(value, WholeRange):
        if value.size > LIST_LIMIT:
            raise Fault(
                "E0116",
                span,
                f"{number_in_message(value.size)} elements are too many to list (at most {LIST_LIMIT:,})",
            )
        return range(value.low, value.high + 1)
    if isinstance(value, tuple):
        return value
    if isinstance(value, Dims):
        return value.sizes
    whole = re.compile(r"(\w+)\s*(?::|-|to)\s*(\w+)(?=\s*[{\])]|$)").match(span.file.text, span.start)
    if whole is None:  # `units in 1-4`
        whole = re.compile(r"(?<= in )(\d+) ?- ?(\d+)$").search(span.text)
        begin, end = (span.start + k for k in whole.span()) if whole is not None else (span.start, span.end)
    else:
        begin, end = span.start, whole.end()
    new = f"{whole[1]}..{whole[2]}" if whole is not None else ""
    if not new and isinstance(value, int) and span.text.isidentifier():
        new = f"0..{span.text} - 1"
    at = SourceSpan(span.file, begin, end)
    raise Fault(
        "E0103",
        at,
        f"expected a range or a list, found {a_type(value)}",
        help=f"write `{new}`" if new else "write `0..n - 1`",
        fix=Fix(f"write `{new}`", ((at, new),), safe=False) if new else None,
    )


def require_type(value: Value, wanted: tree.Identifier, span: SourceSpan) -> None:
    """Check a value against a written type."""
    if wanted.name not in TYPE_NAMES:
        meant = dict.fromkeys(("number", "integer", "float", "count", "uint"), "int")
        meant |= dict.fromkeys(("str", "text"), "string") | {"boolean": "bool", "array": "list"}
        raise unknown_name_fault("E0101", wanted.span, "type", wanted.name, TYPE_NAMES, meant=meant)
    if not fits_type(value, wanted.name):
        quoted = span.text.strip('"')
        number = span.text.startswith('"') and re.fullmatch(r"\d+", quoted) and wanted.name == "int"
        plain = quoted if number else ""
        member = re.fullmatch(r"(\d+) in (\d+)\.\.(\d+)", span.text)
        if member is not None and wanted.name == "int":
            help = f"write `{member[1]} where {member[2]} <= NAME <= {member[3]}`"
            raise Fault("E0103", span, "`in` asks whether a value is in a range, and gives a bool", help=help)
        if wanted.name == "dims" and re.fullmatch(r"\d+(?:\s*\*\s*\d+)+|\[\d+(?:, ?\d+)*\]", span.text):
            plain = "x".join(re.findall(r"\d+", span.text))
        help = f"write `{plain}`" if plain else f"write a value of type {wanted.name}"
        if wanted.name == "model" and span.text.startswith('"'):
            help = f"remove `{span.text}`: a title has no place here, and the name of a model has no quotes"
        raise Fault(
            "E0103",
            span,
            f"this must be of type {wanted.name} and is {a_type(value)}",
            labels=[(wanted.span, "asked for here")],
            help=help,
            fix=Fix(f"write `{plain}`", ((span, plain),)) if plain else None,
        )


def _value_in_message(value: Value) -> str:
    """A value in a message: of a long list, or one of lists, how many elements it has."""
    long = isinstance(value, tuple) and (len(value) > 20 or any(isinstance(v, tuple) for v in value))
    return f"of {len(value)} elements" if long and isinstance(value, tuple) else text_of(value)


def _number_beside_amount_fault(a: Value, b: Value, a_span: SourceSpan, b_span: SourceSpan) -> Fault | None:
    """The fault of ``30U + s``, where a number lacks the unit of the amount beside it; None of others."""
    amounts = [span for v, span in ((a, a_span), (b, b_span)) if isinstance(v, Quantity)]
    numbers = [span for v, span in ((a, a_span), (b, b_span)) if type(v) is int]
    unit = re.search(r"(?<![A-Za-z])[A-Za-z]++$", amounts[0].text) if amounts else None
    if unit is None or len(numbers) != 1 or unit[0] not in UNIT_TABLE:
        return None
    new = f"{numbers[0].text}{unit[0]}" if numbers[0].text.isdigit() else f"1{unit[0]} * {numbers[0].text}"
    plain = numbers[0].text.isidentifier() or numbers[0].text.isdigit()
    fix = Fix(f"write `{new}`", ((numbers[0], new),), safe=False) if plain else None
    message = f"`{numbers[0].text}` is a number without the unit of `{amounts[0].text}`"
    return Fault("E0103", numbers[0], message, help=f"write `{new}`", fix=fix)


def _incompatible_operands_fault(
    op: str, a: Value, b: Value, a_span: SourceSpan, b_span: SourceSpan
) -> Fault:
    if op == "-" and all(isinstance(v, str) and re.fullmatch(r"\d+(\.\d+){3}(/\d+)?", v) for v in (a, b)):
        message = "addresses from one to another are written as their network, with the first one"
        address = str(a).partition("/")[0]
        return Fault(
            "E0103", a_span.to(b_span), message, help=f"write `{address}/24`, with the length that fits"
        )
    if op == "/" and isinstance(a, str) and re.fullmatch(r"[\d.:a-fA-F]+", a) and isinstance(b, int):
        whole, new = a_span.to(b_span), f"{a}/{b}"
        fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
        message = "an address and the length of its prefix are written without a space"
        return Fault("E0103", whole, message, help=f"write `{new}`", fix=fix)
    ranged = next((k for k, v in enumerate((a, b)) if isinstance(v, WholeRange)), None)
    if ranged is not None:
        at, value = ((a_span, a), (b_span, b))[ranged]
        help = "write one number; limits follow it: `param n: int = 8 where 8 <= n <= 16`"
        return Fault("E0103", at, f"`{at.text}` is a range, {text_of(value)}, and no number", help=help)
    whole = a_span.to(b_span)
    if (written := _range_of_addresses(op, whole) or _range_of_power(whole)) is not None:
        return written
    if op in "+-" and (amount := _number_beside_amount_fault(a, b, a_span, b_span)) is not None:
        return amount
    if op == "+" and isinstance(a, str) and (joined := _value_behind_text_fault(a_span, b_span)) is not None:
        return joined
    words = {
        "+": "added to",
        "-": "subtracted from",
        "<": "compared with",
        "*": "multiplied by",
        "/": "divided by",
    }
    return Fault(
        "E0103",
        b_span,
        f"{a_type(b)} ({_value_in_message(b)}) cannot be {words.get(op, 'combined with')} {a_type(a)} "
        f"({_value_in_message(a)})",
        labels=[(a_span, f"this is {a_type(a)}")],
        help="both sides must measure the same thing, such as `2m + 30cm`",
    )


def _value_behind_text_fault(text: SourceSpan, value: SourceSpan) -> Fault | None:
    """The fault of ``"Ethernet" + 8*i``; None where the text is not in quotes, or the value has some."""
    if not text.text.endswith('"') or '"' in value.text:
        return None
    whole, new = text.to(value), f'{text.text[:-1]}{{{value.text}}}"'
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Fault("E0103", whole, "a text has a value in braces in it", help=f"write `{new}`", fix=fix)


def _range_of_power(whole: SourceSpan) -> Fault | None:
    """The fault of ``power 600-1100W``, from the usual to the most."""
    found = re.fullmatch(r"(\d++)\s*+(k?W)?\s*+-\s*+(\d++)(k?W)", whole.text)
    before = whole.file.text[max(whole.start - 12, 0) : whole.start]
    if found is None or re.search(r"\bpower[ \t]++\Z", before) is None:
        return None
    new = f"{found[1]}{found[2] or found[4]} max {found[3]}{found[4]}"
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    return Fault(
        "E0103", whole, "the usual power is followed by `max` and the most", help=f"write `{new}`", fix=fix
    )


def _range_of_addresses(op: str, whole: SourceSpan) -> Fault | None:
    """The fault of ``10.9.0.30-40/24``: the first and the last of some addresses."""
    found = re.fullmatch(r"(\d+(?:\.\d+){3})(?:/\d+)?\s*+-\s*+(?:\d+\.){0,3}\d+(/\d+)?", whole.text)
    if op not in "-/" or found is None:
        return None
    new = f"{found[1]}{found[2] or '/24'}"
    fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
    message = "addresses are counted on from the first one, in the network that its length gives"
    return Fault("E0103", whole, message, help=f"write `{new}`", fix=fix)


def _as_quantity(value: Value) -> Quantity | None:
    if isinstance(value, Quantity):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Quantity(Fraction(value), NONE)
    return None


def _largest_bit_length(amount: Fraction) -> int:
    return max(amount.numerator.bit_length(), amount.denominator.bit_length())


def _quantity_or_number(amount: Fraction, dim: tuple[int, ...]) -> Value:
    return integer_if_whole(amount) if dim == NONE else Quantity(amount, dim)  # type: ignore[arg-type]


OF_ONE_DIMENSION: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": add,
    "-": sub,
    "%": lambda x, y: x % abs(y),
}
"""Operators whose operands and result measure the same thing."""


def apply_arithmetic(op: str, a: Value, b: Value, a_span: SourceSpan, b_span: SourceSpan) -> Value:
    """``a op b``, exactly; quantities must agree for + - // %, and multiply dimensions for * and /."""
    if op == "+" and isinstance(a, (tuple, str)):
        return _join_lists_or_strings(a, b, a_span, b_span)
    x, y = _as_quantity(a), _as_quantity(b)
    if x is None or y is None:
        raise _incompatible_operands_fault(op, a, b, a_span, b_span)
    if op in ("*", "/") or (x.amount.denominator > 1 and y.amount.denominator > 1):
        _refuse_many_bits(x.amount, y.amount, a_span.to(b_span))
    if op == "*":
        return _quantity_or_number(x.amount * y.amount, tuple(map(add, x.dim, y.dim)))
    if op in ("/", "//", "%") and y.amount == 0:
        raise Fault("E0120", b_span, f"`{op}` by zero", labels=[(a_span, f"this is {text_of(a)}")])
    if op in ("/", "//"):
        return _quotient_of_quantities(x, y, whole=op == "//")
    if x.dim != y.dim:
        raise _incompatible_operands_fault(op, a, b, a_span, b_span)
    return _quantity_or_number(OF_ONE_DIMENSION[op](x.amount, y.amount), x.dim)


def _join_lists_or_strings(
    a: tuple[Value, ...] | str, b: Value, a_span: SourceSpan, b_span: SourceSpan
) -> Value:
    """``a + b`` of two lists or two strings."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) + len(b) > LIST_LIMIT:
            raise Fault("E0116", a_span.to(b_span), f"a list of {len(a) + len(b):,} elements is too long")
        return a + b
    if isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > LIST_LIMIT:
            raise Fault("E0116", a_span.to(b_span), "this string is too long")
        return str(a) + str(b)
    raise _incompatible_operands_fault("+", a, b, a_span, b_span)


def _refuse_many_bits(x: Fraction, y: Fraction, span: SourceSpan) -> None:
    """Refuse a result that may have more bits than the limit."""
    if _largest_bit_length(x) + _largest_bit_length(y) > BIT_LIMIT:
        raise Fault("E0116", span, f"this result has more than {BIT_LIMIT} bits")


def _quotient_of_quantities(x: Quantity, y: Quantity, whole: bool) -> Value:
    """``x / y``, rounded down where it is to be ``whole``; dimensions are divided, too."""
    amount = Fraction(x.amount // y.amount) if whole else x.amount / y.amount
    return _quantity_or_number(amount, tuple(map(sub, x.dim, y.dim)))


def raise_to_power(base: Value, exponent: Value, span: SourceSpan) -> Value:
    """``base ** exponent`` for whole exponents, refused where the result would be huge."""
    exponent = integer_if_whole(exponent)
    if isinstance(exponent, bool) or not isinstance(exponent, int):
        raise Fault("E0103", span, f"an exponent is a whole number, not {a_type(exponent)}")
    b = require_number(base, span, "**")
    bits = max(abs(Fraction(b).numerator).bit_length(), Fraction(b).denominator.bit_length())
    if bits * abs(exponent) > BIT_LIMIT:
        raise Fault("E0116", span, f"this power has more than {BIT_LIMIT} bits")
    if b == 0 and exponent < 0:
        raise Fault("E0120", span, "zero has no negative power")
    return integer_if_whole(Fraction(b) ** exponent)


def _refuse_ranges_in_list(ranges: tuple[object, ...], span: SourceSpan) -> None:
    """Raise Fault for ``n in [1..8]``: a list with ranges in it has no number."""
    found = re.search(r"\[\s*([\w.]+)\s*\]$", span.text)
    if found is None or len(ranges) > 1:
        raise Fault("E0103", span, "a list of ranges has no number in it", help="ask for each range apart")
    at = SourceSpan(span.file, span.start + found.start(), span.end)
    fix = Fix(f"write `{found[1]}`", ((at, found[1]),), safe=False)
    message = f"`{at.text}` is a list with a range in it, and no range"
    raise Fault("E0103", at, message, help=f"write `{found[1]}`, without brackets", fix=fix)


def _refuse_never_equal(a: Value, b: Value, span: SourceSpan) -> None:
    """Refuse to ask whether values are equal that measure different things or are of different types."""
    x, y = _as_quantity(a), _as_quantity(b)
    if (
        (x is None) != (y is None)
        or (x and y and x.dim != y.dim)
        or (x is None and type_name(a) != type_name(b))
    ):
        raise Fault("E0103", span, f"{a_type(a)} is never equal to {a_type(b)}")


def compare_values(op: str, a: Value, b: Value, span: SourceSpan) -> bool:
    """``a op b`` for comparisons and ``in``."""
    if op == "in":
        if isinstance(b, WholeRange):
            return isinstance(a, int) and b.low <= a <= b.high
        if isinstance(a, int) and isinstance(b, tuple) and b and all(isinstance(x, WholeRange) for x in b):
            _refuse_ranges_in_list(b, span)
        return a in elements_to_iterate(b, span)
    if op in ("==", "!="):
        _refuse_never_equal(a, b, span)
        return (a == b) == (op == "==")
    x, y = _as_quantity(a), _as_quantity(b)
    if x is None or y is None or x.dim != y.dim:
        raise Fault(
            "E0103",
            span,
            f"{a_type(a)} ({_value_in_message(a)}) cannot be compared with {a_type(b)} "
            f"({_value_in_message(b)})",
            help="both sides must measure the same thing, such as `2m + 30cm`",
        )
    left, right = x.amount, y.amount
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
