"""Slips that have a message of their own, and statements beside them that have not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

OTHER = "remove it, or end the statement before it with a new line or `;`"

SLIPS = [
    ("host node<8>: BOX", "<", "how many `node` there are is written in brackets, not in `< >`", "write `host node[8]`"),
    ("switch b<n + 1>: SW", "<", "how many `b` there are is written in brackets, not in `< >`", "write `switch b[n + 1]`"),
    ("host node<8: BOX", "<", "expected `:`, `{`, a string or the end of the line, found `<`", OTHER),
    ("connect a[*] to b[*] spread = 4", "=", "the number of links a pair follows `x`, not `=`", "write `spread x 4`"),
    ("connect a[*] to b[*] each * 2", "*", "the number of links a pair follows `x`, not `*`", "write `each x 2`"),
    ("connect a[*] to b[*] spread : 4", ":", "the number of links a pair follows `x`, not `:`", "write `spread x 4`"),
    ("connect a[*] to b[*] spread = n", "=", "expected `{` or the end of the line, found `=`", OTHER),
    ("require oversubscription <= 2 to 1", "to", "a ratio is written with `:`", "write `2:1`"),
    (
        "require oversubscription <= 2 to one",
        "to",
        "expected `of`, `with`, an operator or the end of the line, found `to`",
        OTHER,
    ),
    ("switch leaf: SN 5600", "5600", "the name of a model has no space", "write `SN5600`"),
    ("switch leaf: NVIDIA SN5600", "SN5600", "the name of a model is one word; here are `NVIDIA` and `SN5600`", "write `SN5600`"),
    ("connect a[*] and b[*]", "and", "`and` joins no ends", "write `to`"),
    ("connect a[*] with b[*]", "with", "`with` joins no ends", "write `to`"),
    ("connect a[*] into b[*]", "into", "`into` joins no ends", "write `to`"),
    ("connect a[*] to b[*] and b[*]", "b", "expected `{` or the end of the line, found `b`", OTHER),
    ("let x = 1.", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range"),
    ("let x = 1. + 2", ".", "a point needs a digit on both sides", "write `0.5`, `1.0`, or `0..7` for a range"),
]


@pytest.mark.parametrize("case", SLIPS, ids=lambda c: c[0])
def test_a_slip_has_its_message_and_its_neighbour_the_general_one(case: tuple[str, str, str, str], tmp_path: Path) -> None:
    """One finding, at the token, with the text that is right."""
    text, under, message, help = case
    found = compile_text(f"fabric f {{\n  switch a[4]: SW\n  {text}\n}}\n", tmp_path, verify=False).findings
    assert [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found] == [("E0001", under, message, help)]
