"""Cages of ports: their heat sinks, and that each holds what it has room for, of one class."""

from __future__ import annotations

from collections.abc import Sequence

from tdsl.findings.diagnostic import Diagnostics, Fix, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fact_kinds import warn_of_unknown_word
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.model import PortClass
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import text_of
from tdsl.syntax import tree
from tdsl.system.nouns import counted_noun
from tdsl.system.similar import closest_name

HEATSINKS = ("finned", "flat")


FORMS = (
    "SFP",
    "SFP28",
    "SFP56",
    "SFP112",
    "SFPDD",
    "DSFP",
    "QSFP",
    "QSFP28",
    "QSFP56",
    "QSFP112",
    "QSFP224",
    "QSFPDD",
    "QSFPDD800",
    "QSFPDD1600",
    "OSFP",
    "OSFPXD",
    "OSFP224",
    "CPO",
    "MPO",
    "LC",
    "SN",
    "CS",
    "RJ45",
)
"""Forms of cages and connectors that are known; a model may have others."""


def warn_of_unknown_form(form: str, at: SourceSpan, diagnostics: Diagnostics) -> None:
    """Warn of a form that is none of the known ones: no part of the catalogue fits it, and one that is a slip
    of the hand away from a known one fits nothing at all."""
    plain = form.replace("-", "").replace("_", "").upper()
    near = closest_name(form, FORMS, 0.9) if plain not in FORMS and len(form) > 3 else ""
    if plain in FORMS or near.startswith(plain) or (near and plain.startswith(near)):
        return
    if not near:
        warn_of_unknown_word("form", at, form, FORMS, diagnostics)
        return
    diagnostics.add(
        "E0101",
        at,
        f"`{form}` is none of the known forms of cages: cables and transceivers of the catalogue fit others",
        help=f"did you mean `{near}`?",
        fix=Fix(f"write `{near}`", ((at, near),), safe=False) if at.text == form else None,
        severity=Severity.WARNING,
    )


def heatsink_of(s: tree.Setting | None, evaluator: Evaluator, scope: Scope) -> str:
    """``finned`` or ``flat`` behind the form of a cage, "" if neither is written."""
    words = [read_heatsink(v, evaluator, scope) for _, v in s.items[0].args[1:]] if s else []
    return words[0] if words else ""


def read_heatsink(e: tree.Expr, evaluator: Evaluator, scope: Scope) -> str:
    """A word as that of a heat sink. Raises Fault for one that is none."""
    word = text_of(evaluator.evaluate(e, scope, words=True))
    if word not in HEATSINKS:
        raise unknown_name_fault("E0101", e.span, "heat sink", word, HEATSINKS)
    return word


def check_cages(cages: tuple[int, ...], per_cage: int, s: tree.Setting, same: Sequence[PortClass]) -> None:
    """No cage may hold more ports than it has room for, and none is that of two classes of one form
    (``same``)."""
    for number in sorted(set(cages)):
        other = next((c for c in same if number in c.cages), None)
        if other is not None:
            free = max(n for c in same for n in c.cages) + 1
            raise Fault(
                "E0120",
                s.span,
                f"cage {other.form} {number} is one of `{other.name}` already".replace("  ", " "),
                labels=[(other.origin.span, "its cages are declared here")],
                help=f"leave the number out, and these cages are {free} and on; or begin with {free}",
            )
        if number < 1 or cages.count(number) > per_cage:
            raise Fault(
                "E0120",
                s.span,
                f"cage {number} would hold {counted_noun(cages.count(number), 'port')}; a cage holds "
                f"{per_cage}",
            )
