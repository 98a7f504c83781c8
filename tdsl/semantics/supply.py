"""How parts are bought: spares, lead times and alternatives, from facts of models and from the file of
prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.semantics.values import Value, text_of
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.failure_rates import FailureRate

FACTS = ("spares", "lead", "alternative", "cords", "sold")
"""Facts of models that say how they are bought."""
DAY = 86_400
MOST_CORDS = 64
MOST_PIECES = 100_000
"""Of a model in one article."""
_SPARES = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(%?)")
_LEAD = re.compile(r"([0-9]{1,5}) ?(day|week)s?")


@dataclass(frozen=True, slots=True)
class Spares:
    """What is ordered beside what is built in: a share of it, or a number of pieces."""

    share: Fraction = Fraction(0)
    count: int = 0

    def of(self, quantity: int) -> int:
        """Pieces to order beside a quantity; a share is rounded up."""
        return -(-(self.share.numerator * quantity) // self.share.denominator) + self.count


@dataclass(frozen=True, slots=True)
class SoldIn:
    """What a model is sold inside of: ``pieces`` of it are in one ``article``, which also ``holds`` so many
    of other models, by their names. ``by_rack``: the article is a rack."""

    article: str
    title: str
    pieces: int
    holds: tuple[tuple[str, int], ...] = ()
    by_rack: bool = False

    def __str__(self) -> str:
        """As it is written in a model."""
        title = f' "{self.title}"' if self.title else ""
        items = [f"{self.article}{title} {self.pieces}", *(f"{name} {n}" for name, n in self.holds)]
        return "rack " * self.by_rack + ", ".join(items)


@dataclass(frozen=True, slots=True)
class Supply:
    """What the file of prices says of purchases, by the name of a model or part; spares and lead times also
    by a kind. ``failures`` are rates and times of repair of models."""

    currency: str = ""
    date: str = ""
    spares: Mapping[str, Spares] = field(default_factory=dict)
    lead_days: Mapping[str, int] = field(default_factory=dict)
    alternatives: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failures: Mapping[str, FailureRate] = field(default_factory=dict)


def parse_spares(text: str) -> Spares | None:
    """``2%`` or ``4`` as written; None for anything else."""
    found = _SPARES.fullmatch(text.strip().replace("_", ""))
    if found is None or (not found[2] and "." in found[1]):
        return None
    amount = Fraction(found[1])
    return Spares(share=amount / 100) if found[2] else Spares(count=int(amount))


def lead_days(text: str) -> int | None:
    """``26 weeks``, ``26week`` or ``90 days`` in days; None for anything else."""
    found = _LEAD.fullmatch(text.strip())
    return None if found is None else int(found[1]) * (7 if found[2] == "week" else 1)


def read_supply_fact(s: tree.Setting, value: Value) -> object:
    """The value of one of ``FACTS`` in a model. Raises Fault for one that it cannot have."""
    match s.name.name:
        case "cords":
            return _cords_fact(s, value)
        case "alternative":
            return tuple(text_of(v) for v in (value if isinstance(value, tuple) else (value,)))
        case "lead":
            return _lead_fact(s, value)
    found = parse_spares(s.items[0].value.span.text) if len(s.items) == 1 and not s.items[0].args else None
    if found is None:
        raise Fault(
            "E0103",
            s.span,
            "`spares` of a model is a percentage or a number of pieces",
            help="write `spares 2%` or `spares 4`",
        )
    return found


def read_sold_fact(s: tree.Setting, items: list[list[Value]]) -> SoldIn:
    """``sold rack ARTICLE "title" 18, OTHER 9``; ``items`` are the values of each item. Raises Fault for what
    is no name and number."""
    help = 'write `sold TRAY 2`, `sold rack RACK 18, OTHER_MODEL 9`, or with a title `sold TRAY "a tray" 2`'
    first, *others = items or [[()]]
    by_rack = text_of(first[0]) == "rack" and len(first) > 1
    first = first[by_rack:]
    title = first[1] if len(first) == 3 else ""
    if not isinstance(title, str):
        raise Fault("E0103", s.span, "the title of an article is a text", help=help)
    pairs = [first if len(first) == 2 else [first[0], first[-1]], *others]
    found = [
        (name, n[0])
        for word, *n in pairs
        if len(n) == 1 and type(n[0]) is int and 0 < n[0] <= MOST_PIECES
        if re.fullmatch(r"[A-Za-z]\w*", name := text_of(word))
    ]
    if len(found) != len(items) or len(first) not in (2, 3) or len(dict(found)) != len(found):
        raise Fault(
            "E0120", s.span, "`sold` is the name of an article and how many pieces it holds", help=help
        )
    return SoldIn(found[0][0], title, found[0][1], tuple(found[1:]), by_rack)


def _cords_fact(s: tree.Setting, value: Value) -> tuple[object, ...]:
    """``cords 2, C13``: a number of power cords, and the form of their plugs where it is written."""
    number, *plug = value if isinstance(value, tuple) and value else (value,)
    if (
        not isinstance(number, int)
        or isinstance(number, bool)
        or not 0 < number <= MOST_CORDS
        or len(plug) > 1
        or any(isinstance(x, (int, Fraction)) or text_of(x) == "" for x in plug)
    ):
        help = "write `cords 2`, or with the form of the plugs `cords 2, C13`"
        raise Fault("E0120", s.span, f"`cords` is a number of power cords from 1 to {MOST_CORDS}", help=help)
    return (number, *(text_of(x) for x in plug))


def _lead_fact(s: tree.Setting, value: Value) -> int:
    """``lead 26week`` in days."""
    if isinstance(value, Quantity) and value.dim == TIME and value.amount >= 0 and value.amount % DAY == 0:
        return int(value.amount) // DAY
    raise Fault("E0103", s.span, "`lead` is a time in whole days", help="write `lead 26week` or `lead 90day`")
