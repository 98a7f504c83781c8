"""A design as it stood in a revision of the git repository that it lies in.

What it uses must be of that revision, too, so the designs, tables and settings of the whole revision are laid out in a folder of
their own. ``git`` is run for this, on the repository at hand and nothing else.
"""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

KINDS = (".fab", ".csv", ".lock")


class RevisionError(Exception):
    """There is no such revision, or no such file in it. The text says which."""


def root(folder: Path) -> Path | None:
    """The top of the repository that a folder lies in, None if in none."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    except RevisionError:
        return None


def lay_out(revision: str, folder: Path, top: Path) -> None:
    """Write the designs of a revision below a folder, links left out. Raises RevisionError."""
    if revision.startswith("-"):
        raise RevisionError(f"{revision!r} is no revision")
    try:
        commit = _git(top, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
    except RevisionError:
        raise RevisionError(f"there is no revision {revision} here") from None
    listed = _git(top, "ls-tree", "-r", "-z", "--full-tree", commit).decode(errors="surrogateescape").split("\0")
    files: list[tuple[str, str]] = []
    for entry in filter(None, listed):
        head, _, name = entry.partition("\t")
        mode, _, blob = head.split()
        if mode.startswith("100") and Path(name).suffix in KINDS:
            files.append((name, blob))
    if not files:
        raise RevisionError(f"revision {revision} holds no design")
    data = io.BytesIO(_git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for _, blob in files)))
    for name, _ in files:
        size = int(data.readline().split()[2])
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.read(size))
        data.read(1)


def _git(folder: Path, *args: str, given: str = "") -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *args], input=given.encode(), capture_output=True, check=False)
    except FileNotFoundError:
        raise RevisionError("git is not installed, so there are no revisions to compare with") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RevisionError(said[-1] if said else "git says no more")
    return done.stdout
