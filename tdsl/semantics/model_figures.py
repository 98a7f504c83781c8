"""Figures of one device that data sheets and introductions quote: rates of its ports one way, power, latency,
FLOP/s, and where they are from. What a model does not say is None."""

from __future__ import annotations

from fractions import Fraction

from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import COMPUTE, POWER, RATE, TIME, Dim, Quantity, byte_rate_text, quantity_text
from tdsl.system.lazy_dataclass import dataclass

SERVICE = Fraction(1, 100)
"""Port classes with less of the whole are for service and management, and no part of a capacity."""


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """``bps`` is what the ports send together, in bit/s one way, without those of ``aside`` (names of classes
    for service and management); None where a port takes any rate, or there is none. ``watts`` and
    ``most_watts`` are power, ``seconds`` a latency from port to port, or of a host or chip what it takes
    itself; ``flops`` FLOP/s by format, dense."""

    bps: int | None
    aside: tuple[str, ...]
    watts: Fraction | None
    most_watts: Fraction | None
    seconds: Fraction | None
    flops: tuple[tuple[str, Fraction], ...]
    source: str

    @classmethod
    def of(cls, model: DeviceModel) -> ModelFigures:
        """Read a model."""
        rates = _rates_of_classes(model.classes)
        whole = sum(rates.values()) if rates is not None else 0
        aside = tuple(n for n, r in (rates or {}).items() if r < SERVICE * whole)
        formats = model.facts.get("flops", ())
        flops = tuple(
            (str(f), amount)
            for f in (formats if isinstance(formats, tuple) else ())
            if (amount := _stated_amount(model, f"flops_{f}", COMPUTE)) is not None
        )
        return cls(
            whole - sum((rates or {})[n] for n in aside) or None,
            aside,
            _stated_amount(model, "power", POWER),
            _stated_amount(model, "power_max", POWER),
            _stated_amount(model, "latency", TIME),
            flops,
            str(model.facts.get("source", "")),
        )


def _rates_of_classes(classes: tuple[PortClass, ...]) -> dict[str, int] | None:
    """What the ports of each name send together; None where some take any rate."""
    if any(c.rate is None for c in classes):
        return None
    out: dict[str, int] = {}
    for c in classes:
        out[c.name] = out.get(c.name, 0) + c.size * (c.rate or 0)
    return out


def _stated_amount(model: DeviceModel, name: str, dim: Dim) -> Fraction | None:
    said = model.facts.get(name)
    return said.amount if isinstance(said, Quantity) and said.dim == dim else None


def both_ways_text(bps: int) -> str:
    """A rate one way and both ways, in bit/s and byte/s: ``25.6Tbps (3.2TB/s) one way, …``."""
    one, two = (
        f"{quantity_text(Quantity(Fraction(n * bps), RATE))} ({byte_rate_text(n * bps)})" for n in (1, 2)
    )
    return f"{one} one way, {two} both ways"


def flops_text(figures: ModelFigures) -> str:
    """FLOP/s by format: ``bf16 989.4Tflops, fp8 1.9789Pflops``."""
    return ", ".join(f"{f} {quantity_text(Quantity(x, COMPUTE))}" for f, x in figures.flops)


def contents_of_model(model: DeviceModel) -> list[tuple[DeviceModel, int]]:
    """The models of all that is in one device, at any depth, with how many of each."""
    found: dict[tuple[str, str], tuple[DeviceModel, int]] = {}
    waiting = [(c.model, c.size) for c in model.chips]
    while waiting:
        inner, count = waiting.pop(0)
        key = inner.name, inner.variant
        found[key] = inner, found[key][1] + count if key in found else count
        waiting += [(c.model, c.size * count) for c in inner.chips]
    return list(found.values())
