"""The second half of the pipeline: a plan is wired and verified, and findings are gathered and settled. One
function a phase."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tdsl.compile.compilation import Compilation, Design
from tdsl.compile.planning import Planned, add_notes_on_settings
from tdsl.compile.request import Request
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity, merge_equal_findings
from tdsl.findings.source import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tdsl.compile.session import Session
    from tdsl.fabric.claims import ResolvedClaim
    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.fabric.pins import Mount, PinnedLink, Recorded
    from tdsl.semantics.plan import FabricPlan
    from tdsl.verify.result import Result

SIZED = frozenset({"E0107", "E0421", "E0423", "E0452", "E0454", "E0457"})
"""Findings that sizes may be the cause of: they show which lines cannot hold together."""

NOT_LEFT = (
    "`--select` and `--ignore` leave nothing that can be judged; `tdsl list checks` shows what "
    "each check is about"
)


def wire_design(
    design: Design,
    plan: FabricPlan,
    own: Diagnostics,
    request: Request,
    session: Session,
    sound: bool,
    lock: list[Recorded],
    text: Planned,
) -> tuple[Design, dict[str, str]]:
    """A design with its plan wired and its requirements resolved. ``sound``: its own text and that outside
    other fabrics have no errors. And the failed elements that are not its own, with why. A
    fabric that the session keeps is taken where it was wired from the same."""
    from tdsl.fabric.failing import Failing
    from tdsl.fabric.requirements import resolve_claims

    alone = not lock and request.places is None and request.prices is None  # the text says all
    inputs = session.wiring_inputs(text, plan, request, sound) if alone else None
    fabric = session.find(inputs, plan, own) if inputs is not None else None
    if fabric is None:
        steps, before = plan.evaluator.steps, len(own)
        fabric = _wire_plan(plan, own, request, sound, lock)
        if inputs is not None:
            session.keep(inputs, fabric, own.items[before:], plan.evaluator.steps - steps)
    failing = Failing(plan, fabric)
    jobs: dict[str, RankedJob] = {}
    if plan.jobs:
        from tdsl.fabric.job_ranks import ranks_of_jobs

        jobs = ranks_of_jobs(plan, fabric, own)
    claims = resolve_claims(plan, fabric, own, jobs=jobs)
    design = replace(design, fabric=fabric, claims=claims, failing=failing, jobs=tuple(jobs.values()))
    if not request.fail:
        return design, {}
    asked = {_element_of_fabric(text, plan): text for text in (" ".join(e.split()) for e in request.fail)}
    found, absent = failing.fail(tuple(asked))
    missing = {asked[element]: why for element, why in absent.items()}
    return replace(design, failed=found if found.names else None), missing


def _element_of_fabric(text: str, plan: FabricPlan) -> str:
    """An element of ``--fail`` as a fabric writes it: ``compute.leaf[0]``, as a cluster calls it, is
    ``leaf[0]`` in compute."""
    own = plan.cluster and plan.name not in plan.root.members
    return text.removeprefix(f"{plan.name}.") if own else text


def _wire_plan(
    plan: FabricPlan, own: Diagnostics, request: Request, sound: bool, lock: list[Recorded]
) -> Fabric:
    """The fabric of a plan, its devices placed and its cables as long as places ask for."""
    from tdsl.fabric.elaborate import elaborate_fabric as wire
    from tdsl.fabric.transports import determine_transport

    stands: list[PinnedLink] = []
    mounts: list[Mount] = []
    if lock:
        fabric, stands, mounts = _wire_by_lock(plan, own, request, sound, lock)
    else:
        found = Diagnostics()
        fabric = wire(plan, found, request.max_links, stands, sound, request.places)
        own.items += found.items
    if not plan.broken:
        determine_transport(plan, fabric, own)
    if plan.auto is not None and fabric.places is not None and fabric.complete:
        from tdsl.fabric.pins import standing_mounts
        from tdsl.physical.auto import place_devices_automatically

        fabric = place_devices_automatically(
            fabric, plan.auto, standing_mounts(mounts, fabric) if mounts else {}, own
        )
    fabric = _fabric_with_cable_lengths(fabric)
    if stands and fabric.complete:
        from tdsl.fabric.pins import report_moved_links, report_relocated_devices

        severity = Severity.ERROR if request.locked else Severity.NOTE
        report_moved_links(stands, fabric, own, severity)
        if plan.auto_of_cluster is None:
            report_relocated_devices(mounts, fabric, own, severity)
    return fabric


def _wire_by_lock(
    plan: FabricPlan, own: Diagnostics, request: Request, sound: bool, lock: list[Recorded]
) -> tuple[Fabric, list[PinnedLink], list[Mount]]:
    """The fabric of a plan whose links keep the ports that a lock says, with the links and the places of the
    lock by the names that devices have now."""
    from tdsl.fabric.elaborate import elaborate_fabric as wire
    from tdsl.fabric.pins import Mount, NamedDevice, PinnedLink, carry_over_renames, names_have_moved

    mounts = [x for x in lock if isinstance(x, Mount)]
    stands = [x for x in lock if isinstance(x, PinnedLink)]
    names = [x for x in lock if isinstance(x, NamedDevice)]
    found = Diagnostics()
    if stands and _lock_names_unknown_sets(stands, plan):
        plain = wire(plan, Diagnostics(), request.max_links)
        stands, mounts = carry_over_renames(stands, mounts, plain, own, names)
    fabric = wire(plan, found, request.max_links, stands, sound, request.places)
    if stands and names_have_moved(names, fabric):
        found = Diagnostics()
        stands, mounts = carry_over_renames(stands, mounts, fabric, own, names)
        fabric = wire(plan, found, request.max_links, stands, sound, request.places)
    own.items += found.items
    return fabric, stands, mounts


def _fabric_with_cable_lengths(fabric: Fabric) -> Fabric:
    """The fabric with the lengths of its cables, where places or distances say them."""
    if not fabric.complete or (fabric.places is None and not fabric.spans):
        return fabric
    from tdsl.physical.model import with_runs

    return with_runs(fabric)


def _lock_names_unknown_sets(stands: list[PinnedLink], plan: FabricPlan) -> bool:
    """Whether a lock names declarations that the design does not have."""
    from tdsl.fabric.renamed import path_without_indices

    known = {s.path for s in (*plan.sets, *plan.insides.values())}
    return any(
        path_without_indices(p.rpartition(".")[0]) not in known for line in stands for p in (line.a, line.b)
    )


def drop_rows_of_others(own: list[Diagnostics]) -> None:
    """Take back the findings about rows of the table of places whose device is not in a fabric, but in
    another of the file; those of a device that none has are kept once."""
    from tdsl.fabric.places import CODE, NO_DEVICE

    absent = [{d.span for d in found if d.code == CODE and d.message.startswith(NO_DEVICE)} for found in own]
    everywhere = set.intersection(*absent) if absent else set()
    for k, (found, spans) in enumerate(zip(own, absent, strict=True)):
        others = spans - everywhere if k == 0 else spans
        found.items = [d for d in found if d.code != CODE or d.span not in others]


def refuse_racks_of_several(designs: list[Design], own: list[Diagnostics], table: SourceFile) -> None:
    """A rack of a table of places has devices of one fabric or cluster: those of others would be judged
    apart."""
    from tdsl.fabric.places import CODE

    first: dict[tuple[str, str, int], tuple[str, str]] = {}
    said: set[tuple[str, str]] = set()
    for design, found in zip(designs, own, strict=True):
        f = design.fabric
        p = f.places if f is not None else None
        if f is None or p is None:
            continue
        whole = design.cluster or design.name
        for d in (f.built & (p.device_rack >= 0)).nonzero()[0].tolist():
            r = int(p.device_rack[d])
            other, name = first.setdefault(
                (p.hall_name(r), p.row_name(r), int(p.rack_number[r])), (whole, design.name)
            )
            origin = p.origin(d)
            if other == whole or origin is None or (other, whole) in said or origin.span.file is not table:
                continue
            said.add((other, whole))
            found.add(
                CODE,
                origin,
                f"rack {p.rack_names[r]} of hall {p.hall_name(r)} has devices of the fabrics `{name}` and "
                f"`{design.name}`, and what these put there is judged apart",
                help="declare both in one `cluster`, which is judged as a whole",
            )


Joined = tuple[Design, Diagnostics]
"""A cluster as one, and what was found of it."""


def join_clusters(
    designs: list[Design],
    text: Planned,
    session: Session,
    request: Request,
    locks: Mapping[str, list[Recorded]],
) -> tuple[list[Design], list[Joined]]:
    """The designs, those of a cluster with all its fabrics as one; and the clusters, once for each of their
    phases. ``locks`` has what is recorded of each fabric."""
    designs = list(designs)
    clusters: list[Joined] = []
    for cluster in dict.fromkeys(d.cluster for d in designs if d.cluster):
        mine = [i for i, d in enumerate(designs) if d.cluster == cluster]
        for phase in sorted({designs[i].phase for i in mine if designs[i].phase} or {0}):
            latest = {designs[i].name: i for i in mine if designs[i].phase <= phase}
            chosen = list(latest.values())
            clusters.append(_join_one_cluster(designs, chosen, text, session, request, locks))
            whole = clusters[-1][0].fabric
            for k, i in enumerate(chosen):
                fabric = designs[i].fabric if whole is None else whole.members[k]
                if fabric is not None and designs[i].phase in (0, phase):
                    designs[i] = replace(designs[i], fabric=replace(fabric, cluster=whole))
    return designs, clusters


def _join_one_cluster(
    designs: list[Design],
    chosen: list[int],
    text: Planned,
    session: Session,
    request: Request,
    locks: Mapping[str, list[Recorded]],
) -> Joined:
    """Some designs as one cluster, with the requirements of its block."""
    from tdsl.fabric.cluster import join_fabrics
    from tdsl.fabric.shared import refuse_shared_ports

    found = Diagnostics()
    members = [designs[i] for i in chosen]
    fabrics = [f for d in members if (f := d.fabric) is not None]
    plans = [text.plans[i] for i in chosen]
    design = _cluster_without_fabric(members, plans, text.shown)
    if len(fabrics) < len(members):
        return design, found
    refuse_shared_ports(fabrics, found)
    made = join_fabrics(design.cluster, fabrics, plans[0].around or plans[0].origin, found)
    if made is not None:
        made.complete = made.complete and not text.errors
        made = _cluster_with_places(made, plans, found, request, locks)
        design = replace(design, fabric=made, claims=_claims_of_cluster_block(members, plans, made, found))
    moved = session.moves_of_cluster(design)
    if moved is not None:
        found.items = [moved.finding(d) for d in found]
    return design, found


def _cluster_without_fabric(members: list[Design], plans: list[FabricPlan], shown: str) -> Design:
    """The design of a cluster before its fabrics are joined; ``shown`` is the name of its file."""
    last = members[-1]
    return Design(
        last.cluster,
        shown,
        {k: v for p in plans for k, v in p.parameters.items()},
        None,
        [],
        [],
        [],
        0.0,
        last.cluster,
        max(d.phase for d in members),
        last.needed,
        tuple(d.name for d in members),
    )


def _claims_of_cluster_block(
    members: list[Design], plans: list[FabricPlan], made: Fabric, found: Diagnostics
) -> list[ResolvedClaim]:
    """The requirements of a cluster's block that are judged of the cluster as one; its fabrics have those
    that are judged of each."""
    from tdsl.fabric.cluster import requirements_of_cluster
    from tdsl.verify.check import checks_by_name

    judged = {(c.origin.span.start, c.origin.span.end) for d in members for c in d.claims}
    joint = {c.name for c in checks_by_name().values() if c.together or c.crosses}
    return requirements_of_cluster(plans, made, judged, joint, found)


def _cluster_with_places(
    made: Fabric,
    plans: list[FabricPlan],
    found: Diagnostics,
    request: Request,
    locks: Mapping[str, list[Recorded]],
) -> Fabric:
    """A cluster whose devices are placed as its block says, each of its fabrics with the places that others
    say of what they share, and with the lengths of cables that follow."""
    from tdsl.fabric.lent_places import (
        automatic_placing_of_cluster,
        members_with_lent_places,
        standing_mounts_of_cluster,
    )
    from tdsl.fabric.pins import Mount, report_relocated_devices

    mounts = [[x for x in locks.get(p.name, ()) if isinstance(x, Mount)] for p in plans]
    asked = [p.auto_of_cluster for p in plans if p.auto_of_cluster is not None]
    auto = automatic_placing_of_cluster(made, asked) if made.complete else None
    if auto is not None:
        from tdsl.physical.auto import place_devices_automatically

        made = place_devices_automatically(made, auto, standing_mounts_of_cluster(made, mounts), found)
    lent = members_with_lent_places(made)
    members = tuple(
        old if new is old else _fabric_with_cable_lengths(new)
        for old, new in zip(made.members, lent, strict=True)
    )
    for fabric, mine in zip(members, mounts, strict=True):
        if auto is not None and mine:
            severity = Severity.ERROR if request.locked else Severity.NOTE
            report_relocated_devices(mine, fabric, found, severity)
    return _fabric_with_cable_lengths(replace(made, members=members))


def report_library_changes(
    source: Path,
    kept: Mapping[str, list[Recorded]],
    files: list[SourceFile],
    designs: list[Design],
    diagnostics: Diagnostics,
    request: Request,
) -> None:
    """Say which library files are not as the lock has them, and which figures differ since."""
    last = {d.name: d.fabric for d in designs}  # of several phases the last, which the lock is of
    fabrics = [f for f in last.values() if f is not None and f.complete]
    if not kept or len(fabrics) < len(last):
        return
    from tdsl.fabric.pins import LockedFigure, UsedFile
    from tdsl.physical.standing import file_digests, library_change_finding

    figures = {name: [x for x in lines if isinstance(x, LockedFigure)] for name, lines in kept.items()}
    used = [x for x in kept.get("", []) if isinstance(x, UsedFile)]
    found = library_change_finding(
        source.name, used, figures, file_digests(files, source.parent), fabrics, request.locked
    )
    diagnostics.items += [found] if found is not None else []


def verify_design(design: Design, own: Diagnostics, request: Request, session: Session) -> Iterator[Design]:
    """A wired design, judged by every check, the cheapest first: as far as it is known each time that ``own``
    has more findings, and last with all results."""
    from tdsl.prove.budget import budget_of_seconds
    from tdsl.verify.runner import judge_requirements_stepwise

    assert design.fabric is not None
    budget = budget_of_seconds(request.check_seconds)
    known, moved = session.judged(design)
    found = own if moved is None else Diagnostics(list(own))
    here: dict[int, tuple[Diagnostic, Diagnostic]] = {}  # findings as they were and moved, by identity
    for results in judge_requirements_stepwise(
        design.fabric, design.claims, found, request.select, request.ignore, design.failed, budget, known
    ):
        if moved is not None:
            here |= {id(d): (d, moved.finding(d)) for d in found if id(d) not in here}
            own.items = [here[id(d)][1] for d in found]
        yield replace(design, results=results, left_out=_requirements_left_out(design, results, request))


def _requirements_left_out(design: Design, results: Sequence[Result], request: Request) -> tuple[str, ...]:
    """The requirements, as written, that --select and --ignore keep from being judged."""
    if not (request.select or request.ignore):
        return ()
    judged = {result.requirement for result in results}
    return tuple(dict.fromkeys(c.text for c in design.claims if not c.report and c.text not in judged))


def explain_size_conflicts(plans: list[FabricPlan], own: list[Diagnostics]) -> None:
    """Give findings that sizes may be the cause of the lines that contradict each other."""
    for plan, found in zip(plans, own, strict=True):
        if any(d.code in SIZED for d in found):
            from tdsl.sizing.conflicts import add_conflicting_lines

            add_conflicting_lines(plan, found, SIZED)


def gather_findings(
    text: Planned,
    designs: list[Design],
    clusters: list[Joined],
    diagnostics: Diagnostics,
    own: list[Diagnostics],
    request: Request,
    elapsed: float,
) -> Compilation:
    """What is known so far: the findings of the file's text and of each of its designs. What the text of one
    fabric has is that fabric's; what stands outside of all is said with the first."""
    from tdsl.semantics.fabrics import fabrics_around_places

    every, designs = Diagnostics(list(diagnostics)), [replace(design) for design in designs]
    around = fabrics_around_places(text.home, [d.span for d in diagnostics])
    wholes = [replace(design) for design, _ in clusters]
    for design, mine in [
        *zip(designs, own, strict=True),
        *zip(wholes, (found for _, found in clusters), strict=True),
    ]:
        found = Diagnostics([_finding_with_phase(d, design.phase) for d in mine])
        add_notes_on_settings(found, request)
        others = {d.name for d in designs} - {design.name}
        said = [
            d
            for d, names in zip(diagnostics, around, strict=True)
            if not design.members and design.name in names and others - names
        ]
        design.findings = merge_equal_findings(Diagnostics([*said, *found]))
        every.extend(found)
    gathered = merge_equal_findings(every)
    designs[0].findings = [d for d in gathered if not any(d in x.findings for x in (*designs[1:], *wholes))]
    for design in (*designs, *wholes):
        design.elapsed_s = elapsed
    made = Compilation(text.shown, designs, gathered)
    made.clusters = wholes
    return made


