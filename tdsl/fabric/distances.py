"""Distances between groups, such as sites: which devices they are between, and how far apart those are."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import Resolver, variable_assignments
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.place_statements import Distance
from tdsl.semantics.plan import FabricPlan, ResolvedPath
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GroupDistance:
    """Devices at the two ends of a distance, as rows; millimetres of the cable route between them; and the
    text that says so."""

    a: Ints
    b: Ints
    length: int
    text: str


def group_distances(plan: FabricPlan, diagnostics: Diagnostics) -> tuple[GroupDistance, ...]:
    """The distances between groups, in the order of the text. Where several concern two devices, the last one
    is used."""
    out = []
    for d in plan.distances:
        ends = [e for e in d.ends if not isinstance(e, str)]
        if len(ends) == 2:
            try:
                a, b = (_rows_of_group(plan, d, e) for e in ends)
                if len(np.intersect1d(a, b)):
                    raise Fault(
                        "E0120",
                        d.span,
                        "the two groups of a distance share devices",
                        help="name two groups that are apart",
                    )
                out.append(GroupDistance(a, b, d.length, d.text))
            except Fault as fault:
                fault.report(diagnostics)
            except Excused:
                pass
    return tuple(out)


def _rows_of_group(plan: FabricPlan, d: Distance, target: ResolvedPath) -> Ints:
    """All devices in a group."""
    over = variable_assignments(d.context, (target,), None, d.scope, plan.evaluator, d.span)
    if over.count != 1:
        help = "write a distance for each two groups: `distance dc[0] to dc[1] 100km`"
        raise Fault("E0120", d.span, "a distance is between two groups, and this names many", help=help)
    resolver = Resolver(d.scope, plan.evaluator, over)
    assert target.group is not None
    found = [resolver.members(target, s).ravel() for s in target.group.sets()]
    rows = distinct_values(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
    return rows[rows >= 0]


def distances_between_devices(fabric: Fabric, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Millimetres between the devices of each pair, -1 where no distance says, and the index of the distance,
    -1."""
    length, which = np.full(len(a), -1, dtype=np.int64), np.full(len(a), -1, dtype=np.int64)
    for k, s in enumerate(fabric.spans):
        here, there = (np.zeros(fabric.device_count, dtype=np.bool_) for _ in "ab")
        here[s.a], there[s.b] = True, True
        both = (here[a] & there[b]) | (here[b] & there[a])
        length[both], which[both] = s.length, k
    return length, which
