"""Which cables and transceivers of a catalogue fit the cages of two models: what `tdsl list cables --for A
--to B` prints.

The rules are those by which parts are chosen and judged: ``plugs.ends_wrong`` for cables whose plugs are part
of them, ``parts.fits`` for transceivers, and fibre and connector for what is between two transceivers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tdsl.fabric.cables.cabling import fills_cages
from tdsl.fabric.cables.plugs import ends_wrong, fibre_carries_rate, legs_of, optic_misfit_reason, plug_wrong
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Fit:
    """A part that fits port class ``a`` of one model and ``b`` of the other (None where only one was named)
    for links of ``rate`` bit/s. ``optics`` are the pairs of transceivers that a fibre needs, () for a cable
    with plugs."""

    part: DeviceModel
    a: PortClass
    b: PortClass | None
    rate: int
    optics: tuple[tuple[DeviceModel, DeviceModel], ...] = ()


def port_class_rates(c: PortClass) -> list[int]:
    """Bit/s at which the ports of a class run, whole and split, fastest first."""
    return (
        sorted({c.rate // n for n in (1, *c.splits) if n and c.rate % n == 0}, reverse=True) if c.rate else []
    )


def _classes_with_cages(model: DeviceModel) -> list[PortClass]:
    """The port classes with a cage that the model states; others take no part of a catalogue."""
    return [c for c in model.classes if c.form and c.rate]


def optics_for(parts: Sequence[DeviceModel], a: DeviceModel) -> Iterator[Fit]:
    """The transceivers that go into cages of a model, once for each port class and rate."""
    for c in _classes_with_cages(a):
        for rate in port_class_rates(c):
            yield from (
                Fit(p, c, None, rate)
                for p in parts
                if p.kind == "optic" and not optic_misfit_reason(p, c, rate)
            )


def cables_for(parts: Sequence[DeviceModel], a: DeviceModel, b: DeviceModel | None = None) -> Iterator[Fit]:
    """The cables that fit the cages of a model, or those between two models. Fibre is straight: which
    transceivers a fibre that splits has at its far ends, the catalogue does not say."""
    cables, optics = ([p for p in parts if p.kind == kind] for kind in ("cable", "optic"))
    for c in _classes_with_cages(a):
        for rate in port_class_rates(c):
            here = [o for o in optics if not optic_misfit_reason(o, c, rate)]
            others: list[PortClass | None] = (
                [None] if b is None else [d for d in _classes_with_cages(b) if rate in port_class_rates(d)]
            )
            for d in others:
                there = here if d is None else [o for o in optics if not optic_misfit_reason(o, d, rate)]
                yield from _cables_between(cables, (here, there), c, d, rate)


def _cables_between(
    cables: Sequence[DeviceModel],
    optics: tuple[Sequence[DeviceModel], Sequence[DeviceModel]],
    c: PortClass,
    d: PortClass | None,
    rate: int,
) -> Iterator[Fit]:
    """The cables that fit a cage, or those between two cages; ``optics`` are the transceivers that fit
    either."""
    here, there = optics
    for cable in cables:
        if fills_cages(cable):
            if not (any(ends_wrong(cable, c, d, rate)) if d is not None else _plugs_wrong(cable, c, rate)):
                yield Fit(cable, c, d, rate)
        elif legs_of(cable) == 1 and fibre_carries_rate(cable, rate):
            pairs = _optic_pairs(cable, here, there, d is None)
            if pairs:
                yield Fit(cable, c, d, rate, pairs)


def _plugs_wrong(cable: DeviceModel, c: PortClass, rate: int) -> bool:
    """Whether neither side of a cable goes into a cage."""
    return bool(plug_wrong(cable, c, rate, False) and plug_wrong(cable, c, rate, True))


def _optic_pairs(
    cable: DeviceModel, here: Sequence[DeviceModel], there: Sequence[DeviceModel], alone: bool
) -> tuple[tuple[DeviceModel, DeviceModel], ...]:
    """The pairs of transceivers that a fibre joins; ``alone``: each with itself, as the other end is not
    known."""

    def on(optic: DeviceModel) -> bool:
        plug = cable.facts.get("connector")
        return optic.facts.get("fibre") == cable.facts.get("fibre") and plug in (
            None,
            optic.facts.get("connector"),
        )

    if alone:
        return tuple((o, o) for o in here if on(o))
    same = "connector"
    return tuple(
        (o, p) for o in here if on(o) for p in there if on(p) and o.facts.get(same) == p.facts.get(same)
    )
