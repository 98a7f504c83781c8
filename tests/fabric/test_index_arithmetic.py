"""Index expressions: which are computed on arrays for all assignments at once, and the message where one has a fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tdsl.fabric import vector
from tdsl.fabric.vector import Assignments, guard_values, integers_of_expression
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

HERE = SourceSpan(SourceFile("x.fab", "i"), 0, 1)
IS, JS, ONE = [0, 0, 0, 1, 1, 1, 2, 2, 2], [-2, 0, 3] * 3, [1] * 9
OVER = Assignments(
    {"i": np.array(IS), "j": np.array(JS), "one": np.array(ONE), "$": np.array(IS)}, 9, dict.fromkeys("ij", HERE) | {"one": HERE}
)
LARGE = (1 << 62) - 1
VALUES = {
    "k": 5,
    "i": 100,
    "large": LARGE,
    "huge": LARGE + 1,
    "list": [4, 5, 6],
    "pair": [7, 8],
    "single": [9],
    "none": [],
    "yes": True,
    "mixed": [4, True, 6],
    "limits": [LARGE, -LARGE, 0],
    "beyond": [LARGE, 0, -LARGE - 1],
}


def scope() -> Scope:
    """Values around the statement; its index variable ``i`` hides another of that name."""
    out = Scope()
    for name, value in VALUES.items():
        out.set(name, tuple(value) if isinstance(value, list) else value, HERE)
    return out


def parsed(text: str) -> tree.Expr:
    found = Diagnostics()
    e = parse_expression(text, "x.fab", found)
    assert e is not None and not found.items, text
    return e


def one_by_one(text: str) -> list[object]:
    """What the evaluator gives for every assignment."""
    return [Evaluator().evaluate(parsed(text), OVER.scope(at, scope())) for at in range(OVER.count)]


AT_ONCE = {
    "k": [5] * 9,
    "i": IS,
    "(i)": IS,
    "-j": [-j for j in JS],
    "-k": [-5] * 9,
    "large": [LARGE] * 9,
    "min(k, 3)": [3] * 9,
    "[7, 8][k - 4]": [8] * 9,
    "[1, 2, 3][i]": [1, 1, 1, 2, 2, 2, 3, 3, 3],
    "list[i]": [4, 4, 4, 5, 5, 5, 6, 6, 6],
    "k // 2": [2] * 9,
    "list[2 - i]": [6, 6, 6, 5, 5, 5, 4, 4, 4],
    "single[i - i]": [9] * 9,
    "limits[i]": [LARGE] * 3 + [-LARGE] * 3 + [0] * 3,
    "pair[one]": [8] * 9,
    "i + j": [i + j for i, j in zip(IS, JS, strict=True)],
    "i - j * 2": [i - 2 * j for i, j in zip(IS, JS, strict=True)],
    "j // 2": [j // 2 for j in JS],
    "j % 2": [j % 2 for j in JS],
    "j * 4 / 2": [2 * j for j in JS],
    "j % -2": [j % 2 for j in JS],
    "2 * (i + 1) - k + 3": [2 * i for i in IS],
    "-(i - j)": [j - i for i, j in zip(IS, JS, strict=True)],
    "k / 5 + i": [i + 1 for i in IS],
    "6 / (one + 1) - 12 // (one * 4) * 5 % 4": [0] * 9,
}


@pytest.mark.parametrize("text", AT_ONCE)
def test_numbers_computed_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "SLOW_LIMIT", 0)
    found = integers_of_expression(parsed(text), scope(), Evaluator(), OVER)
    assert (found.dtype, found.shape, found.tolist()) == (np.int64, (9,), AT_ONCE[text])
    assert one_by_one(text) == AT_ONCE[text]


GUARDS = [
    "true",
    "yes",
    "k > 4",
    "k < 5 and i > 0",
    "i < 1",
    "i <= 1",
    "i > 1",
    "i >= 1",
    "i == 1",
    "i != 1",
    "0 <= j < 3",
    "0 < i <= 2 != j",
    "i < 1 and j > 0",
    "i < 1 or j > 0",
    "not (i < 1)",
    "not i < 1 and j < 0 or j > 2",
    "yes and i == 2",
    "i == 2 or yes",
    "i < 1 == j",
    "(i == 1)",
    "i == 1 and j == 0 and k == 5",
    "i == 0 or j == 0 or j == 3",
    "i + k > 6",
    "list[i] == 5",
    "not yes",
    "9 > 8 >= i != 5 == 5 < 6 <= 6",
]


@pytest.mark.parametrize("text", GUARDS)
def test_guards_computed_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "SLOW_LIMIT", 0)
    found = guard_values(parsed(text), scope(), Evaluator(), OVER)
    assert (found.dtype, found.shape, found.tolist()) == (np.bool_, (9,), one_by_one(text))


SLOW = {
    "i if i < 1 else 2 * i": [0, 0, 0, 2, 2, 2, 4, 4, 4],
    "min(i, 1)": [0, 0, 0] + [1] * 6,
    "[i, j + 2][1]": [0, 2, 5] * 3,
    "huge - huge + i": IS,
    "huge // (i + 1)": [LARGE + 1] * 3 + [1 << 61] * 3 + [(LARGE + 1) // 3] * 3,
    "huge - large + i": [i + 1 for i in IS],
    "beyond[i - i + 1]": [0] * 9,
    "mixed[2 * (i - i)]": [4] * 9,
    "1 + [i][0]": [i + 1 for i in IS],
    "(5 if j == 0 else 6 / j) * 0 + i": IS,
    "i * large // large": IS,
    "[[4, 5], [6, 7]][one][0]": [6] * 9,
    "2 ** i": [1, 1, 1, 2, 2, 2, 4, 4, 4],
    "(i if yes else 3)": IS,
    "j / 2 * 2": JS,
    "[k, i][1]": IS,
    "2 * huge - 1 - (i - i)": [(1 << 63) - 1] * 9,
    "one + 2 * -huge": [1 - (1 << 63)] * 9,
}


@pytest.mark.parametrize("text", SLOW)
def test_numbers_computed_one_by_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many assignments as the limit are computed; one more is an error that names the number of them."""
    monkeypatch.setattr(vector, "SLOW_LIMIT", 9)
    found = integers_of_expression(parsed(text), scope(), Evaluator(), OVER)
    assert (found.dtype, found.tolist()) == (np.int64, SLOW[text])
    monkeypatch.setattr(vector, "SLOW_LIMIT", 8)
    with pytest.raises(Fault) as caught:
        integers_of_expression(parsed(text), scope(), Evaluator(), OVER)
    d = caught.value.diagnostic
    assert (d.code, d.message) == ("E0116", "this would be computed for 9 assignments one by one")
    assert (d.span and d.span.text, d.help) == (text, "write it with + - * // %")


