"""The last pass: links from all statements become one table with tiers, classes and rates, and cables under
them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.cables.available_parts import judge_parts
from tdsl.fabric.cables.bundles import form_bundles, refuse_unpaired_switches
from tdsl.fabric.cables.cabling import CableLegs, cables_of_segments, first_of_cage, ports_sharing_cable
from tdsl.fabric.device_rows import DeviceRows
from tdsl.fabric.graph import MEDIA, Fabric, LinkStatement
from tdsl.fabric.narrow import narrow_fabric_columns
from tdsl.fabric.order import by_keys, distinct_values, rank_values
from tdsl.fabric.rates import per_link
from tdsl.fabric.tiers import class_name, planned_tiers, set_tiers
from tdsl.fabric.vector import Array
from tdsl.fabric.wiring import Batch, WiringState
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import DeviceSet
from tdsl.semantics.plan import FabricPlan, ResolvedConnect
from tdsl.syntax import tree

COLUMNS = ("a", "b", "da", "db", "statement")
"""Columns of links, built or not: ports and devices at both ends, and the connect."""


def _constant_column(value: int, size: int) -> Array:
    """A column of one value that takes no memory a row. It cannot be written to."""
    return np.broadcast_to(np.int64(value), size)


def _constant_if_uniform(column: Array) -> Array:
    """The column, without memory a row where all rows have one value."""
    return (
        _constant_column(int(column[0]), len(column))
        if len(column) and bool((column == column[0]).all())
        else column
    )


def _concatenate_columns(parts: Sequence[Array]) -> Array:
    some = [x for x in parts if len(x)]
    if some and all(x.strides == (0,) and x[0] == some[0][0] for x in some):
        return _constant_column(int(some[0][0]), sum(map(len, some)))
    return (some[0] if len(some) == 1 else np.concatenate(some)) if some else np.zeros(0, dtype=np.int64)


def _reorder_column(column: Array, order: Array) -> Array:
    return column if column.strides == (0,) else column[order]


def _exchange_rows(a: Array, b: Array, swap: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Two columns, exchanged in some rows."""
    if not swap.any():
        return a, b
    return (b, a) if swap.all() else (np.where(swap, b, a), np.where(swap, a, b))


def _via_kind(wire: ResolvedConnect) -> str:
    """What the links of a connect cross, "" for nothing."""
    return wire.via.device.kind if wire.via is not None and wire.via.device is not None else ""


def _rates_on_legs(cables: CableLegs, port_link: NDArray[np.int32], a: Array, b: Array, rate: Array) -> Array:
    """For every leg the rate of the link at the lower end of it, in bit/s; 0 where there is none."""
    if not len(rate):
        return np.zeros(len(cables.a), dtype=np.int64)
    link = port_link[cables.a]
    return np.where((link >= 0) & ((a[link] == cables.a) | (b[link] == cables.a)), rate[link], 0)


