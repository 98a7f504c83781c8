"""What a process keeps between compilations: parsed files, fabrics as they were wired, and judgements of
them.

A fabric is wired again only where the text has changed in what wiring reads. Comments, blank lines,
indentation, requirements and other fabrics of the file are left out of the key; the numbers found for
unknowns, the expansion of the intent, parameters, other files and what is asked are part of it. What is kept
has places in the text of its time; they are moved to the same tokens of the text as it is now.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from typing import TYPE_CHECKING

from tdsl.compile.parsed_library import keep_parsed_library_files, parsed_library_files
from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.compile.compilation import Design
    from tdsl.compile.planning import Planned
    from tdsl.compile.request import Request
    from tdsl.fabric.graph import Fabric
    from tdsl.findings.diagnostic import Diagnostics
    from tdsl.semantics.loader import Parsed
    from tdsl.semantics.plan import FabricPlan
    from tdsl.syntax import tree
    from tdsl.verify.runner import KnownJudgements

MOST_FABRICS = 8
"""Fabrics that are kept at once, the latest ones."""


class Unmapped(Exception):
    """A place of an earlier text that the text as it is now does not have."""


class WiringTokens:
    """The tokens of a file that the wiring of one fabric reads: ``key`` is their text, with the blanks of
    lines."""

    def __init__(self, file: SourceFile, body: Sequence[tree.Stmt], fabric: str) -> None:
        from tdsl.syntax.grammar import load_grammar_tables

        self.file = file
        self.starts: list[int] = []
        self.ends: list[int] = []
        scan = load_grammar_tables().scanner.scan
        text, parts, before = file.text, [], 0
        for start, end in _ranges_between(sorted(_ranges_not_wired(body, fabric)), len(text)):
            for token in scan(file, start, end):  # what other fabrics say is not even looked at
                if token.type == "COMMENT" or token.newline:
                    continue
                gap = text[before : token.start]
                parts += ["\n" if "\n" in gap else gap, token.text]
                self.starts.append(token.start)
                self.ends.append(token.end)
                before = token.end
        self.key = tuple(parts)

    def place(self, offset: int, end: bool) -> tuple[int, int]:
        """An offset as the number of a token and the offset in it; one between tokens is of the token before,
        where it is an ``end``, and else of the one after. Raises Unmapped."""
        at = bisect_right(self.starts, offset) - 1
        if at >= 0 and (offset < self.ends[at] or (end and offset == self.ends[at])):
            return at, offset - self.starts[at]
        raise Unmapped

    def holds(self, span: SourceSpan) -> bool:
        """Whether a span of this file lies between tokens of the key."""
        try:
            return bool(self.place(span.start, False) and self.place(span.end, True))
        except Unmapped:
            return False

    def can_move(self, span: SourceSpan) -> bool:
        """Whether a place can be moved: one of a later text of the design, such as that of a requirement,
        cannot."""
        return self.holds(span) if span.file is self.file else span.file.name != self.file.name


class SpanMapper:
    """Moves places of an earlier text to the text as it is now."""

    def __init__(self, old: WiringTokens, new: WiringTokens, files: Iterable[SourceFile] = ()) -> None:
        self.old, self.new = old, new
        self.files = {
            f.name: f for f in files
        }  # those of now; but the design's own, they have the text of that time

    def span(self, span: SourceSpan) -> SourceSpan:
        """A span. Raises Unmapped."""
        if span.file is self.new.file:
            return span
        if span.file is not self.old.file:
            return replace(span, file=self.files.get(span.file.name, span.file))
        first, skip = self.old.place(span.start, False)
        last, length = self.old.place(span.end, True)
        return SourceSpan(self.new.file, self.new.starts[first] + skip, self.new.starts[last] + length)

    def finding(self, d: Diagnostic) -> Diagnostic:
        """A finding with all its places. Raises Unmapped."""
        fix = d.fix and replace(d.fix, edits=tuple((self.span(s), text) for s, text in d.fix.edits))
        labels = tuple(replace(x, span=self.span(x.span)) for x in d.labels)
        return replace(d, span=d.span and self.span(d.span), labels=labels, fix=fix)


class MovedFromSeveral(SpanMapper):
    """Moves places of several earlier texts."""

    def __init__(self, parts: Sequence[SpanMapper]) -> None:
        self.parts = parts

    def span(self, span: SourceSpan) -> SourceSpan:
        """A span. Raises Unmapped."""
        return next((p for p in self.parts if p.old.file is span.file), self.parts[0]).span(span)


@dataclass(slots=True, eq=False)
class WiringInputs:
    """What the wiring of a fabric reads: its file, name and phase, the tokens of its file, and ``key``, which
    is equal where the wiring gives the same. ``files`` are all that were read."""

    name: tuple[str, str, int]
    layout: WiringTokens
    key: tuple[object, ...]
    files: list[SourceFile]


@dataclass(slots=True, eq=False)
class Wired:
    """One fabric as it was wired, with what the wiring found; ``known`` holds judgements of it."""

    key: tuple[object, ...]
    layout: WiringTokens
    fabric: Fabric
    findings: list[Diagnostic]
    steps: int  # of evaluation that the wiring took
    known: KnownJudgements


@dataclass(slots=True)
class Session:
    """What is kept between compilations: files that were parsed, for as long as it lasts. Fabrics are wired
    each time."""

    parsed: Parsed = field(default_factory=dict)

    def begin(self, overlay: Mapping[str, str]) -> None:
        """A text is read next, with those of open buffers: keep no file that may have changed."""

    def end(self, overlay: Mapping[str, str]) -> None:
        """The text and what it uses were read."""

    def wiring_inputs(
        self, text: Planned, plan: FabricPlan, request: Request, sound: bool
    ) -> WiringInputs | None:
        """What the wiring of a plan reads; None where fabrics are not kept."""
        return None

    def find(self, inputs: WiringInputs, plan: FabricPlan, own: Diagnostics) -> Fabric | None:
        """The fabric that was wired from the same, None if there is none; what its wiring found is added to
        ``own``, in the places of now."""
        return None

    def keep(self, inputs: WiringInputs, fabric: Fabric, findings: list[Diagnostic], steps: int) -> None:
        """Keep a fabric that was wired, with what the wiring found and the steps of evaluation it took."""

    def judged(self, design: Design) -> tuple[KnownJudgements | None, SpanMapper | None]:
        """What is known of a design that was wired last, and what moves places of its findings."""
        return None, None

    def moves_of_cluster(self, cluster: Design) -> SpanMapper | None:
        """What moves places of findings about a cluster."""
        return None

    def forget(self) -> None:
        """Keep no fabric."""


@dataclass(slots=True)
class FabricSession(Session):
    """Keeps fabrics, by file, name and phase. Files are read anew for each compilation."""

    wired: dict[tuple[str, str, int], Wired] = field(default_factory=dict)
    moves: dict[tuple[str, str, int], SpanMapper] = field(
        default_factory=dict
    )  # of the text that is compiled now
    layouts: tuple[SourceFile, dict[str, WiringTokens]] | None = None  # by fabric, of the file read last

    def begin(self, overlay: Mapping[str, str]) -> None:
        """A text is read next."""
        self.parsed = {}

    def wiring_inputs(
        self, text: Planned, plan: FabricPlan, request: Request, sound: bool
    ) -> WiringInputs | None:
        """What the wiring of a plan reads."""
        assert text.home is not None
        module = text.home.module
        fabric = "" if plan.cluster else plan.name
        if self.layouts is None or self.layouts[0] is not module.file:
            self.layouts = module.file, {}
        layouts = self.layouts[1]  # which the phases of a fabric have in common
        layout = layouts.get(fabric) or WiringTokens(module.file, module.body, fabric)
        layouts[fabric] = layout
        limits = (
            sound,
            plan.cluster,
            request.max_links,
            request.max_devices,
            request.check_seconds,
            bool(request.fail),
        )
        key = wiring_inputs_key(plan, layout, text.files, limits)
        return WiringInputs((text.shown, plan.name, plan.phase), layout, key, text.files)

    def find(self, inputs: WiringInputs, plan: FabricPlan, own: Diagnostics) -> Fabric | None:
        """The fabric that was wired from the same, None if there is none; what its wiring found is added to
        ``own``, in the places of now."""
        from tdsl.fabric.elaborate import number_device_sets

        name = inputs.name
        self.moves.pop(name, None)
        found = self.wired.pop(name, None)
        if found is None or found.key != inputs.key:
            return None
        self.wired[name] = found  # the latest is the last
        self.moves[name] = SpanMapper(found.layout, inputs.layout, inputs.files)
        own.extend([self.moves[name].finding(d) for d in found.findings])
        plan.evaluator.steps += found.steps
        number_device_sets(plan)
        return found.fabric

    def keep(self, inputs: WiringInputs, fabric: Fabric, findings: list[Diagnostic], steps: int) -> None:
        """Keep a fabric, unless it has places that could not be moved."""
        from tdsl.verify.runner import KnownJudgements

        layout, name = inputs.layout, inputs.name
        if not all(layout.holds(s) for s in _spans_of_fabric(fabric) if s.file is layout.file):
            return
        fabric.seal()
        self.wired[name] = Wired(
            inputs.key, layout, fabric, findings, steps, KnownJudgements(layout.can_move)
        )
        self.moves[name] = SpanMapper(layout, layout)
        while len(self.wired) > MOST_FABRICS:
            del self.wired[next(iter(self.wired))]

    def forget(self) -> None:
        """Keep no fabric."""
        self.wired.clear()
        self.moves.clear()

    def judged(self, design: Design) -> tuple[KnownJudgements | None, SpanMapper | None]:
        """What is known of a design that was wired last, and what moves places of its findings; None where it
        is not kept."""
        if design.members:
            return None, self.moves_of_cluster(design)
        name = design.file, design.name, design.phase
        made = self.wired.get(name)
        if made is None or name not in self.moves:
            return None, None
        return made.known if made.fabric is design.fabric else None, self.moves[name]

    def moves_of_cluster(self, cluster: Design) -> SpanMapper | None:
        """What moves places of findings about a cluster; None where no fabric of it is kept. They may be of
        several texts."""
        names = [(cluster.file, name, cluster.phase) for name in cluster.members]
        names += [(cluster.file, name, 0) for name in cluster.members]
        moves = [self.moves[name] for name in names if name in self.moves]
        return MovedFromSeveral(moves) if moves else None


class EditorSession(FabricSession):
    """That of an editor's process: files of the standard library are parsed again only where they changed,
    and compilations may be given up."""

    def begin(self, overlay: Mapping[str, str]) -> None:
        """A text is read next, with those of open buffers: keep no file that may have changed."""
        self.parsed = parsed_library_files(overlay)

    def end(self, overlay: Mapping[str, str]) -> None:
        """The text and what it uses were read."""
        keep_parsed_library_files(self.parsed, overlay)

    def interrupted(self) -> None:
        """Compilation was given up at any instruction: what was being made is not kept. Columns are sealed,
        and judgements are whole."""
        for made in self.wired.values():
            made.fabric = replace(made.fabric)
            made.fabric.seal()
            made.known.views.clear()


def wiring_inputs_key(
    plan: FabricPlan, layout: WiringTokens, files: Iterable[SourceFile], more: tuple[object, ...]
) -> tuple[object, ...]:
    """What the wiring of a plan reads."""
    others = tuple((f.name, f.text) for f in files if f is not layout.file)
    solved = [
        (tuple(n for _, n in sorted(found.items(), key=_finding_sort_key)))
        for found in (plan.holes, plan.tier_sizes)
    ]
    unfolded = tuple(u.text for u in plan.unfolded)
    excused = (
        tuple(sorted(plan.excused)),
        tuple(sorted(plan.absent_halls)),
        plan.broken,
        len(plan.sets),
        len(plan.wires),
    )
    return (
        layout.key,
        others,
        repr(plan.parameters),
        *solved,
        unfolded,
        excused,
        plan.phase,
        plan.needed,
        plan.layer,
        more,
    )


def _finding_sort_key(found: tuple[SourceSpan, int]) -> tuple[str, int, int]:
    return found[0].file.name, found[0].start, found[0].end


def _ranges_not_wired(body: Sequence[tree.Stmt], fabric: str) -> Iterator[tuple[int, int]]:
    """Requirements, and fabrics of other names at the top of the file."""
    from tdsl.syntax import tree

    for s in body:
        if isinstance(s, tree.Decl) and s.kind.name == "fabric" and s.name.name != fabric:
            yield s.span.start, s.span.end
        else:
            yield from _requirement_offsets(s)


def _ranges_between(left_out: Iterable[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    """What sorted ranges leave of a text."""
    at = 0
    for start, end in left_out:
        if start > at:
            yield at, start
        at = max(at, end)
    yield at, length


def _requirement_offsets(node: object) -> Iterator[tuple[int, int]]:
    """Where the requirements in a statement are."""
    from tdsl.syntax import tree

    if isinstance(node, tree.Require):
        yield node.span.start, node.span.end
    elif isinstance(node, tuple):
        for each in node:
            yield from _requirement_offsets(each)
    elif is_dataclass(node) and not isinstance(node, SourceSpan):
        for f in fields(node):
            yield from _requirement_offsets(getattr(node, f.name))


def _spans_of_fabric(fabric: Fabric) -> Iterator[SourceSpan]:
    """Places that findings about a fabric may name."""
    origins: list[Origin] = [s.origin for s in fabric.sets]
    origins += [s.origin for s in fabric.statements]
    origins += list(fabric.named_by.values())
    for origin in (*origins, fabric.origin):
        yield origin.span
        yield from (span for span, _ in origin.chain)
