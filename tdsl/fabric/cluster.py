"""The fabrics of a cluster as one: devices that they share once, and the places, links, cables and addresses
of all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Any

import numpy as np

from tdsl.fabric.asns import judge_asns_of_cluster
from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.cluster_addresses import join_addressing
from tdsl.fabric.feeds import PowerFeed
from tdsl.fabric.graph import FREE, HOLE, INSIDE, USED, Fabric, Ints
from tdsl.fabric.narrow import narrow_fabric_columns
from tdsl.fabric.places import RackPlaces, places_of_halls
from tdsl.fabric.requirements import lent_claims_at, resolve_claims
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.model import DeviceModel, DeviceSet
from tdsl.semantics.place_statements import Hall, RackKind, RackRow
from tdsl.semantics.plan import FabricPlan
from tdsl.system.lazy_dataclass import dataclass

DIFFERS = "E0465"
"""What fabrics share is not the same in each of them."""
ClaimKey = tuple[int, int, str, str]
"""Begin and end of a claim in its file, its text, and the group in whose instance it is."""


def number_of_member(cluster: Fabric, name: str) -> int:
    """The place of a fabric among those of a cluster."""
    return next(k for k, f in enumerate(cluster.members) if f.name == name)


def claim_of_member(claim: ResolvedClaim, cluster: Fabric, member: int) -> ResolvedClaim:
    """A claim of one of the fabrics with its devices as rows of the cluster."""
    return _joined_claim(cluster, [(member, claim)], False)


def claim_of_cluster(claims: Sequence[tuple[int, ResolvedClaim]], cluster: Fabric) -> ResolvedClaim:
    """One claim of the cluster's block, as it was resolved in some of the fabrics (by their numbers): what
    its paths name in any of them, a shared device once. What one fabric alone has is named with that fabric:
    ``compute.leaf[0]``."""
    return _joined_claim(cluster, claims, True)


def requirements_of_cluster(
    plans: Sequence[FabricPlan],
    cluster: Fabric,
    judged: Collection[tuple[int, int]],
    joint: Collection[str],
    diagnostics: Diagnostics,
) -> list[ResolvedClaim]:
    """What the cluster's block requires of all its fabrics (those of the plans), in order of the text. Each
    path is resolved in each fabric that has what it names, also where another path of the requirement names
    nothing there; what none has is a finding. So are those claims of which no fabric has all that they
    name: ``judged`` are begin and end of the claims that fabrics have, and ``joint`` the metrics that are
    judged of all fabrics together."""
    left = set().union(*(plan.left_out for plan in plans)).difference(judged)
    found: dict[ClaimKey, list[tuple[int, ResolvedClaim]]] = {}
    wrong: list[Diagnostic] = []
    missing: list[dict[SourceSpan, Diagnostic]] = []
    for k, (plan, fabric) in enumerate(zip(plans, cluster.members, strict=True)):
        own = Diagnostics()
        absent: dict[SourceSpan, Diagnostic] = {}
        required = [*plan.of_cluster, *lent_claims_at(plan, left)]
        for claim in resolve_claims(replace(plan, requires=required), fabric, own, absent):
            span = claim.origin.span
            key = (span.start, span.end, claim.text, claim.scope.name if claim.scope is not None else "")
            found.setdefault(key, []).append((k, claim))
        wrong += own
        missing.append(absent)
    nowhere = _missing_in_all_fabrics(missing)
    nowhere += [d for d in wrong if d.code == "E0108"]  # a fabric has some of these indices
    nowhere += _missing_of_one_fabric(found, missing, joint)
    _drop_claims_at_findings(found, nowhere)
    _report_once(diagnostics, (*wrong, *nowhere), {(start, end) for start, end, _, _ in found})
    return [claim_of_cluster(found[key], cluster) for key in sorted(found, key=lambda key: key[:2])]


def _missing_in_all_fabrics(missing: Sequence[dict[SourceSpan, Diagnostic]]) -> list[Diagnostic]:
    """Findings of paths that name nothing in any fabric; ``missing`` has those of each fabric."""
    first = missing[0] if missing else {}
    return [d for span, d in first.items() if all(span in absent for absent in missing)]


def _missing_of_one_fabric(
    found: Mapping[ClaimKey, Sequence[tuple[int, ResolvedClaim]]],
    missing: Sequence[dict[SourceSpan, Diagnostic]],
    joint: Collection[str],
) -> list[Diagnostic]:
    """Findings of claims that only one fabric could judge, where none has all that they name: what the first
    one lacks."""
    out: list[Diagnostic] = []
    for (start, end, _, _), claims in found.items():
        if claims[0][1].metric in joint:
            continue
        lacking = (d for absent in missing for s, d in absent.items() if start <= s.start and s.end <= end)
        out += [
            replace(d, notes=(*d.notes, "each fabric judges this by itself, and none has all that it names"))
            for d in islice(lacking, 1)
        ]
    return out


def _drop_claims_at_findings(found: dict[ClaimKey, Any], findings: Iterable[Diagnostic]) -> None:
    """Drop claims in whose text a finding lies."""
    unknown = {d.span for d in findings}
    for key in [
        k for k in found if any(d is not None and k[0] <= d.start and d.end <= k[1] for d in unknown)
    ]:
        del found[key]


def _report_once(
    diagnostics: Diagnostics, findings: Iterable[Diagnostic], known: set[tuple[int, int]]
) -> None:
    """Add findings once for each place and code, without those inside the claims that are ``known``."""
    said = set()
    for d in findings:
        at = (d.span.start, d.span.end) if d.span is not None else (-1, -1)
        if (d.code, at) not in said and not any(start <= at[0] and at[1] <= end for start, end in known):
            said.add((d.code, at))
            diagnostics.items.append(d)


def _joined_claim(c: Fabric, claims: Sequence[tuple[int, ResolvedClaim]], qualify: bool) -> ResolvedClaim:
    def selectors(name: str) -> tuple[Selector, ...]:
        columns = [[(k, s) for s in getattr(claim, name)] for k, claim in claims]
        return tuple(_joined_selector(c, each, qualify) for each in zip(*columns, strict=True))

    scopes = [(k, claim.scope) for k, claim in claims if claim.scope is not None]
    return replace(
        claims[0][1],
        of=selectors("of"),
        of_to=selectors("of_to"),
        at=selectors("at"),
        scope=next(iter(_joined_elements(c, scopes, False)), None),
    )


def _joined_selector(c: Fabric, found: Sequence[tuple[int, Selector]], qualify: bool) -> Selector:
    elements = _joined_elements(c, [(k, e) for k, s in found for e in s.elements], qualify)
    ports = []
    for k, s in found:
        f = c.members[k]
        device = f.port_device[s.port_rows]
        ports.append(c.port_base[c.member_rows[k][device]] + s.port_rows - f.port_base[device])
    first = next((s for _, s in found if s.kind), found[0][1])  # one fabric may have none of it
    return replace(first, elements=tuple(elements), port_rows=np.unique(np.concatenate(ports)))


def _joined_elements(
    c: Fabric, found: Iterable[tuple[int, FabricElement]], qualify: bool
) -> list[FabricElement]:
    """Elements of several fabrics: those of one name are one where they have a shared device."""
    out: dict[str, list[tuple[Ints, Ints]]] = {}
    for k, e in found:
        rows = c.member_rows[k][e.devices]
        shared = any(not c.sets[int(s)].prefix for s in np.unique(c.device_set[rows]))
        name = e.name if shared or not qualify else f"{c.members[k].name}.{e.name}"
        out.setdefault(name, []).append((rows, c.member_links[k][e.links]))
    return [
        FabricElement(
            name,
            np.unique(np.concatenate([r for r, _ in parts])),
            np.unique(np.concatenate([x for _, x in parts])),
        )
        for name, parts in out.items()
    ]


# ---------------------------------------------------------------- joining


@dataclass(eq=False)
class _Joining:
    """The device table of all fabrics while it is made."""

    members: Sequence[Fabric]
    diagnostics: Diagnostics
    sets: list[DeviceSet] = field(default_factory=list)
    shared: dict[tuple[str, ...], DeviceSet] = field(default_factory=dict)
    rows: list[Ints] = field(default_factory=list)
    models: list[DeviceModel] = field(default_factory=list)
    same: bool = True  # whether what is shared is the same in each fabric

    def differs(self, at: Origin, message: str, other: Origin, help: str) -> None:
        """Something shared is not the same in two fabrics."""
        self.same = False
        labels = [(other.span, "the other is here")] if other.span != at.span else []
        self.diagnostics.add(DIFFERS, at, message, labels=labels, help=help)


def join_fabrics(
    name: str, members: Sequence[Fabric], origin: Origin, diagnostics: Diagnostics
) -> Fabric | None:
    """The fabrics of a cluster as one; None, with a finding, where what they share is not the same in each of
    them."""
    made = _Joining(members, diagnostics)
    _join_sets(made)
    if not made.same:
        return None
    columns = _join_devices(made)
    if columns is None:
        return None
    fabric, links = _join_links(made, name, origin, columns)
    fabric.places = _join_places(made, fabric)
    _join_names(made, fabric)
    _join_spans(made, fabric)
    if not made.same:
        return None
    fabric.member_rows, fabric.member_links = tuple(made.rows), tuple(links)
    fabric.addressing = join_addressing(fabric, diagnostics)
    if any(f.addressing is not None and f.addressing.asns is not None for f in members):
        judge_asns_of_cluster(fabric, diagnostics)
    return fabric


def declaration_key(s: DeviceSet) -> tuple[str, ...]:
    """What distinguishes a declaration of the cluster's block from its others."""
    return (*declaration_key(s.inside), s.name) if s.inside is not None else tuple(p.name for p in s.parts)


