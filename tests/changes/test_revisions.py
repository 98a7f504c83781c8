"""Contents of a revision: what git lists and prints, its sizes, and what is refused."""

from __future__ import annotations

import io
import os
import subprocess
from pathlib import Path

import pytest

from tdsl.changes import revision
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


def test_sizes_up_to_the_limits(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest file has 8 bytes, all together have 18."""
    monkeypatch.setattr(revision, "LIMIT", 8)
    monkeypatch.setattr(revision, "TOTAL", 18)
    assert files_of_revision("HEAD", work) == FILES
    monkeypatch.setattr(revision, "TOTAL", 17)
    with pytest.raises(RevisionError, match=r"^its designs and tables are larger than 0 MiB together$"):
        files_of_revision("HEAD", work)
    monkeypatch.setattr(revision, "LIMIT", 7)
    with pytest.raises(RevisionError, match=r"^t\.csv is larger than 0 MiB in it$"):
        files_of_revision("HEAD", work)


def test_objects_one_after_the_other() -> None:
    data = io.BytesIO(b"01 blob 3\na\nb\n02 blob 0\n\n03 missing\n04 tree 1\nx\n")
    assert revision._read_batch_object(data, "a") == b"a\nb"
    assert revision._read_batch_object(data, "b") == b""
    for name in ("c", "d"):
        with pytest.raises(RevisionError, match=f"^the contents of {name} are not in this repository$"):
            revision._read_batch_object(data, name)


def test_git_that_is_missing_or_does_not_answer(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("git", 1)

    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError("git")

    for fault, why in (
        (late, f"git did not answer within {revision.SECONDS} seconds"),
        (missing, "git is not installed, so there are no revisions to compare with"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "run", fault)
            with pytest.raises(RevisionError, match=f"^{why}$"):
                revision._run_git(work, "status")
            assert revision._shallow_clone_hint(work) == ""
    assert revision._shallow_clone_hint(work) == ""
