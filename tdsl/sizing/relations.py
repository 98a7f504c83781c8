"""The sizes of a fabric as relations over whole numbers, each named by the line of the design it comes from.

Numbers of the text are variables that their line holds at what is written, so that z3 may ask what would be
if a line were not there. What is not understood (guards, computed indices, circuits, links through panels) is
left out: the relations are what every wiring of the design must keep, never more, so what they rule out no
wiring has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field
from math import prod
from typing import Any

import z3

from tdsl.fabric.resolve import bare_variable
from tdsl.fabric.wiring import takes_remaining_ports
from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, DeviceSet, PortClass
from tdsl.semantics.plan import FabricPlan, Group, IndexEntry, Required, ResolvedConnect, ResolvedPath
from tdsl.semantics.scope import Binding, Scope
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

z3.set_param("ctrl_c", False)  # else z3 takes Ctrl-C as the end of its search, and tdsl goes on

Term = Any  # int, or a z3 term over whole numbers
COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@dataclass(slots=True)
class SizeConstraint:
    """What one place of the text says: words for a label, and the relations that hold while it is there."""

    span: SourceSpan
    said: str
    holds: list[Any] = field(default_factory=list)
    number: bool = False  # a number as written


class Unsized(Exception):
    """A size that is not arithmetic over written numbers."""


def _members_of_side(populations: Sequence[tuple[object, Term]]) -> Term:
    """Devices or ports of one side of a connect, of all its paths."""
    return sum(count for _, count in populations)


class SizeRelations:
    """The relations of one plan. ``lines`` may be dropped one by one; ``always`` holds whatever is
    dropped."""

    def __init__(self, plan: FabricPlan, *, open: bool = False, proposing: bool = False) -> None:
        self.plan, self.open, self.proposing = plan, open or proposing, proposing
        self.file = plan.origin.span.file
        self.lines: dict[tuple[int, int, str], SizeConstraint] = {}
        self.always: list[Any] = []
        self.blanks = 0
        self.holes: dict[tuple[int, int], Any] = {}
        self.taken: dict[tuple[int, str], list[Term]] = defaultdict(list)  # (id of set, class) -> port ends
        self.loose: set[tuple[int, str]] = set()  # where more ends may be taken than are counted
        self.links: list[Term] | None = []  # None where some are not counted
        self.partial = {id(o.target.device) for o in plan.overrides}
        for s in plan.insides.values():  # links inside of its device may take some
            self.loose |= (
                {(id(s), c.name) for c in s.model.classes} if s.inside and s.inside.model.wiring else set()
            )
        for i, wire in sorted(enumerate(plan.wires), key=lambda x: takes_remaining_ports(x[1])):
            try:
                self.wire(i, wire)
            except (Unsized, Fault, Excused):
                self.links = None
                self.loosen(wire)
        self.budgets()
        for required in plan.requires:
            for claim in required.node.claims if not required.node.report else ():
                self.require(required, claim)

    # ------------------------------------------------------------ numbers
    def line(self, span: SourceSpan, said: str, what: str = "", *, number: bool = False) -> SizeConstraint:
        """The line of a place, made when first asked for."""
        return self.lines.setdefault(
            (id(span.file), span.start, what), SizeConstraint(span, said, number=number)
        )

    def literal(self, span: SourceSpan, value: int, said: str) -> Term:
        """A number of the design's own text, which its line holds at what is written; elsewhere it is a
        fact."""
        if span.file is not self.file or self.proposing:
            return value
        known = (id(span.file), span.start, "number") in self.lines
        line = self.line(span, said, "number", number=True)
        term = z3.Int(f"n{span.start}")
        if not known:
            line.holds.append(term == value)
            self.always.append(term >= 0)
        return term

    def number(self, e: tree.Expr, scope: Scope) -> Term:
        """An expression as a term."""
        match e:
            case tree.Number() if isinstance(e.value, int):
                return self.literal(e.span, e.value, f"{e.value} here")
            case tree.Paren():
                return self.number(e.inner, scope)
            case tree.Hole():
                key = (id(e.span.file), e.span.start)
                if key not in self.holes:
                    self.holes[key] = z3.Int(f"h{e.span.start}")
                    self.always.append(self.holes[key] >= 1)
                return self.holes[key]
            case tree.Chain() if all(op in ("+", "-", "*", "//", "%") for op, _ in e.rest):
                return self.chain(e, scope)
            case tree.PathExpr() if e.bare is not None:
                return self.named(e, e.bare, scope)
        if self.open and not self.settled(e, scope):
            raise Unsized
        return self.plan.evaluator.integer(e, scope)

    def settled(self, e: tree.Expr | tree.Extent, scope: Scope) -> bool:
        """Whether no hole can be behind an expression: it names no let and no function."""
        found = (scope.find(name) for name in re.findall(r"[A-Za-z_]\w*", e.span.text))
        return "?" not in e.span.text and all(
            b is None or b.what in ("param", "for", "argument") for b in found
        )

    def chain(self, e: tree.Chain, scope: Scope) -> Term:
        """Sums, products, quotients rounded down and remainders."""
        out = self.number(e.first, scope)
        for op, other in e.rest:
            term = self.number(other, scope)
            if op in ("//", "%"):
                self.always.append(z3.IntVal(0) < term)
                if isinstance(out, int):
                    out = out // term if isinstance(term, int) and op == "//" else z3.IntVal(out)
            if op == "//" and not isinstance(out, int):
                out = out / term
            elif op == "%":
                out = out % term
            elif op != "//":
                out = out + term if op == "+" else out - term if op == "-" else out * term
        return out

    def named(self, e: tree.PathExpr, name: str, scope: Scope) -> Term:
        """A let by what it is made of, a param by its value."""
        at: Scope | None = scope
        while at is not None and name not in at.names:
            at = at.parent
        found = at.names[name] if at is not None else Binding("", e.span)
        node = found.node
        if at is None or node is None:
            return self.plan.evaluator.integer(e, scope)
        if isinstance(node, tree.Param):
            value = self.plan.evaluator.integer(e, scope)
            term = self.literal(node.default.span, value, f"`{name}` is {value}")
        else:
            term = self.number(node.value, at)
        if node.guard is not None:
            fresh = (id(node.guard.span.file), node.guard.span.start, "guard") not in self.lines
            line = self.line(node.guard.span, "this must hold", "guard")
            if fresh:
                line.holds += self.conditions(node.guard, at)
        return term

    def conditions(self, e: tree.Expr, scope: Scope) -> list[Any]:
        """A guard as relations; what is none of them is left out."""
        if isinstance(e, tree.Paren):
            return self.conditions(e.inner, scope)
        if not isinstance(e, tree.Chain):
            return []
        ops = [op for op, _ in e.rest]
        operands = [e.first, *(x for _, x in e.rest)]
        if all(op == "and" for op in ops):
            return [c for part in operands for c in self.conditions(part, scope)]
        if not COMPARE.keys() >= set(ops):
            return []
        try:
            terms = [self.number(x, scope) for x in operands]
        except (Unsized, Fault, Excused):
            return []
        return [COMPARE[op](z3.IntVal(0) + a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False)]

    # ------------------------------------------------------------ extents
    def axes(self, extents: Iterable[object], axes: tuple[Axis, ...], scope: Scope | None) -> list[Term]:
        """A term for each axis of a declaration."""
        written = tuple(extents)
        if scope is None or len(written) != len(axes):
            fixed = (
                scope is None
                or not self.open
                or all(self.settled(x, scope) for x in written if isinstance(x, tree.Extent))
            )
            return [a.size if fixed else self.unknown() for a in axes]
        out: list[Term] = []
        for extent, axis in zip(written, axes, strict=True):
            assert isinstance(extent, tree.Extent)
            try:
                out.append(self.extent(extent, scope))
            except (Unsized, Fault, Excused):
                out.append(self.unknown() if self.open else axis.size)
                continue
            if not isinstance(out[-1], int):
                self.always.append(out[-1] >= 1)
        return out

    def unknown(self) -> Term:
        """A size that an unknown may be part of in a way that is not understood."""
        self.blanks += 1
        self.always.append(z3.Int(f"blank{self.blanks}") >= 1)
        return z3.Int(f"blank{self.blanks}")

    def extent(self, extent: tree.Extent, scope: Scope) -> Term:
        """The size that an extent plans for."""
        if extent.of is not None:
            return self.number(extent.of, scope)
        if isinstance(extent.value, tree.Range):
            return self.number(extent.value.high, scope) - self.number(extent.value.low, scope) + 1
        return self.number(extent.value, scope)

    def of_parts(self, names: list[str], sizes: list[tuple[Axis, ...]]) -> list[Term]:
        """Terms of the groups along a path; an axis that ``extend`` narrowed is a fact."""
        out: list[Term] = []
        group: Group | DeviceSet = self.plan.root
        for name, axes in zip(names, sizes, strict=True):
            assert isinstance(group, Group)
            group = group.members[name]
            assert isinstance(group, Group)
            whole = group.axes == axes
            out += self.axes(group.extents, axes, group.scope.parent) if whole else [a.size for a in axes]
        return out

    def of_set(self, s: DeviceSet) -> list[Term]:
        """Terms of all axes of a device set; of devices inside a model all are facts."""
        if s.inside is not None:
            return [a.size for a in s.axes]
        groups = s.parts[:-1]
        scope = s.scope if isinstance(s.scope, Scope) else None
        return self.of_parts([p.name for p in groups], [p.axes for p in groups]) + self.axes(
            s.extents, s.parts[-1].axes, scope
        )

    def count(self, s: DeviceSet) -> Term:
        """Devices of a set."""
        return prod(self.of_set(s))

    def size(self, s: DeviceSet, c: PortClass) -> Term:
        """Ports of a class; a number of the design where the model is its own."""
        return self.literal(c.origin.span, c.size, f"{s.model.name} has {c.size} `{c.name}`")

    # ------------------------------------------------------------ connects
    def wire(self, i: int, wire: ResolvedConnect) -> None:
        """What a connect asks of the sizes. Raises Unsized where its links cannot be counted."""
        node = wire.node
        line = self.line(node.span, "", "connect")
        line.said = "joined here"
        if wire.inside is not None:  # its groups are no groups of the design
            raise Unsized
        runs = self.runs(wire, line)
        if node.circuit or wire.via is not None:
            raise Unsized
        ends = [(t, self.population(t)) for t in wire.a], [(t, self.population(t)) for t in wire.b]
        total = (_members_of_side(ends[0]), _members_of_side(ends[1]))
        copies = self.copies(wire)
        if node.pattern is not None and node.pattern.name.name == "spread" and wire.b:
            each = self.spread(i, wire, line, total, ends[0], runs)
        else:
            each = self.links_of_each(wire, line, total, copies)
        if node.guard is not None:
            raise Unsized
        made = z3.Int(f"links{i}")
        self.always.append(made >= 0)
        line.holds.append(made == runs * total[0] * each[0])
        if self.links is not None:
            self.links.append(made)
        for side, per in zip(ends, each, strict=True):
            for t, n in side:
                self.take(i, t, line, runs * n * per)

    def copies(self, wire: ResolvedConnect) -> Term:
        """The number behind ``x``, 1 where there is none."""
        return self.number(wire.node.copies, wire.scope) if wire.node.copies is not None else 1

    def links_of_each(
        self, wire: ResolvedConnect, line: SizeConstraint, total: tuple[Term, Term], copies: Term
    ) -> tuple[Term, Term]:
        """Links of one member of either side for a pattern other than spread, of ``total`` members. Raises
        Unsized for those whose links cannot be counted."""
        node = wire.node
        pattern = node.pattern.name.name if node.pattern is not None else ""
        if not pattern:
            return copies, copies
        if pattern == "each" and wire.b:
            line.said = "each is joined to each here"
            return total[1] * copies, total[0] * copies
        if pattern == "pairs" and wire.b:
            line.holds.append(z3.IntVal(0) + total[0] == total[1])
            line.said = "joined in pairs here"
            return copies, copies
        raise Unsized

    def runs(self, wire: ResolvedConnect, line: SizeConstraint) -> Term:
        """How often a connect is applied: once for each value of its variables, and each instance of the
        groups around."""
        variables: dict[str, Term] = {}
        for t in (*wire.a, *wire.b):
            for entry, term in (*zip(t.entries, self.terms(t), strict=True), *self.port_terms(t)):
                name = bare_variable(entry.expr, wire.scope)
                if name is None:
                    continue
                if name.name in variables:
                    line.holds.append(z3.IntVal(0) + variables[name.name] == term)
                variables.setdefault(name.name, term)
        around = wire.context.parts
        return prod(variables.values()) * prod(
            self.of_parts([p.name for p in around], [p.axes for p in around])
        )

    def terms(self, t: ResolvedPath) -> list[Term]:
        """Terms of the axes that a target's entries have."""
        if t.device is None:
            raise Unsized
        return self.of_set(t.device)[t.shared :]

    def port_terms(self, t: ResolvedPath) -> list[tuple[IndexEntry, Term]]:
        """The entries behind a port class; one axis has the size of its class."""
        if t.ports is None or t.device is None:
            return []
        c = t.device.model.port_class(t.port_class)
        if c is not None and len(t.ports) == 1 and len(c.axes) == 1:
            return [(t.ports[0], self.size(t.device, c))]
        return [(entry, entry.axis.size) for entry in t.ports]

    def population(self, t: ResolvedPath) -> Term:
        """Devices that a target means in one application."""
        out: Term = 1
        for entry, term in zip(t.entries, self.terms(t), strict=True):
            if entry.expr is None or isinstance(entry.expr, tree.Star):
                out = out * term
            elif isinstance(entry.expr, (tree.Range, tree.ListExpr)):
                raise Unsized
        return out

    def spread(
        self,
        i: int,
        wire: ResolvedConnect,
        line: SizeConstraint,
        total: tuple[Term, Term],
        near: list[tuple[ResolvedPath, Term]],
        runs: Term,
    ) -> tuple[Term, Term]:
        """Ports of each a and of each b under a spread: an even one asks that they divide."""
        p = wire.node.pattern
        assert p is not None
        words = {m.name: e for m, e in p.args}
        written = words.get("x")
        if written is not None:
            k: Term = self.number(written, wire.scope)
        else:
            k = z3.Int(f"free{i}")
            self.rest(near, k, line, runs)
        self.always.append(z3.IntVal(0) + k >= 1)
        a, b = total
        if "uneven" in words or "any" in words:
            raise Unsized
        per = z3.Int(f"per{i}")
        self.always.append(per >= 0)
        pair = z3.Int(f"pair{i}")
        line.holds += [per * b == a * k, z3.Or(z3.And(pair >= 1, pair * b == k), z3.IntVal(0) + k < b)]
        line.said = "spread evenly here"
        return k, per

    def rest(self, near: list[tuple[ResolvedPath, Term]], k: Term, line: SizeConstraint, runs: Term) -> None:
        """What a spread without a number takes: all that others leave of the ports, where that can be
        counted."""
        if len(near) != 1:
            raise Unsized
        t, n = near[0]
        c = self.class_of(t)
        assert t.device is not None
        if c is None or id(t.device) in self.partial:
            return
        key = (id(t.device), c.name)
        ports = self.size(t.device, c) * self.count(t.device)
        used = sum(self.taken[key])
        plain = t.ports is None and all(
            e.expr is None or isinstance(e.expr, (tree.Star, tree.PathExpr)) for e in t.entries
        )
        if plain and key not in self.loose:
            line.holds.append(runs * n * k + used == ports)
        else:
            line.holds.append(k <= self.size(t.device, c))

    def class_of(self, t: ResolvedPath) -> PortClass | None:
        """The class whose ports a target takes, the first of the model where it names none; None if parts of
        it are split."""
        assert t.device is not None
        model = t.device.model
        parts = model.parts(t.port_class or model.classes[0].name) if model.classes else ()
        return parts[0] if len(parts) == 1 else None

    def take(self, i: int, t: ResolvedPath, line: SizeConstraint, ends: Term) -> None:
        """Count ends on a class. A written port may be one that a planned device keeps free, and then counts
        twice."""
        c = self.class_of(t)
        assert t.device is not None
        if c is None:
            self.loose |= {(id(t.device), x.name) for x in t.device.model.classes}
            return
        key = (id(t.device), c.name)
        fixed = [e for e in t.ports or () if e.expr is not None and not isinstance(e.expr, tree.Star)]
        if fixed and any(bare_variable(e.expr, self.plan.root.scope) is None for e in fixed):
            self.loose.add(key)
            if self.plan.omits:
                return
        if any(e.expr is not None and not isinstance(e.expr, (tree.Star, tree.PathExpr)) for e in t.entries):
            self.loose.add(key)
        made = z3.Int(f"ends{i}_{len(self.taken[key])}_{t.device.index}_{c.name}")
        self.always.append(made >= 0)
        line.holds.append(made == ends)
        self.taken[key].append(made)

    def loosen(self, wire: ResolvedConnect) -> None:
        """A connect whose links are not counted may take ports of any class of its ends."""
        for t in (*wire.a, *wire.b):
            if t.device is not None:
                self.loose |= {(id(t.device), c.name) for c in t.device.model.classes}

    def budgets(self) -> None:
        """No class gives more ports than its devices have."""
        sets = {id(s): s for s in self.plan.sets}
        for (which, name), ends in self.taken.items():
            s = sets.get(which)
            c = s.model.port_class(name) if s is not None and which not in self.partial else None
            if s is not None and c is not None and ends:
                self.always.append(sum(ends) <= z3.IntVal(0) + self.size(s, c) * self.count(s))

    # ------------------------------------------------------------ requirements
    def require(self, required: Required, claim: tree.Claim) -> None:
        """A claim on a count that sizes alone decide."""
        bare = not (
            claim.args
            or claim.of
            or claim.of_to
            or claim.at
            or claim.given
            or claim.any_count
            or claim.of_intact
            or claim.of_active
            or claim.share_of
        )
        plan = self.plan
        built = all(e.of is None for s in plan.sets for e in s.extents if isinstance(e, tree.Extent))
        if (
            not bare
            or claim.value is None
            or claim.op not in COMPARE
            or len(required.context.groups) > 1
            or plan.omits
        ):
            return
        if plan.insides or not built:
            return
        try:
            value = self.number(claim.value, required.scope)
            if claim.metric.name == "switches":
                have: Term = sum(self.count(s) for s in plan.sets if s.kind == "switch")
            elif claim.metric.name == "links" and self.links is not None:
                have = sum(self.links)
            else:
                return
        except (Unsized, Fault, Excused):
            return
        text = " ".join(claim.span.text.split())
        self.line(claim.span, f"`{text}`", "require").holds.append(
            COMPARE[claim.op](z3.IntVal(0) + have, value)
        )


__all__ = ["SizeConstraint", "SizeRelations"]
