"""What every check says of its fixtures, compiled as a user would: what passes, what is found where, and the rest as goldens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.certificates.write import verified_certificates
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.compile.second_opinion import add_second_opinions
from tdsl.findings.diagnostic import Severity
from tests.conftest import Golden
from tests.harness import places

FIXTURES = Path(__file__).parents[1] / "checks"


def answers(compilation: Compilation, wanted: str) -> Iterator[str]:
    """Findings with their help, then the results of one check with all their facts, each on a line."""
    for d in compilation.findings:
        yield f"{d.severity.word} {d.code} {d.span.begin[0] if d.span else '-'}: {d.message}\n"
        yield from [f"  = help: {d.help}\n"] if d.help else []
    for design in compilation.designs:
        for r in (r for r in design.results if r.check == wanted):
            asked = r.facts() | {"text": None, "second_opinion": (r.second_opinion or {}).get("verdict")}
            facts = {k: v for k, v in asked.items() if v not in (None, "", {}) and k not in SHOWN}
            yield f"{r.status} {r.requirement or r.check}: {r.text or r.reason}\n"
            yield f"    {json.dumps(facts, sort_keys=True, default=str)}\n"


SHOWN = ("check", "status", "requirement", "reason", "exact", "unit", "judged", "of")
"""Facts that are told already, or are those of the check."""


@pytest.mark.parametrize("name", sorted(p.name for p in FIXTURES.iterdir() if p.is_dir() and p.name[0] != "_"))
def test_fixtures(name: str, golden: Golden) -> None:
    """What each check says of its fixtures, which its second method confirms: an error where the first line expects it alone."""
    out = []
    for path in sorted((FIXTURES / name).glob("*.fab")):
        found = compiler.compile_and_verify(str(path))
        expected = re.match(r"# expect: (E\d{4}) line (\d+)", path.read_text())
        errors = places(d for d in found.findings if d.severity is Severity.ERROR)
        assert errors == ([(expected[1], int(expected[2]))] if expected else []), path
        assert add_second_opinions(found, str(path), Request()) == []
        out += [f"## {path.name}\n", *answers(found, name), "\n"]
    golden(f"checks/{name}.txt", "".join(out).replace(f"{FIXTURES}/", ""))


def test_two_devices_of_one_name_have_no_certificates() -> None:
    """Certificates name devices by their names; the reason is given for all of them."""
    path = FIXTURES / "name_collision" / "bad_no_unit_in_name.fab"
    design = compiler.compile_and_verify(str(path)).designs[0]
    assert design.fabric is not None
    made = verified_certificates(design.fabric, design.claims, design.results)
    assert (made.texts, made.rejected, list(made.left_out)) == ({}, {}, ["*.json"])
    assert "two have one" in made.left_out["*.json"]
