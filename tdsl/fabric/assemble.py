"""The last pass: links from all statements become one table with tiers, classes and rates, and cables under them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tdsl.diagnostic import Diagnostics
from tdsl.fabric.bundles import bundles
from tdsl.fabric.cabling import Cables, first_of_cage, pull, shares
from tdsl.fabric.graph import MEDIA, Fabric, Statement
from tdsl.fabric.order import by_keys, distinct, ranks
from tdsl.fabric.parts import judge_parts
from tdsl.fabric.rates import per_link
from tdsl.fabric.tiers import class_name, planned_tiers, set_tiers
from tdsl.fabric.vector import Array
from tdsl.fabric.wiring import Batch, Wiring
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.semantics.plan import Plan
from tdsl.syntax import tree


def _join(parts: Sequence[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def assemble(
    plan: Plan, sets: Sequence[DeviceSet], models: Sequence[DeviceModel], device_set: Array, device_model: Array,
    built: NDArray[np.bool_], wiring: Wiring, diagnostics: Diagnostics,
) -> Fabric:  # fmt: skip
    """The fabric's columns from its wiring, whose links are used up: kept, they would be a quarter of the memory."""
    base = wiring.ports.base
    device = np.repeat(np.arange(len(device_set), dtype=np.int64), np.diff(base))
    batches = wiring.links
    a, b = _join([x.a for x in batches]), _join([x.b for x in batches])
    via_a, via_b = _join([x.via_a for x in batches]), _join([x.via_b for x in batches])
    statement = _join([np.full(len(x.a), x.statement, dtype=np.int64) for x in batches])
    absent_a, absent_b = _join([x.a for x in wiring.absent]), _join([x.b for x in wiring.absent])
    absent_statement = _join([np.full(len(x.a), x.statement, dtype=np.int64) for x in wiring.absent])
    said = np.array([w.settings.get("layer") == "scaleup" for w in plan.wires] or [False], dtype=np.bool_)
    both = np.append(statement, absent_statement)
    tier = _tiers(sets, device_set, device[np.append(a, absent_a)], device[np.append(b, absent_b)], said[both])
    by_set = set_tiers(sets, device_set, tier)
    swap = _swap(by_set, device_set, device, a, b)
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    via_a, via_b = np.where(swap, via_b, via_a), np.where(swap, via_a, via_b)
    rate = _join([x.rate for x in batches])
    absent_rate = _join([x.rate for x in wiring.absent])
    swap = _swap(by_set, device_set, device, absent_a, absent_b)
    absent_a, absent_b = np.where(swap, absent_b, absent_a), np.where(swap, absent_a, absent_b)
    names: list[str] = []
    cls = _classes(plan, batches, sets, device_set[device[a]], device_set[device[b]], names, diagnostics)
    medium = _media(batches)
    order = by_keys(a, b)
    shades: list[str] = []
    colour = _colours(plan, batches, shades, diagnostics)
    rows = (a, b, via_a, via_b, rate, cls, medium, statement, colour)
    a, b, via_a, via_b, rate, cls, medium, statement, colour = (x[order] for x in rows)
    layer = plan.layer or ("scaleup" if len(both) and said[both].all() else "")
    batches.clear()
    del rows, both, swap, order, said  # as large as the columns that they made
    port_link = np.full(int(base[-1]), -1, dtype=np.int64)
    port_link[a] = port_link[b] = np.arange(len(a), dtype=np.int64)
    circuit = np.array([w.node.circuit for w in plan.wires] or [False])
    chosen = np.repeat([not circuit[x.statement] for x in wiring.absent], [len(x.a) for x in wiring.absent]).astype(np.bool_)
    reserved = ~chosen | ((port_link[absent_a] < 0) & (port_link[absent_b] < 0))  # circuits have not chosen their ports yet
    crossed = np.flatnonzero(via_a >= 0)
    on_port = np.zeros(int(base[-1]), dtype=np.int64)
    on_port[a] = on_port[b] = rate
    port_link[via_a[crossed]] = port_link[via_b[crossed]] = crossed
    cables = _cables(plan, sets, device_set, device, models, device_model, base, wiring, names,
                     (a, b, via_a, via_b, cls, medium, statement), on_port, diagnostics)  # fmt: skip
    del on_port
    bundle = bundles(plan, device[a], device[b], a, statement, rate, diagnostics)
    in_ocs = crossed[np.array([s.kind == "ocs" for s in sets] or [False])[device_set[device[via_a[crossed]]]]]
    return Fabric(
        name=plan.name, title=plan.title, parameters=plan.parameters, origin=plan.origin, sets=tuple(sets),
        layer=layer,
        models=tuple(models), statements=tuple(Statement(w.origin, w.settings) for w in plan.wires), device_set=device_set,
        device_model=device_model, built=built, tier=tier, plane=_planes(sets, device_set), port_base=base,
        port_state=wiring.ports.state, port_link=port_link, link_a=a, link_b=b, link_rate=rate, link_class=cls,
        link_medium=medium, link_statement=statement, link_via_a=via_a, link_via_b=via_b, classes=tuple(names),
        link_colour=colour, colours=tuple(shades),
        cable_a=cables.a, cable_b=cables.b, cable_group=cables.group, cable_leg=cables.leg, cable_links=cables.links,
        cable_class=cables.cls, cable_statement=cables.statement, circuit_a=via_a[in_ocs], circuit_b=via_b[in_ocs],
        circuit_link=in_ocs, link_bundle=bundle, absent_a=device[absent_a], absent_b=device[absent_b], absent_rate=absent_rate,
        absent_reserved=reserved, absent_statement=absent_statement, nos=plan.nos[0] if plan.nos else "",
    )  # fmt: skip


