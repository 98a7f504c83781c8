"""The compiled grammar: parse tables and scanner, loaded once. A wheel brings the tables; elsewhere they are
kept in the cache folder between runs."""

from __future__ import annotations

import sys
from dataclasses import field
from functools import cache
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

import lark
from lark.lexer import Lexer, PatternStr

from tdsl import __version__
from tdsl.syntax.build import Builder
from tdsl.syntax.scanner import Scanner
from tdsl.system import cache as cache_folder
from tdsl.system import resources
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.syntax.partial_parse import PartialParse

KIND = "grammar"


class _NoLexer(Lexer):
    """Lark reads the grammar and makes the tables; tokens are fed to it one by one."""

    __future_interface__ = 2

    def __init__(self, conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Any:
        """Yields nothing."""
        return iter(())


@dataclass(frozen=True, slots=True)
class Tables:
    """What parsing needs: Lark's parser, the scanner, the words of the grammar with the names of their
    terminals, and the other way round. ``only`` keeps the only rule that a state has, for the states that
    were asked for, and ``known`` what was asked of a rule.
    """

    lark: lark.Lark
    scanner: Scanner
    words: dict[str, str]
    written: dict[str, str]
    signs: dict[str, str]
    only: dict[int, Any] = field(default_factory=dict)
    known: dict[int, tuple[int, str, Any]] = field(default_factory=dict)

    def begin_parse(self, symbol: str) -> PartialParse:
        """A parser at the beginning of what ``symbol`` means, "module" or "expression"."""
        from tdsl.syntax.partial_parse import PartialParse

        return PartialParse(self.lark, symbol, self.only, self.known)


def grammar_text() -> str:
    """The grammar as written."""
    return (resources.packaged_folder("grammar") / "fab.lark").read_text(encoding="utf-8")


def compile_grammar(text: str, **options: Any) -> lark.Lark:
    """Lark's tables for a grammar, with our tree builder in them."""
    return lark.Lark(
        text,
        parser="lalr",
        lexer=_NoLexer,
        start=["module", "expression"],
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=Builder(),
        **options,
    )


@cache
def load_grammar_tables() -> Tables:
    """The tables of this version's grammar."""
    text = grammar_text()
    return _tables_of_grammar(
        _read_installed_tables(text)
        or _read_cached_tables(text)
        or _store_tables_in_cache(text, compile_grammar(text))
    )


def tables_for_wheel() -> bytes:
    """The tables as a wheel brings them: what they were made of, as a hash in the first line, then Lark's own
    form. It holds plain values, so any Python can read it, but only the same Lark."""
    text, data = grammar_text(), BytesIO()
    compile_grammar(text).save(data)
    return _wheel_tables_key(text) + b"\n" + data.getvalue()


def _read_installed_tables(text: str) -> lark.Lark | None:
    """The tables that came with the installation; None where none did, or with another Lark."""
    try:
        key, _, data = (resources.packaged_folder("tables") / "grammar").read_bytes().partition(b"\n")
    except OSError:
        return None
    return _unpack_tables(data) if key == _wheel_tables_key(text) else None


def _wheel_tables_key(text: str) -> bytes:
    return sha256(f"{lark.__version__}\n{text}".encode()).hexdigest().encode()


def _read_cached_tables(text: str) -> lark.Lark | None:
    """The tables that the cache folder holds, by Lark's own form of them; None where there are none, or not
    all of them."""
    data = cache_folder.read_cache_entry(KIND, _grammar_cache_key(text))
    return None if data is None else _unpack_tables(data)


def _unpack_tables(data: bytes) -> lark.Lark | None:
    """The tables in Lark's own form; None where these are no tables."""
    try:
        return lark.Lark.load(BytesIO(data))
    except Exception:  # tables that were kept are not a reason to fail, whatever is in them
        return None


def _store_tables_in_cache(text: str, made: lark.Lark) -> lark.Lark:
    """Tables, which the cache folder holds from now on."""
    data = BytesIO()
    made.save(data)
    cache_folder.write_cache_entry(KIND, _grammar_cache_key(text), data.getvalue())
    return made


def _grammar_cache_key(text: str) -> str:
    return sha256(f"{lark.__version__}\n{__version__}\n{sys.version}\n{text}".encode()).hexdigest()


def terminal_scan_order(terminal: Any) -> tuple[int, int, int, str]:
    """The order in which the scanner tries a terminal of Lark's."""
    pattern = terminal.pattern
    return -terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name


def _tables_of_grammar(made: lark.Lark) -> Tables:
    ordered = sorted(made.terminals, key=terminal_scan_order)
    words: dict[str, str] = {}
    signs: dict[str, str] = {}
    patterns: list[tuple[str, str]] = []
    for terminal in ordered:
        literal = terminal.pattern.value if isinstance(terminal.pattern, PatternStr) else None
        if literal is not None and literal.isidentifier():
            words[literal] = terminal.name
            continue
        if literal is not None:
            signs[terminal.name] = literal
        patterns.append((terminal.name, terminal.pattern.to_regexp()))
    return Tables(made, Scanner(patterns), words, {terminal: word for word, terminal in words.items()}, signs)