@pytest.mark.parametrize(
    "text",
    [
        "min(i, 1) == 1",
        "i < 1 if j > 0 else i > 1",
        "not (min(i, 1) == 1)",
        "i in [0, 2]",
        "[yes, false, yes][i]",
        "i < huge",
        "j > 0 and 6 // j == 2",
    ],
)
def test_guards_computed_one_by_one(text: str) -> None:
    found = guard_values(parsed(text), scope(), Evaluator(), OVER)
    assert (found.dtype, found.tolist()) == (np.bool_, one_by_one(text))


BOOL, OUT, AT = (
    "expected a whole number, found a bool",
    "is outside the list: it has",
    "an index begins at what the declaration says: 0 for `[8]`, 1 for `[1..8]`",
)
ALONE = "an index variable must also occur alone as an index in the statement: `[xqz]`"
BITS = "is outside every extent:  it has more than 64 bits"
NO_VALUE = "a path to a device is not a value; use it in connect, omit, naming and require"
MATCH = "both sides must measure the same thing, such as `2m + 30cm`"
FAULTS = {
    "i // j": ("E0120", "j", "`//` by zero", "i = 0, j = 0, one = 1", ""),
    "i % j": ("E0120", "j", "`%` by zero", "i = 0, j = 0, one = 1", ""),
    "i / 2": ("E0111", "i / 2", "expected a whole number, found 1/2", "i = 1, j = -2, one = 1", "`i // 2` rounds down"),
    "list[i + 1]": ("E0108", "i + 1", f"index 3 {OUT} 3 elements, 0..2", "i = 2, j = -2, one = 1", ""),
    "list[j]": ("E0108", "j", f"index -2 {OUT} 3 elements, 0..2", "i = 0, j = -2, one = 1", ""),
    "pair[i]": ("E0108", "i", f"index 2 {OUT} 2 elements, 0..1", "i = 2, j = -2, one = 1", ""),
    "none[i]": ("E0108", "i", f"index 0 {OUT} 0 elements", "i = 0, j = -2, one = 1", ""),
    "list[i < 1]": ("E0103", "i < 1", "a list is indexed by a whole number, not by a bool", "i = 0, j = -2, one = 1", ""),
    "i < 1": ("E0103", "i < 1", BOOL, "i = 0, j = -2, one = 1", ""),
    "yes": ("E0103", "yes", BOOL, "i = 0, j = -2, one = 1", ""),
    "mixed[i]": ("E0103", "mixed[i]", BOOL, "i = 1, j = -2, one = 1", ""),
    "list": ("E0103", "list", "expected a whole number, found a list", "i = 0, j = -2, one = 1", ""),
    "not i": ("E0103", "i", "expected a bool, found an int", "i = 0, j = -2, one = 1", "compare it: `n > 0`"),
    "-(i < 1)": ("E0103", "(i < 1)", "`-` needs a number, found a bool", "i = 0, j = -2, one = 1", ""),
    "i < 1 < yes": ("E0103", "1 < yes", "an int (1) cannot be compared with a bool (true)", "i = 0, j = -2, one = 1", MATCH),
    "i and yes": ("E0103", "i", "expected a bool, found an int", "i = 0, j = -2, one = 1", "compare it: `n > 0`"),
    "i * 2 * huge": ("E0108", "i * 2 * huge", f"`i * 2 * huge` {BITS}", "i = 1, j = -2, one = 1", AT),
    "-2 * huge": ("E0108", "-2 * huge", f"`-2 * huge` {BITS}", "i = 0, j = -2, one = 1", AT),
    "i.x": ("E0103", "x", "an int has no member `x`", "i = 0, j = -2, one = 1", NO_VALUE),
    "list.x[i]": ("E0103", "x", "a list has no member `x`", "i = 0, j = -2, one = 1", NO_VALUE),
    "list[0, i]": ("E0103", "i", "an int has no elements", "i = 0, j = -2, one = 1", ""),
    "list[i][i]": ("E0103", "i", "an int has no elements", "i = 0, j = -2, one = 1", ""),
    "i[i]": ("E0103", "i", "an int has no elements", "i = 0, j = -2, one = 1", ""),
    "pair[one][0]": ("E0103", "0", "an int has no elements", "i = 0, j = -2, one = 1", ""),
    "lisst[i]": ("E0101", "lisst", "there is no value `lisst` here", "", "did you mean `list`?"),
    "i + xqz": ("E0101", "xqz", "there is no value `xqz` here", "", ALONE),
}
WHERE = ("E0103", "a guard must be true or false", "compare: `where i < j`")
REFUSED = {
    "i": (WHERE[0], "i", WHERE[1], "i = 0, j = -2, one = 1", WHERE[2]),
    "k": (WHERE[0], "k", WHERE[1], "i = 0, j = -2, one = 1", WHERE[2]),
    "list": (WHERE[0], "list", WHERE[1], "i = 0, j = -2, one = 1", WHERE[2]),
    "not i": ("E0103", "i", "expected a bool, found an int", "i = 0, j = -2, one = 1", "compare it: `n > 0`"),
    "-(i < 1)": ("E0103", "(i < 1)", "`-` needs a number, found a bool", "i = 0, j = -2, one = 1", ""),
    "6 // j > 0": ("E0120", "j", "`//` by zero", "i = 0, j = 0, one = 1", ""),
    "i and yes": ("E0103", "i", "expected a bool, found an int", "i = 0, j = -2, one = 1", "compare it: `n > 0`"),
    "yes < i": ("E0103", "yes < i", "a bool (true) cannot be compared with an int (0)", "i = 0, j = -2, one = 1", MATCH),
    "xqz > i": ("E0101", "xqz", "there is no value `xqz` here", "", ALONE),
}


