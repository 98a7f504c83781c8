"""User-visible text uses the standard terms: no phrase of ``words.toml`` is in a page, a help text or the documentation."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from tdsl.cli import cli
from tdsl.explain import catalogue
from tests.harness import none
from tests.sources import MODULES, PACKAGE, ROOT, parsed, text_of

PHRASES = tomllib.loads((ROOT / "tests" / "words.toml").read_text(encoding="utf-8"))["phrase"]
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
        any_phrase = re.compile(r"\b(?:" + "|".join(entry["phrase"] for _, entry in rules(kind)) + r")\b")
        for path in MODULES:  # those of checker.py are for who hands in a certificate, and short on purpose
            if path.name != "checker.py" and any_phrase.search(plain(path).lower()):
                yield from messages(path)
    elif kind == "engine":
        rooms = [path for room in ("prove", "sizing", "verify") for path in (PACKAGE / room).rglob("*.py")]
        for path in sorted([*rooms, *(PACKAGE / "certificates").glob("write*.py"), PACKAGE / "compile" / "second_opinion.py"]):
            yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")
    else:
        for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            yield path.name, path.read_text(encoding="utf-8")


NO_MESSAGES = re.compile(r'(?:(?<![(,\[{=+])\n *""".*?""")|\n *#[^\n]*|  # [^"\n]*$', re.DOTALL | re.MULTILINE)


def plain(path: Path) -> str:
    """A module without its docstrings and comments, and strings of several lines as one: what has no phrase is not parsed."""
    return re.sub(r'"\s*\n\s*[rf]*"', "", NO_MESSAGES.sub("", f"\n{text_of(path)}"))


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """The strings of a module that are sentences, without docstrings: most are messages. Values put into them are ``{}``."""
    apart: set[int] = set()
    for n in ast.walk(parsed(path)):  # what contains another node comes before it
        text = ""
        if isinstance(n, ast.JoinedStr):
            apart |= {id(v) for v in n.values}
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in n.values)
        elif isinstance(n, ast.Expr):
            apart.add(id(n.value))
        elif isinstance(n, ast.Constant) and isinstance(n.value, str):
            text = n.value
        if id(n) not in apart and len(text.split()) >= 3:
            yield f"{path.relative_to(ROOT)}:{n.lineno}", text


def rules(kind: str) -> Iterator[tuple[re.Pattern[str], dict[str, Any]]]:
    """The phrases kept out of texts of a kind, each with what is written of it."""
    of_kind = (entry for entry in PHRASES if kind in entry.get("pages", PAGES))
    return ((re.compile(rf"\b(?:{entry['phrase']})\b", re.IGNORECASE), entry) for entry in of_kind)


def found(kind: str) -> Iterator[str]:
    """Every use of a phrase, with its place and the term to use."""
    known = list(rules(kind))
    for name, text in texts(kind):
        for pattern, entry in (rule for rule in known if rule[0].search(text)):
            for number, line in enumerate(text.splitlines(), 1):
                rest = line
                for context in entry.get("allow", ()):
                    rest = re.sub(context, "", rest)
                if pattern.search(rest):
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
