"""What is in every rack: devices with their units, and what they take of its height, power and load."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.places import RackPlaces, height_of
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import MASS, POWER, Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun


@dataclass(frozen=True, slots=True)
class PartialSum:
    """A sum of which some terms may be unknown: what is known of it, how many terms are missing, and the
    models whose terms are estimates."""

    known: Fraction
    missing: int
    estimated: frozenset[str] = frozenset()

    def __add__(self, other: PartialSum) -> PartialSum:
        estimated = self.estimated | other.estimated
        return PartialSum(self.known + other.known, self.missing + other.missing, estimated)

    @property
    def exact(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing


def watts_of_model(model: DeviceModel, typical: bool = False) -> Fraction | None:
    """Watts of a device: the published maximum, else the one published figure; with ``typical`` the latter.
    None: not stated."""
    names = ("power",) if typical else ("power_max", "power")
    for name in names:
        value = model.facts.get(name)
        if isinstance(value, Quantity) and value.dim == POWER:
            return value.amount
    return None


def kilograms_of_model(model: DeviceModel) -> Fraction | None:
    """Mass of a device, None where its model does not say."""
    value = model.facts.get("mass")
    return value.amount if isinstance(value, Quantity) and value.dim == MASS else None


class Racks:
    """The racks of one fabric that has places."""

    def __init__(self, fabric: Fabric, places: RackPlaces) -> None:
        self.fabric, self.places = fabric, places

    @cached_property
    def devices(self) -> Ints:
        """Built devices with a place, by rack, then from the bottom."""
        f, p = self.fabric, self.places
        rows = np.flatnonzero(f.built & (p.device_rack >= 0))
        return np.asarray(rows[np.lexsort((rows, p.device_unit[rows], p.device_rack[rows]))], dtype=np.int64)

    def words_for_unplaced(self, asked: Bools) -> str:
        """``; 11 of 12 devices have no place`` of those that are asked about and inside of no other; "" where
        all have one."""
        f = self.fabric
        outermost = f.built & asked & (f.container < 0)
        count = int((outermost & (self.places.device_rack < 0)).sum())
        have = "has" if count == 1 else "have"
        return (
            f"; {count:,} of {counted_noun(int(outermost.sum()), 'device')} {have} no place" if count else ""
        )

    @cached_property
    def heights(self) -> Ints:
        """Rack units of every model, 0 where unknown or beside the units."""
        return np.array([height_of(m) or 0 for m in self.fabric.models], dtype=np.int64)

    def beside_units(self, device: int) -> bool:
        """Whether a device stands beside the units of its rack: its model has a height of 0U."""
        return height_of(self.fabric.model_of(device)) == 0

    @cached_property
    def by_rack(self) -> dict[int, list[int]]:
        """Devices of every rack that has any, from the bottom."""
        out: dict[int, list[int]] = {}
        racks = self.places.device_rack[self.devices].tolist()
        for rack, device in zip(racks, self.devices.tolist(), strict=True):
            out.setdefault(rack, []).append(device)
        return out

    def height(self, device: int) -> int:
        """Rack units of a device, 0 where unknown or beside the units."""
        return int(self.heights[self.fabric.device_model[device]])

    def total(self, devices: list[int], of: list[Fraction | None]) -> PartialSum:
        """The sum of a figure of the models over devices."""
        count = Counter(self.fabric.device_model[devices].tolist())
        known, missing = Fraction(0), 0
        for model, n in count.items():
            value = of[model]
            if value is None:
                missing += n
            else:
                known += value * n
        return PartialSum(known, missing)

    @cached_property
    def watts_max(self) -> list[Fraction | None]:
        """Maximum watts of every model."""
        return [watts_of_model(m) for m in self.fabric.models]

    @cached_property
    def mass(self) -> list[Fraction | None]:
        """Kilograms of every model."""
        return [kilograms_of_model(m) for m in self.fabric.models]
