"""Paths to device rows: index variables, their assignments, and the population a path means for each of
them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.vector import (
    SAFE,
    Array,
    Assignments,
    guard_values,
    integers_of_expression,
    largest_magnitude,
)
from tdsl.findings.diagnostic import Diagnostics, Fix, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.model import Axis, DeviceSet
from tdsl.semantics.plan import Context, FabricPlan, IndexEntry, ResolvedPath
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import number_in_message
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.system.similar import closest_name

ASSIGNMENT_LIMIT = 1 << 26
ENDS = ("first", "last")
"""Words that people write for the index of a member at an end."""


@dataclass(frozen=True, slots=True)
class PortChoice:
    """Which ports of a device an end may take: of class ``name`` ("" for the first), all of it if ``local``
    is None, else those row-major places; ``exact`` if it is one written port. ``local`` has a row an
    assignment."""

    name: str
    local: Array | None
    exact: bool
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class StatementSide:
    """One side of a statement: device rows, a row an assignment; the port choice of each column; the shape of
    its ``*``."""

    rows: Array
    choices: tuple[PortChoice, ...]
    column_choice: Array
    shape: tuple[int, ...]
    populous: bool
    span: SourceSpan

    @property
    def size(self) -> int:
        """Devices in one application."""
        return int(self.rows.shape[1])


def bare_variable(e: tree.Expr | None, scope: Scope) -> tree.Identifier | None:
    """The index variable an entry is, if it is one. A bare param or let is a fault, so that adding one
    changes no connect."""
    if not isinstance(e, tree.PathExpr) or e.bare is None:
        return None
    binding = scope.find(e.bare, e.span)
    if binding is None:
        head = e.parts[0]
        assert isinstance(head, tree.Identifier)
        return head
    if binding.what in ("param", "let", "def", "use"):
        raise Fault(
            "E0106",
            e.span,
            f"`{e.bare}` is a {binding.what} here, and would be an index variable without it",
            labels=[(binding.span, "defined here")],
            help=f"write `[({e.bare})]` for its value, or rename the variable",
        )
    return None


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A place where an index variable has another extent than before."""

    name: str
    first: Axis
    other: Axis
    at: SourceSpan
    before: SourceSpan

    def fault(self, narrowed: bool) -> Fault:
        """E0107; ``narrowed``: a guard leaves values that are not in both extents."""
        name, old = self.name, self.first
        if name in ENDS:
            return self._word_for_an_end_fault()
        if name == "all":
            return Fault(
                "E0107",
                self.at,
                "`all` in brackets is an index variable like any other name; `*` means all members",
                labels=[(self.before, "and here")],
                help="write `[*]`",
                fix=Fix("write `*`", ((self.at, "*"), (self.before, "*")), safe=False),
            )
        low, high = max(old.low, self.other.low), min(old.high, self.other.high)
        only = (
            f"`where {name} <= {high}`"
            if low == min(old.low, self.other.low)
            else f"`where {low} <= {name} <= {high}`"
        )
        return Fault(
            "E0107",
            self.at,
            f"`{name}` runs over {self.other.low}..{self.other.high} here and over {old.low}..{old.high} "
            "before",
            labels=[(self.before, f"here it is {old.low}..{old.high}")],
            notes=["the guard leaves values that are not in both"] if narrowed else [],
            help=f"write {only} if only those in both are meant, `[({name})]` in one of the places, or "
            "use two variables",
        )

    def _word_for_an_end_fault(self) -> Fault:
        """The fault of ``su[last].node[last]``, where ``last`` is an index variable like any other name."""
        one, other = (str(a.high if self.name == "last" else a.low) for a in (self.first, self.other))
        message = (
            f"`{self.name}` is an index variable here, and no word for an end; that is {one} and {other}"
        )
        edits = (self.before, one), (self.at, other)
        help = f"write `{one}` and `{other}`"
        return Fault("E0107", self.before, message, help=help, fix=Fix(help, edits, safe=False))


