"""What `tdsl init` writes and says, for every choice, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl import __version__
from tdsl.commands import init
from tdsl.commands._nightly import INCLUDE, nightly_audit_pipeline
from tdsl.commands._shared import Wrong
from tests.cli.run import tdsl

OWN = {"tdsl.toml": init.SETTINGS, ".pre-commit-config.yaml": init.HOOKS, "mine.fab": init.DESIGN.format(name="mine")}
PLACES = {
    "github": {".github/workflows/designs.yml": init.GITHUB.format(version=__version__)},
    "gitlab": {".gitlab-ci.yml": init.GITLAB.format(version=__version__)},
    "none": {},
}  # fmt: skip


def held(folder: Path) -> dict[str, str]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("audit", [None, "infiniband", "lldp"])
@pytest.mark.parametrize("ci", ["github", "gitlab", "none"])
def test_every_choice(ci: str, audit: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are as they are made, and told; a second call tells that all are there and changes none."""
    monkeypatch.chdir(tmp_path)
    args = ("init", "mine.fab", "--ci", ci, *(("--audit", audit) if audit else ()))
    if audit and ci == "none":
        done = tdsl(*args)
        assert done.exit_code == 2 and "give --ci github or --ci gitlab, and no --bare" in done.stderr and held(tmp_path) == {}
        return
    wanted = {**OWN, **PLACES[ci]}
    if audit:
        place, text = nightly_audit_pipeline(ci, audit, "mine", __version__)
        wanted[place] = text
        if ci == "gitlab":
            wanted[".gitlab-ci.yml"] = INCLUDE + wanted[".gitlab-ci.yml"]
    order = [*OWN][:2] + [p for p in wanted if p not in OWN]
    done = tdsl(*args)
    assert (done.exit_code, done.stdout) == (0, "") and held(tmp_path) == wanted
    assert done.stderr.splitlines() == [*(f"{p} is written" for p in order), "mine.fab is written; try: tdsl check mine.fab"]
    for path in wanted:
        (tmp_path / path).write_text(f"# own {path}")
    done = tdsl(*args)
    assert done.exit_code == 0 and held(tmp_path) == {p: f"# own {p}" for p in wanted}
    there = [f"{p} is there already and left alone" for p in order]
    added = [f"add to .gitlab-ci.yml:\n{INCLUDE}".rstrip()] if audit and ci == "gitlab" else []
    last = "mine.fab is there already and left alone; try: tdsl check mine.fab"
    assert done.stderr == "\n".join([*added, *there, last]) + "\n"


def test_the_design_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert tdsl("init", "mine", "--bare").stderr == "mine.fab is written; try: tdsl check mine.fab\n"
    assert held(tmp_path) == {"mine.fab": OWN["mine.fab"]}
    for args in (("--bare",), ("--ask",)):
        done = tdsl("init", "mine", *args)
        assert done.exit_code == 2 and "mine.fab is there already; choose another name" in done.stderr
    assert tdsl("init", "--bare").exit_code == 0 and (tmp_path / "my_fabric.fab").exists()
    done = tdsl("init", "other", "--bare", "--audit", "lldp")
    assert done.exit_code == 2 and "--audit writes a pipeline" in done.stderr and not (tmp_path / "other.fab").exists()


def test_a_design_that_comes_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is there only once it is to be written is left alone, too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.fab").write_text("own")
    monkeypatch.setattr(Path, "exists", lambda self, **_: False)
    done = tdsl("init", "mine", "--bare")
    assert done.exit_code == 2 and "mine.fab is there already; choose another name" in done.stderr
    assert (tmp_path / "mine.fab").read_text() == "own"
    assert init._write_unless_there(Path("mine.fab"), "x") is False and init._write_unless_there(Path("new.fab"), "x") is True


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


def test_nothing_stays_of_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("x")
    done = init._write_unless_there
    with pytest.raises(Wrong, match="there/a: "):
        done(Path("there/a"), "x")
    monkeypatch.setattr(init, "hold_signals", _full)
    with pytest.raises(Wrong, match=r"^b/a: No space left on device$"):
        done(Path("b/a"), "x")
    assert held(tmp_path) == {"there": "x"}


def _full() -> None:
    raise OSError(28, "No space left on device")
