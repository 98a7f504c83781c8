"""What newcomers write first: one finding each, whose help alone leads to what is right."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostic
from tests.syntax.shown import read

SLIPS = [
    ("connect a[*] b[*] each", "write `to` before `b`"),
    ("connect a[*] b.c each", "write `to` before `b`"),
    ("connect a[*] leaf each", "write `to` before `leaf`"),
    ("connect a[*] b[*] to c[*]", "write `,` before `b`"),
    ("connect a[*] to b[*] c[*]", "write `,` before `c`"),
    ("connect a[*] -> b[*] each", "write `to`"),
    ("connect a[*] <--> b[*] each", "write `to`"),
    ("circuit a => b", "write `to`"),
    ("switch a[4] = S", "write `:` before the model"),
    ("port p[1..4] = 400Gbps", "write `:` before the rate"),
    ("override a[1] = S", "write `:` before the model"),
    ("switch a[4], b[2]: S", "a statement for each"),
    ("switch a: S, b: T", "a statement for each"),
    ("switch a, b: S", "a statement for each"),
    ("connect a to b each { rate: 100Gbps }", "a setting has no `:`; write `rate 100Gbps`"),
    ("connect a to b each {\n  rate:100Gbps\n}", "a setting has no `:`; write `rate 100Gbps`"),
    ("connect a to b { rate: 100Gbps, length: 3m }", "a setting has no `:`"),
    ("require oversubscription <= 2 : 1", "a ratio is written without spaces: `2:1`"),
    ("require oversubscription <= 2: 1", "a ratio is written without spaces: `2:1`"),
    ("oversubscription 1.5 :1", "a ratio is written without spaces: `1.5:1`"),
    ("connect p[1 : 4] to b", "a range is written `1..4`"),
    ("let n: 4", "write `let n = 4`"),
    ("let n:max(1, 2) + 3", "write `let n = max(1, 2) + 3`"),
    ("param n: other", "write `param n = other`"),
    ("let n: [1, 2]", "write `let n = [1, 2]`"),
    ("naming a[i] x{i}", 'put it in double quotes: `"x{i}"`'),
    ("naming a[i] x-{i + 1:02}-{j} where i > 0", 'put it in double quotes: `"x-{i + 1:02}-{j}"`'),
    ("naming a[i] leaf", 'put it in double quotes: `"leaf"`'),
    ("naming a[i] {i}", 'put it in double quotes: `"{i}"`'),
    (
        "param n = 4 where n > 0 and",
        "write a value after `and`, or remove it; a line that begins with `and` continues",
    ),
    ("require a >= 3 and", "write a value after `and`"),
    ("let n = 4 +", "write a value after `+`, or remove it"),
    ("if n > 0 or { height 1U }", "write a value after `or`, or remove it"),
]


def only(text: str) -> Diagnostic:
    (finding,) = list(read(text)[1])
    return finding


@pytest.mark.parametrize("around", ["{}", "{}\n", "fabric f {{\n  height 1U\n  {}\n  slack 2m\n}}\nlet after = 1\n"])
@pytest.mark.parametrize(("text", "help"), SLIPS, ids=[text for text, _ in SLIPS])
def test_help(text: str, help: str, around: str) -> None:
    finding = only(around.format(text))
    if around == "{}":
        help = help.partition(";")[0]
    assert help in finding.help


@pytest.mark.parametrize("text", [text for text, _ in SLIPS if "," not in text.partition("[")[0]])
def test_fix(text: str) -> None:
    finding = only(text)
    if finding.fix is None:
        return
    ((span, put),) = finding.fix.edits
    mended = text[: span.start] + put + text[span.end :]
    assert not list(read(mended)[1]), mended


LEFT_ALONE = [
    ("connect a too b[x]", "did you mean `to`?"),
    ("connect a to b unknown each", "patterns are"),
    ("let n: int 4", "put `=` here"),
    ("naming a[i] where i > 0", ""),
    ("naming {i}", ""),
    ("switch a[4]: S: T", "remove it"),
]


@pytest.mark.parametrize(("text", "help"), LEFT_ALONE, ids=[text for text, _ in LEFT_ALONE])
def test_other_help_stands(text: str, help: str) -> None:
    assert help in only(text).help
