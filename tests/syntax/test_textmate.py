"""The TextMate grammar before the scanner and the parser, judged by the engine of VS Code (vscode-textmate)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax import grammar, parser, scanner

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "tests" / "npm" / "node_modules"
GRAMMAR = ROOT / "grammar" / "vscode" / "syntaxes" / "fab.tmLanguage.json"
STDLIB = sorted((ROOT / "stdlib").rglob("*.fab"))
MISTAKEN = sorted((ROOT / "tests" / "errors").rglob("*.fab"))
NUMERIC = {"NET", "DIMS", "RATIO", "MONEY", "QUANTITY", "PERCENT", "NUMBER"}
Stretch = tuple[int, int, int]

engine = pytest.mark.skipif(
    shutil.which("node") is None or not (MODULES / "vscode-textmate").is_dir(),
    reason="needs node and scripts/node-packages tests/npm",
)


@cache
def colours(paths: tuple[Path, ...]) -> list[list[tuple[int, int, int, str]]]:
    """Line, start, end and scope of each token of each file."""
    command = ["node", str(Path(__file__).with_name("textmate.js")), str(MODULES), str(GRAMMAR)]
    names = "".join(f"{p}\n" for p in paths)
    ran = subprocess.run(command, input=names, capture_output=True, text=True, check=True, timeout=120)
    return [[tuple(t) for t in json.loads(line)] for line in ran.stdout.splitlines()]


def kind_of_scope(scope: str) -> str:
    """The scanner's kind for a scope."""
    first = scope.split(".")[0]
    if first in ("comment", "string"):
        return first
    if scope.startswith("constant.numeric"):
        return "number"
    if first == "keyword" and scope.startswith("keyword.operator") and not scope.startswith("keyword.operator.word"):
        return "sign"
    if first == "punctuation":
        return "sign"
    return "bad" if first == "invalid" else "name" if first else "blank"


def kind_of_token(kind: str) -> str:
    """The same for a token of the scanner."""
    if kind in NUMERIC:
        return "number"
    named = {"COMMENT": "comment", "STRING": "string", "NAME": "name", "BAD_STRING": "bad"}
    return named.get(kind, "sign")


def scanned(path: Path) -> dict[Stretch, str]:
    """What the scanner reads, without line ends and characters that fit nothing."""
    file = SourceFile(str(path), path.read_text(encoding="utf-8"))
    out = {}
    for token in grammar.load_grammar_tables().scanner.scan(file):
        if token.newline or token.type == scanner.BAD:
            continue
        before = file.text.count("\n", 0, token.start)
        start = token.start - (file.text.rfind("\n", 0, token.start) + 1)
        out[before, start, start + len(token.text)] = kind_of_token(token.type)
    return out


def test_the_grammar_is_made_from_the_one_list() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "editor-grammars"), "--check"]
    ran = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@engine
@pytest.mark.parametrize("paths", [STDLIB, MISTAKEN], ids=["stdlib", "mistakes"])
def test_kinds_are_those_of_the_scanner(paths: list[Path]) -> None:
    assert len(paths) > 20
    for path, tokens in zip(paths, colours(tuple(paths)), strict=True):
        if not path.read_bytes().isascii():
            continue  # the engine counts UTF-16 units
        at = {}
        for line, start, end, scope in tokens:
            for column in range(start, end):
                at[line, column] = kind_of_scope(scope)
        for (line, start, end), kind in scanned(path).items():
            assert {at[line, c] for c in range(start, end)} == {kind}, f"{path}:{line + 1}:{start + 1}"


def test_every_snippet_parses() -> None:
    snippets = json.loads((ROOT / "grammar" / "vscode" / "snippets" / "fab.json").read_text(encoding="utf-8"))
    for name, snippet in snippets.items():
        body = snippet["body"]
        text = body if isinstance(body, str) else "\n".join(body)
        text = re.sub(r"\$\{\d+\|(\w+)[^}]*\}|\$\{\d+:([^}]*)\}|\$0", lambda m: m[1] or m[2] or "", text)
        found = Diagnostics()
        parser.parse_source_file(SourceFile(name, text + "\n"), found)
        assert "$" not in text
        assert not list(found), f"{name}: {text}"
