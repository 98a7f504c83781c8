"""Values of expressions worked out by hand, and expressions that are refused: code, underlined text, message and help."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.builtins import BUILTINS, _irreducible_polynomial, _primitive_element, prime_power
from tdsl.semantics.evaluate import STEP_LIMIT, Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.operators import LIST_LIMIT, evaluation_steps, too_large
from tdsl.semantics.quantity import LENGTH, NONE, Quantity, decimal_text, quantity_text
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import FunctionValue, Value, WholeRange
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

AT = SourceSpan(SourceFile("t.fab", "x"), 0, 1)


def parsed(text: str) -> tree.Expr:
    """The expression of ``let x = text``."""
    found = Diagnostics()
    s = parse_source_file(SourceFile("t.fab", f"let x = {text}\n"), found).body[0]
    assert not list(found), [d.message for d in found]
    assert isinstance(s, tree.Let)
    return s.value


def value_of(text: str, evaluator: Evaluator | None = None, **names: Value) -> Value:
    """The value of an expression in a scope of some names."""
    scope = Scope()
    for name, value in names.items():
        scope.set(name, value, AT, "let")
    return (evaluator or Evaluator()).evaluate(parsed(text), scope)


def refusal(text: str, **names: Value) -> tuple[str, str, str, str]:
    """Code, underlined text, message and help of the fault of an expression."""
    with pytest.raises(Fault) as fault:
        value_of(text, None, **names)
    d = fault.value.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7 - 2 - 3", 2),
        ("2*3 + 4", 10),
        ("17 // 5", 3),
        ("-17 // 5", -4),
        ("17 % 5", 2),
        ("-17 % 5", 3),
        ("17 % -5", 2),
        ("7/2", Fraction(7, 2)),
        ("7/2 - 3/4", Fraction(11, 4)),
        ("7/2 * 4/7", 2),
        ("2**10", 1024),
        ("(2/3)**-3", Fraction(27, 8)),
        ("0**3", 0),
        ("0**0", 1),
        ("5**0", 1),
        ("3:7", Fraction(3, 7)),
        ("25%", Fraction(1, 4)),
        ("-(3/4)", Fraction(-3, 4)),
        ("5m // 2m", 2),
        ("5m % 2m", Quantity(Fraction(1), LENGTH)),
        ("5m // 2", Quantity(Fraction(2), LENGTH)),
        ("6m / 3m", 2),
        ("-3m", Quantity(Fraction(-3), LENGTH)),
        ("7m - 2m - 1m", Quantity(Fraction(4), LENGTH)),
        ("[1, 2] + [3]", (1, 2, 3)),
        ('"ab" + "c"', "abc"),
        ("[5, 7, 9][1]", 7),
        ("[[1, 2], [3, 4]][1][0]", 3),
        ("[i*i for i in 2..5]", (4, 9, 16, 25)),
        ("[i for i in [3, 1]]", (3, 1)),
        ("3 in 3..5", True),
        ("5 in 3..5", True),
        ("2 in 3..5", False),
        ("6 in 3..5", False),
        ("2 in [1, 2]", True),
        ("3 in [1, 2]", False),
        ("1 == 1", True),
        ("1 != 1", False),
        ("2 != 1", True),
        ("1m == 100cm", True),
        ("1m != 100cm", False),
        ("0m == 0m", True),
        ("1 < 2 < 3", True),
        ("1 < 2 < 2", False),
        ("3 > 2 >= 2", True),
        ("2 > 2", False),
        ("2 <= 2", True),
        ("2 >= 3", False),
        ("true and false", False),
        ("false or true", True),
        ("true and true", True),
        ("false or false", False),
        ("not true", False),
        ("false and 1 / 0 > 0", False),
        ("true or 1 / 0 > 0", True),
        ("true and true and false", False),
        ("false or false or true", True),
        ("1 if 2 > 1 else 3", 1),
        ("1 if 2 < 1 else 3", 3),
        ("min(3, 1, 2)", 1),
        ("max(3, 5, 2)", 5),
        ("min(2/3, 1/2)", Fraction(1, 2)),
        ("max(2m, 30cm)", Quantity(Fraction(2), LENGTH)),
        ("min(4..9)", 4),
        ("max(4..9)", 9),
        ("sum(4..9)", 39),
        ("sum([1/2, 1/3])", Fraction(5, 6)),
        ("sum([])", 0),
        ("sum(2m, 30cm)", Quantity(Fraction(23, 10), LENGTH)),
        ("product(2, 3, 7)", 42),
        ("product([])", 1),
        ("product(2/3, 9)", 6),
        ("sort([3, 1, 2])", (1, 2, 3)),
        ('sort(["b", "a"])', ("a", "b")),
        ("sort([1/2, 1/3])", (Fraction(1, 3), Fraction(1, 2))),
        ("len([4, 4, 4])", 3),
        ('len("abcd")', 4),
        ("len(4..9)", 6),
        ("primes(1)", ()),
        ("primes(0)", ()),
        ("primes(-5)", ()),
        ("primes(2)", (2,)),
        ("primes(30)", (2, 3, 5, 7, 11, 13, 17, 19, 23, 29)),
        ("primes(49)[14]", 47),
        ('"{3:03d}-{1/2}-{true}"', "003-1/2-true"),
        ('"{65:c}{126:c}{32:c}"', "A~ "),
        ("len(primes(1000))", 168),
    ],
)
def test_values(text: str, value: Value) -> None:
    found = value_of(text)
    assert (found, type(found)) == (value, type(value))


MIXED = "both sides must measure the same thing, such as `2m + 30cm`"
CASES = [
    ("1:0", "E0120", "1:0", "the right side of a ratio is zero", ""),
    ("?", "E0120", "?", "an unknown `?` is allowed as an extent or as the value of a `let`, in a fabric", ""),
    ("-true", "E0103", "true", "`-` needs a number, found a bool", ""),
    ('-"a"', "E0103", '"a"', "`-` needs a number, found a string", ""),
    ("not 1", "E0103", "1", "expected a bool, found an int", "compare it: `n > 0`"),
    ("1 and true", "E0103", "1", "expected a bool, found an int", "compare it: `n > 0`"),
    ("true and 1", "E0103", "1", "expected a bool, found an int", "compare it: `n > 0`"),
    ("false or 1", "E0103", "1", "expected a bool, found an int", "compare it: `n > 0`"),
    ("1 if 2 else 3", "E0103", "2", "expected a bool, found an int", "compare it: `n > 0`"),
    ("1 + true", "E0103", "true", "a bool (true) cannot be added to an int (1)", MIXED),
    ('1 + "a"', "E0103", '"a"', "a string (a) cannot be added to an int (1)", MIXED),
    ("1m + 2s", "E0103", "2s", "a time (2s) cannot be added to a length (1m)", MIXED),
    ("1m - 2", "E0103", "2", "an int (2) cannot be subtracted from a length (1m)", MIXED),
    ('"a" - "b"', "E0103", '"b"', "a string (b) cannot be subtracted from a string (a)", MIXED),
    ("[1] * 2", "E0103", "2", "an int (2) cannot be multiplied by a list ([1])", MIXED),
    ("2 * [1]", "E0103", "[1]", "a list ([1]) cannot be multiplied by an int (2)", MIXED),
    ('1 / "a"', "E0103", '"a"', "a string (a) cannot be divided by an int (1)", MIXED),
    ("1m % 2s", "E0103", "2s", "a time (2s) cannot be combined with a length (1m)", MIXED),
    ('5m ** "a"', "E0103", '5m ** "a"', "an exponent is a whole number, not a string", ""),
    ("2 ** true", "E0103", "2 ** true", "an exponent is a whole number, not a bool", ""),
    ("2 ** (1/2)", "E0103", "2 ** (1/2)", "an exponent is a whole number, not a ratio", ""),
    ("2m ** 2", "E0103", "2m ** 2", "`**` needs a number, found a length", ""),
    ("true ** 2", "E0103", "true ** 2", "`**` needs a number, found a bool", ""),
    ("0 ** -1", "E0120", "0 ** -1", "zero has no negative power", ""),
    ("1 / 0", "E0120", "0", "`/` by zero", ""),
    ("7 // 0", "E0120", "0", "`//` by zero", ""),
    ("7m % 0m", "E0120", "0m", "`%` by zero", ""),
    ('1 < "a"', "E0103", '1 < "a"', "an int (1) cannot be compared with a string (a)", MIXED),
    ("1m < 2s", "E0103", "1m < 2s", "a length (1m) cannot be compared with a time (2s)", MIXED),
    ("1m >= 2", "E0103", "1m >= 2", "a length (1m) cannot be compared with an int (2)", MIXED),
    ('1 == "a"', "E0103", '1 == "a"', "an int is never equal to a string", ""),
    ("1m == 1s", "E0103", "1m == 1s", "a length is never equal to a time", ""),
    ("1 == 1m", "E0103", "1 == 1m", "an int is never equal to a length", ""),
    ('"a" != true', "E0103", '"a" != true', "a string is never equal to a bool", ""),
    ("[1] == 1", "E0103", "[1] == 1", "a list is never equal to an int", ""),
    ("1 in 5", "E0103", "1 in 5", "expected a range or a list, found an int", "write `0..n - 1`"),
    ("[1, 2][2]", "E0108", "2", "index 2 is outside the list: it has 2 elements, 0..1", ""),
    ("[1, 2][-1]", "E0108", "-1", "index -1 is outside the list: it has 2 elements, 0..1", ""),
    ("[][0]", "E0108", "0", "index 0 is outside the list: it has 0 elements", ""),
    ("[1][true]", "E0103", "true", "a list is indexed by a whole number, not by a bool", ""),
    ("1/2..3", "E0111", "1/2", "expected a whole number, found 1/2", "`1//2` rounds down"),
    ("(1/2)..3", "E0111", "(1/2)", "expected a whole number, found 1/2", "`(1//2)` rounds down"),
    ("true..3", "E0103", "true", "expected a whole number, found a bool", ""),
    ("1..true", "E0103", "true", "expected a whole number, found a bool", ""),
    ("(7/2, 3)", "E0111", "7/2", "expected a whole number, found 7/2", "`7//2` rounds down"),
    ("(6/4)..8", "E0111", "(6/4)", "expected a whole number, found 3/2", "`(6//4)` rounds down"),
    ("6/4..8", "E0111", "6/4", "expected a whole number, found 3/2", "`6//4` rounds down"),
    ("6/4/2..8", "E0111", "6/4/2", "expected a whole number, found 3/4", ""),
    ("range(5)", "E0101", "range(5)", "there is no function `range` here", "write `0..4`; both ends are included"),
    ("range(2, 5)", "E0101", "range(2, 5)", "there is no function `range` here", "write `2..4`; both ends are included"),
    ("seven", "E0101", "seven", "there is no value `seven` here", "write `7`, in digits"),
    ("Sixteen", "E0101", "Sixteen", "there is no value `Sixteen` here", "write `16`, in digits"),
    ("min()", "E0115", "min()", "`min` of nothing", ""),
    ("max([])", "E0115", "max([])", "`max` of nothing", ""),
    ("min(1, true)", "E0103", "min(1, true)", "`min` needs numbers, or quantities that all measure the same thing", ""),
    ("max(1m, 2s)", "E0103", "max(1m, 2s)", "`max` needs numbers, or quantities that all measure the same thing", ""),
    ("sum(1, 1m)", "E0103", "sum(1, 1m)", "`sum` needs numbers, or quantities that all measure the same thing", ""),
    ('sum("a")', "E0103", 'sum("a")', "`sum` needs numbers, or quantities that all measure the same thing", ""),
    ("sum(0..1048576)", "E0116", "sum(0..1048576)", "1,048,577 elements are too many", ""),
    ("product(1m)", "E0103", "product(1m)", "`product` multiplies plain numbers", ""),
    ("product(2m, 2m)", "E0103", "product(2m, 2m)", "`product` multiplies plain numbers", ""),
    ("len(5)", "E0103", "len(5)", "an int has no length", ""),
    ('sort([1, "a"])', "E0103", 'sort([1, "a"])', "`sort` needs numbers, or quantities that all measure the same thing", ""),
    (
        "primes(1048577)",
        "E0115",
        "primes(1048577)",
        "`primes(n)` lists the primes up to a whole number n of at most 1,048,576",
        "",
    ),
    ("primes(true)", "E0115", "primes(true)", "`primes(n)` lists the primes up to a whole number n of at most 1,048,576", ""),
    ("primes(1/2)", "E0115", "primes(1/2)", "`primes(n)` lists the primes up to a whole number n of at most 1,048,576", ""),
    (
        "gf_add(6, 1, 1)",
        "E0115",
        "gf_add(6, 1, 1)",
        "6 is not a prime power, so no field has that size",
        "the nearest are 5 and 7",
    ),
    ("gf_add(1, 0, 0)", "E0115", "gf_add(1, 0, 0)", "a field's size is a prime power from 2 to 4096", ""),
    ("gf_add(4097, 0, 0)", "E0115", "gf_add(4097, 0, 0)", "a field's size is a prime power from 2 to 4096", ""),
    ("gf_add(true, 0, 0)", "E0115", "gf_add(true, 0, 0)", "a field's size is a prime power from 2 to 4096", ""),
    ("gf_add(4, 4, 0)", "E0115", "gf_add(4, 4, 0)", "an element of GF(4) is a whole number from 0 to 3", ""),
    ("gf_mul(4, 0, -1)", "E0115", "gf_mul(4, 0, -1)", "an element of GF(4) is a whole number from 0 to 3", ""),
    ("gf_mul(4, true, 1)", "E0115", "gf_mul(4, true, 1)", "an element of GF(4) is a whole number from 0 to 3", ""),
    ("gf_mul(4, 1/2, 1)", "E0115", "gf_mul(4, 1/2, 1)", "an element of GF(4) is a whole number from 0 to 3", ""),
    (
        "gf_mul(100, 1, 1)",
        "E0115",
        "gf_mul(100, 1, 1)",
        "100 is not a prime power, so no field has that size",
        "the nearest are 97 and 101",
    ),
    ("gf_pow(4, 2, -1)", "E0115", "gf_pow(4, 2, -1)", "`gf_pow(q, a, n)` needs a whole n of at least 0", ""),
    ("gf_pow(4, 2, true)", "E0115", "gf_pow(4, 2, true)", "`gf_pow(q, a, n)` needs a whole n of at least 0", ""),
    ("gf_pow(4, 2, 1/2)", "E0115", "gf_pow(4, 2, 1/2)", "`gf_pow(q, a, n)` needs a whole n of at least 0", ""),
    ("gf_pow(4, 4, 1)", "E0115", "gf_pow(4, 4, 1)", "an element of GF(4) is a whole number from 0 to 3", ""),
    ("gf_root(12)", "E0115", "gf_root(12)", "12 is not a prime power, so no field has that size", "the nearest are 11 and 13"),
    ("gf_root(2, 3)", "E0115", "gf_root(2, 3)", "`gf_root` does not take 2 values", ""),
    (
        "refuse()",
        "E0115",
        "refuse()",
        "`refuse` takes a row of a table, if there is one, what is wrong, and how to correct it",
        "",
    ),
    (
        "refuse(1)",
        "E0115",
        "refuse(1)",
        "`refuse` takes a row of a table, if there is one, what is wrong, and how to correct it",
        "",
    ),
    (
        'refuse("a", "b", "c")',
        "E0115",
        'refuse("a", "b", "c")',
        "`refuse` takes a row of a table, if there is one, what is wrong, and how to correct it",
        "",
    ),
    (
        'refuse("a", 1)',
        "E0115",
        'refuse("a", 1)',
        "`refuse` takes a row of a table, if there is one, what is wrong, and how to correct it",
        "",
    ),
    ('refuse("no")', "E0110", 'refuse("no")', "no", ""),
    ('refuse("no", "yes")', "E0110", 'refuse("no", "yes")', "no", "yes"),
    ("len()", "E0115", "len()", "`len` does not take 0 values", ""),
    ("len(1, 2)", "E0115", "len(1, 2)", "`len` does not take 2 values", ""),
    (
        "len.x",
        "E0103",
        "x",
        "a function has no member `x`",
        "a path to a device is not a value; use it in connect, omit, naming and require",
    ),
    (
        '"{31:c}"',
        "E0120",
        "{31:c}",
        "the format `c` makes the character 31, which no file of devices takes",
        "it makes letters, digits and marks of ASCII, 32 to 126; write others in the text itself",
    ),
    (
        '"{127:c}"',
        "E0120",
        "{127:c}",
        "the format `c` makes the character 127, which no file of devices takes",
        "it makes letters, digits and marks of ASCII, 32 to 126; write others in the text itself",
    ),
    ('"{1:12345d}"', "E0116", "{1:12345d}", "the format `12345d` makes too many characters", ""),
    ('"{1:4097d}"', "E0116", "{1:4097d}", "this format makes 4,097 characters", ""),
    ('"{1:9999d}"', "E0116", "{1:9999d}", "this format makes 9,999 characters", ""),
    ("mim(1, 2)", "E0101", "mim", "there is no value `mim` here", "did you mean `min`?"),
    ("lenn", "E0101", "lenn", "there is no value `lenn` here", "did you mean `len`?"),
    ("10**400 * 1/3", "E0116", "3", "this is larger than 2^1000, which no file can hold", ""),
    ("2**5000", "E0116", "2**5000", "this power has more than 4096 bits", ""),
    ("2**4096", "E0116", "2**4096", "this power has more than 4096 bits", ""),
    ("2**-4096", "E0116", "2**-4096", "this power has more than 4096 bits", ""),
    ("(1/3)**3000", "E0116", "(1/3)**3000", "this power has more than 4096 bits", ""),
    ("2**1001 * 1m", "E0116", "1m", "this is larger than 2^1000, which no file can hold", ""),
    ("(2**1001 * 1m)", "E0116", "1m", "this is larger than 2^1000, which no file can hold", ""),
    ("[1] + 2", "E0103", "2", "an int (2) cannot be added to a list ([1])", MIXED),
]


@pytest.mark.parametrize(("text", "code", "under", "message", "help"), CASES)
def test_refused(text: str, code: str, under: str, message: str, help: str) -> None:
    assert refusal(text) == (code, under, message, help)


def test_chains_stop_where_the_answer_is_known() -> None:
    """What is not needed is not evaluated; what is needed is."""
    assert value_of("true or 1") is True
    assert value_of("false and 1") is False
    assert value_of("3 < 2 < 1 / 0") is False
    assert value_of("1 if true else 1 / 0") == 1
    with pytest.raises(Fault):
        value_of("2 < 3 < 1 / 0")


def steps(text: str, **names: Value) -> int:
    """Steps that are counted for an expression."""
    evaluator = Evaluator()
    value_of(text, evaluator, **names)
    return evaluator.steps


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 1),
        ("1 + 2", 3),
        ("1 + 2 + 3", 4),
        ("[1, 2, 3]", 4),
        ("[1, 2, 3, 4]", 6),
        ("gf_pow(4, 2, 3)", 24),
        ("gf_mul(4, 2, 3)", 4),
        ("primes(160)", 2 + 10 + 37 // 4),
        ("primes(31)", 2 + 1 + 11 // 4),
        ("primes(-40)", 3),
        ("len(0..39)", 4),
        ("sum(0..39)", 4 + 10),
        ("2**126", 3),
        ("2**127", 4),
        ("min(1, 2)", 3),
        ("0..39", 3),
        ("x", 1),
        ("40 in x", 6),
        ("sum(x)", 2 + 3),
    ],
)
def test_steps(text: str, count: int) -> None:
    """One an expression, one for four elements of a list, for 64 characters, for 128 bits; 20 a power in a field."""
    assert steps(text, x=tuple(range(30, 42))) == count


def test_too_many_steps() -> None:
    """The limit itself is allowed."""
    evaluator = Evaluator(steps=STEP_LIMIT - 1)
    assert value_of("1", evaluator) == 1
    with pytest.raises(Fault) as fault:
        value_of("1", evaluator)
    d = fault.value.diagnostic
    assert (d.code, d.message) == ("E0116", "this takes more than 5,000,000 steps to compute")
    assert d.help == "compute less: a list or a function here grows too fast"


def test_cost() -> None:
    """Of nested lists all elements count, of others the characters and bits; no more than asked for is looked at."""
    assert [evaluation_steps(tuple(range(n)), 99) for n in (3, 4, 7, 8)] == [0, 1, 1, 2]
    assert evaluation_steps(((1, 2, 3), (4, 5, (6, 7)), 8), 99) == 11 // 4
    assert evaluation_steps(((1, 2, 3), (4, 5, (6, 7)), 8), 2) == 0
    assert [evaluation_steps("a" * n, 99) for n in (63, 64, 128)] == [0, 1, 2]
    assert [evaluation_steps(WholeRange(1, n), 99) for n in (3, 4, 9)] == [0, 1, 2]
    assert evaluation_steps(WholeRange(1, 1 << 40), 99) == LIST_LIMIT // 4
    assert [evaluation_steps(1 << n, 99) for n in (126, 127, 255)] == [0, 1, 2]
    assert [evaluation_steps(Fraction(1, 1 << n), 99) for n in (126, 127, 255)] == [0, 1, 2]
    assert [evaluation_steps(Quantity(Fraction((1 << n) + 1, 2), LENGTH), 99) for n in (126, 127)] == [0, 1]
    assert evaluation_steps(None, 99) == 0


def test_too_large() -> None:
    """A thousand bits before the point are the most; whole numbers have their own limit."""
    assert [too_large(Fraction(1 << n)) for n in (999, 1000, 1001)] == [False, False, True]
    assert [too_large(Quantity(Fraction(1 << n), LENGTH)) for n in (1000, 1001)] == [False, True]
    assert [too_large(Fraction(1 << n, 3)) for n in (1001, 1002)] == [False, True]
    assert not too_large(1 << 2000)


def test_long_texts_and_lists() -> None:
    """At most so many characters and elements; the limit itself is allowed."""
    half = "a" * (LIST_LIMIT // 2)
    assert len(str(value_of("x + x", x=half))) == LIST_LIMIT
    assert refusal('x + x + "b"', x=half)[2] == "this string is too long"
    assert value_of('"{x}{x}"', x=half) == half + half
    assert value_of('"{x}{x}b"', x=half) == half + half + "b"
    assert refusal('"{x}{x}b{x}"', x=half + "a") == ("E0116", '"{x}{x}b{x}"', "this string is too long", "")
    many = (1,) * (LIST_LIMIT // 2)
    assert value_of("len(x + x)", x=many) == LIST_LIMIT
    assert refusal("x + x + [1]", x=many) == ("E0116", "x + x + [1]", "a list of 1,048,577 elements is too long", "")
    assert value_of("sum(0..1048575)") == (1048575 * 1048576) // 2
    assert value_of('"{1:4096d}"') == f"{1:4096d}"


def test_words_and_models() -> None:
    """A bare unknown name is a word where words are allowed; a name of a model is one; an excused name is skipped."""
    assert str(Evaluator().evaluate(parsed("fast"), Scope(), words=True)) == "fast"
    assert [str(w) for w in Evaluator().evaluate(parsed("[fast, slow]"), Scope(), words=True)] == ["fast", "slow"]  # type: ignore[union-attr]
    assert str(Evaluator().evaluate(parsed("(fast)"), Scope(), words=True)) == "fast"
    with pytest.raises(Fault):
        Evaluator().evaluate(parsed("fast(1)"), Scope(), words=True)
    with pytest.raises(Fault):
        Evaluator().evaluate(parsed("fast + 1"), Scope(), words=True)
    assert type(Evaluator(is_model=lambda name: name == "S").evaluate(parsed("S"), Scope())).__name__ == "ModelName"
    with pytest.raises(Fault):
        Evaluator(is_model=lambda name: name == "S").evaluate(parsed("T"), Scope())
    assert value_of("true") is True
    assert value_of("false") is False


FIELDS = [q for q in range(2, 65) if prime_power(q)]


def field_tables(q: int) -> tuple[list[list[int]], list[list[int]]]:
    """Sums and products of GF(q) from polynomials, reduced by the least irreducible one that a search of all products finds."""
    p = next(d for d in range(2, q + 1) if q % d == 0)
    n = next(k for k in range(1, 9) if p**k == q)

    def poly(a: int) -> list[int]:
        return [a // p**i % p for i in range(n)]

    def times(x: list[int], y: list[int]) -> list[int]:
        out = [0] * (len(x) + len(y) - 1)
        for i, j in product(range(len(x)), range(len(y))):
            out[i + j] = (out[i + j] + x[i] * y[j]) % p
        return out

    monic = {d: [[*low, 1] for low in product(range(p), repeat=d)] for d in range(n + 1)}
    reducible = {tuple(times(x, y)) for d in range(1, n // 2 + 1) for x in monic[d] for y in monic[n - d]}
    modulus = min((m for m in monic[n] if tuple(m) not in reducible), key=lambda m: m[::-1])
    sums = [
        [sum((x + y) % p * p**i for i, (x, y) in enumerate(zip(poly(a), poly(b), strict=True))) for b in range(q)]
        for a in range(q)
    ]
    products = []
    for a in range(q):
        row = []
        for b in range(q):
            out = times(poly(a), poly(b))
            for top in range(len(out) - 1, n - 1, -1):
                factor = out[top]
                for i in range(n + 1):
                    out[top - n + i] = (out[top - n + i] - factor * modulus[i]) % p
            row.append(sum(c * p**i for i, c in enumerate(out[:n])))
        products.append(row)
    return sums, products


@pytest.mark.parametrize("q", [2, 3, 4, 5, 7, 8, 9, 16, 25, 27])
def test_finite_fields(q: int) -> None:
    """Sums, products, powers and the least primitive element against tables made from the definition."""
    sums, products = field_tables(q)
    add, mul, power = (BUILTINS[name].run for name in ("gf_add", "gf_mul", "gf_pow"))
    for a, b in product(range(q), repeat=2):
        assert add(AT, q, a, b) == sums[a][b]
        assert mul(AT, q, a, b) == products[a][b]
    orders = {}
    for a in range(q):
        row = [1]
        for _ in range(2 * q):
            row.append(products[row[-1]][a])
        assert [power(AT, q, a, n) for n in range(2 * q + 1)] == row
        orders[a] = next((n for n in range(1, q) if row[n] == 1), 0)
    assert BUILTINS["gf_root"].run(AT, q) == min(a for a, order in orders.items() if order == q - 1)
    assert all(sorted(row) == list(range(q)) for row in products[1:])


def test_primitive_elements_of_larger_fields() -> None:
    """The least primitive roots of primes (OEIS A001918)."""
    roots = {23: 5, 31: 3, 41: 6, 43: 3, 61: 2, 71: 7, 73: 5, 109: 6, 191: 19, 409: 21, 4093: 2}
    assert {q: _primitive_element(q) for q in roots} == roots
    assert _primitive_element(2) == 1


def test_least_irreducible_polynomials() -> None:
    """Lowest coefficient first, as in the tables of Lidl and Niederreiter."""
    assert [_irreducible_polynomial(2, n) for n in (1, 2, 3, 4)] == [(0, 1), (1, 1, 1), (1, 1, 0, 1), (1, 1, 0, 0, 1)]
    assert [_irreducible_polynomial(3, 2), _irreducible_polynomial(5, 2), _irreducible_polynomial(7, 2)] == [
        (1, 0, 1),
        (2, 0, 1),
        (1, 0, 1),
    ]


def test_primes_up_to_each_number() -> None:
    """Against division by all smaller numbers."""
    known = [n for n in range(2, 400) if all(n % d for d in range(2, n))]
    assert all(BUILTINS["primes"].run(AT, n) == tuple(p for p in known if p <= n) for n in range(-2, 400))


def test_products_and_sums_that_are_too_large() -> None:
    """The numerator or the denominator of a product has at most 2^13 bits, the denominator of a sum."""
    assert value_of("product(x)", x=(Fraction(1 << 4000), 3)) == 3 << 4000
    run = BUILTINS["product"].run
    bits = (1 << 4095, 1 << 4094)  # 4096 and 4095 bits
    assert run(AT, *bits) == prod(bits)
    assert run(AT, *bits, 1) == prod(bits)
    with pytest.raises(Fault):
        run(AT, *bits, 2)
    add = BUILTINS["sum"].run
    assert add(AT, Fraction(1, (1 << 8192) - 1)) == Fraction(1, (1 << 8192) - 1)
    with pytest.raises(Fault):
        add(AT, Fraction(1, 1 << 8192))


@pytest.mark.parametrize(
    ("amount", "dim", "text"),
    [
        (0, LENGTH, "0mm"),
        (1, LENGTH, "1m"),
        ("0.999", LENGTH, "999mm"),
        (1000, LENGTH, "1km"),
        (999, LENGTH, "999m"),
        (-1000, LENGTH, "-1km"),
        (0, (0, 1, 0, 0, 0, 0, 0, 0), "0ps"),
        (86400, (0, 1, 0, 0, 0, 0, 0, 0), "1day"),
        (43200, (0, 1, 0, 0, 0, 0, 0, 0), "43200s"),
        ("1e-9", (0, 1, 0, 0, 0, 0, 0, 0), "1ns"),
        ("1e-6", (0, 1, 0, 0, 0, 0, 0, 0), "1us"),
        (800, (1, 0, 0, 0, 0, 0, 0, 0), "100B"),
        (8 * 10**18, (1, 0, 0, 0, 0, 0, 0, 0), "1000PB"),
        (1000, (1, -1, 0, 0, 0, 0, 0, 0), "1kbps"),
        (10**9, (0, 0, 0, 1, 0, 0, 0, 0), "1000MW"),
        (5, (0, 0, 0, 0, 0, 1, 0, 0), "$5"),
        (5, (0, 0, 0, 0, 0, 0, 1, 0), "5U"),
        (5, (0, 0, 0, 0, 1, 0, 0, 0), "5kg"),
        (5, (0, 0, 0, 0, 0, 0, 0, 1), "5dB"),
        (5, NONE, "5 number"),
        (5, (0, 1, -1, 0, 0, 0, 0, 0), "5 s·m^-1"),
        (5, (0, 0, 2, 1, 0, 0, 0, 0), "5 m^2·W"),
    ],
)
def test_quantities_as_written(amount: int | str, dim: tuple[int, ...], text: str) -> None:
    assert quantity_text(Quantity(Fraction(amount), dim)) == text  # type: ignore[arg-type]
    assert str(Quantity(Fraction(amount), dim)) == text  # type: ignore[arg-type]


def test_digits() -> None:
    """Six digits of a fraction, also where it is too large for a floating point number."""
    assert [decimal_text(Fraction(x)) for x in (7, "7/2", "2/3")] == ["7", "3.5", "0.666667"]
    assert decimal_text(Fraction(10**400 + 1, 3)) == "3.33333e+399"


def test_functions() -> None:
    """Defaults may use earlier arguments; a wrong number, type or result is refused at its place; a call of itself, too."""
    text = """def f(a: int, b: int = a + 1): int = a * 10 + b