def _finding_with_phase(d: Diagnostic, phase: int) -> Diagnostic:
    """An error of one of several phases says of which."""
    return replace(d, notes=(*d.notes, f"in phase {phase}")) if phase and d.severity is Severity.ERROR else d


def apply_severities(
    compilation: Compilation, files: list[SourceFile], request: Request, verified: bool
) -> Compilation:
    """A compilation with the severities that the design's comments and the configuration settle."""
    from tdsl.compile.waivers import Allowances

    compilation.read = tuple(files)
    own = Diagnostics()
    allowed = Allowances(request.severities)
    for file in files:
        allowed.read(file, own)
    if not (
        allowed.lines or allowed.severities or own or any(d.cause is not None for d in compilation.findings)
    ):
        return compilation
    compilation.findings = allowed.settle(compilation.findings)
    for design in compilation.judged:
        design.findings = allowed.settle(design.findings)
    whole = all(design.fabric is not None and design.fabric.complete for design in compilation.designs)
    if verified and whole and not (request.select or request.fail):
        own.extend(allowed.idle(request.ignore))
    if request.day is not None:
        own.extend(allowed.expired(request.day))
    compilation.waivers = tuple(allowed.every())
    compilation.findings = merge_equal_findings([*compilation.findings, *own])
    compilation.designs[0].findings = merge_equal_findings([*compilation.designs[0].findings, *own])
    return compilation


