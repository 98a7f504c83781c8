"""The pipeline: text, syntax tree, semantic model, fabric, results. One call a phase; nothing here prints."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl import files as disk
from tdsl.compilation import LOCK, Compilation, Design, Options, UsageError
from tdsl.diagnostic import Diagnostic, Diagnostics, Severity, gather
from tdsl.source import SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tdsl.fabric.pins import Line, Mount
    from tdsl.semantics.library import Library, Linked
    from tdsl.semantics.plan import Plan
    from tdsl.semantics.ranges import Settings

__all__ = ["LOCK", "Compilation", "Design", "Options", "UsageError", "check", "elaborate", "expand", "parameters", "stages"]

UNDERSTOOD = frozenset({"E0464", "E0212", "E0213"})
"""Errors of designs that are wired and judged all the same."""
SIZED = frozenset({"E0107", "E0421", "E0423", "E0452", "E0454", "E0457"})
"""Findings that sizes may be the cause of: they show which lines cannot hold together."""


def check(source: str, options: Options | None = None) -> Compilation:
    """Compile a design and verify it.

    ``source`` is a path, or the name of a design of the standard library where no such file exists. Raises UsageError.
    """
    for compilation in stages(source, options or Options()):
        last = compilation
    return last


def stages(source: str, options: Options, verify: bool = True) -> Iterator[Compilation]:
    """A design before its proofs, with the findings of elaboration, and then verified: two compilations, or the last one alone
    where the text or the wiring has errors. Raises UsageError."""
    from tdsl.semantics.fabrics import elsewhere

    begin = time.perf_counter()
    diagnostics = Diagnostics()
    shown, home, plans, files = _planned(source, options, diagnostics)
    # Wiring is judged when the text parses: what a broken statement would have added is not known.
    syntax_ok = not any(d.code.startswith("E00") for d in diagnostics)
    if not plans:
        yield _settled(_lone(shown, Path(source).stem, diagnostics, begin), files, options, False)
        return
    errors = _of_text(diagnostics)
    absent: list[dict[str, str]] = []
    stands = _stands(source, options, diagnostics)
    designs = [Design(plan.name, shown, dict(plan.parameters), None, [], [], [], 0.0, plan.cluster) for plan in plans]
    own = [Diagnostics() for _ in plans]
    for plan, design, found in zip(plans, designs, own, strict=True):
        if syntax_ok:
            sound = all(elsewhere(home, plan.name, d.span) for d in errors)
            absent.append(_wire(plan, design, found, options, sound, stands.get(plan.name, [])))
    for element in absent[0] if absent and not diagnostics.has_errors and not any(x.has_errors for x in own) else ():
        if all(element in each for each in absent):
            raise UsageError(f"--fail {element!r}: {absent[0][element]}")
    if verify and all(design.fabric is not None and design.fabric.complete for design in designs):
        yield _settled(_gathered(shown, designs, diagnostics, own, options, begin), files, options, False)
    if verify and syntax_ok:
        for design, found in zip(designs, own, strict=True):
            _verify(design, found, options)
    for plan, found in zip(plans, own, strict=True):
        if any(d.code in SIZED for d in found):
            from tdsl.sizing.conflicts import explain

            explain(plan, found, SIZED)
    yield _settled(_gathered(shown, designs, diagnostics, own, options, begin), files, options, verify)


def elaborate(source: str, options: Options | None = None) -> Compilation:
    """Compile a design without verifying it. Raises UsageError."""
    return next(stages(source, options or Options(), verify=False))


def expand(source: str, options: Options | None = None) -> tuple[str | None, Compilation]:
    """The text of a design with its intent written out as structure, and its compilation.

    None in the place of the text if the design has errors. Raises UsageError.
    """
    from tdsl.semantics.expand import expanded

    options = options or Options()
    begin = time.perf_counter()
    diagnostics = Diagnostics()
    shown, home, plans, _ = _planned(source, options, diagnostics)
    text = None if home is None or _of_text(diagnostics) else expanded(home, plans, dict(options.set))
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


def _of_text(diagnostics: Diagnostics) -> list[Diagnostic]:
    """Errors that leave a text without a meaning. Tiers that are no Clos have one, and may be allowed."""
    return [d for d in diagnostics if d.severity is Severity.ERROR and d.code not in UNDERSTOOD]


def _wire(
    plan: Plan, design: Design, own: Diagnostics, options: Options, sound: bool, lock: list[Line | Mount]
) -> dict[str, str]:
    """Wire a plan and resolve its requirements. ``sound``: its own text and that outside other fabrics have no errors.

    Gives the failed elements that are not its own, and why."""
    from tdsl.fabric.elaborate import elaborate as wire
    from tdsl.fabric.pins import Line, Mount, mounted, moved, relocated
    from tdsl.fabric.requirements import resolve_claims
    from tdsl.fabric.transports import settle

    mounts = [x for x in lock if isinstance(x, Mount)]
    stands = [x for x in lock if isinstance(x, Line)]
    design.fabric = wire(plan, own, options.max_links, stands, sound, options.places)
    if not plan.broken:
        settle(plan, design.fabric, own)
    if plan.auto is not None and design.fabric.places is not None and design.fabric.complete:
        from tdsl.physical.auto import placed

        design.fabric = placed(design.fabric, plan.auto, mounted(mounts, design.fabric) if mounts else {}, own)
    if design.fabric.places is not None and design.fabric.complete:
        from tdsl.physical.model import with_runs

        design.fabric = with_runs(design.fabric)
    if stands and design.fabric.complete:
        severity = Severity.ERROR if options.locked else Severity.NOTE
        moved(stands, design.fabric, own, severity)
        relocated(mounts, design.fabric, own, severity)
    design.claims = resolve_claims(plan, design.fabric, own)
    absent: dict[str, str] = {}
    if options.fail:
        from tdsl.fabric.failing import fail

        found, absent = fail(plan, design.fabric, options.fail)
        design.failed = found if found.names else None
    return absent


def _verify(design: Design, own: Diagnostics, options: Options) -> None:
    """Judge a wired design by every check."""
    from tdsl.prove.budget import of_seconds
    from tdsl.verify.runner import run

    assert design.fabric is not None
    budget = of_seconds(options.check_seconds)
    design.results = run(design.fabric, design.claims, own, options.select, options.ignore, design.failed, budget)


def _gathered(
    shown: str, designs: list[Design], diagnostics: Diagnostics, own: list[Diagnostics], options: Options, begin: float
) -> Compilation:
    """What is known so far: the findings of the file's text and of each of its designs."""
    every, designs = Diagnostics(list(diagnostics)), [replace(design) for design in designs]
    for design, mine in zip(designs, own, strict=True):
        found = Diagnostics(list(mine))
        _name_settings(found, options)
        design.findings = gather(found)
        every.extend(found)
    _shared(designs, every)
    gathered = gather(every)
    designs[0].findings = [d for d in gathered if not any(d in x.findings for x in designs[1:])]
    for design in designs:
        design.elapsed_s = time.perf_counter() - begin
    return Compilation(shown, designs, gathered)