def g(n: int): int = h(n)
def h(n: int): int = g(n)
def k(n: int): string = n
"""
    found = Diagnostics()
    body = parse_source_file(SourceFile("t.fab", text), found).body
    assert not list(found)
    scope = Scope()
    for s in body:
        assert isinstance(s, tree.Def)
        scope.set(s.name.name, FunctionValue(s, scope), s.name.span, "def")

    def said(text: str) -> tuple[str, str, str, list[str]]:
        with pytest.raises(Fault) as fault:
            Evaluator().evaluate(parsed(text), scope)
        d = fault.value.diagnostic
        assert d.span is not None
        return d.code, d.span.text, d.message, [f"{x.span.text}: {x.message}" for x in d.labels]

    evaluator = Evaluator()
    assert [evaluator.evaluate(parsed(t), scope) for t in ("f(1)", "f(1, 5)", "f(f(1), 2)", "f(f(f(1)))")] == [12, 15, 122, 1464]
    assert evaluator.calls == []
    assert said("f()") == ("E0115", "f()", "`f` takes 2 values, not 0", ["f: defined here"])
    assert said("f(1, 2, 3)") == ("E0115", "f(1, 2, 3)", "`f` takes 2 values, not 3", ["f: defined here"])
    assert said("f(true)")[:2] == ("E0103", "true")
    assert said("f(1, true)")[:2] == ("E0103", "true")
    assert said("k(1)")[:2] == ("E0103", "k(1)")
    assert said("g(1)")[::2] == ("E0114", "`g` leads back to itself")
    with pytest.raises(Fault) as fault:
        Evaluator().evaluate(parsed("x(1)"), one_name())
    assert fault.value.diagnostic.message == "an int cannot be called"


def one_name() -> Scope:
    """A scope in which ``x`` is 1."""
    scope = Scope()
    scope.set("x", 1, AT, "let")
    return scope


def test_holes() -> None:
    """A hole has the number that is tried for its place."""
    e = parsed("? ")
    assert Evaluator(holes={(id(e.span.file), e.span.start): 7}).evaluate(e, Scope()) == 7
    with pytest.raises(Fault):
        Evaluator(holes={(id(e.span.file), e.span.start + 1): 7}).evaluate(e, Scope())


def test_excused_names() -> None:
    """A name whose declaration has a fault of its own raises no second one."""
    scope = Scope()
    scope.excused.add("x")
    with pytest.raises(Excused):
        Evaluator().evaluate(parsed("x + 1"), scope)


def test_dimensions() -> None:
    """Elements, lengths and sums of dimensions; whole numbers in brackets are dimensions, too."""
    assert str(value_of("2x3x4")) == "2x3x4"
    assert [value_of(t) for t in ("len(2x3x4)", "sum(2x3x4)", "max(2x3x4)", "len((5, 6))")] == [3, 9, 4, 2]
    assert value_of("[d*d for d in 2x3x4]") == (4, 9, 16)
    assert value_of("x[1]", x=value_of("2x3x4")) == 3


def test_long_values_in_messages() -> None:
    """Of a list with more than 20 elements, or with lists in it, the number of elements is given."""
    for x, shown in (((1,) * 20, None), ((1,) * 21, "of 21 elements"), (((1,), 2), "of 2 elements"), ((1, 2), "[1, 2]")):
        expected = shown or "[" + ", ".join(["1"] * 20) + "]"
        assert refusal("1 + x", x=x)[2] == f"a list ({expected}) cannot be added to an int (1)"


def test_bits_of_results() -> None:
    """Products and quotients have at most 4096 bits; so do sums of two fractions."""
    big = 1 << 2047  # 2048 bits
    assert value_of("x * x", x=big) == big * big
    assert refusal("x * y", x=big, y=2 * big) == ("E0116", "x * y", "this result has more than 4096 bits", "")
    assert refusal("x / y", x=big, y=2 * big + 1)[2] == "this result has more than 4096 bits"
    assert value_of("x + y - x", x=big, y=2 * big) == 2 * big
    small = Fraction(1, big)
    assert value_of("x + x", x=small) == 2 * small
    assert refusal("x + y", x=small, y=Fraction(1, 2 * big))[2] == "this result has more than 4096 bits"
    assert value_of("y + x", x=Fraction(1, 1 << 4095), y=3) == 3 + Fraction(1, 1 << 4095)
    assert value_of("x + y", x=Fraction(1, 1 << 4095), y=3) == 3 + Fraction(1, 1 << 4095)


def test_types_that_do_not_exist() -> None:
    """A type in a function is a known one."""
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", "def f(a: itn): int = a\n"), found).body
    assert isinstance(s, tree.Def)
    scope = Scope()
    scope.set("f", FunctionValue(s, scope), s.name.span, "def")
    with pytest.raises(Fault) as fault:
        Evaluator().evaluate(parsed("f(1)"), scope)
    d = fault.value.diagnostic
    assert (d.code, d.message, d.help) == ("E0101", "there is no type `itn` here", "did you mean `int`?")
