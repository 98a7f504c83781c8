"""The lexer for Pygments: it loses no character, colours each statement's word, and knows every file of the library."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from tests.harness import none

pytest.importorskip("pygments")

from pygments.token import Error, Keyword, Name

from tdsl.ide.pygments_lexer import FabLexer
from tdsl.syntax import keywords
from tests.tables import sections

ROOT = Path(__file__).parents[2]
LINES = sections(__file__)["lines"]


def test_no_character_is_lost_and_none_is_a_fault() -> None:
    lexer = FabLexer(stripnl=False, ensurenl=False)
    wrong = []
    for path in sorted((ROOT / "stdlib").rglob("*.fab")):
        text = path.read_text(encoding="utf-8")
        found = list(lexer.get_tokens(text))
        assert "".join(value for _, value in found) == text, path
        wrong += [f"{path.name}: {value!r}" for kind, value in found if kind is Error]
    none(wrong)


def test_words_of_a_design() -> None:
    found = [(value.strip(), kind) for kind, value in FabLexer().get_tokens(LINES) if value.strip()]
    words = {w for w, kind in found if kind in Keyword}
    statements = {
        "use",
        "as",
        "model",
        "switch",
        "port",
        "fabric",
        "param",
        "where",
        "host",
        "connect",
        "to",
        "x",
        "require",
        "of",
    }
    assert words == statements | {"intact"} and statements & set(keywords.GRAMMAR_WORDS)
    named = {w for w, kind in found if kind in (Name.Class, Name.Variable)}
    assert named == {"SW", "p", "pod", "units", "node"}
    assert ("spread", Name.Builtin) in found and ("# a comment") in {w for w, _ in found}


def test_pygments_finds_it_by_the_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["fab"].partition(":")
    assert getattr(import_module(module), name) is FabLexer and FabLexer.aliases == ["fab"]
