"""What a parameter may be: its finite domain, read from its type and from the syntax of its guard.

The guard gives bounds (linear comparisons, ``in``, joined by ``and``, ``or`` and ``not``) that leave no
allowed value out; where they say less than the guard, such as beside ``n % 2 == 0``, the guard itself picks
among what is within them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from math import ceil, floor

from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.operators import require_bool
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import Value, WholeRange, fits_type, integer_if_whole, text_of, type_name
from tdsl.syntax import tree
from tdsl.syntax.keywords import OPERATORS
from tdsl.system.lazy_dataclass import dataclass

CANDIDATES = 1 << 16
"""So many values at most are put to a guard that is more than its bounds."""

OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True, slots=True)
class Domain:
    """The values of a parameter in order, None where they are not finite: then ``missing`` and ``help`` say
    why.

    ``allows`` puts a value to the guard. ``alone``: the guard names nothing but the parameter, so the values
    are always these.
    """

    name: str
    span: SourceSpan
    default: Value
    choices: Sequence[Value] | None
    allows: Callable[[Value], bool]
    alone: bool
    missing: str = ""
    help: str = ""

    def also(self, other: Domain) -> Domain:
        """What fits here and there: one name may be a parameter of several fabrics."""
        if self.choices is None:
            kept, rest = other, self
        else:
            kept, rest = self, other

        def allows(value: Value) -> bool:
            return kept.allows(value) and rest.allows(value)

        alone = kept.alone and rest.alone
        if kept.choices is None or kept.choices == rest.choices:
            return replace(kept, allows=allows, alone=alone)
        if isinstance(kept.choices, range) and isinstance(rest.choices, range):
            both: Sequence[Value] = range(
                max(kept.choices.start, rest.choices.start), min(kept.choices.stop, rest.choices.stop)
            )
        else:
            both = tuple(v for v in kept.choices if rest.allows(v))
        return replace(kept, choices=both, allows=allows, alone=alone)


@dataclass(slots=True)
class ParameterSettings:
    """What a call says of parameters: ``texts`` as ``--set`` gives them, and ``values`` those of one
    combination.

    Where there is a list for ``domains``, what each parameter may be is added to it; ``varying`` then tells
    that which parameters there are may rest on the values of others.
    """

    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    phase: Mapping[str, tree.Expr] = field(default_factory=dict)  # what the phase that is planned gives
    domains: list[Domain] | None = None
    varying: bool = False


@dataclass(frozen=True, slots=True)
class Reach:
    """Bounds on a value, None where there is none; or the only ``choices``. ``exact``: a whole number within
    is allowed."""

    low: Fraction | None = None
    high: Fraction | None = None
    whole: bool = False
    exact: bool = False
    choices: tuple[Value, ...] | None = None


ANY = Reach()
Form = tuple[Fraction, Fraction, Fraction]
"""``k·x + c`` with c between two bounds."""


def parameter_domain(scope: Scope, s: tree.Param, evaluator: Evaluator) -> Domain:
    """What a parameter may be, in a scope where its own name has no value. Raises Fault if its default has
    none."""
    name = s.name.name
    default = evaluator.evaluate(s.default, scope)
    kind = s.type.name if s.type is not None else type_name(default)
    reach = _GuardReader(name, scope, evaluator).read(s.guard) if s.guard is not None else Reach(exact=True)

    def allows(value: Value) -> bool:
        if not fits_type(value, kind):
            return False
        if s.guard is None:
            return True
        inner = scope.child()
        inner.set(name, value, s.name.span, "param")
        try:
            return require_bool(evaluator.evaluate(s.guard, inner), s.guard.span)
        except (Fault, Excused):
            return False

    alone = s.guard is None or _names_nothing_but(name, s.guard)
    low, high = _whole_bounds(reach)
    choices: Sequence[Value] | None = None
    missing = help = ""
    if kind == "bool":
        choices = _values_allowed_by_guard((False, True), allows)
    elif reach.choices is not None:
        choices = _values_allowed_by_guard(reach.choices, allows)
    elif (kind == "int" or reach.whole) and low is not None and high is not None:
        choices = _whole_numbers_allowed(range(low, high + 1), reach.exact and kind == "int", allows)
        if choices is None:
            missing = (
                f"its guard is more than bounds, and {high - low + 1:,} numbers are too many to put to it"
            )
            help = (
                f"narrow the range to {CANDIDATES:,} numbers, or list the values: `where {name} in "
                f"[{text_of(default)}, …]`"
            )
    elif kind == "int":
        missing, help = _missing_bound(s, low, high, default)
    else:
        missing = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} has no finite range"
        help = f"list what it may be: `where {name} in [{s.default.span.text}, …]`"
    return Domain(name, s.name.span, default, choices, allows, alone, missing, help)


def _whole_numbers_allowed(
    within: range, exact: bool, allows: Callable[[Value], bool]
) -> Sequence[Value] | None:
    """The whole numbers of a range that the guard allows: all, where its bounds are ``exact``. None where
    there are too many to put to it."""
    # Both ends are put to the guard, too: metres compared with watts have bounds, and no answer.
    if exact and (not within or (allows(within[0]) and allows(within[-1]))):
        return within
    return None if within.stop - 1 - within.start >= CANDIDATES else _values_allowed_by_guard(within, allows)


def _names_nothing_but(name: str, guard: tree.Expr) -> bool:
    """Whether a guard is about one name alone."""
    words = re.findall(r"[A-Za-z_]\w*", guard.span.text)
    return all(word == name or word in OPERATORS for word in words)


def _whole_bounds(reach: Reach) -> tuple[int | None, int | None]:
    low = None if reach.low is None else ceil(reach.low)
    return low, None if reach.high is None else floor(reach.high)


def _values_allowed_by_guard(values: Iterable[Value], allows: Callable[[Value], bool]) -> tuple[Value, ...]:
    """Those that the guard allows, each once."""
    out: dict[tuple[str, Value], Value] = {}
    for value in values:
        if allows(value):
            out.setdefault((type_name(value), value), value)
    return tuple(out.values())


def _missing_bound(s: tree.Param, low: int | None, high: int | None, default: Value) -> tuple[str, str]:
    """Which bound a whole number lacks, and how to write it."""
    name = s.name.name
    top = max(default, low or 1) if isinstance(default, int) else 8
    if low is None and high is None:
        bound, text = "no bounds", f"1 <= {name} <= {max(top, 1)}"
    elif high is None:
        bound, text = "no upper bound", f"{name} <= {top}"
    else:
        bound, text = "no lower bound", f"{name} >= {min(1, high or 0)}"
    if s.guard is not None:
        loose = isinstance(s.guard, tree.Cond) or (
            isinstance(s.guard, tree.Chain) and any(op == "or" for op, _ in s.guard.rest)
        )
        old = " ".join(s.guard.span.text.split())
        text = f"({old}) and {text}" if loose else f"{old} and {text}"
    return f"it has {bound}", f"write, for example, `where {text}`"


@dataclass(frozen=True, slots=True)
class _GuardReader:
    """Reads bounds on one name from conditions. What mentions the name has no value in the scope, and all
    else is constant."""

    name: str
    scope: Scope
    evaluator: Evaluator

    def read(self, e: tree.Expr, negated: bool = False) -> Reach:
        """Bounds that hold wherever the condition does, or does not."""
        if isinstance(e, tree.Paren):
            return self.read(e.inner, negated)
        if isinstance(e, tree.Unary) and e.op == "not":
            return self.read(e.operand, not negated)
        if not isinstance(e, tree.Chain):
            return ANY
        if {op for op, _ in e.rest} <= {"and", "or"}:
            held = self.read(e.first, negated)
            for op, x in e.rest:
                part = self.read(x, negated)
                held = (
                    _intersect_bounds(held, part) if (op == "and") != negated else _unite_bounds(held, part)
                )
            return held
        return self.comparisons(e, negated)

    def comparisons(self, e: tree.Chain, negated: bool) -> Reach:
        """Bounds from a chain such as ``1 <= n <= 8``: all its comparisons hold, or one of them does not."""
        join = _unite_bounds if negated else _intersect_bounds
        out: Reach | None = None
        left = e.first
        for op, right in e.rest:
            part = self.compared(op, left, right, negated)
            out = part if out is None else join(out, part)
            left = right
        return out or ANY

    def compared(self, op: str, left: tree.Expr, right: tree.Expr, negated: bool) -> Reach:
        """Bounds from one comparison."""
        if op == "in":
            return ANY if negated else self.member(left, right)
        op = OPPOSITE.get(op, "") if negated else op
        if op == "==":
            for this, that in ((left, right), (right, left)):
                value = self.constant(that)
                if self.bare(this) and value is not None:
                    return Reach(choices=(value,))
        a, b = self.form(left), self.form(right)
        return (
            ANY if a is None or b is None else _solve_comparison((a[0] - b[0], a[1] - b[2], a[2] - b[1]), op)
        )

    def member(self, left: tree.Expr, right: tree.Expr) -> Reach:
        """``x in 1..8`` and ``x in [1, 2, 4]``."""
        values = self.constant(right)
        if isinstance(values, tuple):
            return Reach(choices=values) if self.bare(left) else ANY
        form = self.form(left)
        if not isinstance(values, WholeRange) or form is None:
            return ANY
        k, c, d = form
        inside = _intersect_bounds(
            _solve_comparison((k, c - values.low, d - values.low), ">="),
            _solve_comparison((k, c - values.high, d - values.high), "<="),
        )
        bare = self.bare(left)
        return Reach(inside.low, inside.high, bare, inside.exact and bare)

    def bare(self, e: tree.Expr) -> bool:
        """Whether this is the name itself."""
        while isinstance(e, tree.Paren):
            e = e.inner
        return isinstance(e, tree.PathExpr) and e.bare == self.name

    def constant(self, e: tree.Expr) -> Value | None:
        """The value of what does not rest on the name."""
        try:
            return self.evaluator.evaluate(e, self.scope)
        except (Fault, Excused):
            return None

    def form(self, e: tree.Expr) -> Form | None:
        """A number that is linear in the name, up to what rounding takes."""
        if self.bare(e):
            return Fraction(1), Fraction(0), Fraction(0)
        value = self.constant(e)
        if value is not None:
            return _constant_linear_form(value)
        if isinstance(e, tree.Paren):
            return self.form(e.inner)
        if isinstance(e, tree.Unary) and e.op == "-":
            inner = self.form(e.operand)
            return None if inner is None else _scale_linear_form(inner, Fraction(-1))
        if not isinstance(e, tree.Chain):
            return None
        out = self.form(e.first)
        for op, x in e.rest:
            other = self.form(x)
            out = None if out is None or other is None else _combine_linear_forms(op, out, other)
        return out


def _constant_linear_form(value: Value) -> Form | None:
    """The form of a number or an amount, None of any other value."""
    amount = value.amount if isinstance(value, Quantity) else integer_if_whole(value)
    if isinstance(amount, bool) or not isinstance(amount, (int, Fraction)):
        return None
    return Fraction(0), Fraction(amount), Fraction(amount)


def _scale_linear_form(f: Form, by: Fraction) -> Form:
    k, c, d = (x * by for x in f)
    return k, min(c, d), max(c, d)


def _combine_linear_forms(op: str, a: Form, b: Form) -> Form | None:
    """``a op b``, where that is linear."""
    if op in ("+", "-"):
        k, c, d = b if op == "+" else _scale_linear_form(b, Fraction(-1))
        return a[0] + k, a[1] + c, a[2] + d
    if op == "*" and a[0] == 0 and a[1] == a[2]:
        a, b = b, a
    if b[0] != 0 or b[1] != b[2]:
        return None
    by = b[1]
    if op == "*":
        return _scale_linear_form(a, by)
    if op not in ("/", "//", "%") or by == 0:
        return None
    if op == "%":
        return Fraction(0), Fraction(0), abs(by)
    k, c, d = _scale_linear_form(a, 1 / by)
    return k, c - 1 if op == "//" else c, d


def _solve_comparison(f: Form, op: str) -> Reach:
    """Whole numbers x for which ``k·x + c op 0`` for some c of its range."""
    k, c, d = f
    if k == 0 or op not in ("<", "<=", ">", ">=", "=="):
        return ANY
    exact = c == d
    if op == "==":
        ends = sorted((-c / k, -d / k))
        return Reach(Fraction(ceil(ends[0])), Fraction(floor(ends[1])), exact=exact)
    low_side = op in ("<", "<=")
    bound = -(c if low_side else d) / k
    if k < 0:
        op = MIRROR[op]
    if op in ("<", "<="):
        return Reach(high=Fraction(ceil(bound) - 1 if op == "<" else floor(bound)), exact=exact)
    return Reach(low=Fraction(floor(bound) + 1 if op == ">" else ceil(bound)), exact=exact)


def _intersect_bounds(a: Reach, b: Reach) -> Reach:
    """Where both hold."""
    if a.choices is not None or b.choices is not None:
        return a if b.choices is None or (a.choices is not None and len(a.choices) <= len(b.choices)) else b
    low = [x for x in (a.low, b.low) if x is not None]
    high = [x for x in (a.high, b.high) if x is not None]
    return Reach(max(low, default=None), min(high, default=None), a.whole or b.whole, a.exact and b.exact)


def _unite_bounds(a: Reach, b: Reach) -> Reach:
    """Where one of them holds at least."""
    if a.choices is not None and b.choices is not None:
        return Reach(choices=(*a.choices, *b.choices))
    a, b = _bounds_around_choices(a), _bounds_around_choices(b)
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    return Reach(low, high, a.whole and b.whole)


def _bounds_around_choices(r: Reach) -> Reach:
    """Choices as the bounds around them."""
    if r.choices is None:
        return r
    numbers = [v for v in r.choices if isinstance(v, int) and not isinstance(v, bool)]
    if not numbers or len(numbers) < len(r.choices):
        return ANY
    return Reach(Fraction(min(numbers)), Fraction(max(numbers)), whole=True)
