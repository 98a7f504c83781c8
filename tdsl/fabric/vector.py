"""Index arithmetic for all assignments of the variables at once.

The fast path works on int64 arrays and gives up (``NotSimple``) on anything it cannot do exactly; then every
assignment is evaluated alone by the evaluator, which also words the fault and so always has the last say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tdsl.findings.source import SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.operators import COMPARISONS
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import integer_if_whole
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

T = TypeVar("T")
SAFE = 1 << 62
SLOW_LIMIT = 1 << 20

Array = NDArray[np.int64]
Operand = int | bool | tuple[int, ...] | NDArray[np.int64] | NDArray[np.bool_]


class NotSimple(Exception):
    """The expression needs the evaluator."""


@dataclass(frozen=True, slots=True)
class Assignments:
    """All assignments of the index variables: arrays of equal length ``count``, and where each variable
    stands."""

    values: Mapping[str, Array]
    count: int
    spans: Mapping[str, SourceSpan]

    def pick(self, keep: NDArray[np.bool_]) -> Assignments:
        """The assignments for which ``keep`` holds."""
        return Assignments({k: v[keep] for k, v in self.values.items()}, int(keep.sum()), self.spans)

    def show(self, at: int) -> str:
        """One assignment in words: ``n = 3, r = 0``."""
        return ", ".join(f"{k} = {int(v[at])}" for k, v in self.values.items() if not k.startswith("$"))

    def scope(self, at: int, outer: Scope) -> Scope:
        """A scope in which the variables have the values of one assignment."""
        inner = outer.child()
        for name, values in self.values.items():
            if not name.startswith("$"):
                inner.set(name, int(values[at]), self.spans[name], "index")
        return inner


def integers_of_expression(e: tree.Expr, scope: Scope, evaluator: Evaluator, over: Assignments) -> Array:
    """The whole number an index expression gives for every assignment. Raises Fault, naming the
    assignment."""
    try:
        value = _evaluate_vectorized(e, scope, evaluator, over)
        if isinstance(value, (bool, tuple)) or (isinstance(value, np.ndarray) and value.dtype == np.bool_):
            raise NotSimple
        return np.broadcast_to(np.asarray(value, dtype=np.int64), (over.count,))
    except NotSimple:

        def one(at: int) -> int:
            number = evaluator.integer(e, over.scope(at, scope))
            if abs(number) >= 1 << 63:
                raise Fault(
                    "E0108",
                    e.span,
                    f"`{e.span.text}` is outside every extent:  it has more than 64 bits",
                    help="an index begins at what the declaration says: 0 for `[8]`, 1 for `[1..8]`",
                )
            return number

        return np.array(_evaluate_each_assignment(over, e.span, one, over.show), dtype=np.int64)


def guard_values(e: tree.Expr, scope: Scope, evaluator: Evaluator, over: Assignments) -> NDArray[np.bool_]:
    """Whether a guard holds, for every assignment."""
    try:
        value = _evaluate_vectorized(e, scope, evaluator, over)
        if isinstance(value, bool):
            return np.full(over.count, value)
        if not isinstance(value, np.ndarray) or value.dtype != np.bool_:
            raise NotSimple
        return np.broadcast_to(value.astype(np.bool_), (over.count,))
    except NotSimple:

        def one(at: int) -> bool:
            value = evaluator.evaluate(e, over.scope(at, scope))
            if not isinstance(value, bool):
                raise Fault("E0103", e.span, "a guard must be true or false", help="compare: `where i < j`")
            return value

        return np.array(_evaluate_each_assignment(over, e.span, one, over.show), dtype=np.bool_)


def _evaluate_each_assignment(
    over: Assignments, span: SourceSpan, one: Callable[[int], T], show: Callable[[int], str]
) -> list[T]:
    if over.count > SLOW_LIMIT:
        raise Fault(
            "E0116",
            span,
            f"this would be computed for {over.count:,} assignments one by one",
            help="write it with + - * // %",
        )
    out = []
    for at in range(over.count):
        try:
            out.append(one(at))
        except Fault as fault:
            d = fault.diagnostic
            if d.code == "E0101" and d.span is not None:  # the name is unknown whatever the assignment
                bare = _help_for_lone_variable(d.span)
                raise Fault(d.code, d.span, d.message, help=d.help if d.fix else bare, fix=d.fix) from None
            said = show(at)
            raise Fault(
                d.code,
                d.span or span,
                d.message + (f", for {said}" if said else ""),
                help=d.help,
                labels=[(x.span, x.message) for x in d.labels],
            ) from None
    return out


def _help_for_lone_variable(span: SourceSpan) -> str:
    """How to give a range to an index variable that stands in sums and guards alone: a loop around the
    statement for each of those whose range the line says, as `6*s + k`, `k < 6` and `k in 0..5` do."""
    name, text = span.text, span.file.text
    line = text[text.rfind("\n", 0, span.start) + 1 :].partition("\n")[0].partition("#")[0].strip()
    advice = f"an index variable must also occur alone as an index in the statement: `[{name}]`"
    star = re.search(r"\b[\w.]*\w\[\*\]", line.partition(" where ")[0])
    if star is not None and not re.search(rf"[\[,]\s*{name}\s*[\],]", line):
        advice += f"; write `{star[0][:-3]}[{name}]` in the place of `{star[0]}` if that is meant"
    ranges = {x: f"0..{int(n) - 1}" for n, x in re.findall(r"\b(\d+)\s*\*\s*\w+\s*\+\s*(\w+)\b", line)}
    ranges |= {x: f"0..{int(n) - 1}" for x, n in re.findall(r"\b(\w+)\s*<\s*(\d+)\b", line)}
    ranges |= dict(re.findall(r"\b(\w+) in (\d+\.\.\d+)\b", line))
    lone = [x for x in ranges if not re.search(rf"[\[,]\s*{x}\s*[\],]", line)]
    if name not in lone or not line.startswith("connect ") or line.count("{") != line.count("}"):
        return advice
    loops = " ".join(f"for {x} in {ranges[x]} {{" for x in lone)
    return f"{advice}; or write `{loops} {line} {'} ' * len(lone)}".rstrip() + "`"


def _mentions_variable(e: object, names: Mapping[str, Array]) -> bool:
    """Whether an expression mentions an index variable."""
    stack = [e]
    while stack:
        at = stack.pop()
        if isinstance(at, tree.Identifier):
            if at.name in names:
                return True
        elif isinstance(at, tuple):
            stack.extend(at)
        elif hasattr(at, "__dataclass_fields__") and not isinstance(at, SourceSpan):
            stack.extend(getattr(at, f) for f in at.__dataclass_fields__ if f != "span")
    return False


def _evaluate_vectorized(e: tree.Expr, scope: Scope, evaluator: Evaluator, over: Assignments) -> Operand:
    if isinstance(e, tree.Paren):
        return _evaluate_vectorized(e.inner, scope, evaluator, over)
    if not _mentions_variable(e, over.values):
        return _evaluate_constant(e, scope, evaluator)
    if isinstance(e, tree.PathExpr):
        return _evaluate_path(e, scope, evaluator, over)
    if isinstance(e, tree.At):
        value = _evaluate_vectorized(e.base, scope, evaluator, over)
        for i in e.index:
            value = _pick_elements(value, _evaluate_vectorized(i, scope, evaluator, over))
        return value
    if isinstance(e, tree.Unary):
        operand = _evaluate_vectorized(e.operand, scope, evaluator, over)
        if e.op == "not" and isinstance(operand, np.ndarray) and operand.dtype == np.bool_:
            return np.logical_not(operand)
        if e.op == "-" and isinstance(operand, np.ndarray) and operand.dtype == np.int64:
            return np.negative(operand)
    if isinstance(e, tree.Chain):
        return _evaluate_chain(e, scope, evaluator, over)
    raise NotSimple


def _evaluate_constant(e: tree.Expr, scope: Scope, evaluator: Evaluator) -> Operand:
    """The value of an expression without index variables. Raises NotSimple where it is no small whole number,
    truth value, or list of small whole numbers, and where it is at fault: the evaluator knows whether it is
    ever reached."""
    try:
        value = integer_if_whole(evaluator.evaluate(e, scope))
    except Fault:
        raise NotSimple from None
    if isinstance(value, (int, bool)) and abs(value) < SAFE:
        return value
    if isinstance(value, tuple) and all(
        isinstance(v, int) and not isinstance(v, bool) and abs(v) < SAFE for v in value
    ):
        return value
    raise NotSimple


def _evaluate_path(e: tree.PathExpr, scope: Scope, evaluator: Evaluator, over: Assignments) -> Operand:
    head = e.parts[0]
    assert isinstance(head, tree.Identifier)
    if head.name in over.values:
        value: Operand = over.values[head.name]
    else:
        value = _evaluate_vectorized(tree.PathExpr((head,), head.span), scope, evaluator, over)
    for part in e.parts[1:]:
        if not isinstance(part, tree.IndexPart):
            raise NotSimple
        for entry in part.entries:
            value = _pick_elements(value, _evaluate_vectorized(entry, scope, evaluator, over))
    return value


def _pick_elements(value: Operand, index: Operand) -> Operand:
    if not isinstance(value, tuple) or not isinstance(index, np.ndarray) or not value:
        raise NotSimple
    if index.dtype != np.int64 or int(index.min(initial=0)) < 0 or int(index.max(initial=0)) >= len(value):
        raise NotSimple
    picked: Array = np.array(value, dtype=np.int64)[index]
    return picked


def _evaluate_chain(e: tree.Chain, scope: Scope, evaluator: Evaluator, over: Assignments) -> Operand:
    operands = [
        _evaluate_vectorized(e.first, scope, evaluator, over),
        *(_evaluate_vectorized(x, scope, evaluator, over) for _, x in e.rest),
    ]
    ops = [op for op, _ in e.rest]
    if set(ops) <= {"and", "or"}:
        return _evaluate_logic(ops, operands)
    if not all(_is_number(x) for x in operands):
        raise NotSimple
    numbers = [np.asarray(x, dtype=np.int64) for x in operands]
    if set(ops) <= COMPARISONS - {"in"}:
        held = np.ones((), dtype=np.bool_)
        for op, x, y in zip(ops, numbers, numbers[1:], strict=False):
            held = held & _COMPARE[op](x, y)
        return held
    value = numbers[0]
    for op, x in zip(ops, numbers[1:], strict=True):
        value = _exact_arithmetic(op, value, x)
    return value


def _evaluate_logic(ops: list[str], operands: list[Operand]) -> Operand:
    """Truth values joined by ``and`` and ``or``, from left to right."""
    if not all(_is_truth(x) for x in operands):
        raise NotSimple
    result = np.asarray(operands[0])
    for op, x in zip(ops, operands[1:], strict=True):
        result = result & x if op == "and" else result | x
    return result


def _is_truth(x: Operand) -> bool:
    return isinstance(x, bool) or (isinstance(x, np.ndarray) and x.dtype == np.bool_)


def _is_number(x: Operand) -> bool:
    return (isinstance(x, int) and not isinstance(x, bool)) or (
        isinstance(x, np.ndarray) and x.dtype == np.int64
    )


_COMPARE: dict[str, Callable[[Array, Array], NDArray[np.bool_]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def largest_magnitude(x: Array) -> int:
    """The greatest magnitude."""
    return max(abs(int(x.min(initial=0))), abs(int(x.max(initial=0))))


def _exact_arithmetic(op: str, x: Array, y: Array) -> Array:
    if op in ("+", "-", "*"):
        bound = (
            largest_magnitude(x) * largest_magnitude(y)
            if op == "*"
            else largest_magnitude(x) + largest_magnitude(y)
        )
        if bound >= SAFE:
            raise NotSimple
        return {"+": np.add, "-": np.subtract, "*": np.multiply}[op](x, y)
    if not bool(np.all(y != 0)):
        raise NotSimple
    if op == "//":
        return np.floor_divide(x, y)
    if op == "%":
        return np.mod(x, np.abs(y))
    if op == "/" and not bool(np.any(np.mod(x, np.abs(y)))):
        return np.floor_divide(x, y)
    raise NotSimple


__all__ = ["Assignments", "guard_values", "integers_of_expression"]
