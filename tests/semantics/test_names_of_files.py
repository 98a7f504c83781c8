"""What names at the top of files mean: those of other files, models of the catalogue, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.library import Library, Linked
from tdsl.semantics.loader import Loader
from tdsl.semantics.values import FunctionValue

Found = list[tuple[str, str, str, str]]
AT = SourceSpan(SourceFile("t.fab", "x"), 0, 1)
SW = "model switch SW { port p[8]: 400Gbps }"


def linked(folder: Path, **files: str) -> tuple[Library, Linked, Found]:
    """Files `NAME.fab` of a folder, of which `main` is linked: its names and the findings, before its models are built."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.fab"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    found = Diagnostics()
    library = Library(Loader(found), found)
    module = library.loader.read(folder / "main.fab")
    assert module is not None
    home = library.link(module)
    return library, home, reported(found)


def reported(found: Diagnostics) -> Found:
    return [(d.code, d.span.text if d.span else "", d.message, d.help) for d in found]


def refused(call: object) -> tuple[str, str, str, str]:
    with pytest.raises(Fault) as fault:
        call()  # type: ignore[operator]
    d = fault.value.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help


def test_names_that_another_file_lends(tmp_path: Path) -> None:
    """Models, values and functions, also by another name; files that use one another's models twice link once."""
    other = f"{SW}\nlet a = 2 + 3\nparam b: int = 7\ndef f(x: int) = x * a\n{SW.replace('SW', 'S2')}"
    main = "use other (SW, a as five, b, f)\nuse third (S3)\nlet c = five + b"
    library, home, found = linked(tmp_path, other=other, third=f"use other (SW)\n{SW.replace('SW', 'S3')}", main=main)
    assert found == [] and set(home.used) == {"SW", "five", "b", "f", "S3"} and set(home.names) == {"c"}
    assert [home.scope.value(n, AT) for n in ("five", "b", "c")] == [5, 7, 12]
    assert isinstance(home.scope.value("f", AT), FunctionValue)
    assert library.is_model(home, "SW") and not library.is_model(home, "five") and not library.is_model(home, "S2")
    assert library.entry(home, "S3") is home.used["S3"] and library.entry(home, "c") is home.names["c"]
    assert library.entry(home, "nothing") is None
    assert {Path(key).stem for key in library.linked} == {"main", "other", "third"}
    assert library.model(home, "SW", AT) is library.model(home, "SW", AT)
    assert library.model(home, "SW", AT).port_count == 8


def test_a_folder_lends_names_of_its_files(tmp_path: Path) -> None:
    parts = {"parts__one": SW, "parts__two": SW.replace("SW", "S2")}
    _, home, found = linked(tmp_path, **parts, main="use parts (S2, SW as S1)")
    assert found == [] and {n: e.node.name.name for n, e in home.used.items()} == {"S2": "S2", "S1": "SW"}
    _, home, found = linked(tmp_path, **parts, main="use parts (S4)")
    assert found == [("E0101", "S4", "there is no declaration `S4` here", "known here: `S2`, `SW`")]
    assert home.used == {} and home.scope.is_excused("S4")


def test_names_of_the_catalogue(tmp_path: Path) -> None:
    library, home, found = linked(tmp_path, main="let QM9700 = 3\nlet x = 1")
    assert found == [] and library.is_model(home, "DGX_H100") and not library.is_model(home, "QM9700")
    entry = library.entry(home, "DGX_H100")
    assert entry is not None and entry.home is not home and library.model(home, "DGX_H100", AT).kind == "host"
    library, home, _ = linked(tmp_path, other=SW.replace("SW", "DGX_H100"), main="use other (DGX_H100)")
    assert library.model(home, "DGX_H100", AT).kind == "switch"


CATALOGUE = "declare it with `model`, or `use` the file that does; `tdsl list hardware` shows the catalogue"


def test_a_name_that_is_no_model(tmp_path: Path) -> None:
    library, home, _ = linked(tmp_path, main=f"{SW}\nlet five = 5\nmodel switch {'{'} ]\n")
    assert refused(lambda: library.model(home, "five", AT))[:3] == ("E0102", "x", "there is no model `five` here")
    code, _, message, help = refused(lambda: library.model(home, "SWW", AT))
    assert (code, message) == ("E0102", "there is no model `SWW` here") and help.startswith("did you mean `SW`?")
    assert CATALOGUE in refused(lambda: library.model(home, "zzzzzzzz", AT))[3]


def test_a_model_that_does_not_parse_or_is_broken_is_excused(tmp_path: Path) -> None:
    library, home, found = linked(
        tmp_path, other=f"model switch BAD [\n{SW}", main="use other (BAD, SW)\nmodel switch M { port p[0]: any }"
    )
    assert all(code == "E0001" for code, *_ in found) and found
    for _ in range(2):
        with pytest.raises(Excused):
            library.model(home, "BAD", AT)
    before = len(reported(library.diagnostics))
    for _ in range(2):
        with pytest.raises(Excused):
            library.model(home, "M", AT)
    assert len(reported(library.diagnostics)) == before + 1 and not library.building


