"""What ``minimize`` compares: a figure of the devices that are built with their cables and transceivers, or a
count of cables."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import lcm
from typing import Any

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import DeviceSet
from tdsl.semantics.plan import FabricPlan, ResolvedPath
from tdsl.semantics.quantity import MONEY, Quantity
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

FACTS = {"cost": "price", "power": "power"}
FIGURES = ("cables", "cost", "power", "switches")


@dataclass(frozen=True, slots=True)
class Minimize:
    """``minimize FIGURE``, and where it is written."""

    figure: str
    span: SourceSpan


def minimize_from_statement(s: tree.Setting) -> Minimize:
    """The statement's meaning. Raises Fault for an unknown figure."""
    word = s.items[0].value if len(s.items) == 1 and not s.items[0].args else None
    name = word.bare if isinstance(word, tree.PathExpr) else None
    if name not in FIGURES:
        raise Fault(
            "E0120",
            s.span,
            f"`minimize` takes one of {', '.join(f'`{x}`' for x in FIGURES)}",
            help="`minimize power`",
        )
    return Minimize(str(name), s.span)


@dataclass(frozen=True, slots=True)
class Weights:
    """The figure of one device of each set, as whole numbers: ``amount * scale``."""

    asked: Minimize
    each: dict[str, int]  # path of a set -> weight
    scale: int
    unit: Quantity | None

    def show(self, value: Fraction) -> str:
        """A total as people write it."""
        if self.unit is None:
            one = self.asked.figure.removesuffix("es")  # it counts switches
            return f"{value} {one if value == 1 else self.asked.figure}"
        return f"{self.asked.figure} {Quantity(value / self.scale, self.unit.dim)}"

    def term(self, sizes: Any) -> Any:
        """A term that no total lies below: devices that an ``omit`` may name are not counted."""
        plan: FabricPlan = sizes.plan
        spared = {id(x) for o in plan.omits for x in _device_sets_of_target(o.target)}
        partial = {id(s) for s in plan.sets if any(a.present < a.size for a in s.axes)}
        total: Any = 0
        for s in plan.sets:
            if id(s) not in spared | partial | sizes.partial:
                total = total + self.each.get(s.path, 0) * sizes.count(s)
        return None if isinstance(total, int) else total


def _device_sets_of_target(target: ResolvedPath) -> list[DeviceSet]:
    """The device set that a path leads to, or those of the group."""
    if target.device is not None:
        return [target.device]
    return [] if target.group is None else list(target.group.sets())


def weights_of_device_sets(asked: Minimize, plan: FabricPlan, sized: set[str]) -> Weights:
    """What one device of each set weighs. Raises Fault where a device that a hole sizes has no such
    figure."""
    fact = FACTS.get(asked.figure)
    if fact is None:
        each = {s.path: 1 for s in plan.sets if s.kind == "switch" and asked.figure == "switches"}
        return Weights(asked, each, 1, None)
    amounts: dict[str, Quantity] = {}
    for s in plan.sets:
        stated = plan.prices.get(s.model.name) if asked.figure == "cost" else None
        value = Quantity(stated, MONEY) if stated is not None else s.model.facts.get(fact)
        if isinstance(value, Quantity):
            amounts[s.path] = value
        elif s.path in sized:
            raise Fault(
                "E0463",
                asked.span,
                f"{s.model.name} says no `{fact}`, so its {asked.figure} cannot be compared",
                labels=[(s.model.origin.span, "declared here")],
                help=f"write `{fact} {'$1200' if fact == 'price' else '700W'}` in the model, or minimize "
                "`switches`",
            )
    scale = lcm(*(Fraction(q.amount).denominator for q in amounts.values())) if amounts else 1
    unit = next(iter(amounts.values()), None)
    return Weights(asked, {path: int(q.amount * scale) for path, q in amounts.items()}, scale, unit)


@dataclass(slots=True)
class CablePartFigures:
    """What is known of the cables and transceivers of the fabrics compared: whether any has the figure, and
    how many lack it."""

    known: bool = False
    missing: set[int] = field(default_factory=set)

    def add(self, amount: Fraction, missing: int) -> None:
        """One more fabric."""
        self.known = self.known or amount > 0
        self.missing.add(missing)

    @property
    def incomparable(self) -> bool:
        """Whether some have the figure, and those that lack it are not the same in all fabrics."""
        return self.known and len(self.missing) > 1

    @property
    def left_out(self) -> bool:
        """Whether there are some and none has the figure."""
        return not self.known and bool(self.missing - {0})
