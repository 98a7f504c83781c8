"""Judgements of checks as lines of text, so that a test can state all of one at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

from tdsl.fabric.graph import Fabric
from tdsl.fabric.subject import devices_of_selectors
from tdsl.prove.view import View
from tdsl.semantics.quantity import Quantity
from tdsl.verify.check import checks_by_name
from tests.fabrics import claim, selector
from tests.harness import compile_text

Clauses = Mapping[str, Callable[[Fabric], Mapping[str, Any]]]
"""By a word, the clauses of a requirement."""


def elaborated(text: str, folder: Path) -> Fabric:
    """The fabric of a text with its own models."""
    fabric = compile_text(text.strip(), folder, verify=False, models=False).designs[0].fabric
    assert fabric is not None
    return fabric


def judged(fabric: Fabric, check: str, clauses: Clauses) -> Iterator[str]:
    """The judgement of a check, `NAME` or `NAME CLAUSE`: status and text, figures and witness, then each fault with its line,
    labels and help. `NAME in SET` is about the first element of a set alone."""
    name, _, clause = check.partition(" ")
    word, _, path = clause.partition(" ")
    view = View.part(fabric, selector(fabric, path).elements[0], True) if path else View.whole(fabric)
    asked = claim(fabric, name, **clauses[clause](fabric)) if word and not path else None
    check_of_name = checks_by_name()[name]
    if asked is not None and asked.of_to and check_of_name.joins:
        view = View.between(fabric, *(devices_of_selectors(fabric, side) for side in (asked.of, asked.of_to)))
    found = check_of_name.judge(view, asked)
    yield f"{check}: {found.status}: {found.text or found.reason}"
    if found.lower is not None:
        yield f"  {amount(found.lower)} to {amount(found.upper)}"
    yield from (f"  {key}: {value!r}" for key, value in found.witness.items())
    if found.help or found.labels:
        yield f"  {'; '.join(f'line {span.begin[0]}: {words}' for span, words in found.labels)} | {found.help}".rstrip()
    for fault in found.faults:
        line = fault.at.span.begin[0] if fault.at else 0
        yield f"  line {line}, {fault.count}: {fault.message}" + (f" (unless {fault.unless})" if fault.unless else "")
        yield from (f"    line {span.begin[0]}: {words}" for span, words in fault.labels)
        if fault.help:
            yield f"    {fault.severity.name.lower()}: {fault.help}"


def amount(value: object) -> str:
    """A figure without its unit."""
    return str(value.amount if isinstance(value, Quantity) else value)


def answers(fabric: Fabric, expected: str, clauses: Clauses) -> tuple[list[str], list[str]]:
    """What the checks say that expected lines name, and these lines."""
    wanted = expected.strip().splitlines()
    checks = [line.split(":")[0] for line in wanted if not line.startswith(" ")]
    return [part for check in checks for line in judged(fabric, check, clauses) for part in wrapped(line)], wanted


def wrapped(line: str) -> list[str]:
    """A line in pieces that are short enough for a test."""
    return wrap(line, 120, subsequent_indent="      ", break_long_words=False, break_on_hyphens=False)
