"""Judgements of earlier calls: after an edit of requirements or comments a fabric is wired again, and what was proved of the same
fabric is not proved a second time.

The key of a fabric is what `reuse` compares in an editor (all that wiring reads), the version of tdsl, and the columns that were
wired now. With the judgement of a requirement are kept the digests of the tables that were read for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, fields
from hashlib import sha256

import numpy as np

from tdsl import cache
from tdsl.answers.form import Json, NotKept, dumped, loaded, value_read, value_written
from tdsl.dataclass import dataclass
from tdsl.diagnostic import Severity
from tdsl.fabric.graph import Fabric
from tdsl.fabric.narrow import Narrow
from tdsl.reuse import Kept, Layout, Unmapped, Wired
from tdsl.source import Origin, SourceFile, Span
from tdsl.verify.check import Fault, Judgement

KIND = "judgements"
FORM = 1
"""Raised where entries are written in another way."""


@dataclass(slots=True)
class Judgements(Kept):
    """The fabrics of one call, with the judgements that are kept of each; ``save`` keeps those that were made. ``version`` is
    that of tdsl."""

    version: str = ""
    keys: dict[tuple[str, str, int], tuple[str, list[SourceFile], bytes]] = field(default_factory=dict)

    def keep(self, name: tuple[str, str, int], made: Wired, files: list[SourceFile]) -> None:
        """Keep a fabric for this call, with what is known of it."""
        Kept.keep(self, name, made, files)
        if self.wired.get(name) is not made:
            return
        key = self._key(made)
        data = cache.entry(KIND, key) or b""
        self.keys[name] = key, files, data
        try:
            _restore(loaded(data), made, files)
        except (NotKept, KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            made.known.plain.clear()
            made.known.claims.clear()

    def save(self) -> None:
        """Keep the judgements of the fabrics of this call."""
        for name, made in self.wired.items():
            key, _, before = self.keys[name]
            body = dumped(_written(made))
            if body != before:
                cache.keep(KIND, key, body)

    def _key(self, made: Wired) -> str:
        columns = _digest_of(made.fabric)
        return sha256(repr((FORM, self.version, made.key, columns)).encode("utf-8", "backslashreplace")).hexdigest()


def _digest_of(fabric: Fabric) -> str:
    """A digest of all columns of a fabric."""
    whole = sha256()
    for f in fields(fabric):
        column = getattr(fabric, f.name)
        if isinstance(column, Narrow):
            column = column.held
        if isinstance(column, np.ndarray):
            whole.update(f"{f.name} {column.dtype.str} {column.shape}\n".encode())
            whole.update(np.ascontiguousarray(column).data.cast("B") if column.size else b"")
    return whole.hexdigest()


# ------------------------------------------------------------ as JSON


def _written(made: Wired) -> Json:
    """What is known of a fabric; what cannot be written is left out."""
    plain, claims = [], []
    for name, judged in made.known.plain.items():
        try:
            plain.append([name, _judgement(judged, made.layout)])
        except (NotKept, Unmapped):
            continue
    for said, (judged, read) in made.known.claims.items():
        try:
            claims.append([said, _judgement(judged, made.layout), list(read.items())])
        except (NotKept, Unmapped):
            continue
    return {"plain": plain, "claims": claims}


def _span(s: Span, home: Layout) -> Json:
    """A place: of the design by its tokens, which stay where lines move, and of another file by its offsets."""
    if s.file is home.file:
        return ["", *home.place(s.start, False), *home.place(s.end, True)]
    if s.file.name == home.file.name:
        raise NotKept("a place of another text of the design")
    return [s.file.name, s.start, s.end]


def _labels(given: Iterable[tuple[Span, str]], home: Layout) -> Json:
    return [[_span(s, home), message] for s, message in given]


def _judgement(j: Judgement, home: Layout) -> Json:
    faults = [
        [
            x.at and [_span(x.at.span, home), _labels(x.at.chain, home)], x.message, x.count, _labels(x.labels, home),
            list(x.notes), x.help, int(x.severity), x.unless,
        ]
        for x in j.faults
    ]  # fmt: skip
    values = [value_written(v) for v in (j.value, j.lower, j.upper, j.ratio, j.witness, j.measures, j.judged, j.of)]
    plain = [j.status, j.text, j.link_class, j.reason, list(j.notes), j.help]
    return [plain, values, faults, _labels(j.labels, home)]


def _restore(document: Json, made: Wired, files: list[SourceFile]) -> None:
    """Add what is known of a fabric, with its places in the texts of now. Raises whatever a wrong document makes it raise."""
    home, by_name = made.layout, {f.name: f for f in files}

    def span(of: Json) -> Span:
        name, *at = of
        if name:
            start, end = at
            if not 0 <= start <= end <= len(by_name[name].text):
                raise NotKept("a place outside its file")
            return Span(by_name[name], start, end)
        first, skip, last, length = at
        if min(first, skip, last, length) < 0:
            raise NotKept("a place outside its file")
        return Span(home.file, home.starts[first] + skip, home.starts[last] + length)

    def labels(of: Json) -> tuple[tuple[Span, str], ...]:
        return tuple((span(s), message) for s, message in of)

    def fault(of: Json) -> Fault:
        at, message, count, told, notes, help, severity, unless = of
        origin = at and Origin(span(at[0]), labels(at[1]))
        return Fault(origin, message, count, labels(told), tuple(notes), help, Severity(severity), unless)

    def judgement(of: Json) -> Judgement:
        (status, text, link_class, reason, notes, help), values, faults, told = of
        value, lower, upper, ratio, witness, measures, count, asked = map(value_read, values)
        return Judgement(
            status, text, value, lower, upper, ratio, link_class, witness, reason, tuple(map(fault, faults)), labels(told),
            tuple(notes), help, measures, count, asked,
        )  # fmt: skip

    for name, judged in document["plain"]:
        made.known.plain[name] = judgement(judged)
    for said, judged, read in document["claims"]:
        answers = {(kind, path, limit, tuple(within)): answer for (kind, path, limit, within), answer in read}
        made.known.claims[said] = judgement(judged), answers
