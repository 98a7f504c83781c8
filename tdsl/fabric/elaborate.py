"""From the plan to the fabric, pass by pass: rows, omissions, wiring, tiers, cables, names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.assemble import assemble_fabric
from tdsl.fabric.device_rows import DeviceRows
from tdsl.fabric.graph import Fabric
from tdsl.fabric.inside import LinksInside, links_inside, mark_ports_inside
from tdsl.fabric.layers import judge_layers
from tdsl.fabric.naming import names_from_namings
from tdsl.fabric.order import distinct_values
from tdsl.fabric.ports import PortTable
from tdsl.fabric.rates import bounded_inside
from tdsl.fabric.resolve import (
    Resolver,
    note_unread_variables,
    variable_assignments,
    warn_of_unread_variables,
)
from tdsl.fabric.transports import stated_transport
from tdsl.fabric.vector import Array
from tdsl.fabric.wiring import WiringState, faults_of_separated_spreads, takes_remaining_ports, wire_connect
from tdsl.findings.diagnostic import Diagnostics, Label, Severity
from tdsl.findings.source import SourceFile
from tdsl.semantics.fault import Excused, Fault, closest_known_name
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.semantics.plan import FabricPlan, Pathed, ResolvedConnect, ResolvedPath
from tdsl.semantics.settings import EVPN
from tdsl.semantics.transport import fit_roce_to_transport
from tdsl.syntax import tree
from tdsl.system import malloc, progress

if TYPE_CHECKING:
    from tdsl.fabric.pins import PinnedLink

LINK_LIMIT = 1 << 27


def _wire_inside_models(plan: FabricPlan, rows: DeviceRows, diagnostics: Diagnostics) -> list[LinksInside]:
    """The links inside each model that the devices have; the models get theirs."""
    inside = [links_inside(m, plan, diagnostics) for m in rows.models]
    rows.models = [
        replace(m, links=x.links) if m.wiring else m for m, x in zip(rows.models, inside, strict=True)
    ]
    return inside


def elaborate_fabric(
    plan: FabricPlan,
    diagnostics: Diagnostics,
    max_links: int = LINK_LIMIT,
    stands: Sequence[PinnedLink] = (),
    sound: bool = True,
    places: SourceFile | None = None,
) -> Fabric:
    """The fabric a plan describes. Statements that cannot be are findings and leave it incomplete.

    ``stands`` are links that keep their ports where the design still has them; ``sound``: the text has no
    error so far, else the fabric is incomplete whatever is wired. ``places`` is a table of racks and units
    beside those that the design states.
    """
    rows = build_device_rows(plan)
    ok = apply_overrides(plan, rows, diagnostics) and apply_omissions(plan, rows, diagnostics)
    inside = _wire_inside_models(plan, rows, diagnostics)
    wiring, wired = _wire_devices(plan, rows, inside, diagnostics, max_links, stands, ok)
    ok = wired and ok and not plan.broken
    ok = bounded_inside(rows.models, rows.device_model, wiring.capacity, diagnostics) and ok
    if not ok:
        report_unconnected_sets(plan, diagnostics)
    fabric = assemble_fabric(plan, rows, wiring, diagnostics)
    judge_layers(fabric, diagnostics)
    fit_roce_to_transport(plan, diagnostics)
    said = stated_transport(plan)
    fabric.transport, fabric.transport_stated = said[0] if said else "", plan.transport is not None
    fabric.purpose = plan.purpose[0] if plan.purpose is not None else ""
    fabric.names = names_from_namings(plan, rows, fabric, diagnostics)
    _add_addresses(plan, fabric, diagnostics, ok and sound)
    fabric.prices, fabric.supply = plan.prices, plan.supply
    _add_places_and_distances(plan, fabric, diagnostics, places)
    _add_subnet_management(plan, fabric, diagnostics, ok and sound)
    if plan.risks:
        from tdsl.fabric.requirements import resolve_risk_groups

        fabric.risks = resolve_risk_groups(plan, fabric, diagnostics)
        fabric.complete = fabric.complete and not diagnostics.has_errors
    _report_no_device(plan, fabric, diagnostics)
    _warn_of_idle_statements(plan, wiring, diagnostics)
    return fabric


def _add_addresses(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics, sound: bool) -> None:
    """Assign addresses, and say of a ``sound`` fabric without errors that it is complete."""
    if plan.rules or plan.routing or plan.roce:
        from tdsl.fabric.addresses import assign_addresses

        fabric.addressing = assign_addresses(plan, fabric, diagnostics)
    fabric.complete = sound and not diagnostics.has_errors
    if fabric.complete and fabric.addressing is not None and fabric.addressing.routing is not None:
        from tdsl.fabric.split_pools import refuse_split_pools

        refuse_split_pools(fabric, fabric.addressing, diagnostics)
        if any(s.settings.get("across") == EVPN for s in fabric.statements):
            from tdsl.fabric.segments import EthernetSegments

            EthernetSegments(fabric, fabric.addressing).refuse(diagnostics)
            fabric.complete = not diagnostics.has_errors


def _add_subnet_management(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics, sound: bool) -> None:
    """Resolve partitions and subnet managers; a ``sound`` fabric is complete if that finds no errors."""
    if plan.partitions or plan.managers:
        from tdsl.fabric.partitions import resolve_subnet_management

        fabric.management = resolve_subnet_management(plan, fabric, diagnostics)
        fabric.complete = sound and not diagnostics.has_errors


def _report_no_device(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> None:
    """A fabric without faults of which nothing is built is a finding."""
    if fabric.complete and not fabric.built.any():
        diagnostics.add(
            "E0123",
            plan.origin,
            f"fabric `{plan.name}` has no device that is built",
            help="declare devices with `host` and `switch`; what `omit` names is planned only",
        )


def _wire_devices(
    plan: FabricPlan,
    rows: DeviceRows,
    inside: Sequence[LinksInside],
    diagnostics: Diagnostics,
    max_links: int,
    stands: Sequence[PinnedLink],
    known: bool,
) -> tuple[WiringState, bool]:
    """The links of all statements, and whether every statement could be. Links that ``stands`` holds keep
    their ports where they are still there, so those are found first. ``known``: which devices there are."""
    from tdsl.fabric.pins import Pins

    kinds = np.array([s.kind for s in rows.sets] or [""])[rows.device_set]

    def unwired(lines: Sequence[PinnedLink]) -> WiringState:
        ports = PortTable(rows.sets, rows.models, rows.device_model, rows.built)
        malloc.keep_freed_memory(len(ports.state))
        mark_ports_inside(ports, inside)
        made = WiringState(ports, plan.evaluator, kinds, max_links)
        made.pins = Pins(list(lines), made.ports) if lines else None
        return made

    wiring = unwired(stands)
    if wiring.pins is not None:
        wire_all(plan, wiring, Diagnostics())
        wiring = unwired(wiring.pins.kept)
    ok = wire_all(plan, wiring, diagnostics, known)
    if wiring.pins is not None:
        wiring.pins.release()
    return wiring, ok


def _add_places_and_distances(
    plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics, places: SourceFile | None
) -> None:
    """Where devices are in halls and racks, and how far groups are apart, as far as either is stated."""
    if plan.halls or plan.placings or places is not None:
        from tdsl.fabric.places import locate_devices

        fabric.parts = plan.parts
        fabric.places = locate_devices(plan, fabric, diagnostics, places)
    if plan.feeds:
        from tdsl.fabric.feeds import resolve_feeds

        resolve_feeds(plan, fabric, diagnostics)
        fabric.complete = fabric.complete and not diagnostics.has_errors
    if plan.distances:
        from tdsl.fabric.distances import group_distances

        fabric.parts = plan.parts
        fabric.spans = group_distances(plan, diagnostics)


def _warn_of_idle_statements(plan: FabricPlan, wiring: WiringState, diagnostics: Diagnostics) -> None:
    """Warn of statements whose guard leaves no assignment: they do nothing. What a topology writes, for each
    declaration of hosts and each kind of groups, has guards that its user cannot mend."""
    for node in (*wiring.idle, *plan.idle):
        if node.guard is not None and node.guard.span == node.span:
            continue
        span = node.guard.span if node.guard is not None else node.span
        diagnostics.add(
            "E0124",
            span,
            "no index values satisfy this guard, so the statement has no effect",
            severity=Severity.WARNING,
            help="correct the guard, or remove the statement",
        )
    warn_of_unread_variables(plan, diagnostics)
    if plan.minimize is not None and not plan.holes:
        diagnostics.add(
            "E0124",
            plan.minimize.span,
            "the design has no unknown `?`, so `minimize` has no effect",
            severity=Severity.WARNING,
            help="write `?` for a number, or remove the statement",
        )


def number_device_sets(plan: FabricPlan) -> list[DeviceSet]:
    """All device sets, each with its number and its first row."""
    sets = [*plan.sets, *plan.insides.values()]
    first = 0
    for i, s in enumerate(sets):
        s.index, s.first = i, first
        first += s.count
    plan.numbered = True
    return sets


def build_device_rows(plan: FabricPlan) -> DeviceRows:
    """Rows of all device sets, in order of declaration; devices inside others come after all that are
    declared."""
    sets = number_device_sets(plan)
    models: list[DeviceModel] = []
    of_set = []
    for s in sets:
        known = next(
            (
                k
                for k, m in enumerate(models)
                if m is s.model
                or (m.name, m.variant, m.origin) == (s.model.name, s.model.variant, s.model.origin)
            ),
            -1,
        )
        if known < 0:
            known = len(models)
            models.append(s.model)
        of_set.append(known)
    counts = [s.count for s in sets]
    device_set = np.repeat(np.arange(len(sets), dtype=np.int64), counts)
    built = np.ones(len(device_set), dtype=np.bool_)
    for s in sets:
        stride = s.count
        for axis in s.axes:
            stride //= axis.size
            if axis.present < axis.size:
                block = built[s.first : s.first + s.count].reshape(-1, axis.size, stride)
                block[:, axis.present :, :] = False
    return DeviceRows(
        sets, device_set, models, np.array(of_set, dtype=np.int64)[device_set] if sets else device_set, built
    )


def device_rows_of_path(plan: FabricPlan, target: ResolvedPath, statement: Pathed) -> Array:
    """Device rows a path means, over all assignments of its variables; a group means all devices in it."""
    guard = getattr(statement.node, "guard", None)
    over = variable_assignments(
        statement.context, (target,), guard, statement.scope, plan.evaluator, statement.node.span
    )
    note_unread_variables(plan, over, statement.node.span)
    if not over.count and isinstance(statement.node, tree.Omit):
        plan.idle.append(statement.node)
    resolver = Resolver(statement.scope, plan.evaluator, over)
    rows = distinct_values(resolver.rows(target))
    return rows[rows >= 0]


def apply_overrides(plan: FabricPlan, rows: DeviceRows, diagnostics: Diagnostics) -> bool:
    """Devices whose model another replaces."""
    ok = True
    for o in plan.overrides:
        try:
            chosen = device_rows_of_path(plan, o.target, o)
            assert o.model is not None
            at = next((k for k, m in enumerate(rows.models) if m is o.model), len(rows.models))
            if at == len(rows.models):
                rows.models.append(o.model)
            rows.device_model[chosen] = at
        except Fault as fault:
            fault.report(diagnostics)
            ok = False
    return ok


def apply_omissions(plan: FabricPlan, rows: DeviceRows, diagnostics: Diagnostics) -> bool:
    """Devices that are planned and not built; what is inside an omitted host is omitted with it."""
    ok = True
    for o in plan.omits:
        try:
            rows.built[device_rows_of_path(plan, o.target, o)] = False
        except Fault as fault:
            fault.report(diagnostics)
            ok = False
        except Excused:
            ok = False
    for s in rows.sets:
        if s.inside is not None:
            host = rows.built[s.inside.first : s.inside.first + s.inside.count]
            rows.built[s.first : s.first + s.count] &= np.repeat(host, s.count // s.inside.count)
    return ok


MANY = 20
"""Statements from which on their number says how far the wiring is."""


def wire_all(plan: FabricPlan, wiring: WiringState, diagnostics: Diagnostics, known: bool = True) -> bool:
    """All connects in order of the text, those that take what is left last, and circuits over what is
    drawn. Where it is not ``known`` which devices there are, what is left is not known either."""
    numbered = list(enumerate(plan.wires))
    ordered = [x for x in numbered if not x[1].node.circuit]
    ordered.sort(key=lambda x: takes_remaining_ports(x[1]))
    ok = True
    spoilt: set[int] = (
        set()
    )  # sets whose ports a refused connect should have taken: what is left of them is not known
    if len(ordered) >= MANY:
        progress.count_phase_pieces(len(ordered), "statements")
    for i, wire in ordered:
        progress.advance_phase()
        if takes_remaining_ports(wire) and (not known or spoilt & _device_sets_of_connect(wire)):
            continue
        if not _run_reporting_fault(partial(wire_connect, wiring, wire, i), wire, diagnostics):
            ok, spoilt = False, spoilt | _device_sets_of_connect(wire)
    ok = _set_up_all_circuits([x for x in numbered if x[1].node.circuit], wiring, diagnostics) and ok
    for fault in faults_of_separated_spreads(wiring) if ok and known else ():
        fault.report(diagnostics)
        ok = False
    return ok


def _set_up_all_circuits(
    asked: list[tuple[int, ResolvedConnect]], wiring: WiringState, diagnostics: Diagnostics
) -> bool:
    """Whether all circuits are set up over what is drawn; each has the place of its statement."""
    if not asked:
        return True
    from tdsl.fabric.circuits import plant_of, set_up_circuits

    plant, done = plant_of(wiring), True
    for i, wire in asked:
        step = partial(set_up_circuits, wiring, plant, wire, i)
        done = _run_reporting_fault(step, wire, diagnostics) and done
    return done


def _device_sets_of_connect(wire: ResolvedConnect) -> set[int]:
    return {id(t.device) for t in (*wire.a, *wire.b)}


def _run_reporting_fault(step: Callable[[], None], wire: ResolvedConnect, diagnostics: Diagnostics) -> bool:
    try:
        step()
    except Fault as fault:
        d = fault.diagnostic
        diagnostics.items.append(
            replace(d, labels=(*d.labels, *(Label(span, words) for span, words in wire.origin.chain)))
        )
        return False
    except Excused:
        return False
    return True


def report_unconnected_sets(plan: FabricPlan, diagnostics: Diagnostics) -> None:
    """Where wiring was refused, only a device that no connect even names is surely without a link."""
    named = {id(t.device) for w in plan.wires for t in (*w.a, *w.b, *([w.via] if w.via else []))}
    named |= {id(s.inside) for s in plan.insides.values()}
    excused = _names_possibly_meant(plan)
    for s in plan.sets:
        if id(s) in named or s.kind in ("ocs", "panel") or excused & {p.name for p in s.parts}:
            continue
        plural = s.kind + ("" if s.count == 1 else "es" if s.kind == "switch" else "s")
        diagnostics.add(
            "E0404",
            s.origin,
            f"no connect names `{s.path}`: {s.count} {plural} without a link",
            help=f"connect `{s.name}`, or remove it",
        )


def _names_possibly_meant(plan: FabricPlan) -> set[str]:
    """Names in refused statements, and what misspelt ones among them may have meant; where one is like none,
    all."""
    names = {p.name for s in plan.sets for p in s.parts}
    meant = {closest_known_name(n, names) for n in plan.excused - names}
    return plan.excused | (names if "" in meant else meant)


__all__ = ["DeviceRows", "device_rows_of_path", "elaborate_fabric", "number_device_sets"]
