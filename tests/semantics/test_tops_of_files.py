"""The fabrics that a file declares or takes from elsewhere, what stands outside of them, and how files are found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.expand import _parameter_edits, _replacement_edit
from tdsl.semantics.fabrics import IMPORTS, declared_fabrics, lies_in_other_fabric
from tdsl.semantics.fault import Fault
from tdsl.semantics.library import Library, Linked
from tdsl.semantics.loader import Loader, declared_in
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file
from tdsl.system import resources

Found = list[tuple[str, str, str, str]]


def fabrics(folder: Path, main: str, **others: str) -> tuple[list[str], Found, Diagnostics, Linked]:
    """Names of the fabrics of a file, its findings and its names."""
    for name, text in {"main": main, **others}.items():
        (folder / f"{name}.fab").write_text(text, encoding="utf-8")
    found = Diagnostics()
    library = Library(Loader(found), found)
    module = library.loader.read(folder / "main.fab")
    assert module is not None
    home = library.link(module)
    names = [d.member.node.name.name for d in declared_fabrics(library, home, found)]
    return names, [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found], found, home


EMPTY = "fabric f { }\n"
INIT = "`tdsl init` writes a design to start from; `use FILE (FABRIC)` takes one from another file"
BRACES = "put it between the braces of `fabric NAME { … }`"


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("fabric f { }\nfabric g { }", ["f", "g"], []),
        ("cluster c { fabric a { }\nfabric b { } }\nfabric f { }", ["a", "b", "f"], []),
        ("language 1\nfabric f { }", ["f"], []),
        ("use other (o)", ["o"], []),
        ("use other (o)\nfabric f { }", ["f"], []),
        ("use other (o)\nextend o { }", ["o"], []),
        ("use other (o)\nfabric f { }\nextend o { }\nextend f { }\nextend o { }", ["f", "o"], []),
        ("\n\n  let a = 1\n", [],
         [("E0122", "let a = 1", "this file declares no fabric, so there is nothing to check", INIT)]),
        ("model switch S { port p: any }\nlet a = 1", [],
         [("E0122", "model switch S { port p: any }",
           "this file declares no fabric, so there is nothing to prove; what others use of it was checked", INIT)]),
        ("def f(x: int) = x", [],
         [("E0122", "def f(x: int) = x",
           "this file declares no fabric, so there is nothing to prove; what others use of it was checked", INIT)]),
        ("language 2\nfabric f { }", ["f"],
         [("E0120", "language 2", "this tdsl reads version 1 of the language", "write `language 1`")]),
        ("language\nfabric f { }", ["f"],
         [("E0120", "language", "this tdsl reads version 1 of the language", "write `language 1`")]),
        ("language 1 x\nfabric f { }", ["f"],
         [("E0120", "language 1 x", "this tdsl reads version 1 of the language", "write `language 1`")]),
        ("language 1, 1\nfabric f { }", ["f"],
         [("E0120", "language 1, 1", "this tdsl reads version 1 of the language", "write `language 1`")]),
        ("language 1 { }\nfabric f { }", ["f"],
         [("E0120", "language 1 { }", "this tdsl reads version 1 of the language", "write `language 1`")]),
        (EMPTY + "extend g { }", ["f"], [("E0101", "g", "there is no fabric `g` here", "known here: `f`")]),
        (EMPTY + "let g = 1\nextend g { }", ["f"], [("E0101", "g", "there is no fabric `g` here", "known here: `f`")]),
        ("cluster c { fabric a { } }\nextend c { }", ["a"],
         [("E0120", "c", "this adds to a fabric, not to a cluster", "write it inside the cluster")]),
        (EMPTY + "rails 8", ["f"], [("E0118", "rails 8", "`rails` is outside any fabric", BRACES)]),
        (EMPTY + "rails 8\nhosts 4 x H", ["f"],
         [("E0118", "rails 8", "`rails` and 1 more statement are outside any fabric", BRACES)]),
        (EMPTY + "switch a: S\nrails 8\nhosts 4 x H", ["f"],
         [("E0118", "switch a: S", "`switch` and 2 more statements are outside any fabric", BRACES)]),
        (EMPTY + "connect a to b", ["f"], [("E0118", "connect a to b", "`connect` is outside any fabric", BRACES)]),
        (EMPTY + "import x", ["f"], [("E0118", "import x", "`import` is outside any fabric", IMPORTS)]),
        (EMPTY + "fabrik g", ["f"],
         [("E0002", "fabrik", "no statement begins with `fabrik`; did you mean `fabric`?", "write `fabric`")]),
        ("fabric f\nrails 8\nhosts 4 x H", ["f"],
         [("E0118", "fabric f", "a `{` is missing: `rails` and what follows are not in its block",
           "write `fabric f {`, and `}` at its end")]),
        ("rails 8\nfabric f", ["f"], [("E0118", "rails 8", "`rails` is outside any fabric", BRACES)]),
    ],
)  # fmt: skip
def test_fabrics_of_a_file(text: str, names: list[str], expected: Found, tmp_path: Path) -> None:
    assert fabrics(tmp_path, text, other="fabric o { }\nfabric p { }\n")[:2] == (names, expected)


def test_how_severe_it_is_to_have_no_fabric(tmp_path: Path) -> None:
    """A file that lends models, topologies or functions is no design; one of values alone is a wrong one."""
    for text, severity in (("let a = 1", Severity.ERROR), ("topology t() { }", Severity.NOTE), ("def f() = 1", Severity.NOTE)):
        _, _, found, _ = fabrics(tmp_path, text)
        assert [(d.code, d.severity) for d in found] == [("E0122", severity)]


def test_the_brace_that_is_missing_can_be_put(tmp_path: Path) -> None:
    """With a `}` at the end that closes nothing, both are one fault, which is mended in one place."""
    _, found, all_found, _ = fabrics(tmp_path, "fabric f  \nrails 8\n}\n")
    ((code, under, message, help),) = found
    assert (code, under.strip(), help) == ("E0118", "fabric f", "write `fabric f {`")
    assert message == "a `{` is missing: `rails` and what follows are not in its block"
    (d,) = list(all_found)
    assert d.fix is not None and d.fix.title == "put `{`"
    assert [(span.start, span.end, new) for span, new in d.fix.edits] == [(8, 8, " {")]


def test_a_word_that_is_nearly_known_is_not_replaced_unasked(tmp_path: Path) -> None:
    _, _, found, _ = fabrics(tmp_path, EMPTY + "fabrik g\n")
    (d,) = list(found)
    assert d.fix is not None and d.fix.safe is False and [(span.text, new) for span, new in d.fix.edits] == [("fabrik", "fabric")]


def test_a_place_in_another_fabric(tmp_path: Path) -> None:
    text = "fabric f { let a = 1 }\ncluster c { fabric g { let b = 2 }\nlet d = 4 }\nlet e = 5\n"
    *_, home = fabrics(tmp_path, text)
    file = home.module.file

    def at(part: str) -> SourceSpan:
        start = text.index(part)
        return SourceSpan(file, start, start + len(part))

    for part, of in (("let a = 1", {"f"}), ("let b = 2", {"g"}), ("let d = 4", {"f", "g"}), ("let e = 5", {"f", "g"})):
        assert {name for name in ("f", "g") if not lies_in_other_fabric(home, name, at(part))} == of, part
    assert lies_in_other_fabric(home, "g", at("fabric f { let a = 1 }")) and not lies_in_other_fabric(
        home, "f", at("fabric f { let a = 1 }")
    )
    assert not lies_in_other_fabric(None, "f", at("let a = 1")) and not lies_in_other_fabric(home, "f", None)
    assert not lies_in_other_fabric(home, "g", SourceSpan(SourceFile("other.fab", text), 11, 20))


# ------------------------------------------------------------ files
def use(text: str) -> tree.Use:
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", text + "\n"), found).body
    assert isinstance(s, tree.Use) and not list(found)
    return s


def test_where_files_are_looked_for(tmp_path: Path) -> None:
    """First in the own folder, then in those given, then in the standard library; a file before a folder of its name."""
    own, given = tmp_path / "own", tmp_path / "given"
    for path in (own / "a.fab", own / "a" / "x.fab", own / "d" / "z.fab", own / "d" / "y.fab", given / "a.fab", given / "b.fab"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("let a = 1\n")
    (own / "d" / "note.txt").write_text("no design")
    (own / "d" / "folder.fab").mkdir()
    loader = Loader(Diagnostics(), (given,))
    assert loader.roots(own)[:2] == [own, given] and loader.roots(own)[2] == resources.packaged_folder("stdlib")
    assert loader.find(use("use a (n)"), own) == [own / "a.fab"]
    assert loader.find(use("use b (n)"), own) == [given / "b.fab"]
    assert sorted(loader.find(use("use d (n)"), own)) == [own / "d" / "y.fab", own / "d" / "z.fab"]
    assert loader.find(use("use a.x (n)"), own) == [own / "a" / "x.fab"]
    assert all(p.is_relative_to(resources.packaged_folder("stdlib")) for p in loader.find(use("use cables (n)"), own))
    with pytest.raises(Fault) as fault:
        loader.find(use("use a.bx (n)"), own)
    d = fault.value.diagnostic
    assert (d.code, d.span and d.span.text, d.message) == (
        "E0112", "a.bx", "there is no file `a/bx.fab` and no folder `a/bx` to use",
    )  # fmt: skip
    assert d.notes == ("looked in the folder of this file, 1 folders given by --path, and the standard library",)


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_link_out_of_the_folders(tmp_path: Path) -> None:
    own, away = tmp_path / "own", tmp_path / "away"
    own.mkdir()
    away.mkdir()
    (away / "a.fab").write_text("let a = 1\n")
    (own / "b.txt").write_text("let a = 1\n")
    (own / "a.fab").symlink_to(away / "a.fab")
    (own / "b.fab").symlink_to(own / "b.txt")
    for name in ("a", "b"):
        with pytest.raises(Fault) as fault:
            Loader(Diagnostics()).find(use(f"use {name} (n)"), own)
        d = fault.value.diagnostic
        assert (d.code, d.span and d.span.text) == ("E0112", name)
        assert d.message == f"`{(own / f'{name}.fab').as_posix()}` is a link out of the folders that are searched"
        assert d.help == "put the file itself there, or give the folder that holds it with `--path`"
    assert Loader(Diagnostics(), (away,)).find(use("use a (n)"), own) == [own / "a.fab"]


def test_designs_by_path_and_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.fab").write_text(EMPTY)
    loader = Loader(Diagnostics(), overlay={"buffer.fab": EMPTY})
    assert loader.design(str(tmp_path / "mine.fab")) == tmp_path / "mine.fab"
    assert loader.design("buffer.fab") == Path("buffer.fab")
    standard = sorted((resources.packaged_folder("stdlib") / "designs").glob("*.fab"))
    assert loader.design(standard[0].stem) == standard[0]
    for name in ("no_such_design", f"../designs/{standard[0].stem}", f"{standard[0].stem}.fab"):
        assert loader.design(name) is None
    assert loader.shown(standard[0]) == f"stdlib:designs/{standard[0].name}"
    assert loader.shown(tmp_path / "mine.fab", "given") == "given"
    assert loader.shown(tmp_path / "mine.fab") == (tmp_path / "mine.fab").as_posix()


def test_a_file_is_read_once_and_reported_once_a_compilation(tmp_path: Path) -> None:
    path = tmp_path / "a.fab"
    path.write_text("fabric f {\n")
    first, second = Diagnostics(), Diagnostics()
    loader = Loader(first)
    module = loader.read(path)
    assert module is not None and loader.read(path) is module and len(list(first)) == 1
    other = Loader(second, parsed=loader.parsed)
    assert other.read(path) is module and [d.message for d in second] == [d.message for d in first]
    assert (module.folder, module.key) == (tmp_path, str(path.resolve()))
    seen = Loader(Diagnostics(), overlay={str(path.resolve()): EMPTY}).read(path)
    assert seen is not None and seen.file.text == EMPTY


def test_names_that_a_file_seems_to_declare(tmp_path: Path) -> None:
    path = tmp_path / "a.fab"
    path.write_text(
        "model switch A {\n  model host B { }\n}\n topology t() { }\nfabric f { }\ncluster c { }\ndef d() = 1\n"
        "let e = 1\n# fabric g\n"
    )
    assert declared_in(path) == ["A", "B", "t", "f", "c", "d", "e"]
    assert declared_in(tmp_path / "absent.fab") == []
    path.write_bytes(b"fabric f { }\xff\n")
    assert declared_in(path) == []


# ------------------------------------------------------------ expanded texts
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n  GONE\nb\n", "a\nb\n"),
        ("a\n  GONE ;  \nb\n", "a\nb\n"),
        ("a; GONE\nb\n", "a; \nb\n"),
        ("a; GONE; b\n", "a; b\n"),
        ("  GONE; b\n", "  b\n"),
        ("GONE", ""),
        ("a\nGONE", "a\n"),
        ("GONE\n\nb", "\nb"),
        ("a\n\t GONE # why\nb\n", "a\n\t # why\nb\n"),
    ],
)
def test_a_statement_for_which_nothing_stands(text: str, left: str) -> None:
    """Its line goes with it where nothing else is on it."""
    file = SourceFile("t.fab", text)
    span = SourceSpan(file, text.index("GONE"), text.index("GONE") + 4)
    start, end, new = _replacement_edit(file, span, "")
    assert text[:start] + new + text[end:] == left
    assert _replacement_edit(file, span, "new") == (span.start, span.end, "new")


def test_parameters_at_other_values() -> None:
    text = (
        'param a: int = 1\nparam b: string = "x"\nparam c: string = "y"\nparam d: int = 4\n'
        "fabric f { param a: int = 7; param e: bool = false\ngroup g { let a = 2 } }\n"
    )
    found = Diagnostics()
    body = parse_source_file(SourceFile("t.fab", text), found).body
    assert not list(found)
    edits = _parameter_edits(body, {"a": "3", "b": "say so", "c": '"z"', "e": "true"}, {})
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    assert text == (
        'param a: int = 3\nparam b: string = "say so"\nparam c: string = "z"\nparam d: int = 4\n'
        "fabric f { param a: int = 3; param e: bool = true\ngroup g { let a = 2 } }\n"
    )
