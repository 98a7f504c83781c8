"""A fabric and the names of targets in; the files of a whole output folder out, in memory, with their
manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

import numpy as np

from tdsl import __version__
from tdsl.emit import choices, limits
from tdsl.emit.cluster_view import ClusterView
from tdsl.emit.limits import NameMatcher
from tdsl.emit.partial_view import PartView
from tdsl.emit.quote import NameRefused, safe_file_name
from tdsl.emit.records import Router, Standby
from tdsl.emit.site import PLACEHOLDER, Site
from tdsl.emit.target import (
    TRANSPORT_NEEDS,
    BuildTarget,
    FileSpec,
    RouterSelection,
    chosen_targets,
    targets_by_name,
)
from tdsl.emit.view import FabricView
from tdsl.fabric.assets import Assets, read_assets_table
from tdsl.fabric.graph import Bools, Fabric
from tdsl.fabric.layers import SCALEUP
from tdsl.fabric.purposes import is_compute_network
from tdsl.fabric.select import select_devices
from tdsl.fabric.transports import open_families, transport_statements
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.physical.stages import Stage
from tdsl.system import malloc, progress
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.spool import Content, Spool, Spooled, chunks_of_content, content_in_memory, digest_of_content
from tdsl.system.workers import Workers

MANIFEST = "manifest.json"
UNWRITTEN = "E0516"
"""The code of a target that is named and writes nothing."""
OVERLAP = 1 << 12
"""Bytes of a block that are searched again with the next one."""
WORTH = 4 << 20
"""Bytes of files that are worth processes of their own."""
BATCH = 64
"""Files that a process makes before it sends them."""
SCHEMA = 1
NEEDS = {
    "cables": "cables",
    "links": "links",
    "infiniband": "InfiniBand links",
    "accelerator_hosts": "hosts with accelerators",
    "hosts": "hosts",
    "ethernet": "Ethernet links",
    "addresses": "`address`",
    "routing": "`routing`",
    "roce": "`roce`",
    "partitions": "`partition`",
    "guids": "GUIDs (`--assets`)",
    "places": "places (`place`, or `--places`)",
    "cords": "power cords (`cords` in a model)",
    "phases": "phases (`phase 1 { … }`)",
    "macs": "MAC addresses (`mac` in `--assets`)",
    "torus": "a torus",
}
"""What a target may need, in words."""


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """``target_paths`` are folders of further targets; ``settings`` are target -> option -> value.

    ``assets`` is a table of real assets' identifiers, ``elsewhere`` the names of devices in it that stand in
    other fabrics. ``site`` is what all devices of a site share. ``stages`` are the phases of the fabric up to
    the one that is built. ``spool`` keeps large files; without one all are in memory. ``workers`` say how
    many processes make files of which there is one for each of many records. ``only`` are patterns of devices
    (`fabric.select`) to which a build of a part is limited. ``apart``: what is made once of a whole cluster
    is left to its build, where the fabric is one of a cluster, in the folder ``shared``, seen from this one.
    """

    target_paths: tuple[Path, ...] = ()
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    assets: SourceFile | None = None
    elsewhere: frozenset[str] = frozenset()
    site: Site = field(default_factory=Site)
    stages: tuple[Stage, ...] = ()
    spool: Spool | None = None
    workers: Workers = Workers()
    only: tuple[str, ...] = ()
    apart: bool = False
    shared: str = ""


@dataclass(slots=True)
class Selection:
    """Which targets configure which routers. ``named`` are the targets that the call asks for by name, none
    for all."""

    view: FabricView
    named: frozenset[str]
    network: Selection | None = None  # that of the network alone, where there are scale-up links beside it

    def of(self, target: BuildTarget) -> Selection:
        """What a target sees: both layers, or the network alone."""
        return self.network if target.network and self.network is not None else self

    def routers(self, target: BuildTarget) -> tuple[list[Router], list[str]]:
        """The routers that a target is for, and why it is not for others of their kind and operating
        system."""
        mine = [
            target.routers.named(r) for r in self.view.routers(target.routers.kind) if self._mine(target, r)
        ]
        asked = [(r, target.routers.refuses(r)) for r in mine]
        return [r for r, reason in asked if not reason], [reason for _, reason in asked if reason]

    def _mine(self, target: BuildTarget, router: Router) -> bool:
        """Whether a router runs the target's system: a switch that names it, or names none if the target is
        named."""
        if not target.routers.nos or router.kind != "switch":
            return True
        system = self.view.switch_systems[router.name]
        return system == target.routers.nos or (not system and target.name in self.named)

    def written(self, target: BuildTarget) -> bool:
        """Whether the design says that switches run the target's system."""
        return bool(target.routers.nos) and target.routers.nos in self.view.switch_systems.values()

    def waits(self, target: BuildTarget) -> bool:
        """Whether there are switches for it that name no system, so that only its name would have it
        write."""
        return (
            bool(target.routers.nos)
            and target.name not in self.named
            and "" in self.view.switch_systems.values()
        )


