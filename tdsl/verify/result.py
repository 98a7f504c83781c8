"""The answer to one requirement, or of one check that no requirement names: plain values, and where it was
asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import Literal

from tdsl.findings.source import Origin
from tdsl.semantics.quantity import Quantity
from tdsl.system.lazy_dataclass import dataclass

Status = Literal["proved", "refuted", "bounded", "modelled", "skipped"]
INCOMPLETE = "the wiring has errors"
"""Why nothing is judged of a fabric of which some wiring was refused."""

Value = bool | int | Fraction | Quantity | float | None
"""A figure; exact rationals stay exact. The only float is infinity."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one claim, or of one check that no claim names (``requirement`` None).

    ``exact`` says that ``lower`` and ``upper`` are one. ``of`` is what was asked (elements, failures, or the
    fabric as one), and ``judged`` how much of it the answer is about. ``second_opinion`` is what `check
    --second-opinion` adds. Of a ``modelled`` one ``met`` is whether it satisfies what is required. ``facts``
    gives the entry of ``results`` in the JSON of ``check``, without the place: that is the reporter's to
    write.
    """

    check: str
    status: Status
    value: Value
    unit: str
    lower: Value
    upper: Value
    exact: bool
    ratio: tuple[int, int] | None
    link_class: str
    witness: Mapping[str, object]
    reason: str
    requirement: str | None
    origin: Origin | None
    text: str
    report: bool = False
    scope: str = ""
    measures: Mapping[str, int | Fraction] = field(default_factory=dict)
    second_opinion: Mapping[str, object] = field(default_factory=dict)
    judged: int = 1
    of: int = 1
    met: bool = True

    @property
    def partial(self) -> bool:
        """Whether the answer is about less than was asked."""
        return self.judged < self.of

    def facts(self) -> dict[str, object]:
        """As plain JSON values."""
        out: dict[str, object] = {
            "check": self.check,
            "status": self.status,
            "value": _finite_json_number(self.value),
            "unit": self.unit,
            "lower": _finite_json_number(self.lower),
            "upper": _finite_json_number(self.upper),
            "exact": self.exact,
            "witness": dict(self.witness),
            "requirement": self.requirement,
            "text": self.text,
            "judged": self.judged,
            "of": self.of,
        }
        out |= {name: exact_number(value) for name, value in self.measures.items()}
        if self.ratio is not None:
            out["ratio"] = list(self.ratio)
        if self.link_class:
            out["class"] = self.link_class
        if self.reason:
            out["reason"] = self.reason
        if not self.met:
            out["met"] = False
        if self.scope:
            out["scope"] = self.scope
        if self.second_opinion:
            out["second_opinion"] = dict(self.second_opinion)
        return out


def exact_number(value: int | Fraction) -> int | float:
    """An exact amount as JSON has it: a whole number where it is one."""
    return value.numerator if value.denominator == 1 else float(value)


def _finite_json_number(value: Value) -> bool | int | float | None:
    if isinstance(value, Quantity):
        value = value.amount
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float):
        return None  # infinite: the ratio says so
    return value
