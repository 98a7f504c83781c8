"""Index arithmetic on arrays equals the evaluator, assignment by assignment, faults included."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.vector import Assignments, guard_values, integers_of_expression
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.scope import Scope
from tdsl.syntax.parser import parse_expression

HERE = SourceSpan(SourceFile("x.fab", "i"), 0, 1)

numbers = st.recursive(
    st.sampled_from(["i", "j", "0", "1", "2", "3", "7", "k"]),
    lambda e: st.one_of(
        st.tuples(e, st.sampled_from(["+", "-", "*", "//", "%", "/"]), e).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        e.map(lambda x: f"(-{x})"),
        e.map(lambda x: f"[4, 5, 6][{x} % 3]"),
        st.tuples(e, e, e).map(lambda t: f"({t[0]} if {t[1]} < {t[2]} else {t[0]})"),
    ),
    max_leaves=6,
)
truths = st.tuples(numbers, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), numbers).map(" ".join)


def setup(text: str) -> tuple[object, Scope, Assignments]:
    found = Diagnostics()
    e = parse_expression(text, "x.fab", found)
    assert e is not None and not found.items, text
    scope = Scope()
    scope.set("k", 5, HERE)
    i, j = np.divmod(np.arange(12, dtype=np.int64), 4)
    return e, scope, Assignments({"i": i, "j": j}, 12, {"i": HERE, "j": HERE})


def one_by_one(e: object, scope: Scope, over: Assignments, whole: bool) -> list[object] | str:
    out: list[object] = []
    for at in range(over.count):
        try:
            inner = over.scope(at, scope)
            out.append(Evaluator().integer(e, inner) if whole else Evaluator().evaluate(e, inner))  # type: ignore[arg-type]
        except Fault as fault:
            return fault.diagnostic.code
    return out


@given(numbers)
@settings(max_examples=75)
def test_integers(text: str) -> None:
    e, scope, over = setup(text)
    expected = one_by_one(e, scope, over, True)
    try:
        assert integers_of_expression(e, scope, Evaluator(), over).tolist() == expected  # type: ignore[arg-type]
    except Fault as fault:
        assert fault.diagnostic.code == expected


@given(st.lists(truths, min_size=1, max_size=3), st.sampled_from([" and ", " or "]))
@settings(max_examples=50)
def test_booleans(parts: list[str], joint: str) -> None:
    e, scope, over = setup(joint.join(parts))
    expected = one_by_one(e, scope, over, False)
    try:
        assert guard_values(e, scope, Evaluator(), over).tolist() == expected  # type: ignore[arg-type]
    except Fault as fault:
        assert fault.diagnostic.code == expected


def test_numbers_beyond_64_bits_stay_exact() -> None:
    e, scope, over = setup("i * 4611686018427387904 * 4 - i * 4611686018427387904 * 4 + j")
    assert integers_of_expression(e, scope, Evaluator(), over).tolist() == [0, 1, 2, 3] * 3  # type: ignore[arg-type]
