"""A git repository of designs, as tests of revisions make it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

WHO = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(*args: str) -> None:
    """A call in the current folder."""
    subprocess.run(["git", *args], check=True, capture_output=True, env={**os.environ, **WHO})


def commit(files: dict[str, str | None]) -> None:
    """Write files, delete those whose text is None, and commit; the first commit is on ``main``."""
    if not Path(".git").exists():
        git("init", "-q", "-b", "main")
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True, parents=True)
        if text is None:
            Path(name).unlink()
        else:
            Path(name).write_text(text)
    git("add", "-A")
    git("commit", "-q", "-m", "change")
