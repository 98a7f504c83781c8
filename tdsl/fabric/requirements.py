"""Requirements with their paths resolved to devices and their values computed.

A requirement in a group's block gives one claim for each instance of the group, whose paths mean that
instance. The columns of all instances are resolved at once, and each claim has the rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import (
    Resolver,
    instance_rows,
    note_unread_variables,
    variable_assignments,
    warn_of_unread_variables,
)
from tdsl.fabric.risks import RiskGroup, is_risk_path, risk_selector
from tdsl.fabric.vector import Array
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.evaluate import NUMERALS, Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, DeviceSet, PathComponent, indices_at_position
from tdsl.semantics.paths import resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Required, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import integer_if_whole
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.job_ranks import RankedJob

FAILING = ("bundles", "cables", "cages", "links", "ports")
"""What `any K …` may fail beside devices and groups."""

NO_JOBS: Mapping[str, RankedJob] = {}

OfInstance = Callable[[int], Selector]
"""What a path means in the instance of a number, in the order of the indices of the groups around."""


NO_METRICS = frozenset(
    {"number", "count", "amount", "total", "no", "the", "maximum", "minimum", "max", "min"}
)
"""Words of English that begin a requirement and are no metric: what follows them is no path."""


def resolve_claims(
    plan: FabricPlan,
    fabric: Fabric,
    diagnostics: Diagnostics,
    absent: dict[SourceSpan, Diagnostic] | None = None,
    jobs: Mapping[str, RankedJob] = NO_JOBS,
) -> list[ResolvedClaim]:
    """All claims of a plan, in order; a claim in a group's block once for each instance of the group. A path
    that names nothing is a finding; where ``absent`` is given, it goes there instead, by its place, and the
    path has no elements: another fabric of a cluster may have what it names. Without it a claim of the
    cluster's block of which this fabric does not have all is left out: it is another's, or of all of them.
    ``jobs`` are those that a claim may be about."""
    out: list[ResolvedClaim] = []
    for required in plan.requires:
        missing: dict[SourceSpan, Diagnostic] | None = absent
        if missing is None and required.lent:
            missing = {}
        block = _Block(plan, fabric, required, missing, jobs)
        for claim in required.node.claims:
            try:
                found = block.claims(claim)
            except Fault as fault:
                if claim.metric.name in NO_METRICS:
                    out.append(block.without_paths(claim))  # judged as a metric that nobody knows
                else:
                    fault.report(diagnostics)
            except Excused:
                pass
            else:
                if absent is None and _names_any_of(claim, missing or ()):
                    plan.left_out.add((claim.span.start, claim.span.end))
                else:
                    out += found
    warn_of_unread_variables(plan, diagnostics)
    return out


def selectors_of_instances(
    plan: FabricPlan, fabric: Fabric, required: Required, paths: Sequence[tree.PathExpr]
) -> list[tuple[FabricElement | None, list[Selector]]]:
    """What paths mean in each instance of the block in which they are written, with that instance (None for
    the fabric itself). Raises Fault where a path names nothing."""
    block = _Block(plan, fabric, required)
    found = [block.selector(p) for p in paths]
    return [(scope, [of(k) for of in found]) for k, scope in enumerate(block.scopes)]


def _names_any_of(claim: tree.Claim, spans: Iterable[SourceSpan]) -> bool:
    """Whether a path of a claim stands at one of these places."""
    return any(claim.span.start <= s.start and s.end <= claim.span.end for s in spans)


def lent_claims_at(plan: FabricPlan, spans: Collection[tuple[int, int]]) -> list[Required]:
    """The claims of the cluster's block at these places (begin and end)."""
    out = []
    for required in plan.requires:
        claims = tuple(
            c for c in required.node.claims if required.lent and (c.span.start, c.span.end) in spans
        )
        if claims:
            out.append(replace(required, node=replace(required.node, claims=claims)))
    return out


