"""The table of connect patterns: one record a pattern, which every room reads."""

from __future__ import annotations

import re
from pathlib import Path

from tdsl.explain.catalogue import explained_words
from tdsl.fabric.wiring import LINKS_OF_PATTERN
from tdsl.syntax import keywords
from tdsl.syntax.patterns import CONNECT_PATTERNS
from tests.harness import none


def test_a_pattern_is_known_everywhere() -> None:
    """What lays links, the words of the grammar, `tdsl explain` and the page of the language know the patterns of the table."""
    known = set(CONNECT_PATTERNS)
    page = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
    text = page.partition("\n## Patterns\n")[2].partition("\n**Even.**")[0]
    rows = [line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `")]
    sentences = [re.search(rf"([^.|]*) {verb}", text) for verb in ("take `x N`", r"join\s+the members of one population")]
    copied, one_set = (set(re.findall(r"`(\w+)`", found[1])) if found else set() for found in sentences)
    places = {
        "keywords.PATTERNS, tdsl/syntax/keywords.py": (known, set(keywords.PATTERNS)),
        "LINKS_OF_PATTERN, tdsl/fabric/wiring.py": (known, set(LINKS_OF_PATTERN)),
        "tdsl explain": (known, {w.word for w in explained_words().values() if w.kind == "pattern of connect"}),
        "`meaning` and `example`, tdsl/syntax/patterns.py": (
            known,
            {n for n, p in CONNECT_PATTERNS.items() if p.meaning and p.example},
        ),
        "the table of docs/language.md, Patterns": (known, {name for row in rows for name in re.findall(r"`(\w+)", row)}),
        "docs/language.md, Patterns, the sentence `… take x N`": (
            {n for n, p in CONNECT_PATTERNS.items() if not p.owns_number},
            copied,
        ),
        "docs/language.md, Patterns, the sentence `… join the members of one population`": (
            {n for n, p in CONNECT_PATTERNS.items() if p.sets == "one"},
            one_set,
        ),
    }
    none(f"{name}: {place}" for place, (wanted, there) in places.items() for name in sorted(wanted ^ there))
    words = {word for p in CONNECT_PATTERNS.values() for word in p.words}
    assert words <= keywords.GRAMMAR_WORDS, "give the grammar the word behind the pattern"
