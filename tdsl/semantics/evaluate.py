"""Expressions to values: exact arithmetic with units. Raises Fault for a user's mistake, which the caller collects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.fault import Excused, Fault, nearest, unknown
from tdsl.semantics.quantity import NONE, UNIT_TABLE, Quantity, kind_name
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import (
    Builtin, Dims, Function, ModelName, Value, WholeRange, Word, fits, text_of, type_name, whole,
)  # fmt: skip
from tdsl.source import Span
from tdsl.syntax import tree

STEP_LIMIT = 5_000_000
LIST_LIMIT = 1 << 20
BIT_LIMIT = 4096


@dataclass(slots=True)
class Evaluator:
    """Evaluates expressions in a scope.

    ``words`` lets a bare unknown name stand for itself (settings). ``is_model`` tells names of models. ``steps`` is shared by
    all evaluations of one compilation, so that no file can ask for endless work.
    """

    is_model: object = None  # Callable[[str], bool]
    steps: int = 0

    def evaluate(self, e: tree.Expr, scope: Scope, *, words: bool = False) -> Value:
        """The value of an expression."""
        self.steps += 1
        if self.steps > STEP_LIMIT:
            raise Fault(
                "E0116",
                e.span,
                f"this takes more than {STEP_LIMIT:,} steps to compute",
                help="compute less: a list or a function here grows too fast",
            )
        match e:
            case tree.Number():
                return whole(e.value)
            case tree.Measure():
                return measure(e)
            case tree.RatioLit():
                if e.right == 0:
                    raise Fault("E0120", e.span, "the right side of a ratio is zero")
                return whole(Fraction(e.left) / Fraction(e.right))
            case tree.DimsLit():
                return Dims(e.sizes)
            case tree.Str():
                return self.string(e, scope)
            case tree.Path():
                return self.path(e, scope, words)
            case tree.Paren():
                return self.evaluate(e.inner, scope, words=words)
            case tree.Unary():
                return self.unary(e, scope)
            case tree.Chain():
                return self.chain(e, scope)
            case tree.Power():
                return power(self.evaluate(e.base, scope), self.evaluate(e.exponent, scope), e.span)
            case tree.Cond():
                test = truth(self.evaluate(e.test, scope), e.test.span)
                return self.evaluate(e.then if test else e.other, scope)
            case tree.TupleExpr():
                return Dims(tuple(self.integer(i, scope) for i in e.items))
            case tree.ListExpr():
                return tuple(self.evaluate(i, scope, words=words) for i in e.items)
            case tree.Comprehension():
                return self.comprehension(e, scope)
            case tree.At():
                value = self.evaluate(e.base, scope)
                for i in e.index:
                    value = element(value, self.evaluate(i, scope), i.span)
                return value
            case tree.Range():
                return WholeRange(self.integer(e.low, scope), self.integer(e.high, scope))
            case tree.Net():
                return e.text
            case tree.Hole():
                raise Fault(
                    "E0117",
                    e.span,
                    "a hole `?` is not solved by this version",
                    help="write the number; `tdsl check` says if it does not fit",
                )
            case tree.Star():
                raise Fault("E0120", e.span, "`*` means all members and stands only inside the brackets of a path")
        raise AssertionError(e)

    def integer(self, e: tree.Expr, scope: Scope) -> int:
        """The value of an expression that must be a whole number."""
        value = whole(self.evaluate(e, scope))
        if isinstance(value, bool) or not isinstance(value, int):
            raise not_whole(value, e)
        return value

    def string(self, e: tree.Str, scope: Scope) -> str:
        """A string with its placeholders filled in."""
        out: list[str] = []
        for part in e.parts:
            if isinstance(part, str):
                out.append(part)
                continue
            value = self.evaluate(part.value, scope)
            if not part.format:
                out.append(text_of(value))
                continue
            try:
                out.append(format(value, part.format))
            except (ValueError, TypeError, OverflowError) as error:
                raise Fault(
                    "E0120",
                    part.span,
                    f"the format `{part.format}` does not fit a {type_name(value)}: {error}",
                    help="use a Python format such as `02` for a number",
                ) from None
            if len(out[-1]) > BIT_LIMIT:
                raise Fault("E0116", part.span, f"this format makes {len(out[-1]):,} characters")
        return "".join(out)

    def path(self, e: tree.Path, scope: Scope, words: bool) -> Value:
        """A name, a list's element or a call."""
        head = e.parts[0]
        assert isinstance(head, tree.Member)
        value = self.name(head, scope, words and len(e.parts) == 1)
        for part in e.parts[1:]:
            if isinstance(part, tree.Index):
                for entry in part.entries:
                    value = element(value, self.evaluate(entry, scope), entry.span)
            elif isinstance(part, tree.Call):
                value = self.call(value, part, scope, e.span)
            else:
                raise Fault(
                    "E0103",
                    part.span,
                    f"a {type_name(value)} has no member `{part.name}`",
                    help="a path to a device is not a value; it stands in connect, omit, naming and require",
                )
        return value

    def name(self, head: tree.Member, scope: Scope, words: bool) -> Value:
        """What a name is worth."""
        name = head.name
        if scope.find(name) is not None:
            return scope.value(name, head.span)
        if name in BUILTINS:
            return BUILTINS[name]
        if name in ("true", "false"):
            return name == "true"
        if callable(self.is_model) and self.is_model(name):
            return ModelName(name)
        if words:
            return Word(name)
        if scope.is_excused(name):
            raise Excused
        raise unknown("E0101", head.span, "value", name, [*scope.visible(), *(b for b in BUILTINS if nearest(name, [b]))])

    def call(self, value: Value, part: tree.Call, scope: Scope, span: Span) -> Value:
        """The value of ``f(args)``."""
        args = [self.evaluate(a, scope) for a in part.args]
        if isinstance(value, Builtin):
            return whole(value.run(span, *args)) if _accepts(value, args, span) else None
        if not isinstance(value, Function):
            raise Fault("E0103", span, f"a {type_name(value)} cannot be called")
        formals = value.definition.formals
        needed = sum(1 for f in formals if f.default is None)
        if not needed <= len(args) <= len(formals):
            raise Fault(
                "E0115",
                span,
                f"`{value.definition.name.name}` takes {len(formals)} values, not {len(args)}",
                labels=[(value.definition.name.span, "defined here")],
            )
        inner = Scope(value.scope if isinstance(value.scope, Scope) else None)
        for i, formal in enumerate(formals):
            given = args[i] if i < len(args) else self.evaluate(formal.default, inner)  # type: ignore[arg-type]
            at = part.args[i].span if i < len(args) else formal.name.span
            require_type(given, formal.type, at)
            inner.set(formal.name.name, given, formal.name.span, "argument")
        result = self.evaluate(value.definition.body, inner)
        if value.definition.type is not None:
            require_type(result, value.definition.type, span)
        return result

    def comprehension(self, e: tree.Comprehension, scope: Scope) -> tuple[Value, ...]:
        """``[item for var in over]``."""
        out = []
        for v in items(self.evaluate(e.over, scope), e.over.span):
            inner = scope.child()
            inner.set(e.var.name, v, e.var.span, "for")
            out.append(self.evaluate(e.item, inner))
        return tuple(out)

    def unary(self, e: tree.Unary, scope: Scope) -> Value:
        """``-x`` and ``not x``."""
        value = self.evaluate(e.operand, scope)
        if e.op == "not":
            return not truth(value, e.operand.span)
        if isinstance(value, Quantity):
            return Quantity(-value.amount, value.dim)
        return -number(value, e.operand.span, "-")

    def chain(self, e: tree.Chain, scope: Scope) -> Value:
        """Operators of one rank, left to right."""
        ops = {op for op, _ in e.rest}
        if ops <= {"and", "or"}:
            result = truth(self.evaluate(e.first, scope), e.first.span)
            for op, operand in e.rest:
                if result == (op == "or"):
                    return result
                result = truth(self.evaluate(operand, scope), operand.span)
            return result
        if ops & COMPARISONS:
            left, left_span = self.evaluate(e.first, scope), e.first.span
            for op, operand in e.rest:
                right = self.evaluate(operand, scope)
                if not compare(op, left, right, left_span.to(operand.span)):
                    return False
                left, left_span = right, operand.span
            return True
        value, span = self.evaluate(e.first, scope), e.first.span
        for op, operand in e.rest:
            right = self.evaluate(operand, scope)
            value = arithmetic(op, value, right, span, operand.span)
            span = span.to(operand.span)
        return value


