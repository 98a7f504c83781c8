"""Lists of the library, headings of comparisons, the file of ``--config``, and files that are judged against their manifest."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from tdsl.commands import _everywhere, compare, verify
from tdsl.commands._rows import OutputRows
from tdsl.commands._shared import Wrong
from tdsl.commands.list import (
    CatalogueModelName,
    _first_comment,
    _model_named,
    _stdlib_files,
    list_of_designs,
    list_of_hardware,
    list_of_topologies,
)
from tdsl.commands.list import _hardware_library as catalogue
from tests.cli.run import tdsl


# ---------------------------------------------------------------- list
def test_rows_of_the_library() -> None:
    tops, models, every = list(list_of_topologies().body), list(list_of_hardware().body), list(list_of_designs().body)
    (clos,) = [row for row in tops if row[0] == "clos"]
    assert str(clos[1]).startswith("A folded Clos network, also called fat tree") and clos[2] == "stdlib:topologies/clos.fab"
    assert ("QM9700", "switch", "NVIDIA Quantum-2 QM9700", "stdlib:hardware/nvidia/qm9700.fab") in models
    assert tops == sorted(tops) and models == sorted(models)
    assert len({row[0] for row in models}) == len(models) and all(row[1] for row in every)
    assert [row[0] for row in every] == sorted(str(row[0]) for row in every)
    assert [(p.stem, name) for p, name in _stdlib_files("designs")][:1] == [(every[0][0], f"stdlib:designs/{every[0][0]}.fab")]
    assert [row[2] for row in every] == [name for _, name in _stdlib_files("designs")]


def test_the_first_comment() -> None:
    assert (
        _first_comment("#  One.  \n# two\n") == "One." and _first_comment("x # One.") == "" and _first_comment("\n# One.") == ""
    )


def test_names_of_models_that_are_nearly_right() -> None:
    library = catalogue()
    for word in ("QM9700", "qm9700", "qm-9700", "Q M_97 00"):
        assert _model_named(library, word).name == "QM9700"
    assert _model_named(library, "dgx h100").name == "DGX_H100"
    for word, why in (
        ("QM970", "there is no model 'QM970' in the catalogue; did you mean `QM9700`?"),
        ("zzzzzz", "there is no model 'zzzzzz' in the catalogue; `tdsl list hardware` lists all models"),
        ("MCP7Y00", "MCP7Y00 is a part (cable); --for and --to take a host or a switch, such as QM9700"),
    ):
        with pytest.raises(Wrong) as wrong:
            _model_named(library, word)
        assert wrong.value.message == why


def test_models_that_complete_a_word() -> None:
    context = click.Context(click.Command("list"))
    found = [i.value for i in CatalogueModelName().shell_complete(context, click.Option(["--for"]), "qm9")]
    assert found == ["QM9700"] and CatalogueModelName().shell_complete(context, click.Option(["--for"]), "mcp") == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("cables", "--to", "QM9700"), "--to needs --for: the two models that a cable is between"),
        (("designs", "--to", "QM9700"), "--for and --to are for `tdsl list cables` and `tdsl list optics`"),
        (("designs", "--for", "QM9700"), "--for and --to are for `tdsl list cables` and `tdsl list optics`"),
        (
            ("cables", "--for", "SN2201", "--to", "Q3450"),
            "no part of the catalogue fits between SN2201 and Q3450: `tdsl explain SN2201` prints its cages and rates",
        ),
    ],
)
def test_lists_that_are_refused(args: tuple[str, ...], said: str) -> None:
    done = tdsl("list", *args)
    assert (done.exit_code, done.stdout) == (2, "") and f"Error: {said}\n" in done.stderr


# ---------------------------------------------------------------- compare
def test_headings_of_columns() -> None:
    named: Any = [SimpleNamespace(name=n, members=()) for n in ("a", "b", "a", "c")]
    assert compare._comparison_headings(named, []) == ["a (1)", "b", "a (3)", "c"]
    assert compare._comparison_headings(named, ["n=1", "n=2"]) == ["a (1)", "b", "a (3)", "c"]
    assert (
        compare._comparison_headings(named[:2], ["n=1", "n=2"]) == ["n=1", "n=2"] and compare._comparison_headings([], []) == []
    )


def test_a_comparison_in_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    compare._print_comparison(OutputRows(("figure", "a|b", "c"), [("hosts", 1, 2), ("x|y", "", ">=3")]), "markdown")
    assert capsys.readouterr().out == "| figure | a\\|b | c |\n| --- | ---: | ---: |\n| hosts | 1 | 2 |\n| x\\|y |  | >=3 |\n"


def test_comparisons_that_are_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.fab").write_text("fabric f { }\n")
    done = tdsl("compare", tmp_path / "a.fab", tmp_path / "b.fab", "--vary", "n=1")
    assert done.exit_code == 2 and "Error: --vary compares one FILE at several values of a parameter\n" in done.stderr


# ---------------------------------------------------------------- --config
@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["check", "--config", "a.toml", "x"], "a.toml"),
        (["check", "x", "--config=b=c.toml"], "b=c.toml"),
        (["--config=a.toml", "--config", "b.toml"], "a.toml"),
        (["check", "--config"], None),
        (["check", "--", "--config", "a.toml"], None),
        (["check", "--config", "a.toml", "--", "--config", "b.toml"], "a.toml"),
        (["check", "--configure", "a.toml"], None),
        ([], None),
    ],
)
def test_the_file_of_settings(words: list[str], file: str | None) -> None:
    context = click.Context(click.Command("tdsl"))
    assert _everywhere.config_file_given(context, words) == (Path(file) if file is not None else None)
    context.meta[_everywhere.KEY] = {"config": "before.toml"}
    assert _everywhere.config_file_given(context, words) == Path(file or "before.toml")
    assert (
        _everywhere.everywhere_option_given(context, "config") == "before.toml"
        and _everywhere.everywhere_option_given(context, "color") is None
    )


# ---------------------------------------------------------------- verify
@pytest.mark.parametrize("more", [-1, 0, 1, 2])
def test_files_that_no_manifest_lists(more: int, capsys: pytest.CaptureFixture[str]) -> None:
    count = verify.SHOWN + more
    names = [f"f{k}" for k in range(count)]
    verify._print_unlisted_files("out", names)
    lines = [f"extra    out/{n}" for n in names[: verify.SHOWN]] + ([f"extra    and {more} more"] if more > 0 else [])
    assert capsys.readouterr().out.splitlines() == lines
