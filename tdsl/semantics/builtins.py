"""The functions of the language itself: ``min max len sum product sort primes``, and ``gf_add gf_mul gf_pow
gf_root`` of fields.

Fields are GF(q) for a prime power q. An element is a number 0 … q-1 whose base-p digits are the coefficients
of a polynomial, lowest power first, modulo the least monic irreducible polynomial of its degree (Lidl and
Niederreiter, Finite Fields, ch. 1-2).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import compress, product
from math import prod
from typing import Any, cast

from tdsl.findings.source import SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.values import Builtin, Dims, TableRow, Value, WholeRange, a_type, number_in_message

FIELD_LIMIT = 4096


def _numeric_arguments(span: SourceSpan, args: tuple[Value, ...], name: str) -> list[Value]:
    values = list(args)
    if len(args) == 1 and isinstance(args[0], (tuple, WholeRange, Dims)):
        only = args[0]
        if isinstance(only, WholeRange):
            if only.size > 1 << 20:
                raise Fault("E0116", span, f"{number_in_message(only.size)} elements are too many")
            values = list(range(only.low, only.high + 1))
        else:
            values = list(only.sizes if isinstance(only, Dims) else only)
    if _all_whole(values):
        return values
    dims = {v.dim if isinstance(v, Quantity) else None for v in values}
    if len(dims) > 1 or any(
        not isinstance(v, (int, Fraction, Quantity)) or isinstance(v, bool) for v in values
    ):
        raise Fault("E0103", span, f"`{name}` needs numbers, or quantities that all measure the same thing")
    return values


def _all_whole(values: list[Value]) -> bool:
    """Whether all are whole numbers, found out without a step for each."""
    return set(map(type, values)) <= {int}


def _exact_amount(v: Value) -> Fraction:
    if isinstance(v, Quantity):
        return v.amount
    assert isinstance(v, (int, Fraction))
    return Fraction(v)


def _number_sort_key(values: list[Value]) -> Callable[[Any], Any]:
    """What orders values; whole numbers need no fractions."""
    return int if _all_whole(values) else _exact_amount


def _least_or_greatest(name: str, span: SourceSpan, args: tuple[Value, ...]) -> Value:
    values = _numeric_arguments(span, args, name)
    if not values:
        raise Fault("E0115", span, f"`{name}` of nothing")
    return (min if name == "min" else max)(values, key=_number_sort_key(values))


def _length_of_value(span: SourceSpan, value: Value) -> int:
    if isinstance(value, Dims):
        return len(value.sizes)
    if isinstance(value, WholeRange):
        return value.size
    if isinstance(value, (tuple, str)):
        return len(value)
    raise Fault("E0103", span, f"{a_type(value)} has no length")


def _sum_of_arguments(span: SourceSpan, *args: Value) -> int | Fraction | Quantity:
    values = _numeric_arguments(span, args, "sum")
    if _all_whole(values):
        return sum(cast("list[int]", values))
    total = Fraction(0)
    for v in values:
        total += _exact_amount(v)
        if total.denominator.bit_length() > 1 << 13:
            raise Fault("E0116", span, "this sum is too large")
    return Quantity(total, values[0].dim) if values and isinstance(values[0], Quantity) else total


def _product_of_arguments(span: SourceSpan, *args: Value) -> Value:
    values = _numeric_arguments(span, args, "product")
    if any(isinstance(v, Quantity) for v in values):
        raise Fault("E0103", span, "`product` multiplies plain numbers")
    if (
        sum(
            max(_exact_amount(v).numerator.bit_length(), _exact_amount(v).denominator.bit_length())
            for v in values
        )
        > 1 << 13
    ):
        raise Fault("E0116", span, "this product is too large")
    return prod(map(_exact_amount, values), start=Fraction(1))


def _sort_values(span: SourceSpan, value: Value) -> tuple[Value, ...]:
    if isinstance(value, tuple) and all(isinstance(v, str) for v in value):
        return tuple(sorted(value, key=str))
    values = _numeric_arguments(span, (value,), "sort")
    return tuple(sorted(values, key=_number_sort_key(values)))


def _primes_up_to(span: SourceSpan, limit: Value) -> tuple[int, ...]:
    if not isinstance(limit, int) or isinstance(limit, bool) or limit > 1 << 20:
        raise Fault("E0115", span, "`primes(n)` lists the primes up to a whole number n of at most 1,048,576")
    sieve = bytearray([1]) * (max(limit, 1) + 1)
    sieve[0:2] = b"\0\0"
    for i in range(2, int(max(limit, 1) ** 0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(sieve[i * i :: i]))
    return tuple(compress(range(len(sieve)), sieve))


def prime_power(q: int) -> tuple[int, int] | None:
    """(p, n) with q = p**n and p prime, or None."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    n = 0
    while q % p == 0:
        q //= p
        n += 1
    return (p, n) if q == 1 else None


