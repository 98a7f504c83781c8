"""Compilations as JSON and back: exactly the same values, or none.

Only what reports read is written: names, parameters, results, findings and figures, not fabrics. A value of another kind than
those listed here is refused, so nothing comes back as something else than it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from fractions import Fraction
from typing import Any

from tdsl.compilation import Compilation, Design
from tdsl.dataclass import dataclass
from tdsl.diagnostic import Diagnostic, Fix, Label, Severity
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.values import Dims, ModelName, WholeRange, Word
from tdsl.source import Origin, SourceFile, Span
from tdsl.verify.result import Result

Json = Any
KEPT_OF_A_DESIGN = ("name", "file", "cluster", "phase", "needed", "elapsed_s")


class NotKept(Exception):
    """A value that is not written, or text that is none of what was."""


@dataclass(slots=True)
class _Writer:
    """What is written once and named by its number: files, and findings, which designs and compilations share."""

    files: list[SourceFile] = field(default_factory=list)
    file_numbers: dict[int, int] = field(default_factory=dict)
    findings: list[Json] = field(default_factory=list)
    finding_numbers: dict[int, int] = field(default_factory=dict)

    def file(self, file: SourceFile) -> int:
        if id(file) not in self.file_numbers:
            self.file_numbers[id(file)] = len(self.files)
            self.files.append(file)
        return self.file_numbers[id(file)]

    def span(self, s: Span | None) -> Json:
        return None if s is None else [self.file(s.file), s.start, s.end]

    def origin(self, origin: Origin | None) -> Json:
        return None if origin is None else [self.span(origin.span), [[self.span(s), m] for s, m in origin.chain]]

    def finding(self, d: Diagnostic) -> int:
        if id(d) not in self.finding_numbers:
            self.finding_numbers[id(d)] = len(self.findings)
            self.findings.append([
                d.code, d.message, self.span(d.span), [[self.span(x.span), x.message] for x in d.labels], list(d.notes), d.help,
                d.fix and [d.fix.title, [[self.span(s), text] for s, text in d.fix.edits], d.fix.safe],
                int(d.severity), d.count, d.allowed,
            ])  # fmt: skip
        return self.finding_numbers[id(d)]

    def result(self, r: Result) -> Json:
        plain = (r.check, r.status, r.unit, r.exact, r.link_class, r.reason, r.requirement, r.text, r.report, r.scope)
        values = (r.value, r.lower, r.upper, r.ratio, r.witness, r.measures, r.second_opinion, r.judged, r.of)
        return [list(plain), [value_written(v) for v in values], self.origin(r.origin)]

    def design(self, d: Design, last: bool) -> Json:
        kept = [*(getattr(d, name) for name in KEPT_OF_A_DESIGN), list(d.members)]
        found = [self.finding(x) for x in d.findings]
        figures = [value_written(d.parameters), value_written(d.consists() if last else None), value_written(d.losses())]
        return [kept, figures, [self.result(r) for r in d.results], found]


def written(compilations: Sequence[Compilation]) -> Json:
    """Compilations of one call as values of JSON; figures of the last one alone. Raises NotKept."""
    out = _Writer()
    made = [
        [
            c.file,
            *([out.design(d, c is compilations[-1]) for d in each] for each in (c.designs, c.clusters)),
            [out.finding(d) for d in c.findings],
        ]
        for c in compilations
    ]
    return {"files": [[f.name, f.text] for f in out.files], "findings": out.findings, "compilations": made}


def read(given: Json) -> list[Compilation]:
    """The compilations that were written. Raises NotKept."""
    try:
        return _read(given)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
        raise NotKept(str(fault)) from None


def _read(given: Json) -> list[Compilation]:
    files = [SourceFile(str(name), str(text)) for name, text in given["files"]]

    def span(at: Json) -> Span:
        number, start, end = at
        if not 0 <= start <= end <= len(files[number].text):
            raise NotKept("a place outside its file")
        return Span(files[number], start, end)

    def finding(of: Json) -> Diagnostic:
        code, message, at, labels, notes, help, fix, severity, count, allowed = of
        return Diagnostic(
            code, message, at and span(at), tuple(Label(span(s), m) for s, m in labels), tuple(notes), help,
            fix and Fix(fix[0], tuple((span(s), text) for s, text in fix[1]), fix[2]), Severity(severity), count, allowed,
        )  # fmt: skip

    def origin(of: Json) -> Origin | None:
        return of and Origin(span(of[0]), tuple((span(s), m) for s, m in of[1]))

    def result(of: Json) -> Result:
        (check, status, unit, exact, link_class, reason, requirement, text, report, scope), values, at = of
        value, lower, upper, ratio, witness, measures, second, judged, asked = map(value_read, values)
        return Result(
            check, status, value, unit, lower, upper, exact, ratio, link_class, witness, reason, requirement, origin(at), text,
            report, scope, measures, second, judged, asked,
        )  # fmt: skip

    findings = [finding(d) for d in given["findings"]]

    def design(of: Json) -> Design:
        (name, file, cluster, phase, needed, elapsed, members), figures, results, found = of
        parameters, consists, lost = map(value_read, figures)
        return Design(
            name, file, parameters, None, [], [result(r) for r in results], [findings[i] for i in found], elapsed,
            cluster, phase, needed, tuple(members), consists, lost=lost,
        )  # fmt: skip

    out = []
    for file, designs, clusters, found in given["compilations"]:
        made = Compilation(file, [design(d) for d in designs], [findings[i] for i in found])
        made.clusters = [design(d) for d in clusters]
        out.append(made)
    return out


# ------------------------------------------------------------ values


def value_written(v: object) -> Json:
    """A value as JSON: texts, numbers and truth values as they are, all else as a list that begins with its kind."""
    if v is None or type(v) in (bool, int, str):
        return v
    item = getattr(v, "item", None)
    if callable(item) and type(v).__module__ == "numpy":
        return value_written(item())
    match v:
        case float():
            return ["float", v.hex()]
        case Fraction():
            return ["fraction", v.numerator, v.denominator]
        case Quantity():
            return ["quantity", v.amount.numerator, v.amount.denominator, *v.dim]
        case Word():
            return ["word", str(v)]
        case Dims():
            return ["dims", *v.sizes]
        case WholeRange():
            return ["range", v.low, v.high]
        case ModelName() if not v.settings:
            return ["model", v.name]
        case date() if type(v) is date:
            return ["date", v.isoformat()]
        case tuple() | list() if type(v) in (tuple, list):
            return [type(v).__name__, *map(value_written, v)]
        case Mapping():
            return ["mapping", *([value_written(k), value_written(x)] for k, x in v.items())]
    raise NotKept(f"a value of type {type(v).__name__}")


def value_read(v: Json) -> Any:
    """The value that was written."""
    if not isinstance(v, list):
        return v
    kind, *rest = v
    match kind:
        case "float":
            return float.fromhex(*rest)
        case "fraction":
            return Fraction(*rest)
        case "quantity":
            return Quantity(Fraction(*rest[:2]), tuple(rest[2:]))
        case "word":
            return Word(*rest)
        case "dims":
            return Dims(tuple(rest))
        case "range":
            return WholeRange(*rest)
        case "model":
            return ModelName(*rest)
        case "date":
            return date.fromisoformat(*rest)
        case "tuple":
            return tuple(map(value_read, rest))
        case "list":
            return [value_read(x) for x in rest]
        case "mapping":
            return {value_read(k): value_read(x) for k, x in rest}
    raise NotKept(f"a value of kind {kind}")


def dumped(document: Json) -> bytes:
    """JSON as bytes."""
    return json.dumps(document, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def loaded(data: bytes) -> Json:
    """The document in bytes. Raises NotKept."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise NotKept(str(fault)) from None