def assemble_fabric(
    plan: FabricPlan, rows: DeviceRows, wiring: WiringState, diagnostics: Diagnostics
) -> Fabric:
    """The fabric's columns from its wiring, whose links are used up: kept, they would be a quarter of the
    memory."""
    base, sets, device_set = wiring.ports.base, rows.sets, rows.device_set
    batches, absent = wiring.links, wiring.absent
    a, b, da, db, statement = (_column_of_batches(batches, x) for x in COLUMNS)
    absent_a, absent_b, absent_da, absent_db, absent_statement = (
        _column_of_batches(absent, x) for x in COLUMNS
    )
    up = _links_of_scaleup(plan, statement, absent_statement)
    layer = _layer_of_fabric(plan, up)
    tier = _tiers_by_layer(
        sets, device_set, _concatenate_columns([da, absent_da]), _concatenate_columns([db, absent_db]), up
    )
    by_set = set_tiers(sets, device_set, tier)
    swap = _links_to_reverse(by_set, device_set, da, db)
    a, b = _exchange_rows(a, b, swap)
    da, db = _exchange_rows(da, db, swap)
    via_a, via_b = _exchange_rows(
        _column_of_batches(batches, "via_a"), _column_of_batches(batches, "via_b"), swap
    )
    names: list[str] = []
    shades: list[str] = []
    cls = _link_classes(plan, batches, sets, by_set, device_set, (da, db), names, diagnostics)
    medium, colour = _link_media(batches), _link_colours(plan, batches, shades, diagnostics)
    rate = _column_of_batches(batches, "rate")
    batches.clear()
    order = by_keys(a)  # a port has one link
    if not bool((order[1:] > order[:-1]).all()):
        a, b, da, db, via_a, via_b = (x[order] for x in (a, b, da, db, via_a, via_b))
        rate, cls, medium, statement, colour = (
            _reorder_column(x, order) for x in (rate, cls, medium, statement, colour)
        )
    rate, cls, medium, statement, colour = (
        _constant_if_uniform(x) for x in (rate, cls, medium, statement, colour)
    )
    swap = _links_to_reverse(by_set, device_set, absent_da, absent_db)
    absent_a, absent_b = _exchange_rows(absent_a, absent_b, swap)
    absent_da, absent_db = _exchange_rows(absent_da, absent_db, swap)
    absent_rate = _column_of_batches(absent, "rate")
    del swap, order, up  # as large as the columns that they made
    port_link = np.full(int(base[-1]), -1, dtype=np.int32)
    port_link[a] = port_link[b] = np.arange(len(a), dtype=np.int32)
    circuit = _connects_that(plan, _is_circuit)
    reserved = circuit[absent_statement]  # circuits have not chosen their ports yet
    reserved |= (port_link[absent_a] < 0) & (port_link[absent_b] < 0)
    crossed = np.flatnonzero(via_a >= 0)
    port_link[via_a[crossed]] = port_link[via_b[crossed]] = crossed
    cables = _lay_cables(plan, rows, wiring, names, (a, b, da, db, via_a, via_b, cls, medium, statement))
    judge_parts(plan, wiring, cables, _rates_on_legs(cables, port_link, a, b, rate), diagnostics)
    bundle = form_bundles(plan, da, db, a, statement, rate, diagnostics)
    by_ocs = circuit | _connects_that(plan, lambda wire: _via_kind(wire) == "ocs")
    in_ocs = crossed[by_ocs[statement[crossed]]]
    made = Fabric(
        name=plan.name, title=plan.title, parameters=plan.parameters, origin=plan.origin, layer=layer,
        sets=tuple(sets), models=tuple(rows.models),
        statements=tuple(LinkStatement(w.origin, w.settings) for w in plan.wires),
        device_set=device_set, device_model=rows.device_model, built=rows.built, tier=tier,
        plane=_plane_numbers(sets, device_set),
        port_base=base, port_state=wiring.ports.state, port_link=port_link,
        link_a=a, link_b=b, link_rate=rate, link_class=cls, link_medium=medium, link_statement=statement,
        link_via_a=via_a, link_via_b=via_b, classes=tuple(names), link_colour=colour, colours=tuple(shades),
        cable_a=cables.a, cable_b=cables.b, cable_group=cables.group, cable_leg=cables.leg,
        cable_links=cables.links, cable_class=cables.cls, cable_statement=cables.statement,
        circuit_a=via_a[in_ocs], circuit_b=via_b[in_ocs], circuit_link=in_ocs, link_bundle=bundle,
        absent_a=absent_da, absent_b=absent_db, absent_rate=absent_rate, absent_reserved=reserved,
        absent_statement=absent_statement, nos=plan.nos[0] if plan.nos else "",
    )  # fmt: skip
    made.device_a, made.device_b = da, db  # known already
    refuse_unpaired_switches(plan, made, diagnostics)
    return narrow_fabric_columns(made)


def _column_of_batches(batches: Sequence[Batch], name: str) -> Array:
    """A column of the links of all batches, one after the other."""
    if name == "statement":
        return _concatenate_columns([_constant_column(x.statement, len(x.a)) for x in batches])
    return _concatenate_columns([getattr(x, name) for x in batches])


def _connects_that(plan: FabricPlan, test: Callable[[ResolvedConnect], bool]) -> NDArray[np.bool_]:
    """Which connects of a plan, by number, pass a test; one that does not where there is no connect."""
    return np.array([test(w) for w in plan.wires] or [False], dtype=np.bool_)


def _is_circuit(wire: ResolvedConnect) -> bool:
    return wire.node.circuit


def _links_of_scaleup(plan: FabricPlan, statement: Array, absent_statement: Array) -> NDArray[np.bool_]:
    """Which links, those that are not built last, are of the layer scaleup."""
    said = _connects_that(plan, lambda wire: wire.settings.get("layer") == "scaleup")
    if not said.any():
        return np.zeros(len(statement) + len(absent_statement), dtype=np.bool_)
    return said[np.append(statement, absent_statement)]


def _layer_of_fabric(plan: FabricPlan, up: NDArray[np.bool_]) -> str:
    """The layer that the fabric states, else scaleup where all of its links are."""
    return plan.layer or ("scaleup" if len(up) and up.all() else "")


