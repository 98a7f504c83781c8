"""Parts of the commands by themselves: trees of files, values that are varied, fixes, secrets, advice, new projects."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from tdsl.commands import _advice, _fix, _shared, build, explore, render
from tdsl.commands._rows import OutputRows
from tdsl.commands._shared import Wrong
from tdsl.findings.source import SourceFile, SourceSpan
from tests.cli.run import tdsl, write


# ---------------------------------------------------------------- build
def test_sizes() -> None:
    assert [build._size_text(n) for n in (0, 999, 1000, 1049, 1050, 999_949, 999_999, 1_000_000, 2_550_000)] == [
        "0 B", "999 B", "1.0 kB", "1.0 kB", "1.1 kB", "999.9 kB", "1000.0 kB", "1.0 MB", "2.5 MB",
    ]  # fmt: skip
    assert [build._files_word(n) for n in (0, 1, 2)] == ["0 files", "1 file", "2 files"]


def test_a_tree_of_files() -> None:
    files: Any = {"b/x/1": b"12", "b/x/2": b"", "b/y": b"123", "a": b"1", "bb": b"1", "c/z": b"1" * 1500}
    assert build.file_tree_lines(files, "out") == [
        "out/  6 files, 1.5 kB",
        "├── a  1 B",
        "├── b/",
        "│   ├── x/",
        "│   │   ├── 1  2 B",
        "│   │   └── 2  0 B",
        "│   └── y  3 B",
        "├── bb  1 B",
        "└── c/",
        "    └── z  1.5 kB",
    ]


@pytest.mark.parametrize("count", [10, 11, 12, 14])
def test_a_crowded_folder(count: int) -> None:
    """Ten are listed and the number of the rest, unless that were one line for one file."""
    names = [f"f{k:02}" for k in range(count)]
    files: Any = {f"d/{n}": b"" for n in names}
    lines = build.file_tree_lines(files, "o")
    assert lines[:2] == [f"o/  {count} files, 0 B", "└── d/"]
    if count <= 11:
        assert lines[2:] == [f"    ├── {n}  0 B" for n in names[:-1]] + [f"    └── {names[-1]}  0 B"]
    else:
        assert lines[2:] == [f"    ├── {n}  0 B" for n in names[:10]] + [f"    └── and {count - 10} more"]


# ---------------------------------------------------------------- explore
def test_values_that_are_varied() -> None:
    assert explore._values_to_vary("1..4") == ["1", "2", "3", "4"] and explore._values_to_vary(" 7 .. 7 ") == ["7"]
    assert explore._values_to_vary("4, 8 ,,4,16") == ["4", "8", "16"] and explore._values_to_vary("a..b") == ["a..b"]
    assert (
        explore._values_to_vary("1..2,5") == ["1..2", "5"]
        and explore._values_to_vary("1..") == ["1.."]
        and explore._values_to_vary("..2") == ["..2"]
    )
    assert explore._values_to_vary("1.5..3") == ["1.5..3"] and explore._values_to_vary("true") == ["true"]
    assert len(explore._values_to_vary("1..256")) == 256 and explore._values_to_vary("0..9999999999") == [
        str(n) for n in range(257)
    ]
    with pytest.raises(click.UsageError, match=r"^3\.\.2 is an empty range$"):
        explore._values_to_vary("3..2")


def test_points_of_rows() -> None:
    rows: list[dict[str, object]] = [
        {"n": "1", "m": "a", "x": "2", "y": "50%", "errors": ""},
        {"n": "2", "m": "b", "x": "", "y": "1", "errors": ""},
        {"n": "3", "m": "c", "x": "2", "y": ">=1", "errors": ""},
        {"n": "4", "m": "d", "x": "2", "y": "1", "errors": "E0110"},
        {"n": "5", "m": "e", "y": "1", "errors": ""},
        {"n": "6", "m": "f", "x": 0, "y": "0", "errors": ""},
    ]
    found = {k: (p.name, p.x, p.y) for k, p in explore._points_of_rows(rows, ["n", "m"], "x", "y").items()}
    assert found == {0: ("n=1, m=a", 2.0, 0.5), 5: ("n=6, m=f", 0.0, 0.0)}


def test_tables_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    explore._print_combinations(OutputRows(("a", "b|c"), [("x", 1), ("y|z", "")]), "markdown")
    assert capsys.readouterr().out == "| a | b\\|c |\n| --- | --- |\n| x | 1 |\n| y\\|z |  |\n"


# ---------------------------------------------------------------- what several commands take
@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("75%", Fraction(3, 4)),
        ("bisection >= 75%", Fraction(3, 4)),
        (" bisection>=12.5 % ", Fraction(1, 8)),
        ("100", 1),
        ("0", 0),
        ("100.1%", None),
        ("-1%", None),
        ("bisection > 5%", None),
        ("", None),
        ("75%%", None),
        ("1234567890%", None),
    ],
)
def test_floors(text: str, share: Fraction | None) -> None:
    context, option = click.Context(click.Command("x")), click.Option(["--floor"])
    if share is not None:
        assert _shared.floor_from_text(context, option, text) == share
        return
    with pytest.raises(click.BadParameter) as wrong:
        _shared.floor_from_text(context, option, text)
    assert wrong.value.message == f"{text!r} is not such as 'bisection >= 75%'"


def test_names_of_columns() -> None:
    assert _shared.column_names_given(["a_device=Von", " b_port = Nach Port ", "rate_gbps=a=b"]) == {
        "a_device": "Von", "b_port": "Nach Port", "rate_gbps": "a=b",
    }  # fmt: skip
    assert _shared.column_names_given([]) == {}
    for text in ("a_device", "a_device=", "c_device=x", "=x", ""):
        with pytest.raises(Wrong) as wrong:
            _shared.column_names_given(["b_port=x", text])
        assert wrong.value.message.startswith(f"--column {text}: write OURS=THEIRS, where OURS is a_device, ")


@pytest.mark.parametrize(
    ("value", "pair"),
    [
        ("a=1", ("a", "1")),
        (" a = 1=2 ", ("a", "1=2")),
        (("a", "1"), ("a", "1")),
        ("a", None),
        ("=1", None),
        (" =1", None),
        ("a=", None),
    ],
)
def test_settings(value: Any, pair: tuple[str, str] | None) -> None:
    plain, option = click.Option(["--set"]), click.Option(["--option"])
    if pair is not None:
        assert _shared.SettingParameter().convert(value, plain, None) == pair
        return
    with pytest.raises(click.BadParameter) as wrong:
        _shared.SettingParameter().convert(value, plain, None)
    assert wrong.value.message == f"{value!r} is not of the form name=value"
    if value == "a=":
        assert _shared.SettingParameter().convert(value, option, None) == ("a", "")
        with pytest.raises(click.BadParameter):
            _shared.SettingParameter().convert(value, None, None)


def test_designs_of_a_folder(tmp_path: Path) -> None:
    """Files that declare a fabric or a cluster, in order; hidden folders and other files are left out."""
    for name, text in {
        "b.fab": "fabric b { }\n",
        "a/z.fab": "# x\n  cluster c { }\n",
        "a/model.fab": "model switch fabric_x { }\n",
        "n.txt": "fabric n { }",
        ".git/h.fab": "fabric h { }\n",
        "a/.hidden.fab": "fabric h { }\n",
        "fabrics.fab": "fabrics { }\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "bytes.fab").write_bytes(b"\xff")
    top = tmp_path.as_posix()
    assert _shared.designs_in([top, "x.fab"]) == [f"{top}/a/z.fab", f"{top}/b.fab", f"{top}/bytes.fab", "x.fab"]
    empty = tmp_path / "empty"
    empty.mkdir()
    for inside, what in ((None, "it has no .fab file"), ("m.fab", "none of its 1 .fab files declares a fabric")):
        if inside:
            (empty / inside).write_text("let a = 1\n")
        with pytest.raises(Wrong) as wrong:
            _shared.designs_in([str(empty)])
        assert (
            wrong.value.message == f"there is no design in the folder {empty}: {what}; `tdsl init` writes a design to start from"
        )
    (empty / "a\nb.fab").write_text("fabric b { }\n")
    with pytest.raises(Wrong, match=r"is a name with a line break, which tdsl does not take; rename the file$"):
        _shared.designs_in([str(empty)])


def test_text_that_a_stream_cannot_encode() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    _shared.write_to_stream("a × b\n", out)
    out.flush()
    assert raw.getvalue() == b"a \\xd7 b\n"


# ---------------------------------------------------------------- fixes
def fixes(*edits: list[tuple[int, int, str]]) -> list[Any]:
    file = SourceFile("a.fab", "x" * 40)
    return [SimpleNamespace(edits=[(SourceSpan(file, a, b), new) for a, b, new in e]) for e in edits]


def test_fixes_that_do_not_touch_each_other() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    assert _fix._apply_fixes(text, []) == (text, 0)
    assert _fix._apply_fixes(text, fixes([(5, 7, "--")], [(0, 1, "A")])) == ("Abcde--hijklmnopqrstuvwxyz", 2)
    assert _fix._apply_fixes(text, fixes([(5, 7, "1")], [(2, 5, "2")])) == ("ab2fghijklmnopqrstuvwxyz", 1)  # they touch at 5
    assert _fix._apply_fixes(text, fixes([(5, 7, "1")], [(2, 4, "2")])) == ("ab2e1hijklmnopqrstuvwxyz", 2)
    assert _fix._apply_fixes(text, fixes([(7, 8, "1")], [(2, 7, "2")])) == ("ab2hijklmnopqrstuvwxyz", 1)
    two = fixes([(10, 11, "K"), (1, 2, "B")], [(4, 5, "E"), (10, 12, "no")], [(3, 3, "+")])
    assert _fix._apply_fixes(text, two) == ("aBc+defghijKlmnopqrstuvwxyz", 2)
    assert _fix._apply_fixes(text, fixes([(3, 3, "+"), (8, 9, "I"), (6, 6, "-")])) == ("abc+def-ghIjklmnopqrstuvwxyz", 1)


def test_words_about_fixes() -> None:
    assert [_fix._finding_count_text(n) for n in (1, 2)] == ["1 finding", "2 findings"]


# ---------------------------------------------------------------- secrets
def test_secrets_by_name(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    path.write_text("# none\n\nA=1\n  \nB_2=x=y\n#C=3\n", encoding="utf-8-sig")
    assert render._read_secrets(path) == {"A": "1", "B_2": "x=y"}
    form = "write NAME=value, the name in capital letters, digits and _"
    value = (
        "must be 1 to 128 letters, digits and marks of ASCII, without spaces, quotes, backslashes, commas and # ? @: "
        "some systems accept no others"
    )
    for text, line, why in (
        ("A=1\nb=2", 2, form),
        ("A", 1, form),
        ("=x", 1, form),
        (" A=1", 1, form),
        ("\nA=1\n\nA=1", 4, "A is given twice"),
        ("A=", 1, f"the value of A {value}"),
        ("A=a b", 1, f"the value of A {value}"),
        ("A=" + "x" * 129, 1, f"the value of A {value}"),
    ):
        path.write_text(text)
        with pytest.raises(Wrong) as wrong:
            render._read_secrets(path)
        assert wrong.value.message == f"{path}, line {line}: {why}"
    path.write_text("A=" + "x" * 128)
    assert render._read_secrets(path) == {"A": "x" * 128}
    with pytest.raises(Wrong) as wrong:
        render._read_secrets(tmp_path / "absent")
    assert wrong.value.message == f"{tmp_path / 'absent'}: No such file or directory"


# ---------------------------------------------------------------- advice
def test_words_of_a_call_that_are_replaced() -> None:
    replaced = _advice._call_with_word_replaced
    assert replaced(["check", "a.fb"], "a.fb", "a.fab") == "did you mean `tdsl check a.fab`?"
    assert replaced(["check", "--set=a.fb", "x y"], "a.fb", "a.fab") == "did you mean `tdsl check --set=a.fab 'x y'`?"
    assert replaced(["check", "a.fb.x"], "a.fb", "a.fab") == "" and replaced(["check", "a.fb"], "a.fb", "") == ""
    assert _advice._closest_word("chek", ["plan", "check", "show"]) == "check" and _advice._closest_word("zzz", ["plan"]) == ""


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("check", "smal.fab"), "did you mean `small.fab`"),
        (("check", "small.fab", "--output-format", "jsn"), "help: did you mean `tdsl check small.fab --output-format json`?"),
        (("check", "small.fab", "--set", "nodes"), "help: did you mean `tdsl check small.fab --set nodes=VALUE`?"),
        (("check", "small.fab", "--set", "nodes="), "help: did you mean `tdsl check small.fab --set nodes=VALUE`?"),
        (("check", "small.fab", "--prices", "smal.fab"), "help: did you mean `tdsl check small.fab --prices small.fab`?"),
        (("check", "small.fab", "--prices=smal.fab"), "help: did you mean `tdsl check small.fab --prices=small.fab`?"),
        (("check",), "help: for example `tdsl check superpod.fab --set units=3`"),
        (("list", "zzzzzz"), "help: for example `tdsl list designs`"),
        (("list", "desing"), "help: did you mean `tdsl list designs`?"),
    ],
)
def test_advice(args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    done = tdsl(*args)
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert done.stderr.count("did you mean") + done.stderr.count("for example") == 1


# ---------------------------------------------------------------- init
@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("9x",), "'9x' cannot name a fabric: letters, digits and _ only, and no digit first"),
        (("ü",), "'ü' cannot name a fabric: letters, digits and _ only, and no digit first"),
        (("x", "--ci", "none", "--audit", "lldp"), "--audit writes a pipeline: give --ci github or --ci gitlab, and no --bare"),
        (("x", "--bare", "--audit", "lldp"), "--audit writes a pipeline: give --ci github or --ci gitlab, and no --bare"),
        (("there", "--bare"), "there.fab is there already; choose another name"),
    ],
)
def test_projects_that_are_not_begun(args: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.fab").write_text("x")
    done = tdsl("init", *args)
    assert done.exit_code == 2 and f"Error: {said}" in done.stderr and [p.name for p in tmp_path.iterdir()] == ["there.fab"]


def test_a_project_is_begun_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = ["tdsl.toml", ".pre-commit-config.yaml"]
    for word in ("written", "there already and left alone"):
        done = tdsl("init", "one.fab", "--ci", "none")
        said = [f"{f} is {word}" for f in files] + [f"one.fab is {word}; try: tdsl check one.fab"]
        assert (done.exit_code, done.stderr.splitlines()) == (0, said)
    done = tdsl("init", "two", "--bare")
    assert (done.exit_code, done.stderr) == (0, "two.fab is written; try: tdsl check two.fab\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*files, "one.fab", "two.fab"])
