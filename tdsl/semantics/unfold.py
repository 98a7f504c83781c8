"""A topology's statements with its parameters filled in: what could be written in their place, and means the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

from tdsl.diagnostic import Diagnostics
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.ends import Ends
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.operators import truth
from tdsl.semantics.scope import Binding
from tdsl.semantics.sizing import Aim
from tdsl.semantics.topology import Instance, Joining, required
from tdsl.semantics.values import Function, Value, text_of
from tdsl.source import Span
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

PLANE = "plane"
ATOMS = (tree.Number, tree.RatioLit, tree.DimsLit, tree.Str, tree.Path, tree.Paren, tree.ListExpr, tree.Measure)


def literal(value: Value, span: Span) -> tree.Expr:
    """An expression that is worth this value."""
    if isinstance(value, Aim):
        value = value.ratio
    if isinstance(value, Fraction) and value.denominator != 1:
        text = f"{value.numerator}:{value.denominator}"
    elif isinstance(value, str):
        return tree.Str((str(value),), span)
    elif isinstance(value, tuple):
        return tree.ListExpr(tuple(literal(v, span) for v in value), span)
    else:
        text = text_of(value)
    found = parse_expression(text, "value", Diagnostics())
    if found is None:
        raise Fault("E0120", span, f"{text} cannot be written as a value")
    return found if isinstance(found, ATOMS) else tree.Paren(found, span)


class Unfolder:
    """Rewrites the statements of one instance of a topology."""

    def __init__(self, instance: Instance, ends: Ends, at: Span, evaluator: Evaluator, fresh: Callable[[str], str]) -> None:
        self.instance, self.ends, self.at, self.evaluator, self.fresh = instance, ends, at, evaluator, fresh
        self.scope = instance.scope
        self.hidden: list[str] = []  # variables of loops around

    def run(self) -> list[tuple[tree.Stmt, Span]]:
        """Statements in order, each with the line of the topology it comes from."""
        for s in self.instance.node.body:
            if isinstance(s, tree.Let):
                self.let(s)
        inside: list[tuple[tree.Stmt, Span]] = []
        joined: list[tuple[tree.Stmt, Span]] = []
        for s in self.instance.node.body:
            if isinstance(s, (tree.Let, tree.Tier)):
                continue
            if isinstance(s, tree.Connect) and self.names_ends(s):
                joined += [(made, s.span) for made in self.ended(s)]
            else:
                inside += [(made, s.span) for made in self.statement(s)]
        if self.ends.planes and inside:
            at = self.at
            shape = (tree.Extent(tree.Number(self.ends.planes, at), None, at),)
            word = tree.Member(PLANE, at)
            inside = [(tree.Decl(word, word, shape, None, None, tuple(s for s, _ in inside), at), inside[0][1])]
        declared = [x for x in inside if isinstance(x[0], tree.Decl)]
        return [*declared, *joined, *(x for x in inside if not isinstance(x[0], tree.Decl))]

    def let(self, s: tree.Let) -> None:
        """A value of the topology's own, computed when asked for."""
        self.scope.define(s.name.name, Binding("let", s.name.span, lambda: self.evaluator.evaluate(s.value, self.scope)))

    # ------------------------------------------------------------ statements
    def statement(self, s: tree.Stmt) -> list[tree.Stmt]:
        """What one statement becomes; branches are chosen now."""
        if isinstance(s, tree.If):
            for test, body in s.branches:
                self.needs(test)
                if truth(self.evaluator.evaluate(test, self.scope), test.span):
                    return [x for inner in body for x in self.statement(inner)]
            return [x for inner in s.other for x in self.statement(inner)]
        if isinstance(s, tree.For):
            over = self.expression(s.over)
            self.hidden.append(s.var.name)
            body = tuple(x for inner in s.body for x in self.statement(inner))
            self.hidden.pop()
            return [replace(s, over=over, body=body)]
        if isinstance(s, tree.Decl):
            made: tree.Decl = self.node(replace(s, of=None, body=None))
            of = self.expression(s.of) if s.of is not None else None
            held = None if s.body is None else tuple(x for inner in s.body for x in self.statement(inner))
            return [replace(made, of=of, body=held)]
        if isinstance(s, tree.Connect):
            if self.names_ends(s):
                raise Fault("E0120", s.span, "ends are joined by statements in the topology's own block")
            return [self.connect(s)]
        if isinstance(s, (tree.Omit, tree.Naming, tree.Setting)):
            return [self.node(s)]
        raise Fault(
            "E0118",
            s.span,
            "this does not stand in a topology",
            help="known: devices, groups, connect, let, if, for, omit, naming",
        )

    def connect(self, s: tree.Connect) -> tree.Connect:
        """A connect with its pattern, if that is a parameter."""
        given = self.value_of(s.pattern.name.name) if s.pattern is not None else None
        made: tree.Connect = self.node(s)
        if isinstance(given, Joining):
            if given.pattern is None:
                raise Fault("E0120", self.at, "this pattern says what links cross, and the topology asks how ends are dealt")
            made = replace(made, pattern=given.pattern, copies=made.copies or given.copies)
        return made

    def value_of(self, name: str) -> Value:
        """The value of a parameter, None if there is none of this name."""
        binding = self.scope.names.get(name)
        return binding.value if binding is not None else None

    # ------------------------------------------------------------ ends
    def names_ends(self, s: tree.Connect) -> bool:
        """Whether a connect's first path is the ends."""
        head = s.a[0].parts[0]
        return bool(self.instance.ends) and isinstance(head, tree.Member) and head.name == self.instance.ends

    def ended(self, s: tree.Connect) -> list[tree.Stmt]:
        """A connect of the ends, once for each set of hosts."""
        index = s.a[0].parts[1] if len(s.a[0].parts) == 2 else None
        written = index.entries if isinstance(index, tree.Index) else ()
        variables = [e.bare for e in written if isinstance(e, tree.Path) and e.bare]
        out: list[tree.Stmt] = []
        for ends in self.ends.sets:
            inner = len(ends.ports.axes) - bool(self.ends.planes)
            wanted = 1 + max(1, inner)  # a class without an index of its own has one end a host, number 0
            if len(variables) != len(written) or not 1 + inner <= len(written) <= wanted or len(s.a) != 1:
                raise Fault(
                    "E0109", s.a[0].span, f"ends have {wanted} indices here, host by host, then those of `{ends.ports.name}`",
                    help="write one index variable for each, as in `ends[h, r]`",
                )  # fmt: skip
            names = self.ends.variables(ends, self.fresh)
            kept = names.path[names.path.rindex("[") + 1 : -1].split(", ") if ends.ports.axes else []
            meaning = {str(variables[0]): self.ends.flat_host(ends, names)}
            meaning |= dict(zip(map(str, variables[1:]), kept if inner else ["0"], strict=False))
            made = self.connect(s)
            told = {k: _parsed(v) for k, v in meaning.items()}
            b = tuple(self.planed(tree.Path(_swap(p.parts, told), p.span), names.plane) for p in made.b)
            a = _parsed(names.path)
            assert isinstance(a, tree.Path)
            via = made.via and tree.Path(_swap(made.via.parts, told), made.via.span)
            copies, guard = _swap(made.copies, told), _swap(made.guard, told)
            out.append(replace(made, a=(a,), b=b, via=via, copies=copies, guard=guard))
        return out

    def planed(self, path: tree.Path, plane: str) -> tree.Path:
        """The path of a device that stands in a plane."""
        if not self.ends.planes:
            return path
        head = tree.Path((tree.Member(PLANE, path.span), tree.Index((_parsed(plane),), path.span)), path.span)
        return tree.Path((*head.parts, *path.parts), path.span)

    # ------------------------------------------------------------ expressions
    def node(self, n: Any) -> Any:
        """Any part of a statement; paths to devices keep their names, and only their indices are filled in."""
        if isinstance(n, tree.Path):
            return tree.Path(tuple(self.part(p) for p in n.parts), n.span)
        if isinstance(n, tree.Extent):
            return tree.Extent(self.expression(n.value), self.expression(n.of) if n.of is not None else None, n.span)
        if isinstance(n, tree.Item):
            return tree.Item(self.expression(n.value), tuple((w, self.expression(v)) for w, v in n.args), n.span)
        if isinstance(n, (tree.Member, tree.PatternRef, Span, type)) or not is_dataclass(n):
            return tuple(map(self.node, n)) if isinstance(n, tuple) else n
        if isinstance(n, tree.Expr) and not isinstance(n, tree.Str):
            return self.expression(n)
        made: Any = n
        return replace(made, **{f.name: self.node(getattr(n, f.name)) for f in fields(n)})

    def part(self, p: tree.Member | tree.Index | tree.Call) -> tree.Member | tree.Index | tree.Call:
        """A part of a path: the entries of its brackets."""
        return tree.Index(tuple(map(self.expression, p.entries)), p.span) if isinstance(p, tree.Index) else p

    def expression(self, e: tree.Expr) -> tree.Expr:
        """An expression with what is known computed."""
        self.needs(e)
        names = set(names_in(e))
        if names and not names & set(self.hidden) and all(self.scope.find(n) or n in (*BUILTINS, "true", "false") for n in names):
            value = self.evaluator.evaluate(e, self.scope)
            if not isinstance(value, (Function, Joining)):
                return literal(value, e.span)
        found: tree.Expr = self.inside(e)
        return found

    def inside(self, e: Any) -> Any:
        """The parts of an expression that as a whole is not known."""
        if isinstance(e, tree.Path):
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
        return self.expression(x) if isinstance(x, tree.Expr) else x

    def filled(self, e: tree.Path) -> tree.Expr:
        """A name with brackets: an element of a known list, or a call of a function, whose text is put in its place."""
        head = e.parts[0]
        assert isinstance(head, tree.Member)
        if head.name in self.hidden or self.scope.find(head.name) is None or len(e.parts) == 1:
            return tree.Path(tuple(self.part(p) for p in e.parts), e.span)
        value = self.scope.value(head.name, e.span)
        part = e.parts[1]
        if isinstance(value, Function) and isinstance(part, tree.Call) and len(e.parts) == 2:
            args = {f.name.name: self.expression(a) for f, a in zip(value.definition.formals, part.args, strict=False)}
            return tree.Paren(
                self.inside(_swap(value.definition.body, {k: tree.Paren(v, e.span) for k, v in args.items()})), e.span
            )
        index = tuple(self.expression(x) for p in e.parts[1:] if isinstance(p, tree.Index) for x in p.entries)
        return tree.At(literal(value, e.span), index, e.span)

    def needs(self, e: tree.Expr) -> None:
        """Refuse a parameter that nobody gave."""
        required(self.instance, names_in(e), self.at)


