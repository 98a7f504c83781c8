"""What `tdsl init` writes and says, for every choice and by questions, and what it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result

from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tests.cli.run import tdsl

NAMES = {"tdsl.toml", ".pre-commit-config.yaml", ".gitignore", "mine.fab"}
GITHUB, GITLAB = ".github/workflows/designs.yml", ".gitlab-ci.yml"
PIPELINES = {
    ("github", None): {GITHUB},
    ("github", "infiniband"): {GITHUB, ".github/workflows/audit.yml"},
    ("github", "lldp"): {GITHUB, ".github/workflows/audit.yml"},
    ("gitlab", None): {GITLAB},
    ("gitlab", "infiniband"): {GITLAB, ".gitlab/audit.yml"},
    ("gitlab", "lldp"): {GITLAB, ".gitlab/audit.yml"},
    ("none", None): set[str](),
}


def held(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(("ci", "audit"), PIPELINES)
def test_every_choice(ci: str, audit: str | None, here: Path) -> None:
    """The files of the choice are written and told, and the design passes; a second call changes none."""
    args = ("init", "mine.fab", "--ci", ci, *(("--audit", audit) if audit else ()))
    done = tdsl(*args)
    assert (done.exit_code, done.stdout) == (0, "") and set(held(here)) == NAMES | PIPELINES[ci, audit]
    assert {line.partition(" ")[0] for line in done.stderr.splitlines() if " is written" in line} == set(held(here))
    assert tdsl("check", "mine.fab").exit_code == 0
    for path in held(here):
        (here / path).write_text(f"# own {path}")
    done = tdsl(*args)
    assert done.exit_code == 0 and all(text == f"# own {p}" for p, text in held(here).items())
    assert done.stderr.count("there already and left alone") == len(held(here))
    assert ("add to .gitlab-ci.yml:" in done.stderr) == (ci == "gitlab" and audit is not None)


def test_the_design_alone(here: Path) -> None:
    """What it would write over is refused; `--audit` needs a pipeline."""
    assert tdsl("init", "mine", "--bare").stderr == "mine.fab is written; try: tdsl check mine.fab\n"
    assert list(held(here)) == ["mine.fab"]
    for option in ("--bare", "--ask"):
        done = tdsl("init", "mine", option)
        assert done.exit_code == 2 and "mine.fab is there already; choose another name" in done.stderr
    assert tdsl("init", "--bare").exit_code == 0 and (here / "my_fabric.fab").exists()
    for option in (("--bare",), ("--ci", "none")):
        done = tdsl("init", "other", *option, "--audit", "lldp")
        assert done.exit_code == 2 and "--audit writes a pipeline" in done.stderr and not (here / "other.fab").exists()


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "ü", "a.fab.fab", "../a"])
def test_names_that_are_none(name: str, here: Path) -> None:
    done = tdsl("init", name)
    assert done.exit_code == 2 and "cannot name a fabric" in done.stderr and held(here) == {}


def ask(answers: str) -> Result:
    return tdsl("init", "pod", "--bare", "--ask", stdin=answers.replace(" ", "\n").replace("_to_", " to ") + "\n")


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("64 DGX_H100 QM9700 1:1 1", ("rails 8", "rail_alignment", "survives any 1 of spine")),
        ("200 DGX_H100 QM9700 2:1 0", ("at most 2:1", "oversubscription <= 2:1")),
        ("32 DGX_H100 SW64x400 1:1 2 roce", ("transport roce", "survives any 2 of spine")),
    ],
)
def test_what_is_written_passes(answers: str, words: tuple[str, ...], here: Path) -> None:
    done = ask(answers)
    assert done.exit_code == 0, done.output
    text = Path("pod.fab").read_text()
    assert all(w in text for w in words) and format_source(SourceFile("pod.fab", text)) == text
    assert tdsl("check", "pod.fab").exit_code == 0
    assert ("survives" in text) == ("survives any" in " ".join(words))


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ("900 DGX_A100 QM8700 1:1 1", "E0464"),
        ("64 DGX_H10 QM9700 1:1 1", "not a host model"),
        ("64 DGX_H100 QM97 1:1 1", "E0102"),
    ],
)
def test_where_no_design_passes_nothing_is_written(answers: str, words: str, here: Path) -> None:
    done = ask(answers)
    assert done.exit_code == 2 and words in done.output and not list(here.iterdir())


def test_a_wrong_answer_is_asked_again(here: Path) -> None:
    done = ask("1 64 DGX-H100 DGX_H100 QM9700 one_to_one 1:1 1")
    assert done.exit_code == 0 and "letters, digits and _" in done.output and "a ratio such as" in done.output


def test_a_design_of_the_library(here: Path) -> None:
    """Its text with its comments and that of what it uses, so that a placed design is whole; or a file that adds to it."""
    done = tdsl("init", "mine", "--from", "dgx_superpod_h100_racks", "--bare")
    assert done.exit_code == 0, done.output
    text = Path("mine.fab").read_text()
    assert "hall h1 {" in text and "switch spine[?]" in text and "table 7" in text and "use designs" not in text
    assert tdsl("check", "mine.fab").exit_code == 0
    assert tdsl("init", "mine", "--from", "dgx-superpod-h100", "--bare").exit_code == 2, "it is there already"
    assert tdsl("init", "more", "--from", "dgx_superpod_h100", "--extend", "--bare").exit_code == 0
    assert "extend superpod {" in Path("more.fab").read_text() and tdsl("check", "more.fab").exit_code == 0


@pytest.mark.parametrize("extend", [False, True])
def test_every_design_of_the_library_can_be_begun_with(extend: bool, here: Path) -> None:
    """Each is laid out as `fmt` does; what cannot be extended is refused with what to do instead."""
    designs = json.loads(tdsl("list", "designs", "--output-format", "json").stdout)["designs"]
    assert len(designs) > 40
    for name in (row["design"] for row in designs):
        done = tdsl("init", name, "--from", name, "--bare", *(["--extend"] if extend else []))
        if extend and done.exit_code == 2:
            assert "leave out --extend" in done.stderr
            continue
        text = Path(f"{name}.fab").read_text()
        assert done.exit_code == 0 and format_source(SourceFile(name, text)) == text, name


def test_wrong_calls_of_from(here: Path) -> None:
    for args, words in (
        (("--from", "dgx_superpd_h100"), "did you mean 'dgx_superpod_h100'?"),
        (("--extend",), "--extend needs --from"),
        (("--from", "ft2", "--ask"), "give one of them"),
    ):
        done = tdsl("init", "pod", "--bare", *args)
        assert done.exit_code == 2 and words in done.stderr and not held(here)