def index_variable_axes(
    targets: Iterable[ResolvedPath], scope: Scope, mismatches: list[Mismatch]
) -> tuple[dict[str, Axis], dict[str, SourceSpan]]:
    """Index variables in the order they first stand bare, with their extents. Where those differ, the extent
    is one that holds both, and the place is added to ``mismatches``: a guard may leave what is in both."""
    axes: dict[str, Axis] = {}
    firsts: dict[str, Axis] = {}
    spans: dict[str, SourceSpan] = {}
    for target in targets:
        for entry in (*target.entries, *(target.ports or ())):
            name = bare_variable(entry.expr, scope)
            if name is None:
                continue
            old = firsts.setdefault(name.name, entry.axis)
            known = axes.setdefault(name.name, entry.axis)
            spans.setdefault(name.name, name.span)
            if (old.low, old.size) != (entry.axis.low, entry.axis.size):
                mismatches.append(Mismatch(name.name, old, entry.axis, name.span, spans[name.name]))
                low, high = min(known.low, entry.axis.low), max(known.high, entry.axis.high)
                axes[name.name] = Axis(low, high - low + 1)
    return axes, spans


def variable_assignments(
    context: Context,
    targets: Iterable[ResolvedPath],
    guard: tree.Expr | None,
    scope: Scope,
    evaluator: Evaluator,
    at: SourceSpan,
) -> Assignments:
    """All assignments: the statement's groups first, then its variables in order, for which the guard
    holds."""
    mismatches: list[Mismatch] = []
    axes, spans = index_variable_axes(targets, scope, mismatches)
    if mismatches and guard is None:
        raise mismatches[0].fault(narrowed=False)
    every = {f"${i}": a for i, a in enumerate(context.axes)} | axes
    sizes = [a.size for a in every.values()]
    count = prod(sizes)
    if count > ASSIGNMENT_LIMIT:
        raise Fault(
            "E0116",
            at,
            f"this has {number_in_message(count)} assignments of its index variables; the limit is "
            f"{ASSIGNMENT_LIMIT:,}",
            help="let an index be computed from the others instead of running over all",
        )
    grid = (
        np.indices(sizes, dtype=np.int64).reshape(len(sizes), count)
        if sizes
        else np.zeros((0, 1), dtype=np.int64)
    )
    over = Assignments({k: grid[i] + a.low for i, (k, a) in enumerate(every.items())}, count, spans)
    if guard is not None:
        over = over.pick(guard_values(guard, scope, evaluator, over))
    for m in mismatches:
        values = over.values[m.name]
        if any(((values < axis.low) | (values > axis.high)).any() for axis in (m.first, m.other)):
            raise m.fault(narrowed=True)
    return over


def note_unread_variables(plan: FabricPlan, over: Assignments, statement: SourceSpan) -> None:
    """Note in ``plan.unread`` each index variable of more than one letter that its statement names once: it
    takes all members, as ``*`` does, and may be a misspelt value."""
    text = statement.text
    for name, span in over.spans.items():
        if len(name) > 1 and len(re.findall(rf"\b{name}\b", text)) == 1:
            plan.unread[span] = np.unique(over.values[name]).tolist()


def warn_of_unread_variables(plan: FabricPlan, diagnostics: Diagnostics) -> None:
    """Warn of the noted variables, each once."""
    bound = tuple(plan.root.scope.visible())
    for span, values in plan.unread.items():
        name, number = span.text, counted_noun(len(values), "value")
        near, all_of_them = closest_name(name, bound, 0.6), "`*` if all are meant"
        new = str(values[-1 if name == "last" else 0]) if values and name in ENDS else "" if near else "*"
        if name in ENDS:
            help = f"write `{new}` for the {name}, or {all_of_them}"
        else:
            help = f"did you mean `({near})`? Write {all_of_them}" if near else f"write {all_of_them}"
        diagnostics.add(
            "E0133",
            span,
            f"`{name}` is an index variable that the statement does not use: it takes all {number}",
            help=help,
            fix=Fix(f"write `{new}`", ((span, new),), safe=False) if new else None,
            severity=Severity.WARNING,
        )
    plan.unread.clear()


