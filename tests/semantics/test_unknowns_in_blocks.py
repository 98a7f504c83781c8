"""Where unknowns are in a block, which names rest on which, and values of a tier, a partition and a device as they are kept."""

from __future__ import annotations

from itertools import product

import networkx as nx
import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.openings import NameDependencies, hole_key, holes_in_block, structure_rests_on_holes
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file


def block(text: str) -> tuple[tree.Stmt, ...]:
    """The statements of a fabric."""
    found = Diagnostics()
    module = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), found)
    assert not list(found), [d.message for d in found]
    (s,) = module.body
    assert isinstance(s, tree.Decl)
    return tuple(s.body or ())


EVERYWHERE = """let a = ?
let b = 7
switch s[?]: S
switch t[4, ?]: S
switch u: S
pod p[?] { let c = ?
  switch v[?, 2, ?]: S }
if b > 3 { let d = ?
  switch w[?]: S } else if b > 2 { let e = ? } else { switch x[?]: S }
for i in 0..3 { switch y[?]: S
  let g = ? }
"""


def test_unknowns_in_order_of_the_text() -> None:
    """Each is named after what it is the value or an extent of, with its place."""
    found = list(holes_in_block(block(EVERYWHERE)))
    assert [o.name for o in found] == ["a", "s", "t", "p", "c", "v", "v", "d", "w", "e", "x", "y", "g"]
    assert [o.span.text for o in found] == ["?"] * 13
    assert [o.span.start for o in found] == [i for i, c in enumerate(found[0].span.file.text) if c == "?"]
    assert [o.key for o in found] == [(id(o.span.file), o.span.start) for o in found]
    assert [o.key for o in found] == [hole_key(o.span) for o in found]
    assert list(holes_in_block(block("let a = 1\nswitch s[2]: S\nswitch t: S"))) == []


def test_what_a_name_rests_on() -> None:
    """Against the paths of a graph of names, with circles and the statements of all blocks inside."""
    text = """let a = b + c
let b = d
let c = c
pod p[e] { switch s[a, f]: S
  let d = g
  for i in 0..3 { let h = j }
  if k > 1 { let l = m } else if k > 2 { switch n[q]: S } else { let r = u } }
let x = y
let y = x
"""
    g = nx.DiGraph()
    made = {
        "a": "bc",
        "b": "d",
        "c": "c",
        "p": "e",
        "s": "af",
        "d": "g",
        "h": "j",
        "l": "m",
        "n": "q",
        "r": "u",
        "x": "y",
        "y": "x",
    }
    names = [*"abcdefghjlmnpqrsuxyz"]
    g.add_nodes_from(names)
    g.add_edges_from((k, v) for k, vs in made.items() for v in vs)
    found = NameDependencies(block(text))
    for a, b in product(names, repeat=2):
        assert found.rests(a, [b]) == nx.has_path(g, a, b), (a, b)
    assert not found.rests("z + 4", ["a"])
    assert not found.rests("7", ["a"])
    assert not found.rests("a", [])
    assert found.rests("z + 4*x", ["a", "y"])
    assert found.rests("z + s", ["u", "g"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let a = ?", False),
        ("let a = 1\nif 1 > 0 { switch s: S }", False),
        ("let a = ?\nif 1 > 0 { switch s: S }", True),
        ("let a = ?\nfor i in 0..1 { switch s: S }", True),
        ("switch s[?]: S\nfor i in 0..1 { switch t: S }", False),
        ("pod p { let a = ? }\nfor i in 0..1 { switch t: S }", True),
        ("let a = ?\npod p { for i in 0..1 { switch t: S } }", True),
        ("for i in 0..1 { let a = ? }", True),
        ("if 1 > 0 { let a = ? }", True),
        ("if 1 > 0 { let b = 1 } else { let a = ? }", True),
        ("if 1 > 0 { let b = 1 } else if 2 > 1 { let a = ? }", True),
        ("pod p { let a = ? }", False),
        ("if 1 > 0 { let b = 1 }", False),
        ("for i in 0..1 { let a = 2 }", False),
        ("let a = ?\nlet b = 3\nswitch s[2]: S", False),
    ],
)
def test_branching(text: str, expected: bool) -> None:
    """An unknown is the value of a ``let``, and there is an ``if`` or a ``for``, in whichever blocks."""
    assert structure_rests_on_holes(block(text)) is expected
