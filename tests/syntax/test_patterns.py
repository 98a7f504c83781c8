"""The table of connect patterns: one record a pattern, which every room reads."""

from __future__ import annotations

import re
from pathlib import Path

from tdsl.explain.catalogue import explained_words
from tdsl.fabric.wiring import LINKS_OF_PATTERN
from tdsl.syntax import keywords
from tdsl.syntax.patterns import CONNECT_PATTERNS


def test_a_pattern_is_known_everywhere() -> None:
    """What lays links, the words of the grammar, `tdsl explain` and the page of the language know the patterns of the table."""
    known = set(CONNECT_PATTERNS)
    assert known == set(keywords.PATTERNS)
    assert known == set(LINKS_OF_PATTERN), "LINKS_OF_PATTERN of tdsl/fabric/wiring.py"
    assert known == {w.word for w in explained_words().values() if w.kind == "pattern of connect"}
    bare = [name for name, p in CONNECT_PATTERNS.items() if not (p.meaning and p.example)]
    assert not bare, "`meaning` and `example` of these in tdsl/syntax/patterns.py"
    words = {word for p in CONNECT_PATTERNS.values() for word in p.words}
    assert words <= keywords.GRAMMAR_WORDS, "give the grammar the word behind the pattern"
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
    table = page.partition("\n## Patterns\n")[2].partition("\n**Even.**")[0]
    rows = [line.split(" | ")[0] for line in table.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in re.findall(r"`(\w+)", row)} == known, "rows of the table in docs/language.md"
    one_set = {name for name, p in CONNECT_PATTERNS.items() if p.sets == "one"}
    joins_one = re.search(r"([^.]*) join\s+the members of one population", table)
    assert joins_one is not None
    assert set(re.findall(r"`(\w+)`", joins_one[1])) == one_set, "the sentence on patterns of one population in docs/language.md"
