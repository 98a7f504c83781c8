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

    The devices that lack ports are on the near side of ``spread x K``, or on some side of a connect no part
    of which rests on the unknowns. Neither their number nor K nor any connect before that takes ports of
    theirs rests on the unknowns, so both the ports needed and the ports free are the same for each value.
    """
    if d.code != SHORT or takes_remaining_ports(wire):
        return False
    spread = _is_spread(wire) and not rests(_text_without_far_side(wire))
    fixed = not rests(wire.node.span.text) and not _device_paths_of_targets((*wire.a, *wire.b)) & varying
    if not spread and not fixed:
        return False
    short = {x.span for x in d.labels}  # a place may be that of both sides, where their ports have one name
    sides = (*wire.a, *wire.b) if fixed else [t for t in wire.a if t.span == d.span]
    mine = [t for t in sides if t.device is not None and t.device.origin.span in short]
    if not mine or _device_paths_of_targets(sides) & varying:
        return False
    return all(_takes_the_same(w, _device_paths_of_targets(mine), varying, rests) for w in before)


def _is_spread(wire: ResolvedConnect) -> bool:
    return wire.node.pattern is not None and wire.node.pattern.name.name == "spread"


def _takes_the_same(
    wire: ResolvedConnect, mine: set[str], varying: set[str], rests: Callable[[str], bool]
) -> bool:
    """Whether a connect takes as many ports of some devices for every value of the unknowns."""
    both = _device_paths_of_targets((*wire.a, *wire.b))
    if not both & mine or not (both & varying or rests(wire.node.span.text)):
        return True
    near, far = _device_paths_of_targets(wire.a), _device_paths_of_targets(wire.b)
    return (
        _is_spread(wire)
        and not takes_remaining_ports(wire)
        and not rests(_text_without_far_side(wire))
        and not near & varying
        and not far & mine
    )


def _text_without_far_side(wire: ResolvedConnect) -> str:
    """What a connect says but for its far side."""
    p = wire.node.pattern
    assert p is not None
    guard = wire.node.guard.span.text if wire.node.guard is not None else ""
    return " ".join((*(x.span.text for x in wire.node.a), p.span.text, guard))


def _device_paths_of_targets(targets: Iterable[ResolvedPath]) -> set[str]:
    return {t.device.path for t in targets if t.device is not None}
