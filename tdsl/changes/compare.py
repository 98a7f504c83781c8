"""Holds two fabrics against each other: devices by their path in the design, cables by their ends."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tdsl.changes.attributes import (
    MatchedRows,
    changed_attributes,
    changed_circuits,
    changed_mounting,
    model_pairs,
    unreported_changes,
    words_without_difference,
)
from tdsl.changes.cable_groups import group_changed_cables
from tdsl.changes.cable_rows import CableRows, differing_cable_rows
from tdsl.changes.figure_changes import changed_metrics, comparison_figures
from tdsl.changes.model import CableLeg, Change, Changes, ContractChange, MovedCable
from tdsl.fabric.addresses import DEVICE_KINDS
from tdsl.fabric.graph import Fabric
from tdsl.fabric.renamed import GONE, design_devices_of, find_renamed_devices, renames_by_declaration

if TYPE_CHECKING:
    from tdsl.changes.contract import Contract, Subject
    from tdsl.compile.compiler import Design

NOTHING: Mapping[str, str] = {}


def _name_of_comparison(old: Design, new: Design) -> str:
    """The name of the newer design, with both phases where these differ."""
    phased = old.phase and new.phase and old.phase != new.phase
    return f"{new.name}, phase {old.phase} to phase {new.phase}" if phased else new.name


def _words_of_equal_settings(
    out: Changes, rows: MatchedRows, changed: Mapping[str, object]
) -> frozenset[str]:
    """Words of settings without a difference in what they do, so that other text for them changes nothing;
    routing is none where autonomous systems have other numbers."""
    same = words_without_difference(rows, changed)
    return same - {"routing"} if any(x.what.endswith(" ASN") for x in out.addresses) else same


def compare_designs(
    old: Design,
    new: Design,
    contracts: tuple[Contract, Contract] | None = None,
    subject: Subject | None = None,
) -> Changes:
    """What differs between two designs that have a fabric; with ``contracts`` what they promise and rest on,
    too, as far as it is of the ``subject``."""
    before, after = old.fabric, new.fabric
    assert before is not None and after is not None
    out = Changes(_name_of_comparison(old, new))
    known = find_renamed_devices(design_devices_of(before), design_devices_of(after))
    out.renamed = [
        Change(f"{n:,} {'device' if n == 1 else 'devices'}", a, b)
        for a, b, n in renames_by_declaration(known)
    ]
    _compare_devices(out, before, after, known)
    _compare_cables(out, *_differing_cables(before, after, known))
    out.cable_groups = group_changed_cables(out, before, after)
    out.addresses = _changed_entries(addresses_by_purpose(before, known), addresses_by_purpose(after))
    values = {k: str(v) for k, v in old.parameters.items()}, {k: str(v) for k, v in new.parameters.items()}
    out.parameters = _changed_entries(*values)
    out.figures = _changed_entries(comparison_figures(before), comparison_figures(after))
    out.metrics = changed_metrics(old.results, new.results)
    rows = MatchedRows(before, after, known)
    changed = changed_attributes(rows)
    out.circuits = changed_circuits(rows)
    out.places += [x for x in changed_mounting(rows) if all(x.what != p.what for p in out.places)]
    if contracts is not None:
        from tdsl.changes.contract import Subject, compare_contracts, model_changes

        same = _words_of_equal_settings(out, rows, changed)
        out.contract = compare_contracts(contracts, (old, new), known, subject or Subject(), same)
        out.contract += model_changes(model_pairs(rows))
    reported = {x.what for x in out.contract if x.part == "statement"}
    out.settings = unreported_changes(changed, reported, {x.what.rpartition(": ")[2] for x in out.cables})
    return out


def compare_with_nothing(old: Design | None, new: Design | None, whole: str, file: str) -> Changes:
    """A fabric that only one side has: all of it is new, or gone. ``whole`` says what came or went: "file" or
    "fabric"."""
    from tdsl.changes.requirements import requirements_of

    design, come = (new, True) if new is not None else (old, False)
    assert design is not None and design.fabric is not None
    fabric, out = design.fabric, Changes(design.name)
    said = f"{file}, fabric {design.name}" if whole == "file" else f"fabric {design.name} in {file}"
    ends = ("", said) if come else (said, "")
    out.contract = [ContractChange("design", "added" if come else "removed", whole, *ends)]
    for r in requirements_of(design.claims):
        texts = ("", r.text) if come else (r.text, "")
        out.contract.append(
            ContractChange("requirement", "added" if come else "removed", r.claim.metric, *texts)
        )
    devices = [
        (fabric.device_path(d), fabric.model_of(d).name) for d in np.flatnonzero(fabric.built).tolist()
    ]
    wires = cable_legs_in_order(fabric)
    facts, results = comparison_figures(fabric), design.results
    if come:
        out.devices_added, out.added = devices, wires
        out.cable_groups = group_changed_cables(out, fabric, fabric)
        out.figures, out.metrics = _changed_entries({}, facts), changed_metrics([], results)
    else:
        out.devices_removed, out.removed = devices, wires
        out.cable_groups = group_changed_cables(out, fabric, fabric)
        out.figures, out.metrics = _changed_entries(facts, {}), changed_metrics(results, [])
    return out


def compare_clusters(old: Design | None, new: Design | None) -> Changes:
    """What differs between two clusters, beside what differs between their fabrics: what is required of all
    of them together, and the sums. None for a side that has no such cluster."""
    either = new if new is not None else old
    assert either is not None and either.fabric is not None
    out = Changes(_title_of_designs(old, new, either))
    fabrics = [d.fabric if d is not None and d.fabric is not None else either.fabric for d in (old, new)]
    out.contract = _compare_contracts_of_clusters(old, new, fabrics)
    sums = [comparison_figures(f) if d is not None else {} for d, f in zip((old, new), fabrics, strict=True)]
    out.figures = _changed_entries(sums[0], sums[1])
    out.metrics = changed_metrics(*(d.results if d is not None else [] for d in (old, new)))
    return out


def _compare_contracts_of_clusters(
    old: Design | None, new: Design | None, fabrics: list[Fabric]
) -> list[ContractChange]:
    """The requirements of two clusters, and their names where these differ."""
    from tdsl.changes.requirements import FabricPairNames, compare_requirements

    known = find_renamed_devices(design_devices_of(fabrics[0]), design_devices_of(fabrics[1]))
    claims = [d.claims if d is not None else [] for d in (old, new)]
    out = compare_requirements(claims[0], claims[1], FabricPairNames(fabrics[0], fabrics[1], known))
    names = [d.name if d is not None else "" for d in (old, new)]
    if names[0] != names[1]:
        change = "changed" if all(names) else "added" if names[1] else "removed"
        what = "name of the cluster" if all(names) else "cluster"
        out.append(ContractChange("design", change, what, *names))
    return out


def _title_of_designs(old: Design | None, new: Design | None, either: Design) -> str:
    """The name of a cluster, with the phases where two of one cluster are compared."""
    if old is not None and new is not None and old.phase and new.phase and old.phase != new.phase:
        return f"{either.name}, phase {old.phase} to phase {new.phase}"
    return either.name


def _changed_entries(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Entries that are on one side only, or have another value there; "" stands for none."""
    names = [*before, *(n for n in after if n not in before)]
    return [Change(n, before.get(n, ""), after.get(n, "")) for n in names if before.get(n) != after.get(n)]


