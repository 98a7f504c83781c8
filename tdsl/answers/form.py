"""Compilations as JSON and back: exactly the same values, or none.

Records are written over all of their fields, so that a field added to one is kept; ``ABSENT`` lists those
that are not kept: fabrics, and what belongs to them. A value of another kind than those listed here is
refused, so nothing comes back as something else than it was, and nothing is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

from tdsl.compile.compilation import Compilation, Design
from tdsl.compile.waivers import Allowance
from tdsl.findings.diagnostic import Diagnostic, Fix, Label, Severity
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.values import BareWord, Dims, ModelValue, WholeRange
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.result import Result

Json = Any
KEPT = {c.__name__: c for c in (Compilation, Design, Result, Diagnostic, Label, Fix, Origin, Allowance)}
"""The records of an answer."""
ABSENT: Mapping[type, Mapping[str, object]] = {
    Compilation: {"read": (), "earlier": False, "sealed": False},
    Design: {"fabric": None, "claims": (), "failed": None, "failing": None, "sealed": False},
}
"""Fields that are not kept, and what they are when a record comes back."""


class NotKept(Exception):
    """A value that is not written, or text that is none of what was."""


# ------------------------------------------------------------ records


@cache
def kept_fields(cls: type) -> tuple[str, ...]:
    """Names of the fields of a class of records that are written, in order."""
    return tuple(f.name for f in fields(cls) if f.name not in ABSENT.get(cls, {}))


@cache
def _fields_set_later(cls: type) -> tuple[str, ...]:
    """Names of the fields that are no arguments of the class."""
    return tuple(f.name for f in fields(cls) if not f.init)


def record_written(record: object, write: Callable[[object], Json], **instead: object) -> Json:
    """A record as JSON: its class, and each field that is kept, by ``write``; ``instead`` has values in the
    place of its own."""
    cls: type = type(record)
    names = kept_fields(cls)
    return [cls.__name__, *(write(instead[n] if n in instead else getattr(record, n)) for n in names)]


def record_read(cls: type, values: Sequence[Any]) -> Any:
    """The record of a class with these values of the fields that are kept. Raises NotKept where these are
    others."""
    names, later = kept_fields(cls), _fields_set_later(cls)
    if len(values) != len(names):
        raise NotKept(f"{len(values)} values for {len(names)} fields of {cls.__name__}")
    given = dict(zip(names, values, strict=True))
    if absent := ABSENT.get(cls):
        given |= absent
    if not later:
        return cls(**given)
    made = cls(**{name: value for name, value in given.items() if name not in later})
    for name in later:
        object.__setattr__(made, name, given[name])
    return made


# ------------------------------------------------------------ compilations


@dataclass(slots=True)
class _Writer:
    """What is written once and named by its number: files, and findings, which designs and compilations
    share. ``last``: the compilation is the last one, which has figures."""

    files: list[SourceFile] = field(default_factory=list)
    file_numbers: dict[int, int] = field(default_factory=dict)
    findings: list[Json] = field(default_factory=list)
    finding_numbers: dict[int, int] = field(default_factory=dict)
    last: bool = False

    def value(self, v: object) -> Json:
        return value_written(v, self.record)

    def record(self, v: object) -> Json:
        """A record as JSON; None for another value."""
        kind = type(v)
        if isinstance(v, SourceSpan):
            return ["span", self.file(v.file), v.start, v.end]
        if isinstance(v, Diagnostic) and kind is Diagnostic:
            return ["finding", self.finding(v)]
        if isinstance(v, Design) and kind is Design:
            return record_written(v, self.value, summary=v.consists() if self.last else None, lost=v.losses())
        return record_written(v, self.value) if KEPT.get(kind.__name__) is kind else None

    def file(self, file: SourceFile) -> int:
        if id(file) not in self.file_numbers:
            self.file_numbers[id(file)] = len(self.files)
            self.files.append(file)
        return self.file_numbers[id(file)]

    def finding(self, d: Diagnostic) -> int:
        if id(d) not in self.finding_numbers:
            self.finding_numbers[id(d)] = len(self.findings)
            self.findings.append(record_written(d, self.value))
        return self.finding_numbers[id(d)]


def compilations_as_json(compilations: Sequence[Compilation]) -> Json:
    """Compilations of one call as values of JSON; figures of the last one alone. Raises NotKept."""
    out, made = _Writer(), []
    for c in compilations:
        out.last = c is compilations[-1]
        made.append(out.value(c))
    return {"files": [[f.name, f.text] for f in out.files], "findings": out.findings, "compilations": made}


def compilations_from_json(given: Json) -> list[Compilation]:
    """The compilations that were written. Raises NotKept."""
    try:
        return _compilations_from_trusted_json(given)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
        raise NotKept(str(fault)) from None


def _compilations_from_trusted_json(given: Json) -> list[Compilation]:
    files = [SourceFile(str(name), str(text)) for name, text in given["files"]]
    findings: list[Diagnostic] = []

    def record(kind: str, rest: list[Json]) -> Any:
        if kind == "span":
            number, start, end = rest
            if not 0 <= start <= end <= len(files[number].text):
                raise NotKept("a place outside its file")
            return SourceSpan(files[number], start, end)
        if kind == "finding":
            return findings[rest[0]]
        return record_read(KEPT[kind], [value_read(x, record) for x in rest])

    for finding in given["findings"]:
        findings.append(value_read(finding, record))
    made = [value_read(c, record) for c in given["compilations"]]
    if not all(isinstance(c, Compilation) for c in made) or not all(
        isinstance(d, Diagnostic) for d in findings
    ):
        raise NotKept("no compilation")
    return made


# ------------------------------------------------------------ values


# Long: one case for each kind of value.
def value_written(v: object, record: Callable[[object], Json] | None = None) -> Json:
    """A value as JSON: texts, numbers and truth values as they are, all else as a list that begins with its
    kind. ``record`` writes those of more kinds, and gives None for others. Raises NotKept."""
    if v is None or type(v) in (bool, int, str):
        return v
    if record is not None and (made := record(v)) is not None:
        return made
    item = getattr(v, "item", None)
    if callable(item) and type(v).__module__ == "numpy":
        return value_written(item())
    # One case for each kind of value, beside that of ``value_read``.
    match v:
        case float():
            return ["float", v.hex()]
        case Fraction():
            return ["fraction", v.numerator, v.denominator]
        case Quantity():
            return ["quantity", v.amount.numerator, v.amount.denominator, *v.dim]
        case Severity():
            return ["severity", int(v)]
        case BareWord():
            return ["word", str(v)]
        case Dims():
            return ["dims", *v.sizes]
        case WholeRange():
            return ["range", v.low, v.high]
        case ModelValue() if not v.settings:
            return ["model", v.name]
        case date() if type(v) is date:
            return ["date", v.isoformat()]
        case tuple() | list() if type(v) in (tuple, list):
            return [type(v).__name__, *(value_written(x, record) for x in v)]
        case Mapping():
            return ["mapping", *([value_written(k, record), value_written(x, record)] for k, x in v.items())]
    raise NotKept(f"a value of type {type(v).__name__}")


READERS_OF_VALUES: dict[str, Callable[..., Any]] = {
    "float": float.fromhex,
    "fraction": Fraction,
    "quantity": lambda numerator, denominator, *dim: Quantity(Fraction(numerator, denominator), dim),
    "severity": Severity,
    "word": BareWord,
    "dims": lambda *sizes: Dims(sizes),
    "range": WholeRange,
    "model": ModelValue,
    "date": date.fromisoformat,
}
"""What reads a value by its kind, from what stands behind the kind."""


def value_read(v: Json, record: Callable[[str, list[Json]], Any] | None = None) -> Any:
    """The value that was written; ``record`` reads what is of another kind. Raises NotKept."""
    if not isinstance(v, list):
        return v
    kind, *rest = v
    if isinstance(kind, str) and kind in READERS_OF_VALUES:
        return READERS_OF_VALUES[kind](*rest)
    match kind:
        case "tuple":
            return tuple([value_read(x, record) for x in rest])
        case "list":
            return [value_read(x, record) for x in rest]
        case "mapping":
            return {value_read(k, record): value_read(x, record) for k, x in rest}
    if record is None:
        raise NotKept(f"a value of kind {kind}")
    return record(kind, rest)


def json_bytes(document: Json) -> bytes:
    """JSON as bytes."""
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def json_from_bytes(data: bytes) -> Json:
    """The document in bytes. Raises NotKept."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise NotKept(str(fault)) from None
