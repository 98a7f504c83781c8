"""``sonic 8*(i - 1) lanes 8`` and ``alias "etp{i}"``: what SONiC calls the ports of a model, and their lanes
at the chip."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tdsl.semantics.fault import Fault
from tdsl.semantics.model import SonicPort
from tdsl.syntax import tree

HELP = "for Ethernet0, Ethernet8 …: `sonic 8*(i - 1) lanes 8`, and `from N` where lane numbers differ"


def sonic_ports(
    s: tree.Setting | None,
    alias: tree.Setting | None,
    splits: tuple[int, ...],
    integers: Callable[[tree.Expr], Sequence[int]],
    aliases: Sequence[str] | None,
    parts: Sequence[tuple[int, tuple[str, ...]]],
) -> tuple[SonicPort, ...]:
    """An entry a port: its number, and its lanes, which count from there on or ``from``; () where the model
    does not say.

    ``integers`` evaluates an expression for every port of the class. ``aliases`` are the texts of ``alias``
    for each port, None where it is not written, ``parts`` those of the lanes of split ports for every way to
    split. Raises ``Fault``.
    """
    if s is None:
        if alias is not None:
            raise Fault(
                "E0120",
                alias.span,
                "`alias` is SONiC's second name of a port that `sonic` numbers",
                help=HELP,
            )
        return ()
    words = _words_of_sonic(s)
    numbers = integers(s.items[0].value)
    counts = integers(words["lanes"])
    first = integers(words["from"]) if "from" in words else numbers
    if min(*numbers, *first, 0) < 0 or len(set(numbers)) < len(numbers):
        raise Fault(
            "E0120",
            s.span,
            "SONiC counts ports and lanes from 0, and no two ports may have one number",
            help=HELP,
        )
    _refuse_lane_counts(counts, splits, words["lanes"])
    names = aliases or ("",) * len(numbers)
    return tuple(
        SonicPort(
            n,
            tuple(range(f, f + c)),
            n,
            names[k],
            tuple((w, texts[k * w : (k + 1) * w]) for w, texts in parts),
        )
        for k, (n, f, c) in enumerate(zip(numbers, first, counts, strict=True))
    )


def _words_of_sonic(s: tree.Setting) -> dict[str, tree.Expr]:
    """What is behind ``lanes`` and ``from``."""
    words = dict(s.items[0].args) if len(s.items) == 1 else {}
    if "lanes" not in words or set(words) - {"lanes", "from"}:
        raise Fault(
            "E0120", s.span, "`sonic` takes the number of a port and how many lanes it has", help=HELP
        )
    return words


def _refuse_lane_counts(counts: Sequence[int], splits: tuple[int, ...], written: tree.Expr) -> None:
    """Refuse numbers of lanes that no port has, or that cannot be split as the class is."""
    bad = next((c for c in counts if c < 1 or c > 16 or any(c % n for n in splits)), None)
    if bad is not None:
        raise Fault(
            "E0120",
            written.span,
            f"{bad} lanes: a port has 1 to 16, and a number that its `split` divides",
            help=HELP,
        )