def _join_sets(made: _Joining) -> None:
    """Declarations of all fabrics, those of the cluster's block once; what is inside others comes last."""
    found: list[dict[int, DeviceSet]] = [{} for _ in made.members]
    for inner in (False, True):
        for k, f in enumerate(made.members):
            for s in f.sets:
                if (s.inside is not None) is inner:
                    joined = _joined_set(made, s, found[k])
                    if joined is not None:
                        found[k][s.index] = joined
    for k, f in enumerate(made.members):
        rows = np.full(f.device_count, -1, dtype=np.int64)
        for s in f.sets:
            if s.index in found[k]:
                rows[s.first : s.first + s.count] = found[k][s.index].first + np.arange(s.count)
        made.rows.append(rows)


def _joined_set(made: _Joining, s: DeviceSet, found: Mapping[int, DeviceSet]) -> DeviceSet | None:
    """A fabric's device set in the cluster: a shared one where it is declared in the cluster's block, else
    its own; ``found`` has those of the fabric so far. None, and a finding, where the shared one has another
    size."""
    known = None if s.prefix else made.shared.get(declaration_key(s))
    if known is None:
        inside = None if s.inside is None else found[s.inside.index]
        first = made.sets[-1].first + made.sets[-1].count if made.sets else 0
        known = replace(s, index=len(made.sets), first=first, inside=inside)
        made.sets.append(known)
        if not s.prefix:
            made.shared[declaration_key(s)] = known
    elif known.axes != s.axes:
        sizes = " and ".join(f"{x.count:,}" for x in (known, s))
        made.differs(
            s.origin,
            f"`{s.path}` is {sizes} devices in two fabrics of the cluster",
            known.origin,
            "write the number of shared devices as a number",
        )
        return None
    elif bool(known.settings.get("forwards")) != bool(s.settings.get("forwards")):
        # said in the block of one fabric it is of that network: no path leads on into another
        known.settings = {**known.settings, "forwards": False}
    return known