@pytest.mark.parametrize(
    ("compute", "text"), [*((integers_of_expression, x) for x in FAULTS), *((guard_values, x) for x in REFUSED)]
)
def test_the_first_assignment_with_a_fault(compute: Callable[..., np.ndarray], text: str) -> None:
    """The message names the variables that the text has; a name that is unknown is so for every assignment."""
    with pytest.raises(Fault) as caught:
        compute(parsed(text), scope(), Evaluator(), OVER)
    code, under, message, which, help = (FAULTS if compute is integers_of_expression else REFUSED)[text]
    d = caught.value.diagnostic
    assert (d.code, d.span and d.span.text, d.message) == (code, under, message + (f", for {which}" if which else ""))
    assert d.help == help
    assert (d.fix is not None) == help.startswith("did you mean")
    assert [(x.span.text, x.message) for x in d.labels] == (
        [(text[0], f"this is {text[0] if text[0] == '6' else 0}")] if "by zero" in message else []
    )


def test_a_fault_where_there_is_no_variable() -> None:
    """Only variables of the text are named, not those that the compiler adds."""
    over = Assignments({"$": np.array([0, 1])}, 2, {})
    assert (over.show(1), OVER.show(5)) == ("", "i = 1, j = 3, one = 1")
    with pytest.raises(Fault) as caught:
        integers_of_expression(parsed("k / 2"), scope(), Evaluator(), over)
    assert caught.value.diagnostic.message == "expected a whole number, found 5/2"


