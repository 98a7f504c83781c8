"""The pipeline: text, syntax tree, semantic model, fabric, results. One call a phase; nothing here prints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.diagnostic import Diagnostic, Diagnostics, Severity, gather
from tdsl.source import SourceFile, Span

if TYPE_CHECKING:
    from tdsl.fabric.claims import ResolvedClaim
    from tdsl.fabric.failing import Failed
    from tdsl.fabric.graph import Fabric
    from tdsl.fabric.pins import Line
    from tdsl.semantics.cluster import Member
    from tdsl.semantics.library import Entry, Library, Linked
    from tdsl.semantics.loader import Parsed
    from tdsl.semantics.plan import Plan
    from tdsl.semantics.ranges import Settings
    from tdsl.syntax import tree
    from tdsl.verify.check import Result

    Additions = Sequence[tuple[Linked, tree.Extend | tree.Override]]

SIZED = frozenset({"E0107", "E0421", "E0423", "E0452", "E0454", "E0457"})
"""Findings that sizes may be the cause of: they show which lines cannot hold together."""

LOCK = ".lock"
"""Ending of the file beside a design that says which links stand."""

IMPORTS = "`use FILE (NAMES)` takes names from FILE.fab"

DEVICE_LIMIT = 1 << 24
LINK_LIMIT = 1 << 27


class UsageError(Exception):
    """A call that cannot be answered: an absent file, an unknown parameter. Not a finding about a design."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a call asks for besides the file. ``set`` holds parameters as text; ``overlay`` unsaved buffers by resolved path;
    ``fail`` elements that are judged as failed.

    ``values`` are parameters that have a value already, and ``parsed`` holds files read for an earlier call.
    """

    set: tuple[tuple[str, str], ...] = ()
    paths: tuple[Path, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    max_devices: int = DEVICE_LIMIT
    max_links: int = LINK_LIMIT
    solve_seconds: int = 10  # about so long holes may take; counted in work, not by the clock
    second_best: bool = False  # under ``minimize``, say the next best numbers too
    overlay: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, object] = field(default_factory=dict)
    parsed: Parsed | None = None
    fail: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)  # by name of a finding
    locked: bool = False  # what the lock says must stay
    lock: bool = True  # whether to read a lock at all


@dataclass(slots=True)
class Design:
    """One fabric of a file, as far as it came: ``fabric`` is None if the text has syntax errors or names nothing usable."""

    name: str
    file: str
    parameters: dict[str, object]
    fabric: Fabric | None
    claims: list[ResolvedClaim]
    results: list[Result]
    findings: list[Diagnostic]
    elapsed_s: float
    cluster: str = ""  # the cluster it stands in, "" if it stands alone
    summary: Mapping[str, object] | None = None  # what it consists of, where the fabric itself was given up
    failed: Failed | None = None  # what is judged as failed


@dataclass(slots=True)
class Compilation:
    """All that is known of one file. ``findings`` are those of all its designs, in the order of the text."""

    file: str
    designs: list[Design]
    findings: list[Diagnostic]

    def told(self) -> list[tuple[str, Diagnostic]]:
        """The findings to tell people, each with the name of the file it is about."""
        return [(design.file, d) for design in self.designs for d in design.findings]


def check(source: str, options: Options | None = None) -> Compilation:
    """Compile a design and verify it.

    ``source`` is a path, or the name of a design of the standard library where no such file exists. Raises UsageError.
    """
    return _compile(source, options or Options(), verify=True)


def elaborate(source: str, options: Options | None = None) -> Compilation:
    """Compile a design without verifying it. Raises UsageError."""
    return _compile(source, options or Options(), verify=False)


def expand(source: str, options: Options | None = None) -> tuple[str | None, Compilation]:
    """The text of a design with its intent written out as structure, and its compilation.

    None in the place of the text if the design has errors. Raises UsageError.
    """
    from tdsl.semantics.expand import expanded

    options = options or Options()
    begin = time.perf_counter()
    diagnostics = Diagnostics()
    shown, home, plans, _ = _planned(source, options, diagnostics)
    text = None if home is None or diagnostics.has_errors else expanded(home, plans, dict(options.set))
    return text, _lone(shown, Path(source).stem, diagnostics, begin)


def parameters(source: str, options: Options) -> tuple[Settings, Diagnostics]:
    """What the parameters of a design may be, as they are met with what ``options`` give; holes are left open for it.

    A parameter that several fabrics declare is met several times. With the findings so far. Raises UsageError.
    """
    from tdsl.semantics.ranges import Settings

    settings = Settings(dict(options.set), dict(options.values), [])
    diagnostics = Diagnostics()
    _planned(source, options, diagnostics, settings)
    return settings, diagnostics


def _planned(
    source: str, options: Options, diagnostics: Diagnostics, settings: Settings | None = None
) -> tuple[str, Linked | None, list[Plan], list[SourceFile]]:
    """A file's name, its names, the plans of its fabrics and what was read; None and none if it is no text."""
    from tdsl.semantics.library import Library
    from tdsl.semantics.loader import Loader
    from tdsl.semantics.parameters import idle_parameters
    from tdsl.semantics.ranges import Settings

    loader = Loader(diagnostics, options.paths, dict(options.overlay), {} if options.parsed is None else options.parsed)
    path = loader.design(source)
    if path is None:
        raise UsageError(_absent(source))
    try:
        module = loader.read(path, source)
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror or error}") from None
    shown = loader.shown(path, source)
    if module is None:
        return shown, None, [], []
    library = Library(loader, diagnostics, settings or Settings(dict(options.set), dict(options.values)))
    home = library.link(module)
    plans = _plans(library, home, options, diagnostics)
    library.build_all(home)
    if not diagnostics.has_errors:
        idle_parameters(module.body, diagnostics)
    _name_settings(diagnostics, options)
    _unknown_parameters(options, plans, diagnostics)
    return shown, home, plans, [m.file for m in loader.modules.values() if m is not None]