def _model_signature(m: DeviceModel) -> tuple[object, ...]:
    return (m.name, tuple((c.name, c.size, c.split) for c in m.classes))


def _join_devices(made: _Joining) -> dict[str, Any] | None:
    """Columns over devices; None where a shared device has two models."""
    counts = [s.count for s in made.sets]
    size = sum(counts)
    model, built, tier = (np.full(size, v, dtype=np.int64) for v in (-1, 0, -1))
    numbers: dict[tuple[object, ...], int] = {}
    for f, rows in zip(made.members, made.rows, strict=True):
        of_model = np.zeros(len(f.models), dtype=np.int64)
        for m, each in enumerate(f.models):
            key = (each.name, each.variant, each.origin)
            if key not in numbers:
                numbers[key] = len(made.models)
                made.models.append(each)
            of_model[m] = numbers[key]
        mine = of_model[f.device_model]
        for old, new in np.unique(np.stack([model[rows], mine]), axis=1).T.tolist():
            if (
                old >= 0
                and old != new
                and _model_signature(made.models[old]) != _model_signature(made.models[new])
            ):
                device = int(np.flatnonzero((model[rows] == old) & (mine == new))[0])
                names = " and ".join(
                    dict.fromkeys(
                        f"{m.name} {m.variant}".strip() for m in (made.models[old], made.models[new])
                    )
                )
                made.differs(
                    f.set_of(device).origin,
                    f"{f.device_path(device)} is not of one model in the fabrics of the cluster: {names}",
                    made.models[new].origin,
                    "write `override` and `split` in the cluster's block",
                )
        model[rows] = np.where(model[rows] >= 0, model[rows], mine)
        built[rows] |= f.built
        tier[rows] = np.maximum(tier[rows], f.tier)
    ports = np.array([m.port_count for m in made.models] or [0], dtype=np.int64)[model]
    return (
        {
            "device_set": np.repeat(np.arange(len(counts), dtype=np.int64), counts),
            "device_model": model,
            "built": built > 0,
            "tier": tier,
            "plane": np.full(size, -1, dtype=np.int64),
            "port_base": np.concatenate([[0], np.cumsum(ports)]),
        }
        if made.same
        else None
    )