def _tiers(sets: Sequence[DeviceSet], device_set: Array, a: Array, b: Array, up: NDArray[np.bool_]) -> Array:
    """The tier of every device by the links of its layer; ``up`` are links of the layer scaleup. What has links of the network
    has its tier there."""
    if up.all() or not up.any():
        return planned_tiers(sets, device_set, a, b)
    out, inner = (planned_tiers(sets, device_set, a[mine], b[mine]) for mine in (~up, up))
    return np.where(out >= 0, out, inner)


def _swap(by_set: Array, device_set: Array, device: Array, a: Array, b: Array) -> NDArray[np.bool_]:
    """Links whose b end is on the lower tier; between equals the device declared first is the a end."""
    high = np.iinfo(np.int64).max
    level = np.where(by_set < 0, high, by_set)
    ta, tb = level[device_set[device[a]]], level[device_set[device[b]]]
    swap: NDArray[np.bool_] = (tb < ta) | ((tb == ta) & (device[b] < device[a]))
    return swap


def _planes(sets: Sequence[DeviceSet], device_set: Array) -> Array:
    """Number of the plane each device stands in, -1 if in none. Instances of one declaration are told apart by the plane's own
    index, whatever groups are around it; two declarations are different planes."""
    out = np.full(len(device_set), -1, dtype=np.int64)
    start: dict[tuple[str, ...], int] = {}
    total = 0
    for s in sets:
        depth = next((i for i, p in enumerate(s.parts) if p.kind == "plane"), None)
        if depth is None:
            continue
        axes = s.parts[depth].axes
        key = tuple(p.name for p in s.parts[: depth + 1])
        if key not in start:
            start[key] = total
            total += max(prod(a.low + a.size for a in axes), 1)
        stride = prod(a.size for p in s.parts[depth + 1 :] for a in p.axes)
        where = np.arange(s.count, dtype=np.int64) // stride
        value, step = np.zeros(s.count, dtype=np.int64), 1
        for axis in reversed(axes):
            value += (where % axis.size + axis.low) * step
            where = where // axis.size
            step *= axis.low + axis.size
        out[s.first : s.first + s.count] = start[key] + value
    return out


def _media(batches: Sequence[Batch]) -> Array:
    """Medium of each link as an index into MEDIA: whatever is neither a trace nor a backplane is a cable."""
    parts = []
    for x in batches:
        written = x.wire.settings.get("medium", "cable")
        values = written if isinstance(written, tuple) else (written,)
        parts.append(per_link(tuple(MEDIA.index(str(v)) if v in MEDIA else 0 for v in values), x))
    return _join(parts)