def _compile(source: str, options: Options, verify: bool) -> Compilation:
    begin = time.perf_counter()
    diagnostics = Diagnostics()
    shown, _, plans, files = _planned(source, options, diagnostics)
    # Wiring is judged when the text parses: what a broken statement would have added is not known.
    syntax_ok = not any(d.code.startswith("E00") for d in diagnostics)
    if not plans:
        return _settled(_lone(shown, Path(source).stem, diagnostics, begin), files, options, False)
    designs = []
    sound = not diagnostics.has_errors
    absent: list[dict[str, str]] = []
    stands = _stands(source, options, diagnostics)
    for plan in plans:
        design = Design(plan.name, shown, dict(plan.parameters), None, [], [], [], 0.0, plan.cluster)
        if syntax_ok:
            absent.append(_finish(plan, design, diagnostics, options, verify, sound, stands.get(plan.name, [])))
        designs.append(design)
    for element in absent[0] if absent and not diagnostics.has_errors else ():
        if all(element in each for each in absent):
            raise UsageError(f"--fail {element!r}: {absent[0][element]}")
    _shared(designs, diagnostics)
    found = gather(diagnostics)
    designs[0].findings = [d for d in found if not any(d in x.findings for x in designs[1:])]
    for design in designs:
        design.elapsed_s = time.perf_counter() - begin
    return _settled(Compilation(shown, designs, found), files, options, verify)


def _settled(compilation: Compilation, files: list[SourceFile], options: Options, verified: bool) -> Compilation:
    """A compilation with the severities that the design's comments and the configuration settle."""
    from tdsl.allowances import Allowances

    own = Diagnostics()
    settled = Allowances(options.severities)
    for file in files:
        settled.read(file, own)
    if not (settled.lines or settled.severities or own):
        return compilation
    compilation.findings = settled.settle(compilation.findings)
    for design in compilation.designs:
        design.findings = settled.settle(design.findings)
    whole = all(design.fabric is not None and design.fabric.complete for design in compilation.designs)
    if verified and whole and not (options.select or options.fail):
        own.extend(settled.idle(options.ignore))
    compilation.findings = gather([*compilation.findings, *own])
    compilation.designs[0].findings = gather([*compilation.designs[0].findings, *own])
    return compilation


def _stands(source: str, options: Options, diagnostics: Diagnostics) -> dict[str, list[Line]]:
    """The links of each fabric that stand by the lock beside a file."""
    path = Path(f"{source}{LOCK}")
    if not options.lock or not path.is_file():
        if options.locked:
            raise UsageError(f"there is no {path}; `tdsl lock` writes it")
        return {}
    from tdsl.fabric.pins import read
    from tdsl.syntax.parser import decode

    try:
        file = decode(path.read_bytes(), path.as_posix(), diagnostics)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    return {} if file is None else read(file, diagnostics)