@dataclass(frozen=True, slots=True)
class Output:
    """The files of a fabric by path, manifest included; each target that the call names and that writes none,
    with why; and the targets that write some."""

    files: dict[str, Content]
    unwritten: Mapping[str, str]
    written: frozenset[str] = frozenset()


def build_files(
    fabric: Fabric, targets: Sequence[str], diagnostics: Diagnostics, options: BuildOptions | None = None
) -> dict[str, bytes]:
    """Path -> bytes of everything these targets make of the fabric (all targets if none is named), manifest
    included.

    A target that is named and writes no file is an error.
    """
    made = build_contents(fabric, targets, diagnostics, options)
    for name, why in made.unwritten.items():
        diagnostics.add(UNWRITTEN, None, f"target `{name}` writes nothing for `{fabric.name}`: {why}")
    return {path: content_in_memory(content) for path, content in made.files.items()}


def build_contents(
    fabric: Fabric, targets: Sequence[str], diagnostics: Diagnostics, options: BuildOptions | None = None
) -> Output:
    """What `build` gives, with large files in the spool of the options where there is one. Of a cluster as a
    whole these are the files that are made once of all its networks. Raises OSError if the spool is full, and
    ValueError for a pattern of ``only`` that means no device."""
    options = options or BuildOptions()
    malloc.return_memory_to_system(len(fabric.port_state))
    only = _devices_of_part(fabric, options.only) if options.only else None
    known = targets_by_name(diagnostics, options.target_paths)
    assets = (
        read_assets_table(fabric, options.assets, diagnostics, options.elsewhere)
        if options.assets is not None
        else None
    )
    interfaces = {t.routers.nos: t.routers.interface for t in known.values() if t.routers.nos}
    make = partial(_view_of_fabric, diagnostics=diagnostics, assets=assets, interfaces=interfaces)
    view = make(fabric, stages=options.stages, shared=options.shared)
    chosen = _targets_of_share(chosen_targets(known, targets, diagnostics), fabric, options.apart)
    selection = network = Selection(_view_of_part(view, only), frozenset(targets))
    if fabric.network is not fabric:
        network = Selection(
            _view_of_part(make(fabric.network, shared=options.shared), only), frozenset(targets)
        )
        selection.network = network
    lacking = _why_targets_are_skipped(chosen, selection, only is not None)
    _note_several_compute_networks(fabric, targets, known, diagnostics)
    _report_skipped({name: why for name, why in lacking.items() if name not in targets}, chosen, diagnostics)
    _report_systems(known, chosen, network, diagnostics)
    _report_open_transport(fabric, chosen, selection, diagnostics)
    files, unwritten, written = _files_of_targets(chosen, selection, options, lacking, diagnostics)
    secrets = options.site.names
    identity, held = _design_hash(known, view, files, diagnostics, PLACEHOLDER if secrets else None)
    if held:
        diagnostics.add(
            "E0515",
            None,
            f"a name of the design holds `{held.decode()}`, which would become the value of a secret",
            help="give the device, port or fabric another name",
        )
        secrets = ()
    _report_equal_paths(files, diagnostics)
    files[MANIFEST] = manifest_bytes(fabric, files, identity, __version__, secrets, options.only)
    return Output(files, unwritten, frozenset(written))


def _note_several_compute_networks(
    cluster: Fabric, targets: Sequence[str], known: Mapping[str, BuildTarget], diagnostics: Diagnostics
) -> None:
    """A note of networks of a cluster that each have files about accelerators' traffic for the same hosts,
    where nothing says which of them carries it."""
    asked = [name for name, t in known.items() if t.compute and (not targets or name in targets)]
    networks = [replace(f, cluster=cluster) for f in cluster.members if f.layer != SCALEUP]
    compute = [f"`{f.name}`" for f in networks if is_compute_network(f)]
    if asked and len(compute) > 1 and not any(f.purpose for f in networks):
        diagnostics.add(
            "E0511",
            None,
            f"{_names_joined_by_and(compute)} each have files for schedulers and the like: hosts send as "
            "much through each",
            severity=Severity.NOTE,
            help="write `purpose compute` in the one that carries the traffic of accelerators, or in each",
        )


