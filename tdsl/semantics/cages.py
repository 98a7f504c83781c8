"""Cages of ports: their heat sinks, and that each holds what it has room for, of one class."""

from __future__ import annotations

from collections.abc import Sequence

from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault, unknown_name_fault
from tdsl.semantics.model import PortClass
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import text_of
from tdsl.syntax import tree
from tdsl.system.nouns import counted_noun

HEATSINKS = ("finned", "flat")


def heatsink_of(s: tree.Setting | None, evaluator: Evaluator, scope: Scope) -> str:
    """``finned`` or ``flat`` behind the form of a cage, "" if neither is written."""
    words = [evaluator.evaluate(v, scope, words=True) for w, v in s.items[0].args[1:] if not w] if s else []
    for item, word in zip(s.items[0].args[1:] if s else (), words, strict=False):
        if word not in HEATSINKS:
            raise unknown_name_fault("E0101", item[1].span, "heat sink", text_of(word), HEATSINKS)
    return str(words[0]) if words else ""


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
