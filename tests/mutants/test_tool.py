"""The tool that puts faults into the source: lines, statements, kinds of change and groups."""

from __future__ import annotations

import argparse

import pytest

from tests.mutants.mutate import mutants
from tests.mutants.run import GROUPS, JUDGES, group, scope, statements
from tests.mutants.serve import _outermost

TEXT = '''\
LIMIT = 3

class A:
    def f(self, x=1):
        """What it gives."""
        return [y + 1
                for y in range(x)]
'''


def test_lines_have_statements_and_functions() -> None:
    code = compile(TEXT, "a.py", "exec")
    found = {line: _outermost(code, line) for line in range(1, 8)}
    assert found[1] is None and found[4] is None, "a limit and a default are set once, before any function runs"
    assert [c.co_qualname for line in (6, 7) if (c := found[line]) is not None] == ["A.f", "A.f"]
    assert statements(TEXT)[7] == range(6, 8) and statements(TEXT)[1] == range(1, 2)
    made = {m.what for m in mutants(TEXT)}
    assert {"`+` is `-`", "`3` is `4`"} <= made and not any("What" in w for w in made)


def test_changes_that_are_alike_are_counted() -> None:
    made = [(m.what, m.nth) for m in mutants("a = 1 < 1 < 2\nb = 1\n")]
    assert made == [
        ("`<` is `<=`", 1),
        ("`<` is `<=`", 2),
        ("`1` is `2`", 1),
        ("`1` is `2`", 2),
        ("`2` is `3`", 1),
        ("`1` is `2`", 1),
    ]


def test_a_group_is_a_name_or_folders() -> None:
    assert [group(name) for name in GROUPS] == list(GROUPS)
    assert group("report,ide,report") == "ide,report"
    assert scope("fabric", None)[2:] == scope("rest", None)[2:], "one recording"
    assert scope("ide,report", None) == (["ide", "report"], list(JUDGES), ["ide", "report"], "ide+report")
    places = {scope(name, tests)[3] for name in ("fabric", "ide") for tests in (None, ["lsp"], ["lsp", "cli"])}
    assert len(places) == 6, "what other tests recorded is kept apart"
    assert scope("rest", ["lsp"])[0] == list(GROUPS["rest"][0]) and scope("rest", ["lsp"])[1] == ["lsp"]
    for wrong in ("idle", "ide,", "ide,rest", "../tests", ""):
        with pytest.raises(argparse.ArgumentTypeError, match="is no group"):
            group(wrong)