def _devices_of_part(fabric: Fabric, patterns: Sequence[str]) -> Bools:
    """The devices that patterns mean; in a cluster, those that they mean in any of its networks."""
    if not fabric.members:
        return select_devices(fabric, patterns)
    out = np.zeros(fabric.device_count, dtype=np.bool_)
    for network, rows in zip(fabric.members, fabric.member_rows, strict=True):
        for pattern in patterns:
            with suppress(ValueError):
                out[rows[select_devices(network, [pattern])]] = True
    return out


def _targets_of_share(targets: Sequence[BuildTarget], fabric: Fabric, apart: bool) -> list[BuildTarget]:
    """The targets with the files that they make of a fabric: of a cluster what is made once of all networks,
    of a network of one that is built ``apart`` all else."""
    share = "whole" if fabric.members else "network" if apart and fabric.cluster is not None else ""
    return [mine for t in targets if (mine := t.of_share(share)) is not None]


def _view_of_fabric(
    fabric: Fabric,
    diagnostics: Diagnostics,
    assets: Assets | None,
    interfaces: Mapping[str, NameMatcher],
    stages: Sequence[Stage] = (),
    shared: str = "",
) -> FabricView:
    """What templates see of a fabric, or of a cluster as a whole."""
    if not fabric.members:
        return FabricView(fabric, diagnostics, assets, interfaces, stages, shared)
    cluster = fabric if fabric.whole is None else fabric.whole
    networks = [
        FabricView(replace(f, cluster=cluster), diagnostics, None, interfaces) for f in fabric.members
    ]
    return ClusterView(fabric, networks, diagnostics, assets, interfaces, stages)


def _files_of_targets(
    chosen: Sequence[BuildTarget],
    selection: Selection,
    options: BuildOptions,
    lacking: Mapping[str, list[str]],
    diagnostics: Diagnostics,
) -> tuple[dict[str, Content], dict[str, str], set[str]]:
    """The files of all targets by path; why each target that the call names writes none; and the targets that
    write some. ``lacking`` says why targets are skipped."""
    files: dict[str, Content] = {}
    unwritten: dict[str, str] = {}
    written: set[str] = set()
    for target in chosen:
        before = len(diagnostics)
        try:
            with ExitStack() as bounds:
                if not target.own:
                    bounds.enter_context(limits.limited_in_memory(limits.MEMORY))
                    bounds.enter_context(limits.limited_in_time(limits.TOGETHER))
                made = files_of_target(target, selection.of(target), options, diagnostics)
        except NameRefused as fault:
            diagnostics.add("E0504", None, f"target `{target.name}`: {fault}")
            continue
        written |= {target.name} if made else set()
        for path, content in made.items():
            if path in files:
                diagnostics.add(
                    "E0507", None, f"target `{target.name}` would write {path}, which another target writes"
                )
            files[path] = content
        found = diagnostics.items[before:]
        if (
            target.name in selection.named
            and not made
            and not any(d.severity is Severity.ERROR for d in found)
        ):
            why = (
                lacking.get(target.name)
                or [d.message for d in found]
                or _why_no_file(target, selection.of(target).view)
            )
            unwritten[target.name] = "; ".join(why)
    return files, unwritten, written


def _why_no_file(target: BuildTarget, view: FabricView) -> list[str]:
    """Why none of a target's files is written for a fabric that has what the target needs."""
    lacking = dict.fromkeys(
        need for spec in target.files for need in spec.needs if need not in view.capabilities
    )
    if lacking:
        return [f"the fabric has no {NEEDS.get(need, need)}" for need in lacking]
    return [f"nothing in it is for {target.consumer}"]


def _view_of_part(view: FabricView, only: Bools | None) -> FabricView:
    return view if only is None else PartView(view, only)


def _report_equal_paths(files: Mapping[str, Content], diagnostics: Diagnostics) -> None:
    """An error of paths that are one where a file system makes no difference of case, or of ways to write an
    accent."""
    first: dict[str, str] = {}
    for path in files:
        other = first.setdefault(normalize("NFC", normalize("NFC", path).casefold()), path)
        if other != path:
            diagnostics.add(
                "E0507",
                None,
                f"{other} and {path} are one file on macOS and Windows, which ignore case",
                help="give the devices different names with `naming`",
            )


