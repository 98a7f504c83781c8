"""Compilations as JSON and back, over every field of every record, and documents that are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import MISSING, fields, replace
from datetime import date
from fractions import Fraction
from itertools import count
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from tdsl.answers import form
from tdsl.answers.form import NotKept, compilations_as_json, compilations_from_json, json_bytes, json_from_bytes
from tdsl.answers.judgements import RECORDS, restore_judgements, written_judgements
from tdsl.compile.compilation import Compilation
from tdsl.compile.waivers import Allowance
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.quantity import LENGTH, Quantity
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement
from tdsl.verify.result import Result
from tests.answers.test_judgements import BESIDE, OLD, wired

FILES = SourceFile("a.fab", "fabric f {}\n" * 9), SourceFile("b.fab", "model\n" * 9)
NAMES = {
    "Fabric": object,
    "ResolvedClaim": object,
    "FailedElements": object,
    "Failing": object,
    "RankedJob": object,
    "Result": Result,
    "Allowance": Allowance,
}
"""What type checkers alone see."""


class Filled:
    """Records of which no field has its default, and no two fields the same value, made from the types of the fields."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.number = count(2)
        self.files = files
        self.seen: set[type] = set()

    def record(self, cls: type) -> Any:
        self.seen.add(cls)
        hints = get_type_hints(cls, localns=NAMES)
        kept = [f for f in fields(cls) if f.name not in form.ABSENT.get(cls, {})]
        values = {f.name: self.value(hints[f.name], f.default) for f in kept}
        for f in kept:
            assert values[f.name] not in (f.default, None) and not (f.default_factory is not MISSING and not values[f.name]), (
                f.name
            )
        absent = {f.name: form.ABSENT[cls][f.name] for f in fields(cls) if f.name in form.ABSENT.get(cls, {}) and f.init}
        made = cls(**absent, **{f.name: values[f.name] for f in kept if f.init})
        for f in kept:
            if not f.init:
                setattr(made, f.name, values[f.name])
        return made

    def value(self, hint: Any, default: object = None) -> Any:
        """A value of a type; of several, the last but None, which is no default."""
        n, outer, of = next(self.number), get_origin(hint), get_args(hint)
        plain = {str: f"t{n}", int: n, float: n + 0.5, object: n, Any: n, Fraction: Fraction(n, n + 1), Severity: Severity.NOTE,
                 date: date(2026, 1, n % 27 + 1), Quantity: Quantity(Fraction(n), LENGTH)}  # fmt: skip
        if hint is bool:
            return not default
        if hint in plain:
            return plain[hint]
        if outer in (Union, UnionType):
            return self.value(next(x for x in of if x not in (NoneType, bool)), default)
        if outer is Literal:
            return of[-1]
        if hint is SourceSpan:
            return SourceSpan(self.files[n % 2], n % 7, n % 7 + 3)
        if outer is tuple:
            return tuple(self.value(x) for x in of if x is not ...)
        if outer in (list, Sequence):
            return [self.value(of[0]), self.value(of[0])]
        if outer in (dict, Mapping):
            return {self.value(of[0]): self.value(of[1])}
        if hint in (*form.KEPT.values(), *RECORDS.values()):
            return self.record(hint)
        pytest.fail(f"no value of {hint} is made here: add its kind")


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two values differ, by the fields of records; files are the same by name and text."""
    if type(one) is not type(other):
        yield f"{at}: {one!r} and {other!r}"
    elif isinstance(one, SourceFile):
        if (one.name, one.text) != (other.name, other.text):
            yield at
    elif hasattr(one, "__dataclass_fields__"):
        for f in fields(one):
            yield from differences(getattr(one, f.name), getattr(other, f.name), f"{at}.{f.name}")
    elif isinstance(one, (list, tuple)):
        if len(one) != len(other):
            yield f"{at}: {len(one)} and {len(other)}"
        for i, (x, y) in enumerate(zip(one, other, strict=False)):
            yield from differences(x, y, f"{at}[{i}]")
    elif one != other:
        yield f"{at}: {one!r} and {other!r}"


def whole() -> Compilation:
    made: Compilation = Filled(FILES).record(Compilation)
    return made


def test_every_field_of_every_record_comes_back() -> None:
    """A field that somebody adds to a record is among them without a change here."""
    filled = Filled(FILES)
    made = filled.record(Compilation)
    assert filled.seen >= set(form.KEPT.values())
    (again,) = compilations_from_json(json_from_bytes(json_bytes(compilations_as_json([made]))))
    assert not list(differences(made, again))


def test_every_field_of_a_judgement_comes_back() -> None:
    filled = Filled((BESIDE, BESIDE))
    made, now = wired(OLD), wired(OLD)
    made.known.plain["a"] = filled.record(Judgement)
    assert filled.seen == set(RECORDS.values())
    restore_judgements(json_from_bytes(json_bytes(written_judgements(made))), now, [OLD, BESIDE])
    assert not list(differences(made.known.plain, now.known.plain))


@dataclass(frozen=True, slots=True)
class MoreThanAResult(Result):
    """A record of a kind that is not known."""

    more: int = 0


def test_what_is_not_known_is_not_kept() -> None:
    """Nothing of an answer is kept then: it comes back whole or not at all."""
    good = whole()
    result = good.designs[0].results[0]
    one = MoreThanAResult(*(getattr(result, f.name) for f in fields(result)), more=7)
    for odd in (one, replace(result, witness={"a": {1, 2}}), object()):
        good.designs[0].results = [result, odd]  # type: ignore[list-item]
        with pytest.raises(NotKept):
            compilations_as_json([good])


def test_documents_that_are_refused() -> None:
    """Places outside their files, numbers of nothing, other numbers of fields, and values of other kinds."""
    good = json_from_bytes(json_bytes(compilations_as_json([whole()])))
    assert len(compilations_from_json(good)) == 1
    one, two = (len(text) for _, text in good["files"])
    for at in ([0, -1, 3], [0, 3, 2], [0, 3, one + 1], [2, 0, 0], [1, 0, two + 1], [0, 1], [7], []):
        wrong = deepcopy(good)
        wrong["findings"][0][3] = ["span", *at]
        with pytest.raises(NotKept):
            compilations_from_json(wrong)
    for at in ([0, 0, one], [0, one, one], [0, 0, 0], [1, two, two]):
        right = deepcopy(good)
        right["findings"][0][3] = ["span", *at]
        found = compilations_from_json(right)[0].designs[0].findings[0].span
        assert found is not None and (found.start, found.end) == (at[1], at[2])
    changes: Any = (
        lambda d: d.pop("files"), lambda d: d["compilations"][0].pop(), lambda d: d["compilations"][0].append(3),
        lambda d: d["compilations"].append(3), lambda d: d["findings"].append(["span", 0, 0, 0]),
        lambda d: d["findings"][0].__setitem__(8, ["severity", 99]), lambda d: d["findings"][0].append(1),
        lambda d: d["findings"][0].__setitem__(0, "Compilations"), lambda d: d["findings"][0].__setitem__(2, ["finding", 99]),
        lambda d: d["findings"][0].__setitem__(2, ["fraction", 1, 0]),
    )  # fmt: skip
    for change in changes:
        wrong = deepcopy(good)
        change(wrong)
        with pytest.raises(NotKept):
            compilations_from_json(wrong)
    for text in (b"{", b"", b"[" * 100_000, b"\xff"):
        with pytest.raises(NotKept):
            json_from_bytes(text)
    with pytest.raises(ValueError, match=r"nan|JSON"):
        json_bytes([float("nan")])
    assert json_bytes({"a": ["ä", 1]}) == b'{"a":["\\u00e4",1]}'