def _numbers_of_names(names: Sequence[str], known: list[str]) -> Ints:
    """Names as numbers in a list that grows; of the number -1 it is -1."""
    for n in names:
        if n not in known:
            known.append(n)
    return np.array([*(known.index(n) for n in names), -1], dtype=np.int64)


def _joined_states(before: Ints, here: Ints) -> Ints:
    """States of ports that two fabrics have: used in one of them, else by a link inside, else kept in one of
    them."""
    out = np.full(before.shape, FREE, dtype=np.int64)
    for state in (HOLE, INSIDE, USED):
        out[(before == state) | (here == state)] = state
    return out


def _join_links(
    made: _Joining, name: str, origin: Origin, devices: dict[str, Any]
) -> tuple[Fabric, list[Ints]]:
    """The fabric with the links, cables and circuits of all, and for each member the rows of its links."""
    base = devices["port_base"]
    state = np.zeros(int(base[-1]), dtype=np.int64)
    classes: list[str] = []
    colours: list[str] = []
    parts: dict[str, list[Ints]] = {}
    first_link = first_statement = first_group = first_bundle = 0
    spans = []
    for f, rows in zip(made.members, made.rows, strict=True):
        port = np.append(
            np.repeat(base[rows] - f.port_base[:-1], np.diff(f.port_base)) + np.arange(int(f.port_base[-1])),
            -1,
        )
        state[port[:-1]] = _joined_states(state[port[:-1]], f.port_state.astype(np.int64))
        cls, colour = _numbers_of_names(f.classes, classes), _numbers_of_names(f.colours, colours)
        bundles = int(np.max(f.link_bundle, initial=-1)) + 1
        columns = {
            "link_a": port[f.link_a], "link_b": port[f.link_b], "link_rate": f.link_rate,
            "link_class": cls[f.link_class], "link_medium": f.link_medium,
            "link_statement": f.link_statement + first_statement,
            "link_via_a": port[f.link_via_a], "link_via_b": port[f.link_via_b],
            "link_bundle": np.where(f.link_bundle >= 0, f.link_bundle + first_bundle, -1),
            "link_colour": colour[f.link_colour],
            "cable_a": port[f.cable_a], "cable_b": port[f.cable_b],
            "cable_group": f.cable_group + first_group, "cable_leg": f.cable_leg,
            "cable_links": f.cable_links, "cable_class": cls[f.cable_class],
            "cable_statement": f.cable_statement + first_statement,
            "circuit_a": port[f.circuit_a], "circuit_b": port[f.circuit_b],
            "circuit_link": f.circuit_link + first_link,
            "absent_a": rows[f.absent_a], "absent_b": rows[f.absent_b], "absent_rate": f.absent_rate,
            "absent_reserved": f.absent_reserved, "absent_statement": f.absent_statement + first_statement,
        }  # fmt: skip
        for key, column in columns.items():
            parts.setdefault(key, []).append(np.asarray(column))
        spans.append((first_link, f.link_count))
        first_link += f.link_count
        first_statement += len(f.statements)
        first_group += int(np.max(f.cable_group, initial=-1)) + 1
        first_bundle += bundles
    joined: dict[str, Any] = {key: np.concatenate(each) for key, each in parts.items()}
    order = np.argsort(joined["link_a"], kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    for key in [k for k in joined if k.startswith("link_")]:
        joined[key] = joined[key][order]
    joined["circuit_link"] = number[joined["circuit_link"]]
    port_link = np.full(int(base[-1]), -1, dtype=np.int32)
    for end in ("link_a", "link_b", "link_via_a", "link_via_b"):
        at = np.flatnonzero(joined[end] >= 0)
        port_link[joined[end][at]] = at
    first = made.members[0]
    fabric = Fabric(
        name=name, title="", parameters={}, origin=origin, layer="", sets=tuple(made.sets),
        models=tuple(made.models), statements=tuple(s for f in made.members for s in f.statements),
        port_state=state.astype(np.uint8), port_link=port_link, classes=tuple(classes),
        colours=tuple(colours), **devices, **joined, prices=first.prices, supply=first.supply,
        parts=max((f.parts for f in made.members), key=len), members=tuple(made.members),
        complete=all(f.complete for f in made.members),
    )  # fmt: skip
    return narrow_fabric_columns(fabric), [number[start : start + count] for start, count in spans]


def _join_names(made: _Joining, fabric: Fabric) -> None:
    """The names that statements give, of a shared device that of the first fabric that gives one; and the
    risk groups of all."""
    names: dict[int, str] = {}
    for f, rows in zip(made.members, made.rows, strict=True):
        for device, name in f.names.items():
            row = int(rows[device])
            if names.setdefault(row, name) == name and device in f.named_by:
                fabric.named_by.setdefault(row, f.named_by[device])
    fabric.names = names
    fabric.risks = tuple(
        replace(r, devices=rows[r.devices])
        for f, rows in zip(made.members, made.rows, strict=True)
        for r in f.risks
    )


def _join_spans(made: _Joining, fabric: Fabric) -> None:
    """Distances between groups, as devices of all fabrics."""
    fabric.spans = tuple(
        replace(s, a=rows[s.a], b=rows[s.b])
        for f, rows in zip(made.members, made.rows, strict=True)
        for s in f.spans
    )


# ---------------------------------------------------------------- places


def _rack_kind_key(k: RackKind) -> tuple[object, ...]:
    return k.height, k.feeds, k.feed_watts, k.mass, k.bend


def _hall_facts(h: Hall) -> tuple[object, ...]:
    tray = None if h.tray is None else (h.tray.height, h.tray.across, h.tray.area)
    return h.rack_pitch, h.row_pitch, tray, h.slack


def _joined_hall(made: _Joining, one: Hall, two: Hall) -> Hall:
    """A hall that two fabrics have: the same, or of each the racks that it names where no pitch says where
    they are."""
    rows, compatible = _joined_rack_rows(one, two)
    shapes = [[(row.name, [n for n, _ in row.racks]) for row in hall.rows] for hall in (one, two)]
    if shapes[0] == shapes[1] and compatible:
        return one
    if not compatible or one.rack_pitch is not None or one.row_pitch is not None:
        made.differs(
            two.origin,
            f"hall `{two.name}` is not the same in two fabrics of the cluster",
            one.origin,
            "declare it once, in the cluster's block, or give one of the two another name",
        )
        return one
    spans = {row.name: row.span for hall in (two, one) for row in hall.rows}
    return replace(
        one,
        rows=tuple(RackRow(name, tuple(sorted(racks.items())), spans[name]) for name, racks in rows.items()),
    )


def _joined_rack_rows(one: Hall, two: Hall) -> tuple[dict[str, dict[int, RackKind]], bool]:
    """The racks of two halls by row and number, and whether what both state is the same."""
    rows: dict[str, dict[int, RackKind]] = {}
    compatible = _hall_facts(one) == _hall_facts(two)
    for hall in (one, two):
        for row in hall.rows:
            for number, kind in row.racks:
                known = rows.setdefault(row.name, {}).setdefault(number, kind)
                compatible = compatible and _rack_kind_key(known) == _rack_kind_key(kind)
    return rows, compatible


def _join_places(made: _Joining, fabric: Fabric) -> RackPlaces | None:
    """The racks of all fabrics and what is in them; None where none has places."""
    if all(f.places is None for f in made.members):
        return None
    halls = _joined_halls(made)
    out = places_of_halls(tuple(halls.values()), fabric.device_count)
    racks = {_rack_key(out, r): r for r in range(out.rack_count)}
    index = {name: k for k, name in enumerate(halls)}
    distances: dict[tuple[int, int], int] = {}
    feeds: list[tuple[tuple[PowerFeed, ...], Ints]] = []
    for f, rows in zip(made.members, made.rows, strict=True):
        p = f.places
        if p is None:
            continue
        distances |= {
            (index[p.halls[a].name], index[p.halls[b].name]): d for (a, b), d in p.distances.items()
        }
        of_rack = np.array([racks[_rack_key(p, r)] for r in range(p.rack_count)] or [-1], dtype=np.int64)
        _join_devices_in_racks(made, f, out, rows, of_rack)
        feeds.append((p.feeds, of_rack))
    out.distances, out.feeds = distances, _joined_feeds(feeds)
    return out


def _joined_feeds(parts: list[tuple[tuple[PowerFeed, ...], Ints]]) -> tuple[PowerFeed, ...]:
    """The feeds of all fabrics, each with the racks as the cluster numbers them. Feeds of one name are one:
    with the racks and the sources of all, and the lowest of their limits."""
    same: dict[str, list[PowerFeed]] = {}
    racks: dict[str, set[int]] = {}
    sources: dict[str, set[str]] = {}
    for feeds, of_rack in parts:
        for feed in feeds:
            same.setdefault(feed.name, []).append(feed)
            racks.setdefault(feed.name, set()).update(int(of_rack[r]) for r in feed.racks)
            sources.setdefault(feed.name, set()).update(feeds[p].name for p in feed.parents)
    order: dict[str, int] = {}
    left = list(same)
    while left:
        ready = [name for name in left if sources[name] <= order.keys()] or left[:1]
        order |= {name: len(order) + k for k, name in enumerate(ready)}
        left = [name for name in left if name not in order]
    return tuple(
        replace(
            same[name][0],
            racks=tuple(sorted(racks[name])),
            parents=tuple(sorted(order[x] for x in sources[name] if order[x] < order[name])),
            watts=min((x.watts for x in same[name] if x.watts is not None), default=None),
        )
        for name in order
    )


def _joined_halls(made: _Joining) -> dict[str, Hall]:
    """The halls of all fabrics by name."""
    halls: dict[str, Hall] = {}
    for f in made.members:
        for hall in f.places.halls if f.places is not None else ():
            halls[hall.name] = _joined_hall(made, halls[hall.name], hall) if hall.name in halls else hall
    return halls


def _rack_key(places: RackPlaces, rack: int) -> tuple[str, str, int]:
    """Hall, row and number of a rack."""
    return places.hall_name(rack), places.row_name(rack), int(places.rack_number[rack])


def _place_text(places: RackPlaces, device: int) -> str:
    """The place of a device in words: ``rack A03 of hall h1 at 2U``."""
    rack, unit = int(places.device_rack[device]), int(places.device_unit[device])
    at = f" at {unit}U" if unit > 0 else ""
    return f"rack {places.rack_name(rack)} of hall {places.hall_name(rack)}{at}"


def _join_devices_in_racks(made: _Joining, f: Fabric, out: RackPlaces, rows: Ints, of_rack: Ints) -> None:
    """Enter where a fabric's devices are; ``rows`` and ``of_rack`` are its devices and racks as the cluster
    numbers them. A device that has another place already is a finding."""
    p = f.places
    assert p is not None
    placed = np.flatnonzero(p.device_rack >= 0)
    here, rack, unit = rows[placed], of_rack[p.device_rack[placed]], p.device_unit[placed]
    again = out.device_rack[here] >= 0
    moved = np.flatnonzero(again & ((out.device_rack[here] != rack) | (out.device_unit[here] != unit)))
    if len(moved):
        device = int(placed[moved[0]])
        row = int(here[moved[0]])
        at, other = p.origin(device), out.origin(row)
        more = f" (and {len(moved) - 1:,} more)" if len(moved) > 1 else ""
        made.same = False
        made.diagnostics.add(
            "E0206",
            at,
            f"{f.device_path(device)} is placed in {_place_text(p, device)} here, and in "
            f"{_place_text(out, row)} by another fabric{more}",
            labels=[(other.span, "the other is here")] if other is not None else [],
            help="a device has one place, whatever fabrics it is in: say it once, in the cluster's block or "
            "in one of them",
        )
    fresh = ~again
    out.device_rack[here[fresh]], out.device_unit[here[fresh]] = rack[fresh], unit[fresh]
    out.device_place[here[fresh]] = p.device_place[placed[fresh]] + len(out.origins)
    out.origins = (*out.origins, *p.origins)


__all__ = [
    "claim_of_cluster",
    "claim_of_member",
    "declaration_key",
    "join_fabrics",
    "number_of_member",
    "requirements_of_cluster",
]
