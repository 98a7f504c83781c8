"""User-visible text uses the standard terms: no phrase of ``words.toml`` is in a page, a help text or the documentation."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tdsl.cli import cli
from tdsl.explain import catalogue
from tests.harness import none

HERE = Path(__file__).parent
PHRASES = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))["phrase"]
KINDS = ("explain", "help", "docs", "messages", "engine")
PAGES = KINDS[:4]
"""Where a phrase is looked for if nothing else is given."""
LONGEST_TITLE = 60


def texts(kind: str) -> Iterator[tuple[str, str]]:
    """Every text of a kind, with its name."""
    if kind == "explain":
        for path in sorted(catalogue.FOLDER.glob("E*.md")):
            yield path.name, path.read_text(encoding="utf-8")
    elif kind == "help":
        top = click.Context(cli, info_name="tdsl")
        yield "tdsl", cli.get_help(top)
        for name in cli.list_commands(top):
            command = cli.get_command(top, name)
            assert command is not None
            yield f"tdsl {name}", command.get_help(click.Context(command, info_name=name, parent=top))
    elif kind == "messages":
        for path in sorted((HERE.parent / "tdsl").rglob("*.py")):
            if path.name != "checker.py":  # its messages are for those who hand in a certificate, and short on purpose
                yield from messages(path)
    elif kind == "engine":
        package = HERE.parent / "tdsl"
        rooms = [path for room in ("prove", "sizing", "verify") for path in (package / room).rglob("*.py")]
        for path in sorted([*rooms, *(package / "certificates").glob("write*.py"), package / "compile" / "second_opinion.py"]):
            yield path.relative_to(package).as_posix(), path.read_text(encoding="utf-8")
    else:
        for path in (HERE.parent / "README.md", *sorted((HERE.parent / "docs").glob("*.md"))):
            yield path.name, path.read_text(encoding="utf-8")


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """The strings of a module that are sentences, without docstrings: most are messages. Values put into them are ``{}``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(v) for n in ast.walk(tree) if isinstance(n, ast.JoinedStr) for v in n.values}
    docs = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for n in ast.walk(tree):
        text = ""
        if isinstance(n, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in n.values)
        elif isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in parts:
            text = n.value
        if id(n) not in docs and len(text.split()) >= 3:
            yield f"{path.relative_to(HERE.parent)}:{n.lineno}", text


def found(kind: str) -> Iterator[str]:
    """Every use of a phrase, with its place and the term to use."""
    for name, text in texts(kind):
        for entry in PHRASES:
            if kind not in entry.get("pages", PAGES):
                continue
            for number, line in enumerate(text.splitlines(), 1):
                rest = line
                for context in entry.get("allow", ()):
                    rest = re.sub(context, "", rest)
                if re.search(rf"\b(?:{entry['phrase']})\b", rest, re.IGNORECASE):
                    yield f"{name}:{number}: {entry['phrase']}: use {entry['use']}: {line.strip()}"


@pytest.mark.parametrize("kind", KINDS)
def test_no_phrase_is_used(kind: str) -> None:
    none(found(kind))


def test_a_phrase_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "texts", lambda kind: [("page", "A word or sign that cannot stand here")])
    assert len(list(found("explain"))) == 1


def test_titles_are_short_noun_phrases() -> None:
    pages = catalogue.finding_pages()
    none(
        f"{p.code}: {p.title}" for p in pages if len(p.title) > LONGEST_TITLE or not p.title[0].isupper() or p.title.endswith(".")
    )
    titles = [p.title for p in pages]
    none(sorted({t for t in titles if titles.count(t) > 1}))
