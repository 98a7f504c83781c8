"""Judgements of earlier calls: after an edit of requirements or comments a fabric is wired again, and what
was proved of the same fabric is not proved a second time.

The key of a fabric is what `compile.session` compares in an editor (all that wiring reads), the version of
tdsl, and the columns that were wired now. With the judgement of a requirement are kept the digests of the
tables that were read for it.
"""

from __future__ import annotations

from dataclasses import field, fields
from hashlib import sha256
from typing import Any

import numpy as np

from tdsl.answers.form import (
    Json,
    NotKept,
    json_bytes,
    json_from_bytes,
    record_read,
    record_written,
    value_read,
    value_written,
)
from tdsl.compile.session import FabricSession, Unmapped, Wired, WiringInputs, WiringTokens
from tdsl.fabric.graph import Fabric
from tdsl.fabric.narrow import Narrow
from tdsl.findings.diagnostic import Diagnostic
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.system import cache
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement, PropertyFault

KIND = "judgements"
FORM = 2
"""Raised where entries are written in another way."""
RECORDS = {c.__name__: c for c in (Judgement, PropertyFault, Origin)}


@dataclass(slots=True)
class Judgements(FabricSession):
    """The fabrics of one call, with the judgements that are kept of each; ``save`` keeps those that were
    made. ``version`` is that of tdsl."""

    version: str = ""
    keys: dict[tuple[str, str, int], tuple[str, list[SourceFile], bytes]] = field(default_factory=dict)

    def keep(self, inputs: WiringInputs, fabric: Fabric, findings: list[Diagnostic], steps: int) -> None:
        """Keep a fabric for this call, with what is known of it."""
        FabricSession.keep(self, inputs, fabric, findings, steps)
        made = self.wired.get(inputs.name)
        if made is None or made.fabric is not fabric:
            return
        key = self._key(made)
        data = cache.read_cache_entry(KIND, key) or b""
        self.keys[inputs.name] = key, inputs.files, data
        try:
            restore_judgements(json_from_bytes(data), made, inputs.files)
        except (NotKept, KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            made.known.plain.clear()
            made.known.claims.clear()

    def save(self) -> None:
        """Keep the judgements of the fabrics of this call."""
        for name, made in self.wired.items():
            key, _, before = self.keys[name]
            body = json_bytes(written_judgements(made))
            if body != before:
                cache.write_cache_entry(KIND, key, body)

    def _key(self, made: Wired) -> str:
        columns = _digest_of_fabric(made.fabric)
        return sha256(
            repr((FORM, self.version, made.key, columns)).encode("utf-8", "backslashreplace")
        ).hexdigest()


def _digest_of_fabric(fabric: Fabric) -> str:
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


def written_judgements(made: Wired) -> Json:
    """What is known of a fabric; what cannot be written is left out."""
    plain, claims = [], []
    for name, judged in made.known.plain.items():
        try:
            plain.append([name, _judgement_written(judged, made.layout)])
        except (NotKept, Unmapped):
            continue
    for said, (judged, read) in made.known.claims.items():
        try:
            claims.append([said, _judgement_written(judged, made.layout), list(read.items())])
        except (NotKept, Unmapped):
            continue
    return {"plain": plain, "claims": claims}


def _place_as_json(s: SourceSpan, home: WiringTokens) -> Json:
    """A place: of the design by its tokens, which stay where lines move, and of another file by its
    offsets."""
    if s.file is home.file:
        return ["", *home.place(s.start, False), *home.place(s.end, True)]
    if s.file.name == home.file.name:
        raise NotKept("a place of another text of the design")
    return [s.file.name, s.start, s.end]


def _judgement_written(j: Judgement, home: WiringTokens) -> Json:
    """A judgement as JSON. Raises NotKept and Unmapped."""

    def record(v: object) -> Json:
        if isinstance(v, SourceSpan):
            return ["span", *_place_as_json(v, home)]
        return record_written(v, value) if RECORDS.get(type(v).__name__) is type(v) else None

    def value(v: object) -> Json:
        return value_written(v, record)

    return value(j)


def restore_judgements(document: Json, made: Wired, files: list[SourceFile]) -> None:
    """Add what is known of a fabric, with its places in the texts of now. Raises whatever a wrong document
    makes it raise."""
    home, by_name = made.layout, {f.name: f for f in files}

    def span(name: str, *at: int) -> SourceSpan:
        if name:
            start, end = at
            if not 0 <= start <= end <= len(by_name[name].text):
                raise NotKept("a place outside its file")
            return SourceSpan(by_name[name], start, end)
        first, skip, last, length = at
        if min(first, skip, last, length) < 0:
            raise NotKept("a place outside its file")
        return SourceSpan(home.file, home.starts[first] + skip, home.starts[last] + length)

    def record(kind: str, rest: list[Json]) -> Any:
        return (
            span(*rest)
            if kind == "span"
            else record_read(RECORDS[kind], [value_read(x, record) for x in rest])
        )

    def judgement(of: Json) -> Judgement:
        found = value_read(of, record)
        if not isinstance(found, Judgement):
            raise NotKept("no judgement")
        return found

    for name, judged in document["plain"]:
        made.known.plain[name] = judgement(judged)
    for said, judged, read in document["claims"]:
        answers = {(kind, path, limit, tuple(within)): answer for (kind, path, limit, within), answer in read}
        made.known.claims[said] = judgement(judged), answers