def _finish(
    plan: Plan, design: Design, diagnostics: Diagnostics, options: Options, verify: bool, sound: bool, stands: list[Line]
) -> dict[str, str]:
    """Wire a plan, resolve what it requires and, if asked, verify it. ``sound``: the plans of the file have no errors.

    Gives the failed elements that are not its own, and why."""
    from tdsl.fabric.elaborate import elaborate as wire
    from tdsl.fabric.requirements import resolve_claims

    own = Diagnostics()
    design.fabric = wire(plan, own, options.max_links, stands)
    design.fabric.complete = design.fabric.complete and sound
    if stands and design.fabric.complete:
        from tdsl.fabric.pins import moved

        moved(stands, design.fabric, own, Severity.ERROR if options.locked else Severity.NOTE)
    design.claims = resolve_claims(plan, design.fabric, own)
    absent: dict[str, str] = {}
    if options.fail:
        from tdsl.fabric.failing import fail

        found, absent = fail(plan, design.fabric, options.fail, _cable_links)
        design.failed = found if found.names else None
    if verify:
        from tdsl.verify.runner import run

        design.results = run(design.fabric, design.claims, own, options.select, options.ignore, design.failed)
    if any(d.code in SIZED for d in own):
        from tdsl.fabric.conflicts import explain

        explain(plan, own, SIZED)
    _name_settings(own, options)
    design.findings = gather(own)
    diagnostics.extend(own)
    return absent


def _cable_links(fabric: Fabric) -> dict[str, list[int]]:
    """Links that run through every cable, by its identifier."""
    from tdsl.emit.wires import Wires

    wires = Wires(fabric)
    links, legs = wires.crossings
    ids = wires.cable_order[2]
    found: dict[str, list[int]] = {}
    for link, leg in zip(links.tolist(), legs.tolist(), strict=True):
        found.setdefault(ids[leg], []).append(link)
    return found


def _name_settings(diagnostics: Diagnostics, options: Options) -> None:
    """Have errors say which of the names in their text ``--set`` gives."""
    if options.set:
        from tdsl.semantics.parameters import with_settings

        diagnostics.items = [with_settings(d, dict(options.set)) for d in diagnostics]


def _shared(designs: list[Design], diagnostics: Diagnostics) -> None:
    """Hold the fabrics of each cluster against each other: a port belongs to one."""
    for cluster in sorted({d.cluster for d in designs if d.cluster}):
        from tdsl.fabric.shared import shared_ports

        shared_ports([d.fabric for d in designs if d.cluster == cluster and d.fabric is not None], diagnostics)


def _lone(shown: str, name: str, diagnostics: Diagnostics, begin: float) -> Compilation:
    found = gather(diagnostics)
    return Compilation(shown, [Design(name, shown, {}, None, [], [], found, time.perf_counter() - begin)], found)


def _absent(source: str) -> str:
    from tdsl import resources
    from tdsl.semantics.fault import nearest

    known = [p.stem for p in (resources.folder("stdlib") / "designs").glob("*.fab")]
    near = nearest(source, known)
    return f"there is no file {source}" + (f"; did you mean the design `{near}`?" if near else "")


def _plans(library: Library, home: Linked, options: Options, diagnostics: Diagnostics) -> list[Plan]:
    """A plan for each fabric of the file, and for each that it takes from elsewhere and adds to."""
    from tdsl.semantics.cluster import members
    from tdsl.semantics.fault import Fault
    from tdsl.syntax import tree

    entries: dict[str, Entry] = {}
    additions: dict[str, list[tuple[Linked, tree.Extend | tree.Override]]] = {}
    for name, entry in home.names.items():
        if isinstance(entry.node, tree.Decl):
            entries[name] = entry
    others = [s for s in home.module.body if isinstance(s, (tree.Extend, tree.Override))]
    for s in others:
        head = s.path.parts[0]
        assert isinstance(head, tree.Member)
        found = home.names.get(head.name) or home.used.get(head.name)
        if found is None or not isinstance(found.node, tree.Decl):
            from tdsl.semantics.fault import unknown

            if not home.scope.is_excused(head.name):
                unknown("E0101", head.span, "fabric", head.name, [*home.names, *home.used]).report(diagnostics)
            continue
        if found.node.kind.name == "cluster":
            diagnostics.add("E0120", s.path.span, "this adds to a fabric, not to a cluster", help="write it inside the cluster")
            continue
        entries.setdefault(head.name, found)
        additions.setdefault(head.name, []).append((home, s))
    if not entries:
        for name, entry in home.used.items():
            if isinstance(entry.node, tree.Decl):
                entries[name] = entry
    if not entries and not diagnostics.has_errors:
        diagnostics.add(
            "E0122", _first_line(home), "this file declares no fabric, so there is nothing to check",
            help="`tdsl init` writes a design to start from; `use FILE (FABRIC)` takes one from another file",
        )  # fmt: skip
    _strays(home, diagnostics)
    plans = []
    for name, entry in entries.items():
        for member in members(entry, diagnostics):
            try:
                make = partial(_plan, library, home, member, additions.get(name, ()), options)
                solved = _holes(make, library, member.node, options, diagnostics)
                if solved is not None:
                    plans.append(make())
                    plans[-1].holes.update(solved)
            except Fault as fault:
                fault.report(diagnostics)
    return plans