COMPARISONS = {"==", "!=", "<", "<=", ">", ">=", "in"}


def _accepts(builtin: Builtin, args: Sequence[Value], span: Span) -> bool:
    import inspect

    try:
        inspect.signature(builtin.run).bind(span, *args)
    except TypeError:
        raise Fault("E0115", span, f"`{builtin.name}` does not take {len(args)} values") from None
    return True


def measure(e: tree.Measure) -> Value:
    """A written quantity in base units."""
    if e.unit == "%":
        return whole(Fraction(e.value) / 100)
    entry = UNIT_TABLE.get(e.unit)
    if entry is None:
        near = nearest(e.unit, UNIT_TABLE)
        raise Fault(
            "E0105",
            e.span,
            f"`{e.unit}` is no unit",
            help=f"did you mean `{near}`?" if near else "rates are `400Gbps` or `50GB/s`, lengths `3m`, powers `1.7kW`",
        )
    return Quantity(Fraction(e.value) * entry[0], entry[1])


def truth(value: Value, span: Span) -> bool:
    """A value that must be yes or no."""
    if isinstance(value, bool):
        return value
    raise Fault("E0103", span, f"here a bool is needed, and this is a {type_name(value)}", help="compare it: `n > 0`")


def number(value: Value, span: Span, op: str) -> int | Fraction:
    """A value that must be a plain number."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return value
    raise Fault("E0103", span, f"`{op}` needs a number, and this is a {type_name(value)}")


def not_whole(value: Value, e: tree.Expr) -> Fault:
    """The fault of a fraction where a whole number must stand; ``n/4`` is answered with ``n//4``."""
    text = e.span.text
    help_line = f"`{text.replace('/', '//')}` rounds down" if isinstance(e, (tree.Chain, tree.Paren)) and text.count("/") == 1 else ""
    if isinstance(value, Fraction):
        return Fault("E0111", e.span, f"this must be a whole number and is {text_of(value)}", help=help_line)
    return Fault("E0103", e.span, f"this must be a whole number and is a {type_name(value)}")