def test_every_model_is_built(tmp_path: Path) -> None:
    library, home, found = linked(tmp_path, main="model switch A { port p[0]: any }\nmodel switch B { port p[0]: any }\n" + SW)
    assert found == []
    library.build_all(home)
    assert [code for code, *_ in reported(library.diagnostics)] == ["E0120", "E0120"]
    assert [m.name for m in library.models.values() if m] == ["SW"]


def test_names_declared_twice(tmp_path: Path) -> None:
    library, home, found = linked(tmp_path, main=f"{SW}\nlet SW = 3\nlet a = 1\nlet a = 2")
    assert found == [
        ("E0104", name, f"`{name}` is already declared in this file", f"give one of them another name, such as `{name}_2`")
        for name in ("SW", "a")
    ]
    assert [[label.span.begin[0] for label in d.labels] for d in library.diagnostics] == [[1], [3]]
    assert home.scope.value("a", AT) == 1


def test_files_that_use_each_other(tmp_path: Path) -> None:
    """The whole way round is shown; what is not reported again is excused."""
    _, _, found = linked(
        tmp_path, main="use one (A)", one="use two (B)\nlet A = B", two="use three (C)\nlet B = C", three="use one (A)\nlet C = A"
    )
    (cycle,) = found
    assert cycle[0] == "E0113" and cycle[1] == "use one (A)" and cycle[3] == "move what both files need into a third one"
    assert cycle[2].startswith("this use leads back to `") and cycle[2].endswith("one.fab`, which is what uses it")


def test_the_steps_of_a_circle(tmp_path: Path) -> None:
    library, _, _ = linked(
        tmp_path, main="use one (A)", one="use two (B)\nlet A = B", two="use three (C)\nlet B = C", three="use one (A)\nlet C = A"
    )
    (d,) = list(library.diagnostics)
    assert [(label.span.text, Path(label.message.strip("`").removeprefix("which uses `")).name) for label in d.labels] == [
        ("use two (B)", "two.fab"), ("use three (C)", "three.fab"),
    ]  # fmt: skip


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    _, home, found = linked(tmp_path, other=SW, main="use othr (SW, A as B)\nlet x = B")
    assert found == [("E0112", "othr", "there is no file `othr.fab` and no folder `othr` to use", "did you mean `other`?")]
    assert home.scope.is_excused("SW") and home.scope.is_excused("B") and not home.scope.is_excused("A")
    _, _, found = linked(tmp_path, main="use zzzzzzzzzz (SW)")
    assert found[0][3] == "give the folder that holds it with `--path`"


@pytest.mark.parametrize(
    ("fault", "why"), [(PermissionError(13, "Permission denied"), "Permission denied"), (OSError("odd"), "odd")]
)
def test_a_file_that_cannot_be_read(fault: OSError, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Loader.read

    def read(self: Loader, path: Path, given: str = "") -> object:
        if path.stem == "other":
            raise fault
        return real(self, path, given)

    monkeypatch.setattr(Loader, "read", read)
    _, home, found = linked(tmp_path, other=SW, main="use other (SW as S)")
    message = f"{(tmp_path / 'other.fab').as_posix()} cannot be read: {why}"
    assert found == [("E0112", "other", message, "check that the file exists and can be read")]
    assert home.scope.is_excused("S") and not home.scope.is_excused("SW")


def test_a_model_that_contains_itself(tmp_path: Path) -> None:
    library, home, _ = linked(tmp_path, main="model host A { chip b: B }\nmodel chip B { chip b: B }")
    library.build_all(home)
    assert ("E0114", "B", "model `B` contains itself", "a model may hold chips and switches of other models only") in reported(
        library.diagnostics
    )


def test_names_with_a_hyphen(tmp_path: Path) -> None:
    library, home, _ = linked(tmp_path, main=f"{SW.replace('SW', 'QM_97_XX')}\nlet y = 1")

    def hyphenated(text: str) -> tuple[str, str, str, list[str]]:
        fault = library.hyphenated(home, SourceSpan(SourceFile("t.fab", text), 0, len(text))).diagnostic
        return fault.code, fault.message, fault.help, [new for _, new in fault.fix.edits] if fault.fix else []

    message = "`{}` is not the name of a model: a name has no `-`"
    for text, near in (("QM-97-XX", "QM_97_XX"), ("qm97-xx", "QM_97_XX"), ("DGX-H100", "DGX_H100"), ("dgx-h100", "DGX_H100")):
        assert hyphenated(text) == ("E0102", message.format(text), f"did you mean `{near}`?", [near])
    assert hyphenated("zz-zzzzzz") == ("E0102", message.format("zz-zzzzzz"), "`tdsl list hardware` lists the models", [])


def test_cables_and_optics(tmp_path: Path) -> None:
    """Those of the file and of the catalogue in order of their names; no switches, and none that are broken."""
    text = f"model cable AAA {{ rate 400Gbps }}\nmodel optic ZZZ {{ ports 2 }}\nmodel cable BBB {{ rate 3m }}\n{SW}"
    library, home, _ = linked(tmp_path, main=text)
    names = [m.name for m in library.parts(home)]
    assert names[0] == "AAA" and names == sorted(names) and "ZZZ" in names and "BBB" not in names and "SW" not in names
    assert {m.kind for m in library.parts(home)} == {"cable", "optic"} and len(names) > 10
