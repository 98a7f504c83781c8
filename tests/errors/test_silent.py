"""Values of a wrong kind in sound designs: each is an error or a warning, or stands in the list of reasons.

Slots are found by the syntax tree in texts of the library, of the documentation and of other tests: the values of each setting
and the words behind them, by the block in which it is, and the limits of requirements. A kind of mistake is put into each slot.
A run takes a sample; the daily one takes all.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.request import Request
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file
from tests.tables import table

ROOT = Path(__file__).parents[2]
SAMPLE = 110
REASONS = table(__file__, "reasons")
NUMBER = re.compile(r"\$?\d[\d_.]*")
Slot = tuple[str, str, int, int]
"""Text, then begin and end of a value in it, behind what the slot is called."""


def mistakes(value: str, setting: bool) -> Iterator[tuple[str, str]]:
    """A value, or with ``setting`` a whole one, with a mistake of each kind."""
    name = value.split(None, 1)[0]
    if setting:
        yield from (("block", f"{value} {{ zzz 1 }}"), ("no value", name), ("misspelt", f"{name[:-1]}zq{value[len(name) :]}"))
        return
    unit = value[len(found[0]) :] if (found := NUMBER.match(value)) else ""
    for kind, other in (("word", "zzz"), ("number", "7"), ("length", "3m"), ("negative", "-1"), ("half", "1.5")):
        if not ((kind == "length" and unit in ("m", "mm", "km")) or (kind == "number" and value.replace("_", "").isdigit())):
            yield kind, other
    yield from (("zero", f"0{unit}"), ("below zero", f"-{value}"), ("empty", '""'), ("list", "[1, 2]"), ("ratio", "9:2"))
    yield from (("behind", f"{value} zzz"), ("number behind", f"{value} 7"), ("more", f"{value}, zzz"), ("far", "900..999"))


def slots_of_statement(node: object, around: str) -> Iterator[tuple[str, SourceSpan]]:
    """What each value of a statement is called, and where it is."""
    if isinstance(node, tree.Setting):
        name = f"{around}/{node.name.name}"
        for item in node.items:
            yield f"{name}/value", item.value.span
            yield from ((f"{name}/{word or 'behind'}", value.span) for word, value in item.args)
        if node.body is None and node.items:
            yield f"{name}/setting", node.span
        for inner in node.body or ():
            yield from slots_of_statement(inner, node.name.name)
    elif isinstance(node, tree.Claim):
        if node.value is not None:
            yield f"require/{node.metric.name}/limit", node.value.span
    elif is_dataclass(node) and not isinstance(node, (SourceSpan, tree.PathExpr)):
        kind = getattr(getattr(node, "kind", None), "name", "")
        model = isinstance(node, tree.ModelDecl)
        inside = f"model {kind}" if model else kind or (around if isinstance(node, tree.Require) else type(node).__name__)
        inside = f"{around} {kind}" if kind and around.startswith("model ") else inside
        for part in (getattr(node, f.name) for f in fields(node)):
            for inner in part if isinstance(part, tuple) else (part,):
                yield from slots_of_statement(inner, inside)


def texts() -> Iterator[str]:
    for folder in ("stdlib/hardware", "stdlib/cables", "stdlib/jobs", "tests/checks", "tests/fabric/whole"):
        for path in sorted((ROOT / folder).rglob("*.fab")):
            if "bad_" not in path.name:
                yield path.read_text(encoding="utf-8")
    for page in ("language.md", "jobs.md", "howto-failures.md", "howto-own-host.md"):
        yield from re.findall(r"```fab\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def found_in(text: str, judged: bool) -> Counter[tuple[str, Severity]]:
    """Errors and warnings of a text by code."""
    path = str(ROOT / "silent.fab")
    run = compiler.compile_and_verify if judged else compiler.compile_without_checks
    asked = Request(overlay={path: text}, max_devices=5_000, max_links=20_000, solve_seconds=1, try_fixes=False)
    return Counter((d.code, d.severity) for d in run(path, asked).findings if d.severity is not Severity.NOTE)


known_of = cache(found_in)


@cache
def slots() -> dict[str, Slot]:
    """The slot of each name in the shortest text that has it and compiles."""
    out: dict[str, Slot] = {}
    for text in sorted(set(texts()), key=len):
        module = parse_source_file(SourceFile("silent.fab", text), Diagnostics())
        named = [(n, at) for s in module.body for n, at in slots_of_statement(s, "file") if n not in out]
        if named and len(text) < 6_000 and not any(s is Severity.ERROR for _, s in known_of(text, False)):
            for name, at in named:
                out.setdefault(name, (name, text, at.start, at.end))
    return out


def silent(cases: list[tuple[Slot, str, str]]) -> list[str]:
    """Those of some mistakes that give neither an error nor a warning, and have no reason."""
    out = []
    for (name, text, begin, end), kind, wrong in cases:
        judged = name.startswith("require/")
        if found_in(text[:begin] + wrong + text[end:], judged) - known_of(text, judged):
            continue
        if not any(fnmatch(name, slot) and kind in kinds.split(", ") for slot, kinds, _ in REASONS):
            line = text[text.rfind("\n", 0, begin) + 1 : begin] + f">>{wrong}<<"
            out.append(f"{name} ¦ {kind} ¦ {line.strip()}")
    return out


def all_cases() -> list[tuple[Slot, str, str]]:
    made = [(s, *m) for n, s in sorted(slots().items()) for m in mistakes(s[1][s[2] : s[3]], n.endswith("/setting"))]
    return [(s, kind, wrong) for s, kind, wrong in made if wrong != s[1][s[2] : s[3]]]


def test_a_value_of_a_wrong_kind_is_never_accepted_in_silence() -> None:
    cases = all_cases()
    assert len(cases) > 2_000
    assert not silent(random.sample(cases, SAMPLE))


@pytest.mark.daily
def test_no_value_of_a_wrong_kind_is_accepted_in_silence() -> None:
    assert not silent(all_cases())
