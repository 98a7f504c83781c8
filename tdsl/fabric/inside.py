"""Links inside a model: its own connects, wired by the same rules as a fabric's."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.ports import PortTable
from tdsl.fabric.wiring import WiringState, wire_connect
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import DeviceModel, DeviceSet, InnerLink, PathComponent
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Group, ResolvedConnect
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import connect_value
from tdsl.syntax import tree

INNER_LIMIT = 1 << 20


def inner_links(model: DeviceModel, plan: FabricPlan, diagnostics: Diagnostics) -> tuple[InnerLink, ...]:
    """The links a model's own connects make between its chips, in order, equal ones counted."""
    scope = model.scope if isinstance(model.scope, Scope) else Scope()
    inner, root = _plan_of_chips(model, plan, scope)
    context = Context((root,), ())
    kinds = np.array([s.kind for s in inner.sets for _ in range(s.count)] or [""])
    models = [s.model for s in inner.sets]
    which = np.repeat(np.arange(len(models), dtype=np.int64), [s.count for s in inner.sets])
    ports = PortTable(inner.sets, models, which, np.ones(len(which), dtype=np.bool_))
    wiring = WiringState(ports, plan.evaluator, kinds, INNER_LIMIT)
    for number, node in enumerate(model.wiring):
        assert isinstance(node, tree.Connect)
        try:
            a, b = (tuple(resolve_path(inner, context, p) for p in side) for side in (node.a, node.b))
            settings = {
                s.name.name: _inner_connect_setting(s, scope, plan)
                for s in node.body
                if isinstance(s, tree.Setting)
            }
            wire_connect(
                wiring, ResolvedConnect(node, scope, context, a, b, None, settings, Origin(node.span)), number
            )
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    return _count_inner_links(inner, wiring)


def _plan_of_chips(model: DeviceModel, plan: FabricPlan, scope: Scope) -> tuple[FabricPlan, Group]:
    """A plan whose device sets are the chips of a model, and the group that they are in."""
    root = Group(model.name, "model", (), None, model.origin.span, scope)
    inner = FabricPlan(model.name, "", model.origin, root, plan.evaluator)
    for i, chip in enumerate(model.chips):
        made = DeviceSet(i, (PathComponent(chip.name, chip.kind, chip.axes),), chip.model, "", chip.origin)
        made.first = sum(s.count for s in inner.sets)
        root.members[chip.name] = made
        inner.sets.append(made)
    return inner, root


def _inner_connect_setting(s: tree.Setting, scope: Scope, plan: FabricPlan) -> object:
    """A setting of a connect inside a model: which layer its links are of, and their medium."""
    if s.name.name not in ("layer", "medium", "rate"):
        raise unknown_name_fault(
            "E0118",
            s.name.span,
            "setting of a connect inside a model",
            s.name.name,
            ("layer", "medium", "rate"),
        )
    return connect_value(s, scope, plan.evaluator)


def _count_inner_links(plan: FabricPlan, wiring: WiringState) -> tuple[InnerLink, ...]:
    base = wiring.ports.base
    found: dict[tuple[tuple[str, int], tuple[str, int], int, str], int] = {}

    def place(device: int) -> tuple[str, int]:
        s = next(s for s in reversed(plan.sets) if s.first <= device)
        return s.name, device - s.first

    for batch in wiring.links:
        layer = str(batch.wire.settings.get("layer", ""))
        for pa, pb, rate in zip(batch.a.tolist(), batch.b.tolist(), batch.rate.tolist(), strict=True):
            a, b = (int(np.searchsorted(base, p, side="right")) - 1 for p in (pa, pb))
            key = (place(a), place(b), rate, layer)
            found[key] = found.get(key, 0) + 1
    return tuple(InnerLink(a, b, n, rate, layer) for (a, b, rate, layer), n in found.items())
