"""Facts of parts: what the models of cables and transceivers state."""

from __future__ import annotations

from fractions import Fraction

from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import LENGTH, POWER, Quantity

MICRO = 1_000_000

COPPER = ("dac", "acc", "aec", "copper")
"""Media of copper cables."""

PLUGGED = (*COPPER, "aoc")
"""Media of cables whose plugs are part of them."""

ACTIVE = ("acc", "aec", "aoc")
"""Media of cables with electronics in their plugs, which take power and run at their own rate: one of 1.6
Tb/s is for no cage of 800 Gb/s (NVIDIA LinkX 200G-PAM4 list: LACC for Quantum-X800 and ConnectX-8)."""


def part_display_name(part: DeviceModel) -> str:
    """The name of a part as its maker writes it: names in a design have no hyphens."""
    return part.name.replace("_", "-")


def stated_quantity(part: DeviceModel, fact: str, dim: tuple[int, ...]) -> Fraction | None:
    """A quantity that a part states, None where it does not."""
    value = part.facts.get(fact)
    return value.amount if isinstance(value, Quantity) and value.dim == dim else None


def fact_values(part: DeviceModel, fact: str) -> tuple[object, ...]:
    """The values of a fact that may be a list."""
    value = part.facts.get(fact, ())
    return value if isinstance(value, tuple) else (value,)


def lengths_of(part: DeviceModel) -> tuple[list[int], list[int]]:
    """Micrometres of the lengths in which a part is sold: those with a source, and those that must be
    confirmed."""
    found = []
    for fact in ("lengths", "unconfirmed"):
        amounts = [v.amount for v in fact_values(part, fact) if isinstance(v, Quantity) and v.dim == LENGTH]
        found.append(sorted(int(x * MICRO) for x in amounts))
    return found[0], found[1]


def shortest_sold_length(part: DeviceModel, run: int) -> tuple[int, bool] | None:
    """The length to order for a run in micrometres, and whether it has a source: the shortest with a source
    that covers the run, unless an unconfirmed one does and saves more than a third of it. None where no
    length covers the run."""
    published, open_ = (next((x for x in lengths if x >= run), None) for lengths in lengths_of(part))
    if published is not None and (open_ is None or published * 2 <= open_ * 3):
        return published, True
    return None if open_ is None else (open_, False)


def cable_medium(part: DeviceModel) -> str:
    """The medium of a cable part, "" where it does not say."""
    return str(part.facts.get("medium", ""))


def takes_power(part: DeviceModel) -> bool:
    """Whether the plugs of a cable take power: those of an active cable, and of any that states a figure."""
    return cable_medium(part) in ACTIVE or optic_watts(part) is not None


def is_built_in(part: DeviceModel) -> bool:
    """Whether optics are part of a device, and so are neither bought nor plugged: those of the form CPO."""
    return [str(x) for x in fact_values(part, "form")] == ["CPO"]


def optic_watts(part: DeviceModel, typical: bool = False) -> Fraction | None:
    """Watts of a transceiver, or of a cable with all its plugs: its maximum, or with ``typical`` the typical
    figure where one is stated."""
    most, usual = stated_quantity(part, "power_max", POWER), stated_quantity(part, "power", POWER)
    return (usual if usual is not None else most) if typical else (most if most is not None else usual)