def element(value: Value, index: Value, span: Span) -> Value:
    """``list[i]``, counted from 0; also of dims and ranges."""
    index = whole(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise Fault("E0103", span, f"a list is indexed by a whole number, not by a {type_name(index)}")
    if isinstance(value, Dims):
        value = value.sizes
    if isinstance(value, WholeRange):
        value = range(value.low, value.high + 1)
    if not isinstance(value, (tuple, range)):
        raise Fault("E0103", span, f"a {type_name(value)} has no elements")
    if not 0 <= index < len(value):
        raise Fault("E0108", span, f"index {index} is outside the list: it has {len(value)} elements, 0..{len(value) - 1}")
    return value[index]


def items(value: Value, span: Span) -> Sequence[Value]:
    """The elements to go through: of a range, a list, or dims."""
    if isinstance(value, WholeRange):
        if len(value) > LIST_LIMIT:
            raise Fault("E0116", span, f"{len(value):,} elements are too many to list (at most {LIST_LIMIT:,})")
        return range(value.low, value.high + 1)
    if isinstance(value, tuple):
        return value
    if isinstance(value, Dims):
        return value.sizes
    raise Fault("E0103", span, f"here a range or a list is needed, and this is a {type_name(value)}", help="write `0..n - 1`")


def require_type(value: Value, wanted: tree.Member, span: Span) -> None:
    """Check a value against a written type."""
    from tdsl.semantics.values import TYPE_NAMES

    if wanted.name not in TYPE_NAMES:
        raise unknown("E0101", wanted.span, "type", wanted.name, TYPE_NAMES)
    if not fits(value, wanted.name):
        raise Fault("E0103", span, f"this must be of type {wanted.name} and is a {type_name(value)}", labels=[(wanted.span, "asked for here")])


def _mixed(op: str, a: Value, b: Value, a_span: Span, b_span: Span) -> Fault:
    words = {"+": "added to", "-": "subtracted from", "<": "compared with", "*": "multiplied by", "/": "divided by"}
    return Fault(
        "E0103",
        b_span,
        f"a {type_name(b)} ({text_of(b)}) cannot be {words.get(op, 'combined with')} a {type_name(a)} ({text_of(a)})",
        labels=[(a_span, f"this is a {type_name(a)}")],
        help="both sides must measure the same thing",
    )


def _amount(value: Value) -> Quantity | None:
    if isinstance(value, Quantity):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Quantity(Fraction(value), NONE)
    return None


def _value(amount: Fraction, dim: tuple[int, ...]) -> Value:
    return whole(amount) if dim == NONE else Quantity(amount, dim)  # type: ignore[arg-type]


def arithmetic(op: str, a: Value, b: Value, a_span: Span, b_span: Span) -> Value:
    """``a op b``, exactly; quantities must agree for + - // %, and multiply dimensions for * and /."""
    if op == "+" and isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) + len(b) > LIST_LIMIT:
            raise Fault("E0116", a_span.to(b_span), f"a list of {len(a) + len(b):,} elements is too long")
        return a + b
    if op == "+" and isinstance(a, str) and isinstance(b, str):
        if len(a) + len(b) > LIST_LIMIT:
            raise Fault("E0116", a_span.to(b_span), "this string is too long")
        return str(a) + str(b)
    x, y = _amount(a), _amount(b)
    if x is None or y is None:
        raise _mixed(op, a, b, a_span, b_span)
    if op in ("+", "-"):
        if x.dim != y.dim:
            raise _mixed(op, a, b, a_span, b_span)
        return _value(x.amount + y.amount if op == "+" else x.amount - y.amount, x.dim)
    if op == "*":
        if isinstance(a, int) and isinstance(b, int) and a.bit_length() + b.bit_length() > BIT_LIMIT:
            raise Fault("E0116", a_span.to(b_span), f"this product has more than {BIT_LIMIT} bits")
        return _value(x.amount * y.amount, tuple(i + j for i, j in zip(x.dim, y.dim, strict=True)))
    if y.amount == 0:
        raise Fault("E0120", b_span, f"`{op}` by zero", labels=[(a_span, f"this is {text_of(a)}")])
    if op == "/":
        return _value(x.amount / y.amount, tuple(i - j for i, j in zip(x.dim, y.dim, strict=True)))
    if op == "//":
        return _value(Fraction(x.amount // y.amount), tuple(i - j for i, j in zip(x.dim, y.dim, strict=True)))
    if x.dim != y.dim:
        raise _mixed(op, a, b, a_span, b_span)
    return _value(x.amount % abs(y.amount), x.dim)


def power(base: Value, exponent: Value, span: Span) -> Value:
    """``base ** exponent`` for whole exponents, refused where the result would be huge."""
    exponent = whole(exponent)
    if isinstance(exponent, bool) or not isinstance(exponent, int):
        raise Fault("E0103", span, f"an exponent is a whole number, not a {type_name(exponent)}")
    b = number(base, span, "**")
    bits = max(abs(Fraction(b).numerator).bit_length(), Fraction(b).denominator.bit_length())
    if bits * abs(exponent) > BIT_LIMIT:
        raise Fault("E0116", span, f"this power has more than {BIT_LIMIT} bits")
    if b == 0 and exponent < 0:
        raise Fault("E0120", span, "zero has no negative power")
    return whole(Fraction(b) ** exponent)


def compare(op: str, a: Value, b: Value, span: Span) -> bool:
    """``a op b`` for comparisons and ``in``."""
    if op == "in":
        if isinstance(b, WholeRange):
            return isinstance(a, int) and b.low <= a <= b.high
        return a in items(b, span)
    if op in ("==", "!="):
        x, y = _amount(a), _amount(b)
        if (x is None) != (y is None) or (x and y and x.dim != y.dim) or (x is None and type_name(a) != type_name(b)):
            raise Fault("E0103", span, f"a {type_name(a)} is never equal to a {type_name(b)}")
        return (a == b) == (op == "==")
    x, y = _amount(a), _amount(b)
    if x is None or y is None or x.dim != y.dim:
        raise Fault(
            "E0103",
            span,
            f"a {type_name(a)} ({text_of(a)}) cannot be compared with a {type_name(b)} ({text_of(b)})",
            help="both sides must measure the same thing",
        )
    left, right = x.amount, y.amount
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


__all__ = ["Evaluator", "arithmetic", "compare", "element", "items", "kind_name", "measure", "power", "require_type", "truth"]
