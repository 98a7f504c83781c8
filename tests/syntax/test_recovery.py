"""One fault, one finding, at its place; everything around it survives."""

from __future__ import annotations

from itertools import product

import pytest

from tdsl.syntax import tree
from tests.syntax.shown import ALL, read, show
from tests.tables import table

FAULTS = [*table(__file__, "faults"), ("let n = " + "9" * 500, "E0014", "9" * 500, "400")]


@pytest.mark.parametrize(("line", "code", "at", "help"), FAULTS, ids=[f[0][:30] for f in FAULTS])
def test_fault_alone(line: str, code: str, at: str, help: str) -> None:
    module, diagnostics = read(f"fabric f {{\n  height 1U\n  {line}\n  slack 2m\n}}\nlet after = 1\n")
    (finding,) = diagnostics
    assert finding.code == code
    assert finding.span is not None and finding.span.text == at
    assert finding.span.begin[0] == 3
    assert help in finding.help
    fabric, after = module.body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None and isinstance(after, tree.Let)
    assert show(fabric.body[0]) == "Setting(name=height items=[SettingItem(value=1U)])"
    assert show(fabric.body[-1]) == "Setting(name=slack items=[SettingItem(value=2m)])"


def test_two_faults() -> None:
    for first, second in product(FAULTS[:-3:3], FAULTS[:-3:4]):
        module, diagnostics = read(f"let a = 1\n{first[0]}\nlet b = 2\n{second[0]}\nlet c = 3\n")
        assert sorted(d.span.begin[0] for d in diagnostics if d.span) == [2, 4], (first, second)
        assert {"a", "b", "c"} <= {s.name.name for s in module.body if isinstance(s, tree.Let)}, (first, second)


def test_names_of_lost_statements() -> None:
    module, _ = read("let wide = narrow + )\ngroup pod(3) { switch leaf: M }\n")
    lost, group = module.body
    assert isinstance(lost, tree.Broken) and lost.names == ("wide", "narrow")
    assert isinstance(group, tree.Broken) and "pod" in group.names
    assert show(group.body) == "[Decl(kind=switch name=leaf of=M)]"


def test_blocks_before_the_fault_are_kept() -> None:
    module, diagnostics = read("if a { let b = 1 } els { let c = 2 }")
    assert len(diagnostics) == 1
    (broken,) = module.body
    assert isinstance(broken, tree.Broken)
    assert show(broken.body) == "[Let(name=b value=1) Let(name=c value=2)]"


def test_unclosed_bracket() -> None:
    heads = ("omit su[3", "connect a[(1 to b", "let x = max(1,", "let x = [1,\n  2,")
    for head, following in product(heads, ("connect a to b", "switch leaf[2]: M", "height 8U", "for i in 0..2 { }", "let n = ?")):
        module, diagnostics = read(f"let a = 1\n{head}\n{following}\nlet z = 1\n")
        (finding,) = diagnostics
        assert finding.span is not None and finding.span.begin[0] == 2
        assert [isinstance(s, tree.Broken) for s in module.body] == [False, True, False, False], (head, following)
    module, diagnostics = read("group su[4 {\n  host x: M\n}\nlet a = 1\n")
    assert [d.code for d in diagnostics] == ["E0003"]
    assert show(module.body[0]) == "Broken(names=['group' 'su'] body=[Decl(kind=host name=x of=M)])"


def test_unclosed_block_is_found_by_indentation() -> None:
    module, diagnostics = read("group a { }\n}\nlet b = 1\n")  # and one that is closed twice
    assert [d.code for d in diagnostics] == ["E0005"] and len(module.body) == 2
    text = "fabric f {\n  group su[4] {\n    switch leaf: M\n  switch spine: M\n}\nlet a = 1\n"
    module, diagnostics = read(text)
    (finding,) = diagnostics
    assert finding.code == "E0004" and finding.span is not None and finding.span.begin == (2, 15)
    assert show(module.body) == (
        "[Decl(kind=fabric name=f body=[Decl(kind=group name=su shape=[Extent(value=4)] "
        "body=[Decl(kind=switch name=leaf of=M)]) Decl(kind=switch name=spine of=M)]) Let(name=a value=1)]"
    )


DEEP = {
    "parentheses": "let a = " + "(" * 2000 + "1" + ")" * 2000,
    "blocks": "group g {" * 400 + "}" * 400,
    "minus": "let a = " + "-" * 2000 + "1",
    "not": "let a = " + "not " * 2000 + "b",
    "powers": "let a = " + "2**" * 2000 + "2",
    "conditionals": "let a = " + "1 if b else " * 2000 + "2",
    "indices": "let a = [1]" + "[0]" * 2000,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_one_error(name: str) -> None:
    _, diagnostics = read(DEEP[name])
    assert [d.code for d in diagnostics] == ["E0009"]


def test_long_chains_are_flat() -> None:
    module, diagnostics = read("let a = " + "2**2 * -1 + " * 3000 + "1\n" + "if a { } " + "else if b { } " * 500)
    assert not list(diagnostics)
    assert isinstance(module.body[0], tree.Let) and isinstance(module.body[0].value, tree.Chain)
    assert len(module.body[0].value.rest) == 3000
    assert isinstance(module.body[1], tree.If) and len(module.body[1].branches) == 501


def test_any_line_may_be_lost() -> None:
    """Without any one of its lines a program gives few findings, and never an exception."""
    for text in ALL.values():
        lines = text.split("\n")
        for i in range(len(lines)):
            _, diagnostics = read("\n".join(lines[:i] + lines[i + 1 :]))
            assert len(diagnostics) <= 1, lines[i]


def test_every_prefix() -> None:
    for text in ALL.values():
        for size in range(0, len(text), 13):
            _, diagnostics = read(text[:size])
            assert len(diagnostics) <= 2, text[:size][-60:]
            for d in diagnostics:
                assert d.span is not None and 0 <= d.span.start <= d.span.end <= size


def test_a_mangled_line_is_one_error() -> None:
    lines = ALL["pod"].split("\n")
    for i, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#") and "{" not in line and "}" not in line:
            if lines[i + 1].lstrip().startswith(("with", "and")) or line.lstrip().startswith(("with", "and")):
                continue
            _, diagnostics = read("\n".join([*lines[:i], line.split("#")[0] + " ) = (", *lines[i + 1 :]]))
            assert [d.span.begin[0] for d in diagnostics if d.span] == [i + 1], line


def test_braces_that_a_faulty_statement_takes_along() -> None:
    """The scanner pairs them otherwise than the parser, which neither waits at one for ever nor ends inside a block."""
    texts = ('"{\n {\n}\n{', '"{\n {\n}\n{\n}\n}', "x { (\n}\n}\n{", 'fabric f {\n  "{\n {\n}\n{\n}\n}\nfabric g { }\n')
    for text in (*texts, '""{fabric}-su'):  # a minus after a brace was taken for part of a name, and ended with a traceback
        assert read(text)[1].has_errors, text


def test_operators_in_each_other_are_deep_and_in_a_row_are_not() -> None:
    for deep in ("2 ** " * 150 + "1", "-" * 150 + "1", "not " * 150 + "true", "1 if true else " * 150 + "2"):
        assert [d.code for d in read(f"let a = {deep}")[1]] == ["E0009"], deep
    for operator in (" + -", " * 2 ** ", " and not ", " - "):
        assert not list(read("let a = " + operator.join(["b"] * 150))[1]), operator
