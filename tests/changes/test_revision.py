"""Contents of a revision: what git lists and prints, its sizes, and what is refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tdsl.changes.revision import RevisionError, files_of_revision

IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A repository: first a text alone, then two designs and a table of 4, 6 and 8 bytes."""

    def git(*args: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *args], check=True, capture_output=True, env={**os.environ, **IDENTITY})

    git("init", "-q", "-b", "main")
    (tmp_path / "README.md").write_text("text")
    git("add", "-A")
    git("commit", "-q", "-m", "1")
    git("tag", "bare")
    (tmp_path / "a.fab").write_bytes(b"1\n3\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.fab").write_bytes(b"123456")
    (tmp_path / "t.csv").write_bytes(b"12345678")
    git("add", "-A")
    git("commit", "-q", "-m", "2")
    return tmp_path


FILES = {"a.fab": b"1\n3\n", "sub/b.fab": b"123456", "t.csv": b"12345678"}


def test_contents_are_the_bytes_of_designs_and_tables(work: Path) -> None:
    assert files_of_revision("HEAD", work) == FILES


def test_a_revision_without_a_design(work: Path) -> None:
    with pytest.raises(RevisionError, match=r"^revision bare contains no design$"):
        files_of_revision("bare", work)


@pytest.mark.parametrize("name", ["-v", "--all"])
def test_an_option_is_no_revision(work: Path, name: str) -> None:
    with pytest.raises(RevisionError, match=r"^'-.*' is not a revision$"):
        files_of_revision(name, work)
