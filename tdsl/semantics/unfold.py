"""A topology's statements with its parameters filled in: what could be written in their place, and means the
same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceSpan
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.ends import EndSet, HostEnds
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault, clip_message
from tdsl.semantics.operators import require_bool
from tdsl.semantics.scope import DONE, Binding, Scope
from tdsl.semantics.sizing import Aim
from tdsl.semantics.topology import Instance, Joining, PortPath, require_parameters
from tdsl.semantics.values import (
    Dims,
    FunctionValue,
    ModelValue,
    Value,
    WholeRange,
    integer_if_whole,
    text_of,
)
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

PLANE = "plane"
ROUNDS = 64  # values of a loop that joins ends
PATHS = ("a", "b", "via", "paths", "path")  # the fields of a statement that are paths of devices
SWAPPED = (*PATHS, "pattern", "copies", "guard", "template", "body")
ATOMS = (
    tree.Number,
    tree.RatioLit,
    tree.DimsLit,
    tree.Str,
    tree.PathExpr,
    tree.Paren,
    tree.ListExpr,
    tree.Measure,
    tree.Range,
)


def expression_of_value(value: Value, span: SourceSpan) -> tree.Expr:
    """An expression that is worth this value."""
    if isinstance(value, Aim):
        value = value.ratio
    if isinstance(value, Fraction) and value.denominator != 1:
        text = f"{value.numerator}:{value.denominator}"
    elif isinstance(value, str):
        return tree.Str((str(value),), span)
    elif isinstance(value, tuple):
        return tree.ListExpr(tuple(expression_of_value(v, span) for v in value), span)
    else:
        text = text_of(value)
    found = parse_expression(text, "value", Diagnostics())
    if found is None:
        raise Fault("E0120", span, f"{text} cannot be written as a value")
    return found if isinstance(found, ATOMS) else tree.Paren(found, span)


class Unfolder:
    """Rewrites the statements of one instance of a topology."""

    def __init__(
        self,
        instance: Instance,
        ends: HostEnds,
        at: SourceSpan,
        evaluator: Evaluator,
        fresh: Callable[[str], str],
    ) -> None:
        self.instance, self.ends, self.at, self.evaluator, self.fresh = instance, ends, at, evaluator, fresh
        self.scope = instance.scope
        self.hidden: list[str] = []  # variables of loops around

    def run(self) -> list[tuple[tree.Stmt, SourceSpan]]:
        """Statements in order, each with the line of the topology it comes from."""
        self.define_values()
        inside: list[tuple[tree.Stmt, SourceSpan]] = []
        joined: list[tuple[tree.Stmt, SourceSpan]] = []
        for s in self.instance.node.body:
            if isinstance(s, (tree.Let, tree.Def, tree.TierDecl)):
                continue
            joined += [(made, s.span) for made in self.statement(s, True)]
            inside += [(made, s.span) for made in self.statement(s, False)]
        if self.ends.planes and inside:
            inside = [(self.plane_around(tuple(s for s, _ in inside)), inside[0][1])]
        declared = [x for x in inside if isinstance(x[0], tree.Decl)]
        return [*declared, *joined, *(x for x in inside if not isinstance(x[0], tree.Decl))]

    def define_values(self) -> None:
        """The topology's own values and functions, then the guards of the values, so that their order does
        not matter."""
        for s in self.instance.node.body:
            if isinstance(s, tree.Let):
                self.let(s)
            elif isinstance(s, tree.Def):
                self.scope.define(
                    s.name.name, Binding("def", s.name.span, None, FunctionValue(s, self.scope), DONE)
                )
        for s in self.instance.node.body:
            if isinstance(s, tree.Let):
                self.guard(s)

    def plane_around(self, body: tuple[tree.Stmt, ...]) -> tree.Decl:
        """The declaration of all planes, each of which has these statements."""
        shape = (tree.Extent(tree.Number(self.ends.planes, self.at), None, self.at),)
        word = tree.Identifier(PLANE, self.at)
        return tree.Decl(word, word, shape, None, None, body, self.at)

    def let(self, s: tree.Let) -> None:
        """A value of the topology's own, computed when asked for."""
        self.scope.define(
            s.name.name, Binding("let", s.name.span, lambda: self.evaluator.evaluate(s.value, self.scope))
        )

    def guard(self, s: tree.Let) -> None:
        """Refuse a topology whose parameters do not fit together. The finding stands at the block that asks
        for it."""
        if s.guard is None:
            return
        self.needs(s.guard)
        if not require_bool(self.evaluator.evaluate(s.guard, self.scope), s.guard.span):
            value = text_of(self.scope.value(s.name.name, s.span))
            raise Fault(
                "E0110",
                self.at,
                f"`{s.name.name}` is {value} here, and `{self.instance.node.name.name}` needs "
                f"`{clip_message(' '.join(s.guard.span.text.split()))}`{self.why_not(s.guard)}",
                labels=[(s.guard.span, "this must hold")],
            )

    def why_not(self, guard: tree.Expr) -> str:
        """What the two sides of the first comparison are that fails; "" where it is no plain one."""
        ops = [op for op, _ in guard.rest] if isinstance(guard, tree.Chain) else []
        if isinstance(guard, tree.Chain) and "and" in ops and "or" not in ops:
            parts = [guard.first, *(operand for _, operand in guard.rest)]
            failing = next((x for x in parts if self.evaluator.evaluate(x, self.scope) is False), None)
            return self.why_not(failing) if failing is not None else ""
        if not isinstance(guard, tree.Chain) or ops not in (["=="], ["<="], [">="], ["<"], [">"]):
            return ""
        sides = (guard.first, guard.rest[0][1])
        values = [text_of(self.evaluator.evaluate(x, self.scope)) for x in sides]
        said = [f"`{x.span.text}` is {v}" for x, v in zip(sides, values, strict=True) if x.span.text != v]
        return f": {' and '.join(said)}" if said else ""

    # ------------------------------------------------------------ statements
    def statement(self, s: tree.Stmt, ends: bool) -> list[tree.Stmt]:
        """What one statement becomes: its part that joins ends, or the rest of it. Branches are chosen as
        soon as they can be."""
        if isinstance(s, tree.If):
            return self.branch(s, ends)
        if isinstance(s, tree.For):
            return self.unrolled(s) if ends else self.loop(s)
        return self.about_ends(s) if ends else self.about_devices(s)

    def statements(self, body: tuple[tree.Stmt, ...], ends: bool) -> tuple[tree.Stmt, ...]:
        """What the statements of a block become."""
        return tuple(x for inner in body for x in self.statement(inner, ends))

    def about_ends(self, s: tree.Stmt) -> list[tree.Stmt]:
        """A statement that joins ends, or says that they forward; nothing of any other."""
        if isinstance(s, tree.Connect) and self.names_ends(s):
            return self.ended(s)
        return [self.forwarding(s)] if isinstance(s, tree.Setting) and s.name.name == "forwards" else []

    def about_devices(self, s: tree.Stmt) -> list[tree.Stmt]:
        """A statement that is not about ends; nothing of one that is."""
        match s:
            case tree.Setting():
                return [] if s.name.name == "forwards" else [self.node(s)]
            case tree.Connect():
                return [] if self.names_ends(s) else [self.joining_devices(s)]
            case tree.Decl():
                return [self.declaration(s)]
            case tree.Omit() | tree.Naming():
                return [self.node(self.cleared(s))]
        raise Fault(
            "E0118",
            s.span,
            "this is not allowed in a topology",
            help="known: devices, groups, connect, let, def, if, for, omit, naming",
        )

    def joining_devices(self, s: tree.Connect) -> tree.Connect:
        """A connect between devices of the topology itself, with what the block says about such links."""
        made = self.connect(self.cleared(s))
        more = self.instance.links_between
        return replace(made, body=(*_settings_but(made.body, more), *more)) if more else made

    def loop(self, s: tree.For) -> list[tree.Stmt]:
        """A loop over devices, whose variable stays one; none where nothing is left in it."""
        over = self.expression(s.over)
        self.hidden.append(s.var.name)
        body = self.statements(s.body, False)
        self.hidden.pop()
        return [replace(s, over=over, body=body)] if body else []

    def declaration(self, s: tree.Decl) -> tree.Decl:
        """A declaration with its block, and with the settings that the parameter for its model carries."""
        made: tree.Decl = self.node(replace(s, of=None, body=None))
        of = self.expression(s.of) if s.of is not None else None
        for inner in s.body or ():
            if isinstance(inner, tree.Connect) and self.names_ends(inner):
                raise Fault("E0120", inner.span, "ends are joined by statements in the topology's own block")
        held = None if s.body is None else self.statements(s.body, False)
        value = self.value_of(s.of.bare) if isinstance(s.of, tree.PathExpr) and s.of.bare else None
        if isinstance(value, ModelValue) and value.settings:
            held = (*(held or ()), *value.settings)
        return replace(made, of=of, body=held)

    def forwarding(self, s: tree.Setting) -> tree.Setting:
        """``forwards ends``: the declarations of all ends."""
        path = s.items[0].value if len(s.items) == 1 else None
        if not isinstance(path, tree.PathExpr) or path.bare != self.instance.ends or s.items[0].args:
            raise Fault(
                "E0120",
                s.span,
                "in a topology its ends forward",
                help=f"`forwards {self.instance.ends or 'ends'}`",
            )
        names = [tuple(tree.Identifier(name, s.span) for name, _ in ends.parts) for ends in self.ends.sets]
        return replace(
            s,
            items=tuple(tree.SettingItem(tree.PathExpr(n, s.span), (), s.span) for n in dict.fromkeys(names)),
        )

    def unrolled(self, s: tree.For) -> list[tree.Stmt]:
        """The statements of a loop that join ends, once for each value, so that ports bear their numbers."""
        if not any(self.joins(x) for x in s.body):
            return []
        outer, out = self.scope, []
        values = integer_if_whole(self.evaluator.evaluate(s.over, outer))
        if isinstance(values, WholeRange):
            values = tuple(range(values.low, values.high + 1)) if values.size <= ROUNDS else None
        if not isinstance(values, tuple) or len(values) > ROUNDS:
            raise Fault(
                "E0116",
                s.over.span,
                f"a loop that joins ends goes over a list or a range of at most {ROUNDS} values",
            )
        for value in values:
            self.scope = Scope(outer)
            self.scope.names[s.var.name] = Binding("for", s.var.span, None, value, DONE)
            out += [x for inner in s.body for x in self.statement(inner, True)]
        self.scope = outer
        return out

    def joins(self, s: tree.Stmt) -> bool:
        """Whether a statement, or one inside it, joins ends."""
        if isinstance(s, tree.If):
            return any(self.joins(x) for body in (*(b for _, b in s.branches), s.other) for x in body)
        return (
            any(map(self.joins, s.body))
            if isinstance(s, tree.For)
            else isinstance(s, tree.Connect) and self.names_ends(s)
        )

    def branch(self, s: tree.If, ends: bool) -> list[tree.Stmt]:
        """The branch that holds; all of them where that hangs on the variable of a loop."""
        for at, (test, body) in enumerate(s.branches):
            self.needs(test)
            if set(names_in(test)) & set(self.hidden):
                return self.open_branches(s, at, ends)
            if require_bool(self.evaluator.evaluate(test, self.scope), test.span):
                return list(self.statements(body, ends))
        return list(self.statements(s.other, ends))

    def open_branches(self, s: tree.If, at: int, ends: bool) -> list[tree.Stmt]:
        """An ``if`` from one of its branches on, none where no branch has a statement left."""
        left = tuple((self.expression(c), self.statements(b, ends)) for c, b in s.branches[at:])
        other = self.statements(s.other, ends)
        return [replace(s, branches=left, other=other)] if other or any(b for _, b in left) else []

    def connect(self, s: tree.Connect) -> tree.Connect:
        """A connect with its pattern, if that is a parameter."""
        given = self.value_of(s.pattern.name.name) if s.pattern is not None else None
        made: tree.Connect = self.node(s)
        if s.copies is not None:
            made = replace(made, copies=self.expression(s.copies))
        if s.pattern is not None and s.pattern.args and not isinstance(given, Joining):
            args = tuple((word, None if e is None else self.expression(e)) for word, e in s.pattern.args)
            made = replace(made, pattern=replace(s.pattern, args=args))
        if isinstance(given, Joining):
            if given.pattern is None:
                raise Fault(
                    "E0120",
                    self.at,
                    "this pattern says what links cross, and the topology asks how ends are distributed",
                )
            made = replace(made, pattern=given.pattern, copies=made.copies or given.copies)
        return made

    def cleared(self, s: Any) -> Any:
        """A connect, omit or naming whose index variables mean nothing in the design, whatever names that has
        taken by `let`."""
        meaning: dict[str, tree.Expr] = {}
        taken = set(names_in(tuple(getattr(s, f.name) for f in fields(s))))
        for name in sorted(_index_variables(s)):
            free = self.fresh(name)
            if free != name and name not in self.hidden and self.scope.find(name) is None:
                free = self.unused(free, taken | set(self.hidden))
                taken.add(free)
                meaning[name] = tree.PathExpr((tree.Identifier(free, s.span),), s.span)
        return (
            replace(s, **{f: _swap_field(f, getattr(s, f), meaning) for f in SWAPPED if hasattr(s, f)})
            if meaning
            else s
        )

    def value_of(self, name: str) -> Value:
        """The value of a parameter, None if there is none of this name."""
        binding = self.scope.names.get(name)
        return binding.value if binding is not None else None

    # ------------------------------------------------------------ ends
    def names_ends(self, s: tree.Connect) -> bool:
        """Whether a connect's first path is the ends."""
        head = s.a[0].parts[0]
        return (
            bool(self.instance.ends) and isinstance(head, tree.Identifier) and head.name == self.instance.ends
        )

    def ended(self, s: tree.Connect) -> list[tree.Stmt]:
        """A connect of the ends, once for each set of hosts."""
        s = self.cleared(s)
        made = self.connect(s)
        index = made.a[0].parts[1] if len(made.a[0].parts) == 2 else None
        written = index.entries if isinstance(index, tree.IndexPart) else ()
        variables = {e.bare for e in written if isinstance(e, tree.PathExpr) and e.bare} - set(self.hidden)
        taken = {
            *self.hidden,
            *names_in(tuple(getattr(s, f.name) for f in fields(s) if f.name != "span")),
        } - variables
        return [self.of_end_set(made, ends, written, variables, taken) for ends in self.ends.sets]

    def body_with_links_of_ends(
        self, made: tree.Connect, meaning: dict[str, tree.Expr]
    ) -> tuple[tree.Stmt, ...]:
        """The body of a connect with what the block says about the links of its ends, which goes before what
        the topology says."""
        said = {x.name.name for x in self.instance.links_of_ends}
        own = (x for x in made.body if not (isinstance(x, tree.Setting) and x.name.name in said))
        return (*(_swap_items(x, meaning) for x in own), *self.instance.links_of_ends)

    def of_end_set(
        self,
        made: tree.Connect,
        ends: EndSet,
        written: tuple[tree.Expr, ...],
        variables: set[str],
        taken: set[str],
    ) -> tree.Connect:
        """A connect of the ends for one set of hosts. ``written`` are the indices of its ends, ``variables``
        those of them that are index variables, ``taken`` names that new variables cannot have."""
        inner = len(ends.ports.axes) - bool(self.ends.planes)
        host = _host_variable(made, ends, inner, written, variables)
        names = self.ends.variables(ends, lambda base: self.unused(base, taken))
        a = _expression_from_text(names.path)
        assert isinstance(a, tree.PathExpr)
        meaning = {host: _expression_from_text(self.ends.flat_host(ends, names))}
        kept = a.parts[-1].entries if ends.ports.axes and isinstance(a.parts[-1], tree.IndexPart) else ()
        chosen = list(kept)
        for k, e in enumerate(written[1:]):
            if isinstance(e, tree.PathExpr) and e.bare in variables:
                meaning[str(e.bare)] = kept[k] if inner else tree.Number(0, e.span)
            elif inner:
                chosen[k] = e  # these ports only
        if ends.ports.axes:
            a = tree.PathExpr((*a.parts[:-1], tree.IndexPart(tuple(chosen), a.span)), a.span)
        b = tuple(
            self.met(tree.PathExpr(_substitute_names(p.parts, meaning), p.span), names.plane) for p in made.b
        )
        via = made.via and self.planed(
            tree.PathExpr(_substitute_names(made.via.parts, meaning), made.via.span), names.plane
        )
        copies, guard = _substitute_names(made.copies, meaning), _substitute_names(made.guard, meaning)
        body = self.body_with_links_of_ends(made, meaning)
        return replace(made, a=(a,), b=b, via=via, copies=copies, guard=guard, body=body)

    def unused(self, base: str, taken: set[str]) -> str:
        """A name for an index variable that means nothing else, nor in the statement."""
        found = self.fresh(base)
        return self.unused(f"{base}_", taken) if found in taken else found

    def met(self, path: tree.PathExpr, plane: str) -> tree.PathExpr:
        """The far side of a connect of ends: a device of the topology, or an end of another host."""
        head, *rest = path.parts
        if not isinstance(head, tree.Identifier) or head.name != self.instance.ends:
            return self.planed(path, plane)
        index = rest[0] if len(rest) == 1 else None
        ends = self.ends.sets[0]
        if len(self.ends.sets) > 1:
            raise Fault(
                "E0120",
                self.at,
                "this topology joins hosts to hosts, and they must be those of one declaration",
            )
        inner = len(ends.ports.axes) - bool(self.ends.planes)
        if not isinstance(index, tree.IndexPart) or len(index.entries) != 1 + inner:
            raise Fault(
                "E0109",
                path.span,
                f"ends have {1 + inner} indices here: the host, then those of `{ends.ports.name}`",
            )
        flat, *port = index.entries
        ports = (*port, *([_expression_from_text(plane)] if self.ends.planes else []))
        return tree.PathExpr(
            (
                *self.ends.host(ends, flat),
                tree.Identifier(ends.ports.name, path.span),
                *((tree.IndexPart(ports, path.span),) if ports else ()),
            ),
            path.span,
        )

    def planed(self, path: tree.PathExpr, plane: str) -> tree.PathExpr:
        """The path of a device that stands in a plane."""
        if not self.ends.planes:
            return path
        head = tree.PathExpr(
            (tree.Identifier(PLANE, path.span), tree.IndexPart((_expression_from_text(plane),), path.span)),
            path.span,
        )
        return tree.PathExpr((*head.parts, *path.parts), path.span)

    # ------------------------------------------------------------ expressions
    def node(self, n: Any) -> Any:
        """Any part of a statement; paths to devices keep their names, and only their indices are filled
        in."""
        match n:
            case tree.PathExpr():
                return tree.PathExpr(tuple(map(self.part, self.with_ports(n.parts))), n.span)
            case tree.Extent():
                value = self.expression(n.value)
                return tree.Extent(value, None if n.of is None else self.expression(n.of), n.span)
            case tree.SettingItem():
                value = self.expression(n.value)
                return tree.SettingItem(value, tuple((w, self.expression(v)) for w, v in n.args), n.span)
            case tuple():
                return tuple(map(self.node, n))
            case tree.Str():
                return replace(n, parts=tuple(map(self.piece, n.parts)))
        if isinstance(n, (tree.Identifier, tree.PatternRef, SourceSpan, type)) or not is_dataclass(n):
            return n
        if isinstance(n, tree.Expr):
            return self.expression(n)
        made: Any = n
        return replace(made, **{f.name: self.node(getattr(n, f.name)) for f in fields(n)})

    def piece(self, p: str | tree.Placeholder) -> str | tree.Placeholder:
        """A part of a string; a text that is known stands there as it is, since a string has none in
        quotes."""
        if isinstance(p, str):
            return p
        value = self.expression(p.value)
        if isinstance(value, tree.Str):
            return self.evaluator.string(tree.Str((replace(p, value=value),), value.span), self.scope)
        return replace(p, value=value)

    def with_ports(
        self, parts: tuple[tree.Identifier | tree.IndexPart | tree.Call, ...]
    ) -> tuple[tree.Identifier | tree.IndexPart | tree.Call, ...]:
        """The parts of a path, with the ports that a parameter names in the place of its name at the end."""
        last = parts[-1]
        found = self.scope.find(last.name) if isinstance(last, tree.Identifier) and len(parts) > 1 else None
        value = found.value if found is not None else None
        if not isinstance(value, PortPath):
            return parts
        return (*parts[:-1], *(_with_span(p, last.span) for p in value.parts))

    def part(
        self, p: tree.Identifier | tree.IndexPart | tree.Call
    ) -> tree.Identifier | tree.IndexPart | tree.Call:
        """A part of a path: the entries of its brackets, or what a function is given."""
        if isinstance(p, tree.Call):
            return replace(p, args=tuple(map(self.expression, p.args)))
        return (
            tree.IndexPart(tuple(map(self.expression, p.entries)), p.span)
            if isinstance(p, tree.IndexPart)
            else p
        )

    def expression(self, e: tree.Expr) -> tree.Expr:
        """An expression with what is known computed."""
        self.needs(e)
        names = set(names_in(e))
        if (
            names
            and not names & set(self.hidden)
            and all(self.scope.find(n) or n in (*BUILTINS, "true", "false") for n in names)
        ):
            value = self.evaluator.evaluate(e, self.scope)
            if not isinstance(value, (FunctionValue, Joining, PortPath)):
                return expression_of_value(value, e.span)
        found: tree.Expr = self.inside(e)
        return found

    def inside(self, e: Any) -> Any:
        """The parts of an expression that as a whole is not known."""
        if isinstance(e, tree.PathExpr):
            return self.filled(e)
        if isinstance(e, tree.Comprehension):
            self.hidden.append(e.var.name)
            made = replace(e, item=self.expression(e.item), over=self.expression(e.over))
            self.hidden.pop()
            return made
        return replace(e, **{f.name: self.deep(getattr(e, f.name)) for f in fields(e)})

    def deep(self, x: Any) -> Any:
        """What a field of an expression holds."""
        if isinstance(x, tuple):
            return tuple(map(self.deep, x))
        if isinstance(x, tree.Placeholder):
            return self.piece(x)
        return self.expression(x) if isinstance(x, tree.Expr) else x

    def filled(self, e: tree.PathExpr) -> tree.Expr:
        """A name with brackets: an element of a known list, or a call of a function, whose text is put in its
        place."""
        head = e.parts[0]
        assert isinstance(head, tree.Identifier)
        if head.name in self.hidden or self.scope.find(head.name) is None or len(e.parts) == 1:
            return tree.PathExpr(tuple(self.part(p) for p in e.parts), e.span)
        value = self.scope.value(head.name, e.span)
        part = e.parts[1]
        if isinstance(value, FunctionValue) and isinstance(part, tree.Call) and len(e.parts) == 2:
            args = {
                f.name.name: self.expression(a)
                for f, a in zip(value.definition.formals, part.args, strict=False)
            }
            meaning: dict[str, tree.Expr] = {
                k: v if isinstance(v, ATOMS) else tree.Paren(v, e.span) for k, v in args.items()
            }
            return tree.Paren(self.expression(_substitute_names(value.definition.body, meaning)), e.span)
        index = tuple(
            self.expression(x) for p in e.parts[1:] if isinstance(p, tree.IndexPart) for x in p.entries
        )
        return tree.At(
            expression_of_value(value.sizes if isinstance(value, Dims) else value, e.span), index, e.span
        )

    def needs(self, e: tree.Expr) -> None:
        """Refuse a parameter that nobody gave."""
        require_parameters(self.instance, names_in(e), self.at)