def _parsed(text: str) -> tree.Expr:
    found = parse_expression(text, "ends", Diagnostics())
    assert found is not None
    return found


def names_in(n: Any) -> list[str]:
    """First names of all paths in an expression."""
    if isinstance(n, tree.Path):
        head = n.parts[0]
        assert isinstance(head, tree.Member)
        return [head.name, *(x for p in n.parts[1:] for x in names_in(p))]
    if isinstance(n, tuple):
        return [x for item in n for x in names_in(item)]
    if is_dataclass(n) and not isinstance(n, (Span, tree.Member, type)):
        return [x for f in fields(n) for x in names_in(getattr(n, f.name))]
    return []


def _swap(n: Any, meaning: dict[str, tree.Expr]) -> Any:
    """A tree with expressions in the place of bare names. The names of devices in paths are left."""
    if isinstance(n, tree.Index):
        return tree.Index(tuple(_swap(x, meaning) for x in n.entries), n.span)
    if isinstance(n, tree.Path):
        if n.bare in meaning:
            return meaning[str(n.bare)]
        return tree.Path(tuple(_swap(p, meaning) for p in n.parts), n.span)
    if isinstance(n, tuple):
        return tuple(_swap(x, meaning) for x in n)
    if is_dataclass(n) and not isinstance(n, (Span, tree.Member, type)):
        return replace(n, **{f.name: _swap(getattr(n, f.name), meaning) for f in fields(n)})
    return n