def _base_p_digits(a: int, p: int, n: int) -> list[int]:
    out = []
    for _ in range(n):
        a, d = divmod(a, p)
        out.append(d)
    return out


def _reduce_polynomial(poly: list[int], modulus: tuple[int, ...], p: int) -> list[int]:
    n = len(modulus) - 1
    for top in range(len(poly) - 1, n - 1, -1):
        factor = poly[top]
        if factor:
            for i in range(n + 1):
                poly[top - n + i] = (poly[top - n + i] - factor * modulus[i]) % p
    return poly[:n]


def _polynomial_divides(small: tuple[int, ...], big: tuple[int, ...], p: int) -> bool:
    return not any(_reduce_polynomial(list(big), small, p))


@lru_cache(maxsize=64)
def _irreducible_polynomial(p: int, n: int) -> tuple[int, ...]:
    """The least monic irreducible polynomial of degree n over GF(p), by trial division."""
    lower = [(*low, 1) for d in range(1, n // 2 + 1) for low in product(range(p), repeat=d)]
    for high_first in product(range(p), repeat=n):
        candidate = (*reversed(high_first), 1)
        if not any(_polynomial_divides(small, candidate, p) for small in lower):
            return candidate
    raise AssertionError("an irreducible polynomial of every degree exists")


def _multiply_in_field(q: int, a: int, b: int) -> int:
    p, n = prime_power(q) or (q, 1)
    if n == 1:
        return a * b % p
    x, y = _base_p_digits(a, p, n), _base_p_digits(b, p, n)
    poly = [0] * (2 * n - 1)
    for i, u in enumerate(x):
        for j, v in enumerate(y):
            poly[i + j] = (poly[i + j] + u * v) % p
    return sum(d * p**i for i, d in enumerate(_reduce_polynomial(poly, _irreducible_polynomial(p, n), p)))


def _field_power(q: int, a: int, exponent: int) -> int:
    out, square = 1, a
    while exponent:
        if exponent & 1:
            out = _multiply_in_field(q, out, square)
        square = _multiply_in_field(q, square, square)
        exponent >>= 1
    return out


@lru_cache(maxsize=64)
def _primitive_element(q: int) -> int:
    rest, factors = q - 1, []
    d = 2
    while d * d <= rest:
        if rest % d == 0:
            factors.append(d)
            while rest % d == 0:
                rest //= d
        d += 1
    factors += [rest] if rest > 1 else []
    return next(a for a in range(1, q) if all(_field_power(q, a, (q - 1) // f) != 1 for f in factors))


def _check_field_elements(span: SourceSpan, q: Value, *elements: Value) -> int:
    if not isinstance(q, int) or isinstance(q, bool) or not 2 <= q <= FIELD_LIMIT:
        raise Fault("E0115", span, f"a field's size is a prime power from 2 to {FIELD_LIMIT}")
    if prime_power(q) is None:
        below = next(i for i in range(q, 1, -1) if prime_power(i))
        above = next(i for i in range(q, 2 * q + 1) if prime_power(i))
        raise Fault(
            "E0115",
            span,
            f"{q} is not a prime power, so no field has that size",
            help=f"the nearest are {below} and {above}",
        )
    for e in elements:
        if not isinstance(e, int) or isinstance(e, bool) or not 0 <= e < q:
            raise Fault("E0115", span, f"an element of GF({q}) is a whole number from 0 to {q - 1}")
    return q


def _gf_add(span: SourceSpan, q: int, a: int, b: int) -> int:
    _check_field_elements(span, q, a, b)
    p, n = prime_power(q) or (q, 1)
    return sum(
        (x + y) % p * p**i
        for i, (x, y) in enumerate(zip(_base_p_digits(a, p, n), _base_p_digits(b, p, n), strict=True))
    )


def _gf_mul(span: SourceSpan, q: int, a: int, b: int) -> int:
    return _multiply_in_field(_check_field_elements(span, q, a, b), a, b)


def _gf_pow(span: SourceSpan, q: int, a: int, exponent: Value) -> int:
    if not isinstance(exponent, int) or isinstance(exponent, bool) or exponent < 0:
        raise Fault("E0115", span, "`gf_pow(q, a, n)` needs a whole n of at least 0")
    # the units of a field are a group of q - 1 elements
    return _field_power(_check_field_elements(span, q, a), a, (exponent - 1) % (q - 1) + 1 if exponent else 0)


def _gf_root(span: SourceSpan, q: Value) -> int:
    return _primitive_element(_check_field_elements(span, q))


def _refuse_topology(span: SourceSpan, *said: Value) -> Value:
    """Refuse what a topology cannot build, in the topology's words, at the row of a table where one is given
    first."""
    at = said[0].span if said and isinstance(said[0], TableRow) else span
    words = [str(s) for s in said if isinstance(s, str)]
    if not 1 <= len(words) <= 2 or len(words) + (at is not span) != len(said):
        raise Fault(
            "E0115",
            span,
            "`refuse` takes a row of a table, if there is one, what is wrong, and how to correct it",
        )
    raise Fault("E0110", at, words[0], help=words[1] if len(words) > 1 else "")


_OF_ALL = "numbers, or quantities of one kind; also of one list, range or dims"

BUILTINS: dict[str, Builtin] = {
    b.name: b
    for b in (
        Builtin(
            "min",
            lambda span, *args: _least_or_greatest("min", span, args),
            "min(a, b, …)",
            f"the least of {_OF_ALL}",
        ),
        Builtin(
            "max",
            lambda span, *args: _least_or_greatest("max", span, args),
            "max(a, b, …)",
            f"the greatest of {_OF_ALL}",
        ),
        Builtin(
            "len", _length_of_value, "len(v)", "elements of a list, range or dims; characters of a string"
        ),
        Builtin("sum", _sum_of_arguments, "sum(a, b, …)", f"the sum of {_OF_ALL}"),
        Builtin(
            "product",
            _product_of_arguments,
            "product(a, b, …)",
            "the product of numbers; also of one list, range or dims",
        ),
        Builtin("sort", _sort_values, "sort(v)", "a list of numbers, quantities or strings in order"),
        Builtin("primes", _primes_up_to, "primes(n)", "the primes up to n"),
        Builtin("gf_add", _gf_add, "gf_add(q, a, b)", "the sum in the finite field GF(q)"),
        Builtin("gf_mul", _gf_mul, "gf_mul(q, a, b)", "the product in the finite field GF(q)"),
        Builtin("gf_pow", _gf_pow, "gf_pow(q, a, n)", "a to the n-th in GF(q)"),
        Builtin(
            "refuse",
            _refuse_topology,
            "refuse([row, ]what[, fix])",
            "nothing: a topology ends with this finding (E0110)",
        ),
        Builtin("gf_root", _gf_root, "gf_root(q)", "the least primitive element of GF(q)"),
    )
}
