"""The fabrics of a file: its own, those it takes from elsewhere and adds to, each with what is needed to plan
it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tdsl.findings.diagnostic import Diagnostics, Fix, Severity
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.cluster import Additions, ClusterMember, fabrics_of_entry
from tdsl.semantics.fault import closest_known_name, unknown_name_fault
from tdsl.semantics.growth import GrowthPhase
from tdsl.semantics.library import Library, Linked, TopLevelName
from tdsl.semantics.lost_words import model_without_word_fault, word_before_block_fault
from tdsl.semantics.openings import hole_key
from tdsl.semantics.plan import FabricPlan, Required
from tdsl.syntax import tree
from tdsl.syntax.keywords import INSTEAD_OF, SETTINGS, STARTERS
from tdsl.syntax.shape_slips import IMPORTING, finding_for_import
from tdsl.system.lazy_dataclass import dataclass

TOP = ("fabric", "cluster", "model", "topology", "use", "param", "let")
TOP_STATEMENTS = (
    tree.Use,
    tree.ModelDecl,
    tree.TopologyDecl,
    tree.JobDecl,
    tree.Def,
    tree.Let,
    tree.Param,
    tree.Extend,
    tree.Override,
    tree.Broken,
)
"""Statements at the top of a file, beside the declarations of fabrics and clusters."""


LANGUAGE = 1
"""The version of the language that this tdsl reads."""


@dataclass(frozen=True, slots=True)
class Declared:
    """One fabric of a file before it is planned: where it is declared, and what the file adds to it."""

    library: Library
    home: Linked
    member: ClusterMember
    additions: Additions

    phase: GrowthPhase | None = None
    together: frozenset[str] = frozenset()  # metrics that are judged of all fabrics of a cluster together

    def plan(
        self, max_devices: int, holes: Mapping[SourceSpan, int] | None = None, *, trial: bool = False
    ) -> FabricPlan:
        """Its plan; ``holes`` are the numbers for its unknowns. Those of a trial are no part of the plan,
        whose steps then do not count as the design's own work."""
        from tdsl.semantics.planner import FabricPlanner

        evaluator = self.library.evaluator
        evaluator.holes.update({hole_key(span): value for span, value in (holes or {}).items()})
        steps = evaluator.steps
        self.library.settings.phase = self.phase.values if self.phase is not None else {}
        plan = FabricPlanner(self.library, self.member.home, self.member.node, max_devices).run(
            self.additions
        )
        plan.cluster = self.member.cluster
        if plan.cluster:
            self._mark_what_cluster_lends(plan)
        if self.phase is not None:
            plan.phase, plan.needed = self.phase.number, self.phase.needed
        plan.parameters = {**self.home.parameters, **plan.parameters}
        plan.declared |= self.home.declared
        plan.holes = {} if trial else dict(holes or {})
        evaluator.steps = steps if trial else evaluator.steps
        return plan

    def _mark_what_cluster_lends(self, plan: FabricPlan) -> None:
        """Tell what the cluster's block declares from what this fabric does: requirements, an automatic
        placing, and sets of devices, of which only those of the fabric have its name before theirs."""
        plan.around = Origin(self.member.title or plan.origin.span)
        plan.member = self.member.number
        self._lend_requirements(plan)
        if plan.auto is not None and self.member.lends(plan.auto.origin.span):
            plan.auto, plan.auto_of_cluster = None, plan.auto
        for s in (*plan.sets, *plan.insides.values()):
            s.prefix = "" if self.member.lends(s.origin.span) else plan.name

    def _lend_requirements(self, plan: FabricPlan) -> None:
        """Take the requirements of the cluster's block that are about all its fabrics out of those of this
        one."""
        own: list[Required] = []
        for required in plan.requires:
            claims = required.node.claims
            of_cluster = self.member.lends(required.node.span)
            lent = tuple(c for c in claims if c.metric.name in self.together) if of_cluster else ()
            kept = tuple(c for c in claims if c not in lent)
            if kept:
                own.append(replace(required, node=replace(required.node, claims=kept), lent=of_cluster))
            plan.of_cluster += [replace(required, node=replace(required.node, claims=lent))] if lent else []
        plan.requires = own


