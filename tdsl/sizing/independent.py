"""Refusals that no value of an unknown changes: ports that are missing whatever the far side of a spread is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tdsl.fabric.wiring import late
from tdsl.findings.diagnostic import Diagnostic
from tdsl.semantics.plan import Target, Wire

SHORT = "E0452"


def whatever(d: Diagnostic, wire: Wire, before: Iterable[Wire], varying: set[str], rests: Callable[[str], bool]) -> bool:
    """Whether a refusal of a connect holds for every value of the unknowns that size the device sets ``varying``.

    The devices that lack ports are on the near side of ``spread x K``. Neither their number nor K nor any connect before that
    takes ports of theirs rests on the unknowns, so both the ports needed and the ports free are the same for each value.
    """
    p = wire.node.pattern
    if d.code != SHORT or p is None or p.name.name != "spread" or late(wire) or rests(_words(wire)):
        return False
    near = [t for t in wire.a if t.span == d.span]
    short = {x.span for x in d.labels}  # a place may be that of both sides, where their ports have one name
    if not any(t.device is not None and t.device.origin.span in short for t in near) or _paths(near) & varying:
        return False
    mine = _paths(near)
    return not any(_paths((*w.a, *w.b)) & mine and (_paths((*w.a, *w.b)) & varying or rests(w.node.span.text)) for w in before)


def _words(wire: Wire) -> str:
    """What a connect says but for its far side."""
    p = wire.node.pattern
    assert p is not None
    guard = wire.node.guard.span.text if wire.node.guard is not None else ""
    return " ".join((*(x.span.text for x in wire.node.a), p.span.text, guard))


def _paths(targets: Iterable[Target]) -> set[str]:
    return {t.device.path for t in targets if t.device is not None}
