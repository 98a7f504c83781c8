"""The first half of the pipeline: a file and what it uses become a plan for each of its fabrics, unknowns
found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.compile.compilation import LARGEST_LOCK, LOCK, UsageError
from tdsl.compile.request import Request
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.read import file_stamp, folder_entries, is_dir, is_file, read_regular_file, read_text_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tdsl.compile.session import Session
    from tdsl.fabric.pins import Recorded
    from tdsl.semantics.fabrics import Declared
    from tdsl.semantics.growth import GrowthPhase
    from tdsl.semantics.library import Library, Linked
    from tdsl.semantics.loader import Loader, ParsedFile
    from tdsl.semantics.plan import FabricPlan
    from tdsl.semantics.ranges import ParameterSettings

EVERY_PHASE = -2
"""``Request.phase`` where each phase is planned, whether it is verified or not."""
UNDERSTOOD = frozenset({"E0464", "E0213"})
"""Errors of designs that are wired and judged all the same."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A file's name as it is shown, its names (None if it is not text), a plan for each of its fabrics, all
    files that were read, and the errors that leave a text without a meaning."""

    shown: str
    home: Linked | None
    plans: list[FabricPlan]
    files: list[SourceFile]
    errors: list[Diagnostic]


def plan_fabrics(
    source: str,
    request: Request,
    session: Session,
    diagnostics: Diagnostics,
    settings: ParameterSettings | None = None,
    every_phase: bool = False,
) -> Planned:
    """Read a file and what it uses, and plan its fabrics, in every phase or the last. Raises UsageError."""
    from tdsl.semantics import fault
    from tdsl.semantics.library import Library
    from tdsl.semantics.loader import Loader
    from tdsl.semantics.parameters import note_unused_parameters
    from tdsl.semantics.ranges import ParameterSettings

    fault.reset_name_suggestions()
    session.begin(request.overlay)
    loader = Loader(diagnostics, request.paths, dict(request.overlay), session.parsed)
    path, module = _read_design(loader, source)
    shown = loader.shown(path, source)
    if module is None:
        session.end(request.overlay)
        return Planned(shown, None, [], [], [])
    library = Library(
        loader, diagnostics, settings or ParameterSettings(dict(request.set), dict(request.values))
    )
    home = library.link(module)
    if request.prices is not None:
        from tdsl.physical.prices import read_prices_toml

        library.prices, library.supply = read_prices_toml(request.prices, diagnostics)
    plans = _plans_of_file(library, home, request, diagnostics, every_phase)
    library.build_all(home)
    placed = [bool(p.halls or p.distances) or request.places is not None for p in plans]
    plans = [
        replace(p, parts=library.parts(home)) if known else p for p, known in zip(plans, placed, strict=True)
    ]
    if not diagnostics.has_errors:
        note_unused_parameters(module.body, diagnostics)
    diagnostics.items = _without_consequences(diagnostics.items)
    add_notes_on_settings(diagnostics, request)
    _refuse_unknown_parameters(request, plans, diagnostics)
    session.end(request.overlay)
    return Planned(
        shown,
        home,
        plans,
        [m.file for m in loader.modules.values() if m is not None],
        text_errors(diagnostics),
    )


_OF_STATEMENTS = frozenset({"E0001", "E0002", "E0003", "E0006", "E0007", "E0013"})
"""Syntax errors of one statement."""


def _without_consequences(findings: list[Diagnostic]) -> list[Diagnostic]:
    """Findings without those of a line that the fix of a syntax error changes: they are of a statement that
    the author did not write, and are made anew once it is mended."""
    unread = any(d.code.startswith("E00") and d.severity is Severity.ERROR for d in findings)
    findings = [d for d in findings if not (unread and d.code == "E0122")]
    changed: dict[tuple[str, int], int] = {}
    for k, d in enumerate(findings):
        if d.fix is None or d.code not in _OF_STATEMENTS:
            continue
        for span, _ in d.fix.edits:
            for line in range(span.begin[0], span.finish[0] + 1):
                changed.setdefault((span.file.name, line), k)
    joined = {
        k
        for k, d in enumerate(findings)
        if d.fix is not None and any("\n" in span.text for span, _ in d.fix.edits)
    }
    out = []
    for k, d in enumerate(findings):
        first = -1 if d.span is None else changed.get((d.span.file.name, d.span.begin[0]), -1)
        of_syntax = d.code.startswith("E00")
        if (
            first < 0
            or first == k
            or d.severity is not Severity.ERROR
            or (of_syntax and (first > k or first not in joined))
        ):
            out.append(d)
    return out


def _plans_of_file(
    library: Library, home: Linked, request: Request, diagnostics: Diagnostics, every_phase: bool
) -> list[FabricPlan]:
    """A plan for each fabric of the file, its unknowns found; of fabrics in phases one for each phase, or for
    the last."""
    from tdsl.semantics.fabrics import declared_fabrics
    from tdsl.semantics.fault import Fault
    from tdsl.sizing.solve import plan_with_unknowns

    plans = []
    together: frozenset[str] | None = None
    for fabric in _fabrics_in_phases(
        list(declared_fabrics(library, home, diagnostics)), request.phase, every_phase, diagnostics
    ):
        if fabric.member.cluster:
            from tdsl.verify.check import checks_by_name

            together = together or frozenset(c.name for c in checks_by_name().values() if c.together)
            fabric = replace(fabric, together=together)
        try:
            plan = plan_with_unknowns(
                fabric,
                diagnostics,
                request.max_devices,
                request.max_links,
                request.solve_seconds,
                request.second_best,
            )
        except Fault as fault:
            fault.report(diagnostics)
            continue
        plans += [plan] if plan is not None else []
    return plans


def _read_design(loader: Loader, source: str) -> tuple[Path, ParsedFile | None]:
    """The path of what a user names and what it says, None where it is not text. Raises UsageError."""
    path = loader.design(source)
    if path is None:
        raise UsageError(_missing_source_message(source))
    try:
        return path, loader.read(path, source)
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror or error}") from None


def _phases_of_fabric(fabric: Declared, diagnostics: Diagnostics) -> list[GrowthPhase]:
    """The phases that a fabric declares; none, with a finding, where they cannot be read."""
    from tdsl.semantics.fault import Fault
    from tdsl.semantics.growth import read_phases

    try:
        return read_phases(fabric.member.node.body or ())
    except Fault as fault:
        fault.report(diagnostics)
        return []


def _fabrics_in_phases(
    fabrics: list[Declared], asked: int, every: bool, diagnostics: Diagnostics
) -> Iterator[Declared]:
    """The fabrics, each in its phases: all of them, the one that is asked for, or the last. Raises
    UsageError."""
    known: set[int] = set()
    asked, every = (0, asked == EVERY_PHASE) if asked < 0 else (asked, every)
    for fabric in fabrics:
        found = _phases_of_fabric(fabric, diagnostics)
        known |= {p.number for p in found}
        if not found:
            yield fabric
        chosen = [p for p in found if p.number == asked] if asked else found if every else found[-1:]
        yield from (replace(fabric, phase=p) for p in chosen)
    if asked and asked not in known:
        listed = ", ".join(map(str, sorted(known)))
        raise UsageError(
            f"--phase {asked}: "
            + (f"the phases are {listed}" if known else "no fabric of this file has phases")
        )


def text_errors(diagnostics: Diagnostics) -> list[Diagnostic]:
    """Errors that leave a text without a meaning. Tiers that are no Clos have one, and may be allowed."""
    return [d for d in diagnostics if d.severity is Severity.ERROR and d.code not in UNDERSTOOD]


def read_lock_entries(source: str, request: Request, diagnostics: Diagnostics) -> dict[str, list[Recorded]]:
    """The links of each fabric that stand by the lock beside a file, or by the one that is given."""
    if request.stands is not None:
        from tdsl.fabric.pins import read_lock_lines

        return read_lock_lines(request.stands, diagnostics)
    path = Path(f"{source}{LOCK}")
    if not request.lock or not is_file(path):
        if request.locked:
            raise UsageError(f"there is no {path}; `tdsl lock` writes it")
        return {}
    from tdsl.fabric.pins import read_lock_lines
    from tdsl.syntax.parser import decode_source_file

    try:
        file = decode_source_file(
            read_regular_file(path, LARGEST_LOCK, [path.parent]),
            path.as_posix(),
            diagnostics,
            design=False,
        )
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    return {} if file is None else read_lock_lines(file, diagnostics)


def add_notes_on_settings(diagnostics: Diagnostics, request: Request) -> None:
    """Have errors say which of the names in their text ``--set`` gives."""
    if request.set:
        from tdsl.semantics.parameters import note_given_parameters

        diagnostics.items = [note_given_parameters(d, dict(request.set)) for d in diagnostics]


def _refuse_unknown_parameters(request: Request, plans: list[FabricPlan], diagnostics: Diagnostics) -> None:
    """A ``--set`` for a name that no fabric has is a wrong call, not a finding."""
    from tdsl.semantics.fault import closest_known_name

    known = {name for plan in plans for name in plan.declared}
    for name, _ in request.set:
        if name not in known and plans:
            near = closest_known_name(name, known)
            hint = (
                f"; did you mean `{near}`?"
                if near
                else f"; it has {', '.join(sorted(known))}"
                if known
                else "; it has none"
            )
            raise UsageError(f"this design has no parameter `{name}`{hint}")


def _missing_source_message(source: str) -> str:
    from tdsl.semantics.fault import closest_known_name
    from tdsl.system import resources

    path = Path(source)
    if is_dir(path):
        inside = [path / name for name in folder_entries(path) if name.endswith(".fab")]
        best = next((p for p in inside if _file_declares_fabric(p)), None)
        such = f", such as `{best.as_posix()}`" if best is not None else ""
        return f"{source} is a folder; " + (f"name a design in it{such}" if inside else "it has no .fab file")
    if source == "-":
        return "this command does not read standard input; name a file"
    if file_stamp(path) is not None:
        return f"{source}: it is not a regular file"
    several = source.split(",")
    if len(several) > 1 and all(file_stamp(Path(name.strip())) is not None for name in several):
        return f"there is no file {source}; a space separates files: `{' '.join(map(str.strip, several))}`"
    beside = [name for name in folder_entries(path.parent) if name.endswith(".fab")]
    file = closest_known_name(path.name, beside) or closest_known_name(f"{path.name}.fab", beside)
    if file:
        return f"there is no file {source}; did you mean `{(path.parent / file).as_posix()}`?"
    known = [p.stem for p in (resources.packaged_folder("stdlib") / "designs").glob("*.fab")]
    near = closest_known_name(source, known)
    return f"there is no file {source}" + (f"; did you mean the design `{near}`?" if near else "")


def _file_declares_fabric(path: Path) -> bool:
    """Whether a file can be read and declares a fabric."""
    try:
        return re.search(r"^[ \t]*(?:fabric|cluster)\b", read_text_file(path), re.MULTILINE) is not None
    except (OSError, UnicodeDecodeError):
        return False
