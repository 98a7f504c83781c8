"""``tdsl init --ask``: the design that answers lead to passes, and nothing is written where none does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tdsl.cli import cli
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source


def ask(*answers: object) -> Result:
    return CliRunner().invoke(cli, ["init", "pod", "--bare", "--ask"], input="".join(f"{a}\n" for a in answers), prog_name="tdsl")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((64, "DGX_H100", "QM9700", "1:1", 1), ("rails 8", "rail_alignment", "survives any 1 of spine")),
        ((200, "DGX_H100", "QM9700", "2:1", 0), ("at most 2:1", "oversubscription <= 2:1")),
        ((32, "DGX_H100", "SW64x400", "1:1", 2, "roce"), ("transport roce", "survives any 2 of spine")),
    ],
)
def test_what_is_written_passes(answers: tuple[object, ...], words: tuple[str, ...], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = ask(*answers)
    assert done.exit_code == 0, done.output
    text = Path("pod.fab").read_text()
    assert all(w in text for w in words) and format_source(SourceFile("pod.fab", text)) == text
    assert CliRunner().invoke(cli, ["check", "pod.fab"]).exit_code == 0
    assert ("survives" in text) == (answers[4] != 0)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ((3000, "DGX_H100", "QM9700", "1:1", 1), "E0464"),
        ((64, "DGX_H10", "QM9700", "1:1", 1), "not a host model"),
        ((64, "DGX_H100", "QM97", "1:1", 1), "E0102"),
    ],
)
def test_where_no_design_passes_nothing_is_written(answers: tuple[object, ...], words: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = ask(*answers)
    assert done.exit_code == 2 and words in done.output and not list(tmp_path.iterdir())


def test_a_wrong_answer_is_asked_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = ask(1, 64, "DGX-H100", "DGX_H100", "QM9700", "one to one", "1:1", 1)
    assert done.exit_code == 0 and "letters, digits and _" in done.output and "a ratio such as" in done.output
