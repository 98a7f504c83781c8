"""Phases of growth: ``phase 2 { units 4; needed "2027-03-01" }`` gives parameters of a fabric other values.
Each is a complete fabric."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from datetime import date

from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.settings import require_plain_setting
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

NEEDED = "needed"
MOST_PHASES = 128
"""Phases of a fabric, each of which is judged as a design of its own."""
_WORDS_FOR_NEEDED = dict.fromkeys(("date", "day", "by", "due", "when", "deadline", "ready", "start"), NEEDED)


@dataclass(frozen=True, slots=True)
class GrowthPhase:
    """One phase: its number, the values that it gives parameters, and the day by which it is needed, "" if
    none is said."""

    number: int
    values: dict[str, tree.Expr] = field(default_factory=dict)
    needed: str = ""


def read_phases(body: Iterable[tree.Stmt]) -> list[GrowthPhase]:
    """The phases of a fabric's block, by number. Raises Fault for one that is not well formed."""
    body = tuple(body)
    params = [s.name.name for s in body if isinstance(s, tree.Param)]
    lost = {name for s in body if isinstance(s, tree.Broken) for name in s.names}
    out: dict[int, GrowthPhase] = {}
    first: dict[int, tree.PhaseBlock] = {}
    for s in body:
        if not isinstance(s, tree.PhaseBlock):
            continue
        if len(out) == MOST_PHASES:
            raise Fault("E0116", s.span, f"a fabric has at most {MOST_PHASES} phases")
        if s.number in out:
            raise Fault(
                "E0104",
                s.span,
                f"phase {s.number} is declared twice",
                labels=[(first[s.number].span, "first here")],
                help=f"give it another number: `phase {max(out) + 1}`",
            )
        out[s.number], first[s.number] = _read_phase(s, params, lost), s
    return [out[n] for n in sorted(out)]


def _read_phase(s: tree.PhaseBlock, params: list[str], lost: set[str]) -> GrowthPhase:
    values: dict[str, tree.Expr] = {}
    needed = ""
    for inner in s.body:
        if isinstance(inner, tree.Broken) or (isinstance(inner, tree.Setting) and inner.name.name in lost):
            continue  # there is a finding already
        if not isinstance(inner, tree.Setting) or not inner.items:
            raise Fault(
                "E0118",
                inner.span,
                "a phase gives parameters values, and says when it is needed",
                help='write `phase 2 { units 4; needed "2027-03-01" }`',
            )
        name = inner.name.name
        require_plain_setting(inner, f"{name} {inner.items[0].span.text}")
        if name in values or (name == NEEDED and needed):
            raise Fault("E0104", inner.span, f"`{name}` is set twice in this phase")
        if name == NEEDED and name not in params:
            needed = _needed_day(inner)
        elif name not in params:
            raise unknown_name_fault(
                "E0101",
                inner.name.span,
                "parameter of this fabric called",
                name,
                (*params, NEEDED),
                meant=_WORDS_FOR_NEEDED,
            )
        else:
            values[name] = inner.items[0].value
    return GrowthPhase(s.number, values, needed)


def _needed_day(s: tree.Setting) -> str:
    """The day that `needed` says."""
    value = s.items[0].value
    text = "".join(p for p in value.parts if isinstance(p, str)) if isinstance(value, tree.Str) else ""
    try:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            raise ValueError
        date.fromisoformat(text)
    except ValueError:
        raise Fault(
            "E0120",
            s.items[0].span,
            f"`{s.items[0].span.text}` is not a day",
            help='write `needed "2027-03-01"`',
        ) from None
    return text
