"""Names that a ``naming`` gives to devices; all others follow from their path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tdsl.fabric.graph import Fabric
from tdsl.fabric.resolve import Resolver, variable_assignments
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.plan import FabricPlan, Pathed
from tdsl.syntax import tree

if TYPE_CHECKING:
    from tdsl.fabric.device_rows import DeviceRows

LONGEST = 512
"""Characters of a name, as many as captures may have."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")


def names_from_namings(
    plan: FabricPlan, rows: DeviceRows, fabric: Fabric, diagnostics: Diagnostics
) -> dict[int, str]:
    """Device row -> name, for devices that a naming names. Two namings of one device are a fault."""
    names: dict[int, str] = {}
    fabric.named_by = {}
    said: dict[int, Pathed] = {}
    for s in plan.namings:
        try:
            for device, name in _names_from_naming(plan, s, fabric):
                if device in said:
                    raise Fault(
                        "E0104",
                        s.node.span,
                        f"{fabric.device_path(device)} is named twice",
                        labels=[(said[device].node.span, f"first named here: {names[device]}")],
                    )
                names[device], said[device] = name, s
                fabric.named_by[device] = s.origin
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    return names


def _names_from_naming(plan: FabricPlan, s: Pathed, fabric: Fabric) -> list[tuple[int, str]]:
    node = s.node
    assert isinstance(node, tree.Naming)
    over = variable_assignments(s.context, (s.target,), node.guard, s.scope, plan.evaluator, node.span)
    if not over.count:
        plan.idle.append(node)
    rows = Resolver(s.scope, plan.evaluator, over).rows(s.target)
    out = []
    for at in range(over.count):
        scope = over.scope(at, s.scope)
        scope.set("fabric", plan.name, node.span, "index")
        name = str(plan.evaluator.evaluate(node.template, scope))
        if not name or name != name.strip() or len(name) > LONGEST or _CONTROL.search(name):
            shown = f"{name[:40]!a}, of {len(name):,} characters," if len(name) > LONGEST else f"{name!a}"
            raise Fault(
                "E0120",
                node.template.span,
                f"{shown} is not a name for a device",
                help=f"write 1 to {LONGEST} characters without control characters, and no space at its ends",
            )
        out += [(int(device), name) for device in rows[at].tolist()]
    return out
