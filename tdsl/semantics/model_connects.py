"""The connects that models write for the devices inside them. Those of the network become connects of each
fabric that has such devices; those of the layer scaleup stay with the model (``tdsl.fabric.inside``)."""

from __future__ import annotations

from tdsl.findings.source import Origin
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.semantics.paths import inner_device_set, resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Group, ResolvedConnect, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import connect_value
from tdsl.semantics.values import number_in_message
from tdsl.syntax import tree

MODEL_CONNECT_SETTINGS = ("layer", "medium", "rate")


def refuse_connect_of_fabrics_alone(node: tree.Connect) -> None:
    """Refuse what a connect inside a model cannot be. Raises Fault."""
    if node.circuit:
        raise Fault(
            "E0118",
            node.span,
            "a model has no circuits: an OCS is set up in a fabric",
            help="write the circuit in the fabric",
        )
    if node.via is not None:
        raise Fault(
            "E0118",
            node.via.span,
            "a connect inside a model crosses no panel and no OCS",
            help="write the connect in the fabric, for each device",
        )


def is_of_scaleup(node: tree.Connect) -> bool:
    """Whether a connect inside a model says of which layer its links are, which is ``scaleup``."""
    return any(isinstance(s, tree.Setting) and s.name.name == "layer" for s in node.body)


def model_connect_settings(node: tree.Connect, scope: Scope, evaluator: Evaluator) -> dict[str, object]:
    """The settings of a connect inside a model: which layer its links are of, their medium and their rate."""
    out: dict[str, object] = {}
    for s in node.body:
        if isinstance(s, tree.Broken):
            raise Excused
        if not isinstance(s, tree.Setting):
            raise Fault("E0118", s.span, "the braces of a connect hold settings only")
        name = s.name.name
        if name not in MODEL_CONNECT_SETTINGS:
            raise unknown_name_fault(
                "E0118", s.name.span, "setting of a connect inside a model", name, MODEL_CONNECT_SETTINGS
            )
        if name in out:
            raise Fault("E0104", s.span, f"`{name}` is set twice")
        out[name] = connect_value(s, scope, evaluator)
    return out


def joins_inside(model: DeviceModel, known: dict[int, bool] | None = None) -> bool:
    """Whether a model has links of the network inside it, at any depth; ``known`` is what was found of
    others, by ``id``."""
    known = {} if known is None else known
    if id(model) not in known:
        own = any(isinstance(node, tree.Connect) and not is_of_scaleup(node) for node in model.wiring)
        known[id(model)] = own or any(joins_inside(c.model, known) for c in model.chips)
    return known[id(model)]


def refuse_overrides_inside(plan: FabricPlan) -> None:
    """Refuse overrides of and with models that join devices inside them: what is inside of a device is
    settled by its declaration. Raises Fault."""
    for o in plan.overrides:
        for model in (o.target.device.model if o.target.device is not None else None, o.model):
            if model is not None and joins_inside(model):
                raise Fault(
                    "E0102",
                    o.node.span,
                    f"{model.name} joins devices inside it by its own connects, so an override can "
                    "neither replace it nor put it in the place of another model",
                    labels=[(model.origin.span, "declared here")],
                    help="declare these devices by themselves, with the model that they have",
                )


def add_connects_inside(
    plan: FabricPlan, s: DeviceSet, max_devices: int, made: list[ResolvedConnect]
) -> None:
    """Add to ``made`` the connects of the network that the model of a set's devices writes, and those of the
    models inside, at any depth: each is repeated for every device, like a statement of a group. Raises Fault,
    Excused."""
    known: dict[int, bool] = {}
    if joins_inside(s.model, known):
        made += _connects_of_devices(plan, s, max_devices, known)


def _connects_of_devices(
    plan: FabricPlan, s: DeviceSet, max_devices: int, known: dict[int, bool]
) -> list[ResolvedConnect]:
    out: list[ResolvedConnect] = []
    scope = s.model.scope if isinstance(s.model.scope, Scope) else Scope()
    for node in s.model.wiring:
        assert isinstance(node, tree.Connect)
        if is_of_scaleup(node):
            continue
        context = _context_inside(s, scope)
        a, b = (tuple(_path_inside(plan, s, context, p) for p in side) for side in (node.a, node.b))
        settings = model_connect_settings(node, scope, plan.evaluator)
        origin = Origin(node.span, ((s.origin.span, f"inside `{s.path}`, which is of this model"),))
        out.append(ResolvedConnect(node, scope, context, a, b, None, settings, origin, s))
    for chip in s.model.chips:
        if joins_inside(chip.model, known):
            inner = inner_device_set(plan, s, tree.Identifier(chip.name, s.origin.span))
            out += _connects_of_devices(plan, inner, max_devices, known)
    count = sum(x.count for x in (*plan.sets, *plan.insides.values()))
    if count > max_devices:
        raise Fault(
            "E0116",
            s.origin.span,
            f"with those inside of this the design has {number_in_message(count)} devices; the limit is "
            f"{max_devices:,}",
            help="raise it with `--limit-devices`, if that many are meant",
        )
    return out


def _context_inside(s: DeviceSet, scope: Scope) -> Context:
    """Where a statement inside the devices of a set stands: repeated for each of them. The names of the
    fabric mean nothing there."""
    groups = [Group("", "model", (), None, s.origin.span, Scope())]
    for part in s.parts:
        groups.append(Group(part.name, "model", part.axes, groups[-1], s.origin.span, Scope()))
    groups[-1].scope = scope
    return Context(tuple(groups), s.parts)


def _path_inside(plan: FabricPlan, s: DeviceSet, context: Context, path: tree.PathExpr) -> ResolvedPath:
    """The target of a path inside the devices of a set. Raises Fault, Excused."""
    head = path.parts[0]
    if isinstance(head, tree.Identifier) and head.name not in context.group.members:
        known = [c.name for c in s.model.chips]
        if head.name not in known:
            if context.group.scope.is_excused(head.name):
                raise Excused
            raise unknown_name_fault(
                "E0101", head.span, f"device inside {s.model.name} called", head.name, known
            )
        context.group.members[head.name] = inner_device_set(plan, s, head)
    return resolve_path(plan, context, path)
