"""The pipeline: text, syntax tree, semantic model, fabric, results. One call a phase; nothing here prints."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tdsl.compile.compilation import LOCK, Compilation, Design, UsageError
from tdsl.compile.pipeline import (
    apply_severities,
    compilation_without_plan,
    drop_rows_of_others,
    explain_size_conflicts,
    gather_findings,
    join_clusters,
    refuse_racks_of_several,
    refuse_unjudged_designs,
    report_library_changes,
    verify_design,
    wire_design,
)
from tdsl.compile.planning import plan_fabrics, read_lock_entries, text_errors
from tdsl.compile.request import Request
from tdsl.compile.session import Session, Unmapped
from tdsl.compile.tried_fixes import MOST_TRIED, without_useless_fixes
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.system import progress
from tdsl.system.read import resolve_links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tdsl.compile.pipeline import Joined
    from tdsl.compile.planning import Planned
    from tdsl.fabric.pins import Recorded
    from tdsl.semantics.ranges import ParameterSettings

__all__ = [
    "LOCK",
    "Compilation",
    "Design",
    "Request",
    "Session",
    "UsageError",
    "compile_and_verify",
    "compile_in_stages",
    "compile_without_checks",
    "expand_intent",
    "parameter_settings",
]


def compile_and_verify(
    source: str, request: Request | None = None, session: Session | None = None
) -> Compilation:
    """Compile a design and verify it. What a ``session`` keeps of earlier compilations is used again.

    ``source`` is a path, or the name of a design of the standard library where no such file exists. Raises
    UsageError.
    """
    for compilation in compile_in_stages(source, request, session):
        last = compilation
    return last


def compile_in_stages(
    source: str,
    request: Request | None = None,
    session: Session | None = None,
    verify: bool = True,
    every: bool = False,
) -> Iterator[Compilation]:
    """A design before its proofs, with the findings of elaboration, and then verified: two compilations, or
    the last one alone where the text or the wiring has errors. With ``every`` one more after each proof that
    found something, the cheapest proofs first. Raises UsageError."""
    request, session = request or Request(), session or Session()
    try:
        yield from _compile_stages(source, request, session, verify, every)
    except Unmapped:  # a finding names a place that this text does not have: everything is made anew
        session.forget()
        yield from _compile_stages(source, request, session, verify, every)


def _compile_stages(
    source: str, request: Request, session: Session, verify: bool, every: bool
) -> Iterator[Compilation]:
    begin, diagnostics = time.perf_counter(), Diagnostics()
    progress.begin_phase(f"read {source}")
    text = plan_fabrics(source, request, session, diagnostics, every_phase=verify)
    _try_fixes_of_text(source, request, session, text, diagnostics)
    if not text.plans:
        only = compilation_without_plan(
            text.shown, Path(source).stem, diagnostics, time.perf_counter() - begin
        )
        yield apply_severities(only, text.files, request, False)
        return
    kept = read_lock_entries(source, request, diagnostics)
    designs, own = _unwired_designs(text)

    def so_far(verified: bool) -> Compilation:
        found = gather_findings(
            text, designs, clusters, diagnostics, own, request, time.perf_counter() - begin
        )
        return apply_severities(found, text.files, request, verified)

    # Wiring is judged when the text parses: what a broken statement would have added is not known.
    parsed = _is_parsed(diagnostics)
    absent = _wire_designs(text, designs, own, request, session, kept) if parsed else []
    _try_fixes_of_wiring(source, request, session, text, designs, own)
    _judge_places_of_all(designs, own, request)
    designs, clusters = join_clusters(designs, text, session, request, kept) if parsed else (designs, [])
    report_library_changes(Path(source), kept, text.files, designs, diagnostics, request)
    if not _have_errors(diagnostics, own, clusters):
        _refuse_absent_elements(absent)
        _refuse_unwired_fabrics(designs)
    if verify and _all_complete(designs):
        yield so_far(False)
    judging = verify and parsed
    for news in _verify_designs(designs, own, clusters, request, session) if judging else ():
        if every and news:
            yield so_far(False)
    explain_size_conflicts(text.plans, own)
    last = so_far(verify)
    yield refuse_unjudged_designs(last, request) if judging else last


LINKS_WIRED_ANEW = 20_000
"""Links of a design that is wired again to try the fixes of its findings."""


def _with_fixes_tried(
    source: str, request: Request, session: Session, text: Planned, found: list[Diagnostic], wired: bool
) -> list[Diagnostic]:
    """Findings without the fixes that do not mend the text. ``wired``: they are of the wiring."""
    if not request.try_fixes:
        return found
    key = str(resolve_links(Path(source)))
    others = {name: other for name, other in request.overlay.items() if name not in (key, source)}

    def findings_of(changed: str) -> list[Diagnostic]:
        own = Session({name: parsed for name, parsed in session.parsed.items() if name != key})
        asked = replace(
            request,
            overlay={**others, key: changed, source: changed},
            max_links=min(request.max_links, LINKS_WIRED_ANEW),
            solve_seconds=1,
            try_fixes=False,
        )
        again = Diagnostics()
        try:
            planned = plan_fabrics(source, asked, own, again)
            designs, each = _unwired_designs(planned)
            if wired and not again.has_errors:
                _wire_designs(planned, designs, each, asked, own, {})
        except UsageError:  # there is no such phase or parameter
            return []
        return [d for part in (again, *each) for d in part]

    return without_useless_fixes(found, source, text.files, findings_of)


def _is_parsed(diagnostics: Diagnostics) -> bool:
    """Whether a text has no errors of syntax."""
    return not any(d.code.startswith("E00") for d in diagnostics)


_OF_WIRING = re.compile(r"\b(?:require|report|connect|circuit|address|routing|roce|place|omit|job)\b")
"""Words of statements that are understood when a design is wired."""


def _try_fixes_of_text(
    source: str, request: Request, session: Session, text: Planned, diagnostics: Diagnostics
) -> None:
    """Withdraw the fixes of a text's findings that do not mend it. Where a statement could not be read that
    is understood when it is wired, such as a requirement, the changed text is wired, too."""
    if text.errors:
        unread = (d.span for d in diagnostics if d.code.startswith("E00") and d.span is not None)
        tried = list(islice(unread, MOST_TRIED))
        wired = any(_OF_WIRING.search(at.file.line(at.begin[0])) for at in tried)
        diagnostics.items = _with_fixes_tried(source, request, session, text, diagnostics.items, wired)


def _try_fixes_of_wiring(
    source: str,
    request: Request,
    session: Session,
    text: Planned,
    designs: list[Design],
    own: list[Diagnostics],
) -> None:
    """Take the fixes that do not mend the text from the findings of the first fabric that has errors; of
    small designs, which are wired anew."""
    faulty = next((found for found in own if found.has_errors), None)
    links = sum(d.fabric.link_count for d in designs if d.fabric is not None)
    if faulty is not None and links <= LINKS_WIRED_ANEW:
        faulty.items = _with_fixes_tried(source, request, session, text, faulty.items, True)


def _unwired_designs(text: Planned) -> tuple[list[Design], list[Diagnostics]]:
    """A design without a fabric for each plan of a text, and the collector of its findings."""
    designs = [
        Design(p.name, text.shown, dict(p.parameters), None, [], [], [], 0.0, p.cluster, p.phase, p.needed)
        for p in text.plans
    ]
    return designs, [Diagnostics() for _ in designs]


def _judge_places_of_all(designs: list[Design], own: list[Diagnostics], request: Request) -> None:
    """Judge a table of places by all designs that it is given to: rows of one are no faults of another."""
    if request.places is not None:
        drop_rows_of_others(own)
        refuse_racks_of_several(designs, own, request.places)


def _have_errors(diagnostics: Diagnostics, own: Sequence[Diagnostics], clusters: Sequence[Joined]) -> bool:
    return any(found.has_errors for found in (diagnostics, *own, *(found for _, found in clusters)))


def _all_complete(designs: Sequence[Design]) -> bool:
    return all(design.fabric is not None and design.fabric.complete for design in designs)


def _wire_designs(
    text: Planned,
    designs: list[Design],
    own: list[Diagnostics],
    request: Request,
    session: Session,
    kept: Mapping[str, list[Recorded]],
) -> list[dict[str, str]]:
    """Wire each design of a text in its place in ``designs``; findings go to its own in ``own``. Returns, for
    each, the elements of ``--fail`` that it does not have, with the reason."""
    from tdsl.semantics.fabrics import fabrics_around_places

    absent = []
    around = fabrics_around_places(text.home, [d.span for d in text.errors])
    for i, plan in enumerate(text.plans):
        progress.begin_phase(f"elaborate {plan.name}")
        sound = all(names and plan.name not in names for names in around)
        designs[i], not_its_own = wire_design(
            designs[i], plan, own[i], request, session, sound, kept.get(plan.name, []), text
        )
        absent.append(not_its_own)
    return absent


def _verify_designs(
    designs: list[Design],
    own: list[Diagnostics],
    clusters: list[Joined],
    request: Request,
    session: Session,
) -> Iterator[bool]:
    """Judge designs and clusters in their places in the lists; after each proof, whether it has new
    findings."""
    parts = [*zip(designs, own, strict=True), *clusters]
    for i, (part, found) in enumerate(parts):
        if part.fabric is None:
            continue
        known = len(found)
        for judged in verify_design(part, found, request, session):
            if i < len(designs):
                designs[i] = judged
            else:
                clusters[i - len(designs)] = judged, found
            yield len(found) > known
            known = len(found)


def _refuse_absent_elements(absent: list[dict[str, str]]) -> None:
    """An element of ``--fail`` that no fabric has is a wrong call."""
    for element in absent[0] if absent else ():
        if all(element in each for each in absent):
            raise UsageError(f"--fail {element!r}: {absent[0][element]}")


def _refuse_unwired_fabrics(designs: list[Design]) -> None:
    """No judgement is made of a fabric that is not wired as its text says: without an error it would pass as
    one that holds."""
    for design in designs:
        if design.fabric is None or not design.fabric.complete:
            raise RuntimeError(f"fabric {design.name} is not whole, and no finding says why")


def compile_without_checks(source: str, request: Request | None = None) -> Compilation:
    """Compile a design without verifying it. Raises UsageError."""
    return next(compile_in_stages(source, request, verify=False))


def expand_intent(source: str, request: Request | None = None) -> tuple[str | None, Compilation]:
    """The text of a design with its intent written out as structure, and its compilation.

    None in the place of the text if the design has errors. Raises UsageError.
    """
    from tdsl.semantics.expand import expand_design

    request = request or Request()
    begin = time.perf_counter()
    diagnostics = Diagnostics()
    read = plan_fabrics(source, request, Session(), diagnostics)
    text = (
        None
        if read.home is None or text_errors(diagnostics)
        else expand_design(read.home, read.plans, dict(request.set))
    )
    return text, compilation_without_plan(
        read.shown, Path(source).stem, diagnostics, time.perf_counter() - begin
    )


def parameter_settings(
    source: str, request: Request, session: Session | None = None
) -> tuple[ParameterSettings, Diagnostics]:
    """What the parameters of a design may be with what ``request`` gives, once for each fabric that declares
    one; unknowns stay open. With the findings so far. Raises UsageError."""
    from tdsl.semantics.ranges import ParameterSettings

    settings = ParameterSettings(dict(request.set), dict(request.values), domains=[])
    diagnostics = Diagnostics()
    plan_fabrics(source, request, session or Session(), diagnostics, settings)
    return settings, diagnostics
