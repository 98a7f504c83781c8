"""Port classes of all models in one table, and the joints (pairs of plugged ports) of a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.rails import port_values
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ClassTable:
    """Every port class of every model: its model, itself, and its row for each port of the model."""

    models: tuple[DeviceModel, ...]
    classes: tuple[PortClass, ...]
    tables: tuple[Ints, ...]

    @classmethod
    def of(cls, fabric: Fabric) -> ClassTable:
        """The classes of the fabric's models."""
        models: list[DeviceModel] = []
        classes: list[PortClass] = []
        tables: list[Ints] = []
        for model in fabric.models:
            sizes = [c.size for c in model.classes]
            tables.append(np.repeat(np.arange(len(classes), len(classes) + len(sizes)), sizes))
            classes += model.classes
            models += [model] * len(sizes)
        return cls(tuple(models), tuple(classes), tuple(tables))

    def rows(self, fabric: Fabric, ports: Ints) -> Ints:
        """Row of the class of each port."""
        return port_values(fabric, ports, self.tables)

    def rates(self) -> Ints:
        """Rate of each class, -1 where any fits."""
        return np.array([-1 if c.rate is None else c.rate for c in self.classes], dtype=np.int64)

    def words(self, row: int) -> str:
        """``800Gbps GE800`` for messages: what a port of the class is."""
        c = self.classes[row]
        rate = "any rate" if c.rate is None else gbps_text(c.rate)
        return " ".join((rate, *c.types))


@dataclass(frozen=True, slots=True)
class Joint:
    """Links of one statement between ports of the same two classes: one of them, and how many."""

    statement: int
    class_a: int
    class_b: int
    link: int
    count: int


def joints_of_links(fabric: Fabric, table: ClassTable, links: Ints, a: Ints, b: Ints) -> Iterator[Joint]:
    """Group links (with the ports ``a``, ``b`` to compare) by statement and by the classes at their ends."""
    if not len(links):
        return
    width = len(table.classes)
    rows_a, rows_b = table.rows(fabric, a), table.rows(fabric, b)
    keys = (fabric.link_statement[links] * width + rows_a) * width + rows_b
    found, first, count = np.unique(keys, return_index=True, return_counts=True)
    for key, at, n in zip(found.tolist(), first.tolist(), count.tolist(), strict=True):
        yield Joint(key // width // width, key // width % width, key % width, int(links[at]), n)


def gbps_text(rate: int) -> str:
    """A rate for messages: ``400Gbps``."""
    return quantity_text(Quantity(Fraction(rate), RATE))
