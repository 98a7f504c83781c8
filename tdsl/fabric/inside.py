"""Scale-up links inside a model: its own connects of that layer, wired by the same rules as a fabric's, and
the ports that they take. Those of the network are connects of the fabric
(``tdsl.semantics.model_connects``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.order import distinct_values
from tdsl.fabric.ports import PortTable
from tdsl.fabric.wiring import WiringState, wire_connect
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import DeviceModel, DeviceSet, InnerLink, PathComponent
from tdsl.semantics.model_connects import is_of_scaleup, model_connect_settings
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Group, ResolvedConnect
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

INNER_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class LinksInside:
    """The scale-up links inside a model, in order, equal ones counted. ``taker`` says of every port of the
    devices of a name inside, a row a device, which connect of ``spans`` takes it, -1 for none."""

    links: tuple[InnerLink, ...]
    taker: Mapping[str, NDArray[np.int32]]
    spans: tuple[SourceSpan, ...]


def _unwired_chips(inner: FabricPlan, plan: FabricPlan) -> WiringState:
    """The devices inside a model with all their ports free."""
    kinds = np.array([s.kind for s in inner.sets for _ in range(s.count)] or [""])
    models = [s.model for s in inner.sets]
    which = np.repeat(np.arange(len(models), dtype=np.int64), [s.count for s in inner.sets])
    ports = PortTable(inner.sets, models, which, np.ones(len(which), dtype=np.bool_))
    return WiringState(ports, plan.evaluator, kinds, INNER_LIMIT)


def _resolved_inner_connect(node: tree.Connect, inner: FabricPlan, scope: Scope) -> ResolvedConnect:
    """A connect between devices inside a model, with its paths and settings resolved. Raises Fault and
    Excused."""
    context = Context((inner.root,), ())
    a, b = (tuple(resolve_path(inner, context, p) for p in side) for side in (node.a, node.b))
    settings = model_connect_settings(node, scope, inner.evaluator)
    return ResolvedConnect(node, scope, context, a, b, None, settings, Origin(node.span))


def links_inside(model: DeviceModel, plan: FabricPlan, diagnostics: Diagnostics) -> LinksInside:
    """The links that a model's own connects of the layer scaleup make between the devices inside it."""
    wires = [node for node in model.wiring if isinstance(node, tree.Connect) and is_of_scaleup(node)]
    if not wires:
        return LinksInside((), {}, ())
    scope = model.scope if isinstance(model.scope, Scope) else Scope()
    inner = _plan_of_chips(model, plan, scope)
    wiring = _unwired_chips(inner, plan)
    ports = wiring.ports
    for number, node in enumerate(wires):
        try:
            wire_connect(wiring, _resolved_inner_connect(node, inner, scope), number)
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    taker = {
        s.name: ports.taker[int(ports.base[s.first]) : int(ports.base[s.first + s.count])].reshape(
            s.count, -1
        )
        for s in inner.sets
    }
    return LinksInside(_count_inner_links(inner, wiring), taker, tuple(node.span for node in wires))


def mark_ports_inside(ports: PortTable, inside: Sequence[LinksInside]) -> None:
    """Mark the ports of devices that links inside of the devices around them take; ``inside`` is in the order
    of the models."""
    first = np.cumsum([0, *(len(x.spans) for x in inside)])
    for s in ports.sets if len(inside) else ():
        if s.inside is None or not s.count:
            continue
        around = ports.device_model[s.inside.first : s.inside.first + s.inside.count]
        for m in distinct_values(around).tolist():
            taker = inside[m].taker.get(s.name)
            if taker is None or s.count != s.inside.count * len(taker):
                continue
            for i, of_device in enumerate(taker):
                rows = s.first + np.flatnonzero(around == m) * len(taker) + i
                room = np.diff(ports.base)[rows]  # an override may have given it fewer
                for k in distinct_values(of_device[of_device >= 0]).tolist():
                    local = np.flatnonzero(of_device == k)
                    numbers = (ports.base[rows][:, None] + local)[local < room[:, None]]
                    ports.mark_inside(numbers, -2 - int(first[m]) - k, inside[m].spans[k])


def _plan_of_chips(model: DeviceModel, plan: FabricPlan, scope: Scope) -> FabricPlan:
    """A plan whose device sets are the chips of a model."""
    root = Group(model.name, "model", (), None, model.origin.span, scope)
    inner = FabricPlan(model.name, "", model.origin, root, plan.evaluator)
    for i, chip in enumerate(model.chips):
        made = DeviceSet(i, (PathComponent(chip.name, chip.kind, chip.axes),), chip.model, "", chip.origin)
        made.first = sum(s.count for s in inner.sets)
        root.members[chip.name] = made
        inner.sets.append(made)
    return inner


def _count_inner_links(plan: FabricPlan, wiring: WiringState) -> tuple[InnerLink, ...]:
    places = [(s.name, i) for s in plan.sets for i in range(s.count)]
    found: dict[tuple[tuple[str, int], tuple[str, int], int, str], int] = {}
    for batch in wiring.links:
        layer = str(batch.wire.settings.get("layer", ""))
        ends = (np.searchsorted(wiring.ports.base, end, side="right") - 1 for end in (batch.a, batch.b))
        for a, b, rate in zip(*(end.tolist() for end in ends), batch.rate.tolist(), strict=True):
            key = (places[a], places[b], rate, layer)
            found[key] = found.get(key, 0) + 1
    return tuple(InnerLink(a, b, n, rate, layer) for (a, b, rate, layer), n in found.items())