def _classes(
    plan: Plan,
    batches: Sequence[Batch],
    sets: Sequence[DeviceSet],
    sa: Array,
    sb: Array,
    names: list[str],
    diagnostics: Diagnostics,
) -> Array:
    """Class of each link: what the connect says, else the names of the two sets, lower tier first."""
    parts, at = [], 0
    for x in batches:
        here = slice(at, at + len(x.a))
        at += len(x.a)
        written = x.wire.settings.get("class")
        if written is None:
            key = sa[here] * len(sets) + sb[here]
            kinds, which = ranks(key)
            numbers = [_number(names, class_name(sets[k // len(sets)], sets[k % len(sets)])) for k in kinds.tolist()]
            parts.append(np.array(numbers or [0], dtype=np.int64)[which])
            continue
        try:
            parts.append(_written(plan, x, written, names, "class"))
        except (Fault, Excused) as error:
            if isinstance(error, Fault):
                error.report(diagnostics)
            parts.append(np.full(len(x.a), _number(names, "unnamed"), dtype=np.int64))
    return _join(parts)


def _colours(plan: Plan, batches: Sequence[Batch], shades: list[str], diagnostics: Diagnostics) -> Array:
    """Colour of each link's cable as an index into ``shades``; -1 where the connect asks for none."""
    parts = []
    for x in batches:
        none = np.full(len(x.a), -1, dtype=np.int64)
        written = x.wire.settings.get("colour")
        try:
            parts.append(none if written is None else _written(plan, x, written, shades, "colour"))
        except (Fault, Excused) as error:
            if isinstance(error, Fault):
                error.report(diagnostics)
            parts.append(none)
    return _join(parts)


def _written(plan: Plan, batch: Batch, written: object, names: list[str], what: str) -> Array:
    """A word or string for each link of a batch; placeholders take the values of the connect's variables."""
    values = written if isinstance(written, tuple) else (written,)
    if len(values) == 1 and isinstance(values[0], tree.Str):
        texts = {}
        for k in distinct(batch.assignment).tolist():
            texts[k] = _number(names, str(plan.evaluator.evaluate(values[0], batch.over.scope(k, batch.wire.scope))))
        return np.array([texts[k] for k in batch.assignment.tolist()], dtype=np.int64)
    if any(isinstance(v, tree.Str) for v in values):
        raise Fault("E0120", batch.wire.node.span, f"`{what}` has one value with placeholders, or plain ones a dimension")
    return per_link(tuple(_number(names, str(v)) for v in values), batch)


def _number(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _cables(
    plan: Plan, sets: Sequence[DeviceSet], device_set: Array, device: Array, models: Sequence[DeviceModel], device_model: Array,
    base: Array, wiring: Wiring, names: list[str], links: tuple[Array, ...], rates: Array, diagnostics: Diagnostics,
) -> Cables:  # fmt: skip
    """Cables under links that are no traces, in two pieces where a panel or OCS is crossed, and those drawn without links."""
    a, b, via_a, via_b, cls, medium, statement = links
    laid = medium == 0
    circuit = (
        np.array([w.node.circuit for w in plan.wires] or [False])[statement] if len(statement) else np.zeros(0, dtype=np.bool_)
    )
    direct, through = laid & (via_a < 0), laid & (via_a >= 0) & ~circuit
    pieces = [(a[direct], b[direct], statement[direct], cls[direct])]
    for x, y in ((a, via_a), (b, via_b)):
        pieces.append(
            (x[through], y[through], statement[through], _to_passive(sets, device_set, device, x[through], y[through], names))
        )
    for batch in wiring.drawn:
        x, y = _outer_first(sets, device_set, device, batch.a, batch.b)
        pieces.append(
            (x, y, np.full(len(x), batch.statement, dtype=np.int64), _to_passive(sets, device_set, device, x, y, names))
        )
    pa, pb, ps, pc = (np.concatenate(column) for column in zip(*pieces, strict=True))
    del pieces, laid, circuit, direct, through
    cables = pull(pa, pb, ps, pc, _connectors(plan, wiring, models, device_model, base, (pa, pb), ps))
    judge_parts(plan, wiring, cables, rates, diagnostics)
    return cables


def _connectors(
    plan: Plan, wiring: Wiring, models: Sequence[DeviceModel], device_model: Array, base: Array, ends: Sequence[Array], ps: Array
) -> Array:  # fmt: skip
    """The connector of every port; ports of a cage that leave by one cable have the same: all of them where its plugs fill the
    cage, or as many as a connect says (``carries 2``)."""
    connector = wiring.ports.connector
    together = np.array([shares(w.settings) for w in plan.wires] or [1], dtype=np.int64)
    if (together == 1).all() or not len(ps):
        return connector
    connector = connector.copy()
    counts = np.cumsum([0, *(m.port_count for m in models)])[:-1]
    for n in distinct(together[together != 1]).tolist():
        first = first_of_cage(models, n)
        for ports in ends:
            mine = ports[together[ps] == n]
            device = wiring.ports.device_of(mine)
            connector[mine] = wiring.ports.connector[base[device] + first[counts[device_model[device]] + mine - base[device]]]
    return connector


def _outer_first(sets: Sequence[DeviceSet], device_set: Array, device: Array, a: Array, b: Array) -> tuple[Array, Array]:
    passive = np.array([s.kind in ("ocs", "panel") for s in sets])[device_set]
    swap = passive[device[a]] & ~passive[device[b]]
    return np.where(swap, b, a), np.where(swap, a, b)


def _to_passive(sets: Sequence[DeviceSet], device_set: Array, device: Array, a: Array, b: Array, names: list[str]) -> Array:
    sa, sb = device_set[device[a]], device_set[device[b]]
    kinds, which = ranks(sa * len(sets) + sb)
    numbers = [_number(names, class_name(sets[k // len(sets)], sets[k % len(sets)])) for k in kinds.tolist()]
    return np.array(numbers or [0], dtype=np.int64)[which]


__all__ = ["assemble"]