def _tiers_by_layer(
    sets: Sequence[DeviceSet], device_set: Array, a: Array, b: Array, up: NDArray[np.bool_]
) -> Array:
    """The tier of every device by the links of its layer; ``up`` are links of the layer scaleup. What has
    links of the network has its tier there."""
    if up.all() or not up.any():
        return planned_tiers(sets, device_set, a, b)
    out, inner = (planned_tiers(sets, device_set, a[mine], b[mine]) for mine in (~up, up))
    return np.where(out >= 0, out, inner)


def _links_to_reverse(by_set: Array, device_set: Array, a: Array, b: Array) -> NDArray[np.bool_]:
    """Links whose b end is on the lower tier, by their devices; between equals the device declared first is
    the a end."""
    level = np.where(by_set < 0, np.iinfo(np.int64).max, by_set)[device_set]
    ta, tb = level[a], level[b]
    swap: NDArray[np.bool_] = (tb < ta) | ((tb == ta) & (b < a))
    return swap


def _plane_numbers(sets: Sequence[DeviceSet], device_set: Array) -> Array:
    """Number of the plane each device stands in, -1 if in none. Instances of one declaration are
    distinguished by the plane's own index, whatever groups are around it; two declarations are different
    planes."""
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


def _link_media(batches: Sequence[Batch]) -> Array:
    """Medium of each link as an index into MEDIA: whatever is neither a trace nor a backplane is a cable."""
    parts = []
    for x in batches:
        written = x.wire.settings.get("medium", "cable")
        values = written if isinstance(written, tuple) else (written,)
        parts.append(per_link(tuple(MEDIA.index(str(v)) if v in MEDIA else 0 for v in values), x))
    return _concatenate_columns(parts)


def _link_classes(
    plan: FabricPlan,
    batches: Sequence[Batch],
    sets: Sequence[DeviceSet],
    by_set: Array,
    device_set: Array,
    ends: tuple[Array, Array],
    names: list[str],
    diagnostics: Diagnostics,
) -> Array:
    """Class of each link: what the connect says, else the names of the two sets, lower tier first. ``ends``
    are the devices."""
    parts, at = [], 0
    for x in batches:
        here = slice(at, at + len(x.a))
        at += len(x.a)
        written = x.wire.settings.get("class")
        if written is None:
            far = x.wire.b or x.wire.a
            if len(x.wire.a) == len(far) == 1 and len(x.a):  # all links join the same two sets
                here = slice(here.start, here.start + 1)
            parts.append(
                _named_by_sets(sets, device_set[ends[0][here]], device_set[ends[1][here]], len(x.a), names)
            )
            continue
        try:
            parts.append(_word_index_per_link(plan, x, written, names, "class"))
        except (Fault, Excused) as error:
            if isinstance(error, Fault):
                error.report(diagnostics)
            parts.append(_constant_column(_index_of_name(names, "unnamed"), len(x.a)))
    return _concatenate_columns(parts)