def _with_span(p: Any, span: SourceSpan) -> Any:
    """A part of a path that stands elsewhere, at this place."""
    return replace(p, span=span)


def _settings_but(body: tuple[tree.Stmt, ...], more: tuple[tree.Setting, ...]) -> list[tree.Stmt]:
    """The statements of a connect's body, but for settings that ``more`` says, too."""
    said = {x.name.name for x in more}
    return [x for x in body if not (isinstance(x, tree.Setting) and x.name.name in said)]


def _host_variable(
    made: tree.Connect, ends: EndSet, inner: int, written: tuple[tree.Expr, ...], variables: set[str]
) -> str:
    """The index variable of hosts in a connect of the ends. Raises Fault where the ends have other indices
    than a variable for the host and those of their class, ``inner`` of them."""
    wanted = 1 + max(1, inner)  # a class without an index of its own has one end a host, number 0
    first = written[0] if written else None
    by_host = isinstance(first, tree.PathExpr) and first.bare in variables
    if not by_host or not 1 + inner <= len(written) <= wanted or len(made.a) != 1:
        raise Fault(
            "E0109",
            made.a[0].span,
            f"ends have {wanted} indices here, host by host, then those of `{ends.ports.name}`",
            help="write one index variable for each, as in `ends[h, r]`",
        )
    assert isinstance(first, tree.PathExpr)
    return str(first.bare)