def test_some_of_the_assignments() -> None:
    kept = OVER.pick(np.array(JS) > 0)
    assert {name: column.tolist() for name, column in kept.values.items()} == {
        "i": [0, 1, 2],
        "j": [3] * 3,
        "one": [1] * 3,
        "$": [0, 1, 2],
    }
    assert (kept.count, kept.spans) == (3, OVER.spans)
    inner = kept.scope(1, scope())
    assert {name: (b.value, b.what, b.span) for name, b in inner.names.items()} == {
        "i": (1, "index", HERE),
        "j": (3, "index", HERE),
        "one": (1, "index", HERE),
    }


def test_no_assignments() -> None:
    none = OVER.pick(np.zeros(9, dtype=np.bool_))
    for text in ("i", "k", "list[i]", "min(i, 1)", "1 // i", "none[i]"):
        assert integers_of_expression(parsed(text), scope(), Evaluator(), none).shape == (0,)
    for text in ("i < 1", "yes", "min(i, 1) < 1"):
        assert guard_values(parsed(text), scope(), Evaluator(), none).shape == (0,)


def test_the_limit_of_assignments_computed_one_by_one() -> None:
    """Up to 2**20 are begun; of one more none is."""

    def one(at: int) -> int:
        raise Fault("E0103", HERE, "begun")

    for count, code in ((1 << 20, "E0103"), ((1 << 20) + 1, "E0116")):
        with pytest.raises(Fault) as caught:
            vector._evaluate_each_assignment(Assignments({}, count, {}), HERE, one, lambda at: "")
        assert caught.value.diagnostic.code == code