def files_of_target(
    target: BuildTarget, selection: Selection, options: BuildOptions, diagnostics: Diagnostics
) -> dict[str, Content]:
    """The files of one target; none where the fabric lacks what it needs."""
    from tdsl.emit.render import render_file  # jinja2 is slow to import and only wanted here

    view = selection.view
    if not _is_for_view(target, view):
        return {}
    settings = _options_of_target(target, options, diagnostics)
    fitting = _fitting_routers(target, selection, diagnostics)
    if target.routers.sonic:
        _note_missing_platforms(target, fitting, view, diagnostics)
        _tell_of_headroom(target, fitting, view, diagnostics)
    files: dict[str, Content] = {}
    size = 0
    for spec in target.files:
        if options.only and not spec.of_parts:
            continue
        if not view.capabilities.issuperset(spec.needs):
            _note_missing_guids(target, spec, view, diagnostics)
            continue
        wanted = _records_by_path(target, spec, view, fitting, files, diagnostics)
        draw = partial(
            render_file,
            target,
            spec,
            view,
            options=settings,
            diagnostics=diagnostics,
            shared={"site": options.site, "routers": fitting},
        )
        drawn = zip(
            wanted, _files_of_records(draw, list(wanted.values()), target, options, diagnostics), strict=True
        )
        for path, content in _files_with_progress(target, list(wanted), drawn):
            size += len(content or b"")
            if not target.own and size > limits.SIZE:
                raise NameRefused(f"its files would be larger than {limits.SIZE >> 20} MiB together")
            if content and not _is_blank(content) and _passes_lint(spec, path, content, diagnostics):
                files[path] = content
    return files


def _is_for_view(target: BuildTarget, view: FabricView) -> bool:
    """Whether a target has files of what is built."""
    return view.capabilities.issuperset(target.needs) and (view.carries_accelerators or not target.compute)


def _records_by_path(
    target: BuildTarget,
    spec: FileSpec,
    view: FabricView,
    routers: Sequence[Router],
    files: Mapping[str, Content],
    diagnostics: Diagnostics,
) -> dict[str, object]:
    """The records of which a file is made, by its path; a finding where ``files`` has that path already."""
    wanted: dict[str, object] = {}
    for path, record in _paths_and_records(spec, view, routers):
        if spec.kind and getattr(record, "kind", "") != spec.kind:
            continue
        if path in files or path in wanted:
            diagnostics.add("E0507", None, f"target `{target.name}` would write {path} twice")
        wanted.setdefault(path, record)
    return wanted


def _fitting_routers(target: BuildTarget, selection: Selection, diagnostics: Diagnostics) -> list[Router]:
    """The routers that get files of a target; a finding where others of their system get none."""
    fitting, unfit = (
        selection.routers(target) if any(spec.scope == "router" for spec in target.files) else ([], [])
    )
    if unfit and (fitting or selection.written(target)):
        text = (
            f"target `{target.name}` is not for {len(unfit)} of {len(unfit) + len(fitting)} "
            f"{target.routers.plural}: {unfit[0]}"
        )
        diagnostics.add(
            "E0511", None, text, severity=Severity.WARNING if selection.written(target) else Severity.NOTE
        )
    return fitting


def _files_with_progress(
    target: BuildTarget, paths: Sequence[str], drawn: Iterable[tuple[str, Content | None]]
) -> Iterable[tuple[str, Content | None]]:
    """Files as they are drawn, counted on a terminal; one alone is named there."""
    if len(paths) > 1:
        return progress.items_as_phase(drawn, target.name, len(paths), "files")
    if paths:
        progress.begin_phase(f"{target.name}: {paths[0]}")
    return drawn


def _is_blank(content: Content) -> bool:
    """Whether a file in memory has nothing but spaces and line ends."""
    return isinstance(content, bytes) and content.isspace()


