"""Words after a pattern that are given twice, circuits that a guard leaves out, and what `spread` within one set adds up to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, refused

MODELS = """
model switch M { port p[1..24]: 400Gbps }
model switch B { port p[1..6]: 400Gbps }
model ocs O { port o[1..24]: any }
"""
KEEP = "keep one of the two"
TWICE = [
    ("connect a[*] to b[*] each x 2 x 3", "x"),
    ("connect a[*] to b[*] each x 2 x 2", "x"),
    ("connect a[*] to b[*] spread x 2 x 4", "x"),
    ("connect a[*] to b[*] spread uneven uneven x 3", "uneven"),
    ("connect a[*] random degree 2 seed 1 degree 1", "degree"),
    ("connect a[*] random degree 2 seed 1 seed 1 x 2", "seed"),
    ("connect a[*] to b[*] pairs shift 1 shift 0", "shift"),
]


@pytest.mark.parametrize(("connect", "word"), TWICE)
def test_a_word_that_is_given_twice(connect: str, word: str, tmp_path: Path) -> None:
    text = f"fabric f {{\n  switch a[4]: M\n  switch b[4]: M\n  connect b[*] to a[*] pairs\n  {connect}\n}}{MODELS}"
    refused(text, (connect, "E0104", word, f"`{word}` is given twice", KEEP), tmp_path)
    (at,) = [d.span.start for d in compile_text(text, tmp_path, verify=False).findings if d.span and d.code == "E0104"]
    assert text[:at].count(f" {word} ") == 1 and text[at:].startswith(word), "the second of them"


@pytest.mark.parametrize("pattern", ["spread", "each", "ring"])
def test_a_circuit_that_its_guard_leaves_out(pattern: str, tmp_path: Path) -> None:
    """As for a connect, a warning that it does nothing, and no error of its pattern."""
    text = f"""fabric f {{
  group g[2] {{ switch b[2]: B }}
  ocs o: O
  connect g[*].b[*] to o each x 2
  circuit g[i].b[*] {pattern} where i > 5
  circuit g[i].b[*] each
}}{MODELS}"""
    found = compile_text(text, tmp_path, verify=False).findings
    said = [(d.code, d.severity.name, d.span.text) for d in found if d.span is not None]
    assert said == [("E0124", "WARNING", "i > 5")]


SPREADS = [("a[0..0] spread", 0), ("a[0..1] spread x 5", 5), ("a[*] spread uneven x 5", 10), ("a[*] spread x 6", 12),
           ("a[*] spread uneven x 2", 4), ("a[*] spread uneven x 1", 0)]  # fmt: skip


@pytest.mark.parametrize(("connect", "links"), SPREADS)
def test_a_limit_of_links_that_a_spread_meets(connect: str, links: int, tmp_path: Path) -> None:
    """Four switches: two base rounds of six links at most, two ports of each over to both sides; an odd one stays free."""
    text = f"fabric f {{\n  switch a[4]: M\n  switch b[2]: M\n  connect b[0] to b[1]\n  connect {connect}\n}}{MODELS}"
    for limit, codes in ((links + 1, []), (links, ["E0116"])):
        result = compile_text(text, tmp_path, verify=False, max_links=limit)
        errors = [d.code for d in result.findings if d.severity.name == "ERROR"]
        assert errors == codes, limit
    whole = compile_text(text, tmp_path, verify=False, max_links=links + 1).designs[0].fabric
    assert whole is not None and whole.link_count == links + 1
