"""What `tdsl init` writes and says, for every choice and by questions, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tdsl.cli import cli
from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tests.cli.run import tdsl

NAMES = {"tdsl.toml", ".pre-commit-config.yaml", "mine.fab"}
PIPELINES = {
    ("github", None): {".github/workflows/designs.yml"},
    ("github", "infiniband"): {".github/workflows/designs.yml", ".github/workflows/audit.yml"},
    ("github", "lldp"): {".github/workflows/designs.yml", ".github/workflows/audit.yml"},
    ("gitlab", None): {".gitlab-ci.yml"},
    ("gitlab", "infiniband"): {".gitlab-ci.yml", ".gitlab/audit.yml"},
    ("gitlab", "lldp"): {".gitlab-ci.yml", ".gitlab/audit.yml"},
    ("none", None): set[str](),
}


def held(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("ci", "audit"), PIPELINES)
def test_every_choice(ci: str, audit: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the choice are written and told, and the design passes; a second call changes none."""
    monkeypatch.chdir(tmp_path)
    args = ("init", "mine.fab", "--ci", ci, *(("--audit", audit) if audit else ()))
    done = tdsl(*args)
    assert (done.exit_code, done.stdout) == (0, "") and set(held(tmp_path)) == NAMES | PIPELINES[ci, audit]
    assert {line.partition(" ")[0] for line in done.stderr.splitlines() if " is written" in line} == set(held(tmp_path))
    assert tdsl("check", "mine.fab").exit_code == 0
    for path in held(tmp_path):
        (tmp_path / path).write_text(f"# own {path}")
    done = tdsl(*args)
    assert done.exit_code == 0 and all(text == f"# own {p}" for p, text in held(tmp_path).items())
    assert done.stderr.count("there already and left alone") == len(held(tmp_path))
    added = "add to .gitlab-ci.yml:" in done.stderr
    assert added == (ci == "gitlab" and audit is not None)


def test_the_design_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tdsl("init", "mine", "--bare").stderr == "mine.fab is written; try: tdsl check mine.fab\n"
    assert list(held(tmp_path)) == ["mine.fab"]
    for args in (("--bare",), ("--ask",)):
        done = tdsl("init", "mine", *args)
        assert done.exit_code == 2 and "mine.fab is there already; choose another name" in done.stderr
    assert tdsl("init", "--bare").exit_code == 0 and (tmp_path / "my_fabric.fab").exists()
    done = tdsl("init", "other", "--bare", "--audit", "lldp")
    assert done.exit_code == 2 and "--audit writes a pipeline" in done.stderr and not (tmp_path / "other.fab").exists()


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "ü", "a.fab.fab", "../a"])
def test_names_that_are_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = tdsl("init", name)
    assert done.exit_code == 2 and "cannot name a fabric" in done.stderr and held(tmp_path) == {}


def test_links_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link at any folder above the file is refused; the files before it stay."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "else" / "workflows").mkdir(parents=True)
    (tmp_path / ".github").symlink_to("else")
    done = tdsl("init", "mine")
    assert done.exit_code == 2 and ".github is a link to another folder" in done.stderr
    assert not (tmp_path / "else" / "workflows" / "designs.yml").exists()
    (tmp_path / ".github").unlink()
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "workflows").symlink_to("../else")
    assert ".github/workflows is a link to another folder" in tdsl("init", "mine").stderr


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