def refuse_unjudged_designs(compilation: Compilation, request: Request) -> Compilation:
    """A verified compilation with an error for each design of which nothing was judged, and what says that a
    requirement was judged in part. Neither can be allowed: an answer about nothing is none."""
    from tdsl.verify.coverage import refusal_allowed_error

    refused = any(d.severity is Severity.ERROR for d in compilation.findings)
    for design in (*compilation.designs, *(c for c in compilation.clusters if c.results)):
        if design.fabric is not None and design.fabric.complete:
            added = _findings_about_coverage(compilation, design, request)
        else:
            added = [] if refused else [refusal_allowed_error(design.name)]
        if added:
            design.findings = merge_equal_findings([*design.findings, *added])
            compilation.findings = merge_equal_findings([*compilation.findings, *added])
    return compilation


def _findings_about_coverage(compilation: Compilation, design: Design, request: Request) -> list[Diagnostic]:
    """What says that requirements of a design were judged in part, and the error where nothing was judged."""
    from tdsl.verify.check import checks_by_name
    from tdsl.verify.coverage import nothing_judged_error, partly_judged_findings

    checks = checks_by_name()
    found = list(partly_judged_findings(design.results, design.findings, request.at_least))
    about = [
        r
        for r in design.results
        if design.failed is None or r.check not in checks or not checks[r.check].of_design
    ]
    errors = any(d.severity is Severity.ERROR for d in design.findings)
    if not errors and not any(r.judged for r in about) and not _is_chosen_elsewhere(compilation, design):
        not_left = NOT_LEFT if request.select or request.ignore else ""
        found.append(nothing_judged_error(design.name, about, not_left))
    return found


def _is_chosen_elsewhere(compilation: Compilation, design: Design) -> bool:
    """Whether a design is one of a cluster of which something was judged, so that what a call chooses is
    about other networks. A requirement of the design itself is never left to others."""
    every = (*compilation.designs, *compilation.clusters)
    mates = [d for d in every if d.cluster == design.cluster] if design.cluster else []
    stated = any(r.requirement is not None for r in design.results)
    return not stated and any(r.judged for d in mates for r in d.results)


def compilation_without_plan(shown: str, name: str, diagnostics: Diagnostics, elapsed: float) -> Compilation:
    """The compilation of a file without any plan: its findings."""
    found = merge_equal_findings(diagnostics)
    return Compilation(shown, [Design(name, shown, {}, None, [], [], found, elapsed)], found)