# ---------------------------------------------------------------- devices


def _compare_devices(out: Changes, before: Fabric, after: Fabric, known: Mapping[str, str]) -> None:
    (old, planned), (new, planned_now) = (
        [{f.device_path(d): d for d in np.flatnonzero(f.built == built).tolist()} for built in (True, False)]
        for f in (before, after)
    )
    old, planned = ({known.get(p, p): d for p, d in devices.items()} for devices in (old, planned))
    out.devices_removed = [
        (p.removesuffix(GONE), before.model_of(d).name) for p, d in old.items() if p not in new
    ]
    out.devices_added = [(p, after.model_of(d).name) for p, d in new.items() if p not in old]
    both = [(p, d, new[p]) for p, d in old.items() if p in new]
    both += [(p, d, planned_now[p]) for p, d in planned.items() if p in planned_now]
    for path, d, e in both:
        models = before.model_of(d).name, after.model_of(e).name
        if models[0] != models[1]:
            out.models.append(Change(path, *models))
        names = before.device_name(d), after.device_name(e)
        if names[0] != names[1]:
            out.names.append(Change(path, *names))


# ---------------------------------------------------------------- cables


def cable_legs_in_order(fabric: Fabric) -> list[CableLeg]:
    """Every leg of a cable, in the order of the cabling plan."""
    rows = CableRows(fabric, NOTHING)
    return rows.legs(np.arange(len(rows), dtype=np.int64))


def _differing_cables(
    before: Fabric, after: Fabric, known: Mapping[str, str]
) -> tuple[list[CableLeg], list[CableLeg]]:
    """The legs of either fabric that the other does not have just so, in the order of the cabling plan."""
    old, new = CableRows(before, known), CableRows(after, NOTHING)
    rows, now = differing_cable_rows(old, new)
    return old.legs(rows), new.legs(now)


def _compare_cables(out: Changes, before: list[CableLeg], after: list[CableLeg]) -> None:
    """What became of cables; those that neither comes, goes nor changes may be left out."""
    old, new = ({(c.a.key, c.b.key): c for c in rows} for rows in (before, after))
    out.places = _changed_places(before, after)
    for key, was in old.items():
        now = new.get(key)
        if now is None:
            continue
        _compare_legs(out, was, now)
        for x, y in ((was.a, now.a), (was.b, now.b)):
            if x.label != y.label:
                out.ports.append(Change(f"{x.device}.{x.port}", x.label, y.label))
    gone = [c for key, c in old.items() if key not in new]
    come = [c for key, c in new.items() if key not in old]
    for side in ("a", "b"):  # a cable whose lower end stays is the same cable before one whose upper end does
        gone, come = _pair_cables_by_end(out, gone, come, side)
    out.removed, out.added = gone, come


