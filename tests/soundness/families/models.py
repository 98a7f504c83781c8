"""Models that the families share: every device and cable has a power and a price, so that no sum is open."""

from __future__ import annotations

from random import Random

from tests.soundness.inventory import Model

DIAMETER, TRAY = 8, (60, 40)
"""Millimetres: of every cable, and of a tray's width and depth."""

CHIP = Model("G", "chip", "model chip G { port lane[2]: 400Gbps }")


def host_model(nics: int, rate: int, name: str = "") -> Model:
    """A host with one accelerator and adapters of one class."""
    key = name or f"H{nics}x{rate}"
    text = (
        f'model host {key} "acc=1 joined=1" '
        f"{{ port nic[{nics}]: {rate}Gbps; chip gpu: G; power 70W max 90W; price $1100; height 2U }}"
    )
    return Model(key, "host", text, 90, 1100, 1, height=2)


def switch_model(name: str = "SW", ports: int = 64, watts: int = 40, price: int = 500) -> Model:
    """A switch whose ports take any rate."""
    text = f"model switch {name} {{ port p[1..{ports}]: any; power {watts}W; price ${price}; height 1U }}"
    return Model(name, "switch", text, watts, price)


def cable_product(name: str, price: int, watts: int | None = None, medium: str = "dac", bend: int = 20) -> Model:
    """A cable as it is bought: passive copper, or active with a power."""
    power = f"; power {watts}W" if watts is not None else ""
    text = f"model cable {name} {{ rate 800Gbps; medium {medium}; price ${price}; bend {bend}mm; diameter {DIAMETER}mm{power} }}"
    return Model(name, "cable", text, watts, price, bend=bend)


def some_cables(rng: Random) -> list[Model]:
    """Two passive cables of different prices."""
    return [cable_product("WIRE", rng.randint(3, 9)), cable_product("CORD", rng.randint(10, 20), bend=35)]