def _expression_from_text(text: str) -> tree.Expr:
    found = parse_expression(text, "ends", Diagnostics())
    assert found is not None
    return found


def _index_variables(s: Any) -> set[str]:
    """Bare names in the brackets of a statement's paths: its index variables, where they have no value."""
    found = [getattr(s, f) for f in PATHS if getattr(s, f, None) is not None]
    paths = [p for x in found for p in (x if isinstance(x, tuple) else (x,))]
    entries = [e for p in paths for part in p.parts if isinstance(part, tree.IndexPart) for e in part.entries]
    return {str(e.bare) for e in entries if isinstance(e, tree.PathExpr) and e.bare}


def names_in(n: Any) -> list[str]:
    """First names of all paths in an expression."""
    if isinstance(n, tree.PathExpr):
        head = n.parts[0]
        assert isinstance(head, tree.Identifier)
        return [head.name, *(x for p in n.parts[1:] for x in names_in(p))]
    if isinstance(n, tuple):
        return [x for item in n for x in names_in(item)]
    if is_dataclass(n) and not isinstance(n, (SourceSpan, tree.Identifier, type)):
        return [x for f in fields(n) for x in names_in(getattr(n, f.name))]
    return []


def _substitute_names(n: Any, meaning: dict[str, tree.Expr]) -> Any:
    """A tree with expressions in the place of bare names. The names of devices in paths are left."""
    if isinstance(n, tree.IndexPart):
        return tree.IndexPart(_substitute_names(n.entries, meaning), n.span)
    if isinstance(n, tree.PathExpr):
        if n.bare in meaning:
            return meaning[str(n.bare)]
        return tree.PathExpr(_substitute_names(n.parts, meaning), n.span)
    if isinstance(n, tree.Comprehension) and n.var.name in meaning:
        inner = {k: v for k, v in meaning.items() if k != n.var.name}
        return replace(n, item=_substitute_names(n.item, inner), over=_substitute_names(n.over, meaning))
    if isinstance(n, tuple):
        return tuple(_substitute_names(x, meaning) for x in n)
    if is_dataclass(n) and not isinstance(n, (SourceSpan, tree.Identifier, type)):
        return replace(n, **{f.name: _substitute_names(getattr(n, f.name), meaning) for f in fields(n)})
    return n


def _swap_field(field: str, x: Any, meaning: dict[str, tree.Expr]) -> Any:
    """What a field of a statement holds with expressions in the place of variables; devices and words keep
    their names."""
    if isinstance(x, tuple):
        return tuple(_swap_field(field, y, meaning) for y in x)
    if isinstance(x, tree.PathExpr) and field in PATHS:
        return tree.PathExpr(_substitute_names(x.parts, meaning), x.span)
    return _swap_items(x, meaning) if field == "body" else _substitute_names(x, meaning)


def _swap_items(s: tree.Stmt, meaning: dict[str, tree.Expr]) -> tree.Stmt:
    """A setting of a connect with expressions in the place of variables; a word of its own, as in ``class
    rail``, is left."""
    if not isinstance(s, tree.Setting):
        return s
    return replace(
        s,
        items=tuple(
            i if isinstance(i.value, tree.PathExpr) and i.value.bare else _substitute_names(i, meaning)
            for i in s.items
        ),
    )
