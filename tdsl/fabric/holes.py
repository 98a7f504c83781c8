"""Holes are solved by trial: the least whole number for which the wiring that takes part is even and has the ports.

Holes come one by one in order of the text; what rests on a later hole is left out until that hole's turn. If a later one finds
nothing, the one before moves on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tdsl.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.fabric.elaborate import omissions, overrides, table
from tdsl.fabric.ports import Ports
from tdsl.fabric.wiring import Wiring, connect, late
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.openings import Opening
from tdsl.semantics.plan import Plan, Wire

MENDED = frozenset({"E0108", "E0110", "E0111", "E0120", "E0451", "E0452", "E0454", "E0457", "E0458", "E0459", "E0460", "E0107"})
"""Findings that another number may mend."""

GUARD = "E0110"
"""What a guard rules out: the first such value tells more than the last."""

LARGEST = 4096
TRIALS = 20_000
ALIKE = 16
"""So many values in a row that are refused for the very same reason say that the hole is not its cause."""

Make = Callable[[Diagnostics], Plan]


@dataclass(slots=True)
class Solver:
    """The search over one fabric's holes. ``make`` plans the fabric with the values that the evaluator has for them."""

    make: Make
    openings: Sequence[Opening]
    evaluator: Evaluator
    max_links: int
    trials: int = 0
    foreign: tuple[Diagnostic, ...] = ()  # findings that no hole is the cause of
    refused: dict[int, dict[str, tuple[int, Diagnostic]]] = field(default_factory=dict)  # hole -> code -> last value refused

    def run(self, diagnostics: Diagnostics) -> dict[Opening, int]:
        """A value for every hole, with a note each; nothing, with a finding, if there is none."""
        for opening in self.openings:
            self.give(opening, 1)
        depends = [self.dependents(k) for k in range(len(self.openings))]
        if not self.search(0, depends):
            self.report(diagnostics)
            return {}
        out = {o: self.evaluator.holes[o.key] for o in self.openings}
        for k, (opening, value) in enumerate(out.items()):
            why = [f"{n}: {d.message}" for n, d in sorted(self.refused.get(k, {}).values(), key=lambda x: x[0])]
            diagnostics.add(
                "E0461",
                opening.span,
                f"`{opening.name}` is {value}, the least number that fits",
                notes=why,
                severity=Severity.NOTE,
            )
        return out

    def give(self, opening: Opening, value: int) -> None:
        """Give a hole a value."""
        self.evaluator.holes[opening.key] = value

    def planned(self, found: Diagnostics) -> Plan:
        """The plan with the present values; computing it does not count as the design's own work."""
        steps = self.evaluator.steps
        plan = self.make(found)
        self.evaluator.steps = steps
        return plan

    def dependents(self, k: int) -> set[str]:
        """Paths of the device sets whose sizes rest on a hole."""
        sizes = []
        for value in (1, 2):
            self.give(self.openings[k], value)
            sizes.append({s.path: s.axes for s in self.planned(Diagnostics()).sets})
        self.give(self.openings[k], 1)
        return {path for path in sizes[0].keys() | sizes[1].keys() if sizes[0].get(path) != sizes[1].get(path)}

    def search(self, k: int, depends: list[set[str]]) -> bool:
        """Find a value for hole k and all after it."""
        if k == len(self.openings):
            return True
        later: set[str] = set().union(*depends[k + 1 :]) if k + 1 < len(depends) else set()
        last: tuple[Diagnostic, ...] = ()
        alike = 0  # values in a row that the very same findings refused
        for value in range(1, self.largest(later) + 1):
            self.trials += 1
            if self.trials > TRIALS:
                return False
            self.give(self.openings[k], value)
            found = tuple(self.faults(later))
            if not found:
                if self.search(k + 1, depends):
                    return True
                if self.foreign:
                    return False
                continue
            reasons = self.refused.setdefault(k, {})
            reasons.update((d.code, (value, d)) for d in found if d.code not in reasons or d.code != GUARD)
            alike, last = (alike + 1 if found == last else 1), found
            strange = any(d.code not in MENDED for d in found)
            if strange or alike >= ALIKE:
                self.foreign = found if strange or k == 0 else ()
                break
        self.give(self.openings[k], 1)
        return False

    def largest(self, later: set[str]) -> int:
        """More devices than all others have ports would have no link."""
        sizes = [s.count * max(1, s.model.port_count) for s in self.planned(Diagnostics()).sets if s.path not in later]
        return min(LARGEST, max(64, sum(sizes)))

    def faults(self, later: Iterable[str]) -> list[Diagnostic]:
        """What is wrong with the present values, without what rests on later holes."""
        found = Diagnostics()
        plan = self.planned(found)
        if any(d.severity is Severity.ERROR for d in found):
            return [d for d in found if d.severity is Severity.ERROR]
        rows = table(plan)
        overrides(plan, rows, found)
        omissions(plan, rows, found)
        kinds = np.array([s.kind for s in rows.sets] or [""])[rows.device_set]
        wiring = Wiring(Ports(rows.sets, rows.models, rows.device_model, rows.built), plan.evaluator, kinds, self.max_links)
        left_out = set(later)
        wires = [(i, w) for i, w in enumerate(plan.wires) if not w.node.circuit and not _paths(w) & left_out]
        for i, wire in sorted(wires, key=lambda x: late(x[1])):
            try:
                connect(wiring, wire, i)
            except Fault as fault:
                found.items.append(fault.diagnostic)
                break
            except Excused:
                break
        return [d for d in found if d.severity is Severity.ERROR]

    def report(self, diagnostics: Diagnostics) -> None:
        """Say why nothing fits, or what else is wrong."""
        if self.foreign:
            diagnostics.items += self.foreign
            return
        k = max(self.refused, default=0)
        reasons = sorted(self.refused.get(k, {}).values(), key=lambda x: x[0])
        opening = self.openings[k]
        labels = tuple(Label(d.span, f"{n}: {d.message}") for n, d in reasons if d.span is not None)
        words = "change a number that the labels name, or allow `spread uneven`"
        diagnostics.items.append(Diagnostic("E0459", f"no number fits `{opening.name}`", opening.span, labels, help=words))


def _paths(wire: Wire) -> set[str]:
    return {t.device.path for t in (*wire.a, *wire.b, *([wire.via] if wire.via else [])) if t.device is not None}
