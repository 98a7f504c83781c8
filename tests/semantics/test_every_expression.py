"""Every operator between values of every kind, every function of the language and every unit: values and refusals, as goldens."""

from __future__ import annotations

from itertools import product

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import UNIT_TABLE
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import text_of, type_name
from tdsl.syntax.parser import parse_expression
from tests.conftest import Golden

KINDS = (
    "7",
    "0",
    "-3",
    "2.5",
    "true",
    '"ab"',
    "3m",
    "20cm",
    "2kW",
    "400Gbps",
    "[1, 2]",
    '["a"]',
    "1..4",
    "4x2",
    "3:1",
    "50%",
    "[]",
)
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "..")
OTHERS = """
-7 // 2; 7 // -2; -7 % 3; 7 % -3; 7.5 // 2; 7.5 % 2; 2 ** 10; 2 ** 0; 2 ** -1; 0 ** 0; 0 ** -1; 2 ** 0.5; 10 ** 1300; 2 ** 5000
-true; not 3; not true; not 0; -"a"; -3m; -[1]; +3; - -3; not not true
1 < 2 < 3; 1 < 2 > 3; 1 < 2 and 2 < 3; 3 > 2 > 1 > 0; 1 == 1.0; 3m == 300cm; 3m < 2kW; true == 1; "a" < "b"; [1] < [2]
4 if true else 5; 4 if 0 else 5; 4 if 1 < 2 else x; 4 if false else 1/0
[1, 2][0]; [1, 2][1]; [1, 2][2]; [1, 2][-1]; [1, 2][0..1]; "ab"[0]; (1..4)[0]; 4x2[0]; [[1, 2], [3]][0][1]; 7[0]; [1][true]
[1][0.5]
1/0; 1 // 0; 1 % 0; 0/1; 6/4; 1/3 + 1/6; 2.50; 1_000; 1e3; 0x10; 007
"{1 + 1}"; "{3m}"; "a{0}b{1}"; "{true}"; "{[1]}"; "{1/3}"; "{x}"; "{{}}"; "{"
3m + 20cm; 3m * 2; 2 * 3m; 3m / 2; 3m / 20cm; 3m * 3m; 3m // 20cm; 3m % 20cm; 3m ** 2; 400Gbps * 2; 2kW - 500W; 50GB/s; 1TB / 50GB
1..4 in 1..4; 3 in 1..4; 5 in 1..4; 3m in [3m]; "a" in "ab"; "a" in ["a"]; 1 in 4x2; 4..1; 1..1; 1.5..2
x; x + 1; f(1); min 3
"""  # fmt: skip
ARGUMENTS = (
    "", "9, 7, 8", "9, 5, 2", "8, 3, 5", "8, 6, 7", "4, 2, 3", "4, 1, 0", "5, 4, 4", "16, 11, 6", "27, 19, 14", "9, 5", "8", "3",
    "3, 5", "5, 3", "2, 3, 8", "0, 1, 4", "-1, 2, 4", "1, 2, 6", "7, 7, 9", "2, 5, 9", "[3, 1, 2]", '["b", "a"]', "1..5", "4x2",
    "3m, 20cm", "3m, 2kW", '"abc"', "true", "2.5, 2", "[]", "[[1], [2]]", "5..1", "1000", "[1/2, 1/3]",
)  # fmt: skip


def said(text: str) -> str:
    """The kind and text of the value of an expression, or what is found wrong, with its place."""
    found = Diagnostics()
    tree = parse_expression(text, "text", found)
    if tree is None or found.items:
        return "; ".join(f"{d.code} {d.message}" for d in found.items) or "no expression"
    evaluator = Evaluator()
    try:
        value = evaluator.evaluate(tree, Scope())
        return f"{type_name(value)} {text_of(value)} {value!r} in {evaluator.steps}"
    except Fault as fault:
        d = fault.diagnostic
        place = text[d.span.start : d.span.end] if d.span is not None else ""
        return f"{d.code} `{place}` {d.message}" + (f" | {d.help}" if d.help else "")


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators(operator: str, golden: Golden) -> None:
    name = {"+": "plus", "-": "minus", "*": "times", "/": "over", "//": "whole", "%": "rest", "**": "power", "..": "to"}
    name |= {"==": "equal", "!=": "unequal", "<": "less", "<=": "most", ">": "more", ">=": "least"}
    texts = [f"{a} {operator} {b}" for a, b in product(KINDS, KINDS)]
    golden(f"semantics/values/{name.get(operator, operator)}.txt", "".join(f"{t}: {said(t)}\n" for t in texts))


def test_expressions(golden: Golden) -> None:
    texts = [t.strip() for line in OTHERS.splitlines() for t in line.split(";") if t.strip()]
    golden("semantics/values/others.txt", "".join(f"{t}: {said(t)}\n" for t in texts))


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_functions(name: str, golden: Golden) -> None:
    texts = [f"{name}({a})" for a in ARGUMENTS]
    golden(f"semantics/values/{name}.txt", "".join(f"{t}: {said(t)}\n" for t in texts))


def test_units(golden: Golden) -> None:
    """Each unit, as it is said again; and what is no unit."""
    texts = [
        f"{n}{u}"
        for u in (*UNIT_TABLE, "%", "G", "gbps", "Gb", "metres", "k", "kw", "Us", "x")
        for n in ("0", "1", "1.5", "1200")
    ]
    golden("semantics/values/units.txt", "".join(f"{t}: {said(t)}\n" for t in texts))