def _files_of_records(
    draw: Callable[..., Content | None],
    records: Sequence[object],
    target: BuildTarget,
    options: BuildOptions,
    diagnostics: Diagnostics,
) -> Iterator[Content | None]:
    """The file of each record, in their order: of many by several processes, where the target is tdsl's own.
    What other targets may take is bounded in one process."""
    keep: Callable[[Iterable[bytes | bytearray]], Content] = (
        options.spool.keep if options.spool is not None else b"".join
    )
    done = 0
    for record in (
        records
    ):  # what records share is made, and its findings are reported, before there are copies of this process
        content = draw(record, keep=keep)
        done += 1
        yield content
        if target.own and len(content or b"") * (len(records) - done) > WORTH:
            break
    copies = options.workers
    step = min(BATCH, -(-(len(records) - done) // (4 * copies.count)))

    def batch(start: int) -> list[tuple[Content | None, list[Diagnostic]]]:
        out: list[tuple[Content | None, list[Diagnostic]]] = []
        for record in records[start : start + step]:
            before = len(diagnostics)
            out.append((draw(record, keep=b"".join), diagnostics.items[before:]))
        return out

    if copies.count < 2 or step < 1:
        yield from (draw(record, keep=keep) for record in records[done:])
        return
    for drawn in copies.results_of_copies(batch, range(done, len(records), step)):
        for content, found in drawn:
            diagnostics.extend(found)
            yield keep(chunks_of_content(content)) if content else None


def _note_missing_platforms(
    target: BuildTarget, routers: Sequence[Router], view: FabricView, diagnostics: Diagnostics
) -> None:
    """A note of models that name no platform of SONiC: their lanes may be a stand-in, and the file has no
    ``hwsku``."""
    facts = [view.model_facts(r.name) for r in routers]
    nameless = {f["model"] for f in facts if not f.get("hwsku")}
    if nameless:
        diagnostics.add(
            "E0511",
            None,
            f"target `{target.name}`: no `hwsku` is stated for {' and '.join(sorted(nameless))}",
            severity=Severity.NOTE,
            help="add it to the file, and compare the lanes with the platform's port_config.ini",
        )


def _tell_of_headroom(
    target: BuildTarget, routers: Sequence[Router], view: FabricView, diagnostics: Diagnostics
) -> None:
    """A warning of ports of a lossless class that get no buffer for what arrives after a pause, since the
    length of their cable is not known: what is then lost, RDMA sends again. Of those whose buffer is in a
    table of the platform a note of the rows, a warning where the model says that they are not there."""
    if not view.roce or not view.roce["pfc"]:
        return
    without: list[tuple[str, str]] = []
    looked_up: dict[str, set[tuple[int, int]]] = {}
    stated: dict[str, str] = {}
    for r in routers:
        facts = view.model_facts(r.name)
        dynamic = view.buffer_model(r.name) == "dynamic"
        for p in (p for p in view.faceplate(r.name) if p.linked):
            metres = view.sonic_cable_metres(r.name, p)
            if metres == "":
                without.append((r.name, p.name))
            elif not dynamic:
                looked_up.setdefault(facts["model"], set()).add((p.mbps, int(metres)))
                stated[facts["model"]] = facts.get("pg_profile", "")
    if looked_up:
        _report_rows_of_platforms(target, looked_up, stated, view.roce["priority"], diagnostics)
    if without:
        more = f" and {len(without) - 1:,} other ports" if len(without) > 1 else ""
        diagnostics.add(
            "E0511",
            None,
            f"target `{target.name}`: {without[0][1]} of {without[0][0]}{more} have PFC and no headroom, "
            "since the length of the cable is not known",
            severity=Severity.WARNING,
            help="state it at the connect, `{ length 30m }`, or place the devices",
        )


def _report_rows_of_platforms(
    target: BuildTarget,
    looked_up: dict[str, set[tuple[int, int]]],
    stated: dict[str, str],
    priority: object,
    diagnostics: Diagnostics,
) -> None:
    """A note of the rows, by Mb/s and metres, that SONiC looks up in a table of each model's platform
    (``looked_up``); a warning where the fact ``pg_profile`` of the model (``stated``) lacks one of them, or
    has another form."""
    from tdsl.emit.data.faceplate import headroom_rows

    unknown: dict[str, set[tuple[int, int]]] = {}
    lacking: dict[str, set[tuple[int, int]]] = {}
    for model, wanted in looked_up.items():
        rows_stated = headroom_rows(stated[model])
        if rows_stated is None:
            diagnostics.add(
                "E0511",
                None,
                f"target `{target.name}`: the fact `pg_profile` of {model} is not used: it has another form",
                severity=Severity.WARNING,
                help='write `fact pg_profile "400000 5m 40m, 200000 5m"`: Mb/s with lengths; or `"none"`',
            )
        if not stated[model] or rows_stated is None:
            unknown[model] = wanted
        else:
            lacking[model] = wanted - {(mbps, m) for mbps, metres in rows_stated.items() for m in metres}
    for models, severity, must in (
        (lacking, Severity.WARNING, "as published lacks"),
        (unknown, Severity.NOTE, "must have"),
    ):
        rows = [f"`{mbps} {m}m`" for mbps, m in sorted(set().union(*models.values()))]
        if len(rows) > 6:
            rows[5:] = [f"{len(rows) - 5} more"]
        names = " and ".join(sorted(m for m, own in models.items() if own))
        if rows:
            diagnostics.add(
                "E0511",
                None,
                f"target `{target.name}`: SONiC works out no headroom on {names}: the platform's "
                f"pg_profile_lookup.ini {must} {', '.join(rows)}: without them PFC is on without a buffer",
                severity=severity,
                help="add the rows that it lacks, and the pools of the platform's buffers.json.j2, with "
                f"queue {priority} lossless",
            )


NOT_COMPUTE = (
    "another network of the cluster carries the traffic of accelerators; `purpose compute` says which"
)
NO_SYSTEM = "no `nos` names the operating system of the switches"


def _why_targets_are_skipped(
    chosen: Sequence[BuildTarget], selection: Selection, part: bool = False
) -> dict[str, list[str]]:
    """By target why it is skipped: it needs what the fabric does not have, or is of the whole fabric where a
    part is built."""
    lacking: dict[str, list[str]] = {}
    for target in chosen:
        seen = selection.of(target)
        view = seen.view
        if target.compute and not view.carries_accelerators:
            lacking[target.name] = [NOT_COMPUTE]
            continue
        reasons = [
            f"the fabric has no {NEEDS.get(need, need)}"
            for need in target.needs
            if need not in view.capabilities
        ]
        reasons = reasons or list(filter(None, map(view.why_unfit, target.needs)))
        if not reasons and part and not any(spec.of_parts for spec in target.files):
            reasons = ["what it writes is of the whole fabric, and this is a build of a part"]
        if not reasons and target.routers != RouterSelection():
            reasons = _why_no_router_fits(target, seen)
        if reasons:
            lacking[target.name] = reasons
    return lacking


def _why_no_router_fits(target: BuildTarget, selection: Selection) -> list[str]:
    """Why a target has no router to configure; empty where it has one, or where a warning of its own says
    so."""
    fitting, unfit = selection.routers(target)
    if not fitting and selection.waits(target):
        return [NO_SYSTEM]
    if not fitting and not (unfit and selection.written(target)):  # else there is a warning of its own
        return [f"no {target.routers.plural} it can configure" + (f": {unfit[0]}" if unfit else "")]
    return []


def _report_skipped(
    skipped: Mapping[str, Sequence[str]], chosen: Sequence[BuildTarget], diagnostics: Diagnostics
) -> None:
    """One note of all targets that are skipped, by reason."""
    lacking: dict[str, list[str]] = {}
    for name, reasons in skipped.items():
        for reason in reasons:
            lacking.setdefault(reason, []).append(f"`{name}`")
    unnamed = next((t.routers.nos for t in reversed(chosen) if NO_SYSTEM in skipped.get(t.name, ())), "")
    if lacking:
        text = "; ".join(f"{_names_joined_by_and(names)} ({reason})" for reason, names in lacking.items())
        help = (
            f"write `nos {unnamed}` in the fabric, its switches or their model, or name the target: "
            f"`--target {unnamed}`"
        )
        diagnostics.add(
            "E0506", None, f"skipped: {text}", severity=Severity.NOTE, help=help if unnamed else ""
        )


def _names_joined_by_and(names: Sequence[str]) -> str:
    """``a``, ``b`` and ``c``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _report_systems(
    known: Mapping[str, BuildTarget],
    chosen: Sequence[BuildTarget],
    selection: Selection,
    diagnostics: Diagnostics,
) -> None:
    """An error where two targets would configure one switch and the call does not name both; a note where it
    does, since each writes to a folder of its own; notes of switches that none configures."""
    if "routing" not in selection.view.capabilities or selection.view.networks:
        return
    several = _several_targets_by_switch(chosen, selection)
    for switch, (one, two, *_) in several.items():
        if not selection.named.issuperset(t.name for t in several[switch]):
            diagnostics.add(
                "E0507",
                None,
                f"targets `{one.name}` and `{two.name}` would both configure {switch}",
                help=f"name its operating system: `nos {two.routers.nos}`, or build one of the targets",
            )
            return
    if several:
        switch, targets = next(iter(several.items()))
        others = (
            f" and {len(several) - 1} more switch{'es' if len(several) > 2 else ''}"
            if len(several) > 1
            else ""
        )
        diagnostics.add(
            "E0511",
            None,
            f"{_names_joined_by_and([f'`{t.name}`' for t in targets])} each write a configuration of "
            f"{switch}{others}",
            severity=Severity.NOTE,
            help=f"use one of them; `nos {targets[0].routers.nos}` in the design says which",
        )
    if not selection.named:
        _note_unconfigured_switches(known, selection, diagnostics)


def _several_targets_by_switch(
    chosen: Sequence[BuildTarget], selection: Selection
) -> dict[str, list[BuildTarget]]:
    """The targets that would configure a switch, by its name, where there are several."""
    of_switch: dict[str, list[BuildTarget]] = {}
    for target in chosen:
        for router in selection.routers(target)[0] if target.routers.nos else ():
            if router.kind == "switch":
                of_switch.setdefault(router.name, []).append(target)
    return {switch: targets for switch, targets in of_switch.items() if len(targets) > 1}


def _note_unconfigured_switches(
    known: Mapping[str, BuildTarget], selection: Selection, diagnostics: Diagnostics
) -> None:
    """Notes of switches whose operating system no target has, and of those that name none."""
    systems = {t.routers.nos for t in known.values()} - {""}
    for system in sorted(set(selection.view.switch_systems.values()) - systems - {""}):
        count = sum(s == system for s in selection.view.switch_systems.values())
        diagnostics.add(
            "E0511",
            None,
            f"no target configures {count} switch{'' if count == 1 else 'es'} with `nos {system}`",
            severity=Severity.NOTE,
            help="add a target whose `target.toml` has `nos` in `[router]`: `tdsl new target NAME`",
        )
    if systems & set(selection.view.switch_systems.values()) and "" in selection.view.switch_systems.values():
        name = next(n for n, s in selection.view.switch_systems.items() if not s)
        diagnostics.add(
            "E0511",
            None,
            f"no configuration is written for {name}: nothing names its operating system",
            severity=Severity.NOTE,
            help="write `nos NAME` at these switches, too",
        )


def _report_open_transport(
    fabric: Fabric, chosen: Sequence[BuildTarget], selection: Selection, diagnostics: Diagnostics
) -> None:
    """An error where files would differ with what the links speak, and the design leaves it open."""
    names = next(filter(None, map(open_families, fabric.members or (fabric,))), [])
    reading = [
        f"`{t.name}`"
        for t in chosen
        if t.reads_transport and (selection.of(t).view.capabilities | TRANSPORT_NEEDS).issuperset(t.needs)
    ]
    if names and reading:
        writes = "targets {} write" if len(reading) > 1 else "target {} writes"
        diagnostics.add(
            "E0212",
            None,
            f"what {writes.format(_names_joined_by_and(reading))} depends on the transport: the links can "
            f"be {' or '.join(names)}, and the "
            "fabric does not say which",
            help=transport_statements(names),
        )


def manifest_bytes(
    fabric: Fabric,
    files: Mapping[str, Content],
    identity: str,
    version: str,
    secrets: Sequence[str] = (),
    only: Sequence[str] = (),
) -> bytes:
    """What was written, of which design, by which tdsl: no clock and no machine, so the same design gives the
    same bytes.

    ``secrets`` are names whose placeholders `tdsl render` replaces in these files, ``only`` the patterns of
    the devices of which a part was built.
    """
    content = {
        "schema": SCHEMA,
        "tdsl": version,
        "design": {
            "name": fabric.name,
            "sha256": identity,
            "parameters": {k: _parameter_as_json(v) for k, v in sorted(fabric.parameters.items())},
        },
        **({"only": list(only)} if only else {}),
        **({"secrets": list(secrets)} if secrets else {}),
        "files": {
            path: {"sha256": digest_of_content(data), "size": len(data)}
            for path, data in sorted(files.items())
        },
    }
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def _parameter_as_json(value: object) -> object:
    """A parameter as JSON has it."""
    return value if isinstance(value, (bool, int, str)) else str(value)


def _design_hash(
    known: Mapping[str, BuildTarget],
    view: FabricView,
    files: Mapping[str, Content],
    diagnostics: Diagnostics,
    sought: re.Pattern[bytes] | None,
) -> tuple[str, bytes]:
    """The hash of the file that is a function of the design alone, made for it if it was not asked for and
    not kept, "" without one; and what it holds of the pattern."""
    from tdsl.emit.render import render_file

    def read(chunks: Iterable[bytes | bytearray]) -> tuple[str, bytes]:
        digest, size, held, last = sha256(), 0, b"", b""
        for chunk in chunks:
            digest.update(chunk)
            size += len(chunk)
            if sought is not None and not held:
                last += chunk
                found = sought.search(last)
                held, last = found[0] if found else b"", last[-OVERLAP:]
        return digest.hexdigest() if size else "", held

    for target in known.values():
        for spec in target.files:
            if spec.identity and target.own:
                made = files.get(spec.path)
                if isinstance(made, Spooled) and sought is None:
                    return made.digest, b""
                if made:
                    return read(chunks_of_content(made))
                return render_file(
                    target, spec, view, None, dict(target.options), diagnostics, keep=read
                ) or ("", b"")
    return "", b""


def _options_of_target(
    target: BuildTarget, options: BuildOptions, diagnostics: Diagnostics
) -> dict[str, object]:
    """A target's options with what was asked for instead."""
    out = dict(target.options)
    for name, value in options.settings.get(target.name, {}).items():
        wrong = choices.why_option_is_unfit(target.options, target.values, name, value)
        if wrong:
            diagnostics.add("E0502", None, f"target `{target.name}`: {wrong}")
        else:
            out[name] = value
    return out


RECORDS_OF_SCOPE = {
    "device": ("devices", "name"),
    "plane": ("planes", "name"),
    "router": ("", "name"),
    "pod": ("pods", "name"),
    "host": ("hosts", "name"),
    "adapters": ("adapters", "host"),
    "rdma_host": ("rdma_hosts", "model"),
    "model": ("models", "key"),
}
"""By scope: what the view calls its records, and which fact of a record names its file."""


def _paths_and_records(
    spec: FileSpec, view: FabricView, routers: Sequence[Router]
) -> Sequence[tuple[str, object]]:
    """Path and record of every file of a scope."""
    if spec.scope == "fabric":
        return [(spec.path, None)]
    if spec.scope == "standby":
        return [(_standby_path(spec, s, view), s) for s in view.standbys]
    of_view, name = RECORDS_OF_SCOPE[spec.scope]
    found = routers if spec.scope == "router" else getattr(view, of_view)
    records: list[tuple[str, object]] = [(getattr(record, name), record) for record in found]
    if len(records) == 1 and spec.single:
        return [(spec.single, records[0][1])]
    return [
        (spec.path.replace(f"{{{spec.scope}}}", safe_file_name(name)), record) for name, record in records
    ]


def _standby_path(spec: FileSpec, standby: Standby, view: FabricView) -> str:
    """The path of a standby's file, in the folder of its subnet where there are several."""
    path = spec.path if len(view.planes) > 1 else spec.path.replace("{plane}/", "")
    return path.replace("{plane}", safe_file_name(standby.plane.name)).replace(
        "{standby}", safe_file_name(standby.name)
    )


def _note_missing_guids(
    target: BuildTarget, spec: FileSpec, view: FabricView, diagnostics: Diagnostics
) -> None:
    """A note of a file that the design asks for and that names assets by GUIDs which nobody gave."""
    asked = set(spec.needs) - {"guids", *target.needs}
    if (
        "guids" in spec.needs
        and asked
        and view.capabilities.issuperset(asked)
        and "guids" not in view.capabilities
    ):
        diagnostics.add(
            "E0511",
            None,
            f"target `{target.name}`: {spec.single or spec.path} is left out: it names assets by their GUIDs",
            severity=Severity.NOTE,
            help="give them with `--assets FILE`: device,port,node_guid,port_guid",
        )


def _passes_lint(spec: FileSpec, path: str, content: Content, diagnostics: Diagnostics) -> bool:
    """Whether a file passes the check its target names; a file that does not is not written.

    What NCCL takes from the machine is not a fault: a host without NVLink has none to write.
    """
    if spec.lint != "nccl":
        return True
    from tdsl.findings.source import SourceFile
    from tdsl.nccl.lint import lint_nccl_file

    faults = [
        f
        for f in lint_nccl_file(SourceFile(path, content_in_memory(content).decode()))
        if f.severity is Severity.ERROR
    ]
    for fault in faults:
        row, column = fault.span.begin if fault.span else (1, 1)
        diagnostics.add(
            "E0510", None, f"{path}, line {row}, column {column}: {fault.message}", help=fault.help
        )
    return not faults
