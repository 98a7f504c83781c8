"""What every name of a text stands for, where it is used in other files, and which new names are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.source import SourceSpan
from tdsl.ide.rename import RenameIndex, RenameRefused
from tdsl.ide.scopes import Name
from tests.lsp.test_names import HOUSE
from tests.tables import sections

MORE, NAMES = sections(__file__)["more"], sections(__file__)["names"]
"""A text, and for each of its lines its names: what each is, file and line where it is declared, ``!`` where it is fixed."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "house.fab").write_text(HOUSE)
    (tmp_path / "more.fab").write_text(MORE)
    return tmp_path


def stands(n: Name) -> str:
    return f"{n.what} {Path(n.place.file.name).stem}:{n.place.begin[0]}{'!' if n.fixed else ''}"


def test_every_name(folder: Path) -> None:
    names = RenameIndex((folder,)).names(folder / "more.fab")
    assert names is not None
    lines: dict[int, list[str]] = {}
    for (start, end), meant in sorted(names.found.items()):
        lines.setdefault(names.file.position(start)[0], []).append(f"{names.file.text[start:end]}={'|'.join(map(stands, meant))}")
    assert "\n".join(f"{n} {'; '.join(words)}" for n, words in lines.items()) + "\n" == NAMES.replace(";\n    ", "; ")


def at(folder: Path, mark: str, name: str = "more.fab") -> tuple[Path, int]:
    """The file, and where the ``|`` of a mark stands in it."""
    path = folder / name
    return path, path.read_text().index(mark.replace("|", "")) + mark.index("|")


def lines_of(spans: list[SourceSpan]) -> list[tuple[str, int, int]]:
    return [(Path(s.file.name).name, *s.begin) for s in spans]


def test_where_a_name_is_used(folder: Path) -> None:
    index = RenameIndex((folder,))
    assert lines_of(index.references(*at(folder, "host B|OX", "house.fab"))) == [
        ("house.fab", 5, 12)
    ]  # the other file does not use it
    found = lines_of(index.references(*at(folder, "group |g")))
    assert found == [("more.fab", 14, 9), ("more.fab", 18, 10), ("more.fab", 37, 47), ("more.fab", 38, 10)]
    assert lines_of(index.references(*at(folder, "group |g"), declared=False)) == found[1:]
    used = lines_of(index.references(*at(folder, "def ha|lf", "house.fab")))
    assert used[0] == ("house.fab", 7, 5) and {name for name, *_ in used} == {"house.fab", "more.fab"} and len(used) == 2
    assert index.references(*at(folder, "|cluster")) == index.references(folder / "none.fab", 0) == []


NO_NAME = "`{}` is not a name: letters, digits and `_` make one, and it begins with no digit"
FIXED = "`{}` is the name that `{}` gives, and cannot be changed"


@pytest.mark.parametrize(
    ("mark", "new", "why"),
    [
        ("|cluster", "z", "there is no name here that a design declares"),
        ("|hosts n", "z", FIXED.format("host", "hosts")),
        ("|planes 2", "z", FIXED.format("plane", "planes")),
        ("{|fabric}", "z", "`fabric` is a predefined name of the language, and cannot be changed"),
        ("let m|", "", NO_NAME.format("")),
        ("let |m", "4a", NO_NAME.format("4a")),
        ("let |m", "a b", NO_NAME.format("a b")),
        ("let |m", " a", NO_NAME.format(" a")),
        ("let |m", "a.b", NO_NAME.format("a.b")),
        ("h|ub: model", "hosts", "fabrics fill `hosts` by its name, so another parameter cannot have it"),
        ("group |g", "f", "`f` has another meaning already, at line 12 of `more.fab`"),
        ("let |kind", "w", "`w` has another meaning already, at line 2 of `more.fab`"),
    ],
)
def test_names_that_are_refused(folder: Path, mark: str, new: str, why: str) -> None:
    with pytest.raises(RenameRefused) as refused:
        RenameIndex((folder,)).edits(*at(folder, mark), new)
    assert str(refused.value) == why


def test_new_names(folder: Path) -> None:
    index = RenameIndex((folder,))
    assert index.renamed(*at(folder, "hosts |n")).text == "n"
    assert [s.begin for s in index.edits(*at(folder, "let |m"), "z")] == [(7, 7)]
    for new in ("gg", "g"):
        assert [s.begin for s in index.edits(*at(folder, "group |g"), new)] == [(14, 9), (18, 10), (37, 47), (38, 10)]
    (folder / "more.fab").write_text("fabric f { switch a: QM9700 }\n")
    with pytest.raises(RenameRefused) as refused:
        RenameIndex((folder,)).renamed(*at(folder, "Q|M9700"))
    where = "stdlib:hardware/nvidia/qm9700.fab"
    assert str(refused.value) == f"`QM9700` is declared in {where}, the standard library, which is not yours to change"


def test_a_file_with_a_fault_is_not_renamed_in(folder: Path) -> None:
    (folder / "third.fab").write_text("use more (w)\n\nfabric x { let a = w w }\n")
    with pytest.raises(RenameRefused) as refused:
        RenameIndex((folder,)).edits(*at(folder, "param |w"), "v")
    assert str(refused.value) == "`third.fab` has a fault of syntax at line 3, so what it means by `w` is not known: fix it first"


def test_files_that_may_see_a_name_of_a_search_path(folder: Path) -> None:
    """What lies on a search path may be named by every file with the word in it; all else only by those that read it."""
    library, other = folder / "library", folder / "other"
    library.mkdir()
    other.mkdir()
    (library / "parts.fab").write_text("let part = 3\n")
    (folder / "word.fab").write_text("# part\nlet a = 1\n")
    for paths, seen in (((library, other), True), ((other,), False), ((), False)):
        index = RenameIndex((folder,), paths)
        names = index.names(library / "parts.fab")
        assert names is not None
        wanted = [n for meant in names.found.values() for n in meant]
        assert [n.name for n in wanted] == ["part"]
        files = [p.name for p in index.concerned(wanted, library / "parts.fab", "part")]
        assert files == (["parts.fab", "word.fab"] if seen else ["parts.fab"])
