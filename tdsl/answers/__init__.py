"""Answers of earlier calls: what `check` found of a design is kept in the cache folder, and given again where
nothing differs.

The key is a digest of the call (options, parameters, tables, the text of the design), of tdsl and its
library, and of Python and what is installed. With an answer are kept the digests of all files that were read
for it, and what was looked for and not found. It is given only if the disk answers the same again. No answer
is kept of a call that could not be answered, and none holds a fabric. Where something differs, `judgements`
keeps what was proved of fabrics that are wired the same again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

from tdsl.answers.form import (
    Json,
    NotKept,
    compilations_as_json,
    compilations_from_json,
    json_bytes,
    json_from_bytes,
)
from tdsl.answers.surroundings import first_version, program_folders, programs_digest
from tdsl.compile import compiler
from tdsl.compile.compilation import Compilation
from tdsl.compile.request import Request
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.system import cache
from tdsl.system.read import disk_answers_unchanged, is_confined, is_file, read_regular_file
from tdsl.system.record import Record, record_disk_questions

KIND = "answers"
FORM = 2
"""Raised where entries are written in another way."""
APART = ("day",)
"""What of a request is no part of the key: the day, which matters where a waiver has a last one."""


def check_with_cache(source: str, request: Request) -> Compilation:
    """What ``compile_and_verify`` gives, without the fabrics where the answer was kept. Raises UsageError."""
    for compilation in stages_with_cache(source, request):
        last = compilation
    return last


def stages_with_cache(source: str, request: Request) -> Iterator[Compilation]:
    """What ``compile_in_stages`` gives. Where the answer was kept it has no fabrics. It is kept when the last
    one was taken. Raises UsageError."""
    begin = time.perf_counter()
    key, now = _key_of_call(source, request)
    if not key:
        yield from compiler.compile_in_stages(source, request)
        return
    kept = _read_kept_answer(key, request)
    if kept is not None:
        for compilation in kept:
            compilation.earlier = True
            for design in compilation.judged:
                design.elapsed_s = time.perf_counter() - begin
            yield compilation
        return
    from tdsl.answers.judgements import Judgements

    record, known = (
        Record(tuple(os.path.abspath(f) for f in program_folders())),
        Judgements(version=now),
    )
    steps, made = compiler.compile_in_stages(source, request, known), []
    while True:
        with record_disk_questions(record):
            step = next(steps, None)
        if step is None:
            break
        made.append(step)
        yield step
    if _key_of_call(source, request)[1] == now:
        if record.lasting:
            _keep_answer(key, request, record, made)
        with suppress(MemoryError, RecursionError):  # a cache is not a reason to fail
            known.save()


def _key_of_call(source: str, request: Request) -> tuple[str, str]:
    """The key of a call and the version that is part of it; "" where its answer is not to be kept."""
    if cache.private_cache_folder() is None or is_confined():
        return "", ""
    try:
        asked = _call_as_json(source, request)
        now = programs_digest() if asked is not None else ""
        if now != first_version():  # tdsl was exchanged while this process runs the old one
            return "", ""
        return _digest_of_json([FORM, now, os.getcwd(), source, asked]) if now else "", now
    except OSError:
        return "", ""


def _call_as_json(source: str, request: Request) -> Json:
    """What a call asks, as values of JSON; None where that cannot be written. Raises OSError."""
    from hashlib import sha256

    out = []
    for f in fields(request):
        value = getattr(request, f.name)
        if f.name not in APART:
            said = _option_value_as_json(value)
            if said is None:
                return None
            out.append([f.name, said])
    if source in request.overlay:
        return [out, ""]  # its text is among the options
    return [
        out,
        sha256(read_regular_file(Path(source))).hexdigest() if is_file(Path(source)) else "",
    ]


def _option_value_as_json(value: object) -> Json:
    """The value of an option; None where it is of a kind that no key can hold."""
    match value:
        case None:
            return []
        case Severity():
            return ["severity", value.name]
        case bool() | int() | str() | Path() | Fraction():
            return [type(value).__name__, str(value)]
        case SourceFile():
            return ["file", value.name, value.text]
        case tuple() | list():
            items = [_option_value_as_json(v) for v in value]
            return None if None in items else ["list", items]
        case Mapping():
            items = [[str(k), _option_value_as_json(v)] for k, v in sorted(value.items())]
            return None if any(v is None for _, v in items) else ["mapping", items]
    return None


def _digest_of_json(document: Json) -> str:
    from hashlib import sha256

    return sha256(json_bytes(document)).hexdigest()


def _read_kept_answer(key: str, request: Request) -> list[Compilation] | None:
    """The answer that is kept under a key; None where there is none, or where a file that it was made of
    differs."""
    data = cache.read_cache_entry(KIND, key)
    if data is None:
        return None
    try:
        document = json_from_bytes(data)
        if document["day"] not in ("", _day_of_check(request)):
            return None
        answers = {
            (kind, path, limit, tuple(within)): answer
            for (kind, path, limit, within), answer in document["read"]
        }
        return compilations_from_json(document["said"]) if disk_answers_unchanged(answers) else None
    except (NotKept, KeyError, TypeError, ValueError, MemoryError):
        return None


def _keep_answer(key: str, request: Request, record: Record, made: list[Compilation]) -> None:
    """Keep an answer, with what it was made of."""
    dated = any(a.until is not None for c in made for a in c.waivers)
    try:
        document = {
            "day": _day_of_check(request) if dated else "",
            "read": list(record.answers.items()),
            "said": compilations_as_json(made),
        }
        cache.write_cache_entry(KIND, key, json_bytes(document))
    except (NotKept, MemoryError, RecursionError):  # a cache is not a reason to fail
        return


def _day_of_check(request: Request) -> str:
    return "none" if request.day is None else request.day.isoformat()