def _changed_places(before: list[CableLeg], after: list[CableLeg]) -> list[Change]:
    """Devices at cables of both sides that are mounted elsewhere now."""
    at = [
        {e.device: p for c in rows for e, p in zip((c.a, c.b), c.places, strict=True)}
        for rows in (before, after)
    ]
    return [
        Change(d, _location_text(p), _location_text(at[1][d]))
        for d, p in at[0].items()
        if d in at[1] and at[1][d] != p
    ]


def _compare_legs(out: Changes, was: CableLeg, now: CableLeg) -> None:
    """A cable between the same two ports: other facts, another part or length, or another place."""
    what = f"{was.a.text} to {was.b.text}"
    values = list(zip(was.facts, now.facts, strict=True))
    out.cables += [Change(f"{what}: {fact}", x, y) for (fact, x), (_, y) in values if x != y]
    if any(x != y for (fact, x), (_, y) in values if fact in ("part", "length")):
        out.replaced.append((was, now))
    elif was.places != now.places:
        far = "b" if was.places[1] != now.places[1] else "a"
        near = "a" if far == "b" else "b"
        out.relocated.append(
            MovedCable(getattr(now, near), getattr(was, far), getattr(now, far), now.link_class, was, now)
        )


def _location_text(at: tuple[str, str, str]) -> str:
    hall, rack, unit = at
    return " ".join(x for x in (hall, rack, unit and f"unit {unit}") if x)


def _pair_cables_by_end(
    out: Changes, gone: list[CableLeg], come: list[CableLeg], at: str
) -> tuple[list[CableLeg], list[CableLeg]]:
    """Pair cables that keep one end, in order; what is left on either side."""
    waiting: dict[tuple[str, str], list[CableLeg]] = defaultdict(list)
    for c in come:
        waiting[getattr(c, at).key].append(c)
    left, taken = [], set()
    for was in gone:
        found = waiting.get(getattr(was, at).key)
        if not found:
            left.append(was)
            continue
        now = found.pop(0)
        taken.add(id(now))
        far = "b" if at == "a" else "a"
        out.moved.append(
            MovedCable(getattr(now, at), getattr(was, far), getattr(now, far), now.link_class, was, now)
        )
    return left, [c for c in come if id(c) not in taken]


# ---------------------------------------------------------------- addresses


def addresses_by_purpose(fabric: Fabric, known: Mapping[str, str] = NOTHING) -> dict[str, str]:
    """Every ASN and address by what it is for; ``known`` are devices with other paths now. Of a cluster those
    of all its fabrics."""
    if not fabric.members:
        return _addresses_of_network(fabric, [*map(fabric.device_path, range(fabric.device_count))], known)
    out: dict[str, str] = {}
    for member, rows in zip(fabric.members, fabric.member_rows, strict=True):
        out |= _addresses_of_network(member, [*map(fabric.device_path, rows.tolist())], known)
    return out


def _addresses_of_network(fabric: Fabric, paths: list[str], known: Mapping[str, str]) -> dict[str, str]:
    """Those of one network, whose devices have these paths."""
    found = fabric.addressing
    if found is None:
        return {}
    out: dict[str, str] = {}
    for d in np.flatnonzero(fabric.built).tolist():
        path = known.get(paths[d], paths[d])
        if found.asn[d]:
            out[f"{path} ASN"] = str(found.asn[d])
        for kind in DEVICE_KINDS:
            for address, pool in found.each(kind, d):
                out[f"{path} {kind} IPv{address.version}"] = f"{address}/{pool.prefix}"
    if any(kind == "links" for kind, _ in found.assigned):
        for link, ends in enumerate(zip(fabric.link_a.tolist(), fabric.link_b.tolist(), strict=True)):
            for second, port in zip((False, True), ends, strict=True):
                device, own = paths[int(fabric.port_device[port])], _port_of_device(fabric, port)
                for address, pool in found.each("links", link, second):
                    out[f"{known.get(device, device)}.{own} IPv{address.version}"] = (
                        f"{address}/{pool.prefix}"
                    )
    return out


def _port_of_device(fabric: Fabric, port: int) -> str:
    """A port as its device calls it: ``nic[3]``."""
    return fabric.port_path(port).rpartition(".")[2]


def devices_by_set(rows: Iterable[tuple[str, str]]) -> list[tuple[str, str, int, list[str]]]:
    """Devices by the set they belong to: its path without the last index, the model, how many, and their
    paths."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, model in rows:
        groups[path.rpartition("[")[0] or path, model].append(path)
    return [(name, model, len(paths), paths) for (name, model), paths in groups.items()]
