"""What every name of a text stands for, where it is used in other files, and which new names are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.source import SourceSpan
from tdsl.ide.rename import RenameIndex, RenameRefused
from tdsl.ide.scopes import Name
from tests.lsp.test_names import HOUSE

MORE = """\
use house (TOR as LEAF, half as h2, star)
param w: int = 3 where w > 2
let kind: model = LEAF
topology grid(ends: ports, hub: model, n: int = w, how: pattern = each) {
  tier low of n hosts { switch hub; cable "MCP7Y00" }
  tier top of 2 low by rail { switch hub x 2 }
  let m = [n + z for z in 0..n]
  if n > 1 { switch extra: hub } else { switch extra[2]: kind }
  connect ends[i] to extra[i % 2] how
  require links of extra <= n
}
cluster c {
  param size: int = 2
  group g[2] {
    host a[size]: BOX
    numa x { chip gpu[0] }
  }
  extend g { switch s: kind; connect a[i].nic[j] to s.p[first] where i < j }
  fabric f {
    let n = size
    planes 2
    hosts n x BOX
    grid { hub LEAF; n 2; how ring; tier low of 3 hosts { switch kind } }
    connect host[*] to low each { length "{n}m"; class how }
    address low loopback from "10.0.{n}.0/24"
    routing bgp { asn low from w }
    partition p { full host }
    naming low[i] "{fabric}-{i}-{n}"
    place low in hall
    phase 2 { size 3 }
    require survives any n of low, plane with links of low >= min(n, w)
    circuit host to low via top
    override low: kind { asn n }
    for t in 0..n { switch q[t]: kind; connect q[t] to low }
  }
}
extend c.f { omit low[i] where i > w; connect g.a }
extend c.g { switch r: LEAF }
"""
TABLE = """\
1 house=file house:1!; TOR=model house:1; LEAF=another name of the model more:1; half=def house:7;
    h2=another name of the def more:1; star=topology house:8
2 w=param more:2; w=param more:2
3 kind=let more:3; LEAF=another name of the model more:1
4 grid=topology more:4; ends=parameter more:4; hub=parameter more:4; n=parameter more:4; w=param more:2;
    how=parameter more:4
5 low=tier more:5; n=parameter more:4; hub=parameter more:4
6 top=tier more:6; low=tier more:5; hub=parameter more:4
7 m=let more:7; n=parameter more:4; z=loop variable more:7; z=loop variable more:7; n=parameter more:4
8 n=parameter more:4; extra=switch more:8|switch more:8; hub=parameter more:4; extra=switch more:8|switch more:8;
    kind=let more:3
9 ends=parameter more:4; i=index variable more:9; extra=switch more:8|switch more:8; i=index variable more:9;
    how=parameter more:4
10 extra=switch more:8|switch more:8; n=parameter more:4
12 c=cluster more:12
13 size=param more:13
14 g=group more:14
15 a=host more:15; size=param more:13
16 x=numa more:16
18 g=group more:14; s=switch more:18; kind=let more:3; a=host more:15; i=index variable more:18;
    j=index variable more:18; s=switch more:18; p=port house:3; first=index variable more:18; i=index variable more:18;
    j=index variable more:18
19 f=fabric more:19
20 n=let more:20; size=param more:13
21 planes=plane more:21!
22 hosts=host more:22!; n=let more:20
23 grid=topology more:4; hub=parameter more:4; LEAF=another name of the model more:1; n=parameter more:4;
    how=parameter more:4; low=tier more:23; kind=let more:3
24 host=host more:22!; low=tier more:23; n=let more:20
25 low=tier more:23; n=let more:20
26 low=tier more:23; w=param more:2
27 host=host more:22!
28 low=tier more:23; i=index variable more:28; fabric=fabric more:19!; i=index variable more:28; n=let more:20
29 low=tier more:23
31 n=let more:20; low=tier more:23; plane=plane more:21!; low=tier more:23; n=let more:20; w=param more:2
32 host=host more:22!; low=tier more:23
33 low=tier more:23; kind=let more:3
34 t=loop variable more:34; n=let more:20; q=switch more:34; t=loop variable more:34; kind=let more:3;
    q=switch more:34; t=loop variable more:34; low=tier more:23
37 c=cluster more:12; f=fabric more:19; low=tier more:23; i=index variable more:37; i=index variable more:37;
    w=param more:2; g=group more:14; a=host more:15
38 c=cluster more:12; g=group more:14; r=switch more:38; LEAF=another name of the model more:1
"""
"""For each line of the text its names: what each is, file and line where it is declared, ``!`` where it cannot be renamed."""


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
    assert "\n".join(f"{n} {'; '.join(words)}" for n, words in lines.items()) + "\n" == TABLE.replace(";\n    ", "; ")


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


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        ("|cluster", "there is no name here that a design declares"),
        ("hosts |n", ""),
        ("|hosts n", "`host` is the name that `hosts` gives, and cannot be changed"),
        ("|planes 2", "`plane` is the name that `planes` gives, and cannot be changed"),
        ("{|fabric}", "`fabric` is a predefined name of the language, and cannot be changed"),
    ],
)
def test_names_that_cannot_be_changed(folder: Path, mark: str, why: str) -> None:
    index = RenameIndex((folder,))
    if not why:
        assert index.renamed(*at(folder, mark)).text == "n"
        return
    with pytest.raises(RenameRefused) as refused:
        index.renamed(*at(folder, mark))
    assert str(refused.value) == why


def test_a_name_of_the_library(folder: Path) -> None:
    (folder / "more.fab").write_text("fabric f { switch a: QM9700 }\n")
    with pytest.raises(RenameRefused) as refused:
        RenameIndex((folder,)).renamed(*at(folder, "Q|M9700"))
    where = "stdlib:hardware/nvidia/qm9700.fab"
    assert str(refused.value) == f"`QM9700` is declared in {where}, the standard library, which is not yours to change"


@pytest.mark.parametrize(
    ("mark", "new", "why"),
    [
        ("let m|", "", "`` is not a name: letters, digits and `_` make one, and it begins with no digit"),
        ("let |m", "4a", "`4a` is not a name: letters, digits and `_` make one, and it begins with no digit"),
        (
            "let |m",
            "a b",
            "`a b` is not a name: letters, digits and `_` make one, and it begins with no digit",
        ),
        ("let |m", " a", "` a` is not a name: letters, digits and `_` make one, and it begins with no digit"),
        (
            "let |m",
            "a.b",
            "`a.b` is not a name: letters, digits and `_` make one, and it begins with no digit",
        ),
        ("h|ub: model", "hosts", "fabrics fill `hosts` by its name, so another parameter cannot have it"),
        ("let |m", "z", None),
        ("group |g", "gg", [(14, 9), (18, 10), (37, 47), (38, 10)]),
        ("group |g", "g", [(14, 9), (18, 10), (37, 47), (38, 10)]),
        ("group |g", "f", "`f` has another meaning already, at line 12 of `more.fab`"),
        ("let |kind", "w", "`w` has another meaning already, at line 2 of `more.fab`"),
    ],
)
def test_new_names(folder: Path, mark: str, new: str, why: str | list[tuple[int, int]] | None) -> None:
    index = RenameIndex((folder,))
    if isinstance(why, str):
        with pytest.raises(RenameRefused) as refused:
            index.edits(*at(folder, mark), new)
        assert str(refused.value) == why
    else:
        found = index.edits(*at(folder, mark), new)
        assert [s.begin for s in found] == (why or [(7, 7)])


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
