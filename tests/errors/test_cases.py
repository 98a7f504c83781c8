"""Small texts with one mistake each, in ``cases/ROOM/MODULE.txt``: what is found, with its place, words, help and fix.

A case is a line ``== NAME``, the text, and for each finding a line ``-> CODE PLACE `TEXT`: MESSAGE`` with its notes, labels and
help X"""

from __future__ import annotations

import re
from itertools import zip_longest
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceSpan
from tests.harness import MODELS, none

HERE = Path(__file__).parent / "cases"
FILES = sorted(HERE.rglob("*.txt"))
CASE = re.compile(r"^== (.*)\n((?:(?!== |-> ).*\n)+)((?:(?:-> |   ).*\n)*)", re.MULTILINE)
NAME = "case.fab"


def whole(text: str) -> str:
    """A text with the models that it names and does not declare; they come after it, so that no line moves."""
    own = set(re.findall(r"^\s*model \w+ (\w+)", text, re.MULTILINE))
    words = set(re.findall(r"\w+", text)) - own
    words |= {"GPU"} if "NODE" in words and "GPU" not in own else set()
    return text + "".join(f"{line}\n" for line in MODELS.splitlines() if line and line.split()[2] in words)


def findings(text: str) -> list[Diagnostic]:
    """All that is found, but for devices without a link."""
    path = str(Path(NAME).resolve())
    found = compiler.compile_without_checks(path, Request(overlay={path: text})).findings
    return [d for d in found if d.code != "E0404"]


def at(span: SourceSpan) -> str:
    """Line and column."""
    return ":".join(map(str, span.begin))


def place(d: Diagnostic) -> str:
    """Line, column and underlined text, of several lines the first."""
    if d.span is None:
        return "-"
    text = d.span.text.split("\n")
    return f"{at(d.span)} `{text[0]}{' …' if len(text) > 1 else ''}`"


def shown(d: Diagnostic, text: str) -> str:
    """A finding as a case has it, with the first line that its fix changes."""
    word = "" if d.severity is Severity.ERROR else f"{d.severity.word} "
    out = [f"-> {word}{d.code} {place(d)}: {d.message}{f' (x {d.count})' if d.count > 1 else ''}"]
    out += [f"   note: {x}" for x in d.notes]
    out += [f"   label: {at(x.span)} {x.message}" for x in d.labels if x.span.file.name.endswith(NAME)]
    out += [f"   help: {d.help}"] if d.help else []
    if d.fix is not None and all(span.file.name.endswith(NAME) for span, _ in d.fix.edits):
        pairs = zip_longest(text.split("\n"), mended(d, text).split("\n"), fillvalue="")
        out.append(f"   fix: {next((new for old, new in pairs if new != old), '').strip()}")
    return "".join(x.replace("\n", "\\n") + "\n" for x in out)


def mended(d: Diagnostic, text: str) -> str:
    """The text after the fix of a finding."""
    assert d.fix is not None
    for span, new in sorted(d.fix.edits, key=lambda e: -e[0].start):
        text = text[: span.start] + new + text[span.end :]
    return text


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_what_is_found(path: Path, request: pytest.FixtureRequest) -> None:
    """Each finding as it is written; a fix removes its finding, and a help or a note goes with every error."""
    content, out, wrong = path.read_text(encoding="utf-8"), [], []
    cases = CASE.findall(content)
    assert content == "".join(f"== {n}\n{t}{e}" for n, t, e in cases), "the form of a case"
    for name, text, expected in cases:
        every = findings(whole(text))
        out.append(f"== {name}\n{text}{''.join(shown(d, whole(text)) for d in every)}")
        if out[-1] != f"== {name}\n{text}{expected}":
            wrong.append(out[-1])
        for d in every:
            if d.fix is not None and all(span.file.name.endswith(NAME) for span, _ in d.fix.edits):
                again = findings(mended(d, whole(text)))
                if (d.code, d.message, d.span) in [(x.code, x.message, x.span) for x in again]:
                    wrong.append(f"{name}: {d.code} is still there after `{d.fix.title}`")
    if request.config.getoption("--golden"):
        path.write_text("".join(out), encoding="utf-8")
        return
    none(f"{path.relative_to(HERE)}, which `pytest tests/errors/test_cases.py --golden` rewrites: {x}" for x in wrong)
