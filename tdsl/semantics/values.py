"""What an expression can be worth, and the names of the types.

A value is an int, Fraction (exact), bool, str, Quantity, Dims, Span of whole numbers (WholeRange), list (a
tuple), Word (a bare name that stands for itself in a setting), Function, or a ModelName.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tdsl.findings.source import SourceSpan
from tdsl.semantics.quantity import KIND_NAMES, Quantity, kind_name, quantity_text
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Dims:
    """``4x4x4``."""

    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return "x".join(map(str, self.sizes))


@dataclass(frozen=True, slots=True)
class WholeRange:
    """``low..high``, both included; empty if high < low."""

    low: int
    high: int

    @property
    def size(self) -> int:
        """How many numbers it has. (`len` fails where they do not fit 64 bits.)"""
        return max(0, self.high - self.low + 1)

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"


class BareWord(str):
    """A bare name used as itself: ``type NDR``, ``role manager``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ModelValue:
    """The name of a model used as a value, with the settings of its devices where a block gives some."""

    name: str
    settings: tuple[tree.Stmt, ...] = ()

    def __str__(self) -> str:
        return self.name


class TableRow(tuple[object, ...]):
    """A row of a table of a topology: a list that knows where it is written."""

    span: SourceSpan


@dataclass(frozen=True, slots=True)
class FunctionValue:
    """A ``def``: its text, and the values around it."""

    definition: tree.Def
    scope: object


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of the language itself: takes (span, values) and gives a value or raises a Fault.

    ``form`` is how it is written, ``gives`` what it gives, in words.
    """

    name: str
    run: Callable[..., object]
    form: str = ""
    gives: str = ""


Value = object

TYPE_NAMES = (
    "int", "ratio", "string", "bool", "model", "ports", "path", "pattern", "table", "list", "range", "dims",
    "rate", "length", "time", "power", "mass", "money", "size", "units",
)  # fmt: skip


def type_name(value: Value) -> str:
    """The type of a value, as the language calls it."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, Fraction):
        return "ratio"
    if isinstance(value, Quantity):
        return kind_name(value.dim)
    if isinstance(value, str):
        return "string"
    if isinstance(value, tuple):
        return "list"
    return {
        Dims: "dims",
        WholeRange: "range",
        ModelValue: "model",
        FunctionValue: "function",
        Builtin: "function",
    }.get(type(value), type(value).__name__)


def a_type(value: Value) -> str:
    """The type of a value with its article: ``an int``, ``a rate``."""
    name = type_name(value)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def fits_type(value: Value, name: str) -> bool:
    """Whether a value may stand where the type is asked for; a whole number is also a ratio, a list a
    table."""
    have = type_name(value)
    return have == name or (name == "ratio" and have == "int") or (name == "table" and have == "list")


def integer_if_whole(value: Value) -> Value:
    """A Fraction that is a whole number as an int; anything else unchanged."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    return value


def text_of(value: Value) -> str:
    """A value as people write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, Quantity):
        return quantity_text(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    if isinstance(value, FunctionValue):
        return value.definition.name.name
    if isinstance(value, Builtin):
        return value.name
    return str(value)


def number_in_message(number: int) -> str:
    """A number in a message: all its digits if they are few, else its magnitude."""
    if abs(number) < 10**15:
        return f"{number:,}"
    digits = (abs(number).bit_length() - 1) * 30102 // 100_000  # 10**digits <= 2**(bits - 1) <= number
    return f"{'less than -' if number < 0 else 'more than '}10^{digits}"


def json_value(value: Value) -> object:
    """A value as JSON has it: numbers, strings, lists; a quantity in base units as a number."""
    if isinstance(value, (bool, int, str)):
        return str(value) if isinstance(value, BareWord) else value
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    if isinstance(value, Quantity):
        return json_value(value.amount)
    if isinstance(value, tuple):
        return [json_value(v) for v in value]
    return text_of(value)


QUANTITY_TYPES = tuple(KIND_NAMES.values())