def _range_within(low: int, high: int, axis: Axis) -> str:
    """The range that was meant by one that is not within an axis: counted from another first number, or too
    long."""
    most, size = axis.high, high - low
    if low < axis.low:  # `p[0..15]` where ports begin with 1
        return f"{axis.low}..{min(axis.low + size, most)}"
    if size < axis.size and (low > most or (high == most + 1 and not axis.low)):  # `leaf[1..8]` of 0..7
        return f"{most - size}..{most}"
    return f"{low}..{most}"


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves the targets of one statement for its assignments."""

    scope: Scope
    evaluator: Evaluator
    over: Assignments

    def outside(self, values: Array, axis: Axis, entry: IndexEntry) -> None:
        """Raise the fault of an index outside its extent, naming the first assignment that makes it."""
        bad = (values < axis.low) | (values > axis.high)
        if not bad.any():
            return
        at = int(np.argmax(bad))
        said = self.over.show(at)
        bad_count = int(bad.sum())
        whole = axis.size > 1 and isinstance(entry.expr, tree.Range)
        fitting = f"{axis.low}..{axis.high}" if whole else ""
        span = re.fullmatch(r"(\d+)\.\.(\d+)", entry.span.text)
        if whole and span is not None:
            fitting = _range_within(int(span[1]), int(span[2]), axis)
        meant = re.fullmatch(r"(\d+)\s*-\s*(\d+)", entry.span.text)
        if meant is not None and values[at] < 0:
            fitting = f"{meant[1]}..{meant[2]}"
        raise Fault(
            "E0108",
            entry.span,
            f"`{entry.name}[{int(values[at])}]` is outside {axis.low}..{axis.high}"
            + (f", for {said}" if said else "")
            + (f" (and for {bad_count - 1:,} more assignments)" if bad_count > 1 and said else ""),
            help=f"`{entry.name}` has indices {axis.low}..{axis.high}"
            + (f": write `{entry.name}[{fitting}]`" if fitting else ""),
            fix=Fix(f"write `{fitting}`", ((entry.span, fitting),), safe=False) if fitting else None,
        )

    def offsets(self, entry: IndexEntry) -> tuple[Array, bool]:
        """Positions along one axis, a row an assignment, and whether they are a population."""
        e, axis = entry.expr, entry.axis
        if e is None or isinstance(e, tree.Star):
            return np.arange(axis.size, dtype=np.int64)[None, :], True
        if isinstance(e, tree.Range):
            return self.offsets_of_range(e, entry), True
        if isinstance(e, tree.ListExpr):
            columns = [integers_of_expression(x, self.scope, self.evaluator, self.over) for x in e.items]
            for column in columns:
                self.outside(column, axis, entry)
            if not columns:
                raise Fault("E0120", entry.span, "this list names no element")
            return np.stack(columns, axis=1) - axis.low, True
        values = integers_of_expression(e, self.scope, self.evaluator, self.over)
        self.outside(values, axis, entry)
        return (values - axis.low)[:, None], False

    def offsets_of_range(self, e: tree.Range, entry: IndexEntry) -> Array:
        """Positions of a range, which has one size for all assignments."""
        axis = entry.axis
        low, high = (
            integers_of_expression(x, self.scope, self.evaluator, self.over) for x in (e.low, e.high)
        )
        if max(largest_magnitude(low), largest_magnitude(high)) >= SAFE // 2:  # their difference may not fit
            self.outside(low, axis, entry)
            self.outside(high, axis, entry)
        sizes = high - low + 1
        if self.over.count and (sizes.min() != sizes.max() or sizes[0] < 1):
            raise Fault(
                "E0120",
                entry.span,
                "this range is empty, or not of one size for all assignments",
                help="the lower number comes first, as in `0..3`",
            )
        self.outside(low, axis, entry)
        self.outside(high, axis, entry)
        width = int(sizes[0]) if self.over.count else 1
        return (low - axis.low)[:, None] + np.arange(width, dtype=np.int64)[None, :]

    def spread_out(
        self, entries: Iterable[IndexEntry], strides: Iterable[int], start: Array
    ) -> tuple[Array, tuple[int, ...], bool]:
        """Row-major positions for each assignment, the sizes of the population's axes, and whether there is
        one."""
        rows = start[:, None]
        shape: list[int] = []
        populous = False
        for entry, stride in zip(entries, strides, strict=True):
            offsets, many = self.offsets(entry)
            if rows.shape[0] * rows.shape[1] * offsets.shape[1] > ASSIGNMENT_LIMIT:
                raise Fault("E0116", entry.span, "this names too many devices at once")
            rows = (rows[:, :, None] + (offsets * stride)[:, None, :]).reshape(
                self.over.count, rows.shape[1] * offsets.shape[1]
            )
            if many:
                populous = True
                shape.append(offsets.shape[1])
        return rows, tuple(shape), populous

    def devices(self, target: ResolvedPath) -> tuple[Array, tuple[int, ...], bool]:
        """Device rows of a target that ends in a device set."""
        device = target.device
        assert device is not None
        axes = device.axes
        strides = strides_of(axes)
        start = np.full(self.over.count, device.first, dtype=np.int64)
        for j in range(target.shared):
            values = self.over.values[f"${j}"]
            self.outside(values, axes[j], IndexEntry(axes[j], None, target.span, device.parts[0].name))
            start = start + (values - axes[j].low) * strides[j]
        return self.spread_out(target.entries, strides[target.shared :], start)

    def members(self, target: ResolvedPath, device: DeviceSet) -> Array:
        """Rows of a set below the group a target ends at; -1 where the instance has none (an ``extend`` gave
        it to others)."""
        depth = target.shared + len(target.entries)
        outer = [self.over.values[f"${j}"] for j in range(target.shared)]
        start, present = instance_rows(device, outer)
        entries = (*target.entries, *(IndexEntry(a, None, target.span, "") for a in device.axes[depth:]))
        axes = tuple(e.axis for e in entries)
        strides = strides_of(axes)
        at = self.spread_out(entries, strides, np.zeros(self.over.count, dtype=np.int64))[0]
        inside = np.broadcast_to(present[:, None], at.shape)
        rows = np.broadcast_to(start[:, None], at.shape)
        own = device.axes[target.shared :]
        for mine, axis, stride, step in zip(own, axes, strides, strides_of(own), strict=True):
            index = (at // stride) % axis.size + axis.low - mine.low
            inside = inside & (index >= 0) & (index < mine.size)
            rows = rows + index * step
        return np.where(inside, rows, -1)

    def choice(self, target: ResolvedPath) -> PortChoice:
        """The ports of a target."""
        if target.ports is None:
            return PortChoice("", None, False, target.span)
        entries = target.ports
        if all(e.expr is None for e in entries) and entries:
            return PortChoice(target.port_class, None, False, target.span)
        local, _, populous = self.spread_out(
            entries, strides_of(tuple(e.axis for e in entries)), np.zeros(self.over.count, dtype=np.int64)
        )
        return PortChoice(target.port_class, local + target.offset, not populous, target.span)

    def once(self, rows: Array, targets: tuple[ResolvedPath, ...]) -> None:
        """Refuse a population in which a device is named twice: nearly always a slip, and it would get twice
        the links."""
        ordered = np.sort(rows, axis=1)
        if bool((ordered[:, 1:] == ordered[:, :-1]).any()):
            span = targets[0].span.to(targets[-1].span)
            raise Fault(
                "E0120",
                span,
                "this names a device twice",
                help="name each device once; `x 2` makes two links",
            )

    def side(self, targets: tuple[ResolvedPath, ...]) -> StatementSide:
        """One side of a connect: the populations of its paths, one after the other."""
        found = [self.devices(t) for t in targets]
        rows = np.concatenate([r for r, _, _ in found], axis=1)
        columns = np.repeat(np.arange(len(found)), [r.shape[1] for r, _, _ in found])
        if len(found) > 1 or any(isinstance(e.expr, tree.ListExpr) for e in targets[0].entries):
            self.once(rows, targets)
        shape = found[0][1] if len(found) == 1 else (rows.shape[1],)
        populous = len(found) > 1 or found[0][2]
        return StatementSide(
            rows,
            tuple(self.choice(t) for t in targets),
            columns,
            shape,
            populous,
            targets[0].span.to(targets[-1].span),
        )

    def rows(self, target: ResolvedPath) -> Array:
        """Rows that a target means for every assignment; for a group, those of its sets, side by side, -1
        where an instance lacks one."""
        if target.device is not None:
            return self.devices(target)[0]
        assert target.group is not None
        found = [self.members(target, s) for s in target.group.sets()]
        return np.concatenate(found, axis=1) if found else np.zeros((self.over.count, 0), dtype=np.int64)


def instance_rows(device: DeviceSet, indices: Sequence[Array]) -> tuple[Array, NDArray[np.bool_]]:
    """Of instances of the groups around a set, given by a column of values for each of its leading axes: the
    first row of the set in each, and whether the set is in it (an ``extend`` gives it to some)."""
    axes = device.axes
    count = len(indices[0]) if indices else 1
    rows, inside = np.full(count, device.first, dtype=np.int64), np.ones(count, dtype=np.bool_)
    for values, axis, step in zip(indices, axes, strides_of(axes), strict=False):
        inside &= (values >= axis.low) & (values <= axis.high)
        rows += (values - axis.low) * step
    return rows, inside


def strides_of(axes: tuple[Axis, ...]) -> list[int]:
    """Row-major strides."""
    out = [1] * len(axes)
    for i in range(len(axes) - 2, -1, -1):
        out[i] = out[i + 1] * axes[i + 1].size
    return out
