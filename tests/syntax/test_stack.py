"""The parser's stack against Lark's own parser on the same tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl import resources
from tdsl.diagnostic import Diagnostics
from tdsl.source import SourceFile
from tdsl.syntax.parser import parse, parse_expression
from tdsl.syntax.scanner import Token
from tdsl.syntax.stack import Stack
from tdsl.syntax.tables import load

LIBRARY = resources.folder("stdlib")
FILES = sorted([*(LIBRARY / "designs").glob("*.fab"), *(LIBRARY / "topologies").glob("*.fab")])
EXPRESSIONS = (
    "1", "-n", "a.b[0..3, 5]", "not a and b or c != 2", "1 + 2 * 3 - -4 ** 5 // 6 % 7", '"x{i + 1:02}y"', "400Gbps", "2:1", "50%",
    "[x + 1 for x in 0..7]", "[1, [2, []], f(3)]", "max(a, b)[1] if a < b <= 4 else (2)", "4x4x2", "$12.50", "a in [1, 2]",
)  # fmt: skip
Taken = dict[int, tuple[Stack, list[tuple[Token, set[str]]]]]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """Of every stack, in the order in which they begin: the tokens that it is given, and what it would take before each."""
    out: Taken = {}
    shift = Stack.shift

    def noted(self: Stack, token: Token) -> None:
        out.setdefault(id(self), (self, []))[1].append((token, self.expected()))
        shift(self, token)

    monkeypatch.setattr(Stack, "shift", noted)
    return out


def larks_own(stack: Stack, tokens: list[tuple[Token, set[str]]]) -> object:
    """What Lark's parser makes of the tokens; before each it takes the same terminals."""
    own = load().lark.parse_interactive(start=stack.symbol)
    for token, expected in tokens:
        assert own.accepts() == expected, token
        own.feed_token(token)
    assert "$END" in own.accepts()
    return own.feed_token(Token("$END", "", tokens[0][0].file, 0))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_files_of_the_library(path: Path, taken: Taken) -> None:
    file, found = SourceFile(path.name, path.read_text(encoding="utf-8")), Diagnostics()
    body = parse(file, found).body
    made = [larks_own(*one) for one in taken.values()]  # values inside strings have stacks of their own
    assert not found.items and body in made


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text: str, taken: Taken) -> None:
    value = parse_expression(text, "a value", Diagnostics())
    assert value is not None and value in [larks_own(*one) for one in taken.values()]
