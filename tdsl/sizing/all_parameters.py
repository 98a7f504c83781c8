"""A number of switches for all values of the parameters at once: the extents as a formula, and what is
required of it put to z3.

Understood are declarations in a fabric and its groups, and extents made of whole numbers, parameters and lets
by ``+ - * // %``, ``min``, ``max`` and conditions. Anything else that may change what is built is not, and
then nothing is said: other statements that declare or leave out, holes, intents. What z3 (de Moura and
Bjørner, TACAS 2008) cannot settle within fixed work stays open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import z3

from tdsl.semantics.ranges import Domain
from tdsl.semantics.values import Value
from tdsl.sizing.budget import DEFAULT
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

z3.set_param("ctrl_c", False)  # else z3 takes Ctrl-C as the end of its search, and tdsl goes on

METRIC = "switches"
GROUPS = ("group", "pod", "plane", "rack", "site", "cube", "cell")
DEVICES = ("host", "chip", "switch", "ocs", "panel")
HARMLESS = (tree.Connect, tree.Naming, tree.Require, tree.Let, tree.Param, tree.Def)
"""Statements of a fabric that build and leave out no device."""

SIGNS: Mapping[str, Any] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}

Answer = Literal["proved"] | Mapping[str, Value] | None
"""Proved, or values of the parameters for which it does not hold, or not known."""


class _Unread(Exception):
    """Something that no formula is made of."""


@dataclass(slots=True)
class _SymbolTable:
    """What names mean in a block: a term of z3, or an expression still to be read."""

    known: dict[str, Any]
    parent: _SymbolTable | None = None
    reading: int = 0

    def add(self, body: Iterable[tree.Stmt]) -> None:
        """The lets and functions of a block; what cannot be read is None."""
        for s in body:
            if isinstance(s, tree.Let):
                plain = s.guard is None and (s.type is None or s.type.name == "int")
                self.known[s.name.name] = s.value if plain else None
            elif isinstance(s, tree.Def):
                self.known[s.name.name] = None

    def has(self, name: str) -> bool:
        """Whether a name has a meaning here."""
        return name in self.known or (self.parent is not None and self.parent.has(name))

    def term(self, name: str) -> Any:
        """The term that a name means."""
        at: _SymbolTable | None = self
        while at is not None and name not in at.known:
            at = at.parent
        if at is None or at.known[name] is None or at.reading > DEFAULT.names:
            raise _Unread
        found = at.known[name]
        if not z3.is_expr(found):
            at.reading += 1
            found = at.known[name] = _TermReader(at, []).number(found)
        return found


@dataclass(slots=True)
class _TermReader:
    """Expressions as terms. ``needs`` collects what must hold for a term to mean the expression."""

    names: _SymbolTable
    needs: list[Any] = field(default_factory=list)

    def number(self, e: tree.Expr) -> Any:
        """A whole number."""
        match e:
            case tree.Number(value=int(value)):
                return z3.IntVal(value)
            case tree.Paren():
                return self.number(e.inner)
            case tree.Unary(op="-"):
                return -self.number(e.operand)
            case tree.PathExpr() if e.bare is not None:
                return self.whole(self.names.term(e.bare))
            case tree.PathExpr(parts=(tree.Identifier(name="min" | "max" as name), tree.Call(args=args))) if (
                args and not self.names.has(name)
            ):
                out = self.number(args[0])
                for x in map(self.number, args[1:]):
                    out = z3.If((x < out) if name == "min" else (x > out), x, out)
                return out
            case tree.Cond():
                return z3.If(self.truth(e.test), self.number(e.then), self.number(e.other))
            case tree.Chain():
                out = self.number(e.first)
                for op, x in e.rest:
                    out = self.joined(op, out, self.number(x))
                return out
        raise _Unread

    def joined(self, op: str, a: Any, b: Any) -> Any:
        """``a op b``; z3 rounds down as the language does where the divisor is positive, and only that is
        read."""
        if op in ("//", "%"):
            if not (z3.is_int_value(b) and b.as_long() > 0):
                raise _Unread
            return a / b if op == "//" else a % b
        if op not in ("+", "-", "*"):
            raise _Unread
        return a + b if op == "+" else a - b if op == "-" else a * b

    def truth(self, e: tree.Expr) -> Any:
        """A condition."""
        match e:
            case tree.Paren():
                return self.truth(e.inner)
            case tree.Unary(op="not"):
                return z3.Not(self.truth(e.operand))
            case tree.PathExpr() if e.bare in ("true", "false"):
                return z3.BoolVal(e.bare == "true")
            case tree.PathExpr() if e.bare is not None:
                found = self.names.term(e.bare)
                if z3.is_bool(found):
                    return found
            case tree.Chain() if {op for op, _ in e.rest} <= {"and", "or"}:
                out = self.truth(e.first)
                for op, x in e.rest:
                    out = z3.And(out, self.truth(x)) if op == "and" else z3.Or(out, self.truth(x))
                return out
            case tree.Chain() if {op for op, _ in e.rest} <= set(SIGNS):
                parts, left = [], self.number(e.first)
                for op, x in e.rest:
                    right = self.number(x)
                    parts.append(SIGNS[op](left, right))
                    left = right
                return z3.And(*parts)
        raise _Unread

    def whole(self, term: Any) -> Any:
        """A term that must be a number."""
        if not z3.is_int(term):
            raise _Unread
        return term

    def extent(self, e: tree.Extent) -> Any:
        """How many an extent builds; what it is refused for becomes a need."""
        if isinstance(e.value, tree.Range):
            size = self.number(e.value.high) - self.number(e.value.low) + 1
        elif isinstance(e.value, tree.DimsLit) and e.of is None:
            size = z3.IntVal(1)
            for n in e.value.sizes:
                size = size * n
        else:
            size = self.number(e.value)
        self.needs.append(size >= 1)
        if e.of is not None:
            self.needs.append(size <= self.number(e.of))
        return size

    def switches(self, body: Iterable[tree.Stmt], each: Any) -> Any:
        """How many switches a block builds, if it is there so many times."""
        body = tuple(body)
        total = z3.IntVal(0)
        for s in body:
            if isinstance(s, HARMLESS):
                continue
            if not isinstance(s, tree.Decl) or s.kind.name not in (*GROUPS, *DEVICES):
                raise _Unread
            size = each
            for extent in s.shape or ():
                size = size * self.extent(extent)
            if s.kind.name in GROUPS:
                inner = _SymbolTable({}, self.names)
                inner.add(s.body or ())
                total = total + _TermReader(inner, self.needs).switches(s.body or (), size)
            elif s.kind.name == "switch":
                total = total + size
        return total


def prove_switch_count(
    module: Sequence[tree.Stmt],
    fabric: str,
    requirement: str,
    domains: Sequence[Domain],
    fixed: Mapping[str, Value],
    measured: Iterable[tuple[Mapping[str, Value], int]],
) -> Answer:
    """Whether ``switches …`` holds of a fabric of this text for all values of its parameters.

    ``fixed`` are parameters with one value. ``measured`` are numbers of switches that were counted for some
    values: the formula must give each of them, or nothing is said.
    """
    names = _SymbolTable({})
    variables = {d.name: z3.Bool(d.name) if isinstance(d.default, bool) else z3.Int(d.name) for d in domains}
    try:
        claim, node = _claim_and_fabric_sought(module, fabric, requirement)
        within = [_z3_domain(variables[d.name], d.choices or ()) for d in domains]
        names.known = {name: _z3_constant(value) for name, value in fixed.items()} | variables
        names.add([*module, *(node.body or ())])
        reader = _TermReader(names)
        total = reader.switches(node.body or (), z3.IntVal(1))
        assert claim.op is not None and claim.value is not None
        holds = z3.And(SIGNS[claim.op](total, reader.number(claim.value)), *reader.needs)
    except _Unread:
        return None
    if not all(_formula_value(total, variables, values) == str(count) for values, count in measured):
        return None
    lowest = {d.name: min(d.choices) for d in domains if d.choices}  # type: ignore[type-var]
    return _proof_or_counterexample(z3.And(*within), holds, variables, lowest)  # type: ignore[arg-type]


def _formula_value(total: Any, variables: Mapping[str, Any], values: Mapping[str, Value]) -> str:
    """What a formula is for some values of its variables, as text."""
    pairs = [(variables[name], _z3_constant(value)) for name, value in values.items()]
    return str(z3.simplify(z3.substitute(total, *pairs)).as_string())


def _claim_and_fabric_sought(
    module: Sequence[tree.Stmt], fabric: str, requirement: str
) -> tuple[tree.Claim, tree.Decl]:
    """The claim and the fabric that are meant, if nothing else speaks of the fabric."""
    if any(isinstance(s, (tree.Extend, tree.Override, tree.Broken)) for s in module):
        raise _Unread
    found = [
        s for s in module if isinstance(s, tree.Decl) and s.kind.name == "fabric" and s.name.name == fabric
    ]
    for node in found:
        for s in node.body or ():
            for claim in s.claims if isinstance(s, tree.Require) and not s.report else ():
                if " ".join(claim.span.text.split()) == requirement and _is_plain_switch_claim(claim):
                    return claim, node
    raise _Unread


def _is_plain_switch_claim(claim: tree.Claim) -> bool:
    clauses = (
        claim.args,
        claim.any_count,
        claim.of,
        claim.of_to,
        claim.at,
        claim.under,
        claim.through,
        claim.given,
    )
    return claim.metric.name == METRIC and claim.op in SIGNS and claim.value is not None and not any(clauses)


def _z3_constant(value: Value) -> Any:
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if isinstance(value, int) else None


def _z3_domain(x: Any, choices: Sequence[Value]) -> Any:
    if isinstance(choices, range):
        return z3.And(x >= choices.start, x < choices.stop)
    if len(choices) > DEFAULT.listed_values or not all(isinstance(v, int) for v in choices):
        raise _Unread
    return z3.Or(*(x == _z3_constant(v) for v in choices))


def _proof_or_counterexample(
    within: Any, holds: Any, variables: Mapping[str, Any], lowest: Mapping[str, int]
) -> Answer:
    """Look for values that break it; then for lower ones, the first parameter first."""
    solver = z3.SimpleSolver()  # tactics of the other have limits in seconds
    solver.set("rlimit", DEFAULT.parameter_work)
    solver.add(within, z3.Not(holds))
    found = solver.check()
    if found == z3.unsat:
        return "proved"
    if found != z3.sat:
        return None
    best = _model_values(solver, variables)
    for name, x in variables.items():
        low, high = lowest.get(name, 0), best[name]
        while z3.is_int(x) and low < high:
            middle = (low + high) // 2
            solver.push()
            solver.add(x <= middle)
            found = solver.check()
            if found == z3.sat:
                best = _model_values(solver, variables)
            solver.pop()
            if found == z3.unknown:
                break
            low, high = (low, best[name]) if found == z3.sat else (middle + 1, high)
        solver.add(x == best[name])
    return best


def _model_values(solver: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    model = solver.model()
    values = {name: model.eval(x, model_completion=True) for name, x in variables.items()}
    return {name: z3.is_true(v) if z3.is_bool(v) else v.as_long() for name, v in values.items()}
