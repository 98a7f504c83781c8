"""Refusals that no value of an unknown changes: ports that are missing whatever the far side of a spread
is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tdsl.fabric.wiring import takes_remaining_ports
from tdsl.findings.diagnostic import Diagnostic
from tdsl.semantics.plan import ResolvedConnect, ResolvedPath

SHORT = "E0452"


def fails_for_every_value(
    d: Diagnostic,
    wire: ResolvedConnect,
    before: Iterable[ResolvedConnect],
    varying: set[str],
    rests: Callable[[str], bool],
) -> bool:
    """Whether a refusal of a connect holds for every value of the unknowns that size the device sets
    ``varying``.

    The devices that lack ports are on the near side of ``spread x K``. Neither their number nor K nor any
    connect before that takes ports of theirs rests on the unknowns, so both the ports needed and the ports
    free are the same for each value.
    """
    p = wire.node.pattern
    if (
        d.code != SHORT
        or p is None
        or p.name.name != "spread"
        or takes_remaining_ports(wire)
        or rests(_text_without_far_side(wire))
    ):
        return False
    near = [t for t in wire.a if t.span == d.span]
    short = {x.span for x in d.labels}  # a place may be that of both sides, where their ports have one name
    if (
        not any(t.device is not None and t.device.origin.span in short for t in near)
        or _device_paths_of_targets(near) & varying
    ):
        return False
    mine = _device_paths_of_targets(near)
    return not any(
        _device_paths_of_targets((*w.a, *w.b)) & mine
        and (_device_paths_of_targets((*w.a, *w.b)) & varying or rests(w.node.span.text))
        for w in before
    )


def _text_without_far_side(wire: ResolvedConnect) -> str:
    """What a connect says but for its far side."""
    p = wire.node.pattern
    assert p is not None
    guard = wire.node.guard.span.text if wire.node.guard is not None else ""
    return " ".join((*(x.span.text for x in wire.node.a), p.span.text, guard))


def _device_paths_of_targets(targets: Iterable[ResolvedPath]) -> set[str]:
    return {t.device.path for t in targets if t.device is not None}
