"""The expressions of the syntax tree. Chains of operators are flat, so a long line cannot make a deep
tree."""

from __future__ import annotations

from fractions import Fraction

from tdsl.findings.source import SourceSpan
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """``12``, ``1_024``, ``0.5``."""

    value: int | Fraction
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity as written: ``400Gbps``, ``3m``, ``$1200`` (unit ``$``), ``50%`` (unit ``%``)."""

    value: int | Fraction
    unit: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class RatioLit:
    """``7:1``."""

    left: int | Fraction
    right: int | Fraction
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class DimsLit:
    """``4x4x4``."""

    sizes: tuple[int, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class NetworkLit:
    """``10.0.0.0/16``."""

    text: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Hole:
    """``?``."""

    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Placeholder:
    """``{expr:format}`` inside a string."""

    value: Expr
    format: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Str:
    """A string: literal pieces and placeholders in order. ``{{`` and ``}}`` are braces."""

    parts: tuple[str | Placeholder, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Identifier:
    """A name in a path: the first one, or one after a point."""

    name: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Star:
    """``*`` inside an index."""

    span: SourceSpan


@dataclass(frozen=True, slots=True)
class IndexPart:
    """``[entry, …]`` in a path; an entry is an expression, a Range or a Star."""

    entries: tuple[Expr, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Call:
    """``(arg, …)`` in a path."""

    args: tuple[Expr, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class PathExpr:
    """``su[s].leaf[*].p[3]``, ``max(a, b)`` or a bare name (one Member)."""

    parts: tuple[Identifier | IndexPart | Call, ...]
    span: SourceSpan

    @property
    def bare(self) -> str | None:
        """The name, if this is nothing but a name."""
        first = self.parts[0]
        return first.name if len(self.parts) == 1 and isinstance(first, Identifier) else None


@dataclass(frozen=True, slots=True)
class Unary:
    """``-x`` or ``not x``."""

    op: str
    operand: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Chain:
    """Operators of one rank, left to right: ``a + b - c``, ``a * b // c``, ``a and b and c``, or a chained
    comparison ``a <= b < c`` (ops ``== != < <= > >= in``)."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class PowerExpr:
    """``base ** exponent``."""

    base: Expr
    exponent: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Cond:
    """``then if test else other``."""

    then: Expr
    test: Expr
    other: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Paren:
    """``(e)``; kept, since ``[(i)]`` is not ``[i]``."""

    inner: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class TupleExpr:
    """``(a, b, …)``: computed dimensions."""

    items: tuple[Expr, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class ListExpr:
    """``[a, b, …]``."""

    items: tuple[Expr, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Comprehension:
    """``[item for var in over]``."""

    item: Expr
    var: Identifier
    over: Expr
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class At:
    """``[a, b, c][i]``: an element of a list written in place; several indices in a row are nested."""

    base: Expr
    index: tuple[Expr, ...]
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Range:
    """``low..high``, both included."""

    low: Expr
    high: Expr
    span: SourceSpan


Expr = (
    Number | Measure | RatioLit | DimsLit | NetworkLit | Hole | Str | PathExpr | Unary | Chain | PowerExpr
    | Cond | Paren | TupleExpr | ListExpr | Comprehension | At | Range | Star
)  # fmt: skip
