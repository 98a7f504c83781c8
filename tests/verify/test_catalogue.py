"""Every check is one file with a page and fixtures; the class guards refuse what is not."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from subprocess import run as start

import pytest

import tdsl.verify.checks
from tdsl.verify.check import Check, checks_by_name
from tests.harness import none

FIXTURES = Path(__file__).parents[1] / "checks"
SECTIONS = (
    "## What it means", "## Formula and source", "## What it assumes", "## A design that passes", "## A design that fails",
    "### What it prints",
)  # fmt: skip
DEFAULT = {
    "reachability", "isolated", "port_budget", "rate_match", "connector_match", "plane_isolation", "rail_alignment",
    "name_collision", "address_overlap",
}  # fmt: skip


def faults_of_page(check):
    """What is wrong with the page of a check, as text."""
    page = check.page()
    title = page.splitlines()[0]
    if not title.endswith(".") or len(title) >= 80:
        yield f"{check.name}: the title is one line of less than 80 characters with a full stop"
    if missing := [s for s in SECTIONS if s not in page]:
        yield f"{check.name}: no section {', '.join(missing)}"
    elif f"{check.code}: " not in page.split("### What it prints")[1]:
        yield f"{check.name}: what it prints does not show {check.code}"
    if page.count("```") % 2 or "```fab" not in page:
        yield f"{check.name}: no example, or an open fence"


def test_the_docstring_is_a_page():
    none(fault for check in checks_by_name().values() for fault in faults_of_page(check))


def faults_of_fixtures(check):
    """What is wrong with the fixtures of a check, as text."""
    bad = sorted((FIXTURES / check.name).glob("bad_*.fab"))
    if not bad or not (FIXTURES / check.name / "good.fab").is_file():
        yield f"{check.name}: it needs good.fab and a bad_*.fab"
    for path in bad:
        if not re.match(r"# expect: E\d{4} line \d+", path.read_text().splitlines()[0]):
            yield f"{path}: the first line says `# expect: E0000 line N`"


def test_there_is_a_good_and_a_bad_fixture():
    none(fault for check in checks_by_name().values() for fault in faults_of_fixtures(check))


def test_the_folder_is_the_registry():
    folder = Path(tdsl.verify.checks.__file__).parent
    modules = {p.stem for p in folder.glob("[a-z]*.py")}
    assert {type(c).__module__.rpartition(".")[2] for c in checks_by_name().values()} == modules


def test_these_can_fail_a_design_without_a_requirement():
    assert {n for n, c in checks_by_name().items() if c.fails_by_default} >= DEFAULT


def test_codes_and_names_are_unique():
    assert len({c.code for c in checks_by_name().values()}) == len(checks_by_name())


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"code": "E0499", "name": "fresh"}, "needs `kind`"),
        ({"code": "E0101", "name": "fresh", "kind": "number"}, "families"),
        ({"code": "E0401", "name": "fresh", "kind": "number"}, "is taken by"),
        ({"code": "E0499", "name": "reachability", "kind": "number"}, "is taken by"),
        ({"code": "E0499", "name": "Fresh", "kind": "number"}, "snake_case"),
        ({"code": "E0499", "name": "fresh", "kind": "colour"}, "is none of"),
        ({"code": "E0499", "name": "fresh", "kind": "number", "takes": frozenset({"salt"})}, "salt"),
        ({"code": "E0499", "name": "fresh", "kind": "number", "__doc__": " "}, "must not be empty"),
    ],
)
def test_a_class_is_examined_when_it_is_made(attributes, words):
    checks_by_name()
    with pytest.raises(TypeError, match=words):
        type("Made", (Check,), {"__doc__": "A page.", "wrong": "A fault", **attributes})
    assert not any(type(check).__name__ == "Made" for check in checks_by_name().values())


def test_checking_imports_no_heavy_library():
    heavy = "('networkx', 'scipy', 'z3')"
    code = (
        "import sys, tdsl.verify.runner, tdsl.verify.check as c; c.checks_by_name(); "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    assert start([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