@dataclass(eq=False)
class _Block:
    """The block in which a requirement stands: the fabric's, or that of a group with its instances."""

    plan: FabricPlan
    fabric: Fabric
    required: Required
    absent: dict[SourceSpan, Diagnostic] | None = None
    jobs: Mapping[str, RankedJob] = field(default_factory=dict)

    @cached_property
    def count(self) -> int:
        """Instances of the block."""
        return int(np.prod([a.size for a in self.required.context.axes] or [1]))

    def indices(self, depth: int) -> list[Array]:
        """The indices of the outermost groups around, each a column with a row an instance of them; no column
        where they have none."""
        axes = tuple(a for p in self.required.context.parts[:depth] for a in p.axes)
        if not axes:
            return []
        grid = np.indices([a.size for a in axes], dtype=np.int64).reshape(len(axes), -1)
        return [grid[i] + a.low for i, a in enumerate(axes)]

    @cached_property
    def scopes(self) -> Sequence[FabricElement | None]:
        """The instances as elements; None for the fabric itself."""
        context = self.required.context
        if len(context.groups) == 1:
            return [None]
        sets = list(context.group.sets())
        rows = rows_of_instances(self.indices(len(context.parts)), self.count, sets)
        return [FabricElement(_instance_name(context.parts, at), mine) for at, mine in enumerate(rows)]

    # ------------------------------------------------------------ claims
    def claims(self, claim: tree.Claim) -> list[ResolvedClaim]:
        """A claim for each instance."""
        one = self.without_paths(claim)
        job = self.job_named(claim)
        if job is not None:
            return [replace(one, job=job)]
        given = self.claims(claim.given) if claim.given else None
        of, of_to, at = ([self.selector(p) for p in paths] for paths in (claim.of, claim.of_to, claim.at))
        if not (of or of_to or at or given):
            return [replace(one, scope=scope) for scope in self.scopes]
        return [
            replace(
                one,
                scope=scope,
                of=tuple(s(k) for s in of),
                of_to=tuple(s(k) for s in of_to),
                at=tuple(s(k) for s in at),
                given=replace(given[k], scope=None) if given else None,
            )
            for k, scope in enumerate(self.scopes)
        ]

    def job_named(self, claim: tree.Claim) -> RankedJob | None:
        """The job that a claim is of, None where it is of devices. Raises Excused for one that has a finding,
        Fault for a figure of a job that names none."""
        name = claim.of[0].bare if len(claim.of) == 1 and not claim.of_to and not claim.of_all else None
        if name is not None and name in self.jobs:
            return self.jobs[name]
        if name in self.plan.names_of_jobs:
            raise Excused
        near = next((job for job in self.jobs if name is not None and job.lower() == name.lower()), "")
        if near and name not in self.plan.root.members:
            span = claim.of[0].span
            fix = Fix(f"write `{near}`", ((span, near),), safe=False)
            message = f"there is no job `{name}` here"
            raise Fault("E0101", span, message, help=f"did you mean `{near}`?", fix=fix)
        return None

    def without_paths(self, claim: tree.Claim) -> ResolvedClaim:
        """What a claim says beside its paths and the claim that follows `with`."""
        scope, evaluator = self.required.scope, self.plan.evaluator
        count = _failure_count(claim, evaluator, scope)
        value = evaluator.evaluate(claim.value, scope) if claim.value is not None else None
        any_of = _what_fails(claim)
        under, through = (m.name if m else "" for m in (claim.under, claim.through))
        args = tuple(evaluator.evaluate(a, scope, words=True) for a in claim.args)
        return ResolvedClaim(
            claim.metric.name, args, count, any_of, (), (), (), under, through, claim.op or "", value,
            claim.of_intact, None, self.required.node.report, None, " ".join(claim.span.text.split()),
            Origin(claim.span, self.required.origin.chain), claim.of_active, claim.share_of, claim.of_all,
            claim.among, over=_count_after_over(claim, evaluator, scope),
        )  # fmt: skip

    # ------------------------------------------------------------ paths
    def selector(self, path: tree.PathExpr) -> OfInstance:
        """What a path means in each instance; no elements where another fabric may have what it names."""
        try:
            return self.resolved_path(path)
        except Fault as fault:
            if self.absent is None or not _is_absent(fault.diagnostic.code, path):
                raise
            self.absent[path.span] = fault.diagnostic
            return _same_for_all(Selector(" ".join(path.span.text.split()), "", ()))

    def resolved_path(self, path: tree.PathExpr) -> OfInstance:
        """What a path means in each instance. What is declared outside of a group is the same in all of its
        instances."""
        context = self.required.context
        if is_risk_path(path, context):
            return _same_for_all(risk_selector(self.fabric, path))
        if path.bare == "ports" and not any("ports" in g.members for g in context.groups):
            return _same_for_all(Selector("ports", "ports", ()))
        try:
            target = resolve_path(self.plan, context, path)
        except Fault:
            if path.bare == "network":  # all switches, optical switches and panels, with what is in them
                return _same_for_all(Selector("network", "network", ()))
            whole_tier = self.tier(path)
            if whole_tier is None:
                raise
            return whole_tier
        depth = next(
            d for d in range(len(context.parts) + 1) if _count_axes(context.parts[:d]) == target.shared
        )
        outer = Context(context.groups[: depth + 1], context.parts[:depth])
        over = variable_assignments(
            outer, (target,), None, self.required.scope, self.plan.evaluator, path.span
        )
        note_unread_variables(self.plan, over, path.span)
        resolver = Resolver(self.required.scope, self.plan.evaluator, over)
        instances = _instances_of_axes(outer.axes)
        found = resolver.rows(target)
        rows = (
            [distinct_values(r[r >= 0]) for r in found.reshape(instances, -1)]
            if over.count
            else [found[:0].ravel()] * instances
        )
        selectors = self.selectors(" ".join(path.span.text.split()), target, resolver, rows)
        return _in_instances(selectors, self.count // max(instances, 1))

    def selectors(
        self, text: str, target: ResolvedPath, resolver: Resolver, rows: list[Array]
    ) -> list[Selector]:
        """What a path names in each instance, whose devices ``rows`` has: groups, devices or ports."""
        if target.device is None:
            group = target.group.kind if target.group else ""
            return [Selector(text, group, tuple(e)) for e in _group_elements(target, rows)]
        kind, device = target.device.kind, target.device
        if target.ports is None:
            return [Selector(text, kind, _device_elements(device, r), target.port_class) for r in rows]
        parts = device.model.parts(target.port_class)
        local = resolver.choice(target).local
        places = (
            [np.arange(sum(c.size for c in parts))] * len(rows)
            if local is None
            else [distinct_values(x) for x in local.reshape(len(rows), -1)]
        )
        first = self.fabric.port_base
        return [
            Selector(
                text,
                kind,
                _device_elements(device, r),
                target.port_class,
                (first[r][:, None] + parts[0].first + x).ravel(),
            )
            for r, x in zip(rows, places, strict=True)
        ]

    def tier(self, path: tree.PathExpr) -> OfInstance | None:
        """A bare name that stands for all device sets of that name, whichever group they are in: ``at leaf``.
        Of those in the innermost group around that has some, each instance means its own."""
        if path.bare is None:
            return None
        named = [s for s in self.fabric.sets if s.name == path.bare]
        parts = self.required.context.parts
        for depth in range(len(parts), -1, -1):
            sets = [s for s in named if _is_inside(s, parts[:depth])]
            if not sets:
                continue
            instances = _instances_of_axes([a for p in parts[:depth] for a in p.axes])
            rows = rows_of_instances(self.indices(depth), instances, sets)
            owner = self.fabric.device_set
            found = [
                tuple(_device_element(self.fabric.sets[owner[r]], r) for r in mine.tolist()) for mine in rows
            ]
            return _in_instances(
                [Selector(path.bare, sets[0].kind, e) for e in found], self.count // instances
            )
        return None


def _count_after_over(claim: tree.Claim, evaluator: Evaluator, scope: Scope) -> int | None:
    """The number of `over 15T tokens`, None without it. Raises Fault."""
    if claim.over is None:
        return None
    from tdsl.semantics.jobs import count_of_expression

    count, word = claim.over
    if word is not None and word.name != "tokens":
        fix = Fix("write `tokens`", ((word.span, "tokens"),))
        help = f"write `over {count.span.text} tokens`"
        raise Fault("E0120", word.span, f"`over` counts tokens, and not `{word.name}`", help=help, fix=fix)
    return count_of_expression(count, evaluator, scope)


def _instances_of_axes(axes: Sequence[Axis]) -> int:
    """How many instances groups with these axes have."""
    return int(np.prod([a.size for a in axes] or [1]))


def _is_inside(s: DeviceSet, groups: Sequence[PathComponent]) -> bool:
    """Whether a device set is declared in these groups, or in groups inside them."""
    depth = len(groups)
    return len(s.parts) > depth and [p.name for p in s.parts[:depth]] == [p.name for p in groups]


def _failure_count(claim: tree.Claim, evaluator: Evaluator, scope: Scope) -> int | None:
    """The number of failures of ``any K``, None without it. Raises Fault."""
    if claim.any_count is None:
        return None
    words = claim.any_count
    number = NUMERALS.get(words.bare.lower()) if isinstance(words, tree.PathExpr) and words.bare else None
    if number is not None and scope.find(str(words.span.text), words.span) is None:
        new = str(number)
        fix = Fix(f"write `{new}`", ((words.span, new),))
        raise Fault(
            "E0101", words.span, f"`{words.span.text}` is not a number", help=f"write `{new}`", fix=fix
        )
    if isinstance(words, tree.PathExpr) and words.bare and scope.find(words.bare, words.span) is None:
        raise _fault_of_count_left_out(words.span, words.bare)
    count = integer_if_whole(evaluator.evaluate(claim.any_count, scope))
    if isinstance(count, bool) or not isinstance(count, int):
        raise Fault("E0103", claim.any_count.span, "the number of failures must be a whole number")
    return count


def _fault_of_count_left_out(span: SourceSpan, word: str) -> Fault:
    """The fault of ``survives any spine``, ``survives any link`` and ``survives 1 any of spine``."""
    before = re.compile(r"(?<!\d)(\d+)\s+any\s+$").search(span.file.text, 0, span.start)
    if before is not None:
        whole = SourceSpan(span.file, before.start(), span.start)
        new = f"any {before[1]} "
        fix = Fix(f"write `{new}`", ((whole, new),), safe=False)
        message = f"the number follows `any`, found `{whole.text.strip()}`"
        return Fault("E0101", whole, message, help=f"write `any {before[1]} of`", fix=fix)
    many = f"{word.removesuffix('s')}s"
    new = f"any 1 of {word}"
    if word == "of" or many in FAILING:
        new = f"any 1 {many if many in FAILING else 'of'}"
    return Fault(
        "E0101",
        span,
        f"`any` is followed by how many fail, and `{word}` is not a number",
        help=f"write `{new}`",
        fix=Fix(f"write `{new}`", ((span, new.removeprefix("any ")),), safe=False),
    )


def _what_fails(claim: tree.Claim) -> str:
    """What ``any K`` counts, "" where it is not said. Raises Fault."""
    if claim.any_of is None:
        return ""
    name = claim.any_of.name
    if name not in FAILING:
        known = ", ".join(FAILING)
        message = f"`any K {name}` fails nothing that tdsl knows"
        number = claim.any_count.span.text if claim.any_count is not None else "1"
        if name.rstrip("s") in ("feed", "pdu", "tray"):
            new = f"of risk.{'trays' if name.startswith('tray') else 'feeds'}"
            fix = Fix(f"write `{new}`", ((claim.any_of.span, new),), safe=False)
            raise Fault("E0492", claim.any_of.span, message, help=f"write `any {number} {new}`", fix=fix)
        if f"{name}s" in FAILING:
            fix = Fix(f"write `{name}s`", ((claim.any_of.span, f"{name}s"),))
            raise Fault(
                "E0492", claim.any_of.span, message, help=f"write `any {number} {name}s of …`", fix=fix
            )
        raise Fault(
            "E0492",
            claim.any_of.span,
            message,
            help=f"write `any {number} of {name}` for devices; or one of {known}",
            fix=Fix(f"write `of {name}`", ((claim.any_of.span, f"of {name}"),), safe=False),
        )
    return name


def _is_absent(code: str, path: tree.PathExpr) -> bool:
    """Whether a finding says that a fabric has nothing of what a path names. Of a range or list of indices it
    may have a part."""
    several = any(
        isinstance(e, (tree.Range, tree.ListExpr))
        for p in path.parts
        if isinstance(p, tree.IndexPart)
        for e in p.entries
    )
    return code == "E0101" or (code == "E0108" and not several)


def rows_of_instances(indices: list[Array], count: int, sets: Sequence[DeviceSet]) -> list[Ints]:
    """The device rows that each of ``count`` instances has of some sets, whose leading axes have these
    ``indices``. A set that only some instances have, or of which they have unequal numbers, gives each what
    it has."""
    out = []
    for s in sets:
        first, inside = instance_rows(s, indices)
        inner = int(np.prod([a.size for a in s.axes[len(indices) :]] or [1]))
        rows = first[:, None] + np.arange(inner, dtype=np.int64)
        out.append(np.where(inside[:, None], rows, -1))
    if not out:
        return [np.zeros(0, dtype=np.int64)] * count
    return [r[r >= 0] for r in np.concatenate(out, axis=1)]


def _count_axes(parts: Sequence[PathComponent]) -> int:
    return sum(len(p.axes) for p in parts)


def _same_for_all(selector: Selector) -> OfInstance:
    return lambda at: selector


def _in_instances(selectors: list[Selector], repeat: int) -> OfInstance:
    """A selector for each instance of an outer group, of which each has so many instances of the block."""
    return lambda at: selectors[at // repeat]


def _instance_name(parts: Sequence[PathComponent], at: int) -> str:
    """The path of an instance of the innermost of these groups, by its row-major number."""
    indices = iter(indices_at_position(at, tuple(a for p in parts for a in p.axes)))
    names = []
    for part in parts:
        here = [str(next(indices)) for _ in part.axes]
        names.append(f"{part.name}[{', '.join(here)}]" if here else part.name)
    return ".".join(names)


def _device_element(s: DeviceSet, row: int) -> FabricElement:
    return FabricElement(s.device_path(row - s.first), np.array([row], dtype=np.int64))


def _device_elements(s: DeviceSet, rows: Ints) -> tuple[FabricElement, ...]:
    return tuple(_device_element(s, row) for row in rows.tolist())


def _group_elements(target: ResolvedPath, rows: list[Ints]) -> list[list[FabricElement]]:
    """Of each list of rows one element for each instance of a group that a path names."""
    assert target.group is not None
    sets = sorted(target.group.sets(), key=lambda s: s.first)
    depth = len(target.group_parts)
    out = []
    for mine in rows:
        found: dict[str, list[int]] = {}
        cuts = np.searchsorted(mine, [s.first for s in sets] + [s.first + s.count for s in sets[-1:]])
        for s, (low, high) in zip(sets, pairwise(cuts.tolist()), strict=True):
            inner = int(np.prod([a.size for p in s.parts[depth:] for a in p.axes] or [1]))
            for row in mine[low:high].tolist():
                name = _instance_name(s.parts[:depth], (row - s.first) // inner)
                found.setdefault(name, []).append(row)
        out.append(
            [FabricElement(name, np.array(members, dtype=np.int64)) for name, members in found.items()]
        )
    return out


def resolve_risk_groups(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> tuple[RiskGroup, ...]:
    """The groups of devices that a plan says fail together, one for each instance of the block in which one
    is stated; a path that names nothing is a finding."""
    out: list[RiskGroup] = []
    for stated in plan.risks:
        asked = tree.Require(True, (), stated.origin.span)
        required = Required(asked, stated.scope, stated.context, stated.origin)
        try:
            for scope, selectors in selectors_of_instances(plan, fabric, required, stated.members):
                path = stated.name if scope is None else f"{scope.name}.{stated.name}"
                _refuse_ports_as_members(selectors, stated.origin)
                rows = [e.devices for s in selectors for e in s.elements]
                devices = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
                out.append(RiskGroup(stated.name, path, devices, stated.rate, stated.origin))
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    return tuple(out)


def _refuse_ports_as_members(selectors: Iterable[Selector], origin: Origin) -> None:
    """Refuse a path to ports as a member of a risk group."""
    ports = [s.text for s in selectors if s.ports]
    if ports:
        message = f"members of a risk group are devices and groups, and `{ports[0]}` names ports"
        raise Fault("E0120", origin, message, help="name the devices")