def declared_fabrics(library: Library, home: Linked, diagnostics: Diagnostics) -> Iterator[Declared]:
    """The fabrics of a file in order, members of a cluster each by itself."""
    entries: dict[str, TopLevelName] = {}
    additions: dict[str, list[tuple[Linked, tree.Extend | tree.Override]]] = {}
    for name, entry in home.names.items():
        if isinstance(entry.node, tree.Decl):
            entries[name] = entry
    for s in home.module.body:
        if isinstance(s, (tree.Extend, tree.Override)):
            found = _fabric_added_to(home, s, diagnostics)
            if found is not None:
                entries.setdefault(found[0], found[1])
                additions.setdefault(found[0], [*found[1].additions]).append((home, s))
    if not entries:
        for name, entry in home.used.items():
            if isinstance(entry.node, tree.Decl):
                entries[name] = entry
    _report_stray_statements(home, diagnostics)
    if not entries and not diagnostics.has_errors:
        _report_no_fabric(home, diagnostics)
    for name, entry in entries.items():
        for member, added in fabrics_of_entry(entry, diagnostics, additions.get(name, entry.additions)):
            yield Declared(library, home, member, added)


def _fabric_added_to(
    home: Linked, s: tree.Extend | tree.Override, diagnostics: Diagnostics
) -> tuple[str, TopLevelName] | None:
    """The fabric that an ``extend`` or ``override`` at the top of a file adds to, with its name; None, with a
    finding, where it names none."""
    head = s.path.parts[0]
    assert isinstance(head, tree.Identifier)
    found = home.names.get(head.name) or home.used.get(head.name)
    if found is None or not isinstance(found.node, tree.Decl):
        if not home.scope.is_excused(head.name):
            names = (*home.names.items(), *home.used.items())
            known = [n for n, e in names if isinstance(e.node, tree.Decl)]
            unknown_name_fault("E0101", head.span, "fabric or cluster", head.name, known).report(diagnostics)
        return None
    return head.name, found


def _report_no_fabric(home: Linked, diagnostics: Diagnostics) -> None:
    """Say that a file has nothing to check: an error, but for a file that lends something to others."""
    lends = any(
        isinstance(e.node, tree.ModelDecl | tree.TopologyDecl | tree.JobDecl | tree.Def)
        for e in home.names.values()
    )
    diagnostics.add(
        "E0122",
        _first_line(home),
        "this file declares no fabric, so there is nothing to "
        + ("prove; what others use of it was checked" if lends else "check"),
        help="`tdsl init` writes a design to start from; `use FILE (FABRIC)` takes one from another file",
        severity=Severity.NOTE if lends else Severity.ERROR,
    )


def fabrics_around_places(home: Linked | None, spans: Iterable[SourceSpan | None]) -> list[frozenset[str]]:
    """For each place the names of the fabrics of the file in whose text it lies; none outside of all."""
    found = [
        d
        for entry in (home.names.values() if home is not None else ())
        if isinstance(entry.node, tree.Decl)
        for d in _fabrics_of_declaration(entry.node)
    ]
    return [
        frozenset(
            d.name.name
            for d in found
            if span is not None
            and d.span.file is span.file
            and d.span.start <= span.start
            and span.end <= d.span.end
        )
        for span in spans
    ]


def _fabrics_of_declaration(node: tree.Decl) -> list[tree.Decl]:
    """A fabric, or those of a cluster."""
    if node.kind.name != "cluster":
        return [node]
    return [s for s in node.body or () if isinstance(s, tree.Decl) and s.kind.name == "fabric"]


def _first_line(home: Linked) -> SourceSpan:
    file = home.module.file
    start = len(file.text) - len(file.text.lstrip())
    end = file.text.find("\n", start)
    return SourceSpan(file, start, end if end > start else len(file.text))


def _check_language_version(s: tree.Setting, diagnostics: Diagnostics) -> None:
    """``language 1``: the version of the language that a file is written in."""
    number = s.items[0].value if len(s.items) == 1 and not s.items[0].args and s.body is None else None
    if not isinstance(number, tree.Number) or number.value != LANGUAGE:
        diagnostics.add(
            "E0120",
            s.span,
            f"this tdsl reads version {LANGUAGE} of the language",
            help=f"write `language {LANGUAGE}`",
        )


