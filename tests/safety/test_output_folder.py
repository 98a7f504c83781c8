"""Output folders of somebody: mounts in them, files of others that come and change meanwhile, rights, owners, places."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.cli.run import write as design


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


@pytest.mark.parametrize("several", [False, True], ids=["one", "several"])
def test_render_leaves_the_mode_of_a_folder_of_others(several: bool, tmp_path: Path) -> None:
    """It was 0700 before the call was refused: nobody else could have entered `/srv/www`."""
    text = design(tmp_path).read_text()
    if several:
        design(tmp_path, text + text.replace("fabric small", "fabric large"))
    assert tdsl("build", tmp_path / "small.fab", "--out", tmp_path / "out", "--target", "cabling").exit_code == 0
    (tmp_path / "secrets").write_text("A=b\n")
    others = tmp_path / "others"
    others.mkdir()
    (others / "index.html").write_text("mine")
    others.chmod(0o755)
    done = tdsl("render", tmp_path / "out", "--secrets", tmp_path / "secrets", "--to", others)
    assert done.exit_code == 1 and "others " in done.stderr and "give --to another folder" in done.stderr, done.output
    assert mode(others) == 0o755 and os.listdir(others) == ["index.html"]
    for _ in range(2):
        assert tdsl("render", tmp_path / "out", "--secrets", tmp_path / "secrets", "--to", tmp_path / "load").exit_code == 0
    assert mode(tmp_path / "load") == 0o700


def test_the_root_as_the_output_folder(tmp_path: Path) -> None:
    before = sorted(os.listdir("/"))
    done = tdsl("build", design(tmp_path), "--out", "/", "--target", "cabling")
    assert done.exit_code == 1 and "E0508" in done.stderr and "nothing in it says that tdsl wrote it" in done.stderr, done.output
    assert sorted(os.listdir("/")) == before