def _plan(library: Library, home: Linked, member: Member, additions: Additions, options: Options) -> Plan:
    """The plan of a fabric and of what is added to it."""
    from tdsl.semantics.planner import Planner

    plan = Planner(library, member.home, member.node, options.max_devices).run(additions)
    plan.cluster = member.cluster
    plan.parameters = {**home.parameters, **plan.parameters}
    plan.declared |= home.declared
    return plan


def _holes(
    make: Callable[[], Plan], library: Library, node: tree.Decl, options: Options, diagnostics: Diagnostics
) -> dict[Span, int] | None:  # fmt: skip
    """What stands for the holes of a fabric, None if nothing can. A text that does not parse is not solved."""
    from tdsl.semantics.openings import Names, branching, openings

    found = list(openings(node.body or ()))
    if not found:
        return {}
    if library.settings.domains is not None or any(d.code.startswith("E00") for d in diagnostics):
        for opening in found:
            library.evaluator.holes[opening.key] = 1
        return {}
    from tdsl.fabric.holes import Solver
    from tdsl.verify.required import judge

    def trial(own: Diagnostics) -> Plan:
        library.diagnostics = own
        try:
            return make()
        finally:
            library.diagnostics = diagnostics

    body = node.body or ()
    solver = Solver(
        trial, found, branching(body), Names(body), partial(judge, options.max_links), library.evaluator, options.max_links,
        options.solve_seconds, options.second_best,
    )  # fmt: skip
    own = Diagnostics()
    solved = solver.run(own)
    if any(d.code == "E0459" for d in own) and not branching(body):
        from tdsl.fabric.conflicts import explain

        explain(trial(Diagnostics()), own, frozenset({"E0459"}), open=True)
    diagnostics.extend(own)
    return {opening.span: value for opening, value in solved.items()} or None


def _first_line(home: Linked) -> Span:
    file = home.module.file
    start = len(file.text) - len(file.text.lstrip())
    end = file.text.find("\n", start)
    return Span(file, start, end if end > start else len(file.text))


def _strays(home: Linked, diagnostics: Diagnostics) -> None:
    """Statements at the top of a file that belong into a fabric."""
    from tdsl.syntax import tree

    known = (tree.Use, tree.ModelDecl, tree.TopologyDecl, tree.Def, tree.Let, tree.Param, tree.Extend, tree.Override, tree.Broken)
    for s in home.module.body:
        if isinstance(s, known) or (isinstance(s, tree.Decl) and s.kind.name in ("fabric", "cluster")):
            continue
        name = s.kind.name if isinstance(s, tree.Decl) else s.name.name if isinstance(s, tree.Setting) else s.span.text.split()[0]
        diagnostics.add(
            "E0118", s.span, f"`{name}` stands outside any fabric",
            help=IMPORTS if name in ("import", "include", "from") else "put it between the braces of `fabric NAME { … }`",
        )  # fmt: skip


def _unknown_parameters(options: Options, plans: list[Plan], diagnostics: Diagnostics) -> None:
    """A ``--set`` for a name that no fabric has is a wrong call, not a finding."""
    from tdsl.semantics.fault import nearest

    known = {name for plan in plans for name in plan.declared}
    for name, _ in options.set:
        if name not in known and plans:
            near = nearest(name, known)
            hint = f"; did you mean `{near}`?" if near else f"; it has {', '.join(sorted(known))}" if known else "; it has none"
            raise UsageError(f"this design has no parameter `{name}`{hint}")
