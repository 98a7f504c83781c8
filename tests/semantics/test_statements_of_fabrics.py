"""Statements of a fabric's block: declarations, values, loops, branches and extensions, with every field of what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.semantics import planner
from tests.harness import compile_text, fabric_of, links_of, refused

Refused = tuple[str, str, str, str, list[str]]
"""Code, text that is underlined, message, help and labels."""


def errors(text: str, folder: Path, **options: object) -> list[Refused]:
    found = [d for d in compile_text(text, folder, verify=False, **options).findings if d.severity.name == "ERROR"]  # type: ignore[arg-type]
    return [
        (d.code, d.span.text if d.span else "", d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels])
        for d in found
    ]  # fmt: skip


TWICE = "`a` is already declared in this block"
OTHER = "give one of them another name, such as `a_2`"
LAYER = "a fabric's layer is `scaleup`, or not written"

CASES: list[tuple[str, list[Refused]]] = [
    ("group a { switch b[2]: SW; connect b[*] each }", [("E0104", "a", TWICE, OTHER, ["a: first here"])]),
    ("group g { switch b[2]: SW; connect b[*] each }; switch g: SW",
     [("E0104", "g", TWICE.replace("`a`", "`g`"), OTHER.replace("a_2", "g_2"), ["g: first here"])]),
    ('switch b "title": SW; connect b to a[0]',
     [("E0120", '"title"', "a device has no title", "models and fabrics have titles; `naming` names devices", [])]),
    ("switch b; connect b to a[0]", [("E0120", "switch b", "`b` has no model", "write `switch b: MODEL`", [])]),
    ('switch b: "SW"; connect b to a[0]',
     [("E0120", 'switch b: "SW"', "`b` has no model", "the name of a model is written without quotes", [])]),
    ("switch b: BOX; connect b to a[0]",
     [("E0102", "BOX", "BOX is a host, not a switch", "write `host b`, or name a switch's model", ["BOX: declared here"])]),
    ("host b[3]: BOX { spares 3 }; connect b to a[0]",
     [("E0120", "host b[3]: BOX { spares 3 }", "3 of 3 `b` are spares, so none is left", "`spares 1`", [])]),
    ("host b: BOX { spares 1 }; connect b to a[0]",
     [("E0120", "host b: BOX { spares 1 }", "1 of 1 `b` are spares, so none is left", "`spares 1`", [])]),
    ("host b[2x3]: BOX { spares 3 }; connect b[*] each",
     [("E0120", "host b[2x3]: BOX { spares 3 }", "3 of 3 `b` are spares, so none is left", "`spares 1`", [])]),
    ("group g[2]: SW { }", [("E0120", "SW", "a group has a block, not a model", "write `group g[…] { … }`", [])]),
    ("let x = 3 where x > 3; connect a[0] to a[1] x x",
     [("E0110", "3", "`x` is 3, which its guard rules out", "", ["x > 3: this must hold"])]),
    ("let x = 3 where x > 3", [("E0110", "3", "`x` is 3, which its guard rules out", "", ["x > 3: this must hold"])]),
    ("let x: string = 3", [("E0103", "3", "this must be of type string and is an int", "", ["string: asked for here"])]),
    ("minimize switches; minimize switches",
     [("E0120", "minimize switches", "a fabric's own block says once what is made least", "`minimize power`", [])]),
    ("group g { minimize switches; switch b[2]: SW; connect b[*] each }",
     [("E0120", "minimize switches", "a fabric's own block says once what is made least", "`minimize power`", [])]),
    ("group g { roce { }; switch b[2]: SW; connect b[*] each }",
     [("E0118", "roce { }", "`roce` belongs in the fabric's own block",
       "it is said once, for all devices: `fabric f { roce … }`", [])]),
    ("group g { routing bgp; switch b[2]: SW; connect b[*] each }",
     [("E0118", "routing bgp", "`routing` belongs in the fabric's own block",
       "it is said once, for all devices: `fabric f { routing … }`", [])]),
    ("roce { dscp 3 }; roce { dscp 4 }",
     [("E0104", "roce { dscp 4 }", "`roce` is given twice", "", ["roce { dscp 3 }: first here"])]),
    ("routing bgp; routing bgp { bfd }",
     [("E0104", "routing bgp { bfd }", "`routing` is given twice", "", ["routing bgp: first here"])]),
    ("layer network", [("E0120", "layer network", LAYER, "write `layer scaleup`, or leave the line out", [])]),
    ("extend a { connect a[0] to a[1] }",
     [("E0120", "a", "extend adds to a group or a fabric, and this is a device", "", [])]),
    ("for i in 3 { connect a[0] to a[1] }", [("E0103", "3", "expected a range or a list, found an int", "write `0..n - 1`", [])]),
    ("if 3 { connect a[0] to a[1] }", [("E0103", "3", "expected a bool, found an int", "compare it: `n > 0`", [])]),
    ("group g[2] { phase 2 { x 3 }; switch b[2]: SW; connect b[*] each }",
     [("E0118", "phase 2 { x 3 }", "`phase` belongs in the fabric's own block", "move it out of these braces", [])]),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), CASES, ids=[c[0] for c in CASES])
def test_what_is_refused(statement: str, expected: list[Refused], tmp_path: Path) -> None:
    """All errors, with their places, help and labels."""
    text = f"fabric f {{\n  switch a[4]: SW\n  connect a[*] ring\n  {statement}\n}}\n"
    assert errors(text, tmp_path) == expected


def test_errors_of_a_loop_name_its_value(tmp_path: Path) -> None:
    """The places of a chain: the loop, the branch and the extension that a statement stands in."""
    text = "fabric f {\n  switch a[4]: SW\n  connect a[*] ring\n  for i in [5, 7] { if i > 6 { connect a[i] to a[0] } }\n}\n"
    ((code, at, _, _, labels),) = errors(text, tmp_path)
    assert (code, at) == ("E0108", "i")
    assert labels[-2:] == ["i: for i = 7", "i > 6: because this holds"]
    text = "fabric f {\n  group g[2] { switch a[4]: SW; connect a[*] ring }\n}\nextend f.g[1] { connect a[0] to a[4] }\n"
    ((code, at, _, _, labels),) = errors(text, tmp_path)
    assert (code, at) == ("E0108", "4") and labels[-1] == "f.g[1]: added by this extend"


@pytest.mark.parametrize(("limit", "fits"), [(10, False), (11, True)])
def test_the_most_devices(limit: int, fits: bool, tmp_path: Path) -> None:
    """All declarations together, rows of groups included."""
    group = "group g[2] { switch b[3]: SW; connect b[*] ring }"
    text = f"fabric f {{\n  switch a[4]: SW\n  {group}\n  switch c: SW\n  connect a[*] ring\n}}\n"
    help = "raise it with `--limit-devices`, if that many are meant"
    said = "with this the design has 11 devices or groups; the limit is 10"
    found = [e for e in errors(text, tmp_path, max_devices=limit) if e[0] == "E0116"]
    assert found == ([] if fits else [("E0116", "switch c: SW", said, help, [])])


def test_the_most_groups(tmp_path: Path) -> None:
    text = "fabric f {\n  switch a[4]: SW\n  group g[3] { group d[4] { let x = 3 } }\n  connect a[*] ring\n}\n"
    help = "raise it with `--limit-devices`, if that many are meant"
    assert errors(text, tmp_path, max_devices=12) == []
    assert errors(text, tmp_path, max_devices=11) == [
        ("E0116", "group d[4] { let x = 3 }", "with this the design has 12 devices or groups; the limit is 11", help, [])
    ]


@pytest.mark.parametrize(("limit", "fits"), [(39, False), (40, True)])
def test_the_most_ports(limit: int, fits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four switches of eight ports and one of eight."""
    monkeypatch.setattr(planner, "PORT_LIMIT", limit)
    text = "fabric f {\n  switch a[4]: SW\n  switch c: SW\n  connect a[*] ring\n  connect c to a[0]\n}\n"
    found = [e for e in errors(text, tmp_path) if e[0] == "E0116"]
    assert found == ([] if fits else [("E0116", "switch c: SW", "with this the design has 40 ports; the limit is 39", "", [])])


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        ("connect a[k + 0] to a[2]; let k = j + 1; let j = 0", "connect a[1] to a[2]"),
        ("for i in 0..2 { let j = i + 1; connect a[i + 0] to a[j + 0] }", "connect a[i] to a[j] where j == i + 1"),
        ("let k = 2; if k == 1 { connect a[0] to a[1] } else if k == 2 { let m = 3; connect a[0] to a[m + 0] }",
         "connect a[0] to a[3]"),
        ("let k = 3; if k == 1 { connect a[0] to a[1] } else { connect a[0] to a[2] }", "connect a[0] to a[2]"),
        ("def k(x: int): int = x + 1; connect a[k(0)] to a[k(1)]", "connect a[1] to a[2]"),
        ("group g[2] { let k = 1; switch b[2]: SW; connect b[0] to b[k + 0] }",
         "group g[2] { switch b[2]: SW; connect b[0] to b[1] }"),
        ("group g[2] { switch b[2]: SW }; extend g[1] { connect b[0] to b[1] x 2 }; extend g { connect b[0] to a[0] }",
         "group g[2] { switch b[2]: SW; connect b[0] to a[0] }; connect g[1].b[0] to g[1].b[1] x 2"),
    ],
)  # fmt: skip
def test_blocks_and_what_they_mean(body: str, plain: str, tmp_path: Path) -> None:
    """Values in any order, of loops, branches and groups; extensions of one instance or of all."""
    made, written = (
        fabric_of(f"fabric f {{\n  switch a[4]: SW\n  connect a[*] ring\n  {x}\n}}\n", tmp_path) for x in (body, plain)
    )
    devices = [sorted(tuple(sorted(p.rpartition(".")[0] for p in pair)) for pair in links_of(f)) for f in (made, written)]
    assert devices[0] == devices[1]


def test_extensions_of_other_files(tmp_path: Path) -> None:
    """Statements at the top of a file that add to a fabric, or replace models."""
    text = (
        "fabric f {\n  switch a[4]: SW\n  connect a[*] ring\n}\n"
        "extend f { switch b: BIG; connect b to a[2] }\noverride f.a[1]: FAST\n"
    )
    fabric = fabric_of(text, tmp_path)
    assert [s.name for s in fabric.sets] == ["a", "b"]
    assert fabric.device_count == 5 and len(links_of(fabric)) == 5
    assert [fabric.models[int(m)].name for m in fabric.device_model] == ["SW", "FAST", "SW", "SW", "BIG"]
    assert errors(f"{text}override f: FAST\n", tmp_path) == [("E0120", "f", "an override names devices, not a fabric", "", [])]


@pytest.mark.parametrize("of", ["x.y", "x[1]", "x[0].y"])
def test_the_model_of_a_device_is_one_name(of: str, tmp_path: Path) -> None:
    text = f"fabric f {{\n  host a[2]: {of}\n  switch s[2]: SW\n  connect s[*] each\n}}\n"
    refused(text, ("", "E0120", f"host a[2]: {of}", "`a` has no model", "write `host a: MODEL`"), tmp_path)