def _named_by_sets(sets: Sequence[DeviceSet], a: Array, b: Array, size: int, names: list[str]) -> Array:
    """The class of links between sets, which are those of every link, or of the first where all have the
    same."""
    kinds, which = rank_values(a * len(sets) + b)
    numbers = [
        _index_of_name(names, class_name(sets[k // len(sets)], sets[k % len(sets)])) for k in kinds.tolist()
    ]
    return (
        _constant_column(numbers[0], size)
        if len(numbers) == 1
        else np.array(numbers or [0], dtype=np.int64)[which]
    )


def _link_colours(
    plan: FabricPlan, batches: Sequence[Batch], shades: list[str], diagnostics: Diagnostics
) -> Array:
    """Colour of each link's cable as an index into ``shades``; -1 where the connect asks for none."""
    parts = []
    for x in batches:
        none = _constant_column(-1, len(x.a))
        written = x.wire.settings.get("colour")
        try:
            parts.append(
                none if written is None else _word_index_per_link(plan, x, written, shades, "colour")
            )
        except (Fault, Excused) as error:
            if isinstance(error, Fault):
                error.report(diagnostics)
            parts.append(none)
    return _concatenate_columns(parts)


def _word_index_per_link(
    plan: FabricPlan, batch: Batch, written: object, names: list[str], what: str
) -> Array:
    """A word or string for each link of a batch; placeholders take the values of the connect's variables."""
    values = written if isinstance(written, tuple) else (written,)
    if len(values) == 1 and isinstance(values[0], tree.Str):
        texts, known = {}, {name: i for i, name in reversed(list(enumerate(names)))}
        for k in distinct_values(batch.assignment).tolist():
            text = str(plan.evaluator.evaluate(values[0], batch.over.scope(k, batch.wire.scope)))
            if text not in known:
                known[text] = len(names)
                names.append(text)
            texts[k] = known[text]
        return np.array([texts[k] for k in batch.assignment.tolist()], dtype=np.int64)
    if any(isinstance(v, tree.Str) for v in values):
        raise Fault(
            "E0120",
            batch.wire.node.span,
            f"`{what}` has one value with placeholders, or plain ones a dimension",
        )
    return per_link(tuple(_index_of_name(names, str(v)) for v in values), batch)


def _index_of_name(names: list[str], name: str) -> int:
    if name not in names:
        names.append(name)
    return names.index(name)


def _lay_cables(
    plan: FabricPlan, rows: DeviceRows, wiring: WiringState, names: list[str], links: tuple[Array, ...]
) -> CableLegs:
    """Cables under links that are no traces, in two pieces where a panel or OCS is crossed, and those drawn
    without links."""
    a, b, da, db, via_a, via_b, cls, medium, statement = links
    sets, device_set = rows.sets, rows.device_set
    circuit = _connects_that(plan, _is_circuit)
    # the set that the links of a connect cross; of those that are circuits, the cables are drawn by other
    # connects
    passive = np.array(
        [-1 if w.via is None or w.via.device is None else w.via.device.index for w in plan.wires] or [-1]
    )
    laid, crosses = medium == 0, via_a >= 0
    direct, through = _rows_as_index(laid & ~crosses), _rows_as_index(laid & crosses & ~circuit[statement])
    pieces = [(a[direct], b[direct], statement[direct], cls[direct])]
    for x, y, device in ((a, via_a, da), (b, via_b, db)):
        near, said = device_set[device[through]], statement[through]
        pieces.append(
            (x[through], y[through], said, _named_by_sets(sets, near, passive[said], len(near), names))
        )
    for batch in wiring.drawn:
        x, y, device, far = _outer_first(sets, device_set, batch)
        kinds = _named_by_sets(sets, device_set[device], device_set[far], len(x), names)
        pieces.append((x, y, _constant_column(batch.statement, len(x)), kinds))
    pa, pb, ps, pc = (_concatenate_columns(column) for column in zip(*pieces, strict=True))
    del pieces, laid, crosses, direct, through, links, a, b, via_a, via_b
    return cables_of_segments(pa, pb, ps, pc, _port_connectors(plan, wiring, rows, (pa, pb), ps))


def _rows_as_index(chosen: NDArray[np.bool_]) -> NDArray[np.bool_] | slice:
    """Some rows as an index: a slice, which copies nothing, where they are all or none."""
    return slice(None) if chosen.all() else chosen if chosen.any() else slice(0)


def _port_connectors(
    plan: FabricPlan, wiring: WiringState, rows: DeviceRows, ends: Sequence[Array], ps: Array
) -> Array:
    """The connector of every port; ports of a cage that leave by one cable have the same: all of them where
    its plugs fill the cage, or as many as a connect says (``carries 2``)."""
    connector, base = wiring.ports.connector, wiring.ports.base
    together = np.array([ports_sharing_cable(w.settings) for w in plan.wires] or [1], dtype=np.int64)
    if (together == 1).all() or not len(ps):
        return connector
    connector = connector.copy()
    counts = np.cumsum([0, *(m.port_count for m in rows.models)])[:-1]
    for n in distinct_values(together[together != 1]).tolist():
        first = first_of_cage(rows.models, n)
        for ports in ends:
            mine = ports[together[ps] == n]
            device = wiring.ports.device_of(mine)
            connector[mine] = wiring.ports.connector[
                base[device] + first[counts[rows.device_model[device]] + mine - base[device]]
            ]
    return connector


def _outer_first(
    sets: Sequence[DeviceSet], device_set: Array, batch: Batch
) -> tuple[Array, Array, Array, Array]:
    """Ports and devices of drawn cables: the end that is no panel or OCS first."""
    passive = np.array([s.kind in ("ocs", "panel") for s in sets])[device_set]
    swap = passive[batch.da] & ~passive[batch.db]
    return *_exchange_rows(batch.a, batch.b, swap), *_exchange_rows(batch.da, batch.db, swap)


__all__ = ["assemble_fabric"]
