"""Numbers that are found for `?`: the design holds with them, and with no smaller one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tdsl.compile.compiler import Compilation
from tdsl.findings.diagnostic import Diagnostic, Severity
from tests.harness import compile_text

UP = "  connect leaf[*] to spine[*] spread x 4\n"
LEAVES = "  host node[8]: BOX\n  switch leaf[4]: SW\n  connect node[n].nic[i] to leaf[2*(n // 4) + i]\n"
SPINE = LEAVES + "  switch spine[?]: SW\n"
MODELS = """
model switch DEAR { port p[1..8]: 400Gbps { type NDR }; price $9; power 1W }
model switch TWIN { port p[1..6]: 400Gbps { type NDR }; port q[2]: 400Gbps { type NDR }; price $5; power 2W }
"""
DESIGNS = {
    "spread": SPINE + UP,
    "one of a list": LEAVES + "  let s = ?GUARD s in [3, 4, 6]\n  switch spine[s]: SW\n" + UP,
    "range": LEAVES + "  let s = ?GUARD 2 <= s <= 6 and s * 2 < 13 and not s == 5\n  switch spine[s]: SW\n" + UP,
    "two tiers": SPINE + "  switch core[?]: SW\n" + UP + "  connect spine[*] to core[*] spread\n",
    "two tiers of small switches": LEAVES + "  switch spine[?]: DEAR\n  switch top[?]: TWIN\n" + UP
                                   + "  connect spine[*] to top[*] spread x 2\n",
    "switches and links required": SPINE + UP + "  require switches >= 7 and links <= 40 and switches < 12\n",
    "ratio": SPINE + "  connect leaf[*] to spine[*] spread\n  require oversubscription <= 1:1\n",
    "links of a parameter": LEAVES + "  let s = ?\n  switch spine[s]: SW\n  connect leaf[*] to spine[*] each\n"
                            "  require links >= 16 + 2 * s\n",
    "groups": "  group g[2] {\n    host node[4]: BOX\n    switch leaf[2]: SW\n    switch top[?]: SW\n"
              "    connect node[n].nic[i] to leaf[i]\n    connect leaf[*] to top[*] spread x 4\n  }\n"
              "  switch spine[?]: SW\n  connect g[*].top[*] to spine[*] spread\n",
    "number of groups": "  plane g[?] {\n    host node[2]: BOX\n    switch leaf[2]: SW\n"
                        "    connect node[n].nic[i] to leaf[i]\n  }\n"
                        "  switch spine[2]: SW\n  connect g[*].leaf[*] to spine[*] each\n",
    "used twice": LEAVES + "  let s = ?\n  switch a[s]: SW\n  switch b[s]: SW\n  connect leaf[*] to a[*] spread x 2\n"
                  "  connect leaf[*] to b[*] spread x 2\n",
    "pairs": LEAVES + "  switch other[?]: SW\n  connect leaf[*] to other[*] pairs x 2\n",
    "some of the ports": SPINE + "  connect leaf[*].p[5..8] to spine[*].p[1..4] spread\n",
    "classes of ports": LEAVES + "  switch spine[?]: TWIN\n  connect leaf[*] to spine[*].p spread x 3\n"
                        "  connect leaf[*] to spine[*].q spread\n",
    "omitted": LEAVES + "  switch a[?]: SW\n  connect leaf[*].p[5..6] to a[*].p[1..4] spread\n  omit leaf[0]\n",
    "branch": LEAVES + "  let s = ?\n  if s > 2 { switch spine[s]: SW } else { switch spine[8]: BIG }\n" + UP,
}  # fmt: skip
SIZES = ("switches", "links", "oversubscription", "name_collision")
"""The checks that a search for numbers knows."""
IMPOSSIBLE = {
    "each": (SPINE + "  connect leaf[*] to spine[*] each x 2\n  require links == 40\n", "E0459"),
    "switches required": (SPINE + UP + "  require switches >= 11\n", "E0459"),
    "computed": (
        LEAVES + "  param half: int = 2\n  let s = ?\n  switch spine[2 * s - half]: SW\n"
        "  switch other[s // 2 + s % 3]: SW\n" + UP + "  connect leaf[*] to other[*] spread x 2\n",
        "E0459",
    ),
    "guard": (LEAVES + "  let s = ?GUARD s >= 3 and s % 2 == 1\n  switch spine[s]: BIG\n" + UP, "E0459"),
    "too many links": (SPINE + "  connect leaf[*] to spine[*] spread x 5\n", "E0459"),
    "no number of switches": (SPINE + UP + "  require switches == 9\n", "E0459"),
    "contrary requirements": (SPINE + UP + "  require switches >= 9 and switches <= 8\n", "E0459"),
    "guard out of reach": (LEAVES + "  let s = ?GUARD s >= 100\n  switch spine[s]: SW\n" + UP, "E0459"),
}


def compiled(text: str, folder: Path, *numbers: int) -> Compilation:
    """A design with these numbers in place of each `?`; a guard is then a requirement of its own."""
    for number in numbers:
        text = text.replace("?", str(number), 1)
    return compile_text(f"fabric f {{\n{text.replace('GUARD', ' where')}}}\n{MODELS}", folder, select=SIZES)


def errors(found: Compilation) -> list[Diagnostic]:
    return [d for d in found.findings if d.severity is Severity.ERROR]


def holds(text: str, folder: Path, *numbers: int) -> bool:
    return not errors(compiled(text, folder, *numbers))


def numbers_of(found: Compilation) -> list[int]:
    """The numbers that notes say, in the order of the text."""
    notes = sorted((d for d in found.findings if d.code == "E0461"), key=lambda d: d.span.start if d.span else 0)
    return [int(d.message.split(" is ")[1].split(",")[0]) for d in notes]


@pytest.mark.parametrize("name", DESIGNS)
def test_found_numbers_are_the_least_that_hold(name: str, tmp_path: Path) -> None:
    text = DESIGNS[name]
    found = compiled(text, tmp_path)
    numbers = numbers_of(found)
    assert not errors(found) and len(numbers) == text.count("?"), found.findings
    assert holds(text, tmp_path, *numbers)
    smaller = [range(1, n + 1) for n in numbers]
    assert not any(holds(text, tmp_path, *some) for some in product(*smaller) if list(some) != numbers)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_no_number_is_found_where_none_holds(name: str, tmp_path: Path) -> None:
    text, code = IMPOSSIBLE[name]
    assert [d.code for d in errors(compiled(text, tmp_path))] == [code]
    assert not any(holds(text, tmp_path, n) for n in range(1, 9))


def test_numbers_that_must_be_used(tmp_path: Path) -> None:
    """A number that decides nothing, a model that is not there, and a set without a link are said."""
    unused = LEAVES + "  let n = ?\n  switch spine[2]: SW\n  connect leaf[*] to spine[*] spread x 2\n"
    for text in (unused, LEAVES + "  switch spine[?]: NONE\n" + UP):
        assert errors(compiled(text, tmp_path))
    assert numbers_of(compiled("  switch a[?]: SW\n", tmp_path)) == [1]
