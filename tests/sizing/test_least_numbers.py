"""Numbers that are found for `?`: the design holds with them, and with no smaller one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tdsl.compile.compiler import Compilation
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text, sampled, sections

MODELS = """
model switch DEAR { port p[1..8]: 400Gbps { type NDR }; price $9; power 1W }
model switch TWIN { port p[1..6]: 400Gbps { type NDR }; port q[2]: 400Gbps { type NDR }; price $5; power 2W }
"""
LEAVES = "host node[8]: BOX\nswitch leaf[4]: SW\nconnect node[n].nic[i] to leaf[2*(n // 4) + i]\n"
DESIGNS = sections(Path(__file__).parent / "numbers.txt")


def compiled(text: str, folder: Path, *numbers: int) -> Compilation:
    """A design with these numbers in place of each `?`; a guard is then a requirement of its own."""
    for number in numbers:
        text = text.replace("?", str(number), 1)
    known = ("switches", "links", "oversubscription", "name_collision")  # the checks that a search for numbers knows
    return compile_text(f"fabric f {{\n{text.replace('GUARD', ' where')}\n}}\n{MODELS}", folder, select=known)


def errors(found: Compilation) -> list[str]:
    return [d.code for d in found.findings if d.severity is Severity.ERROR]


def numbers_of(found: Compilation) -> list[int]:
    """The numbers that notes say, in the order of the text."""
    notes = sorted((d for d in found.findings if d.code == "E0461"), key=lambda d: d.span.start if d.span else 0)
    return [int(d.message.split(" is ")[1].split(",")[0]) for d in notes]


@pytest.mark.parametrize("name", sampled(DESIGNS, 3))
def test_found_numbers_are_the_least_that_hold(name: str, tmp_path: Path) -> None:
    """Or there are none, as far as one looks."""
    text = DESIGNS[name]
    found = compiled(text, tmp_path)
    if name.startswith("none"):
        assert errors(found) == ["E0459"] and all(errors(compiled(text, tmp_path, n)) for n in range(1, 9))
        return
    numbers = numbers_of(found)
    assert not errors(found) and len(numbers) == text.count("?"), found.findings
    assert not errors(compiled(text, tmp_path, *numbers))
    smaller = product(*(range(1, n + 1) for n in numbers))
    assert all(errors(compiled(text, tmp_path, *some)) for some in smaller if list(some) != numbers)


def test_numbers_that_must_be_used(tmp_path: Path) -> None:
    """A number that decides nothing, a model that is not there, and a set without a link are said."""
    for text in ("let n = ?\nswitch spine[2]: SW\nconnect leaf[*] to spine[*] spread x 2", "switch spine[?]: NONE"):
        assert errors(compiled(LEAVES + text, tmp_path))
    assert numbers_of(compiled("switch a[?]: SW", tmp_path)) == [1]