def _report_stray_statements(home: Linked, diagnostics: Diagnostics) -> None:
    """Statements at the top of a file that belong into a fabric: one finding for all of them, at the
    first."""
    strays = [x for s in home.module.body if (x := _stray_statement(s, diagnostics)) is not None]
    for s in home.module.body:
        if isinstance(s, tree.Setting) or (isinstance(s, tree.Decl) and not _declares_fabric(s)):
            # what they would have declared is not known
            home.scope.excused.update(re.findall(r"\w+", s.span.text[:80].partition("{")[0]))
    if not strays:
        return
    blocks = [s for s in home.module.body if isinstance(s, tree.Decl) and _declares_fabric(s)]
    unopened = [s.span for s in blocks if s.body is None]
    if len(unopened) == 1 and unopened[0].end < strays[0][1].start:
        _report_missing_brace(unopened[0], strays[0][0], diagnostics)
    else:
        _report_statements_outside_fabrics(strays, diagnostics)


def _declares_fabric(s: tree.Decl) -> bool:
    """Whether a declaration is one of a fabric or a cluster."""
    return s.kind.name in ("fabric", "cluster")


def _stray_statement(s: tree.Stmt, diagnostics: Diagnostics) -> tuple[str, SourceSpan] | None:
    """The first word and the place of a statement that belongs into a fabric; None for one that may be at the
    top of a file, and for one that gets a finding of its own."""
    if isinstance(s, TOP_STATEMENTS):
        return None
    lost = model_without_word_fault(s)
    if lost is None and isinstance(s, tree.Setting) and s.name.name not in TOP:
        lost = word_before_block_fault(s, inside=False)
    if lost is not None:
        lost.report(diagnostics)
        return None
    if isinstance(s, tree.Setting):
        return _stray_setting(s, diagnostics)
    if isinstance(s, tree.Decl):
        return None if _declares_fabric(s) else (s.kind.name, s.span)
    return s.span.text.split()[0], s.span


def _stray_setting(s: tree.Setting, diagnostics: Diagnostics) -> tuple[str, SourceSpan] | None:
    """The same of a setting, which ``language`` is, and also a misspelt statement."""
    name = s.name.name
    if name == "language":
        _check_language_version(s, diagnostics)
        return None
    if name in TOP:
        diagnostics.add(
            "E0001",
            s.span,
            f"`{name}` is not followed by a name: a name begins with a letter or `_`",
            help=f"write `{name} pod {{`",
        )
        return None
    imported = finding_for_import(s.span) if name in IMPORTING else None
    if imported is not None:
        diagnostics.items.append(imported)
        return None
    meant = INSTEAD_OF.get(name.lower(), "")
    near = meant or (closest_known_name(name, STARTERS) if len(name) >= 3 and name not in SETTINGS else "")
    if near not in TOP:
        return name, s.span
    diagnostics.add(
        "E0002",
        s.name.span,
        f"no statement begins with `{name}`; did you mean `{near}`?",
        help=f"write `{near}`",
        fix=Fix(f"write `{near}`", ((s.name.span, near),), safe=False),
    )
    return None


def _report_missing_brace(head: SourceSpan, first: str, diagnostics: Diagnostics) -> None:
    """Say that the head of a fabric lacks its ``{``, in place of the finding of the ``}`` that closes
    nothing. ``first`` is the first word behind it."""
    end = head.start + len(head.text.rstrip())
    lost = [d for d in diagnostics if d.code == "E0005" and d.span is not None and d.span.file is head.file]
    diagnostics.items = [d for d in diagnostics if d not in lost[:1]]
    diagnostics.add(
        "E0118",
        head,
        f"a `{{` is missing: `{first}` and what follows are not in its block",
        help=f"write `{head.text.strip()} {{`" + ("" if lost else ", and `}` at its end"),
        fix=Fix("put `{`", ((SourceSpan(head.file, end, end), " {"),)) if lost else None,
    )


def _report_statements_outside_fabrics(
    strays: list[tuple[str, SourceSpan]], diagnostics: Diagnostics
) -> None:
    name, span = strays[0]
    more = len(strays) - 1
    closed = any(d.code == "E0005" and d.span is not None and d.span.file is span.file for d in diagnostics)
    heads = re.search(r"^\s*(?:fabric|cluster|extend|topology)\b", span.file.text, re.MULTILINE)
    what = f"`{name}` is" if not more else f"`{name}` and {more} more statement{'s' if more > 1 else ''} are"
    diagnostics.add(
        "E0118",
        span,
        f"{what} outside any fabric",
        help="put it between the braces of `fabric NAME { … }`"
        if not closed
        else "a `}` before it closes the fabric too early: remove that one"
        if heads is not None
        else "write `fabric NAME {` before it",
    )
