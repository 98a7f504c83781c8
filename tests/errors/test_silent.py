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
from tests.harness import none
from tests.tables import table

ROOT = Path(__file__).parents[2]
SAMPLE = 70
REASONS = table(__file__, "reasons")
NUMBER = re.compile(r"\$?\d[\d_.]*")
Slot = tuple[str, str, int, int]
"""What a slot is called, a text, and begin and end of a value in it."""


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
def slots() -> dict[str, list[Slot]]:
    """The slots of each name in the shortest texts that have it."""
    out: dict[str, list[Slot]] = {}
    for text in sorted({t for t in texts() if len(t) < 6_000}, key=len):
        module = parse_source_file(SourceFile("silent.fab", text), Diagnostics())
        for name, at in dict(pair for s in module.body for pair in slots_of_statement(s, "file")).items():
            if len(out.setdefault(name, [])) < 4:
                out[name].append((name, text, at.start, at.end))
    return out


def silent(name: str, chosen: int | None = None) -> list[str]:
    """The mistakes in a slot that give neither an error nor a warning, and have no reason; of those one in some, ``chosen``."""
    judged, out = name.startswith("require/"), []
    sound = (s for s in slots()[name] if not any(x is Severity.ERROR for _, x in known_of(s[1], judged)))
    _, text, begin, end = next(sound, ("", "", 0, 0))
    made = list(mistakes(text[begin:end], name.endswith("/setting"))) if text else []
    for kind, wrong in made[chosen % len(made) :][:1] if chosen is not None and made else made:
        if wrong == text[begin:end] or found_in(text[:begin] + wrong + text[end:], judged) - known_of(text, judged):
            continue
        if not any(fnmatch(name, slot) and kind in kinds.split(", ") for slot, kinds, _ in REASONS):
            line = text[text.rfind("\n", 0, begin) + 1 : begin] + f">>{wrong}<<"
            out.append(f"{name} ¦ {kind} ¦ {line.strip()}")
    return out


def test_a_value_of_a_wrong_kind_is_not_accepted_in_silence() -> None:
    assert len(slots()) > 500
    none(line for name in random.sample(sorted(slots()), SAMPLE) for line in silent(name, random.randrange(1_000)))


@pytest.mark.daily
def test_no_value_of_a_wrong_kind_is_accepted_in_silence() -> None:
    none(line for name in sorted(slots()) for line in silent(name))