def _planned(
    source: str, options: Options, diagnostics: Diagnostics, settings: Settings | None = None
) -> tuple[str, Linked | None, list[Plan], list[SourceFile]]:
    """A file's name, its names, the plans of its fabrics and what was read; None and none if it is not text."""
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
    for plan in plans:
        if plan.halls or options.places is not None:
            plan.parts = library.parts(home)
    if options.prices is not None:
        from tdsl.physical.prices import read

        table = read(options.prices, diagnostics)
        for plan in plans:
            plan.prices = table.each
    if not diagnostics.has_errors:
        idle_parameters(module.body, diagnostics)
    _name_settings(diagnostics, options)
    _unknown_parameters(options, plans, diagnostics)
    return shown, home, plans, [m.file for m in loader.modules.values() if m is not None]


def _plans(library: Library, home: Linked, options: Options, diagnostics: Diagnostics) -> list[Plan]:
    """A plan for each fabric of the file, its unknowns found."""
    from tdsl.semantics.fabrics import declared
    from tdsl.semantics.fault import Fault
    from tdsl.sizing.solve import planned

    plans = []
    for fabric in declared(library, home, diagnostics):
        try:
            plan = planned(
                fabric, diagnostics, options.max_devices, options.max_links, options.solve_seconds, options.second_best
            )
        except Fault as fault:
            fault.report(diagnostics)
            continue
        plans += [plan] if plan is not None else []
    return plans


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


def _stands(source: str, options: Options, diagnostics: Diagnostics) -> dict[str, list[Line | Mount]]:
    """The links of each fabric that stand by the lock beside a file."""
    path = Path(f"{source}{LOCK}")
    if not options.lock or not disk.is_file(path):
        if options.locked:
            raise UsageError(f"there is no {path}; `tdsl lock` writes it")
        return {}
    from tdsl.fabric.pins import read
    from tdsl.syntax.parser import decode

    try:
        file = decode(disk.read(path, within=[path.parent]), path.as_posix(), diagnostics)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    return {} if file is None else read(file, diagnostics)


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

    path = Path(source)
    if disk.is_dir(path):
        inside = [(path / name).as_posix() for name in disk.names(path) if name.endswith(".fab")]
        return f"{source} is a folder; " + (f"name a design in it, such as {inside[0]}" if inside else "it has no .fab file")
    if source == "-":
        return "this command does not read standard input; name a file"
    beside = [name for name in disk.names(path.parent) if name.endswith(".fab")]
    file = nearest(path.name, beside) or nearest(f"{path.name}.fab", beside)
    if file:
        return f"there is no file {source}; did you mean `{(path.parent / file).as_posix()}`?"
    known = [p.stem for p in (resources.folder("stdlib") / "designs").glob("*.fab")]
    near = nearest(source, known)
    return f"there is no file {source}" + (f"; did you mean the design `{near}`?" if near else "")


def _unknown_parameters(options: Options, plans: list[Plan], diagnostics: Diagnostics) -> None:
    """A ``--set`` for a name that no fabric has is a wrong call, not a finding."""
    from tdsl.semantics.fault import nearest

    known = {name for plan in plans for name in plan.declared}
    for name, _ in options.set:
        if name not in known and plans:
            near = nearest(name, known)
            hint = f"; did you mean `{near}`?" if near else f"; it has {', '.join(sorted(known))}" if known else "; it has none"
            raise UsageError(f"this design has no parameter `{name}`{hint}")
